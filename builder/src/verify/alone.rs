//! Triangles of a tile that overlap none of its others, proven for all at once.
//!
//! All triangles being counter-clockwise, where an edge has as many triangles on one side as on the other, with the same ends in
//! plan, as many end there as begin: that many lie over the places before it as behind. So where no other edge runs, as many
//! triangles lie over one place as over any other, and if that is one, none of them overlaps another there.
//!
//! That is told of the cells of a square grid: those through which other edges run are *rough*, the rest falls into *regions* of
//! cells side by side, and at one place of each its triangles are counted. A triangle whose box is in the cells of a region
//! with one of them is alone. Of others nothing is said.

use super::plan::{Box4, Rect, Tri};

/// Mean triangles of a cell.
const CELL: usize = 4;
/// Cells under boxes that are looked at, for each triangle on average; beyond, nothing is said of any.
const WORK: i64 = 32;
/// State of a rough cell. That of others is twice the number of their region, from 1, less one where it is sampled.
const ROUGH: u32 = u32::MAX;

/// Of each triangle whether it certainly overlaps no other of a square tile. Bit k of `balanced`: at the edge from corner k
/// lie as many triangles on one side as on the other. Differences of coordinates are `SMALL`.
pub fn alone(tris: &[Tri], boxes: &[Box4], balanced: &[u8], rect: &Rect) -> Vec<bool> {
    let none = || vec![false; tris.len()];
    if !tris.iter().all(Tri::is_counter_clockwise) {
        return none();
    }
    let log2 = rect.size[0].ilog2();
    let side_log2 = (((tris.len() / CELL).max(1).ilog2()) / 2).min(log2);
    let mut cells = Cells { low: rect.low, log2: log2 - side_log2, side: 1 << side_log2, states: Vec::new() };
    cells.states = vec![0; (cells.side * cells.side) as usize];
    let mut work = WORK * (tris.len() as i64 + 64);
    for (t, balanced) in tris.iter().zip(balanced) {
        for k in (0..3).filter(|k| balanced >> k & 1 == 0) {
            cells.roughen(t, k, &mut work);
        }
        if work < 0 {
            return none();
        }
    }
    let samples = cells.regions();
    let mut counts = vec![0u32; samples + 1];
    let mut regions = Vec::with_capacity(tris.len());
    for (t, &bounds) in tris.iter().zip(boxes) {
        let ([x0, x1], [y0, y1]) = (cells.range(0, bounds[0], bounds[2]), cells.range(1, bounds[1], bounds[3]));
        work -= ((x1 - x0 + 1) * (y1 - y0 + 1)).max(0);
        if work < 0 {
            return none();
        }
        let mut region = if rect.holds_box(bounds) { u32::MAX } else { 0 };
        for (y, x) in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (y, x))) {
            let state = cells.states[(y * cells.side + x) as usize];
            if state == ROUGH {
                region = 0;
                continue;
            }
            let own = state.div_ceil(2);
            region = region.min(own); // cells side by side are of one region
            if state & 1 == 1 {
                counts[own as usize] += u32::from(t.covers(cells.sample(x, y)));
            }
        }
        regions.push(region);
    }
    regions.into_iter().map(|r| r != 0 && counts[r as usize] == 1).collect()
}

/// The cells of a square, row by row.
struct Cells {
    low: [i64; 2],
    log2: u32,
    side: i64,
    states: Vec<u32>,
}

impl Cells {
    /// The first and the last cell along an axis from one coordinate to another, as far as there are any.
    fn range(&self, axis: usize, from: i32, to: i32) -> [i64; 2] {
        let at = |v: i32| (i64::from(v) - self.low[axis]) >> self.log2;
        [at(from).max(0), at(to).min(self.side - 1)]
    }

    /// Marks the cells through which an edge may run.
    fn roughen(&mut self, t: &Tri, k: usize, work: &mut i64) {
        let [mut a, mut b] = [k, (k + 1) % 3].map(|k| [t.x[k], t.y[k]]);
        if a[1] > b[1] {
            (a, b) = (b, a);
        }
        let [y0, y1] = self.range(1, a[1], b[1]);
        *work -= (y1 - y0 + 1).max(0);
        let [ex, ey] = [0, 1].map(|i| i64::from(b[i]) - i64::from(a[i]));
        // where it is at a height, rounded down, and within its own extent
        let at = |y: i64| {
            let y = (y - i64::from(a[1])).clamp(0, ey);
            a[0] + if ey == 0 { 0 } else { (ex * y).div_euclid(ey) as i32 }
        };
        for y in y0..=y1 {
            let from = self.low[1] + (y << self.log2);
            let ends = if ey == 0 { [a[0], b[0]] } else { [at(from), at(from + (1 << self.log2))] };
            let [x0, x1] = self.range(0, ends[0].min(ends[1]), ends[0].max(ends[1]).saturating_add(1));
            *work -= (x1 - x0 + 1).max(0);
            if x0 <= x1 && *work >= 0 {
                self.states[(y * self.side + x0) as usize..=(y * self.side + x1) as usize].fill(ROUGH);
            }
        }
    }

    /// Numbers the regions and says how many there are.
    fn regions(&mut self) -> usize {
        let (mut count, side) = (0, self.side as usize);
        let mut waiting: Vec<usize> = Vec::new();
        for first in 0..self.states.len() {
            if self.states[first] != 0 {
                continue;
            }
            count += 1;
            self.states[first] = 2 * count;
            waiting.push(first);
            while let Some(at) = waiting.pop() {
                let (x, y) = (at % side, at / side);
                let beside = [
                    (x > 0).then(|| at - 1),
                    (x + 1 < side).then_some(at + 1),
                    (y > 0).then(|| at - side),
                    (y + 1 < side).then_some(at + side),
                ];
                for next in beside.into_iter().flatten() {
                    if self.states[next] == 0 {
                        self.states[next] = 2 * count;
                        waiting.push(next);
                    }
                }
            }
            self.states[first] -= 1;
        }
        count as usize
    }

    /// A place of a cell, likely on no edge.
    fn sample(&self, x: i64, y: i64) -> [i64; 2] {
        let size = 1i64 << self.log2;
        [self.low[0] + x * size + size * 5 / 16, self.low[1] + y * size + size * 11 / 16]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of squares with two triangles each, its points moved about at will by up to so much.
    fn mesh(seed: u64, shake: u64, holes: u64) -> Vec<Tri> {
        let mut seed = seed;
        let mut random = move |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        const N: usize = 24;
        let mut points = Vec::new();
        for k in 0..N * N {
            points.push([k % N, k / N].map(|v| 100 * v as i32 + random(shake + 1) as i32));
        }
        let mut tris = Vec::new();
        for k in (0..N * (N - 1)).filter(|k| k % N + 1 < N) {
            for corners in [[k, k + 1, k + N], [k + N, k + 1, k + N + 1]] {
                let p = corners.map(|c| points[c]);
                let t = Tri { x: p.map(|p| p[0]), y: p.map(|p| p[1]), z: [0; 3], attribute: 0 };
                let kept = holes == 0 || random(holes) > 0;
                if kept && t.is_counter_clockwise() {
                    tris.push(t);
                }
            }
        }
        tris
    }

    /// By comparing all with all.
    fn paired(tris: &[Tri]) -> Vec<u8> {
        let ends = |t: &Tri, k: usize| [k, (k + 1) % 3].map(|k| t.corner(k));
        let of = |t: &Tri, k: usize| {
            let [a, b] = ends(t, k);
            let all = tris.iter().flat_map(|t| (0..3).map(|k| ends(t, k)));
            let (mut same, mut turned) = (0, 0);
            all.for_each(|e| (same, turned) = (same + u32::from(e == [a, b]), turned + u32::from(e == [b, a])));
            u8::from((same, turned) == (1, 1)) << k
        };
        tris.iter().map(|t| (0..3).map(|k| of(t, k)).sum()).collect()
    }

    fn told(tris: &[Tri]) -> Vec<bool> {
        let boxes: Vec<Box4> = tris.iter().map(Tri::bounds).collect();
        alone(tris, &boxes, &paired(tris), &Rect { low: [0; 2], size: [4096; 2] })
    }

    #[test]
    fn who_is_alone_overlaps_nobody() {
        let (mut some, mut folded) = (0, 0);
        for seed in 0..60 {
            let mut tris = mesh(seed, 60 * (seed % 5), seed % 3 * 40);
            if seed % 4 == 1 {
                // a second sheet over a part of it
                let more = mesh(seed + 1000, 20, 0).into_iter().take(40);
                tris.extend(more.map(|t| Tri { x: t.x.map(|x| x + 700), y: t.y.map(|y| y + 700), ..t }));
            }
            let alone = told(&tris);
            for (i, t) in tris.iter().enumerate() {
                let overlaps = tris.iter().enumerate().any(|(j, o)| i != j && t.overlaps::<true>(o));
                assert!(!(overlaps && alone[i]), "{seed}: {t:?}");
                folded += u32::from(overlaps);
                some += u32::from(alone[i]);
            }
        }
        assert!(some > 5000 && folded > 5000, "{some} {folded}");
    }

    #[test]
    fn a_plain_mesh_is_alone_but_for_its_border() {
        let tris = mesh(7, 30, 0);
        let alone = told(&tris);
        let inner = |t: &Tri| t.bounds()[..2].iter().all(|&v| v > 500) && t.bounds()[2..].iter().all(|&v| v < 1800);
        assert!(tris.iter().zip(&alone).filter(|(t, _)| inner(t)).all(|(_, alone)| *alone));
        // twice the same is not
        let twice: Vec<Tri> = tris.iter().flat_map(|t| [*t, *t]).collect();
        assert!(!told(&twice).contains(&true));
        // nor where one lies face down
        let mut turned = tris.clone();
        turned[0].x.swap(0, 1);
        turned[0].y.swap(0, 1);
        assert!(!told(&turned).contains(&true));
    }
}
