//! Straight up and down from a point: `closest`, `below`, `segment`.

use crate::format::{Attribute, FRACTION};
use crate::hit::{Answer, Cost, Hit, LeafKind, Status, Windows};
use crate::index::Leaf;
use crate::leaf::patch::Height;
use crate::open::{Sole, Terrain};
use crate::point::{GridPoint, IntoPoint, Point, exp2};
use crate::search::{Rank, Search};
use crate::trace::{Log, Observer, Trace};

/// How `closest` searches: windows and fall-back; the image's own by default ([`Terrain::options`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Search windows.
    pub windows: Windows,
    /// One of [`fallback`](mod@crate::format::fallback).
    pub fallback: u32,
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
            None => self.miss(Status::NotInImage, None, options, &mut ()),
        }
    }

    /// [`Terrain::closest`] and what it cost.
    pub fn closest_costed(&self, p: impl IntoPoint) -> (Answer, Cost) {
        let mut log = Log::counting();
        (self.closest_logged(p, &mut log), log.cost)
    }

    /// [`Terrain::closest`], telling `see` every step.
    pub fn explain(&self, p: impl IntoPoint, mut see: impl FnMut(Trace)) -> Answer {
        self.closest_logged(p, &mut Log::telling(&mut see))
    }

    fn closest_logged(&self, p: impl IntoPoint, o: &mut Log) -> Answer {
        let options = self.options();
        match self.point(p) {
            Some(p) => self.find(p, &self.around(p, options.windows), &options, o),
            None => self.miss(Status::NotInImage, None, &options, o),
        }
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
            None => self.miss(Status::NotInImage, None, &options, &mut ()),
        }
    }

    /// [`Terrain::segment`] with a length in metres, rounded half to even; none if it is not a number or negative.
    pub fn segment_m(&self, p: impl IntoPoint, length: f64) -> Answer {
        let steps = length * exp2(FRACTION as i32 - self.header.z_log2);
        let length = if steps >= 0.0 { libm::rint(steps) as i64 } else { -1 };
        self.segment(p, length)
    }

    /// One search, from a rounded point to an answer.
    #[inline(always)]
    pub(super) fn find<O: Observer>(&self, p: Point, search: &Search, options: &Options, o: &mut O) -> Answer {
        let Some(place) = self.place(p) else {
            return self.miss(Status::NotInImage, Some(p), options, o);
        };
        match self.locate(place, o) {
            Ok(leaf) => self.answer(p, place, &leaf, search, options, o),
            Err(status) => self.miss(status, Some(p), options, o),
        }
    }

    /// [`Terrain::find`], which adds to a cost.
    pub(super) fn find_counted(&self, p: Point, search: &Search, options: &Options, cost: &mut Cost) -> Answer {
        let mut log = Log::counting();
        log.cost = *cost;
        let answer = self.find(p, search, options, &mut log);
        *cost = log.cost;
        answer
    }

    /// The one copy of the search that `closest`, `below` and `segment` share.
    #[inline(never)]
    fn find_near(&self, p: Point, search: &Search, options: &Options) -> Answer {
        match &self.sole {
            Some(sole) => self.find_sole(sole, p, search, options),
            None => self.find(p, search, options, &mut ()),
        }
    }

    /// One search in an image that is one field.
    #[inline(always)]
    fn find_sole(&self, sole: &Sole, p: Point, search: &Search, options: &Options) -> Answer {
        let x = p.x.wrapping_sub(self.low[0]) as u64;
        let y = p.y.wrapping_sub(self.low[1]) as u64;
        if x > self.span[0] || y > self.span[1] {
            return self.miss(Status::NotInImage, Some(p), options, &mut ());
        }
        let d = [p.x.wrapping_sub(sole.from[0]), p.y.wrapping_sub(sole.from[1])];
        let (z, normal, block) = match self.patch_over(sole.tile, sole.patch, d, &mut ()) {
            Ok(Some(Height { z, normal, block })) => (z, normal, block),
            Ok(None) => return self.miss(Status::NoGround, Some(p), options, &mut ()),
            Err(status) => return self.miss(status, Some(p), options, &mut ()),
        };
        let rank = search.rank(z);
        if rank == Rank::NONE {
            return self.miss(Status::NoGround, Some(p), options, &mut ());
        }
        let Attribute { material, source, .. } = sole.attribute;
        let place = [(sole.tile / 32).wrapping_sub(self.tiles_at), sole.at.wrapping_sub(sole.tile)].map(|v| v as u32);
        let hit = Hit {
            z: z.wrapping_add(self.zero_z()),
            normal,
            material,
            source,
            leaf: LeafKind::Patch,
            reach: rank.reach(),
            place: [place[0], place[1], block],
        };
        Answer { status: Status::Found, hit }
    }

    /// The rest of a query once the leaf is known.
    #[inline(always)]
    pub(super) fn answer<O: Observer>(
        &self,
        p: Point,
        place: GridPoint,
        leaf: &Leaf,
        search: &Search,
        options: &Options,
        o: &mut O,
    ) -> Answer {
        if let Some(sole) = self.single_sheet(leaf, place, o) {
            let Some(s) = sole else {
                return self.miss(Status::NoGround, Some(p), options, o);
            };
            let rank = search.rank(s.z);
            let hit = self.hit(leaf.tile, &s, rank.reach());
            o.see(Trace::Candidate(hit));
            return match rank {
                Rank::NONE => self.miss(Status::NoGround, Some(p), options, o),
                _ => Answer { status: Status::Found, hit },
            };
        }
        match self.best(leaf, place, search, o) {
            Ok(Some(hit)) => Answer { status: Status::Found, hit },
            Ok(None) => self.miss(Status::NoGround, Some(p), options, o),
            Err(status) => self.miss(status, Some(p), options, o),
        }
    }
}
