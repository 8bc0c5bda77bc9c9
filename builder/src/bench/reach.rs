//! What rays and tyres cost, beside what the image states: places drawn by chance, and climbs to costlier ones.

use crate::image::decode;
use crate::util::dice::Dice;
use hardpan::format::RAY_METRES;
use hardpan::{Cost, Kinds, Lattice, Method, Pose, RayOptions, Terrain, Tyre, Wheel};
use std::cmp::Reverse;
use std::f64::consts::TAU;

/// Costliest columns of the ground, from which asks begin.
const COLUMNS: usize = 256;
/// Costliest asks of each kind from which a climb begins.
const CLIMBS: usize = 4;
/// A passenger tyre: radius and width in metres.
pub const PASSENGER: [f64; 2] = [0.3, 0.25];

/// What asks of one kind cost.
pub struct Reached {
    /// What was asked.
    pub name: String,
    /// How often.
    pub asked: u64,
    /// The most that is stated of it, if it is.
    pub stated: Option<Cost>,
    /// The greatest count of each kind.
    pub found: Cost,
    /// Where the ask with most tests begins.
    pub place: [f64; 3],
}

impl Reached {
    /// Whether it costs no more than is stated.
    pub fn holds(&self) -> bool {
        self.stated.is_none_or(|stated| counts(&self.found).iter().zip(counts(&stated)).all(|(f, s)| *f <= s))
    }
}

/// Nodes, leaves, tests, lines.
pub fn counts(c: &Cost) -> [u32; 4] {
    [c.nodes, c.leaves, c.tests, c.lines]
}

/// One ask: a place, a direction in plan, and how it is asked.
#[derive(Clone, Copy)]
struct Ask {
    at: [f64; 2],
    yaw: f64,
    way: usize,
}

/// Where asks begin.
struct Starts<'a, 't> {
    t: &'t Terrain<'a>,
    columns: Vec<decode::Column>,
    bounds: [[f64; 3]; 2],
}

impl<'a, 't> Starts<'a, 't> {
    fn new(t: &'t Terrain<'a>) -> Self {
        let mut columns = Vec::new();
        decode::tiles(t).for_each(|tile| tile.columns(|c| columns.push(c)));
        columns.sort_by_key(|c| (Reverse([c.cost.tests, c.cost.lines]), c.low));
        columns.truncate(COLUMNS);
        Starts { t, columns, bounds: t.bounds() }
    }

    fn draw(&self, dice: &mut Dice, ways: usize) -> Ask {
        let [low, high] = self.bounds;
        let at = match self.columns.get(dice.below(2 * self.columns.len().max(1))) {
            Some(column) => column.extent(self.t).map(|[from, to]| from + (to - from) * dice.unit()),
            None => [0, 1].map(|i| low[i] + (high[i] - low[i]) * dice.unit()),
        };
        Ask { at, yaw: TAU * dice.unit(), way: dice.below(ways) }
    }

    /// The ground at a place, or the middle of all heights.
    fn ground(&self, [x, y]: [f64; 2]) -> [f64; 3] {
        let middle = (self.bounds[0][2] + self.bounds[1][2]) / 2.0;
        let answer = self.t.closest([x, y, middle]);
        [x, y, if answer.found() { self.t.z_f64(&answer.hit) } else { middle }]
    }

    /// Asks so often, in so many ways; a step of a climb begins with this many metres.
    fn most(
        &self,
        asks: u64,
        ways: usize,
        first: f64,
        seed: u64,
        cost: impl Fn(&Ask) -> Cost,
    ) -> (Cost, [f64; 3], u64) {
        let (mut dice, mut found, mut best) = (Dice(seed), Cost::default(), ([0; 2], [0.0; 3]));
        let mut tops: [Vec<(u32, Ask)>; 4] = Default::default();
        let mut asked = 0;
        let mut see = |ask: &Ask, asked: &mut u64| {
            let c = cost(ask);
            *asked += 1;
            found = Cost {
                nodes: found.nodes.max(c.nodes),
                leaves: found.leaves.max(c.leaves),
                tests: found.tests.max(c.tests),
                lines: found.lines.max(c.lines),
            };
            if [c.tests, c.lines] > best.0 {
                best = ([c.tests, c.lines], self.ground(ask.at));
            }
            counts(&c)
        };
        for _ in 0..asks.div_ceil(2) {
            let ask = self.draw(&mut dice, ways);
            for (top, count) in tops.iter_mut().zip(see(&ask, &mut asked)) {
                if top.len() < CLIMBS || top.last().is_some_and(|last| last.0 < count) {
                    top.push((count, ask));
                    top.sort_by_key(|(count, _)| Reverse(*count));
                    top.truncate(CLIMBS);
                }
            }
        }
        let starts: Vec<(usize, (u32, Ask))> = tops
            .into_iter()
            .enumerate()
            .flat_map(|(kind, top)| top.into_iter().map(move |start| (kind, start)))
            .collect();
        let each = (asks / 2) / starts.len().max(1) as u64;
        for (kind, (mut most, mut ask)) in starts {
            let (end, mut step, mut idle) = (asked + each, 1.0, 0);
            while asked < end {
                let mut by = || (2.0 * dice.unit() - 1.0) * step;
                let [x, y] = ask.at.map(|v| v + by() * first);
                let next = Ask { at: [x, y], yaw: ask.yaw + by(), ..ask };
                let count = see(&next, &mut asked)[kind];
                idle = if count > most { 0 } else { idle + 1 };
                if count >= most {
                    (most, ask) = (count, next);
                }
                if idle > 40 {
                    (idle, step) = (0, if step < 1e-4 { 1.0 } else { step / 3.0 });
                }
            }
        }
        (found, best.1, asked)
    }
}

/// Rays of each stated length, over the ground and over all that the image holds.
pub fn rays(t: &Terrain, asks: u64, mut progress: impl FnMut(u64)) -> Vec<Reached> {
    let starts = Starts::new(t);
    let mut all = Vec::new();
    let each = asks.div_ceil(2 * RAY_METRES.len() as u64);
    for (kinds, of) in [(Kinds::GROUND, "ground"), (Kinds::STORED, "all kinds")] {
        for metres in RAY_METRES.map(f64::from) {
            let cost = |ask: &Ask| {
                let from = starts.ground(ask.at);
                let [x, y] = [from[0] + metres * ask.yaw.cos(), from[1] + metres * ask.yaw.sin()];
                // along the ground, through all that it meets or to the first; level; steep; upright
                let to = match ask.way {
                    0 | 1 => starts.ground([x, y]),
                    2 => [x, y, from[2]],
                    3 => [from[0] + 0.3 * (x - from[0]), from[1] + 0.3 * (y - from[1]), from[2] - metres],
                    _ => [from[0], from[1], from[2] - metres],
                };
                let after = (ask.way != 1).then_some(1.0);
                let options = RayOptions { kinds, after, ..RayOptions::default() };
                let way = [0, 1, 2].map(|i| to[i] - from[i]);
                // level and steep ones begin above the ground
                let from = if ask.way > 2 { [from[0], from[1], from[2] + metres / 2.0] } else { from };
                t.ray_from(from, way, metres).map_or(Cost::default(), |ray| t.raycast_costed(ray, &options).1)
            };
            let (found, place, asked) = starts.most(each, 5, metres, metres as u64, cost);
            let stated = if kinds == Kinds::GROUND { t.ground_ray_bound(metres) } else { t.ray_bound(metres) };
            all.push(Reached { name: format!("{metres} m, {of}"), asked, stated, found, place });
            progress(all.iter().map(|r| r.asked).sum());
        }
    }
    all
}

/// Contacts of a passenger tyre, by a point and by columns, upright and leaning.
pub fn tyres(t: &Terrain, asks: u64, mut progress: impl FnMut(u64)) -> Vec<Reached> {
    let starts = Starts::new(t);
    let [radius, width] = PASSENGER;
    let columns = [Lattice::Columns16, Lattice::Columns64, Lattice::Columns256].map(Method::Columns);
    let mut all: Vec<Reached> = Vec::new();
    for (method, name) in
        [Method::Points(&[])].into_iter().chain(columns).zip(["1 point", "16 columns", "64 columns", "256 columns"])
    {
        let tyre = Tyre { method, ..Tyre::new(radius, width) };
        let cost = |ask: &Ask| {
            let [x, y, z] = starts.ground(ask.at);
            let (s, c) = ask.yaw.sin_cos();
            let lean = [0.0, 0.2, -0.6][ask.way];
            let (up, aside) = (f64::cos(lean), f64::sin(lean));
            let axes = [[c, s, 0.0], [-s * up, c * up, aside], [s * aside, -c * aside, up]];
            t.contact(&tyre, &Wheel::at(Pose { centre: [x, y, z + 0.9 * radius], axes })).cost
        };
        let share = asks.div_ceil(4);
        let (found, place, asked) = starts.most(share, 3, 0.5, 7, cost);
        all.push(Reached { name: name.into(), asked, stated: t.contact_bound(&tyre), found, place });
        progress(all.iter().map(|r| r.asked).sum());
    }
    all
}
