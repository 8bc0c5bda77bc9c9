//! Ground that lies twice: over other ground, nearly parallel to it and some centimetres away.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU8, Ordering},
};

use crate::image::decode;
use crate::image::decode::{Stack, TileView};
use crate::report::{Code, Finding, Quantity, Severity};
use crate::scene::{Scene, Triangle};
use crate::util::text::{counted, grouped, metres};
use hardpan::{Hit, Terrain};
use hardpan_shaders::sort::mix;
use rayon::prelude::*;
use rstar::{AABB, RTree, primitives::GeomWithData};

use super::{
    cell_triangles::{self, Lattice, Member, Shared},
    hidden_by,
    layer_pair::{Over, Owner},
    length,
};

/// Triangles over one cell beyond which it is a heap, and no ground.
const HEAP: u32 = 256;
/// Triangles that are compared, and as many for each triangle; where all cells hold more, those of most triangles are
/// asked at places.
const PAIRS: u64 = 1 << 22;
const PAIRS_EACH: u64 = 32;
/// Places at which is asked for each square metre, and at most; and triangles over all of them.
const EACH: f64 = 16.0;
const PLACES: f64 = 262_144.0;
const WORK: f64 = 2_097_152.0;
/// Nearer ground is no second ground, metres: overlays lie 2 mm above what they cover.
pub const MIN_APART: f64 = 0.005;
/// From here on it may be a pavement, metres: it is a note.
const KERB: f64 = 0.1;
/// Heights that differ by less are one, metres.
const ALIKE: f64 = 1e-6;
/// Surfaces that diverge faster cross each other, metres a metre.
const PARALLEL: f64 = 0.1;
/// Less is what touches by chance, square metres.
const SMALL: f64 = 4.0;

/// Surfaces that lie twice.
pub struct DoubleSurfaces {
    pub pairs: Vec<Pair>,
    /// Cells in which nobody looked.
    heaps: u64,
}

/// Ground of one source over that of one source.
pub struct Pair {
    /// How much, square metres.
    pub area: f64,
    /// Metres apart, least, in the mean, and most.
    apart: [f64; 3],
    /// A place where it is about the mean apart.
    pub over: Over,
}

/// A piece of ground over other ground.
struct Near {
    /// A place in it.
    over: Over,
    /// Square metres.
    area: f64,
    /// Metres apart, least and most.
    apart: [f64; 2],
}

/// What lies twice, more than [`MIN_APART`] and no more than `most` metres apart, that of most area first. Top and
/// underside of one thing are no two grounds: of one source, if `scene` is what the image was built from, only what is
/// wound alike counts.
pub fn double_surfaces(t: &Terrain, most: f64, scene: Option<&Scene>) -> DoubleSurfaces {
    let tiles: Vec<TileView> = decode::tiles(t).collect();
    let look = Look::new(t, &tiles, most);
    let of_tiles: Vec<(Vec<Near>, u64)> = tiles.par_iter().map(|tile| look.over(tile)).collect();
    let heaps = of_tiles.iter().map(|(_, heaps)| heaps).sum();
    let mut all: Vec<Near> = of_tiles.into_iter().flat_map(|(near, _)| near).collect();
    // what precedence hides, and what gives friction alone, no wheel takes
    let paints = |m: u16| t.materials().get(usize::from(m)).is_some_and(|m| m.is_friction_only());
    all.retain(|near| {
        let [a, b] = near.over.owners.map(|o| o.material);
        let band = hidden_by(t, a, b).or(hidden_by(t, b, a));
        !paints(a) && !paints(b) && band.is_none_or(|band| near.apart[1] > band)
    });
    if let Some(scene) = scene {
        let mut plates = plates(scene, &all).into_iter();
        all.retain(|_| !plates.next().unwrap_or_default());
    }
    if area(&all) < SMALL {
        all.clear();
    }
    let mut pairs: BTreeMap<[u16; 2], Vec<Near>> = BTreeMap::new();
    for near in all {
        pairs.entry(near.over.owners.map(|o| o.source)).or_default().push(near);
    }
    let mut pairs: Vec<Pair> = pairs.into_values().filter_map(Pair::of).collect();
    pairs.sort_by(|a, b| b.area.total_cmp(&a.area)); // stable: of equals the lesser sources first
    DoubleSurfaces { pairs, heaps }
}

/// How is looked.
struct Look<'a> {
    t: &'a Terrain<'a>,
    lattice: Lattice,
    /// Metres apart, at most, of what is looked for.
    most: f64,
    /// The most triangles over a cell in which they are compared.
    few: u32,
    /// Square metres for each place at which is asked.
    each: f64,
}

impl<'a> Look<'a> {
    fn new(t: &'a Terrain<'a>, tiles: &[TileView], most: f64) -> Self {
        let mut look = Look { t, lattice: Lattice::of(t), most, few: HEAP, each: 0.0 };
        // pairs in cells of so many triangles
        const SIZES: usize = HEAP as usize + 1;
        let sizes = |tile: &TileView| {
            let mut sizes = vec![0u64; SIZES];
            tile.stacked(|cell| {
                let n = cell.count();
                sizes.get_mut(n as usize).into_iter().for_each(|pairs| *pairs += u64::from(n) * u64::from(n) / 2);
            });
            sizes
        };
        let add = |a: Vec<u64>, b: Vec<u64>| a.iter().zip(b).map(|(a, b)| a + b).collect();
        let sizes: Vec<u64> = tiles.par_iter().map(sizes).reduce(|| vec![0; SIZES], add);
        let mut left = PAIRS.max(PAIRS_EACH.saturating_mul(t.header().triangles));
        let fits = sizes.iter().take_while(|pairs| left.checked_sub(**pairs).inspect(|rest| left = *rest).is_some());
        look.few = (fits.count() as u32).saturating_sub(1);
        // square metres to ask for, and how many triangles lie over them
        let asked = |tile: &TileView| {
            let mut sums = [0.0; 2];
            tile.stacked(|cell| {
                let area = if look.is_asked(&cell) { look.area(&cell) } else { 0.0 };
                sums = [sums[0] + area, sums[1] + area * f64::from(cell.count())];
            });
            sums
        };
        let sums: Vec<[f64; 2]> = tiles.par_iter().map(asked).collect();
        let [area, over] = [0, 1].map(|i| sums.iter().map(|sum| sum[i]).sum::<f64>());
        look.each = (1.0 / EACH).max(area / PLACES).max(over / WORK);
        look
    }

    /// Whether a cell is asked at places: it has a height field, or many triangles.
    fn is_asked(&self, cell: &Stack) -> bool {
        cell.count() <= HEAP && (cell.count() > self.few || cell.has_field())
    }

    /// Square metres.
    fn area(&self, cell: &Stack) -> f64 {
        self.lattice.area(cell.size[0] as f64 * cell.size[1] as f64)
    }

    /// Surfaces over other ground in a tile, and the number of heaps.
    fn over(&self, tile: &TileView) -> (Vec<Near>, u64) {
        let (mut found, mut heaps) = (Vec::new(), 0);
        tile.stacked(|cell| {
            if cell.count() > HEAP {
                heaps += 1;
                return;
            }
            if self.is_asked(&cell) {
                self.at_places(&cell, &mut found);
                return;
            }
            let members = cell_triangles::members(self.lattice, tile.palette(), &cell);
            for i in 0..members.len() {
                for k in cell_triangles::within(&members, i, self.most) {
                    if let Some(both) = members[i].shared(&members[k], self.lattice, cell.size, PARALLEL) {
                        self.pieces([i, k], &both, &members, cell.low, &mut found);
                    }
                }
            }
        });
        (found, heaps)
    }

    /// Where one of two triangles over a cell lies next above the other.
    fn pieces(&self, [a, b]: [usize; 2], both: &Shared, members: &[Member], low: [i64; 2], found: &mut Vec<Near>) {
        let [least, most] = [MIN_APART, self.most];
        for (range, above, below) in [([least, most], a, b), ([-most, -least], b, a)] {
            let Some((part, ends)) = both.between(range[0], range[1]) else { continue };
            let at = part.centre();
            // who is between there; what lies at one height is in some order
            let rank = |i: usize| ((members[i].height(at) / ALIKE).round(), members[i].owner, i);
            let [bottom, top] = [below, above].map(rank);
            if (0..members.len()).any(|i| rank(i) > bottom && rank(i) < top && members[i].covers(at)) {
                continue;
            }
            let ([x, y], [above, below]) = (self.lattice.place(low, at), [above, below].map(|i| &members[i]));
            let owners = [above.owner, below.owner];
            let over = Over { at: [x, y, above.height(at)], low: below.height(at), owners };
            let [a, b] = ends.map(f64::abs);
            found.push(Near { over, area: self.lattice.area(part.area()), apart: [a.min(b), a.max(b)] });
        }
    }

    /// Surfaces over other ground in a cell, at irregular places, so that no regular structure falls between all of
    /// them.
    fn at_places(&self, cell: &Stack, found: &mut Vec<Near>) {
        let mut state = mix(cell.low[0] as u64) ^ cell.low[1] as u64;
        let mut next = || {
            state = mix(state);
            (state >> 11) as f64 * f64::exp2(-53.0)
        };
        let mut hits = [Hit::NONE; HEAP as usize];
        for _ in 0..(self.area(cell) / self.each + next()) as u64 {
            let at = cell.size.map(|side| side as f64 * next());
            let [x, y] = self.lattice.place(cell.low, at);
            let layers = self.t.layers([x, y, 0.0], &mut hits);
            for pair in hits[..layers.written].windows(2) {
                let [[dx, dy], [ex, ey]] = [0, 1].map(|i| self.t.slope_f64(&pair[i]));
                let [z, low] = [0, 1].map(|i| self.t.z_f64(&pair[i]));
                let over = Over { at: [x, y, z], low, owners: [0, 1].map(|i| Owner::of(&pair[i])) };
                let apart = over.height();
                if apart > MIN_APART && apart <= self.most && (dx - ex).hypot(dy - ey) <= PARALLEL {
                    found.push(Near { over, area: self.each, apart: [apart; 2] });
                }
            }
        }
    }
}

/// Rounds to a thousandth of a millimetre, or of a square millimetre.
fn round(v: f64) -> f64 {
    (v * 1e6).round() / 1e6
}

/// Square metres.
fn area(near: &[Near]) -> f64 {
    round(near.iter().map(|n| n.area).sum())
}

/// Which of these are top and underside: the upper ground looks up and the lower one down, in one source.
fn plates(scene: &Scene, all: &[Near]) -> Vec<bool> {
    let of_one: Vec<&Near> = all.iter().filter(|n| n.over.is_of_one()).collect();
    let places = of_one.iter().zip(0..).map(|(n, i)| GeomWithData::new([n.over.at[0], n.over.at[1]], i));
    let tree: RTree<GeomWithData<[f64; 2], usize>> = RTree::bulk_load(places.collect());
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
        for place in tree.locate_in_envelope(AABB::from_corners(ends(f64::min), ends(f64::max))) {
            let (i, at) = (place.data, *place.geom());
            let shares = [(b, c), (c, a), (a, b)].map(|(p, q)| area(p, q, at) / whole);
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
    /// Joins pieces; none if there are none.
    fn of(near: Vec<Near>) -> Option<Self> {
        let area = area(&near);
        let mean = near.iter().map(|n| n.area * n.over.height()).sum::<f64>() / area;
        let off = |n: &Near| (n.over.height() - mean).abs();
        let over = near.iter().min_by(|a, b| off(a).total_cmp(&off(b)))?.over;
        let end = |of: fn(f64, f64) -> f64, start: f64| near.iter().flat_map(|n| n.apart).fold(start, of);
        Some(Pair { area, apart: [end(f64::min, f64::INFINITY), mean, end(f64::max, 0.0)], over })
    }

    /// As a value.
    pub fn finding(&self, t: &Terrain) -> Finding {
        let [least, mean, most] = self.apart.map(round);
        let values = vec![
            Quantity { name: "area", value: self.area, unit: "m2" },
            length("least", least),
            length("mean", mean),
            length("most", most),
        ];
        let severity = if mean < KERB { Severity::Warning } else { Severity::Note };
        let found = super::at(
            Code::DoubleSurface,
            self.over.names(t),
            self.over.at,
            values,
            self.text(t),
            Code::DoubleSurface.entry().hint,
        );
        Finding { severity, ..found }
    }

    /// In words, with a place to query.
    fn text(&self, t: &Terrain) -> String {
        let [least, mean, most] = self.apart.map(metres);
        let apart = match least == most {
            true => format!("{least} apart"),
            false => format!("{least} to {most} apart, {mean} in the mean"),
        };
        let area = grouped(self.area.round() as u64);
        format!("about {area} m2, {apart}, as {}", self.over.text(t, "over"))
    }
}

impl DoubleSurfaces {
    /// Where nobody looked.
    pub fn skipped(&self) -> Option<String> {
        let cells = || counted(self.heaps, "cell");
        (self.heaps > 0).then(|| format!("not looked at: {} of more than {HEAP} triangles", cells()))
    }
}
