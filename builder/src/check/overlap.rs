//! Ground of two materials at one height: which of them answers nobody may have meant.

use std::collections::BTreeMap;

use crate::{
    names::{decimal, few, metres},
    read::Stack,
};
use hardpan::{Terrain, format::FRACTION};

use super::cell_triangles::{self, Lattice, Member};

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
    let (lattice, merge) = (Lattice::of(t), merge(t));
    let see = |found: &mut BTreeMap<Pair, Shared>, cell: &Stack, [a, b]: [&Member; 2]| {
        let both = a.shared(b, lattice, cell.size, PARALLEL);
        let Some((part, _)) = both.and_then(|both| both.between(-merge, merge)) else { return };
        let [one, other] = [a, b].map(|m| m.owner.material);
        let shared = found.entry([one.min(other), one.max(other)]).or_default();
        let area = lattice.area(part.area());
        shared.area += area;
        if area > shared.largest {
            let at = part.centre();
            let [x, y] = lattice.place(cell.low, at);
            (shared.largest, shared.at) = (area, [x, y, a.height(at).max(b.height(at))]);
        }
    };
    let of_tiles = cell_triangles::pairs(t, merge, |a, b| surface(a) == surface(b), see, |found| found);
    let of_tiles = of_tiles
        .ok_or("triangles of several materials lie so crowded that nobody looked which of them lie at one height")?;
    let mut all: BTreeMap<Pair, Shared> = BTreeMap::new();
    for (pair, shared) in of_tiles.into_iter().flatten() {
        let sum = all.entry(pair).or_default();
        sum.area += shared.area;
        if shared.largest > sum.largest {
            (sum.largest, sum.at) = (shared.largest, shared.at);
        }
    }
    let mut all: Vec<(Pair, Shared)> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.area.total_cmp(&a.1.area).then(a.0.cmp(&b.0)));
    Ok(all)
}
