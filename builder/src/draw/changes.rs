//! The map of what differs between two images.

use std::{cmp::Ordering, collections::BTreeSet, sync::Mutex};

use hardpan::Terrain;
use serde_json::Value;

use crate::check::ground::border::span;
use crate::compare::{Ground, Kind, Seen, Watch};
use crate::util::text::{counted, decimal, metres};

use super::{
    canvas::Canvas,
    colour::{Colour, NOTHING, mix},
    fine,
    frame::{Drawn, Key, Sheet, frame},
    maps::of_tops,
    relief::{light, lit},
    scale::{Bar, LONG, Scale, apart, room},
    spots,
    view::View,
};

/// Colours from lower over unchanged to higher, equally light on both sides and distinct to the colour-blind.
const LOWER: Colour = [5, 72, 150];
const SAME: Colour = [242, 242, 242];
const HIGHER: Colour = [168, 72, 0];
pub const LOST: Colour = [44, 40, 48];
const GAINED: Colour = [240, 228, 66];
/// Both in one pixel.
const REPLACED: Colour = [144, 0, 240];
/// Friction where it changed most, lighter than heights.
const MU_HIGHER: Colour = [86, 200, 190];
const MU_LOWER: Colour = [214, 110, 172];
/// Changed rolling resistance or gain, and changed material where nothing else changed.
const REST: Colour = [236, 176, 120];
const OTHER: Colour = [196, 188, 224];
/// About what is small.
const RING: Colour = [213, 0, 50];
/// How strong the least change is drawn, of heights and of friction.
const MIN_SHADE: f64 = 0.2;
const MIN_MU: f64 = 0.35;
/// Rings at most.
const RINGS: usize = 36;
/// How strong the relief is: full on unchanged ground, weak on changed ground.
const RELIEF: [f64; 2] = [0.6, 0.25];

/// Whether rolling resistance or gain changed.
fn rest(seen: &Seen) -> bool {
    [Kind::RrHigher, Kind::RrLower, Kind::GainHigher, Kind::GainLower].iter().any(|kind| seen.has(*kind))
}

/// Whether the material changed, but not its friction.
fn other(seen: &Seen) -> bool {
    seen.has(Kind::Material) && seen.mu == 0.0
}

/// Order of importance: ground lost or gained, then heights, then friction, then the rest.
fn order(p: &Seen, q: &Seen) -> Ordering {
    let rank = |p: &Seen| (p.has(Kind::Lost) || p.has(Kind::Gained), p.change.abs(), p.mu.abs());
    rank(p).partial_cmp(&rank(q)).unwrap_or(Ordering::Equal)
}

/// A map that is not drawn yet: what each pixel shows.
pub struct Changes {
    pub view: View,
    pixels: Mutex<Vec<Seen>>,
}

/// Least and greatest coordinates of the ground of both.
pub fn bounds([a, b]: [&Terrain; 2]) -> [[f64; 3]; 2] {
    let ([low, high], [l, h]) = (a.bounds(), b.bounds());
    [[0, 1, 2].map(|i| low[i].min(l[i])), [0, 1, 2].map(|i| high[i].max(h[i]))]
}

impl Watch for Changes {
    fn count(&self) -> usize {
        self.view.width * self.view.height
    }

    /// The middle of a pixel, row by row from the north-west.
    fn place(&self, pixel: usize) -> [f64; 2] {
        self.view.middle(pixel % self.view.width, pixel / self.view.width)
    }

    fn see(&self, places: Vec<([f64; 2], Seen)>) {
        let size = [self.view.width, self.view.height].map(|n| n as f64);
        let mut all = self.pixels.lock().unwrap_or_else(|broken| broken.into_inner());
        for ([x, y], seen) in places {
            let at = self.view.place(x, y);
            // a place on the picture's border counts as inside, whichever way it rounds
            if (0..2).all(|i| (-0.01..=size[i] + 0.01).contains(&at[i])) {
                let [column, row] = [0, 1].map(|i| at[i].clamp(0.0, size[i] - 1.0) as usize);
                all[row * self.view.width + column].join(seen);
            }
        }
    }
}

impl Changes {
    pub fn new(view: View) -> Self {
        Changes { view, pixels: Mutex::new(vec![Seen::default(); view.width * view.height]) }
    }

    /// Draws what was seen, from above, over all layers; `range` is where the colours of heights end. Without `found`
    /// the images are equal.
    pub fn draw(self, images: [&Terrain; 2], found: Option<&Ground>, range: Option<[f64; 2]>, title: &str) -> Sheet {
        let view = self.view;
        let mut all = self.pixels.into_inner().unwrap_or_else(|broken| broken.into_inner());
        let mut lights = vec![1.0; all.len()];
        // the first one's show where the second has no ground
        for t in images {
            let found_light = of_tops(t, &view, |hit| light(t.slope_f64(hit)));
            for (i, of_hit) in found_light.into_iter().enumerate().filter_map(|(i, light)| Some((i, light?))) {
                lights[i] = of_hit;
                all[i].ground |= found.is_none();
            }
        }
        let heights = Heights::new(all.iter().map(|seen| seen.change), range);
        let frictions = [Friction::of(&all, -1.0, MU_LOWER), Friction::of(&all, 1.0, MU_HIGHER)];
        let paint = |(i, seen): (usize, &Seen)| {
            let light = 1.0 + RELIEF[usize::from(seen.differs())] * (lights[i] - 1.0);
            match colour(seen, &heights, &frictions) {
                None => NOTHING,
                Some(colour) if seen.has(Kind::Lost) || seen.has(Kind::Gained) => colour,
                Some(colour) => lit(colour, light),
            }
        };
        let pixels = all.iter().enumerate().map(paint).collect();
        let mut ground = Canvas { width: view.width, height: view.height, pixels };
        let (rings, more) = rings(&view, &all);
        let [wide, small] = fine(&view);
        rings.iter().for_each(|at| ground.ring(*at, small, 1.5 * wide, RING));
        let keys = keys(&all, &heights, &frictions, !rings.is_empty());
        let notes = notes(&all, &heights, &frictions, found, more);
        let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: Value::Null };
        frame(drawn, &format!("Changes: {title}"), &view)
    }
}

/// The colour of a pixel with ground, before the light.
fn colour(seen: &Seen, heights: &Heights, frictions: &[Friction; 2]) -> Option<Colour> {
    Some(match (seen.has(Kind::Lost), seen.has(Kind::Gained)) {
        _ if !seen.ground => return None,
        (true, true) => REPLACED,
        (true, false) => LOST,
        (false, true) => GAINED,
        _ if seen.change != 0.0 => heights.colour(seen.change),
        _ if seen.mu != 0.0 => frictions[usize::from(seen.mu > 0.0)].colour(seen.mu.abs().into()),
        _ if rest(seen) => REST,
        _ if other(seen) => OTHER,
        _ => SAME,
    })
}

/// Whether ground, height and friction are all unchanged.
fn plain(seen: &Seen) -> bool {
    seen.change == 0.0 && seen.mu == 0.0 && !seen.has(Kind::Lost) && !seen.has(Kind::Gained)
}

fn keys(all: &[Seen], heights: &Heights, frictions: &[Friction; 2], rings: bool) -> Vec<Key> {
    let any = |what: fn(&Seen) -> bool| all.iter().any(what);
    let mut keys = heights.keys(Some("unchanged"));
    for (there, colour, key) in [
        (any(|p| p.has(Kind::Lost) && !p.has(Kind::Gained)), LOST, "ground lost"),
        (any(|p| p.has(Kind::Gained) && !p.has(Kind::Lost)), GAINED, "ground gained"),
        (any(|p| p.has(Kind::Lost) && p.has(Kind::Gained)), REPLACED, "ground lost and gained"),
    ] {
        keys.extend(there.then(|| Key::Box(colour, key.into())));
    }
    frictions.iter().for_each(|side| keys.extend(side.keys()));
    for (there, key) in [
        (any(|p| rest(p) && plain(p)), Key::Box(REST, "other rr or gain".into())),
        (any(|p| other(p) && !rest(p) && plain(p)), Key::Box(OTHER, "other material alone".into())),
        (rings, Key::Ring(RING, "around small changes".into())),
        (any(|p| !p.ground), Key::Box(NOTHING, "no ground in either".into())),
    ] {
        keys.extend(there.then_some(key));
    }
    keys
}

fn notes(
    all: &[Seen],
    heights: &Heights,
    frictions: &[Friction; 2],
    found: Option<&Ground>,
    more: usize,
) -> Vec<String> {
    let both = all.iter().any(|p| (p.mu != 0.0 || rest(p) || other(p)) && p.change != 0.0);
    let mu = [0, 1].map(|i| frictions[i].sign * frictions[i].most());
    let tolerance = found.map_or(0.0, |found| found.tolerance);
    let notes = [
        found
            .is_some_and(Ground::apart)
            .then(|| "no place has ground in both images: they do not lie over each other".into()),
        Some("the largest change in each pixel, whichever layer has it".into()),
        both.then(|| "where heights changed, other changes are not drawn".into()),
        found.is_some_and(Ground::thin).then(|| "ground lost or gained along edges alone is not drawn".into()),
        (more > 0).then(|| format!("rings about the largest; {} have none", counted(more as u64, "small change"))),
        heights.told().map(|told| format!("heights change by {told} here")),
        (mu != [0.0; 2]).then(|| format!("mu changes by {} here", between(mu, signed_number))),
        (tolerance > 0.0)
            .then(|| format!("heights that differ by no more than {} count as unchanged", metres(tolerance))),
    ];
    notes.into_iter().flatten().collect()
}

/// Changes of height in a picture, and where their colours end.
pub struct Heights {
    seen: [f64; 2],
    ends: [f64; 2],
    /// The ends are typed.
    typed: bool,
}

impl Heights {
    pub fn new(changes: impl Iterator<Item = f64>, range: Option<[f64; 2]>) -> Self {
        let seen = changes.fold([0.0; 2], |[low, high]: [f64; 2], v| [low.min(v), high.max(v)]);
        let most = seen[1].max(-seen[0]);
        Heights { seen, ends: range.unwrap_or([-most, most]), typed: range.is_some() }
    }

    /// Few places change much: the square root leaves more of the scale to the others.
    pub fn colour(&self, change: f64) -> Colour {
        let (end, colour) = if change > 0.0 { (self.ends[1], HIGHER) } else { (self.ends[0], LOWER) };
        let part = if end == 0.0 { 1.0 } else { (change / end).min(1.0) };
        if change == 0.0 { SAME } else { mix(SAME, colour, MIN_SHADE + (1.0 - MIN_SHADE) * part.sqrt()) }
    }

    /// The colours of lower ground, of the same if there is a word for it, and of higher ground.
    pub fn keys(&self, same: Option<&str>) -> Vec<Key> {
        let ([low, high], [least, most]) = (self.ends, self.seen);
        let [low_told, high_told] = Scale::new(Some(self.ends), self.seen).labels(signed);
        let colour = |v| self.colour(v);
        let lower = (least < 0.0 || low < 0.0 && self.typed).then(|| side(low.min(0.0), low_told, colour, LOWER));
        let higher = (most > 0.0 || high > 0.0 && self.typed).then(|| side(high.max(0.0), high_told, colour, HIGHER));
        [lower, same.map(|text| Key::Box(SAME, text.into())), higher].into_iter().flatten().collect()
    }

    /// From where to where they go, if any is not zero.
    pub fn told(&self) -> Option<String> {
        (self.seen != [0.0; 2]).then(|| between(self.seen, signed))
    }
}

/// The colours of changes of height up to the end of a scale, lower ones from right to left as on a line of numbers:
/// even in the square root of the change, as they are drawn, with round changes at ticks. A scale that ends at nothing
/// has `all` for every change.
fn side(end: f64, told: String, colour: impl Fn(f64) -> Colour, all: Colour) -> Key {
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
            continue; // too little to be reported
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

/// The largest fall and the largest rise; either may be zero.
fn between([low, high]: [f64; 2], told: fn(f64) -> String) -> String {
    match (low < 0.0, high > 0.0) {
        (true, true) => format!("{} to {}", told(low), told(high)),
        (true, false) => format!("up to {}", told(low)),
        _ => format!("up to {}", told(high)),
    }
}

/// Friction higher, or lower.
struct Friction {
    sign: f64,
    /// The colour of the largest change.
    colour: Colour,
    /// The amounts of change, each once, in ascending order.
    changes: Vec<f64>,
}

/// Most changes of friction on either side with a colour each; more share a scale.
const CHANGES: usize = 4;

impl Friction {
    fn of(all: &[Seen], sign: f64, colour: Colour) -> Self {
        let changes = all.iter().map(|s| f64::from(s.mu) * sign).filter(|mu| *mu > 0.0);
        // rounded as they are printed, so that rounding adds no values; above zero, bits sort as numbers do
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
        mix(SAME, self.colour, MIN_MU + (1.0 - MIN_MU) * share)
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

/// The middles of rings about small changes, in pixels, the largest first, and how many small changes are more than
/// those.
fn rings(view: &View, all: &[Seen]) -> (Vec<[f64; 2]>, usize) {
    let [_, small] = fine(view);
    let mut met: Vec<bool> = all.iter().map(|seen| !seen.differs()).collect();
    let spots = spots(view, &mut met).into_iter().filter(|spot| spot.reach < small);
    let order = |i: &usize, k: &usize| order(&all[*i], &all[*k]).then(k.cmp(i));
    let mut largest: Vec<usize> = spots.filter_map(|spot| spot.set.into_iter().max_by(order)).collect();
    largest.sort_by(|i, k| order(k, i));
    let (mut rings, mut more) = (Vec::new(), 0);
    for at in largest.into_iter().map(|i| [i % view.width, i / view.width].map(|v| v as f64 + 0.5)) {
        // one ring stands for all changes that it would cover
        let held = rings.iter().any(|ring| span([*ring, at]) < small);
        match rings.len() < RINGS && !held {
            true => rings.push(at),
            false => more += usize::from(!held),
        }
    }
    (rings, more)
}

fn signed(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, metres(change))
}

fn signed_number(change: f64) -> String {
    format!("{}{}", if change > 0.0 { "+" } else { "" }, decimal(change))
}

/// A change of friction in four digits that count.
fn told(change: f64) -> f64 {
    format!("{change:.3e}").parse().unwrap_or(change)
}
