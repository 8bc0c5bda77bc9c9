//! Ground of two materials at one height: which of them answers nobody may have meant.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use hardpan::{Terrain, format::FRACTION};
use hardpan_builder::read::{self, Named, TileView};
use rayon::prelude::*;

use super::{decimal, few, maps::metres};

/// Triangles with heights in common that are compared, and as many for each triangle, beyond which nothing is told.
const PAIRS: u64 = 1 << 22;
const PAIRS_EACH: u64 = 32;
/// What two triangles share is a matter of rounding if it is narrower, lattice steps.
const NARROW: f64 = 2.0;
/// Surfaces that are steeper to each other cross, and lie at one height along a line only.
const PARALLEL: f64 = 0.01;

/// Two materials, the lesser number first.
type Pair = [u16; 2];

/// Where they lie at one height: area in square metres, and the largest piece of it.
#[derive(Clone, Copy, Default)]
struct Shared {
    area: f64,
    largest: f64,
    /// A place in that, metres; on the upper of the two.
    at: [f64; 3],
}

/// What lies at one height and has another mu, rr or gain, no farther apart than heights of one layer: the pairs of materials, with
/// their area and a place, those of most area first. An error says why nobody looked.
pub fn told(t: &Terrain) -> Result<Option<String>, String> {
    let pairs = pairs(t)?;
    let surface = |m: u16| t.materials().get(usize::from(m)).map(|m| [m.mu, m.rolling, m.gain]).unwrap_or_default();
    let told = pairs.iter().map(|(pair, shared)| {
        let [a, b] = pair.map(surface);
        let what = (0..3).find(|&i| a[i] != b[i]).unwrap_or(0);
        let name = |m: u16| {
            let value = decimal(surface(m)[what]);
            format!("{:?} ({} {value})", t.material_name(m), ["mu", "rr", "gain"][what])
        };
        let [a, b] = pair.map(name);
        // asked is what is printed
        let at = shared.at.map(|v| format!("{v:.4}"));
        let answers = t.closest(at.clone().map(|v| v.parse().unwrap_or(0.0))).hit.material;
        format!("{a} and {b}, {} m2; at {} {:?} answers", area(shared.area), at.join(","), t.material_name(answers))
    });
    let told = few(told, pairs.len() as u64);
    let apart = metres((2000.0 * merge(t)).ceil() / 1000.0);
    Ok((!pairs.is_empty()).then(|| {
        format!("ground of two materials lies at one height: {told}; raise what is meant by {apart}, or cut it out of the other")
    }))
}

/// Square metres, with two digits that count.
fn area(v: f64) -> String {
    let decimals = (1.0 - v.log10()).ceil().clamp(1.0, 9.0) as usize;
    format!("{v:.decimals$}")
}

/// How far heights of one layer are apart, metres.
fn merge(t: &Terrain) -> f64 {
    let h = t.header();
    h.layer_merge as f64 * f64::exp2(f64::from(h.z_log2)) / f64::from(1 << FRACTION)
}

fn pairs(t: &Terrain) -> Result<Vec<(Pair, Shared)>, String> {
    let materials = t.materials();
    let surface = |m: u16| materials.get(usize::from(m)).map(|m| [m.mu, m.rolling, m.gain].map(f64::to_bits));
    let differ = |tile: &TileView| {
        let first = tile.palette().first().map(|a| surface(a.material));
        tile.palette().iter().any(|a| Some(surface(a.material)) != first)
    };
    let tiles: Vec<TileView> = read::tiles(t).filter(differ).collect();
    let (compared, most) = (AtomicU64::new(0), PAIRS.max(PAIRS_EACH.saturating_mul(t.header().triangles)));
    let of_tile = |tile: &TileView| {
        let palette = tile.palette();
        let material = |n: &Named| palette.get(usize::from(n.bundle.attribute())).map_or(0, |a| a.material);
        let mut found: BTreeMap<Pair, Shared> = BTreeMap::new();
        let (mut all, mut over): (Vec<Named>, Vec<Over>) = (Vec::new(), Vec::new());
        tile.stacked(|cell| {
            let (low, size) = (cell.low, cell.size);
            all.clear();
            all.extend(cell.triangles());
            let first = surface(material(&all[0]));
            if compared.load(Ordering::Relaxed) > most || all.iter().all(|n| surface(material(n)) == first) {
                return;
            }
            over.clear();
            over.extend(all.iter().map(|n| Over::new(t, n, material(n), low)));
            over.sort_unstable_by(|a, b| a.heights[0].total_cmp(&b.heights[0]));
            let mut count = 0;
            for (i, a) in over.iter().enumerate() {
                if count > most {
                    break;
                }
                let near = over[i + 1..].iter().take_while(|b| b.heights[0] <= a.heights[1] + merge(t));
                for b in near {
                    count += 1;
                    if a.sheet == b.sheet || surface(a.material) == surface(b.material) {
                        continue;
                    }
                    if let Some((area, [x, y, z])) = a.shared(b, t, size) {
                        let shared = found.entry([a.material.min(b.material), a.material.max(b.material)]).or_default();
                        shared.area += area;
                        if area > shared.largest {
                            let [x, y] = [x + low[0] as f64, y + low[1] as f64];
                            (shared.largest, shared.at) = (area, [x, y, z]);
                        }
                    }
                }
            }
            compared.fetch_add(count, Ordering::Relaxed);
        });
        found
    };
    let of_tiles: Vec<BTreeMap<Pair, Shared>> = tiles.par_iter().map(of_tile).collect();
    if compared.into_inner() > most {
        return Err(
            "triangles of several materials lie so crowded that nobody looked which of them lie at one height".into()
        );
    }
    let mut all: BTreeMap<Pair, Shared> = BTreeMap::new();
    for (pair, shared) in of_tiles.into_iter().flatten() {
        let sum = all.entry(pair).or_default();
        sum.area += shared.area;
        if shared.largest > sum.largest {
            (sum.largest, sum.at) = (shared.largest, shared.at);
        }
    }
    let h = t.header();
    let step = f64::exp2(f64::from(h.xy_log2));
    let mut all: Vec<(Pair, Shared)> = all.into_iter().collect();
    for (_, shared) in &mut all {
        shared.area *= step * step;
        let [x, y, z] = shared.at;
        shared.at = [(x + h.origin[0] as f64) * step, (y + h.origin[1] as f64) * step, z];
    }
    all.sort_by(|a, b| b.1.area.total_cmp(&a.1.area).then(a.0.cmp(&b.0)));
    Ok(all)
}

/// A triangle over a cell.
struct Over {
    sheet: u32,
    material: u16,
    /// Corners in plan, lattice steps from the cell's corner, counter-clockwise.
    plan: [[f64; 2]; 3],
    /// Height in metres at the cell's corner, and what it grows by a step in x and y.
    plane: [f64; 3],
    /// Least and greatest, metres.
    heights: [f64; 2],
}

impl Over {
    fn new(t: &Terrain, n: &Named, material: u16, low: [i64; 2]) -> Over {
        let h = t.header();
        let (corners, step) = (n.bundle.corners(n.part), f64::exp2(f64::from(h.z_log2)));
        let plan = corners.map(|c| [0, 1].map(|i| (i64::from(c[i]) - low[i]) as f64));
        let z = corners.map(|c| (h.origin[2] + i64::from(c[2])) as f64 * step);
        let [[ux, uy], [vx, vy]] = [1, 2].map(|k| [0, 1].map(|i| plan[k][i] - plan[0][i]));
        let (area, [u, v]) = (ux * vy - uy * vx, [z[1] - z[0], z[2] - z[0]]);
        let [dx, dy] = [(u * vy - v * uy) / area, (v * ux - u * vx) / area];
        let plane = [z[0] - dx * plan[0][0] - dy * plan[0][1], dx, dy];
        let heights = [z.into_iter().fold(f64::INFINITY, f64::min), z.into_iter().fold(f64::NEG_INFINITY, f64::max)];
        Over { sheet: n.sheet, material, plan, plane, heights }
    }

    fn height(&self, [x, y]: [f64; 2]) -> f64 {
        self.plane[0] + self.plane[1] * x + self.plane[2] * y
    }

    /// The area in square steps in which two lie at one height in a cell of this size, and its middle: steps from the cell's corner,
    /// and the upper height in metres.
    fn shared(&self, other: &Over, t: &Terrain, size: [i64; 2]) -> Option<(f64, [f64; 3])> {
        let step = f64::exp2(f64::from(t.header().xy_log2));
        let off = [0, 1, 2].map(|k| self.plane[k] - other.plane[k]);
        if off[1].hypot(off[2]) > PARALLEL * step || (0..2).any(|i| self.is_beside(other, i)) {
            return None;
        }
        let mut both = self.plan.to_vec();
        for k in 0..3 {
            let (from, to) = (other.plan[k], other.plan[(k + 1) % 3]);
            let along = [to[0] - from[0], to[1] - from[1]];
            both = cut(&both, |p| along[0] * (p[1] - from[1]) - along[1] * (p[0] - from[0]));
        }
        if width(&both) < NARROW {
            return None;
        }
        let (merge, [width, height]) = (merge(t), size.map(|v| v as f64));
        let apart = |p: [f64; 2]| off[0] + off[1] * p[0] + off[2] * p[1];
        both = cut(&both, |p| merge - apart(p));
        both = cut(&both, |p| merge + apart(p));
        both = cut(&both, |p| p[0]);
        both = cut(&both, |p| width - p[0]);
        both = cut(&both, |p| p[1]);
        both = cut(&both, |p| height - p[1]);
        let (area, count) = (area2(&both) / 2.0, both.len() as f64);
        let [x, y] = [0, 1].map(|i| both.iter().map(|p| p[i]).sum::<f64>() / count);
        (area > 0.0).then(|| (area, [x, y, self.height([x, y]).max(other.height([x, y]))]))
    }

    /// Whether the two lie side by side along an axis.
    fn is_beside(&self, other: &Over, axis: usize) -> bool {
        let least = |o: &Over| o.plan.iter().fold(f64::INFINITY, |v, p| v.min(p[axis]));
        let most = |o: &Over| o.plan.iter().fold(f64::NEG_INFINITY, |v, p| v.max(p[axis]));
        most(self) <= least(other) || most(other) <= least(self)
    }
}

/// What of a convex polygon lies where this is positive, which grows evenly.
fn cut(polygon: &[[f64; 2]], inside: impl Fn([f64; 2]) -> f64) -> Vec<[f64; 2]> {
    let mut left = Vec::with_capacity(polygon.len() + 1);
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (at_p, at_q) = (inside(p), inside(q));
        if at_p >= 0.0 {
            left.push(p);
        }
        if (at_p > 0.0 && at_q < 0.0) || (at_p < 0.0 && at_q > 0.0) {
            let share = at_p / (at_p - at_q);
            left.push([0, 1].map(|i| p[i] + share * (q[i] - p[i])));
        }
    }
    left
}

/// Twice the area of a counter-clockwise polygon.
fn area2(polygon: &[[f64; 2]]) -> f64 {
    let next = |i: usize| polygon[(i + 1) % polygon.len()];
    polygon.iter().enumerate().map(|(i, p)| p[0] * next(i)[1] - p[1] * next(i)[0]).sum()
}

/// About how wide a convex polygon is: its doubled area by its longest extent.
fn width(polygon: &[[f64; 2]]) -> f64 {
    let apart = |p: &[f64; 2], q: &[f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]);
    let longest = polygon.iter().flat_map(|p| polygon.iter().map(move |q| apart(p, q))).fold(0.0, f64::max);
    if longest > 0.0 { area2(polygon) / longest } else { 0.0 }
}
