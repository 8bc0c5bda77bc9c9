//! Notes and warnings on stderr.

use super::failure::SETTINGS;
use crate::import::ImportReport;
use crate::util::text::shown;
use std::fmt::Display;
use std::io;
use std::io::Write;

/// Notes on files that were read, and on statements that they lack.
pub(super) fn notes(report: &ImportReport) -> Vec<String> {
    let keys = match report.files.len() {
        1 => "--up and --unit".into(),
        _ => format!("up and unit in its [[source]] of {SETTINGS}"),
    };
    let assumed = report.assumptions().into_iter().map(|text| format!("{text}: {keys} say otherwise"));
    assumed.chain(report.notes()).collect()
}

/// Lines for a terminal.
pub(super) fn clean(text: impl Display) -> String {
    text.to_string().split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "note: {}", clean(text));
}

pub(super) fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "warning: {}", clean(text));
}
