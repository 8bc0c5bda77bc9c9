//! The image, declared once: what the builder writes and the kernel reads.
//!
//! All numbers are little-endian; all references are offsets; every reserved byte is zero. Each bit field has one
//! accessor here. `kernel/FORMAT.md` says the same in tables, and a test holds the two together.

pub mod bundle;
mod cell;
mod crs;
mod header;
mod node;
mod patch;
pub mod rays;
pub mod section;
mod tile;

pub use cell::{block, lines, word, word_lines};
pub use crs::Crs;
pub use header::{
    CONTENT_HEADER, FIELDS_VERSION, HEAD_CRC, HEAD_LEN, HELD_LEVELS, Header, MAGIC, MAX_BOUND, MIN_VERSION, RAY_METRES,
    SECTION_TABLE, SECTIONS, TYRE_METRES, VERSION, fallback, feature, no_height, readings,
};
pub use node::{MAX_SIDE_LOG2, NODE_DENSE, Node, entry};
pub use patch::{BLOCK_CELLS, BLOCK_POSTS, BLOCK_WORDS, LONG, NO_POST, PATCH_SCALES, POSTS_AT, Patch, PatchBlock};
pub use patch::{block_scale, halves, joined};
pub use section::{Material, Section, Source, TileRecord, slot, surface};
pub use tile::{Attribute, MAX_PALETTE, PALETTE, ROOT, TILE_MAGIC, Tile};

/// Alignment of an image in memory and of the records that hold bundles, in bytes.
pub const ALIGN: usize = 128;
/// Fraction bits of a query position below the lattice step, and of an answer below the height step.
pub const FRACTION: u32 = 8;
/// Most nodes between a tile's root and a leaf; no image may need more.
pub const MAX_DEPTH: u32 = 24;
/// Most cell words over one place; no image may have more.
pub const MAX_WORDS: u32 = 1 << 20;
