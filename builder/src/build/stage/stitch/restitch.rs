//! The dirty region: where ground was covered again, the mesh is stitched again, and nowhere else.
//!
//! A repair depends only on what lies near. So all triangles around what changed become a mesh by themselves, which is
//! stitched, and put back. If something changed near the border of the region, then that is made larger, and all begins
//! anew.

use super::super::ground::{GONE, Ground, Record, Trail};
use super::super::region::{Flat, Region, ends_of, wider};
use super::{Done, Task, sides};
use crate::build::lattice::least_first;
use crate::report::Repair;
use hardpan_shaders::Face;
use hashbrown::HashMap;
use rayon::prelude::*;

/// How far around what changed the region goes on at least, in the farthest shifts of repairs in plan, and in steps
/// more.
const MARGIN: (f64, i64) = (8.0, 64);
/// Triangles in which one of the region is too many for a mesh by themselves.
const SHARE: usize = 2;

/// Stitches a mesh again where its last triangles were added, after this was done. So many vertices and triangles there
/// were before.
pub fn again(task: &Task, ground: &mut Ground, done: Done, known: [usize; 2]) -> Done {
    let margin = (MARGIN.0 * ground.farthest[0]) as i64 + MARGIN.1;
    let added = &ground.faces[known[1]..];
    let restored = added.len() as u64;
    let mut dirty: Vec<Flat> = added.iter().map(|f| wider(ends_of(&ground.corners(f.v)), margin)).collect();
    if !done.is_settled {
        return task.again(ground, done, restored);
    }
    loop {
        let part = Part::new(ground, known, &dirty, margin);
        if part.faces.len() * SHARE > known[1] {
            break;
        }
        let task = Task { outside: known[1] - part.faces.len(), ..*task };
        let mut now = part.ground(ground, true);
        let after = task.again(&mut now, Done { repair: done.repair, ..Done::default() }, restored);
        let beyond = part.changed_beyond(ground, &now, margin);
        if beyond.is_empty() {
            let before = task.once(&mut part.ground(ground, false), Done::default(), 0);
            part.put_back(ground, now);
            return done.with(before, after);
        }
        dirty.extend(beyond);
    }
    task.again(ground, done, restored)
}

impl Done {
    /// The rest after a change in one part: before and after.
    fn with(mut self, mut before: Done, after: Done) -> Done {
        let left = |of: fn(&Repair) -> u64| of(&self.repair) + of(&after.repair) - of(&before.repair);
        let repair = Repair {
            left: left(|r| r.left),
            crowded: left(|r| r.crowded),
            slits: left(|r| r.slits),
            open_edges: left(|r| r.open_edges),
            ..after.repair
        };
        before.slits.sort_unstable();
        self.slits.retain(|slit| before.slits.binary_search(slit).is_err());
        self.slits.extend(after.slits);
        Done { repair, ..self }
    }
}

/// A part of a mesh: all triangles in a region.
struct Part {
    region: Region,
    /// How many vertices and triangles the mesh had before some were added.
    known: [usize; 2],
    /// Numbers of those in the part, ascending.
    vertices: Vec<u32>,
    faces: Vec<u32>,
    /// Edges that triangles outside may have, too.
    inner: Vec<[u32; 2]>,
}

impl Part {
    /// Around what is dirty: no triangle that reaches into that lies partly outside.
    fn new(ground: &Ground, known: [usize; 2], dirty: &[Flat], margin: i64) -> Part {
        let all = &ground.faces[..known[1]];
        let flat = |f: &Face| ends_of(&ground.corners(f.v));
        let near = Region::new(dirty);
        let around = all.par_iter().map(flat).filter(|flat| near.meets(*flat)).map(|flat| wider(flat, margin));
        let mut around: Vec<Flat> = around.collect();
        around.extend(dirty);
        let region = Region::new(&around);
        let is_in: Vec<bool> = all.par_iter().map(|f| region.meets(flat(f))).collect();
        let faces: Vec<u32> = (0..).zip(&is_in).filter(|(_, is_in)| **is_in).map(|(i, _)| i).collect();
        let mut is_corner = vec![false; known[0]];
        faces.iter().flat_map(|i| all[*i as usize].v).for_each(|v| is_corner[v as usize] = true);
        let outside = all.par_iter().zip(&is_in).filter(|(_, is_in)| !**is_in);
        let inner =
            outside.flat_map_iter(|(f, _)| sides(f.v).filter(|ends| ends.iter().all(|v| is_corner[*v as usize])));
        let inner = inner.collect();
        let is_in = |v: &u32| is_corner[*v as usize] || region.meets(ends_of(&ground.corners([*v])));
        let vertices = (0..known[0] as u32).into_par_iter().filter(is_in).collect();
        Part { region, known, vertices, faces, inner }
    }

    /// The part as a mesh by itself, with what was added last or without.
    fn ground<'a>(&self, whole: &Ground<'a>, all: bool) -> Ground<'a> {
        let [vertices, faces] = self.known;
        let (mut numbers, mut some) = (self.vertices.clone(), self.faces(whole));
        let mut record = Record::default();
        if all {
            numbers.extend(vertices as u32..whole.vertices.len() as u32);
            some.extend(&whole.faces[faces..]);
            record.before = whole.record.before.as_ref().map(|(vertices, faces)| self.of(vertices, faces));
        }
        let number = |v: u32| numbers.binary_search(&v).expect("a vertex of the part") as u32;
        let moved = some.iter().filter_map(|f| Some((f.v.map(number), *whole.moved.get(&f.v)?))).collect();
        Ground {
            vertices: numbers.iter().map(|v| whole.vertices[*v as usize]).collect(),
            faces: some.iter().map(|f| Face { v: f.v.map(number), ..*f }).collect(),
            moved,
            record,
            inner: self.inner.iter().map(|ends| ends.map(number)).collect(),
            trail: whole.trail.as_ref().map(|_| Trail::default()),
            ..*whole
        }
    }

    /// Its triangles.
    fn faces(&self, whole: &Ground) -> Vec<Face> {
        self.faces.iter().map(|i| whole.faces[*i as usize]).collect()
    }

    /// The part of another mesh in the region.
    fn of(&self, vertices: &[[i32; 3]], faces: &[Face]) -> (Vec<[i32; 3]>, Vec<Face>) {
        let is_in = |f: &&Face| self.region.meets(ends_of(&f.v.map(|v| vertices[v as usize])));
        let mut some: Vec<Face> = faces.par_iter().filter(is_in).copied().collect();
        let mut numbers: Vec<u32> = some.iter().flat_map(|f| f.v).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let number = |v: u32| numbers.binary_search(&v).expect("a vertex of the part") as u32;
        some.iter_mut().for_each(|f| f.v = f.v.map(number));
        (numbers.iter().map(|v| vertices[*v as usize]).collect(), some)
    }

    /// Where triangles changed or came to be near the border of the region, or beyond.
    fn changed_beyond(&self, whole: &Ground, now: &Ground, margin: i64) -> Vec<Flat> {
        let key = |ground: &Ground, f: &Face| (ground.corners(f.v), f.material, f.source);
        let before: Vec<_> = self.faces(whole).iter().map(|f| key(whole, f)).collect();
        let after: Vec<_> = now.faces.iter().map(|f| key(now, f)).collect();
        let gone = before.iter().filter(|f| after.binary_search(f).is_err());
        let come = after.iter().filter(|f| before.binary_search(f).is_err());
        let flats = gone.chain(come).map(|(corners, ..)| wider(ends_of(corners), margin));
        flats.filter(|flat| !self.region.surrounds(*flat)).collect()
    }

    /// Puts what became of the part in its place.
    fn put_back(self, whole: &mut Ground, part: Ground) {
        let [vertices, faces] = self.known;
        whole.follow(part.trail.into_iter().flat_map(|trail| trail.0));
        for i in self.faces.into_iter().chain(faces as u32..whole.faces.len() as u32) {
            let face = &mut whole.faces[i as usize];
            whole.moved.remove(&face.v);
            face.v[0] = GONE;
        }
        whole.vertices.truncate(vertices);
        let mut made = HashMap::new();
        let numbers: Vec<u32> = part
            .vertices
            .iter()
            .map(|place| {
                whole.vertices[..vertices].binary_search(place).map_or_else(
                    |_| {
                        *made.entry(*place).or_insert_with(|| {
                            whole.vertices.push(*place);
                            whole.vertices.len() as u32 - 1
                        })
                    },
                    |v| v as u32,
                )
            })
            .collect();
        let back = |v: [u32; 3]| least_first(v.map(|v| numbers[v as usize]));
        whole.faces.extend(part.faces.iter().map(|f| Face { v: back(f.v), ..*f }));
        whole.moved.extend(part.moved.into_iter().map(|(v, by)| (back(v), by)));
        whole.order();
    }
}
