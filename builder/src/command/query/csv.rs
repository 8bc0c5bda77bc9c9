//! Answers as CSV.

use std::io::{self, Write};

use hardpan::Terrain;

use super::sheet::{Row, Shape, Sheet, fallen, slope};

/// For programs: numbers in full, nothing where there is no ground.
pub struct Csv<'t, 'a, W> {
    terrain: &'t Terrain<'a>,
    out: W,
    line: Vec<u8>,
    /// Whether the points were typed: then z and length go with the answers, as from a file of such lines.
    typed: bool,
    /// `,mu,rr,name` of each material, and `,name` of each source.
    materials: Vec<Vec<u8>>,
    sources: Vec<Vec<u8>>,
}

impl<'t, 'a, W: Write> Csv<'t, 'a, W> {
    pub fn new(terrain: &'t Terrain<'a>, out: W, typed: bool) -> Self {
        let materials = terrain
            .materials()
            .iter()
            .enumerate()
            .map(|(i, m)| fields(&[&m.mu.to_string(), &m.rolling.to_string(), terrain.material_name(i as u16)]));
        let sources = (0..terrain.source_count()).map(|i| fields(&[terrain.source_name(i as u16)]));
        Csv { materials: materials.collect(), sources: sources.collect(), terrain, out, line: Vec::new(), typed }
    }
}

impl<W: Write> Sheet for Csv<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let (drive, layer) = (if shape.drive { "t,distance," } else { "" }, if shape.layers { "layer," } else { "" });
        write!(self.out, "{drive}x,y,{layer}z,slope_x,slope_y,mu,rr,material,source,status,reach")?;
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
        if r.found() {
            let [sx, sy] = slope(self.terrain, r.hit);
            [self.terrain.z_f64(r.hit), sx, sy].into_iter().for_each(|v| push_field(line, Some(v)));
            line.extend(self.materials.get(usize::from(r.hit.material)).map_or(&b",,,"[..], |m| m));
            line.extend(self.sources.get(usize::from(r.hit.source)).map_or(&b","[..], |s| s));
        } else if r.filled {
            fallen(self.terrain, r).into_iter().for_each(|v| push_field(line, Some(v)));
            line.extend(b",,");
        } else {
            line.extend(b",,,,,,,");
        }
        line.push(b',');
        line.extend(r.status.name().as_bytes());
        line.push(b',');
        line.extend(r.reach().as_bytes());
        r.passed.into_iter().for_each(|(passed, i)| line.extend(passed.line(i).as_bytes()));
        [r.ask.z, r.ask.length].into_iter().filter(|_| self.typed).for_each(|v| push_field(line, v));
        line.push(b'\n');
        self.out.write_all(&line[1..])
    }

    fn foot(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Fields of a line, each after a comma, in quotes where it needs them.
pub fn fields(fields: &[&str]) -> Vec<u8> {
    let field = |text: &&str| match text.contains([',', '"', '\n', '\r']) {
        true => format!(",\"{}\"", text.replace('"', "\"\"")),
        false => format!(",{text}"),
    };
    fields.iter().map(field).collect::<String>().into_bytes()
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
