//! Exact plan-view tests, written for verification alone: nothing here is the builder's.
//!
//! A rectangle is half-open: it owns its left and lower border. A triangle is closed and counter-clockwise. Coordinates
//! are lattice steps. `SMALL` says that all differences stay below 2^30, so that products fit `i64`.

use hardpan::format::block::CELLS_LOG2;

/// A triangle of an image: corners in steps from the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tri {
    pub x: [i32; 3],
    pub y: [i32; 3],
    pub z: [i32; 3],
    /// Material, and source times 2^16.
    pub attribute: u32,
}

/// Least and greatest plan coordinates: x, y, x, y.
pub type Box4 = [i32; 4];

/// Cells that are tried one by one.
const WINDOW: i64 = 32;

/// A half-open rectangle: least corner and sides.
#[derive(Clone, Copy, Debug)]
pub struct Rect {
    pub low: [i64; 2],
    pub size: [i64; 2],
}

impl Rect {
    pub fn high(&self, axis: usize) -> i64 {
        self.low[axis] + self.size[axis]
    }

    /// Whether the closed box has a point in common with it.
    pub fn meets_box(&self, b: Box4) -> bool {
        (0..2).all(|i| i64::from(b[i + 2]) >= self.low[i] && i64::from(b[i]) < self.high(i))
    }

    /// Whether all of the closed box lies in it.
    pub fn holds_box(&self, b: Box4) -> bool {
        (0..2).all(|i| i64::from(b[i]) >= self.low[i] && i64::from(b[i + 2]) < self.high(i))
    }
}

/// (ax, ay) x (bx, by); if not `SMALL`, its sign.
#[inline(always)]
fn cross<const SMALL: bool>(ax: i64, ay: i64, bx: i64, by: i64) -> i64 {
    if SMALL {
        ax * by - ay * bx
    } else {
        (i128::from(ax) * i128::from(by) - i128::from(ay) * i128::from(bx)).signum() as i64
    }
}

impl Tri {
    #[inline(always)]
    pub fn corner(&self, k: usize) -> [i32; 3] {
        [self.x[k], self.y[k], self.z[k]]
    }

    #[inline]
    pub fn bounds(&self) -> Box4 {
        let low = |v: [i32; 3]| v[0].min(v[1]).min(v[2]);
        let high = |v: [i32; 3]| v[0].max(v[1]).max(v[2]);
        [low(self.x), low(self.y), high(self.x), high(self.y)]
    }

    /// The same triangle with its least corner first.
    pub fn canonical(mut self) -> Tri {
        let least = (0..3).min_by_key(|&k| self.corner(k)).unwrap_or(0);
        self.x.rotate_left(least);
        self.y.rotate_left(least);
        self.z.rotate_left(least);
        self
    }

    /// Whether it is as it should be, told where differences are `SMALL`.
    pub fn is_counter_clockwise(&self) -> bool {
        let ([x, y, ex, ey], [px, py]) = (self.edge(0), [self.x[2], self.y[2]].map(i64::from));
        cross::<true>(ex, ey, px - x, py - y) > 0
    }

    /// Whether the closed triangle holds a place, told where differences are `SMALL`.
    pub fn covers(&self, place: [i64; 2]) -> bool {
        (0..3).all(|k| {
            let [x, y, ex, ey] = self.edge(k);
            cross::<true>(ex, ey, place[0] - x, place[1] - y) >= 0
        })
    }

    /// Start of edge `k`, and the way to its end.
    #[inline(always)]
    fn edge(&self, k: usize) -> [i64; 4] {
        let n = if k == 2 { 0 } else { k + 1 };
        let (x, y) = (i64::from(self.x[k]), i64::from(self.y[k]));
        [x, y, i64::from(self.x[n]) - x, i64::from(self.y[n]) - y]
    }

    /// The supremum over a rectangle of the side of edge `k`, above zero inside, less one where no place attains it:
    /// below zero exactly where the edge's line keeps the triangle apart from the rectangle.
    #[inline(always)]
    fn deepest<const SMALL: bool>(&self, k: usize, r: &Rect) -> i64 {
        let [x, y, ex, ey] = self.edge(k);
        let cx = if ey < 0 { r.high(0) } else { r.low[0] };
        let cy = if ex > 0 { r.high(1) } else { r.low[1] };
        cross::<SMALL>(ex, ey, cx - x, cy - y) - i64::from(ey < 0 || ex > 0)
    }

    /// The infimum, in the same way: above zero exactly where the rectangle lies inside the edge's line.
    #[inline(always)]
    fn shallowest<const SMALL: bool>(&self, k: usize, r: &Rect) -> i64 {
        let [x, y, ex, ey] = self.edge(k);
        let cx = if ey > 0 { r.high(0) } else { r.low[0] };
        let cy = if ex < 0 { r.high(1) } else { r.low[1] };
        cross::<SMALL>(ex, ey, cx - x, cy - y) + i64::from(ey > 0 || ex < 0)
    }

    /// Whether the triangle has a place in common with a rectangle.
    pub fn meets<const SMALL: bool>(&self, bounds: Box4, r: &Rect) -> bool {
        r.meets_box(bounds) && (0..3).all(|k| self.deepest::<SMALL>(k, r) >= 0)
    }

    /// Whether its edge `k` has a place in common with a rectangle.
    pub fn edge_meets<const SMALL: bool>(&self, k: usize, r: &Rect) -> bool {
        let n = (k + 1) % 3;
        let (x, y) = ([self.x[k], self.x[n]], [self.y[k], self.y[n]]);
        r.meets_box([x[0].min(x[1]), y[0].min(y[1]), x[0].max(x[1]), y[0].max(y[1])])
            && self.deepest::<SMALL>(k, r) >= 0
            && self.shallowest::<SMALL>(k, r) <= 0
    }

    /// Calls `see` with the place of each block that it meets, of a grid of so many cells from `low` on with sides of
    /// 2^`log2` steps, and with those of its cells that it meets, a bit each.
    #[inline(always)]
    pub fn blocks<const SMALL: bool>(
        &self,
        bounds: Box4,
        low: [i64; 2],
        log2: [u32; 2],
        count: [i64; 2],
        mut see: impl FnMut(i64, i64, u8),
    ) {
        let under = |axis: usize| {
            let [from, to] = [axis, axis + 2].map(|i| (i64::from(bounds[i]) - low[axis]) >> log2[axis]);
            (from.max(0), to.min(count[axis] - 1), from == to)
        };
        let ((x0, x1, column), (y0, y1, row)) = (under(0), under(1));
        // where its box is in one column or row it has a place in each of the cells under that
        let all = SMALL && (column || row);
        let size = log2.map(|l| 1i64 << l);
        let rect = |x: i64, y: i64| Rect { low: [low[0] + x * size[0], low[1] + y * size[1]], size };
        let (first_x, first_y) = (x0 >> CELLS_LOG2[0], y0 >> CELLS_LOG2[1]);
        // of each edge its side at the first cell of a block, and what one cell further east and north adds
        let edge = |k: usize| {
            let [_, _, ex, ey] = self.edge(k);
            let first = rect(first_x << CELLS_LOG2[0], first_y << CELLS_LOG2[1]);
            if SMALL && !all { [self.deepest::<true>(k, &first), -ey * size[0], ex * size[1]] } else { [0; 3] }
        };
        let mut edges = [edge(0), edge(1), edge(2)];
        for y in first_y..(y1 >> CELLS_LOG2[1]) + 1 {
            let mut along = edges;
            for x in first_x..(x1 >> CELLS_LOG2[0]) + 1 {
                let [left, bottom] = [x << CELLS_LOG2[0], y << CELLS_LOG2[1]];
                let columns = 15 << (x0 - left).max(0) & 15 >> (left + 3 - x1).max(0);
                let rows = 0x11 << (4 * (y0 - bottom).max(0)) & 0x11 >> (4 * (bottom + 1 - y1).max(0));
                let boxed = (columns * rows) as u8;
                let met = match (all, SMALL) {
                    (true, _) => boxed,
                    (_, true) => boxed & inside(&along),
                    _ => (0..8).filter(|c| boxed >> c & 1 == 1).fold(0, |met, c| {
                        met | u8::from(self.meets::<false>(bounds, &rect(left + c % 4, bottom + c / 4))) << c
                    }),
                };
                if met != 0 {
                    see(x, y, met);
                }
                along.iter_mut().for_each(|[side, east, _]| *side += *east << CELLS_LOG2[0]);
            }
            edges.iter_mut().for_each(|[side, _, north]| *side += *north << CELLS_LOG2[1]);
        }
    }

    /// Calls `see` with rectangles of few cells that together hold every cell that it meets, among those from first to
    /// last in x and y of a grid from `low` on with sides of 2^`log2` steps, until it gives back false; says whether it
    /// never did. Each rectangle has such a cell, unless the first is small, so the work is that of the cells that it
    /// meets.
    pub fn windows<const SMALL: bool>(
        &self,
        bounds: Box4,
        low: [i64; 2],
        log2: [u32; 2],
        range: [[i64; 2]; 2],
        see: &mut impl FnMut([[i64; 2]; 2]) -> bool,
    ) -> bool {
        let count = range.map(|[first, last]| last - first + 1);
        if count[0] * count[1] <= WINDOW {
            return see(range);
        }
        let axis = usize::from(count[1] > count[0]);
        let [first, last] = range[axis];
        let middle = first + count[axis] / 2;
        [[first, middle - 1], [middle, last]].into_iter().all(|half| {
            let mut range = range;
            range[axis] = half;
            let rect = Rect {
                low: [0, 1].map(|i| low[i] + (range[i][0] << log2[i])),
                size: [0, 1].map(|i| (range[i][1] - range[i][0] + 1) << log2[i]),
            };
            !self.meets::<SMALL>(bounds, &rect) || self.windows::<SMALL>(bounds, low, log2, range, see)
        })
    }

    /// Whether the interiors of two triangles have a place in common.
    pub fn overlaps<const SMALL: bool>(&self, other: &Tri) -> bool {
        !self.separates::<SMALL>(other) && !other.separates::<SMALL>(self)
    }

    /// Whether the line of one of its edges keeps the other out.
    #[inline(always)]
    fn separates<const SMALL: bool>(&self, other: &Tri) -> bool {
        // all three at once: which one does is not foreseen
        (0..3).fold(false, |separates, k| {
            let [x, y, ex, ey] = self.edge(k);
            let side = |c: usize| cross::<SMALL>(ex, ey, i64::from(other.x[c]) - x, i64::from(other.y[c]) - y);
            separates | ((side(0) <= 0) & (side(1) <= 0) & (side(2) <= 0))
        })
    }
}

/// The cells of a block at which the sides of three edges are none below zero, given those at the first, and what one
/// cell further east and north adds.
#[inline(always)]
fn inside(edges: &[[i64; 3]; 3]) -> u8 {
    let mut sides = [0i64; 8];
    for [side, east, north] in edges {
        for x in 0..4 {
            let side = side + x as i64 * east;
            sides[x] |= side;
            sides[4 + x] |= side + north;
        }
    }
    (0..8).fold(0, |met, c| met | u8::from(sides[c] >= 0) << c)
}

/// Least corner of a cell of a block.
pub fn cell_low(low: [i64; 2], size: [i64; 2], cell: usize) -> [i64; 2] {
    [low[0] + size[0] * (cell as i64 & 3), low[1] + size[1] * (cell as i64 >> 2)]
}

/// Whether the interiors of two boxes have a place in common.
#[inline(always)]
pub fn boxes_overlap(a: Box4, b: Box4) -> bool {
    (a[0] < b[2]) & (b[0] < a[2]) & (a[1] < b[3]) & (b[1] < a[3])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All against points of a grid ten times finer than the corners, on which no sup is hidden.
    #[test]
    fn half_open_tests_against_points() {
        let mut seed = 7u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % n) as i32
        };
        let mut met = 0;
        for _ in 0..4000 {
            let x = [next(9), next(9), next(9)];
            let y = [next(9), next(9), next(9)];
            let area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]);
            if area <= 0 {
                continue;
            }
            let t = Tri { x, y, z: [0; 3], attribute: 0 };
            let low = [next(8), next(8)].map(i64::from);
            let log2 = [next(2) as u32, next(2) as u32];
            // the block is one of a grid
            let block = [4 * next(3), 2 * next(3)].map(i64::from);
            let first = [0, 1].map(|i| low[i] - (block[i] << log2[i]));
            let (mut cells, mut exact) = (0u8, 0u8);
            let see = |to: &mut u8, x: i64, y: i64, met: u8| {
                *to |= if [4 * x, 2 * y] == block { met } else { 0 };
            };
            t.blocks::<true>(t.bounds(), first, log2, [12, 6], |x, y, met| see(&mut cells, x, y, met));
            t.blocks::<false>(t.bounds(), first, log2, [12, 6], |x, y, met| see(&mut exact, x, y, met));
            assert_eq!(cells, exact);
            for cell in 0..8 {
                let size = log2.map(|l| 1i64 << l);
                let r = Rect { low: cell_low(low, size, cell), size };
                // corners at multiples of 840: all crossings of lines of small slopes with the rectangle lie on the
                // grid or have grid points beside them, for slopes have denominators up to 8
                const F: i64 = 840;
                let side = |k: usize, px: i64, py: i64| {
                    let [x, y, ex, ey] = t.edge(k);
                    ex * (py - y * F) - ey * (px - x * F)
                };
                let mut places = Vec::new();
                let steps = 24;
                for i in 0..size[0] * steps {
                    for j in 0..size[1] * steps {
                        places.push([r.low[0] * F + i * F / steps, r.low[1] * F + j * F / steps]);
                    }
                }
                for k in 0..3 {
                    // places of the edge itself
                    let [x, y, ex, ey] = t.edge(k);
                    places.extend((0..=840).map(|j| [x * F + ex * j, y * F + ey * j]));
                }
                let within = |p: &[i64; 2]| (0..2).all(|i| p[i] >= r.low[i] * F && p[i] < r.high(i) * F);
                let found = places.iter().filter(|p| within(p)).any(|p| (0..3).all(|k| side(k, p[0], p[1]) >= 0));
                assert_eq!(found, cells >> cell & 1 == 1, "{t:?} in {r:?}");
                met += u32::from(found);
                for k in 0..3 {
                    let [x, y, ex, ey] = t.edge(k);
                    let on = (0..=840).map(|j| [x * F + ex * j, y * F + ey * j]).any(|p| within(&p));
                    assert_eq!(on, t.edge_meets::<true>(k, &r), "edge {k} of {t:?} in {r:?}");
                    assert_eq!(on, t.edge_meets::<false>(k, &r), "edge {k} of {t:?} in {r:?}");
                }
            }
        }
        assert!(met > 1000, "{met}");
    }

    #[test]
    fn overlap_is_of_interiors() {
        let t = |x, y| Tri { x, y, z: [0; 3], attribute: 0 };
        let a = t([0, 4, 0], [0, 0, 4]);
        assert!(!a.overlaps::<true>(&t([4, 4, 0], [0, 4, 4])));
        assert!(a.overlaps::<true>(&t([0, 4, 4], [0, 0, 4])));
        assert!(a.overlaps::<false>(&a));
        assert!(!a.overlaps::<false>(&t([5, 9, 5], [0, 0, 4])));
    }
}
