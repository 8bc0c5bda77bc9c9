//! Heights that stand in a raster where nobody measured, and that a mesh made of it has as if it were ground.

use crate::report::{Code, Finding, Quantity, Severity};

use super::{AXES, Part, plan};
use crate::util::text::{counted, decimal, few, grouped};

/// Values that programs write for missing heights, without those that real ground may have.
pub const KNOWN: [f64; 11] =
    [-999.0, -9999.0, 9999.0, -99999.0, 99999.0, -32767.0, -32768.0, 32767.0, 65535.0, -2147483648.0, 2147483647.0];
/// No ground is so high, whatever its unit: of single precision programs write this end, that end or a power of ten.
const NEVER: f64 = 1e19;
/// Farther apart than a pit and a tower, in metres: a model in millimetres has a step of 999.
const FAR: f64 = 50.0;

/// A height in the file's own numbers that stands for no data, but for what rounding left of it.
fn void(height: f64) -> Option<f64> {
    match KNOWN.into_iter().find(|v| (v - height).abs() <= 1e-9 * v.abs()) {
        None if height.abs() < NEVER => None,
        None if (height as f32).is_finite() => Some((height as f32).into()),
        known => known.or(Some(height)),
    }
}

/// Such a height in as many digits as single precision has, where it has more.
fn told(height: f64) -> String {
    match height as f32 {
        _ if height.abs() < NEVER => decimal(height),
        single if single.is_finite() => format!("{single:e}"),
        _ => format!("{height:e}"),
    }
}

/// Such heights of a file's ground with an axis up, in its own numbers, from the least: farther from all others than
/// those lie apart.
pub fn values(part: &Part, up: usize) -> Vec<f64> {
    let (mut found, mut low, mut high) = (Vec::new(), f64::INFINITY, f64::NEG_INFINITY);
    for height in part.ground().flat_map(|t| t.v).map(|v| part.own(v)[up]) {
        match void(height) {
            Some(value) => found.push(value),
            None => (low, high) = (low.min(height), high.max(height)),
        }
    }
    let apart = (high - low).max(FAR / part.frame.metres(up));
    found.sort_unstable_by(f64::total_cmp);
    found.dedup();
    found.retain(|value| low <= high && (low - value).max(value - high) > apart);
    found
}

/// Whether a corner has one of them, with x, y and z up: with one of these or with all, for a floor that reaches far
/// has two such numbers.
pub fn is(part: &Part, corner: u32) -> [bool; 3] {
    let own = part.own(corner);
    let all = [0, 1, 2].map(|up: usize| {
        let is = |value: f64| part.voids[up].binary_search_by(|v| v.total_cmp(&value)).is_ok();
        !part.voids[up].is_empty() && void(own[up]).is_some_and(is)
    });
    if all.iter().filter(|is| **is).count() == 2 { [false; 3] } else { all }
}

/// The finding of such heights, with the first of some axes up with which there are any.
pub fn finding(part: &Part, ups: impl IntoIterator<Item = usize>) -> Option<Finding> {
    let corners = || part.ground().flat_map(|t| t.v);
    let has = |up: &usize| !part.voids[*up].is_empty() && corners().any(|v| is(part, v)[*up]);
    let up = ups.into_iter().find(has)?;
    let mut all: Vec<u32> = corners().collect();
    all.sort_unstable();
    all.dedup();
    let of = all.len() as u64;
    all.retain(|v| is(part, *v)[up]);
    let (axes, count) = (plan(up), all.len() as u64);
    let order = |v: &u32| axes.map(|i| part.own(*v)[i]);
    let first = all.into_iter().min_by(|a, b| order(a).partial_cmp(&order(b)).expect("finite"))?;
    let faces = part.ground().filter(|t| t.v.iter().any(|v| is(part, *v)[up])).count() as u64;
    let heights = part.voids[up].iter().map(|v| told(*v));
    // if nobody says that it is up
    let turned = if up == part.frame.upright() { String::new() } else { format!(" with {} up", AXES[up]) };
    let [east, north] = order(&first).map(|v| decimal((v * 1e6).round() / 1e6 + 0.0));
    let text = format!(
        "{} of {} {} the height {}{turned}, far from all others, as rasters have it where there is no data; the first is at {} {east}, {} {north}",
        grouped(count),
        counted(of, "vertex"),
        if count == 1 { "has" } else { "have" },
        few(heights, part.voids[up].len() as u64),
        AXES[axes[0]],
        AXES[axes[1]],
    );
    let value = |name, value| Quantity { name, value, unit: "" };
    let [count, faces] = [count, faces].map(|n| n as f64);
    let values = vec![value("height", part.voids[up][0]), value("vertices", count), value("triangles", faces)];
    let place = Some(part.place(first)).filter(|place| place.iter().all(|v| v.is_finite()));
    Some(Finding { place, values, ..part.finding(Code::NoData, Severity::Warning, text, Code::NoData.hint()) })
}
