//! Scene to lattice: positions rounded once, triangles oriented, sorted and freed of duplicates.
//!
//! Vertices are numbered by their coordinates and triangles by their vertices, so nothing after
//! this stage knows the order of the source.

use crate::{BuildError, HeightField, Options, Report, Scene};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A triangle on the lattice: corners counter-clockwise in plan, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Face {
    /// Vertex numbers.
    pub v: [u32; 3],
    /// Material number, by name.
    pub material: u16,
    /// Source number, by name.
    pub source: u16,
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
    /// Height fields.
    pub fields: Vec<Field>,
    /// By name.
    pub materials: Vec<crate::Material>,
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
}

/// Twice the plan area of a triangle, positive if counter-clockwise.
pub fn area2(a: [i32; 3], b: [i32; 3], c: [i32; 3]) -> i128 {
    let d = |p: [i32; 3], q: [i32; 3], i: usize| i128::from(p[i]) - i128::from(q[i]);
    d(b, a, 0) * d(c, a, 1) - d(b, a, 1) * d(c, a, 0)
}

/// 2^e.
pub fn exp2(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// Rounds a scene to the lattice.
pub fn quantise(scene: &Scene, options: &Options, report: &mut Report) -> Result<Mesh, BuildError> {
    check(scene)?;
    report.triangles_in = scene.triangles.len() as u64;
    let step = [options.xy_log2, options.z_log2];
    let scale = [exp2(-step[0]), exp2(-step[0]), exp2(-step[1])];
    let absolute: Vec<Option<[i64; 3]>> = scene
        .positions
        .par_iter()
        .map(|p| {
            let q: [f64; 3] = std::array::from_fn(|i| (p[i] * scale[i]).round_ties_even());
            q.iter().all(|v| v.abs() < 4e18).then(|| q.map(|v| v as i64))
        })
        .collect();
    let extents = extents_of(scene, step)?;
    let mut used = vec![false; absolute.len()];
    for v in scene.triangles.iter().flat_map(|t| t.v) {
        used[v as usize] = true;
    }
    let mut points: Vec<[i64; 3]> =
        absolute.par_iter().zip(&used).filter(|(_, u)| **u).filter_map(|(p, _)| *p).collect();
    points.par_sort_unstable();
    points.dedup();
    let origin = origin(&points, &extents, step)?;
    // the points inside the domain, in the same order
    let local = |p: &[i64; 3]| -> Option<[i32; 3]> {
        let d = |i: usize| i32::try_from(p[i] - origin[i]).ok();
        Some([d(0)?, d(1)?, d(2)?])
    };
    points.retain(|p| local(p).is_some());
    let vertices: Vec<[i32; 3]> = points.par_iter().filter_map(local).collect();
    let number: Vec<u32> = absolute
        .par_iter()
        .map(|p| p.and_then(|p| points.binary_search(&p).ok()).map_or(u32::MAX, |n| n as u32))
        .collect();
    drop((absolute, used, points));

    let (materials, material_number) = by_name(&scene.materials, |m| m.name.clone())?;
    let (sources, source_number) = by_name(&scene.sources, String::clone)?;

    #[derive(Clone, Copy)]
    enum Fate {
        Stay(Face),
        Vertical,
        Collapsed,
        Outside,
    }
    let fates: Vec<Fate> = scene
        .triangles
        .par_iter()
        .map(|t| {
            let mut v = t.v.map(|i| number[i as usize]);
            if v.contains(&u32::MAX) {
                return Fate::Outside;
            }
            let [a, b, c] = v.map(|i| vertices[i as usize]);
            let area = area2(a, b, c);
            if area == 0 {
                let flat =
                    [0, 1, 2].map(|k| [[a, b], [b, c], [c, a]][k]).iter().any(|[p, q]| p == q) || is_line(a, b, c);
                return if flat { Fate::Collapsed } else { Fate::Vertical };
            }
            if area < 0 {
                v.swap(1, 2);
            }
            let least = (0..3).min_by_key(|&k| v[k]).expect("three corners");
            v.rotate_left(least);
            let material = material_number[usize::from(t.material)];
            let source = source_number[usize::from(t.source)];
            Fate::Stay(Face { v, material, source })
        })
        .collect();
    let mut faces = Vec::with_capacity(fates.len());
    for fate in fates {
        match fate {
            Fate::Stay(face) => faces.push(face),
            Fate::Vertical => report.vertical += 1,
            Fate::Collapsed => report.collapsed += 1,
            Fate::Outside => report.outside += 1,
        }
    }
    if report.outside * 2 > report.triangles_in {
        return Err(BuildError::OutsideDomain { outside: report.outside, of: report.triangles_in });
    }
    faces.par_sort_unstable();
    let before = faces.len();
    faces.dedup_by_key(|f| f.v);
    report.duplicates = (before - faces.len()) as u64;
    report.triangles = faces.len() as u64;
    report.posts = scene.fields.iter().map(|f| f.heights.len() as u64).sum();
    if faces.is_empty() && scene.fields.is_empty() {
        return Err(BuildError::Empty);
    }

    let fields: Vec<Field> = scene
        .fields
        .iter()
        .zip(&extents)
        .map(|(f, e)| Field {
            zero: [0, 1].map(|i| e.zero[i] - (origin[i] << 8)),
            field: HeightField {
                material: material_number[usize::from(f.material)],
                source: source_number[usize::from(f.source)],
                ..f.clone()
            },
        })
        .collect();
    let mut bounds = [[i32::MAX; 3], [i32::MIN; 3]];
    let mut grow = |p: [i64; 3]| -> Result<(), BuildError> {
        for i in 0..3 {
            let v = i32::try_from(p[i])
                .map_err(|_| BuildError::Limit("a height field reaches beyond the domain; use coarser steps".into()))?;
            bounds[0][i] = bounds[0][i].min(v);
            bounds[1][i] = bounds[1][i].max(v);
        }
        Ok(())
    };
    for f in &faces {
        for v in f.v {
            grow(vertices[v as usize].map(i64::from))?;
        }
    }
    for e in &extents {
        grow(std::array::from_fn(|i| e.min[i] - origin[i]))?;
        grow(std::array::from_fn(|i| e.max[i] - origin[i]))?;
    }
    let tile_log2 = match options.tile_log2 {
        Some(t) => t.into(),
        None => tile_side(&vertices, &faces, &bounds),
    };
    Ok(Mesh { vertices, faces, fields, materials, sources, origin, tile_log2, step, bounds })
}

fn is_line(a: [i32; 3], b: [i32; 3], c: [i32; 3]) -> bool {
    let d = |p: [i32; 3], q: [i32; 3]| -> [i128; 3] { std::array::from_fn(|i| i128::from(q[i]) - i128::from(p[i])) };
    let (u, v) = (d(a, b), d(a, c));
    (0..3).all(|i| u[i] * v[(i + 1) % 3] == u[(i + 1) % 3] * v[i])
}

fn check(scene: &Scene) -> Result<(), BuildError> {
    let bad = |what: String| Err(BuildError::Scene(what));
    if let Some(i) = scene.positions.iter().position(|p| !p.iter().all(|v| v.is_finite())) {
        return bad(format!("vertex {} is not a number", i + 1));
    }
    if scene.positions.len() >= u32::MAX as usize {
        return bad("more than 2^32 - 2 vertices".into());
    }
    let known = |m: u16, s: u16| usize::from(m) < scene.materials.len() && usize::from(s) < scene.sources.len();
    for (i, t) in scene.triangles.iter().enumerate() {
        if t.v.iter().any(|&v| v as usize >= scene.positions.len()) {
            return bad(format!("triangle {} names a vertex that is not there", i + 1));
        }
        if !known(t.material, t.source) {
            return bad(format!("triangle {} names a material or source that is not there", i + 1));
        }
    }
    for (i, m) in scene.materials.iter().enumerate() {
        if ![m.mu, m.rr, m.gain, m.cone_index].iter().all(|v| v.is_finite()) {
            return bad(format!("material {} ({:?}): a property is not a number", i + 1, m.name));
        }
    }
    for (i, f) in scene.fields.iter().enumerate() {
        if !known(f.material, f.source) {
            return bad(format!("height field {} names a material or source that is not there", i + 1));
        }
        if f.columns < 2 || f.rows < 2 || f.heights.len() != f.columns * f.rows || f.columns.max(f.rows) > 1 << 20 {
            return bad(format!("height field {} needs 2 to 2^20 columns and rows, and a height for each post", i + 1));
        }
        let sane = |v: f64| v.abs() < 1e9;
        if !(f.pitch > 0.0
            && sane(f.pitch)
            && f.origin.iter().all(|&v| sane(v))
            && f.tolerance >= 0.0
            && f.tolerance.is_finite())
        {
            return bad(format!("height field {}: origin, pitch and tolerance must be numbers", i + 1));
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
        return Err(BuildError::Limit("more than 65,535 materials or sources".into()));
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

/// Median of the points, rounded to a multiple of 4,096 m: outliers do not move it, nor does any order or sharing.
fn origin(points: &[[i64; 3]], fields: &[Extent], step: [i32; 2]) -> Result<[i64; 3], BuildError> {
    let mut origin = [0; 3];
    for i in 0..3 {
        let mut values: Vec<i64> = points.iter().map(|p| p[i]).collect();
        values.extend(fields.iter().flat_map(|e| [e.min[i], e.max[i]]));
        if values.is_empty() {
            return Err(BuildError::Empty);
        }
        let middle = values.len() / 2;
        let (_, &mut median, _) = values.select_nth_unstable(middle);
        let unit = 1i64 << (12 - step[usize::from(i == 2)]).min(48);
        origin[i] = (median + unit / 2).div_euclid(unit) * unit;
        if origin[i].unsigned_abs() >= 1 << 51 {
            return Err(BuildError::Limit("the scene lies too far from its zero; move it closer".into()));
        }
    }
    Ok(origin)
}

/// A power of two that holds some ten thousand triangles of mean area, from order-free totals alone.
fn tile_side(vertices: &[[i32; 3]], faces: &[Face], bounds: &[[i32; 3]; 2]) -> u32 {
    let total: i128 = faces
        .iter()
        .map(|f| {
            let [a, b, c] = f.v.map(|i| vertices[i as usize]);
            area2(a, b, c)
        })
        .sum();
    let extent = (0..2).map(|i| bounds[1][i].abs_diff(bounds[0][i])).max().expect("two axes");
    let largest = (32 - extent.leading_zeros()).clamp(10, 26);
    if faces.is_empty() {
        return largest.min(20);
    }
    let target = (total / 2 / faces.len() as i128).max(1) * 12_000;
    // side^2 nearest to the target: round(log2(target) / 2)
    let log2 = 127 - (target * 2).leading_zeros();
    (log2 / 2).clamp(10, 26).min(largest).max(least_tile_side(bounds))
}

/// The least log2 of a tile's side: pages are 2^5 tiles a side, and the directory holds at most 2^20 of them.
pub fn least_tile_side(bounds: &[[i32; 3]; 2]) -> u32 {
    let extent = (0..2).map(|i| bounds[1][i].abs_diff(bounds[0][i])).max().expect("two axes");
    (32 - extent.leading_zeros()).saturating_sub(15).max(10)
}
