//! Differences of the ground, over all places.

use std::{cmp::Reverse, collections::BTreeMap, mem, ops::Index};

use hardpan::Terrain;
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::{
    Options,
    edges::{Found, by_place, crossings, edges},
    pairs::{Both, Kind, Kinds, Pair, Space},
    places::{Grid, Place, Role, TooMany, borders, marks, plan},
};

/// Places that are looked at together.
const CHUNK: usize = 1 << 14;

/// Differences of the ground.
#[derive(Clone, Debug, Serialize)]
pub struct Ground {
    pub grid: f64,
    /// Up to which heights count as equal, metres.
    pub tolerance: f64,
    pub places: u64,
    /// Those of them where edges cross that only one image has.
    pub crossings: Found,
    /// Places with ground in both images.
    pub shared: u64,
    pub largest: Option<Largest>,
    #[serde(flatten)]
    pub counts: Counts,
    pub materials: Vec<MaterialChange>,
}

/// Places of each kind, apart from those with another material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts([Count; Kind::COUNTED.len()]);

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
    pub beside: u64,
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

/// The differences at a place, over all layers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Whether either image has ground there.
    pub ground: bool,
    /// The kinds of difference; lost or gained ground counts only if it is more than an edge.
    pub kinds: Kinds,
    /// The largest change of friction.
    pub mu: f32,
    /// The largest change of height, metres.
    pub change: f64,
}

/// Asks at places of its own too, and sees what all places show.
pub trait Watch: Sync {
    /// How many places of its own there are.
    fn count(&self) -> usize;
    /// One of them, by its number.
    fn place(&self, number: usize) -> [f64; 2];
    /// Some places and what they show, of all that differ and of its own.
    fn see(&self, places: Vec<([f64; 2], Seen)>);
}

impl Ground {
    /// Whether no place has ground in both.
    pub fn apart(&self) -> bool {
        self.shared == 0
    }

    /// Whether ground lies over the same places in both, with no other heights or names of materials.
    pub fn same(&self) -> bool {
        let none = [Kind::Height, Kind::Lost, Kind::Gained].iter().all(|kind| self.counts[*kind].places == 0);
        none && self.materials.is_empty() && self.shared > 0
    }

    /// Whether ground is lost or gained along edges alone.
    pub fn thin(&self) -> bool {
        [Kind::Lost, Kind::Gained].map(|kind| self.counts[kind]).iter().any(Count::is_thin)
    }
}

impl Index<Kind> for Counts {
    type Output = Count;

    fn index(&self, kind: Kind) -> &Count {
        &self.0[kind as usize]
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(Kind::COUNTED.iter().map(|(_, name)| name).zip(&self.0))
    }
}

impl Count {
    fn add(&mut self, place: Place, z: f64, wide: bool) {
        let ([x, y], role) = (place.at, if wide { place.role } else { Role::Mark });
        let area = if let Role::Square(area) = role { area } else { 0.0 };
        let (first, extent) = (Some([x, y, z]), Some([[x, y]; 2]));
        self.join(&Count { places: 1, beside: u64::from(role == Role::Beside), first, extent, area });
    }

    /// Takes in other places.
    pub fn join(&mut self, other: &Count) {
        self.places += other.places;
        self.beside += other.beside;
        self.area += other.area;
        let first = [self.first, other.first].into_iter().flatten();
        self.first = first.min_by(|p, q| by_place(&[p[0], p[1]], &[q[0], q[1]]));
        let ends = [self.extent, other.extent].into_iter().flatten();
        self.extent = ends.reduce(|p, q| [[0, 1].map(|i| p[0][i].min(q[0][i])), [0, 1].map(|i| p[1][i].max(q[1][i]))]);
    }

    /// Whether it is no mere edge.
    pub fn is_wide(&self) -> bool {
        self.area > 0.0 || self.beside > 0
    }

    /// Whether there are places, along edges alone.
    pub fn is_thin(&self) -> bool {
        self.places > 0 && !self.is_wide()
    }
}

impl Seen {
    pub fn has(&self, kind: Kind) -> bool {
        self.kinds.has(kind)
    }

    pub fn differs(&self) -> bool {
        self.kinds.any()
    }

    fn of(pair: &Pair) -> Self {
        let ends = Kind::Lost.bit() | Kind::Gained.bit();
        let kinds = Kinds(pair.kinds.0 & !ends | pair.wide.0 & ends);
        let change = if kinds.has(Kind::Height) { pair.z[1] - pair.z[0] } else { 0.0 };
        Seen { ground: true, kinds, mu: pair.mu as f32, change }
    }

    /// Takes in more of the place; the same in whatever order.
    pub fn join(&mut self, other: Seen) {
        self.ground |= other.ground;
        self.kinds.0 |= other.kinds.0;
        if (other.change.abs(), other.change) > (self.change.abs(), self.change) {
            self.change = other.change;
        }
        // of two equal changes the lower one, which is worse
        if (other.mu.abs(), -other.mu) > (self.mu.abs(), -self.mu) {
            self.mu = other.mu;
        }
    }
}

/// Asks everywhere, and at the places of `watch` too.
pub fn ground(images: [&Terrain; 2], options: &Options, watch: Option<&dyn Watch>) -> Result<Ground, TooMany> {
    let both = Both::new(images, options.tolerance.unwrap_or(0.0));
    let grid = Grid::new(images.map(Terrain::bounds), options.grid)?;
    let (marks, crossings) = all_marks(images, &grid);
    let squares = marks.len()..marks.len() + grid.places();
    let count = squares.end + watch.map_or(0, |watch| watch.count());
    let place = |i: usize| match (marks.get(i), watch) {
        (Some(mark), _) => Some(*mark),
        (_, Some(watch)) if i >= squares.end => {
            let at = watch.place(i - squares.end);
            // a place is asked once
            let asked = marks.binary_search_by(|p| grid.order(&p.at, &at)).is_ok();
            (!asked).then_some(Place { at, role: Role::Pixel })
        }
        _ => Some(grid.place(i - squares.start)),
    };
    // parts in order, so that sums are the same whatever the threads
    let parts: Vec<Part> = (0..count.div_ceil(CHUNK))
        .into_par_iter()
        .map(|chunk| {
            let (mut part, mut space) = (Part::default(), both.space());
            let places = (chunk * CHUNK..count.min((chunk + 1) * CHUNK)).filter_map(place);
            let seen = places.filter_map(|place| part.look(&both, place, &mut space).map(|seen| (place.at, seen)));
            match watch {
                Some(watch) => watch.see(seen.collect()),
                None => seen.for_each(drop),
            }
            part
        })
        .collect();
    let mut all = Part::default();
    parts.into_iter().for_each(|part| all.join(part));
    let named = |((from, to), count)| MaterialChange {
        from: images[0].material_name(from).into(),
        to: images[1].material_name(to).into(),
        count,
    };
    let mut materials: Vec<MaterialChange> = all.materials.into_iter().map(named).collect();
    materials.sort_by_key(|m| (Reverse(m.count.places), m.from.clone(), m.to.clone()));
    let Part { places, shared, largest, counts, .. } = all;
    Ok(Ground { grid: grid.pitch, tolerance: both.tolerance, places, crossings, shared, largest, counts, materials })
}

/// Places of triangles and along edges, in the order of the grid.
fn all_marks(images: [&Terrain; 2], grid: &Grid) -> (Vec<Place>, Found) {
    let triangles = images.map(plan);
    let (crossed, crossings) = crossings(&edges(&triangles[0]), &edges(&triangles[1]));
    let ends = triangles.iter().flat_map(|triangles| marks(triangles));
    let mut all: Vec<Place> = ends.chain(crossed).map(|at| Place { at, role: Role::Mark }).collect();
    all.extend(borders(images[0], images[1]));
    all.par_sort_unstable_by(|p, q| grid.order(&p.at, &q.at).then((p.role == Role::Mark).cmp(&(q.role == Role::Mark))));
    all.dedup_by_key(|p| p.at);
    (all, crossings)
}

/// Differences of some places together.
#[derive(Default)]
struct Part {
    places: u64,
    shared: u64,
    largest: Option<Largest>,
    counts: Counts,
    /// By number in both images, where the names differ.
    materials: BTreeMap<(u16, u16), Count>,
}

impl Part {
    /// The difference at a place, if it is to be seen.
    fn look(&mut self, both: &Both, place: Place, space: &mut Space) -> Option<Seen> {
        let mut here = mem::take(&mut space.here);
        self.places += 1;
        self.shared += u64::from(both.pairs(place.at, space, &mut here));
        both.widen(&mut here, place, space);
        let mut seen = Seen { ground: !here.is_empty(), ..Seen::default() };
        let mut changed: Option<(f64, bool)> = None;
        for pair in here.iter().filter(|pair| pair.kinds.any()) {
            let [from, to] = pair.z;
            for (kind, _) in Kind::COUNTED {
                if pair.kinds.has(kind) && kind != Kind::Height {
                    self.counts.0[kind as usize].add(place, to, pair.wide.has(kind));
                }
            }
            if pair.kinds.has(Kind::Height) {
                changed.get_or_insert((to, false)).1 |= pair.wide.has(Kind::Height);
                self.change(Largest { at: place.at, from, to });
            }
            if pair.kinds.has(Kind::Material) {
                let count = self.materials.entry(pair.materials.into()).or_default();
                count.add(place, to, pair.wide.has(Kind::Material));
            }
            seen.join(Seen::of(pair));
        }
        // once, however many layers
        if let Some((z, wide)) = changed {
            self.counts.0[Kind::Height as usize].add(place, z, wide);
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
        self.places += later.places;
        self.shared += later.shared;
        later.largest.into_iter().for_each(|c| self.change(c));
        self.counts.0.iter_mut().zip(&later.counts.0).for_each(|(count, more)| count.join(more));
        later.materials.iter().for_each(|(k, count)| self.materials.entry(*k).or_default().join(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::scene::Scene;

    fn compare(a: &Scene, b: &Scene) -> Ground {
        let [a, b] = [a, b].map(|s| build(s, &crate::options::Options::default()).unwrap().image);
        let [a, b] = [&a, &b].map(|image| Terrain::open(image).unwrap());
        ground([&a, &b], &Options::default(), None).unwrap()
    }

    #[test]
    fn a_vertex_between_the_places_of_the_grid_counts() {
        let mut scene = fixtures::flat();
        let spike = |scene: &mut Scene, z| {
            let base = scene.positions.len() as u32;
            scene.positions.extend([[0.1, 0.1, 0.0], [0.11, 0.1, 0.0], [0.1003, 0.1003, z]]);
            scene.triangles.push(crate::scene::Triangle { v: [base, base + 1, base + 2], material: 0, source: 0 });
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
