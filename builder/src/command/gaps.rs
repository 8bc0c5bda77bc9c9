//! Gaps: beside an open edge there is no ground, and a little farther there is again.

use std::collections::{HashMap, HashSet};

use hardpan::Terrain;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    border::{Border, Edge, Lips, first, span},
    counted, grouped,
    maps::metres,
};

/// No ground along open edges, and ground again at the other side.
pub struct Gap {
    /// Where it is wide, in its middle, metres.
    pub at: [f64; 3],
    /// Metres about that place, across the edge and along it, in which there is no ground.
    room: f64,
    /// Metres where it is widest, whichever way it is narrower there.
    pub width: f64,
    /// It goes on, and is wider there than is asked for.
    wider: bool,
    /// Metres between the ends of what was met of it, about.
    pub length: f64,
    /// Ways along it in plan, metres.
    pub ways: Vec<Vec<[f64; 2]>>,
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
    near: [f64; 2],
    far: [f64; 3],
}

/// A gap along an edge, or a part of it.
struct Run<'a> {
    edge: &'a Edge,
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

/// A place of an edge, by its number, and how far away from it there is no ground at least, metres.
struct Place {
    number: usize,
    nearest: f64,
}

/// Gaps, or holes, that are listed in words and for programs.
pub const LISTED: [usize; 2] = [8, 1000];
/// Metres that places of an edge beside which ground is asked for are apart, and the fewest and the most of them.
const APART: f64 = 0.5;
const PLACES: [usize; 2] = [8, 64];
/// What is left out at either end of an edge, of its length.
const END: f64 = 1.0 / 512.0;
/// How many times as long as wide a gap is at least that grows wider than is asked for: less is a corner.
const SLENDER: f64 = 4.0;
/// Tests for one query at each place of the edges, about, beyond which no gaps are looked for, and edges by which that is known.
const MOST_WORK: u64 = 250_000_000;
const SAMPLES: usize = 1000;
/// How much higher or lower than the edge ground may lie right beside it, metres; farther away as much more as it is farther: a
/// step of that and the gap's width is still none.
pub const REACH: f64 = 0.25;

/// The width of a gap as it is typed, metres.
pub fn typed(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| (0.001..=100.0).contains(v);
    text.parse().ok().filter(sane).ok_or_else(|| "must be a width in metres, from 0.001 to 100".into())
}

/// Places of edges at which there may be gaps, as far as is known without asking for ground.
pub struct Search<'a> {
    t: &'a Terrain<'a>,
    /// Only ground at these counts, metres.
    heights: [f64; 2],
    hair: f64,
    places: Vec<(&'a Edge, Vec<Place>)>,
}

impl<'a> Search<'a> {
    /// No gap is wider than `widest`, in metres.
    pub fn new(t: &'a Terrain<'a>, border: &Border, edges: &[&'a Edge], heights: [f64; 2], widest: f64) -> Self {
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        // fields of heights end at no edge: beside them all is asked for
        let ends = (t.header().patch_blocks == 0).then(|| {
            let all = border.open.iter().chain(&border.folds).collect();
            Lips::new(all, [2.0 * widest + 8.0 * hair, 2.0 * (widest + 2.0 * REACH)])
        });
        let facing = |e: &Edge| ends.as_ref().and_then(|ends| ends.facing(e, widest, hair));
        let places = edges.par_iter().map(|e| (*e, e.places(facing(e).as_deref(), widest, hair)));
        Search { t, heights, hair, places: places.filter(|(_, places)| !places.is_empty()).collect() }
    }

    /// How much may have to be done: places, each as many times as a query tests triangles at most.
    pub fn work(&self) -> u64 {
        let places: u64 = self.places.iter().map(|(_, places)| places.len() as u64).sum();
        places.saturating_mul(self.t.bound().tests.into())
    }

    /// As [`crowded`] has it.
    pub fn crowded(&self) -> Option<String> {
        let middle = |(edge, places): &(&Edge, Vec<Place>)| {
            (edge.on(edge.share(places[places.len() / 2].number)), places.len() as u64)
        };
        crowded(self.t, "gaps", &self.places.iter().map(middle).collect::<Vec<_>>())
    }

    /// Gaps beside edges, longest first, each once: runs along edges are of one gap where they meet in a corner, or where the ground
    /// begins again at the other. Asked is the kernel, near the edge's height, so that a gap in a deck counts though a road
    /// lies under it. `most` says how wide a gap at a place may be, in metres, or that nothing is asked there. What is open to the
    /// outside and not as deep as it is wide, such as a jag in the ground's border, is no gap; nor is what widens and is less
    /// than four times as long, such as a corner of a pit.
    pub fn gaps(&self, most: impl Fn([f64; 2]) -> Option<f64> + Sync) -> Vec<Gap> {
        let beside = |(e, places): &(&'a Edge, Vec<Place>)| e.beside(self.t, self.heights, places, &most);
        let runs: Vec<Run> = self.places.par_iter().flat_map_iter(beside).collect();
        let mut sets = Sets::of(runs.len());
        let mut first: HashMap<[i32; 3], usize> = HashMap::new();
        // runs that lead back to where others began
        let mut rings = Vec::new();
        for (i, run) in runs.iter().enumerate() {
            let known = run.corners().map(|p| first.get(&p?).map(|&j| sets.head(j)));
            if known[0].is_some() && known[0] == known[1] {
                rings.push(i);
            }
            run.corners().into_iter().flatten().for_each(|p| sets.join(*first.entry(p).or_insert(i), i));
        }
        let widest = runs.iter().flat_map(|run| &run.met).fold(0.0, |most: f64, m| most.max(m.width));
        let near = |width: f64| width / 64.0 + 2.0 * self.hair;
        let lips = Lips::new(runs.iter().map(|run| run.edge).collect(), [4.0 * near(widest), 2.0 * REACH]);
        for (i, run) in runs.iter().enumerate() {
            for m in &run.met {
                lips.at(m.far, near(m.width), |j, share| {
                    if runs[j].holds(share) {
                        sets.join(i, j)
                    }
                });
            }
        }
        let rings: HashSet<usize> = rings.into_iter().map(|i| sets.head(i)).collect();
        let mut gaps: HashMap<usize, Vec<&Run>> = HashMap::new();
        for (i, run) in runs.iter().enumerate() {
            gaps.entry(sets.head(i)).or_default().push(run);
        }
        let gaps = gaps.into_iter().filter_map(|(head, runs)| Gap::of(&runs, rings.contains(&head)));
        let mut gaps: Vec<Gap> = gaps.collect();
        gaps.sort_by(|a, b| b.length.total_cmp(&a.length).then(a.at.map(f64::to_bits).cmp(&b.at.map(f64::to_bits))));
        gaps
    }
}

/// Nothing, unless triangles lie so crowded beside edges that it would take too long to look for gaps or what else there: then why,
/// and what to do. Of each edge one place is given, and how many it has; known from a query at a few of them.
pub fn crowded(t: &Terrain, what: &str, places: &[([f64; 3], u64)]) -> Option<String> {
    let tests = |&(at @ [x, y, z], count): &([f64; 3], u64)| {
        (u64::from(t.closest_costed([x, y, z + REACH]).1.tests) * count, at)
    };
    let tested: Vec<(u64, [f64; 3])> = places.iter().step_by(1 + places.len() / SAMPLES).map(tests).collect();
    let (_, [x, y, _]) = tested.iter().copied().max_by_key(|(tests, _)| *tests)?;
    let sum: u64 = tested.iter().map(|(tests, _)| tests).sum();
    let work = sum / tested.len() as u64 * places.len() as u64;
    (work > MOST_WORK).then(|| {
        let edges = counted(places.len() as u64, "open edge");
        format!(
            "beside {edges} triangles lie so crowded that looking for {what} there would take {} tests, most of them near ({x:.3}, {y:.3}), and {} are the most; clean the mesh there, or build it in parts",
            grouped(work),
            grouped(MOST_WORK)
        )
    })
}

impl Gap {
    /// Nothing if it is a jag or a corner; what edges go all around, or lies all around them, is none.
    fn of(runs: &[&Run], ring: bool) -> Option<Self> {
        let met: Vec<&Met> = runs.iter().flat_map(|run| &run.met).collect();
        let middles: Vec<[f64; 2]> = met.iter().map(|m| [m.at[0], m.at[1]]).collect();
        let ends: Vec<[f64; 2]> = met.iter().flat_map(|m| [m.near, [m.far[0], m.far[1]]]).collect();
        let width = met.iter().fold(0.0, |most: f64, m| most.max(m.width));
        let best = met.iter().copied().reduce(|best, m| if m.room > best.room { m } else { best })?;
        let wider = runs.iter().any(|run| run.wider);
        let gap = Gap {
            at: best.at,
            room: best.room,
            width,
            wider,
            length: across(&ends),
            ways: runs.iter().map(|run| run.way()).collect(),
        };
        let slender = if runs.iter().any(|run| run.widens) { SLENDER } else { 1.0 };
        (ring || across(&middles) >= slender * width).then_some(gap)
    }

    /// In words, with a place to query.
    pub fn told(&self) -> String {
        let more = if self.wider { " or more" } else { "" };
        let [width, length] = [self.width, self.length].map(metres);
        format!("gap {width}{more} wide, {length} long at {}", place(&self.at, self.room))
    }
}

/// How many there are beside open edges, up to how wide, and the longest; nothing if there are none.
pub fn told(gaps: &[Gap], most: f64) -> Option<String> {
    let longest = gaps.first()?.told();
    Some(match gaps.len() as u64 {
        1 => format!("beside open edges there is a {longest}"),
        n => format!("{} gaps of up to {} beside open edges, the longest a {longest}", grouped(n), metres(most)),
    })
}

/// How far places are apart at most, about: from that farthest from the first to that farthest from it.
fn across(places: &[[f64; 2]]) -> f64 {
    let farthest = |from: [f64; 2]| {
        let far = |best: [f64; 2], p: &[f64; 2]| if span([from, *p]) > span([from, best]) { *p } else { best };
        places.iter().fold(from, far)
    };
    places.first().map_or(0.0, |first| {
        let end = farthest(*first);
        span([end, farthest(end)])
    })
}

/// For programs: the first of them.
pub fn facts(gaps: &[Gap]) -> Value {
    gaps.iter()
        .take(LISTED[1])
        .map(|g| json!({ "at": g.at, "width": g.width, "wider": g.wider, "length": g.length }))
        .collect()
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

impl Run<'_> {
    /// From which share of the edge's length to which it goes: from place to place, or to the edge's ends.
    fn shares(&self) -> [f64; 2] {
        let last = self.first + self.met.len() - 1;
        let to = if last + 1 == self.edge.count() { 1.0 } else { self.edge.share(last) };
        [if self.first == 0 { 0.0 } else { self.edge.share(self.first) }, to]
    }

    /// The edge's ends to which it goes.
    fn corners(&self) -> [Option<[i32; 3]>; 2] {
        [0, 1].map(|i| self.ends[i].then_some(self.edge.ends[i]))
    }

    /// Through its middle, from corner to corner if it goes so far, and to the next place if it is cut off.
    fn way(&self) -> Vec<[f64; 2]> {
        let middles: Vec<[f64; 2]> = self.met.iter().map(|m| [m.at[0], m.at[1]]).collect();
        let ([a, b], apart) = (self.edge.plan, 1.0 / (self.edge.count() - 1) as f64);
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
        let ([from, to], apart) = (self.shares(), 1.0 / (self.edge.count() - 1) as f64);
        (from - apart..=to + apart).contains(&share)
    }
}

impl Edge {
    /// How many places are asked about.
    fn count(&self) -> usize {
        ((span(self.plan) / APART).ceil() as usize).clamp(PLACES[0], PLACES[1])
    }

    /// The share of its length at which a place lies.
    fn share(&self, number: usize) -> f64 {
        END + (1.0 - 2.0 * END) * number as f64 / (self.count() - 1) as f64
    }

    /// Places at which a gap may be. `facing` is where ground can begin again, as [`Edge::seen`] has it, if that is known.
    fn places(&self, facing: Option<&[[[f64; 2]; 2]]>, widest: f64, hair: f64) -> Vec<Place> {
        let length = span(self.plan);
        let nearest = |number: usize| facing.map_or(0.0, |all| first(all, self.share(number) * length, hair));
        let all = (0..self.count()).map(|number| Place { number, nearest: nearest(number) });
        all.filter(|place| place.nearest <= widest).collect()
    }

    /// The gaps at some places of the edge; `most` says how wide a gap may be at a place.
    fn beside(
        &self,
        t: &Terrain,
        heights: [f64; 2],
        places: &[Place],
        most: impl Fn([f64; 2]) -> Option<f64>,
    ) -> Vec<Run<'_>> {
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        // the height of ground beside a place of the edge, if there is ground near a height
        let ground = |[x, y, _]: [f64; 3], by: f64, z: f64| {
            let (top, low) = ((z + REACH + by).min(heights[1]), (z - REACH - by).max(heights[0]));
            let from = [x + self.away[0] * by, y + self.away[1] * by, top];
            let answer = (top >= low).then(|| t.segment_m(from, top - low)).filter(|a| a.found())?;
            Some(t.z_f64(&answer.hit))
        };
        let off = |p: [f64; 3], by: f64| [p[0] + self.away[0] * by, p[1] + self.away[1] * by];
        // how far there is no ground from a place on along the edge, or back, up to a length
        let free = |[x, y, z]: [f64; 3], way: f64, most: f64| {
            let bare = |by: f64| {
                let (top, low) = ((z + REACH + most).min(heights[1]), (z - REACH - most).max(heights[0]));
                let from = [x - self.away[1] * way * by, y + self.away[0] * way * by, top];
                top < low || !t.segment_m(from, top - low).found()
            };
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
        };
        let met = |place: &Place| {
            let (p, nearest) = (self.on(self.share(place.number)), place.nearest);
            let most = most(off(p, hair)).filter(|most| nearest <= *most)?;
            let at = |by: f64| ground(p, by, p[2]);
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
            while far - bare > hair / 16.0 {
                let half = (bare + far) / 2.0;
                match at(half) {
                    Some(found) => (far, z) = (half, found),
                    None => bare = half,
                }
            }
            // ground that comes near from above or below has no end there
            if bare > most || ground(p, bare, z).is_some() {
                return None;
            }
            let ([x, y], [far_x, far_y]) = (off(p, bare / 2.0), off(p, far));
            let at = [x, y, (p[2] + z) / 2.0];
            Some(Met {
                at,
                // along the edge nothing is known where lower ground is met half way
                width: Some(free(at, 1.0, bare) + free(at, -1.0, bare))
                    .filter(|w| *w > 0.0)
                    .map_or(bare, |w| w.min(bare)),
                room: 0.0,
                near: [p[0], p[1]],
                far: [far_x, far_y, z],
            })
        };
        let mut runs: Vec<Run> = Vec::new();
        for (number, m) in places.iter().filter_map(|place| Some((place.number, met(place)?))) {
            match runs.last_mut() {
                Some(run) if run.first + run.met.len() == number => run.met.push(m),
                _ => runs.push(Run {
                    edge: self,
                    first: number,
                    ends: [false; 2],
                    widens: false,
                    wider: false,
                    cut: [false; 2],
                    met: vec![m],
                }),
            }
        }
        let (length, count) = (span(self.plan), self.count());
        let bare = |number: usize| {
            let p = self.on(self.share(number));
            most(off(p, hair)).is_some() && ground(p, hair, p[2]).is_none()
        };
        let wider = |number: usize| {
            let p = self.on(self.share(number));
            let most = most(off(p, hair)).unwrap_or(0.0);
            let [x, y] = off(p, most / 2.0);
            [2.0, 4.0].iter().any(|times| ground(p, times * most, p[2]).is_some())
                && free([x, y, p[2]], 1.0, most) + free([x, y, p[2]], -1.0, most) >= most
        };
        for run in &mut runs {
            let next = run.first + run.met.len();
            let widens = [run.first > 0 && bare(run.first - 1), next < count && bare(next)];
            let unseen = |number: usize| most(off(self.on(self.share(number)), hair)).is_none();
            run.cut = [run.first > 0 && unseen(run.first - 1), next < count && unseen(next)];
            run.widens = widens.contains(&true);
            run.wider = (widens[0] && wider(run.first - 1)) || (widens[1] && wider(next));
            run.ends = [run.first <= 1 && !widens[0], next + 1 >= count && !widens[1]];
            let [from, to] = run.shares();
            for (number, m) in (run.first..).zip(&mut run.met) {
                let share = self.share(number);
                m.room = m.width.min(2.0 * length * (share - from).min(to - share));
            }
        }
        runs
    }
}

/// Sets of numbers: each names another one of its set, or itself.
pub struct Sets(Vec<usize>);

impl Sets {
    /// Each of so many by itself.
    pub fn of(count: usize) -> Self {
        Sets((0..count).collect())
    }

    pub fn head(&mut self, mut i: usize) -> usize {
        while self.0[i] != i {
            self.0[i] = self.0[self.0[i]];
            i = self.0[i];
        }
        i
    }

    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.head(a), self.head(b));
        self.0[a.max(b)] = a.min(b);
    }
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
                let edges = border.open.iter().chain(&border.folds).collect();
                let lips = Lips::new(edges, [2.0 * most + 8.0 * hair, 2.0 * (most + 2.0 * REACH)]);
                for e in border.open.iter().step_by(1 + border.open.len() / 2000) {
                    let known = lips.facing(e, most, hair);
                    let [known, asked] = [known.as_deref(), None].map(|facing| {
                        let places = e.places(facing, most, hair);
                        e.beside(&t, [-1e9, 1e9], &places, |_| Some(most))
                    });
                    let met = |runs: &[Run]| -> Vec<_> {
                        runs.iter().flat_map(|run| &run.met).map(|m| (m.at, m.width, m.far)).collect()
                    };
                    // beyond a sheet that comes near from above or below, and has no edge there, more may be found
                    let known = met(&known);
                    assert!(met(&asked).iter().all(|m| known.contains(m)), "{:?}", e.plan);
                    all += asked.iter().map(|run| run.met.len()).sum::<usize>();
                }
            }
        }
        assert!(all > 1000, "{all}");
    }
}
