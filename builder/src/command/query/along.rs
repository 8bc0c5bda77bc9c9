//! Height, slope and friction along a drive, as a picture.

use std::path::Path;

use crate::import::file_name;
use hardpan::Terrain;

use super::super::shown;
use crate::draw::picture::Picture;
use crate::draw::plot;
use crate::draw::plot::{Line, Sample};
use crate::query::Ask;
use crate::query::table::{Drive, Stop};

/// Height, slope and friction along a drive that was read from a file.
pub fn picture(t: &Terrain, image: &Path, file: &Path, drive: &Drive) -> Picture {
    let name = |path: &Path| shown(&file_name(path));
    let line = |(k, name): (usize, &String)| {
        let stops: Vec<&Stop> = drive.stops.iter().filter(|stop| stop.wheel == k).collect();
        Line { name: shown(name), samples: samples(t, &stops) }
    };
    let lines: Vec<Line> = drive.wheels.iter().enumerate().map(line).collect();
    plot::picture(&format!("{} along {}", name(image), name(file)), &lines)
}

/// The ground along the way of a wheel, slopes in the direction in which it goes on.
fn samples(t: &Terrain, drive: &[&Stop]) -> Vec<Sample> {
    let way = |pair: &[&Stop]| {
        let (dx, dy) = (pair[1].x - pair[0].x, pair[1].y - pair[0].y);
        let length = (dx * dx + dy * dy).sqrt();
        (length > 0.0).then(|| [dx / length, dy / length])
    };
    // who stands still, looks where he came from
    let mut ahead = drive.windows(2).find_map(way).unwrap_or_default();
    let sample = |(i, stop): (usize, &&Stop)| {
        ahead = drive.get(i..i + 2).and_then(way).unwrap_or(ahead);
        let answer = Ask { x: stop.x, y: stop.y, z: stop.z, length: None }.answer(t);
        let ground = answer.found().then(|| {
            let [sx, sy] = t.slope_f64(&answer.hit);
            [t.z_f64(&answer.hit), 100.0 * (sx * ahead[0] + sy * ahead[1]), t.material(&answer.hit).mu]
        });
        Sample { distance: stop.distance, ground }
    };
    drive.iter().enumerate().map(sample).collect()
}
