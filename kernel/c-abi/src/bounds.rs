//! The most that a ray, or what a wheel asks, can cost anywhere in an image.

use crate::ffi::{In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::rays::hpan_kind;
use crate::types::hpan_cost;
use crate::wheel::{MAX_POINTS, hpan_tyre};
use hardpan::{ContactPoint, Cost, Lattice, Method, Tyre};

/// The most that a ray of so many metres costs on this image, in any direction and at any place.
///
/// `kinds` as in `hpan_ray_options`: that of the ground alone, or zero, or others, which have the same bound. All zero
/// if the image states nothing, or no ray has that length. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`,
/// `_ALIGNMENT`; `_OPTION` for unknown kinds. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_ray_bound(view: In<hpan_view>, length: f64, kinds: u32, bound: Out<hpan_cost>) -> hpan_error {
    run(|| {
        let t = view.open()?.terrain();
        let ground = 1 << hpan_kind::HPAN_GROUND as u32;
        if kinds > 7 {
            return Err(HPAN_ERROR_OPTION);
        }
        let most = if kinds == ground { t.ground_ray_bound(length) } else { t.ray_bound(length) };
        bound.put(most.unwrap_or(Cost::default()).into())
    })
}

/// The most that `hpan_contact` costs with this tyre and so many points, at any place and however the wheel stands.
///
/// All zero if the image states nothing, as of strips, or there is no such tyre. Errors: `HPAN_ERROR_NULL`, `_HANDLE`,
/// `_CLOSED`, `_ALIGNMENT`; `_COUNT` for more than 64 points, `_OPTION` for unknown columns. Threads: any number at a
/// time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_contact_bound(
    view: In<hpan_view>,
    tyre: In<hpan_tyre>,
    count: usize,
    bound: Out<hpan_cost>,
) -> hpan_error {
    run(|| {
        let (t, tyre) = (view.open()?.terrain(), tyre.get()?);
        let points = [ContactPoint::CENTRE; MAX_POINTS];
        let method = match (tyre.columns, tyre.strips) {
            (0, 0) => Method::Points(points.get(..count).ok_or(HPAN_ERROR_COUNT)?),
            (0, most) => Method::Strips { most: u16::try_from(most).map_err(|_| HPAN_ERROR_OPTION)? },
            (n, _) => Method::Columns(Lattice::of(n).ok_or(HPAN_ERROR_OPTION)?),
        };
        let given = [tyre.reach_above, tyre.reach_below];
        let reach = (given != [0.0; 2]).then_some(given);
        let tyre = Tyre { radius: tyre.radius, width: tyre.width, method, reach };
        bound.put(t.contact_bound(&tyre).unwrap_or(Cost::default()).into())
    })
}
