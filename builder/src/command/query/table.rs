//! Answers for people.

use std::io::{self, Write};

use hardpan::Terrain;

use super::{
    super::{decimal, shown},
    sheet::{Row, Shape, Sheet, fallen, slope},
};

/// For people.
pub struct Table<'t, 'a, W> {
    pub terrain: &'t Terrain<'a>,
    pub out: W,
    /// Of x and y, and of the z that was asked with, if it is shown.
    pub decimals: usize,
    pub from: Option<usize>,
}

impl<W: Write> Sheet for Table<'_, '_, W> {
    fn head(&mut self, shape: &Shape) -> io::Result<()> {
        let layer = if shape.layers { "layer " } else { "" };
        let from = self.from.map(|digits| format!("{:>1$} ", "from z", digits + 6)).unwrap_or_default();
        let width = self.decimals + 9;
        writeln!(
            self.out,
            "{:>width$} {:>width$} {from}{layer}{:>12} {:>9} {:>9} {:>6} {:>6}  {:<16} {:<16} found",
            "x", "y", "z", "slope x", "slope y", "mu", "rr", "material", "source"
        )
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
        let numbers = |[z, sx, sy]: [f64; 3], [mu, rr]: [f64; 2]| {
            [format!("{z:.6}"), format!("{sx:.5}"), format!("{sy:.5}"), mu.to_string(), rr.to_string()]
        };
        let (t, dash, mut said) = (self.terrain, || "-".to_string(), r.reach().to_string());
        let (mut what, mut names) = ([(); 5].map(|()| dash()), [dash(), dash()]);
        if r.found() {
            let ([sx, sy], m) = (slope(t, r.hit), t.material(r.hit));
            what = numbers([t.z_f64(r.hit), sx, sy], [m.mu, m.rolling]);
            names = [t.material_name(r.hit.material), t.source_name(r.hit.source)].map(shown);
        } else {
            said = r.status.name().into();
            if r.filled {
                let [z, sx, sy, mu, rr] = fallen(t, r);
                (what, said) = (numbers([z, sx, sy], [mu, rr]), said + ", fall-back");
            }
        }
        let ([z, sx, sy, mu, rr], [material, source]) = (what, names);
        writeln!(self.out, "{z:>12} {sx:>9} {sy:>9} {mu:>6} {rr:>6}  {material:<16} {source:<16} {said}")
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
