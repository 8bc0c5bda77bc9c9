//! What a wheel or a foot remembers from one query to the next.

use crate::ffi::{Handle, In, Out};
use crate::hpan_error;
use crate::image::{hpan_view, run};
use crate::types::*;
use core::ffi::c_void;
use hardpan::{Cursor, IntoPoint};

/// Remembers the last place of one wheel; it changes no answer of an image that verifies.
pub struct hpan_cursor(());

impl Handle for hpan_cursor {
    type Inside = Cursor;
    const MAGIC: [u8; 8] = *b"hpcursor";
}

/// Bytes of memory that a cursor needs. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_cursor_size() -> usize {
    hpan_cursor::SIZE
}

/// What the address of that memory is a multiple of. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_cursor_align() -> usize {
    hpan_cursor::ALIGN
}

/// Makes a cursor of `memory` of `size` bytes; its address is written to `cursor`, null if it fails. One for each
/// wheel.
///
/// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`. Threads: one for each memory.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_cursor_start(memory: Out<c_void>, size: usize, cursor: Out<Out<hpan_cursor>>) -> hpan_error {
    memory.make(size, cursor, || Ok(Cursor::new()))
}

/// Ends a cursor; its memory is the caller's again. A cursor may outlive the views that it was used with.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each cursor.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_cursor_close(cursor: Out<hpan_cursor>) -> hpan_error {
    run(|| cursor.close())
}

/// `hpan_closest` for points that lie close to each other: the same answers, faster.
///
/// Units and errors: as `hpan_closest`. Threads: any number at a time for a view, one for a cursor.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_cursor(
    view: In<hpan_view>,
    cursor: Out<hpan_cursor>,
    x: f64,
    y: f64,
    z: f64,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, cursor, [x, y, z], answer)
}

/// `hpan_closest_cursor` of single-precision metres. Errors and threads: as `hpan_closest_cursor`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_cursor_f32(
    view: In<hpan_view>,
    cursor: Out<hpan_cursor>,
    x: f32,
    y: f32,
    z: f32,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, cursor, [x, y, z], answer)
}

/// `hpan_closest_cursor` of metres in 2^-24. Errors and threads: as `hpan_closest_cursor`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_cursor_fixed(
    view: In<hpan_view>,
    cursor: Out<hpan_cursor>,
    x: i64,
    y: i64,
    z: i64,
    answer: Out<hpan_answer>,
) -> hpan_error {
    ask(view, cursor, FixedPoint([x, y, z]), answer)
}

/// `hpan_closest_cursor` of a point of `hpan_point_f64` or its kin. Errors and threads: as `hpan_closest_cursor`.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_closest_cursor_at(
    view: In<hpan_view>,
    cursor: Out<hpan_cursor>,
    point: In<hpan_point>,
    answer: Out<hpan_answer>,
) -> hpan_error {
    match point.get() {
        Ok(&p) => ask(view, cursor, p, answer),
        Err(e) => e,
    }
}

#[inline(always)]
fn ask(view: In<hpan_view>, cursor: Out<hpan_cursor>, p: impl IntoPoint, answer: Out<hpan_answer>) -> hpan_error {
    run(|| {
        let (view, cursor, answer) = (view.open()?, cursor.open_mut()?, answer.answer()?);
        view.ask(&p, |t, &p| _ = answer.write(t.closest_cursor(p, cursor)));
        Ok(())
    })
}
