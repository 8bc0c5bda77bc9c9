//! Images as what others are built from: their ground as a scene, and the settings that they record.

use crate::lattice::{Face, exp2};
use crate::merge::{Merged, NoMerge, Part, Place};
use crate::settings::{Applied, MaterialRule, SettingsError, SourceFile};
use crate::{
    BuildError, Built, Factors, Fallback, Input, Job, Material, Near, Options, Provenance, Scene, Settings,
    SourceError, Triangle, Undersides, export, import, read,
};
use hardpan::{Terrain, format::section};
use hardpan_shaders::Stages;
#[cfg(feature = "json")]
use serde_json::{Value, json};
use std::{
    collections::{HashMap, HashSet},
    fmt,
};

/// Why the ground of an image is no scene of triangles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// So many blocks of it are height fields: triangles between their posts would have other heights.
    pub blocks: u64,
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} blocks of the ground are height fields, and no triangles have the same heights", self.blocks)
    }
}

impl std::error::Error for Fields {}

/// The ground of a verified image: its triangles, whose corners are lattice points in exact metres, and all of its materials and
/// sources. An image has no undersides: all of it is ground.
pub fn scene(t: &Terrain) -> Result<Scene, Fields> {
    let h = t.header();
    if h.patch_blocks > 0 {
        return Err(Fields { blocks: h.patch_blocks });
    }
    let (vertices, faces) = read::mesh(t);
    let triangle = |f: &Face| Triangle { v: f.v, material: f.material, source: f.source };
    let step = [h.xy_log2, h.xy_log2, h.z_log2].map(exp2);
    let place = |v: &[i32; 3]| [0, 1, 2].map(|i| (h.origin[i] + i64::from(v[i])) as f64 * step[i]);
    let material = |m| Material { undersides: Some(Undersides::Ground), ..export::material(t, m) };
    Ok(Scene {
        triangles: faces.iter().map(triangle).collect(),
        positions: vertices.iter().map(place).collect(),
        materials: (0..t.materials().len() as u16).map(material).collect(),
        sources: (0..t.source_count() as u16).map(|s| t.source_name(s).into()).collect(),
        fields: Vec::new(),
    })
}

/// What the builder recorded, if it can be read.
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
        let mut rule = MaterialRule::from(&export::material(t, m));
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

/// All that the materials of an image have, as a list.
#[cfg(feature = "json")]
pub fn materials(t: &Terrain) -> Value {
    let included = included(t);
    let material = |(i, m): (usize, &hardpan::format::Material)| {
        json!({
            "name": t.material_name(i as u16), "mu": m.mu, "rr": m.rolling, "gain": m.gain, "surface_type": m.surface,
            "classes": classes(m.class_mask), "cone_index": m.cone_index, "label": m.label, "priority": m.priority,
            "obstacle": m.flags & 1 == 1, "include": included[i],
        })
    };
    t.materials().iter().enumerate().map(material).collect()
}

/// Of each material whether its faces were used at all: that stands in the record beside the table.
pub fn included(t: &Terrain) -> Vec<bool> {
    settings_of(t).materials.iter().map(|rule| rule.include != Some(false)).collect()
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

/// What settings say of an image's materials, of which these are all that they have: of some whose mu nobody stated nothing, for
/// what no entry fits has another one than what an entry leaves out.
pub fn stated(t: &Terrain, known: &Settings) -> Vec<Option<MaterialRule>> {
    let by_default = mu_by_default(t);
    let unstated = |rule: &MaterialRule| rule.name.as_ref().is_some_and(|name| by_default.contains(name));
    let stated = |rule: &MaterialRule| {
        let mut rule = rule.clone();
        if unstated(&rule) && rule.mu.take() != Some(import::DEFAULT_MU) {
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
    let metres = |z: i64| z as f64 * 2f64.powi(h.z_log2 - 8);
    let fallback = [Fallback::BoundsMinZ, Fallback::Default, Fallback::Miss, Fallback::EdgeExtend];
    Options {
        xy_log2: h.xy_log2,
        z_log2: h.z_log2,
        tile_log2: u8::try_from(h.tile_log2).ok(),
        near: metres(h.near),
        far: metres(h.far),
        layer_merge: metres(h.layer_merge),
        fallback: fallback.into_iter().find(|f| *f as u32 == h.fallback).unwrap_or_default(),
        default_z: metres(h.default_z),
        default_mu: h.default_mu,
        default_rr: h.default_rolling,
        default_gain: h.default_gain,
        ..Options::default()
    }
}

/// The licences of settings, each once.
pub fn licences<'a>(all: impl Iterator<Item = &'a Settings>) -> String {
    let mut licences: Vec<&str> = all.flat_map(|s| &s.sources).map(|s| s.licence.as_str()).collect();
    licences.retain(|licence| !licence.is_empty());
    licences.sort_unstable();
    licences.dedup();
    licences.join("; ")
}

/// Why an image is not built again.
#[derive(Clone, Debug, PartialEq)]
pub enum NotAgain {
    /// It is no scene of triangles.
    Fields(Fields),
    /// The settings do not fit it.
    Settings(SettingsError),
    /// What is asked for cannot be.
    Build(BuildError),
}

impl fmt::Display for NotAgain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotAgain::Fields(e) => e.fmt(f),
            NotAgain::Settings(e) => e.fmt(f),
            NotAgain::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for NotAgain {}

/// An image on its way to be built from itself, by the settings that it records or by others.
///
/// What its own settings say of repairs has been done to its ground. Where others say the same of weld, stitch, slopes or undersides, on
/// the same lattice, it is not done again; origin and tiles stay as they are then, too. What they say otherwise is done to the ground as
/// it is: nothing that was mended or left out comes back.
pub struct Rebuild {
    /// The ground, with the materials that it gets.
    pub scene: Scene,
    /// What is done.
    pub options: Options,
    /// What the settings did to its materials; none were given if it keeps its own.
    pub applied: Option<Applied>,
    /// Whether nothing changes: then the file is the same, bit by bit, if this version of the builder made it and recorded how.
    pub same: bool,
    asked: Settings,
    /// Materials by name, as they are recorded.
    undersides: HashMap<String, Option<Undersides>>,
    mu_by_default: Vec<String>,
    factors: Factors,
}

impl Rebuild {
    /// Of a verified image. Settings that are not given are those that it records; `over` puts what is typed before them.
    pub fn new(
        t: &Terrain,
        settings: Option<&Settings>,
        over: impl FnOnce(&mut Options),
        factors: &Factors,
    ) -> Result<Self, NotAgain> {
        let mut known = settings_of(t);
        known.rules.clear(); // their materials are there by name
        let mut asked = settings.unwrap_or(&known).clone();
        settings.map_or(Ok(()), no_files).map_err(NotAgain::Build)?;
        over(&mut asked.build);
        if asked.crs.is_empty() {
            asked.crs.clone_from(&known.crs);
        }
        let image = Part { terrain: *t, name: String::new(), place: Place::default() };
        let merged = Merged::new(&[image]).map_err(|e| match e {
            NoMerge::Fields(_, fields) => NotAgain::Fields(fields),
            e => NotAgain::Build(BuildError::Scene(e.to_string())),
        })?;
        no_mesh(&asked, known.build.source_error.as_ref()).map_err(NotAgain::Build)?;
        asked.build.check().map_err(NotAgain::Build)?;
        let source_error = merged.source_error([asked.build.xy_log2, asked.build.z_log2]);
        let mut scene = merged.scene;
        scene.materials.iter_mut().for_each(|m| m.undersides = None);
        let mut recorded = Scene { materials: scene.materials.clone(), ..Scene::default() };
        known.apply(&mut recorded).map_err(NotAgain::Settings)?;
        let old = recorded.materials;
        let applied = asked.apply(&mut scene).map_err(NotAgain::Settings)?;
        let mut new = scene.materials;
        factors.apply(&mut new).map_err(NotAgain::Build)?;
        let before = mu_by_default(t);
        let mu_by_default = match settings {
            _ if factors.states_mu() => HashSet::new(),
            Some(_) => applied.unstated(&asked, |name| before.contains(name)),
            None => before.clone(),
        };
        let same = factors.is_none()
            && asked.rules.is_empty()
            && provenance(t).is_some_and(|p| p.is_own())
            && (&old, &known.build, &known.crs, &before) == (&new, &asked.build, &asked.crs, &mu_by_default);

        let h = t.header();
        let on_lattice = [asked.build.xy_log2, asked.build.z_log2] == [h.xy_log2, h.z_log2];
        let (was, now) = (&known.build, &asked.build);
        let step = [h.xy_log2, h.xy_log2, h.z_log2].map(exp2);
        let origin = [0, 1, 2].map(|i| h.origin[i] as f64 * step[i]);
        let done = |same: bool| on_lattice && same;
        let options = Options {
            tile_log2: if done(was.tile_log2 == now.tile_log2) {
                u8::try_from(h.tile_log2).ok()
            } else {
                now.tile_log2
            },
            origin: if done(was.origin == now.origin) { Some(origin) } else { now.origin },
            weld: if done(was.weld == now.weld) { Near::default() } else { now.weld },
            stitch: if done(was.stitch == now.stitch) { None } else { now.stitch },
            max_slope: if done(was.max_slope == now.max_slope) { None } else { now.max_slope },
            undersides: Undersides::Ground,
            source_error,
            ..now.clone()
        };
        let undersides = new.iter().map(|m| (m.name.clone(), m.undersides)).collect();
        let before: HashMap<&str, Option<Undersides>> = old.iter().map(|m| (m.name.as_str(), m.undersides)).collect();
        for m in &mut new {
            let old = before.get(m.name.as_str()).copied().flatten().unwrap_or(was.undersides);
            let new = m.undersides.unwrap_or(now.undersides);
            m.undersides = Some(if done(old == new) { Undersides::Ground } else { new });
        }
        scene.materials = new;
        let mut mu_by_default: Vec<String> = mu_by_default.into_iter().collect();
        mu_by_default.sort_unstable();
        let licence = licences([&known].into_iter());
        asked.sources = vec![SourceFile { licence, ..SourceFile::default() }];
        let applied = settings.map(|_| applied);
        Ok(Rebuild { scene, options, applied, same, asked, undersides, mu_by_default, factors: *factors })
    }

    /// Builds it from the same image, whose file this is.
    pub fn build(&self, t: &Terrain, file: &Input, stages: &dyn Stages) -> Result<Built, BuildError> {
        let text = |materials: &[Material]| {
            if self.same {
                let text = t.section(section::PROVENANCE).unwrap_or_default();
                return String::from_utf8_lossy(text).into_owned();
            }
            let mut settings = self.asked.clone();
            settings.sources.iter_mut().for_each(|s| s.file.clone_from(&file.file));
            let (inputs, mu_by_default) = (vec![file.clone()], self.mu_by_default.clone());
            let factors = (!self.factors.is_none()).then_some(self.factors);
            let known = Provenance { inputs, mu_by_default, settings, factors, ..Provenance::default() };
            let recorded = Options { source_error: self.options.source_error.clone(), ..self.asked.build.clone() };
            let undersides = |m: &Material| self.undersides.get(&m.name).copied().flatten();
            let material = |m: &Material| Material { undersides: undersides(m), ..m.clone() };
            known.text(&recorded, &materials.iter().map(material).collect::<Vec<_>>())
        };
        let job = Job::new_on(&self.scene, &self.options, stages)?;
        let tiles = job.all(stages)?;
        job.image_saying(tiles, text)
    }
}

/// That settings of a mesh say what no image can have, but for this error of its sources, which it has already.
pub fn no_mesh(settings: &Settings, known: Option<&SourceError>) -> Result<(), BuildError> {
    if settings.raster.is_some() {
        let text = "raster makes heights of a mesh, and not of an image; build from the sources, or take it out";
        return Err(BuildError::Option(text.into()));
    }
    match &settings.build.source_error {
        Some(error) if Some(error) != known => {
            let text = "source_error is of a mesh, and an image states its own error; take it out of [build]";
            Err(BuildError::Option(text.into()))
        }
        _ => Ok(()),
    }
}

/// That settings say of files what the images made of them have already.
pub fn no_files(settings: &Settings) -> Result<(), BuildError> {
    let says = |source: &&SourceFile| source.gives() != MaterialRule::default();
    match settings.sources.iter().find(says) {
        Some(source) => Err(BuildError::Option(format!(
            "[[source]] {:?} says what its faces are, and an image knows no files; say it of an object: [[rule]] object = \"NAME\"",
            source.file
        ))),
        None => Ok(()),
    }
}
