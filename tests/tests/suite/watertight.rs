//! No point of the closed union of triangles ever misses.

use crate::common::{hills, image};
use hardpan::Terrain;
use hardpan_builder::Scene;
use hardpan_builder::demo::fixtures;
use verification::edges::{self, Edges};
use verification::obj;
use verification::oracle::{Oracle, Q};

/// The ends of every edge, and the 255 grid points inside every `stride`th, answer exactly where they lie.
/// `tests/bench.sh` asks about all points of all edges of more scenes.
fn walk_edges(name: &str, scene: &Scene, stride: usize) {
    let (oracle, bytes) = (Oracle::new(scene), image(scene));
    let terrain = Terrain::open(&bytes).unwrap();
    let mut walked = 0;
    for (number, edge) in Edges::of(&oracle).all.into_iter().enumerate() {
        let step = if number % stride == 0 { 1 } else { Q as usize };
        for p in edges::points(edge, step) {
            let answer = terrain.segment(p, 0);
            assert!(edges::lands(&answer, p), "{name}: {answer:?} at {p:?} of the edge {edge:?}");
            walked += 1;
        }
    }
    println!("{name}: {walked} points on edges");
}

#[test]
fn edges_of_small_fixtures() {
    walk_edges("flat", &fixtures::flat(), 1);
    walk_edges("ramp", &fixtures::ramp(), 1);
    walk_edges("far", &fixtures::far(), 1);
    walk_edges("bridge", &fixtures::bridge(), 1);
    walk_edges("hole", &fixtures::hole(), 1);
    walk_edges("curb", &fixtures::curb(), 1);
    walk_edges("mats", &fixtures::mats(), 1);
}

#[test]
fn edges_of_soups() {
    for seed in 100..112 {
        walk_edges(&format!("soup {seed}"), &fixtures::soup(seed), 1);
    }
}

#[test]
fn edges_of_hills() {
    walk_edges("hills", &hills(100, 0.7), 1);
}

#[test]
fn edges_of_turned_hills() {
    let mut scene = hills(100, 0.7);
    let (sin, cos) = (0.3f64.sin(), 0.3f64.cos());
    for p in &mut scene.positions {
        *p = [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1], p[2]];
    }
    walk_edges("turned hills", &scene, 1);
}

#[test]
fn edges_of_real_meshes() {
    for (name, y_up, stride) in
        [("samurai_monastry.obj", true, 41), ("zdm2.obj", true, 17), ("3dfier_innerbuffer_05.obj", false, 31)]
    {
        let Some(path) = obj::real_file(&format!("city/{name}")) else { continue };
        walk_edges(name, &obj::read(&path, y_up).unwrap(), stride);
    }
}

#[test]
fn edges_of_the_city() {
    walk_edges("city", &fixtures::city(), 101);
}
