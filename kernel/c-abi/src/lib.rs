//! The kernel for C and C++: every query on a terrain image, and the callback of VehicleSim.
//!
//! What C sees is `include/hardpan.h`, made from this crate by cbindgen. Handles lie in memory of the caller's, nothing
//! is allocated, and there are no globals. All that Rust cannot check stands in `ffi.rs`; the rest is safe.
#![cfg_attr(any(target_os = "none", panic = "abort"), no_std)] // elsewhere cargo wants a runtime that can unwind, of which nothing is linked
#![allow(non_camel_case_types, non_snake_case)] // names of C and of VehicleSim

mod bounds;
mod convert;
mod cursor;
mod ffi;
mod image;
mod query;
mod rays;
mod types;
mod verify;
mod vs;
mod wheel;

pub use bounds::*;
pub use convert::*;
pub use cursor::*;
pub use image::*;
pub use query::*;
pub use rays::*;
pub use types::*;
pub use verify::*;
pub use vs::*;
pub use wheel::*;

/// On bare metal nothing panics, as the library's profile compiles it: then nobody misses `hpan_panicked`. Where
/// overflows are checked something may, and the program that is linked says what comes then. On hosts one check is
/// left, which always holds: of an index, in the crate that computes checksums.
#[cfg(all(any(target_os = "none", panic = "abort"), feature = "panic-handler", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    ffi::hpan_panicked()
}
