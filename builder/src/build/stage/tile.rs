//! Tiles: each gathers what it touches, divides it into nodes, and becomes one blob of bytes.

mod stand;

use super::bundle::{Bundled, Frame, Record, Tri, bundle, is_wide};
use super::crowd::{Costed, Refused};
use super::grid::{Block, Content, Division, Entry, Grid, LINE, Level, PatchArea, Sizes, Word, grid};
use super::index_estimate::index_estimate;
use super::partition::{SMALLEST, Side, Tiling};
use super::raster::{Part, Rastered};
use super::rays;
use super::rule::Rule;
use crate::build::cost::Crowd;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::{Mesh, Wall};
use crate::options::MaxCost;
use crate::options::{Options, Rays};
use crate::util::exact::exp2;
use hardpan::format::{self, Attribute, NODE_DENSE, Node, PALETTE, ROOT, Tile, block, bundle::Head, entry, word};
use hardpan_shaders::{Blocks, Member, Stages};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use zerocopy::IntoBytes;

/// Triangles that one node's bundles may hold.
const GROUP: usize = 20_000;
/// A directory, a page and the tile's root are read before any other node.
const ROOT_NODES: u32 = 2;
/// How often a rule may halve the side of a tile.
const HALVED: u32 = format::MAX_DEPTH - ROOT_NODES - 2;
/// Words of a node that hold its first bundle and the number of its first block.
const NODE_BUNDLES: usize = std::mem::offset_of!(Node, bundles) / 4;
const NODE_FIRST_BLOCK: usize = std::mem::offset_of!(Node, first_block) / 4;

/// A finished tile.
pub struct Blob {
    pub x: i32,
    pub y: i32,
    words: Vec<u32>,
    /// What rays have beside it, if they have anything.
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
struct How<'a> {
    rule: Option<Rule<'a>>,
    /// The most that a query may cost, and the height steps within which two heights are one layer.
    most: Option<(MaxCost, f64)>,
}

impl How<'_> {
    /// Which of the patches of a tile cost more than they may: they are divided no further.
    fn patches(&self, areas: &[PatchArea], low: [i64; 2]) -> Option<Refused> {
        let (most, _) = self.most?;
        let crowd = |p: &PatchArea| Crowd {
            at: [0, 1].map(|i| p.min[i].max(low[i]) as f64),
            tests: p.reads,
            lines: p.reads,
            triangles: 0,
            layers: 1,
            least: true,
        };
        let over = areas.iter().filter(|p| !most.allows(p.reads, p.reads));
        over.map(|p| Refused::new(crowd(p), most)).reduce(Refused::and)
    }
}

/// Least and greatest of no heights.
const NO_HEIGHTS: [i32; 2] = [i32::MAX, i32::MIN];

/// The range of two ranges.
fn reach([low, high]: [i32; 2], [least, most]: [i32; 2]) -> [i32; 2] {
    [low.min(least), high.max(most)]
}

/// A node in the making: what its groups of triangles are, depends on how far they are.
enum Plot<T> {
    Empty,
    Patch(PatchArea),
    Inner { side_log2: u32, children: Vec<Plot<T>> },
    Group(T),
    Refused(Refused),
}

/// Triangles that have their bundles: which cells they meet comes next.
struct Bundles {
    bundled: Bundled,
    /// The triangles in the order of their places, by their numbers in the mesh.
    faces: Vec<u32>,
    patches: Vec<PatchArea>,
    low: [i64; 2],
    log2: u32,
    /// How many nodes there may be below each other.
    nodes: u32,
    /// The blocks that it begins with, unless a rule divides it.
    sizes: Option<Sizes>,
    /// What its triangles meet in them.
    members: OnceLock<Vec<Member>>,
}

/// Triangles that have their bundles and cells.
struct Cells {
    records: Vec<Record>,
    some_wide: bool,
    frame: Frame,
    grid: Grid,
    /// Least and greatest of its triangles.
    heights: [i32; 2],
}

impl Bundles {
    /// What is asked of the stage.
    fn asked(&self) -> Option<(Blocks, &[u32])> {
        let sizes = self.sizes.filter(|_| !self.faces.is_empty())?;
        Some((sizes.blocks, &self.faces))
    }

    /// With the cells of all triangles.
    fn finish(self, how: &How) -> Result<Plot<Cells>, BuildError> {
        let Bundles { bundled, patches, low, log2, nodes, sizes, members, .. } = self;
        let by = match (sizes, &how.rule) {
            (Some(sizes), _) => {
                Division::Level(Level::of(sizes, &bundled.order, members.into_inner().unwrap_or_default()))
            }
            (None, rule) => Division::Rule(rule.as_ref().expect("a rule divides what begins with no blocks")),
        };
        let heights = bundled.tris.iter().map(Tri::heights).fold(NO_HEIGHTS, reach);
        let content = Content { bundled: &bundled, most: how.most, nodes };
        let grid = grid(&content, low, log2, by, &patches)?;
        let (records, some_wide, frame) = (bundled.records, bundled.some_wide, Frame::of(low[0], low[1], log2));
        Ok(match grid {
            Costed::Within(grid) => Plot::Group(Cells { records, some_wide, frame, grid, heights }),
            Costed::Refused(refused) => Plot::Refused(refused),
        })
    }
}

impl Plot<Bundles> {
    /// Appends its groups.
    fn groups<'a>(&'a self, all: &mut Vec<&'a Bundles>) {
        match self {
            Plot::Group(group) => all.push(group),
            Plot::Inner { children, .. } => children.iter().for_each(|child| child.groups(all)),
            Plot::Empty | Plot::Patch(_) | Plot::Refused(_) => {}
        }
    }

    /// With the cells of all groups.
    fn finish(self, how: &How) -> Result<Plot<Cells>, BuildError> {
        Ok(match self {
            Plot::Group(group) => group.finish(how)?,
            Plot::Inner { side_log2, children } => {
                let children = children.into_par_iter().map(|child| child.finish(how)).collect::<Result<_, _>>()?;
                Plot::Inner { side_log2, children }
            }
            Plot::Empty => Plot::Empty,
            Plot::Patch(patch) => Plot::Patch(patch),
            Plot::Refused(refused) => Plot::Refused(refused),
        })
    }
}

impl Plot<Cells> {
    /// Least and greatest height of its triangles.
    fn heights(&self) -> [i32; 2] {
        match self {
            Plot::Group(cells) => cells.heights,
            Plot::Inner { children, .. } => children.iter().map(Plot::heights).fold(NO_HEIGHTS, reach),
            Plot::Empty | Plot::Patch(_) | Plot::Refused(_) => NO_HEIGHTS,
        }
    }

    /// Why it costs more than it may.
    fn refused(&self) -> Option<Refused> {
        match self {
            Plot::Refused(refused) => Some(*refused),
            Plot::Inner { children, .. } => children.iter().filter_map(Plot::refused).reduce(Refused::and),
            Plot::Empty | Plot::Patch(_) | Plot::Group(_) => None,
        }
    }
}

/// What the triangles of a tile are made of: they have their numbers in the mesh, and attributes by their places in its palette.
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

/// Counts the least bytes of index that a rule asks for in a tile: what shows before anything is built. An error as of [`Rule::take`].
pub fn estimated(mesh: &Mesh, tiling: &Tiling, index: usize, rule: &Rule) -> Result<(), BuildError> {
    let tris: Vec<Tri> = tiling.faces(index).iter().map(|&i| Tri::new(mesh, &mesh.faces[i as usize])).collect();
    let low = tiling.at(index).map(|v| i64::from(v) << mesh.tile_log2);
    index_estimate(rule, &tris, low, mesh.tile_log2, HALVED)
}

/// What tiles are made of: a mesh, its fields, and which is where.
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
            let plot = tile.divided(&|group| Ok(Plot::Group(group)))?;
            Ok((tile, plot))
        };
        let all: Vec<(OneTile, Plot<Bundles>)> =
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
    how: How<'a>,
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
        let how = How {
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
                PatchArea { number: n as u32, reads, min, max }
            })
            .collect();
        let has_rays = options.rays() != Rays::None;
        Ok(OneTile { tiling, index, rasters, how, ground, parts, areas, low: [x, y], has_rays })
    }

    /// Divides it into nodes, and makes of each group of triangles what is asked for.
    fn divided<T: Send>(&self, make: &Make<T>) -> Result<Plot<T>, BuildError> {
        let OneTile { ground, how, areas, low, .. } = self;
        let divider = Divider { ground, is_by_rule: how.rule.is_some(), make };
        divider.divide(self.tiling.faces(self.index), areas, *low, ground.mesh.tile_log2, 0)
    }

    /// Writes it.
    fn made(&self, mut plot: Plot<Cells>) -> Result<Costed<Blob>, BuildError> {
        let OneTile { tiling, index, rasters, how, ground, parts, areas, low: [x, y], has_rays } = self;
        let (mesh, x, y, s) = (ground.mesh, *x, *y, 1i64 << ground.mesh.tile_log2);
        let (at, off) = (tiling.at(*index), tiling.off(*index));
        if let Some(refused) = plot.refused().into_iter().chain(how.patches(areas, [x, y])).reduce(Refused::and) {
            let at = [0, 1].map(|i| (mesh.origin[i] as f64 + refused.worst.at[i]) * exp2(mesh.step[0]));
            return Ok(Costed::Refused(Refused { worst: Crowd { at, ..refused.worst }, ..refused }));
        }

        let walls: Vec<&Wall> = tiling.walls(*index).iter().map(|i| &mesh.walls[*i as usize]).collect();
        stand::stand(&mut plot, [x, y], mesh.tile_log2, 0, &walls);
        let mut w = Writer::default();
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
            let record = f.record(part, [x, y], mesh.tile_log2, 4 * words.len(), attribute);
            let record: [u32; 16] = zerocopy::transmute!(record);
            words[patches_at + 16 * n..][..16].copy_from_slice(&record);
            words.extend(as_words(&f.bytes(part)));
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

/// Bytes as they are, four at a time.
fn as_words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word))
}

/// What becomes of a group.
type Make<'a, T> = dyn Fn(Bundles) -> Result<Plot<T>, BuildError> + Sync + 'a;

/// Divides squares of a tile.
struct Divider<'a, T> {
    ground: &'a Ground<'a>,
    /// Whether a rule decides how far a group is divided.
    is_by_rule: bool,
    make: &'a Make<'a, T>,
}

impl<T: Send> Divider<'_, T> {
    /// Divides a square until its bundles can be told apart by a cell word.
    fn divide(
        &self,
        members: &[u32],
        patches: &[PatchArea],
        [x, y]: [i64; 2],
        log2: u32,
        depth: u32,
    ) -> Result<Plot<T>, BuildError> {
        let ground = self.ground;
        if members.is_empty() {
            match patches {
                [] => return Ok(Plot::Empty),
                [one] if depth > 0 => return Ok(Plot::Patch(*one)),
                _ => {}
            }
        }
        if members.len() > GROUP && log2 >= 10 && depth < 10 {
            let side_log2 = side_for(ground, members, x, y, log2);
            let s = 1i64 << (log2 - side_log2);
            let n = 1i64 << side_log2;
            let squares: Vec<(i64, i64)> = (0..n).flat_map(|j| (0..n).map(move |i| (x + i * s, y + j * s))).collect();
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); squares.len()];
            for &t in members {
                let plan = ground.tri(t).plan;
                let range = |i: usize, low: i64| {
                    let at = |v: i64| ((v - low) >> (log2 - side_log2)).clamp(0, n - 1);
                    at(plan.min(i))..=at(plan.max(i))
                };
                let (columns, rows) = (range(0, x), range(1, y));
                // it meets the square, and so the only one of its parts that may hold it
                let one = columns.start() == columns.end() && rows.start() == rows.end();
                for j in rows {
                    for i in columns.clone() {
                        if one || plan.meets([x + i * s, y + j * s], [s; 2]) {
                            lists[(j * n + i) as usize].push(t);
                        }
                    }
                }
            }
            // stacked or huge triangles cannot be told apart by a finer square
            let total: usize = lists.iter().map(Vec::len).sum();
            if total < members.len() * 3 {
                let children = squares
                    .into_par_iter()
                    .zip(lists)
                    .map(|((cx, cy), list)| {
                        let near: Vec<PatchArea> =
                            patches.iter().copied().filter(|p| p.meets([cx, cy], [s; 2])).collect();
                        self.divide(&list, &near, [cx, cy], log2 - side_log2, depth + 1)
                    })
                    .collect::<Result<_, _>>()?;
                return Ok(Plot::Inner { side_log2, children });
            }
        }
        let frame = Frame::of(x, y, log2);
        let bundled = {
            let tris: Vec<Tri> = members.iter().map(|&t| ground.tri(t)).collect();
            let faces = members.iter().map(|&t| &ground.mesh.faces[t as usize]);
            let attributes: Vec<u8> = faces.map(|f| ground.attribute(f.material, f.source)).collect();
            bundle(&tris, &attributes, frame)
        };
        let sizes = (!self.is_by_rule).then(|| Sizes::of_square(&bundled, [x, y], log2, patches));
        (self.make)(Bundles {
            faces: bundled.order.iter().map(|&t| members[bundled.given[t as usize] as usize]).collect(),
            bundled,
            patches: patches.to_vec(),
            low: [x, y],
            log2,
            nodes: format::MAX_DEPTH - ROOT_NODES - 1 - depth,
            sizes,
            members: OnceLock::new(),
        })
    }
}

/// log2 of the squares along a side of which none holds too many triangles, at most 6.
fn side_for(ground: &Ground, members: &[u32], x: i64, y: i64, log2: u32) -> u32 {
    let finest = 6.min(log2 - 6);
    let mut counts = vec![0usize; 1 << (2 * finest)];
    for &t in members {
        let plan = ground.tri(t).plan;
        let at = |i: usize, low: i64| {
            let middle = (plan.min(i) + plan.max(i)) / 2 - low;
            (middle >> (log2 - finest)).clamp(0, (1 << finest) - 1) as usize
        };
        counts[at(1, y) << finest | at(0, x)] += 1;
    }
    (1..finest)
        .find(|k| {
            let (shift, mut sums) = (finest - k, vec![0usize; 1 << (2 * k)]);
            for (i, n) in counts.iter().enumerate() {
                let (row, column) = (i >> finest, i & ((1 << finest) - 1));
                sums[row >> shift << k | column >> shift] += n;
            }
            sums.iter().all(|&n| n <= GROUP / 4 * 3)
        })
        .unwrap_or(finest)
}

#[derive(Default)]
struct Writer<'a> {
    words: Vec<u32>,
    /// The bundles of each group, which come behind all nodes, and how many they are.
    bundles: Vec<&'a [Record]>,
    bundle_count: u32,
    /// Where the nodes stand.
    nodes: Vec<usize>,
    /// Blocks of the nodes that are written.
    blocks: u32,
    patches_at: usize,
    bound: [u32; 4],
    layers: u32,
    wide_tests: u32,
}

/// What the nodes of a group have in common.
#[derive(Clone, Copy)]
struct Group<'a> {
    frame: Frame,
    first: u32,
    records: &'a [Record],
    /// Whether some of its bundles are wide.
    some_wide: bool,
}

impl<'a> Writer<'a> {
    fn align(&mut self, words: usize) {
        self.words.resize(self.words.len().next_multiple_of(words), 0);
    }

    fn node(&mut self, plot: &'a Plot<Cells>, at: usize, log2: u32, depth: u32) -> Result<(), BuildError> {
        match plot {
            Plot::Inner { side_log2, children } => {
                let entries = self.node_of(at, [log2 - side_log2; 2], [*side_log2; 2], false, None);
                for (k, child) in children.iter().enumerate() {
                    self.words[entries + k] = match child {
                        Plot::Empty => entry::EMPTY,
                        Plot::Patch(n) => self.patch_entry(*n, depth),
                        _ => {
                            let to = self.reserve_node();
                            self.node(child, to, log2 - side_log2, depth + 1)?;
                            entry::of(entry::NODE, to as u32)
                        }
                    };
                }
                self.number_blocks(at, 0);
                Ok(())
            }
            Plot::Group(Cells { records, some_wide, frame, grid, .. }) => {
                let group = Group { frame: *frame, first: self.bundle_count, records, some_wide: *some_wide };
                self.bundles.push(records);
                self.bundle_count += records.len() as u32;
                self.grid(grid, at, group, depth)
            }
            Plot::Empty | Plot::Patch(_) | Plot::Refused(_) => unreachable!("not nodes"),
        }
    }

    fn grid(&mut self, grid: &Grid, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        // of empty cells, too, a block is read to see that
        self.raise([depth, 0, 0, 1], 0);
        let dense = grid.is_dense();
        let entries = self.node_of(at, grid.block_log2, grid.side_log2, dense, Some(group));
        let blocks = grid.entries.iter().filter(|e| matches!(e, Entry::Block(_))).count();
        let mut row = entries;
        if !dense && blocks > 0 {
            self.align(block::WORDS);
            row = self.words.len();
            self.words.resize(row + block::WORDS * blocks, 0);
        }
        for (k, e) in grid.entries.iter().enumerate() {
            if dense {
                self.block(e, entries + block::WORDS * k, group, depth)?;
                continue;
            }
            self.words[entries + k] = match e {
                Entry::Empty => entry::EMPTY,
                Entry::Patch(n) => self.patch_entry(*n, depth),
                Entry::Grid(g) => {
                    let to = self.reserve_node();
                    self.grid(g, to, group, depth + 1)?;
                    entry::of(entry::NODE, to as u32)
                }
                Entry::Block(_) => {
                    self.block(e, row, group, depth)?;
                    row += block::WORDS;
                    entry::of(entry::BLOCK, (row - block::WORDS) as u32)
                }
            };
        }
        self.number_blocks(at, if dense { grid.entries.len() } else { blocks });
        Ok(())
    }

    /// Gives the blocks of the node at a word their numbers: those below it have theirs.
    fn number_blocks(&mut self, at: usize, count: usize) {
        self.words[at + NODE_FIRST_BLOCK] = self.blocks;
        self.blocks += count as u32;
    }

    fn reserve_node(&mut self) -> usize {
        self.align(8);
        let at = self.words.len();
        self.words.resize(at + 8, 0);
        at
    }

    /// Writes a node and makes room for its entries or, of a dense one, its blocks.
    fn node_of(
        &mut self,
        at: usize,
        entry_log2: [u32; 2],
        side_log2: [u32; 2],
        dense: bool,
        group: Option<Group>,
    ) -> usize {
        if dense {
            self.align(block::WORDS);
        }
        let entries = self.words.len();
        let count = 1usize << (side_log2[0] + side_log2[1]);
        self.words.resize(entries + if dense { block::WORDS * count } else { count }, 0);
        self.nodes.push(at);
        let node = Node {
            entry_log2: entry_log2.map(|v| v as u8),
            side_log2: side_log2.map(|v| v as u8),
            flags: if dense { NODE_DENSE } else { 0 },
            shift: group.map_or(0, |g| g.frame.shift),
            reserved0: 0,
            base: group.map_or([0; 2], |g| g.frame.base),
            entries: entries as u32,
            bundles: group.map_or(0, |g| g.first),
            bundle_count: group.map_or(0, |g| g.records.len() as u32),
            first_block: 0, // known when it is left
        };
        let words: [u32; 8] = zerocopy::transmute!(node);
        self.words[at..at + 8].copy_from_slice(&words);
        entries
    }

    fn patch_entry(&mut self, patch: PatchArea, depth: u32) -> u32 {
        let PatchArea { number, reads, .. } = patch;
        self.raise([depth, reads, reads, reads], 1);
        entry::of(entry::PATCH, self.patches_at as u32 + 16 * number)
    }

    /// Writes the block of an entry at word `at`.
    fn block(&mut self, e: &Entry, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        match e {
            Entry::Empty => self.words[at..at + block::CELLS].fill(word::of_kind(word::EMPTY)),
            Entry::Grid(g) => {
                self.words[at..at + block::CELLS].fill(word::of_kind(word::NODE));
                let to = self.reserve_node();
                self.words[at + block::TAIL] = to as u32;
                self.grid(g, to, group, depth + 1)?;
            }
            Entry::Patch(p) => {
                let one = Word { number: p.number, mask: 0, tests: p.reads, guess: 0, start: true };
                self.cells(&Block::of(one), at, group, depth)?;
            }
            Entry::Block(cells) => self.cells(cells, at, group, depth)?,
        }
        Ok(())
    }

    /// The bits of a word, and its number.
    fn bits(&self, w: &Word, sheet: bool) -> (u32, u32) {
        let sheet = if sheet { word::SHEET } else { 0 };
        if w.mask == 0 {
            return (word::of_kind(word::PATCH) | sheet, self.patches_at as u32 / 16 + w.number);
        }
        (word::of_triangles(w.mask, w.guess) | sheet, w.number)
    }

    fn cells(&mut self, cells: &Block, at: usize, group: Group, depth: u32) -> Result<(), BuildError> {
        let mut further: SmallVec<[u32; 2 * LINE]> = SmallVec::new();
        let mut places: SmallVec<[_; block::CELLS]> = SmallVec::new();
        for (cell, (words, sole)) in cells.cells().enumerate() {
            let Some((home, rest)) = words.split_first() else {
                self.words[at + cell] = word::of_kind(word::EMPTY);
                continue;
            };
            let before = further.len();
            let numbers = words.iter().map(|w| self.bits(w, false).1).max();
            let mut list_lines = 0;
            if rest.len() > block::MOST || numbers >= Some(word::NUMBERS) {
                if words.len() > format::MAX_WORDS as usize {
                    return Err(Limit::Surfaces.into());
                }
                if cells.tail.is_some() {
                    self.align(LINE);
                }
                let list = self.words.len();
                self.words.push(words.len() as u32);
                for w in words {
                    let (bits, number) = self.bits(w, w.start);
                    self.words.extend([bits, number]);
                }
                list_lines = format::lines(list, 1 + 2 * words.len());
                self.words[at + cell] = word::of_kind(word::LIST);
                further.push(list as u32);
            } else {
                let packed = |w: &Word, sheet: bool| {
                    let (bits, number) = self.bits(w, sheet);
                    bits | word::with_number(number)
                };
                let home = packed(home, sole);
                further.extend(rest.iter().map(|w| packed(w, w.start)));
                self.words[at + cell] = home;
            }
            self.words[at + block::COUNTS] |= block::count_bits(cell, further.len() - before);
            places.push((words, before, further.len() - before, list_lines));
        }
        let (inline, beyond) = further.split_at(further.len().min(block::INLINE));
        self.words[at + block::FURTHER..][..inline.len()].copy_from_slice(inline);
        if let Some(tail) = cells.tail.filter(|_| !beyond.is_empty()) {
            let len = self.words.len();
            self.words.resize(len + (tail + LINE - len % LINE) % LINE, 0);
        }
        let tail = self.words.len();
        if !beyond.is_empty() {
            self.words[at + block::TAIL] = tail as u32;
            self.words.extend(beyond);
        }
        for (words, before, count, list_lines) in places {
            let lines = format::word_lines(tail, before, count) + list_lines;
            let sum = |f: fn(&Word) -> u32| words.iter().map(f).sum::<u32>();
            let leaves = sum(|w| if w.mask == 0 { w.tests } else { 1 });
            let tests = sum(|w| w.tests);
            let leaf_lines = sum(|w| if w.mask == 0 { w.tests } else { 2 });
            let layers = sum(|w| if w.mask == 0 { 1 } else { w.tests });
            self.raise([depth, leaves, tests, lines + leaf_lines], layers);
            if group.some_wide {
                let wide = |w: &&Word| w.mask != 0 && is_wide(&group.records[w.number as usize]);
                let tests = words.iter().filter(wide).map(|w| w.tests).sum();
                self.wide_tests = self.wide_tests.max(tests);
            }
        }
        Ok(())
    }

    fn raise(&mut self, cost: [u32; 4], layers: u32) {
        for (b, c) in self.bound.iter_mut().zip(cost) {
            *b = (*b).max(c);
        }
        self.layers = self.layers.max(layers);
    }
}
