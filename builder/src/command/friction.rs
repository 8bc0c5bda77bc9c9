//! Report of a build about materials without a stated friction.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use crate::image::materials::ground;
use crate::scene::Scene;
use crate::settings::{Applied, Settings, SourceFile};
use crate::util::text::MAX_LISTED;
use hardpan::Terrain;

use super::{counted, decimal, few, is_nowhere, named, quoted, report::Report, shown, transform::Transform};

/// How the image's materials came to their friction.
pub struct Origin<'a> {
    pub scene: &'a Scene,
    /// Materials of the image's ground.
    pub applied: &'a Applied,
    pub rules: &'a Settings,
    /// Whether a warning stops the build.
    pub strict: bool,
    /// Their file.
    pub settings: Option<&'a Path>,
    pub sources: &'a [(PathBuf, SourceFile)],
    /// How they lie, as it was typed.
    pub transform: &'a Transform,
    /// The scene that names the sources, if there is one.
    pub scene_file: Option<&'a Path>,
    /// Where the image goes.
    pub output: &'a Path,
}

impl Origin<'_> {
    /// Warns of materials of the ground that no settings name, and of those that have the friction of all by default:
    /// the latter is a note where no settings name materials and warnings stop nothing.
    pub fn tell(&self, image: &Terrain, report: &mut Report) {
        let ground = ground(image);
        if let Some(list) = list(&ground, &self.applied.unlisted).filter(|_| self.rules.rest().is_none()) {
            report.warn(format!("no entry of the settings fits {list}: mu 1 and rr 1"));
        }
        let plain = &self.applied.plain;
        let Some(list) = list(&ground, plain) else { return };
        let mu = self.scene.materials.iter().find(|m| m.name == plain[0]).map_or(0.0, |m| m.mu);
        let who = match self.sources {
            [(only, _)] => named(only),
            _ => named(self.output),
        };
        let have = format!("{who}: mu is {} by default of {list}", decimal(mu));
        let scene = self.scene_file.map(|file| format!(" {}", quoted(file)));
        let is_scene = scene.is_some();
        let (files, typed) = (scene.unwrap_or_else(|| typed_files(self.sources)), self.transform.typed());
        let text = match self.settings {
            Some(settings) => format!("{have}; state it in {}", named(settings)),
            None => {
                let called = if is_nowhere(self.output) { &self.sources[0].0 } else { self.output };
                let toml = quoted(&called.with_extension("toml"));
                format!("{have}; to state it in settings to fill in: hardpan materials{files}{typed} -o {toml}")
            }
        };
        // a scene says which of its objects are obstacles, and nothing of friction
        match self.rules.say_materials() && !is_scene || self.strict {
            true => report.warn(text),
            false => report.note(text),
        }
    }
}

/// The first few of the sources as they are typed, each behind a blank; one that is placed several times once.
pub fn typed_files(sources: &[(PathBuf, SourceFile)]) -> String {
    let mut seen = HashSet::new();
    let mut files = sources.iter().map(|(file, _)| file).filter(|file| seen.insert(*file));
    let first: String = files.by_ref().take(MAX_LISTED).map(|file| format!(" {}", quoted(file))).collect();
    first + if files.next().is_some() { " ..." } else { "" }
}

/// `2 of 3 materials ("Grass" 100.0 m2, ...)`: those of the ground with these sorted names; none if there are none.
fn list(ground: &[(&str, f64)], names: &[String]) -> Option<String> {
    let among = |name: &str| names.binary_search_by(|n| n.as_str().cmp(name)).is_ok();
    let those: Vec<_> = ground.iter().filter(|(name, _)| among(name)).collect();
    let of = if those.len() == ground.len() { String::new() } else { format!("{} of ", those.len()) };
    let listed = those.iter().map(|(name, area)| format!("{} {area:.1} m2", shown(&format!("{name:?}"))));
    let count = counted(ground.len() as u64, "material");
    (!those.is_empty()).then(|| format!("{of}{count} ({})", few(listed, those.len() as u64)))
}
