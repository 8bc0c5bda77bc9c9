//! Triangles of a tile that overlap none of others, proven for many at once.
//!
//! All triangles being counter-clockwise, where an edge has as many triangles on one side as on the other, with the
//! same ends in plan, as many end there as begin: that many lie over the places before it as behind. So where no other
//! edge runs, as many triangles lie over one place as over any other, and if that is one, none of them overlaps another
//! there.
//!
//! That holds for the triangles that [hang together](Edges::balanced) at such edges as if there were no others: a road
//! over country, a bridge. Of each such part it is told of the cells of a fine square grid: those through which other
//! edges of it run are *rough*, the rest falls into *regions* of cells side by side, and at one place of each its
//! triangles are counted. A triangle whose box is in the cells of a region with one of them is alone in its part. Of
//! others nothing is said.

use super::edges::Edges;
use super::plan::{Box4, Rect, Tri};
use crate::util::disjoint_set::DisjointSet;

/// Most cells of a triangle, on average, and the least side of one, log2 in steps.
const CELLS: i64 = 2;
const MIN_SIDE_LOG2: u32 = 2;
/// Words of 64 cells under boxes and edges that are looked at, for each triangle of a part and 64 more; beyond, nothing
/// is said of any.
const WORK: i64 = 256;
/// Triangles of a part of which that is worth while.
const MIN_TRIANGLES: u32 = 12;

/// Of each triangle of a tile its class, from 1: it certainly overlaps no other of that class. 0 if nothing is known of
/// it. Differences of coordinates are `SMALL`.
pub fn classes(tris: &[Tri], boxes: &[Box4], edges: &mut Edges, tile: &Rect) -> Vec<u32> {
    let (balanced, parts) = edges.balanced(tris);
    let mut sizes = vec![0u32; tris.len()];
    parts.iter().for_each(|&part| sizes[part as usize] += 1);
    // a class for each part that is not too small, and where its triangles start
    let (mut of_parts, mut starts, mut count) = (vec![0u32; tris.len()], vec![0u32], 0);
    for (of_part, size) in of_parts.iter_mut().zip(sizes).filter(|(_, size)| *size >= MIN_TRIANGLES) {
        *of_part = starts.len() as u32;
        count += size;
        starts.push(count);
    }
    let (mut members, mut next) = (vec![0u32; count as usize], starts.clone());
    for (t, &part) in (0..).zip(&parts) {
        if let Some(class) = of_parts[part as usize].checked_sub(1) {
            members[next[class as usize] as usize] = t;
            next[class as usize] += 1;
        }
    }
    let mut classes = vec![0u32; tris.len()];
    for (class, ends) in (1..).zip(starts.windows(2)) {
        let some = &members[ends[0] as usize..ends[1] as usize];
        for (t, _) in some.iter().zip(non_overlapping(tris, boxes, &balanced, some, tile)).filter(|(_, alone)| *alone) {
            classes[*t as usize] = class;
        }
    }
    classes
}

/// For each of some triangles of a tile whether it certainly overlaps no other of them. Bit k of `balanced`: at the
/// edge from corner k lie as many of them on one side as on the other.
fn non_overlapping(tris: &[Tri], boxes: &[Box4], balanced: &[u8], some: &[u32], tile: &Rect) -> Vec<bool> {
    let none = || vec![false; some.len()];
    let each = || some.iter().map(|&t| (&tris[t as usize], boxes[t as usize], balanced[t as usize]));
    let mut all = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
    let mut as_should_be = true;
    for (t, [x0, y0, x1, y1], _) in each() {
        as_should_be &= t.is_counter_clockwise();
        all = [all[0].min(x0), all[1].min(y0), all[2].max(x1), all[3].max(y1)];
    }
    if !as_should_be {
        return none();
    }
    let low = [0, 1].map(|i| i64::from(all[i]).max(tile.low[i]));
    let size = [0, 1].map(|i| (i64::from(all[i + 2]) + 1).min(tile.high(i)) - low[i]);
    if size.iter().any(|size| *size <= 0) {
        return none();
    }
    let rect = Rect { low, size };
    let mut cells = Cells::new(&rect, CELLS * some.len() as i64);
    let mut work = WORK * (some.len() as i64 + 64);
    for (t, _, balanced) in each().filter(|(_, _, balanced)| *balanced != 7) {
        for k in (0..3).filter(|k| balanced >> k & 1 == 0) {
            cells.roughen(t, k, &mut work);
        }
        if work < 0 {
            return none();
        }
    }
    let (runs, regions, samples) = cells.regions();
    let region = |x: i64, y: i64| regions[runs[(y * cells.sides[0] + x) as usize] as usize];
    let marks: Vec<[u64; 2]> = cells.rough.iter().zip(&samples).map(|(rough, sample)| [*rough, *sample]).collect();
    let mut counts = vec![0u32; regions.len()];
    let mut of_tris = Vec::with_capacity(some.len());
    for (t, bounds, _) in each() {
        let ([x0, x1], [y0, y1]) = (cells.range(0, bounds[0], bounds[2]), cells.range(1, bounds[1], bounds[3]));
        work -= cells.words(x0, x1) * (y1 - y0 + 1).max(0);
        if work < 0 {
            return none();
        }
        let (mut rough, row) = (0, (y0 * cells.stride) as usize);
        for (word, bits) in cells.bits(x0, x1) {
            let column = marks.get(row + word as usize..).unwrap_or(&[]).iter().step_by(cells.stride as usize);
            for ([is_rough, sampled], y) in column.zip(y0..y1 + 1) {
                rough |= is_rough & bits;
                let mut sampled = sampled & bits;
                while sampled != 0 {
                    let x = word * 64 + i64::from(sampled.trailing_zeros());
                    counts[region(x, y) as usize] += u32::from(t.covers(cells.sample(x, y)));
                    sampled &= sampled - 1;
                }
            }
        }
        let held = rough == 0 && rect.holds_box(bounds);
        of_tris.push(if held { region(x0, y0) } else { 0 }); // the cells under its box are of one
    }
    of_tris.into_iter().map(|r| r != 0 && counts[r as usize] == 1).collect()
}

/// The cells of a rectangle, row by row; the last may reach beyond it.
struct Cells {
    low: [i64; 2],
    log2: u32,
    /// How many columns and rows.
    sides: [i64; 2],
    /// Words of a row.
    stride: i64,
    /// Which are rough, a bit each.
    rough: Vec<u64>,
}

impl Cells {
    /// So many, or fewer.
    fn new(rect: &Rect, most: i64) -> Cells {
        let sides = |log2: u32| rect.size.map(|size| ((size - 1) >> log2) + 1);
        let fits = |log2: &u32| sides(*log2).iter().product::<i64>() <= most;
        let log2 = (MIN_SIDE_LOG2..31).find(fits).unwrap_or(31);
        let sides = sides(log2);
        let stride = (sides[0] + 63) / 64;
        Cells { low: rect.low, log2, sides, stride, rough: vec![0; (sides[1] * stride) as usize] }
    }

    /// The first and the last cell along an axis from one coordinate to another, as far as there are any.
    fn range(&self, axis: usize, from: i32, to: i32) -> [i64; 2] {
        let at = |v: i32| (i64::from(v) - self.low[axis]) >> self.log2;
        [at(from).max(0), at(to).min(self.sides[axis] - 1)]
    }

    /// How many words have the cells of a row from one to another.
    fn words(&self, x0: i64, x1: i64) -> i64 {
        if x0 <= x1 { (x1 >> 6) - (x0 >> 6) + 1 } else { 0 }
    }

    /// Each word of them in its row, and the bits of the cells.
    #[inline(always)]
    fn bits(&self, x0: i64, x1: i64) -> impl Iterator<Item = (i64, u64)> + use<> {
        (x0 >> 6..if x0 <= x1 { (x1 >> 6) + 1 } else { 0 }).map(move |word| {
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

    /// The number of the run of each cell, from 1, which are cells side by side in a row; the region of each run, by a
    /// run of it; and of each region one cell, a bit each.
    fn regions(&self) -> (Vec<u32>, Vec<u32>, Vec<u64>) {
        let [side, rows] = self.sides.map(|side| side as usize);
        let mut runs = vec![0u32; side * rows];
        let (mut parts, mut firsts) = (DisjointSet::new(1), vec![[0; 2]]);
        for y in 0..rows {
            let (before, row) = runs[..(y + 1) * side].split_at_mut(y * side);
            let above = &before[y.saturating_sub(1) * side..];
            let mut x = 0;
            while x < side {
                let end = self.end(x, y);
                if !self.is_rough(x, y) {
                    let number = parts.add();
                    firsts.push([x, y]);
                    row[x..end].fill(number);
                    let above = above.get(x..end).unwrap_or(&[]).chunk_by(|a, b| a == b).map(|run| run[0]);
                    for other in above.chain(x.checked_sub(1).map(|x| row[x])).filter(|n| *n != 0) {
                        parts.join(number, other);
                    }
                }
                x = end;
            }
        }
        let regions = parts.firsts();
        let mut samples = vec![0u64; self.rough.len()];
        let own = (0..).zip(&regions).zip(firsts).skip(1).filter(|((run, region), _)| run == *region);
        own.for_each(|(_, [x, y])| samples[y * self.stride as usize + x / 64] |= 1 << (x % 64));
        (runs, regions, samples)
    }

    fn is_rough(&self, x: usize, y: usize) -> bool {
        self.rough[y * self.stride as usize + x / 64] >> (x % 64) & 1 == 1
    }

    /// Where cells of a row that are rough like the first, or are not, end, in its word.
    fn end(&self, x: usize, y: usize) -> usize {
        let word = self.rough[y * self.stride as usize + x / 64] >> (x % 64);
        let like = if word & 1 == 1 { word.trailing_ones() } else { word.trailing_zeros() };
        (x + like as usize).min((x / 64 + 1) * 64).min(self.sides[0] as usize)
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

    fn told(tris: &[Tri]) -> Vec<u32> {
        let boxes: Vec<Box4> = tris.iter().map(Tri::bounds).collect();
        classes(tris, &boxes, &mut Edges::new(tris, &boxes, &[], &[]), &Rect { low: [0; 2], size: [4096; 2] })
    }

    #[test]
    fn who_is_of_a_class_overlaps_nobody_of_it() {
        let (mut some, mut folded, mut over) = (0, 0, 0);
        for seed in 0..60 {
            let mut tris = mesh(seed, 60 * (seed % 5), seed % 3 * 40);
            if seed % 4 == 1 {
                // a second sheet over a part of it, which hangs together with it at one place or not
                let more = mesh(seed + 1000, 20, 0).into_iter().take(240);
                tris.extend(more.map(|t| Tri { x: t.x.map(|x| x + 700), y: t.y.map(|y| y + 700), ..t }));
                if seed % 8 == 1 {
                    let [a, b] = [tris.len() - 7, tris.len() - 300].map(|k| tris[k]);
                    tris.push(Tri {
                        x: [a.x[1], a.x[0], b.x[2]],
                        y: [a.y[1], a.y[0], b.y[2]],
                        z: [0; 3],
                        attribute: 0,
                    });
                }
            }
            let classes = told(&tris);
            for (i, t) in tris.iter().enumerate() {
                let others = tris.iter().zip(&classes).enumerate().filter(|(j, _)| i != *j);
                let overlapped: Vec<u32> = others.filter(|(_, (o, _))| t.overlaps::<true>(o)).map(|o| *o.1.1).collect();
                assert!(classes[i] == 0 || !overlapped.contains(&classes[i]), "{seed}: {t:?}");
                folded += u32::from(!overlapped.is_empty());
                some += u32::from(classes[i] != 0);
                over += u32::from(classes[i] != 0 && !overlapped.is_empty());
            }
        }
        assert!(some > 5000 && folded > 5000 && over > 1000, "{some} {folded} {over}");
    }

    #[test]
    fn a_plain_mesh_is_one_class_but_for_its_border() {
        let tris = mesh(7, 30, 0);
        let classes = told(&tris);
        let inner = |t: &Tri| t.bounds()[..2].iter().all(|&v| v > 500) && t.bounds()[2..].iter().all(|&v| v < 1800);
        assert!(tris.iter().zip(&classes).filter(|(t, _)| inner(t)).all(|(_, class)| *class == 1));
        // twice the same is of two
        let twice: Vec<Tri> = tris.iter().flat_map(|t| [*t, *t]).collect();
        let classes = told(&twice);
        assert!(classes.chunks(2).all(|two| two[0] == 0 || two[0] != two[1]));
        assert!(classes.iter().filter(|class| **class != 0).count() > tris.len());
        // what lies face down is of none
        let mut turned = tris.clone();
        turned[..9].iter_mut().for_each(|t| (t.x, t.y) = ([t.x[1], t.x[0], t.x[2]], [t.y[1], t.y[0], t.y[2]]));
        let classes = told(&turned);
        assert!(classes[..9].iter().all(|class| *class == 0) && classes.contains(&1));
        let all: Vec<Tri> = turned[..9].iter().cycle().take(40).copied().collect();
        assert!(told(&all).iter().all(|class| *class == 0));
    }
}
