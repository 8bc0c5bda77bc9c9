//! Findings of an analysis: values that programs read and the command words.

mod code;

use crate::util::text as names;
use std::fmt;

use serde::Serialize;

pub use code::{About, Code, CodeEntry};

/// One thing that was found, in one form of JSON: of `check`, of a build, and by the names of its checks of `verify`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding<C = Code> {
    pub code: C,
    pub severity: Severity,
    /// File, source or material that it is of; empty if it is of all the ground.
    pub subject: String,
    /// Where it is, metres, in the frame of the image; NaN for a height that is not known.
    pub place: Option<[f64; 3]>,
    /// How large it is.
    pub values: Vec<Quantity>,
    /// The fact, in one sentence without full stop.
    pub text: String,
    /// The remedy.
    pub hint: Hint,
}

/// A number with its name and unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantity {
    pub name: &'static str,
    pub value: f64,
    /// `m`, `m2`, `%`, `deg`, or empty for a count or a number of the file.
    pub unit: &'static str,
}

/// The remedy of a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// A key of the source in the settings, and the value that mends it, or an empty one if only the user knows it. An
    /// option of the command may have the same name.
    Set { key: &'static str, value: String },
    /// Work on the source.
    Mend(String),
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    /// No image is made, unless its kind is allowed.
    Error,
}

impl Finding {
    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|q| q.name == name).map(|q| q.value)
    }
}

/// Report of a scene on its way into an image.
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
    /// Triangles that are no ground, by reason.
    pub left_out: LeftOut,
    /// Ceilings and obstacles that are stored for rays.
    pub walls: [u64; 2],
    /// Left out: coincident with another triangle.
    pub duplicates: u64,
    /// How many of the duplicates had another friction than what stays, where priority does not decide.
    pub contested: Option<Contested>,
    /// Triangles that give friction alone and lie over no ground.
    pub bare: Option<Bare>,
    /// Counts of welding.
    pub weld: Repair,
    /// Counts of stitching.
    pub stitch: Repair,
    /// Whether the scene's numbers were rounded to single precision, far from zero. For files ask
    /// [`check::source`](crate::check::source()).
    pub precision: Option<Finding>,
    /// Error in height by shares of the plan area: triangles as given against the image.
    pub error_quantiles: ErrorQuantiles,
    /// Height posts given.
    pub posts: u64,
    /// The image that was written.
    pub packed: Packed,
}

/// Triangles that are no ground, each with the first reason that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Triangles of materials that are not included.
    pub excluded: u64,
    /// Triangles of materials that are obstacles.
    pub obstacles: u64,
    /// Two or three corners on one lattice point, or all on one line.
    pub collapsed: u64,
    /// Zero plan area on the lattice, with extent in height.
    pub vertical: u64,
    /// Undersides.
    pub ceilings: u64,
    /// Steeper than the limit.
    pub steep: u64,
}

/// Counts of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packed {
    /// Error against the source in plan and height, metres: rounding, repairs and the fit of height fields.
    pub error: [f64; 2],
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

/// Coincident triangles of equal priority, which look the same way and differ in mu, rolling resistance or gain: by
/// name one stayed.
#[derive(Clone, Debug, PartialEq)]
pub struct Contested {
    /// How many went.
    pub triangles: u64,
    /// Material of the first that stayed.
    pub stays: String,
    /// Material of what went there.
    pub goes: String,
}

/// Triangles of a material that gives friction alone, without ground at their middle or just within a corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Bare {
    /// How many.
    pub triangles: u64,
    /// The material of the first.
    pub material: String,
    /// A place of it without ground, metres.
    pub at: [f64; 3],
}

/// Changes of the ground by a repair.
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
    /// Vertices moved by one step in plan, so that no part of a triangle becomes vertical.
    pub nudged: u64,
    /// Triangles divided, because of vertices near their open edges.
    pub divided: u64,
    /// How many of these were divided at points above or below the vertices.
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
    /// How often, as far as it was looked at, an open vertex still lies in plan within the threshold of an open edge at
    /// another height with no ground between, and a corner of a triangle with such an edge, metres.
    pub slits: u64,
    pub slit: Option<[f64; 3]>,
    /// Part of `left`: vertices with more than [`MAX_NEIGHBOURS`](Self::MAX_NEIGHBOURS) others within the threshold,
    /// which are left alone.
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
    /// Their number.
    pub of: u64,
    /// The greater share of triangles and of their plan area that lies beyond, from 0 to 1.
    pub share: f64,
    /// Their farthest corner, metres.
    pub at: [f64; 3],
}

impl Repair {
    /// Most neighbours within the threshold that a vertex may have and still be joined. A vertex with more lies in a
    /// hot spot, or in a mesh finer than the threshold, which joining would destroy.
    pub const MAX_NEIGHBOURS: u64 = 64;
}

impl fmt::Display for Outlier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outlier { source, triangles, of, at, materials, .. } = self;
        let word = if materials.len() == 1 { "material" } else { "materials" };
        let names = names::few(materials.iter().map(|name| format!("{name:?}")), materials.len() as u64);
        // numbers of hundreds of digits say nothing
        let [x, y, z] = at.map(|v| if v.abs() < 1e15 { v.to_string() } else { format!("{v:e}") });
        write!(f, "{triangles} of {of} triangles of {source:?} ({word} {names}) reach as far as ({x}, {y}, {z})")
    }
}

/// Shares of the plan area, and the error in height that they stay within.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorQuantiles {
    /// Places that were asked.
    pub places: u64,
    /// Error straight up or down that 50, 99 and 99.9 % of them have at most, metres; infinite if so many found no
    /// ground.
    pub height: [f64; 3],
}
