//! The ground from above: which places a picture shows, and how the sun lies on them.

use std::sync::Mutex;

use hardpan::{Answer, Hit, Status, Terrain};
use rayon::prelude::*;

use crate::check::walk::ALL;

use super::canvas::{Canvas, Colour, NOTHING, WHITE, mix};

/// Towards the sun, in the north-west, 38 degrees up.
const SUN: [f64; 3] = [-0.557, 0.557, 0.616];
/// Slopes are drawn this much steeper, so that kerbs and setts show.
const RELIEF: f64 = 1.3;

/// Least width and height of a window, metres: less is no more than a few steps of the query grid. A point or a line is a picture of
/// this size too.
pub const LEAST: f64 = 1e-3;

/// Whole pixels that hold so many, however that is rounded.
fn pixels(n: f64) -> usize {
    (n - 1e-9).ceil().max(1.0) as usize
}

/// A rectangle of ground in square pixels, north up.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub west: f64,
    pub north: f64,
    pub per_metre: f64,
    pub width: usize,
    pub height: usize,
    /// Only ground at these heights counts, least and greatest: seen is the first going down from the greatest.
    pub heights: [f64; 2],
}

impl View {
    /// A window, as [`View::window`], in the middle of so many pixels.
    pub fn about([x0, y0, x1, y1]: [f64; 4], per_metre: f64, [width, height]: [usize; 2]) -> Self {
        let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
        let half = [width, height].map(|n| n as f64 / per_metre / 2.0);
        View { west: middle[0] - half[0], north: middle[1] + half[1], per_metre, width, height, heights: ALL }
    }

    /// All of an image's ground, in so many pixels along the longer side.
    pub fn whole(terrain: &Terrain, longer: f64) -> Self {
        let [low, high] = terrain.bounds();
        let extent = [0, 1].map(|i| (high[i] - low[i]).max(LEAST));
        let per_metre = longer / extent[0].max(extent[1]);
        View::about([low[0], low[1], high[0], high[1]], per_metre, extent.map(|e| pixels(e * per_metre)))
    }

    /// The same in `times` as many pixels either way.
    fn finer(&self, times: usize) -> Self {
        let (width, height) = (self.width * times, self.height * times);
        View { per_metre: self.per_metre * times as f64, width, height, ..*self }
    }

    /// Least x and y, greatest x and y.
    pub fn window(&self) -> [f64; 4] {
        let [width, height] = [self.width, self.height].map(|n| n as f64 / self.per_metre);
        [self.west, self.north - height, self.west + width, self.north]
    }

    /// The middle of a pixel.
    pub fn middle(&self, column: usize, row: usize) -> [f64; 2] {
        let [x, y] = [column, row].map(|i| (i as f64 + 0.5) / self.per_metre);
        [self.west + x, self.north - y]
    }

    /// Where a place lies, in pixels from the north-west.
    pub fn place(&self, x: f64, y: f64) -> [f64; 2] {
        [(x - self.west) * self.per_metre, (self.north - y) * self.per_metre]
    }

    /// Whether it shows a place.
    pub fn has(&self, [x, y]: [f64; 2]) -> bool {
        let [x, y] = self.place(x, y);
        (0.0..=self.width as f64).contains(&x) && (0.0..=self.height as f64).contains(&y)
    }

    /// What `make` says about every row, one after the other.
    pub fn rows<T: Clone + Send>(&self, empty: T, make: impl Fn(usize, &mut [T]) + Sync) -> Vec<T> {
        let mut all = vec![empty; self.width * self.height];
        all.par_chunks_mut(self.width).enumerate().for_each(|(i, row)| make(i, row));
        all
    }

    /// The highest ground in the middle of each pixel of a row.
    pub fn tops(&self, terrain: &Terrain, row: usize) -> Vec<Answer> {
        let points: Vec<[f64; 2]> = (0..self.width).map(|column| self.middle(column, row)).collect();
        self.highest(terrain, &points)
    }

    /// The highest ground at places, of that which counts.
    pub fn highest(&self, terrain: &Terrain, places: &[[f64; 2]]) -> Vec<Answer> {
        let mut answers = vec![Answer { status: Status::NotInImage, hit: Hit::NONE }; places.len()];
        let [low, high] = terrain.bounds();
        let (above, below) = (self.heights[1].min(high[2] + 1.0), self.heights[0].max(low[2] - 1.0));
        if above < below {
            return answers;
        }
        let points: Vec<[f64; 3]> = places.iter().map(|[x, y]| [*x, *y, above]).collect();
        let far = terrain.header().far as f64 * f64::exp2(f64::from(terrain.header().z_log2 - 8));
        // seen from above everything, the nearest is the highest
        if self.heights == ALL && above - low[2] < far {
            terrain.closest_batch(&points, &mut answers);
        } else {
            answers.iter_mut().zip(points).for_each(|(a, p)| *a = terrain.segment_m(p, above - below));
        }
        answers
    }
}

/// How bright the ground of a slope is: 1 where it is level, [`SHADE`] where it faces away from the sun.
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
/// What a shadow leaves of the light, and the least.
const SHADOW: [f64; 2] = [0.7, 0.5];

/// A colour in such light: darker in the shade, towards white where the sun stands straight above.
pub fn lit(colour: Colour, light: f64) -> Colour {
    if light <= 1.0 { colour.map(|c| (f64::from(c) * light) as u8) } else { mix(colour, WHITE, (light - 1.0).min(0.6)) }
}

/// Shaded relief, with shadows; `colour` says how an answer looks in full light. Each pixel is the mean of `fine` x `fine` places.
pub fn relief(terrain: &Terrain, view: &View, fine: usize, colour: impl Fn(&Answer) -> Colour + Sync) -> Canvas {
    Seen::new(terrain, view, fine, colour).draw(|_, colour| *colour)
}

/// What a relief is drawn from.
pub struct Seen<T> {
    view: View,
    fine: usize,
    /// Of `fine` x `fine` as many places as there are pixels.
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
        // from a wall that faces away, over level ground, to one that faces the sun: rise to the north-west is a slope of (-s, s)
        let turned: Vec<f64> = (-40..=40).map(|i| light([0.1, -0.1].map(|s| s * f64::from(i)))).collect();
        let least = turned.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(least, SHADE);
        let slant = |s: f64| light([s, -s]);
        assert!(slant(0.1) > 1.0 && slant(-0.1) < 1.0 && slant(-0.3) < slant(-0.1), "{turned:?}");
        assert!((slant(0.01) - 1.0 - (1.0 - slant(-0.01))).abs() < 1e-3, "no bend at level ground");
    }
}
