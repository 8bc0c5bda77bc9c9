//! Who lies close to a point or along a line.

use crate::build::lattice::widened;
use crate::options::Near;
use crate::report::Repair;
use hardpan_shaders::sort::lists;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::ops::Deref;
use std::sync::OnceLock;

/// Points of a leaf.
const LEAF: usize = 8;
/// Most columns of cells and points that are looked through one by one; beyond, a tree is quicker.
const FEW_COLUMNS: i64 = 256;
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
                count <= Repair::MAX_NEIGHBOURS as u8
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

    /// Whether a point is in a crowd, with more than [`Repair::MAX_NEIGHBOURS`] others within reach.
    pub fn is_crowded(&self, i: u32) -> bool {
        u64::from(self.others[i as usize]) > Repair::MAX_NEIGHBOURS
    }
}

/// A point: its number and its place.
type Point = (u32, [i32; 3]);

/// Points that are searched along lines: in cells along short ones, else in a tree, which is made when it is needed.
pub struct Lines<'a> {
    points: &'a Points,
    /// Least coordinates in plan, log2 of the cells' side, and how many there are along each axis: about one for each
    /// point.
    low: [i64; 2],
    log2: u32,
    side: [i64; 2],
    /// Where the points of each cell start, column by column as vertices and triangles ascend, and the points.
    starts: Vec<u32>,
    cells: Vec<Point>,
    tree: OnceLock<Tree<'a>>,
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
        Lines { points, low, log2, side, starts, cells, tree: OnceLock::new() }
    }

    /// Calls `see` with every point within reach of the line from `a` to `b`, and some that are not. Stops when told
    /// `false`.
    pub fn along(&self, line: [[i32; 3]; 2], mut see: impl FnMut(u32) -> bool) {
        let [low, high] = around(line, self.points.near);
        let within = |p: &[i32; 3]| (0..3).all(|k| (low[k]..=high[k]).contains(&i64::from(p[k])));
        let mut all = |points: &[Point]| points.iter().all(|(i, p)| !within(p) || see(*i));
        let [from, to] = [low[0], high[0]].map(|x| self.cell(x, 0));
        let one = if from == to { self.column(from, [low[1], high[1]]) } else { &[] };
        if from == to && one.len() <= FEW_POINTS {
            all(one); // as mostly
        } else if let Some(columns) = self.few(line, [low, high]) {
            columns.into_iter().all(all);
        } else {
            self.tree.get_or_init(|| Tree::new(self.points)).along(line, see);
        }
    }

    /// The column or row of a coordinate; outside there is one more at either end.
    fn cell(&self, v: i64, k: usize) -> i64 {
        ((v - self.low[k]) >> self.log2).clamp(-1, self.side[k])
    }

    /// The points in the cells of a column from one coordinate to another.
    fn column(&self, x: i64, [from, to]: [i64; 2]) -> &[Point] {
        let (first, last) = (self.cell(from, 1).max(0), self.cell(to, 1).min(self.side[1] - 1));
        if first > last || !(0..self.side[0]).contains(&x) {
            return &[];
        }
        let at = |y: i64| self.starts[(x * self.side[1] + y) as usize] as usize;
        &self.cells[at(first)..at(last + 1)]
    }

    /// Finds what stands in the cells within reach of a line, and around it, column by column; none if it is too much.
    fn few(&self, line: [[i32; 3]; 2], [low, high]: [[i64; 3]; 2]) -> Option<SmallVec<[&[Point]; 8]>> {
        let [a, b] = line.map(|[x, y, _]| [i64::from(x), i64::from(y)]);
        let slope = if a[0] == b[0] { 0.0 } else { (b[1] - a[1]) as f64 / (b[0] - a[0]) as f64 };
        let reach = i64::from(self.points.near.plan) + 2; // more than what follows is off by
        let rows = |x: i64| {
            if slope == 0.0 {
                return [low[1], high[1]];
            }
            // where the line runs through the column and what is within reach of it
            let start = self.low[0] + (x << self.log2) - reach;
            let [p, q] = [start, start + (1 << self.log2) + 2 * reach].map(|x| {
                let x = x.clamp(a[0].min(b[0]), a[0].max(b[0]));
                a[1] + ((x - a[0]) as f64 * slope) as i64
            });
            [p.min(q) - reach, p.max(q) + reach]
        };
        let (from, to) = (self.cell(low[0], 0).max(0), self.cell(high[0], 0).min(self.side[0] - 1));
        if to - from >= FEW_COLUMNS {
            return None;
        }
        let (mut columns, mut count) = (SmallVec::new(), 0);
        for x in from..=to {
            let column = self.column(x, rows(x));
            count += column.len();
            if count > FEW_POINTS {
                return None;
            }
            columns.push(column);
        }
        Some(columns)
    }
}

/// Least and greatest coordinates of what lies within reach of a line.
fn around(line: [[i32; 3]; 2], near: Near) -> [[i64; 3]; 2] {
    let reach = [near.plan, near.plan, near.height].map(i64::from);
    let [a, b] = line.map(|p| p.map(i64::from));
    [
        std::array::from_fn(|k| a[k].min(b[k]) - reach[k]), //
        std::array::from_fn(|k| a[k].max(b[k]) + reach[k]),
    ]
}

/// Points in a balanced tree of boxes: a search along a line of any length visits only what the line passes.
struct Tree<'a> {
    points: &'a Points,
    /// Numbers of the points, leaf by leaf.
    order: Vec<u32>,
    /// Least and greatest coordinates below each node; the children of node i are 2i + 1 and 2i + 2.
    boxes: Vec<[[i32; 3]; 2]>,
}

impl Tree<'_> {
    fn new(points: &Points) -> Tree<'_> {
        let order = (0..points.len() as u32).collect();
        let nodes = 2 * points.len().div_ceil(LEAF).next_power_of_two();
        let mut tree = Tree { points, order, boxes: vec![[[i32::MAX; 3], [i32::MIN; 3]]; nodes] };
        tree.divide(0, 0, tree.order.len());
        tree
    }

    fn divide(&mut self, node: usize, from: usize, to: usize) {
        let points = &self.points.all;
        let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
        for p in self.order[from..to].iter().map(|&i| points[i as usize]) {
            for k in 0..3 {
                bounds[0][k] = bounds[0][k].min(p[k]);
                bounds[1][k] = bounds[1][k].max(p[k]);
            }
        }
        self.boxes[node] = bounds;
        if to - from <= LEAF {
            return;
        }
        let axis = (0..3).max_by_key(|&k| bounds[0][k].abs_diff(bounds[1][k])).expect("three axes");
        let middle = (to - from) / 2;
        self.order[from..to].select_nth_unstable_by_key(middle, |&i| points[i as usize][axis]);
        self.divide(2 * node + 1, from, from + middle);
        self.divide(2 * node + 2, from + middle, to);
    }

    /// As [`Lines::along`].
    fn along(&self, [a, b]: [[i32; 3]; 2], see: impl FnMut(u32) -> bool) {
        let Near { plan, height } = self.points.near;
        // products of twice as much fit
        if (0..3).all(|k| a[k].abs_diff(b[k]) < 1 << 28) && plan.max(height) < 1 << 27 {
            self.search(a, b, see, |[x, y], [u, v], [p, q]| (x * v - y * u).abs() > x.abs() * q + y.abs() * p);
        } else {
            self.search(a, b, see, |d, c, e| {
                let [[x, y], [u, v], [p, q]] = [d, c, e].map(|v| v.map(i128::from));
                (x * v - y * u).abs() > x.abs() * q + y.abs() * p
            });
        }
    }

    /// [`along`](Self::along), told whether a line of this direction through zero passes a rectangle about a centre,
    /// half as large as this, by.
    fn search(
        &self,
        a: [i32; 3],
        b: [i32; 3],
        mut see: impl FnMut(u32) -> bool,
        passes_by: impl Fn([i64; 2], [i64; 2], [i64; 2]) -> bool,
    ) {
        let Near { plan, height } = self.points.near;
        let reach = [plan, plan, height].map(i64::from);
        let [low, high] = around([a, b], self.points.near);
        let [a, b] = [a, b].map(|p| p.map(i64::from));
        let d: [i64; 3] = std::array::from_fn(|k| b[k] - a[k]);
        // a node of each level waits at most, and two of the last
        let mut stack = [(0, 0, 0); 40];
        stack[0].2 = self.order.len() as u32;
        let mut waiting = usize::from(!self.order.is_empty());
        while waiting > 0 {
            waiting -= 1;
            let (node, from, to) = stack[waiting];
            let [least, most] = &self.boxes[node as usize];
            // what of it lies around the line, and its centre and extent doubled
            let least: [i64; 3] = std::array::from_fn(|k| i64::from(least[k]).max(low[k]));
            let most: [i64; 3] = std::array::from_fn(|k| i64::from(most[k]).min(high[k]));
            if (0..3).any(|k| least[k] > most[k]) {
                continue;
            }
            let centre: [i64; 3] = std::array::from_fn(|k| least[k] + most[k] - 2 * a[k]);
            let extent: [i64; 3] = std::array::from_fn(|k| most[k] - least[k] + 2 * reach[k]);
            let apart = |i: usize, j: usize| passes_by([d[i], d[j]], [centre[i], centre[j]], [extent[i], extent[j]]);
            let around = least == low && most == high; // and so is passed
            if !around && (apart(0, 1) || apart(0, 2) || apart(1, 2)) {
                continue;
            }
            if (to - from) as usize <= LEAF {
                let within = |p: [i32; 3]| (0..3).all(|k| (low[k]..=high[k]).contains(&i64::from(p[k])));
                let mut leaf = self.order[from as usize..to as usize].iter().copied();
                if !leaf.all(|i| !within(self.points.point(i)) || see(i)) {
                    return;
                }
            } else {
                let middle = from + (to - from) / 2;
                stack[waiting] = (2 * node + 1, from, middle);
                stack[waiting + 1] = (2 * node + 2, middle, to);
                waiting += 2;
            }
        }
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
