//! Sorting by digits: large arrays of keys of which few bits differ.

/// Bits of a digit.
const DIGIT: u32 = 11;
/// Keys that are better compared.
const FEW: usize = 256;

/// Sorts keys by their bits from `from` on; keys that are equal there stay in their order.
pub fn sort(keys: &mut Vec<u128>, from: u32) {
    if keys.len() < FEW {
        return keys.sort_by_key(|k| k >> from);
    }
    let (all, any) = keys.iter().fold((u128::MAX, 0), |(all, any), k| (all & k, any | k));
    let mut differing = (all ^ any) >> from << from;
    let mut sorted = vec![0; if differing == 0 { 0 } else { keys.len() }];
    while differing != 0 {
        let low = differing.trailing_zeros();
        let digit = |k: u128| (k >> low) as usize & ((1 << DIGIT) - 1);
        let mut next = [0usize; 1 << DIGIT];
        keys.iter().for_each(|&k| next[digit(k)] += 1);
        let mut before = 0;
        for n in &mut next {
            (*n, before) = (before, before + *n);
        }
        for &k in &*keys {
            let at = &mut next[digit(k)];
            sorted[*at] = k;
            *at += 1;
        }
        std::mem::swap(keys, &mut sorted);
        differing = differing >> low >> DIGIT << DIGIT << low;
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
