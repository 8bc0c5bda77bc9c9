//! Parts of height fields, and their blocks.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// The part of a height field that a tile holds: cells of one pitch, four by four to a block, rows from the south.
///
/// A place `q`, in query steps from the origin, lies at `(q - from) * rate / 2^32`, rounded down, in 2^-32 cells from
/// the field's first post: the cell, and a fraction of which 16 bits count. All parts of a field have the same `from`
/// and `rate`, so no tile decides an answer.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Patch {
    /// 2^-64 cells in a query step, low half first: 1 to 2^56.
    pub rate: [u32; 2],
    /// The first post of the field in x and in y, in query steps from the origin, low half first.
    pub from: [[u32; 2]; 2],
    /// Number of the part's first cell in the field, in x and y.
    pub first: [u32; 2],
    /// Cells of the part, in x and y.
    pub cells: [u32; 2],
    /// 0: blocks of 32 bytes with u8 posts; 1: blocks of 64 bytes with u16 posts.
    pub class: u8,
    /// 0: bilinear.
    pub interpolation: u8,
    /// 1 if a post of the part has no height: then a neighbouring cell may have ground on a common border.
    pub voids: u8,
    /// 1 if a block of 32 bytes may name a long one.
    pub long: u8,
    /// Blocks in a row of the part.
    pub blocks: u32,
    /// Where the part's blocks stand, row by row, in units of their size from the tile's start.
    pub place: u32,
    /// Palette entry.
    pub attribute: u8,
    /// Zero.
    pub reserved0: [u8; 3],
    /// The up component of every normal: 2^24 times the pitch in plan steps, low half first.
    pub up: [u32; 2],
}

/// The 64 bits of a number that stands as two words.
#[inline(always)]
pub const fn joined([low, high]: [u32; 2]) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A number of 64 bits as two words.
pub const fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

impl Patch {
    /// 2^-64 cells in a query step.
    pub const fn cells_a_step(&self) -> u64 {
        joined(self.rate)
    }

    /// The up component of every normal.
    pub const fn upward(&self) -> u64 {
        joined(self.up)
    }

    /// The field's first post along an axis, in query steps from the origin.
    #[inline(always)]
    pub const fn from(&self, axis: usize) -> i64 {
        joined(self.from[axis & 1]) as i64
    }

    /// Class and all that the short way to a height leaves out: at most one without voids.
    #[inline(always)]
    pub const fn special(&self) -> u32 {
        u32::from_le_bytes([self.class, self.interpolation, self.voids, 0])
    }

    /// Words of a block.
    pub const fn block_words(&self) -> usize {
        BLOCK_WORDS[(self.class & 1) as usize]
    }

    /// Most cells that one query reads.
    pub const fn reads(&self) -> u32 {
        if self.voids == 0 { 1 } else { 4 }
    }

    /// Most 64-byte lines that one query reads.
    pub const fn lines(&self) -> u32 {
        if self.long == 0 { self.reads() } else { 2 * self.reads() }
    }

    /// Blocks of the part.
    pub const fn block_count(&self) -> usize {
        (self.blocks as usize).saturating_mul(self.cells[1].div_ceil(BLOCK_CELLS) as usize)
    }

    /// A block by its number in the part, from the words of its tile: the block itself, or the long one that it names.
    pub fn block<'a>(&self, tile: &'a [u32], number: usize) -> Option<PatchBlock<'a>> {
        let class = (self.class & 1) as usize;
        let at = (self.place as usize).checked_add(number)?.checked_mul(BLOCK_WORDS[class])?;
        let words = tile.get(at..)?.get(..BLOCK_WORDS[class])?;
        match words {
            [place, second, ..] if class == 0 && block_scale(*second) == LONG => {
                let at = (*place as usize).checked_mul(BLOCK_WORDS[1])?;
                Some(PatchBlock { class: 1, words: tile.get(at..)?.get(..BLOCK_WORDS[1])? })
            }
            _ => Some(PatchBlock { class, words }),
        }
    }
}

/// A block that has posts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PatchBlock<'a> {
    /// 0: u8 posts; 1: u16 posts.
    pub class: usize,
    /// All of it.
    pub words: &'a [u32],
}

impl PatchBlock<'_> {
    fn word(&self, i: usize) -> u32 {
        self.words.get(i).copied().unwrap_or(0)
    }

    /// What its posts count from, in 2^-8 height steps.
    pub fn base(&self) -> i64 {
        i64::from(self.word(0) as i32) << super::FRACTION
    }

    /// log2 of its unit in 2^-8 height steps.
    pub fn scale(&self) -> u32 {
        block_scale(self.word(1))
    }

    /// A post as it is stored: row by row from the south-west.
    #[inline(always)]
    pub fn post(&self, k: usize) -> u32 {
        let class = self.class & 1;
        let at = POSTS_AT[class].wrapping_add(k << class);
        self.word(at / 4) >> (8 * (at & 3)) & NO_POST[class]
    }

    /// The height of a post in 2^-8 height steps from the origin; none of a post without one.
    pub fn height(&self, k: usize) -> Option<i64> {
        let post = self.post(k);
        let rise = i64::from(post) << (self.scale() & 31);
        (post != NO_POST[self.class & 1]).then(|| self.base().wrapping_add(rise))
    }
}

/// Least and greatest log2 of the unit of a block's posts, in 2^-8 height steps.
pub const PATCH_SCALES: core::ops::RangeInclusive<u32> = 8..=24;
/// The scale of a block of 32 bytes that names a long one by its first word.
pub const LONG: u32 = 0xFF;
/// The post that is no height, by class.
pub const NO_POST: [u32; 2] = [0xFF, 0xFFFF];
/// Words of a block, by class.
pub const BLOCK_WORDS: [usize; 2] = [8, 16];
/// Cells along a block's side.
pub const BLOCK_CELLS: u32 = 4;
/// Posts of a block.
pub const BLOCK_POSTS: usize = 25;
/// Byte of a block at which its posts begin, by class.
pub const POSTS_AT: [usize; 2] = [7, 8];

/// log2 of the unit of a block's posts, or [`LONG`], from the block's second word.
#[inline(always)]
pub const fn block_scale(second: u32) -> u32 {
    second & 0xFF
}

const _: () = {
    assert!(size_of::<Patch>() == 64);
};
