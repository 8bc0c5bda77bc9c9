//! Steps: ground ends at an open edge and goes on lower right beside it.

use std::collections::HashMap;

use hardpan::{Answer, Terrain};
use hardpan_builder::Scene;
use hashbrown::HashMap as Cells;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    border::{Edge, span},
    counted,
    gaps::{LISTED, Sets, crowded, place},
    grouped,
    maps::metres,
    shown,
};

/// Ground that ends higher than what lies beside it.
pub struct Step {
    /// Where it is highest, on the upper edge, metres.
    pub at: [f64; 3],
    /// Height of the ground beside that place, metres.
    pub low: f64,
    /// Metres along the edge.
    pub length: f64,
    /// Whose the ground is, above and below.
    owners: [Owner; 2],
}

/// Numbers of a source and of a material.
#[derive(Clone, Copy)]
struct Owner {
    source: u16,
    material: u16,
}

/// More than this is another deck, or a wall that one falls off, metres.
pub const DECK: f64 = 0.5;
/// Less than this is told only if it is asked for, metres: overlays lie 2 mm above what they cover.
pub const LEAST: f64 = 0.005;
/// As far beside an edge ground is looked for, metres; what begins farther away lies behind a gap.
const BESIDE: f64 = 0.01;
/// Ground so much higher than an edge covers it, metres.
const COVER: f64 = 0.001;
/// Metres that places of an edge are apart, and the fewest and the most of them; what is left out at either end, of its length.
const APART: f64 = 0.5;
const PLACES: [usize; 2] = [3, 64];
const END: f64 = 1.0 / 512.0;

/// What to do about them.
pub const MEND: &str = "join or level the sheets in the source";

/// The height of a step as it is typed, metres.
pub fn typed(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| (0.0001..DECK).contains(v);
    text.parse().ok().filter(sane).ok_or_else(|| format!("must be a height in metres, from 0.0001 to less than {DECK}"))
}

/// How much may have to be done: places, each as many times as a query tests triangles at most.
pub fn work(t: &Terrain, edges: &[&Edge]) -> u64 {
    let places: usize = edges.iter().map(|e| count(e)).sum();
    (places as u64).saturating_mul(t.bound().tests.into())
}

/// Steps of more than `least` metres and no more than [`DECK`], highest first; or why nobody looked. Asked is the kernel, at places
/// along the edges, for the first ground within a centimetre beside them. An edge that other ground covers has none: no wheel stands
/// there; nor has one that hangs over the ground, as the sides of a ramp without walls do. Heights are those of the planes at the edge
/// itself, so that a slope is no step. `upright` says whether a face of the source
/// stands at a place, from one height to another: then nothing is missing there. Only places that are `seen` count.
pub fn steps(
    t: &Terrain,
    edges: &[&Edge],
    heights: [f64; 2],
    least: f64,
    upright: Option<&Scene>,
    seen: impl Fn([f64; 2]) -> bool + Sync,
) -> Result<Vec<Step>, String> {
    let middles: Vec<_> = edges.iter().map(|e| (e.on(0.5), count(e) as u64)).collect();
    if let Some(why) = crowded(t, "steps", &middles) {
        return Err(why);
    }
    let mut runs: Vec<Run> = edges.par_iter().flat_map_iter(|e| Run::along(e, t, heights, least, &seen)).collect();
    if let Some(scene) = upright.filter(|_| !runs.is_empty()) {
        let faces = Upright::of(scene, t);
        runs.retain(|run| !faces.stand([run.at[0], run.at[1]], (run.at[2] + run.low) / 2.0));
    }
    let mut sets = Sets::of(runs.len());
    let mut first: HashMap<[i32; 3], usize> = HashMap::new();
    for (i, run) in runs.iter().enumerate() {
        run.corners.iter().flatten().for_each(|p| sets.join(*first.entry(*p).or_insert(i), i));
    }
    let mut steps: HashMap<usize, Step> = HashMap::new();
    for (i, run) in runs.iter().enumerate() {
        let new = || Step { at: run.at, low: run.low, length: 0.0, owners: run.owners };
        let step = steps.entry(sets.head(i)).or_insert_with(new);
        step.length += run.length;
        if run.at[2] - run.low > step.height() {
            (step.at, step.low, step.owners) = (run.at, run.low, run.owners);
        }
    }
    let mut steps: Vec<Step> = steps.into_values().collect();
    let place = |s: &Step| s.at.map(f64::to_bits);
    steps.sort_by(|a, b| b.height().total_cmp(&a.height()).then(place(a).cmp(&place(b))));
    Ok(steps)
}

impl Step {
    /// Metres.
    pub fn height(&self) -> f64 {
        self.at[2] - self.low
    }

    /// In words, with a place to query.
    pub fn told(&self, t: &Terrain) -> String {
        let name = |o: Owner| format!("{} of {}", t.material_name(o.material), t.source_name(o.source));
        let [above, below] = self.owners.map(|o| shown(&name(o)));
        let [x, y, z] = self.at;
        let at = place(&[x, y], 0.1);
        let (high, long) = (metres(self.height()), metres(self.length));
        format!("step {high} high, {long} long at {at}: z {z:.4} ({above}) beside {:.4} ({below})", self.low)
    }
}

/// How many there are beside open edges, and the highest; nothing if there are none.
pub fn told(steps: &[Step], t: &Terrain) -> Option<String> {
    let highest = steps.first()?.told(t);
    Some(match steps.len() as u64 {
        1 => format!("ground ends beside lower ground: a {highest}"),
        n => format!("ground ends beside lower ground at {}, the highest a {highest}", counted(n, "step")),
    })
}

/// For programs: the first of them.
pub fn facts(steps: &[Step], t: &Terrain) -> Value {
    let fact = |s: &Step| {
        let [source, source_low] = s.owners.map(|o| t.source_name(o.source));
        let [material, material_low] = s.owners.map(|o| t.material_name(o.material));
        json!({
            "at": s.at, "low": s.low, "height": s.height(), "length": s.length,
            "source": source, "source_low": source_low, "material": material, "material_low": material_low,
        })
    };
    steps.iter().take(LISTED[1]).map(fact).collect()
}

/// The first of them in words, and how many follow.
pub fn listed(steps: &[Step], t: &Terrain) -> impl Iterator<Item = String> {
    let rest = steps.len().saturating_sub(LISTED[0]) as u64;
    let rest = (rest > 0)
        .then(|| format!("and {} lower; --json lists the first {}", grouped(rest), grouped(LISTED[1] as u64)));
    steps.iter().take(LISTED[0]).map(|s| s.told(t)).chain(rest).collect::<Vec<_>>().into_iter()
}

/// A step along an edge, or a part of it.
struct Run {
    /// As of [`Step`].
    at: [f64; 3],
    low: f64,
    length: f64,
    owners: [Owner; 2],
    /// The edge's ends to which it goes.
    corners: [Option<[i32; 3]>; 2],
}

/// How many places of an edge are asked about.
fn count(e: &Edge) -> usize {
    ((span(e.plan) / APART).ceil() as usize).clamp(PLACES[0], PLACES[1])
}

/// Lower ground beside a place of an edge.
struct Drop {
    /// The place, metres.
    at: [f64; 3],
    low: f64,
    /// How much higher the edge lies a metre farther along, by the plane of the lower ground there.
    grows: f64,
    owners: [Owner; 2],
}

impl Drop {
    fn height(&self) -> f64 {
        self.at[2] - self.low
    }
}

/// Heights that differ by less are of one step, metres.
const ALIKE: f64 = 1e-4;

impl Run {
    /// Those of an edge.
    fn along(e: &Edge, t: &Terrain, heights: [f64; 2], least: f64, seen: impl Fn([f64; 2]) -> bool) -> Vec<Run> {
        let (count, length) = (count(e), span(e.plan));
        let share = |k: usize| END + (1.0 - 2.0 * END) * k as f64 / (count - 1) as f64;
        let met = |k: usize| {
            let at = e.on(share(k));
            seen([at[0], at[1]]).then(|| Drop::at(e, at, t, heights, least)).flatten()
        };
        let all: Vec<Option<Drop>> = (0..count).map(met).collect();
        // beside the next place lies other ground that the same slope has led to: an edge that hangs over the ground, and no step
        let hangs = |k: usize, next: usize| {
            let farther = (share(next) - share(k)) * length;
            let led = all[k].as_ref().is_some_and(|d| d.height() + d.grows * farther > 0.9 * DECK);
            led && {
                let [x, y, z] = e.on(share(next));
                let hair = f64::exp2(f64::from(t.header().xy_log2));
                t.below([x + e.away[0] * hair, y + e.away[1] * hair, z - DECK]).found()
            }
        };
        let mut runs = Vec::new();
        let mut k = 0;
        while k < count {
            let many = all[k..].iter().take_while(|d| d.is_some()).count();
            let (first, behind) = (k, k + many);
            k = behind + 1;
            let hung =
                many > 0 && ((first > 0 && hangs(first, first - 1)) || (behind < count && hangs(behind - 1, behind)));
            let drops: Vec<&Drop> = all[first..behind].iter().flatten().collect();
            let highest = drops.iter().map(|d| d.height()).fold(0.0, f64::max);
            let highest: Vec<&Drop> = drops.into_iter().filter(|d| d.height() >= highest - ALIKE).collect();
            let Some(best) = highest.get(highest.len() / 2).filter(|_| !hung) else { continue };
            let from = if first == 0 { 0.0 } else { (share(first - 1) + share(first)) / 2.0 };
            let to = if behind == count { 1.0 } else { (share(behind - 1) + share(behind)) / 2.0 };
            runs.push(Run {
                at: best.at,
                low: best.low,
                length: (to - from) * length,
                owners: best.owners,
                corners: [(first == 0).then_some(e.ends[0]), (behind == count).then_some(e.ends[1])],
            });
        }
        runs
    }
}

impl Drop {
    fn at(e: &Edge, at: [f64; 3], t: &Terrain, heights: [f64; 2], least: f64) -> Option<Self> {
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        let [x, y, z] = at;
        let (top, bottom) = ((z + DECK).min(heights[1]), (z - DECK).max(heights[0]));
        // the first ground so far beside the edge, its height and that of its plane at the edge
        let ground = |by: f64| -> Option<(Answer, [f64; 2])> {
            let from = [x + e.away[0] * by, y + e.away[1] * by, top];
            let answer = (top >= bottom).then(|| t.segment_m(from, top - bottom)).filter(Answer::found)?;
            let (found, [dx, dy]) = (t.z_f64(&answer.hit), t.slope_f64(&answer.hit));
            Some((answer, [found, found - by * (dx * e.away[0] + dy * e.away[1])]))
        };
        let far = std::iter::successors(Some(hair), |by| Some(2.0 * by)).take_while(|by| *by <= BESIDE.max(hair));
        let (below, found) = far.into_iter().find_map(ground)?;
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
        Some(Drop {
            at,
            low,
            grows: rise,
            owners: [own, below].map(|a| Owner { source: a.hit.source, material: a.hit.material }),
        })
    }
}

/// Faces of the source that stand upright.
struct Upright {
    faces: Vec<Standing>,
    /// By place: each in the cells of points along it that are half a cell apart.
    cells: Cells<[i64; 2], Vec<u32>>,
    /// Metres that ground may have moved in plan and height from its source.
    moved: [f64; 2],
}

/// A face seen from the side: where it stands in plan, and its corners, each metres from there and its height.
struct Standing {
    plan: [[f64; 2]; 2],
    corners: [[f64; 2]; 3],
}

/// Side of a cell, metres.
const CELL: f64 = 2.0;

impl Upright {
    fn of(scene: &Scene, t: &Terrain) -> Self {
        let h = t.header();
        let hair = f64::exp2(f64::from(h.xy_log2));
        let moved = [h.error_plan + 2.0 * hair, h.error_height + f64::exp2(f64::from(h.z_log2))];
        let mut all = Upright { faces: Vec::new(), cells: Cells::new(), moved };
        for t in &scene.triangles {
            let corners = t.v.map(|v| scene.positions[v as usize]);
            let Some(face) = Standing::of(corners, moved[0]) else { continue };
            let number = all.faces.len() as u32;
            let [a, b] = face.plan;
            let parts = (2.0 * span(face.plan) / CELL).ceil().max(1.0);
            for k in 0..=parts as usize {
                let share = k as f64 / parts;
                let cell = all.cells.entry(cell([0, 1].map(|i| a[i] + (b[i] - a[i]) * share))).or_default();
                if cell.last() != Some(&number) {
                    cell.push(number);
                }
            }
            all.faces.push(face);
        }
        all
    }

    /// Whether one stands at a place and reaches a height.
    fn stand(&self, at: [f64; 2], z: f64) -> bool {
        let [column, row] = cell(at);
        let about = (0..9).map(|k| [column + k % 3 - 1, row + k / 3 - 1]);
        let mut near = about.filter_map(|cell| self.cells.get(&cell)).flatten();
        near.any(|&i| self.faces[i as usize].reaches(at, z, self.moved))
    }
}

impl Standing {
    /// None if it does not stand upright, but for so much in plan.
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
        (thick <= moved && rise > 0.0 && longest.iter().flatten().all(|v| v.is_finite()))
            .then_some(Standing { plan: longest, corners: side })
    }

    fn reaches(&self, [px, py]: [f64; 2], z: f64, moved: [f64; 2]) -> bool {
        let ([[x, y], [bx, by]], length) = (self.plan, span(self.plan));
        let [ux, uy] = if length > 0.0 { [(bx - x) / length, (by - y) / length] } else { [0.0; 2] };
        let along = ((px - x) * ux + (py - y) * uy).clamp(0.0, length);
        let off = span([[px, py], [x + along * ux, y + along * uy]]);
        // where the upright line there meets the sides
        let [a, b, c] = self.corners;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
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
        off <= moved[0] && (low - moved[1]..=high + moved[1]).contains(&z)
    }
}

/// The cell of a place.
fn cell(at: [f64; 2]) -> [i64; 2] {
    at.map(|v| (v / CELL).floor() as i64)
}
