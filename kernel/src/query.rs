//! The vertical queries.

use crate::cursor::Cursor;
use crate::format::{self, FRACTION, Header, Node, fallback};
use crate::open::Terrain;
use crate::types::{Answer, Cost, Hit, IntoPoint, Layers, LeafKind, Normal, Point, Reach, Status, Windows, exp2};
use crate::walk::{Claim, Leaf, Named, Owner, Place, Sink, Surface};

/// What a search does, step by step; see [`Terrain::explain`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trace {
    /// A directory, page or node was read, whose entries are squares of 2^`log2` plan steps.
    Node {
        /// log2 of an entry's side.
        log2: u32,
    },
    /// The words of a cell were read.
    Words {
        /// Bundles and patches that may cover the place.
        words: u32,
        /// 64-byte lines of the words.
        lines: u32,
    },
    /// A bundle or a patch block was read.
    Leaf {
        /// Which, in units of its size from the image's start.
        record: usize,
        /// 64-byte lines.
        lines: u32,
    },
    /// A triangle was tested, or a patch interpolated.
    Test {
        /// The bundle.
        record: usize,
        /// The triangle.
        part: u32,
        /// Whether it covers the place.
        covered: bool,
    },
    /// A surface over the place, within the windows or not.
    Candidate(Hit),
}

/// Watches a search. Unused, it compiles away.
pub(crate) trait Observer {
    const COUNTS: bool;
    fn see(&mut self, t: Trace);
}

impl Observer for () {
    const COUNTS: bool = false;
    #[inline(always)]
    fn see(&mut self, _: Trace) {}
}

impl Observer for Cost {
    const COUNTS: bool = true;
    #[inline(always)]
    fn see(&mut self, t: Trace) {
        match t {
            Trace::Node { .. } => self.nodes = self.nodes.wrapping_add(1),
            Trace::Words { lines, .. } => self.lines = self.lines.wrapping_add(lines),
            Trace::Leaf { lines, .. } => {
                self.leaves = self.leaves.wrapping_add(1);
                self.lines = self.lines.wrapping_add(lines);
            }
            Trace::Test { .. } => self.tests = self.tests.wrapping_add(1),
            Trace::Candidate(_) => {}
        }
    }
}

struct Watch<F>(F);

impl<F: FnMut(Trace)> Observer for Watch<F> {
    const COUNTS: bool = true;
    fn see(&mut self, t: Trace) {
        (self.0)(t);
    }
}

/// How `closest` searches: windows and fall-back; the image's own by default ([`Terrain::options`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Search windows.
    pub windows: Windows,
    /// One of [`fallback`].
    pub fallback: u32,
}

/// Which heights count, about a height `z`: up to `near` either way first, then `below`, then `above`.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    z: i64,
    near: i64,
    below: i64,
    above: i64,
}

/// Order of an answer: less is better. Equal ranks are equal heights.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

impl Rank {
    pub const NONE: Rank = Rank(u64::MAX);

    #[inline(always)]
    pub fn reach(self) -> Reach {
        match self.0 >> 62 {
            0 => Reach::Near,
            1 => Reach::FarBelow,
            _ => Reach::FarAbove,
        }
    }
}

impl Search {
    /// Beyond every surface: heights are below 2^40, and distances from here fit a rank.
    const HIGHEST: i64 = 1 << 56;

    /// The same search for a height so far away that distances would overflow.
    #[cold]
    #[inline(never)]
    fn afar(z: i128, near: i64, below: i64, above: i64) -> Search {
        let highest = i128::from(Self::HIGHEST);
        let excess = z.abs() - highest;
        let less = |reach: i64| i64::try_from(i128::from(reach) - excess).map_or(-1, |r| r.max(-1));
        Search { z: z.clamp(-highest, highest) as i64, near: less(near), below: less(below), above: less(above) }
    }

    #[inline(always)]
    pub fn rank(&self, z: i64) -> Rank {
        let rise = z.wrapping_sub(self.z);
        let above = rise > 0;
        let d = rise.unsigned_abs();
        let reach = if above { self.above } else { self.below };
        if d as i64 > reach {
            return Rank::NONE;
        }
        let stage = if d as i64 <= self.near { 0 } else { 1 + u64::from(above) };
        Rank(stage << 62 | d << 1 | u64::from(above))
    }
}

/// Ties that a search remembers before it compares them: where many triangles meet a better claim mostly follows.
const TIES: usize = 6;

/// Keeps the best-ranked surface; of equal ones the owner.
struct Best<'t, 'a> {
    t: &'t Terrain<'a>,
    tile: usize,
    place: Place,
    search: Search,
    least: Rank,
    surface: Option<Surface>,
    /// A height that is not among the best.
    passed: i64,
    /// Record, part and kind of others at the same height and of the same claim.
    ties: [Named; TIES],
    tied: usize,
    /// The surface's place in the order of owners, once a tie was compared.
    owner: Option<Owner>,
}

impl Sink for Best<'_, '_> {
    const BORDERS: bool = true;

    #[inline(always)]
    fn take<O: Observer>(&mut self, s: &Surface, node: &Node, o: &mut O) {
        if O::COUNTS {
            o.see(Trace::Candidate(self.t.hit(self.tile, s, self.search.rank(s.z).reach())));
        }
        match &self.surface {
            // the same rank
            Some(best) if best.z == s.z => {
                if s.claim == best.claim {
                    return self.tie(s, node);
                } else if s.claim > best.claim {
                    return;
                }
            }
            _ if s.z == self.passed => return,
            best => {
                let rank = self.search.rank(s.z);
                if rank >= self.least {
                    self.passed = s.z;
                    return;
                }
                self.passed = best.as_ref().map_or(self.passed, |best| best.z);
                self.least = rank;
            }
        }
        (self.surface, self.tied, self.owner) = (Some(*s), 0, None);
    }
}

impl<'t, 'a> Best<'t, 'a> {
    #[inline(always)]
    fn new(t: &'t Terrain<'a>, tile: usize, place: Place, search: Search) -> Self {
        let ties = [(0, 0, LeafKind::Bundle); TIES];
        Best { t, tile, place, search, least: Rank::NONE, surface: None, passed: i64::MIN, ties, tied: 0, owner: None }
    }

    #[inline(always)]
    fn tie(&mut self, s: &Surface, node: &Node) {
        if self.tied == TIES {
            self.settle(node);
        }
        if let Some(tie) = self.ties.get_mut(self.tied) {
            *tie = (s.record, s.part, s.kind);
            self.tied += 1;
        }
    }

    /// Keeps of those that tie the owner.
    #[cold]
    #[inline(never)]
    fn settle(&mut self, node: &Node) {
        let Some(best) = &mut self.surface else { return };
        let t = self.t;
        let first = self.owner.unwrap_or_else(|| t.owner(node, (best.record, best.part, best.kind)));
        let mut owner = first;
        for tie in self.ties.iter().take(self.tied) {
            let other = t.owner(node, *tie);
            if t.owns(self.tile, node, &other, &owner) {
                owner = other;
            }
        }
        if owner.named != first.named {
            *best = t.surface_at(best.z, best.claim, owner.named);
        }
        (self.owner, self.tied) = (Some(owner), 0);
    }

    /// The surface as an answer, if there is one.
    #[inline(always)]
    fn hit(&mut self, node: &Node) -> Option<Hit> {
        if self.tied > 0 {
            self.settle(node);
        }
        let s = self.t.whole(self.tile, node, self.place, self.surface?);
        Some(self.t.hit(self.tile, &s, self.least.reach()))
    }
}

/// Keeps every height once, highest first, as long as there is room.
///
/// Until the end `reach` tells the claim of a kept hit.
struct Sorted<'t, 'a, 'o> {
    t: &'t Terrain<'a>,
    tile: usize,
    out: &'o mut [Hit],
    count: usize,
    full: bool,
    /// Of those that claim least, others at the height of a kept one: the height of their hits, record, part and kind.
    ties: [(i64, Named); TIES],
    tied: usize,
}

impl Sink for Sorted<'_, '_, '_> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Surface, node: &Node, _: &mut O) {
        let mark = match s.claim {
            Claim::First if s.normal != Normal::UNKNOWN => Reach::Near,
            Claim::First => Reach::FarAbove,
            Claim::Second => Reach::FarBelow,
            Claim::Last => Reach::Fallback,
        };
        let hit = self.t.hit(self.tile, s, mark);
        let kept = self.out.get(..self.count).unwrap_or(&[]);
        let at = kept.iter().take_while(|h| h.z > hit.z).count();
        if let Some(same) = self.out.get_mut(at).filter(|h| at < self.count && h.z == hit.z) {
            let claim = claim(same);
            let owns = || {
                let owner = |s: &Surface| self.t.owner(node, (s.record, s.part, s.kind));
                let other = self.t.surface_of(self.tile, same, claim);
                self.t.owns(self.tile, node, &owner(s), &owner(&other))
            };
            if s.claim == claim && claim == Claim::Last && self.tied < TIES {
                if let Some(tie) = self.ties.get_mut(self.tied) {
                    *tie = (hit.z, (s.record, s.part, s.kind));
                    self.tied += 1;
                }
            } else if s.claim < claim || s.claim == claim && owns() {
                *same = hit;
            }
        } else if let Some(tail) = self.out.get_mut(at..=self.count) {
            let mut carried = hit;
            for place in tail {
                core::mem::swap(place, &mut carried);
            }
            self.count += 1;
        } else {
            self.full = true;
        }
    }
}

/// The claim of a hit in a [`Sorted`].
fn claim(hit: &Hit) -> Claim {
    match hit.reach {
        Reach::Near | Reach::FarAbove => Claim::First,
        Reach::FarBelow => Claim::Second,
        Reach::Fallback => Claim::Last,
    }
}

/// Points of a batch that go down the index together.
const STAGE: usize = 32;

/// How far a point of a batch has come.
#[derive(Clone, Copy)]
enum Way {
    Tile(usize),
    Leaf(Leaf),
}

impl<'a> Terrain<'a> {
    /// The image's windows and fall-back.
    #[inline(always)]
    pub fn options(&self) -> Options {
        Options { windows: self.windows(), fallback: self.header.fallback }
    }

    /// The ground nearest to a point, straight above or below it.
    ///
    /// Near window first, then the far segment below, then above (the order of VS Terrain). Of two at equal
    /// distance the one below answers; of surfaces at equal height, the least in canonical order.
    #[inline]
    pub fn closest(&self, p: impl IntoPoint) -> Answer {
        self.closest_with(p, &self.options())
    }

    /// [`Terrain::closest`] with windows and fall-back of the caller's.
    #[inline]
    pub fn closest_with(&self, p: impl IntoPoint, options: &Options) -> Answer {
        match self.point(p) {
            Some(p) => self.find_near(p, &self.around(p, options.windows), options),
            None => self.nowhere(Status::NotInImage, None, options, &mut ()),
        }
    }

    /// [`Terrain::closest`] and what it cost.
    pub fn closest_costed(&self, p: impl IntoPoint) -> (Answer, Cost) {
        let mut cost = Cost::default();
        (self.closest_watched(p, &mut cost), cost)
    }

    /// [`Terrain::closest`], telling `see` every step.
    pub fn explain(&self, p: impl IntoPoint, mut see: impl FnMut(Trace)) -> Answer {
        self.closest_watched(p, &mut Watch(&mut see))
    }

    fn closest_watched<O: Observer>(&self, p: impl IntoPoint, o: &mut O) -> Answer {
        let options = self.options();
        match self.point(p) {
            Some(p) => self.find(p, &self.around(p, options.windows), &options, o),
            None => self.nowhere(Status::NotInImage, None, &options, o),
        }
    }

    /// [`Terrain::closest`] for points that lie close to each other: the same answers, faster.
    #[inline]
    pub fn closest_cursor(&self, p: impl IntoPoint, cursor: &mut Cursor) -> Answer {
        let options = self.options();
        let Some(p) = self.point(p) else {
            return self.nowhere(Status::NotInImage, None, &options, &mut ());
        };
        let Some(place) = self.place(p) else {
            return self.nowhere(Status::NotInImage, Some(p), &options, &mut ());
        };
        let search = self.around(p, options.windows);
        if let Some(hit) = cursor.held(self, place, &search) {
            return Answer { status: Status::Found, hit };
        }
        let leaf = match cursor.leaf(self, place) {
            Ok(leaf) => leaf,
            Err(status) => return self.nowhere(status, Some(p), &options, &mut ()),
        };
        let answer = self.answer(p, place, &leaf, &search, &options, &mut ());
        cursor.hold(self, &leaf, &answer);
        answer
    }

    /// [`Terrain::closest`] for many points: the same answers, with cache misses overlapped.
    ///
    /// Answers as many as the shorter of the two slices holds, and says how many.
    pub fn closest_batch<P: IntoPoint>(&self, points: &[P], answers: &mut [Answer]) -> usize {
        let count = points.len().min(answers.len());
        let mut at = 0;
        while let (Some(points @ [_, ..]), Some(answers)) =
            (points.get(at..count.min(at + STAGE)), answers.get_mut(at..))
        {
            self.closest_stage(points, answers);
            at += points.len();
        }
        count
    }

    /// At most `STAGE` points. Between the steps the words that the next one reads are touched, nothing else, so that
    /// their cache misses overlap.
    fn closest_stage<P: IntoPoint>(&self, points: &[P], answers: &mut [Answer]) {
        let options = self.options();
        let mut ways: [Option<(Point, Place, Way)>; STAGE] = [None; STAGE];
        let mut words = [[0; 4]; STAGE];
        for ((way, p), (a, w)) in ways.iter_mut().zip(points).zip(answers.iter_mut().zip(&mut words)) {
            let p = self.point(*p);
            let Some((p, place)) = p.and_then(|p| Some((p, self.place(p)?))) else {
                *a = self.nowhere(Status::NotInImage, p, &options, &mut ());
                continue;
            };
            match self.tile_of(place, &mut ()) {
                Ok(tile) => {
                    let to = self.entry(tile, place);
                    w[0] = to;
                    *way = Some((p, place, Way::Tile(tile)));
                }
                Err(status) => *a = self.nowhere(status, Some(p), &options, &mut ()),
            }
        }
        self.touch(words.iter().flat_map(|w| w.first()));
        for (way, w) in ways.iter().zip(&mut words) {
            if let Some((_, _, Way::Tile(tile))) = way {
                w[0] = self.behind(*tile, w[0]);
            }
        }
        self.touch(words.iter().flat_map(|w| w.first()));
        for ((way, a), w) in ways.iter_mut().zip(answers.iter_mut()).zip(&mut words) {
            let Some((p, place, Way::Tile(tile))) = *way else { continue };
            match self.descend(tile, tile.wrapping_add(format::ROOT), place, &mut ()) {
                Ok(leaf) => {
                    *w = self.first_words(&leaf);
                    *way = Some((p, place, Way::Leaf(leaf)));
                }
                Err(status) => {
                    *a = self.nowhere(status, Some(p), &options, &mut ());
                    *way = None;
                }
            }
        }
        self.touch(words.as_flattened());
        for (way, a) in ways.iter().zip(answers) {
            if let Some((p, place, Way::Leaf(leaf))) = way {
                let search = self.around(*p, options.windows);
                *a = self.answer(*p, *place, leaf, &search, &options, &mut ());
            }
        }
    }

    /// Reads words of the image, in a loop so short that many reads are under way at once.
    #[inline(always)]
    fn touch<'w>(&self, words: impl IntoIterator<Item = &'w usize>) {
        let read = |sum: u32, at: &usize| sum ^ self.words.get(*at).copied().unwrap_or(0);
        core::hint::black_box(words.into_iter().fold(0, read));
    }

    /// The first ground going down from a point, within the image's far window.
    #[inline]
    pub fn below(&self, p: impl IntoPoint) -> Answer {
        self.segment(p, self.header.far)
    }

    /// The first ground going down from a point, at most `length` (in 2^-8 of the height step) below it.
    #[inline]
    pub fn segment(&self, p: impl IntoPoint, length: i64) -> Answer {
        let options = self.options();
        match self.point(p) {
            Some(p) => self.find_near(p, &self.search(p, self.header.near, length, -1), &options),
            None => self.nowhere(Status::NotInImage, None, &options, &mut ()),
        }
    }

    /// [`Terrain::segment`] with a length in metres, rounded half to even; none if it is not a number or negative.
    pub fn segment_m(&self, p: impl IntoPoint, length: f64) -> Answer {
        let steps = length * exp2(FRACTION as i32 - self.header.z_log2);
        let length = if steps >= 0.0 { libm::rint(steps) as i64 } else { -1 };
        self.segment(p, length)
    }

    /// All ground heights over a place, highest first; the height of `p` does not matter.
    ///
    /// Heights closer than the header's `layer_merge` to the one kept above them are one layer.
    /// If `out` is too small it holds the highest, and `total` says how many there are.
    pub fn layers(&self, p: impl IntoPoint, out: &mut [Hit]) -> Layers {
        let none = |status| Layers { status, written: 0, total: 0 };
        let Some(place) = self.point(p).and_then(|p| self.place(p)) else {
            return none(Status::NotInImage);
        };
        let leaf = match self.locate(place, &mut ()) {
            Ok(leaf) => leaf,
            Err(status) => return none(status),
        };
        match self.sorted_layers(&leaf, place, out) {
            Ok(layers) => layers,
            Err(status) => none(status),
        }
    }

    /// [`Terrain::layers`] into a vector of a fixed capacity, in place of what it held; `total` says how many there are beyond that.
    ///
    /// ```
    /// # let image = hardpan::include_image!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bridge.hpan"));
    /// # let terrain = hardpan::Terrain::open(image)?;
    /// let mut hits = hardpan::heapless::Vec::<hardpan::Hit, 4>::new();
    /// let layers = terrain.layers_vec([0.0, 0.0, 0.0], &mut hits);
    /// assert_eq!((layers.total, hits.len()), (2, 2));
    /// assert_eq!([terrain.z_f64(&hits[0]), terrain.z_f64(&hits[1])], [6.0, 0.0]);
    /// # Ok::<(), hardpan::OpenError>(())
    /// ```
    #[cfg(feature = "heapless")]
    pub fn layers_vec<const N: usize>(&self, p: impl IntoPoint, out: &mut heapless::Vec<Hit, N>) -> Layers {
        out.clear();
        let _ = out.resize(N, Hit::NONE); // never longer than its capacity
        let layers = self.layers(p, out);
        out.truncate(layers.written);
        layers
    }

    fn sorted_layers(&self, leaf: &Leaf, place: Place, out: &mut [Hit]) -> Result<Layers, Status> {
        if let Some(sole) = self.sole(leaf, place, &mut ()) {
            let Some(s) = sole else {
                return Ok(Layers { status: Status::NoGround, written: 0, total: 0 });
            };
            let to = out.first_mut();
            let written = to.iter().len();
            if let Some(to) = to {
                *to = self.hit(leaf.tile, &s, Reach::Near);
            }
            return Ok(Layers { status: Status::Found, written, total: 1 });
        }
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        let ties = [(0, (0, 0, LeafKind::Bundle)); TIES];
        let mut sorted = Sorted { t: self, tile: leaf.tile, out, count: 0, full: false, ties, tied: 0 };
        self.surfaces(leaf, place, &mut (), &mut sorted)?;
        let Sorted { out, count, full, ties, tied, .. } = sorted;
        if full {
            return self.counted_layers(leaf, place, out);
        }
        let merge = self.header.layer_merge;
        let mut kept: usize = 0;
        for i in 0..count {
            let Some(&hit) = out.get(i) else { break };
            let last = kept.checked_sub(1).and_then(|k| out.get(k)).map(|h| h.z);
            if last.is_none_or(|z| z.wrapping_sub(hit.z) >= merge)
                && let Some(to) = out.get_mut(kept)
            {
                *to = hit;
                if hit.reach != Reach::Near {
                    let claim = claim(&hit);
                    let same = |tie: &&(i64, _)| claim == Claim::Last && tie.0 == hit.z;
                    let mut s = self.surface_of(leaf.tile, &hit, claim);
                    for tie in ties.iter().take(tied).filter(same) {
                        let owner = self.owner(node, (s.record, s.part, s.kind));
                        if self.owns(leaf.tile, node, &self.owner(node, tie.1), &owner) {
                            s = self.surface_at(s.z, claim, tie.1);
                        }
                    }
                    *to = self.hit(leaf.tile, &self.whole(leaf.tile, node, place, s), Reach::Near);
                }
                kept += 1;
            }
        }
        let status = if kept > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: kept, total: kept })
    }

    /// Layers one at a time, each the highest that lies far enough under the last: for callers with little space.
    #[cold]
    fn counted_layers(&self, leaf: &Leaf, place: Place, out: &mut [Hit]) -> Result<Layers, Status> {
        let mut top = Search::HIGHEST;
        let mut total = 0usize;
        loop {
            let search = Search { z: top, near: -1, below: i64::MAX, above: -1 };
            let Some(hit) = self.best(leaf, place, &search, &mut ())? else { break };
            if let Some(to) = out.get_mut(total) {
                *to = Hit { reach: Reach::Near, ..hit };
            }
            total = total.saturating_add(1);
            top = hit.z.wrapping_sub(self.zero_z()).wrapping_sub(self.header.layer_merge.max(1));
        }
        let status = if total > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: total.min(out.len()), total })
    }

    /// Near window, far below, far above (the order of VS Terrain).
    #[inline(always)]
    fn around(&self, p: Point, Windows { near, far }: Windows) -> Search {
        let far = if far > near { far } else { near };
        self.search(p, near, far, far)
    }

    #[inline(always)]
    fn search(&self, p: Point, near: i64, below: i64, above: i64) -> Search {
        // the origin is below 2^60: what wraps is far away too
        let z = p.z.wrapping_sub(self.zero_z());
        if z.unsigned_abs() <= Search::HIGHEST as u64 {
            return Search { z, near, below, above };
        }
        Search::afar(i128::from(p.z) - i128::from(self.zero_z()), near, below, above)
    }

    /// One search, from a rounded point to an answer.
    #[inline(always)]
    fn find<O: Observer>(&self, p: Point, search: &Search, options: &Options, o: &mut O) -> Answer {
        let Some(place) = self.place(p) else {
            return self.nowhere(Status::NotInImage, Some(p), options, o);
        };
        match self.locate(place, o) {
            Ok(leaf) => self.answer(p, place, &leaf, search, options, o),
            Err(status) => self.nowhere(status, Some(p), options, o),
        }
    }

    /// The one copy of the search that `closest`, `below` and `segment` share.
    #[inline(never)]
    fn find_near(&self, p: Point, search: &Search, options: &Options) -> Answer {
        self.find(p, search, options, &mut ())
    }

    /// The rest of a query once the leaf is known.
    #[inline(always)]
    fn answer<O: Observer>(
        &self,
        p: Point,
        place: Place,
        leaf: &Leaf,
        search: &Search,
        options: &Options,
        o: &mut O,
    ) -> Answer {
        if let Some(sole) = self.sole(leaf, place, o) {
            let Some(s) = sole else {
                return self.nowhere(Status::NoGround, Some(p), options, o);
            };
            let rank = search.rank(s.z);
            let hit = self.hit(leaf.tile, &s, rank.reach());
            o.see(Trace::Candidate(hit));
            return match rank {
                Rank::NONE => self.nowhere(Status::NoGround, Some(p), options, o),
                _ => Answer { status: Status::Found, hit },
            };
        }
        match self.best(leaf, place, search, o) {
            Ok(Some(hit)) => Answer { status: Status::Found, hit },
            Ok(None) => self.nowhere(Status::NoGround, Some(p), options, o),
            Err(status) => self.nowhere(status, Some(p), options, o),
        }
    }

    /// The best of all surfaces over the place.
    #[inline(never)]
    fn best<O: Observer>(&self, leaf: &Leaf, place: Place, search: &Search, o: &mut O) -> Result<Option<Hit>, Status> {
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        let mut best = Best::new(self, leaf.tile, place, *search);
        self.surfaces(leaf, place, o, &mut best)?;
        Ok(best.hit(node))
    }

    /// The answer where there is no ground: every value comes from the policy and the defaults.
    #[cold]
    #[inline(never)]
    fn nowhere<O: Observer>(&self, status: Status, p: Option<Point>, options: &Options, o: &mut O) -> Answer {
        let h = self.header;
        let bottom = h.origin[2].wrapping_add(h.min[2].into()) << FRACTION;
        let (status, z) = match (options.fallback, p) {
            (fallback::DEFAULT | fallback::MISS, _) => (status, h.default_z),
            (fallback::EDGE_EXTEND, Some(p)) => match self.edge_height(p, options, o) {
                Ok(z) => (status, z.unwrap_or(bottom)),
                // what is not believed at the border is not told beyond it
                Err(Status::Damaged) => (Status::Damaged, bottom),
                Err(_) => (status, bottom),
            },
            _ => (status, bottom),
        };
        Answer { status, hit: Hit { z, ..Hit::NONE } }
    }

    /// Beyond the bounds, where nothing was searched yet: the height at their nearest place, if there is ground.
    fn edge_height<O: Observer>(&self, p: Point, options: &Options, o: &mut O) -> Result<Option<i64>, Status> {
        let Header { origin: [ox, oy, _], min: [x, y, _], max: [mx, my, _], .. } = *self.header;
        let at = |origin: i64, bound: i32| origin.wrapping_add(bound.into()) << FRACTION;
        let near = Point { x: p.x.max(at(ox, x)).min(at(ox, mx)), y: p.y.max(at(oy, y)).min(at(oy, my)), z: p.z };
        let Some(place) = self.place(near).filter(|_| near != p) else {
            return Ok(None);
        };
        let leaf = self.locate(place, o)?;
        Ok(self.best(&leaf, place, &self.around(p, options.windows), o)?.map(|hit| hit.z))
    }
}
