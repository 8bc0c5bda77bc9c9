//! What differs on the ground, over all places.

use std::{cmp::Reverse, collections::BTreeMap, mem};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    super::Done,
    drawing::{Drawing, Seen},
    edges::{Found, by_place, crossings, edges},
    moved::{Move, Raised, Rises, Rounded},
    pairs::{Both, Kind, Space},
    places::{Grid, Place, Role, borders, marks},
};

/// Squares of which it is seen whether all rose by one height, about, if there are more.
const RISES: usize = 1 << 18;
/// Places that are looked at together.
const CHUNK: usize = 1 << 14;
/// What is counted for each layer of a place.
const COUNTED: [Kind; 8] = [
    Kind::Lost,
    Kind::Gained,
    Kind::MuHigher,
    Kind::MuLower,
    Kind::RrHigher,
    Kind::RrLower,
    Kind::GainHigher,
    Kind::GainLower,
];

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
    /// If most did so as by rounding.
    pub rounded: Option<Rounded>,
    #[serde(skip)]
    pub rises: Rises,
    /// Of all ground over squares, m2.
    #[serde(skip)]
    pub area: f64,
    pub lost: Count,
    pub gained: Count,
    pub mu_higher: Count,
    pub mu_lower: Count,
    pub rr_higher: Count,
    pub rr_lower: Count,
    pub gain_higher: Count,
    pub gain_lower: Count,
    pub materials: Vec<MaterialChange>,
}

impl Ground {
    /// Whether no place has ground in both.
    pub fn apart(&self) -> bool {
        self.shared == 0
    }

    /// Whether ground lies over the same places in both, with no other heights or names of materials.
    pub fn same(&self) -> bool {
        let none = [self.changed, self.lost, self.gained].iter().all(|count| count.places == 0);
        none && self.materials.is_empty() && self.shared > 0
    }

    /// Whether its friction, rolling resistance and gain are the same.
    pub fn same_properties(&self) -> bool {
        let all = [self.mu_higher, self.mu_lower, self.rr_higher, self.rr_lower, self.gain_higher, self.gain_lower];
        all.iter().all(|count| count.places == 0)
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
    let grid = Grid::new([0, 1].map(|i| both.bounds(i)), pitch)?;
    let triangles = [0, 1].map(|i| both.plan(i));
    // after a move that was not exact all edges are others
    let same_frame = both.to == Move::default();
    let edges = [0, 1].map(|i| edges(&triangles[i]));
    let (crossed, crossings) = if same_frame { crossings(&edges[0], &edges[1]) } else { Default::default() };
    let beside = both.far_around().and_then(|far| grid.beside(&edges, far));
    drop(edges);
    let ends = triangles.iter().flat_map(|triangles| marks(triangles));
    let mut marks: Vec<Place> = ends.chain(crossed).map(|at| Place { at, role: Role::Mark, clear: false }).collect();
    drop(triangles);
    if same_frame {
        marks.extend(borders(a, b));
    }
    marks.retain(|p| !grid.has(p.at));
    marks.par_sort_unstable_by(|p, q| {
        grid.order(&p.at, &q.at).then((p.role == Role::Mark).cmp(&(q.role == Role::Mark)))
    });
    marks.dedup_by_key(|p| p.at);
    let squares = marks.len()..marks.len() + grid.places();
    let all = squares.end + drawing.map_or(0, Drawing::pixels);
    let place = |i: usize| match marks.get(i) {
        Some(mark) => Some(*mark),
        None if squares.contains(&i) => {
            let number = i - squares.start;
            let clear = beside.as_ref().is_some_and(|beside| !beside.has(number));
            Some(Place { clear, ..grid.place(number) })
        }
        // a place is asked once
        None => drawing.map(|d| d.middle(i - squares.end)).and_then(|at| {
            let asked = grid.has(at) || marks.binary_search_by(|p| grid.order(&p.at, &at)).is_ok();
            (!asked).then_some(Place { at, role: Role::Pixel, clear: false })
        }),
    };
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
        raised: None,
        rounded: None,
        rises: all.rises,
        area: all.area,
        lost: count(Kind::Lost),
        gained: count(Kind::Gained),
        mu_higher: count(Kind::MuHigher),
        mu_lower: count(Kind::MuLower),
        rr_higher: count(Kind::RrHigher),
        rr_lower: count(Kind::RrLower),
        gain_higher: count(Kind::GainHigher),
        gain_lower: count(Kind::GainLower),
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
    rises: Rises,
    area: f64,
    /// Changes of height are kept of one of so many squares.
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
        if let Role::Square(area) = place.role {
            self.area += area * here.len() as f64;
        }
        self.rises.look(&here, place, self.places.is_multiple_of(self.every));
        let mut seen = Seen { ground: !here.is_empty(), ..Seen::default() };
        let mut changed: Option<(f64, bool)> = None;
        for pair in here.iter().filter(|pair| pair.differs()) {
            let [from, to] = pair.z;
            for kind in COUNTED {
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
        self.rises.join(later.rises);
        self.area += later.area;
        self.places += later.places;
        self.shared += later.shared;
        later.largest.into_iter().for_each(|c| self.change(c));
        self.counts.iter_mut().zip(&later.counts).for_each(|(count, more)| count.join(more));
        later.materials.iter().for_each(|(k, count)| self.materials.entry(*k).or_default().join(count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Scene, build, fixtures};
    use hardpan::Terrain;

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

    /// Where no edge lies about a place it needs not be asked for: what differs there counts as if it were.
    #[test]
    fn ground_goes_on_where_no_edge_is() {
        let raised = |mut scene: Scene, by: f64| {
            scene.positions.iter_mut().for_each(|p| p[2] += by + 0.01 * (0.1 * p[0]).sin());
            scene.materials.iter_mut().for_each(|m| m.mu /= 2.0);
            scene
        };
        let (mut kept, mut clear) = (0, 0);
        let scenes = [fixtures::bridge(), fixtures::town(1), fixtures::soup(3)];
        for (scene, by) in scenes.iter().flat_map(|s| [0.001, 0.05, 0.7].map(|by| (s, by))) {
            let images = [scene, &raised(scene.clone(), by)].map(|s| build(s, &Options::default()).unwrap().image);
            let [a, b] = [0, 1].map(|i| Terrain::open(&images[i]).unwrap());
            let both = Both::new([&a, &b], 0.0);
            let grid = Grid::new([0, 1].map(|i| both.bounds(i)), None).unwrap();
            let edges = [0, 1].map(|i| edges(&both.plan(i)));
            let beside = grid.beside(&edges, both.far_around().unwrap()).unwrap();
            let (mut space, mut here) = (both.space(), Vec::new());
            for number in (0..grid.places()).step_by(17).filter(|number| !beside.has(*number)) {
                let place = grid.place(number);
                both.pairs(place.at, &mut space, &mut here);
                let [known, asked] = [true, false].map(|clear| {
                    both.widen(&mut here, Place { clear, ..place }, &mut space);
                    here.iter().map(|pair| pair.wide).collect::<Vec<_>>()
                });
                assert_eq!(known, asked, "{:?}", place.at);
                kept += here.iter().filter(|pair| pair.is_both() && pair.differs()).count();
                clear += 1;
            }
        }
        assert!(clear > 50_000 && kept > 50_000, "{clear} {kept}");
    }

    #[test]
    fn a_vertex_between_the_places_of_the_grid_counts() {
        let mut scene = fixtures::flat();
        let spike = |scene: &mut Scene, z| {
            let base = scene.positions.len() as u32;
            scene.positions.extend([[0.1, 0.1, 0.0], [0.11, 0.1, 0.0], [0.1003, 0.1003, z]]);
            scene.triangles.push(crate::Triangle { v: [base, base + 1, base + 2], material: 0, source: 0 });
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
