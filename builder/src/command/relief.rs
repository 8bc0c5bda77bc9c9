//! Shaded relief, drawn from the kernel's answers and nothing else.

use hardpan::Terrain;
use rayon::prelude::*;

use super::{Done, Failure};

/// A picture of `width` times `height` pixels, row by row from the north.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[u8; 3]>,
    west: f64,
    north: f64,
    per_metre: f64,
}

/// Samples along each side of a pixel.
const FINE: usize = 2;
/// Towards the sun, in the north-west, 38 degrees up.
const SUN: [f64; 3] = [-0.557, 0.557, 0.616];
/// Slopes are drawn this much steeper, so that kerbs and setts show.
const RELIEF: f64 = 1.3;
const SKY: [f64; 3] = [236.0, 238.0, 240.0];

impl Picture {
    /// The whole image from above; `colour` says how a material looks.
    pub fn relief(terrain: &Terrain, per_metre: f64, colour: impl Fn(u16) -> [f64; 3] + Sync) -> Self {
        let [low, high] = terrain.bounds();
        let [width, height] = [0, 1].map(|i| ((high[i] - low[i]) * per_metre).ceil().max(1.0) as usize);
        let (west, north, step) = (low[0], high[1], 1.0 / (per_metre * FINE as f64));
        let (columns, rows) = (width * FINE, height * FINE);
        let samples: Vec<(f32, [f32; 3])> = (0..rows * columns)
            .into_par_iter()
            .map(|i| {
                let (x, y) = (west + ((i % columns) as f64 + 0.5) * step, north - ((i / columns) as f64 + 0.5) * step);
                let answer = terrain.below([x, y, high[2] + 1.0]);
                if !answer.found() {
                    return (f32::NEG_INFINITY, SKY.map(|c| c as f32));
                }
                let [sx, sy] = terrain.slope_f64(&answer.hit).map(|s| s * RELIEF);
                let light = (SUN[2] - SUN[0] * sx - SUN[1] * sy) / (1.0 + sx * sx + sy * sy).sqrt();
                let shade = 0.3 + 1.14 * light.max(0.0);
                (terrain.z_f64(&answer.hit) as f32, colour(answer.hit.material).map(|c| (c * shade).min(255.0) as f32))
            })
            .collect();

        // The shadow's height, carried away from the sun: what lies below it is in the shade.
        let drop = (SUN[2] / SUN[1] * step) as f32;
        let mut shadow = vec![f32::NEG_INFINITY; samples.len()];
        for i in columns..samples.len() {
            if i % columns > 0 {
                let before = i - columns - 1;
                shadow[i] = shadow[before].max(samples[before].0) - drop;
            }
        }
        let lit = |i: usize| samples[i].1.map(|c| if shadow[i] > samples[i].0 + 0.02 { c * 0.6 } else { c });
        let pixel = |i: usize| {
            let (x, y) = (i % width * FINE, i / width * FINE);
            let parts = (0..FINE * FINE).map(|k| lit((y + k / FINE) * columns + x + k % FINE));
            parts
                .fold([0.0; 3], |sum, c| [0, 1, 2].map(|i| sum[i] + c[i]))
                .map(|c: f32| (c / (FINE * FINE) as f32) as u8)
        };
        let pixels = (0..width * height).map(pixel).collect();
        Picture { width, height, pixels, west, north, per_metre }
    }

    /// Blends a dot of one pixel into the picture.
    pub fn dot(&mut self, x: f64, y: f64, colour: [u8; 3]) {
        let (column, row) = ((x - self.west) * self.per_metre, (self.north - y) * self.per_metre);
        if column >= 0.0 && row >= 0.0 && (column as usize) < self.width && (row as usize) < self.height {
            let pixel = &mut self.pixels[row as usize * self.width + column as usize];
            *pixel = [0, 1, 2].map(|i| ((u16::from(pixel[i]) + u16::from(colour[i])) / 2) as u8);
        }
    }

    pub fn png(&self) -> Done<Vec<u8>> {
        let failed = |e: png::EncodingError| Failure::Machine(format!("picture: {e}"));
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(self.pixels.as_flattened()).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(bytes)
    }
}
