//! Which places are asked.

use std::{cmp::Ordering, fmt};

use crate::check::ground::border::{Border, Edge, span};
use crate::image::decode;
use crate::util::steps::Steps;
use crate::util::text::grouped;
use hardpan::Terrain;
use hashbrown::HashSet;
use rayon::prelude::*;

use super::edges::{Corners, by_place};

/// Squares along a side of the grid by default, and the most that there may be in all.
const SIDE: f64 = 500.0;
const MAX_SQUARES: f64 = 1e9;
/// Position of the place in the first square, in sides, and its shift to the next row and column, modulo one. No place
/// lies on an edge of round coordinates, and places are even along rows and columns. So a strip has places in
/// proportion to its area.
const IN_SQUARE: [f64; 2] = [0.529_508, 0.448_223];
const FARTHER: [f64; 2] = [0.618_033_988_749_894_9, std::f64::consts::SQRT_2 - 1.0];

/// A place in plan.
#[derive(Clone, Copy)]
pub struct Place {
    /// Metres.
    pub at: [f64; 2],
    pub role: Role,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    /// The place of a square of the grid, which stands for this many m2.
    Square(f64),
    /// The middle of a pixel.
    Pixel,
    /// 1 cm beside an edge where ground ends.
    Beside,
    /// A place of a triangle, or on an edge.
    Mark,
}

/// A grid has too many places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooMany {
    /// Side of its squares, metres.
    pub grid: f64,
    /// A side of squares that keeps their number within the limit.
    pub fits: f64,
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a grid of {} m has more than {} places here", self.grid, grouped(MAX_SQUARES as u64))
    }
}

impl std::error::Error for TooMany {}

/// Squares over the ground of two images, by columns from the west, each from the south.
pub struct Grid {
    low: [f64; 2],
    high: [f64; 2],
    /// Side of a square, metres.
    pub pitch: f64,
    /// Columns and rows.
    count: [usize; 2],
}

impl Grid {
    /// Over the bounds of two images.
    pub fn new([bounds_a, bounds_b]: [[[f64; 3]; 2]; 2], pitch: Option<f64>) -> Result<Self, TooMany> {
        let low = [0, 1].map(|i| bounds_a[0][i].min(bounds_b[0][i]));
        let high = [0, 1].map(|i| bounds_a[1][i].max(bounds_b[1][i]));
        let side = (high[0] - low[0]).max(high[1] - low[1]);
        let pitch = pitch.unwrap_or(if side > 0.0 { side / SIDE } else { 1.0 });
        let count = [0, 1].map(|i| ((high[i] - low[i]) / pitch).ceil().max(1.0));
        if count[0] * count[1] > MAX_SQUARES {
            return Err(TooMany { grid: pitch, fits: side / SIDE });
        }
        Ok(Grid { low, high, pitch, count: count.map(|n| n as usize) })
    }

    pub fn places(&self) -> usize {
        self.count[0] * self.count[1]
    }

    pub fn place(&self, number: usize) -> Place {
        let cell = [number / self.count[1], number % self.count[1]];
        let [(x, wide), (y, deep)] = [0, 1].map(|axis| self.strip(axis, cell));
        Place { at: [x, y], role: Role::Square(wide * deep) }
    }

    /// Where along an axis the place of a square lies, and how wide that is: the last ends with the ground.
    fn strip(&self, axis: usize, cell: [usize; 2]) -> (f64, f64) {
        let n = cell[axis];
        let [from, to] = [n, n + 1].map(|n| (self.low[axis] + n as f64 * self.pitch).min(self.high[axis]));
        let share = (IN_SQUARE[axis] + cell[1 - axis] as f64 * FARTHER[axis]).fract();
        (from + (to - from) * share, to - from)
    }

    /// By columns from the west, in each from the south: those that follow each other lie in the same leaves.
    pub fn order(&self, p: &[f64; 2], q: &[f64; 2]) -> Ordering {
        if (p[0] - q[0]).abs() > 2.0 * self.pitch {
            return p[0].total_cmp(&q[0]); // without a division
        }
        let column = |p: &[f64; 2]| ((p[0] - self.low[0]) / self.pitch) as usize;
        column(p).cmp(&column(q)).then(p[1].total_cmp(&q[1])).then(p[0].total_cmp(&q[0]))
    }
}

/// All triangles in plan, metres.
pub fn plan(t: &Terrain) -> Vec<Corners> {
    let steps = Steps::of(t.header());
    let metres = |c: [i32; 3]| [0, 1].map(|i| steps.place(i, c[i].into()));
    decode::triangles(t).into_iter().map(|s| s.corners.map(metres)).collect()
}

/// The middle of a triangle. After rounding it is still inside, except in slivers.
fn middle([a, b, c]: &Corners) -> [f64; 2] {
    [0, 1].map(|i| a[i] + ((b[i] - a[i]) + (c[i] - a[i])) / 3.0)
}

/// The middles of triangles and their vertices, in metres.
pub fn marks(triangles: &[Corners]) -> impl Iterator<Item = [f64; 2]> {
    let mut vertices: Vec<[f64; 2]> = triangles.as_flattened().to_vec();
    vertices.par_sort_unstable_by(by_place);
    vertices.dedup();
    triangles.iter().map(middle).chain(vertices)
}

/// Metres from where ground ends to the places beside it: more than a lattice step, and more than what edges move by in
/// another build.
const BESIDE: [f64; 2] = [0.001, 0.01];
/// Metres between places along an edge, and the most places along all edges together.
const ALONG: [f64; 2] = [4.0, 1e6];
/// Places along one edge at least, and at most: those of a proper fraction of 256, which lie on the edge exactly.
const ON: [f64; 2] = [3.0, 255.0];

/// Places along edges where the ground of one image ends and that of the other goes on: on the edges, and beside them
/// on the side without ground.
pub fn borders(a: &Terrain, b: &Terrain) -> Vec<Place> {
    let edges = |t: &Terrain| -> Vec<Edge> {
        let Border { open, folds } = Border::of(t);
        open.into_iter().chain(folds).collect()
    };
    let key = |e: &Edge| {
        let [[ax, ay], [bx, by]] = e.plan;
        [ax, ay, e.z[0], bx, by, e.z[1], e.away[0], e.away[1]].map(|v| (v + 0.0).to_bits())
    };
    let [p, q] = [edges(a), edges(b)];
    let [in_p, in_q] = [&p, &q].map(|edges| edges.iter().map(key).collect::<HashSet<_>>());
    let only: Vec<&Edge> =
        p.iter().filter(|e| !in_q.contains(&key(e))).chain(q.iter().filter(|e| !in_p.contains(&key(e)))).collect();
    let pitch = ALONG[0].max(only.iter().map(|e| span(e.plan)).sum::<f64>() / ALONG[1]);
    let of = |e: &Edge| {
        let parts = (span(e.plan) / pitch).clamp(ON[0], ON[1]).floor() + 1.0;
        (1..parts as usize)
            .flat_map(|k| {
                let [x, y, _] = e.on((256.0 * k as f64 / parts).round() / 256.0);
                let beside = |far: f64| [x + far * e.away[0], y + far * e.away[1]];
                [([x, y], Role::Mark), (beside(BESIDE[0]), Role::Mark), (beside(BESIDE[1]), Role::Beside)]
            })
            .map(|(at, role)| Place { at, role })
            .collect::<Vec<_>>()
    };
    only.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_covers_all() {
        let grid = Grid { low: [0.1, -3.7], high: [10.3, 5.1], pitch: 0.37, count: [28, 24] };
        let places: Vec<Place> = (0..grid.places()).map(|i| grid.place(i)).collect();
        let areas = places.iter().map(|p| if let Role::Square(area) = p.role { area } else { f64::NAN });
        assert!(areas.clone().all(|area| (0.0..=0.37 * 0.3701).contains(&area)));
        let area: f64 = areas.sum();
        assert!((area - 10.2 * 8.8).abs() < 1e-9, "{area}");
    }

    /// Strips along the grid, wherever they begin, have as many places as they have area.
    #[test]
    fn thin_strips_have_their_area() {
        let grid = Grid { low: [-50.0; 2], high: [50.0; 2], pitch: 0.2, count: [500; 2] };
        let places: Vec<Place> = (0..grid.places()).map(|i| grid.place(i)).collect();
        for (axis, k) in (0..2).flat_map(|axis| (0..197).map(move |k| (axis, k))) {
            let from = -49.0 + 0.4987 * f64::from(k);
            let inside = places.iter().filter(|p| (from..from + 0.1).contains(&p.at[axis])).count();
            let area = inside as f64 * 0.04;
            assert!((area - 10.0).abs() < 0.3, "{area} m2 of 10 from {from} on, axis {axis}");
        }
    }
}
