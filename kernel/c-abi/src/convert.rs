//! Positions into points, answers into metres.

use crate::ffi::{In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::types::*;
use hardpan::{Hit, IntoPoint, Point, Terrain};

/// A position in metres on the image's query grid, rounded once, half to even: for the functions that end in `_at`.
///
/// Any numbers may be given; of what is not finite or too far the point is of no place, which queries answer as they
/// answer NaN. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, and `HPAN_ERROR_POSITION` for such a
/// point. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_point_f64(view: In<hpan_view>, x: f64, y: f64, z: f64, point: Out<hpan_point>) -> hpan_error {
    place(view, [x, y, z], point)
}

/// `hpan_point_f64` of single-precision metres, widened exactly. Errors and threads: as `hpan_point_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_point_f32(view: In<hpan_view>, x: f32, y: f32, z: f32, point: Out<hpan_point>) -> hpan_error {
    place(view, [x, y, z], point)
}

/// `hpan_point_f64` of metres in 2^-24. Errors and threads: as `hpan_point_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_point_fixed(view: In<hpan_view>, x: i64, y: i64, z: i64, point: Out<hpan_point>) -> hpan_error {
    place(view, FixedPoint([x, y, z]), point)
}

fn place(view: In<hpan_view>, p: impl IntoPoint, to: Out<hpan_point>) -> hpan_error {
    run(|| {
        let found = hpan_point::of(view.open()?.terrain(), p);
        to.put(found)?;
        if found.is_somewhere() { Ok(()) } else { Err(HPAN_ERROR_POSITION) }
    })
}

/// A height in metres as 2^-8 of the height step, rounded half to even: for `hpan_options` and `hpan_segment_at`.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`; `_POSITION` if it is not finite or too large, and
/// then zero is written. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_steps(view: In<hpan_view>, metres: f64, steps: Out<i64>) -> hpan_error {
    run(|| {
        let found = view.open()?.terrain().point([0.0, 0.0, metres]);
        steps.put(found.map_or(0, |Point { z, .. }| z))?;
        found.map(|_| ()).ok_or(HPAN_ERROR_POSITION)
    })
}

/// A number of an answer's hit.
#[inline(always)]
fn of<T>(view: In<hpan_view>, hit: In<hpan_hit>, to: Out<T>, value: impl FnOnce(&Terrain, &Hit) -> T) -> hpan_error {
    run(|| to.put(value(view.open()?.terrain(), &hit.get()?.hit())))
}

/// Numbers of an answer's hit.
#[inline(always)]
fn many<T: Copy + Default, const N: usize>(
    view: In<hpan_view>,
    hit: In<hpan_hit>,
    to: Out<T>,
    values: impl FnOnce(&Terrain, &Hit) -> [T; N],
) -> hpan_error {
    run(|| {
        let values = values(view.open()?.terrain(), &hit.get()?.hit());
        to.filled(N, T::default())?.copy_from_slice(&values);
        Ok(())
    })
}

/// Height in metres, rounded to nearest, ties to even.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_z_f64(view: In<hpan_view>, hit: In<hpan_hit>, z: Out<f64>) -> hpan_error {
    of(view, hit, z, |t, hit| t.z_f64(hit))
}

/// Height in 2^-24 m, rounded down where the image's heights are finer. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_z_fixed(view: In<hpan_view>, hit: In<hpan_hit>, z: Out<i64>) -> hpan_error {
    of(view, hit, z, |t, hit| t.z_fixed(hit).to_bits())
}

/// dz/dx and dz/dy into two numbers, without unit. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_slope_f64(view: In<hpan_view>, hit: In<hpan_hit>, slope: Out<f64>) -> hpan_error {
    many(view, hit, slope, |t, hit| t.slope_f64(hit))
}

/// `hpan_slope_f64` in single precision. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_slope_f32(view: In<hpan_view>, hit: In<hpan_hit>, slope: Out<f32>) -> hpan_error {
    many(view, hit, slope, |t, hit| t.slope_f32(hit))
}

/// The upward unit normal into three numbers: east, north, up. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_normal_f64(view: In<hpan_view>, hit: In<hpan_hit>, normal: Out<f64>) -> hpan_error {
    many(view, hit, normal, |t, hit| t.normal_f64(hit))
}

/// `hpan_normal_f64` in single precision. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_normal_f32(view: In<hpan_view>, hit: In<hpan_hit>, normal: Out<f32>) -> hpan_error {
    many(view, hit, normal, |t, hit| t.normal_f32(hit))
}

/// Friction, rolling resistance and gain into three numbers: of the answer's material, or the defaults where there is
/// no ground.
///
/// Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_surface_f64(view: In<hpan_view>, answer: In<hpan_answer>, surface: Out<f64>) -> hpan_error {
    run(|| {
        let values = view.open()?.terrain().surface(&answer.get()?.answer());
        surface.filled(3, 0.0)?.copy_from_slice(&values);
        Ok(())
    })
}

/// `hpan_surface_f64` in single precision. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_surface_f32(view: In<hpan_view>, answer: In<hpan_answer>, surface: Out<f32>) -> hpan_error {
    run(|| {
        let values = view.open()?.terrain().surface_f32(&answer.get()?.answer());
        surface.filled(3, 0.0)?.copy_from_slice(&values);
        Ok(())
    })
}

/// All of an answer in metres: height, slope, friction, rolling resistance, gain. Errors and threads: as `hpan_z_f64`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_ground(
    view: In<hpan_view>,
    answer: In<hpan_answer>,
    ground: Out<hpan_ground>,
) -> hpan_error {
    run(|| {
        let (t, answer) = (view.open()?.terrain(), answer.get()?.answer());
        let ([dzdx, dzdy], [mu, rolling, gain]) = (t.slope_f64(&answer.hit), t.surface(&answer));
        ground.put(hpan_ground { z: t.z_f64(&answer.hit), dzdx, dzdy, mu, rolling, gain })
    })
}
