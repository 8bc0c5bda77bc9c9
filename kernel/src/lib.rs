//! Answers "what is the ground here?" on a terrain image, where it lies.
//!
//! ```
//! use hardpan::{Terrain, Windows};
//! # fn run(bytes: &[u8]) -> Result<(), hardpan::OpenError> {
//! let terrain = Terrain::open(bytes)?;
//! let answer = terrain.closest([12.5, -3.0, 0.4]); // metres
//! if answer.found() {
//!     let _height = terrain.z_f64(&answer.hit);
//!     let _slope = terrain.slope_f64(&answer.hit); // dz/dx, dz/dy
//! }
//! let [_mu, _rolling, _gain] = terrain.surface(&answer); // the image's defaults where there is no ground
//! # Ok(()) }
//! ```
//!
//! Every answer is an integer computed exactly and rounded once, so the same image gives the same
//! bits on every machine. `FORMAT.md` beside this crate describes every byte of an image.
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

#[cfg(not(target_endian = "little"))]
compile_error!("terrain images are little-endian and are read in place");

mod bundle;
mod cursor;
pub mod format;
mod geom;
mod open;
mod patch;
mod query;
mod types;
mod verify;
mod walk;

pub use cursor::Cursor;
pub use fixed;
pub use open::{OpenError, Terrain};
pub use query::{Options, Trace};
pub use types::{Answer, Cost, Fixed, Hit, IntoPoint, Layers, LeafKind, Normal, Point, Reach, Status, Windows};
pub use verify::{Verifier, VerifyError};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

/// A terrain image as a `static`, aligned as the kernel needs it; the path is relative to the source file, as of `include_bytes!`.
///
/// ```ignore
/// static TERRAIN: &[u8] = hardpan::include_image!("track.hpan");
/// ```
#[macro_export]
macro_rules! include_image {
    ($path:expr) => {{
        #[repr(C, align(128))]
        struct Aligned<T: ?Sized>(T);
        static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &IMAGE.0
    }};
}
