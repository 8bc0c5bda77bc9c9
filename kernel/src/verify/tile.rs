//! Checks of a tile: bundles, patches, nodes, and the costs that follow from them.

use super::{is_error, zero};
use crate::format::{self, BLOCK_CELLS, BLOCK_POSTS, BLOCK_WORDS, Header, LONG, NODE_DENSE, Node, POSTS_AT};
use crate::format::{MAX_SIDE_LOG2, block, bundle, entry, word};
use crate::format::{Patch, PatchBlock, Tile};
use crate::leaf::bundle::Bundle;
use crate::open::Terrain;
use zerocopy::IntoBytes;

/// A walk over the nodes of a tile: where it stands at each depth, and the dearest place so far.
#[derive(Clone)]
pub(super) struct Walk {
    stack: [Turn; format::MAX_DEPTH as usize],
    depth: usize,
    /// Blocks of the nodes that it has left.
    pub blocks: u32,
    /// Words read; what is read again is counted again and soon too much, so that the work is the file's size.
    words: usize,
    /// Nodes, leaves, tests, lines, layers, tests of wide bundles.
    pub cost: [u32; 6],
    /// In a block that was begun: the next cell, the next word of its list, and what the cell costs so far.
    cell: usize,
    word: u32,
    place: [u32; 6],
}

/// Result at an entry.
pub(super) enum Found {
    Node(usize),
    Leaf,
    /// A block that is to be gone on with.
    Begun,
}

/// A node of the tile, its next entry, and how many blocks the entries before that have.
#[derive(Clone, Copy, Default)]
pub(super) struct Turn {
    at: u32,
    entry: u32,
    blocks: u32,
}

impl Walk {
    pub fn new() -> Walk {
        let mut stack = [Turn::default(); format::MAX_DEPTH as usize];
        stack[0] = Turn { at: format::ROOT as u32, entry: 0, blocks: 0 };
        Walk { stack, depth: 1, blocks: 0, words: 8, cost: [3, 0, 0, 0, 0, 0], cell: 0, word: 0, place: [0; 6] }
    }
}

/// One tile.
pub(super) struct Check<'t, 'a> {
    t: &'t Terrain<'a>,
    header: &'a Header,
    pub head: &'a Tile,
    pub bytes: &'a [u8],
    pub crc: u32,
    x: i32,
    y: i32,
    /// Where it starts: word of the image.
    pub at: usize,
    at_128: usize,
    index: u32,
    /// Words of the tile.
    pub len: usize,
}

impl<'t, 'a> Check<'t, 'a> {
    pub fn new(t: &'t Terrain<'a>, index: u32) -> Option<Self> {
        let record = t.table.get(index as usize)?;
        let at_128 = t.tiles_at.wrapping_add((record.offset / format::ALIGN as u64) as usize);
        let at = at_128.wrapping_mul(32);
        let bytes = t.bytes.get(at.wrapping_mul(4)..).and_then(|b| b.get(..record.len as usize))?;
        let head = t.tile(at)?;
        let len = record.len as usize / 4;
        Some(Check {
            t,
            header: t.header,
            head,
            bytes,
            crc: record.crc,
            x: record.x,
            y: record.y,
            at,
            at_128,
            index,
            len,
        })
    }

    /// Whether `count` words at word `at` lie in the tile.
    fn holds(&self, at: usize, count: usize) -> bool {
        at.checked_add(count).is_some_and(|end| end <= self.len)
    }

    pub fn head(&self) -> bool {
        let h = self.head;
        h.magic == format::TILE_MAGIC
            && h.index == self.index
            && h.x == self.x
            && h.y == self.y
            && h.words as usize == self.len
            && h.reserved0 == 0
            && h.reserved1 == 0
            && h.reserved2 == [0; 8]
            && h.palette_len <= format::MAX_PALETTE as u32
            && self.holds(format::PALETTE, 2 * h.palette_len as usize)
            && h.patches.is_multiple_of(16)
            && self.holds(h.patches as usize, (h.patch_count as usize).saturating_mul(16))
            && self.holds((h.bundles as usize).saturating_mul(32), (h.bundle_count as usize).saturating_mul(32))
            && h.references <= h.bundle_count.saturating_mul(bundle::TRIANGLES as u32)
            && h.max_layers <= h.references.saturating_add(h.patch_count)
            && h.max_layers <= self.header.max_layers
            && h.error.iter().all(is_error)
            && (0..h.palette_len).all(|a| {
                let a = self.t.attribute(self.at, a as u8);
                usize::from(a.material) < self.t.materials.len()
                    && usize::from(a.source) < self.t.sources.len()
                    && a.flags == 0
            })
    }

    /// Class, counts and unused bits; corners are known only with their node, see `node`.
    pub fn bundle(&self, b: u32) -> bool {
        let record = self.at_128.wrapping_add(self.head.bundles as usize).wrapping_add(b as usize);
        let Some(words) = self.t.bundles.get(record) else { return false };
        let view = Bundle { words, record, node: &Node::default() };
        let (class, head) = (view.class(), view.head());
        let count = head.triangles();
        if class > bundle::WIDE || head.kind() != bundle::GROUND || u32::from(view.attribute()) >= self.head.palette_len
        {
            return false;
        }
        let mut vertices = 0;
        for part in 0..bundle::TRIANGLES as u32 {
            let n = view.corner_numbers(part);
            if part as usize >= count {
                if n != [0; 3] {
                    return false;
                }
                continue;
            }
            if n.contains(&0) {
                return false;
            }
            vertices = n.iter().fold(vertices, |m, &v| m.max(v));
            let c = view.corners_3d(part);
            let [[ax, ay, _], [bx, by, _], [cx, cy, _]] = c;
            let d = |p: i64, q: i64| i128::from(q.wrapping_sub(p));
            let area = d(ax, bx).wrapping_mul(d(ay, cy)).wrapping_sub(d(ay, by).wrapping_mul(d(ax, cx)));
            let low = c.iter().fold(i64::MAX, |m, v| m.min(v[2]));
            let high = c.iter().fold(i64::MIN, |m, v| m.max(v[2]));
            let inside = low >= i64::from(self.header.min[2]) && high <= i64::from(self.header.max[2]);
            let flat = class != bundle::NARROW || high.wrapping_sub(low) < bundle::NARROW_RELIEF;
            if area <= 0 || !inside || !flat {
                return false;
            }
        }
        let zero = |range: core::ops::Range<usize>| view.halves().get(range).is_some_and(|h| h.iter().all(|&h| h == 0));
        let limit = bundle::VERTEX_LIMIT.get(usize::from(class));
        limit.is_some_and(|&limit| vertices <= limit) && bundle::unused(class, vertices).into_iter().all(zero)
    }

    pub fn patch(&self, p: u32) -> Option<&'a Patch> {
        let at = self.at.wrapping_add(self.head.patches as usize).wrapping_add(16 * p as usize);
        let patch = self.t.patch(at)?;
        let words = patch.block_words();
        let sound = u32::from(patch.attribute) < self.head.palette_len
            && patch.class <= 1
            && patch.interpolation == 0
            && patch.voids <= 1
            && patch.long <= 1 - patch.class
            && patch.reserved0 == [0; 3]
            && patch.from(0).unsigned_abs() <= 1 << 42
            && patch.from(1).unsigned_abs() <= 1 << 42
            && patch.first.iter().all(|&c| c < 1 << 31)
            && (1..=1 << 56).contains(&patch.cells_a_step())
            && (1..1 << 62).contains(&patch.upward())
            && patch.cells.iter().all(|&c| (1..1 << 20).contains(&c))
            && patch.blocks == patch.cells[0].div_ceil(BLOCK_CELLS)
            && self.holds((patch.place as usize).saturating_mul(words), patch.block_count().saturating_mul(words));
        sound.then_some(patch)
    }

    /// Leaves, tests and lines that one query of the patch at word `at` of the tile reads at most.
    fn patch_reads(&self, at: usize) -> Option<[u32; 3]> {
        let number = at.checked_sub(self.head.patches as usize)? / 16;
        let sound = number < self.head.patch_count as usize && at.is_multiple_of(16);
        let patch = self.t.patch(self.at.wrapping_add(at)).filter(|_| sound)?;
        Some([patch.reads(), patch.reads(), patch.lines()])
    }

    /// Checks a block of a patch, and says how many words that were.
    pub fn patch_block(&self, patch: &Patch, b: usize) -> Option<usize> {
        let words = self.t.words.get(self.at..)?.get(..self.len)?;
        let at = (patch.place as usize).wrapping_add(b).wrapping_mul(patch.block_words());
        let own = words.get(at..)?.get(..patch.block_words())?;
        let block = patch.block(words, b)?;
        let mut count = patch.block_words();
        if block.class != usize::from(patch.class) {
            count = count.wrapping_add(BLOCK_WORDS[1]);
            if patch.long == 0 || *own.get(1)? != LONG || !own.get(2..)?.iter().all(|w| *w == 0) {
                return None;
            }
        }
        self.is_block(patch, &block).then_some(count)
    }

    fn is_block(&self, patch: &Patch, block: &PatchBlock) -> bool {
        let (class, size) = (block.class & 1, 1 << (block.class & 1));
        let Some((head, posts)) = block.words.as_bytes().split_at_checked(POSTS_AT[class]) else { return false };
        let Some((_, spare)) = posts.split_at_checked(BLOCK_POSTS * size) else { return false };
        let whole = posts.chunks_exact(size).take(BLOCK_POSTS).all(|p| p.iter().any(|&b| b != 0xFF));
        let is_zero = head.get(5..).is_some_and(zero) && zero(spare);
        is_zero && format::PATCH_SCALES.contains(&block.scale()) && (whole || patch.voids == 1)
    }

    /// Checks one entry of the walk's deepest node, or some `left` bytes of its block, and says how many bytes it read;
    /// none when there is no entry left.
    pub fn turn(&self, walk: &mut Walk, left: usize) -> Option<Option<usize>> {
        const ENTRY: usize = 64; // and what it leads to
        let Some(top) = walk.depth.checked_sub(1) else { return Some(None) };
        let Turn { at, entry: k, blocks } = *walk.stack.get(top)?;
        let node = self.node(at as usize, self.log2_of(walk)?)?;
        let [entry_x, entry_y] = node.entry_log2.map(u32::from);
        if k as usize >= node.entry_count() {
            if node.first_block != walk.blocks {
                return None;
            }
            walk.blocks = walk.blocks.wrapping_add(if node.is_dense() { k } else { blocks });
            walk.depth = top;
            return Some(Some(ENTRY));
        }
        let cells = entry_x >= 2 && entry_y >= 1;
        let first = node.entries as usize;
        let mut used = ENTRY;
        let mut row = blocks;
        let found = if node.is_dense() {
            self.block(node, first.wrapping_add(block::WORDS * k as usize), cells, walk, left, &mut used)?
        } else {
            let e = *self.t.words.get(self.at.wrapping_add(first).wrapping_add(k as usize))?;
            let to = entry::place(e);
            match entry::kind(e) {
                entry::NODE => Found::Node(to),
                // blocks stand in one row, in the order of entries
                entry::BLOCK if to != node.block_row().wrapping_add(block::WORDS * blocks as usize) => return None,
                entry::BLOCK => match self.block(node, to, cells, walk, left, &mut used)? {
                    // a node is named by the entry itself
                    Found::Node(_) => return None,
                    found => {
                        row = blocks.wrapping_add(1);
                        found
                    }
                },
                entry::PATCH => {
                    let [leaves, tests, lines] = self.patch_reads(to)?;
                    raise(&mut walk.cost, [0, leaves, tests, lines, 1, 0]);
                    Found::Leaf
                }
                _ => match e {
                    entry::EMPTY | entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD => Found::Leaf,
                    _ => return None,
                },
            }
        };
        if matches!(found, Found::Begun) {
            return Some(Some(used));
        }
        self.read(walk, 1)?;
        *walk.stack.get_mut(top)? = Turn { at, entry: k.wrapping_add(1), blocks: row };
        if let Found::Node(to) = found {
            // a node lies behind the one that names it, so there is no circle
            if to <= at as usize || !to.is_multiple_of(8) {
                return None;
            }
            self.read(walk, 8)?;
            *walk.stack.get_mut(walk.depth)? = Turn { at: to as u32, entry: 0, blocks: 0 };
            walk.depth = walk.depth.wrapping_add(1);
            raise(&mut walk.cost, [2 + walk.depth as u32, 0, 0, 0, 0, 0]);
        }
        Some(Some(used))
    }

    /// Counts words that were read: in a sound tile they are no more than it has.
    fn read(&self, walk: &mut Walk, words: usize) -> Option<()> {
        walk.words = walk.words.wrapping_add(words);
        (walk.words <= self.len).then_some(())
    }

    /// log2 of the sides of the rectangle of a walk's deepest node: an entry of the one above.
    fn log2_of(&self, walk: &Walk) -> Option<[u32; 2]> {
        let Some(above) = walk.depth.checked_sub(2) else { return Some([self.header.tile_log2; 2]) };
        let above = self.t.node(self.at.wrapping_add(walk.stack.get(above)?.at as usize))?;
        Some(above.entry_log2.map(u32::from))
    }

    /// A node whose rectangle has sides of 2^`log2` steps, if it is sound.
    fn node(&self, at: usize, log2: [u32; 2]) -> Option<&'a Node> {
        if !self.holds(at, 8) {
            return None;
        }
        let node = self.t.node(self.at.wrapping_add(at))?;
        let side = node.side_log2.map(u32::from);
        let words = node.entry_words().saturating_mul(node.entry_count());
        let bundles = u64::from(self.head.bundles)..=u64::from(self.head.bundles) + u64::from(self.head.bundle_count);
        let sound = (0..2)
            .all(|i| node.side_log2[i] <= MAX_SIDE_LOG2 && u32::from(node.entry_log2[i]) + side[i] == log2[i])
            && node.flags <= NODE_DENSE
            && node.shift < 24
            && node.reserved0 == 0
            && self.holds(node.entries as usize, words)
            && bundles.contains(&u64::from(node.bundles))
            && bundles.contains(&(u64::from(node.bundles) + u64::from(node.bundle_count)));
        sound.then_some(node)
    }

    /// Checks some `left` bytes of a block, and adds what it read to what was `used`.
    fn block(
        &self,
        node: &Node,
        at: usize,
        cells: bool,
        walk: &mut Walk,
        left: usize,
        used: &mut usize,
    ) -> Option<Found> {
        if !at.is_multiple_of(block::WORDS) || !self.holds(at, block::WORDS) || !cells {
            return None;
        }
        let b = self.t.block(self.at.wrapping_add(at))?;
        let tail = b[block::TAIL] as usize;
        let home = &b[..block::CELLS];
        if block::is_node(home[0]) {
            let rest = home.iter().all(|&w| w == home[0]) && b[block::COUNTS] == 0;
            self.read(walk, block::WORDS - 1)?;
            return (rest && b[block::FURTHER..].iter().all(|&w| w == 0)).then_some(Found::Node(tail));
        }
        let (last, count) = block::further(b, block::CELLS as u32 - 1);
        let all = (last + count) as usize;
        let beyond = all.saturating_sub(block::INLINE);
        let spare = b.iter().skip(block::FURTHER + all).all(|&w| w == 0);
        if !spare || (beyond == 0 && tail != 0) || (beyond > 0 && !self.holds(tail, beyond)) {
            return None;
        }
        let word_at = |i: usize| match b.get(block::FURTHER + i) {
            Some(&w) => Some(w),
            None => self.t.words.get(self.at.wrapping_add(tail).wrapping_add(i - block::INLINE)).copied(),
        };
        while let Some(&w) = home.get(walk.cell) {
            let (before, count) = block::further(b, walk.cell as u32);
            let (before, count) = (before as usize, count as usize);
            if walk.word == 0 {
                walk.place = [0, 0, 0, format::word_lines(tail, before, count), 0, 0];
            }
            if word::is(w, word::LIST) {
                if w != word::of_kind(word::LIST) || count != 1 {
                    return None;
                }
                if !self.list(node, word_at(before)? as usize, walk, left, used)? {
                    return Some(Found::Begun);
                }
            } else if word::mask(w) == 0 && word::kind(w) != word::PATCH {
                let codes = [word::EMPTY, word::NOT_IN_IMAGE, word::NOT_UNDERSTOOD].map(word::of_kind);
                if !codes.contains(&w) || count != 0 {
                    return None;
                }
            } else {
                let sole = word::has_sheet(w);
                self.word(node, w, word::number(w), sole, &mut walk.place)?;
                for i in before..before + count {
                    let w = word_at(i)?;
                    if sole && word::has_sheet(w) {
                        return None;
                    }
                    self.word(node, w, word::number(w), sole, &mut walk.place)?;
                }
                let beyond = (before + count).saturating_sub(before.max(block::INLINE));
                *used = used.saturating_add(4 * beyond);
            }
            let features = if word::has_sheet(w) { 0 } else { self.header.must_understand };
            read_again(features, &mut walk.place);
            raise(&mut walk.cost, walk.place);
            walk.cell += 1;
            if *used >= left && walk.cell < block::CELLS {
                return Some(Found::Begun);
            }
        }
        walk.cell = 0;
        self.read(walk, block::WORDS - 1)?;
        Some(Found::Leaf)
    }

    /// Checks some `left` bytes of the list of a cell; whether that was all of it.
    fn list(&self, node: &Node, at: usize, walk: &mut Walk, left: usize, used: &mut usize) -> Option<bool> {
        let word_at = |i: usize| self.t.words.get(self.at.wrapping_add(at).wrapping_add(i)).copied();
        let count = word_at(0)?;
        if count == 0 || count > format::MAX_WORDS || !self.holds(at, 1 + 2 * count as usize) {
            return None;
        }
        if walk.word == 0 {
            walk.place[3] = walk.place[3].saturating_add(format::lines(at, 1 + 2 * count as usize));
            self.read(walk, 1 + 2 * count as usize)?;
        }
        while walk.word < count {
            let i = walk.word as usize;
            let (w, number) = (word_at(1 + 2 * i)?, word_at(2 + 2 * i)?);
            if word::number(w) != 0 {
                return None;
            }
            self.word(node, w, number, false, &mut walk.place)?;
            walk.word += 1;
            *used = used.saturating_add(8);
            if *used >= left && walk.word < count {
                return Some(false);
            }
        }
        walk.word = 0;
        Some(true)
    }

    /// Checks a word that names a bundle or a patch, in a cell of a sole sheet or not, and adds what it costs.
    fn word(&self, node: &Node, w: u32, number: u32, sole: bool, place: &mut [u32; 6]) -> Option<()> {
        let (mask, first) = (word::mask(w), word::first_test(w));
        let [leaves, tests, lines] = if mask == 0 {
            if word::kind(w) != word::PATCH || sole {
                return None;
            }
            place[4] = place[4].saturating_add(1);
            self.patch_reads((number as usize).checked_mul(16)?)?
        } else {
            if number >= node.bundle_count || mask >> first & 1 == 0 {
                return None;
            }
            let record = self.at_128.wrapping_add(node.bundles as usize).wrapping_add(number as usize);
            let head = bundle::Head::of(self.t.bundles.get(record)?);
            let (wide, tests) = (head.class() == bundle::WIDE, mask.count_ones());
            let paint = |m: &format::Material| m.is_friction_only();
            let material = self.t.attribute(self.at, head.attribute()).material;
            let paints = self.t.materials.get(usize::from(material)).is_some_and(paint);
            if mask >> head.triangles() != 0 || (sole && (wide || paints)) {
                return None;
            }
            place[4] = place[4].saturating_add(tests);
            place[5] = place[5].saturating_add(if wide { tests } else { 0 });
            [1, tests, 2]
        };
        for (p, by) in place.iter_mut().skip(1).zip([leaves, tests, lines]) {
            *p = p.saturating_add(by);
        }
        Some(())
    }
}

/// What a cell costs that is read several times.
fn read_again(features: u64, place: &mut [u32; 6]) {
    let [_, leaves, tests, lines, layers, wide] = place;
    let times = format::readings(features, *layers);
    if times == 1 {
        return;
    }
    for cost in [leaves, tests, lines, wide] {
        *cost = cost.saturating_mul(times).min(format::MAX_BOUND);
    }
}

fn raise(cost: &mut [u32; 6], by: [u32; 6]) {
    for (c, b) in cost.iter_mut().zip(by) {
        *c = (*c).max(b);
    }
}
