//! Gaps: beside an open edge there is no ground, and a little farther there is again.

use std::collections::HashMap;

use hardpan::Terrain;
use hardpan_builder::read::{self, TileView};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{grouped, maps::metres};

/// An edge that one triangle alone uses.
pub struct Edge {
    /// Lattice steps from the origin.
    ends: [[i32; 3]; 2],
    /// Metres, in plan.
    pub plan: [[f64; 2]; 2],
    /// Heights of its ends, metres.
    pub z: [f64; 2],
    /// In plan to its right or left, away from its triangle, of length 1.
    away: [f64; 2],
}

/// No ground along open edges, and ground again at the other side.
pub struct Gap {
    /// Where it is widest, in its middle, metres.
    pub at: [f64; 3],
    /// Metres there, across the edge.
    pub width: f64,
    /// From the west, south, east and north of the places that were met, metres.
    span: [f64; 4],
}

/// A gap at one place of an edge.
struct Met {
    /// Its middle, metres.
    at: [f64; 3],
    width: f64,
    /// Where the ground begins again, metres.
    far: [f64; 3],
}

/// Gaps, or holes, that are listed in words and for programs.
pub const LISTED: [usize; 2] = [8, 1000];
/// Metres that places of an edge beside which ground is asked for are apart, and the fewest and the most of them.
const APART: f64 = 0.5;
const PLACES: [usize; 2] = [8, 64];
/// What is left out at either end of an edge, of its length.
const END: f64 = 1.0 / 512.0;
/// Halvings by which a width is found.
const HALVINGS: usize = 8;
/// How much higher or lower than the edge ground may lie right beside it, metres; farther away as much more as it is farther.
const REACH: f64 = 0.25;

/// The width of a gap as it is typed, metres.
pub fn typed(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| (0.001..=100.0).contains(v);
    text.parse().ok().filter(sane).ok_or_else(|| "must be a width in metres, from 0.001 to 100".into())
}

/// Length in plan.
pub fn span([a, b]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    (dx * dx + dy * dy).sqrt()
}

/// All edges that one triangle alone uses.
pub fn open_edges(t: &Terrain) -> Vec<Edge> {
    let h = t.header();
    let [step, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2)));
    let tiles: Vec<TileView> = read::tiles(t).collect();
    let mut open: Vec<Side> = tiles.par_iter().flat_map_iter(|tile| alone(tile, h.tile_log2)).collect();
    open.par_sort_unstable();
    let metres = |p: [i32; 3]| [0, 1].map(|i| (h.origin[i] + i64::from(p[i])) as f64 * step);
    let edge = |(ends, third): Side| {
        let z = ends.map(|p| (h.origin[2] + i64::from(p[2])) as f64 * rise);
        let plan = ends.map(metres);
        let ([a, b], c) = (plan, metres(third));
        let (dx, dy, length) = (b[0] - a[0], b[1] - a[1], span(plan));
        let left = dx * (c[1] - a[1]) - dy * (c[0] - a[0]) > 0.0;
        let away = if left { [dy, -dx] } else { [-dy, dx] }.map(|v| if length > 0.0 { v / length } else { 0.0 });
        Edge { ends, plan, z, away }
    };
    open.into_iter().map(edge).collect()
}

/// The ends of an edge, the least first, and the third corner of a triangle that uses it, lattice steps from the origin.
type Side = ([[i32; 3]; 2], [i32; 3]);

/// Of the edges whose least end is in a tile, those that one triangle alone uses: the tile holds all that meet there.
fn alone(tile: &TileView, log2: u32) -> Vec<Side> {
    let here = |p: [i32; 3]| [p[0] >> log2, p[1] >> log2] == [tile.head.x, tile.head.y];
    let mut sides: Vec<Side> = Vec::new();
    for bundle in tile.bundles() {
        for [a, b, c] in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            let all = [[a, b, c], [b, c, a], [c, a, b]].map(|[p, q, r]| ([p.min(q), p.max(q)], r));
            sides.extend(all.into_iter().filter(|(ends, _)| here(ends[0])));
        }
    }
    sides.sort_unstable();
    sides.dedup(); // several leaves may hold a triangle
    sides.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() == 1).map(|run| run[0]).collect()
}

/// Gaps beside edges, longest first, each once: places are of one gap where their edges share a corner, or where the ground begins
/// again at the other's edge. Asked is the kernel, near the edge's height, so that a gap in a deck counts though a road lies
/// under it; only ground at `heights` counts. `most` says how wide a gap at a place may be, in metres, or that nothing is
/// asked there. What is not as long as it is wide, such as a jag in the ground's border, is no gap.
pub fn gaps(t: &Terrain, edges: &[Edge], heights: [f64; 2], most: impl Fn([f64; 2]) -> Option<f64> + Sync) -> Vec<Gap> {
    let found: Vec<(&Edge, Vec<Met>)> =
        edges.par_iter().map(|e| (e, e.beside(t, heights, &most))).filter(|(_, met)| !met.is_empty()).collect();
    let mut sets = Sets((0..found.len()).collect());
    let mut first: HashMap<[i32; 3], usize> = HashMap::new();
    for (i, (edge, _)) in found.iter().enumerate() {
        edge.ends.iter().for_each(|p| sets.join(*first.entry(*p).or_insert(i), i));
    }
    let hair = f64::exp2(f64::from(t.header().xy_log2));
    let lips = Lips::new(&found, hair);
    for (i, (_, met)) in found.iter().enumerate() {
        for m in met {
            lips.at(m.far, m.width / 64.0 + 2.0 * hair, |j| sets.join(i, j));
        }
    }
    let mut gaps: HashMap<usize, Gap> = HashMap::new();
    for (i, (_, met)) in found.iter().enumerate() {
        for m in met {
            let [x, y, _] = m.at;
            let gap = gaps.entry(sets.head(i)).or_insert(Gap { at: m.at, width: m.width, span: [x, y, x, y] });
            if m.width > gap.width {
                (gap.at, gap.width) = (m.at, m.width);
            }
            let [w, s, e, n] = gap.span;
            gap.span = [w.min(x), s.min(y), e.max(x), n.max(y)];
        }
    }
    let mut gaps: Vec<Gap> = gaps.into_values().filter(|g| g.length() >= g.width).collect();
    gaps.sort_by(|a, b| b.length().total_cmp(&a.length()).then(a.at.map(f64::to_bits).cmp(&b.at.map(f64::to_bits))));
    gaps
}

impl Gap {
    /// Metres between its ends, about.
    pub fn length(&self) -> f64 {
        let [w, s, e, n] = self.span;
        span([[w, s], [e, n]])
    }

    /// In words, with a place to query.
    pub fn told(&self) -> String {
        format!("gap {} wide, {} long at {}", metres(self.width), metres(self.length()), place(&self.at, self.width))
    }
}

/// For programs: the first of them.
pub fn facts(gaps: &[Gap]) -> Value {
    gaps.iter().take(LISTED[1]).map(|g| json!({ "at": g.at, "width": g.width, "length": g.length() })).collect()
}

/// A place in something of a size, in so many digits that it is in it.
pub fn place(at: &[f64], size: f64) -> String {
    let decimals = (2.0 - size.log10()).ceil().clamp(0.0, 9.0) as usize;
    at.iter().map(|v| format!("{:.decimals$}", v + 0.0)).collect::<Vec<_>>().join(",")
}

/// The first of them, and how many follow.
pub fn listed(lines: impl ExactSizeIterator<Item = String>) -> impl Iterator<Item = String> {
    let [told, most] = LISTED;
    let all = if lines.len() > most { format!("the first {}", grouped(most as u64)) } else { "all".into() };
    let rest = lines.len().saturating_sub(told) as u64;
    let rest = (rest > 0).then(|| format!("and {} smaller; --json lists {all}", grouped(rest)));
    lines.take(told).chain(rest)
}

impl Edge {
    /// The gap at some places of the edge.
    fn beside(&self, t: &Terrain, heights: [f64; 2], most: impl Fn([f64; 2]) -> Option<f64>) -> Vec<Met> {
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        // the height of ground beside a place of the edge, if there is ground near a height
        let ground = |[x, y, _]: [f64; 3], by: f64, z: f64| {
            let (top, low) = ((z + REACH + by).min(heights[1]), (z - REACH - by).max(heights[0]));
            let from = [x + self.away[0] * by, y + self.away[1] * by, top];
            let answer = (top >= low).then(|| t.segment_m(from, top - low)).filter(|a| a.found())?;
            Some(t.z_f64(&answer.hit))
        };
        let met = |p: [f64; 3]| {
            let off = |by: f64| [p[0] + self.away[0] * by, p[1] + self.away[1] * by];
            let most = most(off(hair))?;
            let at = |by: f64| ground(p, by, p[2]);
            let (mut bare, mut far) = (hair, 2.0 * hair);
            if at(bare).is_some() {
                return None;
            }
            let mut z = loop {
                match at(far) {
                    Some(z) => break z,
                    None if far >= most => return None,
                    None => (bare, far) = (far, most.min(2.0 * far)),
                }
            };
            for _ in 0..HALVINGS {
                let half = (bare + far) / 2.0;
                match at(half) {
                    Some(found) => (far, z) = (half, found),
                    None => bare = half,
                }
            }
            // ground that comes near from above or below has no end there
            if ground(p, bare, z).is_some() {
                return None;
            }
            let ([x, y], [far_x, far_y]) = (off(bare / 2.0), off(far));
            Some(Met { at: [x, y, (p[2] + z) / 2.0], width: bare, far: [far_x, far_y, z] })
        };
        let count = ((span(self.plan) / APART).ceil() as usize).clamp(PLACES[0], PLACES[1]);
        (0..count).filter_map(|k| met(self.on(END + (1.0 - 2.0 * END) * k as f64 / (count - 1) as f64))).collect()
    }

    /// A place on it, at a share of its length.
    fn on(&self, share: f64) -> [f64; 3] {
        let [a, b] = self.plan;
        let between = |a: f64, b: f64| a + (b - a) * share;
        [between(a[0], b[0]), between(a[1], b[1]), between(self.z[0], self.z[1])]
    }
}

/// Sets of numbers: each names another one of its set, or itself.
struct Sets(Vec<usize>);

impl Sets {
    fn head(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.head(a), self.head(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Edges by place: each in the cells of points along it that are half a cell's side apart.
struct Lips<'a> {
    edges: &'a [(&'a Edge, Vec<Met>)],
    /// Side of a cell, metres: the edges' mean length, so that there are no more than a few points for each.
    side: f64,
    cells: HashMap<[i64; 2], Vec<usize>>,
}

impl<'a> Lips<'a> {
    fn new(edges: &'a [(&'a Edge, Vec<Met>)], hair: f64) -> Self {
        let length = edges.iter().fold(0.0, |sum, (e, _)| sum + span(e.plan));
        let side = (length / edges.len().max(1) as f64).max(8.0 * hair);
        let mut lips = Lips { edges, side, cells: HashMap::new() };
        for (i, (e, _)) in edges.iter().enumerate() {
            let parts = (2.0 * span(e.plan) / side).ceil().max(1.0);
            for k in 0..=parts as usize {
                let [x, y, _] = e.on(k as f64 / parts);
                let place = lips.cell(x, y);
                let cell = lips.cells.entry(place).or_default();
                if cell.last() != Some(&i) {
                    cell.push(i);
                }
            }
        }
        lips
    }

    fn cell(&self, x: f64, y: f64) -> [i64; 2] {
        [x, y].map(|v| (v / self.side).floor() as i64)
    }

    /// Tells `see` the edges on which a place lies, but for so little in plan.
    fn at(&self, [x, y, z]: [f64; 3], near: f64, mut see: impl FnMut(usize)) {
        let [column, row] = self.cell(x, y);
        let cells = (-1..=1).flat_map(|j| (-1..=1).map(move |i| [column + i, row + j]));
        for &i in cells.filter_map(|cell| self.cells.get(&cell)).flatten() {
            let e = self.edges[i].0;
            let ([a, b], length) = (e.plan, span(e.plan));
            let along = (x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1]);
            let on = e.on(if length > 0.0 { (along / (length * length)).clamp(0.0, 1.0) } else { 0.0 });
            if span([[x, y], [on[0], on[1]]]) <= near && (z - on[2]).abs() <= REACH {
                see(i);
            }
        }
    }
}
