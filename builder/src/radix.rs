//! Sorting by digits: large arrays of keys of which few bits differ.

/// Bits of a digit.
const DIGIT: u32 = 11;
/// Keys that are better compared.
const FEW: usize = 256;

/// Sorts keys, fewer than 2^32, by their bits from `from` on; keys that are equal there stay in their order.
pub fn sort(keys: &mut Vec<u128>, from: u32) {
    if keys.len() < FEW {
        return keys.sort_by_key(|k| k >> from);
    }
    let (all, any) = keys.iter().fold((u128::MAX, 0), |(all, any), k| (all & k, any | k));
    let mut differing = (all ^ any) >> from << from;
    let mut lows = Vec::new();
    while differing != 0 {
        lows.push(differing.trailing_zeros());
        differing = differing >> lows[lows.len() - 1] >> DIGIT << DIGIT << lows[lows.len() - 1];
    }
    let digit = |k: u128, low: u32| (k >> low) as usize & ((1 << DIGIT) - 1);
    let mut counts = vec![[0u32; 1 << DIGIT]; lows.len()];
    for &k in &*keys {
        counts.iter_mut().zip(&lows).for_each(|(counts, &low)| counts[digit(k, low)] += 1);
    }
    let mut sorted = vec![0; if lows.is_empty() { 0 } else { keys.len() }];
    for (mut next, low) in counts.into_iter().zip(lows) {
        let mut before = 0;
        for n in &mut next {
            (*n, before) = (before, before + *n);
        }
        for &k in &*keys {
            let at = &mut next[digit(k, low)];
            sorted[*at as usize] = k;
            *at += 1;
        }
        std::mem::swap(keys, &mut sorted);
    }
}

#[cfg(test)]
mod tests {
    use super::sort;
    use crate::mesh::mix;

    #[test]
    fn as_by_comparing() {
        for (count, bits, from) in [(0, 7, 0), (10, 9, 3), (1000, 0, 0), (5000, 12, 0), (5000, 23, 5), (5000, 128, 0)] {
            let mut seed = count as u64;
            let mut random = || {
                seed = mix(seed);
                u128::from(seed) << 64 | u128::from(mix(!seed))
            };
            let mut keys: Vec<u128> = (0..count).map(|_| random() & (u128::MAX >> (128 - bits).min(127))).collect();
            let mut expected = keys.clone();
            expected.sort_by_key(|k| k >> from);
            sort(&mut keys, from);
            assert_eq!(keys, expected);
        }
    }
}
