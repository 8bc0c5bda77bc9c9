//! Points in order.

use crate::Numbered;
use crate::sort::sort;
use rayon::prelude::*;

pub fn number(points: &[[u32; 3]]) -> Numbered {
    let key = |(i, [x, y, z]): (usize, &[u32; 3])| {
        u128::from(*x) << 96 | u128::from(*y) << 64 | u128::from(*z) << 32 | i as u128
    };
    let mut keys: Vec<u128> = points.par_iter().enumerate().map(key).collect();
    sort(&mut keys);
    let is_first = |i: &usize| *i == 0 || keys[*i] >> 32 != keys[i - 1] >> 32;
    let mut starts: Vec<u32> = (0..keys.len()).into_par_iter().filter(is_first).map(|i| i as u32).collect();
    starts.push(keys.len() as u32);
    Numbered { order: keys.into_par_iter().map(|k| k as u32).collect(), starts }
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
