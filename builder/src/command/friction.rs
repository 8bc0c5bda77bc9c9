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

use super::{
    build::read_settings, counted, decimal, few, is_nowhere, materials, named, quoted, report::Report, shown,
    transform::Transform,
};

/// Names of materials of files that name none.
const NAMELESS: [&str; 4] = ["", "unnamed", "default", "none"];

/// How the image's materials came to their friction.
pub struct Origin<'a> {
    pub scene: &'a Scene,
    pub applied: &'a Applied,
    pub rules: &'a Settings,
    /// Whether a warning stops the build.
    pub strict: bool,
    /// Their file.
    pub settings: Option<&'a Path>,
    pub sources: &'a [(PathBuf, SourceFile)],
    /// How they lie, as it was typed.
    pub transform: &'a Transform,
    /// Where the image goes.
    pub output: &'a Path,
}

impl Origin<'_> {
    /// Warns of materials of the ground that no settings speak of, and of those that have the friction that all have by default,
    /// where settings speak of materials or it looks like an oversight; else gives back a note of these.
    pub fn tell(&self, report: &mut Report) -> Option<String> {
        let ground = self.ground();
        let rest = self.rules.materials.iter().any(|m| m.name.as_deref() == Some(""));
        if let Some(list) = list(&ground, &self.applied.unlisted).filter(|_| !rest) {
            report.warn(format!("no entry of the settings fits {list}: mu 1 and rr 1"));
        }
        let plain = &self.applied.plain;
        let list = list(&ground, plain)?;
        let nameless = |name: &str| NAMELESS.contains(&name.to_lowercase().as_str());
        let of = match &self.scene.materials[..] {
            [only] if nameless(&only.name) => "all ground".into(),
            _ => list,
        };
        let mu = self.scene.materials.iter().find(|m| m.name == plain[0]).map_or(0.0, |m| m.mu);
        let who = match self.sources {
            [(only, _)] => named(only),
            _ => named(self.output),
        };
        let have = format!("{who}: mu is {} by default of {of}", decimal(mu));
        if let Some(settings) = self.passed_over() {
            let [name, typed] = [named(&settings), quoted(&settings)];
            report.warn(format!("{have}; {name} says more of materials, and was not given: --settings {typed}"));
            return None;
        }
        let called = if is_nowhere(self.output) { &self.sources[0].0 } else { self.output };
        let toml = quoted(&called.with_extension("toml"));
        if let Some(other) = self.replaced(&ground) {
            let have = format!("{have}, and in {}, which this replaces, {other}", named(self.output));
            report.warn(match self.strict {
                true => format!(
                    "{have}; that image stays: hardpan materials {} -o {toml}, and --settings",
                    quoted(self.output)
                ),
                false => format!("{have}; with --strict that image would have stayed"),
            });
            return None;
        }
        let files: String = self.sources.iter().map(|(file, _)| format!(" {}", quoted(file))).collect();
        let typed = self.transform.typed();
        let told = match self.settings {
            Some(settings) => format!("{have}; state it in {}", named(settings)),
            None => format!("{have}; to state it: hardpan materials{files}{typed} -o {toml}, and --settings"),
        };
        if self.rules.materials.is_empty() {
            return Some(told);
        }
        report.warn(told);
        None
    }

    /// Materials of the ground and their areas in plan, those of most first.
    fn ground(&self) -> Vec<(&str, f64)> {
        let all = self.scene.materials.iter().zip(materials::areas(self.scene));
        let ground = all.filter(|(m, (_, area))| m.include && !m.obstacle && *area > 0.0);
        let mut ground: Vec<(&str, f64)> = ground.map(|(m, (_, area))| (m.name.as_str(), area)).collect();
        ground.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        ground
    }

    /// Settings that state what is not stated here, and lie beside a source or the image under its name, if none were given.
    fn passed_over(&self) -> Option<PathBuf> {
        let beside = self.sources.iter().map(|(file, _)| file.as_path()).chain([self.output]);
        let mut files = beside.flat_map(|file| ["toml", "json"].map(|end| file.with_extension(end)));
        // such as state the friction of some of it
        let speaks = |settings: Settings| {
            let mut materials = Scene { materials: self.scene.materials.clone(), ..Scene::default() };
            let plain = |applied: Applied| applied.plain.len() < self.applied.plain.len();
            !settings.materials.is_empty() && settings.apply(&mut materials).is_ok_and(plain)
        };
        files.find(|file| self.settings.is_none() && file.is_file() && read_settings(file).is_ok_and(speaks))
    }

    /// `0.4 of "Grass", and others of 2 more materials`: friction that nobody states now and that the image that is replaced has
    /// otherwise, of most ground first.
    fn replaced(&self, ground: &[(&str, f64)]) -> Option<String> {
        let image = ImageFile::open(self.output).ok()?;
        let old = Terrain::open(&image).ok()?;
        let had: HashMap<&str, f64> =
            (0..old.materials().len()).map(|i| (old.material_name(i as u16), old.materials()[i].mu)).collect();
        let now: HashMap<&str, f64> = self.scene.materials.iter().map(|m| (m.name.as_str(), m.mu)).collect();
        let plain = ground.iter().filter(|(name, _)| among(&self.applied.plain, name));
        let mut other =
            plain.filter_map(|(name, _)| Some((name, *had.get(name)?))).filter(|(name, mu)| now[*name] != *mu);
        let (name, mu) = other.next()?;
        let more = match other.count() as u64 {
            0 => String::new(),
            more => format!(", and others of {}", counted(more, "more material")),
        };
        Some(format!("{} of {}{more}", decimal(mu), shown(&format!("{name:?}"))))
    }
}

/// `2 of 3 materials ("Grass" 100.0 m2, ...)`: those of the ground with these names; none if there are none.
fn list(ground: &[(&str, f64)], names: &[String]) -> Option<String> {
    let all = ground.len();
    let those: Vec<_> = ground.iter().filter(|(name, _)| among(names, name)).collect();
    let of = if those.len() == all { String::new() } else { format!("{} of ", those.len()) };
    let listed = those.iter().map(|(name, area)| format!("{} {area:.1} m2", shown(&format!("{name:?}"))));
    let count = counted(all as u64, "material");
    (!those.is_empty()).then(|| format!("{of}{count} ({})", few(listed, those.len() as u64)))
}

/// Whether a name is one of a sorted list.
fn among(names: &[String], name: &str) -> bool {
    names.binary_search_by(|n| n.as_str().cmp(name)).is_ok()
}
