//! The order of the stages: a scene becomes a mesh, the mesh tiles, and tiles an image.
//!
//! `quantise` rounds, `facing` finds the undersides, `clean` orients, drops what is no ground and keeps one of
//! coincident triangles, `weld` makes vertices that lie close one, `stitch` closes hairline gaps and T-junctions.
//! Vertices are numbered by their coordinates and triangles by their vertices, so nothing after the first
//! stage knows the order of the source.

use crate::build::Built;
use crate::build::error::BuildError;
use crate::build::lattice::{Field, Mesh, NO_BOX, widened};
use crate::build::stage::clean::{is_steep, rise};
use crate::build::stage::ground::{Ground, Moved, Record, Trail};
use crate::build::stage::hot_spot::{Costed, Refused};
use crate::build::stage::partition::{Side, Tiling, tile_side};
use crate::build::stage::raster::{Rastered, raster};
use crate::build::stage::rule::Rule;
use crate::build::stage::tile;
use crate::build::stage::tile::{Blob, Tiles};
use crate::build::stage::{bare, clean, error_quantiles, facing, pack, quantise, rule, stitch, walls, weld};
use crate::image::provenance::Provenance;
use crate::options::{Options, Rays};
use crate::report::Report;
use crate::scene::{self, HeightField, Material, Scene, Triangle, WallKind};
use crate::util::exact::{area2, exp2};
use hardpan_shaders::Face;
use hardpan_shaders::{Cpu, Stages};
use rayon::prelude::*;
use std::sync::atomic::AtomicU64;

/// A scene on its way into an image: all that needs the whole of it is done, and each tile can be made by itself, in
/// any order and on any thread or machine that has the same scene and options.
///
/// ```
/// use hardpan_builder::{Job, Options, build, demo::fixtures};
///
/// let (scene, options) = (fixtures::town(1), Options::default());
/// let job = Job::new(&scene, &options).unwrap();
/// let tiles = (0..job.tiles()).rev().map(|index| job.tile(index).unwrap()).collect();
/// assert!(job.image(tiles, None).unwrap().image[..] == build(&scene, &options).unwrap().image[..]);
/// ```
pub struct Job {
    mesh: Mesh,
    /// Its fields, as they are stored.
    rasters: Vec<Rastered>,
    options: Options,
    tiling: Tiling,
    report: Report,
}

/// A tile that a [`Job`] made.
pub struct FinishedTile(Blob);

impl Job {
    /// Quantises and repairs a scene, and finds out which tiles it takes, on the processor's cores.
    pub fn new(scene: &Scene, options: &Options) -> Result<Job, BuildError> {
        Job::new_on(scene, options, &Cpu::new())
    }

    /// The same with the data-parallel stages on a backend: the bytes do not depend on it.
    pub fn new_on(scene: &Scene, options: &Options, stages: &dyn Stages) -> Result<Job, BuildError> {
        options.check()?;
        let mut report = Report::default();
        let (mut mesh, rasters) = ground(scene, options, stages, &mut report, &|_| ())?;
        let side = match options.tile_log2 {
            Some(_) => Side::of(&mesh, mesh.tile_log2),
            None => Side::near(&mesh, mesh.tile_log2),
        };
        mesh.tile_log2 = side.log2;
        let tiling = Tiling::new(&mesh, &rasters, side, stages)?;
        if let Some(split) = options.split {
            let asked = AtomicU64::new(0);
            let estimate = |index| tile::estimated(&mesh, &tiling, index, &Rule::new(split, &mesh, &asked));
            (0..tiling.count()).into_par_iter().try_for_each(estimate)?;
        }
        Ok(Job { mesh, rasters, options: options.clone(), tiling, report })
    }

    /// How many tiles there are.
    pub fn tiles(&self) -> usize {
        self.tiling.count()
    }

    /// Makes a tile, from 0 on and below [`tiles`](Self::tiles).
    ///
    /// # Errors
    ///
    /// An error tells of this tile alone; there is no image then, and others may have errors of their own.
    /// [`BuildError::Cost`] has the worst place in this tile, and what is enough for it. Of several such errors the
    /// worst place is by [`HotSpot::worse`](crate::build::cost::HotSpot::worse), and enough for the scene are the most
    /// tests and the most lines of all tiles; [`build`](crate::build::build) tells that. [`BuildError::Limit`] if its
    /// ground does not fit a tile, or by a [`Split`](crate::options::Split) takes more index than all may.
    ///
    /// # Panics
    ///
    /// If there is no such tile.
    pub fn tile(&self, index: usize) -> Result<FinishedTile, BuildError> {
        match self.of(&Cpu::new(), &AtomicU64::new(0)).one(index)? {
            Costed::Within(tile) => Ok(FinishedTile(tile)),
            Costed::Refused(refused) => Err(self.refusal(refused)),
        }
    }

    /// Input of tiles, on a backend.
    fn of<'a>(&'a self, stages: &'a dyn Stages, asked: &'a AtomicU64) -> Tiles<'a> {
        let Job { mesh, rasters, tiling, options, .. } = self;
        Tiles { mesh, rasters, tiling, options, asked, stages }
    }

    /// Makes all tiles, with the data-parallel stages on a backend.
    pub(crate) fn all(&self, stages: &dyn Stages) -> Result<Vec<FinishedTile>, BuildError> {
        let asked = AtomicU64::new(0);
        let of = self.of(stages, &asked);
        let made: Vec<_> = match stages.cells_at_once() {
            None => (0..self.tiles()).into_par_iter().map(|index| of.one(index)).collect::<Result<_, _>>()?,
            Some(most) => {
                let some = self.tiling.runs(most).map(|tiles| of.some(tiles));
                some.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect()
            }
        };
        let (mut tiles, mut worst) = (Vec::with_capacity(made.len()), None);
        for one in made {
            match one {
                Costed::Within(tile) => tiles.push(FinishedTile(tile)),
                Costed::Refused(more) => worst = Some(worst.map_or(more, |before: Refused| before.and(more))),
            }
        }
        worst.map_or(Ok(tiles), |refused| Err(self.refusal(refused)))
    }

    /// That what was built costs more than it may.
    fn refusal(&self, Refused { worst, enough }: Refused) -> BuildError {
        let most = self.options.max_cost.expect("nothing is refused without a limit");
        BuildError::Cost { worst, most, enough }
    }

    /// The image of all tiles, each given once, in any order. They may come from other jobs of the same scene and
    /// options.
    ///
    /// # Errors
    ///
    /// [`BuildError::Scene`] if a tile is missing or given twice. [`BuildError::Limit`] if all together do not fit the
    /// format or memory, or by a [`Split`](crate::options::Split) take more index than they may.
    pub fn image(self, tiles: Vec<FinishedTile>, provenance: Option<&Provenance>) -> Result<Built, BuildError> {
        let options = self.options.clone();
        self.image_saying(tiles, |materials| provenance.map_or_else(Provenance::plain, |p| p.text(&options, materials)))
    }

    /// The same, with a record of its own, given the materials of the image.
    pub(crate) fn image_saying(
        self,
        tiles: Vec<FinishedTile>,
        record: impl FnOnce(&[Material]) -> String,
    ) -> Result<Built, BuildError> {
        let Job { mut mesh, options, tiling, mut report, .. } = self;
        let mut tiles: Vec<Blob> = tiles.into_iter().map(|t| t.0).collect();
        tiles.sort_by_key(|t| t.head.index);
        if tiles.len() != tiling.count() || tiles.iter().zip(0..).any(|(t, index)| t.head.index != index) {
            let text = format!("an image of this scene takes each of its {} tiles once", tiling.count());
            return Err(BuildError::Scene(text));
        }
        if let Some(split) = options.split {
            rule::allowed(split, tiles.iter().map(|t| t.asked).sum(), mesh.faces.len())?;
        }
        // the tiles have all of it
        let paints = bare::paints(&mesh);
        drop((tiling, std::mem::take(&mut mesh.vertices), std::mem::take(&mut mesh.faces)));
        let provenance = record(&mesh.materials);
        let (image, packed) = pack::pack(&mesh, &options, tiles, provenance.as_bytes(), report.triangles)?;
        report.packed = packed;
        if let Ok(terrain) = hardpan::Terrain::open(&image) {
            report.error_quantiles = error_quantiles::measure(&terrain, &mesh.places);
            report.bare = bare::bare(&terrain, &paints);
        }
        Ok(Built { image, report })
    }
}

/// How far edges that meet in plan may lie above each other to be ground for one wheel, metres.
const RISE: f64 = 0.5;

/// Makes the ground of a scene, and its fields as they are stored. `tell` hears how far that is, in percent.
fn ground(
    scene: &Scene,
    options: &Options,
    stages: &dyn Stages,
    report: &mut Report,
    tell: &dyn Fn(u32),
) -> Result<(Mesh, Vec<Rastered>), BuildError> {
    let keeps_walls = options.rays() == Rays::All;
    let known: &[scene::Wall] = if keeps_walls { &scene.walls } else { &[] };
    let with_known;
    let scene = if known.is_empty() {
        scene
    } else {
        let triangles = scene.triangles.iter().copied().chain(known.iter().map(|w| w.triangle)).collect();
        with_known = Scene { triangles, ..scene.clone() };
        &with_known
    };
    let quantise::Lattice { vertices, mut faces, mut fields, materials, sources, origin, step, exact, outliers } =
        quantise::quantise(scene, options, stages)?;
    report.triangles_in = scene.triangles.len() as u64;
    report.outside = outliers.iter().map(|o| o.triangles).sum();
    report.outliers = outliers;
    tell(30);
    let ceilings = facing::ceilings(scene, &vertices, &faces, &materials, options);
    let corners = |i: usize| scene.triangles[i].v.map(|v| scene.positions[v as usize]);
    let most = options.max_slope.map(rise);
    let steep = |i: usize| most.is_some_and(|rise| is_steep(corners(i), rise));
    let down = |i: usize| facing::facing(scene, i) < 0.0;
    let clean::Cleaned { areas, sides, left_out, walls } =
        clean::ground(&mut faces, &vertices, &materials, &ceilings, known, steep, down);
    report.left_out = left_out;
    let walls = if keeps_walls { walls } else { Vec::new() };
    drop(ceilings);
    let places = error_quantiles::places(scene, &areas);
    drop(areas);
    // what gives friction alone is no ground that repairs may join
    let mut paints: Vec<Face> =
        faces.iter().copied().filter(|f| materials[usize::from(f.material)].friction_only).collect();
    if !paints.is_empty() {
        faces.retain(|f| !materials[usize::from(f.material)].friction_only);
        report.duplicates += clean::duplicates(&mut paints, &materials, &sides).0;
    }
    let paints: Vec<_> = paints.into_iter().map(|f| (f, f.v.map(|v| vertices[v as usize]))).collect();
    let duplicates;
    (duplicates, report.contested) = clean::duplicates(&mut faces, &materials, &sides);
    report.duplicates += duplicates;
    drop(sides);
    tell(60);
    let nears = [Some(options.weld), options.stitch].into_iter().flatten();
    let farthest =
        nears.fold([0.0; 2], |sum, n| [sum[0] + 2.0 * f64::from(n.plan), sum[1] + 2.0 * f64::from(n.height)]);
    let (moved, record, most_rise) = (Moved::new(), Record::default(), (RISE * exp2(-step[1])) as u32);
    let trail = keeps_walls.then(Trail::default);
    let mut ground =
        Ground { vertices, faces, moved, record, materials: &materials, origin, farthest, inner: Vec::new(), trail };
    if options.weld != crate::options::Near::default() {
        report.weld = weld::weld(&mut ground, options.weld);
        report.weld.moved = worst(&ground.moved, step);
    }
    if let Some(near) = options.stitch {
        report.stitch = stitch::stitch(&mut ground, near, most_rise);
        report.stitch.moved = worst(&ground.moved, step);
        let steps = [step[0], step[0], step[1]].map(exp2);
        report.stitch.slit = report.stitch.slit.map(|at| [0, 1, 2].map(|k| at[k] * steps[k]));
    }
    tell(90);
    if ground.faces.is_empty() && scene.fields.is_empty() {
        return Err(BuildError::Empty);
    }
    if let Some(f) = scene.fields.iter().find(|f| scene.materials[usize::from(f.material)].friction_only) {
        let name = &scene.materials[usize::from(f.material)].name;
        let text = format!(
            "material {name:?} gives friction alone, and a field of heights has it; give the field another one"
        );
        return Err(BuildError::Scene(text));
    }
    ground.add_apart(paints);
    let Ground { vertices, faces, moved, trail, .. } = ground;
    let walls = walls::settled(walls, trail.unwrap_or_default(), &materials);
    report.triangles = faces.len() as u64;
    report.posts = scene.fields.iter().map(|f| f.heights.len() as u64).sum();
    if faces.is_empty() && scene.fields.is_empty() {
        return Err(BuildError::Empty);
    }
    let each = fields.par_iter().zip(&scene.fields);
    let rasters = each.map(|(f, g)| raster(f, g, origin[2], step)).collect::<Result<Vec<_>, _>>()?;
    fields.iter_mut().zip(&rasters).for_each(|(f, r)| f.fit = r.fit);
    let exact = exact && rasters.iter().all(|r| r.fit == [0.0; 2]);
    let moved = moved
        .par_iter()
        .filter_map(|(v, by)| faces.binary_search_by_key(v, |f| f.v).ok().map(|i| (i as u32, *by)))
        .collect();
    let (bounds, area) = extent(&vertices, &faces, &rasters);
    report.walls = [WallKind::Ceiling, WallKind::Obstacle].map(|k| walls.iter().filter(|w| w.kind == k).count() as u64);
    let tile_log2 = options.tile_log2.map_or_else(
        || {
            match rasters.as_slice() {
                [field] if faces.is_empty() && walls.is_empty() => sole_side(field, &bounds),
                _ => None,
            }
            .unwrap_or_else(|| {
                let side = tile_side(faces.len(), area, &bounds);
                side.max(if faces.is_empty() { field_side(&fields, step[0]) } else { 0 })
            })
        },
        u32::from,
    );
    let source_error = options.source_error.clone();
    let mesh = Mesh {
        vertices,
        faces,
        moved,
        places,
        fields,
        materials,
        sources,
        origin,
        tile_log2,
        step,
        bounds,
        exact,
        source_error,
        walls,
    };
    Ok((mesh, rasters))
}

/// Bytes of a field's blocks up to which one tile holds it.
const SOLE: u64 = 1 << 29;

/// log2 of the plan steps of a tile that holds all of an image of one field: its queries need no index. None if the
/// field is too large, or lies across the origin.
fn sole_side(field: &Rastered, bounds: &[[i32; 3]; 2]) -> Option<u32> {
    let across = [0, 1].map(|i| (bounds[0][i] ^ bounds[1][i]) as u32).iter().fold(1, |a, b| a | b);
    let log2 = (32 - across.leading_zeros()).max(10);
    (log2 <= 31 && field.block_bytes() <= SOLE).then_some(log2)
}

/// log2 of the plan steps of a tile of fields alone: about 128 cells of the finest of them, for a tile has a head of
/// its own.
fn field_side(fields: &[Field], xy_log2: i32) -> u32 {
    let pitch = fields.iter().map(|f| f.field.pitch).fold(f64::INFINITY, f64::min);
    let steps = (128.0 * pitch * exp2(-xy_log2)).clamp(1.0, exp2(26));
    (steps as u64).ilog2()
}

/// The ground of a scene as its image would have it, and what happened on the way.
pub(crate) fn mesh(scene: &Scene, options: &Options, stages: &dyn Stages) -> Result<(Mesh, Report), BuildError> {
    mesh_told(scene, options, stages, &|_| ())
}

fn mesh_told(
    scene: &Scene,
    options: &Options,
    stages: &dyn Stages,
    tell: &dyn Fn(u32),
) -> Result<(Mesh, Report), BuildError> {
    options.check()?;
    let mut report = Report::default();
    let (mesh, _) = ground(scene, options, stages, &mut report, tell)?;
    Ok((mesh, report))
}

/// The farthest that repairs have moved a triangle so far, in metres of plan and height.
fn worst(moved: &Moved, step: [i32; 2]) -> [f64; 2] {
    let steps = moved.values().fold([0f64; 2], |m, by| [m[0].max(by[0]), m[1].max(by[1])]);
    [steps[0] * exp2(step[0]), steps[1] * exp2(step[1])]
}

/// The scene that an image holds: what [`build`](crate::build::build) would store, on exact lattice points, with what
/// happened on the way. Height fields stay as they are.
pub fn repair(scene: &Scene, options: &Options) -> Result<(Scene, Report), BuildError> {
    repair_told(scene, options, &|_| ())
}

/// [`repair`], where `tell` hears how far it is: rising numbers below 100, in percent.
pub fn repair_told(scene: &Scene, options: &Options, tell: &dyn Fn(u32)) -> Result<(Scene, Report), BuildError> {
    let (mesh, report) = mesh_told(scene, options, &Cpu::new(), tell)?;
    let step = [mesh.step[0], mesh.step[0], mesh.step[1]].map(exp2);
    let place = |v: &[i32; 3]| [0, 1, 2].map(|i| (mesh.origin[i] + i64::from(v[i])) as f64 * step[i]);
    let ground = Scene {
        positions: mesh.vertices.iter().map(place).collect(),
        triangles: mesh.faces.iter().map(|f| Triangle { v: f.v, material: f.material, source: f.source }).collect(),
        fields: mesh
            .fields
            .iter()
            .zip(&scene.fields)
            .map(|(f, g)| HeightField { material: f.field.material, source: f.field.source, ..g.clone() })
            .collect(),
        walls: Vec::new(),
        materials: mesh.materials,
        sources: mesh.sources,
    };
    Ok((ground, report))
}

/// Least and greatest coordinates of triangles and fields, and twice the plan area of all triangles.
fn extent(vertices: &[[i32; 3]], faces: &[Face], fields: &[Rastered]) -> ([[i32; 3]; 2], i128) {
    let none = || (NO_BOX, 0);
    let add = |(bounds, area), f: &Face| {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        ([a, b, c].into_iter().fold(bounds, |all, p| widened(all, [p; 2])), area + area2(a, b, c))
    };
    let chunks = faces.par_chunks(1 << 14).map(|faces| faces.iter().fold(none(), add));
    let (bounds, area) = chunks.reduce(none, |a, b| (widened(a.0, b.0), a.1 + b.1));
    (fields.iter().map(|f| f.bounds).fold(bounds, widened), area)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::error::Limit;
    use crate::demo::fixtures;
    use crate::options::Split;
    use hardpan_shaders::sort::mix;

    /// Grids of so many square cells along a square, half a metre above each other, and so high waves in them. Of some
    /// of these cells, by a seed, one in four is missing or cut the other way.
    fn stack(side: f64, cells: u32, sheets: u32, waves: f64, seed: Option<u64>) -> Scene {
        let mut scene =
            Scene { materials: vec![Material::new("m", 0.8)], sources: vec!["s".into()], ..Scene::default() };
        let mut random = seed;
        let mut is_one_in = |n| {
            random = random.map(mix);
            random.is_some_and(|bits| bits.is_multiple_of(n))
        };
        for k in 0..sheets {
            let (first, torn) = (scene.positions.len() as u32, is_one_in(3));
            for [i, j] in (0..=cells).flat_map(|j| (0..=cells).map(move |i| [i, j])) {
                let [x, y] = [i, j].map(|v| side * f64::from(v) / f64::from(cells));
                let wave = if is_one_in(5) { 0.7 } else { 1.0 } * waves * ((1.7 * x).sin() + (1.3 * y).cos());
                scene.positions.push([x, y, f64::from(k) / 2.0 + wave]);
            }
            for [i, j] in (0..cells).flat_map(|j| (0..cells).map(move |i| [i, j])) {
                let [a, b, c, d] =
                    [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(|[i, j]| first + j * (cells + 1) + i);
                let halves = if is_one_in(4) { [[a, b, d], [b, c, d]] } else { [[a, b, c], [a, c, d]] };
                let missing = torn && is_one_in(4);
                let halves = halves.into_iter().skip(usize::from(missing));
                scene.triangles.extend(halves.map(|v| Triangle { v, material: 0, source: 0 }));
            }
        }
        scene
    }

    /// The estimated bytes of a rule in all tiles, which are no more than it asks for in each, and those.
    fn estimated(scene: &Scene, split: Split, tile_log2: Option<u8>) -> [u64; 2] {
        let job = Job::new(scene, &Options { split: Some(split), tile_log2, ..Options::default() }).unwrap();
        let estimated = |index| {
            let all = AtomicU64::new(0);
            let rule = Rule::new(split, &job.mesh, &all);
            tile::estimated(&job.mesh, &job.tiling, index, &rule).unwrap();
            rule.asked.into_inner()
        };
        let least: Vec<u64> = (0..job.tiles()).map(estimated).collect();
        let asked: Vec<u64> = job.all(&Cpu::new()).unwrap().iter().map(|tile| tile.0.asked).collect();
        assert!(least.iter().zip(&asked).all(|(least, asked)| least <= asked), "{least:?} {asked:?}");
        [least, asked].map(|all| all.iter().sum::<u64>())
    }

    /// The estimate of a rule is no more than it asks for, and of ground in stacks not much less, however finely that
    /// is divided.
    #[test]
    fn what_a_rule_asks_for_is_estimated() {
        for (cells, waves) in [(1, 0.0), (7, 0.0), (16, 0.0), (12, 0.2)] {
            let [least, asked] = estimated(&stack(6.0, cells, 20, waves, None), Split::DEFAULT, None);
            assert!(least > asked / 10 * 9, "{cells} {waves}: {least} of {asked}");
            let far = stack(1000.0, cells, 20, waves, None);
            let far = Job::new(&far, &Options { split: Some(Split::DEFAULT), ..Options::default() });
            assert!(matches!(far.err(), Some(BuildError::Limit(Limit::Split { most, .. })) if most == 256 << 20));
        }
        estimated(&stack(0.3, 1, 20, 0.0, None), Split::DENSE, None);
        estimated(&fixtures::town(1), Split::DEFAULT, None);
    }

    /// It is no more of whatever heap: torn, with waves, of few sheets and of many, in tiles of any size, by any rule.
    #[test]
    fn no_estimate_is_more_than_is_asked_for() {
        let (mut seed, mut some) = (1, 0);
        for case in 0..60 {
            let mut random = |n: u64| {
                seed = mix(seed);
                seed % n
            };
            let rule = Split {
                depth_tolerance: random(9) as u32,
                bundle_size: 1 + random(6) as u32,
                bundle_increase: [0.0, 0.5, 2.0][random(3) as usize],
                min_volume: [0.002, 0.01, 0.1][random(3) as usize],
                volume_increase: random(3) as f64,
            };
            let (cells, sheets, waves) = (1 + random(12) as u32, 2 + random(14) as u32, 0.1 * random(8) as f64);
            let tile = [None, Some(11), Some(13)][random(3) as usize];
            let (scene, rule, tile) = match case % 6 {
                5 => {
                    (fixtures::soup(case), Split { bundle_size: 20 + rule.bundle_size, min_volume: 20.0, ..rule }, None)
                }
                _ => (stack(2.5, cells, sheets, waves, Some(case + 1)), rule, tile),
            };
            let [least, _] = estimated(&scene, rule, tile);
            some += usize::from(least > 0);
        }
        assert!(some > 30, "{some}");
    }

    /// However often and wherever tiles are made, a rule has asked for what they take, and may ask for so much in all.
    #[test]
    fn what_a_rule_asks_for_is_what_tiles_take() {
        let options = Options { split: Some(Split::DENSE), tile_log2: Some(15), ..Options::default() };
        let image = |each: Option<u64>| {
            let job = Job::new(&fixtures::town(1), &options).unwrap();
            let (mut tiles, again) = (job.all(&Cpu::new()).ok().unwrap(), job.all(&Cpu::new()).ok().unwrap());
            let sum = |tiles: &[FinishedTile], of: fn(&Blob) -> u64| tiles.iter().map(|t| of(&t.0)).sum::<u64>();
            let [asked, index] = [sum(&tiles, |b| b.asked), sum(&tiles, |b| b.index_bytes)];
            assert!(tiles.len() > 3 && asked == sum(&again, |b| b.asked), "{asked} of {} tiles", tiles.len());
            // about what they have: the rest is their heads and palettes
            assert!(asked > index / 2 && asked < index * 5 / 4, "{asked} of {index}");
            let shares = each.into_iter().flat_map(|each| [each; 2].into_iter().chain(std::iter::repeat(0)));
            tiles.iter_mut().zip(shares).for_each(|(tile, share)| tile.0.asked = share);
            job.image(tiles, None).map(|built| built.image.len())
        };
        let whole = image(None);
        assert!(whole.is_ok() && image(Some(128 << 20)) == whole);
        assert!(matches!(
            image(Some((128 << 20) + 1)),
            Err(BuildError::Limit(Limit::Split { split: Split::DENSE, .. }))
        ));
    }
}
