//! Estimates the least that a rule of VS Terrain asks for in a tile, before anything is built.
//!
//! Triangles that hang together across edges are a *sheet* of a square if none of their edges ends within it: then they
//! cover all of it. A square within meets all its sheets, so the rule divides it at least as far as their number and
//! heights ask for.

use super::bundle::{ALONE, Tri, neighbours};
use super::cells::block_bytes;
use super::rule::Rule;
use crate::build::error::BuildError;
use hardpan::format::block;

/// How often squares of a tile are quartered to find sheets.
const QUARTERED: u32 = 5;
/// Bytes that no rule may ask for, of which many threads can count as many as there are.
const ENOUGH: u64 = 1 << 50;

/// Counts the least bytes of index that a rule asks for in a tile, whose squares may be halved so often. An error if
/// those of all tiles are more than may be.
pub fn index_estimate(rule: &Rule, tris: &[Tri], low: [i64; 2], log2: u32, most: u32) -> Result<(), BuildError> {
    let all: Vec<u32> = (0..tris.len() as u32).collect();
    if rule.accepts(log2, tris.iter().copied()) {
        return Ok(());
    }
    let mut seen = Seen { tris, beside: neighbours(tris), round: vec![0; tris.len()], rounds: 0, next: Vec::new() };
    seen.square(rule, &all, low, log2, [QUARTERED, most])
}

/// The triangles of a tile, and which of them have been seen.
struct Seen<'a> {
    tris: &'a [Tri],
    /// Across each edge of a triangle, or [`ALONE`].
    beside: Vec<[u32; 3]>,
    /// The last round that saw each.
    round: Vec<u32>,
    rounds: u32,
    next: Vec<u32>,
}

/// Sheets of a square.
struct Sheets {
    count: u32,
    /// Number of connected parts, sheets or not.
    parts: u32,
    /// Steps between the highest and the lowest corner that triangles over any place of it have, at least, and at most.
    height: [u32; 2],
}

impl Seen<'_> {
    /// As [`index_estimate`], of a square that is not accepted; it may be quartered and halved so often.
    fn square(
        &mut self,
        rule: &Rule,
        tris: &[u32],
        [x, y]: [i64; 2],
        log2: u32,
        [depth, most]: [u32; 2],
    ) -> Result<(), BuildError> {
        let sheets = self.sheets(tris, [x, y], 1 << log2);
        let halved = |count: u32, height: u32| {
            let divided = |k: &u32| !rule.takes(log2 - k, u64::from(count), || height);
            (0..log2.saturating_sub(2).min(most)).take_while(divided).count() as u32
        };
        let [least, greatest] = [halved(sheets.count, sheets.height[0]), halved(sheets.parts, sheets.height[1])];
        if depth == 0 || most == 0 || least == greatest {
            // no two triangles over one place are in one bundle, and each cell has a word for each
            let bytes = (block_bytes(block::CELLS * sheets.count as usize) as u64).saturating_mul(1 << (2 * least));
            return if least == 0 { Ok(()) } else { rule.take(bytes.min(ENOUGH)) };
        }
        let half = 1 << (log2 - 1);
        for low in [[x, y], [x + half, y], [x, y + half], [x + half, y + half]] {
            let met = |t: &u32| self.tris[*t as usize].plan.meets(low, [half; 2]);
            let met: Vec<u32> = tris.iter().copied().filter(met).collect();
            if !rule.accepts(log2 - 1, met.iter().map(|&t| self.tris[t as usize])) {
                self.square(rule, &met, low, log2 - 1, [depth - 1, most - 1])?;
            }
        }
        Ok(())
    }

    /// The sheets of a square of this side, of triangles that meet it.
    fn sheets(&mut self, tris: &[u32], low: [i64; 2], side: i64) -> Sheets {
        self.rounds += 1;
        let (mut count, mut parts) = (0, 0);
        let ([mut top, mut bottom], [mut highest, mut lowest]) = ([i32::MIN, i32::MAX], [i32::MIN, i32::MAX]);
        for &first in tris {
            if self.round[first as usize] == self.rounds || !self.tris[first as usize].plan.enters(low, side) {
                continue;
            }
            self.round[first as usize] = self.rounds;
            self.next.push(first);
            let mut whole = true;
            // the lowest of the highest corners of its triangles, and the highest of the lowest
            let [mut high, mut deep] = [i32::MAX, i32::MIN];
            while let Some(t) = self.next.pop() {
                let tri = &self.tris[t as usize];
                let [a, b, c] = tri.z;
                let ends = [a.max(b).max(c), a.min(b).min(c)];
                (high, deep) = (high.min(ends[0]), deep.max(ends[1]));
                (highest, lowest) = (highest.max(ends[0]), lowest.min(ends[1]));
                for k in (0..3).filter(|&k| tri.plan.edge_enters(k, low, side)) {
                    let other = self.beside[t as usize][k];
                    whole &= other != ALONE;
                    if other != ALONE && self.round[other as usize] != self.rounds {
                        self.round[other as usize] = self.rounds;
                        self.next.push(other);
                    }
                }
            }
            parts += 1;
            if whole {
                count += 1;
                (top, bottom) = (top.max(high), bottom.min(deep));
            }
        }
        let least = if top > bottom { top.abs_diff(bottom) } else { 0 };
        Sheets { count, parts, height: [least, if parts > 0 { highest.abs_diff(lowest) } else { 0 }] }
    }
}
