//! Builds Hardpan terrain images.
//!
//! ```
//! use hardpan_builder::{Options, build, fixtures};
//!
//! let built = build(&fixtures::ramp(), &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! let answer = terrain.closest([10.0, 20.0, 0.0]);
//! assert_eq!(terrain.z_f64(&answer.hit), 2.0);
//! ```
//!
//! The stages, in order: `lattice` quantises a [`Scene`] to integer triangles, `tile` sorts them
//! into tiles and indexes each, with `bundle` and `field` writing the leaves, and `pack` lays
//! out the image. Every decision is made in integers or in operations that IEEE 754 fixes to the bit, and
//! from order-free facts, so the same scene gives the same image whatever the order of its triangles and
//! the number of threads.
//!
//! [`verify`] proves an image from its bytes, with code of its own, and [`against`] measures it against its scene.
#![deny(unsafe_code)]

mod bundle;
mod error;
mod field;
pub mod fixtures;
mod grid;
mod image;
mod lattice;
mod map;
mod pack;
mod plan;
mod scene;
mod tile;
mod verify;

pub use error::BuildError;
pub use image::{Image, ImageFile};
pub use scene::{Fallback, HeightField, Material, Options, Scene, Triangle};
pub use verify::{Agreement, Check, Fault, Faults, Lost, Outcome, Side, Spot, Verdict, Verify, against, verify};

/// What was built, and what happened on the way.
pub struct Built {
    /// The image, aligned and ready for [`hardpan::Terrain::open`].
    pub image: Image,
    /// Counts.
    pub report: Report,
}

/// What happened to a scene on its way into an image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Triangles given.
    pub triangles_in: u64,
    /// Triangles stored.
    pub triangles: u64,
    /// Left out: zero plan area on the lattice, with extent in height.
    pub vertical: u64,
    /// Left out: two or three corners on one lattice point, or all on one line.
    pub collapsed: u64,
    /// Left out: coincident with another triangle.
    pub duplicates: u64,
    /// Left out: a corner beyond the domain of 2^31 steps about the origin.
    pub outside: u64,
    /// Height posts given.
    pub posts: u64,
    /// Tiles written.
    pub tiles: u64,
    /// Nodes written.
    pub nodes: u64,
    /// Bundles written.
    pub bundles: u64,
    /// Triangles in bundles; more than `triangles`, since a tile holds all that it touches.
    pub references: u64,
    /// Patch blocks written.
    pub patch_blocks: u64,
    /// Bytes of cell words and their block heads.
    pub index_bytes: u64,
    /// Bytes of bundles and patch blocks.
    pub leaf_bytes: u64,
    /// Bytes of the image.
    pub image_bytes: u64,
}

/// Builds an image of a scene.
pub fn build(scene: &Scene, options: &Options) -> Result<Built, BuildError> {
    options.check()?;
    let mut report = Report::default();
    let mesh = lattice::quantise(scene, options, &mut report)?;
    let tiles = tile::build_all(&mesh)?;
    let image = pack::pack(&mesh, options, tiles, &mut report)?;
    Ok(Built { image, report })
}
