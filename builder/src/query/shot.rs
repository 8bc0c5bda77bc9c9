//! Rays as people give them.

use hardpan::{Ray, RayAnswer, RayOptions, RayStatus, Terrain};

/// A ray in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shot {
    pub origin: [f64; 3],
    pub way: Way,
}

/// Where a ray goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// In a direction, so far.
    Along([f64; 3], f64),
    /// The end of the ray.
    To([f64; 3]),
}

impl Shot {
    /// The ray on an image's grid.
    pub fn ray(&self, t: &Terrain) -> Result<Ray, RayStatus> {
        match self.way {
            Way::Along(direction, length) => t.ray_from(self.origin, direction, length),
            Way::To(end) => t.ray_to(self.origin, end),
        }
    }

    /// Hit of the ray.
    pub fn answer(&self, t: &Terrain, options: &RayOptions) -> RayAnswer {
        match self.ray(t) {
            Ok(ray) => t.raycast(ray, options),
            Err(status) => RayAnswer::of(status),
        }
    }

    /// How long it is, in metres.
    pub fn length(&self) -> f64 {
        match self.way {
            Way::Along(_, length) => length,
            Way::To(end) => {
                let [x, y, z] = [0, 1, 2].map(|k| end[k] - self.origin[k]);
                libm::sqrt(x * x + y * y + z * z)
            }
        }
    }
}
