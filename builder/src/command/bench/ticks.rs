//! Places of a drive, and all wheels of one time together.

use std::{hint::black_box, path::Path};

use hardpan::{Cursor, Terrain};
use serde_json::Value;

use super::{
    super::{Done, drive, lines::Odd, named, note},
    CHUNK,
    way::Way,
};

/// The places of a drive, wheel by wheel, and of several wheels the ticks; where it has no height, on the highest ground.
pub fn along(t: &Terrain, path: &Path) -> Done<(Vec<[f64; 3]>, Option<Ticks>)> {
    let [low, high] = t.bounds();
    let z = |x: f64, y: f64| {
        let answer = t.segment_m([x, y, high[2] + 1.0], high[2] - low[2] + 2.0);
        if answer.found() { t.z_f64(&answer.hit) } else { high[2] }
    };
    let mut drive = drive::read(path)?;
    let mut odd = Odd::default();
    drive.stops.iter().for_each(|s| odd.count(&[s.t, Some(s.x), Some(s.y), s.z], s.line));
    for text in drive.doubt.iter().cloned().chain(odd.told()).chain(drive.heights.told()) {
        note(format!("{}: {text}", named(path)));
    }
    // a cursor goes with a wheel
    drive.stops.sort_by_key(|s| s.wheel);
    let points: Vec<[f64; 3]> = drive.stops.iter().map(|s| [s.x, s.y, s.z.unwrap_or_else(|| z(s.x, s.y))]).collect();
    let wheels = drive.wheels.len();
    if wheels < 2 {
        return Ok((points, None));
    }
    let together = drive.ticks();
    drive.apart(&together).into_iter().for_each(|text| note(format!("{}: {text}", named(path))));
    let ticks = Ticks { wheels, points: together.into_iter().map(|i| points[i]).collect() };
    Ok((points, Some(ticks).filter(|ticks| !ticks.points.is_empty())))
}

/// Places of several wheels, tick by tick.
pub struct Ticks {
    pub wheels: usize,
    pub points: Vec<[f64; 3]>,
}

/// How long they took, each all wheels together.
pub struct TimedTicks {
    pub way: Way,
    pub wheels: usize,
    pub count: u64,
}

impl Ticks {
    /// Asks one wheel after the other, each with a cursor of its own, again and again for so many queries, or a chunk of them.
    pub fn time(&self, t: &Terrain, queries: u64, clock: u64) -> TimedTicks {
        let wheels = self.wheels;
        let count = (queries.min(CHUNK) as usize / wheels).max(1);
        let points: Vec<[f64; 3]> = self.points.iter().cycle().take(count * wheels).copied().collect();
        let mut way = Way { calls: true, ..Way::new(&format!("tick of {wheels} wheels")) };
        let mut cursors = vec![Cursor::new(); wheels];
        way.time(&points, wheels, clock, |places| {
            places.iter().zip(&mut cursors).for_each(|(p, cursor)| _ = black_box(t.closest_cursor(*p, cursor)));
        });
        TimedTicks { way, wheels, count: count as u64 }
    }
}

impl TimedTicks {
    pub fn facts(&self) -> Value {
        let mut facts = self.way.facts(self.count);
        facts["wheels"] = self.wheels.into();
        facts["ticks"] = self.count.into();
        facts["queries_per_second"] = (self.way.mean(self.count).1 * self.wheels as f64).into();
        facts
    }
}
