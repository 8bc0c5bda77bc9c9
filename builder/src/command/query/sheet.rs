//! Answers as rows.

use std::io;

use hardpan::{Answer, Hit, Reach, Status, Terrain};

use crate::query::Ask;
use crate::query::column::Column;
use crate::query::table::{Passed, Stop};

/// One answer.
pub struct Row<'r> {
    pub ask: &'r Ask,
    /// The end of `--along`.
    pub stop: Option<&'r Stop>,
    /// With `--layers` the number from the top, zero if there is none.
    pub layer: Option<u32>,
    pub status: Status,
    pub hit: &'r Hit,
    /// Whether there is no ground, and the kernel's fall-back is shown.
    pub filled: bool,
    /// With the lowest number in single precision instead, as MAVS has it.
    pub lowest: bool,
    /// Other fields of its line, by its number.
    pub passed: Option<(&'r Passed, usize)>,
}

impl Row<'_> {
    pub fn found(&self) -> bool {
        matches!(self.status, Status::Found)
    }

    pub fn fields(&self) -> impl Iterator<Item = &'_ str> {
        self.passed.into_iter().flat_map(|(passed, i)| passed.fields(i))
    }

    /// The kernel's answer.
    pub fn answer(&self) -> Answer {
        Answer { status: self.status, hit: *self.hit }
    }

    /// The numbers of a column of the place.
    pub fn place(&self, column: &Column, of: fn(&Terrain, &Answer) -> [f64; 2], t: &Terrain) -> [f64; 2] {
        match self.filled && self.lowest && column.name == "z" {
            true => [f64::from(f32::MIN), 0.0],
            false => of(t, &self.answer()),
        }
    }

    /// Whether its numbers are shown: those of the ground, or of the fall-back.
    pub fn shown(&self) -> bool {
        self.found() || self.filled
    }

    /// `mesh` or `field`; nothing where there is no ground.
    pub fn leaf(&self) -> &'static str {
        if self.found() { self.hit.leaf.name() } else { "" }
    }

    /// Result of the search; nothing where there is no ground.
    pub fn reach(&self) -> &'static str {
        match (self.found(), self.layer, self.ask) {
            (false, ..) if self.filled => Reach::Fallback.name(),
            (false, ..) => "",
            (_, Some(_), _) if self.hit.reach == Reach::Hidden => Reach::Hidden.name(),
            (_, Some(_), _) => "layer",
            (.., Ask { length: Some(_), .. }) => "below",
            (.., Ask { z: Some(_), .. }) => self.hit.reach.name(),
            _ => "top",
        }
    }
}

/// dz/dx and dz/dy without "-0".
pub fn slope(t: &Terrain, hit: &Hit) -> [f64; 2] {
    t.slope_f64(hit).map(|s| s + 0.0)
}

/// Content of rows beside the answers.
pub struct Shape {
    pub drive: bool,
    pub layers: bool,
    /// Names of other columns, for CSV and for JSON.
    pub names: Vec<String>,
    pub keys: Vec<Option<String>>,
}

/// A way to print rows.
pub trait Sheet {
    fn head(&mut self, _: &Shape) -> io::Result<()> {
        Ok(())
    }
    fn row(&mut self, row: &Row) -> io::Result<()>;
    fn foot(&mut self) -> io::Result<()> {
        Ok(())
    }
}
