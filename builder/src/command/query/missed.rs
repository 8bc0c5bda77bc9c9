//! What of a file had no ground, or no number, or no height.

use hardpan::{Status, Terrain};

use super::{
    super::{
        counted, grouped,
        lines::{Heights, Odd},
    },
    doubt::{Far, MANY, Reached},
};

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
    /// Of lines; layers ask for none.
    pub heights: Heights,
    pub odd: Odd,
    pub reached: Reached,
    pub far: Far,
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

    /// One line, if there are any; points that were typed have no line.
    pub fn told(&self) -> Option<String> {
        if self.without == 0 {
            return None;
        }
        let [point, line] = self.first;
        if self.asked == 1 {
            let outside = if self.outside == 1 { " (not in the image)" } else { "" };
            let at = if line == 0 { String::new() } else { format!(", on line {line}") };
            return Some(format!("the only point is without ground{outside}{at}"));
        }
        let outside = match self.outside {
            0 => String::new(),
            n => format!(" ({} not in the image)", grouped(n)),
        };
        let (without, asked) = (grouped(self.without), counted(self.asked, "point"));
        let first = if line == 0 { format!("is point {point}") } else { format!("on line {line}") };
        Some(format!("{without} of {asked} without ground{outside}, the first {first}"))
    }

    /// Why most points may have no ground, as the end of a sentence.
    pub fn cause(&self, t: &Terrain) -> Option<String> {
        let most = self.reached.places >= MANY && 2 * self.without > self.asked;
        if most { self.reached.told(t.bounds()) } else { None }
    }
}
