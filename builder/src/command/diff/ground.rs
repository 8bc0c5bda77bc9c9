//! What differs on the ground: all heights over each place, in pairs.

use std::{array, cmp::Reverse, collections::BTreeMap, mem};

use hardpan::{Hit, Terrain};
use rayon::prelude::*;
use serde::Serialize;

use super::{
    super::{Done, query::room},
    drawing::{Drawing, Seen},
    edges::{Found, by_place, crossings},
    moved::Raised,
    places::{Grid, Place, Role, borders, marks, plan},
};

/// Metres from a place to those about it: a difference that is no more at two that face each other lies along an edge.
const ASIDE: f64 = 0.008;
/// How far all may have moved for heights that differ no more than by that to count, metres.
const SLIGHT: f64 = 0.004;
/// Squares of which it is seen whether all rose by one height, about, if there are more.
const RISES: usize = 1 << 18;
/// Places that are looked at together.
const CHUNK: usize = 1 << 14;

/// What may be other about ground over a place.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Lost,
    Gained,
    Height,
    MuHigher,
    MuLower,
    /// The name of its material.
    Material,
}

/// Some kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kinds(u8);

impl Kinds {
    const NONE: Kinds = Kinds(0);
    const ALL: Kinds = Kinds(0b11_1111);

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

/// What was found on the ground.
#[derive(Clone, Default, Serialize)]
pub struct Ground {
    pub grid: f64,
    /// Up to which heights count as equal, metres.
    pub tolerance: f64,
    pub places: u64,
    /// Those of them where edges cross that only one image has.
    pub crossings: Found,
    /// Places with ground in both images.
    pub shared: u64,
    /// Places with a height that changed.
    pub changed: Count,
    pub largest: Option<Largest>,
    /// If nearly all heights that changed did so by one and the same.
    pub raised: Option<Raised>,
    pub lost: Count,
    pub gained: Count,
    pub mu_higher: Count,
    pub mu_lower: Count,
    pub materials: Vec<MaterialChange>,
}

impl Ground {
    /// Whether no place has ground in both.
    pub fn apart(&self) -> bool {
        self.shared == 0
    }

    /// Whether ground is lost or gained along edges alone.
    pub fn thin(&self) -> bool {
        [self.lost, self.gained].iter().any(|count| count.places > 0 && !count.wide())
    }
}

/// The largest change of height: where, and from what to what.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Largest {
    pub at: [f64; 2],
    pub from: f64,
    pub to: f64,
}

/// How many places, the least of them by x and y, and where they lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    pub places: u64,
    /// Those of them 1 cm beside where ground ends, and not along another edge.
    beside: u64,
    pub first: Option<[f64; 3]>,
    /// Their least and greatest x and y.
    pub extent: Option<[[f64; 2]; 2]>,
    /// That of the grid's squares whose places they are, without those along edges, m2.
    pub area: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaterialChange {
    pub from: String,
    pub to: String,
    #[serde(flatten)]
    pub count: Count,
}

/// Asks everywhere, and in the pixels of a drawing too.
pub fn ground(both: &Both, pitch: Option<f64>, drawing: Option<&Drawing>) -> Done<Ground> {
    let ([a, b], tolerance) = (both.images, both.tolerance);
    let grid = Grid::new(a, b, pitch)?;
    let triangles = [a, b].map(plan);
    let (crossed, crossings) = crossings(&triangles[0], &triangles[1]);
    let ends = triangles.iter().flat_map(|triangles| marks(triangles));
    let mut marks: Vec<Place> = ends.chain(crossed).map(|at| Place { at, role: Role::Mark }).collect();
    drop(triangles);
    marks.extend(borders(a, b));
    marks.retain(|p| !grid.has(p.at));
    marks.par_sort_unstable_by(|p, q| {
        grid.order(&p.at, &q.at).then((p.role == Role::Mark).cmp(&(q.role == Role::Mark)))
    });
    marks.dedup_by_key(|p| p.at);
    let squares = marks.len()..marks.len() + grid.places();
    let all = squares.end + drawing.map_or(0, Drawing::pixels);
    let place = |i: usize| match marks.get(i) {
        Some(mark) => Some(*mark),
        None if squares.contains(&i) => Some(grid.place(i - squares.start)),
        // a place is asked once
        None => drawing.map(|d| d.middle(i - squares.end)).and_then(|at| {
            let asked = grid.has(at) || marks.binary_search_by(|p| grid.order(&p.at, &at)).is_ok();
            (!asked).then_some(Place { at, role: Role::Pixel })
        }),
    };
    let step = [a, b].map(|t| f64::exp2(t.header().z_log2.into())).into_iter().fold(0.0, f64::max);
    let every = grid.places().div_ceil(RISES) as u64;
    // parts in order, so that sums are the same whatever the threads
    let parts: Vec<Part> = (0..all.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let mut part = Part { every, ..Part::default() };
            let mut space = both.space();
            let places = (chunk * CHUNK..all.min((chunk + 1) * CHUNK)).filter_map(place);
            let seen = places.filter_map(|place| part.look(both, place, &mut space).map(|seen| (place.at, seen)));
            match drawing {
                Some(drawing) => drawing.see(seen.collect()),
                None => seen.for_each(drop),
            }
            part
        })
        .collect();
    let mut all = Part::default();
    parts.into_iter().for_each(|part| all.join(part));
    let named = |((from, to), count)| MaterialChange {
        from: a.material_name(from).into(),
        to: b.material_name(to).into(),
        count,
    };
    let mut materials: Vec<MaterialChange> = mem::take(&mut all.materials).into_iter().map(named).collect();
    materials.sort_by_key(|m| (Reverse(m.count.places), m.from.clone(), m.to.clone()));
    let count = |kind: Kind| all.counts[kind as usize];
    Ok(Ground {
        grid: grid.pitch,
        tolerance,
        places: all.places,
        crossings,
        shared: all.shared,
        changed: count(Kind::Height),
        largest: all.largest,
        raised: Raised::of(all.rises, tolerance, step),
        lost: count(Kind::Lost),
        gained: count(Kind::Gained),
        mu_higher: count(Kind::MuHigher),
        mu_lower: count(Kind::MuLower),
        materials,
    })
}

/// What some places have.
#[derive(Default)]
struct Part {
    places: u64,
    shared: u64,
    largest: Option<Largest>,
    /// By kind, but of materials.
    counts: [Count; Kind::Material as usize],
    /// By number in both images, where the names differ.
    materials: BTreeMap<(u16, u16), Count>,
    /// Changes of height of ground in both images, over one of so many squares.
    rises: Vec<f64>,
    every: u64,
}

impl Count {
    fn add(&mut self, place: Place, z: f64, wide: bool) {
        let ([x, y], role) = (place.at, if wide { place.role } else { Role::Mark });
        let area = if let Role::Square(area) = role { area } else { 0.0 };
        let (first, extent) = (Some([x, y, z]), Some([[x, y]; 2]));
        self.join(&Count { places: 1, beside: u64::from(role == Role::Beside), first, extent, area });
    }

    pub fn join(&mut self, other: &Count) {
        self.places += other.places;
        self.beside += other.beside;
        self.area += other.area;
        let first = [self.first, other.first].into_iter().flatten();
        self.first = first.min_by(|p, q| by_place(&[p[0], p[1]], &[q[0], q[1]]));
        self.extent = match (self.extent, other.extent) {
            (Some([low, high]), Some([l, h])) => {
                Some([[0, 1].map(|i| low[i].min(l[i])), [0, 1].map(|i| high[i].max(h[i]))])
            }
            (one, other) => one.or(other),
        };
    }

    /// Whether it is no mere edge.
    pub fn wide(&self) -> bool {
        self.area > 0.0 || self.beside > 0
    }
}

impl Part {
    /// What a place shows, if it is to be seen.
    fn look(&mut self, both: &Both, place: Place, space: &mut Space) -> Option<Seen> {
        let mut here = mem::take(&mut space.here);
        self.shared += u64::from(both.pairs(place.at, space, &mut here));
        self.places += 1;
        both.widen(&mut here, place, space);
        if matches!(place.role, Role::Square(_)) && self.places.is_multiple_of(self.every) {
            self.rises.extend(
                here.iter().filter(|pair| pair.hits.iter().all(Option::is_some)).map(|pair| pair.z[1] - pair.z[0]),
            );
        }
        let mut seen = Seen { ground: !here.is_empty(), ..Seen::default() };
        let mut changed: Option<(f64, bool)> = None;
        for pair in here.iter().filter(|pair| pair.differs()) {
            let [from, to] = pair.z;
            for kind in [Kind::Lost, Kind::Gained, Kind::MuHigher, Kind::MuLower] {
                if pair.kinds.has(kind) {
                    let z = if kind == Kind::Lost { from } else { to };
                    self.counts[kind as usize].add(place, z, pair.wide.has(kind));
                }
            }
            if pair.kinds.has(Kind::Height) {
                let (_, some) = changed.get_or_insert((to, false));
                *some |= pair.wide.has(Kind::Height);
                self.change(Largest { at: place.at, from, to });
            }
            if pair.kinds.has(Kind::Material) {
                let count = self.materials.entry(pair.materials.into()).or_default();
                count.add(place, to, pair.wide.has(Kind::Material));
            }
            seen.join(Seen::of(pair));
        }
        if let Some((z, wide)) = changed {
            self.counts[Kind::Height as usize].add(place, z, wide);
        }
        space.here = here;
        (seen.differs() || seen.ground && place.role == Role::Pixel).then_some(seen)
    }

    fn change(&mut self, change: Largest) {
        let size = |c: &Largest| (c.to - c.from).abs();
        let before = |c: &Largest, l: &Largest| by_place(&c.at, &l.at).is_lt();
        let larger = |l: &Largest| size(&change) > size(l) || size(&change) == size(l) && before(&change, l);
        if self.largest.as_ref().is_none_or(larger) {
            self.largest = Some(change);
        }
    }

    fn join(&mut self, later: Part) {
        self.rises.extend(later.rises);
        self.places += later.places;
        self.shared += later.shared;
        later.largest.into_iter().for_each(|c| self.change(c));
        self.counts.iter_mut().zip(&later.counts).for_each(|(count, more)| count.join(more));
        later.materials.iter().for_each(|(k, count)| self.materials.entry(*k).or_default().join(count));
    }
}

/// Two images, and from which change of height on they differ.
pub struct Both<'a> {
    pub images: [&'a Terrain<'a>; 2],
    /// Materials of either, by number.
    surfaces: [Vec<Surface>; 2],
    tolerance: f64,
}

/// A material, as far as places tell it.
#[derive(Clone, Copy)]
struct Surface {
    /// The same in both images if the name is.
    name: usize,
    mu: f64,
    rest: [f64; 2],
}

/// Ground over a place: of both images, or of one alone.
pub struct Pair {
    /// Which of either image's hits, from the highest on.
    hits: [Option<usize>; 2],
    /// Numbers of their materials.
    materials: [u16; 2],
    /// Metres; of one alone its height twice.
    pub z: [f64; 2],
    pub kinds: Kinds,
    /// Those of them that count for areas: the same ground has them a little aside too.
    pub wide: Kinds,
    /// By how much friction is higher.
    pub mu: f64,
    /// Whether rolling resistance or gain are others.
    pub rest: bool,
}

impl Pair {
    fn differs(&self) -> bool {
        self.kinds.any() || self.rest
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
    here: Vec<Pair>,
    there: Vec<Pair>,
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
                Surface { name, mu: m.mu, rest: [m.rolling, m.gain] }
            })
            .collect()
        });
        Both { images, surfaces, tolerance }
    }

    fn pair(&self, space: &Space, hits: [Option<usize>; 2]) -> Pair {
        let [from, to] = [0, 1].map(|i| hits[i].map(|k| space.z[i][k]));
        let materials = [0, 1].map(|i| hits[i].map_or(0, |k| space.hits[i][k].material));
        let z = [from.or(to), to.or(from)].map(Option::unwrap_or_default);
        let (mut kinds, mut mu, mut rest) = (Kinds::NONE, 0.0, false);
        kinds.set(Kind::Lost, to.is_none());
        kinds.set(Kind::Gained, from.is_none());
        if hits.iter().all(Option::is_some) {
            let [p, q] = [0, 1].map(|i| self.surfaces[i][usize::from(materials[i])]);
            kinds.set(Kind::Height, (z[1] - z[0]).abs() > self.tolerance);
            kinds.set(Kind::MuHigher, q.mu > p.mu);
            kinds.set(Kind::MuLower, q.mu < p.mu);
            kinds.set(Kind::Material, p.name != q.name);
            mu = q.mu - p.mu;
            rest = p.rest != q.rest;
        }
        Pair { hits, materials, z, kinds, wide: Kinds::NONE, mu, rest }
    }

    /// All ground over a place; two heights are a pair if each is the nearest of the other. Whether there is ground in both images.
    fn pairs(&self, [x, y]: [f64; 2], space: &mut Space, into: &mut Vec<Pair>) -> bool {
        into.clear();
        let counts: [usize; 2] = array::from_fn(|i| {
            let (t, hits) = (self.images[i], &mut space.hits[i]);
            let count = t.layers([x, y, 0.0], hits).written;
            space.z[i].clear();
            space.z[i].extend(hits[..count].iter().map(|hit| t.z_f64(hit)));
            count
        });
        for i in 0..2 {
            nearest(&space.z[i], &space.z[1 - i], &mut space.nearest[i]);
        }
        let near = &space.nearest;
        let partner = |of: usize, i: usize| near[of].get(i).copied().filter(|&k| near[1 - of][k] == i);
        into.extend((0..counts[0]).map(|i| self.pair(space, [Some(i), partner(0, i)])));
        into.extend((0..counts[1]).filter(|k| partner(1, *k).is_none()).map(|k| self.pair(space, [None, Some(k)])));
        counts.iter().all(|n| *n > 0)
    }

    /// Of what is told of pairs at a place, finds what counts for areas: the same ground has it on one side too, whichever way one looks, or
    /// where it ends other ground there. Heights that change no more than ground moved so little would change count so.
    fn widen(&self, here: &mut [Pair], place: Place, space: &mut Space) {
        let counts = match place.role {
            Role::Mark => return,
            Role::Pixel => Kinds::of(Kind::Lost).or(Kinds::of(Kind::Gained)),
            Role::Beside => Kinds::ALL.without(Kind::Height),
            Role::Square(_) => Kinds::ALL,
        };
        let mut open: Vec<(usize, Plane)> = Vec::new();
        for (i, pair) in here.iter_mut().enumerate() {
            pair.wide = pair.kinds.and(counts);
            if let Some((side, k)) = pair.side().filter(|_| pair.wide.any()) {
                let slope = self.images[side].slope_f64(&space.hits[side][k]);
                let most = ASIDE * along(slope);
                let slight = slight(pair, slope);
                let doubtful = if slight { Kinds::ALL.without(Kind::Height) } else { Kinds::ALL };
                open.push((i, Plane { side, slope, most, doubtful }));
            }
        }
        let mut there = mem::take(&mut space.there);
        for [dx, dy] in ACROSS.map(|way| way.map(|v| v * ASIDE)) {
            // what is no more on the one side, and on the other one
            let mut ended: Vec<Kinds> = open.iter().map(|(i, plane)| here[*i].wide.and(plane.doubtful)).collect();
            for aside in [[dx, dy], [-dx, -dy]] {
                if !ended.iter().any(|kinds| kinds.any()) {
                    break;
                }
                self.pairs([place.at[0] + aside[0], place.at[1] + aside[1]], space, &mut there);
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
        let around =
            ACROSS.iter().flat_map(|[dx, dy]| [[*dx, *dy], [-dx, -dy]]).map(|way| way.map(|v| 1.5 * ASIDE * v));
        let mut here = mem::take(&mut space.here);
        let any = [[0.0; 2]].into_iter().chain(around).any(|[dx, dy]| {
            let at = [x + dx, y + dy];
            self.pairs(at, space, &mut here);
            let slopes = |pair: &Pair| {
                pair.side().map_or([0.0; 2], |(side, k)| self.images[side].slope_f64(&space.hits[side][k]))
            };
            let news: Vec<bool> = here.iter().map(|pair| !plain || !slight(pair, slopes(pair))).collect();
            self.widen(&mut here, Place { at, role: Role::Square(0.0) }, space);
            let counts = |pair: &Pair, news: bool| if news { pair.wide } else { pair.wide.without(Kind::Height) };
            here.iter().zip(news).any(|(pair, news)| counts(pair, news).any())
        });
        space.here = here;
        any
    }

    pub fn space(&self) -> Space {
        Space { hits: self.images.map(room), ..Space::default() }
    }
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
    fn stays(&self, pair: &Pair, [dx, dy]: [f64; 2], there: &[Pair]) -> Kinds {
        let z = pair.z[self.side] + self.slope[0] * dx + self.slope[1] * dy;
        let far = |other: &&Pair| (other.z[self.side] - z).abs();
        let same = there.iter().filter(|other| other.hits[self.side].is_some());
        let same = same.min_by(|p, q| far(p).total_cmp(&far(q))).filter(|other| far(other) <= self.most);
        same.map_or_else(|| there.iter().fold(Kinds::NONE, |all, other| all.or(other.kinds)), |other| other.kinds)
    }
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
        into.extend(
            (below.saturating_sub(1)..others.len().min(below + 1)).min_by(|i, k| distance(i).total_cmp(&distance(k))),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardpan_builder::{Options, Scene, build, fixtures};

    fn compare(a: &Scene, b: &Scene) -> Ground {
        let [a, b] = [a, b].map(|s| build(s, &Options::default()).unwrap().image);
        let [a, b] = [&a, &b].map(|image| Terrain::open(image).unwrap());
        ground(&Both::new([&a, &b], 0.0), None, None).unwrap()
    }

    #[test]
    fn ground_that_rises_goes_and_comes() {
        let scene = fixtures::bridge();
        let g = compare(&scene, &scene);
        assert_eq!(
            (g.changed.places, g.largest, g.lost.places, g.gained.places, g.materials.len()),
            (0, None, 0, 0, 0)
        );

        // one corner of the deck, up by a quarter
        let mut raised = scene.clone();
        let corner = raised.positions.iter().position(|p| *p == [5.0, 50.0, 6.0]).unwrap();
        raised.positions[corner][2] = 6.25;
        let g = compare(&scene, &raised);
        assert_eq!(g.largest, Some(Largest { at: [5.0, 50.0], from: 6.0, to: 6.25 }));
        assert_eq!((g.lost.places, g.gained.places), (0, 0));
        assert!(g.changed.places > 1000);

        // no deck
        let mut bare = scene.clone();
        bare.triangles.retain(|t| t.material == 0);
        let g = compare(&scene, &bare);
        assert_eq!((g.changed.places, g.gained.places), (0, 0));
        assert_eq!(g.lost.first, Some([-5.0, -50.0, 6.0]));
        let back = compare(&bare, &scene);
        assert_eq!((back.gained, back.lost), (g.lost, g.gained));

        // a deck of another material
        let mut steel = scene.clone();
        steel.materials[1].name = "Steel".into();
        let g = compare(&scene, &steel);
        let change = |m: &MaterialChange| (m.from.clone(), m.to.clone(), m.count.first);
        assert_eq!(
            g.materials.iter().map(change).collect::<Vec<_>>(),
            [("Deck".into(), "Steel".into(), Some([-5.0, -50.0, 6.0]))]
        );
    }

    #[test]
    fn a_vertex_between_the_places_of_the_grid_counts() {
        let mut scene = fixtures::flat();
        let spike = |scene: &mut Scene, z| {
            let base = scene.positions.len() as u32;
            scene.positions.extend([[0.1, 0.1, 0.0], [0.11, 0.1, 0.0], [0.1003, 0.1003, z]]);
            scene.triangles.push(hardpan_builder::Triangle { v: [base, base + 1, base + 2], material: 0, source: 0 });
        };
        let flat = {
            let mut s = scene.clone();
            spike(&mut s, 0.25);
            s
        };
        spike(&mut scene, 0.5);
        let largest = compare(&flat, &scene).largest.unwrap();
        assert_eq!((largest.from, largest.to), (0.25, 0.5));
    }
}
