//! Answers for people.

use std::io::{self, Write};

use hardpan::Terrain;

use super::{
    super::{decimal, shown},
    sheet::{Row, Shape, Sheet},
};
use crate::query::column::{COLUMNS, Column, Value};

/// For people.
pub struct Table<'t, 'a, W> {
    pub terrain: &'t Terrain<'a>,
    pub out: W,
    /// Decimals of x and y, and of the z that was asked with, if it is shown.
    pub decimals: usize,
    pub from: Option<usize>,
}

impl<W: Write> Sheet for Table<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let layer = if shape.layers { "layer " } else { "" };
        let from = self.from.map(|digits| format!("{:>1$} ", "from z", digits + 6)).unwrap_or_default();
        let width = self.decimals + 9;
        write!(self.out, "{:>width$} {:>width$} {from}{layer}", "x", "y")?;
        for (i, column) in COLUMNS.iter().enumerate() {
            let cells = column.names().into_iter().map(|name| name.replace('_', " "));
            self.cells(i, cells.collect())?;
        }
        writeln!(self.out, "found")
    }

    fn row(&mut self, r: &Row) -> io::Result<()> {
        let layer = r.layer.map(|n| format!("{n:>5} ")).unwrap_or_default();
        let from = |digits: usize| {
            let z = r.ask.z.map_or("-".into(), |z| typed(z, digits));
            format!("{z:>0$} ", digits + 6)
        };
        let (from, digits, width) = (self.from.map(from).unwrap_or_default(), self.decimals, self.decimals + 9);
        let [x, y] = [r.ask.x, r.ask.y].map(|v| typed(v, digits));
        write!(self.out, "{x:>width$} {y:>width$} {from}{layer}")?;
        let (t, answer, dash) = (self.terrain, r.answer(), || "-".to_string());
        for (i, column) in COLUMNS.iter().enumerate() {
            let number = |v: f64| column.table.1.map_or_else(|| v.to_string(), |digits| format!("{v:.digits$}"));
            let cells = match &column.value {
                Value::Place(of) if r.shown() => {
                    r.place(column, *of, t)[..column.width()].iter().map(|v| number(*v)).collect()
                }
                Value::Material(of) if r.shown() => vec![number(of(t, &answer))],
                Value::MaterialName if r.found() => vec![shown(t.material_name(r.hit.material))],
                Value::SourceName if r.found() => vec![shown(t.source_name(r.hit.source))],
                _ => vec![dash(); column.width()],
            };
            self.cells(i, cells)?;
        }
        let reach = Some(r.reach()).filter(|reach| !reach.is_empty());
        match r.found() {
            true => writeln!(self.out, "{}", r.reach()),
            false => {
                let said: Vec<&str> = [Some(r.status.name()), reach].into_iter().flatten().collect();
                writeln!(self.out, "{}", said.join(", "))
            }
        }
    }
}

impl<W: Write> Table<'_, '_, W> {
    /// Writes the cells of a column: numbers to the right, names to the left. Status and reach share the last place of
    /// a row.
    fn cells(&mut self, column: usize, cells: Vec<String>) -> io::Result<()> {
        let Column { value, table: (width, _), .. } = &COLUMNS[column];
        // names stand apart from the numbers before them
        let is_first_name = column > 0 && COLUMNS[column - 1].value.is_number() && !value.is_number();
        cells.into_iter().try_for_each(|cell| match value {
            Value::Status | Value::Reach | Value::Leaf | Value::Property(_) | Value::Whole(_) => Ok(()),
            value if value.is_number() => write!(self.out, "{cell:>width$} "),
            _ => write!(self.out, "{}{cell:<width$} ", if is_first_name { " " } else { "" }),
        })
    }
}

/// Digits that numbers are shown with, so that they stand as they were typed: 3 to 9.
pub fn decimals(numbers: impl Iterator<Item = f64>) -> usize {
    let digits = numbers.map(|v| v.to_string().split_once('.').map_or(0, |(_, digits)| digits.len()));
    digits.max().unwrap_or(0).clamp(3, 9)
}

/// A number with so many digits behind the point, or as it is typed if it is too large for a table.
fn typed(v: f64, digits: usize) -> String {
    if v.abs() < 1e15 { format!("{v:.digits$}") } else { decimal(v) }
}
