//! How a tile is walked: its nodes, blocks and cells.

use super::leaf::{BundleView, Field};
use super::{Block, Column, Leaf, LeafView, Named};
use hardpan::format::{Attribute, FRACTION, Node, PALETTE, Patch, ROOT, TileRecord, block, bundle, entry, word};
use hardpan::{Cost, format};
use std::cmp::Reverse;
use zerocopy::{FromBytes, IntoBytes};

/// A tile: its record in the table, its head, and its words.
#[derive(Clone, Copy)]
pub struct TileView<'a> {
    /// Where it lies, and its checks.
    pub record: &'a TileRecord,
    /// Its head.
    pub head: &'a format::Tile,
    pub(super) words: &'a [u32],
}

/// A cell over which triangles lie in more than one sheet.
pub struct Stack<'a, 'w> {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// Its sides in lattice steps.
    pub size: [i64; 2],
    words: &'w [(u32, u32)],
    records: &'a [[u16; bundle::HALVES]],
    base: [i32; 2],
    shift: u8,
}

/// A node of a tile, and the square that it stands for.
pub(super) struct Placed<'a> {
    pub(super) node: &'a Node,
    pub(super) low: [i64; 2],
    /// Nodes that a query reads down to it, directory and page included.
    pub(super) depth: u32,
}

/// An entry of a node that leads to no node.
pub(super) enum Held<'a> {
    Block(&'a [u32]),
    /// The word at which its record stands.
    Patch(usize),
}

impl<'a> TileView<'a> {
    /// Pairs of material and source.
    pub fn palette(&self) -> &'a [Attribute] {
        let words = self.words.get(PALETTE..).and_then(|w| w.get(..2 * self.head.palette_len as usize));
        words.and_then(|w| <[Attribute]>::ref_from_bytes(w.as_bytes()).ok()).unwrap_or_default()
    }

    /// Parts of height fields.
    pub fn patches(&self) -> &'a [Patch] {
        let words =
            self.words.get(self.head.patches as usize..).and_then(|w| w.get(..16 * self.head.patch_count as usize));
        words.and_then(|w| <[Patch]>::ref_from_bytes(w.as_bytes()).ok()).unwrap_or_default()
    }

    /// Bundles, in the order of the bytes.
    pub fn bundles(&self) -> impl Iterator<Item = BundleView<'a>> + use<'a> {
        let words = self.words;
        let mut nodes: Vec<&Node> = self.nodes().iter().map(|p| p.node).collect();
        nodes.retain(|n| n.bundle_count > 0);
        // The nodes of one grid share their bundles. Each is read once, whatever nodes of a damaged image count.
        nodes.sort_unstable_by_key(|n| (n.bundles, Reverse(n.bundle_count)));
        let mut end = 0;
        nodes.into_iter().flat_map(move |node| {
            let (first, records) = (node.bundles as usize, records(words, node));
            let views = records.get(end.max(first) - first..).unwrap_or_default().iter();
            end = end.max(first + records.len());
            views.map(|halves| BundleView { halves, base: node.base, shift: node.shift & 31 })
        })
    }

    /// Leaves that a [`leaf`] may name in a tile that starts at this word of the image.
    pub(super) fn leaves(&self, start: usize, record: usize, lines: u32) -> Vec<LeafView> {
        let view = |triangles: Option<usize>, attribute: u8| {
            let a = self.palette().get(usize::from(attribute))?;
            Some(LeafView { triangles, material: a.material, source: a.source })
        };
        if lines == 2 {
            let at = record.saturating_mul(32).checked_sub(start);
            let words = at.and_then(|at| self.words.get(at..)).and_then(|w| w.get(..32));
            let halves = words.and_then(|w| <[u16; bundle::HALVES]>::ref_from_bytes(w.as_bytes()).ok());
            let bundle = halves.map(|halves| BundleView { halves, base: [0; 2], shift: 0 });
            return bundle.and_then(|b| view(Some(b.triangles()), b.attribute())).into_iter().collect();
        }
        let holds = |p: &&Patch| {
            let size = p.block_words();
            let first = (start / size).saturating_add(p.place as usize);
            (first..first.saturating_add(p.block_count())).contains(&record)
        };
        self.patches().iter().filter(holds).filter_map(|p| view(None, p.attribute)).collect()
    }

    fn nodes(&self) -> Vec<Placed<'a>> {
        let mut nodes: Vec<Placed> = Vec::new();
        let mut open = vec![(ROOT, None, 3)];
        while let Some((at, low, depth)) = open.pop() {
            let words = self.words.get(at..).and_then(|w| w.get(..8));
            let Some(node) = words.and_then(|w| Node::ref_from_bytes(w.as_bytes()).ok()) else {
                continue;
            };
            let side = (u32::from(node.entry_log2[0]) + u32::from(node.side_log2[0])) & 63;
            let low = low.unwrap_or([self.record.x, self.record.y].map(|v| i64::from(v) << side));
            let placed = Placed { node, low, depth };
            for (k, e) in self.entries(node).enumerate() {
                // a node lies behind the one that names it, so this ends
                let to = match (node.is_dense(), entry::kind(e[0])) {
                    (true, _) if block::is_node(e[0]) => e[block::TAIL] as usize,
                    (false, entry::NODE) => entry::place(e[0]),
                    _ => continue,
                };
                if to > at {
                    open.push((to, Some(placed.entry(k)), depth + 1));
                }
            }
            nodes.push(placed);
        }
        nodes
    }

    /// The entries of a node, or its blocks.
    pub(super) fn entries(&self, node: &Node) -> impl Iterator<Item = &'a [u32]> + use<'a> {
        let (count, width) = (node.entry_count(), node.entry_words());
        let entries = self.words.get(node.entries as usize..).and_then(|w| w.get(..count.saturating_mul(width)));
        entries.unwrap_or_default().chunks_exact(width)
    }

    /// Calls `see` with every block and patch that is an entry: its node, its lower left corner, and what it holds.
    pub(super) fn held(&self, mut see: impl FnMut(&Placed, [i64; 2], Held)) {
        for placed in self.nodes() {
            for (k, e) in self.entries(placed.node).enumerate() {
                let at = entry::place(e[0]);
                let held = match (placed.node.is_dense(), entry::kind(e[0])) {
                    (true, _) => Held::Block(e),
                    (false, entry::BLOCK) => match self.words.get(at..).and_then(|w| w.get(..block::WORDS)) {
                        Some(block) => Held::Block(block),
                        None => continue,
                    },
                    (false, entry::PATCH) => Held::Patch(at),
                    _ => continue,
                };
                see(&placed, placed.entry(k), held);
            }
        }
    }

    /// Calls `see` with every column that has ground.
    pub fn columns(&self, mut see: impl FnMut(Column)) {
        self.held(|placed, low, held| {
            let log2 = placed.node.entry_log2.map(|l| u32::from(l) & 63);
            let block = match held {
                Held::Block(block) => block,
                Held::Patch(at) => {
                    let [leaves, tests, lines] = self.reads(at);
                    let cost = Cost { nodes: placed.depth, leaves, tests, lines };
                    let Some(field) = self.field(at) else { return };
                    let ground = [0, 1].map(|axis| {
                        let ends = [0, field.patch.cells[axis]].map(|k| field.step(axis, k) >> FRACTION);
                        [low[axis].max(ends[0]), (low[axis] + (1 << log2[axis])).min(ends[1] + 1)]
                    });
                    if ground.iter().all(|[from, to]| from < to) {
                        see(Column { low: ground.map(|g| g[0]), size: ground.map(|g| g[1] - g[0]), cost });
                    }
                    return;
                }
            };
            for cell in 0..block::CELLS {
                let (low, size) = cell_of(placed, low, cell);
                if let Some(cost) = self.cell(placed, block, cell) {
                    see(Column { low, size, cost });
                }
            }
        });
    }

    /// Calls `see` with every block that has triangles.
    pub fn blocks(&self, mut see: impl FnMut(Block)) {
        self.held(|placed, low, held| {
            let Held::Block(block) = held else { return };
            let triangles = self.members(block).map(|(_, mask)| mask.count_ones()).sum();
            if triangles > 0 {
                see(Block { low, log2: placed.node.entry_log2.map(|l| u32::from(l) & 63), triangles });
            }
        });
    }

    /// Calls `see` with every leaf.
    pub fn filled(&self, mut see: impl FnMut(Leaf<'a, '_>)) {
        let (mut triangles, mut fields) = (Vec::new(), Vec::new());
        self.held(|placed, low, held| {
            let node = placed.node;
            let log2 = node.entry_log2.map(|l| u32::from(l) & 63);
            triangles.clear();
            fields.clear();
            let mut references = 0;
            match held {
                Held::Patch(at) => fields.extend(self.field(at)),
                Held::Block(block) => {
                    let records = records(self.words, node);
                    for (number, mask) in self.members(block) {
                        references += mask.count_ones();
                        let Some(halves) = records.get(number as usize) else { continue };
                        let bundle = BundleView { halves, base: node.base, shift: node.shift & 31 };
                        let named = (0..bundle.triangles()).filter(|part| mask >> part & 1 == 1);
                        triangles.extend(named.map(|part| bundle.corners(part)));
                    }
                    fields.extend(self.parts(block).into_iter().filter_map(|at| self.field(at)));
                }
            }
            references += fields.iter().map(|f| f.patch.reads()).sum::<u32>();
            if references > 0 {
                see(Leaf { low, log2, references, triangles: &triangles, fields: &fields });
            }
        });
    }

    /// How many leaves there are.
    pub fn leaf_count(&self) -> u64 {
        let mut count = 0;
        self.held(|_, _, held| {
            count += match held {
                Held::Patch(_) => 1,
                Held::Block(block) => u64::from((0..block::CELLS).any(|cell| self.named(block, cell).is_some())),
            };
        });
        count
    }

    /// The bundles that the cells of a block name, each once, and which of their triangles.
    fn members(&self, block: &[u32]) -> impl Iterator<Item = (u32, u32)> + use<> {
        let mut words = self.all(block);
        words.retain(|(_, mask)| *mask != 0);
        words.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 |= if same { next.1 } else { 0 };
            same
        });
        words.into_iter()
    }

    /// The words at which the records of the patches stand that the cells of a block name, each once.
    fn parts(&self, block: &[u32]) -> Vec<usize> {
        let mut words = self.all(block);
        words.retain(|(_, mask)| *mask == 0);
        words.dedup();
        words.into_iter().map(|(number, _)| 16 * number as usize).collect()
    }

    /// Numbers and masks of all words of a block, ascending.
    fn all(&self, block: &[u32]) -> Vec<(u32, u32)> {
        let all = (0..block::CELLS).filter_map(|cell| self.named(block, cell)).flat_map(|(words, _)| words);
        let mut words: Vec<(u32, u32)> = all.map(|(w, number)| (number, word::mask(w))).collect();
        words.sort_unstable();
        words
    }

    /// The patch whose record stands at a word.
    fn field(&self, at: usize) -> Option<Field<'a>> {
        Some(self.part(self.patch(at)?))
    }

    fn patch(&self, at: usize) -> Option<&'a Patch> {
        Patch::ref_from_bytes(self.words.get(at..)?.get(..16)?.as_bytes()).ok()
    }

    /// The parts of height fields that it holds.
    pub fn fields<'b>(&'b self) -> impl Iterator<Item = Field<'a>> + use<'a, 'b> {
        self.patches().iter().map(|patch| self.part(patch))
    }

    pub(super) fn part(&self, patch: &'a Patch) -> Field<'a> {
        Field { patch, words: self.words }
    }

    /// log2 of the tile's side in lattice steps.
    pub(super) fn side(&self) -> Option<u32> {
        let node = Node::ref_from_bytes(self.words.get(ROOT..)?.get(..8)?.as_bytes()).ok()?;
        Some((u32::from(node.entry_log2[0]) + u32::from(node.side_log2[0])) & 63)
    }

    /// Calls `see` with every cell of a height field that has its first place in the tile, and whose corners have
    /// heights: its part, its number there in x and y, and those heights.
    pub fn raster(&self, mut see: impl FnMut(&Field, [u32; 2], [i64; 4])) {
        for field in self.fields() {
            let Some(side) = self.side() else { continue };
            let own = |axis: usize, v: i32| field.cells(axis, i64::from(v) << side, 1 << side);
            let (x, y) = (own(0, self.record.x), own(1, self.record.y));
            for [i, j] in y.flat_map(|j| x.clone().map(move |i| [i, j])) {
                if let Some(heights) = field.cell([i, j]) {
                    see(&field, [i, j], heights);
                }
            }
        }
    }

    /// Calls `see` with every cell over which triangles lie in more than one sheet.
    pub fn stacked(&self, mut see: impl FnMut(Stack<'a, '_>)) {
        let mut words = Vec::new();
        self.held(|placed, low, held| {
            let Held::Block(block) = held else { return };
            let records = records(self.words, placed.node);
            for cell in 0..block::CELLS {
                words.clear();
                words.extend(self.named(block, cell).into_iter().flat_map(|(words, _)| words));
                if words.iter().skip(1).any(|(w, _)| word::has_sheet(*w)) {
                    let (low, size) = cell_of(placed, low, cell);
                    let (base, shift) = (placed.node.base, placed.node.shift & 31);
                    see(Stack { low, size, words: &words, records, base, shift });
                }
            }
        });
    }

    /// The column that costs most tests, then most lines, leaves and nodes; the southernmost, then westernmost of
    /// equals.
    pub fn costliest(&self) -> Option<Column> {
        let mut most: Option<Column> = None;
        self.columns(|c| {
            most = Some(most.map_or(c, |m| costlier(m, c)));
        });
        most
    }

    /// Leaves, tests and lines that one query of the patch at a word reads.
    fn reads(&self, at: usize) -> [u32; 3] {
        self.patch(at).map_or([0; 3], |p| [p.reads(), p.reads(), p.lines()])
    }

    /// The words of a cell with ground, each with the number of what it names, and the lines that reading them takes.
    pub(super) fn named<'b>(
        &'b self,
        block: &'b [u32],
        cell: usize,
    ) -> Option<(impl Iterator<Item = (u32, u32)> + use<'a, 'b>, u32)> {
        let home = block[cell];
        let list = word::is(home, word::LIST);
        if word::mask(home) == 0 && !list && !word::is(home, word::PATCH) {
            return None;
        }
        let (before, count) = block::further(block.first_chunk()?, cell as u32);
        let (before, count) = (before as usize, count as usize);
        let tail = block[block::TAIL] as usize;
        let word_at = move |i: usize| match block.get(block::FURTHER + i) {
            Some(&w) => w,
            None => self.words.get(tail + i - block::INLINE).copied().unwrap_or_default(),
        };
        let mut lines = format::word_lines(tail, before, count);
        let (mut own, mut listed) = (before..before + count, &[][..]);
        if list {
            let at = word_at(before) as usize;
            let count = self.words.get(at).copied().unwrap_or_default() as usize;
            listed = self.words.get(at + 1..).and_then(|w| w.get(..2 * count)).unwrap_or_default();
            lines += format::lines(at, 1 + 2 * count);
            own = 0..0;
        }
        let own = (!list).then_some(home).into_iter().chain(own.map(word_at)).map(|w| (w, word::number(w)));
        Some((own.chain(listed.chunks_exact(2).map(|p| (p[0], p[1]))), lines))
    }

    /// Bound of a cell with ground.
    fn cell(&self, placed: &Placed, block: &[u32], cell: usize) -> Option<Cost> {
        let (words, lines) = self.named(block, cell)?;
        let mut cost = Cost { nodes: placed.depth, lines, ..Cost::default() };
        for (w, number) in words {
            let [leaves, tests, lines] = match word::mask(w) {
                0 => self.reads(16 * number as usize),
                mask => [1, mask.count_ones(), 2],
            };
            (cost.leaves, cost.tests, cost.lines) = (cost.leaves + leaves, cost.tests + tests, cost.lines + lines);
        }
        Some(cost)
    }
}

/// The bundles of a node.
pub(super) fn records<'a>(words: &'a [u32], node: &Node) -> &'a [[u16; bundle::HALVES]] {
    let records = words.get(32 * node.bundles as usize..).and_then(|w| w.get(..32 * node.bundle_count as usize));
    records.and_then(|w| <[[u16; bundle::HALVES]]>::ref_from_bytes(w.as_bytes()).ok()).unwrap_or_default()
}

/// The lower left corner and the sides of a cell of a block.
pub(super) fn cell_of(placed: &Placed, low: [i64; 2], cell: usize) -> ([i64; 2], [i64; 2]) {
    let side = |i: usize| 1i64 << (u32::from(placed.node.entry_log2[i]) & 63).saturating_sub(block::CELLS_LOG2[i]);
    let size = [side(0), side(1)];
    let at = block::place(cell).map(|v| v as i64);
    ([0, 1].map(|i| low[i] + at[i] * size[i]), size)
}

/// The costlier of two columns.
pub(super) fn costlier(a: Column, b: Column) -> Column {
    let key = |c: &Column| {
        let Cost { nodes, leaves, tests, lines } = c.cost;
        ([tests, lines, leaves, nodes], std::cmp::Reverse([c.low[1], c.low[0]]))
    };
    if key(&b) > key(&a) { b } else { a }
}

impl Placed<'_> {
    /// The lower left corner of an entry.
    pub(super) fn entry(&self, k: usize) -> [i64; 2] {
        let at = self.node.place_of(k);
        [0, 1].map(|i| self.low[i] + ((at[i] as i64) << (self.node.entry_log2[i] & 63)))
    }
}

impl<'a> Stack<'a, '_> {
    /// How many triangles it names.
    pub fn count(&self) -> u32 {
        self.words.iter().map(|(w, _)| word::mask(*w).count_ones()).sum()
    }

    /// Whether it names a part of a height field, too.
    pub fn has_field(&self) -> bool {
        self.words.iter().any(|(w, _)| word::mask(*w) == 0)
    }

    /// The triangles that it names, sheet by sheet.
    pub fn triangles(&self) -> impl Iterator<Item = Named<'a>> {
        let mut sheet = 0;
        self.words.iter().enumerate().flat_map(move |(i, &(w, number))| {
            sheet += u32::from(i > 0 && word::has_sheet(w));
            let halves = self.records.get(number as usize).filter(|_| word::mask(w) != 0);
            let bundle = halves.map(|halves| BundleView { halves, base: self.base, shift: self.shift });
            let (named, sheet) = (bundle.map(|bundle| (bundle, bundle.triangles())), sheet);
            named.into_iter().flat_map(move |(bundle, count)| {
                (0..count).filter(move |part| w >> part & 1 == 1).map(move |part| Named { sheet, bundle, part })
            })
        })
    }
}
