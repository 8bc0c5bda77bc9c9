//! Height fields into patch blocks: 4 x 4 cells of bilinear heights in 32 or 64 bytes.
//!
//! A post shared by blocks is rounded to the coarsest of their scales, so a field has no cracks.

use crate::BuildError;
use crate::lattice::{Field, exp2};
use hardpan::format::{BLOCK_CELLS, PATCH_SHIFT};

/// A field on the lattice: posts in height steps, and the scale of each block.
pub struct Rastered {
    pub zero: [i64; 2],
    pub rate: u64,
    pub up: i64,
    pub cells: [u32; 2],
    /// 0: u8 heights, 1: u16 heights.
    pub class: u8,
    pub material: u16,
    pub source: u16,
    blocks: [usize; 2],
    records: Vec<[u8; 64]>,
}

const SIDE: usize = BLOCK_CELLS as usize;

/// Rounds a field's posts and packs its blocks.
pub fn raster(f: &Field, origin_z: i64, step: [i32; 2]) -> Result<Rastered, BuildError> {
    let field = &f.field;
    let limit = |what: &str| BuildError::Limit(format!("a height field of pitch {} m {what}", field.pitch));
    let pitch = field.pitch * exp2(8 - step[0]); // query steps
    let rate = (exp2(16 + PATCH_SHIFT as i32) / pitch).round_ties_even();
    let up = (field.pitch * exp2(24 - step[0])).round_ties_even();
    if !(1.0..9e18).contains(&rate) || !(1.0..9e18).contains(&up) {
        return Err(limit("is too coarse or too fine for the plan step"));
    }
    let scale_z = exp2(-step[1]);
    let posts: Vec<Option<i64>> = field
        .heights
        .iter()
        .map(|&h| {
            let z = (h * scale_z).round_ties_even();
            (z.abs() < 1e15).then(|| z as i64 - origin_z)
        })
        .collect();
    if posts.iter().flatten().any(|&z| i32::try_from(z).is_err()) {
        return Err(limit("reaches beyond the domain in height"));
    }
    let cells = [field.columns - 1, field.rows - 1];
    let blocks = cells.map(|c| c.div_ceil(SIDE));
    let post = |x: usize, y: usize| posts[y.min(field.rows - 1) * field.columns + x.min(field.columns - 1)];
    // half a scale of error is allowed at a post, and a height step of its own rounding
    let allowed = ((field.tolerance * scale_z) as u64).max(1) as f64 * 2.0;
    let coarsest = (allowed.log2().floor() as u32).min(14);
    let scales_for = |top: i64| -> Option<Vec<u32>> {
        let mut scales = Vec::with_capacity(blocks[0] * blocks[1]);
        for by in 0..blocks[1] {
            for bx in 0..blocks[0] {
                let heights: Vec<i64> = (0..=SIDE)
                    .flat_map(|j| (0..=SIDE).map(move |i| (i, j)))
                    .filter_map(|(i, j)| post(bx * SIDE + i, by * SIDE + j))
                    .collect();
                let range = match (heights.iter().min(), heights.iter().max()) {
                    (Some(low), Some(high)) => high - low,
                    _ => 0,
                };
                // rounding by neighbours' scales may widen the range by one coarsest step at either end
                let scale = (0..=coarsest).find(|&s| (range + (2 << coarsest)) >> s < top)?;
                scales.push(scale);
            }
        }
        Some(scales)
    };
    let (class, scales) = match (scales_for(255), scales_for(65_535)) {
        (Some(s), _) => (0, s),
        (None, Some(s)) => (1, s),
        _ => return Err(limit("is too steep for 16 bits a block; allow a larger tolerance")),
    };
    // the coarsest scale of the blocks that share a post
    let scale_of = &scales;
    let shared = |x: usize, y: usize| {
        let around = |v: usize, n: usize| {
            let b = (v / SIDE).min(n - 1);
            if v.is_multiple_of(SIDE) && b > 0 { b - 1..=b } else { b..=b }
        };
        around(y, blocks[1])
            .flat_map(|j| around(x, blocks[0]).map(move |i| scale_of[j * blocks[0] + i]))
            .max()
            .expect("a post has a block")
    };
    let rounded = &|x: usize, y: usize| -> Option<i64> {
        let (x, y) = (x.min(field.columns - 1), y.min(field.rows - 1));
        let s = shared(x, y);
        let z = post(x, y)?;
        let half = if s == 0 { 0 } else { 1i64 << (s - 1) };
        Some((z + half) >> s << s)
    };
    let mut records = Vec::with_capacity(scales.len());
    for (b, &scale) in scales.iter().enumerate() {
        let (bx, by) = (b % blocks[0] * SIDE, b / blocks[0] * SIDE);
        let heights: Vec<Option<i64>> =
            (0..=SIDE).flat_map(|j| (0..=SIDE).map(move |i| (i, j))).map(|(i, j)| rounded(bx + i, by + j)).collect();
        let base = heights.iter().flatten().min().map_or(0, |z| z >> scale << scale);
        let mut void = 0u16;
        for j in 0..SIDE {
            for i in 0..SIDE {
                let corners = [0, 1, SIDE + 1, SIDE + 2].map(|k| heights[j * (SIDE + 1) + i + k]);
                let beyond = bx + i >= cells[0] || by + j >= cells[1];
                if beyond || corners.contains(&None) {
                    void |= 1 << (j * SIDE + i);
                }
            }
        }
        let mut r = [0u8; 64];
        let base32 = i32::try_from(base).map_err(|_| limit("reaches beyond the domain in height"))?;
        r[..4].copy_from_slice(&base32.to_le_bytes());
        let value = |k: usize| heights[k].map_or(0, |z| (z - base) >> scale);
        if class == 0 {
            r[4] = scale as u8;
            r[5..7].copy_from_slice(&void.to_le_bytes());
            for k in 0..25 {
                r[7 + k] = u8::try_from(value(k)).map_err(|_| limit("has a block that does not fit"))?;
            }
        } else {
            r[4..6].copy_from_slice(&(scale as u16).to_le_bytes());
            r[6..8].copy_from_slice(&void.to_le_bytes());
            for k in 0..25 {
                let v = u16::try_from(value(k)).map_err(|_| limit("has a block that does not fit"))?;
                r[8 + 2 * k..][..2].copy_from_slice(&v.to_le_bytes());
            }
        }
        records.push(r);
    }
    Ok(Rastered {
        zero: f.zero,
        rate: rate as u64,
        up: up as i64,
        cells: cells.map(|c| c as u32),
        class,
        material: field.material,
        source: field.source,
        blocks,
        records,
    })
}

impl Rastered {
    /// Query steps from the origin at which post `i` of an axis is reached.
    fn reach(&self, axis: usize, i: u64) -> i64 {
        let u = u128::from(i) << 16 << PATCH_SHIFT;
        self.zero[axis] + u.div_ceil(u128::from(self.rate)) as i64
    }

    /// The plan extent in steps, rounded outwards.
    pub fn extent(&self) -> [[i64; 2]; 2] {
        let end = [0, 1].map(|a| (self.reach(a, u64::from(self.cells[a])) + 256) >> 8);
        [self.zero.map(|z| z >> 8), end]
    }

    /// Blocks that meet a square, as first and count in x and y; none if they do not.
    pub fn blocks_in(&self, x: i64, y: i64, s: i64) -> Option<([u32; 2], [u16; 2])> {
        let mut first = [0; 2];
        let mut count = [0; 2];
        for (a, low) in [x, y].into_iter().enumerate() {
            let block = |q: i64| -> i64 {
                let q = q - self.zero[a];
                if q < 0 {
                    return -1;
                }
                let u = (q as u128 * u128::from(self.rate)) >> PATCH_SHIFT;
                (u >> 16) as i64 / SIDE as i64
            };
            // a border belongs to both cells, so the cell before it is here too
            let from = block((low << 8) - 1).max(0);
            let last = self.blocks[a] as i64 - 1;
            let end = self.reach(a, u64::from(self.cells[a])) + 1;
            if low << 8 > end || (low + s) << 8 <= self.zero[a] {
                return None;
            }
            let (from, to) = (from.min(last), block((low + s) << 8).min(last));
            if to < from {
                return None;
            }
            first[a] = from as u32;
            count[a] = u16::try_from(to - from + 1).ok()?;
        }
        Some((first, count))
    }

    /// Whether a cell of a part has no ground.
    pub fn has_voids(&self, first: [u32; 2], count: [u16; 2]) -> bool {
        let at = if self.class == 0 { 5 } else { 6 };
        self.part(first, count).any(|r| r[at..at + 2] != [0; 2])
    }

    fn part(&self, first: [u32; 2], count: [u16; 2]) -> impl Iterator<Item = &[u8; 64]> {
        (0..usize::from(count[1])).flat_map(move |j| {
            let row = (first[1] as usize + j) * self.blocks[0] + first[0] as usize;
            &self.records[row..row + usize::from(count[0])]
        })
    }

    /// Bytes of the blocks of a part, row by row.
    pub fn bytes(&self, first: [u32; 2], count: [u16; 2]) -> Vec<u8> {
        let len = if self.class == 0 { 32 } else { 64 };
        self.part(first, count).flat_map(|r| &r[..len]).copied().collect()
    }
}
