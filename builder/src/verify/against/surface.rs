//! Triangles in a tree of boxes: the nearest in height to a point.

use super::{Point, SLACK};
use rayon::prelude::*;
use smallvec::SmallVec;

/// A box in space: least corner and greatest.
pub(super) type Box6 = [Point; 2];

/// The box of a triangle.
pub(super) fn box_of([a, b, c]: &[Point; 3]) -> Box6 {
    [[0, 1, 2].map(|i| a[i].min(b[i]).min(c[i])), [0, 1, 2].map(|i| a[i].max(b[i]).max(c[i]))]
}

/// The box of some boxes.
pub(super) fn joined(boxes: impl Iterator<Item = Box6>) -> Box6 {
    let none = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    boxes.fold(none, |[low, high], b| [[0, 1, 2].map(|i| low[i].min(b[0][i])), [0, 1, 2].map(|i| high[i].max(b[1][i]))])
}

/// How far above or below a box `p` lies, if that lies within `reach` of it in plan.
pub(super) fn off([low, high]: &Box6, p: &Point, reach: f64) -> Option<f64> {
    let apart = (0..2).any(|i| p[i] < low[i] - reach || p[i] > high[i] + reach);
    (!apart).then(|| (low[2] - p[2]).max(p[2] - high[2]).max(0.0))
}

/// Triangles, with their materials, in a tree of boxes.
pub struct Surface {
    pub(super) triangles: Vec<[Point; 3]>,
    /// The material of each.
    pub(super) of: Vec<u16>,
    /// From the leaves of four triangles up, each level half as many.
    levels: Vec<Vec<Box6>>,
}

impl Surface {
    pub(super) fn new(mut triangles: Vec<([Point; 3], u16)>) -> Self {
        let [low, high] = joined(triangles.iter().map(|(t, _)| box_of(t)));
        let side = (0..3).map(|i| high[i] - low[i]).fold(f64::MIN_POSITIVE, f64::max);
        // along a curve through the cells of a cube
        triangles.par_sort_by_cached_key(|(t, _)| {
            let [least, most] = box_of(t);
            let part = [0, 1, 2].map(|i| (((least[i] + most[i]) / 2.0 - low[i]) / side * 65535.0) as u64);
            (0..48).fold(0, |key, bit| key | (part[bit % 3] >> (bit / 3) & 1) << bit)
        });
        let (triangles, of): (Vec<_>, Vec<_>) = triangles.into_iter().unzip();
        let mut levels = Vec::new();
        let mut level: Vec<Box6> = triangles.chunks(4).map(|c| joined(c.iter().map(box_of))).collect();
        while level.len() > 1 {
            let next = level.chunks(2).map(|c| joined(c.iter().copied())).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels.push(level);
        Surface { triangles, of, levels }
    }

    /// The least difference in height to a point of the surface within `reach` of `p` in plan.
    pub fn nearest(&self, p: &Point, reach: f64) -> Option<f64> {
        let mut best = f64::INFINITY;
        self.each(p, reach, f64::INFINITY, |t, _| {
            best = rise(t, p, reach).map_or(best, |v| best.min(v));
            best
        });
        best.is_finite().then_some(best)
    }

    /// The materials of what lies within an error of `p`, in plan and in height.
    pub(super) fn materials(&self, p: &Point, [plan, height]: [f64; 2]) -> Vec<u16> {
        let mut all = Vec::new();
        let [plan, height] = [plan, height].map(|reach| reach + SLACK);
        self.each(p, plan, height, |t, m| {
            if !all.contains(&m) && rise(t, p, plan).is_some_and(|off| off <= height) {
                all.push(m);
            }
            height
        });
        all
    }

    /// Calls `see` with the triangles, and their materials, that may lie within `reach` of `p` in plan and within
    /// `height` in height, which becomes what it gives back: those that may be near first.
    fn each(&self, p: &Point, reach: f64, mut height: f64, mut see: impl FnMut(&[Point; 3], u16) -> f64) {
        let mut next: SmallVec<[(f64, usize, usize); 32]> = SmallVec::new();
        next.push((0.0, self.levels.len() - 1, 0));
        while let Some((least, level, i)) = next.pop() {
            if least > height {
                continue;
            }
            if level > 0 {
                let below = &self.levels[level - 1];
                let of = |i: usize| Some((off(below.get(i)?, p, reach)?, level - 1, i));
                let (mut near, mut far) = (of(2 * i), of(2 * i + 1));
                if near.zip(far).is_some_and(|(a, b)| a.0 > b.0) {
                    std::mem::swap(&mut near, &mut far);
                }
                [far, near].into_iter().flatten().for_each(|one| next.push(one));
                continue;
            }
            for (t, m) in self.triangles[4 * i..].iter().zip(&self.of[4 * i..]).take(4) {
                if off(&box_of(t), p, reach).is_some_and(|off| off <= height) {
                    height = see(t, *m);
                }
            }
        }
    }
}

/// The least difference in height between `p` and the part of a triangle within `reach` of it in plan.
///
/// That part is convex and its height linear, so its heights are those between its lowest and its highest corner: ends
/// of edges cut by the circle, or the places of the circle that lie straight up and down the slope.
pub(super) fn rise(t: &[Point; 3], p: &Point, reach: f64) -> Option<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut take = |z: f64| (low, high) = (low.min(z), high.max(z));
    let q = t.map(|c| [c[0] - p[0], c[1] - p[1], c[2] - p[2]]);
    for k in 0..3 {
        let (a, b) = (q[k], q[(k + 1) % 3]);
        let d = [0, 1, 2].map(|i| b[i] - a[i]);
        // |a + s d| <= reach: half a chord to either side of the foot of the perpendicular
        let (dd, ad) = (d[0] * d[0] + d[1] * d[1], a[0] * d[0] + a[1] * d[1]);
        if dd == 0.0 {
            if a[0] * a[0] + a[1] * a[1] <= reach * reach {
                take(a[2]);
                take(b[2]);
            }
            continue;
        }
        let across = (a[0] * d[1] - a[1] * d[0]) * (a[0] * d[1] - a[1] * d[0]) / dd;
        if across > reach * reach {
            continue;
        }
        let (foot, half) = (-ad / dd, ((reach * reach - across) / dd).sqrt());
        let (from, to) = ((foot - half).max(0.0), (foot + half).min(1.0));
        if from <= to {
            take(a[2] + from * d[2]);
            take(a[2] + to * d[2]);
        }
    }
    // the plane through the corners
    let (u, v) = ([0, 1, 2].map(|i| q[1][i] - q[0][i]), [0, 1, 2].map(|i| q[2][i] - q[0][i]));
    let up = u[0] * v[1] - u[1] * v[0];
    if up != 0.0 {
        let slope = [(u[2] * v[1] - u[1] * v[2]) / up, (u[0] * v[2] - u[2] * v[0]) / up];
        let steep = (slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
        let way = if steep > 0.0 { [slope[0] / steep, slope[1] / steep] } else { [0.0; 2] };
        for r in [-reach, 0.0, reach] {
            let place = [way[0] * r - q[0][0], way[1] * r - q[0][1]];
            let s = (place[0] * v[1] - place[1] * v[0]) / up;
            let w = (u[0] * place[1] - u[1] * place[0]) / up;
            if s >= 0.0 && w >= 0.0 && s + w <= 1.0 {
                take(q[0][2] + s * u[2] + w * v[2]);
            }
        }
    }
    if low > high {
        None
    } else if low <= 0.0 && high >= 0.0 {
        Some(0.0)
    } else {
        Some(low.abs().min(high.abs()))
    }
}
