//! Counts of rows without ground, number or height.

use hardpan::{Answer, Reach, Status, Terrain};

use super::super::{counted, decimal, grouped};
use crate::check::jump::Jumps;
use crate::query::Ask;
use crate::query::table::{Heights, Tally};

/// Points of a file over which no ground was found.
#[derive(Default)]
pub struct Missed {
    /// All points.
    pub asked: u64,
    without: u64,
    /// Those of them that lie beside the image.
    outside: u64,
    /// Number of the first of them among all points, from 1, and its line.
    first: [u64; 2],
    /// Heights of lines; layers ask for none.
    pub heights: Heights,
    pub odd: Tally,
    /// Lines with a z and ground, and those of them whose ground is beyond the near window.
    asked_z: u64,
    far: Tally,
    /// Jumps of a drive.
    pub jumps: Jumps,
}

impl Missed {
    pub fn count(&mut self, status: Status, line: u64) {
        self.asked += 1;
        if status != Status::Found {
            self.first = if self.without == 0 { [self.asked, line] } else { self.first };
            self.without += 1;
            self.outside += u64::from(status == Status::NotInImage);
        }
    }

    /// Counts an answer beyond the near window to a point of a line.
    pub fn count_far(&mut self, ask: &Ask, answer: &Answer, line: u64) {
        if ask.z.is_none() || ask.length.is_some() || !answer.found() {
            return;
        }
        self.asked_z += 1;
        self.far.count(matches!(answer.hit.reach, Reach::FarBelow | Reach::FarAbove), line);
    }

    /// One line, if there are any; points that were typed have no line.
    pub fn told(&self, t: &Terrain) -> Option<String> {
        if self.without == 0 {
            return None;
        }
        let [point, line] = self.first;
        let [without, outside] = [self.without, self.outside].map(grouped);
        let outside = if self.outside > 0 { format!(" ({outside} not in the image)") } else { String::new() };
        let place = if line == 0 { format!("is point {point}") } else { format!("on line {line}") };
        let extents = if self.outside > 0 { format!("; the ground has {}", extents(t)) } else { String::new() };
        let asked = counted(self.asked, "point");
        Some(format!("{without} of {asked} without ground{outside}, the first {place}{extents}"))
    }

    /// One line, if answers are far below or far above.
    pub fn told_far(&self) -> Option<String> {
        let [far, asked] = [self.far.lines, self.asked_z].map(grouped);
        let (are, first) = (if self.far.lines == 1 { "is" } else { "are" }, self.far.first);
        (self.far.lines > 0).then(|| {
            format!("{far} of {asked} answers {are} far below or far above, beyond the near window; the first is line {first}")
        })
    }
}

/// From where to where the ground reaches in plan: `x -50 to 50, y -50 to 50`.
pub fn extents(t: &Terrain) -> String {
    let millimetres = |v: f64| decimal((v * 1000.0).round() / 1000.0 + 0.0);
    let [low, high] = t.bounds().map(|end| end.map(millimetres));
    format!("x {} to {}, y {} to {}", low[0], high[0], low[1], high[1])
}
