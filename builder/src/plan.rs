//! Exact plan-view tests between triangles and squares.

/// A triangle in plan, counter-clockwise, in steps.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub x: [i64; 3],
    pub y: [i64; 3],
    pub min: [i64; 2],
    pub max: [i64; 2],
}

impl Plan {
    pub fn new(corners: [[i32; 3]; 3]) -> Self {
        let x = corners.map(|c| i64::from(c[0]));
        let y = corners.map(|c| i64::from(c[1]));
        let low = |v: [i64; 3]| v[0].min(v[1]).min(v[2]);
        let high = |v: [i64; 3]| v[0].max(v[1]).max(v[2]);
        Plan { x, y, min: [low(x), low(y)], max: [high(x), high(y)] }
    }

    /// Tiles of side 2^`log2` under the bounding box, up to 2^34.
    pub fn tiles(&self, log2: u32) -> u64 {
        let along = |i: usize| ((self.max[i] >> log2) - (self.min[i] >> log2) + 1) as u64;
        along(0).saturating_mul(along(1)).min(1 << 34)
    }

    /// Plan area in square steps, rounded down.
    pub fn area(&self) -> u64 {
        let d = |v: &[i64; 3], k: usize| i128::from(v[k] - v[0]);
        let twice = d(&self.x, 1) * d(&self.y, 2) - d(&self.y, 1) * d(&self.x, 2);
        (twice / 2) as u64
    }

    /// Larger of the plan extents.
    pub fn extent(&self) -> i64 {
        (self.max[0] - self.min[0]).max(self.max[1] - self.min[1])
    }

    /// Sign of the side of the edge from corner `k` on which (x, y) lies: above zero is inside.
    fn side(&self, k: usize, x: i64, y: i64) -> i32 {
        let n = (k + 1) % 3;
        let (ex, ey) = (self.x[n] - self.x[k], self.y[n] - self.y[k]);
        let (dx, dy) = (x - self.x[k], y - self.y[k]);
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
        if (0..2).any(|i| self.max[i] < low[i] || self.min[i] >= high[i]) {
            return false;
        }
        (0..3).all(|k| {
            let n = (k + 1) % 3;
            let (ex, ey) = (self.x[n] - self.x[k], self.y[n] - self.y[k]);
            // the corner of the rectangle deepest inside this edge
            let x = if ey > 0 { low[0] } else { high[0] };
            let y = if ex > 0 { high[1] } else { low[1] };
            self.side(k, x, y) >= 0
        })
    }

    /// Which of the 4 x 2 cells of this size from `low` on it [meets](Self::meets), and whose middles it
    /// [covers](Self::covers): bit i of the first row, 4 + i of the second.
    pub fn cells(&self, low: [i64; 2], size: [i64; 2]) -> [u8; 2] {
        const SMALL: i64 = 1 << 29;
        let near = |i: usize| self.min[i] - low[i] > -SMALL && self.max[i] - low[i] < SMALL && size[i] < SMALL / 4;
        if !(near(0) && near(1)) {
            return (0..8).fold([0; 2], |[met, central], cell| {
                let at = [low[0] + (cell & 3) * size[0], low[1] + (cell >> 2) * size[1]];
                let covers = self.covers(at[0] + size[0] / 2, at[1] + size[1] / 2);
                [met | u8::from(self.meets(at, size)) << cell, central | u8::from(covers) << cell]
            });
        }
        // those under its box
        let range = |i: usize, count: i64| {
            let at = |v: i64| (v - low[i]) >> size[i].trailing_zeros();
            (at(self.min[i]), at(self.max[i]), at(self.min[i]).max(0), at(self.max[i]).min(count - 1))
        };
        let ((left, right, x0, x1), (under, over, y0, y1)) = (range(0, 4), range(1, 2));
        // of each edge its sides of the deepest place of the first cell, as in `meets`, and of its middle, and what a cell
        // further east and north adds
        let sides: [[i64; 4]; 3] = std::array::from_fn(|k| {
            let n = if k == 2 { 0 } else { k + 1 };
            let (ex, ey) = (self.x[n] - self.x[k], self.y[n] - self.y[k]);
            let side = |x: i64, y: i64| ex * (y - self.y[k]) - ey * (x - self.x[k]);
            let x = if ey > 0 { low[0] } else { low[0] + size[0] };
            let y = if ex > 0 { low[1] + size[1] } else { low[1] };
            let middle = side(low[0] + size[0] / 2, low[1] + size[1] / 2);
            [side(x, y), middle, -ey * size[0], ex * size[1]]
        });
        // one that holds the whole box is met
        let sole = left == right && under == over;
        let (mut met, mut central) = (0, 0);
        for y in y0..=y1 {
            for x in x0..=x1 {
                let at = |i: usize| {
                    let [a, b, c] = sides.map(|s| s[i] + x * s[2] + y * s[3]);
                    u8::from(sole && i == 0 || (a | b | c) >= 0) << (4 * y + x)
                };
                met |= at(0);
                central |= at(1);
            }
        }
        [met, central]
    }

    /// Whether the edge from corner `k` may touch the closed rectangle from `low` of this size.
    pub fn edge_touches(&self, k: usize, low: [i64; 2], size: [i64; 2]) -> bool {
        let n = (k + 1) % 3;
        let [x, y] =
            [low[0], low[0] + size[0]].map(|x| (x, [low[1], low[1] + size[1]])).map(|(x, y)| [(x, y[0]), (x, y[1])]);
        let apart = |a: i64, b: i64, low: i64, high: i64| a.max(b) < low || a.min(b) > high;
        if apart(self.x[k], self.x[n], low[0], low[0] + size[0])
            || apart(self.y[k], self.y[n], low[1], low[1] + size[1])
        {
            return false;
        }
        let sides = [x[0], x[1], y[0], y[1]].map(|(x, y)| self.side(k, x, y));
        !(sides.iter().all(|&s| s > 0) || sides.iter().all(|&s| s < 0))
    }

    /// Whether the closed triangle holds a point.
    pub fn covers(&self, x: i64, y: i64) -> bool {
        (0..3).all(|k| self.side(k, x, y) >= 0)
    }

    /// Whether the interiors of two triangles have a point in common.
    pub fn overlaps(&self, other: &Plan) -> bool {
        let apart = (0..2).any(|i| self.max[i] <= other.min[i] || other.max[i] <= self.min[i]);
        if apart {
            return false;
        }
        let span = |i: usize| self.max[i].max(other.max[i]) - self.min[i].min(other.min[i]);
        if span(0).max(span(1)) < 1 << 31 {
            return !self.separates_near(other) && !other.separates_near(self);
        }
        !self.separates(other) && !other.separates(self)
    }

    fn separates(&self, other: &Plan) -> bool {
        (0..3).any(|k| (0..3).all(|c| self.side(k, other.x[c], other.y[c]) <= 0))
    }

    /// The same, where no two corners are 2^31 steps apart.
    fn separates_near(&self, other: &Plan) -> bool {
        (0..3).any(|k| {
            let n = (k + 1) % 3;
            let (ex, ey) = (self.x[n] - self.x[k], self.y[n] - self.y[k]);
            (0..3).all(|c| ex * (other.y[c] - self.y[k]) <= ey * (other.x[c] - self.x[k]))
        })
    }
}
