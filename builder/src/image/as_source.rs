//! Images as what others are built from: their ground as a scene, and the settings that they record.

use crate::image::provenance::Provenance;
use crate::image::{decode, rays};
use crate::options::{Fallback, Options, SourceError, Undersides};
use crate::scene::{DEFAULT_MU, Material, Scene, Triangle, Wall};
use crate::settings::MaterialRule;
use crate::settings::Settings;
use crate::util::exact::exp2;
use crate::util::steps::Steps;
use hardpan::{Terrain, format::section};
use hardpan_shaders::Face;
use std::collections::{HashMap, HashSet};

/// The ground and the walls of a verified image: its triangles, whose corners are lattice points in exact metres, its
/// height fields, and all of its materials and sources. An image has no undersides: all of it is ground.
pub fn scene(t: &Terrain) -> Scene {
    let h = t.header();
    let (mut vertices, faces) = decode::mesh(t);
    let triangle = |f: &Face| Triangle { v: f.v, material: f.material, source: f.source };
    let steps = Steps::of(h);
    let place = |v: &[i32; 3]| [0, 1, 2].map(|i| steps.place(i, v[i].into()));
    let material = |m| Material { undersides: Some(Undersides::Ground), ..material(t, m) };
    let mut numbers: HashMap<[i32; 3], u32> = HashMap::new();
    let ground = vertices.len();
    let mut wall = |w: rays::Wall| {
        let mut number = |p: [i32; 3]| match vertices[..ground].binary_search(&p) {
            Ok(v) => v as u32,
            Err(_) => *numbers.entry(p).or_insert_with(|| {
                vertices.push(p);
                vertices.len() as u32 - 1
            }),
        };
        let triangle = Triangle { v: w.corners.map(&mut number), material: w.material, source: w.source };
        Wall { triangle, kind: w.kind }
    };
    let walls: Vec<Wall> = rays::walls(t).into_iter().map(&mut wall).collect();
    Scene {
        walls,
        fields: decode::fields(t),
        triangles: faces.iter().map(triangle).collect(),
        positions: vertices.iter().map(place).collect(),
        materials: (0..t.materials().len() as u16).map(material).collect(),
        sources: (0..t.source_count() as u16).map(|s| t.source_name(s).into()).collect(),
    }
}

/// One of an image's materials.
pub fn material(t: &Terrain, number: u16) -> Material {
    let Some(m) = t.materials().get(usize::from(number)) else { return Material::default() };
    Material {
        name: t.material_name(number).into(),
        mu: m.mu,
        rr: m.rolling,
        gain: m.gain,
        surface: m.surface,
        cone_index: m.cone_index,
        class_mask: m.class_mask,
        label: m.label,
        priority: m.priority,
        precedence: m.precedence,
        obstacle: m.is_obstacle(),
        friction_only: m.is_friction_only(),
        ..Material::default()
    }
}

/// The builder's record, if it can be read.
pub fn provenance(t: &Terrain) -> Option<Provenance> {
    let text = std::str::from_utf8(t.section(section::PROVENANCE)?).ok()?;
    Provenance::parse(text).ok()
}

/// The settings that the builder recorded, if it did.
pub fn recorded(t: &Terrain) -> Option<Settings> {
    provenance(t).filter(|known| !known.frame.is_empty()).map(|known| known.settings)
}

/// Names of an image's materials whose mu nobody stated, as far as it is recorded.
pub fn mu_by_default(t: &Terrain) -> HashSet<String> {
    provenance(t).map(|known| known.mu_by_default.into_iter().collect()).unwrap_or_default()
}

/// The settings of an image, with all of its materials by name; without a record what its head has.
pub fn settings_of(t: &Terrain) -> Settings {
    let known = recorded(t).unwrap_or_else(|| Settings { build: options(t), ..Settings::default() });
    let mut by_name: HashMap<&Option<String>, &MaterialRule> = HashMap::new();
    known.materials.iter().for_each(|rule| _ = by_name.entry(&rule.name).or_insert(rule));
    let rule = |m: u16| {
        let mut rule = MaterialRule::from(&material(t, m));
        // what of a material was left out stands only in the record
        if let Some(known) = by_name.get(&rule.name) {
            rule.include = known.include.or(rule.include);
            rule.obstacle = known.obstacle.or(rule.obstacle);
            rule.undersides = known.undersides;
            rule.optional = known.optional;
        }
        rule
    };
    let materials = (0..t.materials().len() as u16).map(rule).collect();
    Settings { materials, ..known }
}

/// Numbers of the bits that are set.
pub fn classes(mask: u32) -> Vec<u32> {
    (0..32).filter(|c| mask >> c & 1 == 1).collect()
}

/// The settings with which an image is built again; what nobody stated they do not state either.
pub fn settings_again(t: &Terrain) -> Settings {
    let known = settings_of(t);
    Settings { materials: stated(t, &known).into_iter().flatten().collect(), ..known }
}

/// Settings of all materials of an image. A material without a stated mu has no entry. A mu other than the default
/// has one.
pub fn stated(t: &Terrain, known: &Settings) -> Vec<Option<MaterialRule>> {
    let by_default = mu_by_default(t);
    let unstated = |rule: &MaterialRule| rule.name.as_ref().is_some_and(|name| by_default.contains(name));
    let stated = |rule: &MaterialRule| {
        let mut rule = rule.clone();
        if unstated(&rule) && rule.mu.take() != Some(DEFAULT_MU) {
            return None;
        }
        Some(rule)
    };
    let all: Vec<_> = known.materials.iter().map(stated).collect();
    // settings without entries leave what their source has
    if all.iter().all(Option::is_none) { known.materials.iter().cloned().map(Some).collect() } else { all }
}

/// Build options as far as an image's head has them.
fn options(t: &Terrain) -> Options {
    let h = t.header();
    let metres = |z: i64| Steps::of(h).query_height(z);
    let fallback = [Fallback::BoundsMinZ, Fallback::Default, Fallback::Miss, Fallback::EdgeExtend];
    Options {
        xy_log2: h.xy_log2,
        z_log2: h.z_log2,
        tile_log2: u8::try_from(h.tile_log2).ok(),
        near: metres(h.near),
        far: metres(h.far),
        layer_merge: metres(h.layer_merge),
        precedence_band: if t.has_precedence() { metres(h.precedence_band) } else { Options::BAND },
        fallback: fallback.into_iter().find(|f| *f as u32 == h.fallback).unwrap_or_default(),
        default_z: metres(h.default_z),
        default_mu: h.default_mu,
        default_rr: h.default_rolling,
        default_gain: h.default_gain,
        rays: rays::again(rays::stored(t), None),
        ..Options::default()
    }
}

/// Error of a tile against its source, metres.
pub struct TileError {
    /// Its least corner.
    pub low: [f64; 2],
    pub side: f64,
    /// In plan and height.
    pub error: [f64; 2],
}

/// Error of each tile of an image.
pub fn errors(t: &Terrain) -> Vec<TileError> {
    let h = t.header();
    let steps = Steps::of(h);
    let low = |n: i32, i: usize| steps.place(i, i64::from(n) << h.tile_log2);
    let side = steps.power(h.tile_log2);
    let of = |t: decode::TileView| TileError { low: [low(t.head.x, 0), low(t.head.y, 1)], side, error: t.head.error };
    decode::tiles(t).map(of).collect()
}

/// Error of ground with these tiles, on a lattice of these steps; none if it is half a step of rounding everywhere, as
/// of any mesh. `on_lattice`: nothing of it is rounded again.
pub fn source_error(tiles: &[TileError], steps: [i32; 2], on_lattice: bool) -> Option<SourceError> {
    let half = steps.map(|log2| exp2(log2 - 1));
    let rounding = [half[0] * std::f64::consts::SQRT_2, half[1]];
    if on_lattice && tiles.iter().all(|t| t.error == rounding) {
        return None;
    }
    let rest = tiles.iter().map(|t| t.error).reduce(|a, b| [a[0].min(b[0]), a[1].min(b[1])])?;
    // one side for all: a larger square says the same of some more ground
    let side = tiles.iter().map(|t| t.side).fold(0.0, f64::max);
    let squares = tiles.iter().filter(|t| t.error != rest).map(|t| [t.low[0], t.low[1], t.error[0], t.error[1]]);
    let mut squares: Vec<[f64; 4]> = squares.collect();
    squares.sort_unstable_by(|a, b| a.partial_cmp(b).expect("numbers"));
    squares.dedup();
    Some(SourceError { rest, side, squares })
}

/// The licences of settings, each once.
pub fn licences<'a>(all: impl Iterator<Item = &'a Settings>) -> String {
    let mut licences: Vec<&str> = all.flat_map(|s| &s.sources).map(|s| s.licence.as_str()).collect();
    licences.retain(|licence| !licence.is_empty());
    licences.sort_unstable();
    licences.dedup();
    licences.join("; ")
}
