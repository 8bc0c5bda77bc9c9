//! All ground over a place, in pairs of both images, and what of it is more than an edge.

use std::{collections::BTreeMap, mem, ops::Range, sync::OnceLock};

use hardpan::{Hit, Terrain};

use super::{
    super::query::room,
    edges::Corners,
    moved::Move,
    places::{Place, Role, plan},
};
use crate::check::steps::DECK;

/// Metres from a place to those about it at least: a difference that is no more at two that face each other lies along an edge.
const ASIDE: f64 = 0.008;
/// How far all may have moved for heights that differ no more than by that to count, metres.
const SLIGHT: f64 = 0.004;
/// Places along a side at which is looked whether most ground stayed.
const LOOKS: usize = 64;

/// What may be other about ground over a place.
#[derive(Clone, Copy, PartialEq)]
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

/// Some kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kinds(u16);

impl Kinds {
    const NONE: Kinds = Kinds(0);
    const ALL: Kinds = Kinds((1 << (Kind::Material as u8 + 1)) - 1);

    const fn of(kind: Kind) -> Self {
        Kinds(1 << kind as u8)
    }

    pub fn has(self, kind: Kind) -> bool {
        self.and(Kinds::of(kind)).any()
    }

    fn set(&mut self, kind: Kind, there: bool) {
        self.0 |= if there { Kinds::of(kind).0 } else { 0 };
    }

    const fn and(self, other: Kinds) -> Self {
        Kinds(self.0 & other.0)
    }

    const fn or(self, other: Kinds) -> Self {
        Kinds(self.0 | other.0)
    }

    const fn but(self, other: Kinds) -> Self {
        Kinds(self.0 & !other.0)
    }

    const fn without(self, kind: Kind) -> Self {
        self.but(Kinds::of(kind))
    }

    fn any(self) -> bool {
        self.0 != 0
    }
}

/// Two images, and from which change of height on they differ.
pub struct Both<'a> {
    pub images: [&'a Terrain<'a>; 2],
    /// Materials of either, by number.
    surfaces: [Vec<Surface>; 2],
    pub tolerance: f64,
    /// Where the ground of the first is looked for in the second; all places and heights are those of the first.
    pub to: Move,
    /// How far beside that it may lie, metres: heights may differ by so much times their slopes, too.
    beside: f64,
    /// Whether most ground is as high as it was, once it was asked.
    stayed: OnceLock<bool>,
}

/// A material, as far as places tell it.
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
    pub hits: [Option<usize>; 2],
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
    pub fn differs(&self) -> bool {
        self.kinds.any()
    }

    /// Whether it is ground of both images.
    pub fn is_both(&self) -> bool {
        self.hits.iter().all(Option::is_some)
    }

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
    /// What one image has a little beside a place.
    beside: (Vec<Hit>, Vec<f64>),
}

/// Ground over a place a little aside of another.
#[derive(Default)]
struct Aside {
    pairs: Vec<Pair>,
    /// Of either image which of the pairs it has, from the highest on.
    order: [Vec<usize>; 2],
    /// What any of them is other in.
    kinds: Kinds,
}

/// Whether all heights of a place changed by the same, but for what is slight.
fn are_alike([from, to]: &[Vec<f64>; 2]) -> bool {
    let rises = || from.iter().zip(to).map(|(from, to)| to - from);
    rises().fold(f64::MIN, f64::max) - rises().fold(f64::MAX, f64::min) <= SLIGHT
}

/// Whether most ground that lies alone over places of a grid is as high as it was.
fn stayed(images: [&Terrain; 2]) -> bool {
    let [low, high] = images[0].bounds();
    let mut hits = images.map(room);
    let (mut all, mut same) = (0, 0);
    for k in 0..LOOKS * LOOKS {
        let [x, y] = [k % LOOKS, k / LOOKS].map(|n| (n as f64 + 0.5) / LOOKS as f64);
        let at = [low[0] + x * (high[0] - low[0]), low[1] + y * (high[1] - low[1]), 0.0];
        let mut alone =
            |i: usize| (images[i].layers(at, &mut hits[i]).written == 1).then(|| images[i].z_f64(&hits[i][0]));
        if let (Some(from), Some(to)) = (alone(0), alone(1)) {
            all += 1;
            same += usize::from(from == to);
        }
    }
    2 * same > all
}

/// Directions across which a difference may be thin.
const ACROSS: [[f64; 2]; 4] = {
    const D: f64 = std::f64::consts::FRAC_1_SQRT_2;
    [[1., 0.], [0., 1.], [D, D], [-D, D]]
};

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
        Both { images, surfaces, tolerance, to: Move::default(), beside: 0.0, stayed: OnceLock::new() }
    }

    /// Metres from a place to those about it, across which a difference may be an edge's.
    fn aside(&self) -> f64 {
        ASIDE.max(2.0 * self.beside)
    }

    /// How far about a place there must be no edge for all ground over it to go on to those about it; none where that does not show,
    /// as of fields of heights.
    pub fn far_around(&self) -> Option<f64> {
        let headers = self.images.map(|t| t.header());
        let rounded = headers.iter().map(|h| f64::exp2(f64::from(h.xy_log2))).sum::<f64>() / 128.0;
        headers.iter().all(|h| h.patch_blocks == 0).then(|| self.aside() + self.beside + rounded)
    }

    /// The same images, the second one after a move that was not exact.
    pub fn moved(&self, to: Move, tolerance: f64, beside: f64) -> Self {
        Both { images: self.images, surfaces: self.surfaces.clone(), tolerance, to, beside, stayed: false.into() }
    }

    /// Of the ground of an image, in the first one's frame, least and greatest x, y and z.
    pub fn bounds(&self, i: usize) -> [[f64; 3]; 2] {
        let bounds = self.images[i].bounds();
        if i == 0 { bounds } else { bounds.map(|p| self.to.back(p)) }
    }

    /// The triangles of an image in plan, in the first one's frame.
    pub fn plan(&self, i: usize) -> Vec<Corners> {
        let mut triangles = plan(self.images[i]);
        if i == 1 && self.to != Move::default() {
            triangles.as_flattened_mut().iter_mut().for_each(|[x, y]| [*x, *y, _] = self.to.back([*x, *y, 0.0]));
        }
        triangles
    }

    /// Whether heights of a pair are others.
    fn apart(&self, space: &Space, hits: [Option<usize>; 2], change: f64) -> bool {
        let slopes = || (0..2).filter_map(|i| Some(self.images[i].slope_f64(&space.hits[i][hits[i]?]))).flatten();
        let slack = || if self.beside > 0.0 { self.beside * slopes().map(f64::abs).sum::<f64>() } else { 0.0 };
        change > self.tolerance && change > self.tolerance + slack()
    }

    fn pair(&self, space: &Space, hits: [Option<usize>; 2]) -> Pair {
        let [from, to] = [0, 1].map(|i| hits[i].map(|k| space.z[i][k]));
        let materials = [0, 1].map(|i| hits[i].map_or(0, |k| space.hits[i][k].material));
        let z = [from.or(to), to.or(from)].map(Option::unwrap_or_default);
        let (mut kinds, mut mu) = (Kinds::NONE, 0.0);
        kinds.set(Kind::Lost, to.is_none());
        kinds.set(Kind::Gained, from.is_none());
        if let [Some(_), Some(_)] = hits {
            let [p, q] = [0, 1].map(|i| self.surfaces[i][usize::from(materials[i])]);
            kinds.set(Kind::Height, self.apart(space, hits, (z[1] - z[0]).abs()));
            for ([higher, lower], from, to) in [
                ([Kind::MuHigher, Kind::MuLower], p.mu, q.mu),
                ([Kind::RrHigher, Kind::RrLower], p.rr, q.rr),
                ([Kind::GainHigher, Kind::GainLower], p.gain, q.gain),
            ] {
                kinds.set(higher, to > from);
                kinds.set(lower, to < from);
            }
            kinds.set(Kind::Material, p.name != q.name);
            mu = q.mu - p.mu;
        }
        Pair { hits, materials, z, kinds, wide: Kinds::NONE, mu }
    }

    /// All ground over a place, in pairs from the highest on if the [same layers](Self::same_layers) are there in both; else two heights are a
    /// pair if each is the nearest of the other, or if [both are left over](Self::join_rest). Whether there is ground in both images.
    pub fn pairs(&self, [x, y]: [f64; 2], space: &mut Space, into: &mut Vec<Pair>) -> bool {
        into.clear();
        for i in 0..2 {
            self.heights(i, [x, y], &mut space.hits[i], &mut space.z[i]);
        }
        let counts = [0, 1].map(|i| space.z[i].len());
        if counts[0] == counts[1] && self.same_layers(space) {
            into.extend((0..counts[0]).map(|i| self.pair(space, [Some(i); 2])));
            return counts[0] > 0;
        }
        self.join_nearest(space, into);
        if self.beside > 0.0 {
            self.leave_out_beside([x, y], space, into);
        }
        self.join_rest(space, into);
        counts.iter().all(|n| *n > 0)
    }

    /// Makes pairs of heights each of which is the nearest of the other, from the highest on; last comes what the second image alone has.
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

    /// Whether as many layers are the same from the highest on: of the same materials, each no farther than a deck from where it was; or all changed
    /// alike, by more than that only if none has the height and the material that another one had where most ground stayed: a bridge is not the
    /// underpass after it.
    fn same_layers(&self, space: &Space) -> bool {
        let [from, to] = [0, 1].map(|i| space.z[i].iter().zip(&space.hits[i]));
        let mut both = from.clone().zip(to.clone());
        let same = |p: &Hit, q: &Hit| self.same_material([p.material, q.material]);
        let near = both.clone().all(|((z, _), (other, _))| (other - z).abs() <= DECK);
        let at = |z: &f64| space.z[1].partition_point(|other| other > z);
        let stays =
            |(z, p): (&f64, &Hit)| to.clone().skip(at(z)).take_while(|(other, _)| z == *other).any(|(_, q)| same(p, q));
        near && both.all(|((_, p), (_, q))| same(p, q))
            || are_alike(&space.z)
                && (near || !from.clone().any(stays) || !self.stayed.get_or_init(|| stayed(self.images)))
    }

    /// Makes pairs, from the highest on, of what is left over between the same pairs: of one material, and no farther apart than a deck. So no
    /// pairs cross, and what covers other ground in one image alone is never the same.
    fn join_rest(&self, space: &Space, pairs: &mut Vec<Pair>) {
        let ours = pairs.partition_point(|pair| pair.hits[0].is_some());
        let (first, mut second) = pairs.split_at_mut(ours);
        // up to the next pair, and with it
        for run in first.chunk_by_mut(|pair, _| !pair.is_both()) {
            let end = run.last().and_then(|pair| pair.hits[1]);
            let between = end.map_or(second.len(), |end| second.partition_point(|to| to.hits[1] < Some(end)));
            let mut left;
            (left, second) = second.split_at_mut(between);
            for from in run.iter_mut().filter(|pair| !pair.is_both()) {
                let above = left.partition_point(|to| to.z[1] - from.z[0] > DECK);
                left = &mut left[above..];
                let mut near = left.iter().take_while(|to| from.z[0] - to.z[1] <= DECK);
                if let Some(k) = near.position(|to| self.same_material([from.materials[0], to.materials[1]])) {
                    *from = self.pair(space, [from.hits[0], left[k].hits[1].take()]);
                    left = &mut left[k + 1..];
                }
            }
        }
        pairs.retain(|pair| pair.hits != [None; 2]);
    }

    /// Whether materials of the one and of the other image have one name.
    fn same_material(&self, materials: [u16; 2]) -> bool {
        let [p, q] = [0, 1].map(|i| self.surfaces[i][usize::from(materials[i])].name);
        p == q
    }

    /// Heights of an image over a place in the first one's frame, from the highest on, and what was hit.
    fn heights(&self, i: usize, [x, y]: [f64; 2], hits: &mut [Hit], z: &mut Vec<f64>) {
        let (t, at) = (self.images[i], [x, y, 0.0]);
        let count = t.layers(if i == 0 { at } else { self.to.there(at) }, hits).written;
        let height = |hit| if i == 0 { t.z_f64(hit) } else { self.to.back([0.0, 0.0, t.z_f64(hit)])[2] };
        z.clear();
        z.extend(hits[..count].iter().map(height));
    }

    /// Takes out ground that one image alone has over a place if it lies in the other one as little beside as the move may be off.
    fn leave_out_beside(&self, [x, y]: [f64; 2], space: &mut Space, pairs: &mut Vec<Pair>) {
        let Space { hits: own, beside: (hits, z), .. } = space;
        for (side, own) in own.iter().enumerate() {
            let alone = |pair: &Pair| pair.hits[side].filter(|_| !pair.is_both());
            for [dx, dy] in round(self.beside) {
                if !pairs.iter().any(|pair| alone(pair).is_some()) {
                    break;
                }
                self.heights(1 - side, [x + dx, y + dy], hits, z);
                pairs.retain(|pair| {
                    let Some(k) = alone(pair) else { return true };
                    let slope = self.images[side].slope_f64(&own[k]);
                    let there = pair.z[side] + slope[0] * dx + slope[1] * dy;
                    let slack = self.tolerance + self.beside * along(slope);
                    !around(z.len(), z.partition_point(|z| *z > there)).any(|i| (z[i] - there).abs() <= slack)
                });
            }
        }
    }

    /// Of what is told of pairs at a place, finds what counts for areas: the same ground has it on one side too, whichever way one looks, or
    /// where it ends other ground there. Heights that change no more than ground moved so little would change count so. Ground of both images
    /// goes on where no edge lies about the place.
    pub fn widen(&self, here: &mut [Pair], place: Place, space: &mut Space) {
        let counts = match place.role {
            Role::Mark => return,
            Role::Pixel => Kinds::of(Kind::Lost).or(Kinds::of(Kind::Gained)),
            Role::Beside => Kinds::ALL.without(Kind::Height),
            Role::Square(_) => Kinds::ALL,
        };
        let mut open: Vec<(usize, Plane)> = Vec::new();
        for (i, pair) in here.iter_mut().enumerate() {
            pair.wide = pair.kinds.and(counts);
            let goes_on = place.clear && pair.is_both();
            if let Some((side, k)) = pair.side().filter(|_| pair.wide.any() && !goes_on) {
                let slope = self.images[side].slope_f64(&space.hits[side][k]);
                let most = self.aside() * along(slope);
                let slight = slight(pair, slope);
                let doubtful = if slight { Kinds::ALL.without(Kind::Height) } else { Kinds::ALL };
                open.push((i, Plane { side, slope, most, doubtful }));
            }
        }
        let mut there = mem::take(&mut space.there);
        for [dx, dy] in ACROSS.map(|way| way.map(|v| v * self.aside())) {
            // what is no more on the one side, and on the other one
            let mut ended: Vec<Kinds> = open.iter().map(|(i, plane)| here[*i].wide.and(plane.doubtful)).collect();
            for aside in [[dx, dy], [-dx, -dy]] {
                if !ended.iter().any(|kinds| kinds.any()) {
                    break;
                }
                self.pairs([place.at[0] + aside[0], place.at[1] + aside[1]], space, &mut there.pairs);
                there.sort();
                for ((i, plane), ended) in open.iter().zip(&mut ended) {
                    *ended = ended.but(plane.stays(&here[*i], aside, &there));
                }
            }
            for ((i, _), ended) in open.iter().zip(ended) {
                here[*i].wide = here[*i].wide.but(ended);
            }
            open.retain(|(i, plane)| here[*i].wide.and(plane.doubtful).any());
        }
        space.there = there;
    }

    /// Whether what differs at a place, or beside it as at a corner, is more than an edge, and with `plain` more than ground moved by a little
    /// would have, too.
    pub fn reaches(&self, [x, y]: [f64; 2], plain: bool, space: &mut Space) -> bool {
        let mut here = mem::take(&mut space.here);
        let any = [[0.0; 2]].into_iter().chain(round(1.5 * self.aside())).any(|[dx, dy]| {
            let at = [x + dx, y + dy];
            self.pairs(at, space, &mut here);
            let slopes = |pair: &Pair| {
                pair.side().map_or([0.0; 2], |(side, k)| self.images[side].slope_f64(&space.hits[side][k]))
            };
            let news: Vec<bool> = here.iter().map(|pair| !plain || !slight(pair, slopes(pair))).collect();
            self.widen(&mut here, Place { at, role: Role::Square(0.0), clear: false }, space);
            let counts = |pair: &Pair, news: bool| if news { pair.wide } else { pair.wide.without(Kind::Height) };
            here.iter().zip(news).any(|(pair, news)| counts(pair, news).any())
        });
        space.here = here;
        any
    }

    pub fn space(&self) -> Space {
        let hits = self.images.map(room);
        let more = if hits[0].len() < hits[1].len() { &hits[1] } else { &hits[0] };
        Space { beside: (more.clone(), Vec::new()), hits, ..Space::default() }
    }
}

/// Places about one, so far off.
fn round(far: f64) -> impl Iterator<Item = [f64; 2]> {
    ACROSS.into_iter().flat_map(|[dx, dy]| [[dx, dy], [-dx, -dy]]).map(move |way| way.map(|v| v * far))
}

/// How far ground of a slope may go up or down while one goes a metre on, and a metre.
fn along([sx, sy]: [f64; 2]) -> f64 {
    1.0 + (sx * sx + sy * sy).sqrt()
}

/// Whether heights differ by no more than ground of that slope would that was moved by a little.
fn slight(pair: &Pair, slope: [f64; 2]) -> bool {
    (pair.z[1] - pair.z[0]).abs() <= SLIGHT * along(slope)
}

/// Ground over a place, as it goes on a little aside.
struct Plane {
    side: usize,
    slope: [f64; 2],
    /// How far off its height may be there.
    most: f64,
    /// Kinds that may end there.
    doubtful: Kinds,
}

impl Plane {
    /// What differs aside too, of the same ground, or where that ends, as at a ridge of roofs that are all gone, of any.
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
        self.kinds = pairs.iter().fold(Kinds::NONE, |all, pair| all.or(pair.kinds));
    }
}

/// Of so many heights, from the highest on, those that may be nearest to one that lies above the height with this number.
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
    use crate::{Options, build, fixtures};

    /// What is left over is joined as the rule says it: one by one, each with the first that fits, held against all pairs.
    fn join_one_by_one(both: &Both, space: &Space, pairs: &mut Vec<Pair>) {
        let mut next = 0;
        while let Some(i) = (next..pairs.len()).find(|i| pairs[*i].hits[1].is_none()) {
            next = i + 1;
            let fits = |other: &Pair| {
                let ([Some(from), _], [None, Some(to)]) = (pairs[i].hits, other.hits) else { return false };
                let crosses = |p: &Pair| matches!(p.hits, [Some(k), Some(l)] if (k < from) != (l < to));
                both.same_material([pairs[i].materials[0], other.materials[1]])
                    && (other.z[1] - pairs[i].z[0]).abs() <= DECK
                    && !pairs.iter().any(crosses)
            };
            if let Some(k) = (next..pairs.len()).find(|k| fits(&pairs[*k])) {
                pairs[i] = both.pair(space, [pairs[i].hits[0], pairs[k].hits[1]]);
                pairs.remove(k);
            }
        }
    }

    /// What differs aside, by looking at all of it.
    fn stays_of_all(plane: &Plane, pair: &Pair, [dx, dy]: [f64; 2], there: &[Pair]) -> Kinds {
        let z = pair.z[plane.side] + plane.slope[0] * dx + plane.slope[1] * dy;
        let far = |other: &&Pair| (other.z[plane.side] - z).abs();
        let same = there.iter().filter(|other| other.hits[plane.side].is_some());
        let same = same.min_by(|p, q| far(p).total_cmp(&far(q))).filter(|other| far(other) <= plane.most);
        same.map_or_else(|| there.iter().fold(Kinds::NONE, |all, other| all.or(other.kinds)), |other| other.kinds)
    }

    #[test]
    fn stacks_are_paired_as_one_by_one() {
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
        let (mut joined, mut left, mut ended) = (0, 0, 0);
        for case in 0..4000 {
            let mut space = Space::default();
            // a few heights lie within a deck, or nearly all; some are in both
            let (most, names) = ([8, 60][case % 2], 1 + case as u64 / 2 % 3);
            let (steps, step) = ([30, 300, 3000][case / 6 % 3], [0.004, 0.125][case / 18 % 2]);
            for i in 0..2 {
                let mut z: Vec<u64> = (0..random(most)).map(|_| random(steps)).collect();
                // clusters above each other, of which none may be joined across what lies between
                let lift = if case % 5 == 0 { i as u64 * steps } else { 0 };
                z.iter_mut().for_each(|z| *z += lift);
                z.sort_unstable_by(|p, q| q.cmp(p));
                z.dedup();
                space.hits[i] = z.iter().map(|_| Hit { material: random(names) as u16, ..Hit::NONE }).collect();
                space.z[i] = z.into_iter().map(|z| z as f64 * step).collect();
            }
            let (mut pairs, mut plain) = (Vec::new(), Vec::new());
            both.join_nearest(&mut space, &mut pairs);
            both.join_nearest(&mut space, &mut plain);
            // as where some lie a little beside
            let kept: Vec<bool> = pairs.iter().map(|pair| pair.is_both() || case % 3 > 0 || random(4) > 0).collect();
            for list in [&mut pairs, &mut plain] {
                let mut kept = kept.iter();
                list.retain(|_| *kept.next().unwrap());
            }
            let before = pairs.len();
            both.join_rest(&space, &mut pairs);
            join_one_by_one(&both, &space, &mut plain);
            let told =
                |pairs: &[Pair]| pairs.iter().map(|p| (p.hits, p.materials, p.z, p.kinds, p.mu)).collect::<Vec<_>>();
            assert_eq!(told(&pairs), told(&plain), "{case}");
            joined += before - pairs.len();
            left += pairs.iter().filter(|pair| !pair.is_both()).count();

            let mut there = Aside { pairs, ..Aside::default() };
            there.sort();
            for (side, pair) in (0..2).flat_map(|side| plain.iter().map(move |pair| (side, pair))) {
                let plane =
                    Plane { side, slope: [step * 125.0, 0.0], most: [0.1, 1.0][case % 2], doubtful: Kinds::ALL };
                let aside = [0.008 * (random(5) as f64 - 2.0) / 2.0, 0.0];
                let kinds = plane.stays(pair, aside, &there);
                assert!(kinds == stays_of_all(&plane, pair, aside, &there.pairs), "{case}");
                ended += usize::from(!kinds.any());
            }
        }
        assert!(joined > 1000 && left > 1000 && ended > 1000, "{joined} {left} {ended}");
    }
}
