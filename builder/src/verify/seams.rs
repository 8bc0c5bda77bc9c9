//! Open edges that run within the stitch threshold of each other: gaps and T-junctions that a wheel may fall through.
//!
//! An edge is open if one triangle has it, a vertex if it ends an open edge. An open vertex lies at a seam if another is within
//! the threshold of it and no chain of edges between open vertices, all within the threshold of both, links them; or if its foot
//! lies inside an open edge, within the threshold, and it is no corner of the edge's triangle. That is what stitching closes.

use super::plan::Rect;
use std::collections::{HashMap, HashSet};

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
    /// The triangle's third corner.
    pub apex: [i32; 3],
}

/// Ends of an edge that several triangles have; the lesser first.
pub type Link = [[i32; 3]; 2];

/// What was found of a set of open edges.
#[derive(Default, Debug)]
pub struct Seams {
    /// Open vertices that lie at a seam.
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
    pub links: Vec<Link>,
    pub ends: Vec<[i32; 3]>,
}

/// Compares what lies inside a tile, given its open edges and those that may link two open vertices, and hands out what lies near
/// its border.
pub fn of_tile(rect: &Rect, open: &[Edge], links: &[Link], border: &mut Border) -> Seams {
    let inside = |p: &[i32; 3], margin: i64| {
        (0..2).all(|i| i64::from(p[i]) >= rect.low[i] + margin && i64::from(p[i]) < rect.high(i) - margin)
    };
    let mut ends: Vec<[i32; 3]> = open.iter().flat_map(|e| [e.a, e.b]).filter(|p| inside(p, 0)).collect();
    ends.sort_unstable();
    ends.dedup();
    let margin = STITCH_PLAN + 1;
    // what lies within the threshold of an end near the border
    let handed_out = |a: &[i32; 3], b: &[i32; 3]| {
        let deep = margin + STITCH_PLAN;
        inside(a, 0) && !(inside(a, deep) && inside(b, deep))
    };
    border.edges.extend(open.iter().filter(|e| handed_out(&e.a, &e.b)));
    border.links.extend(links.iter().filter(|[a, b]| handed_out(a, b)));
    let (own, near): (Vec<_>, Vec<_>) = ends.into_iter().partition(|p| inside(p, margin));
    border.ends.extend(near);
    search(open, links, &own)
}

/// Whether an edge is so short that it may be part of a chain between two vertices within the threshold of each other.
pub fn may_link(a: [i32; 3], b: [i32; 3]) -> bool {
    within(a, b, 2)
}

/// Of `ends`, which are ends of open edges, those at a seam.
pub fn search(edges: &[Edge], links: &[Link], ends: &[[i32; 3]]) -> Seams {
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
    let chains = Chains::new(edges, links);
    let mut work = WORK * (ends.len() + edges.len());
    for &c in ends {
        let hit = sizes.iter().any(|&size| {
            let at = [i64::from(c[0]) >> size[0], i64::from(c[1]) >> size[0], i64::from(c[2]) >> size[1]];
            grid.get(&(size, at)).is_some_and(|list| {
                work = work.saturating_sub(list.len());
                work > 0 && list.iter().any(|&e| at_seam(&edges[e as usize], c, &chains, &mut work))
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

/// Whether two points lie within so many times the threshold.
fn within(a: [i32; 3], b: [i32; 3], times: i64) -> bool {
    let d = |i: usize| i128::from(a[i]) - i128::from(b[i]);
    let [plan, height] = [STITCH_PLAN, STITCH_HEIGHT].map(|s| i128::from(times * s));
    d(0) * d(0) + d(1) * d(1) <= plan * plan && d(2).abs() <= height
}

/// Whether an open vertex lies at a seam with an open edge: near an end that no chain links to it, or beside the edge, in plan of
/// its foot, in height above that.
fn at_seam(e: &Edge, c: [i32; 3], chains: &Chains, work: &mut usize) -> bool {
    if [e.a, e.b].into_iter().any(|end| end != c && within(end, c, 1) && !chains.link(end, c, work)) {
        return true;
    }
    if [e.a, e.b, e.apex].contains(&c) {
        return false;
    }
    let d = |p: [i32; 3], i: usize| i128::from(p[i]) - i128::from(e.a[i]);
    let (ux, uy, uz) = (d(e.b, 0), d(e.b, 1), d(e.b, 2));
    let (px, py, pz) = (d(c, 0), d(c, 1), d(c, 2));
    let (length, along) = (ux * ux + uy * uy, px * ux + py * uy);
    let across = ux * py - uy * px;
    let plan = i128::from(STITCH_PLAN);
    // beyond 2^62 the product would not fit, and is far off anyway
    0 < along
        && along < length
        && across.abs() < 1 << 62
        && across * across <= plan * plan * length
        && (pz * length - along * uz).abs() <= i128::from(STITCH_HEIGHT) * length
}

/// Short edges between open vertices, from each of their ends.
struct Chains {
    from: HashMap<[i32; 3], Vec<[i32; 3]>>,
}

impl Chains {
    fn new(edges: &[Edge], links: &[Link]) -> Chains {
        let mut from: HashMap<_, Vec<_>> = HashMap::new();
        let mut join = |a, b| {
            from.entry(a).or_default().push(b);
            from.entry(b).or_default().push(a);
        };
        edges.iter().filter(|e| may_link(e.a, e.b)).for_each(|e| join(e.a, e.b));
        if !links.is_empty() {
            let open: HashSet<[i32; 3]> = edges.iter().flat_map(|e| [e.a, e.b]).collect();
            links.iter().filter(|l| l.iter().all(|v| open.contains(v))).for_each(|&[a, b]| join(a, b));
        }
        Chains { from }
    }

    /// Whether a chain within the threshold of both links two vertices.
    fn link(&self, a: [i32; 3], b: [i32; 3], work: &mut usize) -> bool {
        let mut reached = vec![a];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for &to in self.from.get(&at).map_or(&[][..], Vec::as_slice) {
                *work = work.saturating_sub(1 + reached.len());
                if to == b {
                    return true;
                }
                if *work > 0 && within(to, a, 1) && within(to, b, 1) && !reached.contains(&to) {
                    reached.push(to);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(a: [i32; 3], b: [i32; 3]) -> Edge {
        Edge { a: a.min(b), b: a.max(b), apex: [-1_000_000; 3] }
    }

    fn linked(edges: &[Edge], links: &[Link]) -> u64 {
        let mut ends: Vec<_> = edges.iter().flat_map(|e| [e.a, e.b]).collect();
        ends.sort_unstable();
        ends.dedup();
        search(edges, links, &ends).count
    }

    fn count(edges: &[Edge]) -> u64 {
        linked(edges, &[])
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

    #[test]
    fn what_is_one_triangle_or_linked_is_no_seam() {
        // a sliver: its apex lies three steps off its own edge
        let [a, b, apex] = [[0, 0, 0], [100, 0, 0], [50, 3, 0]];
        let sliver = [[a, b, apex], [b, apex, a], [apex, a, b]].map(|[a, b, apex]| Edge { apex, ..edge(a, b) });
        assert_eq!(count(&sliver), 0);
        assert_eq!(count(&[sliver[0], edge([50, 3, 0], [50, 90, 0])]), 0, "the corner itself, whoever has it");
        assert_eq!(count(&[sliver[0], edge([51, 3, 0], [50, 90, 0])]), 1, "another");
        // two ends of long edges, with an edge of two triangles between them
        let ends = [edge([0, 0, 0], [-900, 0, 0]), edge([3, 0, 0], [900, -900, 0])];
        assert_eq!(count(&ends), 2);
        assert_eq!(linked(&ends, &[[[0, 0, 0], [3, 0, 0]]]), 0);
        assert_eq!(linked(&ends, &[[[0, 0, 0], [2, 1, 0]], [[2, 1, 0], [3, 0, 0]]]), 2, "by way of no open vertex");
        let way = edge([2, 1, 0], [900, 900, 0]);
        let links = [[[0, 0, 0], [2, 1, 0]], [[2, 1, 0], [3, 0, 0]]];
        assert_eq!(linked(&[ends[0], ends[1], way], &links), 0, "by way of one");
        assert_eq!(linked(&[ends[0], ends[1], way], &links[..1]), 3, "broken");
    }

    #[test]
    fn what_lies_deep_meets_what_lies_at_the_border() {
        // the end lies four steps from the border, the edge seven
        let rect = Rect { low: [0, 0], size: [1024; 2] };
        let (deep, end) = (edge([100, 7, 0], [900, 7, 0]), edge([500, 4, 0], [500, -900, 0]));
        let mut border = Border::default();
        assert_eq!(of_tile(&rect, &[deep, end], &[], &mut border).count, 0);
        assert_eq!(search(&border.edges, &border.links, &border.ends).count, 1);
    }
}
