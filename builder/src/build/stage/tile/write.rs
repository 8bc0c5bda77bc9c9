//! Nodes, blocks and bundles as the bytes of a tile.

use super::divide::{Cells, NodePlan};
use crate::build::error::{BuildError, Limit};
use crate::build::stage::bundle::{Frame, Record, is_wide};
use crate::build::stage::cells::{Block, CellRef, Entry, Grid, LINE, PatchArea};
use hardpan::format;
use hardpan::format::bundle::Head;
use hardpan::format::{NODE_DENSE, Node, block, entry, word};
use smallvec::SmallVec;

/// Words of a node that hold its first bundle and the number of its first block.
pub(super) const NODE_BUNDLES: usize = std::mem::offset_of!(Node, bundles) / 4;

pub(super) const NODE_FIRST_BLOCK: usize = std::mem::offset_of!(Node, first_block) / 4;

/// Bytes as they are, four at a time.
pub(super) fn as_words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word))
}

#[derive(Default)]
pub(super) struct Writer<'a> {
    pub(super) words: Vec<u32>,
    /// The bundles of each group, which come behind all nodes, and how many they are.
    pub(super) bundles: Vec<&'a [Record]>,
    pub(super) bundle_count: u32,
    /// Where the nodes stand.
    pub(super) nodes: Vec<usize>,
    /// Blocks of the nodes that are written.
    blocks: u32,
    pub(super) patches_at: usize,
    pub(super) bound: [u32; 4],
    pub(super) layers: u32,
    pub(super) wide_tests: u32,
    /// What readers must understand.
    pub(super) features: u64,
    /// Of each entry of the palette whether it gives friction alone.
    pub(super) paints: Vec<bool>,
}

/// Values that the nodes of a group share.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    frame: Frame,
    first: u32,
    records: &'a [Record],
    /// Whether some of its bundles are wide.
    some_wide: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn align(&mut self, words: usize) {
        self.words.resize(self.words.len().next_multiple_of(words), 0);
    }

    pub(super) fn node(
        &mut self,
        plot: &'a NodePlan<Cells>,
        at: usize,
        log2: u32,
        depth: u32,
    ) -> Result<(), BuildError> {
        match plot {
            NodePlan::Inner { side_log2, children } => {
                let entries = self.node_of(at, [log2 - side_log2; 2], [*side_log2; 2], false, None);
                for (k, child) in children.iter().enumerate() {
                    self.words[entries + k] = match child {
                        NodePlan::Empty => entry::EMPTY,
                        NodePlan::Patch(n) => self.patch_entry(*n, depth),
                        _ => {
                            let to = self.reserve_node();
                            self.node(child, to, log2 - side_log2, depth + 1)?;
                            entry::of(entry::NODE, to as u32)
                        }
                    };
                }
                self.number_blocks(at, 0);
                Ok(())
            }
            NodePlan::Group(Cells { records, some_wide, frame, grid, .. }) => {
                let group = Group { frame: *frame, first: self.bundle_count, records, some_wide: *some_wide };
                self.bundles.push(records);
                self.bundle_count += records.len() as u32;
                self.grid(grid, at, group, depth)
            }
            NodePlan::Empty | NodePlan::Patch(_) | NodePlan::Refused(_) => unreachable!("not nodes"),
        }
    }

    fn grid(&mut self, grid: &Grid, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        // of empty cells, too, a block is read to see that
        self.raise([depth, 0, 0, 1], 0);
        let dense = grid.is_dense();
        let entries = self.node_of(at, grid.block_log2, grid.side_log2, dense, Some(group));
        let blocks = grid.entries.iter().filter(|e| matches!(e, Entry::Block(_))).count();
        let mut row = entries;
        if !dense && blocks > 0 {
            self.align(block::WORDS);
            row = self.words.len();
            self.words.resize(row + block::WORDS * blocks, 0);
        }
        for (k, e) in grid.entries.iter().enumerate() {
            if dense {
                self.block(e, entries + block::WORDS * k, group, depth)?;
                continue;
            }
            self.words[entries + k] = match e {
                Entry::Empty => entry::EMPTY,
                Entry::Patch(n) => self.patch_entry(*n, depth),
                Entry::Grid(g) => {
                    let to = self.reserve_node();
                    self.grid(g, to, group, depth + 1)?;
                    entry::of(entry::NODE, to as u32)
                }
                Entry::Block(_) => {
                    self.block(e, row, group, depth)?;
                    row += block::WORDS;
                    entry::of(entry::BLOCK, (row - block::WORDS) as u32)
                }
            };
        }
        self.number_blocks(at, if dense { grid.entries.len() } else { blocks });
        Ok(())
    }

    /// Gives the blocks of the node at a word their numbers: those below it have theirs.
    fn number_blocks(&mut self, at: usize, count: usize) {
        self.words[at + NODE_FIRST_BLOCK] = self.blocks;
        self.blocks += count as u32;
    }

    fn reserve_node(&mut self) -> usize {
        self.align(8);
        let at = self.words.len();
        self.words.resize(at + 8, 0);
        at
    }

    /// Writes a node and makes room for its entries or, of a dense one, its blocks.
    fn node_of(
        &mut self,
        at: usize,
        entry_log2: [u32; 2],
        side_log2: [u32; 2],
        dense: bool,
        group: Option<Group>,
    ) -> usize {
        if dense {
            self.align(block::WORDS);
        }
        let entries = self.words.len();
        let count = 1usize << (side_log2[0] + side_log2[1]);
        self.words.resize(entries + if dense { block::WORDS * count } else { count }, 0);
        self.nodes.push(at);
        let node = Node {
            entry_log2: entry_log2.map(|v| v as u8),
            side_log2: side_log2.map(|v| v as u8),
            flags: if dense { NODE_DENSE } else { 0 },
            shift: group.map_or(0, |g| g.frame.shift),
            reserved0: 0,
            base: group.map_or([0; 2], |g| g.frame.base),
            entries: entries as u32,
            bundles: group.map_or(0, |g| g.first),
            bundle_count: group.map_or(0, |g| g.records.len() as u32),
            first_block: 0, // known when it is left
        };
        let words: [u32; 8] = zerocopy::transmute!(node);
        self.words[at..at + 8].copy_from_slice(&words);
        entries
    }

    fn patch_entry(&mut self, patch: PatchArea, depth: u32) -> u32 {
        let PatchArea { number, reads, lines, .. } = patch;
        self.raise([depth, reads, reads, lines], 1);
        entry::of(entry::PATCH, self.patches_at as u32 + 16 * number)
    }

    /// Writes the block of an entry at word `at`.
    fn block(&mut self, e: &Entry, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        match e {
            Entry::Empty => self.words[at..at + block::CELLS].fill(word::of_kind(word::EMPTY)),
            Entry::Grid(g) => {
                self.words[at..at + block::CELLS].fill(word::of_kind(word::NODE));
                let to = self.reserve_node();
                self.words[at + block::TAIL] = to as u32;
                self.grid(g, to, group, depth + 1)?;
            }
            Entry::Patch(p) => {
                let one = CellRef::patch(p);
                self.cells(&Block::of(one), at, group, depth)?;
            }
            Entry::Block(cells) => self.cells(cells, at, group, depth)?,
        }
        Ok(())
    }

    /// The bits of a word, and its number.
    fn bits(&self, w: &CellRef, sheet: bool) -> (u32, u32) {
        let sheet = if sheet { word::SHEET } else { 0 };
        if w.mask == 0 {
            return (word::of_kind(word::PATCH) | sheet, self.patches_at as u32 / 16 + w.number);
        }
        (word::of_triangles(w.mask, w.first_test) | sheet, w.number)
    }

    /// Whether a word is of a material that gives friction alone: no search may end there.
    fn is_paint(&self, w: &CellRef, group: Group) -> bool {
        let attribute = |r: &Record| usize::from(Head::of_halves(r).attribute());
        self.paints.contains(&true) && w.mask != 0 && self.paints[attribute(&group.records[w.number as usize])]
    }

    fn cells(&mut self, cells: &Block, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        let mut further: SmallVec<[u32; 2 * LINE]> = SmallVec::new();
        let mut places: SmallVec<[_; block::CELLS]> = SmallVec::new();
        for (cell, (words, sole)) in cells.cells().enumerate() {
            let sole = sole && !words.iter().any(|w| self.is_paint(w, group));
            let Some((home, rest)) = words.split_first() else {
                self.words[at + cell] = word::of_kind(word::EMPTY);
                continue;
            };
            let before = further.len();
            let numbers = words.iter().map(|w| self.bits(w, false).1).max();
            let mut list_lines = 0;
            if rest.len() > block::MAX_FURTHER || numbers >= Some(word::NUMBERS) {
                if words.len() > format::MAX_WORDS as usize {
                    return Err(Limit::Surfaces.into());
                }
                if cells.tail.is_some() {
                    self.align(LINE);
                }
                let list = self.words.len();
                self.words.push(words.len() as u32);
                for w in words {
                    let (bits, number) = self.bits(w, w.start);
                    self.words.extend([bits, number]);
                }
                list_lines = format::lines(list, 1 + 2 * words.len());
                self.words[at + cell] = word::of_kind(word::LIST);
                further.push(list as u32);
            } else {
                let packed = |w: &CellRef, sheet: bool| {
                    let (bits, number) = self.bits(w, sheet);
                    bits | word::with_number(number)
                };
                let home = packed(home, sole);
                further.extend(rest.iter().map(|w| packed(w, w.start)));
                self.words[at + cell] = home;
            }
            self.words[at + block::COUNTS] |= block::count_bits(cell, further.len() - before);
            places.push((words, before, further.len() - before, list_lines, sole));
        }
        let (inline, beyond) = further.split_at(further.len().min(block::INLINE));
        self.words[at + block::FURTHER..][..inline.len()].copy_from_slice(inline);
        if let Some(tail) = cells.tail.filter(|_| !beyond.is_empty()) {
            let len = self.words.len();
            self.words.resize(len + (tail + LINE - len % LINE) % LINE, 0);
        }
        let tail = self.words.len();
        if !beyond.is_empty() {
            self.words[at + block::TAIL] = tail as u32;
            self.words.extend(beyond);
        }
        for (words, before, count, list_lines, sole) in places {
            let lines = format::word_lines(tail, before, count) + list_lines;
            let sum = |f: fn(&CellRef) -> u32| words.iter().map(f).sum::<u32>();
            let leaves = sum(|w| if w.mask == 0 { w.tests } else { 1 });
            let tests = sum(|w| w.tests);
            let leaf_lines = sum(|w| w.lines);
            let layers = sum(|w| if w.mask == 0 { 1 } else { w.tests });
            let times = format::readings(if sole { 0 } else { self.features }, layers);
            let again = |cost: u32| if times == 1 { cost } else { cost.saturating_mul(times).min(format::MAX_BOUND) };
            self.raise([depth, again(leaves), again(tests), again(lines + leaf_lines)], layers);
            if group.some_wide {
                let wide = |w: &&CellRef| w.mask != 0 && is_wide(&group.records[w.number as usize]);
                let tests = words.iter().filter(wide).map(|w| w.tests).sum();
                self.wide_tests = self.wide_tests.max(again(tests));
            }
        }
        Ok(())
    }

    fn raise(&mut self, cost: [u32; 4], layers: u32) {
        for (b, c) in self.bound.iter_mut().zip(cost) {
            *b = (*b).max(c);
        }
        self.layers = self.layers.max(layers);
    }
}
