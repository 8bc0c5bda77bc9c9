//! Ground that lies twice: over other ground, nearly parallel to it and not as far away as another deck.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU8, Ordering},
};

use hardpan::{Hit, Terrain};
use hardpan_builder::{Scene, Triangle, read};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    gaps::{LISTED, place},
    grouped,
    maps::metres,
    steps::{self, Owner},
    walk::Spread,
};

/// Places at most at which is asked, for so many triangles each, and at least.
const PLACES: [u64; 2] = [1 << 12, 1 << 15];
/// Triangles over one cell beyond which it is a heap, and no ground.
const HEAP: usize = 256;
/// What grows apart faster, metres a metre, crosses.
const PARALLEL: f64 = 0.05;
/// Less is what touches or crosses by chance: places of a pair of sources, and square metres.
const FEWEST: usize = 8;
const SMALL: f64 = 1.0;

/// Ground of one source over that of one source.
pub struct Pair {
    /// About how much, square metres.
    pub area: f64,
    /// Metres apart, least, median and most.
    apart: [f64; 3],
    /// A place where it is the median apart, metres.
    at: [f64; 3],
    /// Height of the lower ground there.
    low: f64,
    /// Whose the ground is, above and below.
    owners: [Owner; 2],
}

/// Two layers over a place.
struct Near {
    at: [f64; 3],
    low: f64,
    owners: [Owner; 2],
}

impl Near {
    fn apart(&self) -> f64 {
        self.at[2] - self.low
    }
}

/// What lies twice, more than [`steps::LEAST`] and no more than `most` metres apart, that of most area first. Asked is the kernel, at places
/// spread evenly over the cells in which triangles lie over others. The top and the underside of one thing are not two grounds: of one
/// source, if `scene` is the source, only what is wound alike counts.
pub fn twice(t: &Terrain, most: f64, scene: Option<&Scene>) -> Vec<Pair> {
    let (places, each) = places(t);
    let layers = |hits: &mut Vec<Hit>, &[x, y]: &[f64; 2]| {
        let found = t.layers([x, y, 0.0], hits);
        let near = |pair: &[Hit]| {
            let ([z, low], [[dx, dy], [ex, ey]]) = ([0, 1].map(|i| t.z_f64(&pair[i])), [0, 1].map(|i| t.slope_f64(&pair[i])));
            let is_near = z - low > steps::LEAST && z - low <= most && (dx - ex).hypot(dy - ey) <= PARALLEL;
            is_near.then(|| Near { at: [x, y, z], low, owners: [0, 1].map(|i| Owner::of(&pair[i])) })
        };
        hits[..found.written].windows(2).filter_map(near).collect::<Vec<Near>>()
    };
    let all = places.par_iter().map_init(|| vec![Hit::NONE; HEAP], layers);
    let mut all: Vec<Near> = all.flatten_iter().collect();
    if let Some(scene) = scene {
        let mut plates = plates(scene, &all).into_iter();
        all.retain(|_| !plates.next().unwrap_or_default());
    }
    let mut pairs: BTreeMap<[u16; 2], Vec<Near>> = BTreeMap::new();
    for near in all {
        pairs.entry(near.owners.map(|o| o.source)).or_default().push(near);
    }
    let mut pairs: Vec<Pair> = pairs.into_values().filter_map(|near| Pair::of(near, each)).collect();
    pairs.sort_by(|a, b| b.area.total_cmp(&a.area)); // stable: of equals the lesser sources first
    pairs
}

/// Places spread over the cells in which triangles lie over others, metres, and the square metres of each.
fn places(t: &Terrain) -> (Vec<[f64; 2]>, f64) {
    let stacked = |tile: &read::TileView| {
        let mut cells: Vec<[[i64; 2]; 2]> = Vec::new();
        tile.stacked(|low, size, all| cells.extend((all.len() <= HEAP).then_some([low, size])));
        cells
    };
    let tiles: Vec<read::TileView> = read::tiles(t).collect();
    let cells: Vec<_> = tiles.par_iter().map(stacked).collect();
    let area = |size: [i64; 2]| size[0] as f64 * size[1] as f64;
    let sum: f64 = cells.iter().flatten().map(|[_, size]| area(*size)).sum();
    let h = t.header();
    let (each, step) = (sum / h.triangles.clamp(PLACES[0], PLACES[1]) as f64, f64::exp2(f64::from(h.xy_log2)));
    // of the plastic number: multiples of both are spread evenly in a square
    const SPREAD: [f64; 2] = [0.754_877_666_246_693, 0.569_840_290_998_053];
    let (mut places, mut passed) = (Vec::new(), 0.0);
    for [low, size] in cells.iter().flatten() {
        passed += area(*size);
        while (places.len() as f64 + 0.5) * each < passed {
            let share = SPREAD.map(|s| (places.len() as f64 * s).fract());
            places.push([0, 1].map(|i| ((h.origin[i] + low[i]) as f64 + share[i] * size[i] as f64) * step));
        }
    }
    (places, each * step * step)
}

/// Of which of these the upper ground looks up and the lower one down, in one source: top and underside.
fn plates(scene: &Scene, all: &[Near]) -> Vec<bool> {
    let plan: Vec<[f64; 2]> = all.iter().map(|n| [n.at[0], n.at[1]]).collect();
    let spread = Spread::new(&plan);
    // bits: above up and down, below up and down
    let seen: Vec<AtomicU8> = all.iter().map(|_| AtomicU8::new(0)).collect();
    let look = |face: &Triangle| {
        let [a, b, c] = face.v.map(|v| scene.positions[v as usize]);
        let area = |p: [f64; 3], q: [f64; 3], [x, y]: [f64; 2]| (q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]);
        let whole = area(a, b, [c[0], c[1]]);
        if whole == 0.0 || !whole.is_finite() {
            return;
        }
        let ends = |pick: fn(f64, f64) -> f64| [0, 1].map(|i| pick(pick(a[i], b[i]), c[i]));
        for &i in spread.near(ends(f64::min), ends(f64::max)) {
            let (near, p) = (&all[i], plan[i]);
            let shares = [area(b, c, p), area(c, a, p), area(a, b, p)].map(|part| part / whole);
            if shares.iter().any(|share| *share < 0.0) {
                continue;
            }
            let z = shares[0] * a[2] + shares[1] * b[2] + shares[2] * c[2];
            let bit = if whole > 0.0 { 1 } else { 2 };
            for (height, shift) in [(near.at[2], 0), (near.low, 2)] {
                if (z - height).abs() < near.apart() / 2.0 {
                    seen[i].fetch_or(bit << shift, Ordering::Relaxed);
                }
            }
        }
    };
    scene.triangles.par_iter().for_each(look);
    let is_plate = |(near, seen): (&Near, AtomicU8)| {
        let one = near.owners[0].source == near.owners[1].source;
        one && matches!(seen.into_inner(), 0b1001 | 0b0110)
    };
    all.iter().zip(seen).map(is_plate).collect()
}

impl Pair {
    /// Of places that stand for so many square metres each; none if it is too little.
    fn of(mut near: Vec<Near>, each: f64) -> Option<Self> {
        near.sort_by(|a, b| a.apart().total_cmp(&b.apart()));
        let (count, area) = (near.len(), near.len() as f64 * each);
        let Near { at, low, owners } = near[count / 2];
        let apart = [0, count / 2, count - 1].map(|i| near[i].apart());
        (count >= FEWEST && area >= SMALL).then_some(Pair { area, apart, at, low, owners })
    }

    /// In words, with a place to query.
    fn told(&self, t: &Terrain) -> String {
        let [above, below] = self.owners.map(|o| o.told(t));
        let at = place(&[self.at[0], self.at[1]], 0.1);
        let [z, low] = [self.at[2], self.low].map(steps::height);
        format!("at {at}: z {z:.4} ({above}) over {low:.4} ({below})")
    }

    /// From how far apart to how far.
    fn range(&self) -> String {
        let [least, median, most] = self.apart.map(metres);
        if least == most { format!("{median} apart") } else { format!("{least} to {most} apart, half of it up to {median}") }
    }
}

/// How much lies twice; nothing if none does.
pub fn told(pairs: &[Pair], t: &Terrain) -> Option<String> {
    let first = pairs.first()?;
    let area = |area: f64| format!("about {} m2", grouped(area.round() as u64));
    let most = format!("{}, {}, as {}", area(first.area), first.range(), first.told(t));
    Some(match pairs.len() {
        1 => format!("ground lies twice on {most}"),
        n => format!(
            "ground lies twice on {}, of {} pairs of sources, the most {most}",
            area(pairs.iter().map(|p| p.area).sum()),
            grouped(n as u64)
        ),
    })
}

/// For programs: the first of them.
pub fn facts(pairs: &[Pair], t: &Terrain) -> Value {
    let fact = |p: &Pair| {
        let [source, source_low] = p.owners.map(|o| t.source_name(o.source));
        let [material, material_low] = p.owners.map(|o| t.material_name(o.material));
        let [least, median, most] = p.apart;
        json!({
            "area": p.area, "least": least, "median": median, "most": most, "at": p.at, "low": p.low,
            "source": source, "source_low": source_low, "material": material, "material_low": material_low,
        })
    };
    pairs.iter().take(LISTED[1]).map(fact).collect()
}
