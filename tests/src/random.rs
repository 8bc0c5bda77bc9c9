//! Seeded numbers and query positions.

use crate::oracle::{Oracle, Q};
use hardpan::Point;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In `low..=high`.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = (high as i128 - low as i128 + 1) as u128;
        (low as i128 + (u128::from(self.bits()) % span) as i128) as i64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }
}

/// Positions that tell indexes and rounding apart: uniform in the bounds and just outside them; on
/// vertices, edges and insides of random triangles, and one grid unit beside those.
pub fn points(oracle: &Oracle, count: usize, seed: u64) -> Vec<Point> {
    let mut r = Random(seed);
    let [low, high] = oracle.bounds().map(|b| b.map(|c| c * Q));
    let margin = [0, 1, 2].map(|k| ((high[k] - low[k]) / 16).max(2 * Q));
    (0..count)
        .map(|i| {
            let uniform = [0, 1, 2].map(|k| r.within(low[k] - margin[k], high[k] + margin[k]));
            let mut p = uniform;
            if i % 4 != 0 && !oracle.is_empty() {
                let v = oracle.triangle(r.below(oracle.len()));
                let [a, b, c] = [v[r.below(3)], v[r.below(3)], v[r.below(3)]];
                let (s, t) = (r.within(0, Q), if i % 4 == 3 { r.within(0, Q) } else { 0 });
                // a + s/Q (b-a), then t/Q of the rest towards c, rounded down to the grid.
                p = [0, 1, 2].map(|k| {
                    let on = a[k] * Q + s * (b[k] - a[k]);
                    on + ((i128::from(t) * i128::from(c[k] * Q - on)) >> 8) as i64
                });
                if r.below(3) == 0 {
                    p = p.map(|c| c + r.within(-1, 1));
                }
                if r.below(2) == 0 {
                    p[2] = uniform[2];
                }
            }
            Point { x: p[0], y: p[1], z: p[2] }
        })
        .collect()
}
