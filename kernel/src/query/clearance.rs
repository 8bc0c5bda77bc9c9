//! How much room there is above the ground, and whether one may step from one place to another.

use crate::format::FRACTION;
use crate::hit::{Answer, Status, Windows};
use crate::open::Terrain;
use crate::point::{IntoPoint, Point, exp2};
use crate::query::Options;
use crate::query::ray::{Ray, RayAnswer, RayOptions, RayStatus};
use crate::query::walk::MAX_HEIGHT;

/// The ground at a place, and the next surface above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clearance {
    /// The ground, as [`Terrain::closest`] finds it.
    pub ground: Answer,
    /// The first surface of any kind that the image holds straight above that ground.
    pub above: RayAnswer,
}

impl Clearance {
    /// The free height in 2^-8 of the height step; none without ground, or where nothing is above it.
    pub fn free(&self) -> Option<i64> {
        (self.ground.found() && self.above.found()).then(|| self.above.hit.at.z.wrapping_sub(self.ground.hit.z))
    }
}

/// Who steps: on which ground, how high, and how much room is needed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mover {
    /// Classes of ground that it may use; zero: any.
    pub classes: u32,
    /// Highest step up or down, in metres.
    pub step: f64,
    /// Free height that it needs, in metres; zero asks for none.
    pub height: f64,
}

/// Whether one may step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum StepStatus {
    /// One may.
    Free,
    /// There is no ground of the classes where one stands.
    NoGroundHere,
    /// There is no ground of the classes at the other place, as high or low as a step.
    NoGroundThere,
    /// The room above the other place is too low.
    TooLow,
    /// A surface stands between the places, higher than a step.
    Blocked,
}

/// A step from one place to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Whether one may.
    pub status: StepStatus,
    /// The ground where one stands.
    pub from: Answer,
    /// The ground at the other place.
    pub to: Answer,
}

impl<'a> Terrain<'a> {
    /// The ground nearest to a point, and the room above it: what a lorry under a bridge or a person under a lamp
    /// needs.
    pub fn clearance(&self, p: impl IntoPoint) -> Clearance {
        let ground = self.closest(p);
        let above = match self.point(p).filter(|_| ground.found()) {
            Some(p) => self.above(Point { z: ground.hit.z, ..p }),
            None => RayAnswer::of(RayStatus::Clear),
        };
        Clearance { ground, above }
    }

    /// The first surface straight above a place, not at it.
    fn above(&self, from: Point) -> RayAnswer {
        let to = Point { z: from.z.saturating_add((MAX_HEIGHT - 1) as i64), ..from };
        self.raycast(Ray { from, to }, &RayOptions { after: Some(0.0), ..RayOptions::default() })
    }

    /// The free height of a place in metres; none without ground, or where nothing is above it.
    pub fn free_f64(&self, clearance: &Clearance) -> Option<f64> {
        clearance.free().map(|free| free as f64 * exp2(self.header.z_log2 - FRACTION as i32))
    }

    /// Whether a mover that stands on the ground nearest to `from` can step to the ground at `to`, whose height does
    /// not matter.
    ///
    /// It can where that has ground of its classes, no higher or lower than a step, with room above, and where nothing
    /// that is higher than a step stands between: a ray from place to place at that height is free.
    pub fn can_step(&self, from: impl IntoPoint, to: impl IntoPoint, mover: &Mover) -> Step {
        let options = self.options();
        let here = self.closest_of(from, mover.classes, &options);
        let unknown = |status| Step { status, from: here, to: Answer::NONE };
        let (Some(from), Some(to)) = (self.point(from).filter(|_| here.found()), self.point(to)) else {
            return unknown(if here.found() { StepStatus::NoGroundThere } else { StepStatus::NoGroundHere });
        };
        let steps = |metres: f64| {
            let steps = metres * exp2(FRACTION as i32 - self.header.z_log2);
            if steps >= 0.0 { (libm::rint(steps) as i64).min((MAX_HEIGHT - 1) as i64) } else { 0 }
        };
        let (step, height) = (steps(mover.step), steps(mover.height));
        let level = Point { z: here.hit.z, ..to };
        let windows = Windows { near: step, far: 0 };
        let there = self.closest_of(level, mover.classes, &Options { windows, ..options });
        let found = |status| Step { status, from: here, to: there };
        if there.status != Status::Found {
            return found(StepStatus::NoGroundThere);
        }
        let head = self.above(Point { z: there.hit.z, ..to });
        if head.found() && head.hit.at.z.wrapping_sub(there.hit.z) < height {
            return found(StepStatus::TooLow);
        }
        let over = |p: Point, z: i64| Point { z: z.wrapping_add(step).wrapping_add(1), ..p };
        let ray = Ray { from: over(from, here.hit.z), to: over(to, there.hit.z) };
        let between = self.raycast(ray, &RayOptions::default());
        found(if between.found() { StepStatus::Blocked } else { StepStatus::Free })
    }
}
