//! Triangles to tiles: which tiles hold ground, of what side, and what is in each.

use super::raster::Rastered;
use super::walls;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::{Field, Mesh, widened};
use crate::util::exact::exp2;
use hardpan::format::MAX_PALETTE;
use hardpan_shaders::Face;
use hardpan_shaders::plan::Plan;
use hardpan_shaders::sort::morton;
use hardpan_shaders::{Ground, Squares, Stages};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Pairs of a triangle or field and a tile under its bounding box from which on tiles are called too small, and as many
/// as eight for each triangle: a tile of a single triangle takes some [`PAIR_BYTES`] while it is built.
const MAX_PAIRS: u64 = 1 << 21;
const PAIR_BYTES: u64 = 2048;
/// Pairs from which on a side that nobody chose grows until at most an eighth of the triangles is named again, if there
/// is such a side: needles have little area, and far apart they would have a tile each.
const FEW_PAIRS: u64 = 1 << 16;
/// The smallest and the largest side of a tile there is: log2 in steps.
pub const SMALLEST: u32 = 6;
const LARGEST: u32 = 26;
/// Triangles that are looked at together.
const CHUNK: usize = 1 << 14;
/// log2 of the tiles along a page's side.
const PAGE_LOG2: u32 = 5;

/// Which tiles hold ground, in Morton order, and what each is made of: all that a tile needs beside the mesh, so that
/// each can be built apart from the others.
pub struct Tiling {
    tiles: Vec<[i32; 2]>,
    /// Where the triangles of each tile start.
    starts: Vec<u32>,
    /// Triangles, ascending for each tile.
    faces: Vec<u32>,
    moved: HashMap<[i32; 2], [f64; 2]>,
    /// Error of the source itself in each tile, if that is stated.
    source_error: Option<HashMap<[i32; 2], [f64; 2]>>,
    /// Ceilings and obstacles that each tile has, ascending.
    walls: HashMap<[i32; 2], Vec<u32>>,
}

impl Tiling {
    /// A partition into tiles of this side.
    pub fn new(
        mesh: &Mesh,
        rasters: &[Rastered],
        Side { log2, pairs }: Side,
        stages: &dyn Stages,
    ) -> Result<Tiling, BuildError> {
        let s = 1i64 << log2;
        let why = if too_many(mesh, pairs) {
            let gib = (pairs * PAIR_BYTES).div_ceil(1 << 30);
            Some(format!("they would name its triangles and fields {pairs} times, which may take {gib} GiB of memory"))
        } else {
            spread(mesh, log2)
        };
        if let Some(why) = why {
            let larger = Side::first(mesh, log2 + 1..=LARGEST);
            return Err(Limit::SmallTiles { tile_log2: log2, why, larger }.into());
        }
        let Squares { squares, starts: firsts, faces } =
            stages.squares(Ground { vertices: &mesh.vertices, faces: &mesh.faces }, log2);
        let home = |at: [i64; 2]| morton((at[0] + (1 << 31)) as u64, (at[1] + (1 << 31)) as u64);
        let mut tiles: Vec<([i32; 2], u32)> = squares.into_iter().zip(firsts).collect();
        let walls = walls::by_tile(&mesh.walls, log2);
        if !rasters.is_empty() || !walls.is_empty() {
            // and those with nothing but a field or walls
            tiles.extend(walls.keys().map(|at| (*at, u32::MAX)));
            for f in rasters {
                let [low, high] = f.extent();
                for y in low[1] >> log2..=high[1] >> log2 {
                    let there = (low[0] >> log2..=high[0] >> log2).filter(|x| f.part(x * s, y * s, s).is_some());
                    tiles.extend(there.map(|x| ([x as i32, y as i32], u32::MAX)));
                }
            }
            tiles.sort_by_key(|(at, _)| home(at.map(i64::from))); // stable: a square with triangles comes first
            tiles.dedup_by_key(|(at, _)| *at);
        }
        let mut starts = vec![faces.len() as u32; tiles.len() + 1];
        for k in (0..tiles.len()).rev() {
            starts[k] = tiles[k].1.min(starts[k + 1]);
        }
        let tiles: Vec<[i32; 2]> = tiles.into_iter().map(|(at, _)| at).collect();
        let (moved, source_error) = (moved(mesh, tiles.iter().copied()), mesh.source_error(tiles.iter().copied()));
        Ok(Tiling { tiles, starts, faces, moved, source_error, walls })
    }

    /// How many tiles there are.
    pub fn count(&self) -> usize {
        self.tiles.len()
    }

    /// The place of a tile among the tiles of the plan.
    pub fn at(&self, index: usize) -> [i32; 2] {
        self.tiles[index]
    }

    /// The triangles of a tile, ascending.
    pub fn faces(&self, index: usize) -> &[u32] {
        &self.faces[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// The ceilings and obstacles of a tile, ascending.
    pub fn walls(&self, index: usize) -> &[u32] {
        self.walls.get(&self.tiles[index]).map_or(&[], Vec::as_slice)
    }

    /// All tiles in runs of at most so many triangles, but of one tile at least.
    pub fn runs(&self, most: usize) -> impl Iterator<Item = Range<usize>> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let first = *self.starts.get(from..self.count())?.first()?;
            let more = self.starts[from + 1..].partition_point(|end| (end - first) as usize <= most);
            let run = from..from + more.max(1);
            from = run.end;
            Some(run)
        })
    }

    /// How far repairs moved the ground of a tile, in steps of plan and height, and what the source itself is off by.
    pub fn off(&self, index: usize) -> ([f64; 2], Option<[f64; 2]>) {
        let at = self.tiles[index];
        (self.moved[&at], self.source_error.as_ref().map(|e| e[&at]))
    }
}

/// How far repairs moved ground of each of these tiles, in steps of plan and height: of the triangles that it holds,
/// and of those that may have taken ground out of it.
fn moved(mesh: &Mesh, tiles: impl Iterator<Item = [i32; 2]>) -> HashMap<[i32; 2], [f64; 2]> {
    // numbers of no sign are ordered as their bits are
    let most: HashMap<[i32; 2], [AtomicU64; 2]> = tiles.map(|at| (at, Default::default())).collect();
    mesh.moved.par_iter().for_each(|&(face, by)| {
        let plan = Plan::new(mesh.faces[face as usize].v.map(|v| mesh.vertices[v as usize]));
        let reach = by[0].ceil() as i64 + 1; // and what rounding moved
        let [x0, y0] = [0, 1].map(|i| plan.min(i)).map(|v| (v - reach) >> mesh.tile_log2);
        let [x1, y1] = [0, 1].map(|i| plan.max(i)).map(|v| (v + reach) >> mesh.tile_log2);
        for tile in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| [x as i32, y as i32])) {
            if let Some(most) = most.get(&tile) {
                (0..2).for_each(|i| {
                    most[i].fetch_max(by[i].abs().to_bits(), Relaxed);
                });
            }
        }
    });
    most.into_iter().map(|(at, most)| (at, most.map(|bits| f64::from_bits(bits.into_inner())))).collect()
}

/// The first and last tile of side 2^`log2` under a triangle's bounding box, in x and y.
fn under(mesh: &Mesh, f: &Face, log2: u32) -> [[i64; 2]; 2] {
    let [a, b, c] = f.v.map(|v| mesh.vertices[v as usize]);
    let low = |i: usize| i64::from(a[i].min(b[i]).min(c[i]) >> log2);
    let high = |i: usize| i64::from(a[i].max(b[i]).max(c[i]) >> log2);
    [[low(0), low(1)], [high(0), high(1)]]
}

/// Pairs of a triangle or field and a tile under its bounding box.
fn pairs(mesh: &Mesh, log2: u32) -> u64 {
    let tiles = |f: &Face| {
        let [[x0, y0], [x1, y1]] = under(mesh, f, log2);
        (((x1 - x0 + 1) as u64).saturating_mul((y1 - y0 + 1) as u64)).min(1 << 34)
    };
    let faces: u64 = mesh.faces.par_iter().map(tiles).sum();
    let field = |f: &Field| {
        let along =
            |n: usize| ((f.field.pitch * (n - 1) as f64 * exp2(-mesh.step[0] - log2 as i32)) as u64 + 2).min(1 << 26);
        along(f.field.columns) * along(f.field.rows)
    };
    faces + mesh.fields.iter().map(field).sum::<u64>()
}

fn too_many(mesh: &Mesh, pairs: u64) -> bool {
    pairs > MAX_PAIRS.max(8 * mesh.faces.len() as u64)
}

/// The side of tiles.
pub struct Side {
    /// log2 in steps.
    pub log2: u32,
    /// Pairs of a triangle or field and such a tile under its bounding box.
    pairs: u64,
}

impl Side {
    /// A side that is given.
    pub fn of(mesh: &Mesh, log2: u32) -> Side {
        Side { log2, pairs: pairs(mesh, log2) }
    }

    /// The side for a scene, near the one proposed: larger if its tiles would be too many or name much twice, and
    /// smaller as [`few_attributes`] needs.
    pub fn near(mesh: &Mesh, proposed: u32) -> Side {
        if proposed >= LARGEST {
            return Side::of(mesh, proposed);
        }
        let faces = mesh.faces.len() as u64;
        let sides = || (proposed..LARGEST).map(|log2| Side::of(mesh, log2));
        let once = sides().find(|s| s.pairs <= FEW_PAIRS.max(faces + faces / 8));
        let fits = |s: &Side| !too_many(mesh, s.pairs);
        let side = once.filter(fits).or_else(|| sides().find(fits)).unwrap_or_else(|| Side::of(mesh, LARGEST));
        let log2 = few_attributes(mesh, side.log2);
        if log2 == side.log2 { side } else { Side::of(mesh, log2) }
    }

    /// The first of some sides of which tiles can be made, as far as is known before.
    pub fn first(mesh: &Mesh, mut sides: impl Iterator<Item = u32>) -> Option<u32> {
        let plans = many_attributes(mesh);
        sides.find(|&log2| {
            spread(mesh, log2).is_none()
                && !too_many(mesh, pairs(mesh, log2))
                && plans.as_ref().is_none_or(|plans| has_few_attributes(mesh, plans, log2))
        })
    }
}

/// The largest side, up to the one proposed, of which no tile has more pairs of material and source than a palette
/// holds: log2 in steps. The one proposed if there is none, or if triangles would be named too often.
fn few_attributes(mesh: &Mesh, proposed: u32) -> u32 {
    let Some(plans) = many_attributes(mesh) else { return proposed };
    let sides = (least_tile_side(&mesh.bounds).min(proposed)..=proposed).rev();
    let few = |log2: &u32| {
        let named: u64 = plans.par_iter().map(|p| p.tiles(*log2)).sum();
        named <= (4 * mesh.faces.len() as u64).max(MAX_PAIRS)
    };
    sides.take_while(few).find(|log2| has_few_attributes(mesh, &plans, *log2)).unwrap_or(proposed)
}

/// All triangles in plan, if they have more pairs of material and source than a palette holds.
fn many_attributes(mesh: &Mesh) -> Option<Vec<Plan>> {
    let some = |faces: &[Face]| {
        let mut some: Vec<u32> = faces.chunk_by(|a, b| kind(a) == kind(b)).map(|those| kind(&those[0])).collect();
        some.sort_unstable();
        some.dedup();
        some
    };
    let mut all: Vec<u32> = mesh.faces.par_chunks(CHUNK).flat_map_iter(some).collect();
    all.sort_unstable();
    all.dedup();
    let is_more = all.len() + mesh.fields.len() > MAX_PALETTE;
    is_more.then(|| mesh.faces.par_iter().map(|f| Plan::new(f.v.map(|v| mesh.vertices[v as usize]))).collect())
}

/// Whether no tile of this side has more pairs of material and source than a palette holds.
fn has_few_attributes(mesh: &Mesh, plans: &[Plan], log2: u32) -> bool {
    let s = 1i64 << log2;
    let mut pairs: Vec<(i32, i32, u32)> = plans
        .par_iter()
        .zip(&mesh.faces)
        .flat_map_iter(|(plan, f)| {
            let [x0, y0] = [0, 1].map(|i| plan.min(i)).map(|v| v >> log2);
            let [x1, y1] = [0, 1].map(|i| plan.max(i)).map(|v| v >> log2);
            let places = (y0..=y1).flat_map(move |y| (x0..=x1).map(move |x| (x, y)));
            let inside = places.filter(move |&(x, y)| plan.meets([x * s, y * s], [s; 2]));
            inside.map(|(x, y)| (x as i32, y as i32, kind(f)))
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    // each field may add one
    let most = MAX_PALETTE.saturating_sub(mesh.fields.len());
    pairs.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)).all(|tile| tile.len() <= most)
}

/// Material and source of a triangle as one number.
fn kind(f: &Face) -> u32 {
    u32::from(f.material) << 16 | u32::from(f.source)
}

/// A power of two that holds some ten thousand triangles of mean area, given so many and twice the area of all: from
/// order-free totals alone.
pub fn tile_side(count: usize, area: i128, bounds: &[[i32; 3]; 2]) -> u32 {
    let extent = (0..2).map(|i| bounds[1][i].abs_diff(bounds[0][i])).max().expect("two axes");
    let largest = (32 - extent.leading_zeros()).clamp(10, 26);
    if count == 0 {
        return largest.min(20);
    }
    let target = (area / 2 / count as i128).max(1) * 12_000;
    // side^2 nearest to the target: round(log2(target) / 2)
    let log2 = 127 - (target * 2).leading_zeros();
    (log2 / 2).clamp(10, 26).min(largest).max(least_tile_side(bounds))
}

/// The least log2 of a tile's side: pages are 2^5 tiles a side, and the directory holds at most 2^20 of them.
pub fn least_tile_side(bounds: &[[i32; 3]; 2]) -> u32 {
    let extent = (0..2).map(|i| bounds[1][i].abs_diff(bounds[0][i])).max().expect("two axes");
    (32 - extent.leading_zeros()).saturating_sub(15).max(10)
}

/// The least of the squares of tiles of a side that have a page each, and how many there are along x and y.
pub fn squares(mesh: &Mesh, tile_log2: u32, page_log2: u32) -> ([i32; 2], [u32; 2]) {
    let [min, max] = bounds(mesh).map(|p| [p[0], p[1]].map(|v| v >> tile_log2 >> page_log2));
    (min, [0, 1].map(|i| max[i].abs_diff(min[i]) + 1))
}

/// log2 of the tiles along a page's side. An image with a field, in one tile, needs no page of many.
pub fn page_log2(mesh: &Mesh, tiles: usize) -> u32 {
    let [min, max] = bounds(mesh).map(|p| [p[0], p[1]].map(|v| v >> mesh.tile_log2));
    if !mesh.fields.is_empty() && tiles == 1 && min == max { 0 } else { PAGE_LOG2 }
}

/// Bounds of ground and walls.
fn bounds(mesh: &Mesh) -> [[i32; 3]; 2] {
    walls::extent(&mesh.walls).map_or(mesh.bounds, |walls| widened(mesh.bounds, walls))
}

/// Why a directory has no room for tiles of a side, if so.
pub fn spread(mesh: &Mesh, tile_log2: u32) -> Option<String> {
    let (_, [x, y]) = squares(mesh, tile_log2, PAGE_LOG2);
    let is_spread = x.max(y) > 1 << 16 || u64::from(x) * u64::from(y) > 1 << 24;
    let tiles = 1 << (2 * PAGE_LOG2);
    is_spread.then(|| format!("the ground is spread over {x} x {y} squares of {tiles} tiles each"))
}
