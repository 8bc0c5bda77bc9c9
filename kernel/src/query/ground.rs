//! Ground from whatever has some: an image, a function of the user's, or several in order.

use crate::open::Terrain;

/// The ground at a place in metres, as vehicle solvers take it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Whether there is ground; if not, the values are defaults.
    pub found: bool,
    /// Height.
    pub z: f64,
    /// dz/dx and dz/dy.
    pub slope: [f64; 2],
    /// Friction.
    pub mu: f64,
    /// Rolling resistance, as a factor.
    pub rolling: f64,
}

impl Ground {
    /// No ground, and nobody to say what to take instead: all zero.
    pub const NONE: Ground = Ground { found: false, z: 0.0, slope: [0.0; 2], mu: 0.0, rolling: 0.0 };
}

/// Something that has ground.
///
/// ```
/// use hardpan::{Ground, Surface};
///
/// /// A ramp in front of the garage, which the image does not have.
/// struct Ramp;
///
/// impl Surface for Ramp {
///     fn ground(&self, [x, y, _]: [f64; 3]) -> Ground {
///         let found = (0.0..2.0).contains(&x) && y.abs() < 1.5;
///         Ground { found, z: 0.1 * x, slope: [0.1, 0.0], mu: 0.6, rolling: 1.0 }
///     }
/// }
///
/// # let image = hardpan::include_image!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bridge.hpan"));
/// let terrain = hardpan::Terrain::open(image).unwrap();
/// let stack: [&dyn Surface; 2] = [&Ramp, &terrain]; // the first that has ground answers
/// assert_eq!(stack[..].ground([1.0, 0.0, 5.0]).z, 0.1);
/// assert_eq!(stack[..].ground([-1.0, 0.0, 5.0]), terrain.ground([-1.0, 0.0, 5.0]));
/// ```
pub trait Surface {
    /// The ground nearest to a place, straight above or below it. Where there is none, the values are defaults.
    fn ground(&self, p: [f64; 3]) -> Ground;
}

/// [`Terrain::closest`] in metres: without ground the height of the fall-back, level, with the image's default
/// friction.
impl Surface for Terrain<'_> {
    fn ground(&self, p: [f64; 3]) -> Ground {
        let answer = self.closest(p);
        let [mu, rolling, _] = self.surface(&answer);
        let (z, slope) = (self.z_f64(&answer.hit), self.slope_f64(&answer.hit));
        Ground { found: answer.found(), z, slope, mu, rolling }
    }
}

/// The first that has ground answers; where none has, the last does, with its defaults.
impl Surface for [&dyn Surface] {
    fn ground(&self, p: [f64; 3]) -> Ground {
        let mut last = Ground::NONE;
        for surface in self {
            last = surface.ground(p);
            if last.found {
                break;
            }
        }
        last
    }
}
