//! Why a scene cannot become an image.

use crate::build::cost::HotSpot;
use crate::options::OptionError;
use crate::options::{MaxCost, Split};
use crate::report::Outlier;
use crate::util::text::{LONG_NAME, MAX_LISTED, coordinate, counted, decimal, few, grouped, metres};
use std::fmt;

/// Why a scene cannot become an image. Each says what is wrong, where, and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// An option is out of its range.
    Option(String),
    /// The scene contradicts itself.
    Scene(String),
    /// There is no ground in the scene.
    Empty,
    /// Most of a source lies outside the domain.
    OutsideDomain {
        /// Triangles of the scene.
        triangles: u64,
        /// Whose triangles lie outside, those that lose most first.
        outliers: Vec<Outlier>,
        /// The middle of the domain, metres: near the median of the ground's vertices.
        origin: [f64; 3],
        /// How far the domain reaches from there in plan and in height, metres.
        reach: [f64; 2],
        /// An origin about which the domain holds all of the scene, metres.
        holds: Option<[f64; 3]>,
    },
    /// Queries would cost more than they may, however far the ground is divided.
    Cost {
        /// Where they would cost most.
        worst: HotSpot,
        /// Limits of their cost.
        most: MaxCost,
        /// With this the ground can be divided, for it was.
        enough: MaxCost,
    },
    /// A part of the scene does not fit the format.
    Limit(Limit),
    /// The ground cannot be sampled so.
    Sample(NoSample),
    /// A field of heights has one material, and the ground is of these.
    Materials(Vec<String>),
    /// No field of heights keeps the size and the error that are asked for.
    Fit(Box<Unfit>),
}

/// A field of heights, by its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// Bytes of the image.
    pub bytes: u64,
    /// Way from post to post, and the error with which posts are stored, metres.
    pub pitch: f64,
    pub tolerance: f64,
    /// Posts with a height, and how many of them lie over no ground of the source: there nothing can be measured.
    pub posts: u64,
    pub beyond: u64,
    /// The largest error in height, metres, where it is, and at how many places it was measured.
    pub error: f64,
    pub at: [f64; 3],
    pub places: u64,
    /// The error that the image states, metres.
    pub stated: f64,
}

/// Why no field of heights keeps a size and an error.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfit {
    /// The bytes and the error that are asked for.
    pub size: Option<u64>,
    pub max_error: Option<f64>,
    /// The least image that keeps the error, or without one the least of all.
    pub least_size: Option<Tried>,
    /// The least error that keeps the size, or without one the least of all.
    pub least_error: Option<Tried>,
}

impl Unfit {
    /// A size and an error that can be had instead.
    pub fn instead(&self) -> [Option<String>; 2] {
        let size = self.size.and(self.least_size).map(|t| t.bytes.to_string());
        // rounded up to four digits
        let error = self.max_error.and(self.least_error).map(|t| {
            let unit = 10f64.powi(t.stated.log10().floor() as i32 - 3);
            decimal(format!("{:.3e}", (t.stated / unit).ceil() * unit).parse().unwrap_or(t.stated))
        });
        [size, error]
    }
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let apart = |t: &Tried| format!("posts {} m apart", decimal(t.pitch));
        let off = |t: &Tried| {
            let [x, y, z] = t.at.map(coordinate);
            format!("{} at {x},{y},{z}, by {}", metres(t.error), apart(t))
        };
        let bytes = |n: u64| format!("{} bytes", grouped(n));
        match (self.size, self.max_error, &self.least_size) {
            (Some(size), Some(error), Some(t)) => {
                write!(f, "an error of {} takes {} at least, by {}", metres(error), bytes(t.bytes), apart(t))?;
                write!(f, ", and {} are asked for", bytes(size))?;
            }
            (Some(size), None, Some(t)) => {
                write!(f, "no image of this ground has {} or less", bytes(size))?;
                write!(f, ": the least has {}, by {}", bytes(t.bytes), apart(t))?;
            }
            (_, Some(error), _) => write!(f, "no posts keep an error of {}", metres(error))?,
            _ => f.write_str("no field of heights holds this ground")?,
        }
        match (&self.least_error, self.size) {
            (Some(t), Some(size)) => write!(f, "; within {} the least error is {}", bytes(size), off(t)),
            (Some(t), None) => write!(f, "; the least error is {}", off(t)),
            _ => Ok(()),
        }
    }
}

impl From<Limit> for BuildError {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl From<OptionError> for BuildError {
    fn from(OptionError(text): OptionError) -> Self {
        BuildError::Option(text)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(s) | Self::Scene(s) => f.write_str(s),
            Self::Limit(limit) => limit.fmt(f),
            Self::Sample(why) => why.fmt(f),
            Self::Fit(unfit) => unfit.fmt(f),
            Self::Materials(all) => {
                let names = few(all.iter().map(|name| format!("{name:?}")), all.len() as u64);
                write!(f, "a field of heights has one material, and this ground is of {names}")
            }
            Self::Cost { worst, most, enough } => {
                write!(f, "{worst}, and {most} are the most; leave out some of what stands there, or allow {enough}")
            }
            Self::Empty => f.write_str("no ground: every triangle is vertical or collapsed"),
            Self::OutsideDomain { triangles, outliers, origin: [x, y, z], reach: [plan, height], holds } => {
                let outside = outliers.iter().map(|o| o.triangles).sum();
                let objects = match outliers.iter().filter(|o| o.share > 0.5).count() {
                    1 => "an object".into(),
                    n => format!("{n} objects"),
                };
                write!(
                    f,
                    "{} of {} triangles lie outside the domain, among them most of {objects}; an image has room for what lies within {plan} m in plan and {height} m in height of ({x}, {y}, {z}), near which most vertices are; outside lie:",
                    grouped(outside),
                    grouped(*triangles)
                )?;
                let sources = outliers.iter().map(|o| format!("\n  {o}, {:.0} % of it", o.share * 100.0));
                sources.take(MAX_LISTED).try_for_each(|line| f.write_str(&line))?;
                if let more @ 1.. = outliers.len().saturating_sub(MAX_LISTED) {
                    write!(f, "\n  and {more} more")?;
                }
                match holds {
                    Some([x, y, z]) => write!(
                        f,
                        "\nabout another origin one image holds all of it: origin = [{x:.1}, {y:.1}, {z:.1}] under [build]\nor "
                    )?,
                    None => f.write_str("\none image cannot hold all of it, wherever its origin is\n")?,
                }
                f.write_str(
                    "leave out what does not belong here: include = false (instead of true) in its [[material]]\
                     \nor move it here, or build it apart, or give another scale or coarser steps\
                     \nor let all that lies outside go: outliers = \"drop\" under [build]",
                )
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// Reasons why a build ends: limits of the format, of the work, or of memory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Limit {
    /// The scene lies too far from its zero.
    Far,
    /// A height field reaches beyond the domain.
    FieldExtent,
    /// A height field of this pitch, metres, and what of it does not fit.
    Field { pitch: f64, fault: &'static str },
    /// A field of heights would have so many posts along an axis, and so many may be.
    FieldLength { posts: u64, most: u64 },
    /// There would be more posts than this.
    Posts { most: u64 },
    /// Squares of this side, metres, are smaller than the lattice's step.
    SmallSquares { side: f64, step: f64 },
    /// So many columns and rows of squares are more than may be; squares of this side, metres, are not.
    Squares { count: [u64; 2], most: u64, side: f64 },
    /// More materials or sources than can be numbered.
    Names,
    /// A name is too long.
    LongName,
    /// A tile has so many pairs of material and source; in tiles of 2^`tile_log2` plan steps it has few enough, if
    /// there are such.
    Attributes { pairs: usize, most: usize, tile_log2: Option<u32> },
    /// A tile takes more bytes than it may; smaller ones than of 2^`tile_log2` plan steps may not.
    TileBytes { tile_log2: u32 },
    /// Tiles of 2^`tile_log2` plan steps are too small, and why; these are not, if there are such.
    SmallTiles { tile_log2: u32, why: String, larger: Option<u32> },
    /// Too many surfaces lie over one place.
    Surfaces,
    /// Too many ceilings and obstacles lie over one block of cells.
    Walls,
    /// Build parameters divide ground of so many triangles into more index than so many bytes.
    Split { split: Split, most: u64, triangles: u64 },
    /// All tiles together take more bytes than they may.
    ImageBytes,
    /// An image of so many bytes, or of more than can be counted, has no room in memory; and what the system says.
    Memory { bytes: Option<usize>, why: String },
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Far => f.write_str("the scene lies too far from its zero; move it closer"),
            Self::FieldExtent => f.write_str("a height field reaches beyond the domain; use coarser steps"),
            Self::Field { pitch, fault } => write!(f, "a height field of pitch {pitch} m {fault}"),
            Self::FieldLength { posts, most } => write!(
                f,
                "a field of heights has {} posts along an axis at most, and this one has {}; take a larger distance",
                grouped(*most),
                grouped(*posts)
            ),
            Self::Posts { most } => write!(f, "more than {} posts; take a larger pitch", grouped(*most)),
            Self::SmallSquares { side, step } => {
                write!(f, "squares of {side} m are smaller than the lattice's step of {step} m")
            }
            Self::Squares { count, most, side } => {
                let [columns, rows] = count.map(grouped);
                let (most, side) = (grouped(*most), decimal(*side));
                write!(f, "{columns} x {rows} squares are more than {most}; take larger ones, of {side} m")
            }
            Self::Names => f.write_str("more than 65,535 materials or sources"),
            Self::LongName => write!(f, "{}; {}", LONG_NAME[0], LONG_NAME[1]),
            Self::Attributes { pairs, most, tile_log2 } => {
                write!(f, "one tile has {pairs} pairs of material and source, and {most} is the most: ")?;
                match tile_log2 {
                    Some(log2) => write!(f, "use smaller tiles, tile_log2 = {log2}"),
                    None => f.write_str("join some of its objects or materials"),
                }
            }
            Self::TileBytes { tile_log2 } => {
                write!(f, "a tile is larger than 2 GiB: use smaller tiles, tile_log2 below {tile_log2}")
            }
            Self::SmallTiles { tile_log2, why, larger } => {
                write!(f, "tiles of {} plan steps are too small for this scene: {why}; ", 1u64 << tile_log2)?;
                match larger {
                    Some(log2) => write!(f, "use larger tiles, tile_log2 = {log2}"),
                    None => f.write_str(
                        "no larger ones fit it; build it in parts, or leave out some of what reaches so far",
                    ),
                }
            }
            Self::Walls => f.write_str(
                "too many ceilings and obstacles lie over one place; leave some out, or all: rays = \"extents\" under [build]",
            ),
            Self::Surfaces => f.write_str("more than a million surfaces over one place"),
            Self::Split { split, most, triangles } => write!(
                f,
                "{} divides this ground too far: it asks for more than {} MiB of index for {}; leave it out, or give a greater bundle_size or min_volume",
                split.title(),
                most >> 20,
                counted(*triangles, "triangle")
            ),
            Self::ImageBytes => f.write_str("an image holds at most 512 GiB of tiles"),
            Self::Memory { bytes: Some(bytes), why } => {
                write!(f, "there is no memory for an image of {bytes} bytes ({why})")
            }
            Self::Memory { bytes: None, .. } => f.write_str("the image is larger than memory"),
        }
    }
}

/// Why ground cannot be sampled as it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSample {
    /// Faces are to be ignored, and there are none.
    FacesOfFields,
    /// A rule of whole squares, on fields of heights.
    SquaresOfFields,
    /// The oracle, on fields of heights.
    OracleOfFields,
    /// The oracle, by a rule of whole squares.
    OracleOfSquares,
    /// Faces are to be ignored, and some of the ground hides other ground.
    FacesOfPrecedence,
    /// A rule of whole squares, where some of the ground hides other ground.
    SquaresOfPrecedence,
    /// The oracle, where some of the ground hides other ground.
    OracleOfPrecedence,
}

impl fmt::Display for NoSample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FacesOfFields => "the image holds fields of heights, which have no faces to ignore",
            Self::SquaresOfFields => "the image holds fields of heights, and rules of whole cells are of triangles",
            Self::OracleOfFields => "the image holds fields of heights, and the oracle is of triangles",
            Self::OracleOfSquares => "the oracle asks at centres, and this rule is of whole cells",
            Self::FacesOfPrecedence => {
                "some of the ground has precedence, and a face that is ignored would still hide other ground"
            }
            Self::SquaresOfPrecedence => {
                "some of the ground has precedence, and rules of whole cells do not know what is hidden"
            }
            Self::OracleOfPrecedence => {
                "some of the ground has precedence, and the oracle does not know what is hidden"
            }
        })
    }
}
