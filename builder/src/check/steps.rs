//! Steps: ground ends at an open edge and goes on lower right beside it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::report::{Code, Finding};
use crate::scene::Scene;
use crate::util::text::metres;
use hardpan::{Answer, Terrain};
use rayon::prelude::*;
#[cfg(feature = "json")]
use serde_json::{Value, json};

use super::{
    border::{Edge, span},
    layer_pair::{Over, Owner},
    length,
    walk::{Places, Spread, Walk, Way, linked, middle},
};

/// Ground that ends higher than what lies beside it.
pub struct Step {
    /// In the middle along the upper edge.
    pub over: Over,
    /// Metres along the edge.
    pub length: f64,
    /// Parts of the upper edges in plan, metres.
    pub edges: Vec<[[f64; 2]; 2]>,
}

/// More than this is another deck, or a wall that one falls off, metres.
pub const DECK: f64 = 0.5;
/// Less than this is told only if it is asked for, metres: overlays lie 2 mm above what they cover.
pub const LEAST: f64 = 0.005;
/// As far beside an edge ground is looked for, metres; what begins farther away lies behind a gap.
pub const BESIDE: f64 = 0.05;
/// Places of an edge at least at which is asked.
pub const FEWEST: usize = 3;
/// Ground so much higher than an edge covers it, metres.
const COVER: f64 = 0.001;
/// A face that has a corner on an edge stands at it if it rises so many times as far as it leans off, and that is no more, metres; and if
/// it runs along the edge, but for the sine of an angle.
const STEEP: f64 = 4.0;
const LEAN: f64 = 0.05;
const SKEW: f64 = 0.3;

/// What to do about it.
const MEND: &str = "join or level the sheets in the source";

/// Steps of more than `least` metres and no more than [`DECK`], highest first; or why nobody looked. Asked is the kernel, at places
/// along the edges, for the first ground within [`BESIDE`] of them. An edge that other ground covers has none: no wheel stands
/// there; nor has one where it comes to hang over the ground, as the sides of a ramp without walls do. Heights are those of the planes at
/// the edge itself, so that a slope is no step. Where a face of `upright` stands from one height to another, or leans a little, nothing
/// is missing. Only places that are `seen` count.
pub fn steps(
    walk: &Walk,
    least: f64,
    upright: Option<&Scene>,
    seen: impl Fn([f64; 2]) -> bool + Sync,
) -> Result<Vec<Step>, String> {
    if let Some(why) = walk.crowded("steps", FEWEST, false) {
        return Err(why);
    }
    let drops = |way: &Way| drops(walk, way, least, &seen);
    let mut all: Vec<Vec<(usize, Drop)>> = walk.ways.par_iter().map(drops).collect();
    if let Some(scene) = upright.filter(|_| all.iter().any(|drops| !drops.is_empty())) {
        let edges = walk.ways.iter().zip(&all);
        let at_edges = edges.flat_map(|(way, drops)| drops.iter().map(|(_, drop)| (way.edge, drop.over)));
        let covered = covered(scene, walk.t, &at_edges.collect::<Vec<_>>());
        let mut covered = covered.into_iter();
        all.iter_mut().for_each(|drops| drops.retain(|_| !covered.next().unwrap_or_default()));
    }
    let runs: Vec<Run> =
        walk.ways.iter().zip(&all).flat_map(|(way, drops)| Run::along(way.edge, walk.t, drops, &seen)).collect();
    let (mut parts, _) = linked(runs.iter().map(|run| run.corners));
    let mut steps: BTreeMap<u32, Vec<&Run>> = BTreeMap::new();
    for (i, run) in (0..).zip(&runs) {
        steps.entry(parts.of(i)).or_default().push(run);
    }
    let mut steps: Vec<Step> = steps.into_values().filter_map(|runs| Step::of(&runs)).collect();
    let place = |s: &Step| s.over.at.map(f64::to_bits);
    let longest = |a: &Step, b: &Step| b.length.total_cmp(&a.length);
    let order = |a: &Step, b: &Step| b.over.height().total_cmp(&a.over.height()).then(place(a).cmp(&place(b)));
    steps.sort_by(|a, b| order(a, b).then(longest(a, b)));
    Ok(steps)
}

impl Step {
    fn of(runs: &[&Run]) -> Option<Self> {
        let drops: Vec<&Drop> = runs.iter().flat_map(|run| run.drops).map(|(_, drop)| drop).collect();
        let over = middle(&drops, ALIKE, |d| [d.over.at[0], d.over.at[1]], |d| d.over.height())?.over;
        let length = runs.iter().map(|run| run.length).sum();
        Some(Step { over, length, edges: runs.iter().map(|run| run.part).collect() })
    }

    /// As a value.
    pub fn finding(&self, t: &Terrain) -> Finding {
        let values =
            vec![length("height", self.over.height()), length("length", self.length), length("low", self.over.low)];
        super::at(Code::Step, self.over.names(t), self.over.at, values, self.told(t), MEND)
    }

    /// In words, with a place to query.
    pub fn told(&self, t: &Terrain) -> String {
        let (high, long) = (metres(self.over.height()), metres(self.length));
        format!("step {high} high, {long} long {}", self.over.text(t, "beside"))
    }
}

/// For programs: the first of them.
#[cfg(feature = "json")]
pub fn facts(steps: &[Step], t: &Terrain) -> Value {
    let fact = |s: &Step| s.over.facts(t, json!({ "height": s.over.height(), "length": s.length }));
    steps.iter().take(super::gaps::LISTED[1]).map(fact).collect()
}

/// A step along an edge, or a part of it.
struct Run<'a> {
    /// At places that follow each other.
    drops: &'a [(usize, Drop)],
    /// Metres along the edge.
    length: f64,
    /// As of [`Step`].
    part: [[f64; 2]; 2],
    /// The edge's ends to which it goes.
    corners: [Option<[i32; 3]>; 2],
}

/// Lower ground beside a place of an edge.
struct Drop {
    over: Over,
    /// How much higher the edge lies a metre farther along, by the plane of the lower ground there.
    grows: f64,
}

/// Heights that differ by less are told as one, metres.
const ALIKE: f64 = 1e-4;

/// Places of an edge beside which there is lower ground, by their numbers.
fn drops(walk: &Walk, way: &Way, least: f64, seen: impl Fn([f64; 2]) -> bool) -> Vec<(usize, Drop)> {
    let places = Places::of(way.edge, FEWEST);
    let met = |number: usize| {
        let share = places.share(number);
        let at = way.edge.on(share);
        let drop = seen([at[0], at[1]]).then(|| Drop::at(walk, way, share, least)).flatten()?;
        Some((number, drop))
    };
    (0..places.count).filter_map(met).collect()
}

impl<'a> Run<'a> {
    /// Those of an edge, from its places with lower ground.
    fn along(e: &Edge, t: &Terrain, drops: &'a [(usize, Drop)], seen: impl Fn([f64; 2]) -> bool) -> Vec<Self> {
        let (places, length) = (Places::of(e, FEWEST), span(e.plan));
        // beside the next place lies other ground that the same slope has led to: the edge comes to hang over the ground there
        let hangs = |(number, drop): &(usize, Drop), next: usize| {
            let farther = (places.share(next) - places.share(*number)) * length;
            drop.over.height() + drop.grows * farther > 0.9 * DECK && {
                let [x, y, z] = e.on(places.share(next));
                let hair = f64::exp2(f64::from(t.header().xy_log2));
                t.below([x + e.away[0] * hair, y + e.away[1] * hair, z - DECK]).found()
            }
        };
        let mut runs = Vec::new();
        for mut run in drops.chunk_by(|(a, _), (b, _)| a + 1 == *b) {
            // what that slope is beside is none, from where it hangs on
            if let [first, ..] = run
                && first.0 > 0
                && hangs(first, first.0 - 1)
            {
                run = &run[run.iter().take_while(|(_, d)| 2.0 * d.grows <= first.1.grows).count()..];
            }
            if let [.., last] = run
                && last.0 + 1 < places.count
                && hangs(last, last.0 + 1)
            {
                let many = run.iter().rev().take_while(|(_, d)| 2.0 * d.grows >= last.1.grows).count();
                run = &run[..run.len() - many];
            }
            let [(first, _), ..] = run else { continue };
            let behind = first + run.len();
            // half way to the next place; of what is drawn all the way, if that is not looked at
            let end = |last: usize, next: Option<usize>, end: f64| {
                let Some(next) = next else { return [end; 2] };
                let ([x, y, _], next) = (e.on(places.share(next)), places.share(next));
                let half = (places.share(last) + next) / 2.0;
                [half, if seen([x, y]) { half } else { next }]
            };
            let from = end(*first, first.checked_sub(1), 0.0);
            let to = end(behind - 1, Some(behind).filter(|i| *i < places.count), 1.0);
            runs.push(Run {
                drops: run,
                length: (to[0] - from[0]) * length,
                part: e.part([from[1], to[1]]),
                corners: [(*first == 0).then_some(e.ends[0]), (behind == places.count).then_some(e.ends[1])],
            });
        }
        runs
    }
}

impl Drop {
    /// At a share of an edge's length.
    fn at(walk: &Walk, way: &Way, share: f64, least: f64) -> Option<Self> {
        let (e, t, hair) = (way.edge, walk.t, walk.hair);
        let at @ [x, y, z] = e.on(share);
        // the first ground so far beside the edge, its height and that of its plane at the edge
        let ground = |by: f64| -> Option<(Answer, [f64; 2])> {
            let answer = walk.ground(e, [x, y], [by, 0.0], [z - DECK, z + DECK])?;
            let (found, [dx, dy]) = (t.z_f64(&answer.hit), t.slope_f64(&answer.hit));
            Some((answer, [found, found - by * (dx * e.away[0] + dy * e.away[1])]))
        };
        // what does not lie there at once has to begin
        let farther = || {
            let nearest = way.nearest(share);
            let doubled = std::iter::successors(Some(2.0 * hair), |by| Some(2.0 * by)).take_while(|by| *by < BESIDE);
            doubled.chain([BESIDE]).filter(|by| *by >= nearest).find_map(ground)
        };
        let (below, found) = ground(hair).or_else(farther)?;
        let low = found[0].max(found[1]);
        if z - low <= least || z - low > DECK {
            return None;
        }
        let (own, found) = ground(-hair)?;
        if found[0].min(found[1]) > z + COVER {
            return None;
        }
        let ([a, b], length) = (e.plan, span(e.plan));
        let [dx, dy] = t.slope_f64(&below.hit);
        let rise = (e.z[1] - e.z[0] - dx * (b[0] - a[0]) - dy * (b[1] - a[1])) / length;
        Some(Drop { over: Over { at, low, owners: [own, below].map(|a| Owner::of(&a.hit)) }, grows: rise })
    }
}

/// Which places a face of the source stands at that is upright or nearly so, from one height to the other.
fn covered(scene: &Scene, t: &Terrain, drops: &[(&Edge, Over)]) -> Vec<bool> {
    let h = t.header();
    // metres that ground may have moved in plan and height from its source
    let hair = f64::exp2(f64::from(h.xy_log2));
    let moved = [h.error_plan + 2.0 * hair, h.error_height + f64::exp2(f64::from(h.z_log2))];
    let plan: Vec<[f64; 2]> = drops.iter().map(|(_, over)| [over.at[0], over.at[1]]).collect();
    let spread = Spread::new(&plan);
    let covered: Vec<AtomicBool> = drops.iter().map(|_| AtomicBool::new(false)).collect();
    scene.triangles.par_iter().for_each(|face| {
        let corners = face.v.map(|v| scene.positions[v as usize]);
        let Some(face) = Standing::of(corners, moved[0]) else { return };
        let [a, b] = face.plan;
        let low = [0, 1].map(|i| a[i].min(b[i]) - moved[0] - LEAN);
        let high = [0, 1].map(|i| a[i].max(b[i]) + moved[0] + LEAN);
        for i in spread.near(low, high) {
            let (edge, over) = &drops[i];
            let aside = if face.leans_from(edge, moved) { (over.height() / STEEP).min(LEAN) } else { 0.0 };
            if face.reaches(over, aside, moved) {
                covered[i].store(true, Ordering::Relaxed);
            }
        }
    });
    covered.into_iter().map(AtomicBool::into_inner).collect()
}

/// A face seen from the side: where it stands in plan, and its corners, each metres from there and its height; and where they lie.
struct Standing {
    plan: [[f64; 2]; 2],
    corners: [[f64; 2]; 3],
    places: [[f64; 3]; 3],
}

impl Standing {
    /// None if it does not stand upright, but for so much in plan, or nearly so.
    fn of(corners: [[f64; 3]; 3], moved: f64) -> Option<Self> {
        let plan = corners.map(|[x, y, _]| [x, y]);
        let sides = [[plan[0], plan[1]], [plan[1], plan[2]], [plan[2], plan[0]]];
        let longest = sides.into_iter().reduce(|a, b| if span(b) > span(a) { b } else { a })?;
        let ([[x, y], [bx, by]], length) = (longest, span(longest));
        let [ux, uy] = if length > 0.0 { [(bx - x) / length, (by - y) / length] } else { [0.0; 2] };
        let thick = plan.iter().map(|p| ((p[0] - x) * uy - (p[1] - y) * ux).abs()).fold(0.0, f64::max);
        let side = corners.map(|[px, py, pz]| [(px - x) * ux + (py - y) * uy, pz]);
        let heights = side.map(|[_, z]| z);
        let rise = heights.into_iter().fold(f64::MIN, f64::max) - heights.into_iter().fold(f64::MAX, f64::min);
        let [u, v] = [1, 2].map(|k| [0, 1, 2].map(|i| corners[k][i] - corners[0][i]));
        let across = [1, 2, 0].map(|i| u[i] * v[(i + 1) % 3] - u[(i + 1) % 3] * v[i]);
        let steep = thick <= LEAN && across[0].hypot(across[1]) >= STEEP * across[2].abs();
        ((thick <= moved || steep) && rise > 0.0 && longest.iter().flatten().all(|v| v.is_finite()))
            .then_some(Standing { plan: longest, corners: side, places: corners })
    }

    /// Whether it runs along an edge and has a corner on it.
    fn leans_from(&self, edge: &Edge, moved: [f64; 2]) -> bool {
        let ([[x, y], [bx, by]], [[ex, ey], [fx, fy]]) = (self.plan, edge.plan);
        let (length, long) = (span(self.plan), span(edge.plan));
        let skew = (bx - x) * edge.away[0] + (by - y) * edge.away[1];
        let on = |[px, py, pz]: [f64; 3]| {
            let share = (((px - ex) * (fx - ex) + (py - ey) * (fy - ey)) / (long * long)).clamp(0.0, 1.0);
            let z = edge.z[0] + share * (edge.z[1] - edge.z[0]);
            let foot = [ex + share * (fx - ex), ey + share * (fy - ey)];
            span([[px, py], foot]) <= moved[0] && (pz - z).abs() <= moved[1]
        };
        skew.abs() <= SKEW * length && self.places.into_iter().any(on)
    }

    /// Whether it stands half way down a step, no farther off than this.
    fn reaches(&self, step: &Over, aside: f64, moved: [f64; 2]) -> bool {
        let ([px, py, top], low) = (step.at, step.low);
        let ([[x, y], [bx, by]], length) = (self.plan, span(self.plan));
        let [ux, uy] = if length > 0.0 { [(bx - x) / length, (by - y) / length] } else { [0.0; 2] };
        let along = ((px - x) * ux + (py - y) * uy).clamp(0.0, length);
        let off = span([[px, py], [x + along * ux, y + along * uy]]);
        // where the upright line there meets the sides
        let [a, b, c] = self.corners;
        let (half, mut low, mut high) = ((top + low) / 2.0, f64::INFINITY, f64::NEG_INFINITY);
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let run = q[0] - p[0];
            let ends = if run.abs() > moved[0] {
                let share = (along - p[0]) / run;
                if !(0.0..=1.0).contains(&share) {
                    continue;
                }
                [p[1] + (q[1] - p[1]) * share; 2]
            } else if (along - p[0]).abs() <= 2.0 * moved[0] {
                [p[1], q[1]]
            } else {
                continue;
            };
            (low, high) = ends.iter().fold((low, high), |(low, high), &z| (low.min(z), high.max(z)));
        }
        off <= aside + moved[0] && (low - moved[1]..=high + moved[1]).contains(&half)
    }
}
