//! Open edges that run within the stitch threshold of each other: gaps and T-junctions that a wheel may fall through.
//!
//! An edge is open if all triangles that have it lie on one side of it, mostly one and 64 at most, a vertex if it ends
//! an open edge. An open vertex lies at a seam if another is within the threshold of it and no chain of edges between
//! open vertices, all within the threshold of both, links them; or if its foot lies inside an open edge, within the
//! threshold, and it is no corner of the edge's triangles. That is what stitching closes.

pub mod crossings;

use crate::verify::tile::plan::Rect;
use std::borrow::Cow;

/// Stitch threshold in plan steps.
pub const STITCH_PLAN: i64 = 4;
/// Stitch threshold in height steps.
pub const STITCH_HEIGHT: i64 = 64;
/// Comparisons for each end of an open edge, on average, after which counting stops.
const WORK: usize = 256;

/// An open edge of a triangle; the lesser end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edge {
    pub a: [i32; 3],
    pub b: [i32; 3],
    /// The triangle's third corner.
    pub apex: [i32; 3],
    /// Whether other triangles have it, too.
    pub is_fold: bool,
}

impl Edge {
    fn ends(&self) -> Link {
        [self.a, self.b]
    }
}

/// Ends of an edge that is not open; the lesser first.
pub type Link = [[i32; 3]; 2];

/// Results for a set of open edges.
#[derive(Default, Debug)]
pub struct Seams {
    /// Open vertices that lie at a seam.
    pub count: u64,
    /// The least of them.
    pub first: Vec<[i32; 3]>,
    /// There were too many to compare all.
    pub unfinished: bool,
}

/// How many places are reported.
const MAX_PLACES: usize = 8;

impl Seams {
    pub fn join(&mut self, other: Seams) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.sort_unstable();
        self.first.truncate(MAX_PLACES);
        self.unfinished |= other.unfinished;
    }
}

/// Data of one tile that is compared with its neighbours.
#[derive(Default)]
pub struct Border {
    pub edges: Vec<Edge>,
    pub links: Vec<Link>,
    pub ends: Vec<[i32; 3]>,
}

impl Border {
    pub fn join(&mut self, other: Border) {
        self.edges.extend(other.edges);
        self.links.extend(other.links);
        self.ends.extend(other.ends);
    }
}

/// Compares what lies inside a tile, given its open edges and those that may link two open vertices, and hands out what
/// lies near its border.
pub fn of_tile(rect: &Rect, open: &[Edge], links: &[Link], border: &mut Border) -> Seams {
    let inside = |p: &[i32; 3], margin: i64| {
        (0..2).all(|i| i64::from(p[i]) >= rect.low[i] + margin && i64::from(p[i]) < rect.high(i) - margin)
    };
    let mut keys: Vec<u128> = open.iter().flat_map(|e| [e.a, e.b]).filter(|p| inside(p, 0)).map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    let ends = keys.into_iter().map(place);
    let margin = STITCH_PLAN + 1;
    // what lies within the threshold of an end near the border
    let handed_out = |a: &[i32; 3], b: &[i32; 3]| {
        let deep = margin + STITCH_PLAN;
        !(inside(a, deep) && inside(b, deep)) && inside(a, 0)
    };
    border.edges.extend(open.iter().filter(|e| handed_out(&e.a, &e.b)));
    border.links.extend(links.iter().filter(|[a, b]| handed_out(a, b)));
    let (own, near): (Vec<_>, Vec<_>) = ends.partition(|p| inside(p, margin));
    border.ends.extend(near);
    search(open, links, &own)
}

/// A place as a number, in the order of places: such are sorted quickly.
fn key(place: [i32; 3]) -> u128 {
    place.into_iter().fold(0, |key, v| key << 32 | u128::from(v as u32 ^ 1 << 31))
}

fn place(key: u128) -> [i32; 3] {
    [64, 32, 0].map(|by| (key >> by) as u32 as i32 ^ i32::MIN)
}

/// Whether an edge is so short that it may be part of a chain between two vertices within the threshold of each other.
pub fn may_link(a: [i32; 3], b: [i32; 3]) -> bool {
    within(a, b, 2)
}

/// The `ends` of open edges that lie at a seam.
pub fn search(edges: &[Edge], links: &[Link], ends: &[[i32; 3]]) -> Seams {
    let mut seams = Seams::default();
    if edges.is_empty() || ends.is_empty() {
        return seams;
    }
    // of a fold the first of its triangles stands for all
    let mut folds: Vec<Edge> = edges.iter().filter(|e| e.is_fold).copied().collect();
    folds.sort_unstable();
    let of_fold = |e: &Edge| {
        let from = folds.partition_point(|f| f.ends() < e.ends());
        let ends = e.ends();
        folds[from..].iter().take_while(move |f| f.ends() == ends)
    };
    let edges: Cow<[Edge]> = match folds.is_empty() {
        true => edges.into(),
        false => {
            let sole = edges.iter().filter(|e| !e.is_fold);
            sole.chain(folds.chunk_by(|e, f| e.ends() == f.ends()).map(|fold| &fold[0])).copied().collect()
        }
    };
    let grid = Grid::new(&edges);
    let chains = Chains::new(&edges, links);
    let mut work = WORK * (ends.len() + edges.len());
    for &c in ends {
        let hit = grid.sizes_near(c).any(|size| {
            let list = grid.over(size, c);
            work = work.saturating_sub(list.len());
            work > 0
                && list.iter().map(|&e| &edges[e as usize]).any(|e| {
                    at_seam(e, c, &chains, &mut work) && !(e.is_fold && of_fold(e).any(|other| other.apex == c))
                })
        });
        if work == 0 {
            seams.unfinished = true;
            break;
        }
        if hit {
            seams.count += 1;
            if seams.first.len() < MAX_PLACES {
                seams.first.push(c);
            }
        }
    }
    seams
}

/// log2 of the side of the squares in which the sizes of edges are known.
const SQUARE: u32 = 14;

/// Cells for each size of edges, in plan and in height, so that no edge has many nor a cell many edges. Cells share
/// slots by a hash.
struct Grid {
    sizes: Vec<[u32; 2]>,
    /// For squares that share a slot, a bit for each size of edges there. The last bit stands for all sizes from 63 on;
    /// edges whose cells are larger than a square are everywhere.
    squares: Vec<u64>,
    /// Where the edges of each slot start.
    starts: Vec<usize>,
    edges: Vec<u32>,
}

impl Grid {
    fn new(edges: &[Edge]) -> Grid {
        let slots = (2 * edges.len()).next_power_of_two();
        let squares = vec![0; (slots / 4).max(1)];
        let mut grid = Grid { sizes: Vec::new(), squares, starts: vec![0; slots + 1], edges: Vec::new() };
        let mut everywhere = 0;
        for e in edges {
            let size = Grid::size(e);
            let number = grid.sizes.iter().position(|s| *s == size).unwrap_or_else(|| {
                grid.sizes.push(size);
                grid.sizes.len() - 1
            });
            if size[0] > SQUARE {
                everywhere |= Grid::bit(number);
            } else {
                Grid::cells(e, [SQUARE, 63], |[x, y, _]| {
                    let square = Grid::square([x, y], grid.squares.len());
                    grid.squares[square] |= Grid::bit(number);
                });
            }
            Grid::cells(e, size, |at| grid.starts[Grid::slot(size, at, slots)] += 1);
        }
        grid.squares.iter_mut().for_each(|square| *square |= everywhere);
        // ends, then starts as the edges are put in from behind
        for i in 1..=slots {
            grid.starts[i] += grid.starts[i - 1];
        }
        grid.edges = vec![0; grid.starts[slots]];
        for (number, e) in edges.iter().enumerate().rev() {
            let size = Grid::size(e);
            Grid::cells(e, size, |at| {
                let start = &mut grid.starts[Grid::slot(size, at, slots)];
                *start -= 1;
                grid.edges[*start] = number as u32;
            });
        }
        grid
    }

    /// log2 of the sides of an edge's cells in plan and in height: even, and of twice the edge's extent at most, unless
    /// that is small. In height many thresholds count as small: ends ask for each size, and few layers are closer.
    fn size(e: &Edge) -> [u32; 2] {
        let log2 = |extent: i64, least: i64| (63 - (extent.max(least) as u64).leading_zeros()).next_multiple_of(2);
        let along = |i: usize| (i64::from(e.a[i]) - i64::from(e.b[i])).abs();
        [log2(along(0).max(along(1)), 4 * STITCH_PLAN), log2(along(2), 64 * STITCH_HEIGHT)]
    }

    /// Calls `see` with every cell of such sides within the threshold of an edge's box.
    fn cells(e: &Edge, size: [u32; 2], mut see: impl FnMut([i64; 3])) {
        let range = |i: usize, log2: u32, by: i64| {
            let (a, b) = (i64::from(e.a[i]), i64::from(e.b[i]));
            (a.min(b) - by) >> log2..((a.max(b) + by) >> log2) + 1
        };
        for x in range(0, size[0], STITCH_PLAN) {
            for y in range(1, size[0], STITCH_PLAN) {
                for z in range(2, size[1], STITCH_HEIGHT) {
                    see([x, y, z]);
                }
            }
        }
    }

    fn slot(size: [u32; 2], at: [i64; 3], slots: usize) -> usize {
        let mix = |h: u64, v: u64| (h ^ h >> 29 ^ v).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let size = u64::from(size[0]) << 8 | u64::from(size[1]);
        (at.into_iter().fold(size, |h, v| mix(h, v as u64)) >> 20) as usize & (slots - 1)
    }

    fn bit(number: usize) -> u64 {
        1 << number.min(63)
    }

    /// The slot of a square.
    fn square([x, y]: [i64; 2], slots: usize) -> usize {
        Grid::slot([0; 2], [x, y, 0], slots)
    }

    /// All sizes of edges whose cells may hold a point.
    fn sizes_near(&self, p: [i32; 3]) -> impl Iterator<Item = [u32; 2]> {
        let square = Grid::square([p[0], p[1]].map(|v| i64::from(v) >> SQUARE), self.squares.len());
        let mut there = self.squares[square];
        let shared = if there >> 63 == 1 { self.sizes.get(63..).unwrap_or(&[]) } else { &[] };
        let own = std::iter::from_fn(move || {
            let number = there.trailing_zeros() as usize;
            there &= there.wrapping_sub(1);
            (number < 63).then(|| self.sizes[number])
        });
        own.chain(shared.iter().copied())
    }

    /// Edges of a size whose cells hold a point, and others.
    fn over(&self, size: [u32; 2], p: [i32; 3]) -> &[u32] {
        let at = [i64::from(p[0]) >> size[0], i64::from(p[1]) >> size[0], i64::from(p[2]) >> size[1]];
        let slot = Grid::slot(size, at, self.starts.len() - 1);
        &self.edges[self.starts[slot]..self.starts[slot + 1]]
    }
}

/// Whether two points lie within so many times the threshold.
fn within(a: [i32; 3], b: [i32; 3], times: i64) -> bool {
    let d = |i: usize| i64::from(a[i].abs_diff(b[i]));
    let (plan, height) = (times * STITCH_PLAN, times * STITCH_HEIGHT);
    (0..2).all(|i| d(i) <= plan) && d(2) <= height && d(0) * d(0) + d(1) * d(1) <= plan * plan
}

/// Whether an open vertex lies at a seam with an open edge: near an end that no chain links to it, or beside the edge,
/// in plan of its foot, in height above that.
fn at_seam(e: &Edge, c: [i32; 3], chains: &Chains, work: &mut usize) -> bool {
    let beyond = |i: usize, by: i64| {
        let [a, b, c] = [e.a[i], e.b[i], c[i]].map(i64::from);
        c < a.min(b) - by || c > a.max(b) + by
    };
    if beyond(0, STITCH_PLAN) || beyond(1, STITCH_PLAN) || beyond(2, STITCH_HEIGHT) {
        return false;
    }
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

/// Short edges between open vertices, from each of their ends, ascending.
struct Chains(Vec<Link>);

impl Chains {
    fn new(edges: &[Edge], links: &[Link]) -> Chains {
        let mut open: Vec<[i32; 3]> = Vec::new();
        if !links.is_empty() {
            open.extend(edges.iter().flat_map(|e| [e.a, e.b]));
            open.sort_unstable();
        }
        let is_open = |v: &[i32; 3]| open.binary_search(v).is_ok();
        let short = edges.iter().filter(|e| may_link(e.a, e.b)).map(|e| [e.a, e.b]);
        let links = links.iter().filter(|l| l.iter().all(is_open)).copied();
        let mut all: Vec<Link> = short.chain(links).flat_map(|[a, b]| [[a, b], [b, a]]).collect();
        all.sort_unstable();
        Chains(all)
    }

    /// Whether a chain within the threshold of both links two vertices.
    fn link(&self, a: [i32; 3], b: [i32; 3], work: &mut usize) -> bool {
        let mut reached = vec![a];
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            let from = self.0.partition_point(|l| l[0] < at);
            for &[_, to] in self.0[from..].iter().take_while(|l| l[0] == at) {
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
        Edge { a: a.min(b), b: a.max(b), apex: [-1_000_000; 3], is_fold: false }
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

    /// Whatever the sizes of edges around an end, it is compared with all that matter.
    #[test]
    fn as_by_comparing_all() {
        let mut seed = 7u64;
        let mut random = |n: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) as i64 % n) as i32
        };
        let mut found = 0;
        for case in 0..40 {
            let spread = [3_000, 40_000, 400_000][case % 3];
            let mut edges: Vec<Edge> = Vec::new();
            for _ in 0..120 {
                let a = match edges.len() {
                    0..20 => [random(spread) - 1000, random(spread) - 1000, random(900)],
                    // beside an edge that is there
                    n => {
                        let Edge { a, b, .. } = edges[random(n as i64) as usize];
                        let share = random(5);
                        [0, 1, 2].map(|i| a[i] + (b[i] - a[i]) / 4 * share + random(5) - 2)
                    }
                };
                let reach = 1 << (3 + random(16));
                edges.push(edge(a, [0, 1, 2].map(|i| a[i] + random(2 * reach) - reach as i32 + i32::from(i == 0))));
            }
            let mut ends: Vec<_> = edges.iter().flat_map(|e| [e.a, e.b]).collect();
            ends.sort_unstable();
            ends.dedup();
            let (chains, mut work) = (Chains::new(&edges, &[]), usize::MAX);
            let each = ends.iter().filter(|c| edges.iter().any(|e| at_seam(e, **c, &chains, &mut work)));
            let (count, seams) = (each.count() as u64, search(&edges, &[], &ends));
            assert!(!seams.unfinished && seams.count == count, "{case}: {seams:?}, {count}");
            found += count;
        }
        assert!(found > 1000, "{found}");
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
