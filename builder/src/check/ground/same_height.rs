//! Ground of two materials at one height: which of them answers nobody may have meant.

use std::collections::BTreeMap;

use crate::image::decode::Stack;
use crate::report::{Code, Finding, Quantity};
use crate::util::text::{decimal, metres, shown};
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
    largest: Piece,
}

/// A piece of ground; of two the greater one is shown.
#[derive(Clone, Copy, Default)]
struct Piece {
    area: f64,
    /// A place in it, metres; on the upper of the two.
    at: [f64; 3],
}

/// What lies at one height and has another mu, rr or gain, no farther apart than heights of one layer: pairs of
/// materials, those of most area first. Where one has a higher precedence or priority, all is as it was meant. An error
/// says why nobody looked.
pub fn overlaps(t: &Terrain) -> Result<Vec<Finding>, String> {
    let surface = |m: u16| t.materials().get(usize::from(m)).map(|m| [m.mu, m.rolling, m.gain]).unwrap_or_default();
    let name = |m: u16| shown(&format!("{:?}", t.material_name(m)));
    let raise = metres((2000.0 * merge(t)).ceil() / 1000.0);
    let finding = |(pair, shared): &(Pair, Shared)| {
        let [a, b] = pair.map(surface);
        let what = (0..3).find(|&i| a[i] != b[i]).unwrap_or(0);
        let called = |m: u16| format!("{} ({} {})", name(m), ["mu", "rr", "gain"][what], decimal(surface(m)[what]));
        let [one, other] = pair.map(called);
        // asked is what is printed
        let place = shared.largest.at.map(|v| format!("{v:.4}"));
        let answers = t.closest(place.clone().map(|v| v.parse().unwrap_or(0.0))).hit.material;
        let at = place.join(",");
        let text = format!(
            "{one} and {other} lie at one height on {} m2; at {at} {} answers",
            area(shared.area),
            name(answers)
        );
        let values = vec![Quantity { name: "area", value: shared.area, unit: "m2" }];
        let mend =
            format!("state priority = 1 for the one that is meant, raise it by {raise}, or cut it out of the other");
        let subject = pair.map(|m| t.material_name(m).to_string()).join(" and ");
        super::at(Code::SameHeight, subject, shared.largest.at, values, text, &mend)
    };
    Ok(pairs(t)?.iter().map(finding).collect())
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
    let of = |m: u16| t.materials().get(usize::from(m));
    let surface = |m: u16| of(m).map(|m| [m.mu, m.rolling, m.gain].map(f64::to_bits));
    let standing = |m: u16| of(m).map(|m| (m.precedence, m.priority));
    let paints = |m: u16| of(m).is_some_and(|m| m.is_friction_only());
    // nobody asks which of these answers
    let alike = |a: u16, b: u16| surface(a) == surface(b) || standing(a) != standing(b) || paints(a) || paints(b);
    let (lattice, merge) = (Lattice::of(t), merge(t));
    let see = |found: &mut BTreeMap<Pair, Shared>, cell: &Stack, [a, b]: [&Member; 2]| {
        let both = a.shared(b, lattice, cell.size, PARALLEL);
        let Some((part, _)) = both.and_then(|both| both.between(-merge, merge)) else { return };
        let [one, other] = [a, b].map(|m| m.owner.material);
        let centre = part.centre();
        let [x, y] = lattice.place(cell.low, centre);
        let at = [x, y, a.height(centre).max(b.height(centre))];
        let piece = Piece { area: lattice.area(part.area()), at };
        found.entry([one.min(other), one.max(other)]).or_default().add(Shared { area: piece.area, largest: piece });
    };
    let of_tiles = cell_triangles::pairs(t, merge, alike, see, |found| found);
    let of_tiles = of_tiles
        .ok_or("triangles of several materials lie so crowded that nobody looked which of them lie at one height")?;
    let mut all: BTreeMap<Pair, Shared> = BTreeMap::new();
    of_tiles.into_iter().flatten().for_each(|(pair, shared)| all.entry(pair).or_default().add(shared));
    let mut all: Vec<(Pair, Shared)> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.area.total_cmp(&a.1.area).then(a.0.cmp(&b.0)));
    Ok(all)
}

impl Shared {
    fn add(&mut self, other: Shared) {
        self.area += other.area;
        if other.largest.area > self.largest.area {
            self.largest = other.largest;
        }
    }
}
