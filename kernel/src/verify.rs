//! Proving an image from its bytes alone: checksums, structure, reserved bytes, stated bounds.

use crate::bundle::Bundle;
use crate::format::{self, BLOCK_CELLS, Header, Node, Patch, Section, Tile, bundle, entry, section, slot, word};
use crate::open::{CRC, Terrain};
use crate::walk::{Leaf, LeafWords};
use core::fmt;
use zerocopy::IntoBytes;

/// What is wrong with the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// A section's bytes do not match its checksum.
    SectionDamaged(u32),
    /// A section contradicts the head, or holds what no builder writes.
    SectionInvalid(u32),
    /// Bytes between or behind sections are not zero.
    Padding,
    /// A tile's bytes do not match its checksum.
    TileDamaged(u32),
    /// A tile holds what no builder writes.
    TileInvalid(u32),
    /// A place in a tile costs more than the image states.
    BoundExceeded(u32),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SectionDamaged(k) => write!(f, "section {k} is damaged (its checksum differs)"),
            Self::SectionInvalid(k) => write!(f, "section {k} contradicts the head"),
            Self::Padding => f.write_str("bytes outside the sections are not zero"),
            Self::TileDamaged(t) => write!(f, "tile {t} is damaged (its checksum differs)"),
            Self::TileInvalid(t) => write!(f, "tile {t} contradicts itself"),
            Self::BoundExceeded(t) => write!(f, "tile {t} costs more than the image states"),
        }
    }
}

impl core::error::Error for VerifyError {}

/// Proves an image in slices, so that it can run between control ticks.
///
/// Sections come first, then the tiles, one at a time: the largest pause is that of the largest tile.
#[derive(Clone)]
pub struct Verifier<'a> {
    terrain: Terrain<'a>,
    sections_done: bool,
    next: u32,
    first_error: Option<VerifyError>,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(terrain: Terrain<'a>) -> Self {
        Verifier { terrain, sections_done: false, next: 0, first_error: None }
    }

    /// Checks about `max_bytes` more, at least one tile; `Ok(true)` when all is proven.
    ///
    /// With a `bitmap` of a bit for each tile, damaged tiles are marked in it, the rest is still
    /// checked, and the first error comes at the end. With an empty one the first error ends it.
    pub fn step(&mut self, max_bytes: usize, bitmap: &mut [u8]) -> Result<bool, VerifyError> {
        let t = &self.terrain;
        let mut left = max_bytes;
        if !self.sections_done {
            sections(t)?;
            self.sections_done = true;
        }
        while let Some(record) = t.table.get(self.next as usize) {
            let index = self.next;
            self.next = index.wrapping_add(1);
            if let Err(e) = tile(t, index) {
                let Some(byte) = bitmap.get_mut(index as usize / 8) else { return Err(e) };
                *byte |= 1 << (index % 8);
                self.first_error.get_or_insert(e);
            }
            left = left.saturating_sub(record.len as usize);
            if left == 0 && (self.next as usize) < t.table.len() {
                return Ok(false);
            }
        }
        self.first_error.map_or(Ok(true), Err)
    }
}

fn zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| b == 0)
}

fn sections(t: &Terrain) -> Result<(), VerifyError> {
    let h = t.header;
    let invalid = VerifyError::SectionInvalid;
    if h.reserved0 != 0 || h.reserved1 != 0 || !zero(&h.reserved2) {
        return Err(invalid(0));
    }
    let mut end = format::HEAD_LEN as u64;
    let mut seen = 0u32;
    for s in &h.sections {
        if s.kind == 0 {
            if !zero(s.as_bytes()) {
                return Err(invalid(0));
            }
            continue;
        }
        if s.kind > section::PROVENANCE || seen >> s.kind & 1 == 1 || s.reserved != 0 || s.flags > 3 {
            return Err(invalid(s.kind));
        }
        seen |= 1 << s.kind;
        check_section(t, s, &mut end)?;
    }
    if end != h.total_len || seen != 0x1FE {
        return Err(VerifyError::Padding);
    }
    materials_and_names(t)?;
    root(t)
}

/// Sections follow each other with zeros up to the next multiple of 128.
fn check_section(t: &Terrain, s: &Section, end: &mut u64) -> Result<(), VerifyError> {
    let invalid = VerifyError::SectionInvalid(s.kind);
    if s.offset != *end {
        return Err(invalid);
    }
    let body = t.section(s.kind).ok_or(invalid)?;
    let after = s.offset.saturating_add(s.len);
    *end = after.checked_next_multiple_of(format::ALIGN as u64).ok_or(invalid)?;
    let padding = t.bytes.get(after as usize..*end as usize).ok_or(invalid)?;
    if !zero(padding) {
        return Err(VerifyError::Padding);
    }
    if s.kind == section::TILES {
        return if s.crc == 0 { Ok(()) } else { Err(invalid) };
    }
    if CRC.checksum(body) != s.crc {
        return Err(VerifyError::SectionDamaged(s.kind));
    }
    Ok(())
}

fn materials_and_names(t: &Terrain) -> Result<(), VerifyError> {
    let named = |at: u32, len: usize| {
        let bytes = t.names.get(at as usize..).and_then(|b| b.get(..len));
        bytes.is_some_and(|b| core::str::from_utf8(b).is_ok())
    };
    for m in t.materials {
        let numbers = [m.mu, m.rolling, m.gain, m.cone_index];
        if m.reserved != 0 || m.flags > 1 || !named(m.name, m.name_len.into()) || !numbers.iter().all(|v| v.is_finite())
        {
            return Err(VerifyError::SectionInvalid(section::MATERIALS));
        }
    }
    if t.sources.iter().any(|s| s.reserved != [0; 2] || !named(s.name, s.name_len as usize)) {
        return Err(VerifyError::SectionInvalid(section::SOURCES));
    }
    Ok(())
}

/// Every tile of the table stands once in the pages, at its own place, in Morton order and without gaps.
fn root(t: &Terrain) -> Result<(), VerifyError> {
    let h = t.header;
    let slots = 1usize << (2 * h.page_log2);
    let is_code = |s: u32| s != 0 && s != u32::MAX;
    let pages = t.pages.len() >> (2 * h.page_log2);
    if t.pages.len() != pages << (2 * h.page_log2) || !t.pages.iter().all(|&s| is_code(s)) {
        return Err(VerifyError::SectionInvalid(section::PAGES));
    }
    let mut next = slot::FIRST;
    let mut listed = t.directory.iter().filter(|&&s| s >= slot::FIRST).count();
    if listed != pages || !t.directory.iter().all(|&s| is_code(s)) {
        return Err(VerifyError::SectionInvalid(section::DIRECTORY));
    }
    // in tile order, pages are numbered as they first appear
    let mut offset = 0u64;
    let mut last = None;
    for r in t.table {
        let invalid = VerifyError::SectionInvalid(section::TILE_TABLE);
        let key = morton(r.x, r.y);
        if r.offset != offset
            || r.reserved != 0
            || r.len < 256
            || r.len % format::ALIGN as u64 != 0
            || last >= Some(key)
        {
            return Err(invalid);
        }
        last = Some(key);
        let column = i64::from(r.x >> h.page_log2) - i64::from(h.page_min[0]);
        let row = i64::from(r.y >> h.page_log2) - i64::from(h.page_min[1]);
        let [columns, rows] = h.page_count.map(i64::from);
        if column < 0 || column >= columns || row < 0 || row >= rows {
            return Err(invalid);
        }
        let directory = t.directory.get((row as usize).wrapping_mul(columns as usize).wrapping_add(column as usize));
        let &number = directory.ok_or(invalid)?;
        if number < slot::FIRST || number > next {
            return Err(VerifyError::SectionInvalid(section::DIRECTORY));
        }
        next = next.max(number.saturating_add(1));
        let mask = (1i64 << h.page_log2) - 1;
        let within = ((i64::from(r.y) & mask) << h.page_log2 | (i64::from(r.x) & mask)) as usize;
        let place = t.pages.get(((number - slot::FIRST) as usize).wrapping_mul(slots).wrapping_add(within));
        let unit = offset / format::ALIGN as u64 + u64::from(slot::FIRST);
        if place.map(|&p| u64::from(p)) != Some(unit) {
            return Err(VerifyError::SectionInvalid(section::PAGES));
        }
        offset = offset.saturating_add(r.len);
    }
    listed = t.pages.iter().filter(|&&s| s >= slot::FIRST).count();
    let tiles = t.section(section::TILES).map_or(0, |b| b.len() as u64);
    if listed != t.table.len() || offset != tiles {
        return Err(VerifyError::SectionInvalid(section::TILES));
    }
    Ok(())
}

fn morton(x: i32, y: i32) -> u64 {
    let spread = |v: i32| {
        let mut v = u64::from(v as u32 ^ 1 << 31);
        let masks = [
            0x0000_FFFF_0000_FFFF,
            0x00FF_00FF_00FF_00FF,
            0x0F0F_0F0F_0F0F_0F0F,
            0x3333_3333_3333_3333,
            0x5555_5555_5555_5555,
        ];
        for (i, mask) in masks.into_iter().enumerate() {
            v = (v | v << (16 >> i)) & mask;
        }
        v
    };
    spread(x) | spread(y) << 1
}

fn tile(t: &Terrain, index: u32) -> Result<(), VerifyError> {
    let invalid = VerifyError::TileInvalid(index);
    let record = t.table.get(index as usize).ok_or(invalid)?;
    let at_128 = t.tiles_at.wrapping_add((record.offset / format::ALIGN as u64) as usize);
    let at = at_128.wrapping_mul(32);
    let bytes = t.bytes.get(at.wrapping_mul(4)..).and_then(|b| b.get(..record.len as usize)).ok_or(invalid)?;
    if CRC.checksum(bytes) != record.crc {
        return Err(VerifyError::TileDamaged(index));
    }
    let head = t.tile(at).ok_or(invalid)?;
    let check = Check { t, head, header: t.header, at, at_128, index, len: record.len as usize / 4 };
    if head.x != record.x || head.y != record.y || !check.head() {
        return Err(invalid);
    }
    for b in 0..head.bundle_count {
        if !check.bundle(b) {
            return Err(invalid);
        }
    }
    for p in 0..head.patch_count {
        if !check.patch(p) {
            return Err(invalid);
        }
    }
    let mut cost = [2, 0, 0, 0];
    check.node(32, u32::from(t.header.tile_log2 as u8), 3, &mut cost).ok_or(invalid)?;
    if cost.iter().zip(&head.bound).any(|(c, b)| c > b) || head.bound.iter().zip(&t.header.bound).any(|(c, b)| c > b) {
        return Err(VerifyError::BoundExceeded(index));
    }
    Ok(())
}

struct Check<'t, 'a> {
    t: &'t Terrain<'a>,
    header: &'a Header,
    head: &'a Tile,
    at: usize,
    at_128: usize,
    index: u32,
    /// Words of the tile.
    len: usize,
}

impl Check<'_, '_> {
    /// Whether `count` words at word `at` lie in the tile.
    fn holds(&self, at: usize, count: usize) -> bool {
        at.checked_add(count).is_some_and(|end| end <= self.len)
    }

    fn head(&self) -> bool {
        let h = self.head;
        h.magic == format::TILE_MAGIC
            && h.index == self.index
            && h.words as usize == self.len
            && h.reserved0 == 0
            && h.reserved1 == [0; 8]
            && h.palette_len <= 256
            && h.palette >= 40
            && self.holds(h.palette as usize, 2 * h.palette_len as usize)
            && h.patches.is_multiple_of(16)
            && self.holds(h.patches as usize, (h.patch_count as usize).saturating_mul(16))
            && self.holds((h.bundles as usize).saturating_mul(32), (h.bundle_count as usize).saturating_mul(32))
            && h.max_layers <= self.header.max_layers
            && h.error.iter().all(|e| *e >= 0.0)
            && (0..h.palette_len).all(|a| {
                self.t.attribute(self.at, a as u8).is_some_and(|a| {
                    usize::from(a.material) < self.t.materials.len()
                        && usize::from(a.source) < self.t.sources.len()
                        && a.reserved == 0
                })
            })
    }

    /// Class, counts and unused bits; corners are known only with their node, see `node`.
    fn bundle(&self, b: u32) -> bool {
        let record = self.at_128.wrapping_add(self.head.bundles as usize).wrapping_add(b as usize);
        let Some(halves) = self.t.bundles.get(record) else { return false };
        let class = usize::from(halves[6] >> 8 & 3);
        let count = usize::from(halves[6] >> 12) + 1;
        let flags = halves[6] >> 10 & 3;
        if class > 2 || flags != 0 || u32::from(halves[6] & 0xFF) >= self.head.palette_len {
            return false;
        }
        let leaf = leaf(&Node::default(), self.at_128, self.at);
        let view = Bundle { halves, record, leaf: &leaf };
        let mut vertices = 0;
        for part in 0..bundle::TRIANGLES as u32 {
            let n = view.corner_numbers(part);
            if part as usize >= count {
                if n != [0; 3] {
                    return false;
                }
                continue;
            }
            vertices = n.iter().fold(vertices, |m, &v| m.max(v + 1));
            let c = view.corners_3d(part);
            let [[ax, ay, _], [bx, by, _], [cx, cy, _]] = c;
            let d = |p: i64, q: i64| i128::from(q.wrapping_sub(p));
            let area = d(ax, bx).wrapping_mul(d(ay, cy)).wrapping_sub(d(ay, by).wrapping_mul(d(ax, cx)));
            let low = self.header.min[2];
            let high = self.header.max[2];
            let inside = c.iter().all(|v| v[2] >= i64::from(low) && v[2] <= i64::from(high));
            if area <= 0 || !inside {
                return false;
            }
        }
        let [stride, limit] = [bundle::STRIDE, bundle::VERTEX_LIMIT].map(|v| v.get(class).copied().unwrap_or(0));
        let used = bundle::VERTICES + vertices * stride;
        vertices <= limit && halves.iter().skip(used).all(|&h| h == 0)
    }

    fn patch(&self, p: u32) -> bool {
        let at = self.at.wrapping_add(self.head.patches as usize).wrapping_add(16 * p as usize);
        let Some(patch) = self.t.patch(at) else { return false };
        let blocks = (patch.blocks as usize).saturating_mul(patch.cells[1].div_ceil(BLOCK_CELLS) as usize);
        let words = if patch.class == 0 { 8 } else { 16 };
        let number = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
        u32::from(patch.attribute) < self.head.palette_len
            && patch.class <= 1
            && patch.interpolation == 0
            && patch.voids <= 1
            && patch.wide == u8::from(self.header.tile_log2 > format::PATCH_LOG2)
            && patch.reserved0 == [0; 3]
            && patch.reserved1 == [0; 2]
            && (1..=1 << 56).contains(&number(patch.rate))
            && (1..1 << 62).contains(&number(patch.up))
            && patch.cells.iter().all(|&c| (1..1 << 20).contains(&c))
            && patch.blocks == patch.cells[0].div_ceil(BLOCK_CELLS)
            && self.holds((patch.place as usize).saturating_mul(words), blocks.saturating_mul(words))
            && (0..blocks).all(|b| self.patch_block(patch, b, words))
    }

    fn patch_reads(&self, p: u32) -> Option<u32> {
        let at = self.at.wrapping_add(self.head.patches as usize).wrapping_add(16 * p as usize);
        self.t.patch(at).map(Patch::reads)
    }

    fn patch_block(&self, patch: &Patch, b: usize, words: usize) -> bool {
        let at = (patch.place as usize).wrapping_add(b).wrapping_mul(words).wrapping_add(self.at);
        let Some(block) = self.t.words.get(at..at.wrapping_add(words)) else { return false };
        let [_, unit, ..] = *block else { return false };
        let (size, unit, posts) = if patch.class == 0 { (1, unit & 0xFF_FFFF, 7) } else { (2, unit, 8) };
        let Some((posts, spare)) = block.as_bytes().get(posts..).and_then(|b| b.split_at_checked(25 * size)) else {
            return false;
        };
        let whole = posts.chunks_exact(size).all(|p| p.iter().any(|&b| b != 0xFF));
        unit.is_power_of_two() && format::PATCH_UNITS.contains(&unit) && zero(spare) && (whole || patch.voids == 1)
    }

    /// Checks the nodes below word `at` and raises `cost` to the dearest place among them.
    fn node(&self, at: usize, log2: u32, depth: u32, cost: &mut [u32; 4]) -> Option<()> {
        if depth > format::MAX_DEPTH || !self.holds(at, 8) {
            return None;
        }
        let node = self.t.node(self.at.wrapping_add(at))?;
        let (cell, side) = (u32::from(node.cell_log2), u32::from(node.side_log2));
        let count = 1usize << (2 * side.min(8));
        let sound = side <= 8
            && cell + side == log2
            && node.flags <= format::NODE_LONG
            && node.shift < 24
            && node.reserved == [0; 2]
            && self.holds(node.entries as usize, count)
            && node.bundles >= self.head.bundles
            && u64::from(node.bundles) + u64::from(node.bundle_count)
                <= u64::from(self.head.bundles) + u64::from(self.head.bundle_count);
        if !sound {
            return None;
        }
        cost[0] = cost[0].max(depth);
        for k in 0..count {
            let e = *self.t.words.get(self.at.wrapping_add(node.entries as usize).wrapping_add(k))?;
            let to = (e & entry::PLACE) as usize;
            match e >> entry::SHIFT {
                // a node lies behind the one that names it, so there is no circle
                entry::NODE if to > at => self.node(to, cell, depth + 1, cost)?,
                entry::BLOCK if cell >= 2 => self.block(node, to, cost)?,
                entry::PATCH => {
                    let first = self.head.patches as usize;
                    let number = to.checked_sub(first)? / 16;
                    if number >= self.head.patch_count as usize || to != first + 16 * number {
                        return None;
                    }
                    let reads = self.patch_reads(number as u32)?;
                    raise(cost, [0, reads, reads, reads]);
                }
                _ => match e {
                    entry::EMPTY | entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD => {}
                    _ => return None,
                },
            }
        }
        Some(())
    }

    fn block(&self, node: &Node, at: usize, cost: &mut [u32; 4]) -> Option<()> {
        let long = node.flags & format::NODE_LONG != 0;
        let (head, step) = if long { (16, 2) } else { (4, 1) };
        if !at.is_multiple_of(4) || !self.holds(at, head) {
            return None;
        }
        let word_at = |i: usize| self.t.words.get(self.at.wrapping_add(at).wrapping_add(i)).copied();
        let mut from = 0usize;
        for cell in 0..16 {
            let end = if long { word_at(cell)? } else { word_at(cell / 4)? >> (8 * (cell % 4)) & 255 } as usize;
            let words = end.checked_sub(from)?;
            if end > format::MAX_WORDS as usize || !self.holds(at, head + step * end) {
                return None;
            }
            let mut place = [0, words as u32, 0, format::word_lines(at % 16, head, step, cell, from, words)];
            for i in from..end {
                let w = word_at(head + step * i)?;
                let number = if long { word_at(head + step * i + 1)? } else { w >> word::BUNDLE };
                if (long && w >> word::BUNDLE != 0) || (i + 1 == end && w & word::LAST == 0) {
                    return None;
                }
                let mask = w & word::MASK;
                if mask == 0 {
                    if number >= self.head.patch_count || w & word::LAST == 0 || w >> word::GUESS & 15 != 0 {
                        return None;
                    }
                    let reads = self.patch_reads(number)?;
                    place[1] = place[1].saturating_add(reads - 1);
                    place[2] = place[2].saturating_add(reads);
                    place[3] = place[3].saturating_add(reads);
                    continue;
                }
                if number >= node.bundle_count || mask >> (w >> word::GUESS & 15) & 1 == 0 {
                    return None;
                }
                let record = self.at_128.wrapping_add(node.bundles as usize).wrapping_add(number as usize);
                let count = (self.t.bundles.get(record)?[6] >> 12) + 1;
                if mask >> count != 0 {
                    return None;
                }
                place[2] = place[2].saturating_add(mask.count_ones());
                place[3] = place[3].saturating_add(2);
            }
            raise(cost, place);
            from = end;
        }
        Some(())
    }
}

fn raise(cost: &mut [u32; 4], by: [u32; 4]) {
    for (c, b) in cost.iter_mut().zip(by) {
        *c = (*c).max(b);
    }
}

fn leaf(node: &Node, bundles: usize, tile: usize) -> Leaf {
    Leaf {
        x: 0,
        y: 0,
        side_log2: 0,
        tile,
        first: 0,
        end: 0,
        kind: LeafWords::Short,
        bundles,
        base: node.base,
        shift: node.shift & 31,
    }
}
