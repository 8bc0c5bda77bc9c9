//! Where the section RAYS has what stands beside a tile and its blocks.

use crate::format::rays::{KINDS, RAYS_MAGIC, RaysRecord, RaysTile, Walls};
use crate::format::{self, Node};
use crate::open::Terrain;
use zerocopy::FromBytes;

/// The part of the section that belongs to a tile.
#[derive(Clone, Copy)]
pub(crate) struct RaysBlob {
    /// Where it starts: word of the image.
    pub at: usize,
    /// Where its records stand: word of the image.
    pub records: usize,
    /// Number of records.
    pub blocks: u32,
}

impl<'a> Terrain<'a> {
    /// Bits of the kinds of surfaces beside the ground that the image stores, as [`kind_bit`](format::rays::kind_bit)
    /// of `CEILING` and `OBSTACLE` of [`bundle`](format::bundle) has them; that of `GROUND` says that there are extents
    /// for rays.
    pub fn ray_kinds(&self) -> u32 {
        self.rays.map_or(0, |r| r.head.kinds & KINDS)
    }

    /// The blob beside the tile at this word of the image; `None` without such a section or if it is damaged.
    pub(crate) fn rays_blob(&self, tile: usize) -> Option<RaysBlob> {
        let rays = self.rays?;
        let index = *self.words.get(tile.wrapping_add(1))?;
        let record = rays.table.get(index as usize)?;
        let from = usize::try_from(record.offset / 4).ok()?;
        let len = usize::try_from(record.len / 4).ok()?;
        let at = rays.at.checked_add(from)?;
        if !record.offset.is_multiple_of(format::ALIGN as u64) || from.checked_add(len)? > rays.words {
            return None;
        }
        let words = self.words.get(at..at.checked_add(32)?)?;
        let head = RaysTile::ref_from_bytes(zerocopy::IntoBytes::as_bytes(words)).ok()?;
        let is = head.magic == RAYS_MAGIC && head.index == index && head.words as usize == len;
        is.then(|| RaysBlob { at, records: at.wrapping_add(head.records as usize), blocks: head.blocks })
    }

    /// The record beside the block of `node` that stands at this word of the image, in the tile at word `tile`.
    #[inline(always)]
    pub(crate) fn rays_record(
        &self,
        blob: &RaysBlob,
        tile: usize,
        node: &Node,
        block: usize,
    ) -> Option<&'a RaysRecord> {
        let number = node.block_number(block.wrapping_sub(tile));
        if number >= blob.blocks {
            return None;
        }
        let words: &[u32; RaysRecord::WORDS] = self.chunk(blob.records.wrapping_add(8 * number as usize))?;
        Some(zerocopy::transmute_ref!(words))
    }

    /// Ceilings and obstacles of a block, and the words behind them: those of all its cells, and more. `None` if
    /// damaged. Only where `record.walls` is not zero.
    #[inline(always)]
    pub(crate) fn walls(&self, blob: &RaysBlob, record: &RaysRecord) -> Option<(&'a Walls, &'a [u32])> {
        let rest = self.words.get(blob.at.wrapping_add(record.walls as usize)..)?;
        let (words, rest) = rest.split_first_chunk::<{ Walls::WORDS }>()?;
        Some((zerocopy::transmute_ref!(words), rest))
    }
}
