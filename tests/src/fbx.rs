//! Small FBX files, written as text or as bytes of any kind.

use std::fmt::Write as _;

/// Value behind a record's name.
#[derive(Clone, Debug)]
pub enum Value {
    Int(i32),
    Long(i64),
    Real(f64),
    Text(String),
    /// A class and the name of one of it.
    Name(&'static str, String),
    Ints(Vec<i32>),
    Reals(Vec<f64>),
}

impl From<i32> for Value {
    fn from(v: i32) -> Self {
        Value::Int(v)
    }
}
impl From<i64> for Value {
    fn from(v: i64) -> Self {
        Value::Long(v)
    }
}
impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Value::Real(v)
    }
}
impl From<&str> for Value {
    fn from(v: &str) -> Self {
        Value::Text(v.into())
    }
}

/// A record and those in it.
#[derive(Clone, Debug)]
pub struct Record {
    pub name: &'static str,
    pub values: Vec<Value>,
    pub inside: Vec<Record>,
}

/// A record: `record!("Name", 1, 2.0, "three"; inside)`.
#[macro_export]
macro_rules! record {
    ($name:expr $(, $value:expr)* $(; $inside:expr)?) => {{
        #[allow(unused_mut, unused_assignments)]
        let mut inside: Vec<$crate::fbx::Record> = Vec::new();
        $(inside = $inside.into();)?
        $crate::fbx::Record { name: $name, values: vec![$($value.into()),*], inside }
    }};
}

/// A mesh: corners of faces from zero, and for each face the place of its material in the object's list.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub points: Vec<[f64; 3]>,
    pub faces: Vec<Vec<i32>>,
    pub materials: Vec<i32>,
}

/// An object: where it stands, and what it has.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub name: &'static str,
    /// Place of the object that it stands in.
    pub parent: Option<usize>,
    pub vectors: Vec<(&'static str, [f64; 3])>,
    pub switches: Vec<(&'static str, i32)>,
    /// Place of its mesh.
    pub mesh: Option<usize>,
    pub materials: Vec<&'static str>,
}

/// Places (0 to 2) and signs of the axes that point right, to the front and up; centimetres of a unit.
#[derive(Clone, Copy, Debug)]
pub struct Says {
    pub right: (i32, i32),
    pub front: (i32, i32),
    pub up: (i32, i32),
    pub unit: f64,
}

impl Says {
    pub const Y_UP_CM: Says = Says { right: (0, 1), front: (2, 1), up: (1, 1), unit: 1.0 };
    pub const Z_UP_M: Says = Says { right: (0, 1), front: (1, -1), up: (2, 1), unit: 100.0 };
}

/// The records of a whole file.
pub fn document(version: i32, says: Option<Says>, meshes: &[Mesh], objects: &[Object]) -> Vec<Record> {
    let head = record!("FBXHeaderExtension"; [record!("FBXHeaderVersion", 1003), record!("FBXVersion", version)]);
    let int = |name: &str, v: i32| record!("P", name, "int", "Integer", "", v);
    let settings = says.iter().flat_map(|s| {
        let axes = [("CoordAxis", s.right), ("FrontAxis", s.front), ("UpAxis", s.up)];
        let mut all: Vec<Record> = axes.iter().map(|(name, (axis, _))| int(name, *axis)).collect();
        all.extend(axes.iter().map(|(name, (_, sign))| int(&format!("{name}Sign"), *sign)));
        all.push(record!("P", "UnitScaleFactor", "double", "Number", "", s.unit));
        all
    });
    let settings =
        record!("GlobalSettings"; [record!("Version", 1000), record!("Properties70"; settings.collect::<Vec<_>>())]);
    let mut names: Vec<&str> = objects.iter().flat_map(|o| o.materials.iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let [mesh_id, object_id, material_id] = [1_000i64, 2_000_000, 3_000_000];
    let mut all = Vec::new();
    for (id, m) in (mesh_id..).zip(meshes) {
        let mut corners: Vec<i32> = Vec::new();
        for face in &m.faces {
            corners.extend(face);
            let last = corners.len() - 1;
            corners[last] = !corners[last];
        }
        let reals = |name| Record { name, values: vec![Value::Reals(m.points.concat())], inside: vec![] };
        let ints = |name, list: &[i32]| Record { name, values: vec![Value::Ints(list.to_vec())], inside: vec![] };
        let mut inside = vec![reals("Vertices"), ints("PolygonVertexIndex", &corners)];
        if !m.materials.is_empty() {
            let layer = [
                record!("MappingInformationType", "ByPolygon"),
                record!("ReferenceInformationType", "IndexToDirect"),
                ints("Materials", &m.materials),
            ];
            inside.push(record!("LayerElementMaterial", 0; layer));
            let element = record!("LayerElement"; [record!("Type", "LayerElementMaterial"), record!("TypedIndex", 0)]);
            inside.push(record!("Layer", 0; [element]));
        }
        all.push(record!("Geometry", id, Value::Name("Geometry", String::new()), "Mesh"; inside));
    }
    for (id, o) in (object_id..).zip(objects) {
        let mut props: Vec<Record> =
            o.vectors.iter().map(|&(name, [x, y, z])| record!("P", name, "Vector3D", "Vector", "", x, y, z)).collect();
        props.extend(o.switches.iter().map(|&(name, v)| int(name, v)));
        let kind = if o.mesh.is_some() { "Mesh" } else { "Null" };
        let inside = [record!("Version", 232), record!("Properties70"; props)];
        all.push(record!("Model", id, Value::Name("Model", o.name.into()), kind; inside));
    }
    for (id, name) in (material_id..).zip(&names) {
        all.push(record!("Material", id, Value::Name("Material", (*name).into()), ""; [record!("Version", 102)]));
    }
    let mut links = Vec::new();
    for (id, o) in (object_id..).zip(objects) {
        links.push(record!("C", "OO", id, o.parent.map_or(0, |p| object_id + p as i64)));
        links.extend(o.mesh.map(|m| record!("C", "OO", mesh_id + m as i64, id)));
        for name in &o.materials {
            let at = names.iter().position(|n| n == name).unwrap_or_default();
            links.push(record!("C", "OO", material_id + at as i64, id));
        }
    }
    vec![head, settings, record!("Objects"; all), record!("Connections"; links)]
}

/// As text.
pub fn text(version: i32, records: &[Record]) -> String {
    let mut out = format!("; FBX {}.{}.0 project file\n", version / 1000, version / 100 % 10);
    records.iter().for_each(|r| write_text(r, 0, &mut out));
    out
}

fn write_text(r: &Record, depth: usize, out: &mut String) {
    let tabs = "\t".repeat(depth);
    let list = |v: Vec<String>| format!("*{} {{\n{tabs}\ta: {}\n{tabs}}}", v.len(), v.join(","));
    let values = r.values.iter().map(|v| match v {
        Value::Int(v) => v.to_string(),
        Value::Long(v) => v.to_string(),
        Value::Real(v) => v.to_string(),
        Value::Text(v) => format!("\"{v}\""),
        Value::Name(class, name) => format!("\"{class}::{name}\""),
        Value::Ints(v) => list(v.iter().map(ToString::to_string).collect()),
        Value::Reals(v) => list(v.iter().map(ToString::to_string).collect()),
    });
    let values: Vec<String> = values.collect();
    let _ = write!(out, "{tabs}{}: {}", r.name, values.join(", "));
    if !r.inside.is_empty() {
        out.push_str(" {\n");
        r.inside.iter().for_each(|r| write_text(r, depth + 1, out));
        let _ = write!(out, "{tabs}}}");
    }
    out.push('\n');
}

/// As bytes, of big-endian numbers if so; arrays in deflated form (without making them smaller) if so.
pub fn binary(version: i32, records: &[Record], big: bool, packed: bool) -> Vec<u8> {
    let mut w = Writer { out: b"Kaydara FBX Binary  \0\x1A".to_vec(), big, packed, wide: version >= 7500 };
    w.out.push(u8::from(big));
    w.number(version as u64, 4);
    records.iter().for_each(|r| w.record(r));
    w.nothing();
    // a foot: 16 bytes of the file's own, the version, 120 zero bytes, and 16 bytes that are the same in all files
    w.out.extend([0xFA; 16]);
    w.out.extend(std::iter::repeat_n(0, 16 - w.out.len() % 16));
    w.number(version as u64, 4);
    w.out.extend([0; 120]);
    w.out.extend(b"\xF8\x5A\x8C\x6A\xDE\xF5\xD9\x7E\xEC\xE9\x0C\xE3\x75\x8F\x29\x0B");
    w.out
}

struct Writer {
    out: Vec<u8>,
    big: bool,
    packed: bool,
    wide: bool,
}

impl Writer {
    fn number(&mut self, v: u64, bytes: usize) {
        let little = v.to_le_bytes();
        let part = &little[..bytes];
        if self.big { self.out.extend(part.iter().rev()) } else { self.out.extend(part) }
    }

    fn nothing(&mut self) {
        let length = if self.wide { 25 } else { 13 };
        self.out.extend(std::iter::repeat_n(0, length));
    }

    fn patch(&mut self, at: usize, v: u64, bytes: usize) {
        let part = &mut self.out[at..at + bytes];
        part.copy_from_slice(&v.to_le_bytes()[..bytes]);
        if self.big {
            part.reverse();
        }
    }

    fn record(&mut self, r: &Record) {
        let bytes = if self.wide { 8 } else { 4 };
        let start = self.out.len();
        self.number(0, bytes);
        self.number(r.values.len() as u64, bytes);
        self.number(0, bytes);
        self.out.push(r.name.len() as u8);
        self.out.extend(r.name.as_bytes());
        let before = self.out.len();
        r.values.iter().for_each(|v| self.value(v));
        let length = self.out.len() - before;
        if !r.inside.is_empty() {
            r.inside.iter().for_each(|r| self.record(r));
            self.nothing();
        }
        let end = self.out.len() as u64;
        self.patch(start, end, bytes);
        self.patch(start + 2 * bytes, length as u64, bytes);
    }

    fn value(&mut self, v: &Value) {
        match v {
            Value::Int(v) => {
                self.out.push(b'I');
                self.number(*v as u32 as u64, 4);
            }
            Value::Long(v) => {
                self.out.push(b'L');
                self.number(*v as u64, 8);
            }
            Value::Real(v) => {
                self.out.push(b'D');
                self.number(v.to_bits(), 8);
            }
            Value::Text(v) => self.string(v.as_bytes()),
            Value::Name(class, name) => self.string(format!("{name}\0\x01{class}").as_bytes()),
            Value::Ints(v) => self.array(b'i', v.iter().map(|v| *v as u32 as u64), 4),
            Value::Reals(v) => self.array(b'd', v.iter().map(|v| v.to_bits()), 8),
        }
    }

    fn string(&mut self, bytes: &[u8]) {
        self.out.push(b'S');
        self.number(bytes.len() as u64, 4);
        self.out.extend(bytes);
    }

    fn array(&mut self, kind: u8, values: impl Iterator<Item = u64>, bytes: usize) {
        let mut plain = Writer { out: Vec::new(), big: self.big, packed: false, wide: false };
        values.for_each(|v| plain.number(v, bytes));
        let count = plain.out.len() / bytes;
        let data = if self.packed { stored(&plain.out) } else { plain.out };
        self.out.push(kind);
        self.number(count as u64, 4);
        self.number(self.packed.into(), 4);
        self.number(data.len() as u64, 4);
        self.out.extend(data);
    }
}

/// A zlib stream of stored blocks.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(65_535).max(1);
    for i in 0..blocks {
        let block = &data[i * 65_535..data.len().min((i + 1) * 65_535)];
        out.push(u8::from(i + 1 == blocks));
        out.extend((block.len() as u16).to_le_bytes());
        out.extend((!(block.len() as u16)).to_le_bytes());
        out.extend(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for v in data {
        a = (a + u32::from(*v)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}
