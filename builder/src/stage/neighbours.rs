//! Who lies close to a point or along a line.

use crate::lattice::widened;
use crate::{Near, Repair};
use hardpan_shaders::sort::lists;
use rayon::prelude::*;
use rstar::{AABB, RTree, SelectionFunction, primitives::GeomWithData};
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::OnceLock;

/// Most columns of cells, and points in them, that are looked through one by one; beyond, a tree is quicker.
const FEW_COLUMNS: usize = 8;
const FEW_POINTS: usize = 256;

/// Points that ascend, searched around each of them.
pub struct Points {
    all: Vec<[i32; 3]>,
    pub near: Near,
}

impl Points {
    pub fn new(all: Vec<[i32; 3]>, near: Near) -> Points {
        debug_assert!(all.is_sorted());
        Points { all, near }
    }

    /// Calls `see` with every other point within reach of one, ascending. Stops when told `false`.
    pub fn around(&self, i: u32, mut see: impl FnMut(u32) -> bool) {
        let (all, p) = (&self.all, self.point(i));
        let reach = [self.near.plan, self.near.plan, self.near.height];
        let low: [i32; 3] = std::array::from_fn(|k| p[k].saturating_sub_unsigned(reach[k]));
        let high: [i32; 3] = std::array::from_fn(|k| p[k].saturating_add_unsigned(reach[k]));
        // back to some place before the least, then forth
        let (mut at, mut step) = (i as usize, 1);
        while at > 0 && all[at] >= low {
            at = at.saturating_sub(step);
            step *= 2;
        }
        at = self.seek(at, low);
        while let Some(&q) = all.get(at).filter(|q| q[0] <= high[0]) {
            // where the next may be
            let next = if q[1] < low[1] {
                [q[0], low[1], low[2]]
            } else if q[1] > high[1] {
                [q[0].saturating_add(1), low[1], low[2]]
            } else if q[2] < low[2] {
                [q[0], q[1], low[2]]
            } else if q[2] > high[2] || !meet(p, [q[0], q[1], p[2]], self.near) {
                [q[0], q[1].saturating_add(1), low[2]]
            } else {
                if at != i as usize && !see(at as u32) {
                    return;
                }
                at += 1;
                continue;
            };
            at = self.seek(at + 1, next);
        }
    }

    /// The first from `from` on that is not below `p`, likely not far.
    fn seek(&self, from: usize, p: [i32; 3]) -> usize {
        let below = |q: &[i32; 3]| *q < p;
        let (mut from, mut step) = (from, 1);
        while self.all.get(from + step).is_some_and(below) {
            from += step;
            step *= 2;
        }
        let to = (from + step).min(self.all.len());
        from.min(to) + self.all[from.min(to)..to].partition_point(below)
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn point(&self, i: u32) -> [i32; 3] {
        self.all[i as usize]
    }
}

/// Points of which it is known how many others lie within reach of each, as far as they were counted.
pub struct Counted {
    points: Points,
    others: Vec<u8>,
}

impl Deref for Counted {
    type Target = Points;

    fn deref(&self) -> &Points {
        &self.points
    }
}

impl Counted {
    pub fn new(all: Vec<[i32; 3]>, near: Near) -> Counted {
        let points = Points::new(all, near);
        let count = |i: u32| {
            let mut count = 0;
            points.around(i, |_| {
                count += 1;
                count <= Repair::CROWD as u8
            });
            count
        };
        let others = (0..points.len() as u32).into_par_iter().map(count).collect();
        Counted { points, others }
    }

    /// Whether no other lies within reach of a point.
    pub fn is_alone(&self, i: u32) -> bool {
        self.others[i as usize] == 0
    }

    /// Whether a point is in a crowd, with more than [`Repair::CROWD`] others within reach.
    pub fn is_crowded(&self, i: u32) -> bool {
        u64::from(self.others[i as usize]) > Repair::CROWD
    }
}

/// A point with its number.
type Point = GeomWithData<[i32; 3], u32>;

/// Points that are searched along lines: in cells along short ones, else in a tree, which is made when it is needed.
pub struct Lines<'a> {
    points: &'a Points,
    /// Least coordinates in plan, log2 of the cells' side, and how many there are along each axis: about one for each point.
    low: [i64; 2],
    log2: u32,
    side: [i64; 2],
    /// Where the points of each cell start, column by column as vertices and triangles ascend, and the points.
    starts: Vec<u32>,
    cells: Vec<Point>,
    tree: OnceLock<RTree<Point>>,
}

impl<'a> Lines<'a> {
    pub fn new(points: &'a Points) -> Self {
        let [low, high] = points.all.iter().map(|&p| [p; 2]).reduce(widened).unwrap_or_default();
        let extent = [0, 1].map(|k| i64::from(high[k]) - i64::from(low[k]));
        let sides = |log2: u32| extent.map(|e| (e >> log2) + 1);
        let fits = |log2: &u32| sides(*log2).into_iter().reduce(i64::saturating_mul) <= Some(points.len() as i64 + 1);
        let log2 = (0..32).find(fits).unwrap_or(32);
        let (low, side) = ([0, 1].map(|k| i64::from(low[k])), sides(log2));
        let cell = |p: &[i32; 3]| {
            let at = [0, 1].map(|k| (i64::from(p[k]) - low[k]) >> log2);
            (at[0] * side[1] + at[1]) as u32
        };
        let items = points.all.iter().zip(0..).map(|(p, i)| (cell(p), (i, *p)));
        let (starts, cells) = lists((side[0] * side[1]) as usize, items);
        let cells = cells.into_iter().map(|(i, p)| Point::new(p, i)).collect();
        Lines { points, low, log2, side, starts, cells, tree: OnceLock::new() }
    }

    /// Calls `see` with every point within reach of the line from `a` to `b`, and some that are not, until it says `false`. Returns
    /// whether it never did.
    pub fn along(&self, line: [[i32; 3]; 2], mut see: impl FnMut(u32) -> bool) -> bool {
        let along = Along::new(line, self.points.near);
        if let Some(few) = self.few(&along) {
            return few.into_iter().flatten().all(|p| !along.should_unpack_leaf(p) || see(p.data));
        }
        let tree = self.tree.get_or_init(|| RTree::bulk_load(self.cells.clone()));
        tree.locate_with_selection_function(along).all(|p| see(p.data))
    }

    /// What stands in the cells around a line, column by column; none if it is much.
    fn few(&self, Along { low, high, .. }: &Along) -> Option<SmallVec<[&[Point]; FEW_COLUMNS]>> {
        let cells = [0, 1].map(|k| {
            let at = |v: i64| (v - self.low[k]) >> self.log2;
            at(low[k]).max(0)..at(high[k]).min(self.side[k] - 1) + 1
        });
        let [columns, rows] = cells;
        if columns.is_empty() || rows.is_empty() {
            return Some(SmallVec::new());
        }
        if columns.end - columns.start > FEW_COLUMNS as i64 {
            return None;
        }
        let at = |x: i64, y: i64| self.starts[(x * self.side[1] + y) as usize] as usize;
        let few: SmallVec<[&[Point]; FEW_COLUMNS]> =
            columns.map(|x| &self.cells[at(x, rows.start)..at(x, rows.end)]).collect();
        (few.iter().map(|column| column.len()).sum::<usize>() <= FEW_POINTS).then_some(few)
    }
}

/// What lies within reach of a line.
struct Along {
    /// Where the line starts, and its way.
    from: [i64; 3],
    way: [i64; 3],
    reach: [i64; 3],
    /// Least and greatest coordinates.
    low: [i64; 3],
    high: [i64; 3],
}

impl Along {
    fn new([a, b]: [[i32; 3]; 2], near: Near) -> Along {
        let [a, b] = [a, b].map(|p| p.map(i64::from));
        let reach = [near.plan, near.plan, near.height].map(i64::from);
        let low = [0, 1, 2].map(|k| a[k].min(b[k]) - reach[k]);
        let high = [0, 1, 2].map(|k| a[k].max(b[k]) + reach[k]);
        Along { from: a, way: [0, 1, 2].map(|k| b[k] - a[k]), reach, low, high }
    }
}

impl SelectionFunction<Point> for Along {
    /// Whether the line passes the part of a box that lies around it: seen along no axis all of that is on one side.
    fn should_unpack_parent(&self, envelope: &AABB<[i32; 3]>) -> bool {
        let [least, most] = [envelope.lower(), envelope.upper()].map(|p| p.map(i64::from));
        let least = [0, 1, 2].map(|k| least[k].max(self.low[k]));
        let most = [0, 1, 2].map(|k| most[k].min(self.high[k]));
        if (0..3).any(|k| least[k] > most[k]) {
            return false;
        }
        // centre and extent doubled
        let centre = [0, 1, 2].map(|k| least[k] + most[k] - 2 * self.from[k]);
        let extent = [0, 1, 2].map(|k| most[k] - least[k] + 2 * self.reach[k]);
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let passes = |i: usize, j: usize| {
            let (x, y) = (self.way[i], self.way[j]);
            let off = product(x, centre[j]) - product(y, centre[i]);
            off.abs() <= product(x.abs(), extent[j]) + product(y.abs(), extent[i])
        };
        passes(0, 1) && passes(0, 2) && passes(1, 2)
    }

    fn should_unpack_leaf(&self, leaf: &Point) -> bool {
        (0..3).all(|k| (self.low[k]..=self.high[k]).contains(&i64::from(leaf.geom()[k])))
    }
}

/// Squared distance in plan, and the difference in height.
pub fn distance(a: [i32; 3], b: [i32; 3]) -> (u128, u32) {
    let square = |k: usize| u128::from(a[k].abs_diff(b[k])).pow(2);
    (square(0) + square(1), a[2].abs_diff(b[2]))
}

/// Whether two points lie within reach of each other.
pub fn meet(a: [i32; 3], b: [i32; 3], near: Near) -> bool {
    let far = (0..2).any(|k| a[k].abs_diff(b[k]) > near.plan);
    !far && a[2].abs_diff(b[2]) <= near.height && distance(a, b).0 <= u128::from(near.plan).pow(2)
}

/// Where a point lies beside an edge.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// How far along the edge its foot lies, times the edge's length; between zero and the squared length.
    pub along: i128,
    /// Distance in plan times the edge's length, positive left of the edge.
    pub off: i128,
    /// Distances in plan and in height from its foot, in steps.
    pub by: [f64; 2],
}

/// Where `p` lies beside the edge from `a` to `b`; none if it is out of reach or its foot is not inside the edge.
pub fn beside(p: [i32; 3], [a, b]: [[i32; 3]; 2], near: Near) -> Option<Beside> {
    let d = [0, 1, 2].map(|k| i64::from(b[k]) - i64::from(a[k]));
    let w = [0, 1, 2].map(|k| i64::from(p[k]) - i64::from(a[k]));
    let small = (0..2).all(|k| d[k].abs() < 1 << 30 && w[k].abs() < 1 << 30);
    let product = |a: i64, b: i64| if small { i128::from(a * b) } else { i128::from(a) * i128::from(b) };
    let (along, length) = (product(d[0], w[0]) + product(d[1], w[1]), product(d[0], d[0]) + product(d[1], d[1]));
    if along <= 0 || along >= length {
        return None;
    }
    let off = product(d[0], w[1]) - product(d[1], w[0]);
    // |off| / length <= plan: first so roughly that its square fits
    let plan = i128::from(near.plan);
    if off.abs() > plan << 34 || off * off > plan * plan * length {
        return None;
    }
    let height = (i128::from(w[2]) * length - i128::from(d[2]) * along).abs();
    if height > i128::from(near.height) * length {
        return None;
    }
    let float = |v: i128| i64::try_from(v).map_or_else(|_| v as f64, |v| v as f64); // much quicker, and the same
    let length = float(length);
    Some(Beside { along, off, by: [float(off.abs()) / length.sqrt(), float(height) / length] })
}
