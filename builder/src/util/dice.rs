//! Random numbers that are the same everywhere.

use super::mix;

/// Random numbers, the same every time: SplitMix64.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> u64 {
        let drawn = mix(self.0);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        drawn
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Within `reach` of zero on each axis.
    pub fn point(&mut self, reach: [f64; 3]) -> [f64; 3] {
        reach.map(|r| r * (2.0 * self.unit() - 1.0))
    }
}
