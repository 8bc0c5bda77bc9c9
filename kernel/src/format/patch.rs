//! Parts of height fields, and their blocks.

use super::FRACTION;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A part of a regular grid of heights: cells of one pitch, four by four to a block, rows from the south.
///
/// A place `q` query steps from the corner of the square of 2^`PATCH_LOG2` plan steps that holds the tile lies at
/// `start + floor(q * rate / 2^32)`, in 2^-32 cells: the cell, counted from `first`, and a fraction of which 16 bits
/// count.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Patch {
    /// 2^-64 cells in a query step, low half first: 1 to 2^56.
    pub rate: [u32; 2],
    /// Where q is zero, in x and y: the fraction of a cell in 2^-32.
    pub start: [u32; 2],
    /// Number of the part's first cell, in x and y, counted from the cell where q is zero.
    pub first: [u32; 2],
    /// Cells of the part, in x and y.
    pub cells: [u32; 2],
    /// 0: blocks of 32 bytes with u8 posts; 1: blocks of 64 bytes with u16 posts.
    pub class: u8,
    /// 0: bilinear.
    pub interpolation: u8,
    /// 1 if a post of the part has no height: then a neighbouring cell may have ground on a common border.
    pub voids: u8,
    /// 1 if the tile is larger than 2^`PATCH_LOG2` steps: then q is relative to the origin.
    pub wide: u8,
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
    /// Zero.
    pub reserved1: [u32; 2],
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

    /// Class and what is special: zero and one are the two classes, bilinear, without voids, in a tile that is not
    /// wide.
    #[inline(always)]
    pub const fn special(&self) -> u32 {
        u32::from_le_bytes([self.class, self.interpolation, self.voids, self.wide])
    }

    /// Words of a block.
    pub const fn block_words(&self) -> usize {
        if self.class == 0 { 8 } else { 16 }
    }

    /// Bytes of a post.
    pub const fn post_bytes(&self) -> usize {
        if self.class == 0 { 1 } else { 2 }
    }

    /// Most cells that one query reads.
    pub const fn reads(&self) -> u32 {
        if self.voids == 0 { 1 } else { 4 }
    }

    /// Blocks of the part.
    pub const fn block_count(&self) -> usize {
        (self.blocks as usize).saturating_mul(self.cells[1].div_ceil(BLOCK_CELLS) as usize)
    }
}

/// log2 of the plan steps that a place on the query grid can tell apart in 32 bits.
pub const PATCH_LOG2: u32 = 32 - FRACTION;
/// Least and greatest unit of a block's posts, in 2^-8 height steps.
pub const PATCH_UNITS: core::ops::RangeInclusive<u32> = 1 << 8..=1 << 22;
/// Cells along a block's side.
pub const BLOCK_CELLS: u32 = 4;
/// Posts of a block.
pub const BLOCK_POSTS: usize = 25;
/// Byte of a block at which its posts begin, by class.
pub const POSTS_AT: [usize; 2] = [7, 8];

/// The unit of a block's posts, from the block's second word, by class.
#[inline(always)]
pub const fn block_unit(class: u32, second: u32) -> u32 {
    if class == 0 { second & 0xFF_FFFF } else { second }
}

const _: () = {
    assert!(size_of::<Patch>() == 64);
};
