//! Pictures as lists of shapes: one description, written as SVG or drawn as PNG.

use std::fmt::Write;

use crate::util::text::is_unseen;

use super::{
    canvas::Canvas,
    colour::{Colour, WHITE},
    letters::Size,
};

/// A drawing on white; x to the right and y down, in pixels of an SVG.
pub struct Picture {
    pub size: [f64; 2],
    /// Later ones lie on earlier ones.
    pub shapes: Vec<Shape>,
}

pub enum Shape {
    Fill {
        at: [f64; 2],
        size: [f64; 2],
        colour: Colour,
    },
    /// A hair line, straight to the right or straight down.
    Rule {
        from: [f64; 2],
        to: [f64; 2],
        colour: Colour,
    },
    /// Lines through places; a part of one place is a dot.
    Curve {
        parts: Vec<Vec<[f64; 2]>>,
        width: f64,
        colour: Colour,
    },
    /// Its foot line starts, has its middle or ends at a place.
    Text {
        at: [f64; 2],
        text: String,
        align: Align,
        font: Font,
        colour: Colour,
    },
}

#[derive(Clone, Copy, PartialEq)]
pub enum Align {
    Start,
    Middle,
    End,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Font {
    Plain,
    Title,
    /// Strong, and read from below.
    Up,
}

/// Pixels of a PNG for one of an SVG.
const FINE: f64 = 2.0;

impl Picture {
    pub fn svg(&self) -> String {
        let [width, height] = self.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for shape in &self.shapes {
            let _ = match shape {
                Shape::Fill { at: [x, y], size: [w, h], colour } => {
                    writeln!(
                        out,
                        "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{w:.2}\" height=\"{h}\" fill=\"{}\"/>",
                        hex(*colour)
                    )
                }
                Shape::Rule { from: [x0, y0], to: [x1, y1], colour } => {
                    let (d, colour) = (format!("M{x0:.2} {y0:.2}L{x1:.2} {y1:.2}"), hex(*colour));
                    writeln!(out, "<path d=\"{d}\" stroke=\"{colour}\" shape-rendering=\"crispEdges\"/>")
                }
                Shape::Curve { parts, width, colour } => {
                    let mut d = String::new();
                    for part in parts {
                        let dot = part.first().filter(|_| part.len() == 1);
                        for (i, [x, y]) in part.iter().chain(dot).enumerate() {
                            let _ = write!(d, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
                        }
                    }
                    writeln!(
                        out,
                        "<path d=\"{d}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                        hex(*colour)
                    )
                }
                Shape::Text { at: [x, y], text, align, font, colour } => {
                    let place = match font {
                        Font::Up => {
                            format!("transform=\"translate({x:.2} {y:.2}) rotate(-90)\" font-weight=\"600\"")
                        }
                        Font::Title => format!("x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"16\" font-weight=\"600\""),
                        Font::Plain => format!("x=\"{x:.2}\" y=\"{y:.2}\""),
                    };
                    let align = match align {
                        Align::Start => "start",
                        Align::Middle => "middle",
                        Align::End => "end",
                    };
                    let (colour, text) = (hex(*colour), escaped(text));
                    writeln!(out, "<text {place} text-anchor=\"{align}\" fill=\"{colour}\">{text}</text>")
                }
            }; // into memory
        }
        out + "</svg>\n"
    }

    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        self.canvas().png()
    }

    fn canvas(&self) -> Canvas {
        let pixels = |v: f64| (v * FINE).round().max(0.0) as usize;
        let mut canvas = Canvas::new(pixels(self.size[0]), pixels(self.size[1]), WHITE);
        for shape in &self.shapes {
            match shape {
                Shape::Fill { at, size, colour } => {
                    let low = at.map(pixels);
                    let high = [0, 1].map(|i| pixels(at[i] + size[i]).max(low[i] + 1));
                    canvas.fill(low, [high[0] - low[0], high[1] - low[1]], *colour);
                }
                Shape::Rule { from, to, colour } => {
                    let (low, high) = (from.map(|v| pixels(v - 0.5)), to.map(|v| pixels(v + 0.5)));
                    canvas.fill(low, [high[0].saturating_sub(low[0]), high[1].saturating_sub(low[1])], *colour);
                }
                Shape::Curve { parts, width, colour } => {
                    let parts: Vec<Vec<[f64; 2]>> =
                        parts.iter().map(|part| part.iter().map(|p| p.map(|v| v * FINE)).collect()).collect();
                    canvas.curve(&parts, width * FINE, *colour);
                }
                Shape::Text { at, text, align, font, colour } => {
                    let size = if *font == Font::Plain { Size::Label } else { Size::Title };
                    let before = match align {
                        Align::Start => 0,
                        Align::Middle => size.width(text) as i64 / 2,
                        Align::End => size.width(text) as i64,
                    };
                    let [x, y] = at.map(|v| (v * FINE).round() as i64);
                    let foot = size.foot() as i64;
                    match font {
                        Font::Up => canvas.letters_up([x - foot, y + before], text, size, *colour),
                        _ => canvas.letters([x - before, y - foot], text, size, 1, *colour),
                    }
                }
            }
        }
        canvas
    }
}

/// A colour as SVG has it.
pub fn hex([r, g, b]: Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A text within SVG or HTML.
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::colour::INK;

    #[test]
    fn one_picture_twice() {
        let (red, blue) = ([200, 0, 0], [0, 0, 200]);
        let text = |font, align, at| Shape::Text { at, text: "H<".into(), align, font, colour: INK };
        let picture = Picture {
            size: [60.0, 40.0],
            shapes: vec![
                Shape::Fill { at: [1.0, 2.0], size: [3.0, 4.0], colour: red },
                Shape::Rule { from: [10.0, 10.0], to: [20.0, 10.0], colour: blue },
                Shape::Curve {
                    parts: vec![vec![[30.0, 5.0], [50.0, 5.0]], vec![[55.0, 20.0]]],
                    width: 2.0,
                    colour: blue,
                },
                text(Font::Plain, Align::Start, [10.0, 30.0]),
                text(Font::Up, Align::Start, [50.0, 38.0]),
            ],
        };
        let svg = picture.svg();
        for part in [
            "viewBox=\"0 0 60 40\"",
            "<rect x=\"1.00\" y=\"2\" width=\"3.00\" height=\"4\" fill=\"#c80000\"/>",
            "<path d=\"M10.00 10.00L20.00 10.00\" stroke=\"#0000c8\"",
            "<path d=\"M30.00 5.00L50.00 5.00M55.00 20.00L55.00 20.00\" fill=\"none\" stroke=\"#0000c8\" stroke-width=\"2\"",
            "<text x=\"10.00\" y=\"30.00\" text-anchor=\"start\" fill=\"#202226\">H&lt;</text>",
            "translate(50.00 38.00) rotate(-90)",
        ] {
            assert!(svg.contains(part), "no {part} in {svg}");
        }
        let mut canvas = picture.canvas();
        assert_eq!((canvas.width, canvas.height), (120, 80));
        let mut at = |x: i64, y: i64| *canvas.pixel(x, y).unwrap();
        assert_eq!([at(1, 4), at(2, 4), at(7, 11), at(8, 11)], [WHITE, red, red, WHITE]);
        assert_eq!([at(30, 18), at(30, 19), at(30, 20), at(30, 21)], [WHITE, blue, blue, WHITE]);
        assert_eq!([at(80, 7), at(80, 8), at(80, 11), at(80, 12)], [WHITE, blue, blue, WHITE]);
        assert_eq!((at(110, 40), at(110, 44)), (blue, WHITE), "a dot");
        // letters stand on their foot line, at y = 60 and at x = 100
        let dark = |c: Colour| c[0] < 128;
        assert!((20..34).any(|x| dark(at(x, 59))) && !(20..48).any(|x| dark(at(x, 60))));
        assert!((62..76).any(|y| dark(at(99, y))) && !(50..76).any(|y| dark(at(100, y))));
    }
}
