//! The frame of a map: title, coordinates, scale bar, legend and notes.

use std::path::Path;

use serde_json::Value;

use super::{
    canvas::Canvas,
    colour::{Colour, INK, NOTHING, WHITE},
    letters::Size,
    scale::{Bar, LONG, decimals, ticks},
    view::View,
};
use crate::check::ground::pairs::ALL;
use crate::util::text::{coordinate, metres, named};

/// A line of a legend.
pub enum Key {
    /// A colour and what it means.
    Box(Colour, String),
    Bar(Bar),
    /// A line of a colour.
    Line(Colour, String),
    /// A ring of a colour.
    Ring(Colour, String),
    /// A dot of a colour.
    Dot(Colour, String),
}

/// A map without its frame.
pub struct Drawn {
    pub ground: Canvas,
    pub keys: Vec<Key>,
    /// Lines beneath.
    pub notes: Vec<String>,
    /// Lines that are printed alone.
    pub details: Vec<String>,
    pub facts: Value,
}

/// A drawn map.
pub struct Sheet {
    pub canvas: Canvas,
    /// Left and top of the ground in it.
    pub at: [usize; 2],
    /// Lines beneath the picture.
    pub notes: Vec<String>,
    /// Lines that are printed alone.
    pub details: Vec<String>,
    /// The same for programs.
    pub facts: Value,
    /// Whether no pixel shows ground.
    pub barren: bool,
}

impl Sheet {
    /// Its file, its pixels, and its notes.
    pub fn caption(&self, place: &Path, view: &View) -> String {
        let pixel = metres(1.0 / view.per_metre);
        format!("{}: {} x {} pixels, {pixel} each; {}", named(place), view.width, view.height, self.notes.join("; "))
    }
}

/// The key of places without ground.
pub fn no_ground(view: &View) -> Key {
    Key::Box(NOTHING, no_ground_label(view))
}

/// No ground at the heights that count.
pub fn no_ground_label(view: &View) -> String {
    format!("no ground{}", band(view.heights))
}

/// ` above 5 m`: which heights count, if not all do.
fn band([low, high]: [f64; 2]) -> String {
    match (low.is_finite(), high.is_finite()) {
        (false, false) => String::new(),
        (true, false) => format!(" above {} m", coordinate(low)),
        (false, true) => format!(" below {} m", coordinate(high)),
        (true, true) => format!(" from {} to {} m", coordinate(low), coordinate(high)),
    }
}

/// How large letters and lines of a picture are drawn.
pub fn magnitude(view: &View) -> usize {
    ((view.width.max(view.height) + 800) / 1600).max(1)
}

/// Puts title, coordinates, scale bar, legend and notes around a map, and hatches places without ground.
pub fn frame(drawn: Drawn, title: &str, view: &View) -> Sheet {
    let Drawn { ground, keys, notes, details, facts } = drawn;
    let pen = Pen { k: magnitude(view) };
    let heights = if view.heights == ALL { String::new() } else { format!("ground{}; ", band(view.heights)) };
    let subtitle = format!("coordinates in metres; {heights}{} a pixel; north is up", metres(1.0 / view.per_metre));
    let [across, up] = axes(view, pen);
    let margin = up.iter().map(|(_, label)| pen.wide(label)).max().unwrap_or(0) + pen.gap();
    let [left, top] = [pen.edge() + margin, pen.edge() + pen.title() + pen.line() + 2 * pen.gap()];
    let texts = notes.iter().chain([&subtitle]).map(|text| pen.wide(text));
    let inner = texts.chain([Size::Title.width(title) * pen.k, margin + ground.width]).max().unwrap_or(0);
    let (places, rows) = legend(&keys, inner, pen);
    let inner = keys.iter().map(|key| pen.key_width(key)).max().unwrap_or(0).max(inner);
    let below = 2 * pen.line() + pen.gap() + 2 * pen.line() + pen.gap() + (rows + notes.len()) * pen.pitch();
    let size = [inner + 2 * pen.edge(), top + ground.height + below + pen.edge()];
    let mut canvas = Canvas::new(size[0], size[1], WHITE);
    pen.write(&mut canvas, [pen.edge(); 2], title, Size::Title);
    pen.write(&mut canvas, [pen.edge(), top - pen.line() - pen.gap()], &subtitle, Size::Text);
    canvas.fill([left - pen.k, top - pen.k], [ground.width + 2 * pen.k, ground.height + 2 * pen.k], INK);
    canvas.paste(&ground, [left, top]);
    canvas.hatch([left, top], [ground.width, ground.height], pen.k);
    pen.axes(&mut canvas, [left, top + ground.height], [&across, &up]);

    let mut y = top + ground.height + 2 * pen.line();
    pen.scale_bar(&mut canvas, [left, y], scale_bar(view, ground.width.max(200 * pen.k)));
    y += 2 * pen.line() + 2 * pen.gap();
    for (key, [x, row]) in keys.iter().zip(places) {
        pen.key(&mut canvas, [pen.edge() + x, y + row * pen.pitch()], key);
    }
    for (i, note) in notes.iter().enumerate() {
        pen.write(&mut canvas, [pen.edge(), y + (rows + i) * pen.pitch()], note, Size::Text);
    }
    let barren = ground.pixels.iter().all(|p| *p == NOTHING);
    Sheet { canvas, at: [left, top], notes, details, facts, barren }
}

/// Round coordinates along the lower and the left side, with their pixels from the south-west.
fn axes(view: &View, pen: Pen) -> [Vec<(f64, String)>; 2] {
    let [west, south, east, north] = view.window();
    let k = pen.k as f64;
    let along = |ends, long: usize, least: f64| -> Vec<(f64, String)> {
        let room = |label: &str| (Size::Text.width(label) as f64 + 24.0).max(least);
        let marks = ticks(ends, long as f64 / k, decimals, room);
        marks.into_iter().map(|(at, label)| (at * k, label)).collect()
    };
    [along([west, east], view.width, 100.0), along([south, north], view.height, 64.0)]
}

/// Where each key of a legend goes, by pixels from the left and rows; and how many rows there are.
fn legend(keys: &[Key], inner: usize, pen: Pen) -> (Vec<[usize; 2]>, usize) {
    let (mut places, mut x, mut row, mut rows) = (Vec::new(), 0, 0, 0);
    for key in keys {
        let width = pen.key_width(key);
        if x > 0 && x + width > inner {
            (x, row) = (0, rows);
        }
        let numbers = matches!(key, Key::Bar(bar) if !bar.ticks.is_empty()); // beneath it
        rows = rows.max(row + 1 + usize::from(numbers));
        places.push([x, row]);
        x += width + 2 * pen.gap();
    }
    (places, rows)
}

/// A round length of at most a third of this many pixels, and its pixels.
fn scale_bar(view: &View, pixels: usize) -> (f64, usize) {
    let most = pixels as f64 / 3.0 / view.per_metre;
    let ten = 10f64.powf(most.log10().floor());
    let length = [5.0, 2.0, 1.0].into_iter().map(|n| n * ten).find(|n| *n <= most).unwrap_or(ten);
    (length, (length * view.per_metre).round().max(1.0) as usize)
}

/// Writes and draws `k` times as large as in a small picture.
#[derive(Clone, Copy)]
struct Pen {
    k: usize,
}

impl Pen {
    fn edge(self) -> usize {
        16 * self.k
    }

    fn gap(self) -> usize {
        8 * self.k
    }

    fn line(self) -> usize {
        Size::Text.height() * self.k
    }

    fn title(self) -> usize {
        Size::Title.height() * self.k
    }

    /// From a line to the next.
    fn pitch(self) -> usize {
        self.line() + self.gap()
    }

    fn wide(self, text: &str) -> usize {
        Size::Text.width(text) * self.k
    }

    /// Width of the sign before the label of a key.
    fn symbol(self) -> usize {
        3 * self.line() / 2
    }

    fn key_width(self, key: &Key) -> usize {
        match key {
            Key::Box(_, text) | Key::Line(_, text) | Key::Ring(_, text) | Key::Dot(_, text) => {
                self.symbol() + self.gap() + self.wide(text)
            }
            Key::Bar(Bar { ends: [low, high], .. }) => {
                self.wide(low) + LONG * self.k + 2 * self.gap() + self.wide(high)
            }
        }
    }

    fn write(self, canvas: &mut Canvas, at: [usize; 2], text: &str, size: Size) {
        canvas.letters(at.map(|v| v as i64), text, size, self.k as i64, INK);
    }

    /// Writes a text about a place, moved inwards at the border so that all of it shows.
    fn write_about(self, canvas: &mut Canvas, [x, y]: [usize; 2], text: &str) {
        let left = x.saturating_sub(self.wide(text) / 2).min(canvas.width.saturating_sub(self.wide(text)));
        self.write(canvas, [left, y], text, Size::Text);
    }

    /// Ticks and coordinates beside ground with such a lower left corner.
    fn axes(self, canvas: &mut Canvas, [left, bottom]: [usize; 2], [across, up]: [&[(f64, String)]; 2]) {
        let k = self.k;
        for (at, label) in across {
            let x = left + *at as usize;
            canvas.fill([x, bottom], [k, 5 * k], INK);
            self.write_about(canvas, [x, bottom + 6 * k], label);
        }
        for (at, label) in up {
            let y = bottom - *at as usize;
            canvas.fill([left - 5 * k, y], [5 * k, k], INK);
            let top = y.saturating_sub(self.line() / 2);
            self.write(canvas, [left - 6 * k - self.wide(label), top], label, Size::Text);
        }
    }

    /// A bar of a length and its pixels, with a number at each end.
    fn scale_bar(self, canvas: &mut Canvas, [x, y]: [usize; 2], (length, pixels): (f64, usize)) {
        let (k, high) = (self.k, self.line() / 2);
        canvas.fill([x, y], [pixels, high], INK);
        canvas.fill([x + pixels / 2, y + k], [(pixels / 2).saturating_sub(k), high - 2 * k], WHITE);
        self.write_about(canvas, [x, y + high + 2 * k], "0");
        let label = metres(length);
        let right = (x + pixels).max(x + self.wide("0") + self.wide(&label) / 2);
        self.write_about(canvas, [right, y + high + 2 * k], &label);
    }

    fn key(self, canvas: &mut Canvas, [x, y]: [usize; 2], key: &Key) {
        let (k, line, wide) = (self.k, self.line(), self.symbol());
        let middle = [x + wide / 2, y + line / 2].map(|v| v as f64);
        let text = match key {
            Key::Box(colour, text) => {
                canvas.fill([x, y], [wide, line], INK);
                canvas.fill([x + k, y + k], [wide - 2 * k, line - 2 * k], *colour);
                canvas.hatch([x + k, y + k], [wide - 2 * k, line - 2 * k], k);
                text
            }
            Key::Line(colour, text) => {
                canvas.fill([x, y + line / 2 - k], [wide, 2 * k], *colour);
                text
            }
            Key::Ring(colour, text) => {
                canvas.ring(middle, 0.4 * line as f64, 1.5 * k as f64, *colour);
                text
            }
            Key::Dot(colour, text) => {
                canvas.disc(middle, 2.5 * k as f64, *colour);
                text
            }
            Key::Bar(bar) => return self.bar(canvas, [x, y], bar),
        };
        self.write(canvas, [x + wide + self.gap(), y], text, Size::Text);
    }

    fn bar(self, canvas: &mut Canvas, [x, y]: [usize; 2], Bar { colours, ends: [low, high], ticks }: &Bar) {
        let (k, line) = (self.k, self.line());
        self.write(canvas, [x, y], low, Size::Text);
        let x = x + self.wide(low) + self.gap();
        for (i, colour) in colours.iter().enumerate() {
            canvas.fill([x + i * k, y], [k, line], *colour);
        }
        self.write(canvas, [x + LONG * k + self.gap(), y], high, Size::Text);
        for (at, number) in ticks {
            let x = x + (at * k as f64) as usize;
            canvas.fill([x, y + line], [k, 4 * k], INK);
            self.write_about(canvas, [x, y + line + 4 * k], number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_round_and_fit() {
        for per_metre in [0.003, 0.7, 6.0, 1234.5] {
            let view = View { west: 0.0, north: 0.0, per_metre, width: 900, height: 10, heights: ALL };
            let (length, pixels) = scale_bar(&view, 900);
            assert!((60..=300).contains(&pixels), "{pixels}");
            assert!(["1", "2", "5"].contains(&format!("{length:e}").split('e').next().unwrap()), "{length:e}");
        }
    }

    #[test]
    fn coordinates_lie_where_they_say() {
        for (west, per_metre) in [(-37.25, 8.0), (388_096.5, 0.31), (0.01, 90_000.0)] {
            let view = View { west, north: 12.5, per_metre, width: 800, height: 400, heights: ALL };
            let [across, up] = axes(&view, Pen { k: 1 });
            assert!(across.len() >= 2 && up.len() >= 2, "{across:?} {up:?}");
            let value = |label: &String| label.parse::<f64>().unwrap();
            for (at, label) in &across {
                assert!((west + at / per_metre - value(label)).abs() < 1e-6, "{at} {label}");
            }
            for (at, label) in &up {
                assert!((12.5 - (400.0 - at) / per_metre - value(label)).abs() < 1e-6, "{at} {label}");
            }
        }
    }
}
