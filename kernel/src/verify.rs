//! Proving an image from its bytes alone: checksums, structure, reserved bytes, stated bounds.

use crate::bundle::Bundle;
use crate::format::{
    self, BLOCK_CELLS, BLOCK_POSTS, Header, Material, NODE_DENSE, Node, POSTS_AT, Patch, Section, Tile,
};
use crate::format::{MOST_SIDE_LOG2, block, bundle, entry, section, slot, word};
use crate::open::{CRC, Tables, Terrain, body_of, head_crc};
use core::fmt;
use zerocopy::IntoBytes;

/// What is wrong with the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The head does not match its checksum: it has decayed since it was opened.
    HeadDamaged,
    /// The head holds what no builder writes.
    HeadInvalid,
    /// A section's bytes do not match its checksum: the least kind, if there are several; [`Verifier::damaged_sections`] has all.
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
            Self::HeadDamaged => f.write_str("the head is damaged (its checksum differs)"),
            Self::SectionDamaged(k) => write!(f, "section {k} is damaged (its checksum differs)"),
            Self::HeadInvalid => f.write_str("the head holds what no builder writes"),
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
/// All sections but the tiles come in the first step, whatever its limit: the head, materials, names, sources, and of each
/// tile 64 bytes and its share of the pages. Then each tile: its checksum, then its bundles, patches and nodes, in pieces
/// of one bundle, one patch block, one cell, or one word of a cell's list.
#[derive(Clone)]
pub struct Verifier<'a> {
    terrain: Terrain<'a>,
    /// The tile.
    next: u32,
    stage: Stage,
    first_error: Option<VerifyError>,
    damaged: u32,
    usable: bool,
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // no allocation here, and one verifier at a time
enum Stage {
    Sections,
    Sum { done: usize, digest: crc::Digest<'static, u32, Tables> },
    Bundles(u32),
    Patches { number: u32, block: usize, words: usize },
    Nodes(Walk),
}

/// A walk over the nodes of a tile: where it stands at each depth, and the dearest place so far.
#[derive(Clone)]
struct Walk {
    stack: [Turn; format::MAX_DEPTH as usize],
    depth: usize,
    /// Blocks of the nodes that it has left.
    blocks: u32,
    /// Words read; what is read again is counted again and soon too much, so that the work is the file's size.
    words: usize,
    /// Nodes, leaves, tests, lines, layers, tests of wide bundles.
    cost: [u32; 6],
    /// In a block that was begun: the next cell, the next word of its list, and what the cell costs so far.
    cell: usize,
    word: u32,
    place: [u32; 6],
}

/// What was found at an entry.
enum Found {
    Node(usize),
    Leaf,
    /// A block that is to be gone on with.
    Begun,
}

/// A node of the tile, its next entry, and how many blocks the entries before that have.
#[derive(Clone, Copy, Default)]
struct Turn {
    at: u32,
    entry: u32,
    blocks: u32,
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(terrain: Terrain<'a>) -> Self {
        Verifier { terrain, next: 0, stage: Stage::Sections, first_error: None, damaged: 0, usable: false }
    }

    /// Checks about `max_bytes` more, at least one piece; `Ok(true)` when all is proven. A piece is all sections but the tiles (the
    /// first step), or else at most 128 bytes.
    ///
    /// The bytes of a tile count once for its checksum and again for its bundles, patches and nodes: from 256 bytes on all takes
    /// about 2 x `bytes().len()` / `max_bytes` steps, up to 3 x for fields of heights; with fewer it takes more.
    ///
    /// What is wrong outside the tiles comes at once, for it has no bit: materials, names or pages may be false. The steps after
    /// that check the tiles all the same, and it comes again at the end.
    ///
    /// With a `bitmap` of a bit for each tile, damaged tiles are marked in it, the rest is still
    /// checked, and the first error comes at the end. With an empty one the first error ends it, and so does a damaged tile
    /// beyond the end of a bitmap that is shorter than `tile_count.div_ceil(8)` bytes. No bit is ever cleared.
    pub fn step(&mut self, max_bytes: usize, bitmap: &mut [u8]) -> Result<bool, VerifyError> {
        if matches!(self.stage, Stage::Sections) {
            self.stage = Stage::first();
            let error;
            Outside { damaged: self.damaged, usable: self.usable, error } = sections(&self.terrain);
            if let Some(e) = error {
                self.first_error = error;
                return Err(e);
            }
        }
        let mut left = max_bytes;
        while (self.next as usize) < self.terrain.table.len() {
            let index = self.next;
            match self.advance(index, left) {
                Ok(used) => left = left.saturating_sub(used),
                Err(e) => {
                    let Some(byte) = bitmap.get_mut(index as usize / 8) else {
                        self.usable = false;
                        return Err(e);
                    };
                    *byte |= 1 << (index % 8);
                    self.first_error.get_or_insert(e);
                    (self.next, self.stage) = (index.wrapping_add(1), Stage::first());
                }
            }
            if left == 0 && (self.next as usize) < self.terrain.table.len() {
                return Ok(false);
            }
        }
        self.first_error.map_or(Ok(true), Err)
    }

    /// The sections whose bytes do not match their checksums, known after the first step: bit k for kind k of [`format::section`],
    /// bit 0 for the head, bit 31 for all kinds from 31 on.
    /// Tiles have checksums and a bitmap of their own.
    pub fn damaged_sections(&self) -> u32 {
        self.damaged
    }

    /// Whether answers can be relied on, those of [`Terrain::with_damage`] that say [`Status::Damaged`](crate::Status::Damaged) apart;
    /// known after the first step, before it false.
    ///
    /// Nothing is wrong outside the tiles, or only between sections or in NAMES, SOURCES, PROVENANCE or kinds that are not
    /// understood: no height, slope, status or friction depends on those. And every damaged tile that was met has its bit. Tiles that were not met yet may be damaged.
    ///
    /// It does not say that any tile is whole: it is true, too, where all are damaged and every answer is. How many are, the bitmap
    /// says: `bitmap.iter().map(|byte| byte.count_ones()).sum::<u32>()`, of `header().tile_count`.
    pub fn usable(&self) -> bool {
        self.usable
    }

    /// Checks one piece of a tile and says how many bytes it had.
    fn advance(&mut self, index: u32, left: usize) -> Result<usize, VerifyError> {
        let invalid = VerifyError::TileInvalid(index);
        let check = Check::new(&self.terrain, index).ok_or(invalid)?;
        match &mut self.stage {
            Stage::Sections => self.stage = Stage::first(),
            Stage::Sum { done, digest } => {
                let rest = check.bytes.get(*done..).unwrap_or(&[]);
                let piece = rest.get(..left.max(64)).unwrap_or(rest);
                digest.update(piece);
                *done = done.saturating_add(piece.len());
                let used = piece.len();
                if piece.len() == rest.len() {
                    if digest.clone().finalize() != check.crc {
                        return Err(VerifyError::TileDamaged(index));
                    }
                    if !check.head() {
                        return Err(invalid);
                    }
                    self.stage = Stage::Bundles(0);
                }
                return Ok(used);
            }
            Stage::Bundles(number) => {
                if *number >= check.head.bundle_count {
                    self.stage = Stage::Patches { number: 0, block: 0, words: 0 };
                } else if check.bundle(*number) {
                    *number = number.wrapping_add(1);
                    return Ok(128);
                } else {
                    return Err(invalid);
                }
            }
            Stage::Patches { number, block, words } => {
                if *number >= check.head.patch_count {
                    self.stage = Stage::Nodes(Walk::new());
                } else {
                    let patch = check.patch(*number).ok_or(invalid)?;
                    // what is read again is counted again, so that the work is the file's size
                    if *words > check.len {
                        return Err(invalid);
                    }
                    if *block >= patch.block_count() {
                        (*number, *block) = (number.wrapping_add(1), 0);
                    } else if check.patch_block(patch, *block) {
                        *block = block.wrapping_add(1);
                        *words = words.wrapping_add(patch.block_words());
                        return Ok(64);
                    } else {
                        return Err(invalid);
                    }
                }
            }
            Stage::Nodes(walk) => match check.turn(walk, left).ok_or(invalid)? {
                Some(used) => return Ok(used),
                None => {
                    let (head, whole) = (check.head.bound, self.terrain.header.bound);
                    let above = |a: &[u32], b: &[u32]| a.iter().zip(b).any(|(a, b)| a > b);
                    let [cost @ .., layers, wide] = walk.cost;
                    let extra = layers > check.head.max_layers || wide > self.terrain.header.wide_tests;
                    if above(&cost, &head) || above(&head, &whole) || extra {
                        return Err(VerifyError::BoundExceeded(index));
                    }
                    (self.next, self.stage) = (index.wrapping_add(1), Stage::first());
                }
            },
        }
        Ok(1)
    }
}

impl Terrain<'_> {
    /// Proves all sections but the tiles, as the first step of a [`Verifier`].
    pub fn verify_sections(&self) -> Result<(), VerifyError> {
        sections(self).error.map_or(Ok(()), Err)
    }

    /// Proves one tile as a [`Verifier`] does, but for its checksum, which a host computes with larger tables: tiles can
    /// be proven side by side, and in any order.
    pub fn verify_tile(&self, index: u32) -> Result<(), VerifyError> {
        if !Check::new(self, index).is_some_and(|check| check.head()) {
            return Err(VerifyError::TileInvalid(index));
        }
        let mut verifier = Verifier { next: index, stage: Stage::Bundles(0), ..Verifier::new(*self) };
        while verifier.next == index {
            verifier.advance(index, usize::MAX)?;
        }
        Ok(())
    }
}

impl Stage {
    fn first() -> Stage {
        Stage::Sum { done: 0, digest: CRC.digest() }
    }
}

impl Walk {
    fn new() -> Walk {
        let mut stack = [Turn::default(); format::MAX_DEPTH as usize];
        stack[0] = Turn { at: format::ROOT as u32, entry: 0, blocks: 0 };
        Walk { stack, depth: 1, blocks: 0, words: 8, cost: [3, 0, 0, 0, 0, 0], cell: 0, word: 0, place: [0; 6] }
    }
}

fn zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| b == 0)
}

/// An error against the source: a number of metres, not below zero.
fn is_error(e: &f64) -> bool {
    e.is_finite() && *e >= 0.0
}

/// What was found outside the tiles.
struct Outside {
    /// A bit for each kind of section whose checksum differs.
    damaged: u32,
    /// See [`Verifier::usable`].
    usable: bool,
    error: Option<VerifyError>,
}

fn sections(t: &Terrain) -> Outside {
    let differs = |s: &&Section| {
        s.is_used() && s.kind != section::TILES && body_of(t.bytes, s).map(|b| CRC.checksum(b)) != Some(s.crc)
    };
    // the head may have decayed since it was opened
    let head = t.bytes.get(..format::HEAD_LEN).is_none_or(|head| head_crc(head) != t.header.head_crc);
    let (mut damaged, mut least) = (u32::from(head), u32::MAX);
    for s in t.header.sections.iter().filter(differs) {
        (damaged, least) = (damaged | 1 << s.kind.min(31), least.min(s.kind));
    }
    let structure = structure(t, damaged);
    let error = match damaged {
        0 => structure.and_then(|()| padding(t)).err(),
        _ if head => Some(VerifyError::HeadDamaged),
        _ => Some(VerifyError::SectionDamaged(least)),
    };
    let answers = section::ANSWERS | 1; // and the head
    Outside { damaged, usable: damaged & answers == 0 && structure.is_ok(), error }
}

/// Head, order of the sections, and what they hold, but for names if they or sources are damaged.
fn structure(t: &Terrain, damaged: u32) -> Result<(), VerifyError> {
    let h = t.header;
    let invalid = VerifyError::SectionInvalid;
    let numbers = [h.default_mu, h.default_rolling, h.default_gain];
    let errors = [h.error_plan, h.error_height];
    if h.reserved0 != 0
        || h.wide_tests > h.bound[2]
        || !zero(&h.reserved2)
        || !numbers.iter().all(|v| v.is_finite())
        || !errors.iter().all(is_error)
        || u64::from(h.max_layers) > h.references.saturating_add(h.patch_blocks)
    {
        return Err(VerifyError::HeadInvalid);
    }
    let mut end = format::HEAD_LEN as u64;
    let mut seen = 0u32;
    for s in &h.sections {
        if !s.is_used() {
            if !zero(s.as_bytes()) {
                return Err(VerifyError::HeadInvalid);
            }
            continue;
        }
        // what is not understood may be content, and is otherwise passed over
        let flags = match section::kind(s.kind) {
            Some(kind) if kind.understood => s.flags == kind.flags,
            _ => s.flags & !section::CONTENT == 0,
        };
        let twice = h.sections.iter().filter(|other| other.kind == s.kind).count() > 1;
        if twice || !flags || s.reserved != 0 || s.offset != end || (s.kind == section::TILES && s.crc != 0) {
            return Err(invalid(s.kind));
        }
        seen |= section::bit(s.kind);
        end = after(s).ok_or(invalid(s.kind))?.end;
    }
    if end != h.total_len || seen & section::REQUIRED != section::REQUIRED {
        return Err(VerifyError::HeadInvalid);
    }
    materials_and_names(t, damaged)?;
    root(t)
}

/// The bytes from a section to the next multiple of 128.
fn after(s: &Section) -> Option<core::ops::Range<u64>> {
    let end = s.offset.saturating_add(s.len);
    Some(end..end.checked_next_multiple_of(format::ALIGN as u64)?)
}

/// Sections follow each other with zeros up to the next multiple of 128.
fn padding(t: &Terrain) -> Result<(), VerifyError> {
    let gaps = t.header.sections.iter().filter(|s| s.is_used()).map(after);
    let bytes = |gap: core::ops::Range<u64>| t.bytes.get(gap.start as usize..gap.end as usize);
    let clean = gaps.map(|gap| gap.and_then(bytes)).all(|bytes| bytes.is_some_and(zero));
    if clean { Ok(()) } else { Err(VerifyError::Padding) }
}

fn materials_and_names(t: &Terrain, damaged: u32) -> Result<(), VerifyError> {
    let named = |at: u32, len: usize| {
        let bytes = t.names.get(at as usize..).and_then(|b| b.get(..len));
        bytes.is_some_and(|b| damaged >> section::NAMES & 1 == 1 || core::str::from_utf8(b).is_ok())
    };
    for m in t.materials {
        let numbers = [m.mu, m.rolling, m.gain, m.cone_index];
        if m.reserved != [0; 3]
            || m.flags & !Material::OBSTACLE != 0
            || !named(m.name, m.name_len.into())
            || !numbers.iter().all(|v| v.is_finite())
        {
            return Err(VerifyError::SectionInvalid(section::MATERIALS));
        }
    }
    let sound = damaged >> section::SOURCES & 1 == 0;
    if sound && t.sources.iter().any(|s| s.reserved != [0; 3] || !named(s.name, s.name_len as usize)) {
        return Err(VerifyError::SectionInvalid(section::SOURCES));
    }
    Ok(())
}

/// Every tile of the table stands once in the pages, at its own place, in Morton order and without gaps.
fn root(t: &Terrain) -> Result<(), VerifyError> {
    let h = t.header;
    let slots = 1usize << (2 * h.page_log2);
    let is_slot = |s: &u32| slot::is_valid(*s);
    let pages = t.pages.len() >> (2 * h.page_log2);
    if t.pages.len() != pages << (2 * h.page_log2) || !t.pages.iter().all(is_slot) {
        return Err(VerifyError::SectionInvalid(section::PAGES));
    }
    let mut next = slot::FIRST;
    let mut listed = t.directory.iter().filter(|&&s| s >= slot::FIRST).count();
    if listed != pages || !t.directory.iter().all(is_slot) {
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

/// One tile.
struct Check<'t, 'a> {
    t: &'t Terrain<'a>,
    header: &'a Header,
    head: &'a Tile,
    bytes: &'a [u8],
    crc: u32,
    x: i32,
    y: i32,
    at: usize,
    at_128: usize,
    index: u32,
    /// Words of the tile.
    len: usize,
}

impl<'t, 'a> Check<'t, 'a> {
    fn new(t: &'t Terrain<'a>, index: u32) -> Option<Self> {
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

    fn head(&self) -> bool {
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
    fn bundle(&self, b: u32) -> bool {
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

    fn patch(&self, p: u32) -> Option<&'a Patch> {
        let at = self.at.wrapping_add(self.head.patches as usize).wrapping_add(16 * p as usize);
        let patch = self.t.patch(at)?;
        let words = patch.block_words();
        let sound = u32::from(patch.attribute) < self.head.palette_len
            && patch.class <= 1
            && patch.interpolation == 0
            && patch.voids <= 1
            && patch.wide == u8::from(self.header.tile_log2 > format::PATCH_LOG2)
            && patch.reserved0 == [0; 3]
            && patch.reserved1 == [0; 2]
            && (1..=1 << 56).contains(&patch.cells_a_step())
            && (1..1 << 62).contains(&patch.upward())
            && patch.cells.iter().all(|&c| (1..1 << 20).contains(&c))
            && patch.blocks == patch.cells[0].div_ceil(BLOCK_CELLS)
            && self.holds((patch.place as usize).saturating_mul(words), patch.block_count().saturating_mul(words));
        sound.then_some(patch)
    }

    /// Cells that one query of the patch at word `at` of the tile reads.
    fn patch_reads(&self, at: usize) -> Option<u32> {
        let number = at.checked_sub(self.head.patches as usize)? / 16;
        let sound = number < self.head.patch_count as usize && at.is_multiple_of(16);
        self.t.patch(self.at.wrapping_add(at)).filter(|_| sound).map(Patch::reads)
    }

    fn patch_block(&self, patch: &Patch, b: usize) -> bool {
        let words = patch.block_words();
        let at = (patch.place as usize).wrapping_add(b).wrapping_mul(words).wrapping_add(self.at);
        let Some(block) = self.t.words.get(at..at.wrapping_add(words)) else { return false };
        let [_, unit, ..] = *block else { return false };
        let (size, unit) = (patch.post_bytes(), format::block_unit(patch.class.into(), unit));
        let posts = POSTS_AT[usize::from(patch.class & 1)];
        let Some((posts, spare)) = block.as_bytes().get(posts..).and_then(|b| b.split_at_checked(BLOCK_POSTS * size))
        else {
            return false;
        };
        let whole = posts.chunks_exact(size).all(|p| p.iter().any(|&b| b != 0xFF));
        unit.is_power_of_two() && format::PATCH_UNITS.contains(&unit) && zero(spare) && (whole || patch.voids == 1)
    }

    /// Checks one entry of the walk's deepest node, or some `left` bytes of its block, and says how many bytes it read; none when there is
    /// no entry left.
    fn turn(&self, walk: &mut Walk, left: usize) -> Option<Option<usize>> {
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
                    let reads = self.patch_reads(to)?;
                    raise(&mut walk.cost, [0, reads, reads, reads, 1, 0]);
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
            .all(|i| node.side_log2[i] <= MOST_SIDE_LOG2 && u32::from(node.entry_log2[i]) + side[i] == log2[i])
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
            [self.patch_reads((number as usize).checked_mul(16)?)?; 3]
        } else {
            if number >= node.bundle_count || mask >> first & 1 == 0 {
                return None;
            }
            let record = self.at_128.wrapping_add(node.bundles as usize).wrapping_add(number as usize);
            let head = bundle::Head::of(self.t.bundles.get(record)?);
            let (wide, tests) = (head.class() == bundle::WIDE, mask.count_ones());
            if mask >> head.triangles() != 0 || (sole && wide) {
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

fn raise(cost: &mut [u32; 6], by: [u32; 6]) {
    for (c, b) in cost.iter_mut().zip(by) {
        *c = (*c).max(b);
    }
}
