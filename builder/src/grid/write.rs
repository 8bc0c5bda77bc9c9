//! Heights on squares as array, table, dictionary and faces.

use super::{Grid, Heights, Squares};
use crate::util::text::{decimal, shown};
use serde_json::{Value, json};
use std::{
    io::{self, Write},
    iter::repeat,
};

pub use super::tiff::write as tiff;

/// An array of NumPy, format 1.0: doubles, rows x columns, row 0 in the south; of layers rows x columns x the most of a
/// square, highest first. NaN where there is no ground.
pub fn npy(heights: &Heights, to: &mut impl Write) -> io::Result<()> {
    let Squares { columns, rows, .. } = heights.squares();
    let (shape, deep) = match heights {
        Heights::One(_) => (format!("{rows}, {columns}"), 1),
        Heights::All(stack) => {
            let deep = stack.most().max(1) as usize;
            (format!("{rows}, {columns}, {deep}"), deep)
        }
    };
    let mut head = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}), }}");
    // with what is before it, a multiple of 64 bytes
    while !(10 + head.len() + 1).is_multiple_of(64) {
        head.push(' ');
    }
    head.push('\n');
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&(head.len() as u16).to_le_bytes())?;
    to.write_all(head.as_bytes())?;
    heights.squares().all().try_for_each(|at| {
        let all = heights.at(at).iter().copied().chain(repeat(f64::NAN));
        all.take(deep).try_for_each(|z| to.write_all(&z.to_le_bytes()))
    })
}

/// Centres along x and along y.
fn centres(squares: &Squares) -> [Vec<String>; 2] {
    [(0, squares.columns), (1, squares.rows)]
        .map(|(axis, count)| (0..count).map(|i| decimal(squares.along(axis, i))).collect())
}

/// A line for each square, or with layers for each of its heights.
pub fn csv(heights: &Heights, to: &mut impl Write) -> io::Result<()> {
    let (squares, layered) = (heights.squares(), matches!(heights, Heights::All(_)));
    let [xs, ys] = centres(squares);
    let layer = |number: &str| if layered { format!("{number},") } else { String::new() };
    writeln!(to, "x,y,{}z,partial", layer("layer"))?;
    for at in squares.all() {
        let (x, y, partial, all) = (&xs[at[0]], &ys[at[1]], u8::from(squares.is_partial(at)), heights.at(at));
        if all.is_empty() {
            writeln!(to, "{x},{y},{},{partial}", layer(""))?;
        }
        for (z, number) in all.iter().zip(1..) {
            writeln!(to, "{x},{y},{}{},{partial}", layer(&number.to_string()), decimal(*z))?;
        }
    }
    Ok(())
}

/// Where squares lie, and which column and row are partial: the last ones, if any.
pub fn facts(squares: &Squares, source: &str, rule: &str) -> Value {
    let Squares { extent: [low, high], cell, columns, rows, .. } = squares;
    let last = |axis: usize, count: &usize| squares.reaches_beyond(axis, count - 1).then_some(count - 1);
    json!({
        "source": source, "rule": rule, "cell": cell, "columns": columns, "rows": rows,
        "extent": { "min": low, "max": high }, "partial": { "column": last(0, columns), "row": last(1, rows) },
    })
}

/// Facts, and a dictionary of heights by "x,y" of the centres.
pub fn json(heights: &Heights, source: &str, rule: &str, to: &mut impl Write) -> io::Result<()> {
    let squares = heights.squares();
    let facts = facts(squares, source, rule);
    let facts = serde_json::to_string_pretty(&facts)?;
    // the dictionary goes before its closing brace
    write!(to, "{},\n  \"heights\": {{", facts.trim_end_matches("\n}"))?;
    let [xs, ys] = centres(squares);
    let mut comma = "";
    for at in squares.all() {
        let all: Vec<String> = heights.at(at).iter().map(|z| decimal(*z)).collect();
        let value = match heights {
            Heights::One(_) => all.into_iter().next().unwrap_or("null".into()),
            Heights::All(_) => format!("[{}]", all.join(", ")),
        };
        write!(to, "{comma}\n    \"{},{}\": {value}", xs[at[0]], ys[at[1]])?;
        comma = ",";
    }
    writeln!(to, "\n  }}\n}}")
}

/// Each square with ground as a face at its height.
pub fn obj(grid: &Grid, source: &str, to: &mut impl Write) -> io::Result<()> {
    let Squares { extent, cell, columns, rows, .. } = &grid.squares;
    writeln!(
        to,
        "# Heights of {} on {columns} x {rows} squares of {} m, each a face; metres, z up",
        shown(source),
        decimal(*cell)
    )?;
    let border = |k: usize, i: usize| decimal(extent[0][k] + i as f64 * cell);
    let mut faces = 0u64;
    for at in grid.squares.all() {
        let Some(z) = grid.at(at).map(decimal) else { continue };
        let [[west, east], [south, north]] = [0, 1].map(|k| [border(k, at[k]), border(k, at[k] + 1)]);
        for [x, y] in [[&west, &south], [&east, &south], [&east, &north], [&west, &north]] {
            writeln!(to, "v {x} {y} {z}")?;
        }
        faces += 1;
    }
    writeln!(to, "o squares")?;
    (0..faces).map(|i| 4 * i).try_for_each(|i| writeln!(to, "f {} {} {} {}", i + 1, i + 2, i + 3, i + 4))
}
