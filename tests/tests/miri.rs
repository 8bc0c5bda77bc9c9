//! Tests that an interpreter which watches every access can finish: open, verify and every query on tiny images, whole
//! and damaged. `tests/miri.sh` runs them under Miri; the suite asks far more, natively.

use hardpan::{Point, format};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Material, Options, Scene, Triangle, build};
use std::path::Path;
use verification::bytes::{Aligned, Opened, exercise, extreme_points, mend_all, mend_head};
use verification::random::Random;

/// Where to ask, in metres; beyond it, at the ends of everything.
fn places(at: &[[f64; 3]]) -> Vec<Point> {
    let grid = |v: f64, per_metre: f64| (v * per_metre) as i64;
    let near = at.iter().map(|&[x, y, z]| Point {
        x: grid(x, 1_048_576.0),
        y: grid(y, 1_048_576.0),
        z: grid(z, 16_777_216.0),
    });
    near.chain(extreme_points().into_iter().step_by(120)).collect()
}

/// The scene's image. A native run leaves it in the folder `HARDPAN_IMAGES`, where the interpreter finds it: the
/// builder's thread pool is not for Miri.
fn image(name: &str, scene: impl Fn() -> Scene) -> Vec<u8> {
    let path = std::env::var_os("HARDPAN_IMAGES").map(|folder| Path::new(&folder).join(name));
    if cfg!(miri) {
        return std::fs::read(path.expect("tests/miri.sh names the folder")).unwrap();
    }
    let image = build(&scene(), &Options::default()).unwrap().image;
    path.map_or(Ok(()), |path| std::fs::write(path, &*image)).unwrap();
    image.to_vec()
}

/// Asks, damages a few bytes with and without their checksums mended, and asks again.
fn watch(name: &str, scene: impl Fn() -> Scene, at: &[[f64; 3]]) {
    let clean = image(name, scene);
    let mut bytes = Aligned::new(&clean);
    assert_eq!(exercise(&bytes, &places(at)), Opened::Verified);
    let tiles = hardpan::Terrain::open(&bytes).unwrap().header().sections[6].offset as usize;
    let mut r = Random(name.len() as u64);
    for mend in [mend_all, mend_head] {
        for _ in 0..4 {
            let word = (tiles + r.below(bytes.len() - tiles)) & !3;
            bytes[word..word + 4].copy_from_slice(&(r.bits() as u32 >> r.below(32)).to_le_bytes());
        }
        mend(&mut bytes);
        assert_ne!(exercise(&bytes, &places(&at[..1])), Opened::No);
        bytes.copy_from_slice(&clean);
    }
    // Cut short, blank, and at an odd address.
    assert_eq!(exercise(&bytes[..format::HEAD_LEN], &[]), Opened::No);
    assert_eq!(exercise(&bytes[1..], &[]), Opened::No);
    bytes.fill(0xFF);
    assert_eq!(exercise(&bytes, &[]), Opened::No);
}

#[test]
fn stacked_ground() {
    watch("bridge", fixtures::bridge, &[[0.0, 0.0, 5.0], [5.0, 1.0, 2.0], [-20.0, 20.0, 0.0], [70.0, 0.0, 0.0]]);
}

#[test]
fn kerb_and_heights() {
    let field = || HeightField {
        origin: [-4.0, -4.0],
        pitch: 0.5,
        columns: 9,
        rows: 9,
        heights: (0..81).map(|i| if i == 40 { f64::NAN } else { f64::from(i % 7) / 10.0 + 8.0 }).collect(),
        material: 1,
        source: 0,
        tolerance: 0.001,
        ..HeightField::default()
    };
    let scene = || Scene { fields: vec![field()], ..fixtures::curb() };
    watch("kerb", scene, &[[0.0, 0.1, 1.0], [-2.0, -2.0, 8.0], [-1.5, -3.3, 9.0], [5.0, 5.0, 0.0]]);
}

/// A triangle of 20 km, one of 100 m and one of 2 m: a bundle of every class.
#[test]
fn every_class() {
    let corners = |r: f64, z: f64| [[-r, -r, -z], [r, -r, z], [0.0, r, 9.0]];
    let scene = || Scene {
        positions: [corners(10_000.0, 32_000.0), corners(50.0, 3.0), corners(1.0, 0.1)].concat(),
        triangles: [[0, 1, 2], [3, 4, 5], [6, 7, 8]].map(|v| Triangle { v, material: 0, source: 0 }).into(),
        materials: vec![Material::new("Clay", 0.5)],
        sources: vec!["mesh".into()],
        ..Scene::default()
    };
    watch("classes", scene, &[[0.0, 0.0, 0.0], [0.1, -0.2, 4.0], [20.0, -30.0, 1.0], [-9000.0, -9000.0, 0.0]]);
}
