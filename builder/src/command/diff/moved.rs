//! Whether one image is the other one moved, or in another unit, or raised by one height.

use hardpan::Terrain;
use serde::Serialize;

use super::{
    super::{Done, decimal, query::room},
    facts::Materials,
    ground::{Ground, Largest, ground},
    pairs::{Both, Kind, Pair},
    places::{Place, Role, middle, plan},
    verdict::short,
};

/// So many times the coordinates of the first image, and so much farther.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Move {
    pub times: f64,
    pub by: [f64; 3],
}

/// Where nearly all of the first image lies in the second.
#[derive(Debug, PartialEq, Serialize)]
pub struct Moved {
    #[serde(flatten)]
    pub to: Move,
    /// How much of the ground that either has lies there.
    pub share: f64,
    /// What else is other.
    pub also: Vec<String>,
}

/// One height by which ground changed nearly wherever it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Raised {
    /// Metres; below zero it is lowered.
    pub by: f64,
    /// How much of the ground that either has did.
    pub share: f64,
    /// What else is other.
    pub also: Vec<String>,
    /// Whether some ground is as high as it was.
    #[serde(skip)]
    unchanged: bool,
}

/// Heights of which most that changed did so by no more than rounding to single precision does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rounded {
    /// Metres, up or down.
    pub by: f64,
    /// A tolerance that passes over them, metres.
    pub tolerance: f64,
    /// How much of the ground that either has they are.
    pub share: f64,
    /// What else is other.
    pub also: Vec<String>,
}

/// Changes of height of ground that both images have, metres.
#[derive(Clone, Debug, Default)]
pub struct Rises {
    /// Over the squares, or over one of so many: not along edges.
    changes: Vec<f64>,
    /// How much of one image alone is over those.
    alone: u64,
    /// Whether ground over any square, vertex or middle of a triangle is as high as it was.
    unchanged: bool,
    /// The least and the greatest that are more than an edge, and of all.
    wide: Option<[f64; 2]>,
    all: Option<[Largest; 2]>,
}

/// Units that are taken for metres or for each other, and what they are.
const UNITS: [(f64, &str); 9] = [
    (1000.0, "a slip between kilometres and metres, or metres and millimetres?"),
    (100.0, "a slip between metres and centimetres?"),
    (10.0, "a slip between centimetres and millimetres?"),
    (0.3048, "a slip between metres and feet?"),
    (1200.0 / 3937.0, "a slip between metres and US survey feet?"),
    (1200.0 / 3937.0 / 0.3048, "a slip between feet and US survey feet?"),
    (0.0254, "a slip between metres and inches?"),
    (0.9144, "a slip between metres and yards?"),
    (1609.344, "a slip between metres and miles?"),
];

/// Lattice steps by which places of the same ground may differ.
const STEPS: f64 = 2.0;
/// Triangles that are looked at before all is, how much of their ground must lie where it is said, and how many heights there must be.
const LOOKS: usize = 2000;
const HALF: f64 = 0.5;
const FEW: usize = 20;
/// How much must be moved or raised by the same to be told: of all ground, and of the heights that changed.
const MOST: f64 = 0.9;
/// How far heights may differ that are raised by the same: so much of it, metres at most, but lattice steps at least.
const NEAR: (f64, f64, f64) = (0.1, 0.001, 2.0);

impl Default for Move {
    fn default() -> Self {
        Move { times: 1.0, by: [0.0; 3] }
    }
}

impl Move {
    pub fn there(&self, p: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| self.times * p[i] + self.by[i])
    }

    pub fn back(&self, p: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| (p[i] - self.by[i]) / self.times)
    }

    /// Whether half the ground of the middles of some triangles lies there, or so little beside it.
    fn holds(&self, [a, b]: [&Terrain; 2], [beside, above]: [f64; 2]) -> bool {
        let triangles = plan(a);
        let [mut hits, mut others] = [a, b].map(room);
        let (mut all, mut right) = (0, 0);
        for corners in triangles.iter().step_by(triangles.len().div_ceil(LOOKS).max(1)) {
            let [x, y] = middle(corners);
            let from = a.layers([x, y, 0.0], &mut hits).written;
            let to = b.layers(self.there([x, y, 0.0]), &mut others).written;
            for hit in &hits[..from] {
                let z = self.times * a.z_f64(hit) + self.by[2];
                let [sx, sy] = a.slope_f64(hit);
                let slack = above + beside * (sx.abs() + sy.abs());
                all += 1;
                right += usize::from(others[..to].iter().any(|other| (b.z_f64(other) - z).abs() <= slack));
            }
        }
        all >= FEW && right as f64 >= HALF * all as f64
    }
}

impl Moved {
    /// If extents differ so, and nearly all ground too.
    pub fn of(both: &Both, materials: &Materials, pitch: Option<f64>) -> Done<Option<Self>> {
        let [a, b] = both.images;
        let steps = |t: &Terrain| {
            [t.header().xy_log2, t.header().xy_log2, t.header().z_log2].map(|log2| f64::exp2(log2.into()))
        };
        let ([low, high], [to_low, to_high]) = (a.bounds(), b.bounds());
        let (size, to_size) = ([0, 1, 2].map(|i| high[i] - low[i]), [0, 1, 2].map(|i| to_high[i] - to_low[i]));
        let off = |times: f64, i: usize| STEPS * (times * steps(a)[i] + steps(b)[i]);
        let fits = |m: &Move, part: f64| {
            let ends = [(m.there(low), to_low), (m.there(high), to_high)];
            ends.iter().all(|(there, to)| (0..3).all(|i| (to[i] - there[i]).abs() <= part * off(m.times, i)))
        };
        // straight up only is a height that changed
        let elsewhere = |m: &Move| {
            let there = [low, high].map(|p| (p, m.there(p)));
            there.iter().any(|(from, to)| (0..2).any(|i| (to[i] - from[i]).abs() > off(m.times, i)))
        };
        let longest = if size[0] >= size[1] { 0 } else { 1 };
        let units = UNITS.iter().flat_map(|(unit, _)| [*unit, 1.0 / unit]);
        let larger = |times: f64| Move { times, by: [0.0; 3] };
        let along = Move { times: 1.0, by: [0, 1, 2].map(|i| ((to_low[i] - low[i]) + (to_high[i] - high[i])) / 2.0) };
        // a unit tells more than a way does, and one from which only rounding differs more than another
        let told = |m: &Move, part: f64| m.times.is_finite() && m.times > 0.0 && fits(m, part) && elsewhere(m);
        let exact = units.clone().map(larger).find(|m| told(m, 0.5 / STEPS));
        let mut all = units.map(larger).chain([along, larger(to_size[longest] / size[longest])]);
        let Some(moved) = exact.or_else(|| all.find(|m| told(m, 1.0))) else { return Ok(None) };
        let times = moved.times;
        let off = [off(times, 0), off(times, 2)];
        if !moved.holds([a, b], off) {
            return Ok(None);
        }
        let [beside, above] = off.map(|v| v / times);
        let both = both.moved(moved, both.tolerance.max(above), beside);
        let left = ground(&both, pitch, None)?;
        let share = 1.0 - (left.changed.area + left.lost.area + left.gained.area) / left.area;
        let mut space = both.space();
        let heights = left.changed.wide() || left.largest.is_some_and(|l| both.reaches(l.at, false, &mut space));
        let mut also: Vec<String> = if heights { vec!["other heights".into()] } else { Vec::new() };
        also.extend(others(&left, materials));
        Ok((share >= MOST).then_some(Moved { to: moved, share, also }))
    }

    /// `all is moved by 0.002,0.001,0 m`.
    pub fn said(&self) -> String {
        let Move { times, by } = self.to;
        let (how, slip) = if times == 1.0 {
            let [x, y, z] = by.map(short);
            (format!("moved by {x},{y},{z} m"), String::new())
        } else {
            let near = |unit: f64| (times / unit - 1.0).abs() < 1e-12;
            let unit = UNITS.iter().find(|(unit, _)| near(*unit) || near(1.0 / unit));
            let times = decimal(format!("{times:.6e}").parse().unwrap_or(times));
            (format!("{times} times as large"), unit.map_or(String::new(), |(_, slip)| format!(", {slip}")))
        };
        match self.also[..] {
            [] => format!("all is {how}{slip}"),
            _ => format!("{how}{}{slip}; also: {}", on(self.share), self.also.join(", ")),
        }
    }
}

/// What is other on the ground beside heights.
fn others(ground: &Ground, materials: &Materials) -> impl Iterator<Item = String> {
    let painted = ground.materials.iter().any(|m| m.count.wide()) || ground.mu_higher.wide() || ground.mu_lower.wide();
    let all = [
        (ground.lost.wide(), "ground lost"),
        (ground.gained.wide(), "ground gained"),
        (painted || !materials.same(), "other materials"),
    ];
    all.into_iter().filter(|(there, _)| *there).map(|(_, what)| what.into())
}

/// ` on 96.4 % of the ground`, never more than it is.
fn on(share: f64) -> String {
    match (share * 1000.0).floor() {
        0.0 => " on less than 0.1 % of the ground".into(),
        part => format!(" on {:.1} % of the ground", part.min(999.0) / 10.0),
    }
}

impl Rises {
    /// Takes in what lies over a place; its changes are kept only if so said.
    pub fn look(&mut self, here: &[Pair], place: Place, keep: bool) {
        let square = matches!(place.role, Role::Square(_));
        for pair in here {
            let [from, to] = pair.z;
            let change = to - from;
            if !pair.is_both() {
                self.alone += u64::from(square && keep && (pair.wide.has(Kind::Lost) || pair.wide.has(Kind::Gained)));
                continue;
            }
            let one = Largest { at: place.at, from, to };
            self.add(None, Some([one; 2]));
            let same = !pair.kinds.has(Kind::Height);
            self.unchanged |= same && (square || place.role == Role::Mark);
            if square && (same || pair.wide.has(Kind::Height)) {
                self.add((!same).then_some([change; 2]), None);
                self.changes.extend(keep.then_some(change));
            }
        }
    }

    fn add(&mut self, wide: Option<[f64; 2]>, all: Option<[Largest; 2]>) {
        let change = |l: &Largest| l.to - l.from;
        self.wide = match (self.wide, wide) {
            (Some([low, high]), Some([l, h])) => Some([low.min(l), high.max(h)]),
            (one, other) => one.or(other),
        };
        self.all = match (self.all, all) {
            (Some([low, high]), Some([l, h])) => Some([
                if change(&l) < change(&low) { l } else { low },
                if change(&h) > change(&high) { h } else { high },
            ]),
            (one, other) => one.or(other),
        };
    }

    pub fn join(&mut self, later: Rises) {
        self.changes.extend(later.changes);
        self.alone += later.alone;
        self.unchanged |= later.unchanged;
        self.add(later.wide, later.all);
    }

    /// All that count, unless they are too few.
    fn changed(&self, tolerance: f64) -> Option<Vec<f64>> {
        let changed: Vec<f64> = self.changes.iter().copied().filter(|rise| rise.abs() > tolerance).collect();
        (changed.len() >= FEW).then_some(changed)
    }

    /// How much of the ground so many of the changes are.
    fn share(&self, changes: usize) -> f64 {
        changes as f64 / (self.changes.len() as u64 + self.alone) as f64
    }

    /// The most that heights were rounded, if half of those that changed were, and how much of the ground they are.
    fn rounded(&self, tolerance: f64, step: f64) -> Option<[f64; 2]> {
        let changed = self.changed(tolerance)?;
        let sizes = changed.iter().map(|rise| rise.abs()).filter(|size| *size <= NEAR.2 * step);
        let (count, most) = sizes.fold((0, 0.0f64), |(n, most), size| (n + 1, most.max(size)));
        (count as f64 >= HALF * changed.len() as f64).then(|| [most, self.share(count)])
    }

    /// By how much nearly all heights rose that did, about how far from it others may be, and how much of the ground it is.
    fn one(&self, tolerance: f64, step: f64) -> Option<[f64; 3]> {
        let mut changed = self.changed(tolerance)?;
        let half = changed.len() / 2;
        let by = *changed.select_nth_unstable_by(half, f64::total_cmp).1;
        let near = (NEAR.0 * by.abs()).min(NEAR.1).max(NEAR.2 * step);
        let right = changed.iter().filter(|rise| (*rise - by).abs() <= near).count();
        let other = changed.len() as u64 + self.alone;
        // less may be what rounding makes of ground
        let told = by.abs() > 3.0 * step && right as f64 >= MOST * changed.len() as f64 && 3 * right as u64 >= other;
        told.then(|| [by, near, self.share(right)])
    }
}

impl Raised {
    /// If nearly all heights that changed did so by the same, on no less than a third of all ground that is other.
    pub fn of(ground: &Ground, both: &Both, materials: &Materials) -> Option<Self> {
        let rises = &ground.rises;
        let [by, near, share] = rises.one(ground.tolerance, step(both))?;
        let also = beyond(ground, both, materials, [by, near]);
        Some(Raised { by, share, also, unchanged: rises.unchanged })
    }

    /// `raised by 0.020 m everywhere`.
    pub fn said(&self) -> String {
        let (way, size) = (way(self.by), self.by.abs());
        let by = if size < 0.01 { format!("{size:.6}") } else { format!("{size:.3}") };
        match (&self.also[..], self.unchanged) {
            ([], false) => format!("{way} by {by} m everywhere"),
            ([], true) => format!("{way} by {by} m{}, unchanged elsewhere", on(self.share)),
            (also, _) => format!("{way} by {by} m{}; also: {}", on(self.share), also.join(", ")),
        }
    }
}

impl Rounded {
    /// If half the heights that changed did so by a step or two of the lattice, and the ground was not shifted in plan, which on gentle slopes
    /// does that too.
    pub fn of(ground: &Ground, both: &Both, materials: &Materials) -> Option<Self> {
        let step = step(both);
        let [[a_low, a_high], [b_low, b_high]] = both.images.map(|t| t.bounds());
        let hair = both.images.map(|t| f64::exp2(f64::from(t.header().xy_log2))).into_iter().fold(0.0, f64::max);
        let shifted = |k: usize| {
            let [low, high] = [b_low[k] - a_low[k], b_high[k] - a_high[k]];
            low.abs() >= 2.0 * hair && (low - high).abs() <= hair
        };
        if shifted(0) || shifted(1) {
            return None;
        }
        let [by, share] = ground.rises.rounded(ground.tolerance, step)?;
        let tolerance = format!("1e{}", (NEAR.2 * step).log10().ceil()).parse().ok()?;
        Some(Rounded { by, tolerance, share, also: beyond(ground, both, materials, [0.0, NEAR.2 * step]) })
    }

    /// `heights other by up to 0.000015 m on 90.2 % of the ground, as rounded to single precision: ...`.
    pub fn said(&self) -> String {
        let also = if self.also.is_empty() { String::new() } else { format!("; also: {}", self.also.join(", ")) };
        format!(
            "heights other by up to {:.6} m{}, as a program of single precision may round them (--tolerance {} passes over that){also}",
            self.by,
            on(self.share),
            decimal(self.tolerance)
        )
    }
}

/// The coarser lattice step of height.
fn step(both: &Both) -> f64 {
    both.images.map(|t| f64::exp2(t.header().z_log2.into())).into_iter().fold(0.0, f64::max)
}

/// What is other but heights that changed by so much, or nearly.
fn beyond(ground: &Ground, both: &Both, materials: &Materials, [by, near]: [f64; 2]) -> Vec<String> {
    let rises = &ground.rises;
    let both = both.moved(Move { times: 1.0, by: [0.0, 0.0, by] }, near, 0.0);
    let mut space = both.space();
    // an edge may have any change where it was not moved straight up
    let other = |change: f64| change.abs() > ground.tolerance && (change - by).abs() > near;
    let ends = [0, 1].map(|i| {
        let wide = rises.wide.map(|wide| wide[i]).filter(|change| other(*change));
        let any = rises.all.map(|all| all[i]).filter(|l| other(l.to - l.from));
        let any = any.filter(|l| both.reaches(l.at, false, &mut space)).map(|l| l.to - l.from);
        any.or(wide)
    });
    let mut also: Vec<String> = ends.into_iter().flatten().map(|change| raised(change, by)).collect();
    also.dedup();
    also.extend(others(ground, materials));
    also
}

fn way(by: f64) -> &'static str {
    if by > 0.0 { "raised" } else { "lowered" }
}

/// Another change of height, where most is so much.
fn raised(change: f64, by: f64) -> String {
    match change * by > 0.0 && change.abs() < by.abs() {
        true => format!("{} by less", way(by)),
        false => format!("{} by up to {} m", way(change), short(change.abs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_height_is_a_rise() {
        let step = 2f64.powi(-16);
        let one = |changes: Vec<f64>, alone| Rises { changes, alone, ..Rises::default() }.one(0.0, step);
        let [by, near, share] = one((0..1000).map(|i| 0.02 + f64::from(i % 3) * 1e-6).collect(), 0).unwrap();
        assert!((by - 0.02).abs() < 1e-5 && near == 0.001 && share == 1.0);
        let some: Vec<f64> = (0..1000).map(|i| if i % 4 == 0 { -0.0055 } else { 0.0 }).collect();
        assert_eq!(one(some.clone(), 0), Some([-0.0055, 0.00055, 0.25]));
        assert_eq!(one(some.clone(), 250), Some([-0.0055, 0.00055, 0.2]));
        // most is lost; a slope, rises and falls, rises that are only nearly the same, too few, rounding
        assert_eq!(one(some, 750), None);
        for rise in
            [|i| f64::from(i) * 1e-3, |i| if i % 2 == 0 { 0.02 } else { -0.02 }, |i| 0.019 + f64::from(i % 2) * 0.002]
        {
            assert_eq!(one((0..1000).map(rise).collect(), 0), None);
        }
        assert_eq!(one(vec![0.02; FEW - 1], 0), None);
        assert_eq!(one(vec![2.0 * step; 1000], 0), None);
    }

    #[test]
    fn steps_of_the_lattice_are_rounding() {
        let step = 2f64.powi(-16);
        let rounded = |changes: Vec<f64>| Rises { changes, ..Rises::default() }.rounded(0.0, step);
        let some = |each: usize, size: f64| (0..1000).map(|i| if i % each == 0 { size } else { 0.0 }).collect();
        assert_eq!(rounded(some(4, -step)), Some([step, 0.25]));
        assert_eq!(rounded(some(4, 3.0 * step)), None);
        assert_eq!(rounded(some(100, step)), None); // too few
        // more of it than what else changed
        let mixed = |edited: usize| (0..1000).map(|i| if i < edited { 0.5 } else { 2.0 * step }).collect();
        assert_eq!((rounded(mixed(400)), rounded(mixed(600))), (Some([2.0 * step, 0.6]), None));
    }

    #[test]
    fn shares_are_not_told_too_large() {
        let raised = |share, also: &[&str], unchanged| {
            Raised { by: 0.02, share, also: also.iter().map(|s| s.to_string()).collect(), unchanged }.said()
        };
        assert_eq!(raised(1.0, &[], false), "raised by 0.020 m everywhere");
        assert_eq!(
            raised(0.9999, &["ground lost"], false),
            "raised by 0.020 m on 99.9 % of the ground; also: ground lost"
        );
        assert_eq!(
            raised(0.0009, &[], true),
            "raised by 0.020 m on less than 0.1 % of the ground, unchanged elsewhere"
        );
    }
}
