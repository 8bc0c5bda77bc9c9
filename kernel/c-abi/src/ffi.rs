//! The one file with `unsafe`: what C hands in, as Rust.
//!
//! Values of [`In`] and [`Out`] come from C, for their fields are private and only [`Out::lend`] makes one. So each
//! `unsafe` block may rely on what the header asks of a caller:
//! - a pointer that is not null points to as much memory as the function says, readable, or writable if it is not
//!   `const`;
//! - that memory lives until the function returns; of images, bitmaps and handles until the handle is closed;
//! - nobody else writes to it meanwhile, and what is written to does not overlap what is read.
//!
//! Checked all the same, because it is cheap: null, alignment, counts, and whether a handle is one, of that kind, and
//! open.

use crate::hpan_error::{self, *};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::{ptr, slice};
use hardpan::{Answer, Hit, LeafKind, Normal, Reach};
use zerocopy::{FromBytes, Immutable};

/// Most elements of an array: more is a negative number that was taken for a count.
const MAX_ELEMENTS: usize = 0x7FFF_FFFF;

/// A pointer to what is read.
#[repr(transparent)]
pub struct In<T>(*const T);

/// A pointer to what is written.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// A handle of C's: the type of its pointers, and what lies behind them.
pub trait Handle {
    type Inside: 'static;
    /// First bytes of the memory while the handle is open.
    const MAGIC: [u8; 8];
    /// Bytes that the caller provides, and what their address is a multiple of.
    const SIZE: usize = size_of::<Room<Self::Inside>>();
    const ALIGN: usize = align_of::<Room<Self::Inside>>();
}

/// What lies in the caller's memory.
#[repr(C)]
pub struct Room<T> {
    magic: [u8; 8],
    inside: T,
}

/// First bytes of the memory of a handle that was closed.
const CLOSED: [u8; 8] = *b"hpclosed";

/// Whether a pointer is one to a `T`.
fn check<T>(at: *const T) -> Result<(), hpan_error> {
    if at.is_null() {
        return Err(HPAN_ERROR_NULL);
    }
    if at.is_aligned() { Ok(()) } else { Err(HPAN_ERROR_ALIGNMENT) }
}

/// Whether memory at `at` holds an open handle of this kind.
fn check_handle<H: Handle>(at: *const Room<H::Inside>) -> Result<(), hpan_error> {
    check(at).map_err(|e| if e == HPAN_ERROR_NULL { e } else { HPAN_ERROR_HANDLE })?;
    // SAFETY: not null and aligned; readable by the contract.
    let magic = unsafe { ptr::read(at.cast::<[u8; 8]>()) };
    match magic {
        m if m == H::MAGIC => Ok(()),
        CLOSED => Err(HPAN_ERROR_CLOSED),
        _ => Err(HPAN_ERROR_HANDLE),
    }
}

impl<T> In<T> {
    /// Null.
    pub const fn none() -> Self {
        In(ptr::null())
    }

    /// The same pointer.
    pub fn again(&self) -> Self {
        In(self.0)
    }
}

impl<T: FromBytes + Immutable> In<T> {
    /// What it points to.
    pub fn get(&self) -> Result<&T, hpan_error> {
        check(self.0)?;
        // SAFETY: not null and aligned; readable by the contract, and a `T` may have any bits.
        Ok(unsafe { &*self.0 })
    }

    /// So many elements; the pointer of none may be null.
    pub fn many(&self, count: usize) -> Result<&[T], hpan_error> {
        span(self.0, count)
    }

    /// What it points to; nothing if it is null.
    pub fn optional(&self) -> Result<Option<&T>, hpan_error> {
        if self.0.is_null() { Ok(None) } else { self.get().map(Some) }
    }
}

/// So many elements of C's.
fn span<'a, T: FromBytes + Immutable>(at: *const T, count: usize) -> Result<&'a [T], hpan_error> {
    if count == 0 {
        return Ok(&[]);
    }
    check_count::<T>(count)?;
    check(at)?;
    // SAFETY: not null, aligned, not larger than memory can be; readable by the contract, and a `T` may have any bits.
    Ok(unsafe { slice::from_raw_parts(at, count) })
}

/// Whether there can be so many elements.
fn check_count<T>(count: usize) -> Result<(), hpan_error> {
    if count > MAX_ELEMENTS || count > isize::MAX as usize / size_of::<T>().max(1) {
        Err(HPAN_ERROR_COUNT)
    } else {
        Ok(())
    }
}

impl<T: FromBytes + Immutable> In<T> {
    /// So many times three elements.
    pub fn triples(&self, count: usize) -> Result<&[[T; 3]], hpan_error> {
        span(self.0.cast::<[T; 3]>(), count)
    }
}

impl In<c_void> {
    /// So many bytes that outlive the handle that they are given to.
    pub fn image(&self, len: usize) -> Result<&'static [u8], hpan_error> {
        if self.0.is_null() {
            return Err(HPAN_ERROR_NULL);
        }
        if len > isize::MAX as usize {
            return Err(HPAN_ERROR_COUNT);
        }
        // SAFETY: not null, not larger than memory can be; readable and unchanged until the handle is closed, by the
        // contract.
        Ok(unsafe { slice::from_raw_parts(self.0.cast(), len) })
    }
}

impl In<crate::hpan_surface> {
    /// So many surfaces of a table.
    pub fn surfaces(&self, count: usize) -> Result<&[crate::hpan_surface], hpan_error> {
        check(self.0)?;
        // SAFETY: not null and aligned; a table of C's with so many entries, at most eight, by the contract.
        Ok(unsafe { slice::from_raw_parts(self.0, count) })
    }
}

impl<H: Handle> In<H> {
    /// What lies behind an open handle.
    #[inline(always)]
    pub fn open(&self) -> Result<&H::Inside, hpan_error> {
        let room: *const Room<H::Inside> = self.0.cast();
        check_handle::<H>(room)?;
        // SAFETY: the magic says that `make` wrote it, and that it was not closed; nobody writes meanwhile, by the
        // contract.
        Ok(unsafe { &(*room).inside })
    }
}

impl<T> Out<T> {
    /// A place of this library's, for the length of a call to a function of C's.
    pub fn lend(place: &mut T) -> Self {
        Out(place)
    }

    /// Writes a value.
    #[inline(always)]
    pub fn put(self, value: T) -> Result<(), hpan_error> {
        self.room().map(|room| _ = room.write(value))
    }

    /// Where a value is written.
    #[inline(always)]
    fn room<'a>(self) -> Result<&'a mut MaybeUninit<T>, hpan_error> {
        check(self.0)?;
        // SAFETY: not null and aligned; writable by the contract, and nobody else has it.
        Ok(unsafe { &mut *self.0.cast() })
    }

    /// So many elements, all made `value` first; the pointer of none may be null.
    pub fn filled<'a>(self, count: usize, value: T) -> Result<&'a mut [T], hpan_error>
    where
        T: Copy,
    {
        let room = self.many(count)?;
        room.fill(MaybeUninit::new(value));
        // SAFETY: every element was written.
        Ok(unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) })
    }

    /// Writes an element for each of these; the pointer of none may be null.
    pub fn each<F>(self, from: &[F], mut of: impl FnMut(&F) -> T) -> Result<(), hpan_error> {
        for (to, from) in self.many(from.len())?.iter_mut().zip(from) {
            to.write(of(from));
        }
        Ok(())
    }

    /// Room for so many elements.
    fn many<'a>(self, count: usize) -> Result<&'a mut [MaybeUninit<T>], hpan_error> {
        if count == 0 {
            return Ok(&mut []);
        }
        check_count::<T>(count)?;
        check(self.0)?;
        // SAFETY: not null, aligned, not larger than memory can be; writable by the contract, and nobody else has it.
        Ok(unsafe { slice::from_raw_parts_mut(self.0.cast(), count) })
    }
}

impl<T: FromBytes> Out<T> {
    /// So many elements to change, which the caller has filled; the pointer of none may be null.
    pub fn change<'a>(self, count: usize) -> Result<&'a mut [T], hpan_error> {
        let room = self.many(count)?;
        // SAFETY: the caller has filled it, by the contract, and a `T` may have any bits.
        Ok(unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) })
    }
}

impl Out<crate::hpan_answer> {
    /// Where the kernel writes an answer.
    #[inline(always)]
    pub fn answer<'a>(self) -> Result<&'a mut MaybeUninit<Answer>, hpan_error> {
        Out::<Answer>(self.0.cast()).room() // the same layout: below
    }

    /// Where the kernel writes so many answers.
    pub fn answers<'a>(self, count: usize) -> Result<&'a mut [MaybeUninit<Answer>], hpan_error> {
        Out::<Answer>(self.0.cast()).many(count)
    }
}

impl Out<crate::hpan_hit> {
    /// Where the kernel writes so many hits.
    pub fn hits<'a>(self, count: usize) -> Result<&'a mut [Hit], hpan_error> {
        Out::<Hit>(self.0.cast()).filled(count, Hit::NONE)
    }
}

/// Makes answers of `room` that a slice can be made of.
pub fn blank(room: &mut [MaybeUninit<Answer>]) -> &mut [Answer] {
    room.fill(MaybeUninit::new(Answer::NONE));
    // SAFETY: every element was written.
    unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), room.len()) }
}

impl<H: Handle> Out<H> {
    /// What lies behind an open handle, to be changed.
    pub fn open_mut<'a>(self) -> Result<&'a mut H::Inside, hpan_error> {
        let room: *mut Room<H::Inside> = self.0.cast();
        check_handle::<H>(room)?;
        // SAFETY: the magic says that `make` wrote it, and that it was not closed; nobody else uses it, by the
        // contract.
        Ok(unsafe { &mut (*room).inside })
    }

    /// Ends an open handle: its memory is the caller's again.
    pub fn close(self) -> Result<(), hpan_error> {
        let room: *mut Room<H::Inside> = self.0.cast();
        check_handle::<H>(room)?;
        // SAFETY: an open handle; nobody else uses it, by the contract. Nothing inside needs to be dropped.
        unsafe { (*room).magic = CLOSED };
        Ok(())
    }
}

impl Out<c_void> {
    /// Null.
    pub const fn none() -> Self {
        Out(ptr::null_mut())
    }

    /// The same pointer, as what a function of C's gets back.
    pub fn again(&self) -> Self {
        Out(self.0)
    }

    /// The same pointer as one to a handle, which may be of any kind.
    pub fn as_handle<H: Handle>(&self) -> In<H> {
        In(self.0.cast())
    }

    /// Makes a handle in the caller's memory of `size` bytes and writes its address to `to`; null if that fails.
    pub fn make<H: Handle>(
        self,
        size: usize,
        to: Out<Out<H>>,
        inside: impl FnOnce() -> Result<H::Inside, hpan_error>,
    ) -> hpan_error {
        const { assert!(!core::mem::needs_drop::<H::Inside>()) };
        let room: *mut Room<H::Inside> = self.0.cast();
        let made = (|| {
            check(room)?;
            if size < H::SIZE {
                return Err(HPAN_ERROR_ROOM);
            }
            Ok(Room { magic: H::MAGIC, inside: inside()? })
        })();
        let (handle, error) = match made {
            Ok(made) => {
                // SAFETY: not null, aligned and large enough; writable by the contract, and nobody else has it.
                unsafe { room.write(made) };
                (room.cast(), HPAN_OK)
            }
            Err(e) => (ptr::null_mut(), e),
        };
        match to.put(Out(handle)) {
            Ok(()) => error,
            Err(e) => e,
        }
    }
}

#[cfg(all(any(target_os = "none", panic = "abort"), feature = "panic-handler", not(test)))]
// SAFETY: takes nothing and never returns, as the README asks of whoever defines it.
unsafe extern "C" {
    /// What a program does where a panic is left: on bare metal its own function, on hosts the system's `abort`.
    #[cfg_attr(not(target_os = "none"), link_name = "abort")]
    pub safe fn hpan_panicked() -> !;
}

/// An answer and its hit have the layout that C sees.
const _: () = {
    use crate::{hpan_answer, hpan_hit};
    use core::mem::offset_of;
    assert!(size_of::<hpan_answer>() == size_of::<Answer>() && align_of::<hpan_answer>() == align_of::<Answer>());
    assert!(offset_of!(hpan_answer, status) == offset_of!(Answer, status) && size_of::<hardpan::Status>() == 1);
    assert!(offset_of!(hpan_answer, hit) == offset_of!(Answer, hit));
    assert!(size_of::<hpan_hit>() == size_of::<Hit>() && align_of::<hpan_hit>() == align_of::<Hit>());
    assert!(offset_of!(hpan_hit, z) == offset_of!(Hit, z));
    assert!(offset_of!(hpan_hit, normal) == offset_of!(Hit, normal) && size_of::<Normal>() == 24);
    assert!(offset_of!(Normal, x) == 0 && offset_of!(Normal, y) == 8 && offset_of!(Normal, z) == 16);
    assert!(offset_of!(hpan_hit, material) == offset_of!(Hit, material));
    assert!(offset_of!(hpan_hit, source) == offset_of!(Hit, source));
    assert!(offset_of!(hpan_hit, leaf) == offset_of!(Hit, leaf) && size_of::<LeafKind>() == 1);
    assert!(offset_of!(hpan_hit, reach) == offset_of!(Hit, reach) && size_of::<Reach>() == 1);
    assert!(offset_of!(hpan_hit, place) == offset_of!(Hit, place));
};
