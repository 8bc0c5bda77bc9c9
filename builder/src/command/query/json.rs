//! Answers as JSON.

use std::io::{self, Write};

use hardpan::Terrain;
use serde_json::json;

use super::sheet::{Row, Shape, Sheet, fallen, slope};
use crate::query::table::{meant, unquoted};

/// One array, one object a line.
pub struct Json<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// `,"mu":…,"rr":…,"material":…` of each material, and `,"source":…` of each source.
    materials: Vec<Vec<u8>>,
    sources: Vec<Vec<u8>>,
    /// `,"name":` of each other column, empty of those that are part of the question.
    keys: Vec<Vec<u8>>,
    /// Whether another column is called as the height that was asked with.
    asked: bool,
    first: bool,
}

impl<'t, 'a, W: Write> Json<'t, 'a, W> {
    pub fn new(terrain: &'t Terrain<'a>, out: W) -> Self {
        let materials = terrain.materials().iter().enumerate().map(|(i, m)| {
            let name = json!(terrain.material_name(i as u16));
            format!(",\"mu\":{},\"rr\":{},\"material\":{name}", json!(m.mu), json!(m.rolling)).into()
        });
        let sources =
            (0..terrain.source_count()).map(|i| format!(",\"source\":{}", json!(terrain.source_name(i as u16))));
        let (materials, sources) = (materials.collect(), sources.map(String::into_bytes).collect());
        Json { materials, sources, terrain, out, line: Vec::new(), keys: Vec::new(), asked: false, first: true }
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
        if r.found() {
            let [sx, sy] = slope(self.terrain, r.hit);
            push_json(line, ",\"z\":", Some(self.terrain.z_f64(r.hit)));
            push_json(line, ",\"slope\":[", Some(sx));
            push_json(line, ",", Some(sy));
            line.push(b']');
            line.extend(self.materials.get(usize::from(r.hit.material)).map_or(&b""[..], |m| m));
            line.extend(self.sources.get(usize::from(r.hit.source)).map_or(&b""[..], |s| s));
        } else if r.filled {
            let [z, sx, sy, mu, rr] = fallen(self.terrain, r);
            push_json(line, ",\"z\":", Some(z));
            push_json(line, ",\"slope\":[", Some(sx));
            push_json(line, ",", Some(sy));
            push_json(line, "],\"mu\":", Some(mu));
            push_json(line, ",\"rr\":", Some(rr));
            line.extend(b",\"material\":null,\"source\":null");
        } else {
            line.extend(b",\"z\":null,\"slope\":null,\"mu\":null,\"rr\":null,\"material\":null,\"source\":null");
        }
        line.extend(b",\"status\":\"");
        line.extend(r.status.name().as_bytes());
        match r.reach() {
            "" => line.extend(b"\",\"reach\":null"),
            reach => _ = write!(line, "\",\"reach\":\"{reach}\""), // into memory
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
