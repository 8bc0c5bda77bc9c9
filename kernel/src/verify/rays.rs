//! What stands in RAYS: its head and table, and beside each tile records, walls and bundles.

use super::sections::grow;
use super::zero;
use crate::error::VerifyError;
use crate::format::rays::{Extents, KINDS, MAX_UNIT, RaysRecord, RaysTile, TABLE, Walls, kind_bit, wall};
use crate::format::{self, Node, bundle, section};
use crate::leaf::bundle::Bundle;
use crate::open::Terrain;
use crate::rays::RaysBlob;
use zerocopy::{FromBytes, IntoBytes};

pub(super) const INVALID: VerifyError = VerifyError::SectionInvalid(section::RAYS);

/// The head and the table: a blob for each tile, one behind the other.
pub(super) fn outside(t: &Terrain) -> Result<(), VerifyError> {
    let Some(rays) = t.rays else { return Ok(()) };
    let (head, h) = (rays.head, t.header);
    let stores = |kind: u16| head.kinds & kind_bit(kind) != 0;
    let none = |kind: u16, count: u64| stores(kind) || count == 0;
    let [ceilings, obstacles] = head.triangles;
    let is_sound = head.tiles == h.tile_count
        && head.kinds & !KINDS == 0
        && stores(bundle::GROUND)
        && none(bundle::CEILING, ceilings)
        && none(bundle::OBSTACLE, obstacles)
        && head.min.iter().zip(&head.max).all(|(a, b)| a <= b)
        && head.ray_bound.iter().flatten().all(|n| *n <= format::MAX_BOUND)
        && grow(h.bound, &head.ray_bound)
        && head.ray_bound.iter().zip(h.ray_bound).all(|(all, ground)| grow(ground, &[*all]))
        && head.reserved == [0; 2];
    let bytes = t.section(section::RAYS).unwrap_or(&[]);
    let table = TABLE.saturating_add(size_of_val(rays.table));
    let first = table.next_multiple_of(format::ALIGN);
    let is_padded = bytes.get(table..first).is_some_and(zero);
    let mut next = first as u64;
    let in_row = rays.table.iter().zip(t.table).all(|(r, tile)| {
        let sound = r.offset == next
            && r.reserved == 0
            && (r.x, r.y) == (tile.x, tile.y)
            && r.len >= format::ALIGN as u64
            && r.len.is_multiple_of(format::ALIGN as u64);
        next = next.saturating_add(r.len);
        sound
    });
    if is_sound && is_padded && in_row && next == bytes.len() as u64 { Ok(()) } else { Err(INVALID) }
}

/// What is looked at next.
#[derive(Clone)]
pub(super) struct Place {
    record: u32,
    bundle: u32,
    /// Words read; what is read again is counted again and soon too much, so that the work is the file's size.
    words: usize,
}

impl Place {
    pub fn new() -> Place {
        Place { record: 0, bundle: 0, words: 0 }
    }
}

/// One blob.
struct Blob<'t, 'a> {
    t: &'t Terrain<'a>,
    place: RaysBlob,
    head: &'a RaysTile,
    frame: &'a Node,
    /// Where records end and bundles begin, and where it ends: words.
    records_end: usize,
    bundles_at: usize,
    len: usize,
    kinds: u32,
}

/// Checks a piece of the blob beside a tile that has so many blocks, and says how many bytes that had; `Some(None)` at
/// its end, none if it is not sound.
pub(super) fn turn(t: &Terrain, tile: usize, index: u32, blocks: u32, place: &mut Place) -> Option<Option<usize>> {
    let Some(rays) = t.rays else { return Some(None) };
    let blob = t.rays_blob(tile)?;
    let head = RaysTile::ref_from_bytes(t.words.get(blob.at..blob.at.checked_add(32)?)?.as_bytes()).ok()?;
    let frame = t.node(blob.at.wrapping_add(format::ROOT))?;
    let records_end = (head.records as usize).checked_add((head.blocks as usize).checked_mul(RaysRecord::WORDS)?)?;
    let bundles_at = (frame.bundles as usize).checked_mul(bundle::WORDS)?;
    let len = head.words as usize;
    let blob = Blob { t, place: blob, head, frame, records_end, bundles_at, len, kinds: rays.head.kinds };
    if place.words == 0 {
        place.words = 1;
        return blob.head(index, blocks).then_some(Some(128));
    }
    if place.record < blocks {
        let words = blob.record(place.record)?;
        (place.record, place.words) = (place.record.wrapping_add(1), place.words.saturating_add(words));
        return (place.words <= blob.len.saturating_add(1))
            .then_some(Some(32usize.saturating_add(words.wrapping_mul(4))));
    }
    if place.bundle < frame.bundle_count {
        let is_sound = blob.bundle(place.bundle);
        place.bundle = place.bundle.wrapping_add(1);
        return is_sound.then_some(Some(128));
    }
    Some(None)
}

impl Blob<'_, '_> {
    fn head(&self, index: u32, blocks: u32) -> bool {
        let (h, f, t) = (self.head, self.frame, self.t);
        let Some(tile) = t.table.get(index as usize) else { return false };
        let palette_end = format::PALETTE.saturating_add((h.palette_len as usize).saturating_mul(2));
        let bundles_end = self.bundles_at.saturating_add((f.bundle_count as usize).saturating_mul(bundle::WORDS));
        let most = f.bundle_count.saturating_mul(bundle::TRIANGLES as u32);
        (h.x, h.y) == (tile.x, tile.y)
            && h.palette_len <= format::MAX_PALETTE as u32
            && h.records.is_multiple_of(16)
            && h.records as usize >= palette_end
            && h.blocks == blocks
            && self.records_end <= self.bundles_at
            && bundles_end == self.len
            && h.references.iter().fold(0, |sum: u32, n| sum.saturating_add(*n)) <= most
            && h.reserved == [0; 22]
            && f.shift < 24
            && *Node {
                base: f.base,
                shift: f.shift,
                bundles: f.bundles,
                bundle_count: f.bundle_count,
                ..Node::default()
            }
            .as_bytes()
                == *f.as_bytes()
            && (0..h.palette_len).all(|a| {
                let a = t.attribute(self.place.at, a as u8);
                usize::from(a.material) < t.materials.len() && usize::from(a.source) < t.sources.len() && a.flags == 0
            })
    }

    /// A record and its walls; how many words those have.
    fn record(&self, number: u32) -> Option<usize> {
        let at = self.place.records.checked_add((number as usize).checked_mul(RaysRecord::WORDS)?)?;
        let words: &[u32; RaysRecord::WORDS] = self.t.chunk(at)?;
        let record: &RaysRecord = zerocopy::transmute_ref!(words);
        if record.unit > MAX_UNIT || record.reserved != 0 || !is_in_order(&record.extents) {
            return None;
        }
        if record.walls == 0 {
            return Some(0);
        }
        let at = record.walls as usize;
        let words = at.checked_add(Walls::WORDS).filter(|end| *end <= self.bundles_at)?;
        if !record.walls.is_multiple_of(4) || at < self.records_end {
            return None;
        }
        let (walls, rest) = self.t.walls(&self.place, record)?;
        let count = usize::from(walls.ends[7]);
        let is_sound = walls.unit() <= MAX_UNIT
            && is_in_order(&walls.extents)
            && walls.ends.is_sorted()
            && words.checked_add(count).is_some_and(|end| end <= self.bundles_at)
            && rest.get(..count)?.iter().all(|w| self.word(walls.first(), *w));
        is_sound.then_some(Walls::WORDS.saturating_add(count))
    }

    /// Whether a word names triangles that are there.
    fn word(&self, first: u32, w: u32) -> bool {
        let number = first.saturating_add(wall::number(w));
        let record = self.bundle_at(number);
        let Some(words) = self.t.bundles.get(record) else { return false };
        let count = bundle::Head::of(words).triangles();
        number < self.frame.bundle_count && wall::mask(w) != 0 && wall::mask(w) >> count == 0
    }

    fn bundle_at(&self, number: u32) -> usize {
        (self.place.at / bundle::WORDS).wrapping_add(self.frame.bundles as usize).wrapping_add(number as usize)
    }

    fn bundle(&self, number: u32) -> bool {
        let record = self.bundle_at(number);
        let Some(words) = self.t.bundles.get(record) else { return false };
        let view = Bundle { words, record, node: self.frame };
        let (class, head) = (view.class(), view.head());
        let is_wall = head.kind() == bundle::CEILING || head.kind() == bundle::OBSTACLE;
        if class > bundle::WIDE
            || !is_wall
            || self.kinds & kind_bit(head.kind()) == 0
            || u32::from(view.attribute()) >= self.head.palette_len
        {
            return false;
        }
        let mut vertices = 0;
        for part in 0..bundle::TRIANGLES as u32 {
            let n = view.corner_numbers(part);
            if part as usize >= head.triangles() {
                if n != [0; 3] {
                    return false;
                }
                continue;
            }
            if n.contains(&0) {
                return false;
            }
            vertices = n.iter().fold(vertices, |m, &v| m.max(v));
            let corners = view.corners_3d(part);
            if corners.iter().flatten().any(|v| i32::try_from(*v).is_err()) || is_line(corners) {
                return false;
            }
        }
        let zero = |range: core::ops::Range<usize>| view.halves().get(range).is_some_and(|h| h.iter().all(|&h| h == 0));
        let limit = bundle::VERTEX_LIMIT.get(usize::from(class));
        limit.is_some_and(|&limit| vertices <= limit) && bundle::unused(class, vertices).into_iter().all(zero)
    }
}

/// Each cell has a least and a greatest height, or nothing.
fn is_in_order(extents: &Extents) -> bool {
    extents.cells.iter().all(|cell| *cell == Extents::NOTHING || cell[0] <= cell[1])
}

/// Whether three points within 2^32 of each other lie on one line.
fn is_line([a, b, c]: [[i64; 3]; 3]) -> bool {
    let d = |p: [i64; 3], i: usize| {
        let of = |p: [i64; 3]| i128::from(p.get(i).copied().unwrap_or(0));
        of(p).wrapping_sub(of(a))
    };
    let same = |i: usize, j: usize| d(b, i).wrapping_mul(d(c, j)) == d(b, j).wrapping_mul(d(c, i));
    same(0, 1) && same(1, 2) && same(2, 0)
}
