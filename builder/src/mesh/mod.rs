//! Scene to ground on the lattice, in stages from arrays to arrays.
//!
//! `quantise` rounds, `facing` finds the undersides, `clean` orients, drops what is no ground and keeps one of
//! coincident triangles, `weld` makes vertices that lie close one, `stitch` closes hairline gaps and T-junctions.
//! Vertices are numbered by their coordinates and triangles by their vertices, so nothing after the first
//! stage knows the order of the source. Only `stitch` makes vertices, inside triangles that
//! many others divide and over or under those of other edges, and it may move one by a step.

mod clean;
mod cover;
mod facing;
mod near;
mod quantise;
mod stitch;
mod weld;

use crate::field::{Rastered, raster};
use crate::{BuildError, HeightField, Material, Options, Report, Scene, SourceError, Triangle, shares};
pub use clean::{is_steep, rise};
pub use facing::mix;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A triangle on the lattice. From `clean` on corners are counter-clockwise in plan, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// Vertex numbers.
    pub v: [u32; 3],
    /// Material number, by name.
    pub material: u16,
    /// Source number, by name.
    pub source: u16,
}

impl Face {
    /// Numbers that order faces as they are ordered.
    fn key(&self) -> [u32; 4] {
        let [a, b, c] = self.v;
        [a, b, c, u32::from(self.material) << 16 | u32::from(self.source)]
    }

    /// The face of such numbers.
    fn of_key([a, b, c, kind]: [u32; 4]) -> Face {
        Face { v: [a, b, c], material: (kind >> 16) as u16, source: kind as u16 }
    }
}

/// A height field of the scene, with materials and sources renumbered and its plan zero on the query grid.
#[derive(Clone, Debug)]
pub struct Field {
    /// Query steps from the origin.
    pub zero: [i64; 2],
    /// The field.
    pub field: HeightField,
}

/// The ground on the lattice.
pub struct Mesh {
    /// Steps from the origin, ascending.
    pub vertices: Vec<[i32; 3]>,
    /// Ascending, each once.
    pub faces: Vec<Face>,
    /// How far weld and stitch moved a face, in steps of plan and height: ascending by face, none for those that stayed.
    pub moved: Vec<(u32, [f64; 2])>,
    /// Places on the source at which the error against it is measured, metres.
    pub places: Vec<[f64; 3]>,
    /// Height fields.
    pub fields: Vec<Field>,
    /// The same, as they are stored.
    pub rasters: Vec<Rastered>,
    /// By name.
    pub materials: Vec<Material>,
    /// By name.
    pub sources: Vec<String>,
    /// The origin in steps.
    pub origin: [i64; 3],
    /// log2 of a tile's side in steps.
    pub tile_log2: u32,
    /// log2 of the steps in metres.
    pub step: [i32; 2],
    /// Least and greatest coordinates of mesh and fields, in steps from the origin.
    pub bounds: [[i32; 3]; 2],
    /// Whether every position of the scene was a lattice point.
    pub exact: bool,
    /// What the scene itself is off by.
    pub source_error: Option<SourceError>,
}

impl Mesh {
    /// Error against the source in plan and height, metres: half a step of rounding, the farthest of these moves, and the
    /// fit of these fields. Fields are not repaired, but the sum is simple and above both. What the source itself is off by,
    /// if it is said, comes on top, and then rounding counts only where there was any.
    pub fn error<'a>(
        &self,
        moved: impl Iterator<Item = [f64; 2]>,
        fields: impl Iterator<Item = &'a Field>,
        source: Option<[f64; 2]>,
    ) -> [f64; 2] {
        let most = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        let moved = moved.fold([0.0; 2], most);
        // the places of a field are rounded down to 2^-16 cells
        let fit = fields.map(|f| [f.field.pitch / 65_536.0, f.field.tolerance]).fold([0.0; 2], most);
        let half = self.step.map(|log2| if self.exact && source.is_some() { 0.0 } else { exp2(log2 - 1) });
        let own = [
            (half[0] + fit[0]) * std::f64::consts::SQRT_2 + moved[0] * exp2(self.step[0]),
            half[1] + fit[1] + moved[1] * exp2(self.step[1]),
        ];
        let source = source.unwrap_or_default();
        [0, 1].map(|i| source[i] + own[i])
    }

    /// What the scene itself is off by in each of these tiles, and the most of it; none if nothing is said.
    pub fn source_error(&self, tiles: impl Iterator<Item = [i32; 2]>) -> Option<HashMap<[i32; 2], [f64; 2]>> {
        let known = self.source_error.as_ref()?;
        let mut all: HashMap<[i32; 2], [f64; 2]> = tiles.map(|at| (at, known.rest)).collect();
        for &[x, y, plan, height] in &known.squares {
            let scale = exp2(-self.step[0]);
            // saturating: beyond the domain there are no tiles
            let step = |v: f64, i: usize| (v * scale).round_ties_even() as i64 - self.origin[i];
            let low = [step(x, 0), step(y, 1)].map(|v| v >> self.tile_log2);
            let high = [step(x + known.side, 0), step(y + known.side, 1)].map(|v| (v - 1) >> self.tile_log2);
            let inside = |at: &[i32; 2]| (0..2).all(|i| (low[i]..=high[i]).contains(&i64::from(at[i])));
            let mut raise = |most: &mut [f64; 2]| *most = [most[0].max(plan), most[1].max(height)];
            if low == high {
                all.get_mut(&low.map(|v| v as i32)).into_iter().for_each(&mut raise);
            } else {
                all.iter_mut().filter(|(at, _)| inside(at)).for_each(|(_, most)| raise(most));
            }
        }
        Some(all)
    }
}

/// How far each triangle has been moved so far, by its corners: those that stayed are not in it.
type Moved = BTreeMap<[u32; 3], [f64; 2]>;

/// Twice the plan area of a triangle, positive if counter-clockwise.
pub fn area2(a: [i32; 3], b: [i32; 3], c: [i32; 3]) -> i128 {
    let d = |p: [i32; 3], i: usize| i64::from(p[i]) - i64::from(a[i]);
    let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
    product(d(b, 0), d(c, 1)) - product(d(b, 1), d(c, 0))
}

/// 2^e.
pub fn exp2(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// Corners counter-clockwise in plan, the least first; none without plan area.
fn oriented(v: [u32; 3], vertices: &[[i32; 3]]) -> Option<[u32; 3]> {
    let [a, b, c] = v.map(|i| vertices[i as usize]);
    upward(v, area2(a, b, c))
}

/// The same of corners with twice this plan area, positive if they are counter-clockwise.
fn upward(mut v: [u32; 3], area: i128) -> Option<[u32; 3]> {
    if area < 0 {
        v.swap(1, 2);
    }
    (area != 0).then(|| least_first(v))
}

/// Corners in the same sense of turning, the least first.
fn least_first(v: [u32; 3]) -> [u32; 3] {
    let [a, b, c] = v;
    if a < b && a < c {
        v
    } else if b < c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// An edge, whatever its direction.
fn edge(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

/// How far edges that meet in plan may lie above each other to be ground for one wheel, metres.
const RISE: f64 = 0.5;

/// Of each triangle of a scene whether it is an underside; empty if none is, or if the scene cannot be built.
pub fn ceilings(scene: &Scene, options: &Options) -> Vec<bool> {
    let lattice = options.check().and_then(|()| quantise::quantise(scene, options, &mut Report::default()));
    lattice.map_or_else(|_| Vec::new(), |l| facing::ceilings(scene, &l.vertices, &l.faces, &l.materials, options))
}

/// Makes the ground of a scene.
pub fn ground(scene: &Scene, options: &Options, report: &mut Report) -> Result<Mesh, BuildError> {
    let quantise::Lattice { vertices, mut faces, fields, materials, sources, origin, step, exact } =
        quantise::quantise(scene, options, report)?;
    let ceilings = facing::ceilings(scene, &vertices, &faces, &materials, options);
    let corners = |i: usize| scene.triangles[i].v.map(|v| scene.positions[v as usize]);
    let most = options.max_slope.map(rise);
    let steep = |i: usize| most.is_some_and(|rise| is_steep(corners(i), rise));
    let areas = clean::ground(&mut faces, &vertices, &materials, &ceilings, steep, report);
    drop(ceilings);
    let places = shares::places(scene, &areas);
    drop(areas);
    (report.duplicates, report.contested) = clean::duplicates(&mut faces, &materials);
    let nears = [Some(options.weld), options.stitch].into_iter().flatten();
    let farthest =
        nears.fold([0.0; 2], |sum, n| [sum[0] + 2.0 * f64::from(n.plan), sum[1] + 2.0 * f64::from(n.height)]);
    let (moved, record, most_rise) = (Moved::new(), cover::Record::default(), (RISE * exp2(-step[1])) as u32);
    let mut ground = weld::Ground { vertices, faces, moved, record, materials: &materials, origin, farthest };
    if options.weld != crate::Near::default() {
        report.weld = weld::weld(&mut ground, options.weld);
        report.weld.moved = worst(&ground.moved, step);
    }
    if let Some(near) = options.stitch {
        report.stitch = stitch::stitch(&mut ground, near, most_rise);
        report.stitch.moved = worst(&ground.moved, step);
        let steps = [step[0], step[0], step[1]].map(exp2);
        report.stitch.slit = report.stitch.slit.map(|at| [0, 1, 2].map(|k| at[k] * steps[k]));
    }
    let weld::Ground { vertices, faces, moved, .. } = ground;
    report.triangles = faces.len() as u64;
    report.posts = scene.fields.iter().map(|f| f.heights.len() as u64).sum();
    if faces.is_empty() && scene.fields.is_empty() {
        return Err(BuildError::Empty);
    }
    let rasters = fields.par_iter().map(|f| raster(f, origin[2], step)).collect::<Result<Vec<_>, _>>()?;
    let moved = moved
        .iter()
        .filter_map(|(v, by)| faces.binary_search_by_key(v, |f| f.v).ok().map(|i| (i as u32, *by)))
        .collect();
    let (bounds, area) = extent(&vertices, &faces, &rasters);
    let tile_log2 = options.tile_log2.map_or_else(|| tile_side(faces.len(), area, &bounds), u32::from);
    let source_error = options.source_error.clone();
    Ok(Mesh {
        vertices,
        faces,
        moved,
        places,
        fields,
        rasters,
        materials,
        sources,
        origin,
        tile_log2,
        step,
        bounds,
        exact,
        source_error,
    })
}

/// The farthest that repairs have moved a triangle so far, in metres of plan and height.
fn worst(moved: &Moved, step: [i32; 2]) -> [f64; 2] {
    let steps = moved.values().fold([0f64; 2], |m, by| [m[0].max(by[0]), m[1].max(by[1])]);
    [steps[0] * exp2(step[0]), steps[1] * exp2(step[1])]
}

/// The scene that an image holds: what [`build`](crate::build) would store, on exact lattice points, with what
/// happened on the way. Height fields stay as they are.
pub fn repair(scene: &Scene, options: &Options) -> Result<(Scene, Report), BuildError> {
    options.check()?;
    let mut report = Report::default();
    let mesh = ground(scene, options, &mut report)?;
    let step = [mesh.step[0], mesh.step[0], mesh.step[1]].map(exp2);
    let place = |v: &[i32; 3]| [0, 1, 2].map(|i| (mesh.origin[i] + i64::from(v[i])) as f64 * step[i]);
    let ground = Scene {
        positions: mesh.vertices.iter().map(place).collect(),
        triangles: mesh.faces.iter().map(|f| Triangle { v: f.v, material: f.material, source: f.source }).collect(),
        fields: mesh
            .fields
            .iter()
            .zip(&scene.fields)
            .map(|(f, g)| HeightField { origin: g.origin, ..f.field.clone() })
            .collect(),
        materials: mesh.materials,
        sources: mesh.sources,
    };
    Ok((ground, report))
}

/// Least and greatest coordinates of triangles and fields, and twice the plan area of all triangles.
fn extent(vertices: &[[i32; 3]], faces: &[Face], fields: &[Rastered]) -> ([[i32; 3]; 2], i128) {
    let none = || ([[i32::MAX; 3], [i32::MIN; 3]], 0);
    let reach = |[low, high]: [[i32; 3]; 2], p: [i32; 3]| {
        [[0, 1, 2].map(|i| low[i].min(p[i])), [0, 1, 2].map(|i| high[i].max(p[i]))]
    };
    let add = |(bounds, area), f: &Face| {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        ([a, b, c].into_iter().fold(bounds, reach), area + area2(a, b, c))
    };
    let chunks = faces.par_chunks(1 << 14).map(|faces| faces.iter().fold(none(), add));
    let (bounds, area) = chunks.reduce(none, |a, b| (b.0.into_iter().fold(a.0, reach), a.1 + b.1));
    (fields.iter().flat_map(|f| f.bounds).fold(bounds, reach), area)
}

/// A power of two that holds some ten thousand triangles of mean area, given so many and twice the area of all: from order-free totals alone.
fn tile_side(count: usize, area: i128, bounds: &[[i32; 3]; 2]) -> u32 {
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
