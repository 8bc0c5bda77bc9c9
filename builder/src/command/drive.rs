//! Recorded drives: places one after another.

use std::path::Path;

use super::{
    Done, Failure,
    lines::{Column, Lines, columns, optional, separators},
    named, note,
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
    /// Of the file, from 1.
    pub line: u64,
}

/// What a file of a drive looks like, for help texts.
pub const HELP: &str = "\
A drive is CSV: a heading with x and y, t (or time) and z if there are any, in any order, and lines of numbers; other columns,
as yaw, are passed over. Without a heading the columns are t,x,y,z,yaw, of which the last two may be left out. Metres and seconds,
also where a heading has units, as in x [m]; time may stand still, but not go back.";

/// Columns without a heading.
const COLUMNS: [&str; 4] = ["t", "x", "y", "z"];

/// The places of a drive, at least one.
pub fn read(path: &Path) -> Done<Vec<Stop>> {
    let mut lines = Lines::open(path)?;
    let heading = lines.heading()?.map(|heading| {
        let one = heading.get(0).filter(|_| heading.len() == 1); // as a whole
        (columns(heading), one.map_or("", separators))
    });
    let columns = match &heading {
        Some((heading, hint)) => places(heading, hint).map_err(|e| lines.wrong(e))?,
        None => [0, 1, 2, 3].map(Some),
    };
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
            Ok::<_, String>(Stop { t, x, y, z: field(3)?, distance, line: 0 })
        })();
        let stop = stop.map_err(|text| lines.wrong(text))?;
        stops.push(Stop { line: lines.line(), ..stop });
    }
    if stops.is_empty() {
        return Err(Failure::input(path, "no places; a drive has lines of t,x,y,z,yaw"));
    }
    if heading.is_none() {
        note(format!("{}: read as t,x,y,z,yaw: a heading says otherwise", named(path)));
    }
    Ok(stops)
}

/// Where a heading has each of [`COLUMNS`].
fn places(heading: &[Column], hint: &str) -> Result<[Option<usize>; 4], String> {
    let mut places = [None; 4];
    for (k, name) in COLUMNS.iter().enumerate() {
        let is = |column: &Column| column.name == *name || (k == 0 && column.name == "time");
        let mut found = heading.iter().enumerate().filter(|(_, column)| is(column));
        let Some((place, column)) = found.next() else { continue };
        if found.next().is_some() {
            return Err(format!("two columns are {name}; a heading is t,x,y,z,yaw"));
        }
        column.is_in(if k == 0 { "s" } else { "m" })?;
        places[k] = Some(place);
    }
    match places {
        [_, Some(_), Some(_), _] => Ok(places),
        _ => Err(format!("a drive needs columns x and y; a heading is t,x,y,z,yaw{hint}")),
    }
}
