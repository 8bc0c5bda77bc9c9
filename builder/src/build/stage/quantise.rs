//! Scene to lattice: positions rounded once, about an origin that outliers do not move.

use crate::build::error::{BuildError, Limit};
use crate::build::lattice::{Field, widened};
use crate::options::{Options, Outliers};
use crate::report::Outlier;
use crate::scene::is_factor;
use crate::scene::{HeightField, Material, Scene, Triangle};
use crate::util::exact::exp2;
use hardpan_shaders::Face;
use hardpan_shaders::{Numbered, Stages};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Corners of a triangle that reaches beyond the domain.
const OUTSIDE: u32 = hardpan_shaders::NONE;

/// A scene on the lattice.
pub struct Lattice {
    /// Steps from the origin, ascending.
    pub vertices: Vec<[i32; 3]>,
    /// One for each triangle of the scene, in its order and winding.
    pub faces: Vec<Face>,
    pub fields: Vec<Field>,
    pub materials: Vec<Material>,
    pub sources: Vec<String>,
    pub origin: [i64; 3],
    pub step: [i32; 2],
    /// Whether rounding moved no vertex.
    pub exact: bool,
    /// Ground beyond the domain, by source, largest loss first.
    pub outliers: Vec<Outlier>,
}

/// Rounds a scene to the lattice.
pub fn quantise(scene: &Scene, options: &Options, stages: &dyn Stages) -> Result<Lattice, BuildError> {
    check(scene)?;
    let step = [options.xy_log2, options.z_log2];
    let scale = [exp2(-step[0]), exp2(-step[0]), exp2(-step[1])];
    const NOWHERE: [i64; 3] = [i64::MAX; 3];
    let mut absolute = vec![[0i64; 3]; scene.positions.len()];
    let round = |(q, p): (&mut [i64; 3], &[f64; 3])| {
        let scaled: [f64; 3] = std::array::from_fn(|i| p[i] * scale[i]);
        let rounded = scaled.map(rounded);
        *q = if rounded.iter().all(|v| v.abs() < 4e18) { rounded.map(|v| v as i64) } else { NOWHERE };
        // whether it is on the lattice
        (0..3).all(|i| rounded[i].abs() < exp2(53) && scaled[i] == rounded[i])
    };
    let exact = absolute.par_iter_mut().zip(&scene.positions).map(round).reduce(|| true, |a, b| a & b);
    let extents = extents_of(scene, step)?;
    let used_by = |of: &(dyn Fn(&Triangle) -> bool + Sync)| -> Vec<AtomicBool> {
        let used: Vec<AtomicBool> = absolute.par_iter().map(|_| AtomicBool::new(false)).collect();
        let use_all = |t: &Triangle| t.v.iter().for_each(|v| used[*v as usize].store(true, Relaxed));
        scene.triangles.par_iter().filter(|t| of(t)).for_each(use_all);
        used
    };
    let used = used_by(&|_| true);
    let positions: Vec<u32> = (0..absolute.len() as u32)
        .into_par_iter()
        .filter(|&i| used[i as usize].load(Relaxed) && absolute[i as usize] != NOWHERE)
        .collect();
    let given = Given { absolute: &absolute, numbered: numbered(&absolute, &positions, stages), positions };
    // what is no ground has no say in where the origin is
    let ground = |t: &Triangle| scene.materials[usize::from(t.material)].is_ground();
    let counts = if scene.triangles.par_iter().all(ground) { used } else { used_by(&ground) };
    let origin = match options.origin {
        Some(metres) => [0, 1, 2].map(|i| (metres[i] * scale[i]) as i64),
        None => origin(&given, &counts, &extents, step)?,
    };
    if origin.iter().any(|o| o.unsigned_abs() >= 1 << 51) {
        return Err(Limit::Far.into());
    }
    drop(counts);
    // the points inside the domain, in the same order
    let local = |p: &[i64; 3]| -> Option<[i32; 3]> {
        let d = |i: usize| i32::try_from(p[i].checked_sub(origin[i])?).ok();
        Some([d(0)?, d(1)?, d(2)?])
    };
    let places: Vec<Option<[i32; 3]>> = (0..given.count()).into_par_iter().map(|k| local(given.place(k))).collect();
    let vertices: Vec<[i32; 3]> = places.par_iter().flatten_iter().copied().collect();
    let mut inside = 0;
    let number_of = |p: &Option<[i32; 3]>| {
        inside += u32::from(p.is_some());
        if p.is_some() { inside - 1 } else { OUTSIDE }
    };
    // where all are inside, they are 0, 1, 2 and so on
    let some_outside = vertices.len() < places.len();
    let numbers: Vec<u32> = if some_outside { places.iter().map(number_of).collect() } else { Vec::new() };
    drop(places);
    let number: Vec<AtomicU32> = scene.positions.par_iter().map(|_| AtomicU32::new(OUTSIDE)).collect();
    let number_at = |k: usize| numbers.get(k).copied().unwrap_or(k as u32);
    let set = |k: usize| given.run(k).for_each(|i| number[i as usize].store(number_at(k), Relaxed));
    (0..given.count()).into_par_iter().for_each(set);

    let (materials, material_number) = by_name(&scene.materials, |m| m.name.clone())?;
    let (sources, source_number) = by_name(&scene.sources, String::clone)?;
    let faces: Vec<Face> = scene
        .triangles
        .par_iter()
        .map(|t| {
            let v = t.v.map(|i| number[i as usize].load(Relaxed));
            Face {
                v: if v.contains(&OUTSIDE) { [OUTSIDE; 3] } else { v },
                material: material_number[usize::from(t.material)],
                source: source_number[usize::from(t.source)],
            }
        })
        .collect();
    drop((number, numbers));
    let outliers = outliers(scene, &faces, &materials, &sources, origin, scale);
    if options.outliers == Outliers::Stop && outliers.iter().any(|o| o.share > 0.5) {
        return Err(BuildError::OutsideDomain {
            triangles: scene.triangles.len() as u64,
            outliers,
            origin: [0, 1, 2].map(|i| origin[i] as f64 / scale[i]),
            reach: step.map(|log2| exp2(31 + log2)),
            holds: room(scene, &extents, scale, step),
        });
    }

    let fields: Vec<Field> = scene
        .fields
        .iter()
        .zip(&extents)
        .map(|(f, e)| Field {
            zero: [0, 1].map(|i| e.zero[i] - (origin[i] << 8)),
            // the places of a field are rounded down to 2^-16 cells
            fit: [f.pitch / 65_536.0, f.tolerance],
            field: HeightField {
                origin: f.origin,
                pitch: f.pitch,
                columns: f.columns,
                rows: f.rows,
                material: material_number[usize::from(f.material)],
                source: source_number[usize::from(f.source)],
                tolerance: f.tolerance,
                ..HeightField::default()
            },
        })
        .collect();
    if extents.iter().any(|e| local(&e.min).is_none() || local(&e.max).is_none()) {
        return Err(Limit::FieldExtent.into());
    }
    Ok(Lattice { vertices, faces, fields, materials, sources, origin, step, exact, outliers })
}

/// The nearest whole number, of two the even one, as [`f64::round_ties_even`]: without a call, which costs as much as
/// all else of a place.
fn rounded(v: f64) -> f64 {
    const WHOLE: f64 = 3.0 * (1u64 << 51) as f64; // numbers near it have no fraction
    if v.abs() < (1u64 << 51) as f64 { v + WHOLE - WHOLE } else { v.round_ties_even() }
}

/// Positions by their places.
struct Given<'a> {
    /// Absolute places of all positions, steps.
    absolute: &'a [[i64; 3]],
    /// Which positions count, and their order.
    positions: Vec<u32>,
    numbered: Numbered,
}

impl Given<'_> {
    /// How many places there are.
    fn count(&self) -> usize {
        self.numbered.starts.len() - 1
    }

    /// The positions at a place; places ascend.
    fn run(&self, k: usize) -> impl Iterator<Item = u32> {
        let Numbered { order, starts } = &self.numbered;
        order[starts[k] as usize..starts[k + 1] as usize].iter().map(|i| self.positions[*i as usize])
    }

    fn place(&self, k: usize) -> &[i64; 3] {
        let Numbered { order, starts } = &self.numbered;
        &self.absolute[self.positions[order[starts[k] as usize] as usize] as usize]
    }
}

/// Sorts positions by their places: on the backend, if they lie within 2^32 steps of each other.
fn numbered(absolute: &[[i64; 3]], positions: &[u32], stages: &dyn Stages) -> Numbered {
    let place = |i: &u32| &absolute[*i as usize];
    let [low, high] = positions.par_iter().map(|i| [*place(i); 2]).reduce(|| [[i64::MAX; 3], [i64::MIN; 3]], widened);
    if (0..3).all(|k| high[k].wrapping_sub(low[k]) as u64 <= u64::from(u32::MAX)) {
        let offset = |i: &u32| [0, 1, 2].map(|k| (place(i)[k] - low[k]) as u32);
        let points: Vec<[u32; 3]> = positions.par_iter().map(offset).collect();
        return stages.number(&points);
    }
    if positions.is_empty() {
        return Numbered { order: Vec::new(), starts: vec![0] };
    }
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    let at = |k: &u32| place(&positions[*k as usize]);
    order.par_sort_unstable_by_key(|k| (at(k), *k));
    let firsts = (1..order.len()).filter(|&i| at(&order[i]) != at(&order[i - 1])).map(|i| i as u32);
    let starts = std::iter::once(0).chain(firsts).chain([order.len() as u32]).collect();
    Numbered { order, starts }
}

/// Counts of the parts of a source that lie outside.
#[derive(Default)]
struct Lost {
    /// Triangles, and twice their plan area in square steps.
    size: [i128; 2],
    /// The farthest corner.
    at: Option<[f64; 3]>,
    /// Their materials.
    of: BTreeSet<u16>,
}

/// Counts and names what lies outside the domain, by source, those that lose most first.
fn outliers(
    scene: &Scene,
    faces: &[Face],
    materials: &[Material],
    sources: &[String],
    origin: [i64; 3],
    scale: [f64; 3],
) -> Vec<Outlier> {
    if faces.par_iter().all(|f| !f.is_outside()) {
        return Vec::new();
    }
    // triangles and twice their plan area in square steps, outside and all; corners farther than 2^45 steps are drawn
    // in
    const FAR: f64 = (1u64 << 45) as f64;
    let local = |v: u32, i: usize| {
        let steps = (scene.positions[v as usize][i] * scale[i]).round_ties_even() - origin[i] as f64;
        i128::from(steps.clamp(-FAR, FAR) as i64)
    };
    let area = |[a, b, c]: [u32; 3]| {
        let d = |v: u32, i: usize| local(v, i) - local(a, i);
        (d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0)).abs()
    };
    let mut lost: BTreeMap<u16, Lost> = BTreeMap::new();
    let mut given = vec![[0i128; 2]; sources.len()];
    for (t, f) in scene.triangles.iter().zip(faces) {
        if !materials[usize::from(f.material)].is_ground() {
            continue;
        }
        let size = [1, area(t.v)];
        let add = |sum: &mut [i128; 2]| *sum = [sum[0] + size[0], sum[1] + size[1]];
        add(&mut given[usize::from(f.source)]);
        if !f.is_outside() {
            continue;
        }
        let Lost { size, at, of } = lost.entry(f.source).or_default();
        add(size);
        of.insert(f.material);
        // the corner farthest from the origin on any axis, then the greatest
        let far = |p: [f64; 3]| {
            let away = |i: usize| (p[i] - origin[i] as f64 / scale[i]).abs();
            [away(0).max(away(1)).max(away(2)), p[0], p[1], p[2]]
        };
        for p in t.v.map(|v| scene.positions[v as usize]) {
            if at.is_none_or(|at| far(p).partial_cmp(&far(at)) == Some(std::cmp::Ordering::Greater)) {
                *at = Some(p);
            }
        }
    }
    let outlier = |(s, Lost { size, at, of }): (u16, Lost)| {
        let given = given[usize::from(s)];
        let share = |i: usize| if given[i] > 0 { size[i] as f64 / given[i] as f64 } else { 0.0 };
        Outlier {
            source: sources[usize::from(s)].clone(),
            materials: of.into_iter().map(|m| materials[usize::from(m)].name.clone()).collect(),
            triangles: size[0] as u64,
            of: given[0] as u64,
            share: share(0).max(share(1)),
            at: at.unwrap_or_default(),
        }
    };
    let mut named: Vec<Outlier> = lost.into_iter().map(outlier).collect();
    named.sort_by(|a, b| b.share.total_cmp(&a.share).then(b.triangles.cmp(&a.triangles))); // stable: ties by name
    named
}

/// The number of the first that is so. Threads look at chunks: after each item they would ask each other whether one
/// was found.
fn first<T: Sync>(all: &[T], is: impl Fn(&T) -> bool + Sync) -> Option<usize> {
    const CHUNK: usize = 1 << 14;
    let chunk = all.par_chunks(CHUNK).position_first(|some| some.iter().any(&is))?;
    all.iter().skip(CHUNK * chunk).position(is).map(|i| CHUNK * chunk + i)
}

fn check(scene: &Scene) -> Result<(), BuildError> {
    let bad = |what: String| Err(BuildError::Scene(what));
    if let Some(i) = first(&scene.positions, |p| !p.iter().all(|v| v.is_finite())) {
        return bad(format!("vertex {i} is not a number"));
    }
    if scene.positions.len() >= u32::MAX as usize {
        return bad("more than 2^32 - 2 vertices".into());
    }
    if scene.triangles.len() > 1 << 30 {
        return bad("more than 2^30 triangles".into());
    }
    let known = |m: u16, s: u16| usize::from(m) < scene.materials.len() && usize::from(s) < scene.sources.len();
    let is_wrong =
        |t: &Triangle| t.v.iter().any(|&v| v as usize >= scene.positions.len()) || !known(t.material, t.source);
    if let Some(i) = first(&scene.triangles, is_wrong) {
        let what =
            if known(scene.triangles[i].material, scene.triangles[i].source) { "vertex" } else { "material or source" };
        return bad(format!("triangle {i} names a {what} that is not there"));
    }
    for (i, m) in scene.materials.iter().enumerate() {
        let factors = [("mu", m.mu), ("rr", m.rr), ("gain", m.gain), ("cone_index", m.cone_index)];
        if let Some((key, value)) = factors.into_iter().find(|(_, v)| !is_factor(*v)) {
            return bad(format!("material {i} ({:?}): {key} is {value}; it must be a number of 0 or more", m.name));
        }
    }
    for (i, f) in scene.fields.iter().enumerate() {
        if !known(f.material, f.source) {
            return bad(format!("height field {i} names a material or source that is not there"));
        }
        if f.columns < 2 || f.rows < 2 || f.heights.len() != f.columns * f.rows || f.columns.max(f.rows) > 1 << 20 {
            return bad(format!("height field {i} needs 2 to 2^20 columns and rows, and a height for each post"));
        }
        let sane = |v: f64| v.abs() < 1e9;
        if !(f.pitch > 0.0
            && sane(f.pitch)
            && f.origin.iter().all(|&v| sane(v))
            && f.tolerance >= 0.0
            && f.tolerance.is_finite())
        {
            return bad(format!("height field {i}: origin, pitch and tolerance must be numbers"));
        }
    }
    Ok(())
}

/// Sorts named things by name; things of one name must be equal.
fn by_name<T: Clone + PartialEq>(things: &[T], name: impl Fn(&T) -> String) -> Result<(Vec<T>, Vec<u16>), BuildError> {
    let mut sorted: BTreeMap<String, &T> = BTreeMap::new();
    for t in things {
        let n = name(t);
        if let Some(other) = sorted.insert(n.clone(), t)
            && other != t
        {
            return Err(BuildError::Scene(format!("two materials named {n:?} differ")));
        }
    }
    if sorted.len() > usize::from(u16::MAX) {
        return Err(Limit::Names.into());
    }
    let keys: Vec<&String> = sorted.keys().collect();
    let number = things.iter().map(|t| keys.binary_search(&&name(t)).expect("named") as u16).collect();
    Ok((sorted.values().map(|&t| t.clone()).collect(), number))
}

/// Extents of a field: plan zero in query steps; corners in steps.
struct Extent {
    zero: [i64; 2],
    min: [i64; 3],
    max: [i64; 3],
}

fn extents_of(scene: &Scene, step: [i32; 2]) -> Result<Vec<Extent>, BuildError> {
    scene
        .fields
        .iter()
        .map(|f| {
            let (q, z) = (exp2(8 - step[0]), exp2(-step[1]));
            let zero = f.origin.map(|v| (v * q).round_ties_even() as i64);
            let size = [f.columns, f.rows].map(|n| (f.pitch * (n - 1) as f64 * q).ceil() as i64);
            let heights = || f.heights.iter().copied().filter(|h| h.is_finite() && h.abs() < 1e9);
            let low = heights().fold(f64::INFINITY, f64::min);
            let high = heights().fold(f64::NEG_INFINITY, f64::max);
            if low > high {
                return Err(BuildError::Scene("a height field has no heights".into()));
            }
            Ok(Extent {
                zero,
                min: [zero[0] >> 8, zero[1] >> 8, (low * z).floor() as i64 - 1],
                max: [(zero[0] + size[0] + 255) >> 8, (zero[1] + size[1] + 255) >> 8, (high * z).ceil() as i64 + 1],
            })
        })
        .collect()
}

/// The origin nearest the middle about which the domain holds every triangle and field, metres; none if there is none.
fn room(scene: &Scene, fields: &[Extent], scale: [f64; 3], step: [i32; 2]) -> Option<[f64; 3]> {
    let mut origin = [0.0; 3];
    for i in 0..3 {
        let corners = scene.triangles.iter().flat_map(|t| t.v).map(|v| scene.positions[v as usize][i]);
        let corners = corners.map(|p| (p * scale[i]).round_ties_even());
        let fields = fields.iter().flat_map(|e| [e.min[i], e.max[i]]).map(|v| v as f64);
        let [low, high] =
            corners.chain(fields).fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        if low.abs().max(high.abs()) >= exp2(51) {
            return None;
        }
        let (least, most) = (high as i64 - i64::from(i32::MAX), low as i64 - i64::from(i32::MIN));
        let unit = unit(step[usize::from(i == 2)]);
        let nearest = ((least + most) / 2 + unit / 2).div_euclid(unit) * unit;
        if !(least..=most).contains(&nearest) {
            return None;
        }
        origin[i] = nearest as f64 / scale[i];
    }
    Some(origin)
}

/// Steps of 2^`step` m in 4,096 m.
fn unit(step: i32) -> i64 {
    1 << (12 - step).min(48)
}

/// Median of ascending points, each counted once, rounded to a multiple of 4,096 m: outliers do not move it, nor does
/// any order or sharing. One field alone has it at its south-western corner, rounded down, so that a tile may hold all.
fn origin(given: &Given, counts: &[AtomicBool], fields: &[Extent], step: [i32; 2]) -> Result<[i64; 3], BuildError> {
    type Counts = [BTreeMap<i64, u64>; 3];
    // as the median is rounded, so may all be: few numbers are left to count
    let log2 = [step[0], step[0], step[1]].map(|log2| unit(log2).ilog2());
    let in_units = |p: &[i64; 3]| [0, 1, 2].map(|i| (p[i] + (1 << log2[i] >> 1)) >> log2[i]);
    let count = |counts: &mut Counts, at: [i64; 3], n: u64| {
        (0..3).for_each(|i| *counts[i].entry(at[i]).or_default() += n);
    };
    const CHUNK: usize = 1 << 14;
    let of_chunk = |chunk: usize| {
        let (mut all, mut run) = (Counts::default(), ([0; 3], 0));
        for k in chunk * CHUNK..((chunk + 1) * CHUNK).min(given.count()) {
            if !given.run(k).any(|i| counts[i as usize].load(Relaxed)) {
                continue;
            }
            // points beside each other are mostly in one
            let at = in_units(given.place(k));
            if at != run.0 {
                count(&mut all, run.0, std::mem::take(&mut run.1));
                run.0 = at;
            }
            run.1 += 1;
        }
        count(&mut all, run.0, run.1);
        all
    };
    let add = |mut a: Counts, b: Counts| {
        a.iter_mut().zip(b).for_each(|(a, b)| b.into_iter().for_each(|(at, n)| *a.entry(at).or_default() += n));
        a
    };
    let chunks = (0..given.count().div_ceil(CHUNK)).into_par_iter();
    let mut counts = chunks.map(of_chunk).reduce(Counts::default, add);
    fields.iter().flat_map(|e| [e.min, e.max]).for_each(|p| count(&mut counts, in_units(&p), 1));
    let total: u64 = counts[0].values().sum();
    if total == 0 {
        return Err(BuildError::Empty);
    }
    let sole = if given.count() == 0 && fields.len() == 1 { fields.first() } else { None };
    Ok([0, 1, 2].map(|i| {
        if let Some(field) = sole.filter(|_| i < 2) {
            return field.min[i] >> log2[i] << log2[i];
        }
        let mut before = 0;
        let reached = counts[i].iter().find(|(_, n)| {
            before += **n;
            before > total / 2
        });
        reached.expect("the last is").0 << log2[i]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardpan_shaders::sort::mix;

    #[test]
    fn rounded_as_by_the_library() {
        let bits = (0..200_000u64).map(mix);
        let random = bits.clone().map(f64::from_bits).filter(|v| v.is_finite());
        // halves, quarters and what lies beside them, of any size
        let near = bits.map(|b| {
            let v = (b >> 14) as i64 as f64 * exp2(-((b % 52) as i32));
            f64::from_bits((v.to_bits() + (b >> 8) % 3).wrapping_sub(1)) * if b & 64 == 0 { 1.0 } else { -1.0 }
        });
        for v in random.chain(near).chain([0.5, -0.5, 1.5, 2.5, exp2(51) - 0.5, 0.5 - exp2(51)]) {
            assert_eq!(rounded(v), v.round_ties_even(), "{v:e}");
        }
    }
}
