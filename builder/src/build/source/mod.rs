//! The files of a scene, each with what the scene has of it, and what its numbers show.

pub mod nodata;
pub mod precision;

use std::path::Path;

use crate::report::{Code, Finding, Hint, Severity};
use crate::scene::{Material, Scene, Triangle};
use crate::settings::frame::Transform;

/// The names of a file's axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// The part of a scene that comes from one file.
pub struct Part<'a> {
    /// The file.
    pub file: &'a Path,
    /// How its numbers became metres.
    pub frame: &'a Transform,
    /// Its triangles.
    pub triangles: &'a [Triangle],
    /// Heights of its ground that stand for no data, with its axes x, y and z up: see `nodata::values`.
    pub voids: [Vec<f64>; 3],
    scene: &'a Scene,
}

/// The parts of a scene. Given are its files in the order read, how the numbers of each became metres, and its count of
/// triangles.
pub fn parts<'a>(scene: &'a Scene, files: &[&'a Path], frames: &'a [Transform], triangles: &[usize]) -> Vec<Part<'a>> {
    let mut rest = &scene.triangles[..];
    let mut parts = Vec::new();
    for ((file, frame), count) in files.iter().zip(frames).zip(triangles) {
        let (triangles, behind) = rest.split_at(*count);
        rest = behind;
        let mut part = Part { file, frame, triangles, voids: Default::default(), scene };
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

    /// Ground of which somebody measured all corners.
    pub fn measured_ground(&self) -> impl Iterator<Item = &'a Triangle> {
        self.ground().filter(|t| self.is_measured(t))
    }

    /// How far that reaches in x, y and z, metres.
    pub fn extent(&self) -> [f64; 3] {
        extent(self.scene, self.measured_ground())
    }

    /// A finding about the file.
    pub fn finding(&self, code: Code, severity: Severity, text: String, hint: Hint) -> Finding {
        let subject = self.file.to_string_lossy().into_owned();
        Finding { code, severity, subject, place: None, values: Vec::new(), text, hint }
    }
}

/// The two axes beside the one that is up.
pub fn plan(up: usize) -> [usize; 2] {
    [usize::from(up == 0), if up == 2 { 1 } else { 2 }]
}

/// Triangles whose material is ground.
pub fn ground<'a>(scene: &Scene, triangles: &'a [Triangle]) -> impl Iterator<Item = &'a Triangle> + use<'a> {
    let stays: Vec<bool> = scene.materials.iter().map(Material::is_ground).collect();
    triangles.iter().filter(move |t| stays[usize::from(t.material)])
}

/// How far corners of triangles reach in x, y and z, metres; 0 if there is none.
pub fn extent<'a>(scene: &Scene, triangles: impl Iterator<Item = &'a Triangle>) -> [f64; 3] {
    let corners = triangles.flat_map(|t| t.v).map(|v| scene.positions[v as usize]);
    let none = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    let ends = corners.fold(none, |ends, p| [0, 1, 2].map(|i| [ends[i][0].min(p[i]), ends[i][1].max(p[i])]));
    ends.map(|[low, high]| (high - low).max(0.0))
}
