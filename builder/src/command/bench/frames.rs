//! Places of a drive, and all wheels of one time together.

use std::{hint::black_box, path::Path};

use hardpan::{Cursor, Terrain};

use super::{
    super::{Done, drive, lines::Odd, named, note},
    CHUNK,
    timing::Timing,
};

/// The places of a drive, wheel by wheel, and of several wheels the frames; where it has no height, on the highest ground.
pub fn along(t: &Terrain, path: &Path) -> Done<(Vec<[f64; 3]>, Option<Frames>)> {
    let [low, high] = t.bounds();
    let z = |x: f64, y: f64| {
        let answer = t.segment_m([x, y, high[2] + 1.0], high[2] - low[2] + 2.0);
        if answer.found() { t.z_f64(&answer.hit) } else { high[2] }
    };
    let mut drive = drive::read(path)?;
    let mut odd = Odd::default();
    drive.stops.iter().for_each(|s| odd.count(&[s.t, Some(s.x), Some(s.y), s.z], s.line));
    // a cursor goes with a wheel
    drive.stops.sort_by_key(|s| s.wheel);
    let points: Vec<[f64; 3]> = drive.stops.iter().map(|s| [s.x, s.y, s.z.unwrap_or_else(|| z(s.x, s.y))]).collect();
    let (wheels, together) = (drive.wheels.len(), drive.ticks());
    let told = [drive.doubt.clone(), odd.told(), drive.heights.told(), drive.apart(&together)];
    told.into_iter().flatten().for_each(|text| note(format!("{}: {text}", named(path))));
    let frames = Frames { wheels, points: together.into_iter().map(|i| points[i]).collect() };
    Ok((points, Some(frames).filter(|frames| !frames.points.is_empty())))
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
