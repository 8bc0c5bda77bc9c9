//! Builds Hardpan terrain images.
//!
//! ```
//! use hardpan_builder::{Material, Options, Scene, Triangle, build};
//!
//! let scene = Scene {
//!     positions: vec![[0.0, 0.0, 0.0], [10.0, 0.0, 1.0], [0.0, 10.0, 0.0]], // metres, z up
//!     triangles: vec![Triangle { v: [0, 1, 2], material: 0, source: 0 }],
//!     materials: vec![Material::new("Asphalt", 0.9)],
//!     sources: vec!["example".into()],
//!     ..Scene::default()
//! };
//! let built = build(&scene, &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! assert_eq!(terrain.z_f64(&terrain.closest([5.0, 2.0, 0.0]).hit), 0.5);
//! ```
//!
//! | to | read |
//! | --- | --- |
//! | read files | [`import::read`], [`import::Frame`], [`import::FORMATS`] |
//! | say it all in one file | [`Settings`] |
//! | build from memory | [`Scene`], [`HeightField`], [`Options`], [`build()`]; [`build_recorded`] with a [`Provenance`] |
//! | know what was repaired and left out | [`Report`], [`ErrorQuantiles`] |
//! | make tiles one by one | [`Job`] |
//! | build on a graphics card | [`mod@build::backend`], [`build_on`] |
//! | write and map files | [`Image`], [`ImageFile`], [`util::files::NewFile`] |
//! | prove an image, measure it against its source | [`verify`](fn@verify), [`source_error`] |
//! | compare it with another image, or with points of another tool | [`mod@compare`] |
//! | build from images, one or several | [`edit::rebuild::Rebuild`], [`edit::merge::Merge`], [`Factors`] |
//! | look into an image | [`image::info`], [`image::materials`], [`image::decode`], [`mod@export`] |
//! | write it for the flash of a controller | [`mod@flash`] |
//! | time queries | [`mod@bench`] |
//! | sample heights on squares | [`mod@grid`] |
//! | read tables of points, and drives; ask at many | [`query`] |
//! | try it | [`demo`] |
//!
//! `build` has the stages in their order: a [`Scene`] is rounded to integer triangles and repaired, sorted into tiles,
//! each tile is indexed and its leaves written, and `pack` lays out the image. Every decision is made in integers or in
//! operations that IEEE 754 fixes to the bit, and from order-free facts, so the same scene gives the same image
//! whatever the order of its triangles and the number of threads. `verify` shares no code with the stages.
#![deny(unsafe_code)]

pub mod bench;
pub mod build;
pub mod check;
#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "json")]
pub mod compare;
pub mod demo;
#[cfg(feature = "draw")]
pub mod draw;
pub mod edit;
pub mod export;
pub mod flash;
pub mod grid;
pub mod image;
pub mod import;
mod options;
pub mod query;
mod report;
mod scene;
pub mod settings;
pub mod util;
mod verify;

pub use build::cost::HotSpot;
pub use build::error::{BuildError, Limit, NoSample};
pub use build::job::{FinishedTile, Job, repair, repair_told};
pub use build::{Built, build, build_on, build_recorded};
pub use hardpan_shaders::Stages;
pub use hardpan_shaders::sort::mix;
pub use image::provenance::{Input, MatchedBy, Provenance};
pub use image::{Image, ImageFile};
pub use options::{Fallback, Georeference, MaxCost, Near, Options, Outliers, Rays, SourceError, Split, Undersides};
pub use report::{
    About, Code, CodeEntry, Contested, ErrorQuantiles, Finding, Hint, Outlier, Quantity, Repair, Report, Severity,
};
pub use scene::{HeightField, Material, Scene, Triangle, Wall, WallKind};
pub use settings::Settings;
pub use settings::factors::Factors;
pub use verify::{
    Agreement, Check, Difference, Fault, Faults, FieldError, LeftOut, OtherMaterial, Outcome, Slits, Spot,
    SurfaceError, Verdict, Verify, erased, source_error, verify,
};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;
