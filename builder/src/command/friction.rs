//! What a build says of friction that nobody stated.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use hardpan::Terrain;
use hardpan_builder::{
    ImageFile, Scene, Settings,
    settings::{Applied, SourceFile},
};

use super::{build::read_settings, counted, decimal, few, is_nowhere, materials, named, quoted, report::Report, shown};

/// Names of materials of files that name none.
const NAMELESS: [&str; 4] = ["", "unnamed", "default", "none"];

/// How the image's materials came to their friction.
pub struct Origin<'a> {
    pub scene: &'a Scene,
    pub applied: &'a Applied,
    pub rules: &'a Settings,
    /// Their file.
    pub settings: Option<&'a Path>,
    pub sources: &'a [(PathBuf, SourceFile)],
    /// Where the image goes.
    pub output: &'a Path,
}

impl Origin<'_> {
    /// Warns of materials of the ground that no settings speak of, and of those that have the friction that all have by default,
    /// where it looks like an oversight; else gives back a note of these.
    pub fn tell(&self, report: &mut Report) -> Option<String> {
        let rest = self.rules.materials.iter().any(|m| m.name.as_deref() == Some(""));
        if let Some(list) = self.list(&self.applied.unlisted).filter(|_| !rest) {
            report.warn(format!("no entry of the settings fits {list}: mu 1 and rr 1"));
        }
        let plain = &self.applied.plain;
        let list = self.list(plain)?;
        let mu = |name: &String| self.scene.materials.iter().find(|m| m.name == *name).map_or(0.0, |m| m.mu);
        let who = match self.sources {
            [(only, _)] => named(only),
            _ => named(self.output),
        };
        let have = format!("{who}: mu is {} by default of {list}", decimal(mu(&plain[0])));
        if let Some(settings) = self.passed_over() {
            let [name, typed] = [named(&settings), quoted(&settings)];
            report.warn(format!("{have}; {name} says more of materials, and was not given: --settings {typed}"));
            return None;
        }
        let called = if is_nowhere(self.output) { &self.sources[0].0 } else { self.output };
        let toml = quoted(&called.with_extension("toml"));
        if let Some((name, other)) = self.replaced(plain) {
            report.warn(format!(
                "{have}, and in {}, which this replaces, {} of {name:?}; --strict keeps that image, and its settings are written by: hardpan materials {} -o {toml}",
                named(self.output),
                decimal(other),
                quoted(self.output),
            ));
            return None;
        }
        if matches!(&self.scene.materials[..], [only] if NAMELESS.contains(&only.name.to_lowercase().as_str())) {
            return None;
        }
        let files: Vec<String> = self.sources.iter().map(|(file, _)| quoted(file)).collect();
        Some(match self.settings {
            Some(settings) => format!("{have}; state it in {}", named(settings)),
            None => format!("{have}; to state it: hardpan materials {} -o {toml}, and --settings", files.join(" ")),
        })
    }

    /// `2 of 3 materials ("Grass" 100.0 m2, ...)`, those of most ground first; none if there is no ground of them.
    fn list(&self, names: &[String]) -> Option<String> {
        let areas = materials::areas(self.scene);
        let ground =
            self.scene.materials.iter().zip(areas).filter(|(m, (_, area))| m.include && !m.obstacle && *area > 0.0);
        let mut ground: Vec<(&str, f64)> = ground.map(|(m, (_, area))| (m.name.as_str(), area)).collect();
        let all = ground.len();
        ground.retain(|(name, _)| among(names, name));
        ground.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let of = if ground.len() == all { String::new() } else { format!("{} of ", ground.len()) };
        let listed = ground.iter().map(|(name, area)| format!("{} {area:.1} m2", shown(&format!("{name:?}"))));
        let count = counted(all as u64, "material");
        (!ground.is_empty()).then(|| format!("{of}{count} ({})", few(listed, ground.len() as u64)))
    }

    /// Settings with materials that lie beside a source or the image under its name, if none were given.
    fn passed_over(&self) -> Option<PathBuf> {
        let beside = self.sources.iter().map(|(file, _)| file.as_path()).chain([self.output]);
        let mut files = beside.flat_map(|file| ["toml", "json"].map(|end| file.with_extension(end)));
        let speaks = |settings: Settings| !settings.materials.is_empty();
        files.find(|file| self.settings.is_none() && file.is_file() && read_settings(file).is_ok_and(speaks))
    }

    /// One of these materials that has another friction in the image that is replaced, and which.
    fn replaced(&self, names: &[String]) -> Option<(String, f64)> {
        let image = ImageFile::open(self.output).ok()?;
        let old = Terrain::open(&image).ok()?;
        let mut had = (0..old.materials().len()).map(|i| (old.material_name(i as u16), old.materials()[i].mu));
        let now: HashMap<&str, f64> = self.scene.materials.iter().map(|m| (m.name.as_str(), m.mu)).collect();
        had.find(|(name, mu)| among(names, name) && now.get(name).is_some_and(|now| now != mu))
            .map(|(name, mu)| (name.into(), mu))
    }
}

/// Whether a name is one of a sorted list.
fn among(names: &[String], name: &str) -> bool {
    names.binary_search_by(|n| n.as_str().cmp(name)).is_ok()
}
