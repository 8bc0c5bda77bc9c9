//! Proving an image from its bytes alone: checksums, structure, reserved bytes, stated bounds.

mod rays;
mod sections;
mod tile;

use crate::error::{OpenError, VerifyError};
use crate::format::section;
use crate::open::{CRC, Tables, Terrain};
use sections::{Outside, sections};
use tile::{Check, Walk};

/// Proves an image in slices, so that it can run between control ticks.
///
/// All sections but the tiles come in the first step, whatever its limit: the head, materials, names, sources, and of
/// each tile 64 bytes and its share of the pages; and the checksum of what rays have. Then each tile: its checksum,
/// then its bundles, patches and nodes, in pieces of one bundle, one patch block, one cell, or one word of a cell's
/// list, and what rays have beside it, in pieces of a bundle or of a block's walls.
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
    Sum {
        done: usize,
        digest: crc::Digest<'static, u32, Tables>,
    },
    Bundles(u32),
    Patches {
        number: u32,
        block: usize,
        words: usize,
    },
    Nodes(Walk),
    /// The rays part of a tile with so many blocks.
    Rays {
        blocks: u32,
        place: rays::Place,
    },
}

impl<'a> Verifier<'a> {
    pub(crate) fn new(terrain: Terrain<'a>) -> Self {
        Verifier { terrain, next: 0, stage: Stage::Sections, first_error: None, damaged: 0, usable: false }
    }

    /// Checks about `max_bytes` more, at least one piece; `Ok(true)` when all is proven. A piece is all sections but
    /// the tiles (the first step), or else at most 128 bytes.
    ///
    /// The bytes of a tile count once for its checksum and again for its bundles, patches and nodes: from 256 bytes on
    /// all takes about 2 x `bytes().len()` / `max_bytes` steps, up to 3 x for fields of heights; with fewer it takes
    /// more.
    ///
    /// Faults outside the tiles come at once, for they have no bit: materials, names or pages may be false. The steps
    /// after that check the tiles all the same, and the fault comes again at the end.
    ///
    /// With a `bitmap` of a bit for each tile, damaged tiles are marked in it, the rest is still checked, and the first
    /// error comes at the end. With an empty one the first error ends it, and so does a damaged tile beyond the end of
    /// a bitmap that is shorter than `tile_count.div_ceil(8)` bytes. No bit is ever cleared.
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
                        self.usable &= e == rays::INVALID;
                        return Err(e);
                    };
                    // the ground of the tile is sound if only what rays have beside it is not
                    if e != rays::INVALID {
                        *byte |= 1 << (index % 8);
                    }
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

    /// The sections whose bytes do not match their checksums, known after the first step: bit k for kind k of
    /// [`format::section`](crate::format::section), bit 0 for the head, bit 31 for all kinds from 31 on. Tiles have
    /// checksums and a bitmap of their own.
    pub fn damaged_sections(&self) -> u32 {
        self.damaged
    }

    /// Whether answers can be relied on, those of [`Terrain::with_damage`] that say
    /// [`Status::Damaged`](crate::Status::Damaged) apart; known after the first step, before it false.
    ///
    /// Nothing is wrong outside the tiles, or only between sections or in NAMES, SOURCES, PROVENANCE or kinds that are
    /// not understood: no height, slope, status or friction depends on those. Every damaged tile that was met has its
    /// bit. Tiles that were not met yet may be damaged.
    ///
    /// It does not say that any tile is whole: it is true, too, where all are damaged and every answer is. How many
    /// are, the bitmap says: `bitmap.iter().map(|byte| byte.count_ones()).sum::<u32>()`, of `header().tile_count`.
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
                    } else {
                        let count = check.patch_block(patch, *block).ok_or(invalid)?;
                        *block = block.wrapping_add(1);
                        *words = words.wrapping_add(count);
                        return Ok(2 * count.max(16));
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
                    self.stage = Stage::Rays { blocks: walk.blocks, place: rays::Place::new() };
                }
            },
            Stage::Rays { blocks, place } => {
                // of damaged bytes it is known already
                let is_known = self.damaged & section::bit(section::RAYS) != 0;
                let turn =
                    if is_known { None } else { Some(rays::turn(&self.terrain, check.at, index, *blocks, place)) };
                match turn.unwrap_or(Some(None)).ok_or(rays::INVALID)? {
                    Some(used) => return Ok(used),
                    None => (self.next, self.stage) = (index.wrapping_add(1), Stage::first()),
                }
            }
        }
        Ok(1)
    }
}

impl Terrain<'_> {
    /// Proves all sections but the tiles, as the first step of a [`Verifier`].
    pub fn verify_sections(&self) -> Result<(), VerifyError> {
        sections(self).error.map_or(Ok(()), Err)
    }

    /// Proves one tile as a [`Verifier`] does, but for its checksum, which a host computes with larger tables: tiles
    /// can be proven side by side, and in any order.
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

fn zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&b| b == 0)
}

impl<'a> Terrain<'a> {
    /// Opens an image and proves all of it: checksums, structure, reserved bytes, stated bounds.
    pub fn open_verified(bytes: &'a [u8]) -> Result<Self, OpenError> {
        let terrain = Self::open(bytes)?;
        let mut verifier = terrain.verifier();
        loop {
            match verifier.step(usize::MAX, &mut []) {
                Ok(true) => return Ok(terrain),
                Ok(false) => {}
                Err(e) => return Err(OpenError::Content(e)),
            }
        }
    }

    /// Proves the content in slices, between control ticks.
    pub fn verifier(&self) -> Verifier<'a> {
        Verifier::new(*self)
    }
}

/// An error against the source: a number of metres, not below zero.
fn is_error(e: &f64) -> bool {
    e.is_finite() && *e >= 0.0
}
