//! Open edges that run within the stitch threshold of each other: gaps and T-junctions that a wheel may fall through.

use super::plan::Rect;
use std::collections::HashMap;

/// Stitch threshold in plan steps.
pub const STITCH_PLAN: i64 = 4;
/// Stitch threshold in height steps.
pub const STITCH_HEIGHT: i64 = 64;
/// Comparisons for each end of an open edge, on average, after which counting stops.
const WORK: usize = 256;

/// An edge that one triangle only has; the lesser end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub a: [i32; 3],
    pub b: [i32; 3],
}

/// What was found of a set of open edges.
#[derive(Default, Debug)]
pub struct Seams {
    /// Ends of open edges that lie within the threshold of another open edge.
    pub count: u64,
    /// The least of them.
    pub first: Vec<[i32; 3]>,
    /// There were too many to compare all.
    pub unfinished: bool,
}

/// How many places are told.
const TOLD: usize = 8;

impl Seams {
    pub fn join(&mut self, other: Seams) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.sort_unstable();
        self.first.truncate(TOLD);
        self.unfinished |= other.unfinished;
    }
}

/// What one tile leaves to be compared with its neighbours.
#[derive(Default)]
pub struct Border {
    pub edges: Vec<Edge>,
    pub ends: Vec<[i32; 3]>,
}

/// Compares what lies inside a tile, given its open edges, and hands out what lies near its border.
pub fn of_tile(rect: &Rect, open: &[Edge], border: &mut Border) -> Seams {
    let inside = |p: &[i32; 3], margin: i64| {
        (0..2).all(|i| i64::from(p[i]) >= rect.low[i] + margin && i64::from(p[i]) < rect.high(i) - margin)
    };
    let mut ends: Vec<[i32; 3]> = open.iter().flat_map(|e| [e.a, e.b]).filter(|p| inside(p, 0)).collect();
    ends.sort_unstable();
    ends.dedup();
    let margin = STITCH_PLAN + 1;
    border.edges.extend(open.iter().filter(|e| inside(&e.a, 0) && !(inside(&e.a, margin) && inside(&e.b, margin))));
    let (own, near): (Vec<_>, Vec<_>) = ends.into_iter().partition(|p| inside(p, margin));
    border.ends.extend(near);
    search(open, &own)
}

/// Of `ends`, which are ends of open edges, those within the threshold of another open edge.
pub fn search(edges: &[Edge], ends: &[[i32; 3]]) -> Seams {
    let mut seams = Seams::default();
    if edges.is_empty() || ends.is_empty() {
        return seams;
    }
    // a grid for each size of edges, in plan and in height, so that none is entered often nor holds many
    let log2 = |extent: i64, least: i64| (63 - (extent.max(least) as u64).leading_zeros()).next_multiple_of(2);
    let size_of = |e: &Edge| {
        let along = |i: usize| (i64::from(e.a[i]) - i64::from(e.b[i])).abs();
        [log2(along(0).max(along(1)), 4 * STITCH_PLAN), log2(along(2), 4 * STITCH_HEIGHT)]
    };
    type Key = ([u32; 2], [i64; 3]);
    let mut grid: HashMap<Key, Vec<u32>> = HashMap::new();
    let mut sizes = Vec::new();
    for (number, e) in edges.iter().enumerate() {
        let size = size_of(e);
        if !sizes.contains(&size) {
            sizes.push(size);
        }
        let range = |i: usize, log2: u32, by: i64| {
            let (a, b) = (i64::from(e.a[i]), i64::from(e.b[i]));
            (a.min(b) - by) >> log2..=(a.max(b) + by) >> log2
        };
        for x in range(0, size[0], STITCH_PLAN) {
            for y in range(1, size[0], STITCH_PLAN) {
                for z in range(2, size[1], STITCH_HEIGHT) {
                    grid.entry((size, [x, y, z])).or_default().push(number as u32);
                }
            }
        }
    }
    // a chain of edges that are shorter than the threshold is not a seam with itself
    let mut chains = Chains::default();
    for e in edges.iter().filter(|e| near_points(e.a, e.b)) {
        chains.join(e.a, e.b);
    }
    let mut work = WORK * (ends.len() + edges.len());
    for &c in ends {
        let hit = sizes.iter().any(|&size| {
            let at = [i64::from(c[0]) >> size[0], i64::from(c[1]) >> size[0], i64::from(c[2]) >> size[1]];
            grid.get(&(size, at)).is_some_and(|list| {
                work = work.saturating_sub(list.len());
                work > 0 && list.iter().any(|&e| close(&edges[e as usize], c, &mut chains))
            })
        });
        if work == 0 {
            seams.unfinished = true;
            break;
        }
        if hit {
            seams.count += 1;
            if seams.first.len() < TOLD {
                seams.first.push(c);
            }
        }
    }
    seams
}

/// Whether two points lie within the threshold.
fn near_points(a: [i32; 3], b: [i32; 3]) -> bool {
    let d = |i: usize| i128::from(a[i]) - i128::from(b[i]);
    d(0) * d(0) + d(1) * d(1) <= i128::from(STITCH_PLAN * STITCH_PLAN) && d(2).abs() <= i128::from(STITCH_HEIGHT)
}

/// Whether an end of another edge lies within the threshold of an edge: in plan of its nearest point, in height above that.
fn close(e: &Edge, c: [i32; 3], chains: &mut Chains) -> bool {
    if c == e.a || c == e.b {
        return false;
    }
    let d = |p: [i32; 3], i: usize| i128::from(p[i]) - i128::from(e.a[i]);
    let (ux, uy, uz) = (d(e.b, 0), d(e.b, 1), d(e.b, 2));
    let (px, py, pz) = (d(c, 0), d(c, 1), d(c, 2));
    let (length, along) = (ux * ux + uy * uy, px * ux + py * uy);
    if along <= 0 {
        return near_points(e.a, c) && !chains.joined(e.a, c);
    }
    if along >= length {
        return near_points(e.b, c) && !chains.joined(e.b, c);
    }
    let across = ux * py - uy * px;
    let plan = i128::from(STITCH_PLAN);
    // beyond 2^62 the product would not fit, and is far off anyway
    across.abs() < 1 << 62
        && across * across <= plan * plan * length
        && (pz * length - along * uz).abs() <= i128::from(STITCH_HEIGHT) * length
}

/// Sets of points joined by edges that are shorter than the threshold.
#[derive(Default)]
struct Chains {
    above: HashMap<[i32; 3], [i32; 3]>,
}

impl Chains {
    /// Who stands for a point; those on the way are led there directly.
    fn root(&mut self, p: [i32; 3]) -> [i32; 3] {
        let mut root = p;
        while let Some(&above) = self.above.get(&root) {
            root = above;
        }
        let mut at = p;
        while at != root {
            at = self.above.insert(at, root).unwrap_or(root);
        }
        root
    }

    fn join(&mut self, a: [i32; 3], b: [i32; 3]) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.above.insert(a, b);
        }
    }

    fn joined(&mut self, a: [i32; 3], b: [i32; 3]) -> bool {
        self.root(a) == self.root(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: [i32; 3], b: [i32; 3]) -> Edge {
        Edge { a: a.min(b), b: a.max(b) }
    }

    fn count(edges: &[Edge]) -> u64 {
        let mut ends: Vec<_> = edges.iter().flat_map(|e| [e.a, e.b]).collect();
        ends.sort_unstable();
        ends.dedup();
        search(edges, &ends).count
    }

    #[test]
    fn gaps_and_t_junctions() {
        let long = edge([0, 0, 0], [100_000, 50_000, 1000]);
        let junction = [50_000, 25_000, 500];
        assert_eq!(count(&[long, edge(junction, [0, 50_000, 0])]), 1, "a T-junction");
        assert_eq!(count(&[long, edge([50_000, 25_003, 500 + 60], [0, 50_000, 0])]), 1, "a narrow gap");
        assert_eq!(count(&[long, edge([50_000, 25_006, 500], [0, 50_000, 0])]), 0, "a wider one");
        assert_eq!(count(&[long, edge([50_000, 25_000, 600], [0, 50_000, 0])]), 0, "a step");
        assert_eq!(count(&[long, edge([3, 0, 0], [100_003, 50_000, 1000])]), 4, "side by side");
        assert_eq!(count(&[long, edge([100_000, 50_000, 1000], [0, 90_000, 0])]), 0, "a corner");
        assert_eq!(count(&[edge([0, 0, 0], [2, 0, 0]), edge([2, 0, 0], [4, 0, 0]), edge([4, 0, 0], [900, 0, 0])]), 0);
    }
}
