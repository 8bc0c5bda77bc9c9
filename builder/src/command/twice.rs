//! Ground that lies twice: over other ground, nearly parallel to it and some centimetres away.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU8, Ordering},
};

use hardpan::{Hit, Terrain};
use hardpan_builder::{Scene, Triangle, mix, read};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    counted,
    gaps::LISTED,
    grouped,
    maps::metres,
    over::{Over, Owner},
    steps,
    walk::Spread,
};

/// Places at least and at most at which is asked; between, so many for a square metre in which triangles lie over others, and no more
/// triangles than these over all of them.
const PLACES: [f64; 2] = [32_768.0, 262_144.0];
const EACH: f64 = 8.0;
const WORK: f64 = 2_097_152.0;
/// Triangles over one cell beyond which it is a heap, and no ground.
const HEAP: u32 = 256;
/// What comes apart faster crosses, metres a metre.
const PARALLEL: f64 = 0.1;
/// What crosses less steeply lies near along a strip, and beside that as much of it up to twice as far apart; of what is told unasked
/// at least so many times as much is near.
const OFTEN: f64 = 2.0;
/// Less is what touches by chance: places, and square metres.
const FEWEST: usize = 8;
const SMALL: f64 = 4.0;

/// What to do about it.
const MEND: &str =
    "a wheel may take either: leave one of them out, or lay what covers the other no more than 2 mm above it";
/// Where nobody knows top from underside.
const PLATES: &str = "in a mesh whose faces all look up, as export obj writes it, top and underside of a plate count too, and both are right; of other ground";

/// How far apart, as it is typed, metres.
pub fn typed(text: &str) -> Result<f64, String> {
    let sane = |v: &f64| *v > steps::LEAST && *v <= steps::DECK;
    let range = || format!("must be a height in metres, more than {} and at most {}", steps::LEAST, steps::DECK);
    text.parse().ok().filter(sane).ok_or_else(range)
}

/// What was found.
pub struct Twice {
    pub pairs: Vec<Pair>,
    /// How far apart it is at most, metres.
    most: f64,
    /// Less may not have been met, square metres.
    least: f64,
    /// Cells in which nobody looked.
    heaps: u64,
}

/// Ground of one source over that of one source.
pub struct Pair {
    /// About how much, square metres.
    pub area: f64,
    /// Metres apart, least, median and most.
    apart: [f64; 3],
    /// A place where it is the median apart.
    over: Over,
}

/// A cell in which triangles lie over others: its lower left corner from the origin and its sides, lattice steps, and how many it names.
struct Cell {
    low: [i64; 2],
    size: [i64; 2],
    triangles: u32,
}

/// Where is asked, metres, and for how many square metres that stands.
struct Place {
    at: [f64; 2],
    area: f64,
}

/// Two layers over such a place.
struct Near {
    over: Over,
    /// As of its place.
    area: f64,
}

/// What lies twice, more than [`steps::LEAST`] and no more than `most` metres apart, that of most area first: all, or those pairs of
/// sources of which it is `sure` that they neither touch by chance nor cross. Asked is the kernel, at places in the cells in which
/// triangles lie over others. Top and underside of one thing are no two grounds: of one source, if `scene` is what the image was built
/// from, only what is wound alike counts.
pub fn twice(t: &Terrain, most: f64, scene: Option<&Scene>, sure: bool) -> Twice {
    let layers = |hits: &mut Vec<Hit>, &Place { at: [x, y], area }: &Place| {
        let found = t.layers([x, y, 0.0], hits);
        let near = |pair: &[Hit]| {
            let [z, low] = [0, 1].map(|i| t.z_f64(&pair[i]));
            let [[dx, dy], [ex, ey]] = [0, 1].map(|i| t.slope_f64(&pair[i]));
            let over = Over { at: [x, y, z], low, owners: [0, 1].map(|i| Owner::of(&pair[i])) };
            let is_near = over.height() > steps::LEAST && over.height() <= if sure { 2.0 * most } else { most };
            (is_near && (dx - ex).hypot(dy - ey) <= PARALLEL).then_some(Near { over, area })
        };
        hits[..found.written].windows(2).filter_map(near).collect::<Vec<Near>>()
    };
    let (places, heaps) = places(t);
    let each = places.iter().fold(0.0, |most: f64, p| most.max(p.area));
    let all = places.par_iter().map_init(|| vec![Hit::NONE; HEAP as usize], layers);
    let mut all: Vec<Near> = all.flatten_iter().collect();
    if let Some(scene) = scene {
        let mut plates = plates(scene, &all).into_iter();
        all.retain(|_| !plates.next().unwrap_or_default());
    }
    if !sure && !enough(&all) {
        all.clear();
    }
    let mut pairs: BTreeMap<[u16; 2], Vec<Near>> = BTreeMap::new();
    for near in all {
        pairs.entry(near.over.owners.map(|o| o.source)).or_default().push(near);
    }
    let mut pairs: Vec<Pair> = pairs.into_values().filter_map(|near| Pair::of(near, most, sure)).collect();
    pairs.sort_by(|a, b| b.area.total_cmp(&a.area)); // stable: of equals the lesser sources first
    Twice { pairs, most, least: SMALL.max(2.0 * FEWEST as f64 * each), heaps }
}

/// Places spread over the cells in which triangles lie over others, half of them by area and half by cell, for what is small and fine too:
/// each anywhere in its share of them, so that nothing regular lies between them all. And the number of cells that are heaps.
fn places(t: &Terrain) -> (Vec<Place>, u64) {
    let stacked = |tile: &read::TileView| {
        let mut cells = Vec::new();
        tile.stacked(|c| cells.push(Cell { low: c.low, size: c.size, triangles: c.count() }));
        cells
    };
    let tiles: Vec<read::TileView> = read::tiles(t).collect();
    let cells: Vec<Vec<Cell>> = tiles.par_iter().map(stacked).collect();
    let all = || cells.iter().flatten();
    let cells = || all().filter(|cell| cell.triangles <= HEAP);
    let h = t.header();
    let step = f64::exp2(f64::from(h.xy_log2));
    let area = |cell: &Cell| (cell.size[0] as f64 * step) * (cell.size[1] as f64 * step);
    let (whole, count) = (cells().map(area).sum::<f64>(), cells().count() as f64);
    let share = |cell: &Cell| (area(cell) / whole + 1.0 / count) / 2.0;
    let work: f64 = cells().map(|cell| share(cell) * f64::from(cell.triangles)).sum();
    let each = 1.0 / (EACH * whole).clamp(PLACES[0], PLACES[1]).min(WORK / work).floor();
    let (mut places, mut passed): (Vec<Place>, f64) = (Vec::new(), 0.0);
    for cell in cells() {
        let share = share(cell);
        passed += share;
        loop {
            let number = places.len() as u64;
            let by = [0, 1, 2].map(|i| (mix(3 * number + i) >> 11) as f64 * f64::exp2(-53.0));
            if (number as f64 + by[2]) * each >= passed {
                break;
            }
            let at = [0, 1].map(|i| ((h.origin[i] + cell.low[i]) as f64 + by[i] * cell.size[i] as f64) * step);
            places.push(Place { at, area: area(cell) * each / share });
        }
    }
    (places, (all().count() - cells().count()) as u64)
}

/// Square metres.
fn area(near: &[Near]) -> f64 {
    near.iter().map(|n| n.area).sum()
}

/// Whether so much touches by no chance.
fn enough(near: &[Near]) -> bool {
    near.len() >= FEWEST && area(near) >= SMALL
}

/// Which of these are top and underside: the upper ground looks up and the lower one down, in one source.
fn plates(scene: &Scene, all: &[Near]) -> Vec<bool> {
    let of_one: Vec<&Near> = all.iter().filter(|n| n.over.is_of_one()).collect();
    let plan: Vec<[f64; 2]> = of_one.iter().map(|n| [n.over.at[0], n.over.at[1]]).collect();
    let spread = Spread::new(&plan);
    // bits: above up and down, below up and down
    let seen: Vec<AtomicU8> = of_one.iter().map(|_| AtomicU8::new(0)).collect();
    let look = |face: &Triangle| {
        let [a, b, c] = face.v.map(|v| scene.positions[v as usize]);
        let area = |p: [f64; 3], q: [f64; 3], [x, y]: [f64; 2]| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
        let whole = area(a, b, [c[0], c[1]]);
        if whole == 0.0 || !whole.is_finite() {
            return;
        }
        let ends = |pick: fn(f64, f64) -> f64| [0, 1].map(|i| pick(pick(a[i], b[i]), c[i]));
        for i in spread.near(ends(f64::min), ends(f64::max)) {
            let shares = [(b, c), (c, a), (a, b)].map(|(p, q)| area(p, q, plan[i]) / whole);
            if shares.iter().any(|share| *share < 0.0) {
                continue;
            }
            let z = shares[0] * a[2] + shares[1] * b[2] + shares[2] * c[2];
            let bit = if whole > 0.0 { 1 } else { 2 };
            let over = of_one[i].over;
            for (height, shift) in [(over.at[2], 0), (over.low, 2)] {
                if (z - height).abs() < over.height() / 2.0 {
                    seen[i].fetch_or(bit << shift, Ordering::Relaxed);
                }
            }
        }
    };
    if !of_one.is_empty() {
        scene.triangles.par_iter().for_each(look);
    }
    let mut seen = seen.into_iter().map(|seen| matches!(seen.into_inner(), 0b1001 | 0b0110));
    all.iter().map(|n| n.over.is_of_one() && seen.next().unwrap_or_default()).collect()
}

impl Pair {
    /// Of places, those farther apart too; or nothing if it is not `sure` that it is no chance and does not cross.
    fn of(mut near: Vec<Near>, most: f64, sure: bool) -> Option<Self> {
        let apart = |n: &Near| n.over.height();
        near.sort_by(|a, b| apart(a).total_cmp(&apart(b)));
        let count = near.partition_point(|n| apart(n) <= most);
        let (near, beyond) = near.split_at(count);
        let [area, farther] = [near, beyond].map(area);
        if count == 0 || sure && (!enough(near) || area < OFTEN * farther) {
            return None;
        }
        Some(Pair { area, apart: [0, count / 2, count - 1].map(|i| apart(&near[i])), over: near[count / 2].over })
    }

    /// In words, with a place to query.
    pub fn told(&self, t: &Terrain) -> String {
        let [least, median, most] = self.apart.map(metres);
        let apart = match least == most {
            true => format!("{least} apart"),
            false => format!("{least} to {most} apart, half of it no more than {median}"),
        };
        format!("{}, {apart}, as {}", about(self.area), self.over.told(t, "over"))
    }
}

/// Square metres.
fn about(area: f64) -> String {
    format!("about {} m2", grouped(area.round() as u64))
}

fn looks_down(scene: &Scene, face: &Triangle) -> bool {
    let [a, b, c] = face.v.map(|v| scene.positions[v as usize]);
    (b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0])
}

impl Twice {
    fn whole(&self) -> String {
        about(self.pairs.iter().map(|p| p.area).sum())
    }

    /// How much lies twice, where the most, and what to do; nothing if none does. Of plates more is known with `scene`, what it was built from.
    pub fn told(&self, t: &Terrain, scene: Option<&Scene>) -> Option<String> {
        let most = self.pairs.first()?.told(t);
        let told = match self.pairs.len() as u64 {
            1 => format!("ground lies twice on {most}"),
            n => {
                let (whole, n) = (self.whole(), grouped(n));
                format!("ground lies twice on {whole}, of {n} pairs of sources, the most on {most}")
            }
        };
        let of_one = self.pairs.iter().any(|p| p.over.is_of_one());
        let plates = of_one && scene.is_some_and(|scene| !scene.triangles.iter().any(|t| looks_down(scene, t)));
        let then = if plates { format!("{PLATES} {MEND}") } else { MEND.into() };
        Some(format!("{told}; {then}"))
    }

    /// How much there is.
    pub fn sum(&self) -> String {
        let apart = format!("{} to {} apart", metres(steps::LEAST), metres(self.most));
        let but = match self.heaps {
            0 => String::new(),
            n => format!(", but for {} of more than {HEAP} triangles", counted(n, "cell")),
        };
        match self.pairs[..] {
            [] => format!("no ground twice, {apart}, of {} m2 or more{but}", grouped(self.least.ceil() as u64)),
            _ => format!("ground twice, {apart}, on {}{but}", self.whole()),
        }
    }

    /// For programs: the first of them.
    pub fn facts(&self, t: &Terrain) -> Value {
        let fact = |p: &Pair| {
            let [least, median, most] = p.apart;
            p.over.facts(t, json!({ "area": p.area, "least": least, "median": median, "most": most }))
        };
        self.pairs.iter().take(LISTED[1]).map(fact).collect()
    }
}
