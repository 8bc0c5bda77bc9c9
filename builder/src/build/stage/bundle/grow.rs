//! A bundle that grows triangle by triangle.

use super::record::spans;
use super::{Frame, Tri};
use hardpan::format::bundle::{NARROW, TRIANGLES, VERTEX_LIMIT, WIDE};

/// Triangles from which on a class is not tried when the one before it holds as many.
pub(super) const ENOUGH: [usize; 3] = [0, 9, 5];

/// Most neighbours that are compared for the next place in a bundle: a vertex may have thousands.
pub(super) const CANDIDATES: usize = 48;

/// A triangle that may come next.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// New vertices and squared distance from the seed as one: the least comes next, then the least number.
    pub(super) key: u64,
    pub(super) number: u32,
    pub(super) t: u32,
    pub(super) v: [u32; 3],
}

impl Candidate {
    pub(super) fn rank(&self) -> u128 {
        u128::from(self.key) << 32 | u128::from(self.number)
    }

    pub(super) fn new_vertices(&self) -> usize {
        (self.key / NEW_VERTEX) as usize
    }

    pub(super) fn has(&self, v: u32) -> bool {
        (self.v[0] == v) | (self.v[1] == v) | (self.v[2] == v)
    }
}

/// A new vertex of a [`Candidate`]'s key.
pub(super) const NEW_VERTEX: u64 = 1 << 62;

/// No vertex.
pub(super) const NONE: u32 = u32::MAX;

/// Mark of a triangle that has its bundle.
pub(super) const TAKEN: u32 = u32::MAX;

/// Triangles of a vertex that have their bundle from which on they leave its list.
pub(super) const MANY_TAKEN: u32 = 16;

/// For each triangle the last round that had it, and the last that saw it, or [`TAKEN`].
#[derive(Clone, Copy, Default)]
pub(super) struct Mark {
    had: u32,
    pub(super) seen: u32,
}

/// A bundle in the making, and what its round has marked.
pub(super) struct Growing<'a> {
    pub(super) tris: &'a [Tri],
    pub(super) frame: Frame,
    pub(super) round: u32,
    pub(super) marks: Vec<Mark>,
    /// For each vertex the last round that had it, and its place there.
    place: Vec<(u32, u8)>,
    pub(super) class: u16,
    /// Where the triangles that are too large for the class begin.
    large: u32,
    spans: [i64; 3],
    pub(super) members: Vec<u32>,
    /// Places of the members' corners.
    pub(super) corners: Vec<[u8; 3]>,
    pub(super) points: Vec<[i32; 3]>,
    pub(super) low: [i32; 3],
    high: [i32; 3],
    /// The same of members and all that may come.
    hull: [[i32; 3]; 2],
    /// Numbers of the corners that came with the last member, then [`NONE`].
    pub(super) fresh: [u32; 3],
    /// Whether there was no room for a candidate, so that not all triangles around the vertices have been seen.
    pub(super) cut: bool,
    /// Whether a class that holds larger triangles may hold more.
    pub(super) refused: bool,
    /// The most vertices that it was asked to have room for, and the same before triangles were looked for that are not
    /// adjacent.
    pub(super) asked: usize,
    pub(super) asked_near: Option<usize>,
}

impl<'a> Growing<'a> {
    pub(super) fn new(tris: &'a [Tri], vertices: usize, frame: Frame) -> Self {
        Growing {
            tris,
            frame,
            round: 0,
            marks: vec![Mark::default(); tris.len()],
            place: vec![(0, 0); vertices],
            class: NARROW,
            large: 0,
            spans: [0; 3],
            members: Vec::with_capacity(TRIANGLES),
            corners: Vec::with_capacity(TRIANGLES),
            points: Vec::with_capacity(VERTEX_LIMIT[0]),
            low: [0; 3],
            high: [0; 3],
            hull: [[0; 3]; 2],
            fresh: [NONE; 3],
            cut: false,
            refused: false,
            asked: 0,
            asked_near: None,
        }
    }

    /// Begins a bundle of a class, for which triangles from this one on are too large.
    pub(super) fn start(&mut self, class: u16, large: u32) {
        self.round += 1;
        (self.class, self.large, self.spans) = (class, large, spans(class, self.frame));
        (self.low, self.high) = ([i32::MAX; 3], [i32::MIN; 3]);
        self.hull = [self.low, self.high];
        self.members.clear();
        self.corners.clear();
        self.points.clear();
        (self.cut, self.refused) = (false, false);
        (self.asked, self.asked_near) = (0, None);
    }

    pub(super) fn has(&self, t: u32) -> bool {
        self.marks[t as usize].had == self.round
    }

    pub(super) fn is_taken(&self, t: u32) -> bool {
        self.marks[t as usize].seen == TAKEN
    }

    pub(super) fn new_vertices(&self, v: &[u32; 3]) -> usize {
        v.iter().filter(|&&v| self.place[v as usize].0 != self.round).count()
    }

    /// Whether a triangle with so many new vertices finds room. One that does not never will.
    pub(super) fn fits(&mut self, t: u32, new_vertices: usize) -> bool {
        let near = self.is_near(t);
        self.refused |= !near;
        near && self.has_room(new_vertices)
    }

    /// Whether the bundle would be no larger than it may be with a triangle.
    fn is_near(&self, t: u32) -> bool {
        // whoever is of the class is no larger itself
        let [least, most] = self.tris[t as usize].ends().map(|p| p.map(i64::from));
        let within = |i: usize| {
            (i64::from(self.high[i]) - least[i] <= self.spans[i]) & (most[i] - i64::from(self.low[i]) <= self.spans[i])
        };
        t < self.large && within(0) & within(1) & within(2)
    }

    /// Whether there is room for so many more vertices.
    pub(super) fn has_room(&mut self, new_vertices: usize) -> bool {
        let asked = self.points.len() + new_vertices;
        self.asked = self.asked.max(asked);
        asked <= self.limit()
    }

    /// Whether a wider class would take the same steps, or the first of them: nothing was too large for this one, and
    /// what was asked for finds room there too. The widest stops where nothing adjacent fits.
    pub(super) fn foretells(&self, wider: u16) -> bool {
        let asked = self.asked_near.filter(|_| wider == WIDE).unwrap_or(self.asked);
        !self.refused && asked <= VERTEX_LIMIT[usize::from(wider)]
    }

    /// Most vertices.
    pub(super) fn limit(&self) -> usize {
        VERTEX_LIMIT[usize::from(self.class)]
    }

    /// Whether nothing that may come makes the bundle too large.
    pub(super) fn is_small(&self) -> bool {
        let [low, high] = &self.hull;
        (0..3).all(|i| i64::from(high[i]) - i64::from(low[i]) <= self.spans[i])
    }

    pub(super) fn overlaps(&self, t: u32) -> bool {
        let plan = |t: u32| &self.tris[t as usize].plan;
        self.members.iter().any(|&member| plan(member).overlaps(plan(t)))
    }

    /// Takes out the least of those that may come that finds room and overlaps no member, and all before it; without
    /// such a one all that find room. `small` as of [`is_small`](Self::is_small).
    pub(super) fn take(&mut self, next: &mut Vec<Candidate>, small: bool) -> Option<u32> {
        let room = self.limit().saturating_sub(self.points.len());
        let has_room = |c: &Candidate| c.new_vertices() <= room;
        let mut best: Option<Candidate> = None;
        for c in next.iter().filter(|c| has_room(c)) {
            let first = best.is_none_or(|b| c.rank() < b.rank());
            if first && (small || self.is_near(c.t)) && !self.overlaps(c.t) {
                best = Some(*c);
            }
        }
        // who would be tried one after the other, and who ends that
        let tried = |c: &Candidate| has_room(c) && best.is_none_or(|b| c.rank() <= b.rank());
        let end = next.iter().filter(|c| best.is_none() && !has_room(c)).min_by_key(|c| c.rank());
        for c in next.iter().filter(|c| tried(c)).chain(end) {
            self.has_room(c.new_vertices());
        }
        self.refused |= !small && next.iter().any(|c| tried(c) && !self.is_near(c.t));
        next.retain(|c| !tried(c));
        best.map(|c| c.t)
    }

    pub(super) fn add(&mut self, t: u32) {
        let tri = &self.tris[t as usize];
        self.marks[t as usize].had = self.round;
        self.fresh = [NONE; 3];
        self.members.push(t);
        self.corners.push(std::array::from_fn(|k| {
            let place = &mut self.place[tri.v[k] as usize];
            if place.0 != self.round {
                *place = (self.round, self.points.len() as u8);
                self.points.push(tri.corner(k));
                self.fresh[k] = tri.v[k];
            }
            place.1
        }));
        let [low, high] = tri.ends();
        for i in 0..3 {
            self.low[i] = self.low[i].min(low[i]);
            self.high[i] = self.high[i].max(high[i]);
        }
        self.reach(tri);
    }

    /// Widens the hull.
    pub(super) fn reach(&mut self, tri: &Tri) {
        let ([least, most], [low, high]) = (tri.ends(), &mut self.hull);
        for i in 0..3 {
            low[i] = low[i].min(least[i]);
            high[i] = high[i].max(most[i]);
        }
    }
}
