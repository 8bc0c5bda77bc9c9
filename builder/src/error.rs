//! Why a scene cannot become an image.

use crate::{Crowd, MaxCost, Outlier};
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
    /// More of the scene lies outside the domain than inside.
    OutsideDomain {
        /// Triangles outside.
        outside: u64,
        /// Triangles given.
        of: u64,
        /// Whose they are, those that lose most first.
        outliers: Vec<Outlier>,
    },
    /// Queries would cost more than they may, however far the ground is divided.
    Cost {
        /// Where they would cost most.
        worst: Crowd,
        /// What they may cost.
        most: MaxCost,
    },
    /// A part of the scene does not fit the format.
    Limit(String),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option(s) | Self::Scene(s) | Self::Limit(s) => f.write_str(s),
            Self::Cost { worst, most } => write!(
                f,
                "{worst}, and {most} are the most; allow {} tests and {} lines at least, or leave out some of what stands there",
                worst.tests.max(most.tests),
                worst.lines.max(most.lines.unwrap_or(0))
            ),
            Self::Empty => f.write_str("no ground: every triangle is vertical or collapsed"),
            Self::OutsideDomain { outside, of, outliers } => {
                write!(f, "{outside} of {of} triangles lie outside the domain:")?;
                for o in outliers.iter().take(3) {
                    write!(f, " {o};")?;
                }
                f.write_str(" take the strays out, or bring the scene in with another scale or coarser steps")
            }
        }
    }
}

impl std::error::Error for BuildError {}
