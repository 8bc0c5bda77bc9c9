//! Tiles, bundles and triangles of an image, read back from its bytes.
//!
//! For images that are verified: of others the answers are whatever the bytes say, or less.

mod fields;
mod leaf;
mod share;
mod tile;

pub use fields::fields;
use hardpan::format::{TileRecord, section};
use hardpan::{Cost, Hit, Terrain, format};
use hardpan_shaders::Face;
pub use leaf::BundleView;
pub use leaf::Field;
use rayon::prelude::*;
pub use share::{Cells, Sharing, Spot};
pub use tile::Stack;
pub use tile::TileView;
use tile::costlier;
use zerocopy::FromBytes;

/// A triangle that an image holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    /// Corners in lattice steps from the origin, counter-clockwise in plan, the least first.
    pub corners: [[i32; 3]; 3],
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

impl Stored {
    /// Plan area in square lattice steps, doubled.
    pub fn area2(&self) -> i128 {
        let [a, b, c] = self.corners;
        crate::util::exact::area2(a, b, c)
    }
}

/// A triangle that a cell names.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    /// Number of its sheet in the cell: triangles of one sheet do not overlap in plan.
    pub sheet: u32,
    /// Its bundle.
    pub bundle: BundleView<'a>,
    /// Its number there.
    pub part: usize,
}

/// Content of a leaf that a query read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafView {
    /// Triangles of a bundle, 1 to 16; of a block of heights none.
    pub triangles: Option<usize>,
    /// Number of its material.
    pub material: u16,
    /// Number of its source.
    pub source: u16,
}

/// A rectangle of ground over which all vertical queries have the same bound: a cell, or the ground of an entry that is
/// a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// Its sides in lattice steps.
    pub size: [i64; 2],
    /// The most that a query there costs.
    pub cost: Cost,
}

/// A rectangle of ground that no node divides: a block of eight cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// log2 of its sides in lattice steps.
    pub log2: [u32; 2],
    /// Triangles that its cells name, each once: 1 at least.
    pub triangles: u32,
}

/// A leaf of the index, which no node divides, and all that a query in it may meet: a block that names something, or a
/// square of the ground where there is nothing but one part of a height field.
pub struct Leaf<'a, 'l> {
    /// Its lower left corner in lattice steps from the origin.
    pub low: [i64; 2],
    /// log2 of its sides in lattice steps.
    pub log2: [u32; 2],
    /// Triangles, each once, and of each part of a height field the cells that one query reads.
    pub references: u32,
    /// Corners of the triangles in lattice steps from the origin.
    pub triangles: &'l [[[i32; 3]; 3]],
    /// The parts of height fields.
    pub fields: &'l [Field<'a>],
}

impl Column {
    /// Its middle in metres.
    pub fn at(&self, t: &Terrain) -> [f64; 2] {
        let h = t.header();
        let middle = |i: usize| (h.origin[i] + self.low[i]) as f64 + self.size[i] as f64 / 2.0;
        [middle(0), middle(1)].map(|v| v * crate::util::exact::exp2(h.xy_log2))
    }

    /// From where to where it goes in x and in y, in metres.
    pub fn extent(&self, t: &Terrain) -> [[f64; 2]; 2] {
        let h = t.header();
        let low = |i: usize| h.origin[i] + self.low[i];
        [0, 1].map(|i| [low(i), low(i) + self.size[i]].map(|v| v as f64 * crate::util::exact::exp2(h.xy_log2)))
    }
}

/// All tiles, in the order of the table.
pub fn tiles<'a>(t: &Terrain<'a>) -> impl Iterator<Item = TileView<'a>> + use<'a> {
    let table = t.section(section::TILE_TABLE).unwrap_or_default();
    let bytes = t.section(section::TILES).unwrap_or_default();
    let records = <[TileRecord]>::ref_from_bytes(table).unwrap_or_default();
    records.iter().filter_map(|record| {
        let tile = bytes.get(usize::try_from(record.offset).ok()?..)?.get(..usize::try_from(record.len).ok()?)?;
        let head = format::Tile::ref_from_prefix(tile).ok()?.0;
        Some(TileView { record, head, words: <[u32]>::ref_from_bytes(tile).ok()? })
    })
}

/// Most layers of a place that there is room for.
pub const ROOM: usize = 1 << 20;

/// Room for all layers of a place, as far as an image may be believed.
pub fn room(t: &Terrain) -> Vec<Hit> {
    vec![Hit::NONE; (t.max_layers() as usize).clamp(4, ROOM)]
}

/// The largest side of tiles, log2 in lattice steps and up to `most`, whose palettes hold what those of this image
/// have, if that is larger.
pub fn larger_tiles(t: &Terrain, most: u32) -> Option<u32> {
    let log2 = t.header().tile_log2;
    let fits = |by: u32| {
        let mut pairs: Vec<[i32; 4]> = Vec::new();
        for tile in tiles(t) {
            let [x, y] = [tile.record.x >> by, tile.record.y >> by];
            pairs.extend(tile.palette().iter().map(|a| [x, y, a.material.into(), a.source.into()]));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.chunk_by(|a, b| a[..2] == b[..2]).all(|tile| tile.len() <= hardpan::format::MAX_PALETTE)
    };
    (1..=most.saturating_sub(log2)).rev().find(|by| fits(*by)).map(|by| log2 + by)
}

/// All triangles, each once, ascending.
pub fn triangles(t: &Terrain) -> Vec<Stored> {
    let mut all: Vec<Stored> = Vec::new(); // the head's counts are not proven
    for tile in tiles(t) {
        let palette = tile.palette();
        for b in tile.bundles() {
            let Some(a) = palette.get(usize::from(b.attribute())) else { continue };
            let stored = |corners| Stored { corners: turned(corners), material: a.material, source: a.source };
            all.extend((0..b.triangles()).map(|i| stored(b.corners(i))));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// The same as a mesh: vertices, ascending, and triangles of them.
pub(crate) fn mesh(t: &Terrain) -> (Vec<[i32; 3]>, Vec<Face>) {
    let stored = triangles(t);
    let mut vertices: Vec<[i32; 3]> = stored.iter().flat_map(|s| s.corners).collect();
    vertices.par_sort_unstable();
    vertices.dedup();
    let number = |v: [i32; 3]| vertices.partition_point(|other| *other < v) as u32;
    let face = |s: &Stored| Face { v: s.corners.map(number), material: s.material, source: s.source };
    let faces = stored.par_iter().map(face).collect();
    (vertices, faces)
}

/// The leaf of a [`Trace::Leaf`](hardpan::Trace::Leaf), or none. Blocks of heights have two sizes, and their numbers do
/// not say which: where blocks of either could be meant that differ in material or source, none.
pub fn leaf(t: &Terrain, record: usize, lines: u32) -> Option<LeafView> {
    let section = t.header().sections.iter().find(|s| s.kind == section::TILES)?;
    let mut all = tiles(t).flat_map(|tile| {
        let at = section.offset.saturating_add(tile.record.offset) / 4;
        tile.leaves(usize::try_from(at).unwrap_or(usize::MAX), record, lines)
    });
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The least corner first.
pub(crate) fn turned(mut corners: [[i32; 3]; 3]) -> [[i32; 3]; 3] {
    let least = (0..3).min_by_key(|&k| corners[k]).unwrap_or(0);
    corners.rotate_left(least);
    corners
}

/// The costliest column of an image: see [`TileView::costliest`].
pub fn costliest(t: &Terrain) -> Option<Column> {
    tiles(t).filter_map(|tile| tile.costliest()).reduce(costlier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::fixtures;
    use crate::options::Options;

    #[test]
    fn all_triangles_come_back() {
        let small = Options { tile_log2: Some(14), ..Options::default() };
        let scenes = [fixtures::ramp(), fixtures::curb(), fixtures::far(), fixtures::soup(3), fixtures::town(1)];
        let cases = scenes.iter().map(|s| (s, Options::default())).chain([(&scenes[1], small)]);
        for (scene, options) in cases {
            let built = build(scene, &options).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let (mesh, _) = crate::build::job::mesh(scene, &options, &hardpan_shaders::Cpu::new()).unwrap();
            let face = |f: &Face| Stored {
                corners: f.v.map(|v| mesh.vertices[v as usize]),
                material: f.material,
                source: f.source,
            };
            let mut wanted: Vec<Stored> = mesh.faces.iter().map(face).collect();
            wanted.sort_unstable();
            assert_eq!(wanted.len() as u64, t.header().triangles);
            assert!(triangles(&t) == wanted);
        }
    }

    /// Ground over a place is in a leaf that was read, and a tested triangle is one of its triangles.
    #[test]
    fn vt_17_leaves_that_a_query_reads() {
        let mut blocks = 0;
        for scene in [fixtures::bridge(), fixtures::mats(), fixtures::cobble(), fixtures::town(1), fixtures::soup(3)] {
            let built = build(&scene, &Options::default()).unwrap();
            let t = Terrain::open(&built.image).unwrap();
            let [low, high] = t.bounds();
            let at = |axis: usize, k: usize| low[axis] + (high[axis] - low[axis]) * (k as f64 + 0.37) / 24.0;
            for k in 0..24 * 24 {
                let (mut read, mut found) = (Vec::new(), Vec::new());
                t.explain([at(0, k % 24), at(1, k / 24), high[2]], |step| match step {
                    hardpan::Trace::Leaf { record, lines } => {
                        let view = leaf(&t, record, lines).unwrap();
                        assert_eq!(view.triangles.is_some(), lines == 2);
                        read.push((record, view));
                    }
                    hardpan::Trace::Test { record, part, .. } => {
                        let (last, view) = read.last().unwrap();
                        assert!(*last == record && view.triangles.is_none_or(|n| (part as usize) < n));
                    }
                    hardpan::Trace::Candidate(hit) => found.push(hit),
                    _ => (),
                });
                blocks += read.iter().filter(|(_, view)| view.triangles.is_none()).count();
                for hit in found {
                    assert!(read.iter().any(|(_, v)| (v.material, v.source) == (hit.material, hit.source)), "{hit:?}");
                }
            }
            assert_eq!([1, 2].map(|lines| leaf(&t, built.image.len(), lines)), [None; 2]);
        }
        assert!(blocks > 100, "{blocks}");
    }
}
