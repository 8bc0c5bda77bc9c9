//! What an image is built from.

use crate::{BuildError, MaxCost, Split};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Meshes and height fields, in metres, z up.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// Vertex positions.
    pub positions: Vec<[f64; 3]>,
    /// Triangles between them, in any order and winding.
    pub triangles: Vec<Triangle>,
    /// Materials, which triangles and fields number.
    pub materials: Vec<Material>,
    /// Names of files and objects, which triangles and fields number.
    pub sources: Vec<String>,
    /// Regular heights.
    pub fields: Vec<HeightField>,
}

/// A triangle of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Triangle {
    /// Numbers of its corners.
    pub v: [u32; 3],
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

/// A material of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Its name, which orders it in the image.
    pub name: String,
    /// Friction coefficient, 0 or more.
    pub mu: f64,
    /// Rolling resistance, as a factor, 0 or more.
    pub rr: f64,
    /// Gain, as a factor, 0 or more.
    pub gain: f64,
    /// Surface type: one of [`hardpan::format::surface`], or another number of the user.
    pub surface: u16,
    /// Cone index, PSI, 0 or more; zero if not stated, and then 250 in the image of clay and sand.
    pub cone_index: f64,
    /// Class bits for masks.
    pub class_mask: u32,
    /// Label for sensors.
    pub label: u32,
    /// Which of coincident triangles stays: that of the highest priority.
    pub priority: i32,
    /// Whether its triangles are part of the scene at all.
    pub include: bool,
    /// Whether its triangles are in the way rather than ground: left out, until there are queries that hit them.
    pub obstacle: bool,
    /// Which of its triangles are undersides; by default `Options::undersides`.
    pub undersides: Option<Undersides>,
}

/// Which triangles are undersides. Wheels do not stand on them: they are left out, until there are queries that hit them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undersides {
    /// Of a source that is exactly closed those that face down, whichever way each of its shells is wound; of any other none. A
    /// shell is a cavity, and looks as the one that it is in, only if it lies wholly inside that. Of the shells of larger volume that it
    /// is inside of or meets, the least must hold it wholly, be wound against it, and be no cavity; if several are least, each of them.
    /// Touching is meeting. So what stands on another, sticks out of it, or touches it from within is none. Nor is one with more than
    /// 4096 triangles over its highest corner, or about one of its own.
    #[default]
    Auto,
    /// None.
    Ground,
    /// Those that are clockwise seen from above.
    Ceiling,
}

/// What becomes of a source of which most lies beyond the domain: more than half of its triangles or of their plan area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outliers {
    /// The build stops and names it.
    #[default]
    Stop,
    /// What lies beyond the domain is left out, counted and named, as it is of any other source.
    Drop,
}

/// How far apart things may lie and still touch, in lattice steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// Plan steps.
    pub plan: u32,
    /// Height steps.
    pub height: u32,
}

/// `PLAN,HEIGHT`, in lattice steps.
impl FromStr for Near {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse().map_err(|_| format!("{t:?} is not a whole number of lattice steps"));
        let (plan, height) = text.split_once(',').ok_or("two numbers with a comma between them, PLAN,HEIGHT")?;
        Ok(Near { plan: number(plan)?, height: number(height)? })
    }
}

impl Default for Material {
    /// Without a name: ground with mu, rolling resistance and gain 1, nothing else stated.
    fn default() -> Self {
        Material {
            name: String::new(),
            mu: 1.0,
            rr: 1.0,
            gain: 1.0,
            surface: 0,
            cone_index: 0.0,
            class_mask: 0,
            label: 0,
            priority: 0,
            include: true,
            obstacle: false,
            undersides: None,
        }
    }
}

/// Whether a number can be a factor or the cone index of a material.
pub(crate) fn is_factor(v: f64) -> bool {
    v >= 0.0 && v.is_finite()
}

impl Material {
    /// Whether its triangles can become ground.
    pub(crate) fn is_ground(&self) -> bool {
        self.include && !self.obstacle
    }

    /// A material of which only the friction is known.
    pub fn new(name: impl Into<String>, mu: f64) -> Self {
        Material { name: name.into(), mu, ..Material::default() }
    }
}

impl Scene {
    /// Bytes of its positions and triangles.
    #[cfg(feature = "command")]
    pub(crate) fn bytes(&self) -> u64 {
        (size_of_val(&self.positions[..]) + size_of_val(&self.triangles[..])) as u64
    }
}

/// Heights at the posts of a square grid, bilinear between them.
#[derive(Clone, Debug, Default)]
pub struct HeightField {
    /// The first post: x and y in metres.
    pub origin: [f64; 2],
    /// Distance between posts in metres.
    pub pitch: f64,
    /// Posts from west to east.
    pub columns: usize,
    /// Posts from south to north.
    pub rows: usize,
    /// Heights in metres, row by row from the south; NaN where there is none.
    pub heights: Vec<f64>,
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
    /// Largest error at a post in metres.
    pub tolerance: f64,
}

/// What height an answer without ground has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Fallback {
    /// The bottom of the bounding box (the order of VS Terrain).
    #[default]
    BoundsMinZ = hardpan::format::fallback::BOUNDS_MIN_Z,
    /// `Options::default_z`.
    Default = hardpan::format::fallback::DEFAULT,
    /// `Options::default_z`, which nobody should use.
    Miss = hardpan::format::fallback::MISS,
    /// The height at the nearest place of the bounding rectangle.
    EdgeExtend = hardpan::format::fallback::EDGE_EXTEND,
}

/// How far a source that was exported from an image is from what that image was built from: an image of it states this and
/// what its own build adds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceError {
    /// In plan and height, metres, where no square says more.
    #[serde(deserialize_with = "crate::shapes::exactly")]
    pub rest: [f64; 2],
    /// Side of the squares, metres.
    pub side: f64,
    /// Least x and y of a square, and what is off there in plan and height, metres.
    #[serde(deserialize_with = "crate::shapes::each_exactly")]
    pub squares: Vec<[f64; 4]>,
}

impl SourceError {
    fn is_sane(&self) -> bool {
        let sane = |v: &f64| (0.0..=1e9).contains(v);
        self.rest.iter().all(sane)
            && sane(&self.side)
            && self.side > 0.0
            && self.squares.iter().all(|s| s[..2].iter().all(|v| v.abs() <= 1e12) && s[2..].iter().all(sane))
    }
}

/// How an image is built. In a settings file this is the table `[build]`, with these keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// log2 of the plan step in metres.
    pub xy_log2: i32,
    /// log2 of the height step in metres.
    pub z_log2: i32,
    /// log2 of a tile's side in plan steps; by default it follows from the mean triangle.
    pub tile_log2: Option<u8>,
    /// Where the lattice of the image has its zero: multiples of 4,096 m; by default near the median of the ground.
    #[serde(deserialize_with = "crate::shapes::some_exactly")]
    pub origin: Option<[f64; 3]>,
    /// What the source itself is off by; by default nothing.
    #[serde(deserialize_with = "crate::shapes::some_table")]
    pub source_error: Option<SourceError>,
    /// Which triangles are undersides, where their material does not say.
    pub undersides: Undersides,
    /// Whether a source may lose most of itself.
    pub outliers: Outliers,
    /// Vertices so close become one: at zero those on one lattice point.
    #[serde(deserialize_with = "crate::shapes::table")]
    pub weld: Near,
    /// Open edges and vertices so close are closed up; none (in a settings file `false`) leaves the triangles as they are.
    #[serde(with = "crate::shapes::or_false")]
    pub stitch: Option<Near>,
    /// Triangles steeper than so many degrees are left out: above 0, below 90.
    pub max_slope: Option<f64>,
    /// Build parameters of VS Terrain; by default the ground is divided by the work that queries have.
    #[serde(deserialize_with = "crate::shapes::some_table")]
    pub split: Option<Split>,
    /// What no query may cost more than: the ground is divided further until that is met, or the build fails.
    #[serde(deserialize_with = "crate::shapes::some_table")]
    pub max_cost: Option<MaxCost>,
    /// Default near window, metres.
    pub near: f64,
    /// Default far window, metres.
    pub far: f64,
    /// Heights closer than this, in metres, are one layer.
    pub layer_merge: f64,
    /// Where there is no ground.
    pub fallback: Fallback,
    /// Height without ground, metres.
    #[serde(deserialize_with = "crate::shapes::unsigned")]
    pub default_z: f64,
    /// Friction without ground.
    #[serde(deserialize_with = "crate::shapes::unsigned")]
    pub default_mu: f64,
    /// Rolling resistance without ground.
    #[serde(deserialize_with = "crate::shapes::unsigned")]
    pub default_rr: f64,
    /// Gain without ground.
    #[serde(deserialize_with = "crate::shapes::unsigned")]
    pub default_gain: f64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            xy_log2: -12,
            z_log2: -16,
            tile_log2: None,
            origin: None,
            source_error: None,
            undersides: Undersides::Auto,
            outliers: Outliers::Stop,
            weld: Near::default(),
            stitch: Some(Near { plan: 4, height: 64 }),
            max_slope: None,
            split: None,
            max_cost: None,
            near: 4.0,
            far: 5000.0,
            layer_merge: 64.0 / 65536.0,
            fallback: Fallback::default(),
            default_z: 0.0,
            default_mu: 1.0,
            default_rr: 1.0,
            default_gain: 1.0,
        }
    }
}

impl Options {
    /// Whether every number is in its range; an error says which is not, and the range.
    pub fn check(&self) -> Result<(), BuildError> {
        self.fault().map_or(Ok(()), |(_, range)| Err(BuildError::Option(range.into())))
    }

    /// The first number that is not in its range: its key in settings, and the range.
    pub(crate) fn fault(&self) -> Option<(&'static str, &'static str)> {
        let step = |log2: i32| !(-24..=0).contains(&log2);
        let far = |near: Option<Near>| near.is_some_and(|n| n.plan > 1 << 20 || n.height > 1 << 28);
        let window = |w: f64| !(0.0..=1e6).contains(&w);
        let number = |v: f64| !(-1e6..=1e6).contains(&v);
        const STEPS: &str = "steps go from 2^-24 m to 1 m";
        const REACH: &str = "weld and stitch reach at most 2^20 steps in plan and 2^28 in height";
        const WINDOWS: &str = "windows and the layer distance go from 0 to 1,000,000 m";
        const DEFAULTS: &str = "defaults go from 0 to 1,000,000, that of z from -1,000,000";
        let split = self.split.and_then(|s| s.fault());
        let origin = self.origin.iter().flatten().any(|v| v % 4096.0 != 0.0 || v.abs() > 1e12);
        let all = [
            ("xy_log2", step(self.xy_log2), STEPS),
            ("z_log2", step(self.z_log2), STEPS),
            (
                "tile_log2",
                self.tile_log2.is_some_and(|t| !(6..=26).contains(&t)),
                "a tile's side goes from 2^6 to 2^26 steps",
            ),
            ("origin", origin, "the origin is [x, y, z] in multiples of 4096 m"),
            (
                "source_error",
                self.source_error.as_ref().is_some_and(|e| !e.is_sane()),
                "errors of the source go from 0 to 1e9 m, the side of their squares is above 0",
            ),
            ("weld", far(Some(self.weld)), REACH),
            ("stitch", far(self.stitch), REACH),
            (
                "max_slope",
                self.max_slope.is_some_and(|d| !(d > 0.0 && d < 90.0)),
                "the steepest slope lies between 0 and 90 degrees",
            ),
            (
                split.unwrap_or("split"),
                split.is_some(),
                "the tolerance of a split goes to 64, its bundle size starts at 1, the others go from 0 to 1e9",
            ),
            ("max_cost", self.max_cost.is_some_and(|c| !c.is_sane()), "tests start at 1, lines at 3"),
            ("near", window(self.near), WINDOWS),
            ("far", window(self.far), WINDOWS),
            ("layer_merge", window(self.layer_merge), WINDOWS),
            ("default_z", number(self.default_z), DEFAULTS),
            ("default_mu", window(self.default_mu), DEFAULTS),
            ("default_rr", window(self.default_rr), DEFAULTS),
            ("default_gain", window(self.default_gain), DEFAULTS),
        ];
        all.into_iter().find(|(_, wrong, _)| *wrong).map(|(key, _, range)| (key, range))
    }
}
