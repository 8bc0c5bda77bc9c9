//! A walk along open edges: the places at which the kernel is asked what lies beside them, and what is met there put together.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::util::disjoint_set::DisjointSet;
use crate::util::text::{counted, grouped};
use hardpan::{Answer, Terrain};
use rayon::prelude::*;

use super::{
    border::{Border, Edge, Lips, first, span},
    gaps::REACH,
};

/// All heights.
pub const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Metres that places of an edge are apart, and the most of them; what is left out at either end, of its length.
const APART: f64 = 0.5;
const MOST: usize = 1 << 14;
const END: f64 = 1.0 / 512.0;
/// Tests for one query at each place of the edges, about, beyond which nothing is looked for, and edges by which that is known.
const MOST_WORK: u64 = 250_000_000;
const SAMPLES: usize = 1000;
/// What a query takes in narrow tests of triangles: by itself, for each line that it reads, and for a wide test.
const QUERY: u64 = 8;
const LINE: u64 = 4;
const WIDE: u64 = 8;
/// The golden section: multiples of it are spread evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// The places of an edge that are asked about.
#[derive(Clone, Copy)]
pub struct Places {
    pub count: usize,
}

impl Places {
    /// Those of an edge, so many at least: two or more.
    pub fn of(edge: &Edge, fewest: usize) -> Self {
        Places { count: ((span(edge.plan) / APART).ceil() as usize).clamp(fewest, MOST) }
    }

    /// The share of the edge's length at which one lies.
    pub fn share(&self, number: usize) -> f64 {
        END + (1.0 - 2.0 * END) * number as f64 / (self.count - 1) as f64
    }
}

/// Open edges to walk along.
pub struct Walk<'a> {
    pub t: &'a Terrain<'a>,
    /// Only ground at these counts, metres.
    pub heights: [f64; 2],
    /// A step of the lattice, metres.
    pub hair: f64,
    pub ways: Vec<Way<'a>>,
    /// Work that was done so far, in tests of triangles, and the most of it.
    done: AtomicU64,
    most: u64,
}

/// One edge.
pub struct Way<'a> {
    pub edge: &'a Edge,
    /// What of other edges lies beside it, as it sees them; none if that is not known.
    facing: Option<Vec<[[f64; 2]; 2]>>,
    hair: f64,
}

impl Way<'_> {
    /// The same, of which nothing is known.
    #[cfg(test)]
    pub fn unknown(&self) -> Self {
        Way { facing: None, ..*self }
    }

    /// How far away from a place, at a share of its length, the next edge is at least, metres: ground begins no nearer. Zero where
    /// that is not known, infinite if it is farther than what is looked for.
    pub fn nearest(&self, share: f64) -> f64 {
        let place = share * span(self.edge.plan);
        self.facing.as_ref().map_or(0.0, |facing| first(facing, place, self.hair))
    }

    /// Whether it is known that no edge is near the places that are so far beside it, and no farther than `most` along it from a
    /// share of its length.
    pub fn clear(&self, share: f64, by: f64, most: f64) -> bool {
        let (length, more) = (span(self.edge.plan), most + 2.0 * self.hair);
        let place = share * length;
        let misses = |[a, b]: &[[f64; 2]; 2]| {
            let away = |i: usize, at: f64, more: f64| a[i].max(b[i]) < at - more || a[i].min(b[i]) > at + more;
            away(0, by, 2.0 * self.hair) || away(1, place, more)
        };
        place >= more && place + more <= length && self.facing.as_ref().is_some_and(|all| all.iter().all(misses))
    }
}

impl<'a> Walk<'a> {
    /// Nothing is looked for that is farther away from an edge than `widest`, in metres.
    pub fn new(t: &'a Terrain<'a>, border: &Border, edges: &[&'a Edge], heights: [f64; 2], widest: f64) -> Self {
        Self::within(t, border, edges, heights, widest, u64::MAX)
    }

    /// With so much work at most, all of it in tests of triangles: see [`Walk::over`].
    pub fn within(
        t: &'a Terrain<'a>,
        border: &Border,
        edges: &[&'a Edge],
        heights: [f64; 2],
        widest: f64,
        most: u64,
    ) -> Self {
        let hair = f64::exp2(f64::from(t.header().xy_log2));
        // fields of heights end at no edge: beside them all is asked for
        let ends = (t.header().patch_blocks == 0).then(|| {
            let all = border.open.iter().chain(&border.folds).collect();
            Lips::new(all, [2.0 * widest + 8.0 * hair, 2.0 * (widest + 2.0 * REACH)], 1.0)
        });
        let mut walk = Walk { t, heights, hair, ways: Vec::new(), done: AtomicU64::new(0), most };
        let way = |edge: &&'a Edge| {
            let facing = ends.as_ref().filter(|_| !walk.over()).and_then(|ends| {
                let (facing, looked) = ends.facing(edge, widest, hair);
                walk.add(looked);
                facing
            });
            Way { edge, facing, hair }
        };
        walk.ways = edges.par_iter().map(way).collect();
        if walk.over() {
            // which of them were looked at hangs on the order of the work
            walk.ways.iter_mut().for_each(|way| way.facing = None);
        }
        walk
    }

    /// About the work of a query at a place. Of its tests as large a share is taken to be wide as where most are made.
    pub fn query(&self, place: [f64; 3]) -> u64 {
        let cost = self.t.closest_costed(place).1;
        let [tests, lines, all] = [cost.tests, cost.lines, self.t.bound().tests.max(1)].map(u64::from);
        QUERY + tests + (WIDE - 1) * tests * u64::from(self.t.header().wide_tests) / all + LINE * lines
    }

    /// Counts work.
    pub fn add(&self, work: u64) {
        self.done.fetch_add(work, Relaxed);
    }

    /// Whether there was more work than there may be: then what was found counts for nothing. That does not hang on the order of the work.
    pub fn over(&self) -> bool {
        self.done.load(Relaxed) > self.most
    }

    /// About how many triangles queries test at the places, so many of an edge at least, known from queries at a few of the edges; the
    /// edge of those that takes the most of it, and how many edges there are. With `met` only places that have others beside them count.
    pub fn work(&self, fewest: usize, met: bool) -> (u64, Option<&'a Edge>, u64) {
        let asked = |way: &Way<'a>| {
            let places = Places::of(way.edge, fewest);
            let counts = |number: &usize| !met || way.nearest(places.share(*number)).is_finite();
            (way.edge, (0..places.count).filter(counts).count() as u64)
        };
        let asked: Vec<(&Edge, u64)> = self.ways.par_iter().map(asked).filter(|(_, places)| *places > 0).collect();
        let tests = |(edge, places): &(&'a Edge, u64)| {
            let [x, y, z] = edge.on(0.5);
            (u64::from(self.t.closest_costed([x, y, z + REACH]).1.tests) * places, *edge)
        };
        // spread so that no order of the edges makes those of one kind of it
        let spread = |k: usize| &asked[((k as f64 * GOLDEN).fract() * asked.len() as f64) as usize];
        let tested: Vec<(u64, &Edge)> = match asked.len() <= SAMPLES {
            true => asked.iter().map(tests).collect(),
            false => (0..SAMPLES).map(spread).map(tests).collect(),
        };
        let sum: u64 = tested.iter().map(|(tests, _)| tests).sum();
        let work = sum / (tested.len() as u64).max(1) * asked.len() as u64;
        (work, tested.into_iter().max_by_key(|(tests, _)| *tests).map(|(_, edge)| edge), asked.len() as u64)
    }

    /// Nothing, unless triangles lie so crowded beside edges that it would take too long to look for gaps or what else there: then why,
    /// and what to do.
    pub fn crowded(&self, what: &str, fewest: usize, met: bool) -> Option<String> {
        let (work, most, edges) = self.work(fewest, met);
        let [x, y, _] = most.filter(|_| work > MOST_WORK)?.on(0.5);
        let (edges, work, limit) = (counted(edges, "open edge"), grouped(work), grouped(MOST_WORK));
        Some(format!(
            "beside {edges} triangles lie so crowded that looking for {what} there would take {work} tests, most of them near ({x:.3}, {y:.3}), and {limit} are the most; clean the mesh there, or build it in parts"
        ))
    }

    /// The first ground going down, from one height to another, so far beside a place of an edge and along it.
    pub fn ground(&self, edge: &Edge, [x, y]: [f64; 2], [by, along]: [f64; 2], [low, top]: [f64; 2]) -> Option<Answer> {
        let ([ax, ay], top, low) = (edge.away, top.min(self.heights[1]), low.max(self.heights[0]));
        let from = [x + ax * by - ay * along, y + ay * by + ax * along, top];
        (top >= low).then(|| self.t.segment_m(from, top - low)).filter(Answer::found)
    }
}

/// Two of some places that are as far apart as any, about: that farthest from the first, and that farthest from it.
pub fn ends(places: impl Iterator<Item = [f64; 2]> + Clone) -> Option<[[f64; 2]; 2]> {
    let farthest = |from: [f64; 2]| places.clone().max_by(|a, b| span([from, *a]).total_cmp(&span([from, *b])));
    let end = farthest(places.clone().next()?)?;
    Some([end, farthest(end)?])
}

/// Of places along something, and how much of it there is at each, that nearest to the middle of those at which there is as much as
/// anywhere, but for a hundredth or for `slack`.
pub fn middle<T>(all: &[T], slack: f64, at: impl Fn(&T) -> [f64; 2], much: impl Fn(&T) -> f64) -> Option<&T> {
    let most = all.iter().map(&much).fold(0.0, f64::max);
    let alike = || all.iter().filter(|one| much(one) >= most - slack.max(most / 100.0));
    let [a, b] = ends(alike().map(&at))?;
    let middle = [0, 1].map(|i| (a[i] + b[i]) / 2.0);
    let off = |one: &T| span([middle, at(one)]);
    alike().min_by(|a, b| off(a).total_cmp(&off(b)))
}

/// Places in plan, in squares of which there are about as many.
pub struct Spread {
    low: [f64; 2],
    side: f64,
    /// Squares in x and in y.
    count: [usize; 2],
    /// Numbers of the places by square, row by row, and where in there each square begins.
    order: Vec<usize>,
    begins: Vec<usize>,
}

impl Spread {
    /// Of places in metres.
    pub fn new(places: &[[f64; 2]]) -> Self {
        let end = |i: usize, pick: fn(f64, f64) -> f64| places.iter().map(|p| p[i]).reduce(pick).unwrap_or(0.0);
        let low = [0, 1].map(|i| end(i, f64::min));
        let [wide, deep] = [0, 1].map(|i| end(i, f64::max) - low[i]);
        let many = places.len().max(1) as f64;
        let side = (wide * deep / many).sqrt().max(wide.max(deep) / many).max(f64::MIN_POSITIVE);
        let count = [wide, deep].map(|v| (v / side) as usize + 1);
        let mut spread = Spread { low, side, count, order: Vec::new(), begins: Vec::new() };
        let square = |p: &[f64; 2]| spread.along(1, p[1]) * count[0] + spread.along(0, p[0]);
        let mut keyed: Vec<(usize, usize)> = places.iter().map(square).zip(0..).collect();
        keyed.sort_unstable();
        let mut begins = vec![0; count[0] * count[1] + 1];
        keyed.iter().for_each(|(square, _)| begins[square + 1] += 1);
        (1..begins.len()).for_each(|i| begins[i] += begins[i - 1]);
        (spread.order, spread.begins) = (keyed.into_iter().map(|(_, number)| number).collect(), begins);
        spread
    }

    /// The square in which something lies along x or y, the first or the last if it is none.
    fn along(&self, axis: usize, v: f64) -> usize {
        (((v - self.low[axis]) / self.side) as usize).min(self.count[axis] - 1)
    }

    /// Numbers of the places in a rectangle, and of others beside it.
    pub fn near(&self, low: [f64; 2], high: [f64; 2]) -> impl Iterator<Item = usize> {
        let [x, y] = [0, 1].map(|i| [self.along(i, low[i]), self.along(i, high[i])]);
        let row = move |row: usize| {
            let from = row * self.count[0];
            &self.order[self.begins[from + x[0]]..self.begins[from + x[1] + 1]]
        };
        (y[0]..=y[1]).flat_map(row).copied()
    }
}

/// Runs along edges, by the corners to which they go: those that meet in one hang together. And the runs that lead back to where
/// others of their part began.
pub fn linked(corners: impl ExactSizeIterator<Item = [Option<[i32; 3]>; 2]>) -> (DisjointSet, Vec<u32>) {
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
