//! The ground from above, and how the sun lies on it.

use std::sync::Mutex;

use hardpan::{Answer, Terrain};
use rayon::prelude::*;

use super::{
    canvas::Canvas,
    colour::{Colour, NOTHING, WHITE, mix},
    view::View,
};

/// Towards the sun, in the north-west, 38 degrees up.
const SUN: [f64; 3] = [-0.557, 0.557, 0.616];
/// Slopes are drawn this much steeper, so that kerbs and setts show.
const RELIEF: f64 = 1.3;

/// How bright the ground of a slope is: 1 where it is level, `SHADE` where it faces away from the sun.
pub fn light(slope: [f64; 2]) -> f64 {
    let [sx, sy] = slope.map(|s| s * RELIEF);
    let sun = (SUN[2] - SUN[0] * sx - SUN[1] * sy) / (1.0 + sx * sx + sy * sy).sqrt();
    // as a part of what level ground has; about that, as many grades to either side
    match (sun / SUN[2]).max(0.0) {
        part if part < 1.0 => SHADE + part * (2.0 - GRADE - 2.0 * SHADE + part * (SHADE + GRADE - 1.0)),
        part => 1.0 + GRADE * (part - 1.0),
    }
}

/// Light where the sun does not come, so that colours show there too.
const SHADE: f64 = 0.55;
/// How much light grows with that of the sun about level ground.
const GRADE: f64 = 0.7;
/// The share of light that a shadow leaves, and the least light.
const SHADOW: [f64; 2] = [0.7, 0.5];

/// A colour in such light: darker in the shade, towards white where the sun stands straight above.
pub fn lit(colour: Colour, light: f64) -> Colour {
    if light <= 1.0 { colour.map(|c| (f64::from(c) * light) as u8) } else { mix(colour, WHITE, (light - 1.0).min(0.6)) }
}

/// Light that shows the lie of the land without drowning colours.
pub fn slight(light: f64) -> f64 {
    0.7 + 0.3 * light
}

/// Shaded relief, with shadows; `colour` says how an answer looks in full light. Each pixel is the mean of `fine` x
/// `fine` places.
pub fn relief(terrain: &Terrain, view: &View, fine: usize, colour: impl Fn(&Answer) -> Colour + Sync) -> Canvas {
    Seen::new(terrain, view, fine, colour).draw(|_, colour| *colour)
}

/// The heights and slopes behind a relief.
pub struct Seen<T> {
    view: View,
    fine: usize,
    /// `fine` x `fine` of them a pixel.
    samples: Vec<Sample<T>>,
    /// Least and greatest height of all places.
    pub heights: Option<[f64; 2]>,
}

#[derive(Clone, Copy)]
struct Sample<T> {
    /// Metres; without end below, where there is no ground.
    z: f32,
    light: f32,
    what: T,
}

impl<T: Copy + Default + Send + Sync> Seen<T> {
    /// Asks `what` of every answer.
    pub fn new(terrain: &Terrain, view: &View, fine: usize, what: impl Fn(&Answer) -> T + Sync) -> Self {
        let dense = view.finer(fine);
        let heights = Mutex::new(None);
        let empty = Sample { z: f32::NEG_INFINITY, light: 0.0, what: T::default() };
        let samples = dense.rows(empty, |row, out| {
            let mut ends = None;
            for (a, to) in dense.tops(terrain, row).iter().zip(out).filter(|(a, _)| a.found()) {
                let z = terrain.z_f64(&a.hit);
                ends = wider(ends, [z; 2]);
                *to = Sample { z: z as f32, light: light(terrain.slope_f64(&a.hit)) as f32, what: what(a) };
            }
            if let (Some(ends), Ok(mut all)) = (ends, heights.lock()) {
                *all = wider(*all, ends);
            }
        });
        Seen { view: *view, fine, samples, heights: heights.into_inner().unwrap_or_default() }
    }

    /// Paints the samples, by height and what was asked.
    pub fn draw(&self, colour: impl Fn(f64, &T) -> Colour + Sync) -> Canvas {
        let Seen { view, fine, samples, .. } = self;
        let dense = view.finer(*fine);
        // The shadow's height, carried away from the sun: what lies below it is in the shade.
        let drop = (SUN[2] / SUN[1] / dense.per_metre) as f32;
        let mut shadow = vec![f32::NEG_INFINITY; samples.len()];
        for i in dense.width..samples.len() {
            if i % dense.width > 0 {
                let before = i - dense.width - 1;
                shadow[i] = shadow[before].max(samples[before].z) - drop;
            }
        }
        let shaded = |i: usize| {
            let Sample { z, light, what } = &samples[i];
            if *z == f32::NEG_INFINITY {
                return NOTHING.map(f32::from);
            }
            let light = match f64::from(*light) {
                light if shadow[i] > z + 0.02 => (light * SHADOW[0]).max(SHADOW[1]),
                light => light,
            };
            lit(colour(f64::from(*z), what), light).map(f32::from)
        };
        let places = |i: usize| {
            let (x, y) = (i % view.width * fine, i / view.width * fine);
            (0..fine * fine).map(move |k| (y + k / fine) * dense.width + x + k % fine)
        };
        let pixel = |i: usize| {
            let sum = places(i).map(shaded).fold([0.0; 3], |sum, c| [0, 1, 2].map(|i| sum[i] + c[i]));
            sum.map(|c: f32| (c / (fine * fine) as f32) as u8)
        };
        let pixels = (0..view.width * view.height).into_par_iter().map(pixel).collect();
        Canvas { width: view.width, height: view.height, pixels }
    }

    /// Whether some place has no ground.
    pub fn gaps(&self) -> bool {
        self.samples.iter().any(|s| s.z == f32::NEG_INFINITY)
    }
}

/// Ends that hold others too.
fn wider(ends: Option<[f64; 2]>, more: [f64; 2]) -> Option<[f64; 2]> {
    Some(ends.map_or(more, |[low, high]| [low.min(more[0]), high.max(more[1])]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_grows_towards_the_sun_from_a_floor() {
        assert_eq!(light([0.0; 2]), 1.0);
        // from a wall that faces away, over level ground, to one that faces the sun: rise to the north-west is a slope
        // of (-s, s)
        let turned: Vec<f64> = (-40..=40).map(|i| light([0.1, -0.1].map(|s| s * f64::from(i)))).collect();
        let least = turned.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(least, SHADE);
        let slant = |s: f64| light([s, -s]);
        assert!(slant(0.1) > 1.0 && slant(-0.1) < 1.0 && slant(-0.3) < slant(-0.1), "{turned:?}");
        assert!((slant(0.01) - 1.0 - (1.0 - slant(-0.01))).abs() < 1e-3, "no bend at level ground");
    }
}
