//! Why a scene cannot become an image.

use crate::{
    Crowd, MaxCost, Outlier,
    names::{FEW, grouped},
};
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
        worst: Crowd,
        /// What they may cost.
        most: MaxCost,
        /// With this the ground can be divided, for it was.
        enough: MaxCost,
    },
    /// A part of the scene does not fit the format.
    Limit(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(s) | Self::Scene(s) | Self::Limit(s) => f.write_str(s),
            Self::Cost { worst, most, enough } => {
                let MaxCost { tests, lines } = enough;
                let lines = lines.map(|lines| format!(",{lines}")).unwrap_or_default();
                write!(
                    f,
                    "{worst}, and {most} are the most; allow {enough} (--max-cost {tests}{lines}), or leave out some of what stands there"
                )
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
                sources.take(FEW).try_for_each(|line| f.write_str(&line))?;
                if let more @ 1.. = outliers.len().saturating_sub(FEW) {
                    write!(f, "\n  and {more} more")?;
                }
                match holds {
                    Some([x, y, z]) => {
                        write!(
                            f,
                            "\nabout another origin one image holds all of it: --origin {x},{y},{z}, or origin = [{x:.1}, {y:.1}, {z:.1}] under [build]\nor "
                        )?;
                    }
                    None => f.write_str("\none image cannot hold all of it, wherever its origin is\n")?,
                }
                f.write_str(
                    "leave out what does not belong here: include = false (instead of true) in its [[material]] of the settings\
                     \nor move it here, or build it apart, or give another scale or coarser steps\
                     \nor let all that lies outside go: outliers = \"drop\" under [build]",
                )
            }
        }
    }
}

impl std::error::Error for BuildError {}
