//! The edges of a mesh, kept true while triangles are divided.
//!
//! An edge is *open* if all triangles that use it lie on one side of it in plan; more than [`Repair::MAX_NEIGHBOURS`]
//! are a heap, and it is not open.

use super::super::clean;
use super::super::ground::{GONE, Ground};
use super::sides;
use crate::build::lattice::edge;
use crate::report::Repair;
use hardpan_shaders::Face;
use hardpan_shaders::sort::{lists_of_parts, runs};
use hashbrown::HashMap;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;

/// Triangles that use an edge.
type Users = SmallVec<[u32; 2]>;

pub struct Edges {
    /// All edges as they were, at the lesser of their ends, ascending, once for each triangle that used them: the other
    /// end, times 2^32, [`FORTH`] if the triangle runs to it, and the triangle's number.
    edges: Vec<u64>,
    /// Where those at each vertex start.
    starts: Vec<u32>,
    /// Those that have changed since.
    changed: HashMap<u64, Users>,
    /// For each triangle a bit for each corner that an open edge runs from, and three bits higher if it is [a
    /// fold](Self::is_fold).
    open: Vec<u8>,
    /// How many open edges there are at each vertex.
    open_at: Vec<u32>,
    /// How many edges one triangle alone uses.
    sole: u64,
    /// Edges that triangles used and vertices that were closed when they came to be open, since [`Self::opened`] was
    /// asked.
    opened: (Vec<u64>, Vec<u32>),
}

impl Edges {
    pub fn new(ground: &Ground) -> Edges {
        let faces = &ground.faces;
        let at_lesser = |some: Range<usize>| {
            faces[some.clone()].iter().zip(some.start as u64..).flat_map(|(f, i)| {
                sides(f.v).map(move |[a, b]| (a.min(b), u64::from(a.max(b)) << 32 | forth(a, b) | i))
            })
        };
        let (starts, mut edges) = lists_of_parts(ground.vertices.len(), faces.len(), at_lesser);
        let mut open = vec![0u8; faces.len()];
        let mut open_at = vec![0; ground.vertices.len()];
        let mut sole = 0;
        // where the users of open edges stand, with the lesser end
        let open_runs = |(first, starts, edges): (usize, &[u32], &mut [u64])| {
            let mut open = Vec::new();
            for (a, run) in starts.windows(2).enumerate() {
                let run = &mut edges[(run[0] - starts[0]) as usize..(run[1] - starts[0]) as usize];
                run.sort_unstable();
                for users in run.chunk_by(|e, f| e >> 32 == f >> 32) {
                    if users.len() as u64 > Repair::MAX_NEIGHBOURS || (users[0] ^ users[users.len() - 1]) & FORTH != 0 {
                        continue; // a heap, or on both sides
                    }
                    open.push(((first + a) as u32, SmallVec::<[u64; 2]>::from_slice(users)));
                }
            }
            open
        };
        let open_runs: Vec<Vec<_>> = runs(&starts[..=ground.vertices.len()], &mut edges).map(open_runs).collect();
        for (a, users) in open_runs.into_iter().flatten() {
            let b = (users[0] >> 32) as u32;
            let bits = open_bits(users.len());
            users.iter().map(number).for_each(|i| open[i as usize] |= bit(&faces[i as usize], edge(a, b)) * bits);
            [a, b].into_iter().for_each(|v| open_at[v as usize] += 1);
            sole += u64::from(users.len() == 1);
        }
        let (changed, opened) = Default::default();
        let mut all = Edges { edges, starts, changed, open, open_at, sole, opened };
        ground.inner.iter().for_each(|[a, b]| all.change(*a, *b, ground, |users| users.clear()));
        all
    }

    /// How many edges one triangle alone uses.
    pub fn sole(&self) -> u64 {
        self.sole
    }

    /// Whether triangles were added or taken out.
    pub fn have_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Triangles with an open edge, ascending.
    pub fn open_faces(&self) -> impl Iterator<Item = u32> + Clone {
        self.open.iter().zip(0..).filter(|(open, _)| **open != 0).map(|(_, i)| i)
    }

    /// Which of its edges are open: numbers of the corners that they run from.
    pub fn open_sides(&self, face: u32) -> impl Iterator<Item = usize> + Clone + use<> {
        let open = self.open[face as usize];
        (0..3).filter(move |k| open >> k & 1 == 1)
    }

    /// Whether other triangles have an open edge of a triangle, too, on the same side.
    pub fn is_fold(&self, face: u32, k: usize) -> bool {
        self.open[face as usize] >> (k + 3) & 1 == 1
    }

    /// Whether an end of a fold has so many open edges that it lies in a heap.
    pub fn is_heap(&self, ends: [u32; 2]) -> bool {
        ends.iter().any(|v| u64::from(self.open_at[*v as usize]) > Repair::MAX_NEIGHBOURS)
    }

    /// Whether a vertex ends an open edge.
    pub fn is_open_at(&self, v: u32) -> bool {
        self.open_at[v as usize] > 0
    }

    /// How many triangles use an edge.
    #[inline]
    pub fn users(&self, a: u32, b: u32) -> usize {
        self.changed.get(&edge(a, b)).map_or_else(|| before(&self.edges, &self.starts, a, b).len(), SmallVec::len)
    }

    /// The triangles that use an edge.
    pub fn faces(&self, a: u32, b: u32) -> impl Iterator<Item = u32> {
        let changed = self.changed.get(&edge(a, b));
        let before = if changed.is_none() { before(&self.edges, &self.starts, a, b) } else { &[] };
        changed.into_iter().flatten().copied().chain(before.iter().map(number))
    }

    /// Adds a triangle to the mesh and returns its number; if there is one in its place, that stays, of the material
    /// that comes first.
    pub fn add(&mut self, face: Face, ground: &mut Ground) -> Option<u32> {
        let [a, b, _] = face.v;
        if let Some(twin) = self.faces(a, b).find(|i| ground.faces[*i as usize].v == face.v) {
            let twin = &mut ground.faces[twin as usize];
            *twin = clean::first(*twin, face, ground.materials);
            return None;
        }
        let i = ground.faces.len() as u32;
        ground.faces.push(face);
        self.open.push(0);
        self.open_at.resize(ground.vertices.len(), 0);
        sides(face.v).for_each(|[a, b]| self.change(a, b, ground, |users| users.push(i)));
        Some(i)
    }

    /// Takes a triangle out of the mesh.
    pub fn remove(&mut self, i: u32, ground: &mut Ground) {
        for [a, b] in sides(ground.faces[i as usize].v) {
            self.change(a, b, ground, |users| users.retain(|user| *user != i));
        }
        ground.faces[i as usize].v[0] = GONE;
    }

    /// Vertices that are open and have not always been since this was asked before, and the ends of such edges, in no
    /// order.
    pub fn opened(&mut self, ground: &Ground) -> Vec<u32> {
        let (edges, vertices) = std::mem::take(&mut self.opened);
        let user = |e: &u64| self.changed[e].first().copied();
        let is_open =
            |e: &u64| user(e).is_some_and(|i| self.open[i as usize] & bit(&ground.faces[i as usize], *e) != 0);
        let ends = edges.into_iter().filter(is_open).flat_map(|e| [(e >> 32) as u32, e as u32]);
        ends.chain(vertices.into_iter().filter(|v| self.is_open_at(*v))).collect()
    }

    fn change(&mut self, a: u32, b: u32, ground: &Ground, change: impl FnOnce(&mut Users)) {
        let e = edge(a, b);
        let Edges { edges, starts, changed, open, open_at, sole, opened } = self;
        let users = changed.entry(e).or_insert_with(|| before(edges, starts, a, b).iter().map(number).collect());
        let faces = &ground.faces;
        let state = |users: &Users| (is_open(users, e, faces), users.len() == 1);
        let was = state(users);
        if was.0 {
            users.iter().for_each(|i| open[*i as usize] &= !(bit(&faces[*i as usize], e) * open_bits(2)));
        }
        let was_used = !users.is_empty();
        change(users);
        let is = state(users);
        if is.0 {
            let bits = open_bits(users.len());
            users.iter().for_each(|i| open[*i as usize] |= bit(&faces[*i as usize], e) * bits);
            if !was.0 && was_used {
                opened.0.push(e);
            }
        }
        for v in [a, b] {
            let at = &mut open_at[v as usize];
            if *at == 0 && is.0 {
                opened.1.push(v);
            }
            *at = *at + u32::from(is.0) - u32::from(was.0);
        }
        *sole = *sole + u64::from(is.1) - u64::from(was.1);
    }
}

/// That a triangle, which turns to the left, runs along an edge from its lesser end.
const FORTH: u64 = 1 << 31; // there are no more triangles

fn forth(a: u32, b: u32) -> u64 {
    if a < b { FORTH } else { 0 }
}

/// The number of the triangle.
fn number(user: &u64) -> u32 {
    (*user & !FORTH) as u32
}

/// Whether an edge of these triangles is open: turning to the left, they run along it the same way.
fn is_open(users: &[u32], e: u64, faces: &[Face]) -> bool {
    let [a, b] = [(e >> 32) as u32, e as u32];
    // the first of its corners is the least
    let runs_forth = |i: &u32| {
        let [first, second, _] = faces[*i as usize].v;
        second == a || second == b && first == a
    };
    match users {
        [] => false,
        [_] => true,
        [one, others @ ..] => {
            let way = runs_forth(one);
            users.len() as u64 <= Repair::MAX_NEIGHBOURS && others.iter().all(|i| runs_forth(i) == way)
        }
    }
}

/// Bits of an open edge of so many triangles, at its first corner.
fn open_bits(users: usize) -> u8 {
    if users > 1 { 0b1001 } else { 0b0001 }
}

/// The bit of an edge of a triangle.
fn bit(face: &Face, e: u64) -> u8 {
    sides(face.v).zip(0..).filter(|([a, b], _)| edge(*a, *b) == e).map(|(_, k)| 1 << k).sum()
}

/// The uses of an edge among all that start at their lesser ends.
#[inline]
fn before<'a>(edges: &'a [u64], starts: &[u32], a: u32, b: u32) -> &'a [u64] {
    let (low, high) = (a.min(b) as usize, u64::from(a.max(b)));
    // vertices that were made since start none
    let Some(&[start, end]) = starts.get(low..low + 2) else { return &[] };
    let at = &edges[start as usize..end as usize];
    let from = match at.len() {
        0..16 => at.iter().take_while(|e| *e >> 32 < high).count(),
        _ => at.partition_point(|e| e >> 32 < high),
    };
    let count = at[from..].iter().take_while(|e| *e >> 32 == high).count();
    &at[from..from + count]
}
