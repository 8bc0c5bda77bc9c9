//! Gaps: beside an open edge there is no ground, and a little farther there is again.

use std::{
    cell::Cell,
    collections::{HashMap, HashSet},
};

use hardpan::{Hit, Terrain};
use rayon::prelude::*;
#[cfg(feature = "json")]
use serde_json::{Value, json};

use crate::report::{Code, Finding, Quantity};
use crate::util::text::{METRE, counted, grouped, in_unit, metres, unit};

use super::{
    border::{Border, Edge, Ending, Lips, span},
    length,
    walk::{ALL, Places, Walk, Way, ends, linked, middle},
};

/// No ground along open edges, and ground again at the other side.
pub struct Gap {
    /// Where it is wide, in its middle across and along, metres.
    pub at: [f64; 3],
    /// Metres about that place, across the edge and along it, in which there is no ground.
    room: f64,
    /// Metres where it is widest, whichever way it is narrower there.
    pub width: f64,
    /// It goes on, and is wider there than is asked for.
    wider: bool,
    /// Metres along it, about: of two edges that face each other half of each, of a hole half of its rim without its width.
    pub length: f64,
    /// Metres by which one side of it is higher than the other at most.
    pub rise: f64,
    /// Ways along it in plan, metres.
    pub ways: Vec<Vec<[f64; 2]>>,
    /// Parts of edges beside it in plan, metres.
    pub edges: Vec<[[f64; 2]; 2]>,
}

/// A gap at one place of an edge.
struct Met {
    /// Its middle, metres.
    at: [f64; 3],
    /// Metres across there, or along the edge if that is less: the same of a slot, whichever side asks.
    width: f64,
    /// As of [`Gap`].
    room: f64,
    /// The edge's place, and where the ground begins again, metres.
    near: [f64; 3],
    far: [f64; 3],
}

/// A gap along an edge, or a part of it.
struct Run<'a> {
    edge: &'a Edge,
    places: Places,
    /// Number of its first place.
    first: usize,
    /// Whether it goes to the edge's ends: to its last place there, or the one before it, beyond which there is ground.
    ends: [bool; 2],
    /// Beside an end of it there is no ground either: the gap is wider there than is asked for.
    widens: bool,
    /// And there is ground on the other side.
    wider: bool,
    /// Whether its next place there is not looked at, and so it is cut off.
    cut: [bool; 2],
    /// At this place and those after it, at least one.
    met: Vec<Met>,
}

/// Gaps, or holes, that are listed in words and for programs.
pub const LISTED: [usize; 2] = [8, 1000];
/// Places of an edge at least at which is asked.
pub const FEWEST: usize = 8;
/// How many times as long as wide a gap is at least that grows wider than is asked for: less is a corner.
pub const SLENDER: f64 = 4.0;
/// A difference of height that is not told, metres.
const LEVEL: f64 = 0.001;
/// As near to a lip as this ground begins right at it, lattice steps: those within which open edges are stitched.
const RIGHT: f64 = 4.0;
/// Most heights over a place that are compared; of more nothing is known.
const LAYERS: usize = 64;
/// How much higher or lower than the edge ground may lie right beside it, metres; farther away as much more as it is farther: a
/// step of that and the gap's width is still none.
pub const REACH: f64 = 0.25;

/// Gaps beside the edges of a walk, first those that go on wider than is asked for, then the others, both widest first, each once: runs along edges are of one gap where they meet in a corner, or where the
/// ground begins again at the other. Asked is the kernel, near the edge's height, so that a gap in a deck counts though a road
/// lies under it. `most` says how wide a gap at a place may be, in metres, or that nothing is asked there. What is open to the
/// outside and not as deep as it is wide, such as a jag in the ground's border, is no gap; nor is what widens and is less
/// than four times as long, such as a corner of a pit; nor what higher ground fills from side to side: that is a wall. Nothing is told if it takes more work than the walk may: [`Walk::over`].
pub fn gaps(walk: &Walk, most: impl Fn([f64; 2]) -> Option<f64> + Sync) -> Vec<Gap> {
    let runs: Vec<Run> = walk
        .ways
        .par_iter()
        .flat_map_iter(|way| Beside { walk, way, most: &most, asked: Cell::new(0) }.runs())
        .collect();
    if walk.over() {
        return Vec::new();
    }
    let (mut parts, rings) = linked(runs.iter().map(Run::corners));
    let widest = runs.iter().flat_map(|run| &run.met).fold(0.0, |most: f64, m| most.max(m.width));
    let near = |width: f64| width / 64.0 + 2.0 * walk.hair;
    let lips = Lips::new(runs.iter().map(|run| run.edge).collect(), [4.0 * near(widest), 2.0 * REACH], 8.0);
    // the runs that each faces, and its length, of which they have the other half
    let faced = runs.par_iter().map(|run| {
        let (mut facing, part) = (Vec::new(), run.length() / run.met.len() as f64);
        let length = run.met.iter().map(|m| {
            let mut faces = false;
            if walk.over() {
                return 0.0;
            }
            let looked = lips.at(m.far, near(m.width), |j, share| {
                if runs[j].holds(share) {
                    faces = true;
                    facing.extend((facing.last() != Some(&j)).then_some(j));
                }
            });
            walk.add(looked);
            if faces { part / 2.0 } else { part }
        });
        (length.sum::<f64>(), facing)
    });
    let faced: Vec<(f64, Vec<usize>)> = faced.collect();
    if walk.over() {
        return Vec::new();
    }
    (0..).zip(&faced).for_each(|(i, (_, facing))| facing.iter().for_each(|&j| parts.join(i, j as u32)));
    let rings: HashSet<u32> = rings.into_iter().map(|i| parts.of(i)).collect();
    let mut gaps: HashMap<u32, (Vec<&Run>, f64)> = HashMap::new();
    for (i, (run, (length, _))) in (0..).zip(runs.iter().zip(faced)) {
        let gap = gaps.entry(parts.of(i)).or_default();
        gap.0.push(run);
        gap.1 += length;
    }
    let gap =
        |(first, (runs, length)): (u32, (Vec<&Run>, f64))| Gap::of(&runs, length, rings.contains(&first), walk.hair);
    let mut gaps: Vec<Gap> = gaps.into_iter().filter_map(gap).collect();
    let wide = |a: &Gap, b: &Gap| b.wider.cmp(&a.wider).then(b.width.total_cmp(&a.width));
    gaps.sort_by(|a, b| {
        wide(a, b).then(b.length.total_cmp(&a.length)).then(a.at.map(f64::to_bits).cmp(&b.at.map(f64::to_bits)))
    });
    gaps
}

impl Gap {
    /// From runs along so many metres. Nothing if it is a jag or a corner; what edges go all around, or lies all around them, is none.
    fn of(runs: &[&Run], length: f64, ring: bool, hair: f64) -> Option<Self> {
        let met: Vec<&Met> = runs.iter().flat_map(|run| &run.met).collect();
        let plan = |[x, y, _]: [f64; 3]| [x, y];
        let middles = met.iter().map(|m| plan(m.at));
        let width = met.iter().fold(0.0, |most: f64, m| most.max(m.width));
        let best = middle(&met, hair, |m| plan(m.at), |m| m.room)?;
        let wider = runs.iter().any(|run| run.wider);
        let gap = Gap {
            at: best.at,
            room: best.room,
            width,
            wider,
            length: if ring { (length - width).max(width) } else { length },
            rise: met.iter().fold(0.0, |most: f64, m| most.max((m.far[2] - m.near[2]).abs())),
            ways: runs.iter().map(|run| run.way()).collect(),
            edges: runs.iter().map(|run| run.lip()).collect(),
        };
        let slender = if runs.iter().any(|run| run.widens) { SLENDER } else { 1.0 };
        (ring || ends(middles).map_or(0.0, span) >= slender * width).then_some(gap)
    }

    /// As a value.
    pub fn finding(&self) -> Finding {
        let wider = Quantity { name: "wider", value: f64::from(u8::from(self.wider)), unit: "" };
        let values = vec![length("width", self.width), length("length", self.length), length("rise", self.rise), wider];
        super::at(Code::Gap, String::new(), self.at, values, self.told(), "close it in the source")
    }

    /// In words, with a place to query: all in the unit of its width, but lengths from 1 m on in metres.
    pub fn told(&self) -> String {
        let more = if self.wider { " or more" } else { "" };
        let short = unit(self.width);
        let (width, rise) = (in_unit(self.width, short), in_unit(self.rise, short));
        let long = in_unit(self.length, if unit(self.length).0 <= 1.0 { METRE } else { short });
        let level = if self.rise < LEVEL { String::new() } else { format!(", one side up to {rise} higher") };
        format!("gap {width}{more} wide, {long} long{level} at {}", place(&self.at, self.room))
    }
}

/// How wide a gap may be that a build looks for, metres.
const NARROW: f64 = 0.1;
/// Along so many open edges, or along one for so many triangles, a build looks for them.
const FEW: [u64; 2] = [100_000, 8];
/// All its work, or so much of it for each triangle, about a second or what the build takes: see [`Walk::over`].
const WORK: [u64; 2] = [300_000_000, 1000];

/// Narrow gaps beside the open edges of an image.
pub struct Narrow {
    edges: u64,
    /// None if nobody looked, because that takes long.
    gaps: Option<Vec<Gap>>,
}

/// Looks for gaps of up to 10 cm where that is quickly done; `open` is how many edges are open, if that is known.
pub fn narrow(t: &Terrain, open: Option<u64>) -> Narrow {
    let triangles = t.header().triangles;
    let are_many = |edges: &u64| *edges > FEW[0].max(triangles / FEW[1]);
    if let Some(edges) = open.filter(are_many) {
        return Narrow { edges, gaps: None };
    }
    let ending = Ending::of(t);
    let edges = ending.open();
    if are_many(&edges) {
        return Narrow { edges, gaps: None };
    }
    let border = Border::new(t, ending);
    let open: Vec<&Edge> = border.open.iter().collect();
    let walk = Walk::within(t, &border, &open, ALL, NARROW, WORK[0].max(triangles.saturating_mul(WORK[1])));
    Narrow { edges, gaps: Some(gaps(&walk, |_| Some(NARROW))).filter(|_| !walk.over()) }
}

impl Narrow {
    /// For programs.
    #[cfg(feature = "json")]
    pub fn facts(&self) -> Value {
        let first = self.gaps.as_deref().map(facts);
        let found = self.gaps.as_ref().map(Vec::len);
        json!({ "max_gap": NARROW, "open_edges": self.edges, "found": found, "first": first })
    }

    /// What was looked for, and how much of it there is.
    pub fn sum(&self) -> String {
        let (edges, most) = (counted(self.edges, "open edge"), metres(NARROW));
        match self.gaps.as_ref().map(Vec::len) {
            None => format!("beside {edges}: gaps of up to {most} not looked for"),
            Some(0) => format!("beside {edges}: no gaps of up to {most}"),
            Some(n) => format!("beside {edges}: {} of up to {most}", counted(n as u64, "gap")),
        }
    }

    /// The widest; none if there is none.
    pub fn text(&self) -> Option<String> {
        let gaps = self.gaps.as_deref()?;
        let widest = gaps.first()?.told();
        Some(match gaps.len() as u64 {
            1 => format!("beside open edges there is a {widest}"),
            n => format!("{} beside open edges, the widest a {widest}", counted(n, "gap")),
        })
    }
}

/// For programs: the first of them.
#[cfg(feature = "json")]
pub fn facts(gaps: &[Gap]) -> Value {
    gaps.iter()
        .take(LISTED[1])
        .map(|g| json!({ "at": g.at, "width": g.width, "wider": g.wider, "length": g.length, "rise": g.rise }))
        .collect()
}

/// A place in something of a size, in so many digits that it is in it.
pub fn place(at: &[f64], size: f64) -> String {
    let decimals = (2.0 - size.log10()).ceil().clamp(0.0, 9.0) as usize;
    at.iter().map(|v| format!("{:.decimals$}", v + 0.0)).collect::<Vec<_>>().join(",")
}

/// The first of them, and how many follow, which are so, as "no wider".
pub fn listed(lines: impl ExactSizeIterator<Item = String>, less: &str) -> impl Iterator<Item = String> {
    let rest = lines.len().saturating_sub(LISTED[0]) as u64;
    lines.take(LISTED[0]).chain((rest > 0).then(|| format!("and {} {less}", grouped(rest))))
}

impl Run<'_> {
    /// From which share of the edge's length to which it goes: from place to place, or to the edge's ends.
    fn shares(&self) -> [f64; 2] {
        let last = self.first + self.met.len() - 1;
        let to = if last + 1 == self.places.count { 1.0 } else { self.places.share(last) };
        [if self.first == 0 { 0.0 } else { self.places.share(self.first) }, to]
    }

    /// Metres along the edge.
    fn length(&self) -> f64 {
        let [from, to] = self.shares();
        (to - from) * span(self.edge.plan)
    }

    /// The part of the edge beside it, to the next place where it is cut off.
    fn lip(&self) -> [[f64; 2]; 2] {
        let ([from, to], apart) = (self.shares(), 1.0 / (self.places.count - 1) as f64);
        let by = self.cut.map(|cut| if cut { apart } else { 0.0 });
        self.edge.part([(from - by[0]).max(0.0), (to + by[1]).min(1.0)])
    }

    /// The edge's ends to which it goes.
    fn corners(&self) -> [Option<[i32; 3]>; 2] {
        [0, 1].map(|i| self.ends[i].then_some(self.edge.ends[i]))
    }

    /// Through its middle, from corner to corner if it goes so far, and to the next place if it is cut off.
    fn way(&self) -> Vec<[f64; 2]> {
        let middles: Vec<[f64; 2]> = self.met.iter().map(|m| [m.at[0], m.at[1]]).collect();
        let ([a, b], apart) = (self.edge.plan, 1.0 / (self.places.count - 1) as f64);
        let end = |i: usize, middle: [f64; 2], by: f64| match (self.ends[i], self.cut[i]) {
            (_, true) => Some([0, 1].map(|k| middle[k] + by * (b[k] - a[k]))),
            (true, _) => Some(self.edge.plan[i]),
            _ => None,
        };
        let (first, last) = (end(0, middles[0], -apart), end(1, middles[middles.len() - 1], apart));
        first.into_iter().chain(middles).chain(last).collect()
    }

    /// Whether it goes by a share of the edge's length, or to less than the next place from there.
    fn holds(&self, share: f64) -> bool {
        let ([from, to], apart) = (self.shares(), 1.0 / (self.places.count - 1) as f64);
        (from - apart..=to + apart).contains(&share)
    }
}

/// The search beside one edge; `most` says how wide a gap may be at a place.
struct Beside<'a, F> {
    walk: &'a Walk<'a>,
    way: &'a Way<'a>,
    most: F,
    /// Queries since work was counted last.
    asked: Cell<u64>,
}

impl<'a, F: Fn([f64; 2]) -> Option<f64>> Beside<'a, F> {
    fn runs(&self) -> Vec<Run<'a>> {
        let met = |number| {
            let met = self.met(number);
            self.count(self.place(number));
            Some((number, met?))
        };
        let met: Vec<(usize, Met)> =
            (0..self.places().count).take_while(|_| !self.walk.over()).filter_map(met).collect();
        let mut runs: Vec<Run> = Vec::new();
        for (number, m) in met {
            match runs.last_mut() {
                Some(run) if run.first + run.met.len() == number => run.met.push(m),
                _ => runs.push(Run {
                    edge: self.way.edge,
                    places: self.places(),
                    first: number,
                    ends: [false; 2],
                    widens: false,
                    wider: false,
                    cut: [false; 2],
                    met: vec![m],
                }),
            }
        }
        runs.iter_mut().for_each(|run| {
            self.settle(run);
            self.count(run.met[0].near);
        });
        runs
    }

    /// Counts the work of the queries at a place.
    fn count(&self, [x, y, z]: [f64; 3]) {
        let asked = self.asked.take();
        self.walk.add(if asked > 0 { asked * self.walk.query([x, y, z + REACH]) } else { 1 });
    }

    fn places(&self) -> Places {
        Places::of(self.way.edge, FEWEST)
    }

    /// A place of the edge.
    fn place(&self, number: usize) -> [f64; 3] {
        self.way.edge.on(self.places().share(number))
    }

    /// So far beside a place.
    fn off(&self, [x, y, _]: [f64; 3], by: f64) -> [f64; 2] {
        let [ax, ay] = self.way.edge.away;
        [x + ax * by, y + ay * by]
    }

    /// How wide a gap may be at a place.
    fn most(&self, p: [f64; 3]) -> Option<f64> {
        (self.most)(self.off(p, self.walk.hair))
    }

    /// The height of ground so far beside a place, if there is ground near a height.
    fn ground(&self, p: [f64; 3], by: f64, z: f64) -> Option<f64> {
        let reach = [z - REACH - by, z + REACH + by];
        self.asked.update(|asked| asked + 1);
        self.walk.ground(self.way.edge, [p[0], p[1]], [by, 0.0], reach).map(|a| self.walk.t.z_f64(&a.hit))
    }

    /// How far there is no ground from so far beside a place on along the edge, or back, up to a length; with `clear` no edge is there.
    fn free(&self, [x, y, z]: [f64; 3], by: f64, [way, most]: [f64; 2], clear: bool) -> f64 {
        let hair = self.walk.hair;
        let reach = [z - REACH - most, z + REACH + most];
        let bare = |along: f64| {
            self.asked.update(|asked| asked + 1);
            self.walk.ground(self.way.edge, [x, y], [by, way * along], reach).is_none()
        };
        if clear && bare(most) {
            return most;
        }
        let (mut free, mut far) = (0.0, hair);
        while far < most && bare(far) {
            (free, far) = (far, 2.0 * far);
        }
        if far >= most {
            return most;
        }
        while far - free > hair / 16.0 {
            let half = (free + far) / 2.0;
            if bare(half) { free = half } else { far = half }
        }
        free
    }

    /// Whether higher ground than that of a lip begins on the way from one place to another: a wall.
    fn rises(&self, lip: f64, from: [f64; 2], to: [f64; 2]) -> bool {
        let heights = |[x, y]: [f64; 2]| {
            self.asked.update(|asked| asked + 1);
            let mut hits = [Hit::NONE; LAYERS];
            let found = self.walk.t.layers([x, y, 0.0], &mut hits);
            let all = hits[..found.written].iter().map(|hit| self.walk.t.z_f64(hit));
            let [low, top] = self.walk.heights;
            (found.total <= LAYERS).then(|| all.filter(|z| (low..=top).contains(z)).collect::<Vec<f64>>())
        };
        let Some(mut higher) = heights(to) else { return false };
        higher.retain(|z| *z > lip + REACH);
        if higher.is_empty() {
            return false;
        }
        let Some(here) = heights(from) else { return false };
        higher.iter().any(|z| here.iter().all(|other| (z - other).abs() > REACH))
    }

    fn met(&self, number: usize) -> Option<Met> {
        let (p, hair) = (self.place(number), self.walk.hair);
        let nearest = self.way.nearest(self.places().share(number));
        let most = self.most(p).filter(|most| nearest <= *most)?;
        let at = |by: f64| self.ground(p, by, p[2]);
        let (mut bare, mut far) = (hair, 2.0 * hair);
        if at(bare).is_some() {
            return None;
        }
        // as far as there can be none
        while 2.0 * far < nearest {
            (bare, far) = (far, 2.0 * far);
        }
        // so wide that what is found does not hang on how wide a gap may be
        let mut z = loop {
            match at(far) {
                Some(z) => break z,
                None if far > most => return None,
                None => (bare, far) = (far, 2.0 * far),
            }
        };
        // near by it begins most often where the next edge is, farther away in several sheets at once; all that is asked is whole parts of a hair, so that the order changes nothing
        let fine = hair / 16.0;
        let whole = |by: f64| (by / fine).floor() * fine;
        let next = whole(nearest + hair);
        let near = [next, next + fine, next - fine, next + hair, next - hair];
        let mut near = near.into_iter().filter(|_| next < REACH);
        while far - bare > fine {
            let by = near.find(|by| bare < *by && *by < far).unwrap_or_else(|| whole((bare + far) / 2.0));
            match at(by) {
                Some(found) => (far, z) = (by, found),
                None => bare = by,
            }
        }
        // ground that comes near from above or below has no end there
        if bare > most || self.ground(p, bare, z).is_some() {
            return None;
        }
        // a wall fills it from one lip to the other; what lies lower there is the ground of a hole
        let right = (RIGHT * hair).min(bare / 2.0);
        let rises = |lip: f64, from: f64, to: f64| self.rises(lip, self.off(p, from), self.off(p, to));
        if rises(p[2], -right, right) && rises(z, far + right, bare - right) {
            return None;
        }
        let ([x, y], [far_x, far_y]) = (self.off(p, bare / 2.0), self.off(p, far));
        let middle = [x, y, (p[2] + z) / 2.0];
        let clear = bare <= REACH && self.way.clear(self.places().share(number), bare / 2.0, bare);
        let free = self.free(middle, 0.0, [1.0, bare], clear) + self.free(middle, 0.0, [-1.0, bare], clear);
        Some(Met {
            at: middle,
            // along the edge nothing is known where lower ground is met half way
            width: if free > 0.0 { free.min(bare) } else { bare },
            room: 0.0,
            near: p,
            far: [far_x, far_y, z],
        })
    }

    /// How a run ends, and how much room there is along it.
    fn settle(&self, run: &mut Run) {
        let (places, hair) = (self.places(), self.walk.hair);
        let (length, count) = (span(self.way.edge.plan), places.count);
        let bare = |number: usize| {
            let p = self.place(number);
            self.most(p).is_some() && self.ground(p, hair, p[2]).is_none()
        };
        let wider = |number: usize| {
            let p = self.place(number);
            let most = self.most(p).unwrap_or(0.0);
            [2.0, 4.0].iter().any(|times| self.ground(p, times * most, p[2]).is_some())
                && self.free(p, most / 2.0, [1.0, most], false) + self.free(p, most / 2.0, [-1.0, most], false) >= most
        };
        let next = run.first + run.met.len();
        let widens = [run.first > 0 && bare(run.first - 1), next < count && bare(next)];
        let unseen = |number: usize| self.most(self.place(number)).is_none();
        run.cut = [run.first > 0 && unseen(run.first - 1), next < count && unseen(next)];
        run.widens = widens.contains(&true);
        run.wider = (widens[0] && wider(run.first - 1)) || (widens[1] && wider(next));
        run.ends = [run.first <= 1 && !widens[0], next + 1 >= count && !widens[1]];
        let [from, to] = run.shares();
        for (number, m) in (run.first..).zip(&mut run.met) {
            let share = places.share(number);
            m.room = m.width.min(2.0 * length * (share - from).min(to - share));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::check::border::Border;
    use crate::demo::fixtures;
    use crate::options::Options;
    use hardpan::Terrain;

    #[test]
    fn a_gap_is_told_in_one_unit() {
        let told = |[width, length, rise]: [f64; 3]| {
            let (at, room) = ([1.0, 2.0, 3.0], 0.1);
            Gap { at, room, width, wider: false, length, rise, ways: Vec::new(), edges: Vec::new() }.told()
        };
        assert_eq!(told([0.9996, 1.0, 0.0]), "gap 1 m wide, 1 m long at 1.000,2.000,3.000");
        for (sizes, words) in [
            ([0.0721, 0.543, 0.00198], "gap 7.21 cm wide, 54.3 cm long, one side up to 0.198 cm higher at "),
            ([0.00123, 0.543, 0.2], "gap 1.23 mm wide, 543 mm long, one side up to 200 mm higher at "),
            ([0.4, 0.9996, 0.0], "gap 40 cm wide, 1 m long at "),
            ([2.0, 1234.0, 0.2], "gap 2 m wide, 1230 m long, one side up to 0.2 m higher at "),
        ] {
            assert!(told(sizes).starts_with(words), "{}", told(sizes));
        }
    }

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
            torn.triangles.extend(kept.map(|(_, v)| crate::scene::Triangle { v, material: 0, source: 0 }));
        }
        let mut apart = fixtures::town(2);
        for (k, p) in apart.positions.iter_mut().enumerate() {
            *p = p.map(|v| v + (k * 37 % 11) as f64 / 64.0);
        }
        let mut all = 0;
        for scene in [torn, apart, fixtures::soup(3), fixtures::soup(8), fixtures::bridge()] {
            let built = build(&scene, &Options { stitch: None, ..Options::default() }).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let border = Border::of(&t);
            for most in [0.05, 0.5, 5.0] {
                let edges: Vec<&Edge> = border.open.iter().step_by(1 + border.open.len() / 2000).collect();
                let walk = Walk::new(&t, &border, &edges, [-1e9, 1e9], most);
                for way in &walk.ways {
                    let [known, asked] = [way, &way.unknown()].map(|way| {
                        let runs = Beside { asked: Cell::new(0), walk: &walk, way, most: |_| Some(most) }.runs();
                        runs.iter().flat_map(|run| &run.met).map(|m| (m.at, m.width, m.far)).collect::<Vec<_>>()
                    });
                    // beyond a sheet that comes near from above or below, and has no edge there, more may be found
                    assert!(asked.iter().all(|m| known.contains(m)), "{:?}", way.edge.plan);
                    all += asked.len();
                }
            }
        }
        assert!(all > 1000, "{all}");
    }
}
