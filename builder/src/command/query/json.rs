//! Answers as JSON.

use std::io::{self, Write};

use hardpan::Terrain;
use serde_json::json;

use super::sheet::{Row, Shape, Sheet};
use crate::query::column::{COLUMNS, Column, Value};
use crate::query::table::{meant, unquoted};

/// One array, one object a line.
pub struct Json<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// The values of each column that depend on the material or on the source alone, by its number; else none.
    values: Vec<Vec<Vec<u8>>>,
    /// `,"name":` of each other column, empty of those that are part of the question.
    keys: Vec<Vec<u8>>,
    /// Whether another column is called as the height that was asked with.
    asked: bool,
    first: bool,
}

impl<'t, 'a, W: Write> Json<'t, 'a, W> {
    pub fn new(terrain: &'t Terrain<'a>, out: W) -> Self {
        let text = |text: &str| json!(text).to_string().into_bytes();
        let number = |v: Option<f64>| json!(v).to_string().into_bytes();
        let values = |column: &Column| match column.value {
            // no point and no zero behind it
            Value::Whole(of) => terrain.materials().iter().map(|m| of(m).to_string().into_bytes()).collect(),
            _ => column.by_number(terrain, number, text),
        };
        let values = COLUMNS.iter().map(values).collect();
        Json { values, terrain, out, line: Vec::new(), keys: Vec::new(), asked: false, first: true }
    }
}

impl<W: Write> Sheet for Json<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let key = |key: &Option<String>| key.as_ref().map_or(Vec::new(), |key| format!(",{}:", json!(key)).into());
        self.keys = shape.keys.iter().map(key).collect();
        self.asked = shape.keys.iter().flatten().any(|key| key == "asked_z");
        write!(self.out, "[")
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let line = &mut self.line;
        line.clear();
        line.extend(if std::mem::take(&mut self.first) { &b"\n  {"[..] } else { b",\n  {" });
        push_json(line, "\"x\":", Some(r.ask.x));
        push_json(line, ",\"y\":", Some(r.ask.y));
        let answer = r.answer();
        for (column, values) in COLUMNS.iter().zip(&self.values) {
            _ = write!(line, ",\"{}\":", column.name); // into memory
            match &column.value {
                Value::Status => _ = write!(line, "\"{}\"", r.status.name()),
                Value::Reach if r.reach().is_empty() => line.extend(b"null"),
                Value::Reach => _ = write!(line, "\"{}\"", r.reach()),
                Value::Leaf if !r.found() => line.extend(b"null"),
                Value::Leaf => _ = write!(line, "\"{}\"", r.leaf()),
                value => match (value.number(r.hit).filter(|_| r.found()), value) {
                    (Some(number), _) => line.extend(values.get(number).map_or(&b"null"[..], |value| value)),
                    (None, Value::Place(of)) if r.shown() => match r.place(column, *of, self.terrain) {
                        [v, _] if column.parts.is_empty() => push_json(line, "", Some(v)),
                        [x, y] => {
                            push_json(line, "[", Some(x));
                            push_json(line, ",", Some(y));
                            line.push(b']');
                        }
                    },
                    (None, Value::Material(of)) if r.shown() => push_json(line, "", Some(of(self.terrain, &answer))),
                    _ => line.extend(b"null"),
                },
            }
        }
        r.layer.into_iter().for_each(|layer| _ = write!(line, ",\"layer\":{layer}"));
        if !self.asked {
            push_json(line, ",\"asked_z\":", r.ask.z);
        }
        r.ask.length.into_iter().for_each(|length| push_json(line, ",\"length\":", Some(length)));
        for (key, field) in self.keys.iter().zip(r.fields()).filter(|(key, _)| !key.is_empty()) {
            line.extend(key);
            push_field(line, field);
        }
        if let Some(stop) = r.stop {
            push_json(line, ",\"t\":", stop.t);
            push_json(line, ",\"distance\":", Some(stop.distance));
        }
        line.push(b'}');
        self.out.write_all(line)
    }

    fn foot(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n]")
    }
}

/// Appends a key and a number, or null.
fn push_json(line: &mut Vec<u8>, key: &str, v: Option<f64>) {
    line.extend(key.as_bytes());
    match v.filter(|v| v.is_finite()) {
        Some(v) => line.extend(zmij::Buffer::new().format_finite(v).as_bytes()),
        None => line.extend(b"null"),
    }
}

/// Appends a field as JSON: what reads as a number there as it stands, null for nothing, else the text that it means.
fn push_field(line: &mut Vec<u8>, field: &str) {
    let text = unquoted(field);
    // most texts show by their first letter that they are none
    let numeric = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    if numeric && serde_json::from_str::<serde_json::Number>(text).is_ok() {
        line.extend(text.as_bytes());
    } else if text.is_empty() {
        line.extend(b"null");
    } else {
        _ = serde_json::to_writer(line, &*meant(field)); // into memory
    }
}
