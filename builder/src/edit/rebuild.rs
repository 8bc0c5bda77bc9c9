//! An image built from itself.

use crate::build::Built;
use crate::build::error::BuildError;
use crate::build::job::Job;
use crate::edit::merge::{Merged, NoMerge, Part, Place, only_ground};
use crate::edit::{no_files, no_mesh};
use crate::image::as_source::{licences, mu_by_default, provenance, settings_of};
use crate::image::provenance::{Input, Provenance};
use crate::image::rays;
use crate::options::{Georeference, Near, Options, Undersides};
use crate::scene::{Material, Scene};
use crate::settings::Settings;
use crate::settings::factors::Factors;
use crate::settings::{Applied, SourceFile};
use crate::util::exact::exp2;
use hardpan::{Terrain, format::section};
use hardpan_shaders::Stages;
use std::collections::{HashMap, HashSet};

/// An image on its way to be built from itself, by the settings that it records or by others.
///
/// What its own settings say of repairs has been done to its ground. Where others say the same of weld, stitch, slopes
/// or undersides, on the same lattice, it is not done again; origin and tiles stay as they are then, too. What they say
/// otherwise is done to the ground as it is: nothing that was mended or left out comes back.
pub struct Rebuild {
    /// The ground, with the materials that it gets.
    pub scene: Scene,
    /// What is done.
    pub options: Options,
    /// What the settings did to its materials; none were given if it keeps its own.
    pub applied: Option<Applied>,
    /// Whether nothing changes: then the file is the same, bit by bit, if this version of the builder made it and
    /// recorded how.
    pub same: bool,
    asked: Settings,
    /// Materials by name, as they are recorded.
    undersides: HashMap<String, Option<Undersides>>,
    mu_by_default: Vec<String>,
    factors: Factors,
}

impl Rebuild {
    /// Of a verified image. Settings that are not given are those that it records; `over` puts what is typed before
    /// them.
    pub fn new(
        t: &Terrain,
        settings: Option<&Settings>,
        over: impl FnOnce(&mut Options),
        factors: &Factors,
    ) -> Result<Self, NoMerge> {
        let mut known = settings_of(t);
        known.rules.clear(); // their materials are there by name
        let mut asked = settings.unwrap_or(&known).clone();
        settings.map_or(Ok(()), no_files).map_err(NoMerge::Build)?;
        over(&mut asked.build);
        asked.build.rays = asked.build.rays.or(known.build.rays);
        if asked.crs.is_empty() {
            asked.crs.clone_from(&known.crs);
        }
        let image = Part { terrain: *t, name: String::new(), place: Place::default() };
        let merged = Merged::new(&[image])?;
        no_mesh(&asked, known.build.source_error.as_ref()).map_err(NoMerge::Build)?;
        asked.build.check().map_err(|e| NoMerge::Build(e.into()))?;
        let source_error = merged.source_error([asked.build.xy_log2, asked.build.z_log2]);
        let mut scene = merged.scene;
        scene.materials.iter_mut().for_each(|m| m.undersides = None);
        let mut recorded = Scene { materials: scene.materials.clone(), ..Scene::default() };
        known.apply(&mut recorded).map_err(NoMerge::Settings)?;
        let old = recorded.materials;
        let applied = asked.apply(&mut scene).map_err(NoMerge::Settings)?;
        let mut new = scene.materials;
        factors.apply(&mut new).map_err(|e| NoMerge::Build(e.into()))?;
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
            rays: rays::again(rays::stored(t), now.rays),
            // moves and fits of different tiles add up in what the image states
            least_error: if source_error.is_some() { [h.error_plan, h.error_height] } else { [0.0; 2] },
            source_error,
            crs: Georeference::of(t),
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
        only_ground(&mut scene);
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
