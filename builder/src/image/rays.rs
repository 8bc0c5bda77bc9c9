//! What an image has for rays, read back from its bytes: of images that are verified, as `decode`.

use super::decode::BundleView;
use crate::options::Rays;
use crate::scene::WallKind;
use hardpan::Terrain;
use hardpan::format::rays::{KINDS, RaysHead, RaysRecord, RaysTile, TABLE, Walls};
use hardpan::format::{Attribute, Node, PALETTE, ROOT, TileRecord, bundle, section};
use zerocopy::{FromBytes, IntoBytes};

/// A triangle that rays hit and wheels do not stand on. It may have no plan area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall {
    /// Steps from the origin, in the winding of the source, the least first.
    pub corners: [[i32; 3]; 3],
    /// What it is.
    pub kind: WallKind,
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

/// What rays have beside a tile.
#[derive(Clone, Copy)]
pub struct TileRays<'a> {
    /// Its head.
    pub head: &'a RaysTile,
    /// Its record in the table.
    pub record: &'a TileRecord,
    words: &'a [u32],
    frame: &'a Node,
}

/// The head of the section, if the image has it.
pub fn head<'a>(t: &Terrain<'a>) -> Option<&'a RaysHead> {
    RaysHead::ref_from_bytes(t.section(section::RAYS)?.get(..TABLE)?).ok()
}

/// What the image has, as an option of a build.
pub fn stored(t: &Terrain) -> Rays {
    match head(t) {
        None => Rays::None,
        Some(head) if head.kinds == KINDS => Rays::All,
        Some(_) => Rays::Extents,
    }
}

/// What an image can have that is made of one that has so much, if this is asked for.
pub fn again(stored: Rays, asked: Option<Rays>) -> Option<Rays> {
    match asked {
        Some(asked) => Some(asked.min(stored.max(Rays::Extents))),
        None => (stored != Rays::None).then_some(stored),
    }
}

/// What stands beside each tile, in their order; nothing without the section.
pub fn tiles<'a>(t: &Terrain<'a>) -> impl Iterator<Item = TileRays<'a>> + use<'a> {
    let bytes = t.section(section::RAYS).unwrap_or_default();
    let len = size_of::<TileRecord>() * t.header().tile_count as usize;
    let table = bytes.get(TABLE..).and_then(|b| b.get(..len)).unwrap_or_default();
    let records = <[TileRecord]>::ref_from_bytes(table).unwrap_or_default();
    records.iter().filter_map(|record| {
        let blob = bytes.get(usize::try_from(record.offset).ok()?..)?.get(..usize::try_from(record.len).ok()?)?;
        let words = <[u32]>::ref_from_bytes(blob).ok()?;
        let head = RaysTile::ref_from_prefix(blob).ok()?.0;
        let frame = Node::ref_from_bytes(words.get(ROOT..)?.get(..8)?.as_bytes()).ok()?;
        Some(TileRays { head, record, words, frame })
    })
}

/// All ceilings and obstacles, each once, ascending.
pub fn walls(t: &Terrain) -> Vec<Wall> {
    let mut all: Vec<Wall> = tiles(t).flat_map(|tile| tile.walls().into_iter().flatten().collect::<Vec<_>>()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl<'a> TileRays<'a> {
    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.words.as_bytes()
    }

    /// How many bundles it has.
    pub fn bundle_count(&self) -> u32 {
        self.frame.bundle_count
    }

    fn palette(&self) -> &'a [Attribute] {
        let words = self.words.get(PALETTE..).and_then(|w| w.get(..2 * self.head.palette_len as usize));
        words.and_then(|w| <[Attribute]>::ref_from_bytes(w.as_bytes()).ok()).unwrap_or_default()
    }

    /// The triangles of each bundle.
    pub fn walls(&self) -> Vec<Vec<Wall>> {
        let records = self.words.get(bundle::WORDS * self.frame.bundles as usize..).unwrap_or_default();
        let records = records.as_chunks::<{ bundle::WORDS }>().0.iter().take(self.frame.bundle_count as usize);
        let palette = self.palette();
        let of = |words: &[u32; bundle::WORDS]| {
            let halves: [u16; bundle::HALVES] = zerocopy::transmute!(*words);
            let view = BundleView::of(&halves, self.frame.base, self.frame.shift & 31);
            let kind = if view.kind() == bundle::CEILING { WallKind::Ceiling } else { WallKind::Obstacle };
            let Some(a) = palette.get(usize::from(view.attribute())) else { return Vec::new() };
            let wall = |part| {
                let mut corners = view.corners(part);
                let least = (0..3).min_by_key(|k| corners[*k]).unwrap_or_default();
                corners.rotate_left(least);
                Wall { corners, kind, material: a.material, source: a.source }
            };
            (0..view.triangles()).map(wall).collect()
        };
        records.map(of).collect()
    }

    /// What stands beside a block.
    pub fn block(&self, number: u32) -> Option<&'a RaysRecord> {
        let at = self.head.records as usize + RaysRecord::WORDS * number as usize;
        let words = self.words.get(at..)?.get(..RaysRecord::WORDS)?;
        RaysRecord::ref_from_bytes(words.as_bytes()).ok().filter(|_| number < self.head.blocks)
    }

    /// Its ceilings and obstacles, and the words of its cells.
    pub fn block_walls(&self, record: &RaysRecord) -> Option<(&'a Walls, &'a [u32])> {
        let words = self.words.get(record.walls as usize..).filter(|_| record.walls > 0)?;
        let (own, rest) = words.split_at_checked(Walls::WORDS)?;
        let walls = Walls::ref_from_bytes(own.as_bytes()).ok()?;
        Some((walls, rest.get(..usize::from(walls.ends[7]))?))
    }
}
