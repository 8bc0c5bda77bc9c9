//! Tiles, bundles and triangles of an image, read back from its bytes.
//!
//! For images that are verified: of others the answers are whatever the bytes say, or less.

use hardpan::format::{
    self, Attribute, BLOCK_CELLS, FRACTION, Node, PALETTE, PATCH_LOG2, POSTS_AT, Patch, ROOT, TileRecord, block,
    bundle, entry, section, word,
};
use hardpan::{Cost, Hit, Terrain};
use hardpan_shaders::Face;
use rayon::prelude::*;
use std::{cmp::Reverse, ops::Range};
use zerocopy::{FromBytes, IntoBytes};

/// A triangle that an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    /// Corners in lattice steps from the origin, counter-clockwise in plan, the least first.
    pub corners: [[i32; 3]; 3],
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

impl Stored {
    /// Plan area in square lattice steps, doubled.
    pub fn area2(&self) -> i128 {
        let [a, b, c] = self.corners;
        crate::util::exact::area2(a, b, c)
    }
}

/// A tile: its record in the table, its head, and its words.
#[derive(Clone, Copy)]
pub struct TileView<'a> {
    /// Where it lies, and its checks.
    pub record: &'a TileRecord,
    /// Its head.
    pub head: &'a format::Tile,
    words: &'a [u32],
}

/// A bundle: its half words, and what its coordinates count from.
#[derive(Clone, Copy)]
pub struct BundleView<'a> {
    halves: &'a [u16; bundle::HALVES],
    base: [i32; 2],
    shift: u8,
}

/// A triangle that a cell names.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// Number of its sheet in the cell: triangles of one sheet do not overlap in plan.
    pub sheet: u32,
    /// Its bundle.
    pub bundle: BundleView<'a>,
    /// Its number there.
    pub part: usize,
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

/// What lies in a leaf that a query read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafView {
    /// Triangles of a bundle, 1 to 16; of a block of heights none.
    pub triangles: Option<usize>,
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

/// A node of a tile, and the square that it stands for.
struct Placed<'a> {
    node: &'a Node,
    low: [i64; 2],
    /// Nodes that a query reads down to it, directory and page included.
    depth: u32,
}

/// A rectangle of ground over which all vertical queries have the same bound: a cell, or an entry that is a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// Its sides in lattice steps.
    pub size: [i64; 2],
    /// The most that a query there costs.
    pub cost: Cost,
}

/// A rectangle of ground that no node divides: a block of eight cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// log2 of its sides in lattice steps.
    pub log2: [u32; 2],
    /// Triangles that its cells name, each once: 1 at least.
    pub triangles: u32,
}

/// What an entry of a node holds that is no node.
enum Held<'a> {
    Block(&'a [u32]),
    /// The word at which its record stands.
    Patch(usize),
}

/// A leaf of the index, which no node divides, and all that a query in it may meet: a block that names something, or a square of
/// the ground where there is nothing but one part of a height field.
pub struct Leaf<'a, 'l> {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// log2 of its sides in lattice steps.
    pub log2: [u32; 2],
    /// Triangles, each once, and of each part of a height field the cells that one query reads.
    pub references: u32,
    /// Corners of the triangles in lattice steps from the origin.
    pub triangles: &'l [[[i32; 3]; 3]],
    /// The parts of height fields.
    pub fields: &'l [Field<'a>],
}

/// What a tile holds of a height field.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Its record.
    pub patch: &'a Patch,
    words: &'a [u32],
    /// What its places count from, in query steps.
    zero: [i64; 2],
}

impl Field<'_> {
    /// The first query step from the origin along an axis that is at post `k` or beyond.
    pub fn step(&self, axis: usize, k: u32) -> i64 {
        let p = self.patch;
        let rate = i128::from(p.cells_a_step()).max(1);
        let cells = i128::from(p.first[axis] as i32) + i128::from(k);
        let beyond = ((cells << 32) - i128::from(p.start[axis])) << 32;
        self.zero[axis] + -(-beyond).div_euclid(rate) as i64
    }

    /// Heights of the corners of a cell, south-west, south-east, north-west and north-east, in query steps from the origin; none
    /// if one of them has none.
    pub fn cell(&self, [i, j]: [u32; 2]) -> Option<[i64; 4]> {
        let p = self.patch;
        let block = (j / BLOCK_CELLS).checked_mul(p.blocks)?.checked_add(i / BLOCK_CELLS)?;
        let post = (j % BLOCK_CELLS * (BLOCK_CELLS + 1) + i % BLOCK_CELLS) as usize;
        let width = p.block_words();
        let words = self.words.get((p.place.checked_add(block)? as usize).checked_mul(width)?..)?.get(..width)?;
        let height = |k: usize| {
            let bytes = words.as_bytes();
            let unit = format::block_unit(p.class.into(), words[1]);
            let (value, none) = match p.class {
                0 => (i64::from(bytes[POSTS_AT[0] + post + k]), 0xFF),
                _ => {
                    let at = POSTS_AT[1] + 2 * (post + k);
                    (u16::from_le_bytes([bytes[at], bytes[at + 1]]).into(), 0xFFFF)
                }
            };
            (value != none || p.voids == 0).then(|| (i64::from(words[0] as i32) << FRACTION) + value * i64::from(unit))
        };
        let [a, b, c, d] = [0, 1, 5, 6].map(height);
        Some([a?, b?, c?, d?])
    }

    /// Along an axis the cells whose first query step lies in a stretch of so many steps.
    pub fn cells(&self, axis: usize, low: i64, size: i64) -> Range<u32> {
        let (from, to) = (low << FRACTION, (low + size) << FRACTION);
        let first = |q: i64| {
            let (mut a, mut b) = (0, self.patch.cells[axis]);
            while a < b {
                let middle = a + (b - a) / 2;
                if self.step(axis, middle) < q { a = middle + 1 } else { b = middle }
            }
            a
        };
        first(from)..first(to)
    }
}

impl Column {
    /// Its middle in metres.
    pub fn at(&self, t: &Terrain) -> [f64; 2] {
        let h = t.header();
        let middle = |i: usize| (h.origin[i] + self.low[i]) as f64 + self.size[i] as f64 / 2.0;
        [middle(0), middle(1)].map(|v| v * crate::util::exact::exp2(h.xy_log2))
    }

    /// From where to where it goes in x and in y, in metres.
    pub fn extent(&self, t: &Terrain) -> [[f64; 2]; 2] {
        let h = t.header();
        let low = |i: usize| h.origin[i] + self.low[i];
        [0, 1].map(|i| [low(i), low(i) + self.size[i]].map(|v| v as f64 * crate::util::exact::exp2(h.xy_log2)))
    }
}

/// What a place of the index holds that no node divides.
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

/// Shares out things with a box in plan: calls `see` with each place of a tile's index, and with those things that meet it.
pub struct Sharing<'f> {
    /// The box of a thing.
    pub ends: &'f dyn Fn(u32) -> [[i64; 2]; 2],
    /// Whether it meets the rectangle from a corner of a size.
    pub meets: &'f dyn Fn(u32, [i64; 2], [i64; 2]) -> bool,
}

/// All tiles, in the order of the table.
pub fn tiles<'a>(t: &Terrain<'a>) -> impl Iterator<Item = TileView<'a>> + use<'a> {
    let table = t.section(section::TILE_TABLE).unwrap_or_default();
    let bytes = t.section(section::TILES).unwrap_or_default();
    let records = <[TileRecord]>::ref_from_bytes(table).unwrap_or_default();
    records.iter().filter_map(|record| {
        let tile = bytes.get(usize::try_from(record.offset).ok()?..)?.get(..usize::try_from(record.len).ok()?)?;
        let head = format::Tile::ref_from_prefix(tile).ok()?.0;
        Some(TileView { record, head, words: <[u32]>::ref_from_bytes(tile).ok()? })
    })
}

/// Most layers of a place that there is room for.
pub const ROOM: usize = 1 << 20;

/// Room for all layers of a place, as far as an image may be believed.
pub fn room(t: &Terrain) -> Vec<Hit> {
    vec![Hit::NONE; (t.max_layers() as usize).clamp(4, ROOM)]
}

/// The largest side of tiles, log2 in lattice steps and up to `most`, whose palettes hold what those of this image have, if that is larger.
pub fn larger_tiles(t: &Terrain, most: u32) -> Option<u32> {
    let log2 = t.header().tile_log2;
    let fits = |by: u32| {
        let mut pairs: Vec<[i32; 4]> = Vec::new();
        for tile in tiles(t) {
            let [x, y] = [tile.record.x >> by, tile.record.y >> by];
            pairs.extend(tile.palette().iter().map(|a| [x, y, a.material.into(), a.source.into()]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.chunk_by(|a, b| a[..2] == b[..2]).all(|tile| tile.len() <= hardpan::format::MAX_PALETTE)
    };
    (1..=most.saturating_sub(log2)).rev().find(|by| fits(*by)).map(|by| log2 + by)
}

/// All triangles, each once, ascending.
pub fn triangles(t: &Terrain) -> Vec<Stored> {
    let mut all: Vec<Stored> = Vec::new(); // the head's counts are not proven
    for tile in tiles(t) {
        let palette = tile.palette();
        for b in tile.bundles() {
            let Some(a) = palette.get(usize::from(b.attribute())) else { continue };
            let stored = |corners| Stored { corners: turned(corners), material: a.material, source: a.source };
            all.extend((0..b.triangles()).map(|i| stored(b.corners(i))));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The same as a mesh: vertices, ascending, and triangles of them.
pub(crate) fn mesh(t: &Terrain) -> (Vec<[i32; 3]>, Vec<Face>) {
    let stored = triangles(t);
    let mut vertices: Vec<[i32; 3]> = stored.iter().flat_map(|s| s.corners).collect();
    vertices.par_sort_unstable();
    vertices.dedup();
    let number = |v: [i32; 3]| vertices.partition_point(|other| *other < v) as u32;
    let face = |s: &Stored| Face { v: s.corners.map(number), material: s.material, source: s.source };
    let faces = stored.par_iter().map(face).collect();
    (vertices, faces)
}

/// The leaf of a [`Trace::Leaf`](hardpan::Trace::Leaf), or none. Blocks of heights have two sizes, and their numbers do not say
/// which: where blocks of either could be meant that differ in material or source, none.
pub fn leaf(t: &Terrain, record: usize, lines: u32) -> Option<LeafView> {
    let section = t.header().sections.iter().find(|s| s.kind == section::TILES)?;
    let mut all = tiles(t).flat_map(|tile| {
        let at = section.offset.saturating_add(tile.record.offset) / 4;
        tile.leaves(usize::try_from(at).unwrap_or(usize::MAX), record, lines)
    });
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The least corner first.
fn turned(mut corners: [[i32; 3]; 3]) -> [[i32; 3]; 3] {
    let least = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
    corners.rotate_left(least);
    corners
}

impl<'a> TileView<'a> {
    /// Of a tile that stands by itself.
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
    pub fn share(&self, things: Vec<u32>, by: &Sharing, see: &mut dyn FnMut(Spot, [i64; 2], [u32; 2], &[u32])) {
        let Some(side) = self.side() else { return };
        let low = [self.record.x, self.record.y].map(|v| i64::from(v) << side);
        self.share_in(ROOT, low, things, by, see);
    }

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

    /// What [`leaf`] could mean in a tile that starts at this word of the image.
    fn leaves(&self, start: usize, record: usize, lines: u32) -> Vec<LeafView> {
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
    fn entries(&self, node: &Node) -> impl Iterator<Item = &'a [u32]> + use<'a> {
        let (count, width) = (node.entry_count(), node.entry_words());
        let entries = self.words.get(node.entries as usize..).and_then(|w| w.get(..count.saturating_mul(width)));
        entries.unwrap_or_default().chunks_exact(width)
    }

    /// Calls `see` with every block and patch that is an entry: its node, its lower left corner, and what it holds.
    fn held(&self, mut see: impl FnMut(&Placed, [i64; 2], Held)) {
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
                    let reads = self.reads(at);
                    let cost = Cost { nodes: placed.depth, leaves: reads, tests: reads, lines: reads };
                    return see(Column { low, size: log2.map(|l| 1 << l), cost });
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
        self.part(self.patch(at)?)
    }

    fn patch(&self, at: usize) -> Option<&'a Patch> {
        Patch::ref_from_bytes(self.words.get(at..)?.get(..16)?.as_bytes()).ok()
    }

    fn part(&self, patch: &'a Patch) -> Option<Field<'a>> {
        let side = self.side()?;
        let zero = [self.record.x, self.record.y].map(|v| match patch.wide {
            0 => i64::from(v) << side >> PATCH_LOG2 << PATCH_LOG2 << FRACTION,
            _ => 0,
        });
        Some(Field { patch, words: self.words, zero })
    }

    /// log2 of the tile's side in lattice steps.
    fn side(&self) -> Option<u32> {
        let node = Node::ref_from_bytes(self.words.get(ROOT..)?.get(..8)?.as_bytes()).ok()?;
        Some((u32::from(node.entry_log2[0]) + u32::from(node.side_log2[0])) & 63)
    }

    /// Calls `see` with every cell of a height field that has its first place in the tile, and whose corners have heights: its part, its number there in x
    /// and y, and those heights.
    pub fn raster(&self, mut see: impl FnMut(&Field, [u32; 2], [i64; 4])) {
        for field in self.patches().iter().filter_map(|p| self.part(p)) {
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

    /// The column that costs most tests, then most lines, leaves and nodes; the southernmost, then westernmost of equals.
    pub fn costliest(&self) -> Option<Column> {
        let mut most: Option<Column> = None;
        self.columns(|c| {
            most = Some(most.map_or(c, |m| costlier(m, c)));
        });
        most
    }

    /// Cells that one query of the patch at a word reads.
    fn reads(&self, at: usize) -> u32 {
        self.patch(at).map_or(0, Patch::reads)
    }

    /// The words of a cell with ground, each with the number of what it names, and the lines that reading them takes.
    fn named<'b>(
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
                0 => [self.reads(16 * number as usize); 3],
                mask => [1, mask.count_ones(), 2],
            };
            (cost.leaves, cost.tests, cost.lines) = (cost.leaves + leaves, cost.tests + tests, cost.lines + lines);
        }
        Some(cost)
    }
}

/// The bundles of a node.
fn records<'a>(words: &'a [u32], node: &Node) -> &'a [[u16; bundle::HALVES]] {
    let records = words.get(32 * node.bundles as usize..).and_then(|w| w.get(..32 * node.bundle_count as usize));
    records.and_then(|w| <[[u16; bundle::HALVES]]>::ref_from_bytes(w.as_bytes()).ok()).unwrap_or_default()
}

/// The lower left corner and the sides of a cell of a block.
fn cell_of(placed: &Placed, low: [i64; 2], cell: usize) -> ([i64; 2], [i64; 2]) {
    let side = |i: usize| 1i64 << (u32::from(placed.node.entry_log2[i]) & 63).saturating_sub(block::CELLS_LOG2[i]);
    let size = [side(0), side(1)];
    let at = block::place(cell).map(|v| v as i64);
    ([0, 1].map(|i| low[i] + at[i] * size[i]), size)
}

/// Of two columns the one that costs more.
fn costlier(a: Column, b: Column) -> Column {
    let key = |c: &Column| {
        let Cost { nodes, leaves, tests, lines } = c.cost;
        ([tests, lines, leaves, nodes], std::cmp::Reverse([c.low[1], c.low[0]]))
    };
    if key(&b) > key(&a) { b } else { a }
}

/// The costliest column of an image: see [`TileView::costliest`].
pub fn costliest(t: &Terrain) -> Option<Column> {
    tiles(t).filter_map(|tile| tile.costliest()).reduce(costlier)
}

impl Placed<'_> {
    /// The lower left corner of an entry.
    fn entry(&self, k: usize) -> [i64; 2] {
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

impl BundleView<'_> {
    fn head(&self) -> bundle::Head {
        bundle::Head::of_halves(self.halves)
    }

    /// Number of triangles, 1 to 16.
    pub fn triangles(&self) -> usize {
        self.head().triangles()
    }

    /// Palette entry.
    pub fn attribute(&self) -> u8 {
        self.head().attribute()
    }

    /// One of `format::bundle::{NARROW, MEDIUM, WIDE}`.
    pub fn class(&self) -> u16 {
        self.head().class()
    }

    /// Corners of a triangle in lattice steps from the origin.
    pub fn corners(&self, part: usize) -> [[i32; 3]; 3] {
        bundle::corners(self.halves, part as u32).map(|i| self.vertex(i))
    }

    /// A vertex, counted from 1.
    fn vertex(&self, i: usize) -> [i32; 3] {
        let class = usize::from(self.class()).min(2);
        let words: [u32; bundle::WORDS] = zerocopy::transmute!(*self.halves);
        let word = |k: usize| words[k % bundle::WORDS];
        let base =
            |axis: usize| i64::from(self.base[axis]) + (i64::from(bundle::plan_base(self.halves, axis)) << self.shift);
        let z = i64::from(bundle::base_height(&words));
        let corner = match class as u16 {
            bundle::NARROW => {
                let [gx, gy] = bundle::slopes(self.halves).map(i64::from);
                let [x, y] = bundle::narrow_plan(word(bundle::NARROW_ZERO.1 + i)).map(i64::from);
                let dz = i64::from(self.halves[(bundle::NARROW_ZERO.0 + i) % bundle::HALVES]);
                [base(0) + x, base(1) + y, z + ((gx * x + gy * y) >> bundle::SLOPE_FRACTION) + dz]
            }
            bundle::MEDIUM => {
                let at = 2 * (bundle::MEDIUM_ZERO + i);
                let pair = [word(at), word(at + 1)];
                let [x, y] = bundle::medium_plan(pair).map(i64::from);
                [base(0) + x, base(1) + y, z + i64::from(bundle::medium_height(pair))]
            }
            _ => [0, 1, 2].map(|k| word(bundle::WIDE_ZERO + bundle::WIDE_STRIDE * i + k) as i32 as i64),
        };
        corner.map(|v| v as i32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::options::Options;

    #[test]
    fn all_triangles_come_back() {
        let small = Options { tile_log2: Some(14), ..Options::default() };
        let scenes = [fixtures::ramp(), fixtures::curb(), fixtures::far(), fixtures::soup(3), fixtures::town(1)];
        let cases = scenes.iter().map(|s| (s, Options::default())).chain([(&scenes[1], small)]);
        for (scene, options) in cases {
            let built = build(scene, &options).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let (mesh, _) = crate::build::job::mesh(scene, &options, &hardpan_shaders::Cpu::new()).unwrap();
            let face = |f: &Face| Stored {
                corners: f.v.map(|v| mesh.vertices[v as usize]),
                material: f.material,
                source: f.source,
            };
            let mut wanted: Vec<Stored> = mesh.faces.iter().map(face).collect();
            wanted.sort_unstable();
            assert_eq!(wanted.len() as u64, t.header().triangles);
            assert!(triangles(&t) == wanted);
        }
    }

    /// What is over a place is in a leaf that was read, and what was tested is one of its triangles.
    #[test]
    fn vt_17_leaves_that_a_query_reads() {
        let mut blocks = 0;
        for scene in [fixtures::bridge(), fixtures::mats(), fixtures::cobble(), fixtures::town(1), fixtures::soup(3)] {
            let built = build(&scene, &Options::default()).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let [low, high] = t.bounds();
            let at = |axis: usize, k: usize| low[axis] + (high[axis] - low[axis]) * (k as f64 + 0.37) / 24.0;
            for k in 0..24 * 24 {
                let (mut read, mut found) = (Vec::new(), Vec::new());
                t.explain([at(0, k % 24), at(1, k / 24), high[2]], |step| match step {
                    hardpan::Trace::Leaf { record, lines } => {
                        let view = leaf(&t, record, lines).unwrap();
                        assert_eq!(view.triangles.is_some(), lines == 2);
                        read.push((record, view));
                    }
                    hardpan::Trace::Test { record, part, .. } => {
                        let (last, view) = read.last().unwrap();
                        assert!(*last == record && view.triangles.is_none_or(|n| (part as usize) < n));
                    }
                    hardpan::Trace::Candidate(hit) => found.push(hit),
                    _ => (),
                });
                blocks += read.iter().filter(|(_, view)| view.triangles.is_none()).count();
                for hit in found {
                    assert!(read.iter().any(|(_, v)| (v.material, v.source) == (hit.material, hit.source)), "{hit:?}");
                }
            }
            assert_eq!([1, 2].map(|lines| leaf(&t, built.image.len(), lines)), [None; 2]);
        }
        assert!(blocks > 100, "{blocks}");
    }
}
