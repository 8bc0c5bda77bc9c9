//! Sorting large arrays of numbers: apart by their leading bits, until few are left to compare.

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

#[cfg(test)]
mod tests {
    use super::sort;
    use crate::mesh::mix;

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
