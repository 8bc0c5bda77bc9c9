//! The columns of an answer: each is named here once, for tables, CSV, JSON and Python.

use hardpan::format::Material;
use hardpan::{Answer, Hit, Status, Terrain};

/// A column of an answer.
pub struct Column {
    /// Its name in CSV and JSON, and with a blank for `_` in tables.
    pub name: &'static str,
    /// Its name in programs: an attribute in Python, a member of a record in C.
    pub symbol: &'static str,
    /// The names of its parts, if it is a vector: columns of their own in tables and CSV, one array in JSON.
    pub parts: &'static [&'static str],
    /// Its unit: `m`, or empty for a factor, a name and a slope.
    pub unit: &'static str,
    /// Value of the column.
    pub value: Value,
    /// Its least width in a table, and how many digits stand behind the point there.
    pub table: (usize, Option<usize>),
}

/// Value of a column, and the part of the answer that it depends on.
pub enum Value {
    /// A number of the place, for each part.
    Place(fn(&Terrain, &Answer) -> [f64; 2]),
    /// A number of the material, or the default where there is no ground.
    Material(fn(&Terrain, &Answer) -> f64),
    /// A number of the material alone, if it has one; in tables it is left out.
    Property(fn(&Material) -> Option<f64>),
    /// A whole number of the material alone; in tables it is left out.
    Whole(fn(&Material) -> u32),
    /// The name of the material.
    MaterialName,
    /// The name of the source.
    SourceName,
    /// The outcome of the query.
    Status,
    /// The stage of the search that answered.
    Reach,
    /// Whether a mesh or a height field holds the ground.
    Leaf,
}

/// All columns of an answer, in their order.
pub static COLUMNS: [Column; 12] = [
    Column {
        name: "z",
        symbol: "z",
        parts: &[],
        unit: "m",
        value: Value::Place(|t, answer| [t.z_f64(&answer.hit), 0.0]),
        table: (12, Some(6)),
    },
    Column {
        name: "slope",
        symbol: "slope",
        parts: &["x", "y"],
        unit: "",
        value: Value::Place(|t, answer| t.slope_f64(&answer.hit).map(|s| s + 0.0)), // no -0
        table: (9, Some(5)),
    },
    Column {
        name: "mu",
        symbol: "mu",
        parts: &[],
        unit: "",
        value: Value::Material(|t, answer| t.surface(answer)[0]),
        table: (6, None),
    },
    Column {
        name: "rr",
        symbol: "rolling",
        parts: &[],
        unit: "",
        value: Value::Material(|t, answer| t.surface(answer)[1]),
        table: (6, None),
    },
    Column {
        name: "material",
        symbol: "material",
        parts: &[],
        unit: "",
        value: Value::MaterialName,
        table: (16, None),
    },
    Column { name: "source", symbol: "source", parts: &[], unit: "", value: Value::SourceName, table: (16, None) },
    Column { name: "status", symbol: "status", parts: &[], unit: "", value: Value::Status, table: (0, None) },
    Column { name: "reach", symbol: "reach", parts: &[], unit: "", value: Value::Reach, table: (0, None) },
    property("surface_type", "surface", "", Value::Whole(|m| m.surface.into())),
    property("cone_index", "cone_index", "psi", Value::Property(|m| Some(m.cone_index).filter(|&psi| psi > 0.0))),
    property("label", "label", "", Value::Whole(|m| m.label)),
    Column { name: "leaf", symbol: "leaf", parts: &[], unit: "", value: Value::Leaf, table: (0, None) },
];

const fn property(name: &'static str, symbol: &'static str, unit: &'static str, value: Value) -> Column {
    Column { name, symbol, parts: &[], unit, value, table: (0, None) }
}

impl Value {
    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Place(_) | Value::Material(_) | Value::Property(_) | Value::Whole(_))
    }

    /// The number of the material or the source on which alone it depends where there is ground.
    pub fn number(&self, hit: &Hit) -> Option<usize> {
        match self {
            Value::Material(_) | Value::Property(_) | Value::Whole(_) | Value::MaterialName => {
                Some(hit.material.into())
            }
            Value::SourceName => Some(hit.source.into()),
            Value::Place(_) | Value::Status | Value::Reach | Value::Leaf => None,
        }
    }
}

impl Column {
    /// Its values in words for each material or each source, if it depends on one alone; else none. `number` is given
    /// none where the material has none.
    pub fn by_number<T>(&self, t: &Terrain, number: impl Fn(Option<f64>) -> T, text: impl Fn(&str) -> T) -> Vec<T> {
        let materials = 0..t.materials().len() as u16;
        match self.value {
            Value::Material(of) => {
                let hit = |material| Hit { material, ..Hit::NONE };
                materials.map(|m| number(Some(of(t, &Answer { status: Status::Found, hit: hit(m) })))).collect()
            }
            Value::Property(of) => t.materials().iter().map(|m| number(of(m))).collect(),
            Value::Whole(of) => t.materials().iter().map(|m| number(Some(of(m).into()))).collect(),
            Value::MaterialName => materials.map(|m| text(t.material_name(m))).collect(),
            Value::SourceName => (0..t.source_count()).map(|s| text(t.source_name(s as u16))).collect(),
            Value::Place(_) | Value::Status | Value::Reach | Value::Leaf => Vec::new(),
        }
    }

    /// Names of its columns in CSV: `z`, or `slope_x` and `slope_y`.
    pub fn names(&self) -> Vec<String> {
        match self.parts {
            [] => vec![self.name.into()],
            parts => parts.iter().map(|part| format!("{}_{part}", self.name)).collect(),
        }
    }

    /// How many numbers it has.
    pub fn width(&self) -> usize {
        self.parts.len().max(1)
    }
}

/// All names that a column of answers may have, with those of drives and layers before them.
pub fn names() -> Vec<String> {
    let mut names = ["t", "distance", "x", "y", "layer"].map(String::from).to_vec();
    for column in &COLUMNS {
        if !column.parts.is_empty() {
            names.push(column.name.into());
        }
        names.extend(column.names());
    }
    names
}
