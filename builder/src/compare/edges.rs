//! Where edges of one image cross those of another, in plan.

use std::cmp::Ordering;

use rayon::prelude::*;
use rstar::{RTree, RTreeObject, primitives::Line};
use serde::Serialize;

/// Corners of a triangle in plan, metres.
pub type Corners = [[f64; 2]; 3];
/// The ends of an edge in plan, metres, the first by x and y first.
pub type Edge = [[f64; 2]; 2];

/// Most crossings that are kept. This bounds the time for loose, overlapping triangles.
pub const MAX_CROSSINGS: usize = 4_000_000;
/// Looks at an edge for each of all edges, beyond which no more crossings are looked for.
const LOOKS: usize = 256;
/// How many crossings were found, and whether they are all.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Found {
    pub crossings: u64,
    pub all: bool,
}

/// By x, then y.
pub fn by_place(p: &[f64; 2], q: &[f64; 2]) -> Ordering {
    p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]))
}

/// Places where an edge that only one image has crosses an edge that only the other one has; at their ends they only
/// meet.
pub fn crossings(a: &[Edge], b: &[Edge]) -> (Vec<[f64; 2]>, Found) {
    let without = |one: &[Edge], other: &[Edge]| -> Vec<Edge> {
        one.par_iter().filter(|e| other.binary_search_by(|o| by_ends(o, e)).is_err()).copied().collect()
    };
    let (a, b) = (without(a, b), without(b, a));
    let (mut places, mut looks) = (Vec::new(), LOOKS * (a.len() + b.len()));
    let tree = RTree::bulk_load(b.into_iter().map(|[p, q]| Line::new(p, q)).collect());
    let pairs = a.iter().flat_map(|p| {
        let near = tree.locate_in_envelope_intersecting(Line::new(p[0], p[1]).envelope());
        near.map(move |q| (p, [q.from, q.to]))
    });
    let mut all = true;
    for (p, q) in pairs {
        all = looks > 0 && places.len() < MAX_CROSSINGS;
        if !all {
            break;
        }
        looks -= 1;
        places.extend(crossing(p, &q));
    }
    let found = Found { crossings: places.len() as u64, all };
    (places, found)
}

fn by_ends(p: &Edge, q: &Edge) -> Ordering {
    by_place(&p[0], &q[0]).then(by_place(&p[1], &q[1]))
}

/// All edges, once, in order.
pub fn edges(triangles: &[Corners]) -> Vec<Edge> {
    let of = |[a, b, c]: &Corners| {
        [[*a, *b], [*b, *c], [*c, *a]].map(|[p, q]| if by_place(&p, &q).is_le() { [p, q] } else { [q, p] })
    };
    let mut edges: Vec<Edge> = triangles.iter().flat_map(of).filter(|[p, q]| p != q).collect();
    edges.par_sort_unstable_by(by_ends);
    edges.dedup();
    edges
}

/// Where two edges cross between their ends.
fn crossing([p, q]: &Edge, [r, s]: &Edge) -> Option<[f64; 2]> {
    let [d, e, f] = [[q, p], [s, r], [r, p]].map(|[to, from]| [to[0] - from[0], to[1] - from[1]]);
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let det = cross(d, e);
    let [t, u] = [cross(f, e) / det, cross(f, d) / det];
    let inside = |v: f64| v > 0.0 && v < 1.0; // not where they are parallel, either
    (inside(t) && inside(u)).then(|| [p[0] + t * d[0], p[1] + t * d[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of 1 m cut into triangles along one diagonal or the other, all moved by this offset.
    fn squares(n: i32, up: bool, moved: [f64; 2]) -> Vec<Corners> {
        let at = |x: i32, y: i32| [f64::from(x) + moved[0], f64::from(y) + moved[1]];
        let square = |k: i32| {
            let (x, y) = (k % n, k / n);
            let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
            if up { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
        };
        (0..n * n).flat_map(square).collect()
    }

    #[test]
    fn crossings_are_those_of_all_pairs() {
        let same = edges(&squares(20, true, [0.0; 2]));
        assert_eq!(crossings(&same, &same).1.crossings, 0);
        let (mut places, found) = crossings(&same, &edges(&squares(20, false, [0.0; 2])));
        assert!(found.all);
        places.sort_by(by_place);
        let middles: Vec<[f64; 2]> = (0..400).map(|k| [f64::from(k / 20) + 0.5, f64::from(k % 20) + 0.5]).collect();
        assert_eq!(places, middles);
        // all edges differ: as many as of all pairs
        let moved = edges(&squares(20, false, [0.3, 0.1]));
        let (mut places, found) = crossings(&same, &moved);
        let mut wanted: Vec<_> = same.iter().flat_map(|p| moved.iter().filter_map(|q| crossing(p, q))).collect();
        places.sort_by(by_place);
        wanted.sort_by(by_place);
        assert!(found.all && found.crossings > 2000);
        assert_eq!(places, wanted);
    }

    #[test]
    fn a_heap_is_left_at_that() {
        // 3,000 needles upright over 3,000 that lie
        let needles = |across: bool| -> Vec<Edge> {
            let place = |k: u32, far: f64| if across { [far, f64::from(k)] } else { [f64::from(k), far] };
            edges(&(0..3000).map(|k| [place(k, -1.0), place(k, 3000.5), place(k, 4000.0)]).collect::<Vec<_>>())
        };
        let (places, found) = crossings(&needles(true), &needles(false));
        assert!(!found.all && places.len() <= MAX_CROSSINGS && !places.is_empty());
    }
}
