//! The section RAYS: heights that let a ray pass over cells, and what only rays hit.
//!
//! A head, a table of one [`TileRecord`] a tile, and a blob for each. A blob begins as a tile does:
//! its head, at word [`ROOT`](super::ROOT) a node whose `base`, `shift`, `bundles` and `bundle_count` are those of its
//! bundles, at word [`PALETTE`](super::PALETTE) its palette. Then a record for each block of the tile, by the block's
//! number.

use super::{ALIGN, Header, Node, TileRecord, bundle};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First word of every blob, "RAYS".
pub const RAYS_MAGIC: u32 = u32::from_le_bytes(*b"RAYS");
/// Where the table stands in the section, in bytes.
pub const TABLE: usize = size_of::<RaysHead>();
/// Greatest log2 of the unit of extents.
pub const MAX_UNIT: u32 = 25;

/// The bit of a kind of bundle in [`RaysHead::kinds`]; that of the ground says that there are extents.
pub const fn kind_bit(kind: u16) -> u32 {
    1 << (kind & 31)
}

/// All kinds that there are.
pub const KINDS: u32 = kind_bit(bundle::GROUND) | kind_bit(bundle::CEILING) | kind_bit(bundle::OBSTACLE);

/// The first 128 bytes of the section.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct RaysHead {
    /// Entries of the table: the tiles of the image.
    pub tiles: u32,
    /// Kinds that are stored: bit 0 extents, bit 1 ceilings, bit 2 obstacles.
    pub kinds: u32,
    /// Ceilings and obstacles: triangles, each once.
    pub triangles: [u64; 2],
    /// Bundles of all blobs.
    pub bundles: u64,
    /// Least lattice coordinates of ceilings and obstacles, from the origin.
    pub min: [i32; 3],
    /// Greatest lattice coordinates of ceilings and obstacles, from the origin.
    pub max: [i32; 3],
    /// Stated worst cost of a ray of 1, 5, 20 and 100 m over all kinds; zeros if it is not stated.
    pub ray_bound: [[u32; 4]; 4],
    /// Zero.
    pub reserved: [u32; 2],
}

/// The first 128 bytes of a blob. Offsets are in 4-byte words from the blob's start.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct RaysTile {
    /// `RAYS_MAGIC`.
    pub magic: u32,
    /// Number in the tile table.
    pub index: u32,
    /// Tile number in x.
    pub x: i32,
    /// Tile number in y.
    pub y: i32,
    /// Length.
    pub words: u32,
    /// Entries of the palette, which stands at word 40; at most 256.
    pub palette_len: u32,
    /// Where the records stand, a multiple of 16.
    pub records: u32,
    /// Number of records: the blocks of the tile.
    pub blocks: u32,
    /// Triangles in the bundles: ceilings, obstacles.
    pub references: [u32; 2],
    /// Zero.
    pub reserved: [u32; 22],
}

/// Least and greatest heights of eight cells, a byte each, in units of a power of two above a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Extents {
    /// Least and greatest of each cell; 255 and 0 where there is nothing.
    pub cells: [[u8; 2]; 8],
}

impl Extents {
    /// A cell with nothing.
    pub const NOTHING: [u8; 2] = [255, 0];
}

/// The record beside a block: 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct RaysRecord {
    /// Base of the heights of the ground, in lattice steps from the origin.
    pub base: i32,
    /// log2 of their unit in lattice steps.
    pub unit: u32,
    /// Where the walls of the block stand; zero without any.
    pub walls: u32,
    /// Zero.
    pub reserved: u32,
    /// Heights of the ground in each cell.
    pub extents: Extents,
}

impl RaysRecord {
    /// Words of a record.
    pub const WORDS: usize = 8;

    /// Least and greatest height of the ground in a cell, in lattice steps from the origin; the least is greater where
    /// there is none.
    #[inline(always)]
    pub const fn heights(&self, cell: u32) -> [i64; 2] {
        heights(self.base, self.unit, &self.extents, cell)
    }
}

/// Ceilings and obstacles of a block: 40 bytes, and the words of its cells behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Walls {
    /// Base of their heights, in lattice steps from the origin.
    pub base: i32,
    /// log2 of their unit in lattice steps: bits 7..0. The bundle that numbers of words count from, in the blob: bits
    /// 31..8.
    pub unit_and_first: u32,
    /// Heights of ceilings and obstacles in each cell.
    pub extents: Extents,
    /// How many words the cells up to this one have.
    pub ends: [u16; 8],
}

impl Walls {
    /// Words before those of the cells.
    pub const WORDS: usize = 10;

    /// log2 of the unit of heights.
    #[inline(always)]
    pub const fn unit(&self) -> u32 {
        self.unit_and_first & 255
    }

    /// The bundle of the blob that numbers of words count from.
    #[inline(always)]
    pub const fn first(&self) -> u32 {
        self.unit_and_first >> 8
    }

    /// Least and greatest height in a cell, in lattice steps from the origin; the least is greater where there is
    /// nothing.
    #[inline(always)]
    pub const fn heights(&self, cell: u32) -> [i64; 2] {
        heights(self.base, self.unit(), &self.extents, cell)
    }

    /// Which of the words behind this are those of a cell: the first, and the first that is not.
    #[inline(always)]
    pub const fn words_of(&self, cell: u32) -> [usize; 2] {
        let cell = cell as usize & 7;
        [if cell == 0 { 0 } else { self.ends[(cell - 1) & 7] as usize }, self.ends[cell] as usize]
    }
}

#[inline(always)]
const fn heights(base: i32, unit: u32, extents: &Extents, cell: u32) -> [i64; 2] {
    let [low, high] = extents.cells[cell as usize & 7];
    let unit = unit & 31;
    [base as i64 + ((low as i64) << unit), base as i64 + ((high as i64) << unit)]
}

/// A word of [`Walls`]: bits 15..0 the triangles, bits 31..16 the bundle, counted from [`Walls::first`].
pub mod wall {
    /// The triangles that a word names, a bit each.
    #[inline(always)]
    pub const fn mask(w: u32) -> u32 {
        w & 0xFFFF
    }

    /// The bundle.
    #[inline(always)]
    pub const fn number(w: u32) -> u32 {
        w >> 16
    }

    /// A word.
    pub const fn of(number: u16, mask: u16) -> u32 {
        (number as u32) << 16 | mask as u32
    }
}

const _: () = {
    assert!(size_of::<RaysHead>() == ALIGN);
    assert!(size_of::<RaysTile>() == ALIGN);
    assert!(size_of::<TileRecord>() == 64 && size_of::<Node>() == 32);
    assert!(size_of::<RaysRecord>() == 4 * RaysRecord::WORDS);
    assert!(size_of::<Walls>() == 4 * Walls::WORDS);
};

/// The section, as it was opened.
#[derive(Clone, Copy)]
pub(crate) struct Rays<'a> {
    pub head: &'a RaysHead,
    pub table: &'a [TileRecord],
    /// Where it starts: word of the image.
    pub at: usize,
    /// Its words.
    pub words: usize,
}

impl<'a> Rays<'a> {
    /// From the bytes of the section, which start at this word of the image: whole words.
    pub(crate) fn new(header: &Header, bytes: &'a [u8], at: usize) -> Option<Self> {
        let head = RaysHead::ref_from_bytes(bytes.get(..TABLE)?).ok()?;
        let len = size_of::<TileRecord>().checked_mul(header.tile_count as usize)?;
        let table = <[TileRecord]>::ref_from_bytes(bytes.get(TABLE..TABLE.checked_add(len)?)?).ok()?;
        bytes.len().is_multiple_of(ALIGN).then_some(Rays { head, table, at, words: bytes.len() / 4 })
    }
}
