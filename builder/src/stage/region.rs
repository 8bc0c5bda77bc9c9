//! Parts of the plan as squares: what lies in none of them is far from all that was put in, which is quickly seen.

use crate::lattice::widened;

/// Squares along a side of a region, and most of them that are looked at one by one.
const SIDE: i64 = 512;
const FEW: i64 = 16;

/// A rectangle in plan: its ends.
pub type Flat = [[i64; 2]; 2];

/// Part of the plan: the squares under some rectangles.
pub struct Region {
    low: [i64; 2],
    log2: u32,
    /// Bit by bit, row by row.
    some: Vec<u64>,
}

impl Region {
    pub fn new(all: &[Flat]) -> Region {
        let [low, high] = all.iter().copied().reduce(widened).unwrap_or_default();
        let extent = (high[0] - low[0]).max(high[1] - low[1]);
        let log2 = (0..).find(|log2| extent >> log2 < SIDE).expect("some power of two is larger");
        let mut region = Region { low, log2, some: vec![0; (SIDE * SIDE / 64) as usize] };
        for &flat in all {
            let [columns, rows] = region.squares(flat);
            for i in rows.flat_map(|y| columns.clone().map(move |x| (y * SIDE + x) as usize)) {
                region.some[i / 64] |= 1 << (i % 64);
            }
        }
        region
    }

    /// Columns and rows of the squares under a rectangle.
    fn squares(&self, [from, to]: Flat) -> [std::ops::Range<i64>; 2] {
        let at = |v: i64, k: usize| (v - self.low[k]) >> self.log2;
        [0, 1].map(|k| at(from[k], k).max(0)..at(to[k], k).min(SIDE - 1) + 1)
    }

    /// Whether some of it lies in the squares under a rectangle, as far as those are few.
    pub fn may_meet(&self, flat: Flat) -> bool {
        let [columns, rows] = self.squares(flat);
        if columns.is_empty() || rows.is_empty() {
            return false;
        }
        if (columns.end - columns.start) * (rows.end - rows.start) <= FEW {
            return self.meets(flat);
        }
        true
    }

    /// Whether some of it lies in the squares under a rectangle.
    pub fn meets(&self, flat: Flat) -> bool {
        let [columns, mut rows] = self.squares(flat);
        rows.any(|y| columns.clone().any(|x| self.has(x, y)))
    }

    /// Whether all squares under a rectangle are part of it.
    pub fn surrounds(&self, flat: Flat) -> bool {
        let within = |end: [i64; 2]| (0..2).all(|k| (0..SIDE).contains(&((end[k] - self.low[k]) >> self.log2)));
        let [columns, mut rows] = self.squares(flat);
        flat.into_iter().all(within) && rows.all(|y| columns.clone().all(|x| self.has(x, y)))
    }

    fn has(&self, x: i64, y: i64) -> bool {
        let i = (y * SIDE + x) as usize;
        self.some[i / 64] >> (i % 64) & 1 == 1
    }
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
