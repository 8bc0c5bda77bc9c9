//! Where a wall stands and no block is, one is made for it, without ground.

use super::NO_HEIGHTS;
use super::divide::{Cells, NodePlan};
use crate::build::lattice::Wall;
use crate::build::stage::bundle::Frame;
use crate::build::stage::cells::{Block, CellRef, Entry, Grid, corner};
use crate::build::stage::walls::meets;
use hardpan::format::MAX_DEPTH;

/// Walls that one block may have where it has no ground.
const ENOUGH: usize = 64;
/// log2 of the sides, in steps, of blocks that are made no smaller.
const SMALL: u32 = 8;
/// Nodes that may stand above one that is made.
const DEEP: u32 = MAX_DEPTH - 6;

/// Gives all walls blocks in a square.
pub fn stand(plot: &mut NodePlan<Cells>, low: [i64; 2], log2: u32, depth: u32, walls: &[&Wall]) {
    if walls.is_empty() {
        return;
    }
    let entry = match plot {
        NodePlan::Inner { side_log2, children } => {
            let log2 = log2 - *side_log2;
            for (k, child) in children.iter_mut().enumerate() {
                let at = corner(low, [log2; 2], [*side_log2; 2], k);
                stand(child, at, log2, depth + 1, &within(walls, at, [log2; 2]));
            }
            return;
        }
        NodePlan::Group(cells) => return in_grid(&mut cells.grid, low, depth + 1, walls),
        NodePlan::Patch(patch) => Entry::Patch(*patch),
        NodePlan::Empty => Entry::Empty,
        NodePlan::Refused(_) => return,
    };
    let mut grid = Grid { block_log2: [log2; 2], side_log2: [0; 2], entries: vec![entry] };
    in_grid(&mut grid, low, depth + 1, walls);
    let frame = Frame::of(low[0], low[1], log2);
    *plot = NodePlan::Group(Cells { records: Vec::new(), some_wide: false, frame, grid, heights: NO_HEIGHTS });
}

fn in_grid(grid: &mut Grid, low: [i64; 2], depth: u32, walls: &[&Wall]) {
    let (log2, side_log2) = (grid.block_log2, grid.side_log2);
    for (k, entry) in grid.entries.iter_mut().enumerate() {
        let at = corner(low, log2, side_log2, k);
        let some = within(walls, at, log2);
        match entry {
            _ if some.is_empty() => {}
            Entry::Block(_) => {}
            Entry::Grid(grid) => in_grid(grid, at, depth + 1, &some),
            Entry::Patch(p) => *entry = Entry::Block(Block::of(CellRef::patch(p))),
            Entry::Empty => *entry = empty(at, log2, depth, &some),
        }
    }
}

/// A block without ground, or several where there are many walls.
fn empty(low: [i64; 2], log2: [u32; 2], depth: u32, walls: &[&Wall]) -> Entry {
    const SIDE: [u32; 2] = [2; 2];
    let finer = log2.map(|v| v.saturating_sub(SIDE[0]));
    if walls.len() > ENOUGH && finer.iter().all(|v| *v >= SMALL) && depth < DEEP {
        let parts = |k: usize| within(walls, corner(low, finer, SIDE, k), finer).len();
        let count = 1 << (SIDE[0] + SIDE[1]);
        if (0..count).map(parts).sum::<usize>() < 3 * walls.len() {
            let entries = (0..count).map(|_| Entry::Empty).collect();
            let mut grid = Grid { block_log2: finer, side_log2: SIDE, entries };
            in_grid(&mut grid, low, depth + 1, walls);
            return Entry::Grid(grid);
        }
    }
    Entry::Block(Block::default())
}

fn within<'a>(walls: &[&'a Wall], low: [i64; 2], log2: [u32; 2]) -> Vec<&'a Wall> {
    walls.iter().copied().filter(|w| meets(&w.corners, low, log2.map(|v| 1 << v))).collect()
}
