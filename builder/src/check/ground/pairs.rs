//! Pairs of boundary edges: ground ends at one and begins again at the other, with no ground and no upright face
//! between them.
//!
//! At places along each open edge a ray goes away from its ground, in plan. Its partner is the edge that is nearest in
//! space of those where ground begins along the ray, whatever its height. The two are
//!
//! - a *gap*, as wide as they lie apart in plan;
//! - a *step*, as high as they differ in height, if that is more than they lie apart;
//! - or both.
//!
//! Edges of ground steeper than 60 degrees form no pair, and no step goes up or down to it: no wheel stands there.
//! Edges lie in a tree of boxes. `MAX_LOOKED` bounds how many are looked at beside one of them.

use std::{
    cell::Cell,
    collections::{BTreeMap, HashMap, HashSet},
};

use hardpan::{Hit, Terrain};
use rayon::prelude::*;
use rstar::{AABB, Envelope, RTree, RTreeObject, SelectionFunction};

use crate::scene::Scene;
use crate::util::disjoint_set::DisjointSet;
use crate::util::text::counted;

use super::border::{Border, Edge, span};
use super::faces::{Spot, standing};
use super::gaps::Gap;
use super::layer_pair::Over;
use super::steps::Step;

/// All heights.
pub const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];
/// Places of an edge: metres that they are apart, how many there are at least, of a short edge and of others, and at
/// most, and what is left out at either end, of its length.
const APART: f64 = 0.5;
const FEWEST: [usize; 2] = [3, 8];
const SHORT: f64 = 0.01;
const MAX_PLACES: usize = 1 << 11;
const END: f64 = 1.0 / 512.0;
/// Boxes of edges that are looked at for each place; and edges that face it, beyond which nothing farther away is
/// looked at.
const MAX_LOOKED: usize = 128;
const MAX_FACING: usize = 8;
/// First nothing farther away is looked at, metres, and then so many times as far.
const NEAR: [f64; 2] = [0.01, 4.0];
/// Ground that is so much higher or lower than both edges is not between them, metres.
pub const REACH: f64 = 0.25;
/// Ground so much higher than an edge covers it, and no more than so much, metres.
const COVER: [f64; 2] = [0.001, 0.5];
/// Two edges face each other if their ways out go so much against each other.
const FACING: f64 = -0.1;
/// As near to an edge other ground begins right at it, lattice steps.
const RIGHT: f64 = 4.0;
/// Most heights over a place that are compared; of more nothing is known.
const LAYERS: usize = 64;

/// Limits of the search.
pub struct Ask<'a, F> {
    /// Only ground between these heights counts, metres.
    pub heights: [f64; 2],
    /// As far apart in plan edges are a pair, metres.
    pub reach: f64,
    /// How wide a gap at a place may be, or that nothing is asked there.
    pub gap: F,
    /// Steps are higher than this, metres.
    pub step: f64,
    /// From what the image was built: it knows upright faces.
    pub scene: Option<&'a Scene>,
}

/// Pairs that were found.
pub struct Pairs {
    pub gaps: Vec<Gap>,
    pub steps: Vec<Step>,
    /// Where others lie so crowded that not all were looked at.
    pub skipped: Option<String>,
}

/// How many places there are along the open edges.
pub fn places(edges: &[&Edge]) -> u64 {
    edges.iter().map(|e| places_of(e) as u64).sum()
}

fn places_of(edge: &Edge) -> usize {
    let length = span(edge.plan);
    let fewest = if length < SHORT { FEWEST[0] } else { FEWEST[1] };
    ((length / APART).ceil() as usize).clamp(fewest, MAX_PLACES)
}

/// The share of an edge's length at which a place lies.
fn share(edge: &Edge, number: usize) -> f64 {
    END + (1.0 - 2.0 * END) * number as f64 / (places_of(edge) - 1) as f64
}

/// A place of an edge, and where ground begins again.
pub struct Met {
    number: usize,
    pub at: [f64; 3],
    pub to: [f64; 3],
    /// The other edge, and at which share of its length.
    partner: usize,
    on: f64,
    /// Metres across there, or along the edge if that is less; zero if there is no gap.
    pub width: f64,
    /// The same, and no more than twice as much as the way to the end of the run.
    pub room: f64,
    is_step: bool,
}

impl Met {
    pub fn middle(&self) -> [f64; 3] {
        [0, 1, 2].map(|i| (self.at[i] + self.to[i]) / 2.0)
    }

    fn drop(&self) -> f64 {
        self.at[2] - self.to[2]
    }
}

/// Places of an edge that follow each other.
pub struct Run<'a> {
    pub edge: &'a Edge,
    number: usize,
    pub met: Vec<Met>,
    /// From which share of the edge's length to which it goes: half way to the next place, or to the edge's ends.
    shares: [f64; 2],
    /// The same, but all the way to a next place that is not asked about.
    drawn: [f64; 2],
    /// The edge's ends to which it goes.
    pub corners: [Option<[i32; 3]>; 2],
    /// Beside an end of it a gap is wider than is asked for, and there is ground on the other side.
    pub widens: bool,
    pub wider: bool,
}

impl Run<'_> {
    /// Metres along the edge.
    pub fn length(&self) -> f64 {
        (self.shares[1] - self.shares[0]) * span(self.edge.plan)
    }

    /// The part of the edge, in plan.
    pub fn part(&self) -> [[f64; 2]; 2] {
        self.edge.part(self.drawn)
    }

    /// Through its middle in plan, from corner to corner if it goes so far, or to a next place that is not asked about.
    pub fn way(&self) -> Vec<[f64; 2]> {
        let middle = |m: &Met| [0, 1].map(|i| m.middle()[i]);
        let end = |i: usize, m: &Met| {
            let [a, b] = self.edge.plan;
            let by = self.drawn[i] - share(self.edge, m.number);
            let is_cut = self.drawn[i] != self.shares[i];
            let corner = self.corners[i].map(|_| self.edge.plan[i]);
            if is_cut { Some([0, 1].map(|k| middle(m)[k] + by * (b[k] - a[k]))) } else { corner }
        };
        let (first, last) = (&self.met[0], &self.met[self.met.len() - 1]);
        end(0, first).into_iter().chain(self.met.iter().map(middle)).chain(end(1, last)).collect()
    }
}

/// An edge in the tree.
struct Piece<'a>(usize, &'a Edge);

impl RTreeObject for Piece<'_> {
    type Envelope = AABB<[f64; 2]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_corners(self.1.plan[0], self.1.plan[1])
    }
}

/// A rectangle beside an edge: from its first end along it and away from it.
struct Beside {
    from: [f64; 2],
    /// Along and away, of length 1, and how far it goes.
    axes: [[f64; 2]; 2],
    reach: [[f64; 2]; 2],
    bounds: AABB<[f64; 2]>,
    /// Boxes that may still be looked at.
    left: Cell<usize>,
}

impl Beside {
    fn new(from: [f64; 2], away: [f64; 2], [along, out]: [f64; 2], hair: f64, most: usize) -> Self {
        let axes = [[away[1], -away[0]], away];
        let reach = [[along.min(0.0) - hair, along.max(0.0) + hair], [-2.0 * hair, out + hair]];
        let corners = [0, 1, 2, 3].map(|k| {
            let [u, v] = [reach[0][k % 2], reach[1][k / 2]];
            [0, 1].map(|i| from[i] + u * axes[0][i] + v * axes[1][i])
        });
        let bounds = AABB::from_points(&corners);
        Beside { from, axes, reach, bounds, left: Cell::new(most) }
    }

    /// Along and away of a place.
    fn of(&self, p: [f64; 2]) -> [f64; 2] {
        self.axes.map(|[x, y]| (p[0] - self.from[0]) * x + (p[1] - self.from[1]) * y)
    }
}

impl<'a> SelectionFunction<Piece<'a>> for &Beside {
    fn should_unpack_parent(&self, envelope: &AABB<[f64; 2]>) -> bool {
        let Some(left) = self.left.get().checked_sub(1) else { return false };
        self.left.set(left);
        let (low, high) = (envelope.lower(), envelope.upper());
        let centre = self.of([0, 1].map(|i| (low[i] + high[i]) / 2.0));
        let half = [0, 1].map(|i| (high[i] - low[i]) / 2.0);
        self.bounds.intersects(envelope)
            && (0..2).all(|k| {
                let off = half[0] * self.axes[k][0].abs() + half[1] * self.axes[k][1].abs();
                centre[k] - off <= self.reach[k][1] && centre[k] + off >= self.reach[k][0]
            })
    }

    fn should_unpack_leaf(&self, leaf: &Piece) -> bool {
        let ([x, y], [ax, ay]) = (self.axes[1], leaf.1.away);
        x * ax + y * ay < FACING && self.should_unpack_parent(&leaf.envelope())
    }
}

/// Where ground begins beside an edge: its number, and its ends: along, away and height.
type Facing = (usize, [[f64; 3]; 2]);

/// Where ground begins again.
#[derive(Clone, Copy)]
struct Partner {
    /// The edge, how far away it is in plan and its height there, metres, and the share of its length.
    number: usize,
    out: f64,
    z: f64,
    share: f64,
    /// Metres in space.
    far: f64,
}

/// Edges, and how they are asked about.
struct Look<'a, 's, F> {
    t: &'a Terrain<'a>,
    /// A step of the lattice, metres.
    hair: f64,
    /// First those that are asked about.
    edges: Vec<&'a Edge>,
    tree: RTree<Piece<'a>>,
    ask: &'s Ask<'s, F>,
}

/// Pieces that were met along an edge.
struct Way {
    met: Vec<Met>,
    /// Places that are asked about and have no partner.
    alone: Vec<bool>,
    is_crowded: bool,
}

/// Gaps and steps beside some of the open edges.
pub fn pairs<'a, F>(t: &'a Terrain<'a>, border: &'a Border, asked: &[&'a Edge], ask: &Ask<F>) -> Pairs
where
    F: Fn([f64; 2]) -> Option<f64> + Sync,
{
    let hair = f64::exp2(f64::from(t.header().xy_log2));
    let is_asked: HashSet<[[i32; 3]; 2]> = asked.iter().map(|e| e.ends).collect();
    let others = border.open.iter().chain(&border.folds).filter(|e| !is_asked.contains(&e.ends));
    let edges: Vec<&Edge> = asked.iter().copied().chain(others).collect();
    let tree = RTree::bulk_load(edges.iter().enumerate().map(|(i, e)| Piece(i, e)).collect());
    let look = Look { t, hair, edges, tree, ask };
    let mut ways: Vec<Way> = (0..asked.len()).into_par_iter().map(|i| look.way(i)).collect();
    look.close(&mut ways);
    let crowded: Vec<&&Edge> = asked.iter().zip(&ways).filter(|(_, way)| way.is_crowded).map(|(e, _)| e).collect();
    let skipped = crowded.first().map(|first| {
        let ([x, y, _], count) = (first.on(0.5), counted(crowded.len() as u64, "open edge"));
        format!("beside {count}, as near ({x:.3}, {y:.3}), others lie so crowded that not all of them were looked at")
    });
    let [gaps, steps] = look.runs(ways);
    Pairs { gaps: look.gaps(gaps), steps: look.steps(&steps), skipped }
}

impl<'a, F: Fn([f64; 2]) -> Option<f64> + Sync> Look<'a, '_, F> {
    /// Edges where ground begins, so far along a line and away from it. None if they lie too crowded.
    fn front(&self, from: [f64; 2], away: [f64; 2], size: [f64; 2], most: usize) -> Option<Vec<Facing>> {
        let beside = Beside::new(from, away, size, self.hair, most);
        let mut all: Vec<Facing> = Vec::new();
        for Piece(i, e) in self.tree.locate_with_selection_function(&beside) {
            let ends = [0, 1].map(|k| {
                let [along, out] = beside.of(e.plan[k]);
                [along, out, e.z[k]]
            });
            all.push((*i, ends));
        }
        (beside.left.get() > 0).then_some(all)
    }

    /// The nearest in space of these so far along, from a height on.
    fn nearest(&self, all: &[Facing], along: f64, z: f64, most: f64) -> Option<Partner> {
        let met = |&(number, [a, b]): &Facing| {
            let run = b[0] - a[0];
            let share = (along - a[0]) / run;
            let slack = 2.0 * self.hair / run.abs();
            if !(-slack..=1.0 + slack).contains(&share) {
                return None;
            }
            let share = share.clamp(0.0, 1.0);
            let [out, height] = [1, 2].map(|k| a[k] + share * (b[k] - a[k]));
            let [low, top] = self.ask.heights;
            let is_near = (-1.5 * self.hair..=most).contains(&out) && (low..=top).contains(&height);
            let far = (out * out + (height - z) * (height - z)).sqrt();
            is_near.then_some(Partner { number, out: out.max(0.0), z: height, share, far })
        };
        all.iter().filter_map(met).min_by(|a, b| a.far.total_cmp(&b.far).then(a.number.cmp(&b.number)))
    }

    /// All places beside an edge.
    fn way(&self, number: usize) -> Way {
        let e = self.edges[number];
        let count = places_of(e);
        let (length, most) = (span(e.plan), MAX_LOOKED * count);
        let asked: Vec<Option<f64>> = (0..count).map(|k| self.most(e, k)).collect();
        let reach = self.ask.reach;
        let (mut near, mut way) = (NEAR[0].min(reach), Way { met: Vec::new(), alone: Vec::new(), is_crowded: false });
        // the ends are ordered by place, so its ground may be on either side
        let along = length * self.turn(e);
        let (mut found, mut before): (Vec<Option<Partner>>, f64) = (vec![None; count], 0.0);
        while asked.iter().any(Option::is_some) {
            let Some(facing) = self.front(e.plan[0], e.away, [along, near], most) else {
                way.is_crowded = true;
                break;
            };
            let mut are_sure = true;
            for k in (0..count).filter(|k| asked[*k].is_some()) {
                let (share, far) = (share(e, k), found[k].map(|found| found.far));
                // what lies farther away in plan does so in space
                if far.is_none_or(|far| far > before) {
                    found[k] = self.nearest(&facing, share * along, e.on(share)[2], near);
                    are_sure &= found[k].is_some_and(|found| found.far <= near);
                }
            }
            if near >= reach || are_sure || facing.len() >= MAX_FACING * count {
                break;
            }
            before = near;
            near = (near * NEAR[1]).min(reach);
        }
        way.alone = (0..count).map(|k| asked[k].is_some() && found[k].is_none()).collect();
        let met = |(k, found): (usize, &Option<Partner>)| self.met(e, k, (*found)?, asked[k]?);
        way.met = found.iter().enumerate().filter_map(met).collect();
        way
    }

    /// Whether an edge goes on along as a rectangle beside it does, or back.
    fn turn(&self, e: &Edge) -> f64 {
        let [a, b] = e.plan;
        if (b[0] - a[0]) * e.away[1] - (b[1] - a[1]) * e.away[0] >= 0.0 { 1.0 } else { -1.0 }
    }

    /// How wide a gap may be at a place, or that nothing is asked.
    fn most(&self, e: &Edge, number: usize) -> Option<f64> {
        let [x, y, _] = e.on(share(e, number));
        (self.ask.gap)([0, 1].map(|i| [x, y][i] + self.hair * e.away[i]))
    }

    /// Whether there is ground so far away from a place, from one height to another.
    fn ground(&self, e: &Edge, p: [f64; 3], by: f64, [low, top]: [f64; 2]) -> bool {
        let (low, top) = (low.max(self.ask.heights[0]), top.min(self.ask.heights[1]));
        let from = [p[0] + by * e.away[0], p[1] + by * e.away[1], top];
        top >= low && self.t.segment_m(from, top - low).found()
    }

    /// The gap, the step or both, between a place and where ground begins again.
    fn met(&self, e: &Edge, number: usize, found: Partner, most: f64) -> Option<Met> {
        let (Partner { number: partner, out, z, share: on, .. }, hair) = (found, self.hair);
        // no wheel stands on either
        let steep = [e.is_steep, self.edges[partner].is_steep];
        if steep == [true; 2] {
            return None;
        }
        let at = e.on(share(e, number));
        let to = [at[0] + out * e.away[0], at[1] + out * e.away[1], z];
        let band = [at[2].min(z) - REACH, at[2].max(z) + REACH];
        if out > 2.0 * hair && [hair, out / 2.0, out - hair].into_iter().any(|by| self.ground(e, at, by, band)) {
            return None;
        }
        let mut met = Met { number, at, to, partner, on, width: 0.0, room: 0.0, is_step: false };
        let is_covered = || self.ground(e, at, -hair, [at[2] + COVER[0], at[2] + COVER[1]]);
        met.is_step = steep == [false; 2] && met.drop() > self.ask.step && met.drop() > out && !is_covered();
        if out > 1.5 * hair && out <= most && !self.is_filled(e, &met, out) {
            met.width = self.free(e, met.middle(), out);
        }
        (met.is_step || met.width > 0.0).then_some(met)
    }

    /// The less of so much and of how far no ground begins along an edge, to either side.
    fn free(&self, e: &Edge, [x, y, z]: [f64; 3], out: f64) -> f64 {
        let side = |way: [f64; 2]| {
            let facing = self.front([x, y], way, [0.0, out], MAX_LOOKED).unwrap_or_default();
            let found = self.nearest(&facing, 0.0, z, out).filter(|found| (found.z - z).abs() <= REACH + found.out);
            found.map_or(out, |found| found.out)
        };
        let [ax, ay] = e.away;
        let free = side([-ay, ax]) + side([ay, -ax]);
        // nothing is known where lower ground is met half way
        if free > 0.0 { free.min(out) } else { out }
    }

    /// Whether higher ground stands from one edge to the other: a wall.
    fn is_filled(&self, e: &Edge, met: &Met, out: f64) -> bool {
        let right = (RIGHT * self.hair).min(out / 2.0);
        let heights = |by: f64| {
            let mut hits = [Hit::NONE; LAYERS];
            let [x, y] = [0, 1].map(|i| met.at[i] + by * e.away[i]);
            let found = self.t.layers([x, y, 0.0], &mut hits);
            let all = hits[..found.written].iter().map(|hit| self.t.z_f64(hit));
            (found.total <= LAYERS).then(|| all.collect::<Vec<f64>>())
        };
        let rises = |lip: f64, from: f64, to: f64| {
            let Some(mut higher) = heights(to) else { return false };
            higher.retain(|z| *z > lip + REACH);
            let Some(here) = Some(()).filter(|()| !higher.is_empty()).and_then(|()| heights(from)) else {
                return false;
            };
            higher.iter().any(|z| here.iter().all(|other| (z - other).abs() > REACH))
        };
        rises(met.at[2], -right, right) && rises(met.to[2], out + right, out - right)
    }

    /// Takes away what upright faces of the source close: a step with one half way down, a gap with one at either edge.
    fn close(&self, ways: &mut [Way]) {
        let Some(scene) = self.ask.scene else { return };
        let mut spots = Vec::new();
        for (edge, way) in self.edges.iter().copied().zip(&*ways) {
            for m in &way.met {
                let half = [m.at[0], m.at[1], (m.at[2] + m.to[2]) / 2.0];
                spots.push(Spot { edge, at: half, rise: m.drop().max(0.0) });
                spots.push(Spot { edge, at: m.at, rise: 0.0 });
                spots.push(Spot { edge: self.edges[m.partner], at: m.to, rise: 0.0 });
            }
        }
        let stands = standing(scene, self.t, &spots);
        let mut stands = stands.chunks_exact(3);
        for way in ways {
            way.met.retain_mut(|m| {
                let Some(&[half, at, to]) = stands.next() else { return true };
                m.is_step &= !half;
                if at && to {
                    m.width = 0.0;
                }
                m.is_step || m.width > 0.0
            });
        }
    }

    /// Places that follow each other, of gaps and of steps.
    fn runs(&self, ways: Vec<Way>) -> [Vec<Run<'a>>; 2] {
        let mut all = [Vec::new(), Vec::new()];
        for (number, way) in ways.into_iter().enumerate() {
            let is: [fn(&Met) -> bool; 2] = [|m| m.width > 0.0, |m| m.is_step];
            for (runs, is) in all.iter_mut().zip(is) {
                let met: Vec<&Met> = way.met.iter().filter(|m| is(m)).collect();
                let parts = met.chunk_by(|a, b| a.number + 1 == b.number);
                runs.extend(parts.map(|part| self.run(number, part, &way.alone)));
            }
        }
        all
    }

    fn run(&self, number: usize, part: &[&Met], alone: &[bool]) -> Run<'a> {
        let (edge, count) = (self.edges[number], alone.len());
        let (first, last) = (part[0].number, part[part.len() - 1].number);
        let ends = [(first, first.checked_sub(1), 0.0), (last, Some(last + 1).filter(|k| *k < count), 1.0)];
        let ends = ends.map(|(here, next, end)| {
            let Some(next) = next else { return [end; 2] };
            let next_share = share(edge, next);
            let half = (share(edge, here) + next_share) / 2.0;
            [half, if self.most(edge, next).is_some() { half } else { next_share }]
        });
        let mut met: Vec<Met> = part.iter().map(|m| Met { ..**m }).collect();
        let shares = [ends[0][0], ends[1][0]];
        for m in &mut met {
            let share = share(edge, m.number);
            m.room = m.width.min(2.0 * span(edge.plan) * (share - shares[0]).min(shares[1] - share));
        }
        // a gap goes on there, with no partner near enough
        let opens = |k: usize| {
            let open = |k: &usize| {
                let at = edge.on(share(edge, *k));
                alone[*k] && !self.ground(edge, at, self.hair, [at[2] - REACH, at[2] + REACH])
            };
            Some(k).filter(|k| *k < count).filter(open)
        };
        let widens = [first.checked_sub(1).and_then(opens), opens(last + 1)];
        let wider = |k: &usize| {
            let (at, most) = (edge.on(share(edge, *k)), self.most(edge, *k).unwrap_or(0.0));
            let facing = self.front([at[0], at[1]], edge.away, [0.0, 4.0 * most], MAX_LOOKED).unwrap_or_default();
            let found = self.nearest(&facing, 0.0, at[2], 4.0 * most);
            found.and_then(|found| self.met(edge, *k, found, 4.0 * most)).is_some_and(|m| m.width > most)
        };
        let corners = [first <= 1 && widens[0].is_none(), last + 2 >= count && widens[1].is_none()];
        Run {
            edge,
            number,
            met,
            shares,
            drawn: [ends[0][1], ends[1][1]],
            corners: [0, 1].map(|i| corners[i].then_some(edge.ends[i])),
            widens: widens.iter().any(Option::is_some),
            wider: widens.iter().flatten().any(wider),
        }
    }

    /// Runs are of one gap where they meet in a corner, or face each other.
    fn gaps(&self, runs: Vec<Run<'a>>) -> Vec<Gap> {
        let (mut parts, rings) = linked(runs.iter().map(|run| run.corners));
        let mut of_edge: HashMap<usize, Vec<usize>> = HashMap::new();
        (0..).zip(&runs).for_each(|(i, run)| of_edge.entry(run.number).or_default().push(i));
        let mut gaps: BTreeMap<u32, (Vec<&Run>, f64)> = BTreeMap::new();
        let mut lengths = Vec::new();
        for (i, run) in (0..).zip(&runs) {
            let each = run.length() / run.met.len() as f64;
            let mut length = 0.0;
            for m in &run.met {
                let holds = |j: &&usize| (runs[**j].shares[0]..=runs[**j].shares[1]).contains(&m.on);
                let other = of_edge.get(&m.partner).into_iter().flatten().find(holds);
                // the other has the other half of it
                length += if other.is_some() { each / 2.0 } else { each };
                other.into_iter().for_each(|j| parts.join(i, *j as u32));
            }
            lengths.push(length);
        }
        let rings: HashSet<u32> = rings.into_iter().map(|i| parts.of(i)).collect();
        for (i, (run, length)) in (0..).zip(runs.iter().zip(lengths)) {
            let gap = gaps.entry(parts.of(i)).or_default();
            gap.0.push(run);
            gap.1 += length;
        }
        let gap = |(first, (runs, length)): (u32, (Vec<&Run>, f64))| {
            Gap::of(&runs, length, rings.contains(&first), self.hair)
        };
        let mut gaps: Vec<Gap> = gaps.into_iter().filter_map(gap).collect();
        let wide = |a: &Gap, b: &Gap| b.wider.cmp(&a.wider).then(b.width.total_cmp(&a.width));
        gaps.sort_by(|a, b| {
            wide(a, b).then(b.length.total_cmp(&a.length)).then(a.at.map(f64::to_bits).cmp(&b.at.map(f64::to_bits)))
        });
        gaps
    }

    /// Runs are of one step where they meet in a corner.
    fn steps(&self, runs: &[Run<'a>]) -> Vec<Step> {
        let (mut parts, _) = linked(runs.iter().map(|run| run.corners));
        let mut steps: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
        (0..).zip(runs).for_each(|(i, run)| steps.entry(parts.of(i)).or_default().push(run));
        let over =
            |run: &Run, m: &Met| Over { at: m.at, low: m.to[2], owners: [run.edge.owner, self.edges[m.partner].owner] };
        let step = |runs: Vec<&Run>| {
            let all: Vec<Over> = runs.iter().flat_map(|run| run.met.iter().map(|m| over(run, m))).collect();
            let over = *middle(&all, ALIKE, |o| [o.at[0], o.at[1]], Over::height)?;
            let length = runs.iter().map(|run| run.length()).sum();
            let edges = runs.iter().map(|run| run.part()).collect();
            Some(Step { over, length, edges, is_known: self.ask.scene.is_some() })
        };
        let mut steps: Vec<Step> = steps.into_values().filter_map(step).collect();
        let place = |s: &Step| s.over.at.map(f64::to_bits);
        let longest = |a: &Step, b: &Step| b.length.total_cmp(&a.length);
        let order = |a: &Step, b: &Step| b.over.height().total_cmp(&a.over.height()).then(place(a).cmp(&place(b)));
        steps.sort_by(|a, b| order(a, b).then(longest(a, b)));
        steps
    }
}

/// Heights that differ by less are reported as one, metres.
const ALIKE: f64 = 1e-4;

/// Two of some places that are as far apart as any, about: that farthest from the first, and that farthest from it.
pub fn ends(places: impl Iterator<Item = [f64; 2]> + Clone) -> Option<[[f64; 2]; 2]> {
    let farthest = |from: [f64; 2]| places.clone().max_by(|a, b| span([from, *a]).total_cmp(&span([from, *b])));
    let end = farthest(places.clone().next()?)?;
    Some([end, farthest(end)?])
}

/// Of places along something, and how much of it there is at each, that nearest to the middle of those at which there
/// is as much as anywhere, but for a hundredth or for `slack`.
pub fn middle<T>(all: &[T], slack: f64, at: impl Fn(&T) -> [f64; 2], much: impl Fn(&T) -> f64) -> Option<&T> {
    let most = all.iter().map(&much).fold(0.0, f64::max);
    let alike = || all.iter().filter(|one| much(one) >= most - slack.max(most / 100.0));
    let [a, b] = ends(alike().map(&at))?;
    let middle = [0, 1].map(|i| (a[i] + b[i]) / 2.0);
    let off = |one: &T| span([middle, at(one)]);
    alike().min_by(|a, b| off(a).total_cmp(&off(b)))
}

/// Runs along edges, by the corners to which they go: those that meet in one hang together. And the runs that lead back
/// to where others of their part began.
fn linked(corners: impl ExactSizeIterator<Item = [Option<[i32; 3]>; 2]>) -> (DisjointSet, Vec<u32>) {
    let mut parts = DisjointSet::new(corners.len());
    let (mut first, mut rings) = (HashMap::new(), Vec::new());
    for (i, ends) in (0..).zip(corners) {
        let known = ends.map(|p| first.get(&p?).map(|&j| parts.of(j)));
        if known[0].is_some() && known[0] == known[1] {
            rings.push(i);
        }
        ends.into_iter().flatten().for_each(|p| parts.join(*first.entry(p).or_insert(i), i));
    }
    (parts, rings)
}
