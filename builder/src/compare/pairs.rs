//! All ground over a place, in pairs of both images, and what of it is more than an edge.

use std::{collections::BTreeMap, mem, ops::Range};

use hardpan::{Hit, Terrain};

use super::places::{Place, Role};
use crate::image::decode::room;

/// More than this is another deck, metres.
const DECK: f64 = 0.5;

/// Metres from a place to those about it: a difference that is no more at two that face each other lies along an edge.
const ASIDE: f64 = 0.008;
/// Directions across which a difference may be thin.
const ACROSS: [[f64; 2]; 4] = {
    const D: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [[1., 0.], [0., 1.], [D, D], [-D, D]]
};

/// Ways in which ground over a place can differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Lost,
    Gained,
    Height,
    MuHigher,
    MuLower,
    /// Rolling resistance.
    RrHigher,
    RrLower,
    GainHigher,
    GainLower,
    /// The name of its material.
    Material,
}

impl Kind {
    /// All but materials, in order, and what they are called as keys.
    pub const COUNTED: [(Kind, &str); 9] = [
        (Kind::Lost, "lost"),
        (Kind::Gained, "gained"),
        (Kind::Height, "changed"),
        (Kind::MuHigher, "mu_higher"),
        (Kind::MuLower, "mu_lower"),
        (Kind::RrHigher, "rr_higher"),
        (Kind::RrLower, "rr_lower"),
        (Kind::GainHigher, "gain_higher"),
        (Kind::GainLower, "gain_lower"),
    ];

    pub(super) fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Some kinds, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kinds(pub(super) u16);

impl Kinds {
    pub fn has(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    pub fn any(self) -> bool {
        self.0 != 0
    }

    fn set(&mut self, kind: Kind, there: bool) {
        self.0 |= if there { kind.bit() } else { 0 };
    }

    /// The differences of several pairs together.
    fn of_all(pairs: &[Pair]) -> Self {
        Kinds(pairs.iter().fold(0, |all, pair| all | pair.kinds.0))
    }
}

/// Two images, and from which change of height on they differ.
pub struct Both<'a> {
    images: [&'a Terrain<'a>; 2],
    /// Materials of either, by number.
    surfaces: [Vec<Surface>; 2],
    pub tolerance: f64,
}

/// The properties of a material that a place can show.
#[derive(Clone, Copy)]
struct Surface {
    /// The same in both images if the name is.
    name: usize,
    mu: f64,
    rr: f64,
    gain: f64,
}

/// Ground over a place: of both images, or of one alone.
pub struct Pair {
    /// Which of either image's hits, from the highest on.
    hits: [Option<usize>; 2],
    /// Numbers of their materials.
    pub materials: [u16; 2],
    /// Metres; of one alone its height twice.
    pub z: [f64; 2],
    pub kinds: Kinds,
    /// Those of them that count for areas: the same ground has them a little aside too.
    pub wide: Kinds,
    /// By how much friction is higher.
    pub mu: f64,
}

impl Pair {
    /// An image that has it, and which of its hits.
    fn side(&self) -> Option<(usize, usize)> {
        (0..2).find_map(|i| Some((i, self.hits[i]?)))
    }
}

/// Room for what lies over a place, and over one about it.
#[derive(Default)]
pub struct Space {
    hits: [Vec<Hit>; 2],
    z: [Vec<f64>; 2],
    /// For each height of one image the nearest of the other.
    nearest: [Vec<usize>; 2],
    pub here: Vec<Pair>,
    there: Aside,
}

/// Ground over a place a little aside of another.
#[derive(Default)]
struct Aside {
    pairs: Vec<Pair>,
    /// For each image, the pair of each of its heights, from the highest down.
    order: [Vec<usize>; 2],
    /// The differences of all of them together.
    kinds: Kinds,
}

impl<'a> Both<'a> {
    pub fn new(images: [&'a Terrain<'a>; 2], tolerance: f64) -> Self {
        let mut names = BTreeMap::new();
        let surfaces = images.map(|t| {
            let all = t.materials().iter().enumerate();
            all.map(|(i, m)| {
                let next = names.len();
                let name = *names.entry(t.material_name(i as u16)).or_insert(next);
                Surface { name, mu: m.mu, rr: m.rolling, gain: m.gain }
            })
            .collect()
        });
        Both { images, surfaces, tolerance }
    }

    pub fn space(&self) -> Space {
        Space { hits: self.images.map(room), ..Space::default() }
    }

    fn pair(&self, space: &Space, hits: [Option<usize>; 2]) -> Pair {
        let [from, to] = [0, 1].map(|i| hits[i].map(|k| space.z[i][k]));
        let materials = [0, 1].map(|i| hits[i].map_or(0, |k| space.hits[i][k].material));
        let z = [from.or(to), to.or(from)].map(Option::unwrap_or_default);
        let (mut kinds, mut mu) = (Kinds::default(), 0.0);
        kinds.set(Kind::Lost, to.is_none());
        kinds.set(Kind::Gained, from.is_none());
        if let [Some(_), Some(_)] = hits {
            let [p, q] = [0, 1].map(|i| self.surfaces[i][usize::from(materials[i])]);
            kinds.set(Kind::Height, (z[1] - z[0]).abs() > self.tolerance);
            for (higher, lower, from, to) in [
                (Kind::MuHigher, Kind::MuLower, p.mu, q.mu),
                (Kind::RrHigher, Kind::RrLower, p.rr, q.rr),
                (Kind::GainHigher, Kind::GainLower, p.gain, q.gain),
            ] {
                kinds.set(higher, to > from);
                kinds.set(lower, to < from);
            }
            kinds.set(Kind::Material, p.name != q.name);
            mu = q.mu - p.mu;
        }
        Pair { hits, materials, z, kinds, wide: Kinds::default(), mu }
    }

    /// Puts all ground over a place into pairs. If both images have the [same layers](Self::same_layers), they are
    /// paired from the highest down; otherwise two heights are a pair if each is the nearest to the other. Returns
    /// whether both images have ground.
    pub fn pairs(&self, [x, y]: [f64; 2], space: &mut Space, into: &mut Vec<Pair>) -> bool {
        into.clear();
        for (i, t) in self.images.iter().enumerate() {
            let count = t.layers([x, y, 0.0], &mut space.hits[i]).written;
            space.z[i].clear();
            space.z[i].extend(space.hits[i][..count].iter().map(|hit| t.z_f64(hit)));
        }
        let counts = [0, 1].map(|i| space.z[i].len());
        if self.same_layers(space) {
            into.extend((0..counts[0]).map(|i| self.pair(space, [Some(i); 2])));
        } else {
            self.join_nearest(space, into);
        }
        counts.iter().all(|n| *n > 0)
    }

    /// Whether as many layers are the same from the highest on: of the same materials, each no farther than a deck from
    /// where it was.
    fn same_layers(&self, Space { z, hits, .. }: &Space) -> bool {
        let same = |k: usize| {
            (z[1][k] - z[0][k]).abs() <= DECK && self.same_material([0, 1].map(|i: usize| hits[i][k].material))
        };
        z[0].len() == z[1].len() && (0..z[0].len()).all(same)
    }

    /// Pairs heights that are nearest to each other, from the highest down. Heights of the second image alone come
    /// last.
    fn join_nearest(&self, space: &mut Space, into: &mut Vec<Pair>) {
        for i in 0..2 {
            nearest(&space.z[i], &space.z[1 - i], &mut space.nearest[i]);
        }
        let near = &space.nearest;
        let partner = |of: usize, i: usize| near[of].get(i).copied().filter(|&k| near[1 - of][k] == i);
        let [from, to] = [0, 1].map(|i| 0..space.z[i].len());
        into.extend(from.map(|i| self.pair(space, [Some(i), partner(0, i)])));
        into.extend(to.filter(|k| partner(1, *k).is_none()).map(|k| self.pair(space, [None, Some(k)])));
    }

    /// Whether materials of the one and of the other image have one name.
    fn same_material(&self, materials: [u16; 2]) -> bool {
        let [p, q] = [0, 1].map(|i| self.surfaces[i][usize::from(materials[i])].name);
        p == q
    }

    /// Finds the differences that count for areas. The same ground has such a difference to one side too, in every
    /// direction, or up to the other ground where it ends.
    pub fn widen(&self, here: &mut [Pair], place: Place, space: &mut Space) {
        let counts = match place.role {
            Role::Mark => return,
            Role::Pixel => Kind::Lost.bit() | Kind::Gained.bit(),
            Role::Beside => !Kind::Height.bit(),
            Role::Square(_) => !0,
        };
        let mut open: Vec<(usize, Plane)> = Vec::new();
        for (i, pair) in here.iter_mut().enumerate() {
            pair.wide = Kinds(pair.kinds.0 & counts);
            if let Some((side, k)) = pair.side().filter(|_| pair.wide.any()) {
                let slope = self.images[side].slope_f64(&space.hits[side][k]);
                let [sx, sy] = slope;
                open.push((i, Plane { side, slope, most: ASIDE * (1.0 + (sx * sx + sy * sy).sqrt()) }));
            }
        }
        let mut there = mem::take(&mut space.there);
        for [dx, dy] in ACROSS.map(|way| way.map(|v| v * ASIDE)) {
            // what is no more on the one side, and on the other one
            let mut ended: Vec<u16> = open.iter().map(|(i, _)| here[*i].wide.0).collect();
            for aside in [[dx, dy], [-dx, -dy]] {
                if ended.iter().all(|kinds| *kinds == 0) {
                    break;
                }
                self.pairs([place.at[0] + aside[0], place.at[1] + aside[1]], space, &mut there.pairs);
                there.sort();
                for ((i, plane), ended) in open.iter().zip(&mut ended) {
                    *ended &= !plane.stays(&here[*i], aside, &there).0;
                }
            }
            for ((i, _), ended) in open.iter().zip(ended) {
                here[*i].wide.0 &= !ended;
            }
            open.retain(|(i, _)| here[*i].wide.any());
        }
        space.there = there;
    }
}

/// Ground over a place, as it goes on a little aside.
struct Plane {
    side: usize,
    slope: [f64; 2],
    /// How far off its height may be there.
    most: f64,
}

impl Plane {
    /// The differences that the place to the side has too: on the same ground, or where that ends, as at a ridge of
    /// lost roofs, on any ground.
    fn stays(&self, pair: &Pair, [dx, dy]: [f64; 2], there: &Aside) -> Kinds {
        let z = pair.z[self.side] + self.slope[0] * dx + self.slope[1] * dy;
        let (order, height) = (&there.order[self.side], |i: usize| there.pairs[i].z[self.side]);
        let far = |i: &usize| (height(*i) - z).abs();
        let below = order.partition_point(|&i| height(i) > z);
        let near = around(order.len(), below).map(|k| order[k]);
        let same = near.min_by(|i, k| far(i).total_cmp(&far(k)).then(i.cmp(k))).filter(|i| far(i) <= self.most);
        same.map_or(there.kinds, |i| there.pairs[i].kinds)
    }
}

impl Aside {
    /// Finds the order of its pairs.
    fn sort(&mut self) {
        let pairs = &self.pairs;
        for (side, order) in self.order.iter_mut().enumerate() {
            order.clear();
            order.extend((0..pairs.len()).filter(|i| pairs[*i].hits[side].is_some()));
            order.sort_by_key(|i| pairs[*i].hits[side]);
        }
        self.kinds = Kinds::of_all(pairs);
    }
}

/// The heights, counted from the highest down, that may be nearest to one just above number `below`.
fn around(heights: usize, below: usize) -> Range<usize> {
    below.saturating_sub(1)..heights.min(below + 1)
}

/// For each of some heights from the highest on, which of others is the nearest to it; of two the first.
fn nearest(heights: &[f64], others: &[f64], into: &mut Vec<usize>) {
    into.clear();
    let mut below = 0;
    for z in heights {
        while below < others.len() && others[below] > *z {
            below += 1;
        }
        let distance = |i: &usize| (others[*i] - z).abs();
        into.extend(around(others.len(), below).min_by(|i, k| distance(i).total_cmp(&distance(k))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::options::Options;

    /// The same, by comparing every height.
    fn stays_of_all(plane: &Plane, pair: &Pair, [dx, dy]: [f64; 2], there: &[Pair]) -> Kinds {
        let z = pair.z[plane.side] + plane.slope[0] * dx + plane.slope[1] * dy;
        let far = |other: &&Pair| (other.z[plane.side] - z).abs();
        let same = there.iter().filter(|other| other.hits[plane.side].is_some());
        let same = same.min_by(|p, q| far(p).total_cmp(&far(q))).filter(|other| far(other) <= plane.most);
        same.map_or_else(|| Kinds::of_all(there), |other| other.kinds)
    }

    #[test]
    fn what_differs_aside_is_found() {
        let image = build(&fixtures::flat(), &Options::default()).unwrap().image;
        let terrain = Terrain::open(&image).unwrap();
        let mut both = Both::new([&terrain; 2], 0.0);
        let surface = |name| Surface { name, mu: 0.5 + name as f64, rr: 1.0, gain: 1.0 };
        both.surfaces = [0, 1].map(|_| (0..3).map(surface).collect());
        let mut bits = 1u64;
        let mut random = |n: u64| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 33) % n
        };
        let mut ended = 0;
        for case in 0..4000 {
            let mut space = Space::default();
            // a few heights lie within a deck, or nearly all; some are in both
            let (most, names) = ([8, 60][case % 2], 1 + case as u64 / 2 % 3);
            let (steps, step) = ([30, 300, 3000][case / 6 % 3], [0.004, 0.125][case / 18 % 2]);
            for i in 0..2 {
                let mut z: Vec<u64> = (0..random(most)).map(|_| random(steps)).collect();
                // clusters above each other, which must not be joined across the space between
                let lift = if case % 5 == 0 { i as u64 * steps } else { 0 };
                z.iter_mut().for_each(|z| *z += lift);
                z.sort_unstable_by(|p, q| q.cmp(p));
                z.dedup();
                space.hits[i] = z.iter().map(|_| Hit { material: random(names) as u16, ..Hit::NONE }).collect();
                space.z[i] = z.into_iter().map(|z| z as f64 * step).collect();
            }
            let mut pairs = Vec::new();
            both.join_nearest(&mut space, &mut pairs);
            let mut there = Aside { pairs, ..Aside::default() };
            there.sort();
            for (side, pair) in (0..2).flat_map(|side| there.pairs.iter().map(move |pair| (side, pair))) {
                let plane = Plane { side, slope: [step * 125.0, 0.0], most: [0.1, 1.0][case % 2] };
                let aside = [0.008 * (random(5) as f64 - 2.0) / 2.0, 0.0];
                let kinds = plane.stays(pair, aside, &there);
                assert!(kinds == stays_of_all(&plane, pair, aside, &there.pairs), "{case}");
                ended += usize::from(!kinds.any());
            }
        }
        assert!(ended > 1000, "{ended}");
    }
}
