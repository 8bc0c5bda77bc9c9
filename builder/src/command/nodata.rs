//! Heights that stand in a raster where nobody measured, and that a mesh made of it has as if it were ground.

use crate::import::Up;

use super::{
    counted, decimal, few, grouped, named, note,
    part::{Part, plan},
    report::Report,
};

/// What programs write where there is no height, but for what no ground has.
const KNOWN: [f64; 11] =
    [-999.0, -9999.0, 9999.0, -99999.0, 99999.0, -32767.0, -32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0];
/// Less than the least of them, in feet or metres: most heights are nearer to zero.
const LEAST: f64 = 300.0;
/// No ground is so high, whatever its unit: of single precision programs write this end, that end or a power of ten.
const NEVER: f64 = 1e19;
/// So near to such a number is one that a unit's rounding left of it, as a share.
const NEAR: f64 = 4e-6;
/// Farther apart than a pit and a tower, in metres: a model in millimetres has a step of 999.
const FAR: f64 = 50.0;

/// The number among those that a height is, or would be in metres, but for what a unit's rounding leaves of it; `metres` is its unit.
fn known(height: f64, metres: f64) -> Option<f64> {
    if height.abs() < LEAST && height.abs() * metres < LEAST {
        return None;
    }
    let is = |v: &f64| (v - height).abs() <= 1e-9 * v.abs();
    let never =
        (height.abs() >= NEVER).then(|| if (height as f32).is_finite() { (height as f32).into() } else { height });
    let rounded = |v: f64| (v * 1e4).round() / 1e4;
    let turned = || in_metres(height, metres).map(|v| rounded(v / metres));
    KNOWN.into_iter().find(is).or(never).or_else(turned)
}

/// The number among those that a height is in metres, where it is not in metres itself.
fn in_metres(height: f64, metres: f64) -> Option<f64> {
    let is = |v: &f64| (v - height * metres).abs() <= NEAR * v.abs();
    KNOWN.into_iter().find(is).filter(|_| metres != 1.0)
}

/// A height in as many digits as single precision has, where it has more.
fn told(value: f64, metres: f64) -> String {
    match value as f32 {
        _ if KNOWN.contains(&value) => decimal(value),
        _ if let Some(before) = in_metres(value, metres) => format!("{} ({before} m)", decimal(value)),
        _ if value.abs() < NEVER => decimal(value),
        single if single.is_finite() => format!("{single:e}"),
        _ => format!("{value:e}"),
    }
}

/// Such heights of a file's ground with an axis up, in its own numbers, from the least: farther from all others than those lie apart.
pub fn values(part: &Part, up: usize) -> Vec<f64> {
    let mut found = Vec::new();
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for height in part.ground().flat_map(|t| t.v).map(|v| part.own(v)[up]) {
        match known(height, part.frame.metres(up)) {
            Some(value) => found.push(value),
            None => (low, high) = (low.min(height), high.max(height)),
        }
    }
    let apart = |low: f64, high: f64| (high - low).max(FAR / part.frame.metres(up));
    let is_far = |value: f64, low: f64, high: f64| low <= high && (low - value).max(value - high) > apart(low, high);
    found.sort_unstable_by(f64::total_cmp);
    found.dedup();
    found.retain(|value| is_far(*value, low, high));
    found
}

/// Whether a corner has one of them, with x, y and z up: with one of these or with all, for a floor that reaches far has two such numbers.
pub fn is(part: &Part, corner: u32) -> [bool; 3] {
    let own = part.own(corner);
    let all = [0, 1, 2].map(|up: usize| {
        let value = || known(own[up], part.frame.metres(up));
        let is = |value: f64| part.voids[up].binary_search_by(|v| v.total_cmp(&value)).is_ok();
        !part.voids[up].is_empty() && value().is_some_and(is)
    });
    if all.iter().filter(|is| **is).count() == 2 { [false; 3] } else { all }
}

/// Warns of files that have such heights, or notes them where they are meant; of each with the first of its axes up with which it has any.
pub fn warn(parts: &[Part], ups: impl Iterator<Item = Vec<usize>>, report: &mut Report) {
    let has =
        |part: &Part, up: usize| !part.voids[up].is_empty() && part.ground().flat_map(|t| t.v).any(|v| is(part, v)[up]);
    let first = |(part, ups): (_, Vec<usize>)| Some((part, ups.into_iter().find(|up| has(part, *up))?));
    let doubted: Vec<(&Part, usize)> = parts.iter().zip(ups).filter_map(first).collect();
    let all = doubted.len() == parts.len();
    for (part, up) in doubted {
        let mut corners: Vec<u32> = part.ground().flat_map(|t| t.v).collect();
        corners.sort_unstable();
        corners.dedup();
        let all_corners = corners.len() as u64;
        corners.retain(|v| is(part, *v)[up]);
        let axes = plan(up);
        let places = corners.iter().map(|v| part.own(*v)).map(|p| axes.map(|i| p[i]));
        let first = places.min_by(|p, q| p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]))).unwrap_or_default();
        let faces = part.ground().filter(|t| t.v.iter().any(|v| is(part, *v)[up])).count() as u64;
        let values: Vec<String> = part.voids[up].iter().map(|v| told(*v, part.frame.metres(up))).collect();
        // as gdal_translate writes it
        let end =
            values[0].split_once('e').map_or(format!(" {}(\\.0*)?", values[0]), |(_, power)| format!("e[+]{power}"));
        let out = match values[0].contains(' ') {
            false => format!(" (of points: grep -Ev '{end}$' ALL.xyz > FILE.xyz)"),
            true => String::new(),
        };
        let [x, y] = axes.map(|i| Up::NAMES[i]);
        // nobody says that it is up
        let turned = if up == part.frame.upright() { String::new() } else { format!(" with {} up", Up::NAMES[up]) };
        let [east, north] = first.map(|v| decimal((v * 1e6).round() / 1e6 + 0.0));
        let told = format!(
            "{}: {} of {} {} the height {}{turned}, far from all others, as rasters have it where there is no data; the first is at {x} {east}, {y} {north}",
            named(part.file),
            grouped(corners.len() as u64),
            counted(all_corners, "vertex"),
            if corners.len() == 1 { "has" } else { "have" },
            few(values.iter().cloned(), values.len() as u64)
        );
        let Some(meant) = part.unmeant(all) else {
            note(told);
            continue;
        };
        report.warn(format!(
            "{told}, and nobody measured the {} about them: leave such points out before they become a mesh{out}, or fill them (gdal_fillnodata.py){meant}",
            counted(faces, "triangle")
        ));
    }
}
