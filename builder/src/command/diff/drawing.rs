//! The map of what differs between two images.

use std::{cmp::Ordering, collections::BTreeSet, sync::Mutex};

use hardpan::Terrain;
use serde_json::Value;

use super::{
    super::{counted, decimal},
    ground::Ground,
    pairs::{Both, Kind, Pair},
};
use crate::check::border::span;
use crate::draw::{
    canvas::Canvas,
    colour::{Colour, NOTHING, mix},
    fine,
    frame::{Drawn, Key, Sheet, frame},
    relief::{light, lit},
    scale::{Bar, LONG, Scale, apart, room},
    spots,
    view::View,
};
use crate::names::metres;

/// From lower over unchanged to higher: as light on either side, and told apart by the colour-blind.
pub const LOWER: Colour = [5, 72, 150];
pub const SAME: Colour = [242, 242, 242];
pub const HIGHER: Colour = [168, 72, 0];
pub const LOST: Colour = [44, 40, 48];
const GAINED: Colour = [240, 228, 66];
/// Both in one pixel.
const REPLACED: Colour = [144, 0, 240];
/// Friction where it changed most, lighter than heights.
const MU_HIGHER: Colour = [86, 200, 190];
const MU_LOWER: Colour = [214, 110, 172];
/// Other rolling resistance or gain, and another material where nothing else changed.
const REST: Colour = [236, 176, 120];
const OTHER: Colour = [196, 188, 224];
/// About what is small.
const RING: Colour = [213, 0, 50];
/// How strong the least change is drawn, of heights and of friction.
const LEAST: f64 = 0.2;
const LEAST_MU: f64 = 0.35;
/// Rings at most.
const RINGS: usize = 36;
/// How much of the light relief has: unchanged ground shows where one is, other ground but a hint of it.
const RELIEF: [f64; 2] = [0.6, 0.25];

/// What a pixel shows: the largest changes of height and friction in it, and what else there is.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    pub ground: bool,
    pub lost: bool,
    pub gained: bool,
    /// Another rolling resistance or gain.
    pub rest: bool,
    /// Another material.
    pub other: bool,
    pub mu: f32,
    pub change: f64,
    /// Where that is, or else where another is, as shares of 2^16 of the pixel, from its north-west.
    pub at: [u16; 2],
}

impl Seen {
    /// Of ground lost or gained along edges alone nothing is seen.
    pub fn of(pair: &Pair) -> Self {
        let [from, to] = pair.z;
        Seen {
            ground: true,
            lost: pair.wide.has(Kind::Lost),
            gained: pair.wide.has(Kind::Gained),
            rest: [Kind::RrHigher, Kind::RrLower, Kind::GainHigher, Kind::GainLower].iter().any(|k| pair.kinds.has(*k)),
            other: pair.kinds.has(Kind::Material),
            mu: pair.mu as f32,
            change: if pair.kinds.has(Kind::Height) { to - from } else { 0.0 },
            at: [0; 2],
        }
    }

    pub fn differs(&self) -> bool {
        self.change != 0.0 || self.mu != 0.0 || self.lost || self.gained || self.rest || self.other
    }

    /// The same in whatever order.
    pub fn join(&mut self, other: Seen) {
        if other.rank() > self.rank() {
            self.at = other.at;
        }
        if (other.change.abs(), other.change) > (self.change.abs(), self.change) {
            self.change = other.change;
        }
        // of as much the lower, which is worse
        if (other.mu.abs(), -other.mu) > (self.mu.abs(), -self.mu) {
            self.mu = other.mu;
        }
        self.ground |= other.ground;
        self.lost |= other.lost;
        self.gained |= other.gained;
        self.rest |= other.rest;
        self.other |= other.other;
    }

    /// What counts more: ground lost or gained, then heights, then friction, then all else.
    fn rank(&self) -> (bool, f64, f32, bool, [u16; 2]) {
        (self.lost || self.gained, self.change.abs(), self.mu.abs(), self.rest || self.other, self.at)
    }
}

/// A map that is not drawn yet.
pub struct Drawing {
    pub view: View,
    seen: Mutex<Vec<Seen>>,
}

/// Least and greatest coordinates of the ground of both.
pub fn bounds(a: &Terrain, b: &Terrain) -> [[f64; 3]; 2] {
    let ([low, high], [l, h]) = (a.bounds(), b.bounds());
    [[0, 1, 2].map(|i| low[i].min(l[i])), [0, 1, 2].map(|i| high[i].max(h[i]))]
}

impl Drawing {
    pub fn new(view: View) -> Self {
        Drawing { view, seen: Mutex::new(vec![Seen::default(); view.width * view.height]) }
    }

    pub fn pixels(&self) -> usize {
        self.view.width * self.view.height
    }

    /// The middle of a pixel, row by row from the north-west.
    pub fn middle(&self, pixel: usize) -> [f64; 2] {
        self.view.middle(pixel % self.view.width, pixel / self.view.width)
    }

    /// Takes in two images that are equal: nothing need be looked for.
    pub fn unchanged(&self, both: &Both) -> Ground {
        let seen = self.view.rows(Seen::default(), |row, out| {
            let tops = self.view.tops(both.images[0], row);
            out.iter_mut().zip(tops).for_each(|(seen, top)| seen.ground = top.found());
        });
        *self.seen.lock().unwrap_or_else(|broken| broken.into_inner()) = seen;
        Ground { tolerance: both.tolerance, shared: 1, ..Ground::default() }
    }

    /// Takes in what some places show.
    pub fn see(&self, places: Vec<([f64; 2], Seen)>) {
        let size = [self.view.width, self.view.height].map(|n| n as f64);
        let mut all = self.seen.lock().unwrap_or_else(|broken| broken.into_inner());
        for ([x, y], mut seen) in places {
            let at = self.view.place(x, y);
            // what lies on the picture's border is in it, however that is rounded
            if (0..2).all(|i| (-0.01..=size[i] + 0.01).contains(&at[i])) {
                let [column, row] = [0, 1].map(|i| at[i].clamp(0.0, size[i] - 1.0) as usize);
                let share = |at: f64, pixel: usize| ((at - pixel as f64) * 65536.0) as u16;
                seen.at = [share(at[0], column), share(at[1], row)];
                all[row * self.view.width + column].join(seen);
            }
        }
    }

    /// Draws what was seen, from above, over all layers; `range` is where the colours of heights end.
    pub fn draw(self, both: &Both, found: &Ground, range: Option<[f64; 2]>, title: &str) -> Sheet {
        let view = self.view;
        let all = self.seen.into_inner().unwrap_or_else(|broken| broken.into_inner());
        let seen = all.iter().fold([0.0; 2], |[low, high]: [f64; 2], s| [low.min(s.change), high.max(s.change)]);
        let most = seen[1].max(-seen[0]);
        let scale = Scale::new(Some(range.unwrap_or([-most, most])), seen);
        let of_change = |change: f64| of_change(scale.ends, change);
        let frictions = [Friction::of(&all, -1.0, MU_LOWER), Friction::of(&all, 1.0, MU_HIGHER)];
        let of_mu = |mu: f64| frictions[usize::from(mu > 0.0)].colour(mu.abs());
        let [first, second] = both.images;
        let lights = view.rows(1.0f32, |row, out| {
            // the first one's show where the second has no ground
            for t in [first, second] {
                for (a, to) in view.tops(t, row).iter().zip(&mut *out).filter(|(a, _)| a.found()) {
                    *to = light(t.slope_f64(&a.hit)) as f32;
                }
            }
        });
        let paint = |(i, seen): (usize, &Seen)| {
            let colour = match seen {
                Seen { ground: false, .. } => return NOTHING,
                Seen { lost: true, gained: true, .. } => REPLACED,
                Seen { lost: true, .. } => LOST,
                Seen { gained: true, .. } => GAINED,
                Seen { change, .. } if *change != 0.0 => of_change(*change),
                Seen { mu, .. } if *mu != 0.0 => of_mu((*mu).into()),
                Seen { rest: true, .. } => REST,
                Seen { other: true, .. } => OTHER,
                _ => SAME,
            };
            if seen.lost || seen.gained {
                return colour;
            }
            let relief = RELIEF[usize::from(seen.differs())];
            lit(colour, 1.0 + relief * (f64::from(lights[i]) - 1.0))
        };
        let pixels = all.iter().enumerate().map(paint).collect();
        let mut ground = Canvas { width: view.width, height: view.height, pixels };
        let (rings, more, thin) = self::rings(both, &view, &all);
        let [wide, small] = fine(&view);
        for &at in &rings {
            ground.ring(at, small, 1.5 * wide, RING);
        }
        let any = |what: fn(&Seen) -> bool| all.iter().any(what);
        let mut keys = Vec::new();
        let [low_told, high_told] = scale.labels(signed);
        let all_of_it = range.is_some();
        if seen[0] < 0.0 || scale.ends[0] < 0.0 && all_of_it {
            keys.push(side(scale.ends[0].min(0.0), low_told, of_change, LOWER));
        }
        keys.push(Key::Box(SAME, "unchanged".into()));
        if seen[1] > 0.0 || scale.ends[1] > 0.0 && all_of_it {
            keys.push(side(scale.ends[1].max(0.0), high_told, of_change, HIGHER));
        }
        for (there, colour, key) in [
            (any(|s| s.lost && !s.gained), LOST, "ground lost"),
            (any(|s| s.gained && !s.lost), GAINED, "ground gained"),
            (any(|s| s.lost && s.gained), REPLACED, "ground lost and gained"),
        ] {
            keys.extend(there.then(|| Key::Box(colour, key.into())));
        }
        frictions.iter().for_each(|side| keys.extend(side.keys()));
        let plain = |s: &Seen| s.change == 0.0 && s.mu == 0.0 && !s.lost && !s.gained;
        for (there, key) in [
            (all.iter().any(|s| s.rest && plain(s)), Key::Box(REST, "other rr or gain".into())),
            (all.iter().any(|s| s.other && !s.rest && plain(s)), Key::Box(OTHER, "other material alone".into())),
            (!rings.is_empty(), Key::Ring(RING, "around small changes".into())),
            (any(|s| !s.ground), Key::Box(NOTHING, "no ground in either".into())),
        ] {
            keys.extend(there.then_some(key));
        }
        let mut notes = vec!["the largest change in each pixel, whichever layer has it".into()];
        if found.apart() {
            notes.insert(0, "no place has ground in both images: they do not lie over each other".into());
        }
        if any(|s| (s.mu != 0.0 || s.rest || s.other) && s.change != 0.0) {
            notes.push("where heights changed, other changes are not drawn".into());
        }
        if found.thin() {
            notes.push("ground lost or gained along edges alone is not drawn".into());
        }
        if more > 0 {
            notes.push(format!("rings about the largest; {} have none", counted(more as u64, "small change")));
        }
        if thin > 0 {
            notes
                .push(format!("no rings about {}: slight, or along edges alone", counted(thin as u64, "small change")));
        }
        if most > 0.0 {
            notes.push(format!("heights change by {} here", between(seen, signed)));
        }
        if any(|s| s.mu != 0.0) {
            let ends = [0, 1].map(|i| frictions[i].sign * frictions[i].most());
            notes.push(format!("mu changes by {} here", between(ends, signed_number)));
        }
        if found.tolerance > 0.0 {
            notes.push(format!("heights that differ by no more than {} count as unchanged", metres(found.tolerance)));
        }
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Changes: {title}"), &view)
    }
}

/// The colour of a change of height between the ends of a scale.
pub fn of_change(ends: [f64; 2], change: f64) -> Colour {
    let (end, colour) = if change > 0.0 { (ends[1], HIGHER) } else { (ends[0], LOWER) };
    // few places change much: the square root leaves more of the scale to the others
    let strength = |part: f64| mix(SAME, colour, LEAST + (1.0 - LEAST) * part.sqrt());
    if change == 0.0 { SAME } else { strength(if end == 0.0 { 1.0 } else { (change / end).min(1.0) }) }
}

/// The colours of changes of height up to the end of a scale, lower ones from right to left as on a line of numbers: even in the
/// square root of the change, as they are drawn, with round changes at ticks. A scale that ends at nothing has `all` for every change.
pub fn side(end: f64, told: String, colour: impl Fn(f64) -> Colour, all: Colour) -> Key {
    if end == 0.0 {
        return Key::Box(all, told);
    }
    let long = LONG as f64;
    let at = |share: f64| if end < 0.0 { 1.0 - share } else { share };
    let colours = (0..LONG).map(|i| colour(end * at((i as f64 + 0.5) / long).powi(2))).collect();
    let mut ticks: Vec<(f64, String)> = Vec::new();
    let ten = end.abs().log10().floor();
    let round = (0..4).flat_map(|i| [5.0, 2.0, 1.0].map(|n| n * 10f64.powf(ten - f64::from(i)) * end.signum()));
    for (share, change) in round.map(|change| ((change / end).sqrt(), change)).filter(|(share, _)| *share < 0.95) {
        if metres(change).trim_matches(['-', '0', '.']).starts_with(' ') {
            continue; // too little to be told
        }
        let place = if end < 0.0 { ticks.len() } else { 0 };
        ticks.insert(place, (at(share) * long, signed(change)));
        if !apart(&ticks, room) {
            ticks.remove(place);
        }
    }
    let ends = if end < 0.0 { [told, "0".into()] } else { ["0".into(), told] };
    Key::Bar(Bar { colours, ends, ticks })
}

/// From the most that something fell to the most that it rose, of which one may be nothing.
pub fn between([low, high]: [f64; 2], told: fn(f64) -> String) -> String {
    match (low < 0.0, high > 0.0) {
        (true, true) => format!("{} to {}", told(low), told(high)),
        (true, false) => format!("up to {}", told(low)),
        _ => format!("up to {}", told(high)),
    }
}

/// Friction higher, or lower.
struct Friction {
    sign: f64,
    /// That of the largest change.
    colour: Colour,
    /// By how much it changed, each once, the least first.
    changes: Vec<f64>,
}

/// Changes of friction on either side that have a colour each; more have a scale.
const CHANGES: usize = 4;

impl Friction {
    fn of(all: &[Seen], sign: f64, colour: Colour) -> Self {
        let changes = all.iter().map(|s| f64::from(s.mu) * sign).filter(|mu| *mu > 0.0);
        // as they are told, so that rounding makes no others; above zero bits are in the order of numbers
        let told: BTreeSet<u64> = changes.map(|mu| told(mu).to_bits()).collect();
        Friction { sign, colour, changes: told.into_iter().map(f64::from_bits).collect() }
    }

    fn most(&self) -> f64 {
        self.changes.last().copied().unwrap_or(0.0)
    }

    /// Evenly stronger from change to change, or along the scale.
    fn colour(&self, change: f64) -> Colour {
        let share = match self.changes.len() {
            1 => 1.0,
            n if n <= CHANGES => self.changes.partition_point(|c| *c < told(change)) as f64 / (n - 1) as f64,
            _ => (change / self.most()).min(1.0),
        };
        mix(SAME, self.colour, LEAST_MU + (1.0 - LEAST_MU) * share)
    }

    fn keys(&self) -> Vec<Key> {
        let mut told = match self.changes.len() {
            n if n <= CHANGES => self.changes.clone(),
            _ => vec![told(self.most() / 4.0), self.most()],
        };
        if self.sign < 0.0 {
            told.reverse();
        }
        told.iter().map(|c| Key::Box(self.colour(*c), format!("mu {}", signed_number(self.sign * c)))).collect()
    }
}

/// The middles of rings about small changes, the largest first, in pixels; how many small changes are more than those; and how many have none as
/// they lie along edges alone.
fn rings(both: &Both, view: &View, all: &[Seen]) -> (Vec<[f64; 2]>, usize, usize) {
    let [_, small] = fine(view);
    let mut met: Vec<bool> = all.iter().map(|seen| !seen.differs()).collect();
    let spots = spots(view, &mut met).into_iter().filter(|spot| spot.reach < small);
    let strongest = |set: &[usize]| set.iter().copied().max_by(|&i, &k| order(&all[i], &all[k]).then(k.cmp(&i)));
    // where much is other, what is slight is no news
    let [other, ground] =
        [Seen::differs, |seen: &Seen| seen.ground].map(|what| all.iter().filter(|seen| what(seen)).count());
    let plain = other > ground / 10;
    let (mut strong, mut thin, mut space) = (Vec::new(), 0, both.space());
    for i in spots.filter_map(|spot| strongest(&spot.set)) {
        let share = all[i].at.map(|part| (f64::from(part) + 0.5) / 65536.0);
        let at = [(i % view.width) as f64 + share[0], (i / view.width) as f64 + share[1]];
        let place = [view.west + at[0] / view.per_metre, view.north - at[1] / view.per_metre];
        match all[i].lost || all[i].gained || both.reaches(place, plain, &mut space) {
            true => strong.push((i, at)),
            false => thin += 1,
        }
    }
    strong.sort_by(|(i, _), (k, _)| order(&all[*k], &all[*i]).then(i.cmp(k)));
    let mut rings: Vec<[f64; 2]> = Vec::new();
    let mut more = 0;
    for (_, at) in strong {
        // one ring for those that it would lie upon
        let held = rings.iter().any(|ring| span([*ring, at]) < small);
        match rings.len() < RINGS && !held {
            true => rings.push(at),
            false => more += usize::from(!held),
        }
    }
    (rings, more, thin)
}

fn order(p: &Seen, q: &Seen) -> Ordering {
    p.rank().partial_cmp(&q.rank()).unwrap_or(Ordering::Equal)
}

pub fn signed(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, metres(change))
}

fn signed_number(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, decimal(change))
}

/// A change of friction in four digits that count.
fn told(change: f64) -> f64 {
    format!("{change:.3e}").parse().unwrap_or(change)
}
