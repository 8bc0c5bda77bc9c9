//! From a place to the leaves over it: directory, page, nodes, cells.

use crate::format::{self, Attribute, Node, block, entry, slot, word};
use crate::hit::Status;
use crate::leaf::bundle::Bundle;
use crate::leaf::{Candidate, Sink};
use crate::open::{Sole, Terrain};
use crate::point::{GridPoint, Point};
use crate::trace::{Observer, Trace};

/// Content of the index at a place. All places are words of the image.
#[derive(Clone, Copy)]
pub(crate) struct Leaf {
    pub tile: usize,
    pub node: usize,
    /// The block; or, if `cell` says so, a patch record.
    pub at: usize,
    /// Which cell of the block, or `PATCH`.
    pub cell: u32,
}

impl Leaf {
    /// The entry is one patch and nothing else.
    pub const PATCH: u32 = u32::MAX;
}

/// Keeps the last surface.
struct Single(Option<Candidate>);

impl Sink for Single {
    const BORDERS: bool = false;

    #[inline(always)]
    fn take<O: Observer>(&mut self, s: &Candidate, _: &Node, _: &mut O) {
        self.0 = Some(*s);
    }
}

impl<'a> Terrain<'a> {
    /// The place of a query position, or none outside the bounds.
    #[inline(always)]
    pub(crate) fn place(&self, p: Point) -> Option<GridPoint> {
        let x = p.x.wrapping_sub(self.low[0]) as u64;
        let y = p.y.wrapping_sub(self.low[1]) as u64;
        (x <= self.span[0] && y <= self.span[1]).then(|| GridPoint {
            x: self.header.min[0].wrapping_add((x >> 8) as i32),
            y: self.header.min[1].wrapping_add((y >> 8) as i32),
            fx: (x & 255) as u32,
            fy: (y & 255) as u32,
        })
    }

    /// Finds the leaf of a place.
    #[inline(always)]
    pub(crate) fn locate<O: Observer>(&self, p: GridPoint, o: &mut O) -> Result<Leaf, Status> {
        // an image that is one field needs no index
        if let Some(Sole { tile, at, .. }) = self.sole.filter(|_| O::PLAIN) {
            return Ok(Leaf { tile, node: tile.wrapping_add(format::ROOT), at, cell: Leaf::PATCH });
        }
        let tile = self.tile_of(p, o)?;
        self.descend(tile, tile.wrapping_add(format::ROOT), p, o)
    }

    /// The field of all places, if one tile holds all ground and its root is one part of a field.
    pub(crate) fn sole_patch(&self) -> Option<Sole<'a>> {
        let h = self.header;
        let [[x, y, _], [far_x, far_y, _]] = [h.min, h.max];
        if h.tile_count != 1 || ((x ^ far_x) | (y ^ far_y)) >> (h.tile_log2 & 31) != 0 {
            return None;
        }
        let tile = self.tile_of(GridPoint { x, y, fx: 0, fy: 0 }, &mut ()).ok()?;
        let node = self.node(tile.wrapping_add(format::ROOT))?;
        let entry = *self.words.get(tile.wrapping_add(node.entries as usize))?;
        let is_sole = node.side_log2 == [0; 2] && !node.is_dense() && entry::kind(entry) == entry::PATCH;
        let at = tile.wrapping_add(entry::place(entry));
        let patch = self.patch(at).filter(|_| is_sole)?;
        let attribute = self.attribute(tile, patch.attribute);
        Some(Sole { patch, attribute, tile, at, from: self.first_post(patch) })
    }

    /// Finds the tile of a place.
    #[inline(always)]
    pub(crate) fn tile_of<O: Observer>(&self, p: GridPoint, o: &mut O) -> Result<usize, Status> {
        let h = self.header;
        // shifts of a checked head: a tile has at most 2^31 steps, a page 2^8 tiles
        let column = p.x >> (h.tile_log2 & 31);
        let row = p.y >> (h.tile_log2 & 31);
        let page_log2 = h.page_log2 & 15;
        let page_x = (column >> page_log2).wrapping_sub(h.page_min[0]) as usize;
        let page_y = (row >> page_log2).wrapping_sub(h.page_min[1]) as usize;
        let at = page_y.wrapping_mul(h.page_count[0] as usize).wrapping_add(page_x);
        o.see(Trace::Node { log2: h.tile_log2.wrapping_add(h.page_log2) });
        let page = reference(self.directory, at)?;
        o.see(Trace::Node { log2: h.tile_log2 });
        let mask = (1usize << page_log2).wrapping_sub(1);
        let (x, y) = (column as usize & mask, row as usize & mask);
        let tile = reference(self.pages, ((page << page_log2 | y) << page_log2) | x)?;
        let tile = tile.wrapping_add(self.tiles_at).wrapping_mul(32);
        if !self.damage.is_empty() {
            self.check_damage(tile)?;
        }
        Ok(tile)
    }

    /// Where a tile's root has its entry or block for a place.
    #[inline(always)]
    pub(crate) fn entry(&self, tile: usize, p: GridPoint) -> usize {
        self.node(tile.wrapping_add(format::ROOT)).map_or(0, |node| entry_at(tile, node, p))
    }

    /// The next step of a walk, after the entry or block of a tile's root that stands at word `at`.
    #[inline(always)]
    pub(crate) fn behind(&self, tile: usize, at: usize) -> usize {
        match (self.node(tile.wrapping_add(format::ROOT)), self.words.get(at)) {
            (Some(node), Some(&e)) if !node.is_dense() => tile.wrapping_add(entry::place(e)),
            _ => at,
        }
    }

    /// Finds the leaf of a place below a node; at most `MAX_DEPTH` nodes.
    #[inline(always)]
    pub(crate) fn descend<O: Observer>(
        &self,
        tile: usize,
        mut node_at: usize,
        p: GridPoint,
        o: &mut O,
    ) -> Result<Leaf, Status> {
        for _ in 0..format::MAX_DEPTH {
            let node = self.node(node_at).ok_or(Status::Damaged)?;
            o.see(Trace::Node { log2: node.entry_log2[0].into() });
            let at = entry_at(tile, node, p);
            let block_at = if node.is_dense() {
                at
            } else {
                let e = *self.words.get(at).ok_or(Status::Damaged)?;
                let to = tile.wrapping_add(entry::place(e));
                match entry::kind(e) {
                    entry::BLOCK => to,
                    entry::NODE => {
                        node_at = to;
                        continue;
                    }
                    entry::PATCH => return Ok(Leaf { tile, node: node_at, at: to, cell: Leaf::PATCH }),
                    _ => return Err(code(e)),
                }
            };
            let cell = node.cell_of(p.x, p.y);
            let b = self.block(block_at).ok_or(Status::Damaged)?;
            let home = b[cell as usize];
            if word::mask(home) == 0 {
                match word::kind(home) {
                    word::PATCH | word::LIST => {}
                    word::NODE => {
                        node_at = tile.wrapping_add(b[block::TAIL] as usize);
                        continue;
                    }
                    word::EMPTY => return Err(Status::NoGround),
                    word::NOT_IN_IMAGE | word::NOT_UNDERSTOOD => return Err(Status::NotInImage),
                    _ => return Err(Status::Damaged),
                }
            }
            return Ok(Leaf { tile, node: node_at, at: block_at, cell });
        }
        Err(Status::Damaged)
    }

    /// A damaged tile may say any number: it is believed only where the table has a tile of that number at this place.
    #[cold]
    fn check_damage(&self, tile: usize) -> Result<(), Status> {
        let index = self.tile(tile).ok_or(Status::Damaged)?.index;
        let record = self.table.get(index as usize).ok_or(Status::Damaged)?;
        let at = (record.offset as usize / format::ALIGN).wrapping_add(self.tiles_at).wrapping_mul(32);
        let byte = self.damage.get(index as usize / 8).copied().unwrap_or(0);
        if at != tile || byte >> (index % 8) & 1 == 1 { Err(Status::Damaged) } else { Ok(()) }
    }

    /// Gives `sink` the surfaces over the place.
    ///
    /// After a hit inside a triangle the rest of its sheet holds no other surface and is passed over.
    #[inline(always)]
    pub(crate) fn surfaces<O: Observer>(
        &self,
        leaf: &Leaf,
        p: GridPoint,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<(), Status> {
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        if leaf.cell == Leaf::PATCH {
            return self.patch_surface(leaf.tile, leaf.at, node, p, o, sink);
        }
        let b = self.block(leaf.at).ok_or(Status::Damaged)?;
        let cell = leaf.cell & 7;
        let home = b[cell as usize];
        see_words(b, cell, o);
        if word::is(home, word::LIST) {
            return self.list_surfaces(leaf.tile, node, b, cell, p, o, sink);
        }
        let (before, count) = block::further(b, cell);
        let (mut w, mut skip) = (home, false);
        for i in before..=before.wrapping_add(count) {
            if !skip {
                skip = self.word_surfaces(leaf.tile, node, w, word::number(w), p, o, sink)?;
            }
            if i == before.wrapping_add(count) {
                break;
            }
            w = self.further_word(leaf.tile, b, i)?;
            skip &= !word::has_sheet(w);
        }
        Ok(())
    }

    /// The surface over a place, or that there is none, where the leaf shows that there is no second one: a patch
    /// alone, or a cell that one sheet without steps surrounds. `None` where it does not.
    #[inline(always)]
    pub(crate) fn single_sheet<O: Observer>(&self, leaf: &Leaf, p: GridPoint, o: &mut O) -> Option<Option<Candidate>> {
        if leaf.cell == Leaf::PATCH {
            return self.patch_at(leaf.tile, leaf.at, p, o).ok();
        }
        let node = self.node(leaf.node)?;
        let b = self.block(leaf.at)?;
        let home = b[(leaf.cell & 7) as usize];
        if !word::has_sheet(home) {
            return None;
        }
        see_words(b, leaf.cell, o);
        let first = (leaf.tile / 32).wrapping_add(node.bundles as usize);
        let mut found = Single(None);
        let (mut w, mut next) = (home, None);
        loop {
            if word::mask(w) == 0 {
                return None;
            }
            let record = first.wrapping_add(word::number(w) as usize);
            let words = self.bundles.get(record)?;
            o.see(Trace::Leaf { record, lines: 2 });
            let bundle = Bundle { words, record, node };
            if bundle.near_surfaces(w, p, o, &mut found)? {
                return Some(found.0);
            }
            let (i, end) = next.unwrap_or_else(|| {
                let (before, count) = block::further(b, leaf.cell);
                (before, before.wrapping_add(count))
            });
            if i == end {
                return Some(None);
            }
            w = self.further_word(leaf.tile, b, i).ok()?;
            next = Some((i.wrapping_add(1), end));
        }
    }

    /// Further word `i` of a block.
    #[inline(always)]
    pub(crate) fn further_word(&self, tile: usize, b: &[u32; block::WORDS], i: u32) -> Result<u32, Status> {
        if (i as usize) < block::INLINE {
            return Ok(b[(block::FURTHER + i as usize) & 15]);
        }
        let at = tile.wrapping_add(b[block::TAIL] as usize).wrapping_add(i as usize - block::INLINE);
        self.words.get(at).copied().ok_or(Status::Damaged)
    }

    /// The surfaces of a cell with a list.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    fn list_surfaces<O: Observer>(
        &self,
        tile: usize,
        node: &Node,
        b: &[u32; block::WORDS],
        cell: u32,
        p: GridPoint,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<(), Status> {
        let (before, _) = block::further(b, cell);
        let at = tile.wrapping_add(self.further_word(tile, b, before)? as usize);
        let count = (*self.words.get(at).ok_or(Status::Damaged)?).min(format::MAX_WORDS);
        self.see_list(at, count, o);
        let mut skip = false;
        for i in 0..count as usize {
            let &[w, number] = self.chunk(at.wrapping_add(1 + 2 * i)).ok_or(Status::Damaged)?;
            skip &= !word::has_sheet(w);
            if !skip {
                skip = self.word_surfaces(tile, node, w, number, p, o, sink)?;
            }
        }
        Ok(())
    }

    /// How many triangles and cells of height fields the words of a leaf name.
    #[cold]
    pub(crate) fn named(&self, leaf: &Leaf) -> Option<u32> {
        // where cells of a field are void up to four are looked at
        let cells = |patch: usize| self.patch(patch).map_or(1, |patch| if patch.voids == 0 { 1 } else { 4 });
        if leaf.cell == Leaf::PATCH {
            return Some(cells(leaf.at));
        }
        let count = |w: u32, number: u32| match word::mask(w).count_ones() {
            0 => cells(leaf.tile.wrapping_add((number as usize).wrapping_mul(16))),
            triangles => triangles,
        };
        let b = self.block(leaf.at)?;
        let home = b[(leaf.cell & 7) as usize];
        let (before, further) = block::further(b, leaf.cell);
        if word::mask(home) == 0 && word::kind(home) == word::LIST {
            let at = leaf.tile.wrapping_add(self.further_word(leaf.tile, b, before).ok()? as usize);
            let words = (*self.words.get(at)?).min(format::MAX_WORDS);
            return (0..words as usize).try_fold(0u32, |sum, i| {
                let &[w, number] = self.chunk(at.wrapping_add(1 + 2 * i))?;
                Some(sum.saturating_add(count(w, number)))
            });
        }
        (before..before.wrapping_add(further)).try_fold(count(home, word::number(home)), |sum, i| {
            let w = self.further_word(leaf.tile, b, i).ok()?;
            Some(sum.saturating_add(count(w, word::number(w))))
        })
    }

    #[inline(always)]
    pub(crate) fn see_list<O: Observer>(&self, at: usize, count: u32, o: &mut O) {
        if o.counts() {
            // of a damaged length no more than the image holds
            let words = (count as usize).min(self.words.len().saturating_sub(at) / 2);
            o.see(Trace::Words { words: words as u32, lines: format::lines(at, 1 + 2 * words) });
        }
    }

    /// The surfaces of one cell word; whether one was inside a triangle.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn word_surfaces<O: Observer>(
        &self,
        tile: usize,
        node: &Node,
        w: u32,
        number: u32,
        p: GridPoint,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<bool, Status> {
        if word::mask(w) == 0 {
            let record = tile.wrapping_add((number as usize).wrapping_mul(16));
            self.patch_surface(tile, record, node, p, o, sink)?;
            return Ok(false);
        }
        let record = (tile / 32).wrapping_add(node.bundles as usize).wrapping_add(number as usize);
        let words = self.bundles.get(record).ok_or(Status::Damaged)?;
        o.see(Trace::Leaf { record, lines: 2 });
        Ok(Bundle { words, record, node }.surfaces(w, p, o, sink))
    }

    /// Words in the lines of the two bundles that a search of the leaf reads first.
    #[inline(always)]
    pub(crate) fn first_words(&self, leaf: &Leaf) -> [usize; 4] {
        if leaf.cell == Leaf::PATCH {
            return [leaf.at; 4];
        }
        let (Some(b), Some(node)) = (self.block(leaf.at), self.node(leaf.node)) else { return [0; 4] };
        let first = (leaf.tile / 32).wrapping_add(node.bundles as usize);
        let word_of = |w: u32| first.wrapping_add(word::number(w) as usize).wrapping_mul(32);
        let home = word_of(b[(leaf.cell & 7) as usize]);
        let (before, count) = block::further(b, leaf.cell);
        let inline = count > 0 && (before as usize) < block::INLINE;
        let next = if inline { word_of(b[(block::FURTHER + before as usize) & 15]) } else { home };
        [home, home.wrapping_add(16), next, next.wrapping_add(16)]
    }

    /// An entry of a tile's palette.
    #[inline(always)]
    pub(crate) fn attribute(&self, tile: usize, attribute: u8) -> Attribute {
        let at = tile.wrapping_add(format::PALETTE).wrapping_add(2 * usize::from(attribute));
        Attribute::of_words(*self.chunk(at).unwrap_or(&[0; 2]))
    }
}

/// Where a node's entry or block for a place stands.
#[inline(always)]
fn entry_at(tile: usize, node: &Node, p: GridPoint) -> usize {
    let index = node.entry_of(p.x, p.y) as usize;
    tile.wrapping_add(node.entries as usize).wrapping_add(index.wrapping_mul(node.entry_words()))
}

/// The reference in a directory or page entry.
#[inline(always)]
fn reference(slots: &[u32], at: usize) -> Result<usize, Status> {
    let s = slots.get(at).copied();
    if let Some(to) = s.and_then(slot::reference) {
        return Ok(to as usize);
    }
    match s {
        Some(slot::EMPTY) => Err(Status::NoGround),
        Some(slot::NOT_IN_IMAGE | slot::NOT_UNDERSTOOD) => Err(Status::NotInImage),
        _ => Err(Status::Damaged),
    }
}

/// The outcome of an entry that leads to no leaf.
#[cold]
fn code(e: u32) -> Status {
    match e {
        entry::EMPTY => Status::NoGround,
        entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD => Status::NotInImage,
        _ => Status::Damaged,
    }
}

#[inline(always)]
pub(crate) fn see_words<O: Observer>(b: &[u32; block::WORDS], cell: u32, o: &mut O) {
    if o.counts() {
        let (before, count) = block::further(b, cell);
        let lines = format::word_lines(b[block::TAIL] as usize, before as usize, count as usize);
        o.see(Trace::Words { words: 1 + count, lines });
    }
}
