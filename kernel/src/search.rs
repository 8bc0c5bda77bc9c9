//! Which of the surfaces over a place answers: windows, ranks, owners.

use crate::format::{self, Attribute, Node};
use crate::hit::{Hit, LeafKind, Normal, Reach, Status, Windows};
use crate::index::Leaf;
use crate::leaf::bundle::Bundle;
use crate::leaf::{Candidate, Claim, Named, Sink};
use crate::open::Terrain;
use crate::point::{GridPoint, Point};
use crate::trace::{Observer, Trace};

/// Which heights count, about a height `z`: up to `near` either way first, then `below`, then `above`.
#[derive(Clone, Copy)]
pub(crate) struct Search {
    pub z: i64,
    pub near: i64,
    pub below: i64,
    pub above: i64,
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
    pub const HIGHEST: i64 = 1 << 56;

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
pub(crate) const TIES: usize = 6;

/// A surface as it is compared with others at equal height and of equal claim.
#[derive(Clone, Copy)]
pub(crate) struct OwnerKey {
    /// Corners in plan from the origin, sorted: x, and below it y, so that they compare as pairs do.
    plan: [i64; 3],
    /// Their numbers in the bundle.
    numbers: [usize; 3],
    pub named: Named,
}

/// Which surfaces count.
pub(crate) trait Filter: Copy {
    /// Whether an observer hears of the surfaces: on a second reading it knows them.
    const TELLS: bool;
    fn wants<O: Observer>(self, t: &Terrain, tile: usize, s: &Candidate, o: &mut O) -> bool;
}

/// All do. It compiles away, as where nobody watches.
impl Filter for () {
    const TELLS: bool = true;
    #[inline(always)]
    fn wants<O: Observer>(self, _: &Terrain, _: usize, _: &Candidate, _: &mut O) -> bool {
        true
    }
}

/// Those whose material has one of these classes; zero asks for none in particular.
#[derive(Clone, Copy)]
pub(crate) struct Classes(pub u32);

impl Filter for Classes {
    const TELLS: bool = true;
    fn wants<O: Observer>(self, t: &Terrain, tile: usize, s: &Candidate, _: &mut O) -> bool {
        self.0 == 0 || t.has_class(t.attribute(tile, s.attribute).material, self.0)
    }
}

/// Keeps the best-ranked surface; of equal ones the owner.
pub(crate) struct Nearest<'t, 'a, F> {
    t: &'t Terrain<'a>,
    tile: usize,
    place: GridPoint,
    search: Search,
    filter: F,
    least: Rank,
    surface: Option<Candidate>,
    /// A height that is not among the best.
    passed: i64,
    /// Record, part and kind of others at the same height and of the same claim.
    ties: [Named; TIES],
    tied: usize,
    /// The surface's place in the order of owners, once a tie was compared.
    owner: Option<OwnerKey>,
}

impl<F: Filter> Sink for Nearest<'_, '_, F> {
    const BORDERS: bool = true;

    #[inline(always)]
    fn take<O: Observer>(&mut self, s: &Candidate, node: &Node, o: &mut O) {
        if !self.filter.wants(self.t, self.tile, s, o) {
            return;
        }
        if o.counts() && F::TELLS {
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

impl<'t, 'a, F: Filter> Nearest<'t, 'a, F> {
    #[inline(always)]
    pub fn new(t: &'t Terrain<'a>, tile: usize, place: GridPoint, search: Search, filter: F) -> Self {
        let ties = [(0, 0, LeafKind::Bundle); TIES];
        Nearest {
            t,
            tile,
            place,
            search,
            filter,
            least: Rank::NONE,
            surface: None,
            passed: i64::MIN,
            ties,
            tied: 0,
            owner: None,
        }
    }

    #[inline(always)]
    fn tie(&mut self, s: &Candidate, node: &Node) {
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
    pub fn hit(&mut self, node: &Node) -> Option<Hit> {
        if self.tied > 0 {
            self.settle(node);
        }
        let s = self.t.whole(self.tile, node, self.place, self.surface?);
        Some(self.t.hit(self.tile, &s, self.least.reach()))
    }
}

impl<'a> Terrain<'a> {
    /// A surface among others at equal height and of equal claim.
    #[cold]
    pub(crate) fn owner(&self, node: &Node, named: Named) -> OwnerKey {
        let (record, part, kind) = named;
        match self.bundles.get(record).filter(|_| kind == LeafKind::Bundle) {
            Some(words) => {
                let (plan, numbers) = Bundle { words, record, node }.sorted(part);
                OwnerKey { plan, numbers, named }
            }
            None => OwnerKey { plan: [i64::MAX; 3], numbers: [0; 3], named },
        }
    }

    /// Whether the first comes before the second, by sorted corners from the origin, material and source. Corners of a
    /// triangle differ in plan, so heights are read only where the plan leaves it open.
    #[cold]
    #[inline(never)]
    pub(crate) fn owns(&self, tile: usize, node: &Node, a: &OwnerKey, b: &OwnerKey) -> bool {
        let level = |o: &OwnerKey, number: usize| {
            let words = self.bundles.get(o.named.0).filter(|_| o.named.2 == LeafKind::Bundle);
            words.map_or(0, |words| Bundle { words, record: o.named.0, node }.level(number))
        };
        for k in 0..3 {
            if a.plan[k] != b.plan[k] {
                return a.plan[k] < b.plan[k];
            }
            let [z, other] = [level(a, a.numbers[k]), level(b, b.numbers[k])];
            if z != other {
                return z < other;
            }
        }
        let pair = |o: &OwnerKey| {
            let Attribute { material, source, .. } =
                self.attribute(tile, self.surface_at(0, Claim::Tie, o.named).attribute);
            (material, source)
        };
        pair(a) < pair(b)
    }

    /// A surface as an answer.
    #[inline(always)]
    pub(crate) fn hit(&self, tile: usize, s: &Candidate, reach: Reach) -> Hit {
        let Attribute { material, source, .. } = self.attribute(tile, s.attribute);
        let unit = tile / 32;
        let record = if s.kind == LeafKind::Bundle { s.record.wrapping_sub(unit) } else { s.record.wrapping_sub(tile) };
        Hit {
            z: s.z.wrapping_add(self.header.origin[2] << 8),
            normal: s.normal,
            material,
            source,
            leaf: s.kind,
            reach,
            place: [unit.wrapping_sub(self.tiles_at) as u32, record as u32, s.part],
        }
    }

    /// The surface with its normal.
    #[inline(always)]
    pub(crate) fn whole(&self, tile: usize, node: &Node, p: GridPoint, s: Candidate) -> Candidate {
        if s.normal != Normal::UNKNOWN {
            return s;
        }
        let normal = match s.kind {
            LeafKind::Bundle => {
                let record = s.record;
                self.bundles.get(record).map(|words| Bundle { words, record, node }.normal(s.part, p))
            }
            _ => self.patch_at(tile, s.record, p, &mut ()).ok().flatten().map(|s| s.normal),
        };
        Candidate { normal: normal.unwrap_or(Normal::UP), ..s }
    }

    /// A surface whose normal is not known yet, from its height and claim, and its record, part and kind.
    #[cold]
    pub(crate) fn surface_at(&self, z: i64, claim: Claim, (record, part, kind): Named) -> Candidate {
        let attribute = match self.bundles.get(record) {
            Some(words) if kind == LeafKind::Bundle => format::bundle::Head::of(words).attribute(),
            _ => self.patch(record).map_or(0, |p| p.attribute),
        };
        Candidate { z, normal: Normal::UNKNOWN, record, part, kind, attribute, claim }
    }

    /// The parts of a hit, given its claim; without its normal.
    #[cold]
    pub(crate) fn surface_of(&self, tile: usize, hit: &Hit, claim: Claim) -> Candidate {
        let base = if hit.leaf == LeafKind::Bundle { tile / 32 } else { tile };
        let record = base.wrapping_add(hit.place[1] as usize);
        self.surface_at(hit.z.wrapping_sub(self.zero_z()), claim, (record, hit.place[2], hit.leaf))
    }
}

impl<'a> Terrain<'a> {
    /// Near window, far below, far above (the order of VS Terrain).
    #[inline(always)]
    pub(crate) fn around(&self, p: Point, Windows { near, far }: Windows) -> Search {
        let far = if far > near { far } else { near };
        self.search(p, near, far, far)
    }

    #[inline(always)]
    pub(crate) fn search(&self, p: Point, near: i64, below: i64, above: i64) -> Search {
        // the origin is below 2^60: what wraps is far away too
        let z = p.z.wrapping_sub(self.zero_z());
        if z.unsigned_abs() <= Search::HIGHEST as u64 {
            return Search { z, near, below, above };
        }
        Search::afar(i128::from(p.z) - i128::from(self.zero_z()), near, below, above)
    }

    /// The best of all surfaces over the place.
    #[inline(never)]
    pub(crate) fn best<O: Observer>(
        &self,
        leaf: &Leaf,
        place: GridPoint,
        search: &Search,
        o: &mut O,
    ) -> Result<Option<Hit>, Status> {
        if self.has_precedence() {
            return self.best_shown(leaf, place, search, 0, o);
        }
        if !O::PLAIN {
            return self.best_of_class(leaf, place, search, 0, o);
        }
        self.best_of(leaf, place, search, (), o)
    }

    /// The best of those that count.
    #[inline(always)]
    pub(crate) fn best_of<O: Observer, F: Filter>(
        &self,
        leaf: &Leaf,
        place: GridPoint,
        search: &Search,
        filter: F,
        o: &mut O,
    ) -> Result<Option<Hit>, Status> {
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        let mut best = Nearest::new(self, leaf.tile, place, *search, filter);
        self.surfaces(leaf, place, o, &mut best)?;
        Ok(best.hit(node))
    }

    /// The best of those whose material has one of the classes; zero asks for none in particular.
    #[cold]
    #[inline(never)]
    pub(crate) fn best_of_class<O: Observer>(
        &self,
        leaf: &Leaf,
        place: GridPoint,
        search: &Search,
        classes: u32,
        o: &mut O,
    ) -> Result<Option<Hit>, Status> {
        if self.has_precedence() {
            return self.best_shown(leaf, place, search, classes, o);
        }
        self.best_of(leaf, place, search, Classes(classes), o)
    }
}
