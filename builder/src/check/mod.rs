//! Findings about a source or its ground: how a source lies, gaps, steps, double surfaces, surfaces at one height,
//! spikes, buried roads.
//!
//! An analysis asks a scene or an image, and returns values. It prints nothing and names no option.
//!
//! ```
//! use hardpan_builder::{Code, Options, build, check, demo::fixtures};
//!
//! let built = build(&fixtures::bridge(), &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! let looks = check::ground(&terrain, None, &check::Limits::default(), |code| code == Code::Gap);
//! assert_eq!((looks[0].code, looks[0].found), (Code::Gap, Some(0)));
//! ```

mod built;
pub mod ground;
pub mod jump;
pub mod source;

pub use self::built::built;
pub use self::ground::{LISTED, Limits, Look, OF_GROUND, ground};
pub use self::source::source;
