//! How an image is built: the options of a build.

use crate::util::text::counted;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Which triangles are undersides. Wheels do not stand on them: they are ceilings, which rays hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undersides {
    /// Of a source that is exactly closed those that face down, whichever way each of its shells is wound; of any other
    /// none. A shell is a cavity, and looks as the one that it is in, only if it lies wholly inside that. Of the shells
    /// of larger volume that it is inside of or meets, the least must hold it wholly, be wound against it, and be no
    /// cavity; if several are least, each of them. Touching is meeting. So what stands on another, sticks out of it, or
    /// touches it from within is none. Nor is one with more than 4096 triangles over its highest corner, or about one
    /// of its own.
    #[default]
    Auto,
    /// None.
    Ground,
    /// Those that are clockwise seen from above.
    Ceiling,
}

/// Treatment of a source that lies mostly beyond the domain: more than half of its triangles or of their plan area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outliers {
    /// The build stops and names it.
    #[default]
    Stop,
    /// Parts beyond the domain are left out, counted and named, as for any other source.
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

/// Content for rays beside the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rays {
    /// Nothing: an image for vertical queries, on whose ground rays land all the same.
    #[default]
    None,
    /// Heights of cells, by which rays pass over them.
    Extents,
    /// The same, and all ceilings and obstacles: undersides, vertical faces, faces of obstacles, faces too steep for
    /// ground.
    All,
}

/// `none`, `extents` or `all`.
impl FromStr for Rays {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Rays::None),
            "extents" => Ok(Rays::Extents),
            "all" => Ok(Rays::All),
            other => Err(format!("{other:?} is none of none, extents and all")),
        }
    }
}

/// Height of an answer without ground.
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
    #[serde(deserialize_with = "crate::util::serde_ext::some_exactly")]
    pub origin: Option<[f64; 3]>,
    /// Error of the source itself; by default nothing.
    #[serde(deserialize_with = "crate::util::serde_ext::some_table")]
    pub source_error: Option<SourceError>,
    /// The least error in plan and height that the image states as a whole, metres, whatever its tiles state.
    #[serde(skip)]
    pub least_error: [f64; 2],
    /// Where on earth the scene lies, if that is known.
    #[serde(skip)]
    pub crs: Option<Georeference>,
    /// Which triangles are undersides, where their material does not say.
    pub undersides: Undersides,
    /// Whether a source may lose most of itself.
    pub outliers: Outliers,
    /// Vertices so close become one: at zero those on one lattice point.
    #[serde(deserialize_with = "crate::util::serde_ext::table")]
    pub weld: Near,
    /// Open edges and vertices so close are closed up; none (in a settings file `false`) leaves the triangles as they
    /// are.
    #[serde(with = "crate::util::serde_ext::or_false")]
    pub stitch: Option<Near>,
    /// Triangles steeper than so many degrees are left out: above 0, below 90.
    pub max_slope: Option<f64>,
    /// Build parameters of VS Terrain; by default the ground is divided by the work that queries have.
    #[serde(deserialize_with = "crate::util::serde_ext::some_table")]
    pub split: Option<Split>,
    /// Limit of the cost of each query: the ground is divided further until that is met, or the build fails.
    #[serde(deserialize_with = "crate::util::serde_ext::some_table")]
    pub max_cost: Option<MaxCost>,
    /// Content for rays; by default nothing, but `hardpan build` asks for all of a scene with triangles.
    pub rays: Option<Rays>,
    /// Whether the image states the worst cost of rays and tyres too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bounds: bool,
    /// Default near window, metres.
    pub near: f64,
    /// Default far window, metres.
    pub far: f64,
    /// Heights closer than this, in metres, are one layer.
    pub layer_merge: f64,
    /// Ground of lower precedence is hidden no farther than this, in metres, below or above what goes before it.
    #[serde(skip_serializing_if = "is_plain_band")]
    pub precedence_band: f64,
    /// Where there is no ground.
    pub fallback: Fallback,
    /// Height without ground, metres.
    #[serde(deserialize_with = "crate::util::serde_ext::unsigned")]
    pub default_z: f64,
    /// Friction without ground.
    #[serde(deserialize_with = "crate::util::serde_ext::unsigned")]
    pub default_mu: f64,
    /// Rolling resistance without ground.
    #[serde(deserialize_with = "crate::util::serde_ext::unsigned")]
    pub default_rr: f64,
    /// Gain without ground.
    #[serde(deserialize_with = "crate::util::serde_ext::unsigned")]
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
            least_error: [0.0; 2],
            crs: None,
            undersides: Undersides::Auto,
            outliers: Outliers::Stop,
            weld: Near::default(),
            stitch: Some(Near { plan: 4, height: 64 }),
            max_slope: None,
            split: None,
            max_cost: None,
            rays: None,
            bounds: false,
            near: 4.0,
            far: 5000.0,
            layer_merge: 64.0 / 65536.0,
            precedence_band: Options::BAND,
            fallback: Fallback::default(),
            default_z: 0.0,
            default_mu: 1.0,
            default_rr: 1.0,
            default_gain: 1.0,
        }
    }
}

/// Whether it need not be written.
fn is_plain_band(band: &f64) -> bool {
    *band == Options::BAND
}

impl Options {
    /// The band of precedence unless another one is asked for, metres.
    pub const BAND: f64 = 1.0;

    /// Content for rays.
    pub(crate) fn rays(&self) -> Rays {
        self.rays.unwrap_or_default()
    }

    /// Whether every number is in its range; an error says which is not, and the range.
    pub fn check(&self) -> Result<(), OptionError> {
        self.fault().map_or(Ok(()), |(_, range)| Err(OptionError(range.into())))
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
            (
                "precedence_band",
                !(self.precedence_band > 0.0 && self.precedence_band <= 1000.0),
                "the band of precedence is above 0 and at most 1000 m",
            ),
            ("default_z", number(self.default_z), DEFAULTS),
            ("default_mu", window(self.default_mu), DEFAULTS),
            ("default_rr", window(self.default_rr), DEFAULTS),
            ("default_gain", window(self.default_gain), DEFAULTS),
        ];
        all.into_iter().find(|(_, wrong, _)| *wrong).map(|(key, _, range)| (key, range))
    }
}

/// The most that any vertical query may cost: cells are divided until none costs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxCost {
    /// Triangles and patch cells: from 1 on.
    pub tests: u32,
    /// Lines of 64 bytes: from 3 on, which one bundle takes; by default as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

impl MaxCost {
    /// Whether so many tests and lines are within it.
    pub fn allows(&self, tests: u32, lines: u32) -> bool {
        tests <= self.tests && self.lines.is_none_or(|most| lines <= most)
    }

    /// The same limits, raised to this.
    pub(crate) fn raised(self, tests: u32, lines: u32) -> MaxCost {
        MaxCost { tests: self.tests.max(tests), lines: self.lines.map(|most| most.max(lines)) }
    }

    pub(crate) fn is_sane(&self) -> bool {
        self.tests >= 1 && self.lines.is_none_or(|l| l >= 3)
    }
}

impl fmt::Display for MaxCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.tests, "test"))?;
        self.lines.map_or(Ok(()), |lines| write!(f, " and {}", counted(lines, "line")))
    }
}

/// `TESTS` or `TESTS,LINES`.
impl FromStr for MaxCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse::<u32>().map_err(|_| format!("{t:?} is not a whole number"));
        let (tests, lines) = match text.split_once(',') {
            Some((tests, lines)) => (number(tests)?, Some(number(lines)?)),
            None => (number(text)?, None),
        };
        let most = MaxCost { tests, lines };
        if most.is_sane() { Ok(most) } else { Err("tests start at 1, lines at 3".into()) }
    }
}

/// Build parameters of VS Terrain. In a settings file those that are left out are as in [`Split::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// Depth beyond which squares are accepted more easily, step by step: 0 to 64.
    pub depth_tolerance: u32,
    /// A square that at most so many triangles meet is accepted: from 1 on.
    pub bundle_size: u32,
    /// Addition of each step beyond the tolerance to the bundle size, the sum rounded down: from 0 on.
    pub bundle_increase: f64,
    /// A square of less volume is accepted, cubic metres: from 0 on.
    pub min_volume: f64,
    /// Addition of each step beyond the tolerance to the least volume, in least volumes: from 0 on.
    pub volume_increase: f64,
}

impl Default for Split {
    fn default() -> Self {
        Split::DEFAULT
    }
}

impl Split {
    /// For most scenes.
    pub const DEFAULT: Split =
        Split { depth_tolerance: 8, bundle_size: 8, bundle_increase: 0.5, min_volume: 0.125, volume_increase: 1.5 };

    /// For dense scans. These values are ours: VS Terrain does not publish its own.
    pub const DENSE: Split =
        Split { depth_tolerance: 14, bundle_size: 16, bundle_increase: 0.5, min_volume: 1e-4, volume_increase: 1.5 };

    /// All presets, by name.
    pub const PRESETS: &'static [(&'static str, Split)] = &[("default", Split::DEFAULT), ("dense", Split::DENSE)];

    /// The name of its preset, if it is one.
    pub fn preset(&self) -> Option<&'static str> {
        Self::PRESETS.iter().find(|(_, preset)| preset == self).map(|(name, _)| *name)
    }

    /// Its numbers, by their keys in settings.
    pub fn numbers(&self) -> [(&'static str, f64); 5] {
        let Split { depth_tolerance, bundle_size, bundle_increase, min_volume, volume_increase } = *self;
        [
            ("depth_tolerance", depth_tolerance.into()),
            ("bundle_size", bundle_size.into()),
            ("bundle_increase", bundle_increase),
            ("min_volume", min_volume),
            ("volume_increase", volume_increase),
        ]
    }

    /// Its title: its preset, or where settings have it.
    pub fn title(&self) -> String {
        self.preset().map_or("[build.split]".into(), |name| format!("preset {name}"))
    }

    /// Most triangles of a square that is accepted for them, and the volume below which it is accepted, at a depth.
    pub fn limits(&self, depth: u32) -> (u64, f64) {
        let beyond = f64::from(depth.saturating_sub(self.depth_tolerance));
        let size = u64::from(self.bundle_size) + (beyond * self.bundle_increase).floor() as u64;
        (size, self.min_volume * (1.0 + beyond * self.volume_increase))
    }

    /// The first of its numbers that is out of range, as a key under `build`.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let far = |v: f64| !(0.0..=1e9).contains(&v);
        let all = [
            ("split.depth_tolerance", self.depth_tolerance > 64),
            ("split.bundle_size", self.bundle_size < 1),
            ("split.bundle_increase", far(self.bundle_increase)),
            ("split.min_volume", far(self.min_volume)),
            ("split.volume_increase", far(self.volume_increase)),
        ];
        all.into_iter().find(|(_, wrong)| *wrong).map(|(key, _)| key)
    }
}

/// How far a source that was exported from an image is from what that image was built from: an image of it states this
/// and what its own build adds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceError {
    /// In plan and height, metres, where no square says more.
    #[serde(deserialize_with = "crate::util::serde_ext::exactly")]
    pub rest: [f64; 2],
    /// Side of the squares, metres.
    pub side: f64,
    /// Least x and y of a square, and what is off there in plan and height, metres.
    #[serde(deserialize_with = "crate::util::serde_ext::each_exactly")]
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

/// An option that is out of its range, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(pub String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

/// Where on earth a scene lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Georeference {
    /// Codes and numbers; the lengths of names are those of the names here.
    pub record: hardpan::format::Crs,
    /// Name of the plane system.
    pub name: String,
    /// Name of its datum.
    pub datum: String,
    /// Name of the vertical system; empty if it is not known.
    pub vertical: String,
}

impl Georeference {
    /// The system that an image records.
    pub fn of(t: &hardpan::Terrain) -> Option<Self> {
        let (record, names) = t.crs()?;
        let [name, datum, vertical] = names.map(str::to_owned);
        Some(Georeference { record: *record, name, datum, vertical })
    }

    /// The bytes of section CRS. Names that are too long for it are cut.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let names = [&self.name, &self.datum, &self.vertical].map(|name| crate::util::text::bounded(name));
        let [name_len, datum_len, vertical_len] = [0, 1, 2].map(|k| names[k].len() as u16);
        let record = hardpan::format::Crs { name_len, datum_len, vertical_len, ..self.record };
        let names = names.iter().flat_map(|name| name.bytes());
        zerocopy::IntoBytes::as_bytes(&record).iter().copied().chain(names).collect()
    }
}
