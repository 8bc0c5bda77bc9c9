//! Contents of a handle: triangles, and the image that was built of them. Long work uses the threads that it is called
//! in.

use crate::file;
use crate::progress::Tell;
use crate::results;
use crate::types::{
    Fault, VS_TERRAIN_NAME_SIZE, vs_terrain_build_parameters, vs_terrain_build_results, vs_terrain_error::*,
    vs_terrain_point, vs_terrain_triangle,
};
use hardpan::Terrain;
use hardpan_builder::util::text::{counted, grouped};
use hardpan_builder::{
    BuildError, Built, Image, Job, Limit, Material, Near, Options, Outlier, Provenance, Report, Scene, SourceError,
    Split, Triangle, Undersides, Verify, repair_told, verify,
};
use rayon::prelude::*;
use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// Versions that a terrain can have; the last is the latest.
pub const VERSIONS: [f64; 2] = [1.0, 2.0];
/// Pairs of mu and rr: each is a material, and an image holds no more.
const MAX_PAIRS: usize = 65_535;
/// The only source of an image, for triangles come from no file.
const SOURCE: &str = "vs_terrain";
/// Lattice steps in a metre, in plan and in height: the builder's defaults.
const STEPS: [f64; 2] = [4096.0, 65_536.0];

/// Triangles in metres, and their image once it is built.
pub struct Contents {
    version: f64,
    /// Three points for each triangle that was added; once optimised those that are left, each once.
    scene: Scene,
    /// Number of a material by the bits of its mu and rr.
    pairs: HashMap<[u32; 2], u16>,
    /// The pair of the last triangle: mostly the next has the same.
    last: Option<([u32; 2], u16)>,
    parameters: Split,
    /// How far optimising has moved points, in plan and in height, metres.
    moved: Option<[f64; 2]>,
    built: Option<Ready>,
}

/// An image, and whether it was proven.
struct Ready {
    image: Image,
    proven: bool,
}

/// The parts of a terrain that another one takes.
pub struct Copied {
    scene: Scene,
    moved: Option<[f64; 2]>,
}

/// The name of a pair: shortest decimals that read back as the same numbers, so no two pairs share one.
fn name(mu: f32, rr: f32) -> String {
    let [mu, rr] = [mu, rr].map(|v| format!("{v:?}"));
    format!("mu {} rr {}", mu.trim_end_matches(".0"), rr.trim_end_matches(".0"))
}

impl Contents {
    /// An empty one; a version of zero is the latest.
    pub fn new(version: f64) -> Result<Self, Fault> {
        let [.., latest] = VERSIONS;
        let version = if version == 0.0 { latest } else { version };
        if !VERSIONS.contains(&version) {
            return Err(Fault::new(VERSION, format!("there is no version {version}; give 0 for the latest, 1 or 2")));
        }
        Ok(Contents {
            version,
            scene: empty(),
            pairs: HashMap::new(),
            last: None,
            parameters: Split::DEFAULT,
            moved: None,
            built: None,
        })
    }

    pub fn version(&self) -> f64 {
        self.version
    }

    pub fn triangles(&self) -> usize {
        self.scene.triangles.len()
    }

    pub fn points(&self) -> usize {
        self.scene.positions.len()
    }

    pub fn is_built(&self) -> bool {
        self.built.is_some()
    }

    /// Takes all triangles out.
    pub fn clear(&mut self) {
        *self = Contents { parameters: self.parameters, ..Contents::new(self.version).expect("it has this version") };
    }

    /// Adds a triangle, wound either way.
    pub fn add(&mut self, points: [vs_terrain_point; 3], mu: f32, rr: f32) -> Result<(), Fault> {
        let corners = points.map(|p| [p.x, p.y, p.z]);
        for (p, name) in corners.iter().zip(["a", "b", "c"]) {
            if let Some(axis) = p.iter().position(|v| !v.is_finite()) {
                let text = format!("point {name}: {} is {}; give a finite number", ["x", "y", "z"][axis], p[axis]);
                return Err(Fault::new(ARGUMENT, text));
            }
        }
        for (v, name) in [(mu, "mu"), (rr, "rr")] {
            if !(v.is_finite() && v >= 0.0) {
                return Err(Fault::new(ARGUMENT, format!("{name} is {v}; give a finite number of 0 or more")));
            }
        }
        self.reserve(1, 3)?;
        // zero is one number, whatever its sign
        let material = self.material(mu + 0.0, rr + 0.0)?;
        let first = self.scene.positions.len() as u32;
        self.scene.positions.extend(corners);
        self.scene.triangles.push(Triangle { v: [first, first + 1, first + 2], material, source: 0 });
        self.built = None;
        Ok(())
    }

    /// Room for more triangles and points.
    fn reserve(&mut self, triangles: usize, points: usize) -> Result<(), Fault> {
        let Scene { positions, triangles: all, .. } = &mut self.scene;
        if positions.len() + points > u32::MAX as usize {
            return Err(Fault::new(LIMIT, "a terrain holds at most 4,294,967,295 points; call vs_terrain_optimize"));
        }
        let room = all.try_reserve(triangles).and_then(|()| positions.try_reserve(points));
        room.map_err(|_| {
            Fault::new(LIMIT, format!("there is no memory for {} triangles", grouped(all.len() as u64 + 1)))
        })
    }

    /// The number of a pair's material.
    fn material(&mut self, mu: f32, rr: f32) -> Result<u16, Fault> {
        let pair = [mu.to_bits(), rr.to_bits()];
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == pair) {
            return Ok(number);
        }
        let number = match self.pairs.get(&pair) {
            Some(number) => *number,
            None => {
                let number = self.pairs.len();
                if number == MAX_PAIRS {
                    return Err(too_many_pairs());
                }
                self.scene.materials.push(Material { rr: rr.into(), ..Material::new(name(mu, rr), mu.into()) });
                self.pairs.insert(pair, number as u16);
                number as u16
            }
        };
        self.last = Some((pair, number));
        Ok(number)
    }

    /// The parts that another terrain copies from this one.
    pub fn copied(&self) -> Copied {
        Copied { scene: self.scene.clone(), moved: self.moved }
    }

    /// Adds all of another terrain.
    pub fn merge(&mut self, Copied { scene, moved }: Copied) -> Result<(), Fault> {
        let pair = |m: &Material| [m.mu as f32, m.rr as f32];
        let new = scene.materials.iter().filter(|m| !self.pairs.contains_key(&pair(m).map(f32::to_bits))).count();
        if self.pairs.len() + new > MAX_PAIRS {
            return Err(too_many_pairs());
        }
        self.reserve(scene.triangles.len(), scene.positions.len())?;
        let number = |m: &Material| self.material(pair(m)[0], pair(m)[1]);
        let numbers = scene.materials.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let first = self.scene.positions.len() as u32;
        self.scene.positions.extend(scene.positions);
        self.scene.triangles.extend(scene.triangles.iter().map(|t| Triangle {
            v: t.v.map(|v| first + v),
            material: numbers[usize::from(t.material)],
            source: 0,
        }));
        self.moved = [self.moved, moved].into_iter().flatten().reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        self.built = None;
        Ok(())
    }

    fn options(&self) -> Options {
        // the side of squares of which there are none
        let source_error = self.moved.map(|rest| SourceError { rest, side: 1.0, squares: Vec::new() });
        Options { undersides: Undersides::Ground, source_error, ..Options::default() }
    }

    /// Joins points that lie closer than so many metres, and takes out what is no ground then.
    pub fn optimize(&mut self, threshold: f64, tell: Tell) -> Result<(), Fault> {
        let weld = near(threshold)?;
        if self.scene.triangles.is_empty() {
            return Ok(());
        }
        let options = Options { weld, stitch: None, ..self.options() };
        let (ground, report) =
            repair_told(&self.scene, &options, &|percent| tell(percent)).map_err(|e| self.said(e))?;
        self.all_inside(&report.outliers)?;
        let half = if self.is_on_lattice() { [0.0; 2] } else { [0.5f64.sqrt() / STEPS[0], 0.5 / STEPS[1]] };
        let before = self.moved.unwrap_or_default();
        self.moved = Some([0, 1].map(|i| before[i] + half[i] + report.weld.moved[i]));
        self.built = None;
        self.scene = used(ground);
        let bits = |m: &Material| [m.mu as f32, m.rr as f32].map(f32::to_bits);
        self.pairs = self.scene.materials.iter().zip(0..).map(|(m, number)| (bits(m), number)).collect();
        self.last = None;
        Ok(())
    }

    /// Whether every point lies on the lattice already.
    fn is_on_lattice(&self) -> bool {
        let scale = [STEPS[0], STEPS[0], STEPS[1]];
        let on = |v: f64| v.abs() < 2f64.powi(53) && v == v.round_ties_even();
        self.scene.positions.iter().all(|p| (0..3).all(|i| on(p[i] * scale[i])))
    }

    /// Stops if something lies beyond what one image holds: no triangle is left out in silence.
    fn all_inside(&self, outliers: &[Outlier]) -> Result<(), Fault> {
        let Some(first) = outliers.first() else { return Ok(()) };
        let outside = outliers.iter().map(|o| o.triangles).sum::<u64>();
        let [plan, height] = STEPS.map(|steps| grouped((2f64.powi(31) / steps) as u64));
        let [x, y, z] = first.at.map(|v| format!("{v:e}"));
        Err(Fault::new(
            LIMIT,
            format!(
                "{} of {} reach as far as ({x}, {y}, {z}), and an image holds what lies within {plan} m in plan and {height} m \
                 in height of where most points are; move the terrain, or save the far parts apart",
                grouped(outside),
                counted(self.triangles() as u64, "triangle"),
            ),
        ))
    }

    /// Why nothing was built, in words of this library.
    fn said(&self, e: BuildError) -> Fault {
        match e {
            BuildError::OutsideDomain { outliers, .. } => self.all_inside(&outliers).expect_err("there are outliers"),
            e @ BuildError::Limit(Limit::Split { .. }) => {
                let hint = "here bundle_size is preferredBundleSize, min_volume is minBundleVolume, and vs_terrain_build takes no parameters";
                Fault::new(LIMIT, format!("{e}; {hint}"))
            }
            e => e.into(),
        }
    }

    pub fn parameters(&self) -> vs_terrain_build_parameters {
        let Split { depth_tolerance, bundle_size, bundle_increase, min_volume, volume_increase } = self.parameters;
        vs_terrain_build_parameters {
            toleranceDepth: depth_tolerance as i32,
            preferredBundleSize: bundle_size as i32,
            toleranceDepthBundleIncrease: bundle_increase,
            minBundleVolume: min_volume,
            toleranceDepthVolumeIncrease: volume_increase,
        }
    }

    pub fn set_parameters(&mut self, p: vs_terrain_build_parameters) -> Result<(), Fault> {
        let whole = |v: i32| u32::try_from(v).unwrap_or(u32::MAX);
        let split = Split {
            depth_tolerance: whole(p.toleranceDepth),
            // zero is out of range, and so are negative ones
            bundle_size: u32::try_from(p.preferredBundleSize).unwrap_or(0),
            bundle_increase: p.toleranceDepthBundleIncrease,
            min_volume: p.minBundleVolume,
            volume_increase: p.toleranceDepthVolumeIncrease,
        };
        if (Options { split: Some(split), ..Options::default() }).check().is_err() {
            let text = "toleranceDepth goes from 0 to 64, preferredBundleSize starts at 1, the others go from 0 to 1e9";
            return Err(Fault::new(ARGUMENT, text));
        }
        self.parameters = split;
        Ok(())
    }

    /// Builds by the native rule.
    pub fn build(&mut self) -> Result<(), Fault> {
        self.made(None, &|_| ()).map(drop)
    }

    /// Builds by the parameters.
    pub fn build2(&mut self, tell: Tell) -> Result<vs_terrain_build_results, Fault> {
        if self.version < 2.0 {
            let text =
                "vs_terrain_build2 is not for terrains of version 1.0; call vs_terrain_build, or create version 2";
            return Err(Fault::new(VERSION, text));
        }
        let began = Instant::now();
        let report = self.made(Some(self.parameters), tell)?;
        let seconds = began.elapsed().as_secs_f64();
        let results = results::of(&opened(self.built()?)?);
        let contested = report.contested.map_or(0, |c| c.triangles);
        Ok(vs_terrain_build_results { contested, seconds, ..results })
    }

    fn made(&mut self, split: Option<Split>, tell: Tell) -> Result<Report, Fault> {
        if self.scene.triangles.is_empty() {
            return Err(Fault::new(EMPTY, "there are no triangles; add some by vs_terrain_add_triangle"));
        }
        self.built = None;
        let built = self.image(&Options { split, ..self.options() }, tell);
        let Built { image, report } = built.map_err(|e| self.said(e))?;
        self.all_inside(&report.outliers)?;
        self.built = Some(Ready { image, proven: false });
        Ok(report)
    }

    /// The image that a build has left.
    fn built(&self) -> Result<&Image, Fault> {
        self.built.as_ref().map(|ready| &ready.image).ok_or_else(|| Fault::new(INTERNAL, "a build left no image"))
    }

    /// Builds; where a tile would have more pairs than it can hold, with smaller ones.
    fn image(&self, options: &Options, tell: Tell) -> Result<Built, BuildError> {
        let first = self.image_once(options, tell);
        match first {
            Err(BuildError::Limit(Limit::Attributes { .. })) => {
                let finer = |log2| self.image_once(&Options { tile_log2: Some(log2), ..options.clone() }, tell).ok();
                (6..=26).rev().find_map(finer).map_or(first, Ok)
            }
            all => all,
        }
    }

    fn image_once(&self, options: &Options, tell: Tell) -> Result<Built, BuildError> {
        let job = Job::new(&self.scene, options)?;
        tell(40);
        let (all, done) = (job.tiles(), AtomicUsize::new(0));
        let tile = |index| {
            let tile = job.tile(index);
            tell(40 + (50 * (done.fetch_add(1, Relaxed) + 1) / all) as u32);
            tile
        };
        let tiles = (0..all).into_par_iter().map(tile).collect::<Result<_, _>>()?;
        job.image(tiles, Some(&Provenance::default()))
    }

    /// The image, built if need be, and proven once.
    fn proven(&mut self) -> Result<&Image, Fault> {
        if self.built.is_none() {
            self.build()?;
        }
        if let Some(ready) = self.built.as_mut().filter(|ready| !ready.proven) {
            prove(&ready.image)?;
            ready.proven = true;
        }
        self.built()
    }

    /// Writes the image to a file.
    pub fn save(&mut self, place: PathBuf) -> Result<(), Fault> {
        let image = self.proven()?;
        file::keep(file::write(&place, |out| out.write_all(image))?)
    }

    /// The image, to be drawn.
    pub fn drawn<R>(&mut self, draw: impl FnOnce(&Terrain) -> Result<R, Fault>) -> Result<R, Fault> {
        draw(&opened(self.proven()?)?)
    }

    /// A triangle by its number.
    pub fn triangle(&self, index: usize) -> Result<vs_terrain_triangle, Fault> {
        let Scene { positions, triangles, materials, .. } = &self.scene;
        let Some(t) = triangles.get(index) else {
            let all = counted(triangles.len() as u64, "triangle");
            return Err(Fault::new(ARGUMENT, format!("there is no triangle {index}; there are {all}, from 0 on")));
        };
        let m = &materials[usize::from(t.material)];
        let mut name = [0; VS_TERRAIN_NAME_SIZE];
        let length = m.name.len().min(VS_TERRAIN_NAME_SIZE - 1);
        name[..length].copy_from_slice(&m.name.as_bytes()[..length]);
        let point = |v: u32| {
            let [x, y, z] = positions[v as usize];
            vs_terrain_point { x, y, z }
        };
        Ok(vs_terrain_triangle { points: t.v.map(point), mu: m.mu as f32, rr: m.rr as f32, material: name })
    }

    /// Least and greatest coordinate of all points along an axis.
    pub fn extent(&self, axis: usize) -> Result<[f64; 2], Fault> {
        let along = self.scene.positions.iter().map(|p| [p[axis]; 2]);
        let all = along.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        all.ok_or_else(|| Fault::new(EMPTY, "there are no triangles, so there is no extent; add some first"))
    }
}

fn empty() -> Scene {
    Scene { sources: vec![SOURCE.into()], ..Scene::default() }
}

fn too_many_pairs() -> Fault {
    let text = "a terrain holds at most 65,535 pairs of mu and rr; round them, or build it in parts";
    Fault::new(LIMIT, text)
}

/// A distance in metres as whole lattice steps, rounded down.
fn near(threshold: f64) -> Result<Near, Fault> {
    if !(0.0..=256.0).contains(&threshold) {
        let text = format!("weldThreshold is {threshold}; give metres from 0 to 256");
        return Err(Fault::new(ARGUMENT, text));
    }
    let [plan, height] = STEPS.map(|steps| (threshold * steps) as u32);
    Ok(Near { plan, height })
}

/// A scene without the points that no triangle has.
fn used(mut scene: Scene) -> Scene {
    let mut number = vec![u32::MAX; scene.positions.len()];
    scene.triangles.iter().flat_map(|t| t.v).for_each(|v| number[v as usize] = 0);
    let mut next = 0..;
    number.iter_mut().filter(|n| **n == 0).zip(&mut next).for_each(|(n, new)| *n = new);
    let mut kept = number.iter().map(|n| *n != u32::MAX);
    scene.positions.retain(|_| kept.next().unwrap_or_default());
    scene.triangles.iter_mut().for_each(|t| t.v = t.v.map(|v| number[v as usize]));
    scene
}

/// An image that this library built.
fn opened(image: &Image) -> Result<Terrain<'_>, Fault> {
    Terrain::open(image).map_err(|e| Fault::new(INTERNAL, e.to_string()))
}

/// Stops at an image that cannot be proven from its bytes.
fn prove(image: &Image) -> Result<(), Fault> {
    let verdict = verify(image, &Verify::default()).map_err(|e| Fault::new(INTERNAL, e.to_string()))?;
    let Some(check) = verdict.failed() else { return Ok(()) };
    let first = check.faults.first.first();
    let place = first.and_then(|f| f.at).map(|[x, y]| format!("near ({x:.3}, {y:.3}): ")).unwrap_or_default();
    let what = first.map_or("", |f| f.what.as_str());
    Err(Fault::new(BUILD, format!("{}: {place}{what}; nothing was written", check.name)))
}
