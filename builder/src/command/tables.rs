//! Messages about tables: errors, notes, and incomplete lines.

use std::path::Path;

use super::{Done, Failure, counted, grouped, named, note};
use crate::query::column;
use crate::query::table::{Cause, Drive, Heights, Note, TableError, Tally};

impl From<TableError> for Failure {
    fn from(error: TableError) -> Self {
        let more = if matches!(error.cause, Cause::Late) { ", or add --measure" } else { "" };
        match error.cause {
            Cause::Io(e) => Self::io(&error.file, e),
            _ => Self::Input(format!("{error}{more}")),
        }
    }
}

/// Reads a drive, and says how.
pub fn drive(path: &Path) -> Done<Drive> {
    let drive = Drive::read(path, &column::names())?;
    notes(path, &drive.notes);
    Ok(drive)
}

/// Says how a table was read.
pub fn notes(path: &Path, notes: &[Note]) {
    notes.iter().for_each(|text| note(format!("{}: {text}", named(path))));
}

/// One line, if numbers are blank or not finite.
pub fn odd(odd: Tally) -> Option<String> {
    let (lines, has) = (counted(odd.lines, "line"), if odd.lines == 1 { "has" } else { "have" });
    let text = || format!("{lines} {has} a number that is blank or not finite; the first is line {}", odd.first);
    (odd.lines > 0).then(text)
}

/// Whether one of these numbers is not finite.
pub fn is_odd(numbers: &[Option<f64>]) -> bool {
    numbers.iter().flatten().any(|v| !v.is_finite())
}

/// One line, if lines lack a z.
pub fn lacking(heights: &Heights) -> Option<String> {
    let without = heights.lacking()?;
    let (has, first) = (if without.lines == 1 { "has" } else { "have" }, without.first);
    let [without, lines] = [without.lines, heights.all.lines].map(grouped);
    Some(format!("{without} of {lines} lines {has} no z: the highest ground answers; the first is line {first}"))
}

/// One line, if some stops of several wheels are of none of these ticks.
pub fn apart(drive: &Drive, ticks: &[usize]) -> Option<String> {
    let apart = drive.apart(ticks);
    let (lines, wheels) = (counted(apart.lines, "line"), grouped(drive.wheels.len() as u64));
    let text = || {
        let first = apart.first;
        format!("{lines} of times that not all {wheels} wheels have: they belong to no tick; the first is line {first}")
    };
    (apart.lines > 0).then(text)
}
