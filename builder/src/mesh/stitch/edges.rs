//! The edges of a mesh, kept true while triangles are divided.

use super::super::weld::{GONE, Ground};
use super::super::{Face, clean, edge};
use super::sides;
use crate::bundle::lists;
use hashbrown::HashMap;
use smallvec::SmallVec;

/// Triangles that use an edge.
type Users = SmallVec<[u32; 2]>;

pub struct Edges {
    /// All edges as they were, at the lesser of their ends, ascending, once for each triangle that used them: the other
    /// end, times 2^32, and the triangle's number.
    edges: Vec<u64>,
    /// Where those at each vertex start.
    starts: Vec<u32>,
    /// Those that have changed since.
    changed: HashMap<u64, Users>,
    /// Of each triangle a bit for each corner that an open edge runs from.
    open: Vec<u8>,
    /// How many open edges there are at each vertex, and in all.
    open_at: Vec<u32>,
    count: u64,
}

impl Edges {
    pub fn new(ground: &Ground) -> Edges {
        let faces = &ground.faces;
        let at_lesser = faces
            .iter()
            .zip(0u64..)
            .flat_map(|(f, i)| sides(f.v).map(move |[a, b]| (a.min(b), u64::from(a.max(b)) << 32 | i)));
        let (starts, mut edges) = lists(ground.vertices.len(), at_lesser);
        let mut open = vec![0u8; faces.len()];
        let mut open_at = vec![0; ground.vertices.len()];
        let mut count = 0;
        for a in 0..ground.vertices.len() {
            let run = &mut edges[starts[a] as usize..starts[a + 1] as usize];
            run.sort_unstable();
            for e in run.chunk_by(|e, f| e >> 32 == f >> 32).filter(|e| e.len() == 1) {
                let (b, i) = ((e[0] >> 32) as usize, e[0] as u32 as usize);
                open[i] |= bit(&faces[i], edge(a as u32, b as u32));
                (open_at[a], open_at[b]) = (open_at[a] + 1, open_at[b] + 1);
                count += 1;
            }
        }
        Edges { edges, starts, changed: HashMap::new(), open, open_at, count }
    }

    /// How many open edges there are.
    pub fn open(&self) -> u64 {
        self.count
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
        changed.into_iter().flatten().copied().chain(before.iter().map(|e| *e as u32))
    }

    /// Adds a triangle to the mesh and returns its number; if there is one in its place, that stays, of the material that comes
    /// first.
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

    fn change(&mut self, a: u32, b: u32, ground: &Ground, change: impl FnOnce(&mut Users)) {
        let e = edge(a, b);
        let Edges { edges, starts, changed, .. } = self;
        let users = changed.entry(e).or_insert_with(|| before(edges, starts, a, b).iter().map(|e| *e as u32).collect());
        let sole = |users: &Users| if let [one] = users[..] { Some(one) } else { None };
        let was = sole(users);
        change(users);
        let is = sole(users);
        if let Some(one) = was {
            self.open[one as usize] &= !bit(&ground.faces[one as usize], e);
        }
        if let Some(one) = is {
            self.open[one as usize] |= bit(&ground.faces[one as usize], e);
        }
        for v in [a, b] {
            let at = &mut self.open_at[v as usize];
            *at = *at + u32::from(is.is_some()) - u32::from(was.is_some());
        }
        self.count = self.count + u64::from(is.is_some()) - u64::from(was.is_some());
    }
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
