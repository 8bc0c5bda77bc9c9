//! From a place to the surfaces over it: root, nodes, cell words, bundles.

use crate::format::{self, Attribute, Node, Patch, Tile, bundle, entry, slot, word};
use crate::geom::{Corners, Cover};
use crate::open::Terrain;
use crate::query::{Observer, Trace};
use crate::types::{Hit, LeafKind, Normal, Reach, Status};
use core::ops::ControlFlow;
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

/// One surface over a place.
#[derive(Clone, Copy)]
pub(crate) struct Surface {
    /// Height in 2^-8 steps from the origin.
    pub z: i64,
    pub normal: Normal,
    /// First word of the tile in the image; bundle or patch record; triangle or block.
    pub tile: usize,
    pub record: usize,
    pub part: u32,
    pub attribute: u8,
    pub kind: LeafKind,
    pub base: [i32; 2],
    pub shift: u8,
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
    #[inline(always)]
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
        let words = self.words.get(at..at.wrapping_add(16))?;
        Patch::ref_from_bytes(zerocopy::IntoBytes::as_bytes(words)).ok()
    }

    /// Calls `found` with every surface over the place, each leaf read once, until it breaks.
    ///
    /// With `first_of_sheet`, the rest of a sheet is passed over after a hit inside a triangle.
    #[inline(always)]
    pub(crate) fn surfaces<O: Observer>(
        &self,
        leaf: &Leaf,
        p: Place,
        o: &mut O,
        mut found: impl FnMut(&mut O, Surface) -> ControlFlow<()>,
    ) -> Result<(), Status> {
        if leaf.kind == LeafWords::Patch {
            if let Some(s) = self.patch_surface(leaf.tile, leaf.first, p, o)? {
                let _ = found(o, s);
            }
            return Ok(());
        }
        let step = if leaf.kind == LeafWords::Long { 2 } else { 1 };
        let mut at = leaf.first;
        let mut skip = false;
        for _ in 0..format::MAX_WORDS {
            if at >= leaf.end {
                return Ok(());
            }
            let w = *self.words.get(at).ok_or(Status::Damaged)?;
            let number = match step {
                1 => w >> word::BUNDLE,
                _ => *self.words.get(at.wrapping_add(1)).ok_or(Status::Damaged)?,
            };
            at = at.wrapping_add(step);
            let last = w & word::LAST != 0;
            if skip {
                skip = !last;
                continue;
            }
            if w & word::MASK == 0 {
                // a patch: its record's number stands where a bundle's would
                let tile = self.tile(leaf.tile).ok_or(Status::Damaged)?;
                let record = leaf.tile.wrapping_add(tile.patches as usize).wrapping_add(16 * number as usize);
                if let Some(s) = self.patch_surface(leaf.tile, record, p, o)?
                    && found(o, s).is_break()
                {
                    return Ok(());
                }
                continue;
            }
            let record = leaf.bundles.wrapping_add(number as usize);
            let b = self.bundles.get(record).ok_or(Status::Damaged)?;
            o.see(Trace::Leaf { record, lines: 2 });
            let view = Bundle { halves: b, record, leaf };
            let mut inside = false;
            let flow = view.each_cover(w, p, o, |o, part, cover, corners, px, py| {
                let (normal, z) = view.height(part, &corners, px, py);
                inside = cover == Cover::Inside;
                let surface = Surface {
                    z,
                    normal,
                    tile: leaf.tile,
                    record,
                    part,
                    attribute: (b[6] & 0xFF) as u8,
                    kind: LeafKind::Bundle,
                    base: leaf.base,
                    shift: leaf.shift,
                };
                match found(o, surface) {
                    ControlFlow::Continue(()) if !inside => ControlFlow::Continue(()),
                    ControlFlow::Continue(()) => ControlFlow::Break(false),
                    ControlFlow::Break(()) => ControlFlow::Break(true),
                }
            });
            match flow {
                ControlFlow::Break(true) => return Ok(()),
                ControlFlow::Break(false) => skip = inside && !last,
                ControlFlow::Continue(()) => {}
            }
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

    /// Absolute corners of a surface's triangle in lattice steps from the origin, least first.
    #[cold]
    pub(crate) fn canonical(&self, s: &Surface) -> [[i64; 3]; 3] {
        let leaf = Leaf {
            x: 0,
            y: 0,
            side_log2: 0,
            tile: s.tile,
            first: 0,
            end: 0,
            kind: LeafWords::Short,
            bundles: 0,
            base: s.base,
            shift: s.shift,
        };
        let Some(halves) = self.bundles.get(s.record).filter(|_| s.kind == LeafKind::Bundle) else {
            return [[i64::MAX; 3]; 3];
        };
        let view = Bundle { halves, record: s.record, leaf: &leaf };
        let mut corners = view.corners_3d(s.part);
        corners.sort_unstable();
        corners
    }

    /// A surface as an answer.
    #[inline(always)]
    pub(crate) fn hit(&self, s: &Surface, reach: Reach) -> Hit {
        let a = self.attribute(s.tile, s.attribute).unwrap_or(Attribute { material: 0, source: 0, reserved: 0 });
        Hit {
            z: s.z.wrapping_add(self.header.origin[2] << 8),
            normal: s.normal,
            material: a.material,
            source: a.source,
            leaf: s.kind,
            reach,
            place: [
                (s.tile / 32).wrapping_sub(self.tiles_at) as u32,
                match s.kind {
                    LeafKind::Bundle => s.record.wrapping_sub(s.tile / 32),
                    _ => s.record.wrapping_sub(s.tile),
                } as u32,
                s.part,
            ],
        }
    }
}

/// A bundle, seen from a leaf.
pub(crate) struct Bundle<'a, 'l> {
    pub halves: &'a [u16; bundle::HALVES],
    pub record: usize,
    pub leaf: &'l Leaf,
}

impl Bundle<'_, '_> {
    #[inline(always)]
    fn half(&self, i: usize) -> u16 {
        self.halves[i & 63]
    }

    #[inline(always)]
    pub fn class(&self) -> u16 {
        self.halves[6] >> 8 & 3
    }

    #[inline(always)]
    pub fn corner_numbers(&self, part: u32) -> [usize; 3] {
        let at = bundle::CORNERS + (part as usize >> 2 & 3);
        let shift = 4 * (part & 3);
        [0, 4, 8].map(|plane| usize::from(self.half(at + plane) >> shift & 15))
    }

    /// Plan base in steps: narrow and medium count from it.
    #[inline(always)]
    pub fn base(&self) -> (i64, i64) {
        let at =
            |i: usize| i64::from(self.leaf.base[i]).wrapping_add(i64::from(self.halves[i] as i16) << self.leaf.shift);
        (at(0), at(1))
    }

    #[inline(always)]
    pub fn base_z(&self) -> i64 {
        i64::from((u32::from(self.halves[2]) | u32::from(self.halves[3]) << 16) as i32)
    }

    /// Plan coordinates of a vertex; from the base, or in a wide bundle from the origin.
    #[inline(always)]
    pub fn vertex(&self, class: u16, i: usize) -> (i64, i64) {
        match class {
            bundle::NARROW => {
                let at = bundle::VERTICES + 3 * i;
                (self.half(at).into(), self.half(at + 1).into())
            }
            bundle::MEDIUM => {
                let at = bundle::VERTICES + 4 * i;
                let high = i64::from(self.half(at + 3));
                (i64::from(self.half(at)) | (high & 15) << 16, i64::from(self.half(at + 1)) | (high >> 4 & 15) << 16)
            }
            _ => {
                let at = bundle::VERTICES + 6 * i;
                (self.long(at), self.long(at + 2))
            }
        }
    }

    #[inline(always)]
    fn long(&self, at: usize) -> i64 {
        i64::from((u32::from(self.half(at)) | u32::from(self.half(at + 1)) << 16) as i32)
    }

    /// Height of a vertex in steps from the origin, given its plan coordinates from [`Bundle::vertex`].
    #[inline(always)]
    pub fn vertex_z(&self, class: u16, i: usize, x: i64, y: i64) -> i64 {
        match class {
            bundle::NARROW => {
                let gx = i64::from(self.halves[4] as i16);
                let gy = i64::from(self.halves[5] as i16);
                let plane = gx.wrapping_mul(x).wrapping_add(gy.wrapping_mul(y)) >> 8;
                self.base_z().wrapping_add(plane).wrapping_add(self.half(bundle::VERTICES + 3 * i + 2).into())
            }
            bundle::MEDIUM => {
                let at = bundle::VERTICES + 4 * i + 2;
                let dz = i64::from(self.half(at)) | i64::from(self.half(at + 1) >> 8) << 16;
                self.base_z().wrapping_add(dz)
            }
            _ => self.long(bundle::VERTICES + 6 * i + 4),
        }
    }

    #[inline(always)]
    fn corners(&self, class: u16, part: u32) -> Corners {
        let [a, b, c] = self.corner_numbers(part).map(|i| self.vertex(class, i));
        Corners { x: [a.0, b.0, c.0], y: [a.1, b.1, c.1] }
    }

    /// Absolute corners of a triangle in steps from the origin.
    pub fn corners_3d(&self, part: u32) -> [[i64; 3]; 3] {
        let class = self.class();
        let (bx, by) = if class >= bundle::WIDE { (0, 0) } else { self.base() };
        self.corner_numbers(part).map(|i| {
            let (x, y) = self.vertex(class, i);
            [x.wrapping_add(bx), y.wrapping_add(by), self.vertex_z(class, i, x, y)]
        })
    }

    /// Tests the triangles of a cell word's mask, its guess first.
    #[inline(always)]
    fn each_cover<O: Observer>(
        &self,
        w: u32,
        p: Place,
        o: &mut O,
        mut covers: impl FnMut(&mut O, u32, Cover, Corners, i64, i64) -> ControlFlow<bool>,
    ) -> ControlFlow<bool> {
        let class = self.class();
        let (px, py) = match class {
            bundle::NARROW | bundle::MEDIUM => {
                let (bx, by) = self.base();
                let (px, py) = (p.x.wrapping_sub(bx << 8), p.y.wrapping_sub(by << 8));
                let reach = if class == bundle::NARROW { 0xFFFF << 8 } else { 0xF_FFFF << 8 };
                if px as u64 > reach || py as u64 > reach {
                    return ControlFlow::Continue(());
                }
                (px, py)
            }
            _ => (p.x, p.y),
        };
        let mut mask = w & word::MASK;
        let mut part = w >> word::GUESS & 15;
        if mask >> part & 1 == 0 {
            part = mask.trailing_zeros();
        }
        while mask != 0 {
            mask &= !(1 << part);
            let corners = match class {
                bundle::NARROW => self.corners(bundle::NARROW, part),
                bundle::MEDIUM => self.corners(bundle::MEDIUM, part),
                _ => self.corners(bundle::WIDE, part),
            };
            let cover = match class {
                bundle::NARROW | bundle::MEDIUM => corners.cover(px, py),
                _ => cover_wide(&corners, px, py),
            };
            o.see(Trace::Test { record: self.record, part, covered: cover != Cover::Outside });
            if cover != Cover::Outside {
                covers(o, part, cover, corners, px, py)?;
            }
            part = mask.trailing_zeros();
        }
        ControlFlow::Continue(())
    }

    /// Normal, and height at a covered place in 2^-8 steps from the origin.
    #[inline(always)]
    fn height(&self, part: u32, c: &Corners, px: i64, py: i64) -> (Normal, i64) {
        let class = self.class();
        let n = self.corner_numbers(part);
        let z = [0, 1, 2].map(|k| self.vertex_z(class, n[k], c.x[k], c.y[k]));
        let (normal, rise) =
            if class >= bundle::WIDE && !c.is_small() { c.plane_huge(z, px, py) } else { c.plane(z, px, py) };
        (normal, rise.wrapping_add(z[0] << 8))
    }
}

#[inline(always)]
fn cover_wide(c: &Corners, px: i64, py: i64) -> Cover {
    if !c.is_small() {
        return c.cover_huge(px, py);
    }
    let (qx, qy) = (px.wrapping_sub(c.x[0] << 8), py.wrapping_sub(c.y[0] << 8));
    if qx.unsigned_abs() > 1 << 34 || qy.unsigned_abs() > 1 << 34 {
        return Cover::Outside;
    }
    c.cover(px, py)
}
