//! Answers as CSV.

use std::io::{self, Write};

use hardpan::Terrain;

use super::sheet::{Row, Shape, Sheet};
use crate::query::column::{COLUMNS, Column, Value};

/// For programs: numbers in full, nothing where there is no ground.
pub struct Csv<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// Whether the points were typed: then z and length go with the answers, as from a file of such lines.
    typed: bool,
    /// The fields of each column that depend on the material or on the source alone, by its number; else none.
    fields: Vec<Vec<Vec<u8>>>,
}

impl<'t, 'a, W: Write> Csv<'t, 'a, W> {
    pub fn new(terrain: &'t Terrain<'a>, out: W, typed: bool) -> Self {
        let number = |v: Option<f64>| field(&v.map(|v| v.to_string()).unwrap_or_default());
        let fields = COLUMNS.iter().map(|column| column.by_number(terrain, number, field));
        Csv { fields: fields.collect(), terrain, out, line: Vec::new(), typed }
    }
}

impl<W: Write> Sheet for Csv<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let (drive, layer) = (if shape.drive { "t,distance," } else { "" }, if shape.layers { "layer," } else { "" });
        let names: Vec<String> = COLUMNS.iter().flat_map(Column::names).collect();
        write!(self.out, "{drive}x,y,{layer}{}", names.join(","))?;
        shape.names.iter().try_for_each(|name| write!(self.out, ",{name}"))?;
        write!(self.out, "{}", if self.typed { ",asked_z,length" } else { "" })?;
        writeln!(self.out)
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        let driven = r.stop.into_iter().flat_map(|stop| [stop.t, Some(stop.distance)]);
        let asked = driven.chain([Some(r.ask.x), Some(r.ask.y)]).chain(r.layer.map(|layer| Some(layer.into())));
        asked.for_each(|v| push_field(line, v));
        let answer = r.answer();
        for (column, fields) in COLUMNS.iter().zip(&self.fields) {
            match &column.value {
                Value::Status => put(line, r.status.name()),
                Value::Reach => put(line, r.reach()),
                Value::Leaf => put(line, r.leaf()),
                value => match (value.number(r.hit).filter(|_| r.found()), value) {
                    (Some(number), _) => line.extend(fields.get(number).map_or(&b","[..], |field| field)),
                    (None, Value::Place(of)) if r.shown() => {
                        r.place(column, *of, self.terrain)[..column.width()]
                            .iter()
                            .for_each(|v| push_field(line, Some(*v)));
                    }
                    (None, Value::Material(of)) if r.shown() => push_field(line, Some(of(self.terrain, &answer))),
                    _ => line.extend(std::iter::repeat_n(b',', column.width())),
                },
            }
        }
        r.passed.into_iter().for_each(|(passed, i)| line.extend(passed.line(i).as_bytes()));
        [r.ask.z, r.ask.length].into_iter().filter(|_| self.typed).for_each(|v| push_field(line, v));
        line.push(b'\n');
        self.out.write_all(&line[1..])
    }

    fn foot(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A field of a line after a comma, in quotes where it needs them.
pub fn field(text: &str) -> Vec<u8> {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!(",\"{}\"", text.replace('"', "\"\"")).into(),
        false => format!(",{text}").into(),
    }
}

/// Appends a comma, and a word that needs no quotes.
fn put(line: &mut Vec<u8>, word: &str) {
    line.push(b',');
    line.extend(word.as_bytes());
}

/// Appends a comma, and a number if there is one.
pub fn push_field(line: &mut Vec<u8>, v: Option<f64>) {
    line.push(b',');
    v.into_iter().for_each(|v| push_number(line, v));
}

/// Appends the shortest text that reads as the same number, without an exponent.
pub fn push_number(line: &mut Vec<u8>, v: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(v).as_bytes();
    if text.contains(&b'e') {
        let _ = write!(line, "{v}"); // no exponents; into memory
    } else {
        line.extend(text.strip_suffix(b".0").unwrap_or(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_text_of_a_number() {
        let mut bits = 1u64;
        let random = (0..200_000).map(|i| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match i % 3 {
                0 => f64::from_bits(bits ^ bits >> 31),
                1 => (bits as i64 >> 20) as f64 / 16_777_216.0,
                _ => (bits as i64 >> 40) as f64 / 1000.0,
            }
        });
        let odd = [0.0, -0.0, 6.0, 1e15, 1e16, -1e22, 1e-5, 1.5e-5, 0.0001, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY];
        for v in random.chain(odd).chain(odd.map(|v| -v)) {
            let mut line = Vec::new();
            push_number(&mut line, v);
            let (text, shown) = (String::from_utf8(line).unwrap(), v.to_string());
            let same = text.parse().map(f64::to_bits) == Ok(v.to_bits()) || v.is_nan() && text == shown;
            // where two shortest texts are equally near, either
            assert!(same && text.len() == shown.len() && !text.contains('e'), "{text} is not {shown}");
        }
    }
}
