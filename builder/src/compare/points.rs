//! Holds an image against points of another tool: how far heights and friction are from what that says.
//!
//! ```
//! use hardpan_builder::{Options, build, compare::{Comparison, Point}, demo::fixtures};
//!
//! let built = build(&fixtures::bridge(), &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! let mut comparison = Comparison::new(&terrain, Some(0.1));
//! let point = |number, x| Point { number, at: [x, 0.0, 5.75], mu: None };
//! comparison.add(&[point(1, 0.0), point(2, 1e6)]);
//! let found = comparison.finish();
//! assert_eq!((found.points, found.compared, found.not_in_image), (2, 1, 1));
//! let heights = found.heights.unwrap();
//! assert_eq!((heights.largest.difference, heights.over), (0.25, Some(1)));
//! ```

use hardpan::{Answer, Hit, Status, Terrain};
use serde::Serialize;

/// A point of a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// By which who asks knows it, such as its line.
    pub number: u64,
    /// Metres; the ground nearest to this height answers.
    pub at: [f64; 3],
    /// Friction, if the reference has it; a value that is not finite counts as missing.
    pub mu: Option<f64>,
}

/// The answer of an image at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Met {
    /// Height in metres, and friction.
    Ground { z: f64, mu: f64 },
    /// A place in the image without ground within its windows.
    NoGround,
    /// It lies beside the image.
    NotInImage,
    /// Its place has a number that is not finite: nothing is asked.
    NoNumber,
    /// The image is damaged there.
    Damaged,
}

/// One difference, image less reference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Off {
    /// That of the point.
    pub number: u64,
    /// x and y, metres.
    pub at: [f64; 2],
    pub reference: f64,
    pub image: f64,
    pub difference: f64,
}

/// The percentiles of [`Differences`], in parts of a thousand.
pub const SHARES: [u64; 4] = [500, 900, 990, 999];
/// How many of the worst are named.
pub const WORST: usize = 10;

/// All differences of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differences {
    pub count: u64,
    /// The difference farthest from zero; of equal ones the first.
    pub largest: Off,
    pub mean: f64,
    pub mean_absolute: f64,
    pub root_mean_square: f64,
    /// Sizes that 50, 90, 99 and 99.9 % of the differences do not exceed. Each is exactly the size of one difference.
    pub percentiles: [f64; 4],
    /// The number of differences beyond the tolerance, if there is one. The rounding of decimals does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<u64>,
    /// The farthest from zero first, [`WORST`] at most.
    pub worst: Vec<Off>,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Compared {
    pub points: u64,
    /// Points whose heights were compared.
    pub compared: u64,
    pub no_ground: u64,
    pub not_in_image: u64,
    pub no_number: u64,
    pub damaged: u64,
    /// Number of the first that was not compared.
    pub first_left: Option<u64>,
    /// Metres; none if nothing was compared.
    pub heights: Option<Differences>,
    /// None if the reference has no friction.
    pub mu: Option<Differences>,
}

impl Compared {
    /// Whether every point that has a place has ground there, no farther off than the tolerance, if there is one.
    /// Friction does not count.
    pub fn alike(&self) -> bool {
        let near = self.heights.as_ref().is_some_and(|heights| heights.over.unwrap_or(0) == 0);
        near && self.no_ground == 0 && self.not_in_image == 0 && self.damaged == 0
    }
}

/// A comparison on its way: points come in parts, and eight bytes are kept of each difference.
pub struct Comparison<'t, 'a> {
    terrain: &'t Terrain<'a>,
    places: Vec<[f64; 3]>,
    answers: Vec<Answer>,
    met: Vec<Met>,
    found: Compared,
    heights: Sums,
    friction: Sums,
}

impl<'t, 'a> Comparison<'t, 'a> {
    /// Heights farther off than the tolerance, in metres, are counted, if there is one.
    pub fn new(terrain: &'t Terrain<'a>, tolerance: Option<f64>) -> Self {
        Comparison {
            terrain,
            places: Vec::new(),
            answers: Vec::new(),
            met: Vec::new(),
            found: Compared::default(),
            heights: Sums { tolerance, ..Sums::default() },
            friction: Sums::default(),
        }
    }

    /// Asks at some more points, and says what is at each.
    pub fn add(&mut self, points: &[Point]) -> &[Met] {
        self.places.clear();
        self.places.extend(points.iter().map(|p| p.at));
        self.answers.resize(points.len(), Answer { status: Status::NoGround, hit: Hit::NONE });
        self.terrain.closest_batch(&self.places, &mut self.answers);
        self.met.clear();
        for (point, answer) in points.iter().zip(&self.answers) {
            let met = met(self.terrain, point, answer);
            self.found.count(point, met);
            if let Met::Ground { z, mu } = met {
                self.heights.add(point, point.at[2], z);
                if let Some(reference) = point.mu.filter(|mu| mu.is_finite()) {
                    self.friction.add(point, reference, mu);
                }
            }
            self.met.push(met);
        }
        &self.met
    }

    /// The result for all points.
    pub fn finish(self) -> Compared {
        Compared { heights: self.heights.finish(), mu: self.friction.finish(), ..self.found }
    }
}

fn met(terrain: &Terrain, point: &Point, answer: &Answer) -> Met {
    match answer.status {
        _ if !point.at.iter().all(|v| v.is_finite()) => Met::NoNumber,
        Status::Found => Met::Ground { z: terrain.z_f64(&answer.hit), mu: terrain.material(&answer.hit).mu },
        Status::NoGround => Met::NoGround,
        Status::NotInImage => Met::NotInImage,
        _ => Met::Damaged,
    }
}

impl Compared {
    fn count(&mut self, point: &Point, met: Met) {
        self.points += 1;
        let of = match met {
            Met::Ground { .. } => &mut self.compared,
            Met::NoGround => &mut self.no_ground,
            Met::NotInImage => &mut self.not_in_image,
            Met::NoNumber => &mut self.no_number,
            Met::Damaged => &mut self.damaged,
        };
        *of += 1;
        if !matches!(met, Met::Ground { .. }) {
            self.first_left.get_or_insert(point.number);
        }
    }
}

/// The share of two decimals, and of their difference, that rounding may have changed.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Differences of one kind, as they come.
#[derive(Default)]
struct Sums {
    tolerance: Option<f64>,
    over: u64,
    sum: f64,
    squares: f64,
    /// Without their signs.
    sizes: Vec<f64>,
    worst: Vec<Off>,
}

impl Sums {
    fn add(&mut self, point: &Point, reference: f64, image: f64) {
        let difference = image - reference;
        self.sum += difference;
        self.squares += difference * difference;
        self.sizes.push(difference.abs());
        // a reference as decimals is rounded to binary, and 1.01 is no farther than 0.01 from 1
        let rounding = ROUNDING * reference.abs().max(image.abs());
        self.over += u64::from(self.tolerance.is_some_and(|most| difference.abs() > most + rounding));
        // behind equal ones, so that the first stays first
        let place = self.worst.partition_point(|w| w.difference.abs() >= difference.abs());
        if place < WORST {
            self.worst.truncate(WORST - 1);
            let at = [point.at[0], point.at[1]];
            self.worst.insert(place, Off { number: point.number, at, reference, image, difference });
        }
    }

    fn finish(mut self) -> Option<Differences> {
        let largest = *self.worst.first()?;
        self.sizes.sort_unstable_by(f64::total_cmp);
        let count = self.sizes.len() as u64;
        let number = count as f64;
        Some(Differences {
            count,
            largest,
            mean: self.sum / number,
            mean_absolute: self.sizes.iter().sum::<f64>() / number,
            root_mean_square: (self.squares / number).sqrt(),
            percentiles: SHARES.map(|share| percentile(&self.sizes, share)),
            over: self.tolerance.map(|_| self.over),
            worst: self.worst,
        })
    }
}

/// The lowest of ascending numbers that is not exceeded by this many of a thousand.
fn percentile(sorted: &[f64], share: u64) -> f64 {
    let rank = (sorted.len() as u64 * share).div_ceil(1000).max(1);
    sorted[rank as usize - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_the_least_that_so_many_do_not_exceed() {
        for count in [1, 2, 3, 9, 10, 11, 99, 1000, 1001, 4321] {
            let all: Vec<f64> = (0..count).map(|i| f64::from(i * i)).collect();
            for share in SHARES {
                let within = |v: f64| all.iter().filter(|w| **w <= v).count() as u64 * 1000 >= share * count as u64;
                let wanted = all.iter().copied().find(|v| within(*v)).unwrap();
                assert_eq!(percentile(&all, share), wanted, "{count} {share}");
            }
        }
    }

    #[test]
    fn of_as_far_off_the_first_are_named() {
        let mut sums = Sums { tolerance: Some(0.5), ..Sums::default() };
        for number in 1..=100 {
            let point = Point { number, at: [0.0; 3], mu: None };
            sums.add(&point, 0.0, if number % 2 == 0 { -1.0 } else { 0.5 });
        }
        let found = sums.finish().unwrap();
        assert_eq!(found.worst.iter().map(|w| w.number).collect::<Vec<_>>(), [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
        assert_eq!((found.mean, found.mean_absolute, found.over), (-0.25, 0.75, Some(50)));
    }
}
