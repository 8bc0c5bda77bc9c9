//! Questions about a place, and the answers of the kernel.

pub mod column;
pub mod shot;
pub mod table;
pub mod tyre;

use hardpan::{Answer, Hit, Reach, Status, Terrain};

use crate::query::table::Row;
use crate::util::steps::Steps;

/// A question about one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    pub x: f64,
    pub y: f64,
    pub z: Option<f64>,
    pub length: Option<f64>,
}

impl From<&Row> for Ask {
    fn from(row: &Row) -> Self {
        Ask::of(row.numbers)
    }
}

impl Ask {
    /// The numbers of a row; a place of which x or y is blank is nowhere.
    pub fn of([x, y, z, length]: [Option<f64>; 4]) -> Self {
        Ask { x: x.unwrap_or(f64::NAN), y: y.unwrap_or(f64::NAN), z, length }
    }

    /// Whether all of it are numbers and finite; else it is nowhere, whichever of them is not.
    pub fn somewhere(&self) -> bool {
        [Some(self.x), Some(self.y), self.z, self.length].into_iter().flatten().all(f64::is_finite)
    }

    /// Where to ask for it; the kernel says of what is no place that it is not in the image.
    pub fn place(&self, z: f64) -> [f64; 3] {
        if self.somewhere() { [self.x, self.y, z] } else { [f64::NAN; 3] }
    }

    /// One search of the kernel, in an image of these bounds.
    #[inline(always)]
    pub fn search(&self, t: &Terrain, [low, high]: [[f64; 3]; 2]) -> Answer {
        match (self.z, self.length) {
            _ if !self.somewhere() => t.closest(self.place(0.0)),
            (Some(z), None) => t.closest([self.x, self.y, z]),
            (Some(z), Some(length)) => t.segment_m([self.x, self.y, z], length),
            // the highest: the first going down from above all
            (None, _) => t.segment_m([self.x, self.y, high[2] + 1.0], high[2] - low[2] + 2.0),
        }
    }

    pub fn answer(&self, t: &Terrain) -> Answer {
        let bounds = t.bounds();
        let answer = self.search(t, bounds);
        match answer.found() {
            _ if self.z.is_some() => answer,
            true => Answer { hit: Hit { reach: Reach::Near, ..answer.hit }, ..answer },
            // the fall-back may depend on the place
            false => Answer { status: answer.status, ..t.closest(self.place(bounds[1][2] + 1.0)) },
        }
    }
}

/// Answers many questions at once, in space that it keeps.
#[derive(Default)]
pub struct Many {
    points: Vec<[f64; 3]>,
    answers: Vec<Answer>,
}

impl Many {
    pub fn answers(&mut self, t: &Terrain, asks: &[Ask]) -> &[Answer] {
        // above all ground, if the windows reach down to all of it: the nearest from there is the highest
        let [low, high] = t.bounds();
        let depth = high[2] - low[2] + 2.0;
        let top = (Steps::of(t.header()).query_height(t.windows().far) >= depth).then_some(high[2] + 1.0);
        let point = |ask: &Ask| match ask {
            Ask { length: None, z, .. } => z.or(top).map(|z| ask.place(z)),
            _ => None,
        };
        self.points.clear();
        self.points.extend(asks.iter().map(|ask| point(ask).unwrap_or([f64::NAN; 3])));
        self.answers.resize(asks.len(), Answer { status: Status::NoGround, hit: Hit::NONE });
        t.closest_batch(&self.points, &mut self.answers);
        for (ask, answer) in asks.iter().zip(&mut self.answers) {
            if point(ask).is_none() {
                *answer = ask.answer(t);
            }
        }
        &self.answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Many at once and one at a time, with windows that reach and with such that do not.
    #[test]
    fn batches_change_no_answer() {
        use crate::build::build;
        use crate::demo::fixtures;
        use crate::options::Options;
        for far in [5000.0, 2.0] {
            let options = Options { near: 0.5, far, ..Options::default() };
            let built = build(&fixtures::bridge(), &options).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let mut asks = Vec::new();
            for x in -60..60 {
                for (z, length) in [(None, None), (Some(2.9), None), (Some(9.0), None), (Some(5.0), Some(4.9))] {
                    asks.push(Ask { x: f64::from(x), y: 0.25 * f64::from(x), z, length });
                }
            }
            let mut many = Many::default();
            for (ask, one) in asks.iter().zip(many.answers(&t, &asks)) {
                let mut single = ask.answer(&t);
                if ask.z.is_none() {
                    single.hit.reach = one.hit.reach; // not shown
                }
                assert_eq!(single, *one, "{ask:?}");
            }
        }
    }
}
