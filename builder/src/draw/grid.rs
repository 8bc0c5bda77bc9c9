//! A grid as a picture: heights as colours, lit from the north-west.

use super::{
    canvas::Canvas,
    colour::{NOTHING, WHITE, mix},
    frame::{Drawn, Key, frame, no_ground},
    heights::TINT,
    relief::{light, lit},
    scale::{Scale, decimals},
    view::View,
};
use crate::check::ground::pairs::ALL;
use crate::grid::{Grid, Squares};
use crate::util::text::{coordinate, grouped, metres};

/// Pixels of the longer side, if the squares are fewer, and the most.
const SIDES: [usize; 2] = [1200, 4096];

pub fn picture(grid: &Grid, name: &str) -> Canvas {
    let Squares { extent: [[west, south], _], cell, columns, rows, .. } = grid.squares;
    let longer = columns.max(rows);
    // either a square has several pixels, or a pixel shows one of several squares
    let (pixels, every) = ((SIDES[0] / longer).max(1), longer.div_ceil(SIDES[1]));
    let [width, height] = [columns, rows].map(|n| n.div_ceil(every) * pixels);
    let per_metre = pixels as f64 / (every as f64 * cell);
    let north = south + height as f64 / per_metre;
    let view = View { west, north, per_metre, width, height, heights: ALL };
    let (count, ends) = grid.facts();
    let scale = Scale::new(None, ends.unwrap_or_default());
    let at = |column: usize, row: usize| (column < columns && row < rows).then(|| grid.at([column, row])).flatten();
    let colour = |column: usize, row: usize| {
        let Some(z) = at(column, row) else { return NOTHING };
        // the slope to the next square, or at the end from the last one
        let rise = |next: Option<f64>, last: Option<f64>| next.map_or_else(|| last.map_or(0.0, |v| z - v), |v| v - z);
        let east = rise(at(column + 1, row), at(column.wrapping_sub(1), row));
        let north = rise(at(column, row + 1), at(column, row.wrapping_sub(1)));
        let slope = [east, north].map(|rise| rise / cell);
        lit(mix(WHITE, scale.colour(z), TINT), light(slope))
    };
    let mut ground = Canvas::new(width, height, NOTHING);
    for (i, pixel) in ground.pixels.iter_mut().enumerate() {
        let [x, y] = [i % width, height - 1 - i / width].map(|v| v / pixels * every + every / 2);
        *pixel = colour(x.min(columns - 1), y.min(rows - 1));
    }
    let mut keys = vec![Key::Bar(scale.bar(TINT, |v| format!("{} m", coordinate(v)), decimals))];
    if count < grid.squares.count() as u64 {
        keys.push(no_ground(&view));
    }
    let mut notes = vec![format!("{} x {} squares of {}", grouped(columns as u64), grouped(rows as u64), metres(cell))];
    if every > 1 {
        notes.push(format!("of {every} x {every} squares one is drawn"));
    }
    let drawn = Drawn { ground, keys, notes, details: Vec::new(), facts: serde_json::Value::Null };
    frame(drawn, &format!("Heights on squares: {name}"), &view).canvas
}
