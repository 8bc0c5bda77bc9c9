//! Triangles of a tile that overlap none of its others, proven for all at once.
//!
//! All triangles being counter-clockwise, where an edge has as many triangles on one side as on the other, with the same ends in
//! plan, as many end there as begin: that many lie over the places before it as behind. So where no other edge runs, as many
//! triangles lie over one place as over any other, and if that is one, none of them overlaps another there.
//!
//! That is told of the cells of a fine square grid: those through which other edges run are *rough*, the rest falls into *regions*
//! of cells side by side, and at one place of each its triangles are counted. A triangle whose box is in the cells of a region
//! with one of them is alone. Of others nothing is said.

use super::plan::{Box4, Rect, Tri};

/// log2 of the mean cells of a triangle, about.
const CELLS_LOG2: u32 = 2;
/// Words of 64 cells under boxes and edges that are looked at, for each triangle on average; beyond, nothing is said of any.
const WORK: i64 = 256;

/// Of each triangle whether it certainly overlaps no other of a square tile. Bit k of `balanced`: at the edge from corner k
/// lie as many triangles on one side as on the other. Differences of coordinates are `SMALL`.
pub fn alone(tris: &[Tri], boxes: &[Box4], balanced: &[u8], rect: &Rect) -> Vec<bool> {
    let none = || vec![false; tris.len()];
    if !tris.iter().all(Tri::is_counter_clockwise) {
        return none();
    }
    let log2 = rect.size[0].ilog2();
    let mut cells = Cells::new(rect.low, log2, ((tris.len().max(1).ilog2() + CELLS_LOG2) / 2).min(log2));
    let mut work = WORK * (tris.len() as i64 + 64);
    for (t, balanced) in tris.iter().zip(balanced).filter(|(_, balanced)| **balanced != 7) {
        for k in (0..3).filter(|k| balanced >> k & 1 == 0) {
            cells.roughen(t, k, &mut work);
        }
        if work < 0 {
            return none();
        }
    }
    let (regions, samples) = cells.regions();
    let mut counts = vec![0u32; regions.len() + 1];
    let mut of_tris = Vec::with_capacity(tris.len());
    for (t, &bounds) in tris.iter().zip(boxes) {
        let ([x0, x1], [y0, y1]) = (cells.range(0, bounds[0], bounds[2]), cells.range(1, bounds[1], bounds[3]));
        work -= cells.words(x0, x1) * (y1 - y0 + 1).max(0);
        if work < 0 {
            return none();
        }
        let mut rough = 0;
        for (word, bits) in cells.bits(x0, x1) {
            for y in y0..y1 + 1 {
                let at = (y * cells.stride + word) as usize;
                rough |= cells.rough[at] & bits;
                let mut sampled = samples[at] & bits;
                while sampled != 0 {
                    let x = word * 64 + i64::from(sampled.trailing_zeros());
                    counts[regions[(y * cells.side + x) as usize] as usize] += u32::from(t.covers(cells.sample(x, y)));
                    sampled &= sampled - 1;
                }
            }
        }
        let held = rough == 0 && rect.holds_box(bounds);
        of_tris.push(if held { regions[(y0 * cells.side + x0) as usize] } else { 0 }); // the cells under its box are of one
    }
    of_tris.into_iter().map(|r| r != 0 && counts[r as usize] == 1).collect()
}

/// The cells of a square, row by row.
struct Cells {
    low: [i64; 2],
    log2: u32,
    side: i64,
    /// Words of a row.
    stride: i64,
    /// Which are rough, a bit each.
    rough: Vec<u64>,
}

impl Cells {
    fn new(low: [i64; 2], log2: u32, side_log2: u32) -> Cells {
        let side = 1i64 << side_log2;
        let stride = (side + 63) / 64;
        Cells { low, log2: log2 - side_log2, side, stride, rough: vec![0; (side * stride) as usize] }
    }

    /// The first and the last cell along an axis from one coordinate to another, as far as there are any.
    fn range(&self, axis: usize, from: i32, to: i32) -> [i64; 2] {
        let at = |v: i32| (i64::from(v) - self.low[axis]) >> self.log2;
        [at(from).max(0), at(to).min(self.side - 1)]
    }

    /// How many words have the cells of a row from one to another.
    fn words(&self, x0: i64, x1: i64) -> i64 {
        if x0 <= x1 { x1 / 64 - x0 / 64 + 1 } else { 0 }
    }

    /// Each word of them in its row, and the bits of the cells.
    #[inline(always)]
    fn bits(&self, x0: i64, x1: i64) -> impl Iterator<Item = (i64, u64)> + use<> {
        (x0 / 64..if x0 <= x1 { x1 / 64 + 1 } else { 0 }).map(move |word| {
            let first = u64::MAX << (x0 - 64 * word).max(0);
            let last = u64::MAX >> (63 - (x1 - 64 * word).min(63));
            (word, first & last)
        })
    }

    /// Marks the cells through which an edge may run.
    fn roughen(&mut self, t: &Tri, k: usize, work: &mut i64) {
        let [mut a, mut b] = [k, (k + 1) % 3].map(|k| [t.x[k], t.y[k]]);
        if a[1] > b[1] {
            (a, b) = (b, a);
        }
        let [y0, y1] = self.range(1, a[1], b[1]);
        let [ex, ey] = [0, 1].map(|i| i64::from(b[i]) - i64::from(a[i]));
        // where it is at a height, rounded down, and within its own extent
        let at = |y: i64| {
            let y = (y - i64::from(a[1])).clamp(0, ey);
            a[0] + if ey == 0 { 0 } else { (ex * y).div_euclid(ey) as i32 }
        };
        let mut before = at(self.low[1] + (y0 << self.log2));
        for y in y0..y1 + 1 {
            let behind = if ey == 0 { b[0] } else { at(self.low[1] + ((y + 1) << self.log2)) };
            let [x0, x1] = self.range(0, before.min(behind), before.max(behind).saturating_add(1));
            *work -= 1 + self.words(x0, x1);
            if *work < 0 {
                return;
            }
            for (word, bits) in self.bits(x0, x1) {
                self.rough[(y * self.stride + word) as usize] |= bits;
            }
            before = behind;
        }
    }

    /// The number of the region of each cell, from 1, and of each region one cell, a bit each.
    fn regions(&self) -> (Vec<u32>, Vec<u64>) {
        let mut of_cells = vec![0u32; (self.side * self.side) as usize];
        // cells side by side in a row are numbered first; of each such run one of the same region that came before, or itself
        let mut same: Vec<u32> = vec![0];
        let side = self.side as usize;
        for y in 0..side {
            let (before, row) = of_cells[..(y + 1) * side].split_at_mut(y * side);
            let above = &before[y.saturating_sub(1) * side..];
            let mut x = 0;
            while x < side {
                let end = self.end(x, y);
                if !self.is_rough(x, y) {
                    let number = same.len() as u32;
                    same.push(number);
                    row[x..end].fill(number);
                    let above = above.get(x..end).unwrap_or(&[]).chunk_by(|a, b| a == b).map(|run| run[0]);
                    for other in above.chain(x.checked_sub(1).map(|x| row[x])).filter(|n| *n != 0) {
                        let (a, b) = (first(&mut same, number), first(&mut same, other));
                        same[a.max(b) as usize] = a.min(b);
                    }
                }
                x = end;
            }
        }
        let mut samples = vec![0u64; self.rough.len()];
        for number in 1..same.len() as u32 {
            same[number as usize] = first(&mut same, number);
        }
        let mut sampled = vec![false; same.len()];
        for (at, number) in of_cells.iter_mut().enumerate().filter(|(_, n)| **n != 0) {
            *number = same[*number as usize];
            if !std::mem::replace(&mut sampled[*number as usize], true) {
                let (x, y) = (at % side, at / side);
                samples[y * self.stride as usize + x / 64] |= 1 << (x % 64);
            }
        }
        (of_cells, samples)
    }

    fn is_rough(&self, x: usize, y: usize) -> bool {
        self.rough[y * self.stride as usize + x / 64] >> (x % 64) & 1 == 1
    }

    /// Where cells of a row that are rough like the first, or are not, end, in its word.
    fn end(&self, x: usize, y: usize) -> usize {
        let word = self.rough[y * self.stride as usize + x / 64] >> (x % 64);
        let like = if word & 1 == 1 { word.trailing_ones() } else { word.trailing_zeros() };
        (x + like as usize).min((x / 64 + 1) * 64).min(self.side as usize)
    }

    /// A place of a cell, likely on no edge.
    fn sample(&self, x: i64, y: i64) -> [i64; 2] {
        let size = 1i64 << self.log2;
        [self.low[0] + x * size + size * 5 / 16, self.low[1] + y * size + size * 11 / 16]
    }
}

/// The first run of the region of a run.
fn first(same: &mut [u32], mut number: u32) -> u32 {
    while same[number as usize] != number {
        same[number as usize] = same[same[number as usize] as usize];
        number = same[number as usize];
    }
    number
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
