//! Bundles: 16 triangles in 128 bytes, in three classes of coordinates.

use crate::format::Node;
use crate::format::bundle::{
    self, Head, MEDIUM, MEDIUM_REACH, MEDIUM_ZERO, NARROW, NARROW_REACH, NARROW_ZERO, SLOPE_FRACTION, WIDE_STRIDE,
    WIDE_ZERO,
};
use crate::format::word;
use crate::geom::{Corners, Cover, Near, divide_half_even, product};
use crate::hit::{LeafKind, Normal};
use crate::leaf::{Candidate, Claim, Sink};
use crate::point::GridPoint;
use crate::trace::{Observer, Trace};
use core::marker::PhantomData;

/// A bundle, seen from a node.
#[derive(Clone, Copy)]
pub(crate) struct Bundle<'a> {
    pub words: &'a [u32; bundle::WORDS],
    /// Which bundle of the image.
    pub record: usize,
    pub node: &'a Node,
}

/// How narrow and medium bundles store their vertices: from a base, so that all products fit 64 bits.
pub(super) trait Class: Copy {
    /// Largest plan coordinate.
    const REACH: u32;
    /// Plan coordinates of a vertex from the base.
    fn plan(b: &Bundle, i: usize) -> [u32; 2];
    /// Height of a vertex above the base, given its plan coordinates.
    fn height(b: &Bundle, i: usize, plan: [u32; 2]) -> i32;
}

#[derive(Clone, Copy)]
pub(super) struct Narrow;

#[derive(Clone, Copy)]
pub(super) struct Medium;

impl Class for Narrow {
    const REACH: u32 = NARROW_REACH;

    #[inline(always)]
    fn plan(b: &Bundle, i: usize) -> [u32; 2] {
        bundle::narrow_plan(b.words[NARROW_ZERO.1 + (i & 15)])
    }

    #[inline(always)]
    fn height(b: &Bundle, i: usize, [x, y]: [u32; 2]) -> i32 {
        // the slopes' products are below 2^31, their sum below 2^32
        let h = b.halves();
        let [gx, gy] = bundle::slopes(h).map(isize::from);
        let plane = product(gx, x as isize).wrapping_add(product(gy, y as isize)) >> SLOPE_FRACTION;
        (plane as i32).wrapping_add(h[NARROW_ZERO.0 + (i & 15)].into())
    }
}

impl Class for Medium {
    const REACH: u32 = MEDIUM_REACH;

    #[inline(always)]
    fn plan(b: &Bundle, i: usize) -> [u32; 2] {
        bundle::medium_plan(b.pair(i))
    }

    #[inline(always)]
    fn height(b: &Bundle, i: usize, _: [u32; 2]) -> i32 {
        bundle::medium_height(b.pair(i)) as i32
    }
}

/// How a triangle meets a place on its border.
#[derive(Clone, Copy)]
struct Met {
    cover: Cover,
    /// Ends of the edge on which the place lies; one vertex twice if it stands there.
    ends: [usize; 2],
    /// Height there in 2^-8 steps.
    z: i64,
}

/// The triangles of a bundle over one place.
trait Triangles: Copy {
    /// Whether the place lies inside a triangle; none on its border.
    fn inside(&self, part: u32) -> Option<bool>;
    /// Height and normal of a triangle over a place inside it or on its border.
    fn plane(&self, part: u32) -> (i64, Normal);
    /// How a triangle meets the place, which is on its border.
    fn met(&self, part: u32) -> Met;
    /// How a triangle covers the place, wherever that lies, and its height there if that is on its border.
    #[inline(always)]
    fn cover(&self, part: u32) -> (Cover, i64) {
        match self.inside(part) {
            Some(true) => (Cover::Inside, 0),
            Some(false) => (Cover::Outside, 0),
            None => {
                let met = self.met(part);
                (met.cover, met.z)
            }
        }
    }
    /// How a triangle with this edge or vertex, on which the place lies, covers it; none if it has not, or it is not
    /// known.
    fn around(&self, part: u32, ends: [usize; 2]) -> Option<Cover>;
}

/// Those of a narrow or medium bundle over a place in query steps from its base.
#[derive(Clone, Copy)]
struct Local<'a, C> {
    bundle: Bundle<'a>,
    q: [isize; 2],
    class: PhantomData<C>,
}

impl<C: Class> Local<'_, C> {
    #[inline(always)]
    fn height(&self, vertex: usize) -> i32 {
        C::height(&self.bundle, vertex, C::plan(&self.bundle, vertex))
    }

    #[inline(always)]
    fn near(&self, part: u32) -> Near {
        Near::new(self.bundle.corner_numbers(part).map(|i| C::plan(&self.bundle, i)), self.q)
    }

    /// Height of a vertex in 2^-8 steps.
    #[inline(always)]
    fn level(&self, vertex: usize) -> i64 {
        self.bundle.base_z().wrapping_add(self.height(vertex).into()) << 8
    }
}

impl<C: Class> Triangles for Local<'_, C> {
    #[inline(always)]
    fn inside(&self, part: u32) -> Option<bool> {
        self.near(part).inside()
    }

    #[inline(always)]
    fn plane(&self, part: u32) -> (i64, Normal) {
        self.bundle.plane_at::<C>(part, self.q)
    }

    #[inline(never)]
    fn met(&self, part: u32) -> Met {
        let (near, numbers) = (self.near(part), self.bundle.corner_numbers(part));
        if let Some(k) = near.corner() {
            return Met { cover: near.at(k), ends: [numbers[k]; 2], z: self.level(numbers[k]) };
        }
        let (a, b, [n, d]) = near.along();
        let rise = self.height(numbers[b]).wrapping_sub(self.height(numbers[a]));
        let z = self.level(numbers[a]).wrapping_add(divide_half_even(product(rise as isize, n), d as i64));
        Met { cover: near.on(a, b), ends: [numbers[a], numbers[b]], z }
    }

    #[inline(always)]
    fn around(&self, part: u32, [from, to]: [usize; 2]) -> Option<Cover> {
        let [a, b, c] = self.bundle.corner_numbers(part);
        let (before, after) = if from == a {
            (c, b)
        } else if from == b {
            (a, c)
        } else if from == c {
            (b, a)
        } else {
            return None;
        };
        let plan = |i: usize| C::plan(&self.bundle, i);
        if from == to {
            Some(Cover::around([before, from, after].map(plan)))
        } else if to == after {
            Some(Cover::along([from, to].map(plan)))
        } else if to == before {
            Some(Cover::along([to, from].map(plan)))
        } else {
            None
        }
    }
}

/// Those of a wide bundle.
#[derive(Clone, Copy)]
struct Wide<'a> {
    bundle: Bundle<'a>,
    p: GridPoint,
}

impl Wide<'_> {
    fn corners(&self, part: u32) -> (Corners, [i64; 3]) {
        let [a, b, c] = self.bundle.corners_3d(part);
        (Corners { x: [a[0], b[0], c[0]], y: [a[1], b[1], c[1]] }, [a[2], b[2], c[2]])
    }

    fn side(&self, part: u32) -> Cover {
        self.corners(part).0.cover(self.p.query_x(), self.p.query_y())
    }
}

/// Rare and large: one copy of each.
impl Triangles for Wide<'_> {
    #[inline(never)]
    fn inside(&self, part: u32) -> Option<bool> {
        match self.side(part) {
            Cover::Outside => Some(false),
            Cover::Inside => Some(true),
            _ => None,
        }
    }

    #[inline(never)]
    fn plane(&self, part: u32) -> (i64, Normal) {
        let (corners, z) = self.corners(part);
        let (normal, rise) = corners.plane(z, self.p.query_x(), self.p.query_y());
        ((z[0] << 8).wrapping_add(rise), normal)
    }

    fn met(&self, part: u32) -> Met {
        let (cover, z) = self.cover(part);
        Met { cover, ends: [0; 2], z }
    }

    fn cover(&self, part: u32) -> (Cover, i64) {
        match self.side(part) {
            cover @ (Cover::Inside | Cover::Outside) => (cover, 0),
            cover => (cover, self.plane(part).0),
        }
    }

    fn around(&self, _: u32, _: [usize; 2]) -> Option<Cover> {
        None
    }
}

/// A narrow or medium triangle on its own.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    base: [i32; 2],
    reach: u32,
    plans: [[u32; 2]; 3],
    /// Height of the first corner.
    z: i64,
}

impl Held {
    /// Height above the origin, of the plane with this normal, if the place lies inside the triangle.
    #[inline(always)]
    pub fn height(&self, p: GridPoint, normal: &Normal) -> Option<i64> {
        let q = local(p, self.base, self.reach)?;
        let inside = Near::new(self.plans, q).inside() == Some(true);
        inside.then(|| (self.z << 8).wrapping_add(normal.rise(from(self.plans[0], q))))
    }
}

/// A place in query steps from a base, if it is within reach.
#[inline(always)]
fn local(p: GridPoint, base: [i32; 2], reach: u32) -> Option<[isize; 2]> {
    let (x, y) = (p.x.wrapping_sub(base[0]) as u32, p.y.wrapping_sub(base[1]) as u32);
    (x <= reach && y <= reach).then_some([(x << 8 | p.fx) as isize, (y << 8 | p.fy) as isize])
}

/// How far a place lies from a corner, in query steps.
#[inline(always)]
fn from([x, y]: [u32; 2], q: [isize; 2]) -> [isize; 2] {
    [q[0].wrapping_sub((x << 8) as isize), q[1].wrapping_sub((y << 8) as isize)]
}

impl Bundle<'_> {
    /// One triangle, unless it is wide.
    pub fn held(&self, part: u32) -> Option<Held> {
        match self.class() {
            NARROW => Some(self.held_as::<Narrow>(part)),
            MEDIUM => Some(self.held_as::<Medium>(part)),
            _ => None,
        }
    }

    fn held_as<C: Class>(&self, part: u32) -> Held {
        let [first, second, third] = self.corner_numbers(part);
        let plans = [first, second, third].map(|i| C::plan(self, i));
        let z = self.base_z().wrapping_add(C::height(self, first, plans[0]).into());
        Held { base: self.base(), reach: C::REACH, plans, z }
    }

    #[inline(always)]
    pub fn halves(&self) -> &[u16; bundle::HALVES] {
        zerocopy::transmute_ref!(self.words)
    }

    /// Vertex of a medium bundle.
    #[inline(always)]
    fn pair(&self, i: usize) -> [u32; 2] {
        let pairs: &[[u32; 2]; bundle::WORDS / 2] = zerocopy::transmute_ref!(self.words);
        pairs[(MEDIUM_ZERO + i) & 15]
    }

    #[inline(always)]
    pub fn head(&self) -> Head {
        Head::of_halves(self.halves())
    }

    #[inline(always)]
    pub fn class(&self) -> u16 {
        self.head().class()
    }

    #[inline(always)]
    pub fn attribute(&self) -> u8 {
        self.head().attribute()
    }

    /// Vertex numbers of a triangle, from 1.
    #[inline(always)]
    pub fn corner_numbers(&self, part: u32) -> [usize; 3] {
        bundle::corners(self.halves(), part)
    }

    /// Plan base in steps from the origin: narrow and medium count from it.
    #[inline(always)]
    pub(super) fn base(&self) -> [i32; 2] {
        let ([x, y], h, shift) = (self.node.base, self.halves(), u32::from(self.node.shift & 31));
        let from = |base: i32, axis| base.wrapping_add(i32::from(bundle::plan_base(h, axis)).wrapping_shl(shift));
        [from(x, 0), from(y, 1)]
    }

    #[inline(always)]
    pub(super) fn base_z(&self) -> i64 {
        bundle::base_height(self.words).into()
    }

    fn wide(&self, i: usize) -> [i64; 3] {
        let at = WIDE_ZERO + WIDE_STRIDE * i;
        [at, at + 1, at + 2].map(|at| i64::from(self.words[at & 31] as i32))
    }

    /// Absolute corners of a triangle in steps from the origin.
    pub fn corners_3d(&self, part: u32) -> [[i64; 3]; 3] {
        let numbers = self.corner_numbers(part);
        match self.class() {
            NARROW => numbers.map(|i| self.corner::<Narrow>(i)),
            MEDIUM => numbers.map(|i| self.corner::<Medium>(i)),
            _ => numbers.map(|i| self.wide(i)),
        }
    }

    /// The normal of a triangle, unless it is wide.
    pub fn near_normal(&self, part: u32) -> Option<Normal> {
        let numbers = self.corner_numbers(part);
        match self.class() {
            NARROW => {
                let plans = numbers.map(|i| Narrow::plan(self, i));
                Some(Normal::of(plans, [0, 1, 2].map(|k| Narrow::height(self, numbers[k], plans[k]))))
            }
            MEDIUM => {
                let plans = numbers.map(|i| Medium::plan(self, i));
                Some(Normal::of(plans, [0, 1, 2].map(|k| Medium::height(self, numbers[k], plans[k]))))
            }
            _ => None,
        }
    }

    /// Corners of a triangle in plan from the origin, sorted, each as x and below it y, and their numbers.
    pub fn sorted(&self, part: u32) -> ([i64; 3], [usize; 3]) {
        let (numbers, [x, y]) = (self.corner_numbers(part), self.base());
        let key = |[x, y]: [i32; 2]| i64::from(x) << 32 | i64::from(y as u32 ^ 1 << 31);
        let from = |plan: [u32; 2]| key([x.wrapping_add(plan[0] as i32), y.wrapping_add(plan[1] as i32)]);
        let [mut a, mut b, mut c] = match self.class() {
            NARROW => numbers.map(|i| (from(Narrow::plan(self, i)), i)),
            MEDIUM => numbers.map(|i| (from(Medium::plan(self, i)), i)),
            _ => numbers.map(|i| {
                let [x, y, _] = self.wide(i);
                (key([x as i32, y as i32]), i)
            }),
        };
        let order = |a: &mut (i64, usize), b: &mut (i64, usize)| {
            if b.0 < a.0 {
                core::mem::swap(a, b);
            }
        };
        order(&mut a, &mut b);
        order(&mut b, &mut c);
        order(&mut a, &mut b);
        ([a.0, b.0, c.0], [a.1, b.1, c.1])
    }

    /// Height of a vertex in steps from the origin.
    pub fn level(&self, i: usize) -> i64 {
        match self.class() {
            NARROW => self.corner::<Narrow>(i)[2],
            MEDIUM => self.corner::<Medium>(i)[2],
            _ => self.wide(i)[2],
        }
    }

    fn corner<C: Class>(&self, i: usize) -> [i64; 3] {
        let ([x, y], plan) = (self.base(), C::plan(self, i));
        let from = |base: i32, to: u32| i64::from(base).wrapping_add(to.into());
        [from(x, plan[0]), from(y, plan[1]), self.base_z().wrapping_add(C::height(self, i, plan).into())]
    }

    /// Tests the triangles of a cell word's mask, its guess first, and gives those that the sink wants;
    /// true after one that ends the search of its sheet.
    #[inline(always)]
    pub fn surfaces<O: Observer>(&self, w: u32, p: GridPoint, o: &mut O, sink: &mut impl Sink) -> bool {
        match self.class() {
            NARROW => self.scan::<Narrow, O>(w, p, o, sink),
            MEDIUM => self.scan::<Medium, O>(w, p, o, sink),
            _ if cfg!(feature = "wide") => self.scan_wide(w, p, o, sink),
            _ => false,
        }
    }

    /// The same, but not if the bundle is wide.
    #[inline(always)]
    pub fn near_surfaces<O: Observer>(&self, w: u32, p: GridPoint, o: &mut O, sink: &mut impl Sink) -> Option<bool> {
        match self.class() {
            NARROW => Some(self.scan::<Narrow, O>(w, p, o, sink)),
            MEDIUM => Some(self.scan::<Medium, O>(w, p, o, sink)),
            _ if cfg!(feature = "wide") => None,
            _ => Some(false),
        }
    }

    #[inline(always)]
    fn scan<C: Class, O: Observer>(&self, w: u32, p: GridPoint, o: &mut O, sink: &mut impl Sink) -> bool {
        match local(p, self.base(), C::REACH) {
            Some(q) => self.each(w, o, sink, Local::<C> { bundle: *self, q, class: PhantomData }),
            None => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn scan_wide<O: Observer>(&self, w: u32, p: GridPoint, o: &mut O, sink: &mut impl Sink) -> bool {
        self.each(w, o, sink, Wide { bundle: *self, p })
    }

    /// The loop of both. What lies on a border is apart: it is rare, and would crowd the registers of every test.
    #[inline(always)]
    fn each<O: Observer, S: Sink>(&self, w: u32, o: &mut O, sink: &mut S, triangles: impl Triangles) -> bool {
        let mut mask = word::mask(w);
        let mut part = word::first_test(w);
        loop {
            match triangles.inside(part) {
                Some(false) => o.see(Trace::Test { record: self.record, part, covered: false }),
                Some(true) => return self.inside(part, o, sink, triangles),
                None => return self.borders(mask, part, o, sink, triangles),
            }
            mask &= !(1 << part);
            if mask == 0 {
                return false;
            }
            part = mask.trailing_zeros();
        }
    }

    /// Gives a triangle over a place inside it.
    #[inline(always)]
    fn inside<O: Observer, S: Sink>(&self, part: u32, o: &mut O, sink: &mut S, triangles: impl Triangles) -> bool {
        o.see(Trace::Test { record: self.record, part, covered: true });
        let (z, normal) = triangles.plane(part);
        sink.take(&self.surface(part, z, normal, Claim::Owner), self.node, o);
        true
    }

    /// The rest of the loop, from a triangle that has the place on its border.
    ///
    /// Triangles that have one vertex or one edge there are told apart by their corners alone, and have one height.
    #[cold]
    #[inline(never)]
    fn borders<O: Observer, S: Sink>(
        self,
        mut mask: u32,
        mut part: u32,
        o: &mut O,
        sink: &mut S,
        triangles: impl Triangles,
    ) -> bool {
        let first = triangles.met(part);
        let (mut cover, mut z, mut shared, mut owned) = (first.cover, first.z, true, false);
        loop {
            o.see(Trace::Test { record: self.record, part, covered: cover != Cover::Outside });
            let claim = match cover {
                Cover::Owned => Claim::Owner,
                Cover::Second => Claim::Reverse,
                _ => Claim::Tie,
            };
            // beside the owner of an edge or a vertex the others there are nothing
            let idle = cover == Cover::Outside || (owned && shared);
            if !idle && (S::BORDERS || claim == Claim::Owner) {
                let known = !S::BORDERS || o.counts();
                let normal = if known { triangles.plane(part).1 } else { Normal::UNKNOWN };
                sink.take(&self.surface(part, z, normal, claim), self.node, o);
                if !S::BORDERS {
                    return true;
                }
                owned |= shared && claim == Claim::Owner;
            }
            mask &= !(1 << part);
            if mask == 0 {
                return false;
            }
            part = mask.trailing_zeros();
            (cover, z, shared) = if let Some(cover) = triangles.around(part, first.ends) {
                (cover, first.z, true)
            } else {
                let (cover, z) = triangles.cover(part);
                if cover == Cover::Inside {
                    return self.inside(part, o, sink, triangles);
                }
                (cover, z, false)
            };
        }
    }

    #[inline(always)]
    fn surface(&self, part: u32, z: i64, normal: Normal, claim: Claim) -> Candidate {
        Candidate { z, normal, record: self.record, part, kind: LeafKind::Bundle, attribute: self.attribute(), claim }
    }

    /// Normal of a triangle over a place.
    pub fn normal(&self, part: u32, p: GridPoint) -> Normal {
        let near = |reach| local(p, self.base(), reach).unwrap_or_default();
        match self.class() {
            NARROW => self.plane_at::<Narrow>(part, near(Narrow::REACH)).1,
            MEDIUM => self.plane_at::<Medium>(part, near(Medium::REACH)).1,
            _ if cfg!(feature = "wide") => Wide { bundle: *self, p }.plane(part).1,
            _ => Normal { x: 0, y: 0, z: 1 },
        }
    }

    /// Height and normal of a triangle over a place. Apart from the loop of tests, which then fits the registers.
    #[inline(never)]
    fn plane_at<C: Class>(&self, part: u32, q: [isize; 2]) -> (i64, Normal) {
        let numbers = self.corner_numbers(part);
        let plans = numbers.map(|i| C::plan(self, i));
        let ([a, b, c], [pa, pb, pc]) = (numbers, plans);
        let z = [C::height(self, a, pa), C::height(self, b, pb), C::height(self, c, pc)];
        let normal = Normal::of(plans, z);
        let rise = normal.rise(from(pa, q));
        ((self.base_z().wrapping_add(z[0].into()) << 8).wrapping_add(rise), normal)
    }
}
