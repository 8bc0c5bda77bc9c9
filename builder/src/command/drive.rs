//! Recorded drives: places one after another.

use std::{collections::HashMap, path::Path};

use super::{
    Done, Failure,
    lines::{ANSWER, Column, Lines, Passed, columns, optional, places, separators, unquoted},
    named, note,
};

/// A place of a drive.
pub struct Stop {
    /// Seconds, if the drive has them.
    pub t: Option<f64>,
    pub x: f64,
    pub y: f64,
    pub z: Option<f64>,
    /// Metres driven by this wheel from its first place to here, in plan, to the micrometre.
    pub distance: f64,
    /// Of the file, from 1.
    pub line: u64,
}

/// What a file says.
#[derive(Default)]
pub struct Drive {
    /// At least one.
    pub stops: Vec<Stop>,
    pub passed: Passed,
    /// Different entries of its column `wheel`; 1 without one.
    pub wheels: usize,
}

/// What a file of a drive looks like, for help texts.
pub const HELP: &str = "\
A drive is CSV: a heading with x and y, t (or time) and z if there are any, in any order, and lines of numbers; of other columns
only wheel has a meaning. Without a heading the columns are t,x,y,z,yaw, of which the last two may be left out. Metres and seconds,
also where a heading has units, as in x [m]; time may stand still, but not go back. Of several wheels each has lines of its own, with its
name in the column wheel and its own places; distance and time are then those of each.";

/// Columns, those without a heading first.
const KNOWN: [(&[&str], &str); 5] =
    [(&["t", "time"], "s"), (&["x"], "m"), (&["y"], "m"), (&["z"], "m"), (&["wheel"], "")];
const FORM: &str = "t,x,y,z,yaw";

/// The places of a drive, at least one.
pub fn read(path: &Path) -> Done<Vec<Stop>> {
    read_all(path).map(|drive| drive.stops)
}

/// Where a wheel was last.
#[derive(Clone, Copy)]
struct Last {
    x: f64,
    y: f64,
    distance: f64,
    t: Option<f64>,
}

/// The places of a drive, and what else stands beside them.
pub fn read_all(path: &Path) -> Done<Drive> {
    let mut lines = Lines::open(path)?;
    let heading = lines.heading()?.map(|heading| {
        let one = heading.get(0).filter(|_| heading.len() == 1); // as a whole
        (columns(heading), one.map_or("", separators))
    });
    let known = match &heading {
        Some((heading, hint)) => of_drive(heading, hint).map_err(|e| lines.wrong(e))?,
        None => [Some(0), Some(1), Some(2), Some(3), None],
    };
    let bare = columns(&FORM.split(',').collect::<Vec<_>>().into());
    let mut passed = Passed::new(heading.as_ref().map_or(&bare, |(heading, _)| heading), &known[..3], &ANSWER);
    let mut stops: Vec<Stop> = Vec::new();
    let mut wheels: HashMap<String, Last> = HashMap::new();
    while let Some(line) = lines.next()? {
        let field = |k: usize| known[k].and_then(|c| Some(optional(line.get(c)?, c))).unwrap_or(Ok(None));
        let wheel = unquoted(known[4].and_then(|c| line.get(c)).unwrap_or_default());
        let last = wheels.get(wheel).copied();
        let stop = (|| {
            let needed = |k: usize| field(k)?.ok_or(format!("no {}; a line is {FORM}", KNOWN[k].0[0]));
            let (x, y) = (needed(1)?, needed(2)?);
            let way = last.map_or(0.0, |s| ((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)).sqrt());
            let distance = last.map_or(0.0, |s| s.distance) + way;
            if !distance.is_finite() {
                return Err("too far from the place before it; places are in metres".into());
            }
            let t = field(0)?;
            if let Some((now, before)) = t.zip(last.and_then(|s| s.t)).filter(|(now, before)| now < before) {
                return Err(format!(
                    "the time goes back, from {before} to {now}; sort the lines by time, or make two drives of them"
                ));
            }
            Ok::<_, String>((Last { x, y, distance, t: t.or(last.and_then(|s| s.t)) }, t, field(3)?))
        })();
        if let Ok((now, ..)) = &stop {
            passed.push(line);
            match wheels.get_mut(wheel) {
                Some(last) => *last = *now,
                None => drop(wheels.insert(wheel.into(), *now)),
            }
        }
        let (now, t, z) = stop.map_err(|text| lines.wrong(text))?;
        // the sum goes on unrounded
        let rounded = (now.distance * 1e6).round() / 1e6;
        let distance = if rounded.is_finite() { rounded } else { now.distance };
        stops.push(Stop { t, x: now.x, y: now.y, z, distance, line: lines.line() });
    }
    if stops.is_empty() {
        return Err(Failure::input(path, format!("no places; a drive has lines of {FORM}")));
    }
    if heading.is_none() {
        note(format!("{}: read as {FORM}: a heading says otherwise", named(path)));
    }
    Ok(Drive { stops, passed, wheels: wheels.len() })
}

/// Where a heading has each of [`KNOWN`].
fn of_drive(heading: &[Column], hint: &str) -> Result<[Option<usize>; 5], String> {
    match places(heading, KNOWN, FORM)? {
        places @ [_, Some(_), Some(_), ..] => Ok(places),
        _ => Err(format!("a drive needs columns x and y; a heading is {FORM}{hint}")),
    }
}
