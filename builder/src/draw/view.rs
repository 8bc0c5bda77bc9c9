//! Which ground a picture shows, and in which pixels.

use crate::util::steps::Steps;
use hardpan::{Answer, Hit, Status, Terrain};
use rayon::prelude::*;

use crate::check::ground::pairs::ALL;
use crate::util::text::{coordinate, grouped};

/// Least x and y, greatest x and y, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window(pub [f64; 4]);

/// Most pixels along a side, and in all.
pub const MAX_PIXELS: [usize; 2] = [1 << 16, 1 << 28];
/// Pixels of the longer side by default.
const LONGER: f64 = 1600.0;

/// Least width and height of a window, metres: less is no more than a few steps of the query grid. A point or a line is
/// a picture of this size too.
pub const MIN_SIDE: f64 = 1e-3;

/// The next whole number of pixels, at least one, with room for rounding.
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
    /// Only ground between these heights counts. The view shows the first below the greater one.
    pub heights: [f64; 2],
}

impl View {
    /// A view with this window in the middle of this many pixels.
    pub fn about([x0, y0, x1, y1]: [f64; 4], per_metre: f64, [width, height]: [usize; 2]) -> Self {
        let middle = [(x0 + x1) / 2.0, (y0 + y1) / 2.0];
        let half = [width, height].map(|n| n as f64 / per_metre / 2.0);
        View { west: middle[0] - half[0], north: middle[1] + half[1], per_metre, width, height, heights: ALL }
    }

    /// The window, or all of the ground within these bounds, as large as it is wanted. A width and a height show the
    /// window in the middle of them.
    pub fn asked(
        bounds: [[f64; 3]; 2],
        window: Option<Window>,
        size: Option<[Option<usize>; 2]>,
        per_metre: Option<f64>,
    ) -> Result<View, String> {
        let [low, high] = bounds;
        let window = window.map_or([low[0], low[1], high[0], high[1]], |w| w.0);
        let extent = [0, 1].map(|i| (window[i + 2] - window[i]).max(MIN_SIDE));
        let wide = |w: usize| w as f64 / extent[0];
        let (per_metre, size) = match (size, per_metre) {
            (Some([Some(w), Some(h)]), _) => (wide(w).min(h as f64 / extent[1]), [w, h]),
            (Some([Some(w), _]), _) => (wide(w), [w, pixels(extent[1] * wide(w))]),
            (_, n) => {
                let n = n.unwrap_or(LONGER / extent[0].max(extent[1]));
                (n, extent.map(|e| pixels(e * n)))
            }
        };
        let [wide, high] = size.map(|n| n as f64);
        let [most, all] = MAX_PIXELS.map(|n| n as f64);
        if wide > most || high > most || wide * high > all {
            let number = |n: f64| if n < 1e15 { grouped(n as u64) } else { format!("{n:.1e}") };
            return Err(format!(
                "the picture would have {} x {} pixels, and {} a side and {} in all are the most",
                number(wide),
                number(high),
                number(most),
                number(all)
            ));
        }
        Ok(View::about(window, per_metre, size))
    }

    /// Whether it shows some of the ground within these bounds.
    pub fn meets(&self, [low, high]: [[f64; 3]; 2]) -> bool {
        let shows = self.window();
        (0..2).all(|i| shows[i] < high[i] && shows[i + 2] > low[i])
    }

    /// All of an image's ground, with this many pixels along the longer side.
    pub fn whole(terrain: &Terrain, longer: f64) -> Self {
        let [low, high] = terrain.bounds();
        let extent = [0, 1].map(|i| (high[i] - low[i]).max(MIN_SIDE));
        let per_metre = longer / extent[0].max(extent[1]);
        View::about([low[0], low[1], high[0], high[1]], per_metre, extent.map(|e| pixels(e * per_metre)))
    }

    /// The same in `times` as many pixels either way.
    pub fn finer(&self, times: usize) -> Self {
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

    /// The results of `make` for all rows, in order.
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

    /// The highest ground at places, among the heights that count.
    pub fn highest(&self, terrain: &Terrain, places: &[[f64; 2]]) -> Vec<Answer> {
        let mut answers = vec![Answer { status: Status::NotInImage, hit: Hit::NONE }; places.len()];
        let [low, high] = terrain.bounds();
        let (above, below) = (self.heights[1].min(high[2] + 1.0), self.heights[0].max(low[2] - 1.0));
        if above < below {
            return answers;
        }
        let points: Vec<[f64; 3]> = places.iter().map(|[x, y]| [*x, *y, above]).collect();
        let far = Steps::of(terrain.header()).query_height(terrain.header().far);
        // seen from above everything, the nearest is the highest
        if self.heights == ALL && above - low[2] < far {
            terrain.closest_batch(&points, &mut answers);
        } else {
            answers.iter_mut().zip(points).for_each(|(a, p)| *a = terrain.segment_m(p, above - below));
        }
        answers
    }
}

/// Where ground with these bounds lies, as text.
pub fn extent([low, high]: [[f64; 3]; 2]) -> String {
    let [x, y] = [0, 1].map(|i| format!("{} to {} m", coordinate(low[i]), coordinate(high[i])));
    format!("x {x}, y {y}")
}
