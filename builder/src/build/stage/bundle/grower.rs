//! Where bundles begin, and which triangles they may take.

use super::grow::{CANDIDATES, Candidate, ENOUGH, Growing, MANY_TAKEN, NEW_VERTEX, NONE, TAKEN};
use super::record::{Record, pack};
use super::{Frame, Tri, centre};
use hardpan::format::bundle::{MEDIUM, NARROW, TRIANGLES, WIDE};
use hardpan_shaders::sort::lists;

/// As of [`Bundled`], of a part of its triangles.
#[derive(Default)]
pub(super) struct Grown {
    pub(super) records: Vec<Record>,
    pub(super) places: Vec<(u32, u8)>,
    pub(super) order: Vec<u32>,
}

/// Grows the bundles of triangles in the order of their seeds; these are their numbers among those given.
/// Bundles beside them count from a number on.
pub(super) fn grown(
    tris: &[Tri],
    seeds: &[u32],
    kinds: &[u16],
    beside: (&[[u32; 3]], u32),
    vertices: usize,
    frame: Frame,
    foretells: impl Fn(&Growing, u16) -> bool,
) -> Grown {
    let mut grown =
        Grown { records: Vec::new(), places: vec![(u32::MAX, 0); tris.len()], order: Vec::with_capacity(tris.len()) };
    let mut grower = Grower::new(tris, seeds, kinds, beside, vertices, frame);
    for seed in 0..tris.len() as u32 {
        if grower.g.is_taken(seed) {
            continue;
        }
        let (record, members) = grower.best(seed, &foretells);
        for (place, &t) in members.iter().enumerate() {
            grown.places[t as usize] = (grown.records.len() as u32, place as u8);
        }
        grown.records.push(record);
        grown.order.extend_from_slice(members);
    }
    grown
}

/// Triangles around each vertex.
pub(super) struct Around {
    /// Where the list of each begins, and ends: those that are taken leave long lists.
    starts: Vec<u32>,
    ends: Vec<u32>,
    all: Vec<u32>,
}

impl Around {
    fn new(tris: &[Tri], vertices: usize) -> Self {
        let each = tris.iter().map(|t| t.v).enumerate();
        let (starts, all) = lists(vertices, each.flat_map(|(t, n)| n.into_iter().map(move |v| (v, t as u32))));
        Around { ends: starts[1..].to_vec(), starts, all }
    }

    /// Lets those of a vertex that are taken leave the first part of its list, which ends there; what stays moves up,
    /// in its order.
    fn thin(&mut self, v: usize, to: usize, g: &Growing) {
        let mut at = to;
        for i in (self.starts[v] as usize..to).rev() {
            let t = self.all[i];
            if !g.is_taken(t) {
                at -= 1;
                self.all[at] = t;
            }
        }
        self.starts[v] = at as u32;
    }
}

/// Grows bundles from one seed after the other.
pub(super) struct Grower<'a> {
    g: Growing<'a>,
    /// Numbers of the triangles among those given.
    seeds: &'a [u32],
    kinds: &'a [u16],
    /// Across the edges of each triangle the one other that shares it, counted from a number on.
    beside: (&'a [[u32; 3]], u32),
    around: Around,
    /// Number of the seed, and three times its centre.
    seed: u32,
    home: [i64; 2],
    /// Its attribute and class, and where the triangles of that attribute end that are no larger than for each class.
    kind: u16,
    ends: [u32; 3],
    /// Those that may come next, and whether some of them may fit no more.
    next: Vec<Candidate>,
    stale: bool,
    /// Whether what shares only a vertex with the bundle may come next, too.
    around_all: bool,
    /// The first behind the seed that was not tried for being adjacent to none.
    far: u32,
    /// The members of the best bundle from this seed.
    members: Vec<u32>,
}

impl<'a> Grower<'a> {
    fn new(
        tris: &'a [Tri],
        seeds: &'a [u32],
        kinds: &'a [u16],
        beside: (&'a [[u32; 3]], u32),
        vertices: usize,
        frame: Frame,
    ) -> Self {
        Grower {
            g: Growing::new(tris, vertices, frame),
            seeds,
            kinds,
            beside,
            around: Around::new(tris, vertices),
            seed: 0,
            home: [0; 2],
            kind: u16::MAX,
            ends: [0; 3],
            next: Vec::with_capacity(CANDIDATES),
            stale: false,
            around_all: false,
            far: 0,
            members: Vec::with_capacity(TRIANGLES),
        }
    }

    /// The bundle from a seed that holds the most, and its members: of a wider class where the narrower one holds fewer
    /// than it would.
    fn best(&mut self, seed: u32, foretells: impl Fn(&Growing, u16) -> bool) -> (Record, &[u32]) {
        self.seed = seed;
        self.home = centre(&self.g.tris[seed as usize].plan);
        let kind = self.kinds[seed as usize];
        if kind != self.kind {
            self.kind = kind;
            let end = |class: u16| self.kinds.partition_point(|&k| k <= (kind & 0xFF00 | class)) as u32;
            self.ends = [NARROW, MEDIUM, WIDE].map(end);
        }
        let mut best: Option<Record> = None;
        self.members.clear();
        for class in self.first()..=WIDE {
            if best.is_some() && self.members.len() >= ENOUGH[usize::from(class)] {
                break;
            }
            if best.is_some() && foretells(&self.g, class) {
                continue;
            }
            let record = self.grow(class);
            if record.is_some() && self.g.members.len() > self.members.len() {
                best = record;
                self.members.clone_from(&self.g.members);
            }
            // nor is there more where only vertices were too many: a wider class holds fewer of them
            if record.is_some() && !self.g.refused && !self.g.cut {
                break;
            }
        }
        for &t in &self.members {
            self.g.marks[t as usize].seen = TAKEN;
        }
        (best.expect("a wide bundle holds any triangle"), &self.members)
    }

    /// The class of the seed.
    fn first(&self) -> u16 {
        self.kind & 0xFF
    }

    /// A bundle of a class from the seed.
    fn grow(&mut self, class: u16) -> Option<Record> {
        self.g.start(class, self.ends[usize::from(class)]);
        self.next.clear();
        (self.stale, self.around_all) = (false, false);
        self.far = self.seed + 1;
        let mut chosen = Some(self.seed);
        while let Some(t) = chosen {
            self.g.add(t);
            if self.g.members.len() == TRIANGLES {
                break;
            }
            self.see(t);
            chosen = self.adjacent().or_else(|| self.about()).or_else(|| self.close_by());
        }
        if !self.g.is_small() {
            // of those that found no room some may be too far off
            self.next.retain(|c| self.g.fits(c.t, c.new_vertices()));
        }
        // heights may not fit the integer plane: give back the latest until they do
        loop {
            if let Some(record) = pack(&self.g, self.kind.to_be_bytes()[0]) {
                return Some(record);
            }
            let kept = self.g.members[..self.g.members.len() - 1].to_vec();
            if kept.is_empty() {
                return None;
            }
            self.g.start(class, self.ends[usize::from(class)]);
            self.g.refused = true;
            kept.into_iter().for_each(|t| self.g.add(t));
        }
    }

    /// Sees what lies across the edges of the latest member, or around the vertices that came with it: it may come
    /// next.
    fn see(&mut self, latest: u32) {
        let fresh = self.g.fresh;
        for v in fresh.into_iter().filter(|&v| v != NONE) {
            self.next.iter_mut().for_each(|c| c.key -= u64::from(c.has(v)) * NEW_VERTEX);
        }
        self.stale |= fresh != [NONE; 3] || !self.g.is_small();
        if !self.around_all {
            let (beside, from) = self.beside;
            for t in beside[latest as usize].map(|t| t.wrapping_sub(from)) {
                // those of attributes before this one are taken
                let own = t < self.ends[usize::from(WIDE)];
                if own && self.g.marks[t as usize].seen < self.g.round {
                    self.consider(t);
                }
            }
            return;
        }
        // whoever is in the bundle takes a place too, if it is seen
        let seen = self.g.marks[latest as usize].seen == self.g.round;
        let mut room = CANDIDATES - self.next.len() - usize::from(seen);
        // what lies around the others has been seen with them
        let around_of = if self.g.cut { self.g.tris[latest as usize].v } else { fresh };
        for v in around_of.into_iter().filter(|&v| v != NONE) {
            self.see_around(v as usize, &mut room);
        }
    }

    /// A triangle that is seen may come next if it fits.
    fn consider(&mut self, t: u32) {
        let Grower { g, next, home, .. } = self;
        g.marks[t as usize].seen = g.round;
        let tri = &g.tris[t as usize];
        let new = g.new_vertices(&tri.v);
        if !g.has(t) && g.fits(t, new) {
            g.reach(tri);
            let centre = centre(&tri.plan);
            let away = |i: usize| centre[i].abs_diff(home[i]);
            let square = |i: usize| away(i).saturating_mul(away(i));
            let far = square(0).saturating_add(square(1)).min(NEW_VERTEX - 1); // the farthest are alike
            next.push(Candidate { key: far + new as u64 * NEW_VERTEX, number: self.seeds[t as usize], t, v: tri.v });
        }
    }

    /// Sees the triangles of a vertex, while there is room.
    fn see_around(&mut self, v: usize, room: &mut usize) {
        let last = self.ends[usize::from(WIDE)];
        let (from, end) = (self.around.starts[v] as usize, self.around.ends[v] as usize);
        let (mut to, mut gone) = (from, 0);
        for i in from..end {
            let t = self.around.all[i];
            let seen = self.g.marks[t as usize].seen;
            gone += u32::from(seen == TAKEN);
            // those of attributes before this one are taken
            if seen < self.g.round && t < last {
                if *room == 0 && self.stale {
                    // those that fit no more leave their places
                    self.stale = false;
                    let before = self.next.len();
                    self.next.retain(|c| self.g.fits(c.t, c.new_vertices()));
                    *room = before - self.next.len();
                }
                if *room == 0 {
                    self.g.cut = true;
                    break;
                }
                *room -= 1;
                self.consider(t);
            }
            to += 1;
        }
        if gone >= MANY_TAKEN {
            self.around.thin(v, to, &self.g);
        }
    }

    /// Where nothing fits that shares an edge: what shares a vertex, from now on.
    fn about(&mut self) -> Option<u32> {
        if self.around_all || !self.g.has_room(1) {
            return None;
        }
        self.around_all = true;
        let mut vertices: Vec<u32> = self.g.members.iter().flat_map(|&t| self.g.tris[t as usize].v).collect();
        vertices.sort_unstable();
        vertices.dedup();
        // no more than three came with the seed, and two with each that followed
        let mut room = CANDIDATES - self.next.len();
        vertices.into_iter().for_each(|v| self.see_around(v as usize, &mut room));
        self.adjacent()
    }

    /// The least of those that may come that fits, which mostly is the first.
    fn adjacent(&mut self) -> Option<u32> {
        let Grower { g, next, .. } = self;
        let small = g.is_small();
        let (mut least, mut at) = (u128::MAX, 0);
        for (i, c) in next.iter().enumerate() {
            // which it is cannot be foretold
            let rank = c.rank();
            (least, at) = std::hint::select_unpredictable(rank < least, (rank, i), (least, at));
        }
        if next.is_empty() || !g.has_room(next[at].new_vertices()) {
            return None;
        }
        let c = next.swap_remove(at);
        let fits = (small || g.fits(c.t, c.new_vertices())) && !g.overlaps(c.t);
        if fits { Some(c.t) } else { g.take(next, small) }
    }

    /// Where nothing adjacent fits: one of the next few seeds, which may lie close by, if there is room for three new
    /// corners, for others are adjacent; not worth the slow tests of a wide bundle.
    fn close_by(&mut self) -> Option<u32> {
        let first = self.first();
        let Grower { g, far, .. } = self;
        g.asked_near.get_or_insert(g.asked);
        let room = g.has_room(3);
        let last = self.ends[usize::from(first)].min(self.seed + 49);
        while *far < last && (room || g.cut) && (g.class < WIDE || first == WIDE) {
            let t = *far;
            *far += 1;
            let free = !g.is_taken(t) && !g.has(t);
            // where there is room for all of its corners nobody asks how many are new
            let new = |g: &Growing| if room { 3 } else { g.new_vertices(&g.tris[t as usize].v) };
            if free && g.fits(t, new(g)) && !g.overlaps(t) {
                return Some(t);
            }
        }
        None
    }
}
