//! Tiles: the head, and the palette.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First word of every tile, "TILE".
pub const TILE_MAGIC: u32 = u32::from_le_bytes(*b"TILE");
/// Word of a tile at which its root node stands.
pub const ROOT: usize = 32;
/// Word of a tile at which its palette stands.
pub const PALETTE: usize = 40;

/// Most entries of a palette.
pub const MAX_PALETTE: usize = 256;

/// The first 128 bytes of a tile; its root node follows. Offsets are in 4-byte words from the tile's start.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Tile {
    /// `TILE_MAGIC`.
    pub magic: u32,
    /// Number in the tile table.
    pub index: u32,
    /// Tile number in x.
    pub x: i32,
    /// Tile number in y.
    pub y: i32,
    /// Length.
    pub words: u32,
    /// Zero.
    pub reserved0: u32,
    /// Entries of the palette, which stands at word 40; at most 256.
    pub palette_len: u32,
    /// Where the patch records stand.
    pub patches: u32,
    /// Number of patch records.
    pub patch_count: u32,
    /// Where the bundles stand, in 128-byte units.
    pub bundles: u32,
    /// Number of bundles.
    pub bundle_count: u32,
    /// Triangles in the bundles.
    pub references: u32,
    /// Least height, in lattice steps.
    pub min_z: i32,
    /// Greatest height, in lattice steps.
    pub max_z: i32,
    /// Most layers over any place, an upper bound.
    pub max_layers: u32,
    /// Zero.
    pub reserved1: u32,
    /// Stated worst cost: nodes, leaves, tests, lines.
    pub bound: [u32; 4],
    /// Error against the source in plan and height, metres.
    pub error: [f64; 2],
    /// Zero.
    pub reserved2: [u32; 8],
}

/// Attributes of all triangles of a bundle, or of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Attribute {
    /// Index into the material table.
    pub material: u16,
    /// Index into the source table.
    pub source: u16,
    /// Zero: [`Attribute::THIN`] has its place here, and no image of this version has it.
    pub flags: u32,
}

impl Attribute {
    /// [`Attribute::flags`]: triangles so thin that their slope is their neighbour's.
    pub const THIN: u32 = 1;

    /// From the two words of an entry.
    #[inline(always)]
    pub const fn of_words([pair, flags]: [u32; 2]) -> Self {
        Attribute { material: pair as u16, source: (pair >> 16) as u16, flags }
    }

    /// The two words of an entry.
    pub const fn words(&self) -> [u32; 2] {
        [self.material as u32 | (self.source as u32) << 16, self.flags]
    }
}

const _: () = {
    assert!(size_of::<Tile>() == 128);
    assert!(size_of::<Attribute>() == 8);
};
