//! Several rays of one body: sensors of a vehicle, traces of its wheels.

use crate::open::Terrain;
use crate::query::ray::{RayAnswer, RayOptions};

/// Where a body is: its centre, and its forward, left and upward axes in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Pose {
    /// The centre, in metres.
    pub centre: [f64; 3],
    /// Forward, left and up: unit vectors at right angles.
    pub axes: [[f64; 3]; 3],
}

impl Pose {
    /// Level, looking east.
    pub const fn at(centre: [f64; 3]) -> Pose {
        Pose { centre, axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] }
    }

    /// A direction of the body in the world: three products and two sums for each coordinate, in this order.
    pub fn turned(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = self.axes;
        [0, 1, 2].map(|k: usize| a[k] * x + b[k] * y + c[k] * z)
    }

    /// A place of the body in the world.
    pub fn placed(&self, p: [f64; 3]) -> [f64; 3] {
        let ([x, y, z], [cx, cy, cz]) = (self.turned(p), self.centre);
        [cx + x, cy + y, cz + z]
    }
}

/// A ray of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Beam {
    /// Where it starts, in the body: forward, left, up, in metres.
    pub origin: [f64; 3],
    /// Where it goes, in the body; of any length.
    pub direction: [f64; 3],
    /// How far, in metres.
    pub length: f64,
    /// What is subtracted from its distance: a tyre's radius, the way from the body's front to the sensor.
    pub less: f64,
}

/// What a beam met.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Sensed {
    /// The answer; without a hit its place is as far as the ray was searched, so the end of a ray that is clear.
    pub answer: RayAnswer,
    /// How far that is from the beam's start, in metres, less [`Beam::less`]: below zero inside.
    pub distance: f64,
}

impl<'a> Terrain<'a> {
    /// Casts the beams of a body, and says how many were cast: as many as `out` has room for.
    pub fn rays(&self, pose: &Pose, beams: &[Beam], options: &RayOptions, out: &mut [Sensed]) -> usize {
        let pairs = beams.iter().zip(out.iter_mut());
        pairs.map(|(beam, to)| *to = self.beam(pose, beam, options)).count()
    }

    /// One beam of a body.
    pub fn beam(&self, pose: &Pose, beam: &Beam, options: &RayOptions) -> Sensed {
        let (origin, direction) = (pose.placed(beam.origin), pose.turned(beam.direction));
        let answer = match self.ray_from(origin, direction, beam.length) {
            Ok(ray) => self.raycast(ray, options),
            Err(status) => RayAnswer::of(status),
        };
        Sensed { answer, distance: beam.length * answer.hit.t - beam.less }
    }
}
