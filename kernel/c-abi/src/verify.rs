//! Proving an image in steps, between control ticks.

use crate::ffi::{Handle, In, Out};
use crate::hpan_error::{self, *};
use crate::image::{hpan_view, run};
use crate::types::*;
use core::ffi::c_void;
use hardpan::Verifier;

/// Proves an image in slices. It needs the image's bytes, not the view.
pub struct hpan_verifier(());

/// What a verifier holds.
pub struct Steps {
    verifier: Verifier<'static>,
    begun: bool,
}

impl Handle for hpan_verifier {
    type Inside = Steps;
    const MAGIC: [u8; 8] = *b"hpverify";
}

/// Bytes of memory that a verifier needs. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_size() -> usize {
    hpan_verifier::SIZE
}

/// What the address of that memory is a multiple of. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_align() -> usize {
    hpan_verifier::ALIGN
}

/// Makes a verifier of `memory` of `size` bytes; its address is written to `verifier`, null if it fails.
///
/// Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_HANDLE`, `_CLOSED`. Threads: one for each memory.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_start(
    memory: Out<c_void>,
    size: usize,
    view: In<hpan_view>,
    verifier: Out<Out<hpan_verifier>>,
) -> hpan_error {
    memory.make(size, verifier, || Ok(Steps { verifier: view.open()?.terrain().verifier(), begun: false }))
}

/// Ends a verifier; its memory is the caller's again.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each verifier.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_close(verifier: Out<hpan_verifier>) -> hpan_error {
    run(|| verifier.close())
}

/// Checks about `max_bytes` more; the first step takes all sections but the tiles, whatever its limit.
///
/// `done` gets 1 when everything was looked at, else 0. Damaged tiles are marked in `bitmap` of `length` bytes, a bit
/// for each tile, and no bit is cleared; the first error comes at the end. With `length` 0, where `bitmap` may be null,
/// the first damaged tile ends it. What is wrong outside the tiles comes at once, with `done` 0, and again at the end:
/// go on to look at the tiles. `where` gets the kind of the section, or the number of the tile, that an error speaks
/// of; it may be null. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_HEAD_DAMAGED`,
/// `_HEAD_INVALID`, `_SECTION_DAMAGED`, `_SECTION_INVALID`, `_PADDING`, `_TILE_DAMAGED`, `_TILE_INVALID`,
/// `_BOUND_EXCEEDED`. Threads: one at a time for each verifier, and none that asks a view with this bitmap.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_step(
    verifier: Out<hpan_verifier>,
    max_bytes: usize,
    bitmap: Out<u8>,
    length: usize,
    done: Out<u8>,
    r#where: Out<u32>,
) -> hpan_error {
    run(|| {
        let steps = verifier.open_mut()?;
        let bitmap = bitmap.change(length)?;
        let first = !core::mem::replace(&mut steps.begun, true);
        match steps.verifier.step(max_bytes, bitmap) {
            Ok(all) => done.put(all.into()),
            Err(e) => {
                let (error, place) = located(e);
                let of_a_tile =
                    matches!(error, HPAN_ERROR_TILE_DAMAGED | HPAN_ERROR_TILE_INVALID | HPAN_ERROR_BOUND_EXCEEDED);
                done.put((!first || of_a_tile).into())?;
                _ = r#where.put(place);
                Err(error)
            }
        }
    })
}

/// The sections whose bytes do not match their checksums, known after the first step: bit k for kind k, bit 0 for the
/// head, bit 31 for all kinds from 31 on.
///
/// Kinds: 1 materials, 2 names, 3 sources, 4 directory, 5 pages, 6 table of tiles, 7 tiles, 8 provenance; others are
/// not understood. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: one at a time for each
/// verifier.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_damaged_sections(verifier: In<hpan_verifier>, sections: Out<u32>) -> hpan_error {
    run(|| sections.put(verifier.open()?.verifier.damaged_sections()))
}

/// Whether answers can be relied on, those that say `HPAN_DAMAGED` apart: 1 or 0; 0 before the first step.
///
/// It is 1, too, where every tile is damaged and so is every answer: the bitmap says how many are.
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one at a time for each verifier.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_verifier_usable(verifier: In<hpan_verifier>, usable: Out<u8>) -> hpan_error {
    run(|| usable.put(verifier.open()?.verifier.usable().into()))
}
