//! Which ground goes before other ground over the same place: by precedence within a band, by priority at one height.

use crate::format::{Node, feature};
use crate::hit::{Hit, Layers, LeafKind, Reach, Status};
use crate::index::Leaf;
use crate::leaf::{Candidate, Claim, Sink};
use crate::open::Terrain;
use crate::point::{GridPoint, IntoPoint};
use crate::search::{Classes, Filter, Nearest, Search};
use crate::trace::Observer;

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
    /// Whether it hides what lies at another height, or at its own.
    fn hides(&self, z: i64, standing: Standing, band: i64) -> bool {
        match self.z.abs_diff(z) {
            0 => self.standing > standing,
            apart => self.standing.precedence > standing.precedence && apart <= band.unsigned_abs(),
        }
    }
}

/// The heights over a place, as many as fit: of equal ones the greatest standing.
struct Column {
    levels: [Level; crate::format::HELD_LEVELS],
    count: usize,
    /// Whether there are more.
    is_short: bool,
}

impl Column {
    const fn new() -> Column {
        let none = Level { z: 0, standing: Standing { precedence: 0, priority: 0 } };
        Column { levels: [none; crate::format::HELD_LEVELS], count: 0, is_short: false }
    }

    fn add(&mut self, level: Level) {
        let known = self.levels.iter_mut().take(self.count).find(|l| l.z == level.z);
        if let Some(known) = known {
            known.standing = known.standing.max(level.standing);
        } else if let Some(free) = self.levels.get_mut(self.count) {
            *free = level;
            self.count = self.count.wrapping_add(1);
        } else {
            self.is_short = true;
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
            self.column.add(Level { z: s.z, standing: self.t.standing(self.tile, s) });
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
        let band = self.t.header.precedence_band;
        self.is_hidden |= can_hide(s) && level.hides(self.of.z, self.of.standing, band);
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
        Classes(self.classes).wants(t, tile, s, o)
            && t.is_hidden_in(self.column, self.leaf, self.place, of, o) == self.hidden
    }
}

impl<'a> Terrain<'a> {
    /// Whether ground of this image hides other ground: see `precedence` in `FORMAT.md`.
    #[inline(always)]
    pub fn has_precedence(&self) -> bool {
        self.header.must_understand & feature::PRECEDENCE != 0
    }

    /// Whether ground that goes before hides a hit over a place, so that only [`Terrain::layers`] tells it.
    pub fn is_hidden(&self, p: impl IntoPoint, hit: &Hit) -> bool {
        let place = self.point(p).and_then(|p| self.place(p)).filter(|_| self.has_precedence());
        let Some((place, Ok(leaf))) = place.map(|place| (place, self.locate(place, &mut ()))) else { return false };
        let of = self.level(hit);
        self.column(&leaf, place).is_ok_and(|column| self.is_hidden_in(&column, &leaf, place, of, &mut ()))
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
        let band = self.header.precedence_band;
        if c.levels.iter().take(c.count).any(|l| l.hides(of.z, of.standing, band)) {
            return true;
        }
        let mut judge = Judge { t: self, tile: leaf.tile, of, is_hidden: false };
        c.is_short && self.surfaces(leaf, place, o, &mut judge).is_ok() && judge.is_hidden
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
        let nearest = Nearest::new(self, leaf.tile, place, *search, Classes(classes));
        let mut all = Noting { t: self, tile: leaf.tile, column: &mut column, then: nearest };
        self.surfaces(leaf, place, o, &mut all)?;
        // what is best of all and not hidden is best of those that are not
        let Some(hit) = all.then.hit(node) else { return Ok(None) };
        if !self.is_hidden_in(&column, leaf, place, self.level(&hit), o) {
            return Ok(Some(hit));
        }
        let shown = Shown { column: &column, leaf, place, classes, hidden: false };
        self.best_of(leaf, place, search, shown, o)
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
            let Some(hit) = *next else { break };
            if let Some(to) = out.get_mut(total) {
                *to = Hit { reach: if is_hidden { Reach::Hidden } else { Reach::Near }, ..hit };
            }
            total = total.saturating_add(1);
            let merge = self.header.layer_merge.max(1);
            *next = find(hit.z.wrapping_sub(self.zero_z()).wrapping_sub(merge), is_hidden)?;
        }
        let status = if total > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: total.min(out.len()), total })
    }
}
