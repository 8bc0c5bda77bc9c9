//! The files of a scene, each with what the scene has of it.

use std::path::Path;

use crate::{Scene, Triangle, import::Transform};

use super::{
    nodata,
    transform::{Of, Said},
};

/// What a scene has of one file.
pub struct Part<'a> {
    /// The file.
    pub file: &'a Path,
    /// How its numbers became metres.
    pub frame: &'a Transform,
    /// Its triangles.
    pub triangles: &'a [Triangle],
    /// What was said of it.
    pub said: Said,
    /// Heights of its ground that stand for no data, with its axes x, y and z up: see [`nodata::values`].
    pub voids: [Vec<f64>; 3],
    scene: &'a Scene,
}

/// The parts of a scene, of its files in the order read and what was said of them, how the numbers of each became metres, and how many triangles it has.
pub fn parts<'a>(
    scene: &'a Scene,
    files: impl Iterator<Item = (&'a Path, Said)>,
    frames: &'a [Transform],
    counts: &[usize],
) -> Vec<Part<'a>> {
    let mut rest = &scene.triangles[..];
    let mut parts = Vec::new();
    for (((file, said), frame), count) in files.zip(frames).zip(counts) {
        let (triangles, behind) = rest.split_at(*count);
        rest = behind;
        let mut part = Part { file, frame, triangles, said, voids: Default::default(), scene };
        part.voids = [0, 1, 2].map(|up| nodata::values(&part, up));
        parts.push(part);
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

    /// A triangle's normal, as long as twice its area.
    pub fn normal(&self, t: &Triangle) -> [f64; 3] {
        let [a, b, c] = t.v.map(|v| self.place(v));
        let (u, v) = ([0, 1, 2].map(|i| b[i] - a[i]), [0, 1, 2].map(|i| c[i] - a[i]));
        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    }

    /// Triangles that are ground.
    pub fn ground(&self) -> impl Iterator<Item = &'a Triangle> + use<'a> {
        ground(self.scene, self.triangles)
    }

    /// Whether somebody measured all corners of a triangle, whichever axis is up.
    fn is_measured(&self, t: &Triangle) -> bool {
        self.voids.iter().all(Vec::is_empty) || !t.v.iter().any(|v| nodata::is(self, *v).contains(&true))
    }

    /// Triangles of which somebody measured all corners.
    pub fn measured(&self) -> impl Iterator<Item = &'a Triangle> {
        self.triangles.iter().filter(|t| self.is_measured(t))
    }

    /// Those of them that are ground.
    pub fn measured_ground(&self) -> impl Iterator<Item = &'a Triangle> {
        self.ground().filter(|t| self.is_measured(t))
    }

    /// How to say that its numbers are meant as they stand, as the end of a warning of some files or of all; none if it is said. By a
    /// scale of 1, which a file of another scale cannot have.
    pub fn unmeant(&self, all: bool) -> Option<String> {
        let Said { scale, plain, .. } = self.said;
        match plain && scale.answers(all) {
            true => None,
            false if scale != Of::Nobody && !plain => Some(String::new()),
            false => Some(format!("; if its numbers are meant so, {}", self.said.say(scale, "scale", "1", all))),
        }
    }

    /// From where to where the ground that somebody measured reaches in x, y and z, metres.
    pub fn ends(&self) -> Ends {
        ends(self.scene, self.measured_ground())
    }
}

/// The two axes beside the one that is up.
pub fn plan(up: usize) -> [usize; 2] {
    [usize::from(up == 0), if up == 2 { 1 } else { 2 }]
}

/// Triangles whose material is ground.
pub fn ground<'a>(scene: &Scene, triangles: &'a [Triangle]) -> impl Iterator<Item = &'a Triangle> + use<'a> {
    let stays: Vec<bool> = scene.materials.iter().map(|m| m.include && !m.obstacle).collect();
    triangles.iter().filter(move |t| stays[usize::from(t.material)])
}

/// From where to where something reaches in x, y and z, metres; from infinity to less where there is nothing.
pub type Ends = [[f64; 2]; 3];

/// Of the corners of triangles.
pub fn ends<'a>(scene: &Scene, triangles: impl Iterator<Item = &'a Triangle>) -> Ends {
    let corners = triangles.flat_map(|t| t.v).map(|v| scene.positions[v as usize].map(|v| [v, v]));
    corners.fold([[f64::INFINITY, f64::NEG_INFINITY]; 3], join)
}

/// Of both.
pub fn join(a: Ends, b: Ends) -> Ends {
    [0, 1, 2].map(|i| [a[i][0].min(b[i][0]), a[i][1].max(b[i][1])])
}
