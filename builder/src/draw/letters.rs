//! Letters of pictures.

use std::borrow::Cow;

use deunicode::deunicode_char;
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::{
    canvas::Canvas,
    colour::{Colour, mix},
};

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

/// A text in letters of the font. Other letters become Latin ones of like sound: "道路" becomes "Dao Lu". A letter
/// without sound becomes a question mark.
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

impl Canvas {
    /// Writes a text `times` as large, from its left and top on, as `drawn`.
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
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
