//! Bounds of all ground over a square: its least and greatest height, exactly, and its mean.
//!
//! Over a square a triangle is least and greatest at a corner of what both share: a corner of the triangle, a corner of
//! the square, or where a side of one crosses a side of the other. Each such height is a fraction, rounded once. A mean
//! is computed in f64, in the order of the triangles, from what a square leaves of each.

use super::{BAND, Rule, Sampler, Squares};
use hardpan::format::FRACTION;
use hardpan_shaders::Face;
use rayon::prelude::*;

impl Sampler<'_> {
    /// The heights of squares by a rule of whole ones.
    pub(super) fn over_cells(&self, squares: &Squares, rule: Rule, tell: &mut dyn FnMut(f64)) -> Vec<f64> {
        let Squares { extent, cell, columns, rows, .. } = *squares;
        let border = |k: usize, i: usize| self.query(k, extent[0][k] + i as f64 * cell);
        let x: Vec<i64> = (0..=columns).map(|i| border(0, i)).collect();
        let y: Vec<i64> = (0..=rows).map(|i| border(1, i)).collect();
        let mut heights = vec![f64::NAN; columns * rows];
        self.by_strips([&y[..rows], &y[1..]], columns, |strip, faces| {
            let out = &mut heights[strip.start * columns..strip.end * columns];
            let firsts: Vec<usize> = strip.clone().step_by(BAND).collect();
            let last = |first: usize| (first + BAND).min(strip.end);
            let ends: Vec<[i64; 2]> = firsts.iter().map(|first| [y[*first], y[last(*first)]]).collect();
            let (starts, numbers) = self.listed(faces, &ends);
            out.par_chunks_mut(BAND * columns).zip(&firsts).enumerate().for_each(|(band, (out, first))| {
                let of = &numbers[starts[band] as usize..starts[band + 1] as usize];
                let of = of.iter().map(|i| self.triangle(&faces[*i as usize]));
                let borders = [&x[..], &y[*first..=last(*first)]];
                match rule {
                    Rule::CellMean => self.means(of, borders, out),
                    _ => self.extremes(of, borders, rule == Rule::CellLeast, out),
                }
            });
            tell(strip.end as f64 / rows as f64);
        });
        heights
    }

    fn triangle(&self, face: &Face) -> Triangle {
        let corner = |v: u32| {
            let [x, y, z] = self.vertices[v as usize].map(i64::from);
            [x << FRACTION, y << FRACTION, z << FRACTION]
        };
        Triangle(face.v.map(corner))
    }

    fn extremes(&self, of: impl Iterator<Item = Triangle>, borders: [&[i64]; 2], least: bool, out: &mut [f64]) {
        let mut best: Vec<Option<i64>> = vec![None; out.len()];
        for triangle in of {
            let [a, b, c] = triangle.0.map(|v| v[2]);
            let (floor, top) = (a.min(b).min(c), a.max(b).max(c));
            triangle.squares(borders, |at, low, high| {
                // what cannot be better is not asked
                if best[at].is_some_and(|z| if least { floor >= z } else { top <= z }) {
                    return;
                }
                triangle.corners_over(low, high, |z| {
                    let old = best[at].unwrap_or(z);
                    best[at] = Some(if least { old.min(z) } else { old.max(z) });
                });
            });
        }
        let found = out.iter_mut().zip(best).filter_map(|(out, z)| Some((out, z?)));
        found.for_each(|(out, z)| *out = self.metres(z));
    }

    fn means(&self, of: impl Iterator<Item = Triangle>, borders: [&[i64]; 2], out: &mut [f64]) {
        let mut sums = vec![[0.0f64; 2]; out.len()];
        for triangle in of {
            triangle.squares(borders, |at, low, high| {
                let [area, volume] = triangle.volume(low, high);
                sums[at] = [sums[at][0] + area, sums[at][1] + volume];
            });
        }
        let zero = self.metres(0);
        let unit = self.metres(1) - zero;
        let found = out.iter_mut().zip(sums).filter(|(_, sum)| sum[0] > 0.0);
        found.for_each(|(out, [area, volume])| *out = zero + volume / area * unit);
    }
}

/// Corners in query steps from the origin, heights in as fine ones; anticlockwise in plan.
struct Triangle([[i64; 3]; 3]);

impl Triangle {
    fn sides(&self) -> [[[i64; 3]; 2]; 3] {
        let [a, b, c] = self.0;
        [[a, b], [b, c], [c, a]]
    }

    /// Calls `see` with each square whose row it meets about there: its number, and its least and greatest corner.
    fn squares(&self, [x, y]: [&[i64]; 2], mut see: impl FnMut(usize, [i64; 2], [i64; 2])) {
        let (columns, rows) = (x.len() - 1, y.len() - 1);
        let [a, b, c] = self.0.map(|v| v[1]);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        let met = y[1..].partition_point(|top| *top < low)..y[..rows].partition_point(|foot| *foot <= high);
        for row in met {
            let Some([from, to]) = self.reach([y[row], y[row + 1]]) else { continue };
            let met = x[1..].partition_point(|east| *east < from)..x[..columns].partition_point(|west| *west <= to);
            for column in met {
                see(row * columns + column, [x[column], y[row]], [x[column + 1], y[row + 1]]);
            }
        }
    }

    /// From where to where it goes along x within a range of y, rounded outwards.
    fn reach(&self, [foot, top]: [i64; 2]) -> Option<[i64; 2]> {
        let mut ends: Option<[i64; 2]> = None;
        let mut add = |low: i64, high: i64| {
            let [a, b] = ends.unwrap_or([low, high]);
            ends = Some([a.min(low), b.max(high)]);
        };
        for [p, q] in self.sides() {
            if (foot..=top).contains(&p[1]) {
                add(p[0], p[0]);
            }
            for y in [foot, top] {
                let (low, high) = (p[1].min(q[1]), p[1].max(q[1]));
                if low < y && y < high {
                    let by = i128::from(q[1] - p[1]);
                    let along = i128::from(q[0] - p[0]) * i128::from(y - p[1]) * by.signum();
                    let floor = p[0] + along.div_euclid(by.abs()) as i64;
                    add(floor, floor + 1);
                }
            }
        }
        ends
    }

    /// Calls `see` with the height at each corner of what it shares with a square.
    fn corners_over(&self, low: [i64; 2], high: [i64; 2], mut see: impl FnMut(i64)) {
        let within = |p: &[i64; 3]| (0..2).all(|k| (low[k]..=high[k]).contains(&p[k]));
        self.0.iter().filter(|p| within(p)).for_each(|p| see(p[2]));
        let mut covered = 0;
        for y in [low[1], high[1]] {
            for x in [low[0], high[0]] {
                if let Some(z) = self.at([x, y]) {
                    see(z);
                    covered += 1;
                }
            }
        }
        if covered == 4 {
            return; // no side crosses it
        }
        for [p, q] in self.sides() {
            // where it crosses sides of the square: across x, then across y
            for (k, other) in [(0, 1), (1, 0)] {
                for side in [low[k], high[k]] {
                    let (least, most) = (p[k].min(q[k]), p[k].max(q[k]));
                    if !(least < side && side < most) {
                        continue;
                    }
                    let sign = i128::from((q[k] - p[k]).signum());
                    let by = i128::from(most - least);
                    let way = i128::from(side - p[k]) * sign;
                    let place = i128::from(q[other] - p[other]) * way;
                    let ends = [low, high].map(|end| i128::from(end[other] - p[other]) * by);
                    if ends[0] <= place && place <= ends[1] {
                        see(p[2] + half_even(i128::from(q[2] - p[2]) * way, by) as i64);
                    }
                }
            }
        }
    }

    /// The height at a place, if the closed triangle covers it.
    fn at(&self, [x, y]: [i64; 2]) -> Option<i64> {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let beside = |[p, q]: [[i64; 3]; 2]| product(q[0] - p[0], y - p[1]) - product(q[1] - p[1], x - p[0]);
        if self.sides().into_iter().any(|side| beside(side) < 0) {
            return None;
        }
        // in whole steps, which corners lie on: products of three lengths stay below 2^127
        let [a, b, c] = self.0;
        let [u, v] = [b, c].map(|p| [0, 1, 2].map(|k| (p[k] - a[k]) >> FRACTION));
        let area = product(u[0], v[1]) - product(u[1], v[0]);
        let along = [product(u[2], v[1]) - product(v[2], u[1]), product(v[2], u[0]) - product(u[2], v[0])];
        let rise = along[0] * i128::from(x - a[0]) + along[1] * i128::from(y - a[1]);
        Some(a[2] + half_even(rise, area) as i64)
    }

    /// Whether it shares no area with a square: there is a side of one of the two that nothing of the other lies inside
    /// of.
    fn only_touches(&self, low: [i64; 2], high: [i64; 2]) -> bool {
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let beside = |k: usize| self.0.iter().all(|p| p[k] <= low[k]) || self.0.iter().all(|p| p[k] >= high[k]);
        let outside = |[p, q]: [[i64; 3]; 2]| {
            let way = [q[0] - p[0], q[1] - p[1]];
            // the corner of the square deepest inside of this side
            let deepest = [if way[1] > 0 { low[0] } else { high[0] }, if way[0] > 0 { high[1] } else { low[1] }];
            product(way[0], deepest[1] - p[1]) <= product(way[1], deepest[0] - p[0])
        };
        beside(0) || beside(1) || self.sides().into_iter().any(outside)
    }

    /// The area that it shares with a square, and that times its mean height there: query steps.
    fn volume(&self, low: [i64; 2], high: [i64; 2]) -> [f64; 2] {
        if self.only_touches(low, high) {
            return [0.0; 2];
        }
        let side = [0, 1].map(|k| (high[k] - low[k]) as f64);
        let corner = |p: [i64; 3]| [(p[0] - low[0]) as f64, (p[1] - low[1]) as f64, p[2] as f64];
        let [a, b, c] = self.0.map(corner);
        // how far inside of each side of the triangle a square lies at least
        let inside = |(p, q): ([f64; 3], [f64; 3])| {
            let way = [q[0] - p[0], q[1] - p[1]];
            let (at, along) = (way[1] * p[0] - way[0] * p[1], [-way[1] * side[0], way[0] * side[1]]);
            at + along[0].min(0.0) + along[1].min(0.0)
        };
        if [(a, b), (b, c), (c, a)].into_iter().all(|side| inside(side) >= 0.0) {
            let [u, v] = [b, c].map(|p| [0, 1, 2].map(|k| p[k] - a[k]));
            let area = u[0] * v[1] - u[1] * v[0];
            let slope = [(u[2] * v[1] - v[2] * u[1]) / area, (v[2] * u[0] - u[2] * v[0]) / area];
            let middle = a[2] + slope[0] * (side[0] / 2.0 - a[0]) + slope[1] * (side[1] / 2.0 - a[1]);
            let all = side[0] * side[1];
            return [all, all * middle];
        }
        let mut shape = Shape { corners: [[0.0; 3]; 12], count: 0 };
        [a, b, c].into_iter().for_each(|p| shape.push(p));
        for (k, side) in side.into_iter().enumerate() {
            shape = shape.cut(k, 0.0, 1.0);
            shape = shape.cut(k, side, -1.0);
        }
        let mut sum = [0.0; 2];
        let corners = &shape.corners[..shape.count];
        for i in 2..corners.len() {
            let (a, b, c) = (corners[0], corners[i - 1], corners[i]);
            let area = ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0;
            sum = [sum[0] + area, sum[1] + area * ((a[2] + b[2] + c[2]) / 3.0)];
        }
        sum
    }
}

/// A convex shape: what four cuts leave of a triangle has seven corners, but for roundings.
struct Shape {
    corners: [[f64; 3]; 12],
    count: usize,
}

impl Shape {
    fn push(&mut self, p: [f64; 3]) {
        if let Some(to) = self.corners.get_mut(self.count) {
            *to = p;
            self.count += 1;
        }
    }

    /// The part at a place along an axis or beyond: `way` is 1 towards greater places, -1 towards less.
    fn cut(self, k: usize, at: f64, way: f64) -> Shape {
        let corners = &self.corners[..self.count];
        let beyond = |p: &[f64; 3]| (p[k] - at) * way;
        if corners.iter().all(|p| beyond(p) >= 0.0) {
            return self;
        }
        let mut left = Shape { corners: [[0.0; 3]; 12], count: 0 };
        for (i, p) in corners.iter().enumerate() {
            let q = &corners[if i + 1 < corners.len() { i + 1 } else { 0 }];
            let [before, after] = [beyond(p), beyond(q)];
            if before >= 0.0 {
                left.push(*p);
            }
            if (before > 0.0 && after < 0.0) || (before < 0.0 && after > 0.0) {
                let share = before / (before - after);
                let mut crossing = [0, 1, 2].map(|k| p[k] + (q[k] - p[k]) * share);
                crossing[k] = at;
                left.push(crossing);
            }
        }
        left
    }
}

/// n / d for d above zero, rounded to the nearest, of two the even one.
fn half_even(n: i128, d: i128) -> i128 {
    let floor = match (i64::try_from(n), i64::try_from(d)) {
        (Ok(n), Ok(d)) => i128::from(n.div_euclid(d)),
        _ => n.div_euclid(d),
    };
    match (2 * (n - floor * d)).cmp(&d) {
        std::cmp::Ordering::Less => floor,
        std::cmp::Ordering::Equal => floor + (floor & 1),
        std::cmp::Ordering::Greater => floor + 1,
    }
}
