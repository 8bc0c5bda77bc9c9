//! Which ground goes before other ground over the same place: by precedence within a band, by priority in one layer;
//! and materials that give their friction to the ground below.

use crate::format::{Header, Node, feature};
use crate::hit::{Hit, Layers, LeafKind, Reach, Status};
use crate::index::Leaf;
use crate::leaf::{Candidate, Claim, Sink};
use crate::open::Terrain;
use crate::point::{GridPoint, IntoPoint, Point};
use crate::search::{Classes, Filter, Nearest, Search};
use crate::trace::Observer;
use core::cmp::Reverse;

/// What a material says of its rank: the order is that of the fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Standing {
    precedence: i16,
    priority: i32,
}

/// A height that may hide others.
#[derive(Clone, Copy)]
struct Level {
    z: i64,
    standing: Standing,
}

impl Level {
    /// Whether it hides other ground: by precedence within the band, by any standing where both are one layer.
    fn hides(&self, h: &Header, other: Level) -> bool {
        let apart = self.z.abs_diff(other.z);
        let is_one_layer = apart == 0 || apart < h.layer_merge.unsigned_abs();
        let in_band = self.standing.precedence > other.standing.precedence && apart <= h.precedence_band.unsigned_abs();
        in_band || (is_one_layer && self.standing > other.standing)
    }
}

/// The heights over a place, of equal ones the greatest standing. Those of greatest standing stay if not all fit.
struct Column {
    levels: [Level; crate::format::HELD_LEVELS],
    count: usize,
    /// The greatest standing of those that do not fit: they hide nothing of this standing or a greater one.
    lost: Option<Standing>,
    /// Whether a material lies here that gives friction alone.
    has_paint: bool,
}

impl Column {
    const fn new() -> Column {
        let none = Level { z: 0, standing: Standing { precedence: 0, priority: 0 } };
        Column { levels: [none; crate::format::HELD_LEVELS], count: 0, lost: None, has_paint: false }
    }

    fn add(&mut self, level: Level) {
        let known = self.levels.iter_mut().take(self.count).find(|l| l.z == level.z);
        if let Some(known) = known {
            known.standing = known.standing.max(level.standing);
        } else if let Some(free) = self.levels.get_mut(self.count) {
            *free = level;
            self.count = self.count.wrapping_add(1);
        } else {
            let least = self.levels.iter_mut().min_by_key(|l| l.standing).filter(|l| l.standing < level.standing);
            let out = least.map_or(level, |least| core::mem::replace(least, level));
            self.lost = self.lost.max(Some(out.standing));
        }
    }
}

/// Whether a surface counts as ground that hides: it has the place in its half-open plan, or is of a field.
fn can_hide(s: &Candidate) -> bool {
    s.claim == Claim::Owner || s.kind == LeafKind::Patch
}

/// Notes every height that may hide others, and hands all surfaces on.
struct Noting<'c, 't, 'a, S> {
    t: &'t Terrain<'a>,
    tile: usize,
    column: &'c mut Column,
    then: S,
}

impl<S: Sink> Sink for Noting<'_, '_, '_, S> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Candidate, node: &Node, o: &mut O) {
        if can_hide(s) {
            match self.t.is_paint(self.tile, s) {
                true => self.column.has_paint = true,
                false => self.column.add(Level { z: s.z, standing: self.t.standing(self.tile, s) }),
            }
        }
        self.then.take(s, node, o);
    }
}

/// Hands nothing on.
struct End;

impl Sink for End {
    const BORDERS: bool = true;
    fn take<O: Observer>(&mut self, _: &Candidate, _: &Node, _: &mut O) {}
}

/// Looks for the ground of one standing whose height is nearest to a given one.
struct Own<'t, 'a> {
    t: &'t Terrain<'a>,
    tile: usize,
    of: Level,
    nearest: Option<i64>,
}

impl Sink for Own<'_, '_> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Candidate, _: &Node, _: &mut O) {
        let apart = |z: i64| z.abs_diff(self.of.z);
        let is_nearer = self.nearest.is_none_or(|z| apart(s.z) < apart(z));
        let is_own = self.t.standing(self.tile, s) == self.of.standing && !self.t.is_paint(self.tile, s);
        if is_own && is_nearer {
            self.nearest = Some(s.z);
        }
    }
}

/// Looks for a surface that hides one height, where the heights do not fit a [`Column`].
struct Judge<'t, 'a> {
    t: &'t Terrain<'a>,
    tile: usize,
    of: Level,
    is_hidden: bool,
}

impl Sink for Judge<'_, '_> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Candidate, _: &Node, _: &mut O) {
        let level = Level { z: s.z, standing: self.t.standing(self.tile, s) };
        let may = can_hide(s) && !self.t.is_paint(self.tile, s);
        self.is_hidden |= may && level.hides(self.t.header, self.of);
    }
}

/// Ground of some classes, or with zero of any: all that does not give friction alone.
#[derive(Clone, Copy)]
struct Solid(u32);

impl Filter for Solid {
    const TELLS: bool = true;

    fn wants<O: Observer>(self, t: &Terrain, tile: usize, s: &Candidate, o: &mut O) -> bool {
        Classes(self.0).wants(t, tile, s, o) && !t.is_paint(tile, s)
    }
}

/// Looks for the material that gives its friction to a ground, between two heights.
struct Coat<'t, 'a> {
    t: &'t Terrain<'a>,
    tile: usize,
    low: i64,
    high: i64,
    best: Option<(Standing, i64, Reverse<u16>)>,
}

impl Sink for Coat<'_, '_> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Candidate, _: &Node, _: &mut O) {
        if can_hide(s) && self.t.is_paint(self.tile, s) && (self.low..=self.high).contains(&s.z) {
            let material = self.t.attribute(self.tile, s.attribute).material;
            self.best = self.best.max(Some((self.t.standing_of(material), s.z, Reverse(material))));
        }
    }
}

/// Surfaces that are hidden, or those that are not; of some classes, or with zero of any.
#[derive(Clone, Copy)]
struct Shown<'c> {
    column: &'c Column,
    leaf: &'c Leaf,
    place: GridPoint,
    classes: u32,
    hidden: bool,
}

impl Filter for Shown<'_> {
    const TELLS: bool = false;

    fn wants<O: Observer>(self, t: &Terrain, tile: usize, s: &Candidate, o: &mut O) -> bool {
        let of = Level { z: s.z, standing: t.standing(tile, s) };
        Solid(self.classes).wants(t, tile, s, o)
            && t.is_hidden_in(self.column, self.leaf, self.place, of, o) == self.hidden
    }
}

impl<'a> Terrain<'a> {
    /// Whether ground of this image hides other ground, or some of its materials give friction alone: section 10 of
    /// `FORMAT.md`.
    #[inline(always)]
    pub fn has_precedence(&self) -> bool {
        cfg!(feature = "precedence") && self.header.must_understand != 0
    }

    fn is_paint(&self, tile: usize, s: &Candidate) -> bool {
        let material = self.materials.get(usize::from(self.attribute(tile, s.attribute).material));
        self.header.must_understand & feature::FRICTION_ONLY != 0 && material.is_some_and(|m| m.is_friction_only())
    }

    /// Whether ground that goes before hides a hit over a place, so that only [`Terrain::layers`] tells it.
    pub fn is_hidden(&self, p: impl IntoPoint, hit: &Hit) -> bool {
        let place = self.point(p).and_then(|p| self.place(p)).filter(|_| self.has_precedence());
        let Some((place, Ok(leaf))) = place.map(|place| (place, self.locate(place, &mut ()))) else { return false };
        // ground may bear the name of a material that gives friction alone
        let s = self.surface_of(leaf.tile, hit, Claim::Tie);
        let of = Level { z: s.z, standing: self.standing(leaf.tile, &s) };
        self.column(&leaf, place).is_ok_and(|column| self.is_hidden_in(&column, &leaf, place, of, &mut ()))
    }

    /// Whether a ray passes through ground of a material that it meets there: what is hidden, or gives friction alone.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_passed<O: Observer>(&self, at: Point, material: u16, o: &mut O) -> bool {
        let paints = self.header.must_understand & feature::FRICTION_ONLY != 0;
        if paints && self.materials.get(usize::from(material)).is_some_and(|m| m.is_friction_only()) {
            return true;
        }
        let Some((place, Ok(leaf))) = self.place(at).map(|place| (place, self.locate(place, o))) else { return false };
        let mut of = Level { z: at.z.wrapping_sub(self.zero_z()), standing: self.standing_of(material) };
        let mut column = Column::new();
        let own = Own { t: self, tile: leaf.tile, of, nearest: None };
        let mut all = Noting { t: self, tile: leaf.tile, column: &mut column, then: own };
        if self.surfaces(&leaf, place, o, &mut all).is_err() {
            return false;
        }
        // the place is rounded: its own height there is meant
        let near = all.then.nearest.filter(|z| z.abs_diff(of.z) <= self.header.layer_merge.unsigned_abs());
        of.z = near.unwrap_or(of.z);
        self.is_hidden_in(&column, &leaf, place, of, o)
    }

    /// The material of ground that a ray met: that which gives its friction to it, if there is one.
    #[cold]
    #[inline(never)]
    pub(crate) fn material_at<O: Observer>(&self, at: Point, material: u16, o: &mut O) -> u16 {
        let place = self.place(at).filter(|_| self.header.must_understand & feature::FRICTION_ONLY != 0);
        let Some((place, Ok(leaf))) = place.map(|place| (place, self.locate(place, o))) else { return material };
        let merge = self.header.layer_merge;
        let search = self.search(at, merge, merge, merge);
        let found = self.best_shown(&leaf, place, &search, 0, o);
        found.ok().flatten().map_or(material, |hit| hit.material)
    }

    fn standing(&self, tile: usize, s: &Candidate) -> Standing {
        self.standing_of(self.attribute(tile, s.attribute).material)
    }

    fn standing_of(&self, material: u16) -> Standing {
        let of = self.materials.get(usize::from(material)).map(|m| (m.precedence, m.priority));
        let (precedence, priority) = of.unwrap_or_default();
        Standing { precedence, priority }
    }

    fn level(&self, hit: &Hit) -> Level {
        Level { z: hit.z.wrapping_sub(self.zero_z()), standing: self.standing_of(hit.material) }
    }

    fn column(&self, leaf: &Leaf, place: GridPoint) -> Result<Column, Status> {
        let mut column = Column::new();
        let mut all = Noting { t: self, tile: leaf.tile, column: &mut column, then: End };
        self.surfaces(leaf, place, &mut (), &mut all)?;
        Ok(column)
    }

    fn is_hidden_in<O: Observer>(&self, c: &Column, leaf: &Leaf, place: GridPoint, of: Level, o: &mut O) -> bool {
        if c.levels.iter().take(c.count).any(|l| l.hides(self.header, of)) {
            return true;
        }
        let mut judge = Judge { t: self, tile: leaf.tile, of, is_hidden: false };
        c.lost.is_some_and(|lost| lost > of.standing)
            && self.surfaces(leaf, place, o, &mut judge).is_ok()
            && judge.is_hidden
    }

    /// The best of all surfaces over a place that are not hidden, of some classes, or with zero of any.
    #[cold]
    #[inline(never)]
    pub(crate) fn best_shown<O: Observer>(
        &self,
        leaf: &Leaf,
        place: GridPoint,
        search: &Search,
        classes: u32,
        o: &mut O,
    ) -> Result<Option<Hit>, Status> {
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        let mut column = Column::new();
        let nearest = Nearest::new(self, leaf.tile, place, *search, Solid(classes));
        let mut all = Noting { t: self, tile: leaf.tile, column: &mut column, then: nearest };
        self.surfaces(leaf, place, o, &mut all)?;
        // what is best of all and not hidden is best of those that are not
        let Some(mut hit) = all.then.hit(node) else { return Ok(None) };
        if self.is_hidden_in(&column, leaf, place, self.level(&hit), o) {
            let shown = Shown { column: &column, leaf, place, classes, hidden: false };
            match self.best_of(leaf, place, search, shown, o)? {
                Some(next) => hit = next,
                None => return Ok(None),
            }
        }
        self.coat(&column, leaf, place, &mut hit, o)?;
        Ok(Some(hit))
    }

    /// Gives ground that is shown the material that lies right above it and gives friction alone, if there is one.
    fn coat<O: Observer>(
        &self,
        column: &Column,
        leaf: &Leaf,
        place: GridPoint,
        hit: &mut Hit,
        o: &mut O,
    ) -> Result<(), Status> {
        if !column.has_paint {
            return Ok(());
        }
        let (z, merge, band) = (self.level(hit).z, self.header.layer_merge, self.header.precedence_band);
        let (low, mut high) = (z.wrapping_sub(merge), z.wrapping_add(band));
        // what lies as near to the next ground above is of that
        let above = Search { z: z.wrapping_add(1), near: -1, below: 0, above: band.wrapping_add(merge) };
        let shown = Shown { column, leaf, place, classes: 0, hidden: false };
        if let Some(next) = self.best_of(leaf, place, &above, shown, o)? {
            high = high.min(self.level(&next).z.wrapping_sub(merge).wrapping_sub(1));
        }
        let mut coat = Coat { t: self, tile: leaf.tile, low, high, best: None };
        self.surfaces(leaf, place, o, &mut coat)?;
        if let Some((_, _, Reverse(material))) = coat.best {
            hit.material = material;
        }
        Ok(())
    }

    /// Layers of ground that is not hidden, and between them those of hidden ground, each as if the other were not.
    #[cold]
    #[inline(never)]
    pub(crate) fn shown_layers(
        &self,
        leaf: &Leaf,
        place: GridPoint,
        classes: u32,
        out: &mut [Hit],
    ) -> Result<Layers, Status> {
        let column = self.column(leaf, place)?;
        let find = |top, hidden| {
            let search = Search { z: top, near: -1, below: i64::MAX, above: -1 };
            let shown = Shown { column: &column, leaf, place, classes, hidden };
            self.best_of(leaf, place, &search, shown, &mut ())
        };
        let (mut shown, mut hidden) = (find(Search::HIGHEST, false)?, find(Search::HIGHEST, true)?);
        let mut total = 0usize;
        loop {
            let is_hidden = hidden.is_some_and(|h| shown.is_none_or(|s| h.z > s.z));
            let next = if is_hidden { &mut hidden } else { &mut shown };
            let Some(mut hit) = *next else { break };
            let z = self.level(&hit).z;
            if !is_hidden {
                self.coat(&column, leaf, place, &mut hit, &mut ())?;
            }
            if let Some(to) = out.get_mut(total) {
                *to = Hit { reach: if is_hidden { Reach::Hidden } else { Reach::Near }, ..hit };
            }
            total = total.saturating_add(1);
            let merge = self.header.layer_merge.max(1);
            *next = find(z.wrapping_sub(merge), is_hidden)?;
        }
        let status = if total > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: total.min(out.len()), total })
    }
}
