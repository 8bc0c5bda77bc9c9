//! Metres and lattice steps: the one conversion between them outside of the stages.

use super::exact::exp2;
use hardpan::format::{FRACTION, Header};

/// The steps of an image, in metres; all are powers of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// In x and y.
    pub plan: f64,
    /// In height.
    pub height: f64,
    /// The origin of the lattice, in steps.
    origin: [i64; 3],
}

impl Steps {
    /// The steps of an image.
    pub fn of(h: &Header) -> Self {
        Steps { plan: exp2(h.xy_log2), height: exp2(h.z_log2), origin: h.origin }
    }

    /// The step along an axis.
    pub fn along(&self, axis: usize) -> f64 {
        if axis == 2 { self.height } else { self.plan }
    }

    /// A place, given in steps from the origin along an axis.
    pub fn place(&self, axis: usize, steps: i64) -> f64 {
        (self.origin[axis] + steps) as f64 * self.along(axis)
    }

    /// A place, given in query steps from the origin along an axis.
    pub fn query_place(&self, axis: usize, steps: i64) -> f64 {
        ((self.origin[axis] << FRACTION) + steps) as f64 * self.along(axis) * query()
    }

    /// A height or a length in height, given in query steps.
    pub fn query_height(&self, steps: i64) -> f64 {
        steps as f64 * self.height * query()
    }

    /// Query steps of a length in height, rounded to nearest, ties to even.
    pub fn to_query_height(&self, metres: f64) -> f64 {
        (metres / (self.height * query())).round_ties_even()
    }

    /// The nearest step to a place along an axis, from the origin.
    pub fn to_steps(&self, axis: usize, metres: f64) -> i64 {
        (metres / self.along(axis)).round_ties_even() as i64 - self.origin[axis]
    }

    /// A length in plan of 2 to so many steps.
    pub fn power(&self, log2: u32) -> f64 {
        exp2(log2 as i32) * self.plan
    }
}

/// A query step, in steps.
fn query() -> f64 {
    exp2(-(FRACTION as i32))
}
