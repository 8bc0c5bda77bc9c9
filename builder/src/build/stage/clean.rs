//! Removes all that is no ground: undersides, obstacles, vertical, collapsed and steep triangles. One of coincident
//! triangles stays.

use crate::build::lattice::{Wall, upward};
use crate::report::{Contested, LeftOut};
use crate::scene::{self, Material, WallKind};
use crate::util::exact::area2;
use hardpan_shaders::Face;
use hardpan_shaders::sort::{lists_of_parts, runs};
use hashbrown::HashSet;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::Range;

/// Triangles that are looked at together.
const CHUNK: usize = 64;

/// Why a triangle is no ground.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    /// Counted by `quantise`.
    Outside,
    Excluded,
    Obstacle,
    Collapsed,
    Vertical,
    Ceiling,
    Steep,
    /// Counted in the scene that it is of.
    Wall,
}

/// How many there are.
const FATES: usize = Fate::Wall as usize + 1;

/// Results of [`ground`].
pub struct Cleaned {
    /// Twice the plan area of each triangle of the scene, in its order, square steps; zero for a triangle that is left
    /// out.
    pub areas: Vec<u64>,
    /// Which sides of coincident triangles look up.
    pub sides: Sides,
    pub left_out: LeftOut,
    /// Triangles that are no ground, and that rays hit.
    pub walls: Vec<Wall>,
}

/// Orients the ground triangles and sorts them; drops and counts the rest. `steep` and `looks_down` know the triangles
/// of the scene. The last triangles are no ground, as `known` says.
pub fn ground(
    faces: &mut Vec<Face>,
    vertices: &[[i32; 3]],
    materials: &[Material],
    ceilings: &[bool],
    known: &[scene::Wall],
    steep: impl Fn(usize) -> bool + Sync,
    looks_down: impl Fn(usize) -> bool + Sync,
) -> Cleaned {
    let first_known = faces.len() - known.len();
    let fate = |i: usize, f: &mut Face, corners: [[i32; 3]; 3]| {
        let material = &materials[usize::from(f.material)];
        if !material.include {
            return Err(Fate::Excluded);
        }
        if i >= first_known {
            return Err(Fate::Wall);
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
        let (mut counts, mut walls) = ([0u64; FATES], Vec::new());
        for (((f, to), corners), i) in faces.iter_mut().zip(areas).zip(corners).zip(CHUNK * chunk..) {
            match fate(i, f, corners) {
                Ok(area) => *to = area,
                Err(fate) => {
                    counts[fate as usize] += 1;
                    let kind = match fate {
                        Fate::Ceiling => WallKind::Ceiling,
                        Fate::Obstacle | Fate::Vertical | Fate::Steep => WallKind::Obstacle,
                        Fate::Wall => known[i - first_known].kind,
                        Fate::Outside | Fate::Excluded | Fate::Collapsed => continue,
                    };
                    if !f.is_outside() && !is_line(corners) {
                        let mut corners = corners;
                        // it was ground, which is turned up
                        if fate == Fate::Steep && area2(corners[0], corners[1], corners[2]) < 0 {
                            corners.swap(1, 2);
                        }
                        walls.push(Wall { corners, kind, material: f.material, source: f.source });
                    }
                }
            }
        }
        (counts, walls)
    });
    let none = || ([0; FATES], Vec::new());
    let (counts, walls) = counted.reduce(none, |mut a, b| {
        a.1.extend(b.1);
        (std::array::from_fn(|i| a.0[i] + b.0[i]), a.1)
    });
    let of = |fate: Fate| counts[fate as usize];
    let left_out = LeftOut {
        excluded: of(Fate::Excluded),
        obstacles: of(Fate::Obstacle),
        collapsed: of(Fate::Collapsed),
        vertical: of(Fate::Vertical),
        ceilings: of(Fate::Ceiling),
        steep: of(Fate::Steep),
    };
    let kept = |some: Range<usize>| {
        let some = faces[some.clone()].iter().zip(&areas[some]);
        some.filter(|(_, area)| **area > 0).map(|(f, _)| (f.v[0], f.key()))
    };
    let (starts, mut keys) = lists_of_parts(vertices.len(), faces.len(), kept);
    let sorted = runs(&starts[..=vertices.len()], &mut keys).map(|(_, starts, keys)| {
        let mut some_coincide = false;
        for run in starts.windows(2) {
            let run = &mut keys[(run[0] - starts[0]) as usize..(run[1] - starts[0]) as usize];
            run.sort_unstable();
            some_coincide |= run.windows(2).any(|two| two[0][..3] == two[1][..3]);
        }
        some_coincide
    });
    let some_coincide = sorted.reduce(|| false, |a, b| a | b);
    let sides = if some_coincide { Sides::of(&keys, faces, &areas, materials, looks_down) } else { Sides::default() };
    *faces = keys.into_par_iter().map(Face::of_key).collect();
    Cleaned { areas, sides, left_out, walls }
}

/// Which of coincident triangles look up in the source, where nothing of higher rank says which of them stays.
#[derive(Default)]
pub struct Sides {
    asked: HashSet<[u32; 3]>,
    up: HashSet<[u32; 4]>,
}

impl Sides {
    /// Of sorted keys; the oriented triangles, of which those with an area count, are as many as `looks_down` knows.
    fn of(
        keys: &[[u32; 4]],
        faces: &[Face],
        areas: &[u64],
        materials: &[Material],
        looks_down: impl Fn(usize) -> bool + Sync,
    ) -> Sides {
        let corners = |key: &[u32; 4]| [key[0], key[1], key[2]];
        let of = |key: &[u32; 4]| &materials[(key[3] >> 16) as usize];
        // what gives friction alone is apart from ground
        let is_open_of = |run: &[[u32; 4]], paints: bool| {
            let all = || run.iter().filter(|key| of(key).friction_only == paints);
            let most = all().map(|key| of(key).standing()).max();
            let mut those = all().filter(|key| Some(of(key).standing()) == most).map(|key| key[3]);
            let first = those.next();
            those.any(|kind| Some(kind) != first)
        };
        let is_open = |run: &&[[u32; 4]]| run.len() > 1 && [false, true].into_iter().any(|p| is_open_of(run, p));
        let runs = keys.par_chunk_by(|a, b| corners(a) == corners(b)).filter(is_open);
        let asked: HashSet<[u32; 3]> = runs.map(|run| corners(&run[0])).collect::<Vec<_>>().into_iter().collect();
        if asked.is_empty() {
            return Sides::default();
        }
        let found = faces.par_iter().zip(areas).enumerate();
        let found = found.filter(|(i, (f, area))| **area > 0 && asked.contains(&f.v) && !looks_down(*i));
        let up = found.map(|(_, (f, _))| f.key()).collect::<Vec<_>>().into_iter().collect();
        Sides { asked, up }
    }

    /// Whether a triangle looks down only, where that was asked.
    fn is_back(&self, f: &Face) -> bool {
        !self.asked.is_empty() && self.asked.contains(&f.v) && !self.up.contains(&f.key())
    }
}

/// Whether three points lie on one line in space.
pub fn is_line([a, b, c]: [[i32; 3]; 3]) -> bool {
    let d = |p: [i32; 3], q: [i32; 3]| -> [i128; 3] { std::array::from_fn(|i| i128::from(q[i]) - i128::from(p[i])) };
    let (u, v) = (d(a, b), d(a, c));
    (0..3).all(|i| u[i] * v[(i + 1) % 3] == u[(i + 1) % 3] * v[i])
}

/// Degrees by which a triangle at a limit may seem steeper: its coordinates are rounded, and so is the tangent of 45
/// degrees. Odd, so that no slope is just at a limit that is typed, and this.
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

/// Which of two coincident triangles stays: the material of highest precedence, then priority, then the first by name,
/// then the first source by name.
pub fn first(a: Face, b: Face, materials: &[Material]) -> Face {
    let rank = |f: &Face| (Reverse(materials[usize::from(f.material)].standing()), *f);
    std::cmp::min_by_key(a, b, rank)
}

/// Keeps one of coincident triangles of a sorted mesh: that of highest precedence and priority, then one that looks up
/// in the source, then by the rule of [`first`]. Returns how many went, and what of them had priority and side of what
/// stays and another friction.
pub fn duplicates(faces: &mut Vec<Face>, materials: &[Material], sides: &Sides) -> (u64, Option<Contested>) {
    let before = faces.len();
    let of = |f: &Face| &materials[usize::from(f.material)];
    let surface = |f: &Face| [of(f).mu, of(f).rr, of(f).gain];
    let class = |f: &Face| (Reverse(of(f).standing()), sides.is_back(f));
    let mut contested: Option<Contested> = None;
    let (mut kept, mut from) = (0, 0);
    while from < before {
        let to = from + faces[from..].iter().take_while(|f| f.v == faces[from].v).count();
        let mut stays = faces[from];
        if to - from > 1 {
            let run = &faces[from..to];
            stays = *run.iter().min_by_key(|f| (class(f), **f)).expect("some");
            for goes in run.iter().filter(|f| surface(f) != surface(&stays) && class(f) == class(&stays)) {
                let found = || Contested { triangles: 0, stays: of(&stays).name.clone(), goes: of(goes).name.clone() };
                contested.get_or_insert_with(found).triangles += 1;
            }
        }
        faces[kept] = stays;
        (kept, from) = (kept + 1, to);
    }
    faces.truncate(kept);
    ((before - kept) as u64, contested)
}
