//! No point of the closed union of triangles ever misses.

use crate::common::{hills, image};
use hardpan::{Point, Status, Terrain};
use hardpan_builder::{Scene, fixtures};
use std::collections::BTreeSet;
use verification::oracle::{Oracle, Q};

/// Every vertex and the 255 grid points inside every `stride`th edge answer exactly where they lie.
fn walk_edges(name: &str, scene: &Scene, stride: usize) {
    let (oracle, bytes) = (Oracle::new(scene), image(scene));
    let terrain = Terrain::open(&bytes).unwrap();
    let mut edges = BTreeSet::new();
    for [a, b, c] in (0..oracle.len()).map(|i| oracle.triangle(i)) {
        edges.extend([(a, b), (a, c), (b, c)]); // corners are sorted
    }
    let mut walked = 0;
    for (a, b) in edges.into_iter().step_by(stride) {
        for j in 0..=Q {
            let [x, y, z] = [0, 1, 2].map(|k| a[k] * Q + j * (b[k] - a[k]));
            let answer = terrain.segment(Point { x, y, z }, 0);
            assert!(
                answer.status == Status::Found && answer.hit.z == z,
                "{name}: {answer:?} at {j}/256 of the edge from {a:?} to {b:?}, where z is {z}"
            );
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
fn edges_of_the_city() {
    walk_edges("city", &fixtures::city(), 101);
}
