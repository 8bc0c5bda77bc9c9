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
//!     fields: vec![],
//! };
//! let built = build(&scene, &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! assert_eq!(terrain.z_f64(&terrain.closest([5.0, 2.0, 0.0]).hit), 0.5);
//! ```
//!
//! | to | read |
//! | --- | --- |
//! | read files | [`import::read`], [`import::Frame`] |
//! | say it all in one file | [`Settings`] |
//! | build from memory | [`Scene`], [`HeightField`], [`Options`], [`build`]; [`build_recorded`] with a [`Provenance`] |
//! | know what was repaired and left out | [`Report`], [`ErrorQuantiles`] |
//! | make tiles one by one | [`Job`] |
//! | build on a graphics card | [`backend`], [`build_on`] |
//! | write and map files | [`Image`], [`ImageFile`], [`files::NewFile`] |
//! | prove an image, measure it against its source | [`verify`](fn@verify), [`source_error`] |
//! | compare it with another image, or with points of another tool | [`compare`] |
//! | build from images, one or several | [`rebuild::Rebuild`], [`merge::Merge`], [`Factors`] |
//! | look into an image | [`info`], [`materials`], [`mod@read`], [`mod@export`] |
//! | time queries | [`mod@bench`] |
//! | sample heights on squares | [`mod@sample`] |
//! | read tables of points, and drives; ask at many | [`table`], [`ask`] |
//! | try it | [`fixtures`], [`proving_ground`] |
//!
//! `pipeline` has the stages in their order: a [`Scene`] is rounded to integer triangles and repaired, sorted into tiles, each tile is
//! indexed and its leaves written, and `pack` lays out the image. Every decision is made in integers or in
//! operations that IEEE 754 fixes to the bit, and from order-free facts, so the same scene gives the same image whatever the order
//! of its triangles and the number of threads. `verify` shares no code with the stages.
#![deny(unsafe_code)]

pub mod again;
pub mod ask;
pub mod backend;
pub mod bench;
pub mod check;
#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "json")]
pub mod compare;
mod cost;
pub mod disjoint_set;
#[cfg(feature = "draw")]
pub mod draw;
mod error;
pub mod export;
mod factors;
pub mod files;
pub mod finding;
pub mod fixtures;
mod image;
pub mod import;
pub mod info;
mod lattice;
mod map;
pub mod materials;
pub mod merge;
pub mod names;
mod pipeline;
mod provenance;
pub mod proving_ground;
pub mod read;
pub mod rebuild;
pub mod sample;
mod scene;
pub mod settings;
mod shapes;
mod split;
mod stage;
pub mod table;
mod verify;

pub use cost::{Crowd, MaxCost};
pub use error::{BuildError, Limit, NoSample};
pub use factors::Factors;
pub use finding::{Code, Finding, Hint, Quantity, Severity};
pub use hardpan_shaders::Stages;
pub use hardpan_shaders::sort::mix;
pub use image::{Image, ImageFile};
pub use pipeline::{FinishedTile, Job, repair, repair_told};
pub use provenance::{Input, MatchedBy, Provenance};
pub use scene::{Fallback, HeightField, Material, Near, Options, Outliers, Scene, SourceError, Triangle, Undersides};
pub use settings::Settings;
pub use split::Split;
pub use stage::error_quantiles::ErrorQuantiles;
pub use verify::{
    Agreement, Check, Fault, Faults, LeftOut, OtherMaterial, Outcome, Slits, Spot, SurfaceError, Verdict, Verify,
    erased, source_error, verify,
};

#[doc = include_str!("../README.md")]
#[cfg(doctest)]
struct Readme;

/// What was built, and what happened on the way.
pub struct Built {
    /// The image, aligned and ready for [`hardpan::Terrain::open`].
    pub image: Image,
    /// Counts.
    pub report: Report,
}

/// What happened to a scene on its way into an image.
///
/// `triangles_in` is the sum of all that are left out, of those that repairs lost, and of `triangles` less those that
/// stitching added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Triangles given.
    pub triangles_in: u64,
    /// Triangles stored.
    pub triangles: u64,
    /// Left out: ground with a corner beyond the domain of 2^31 steps about the origin.
    pub outside: u64,
    /// Whose they are, those that lose most first.
    pub outliers: Vec<Outlier>,
    /// Left out: of a material that is not included.
    pub excluded: u64,
    /// Left out: of a material that is an obstacle.
    pub obstacles: u64,
    /// Left out: two or three corners on one lattice point, or all on one line.
    pub collapsed: u64,
    /// Left out: zero plan area on the lattice, with extent in height.
    pub vertical: u64,
    /// Left out: undersides.
    pub ceilings: u64,
    /// Left out: steeper than the limit.
    pub steep: u64,
    /// Left out: coincident with another triangle.
    pub duplicates: u64,
    /// Of those: of another friction than what stays, where priority does not say which is meant.
    pub contested: Option<Contested>,
    /// What welding did.
    pub weld: Repair,
    /// What stitching did.
    pub stitch: Repair,
    /// Whether the scene's numbers were rounded to single precision, far from zero. For files ask [`check::source`].
    pub precision: Option<Finding>,
    /// Error against the source in plan and height, metres: rounding, repairs and the fit of height fields.
    pub error: [f64; 2],
    /// What of the plan area is how near to the source, triangles as given against the image.
    pub error_quantiles: ErrorQuantiles,
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

/// Coincident triangles of equal priority, which look the same way and differ in mu, rolling resistance or gain: by name one stayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Contested {
    /// How many went.
    pub triangles: u64,
    /// Material of the first that stayed.
    pub stays: String,
    /// Material of what went there.
    pub goes: String,
}

/// What a repair did to the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repair {
    /// Vertices that were joined to another.
    pub joined: u64,
    /// Triangles lost: two of their corners became one, or they lost their plan area.
    pub collapsed: u64,
    /// Triangles lost: coincident with another after the repair.
    pub duplicates: u64,
    /// Triangles lost: parts of walls a hair off the vertical, now upright.
    pub upright: u64,
    /// Vertices moved by one step in plan, for else a part of a triangle would be upright.
    pub nudged: u64,
    /// Triangles divided, because of vertices near their open edges.
    pub divided: u64,
    /// Of those, at points above or below the vertices.
    pub levelled: u64,
    /// Vertices joined and triangles divided before the first of those, in all if there are none.
    pub before_levelled: u64,
    /// Triangles that dividing added; at many vertices it makes points inside the triangle, too.
    pub added: u64,
    /// Edges with one user in the end.
    pub open_edges: u64,
    /// Open vertices that still lie within the threshold of another or of an open edge, as far as they were looked at:
    /// mending them would take ground away or move it too far, or they are `crowded`. Of welding: vertices within the
    /// threshold of another. Zero if there are none.
    pub left: u64,
    /// How often, as far as it was looked at, an open vertex still lies in plan within the threshold of an open edge at another height
    /// with no ground between, and a corner of a triangle with such an edge, metres.
    pub slits: u64,
    pub slit: Option<[f64; 3]>,
    /// Of `left`, vertices with more than [`CROWD`](Self::CROWD) others within the threshold: they are let be.
    pub crowded: u64,
    /// Farthest that a place of the ground was moved, metres in plan and in height.
    pub moved: [f64; 2],
}

/// Triangles of one source beyond the domain; those of materials that are no ground do not count.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// File or object.
    pub source: String,
    /// Names of the materials of what lies beyond.
    pub materials: Vec<String>,
    /// How many triangles.
    pub triangles: u64,
    /// Of how many.
    pub of: u64,
    /// The greater share of triangles and of their plan area that lies beyond, from 0 to 1.
    pub share: f64,
    /// Their farthest corner, metres.
    pub at: [f64; 3],
}

impl Repair {
    /// Most others that a vertex may have within the threshold to be joined to one of them, or they to it: more are no mesh
    /// with gaps, but a heap, or a mesh finer than the threshold, of which joining would leave nothing.
    pub const CROWD: u64 = 64;
}

impl std::fmt::Display for Outlier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Outlier { source, triangles, of, at, materials, .. } = self;
        let word = if materials.len() == 1 { "material" } else { "materials" };
        let names = names::few(materials.iter().map(|name| format!("{name:?}")), materials.len() as u64);
        // numbers of hundreds of digits say nothing
        let [x, y, z] = at.map(|v| if v.abs() < 1e15 { v.to_string() } else { format!("{v:e}") });
        write!(f, "{triangles} of {of} triangles of {source:?} ({word} {names}) reach as far as ({x}, {y}, {z})")
    }
}

/// Builds an image of a scene.
pub fn build(scene: &Scene, options: &Options) -> Result<Built, BuildError> {
    build_recorded(scene, options, None)
}

/// [`build`], with a record of where the scene came from; the identity is the same with any record.
pub fn build_recorded(scene: &Scene, options: &Options, provenance: Option<&Provenance>) -> Result<Built, BuildError> {
    build_on(scene, options, provenance, &hardpan_shaders::Cpu::new())
}

/// [`build_recorded`], with the data-parallel stages on a backend: the bytes do not depend on it.
pub fn build_on(
    scene: &Scene,
    options: &Options,
    provenance: Option<&Provenance>,
    stages: &dyn Stages,
) -> Result<Built, BuildError> {
    let mut built = build_read(scene, options, provenance, stages)?;
    built.report.precision = check::precision(scene);
    Ok(built)
}

/// [`build_on`] for scenes of files and images, whose own numbers are judged when they are read.
fn build_read(
    scene: &Scene,
    options: &Options,
    provenance: Option<&Provenance>,
    stages: &dyn Stages,
) -> Result<Built, BuildError> {
    let job = Job::new_on(scene, options, stages)?;
    let tiles = job.all(stages)?;
    job.image(tiles, provenance)
}
