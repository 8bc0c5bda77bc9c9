//! Rays in any direction, and the room above the ground.

use crate::ffi::{In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::types::*;
use hardpan::{Kinds, RayAnswer, RayOptions, Terrain};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// Kinds of surfaces; of `hpan_ray_options` the bit 1 << kind.
#[repr(u8)]
#[derive(Clone, Copy)]
pub enum hpan_kind {
    /// What wheels stand on.
    HPAN_GROUND = 0,
    /// What looks down.
    HPAN_CEILING = 1,
    /// What wheels do not stand on.
    HPAN_OBSTACLE = 2,
}

/// `hpan_ray_options.flags`: surfaces are seen from their front alone.
pub const HPAN_RAY_FRONT_ONLY: u32 = 1;
/// `hpan_ray_options.flags`: `after` counts.
pub const HPAN_RAY_AFTER: u32 = 2;

/// A ray in metres.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_ray {
    /// Where it starts.
    pub origin: [f64; 3],
    /// Where it goes; of any length.
    pub direction: [f64; 3],
    /// How far: above zero, at most 2,000.
    pub length: f64,
}

/// What a ray sees; all zero is everything that the image holds, without a limit.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_ray_options {
    /// Bits of `hpan_kind`; zero: whatever the image holds. What is named and not held is answered
    /// `HPAN_RAY_NOT_STORED`.
    pub kinds: u32,
    /// Materials that have one of these bits in their mask; zero: every material.
    pub classes: u32,
    /// `HPAN_RAY_FRONT_ONLY`, `HPAN_RAY_AFTER`.
    pub flags: u32,
    /// Most triangles and cells of height fields that are tested; zero: no limit.
    pub limit: u32,
    /// With `HPAN_RAY_AFTER`: only what lies behind this part of the way counts. `t` of a hit gives the next one.
    pub after: f64,
}

/// What a ray met, in metres.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_ray_answer {
    /// The part of the way up to it; without a hit, the part that was searched: one if all was.
    pub t: f64,
    /// The place there.
    pub at: [f64; 3],
    /// The unit normal of the face's front; up without a hit.
    pub normal: [f64; 3],
    /// Where the surface lies in the image: for comparisons, its meaning may change.
    pub place: [u32; 3],
    /// Number of the material; 65535 without a hit.
    pub material: u16,
    /// Number of the source; 65535 without a hit.
    pub source: u16,
    /// One of `hpan_ray_status`.
    pub status: u8,
    /// One of `hpan_kind`.
    pub kind: u8,
    /// One of `hpan_leaf`.
    pub leaf: u8,
    /// 1 if it was met from behind.
    pub back: u8,
    /// 1 if the ray starts on it.
    pub at_start: u8,
}

/// The ground at a place, and the room above it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_clearance_found {
    /// The ground, as `hpan_closest` finds it.
    pub ground: hpan_answer,
    /// The first surface above it.
    pub above: hpan_ray_answer,
    /// The free height in metres; not a number without ground, or where nothing is above it.
    pub free: f64,
}

fn answer(t: &Terrain, a: &RayAnswer) -> hpan_ray_answer {
    let hit = &a.hit;
    hpan_ray_answer {
        t: hit.t,
        at: t.metres(hit.at),
        normal: t.face_normal_f64(hit),
        place: hit.place,
        material: hit.material,
        source: hit.source,
        status: a.status.code(),
        kind: hit.kind as u8,
        leaf: hit.leaf.code(),
        back: hit.back.into(),
        at_start: hit.at_start.into(),
    }
}

fn options(o: &hpan_ray_options) -> Result<RayOptions, hpan_error> {
    if o.kinds > 7 || o.flags > 3 || (o.flags & HPAN_RAY_AFTER != 0 && o.after.is_nan()) {
        return Err(HPAN_ERROR_OPTION);
    }
    Ok(RayOptions {
        kinds: Kinds(o.kinds),
        classes: o.classes,
        front_only: o.flags & HPAN_RAY_FRONT_ONLY != 0,
        after: (o.flags & HPAN_RAY_AFTER != 0).then_some(o.after),
        limit: o.limit,
    })
}

fn cast(t: &Terrain, r: &hpan_ray, options: &RayOptions) -> hpan_ray_answer {
    let found = match t.ray_from(r.origin, r.direction, r.length) {
        Ok(ray) => t.raycast(ray, options),
        Err(status) => RayAnswer::of(status),
    };
    answer(t, &found)
}

/// The first surface that a ray meets, in any direction: ground from above and below, ceilings and obstacles.
///
/// Any numbers may be given: a ray without length, with a number that is not finite, or longer than 2 km has its own
/// status. Rays through edges and corners never pass between triangles. `options` may be null: everything that the
/// image holds. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_OPTION` for unknown bits. Threads: any
/// number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_raycast(
    view: In<hpan_view>,
    ray: In<hpan_ray>,
    options: In<hpan_ray_options>,
    answer: Out<hpan_ray_answer>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let (ray, options) = (ray.get()?, chosen(&options)?);
        answer.put(view.ask(ray, |t, ray| cast(t, ray, &options)))
    })
}

fn chosen(given: &In<hpan_ray_options>) -> Result<RayOptions, hpan_error> {
    given.optional()?.map_or(Ok(RayOptions::default()), options)
}

/// `hpan_raycast` for many rays; `rays` and `answers` must not overlap, and may be null if `count` is 0.
///
/// Errors: as `hpan_raycast`, and `HPAN_ERROR_COUNT` for 2^31 or more. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_rays(
    view: In<hpan_view>,
    rays: In<hpan_ray>,
    count: usize,
    options: In<hpan_ray_options>,
    answers: Out<hpan_ray_answer>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let (rays, options) = (rays.many(count)?, chosen(&options)?);
        answers.each(rays, |ray| view.ask(ray, |t, ray| cast(t, ray, &options)))
    })
}

/// The ground nearest to a point, as `hpan_closest` finds it, and the room above it. Errors and threads: as
/// `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_clearance(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    clearance: Out<hpan_clearance_found>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        clearance.put(view.ask(&[x, y, z], |t, &p| {
            let found = t.clearance(p);
            let free = t.free_f64(&found).unwrap_or(f64::NAN);
            let ground = hpan_answer { hit: (&found.ground.hit).into(), status: found.ground.status as u8 };
            hpan_clearance_found { ground, above: answer(t, &found.above), free }
        }))
    })
}

/// `hpan_closest` of ground whose material has one of these class bits; zero asks for none in particular.
///
/// Errors and threads: as `hpan_closest`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_of(
    view: In<hpan_view>,
    x: f64,
    y: f64,
    z: f64,
    classes: u32,
    answer: Out<hpan_answer>,
) -> hpan_error {
    run(|| {
        let view = view.open()?;
        let found = view.ask(&[x, y, z], |t, &p| t.closest_of(p, classes, &t.options()));
        answer.put(hpan_answer { hit: (&found.hit).into(), status: found.status as u8 })
    })
}
