//! Answers "what is the ground here?" on a terrain image, where it lies.
//!
//! ```
//! use hardpan::{OpenError, Terrain};
//!
//! /// Height and friction under a wheel's hub, in metres; none where there is no ground.
//! fn ground(image: &[u8], hub: [f64; 3]) -> Result<Option<[f64; 2]>, OpenError> {
//!     let terrain = Terrain::open(image)?; // the head is checked, in constant time; nothing is copied
//!     let answer = terrain.closest(hub); // the nearest ground above or below
//!     let [mu, _rolling, _gain] = terrain.surface(&answer);
//!     Ok(answer.found().then(|| [terrain.z_f64(&answer.hit), mu]))
//! }
//! # let image = hardpan::include_image!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bridge.hpan"));
//! # assert_eq!(ground(image, [0.0, 0.0, 5.0]), Ok(Some([6.0, 0.7])));
//! # assert_eq!(ground(image, [80.0, 0.0, 5.0]), Ok(None));
//! ```
//!
//! Every answer is an integer computed exactly and rounded once, so the same image gives the same bits on every
//! machine.
//!
//! | to | read |
//! | --- | --- |
//! | open an image, or prove all of it | [`Terrain::open`], [`Terrain::open_verified`]; in steps [`Verifier`]; [`include_image!`] puts one into the program |
//! | ask | [`Terrain::closest`], [`Terrain::below`], [`Terrain::segment_m`], [`Terrain::layers`], [`Terrain::layers_vec`] |
//! | look in any direction | [`Terrain::raycast`] on a [`Ray`] with [`RayOptions`]; `docs/rays.md` of this crate |
//! | know what is above, or beside | [`Terrain::clearance`], [`Terrain::can_step`], [`Terrain::closest_of`], [`Terrain::layers_of`]; [`Terrain::rays`] of a body |
//! | know what a wheel stands on | [`Terrain::contact`] of a [`Tyre`] and a [`Wheel`], [`Terrain::chassis`]; [`Axes`] of other programs; `docs/tyre.md` |
//! | sense terrain as a vehicle does | [`Terrain::sensor`] with a [`SensorConfig`], [`Pattern`]; `docs/sensor.md` |
//! | ask much | [`Terrain::closest_batch`]; a [`Cursor`] for [`Terrain::closest_cursor`] |
//! | say where | [`IntoPoint`]: `[f64; 3]`, `[f32; 3]`, `[`[`Fixed`]`; 3]`, [`Point`] |
//! | take an answer apart | [`Answer`], [`Status`], [`Hit`]; [`Terrain::z_f64`], [`Terrain::slope_f64`], [`Terrain::surface`] and their kin |
//! | put a surface of your own before an image | [`Surface`], [`Ground`] |
//! | choose windows, and a height without ground | [`Options`] for [`Terrain::closest_with`], [`mod@format::fallback`] |
//! | know what a query costs | [`Terrain::bound`], [`Terrain::ray_bound`], [`Terrain::contact_bound`], [`Terrain::closest_costed`], [`Terrain::explain`]; in instructions: `docs/firmware.md` |
//! | live with damaged memory | [`Terrain::with_damage`], [`Verifier::step`], [`Verifier::usable`], [`Verifier::damaged_sections`] |
//! | fit it into firmware | `docs/firmware.md` of this crate: profile, flash, code, stack |
//! | read images without this crate | `FORMAT.md` of this crate, every byte; [`mod@format`], the same as records |
#![no_std]
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(all(feature = "verify", feature = "wide")), allow(dead_code))]

#[cfg(not(target_endian = "little"))]
compile_error!("terrain images are little-endian and are read in place");

mod error;
pub mod format;
mod geom;
mod hit;
mod index;
mod leaf;
mod open;
mod point;
mod precedence;
mod query;
mod rays;
mod search;
mod trace;
#[cfg(feature = "verify")]
mod verify;

pub use error::{OpenError, VerifyError};
pub use fixed;
#[cfg(feature = "heapless")]
pub use heapless;
pub use hit::{Answer, Cost, Hit, Layers, LeafKind, Normal, Reach, Status, Windows};
pub use open::Terrain;
pub use point::{Fixed, IntoPoint, Point};
pub use query::{Axes, ChassisHit, ChassisPoint, Group, Pattern, PoseError};
pub use query::{Beam, Clearance, Mover, Pose, Sensed, Step, StepStatus};
pub use query::{Contact, ContactPoint, ContactStatus, Lattice, MAX_COMPATIBLE_POINTS, Method, Motion, Tyre, Wheel};
pub use query::{Cursor, Field, FieldGround, Ground, Options, Surface};
pub use query::{FaceNormal, Kind, Kinds, MAX_RAY_METRES, Ray, RayAnswer, RayHit, RayOptions, RayStatus};
pub use query::{SensorConfig, SensorError, SensorReading, SensorStep, SensorTrace, Setting, TRACES};
pub use trace::Trace;
#[cfg(feature = "verify")]
pub use verify::Verifier;

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

#[doc = include_str!("../docs/tyre.md")]
#[doc = include_str!("../docs/sensor.md")]
#[cfg(doctest)]
struct Pages;

/// A terrain image as a `static`, aligned as the kernel needs it; the path is relative to the source file, as of
/// `include_bytes!`.
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
