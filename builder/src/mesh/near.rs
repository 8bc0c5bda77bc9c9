//! Who lies close to a point or along a line.

use crate::{Near, Repair};
use rayon::prelude::*;

/// Points of a leaf.
const LEAF: usize = 8;

/// Points in a balanced tree of boxes: a search along a line of any length visits only what the line passes.
pub struct Tree {
    points: Vec<[i32; 3]>,
    /// Numbers of the points, leaf by leaf.
    order: Vec<u32>,
    /// Least and greatest coordinates below each node; the children of node i are 2i + 1 and 2i + 2.
    boxes: Vec<[[i32; 3]; 2]>,
}

impl Tree {
    pub fn new(points: Vec<[i32; 3]>) -> Tree {
        let order = (0..points.len() as u32).collect();
        let nodes = 2 * points.len().div_ceil(LEAF).next_power_of_two();
        let mut tree = Tree { points, order, boxes: vec![[[i32::MAX; 3], [i32::MIN; 3]]; nodes] };
        tree.divide(0, 0, tree.order.len());
        tree
    }

    fn divide(&mut self, node: usize, from: usize, to: usize) {
        let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
        for p in self.order[from..to].iter().map(|&i| self.points[i as usize]) {
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
        let points = &self.points;
        self.order[from..to].select_nth_unstable_by_key(middle, |&i| points[i as usize][axis]);
        self.divide(2 * node + 1, from, from + middle);
        self.divide(2 * node + 2, from + middle, to);
    }

    /// Calls `see` with every point within reach of the line from `a` to `b`, and some that are not. Stops when told `false`.
    pub fn along(&self, [a, b]: [[i32; 3]; 2], near: Near, mut see: impl FnMut(u32) -> bool) {
        if self.points.is_empty() {
            return;
        }
        let reach = [near.plan, near.plan, near.height].map(i64::from);
        let low = [0, 1, 2].map(|k| i64::from(a[k].min(b[k])) - reach[k]);
        let high = [0, 1, 2].map(|k| i64::from(a[k].max(b[k])) + reach[k]);
        let d = [0, 1, 2].map(|k| i128::from(b[k]) - i128::from(a[k]));
        // a node of each level waits at most, and two of the last
        let mut stack = [(0, 0, 0); 40];
        stack[0].2 = self.order.len();
        let mut waiting = 1;
        while waiting > 0 {
            waiting -= 1;
            let (node, from, to) = stack[waiting];
            let [least, most] = self.boxes[node].map(|p| p.map(i64::from));
            if (0..3).any(|k| least[k] > high[k] || most[k] < low[k]) {
                continue;
            }
            // a box smaller than the line, widened by the reach: all on one side of it, seen along any axis?
            let apart = |i: usize, j: usize| {
                let side = |x: i64, y: i64| {
                    (d[i] * (i128::from(y) - i128::from(a[j])) - d[j] * (i128::from(x) - i128::from(a[i]))).signum()
                };
                let [x, y] = [i, j].map(|k| [least[k] - reach[k], most[k] + reach[k]]);
                let sides = [side(x[0], y[0]), side(x[1], y[0]), side(x[0], y[1]), side(x[1], y[1])];
                sides == [1; 4] || sides == [-1; 4]
            };
            if (0..3).any(|k| most[k] - least[k] < high[k] - low[k])
                && d != [0; 3]
                && (apart(0, 1) || apart(0, 2) || apart(1, 2))
            {
                continue;
            }
            if to - from <= LEAF {
                if !self.order[from..to].iter().all(|&i| see(i)) {
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

    pub fn point(&self, i: u32) -> [i32; 3] {
        self.points[i as usize]
    }

    /// Which points are in a crowd, with more than [`Repair::CROWD`] others within reach.
    pub fn crowd(&self, near: Near) -> Vec<bool> {
        let crowded = |i: u32| {
            let (p, mut count) = (self.point(i), 0);
            self.along([p, p], near, |j| {
                count += u64::from(j != i && meet(p, self.point(j), near));
                count <= Repair::CROWD
            });
            count > Repair::CROWD
        };
        (0..self.points.len() as u32).into_par_iter().map(crowded).collect()
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
    let d = [0, 1, 2].map(|k| i128::from(b[k]) - i128::from(a[k]));
    let w = [0, 1, 2].map(|k| i128::from(p[k]) - i128::from(a[k]));
    let (along, length) = (d[0] * w[0] + d[1] * w[1], d[0] * d[0] + d[1] * d[1]);
    if along <= 0 || along >= length {
        return None;
    }
    let off = d[0] * w[1] - d[1] * w[0];
    // |off| / length <= plan: first so roughly that its square fits
    let plan = i128::from(near.plan);
    if off.abs() > plan << 34 || off * off > plan * plan * length {
        return None;
    }
    let height = (w[2] * length - d[2] * along).abs();
    if height > i128::from(near.height) * length {
        return None;
    }
    let length = length as f64;
    Some(Beside { along, off, by: [off.abs() as f64 / length.sqrt(), height as f64 / length] })
}
