//! A million triangles through Rust, or as many as are asked for: how long adding and building take. The same in C:
//! `million.c`.
//!
//! `cargo run --release -p hardpan-vsterrain --example million -- 1000000 million.hpan`

use hardpan_builder::{BuildError, Image, Material, Options, Provenance, Scene, Triangle, Undersides, build_recorded};
use std::time::Instant;
use std::{env, error::Error, fs};

/// A corner of a grid of posts two metres apart, on hills whose heights are exact in every language.
fn corner(i: u32, j: u32) -> [f64; 3] {
    let (slope, wave) = ((i * 7 + j * 13) % 64, (i / 16 + j / 16) % 8);
    [2.0 * f64::from(i), 2.0 * f64::from(j), f64::from(slope) / 128.0 + f64::from(wave) / 4.0]
}

/// So many triangles with three points each, in halves of the squares of the grid. Named as the library names them, so
/// the images are the same.
pub fn scene(triangles: u32) -> Scene {
    let side = (1..).find(|side: &u32| 2 * side * side >= triangles).unwrap_or(1);
    let mut scene = Scene {
        materials: vec![Material::new("mu 0.85 rr 1", 0.85f32.into())],
        sources: vec!["vs_terrain".into()],
        ..Scene::default()
    };
    for k in 0..triangles {
        let (i, j) = (k / 2 % side, k / 2 / side);
        let [a, b, c] = [corner(i + k % 2, j + k % 2), corner(i + 1, j), corner(i, j + 1)];
        scene.positions.extend(if k % 2 == 1 { [a, c, b] } else { [a, b, c] });
        scene.triangles.push(Triangle { v: [3 * k, 3 * k + 1, 3 * k + 2], material: 0, source: 0 });
    }
    scene
}

/// An image, as the library builds it.
pub fn image(scene: &Scene) -> Result<Image, BuildError> {
    let options = Options { undersides: Undersides::Ground, ..Options::default() };
    Ok(build_recorded(scene, &options, Some(&Provenance::default()))?.image)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let triangles: u32 = arguments.next().map_or(Ok(1_000_000), |n| n.parse())?;
    let began = Instant::now();
    let scene = scene(triangles);
    let added = began.elapsed().as_secs_f64();
    let image = image(&scene)?;
    let all = began.elapsed().as_secs_f64();
    if let Some(file) = arguments.next() {
        fs::write(file, &image[..])?;
    }
    println!("{triangles} triangles: added in {added:.3} s, built in {:.3} s, together {all:.3} s", all - added);
    Ok(())
}
