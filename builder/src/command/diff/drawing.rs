//! The map of what differs between two images.

use std::sync::Mutex;

use hardpan::Terrain;
use serde_json::Value;

use super::{
    super::{
        canvas::{Canvas, Colour, NOTHING, Paint, lined, mix},
        counted,
        holes::{fine, spots},
        maps::{self, Drawn, Key, Sheet, Window, frame, metres},
        relief::View,
        scale::Scale,
    },
    ground::{Ground, Kind, Pair},
};

/// From lower over unchanged to higher: as light on either side, and told apart by the colour-blind.
const LOWER: Colour = [5, 72, 150];
const SAME: Colour = [242, 242, 242];
const HIGHER: Colour = [168, 72, 0];
const LOST: Colour = [44, 40, 48];
const GAINED: Colour = [240, 228, 66];
/// Friction: lighter than heights, and one of them lighter than the other.
const MU_HIGHER: Colour = [86, 200, 190];
const MU_LOWER: Colour = [214, 110, 172];
/// About what is small.
const RING: Colour = [213, 0, 50];
/// How strong the least change is drawn.
const LEAST: f64 = 0.2;
/// Rings at most.
const RINGS: usize = 500;

/// What a pixel shows: the largest change of height in it, and what else there is.
#[derive(Clone, Copy, Default)]
pub struct Seen {
    pub ground: bool,
    pub change: f64,
    pub lost: bool,
    pub gained: bool,
    pub mu_higher: bool,
    pub mu_lower: bool,
    /// Another material, rolling resistance or gain.
    pub other: bool,
}

impl Seen {
    /// Of ground lost or gained along edges alone nothing is seen.
    pub fn of(pair: &Pair) -> Self {
        let [from, to] = pair.z;
        Seen {
            ground: true,
            change: if pair.kinds.has(Kind::Height) { to - from } else { 0.0 },
            lost: pair.wide.has(Kind::Lost),
            gained: pair.wide.has(Kind::Gained),
            mu_higher: pair.kinds.has(Kind::MuHigher),
            mu_lower: pair.kinds.has(Kind::MuLower),
            other: pair.kinds.has(Kind::Material) || pair.rest,
        }
    }

    pub fn differs(&self) -> bool {
        self.change != 0.0 || self.lost || self.gained || self.mu_higher || self.mu_lower || self.other
    }

    /// The same in whatever order.
    pub fn join(&mut self, other: Seen) {
        let size = |change: f64| (change.abs(), change);
        if size(other.change) > size(self.change) {
            self.change = other.change;
        }
        self.ground |= other.ground;
        self.lost |= other.lost;
        self.gained |= other.gained;
        self.mu_higher |= other.mu_higher;
        self.mu_lower |= other.mu_lower;
        self.other |= other.other;
    }

    fn mu(&self) -> Option<Colour> {
        if self.mu_lower { Some(MU_LOWER) } else { self.mu_higher.then_some(MU_HIGHER) }
    }
}

/// A map that is not drawn yet.
pub struct Drawing {
    pub view: View,
    seen: Mutex<Vec<Seen>>,
}

/// What a map of two images shows: a window, or all of both.
pub fn view(
    a: &Terrain,
    b: &Terrain,
    window: Option<Window>,
    size: Option<[Option<usize>; 2]>,
    per_metre: Option<f64>,
) -> Result<View, String> {
    let ([low, high], [l, h]) = (a.bounds(), b.bounds());
    let all = Window([low[0].min(l[0]), low[1].min(l[1]), high[0].max(h[0]), high[1].max(h[1])]);
    maps::view(a, window.or(Some(all)), size, per_metre)
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

    /// Takes in what some places show.
    pub fn see(&self, places: Vec<([f64; 2], Seen)>) {
        let size = [self.view.width, self.view.height].map(|n| n as f64);
        let mut all = self.seen.lock().unwrap_or_else(|broken| broken.into_inner());
        for ([x, y], seen) in places {
            let at = self.view.place(x, y);
            // what lies on the picture's border is in it, however that is rounded
            if (0..2).all(|i| (-0.01..=size[i] + 0.01).contains(&at[i])) {
                let [column, row] = [0, 1].map(|i| at[i].clamp(0.0, size[i] - 1.0) as usize);
                all[row * self.view.width + column].join(seen);
            }
        }
    }

    /// Draws what was seen, from above, over all layers; `range` is where the colours of heights end.
    pub fn draw(self, found: &Ground, range: Option<[f64; 2]>, title: &str) -> Sheet {
        let view = self.view;
        let all = self.seen.into_inner().unwrap_or_else(|broken| broken.into_inner());
        let seen = all.iter().fold([0.0; 2], |[low, high]: [f64; 2], s| [low.min(s.change), high.max(s.change)]);
        let most = seen[1].max(-seen[0]);
        let scale = Scale::new(Some(range.unwrap_or([-most, most])), seen);
        let of_change = |change: f64| {
            let (end, colour) = if change > 0.0 { (scale.ends[1], HIGHER) } else { (scale.ends[0], LOWER) };
            // few places change much: the square root leaves more of the scale to the others
            let strength = |part: f64| mix(SAME, colour, LEAST + (1.0 - LEAST) * part.sqrt());
            if change == 0.0 { SAME } else { strength(if end == 0.0 { 1.0 } else { (change / end).min(1.0) }) }
        };
        let times = maps::magnitude(&view);
        let paint = |(i, seen): (usize, &Seen)| {
            let (x, y) = (i % view.width, i / view.width);
            let colour = match seen {
                Seen { ground: false, .. } => return NOTHING,
                Seen { lost: true, .. } => LOST,
                Seen { gained: true, .. } => GAINED,
                Seen { change: 0.0, .. } => seen.mu().unwrap_or(SAME),
                Seen { change, .. } if lined(x, y, times) => seen.mu().unwrap_or(of_change(*change)),
                Seen { change, .. } => of_change(*change),
            };
            Paint { colour, striped: seen.other && seen.mu().is_none() }.at(x, y, times)
        };
        let pixels = all.iter().enumerate().map(paint).collect();
        let mut ground = Canvas { width: view.width, height: view.height, pixels };
        let [wide, small] = fine(&view);
        let mut met: Vec<bool> = all.iter().map(|seen| !seen.differs()).collect();
        let spots = spots(&view, &mut met, |_| true);
        let lone: Vec<_> = spots.iter().filter(|spot| spot.reach < small).collect();
        for spot in lone.iter().take(RINGS) {
            ground.ring(view.place(spot.at[0], spot.at[1]), small, 1.5 * wide, RING);
        }
        let any = |what: fn(&Seen) -> bool| all.iter().any(what);
        let mut keys = Vec::new();
        let [low, high] = scale.ends;
        let [low_told, high_told] = scale.told(signed);
        let all_of_it = range.is_some();
        if low < 0.0 && (seen[0] < 0.0 || all_of_it) {
            keys.push(Key::Box(of_change(low), low_told));
            keys.push(Key::Box(of_change(low / 4.0), signed(low / 4.0)));
        }
        keys.push(Key::Box(SAME, "unchanged".into()));
        if high > 0.0 && (seen[1] > 0.0 || all_of_it) {
            keys.push(Key::Box(of_change(high / 4.0), signed(high / 4.0)));
            keys.push(Key::Box(of_change(high), high_told));
        }
        let hatch = Paint { colour: SAME, striped: true };
        for (there, key) in [
            (any(|s| s.lost), Key::Box(LOST, "ground lost".into())),
            (any(|s| s.gained), Key::Box(GAINED, "ground gained".into())),
            (any(|s| s.mu_higher), Key::Box(MU_HIGHER, "mu higher".into())),
            (any(|s| s.mu_lower), Key::Box(MU_LOWER, "mu lower".into())),
            (any(|s| s.other && s.mu().is_none()), Key::Paint(hatch, "other material, rr or gain, the same mu".into())),
            (!lone.is_empty(), Key::Ring(RING, "around small changes".into())),
            (any(|s| !s.ground), Key::Box(NOTHING, "no ground in either".into())),
        ] {
            keys.extend(there.then_some(key));
        }
        let mut notes = vec!["the largest change in each pixel, whichever layer has it".into()];
        if found.apart() {
            notes.insert(0, "no place has ground in both images: they do not lie over each other".into());
        }
        if any(|s| s.mu().is_some() && s.change != 0.0) {
            notes.push("where heights changed too, friction is drawn as lines".into());
        }
        if found.thin() {
            notes.push("ground lost or gained along edges alone is not drawn".into());
        }
        if lone.len() > RINGS {
            let more = counted((lone.len() - RINGS) as u64, "small change");
            notes.push(format!("{more} without a ring"));
        }
        if most > 0.0 {
            let [low, high] = seen.map(signed);
            notes.push(format!("heights change by {low} to {high} here"));
        }
        if found.tolerance > 0.0 {
            notes.push(format!("heights that differ by no more than {} count as unchanged", metres(found.tolerance)));
        }
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Changes: {title}"), &view)
    }
}

fn signed(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, metres(change))
}
