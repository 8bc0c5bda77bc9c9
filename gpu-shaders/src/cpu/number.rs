//! Points in order: each thread sorts those of a range of leading bits.

use crate::Numbered;
use crate::sort::sort;
use rayon::prelude::*;
use std::ops::Range;

/// Leading bits by which points are told apart first.
const LEADING: u32 = 12;
/// Points that are read together.
const CHUNK: usize = 1 << 14;
/// Points from which on it is worth to divide them.
const MIN_POINTS: usize = 1 << 13;

/// How the coordinates of points make up a number that orders them.
#[derive(Clone, Copy)]
struct Packing {
    /// Bits of y and z, and of all three.
    bits: [u32; 2],
    all: u32,
}

impl Packing {
    fn of(points: &[[u32; 3]]) -> Packing {
        let any = |a: [u32; 3], b: &[u32; 3]| [a[0] | b[0], a[1] | b[1], a[2] | b[2]];
        let any =
            points.par_chunks(CHUNK).map(|some| some.iter().fold([0; 3], any)).reduce(|| [0; 3], |a, b| any(a, &b));
        let [x, y, z] = any.map(|v| 32 - v.leading_zeros());
        Packing { bits: [y, z], all: x + y + z }
    }

    #[inline]
    fn place(&self, [x, y, z]: [u32; 3]) -> u128 {
        (u128::from(x) << self.bits[0] | u128::from(y)) << self.bits[1] | u128::from(z)
    }

    #[inline]
    fn leading(&self, point: [u32; 3]) -> usize {
        (self.place(point) >> self.all.saturating_sub(LEADING)) as usize
    }
}

pub fn number(points: &[[u32; 3]]) -> Numbered {
    let packing = Packing::of(points);
    let key = |(p, i): (&[u32; 3], u32)| packing.place(*p) << 32 | u128::from(i);
    let parts: Vec<Vec<u128>> = if points.len() < MIN_POINTS {
        let mut keys: Vec<u128> = points.iter().zip(0..).map(key).collect();
        sort(&mut keys);
        vec![keys]
    } else {
        let ranges = ranges(points, packing);
        let part = |(range, count): (Range<usize>, usize)| {
            let mut keys = Vec::with_capacity(count);
            keys.extend(points.iter().zip(0..).filter(|(p, _)| range.contains(&packing.leading(**p))).map(key));
            sort(&mut keys);
            keys
        };
        ranges.into_par_iter().map(part).collect()
    };
    // where places start; no place lies in two parts
    let starts = |keys: &Vec<u128>| -> Vec<u32> {
        let first = keys.first().map(|_| 0);
        first
            .into_iter()
            .chain((1..keys.len()).filter(|i| keys[*i] >> 32 != keys[i - 1] >> 32).map(|i| i as u32))
            .collect()
    };
    let of_parts: Vec<Vec<u32>> = parts.par_iter().map(starts).collect();
    let mut order = Vec::with_capacity(points.len());
    let mut starts = Vec::with_capacity(of_parts.iter().map(Vec::len).sum::<usize>() + 1);
    for (keys, of) in parts.iter().zip(of_parts) {
        let before = order.len() as u32;
        order.extend(keys.iter().map(|k| *k as u32));
        starts.extend(of.into_iter().map(|at| before + at));
    }
    starts.push(order.len() as u32);
    Numbered { order, starts }
}

/// Ranges of leading bits with about as many points each, and how many those are: two for each thread.
fn ranges(points: &[[u32; 3]], packing: Packing) -> Vec<(Range<usize>, usize)> {
    let count = |some: &[[u32; 3]]| {
        let mut counts = vec![0usize; 1 << LEADING];
        some.iter().for_each(|p| counts[packing.leading(*p)] += 1);
        counts
    };
    let add = |a: Vec<usize>, b: Vec<usize>| a.into_iter().zip(b).map(|(a, b)| a + b).collect();
    let threads = rayon::current_num_threads();
    let some = points.len().div_ceil(threads);
    let counts = points.par_chunks(some).map(count).reduce(|| vec![0; 1 << LEADING], add);
    let each = points.len().div_ceil(2 * threads);
    let (mut ranges, mut from, mut sum) = (Vec::new(), 0, 0);
    for (leading, n) in counts.iter().enumerate() {
        if sum > 0 && sum + n > each {
            ranges.push((from..leading, sum));
            (from, sum) = (leading, 0);
        }
        sum += n;
    }
    ranges.push((from..1 << LEADING, sum));
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sort::mix;

    /// As by comparing, whatever bits the coordinates have and however many threads there are.
    #[test]
    fn points_are_numbered_as_by_comparing() {
        for (case, (count, bits)) in (0u64..).zip([
            (0, [5, 5, 5]),
            (1, [32, 32, 32]),
            (100, [1, 0, 2]),
            (30_000, [0, 0, 0]),
            (30_000, [3, 9, 4]),
            (50_000, [32, 32, 32]),
            (50_000, [0, 0, 14]),
        ]) {
            let mut seed = case;
            let mut random = |bits: u32| {
                seed = mix(seed);
                (seed & ((1 << bits) - 1)) as u32
            };
            let points: Vec<[u32; 3]> = (0..count).map(|_| bits.map(&mut random)).collect();
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|i| (points[*i as usize], *i));
            let place = |k: usize| points[order[k] as usize];
            let firsts = (0..order.len()).filter(|k| *k == 0 || place(*k) != place(k - 1)).map(|k| k as u32);
            let starts: Vec<u32> = firsts.chain([count]).collect();
            let expected = Numbered { order, starts };
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| number(&points)), expected, "{count} {bits:?} {threads}");
            }
        }
    }
}
