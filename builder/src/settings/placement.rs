//! Where a source stands that is placed more than once.

use super::frame::{Frame, Native, Transform, Unit, Up};
use super::is_turn;
use crate::util::serde_ext::{Scale, each_exactly, exactly, some_exactly};
use serde::{Deserialize, Serialize};

/// A place of a source, whose numbers are metres by then. In this order: scale, roll, pitch, yaw, at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// One factor, or one for each of x, y and z. A factor below 0 mirrors; none is 0.
    pub scale: Option<Scale>,
    /// First turn, about x, in degrees, -360 to 360.
    pub roll_deg: Option<f64>,
    /// Second turn, about y, in degrees, -360 to 360.
    pub pitch_deg: Option<f64>,
    /// Last turn, about up, in degrees, anticlockwise seen from above, -360 to 360.
    pub yaw_deg: Option<f64>,
    /// Way moved after all else, in metres.
    #[serde(deserialize_with = "some_exactly")]
    pub at: Option<[f64; 3]>,
}

impl Placement {
    /// Its effect on metres.
    pub(crate) fn transform(&self) -> Transform {
        let frame = Frame {
            scale: self.factors(),
            roll: self.roll_deg.unwrap_or(0.0),
            pitch: self.pitch_deg.unwrap_or(0.0),
            rotate: self.yaw_deg.unwrap_or(0.0),
            translate: self.at.unwrap_or_default(),
            ..Frame::default()
        };
        frame.transform(&Native::silent(Up::Z, Unit::M))
    }

    fn factors(&self) -> [f64; 3] {
        self.scale.map_or([1.0; 3], Scale::each)
    }

    /// Whether faces that are wound one way come out wound the other way.
    pub(crate) fn mirrors(&self) -> bool {
        self.factors().iter().filter(|v| **v < 0.0).count() % 2 == 1
    }

    /// A key with a number that it cannot have, and why.
    pub(super) fn fault(&self) -> Option<(&'static str, &'static str)> {
        let turns = [("roll_deg", self.roll_deg), ("pitch_deg", self.pitch_deg), ("yaw_deg", self.yaw_deg)];
        let turn = turns.into_iter().find(|(_, v)| v.is_some_and(|v| !is_turn(v)));
        if let Some((key, _)) = turn {
            return Some((key, "a turn must lie between -360 and 360"));
        }
        if self.factors().iter().any(|v| *v == 0.0 || !v.is_finite()) {
            return Some(("scale", "a factor of scale must be a number other than 0"));
        }
        let beyond = self.at.iter().flatten().any(|v| !v.is_finite());
        beyond.then_some(("at", "at is [x, y, z] in metres"))
    }
}

/// Places drawn at random on the ground of other sources. The same seed gives the same places on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scatter {
    /// How many.
    pub number: u32,
    /// Corners of the polygon in which they lie, in metres, three at least.
    #[serde(deserialize_with = "each_exactly")]
    pub polygon: Vec<[f64; 2]>,
    /// Least and greatest factor for all axes, or those of x, y and z; by default 1.
    #[serde(default = "one", deserialize_with = "each_exactly")]
    pub scale: Vec<[f64; 2]>,
    /// Way moved after that, in metres.
    #[serde(default, deserialize_with = "exactly")]
    pub offset: [f64; 3],
    /// Least distance of two of them in plan, in metres.
    #[serde(default)]
    pub spacing: f64,
    /// Names, or else files, of the sources they stand on; by default all that are ground and not scattered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on: Vec<String>,
    /// Another number gives other places.
    #[serde(default)]
    pub seed: u32,
}

fn one() -> Vec<[f64; 2]> {
    vec![[1.0; 2]]
}

impl Scatter {
    /// A key with a value that it cannot have, and why.
    pub(super) fn fault(&self) -> Option<(&'static str, &'static str)> {
        let is_range = |[low, high]: &[f64; 2]| *low > 0.0 && low <= high && high.is_finite();
        let all = [
            ("polygon", self.polygon.len() < 3, "a polygon has three corners at least"),
            (
                "polygon",
                self.polygon.iter().flatten().any(|v| !v.is_finite()),
                "corners of the polygon are [x, y] in metres",
            ),
            ("polygon", self.area() == 0.0, "the polygon has no area"),
            ("scale", ![1, 3].contains(&self.scale.len()), "scale is [[least, greatest]], or three of these"),
            ("scale", !self.scale.iter().all(is_range), "factors go from a number above 0 to one that is no less"),
            ("offset", self.offset.iter().any(|v| !v.is_finite()), "offset is [x, y, z] in metres"),
            (
                "spacing",
                !(self.spacing >= 0.0 && self.spacing.is_finite()),
                "spacing is a number of 0 or more, in metres",
            ),
        ];
        all.into_iter().find(|(_, wrong, _)| *wrong).map(|(key, _, why)| (key, why))
    }

    /// Twice the area of the polygon, whichever way it is wound.
    fn area(&self) -> f64 {
        let next = self.polygon.iter().cycle().skip(1);
        self.polygon.iter().zip(next).map(|([x, y], [u, v])| x * v - y * u).sum::<f64>().abs()
    }
}
