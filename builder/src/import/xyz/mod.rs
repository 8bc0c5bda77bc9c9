//! Points on a grid as text: x, y and height in each line, in any order.

use super::ImportError;
use super::heights::{Affine, HeightGrid, MAX_POSTS, fits, unsupported};
use crate::util::text::{bounded, counted, decimal};
use rayon::prelude::*;
use std::path::Path;

/// Most points: each takes 24 bytes, and some more while they are sorted.
const MAX_POINTS: usize = MAX_POSTS as usize / 4;
/// Part of the way from post to post by which a point may lie off the grid.
const OFF: f64 = 1e-3;
/// Posts of a grid for each point that is there, at most.
const SPARSE: u64 = 16;
const MESH: &str = "make a mesh of the points in CloudCompare (Edit, Mesh, Delaunay 2.5D, XY plane; save as OBJ)";

pub fn read(bytes: &[u8], path: &Path) -> Result<HeightGrid, ImportError> {
    let points = points(bytes, path)?;
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for p in &points {
        (0..2).for_each(|k| (low[k], high[k]) = (low[k].min(p[k]), high[k].max(p[k])));
    }
    let mut along = [(0.0, 0u64); 2];
    for k in 0..2 {
        let own = axis(&points, k, [low[k], high[k]]);
        along[k] = own.ok_or_else(|| unsupported(path, "its points lie on one line along x or y", MESH))?;
    }
    let [(dx, columns), (dy, rows)] = along;
    let count = columns.saturating_mul(rows);
    if count > SPARSE * points.len() as u64 {
        let cause = format!(
            "its {} lie on no grid: at {} by {} m that would have {count} posts",
            counted(points.len() as u64, "point"),
            decimal(dx),
            decimal(dy)
        );
        return Err(unsupported(path, cause, MESH));
    }
    fits(path, [columns, rows], 1, "take a part of the points")?;
    let (columns, rows) = (columns as usize, rows as usize);
    let mut heights = vec![f64::NAN; columns * rows];
    for [x, y, z] in points {
        let at = [(x - low[0]) / dx, (y - low[1]) / dy];
        if at.iter().any(|v| (v - v.round()).abs() > OFF) {
            let [x, y, dx, dy] = [x, y, dx, dy].map(decimal);
            let cause = format!("its points lie on no grid: {x}, {y} is not on one of {dx} by {dy} m");
            return Err(unsupported(path, cause, MESH));
        }
        let [c, r] = at.map(|v| v.round() as usize);
        let there = &mut heights[r * columns + c];
        if !there.is_nan() && *there != z {
            let [x, y, a, b] = [x, y, *there, z].map(decimal);
            let cause = format!("two points at {x}, {y} have the heights {a} and {b}");
            return Err(ImportError::input(path, cause, "leave one of them out"));
        }
        *there = z;
    }
    let place = Affine { zero: low, column: [dx, 0.0], row: [0.0, dy] };
    Ok(HeightGrid { format: "xyz", columns, rows, heights, place: Some(place), ..HeightGrid::default() })
}

/// The points of a file: the first three numbers of each line, between blanks, tabs, commas or semicolons.
fn points(bytes: &[u8], path: &Path) -> Result<Vec<[f64; 3]>, ImportError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut points = Vec::new();
    let mut is_first = true;
    for (line, number) in bytes.split(|b| *b == b'\n').zip(1u64..) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//") {
            continue;
        }
        let is_between = |b: &u8| b.is_ascii_whitespace() || *b == b',' || *b == b';';
        let words = line.split(is_between).filter(|word| !word.is_empty());
        let numbers: Vec<f64> = words.take(3).map_while(|word| fast_float2::parse(word).ok()).collect();
        let point = <[f64; 3]>::try_from(numbers).ok().filter(|p| p[..2].iter().all(|v| v.is_finite()));
        match point {
            Some(point) if points.len() < MAX_POINTS => points.push(point),
            Some(_) => return Err(unsupported(path, format!("it has more than {MAX_POINTS} points"), MESH)),
            // a heading
            None if is_first => {}
            None => {
                let text = bounded(&String::from_utf8_lossy(line)).into_owned();
                let cause = format!("{text:?} is no x, y and height");
                let place = super::Place::Line(number);
                let hint = "a line has x, y and height, between blanks, tabs or commas";
                return Err(ImportError { place, ..ImportError::input(path, cause, hint) });
            }
        }
        is_first = false;
    }
    match points.len() {
        0..4 => Err(ImportError::input(path, "it has no four points", "a grid of heights has more")),
        _ => Ok(points),
    }
}

/// The way from post to post along an axis, and how many posts there are: the commonest difference of coordinates.
fn axis(points: &[[f64; 3]], k: usize, [low, high]: [f64; 2]) -> Option<(f64, u64)> {
    let mut all: Vec<f64> = points.iter().map(|p| p[k]).collect();
    all.par_sort_unstable_by(f64::total_cmp);
    // what is nearer than this is one coordinate
    let one = (high - low) * 1e-9;
    all.dedup_by(|b, a| *b - *a <= one);
    let mut ways: Vec<f64> = all.windows(2).map(|w| w[1] - w[0]).collect();
    ways.par_sort_unstable_by(f64::total_cmp);
    let alike = ways.chunk_by(|a, b| b - a <= OFF * a);
    let common = alike.max_by_key(|ways| ways.len())?;
    let way = common[common.len() / 2];
    let count = ((high - low) / way).round();
    (1.0..1e9).contains(&count).then(|| ((high - low) / count, count as u64 + 1))
}
