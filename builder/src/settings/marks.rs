//! Marks on the ground of a scene: trails and potholes.

use crate::util::serde_ext::{each_exactly, exactly};
use serde::{Deserialize, Serialize};

/// A trail, as bands of the materials `trail` and `track`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trail {
    /// Width of all of it, metres.
    pub width: f64,
    /// Width of each of its two tracks, metres.
    pub track_width: f64,
    /// Distance of the middles of its tracks, metres.
    pub wheelbase: f64,
    /// Its middle line, metres.
    #[serde(deserialize_with = "each_exactly")]
    pub points: Vec<[f64; 2]>,
}

/// A round hole, deepest in its middle: a paraboloid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pothole {
    /// Its depth in the middle, metres.
    pub depth: f64,
    /// The diameter of its rim, metres.
    pub diameter: f64,
    /// Its middle, metres.
    #[serde(deserialize_with = "exactly")]
    pub at: [f64; 2],
}

impl Trail {
    pub(super) fn fault(&self) -> Option<&'static str> {
        let is_width = |v: f64| (0.0..1e6).contains(&v);
        let wrong = ![self.width, self.track_width, self.wheelbase].into_iter().all(is_width);
        let beyond = self.points.iter().flatten().any(|v| v.is_nan() || v.abs() > 1e12);
        let texts = [
            (wrong, "widths and the wheelbase go from 0 to 1,000,000 m"),
            (beyond || self.points.len() < 2, "points are two or more pairs of metres"),
        ];
        texts.into_iter().find(|(is, _)| *is).map(|(_, text)| text)
    }
}

impl Pothole {
    pub(super) fn fault(&self) -> Option<&'static str> {
        let is = |v: f64| v > 0.0 && v < 1e6;
        let texts = [
            (!is(self.depth) || !is(self.diameter), "depth and diameter are numbers above 0, in metres"),
            (self.at.iter().any(|v| v.is_nan() || v.abs() > 1e12), "at is [x, y] in metres"),
        ];
        texts.into_iter().find(|(is, _)| *is).map(|(_, text)| text)
    }
}
