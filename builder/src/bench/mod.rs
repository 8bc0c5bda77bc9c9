//! Queries counted and timed, in every way of asking.

mod found;
mod places;
pub mod reach;
mod timing;

use self::places::{Places, SEED, area, worst};
pub use self::{
    found::Found,
    timing::{EVICTION, Timing},
};
use crate::util::dice::Dice;
use hardpan::{Answer, Cursor, Hit, Status, Terrain};
use std::hint::black_box;

/// Places in a chunk: enough that caches do not hold the memory they read.
const CHUNK: u64 = 1 << 20;

const BATCH: usize = 64;

/// Which places.
pub enum Plan {
    /// Evenly in the extents, whether there is ground or not.
    Uniform,
    /// Evenly over the plan area of the ground, each on one of the layers there.
    Area,
    /// Where queries cost most.
    Worst,
    /// These, one after the other, again and again; and the places of several wheels, if there are several.
    Along(Vec<[f64; 3]>, Option<Frames>),
}

/// Places of several wheels, time by time.
pub struct Frames {
    pub wheels: usize,
    pub points: Vec<[f64; 3]>,
}

/// Why nothing is measured.
#[derive(Debug)]
pub enum Fault {
    /// There is too little ground to meet any by chance.
    NoGround,
    /// The ways of asking differ at this place.
    Differ([f64; 3]),
}

/// The queries, and their times.
pub struct Figures {
    pub asked: u64,
    pub found: Found,
    pub timings: Vec<Timing>,
    pub frames: Option<Timing>,
    /// Nanoseconds that reading the clock takes.
    pub clock: u64,
}

impl Figures {
    /// Times this many queries; `progress` is called with the number done.
    pub fn measure(t: &Terrain, plan: Plan, queries: u64, progress: impl Fn(u64)) -> Result<Self, Fault> {
        let (mut places, frames) = match plan {
            Plan::Uniform => (Places::Uniform(t.bounds()), None),
            Plan::Area => (area(t), None),
            Plan::Worst => (Places::Round(worst(t, queries), 0), None),
            Plan::Along(points, frames) => (Places::Round(points, 0), frames),
        };
        let (clock, mut found, mut asked) = (timing::clock(), Found::default(), 0);
        let mut timings = ["single calls", "batches of 64", "cursor"].map(|name| Timing::new(name.into(), 1));
        let (mut dice, mut points, mut cold) = (Dice(SEED), Vec::new(), Vec::new());
        while asked < queries {
            progress(asked);
            let count = (queries - asked).min(CHUNK) as usize;
            places.fill(t, count, &mut dice, &mut points).ok_or(Fault::NoGround)?;
            if asked == 0 {
                cold = points.iter().step_by(points.len().div_ceil(timing::COLD)).copied().collect();
            }
            asked += points.len() as u64;
            found.check(t, &points)?;
            let [single, batch, cursor] = &mut timings;
            single.time(&points, 1, clock, |p| _ = black_box(t.closest(p[0])));
            let mut answers = [Answer { status: Status::NoGround, hit: Hit::NONE }; BATCH];
            batch.time(&points, BATCH, clock, |p| {
                t.closest_batch(p, &mut answers);
                _ = black_box(&answers);
            });
            let mut last = Cursor::new();
            cursor.time(&points, 1, clock, |p| _ = black_box(t.closest_cursor(p[0], &mut last)));
        }
        let frames = frames.map(|frames| frames.time(t, queries, clock));
        let timings = timings.into_iter().chain([Timing::cold(t, &cold, clock)]).collect();
        Ok(Figures { asked, found, timings, frames, clock })
    }
}

impl Frames {
    /// Asks one wheel after the other, each with its own cursor, again and again until this many queries or a chunk is
    /// done.
    fn time(&self, t: &Terrain, queries: u64, clock: u64) -> Timing {
        let wheels = self.wheels;
        let count = (queries.min(CHUNK) as usize / wheels).max(1);
        let points: Vec<[f64; 3]> = self.points.iter().cycle().take(count * wheels).copied().collect();
        let mut timing = Timing::new(format!("frame of {wheels} wheels"), wheels);
        let mut cursors = vec![Cursor::new(); wheels];
        timing.time(&points, wheels, clock, |places| {
            places.iter().zip(&mut cursors).for_each(|(p, cursor)| _ = black_box(t.closest_cursor(*p, cursor)));
        });
        timing
    }
}
