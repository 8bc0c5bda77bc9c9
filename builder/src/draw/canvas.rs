//! Pixels, letters and lines: what maps are drawn on.

use std::borrow::Cow;

use deunicode::deunicode_char;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Red, green and blue.
pub type Colour = [u8; 3];

pub const WHITE: Colour = [255; 3];
pub const INK: Colour = [32, 34, 38];
/// Where there is no ground: in a frame it is hatched, which no paint of ground is.
pub const NOTHING: Colour = [236, 238, 240];
/// The lines of that.
const HATCH: Colour = [176, 180, 186];
/// Colours that the colour-blind tell apart, after Okabe and Ito, without black.
pub const CATEGORIES: [Colour; 7] =
    [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]];
pub const OTHERS: Colour = [130, 130, 130];
/// What is not among those and is told apart nevertheless has one of these, with lines.
const GREYS: [Colour; 3] = [[150; 3], [200; 3], [100; 3]];

/// Ground of a colour, with lines or without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    pub colour: Colour,
    pub lines: Lines,
}

/// Lines on a colour, a row of them every [`PERIOD`] pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lines {
    None,
    /// Rising to the north-east.
    Rising,
    Level,
    Upright,
    /// Level and upright.
    Grid,
    /// Where level and upright ones would cross.
    Dots,
}

/// How many [`Paint::of`] tells apart, and a picture of materials at most.
pub const PAINTS: usize = 2 * CATEGORIES.len();
/// Pixels from line to line, of which a quarter are dark.
const PERIOD: usize = 8;

impl Paint {
    pub const fn plain(colour: Colour) -> Self {
        Paint { colour, lines: Lines::None }
    }

    /// The categories, then the same with lines; then what stands for all others.
    pub fn of(number: usize) -> Self {
        match number {
            n if n >= PAINTS => Paint::plain(OTHERS),
            n => {
                let lines = if n < CATEGORIES.len() { Lines::None } else { Lines::Rising };
                Paint { colour: CATEGORIES[n % CATEGORIES.len()], lines }
            }
        }
    }

    /// Greys with lines, [`PAINTS`] of them at least, for what has none of these.
    pub fn other(number: usize) -> Self {
        const ALL: [Lines; 5] = [Lines::Rising, Lines::Grid, Lines::Level, Lines::Dots, Lines::Upright];
        Paint { colour: GREYS[number / ALL.len() % GREYS.len()], lines: ALL[number % ALL.len()] }
    }

    /// Its colour where nothing can have lines: as dark as all of it is in the mean.
    pub fn mean(self) -> Colour {
        if self.lines == Lines::None { self.colour } else { mix(self.colour, INK, 0.75 / 4.0) }
    }

    /// Its colour in a pixel of a picture that is drawn `times` as large.
    pub fn at(self, x: usize, y: usize, times: usize) -> Colour {
        let on = |v: usize| v % (PERIOD * times) < PERIOD * times / 4;
        let lined = match self.lines {
            Lines::None => false,
            Lines::Rising => lined(x, y, times),
            Lines::Level => on(y),
            Lines::Upright => on(x),
            Lines::Grid => on(x) || on(y),
            Lines::Dots => on(x) && on(y),
        };
        if lined { mix(self.colour, INK, 0.75) } else { self.colour }
    }
}

/// Whether a pixel is on such a line.
pub fn lined(x: usize, y: usize, times: usize) -> bool {
    (x + y) % (PERIOD * times) < PERIOD * times / 4
}

/// From dark to light in even steps of lightness, through hues that the colour-blind tell apart: after viridis.
const SCALE: [Colour; 10] = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 74, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

/// A place on the scale: dark at 0, light at 1.
pub fn scale(t: f64) -> Colour {
    let t = t.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let i = (t as usize).min(SCALE.len() - 2);
    mix(SCALE[i], SCALE[i + 1], t - i as f64)
}

/// From `a` at 0 to `b` at 1.
pub fn mix(a: Colour, b: Colour, t: f64) -> Colour {
    [0, 1, 2].map(|i| (f64::from(a[i]) + (f64::from(b[i]) - f64::from(a[i])) * t).round() as u8)
}

/// Sizes of letters.
#[derive(Clone, Copy, PartialEq)]
pub enum Size {
    Text,
    Label,
    Title,
}

impl Size {
    fn font(self) -> (FontWeight, RasterHeight) {
        match self {
            Size::Text => (FontWeight::Regular, RasterHeight::Size16),
            Size::Label => (FontWeight::Regular, RasterHeight::Size24),
            Size::Title => (FontWeight::Bold, RasterHeight::Size24),
        }
    }

    /// Height of a line.
    pub fn height(self) -> usize {
        self.font().1.val()
    }

    /// Rows from the top of a line to the foot of its letters.
    pub fn foot(self) -> usize {
        let (weight, height) = self.font();
        let rows = get_raster('H', weight, height).map(|letter| letter.rows().enumerate()).into_iter().flatten();
        rows.filter(|(_, shades)| shades.iter().any(|s| *s > 127)).map(|(row, _)| row + 1).max().unwrap_or(0)
    }

    /// Width of a text: all letters are equally wide.
    pub fn width(self, text: &str) -> usize {
        let (weight, height) = self.font();
        drawn(text).chars().count() * get_raster_width(weight, height)
    }
}

/// A text in letters that the font has, the others as Latin ones that sound like them: "道路" as "Dao Lu". What has no sound is a
/// question mark.
pub fn drawn(text: &str) -> Cow<'_, str> {
    let (weight, height) = Size::Text.font();
    let has = |c: char| get_raster(c, weight, height).is_some();
    if text.chars().all(has) {
        return text.into();
    }
    let mut all = String::new();
    for c in text.chars() {
        match has(c) {
            true => all.push(c),
            false => all += deunicode_char(c).unwrap_or("?"),
        }
    }
    // a blank follows each Chinese syllable
    if !text.ends_with(has) {
        all.truncate(all.trim_end().len());
    }
    all.into()
}

/// What stands in a PNG that was made here, and from which byte on.
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

    /// Draws a ring about a place, `wide` pixels wide, so far beside it that nothing of it is cut off.
    pub fn ring(&mut self, [x, y]: [f64; 2], radius: f64, wide: f64, colour: Colour) {
        let reach = radius + wide;
        let [x, y] = [(x, self.width), (y, self.height)].map(|(v, size)| v.min(size as f64 - reach).max(reach));
        let range = |v: f64| (v - reach).floor() as i64..=(v + reach).ceil() as i64;
        for (row, column) in range(y).flat_map(|row| range(x).map(move |column| (row, column))) {
            let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
            let off = ((dx * dx + dy * dy).sqrt() - radius).abs();
            if let Some(p) = self.pixel(column, row).filter(|_| off <= wide / 2.0) {
                *p = colour;
            }
        }
    }

    /// Fills a disc about a place.
    pub fn disc(&mut self, [x, y]: [f64; 2], reach: f64, colour: Colour) {
        let range = |v: f64| (v - reach).floor() as i64..=(v + reach).ceil() as i64;
        for (row, column) in range(y).flat_map(|row| range(x).map(move |column| (row, column))) {
            let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
            if let Some(p) = self.pixel(column, row).filter(|_| dx * dx + dy * dy <= reach * reach) {
                *p = colour;
            }
        }
    }

    /// A number, `times` as large, in a white box to the upper right of what reaches so far from a place, or about the place if
    /// that is nothing; as near to it as nothing of it is cut off.
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

    /// Writes a text `times` as large, from its left and top on, as [`drawn`].
    pub fn letters(&mut self, [x, y]: [i64; 2], text: &str, size: Size, times: i64, colour: Colour) {
        self.write(text, size, colour, |column, row| {
            (0..times * times).map(move |k| [x + column * times + k % times, y + row * times + k / times])
        });
    }

    /// Writes a text that is read from below, from its top, on the left, and its start, at the bottom, on.
    pub fn letters_up(&mut self, [x, y]: [i64; 2], text: &str, size: Size, colour: Colour) {
        self.write(text, size, colour, |column, row| [[x + row, y - 1 - column]].into_iter());
    }

    /// Letters, each of whose pixels, by column and row of the text, goes to some places.
    fn write<P: Iterator<Item = [i64; 2]>>(
        &mut self,
        text: &str,
        size: Size,
        colour: Colour,
        places: impl Fn(i64, i64) -> P,
    ) {
        let (weight, height) = size.font();
        let mut left = 0;
        for letter in drawn(text).chars().filter_map(|c| get_raster(c, weight, height)) {
            for (row, shades) in letter.rows().enumerate() {
                for (column, shade) in shades.iter().enumerate().filter(|s| *s.1 > 0) {
                    for [x, y] in places((left + column) as i64, row as i64) {
                        if let Some(p) = self.pixel(x, y) {
                            *p = mix(*p, colour, f64::from(*shade) / 255.0);
                        }
                    }
                }
            }
            left += letter.width();
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
        for [a, b] in legs {
            let d = [b[0] - a[0], b[1] - a[1]];
            let square = d[0] * d[0] + d[1] * d[1];
            let range = |i: usize, most: usize| {
                let low = (a[i].min(b[i]) - reach).floor().clamp(0.0, most as f64);
                let high = (a[i].max(b[i]) + reach).ceil().clamp(0.0, most as f64);
                low as usize..high as usize
            };
            for row in range(1, self.height) {
                for column in range(0, self.width) {
                    // from the middle of the pixel to the nearest place of the leg
                    let [x, y] = [column as f64 + 0.5 - a[0], row as f64 + 0.5 - a[1]];
                    let t = if square > 0.0 { ((x * d[0] + y * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
                    let (x, y) = (x - t * d[0], y - t * d[1]);
                    let covered = (reach - (x * x + y * y).sqrt()).clamp(0.0, 1.0) as f32;
                    let c = &mut cover[row * self.width + column];
                    *c = c.max(covered);
                }
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
            // no pixel is passed over because a whole number is missed by a rounding
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

/// The part of a line inside the rectangle from zero to `size`, if there is one.
fn clipped(a: [f64; 2], b: [f64; 2], size: [f64; 2]) -> Option<[[f64; 2]; 2]> {
    let at = |t: f64| [0, 1].map(|i| a[i] + (b[i] - a[i]) * t);
    within([a, b], size).map(|ends| ends.map(at))
}

/// From which share of a line's length to which it is inside the rectangle from zero to `size`, if it is.
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

    /// L* of CIE 1976.
    fn lightness(c: Colour) -> f64 {
        let linear = |v: u8| match f64::from(v) / 255.0 {
            v if v <= 0.04045 => v / 12.92,
            v => ((v + 0.055) / 1.055).powf(2.4),
        };
        let y = 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
        116.0 * y.cbrt() - 16.0
    }

    #[test]
    fn the_scale_grows_lighter_in_even_steps() {
        let steps: Vec<f64> = (0..=20).map(|i| lightness(scale(f64::from(i) / 20.0))).collect();
        let even = (steps[20] - steps[0]) / 20.0;
        assert!(even > 3.5, "{steps:?}");
        for pair in steps.windows(2) {
            assert!((pair[1] - pair[0] - even).abs() < 0.35 * even, "{steps:?}");
        }
        assert_eq!((scale(-1.0), scale(2.0)), (SCALE[0], SCALE[9]));
    }

    #[test]
    fn every_letter_is_drawn() {
        for (text, wanted) in [
            ("Größe ñ", "Größe ñ"),
            ("Łąka İstanbul", "Łąka İstanbul"),
            ("Асфальт", "Asfal't"),
            ("道路", "Dao Lu"),
            ("道路 2", "Dao Lu  2"),
            ("Οδός", "Odos"),
            ("Đường", "Đuong"),
            ("\u{2212}3 m ", "-3 m "),
            ("\u{e000}", "?"),
        ] {
            assert_eq!(drawn(text), wanted);
            assert_eq!(Size::Text.width(text), Size::Text.width(wanted));
        }
    }

    #[test]
    fn paints_differ() {
        let tile = |paint: Paint| -> Vec<Colour> { (0..64).map(|i| paint.at(i % 8, i / 8, 1)).collect() };
        let all = (0..=PAINTS).map(Paint::of).chain((0..PAINTS).map(Paint::other)).map(tile);
        let all: std::collections::BTreeSet<Vec<Colour>> = all.collect();
        assert_eq!(all.len(), 2 * PAINTS + 1);
        assert!(all.iter().flatten().all(|c| *c != NOTHING));
    }

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
