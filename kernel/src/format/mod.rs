//! The image, declared once: what the builder writes and the kernel reads.
//!
//! All numbers are little-endian; all references are offsets; every reserved byte is zero.
//! `kernel/FORMAT.md` says the same in tables, and a test holds the two together.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First bytes of every image.
pub const MAGIC: [u8; 8] = *b"HARDPAN\n";
/// The version of the format that this crate writes.
pub const VERSION: u16 = 1;
/// The oldest format version that this crate reads.
pub const LEAST_VERSION: u16 = 1;
/// Alignment of an image in memory and of the records that hold bundles, in bytes.
pub const ALIGN: usize = 128;
/// Length of the head: header and section table.
pub const HEAD_LEN: usize = size_of::<Header>();
/// First word of every tile, "TILE".
pub const TILE_MAGIC: u32 = u32::from_le_bytes(*b"TILE");
/// Fraction bits of a query position below the lattice step, and of an answer below the height step.
pub const FRACTION: u32 = 8;
/// Most nodes between a tile's root and a leaf; no image may need more.
pub const MAX_DEPTH: u32 = 24;
/// Most cell words over one place; no image may have more.
pub const MAX_WORDS: u32 = 1 << 20;
/// Number of places in the section table.
pub const SECTIONS: usize = 8;

/// Fall-back values of `z` where there is no ground (VS Terrain's: the bottom of the bounding box).
pub mod fallback {
    /// The lower end of the bounding box.
    pub const BOUNDS_MIN_Z: u32 = 0;
    /// The header's `default_z`.
    pub const DEFAULT: u32 = 1;
    /// No value of its own: `default_z`, and nothing should use it.
    pub const MISS: u32 = 2;
    /// The height at the nearest place of the bounding rectangle, else its bottom.
    pub const EDGE_EXTEND: u32 = 3;
}

/// Surface types with a meaning of their own; all other numbers are the user's.
pub mod surface {
    /// Dry pavement.
    pub const DRY: u16 = 0;
    /// Wet pavement.
    pub const WET: u16 = 1;
    /// Grass.
    pub const GRASS: u16 = 2;
    /// Dirt.
    pub const DIRT: u16 = 3;
    /// Gravel.
    pub const GRAVEL: u16 = 4;
    /// Rumble strip.
    pub const RUMBLE_STRIP: u16 = 5;
    /// Ice.
    pub const ICE: u16 = 16;
    /// Snow.
    pub const SNOW: u16 = 17;
    /// Clay, whose cone index counts.
    pub const CLAY: u16 = 18;
    /// Sand, whose cone index counts.
    pub const SAND: u16 = 19;
    /// Cone index of clay and sand where none is stated, PSI.
    pub const CONE_INDEX: f64 = 250.0;
}

/// Section kinds.
pub mod section {
    /// `[Material]`.
    pub const MATERIALS: u32 = 1;
    /// UTF-8 names.
    pub const NAMES: u32 = 2;
    /// `[Source]`.
    pub const SOURCES: u32 = 3;
    /// `[u32]`: one entry a page, row by row.
    pub const DIRECTORY: u32 = 4;
    /// `[u32]`: one entry a tile slot of each page that is present.
    pub const PAGES: u32 = 5;
    /// `[TileRecord]`, in Morton order.
    pub const TILE_TABLE: u32 = 6;
    /// The tiles.
    pub const TILES: u32 = 7;
    /// Where the content came from; outside the identity.
    pub const PROVENANCE: u32 = 8;
    /// Flag: a reader that does not know this kind must refuse the image.
    pub const MUST_UNDERSTAND: u32 = 1;
    /// Flag: part of the identity.
    pub const CONTENT: u32 = 2;
}

/// Entries of directory and pages. 0 and all ones are never valid: blank and erased memory read as damage.
pub mod slot {
    /// Covered by the image, and without ground.
    pub const EMPTY: u32 = 1;
    /// Not covered by this image.
    pub const NOT_IN_IMAGE: u32 = 2;
    /// Something a newer reader knows.
    pub const NOT_UNDERSTOOD: u32 = 3;
    /// First value that is a reference: a page's number, or a tile's place in 128-byte units, plus this.
    pub const FIRST: u32 = 16;
}

/// Entries of a node: three bits of kind, 29 bits of place.
pub mod entry {
    /// Where the kind stands.
    pub const SHIFT: u32 = 29;
    /// Where the place stands.
    pub const PLACE: u32 = (1 << SHIFT) - 1;
    /// No ground (place 1), not in this image (2), not understood (3).
    pub const CODE: u32 = 1;
    /// A node: word offset in the tile.
    pub const NODE: u32 = 2;
    /// A block of 4 x 2 cells: word offset in the tile.
    pub const BLOCK: u32 = 3;
    /// One patch and nothing else: word offset of its record in the tile.
    pub const PATCH: u32 = 4;
    /// The entry of a place without ground.
    pub const EMPTY: u32 = CODE << SHIFT | 1;
    /// The entry of a place that this image does not cover.
    pub const NOT_IN_IMAGE: u32 = CODE << SHIFT | 2;
    /// The entry of a place that only a newer reader knows.
    pub const NOT_UNDERSTOOD: u32 = CODE << SHIFT | 3;
}

/// Layout of a block: 16 words, one 64-byte line, for 4 x 2 cells.
pub mod block {
    /// Words of a block.
    pub const WORDS: usize = 16;
    /// Cells, row by row from the south.
    pub const CELLS: usize = 8;
    /// log2 of the cells along x and y.
    pub const CELLS_LOG2: [u32; 2] = [2, 1];
    /// The word that holds, four bits a cell, how many words follow its home word.
    pub const COUNTS: usize = 8;
    /// The word that says where the tail stands: word offset in the tile. In a block that is a node's place, the node.
    pub const TAIL: usize = 9;
    /// The first further words, cell after cell; the others stand in the tail.
    pub const FURTHER: usize = 10;
    /// How many further words stand in the block.
    pub const INLINE: usize = WORDS - FURTHER;
    /// Most further words of a cell; a cell that needs more has a list.
    pub const MOST: usize = 15;
}

/// Cell words: which triangles of which bundle may cover a place of the cell.
pub mod word {
    /// One bit for each of 16 triangles. Zero: something else, named by the next four bits.
    pub const MASK: u32 = 0xFFFF;
    /// The triangle to test first, or what else the word is: four bits.
    pub const GUESS: u32 = 16;
    /// In a further word: it starts a sheet. Triangles of one sheet do not overlap within the cell.
    /// In a home word: all words of the cell are one sheet that surrounds every place of it, and none names a wide bundle.
    pub const SHEET: u32 = 1 << 20;
    /// The bundle's number in its node, or the place of a patch record in 64-byte units from the tile's start: eleven bits.
    pub const NUMBER: u32 = 21;
    /// First number that does not fit.
    pub const NUMBERS: u32 = 2047;

    /// No ground. A home word.
    pub const EMPTY: u32 = 1;
    /// A patch.
    pub const PATCH: u32 = 2;
    /// The one further word is the word offset, in the tile, of a list: a count, then pairs of a word and its number. A home word.
    pub const LIST: u32 = 3;
    /// The whole block is a node's place. A home word.
    pub const NODE: u32 = 4;
    /// Not covered by this image. A home word.
    pub const NOT_IN_IMAGE: u32 = 5;
    /// Something a newer reader knows. A home word.
    pub const NOT_UNDERSTOOD: u32 = 6;
}

/// Layout of a bundle as 32 words or 64 half words. Vertices are numbered from 1.
pub mod bundle {
    /// Words of a bundle.
    pub const WORDS: usize = 32;
    /// Half words of a bundle.
    pub const HALVES: usize = 64;
    /// Where the three nibble planes of corner numbers start, four half words each.
    pub const CORNERS: usize = 7;
    /// In a narrow bundle `dz` of vertex i stands at this half word plus i, and `x`, `y` at this word plus i.
    pub const NARROW_ZERO: (usize, usize) = (18, 16);
    /// Of a medium bundle vertex i stands at this pair of words plus i.
    pub const MEDIUM_ZERO: usize = 4;
    /// Of a wide bundle vertex i stands at this word plus `WIDE_STRIDE` times i.
    pub const WIDE_ZERO: usize = 8;
    /// Words of a vertex of a wide bundle.
    pub const WIDE_STRIDE: usize = 3;
    /// Most triangles.
    pub const TRIANGLES: usize = 16;
    /// Class 0: `x, y, dz` u16 beside an integer plane; 15 vertices.
    pub const NARROW: u16 = 0;
    /// Class 1: 20-bit x and y, 24-bit z; 11 vertices.
    pub const MEDIUM: u16 = 1;
    /// Class 2: 32-bit x, y, z about the image's origin; 7 vertices.
    pub const WIDE: u16 = 2;
    /// Most vertices of each class.
    pub const VERTEX_LIMIT: [usize; 3] = [15, 11, 7];
    /// In a narrow bundle the heights of a triangle's corners differ by less, in steps.
    pub const NARROW_RELIEF: i64 = 1 << 19;

    /// Half words behind the corners that are zero in a bundle of so many vertices, at most the class's limit.
    pub const fn unused(class: u16, vertices: usize) -> [core::ops::Range<usize>; 2] {
        let (first, stride) = match class {
            NARROW => {
                return [
                    NARROW_ZERO.0 + 1 + vertices..2 * NARROW_ZERO.1 + 2,
                    2 * (NARROW_ZERO.1 + 1 + vertices)..HALVES,
                ];
            }
            MEDIUM => (4 * (MEDIUM_ZERO + 1), 4),
            _ => (2 * (WIDE_ZERO + WIDE_STRIDE), 2 * WIDE_STRIDE),
        };
        [CORNERS + 12..first, first + stride * vertices..HALVES]
    }
}

/// The first 1,024 bytes of an image.
#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Header {
    /// `MAGIC`.
    pub magic: [u8; 8],
    /// Format version of the writer.
    pub version: u16,
    /// Oldest reader that understands the image.
    pub least_reader: u16,
    /// Length of this record.
    pub head_len: u32,
    /// Length of the image, a multiple of 128.
    pub total_len: u64,
    /// CRC-32 (ISO-HDLC) of the head with this field zero.
    pub head_crc: u32,
    /// Zero.
    pub reserved0: u32,
    /// SHA-256 of the content header (bytes 64 to 511) and, in order, kind and digest of each content section.
    pub identity: [u8; 32],
    /// Features that a reader must know; zero in version 1.
    pub must_understand: u64,
    /// log2 of the plan step in metres.
    pub xy_log2: i32,
    /// log2 of the height step in metres.
    pub z_log2: i32,
    /// The origin in lattice steps from the source frame's zero.
    pub origin: [i64; 3],
    /// Least lattice coordinates of the ground, from the origin.
    pub min: [i32; 3],
    /// Greatest lattice coordinates of the ground, from the origin.
    pub max: [i32; 3],
    /// log2 of a tile's side in plan steps.
    pub tile_log2: u32,
    /// log2 of the tiles along a page's side.
    pub page_log2: u32,
    /// Number of the first page in x and y.
    pub page_min: [i32; 2],
    /// Number of pages in x and y.
    pub page_count: [u32; 2],
    /// Number of tiles.
    pub tile_count: u32,
    /// Most layers over any place, an upper bound.
    pub max_layers: u32,
    /// Triangles of the ground.
    pub triangles: u64,
    /// Bundles of all tiles.
    pub bundles: u64,
    /// Patch blocks of all tiles.
    pub patch_blocks: u64,
    /// Triangles in all bundles: more than `triangles`, for a tile holds all that it touches.
    pub references: u64,
    /// Default near window, in 2^-8 of the height step.
    pub near: i64,
    /// Default far window, in 2^-8 of the height step.
    pub far: i64,
    /// Heights closer than this are one layer, in 2^-8 of the height step.
    pub layer_merge: i64,
    /// Height without ground, in 2^-8 of the height step from the frame's zero.
    pub default_z: i64,
    /// Friction without ground.
    pub default_mu: f64,
    /// Rolling resistance without ground.
    pub default_rolling: f64,
    /// Gain without ground.
    pub default_gain: f64,
    /// One of [`fallback`].
    pub fallback: u32,
    /// Stated most tests of a vertical query that are of wide bundles: they take many times as long.
    pub wide_tests: u32,
    /// Stated worst cost of a vertical query: nodes, leaves, tests, lines.
    pub bound: [u32; 4],
    /// Error against the source in plan, metres.
    pub error_plan: f64,
    /// Error against the source in height, metres.
    pub error_height: f64,
    /// Zero.
    pub reserved2: [u8; 224],
    /// The section table.
    pub sections: [Section; SECTIONS],
}

/// One entry of the section table.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Section {
    /// One of [`section`], or zero for an unused place.
    pub kind: u32,
    /// `section::MUST_UNDERSTAND` and `section::CONTENT`.
    pub flags: u32,
    /// From the image's start, a multiple of 128.
    pub offset: u64,
    /// In bytes, without padding.
    pub len: u64,
    /// CRC-32 of the bytes; zero for `TILES`, whose tiles have their own.
    pub crc: u32,
    /// Zero.
    pub reserved: u32,
    /// SHA-256 of the bytes; of the tile digests, in order, for `TILES`.
    pub digest: [u8; 32],
}

/// One material.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Material {
    /// Friction coefficient.
    pub mu: f64,
    /// Rolling resistance, as a factor.
    pub rolling: f64,
    /// Gain, as a factor.
    pub gain: f64,
    /// Cone index, PSI; zero if not stated.
    pub cone_index: f64,
    /// Name: offset in `NAMES`.
    pub name: u32,
    /// Name: length in bytes.
    pub name_len: u16,
    /// Surface type: one of [`surface`], or another number of the user.
    pub surface: u16,
    /// Class bits for masks.
    pub class_mask: u32,
    /// Label for sensors.
    pub label: u32,
    /// Bit 0: obstacle.
    pub flags: u32,
    /// Which of coincident surfaces stays: the highest.
    pub priority: i32,
    /// Zero.
    pub reserved: u64,
}

/// Where triangles came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Source {
    /// Name: offset in `NAMES`.
    pub name: u32,
    /// Name: length in bytes.
    pub name_len: u32,
    /// Zero.
    pub reserved: [u32; 2],
}

/// Where a tile lies, and its checks.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct TileRecord {
    /// From the start of `TILES`, a multiple of 128.
    pub offset: u64,
    /// In bytes, a multiple of 128.
    pub len: u64,
    /// CRC-32 of the bytes.
    pub crc: u32,
    /// Tile number in x.
    pub x: i32,
    /// Tile number in y.
    pub y: i32,
    /// Zero.
    pub reserved: u32,
    /// SHA-256 of the bytes.
    pub digest: [u8; 32],
}

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

/// What all triangles of a bundle, or a patch, have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Attribute {
    /// Index into the material table.
    pub material: u16,
    /// Index into the source table.
    pub source: u16,
    /// Zero; room for a vertex-normal channel.
    pub reserved: u32,
}

/// A rectangle, divided into 2^`side_log2[0]` x 2^`side_log2[1]` entries of 2^`entry_log2[0]` x 2^`entry_log2[1]` steps.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Node {
    /// log2 of an entry's sides in plan steps, in x and y.
    pub entry_log2: [u8; 2],
    /// log2 of the number of entries along x and y, at most 8.
    pub side_log2: [u8; 2],
    /// Bit 0: every entry is a block, and the blocks stand where entries would.
    pub flags: u8,
    /// Bundle bases are multiples of 2^`shift` plan steps.
    pub shift: u8,
    /// Zero.
    pub reserved0: u16,
    /// What bundle bases count from, plan steps from the origin.
    pub base: [i32; 2],
    /// Where the entries or blocks stand.
    pub entries: u32,
    /// First bundle, in 128-byte units from the tile's start.
    pub bundles: u32,
    /// Number of bundles that cell words may name.
    pub bundle_count: u32,
    /// Zero.
    pub reserved1: u32,
}

/// `Node::flags`: blocks stand in a row where entries would.
pub const NODE_DENSE: u8 = 1;
/// Word of a tile at which its root node stands.
pub const ROOT: usize = 32;
/// Word of a tile at which its palette stands.
pub const PALETTE: usize = 40;

/// A part of a regular grid of heights: cells of one pitch, four by four to a block, rows from the south.
///
/// A place `q` query steps from the corner of the square of 2^`PATCH_LOG2` plan steps that holds the tile lies at
/// `start + floor(q * rate / 2^32)`, in 2^-32 cells: the cell, counted from `first`, and a fraction of which 16 bits count.
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

impl Patch {
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

/// 64-byte lines that reading a cell's words touches: its block, and what of the tail at word `tail` of the tile
/// its `count` further words reach, which stand behind `before` others.
pub const fn word_lines(tail: usize, before: usize, count: usize) -> u32 {
    let end = before.wrapping_add(count);
    if count == 0 || end <= block::INLINE {
        return 1;
    }
    let from = before.saturating_sub(block::INLINE);
    lines(tail.wrapping_add(from), end.wrapping_sub(block::INLINE).wrapping_sub(from)).wrapping_add(1)
}

/// 64-byte lines of `count` words at word `at`; at least one.
pub const fn lines(at: usize, count: usize) -> u32 {
    (at.wrapping_add(count.saturating_sub(1)) / 16).wrapping_sub(at / 16).wrapping_add(1) as u32
}

const _: () = {
    assert!(size_of::<Header>() == 1024);
    assert!(size_of::<Section>() == 64);
    assert!(size_of::<Material>() == 64);
    assert!(size_of::<Source>() == 16);
    assert!(size_of::<TileRecord>() == 64);
    assert!(size_of::<Tile>() == 128);
    assert!(size_of::<Attribute>() == 8);
    assert!(size_of::<Node>() == 32);
    assert!(size_of::<Patch>() == 64);
};
