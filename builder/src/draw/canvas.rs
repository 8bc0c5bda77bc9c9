//! Pixels and lines: what maps are drawn on.

use super::{
    colour::{Colour, HATCH, INK, NOTHING, WHITE, mix},
    letters::Size,
};

/// Pixels from line to line where there is no ground; a quarter of them are dark.
const PERIOD: usize = 8;

/// The text that marks a PNG of hardpan, and its first byte.
pub const SIGNED: (u64, &[u8]) = (37, b"tEXtSoftware\0hardpan");

/// A picture, row by row from the top.
pub struct Canvas {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<Colour>,
}

impl Canvas {
    pub fn new(width: usize, height: usize, colour: Colour) -> Self {
        Canvas { width, height, pixels: vec![colour; width * height] }
    }

    /// A pixel, if there is one.
    pub fn pixel(&mut self, x: i64, y: i64) -> Option<&mut Colour> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        if x < self.width { self.pixels.get_mut(y * self.width + x) } else { None }
    }

    /// Fills a rectangle.
    pub fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], colour: Colour) {
        let (right, bottom) = ((x + width).min(self.width), (y + height).min(self.height));
        for row in y..bottom {
            self.pixels[row * self.width + x.min(right)..row * self.width + right].fill(colour);
        }
    }

    /// Hatches what shows no ground in a rectangle, with lines that fall to the south-east.
    pub fn hatch(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], times: usize) {
        let period = PERIOD * times;
        for row in y..(y + height).min(self.height) {
            for column in x..(x + width).min(self.width) {
                let p = &mut self.pixels[row * self.width + column];
                if *p == NOTHING && (column + period - row % period) % period < period / 4 {
                    *p = HATCH;
                }
            }
        }
    }

    /// Draws a ring about a place, `wide` pixels wide, moved inwards at the border so that all of it shows.
    pub fn ring(&mut self, [x, y]: [f64; 2], radius: f64, wide: f64, colour: Colour) {
        let reach = radius + wide;
        let at = [(x, self.width), (y, self.height)].map(|(v, size)| v.min(size as f64 - reach).max(reach));
        for (i, off) in near([self.width, self.height], [at; 2], reach) {
            if (off - radius).abs() <= wide / 2.0 {
                self.pixels[i] = colour;
            }
        }
    }

    /// Fills a disc about a place.
    pub fn disc(&mut self, at: [f64; 2], reach: f64, colour: Colour) {
        near([self.width, self.height], [at; 2], reach).for_each(|(i, _)| self.pixels[i] = colour);
    }

    /// Writes a number, `times` as large, in a white box. The box lies to the upper right of a mark with this reach, or
    /// about the place if the reach is 0. It is moved inwards at the border.
    pub fn label(&mut self, [x, y]: [f64; 2], reach: f64, text: &str, times: usize) {
        let size = [Size::Text.width(text) + 4, Size::Text.height()].map(|n| n * times);
        let [x, y] = match size.map(|n| n as f64 / 2.0 + 0.7 * reach) {
            _ if reach == 0.0 => [x, y],
            [right, up] => [x + right, y - up],
        };
        let corner = |v: f64, size: usize, room: usize| {
            ((v - size as f64 / 2.0).max(0.0) as usize).min(room.saturating_sub(size))
        };
        let at = [corner(x, size[0], self.width), corner(y, size[1], self.height)];
        self.fill(at, size, WHITE);
        self.letters([(at[0] + 2 * times) as i64, at[1] as i64], text, Size::Text, times as i64, INK);
    }

    /// Lays another picture on this one.
    pub fn paste(&mut self, other: &Canvas, [x, y]: [usize; 2]) {
        for (row, pixels) in other.pixels.chunks_exact(other.width).enumerate() {
            let at = (y + row) * self.width + x;
            self.pixels[at..at + other.width].copy_from_slice(pixels);
        }
    }

    /// Draws lines through places, `width` pixels wide, with round ends and soft edges; a part of one place is a dot.
    pub fn curve(&mut self, parts: &[Vec<[f64; 2]>], width: f64, colour: Colour) {
        let reach = width / 2.0 + 0.5;
        let mut cover = vec![0f32; self.width * self.height];
        let legs = parts.iter().flat_map(|part| match part[..] {
            [only] => vec![[only; 2]],
            _ => part.windows(2).map(|leg| [leg[0], leg[1]]).collect(),
        });
        for leg in legs {
            for (i, off) in near([self.width, self.height], leg, reach) {
                cover[i] = cover[i].max((reach - off).clamp(0.0, 1.0) as f32);
            }
        }
        for (p, c) in self.pixels.iter_mut().zip(cover).filter(|(_, c)| *c > 0.0) {
            *p = mix(*p, colour, f64::from(c));
        }
    }

    /// Draws a line between two places, `wide` pixels wide: all of them inside, if it goes along the border too.
    pub fn line(&mut self, a: [f64; 2], b: [f64; 2], wide: usize, colour: Colour) {
        let Some([a, b]) = clipped(a, b, [self.width as f64, self.height as f64]) else { return };
        let d = [b[0] - a[0], b[1] - a[1]];
        let most = [self.width, self.height].map(|size| size.saturating_sub(wide) as i64);
        let steps = d[0].abs().max(d[1].abs()).ceil().max(1.0);
        for i in 0..=steps as usize {
            let t = i as f64 / steps;
            // rounding must not skip a pixel at a whole number
            let at = [0, 1].map(|k| ((a[k] + d[k] * t + 1e-9).floor() as i64 - wide as i64 / 2).clamp(0, most[k]));
            for k in 0..(wide * wide) as i64 {
                if let Some(p) = self.pixel(at[0] + k % wide as i64, at[1] + k / wide as i64) {
                    *p = colour;
                }
            }
        }
    }

    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        encoder.add_text_chunk("Software".into(), "hardpan".into())?;
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// The pixels whose middles lie within a reach of the line between two places: their numbers, row by row, and
/// distances.
pub fn near(size: [usize; 2], [a, b]: [[f64; 2]; 2], reach: f64) -> impl Iterator<Item = (usize, f64)> {
    let d = [b[0] - a[0], b[1] - a[1]];
    let square = d[0] * d[0] + d[1] * d[1];
    let range = move |i: usize, ends: [f64; 2]| {
        let low = (ends[0].min(ends[1]) - reach - 0.5).ceil().clamp(0.0, size[i] as f64);
        let high = (ends[0].max(ends[1]) + reach + 0.5).floor().clamp(0.0, size[i] as f64);
        low as usize..high as usize
    };
    range(1, [a[1], b[1]]).flat_map(move |row| {
        // only the part of the way whose rows are near
        let part = [row as f64 + 0.5 - reach, row as f64 + 0.5 + reach].map(|y| (y - a[1]) / d[1]);
        let part = if d[1].abs() < 1e-9 { [0.0, 1.0] } else { part.map(|t| t.clamp(0.0, 1.0)) };
        range(0, part.map(|t| a[0] + t * d[0])).filter_map(move |column| {
            let [x, y] = [column as f64 + 0.5 - a[0], row as f64 + 0.5 - a[1]];
            let t = if square > 0.0 { ((x * d[0] + y * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
            let off = (x - t * d[0]).hypot(y - t * d[1]);
            (off <= reach).then_some((row * size[0] + column, off))
        })
    })
}

/// The part of a line inside the rectangle from zero to `size`, if there is one.
fn clipped(a: [f64; 2], b: [f64; 2], size: [f64; 2]) -> Option<[[f64; 2]; 2]> {
    let at = |t: f64| [0, 1].map(|i| a[i] + (b[i] - a[i]) * t);
    within([a, b], size).map(|ends| ends.map(at))
}

/// The shares of a line's length between which it is inside the rectangle from zero to `size`.
pub fn within([a, b]: [[f64; 2]; 2], size: [f64; 2]) -> Option<[f64; 2]> {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    for i in 0..2 {
        let d = b[i] - a[i];
        if d == 0.0 {
            if a[i] < 0.0 || a[i] > size[i] {
                return None;
            }
            continue;
        }
        let (enter, leave) = ((0.0 - a[i]) / d, (size[i] - a[i]) / d);
        from = from.max(enter.min(leave));
        to = to.min(enter.max(leave));
    }
    (from <= to).then_some([from, to])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_have_soft_edges() {
        let mut canvas = Canvas::new(40, 20, WHITE);
        // on the border of two rows, then to a place outside
        canvas.curve(&[vec![[5.0, 10.0], [20.0, 10.0], [60.0, 10.0]]], 3.0, [0; 3]);
        let column: Vec<u8> = (6..14).map(|row| canvas.pixels[row * 40 + 12][0]).collect();
        assert_eq!(column, [255, 255, 128, 0, 0, 128, 255, 255], "{column:?}");
        assert!((5..40).all(|x| canvas.pixels[10 * 40 + x] == [0; 3]), "joints are no gaps");
        assert_eq!(canvas.pixels[10 * 40 + 2], WHITE);
        // as dark as it is wide, whichever way it goes
        let dark = |b: [f64; 2]| {
            let mut canvas = Canvas::new(200, 200, WHITE);
            canvas.curve(&[vec![[100.0, 100.0], b]], 3.0, [0; 3]);
            canvas.pixels.iter().map(|p| 255.0 - f64::from(p[0])).sum::<f64>() / 255.0
        };
        let [level, steep, slant] = [[160.0, 100.0], [100.0, 40.0], [148.0, 136.0]].map(dark);
        assert!((level - 187.0).abs() < 1.0 && (steep - level).abs() < 1.0 && (slant - level).abs() < 1.0, "{level}");
    }

    #[test]
    fn pictures_say_who_made_them() {
        let bytes = Canvas::new(3, 2, INK).png().unwrap();
        let (at, text) = SIGNED;
        assert!(bytes[at as usize..].starts_with(text), "{bytes:?}");
    }

    #[test]
    fn lines_are_cut_at_the_border() {
        assert_eq!(clipped([-10.0, 5.0], [30.0, 5.0], [20.0, 10.0]), Some([[0.0, 5.0], [20.0, 5.0]]));
        assert_eq!(clipped([-10.0, -1.0], [30.0, -1.0], [20.0, 10.0]), None);
        let mut canvas = Canvas::new(4, 3, WHITE);
        canvas.line([-1e12, 1.5], [1e12, 1.5], 1, INK);
        let rows: Vec<bool> = canvas.pixels.chunks(4).map(|row| row.iter().all(|p| *p == INK)).collect();
        assert_eq!(rows, [false, true, false]);
    }
}
