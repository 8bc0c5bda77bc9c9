//! Nodes, and the entries of those that are not dense.

use super::block;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

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

    /// An entry of a kind and a place.
    pub const fn of(kind: u32, place: u32) -> u32 {
        kind << SHIFT | place
    }

    /// The kind of an entry.
    #[inline(always)]
    pub const fn kind(e: u32) -> u32 {
        e >> SHIFT
    }

    /// Its place: a word of the tile.
    #[inline(always)]
    pub const fn place(e: u32) -> usize {
        (e & PLACE) as usize
    }
}

/// A rectangle, divided into 2^`side_log2[0]` x 2^`side_log2[1]` entries of 2^`entry_log2[0]` x 2^`entry_log2[1]`
/// steps.
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
    /// Origin of bundle bases, plan steps from the origin.
    pub base: [i32; 2],
    /// Where the entries or blocks stand.
    pub entries: u32,
    /// First bundle, in 128-byte units from the tile's start.
    pub bundles: u32,
    /// Number of bundles that cell words may name.
    pub bundle_count: u32,
    /// Number in the tile of its first block; see [`Node::block_number`].
    pub first_block: u32,
}

/// `Node::flags`: blocks stand in a row where entries would.
pub const NODE_DENSE: u8 = 1;
/// Greatest log2 of a node's entries along x and y.
pub const MAX_SIDE_LOG2: u8 = 8;

impl Node {
    /// Whether blocks stand where entries would.
    #[inline(always)]
    pub const fn is_dense(&self) -> bool {
        self.flags & NODE_DENSE != 0
    }

    /// Words of an entry.
    #[inline(always)]
    pub const fn entry_words(&self) -> usize {
        if self.is_dense() { block::WORDS } else { 1 }
    }

    /// Number of entries.
    pub const fn entry_count(&self) -> usize {
        let [x, y] = self.side_log2;
        const fn least(log2: u8) -> u8 {
            if log2 < MAX_SIDE_LOG2 { log2 } else { MAX_SIDE_LOG2 }
        }
        1 << (least(x) + least(y))
    }

    /// Word of the tile at which its blocks stand, in the order of the entries: in the entries' stead, or next behind
    /// them.
    pub const fn block_row(&self) -> usize {
        let from = self.entries as usize;
        if self.is_dense() {
            return from;
        }
        let behind = from.wrapping_add(self.entry_count()).wrapping_add(block::WORDS - 1);
        behind.wrapping_sub(behind % block::WORDS)
    }

    /// Number in the tile of the node's block that stands at this word of the tile. Nodes have theirs in the order in
    /// which a walk in the order of entries leaves them: a node behind all nodes below it.
    pub const fn block_number(&self, at: usize) -> u32 {
        let row = at.wrapping_sub(self.block_row()) / block::WORDS;
        self.first_block.wrapping_add(row as u32)
    }

    /// Number of the entry of a place.
    #[inline(always)]
    pub const fn entry_of(&self, x: i32, y: i32) -> u32 {
        let [log2_x, log2_y] = self.entry_log2;
        let [side_x, side_y] = self.side_log2;
        let x = (x as u32).wrapping_shr(log2_x as u32) & !(u32::MAX.wrapping_shl(side_x as u32));
        let y = (y as u32).wrapping_shr(log2_y as u32) & !(u32::MAX.wrapping_shl(side_y as u32));
        y.wrapping_shl(side_x as u32) | x
    }

    /// Number of the cell of a place in the block of its entry.
    #[inline(always)]
    pub const fn cell_of(&self, x: i32, y: i32) -> u32 {
        let [log2_x, log2_y] = self.entry_log2;
        let x = (x as u32).wrapping_shr((log2_x as u32).wrapping_sub(block::CELLS_LOG2[0])) & 3;
        let y = (y as u32).wrapping_shr((log2_y as u32).wrapping_sub(block::CELLS_LOG2[1])) & 1;
        y << block::CELLS_LOG2[0] | x
    }

    /// Column and row of an entry.
    pub const fn place_of(&self, entry: usize) -> [usize; 2] {
        let [x, y] = self.side_log2;
        [entry & !(usize::MAX << (x & 15)), entry >> (x & 15) & !(usize::MAX << (y & 15))]
    }
}
const _: () = {
    assert!(size_of::<Node>() == 32);
};
