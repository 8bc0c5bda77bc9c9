//! The structure that many people write by hand: a uniform grid of triangle lists in f64. It is also the reference for
//! the answers.

use crate::scenes::Mesh;
use crate::{Peer, Query, Surface};
use std::ops::RangeInclusive;

pub struct Grid {
    low: [f64; 2],
    per_metre: f64,
    size: [usize; 2],
    /// Where each cell's run of `list` starts.
    start: Vec<u32>,
    list: Vec<u32>,
    triangles: Vec<[[f64; 3]; 3]>,
}

impl Grid {
    /// Square cells, as many as half the triangles.
    pub fn new(triangles: Vec<[[f64; 3]; 3]>) -> Grid {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for corner in triangles.iter().flatten() {
            for a in 0..2 {
                low[a] = low[a].min(corner[a]);
                high[a] = high[a].max(corner[a]);
            }
        }
        let extent = [high[0] - low[0], high[1] - low[1]];
        let per_metre = (triangles.len() as f64 / (2.0 * extent[0] * extent[1])).sqrt();
        let size = extent.map(|e| (e * per_metre) as usize + 1);
        let mut grid = Grid { low, per_metre, size, start: vec![0; size[0] * size[1] + 1], list: vec![], triangles };

        // A counting sort of triangles into cells.
        for t in 0..grid.triangles.len() {
            for cell in grid.cells(t) {
                grid.start[cell] += 1;
            }
        }
        let mut total = 0;
        for s in &mut grid.start {
            total += *s;
            *s = total;
        }
        grid.list = vec![0; total as usize];
        for t in 0..grid.triangles.len() {
            for cell in grid.cells(t) {
                grid.start[cell] -= 1;
                grid.list[grid.start[cell] as usize] = t as u32;
            }
        }
        grid
    }

    pub fn of(mesh: &Mesh) -> Grid {
        Grid::new((0..mesh.triangles.len()).map(|t| mesh.corners(t)).collect())
    }

    #[inline(always)]
    fn step(&self, axis: usize, v: f64) -> usize {
        ((v - self.low[axis]) * self.per_metre).clamp(0.0, (self.size[axis] - 1) as f64) as usize
    }

    /// The cells under a triangle's bounding rectangle.
    fn cells(&self, triangle: usize) -> impl Iterator<Item = usize> + use<> {
        let t = &self.triangles[triangle];
        let span = |a: usize| -> RangeInclusive<usize> {
            let (low, high) = (t[0][a].min(t[1][a]).min(t[2][a]), t[0][a].max(t[1][a]).max(t[2][a]));
            self.step(a, low)..=self.step(a, high)
        };
        let (columns, rows, width) = (span(0), span(1), self.size[0]);
        rows.flat_map(move |y| columns.clone().map(move |x| y * width + x))
    }

    /// Every surface over (x, y).
    #[inline(always)]
    pub fn column(&self, x: f64, y: f64, mut found: impl FnMut(Surface)) {
        let cell = self.step(1, y) * self.size[0] + self.step(0, x);
        for &t in &self.list[self.start[cell] as usize..self.start[cell + 1] as usize] {
            let [a, b, c] = &self.triangles[t as usize];
            let [bx, by, bz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
            let [cx, cy, cz] = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
            let [px, py] = [x - a[0], y - a[1]];
            let area = bx * cy - by * cx;
            let u = px * cy - py * cx;
            let v = bx * py - by * px;
            let w = (c[0] - b[0]) * (y - b[1]) - (c[1] - b[1]) * (x - b[0]);
            let inside = if area > 0.0 {
                u >= 0.0 && v >= 0.0 && w >= 0.0
            } else {
                area < 0.0 && u <= 0.0 && v <= 0.0 && w <= 0.0
            };
            if inside {
                let r = 1.0 / area;
                let slope = [(bz * cy - by * cz) * r, (bx * cz - bz * cx) * r];
                found(Surface { z: a[2] + slope[0] * px + slope[1] * py, slope });
            }
        }
    }
}

impl Peer for Grid {
    #[inline(always)]
    fn closest(&self, q: &Query) -> Option<Surface> {
        let mut best = None;
        let mut distance = q.reach;
        self.column(q.at[0], q.at[1], |s| {
            let d = (s.z - q.at[2]).abs();
            if d <= distance {
                (best, distance) = (Some(s), d);
            }
        });
        best
    }

    #[inline(always)]
    fn layers(&self, q: &Query) -> (usize, f64) {
        let (mut n, mut sum) = (0, 0.0);
        self.column(q.at[0], q.at[1], |s| {
            if s.z <= q.at[2] && s.z >= q.at[2] - q.reach {
                n += 1;
                sum += s.z;
            }
        });
        (n, sum)
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.start[..]) + size_of_val(&self.list[..]) + size_of_val(&self.triangles[..])
    }
}

/// The reference: two grids where a mesh is very uneven, so that making the queries does not take hours.
pub struct Reference(Vec<Grid>);

impl Reference {
    pub fn new(mesh: &Mesh, split: Option<usize>) -> Reference {
        match split {
            None => Reference(vec![Grid::of(mesh)]),
            Some(n) => Reference(
                [0..n, n..mesh.triangles.len()].map(|r| Grid::new(r.map(|t| mesh.corners(t)).collect())).into(),
            ),
        }
    }

    /// All heights over (x, y), lowest first.
    pub fn heights(&self, x: f64, y: f64) -> Vec<f64> {
        let mut z = vec![];
        for grid in &self.0 {
            grid.column(x, y, |s| z.push(s.z));
        }
        z.sort_by(f64::total_cmp);
        z
    }

    /// The height nearest to `at`.
    pub fn closest(&self, at: [f64; 3]) -> Option<f64> {
        self.heights(at[0], at[1]).into_iter().min_by(|a, b| (a - at[2]).abs().total_cmp(&(b - at[2]).abs()))
    }

    /// The single grid, if there is one.
    pub fn grid(&self) -> Option<&Grid> {
        match &self.0[..] {
            [grid] => Some(grid),
            _ => None,
        }
    }
}
