//! The most that a query may cost, and where it would cost more.

use crate::names::counted;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The most that any vertical query may cost: cells are divided until none costs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxCost {
    /// Triangles and patch cells: from 1 on.
    pub tests: u32,
    /// Lines of 64 bytes: from 3 on, which one bundle takes; by default as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

impl MaxCost {
    /// Whether so many tests and lines are within it.
    pub fn allows(&self, tests: u32, lines: u32) -> bool {
        tests <= self.tests && self.lines.is_none_or(|most| lines <= most)
    }

    /// What allows this too, of the same limits.
    pub(crate) fn raised(self, tests: u32, lines: u32) -> MaxCost {
        MaxCost { tests: self.tests.max(tests), lines: self.lines.map(|most| most.max(lines)) }
    }

    pub(crate) fn is_sane(&self) -> bool {
        self.tests >= 1 && self.lines.is_none_or(|l| l >= 3)
    }
}

impl fmt::Display for MaxCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.tests, "test"))?;
        self.lines.map_or(Ok(()), |lines| write!(f, " and {}", counted(lines, "line")))
    }
}

/// `TESTS` or `TESTS,LINES`.
impl FromStr for MaxCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse::<u32>().map_err(|_| format!("{t:?} is not a whole number"));
        let (tests, lines) = match text.split_once(',') {
            Some((tests, lines)) => (number(tests)?, Some(number(lines)?)),
            None => (number(text)?, None),
        };
        let most = MaxCost { tests, lines };
        if most.is_sane() { Ok(most) } else { Err("tests start at 1, lines at 3".into()) }
    }
}

/// A place where a query costs more than it may, however far the ground is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    /// The place, metres.
    pub at: [f64; 2],
    /// Triangle tests and patch cells of a query there.
    pub tests: u32,
    /// Lines of 64 bytes.
    pub lines: u32,
    /// Triangles over the place.
    pub triangles: u32,
    /// Heights that they have there.
    pub layers: u32,
    /// Whether that is what stands over the place itself; else what the finest division leaves around it.
    pub least: bool,
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crowd { at: [x, y], tests, lines, triangles, layers, least } = self;
        let takes = if *least { "takes at least" } else { "as finely divided as can be, still takes" };
        let (tests, lines) = (counted(*tests, "test"), counted(*lines, "line"));
        let lie = if *triangles == 1 { "lies" } else { "lie" };
        let (triangles, layers) = (counted(*triangles, "triangle"), counted(*layers, "layer"));
        write!(
            f,
            "a query at ({x:.3}, {y:.3}) {takes} {tests} and {lines}: {triangles} in {layers} {lie} over that place"
        )
    }
}

impl Crowd {
    /// Of two the worse: one of which nothing can be had, then that with more tests, lines and triangles, then the place.
    pub fn worse(self, other: Crowd) -> Crowd {
        let key = |c: &Crowd| (c.least, c.tests, c.lines, c.triangles);
        let place = self.at[1].total_cmp(&other.at[1]).then(self.at[0].total_cmp(&other.at[0]));
        if key(&self).cmp(&key(&other)).then(place.reverse()).is_ge() { self } else { other }
    }
}
