//! Rays: the first surface from a point towards another, in any direction.

use crate::format::{FRACTION, Material};
use crate::hit::{Cost, Hit, LeafKind, Normal, Status, outcomes};
use crate::open::Terrain;
use crate::point::{IntoPoint, Point, exp2};
use crate::query::walk::{self, Stop, Walk};
use crate::trace::{Log, Trace};

/// A segment, from a point of the query grid to another, both of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Ray {
    /// Where it starts.
    pub from: Point,
    /// Where it ends.
    pub to: Point,
}

/// Longest ray, in metres.
pub const MAX_RAY_METRES: f64 = 2000.0;

/// Kinds of surfaces. Zero is every kind that the image has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Kinds(pub u32);

impl Kinds {
    /// Whatever the image has.
    pub const STORED: Kinds = Kinds(0);
    /// What wheels stand on.
    pub const GROUND: Kinds = Kinds(1);
    /// What looks down.
    pub const CEILING: Kinds = Kinds(2);
    /// What wheels do not stand on: walls, trees.
    pub const OBSTACLE: Kinds = Kinds(4);

    /// Both.
    pub const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// The kind of a surface; at equal places on a ray the first of these answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// What wheels stand on.
    Ground,
    /// What looks down.
    Ceiling,
    /// What wheels do not stand on.
    Obstacle,
}

/// What a ray sees, and how far it may work. All zero by default: every kind and class that the image has, both sides,
/// no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RayOptions {
    /// The kinds that it sees. A kind that is named and not in the image is answered with [`RayStatus::NotStored`].
    pub kinds: Kinds,
    /// The classes that it sees: materials that have one of these bits in their mask. Zero: every material.
    pub classes: u32,
    /// Sees surfaces from their front alone: ground from above, ceilings from below, obstacles as their source turned
    /// them.
    pub front_only: bool,
    /// Sees only what lies behind this part of its way: `t` of the last hit gives the next one. Surfaces at one place
    /// count once.
    pub after: Option<f64>,
    /// Most triangles and cells of height fields that it tests. Zero: no limit.
    pub limit: u32,
}

outcomes! {
    /// What a ray came to.
    RayStatus {
        Found = 0, "found", "FOUND", "It meets a surface.";
        Clear = 1, "clear", "CLEAR", "It meets nothing.";
        LeftImage = 2, "left the image", "LEFT_IMAGE",
            "It meets nothing in the image, and `t` is where it first leaves what the image covers.";
        NotStored = 3, "not stored", "NOT_STORED", "A kind was asked for that the image does not hold.";
        Damaged = 4, "damaged", "DAMAGED", "It comes to a damaged tile at `t`, and meets nothing before.";
        LimitReached = 5, "limit reached", "LIMIT_REACHED",
            "The limit on its work was reached; it meets nothing before `t`.";
        NoLength = 6, "no length", "NO_LENGTH", "It has no length.";
        NotFinite = 7, "not finite", "NOT_FINITE", "A number of it is not finite, or farther away than any image.";
        TooLong = 8, "too long", "TOO_LONG", "It is longer than 2 km.";
    }
}

/// The normal of a face's front, in lattice units, of any direction; exact as [`Normal`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct FaceNormal {
    /// East component.
    pub x: i64,
    /// North component.
    pub y: i64,
    /// Up component.
    pub z: i64,
}

impl From<Normal> for FaceNormal {
    fn from(n: Normal) -> Self {
        FaceNormal { x: n.x, y: n.y, z: n.z }
    }
}

/// What a ray met.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct RayHit {
    /// The part of the way up to it; without a hit, the part that was searched: one if all was.
    pub t: f64,
    /// The place on the query grid.
    pub at: Point,
    /// The normal of the face's front.
    pub normal: FaceNormal,
    /// Where the surface lies in the image, as in [`Hit::place`].
    pub place: [u32; 3],
    /// Index into the material table; `u16::MAX` without a hit.
    pub material: u16,
    /// Index into the source table; `u16::MAX` without a hit.
    pub source: u16,
    /// The kind of surface.
    pub kind: Kind,
    /// The kind of leaf.
    pub leaf: LeafKind,
    /// Whether it was met from behind.
    pub back: bool,
    /// Whether the ray starts on it.
    pub at_start: bool,
}

/// A status and a hit, which is filled as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct RayAnswer {
    /// The surface; without one, the place up to which the ray was searched.
    pub hit: RayHit,
    /// What the ray came to.
    pub status: RayStatus,
}

impl RayHit {
    /// No surface, so far along a ray.
    const fn none(t: f64, at: Point) -> RayHit {
        RayHit {
            t,
            at,
            normal: FaceNormal { x: 0, y: 0, z: 1 },
            place: [0; 3],
            material: u16::MAX,
            source: u16::MAX,
            kind: Kind::Ground,
            leaf: LeafKind::None,
            back: false,
            at_start: false,
        }
    }
}

impl RayAnswer {
    /// An answer without a surface or a place: of a ray that is none, and what to fill slices with.
    pub const fn of(status: RayStatus) -> RayAnswer {
        RayAnswer { hit: RayHit::none(0.0, Point { x: 0, y: 0, z: 0 }), status }
    }

    /// Whether there is a surface.
    #[inline(always)]
    pub fn found(&self) -> bool {
        matches!(self.status, RayStatus::Found)
    }
}

/// The answer to an upright ray that meets nothing but ground.
fn straight(ray: Ray, ground: Result<Option<RayHit>, RayStatus>) -> RayAnswer {
    match ground {
        Ok(Some(hit)) => RayAnswer { status: RayStatus::Found, hit },
        Ok(None) => RayAnswer { status: RayStatus::Clear, hit: RayHit::none(1.0, ray.to) },
        Err(status) => RayAnswer { status, hit: RayHit::none(0.0, ray.from) },
    }
}

/// The nearest whole number, of two the even one, of a number below 2^62: in integers, for small cores.
fn nearest(v: f64) -> i64 {
    let bits = v.to_bits();
    let mantissa = (bits & ((1 << 52) - 1) | 1 << 52) as i64;
    let whole = match 1075i32.wrapping_sub((bits >> 52 & 0x7FF) as i32) {
        // below a half
        54.. => 0,
        down @ 1.. => {
            let (floor, half) = (mantissa.wrapping_shr(down as u32), 1i64.wrapping_shl(down.wrapping_sub(1) as u32));
            let rest = mantissa & !(-1i64).wrapping_shl(down as u32);
            floor.wrapping_add(i64::from(rest > half || (rest == half && floor & 1 == 1)))
        }
        up => mantissa.wrapping_shl(up.wrapping_neg() as u32),
    };
    if v < 0.0 { whole.wrapping_neg() } else { whole }
}

impl Ray {
    /// The way from start to end, if the ray is one that can be walked.
    fn way(&self) -> Result<[i64; 3], RayStatus> {
        let way = |from: i64, to: i64| to.checked_sub(from).ok_or(RayStatus::TooLong);
        let d = [way(self.from.x, self.to.x)?, way(self.from.y, self.to.y)?, way(self.from.z, self.to.z)?];
        let [x, y, z] = d.map(i64::unsigned_abs);
        if x >= walk::MAX_PLAN || y >= walk::MAX_PLAN || z >= walk::MAX_HEIGHT {
            return Err(RayStatus::TooLong);
        }
        // below 2^62 each
        if x.wrapping_mul(x).wrapping_add(y.wrapping_mul(y)) >= walk::MAX_PLAN.wrapping_mul(walk::MAX_PLAN) {
            return Err(RayStatus::TooLong);
        }
        if d == [0; 3] { Err(RayStatus::NoLength) } else { Ok(d) }
    }

    /// The place on the query grid after a part of the way: one product and one rounding for each axis.
    pub fn at(&self, t: f64) -> Point {
        let Point { x, y, z } = self.from;
        let along = |from: i64, to: i64| from.wrapping_add(nearest(to.wrapping_sub(from) as f64 * t));
        Point { x: along(x, self.to.x), y: along(y, self.to.y), z: along(z, self.to.z) }
    }
}

impl<'a> Terrain<'a> {
    /// The ray from a point in a direction, of any length, for so many metres; each end is rounded once to the query
    /// grid.
    pub fn ray_from(&self, origin: [f64; 3], direction: [f64; 3], length: f64) -> Result<Ray, RayStatus> {
        let [x, y, z] = direction;
        let finite = f64::is_finite;
        if ![x, y, z, length].into_iter().chain(origin).all(finite) {
            return Err(RayStatus::NotFinite);
        }
        // squares must neither vanish nor overflow
        let largest = [x, y, z].into_iter().map(libm::fabs).fold(0.0, |m, v| if v > m { v } else { m });
        if largest == 0.0 || length <= 0.0 {
            return Err(RayStatus::NoLength);
        }
        if length > MAX_RAY_METRES {
            return Err(RayStatus::TooLong);
        }
        let [x, y, z] = [x, y, z].map(|v| v / largest);
        let scale = length / libm::sqrt(x * x + y * y + z * z);
        self.ray_to(origin, [origin[0] + x * scale, origin[1] + y * scale, origin[2] + z * scale])
    }

    /// The ray from a point to another.
    pub fn ray_to(&self, from: impl IntoPoint, to: impl IntoPoint) -> Result<Ray, RayStatus> {
        let (Some(from), Some(to)) = (self.point(from), self.point(to)) else { return Err(RayStatus::NotFinite) };
        let ray = Ray { from, to };
        ray.way().map(|_| ray)
    }

    /// The first surface that a ray meets.
    ///
    /// Triangles are closed: a ray through an edge or a vertex meets one of those that touch there. One in the plane of
    /// a triangle meets its neighbours at its edges. Of surfaces at one `t` the least answers: by [`Kind`], then in the
    /// order of owners of `closest`. A ray straight down or up is a vertical query.
    #[inline]
    pub fn raycast(&self, ray: Ray, options: &RayOptions) -> RayAnswer {
        self.cast(ray, options, &mut Log::default())
    }

    /// [`Terrain::raycast`] and what it cost.
    pub fn raycast_costed(&self, ray: Ray, options: &RayOptions) -> (RayAnswer, Cost) {
        let mut log = Log::counting();
        (self.cast(ray, options, &mut log), log.cost)
    }

    /// [`Terrain::raycast`], telling `see` every step.
    pub fn explain_ray(&self, ray: Ray, options: &RayOptions, mut see: impl FnMut(Trace)) -> RayAnswer {
        self.cast(ray, options, &mut Log::telling(&mut see))
    }

    /// The kinds of surfaces that the image holds.
    pub fn kinds(&self) -> Kinds {
        Kinds(self.ray_kinds() | Kinds::GROUND.0)
    }

    /// [`Terrain::raycast`], which adds to a cost.
    pub(super) fn raycast_watched(&self, ray: Ray, options: &RayOptions, cost: &mut Cost) -> RayAnswer {
        let mut log = Log::counting();
        log.cost = *cost;
        let answer = self.cast(ray, options, &mut log);
        *cost = log.cost;
        answer
    }

    /// The one walk of all calls.
    #[inline(never)]
    fn cast(&self, ray: Ray, options: &RayOptions, o: &mut Log) -> RayAnswer {
        let none = |status| RayAnswer { status, hit: RayHit::none(0.0, ray.from) };
        let d = match ray.way() {
            Ok(d) => d,
            Err(status) => return none(status),
        };
        let stored = self.kinds().0;
        if options.kinds.0 & !stored != 0 {
            return none(RayStatus::NotStored);
        }
        let mut kinds = if options.kinds == Kinds::STORED { stored } else { options.kinds.0 };
        let (mut tests, mut ground) = (0, None);
        if d[0] == 0 && d[1] == 0 {
            let found = self.ground_upright(ray, d[2], kinds, options, &mut tests, o);
            kinds &= !Kinds::GROUND.0;
            match found {
                Err(RayStatus::LimitReached) => return none(RayStatus::LimitReached),
                _ if kinds == 0 => return straight(ray, found),
                _ => ground = Some(found),
            }
        }
        let Some(mut walk) = Walk::new(self, &ray, d, [kinds, tests], options, o) else {
            return none(RayStatus::LeftImage);
        };
        let stop = walk.run();
        // at the place where the work ended others may come first
        let comes_first = |t: f64| match stop {
            Stop::End => ground.as_ref().is_none_or(|ground| match ground {
                Ok(ground) => !ground.as_ref().is_some_and(|ground| ground.t <= t),
                // damaged ground may lie before it
                Err(status) => *status != RayStatus::Damaged,
            }),
            Stop::Damaged(end) => ground.is_none() && t <= end,
            Stop::Limit(end) => t < end,
        };
        if walk.first().is_some_and(comes_first)
            && let Some(hit) = walk.best(&ray)
        {
            let painted = self.has_precedence() && hit.kind == Kind::Ground;
            let material = if painted { self.material_at(hit.at, hit.material, o) } else { hit.material };
            return RayAnswer { status: RayStatus::Found, hit: RayHit { material, ..hit } };
        }
        let missed = |status, t: f64| RayAnswer { status, hit: RayHit::none(t, ray.at(t)) };
        match stop {
            Stop::Damaged(t) => missed(RayStatus::Damaged, t),
            Stop::Limit(t) => missed(RayStatus::LimitReached, t),
            Stop::End => {
                if let Some(ground) = ground {
                    return straight(ray, ground);
                }
                let (unknown, leaves) = (walk.unknown, walk.leaves());
                let left = if unknown < leaves { unknown } else { leaves };
                if left <= 1.0 {
                    return missed(RayStatus::LeftImage, left);
                }
                RayAnswer { status: RayStatus::Clear, hit: RayHit::none(1.0, ray.to) }
            }
        }
    }

    /// The first ground straight down or up, which is a vertical query; and how many triangles were named for it, if
    /// there is a limit.
    #[cold]
    #[inline(never)]
    fn ground_upright(
        &self,
        ray: Ray,
        rise: i64,
        kinds: u32,
        options: &RayOptions,
        tests: &mut u32,
        o: &mut Log,
    ) -> Result<Option<RayHit>, RayStatus> {
        let mut from = ray.from;
        let mut length = rise.abs();
        if let Some(after) = options.after
            && after >= 0.0
        {
            let passed = if after < 1.0 { libm::rint(rise as f64 * after) as i64 } else { rise };
            let step = passed.wrapping_add(rise.signum());
            from.z = from.z.wrapping_add(step);
            length = length.wrapping_sub(step.abs());
        }
        let back = rise > 0;
        if length < 0 || kinds & Kinds::GROUND.0 == 0 || (options.front_only && back) {
            return Ok(None);
        }
        let search = if back { self.search(from, -1, 0, length) } else { self.search(from, -1, length, -1) };
        let missed = |status| match status {
            Status::NoGround => Ok(None),
            Status::Damaged => Err(RayStatus::Damaged),
            _ => Err(RayStatus::LeftImage),
        };
        let Some(place) = self.place(from) else { return Err(RayStatus::LeftImage) };
        let leaf = match self.locate(place, o) {
            Ok(leaf) => leaf,
            Err(status) => return missed(status),
        };
        if options.limit != 0 {
            // all that is named counts before it is tested, as on other rays
            *tests = self.named(&leaf).unwrap_or(0);
            if *tests > options.limit {
                return Err(RayStatus::LimitReached);
            }
        }
        let found = match self.best_of_class(&leaf, place, &search, options.classes, o) {
            Ok(found) => found,
            Err(status) => return missed(status),
        };
        Ok(found.map(|Hit { z, normal, place, material, source, leaf, .. }| {
            let t = z.wrapping_sub(ray.from.z) as f64 / rise as f64;
            let (at, kind, normal) = (Point { z, ..ray.from }, Kind::Ground, normal.into());
            RayHit { t, at, normal, place, material, source, kind, leaf, back, at_start: z == ray.from.z }
        }))
    }

    /// Whether a material has one of the classes; zero asks for none in particular.
    #[inline(always)]
    pub(crate) fn has_class(&self, material: u16, classes: u32) -> bool {
        classes == 0
            || self.materials.get(usize::from(material)).is_some_and(|m: &Material| m.class_mask & classes != 0)
    }

    /// The unit normal of a face's front, in metres: each component rounded to f64, scaled, then divided by the root of
    /// the sum of squares.
    pub fn face_normal_f64(&self, hit: &RayHit) -> [f64; 3] {
        let n = hit.normal;
        let scale = exp2(self.header.z_log2 - self.header.xy_log2);
        let largest = [n.x, n.y, n.z].map(i64::unsigned_abs).into_iter().max().unwrap_or(0).max(1) as f64;
        let [x, y, z] = [n.x as f64 / largest * scale, n.y as f64 / largest * scale, n.z as f64 / largest];
        let r = 1.0 / libm::sqrt(x * x + y * y + z * z);
        [x * r, y * r, z * r]
    }

    /// A place on the query grid in metres, each coordinate rounded to nearest.
    pub fn metres(&self, p: Point) -> [f64; 3] {
        let [xy, z] = [self.header.xy_log2, self.header.z_log2].map(|log2| exp2(log2 - FRACTION as i32));
        [p.x as f64 * xy, p.y as f64 * xy, p.z as f64 * z]
    }
}
