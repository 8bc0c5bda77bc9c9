//! Bundles: 16 triangles in 128 bytes, in three classes of coordinates.

use crate::format::bundle::{self, MEDIUM, NARROW, VERTICES};
use crate::format::word;
use crate::geom::{Corners, Cover};
use crate::open::Terrain;
use crate::query::{Observer, Trace};
use crate::types::LeafKind;
use crate::walk::{Leaf, Place, Sink, Surface};

/// How a class of bundle stores its vertices.
trait Class {
    /// Plan coordinates of a vertex: from the base, or in a wide bundle from the origin.
    fn plan(b: &Bundle, i: usize) -> (i64, i64);
    /// Height of a vertex in steps from the origin.
    fn height(b: &Bundle, i: usize, x: i64, y: i64) -> i64;
    /// The place in the same frame, if the bundle may reach it.
    fn local(b: &Bundle, p: Place) -> Option<Place>;
    /// How a triangle covers it.
    fn cover(c: &Corners, p: Place) -> Cover;
    /// Whether a triangle may be too large for 64-bit products.
    const HUGE: bool;
}

struct Narrow;
struct Medium;
struct Wide;

impl Class for Narrow {
    const HUGE: bool = false;

    #[inline(always)]
    fn plan(b: &Bundle, i: usize) -> (i64, i64) {
        let at = VERTICES + 3 * i;
        (b.half(at).into(), b.half(at + 1).into())
    }

    #[inline(always)]
    fn height(b: &Bundle, i: usize, x: i64, y: i64) -> i64 {
        let gx = i64::from(b.halves[4] as i16);
        let gy = i64::from(b.halves[5] as i16);
        let plane = gx.wrapping_mul(x).wrapping_add(gy.wrapping_mul(y)) >> 8;
        b.base_z().wrapping_add(plane).wrapping_add(b.half(VERTICES + 3 * i + 2).into())
    }

    #[inline(always)]
    fn local(b: &Bundle, p: Place) -> Option<Place> {
        b.local(p, 0xFFFF << 8)
    }

    #[inline(always)]
    fn cover(c: &Corners, p: Place) -> Cover {
        c.cover_near(p.x, p.y)
    }
}

impl Class for Medium {
    const HUGE: bool = false;

    #[inline(always)]
    fn plan(b: &Bundle, i: usize) -> (i64, i64) {
        let at = VERTICES + 4 * i;
        let high = i64::from(b.half(at + 3));
        (i64::from(b.half(at)) | (high & 15) << 16, i64::from(b.half(at + 1)) | (high >> 4 & 15) << 16)
    }

    #[inline(always)]
    fn height(b: &Bundle, i: usize, _: i64, _: i64) -> i64 {
        let at = VERTICES + 4 * i + 2;
        b.base_z().wrapping_add(i64::from(b.half(at)) | i64::from(b.half(at + 1) >> 8) << 16)
    }

    #[inline(always)]
    fn local(b: &Bundle, p: Place) -> Option<Place> {
        b.local(p, 0xF_FFFF << 8)
    }

    #[inline(always)]
    fn cover(c: &Corners, p: Place) -> Cover {
        c.cover_near(p.x, p.y)
    }
}

impl Class for Wide {
    const HUGE: bool = true;

    #[inline(always)]
    fn plan(b: &Bundle, i: usize) -> (i64, i64) {
        let at = VERTICES + 6 * i;
        (b.long(at), b.long(at + 2))
    }

    #[inline(always)]
    fn height(b: &Bundle, i: usize, _: i64, _: i64) -> i64 {
        b.long(VERTICES + 6 * i + 4)
    }

    #[inline(always)]
    fn local(_: &Bundle, p: Place) -> Option<Place> {
        Some(p)
    }

    #[inline(always)]
    fn cover(c: &Corners, p: Place) -> Cover {
        if !c.is_small() {
            return c.cover_huge(p.x, p.y);
        }
        let (qx, qy) = (p.x.wrapping_sub(c.x[0] << 8), p.y.wrapping_sub(c.y[0] << 8));
        if qx.unsigned_abs() > 1 << 34 || qy.unsigned_abs() > 1 << 34 {
            return Cover::Outside;
        }
        c.cover(p.x, p.y)
    }
}

/// A bundle, seen from a leaf.
pub(crate) struct Bundle<'a, 'l> {
    pub halves: &'a [u16; bundle::HALVES],
    pub record: usize,
    pub leaf: &'l Leaf,
}

impl Bundle<'_, '_> {
    #[inline(always)]
    fn half(&self, i: usize) -> u16 {
        self.halves[i & 63]
    }

    #[inline(always)]
    pub fn class(&self) -> u16 {
        self.halves[6] >> 8 & 3
    }

    #[inline(always)]
    pub fn corner_numbers(&self, part: u32) -> [usize; 3] {
        let at = bundle::CORNERS + (part as usize >> 2 & 3);
        let shift = 4 * (part & 3);
        let number = |plane: usize| usize::from(self.half(at + plane) >> shift & 15);
        [number(0), number(4), number(8)]
    }

    /// Plan base in steps: narrow and medium count from it.
    #[inline(always)]
    pub fn base(&self) -> (i64, i64) {
        let at =
            |i: usize| i64::from(self.leaf.base[i]).wrapping_add(i64::from(self.halves[i] as i16) << self.leaf.shift);
        (at(0), at(1))
    }

    #[inline(always)]
    pub fn base_z(&self) -> i64 {
        i64::from((u32::from(self.halves[2]) | u32::from(self.halves[3]) << 16) as i32)
    }

    #[inline(always)]
    fn long(&self, at: usize) -> i64 {
        i64::from((u32::from(self.half(at)) | u32::from(self.half(at + 1)) << 16) as i32)
    }

    #[inline(always)]
    fn local(&self, p: Place, reach: u64) -> Option<Place> {
        let (bx, by) = self.base();
        let (x, y) = (p.x.wrapping_sub(bx << 8), p.y.wrapping_sub(by << 8));
        (x as u64 <= reach && y as u64 <= reach).then_some(Place { x, y })
    }

    /// Absolute corners of a triangle in steps from the origin.
    pub fn corners_3d(&self, part: u32) -> [[i64; 3]; 3] {
        match self.class() {
            NARROW => self.corners_of::<Narrow>(part, self.base()),
            MEDIUM => self.corners_of::<Medium>(part, self.base()),
            _ => self.corners_of::<Wide>(part, (0, 0)),
        }
    }

    fn corners_of<C: Class>(&self, part: u32, (bx, by): (i64, i64)) -> [[i64; 3]; 3] {
        let corner = |i: usize| {
            let (x, y) = C::plan(self, i);
            [x.wrapping_add(bx), y.wrapping_add(by), C::height(self, i, x, y)]
        };
        let [i, j, k] = self.corner_numbers(part);
        [corner(i), corner(j), corner(k)]
    }

    /// Tests the triangles of a cell word's mask, its guess first; true after a hit inside a triangle.
    #[inline(always)]
    pub fn surfaces<O: Observer>(&self, t: &Terrain, w: u32, p: Place, o: &mut O, sink: &mut impl Sink) -> bool {
        match self.class() {
            NARROW => self.scan::<Narrow, O>(t, w, p, o, sink),
            MEDIUM => self.scan::<Medium, O>(t, w, p, o, sink),
            _ => self.scan_wide(t, w, p, o, sink),
        }
    }

    #[cold]
    fn scan_wide<O: Observer>(&self, t: &Terrain, w: u32, p: Place, o: &mut O, sink: &mut impl Sink) -> bool {
        self.scan::<Wide, O>(t, w, p, o, sink)
    }

    #[inline(always)]
    fn scan<C: Class, O: Observer>(&self, t: &Terrain, w: u32, p: Place, o: &mut O, sink: &mut impl Sink) -> bool {
        let Some(p) = C::local(self, p) else { return false };
        let mut mask = w & word::MASK;
        let mut part = w >> word::GUESS & 15;
        if mask >> part & 1 == 0 {
            part = mask.trailing_zeros();
        }
        while mask != 0 {
            mask &= !(1 << part);
            let [i, j, k] = self.corner_numbers(part);
            let (a, b, c) = (C::plan(self, i), C::plan(self, j), C::plan(self, k));
            let corners = Corners { x: [a.0, b.0, c.0], y: [a.1, b.1, c.1] };
            let cover = C::cover(&corners, p);
            o.see(Trace::Test { record: self.record, part, covered: cover != Cover::Outside });
            if cover != Cover::Outside {
                let z = [C::height(self, i, a.0, a.1), C::height(self, j, b.0, b.1), C::height(self, k, c.0, c.1)];
                let (normal, rise) = if C::HUGE && !corners.is_small() {
                    corners.plane_huge(z, p.x, p.y)
                } else {
                    corners.plane(z, p.x, p.y)
                };
                let z = rise.wrapping_add(z[0] << 8);
                sink.take(t, self.leaf, &Surface { z, normal, record: self.record, part, kind: LeafKind::Bundle }, o);
                if cover == Cover::Inside {
                    return true;
                }
            }
            part = mask.trailing_zeros();
        }
        false
    }
}
