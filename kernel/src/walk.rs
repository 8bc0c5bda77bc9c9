//! From a place to the surfaces over it: root, nodes, cell words, bundles.

use crate::bundle::Bundle;
use crate::format::{self, Attribute, Node, Patch, Tile, entry, slot, word};
use crate::open::Terrain;
use crate::query::{Observer, Trace};
use crate::types::{Hit, LeafKind, Normal, Reach, Status};
use zerocopy::FromBytes;

/// A place relative to the image's origin, in query steps, inside the image's bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    pub x: i64,
    pub y: i64,
}

/// What the index has for a place: cell words or one patch, and the square for which that holds.
#[derive(Clone, Copy)]
pub(crate) struct Leaf {
    /// Low corner of the square in query steps, and its side as a power of two.
    pub x: i64,
    pub y: i64,
    pub side_log2: u32,
    /// First tile word in the image.
    pub tile: usize,
    /// Cell words in the image; for a patch, its record and nothing.
    pub first: usize,
    pub end: usize,
    pub kind: LeafWords,
    /// First bundle in the image, base and shift of the node.
    pub bundles: usize,
    pub base: [i32; 2],
    pub shift: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafWords {
    Short,
    Long,
    Patch,
}

/// One surface over a place; the leaf that it came from says the rest.
#[derive(Clone, Copy)]
pub(crate) struct Surface {
    /// Height in 2^-8 steps from the origin.
    pub z: i64,
    pub normal: Normal,
    /// Bundle in the image, or word of a patch record; triangle or block.
    pub record: usize,
    pub part: u32,
    pub kind: LeafKind,
}

/// Canonical order of surfaces at equal height: sorted corners, material, source.
pub(crate) type Owner = ([[i64; 3]; 3], u16, u16);

/// Takes the surfaces over a place, one after the other.
pub(crate) trait Sink {
    fn take<O: Observer>(&mut self, t: &Terrain, leaf: &Leaf, s: &Surface, o: &mut O);
}

impl<'a> Terrain<'a> {
    /// The place of a query position, or why there is none.
    #[inline(always)]
    pub(crate) fn place(&self, x: i64, y: i64) -> Option<Place> {
        let h = self.header;
        let x = x.wrapping_sub(h.origin[0] << 8);
        let y = y.wrapping_sub(h.origin[1] << 8);
        let inside = x >= i64::from(h.min[0]) << 8
            && x <= i64::from(h.max[0]) << 8
            && y >= i64::from(h.min[1]) << 8
            && y <= i64::from(h.max[1]) << 8;
        inside.then_some(Place { x, y })
    }

    /// Finds the leaf of a place; at most `MAX_DEPTH` nodes.
    #[inline(never)]
    pub(crate) fn locate<O: Observer>(&self, p: Place, o: &mut O) -> Result<Leaf, Status> {
        let h = self.header;
        let (x, y) = (p.x >> 8, p.y >> 8);
        let page_shift = h.tile_log2.wrapping_add(h.page_log2);
        let page_x = (x >> page_shift).wrapping_sub(h.page_min[0].into());
        let page_y = (y >> page_shift).wrapping_sub(h.page_min[1].into());
        let (nx, ny) = (i64::from(h.page_count[0]), i64::from(h.page_count[1]));
        if page_x < 0 || page_y < 0 || page_x >= nx || page_y >= ny {
            return Err(Status::NotInImage);
        }
        o.see(Trace::Node { log2: page_shift });
        let page = self.slot(self.directory, page_y.wrapping_mul(nx).wrapping_add(page_x) as usize)?;
        o.see(Trace::Node { log2: h.tile_log2 });
        let mask = (1i64 << h.page_log2).wrapping_sub(1);
        let (tx, ty) = ((x >> h.tile_log2) & mask, (y >> h.tile_log2) & mask);
        let at = (page << h.page_log2).wrapping_add(ty as usize) << h.page_log2;
        let tile_128 = self.slot(self.pages, at.wrapping_add(tx as usize))?.wrapping_add(self.tiles_at);
        let tile = tile_128.wrapping_mul(32);
        if !self.damage.is_empty() {
            self.check_damage(tile)?;
        }
        let mut node_at = tile.wrapping_add(32);
        for _ in 0..format::MAX_DEPTH {
            let node = self.node(node_at).ok_or(Status::Damaged)?;
            o.see(Trace::Node { log2: node.cell_log2.into() });
            let cell_log2 = u32::from(node.cell_log2) & 31;
            let side = u32::from(node.side_log2) & 15;
            let mask = (1i64 << side).wrapping_sub(1);
            let (ex, ey) = ((x >> cell_log2) & mask, (y >> cell_log2) & mask);
            let at = tile.wrapping_add(node.entries as usize).wrapping_add(((ey << side) | ex) as usize);
            let e = *self.words.get(at).ok_or(Status::Damaged)?;
            let to = tile.wrapping_add((e & entry::PLACE) as usize);
            match e >> entry::SHIFT {
                entry::NODE => node_at = to,
                entry::BLOCK => return self.block(p, tile, tile_128, node, cell_log2, to, o),
                entry::PATCH => {
                    let side_log2 = cell_log2 + 8;
                    return Ok(Leaf {
                        x: p.x >> side_log2 << side_log2,
                        y: p.y >> side_log2 << side_log2,
                        side_log2,
                        tile,
                        first: to,
                        end: to,
                        kind: LeafWords::Patch,
                        bundles: 0,
                        base: [0; 2],
                        shift: 0,
                    });
                }
                _ => {
                    return Err(match e {
                        entry::EMPTY => Status::NoGround,
                        entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD => Status::NotInImage,
                        _ => Status::Damaged,
                    });
                }
            }
        }
        Err(Status::Damaged)
    }

    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn block<O: Observer>(
        &self,
        p: Place,
        tile: usize,
        tile_128: usize,
        node: &Node,
        cell_log2: u32,
        at: usize,
        o: &mut O,
    ) -> Result<Leaf, Status> {
        let side_log2 = (cell_log2 + 6).min(40); // a quarter of an entry, in query steps
        let cell = ((p.y >> side_log2) & 3) << 2 | ((p.x >> side_log2) & 3);
        let cell = cell as usize;
        let long = node.flags & format::NODE_LONG != 0;
        let (first, end, kind) = if long {
            let ends: &[u32; 16] = self.chunk(at).ok_or(Status::Damaged)?;
            let first = if cell == 0 { 0 } else { ends[(cell - 1) & 15] };
            (16 + 2 * first as usize, 16 + 2 * ends[cell & 15] as usize, LeafWords::Long)
        } else {
            let ends: &[u32; 4] = self.chunk(at).ok_or(Status::Damaged)?;
            let before = (cell.wrapping_sub(1)) & 15;
            let first = if cell == 0 { 0 } else { ends[before >> 2] >> (8 * (before & 3)) & 255 };
            let end = ends[(cell >> 2) & 3] >> (8 * (cell & 3)) & 255;
            (4 + first as usize, 4 + end as usize, LeafWords::Short)
        };
        if O::COUNTS {
            let (head, step) = if long { (16, 2) } else { (4, 1) };
            let words = end.saturating_sub(first) / step;
            let before = first.saturating_sub(head) / step;
            let lines = format::word_lines(at % 16, head, step, cell, before, words);
            o.see(Trace::Words { words: words as u32, lines });
        }
        Ok(Leaf {
            x: p.x >> side_log2 << side_log2,
            y: p.y >> side_log2 << side_log2,
            side_log2,
            tile,
            first: at.wrapping_add(first),
            end: at.wrapping_add(end),
            kind,
            bundles: tile_128.wrapping_add(node.bundles as usize),
            base: node.base,
            shift: node.shift & 31,
        })
    }

    #[inline(always)]
    fn slot(&self, slots: &[u32], at: usize) -> Result<usize, Status> {
        match slots.get(at) {
            Some(&s) if s >= slot::FIRST && s != u32::MAX => Ok((s - slot::FIRST) as usize),
            Some(&slot::EMPTY) => Err(Status::NoGround),
            Some(&(slot::NOT_IN_IMAGE | slot::NOT_UNDERSTOOD)) => Err(Status::NotInImage),
            _ => Err(Status::Damaged),
        }
    }

    #[cold]
    fn check_damage(&self, tile: usize) -> Result<(), Status> {
        let index = self.tile(tile).ok_or(Status::Damaged)?.index;
        let byte = self.damage.get(index as usize / 8).copied().unwrap_or(0);
        if byte >> (index % 8) & 1 == 1 { Err(Status::Damaged) } else { Ok(()) }
    }

    /// `N` words of the image.
    #[inline(always)]
    pub(crate) fn chunk<const N: usize>(&self, at: usize) -> Option<&'a [u32; N]> {
        self.words.get(at..)?.first_chunk()
    }

    #[inline(always)]
    pub(crate) fn node(&self, at: usize) -> Option<&'a Node> {
        let words: &[u32; 8] = self.chunk(at)?;
        Some(zerocopy::transmute_ref!(words))
    }

    pub(crate) fn tile(&self, at: usize) -> Option<&'a Tile> {
        let words = self.words.get(at..at.checked_add(32)?)?;
        Tile::ref_from_bytes(zerocopy::IntoBytes::as_bytes(words)).ok()
    }

    #[inline(always)]
    pub(crate) fn patch(&self, at: usize) -> Option<&'a Patch> {
        let words = self.words.as_chunks::<16>().0.get(at / 16)?;
        Some(zerocopy::transmute_ref!(words))
    }

    /// Gives `sink` the surfaces over the place, each leaf read once.
    ///
    /// After a hit inside a triangle the rest of its sheet holds no other surface and is passed over.
    #[inline(always)]
    pub(crate) fn surfaces<O: Observer>(
        &self,
        leaf: &Leaf,
        p: Place,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<(), Status> {
        let step = match leaf.kind {
            LeafWords::Short => 1,
            LeafWords::Long => 2,
            LeafWords::Patch => return self.patch_surface(leaf, leaf.first, p, o, sink),
        };
        let mut at = leaf.first;
        let mut skip = false;
        let mut left = format::MAX_WORDS;
        while at < leaf.end && left > 0 {
            left = left.wrapping_sub(1);
            let w = *self.words.get(at).ok_or(Status::Damaged)?;
            let last = w & word::LAST != 0;
            if !skip {
                let number = match leaf.kind {
                    LeafWords::Long => *self.words.get(at.wrapping_add(1)).ok_or(Status::Damaged)?,
                    _ => w >> word::BUNDLE,
                };
                if w & word::MASK != 0 {
                    let record = leaf.bundles.wrapping_add(number as usize);
                    let halves = self.bundles.get(record).ok_or(Status::Damaged)?;
                    o.see(Trace::Leaf { record, lines: 2 });
                    skip = Bundle { halves, record, leaf }.surfaces(self, w, p, o, sink);
                } else {
                    // a patch: its record's number stands where a bundle's would
                    let tile = self.tile(leaf.tile).ok_or(Status::Damaged)?;
                    let record = (tile.patches as usize).wrapping_add(16 * number as usize);
                    self.patch_surface(leaf, leaf.tile.wrapping_add(record), p, o, sink)?;
                }
            }
            skip = skip && !last;
            at = at.wrapping_add(step);
        }
        Ok(())
    }

    /// The palette entry of a surface.
    pub(crate) fn attribute(&self, tile: usize, attribute: u8) -> Option<Attribute> {
        let header = self.tile(tile)?;
        if u32::from(attribute) >= header.palette_len {
            return None;
        }
        let at = tile.wrapping_add(header.palette as usize).wrapping_add(2 * usize::from(attribute));
        let words: &[u32; 2] = self.chunk(at)?;
        Some(Attribute { material: words[0] as u16, source: (words[0] >> 16) as u16, reserved: words[1] })
    }

    /// What comes first of surfaces at equal height: lattice corners from the origin, sorted; material; source.
    #[cold]
    #[inline(never)]
    pub(crate) fn owner(&self, leaf: &Leaf, s: &Surface) -> Owner {
        let [mut a, mut b, mut c] = match self.bundles.get(s.record).filter(|_| s.kind == LeafKind::Bundle) {
            Some(halves) => Bundle { halves, record: s.record, leaf }.corners_3d(s.part),
            None => [[i64::MAX; 3]; 3],
        };
        for _ in 0..2 {
            if b < a {
                (a, b) = (b, a);
            }
            if c < b {
                (b, c) = (c, b);
            }
        }
        let Attribute { material, source, .. } = self.attribute_of(leaf, s);
        ([a, b, c], material, source)
    }

    #[inline(always)]
    fn attribute_of(&self, leaf: &Leaf, s: &Surface) -> Attribute {
        let number = match s.kind {
            LeafKind::Bundle => self.bundles.get(s.record).map(|b| (b[6] & 0xFF) as u8),
            _ => self.patch(s.record).map(|p| p.attribute),
        };
        number.and_then(|n| self.attribute(leaf.tile, n)).unwrap_or(Attribute { material: 0, source: 0, reserved: 0 })
    }

    /// A surface as an answer.
    #[inline(always)]
    pub(crate) fn hit(&self, leaf: &Leaf, s: &Surface, reach: Reach) -> Hit {
        let Attribute { material, source, .. } = self.attribute_of(leaf, s);
        let tile = leaf.tile / 32;
        let record = match s.kind {
            LeafKind::Bundle => s.record.wrapping_sub(tile),
            _ => s.record.wrapping_sub(leaf.tile),
        };
        Hit {
            z: s.z.wrapping_add(self.header.origin[2] << 8),
            normal: s.normal,
            material,
            source,
            leaf: s.kind,
            reach,
            place: [tile.wrapping_sub(self.tiles_at) as u32, record as u32, s.part],
        }
    }

    /// The surface that a hit was made of.
    pub(crate) fn surface_of(&self, leaf: &Leaf, hit: &Hit) -> Surface {
        let tile = if hit.leaf == LeafKind::Bundle { leaf.tile / 32 } else { leaf.tile };
        let record = tile.wrapping_add(hit.place[1] as usize);
        Surface { z: hit.z, normal: hit.normal, record, part: hit.place[2], kind: hit.leaf }
    }
}
