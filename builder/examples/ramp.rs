//! Triangles in memory to a proven image, and a query on it.

use hardpan_builder::{Material, Options, Scene, Triangle, Verify, build, verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scene = Scene {
        positions: vec![[0.0, 0.0, 0.0], [10.0, 0.0, 1.0], [10.0, 10.0, 1.0], [0.0, 10.0, 0.0]],
        triangles: [[0, 1, 2], [0, 2, 3]].map(|v| Triangle { v, material: 0, source: 0 }).into(),
        materials: vec![Material::new("Asphalt", 0.9)],
        sources: vec!["ramp".into()],
        ..Scene::default()
    };
    let built = build(&scene, &Options::default())?;
    let verdict = verify(&built.image, &Verify::default())?;
    let terrain = hardpan::Terrain::open(&built.image)?;
    println!("{} bytes, proven: {}, {:?}", built.image.len(), verdict.passed(), terrain.bound());
    let answer = terrain.closest([5.0, 2.0, 0.0]);
    println!("z {} m", terrain.z_f64(&answer.hit));
    Ok(())
}
