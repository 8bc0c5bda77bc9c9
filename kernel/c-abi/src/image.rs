//! Opening an image, and what it says of itself.

use crate::ffi::{Handle, In, Out};
use crate::hpan_error::{self, *};
use crate::types::*;
use core::ffi::{c_char, c_void};
use hardpan::Terrain;

/// An image that was opened. It borrows the image's bytes: they stay where they are, unchanged, until it is closed.
pub struct hpan_view(());

/// What a view holds.
pub struct View {
    terrain: Terrain<'static>,
    damage: In<u8>,
    damage_len: usize,
}

impl Handle for hpan_view {
    type Inside = View;
    const MAGIC: [u8; 8] = *b"hpanview";
}

impl View {
    /// Asks the terrain something at a position, with the bitmap of damage if there is one.
    #[inline(always)]
    pub(crate) fn ask<P, R>(&self, p: &P, question: impl FnOnce(&Terrain, &P) -> R) -> R {
        if self.damage_len == 0 { question(&self.terrain, p) } else { self.ask_damaged(p, question) }
    }

    /// The bits are looked at anew each time, for they are set between queries.
    #[cold]
    #[inline(never)]
    fn ask_damaged<P, R>(&self, p: &P, question: impl FnOnce(&Terrain, &P) -> R) -> R {
        question(&self.terrain.with_damage(self.damage.many(self.damage_len).unwrap_or(&[])), p)
    }

    /// The terrain, for what does not depend on damage.
    #[inline(always)]
    pub(crate) fn terrain(&self) -> &Terrain<'static> {
        &self.terrain
    }
}

/// Result of a closure as C takes it.
#[inline(always)]
pub(crate) fn run(work: impl FnOnce() -> Result<(), hpan_error>) -> hpan_error {
    match work() {
        Ok(()) => HPAN_OK,
        Err(e) => e,
    }
}

/// Bytes of memory that a view needs. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_view_size() -> usize {
    hpan_view::SIZE
}

/// What the address of that memory is a multiple of. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_view_align() -> usize {
    hpan_view::ALIGN
}

/// Opens an image after checking its head: constant time, whatever the image's size; nothing is copied.
///
/// `memory` of `size` bytes becomes the view, whose address is written to `view`; null if it fails. `bytes` start at a
/// multiple of 128 and may be longer than the image. Content is not looked at: a flipped bit there may give a wrong
/// answer. Errors: `HPAN_ERROR_NULL`, `_ALIGNMENT`, `_ROOM`, `_IMAGE_ADDRESS`, `_IMAGE_SHORT`, `_NOT_AN_IMAGE`,
/// `_BLANK`, `_TOO_NEW`, `_TOO_OLD`, `_HEAD_DAMAGED`, `_HEAD_INVALID`. Threads: one for each memory.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_open(
    memory: Out<c_void>,
    size: usize,
    bytes: In<c_void>,
    length: usize,
    view: Out<Out<hpan_view>>,
) -> hpan_error {
    memory.make(size, view, || {
        Ok(View { terrain: Terrain::open(bytes.image(length)?)?, damage: In::none(), damage_len: 0 })
    })
}

/// `hpan_open`, and proves all of the image: checksums, structure, reserved bytes, stated bounds. It takes time by its
/// size.
///
/// `where` gets the kind of the section, or the number of the tile, that an error of the content speaks of; it may be
/// null. Errors: those of `hpan_open`, and `HPAN_ERROR_SECTION_DAMAGED`, `_SECTION_INVALID`, `_PADDING`,
/// `_TILE_DAMAGED`, `_TILE_INVALID`, `_BOUND_EXCEEDED`. Threads: one for each memory.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_open_verified(
    memory: Out<c_void>,
    size: usize,
    bytes: In<c_void>,
    length: usize,
    view: Out<Out<hpan_view>>,
    r#where: Out<u32>,
) -> hpan_error {
    memory.make(size, view, || match Terrain::open_verified(bytes.image(length)?) {
        Ok(terrain) => Ok(View { terrain, damage: In::none(), damage_len: 0 }),
        Err(hardpan::OpenError::Content(e)) => {
            let (error, place) = located(e);
            _ = r#where.put(place);
            Err(error)
        }
        Err(e) => Err(e.into()),
    })
}

/// Ends a view; its memory, its image and its bitmap are the caller's again.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: one, while nobody else uses the view or a verifier of it.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_close(view: Out<hpan_view>) -> hpan_error {
    run(|| view.close())
}

/// Lets queries on tiles whose bit is set answer `HPAN_DAMAGED`: bit i % 8 of byte i / 8 for tile i; those beyond its
/// end are sound.
///
/// The bitmap is looked at by each query until the view is closed or has another; `length` 0 takes it away. Cursors
/// start at the root each time while there is one. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_COUNT`. Threads:
/// one, while nobody else uses the view.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_set_damage(view: Out<hpan_view>, bitmap: In<u8>, length: usize) -> hpan_error {
    run(|| {
        let view = view.open_mut()?;
        bitmap.many(length)?;
        (view.damage, view.damage_len) = (bitmap, length);
        Ok(())
    })
}

/// What the image says of itself: numbers, lattice, bounds of cost and error, defaults.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_facts(view: In<hpan_view>, facts: Out<hpan_facts>) -> hpan_error {
    run(|| {
        let t = view.open()?.terrain();
        let h = t.header();
        let default = hardpan::Hit { z: h.default_z, ..hardpan::Hit::NONE };
        facts.put(hpan_facts {
            image_bytes: h.total_len,
            triangles: h.triangles,
            xy_log2: h.xy_log2,
            z_log2: h.z_log2,
            tiles: h.tile_count,
            materials: t.materials().len() as u32,
            sources: t.source_count() as u32,
            max_layers: t.max_layers(),
            bound: t.bound().into(),
            wide_tests: h.wide_tests,
            error_plan: h.error_plan,
            error_height: h.error_height,
            default_z: t.z_f64(&default),
            default_mu: h.default_mu,
            default_rolling: h.default_rolling,
            default_gain: h.default_gain,
        })
    })
}

/// SHA-256 of the content, 32 bytes: equal for equal ground.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_identity(view: In<hpan_view>, identity: Out<u8>) -> hpan_error {
    run(|| {
        let from = view.open()?.terrain().identity();
        identity.filled(from.len(), 0)?.copy_from_slice(&from);
        Ok(())
    })
}

/// Least and greatest coordinates of the ground in metres: three numbers each, east, north, up.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_bounds(view: In<hpan_view>, low: Out<f64>, high: Out<f64>) -> hpan_error {
    run(|| {
        let [from, to] = view.open()?.terrain().bounds();
        low.filled(3, 0.0)?.copy_from_slice(&from);
        high.filled(3, 0.0)?.copy_from_slice(&to);
        Ok(())
    })
}

/// The windows and the fall-back that the image proposes, to be changed and given to `hpan_closest_with`.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_options(view: In<hpan_view>, options: Out<hpan_options>) -> hpan_error {
    run(|| {
        let o = view.open()?.terrain().options();
        let (near_steps, far_steps) = (o.windows.near, o.windows.far);
        options.put(hpan_options { near_steps, far_steps, fallback: o.fallback })
    })
}

/// A material by its number, 0 to `materials` - 1 of `hpan_facts`.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_INDEX`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_material(view: In<hpan_view>, index: u32, material: Out<hpan_material>) -> hpan_error {
    run(|| {
        let m = view.open()?.terrain().materials().get(index as usize).ok_or(HPAN_ERROR_INDEX)?;
        material.put(hpan_material {
            mu: m.mu,
            rolling: m.rolling,
            gain: m.gain,
            cone_index: m.cone_index,
            class_mask: m.class_mask,
            label: m.label,
            priority: m.priority,
            surface: m.surface,
            obstacle: (m.flags & 1) as u8,
        })
    })
}

/// The name of a material, UTF-8, with a zero behind it, into `name` of `length` bytes.
///
/// `needed` gets the bytes that it takes, the zero too; it may be null, and so may `name` if `length` is 0. A name that
/// is too long is not written. Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_INDEX`, `_ROOM`, `_COUNT`. Threads:
/// any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_material_name(
    view: In<hpan_view>,
    index: u32,
    name: Out<c_char>,
    length: usize,
    needed: Out<usize>,
) -> hpan_error {
    run(|| {
        let t = view.open()?.terrain();
        let index = number(index, t.materials().len())?;
        write_name(t.material_name(index), name, length, needed)
    })
}

/// The number of the first material of a name, of `length` bytes without a zero behind them.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_ALIGNMENT`, `_COUNT`; `_INDEX` if there is none of that name.
/// Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_find_material(
    view: In<hpan_view>,
    name: In<c_char>,
    length: usize,
    index: Out<u32>,
) -> hpan_error {
    run(|| {
        let t = view.open()?.terrain();
        let name = name.many(length)?;
        let same = |of: &str| of.len() == name.len() && of.bytes().zip(name).all(|(a, &b)| a == b as u8);
        let found = (0..t.materials().len()).find(|&i| same(t.material_name(i as u16)));
        index.put(found.ok_or(HPAN_ERROR_INDEX)? as u32)
    })
}

/// The name of a source, file and object, as `hpan_get_material_name`; 0 to `sources` - 1 of `hpan_facts`.
///
/// Errors: `HPAN_ERROR_NULL`, `_HANDLE`, `_CLOSED`, `_INDEX`, `_ROOM`, `_COUNT`. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_get_source_name(
    view: In<hpan_view>,
    index: u32,
    name: Out<c_char>,
    length: usize,
    needed: Out<usize>,
) -> hpan_error {
    run(|| {
        let t = view.open()?.terrain();
        write_name(t.source_name(number(index, t.source_count())?), name, length, needed)
    })
}

/// A number below `count`.
fn number(index: u32, count: usize) -> Result<u16, hpan_error> {
    u16::try_from(index).ok().filter(|&i| usize::from(i) < count).ok_or(HPAN_ERROR_INDEX)
}

/// Writes a name and a zero.
fn write_name(from: &str, to: Out<c_char>, length: usize, needed: Out<usize>) -> Result<(), hpan_error> {
    let need = from.len().saturating_add(1);
    match needed.put(need) {
        Ok(()) | Err(HPAN_ERROR_NULL) => {}
        Err(e) => return Err(e),
    }
    if need > length {
        return Err(HPAN_ERROR_ROOM);
    }
    for (to, from) in to.filled(need, 0)?.iter_mut().zip(from.bytes()) {
        *to = from as c_char;
    }
    Ok(())
}
