//! Parts of the plan as squares: what lies in none of them is far from all that was put in, which is quickly seen.

use crate::build::lattice::widened;
use std::ops::Range;

/// log2 of the least and the most squares along a side of a region, and of how many there are for each rectangle.
const SIDES: [u32; 2] = [9, 11];
const EACH: u32 = 10;
/// Most rows of squares that are looked at one by one.
const MAX_ROWS: i64 = 16;

/// A rectangle in plan: its ends.
pub type Flat = [[i64; 2]; 2];

/// Part of the plan: the squares under some rectangles.
pub struct Region {
    low: [i64; 2],
    log2: u32,
    /// log2 of how many squares lie along a side.
    side: u32,
    /// Bit by bit, row by row.
    some: Vec<u64>,
}

impl Region {
    pub fn new(all: &[Flat]) -> Region {
        let [low, high] = all.iter().copied().reduce(widened).unwrap_or_default();
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        let side = ((all.len().max(1).ilog2() + EACH) / 2).clamp(SIDES[0], SIDES[1]);
        let log2 = (0..).find(|log2| extent >> log2 < 1 << side).expect("some power of two is larger");
        let mut region = Region { low, log2, side, some: vec![0; 1 << (2 * side - 6)] };
        for &flat in all {
            let [columns, rows] = region.squares(flat);
            for (i, mask) in rows.flat_map(|y| words(side, &columns, y)) {
                region.some[i] |= mask;
            }
        }
        region
    }

    /// Columns and rows of the squares under a rectangle.
    fn squares(&self, [from, to]: Flat) -> [Range<i64>; 2] {
        let at = |v: i64, k: usize| (v - self.low[k]) >> self.log2;
        [0, 1].map(|k| at(from[k], k).max(0)..at(to[k], k).min((1 << self.side) - 1) + 1)
    }

    /// Whether some of it lies in the squares under a rectangle, as far as those are few.
    pub fn may_meet(&self, flat: Flat) -> bool {
        let [columns, rows] = self.squares(flat);
        !columns.is_empty() && !rows.is_empty() && (rows.end - rows.start > MAX_ROWS || self.meets(flat))
    }

    /// Whether some of it lies in the squares under a rectangle.
    pub fn meets(&self, flat: Flat) -> bool {
        let [columns, mut rows] = self.squares(flat);
        !columns.is_empty() && rows.any(|y| words(self.side, &columns, y).any(|(i, mask)| self.some[i] & mask != 0))
    }

    /// Whether all squares under a rectangle are part of it.
    pub fn surrounds(&self, flat: Flat) -> bool {
        let within = |k: usize| flat[0][k] >= self.low[k] && (flat[1][k] - self.low[k]) >> self.log2 < 1 << self.side;
        let [columns, mut rows] = self.squares(flat);
        let all = |y: i64| words(self.side, &columns, y).all(|(i, mask)| self.some[i] & mask == mask);
        within(0) && within(1) && rows.all(all)
    }
}

/// Where the bits of some columns of a row stand, for so many squares along a side.
fn words(side: u32, columns: &Range<i64>, y: i64) -> impl Iterator<Item = (usize, u64)> + use<> {
    let [from, to] = [columns.start, columns.end].map(|x| ((y << side) + x) as usize);
    (from / 64..to.div_ceil(64)).map(move |i| {
        let cut = [from.saturating_sub(64 * i), (64 * i + 64).saturating_sub(to)];
        (i, u64::MAX << cut[0] & u64::MAX >> cut[1])
    })
}

/// A rectangle, and what lies around it.
pub fn wider([low, high]: Flat, by: i64) -> Flat {
    [low.map(|v| v - by), high.map(|v| v + by)]
}

/// The ends of places in plan.
pub fn ends_of(places: &[[i32; 3]]) -> Flat {
    let ends = places.iter().map(|&[x, y, _]| [[x, y]; 2]).reduce(widened).expect("some places");
    ends.map(|end| end.map(i64::from))
}
