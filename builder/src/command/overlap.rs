//! Ground of two frictions at one height: which of them answers nobody may have meant.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use hardpan::{Point, Terrain, Trace, format::FRACTION};
use hardpan_builder::read::{self, TileView};
use rayon::prelude::*;

use super::{decimal, few};

/// Shares of a triangle's corners in the places of it that are asked about, twelfths: its middle, and half way to its corners.
const PLACES: [[i64; 3]; 4] = [[4, 4, 4], [8, 2, 2], [2, 8, 2], [2, 2, 8]];
/// Surfaces that are met, and as many for each triangle, beyond which nothing is told: in heaps each has hundreds.
const MET: u64 = 1 << 20;
const MET_EACH: u64 = 64;

/// The material that answers and one that does not, and the least of the places.
type Pairs = BTreeMap<[u16; 2], [i64; 2]>;

/// What lies at one height with another friction, no farther apart than heights of one layer: the pairs of materials, with a place
/// of each.
pub fn told(t: &Terrain) -> Option<String> {
    let mu = |material: u16| t.materials().get(usize::from(material)).map_or(0.0, |m| m.mu);
    let pairs = pairs(t, &mu)?;
    let name = |m: u16| format!("{:?} (mu {})", t.material_name(m), decimal(mu(m)));
    let metres = |v: i64| v as f64 * f64::exp2(f64::from(t.header().xy_log2)) / f64::from(1 << FRACTION);
    let told = pairs.iter().map(|(&[answers, other], at)| {
        let [x, y] = at.map(metres);
        format!("of {} and {} the first answers, at ({x:.3}, {y:.3})", name(answers), name(other))
    });
    let told = few(told, pairs.len() as u64);
    Some(format!(
        "ground of two frictions lies at one height: {told}; raise what is meant by 2 mm, or cut it out of the other"
    ))
}

fn pairs(t: &Terrain, mu: &(impl Fn(u16) -> f64 + Sync)) -> Option<Pairs> {
    let differ = |materials: &mut dyn Iterator<Item = u16>| {
        let mut all = materials.map(mu);
        let first = all.next();
        all.any(|mu| Some(mu) != first)
    };
    if !differ(&mut (0..t.materials().len() as u16)) {
        return None;
    }
    let tiles: Vec<TileView> = read::tiles(t).filter(|v| differ(&mut v.palette().iter().map(|a| a.material))).collect();
    let (met, most) = (AtomicU64::new(0), MET.max(MET_EACH.saturating_mul(t.header().triangles)));
    let of_tile = |tile: &TileView| {
        let mut found = Pairs::new();
        for bundle in tile.bundles() {
            let own = tile.palette().get(usize::from(bundle.attribute())).map_or(u16::MAX, |a| a.material);
            for corners in (0..bundle.triangles()).map(|part| bundle.corners(part)) {
                for shares in PLACES {
                    if met.load(Ordering::Relaxed) > most {
                        return found;
                    }
                    let p = place(t, corners, shares);
                    let mut count = 0;
                    let mut others = Vec::new();
                    t.explain(p, |step| {
                        if let Trace::Candidate(hit) = step {
                            count += 1;
                            let beside = hit.z.abs_diff(p.z) <= t.header().layer_merge.unsigned_abs();
                            others.extend((beside && mu(hit.material) != mu(own)).then_some(hit.material));
                        }
                    });
                    met.fetch_add(count, Ordering::Relaxed);
                    if others.is_empty() {
                        continue;
                    }
                    let answers = t.closest(p).hit.material;
                    for other in others.into_iter().chain([own]).filter(|&m| mu(m) != mu(answers)) {
                        let least = found.entry([answers, other]).or_insert([p.x, p.y]);
                        *least = [p.x, p.y].min(*least);
                    }
                }
            }
        }
        found
    };
    let join = |mut a: Pairs, b: Pairs| {
        for (pair, at) in b {
            let least = a.entry(pair).or_insert(at);
            *least = at.min(*least);
        }
        a
    };
    let all = tiles.par_iter().map(of_tile).reduce(Pairs::new, join);
    (!all.is_empty() && met.into_inner() <= most).then_some(all)
}

/// A place of a triangle.
fn place(t: &Terrain, corners: [[i32; 3]; 3], shares: [i64; 3]) -> Point {
    let at = |axis: usize| {
        let sum: i64 = (0..3).map(|k| shares[k] * i64::from(corners[k][axis])).sum();
        (t.header().origin[axis] << FRACTION) + (sum << FRACTION) / 12
    };
    Point { x: at(0), y: at(1), z: at(2) }
}
