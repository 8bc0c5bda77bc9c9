//! What is no ground goes: undersides, obstacles, vertical, collapsed and steep triangles; one of coincident ones stays.

use crate::lattice::{Face, area2, upward};
use crate::{Contested, Material, Report};
use hardpan_shaders::sort::{lists_of_parts, runs};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// Triangles that are looked at together.
const CHUNK: usize = 64;

/// Why a triangle is no ground.
#[derive(Clone, Copy)]
enum Fate {
    /// Counted by `quantise`.
    Outside,
    Excluded,
    Obstacle,
    Collapsed,
    Vertical,
    Ceiling,
    Steep,
}

/// How many there are.
const FATES: usize = Fate::Steep as usize + 1;

/// Orients what is ground and sorts it; drops and counts the rest. Of each triangle, in the order of the scene, twice its plan
/// area in square steps; zero of what is no ground, as are those that are `steep`.
pub fn ground(
    faces: &mut Vec<Face>,
    vertices: &[[i32; 3]],
    materials: &[Material],
    ceilings: &[bool],
    steep: impl Fn(usize) -> bool + Sync,
    report: &mut Report,
) -> Vec<u64> {
    let fate = |i: usize, f: &mut Face, corners: [[i32; 3]; 3]| {
        let material = &materials[usize::from(f.material)];
        if !material.include {
            return Err(Fate::Excluded);
        }
        if material.obstacle {
            return Err(Fate::Obstacle);
        }
        if f.is_outside() {
            return Err(Fate::Outside);
        }
        let [a, b, c] = corners;
        let area = area2(a, b, c);
        match upward(f.v, area) {
            None if is_line(corners) => Err(Fate::Collapsed),
            None => Err(Fate::Vertical),
            Some(_) if ceilings.get(i) == Some(&true) => Err(Fate::Ceiling),
            Some(_) if steep(i) => Err(Fate::Steep),
            Some(v) => {
                f.v = v;
                Ok(area.unsigned_abs() as u64) // no more than the domain
            }
        }
    };
    let mut areas = vec![0; faces.len()];
    let chunks = faces.par_chunks_mut(CHUNK).zip(areas.par_chunks_mut(CHUNK)).enumerate();
    let counted = chunks.map(|(chunk, (faces, areas))| {
        // all corners first: many are waited for at once
        let mut corners = [[[0; 3]; 3]; CHUNK];
        for (corners, f) in corners.iter_mut().zip(&*faces).filter(|(_, f)| !f.is_outside()) {
            *corners = f.v.map(|v| vertices[v as usize]);
        }
        let mut counts = [0u64; FATES];
        for (((f, to), corners), i) in faces.iter_mut().zip(areas).zip(corners).zip(CHUNK * chunk..) {
            match fate(i, f, corners) {
                Ok(area) => *to = area,
                Err(fate) => counts[fate as usize] += 1,
            }
        }
        counts
    });
    let counts = counted.reduce(|| [0; FATES], |a, b| std::array::from_fn(|i| a[i] + b[i]));
    for (fate, count) in [
        (Fate::Excluded, &mut report.excluded),
        (Fate::Obstacle, &mut report.obstacles),
        (Fate::Collapsed, &mut report.collapsed),
        (Fate::Vertical, &mut report.vertical),
        (Fate::Ceiling, &mut report.ceilings),
        (Fate::Steep, &mut report.steep),
    ] {
        *count += counts[fate as usize];
    }
    let kept = |some: Range<usize>| {
        let some = faces[some.clone()].iter().zip(&areas[some]);
        some.filter(|(_, area)| **area > 0).map(|(f, _)| (f.v[0], f.key()))
    };
    let (starts, mut keys) = lists_of_parts(vertices.len(), faces.len(), kept);
    runs(&starts[..=vertices.len()], &mut keys).for_each(|(_, starts, keys)| {
        for run in starts.windows(2) {
            keys[(run[0] - starts[0]) as usize..(run[1] - starts[0]) as usize].sort_unstable();
        }
    });
    *faces = keys.into_par_iter().map(Face::of_key).collect();
    areas
}

/// Whether three points lie on one line in space.
fn is_line([a, b, c]: [[i32; 3]; 3]) -> bool {
    let d = |p: [i32; 3], q: [i32; 3]| -> [i128; 3] { std::array::from_fn(|i| i128::from(q[i]) - i128::from(p[i])) };
    let (u, v) = (d(a, b), d(a, c));
    (0..3).all(|i| u[i] * v[(i + 1) % 3] == u[(i + 1) % 3] * v[i])
}

/// Degrees by which a triangle at a limit may seem steeper: its coordinates are rounded, and so is the tangent of 45 degrees. Odd, so
/// that no slope is just at a limit that is typed, and this.
const STEEPER: f64 = 7.3e-7;

/// How far ground as steep as a limit in degrees rises in a metre of plan.
pub fn rise(limit: f64) -> f64 {
    libm::tan((limit + STEEPER).min(90.0) * (std::f64::consts::PI / 180.0))
}

/// Whether a triangle rises more than so much in a metre of plan. Slopes are those of the source, before rounding.
pub fn is_steep(mut corners: [[f64; 3]; 3], rise: f64) -> bool {
    corners.sort_unstable_by(|a, b| a.partial_cmp(b).expect("numbers")); // the same in any order
    let [a, b, c] = corners;
    let normal = |i: usize, j: usize| (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    let [x, y, z] = [normal(1, 2), normal(2, 0), normal(0, 1)];
    x * x + y * y > rise * rise * (z * z)
}

/// Which of two coincident triangles stays: the material of highest priority, then the first by name, then the first source
/// by name.
pub fn first(a: Face, b: Face, materials: &[Material]) -> Face {
    let rank = |f: &Face| (Reverse(materials[usize::from(f.material)].priority), *f);
    std::cmp::min_by_key(a, b, rank)
}

/// Keeps one of coincident triangles of a sorted mesh, by the rule of [`first`]. Returns how many went, and what of them had the priority of what stays and another friction.
pub fn duplicates(faces: &mut Vec<Face>, materials: &[Material]) -> (u64, Option<Contested>) {
    let before = faces.len();
    let of = |f: &Face| &materials[usize::from(f.material)];
    let surface = |f: &Face| [of(f).mu, of(f).rr, of(f).gain];
    let mut contested: Option<Contested> = None;
    faces.dedup_by(|next, kept| {
        let same = next.v == kept.v;
        if same && of(next).priority == of(kept).priority && surface(next) != surface(kept) {
            let found = || Contested { triangles: 0, stays: of(kept).name.clone(), goes: of(next).name.clone() };
            contested.get_or_insert_with(found).triangles += 1;
        }
        if same {
            *kept = first(*kept, *next, materials);
        }
        same
    });
    ((before - faces.len()) as u64, contested)
}
