//! Just enough OBJ to feed real meshes to the product and to the oracle alike.

use hardpan_builder::{Material, Scene, Triangle};
use std::path::{Path, PathBuf};

/// The folder of real files: `HARDPAN_DATA`, or `../shared/data` beside the repository.
pub fn data() -> PathBuf {
    folder("HARDPAN_DATA", "data")
}

fn folder(variable: &str, name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(name);
    std::env::var_os(variable).map_or_else(beside, PathBuf::from)
}

/// The same, or none and a word why.
pub fn data_or_skip() -> Option<PathBuf> {
    there_or_skip("HARDPAN_DATA", "data")
}

/// A file of faulty ground: in the folder `HARDPAN_TRIALS`, or `../shared/trials` beside the repository; none without
/// it.
pub fn trial(name: &str) -> Option<PathBuf> {
    Some(there_or_skip("HARDPAN_TRIALS", "trials")?.join(name))
}

fn there_or_skip(variable: &str, name: &str) -> Option<PathBuf> {
    let folder = folder(variable, name);
    if !folder.exists() {
        crate::skipped(&format!("there is no folder {} (set {variable})", folder.display()));
        return None;
    }
    Some(folder)
}

/// Files below a folder of the real data, ascending; none without the data.
pub fn real(below: &str) -> Vec<PathBuf> {
    fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|e| e.unwrap().path()) {
            if path.is_dir() { collect(&path, into) } else { into.push(path) }
        }
    }
    let Some(data) = data_or_skip() else { return Vec::new() };
    let (folder, mut all) = (data.join(below), Vec::new());
    collect(&folder, &mut all);
    all.sort();
    assert!(!all.is_empty(), "there are no files in {}", folder.display());
    all
}

/// A file of the real data; none without the data.
pub fn real_file(name: &str) -> Option<PathBuf> {
    let file = data_or_skip()?.join(name);
    assert!(file.exists(), "there is no {}", file.display());
    Some(file)
}

/// Whether a file's name ends in `.` and this.
pub fn ends_in(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

/// Positions in file axes and fans of the faces, materials by `usemtl`; whatever does not parse is passed over.
pub fn read(path: &Path, y_up: bool) -> std::io::Result<Scene> {
    let bytes = std::fs::read(path)?;
    let plain = |name: &str| Material::new(name, 1.0);
    let mut scene = Scene {
        positions: Vec::new(),
        triangles: Vec::new(),
        materials: vec![plain("")],
        sources: vec!["mesh".into()],
        ..Scene::default()
    };
    let mut material = 0;
    for line in String::from_utf8_lossy(&bytes).lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => {
                let c: Vec<f64> = words.take(3).filter_map(|w| w.parse().ok()).collect();
                let [x, y, z] = c.try_into().unwrap_or([0.0; 3]);
                scene.positions.push(if y_up { [x, -z, y] } else { [x, y, z] });
            }
            Some("usemtl") => {
                let name = words.collect::<Vec<_>>().join(" ");
                material = scene.materials.iter().position(|m| m.name == name).unwrap_or_else(|| {
                    scene.materials.push(plain(&name));
                    scene.materials.len() - 1
                }) as u16;
            }
            Some("f") => {
                let count = scene.positions.len() as i64;
                let corners: Vec<u32> = words
                    .filter_map(|w| w.split('/').next()?.parse::<i64>().ok())
                    .map(|i| if i < 0 { count + i } else { i - 1 })
                    .filter(|i| (0..count).contains(i))
                    .map(|i| i as u32)
                    .collect();
                for k in 2..corners.len() {
                    scene.triangles.push(Triangle { v: [corners[0], corners[k - 1], corners[k]], material, source: 0 });
                }
            }
            _ => {}
        }
    }
    Ok(scene)
}
