//! Operations of several stages on the device: sums, sorting, the first of each key.

use super::run::{Failure, Run, Words};
use crate::wgsl::{GROUP, Records, SCAN_BLOCK, SORT_BLOCK, Scan, Sort};

/// Words of a record.
pub const RECORD: u64 = 4;

impl Run<'_> {
    /// Replaces each number by the sum of all before it.
    pub fn scan(&mut self, data: &Words) -> Result<(), Failure> {
        let blocks = data.count.div_ceil(SCAN_BLOCK);
        let totals = self.room(blocks)?;
        let params = Scan { count: data.count as u32, ..Scan::default() };
        self.dispatch("scan", params, &[data, &totals], blocks * GROUP);
        if blocks > 1 {
            self.scan(&totals)?;
            self.dispatch("add_totals", params, &[data, &totals], data.count);
        }
        self.release(totals);
        Ok(())
    }

    /// Sorts records by the bits of some words that vary, the first word last in significance. Equal ones keep their
    /// order.
    pub fn sort(&mut self, records: Words, by: &[(u32, u32)]) -> Result<Words, Failure> {
        let count = records.count / RECORD;
        let blocks = count.div_ceil(SORT_BLOCK);
        let (mut from, mut to) = (records, self.room(RECORD * count)?);
        let digits = self.room(256 * blocks)?;
        for (word, shift) in by.iter().flat_map(|(word, vary)| digits_of(*vary).into_iter().map(|s| (*word, s))) {
            let params = Sort { count: count as u32, blocks: blocks as u32, word, shift };
            self.dispatch("count_digits", params, &[&from, &digits], blocks * GROUP);
            self.scan(&digits)?;
            self.dispatch("scatter", params, &[&from, &to, &digits], blocks * GROUP);
            std::mem::swap(&mut from, &mut to);
        }
        self.release(to);
        self.release(digits);
        Ok(from)
    }

    /// How many records come before each that are the first of their key; last how many there are. And that number.
    pub fn firsts(&mut self, records: &Words, key: [bool; 4]) -> Result<(Words, u64), Failure> {
        let count = records.count / RECORD;
        let firsts = self.room(count + 1)?;
        let key = key.map(|is| if is { u32::MAX } else { 0 });
        let params = Records { count: count as u32, key, ..Records::default() };
        self.dispatch("mark_firsts", params, &[records, &firsts], count + 1);
        self.scan(&firsts)?;
        let of = self.last(&firsts)?;
        Ok((firsts, of))
    }

    /// The last of some numbers.
    pub fn last(&mut self, words: &Words) -> Result<u64, Failure> {
        Ok(self.download(&[(words, words.count - 1, 1)])?[0][0].into())
    }

    /// Where the records of each key start; last how many there are.
    pub fn starts(&mut self, firsts: &Words, count: u64) -> Result<Words, Failure> {
        let starts = self.room(count + 1)?;
        let params = Records { count: firsts.count as u32 - 1, ..Records::default() };
        self.dispatch("list_firsts", params, &[firsts, &starts], firsts.count);
        Ok(starts)
    }

    /// The first record of each key.
    pub fn kept(&mut self, records: &Words, firsts: &Words, count: u64) -> Result<Words, Failure> {
        let kept = self.room(RECORD * count)?;
        let params = Records { count: firsts.count as u32 - 1, ..Records::default() };
        self.dispatch("keep_firsts", params, &[records, firsts, &kept], firsts.count - 1);
        Ok(kept)
    }

    /// A word of each record.
    pub fn column(&mut self, records: &Words, word: u32) -> Result<Words, Failure> {
        let count = records.count / RECORD;
        let column = self.room(count)?;
        let params = Records { count: count as u32, word, ..Records::default() };
        self.dispatch("column", params, &[records, &column], count);
        Ok(column)
    }

    /// Numbers that are all the same.
    pub fn filled(&mut self, count: u64, value: u32) -> Result<Words, Failure> {
        let words = self.room(count)?;
        let params = Records { count: count as u32, value, ..Records::default() };
        self.dispatch("fill", params, &[&words], count);
        Ok(words)
    }
}

/// From which bits on eight are looked at, so that all that vary are.
fn digits_of(vary: u32) -> Vec<u32> {
    let (mut all, mut rest) = (Vec::new(), vary);
    while rest != 0 {
        let shift = rest.trailing_zeros();
        all.push(shift);
        rest &= u32::MAX.checked_shl(shift + 8).unwrap_or(0);
    }
    all
}

/// The bits in which numbers between two can differ.
pub fn between(a: u64, b: u64) -> u64 {
    u64::MAX.checked_shr((a ^ b).leading_zeros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_hold_all_bits_that_vary() {
        assert_eq!(digits_of(0), []);
        assert_eq!(digits_of(u32::MAX), [0, 8, 16, 24]);
        assert_eq!(digits_of(1 << 31 | 0b1010), [1, 31]);
        assert_eq!(digits_of(0x01FF), [0, 8]);
    }

    #[test]
    fn numbers_between_two_differ_below_their_common_bits() {
        assert_eq!(between(5, 5), 0);
        assert_eq!(between(0b1000, 0b1011), 3);
        assert_eq!(between(0, u64::MAX), u64::MAX);
    }
}
