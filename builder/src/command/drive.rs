//! Recorded drives: places one after another.

use std::path::Path;

use super::{
    Done, Failure,
    lines::{Lines, optional},
};

/// A place of a drive.
pub struct Stop {
    /// Seconds, if the drive has them.
    pub t: Option<f64>,
    pub x: f64,
    pub y: f64,
    pub z: Option<f64>,
    /// Metres driven from the first place to here, in plan.
    pub distance: f64,
}

/// What a file of a drive looks like, for help texts.
pub const HELP: &str = "\
A drive is CSV: a heading with x and y, t and z if there are any, in any order, and lines of numbers; other columns, as yaw,
are passed over. Without a heading the columns are t,x,y,z,yaw, of which the last two may be left out. Metres and seconds; time
may stand still, but not go back.";

/// Columns without a heading.
const COLUMNS: [&str; 4] = ["t", "x", "y", "z"];

/// The places of a drive, at least one.
pub fn read(path: &Path) -> Done<Vec<Stop>> {
    let mut lines = Lines::open(path)?;
    let mut columns = [0, 1, 2, 3].map(Some);
    if let Some(heading) = lines.heading()? {
        // "X [m]" is x
        let names: Vec<String> = heading.iter().map(|f| plain(f).to_ascii_lowercase()).collect();
        columns = COLUMNS.map(|name| names.iter().position(|n| n == name));
        if let Some(twice) = COLUMNS.iter().find(|name| names.iter().filter(|n| n == *name).count() > 1) {
            return Err(lines.wrong(format!("two columns are {twice}; a heading is t,x,y,z,yaw")));
        }
        if columns[1].is_none() || columns[2].is_none() {
            return Err(lines.wrong("a drive needs columns x and y; a heading is t,x,y,z,yaw"));
        }
    }
    let mut stops: Vec<Stop> = Vec::new();
    let mut time: Option<f64> = None;
    while let Some(line) = lines.next()? {
        let field = |k: usize| columns[k].and_then(|c| Some(optional(line.get(c)?, c))).unwrap_or(Ok(None));
        let stop = (|| {
            let needed = |k: usize| field(k)?.ok_or(format!("no {}; a line is t,x,y,z,yaw", COLUMNS[k]));
            let (x, y) = (needed(1)?, needed(2)?);
            let way = stops.last().map_or(0.0, |s| ((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)).sqrt());
            let distance = stops.last().map_or(0.0, |s| s.distance) + way;
            if !distance.is_finite() {
                return Err("too far from the place before it; places are in metres".into());
            }
            let t = field(0)?;
            if let Some((now, before)) = t.zip(time).filter(|(now, before)| now < before) {
                return Err(format!(
                    "the time goes back, from {before} to {now}; sort the lines by time, or make two drives of them"
                ));
            }
            time = t.or(time);
            Ok::<_, String>(Stop { t, x, y, z: field(3)?, distance })
        })();
        stops.push(stop.map_err(|text| lines.wrong(text))?);
    }
    match stops.is_empty() {
        true => Err(Failure::input(path, "no places; a drive has lines of t,x,y,z,yaw")),
        false => Ok(stops),
    }
}

/// A name of a column without its unit.
fn plain(name: &str) -> &str {
    name.split(['[', '(']).next().unwrap_or_default().trim()
}
