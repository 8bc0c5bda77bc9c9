//! Gaps: beside an open edge there is no ground, and a little farther there is again.

use std::collections::HashMap;

use hardpan::Terrain;
use hardpan_builder::read::{self, TileView};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{grouped, maps::metres};

/// Where ground ends.
pub struct Border {
    /// Edges that one triangle alone uses.
    pub open: Vec<Edge>,
    /// Edges of several triangles, all on one side of it in plan.
    folds: Vec<Edge>,
}

/// An edge with ground on one side in plan.
pub struct Edge {
    /// Lattice steps from the origin.
    ends: [[i32; 3]; 2],
    /// Metres, in plan.
    pub plan: [[f64; 2]; 2],
    /// Heights of its ends, metres.
    pub z: [f64; 2],
    /// In plan to its right or left, away from its triangles, of length 1.
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

impl Border {
    pub fn of(t: &Terrain) -> Self {
        let h = t.header();
        let [step, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2)));
        let tiles: Vec<TileView> = read::tiles(t).collect();
        let mut ends: Vec<(Side, bool)> = tiles.par_iter().flat_map_iter(|tile| ends(tile, h.tile_log2)).collect();
        ends.par_sort_unstable();
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
        let (mut open, mut folds) = (Vec::new(), Vec::new());
        ends.into_iter().for_each(|(side, alone)| if alone { &mut open } else { &mut folds }.push(edge(side)));
        Border { open, folds }
    }
}

/// The ends of an edge, the least first, and the third corner of a triangle that uses it, lattice steps from the origin.
type Side = ([[i32; 3]; 2], [i32; 3]);

/// Of the edges whose least end is in a tile, those at which ground ends, and whether one triangle alone uses them: the tile holds
/// all that meet there.
fn ends(tile: &TileView, log2: u32) -> Vec<(Side, bool)> {
    let here = |p: [i32; 3]| [p[0] >> log2, p[1] >> log2] == [tile.head.x, tile.head.y];
    let mut sides: Vec<Side> = Vec::new();
    for bundle in tile.bundles() {
        for [a, b, c] in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            let all = [[a, b, c], [b, c, a], [c, a, b]].map(|[p, q, r]| ([p.min(q), p.max(q)], r));
            sides.extend(all.into_iter().filter(|(ends, _)| here(ends[0])));
        }
    }
    // much quicker than by the ends themselves
    let mut order: Vec<(u64, u32)> = sides.iter().zip(0..).map(|(side, i)| (mixed(&side.0), i)).collect();
    order.sort_unstable();
    let (mut found, mut of_key) = (Vec::new(), Vec::new());
    for same in order.chunk_by(|a, b| a.0 == b.0) {
        of_key.clear();
        of_key.extend(same.iter().map(|(_, i)| sides[*i as usize]));
        of_key.sort_unstable(); // there may be two edges of a key
        for edge in of_key.chunk_by(|a, b| a.0 == b.0) {
            let alone = edge[0] == edge[edge.len() - 1]; // several leaves may hold a triangle
            let on = |wanted: i128| edge.iter().any(|side| turn(side).signum() == wanted);
            if alone || on(1) != on(-1) {
                found.push((edge[0], alone));
            }
        }
    }
    found
}

/// A number that few other ends have.
fn mixed(ends: &[[i32; 3]; 2]) -> u64 {
    let mix =
        |key: u64, v: &i32| (key ^ u64::from(v.cast_unsigned())).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
    ends.as_flattened().iter().fold(0, mix)
}

/// Twice the area in plan, above zero if the third corner lies to the left.
fn turn(([a, b], c): &Side) -> i128 {
    let off = |p: &[i32; 3], i: usize| i128::from(p[i]) - i128::from(a[i]);
    off(b, 0) * off(c, 1) - off(b, 1) * off(c, 0)
}

/// Gaps beside edges, longest first, each once: places are of one gap where their edges share a corner, or where the ground begins
/// again at the other's edge. Asked is the kernel, near the edge's height, so that a gap in a deck counts though a road lies
/// under it; only ground at `heights` counts. `most` says how wide a gap at a place may be, no more than `widest`, in metres, or
/// that nothing is asked there. What is not as long as it is wide, such as a jag in the ground's border, is no gap.
pub fn gaps(
    t: &Terrain,
    border: &Border,
    edges: &[&Edge],
    heights: [f64; 2],
    widest: f64,
    most: impl Fn([f64; 2]) -> Option<f64> + Sync,
) -> Vec<Gap> {
    let hair = f64::exp2(f64::from(t.header().xy_log2));
    // fields of heights end at no edge: beside them all is asked for
    let ends = (t.header().patch_blocks == 0).then(|| {
        let all = border.open.iter().chain(&border.folds).collect();
        Lips::new(all, 2.0 * widest + 8.0 * hair)
    });
    let beside = |e: &Edge| e.beside(t, heights, ends.as_ref().and_then(|ends| ends.facing(e, widest, hair)), &most);
    let found: Vec<(&Edge, Vec<Met>)> =
        edges.par_iter().map(|e| (*e, beside(e))).filter(|(_, met)| !met.is_empty()).collect();
    let mut sets = Sets((0..found.len()).collect());
    let mut first: HashMap<[i32; 3], usize> = HashMap::new();
    for (i, (edge, _)) in found.iter().enumerate() {
        edge.ends.iter().for_each(|p| sets.join(*first.entry(*p).or_insert(i), i));
    }
    let lips = Lips::new(found.iter().map(|(e, _)| *e).collect(), 8.0 * hair);
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
    /// The gap at some places of the edge. `facing` is where ground can begin again, as [`Edge::seen`] has it, if that is known;
    /// `most` says how wide a gap may be at a place.
    fn beside(
        &self,
        t: &Terrain,
        heights: [f64; 2],
        facing: Option<Vec<[[f64; 2]; 2]>>,
        most: impl Fn([f64; 2]) -> Option<f64>,
    ) -> Vec<Met> {
        if facing.as_ref().is_some_and(Vec::is_empty) {
            return Vec::new();
        }
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        let length = span(self.plan);
        // the height of ground beside a place of the edge, if there is ground near a height
        let ground = |[x, y, _]: [f64; 3], by: f64, z: f64| {
            let (top, low) = ((z + REACH + by).min(heights[1]), (z - REACH - by).max(heights[0]));
            let from = [x + self.away[0] * by, y + self.away[1] * by, top];
            let answer = (top >= low).then(|| t.segment_m(from, top - low)).filter(|a| a.found())?;
            Some(t.z_f64(&answer.hit))
        };
        let met = |share: f64| {
            let p = self.on(share);
            let off = |by: f64| [p[0] + self.away[0] * by, p[1] + self.away[1] * by];
            let most = most(off(hair))?;
            let nearest = facing.as_ref().map_or(0.0, |all| first(all, share * length, hair));
            if nearest > most {
                return None;
            }
            let at = |by: f64| ground(p, by, p[2]);
            let (mut bare, mut far) = (hair, 2.0 * hair);
            if at(bare).is_some() {
                return None;
            }
            // as far as there can be none
            while 2.0 * far < nearest {
                (bare, far) = (far, 2.0 * far);
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
        (0..count).filter_map(|k| met(END + (1.0 - 2.0 * END) * k as f64 / (count - 1) as f64)).collect()
    }

    /// The ends of another edge as it sees them: how far away from it, and how far along it.
    fn seen(&self, other: &Edge) -> [[f64; 2]; 2] {
        let ([[x, y], [bx, by]], [ax, ay], length) = (self.plan, self.away, span(self.plan));
        let [ux, uy] = [bx - x, by - y].map(|v| if length > 0.0 { v / length } else { 0.0 });
        other.plan.map(|[px, py]| [(px - x) * ax + (py - y) * ay, (px - x) * ux + (py - y) * uy])
    }

    /// A place on it, at a share of its length.
    fn on(&self, share: f64) -> [f64; 3] {
        let [a, b] = self.plan;
        let between = |a: f64, b: f64| a + (b - a) * share;
        [between(a[0], b[0]), between(a[1], b[1]), between(self.z[0], self.z[1])]
    }
}

/// How far away the first of some edges is, or less by a little, from a place so far along one that sees them.
fn first(facing: &[[[f64; 2]; 2]], place: f64, hair: f64) -> f64 {
    let nearest = |[[out, along], [other_out, other_along]]: &[[f64; 2]; 2]| {
        // the part of it that lies no more than a hair beside the way
        let (before, run) = (place - along, other_along - along);
        let (mut from, mut to) = (0.0f64, 1.0f64);
        if run.abs() > hair {
            let ends = [(before - hair) / run, (before + hair) / run];
            (from, to) = (ends[0].min(ends[1]).max(0.0), ends[0].max(ends[1]).min(1.0));
        } else if before.abs() > 2.0 * hair {
            return f64::INFINITY;
        }
        let [near, far] = [from, to].map(|share| out + (other_out - out) * share);
        if from > to || near.max(far) < -hair { f64::INFINITY } else { near.min(far) - hair }
    };
    facing.iter().map(nearest).fold(f64::INFINITY, f64::min)
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
    edges: Vec<&'a Edge>,
    /// Side of a cell, metres: the edges' mean length at least, so that there are no more than a few points for each.
    side: f64,
    cells: HashMap<[i64; 2], Vec<usize>>,
}

/// Most edges about one that are looked at.
const AROUND: usize = 256;

impl<'a> Lips<'a> {
    /// With cells of a side at least.
    fn new(edges: Vec<&'a Edge>, side: f64) -> Self {
        let length = edges.iter().fold(0.0, |sum, e| sum + span(e.plan));
        let side = (length / edges.len().max(1) as f64).max(side);
        let mut lips = Lips { edges, side, cells: HashMap::new() };
        for i in 0..lips.edges.len() {
            for place in lips.along(lips.edges[i]) {
                let cell = lips.cells.entry(place).or_default();
                if cell.last() != Some(&i) {
                    cell.push(i);
                }
            }
        }
        lips
    }

    /// The cells of points along an edge.
    fn along(&self, e: &Edge) -> impl Iterator<Item = [i64; 2]> + use<> {
        let parts = (2.0 * span(e.plan) / self.side).ceil().max(1.0);
        let (plan, side) = (e.plan, self.side);
        (0..=parts as usize).map(move |k| {
            let share = k as f64 / parts;
            [0, 1].map(|i| ((plan[0][i] + (plan[1][i] - plan[0][i]) * share) / side).floor() as i64)
        })
    }

    /// The edges beside one, no farther away than this, which is half a cell's side at most, as it sees them; none if they are many.
    fn facing(&self, e: &Edge, most: f64, hair: f64) -> Option<Vec<[[f64; 2]; 2]>> {
        let mut cells: Vec<[i64; 2]> = self.along(e).flat_map(about).collect();
        cells.sort_unstable();
        cells.dedup();
        let (length, mut looked, mut facing) = (span(e.plan), 0, Vec::new());
        for cell in cells.iter().filter_map(|cell| self.cells.get(cell)) {
            looked += cell.len();
            if looked > AROUND {
                return None;
            }
            for other in cell.iter().map(|&i| self.edges[i]).filter(|other| other.ends != e.ends) {
                let seen = e.seen(other);
                let reaches = |i: usize, from: f64, to: f64| {
                    seen[0][i].max(seen[1][i]) >= from - hair && seen[0][i].min(seen[1][i]) <= to + hair
                };
                if reaches(0, 0.0, most) && reaches(1, 0.0, length) && !facing.contains(&seen) {
                    facing.push(seen);
                }
            }
        }
        Some(facing)
    }

    fn cell(&self, x: f64, y: f64) -> [i64; 2] {
        [x, y].map(|v| (v / self.side).floor() as i64)
    }

    /// Tells `see` the edges on which a place lies, but for so little in plan.
    fn at(&self, [x, y, z]: [f64; 3], near: f64, mut see: impl FnMut(usize)) {
        for &i in about(self.cell(x, y)).filter_map(|cell| self.cells.get(&cell)).flatten() {
            let e = self.edges[i];
            let ([a, b], length) = (e.plan, span(e.plan));
            let along = (x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1]);
            let on = e.on(if length > 0.0 { (along / (length * length)).clamp(0.0, 1.0) } else { 0.0 });
            if span([[x, y], [on[0], on[1]]]) <= near && (z - on[2]).abs() <= REACH {
                see(i);
            }
        }
    }
}

/// A cell and those around it.
fn about([column, row]: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    (-1..=1).flat_map(move |j| (-1..=1).map(move |i| [column + i, row + j]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardpan_builder::{Options, build, fixtures};

    /// What is known of the edges around leaves nothing out that asking alone finds.
    #[test]
    fn edges_that_face_each_other_tell_no_less_than_asking() {
        // a bent sheet of which every third triangle is gone
        let mut torn = fixtures::flat();
        let post = |i: u32| f64::from(i) * 0.3;
        let posts = (0..51 * 51u32).map(|k| [post(k / 51), post(k % 51), 0.1 * f64::from(k * k % 7)]);
        (torn.positions, torn.triangles) = (posts.collect(), Vec::new());
        for k in (0..50 * 51u32).filter(|k| k % 51 < 50) {
            let halves = [[k, k + 51, k + 52], [k, k + 52, k + 1]];
            let kept = halves.into_iter().enumerate().filter(|(i, _)| !(k as usize + i).is_multiple_of(3));
            torn.triangles.extend(kept.map(|(_, v)| hardpan_builder::Triangle { v, material: 0, source: 0 }));
        }
        let mut apart = fixtures::town(2);
        for (k, p) in apart.positions.iter_mut().enumerate() {
            *p = p.map(|v| v + (k * 37 % 11) as f64 / 64.0);
        }
        let mut all = 0;
        for scene in [torn, apart, fixtures::soup(3), fixtures::soup(8), fixtures::bridge()] {
            let built = build(&scene, &Options { stitch: None, ..Options::default() }).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let hair = f64::exp2(f64::from(t.header().xy_log2));
            let border = Border::of(&t);
            for most in [0.05, 0.5, 5.0] {
                let lips = Lips::new(border.open.iter().chain(&border.folds).collect(), 2.0 * most + 8.0 * hair);
                for e in border.open.iter().step_by(1 + border.open.len() / 2000) {
                    let known = lips.facing(e, most, hair);
                    let [known, asked] = [known, None].map(|facing| e.beside(&t, [-1e9, 1e9], facing, |_| Some(most)));
                    let told = |met: &[Met]| met.iter().map(|m| (m.at, m.width, m.far)).collect::<Vec<_>>();
                    assert_eq!(told(&known), told(&asked), "{:?}", e.plan);
                    all += asked.len();
                }
            }
        }
        assert!(all > 1000, "{all}");
    }
}
