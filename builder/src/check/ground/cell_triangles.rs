//! Triangles over one cell: where two of them lie over each other, and how far apart.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::image::decode;
use crate::image::decode::{Named, Stack, TileView};
use hardpan::{Terrain, format::Attribute};
use rayon::prelude::*;

use super::layer_pair::Owner;

/// An overlap that is narrower in plan comes from rounding, lattice steps.
const NARROW: f64 = 2.0;

/// Triangles with heights in common that are compared, and as many for each triangle, beyond which nothing is reported.
const PAIRS: u64 = 1 << 22;
const PAIRS_EACH: u64 = 32;

/// Lengths of a lattice step, and where its zero is.
#[derive(Clone, Copy)]
pub struct Lattice {
    /// Metres of a step in plan and in height.
    pub steps: [f64; 2],
    /// Steps from the source frame's zero.
    pub origin: [i64; 3],
}

/// A triangle over a cell.
pub struct Member {
    sheet: u32,
    pub owner: Owner,
    /// Lattice steps from the origin, counter-clockwise.
    pub corners: [[i32; 3]; 3],
    /// Corners in plan, lattice steps from the cell's corner, counter-clockwise.
    plan: [[f64; 2]; 3],
    /// Height in metres at the cell's corner, and what it grows by a step in x and y.
    plane: [f64; 3],
    /// Least and greatest, metres.
    heights: [f64; 2],
}

/// Where two triangles lie over each other in a cell.
pub struct Shared {
    polygon: Polygon,
    /// How far the first lies above the second: metres at the cell's corner, and what that grows by a step in x and y.
    off: [f64; 3],
}

/// A convex polygon in plan, lattice steps from a cell's corner, counter-clockwise.
#[derive(Clone, Copy)]
pub struct Polygon {
    corners: [[f64; 2]; CORNERS],
    count: usize,
}

/// A triangle has three corners, and each of nine cuts, three sides, four of a cell and two heights, leaves one more at
/// most.
const CORNERS: usize = 12;

impl Lattice {
    pub fn of(t: &Terrain) -> Self {
        let h = t.header();
        Lattice { steps: [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2))), origin: h.origin }
    }

    /// A place in metres, from steps beside a cell's corner.
    pub fn place(&self, low: [i64; 2], [x, y]: [f64; 2]) -> [f64; 2] {
        [(0, x), (1, y)].map(|(i, v)| (v + (self.origin[i] + low[i]) as f64) * self.steps[0])
    }

    /// Square metres of so many square steps.
    pub fn area(&self, squares: f64) -> f64 {
        squares * self.steps[0] * self.steps[0]
    }
}

/// The triangles over a cell, the lowest first.
pub fn members(lattice: Lattice, palette: &[Attribute], cell: &Stack) -> Vec<Member> {
    let mut all: Vec<Member> = cell.triangles().map(|n| Member::new(lattice, palette, &n, cell.low)).collect();
    all.sort_unstable_by(|a, b| a.heights[0].total_cmp(&b.heights[0]));
    all
}

/// Numbers of those behind one that begin no more than so far above its top, metres.
pub fn within(all: &[Member], one: usize, reach: f64) -> impl Iterator<Item = usize> {
    let end = all[one].heights[1] + reach;
    (one + 1..all.len()).take_while(move |&k| all[k].heights[0] <= end)
}

/// Shows `see` all pairs of triangles over one cell whose materials are not `alike`, and one of which begins no more
/// than so far above the other's top, metres. What `done` makes of each tile's; none if there are too many pairs.
pub fn pairs<R: Default, S: Send>(
    t: &Terrain,
    reach: f64,
    alike: impl Fn(u16, u16) -> bool + Sync,
    see: impl Fn(&mut R, &Stack, [&Member; 2]) + Sync,
    done: impl Fn(R) -> S + Sync,
) -> Option<Vec<S>> {
    let differ = |tile: &TileView| match tile.palette() {
        [first, rest @ ..] => rest.iter().any(|a| !alike(a.material, first.material)),
        [] => false,
    };
    let tiles: Vec<TileView> = decode::tiles(t).filter(differ).collect();
    let (compared, most) = (AtomicU64::new(0), PAIRS.max(PAIRS_EACH.saturating_mul(t.header().triangles)));
    let lattice = Lattice::of(t);
    let of_tile = |tile: &TileView| {
        let mut found = R::default();
        tile.stacked(|cell| {
            if compared.load(Ordering::Relaxed) > most {
                return;
            }
            let all = members(lattice, tile.palette(), &cell);
            let are_alike = |a: &Member, b: &Member| alike(a.owner.material, b.owner.material);
            if all.iter().all(|m| are_alike(m, &all[0])) {
                return;
            }
            let mut count = 0;
            for (i, a) in all.iter().enumerate() {
                if count > most {
                    break;
                }
                for b in within(&all, i, reach).map(|k| &all[k]) {
                    count += 1;
                    if !are_alike(a, b) {
                        see(&mut found, &cell, [a, b]);
                    }
                }
            }
            compared.fetch_add(count, Ordering::Relaxed);
        });
        done(found)
    };
    let of_tiles = tiles.par_iter().map(of_tile).collect();
    (compared.into_inner() <= most).then_some(of_tiles)
}

impl Member {
    fn new(lattice: Lattice, palette: &[Attribute], n: &Named, low: [i64; 2]) -> Self {
        let corners = n.bundle.corners(n.part);
        let plan = corners.map(|c| [0, 1].map(|i| (i64::from(c[i]) - low[i]) as f64));
        let z = corners.map(|c| (lattice.origin[2] + i64::from(c[2])) as f64 * lattice.steps[1]);
        let [[ux, uy], [vx, vy]] = [1, 2].map(|k| [0, 1].map(|i| plan[k][i] - plan[0][i]));
        let (area, [u, v]) = (ux * vy - uy * vx, [z[1] - z[0], z[2] - z[0]]);
        let [dx, dy] = [(u * vy - v * uy) / area, (v * ux - u * vx) / area];
        let plane = [z[0] - dx * plan[0][0] - dy * plan[0][1], dx, dy];
        let heights = [z.into_iter().fold(f64::INFINITY, f64::min), z.into_iter().fold(f64::NEG_INFINITY, f64::max)];
        let owner = palette.get(usize::from(n.bundle.attribute())).map(Owner::in_palette).unwrap_or_default();
        Member { sheet: n.sheet, owner, corners, plan, plane, heights }
    }

    /// Metres.
    pub fn height(&self, [x, y]: [f64; 2]) -> f64 {
        self.plane[0] + self.plane[1] * x + self.plane[2] * y
    }

    /// Whether it lies over or under a place.
    pub fn covers(&self, [x, y]: [f64; 2]) -> bool {
        (0..3).all(|k| {
            let (from, to) = (self.plan[k], self.plan[(k + 1) % 3]);
            (to[0] - from[0]) * (y - from[1]) >= (to[1] - from[1]) * (x - from[0])
        })
    }

    /// Where it and another of another sheet lie over each other in a cell of this size, if they come apart by no more
    /// than so much, metres a metre.
    pub fn shared(&self, other: &Member, lattice: Lattice, size: [i64; 2], parallel: f64) -> Option<Shared> {
        let off = [0, 1, 2].map(|k| self.plane[k] - other.plane[k]);
        let crosses = off[1] * off[1] + off[2] * off[2] > (parallel * lattice.steps[0]).powi(2);
        if self.sheet == other.sheet || crosses || (0..2).any(|i| self.is_beside(other, i)) {
            return None;
        }
        let mut polygon = Polygon::of(self.plan);
        for k in 0..3 {
            let (from, to) = (other.plan[k], other.plan[(k + 1) % 3]);
            let along = [to[0] - from[0], to[1] - from[1]];
            polygon.cut(|p| along[0] * (p[1] - from[1]) - along[1] * (p[0] - from[0]));
        }
        if !polygon.is_wide(NARROW) {
            return None;
        }
        let [width, height] = size.map(|v| v as f64);
        polygon.cut(|p| p[0]);
        polygon.cut(|p| width - p[0]);
        polygon.cut(|p| p[1]);
        polygon.cut(|p| height - p[1]);
        Some(Shared { polygon, off })
    }

    /// Whether the two lie side by side along an axis.
    fn is_beside(&self, other: &Member, axis: usize) -> bool {
        let least = |o: &Member| o.plan.iter().fold(f64::INFINITY, |v, p| v.min(p[axis]));
        let most = |o: &Member| o.plan.iter().fold(f64::NEG_INFINITY, |v, p| v.max(p[axis]));
        most(self) <= least(other) || most(other) <= least(self)
    }
}

impl Shared {
    /// How far the first lies above the second at a place, metres.
    pub fn apart(&self, [x, y]: [f64; 2]) -> f64 {
        self.off[0] + self.off[1] * x + self.off[2] * y
    }

    /// Where it does so by this much, metres, and what that is there at least and at most.
    pub fn between(&self, least: f64, most: f64) -> Option<(Polygon, [f64; 2])> {
        let all = || self.polygon.corners().iter().map(|p| self.apart(*p));
        if !all().any(|v| v >= least) || !all().any(|v| v <= most) {
            return None;
        }
        let mut part = self.polygon;
        part.cut(|p| self.apart(p) - least);
        part.cut(|p| most - self.apart(p));
        let apart = part.corners().iter().map(|p| self.apart(*p));
        let ends = apart.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        (part.area() > 0.0).then_some((part, ends))
    }
}

impl Polygon {
    fn of(triangle: [[f64; 2]; 3]) -> Self {
        let mut all = Polygon { corners: [[0.0; 2]; CORNERS], count: 3 };
        all.corners[..3].copy_from_slice(&triangle);
        all
    }

    pub fn corners(&self) -> &[[f64; 2]] {
        &self.corners[..self.count]
    }

    /// Each corner with the one before it.
    fn sides(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let last = self.corners().last().copied();
        self.corners().iter().scan(last, |before, &p| before.replace(p).map(|from| [from, p]))
    }

    /// Leaves of it what lies where this is positive, which grows evenly.
    fn cut(&mut self, inside: impl Fn([f64; 2]) -> f64) {
        let (whole, mut by) = (self.count, [0.0; CORNERS]);
        by.iter_mut().zip(self.corners()).for_each(|(by, p)| *by = inside(*p));
        if by[..whole].iter().all(|v| *v >= 0.0) {
            return;
        }
        let corners = self.corners;
        self.count = 0;
        for i in 0..whole {
            let k = if i == 0 { whole - 1 } else { i - 1 };
            if (by[k] > 0.0 && by[i] < 0.0) || (by[k] < 0.0 && by[i] > 0.0) {
                let share = by[k] / (by[k] - by[i]);
                self.add([0, 1].map(|n| corners[k][n] + share * (corners[i][n] - corners[k][n])));
            }
            if by[i] >= 0.0 {
                self.add(corners[i]);
            }
        }
    }

    fn add(&mut self, p: [f64; 2]) {
        // only rounding makes more
        if let Some(corner) = self.corners.get_mut(self.count) {
            *corner = p;
            self.count += 1;
        }
    }

    /// Square steps.
    pub fn area(&self) -> f64 {
        self.sides().map(|[p, q]| p[0] * q[1] - p[1] * q[0]).sum::<f64>() / 2.0
    }

    /// Its centre of area: what grows evenly is there as it is in the mean.
    pub fn centre(&self) -> [f64; 2] {
        let (first, mut sum, mut whole) = (self.corners[0], [0.0; 2], 0.0);
        for side in self.sides() {
            let [p, q] = side.map(|corner| [0, 1].map(|i| corner[i] - first[i]));
            let area = p[0] * q[1] - p[1] * q[0];
            whole += area;
            (0..2).for_each(|i| sum[i] += area * (p[i] + q[i]) / 3.0);
        }
        [0, 1].map(|i| first[i] + if whole > 0.0 { sum[i] / whole } else { 0.0 })
    }

    /// Whether it is about as wide as this, by its doubled area and its longest extent.
    fn is_wide(&self, least: f64) -> bool {
        let all = self.corners();
        let square = |p: &[f64; 2], q: &[f64; 2]| (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]);
        let longest = all.iter().flat_map(|p| all.iter().map(move |q| square(p, q))).fold(0.0, f64::max);
        longest > 0.0 && 2.0 * self.area() >= least * longest.sqrt()
    }
}
