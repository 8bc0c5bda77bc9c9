//! A grid as array, table, dictionary and faces.

use std::io::{self, Write};

use crate::sample::{Grid, Squares};
use serde_json::{Value, json};

use super::{
    super::{decimal, shown},
    Heights,
};

/// An array of NumPy, format 1.0: doubles, rows x columns, row 0 in the south; of layers rows x columns x the most of a square, highest
/// first. NaN where there is no ground.
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
    match heights {
        Heights::One(grid) => grid.heights.iter().try_for_each(|z| to.write_all(&z.to_le_bytes())),
        Heights::All(stack) => {
            (0..*rows).flat_map(|row| (0..*columns).map(move |column| [column, row])).try_for_each(|at| {
                let all = stack.at(at).iter().copied().chain(std::iter::repeat(f64::NAN));
                all.take(deep).try_for_each(|z| to.write_all(&z.to_le_bytes()))
            })
        }
    }
}

/// All squares, row by row from the south.
fn all(squares: &Squares) -> impl Iterator<Item = [usize; 2]> + use<> {
    let Squares { columns, rows, .. } = *squares;
    (0..rows).flat_map(move |row| (0..columns).map(move |column| [column, row]))
}

/// A line for each square, or with layers for each of its heights.
pub fn csv(heights: &Heights, to: &mut impl Write) -> io::Result<()> {
    let squares = heights.squares();
    let xs: Vec<String> = (0..squares.columns).map(|i| decimal(squares.along(0, i))).collect();
    let ys: Vec<String> = (0..squares.rows).map(|i| decimal(squares.along(1, i))).collect();
    let is_partial = |at: [usize; 2]| u8::from(squares.is_partial(at));
    match heights {
        Heights::One(grid) => {
            writeln!(to, "x,y,z,partial")?;
            all(squares).try_for_each(|at| {
                let z = grid.at(at).map(decimal).unwrap_or_default();
                writeln!(to, "{},{},{z},{}", xs[at[0]], ys[at[1]], is_partial(at))
            })
        }
        Heights::All(stack) => {
            writeln!(to, "x,y,layer,z,partial")?;
            all(squares).try_for_each(|at| {
                let (x, y, partial) = (&xs[at[0]], &ys[at[1]], is_partial(at));
                let layers = stack.at(at);
                if layers.is_empty() {
                    writeln!(to, "{x},{y},,,{partial}")?;
                }
                let mut each = layers.iter().zip(1..);
                each.try_for_each(|(z, layer)| writeln!(to, "{x},{y},{layer},{},{partial}", decimal(*z)))
            })
        }
    }
}

/// Which column and row are partial: the last ones, if any.
pub fn partial(squares: &Squares) -> Value {
    let last = |axis: usize, count: usize| squares.reaches_beyond(axis, count - 1).then_some(count - 1);
    json!({ "column": last(0, squares.columns), "row": last(1, squares.rows) })
}

/// Facts, and a dictionary of heights by "x,y" of the centres.
pub fn json(heights: &Heights, source: &str, rule: &str, to: &mut impl Write) -> io::Result<()> {
    let squares = heights.squares();
    let Squares { extent: [low, high], cell, columns, rows, .. } = squares;
    let facts = json!({
        "source": source, "rule": rule, "cell": cell, "columns": columns, "rows": rows,
        "extent": { "min": low, "max": high }, "partial": partial(squares),
    });
    let facts = serde_json::to_string_pretty(&facts)?;
    // the dictionary goes before its closing brace
    write!(to, "{},\n  \"heights\": {{", facts.trim_end_matches("\n}"))?;
    let ys: Vec<String> = (0..*rows).map(|i| decimal(squares.along(1, i))).collect();
    let xs: Vec<String> = (0..*columns).map(|i| decimal(squares.along(0, i))).collect();
    for (i, at) in all(squares).enumerate() {
        let value = match heights {
            Heights::One(grid) => grid.at(at).map_or("null".into(), decimal),
            Heights::All(stack) => {
                format!("[{}]", stack.at(at).iter().map(|z| decimal(*z)).collect::<Vec<_>>().join(", "))
            }
        };
        write!(to, "{}\n    \"{},{}\": {value}", if i > 0 { "," } else { "" }, xs[at[0]], ys[at[1]])?;
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
    for at in all(&grid.squares) {
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
