//! What an analysis found: a value that programs read and the command words.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub code: Code,
    pub severity: Severity,
    /// File, source or material that it is of; empty if it is of all the ground.
    pub subject: String,
    /// Where it is, metres, in the frame of the image.
    pub place: Option<[f64; 3]>,
    /// How large it is.
    pub values: Vec<Quantity>,
    /// The fact, in one sentence without full stop.
    pub text: String,
    /// What to do about it.
    pub hint: Hint,
}

/// A number with its name and unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantity {
    pub name: &'static str,
    pub value: f64,
    /// `m`, `m2`, `%`, `deg`, or empty for a count or a number of the file.
    pub unit: &'static str,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// A key of the source in the settings, and the value that mends it, or an empty one if only the user knows it. An option of the command
    /// may have the same name.
    Set { key: &'static str, value: String },
    /// Work on the source.
    Mend(String),
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Note,
    Warning,
    /// No image is made, unless its kind is allowed.
    Error,
}

/// Kinds of findings. Their names are those of `allow` in the settings and of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Another axis looks as if it points up.
    Orientation,
    /// x and y look like degrees beside heights in metres.
    Degrees,
    /// Nobody states the unit, and the ground is very small or very large.
    Unit,
    /// Heights that stand for no data.
    NoData,
    /// Places were rounded to single precision.
    Precision,
    /// No ground along open edges, and ground again beside it.
    Gap,
    /// Ground that ends, and goes on lower beside it.
    Step,
    /// Ground that lies over other ground, nearly parallel to it.
    DoubleSurface,
    /// Ground of two materials at one height.
    SameHeight,
    /// A vertex far above or below all its neighbours.
    Spike,
    /// Ground of one material that stands through ground of another.
    BuriedRoad,
    /// Geometry outside the domain, left out.
    Outside,
    /// Vertices within the weld threshold that stay apart.
    NotWelded,
    /// Vertices within the stitch threshold of an open edge that stay apart.
    NotStitched,
    /// An open edge at another height, with no ground between.
    Slit,
    /// Coincident triangles of another friction.
    Contested,
    /// A drive that states no heights, from one deck to another. It is of no ground, so `check` does not look for it.
    Jump,
}

impl Code {
    /// All that are of a source or its ground.
    pub const ALL: [Code; 16] = [
        Code::Orientation,
        Code::Degrees,
        Code::Unit,
        Code::NoData,
        Code::Precision,
        Code::Gap,
        Code::Step,
        Code::DoubleSurface,
        Code::SameHeight,
        Code::Spike,
        Code::BuriedRoad,
        Code::Outside,
        Code::NotWelded,
        Code::NotStitched,
        Code::Slit,
        Code::Contested,
    ];

    /// Whether it is of a file as it was read, and not of the ground.
    pub fn is_of_source(self) -> bool {
        matches!(self, Code::Orientation | Code::Degrees | Code::Unit | Code::NoData | Code::Precision)
    }

    pub fn name(self) -> &'static str {
        match self {
            Code::Orientation => "orientation",
            Code::Degrees => "degrees",
            Code::Unit => "unit",
            Code::NoData => "no-data",
            Code::Precision => "precision",
            Code::Gap => "gap",
            Code::Step => "step",
            Code::DoubleSurface => "double-surface",
            Code::SameHeight => "same-height",
            Code::Spike => "spike",
            Code::BuriedRoad => "buried-road",
            Code::Outside => "outside",
            Code::NotWelded => "not-welded",
            Code::NotStitched => "not-stitched",
            Code::Slit => "slit",
            Code::Contested => "contested",
            Code::Jump => "jump",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Code::ALL.map(Code::name);
        let found = Code::ALL.into_iter().find(|code| code.name() == text);
        found.ok_or_else(|| format!("no kind of finding is named {text:?}; there are {}", names.join(", ")))
    }
}

impl Finding {
    /// The value of a name.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().find(|q| q.name == name).map(|q| q.value)
    }
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert_eq!(code.name().parse(), Ok(code));
        }
        assert!("gaps".parse::<Code>().is_err());
    }
}
