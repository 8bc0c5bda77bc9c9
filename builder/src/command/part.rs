//! The files of a scene, each with what the scene has of it.

use std::path::Path;

use hardpan_builder::{Scene, Triangle, import::Transform};

/// What a scene has of one file.
pub struct Part<'a> {
    /// The file.
    pub file: &'a Path,
    /// How its numbers became metres.
    pub frame: &'a Transform,
    /// Its triangles.
    pub triangles: &'a [Triangle],
    scene: &'a Scene,
}

/// The parts of a scene, of its files in the order read, how the numbers of each became metres, and how many triangles it has.
pub fn parts<'a>(
    scene: &'a Scene,
    files: impl Iterator<Item = &'a Path>,
    frames: &'a [Transform],
    counts: &[usize],
) -> Vec<Part<'a>> {
    let mut rest = &scene.triangles[..];
    let mut parts = Vec::new();
    for ((file, frame), count) in files.zip(frames).zip(counts) {
        let (triangles, behind) = rest.split_at(*count);
        rest = behind;
        parts.push(Part { file, frame, triangles, scene });
    }
    parts
}

impl<'a> Part<'a> {
    /// Where a corner lies, metres.
    pub fn place(&self, corner: u32) -> [f64; 3] {
        self.scene.positions[corner as usize]
    }

    /// Where it lies in the file's own numbers.
    pub fn own(&self, corner: u32) -> [f64; 3] {
        self.frame.back(self.place(corner))
    }

    /// Triangles that are ground.
    pub fn ground(&self) -> impl Iterator<Item = &'a Triangle> + use<'a> {
        ground(self.scene, self.triangles)
    }
}

/// Triangles whose material is ground.
pub fn ground<'a>(scene: &Scene, triangles: &'a [Triangle]) -> impl Iterator<Item = &'a Triangle> + use<'a> {
    let stays: Vec<bool> = scene.materials.iter().map(|m| m.include && !m.obstacle).collect();
    triangles.iter().filter(move |t| stays[usize::from(t.material)])
}
