//! Places and members of cells and blocks.

use super::words::{Scratch, block};
use super::{Block, Content, PatchArea};
use hardpan::format::block as layout;
use hardpan::format::block::{CELLS, CELLS_LOG2};
use hardpan_shaders::Member;

/// How many triangles meet each cell.
pub(super) fn counts(members: &[Member]) -> [u32; CELLS] {
    members
        .iter()
        .fold([0; CELLS], |counts, m| std::array::from_fn(|cell| counts[cell] + u32::from(m.met & 1 << cell != 0)))
}

/// Calls `each` with the cells of a mask.
pub(super) fn each_cell(mut mask: u8, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

pub(super) fn cell_log2(block_log2: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|i| block_log2[i] - CELLS_LOG2[i])
}

/// The lower left corner of a cell of a block, and its size.
pub(super) fn cell_at(low: [i64; 2], block_log2: [u32; 2], cell: usize) -> ([i64; 2], [i64; 2]) {
    let (at, size) = (layout::place(cell).map(|v| v as i64), cell_log2(block_log2).map(|log2| 1i64 << log2));
    ([0, 1].map(|i| low[i] + at[i] * size[i]), size)
}

/// The block of triangles that meet it, in the order of their places in bundles.
pub(super) fn block_of(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &[u32],
    patches: &[PatchArea],
    room: &mut Scratch,
) -> Block {
    let cells = |&at: &u32| {
        let [met, central] = content.bundled.tris[at as usize].plan.under(low, cell_log2(log2)).cells([0; 2]);
        Member { block: 0, at, met, central }
    };
    let members: Vec<Member> = tris.iter().map(cells).collect();
    block(content, low, log2, &members, patches, room)
}
