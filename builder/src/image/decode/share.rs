//! Shares out things with a box in plan among the places of a tile's index.

use super::leaf::BundleView;
use super::tile::{Held, Placed, TileView, cell_of, records};
use hardpan::format::{self, Node, ROOT, TileRecord, block, entry, word};
use zerocopy::{FromBytes, IntoBytes};

/// The end of the index at a place.
pub enum Spot<'s> {
    /// A block, and its number in the tile.
    Block(Cells<'s>, u32),
    /// Nothing, or a patch alone.
    Other,
}

/// The cells of a block.
pub struct Cells<'s> {
    tile: &'s TileView<'s>,
    placed: &'s Placed<'s>,
    low: [i64; 2],
    block: &'s [u32],
}

impl Cells<'_> {
    /// The lower left corner and the sides of a cell.
    pub fn square(&self, cell: usize) -> ([i64; 2], [i64; 2]) {
        cell_of(self.placed, self.low, cell)
    }

    /// Whether it is a node's place.
    pub fn is_node(&self) -> bool {
        block::is_node(self.block[0])
    }

    /// The triangles that a cell names, and whether it names patches.
    pub fn ground(&self, cell: usize, mut see: impl FnMut([[i32; 3]; 3])) -> bool {
        let (records, node) = (records(self.tile.words, self.placed.node), self.placed.node);
        let mut has_patches = false;
        for (w, number) in self.tile.named(self.block, cell).into_iter().flat_map(|(words, _)| words) {
            let mask = word::mask(w);
            has_patches |= mask == 0;
            let Some(halves) = records.get(number as usize).filter(|_| mask != 0) else { continue };
            let bundle = BundleView { halves, base: node.base, shift: node.shift & 31 };
            (0..bundle.triangles()).filter(|part| mask >> part & 1 == 1).for_each(|part| see(bundle.corners(part)));
        }
        has_patches
    }
}

/// Shares out things with a box in plan: calls `see` with each place of a tile's index, and with those things that meet
/// it.
pub struct Sharing<'f> {
    /// The box of a thing.
    pub ends: &'f dyn Fn(u32) -> [[i64; 2]; 2],
    /// Whether it meets the rectangle from a corner of a size.
    pub meets: &'f dyn Fn(u32, [i64; 2], [i64; 2]) -> bool,
}

impl<'a> TileView<'a> {
    /// A tile that stands by itself.
    pub fn alone(record: &'a TileRecord, head: &'a format::Tile, words: &'a [u32]) -> Self {
        TileView { record, head, words }
    }

    /// How many blocks it has.
    pub fn block_count(&self) -> u32 {
        let mut count = 0;
        self.held(|_, _, held| count += u32::from(matches!(held, Held::Block(_))));
        count
    }

    /// Calls `see` with every place that no node divides, and what of these things meets it.
    #[allow(clippy::type_complexity)] // who sees a place has four arguments
    pub fn share(&self, things: Vec<u32>, by: &Sharing, see: &mut dyn FnMut(Spot, [i64; 2], [u32; 2], &[u32])) {
        let Some(side) = self.side() else { return };
        let low = [self.record.x, self.record.y].map(|v| i64::from(v) << side);
        self.share_in(ROOT, low, things, by, see);
    }

    #[allow(clippy::type_complexity)]
    fn share_in(
        &self,
        at: usize,
        low: [i64; 2],
        things: Vec<u32>,
        by: &Sharing,
        see: &mut dyn FnMut(Spot, [i64; 2], [u32; 2], &[u32]),
    ) {
        let words = self.words.get(at..).and_then(|w| w.get(..8));
        let Some(node) = words.and_then(|w| Node::ref_from_bytes(w.as_bytes()).ok()) else { return };
        let placed = Placed { node, low, depth: 0 };
        let log2 = node.entry_log2.map(|v| u32::from(v) & 63);
        let size = log2.map(|v| 1i64 << v);
        let count = node.side_log2.map(|v| 1i64 << (v & 15));
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); node.entry_count()];
        for &thing in &things {
            let ends = (by.ends)(thing);
            let range = |axis: usize| {
                let at = |v: i64| ((v - low[axis]) >> log2[axis]).clamp(0, count[axis] - 1);
                at(ends[0][axis])..=at(ends[1][axis])
            };
            for [j, i] in range(1).flat_map(|j| range(0).map(move |i| [j, i])) {
                let k = (j * count[0] + i) as usize;
                let at = placed.entry(k);
                if (by.meets)(thing, at, size)
                    && let Some(list) = lists.get_mut(k)
                {
                    list.push(thing);
                }
            }
        }
        drop(things);
        for ((k, e), list) in self.entries(node).enumerate().zip(lists) {
            let low = placed.entry(k);
            let (block, block_at) = match (node.is_dense(), entry::kind(e[0])) {
                (true, _) => (e, node.entries as usize + block::WORDS * k),
                (false, entry::BLOCK) => {
                    let at = entry::place(e[0]);
                    match self.words.get(at..).and_then(|w| w.get(..block::WORDS)) {
                        Some(block) => (block, at),
                        None => continue,
                    }
                }
                (false, entry::NODE) => {
                    // a node lies behind the one that names it, so this ends
                    if entry::place(e[0]) > at {
                        self.share_in(entry::place(e[0]), low, list, by, see);
                    }
                    continue;
                }
                _ => {
                    see(Spot::Other, low, log2, &list);
                    continue;
                }
            };
            let cells = Cells { tile: self, placed: &placed, low, block };
            if cells.is_node() {
                see(Spot::Block(cells, node.block_number(block_at)), low, log2, &[]);
                let to = block[block::TAIL] as usize;
                if to > at {
                    self.share_in(to, low, list, by, see);
                }
            } else {
                see(Spot::Block(cells, node.block_number(block_at)), low, log2, &list);
            }
        }
    }
}
