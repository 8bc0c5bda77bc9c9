//! Exact plan-view tests between triangles and squares.

use std::ops::RangeInclusive;

/// log2 of the columns and rows of cells in a block.
pub const CELLS_LOG2: [u32; 2] = [2, 1];
/// Cells of a block.
pub const CELLS: usize = 8;

/// A triangle in plan, counter-clockwise, in steps.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    x: [i32; 3],
    y: [i32; 3],
    min: [i32; 2],
    max: [i32; 2],
}

impl Plan {
    pub fn new(corners: [[i32; 3]; 3]) -> Self {
        let [x, y] = [0, 1].map(|i| corners.map(|c| c[i]));
        let low = |v: [i32; 3]| v[0].min(v[1]).min(v[2]);
        let high = |v: [i32; 3]| v[0].max(v[1]).max(v[2]);
        Plan { x, y, min: [low(x), low(y)], max: [high(x), high(y)] }
    }

    /// A corner.
    #[inline]
    pub fn corner(&self, k: usize) -> [i64; 2] {
        [i64::from(self.x[k]), i64::from(self.y[k])]
    }

    /// Least coordinate along an axis.
    #[inline]
    pub fn min(&self, i: usize) -> i64 {
        i64::from(self.min[i])
    }

    /// Greatest coordinate along an axis.
    #[inline]
    pub fn max(&self, i: usize) -> i64 {
        i64::from(self.max[i])
    }

    /// Least and greatest coordinates: x, y, x, y.
    #[inline]
    pub fn bounds(&self) -> [i32; 4] {
        [self.min[0], self.min[1], self.max[0], self.max[1]]
    }

    /// Corner `k`, and the way to the next.
    #[inline]
    fn edge(&self, k: usize) -> [i64; 4] {
        let ([x, y], [nx, ny]) = (self.corner(k), self.corner(if k == 2 { 0 } else { k + 1 }));
        [x, y, nx - x, ny - y]
    }

    /// Tiles of side 2^`log2` under the bounding box, up to 2^34.
    pub fn tiles(&self, log2: u32) -> u64 {
        let along = |i: usize| ((self.max(i) >> log2) - (self.min(i) >> log2) + 1) as u64;
        along(0).saturating_mul(along(1)).min(1 << 34)
    }

    /// Plan area in square steps, rounded down.
    pub fn area(&self) -> u64 {
        let d = |v: &[i32; 3], k: usize| i64::from(v[k]) - i64::from(v[0]);
        let [a, b, c, e] = [d(&self.x, 1), d(&self.y, 2), d(&self.y, 1), d(&self.x, 2)];
        if self.extent() < 1 << 31 {
            return ((a * b - c * e) / 2) as u64;
        }
        ((i128::from(a) * i128::from(b) - i128::from(c) * i128::from(e)) / 2) as u64
    }

    /// Larger of the plan extents.
    pub fn extent(&self) -> i64 {
        (self.max(0) - self.min(0)).max(self.max(1) - self.min(1))
    }

    /// Sign of the side of the edge from corner `k` on which (x, y) lies: above zero is inside.
    fn side(&self, k: usize, x: i64, y: i64) -> i32 {
        let [cx, cy, ex, ey] = self.edge(k);
        let (dx, dy) = (x - cx, y - cy);
        const SMALL: i64 = 1 << 30;
        let v = if ex.abs() < SMALL && ey.abs() < SMALL && dx.abs() < SMALL && dy.abs() < SMALL {
            (ex * dy - ey * dx).signum()
        } else {
            (i128::from(ex) * i128::from(dy) - i128::from(ey) * i128::from(dx)).signum() as i64
        };
        v as i32
    }

    /// Whether the closed triangle may hold a query position of the rectangle from `low` of this size,
    /// whose right and upper borders belong to its neighbours. Conservative by less than a step.
    pub fn meets(&self, low: [i64; 2], size: [i64; 2]) -> bool {
        let high = [low[0] + size[0], low[1] + size[1]];
        if (0..2).any(|i| self.max(i) < low[i] || self.min(i) >= high[i]) {
            return false;
        }
        (0..3).all(|k| {
            let [_, _, ex, ey] = self.edge(k);
            // the corner of the rectangle deepest inside this edge
            let x = if ey > 0 { low[0] } else { high[0] };
            let y = if ex > 0 { high[1] } else { low[1] };
            self.side(k, x, y) >= 0
        })
    }

    /// Whether the interiors of the triangle and of the square from `low` of this side have a point in common.
    pub fn enters(&self, low: [i64; 2], side: i64) -> bool {
        let high = low.map(|v| v + side);
        let near = (0..2).all(|i| self.max(i) > low[i] && self.min(i) < high[i]);
        near && (0..3).all(|k| self.sides(k, low, high).into_iter().any(|side| side > 0))
    }

    /// Whether the edge from corner `k` has a point in the interior of the square from `low` of this side.
    pub fn edge_enters(&self, k: usize, low: [i64; 2], side: i64) -> bool {
        let (a, b) = (self.corner(k), self.corner(if k == 2 { 0 } else { k + 1 }));
        let high = low.map(|v| v + side);
        if (0..2).any(|i| a[i].max(b[i]) <= low[i] || a[i].min(b[i]) >= high[i]) {
            return false;
        }
        let sides = self.sides(k, low, high);
        sides.iter().any(|&side| side > 0) && sides.iter().any(|&side| side < 0)
    }

    /// On which side of the edge from corner `k` the corners of a rectangle lie.
    fn sides(&self, k: usize, low: [i64; 2], high: [i64; 2]) -> [i32; 4] {
        [low, [high[0], low[1]], [low[0], high[1]], high].map(|[x, y]| self.side(k, x, y))
    }

    /// The cells under it of a grid from `low` on, with sides of 2^`log2` steps.
    #[inline]
    pub fn under(&self, low: [i64; 2], log2: [u32; 2]) -> Under<'_> {
        let cell = |v: i64, i: usize| (v - low[i]) >> log2[i];
        let [first, last] =
            [[self.min(0), self.min(1)], [self.max(0), self.max(1)]].map(|[x, y]| [cell(x, 0), cell(y, 1)]);
        const SMALL: i64 = 1 << 29;
        let near = |i: usize| self.min(i) - low[i] > -SMALL && self.max(i) - low[i] < SMALL && log2[i] < 27;
        let edges = (near(0) && near(1)).then(|| {
            std::array::from_fn(|k| {
                let [cx, cy, ex, ey] = self.edge(k);
                let size = log2.map(|log2| 1i64 << log2);
                let side = |x: i64, y: i64| ex * (y - cy) - ey * (x - cx);
                let x = if ey > 0 { low[0] } else { low[0] + size[0] };
                let y = if ex > 0 { low[1] + size[1] } else { low[1] };
                let middle = side(low[0] + size[0] / 2, low[1] + size[1] / 2);
                [side(x, y), middle - side(x, y), -ey * size[0], ex * size[1]]
            })
        });
        Under { plan: self, low, log2, first, last, edges }
    }

    /// Whether the edge from corner `k` may touch the closed rectangle from `low` of this size.
    pub fn edge_touches(&self, k: usize, low: [i64; 2], size: [i64; 2]) -> bool {
        let (a, b) = (self.corner(k), self.corner((k + 1) % 3));
        let high = [0, 1].map(|i| low[i] + size[i]);
        if (0..2).any(|i| a[i].max(b[i]) < low[i] || a[i].min(b[i]) > high[i]) {
            return false;
        }
        let sides = [low, [high[0], low[1]], [low[0], high[1]], high].map(|[x, y]| self.side(k, x, y));
        !(sides.iter().all(|&s| s > 0) || sides.iter().all(|&s| s < 0))
    }

    /// Whether the closed triangle holds a point.
    pub fn covers(&self, x: i64, y: i64) -> bool {
        let within = |i: usize, v: i64| self.min(i) <= v && v <= self.max(i);
        within(0, x) && within(1, y) && (0..3).all(|k| self.side(k, x, y) >= 0)
    }

    /// Whether the interiors of two triangles have a point in common.
    pub fn overlaps(&self, other: &Plan) -> bool {
        let apart = |i: usize| (self.max[i] <= other.min[i]) | (other.max[i] <= self.min[i]);
        if apart(0) | apart(1) {
            return false;
        }
        let span = |i: usize| self.max(i).max(other.max(i)) - self.min(i).min(other.min(i));
        if span(0).max(span(1)) < 1 << 31 {
            return !self.separates_near(other) && !other.separates_near(self);
        }
        !self.separates(other) && !other.separates(self)
    }

    fn separates(&self, other: &Plan) -> bool {
        let corners = [0, 1, 2].map(|c| other.corner(c));
        (0..3).any(|k| corners.iter().all(|&[x, y]| self.side(k, x, y) <= 0))
    }

    /// The same, where no two corners are 2^31 steps apart.
    fn separates_near(&self, other: &Plan) -> bool {
        (0..3).any(|k| {
            let [x, y, ex, ey] = self.edge(k);
            (0..3).all(|c| {
                let [cx, cy] = other.corner(c);
                ex * (cy - y) <= ey * (cx - x)
            })
        })
    }
}

/// The cells of a grid under a triangle.
pub struct Under<'a> {
    plan: &'a Plan,
    low: [i64; 2],
    log2: [u32; 2],
    /// Those under its box: the first column and row, and the last.
    first: [i64; 2],
    last: [i64; 2],
    /// For each edge its side of the deepest place of the grid's first cell, as in [`Plan::meets`], the addition of its
    /// middle, and that of a cell further east and north; none where the grid lies far off.
    edges: Option<[[i64; 4]; 3]>,
}

impl Under<'_> {
    /// The columns or rows of blocks under its box, of so many.
    pub fn blocks(&self, i: usize, count: i64) -> RangeInclusive<i64> {
        let block = |cell: i64| (cell >> CELLS_LOG2[i]).clamp(0, count - 1);
        block(self.first[i])..=block(self.last[i])
    }

    /// Which cells of a block, by its column and row, the triangle [meets](Plan::meets), and whose middles it
    /// [covers](Plan::covers): a bit each.
    #[inline]
    pub fn cells(&self, block: [i64; 2]) -> [u8; 2] {
        let start = [0, 1].map(|i| block[i] << CELLS_LOG2[i]);
        let Some(edges) = &self.edges else { return self.one_by_one(start) };
        // the columns and rows of the block under its box
        let from = [0, 1].map(|i| self.first[i].max(start[i]));
        let to = [0, 1].map(|i| self.last[i].min(start[i] + (1 << CELLS_LOG2[i]) - 1));
        // one that holds the whole box is met
        let one = self.first == self.last;
        let (mut met, mut central) = (0, 0);
        for y in from[1]..=to[1] {
            let [mut p, mut q, mut r] = edges.map(|[first, _, east, north]| first + from[0] * east + y * north);
            let [a, b, c] = edges;
            for x in from[0]..=to[0] {
                // a side is negative where a place is outside
                let (deepest, middle) = (p | q | r, (p + a[1]) | (q + b[1]) | (r + c[1]));
                let cell = x - start[0] + ((y - start[1]) << CELLS_LOG2[0]);
                met |= u8::from(one | (deepest >= 0)) << cell;
                central |= u8::from(middle >= 0) << cell;
                (p, q, r) = (p + a[2], q + b[2], r + c[2]);
            }
        }
        [met, central]
    }

    /// The same of any grid.
    fn one_by_one(&self, start: [i64; 2]) -> [u8; 2] {
        let size = self.log2.map(|log2| 1i64 << log2);
        let low = [0, 1].map(|i| self.low[i] + start[i] * size[i]);
        if !self.plan.meets(low, [0, 1].map(|i| size[i] << CELLS_LOG2[i])) {
            return [0; 2];
        }
        (0..CELLS).fold([0; 2], |[met, central], cell| {
            let at = [low[0] + (cell as i64 & 3) * size[0], low[1] + (cell as i64 >> 2) * size[1]];
            let covers = self.plan.covers(at[0] + size[0] / 2, at[1] + size[1] / 2);
            [met | u8::from(self.plan.meets(at, size)) << cell, central | u8::from(covers) << cell]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::mix;

    /// Cells one by one say the same, whatever side of the block a triangle reaches beyond and wherever the grid
    /// begins.
    #[test]
    fn cells_as_one_by_one() {
        let mut seed = 1;
        let mut random = |n: i64| {
            seed = mix(seed);
            (seed % n as u64) as i64
        };
        let (mut met, mut central) = (0, 0);
        for _ in 0..50_000 {
            let (grid, log2) = ([random(99) - 70, random(99) - 70], [0; 2].map(|_| random(5) as u32));
            let block = [0, 1].map(|i| (random(40) - 20 - grid[i]) >> log2[i] >> CELLS_LOG2[i]);
            let (size, start) = (log2.map(|log2| 1i64 << log2), [0, 1].map(|i| block[i] << CELLS_LOG2[i]));
            let low = [0, 1].map(|i| grid[i] + (start[i] << log2[i]));
            let corners = [0; 3].map(|_| [random(60) as i32 - 30, random(60) as i32 - 30, 0]);
            let plan = Plan::new(corners);
            let turned = plan.side(0, plan.x[2].into(), plan.y[2].into()) <= 0; // no triangle of a tile is
            if turned || !plan.meets(low, [4 * size[0], 2 * size[1]]) {
                continue;
            }
            let under = plan.under(grid, log2);
            let each = (0..8).fold([0; 2], |all: [u8; 2], cell| {
                let at = [low[0] + (cell & 3) * size[0], low[1] + (cell >> 2) * size[1]];
                let is = [plan.meets(at, size), plan.covers(at[0] + size[0] / 2, at[1] + size[1] / 2)];
                [0, 1].map(|i| all[i] | u8::from(is[i]) << cell)
            });
            assert_eq!(under.cells(block), each, "{plan:?} {low:?} {size:?}");
            assert_eq!(under.one_by_one(start), each, "{plan:?} {low:?} {size:?}");
            (met, central) = (met + each[0].count_ones(), central + each[1].count_ones());
        }
        assert!(met > 5000 && central > 1000, "{met} {central}");
    }
}
