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
//!     let _mu = terrain.material(&answer.hit).mu;
//! }
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

/// A terrain image as a `static`, aligned as the kernel needs it.
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
