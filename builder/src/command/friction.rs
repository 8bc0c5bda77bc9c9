//! What a build says of friction that nobody stated.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use crate::{
    ImageFile, Scene, Settings,
    names::FEW,
    settings::{Applied, MaterialRule, SourceFile},
};
use hardpan::Terrain;

use super::{
    build::read_settings, counted, decimal, few, is_nowhere, materials, named, quoted, report::Report, shown,
    transform::Transform,
};

/// Names of materials of files that name none.
const NAMELESS: [&str; 4] = ["", "unnamed", "default", "none"];

/// How the image's materials came to their friction.
pub struct Origin<'a> {
    pub scene: &'a Scene,
    /// Of the materials of the image's ground.
    pub applied: &'a Applied,
    pub rules: &'a Settings,
    /// Whether a warning stops the build.
    pub strict: bool,
    /// Their file.
    pub settings: Option<&'a Path>,
    pub sources: &'a [(PathBuf, SourceFile)],
    /// How they lie, as it was typed.
    pub transform: &'a Transform,
    /// Whether it was typed that what lies outside the domain is left out.
    pub dropping: bool,
    /// Where the image goes.
    pub output: &'a Path,
}

impl Origin<'_> {
    /// Warns of materials of the image's ground that no settings speak of, and of those that have the friction that all have by
    /// default, where settings speak of materials, or warnings stop the build, or it looks like an oversight; else gives back a note
    /// of these.
    pub fn tell(&self, image: &Terrain, report: &mut Report) -> Option<String> {
        if self.applied.unlisted.is_empty() && self.applied.plain.is_empty() && self.applied.slips.is_empty() {
            return None;
        }
        let ground = ground(image);
        if let Some(list) = list(&ground, &self.applied.unlisted).filter(|_| self.rules.rest().is_none()) {
            report.warn(format!("no entry of the settings fits {list}: mu 1 and rr 1"));
        }
        for (name, title) in &self.applied.slips {
            let [name, title] = [name, title].map(|text| shown(&format!("{text:?}")));
            report.warn(format!("{name} is not the {title} of the settings, though only capitals or blanks differ, and has what the entry named \"\" says; give it an entry of its own"));
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
        if let Some(settings) = self.passed_over(plain) {
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
                    "{have}; that image stays; to keep that build with --settings {toml}, which this writes: hardpan materials {} -o {toml}",
                    quoted(self.output)
                ),
                false => format!("{have}; with --strict that image would have stayed"),
            });
            return None;
        }
        let (files, typed) = (typed_files(self.sources), self.transform.typed());
        let told = match self.settings {
            Some(settings) if self.rules.materials.is_empty() => format!(
                "{have}; state it in {}, of which entries to copy are written by: hardpan materials{files}{typed} -o -",
                named(settings)
            ),
            Some(settings) => format!("{have}; state it in {}", named(settings)),
            None => format!(
                "{have}; to state it build with --settings {toml}{}, which this writes to fill in: hardpan materials{files}{typed} -o {toml}",
                if self.dropping { " --drop-outliers" } else { "" }
            ),
        };
        if !self.rules.say_materials() && !self.strict {
            return Some(told);
        }
        report.warn(told);
        None
    }

    /// Settings that state the friction of some of these, and lie beside a source or the image under its name, if none that speak of
    /// materials were given.
    fn passed_over(&self, plain: &[String]) -> Option<PathBuf> {
        let beside = self.sources.iter().map(|(file, _)| file.as_path()).chain([self.output]);
        let mut files = beside.flat_map(|file| ["toml", "json"].map(|end| file.with_extension(end)));
        let states = |rule: &MaterialRule| match &rule.name {
            Some(name) if !name.is_empty() => among(plain, name),
            _ => plain.iter().any(|name| rule.fits(name)),
        };
        let speaks = |settings: Settings| settings.materials.iter().any(|rule| rule.mu.is_some() && states(rule));
        files.find(|file| self.rules.materials.is_empty() && file.is_file() && read_settings(file).is_ok_and(speaks))
    }

    /// `mu 0.4 of "Grass", and others of 2 more materials`: friction that nobody states now and that the image that is replaced has
    /// otherwise, of most ground first.
    fn replaced(&self, ground: &[(&str, f64)]) -> Option<String> {
        let image = ImageFile::open(self.output).ok()?;
        let old = Terrain::open(&image).ok()?;
        let had = old.materials().iter().zip(0..).map(|(m, i)| (old.material_name(i), [m.mu, m.rolling, m.gain]));
        let had: HashMap<&str, [f64; 3]> = had.collect();
        let now = self.scene.materials.iter().map(|m| (m.name.as_str(), [m.mu, m.rr, m.gain]));
        let now: HashMap<&str, [f64; 3]> = now.collect();
        let plain = ground.iter().filter(|(name, _)| among(&self.applied.plain, name));
        let mut other = plain.filter_map(|(name, _)| {
            let (had, now) = (had.get(name)?, now.get(name)?);
            let i = (0..3).find(|&i| had[i] != now[i])?;
            Some(format!("{} {} of {}", ["mu", "rr", "gain"][i], decimal(had[i]), shown(&format!("{name:?}"))))
        });
        let first = other.next()?;
        let more = match other.count() as u64 {
            0 => String::new(),
            more => format!(", and others of {}", counted(more, "more material")),
        };
        Some(first + &more)
    }
}

/// Materials of an image's triangles and their areas in plan, those of most first.
pub fn ground<'a>(image: &Terrain<'a>) -> Vec<(&'a str, f64)> {
    let all = materials::areas_in(image).into_iter().zip(0..).filter(|((triangles, _), _)| *triangles > 0);
    let mut ground: Vec<(&str, f64)> = all.map(|((_, area), m)| (image.material_name(m), area)).collect();
    ground.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    ground
}

/// The first few of the sources as they are typed, each behind a blank.
pub fn typed_files(sources: &[(PathBuf, SourceFile)]) -> String {
    // one that is placed several times has its names once
    let mut files: Vec<&Path> = Vec::new();
    for (file, _) in sources {
        if !files.contains(&file.as_path()) {
            files.push(file);
        }
        if files.len() > FEW {
            break;
        }
    }
    let more = if files.len() > FEW { " ..." } else { "" };
    files.iter().take(FEW).map(|file| format!(" {}", quoted(file))).collect::<String>() + more
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
