//! Heights that stand in a raster where nobody measured, and that a mesh made of it has as if it were ground.

use crate::{Triangle, import::Up};

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
/// Such a number that was scaled with the heights: from feet to metres, and back, each with the unit that it is in now. It is known to six
/// digits, for which it is no matter which foot it was.
const SCALED: [(f64, &str); 2] = [(0.3048, "metres"), (1.0 / 0.3048, "feet")];
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
    let scaled = || scaled(height).map(|_| rounded(height));
    let turned = || in_metres(height, metres).map(|v| rounded(v / metres));
    KNOWN.into_iter().find(is).or(never).or_else(scaled).or_else(turned)
}

/// The number among those that a height is in metres, where it is not in metres itself: in a unit of tens it has all of its digits.
fn in_metres(height: f64, metres: f64) -> Option<f64> {
    let tens = metres.log10();
    let near = if (tens - tens.round()).abs() < 1e-9 { 1e-9 } else { NEAR };
    let is = |v: &f64| (v - height * metres).abs() <= near * v.abs();
    KNOWN.into_iter().find(is).filter(|_| metres != 1.0)
}

/// The number that a height was before it was scaled, and the unit that it is in now.
fn scaled(height: f64) -> Option<(f64, &'static str)> {
    let of = |(factor, unit): (f64, &'static str)| {
        let before = height / factor;
        let is = |v: &f64| (v - before).abs() <= NEAR * before.abs();
        // all that are known are whole numbers, and few others are near one
        let known = is(&before.round()).then(|| KNOWN.into_iter().find(is));
        known.flatten().map(|v| (v, unit))
    };
    SCALED.into_iter().find_map(of)
}

/// A height in as many digits as single precision has, where it has more.
fn told(value: f64, metres: f64) -> String {
    match value as f32 {
        _ if KNOWN.contains(&value) => decimal(value),
        _ if let Some((before, unit)) = scaled(value) => format!("{} ({before} in {unit})", decimal(value)),
        _ if let Some(before) = in_metres(value, metres) => format!("{} ({before} m)", decimal(value)),
        _ if value.abs() < NEVER => decimal(value),
        single if single.is_finite() => format!("{single:e}"),
        _ => format!("{value:e}"),
    }
}

/// Such heights of a file's ground with an axis up, in its own numbers, from the least: farther from all others than those lie apart. So may
/// 0 be, if it looks so: see [`is_rim`].
pub fn values(part: &Part, up: usize) -> Vec<f64> {
    let (mut found, mut zeros) = (Vec::new(), false);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for height in part.ground().flat_map(|t| t.v).map(|v| part.own(v)[up]) {
        match known(height, part.frame.metres(up)) {
            Some(value) => found.push(value),
            None if height == 0.0 => zeros = true,
            None => (low, high) = (low.min(height), high.max(height)),
        }
    }
    let apart = |low: f64, high: f64| (high - low).max(FAR / part.frame.metres(up));
    let is_far = |value: f64, low: f64, high: f64| low <= high && (low - value).max(value - high) > apart(low, high);
    match zeros {
        true if is_far(0.0, low, high) && is_rim(part, up) => found.push(0.0),
        true => (low, high) = (low.min(0.0), high.max(0.0)),
        false => {}
    }
    found.sort_unstable_by(f64::total_cmp);
    found.dedup();
    found.retain(|value| is_far(*value, low, high));
    found
}

/// Whether heights of 0 lie around all others on every side, and all ground between is steeper than 60 degrees, and less than there is
/// within: no coast is so, and no tower.
fn is_rim(part: &Part, up: usize) -> bool {
    /// Triangles between at least.
    const FEW: usize = 20;
    let axes = plan(up);
    let ends = |zero: bool| {
        let corners = part.ground().flat_map(|t| t.v).map(|v| part.own(v));
        let corners = corners.filter(|p| (p[up] == 0.0) == zero && known(p[up], part.frame.metres(up)).is_none());
        corners.fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], p| {
            [[0, 1].map(|i| low[i].min(p[axes[i]])), [0, 1].map(|i| high[i].max(p[axes[i]]))]
        })
    };
    let [[least, most], [low, high]] = [true, false].map(ends);
    let around = (0..2).all(|i| least[i] < low[i] && high[i] < most[i]);
    let zeros = |t: &Triangle| t.v.iter().filter(|v| part.own(**v)[up] == 0.0).count();
    let within = part.ground().filter(|t| zeros(t) == 0).count();
    let dot = |[a, b, c]: [f64; 3], [x, y, z]: [f64; 3]| a * x + b * y + c * z;
    let across = |n: [f64; 3]| dot(n, part.frame.axes()[up]);
    let between = part.ground().filter(|t| (1..3).contains(&zeros(t))).map(|t| part.normal(t));
    let between: Vec<[f64; 3]> = between.filter(|n| across(*n) != 0.0).collect();
    let is_steep = |n: &[f64; 3]| 4.0 * across(*n) * across(*n) < dot(*n, *n);
    around && (FEW..within).contains(&between.len()) && between.iter().all(is_steep)
}

/// Whether a corner has one of them, with x, y and z up: with one of these or with all, for a floor that reaches far has two such numbers.
pub fn is(part: &Part, corner: u32) -> [bool; 3] {
    let own = part.own(corner);
    let all = [0, 1, 2].map(|up: usize| {
        let value = || known(own[up], part.frame.metres(up)).or((own[up] == 0.0).then_some(0.0));
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
