//! Files of trails and of potholes.

use crate::settings::marks::Pothole;
use crate::util::text::{bounded, counted, quoted};
use std::{fs::File, io::Read as _, path::Path};

/// Bytes of such a file at most.
const MAX_BYTES: u64 = 256 << 20;
/// A point that lies so near to the line of its neighbours is left out, metres.
const NEAR: f64 = 0.02;

fn text(place: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = File::open(place).and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|e| format!("{}: {e}", quoted(place)))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("{} is longer than {} MiB", quoted(place), MAX_BYTES >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The poses of a replay file of ANVEL: how many there are, and the points of their way in plan.
pub fn path(place: &Path) -> Result<(u64, Vec<[f64; 2]>), String> {
    let text = text(place)?;
    let (mut within, mut points) = (false, Vec::new());
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        match line {
            _ if line.eq_ignore_ascii_case("@data") => within = true,
            _ if !within || line.is_empty() => {}
            _ if line.starts_with('@') => break,
            _ => {
                // time:x y z:turn
                let place_of = line.split(':').nth(1).map(|xyz| xyz.split_whitespace().map(str::parse::<f64>));
                let numbers: Option<Vec<f64>> = place_of.and_then(|all| all.collect::<Result<_, _>>().ok());
                match numbers.as_deref() {
                    Some([x, y, _]) if x.is_finite() && y.is_finite() => points.push([*x, *y]),
                    _ => {
                        let wanted = "a line is time:x y z:quaternion";
                        return Err(format!("{}: line {}: {:?}; {wanted}", quoted(place), i + 1, bounded(line)));
                    }
                }
            }
        }
    }
    let poses = points.len() as u64;
    points.dedup();
    let points = straight(&points);
    if points.len() < 2 {
        return Err(format!(
            "{} has {} behind @Data, and two places make a trail",
            quoted(place),
            counted(poses, "pose")
        ));
    }
    Ok((poses, points))
}

/// A line of fewer points, none of which left out lies farther from it than [`NEAR`].
fn straight(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    let mut kept = vec![false; points.len()];
    (kept[0], kept[last]) = (true, true);
    let mut stack = vec![(0, last)];
    while let Some((from, to)) = stack.pop() {
        let [a, b] = [points[from], points[to]];
        let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        let length = (dx * dx + dy * dy).sqrt();
        let away = |p: [f64; 2]| {
            let [x, y] = [p[0] - a[0], p[1] - a[1]];
            let along = if length > 0.0 { ((x * dx + y * dy) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
            let [x, y] = [x - along * dx, y - along * dy];
            (x * x + y * y).sqrt()
        };
        let farthest =
            (from + 1..to).map(|i| (i, away(points[i]))).fold((from, NEAR), |m, n| if n.1 > m.1 { n } else { m });
        if farthest.0 != from {
            kept[farthest.0] = true;
            stack.extend([(from, farthest.0), (farthest.0, to)]);
        }
    }
    let mut all: Vec<[f64; 2]> = points.iter().zip(kept).filter(|(_, kept)| *kept).map(|(p, _)| *p).collect();
    all.dedup();
    all
}

/// Holes of a text: depth, diameter, x and y on a line, in metres.
pub fn potholes(place: &Path) -> Result<Vec<Pothole>, String> {
    let mut all = Vec::new();
    for (i, line) in text(place)?.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
        if words.is_empty() {
            continue;
        }
        let numbers: Option<Vec<f64>> = words.iter().map(|w| w.parse().ok().filter(|v: &f64| v.is_finite())).collect();
        let Some([depth, diameter, x, y]) = numbers.as_deref() else {
            return Err(format!("{}: line {}: a line is depth, diameter, x, y", quoted(place), i + 1));
        };
        all.push(Pothole { depth: *depth, diameter: *diameter, at: [*x, *y] });
    }
    Ok(all)
}
