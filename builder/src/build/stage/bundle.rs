//! Triangles into bundles: 128 bytes each, at most 16 triangles that do not overlap in plan.

use crate::build::lattice::Mesh;
use hardpan::format::bundle::{
    self as layout, HALVES, Head, MEDIUM, MEDIUM_REACH, MEDIUM_RELIEF_LOG2, MEDIUM_ZERO, NARROW, NARROW_REACH,
    NARROW_RELIEF, NARROW_ZERO, SLOPE_FRACTION, TRIANGLES, VERTEX_LIMIT, WIDE, WIDE_STRIDE, WIDE_ZERO,
};
use hardpan_shaders::Face;
use hardpan_shaders::plan::Plan;
use hardpan_shaders::sort::{self, lists, morton};
use rayon::prelude::*;

/// A triangle of a tile: corner coordinates in steps from the origin, counter-clockwise. One line of memory, for whoever asks
/// for a triangle mostly waits for it.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Tri {
    pub plan: Plan,
    /// Heights.
    pub z: [i32; 3],
    /// Vertex numbers: in the mesh, or of those that are [`Bundled`] from zero on.
    pub v: [u32; 3],
}

impl Tri {
    pub fn new(mesh: &Mesh, face: &Face) -> Self {
        let corners = face.v.map(|v| mesh.vertices[v as usize]);
        Tri { plan: Plan::new(corners), z: corners.map(|c| c[2]), v: face.v }
    }

    pub fn corner(&self, k: usize) -> [i32; 3] {
        let [x, y] = self.plan.corner(k).map(|v| v as i32);
        [x, y, self.z[k]]
    }

    /// Least and greatest height.
    pub fn heights(&self) -> [i32; 2] {
        let [a, b, c] = self.z;
        [a.min(b).min(c), a.max(b).max(c)]
    }

    /// Least coordinates, and greatest.
    fn ends(&self) -> [[i32; 3]; 2] {
        let ([x0, y0, x1, y1], [z0, z1]) = (self.plan.bounds(), self.heights());
        [[x0, y0, z0], [x1, y1, z1]]
    }
}

/// Most extents in plan of what a narrow and a medium bundle hold, and in height of a medium one.
const SPANS: [i64; 2] = [NARROW_REACH as i64, MEDIUM_REACH as i64];
const MEDIUM_RELIEF: i64 = 1 << MEDIUM_RELIEF_LOG2;

/// The bytes of one bundle.
pub type Record = [u16; HALVES];

/// Whether a bundle is of the widest class.
pub fn is_wide(record: &Record) -> bool {
    Head::of_halves(record).class() == WIDE
}

/// Bundles, their triangles in an order of their own, and where each of those went: bundle and place in it.
pub struct Bundled {
    pub records: Vec<Record>,
    /// Whether some of them are wide.
    pub some_wide: bool,
    pub tris: Vec<Tri>,
    pub places: Vec<(u32, u8)>,
    /// The triangles in the order of their places.
    pub order: Vec<u32>,
    /// Number of each among those given.
    pub given: Vec<u32>,
    /// Bit k of a triangle: no one triangle lies on the other side of the edge from its corner k.
    pub open: Vec<u8>,
}

/// What bundle positions of a node count from.
#[derive(Clone, Copy)]
pub struct Frame {
    pub base: [i32; 2],
    pub shift: u8,
}

impl Frame {
    /// For a square of side 2^`log2`: positions reach twice its size beyond its centre.
    pub fn of(x: i64, y: i64, log2: u32) -> Frame {
        let half = 1i64 << (log2 - 1);
        Frame { base: [(x + half) as i32, (y + half) as i32], shift: log2.saturating_sub(14) as u8 }
    }
}

/// Triangles from which on a class is not tried when the one before it holds as many.
const ENOUGH: [usize; 3] = [0, 9, 5];

/// Most neighbours that are compared for the next place in a bundle: a vertex may have thousands.
const CANDIDATES: usize = 48;

/// Three times the centre in plan.
fn centre(plan: &Plan) -> [i64; 2] {
    let [a, b, c]: [[i64; 2]; 3] = std::array::from_fn(|k| plan.corner(k));
    [a[0] + b[0] + c[0], a[1] + b[1] + c[1]]
}

/// The cheapest class for bundles of triangles of a size.
fn class(t: &Tri, frame: Frame) -> u16 {
    let [low, high] = t.heights();
    let relief = i64::from(high) - i64::from(low);
    let slack = 1 << frame.shift;
    let reach = (1i64 << (15 + frame.shift)) - slack;
    let near = (0..2).all(|i| (t.plan.min(i) - i64::from(frame.base[i])).abs() < reach);
    if !near {
        WIDE
    } else if t.plan.extent() <= SPANS[0] / 3 && t.plan.extent() + slack <= SPANS[0] && relief < NARROW_RELIEF {
        NARROW
    } else if t.plan.extent() + slack <= SPANS[1] && relief < MEDIUM_RELIEF {
        MEDIUM
    } else {
        WIDE
    }
}

/// Most extents of a bundle of a class.
fn spans(class: u16, frame: Frame) -> [i64; 3] {
    let slack = 1 << frame.shift;
    match class {
        NARROW => [SPANS[0] - slack, SPANS[0] - slack, i64::MAX],
        MEDIUM => [SPANS[1] - slack, SPANS[1] - slack, MEDIUM_RELIEF - 1],
        _ => [i64::MAX; 3],
    }
}

/// A triangle that may come next.
#[derive(Clone, Copy)]
struct Candidate {
    /// New vertices and squared distance from the seed as one: the least comes next, then the least number.
    key: u64,
    number: u32,
    t: u32,
    v: [u32; 3],
}

impl Candidate {
    fn rank(&self) -> u128 {
        u128::from(self.key) << 32 | u128::from(self.number)
    }

    fn new_vertices(&self) -> usize {
        (self.key / NEW_VERTEX) as usize
    }

    fn has(&self, v: u32) -> bool {
        (self.v[0] == v) | (self.v[1] == v) | (self.v[2] == v)
    }
}

/// A new vertex of a [`Candidate`]'s key.
const NEW_VERTEX: u64 = 1 << 62;
/// No vertex.
const NONE: u32 = u32::MAX;
/// Mark of a triangle that has its bundle.
const TAKEN: u32 = u32::MAX;
/// Triangles of a vertex that have their bundle from which on they leave its list.
const MANY_TAKEN: u32 = 16;

/// Of a triangle the last round that had it, and the last that saw it, or [`TAKEN`].
#[derive(Clone, Copy, Default)]
struct Mark {
    had: u32,
    seen: u32,
}

/// A bundle in the making, and what its round has marked.
struct Growing<'a> {
    tris: &'a [Tri],
    frame: Frame,
    round: u32,
    marks: Vec<Mark>,
    /// Of each vertex the last round that had it, and its place there.
    place: Vec<(u32, u8)>,
    class: u16,
    /// Where the triangles that are too large for the class begin.
    large: u32,
    spans: [i64; 3],
    members: Vec<u32>,
    /// Places of the members' corners.
    corners: Vec<[u8; 3]>,
    points: Vec<[i32; 3]>,
    low: [i32; 3],
    high: [i32; 3],
    /// The same of members and all that may come.
    hull: [[i32; 3]; 2],
    /// Numbers of the corners that came with the last member, then [`NONE`].
    fresh: [u32; 3],
    /// Whether there was no room for a candidate, so that not all triangles around the vertices have been seen.
    cut: bool,
    /// Whether a class that holds larger triangles may hold more.
    refused: bool,
    /// The most vertices that it was asked to have room for, and the same before triangles were looked for that are not adjacent.
    asked: usize,
    asked_near: Option<usize>,
}

impl<'a> Growing<'a> {
    fn new(tris: &'a [Tri], vertices: usize, frame: Frame) -> Self {
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
    fn start(&mut self, class: u16, large: u32) {
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

    fn has(&self, t: u32) -> bool {
        self.marks[t as usize].had == self.round
    }

    fn is_taken(&self, t: u32) -> bool {
        self.marks[t as usize].seen == TAKEN
    }

    fn new_vertices(&self, v: &[u32; 3]) -> usize {
        v.iter().filter(|&&v| self.place[v as usize].0 != self.round).count()
    }

    /// Whether a triangle with so many new vertices finds room. One that does not never will.
    fn fits(&mut self, t: u32, new_vertices: usize) -> bool {
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
    fn has_room(&mut self, new_vertices: usize) -> bool {
        let asked = self.points.len() + new_vertices;
        self.asked = self.asked.max(asked);
        asked <= self.limit()
    }

    /// Whether a wider class would take the same steps, or the first of them: nothing was too large for this one, and what was
    /// asked for finds room there too. The widest stops where nothing adjacent fits.
    fn foretells(&self, wider: u16) -> bool {
        let asked = self.asked_near.filter(|_| wider == WIDE).unwrap_or(self.asked);
        !self.refused && asked <= VERTEX_LIMIT[usize::from(wider)]
    }

    /// Most vertices.
    fn limit(&self) -> usize {
        VERTEX_LIMIT[usize::from(self.class)]
    }

    /// Whether nothing that may come makes the bundle too large.
    fn is_small(&self) -> bool {
        let [low, high] = &self.hull;
        (0..3).all(|i| i64::from(high[i]) - i64::from(low[i]) <= self.spans[i])
    }

    fn overlaps(&self, t: u32) -> bool {
        let plan = |t: u32| &self.tris[t as usize].plan;
        self.members.iter().any(|&member| plan(member).overlaps(plan(t)))
    }

    /// Takes out the least of those that may come that finds room and overlaps no member, and all before it; without such a one all
    /// that find room. `small` as of [`is_small`](Self::is_small).
    fn take(&mut self, next: &mut Vec<Candidate>, small: bool) -> Option<u32> {
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

    fn add(&mut self, t: u32) {
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
    fn reach(&mut self, tri: &Tri) {
        let ([least, most], [low, high]) = (tri.ends(), &mut self.hull);
        for i in 0..3 {
            low[i] = low[i].min(least[i]);
            high[i] = high[i].max(most[i]);
        }
    }
}

/// log2 of the vertices that [`number`] keeps together.
const PAGE_LOG2: u32 = 6;

/// Numbers the corners of triangles from zero on, and says how many there are.
fn number(tris: &mut [Tri]) -> usize {
    let [first, last] = tris.iter().flat_map(|t| t.v).fold([u32::MAX, 0], |[a, b], v| [a.min(v), b.max(v)]);
    let first = first.min(last);
    // vertices ascend by place, so those of a square come in runs, which may lie far from each other: only what is near them is
    // kept, and where
    let mut pages = vec![NONE; ((last - first) >> PAGE_LOG2) as usize + 1];
    let mut number = Vec::new();
    let mut count = 0;
    let mut local = |v: u32| {
        let page = &mut pages[((v - first) >> PAGE_LOG2) as usize];
        if *page == NONE {
            *page = number.len() as u32;
            number.resize(number.len() + (1 << PAGE_LOG2), NONE);
        }
        let n = &mut number[(*page + ((v - first) & ((1 << PAGE_LOG2) - 1))) as usize];
        if *n == NONE {
            *n = count;
            count += 1;
        }
        *n
    };
    tris.iter_mut().flat_map(|t| &mut t.v).for_each(|v| *v = local(*v));
    count as usize
}

/// Grows bundles of triangles of a tile, from seeds in Morton order, each step by the triangle across an edge with the fewest new
/// vertices, then the nearest; where none fits, by one at a vertex.
pub fn bundle(tris: &[Tri], attributes: &[u8], frame: Frame) -> Bundled {
    bundle_by(tris, attributes, frame, |g, wider| g.foretells(wider))
}

/// [`bundle`], told when a wider class need not be tried.
fn bundle_by(
    tris: &[Tri],
    attributes: &[u8],
    frame: Frame,
    foretells: impl Fn(&Growing, u16) -> bool + Sync,
) -> Bundled {
    // attribute, class, place, number: in this order they lie in memory, for neighbours are asked for
    let seed = |((t, attribute), number): ((&Tri, &u8), u32)| {
        let c = centre(&t.plan);
        let at = |i: usize| ((c[i] / 3).wrapping_sub(i64::from(frame.base[i])) + (1 << 32)) as u64 >> 4;
        let kind = u128::from(*attribute) << 8 | u128::from(class(t, frame));
        kind << 96 | u128::from(morton(at(0), at(1))) << 32 | u128::from(number)
    };
    let mut seeds: Vec<u128> = tris.iter().zip(attributes).zip(0..).map(seed).collect();
    sort::sort(&mut seeds);
    let kinds: Vec<u16> = seeds.iter().map(|s| (s >> 96) as u16).collect();
    let seeds: Vec<u32> = seeds.into_iter().map(|s| s as u32).collect();
    let mut tris: Vec<Tri> = seeds.iter().map(|&number| tris[number as usize]).collect();
    let vertices = number(&mut tris);
    let beside = beside(&tris, vertices);
    let part = |(number, tris): (usize, &[Tri])| {
        let from = number * TOGETHER;
        let part = from..from + tris.len();
        grown(
            tris,
            &seeds[part.clone()],
            &kinds[part.clone()],
            (&beside[part], from as u32),
            vertices,
            frame,
            &foretells,
        )
    };
    let parts: Vec<Grown> = tris.par_chunks(TOGETHER).enumerate().map(part).collect();
    let mut all = Grown::default();
    for part in parts {
        let (first, from) = (all.records.len() as u32, all.places.len() as u32);
        all.records.extend(part.records);
        all.places.extend(part.places.into_iter().map(|(record, place)| (first + record, place)));
        all.order.extend(part.order.into_iter().map(|t| from + t));
    }
    let Grown { records, places, order } = all;
    let open = |beside: &[u32; 3]| (0..3).map(|k| u8::from(beside[k] == ALONE) << k).sum::<u8>();
    let open = beside.iter().map(open).collect();
    let some_wide = records.iter().any(is_wide);
    Bundled { records, some_wide, tris, places, order, given: seeds, open }
}

/// Triangles whose bundles are grown by one thread, and apart from those of others: what a tile has, but for heaps.
const TOGETHER: usize = 1 << 18;

/// As of [`Bundled`], of a part of its triangles.
#[derive(Default)]
struct Grown {
    records: Vec<Record>,
    places: Vec<(u32, u8)>,
    order: Vec<u32>,
}

/// Grows the bundles of triangles that stand in the order of their seeds, whose numbers among those given these are. What lies beside
/// them counts from a number on.
fn grown(
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
struct Around {
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

    /// Lets those of a vertex that are taken leave the first part of its list, which ends there; what stays moves up, in its order.
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

/// What grows bundles from one seed after the other.
struct Grower<'a> {
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

    /// The bundle from a seed that holds the most, and its members: of a wider class where the narrower one holds fewer than it would.
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

    /// Sees what lies across the edges of the latest member, or around the vertices that came with it: it may come next.
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

    /// Where nothing adjacent fits: one of the next few seeds, which may lie close by, if there is room for three new corners, for others
    /// are adjacent; not worth the slow tests of a wide bundle.
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

/// Across an edge that a triangle does not share with just one other, which runs along it the other way.
pub const ALONE: u32 = u32::MAX;

/// Across the edge from each corner of each triangle the one other that shares it, or [`ALONE`].
pub fn neighbours(tris: &[Tri]) -> Vec<[u32; 3]> {
    let mut tris = tris.to_vec();
    let vertices = number(&mut tris);
    beside(&tris, vertices)
}

/// The same of triangles with so many vertices, numbered from zero on.
fn beside(tris: &[Tri], vertices: usize) -> Vec<[u32; 3]> {
    // edges by their lesser end: the greater one, whose they are, and whether they run towards it
    let edges = tris.iter().map(|t| t.v).enumerate().flat_map(|(t, n)| {
        (0..3).map(move |k| {
            let (a, b) = (n[k], n[if k == 2 { 0 } else { k + 1 }]);
            (a.min(b), (a.max(b), ((3 * t + k) as u32) << 1 | u32::from(a < b)))
        })
    });
    let (starts, edges) = lists(vertices, edges);
    let mut beside = vec![[ALONE; 3]; tris.len()];
    let mut set = |edge: u32, to: u32| beside[edge as usize / 6][edge as usize / 2 % 3] = to;
    // of each greater end the lesser one that had it last, and the first two edges between them
    let mut known = vec![(NONE, 0, None); vertices];
    for (lesser, ends) in (0..).zip(starts[..=vertices].windows(2)) {
        for &(greater, edge) in &edges[ends[0] as usize..ends[1] as usize] {
            let known = &mut known[greater as usize];
            match *known {
                (before, ..) if before != lesser => *known = (lesser, edge, None),
                (_, first, None) => {
                    known.2 = Some(edge);
                    if (first ^ edge) & 1 == 1 {
                        set(first, edge / 6);
                        set(edge, first / 6);
                    }
                }
                (_, first, Some(second)) => [first, second].map(|edge| set(edge, ALONE)).into_iter().collect(),
            }
        }
    }
    beside
}

fn pack(g: &Growing, attribute: u8) -> Option<Record> {
    packed(g.class, g.frame, &g.points, &g.corners, attribute)
}

/// Writes a bundle of a class, of these points and triangles of them; none if the class cannot have them.
pub fn packed(class: u16, frame: Frame, given: &[[i32; 3]], corners: &[[u8; 3]], attribute: u8) -> Option<Record> {
    let mut r: Record = [0; HALVES];
    let lowest = [0, 1, 2].map(|i| given.iter().map(|p| p[i]).min().unwrap_or_default());
    let mut base = [0i64; 2];
    if class != WIDE {
        for i in 0..2 {
            let b = (i64::from(lowest[i]) - i64::from(frame.base[i])) >> frame.shift;
            r[i] = i16::try_from(b).ok()? as u16;
            base[i] = i64::from(frame.base[i]) + (b << frame.shift);
        }
    }
    let mut put = |word: usize, v: i64| (r[2 * word], r[2 * word + 1]) = (v as u16, (v >> 16) as u16);
    let points = given.iter().map(|p| p.map(i64::from));
    match class {
        NARROW => {
            let mut local = [[0i64; 3]; VERTEX_LIMIT[0]];
            let local = &mut local[..given.len()];
            local.iter_mut().zip(points).for_each(|(l, p)| *l = [p[0] - base[0], p[1] - base[1], p[2]]);
            let [gx, gy] = slope(local);
            local.iter_mut().for_each(|p| p[2] -= (gx * p[0] + gy * p[1]) >> SLOPE_FRACTION);
            let low = local.iter().map(|p| p[2]).min()?;
            let z = i32::try_from(low).ok()?;
            for (i, p) in local.iter().enumerate() {
                let xy = [u16::try_from(p[0]).ok()?, u16::try_from(p[1]).ok()?];
                put(NARROW_ZERO.1 + i + 1, layout::narrow_word(xy).into());
            }
            for (i, p) in local.iter().enumerate() {
                r[NARROW_ZERO.0 + i + 1] = u16::try_from(p[2] - low).ok()?;
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
            (r[4], r[5]) = (gx as i16 as u16, gy as i16 as u16);
        }
        MEDIUM => {
            let z = lowest[2];
            for (i, p) in points.enumerate() {
                let (x, y, dz) = (p[0] - base[0], p[1] - base[1], p[2] - i64::from(z));
                if x > SPANS[1] || y > SPANS[1] || dz >= MEDIUM_RELIEF {
                    return None;
                }
                let pair = layout::medium_words([x as u32, y as u32], dz as u32);
                (0..).zip(pair).for_each(|(k, word)| put(2 * (MEDIUM_ZERO + i + 1) + k, word.into()));
            }
            (r[2], r[3]) = (z as u16, (z >> 16) as u16);
        }
        _ => {
            for (i, p) in points.enumerate() {
                (0..).zip(p).for_each(|(k, v)| put(WIDE_ZERO + WIDE_STRIDE * (i + 1) + k, v));
            }
        }
    }
    r[layout::HEAD] = Head::new(attribute, class, corners.len()).0;
    for (place, corners) in corners.iter().enumerate() {
        layout::set_corners(&mut r, place, corners.map(|v| v + 1));
    }
    Some(r)
}

/// Least-squares slope in 1/256 height steps a plan step, within i16. Any value is exact: it only sizes the rest.
fn slope(points: &[[i64; 3]]) -> [i64; 2] {
    let n = points.len() as f64;
    let mean = [0, 1, 2].map(|i| points.iter().map(|p| p[i] as f64).sum::<f64>() / n);
    let (mut xx, mut xy, mut yy, mut xz, mut yz) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for p in points {
        let [x, y, z] = [0, 1, 2].map(|i| p[i] as f64 - mean[i]);
        xx += x * x;
        xy += x * y;
        yy += y * y;
        xz += x * z;
        yz += y * z;
    }
    let det = xx * yy - xy * xy;
    if det <= 0.0 {
        return [0; 2];
    }
    let limit = |v: f64| (v * 256.0).round_ties_even().clamp(-32768.0, 32767.0) as i64;
    [limit((xz * yy - yz * xy) / det), limit((yz * xx - xz * xy) / det)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardpan_shaders::sort::mix;
    use std::sync::Mutex;

    fn random(seed: &mut u64, n: u64) -> u64 {
        *seed = mix(*seed);
        *seed % n
    }

    /// Triangles of some vertices spread over a square, and so high.
    fn heap(seed: &mut u64, count: u64, vertices: u64, spread: u64, high: u64, attributes: u64) -> (Vec<Tri>, Vec<u8>) {
        let mut at = |n: u64| random(seed, n) as i32;
        let points: Vec<[i32; 3]> = (0..vertices).map(|_| [at(spread), at(spread), at(high)]).collect();
        let (mut tris, mut all) = (Vec::new(), Vec::new());
        while tris.len() < count as usize {
            let mut v = [0; 3].map(|_| at(vertices) as u32);
            let corners = |v: [u32; 3]| v.map(|v| points[v as usize]);
            let [a, b, c] = corners(v).map(|p| p.map(i64::from));
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            if area < 0 {
                v.swap(1, 2);
            }
            let (plan, z) = (Plan::new(corners(v)), corners(v).map(|p| p[2]));
            let attribute = at(attributes) as u8;
            tris.extend((area != 0).then_some(Tri { plan, z, v }));
            all.extend((area != 0).then_some(attribute));
        }
        (tris, all)
    }

    /// What is foretold of wider classes is what they hold.
    #[test]
    fn foretold_as_tried() {
        let (mut seed, told) = (1, Mutex::new([0; 3]));
        for case in 0..120 {
            let (count, vertices) = ([20, 90, 300][case % 3], [6, 24, 150, 1000][case % 4]);
            let spread = [30, 2_000, 40_000, 300_000, 3_000_000][case % 5];
            let high = [1, 500, 100_000, 40_000_000][case / 5 % 4];
            let (tris, attributes) = heap(&mut seed, count, vertices, spread, high, 1 + case as u64 % 2);
            let frame = Frame::of(0, 0, spread.next_power_of_two().ilog2().max(10));
            let foretold = bundle_by(&tris, &attributes, frame, |g, wider| {
                let known = g.foretells(wider);
                told.lock().unwrap()[if known { usize::from(wider) } else { 0 }] += 1;
                known
            });
            let tried = bundle_by(&tris, &attributes, frame, |_, _| false);
            assert!(foretold.records == tried.records && foretold.order == tried.order, "{case}");
            assert!(foretold.places == tried.places, "{case}");
        }
        assert!(told.lock().unwrap().iter().all(|&n| n > 100), "{told:?}");
    }

    /// Of more triangles than one thread grows each has one place, in the order of places.
    #[test]
    fn parts_are_one_list() {
        let count = 2 * TOGETHER as u64 + 1000;
        let (tris, attributes) = heap(&mut 1, count, count, 100_000_000, 1000, 3);
        let kind = |t: &Tri| {
            let corners = [0, 1, 2].map(|k| t.corner(k));
            (corners, t.z)
        };
        let by_kind: std::collections::HashMap<_, u8> = tris.iter().map(kind).zip(attributes.iter().copied()).collect();
        let Bundled { records, tris, places, order, .. } = bundle(&tris, &attributes, Frame::of(0, 0, 27));
        let held = records.iter().zip(0..).flat_map(|(r, number)| (0..=(r[6] >> 12) as u8).map(move |k| (number, k)));
        assert!(order.len() == tris.len() && held.eq(order.iter().map(|&t| places[t as usize])));
        let attribute = |t: u32| by_kind[&kind(&tris[t as usize])];
        assert!(order.iter().all(|&t| records[places[t as usize].0 as usize][6] as u8 == attribute(t)));
    }

    /// The least is taken as if all were tried in their order.
    #[test]
    fn taken_as_one_by_one() {
        let (mut seed, mut ends) = (1, [0; 3]);
        for case in 0..400 {
            let spread = [60, 3000, 100_000][case % 3];
            let (tris, _) = heap(&mut seed, 80, 40, spread, [1, 30_000_000][case / 3 % 2], 1);
            let class = [NARROW, MEDIUM, WIDE][case % 3];
            let grown = || {
                let mut g = Growing::new(&tris, 40, Frame::of(0, 0, 17));
                g.start(class, [60, 80][case % 2]);
                for t in 0..case as u32 % 5 {
                    if g.points.len() + g.new_vertices(&tris[t as usize].v) <= g.limit() {
                        g.add(t);
                    }
                }
                g
            };
            let candidate = |t: u32, seed: &mut u64| {
                let new = grown().new_vertices(&tris[t as usize].v) as u64;
                Candidate { key: random(seed, 9) + new * NEW_VERTEX, number: t, t, v: tris[t as usize].v }
            };
            let next: Vec<Candidate> = (20..68).map(|t| candidate(t, &mut seed)).collect();
            for small in [true, false] {
                let (mut g, mut plain) = (grown(), grown());
                let mut left = next.clone();
                let taken = g.take(&mut left, small);
                let mut rest = next.clone();
                rest.sort_unstable_by_key(|c| std::cmp::Reverse(c.rank()));
                let expected = loop {
                    let Some(c) = rest.last().copied().filter(|c| plain.has_room(c.new_vertices())) else { break None };
                    rest.pop();
                    if (small || plain.fits(c.t, c.new_vertices())) && !plain.overlaps(c.t) {
                        break Some(c.t);
                    }
                };
                rest.sort_unstable_by_key(|c| c.t);
                assert_eq!((taken, g.asked, g.refused), (expected, plain.asked, plain.refused), "{case}");
                assert!(left.iter().map(|c| c.t).eq(rest.iter().map(|c| c.t)), "{case}");
                ends[match taken {
                    Some(_) => 0,
                    None if left.is_empty() => 1,
                    None => 2,
                }] += 1;
            }
        }
        assert!(ends.iter().all(|&n| n > 9), "{ends:?}");
    }
}
