//! The one file with `unsafe`: what C hands in, as Rust.
//!
//! Values of [`In`], [`Out`] and [`Text`] come from C alone. So each `unsafe` block may rely on what the header asks of
//! a caller:
//! - a pointer that is not null points to as much memory as its type says, readable, or writable if it is not `const`;
//! - a text ends with a zero;
//! - that memory lives until the function returns, and nobody else writes to it meanwhile.
//!
//! Checked all the same, because it is cheap: null and alignment.

use crate::types::{Fault, vs_terrain_error::*};
use std::ffi::{CStr, c_char};
use std::ptr;
use zerocopy::{FromBytes, Immutable};

/// A pointer to what is read.
#[repr(transparent)]
pub struct In<T>(*const T);

/// A pointer to what is written.
#[repr(transparent)]
pub struct Out<T>(*mut T);

/// A text of C's.
#[repr(transparent)]
pub struct Text(*const c_char);

/// Whether a pointer is one to a `T`.
fn check<T>(at: *const T, what: &str) -> Result<(), Fault> {
    if at.is_null() {
        return Err(Fault::new(ARGUMENT, format!("{what} is null; give its address")));
    }
    if at.is_aligned() {
        return Ok(());
    }
    Err(Fault::new(ARGUMENT, format!("{what} lies at no multiple of {}; give the address of one", align_of::<T>())))
}

impl<T: FromBytes + Immutable + Copy> In<T> {
    /// The value that it points to; `what` names it in an error.
    pub fn get(&self, what: &str) -> Result<T, Fault> {
        check(self.0, what)?;
        // SAFETY: not null and aligned; readable by the contract, and a `T` may have any bits.
        Ok(unsafe { ptr::read(self.0) })
    }
}

impl<T: Copy> Out<T> {
    /// Whether a value can be written, or not even one is wanted.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Whether a value can be written; `what` names it in an error.
    pub fn check(&self, what: &str) -> Result<(), Fault> {
        check(self.0, what)
    }

    /// Writes a value.
    pub fn put(&self, what: &str, value: T) -> Result<(), Fault> {
        self.check(what)?;
        // SAFETY: not null and aligned; writable by the contract, and nobody else has it.
        unsafe { ptr::write(self.0, value) };
        Ok(())
    }
}

impl Text {
    /// Its bytes, without the zero at the end; `what` names it in an error.
    pub fn bytes(&self, what: &str) -> Result<&[u8], Fault> {
        check(self.0, what)?;
        // SAFETY: not null; it ends with a zero, and lives until the function returns, by the contract.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes())
    }
}
