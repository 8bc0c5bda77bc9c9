//! Long faces as triangles: a Delaunay triangulation of the corners that keeps the edges of the face, by exact signs.
//!
//! It makes few slivers, and its time grows little faster than the corners do: a face whose edges cross very many
//! Delaunay edges of its corners, like a comb with long slanting teeth, is given up.

use super::polygon::{Refusal, turn};
use hardpan_shaders::sort::mix;
use spade::{
    ConstrainedDelaunayTriangulation, HasPosition, HierarchyHintGenerator, LineIntersectionIterator, Point2,
    Triangulation,
};
use std::{cmp::Ordering, collections::HashMap};

/// A corner of a face, flat.
struct Corner {
    at: [f64; 2],
    /// Its number in the face; of several in one place the least.
    number: usize,
}

impl HasPosition for Corner {
    type Scalar = f64;

    fn position(&self) -> Point2<f64> {
        let [x, y] = self.at;
        Point2::new(x, y)
    }
}

/// Edges of the triangulation that an edge of the face may cross, on average, and that all of them may.
pub const CROSSED: [usize; 2] = [64, 1 << 19];
/// An edge that is one of the triangulation meets that and its two ends.
const OWN: usize = 3;
/// Metres below which a number is zero: far below any lattice step, far above the least that is triangulated.
const MIN_LENGTH: f64 = 1e-30;

fn cleared<const N: usize>(p: [f64; N]) -> [f64; N] {
    p.map(|v| if v.abs() < MIN_LENGTH { 0.0 } else { v })
}

/// Cuts a face into counter-clockwise triangles of indices into `flat`, which runs counter-clockwise. It may touch
/// itself, and run there and back; of corners in one place the first is named.
///
/// Refused if it crosses itself or covers a place twice, if it has no area, if two of its corners are one in `flat` but
/// not in `ring`, or if its edges cross more than [`CROSSED`] others.
pub fn cut(ring: &[[f64; 3]], flat: &[[f64; 2]]) -> Result<Vec<[usize; 3]>, Refusal> {
    let flat: Vec<[f64; 2]> = flat.iter().copied().map(cleared).collect();
    let mut order: Vec<usize> = (0..flat.len()).collect();
    order.sort_by(|&i, &j| flat[i][0].total_cmp(&flat[j][0]).then(flat[i][1].total_cmp(&flat[j][1])).then(i.cmp(&j)));
    let mut first: Vec<usize> = (0..flat.len()).collect();
    for pair in order.windows(2).filter(|p| flat[p[0]] == flat[p[1]]) {
        if cleared(ring[pair[0]]) != cleared(ring[pair[1]]) {
            return Err(Refusal::Folded);
        }
        first[pair[1]] = first[pair[0]];
    }
    // three corners apart, then the others as dice would have them: so no shape is a bad one
    let (low, high) = (order[0], order[order.len() - 1]);
    let far = |&&i: &&usize| (turn(flat[low], flat[high], flat[i]).abs(), std::cmp::Reverse(i));
    let apart = order.iter().max_by(|a, b| far(a).partial_cmp(&far(b)).unwrap_or(Ordering::Equal));
    let apart = *apart.expect("corners");
    let mut corners: Vec<usize> = order.into_iter().filter(|&i| first[i] == i).collect();
    corners.sort_by_key(|&i| (![first[low], first[high], first[apart]].contains(&i), mix(i as u64)));
    let mut mesh = ConstrainedDelaunayTriangulation::<Corner, (), (), (), HierarchyHintGenerator<f64>>::new();
    let mut handles = vec![None; flat.len()];
    for number in corners {
        handles[number] = Some(mesh.insert(Corner { at: flat[number], number }).map_err(|_| Refusal::Huge)?);
    }
    // how often the face runs along each edge, from the lesser end on; back taken off
    let mut runs: HashMap<[usize; 2], i32> = HashMap::new();
    let mut most = CROSSED[1].min(CROSSED[0] * flat.len());
    for (i, &from) in first.iter().enumerate() {
        let to = first[(i + 1) % first.len()];
        if from == to {
            continue;
        }
        let (Some(a), Some(b)) = (handles[from], handles[to]) else { return Err(Refusal::Crossing) };
        let crossed = LineIntersectionIterator::new_from_handles(&mesh, a, b).take(most + OWN + 1).count();
        most = most.checked_sub(crossed.saturating_sub(OWN)).ok_or(Refusal::Thin)?;
        let parts = mesh.try_add_constraint(a, b);
        if parts.is_empty() {
            return Err(Refusal::Crossing);
        }
        for part in parts {
            let [a, b] = mesh.directed_edge(part).vertices().map(|v| v.data().number);
            *runs.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
        }
    }
    // how often the face runs around each triangle, from the outside in
    let mut around: Vec<Option<i32>> = vec![None; mesh.num_all_faces()];
    let outer = mesh.outer_face().fix();
    around[outer.index()] = Some(0);
    let mut open: Vec<_> = mesh.directed_edges().filter(|e| e.face().fix() == outer).map(|e| e.fix()).collect();
    let mut triangles = Vec::new();
    while let Some(edge) = open.pop() {
        let edge = mesh.directed_edge(edge);
        let Some(here) = around[edge.face().fix().index()] else { continue };
        let beyond = edge.rev().face();
        let Some(face) = beyond.as_inner() else { continue };
        if around[face.fix().index()].is_some() {
            continue;
        }
        let [a, b] = edge.vertices().map(|v| v.data().number);
        let run = runs.get(&[a.min(b), a.max(b)]).copied().unwrap_or_default();
        let there = here - if a < b { run } else { -run };
        around[face.fix().index()] = Some(there);
        match there {
            0 => {}
            1 => triangles.push(face.vertices().map(|v| v.data().number)),
            _ => return Err(Refusal::Crossing),
        }
        open.extend(face.adjacent_edges().map(|e| e.fix()));
    }
    if triangles.is_empty() { Err(Refusal::Flat) } else { Ok(triangles) }
}
