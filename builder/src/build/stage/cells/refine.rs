//! Divides blocks further until no cell costs more than it may.

use super::places::{block_of, cell_at};
use super::words::Scratch;
use super::{Block, CellRef, Content, Entry, Grid, LINE, PatchArea, place};
use crate::build::cost::HotSpot;
use crate::build::stage::bundle::{Bundled, Tri};
use crate::build::stage::hot_spot::{Refused, hot_spot};
use crate::options::MaxCost;
use hardpan::format::block::{CELLS, CELLS_LOG2, INLINE, MAX_FURTHER};
use hardpan::format::bundle::TRIANGLES;
use hardpan::format::lines;
use hardpan::format::word::NUMBERS;

/// Blocks that one may be divided into: so many, and so many more for each of its triangles.
pub(super) const MAX_BLOCKS: [usize; 2] = [1024, 64];

/// Divides blocks of which a cell costs too much.
pub(super) struct Refining<'a> {
    pub(super) content: &'a Content<'a>,
    pub(super) most: MaxCost,
    pub(super) merge: f64,
    /// Triangles by bundle and place.
    pub(super) numbers: &'a [[u32; TRIANGLES]],
    pub(super) patches: &'a [PatchArea],
}

/// A block, where it lies, and what is in it.
pub(super) struct BlockContext<'a> {
    cells: &'a Block,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &'a [u32],
    patches: &'a [PatchArea],
}

impl Refining<'_> {
    /// Why no division helps, if so much stands over a place of a grid: nothing is divided to see that.
    pub(super) fn hopeless(&self, grid: &Grid, low: [i64; 2]) -> Option<Refused> {
        let refused = |(k, e): (usize, &Entry)| {
            let low = corner(low, grid.block_log2, grid.side_log2, k);
            match e {
                Entry::Grid(g) => self.hopeless(g, low),
                Entry::Block(cells) => {
                    let hot_spot = self.hot_spot(cells, low, grid.block_log2).filter(|hot_spot| hot_spot.least)?;
                    Some(Refused::new(hot_spot, self.most))
                }
                _ => None,
            }
        };
        grid.entries.iter().enumerate().filter_map(refused).reduce(Refused::and)
    }

    /// Divides the blocks of a grid until their cells cost little enough. One that cannot be brought so far is left as
    /// it is, and it is said why.
    pub(super) fn grid(&self, grid: &mut Grid, low: [i64; 2], nodes: u32) -> Option<Refused> {
        let (log2, side) = (grid.block_log2, grid.side_log2);
        let divide = |(k, e): (usize, &mut Entry)| {
            let low = corner(low, log2, side, k);
            match e {
                Entry::Grid(g) => self.grid(g, low, nodes - 1),
                Entry::Block(cells) => {
                    if self.is_met(cells) {
                        return None;
                    }
                    let (tris, patches) = (self.tris(&cells.words), self.patches(cells));
                    let mut left = MAX_BLOCKS[0] + MAX_BLOCKS[1] * tris.len();
                    let held = BlockContext { cells, low, log2, tris: &tris, patches: &patches };
                    match self.quarters(&held, nodes, &mut left) {
                        Ok(finer) => *e = Entry::Grid(finer),
                        Err(hot_spot) => return Some(Refused::new(hot_spot, self.most)),
                    }
                    None
                }
                _ => None,
            }
        };
        grid.entries.iter_mut().enumerate().filter_map(divide).reduce(Refused::and)
    }

    /// The quarters of a block, divided further where need be; else what stands in the way.
    fn quarters(&self, held: &BlockContext, nodes: u32, left: &mut usize) -> Result<Grid, HotSpot> {
        let hot_spot = self.hot_spot(held.cells, held.low, held.log2).expect("a cell costs too much");
        let side_log2 = [0, 1].map(|i| u32::from(held.log2[i] > CELLS_LOG2[i]));
        if nodes <= 1 || side_log2 == [0; 2] || hot_spot.least {
            return Err(hot_spot);
        }
        let log2 = [0, 1].map(|i| held.log2[i] - side_log2[i]);
        let quarter = |k: usize| {
            let low = corner(held.low, log2, side_log2, k);
            let (tris, near, entry) = place(self.content, low, log2, held.tris, held.patches);
            if let Some(entry) = entry {
                return Ok(entry);
            }
            *left = left.checked_sub(1).ok_or(hot_spot)?;
            let mut cells = block_of(self.content, low, log2, &tris, &near, &mut Scratch::default());
            if self.is_met(&mut cells) {
                return Ok(Entry::Block(cells));
            }
            let held = BlockContext { cells: &cells, low, log2, tris: &tris, patches: &near };
            self.quarters(&held, nodes - 1, left).map(Entry::Grid)
        };
        let entries = (0..1 << (side_log2[0] + side_log2[1])).map(quarter).collect::<Result<_, _>>()?;
        Ok(Grid { block_log2: log2, side_log2, entries })
    }

    /// The worst cell of a block, if one costs too much.
    fn hot_spot(&self, block: &Block, low: [i64; 2], log2: [u32; 2]) -> Option<HotSpot> {
        let most_lines = |costs: &[[u32; 2]; CELLS]| costs.iter().map(|c| c[1]).max();
        let costs = (0..LINE).map(|tail| costs(block, Some(tail))).min_by_key(most_lines).unwrap_or_default();
        let over = costs.into_iter().enumerate().filter(|(_, [tests, lines])| !self.most.allows(*tests, *lines));
        let hot_spots = over.map(|(cell, cost)| {
            let (low, size) = cell_at(low, log2, cell);
            let mut tris: Vec<(Tri, u32)> = Vec::with_capacity(cost[0] as usize);
            let Bundled { tris: all, places, .. } = self.content.bundled;
            tris.extend(self.named(block.cell(cell)).map(|t| (all[t as usize], places[t as usize].0)));
            hot_spot(&tris, low, size, cost, &self.most, self.merge)
        });
        hot_spots.reduce(HotSpot::worse)
    }

    /// Whether the cells of a block cost little enough wherever its tail comes to stand, or else where it is told to.
    fn is_met(&self, block: &mut Block) -> bool {
        let met =
            |tail: &Option<usize>| costs(block, *tail).into_iter().all(|[tests, lines]| self.most.allows(tests, lines));
        let tail = std::iter::once(None).chain((0..LINE).map(Some)).find(met);
        block.tail = tail.flatten();
        tail.is_some()
    }

    /// The triangles that words name.
    fn named(&self, words: &[CellRef]) -> impl Iterator<Item = u32> {
        let words = words.iter().filter(|w| w.mask != 0);
        words.flat_map(|w| {
            let (mask, numbers) = (w.mask, &self.numbers[w.number as usize]);
            (0..TRIANGLES).filter(move |i| mask >> i & 1 == 1).map(|i| numbers[i])
        })
    }

    /// The same, each once, in the order of their places in bundles.
    fn tris(&self, words: &[CellRef]) -> Vec<u32> {
        let mut tris: Vec<u32> = self.named(words).collect();
        tris.sort_unstable_by_key(|&t| self.content.bundled.places[t as usize]);
        tris.dedup();
        tris
    }

    /// The patches that cells name.
    fn patches(&self, block: &Block) -> Vec<PatchArea> {
        let named = |p: &&PatchArea| block.words.iter().any(|w| w.mask == 0 && w.number == p.number);
        self.patches.iter().filter(named).copied().collect()
    }
}

/// The lower left corner of an entry of a rectangle, or of a cell of a block.
pub fn corner(low: [i64; 2], log2: [u32; 2], side_log2: [u32; 2], k: usize) -> [i64; 2] {
    let at = [k & ((1 << side_log2[0]) - 1), k >> side_log2[0]];
    [0, 1].map(|i| low[i] + ((at[i] as i64) << log2[i]))
}

/// Tests and lines of each cell of a block, its tail beginning at such a word of a line and its lists at the first; or
/// wherever they come to stand, then at most one line too many.
pub(super) fn costs(block: &Block, tail: Option<usize>) -> [[u32; 2]; CELLS] {
    let lines = |at: Option<usize>, words: usize| match at {
        _ if words == 0 => 0,
        Some(at) => lines(at, words),
        None => lines(LINE - 1, words),
    };
    let mut before = 0;
    std::array::from_fn(|cell| {
        let words = block.cell(cell);
        if words.is_empty() {
            return [0; 2];
        }
        let listed = words.len() - 1 > MAX_FURTHER || words.iter().any(|w| w.number >= NUMBERS);
        let count = if listed { 1 } else { words.len() - 1 };
        let (from, end) = (before.max(INLINE), before + count);
        before = end;
        let further = tail.map(|tail| tail + from - INLINE);
        let read = 1 + if count == 0 { 0 } else { lines(further, end.saturating_sub(from)) };
        let list = if listed { lines(tail.map(|_| 0), 1 + 2 * words.len()) } else { 0 };
        let leaves: u32 = words.iter().map(|w| w.lines).sum();
        [words.iter().map(|w| w.tests).sum(), read + list + leaves]
    })
}
