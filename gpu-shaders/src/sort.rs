//! Sorting large arrays of numbers, and lists by key.
//!
//! Numbers are sorted apart by their leading bits, until few are left to compare.

use rayon::prelude::*;
use std::ops::Range;

/// Parts that one thread takes together.
const PART: usize = 1 << 15;
/// Keys that are better compared.
const MAX_COMPARED: usize = 32;
/// About as many keys as go together, and most of the bits that they are told apart by at once.
const TOGETHER: u32 = 2;
const MAX_BITS: u32 = 11;

/// Sorts keys, fewer than 2^32.
pub fn sort(keys: &mut [u128]) {
    if keys.len() > MAX_COMPARED {
        apart(keys, &mut vec![0; keys.len()]);
    } else {
        keys.sort_unstable();
    }
}

/// Sorts keys with room for as many.
fn apart(keys: &mut [u128], room: &mut [u128]) {
    if keys.len() <= MAX_COMPARED || keys.is_sorted() {
        return keys.sort_unstable();
    }
    let (all, any) = keys.iter().fold((u128::MAX, 0), |(all, any), k| (all & k, any | k));
    let Some(highest) = (all ^ any).checked_ilog2() else { return };
    let bits = (keys.len().ilog2() - TOGETHER).min(MAX_BITS).min(highest + 1);
    let low = highest + 1 - bits;
    let digit = |k: u128| (k >> low) as usize & ((1 << bits) - 1);
    let mut ends = [0u32; 1 << MAX_BITS];
    keys.iter().for_each(|&k| ends[digit(k)] += 1);
    let mut before = 0;
    for n in &mut ends[..1 << bits] {
        (*n, before) = (before, before + *n);
    }
    for &k in &*keys {
        let at = &mut ends[digit(k)];
        room[*at as usize] = k;
        *at += 1;
    }
    keys.copy_from_slice(room);
    let mut from = 0;
    for &end in &ends[..1 << bits] {
        let (from, end) = (std::mem::replace(&mut from, end as usize), end as usize);
        if end - from > 1 && low > 0 {
            apart(&mut keys[from..end], &mut room[from..end]);
        }
    }
}

/// Lists of what belongs to each of so many keys, one behind the other, and where each starts.
pub fn lists<T: Copy + Default>(keys: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> (Vec<u32>, Vec<T>) {
    let mut starts = vec![0u32; keys + 2];
    let mut count = 0;
    items.clone().for_each(|(key, _)| {
        starts[key as usize + 2] += 1;
        count += 1;
    });
    for i in 2..starts.len() {
        starts[i] += starts[i - 1];
    }
    let mut all = vec![T::default(); count];
    items.for_each(|(key, item)| {
        let at = &mut starts[key as usize + 1];
        all[*at as usize] = item;
        *at += 1;
    });
    (starts, all)
}

/// [`lists`] on all cores: of items that come in so many parts, each asked for by a range of them.
pub fn lists_of_parts<T, I>(keys: usize, parts: usize, items: impl Fn(Range<usize>) -> I + Sync) -> (Vec<u32>, Vec<T>)
where
    T: Copy + Default + Send + Sync,
    I: Iterator<Item = (u32, T)> + Clone,
{
    let threads = rayon::current_num_threads();
    if threads == 1 || parts < PART {
        return lists(keys, items(0..parts));
    }
    // apart by ranges of keys first, in their order
    let buckets = 4 * threads;
    let width = keys.div_ceil(buckets).max(1);
    let apart = |part: usize| {
        let mut apart: Vec<Vec<(u32, T)>> = vec![Vec::new(); buckets];
        items(part * PART..((part + 1) * PART).min(parts)).for_each(|item| apart[item.0 as usize / width].push(item));
        apart
    };
    let apart: Vec<Vec<Vec<(u32, T)>>> = (0..parts.div_ceil(PART)).into_par_iter().map(apart).collect();
    let counts = (0..buckets).map(|b| apart.iter().map(|part| part[b].len()).sum::<usize>());
    let counts: Vec<usize> = counts.collect();
    let (mut starts, mut all) = (vec![0u32; keys + 2], vec![T::default(); counts.iter().sum()]);
    let (mut rest, mut before, mut places) = (&mut all[..], 0u32, Vec::new());
    for (count, starts) in counts.iter().zip(starts.chunks_mut(width)) {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(*count);
        places.push((before, starts, own));
        (rest, before) = (others, before + *count as u32);
    }
    let place = |(b, (before, starts, own)): (usize, (u32, &mut [u32], &mut [T]))| {
        let those = || apart.iter().flat_map(|part| &part[b]);
        let mut ends = vec![0u32; starts.len() + 1];
        those().for_each(|(key, _)| ends[*key as usize - b * width + 1] += 1);
        for k in 1..ends.len() {
            ends[k] += ends[k - 1];
        }
        starts.iter_mut().zip(&ends).for_each(|(start, end)| *start = before + end);
        for (key, item) in those() {
            let at = &mut ends[*key as usize - b * width];
            own[*at as usize] = *item;
            *at += 1;
        }
    };
    places.into_par_iter().enumerate().for_each(|(b, of)| place((b, of)));
    let last = all.len() as u32;
    // keys beyond the last range, and the end
    let filled = (buckets * width).min(keys);
    starts[filled..].fill(last);
    (starts, all)
}

/// Lists some hundred at a time, for all cores: the number of the first, where they start, and what is in them.
pub fn runs<'a, T: Send>(
    starts: &'a [u32],
    all: &'a mut [T],
) -> impl ParallelIterator<Item = (usize, &'a [u32], &'a mut [T])> {
    const LISTS: usize = 1 << 12;
    let (mut some, mut rest) = (Vec::new(), all);
    for first in (0..starts.len().saturating_sub(1)).step_by(LISTS) {
        let starts = &starts[first..(first + LISTS + 1).min(starts.len())];
        let count = (starts[starts.len() - 1] - starts[0]) as usize;
        let (own, others) = std::mem::take(&mut rest).split_at_mut(count);
        some.push((first, starts, own));
        rest = others;
    }
    some.into_par_iter()
}

/// Interleaves the bits of two numbers.
pub fn morton(x: u64, y: u64) -> u64 {
    let spread = |v: u64| {
        let mut v = v & 0xFFFF_FFFF;
        for (shift, mask) in [
            (16, 0x0000_FFFF_0000_FFFF),
            (8, 0x00FF_00FF_00FF_00FF),
            (4, 0x0F0F_0F0F_0F0F_0F0F),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ] {
            v = (v | v << shift) & mask;
        }
        v
    };
    spread(x) | spread(y) << 1
}

/// The two numbers whose bits are interleaved in one.
pub fn place(morton: u64) -> [u32; 2] {
    let gather = |v: u64| {
        let mut v = v & 0x5555_5555_5555_5555;
        for (shift, mask) in [
            (1, 0x3333_3333_3333_3333),
            (2, 0x0F0F_0F0F_0F0F_0F0F),
            (4, 0x00FF_00FF_00FF_00FF),
            (8, 0x0000_FFFF_0000_FFFF),
            (16, 0x0000_0000_FFFF_FFFF),
        ] {
            v = (v | v >> shift) & mask;
        }
        v as u32
    };
    [gather(morton), gather(morton >> 1)]
}

pub use crate::mix::mix;

#[cfg(test)]
mod tests {
    use super::{lists, lists_of_parts, mix, sort};

    #[test]
    fn lists_on_all_cores_are_the_same() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for (keys, parts) in [(1, 100), (7, 70_000), (5000, 100_000), (100_000, 90_001), (3, 0)] {
            // none, one or two items of each part
            let items = |range: std::ops::Range<usize>| {
                range.flat_map(move |i| {
                    (0..i as u64 % 3).map(move |k| ((mix(i as u64 + k) % keys as u64) as u32, i as u64 + k))
                })
            };
            let (mut starts, all) = lists(keys, items(0..parts));
            starts[keys + 1] = all.len() as u32;
            let (mut got, same) = pool.install(|| lists_of_parts(keys, parts, items));
            got[keys + 1] = same.len() as u32;
            assert!((got, same) == (starts, all), "{keys} {parts}");
        }
    }

    #[test]
    fn as_by_comparing() {
        for (count, bits) in [(0, 7), (1, 7), (10, 9), (1000, 0), (5000, 12), (5000, 23), (70_000, 20), (5000, 128)] {
            let mut seed = count as u64;
            let mut random = || {
                seed = mix(seed);
                u128::from(seed) << 64 | u128::from(mix(!seed))
            };
            let mut keys: Vec<u128> = (0..count).map(|_| random() & (u128::MAX >> (128 - bits).min(127))).collect();
            keys.extend(keys.clone()); // and twice
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys);
            assert_eq!(keys, expected);
        }
    }
}
