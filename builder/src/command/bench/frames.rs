//! Places of a drive, and all wheels of one time together.

use std::{hint::black_box, path::Path};

use hardpan::{Cursor, Terrain};

use super::{
    super::{Done, named, note, tables},
    CHUNK,
    timing::Timing,
};
use crate::table::Tally;

/// The places of a drive, wheel by wheel, and of several wheels the frames; where it has no height, on the highest ground.
pub fn along(t: &Terrain, path: &Path) -> Done<(Vec<[f64; 3]>, Option<Frames>)> {
    let [low, high] = t.bounds();
    let z = |x: f64, y: f64| {
        let answer = t.segment_m([x, y, high[2] + 1.0], high[2] - low[2] + 2.0);
        if answer.found() { t.z_f64(&answer.hit) } else { high[2] }
    };
    let drive = tables::drive(path)?;
    let mut odd = Tally::default();
    drive.stops.iter().for_each(|s| odd.count(tables::is_odd(&[s.t, Some(s.x), Some(s.y), s.z]), s.line));
    let place = |i: usize| {
        let s = &drive.stops[i];
        [s.x, s.y, s.z.unwrap_or_else(|| z(s.x, s.y))]
    };
    let (wheels, together) = (drive.wheels.len(), drive.ticks());
    let told = [tables::odd(odd), tables::lacking(&drive.heights), tables::apart(&drive, &together)];
    told.into_iter().flatten().for_each(|text| note(format!("{}: {text}", named(path))));
    let frames = Frames { wheels, points: together.into_iter().map(place).collect() };
    // a cursor goes with a wheel
    let mut order: Vec<usize> = (0..drive.stops.len()).collect();
    order.sort_by_key(|i| drive.stops[*i].wheel);
    Ok((order.into_iter().map(place).collect(), Some(frames).filter(|frames| !frames.points.is_empty())))
}

/// Places of several wheels, time by time.
pub struct Frames {
    pub wheels: usize,
    pub points: Vec<[f64; 3]>,
}

impl Frames {
    /// Asks one wheel after the other, each with a cursor of its own, again and again for so many queries, or a chunk of them.
    pub fn time(&self, t: &Terrain, queries: u64, clock: u64) -> Timing {
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
