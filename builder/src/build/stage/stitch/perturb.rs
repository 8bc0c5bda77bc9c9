//! The last resort of stitching: an open vertex beside an open edge moves by one step in plan, and then divides its
//! triangle.
//!
//! It is taken where the vertex lies exactly over another side of the triangle, as at the foot of a wall a hair off the
//! vertical: divided along it a part would stand upright, and a hole be left in the wall. The step, to one of the eight
//! lattice points around, leaves no part upright and turns no triangle over that has the vertex, and no vertex lies
//! where it ends. Of vertices that have triangles in common the first moves in a pass.

use super::super::ground::{GONE, Ground, Step, bearable};
use super::super::neighbours::beside;
use super::boundary::Seams;
use super::cut::{Cut, Met};
use super::{View, distance};
use crate::options::Near;
use crate::util::exact::area2;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Where a vertex may go, the shorter ways first.
const WAYS: [[i32; 2]; 8] = [[-1, 0], [0, -1], [0, 1], [1, 0], [-1, -1], [-1, 1], [1, -1], [1, 1]];

/// A side of a triangle that a vertex is to divide: its ends, its apex, and how far the triangle has been moved.
#[derive(Clone, Copy)]
struct Side {
    v: [u32; 3],
    by: [f64; 2],
}

/// Where vertices go that nothing else helps beside these triangles.
/// `free` tells where no vertex lies.
pub fn perturb(view: View, seams: &Seams, at: &[u32], free: impl Fn([i32; 3]) -> bool) -> BTreeMap<[i32; 3], u32> {
    let View { ground, near, .. } = view;
    let wanted = wanted(view, seams, at);
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let place = |v: &u32| ground.vertices[*v as usize];
    let at = around(ground, wanted.keys());
    // what depends on where another vertex goes waits for it
    let mut waits: HashSet<u32> = HashSet::new();
    for (&w, sides) in &wanted {
        let around = at[&w].iter().flat_map(|&i| ground.faces[i].v).chain(sides.iter().flat_map(|s| s.v));
        waits.extend(around.filter(|v| *v != w && wanted.contains_key(v)).map(|v| std::cmp::max_by_key(v, w, place)));
    }
    let mut places: BTreeMap<[i32; 3], u32> = BTreeMap::new();
    let mut first: Vec<u32> = wanted.keys().copied().filter(|w| !waits.contains(w)).collect();
    first.sort_by_key(place);
    for w in first {
        let sides = &wanted[&w];
        let corners: Vec<[u32; 3]> = at[&w].iter().map(|&i| ground.faces[i].v).collect();
        let way = WAYS.iter().find_map(|way| step(w, *way, sides, &corners, ground, near).filter(|p| free(*p)));
        if let Some(place) = way {
            places.entry(place).or_insert(w);
        }
    }
    places
}

/// Moves vertices there.
pub fn apply(ground: &mut Ground, places: &BTreeMap<[i32; 3], u32>) {
    let moved: HashMap<u32, [i32; 3]> = places.iter().map(|(place, w)| (*w, *place)).collect();
    ground.record.begin(&ground.vertices, &ground.faces);
    let to = |v: u32| moved.get(&v).copied().unwrap_or(ground.vertices[v as usize]);
    let mut swept = Vec::new();
    for (w, at) in around(ground, moved.keys()) {
        let far = (distance(moved[&w], ground.vertices[w as usize]).0 as f64).sqrt();
        for face in at.into_iter().map(|i| ground.faces[i]) {
            // no triangle has two of them
            let by = ground.moved.entry(face.v).or_default();
            by[0] += far;
            let from = face.v.map(|v| ground.vertices[v as usize]);
            swept.push((face, [from, face.v.map(to)], *by));
        }
    }
    ground.record.moved(swept);
    let steps: Vec<Step> = moved.iter().map(|(w, to)| Step::Moved(ground.vertices[*w as usize], *to)).collect();
    ground.follow(steps);
    moved.into_iter().for_each(|(w, place)| ground.vertices[w as usize] = place);
}

/// The triangles at each of these vertices.
fn around<'a>(ground: &Ground, some: impl Iterator<Item = &'a u32>) -> HashMap<u32, Vec<usize>> {
    let mut is = vec![false; ground.vertices.len()];
    some.for_each(|v| is[*v as usize] = true);
    let has_some = |i: &usize| {
        let v = ground.faces[*i].v;
        v[0] != GONE && v.iter().any(|v| is[*v as usize])
    };
    let near: Vec<usize> = (0..ground.faces.len()).into_par_iter().filter(has_some).collect();
    let mut at: HashMap<u32, Vec<usize>> = HashMap::new();
    for i in near {
        for v in ground.faces[i].v.into_iter().filter(|v| is[*v as usize]) {
            at.entry(v).or_default().push(i);
        }
    }
    at
}

/// Open vertices beside an open edge that would divide its triangle soundly, but for a part that would be upright.
fn wanted(view: View, seams: &Seams, at: &[u32]) -> HashMap<u32, Vec<Side>> {
    let mut wanted: HashMap<u32, Vec<Side>> = HashMap::new();
    for &face in at {
        let cut = Cut { face, search: seams, view };
        for k in cut.open_sides() {
            let v = cut.at_side(k);
            for Met { w, .. } in cut.beside(k).into_iter().flatten() {
                let [a, b, apex, p] = view.ground.corners([v[0], v[1], v[2], w]);
                if area2(a, p, apex) == 0 || area2(p, b, apex) == 0 {
                    wanted.entry(w).or_default().push(Side { v, by: cut.moved() });
                }
            }
        }
    }
    wanted
}

/// Where a vertex comes to lie this way, if that is sound for what it divides and for the triangles at it.
fn step(
    w: u32,
    [x, y]: [i32; 2],
    sides: &[Side],
    corners: &[[u32; 3]],
    ground: &Ground,
    near: Near,
) -> Option<[i32; 3]> {
    let from = ground.vertices[w as usize];
    let place = [from[0].checked_add(x)?, from[1].checked_add(y)?, from[2]];
    let far = [(distance(from, place).0 as f64).sqrt(), 0.0];
    let stays = |v: &[u32; 3]| {
        let [a, b, c] = v.map(|v| if v == w { place } else { ground.vertices[v as usize] });
        area2(a, b, c) > 0 && bearable(ground.by(v), far, ground.farthest)
    };
    let divides = |side: &Side| {
        let [a, b, apex] = ground.corners(side.v);
        let shorter = distance(a, place).0.max(distance(place, b).0) < distance(a, b).0;
        let stands = area2(a, place, apex) == 0 || area2(place, b, apex) == 0;
        shorter && !stands && beside(place, [a, b], near).is_some_and(|p| bearable(side.by, p.by, ground.farthest))
    };
    (corners.iter().all(stays) && sides.iter().all(divides)).then_some(place)
}
