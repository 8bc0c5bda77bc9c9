//! Heights by brute force: every triangle is asked for every square, in whole numbers. Shares nothing with the stage.

use super::{Grid, Rule, Sampler, Squares, Stack};
use crate::build::error::BuildError;
use crate::util::exact::exp2;
use crate::util::text::decimal;
use rayon::prelude::*;
use std::fmt;

/// A square of which the oracle says something else.
#[derive(Clone, Debug, PartialEq)]
pub struct Differs {
    /// Column and row.
    pub at: [usize; 2],
    /// Its centre, metres.
    pub centre: [f64; 2],
    /// The grid's heights there, metres.
    pub grid: Vec<f64>,
    /// The oracle's.
    pub oracle: Vec<f64>,
}

impl fmt::Display for Differs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Differs { at: [column, row], centre, grid, oracle } = self;
        let [x, y] = centre.map(decimal);
        let [grid, oracle] = [grid, oracle].map(|heights| match &heights[..] {
            [] => "no ground".into(),
            all => all.iter().map(|z| decimal(*z)).collect::<Vec<_>>().join(", "),
        });
        write!(f, "column {column}, row {row}, at {x},{y}: the grid has {grid}, and the oracle {oracle}")
    }
}

impl Sampler<'_> {
    /// The first square, row by row from the south, whose height is not that of the oracle.
    ///
    /// # Errors
    ///
    /// As of [`check`](Self::check).
    pub fn differs(&self, grid: &Grid, rule: Rule, tell: &mut dyn FnMut(f64)) -> Result<Option<Differs>, BuildError> {
        self.check(Some(rule), true)?;
        let pick = |mut all: Vec<i64>| {
            let chosen = match rule {
                Rule::Lowest => all.last().copied(),
                Rule::HighestBelow(z) => all.iter().copied().find(|v| *v <= self.limit(z)),
                Rule::Nearest(z) => {
                    // from the lowest: of two as near it stays
                    all.reverse();
                    all.iter().copied().min_by_key(|v| v.abs_diff(self.limit(z)))
                }
                _ => all.first().copied(),
            };
            chosen.into_iter().collect()
        };
        let got = |at: [usize; 2]| grid.at(at).into_iter().collect();
        self.first(&grid.squares, pick, got, tell)
    }

    /// The same of all heights.
    ///
    /// # Errors
    ///
    /// As of [`check`](Self::check).
    pub fn stack_differs(&self, stack: &Stack, tell: &mut dyn FnMut(f64)) -> Result<Option<Differs>, BuildError> {
        self.check(None, true)?;
        // what lies so near under a height that was kept is the same layer
        let kept = |all: Vec<i64>| {
            let mut kept: Vec<i64> = Vec::new();
            all.into_iter().for_each(|z| match kept.last() {
                Some(above) if above - z < self.merge => {}
                _ => kept.push(z),
            });
            kept
        };
        self.first(&stack.squares, kept, |at| stack.at(at).to_vec(), tell)
    }

    fn first(
        &self,
        squares: &Squares,
        pick: impl Fn(Vec<i64>) -> Vec<i64> + Sync,
        got: impl Fn([usize; 2]) -> Vec<f64> + Sync,
        tell: &mut dyn FnMut(f64),
    ) -> Result<Option<Differs>, BuildError> {
        let corners: Vec<[[i64; 3]; 3]> =
            self.faces.iter().map(|f| f.v.map(|v| self.vertices[v as usize].map(i64::from))).collect();
        let unit = exp2(self.step[1] - 8);
        let metres = |z: i64| (z + self.origin[2] * 256) as f64 * unit;
        for row in 0..squares.rows {
            let differs = |column: usize| {
                let at = [column, row];
                let centre = squares.centre(at);
                let all = all_over(&corners, [0, 1].map(|k| self.place(k, centre[k])));
                let (oracle, grid): (Vec<f64>, _) = (pick(all).into_iter().map(metres).collect(), got(at));
                (oracle != grid).then_some(Differs { at, centre, grid, oracle })
            };
            if let Some(first) = (0..squares.columns).into_par_iter().find_map_first(differs) {
                return Ok(Some(first));
            }
            tell((row + 1) as f64 / squares.rows as f64);
        }
        Ok(None)
    }

    /// A place along an axis in 2^-8 steps from the origin.
    fn place(&self, axis: usize, metres: f64) -> i64 {
        let steps = metres * exp2(8 - self.step[0]);
        steps.round_ties_even() as i64 - self.origin[axis] * 256
    }

    /// A height that was asked for, as corners are rounded, in 2^-8 steps from the origin.
    fn limit(&self, metres: f64) -> i64 {
        let steps = (metres * exp2(-self.step[1])).round_ties_even() as i64;
        steps.saturating_sub(self.origin[2]).clamp(-1 << 41, 1 << 41) * 256
    }
}

/// All heights over a place, each once, highest first: corners in steps, the rest in 2^-8 of them.
fn all_over(corners: &[[[i64; 3]; 3]], [x, y]: [i64; 2]) -> Vec<i64> {
    let mut all: Vec<i64> = corners.iter().filter_map(|c| height(c, [x, y])).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.dedup();
    all
}

/// The height of a closed triangle over a place, by the areas that it spans with each side.
fn height(corners: &[[i64; 3]; 3], [x, y]: [i64; 2]) -> Option<i64> {
    let away = |k: usize, at: i64| corners.map(|c| c[k] * 256 - at);
    let (dx, dy) = (away(0, x), away(1, y));
    let beyond = |d: [i64; 3]| d.iter().all(|v| *v > 0) || d.iter().all(|v| *v < 0);
    if beyond(dx) || beyond(dy) {
        return None;
    }
    let weight = |i: usize, j: usize| i128::from(dx[i]) * i128::from(dy[j]) - i128::from(dx[j]) * i128::from(dy[i]);
    let weights = [weight(1, 2), weight(2, 0), weight(0, 1)];
    if weights.iter().any(|w| *w < 0) {
        return None;
    }
    let all: i128 = weights.iter().sum();
    // about the first corner, so that products stay small
    let rise: i128 = (1..3).map(|k| weights[k] * i128::from(corners[k][2] - corners[0][2])).sum::<i128>() * 256;
    let (floor, rest) = (rise.div_euclid(all), rise.rem_euclid(all));
    let up = match (rest * 2).cmp(&all) {
        std::cmp::Ordering::Less => 0,
        std::cmp::Ordering::Equal => floor.rem_euclid(2),
        std::cmp::Ordering::Greater => 1,
    };
    Some((floor + up) as i64 + corners[0][2] * 256)
}
