//! Stitch: hairline gaps and T-junctions are closed, for wheels fall through them.
//!
//! An edge is *open* if all triangles that use it lie on one side of it, mostly one. A vertex is open if it ends an
//! open edge. Two things are mended, in passes until there is nothing left to do:
//!
//! - Two open vertices lie within the threshold of each other, and no chain of edges near both links them: they are
//!   joined by the rule of `weld`.
//! - An open vertex lies within the threshold of an open edge, its foot inside the edge, and is no corner of the edge's
//!   triangles: the triangle becomes a [fan](mod@fan) from its apex, along the edge through all such vertices. Of two
//!   with one foot the nearer counts. Where the fan would be degenerate, the nearest vertex that can be had counts
//!   alone. One that lies exactly on another side divides that side. Of a wall, a hair off the vertical, a part may be
//!   upright then: it goes, if it lies within the threshold of an edge of other triangles, and they count as moved as
//!   far as it.
//!
//! Vertices that no triangle can be divided at are [nudged](perturb). Last, [slits] between edges at different heights
//! are closed in plan.
//!
//! No place loses its ground but for a shift, and all shifts of a place are at most twice the thresholds of weld and
//! stitch. All decisions of a round are taken on the mesh as it stood before, and between equals by their places: they
//! depend on no order, and only on what lies near. Heaps of loose triangles are let be: vertices with more than
//! [`Repair::MAX_NEIGHBOURS`] others within reach and their edges, edges with more than about one vertex in each reach
//! along them, and edges of more than [`Repair::MAX_NEIGHBOURS`] triangles or at a vertex with more open edges than
//! that. [`Repair::crowded`] counts the first.

mod boundary;
mod cut;
mod dirty_region;
mod edges;
mod fan;
mod perturb;
mod restitch;
mod slits;

use super::ground::{Ground, Step, bearable};
use super::neighbours::distance;
use super::refill;
use super::weld::{Joins, join};
use crate::build::lattice::{edge, oriented};
use crate::options::Near;
use crate::report::Repair;
use boundary::{BoundaryVertices, Seams};
use cut::{Cut, Left, Split, Upright};
use dirty_region::DirtyRegion;
use edges::Edges;
use fan::Fan;
use hardpan_shaders::Face;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use slits::{Plan, Slits};

/// Most times that it is gone through again after ground was covered again.
const MAX_REPEATS: usize = 3;
/// Most passes over the mesh.
const MAX_PASSES: usize = 16;
/// Triangles that dividing may add beside twice as many as there are: only heaps of loose triangles come to that.
const MAX_ADDED: u64 = 4096;
/// Most triangles in all.
const MAX_TRIANGLES: u64 = 1 << 30;
/// Most rounds of divisions in a pass.
const MAX_ROUNDS: usize = 64;

/// Closes what lies within the threshold; seen from above also between edges up to `rise` steps higher or lower.
pub fn stitch(ground: &mut Ground, near: Near, rise: u32) -> Repair {
    let task = Task { near, rise, most: most_added(ground.faces.len()), outside: 0 };
    let mut done = task.once(ground, Done::default(), MAX_PASSES);
    let known = [ground.vertices.len(), ground.faces.len()];
    if refill::restore(ground, rise) > 0 {
        done = restitch::again(&task, ground, done, known);
    }
    let corners = done.slits.iter().flatten().min();
    let slit = corners.map(|p| [0, 1, 2].map(|k| (ground.origin[k] + i64::from(p[k])) as f64));
    Repair { slit, ..done.repair }
}

/// A task of the stitching.
#[derive(Clone, Copy)]
struct Task {
    near: Near,
    rise: u32,
    /// Most triangles that dividing may add.
    most: u64,
    /// How many triangles there are beside those of the mesh, which is a part of another then.
    outside: usize,
}

/// Counts of what is stitched, and of what is left.
#[derive(Clone, Default)]
struct Done {
    repair: Repair,
    /// Whether there was nothing left to do in the end.
    is_settled: bool,
    /// Corners of triangles beside slits that are left.
    slits: Vec<[[i32; 3]; 3]>,
}

impl Task {
    /// Goes through a mesh, in so many passes at most.
    fn once(&self, ground: &mut Ground, done: Done, passes: usize) -> Done {
        let mut stitching = Stitching { repair: done.repair, ..Stitching::new(ground, *self) };
        let is_settled = (0..passes).any(|_| stitching.repair.added <= self.most && stitching.pass());
        if !is_settled {
            stitching.count();
        }
        Done { is_settled, ..stitching.finish() }
    }

    /// Goes through a mesh again after so many triangles were added to cover ground again.
    fn again(&self, ground: &mut Ground, mut done: Done, mut restored: u64) -> Done {
        for time in 1..=MAX_REPEATS {
            done.repair.added += restored;
            ground.order();
            let is_last = time == MAX_REPEATS;
            done = self.once(ground, done, if is_last { 0 } else { MAX_PASSES });
            // what is covered again may be beside other vertices
            restored = if is_last { 0 } else { refill::restore(ground, self.rise) };
            if restored == 0 {
                break;
            }
        }
        done
    }
}

/// Most triangles that dividing may add to so many.
fn most_added(faces: usize) -> u64 {
    (2 * faces as u64 + MAX_ADDED).min(MAX_TRIANGLES.saturating_sub(faces as u64))
}

/// Search near open edges, of one kind.
trait Search: Sync {
    /// Its number.
    const KIND: usize;
    /// Whether it looks along edges of several triangles.
    const FOLDS: bool;
    /// A crowd counts as so many left.
    const CROWD: u64;
    /// How much of all that repairs may move a place may go to it.
    const SHARE: f64;

    /// Whether a vertex of the boundary is in a crowd.
    fn is_crowded(&self, n: usize) -> bool;

    /// The points that a side, with its triangle to the left, is to run through, and the vertices of the boundary that
    /// count. None if there are more than `fits`.
    fn along(
        &self,
        side: [u32; 2],
        view: View,
        counts: impl Fn(usize) -> bool,
        fits: impl Fn(usize) -> bool,
    ) -> Option<Vec<cut::Met>>;
}

/// A mesh, its edges, and its open vertices as they were when the divisions began.
#[derive(Clone, Copy)]
struct View<'a> {
    ground: &'a Ground<'a>,
    edges: &'a Edges,
    boundary: &'a BoundaryVertices,
    near: Near,
}

/// A mesh while it is stitched.
struct Stitching<'a, 'b> {
    ground: &'a mut Ground<'b>,
    task: Task,
    edges: Edges,
    /// How many vertices are in order, and the others by their places.
    ordered: usize,
    made: HashMap<[i32; 3], u32>,
    /// Where to look, by kind of search.
    dirty: [DirtyRegion; 2],
    repair: Repair,
    /// Triangles beside slits that are left.
    slits: Vec<u32>,
}

/// Counts of divisions.
#[derive(Default)]
struct Divided {
    /// Places that triangles run through now.
    places: Vec<[i32; 3]>,
    /// How many vertices no triangle could be divided at, and the triangles.
    left: u64,
    at: Vec<u32>,
}

impl<'a, 'b> Stitching<'a, 'b> {
    fn new(ground: &'a mut Ground<'b>, task: Task) -> Self {
        let (edges, ordered) = (Edges::new(ground), ground.vertices.len());
        let (dirty, repair) = ([DirtyRegion::All, DirtyRegion::All], Repair::default());
        Stitching { ground, task, edges, ordered, made: HashMap::new(), dirty, repair, slits: Vec::new() }
    }

    fn boundary(&self) -> BoundaryVertices {
        BoundaryVertices::new(self.ground, &self.edges, self.task.near)
    }

    fn view<'c>(&'c self, boundary: &'c BoundaryVertices) -> View<'c> {
        View { ground: self.ground, edges: &self.edges, boundary, near: self.task.near }
    }

    /// Mends what is to be mended now. Returns whether there was nothing.
    fn pass(&mut self) -> bool {
        let mut boundary = self.boundary();
        let joined = self.join(&mut boundary);
        let seams = self.divide(&boundary, &Seams::new(&boundary));
        self.repair.left += seams.left;
        if self.repair.levelled == 0 {
            self.repair.before_levelled = self.repair.joined + self.repair.divided;
        }
        if joined || !seams.places.is_empty() {
            return false;
        }
        if self.repair.left > self.repair.crowded && self.perturb(&boundary, &seams.at) {
            return false;
        }
        let (plan, before) = (Plan::new(self.view(&boundary), self.task.rise), self.repair.divided);
        let slits = self.divide(&boundary, &Slits::new(&plan));
        self.repair.levelled += self.repair.divided - before;
        self.repair.slits = slits.left;
        self.slits = slits.at;
        slits.places.is_empty()
    }

    /// Joins open vertices. Returns whether there were any.
    fn join(&mut self, boundary: &mut BoundaryVertices) -> bool {
        let Joins { moves, crowded, undecided } = boundary.joins(self.view(boundary));
        let wanted = moves.len() as u64;
        let joined = join(self.ground, self.task.near, moves, &mut self.repair);
        if joined > 0 {
            self.order();
            *boundary = self.boundary();
        }
        (self.repair.left, self.repair.crowded) = (wanted - joined + crowded + undecided, crowded);
        joined > 0
    }

    /// Moves open vertices that nothing else helps beside these triangles. Returns whether there were any.
    fn perturb(&mut self, boundary: &BoundaryVertices, at: &[u32]) -> bool {
        let free = |place: [i32; 3]| self.known(place).is_none();
        let moved = perturb::perturb(self.view(boundary), &Seams::new(boundary), at, free);
        self.repair.nudged += moved.len() as u64;
        if !moved.is_empty() {
            perturb::apply(self.ground, &moved);
            self.order();
        }
        !moved.is_empty()
    }

    /// Brings the mesh in order, and has all of it looked at.
    fn order(&mut self) {
        self.ground.order();
        (self.edges, self.ordered) = (Edges::new(self.ground), self.ground.vertices.len());
        self.made.clear();
        self.dirty = [DirtyRegion::All, DirtyRegion::All];
    }

    /// Divides triangles at what lies near their open edges, where this kind of search is to look.
    fn divide<S: Search>(&mut self, boundary: &BoundaryVertices, search: &S) -> Divided {
        let mut active = self.dirty[S::KIND].faces(self.view(boundary));
        let mut divided = Divided::default();
        let most = self.repair.added + most_added(self.ground.faces.len() + self.task.outside);
        for _ in 0..MAX_ROUNDS {
            if active.is_empty() || self.repair.added > most {
                break;
            }
            let view = self.view(boundary);
            let split = |&face: &u32| {
                let (split, left) = Cut { face, search, view }.split();
                (split.is_some() || left.is_any).then_some((face, split, left))
            };
            let splits: Vec<(u32, Option<Split>, Left)> = active.par_iter().filter_map(split).collect();
            let mut now = Vec::new();
            for (i, split, left) in splits {
                match split {
                    Some(split) => now.push((i, split)),
                    None => {
                        divided.at.push(i);
                        divided.left += left.count;
                    }
                }
            }
            active = self.round::<S>(now, &mut divided.places);
        }
        let open = divided.at.iter().chain(&active);
        let left = open.flat_map(|i| self.ground.corners(self.ground.faces[*i as usize].v));
        self.dirty[S::KIND] = DirtyRegion::Near(left.collect());
        self.dirty.iter_mut().for_each(|region| region.extend(&divided.places));
        divided
    }

    /// Divides these triangles. Returns which are to be looked at next.
    fn round<S: Search>(&mut self, splits: Vec<(u32, Split)>, places: &mut Vec<[i32; 3]>) -> Vec<u32> {
        let before = self.ground.vertices.len() as u32;
        if !splits.is_empty() {
            self.ground.record.begin(&self.ground.vertices, &self.ground.faces);
        }
        // a part goes only if nothing that may hold its edges changes; of two that hold each other's the first goes
        let mut changing: HashSet<u64> = HashSet::new();
        let mut first: HashMap<u64, [[i32; 3]; 3]> = HashMap::new();
        let parts_go = splits.iter().any(|(_, split)| split.upright.is_some());
        for (i, split) in splits.iter().filter(|_| parts_go) {
            let v = self.ground.faces[*i as usize].v;
            for e in sides(v).map(|[a, b]| edge(a, b)) {
                if split.upright.is_none() {
                    changing.insert(e);
                } else {
                    let own = self.ground.by_place(v);
                    first.entry(e).and_modify(|f| *f = own.min(*f)).or_insert(own);
                }
            }
        }
        let waits = |[a, b]: [u32; 2], own: [[i32; 3]; 3]| {
            let e = edge(a, b);
            changing.contains(&e) || first.get(&e).is_some_and(|f| *f < own)
        };
        let (mut next, mut lost) = (Vec::new(), Vec::new());
        for (i, split) in splits {
            let face = self.ground.faces[i as usize];
            let so_far = self.ground.by(&face.v);
            let waits = |part: Upright| {
                let own = self.ground.by_place(face.v);
                sides(part.v).chain(sides(face.v)).any(|side| waits(side, own))
            };
            // it may have come to count as moved farther in this round
            if split.upright.is_some_and(waits) || !bearable(so_far, split.most(), farthest::<S>(self.ground)) {
                next.push(i);
                continue;
            }
            let in_all = |by: [f64; 2]| [0, 1].map(|k| so_far[k] + by[k]);
            lost.extend(split.upright.map(|part| Upright { by: in_all(part.by), ..part }));
            let by = in_all(split.by);
            // numbers of points that it makes begin where this round began
            let made = |v: u32| v.checked_sub(before).map(|i| split.fan.points[i as usize]);
            let place = |v: &u32| made(*v).unwrap_or_else(|| self.ground.vertices[*v as usize]);
            let path: Vec<[i32; 3]> = split.fan.path.iter().map(place).collect();
            let corners = self.ground.corners(face.v);
            self.ground.record.drawn(&path, face, corners, [so_far, by]);
            if self.ground.trail.is_some() {
                self.ground.follow([Step::Drawn(path.clone())]);
            }
            places.extend(path);
            // a corner may be a gap now to an edge that others have on the same side
            let folds = self.edges.open_sides(i).filter(|k| self.edges.is_fold(i, *k));
            places.extend(folds.map(|k| self.ground.vertices[face.v[(k + 2) % 3] as usize]));
            let Fan { points, parts, .. } = split.fan;
            self.repair.divided += 1;
            self.repair.added += parts.len() as u64 - 1;
            self.ground.moved.remove(&face.v);
            self.edges.remove(i, self.ground);
            let made: Vec<u32> = points.into_iter().map(|p| self.vertex(p)).collect();
            for part in parts {
                let part = part.map(|v| if v < before { v } else { made[(v - before) as usize] });
                let Some(v) = oriented(part, &self.ground.vertices) else {
                    self.repair.upright += 1;
                    let corners = self.ground.corners(part);
                    self.ground.follow([Step::Upright(corners, face)]);
                    continue;
                };
                self.ground.note([(v, by)]);
                match self.edges.add(Face { v, ..face }, self.ground) {
                    Some(i) => next.push(i),
                    None => self.repair.duplicates += 1,
                }
            }
        }
        places.extend(self.edges.opened(self.ground).iter().map(|v| self.ground.vertices[*v as usize]));
        // triangles with an edge of a part that went count as moved as far as it
        for part in lost {
            for i in sides(part.v).flat_map(|[a, b]| self.edges.faces(a, b)) {
                self.ground.note([(self.ground.faces[i as usize].v, part.by)]);
            }
        }
        next
    }

    /// The vertex at a place, if there is one.
    fn known(&self, place: [i32; 3]) -> Option<u32> {
        let ordered = self.ground.vertices[..self.ordered].binary_search(&place).map(|v| v as u32);
        ordered.ok().or_else(|| self.made.get(&place).copied())
    }

    /// The vertex at a place, made if there is none.
    fn vertex(&mut self, place: [i32; 3]) -> u32 {
        self.known(place).unwrap_or_else(|| {
            let v = self.ground.vertices.len() as u32;
            self.ground.vertices.push(place);
            self.made.insert(place, v);
            v
        })
    }

    /// Counts what would come next as left.
    fn count(&mut self) {
        fn left<S: Search>(search: &S, view: View) -> Divided {
            let mut left = Divided::default();
            for face in view.edges.open_faces() {
                let more = Cut { face, search, view }.split().1;
                left.left += more.count;
                left.at.extend(more.is_any.then_some(face));
            }
            left
        }
        let boundary = self.boundary();
        let view = self.view(&boundary);
        let Joins { moves, crowded, undecided } = boundary.joins(view);
        let seams = left(&Seams::new(&boundary), view);
        let slits = left(&Slits::new(&Plan::new(view, self.task.rise)), view);
        self.repair.left = moves.len() as u64 + crowded + undecided + seams.left;
        self.repair.crowded = crowded;
        (self.repair.slits, self.slits) = (slits.left, slits.at);
    }

    /// The mesh in order, and what was done.
    fn finish(self) -> Done {
        let Stitching { ground, edges, mut repair, slits, .. } = self;
        repair.open_edges = edges.sole();
        let slits = slits.iter().map(|i| ground.corners(ground.faces[*i as usize].v)).collect();
        let changed = edges.have_changed();
        drop(edges);
        if changed {
            ground.order();
        }
        Done { repair, is_settled: false, slits }
    }
}

fn sides([a, b, c]: [u32; 3]) -> impl Iterator<Item = [u32; 2]> + Clone {
    [[a, b], [b, c], [c, a]].into_iter()
}

/// How far a search may move a place in all, in steps of plan and height.
fn farthest<S: Search>(ground: &Ground) -> [f64; 2] {
    ground.farthest.map(|by| S::SHARE * by)
}

/// Squared length of an edge in plan.
fn length(ground: &Ground, side: [u32; 2]) -> u128 {
    let [p, q] = ground.corners(side);
    distance(p, q).0
}

/// Seen from above.
fn flat([x, y, _]: [i32; 3]) -> [i32; 3] {
    [x, y, 0]
}
