//! Sorting large arrays of numbers, and lists by key.
//!
//! Numbers are sorted apart by their leading bits, until few are left to compare.

/// Keys that are better compared.
const FEW: usize = 32;
/// About as many keys as go together, and most of the bits that they are told apart by at once.
const TOGETHER: u32 = 2;
const MOST_BITS: u32 = 11;

/// Sorts keys, fewer than 2^32.
pub fn sort(keys: &mut [u128]) {
    if keys.len() > FEW {
        apart(keys, &mut vec![0; keys.len()]);
    } else {
        keys.sort_unstable();
    }
}

/// Sorts keys with room for as many.
fn apart(keys: &mut [u128], room: &mut [u128]) {
    if keys.len() <= FEW || keys.is_sorted() {
        return keys.sort_unstable();
    }
    let (all, any) = keys.iter().fold((u128::MAX, 0), |(all, any), k| (all & k, any | k));
    let Some(highest) = (all ^ any).checked_ilog2() else { return };
    let bits = (keys.len().ilog2() - TOGETHER).min(MOST_BITS).min(highest + 1);
    let low = highest + 1 - bits;
    let digit = |k: u128| (k >> low) as usize & ((1 << bits) - 1);
    let mut ends = [0u32; 1 << MOST_BITS];
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

/// A mix of 64 bits (the finaliser of SplitMix64).
pub fn mix(v: u64) -> u64 {
    let v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ v >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ v >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ v >> 31
}

#[cfg(test)]
mod tests {
    use super::{mix, sort};

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
