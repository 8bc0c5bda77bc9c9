//! The ground under repair, how far repairs moved it, and what they swept over.

use super::clean::{self, Sides};
use super::neighbours::{Counted, distance};
use crate::build::lattice::{edge, least_first};
use crate::options::Near;
use crate::report::Repair;
use crate::scene::Material;
use crate::util::exact::area2;
use hardpan_shaders::Face;
use hardpan_shaders::sort::mix;
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// How far each triangle has been moved so far, by its corners: those that stayed are not in it.
pub type Moved = BTreeMap<[u32; 3], [f64; 2]>;

pub type Place = [i32; 3];
/// How many more triangles lie to the left of an edge than to the right, its ends before and after, one of them, and
/// how far it was moved.
type Way = (i32, [[Place; 2]; 2], Face, [f64; 2]);
/// First corner of a triangle that is to go.
pub const GONE: u32 = u32::MAX;

/// The ground under repair.
pub struct Ground<'a> {
    /// Ascending, but while triangles are divided.
    pub vertices: Vec<[i32; 3]>,
    /// Ascending, but while triangles are divided: then those that are gone stay in their places.
    pub faces: Vec<Face>,
    pub moved: Moved,
    /// Repairs of the ground.
    pub record: Record,
    pub materials: &'a [Material],
    /// The origin in steps.
    pub origin: [i64; 3],
    /// How far repairs may move a place in all, in steps of plan and height.
    pub farthest: [f64; 2],
    /// Edges that triangles of another part of the ground have, too.
    pub inner: Vec<[u32; 2]>,
    /// The changes that walls have to follow, if there are walls.
    pub trail: Option<Trail>,
}

/// Changes of vertices and edges of the ground, in order.
#[derive(Default)]
pub struct Trail(pub Vec<Step>);

/// A change that walls at a place repeat.
pub enum Step {
    /// A vertex went to another place.
    Moved(Place, Place),
    /// An edge became a path between its ends.
    Drawn(Vec<Place>),
    /// A part of the ground became upright: now it is a wall.
    Upright([Place; 3], Face),
}

impl Ground<'_> {
    /// Adds faces that no repair has seen, with their corners.
    pub fn add_apart(&mut self, faces: Vec<(Face, [Place; 3])>) {
        if faces.is_empty() {
            return;
        }
        let mut all: Vec<Place> = self.vertices.iter().copied().chain(faces.iter().flat_map(|(_, c)| *c)).collect();
        all.sort_unstable();
        all.dedup();
        let number = |p: &Place| all.binary_search(p).unwrap_or_default() as u32;
        // ascending numbers stay ascending
        let known: Vec<u32> = self.vertices.iter().map(number).collect();
        let renumbered = |v: [u32; 3]| v.map(|v| known[v as usize]);
        self.faces.iter_mut().for_each(|f| f.v = renumbered(f.v));
        self.moved = std::mem::take(&mut self.moved).into_iter().map(|(v, by)| (renumbered(v), by)).collect();
        self.faces.extend(faces.iter().map(|(f, corners)| Face { v: corners.each_ref().map(number), ..*f }));
        self.faces.sort_unstable();
        self.vertices = all;
    }

    pub fn corners<const N: usize>(&self, v: [u32; N]) -> [[i32; 3]; N] {
        v.map(|v| self.vertices[v as usize])
    }

    /// The places of corners, ascending.
    pub fn by_place(&self, v: [u32; 3]) -> [[i32; 3]; 3] {
        let mut places = self.corners(v);
        places.sort_unstable();
        places
    }

    /// How far a face was moved so far.
    pub fn by(&self, v: &[u32; 3]) -> [f64; 2] {
        self.moved.get(v).copied().unwrap_or_default()
    }

    /// The places of vertices, whose numbers ascend.
    pub fn points(&self, v: &[u32], near: Near) -> Counted {
        Counted::new(v.iter().map(|&v| self.vertices[v as usize]).collect(), near)
    }

    /// Notes what walls have to follow.
    pub fn follow(&mut self, steps: impl IntoIterator<Item = Step>) {
        if let Some(trail) = &mut self.trail {
            trail.0.extend(steps);
        }
    }

    /// A hash of a place, wherever the origin is.
    pub fn hash(&self, p: [i32; 3]) -> u64 {
        (0..3).fold(0, |h, i| mix(h ^ (self.origin[i] + i64::from(p[i])) as u64))
    }

    /// Notes how far faces were moved, if they were; of coincident ones the farthest.
    pub fn note(&mut self, changed: impl IntoIterator<Item = ([u32; 3], [f64; 2])>) {
        for (v, by) in changed.into_iter().filter(|(_, by)| *by != [0.0; 2]) {
            let most = self.moved.entry(v).or_default();
            *most = [most[0].max(by[0]), most[1].max(by[1])];
        }
    }

    /// Takes out what is gone, brings the others in order and keeps one of coincident ones.
    pub fn settle(&mut self, repair: &mut Repair) {
        self.faces.retain(|f| f.v[0] != GONE);
        self.faces.sort(); // mostly sorted already
        repair.duplicates += clean::duplicates(&mut self.faces, self.materials, &Sides::default()).0;
    }

    /// Takes out what is gone, and numbers vertices by their places again.
    pub fn order(&mut self) {
        let mut order: Vec<([i32; 3], u32)> = self.vertices.iter().copied().zip(0..).collect();
        order.sort(); // mostly sorted already
        let mut numbers = vec![0; order.len()];
        order.iter().zip(0..).for_each(|((_, v), number)| numbers[*v as usize] = number);
        self.vertices.iter_mut().zip(&order).for_each(|(p, (place, _))| *p = *place);
        drop(order);
        let renumber = |v: [u32; 3]| least_first(v.map(|v| numbers[v as usize]));
        self.faces.retain(|f| f.v[0] != GONE);
        self.faces.iter_mut().for_each(|f| f.v = renumber(f.v));
        self.faces.sort(); // mostly sorted already
        self.inner.iter_mut().for_each(|ends| *ends = ends.map(|v| numbers[v as usize]));
        self.moved = std::mem::take(&mut self.moved).into_iter().map(|(v, by)| (renumber(v), by)).collect();
    }
}

/// Whether a shift on top of another stays within a limit; none does not.
pub fn bearable(before: [f64; 2], by: [f64; 2], limit: [f64; 2]) -> bool {
    (0..2).all(|i| by[i] == 0.0 || before[i] + by[i] <= limit[i])
}

/// Ground that was uncovered, maybe.
#[derive(Clone, Copy, Debug)]
pub struct Sweep {
    /// Counter-clockwise.
    pub corners: [Place; 3],
    /// The triangle that it is of.
    pub face: Face,
    /// How far that was moved in all.
    pub by: [f64; 2],
    /// How far this lies off where it was in the beginning.
    pub off: [f64; 2],
}

/// The mesh before repairs, and what they swept over.
#[derive(Default)]
pub struct Record {
    pub before: Option<(Vec<Place>, Vec<Face>)>,
    pub swept: Vec<Sweep>,
}

impl Sweep {
    /// The square of its longest side in plan.
    pub fn size(&self) -> u128 {
        let [a, b, c] = self.corners;
        distance(a, b).0.max(distance(b, c).0).max(distance(c, a).0)
    }

    /// How far its apex lies off its base.
    pub fn wide(&self) -> f64 {
        let [a, b, c] = self.corners;
        let d = [0, 1].map(|k| f64::from(b[k]) - f64::from(a[k]));
        area2(a, b, c) as f64 / (d[0] * d[0] + d[1] * d[1]).sqrt() + 1.0
    }
}

impl Record {
    /// Begins the record; call it before anything changes.
    pub fn begin(&mut self, vertices: &[Place], faces: &[Face]) {
        self.before.get_or_insert_with(|| (vertices.to_vec(), faces.to_vec()));
    }

    fn add(&mut self, corners: [Place; 3], face: Face, by: [f64; 2], off: [f64; 2]) {
        let [a, b, c] = corners;
        if area2(a, b, c) > 0 {
            self.swept.push(Sweep { corners, face, by, off });
        }
    }

    /// A side of a triangle with these corners, which was moved so far before and in all, was drawn to a path.
    pub fn drawn(&mut self, path: &[Place], face: Face, [a, b, c]: [Place; 3], [before, by]: [[f64; 2]; 2]) {
        if let [first, .., last] = path
            && path.len() > 2
        {
            let middle = path.len() / 2;
            let corners = [*first, *last, path[middle]];
            let is_inside = |p: &Place| [(a, b), (b, c), (c, a)].iter().all(|(q, r)| area2(*q, *r, *p) >= 0);
            let plan = if corners.iter().all(is_inside) { before[0] } else { by[0] };
            self.add(corners, face, by, [plan, by[1]]);
            self.drawn(&path[..=middle], face, [a, b, c], [before, by]);
            self.drawn(&path[middle..], face, [a, b, c], [before, by]);
        }
    }

    /// These triangles were moved, each told with its places before and after: all that have any of the vertices that
    /// were.
    pub fn moved(&mut self, faces: Vec<(Face, [[Place; 3]; 2], [f64; 2])>) {
        // edges with as many triangles on one side as on the other sweep over nothing
        let mut edges: HashMap<u64, Way> = HashMap::new();
        for (face, [from, to], by) in faces {
            for k in 0..3 {
                let l = (k + 1) % 3;
                if from[k] == to[k] && from[l] == to[l] {
                    continue;
                }
                let [a, b] = [face.v[k], face.v[l]];
                let way = if a < b { 1 } else { -1 };
                let [p, q] = if a < b { [k, l] } else { [l, k] };
                let line = [[from[p], to[p]], [from[q], to[q]]];
                let known = edges.entry(edge(a, b)).or_insert((0, line, face, by));
                *known = (known.0 + way, line, known.2.min(face), [0, 1].map(|i| by[i].max(known.3[i])));
            }
        }
        for (count, [[mut p, mut p_to], [mut q, mut q_to]], face, by) in edges.into_values() {
            if count < 0 {
                std::mem::swap(&mut p, &mut q);
                std::mem::swap(&mut p_to, &mut q_to);
            }
            if count != 0 {
                self.add([p, q, q_to], face, by, by);
                self.add([p, q_to, p_to], face, by, by);
            }
        }
    }
}
