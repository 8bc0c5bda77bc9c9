//! Tiles: each gathers what it touches, divides it into nodes, and becomes one blob of bytes.

mod divide;
mod stand;
mod write;

use crate::build::cost::HotSpot;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::{Mesh, Wall};
use crate::build::stage::bundle::{Bundled, Tri};
use crate::build::stage::cells::PatchArea;
use crate::build::stage::hot_spot::{Costed, Refused};
use crate::build::stage::index_estimate::index_estimate;
use crate::build::stage::partition::{SMALLEST, Side, Tiling};
use crate::build::stage::raster::{Part, Rastered};
use crate::build::stage::rays;
use crate::build::stage::rule::Rule;
use crate::options::{MaxCost, Options, Rays};
use crate::scene::features;
use crate::util::exact::exp2;
use divide::{Bundles, Cells, Divider, HALVED, Make, NodePlan, ROOT_NODES};
use hardpan::format::{self, Attribute, PALETTE, ROOT, Tile, bundle::Head, entry};
use hardpan_shaders::Stages;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use write::{NODE_BUNDLES, Writer, as_words};
use zerocopy::IntoBytes;

/// Triangles that one node's bundles may hold.
const GROUP: usize = 20_000;

/// A finished tile.
pub struct Blob {
    pub x: i32,
    pub y: i32,
    words: Vec<u32>,
    /// Words for rays of this tile; empty if it has none.
    pub rays: Vec<u32>,
    pub head: Tile,
    pub nodes: u64,
    pub patch_blocks: u64,
    /// Most tests of a query that are of wide bundles.
    pub wide_tests: u32,
    pub index_bytes: u64,
    /// Bytes of index that its rule asked for.
    pub asked: u64,
}

impl Blob {
    pub fn bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }
}

/// How the ground of a tile is divided.
struct TileRules<'a> {
    rule: Option<Rule<'a>>,
    /// The most that a query may cost, and the height steps within which two heights are one layer.
    most: Option<(MaxCost, f64)>,
}

impl TileRules<'_> {
    /// Which of the patches of a tile cost more than they may: they are divided no further.
    fn patches(&self, areas: &[PatchArea], low: [i64; 2]) -> Option<Refused> {
        let (most, _) = self.most?;
        let hot_spot = |p: &PatchArea| HotSpot {
            at: [0, 1].map(|i| p.min[i].max(low[i]) as f64),
            tests: p.reads,
            lines: p.lines,
            triangles: 0,
            layers: 1,
            least: true,
        };
        let over = areas.iter().filter(|p| !most.allows(p.reads, p.lines));
        over.map(|p| Refused::new(hot_spot(p), most)).reduce(Refused::and)
    }
}

/// Least and greatest of no heights.
const NO_HEIGHTS: [i32; 2] = [i32::MAX, i32::MIN];

/// The range of two ranges.
fn reach([low, high]: [i32; 2], [least, most]: [i32; 2]) -> [i32; 2] {
    [low.min(least), high.max(most)]
}

/// The source of the triangles of a tile: numbers in the mesh, and attributes by their places in its palette.
struct Ground<'a> {
    mesh: &'a Mesh,
    palette: Vec<(u16, u16)>,
}

impl Ground<'_> {
    fn tri(&self, face: u32) -> Tri {
        Tri::new(self.mesh, &self.mesh.faces[face as usize])
    }

    fn attribute(&self, material: u16, source: u16) -> u8 {
        self.palette.binary_search(&(material, source)).expect("in the palette") as u8
    }
}

/// Counts the least bytes of index that a rule asks for in a tile: what shows before anything is built. An error as of
/// [`Rule::take`].
pub fn estimated(mesh: &Mesh, tiling: &Tiling, index: usize, rule: &Rule) -> Result<(), BuildError> {
    let tris: Vec<Tri> = tiling.faces(index).iter().map(|&i| Tri::new(mesh, &mesh.faces[i as usize])).collect();
    let low = tiling.at(index).map(|v| i64::from(v) << mesh.tile_log2);
    index_estimate(rule, &tris, low, mesh.tile_log2, HALVED)
}

/// The source of tiles: a mesh, its fields, and which is where.
pub struct Tiles<'a> {
    pub mesh: &'a Mesh,
    pub rasters: &'a [Rastered],
    pub tiling: &'a Tiling,
    pub options: &'a Options,
    /// Counts the bytes of index that a rule asks for in all tiles.
    pub asked: &'a AtomicU64,
    pub stages: &'a dyn Stages,
}

impl<'a> Tiles<'a> {
    /// Builds one tile.
    pub fn one(&self, index: usize) -> Result<Costed<Blob>, BuildError> {
        let tile = OneTile::new(self, index)?;
        let plot = tile.divided(&|group| {
            if !self.ask_in_plan(&group) {
                self.ask(&[&group]);
            }
            group.finish(&tile.how)
        })?;
        tile.made(plot)
    }

    /// Builds some tiles, and asks for the cells of all at once.
    pub fn some(&self, tiles: Range<usize>) -> Result<Vec<Costed<Blob>>, BuildError> {
        let bundled = |index| {
            let tile = OneTile::new(self, index)?;
            let plot = tile.divided(&|group| Ok(NodePlan::Group(group)))?;
            Ok((tile, plot))
        };
        let all: Vec<(OneTile, NodePlan<Bundles>)> =
            tiles.into_par_iter().map(bundled).collect::<Result<_, BuildError>>()?;
        let mut groups = Vec::new();
        all.iter().for_each(|(_, plot)| plot.groups(&mut groups));
        self.ask(&groups);
        all.into_par_iter().map(|(tile, plot)| tile.made(plot.finish(&tile.how)?)).collect()
    }

    /// Finds out which cells the triangles of a group meet, from what is at hand; if the stages take that.
    fn ask_in_plan(&self, group: &Bundles) -> bool {
        let Some((blocks, faces)) = group.asked() else { return true };
        let Bundled { tris, order, .. } = &group.bundled;
        let members =
            self.stages.cells_in_plan(&blocks, faces.len(), &mut order.iter().map(|t| tris[*t as usize].plan));
        members.is_some_and(|members| group.members.set(members).is_ok())
    }

    /// Finds out which cells the triangles of some groups meet.
    fn ask(&self, groups: &[&Bundles]) {
        let (groups, grids): (Vec<&Bundles>, Vec<_>) = groups.iter().filter_map(|g| Some((*g, g.asked()?))).unzip();
        if grids.is_empty() {
            return;
        }
        let ground = hardpan_shaders::Ground { vertices: &self.mesh.vertices, faces: &self.mesh.faces };
        for (group, members) in groups.into_iter().zip(self.stages.cells(ground, &grids)) {
            group.members.get_or_init(|| members);
        }
    }
}

/// A tile, what lies in it, and how it is divided.
struct OneTile<'a> {
    tiling: &'a Tiling,
    index: usize,
    rasters: &'a [Rastered],
    how: TileRules<'a>,
    ground: Ground<'a>,
    parts: Vec<(&'a Rastered, Part)>,
    areas: Vec<PatchArea>,
    /// Its least corner.
    low: [i64; 2],
    /// Whether it has what rays need.
    has_rays: bool,
}

impl<'a> OneTile<'a> {
    fn new(tiles: &Tiles<'a>, index: usize) -> Result<OneTile<'a>, BuildError> {
        let Tiles { mesh, rasters, tiling, options, asked, .. } = *tiles;
        let (at, faces) = (tiling.at(index), tiling.faces(index));
        let how = TileRules {
            rule: options.split.map(|s| Rule::new(s, mesh, asked)),
            most: options.max_cost.map(|most| (most, options.layer_merge * exp2(-mesh.step[1]))),
        };
        let s = 1i64 << mesh.tile_log2;
        let (x, y) = (i64::from(at[0]) * s, i64::from(at[1]) * s);
        let parts: Vec<(&Rastered, Part)> =
            rasters.iter().filter_map(|f| f.part(x, y, s).map(|part| (f, part))).collect();
        let mut palette: Vec<(u16, u16)> = parts.iter().map(|(f, _)| (f.material, f.source)).collect();
        for pair in faces.iter().map(|&i| &mesh.faces[i as usize]).map(|f| (f.material, f.source)) {
            if palette.last() != Some(&pair) {
                palette.push(pair);
            }
        }
        palette.sort_unstable();
        palette.dedup();
        if palette.len() > hardpan::format::MAX_PALETTE {
            let tile_log2 = Side::first(mesh, (SMALLEST..mesh.tile_log2).rev());
            return Err(
                Limit::Attributes { pairs: palette.len(), most: hardpan::format::MAX_PALETTE, tile_log2 }.into()
            );
        }
        let ground = Ground { mesh, palette };
        let areas: Vec<PatchArea> = parts
            .iter()
            .enumerate()
            .map(|(n, (f, part))| {
                let [min, max] = f.extent();
                let reads = if f.has_voids(part) { 4 } else { 1 };
                let lines = if f.has_long(part) { 2 * reads } else { reads };
                PatchArea { number: n as u32, reads, lines, min, max }
            })
            .collect();
        let has_rays = options.rays() != Rays::None;
        Ok(OneTile { tiling, index, rasters, how, ground, parts, areas, low: [x, y], has_rays })
    }

    /// Divides it into nodes, and makes of each group of triangles what is asked for.
    fn divided<T: Send>(&self, make: &Make<T>) -> Result<NodePlan<T>, BuildError> {
        let OneTile { ground, how, areas, low, .. } = self;
        let divider = Divider { ground, is_by_rule: how.rule.is_some(), make };
        divider.divide(self.tiling.faces(self.index), areas, *low, ground.mesh.tile_log2, 0)
    }

    /// Writes it.
    fn made(&self, mut plot: NodePlan<Cells>) -> Result<Costed<Blob>, BuildError> {
        let OneTile { tiling, index, rasters, how, ground, parts, areas, low: [x, y], has_rays } = self;
        let (mesh, x, y, s) = (ground.mesh, *x, *y, 1i64 << ground.mesh.tile_log2);
        let (at, off) = (tiling.at(*index), tiling.off(*index));
        if let Some(refused) = plot.refused().into_iter().chain(how.patches(areas, [x, y])).reduce(Refused::and) {
            let at = [0, 1].map(|i| (mesh.origin[i] as f64 + refused.worst.at[i]) * exp2(mesh.step[0]));
            return Ok(Costed::Refused(Refused { worst: HotSpot { at, ..refused.worst }, ..refused }));
        }

        let walls: Vec<&Wall> = tiling.walls(*index).iter().map(|i| &mesh.walls[*i as usize]).collect();
        stand::stand(&mut plot, [x, y], mesh.tile_log2, 0, &walls);
        let mut w = Writer::default();
        w.features = features(&mesh.materials);
        w.paints = ground.palette.iter().map(|(m, _)| mesh.materials[usize::from(*m)].friction_only).collect();
        w.words.resize(PALETTE, 0);
        for &(material, source) in &ground.palette {
            w.words.extend(Attribute { material, source, flags: 0 }.words());
        }
        w.align(16);
        w.patches_at = w.words.len();
        w.words.resize(w.patches_at + 16 * parts.len(), 0);
        w.node(&plot, ROOT, mesh.tile_log2, ROOT_NODES + 1)?;
        w.align(32);
        let bundles_at = w.words.len() / 32;
        for &at in &w.nodes {
            w.words[at + NODE_BUNDLES] += bundles_at as u32;
        }
        let index_bytes = (bundles_at * 128) as u64;
        let Writer { mut words, bundles, bundle_count, nodes, patches_at, bound, layers, wide_tests, .. } = w;
        let references: u32 = bundles.iter().copied().flatten().map(|r| Head::of_halves(r).triangles() as u32).sum();
        words.reserve_exact(32 * bundle_count as usize);
        bundles.into_iter().for_each(|records| words.extend(as_words(records.as_bytes())));
        let mut patch_blocks = 0;
        for (n, (f, part)) in parts.iter().enumerate() {
            words.resize(words.len().next_multiple_of(f.block_len() / 4), 0);
            let attribute = ground.attribute(f.material, f.source);
            let place = 4 * words.len();
            let record: [u32; 16] = zerocopy::transmute!(f.record(part, place, attribute));
            words[patches_at + 16 * n..][..16].copy_from_slice(&record);
            words.extend(as_words(&f.bytes(part, place)));
            patch_blocks += part.block_count();
        }
        words.resize(words.len().next_multiple_of(format::ALIGN / 4), 0);
        if words.len() > entry::PLACE as usize {
            return Err(Limit::TileBytes { tile_log2: mesh.tile_log2 }.into());
        }
        let fields = parts.iter().flat_map(|(f, _)| f.bounds).map(|c| [c[2]; 2]);
        let posts = fields.fold(NO_HEIGHTS, reach);
        let heights = reach(plot.heights(), posts);
        let [min_z, max_z] = if heights == NO_HEIGHTS { [0; 2] } else { heights };
        let within = rasters.iter().zip(&mesh.fields).filter(|(f, _)| f.part(x, y, s).is_some()).map(|(_, f)| f);
        let error = mesh.error([off.0].into_iter(), within, off.1);
        let head = Tile {
            magic: format::TILE_MAGIC,
            index: *index as u32,
            x: at[0],
            y: at[1],
            words: words.len() as u32,
            reserved0: 0,
            palette_len: ground.palette.len() as u32,
            patches: patches_at as u32,
            patch_count: parts.len() as u32,
            bundles: bundles_at as u32,
            bundle_count,
            references,
            min_z,
            max_z,
            max_layers: layers,
            reserved1: 0,
            bound,
            error,
            reserved2: [0; 8],
        };
        let head_words: [u32; 32] = zerocopy::transmute!(head);
        words[..32].copy_from_slice(&head_words);
        let rays = if *has_rays { rays::blob(&head, &words, mesh.tile_log2, &walls, posts)? } else { Vec::new() };
        let nodes = nodes.len() as u64;
        let asked = how.rule.as_ref().map_or(0, |rule| rule.asked.load(Relaxed));
        Ok(Costed::Within(Blob {
            asked,
            x: at[0],
            y: at[1],
            head,
            nodes,
            patch_blocks,
            wide_tests,
            index_bytes,
            words,
            rays,
        }))
    }
}
