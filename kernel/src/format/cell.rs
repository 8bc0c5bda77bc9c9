//! Blocks of eight cells, and the words of a cell.

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
    pub const MAX_FURTHER: usize = 15;
    /// Bits of a cell's count.
    const COUNT: u32 = 4;

    /// How many further words a cell has.
    #[inline(always)]
    pub const fn count(b: &[u32; WORDS], cell: u32) -> u32 {
        b[COUNTS] >> (COUNT * (cell & 7)) & 15
    }

    /// Bits of a cell's count in the word of all counts.
    pub const fn count_bits(cell: usize, count: usize) -> u32 {
        (count as u32) << (COUNT * cell as u32)
    }

    /// How many further words of the block stand before those of a cell, and how many the cell has.
    #[inline(always)]
    pub const fn further(b: &[u32; WORDS], cell: u32) -> (u32, u32) {
        let shift = COUNT * (cell & 7);
        let below = b[COUNTS] & !(u32::MAX << shift);
        let pairs = (below & 0x0F0F_0F0F).wrapping_add(below >> 4 & 0x0F0F_0F0F);
        (pairs.wrapping_mul(0x0101_0101) >> 24, b[COUNTS] >> shift & 15)
    }

    /// Whether the block of this home word is a node's place.
    #[inline(always)]
    pub const fn is_node(home: u32) -> bool {
        home == super::word::of_kind(super::word::NODE)
    }

    /// Column and row of a cell.
    pub const fn place(cell: usize) -> [usize; 2] {
        [cell & 3, cell >> 2]
    }
}

/// Cell words: which triangles of which bundle may cover a place of the cell.
pub mod word {
    /// One bit for each of 16 triangles. Zero: something else, named by the next four bits.
    pub const MASK: u32 = 0xFFFF;
    /// Where the triangle to test first stands, or what else the word is: four bits.
    pub const GUESS: u32 = 16;
    /// In a further word: it starts a sheet. Triangles of one sheet do not overlap within the cell. In a home word: all
    /// words of the cell are one sheet that surrounds every place of it, and none names a wide bundle.
    pub const SHEET: u32 = 1 << 20;
    /// The bundle's number in its node, or the place of a patch record in 64-byte units from the tile's start: eleven
    /// bits.
    pub const NUMBER: u32 = 21;
    /// First number that does not fit.
    pub const NUMBERS: u32 = 2047;

    /// No ground. A home word.
    pub const EMPTY: u32 = 1;
    /// A patch.
    pub const PATCH: u32 = 2;
    /// The one further word is the word offset, in the tile, of a list: a count, then pairs of a word and its number. A
    /// home word.
    pub const LIST: u32 = 3;
    /// The whole block is a node's place. A home word.
    pub const NODE: u32 = 4;
    /// Not covered by this image. A home word.
    pub const NOT_IN_IMAGE: u32 = 5;
    /// Something a newer reader knows. A home word.
    pub const NOT_UNDERSTOOD: u32 = 6;

    /// The triangles that a word names, a bit each; zero if it names none.
    #[inline(always)]
    pub const fn mask(w: u32) -> u32 {
        w & MASK
    }

    /// The triangle to test first, in a word that names triangles.
    #[inline(always)]
    pub const fn first_test(w: u32) -> u32 {
        w >> GUESS & 15
    }

    /// Other uses of a word that names no triangles.
    #[inline(always)]
    pub const fn kind(w: u32) -> u32 {
        w >> GUESS & 15
    }

    /// Whether a word names no triangles and is of this kind.
    #[inline(always)]
    pub const fn is(w: u32, of: u32) -> bool {
        w & MASK == 0 && kind(w) == of
    }

    /// Bit 20; see [`SHEET`].
    #[inline(always)]
    pub const fn has_sheet(w: u32) -> bool {
        w & SHEET != 0
    }

    /// The number of a bundle, or of a patch record's place.
    #[inline(always)]
    pub const fn number(w: u32) -> u32 {
        w >> NUMBER
    }

    /// A word that names triangles, without a number.
    pub const fn of_triangles(mask: u16, first_test: u8) -> u32 {
        mask as u32 | (first_test as u32) << GUESS
    }

    /// A word of a kind, without a number.
    pub const fn of_kind(kind: u32) -> u32 {
        kind << GUESS
    }

    /// The bits of a number.
    pub const fn with_number(number: u32) -> u32 {
        number << NUMBER
    }
}

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
