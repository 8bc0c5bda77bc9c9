//! Words for findings about sources.

use std::path::Path;

use crate::build::error::BuildError;
use crate::build::source::{Part, extent, ground};
use crate::check::source::orientation::Orientation;
use crate::options::Options;
use crate::report::{Code, Finding, Hint, Severity};
use crate::scene::Scene;

use super::{Done, Failure, SETTINGS, build::Placed, few_digits, named, report::Report};

/// Findings that no source allows, neither for all nor in its own entry.
pub fn beyond(mut found: Vec<Finding>, allow: &[Code], sources: &[Placed]) -> Vec<Finding> {
    let own = |f: &Finding| {
        let of = |(file, source): &&Placed| file.to_string_lossy() == f.subject && source.allow.contains(&f.code);
        sources.iter().any(|placed| of(&placed))
    };
    found.retain(|f| !allow.contains(&f.code) && !own(f));
    found
}

/// Keeps findings about so many files in the report, or stops.
pub fn tell(found: Vec<Finding>, files: usize, report: &mut Report) -> Done {
    let mut stops = Vec::new();
    for finding in &found {
        let line = line(finding, files > 1);
        match finding.severity {
            Severity::Note => report.note(line),
            Severity::Warning => report.warn(line),
            Severity::Error => stops.push(line),
        }
    }
    report.findings.extend(found);
    if stops.is_empty() { Ok(()) } else { Err(Failure::Input(stops.join("\n"))) }
}

/// A finding of a source in words, with its file.
pub fn line(f: &Finding, several: bool) -> String {
    format!("{}: {}", named(Path::new(&f.subject)), worded(f, several))
}

/// A finding in words; `several` files were read.
pub fn worded(f: &Finding, several: bool) -> String {
    let Finding { code, severity, text, .. } = f;
    let hint = match &f.hint {
        Hint::Mend(text) => text.clone(),
        Hint::Set { key, value } => {
            let set = match several {
                false => format!("--{key} {value}"),
                true if value.is_empty() => format!("{key} in its [[source]] of {SETTINGS}"),
                true => format!("{key} = {value:?} in its [[source]] of {SETTINGS}"),
            };
            let verb = if *severity == Severity::Error { "state" } else { "it may need" };
            format!("{verb} {}", set.trim_end())
        }
    };
    let end = match severity {
        Severity::Error => format!("; if it is right: --allow {code}"),
        _ => format!(" [{code}]"),
    };
    format!("{text}; {hint}{end}")
}

/// Explains why no ground is left, with a hint.
pub fn why_empty(scene: &Scene, parts: &[Part], options: &Options) -> String {
    let mut corners = ground(scene, &scene.triangles).flat_map(|t| t.v).map(|v| scene.positions[v as usize]);
    if corners.any(|p| p.iter().any(|v| v.abs() > 1e15)) {
        let cause = "no ground: all of it lies more than 10^15 m from the zero";
        return format!("{cause}; check its numbers, or --unit, --scale and --translate");
    }
    let extents = extent(scene, ground(scene, &scene.triangles));
    let step = 2f64.powi(options.xy_log2);
    let longest = extents.into_iter().fold(0.0, f64::max);
    let ([x, y, z], steps) = (extents.map(few_digits), few_digits(step));
    let lies: Vec<Orientation> = parts.iter().map(Orientation::of).collect();
    let why = match lies.iter().find_map(Orientation::better) {
        _ if longest == 0.0 => ": all corners lie in one place; export the mesh again".into(),
        _ if longest < 4.0 * step => format!(
            ": all of it is too small, {x} by {y} by {z} m, where the lattice has steps of {steps} m; check --unit and --scale"
        ),
        _ if lies.iter().all(|lie| lie.area == 0.0) => ": none has an area; export the mesh again".into(),
        Some(up) => format!("; if it lies on its side type --up {up}"),
        None => format!(
            ", on a lattice with steps of {steps} m, or left out by the settings; check --unit, --scale and --max-slope"
        ),
    };
    format!("{}{why}", BuildError::Empty)
}
