//! The native rule: how large blocks are, and where they are divided further.

use super::places::{cell_at, counts};
use super::refine::corner;
use super::words::{Scratch, block};
use super::{Content, Entry, Grid, PatchArea, TOGETHER, block_bytes, sides};
use crate::build::stage::bundle::Bundled;
use hardpan::format::block::CELLS;
use hardpan_shaders::{Blocks, Member};
use rayon::prelude::*;

/// Least area of a cell, in median triangles; a cell has up to twice as much, for its sides are powers of two.
pub(super) const CELL_AREA: u64 = 3;

/// Mean triangles that a block stands for where the triangles are few for their rectangle.
pub(super) const BLOCK_TRIANGLES: usize = 12;

/// Mean triangles of a cell above which a block is divided further.
pub(super) const CROWDED: usize = 20;

/// The same for a block that is larger than its triangles ask for.
pub(super) const COARSE: usize = 12;

/// Most bytes that dividing a block further may cost for each of its triangles; four times as many if it halves the
/// work.
pub(super) const FINER_BYTES: usize = 32;

/// Triangles of one cell above which its block is divided further.
pub(super) const MAX_CELL_TRIANGLES: usize = 42;

/// Bytes of a node without its entries.
pub(super) const NODE_BYTES: usize = 32;

/// Most levels below the first.
pub(super) const DEEPEST: u32 = 6;

/// Blocks of one size for a rectangle.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub blocks: Blocks,
    /// log2 of the area of a block as its triangles ask for.
    wanted: u32,
}

/// Blocks of one size for a rectangle: who meets which.
pub struct Level {
    sizes: Sizes,
    /// Where the triangles of each block start; last how many there are.
    starts: Vec<u32>,
    /// Their `at` are numbers of triangles.
    members: Vec<Member>,
}

/// Bytes and work of blocks.
#[derive(Clone, Copy, Default)]
pub(super) struct Load {
    /// Cells that are not empty, the sum of their tests, and the most.
    cells: usize,
    tests: usize,
    most: usize,
    /// About how many bytes.
    bytes: usize,
}

impl Sizes {
    /// The blocks of a square, before it is divided further.
    pub fn of_square(bundled: &Bundled, low: [i64; 2], log2: u32, patches: &[PatchArea]) -> Sizes {
        Sizes::new(bundled, low, [log2; 2], &bundled.order, patches, 0)
    }

    fn new(bundled: &Bundled, low: [i64; 2], log2: [u32; 2], tris: &[u32], patches: &[PatchArea], depth: u32) -> Sizes {
        // Cells of CELL_AREA to twice as many median triangles, so that equal ground has equal cells everywhere;
        // but only so many blocks where the triangles are few for the rectangle.
        let bits = log2[0] + log2[1];
        let wanted = median_log2(bundled, tris).map_or(bits, |log2| log2 + 3);
        let most = if depth == 0 { (tris.len() / BLOCK_TRIANGLES).max(64) } else { (tris.len() / 4).max(4) }.ilog2();
        let least = if tris.is_empty() && patches.len() > 1 { 4 } else { 2 * depth.min(1) };
        let block_bits = bits - bits.saturating_sub(wanted).min(most).max(least).min(bits.saturating_sub(3));
        let [x, y] = sides(block_bits);
        let block_log2 = [x.min(log2[0]).max(2), y.min(log2[1]).max(1)];
        let side_log2 = [0, 1].map(|i| log2[i].saturating_sub(block_log2[i]).min(8));
        let block_log2 = [0, 1].map(|i| log2[i] - side_log2[i]);
        Sizes { blocks: Blocks { low, block_log2, side_log2 }, wanted }
    }
}

impl Level {
    /// A level of these triangles, whose [cells](hardpan_shaders::Stages::cells) these are.
    pub fn of(sizes: Sizes, tris: &[u32], mut members: Vec<Member>) -> Level {
        let [columns, rows] = sizes.blocks.side_log2;
        let blocks = 1 << (columns + rows);
        let mut starts = Vec::with_capacity(blocks + 1);
        for (m, i) in members.iter_mut().zip(0..) {
            m.at = tris[m.at as usize];
            if starts.len() <= m.block as usize {
                starts.resize(m.block as usize + 1, i);
            }
        }
        starts.resize(blocks + 1, members.len() as u32);
        Level { sizes, starts, members }
    }

    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// log2 of a block's sides.
    fn block_log2(&self) -> [u32; 2] {
        self.sizes.blocks.block_log2
    }

    /// The lower left corner of a block.
    fn low(&self, k: usize) -> [i64; 2] {
        let Blocks { low, block_log2, side_log2 } = self.sizes.blocks;
        corner(low, block_log2, side_log2, k)
    }

    fn members(&self, k: usize) -> &[Member] {
        &self.members[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// The patches of a block.
    fn near(&self, k: usize, patches: &[PatchArea]) -> Vec<PatchArea> {
        let (low, size) = (self.low(k), self.block_log2().map(|log2| 1i64 << log2));
        patches.iter().copied().filter(|p| p.meets(low, size)).collect()
    }

    /// Work of a block, without its bytes.
    fn work(&self, k: usize, near: &[PatchArea]) -> Load {
        let mut tests = counts(self.members(k));
        self.each_patch(k, near, |cell, p| tests[cell] += p.reads);
        Load {
            cells: tests.iter().filter(|&&n| n > 0).count(),
            tests: tests.iter().map(|&n| n as usize).sum(),
            most: tests.into_iter().max().unwrap_or(0) as usize,
            bytes: 0,
        }
    }

    /// About how many bytes a block takes.
    fn bytes(&self, content: &Content, k: usize, near: &[PatchArea]) -> usize {
        let members = self.members(k);
        if members.is_empty() && near.len() <= 1 {
            return 4;
        }
        let mut words = 0;
        self.each_patch(k, near, |_, _| words += 1);
        // cells that name the bundle of the triangle before
        let (mut bundle, mut named) = (u32::MAX, 0);
        for &Member { at, met, .. } in members {
            let number = content.bundled.places[at as usize].0;
            if number != bundle {
                (bundle, named) = (number, 0);
            }
            words += (met & !named).count_ones() as usize;
            named |= met;
        }
        block_bytes(words)
    }

    /// Calls `each` with the cells of a block and the patches that meet them.
    fn each_patch(&self, k: usize, near: &[PatchArea], mut each: impl FnMut(usize, &PatchArea)) {
        for cell in (0..CELLS).filter(|_| !near.is_empty()) {
            let (low, size) = cell_at(self.low(k), self.block_log2(), cell);
            near.iter().filter(|p| p.meets(low, size)).for_each(|p| each(cell, p));
        }
    }

    /// Work of all blocks.
    fn total(&self, content: &Content, patches: &[PatchArea]) -> Load {
        let none = Load { bytes: NODE_BYTES, ..Load::default() };
        (0..self.blocks()).fold(none, |a, k| {
            let near = self.near(k, patches);
            let b = self.work(k, &near);
            Load {
                cells: a.cells + b.cells,
                tests: a.tests + b.tests,
                most: a.most.max(b.most),
                bytes: a.bytes + self.bytes(content, k, &near),
            }
        })
    }

    /// Smaller blocks in place of one with many triangles in a cell, if they pay.
    fn finer(&self, content: &Content, k: usize, near: &[PatchArea], depth: u32) -> Option<Level> {
        let ([x, y], members) = (self.block_log2(), self.members(k));
        let bits = x + y;
        if depth == DEEPEST || bits < 12 || members.len() <= 8 {
            return None;
        }
        let Load { cells, tests, most, .. } = self.work(k, near);
        let coarse = bits > self.sizes.wanted && tests > cells * COARSE;
        if !(coarse || tests > CROWDED * cells || most > MAX_CELL_TRIANGLES) {
            return None;
        }
        // stacked surfaces cannot be told apart by smaller cells, and need not be tried further
        let tris: Vec<u32> = members.iter().map(|m| m.at).collect();
        let sizes = Sizes::new(content.bundled, self.low(k), self.block_log2(), &tris, near, depth + 1);
        // too few triangles for a call of the stage
        let plans = tris.iter().map(|&t| content.bundled.tris[t as usize].plan);
        let level = Level::of(sizes, &tris, hardpan_shaders::members(&sizes.blocks, plans));
        let load = level.total(content, near);
        let mean = load.tests / load.cells.max(1);
        let fewer = mean * 5 < tests / cells * 4 || load.most * 5 < most * 4;
        let far_fewer = mean * 2 < tests / cells || load.most * 2 < most;
        let bytes = load.bytes / tris.len();
        ((fewer && bytes <= FINER_BYTES) || (far_fewer && bytes <= 4 * FINER_BYTES)).then_some(level)
    }

    /// The grid of its blocks, those divided further for which that pays.
    pub(super) fn grid(&self, content: &Content, patches: &[PatchArea], depth: u32) -> Grid {
        let entry = |room: &mut Scratch, k: usize| {
            let (members, near) = (self.members(k), self.near(k, patches));
            match near.as_slice() {
                [] if members.is_empty() => return Entry::Empty,
                [one] if members.is_empty() => return Entry::Patch(*one),
                _ => {}
            }
            match self.finer(content, k, &near, depth) {
                Some(finer) => Entry::Grid(finer.grid(content, &near, depth + 1)),
                None => Entry::Block(block(content, self.low(k), self.block_log2(), members, &near, room)),
            }
        };
        let blocks = (0..self.blocks()).into_par_iter().with_min_len(TOGETHER);
        let entries = blocks.map_init(Scratch::default, entry).collect();
        let Blocks { block_log2, side_log2, .. } = self.sizes.blocks;
        Grid { block_log2, side_log2, entries }
    }
}

/// log2 of the area of a cell that suits triangles of median plan area, square steps.
pub(super) fn median_log2(bundled: &Bundled, tris: &[u32]) -> Option<u32> {
    let mut counts = [0usize; 64];
    for &t in tris {
        let area = bundled.tris[t as usize].plan.area();
        counts[area.max(1).saturating_mul(CELL_AREA).ilog2() as usize] += 1;
    }
    let mut before = 0;
    let reached = (0..).zip(counts).find(|(_, n)| {
        before += n;
        before > tris.len() / 2
    });
    reached.map(|(log2, _)| log2)
}
