//! Several images in one: each at its place, or at several.

use crate::again::{self, Fields};
use crate::import::{cos_sin, number_sources};
use crate::lattice::exp2;
use crate::{
    Material, Scene, SourceError, Triangle,
    names::{decimal, shown},
    read,
};
use hardpan::Terrain;
use rayon::prelude::*;
use std::{collections::HashMap, fmt};

/// Where an image comes to lie: it is turned about its zero, then moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// Way moved in metres.
    pub translate: [f64; 3],
    /// Turn about z in degrees, anticlockwise seen from above; exact at multiples of 90.
    pub yaw_deg: f64,
}

/// A part of a merged scene.
pub struct Part<'a> {
    /// A verified image.
    pub terrain: Terrain<'a>,
    /// What errors call it.
    pub name: String,
    /// Where it comes to lie.
    pub place: Place,
}

/// Why images do not become one.
#[derive(Clone, Debug, PartialEq)]
pub enum NoMerge {
    /// One is no scene of triangles.
    Fields(String, Fields),
    /// Two materials of one name have another property.
    Differ(Box<Differ>),
    /// All of them have more of these than an image can hold.
    TooMany(&'static str),
}

/// Two materials of one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Differ {
    /// Their name.
    pub material: String,
    /// The first property that is another.
    pub key: &'static str,
    /// What the two images have of it.
    pub values: [String; 2],
    /// The two images.
    pub parts: [String; 2],
}

impl fmt::Display for NoMerge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMerge::Fields(part, fields) => write!(f, "{}: {fields}", shown(part)),
            NoMerge::Differ(differ) => {
                let Differ { material, key, values: [a, b], parts } = &**differ;
                let [one, other] = parts.each_ref().map(|part| shown(part));
                write!(f, "material {material:?}: {key} is {a} in {one} and {b} in {other}")
            }
            NoMerge::TooMany(what) => write!(f, "all parts together have too many {what}; merge fewer"),
        }
    }
}

impl std::error::Error for NoMerge {}

/// The ground of several images.
#[derive(Default)]
pub struct Merged {
    /// All of it. Materials of one name may differ until they are [one](Self::unify).
    pub scene: Scene,
    /// The finest steps of all parts, log2 of metres in plan and height.
    pub steps: [i32; 2],
    /// Of each material the first part that has it so.
    owners: Vec<String>,
    /// Of each tile of each part: its least corner and side, and what it is off by in plan and height; metres.
    errors: Vec<([f64; 2], f64, [f64; 2])>,
}

/// A part on its way into the whole.
struct Placed {
    scene: Scene,
    errors: Vec<([f64; 2], f64, [f64; 2])>,
}

impl Merged {
    /// Reads all parts.
    pub fn new(parts: &[Part]) -> Result<Self, NoMerge> {
        let placed: Vec<Placed> = parts.par_iter().map(Placed::new).collect::<Result<_, _>>()?;
        let names = placed.iter().flat_map(|p| &p.scene.sources).map(String::as_str);
        let (sources, numbers) = number_sources(names);
        let mut numbers = &numbers[..];
        let finest = |log2: fn(&hardpan::format::Header) -> i32| parts.iter().map(|p| log2(p.terrain.header())).min();
        let steps = [finest(|h| h.xy_log2), finest(|h| h.z_log2)].map(Option::unwrap_or_default);
        let mut all = Merged { steps, ..Merged::default() };
        let count: usize = placed.iter().map(|p| p.scene.positions.len()).sum();
        if count >= u32::MAX as usize {
            return Err(NoMerge::TooMany("vertices"));
        }
        let mut known: HashMap<String, Vec<usize>> = HashMap::new();
        for (part, Placed { scene, errors }) in parts.iter().zip(placed) {
            let Scene { positions, triangles, materials, .. } = &mut all.scene;
            let number = |m: Material| {
                let alike = known.entry(m.name.clone()).or_default();
                let there = alike.iter().copied().find(|i| materials[*i] == m);
                there.unwrap_or_else(|| {
                    alike.push(materials.len());
                    materials.push(m);
                    all.owners.push(part.name.clone());
                    materials.len() - 1
                })
            };
            let material: Vec<usize> = scene.materials.into_iter().map(number).collect();
            if materials.len() > usize::from(u16::MAX) {
                return Err(NoMerge::TooMany("materials"));
            }
            let (source, rest) = numbers.split_at(scene.sources.len());
            numbers = rest;
            let base = positions.len() as u32;
            triangles.extend(scene.triangles.iter().map(|t| Triangle {
                v: t.v.map(|v| v + base),
                material: material[usize::from(t.material)] as u16,
                source: source[usize::from(t.source)],
            }));
            positions.extend(scene.positions);
            all.errors.extend(errors);
        }
        all.scene.sources = sources;
        Ok(all)
    }

    /// Makes materials of one name one.
    ///
    /// # Errors
    ///
    /// If they have another property: which is meant nobody said.
    pub fn unify(&self) -> Result<(), NoMerge> {
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (i, m) in self.scene.materials.iter().enumerate() {
            let first = *known.entry(&m.name).or_insert(i);
            if let Some((key, values)) = difference(&self.scene.materials[first], m) {
                let parts = [first, i].map(|i| self.owners[i].clone());
                let differ = Differ { material: m.name.clone(), key, values, parts };
                return Err(NoMerge::Differ(Box::new(differ)));
            }
        }
        Ok(())
    }

    /// What the scene is off by against what the parts were built from, if it is rounded to these steps; none if that is half a step
    /// of rounding everywhere, as of any mesh.
    pub fn source_error(&self, steps: [i32; 2]) -> Option<SourceError> {
        let half = steps.map(|log2| exp2(log2 - 1));
        let rounding = [half[0] * std::f64::consts::SQRT_2, half[1]];
        let scale = [exp2(-steps[0]), exp2(-steps[0]), exp2(-steps[1])];
        let on_lattice = |p: &[f64; 3]| (0..3).all(|i| (p[i] * scale[i]).fract() == 0.0);
        if self.errors.iter().all(|e| e.2 == rounding) && self.scene.positions.par_iter().all(on_lattice) {
            return None;
        }
        let least = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].min(b[1])];
        let rest = self.errors.iter().map(|e| e.2).reduce(least)?;
        // one side for all: a larger square says the same of some more ground
        let side = self.errors.iter().map(|e| e.1).fold(0.0, f64::max);
        let squares = self.errors.iter().filter(|e| e.2 != rest);
        let mut squares: Vec<[f64; 4]> = squares.map(|([x, y], _, [plan, height])| [*x, *y, *plan, *height]).collect();
        squares.sort_unstable_by(|a, b| a.partial_cmp(b).expect("numbers"));
        squares.dedup();
        Some(SourceError { rest, side, squares })
    }
}

impl Placed {
    fn new(part: &Part) -> Result<Self, NoMerge> {
        let Part { terrain: t, name, place } = part;
        let mut scene = again::scene(t).map_err(|fields| NoMerge::Fields(name.clone(), fields))?;
        let ([cos, sin], [dx, dy, dz]) = (cos_sin(place.yaw_deg), place.translate);
        let turned = |x: f64, y: f64| [x * cos - y * sin, x * sin + y * cos];
        let mut most = [0.0f64; 2];
        for p in &mut scene.positions {
            let ([x, y], z) = (turned(p[0], p[1]), p[2]);
            most = [most[0].max(x.abs() + y.abs()), most[1].max(z.abs())];
            *p = [x + dx, y + dy, z + dz];
        }
        let noise = place.noise(most);
        let h = t.header();
        let side = exp2(h.tile_log2 as i32 + h.xy_log2);
        let low = |n: i32, i: usize| (h.origin[i] + (i64::from(n) << h.tile_log2)) as f64 * exp2(h.xy_log2);
        let wide = side * (cos.abs() + sin.abs());
        let of = |tile: read::TileView| {
            let [x, y] = turned(low(tile.head.x, 0) + side / 2.0, low(tile.head.y, 1) + side / 2.0);
            let corner = [x + dx, y + dy].map(|middle| middle - wide / 2.0 - noise[0]);
            let error = [0, 1].map(|i| tile.head.error[i] + noise[i]);
            (corner, wide + 2.0 * noise[0], error)
        };
        let errors = read::tiles(t).map(of).collect();
        Ok(Placed { scene, errors })
    }
}

impl Place {
    /// More than the arithmetic of turning and moving is off by in plan and height, if the sum of x and y is so far from the zero at
    /// most, and z so far; metres. Nothing, if all of it is exact.
    fn noise(&self, [plan, height]: [f64; 2]) -> [f64; 2] {
        let [dx, dy, dz] = self.translate;
        // every lattice has such places, and a double the sum of two
        let is_exact = |v: f64| v.abs() < exp2(27) && (v * exp2(24)).fract() == 0.0;
        let turns = self.yaw_deg % 90.0 != 0.0;
        let own = |exact: bool, reach: f64| if exact { 0.0 } else { reach * exp2(-49) };
        let in_plan = !turns && is_exact(dx) && is_exact(dy) && plan < exp2(27);
        let in_height = is_exact(dz) && height < exp2(27);
        [own(in_plan, plan + dx.abs() + dy.abs()), own(in_height, height + dz.abs())]
    }
}

/// The first property that two materials of one name do not share.
fn difference(a: &Material, b: &Material) -> Option<(&'static str, [String; 2])> {
    let whole = |m: &Material| [m.surface.to_string(), m.label.to_string(), m.priority.to_string()];
    let ([surface, label, priority], [surface_b, label_b, priority_b]) = (whole(a), whole(b));
    let classes = |m: &Material| format!("{:?}", again::classes(m.class_mask));
    let all = [
        ("mu", [decimal(a.mu), decimal(b.mu)]),
        ("rr", [decimal(a.rr), decimal(b.rr)]),
        ("gain", [decimal(a.gain), decimal(b.gain)]),
        ("surface_type", [surface, surface_b]),
        ("cone_index", [decimal(a.cone_index), decimal(b.cone_index)]),
        ("classes", [classes(a), classes(b)]),
        ("label", [label, label_b]),
        ("priority", [priority, priority_b]),
        ("include", [a.include.to_string(), b.include.to_string()]),
        ("obstacle", [a.obstacle.to_string(), b.obstacle.to_string()]),
        ("undersides", [a, b].map(|m| format!("{:?}", m.undersides).to_lowercase())),
    ];
    all.into_iter().find(|(_, [a, b])| a != b)
}
