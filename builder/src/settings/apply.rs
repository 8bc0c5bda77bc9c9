//! Applies settings to a scene.

use super::{
    MaterialRule, Settings, SettingsError, SourceFile,
    part::{Kind, OfFile, Parts},
    rule::fits,
};
use crate::scene::{Called, Material, Scene};
use crate::util::text;
use crate::util::text::{bounded, counted, decimal, suggestion};
use std::collections::{HashMap, HashSet};

/// Counts of settings applied to a scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Names of materials that only the one named "" fits, or none; sorted.
    pub unlisted: Vec<String>,
    /// Names of materials that keep the mu of their source, because nothing states another; sorted.
    pub plain: Vec<String>,
    /// The same of rolling resistance; sorted.
    pub plain_rr: Vec<String>,
    /// The same of gain; sorted.
    pub plain_gain: Vec<String>,
    /// Patterns that fit no material, and entries whose materials earlier ones take.
    pub idle: Vec<String>,
    /// Names of optional entries that no material has.
    pub absent: Vec<String>,
}

impl Applied {
    /// Names of materials whose mu nobody stated: those that these settings leave as their source has it, where
    /// `before` says that nobody stated it there, and those that no entry fits.
    pub(crate) fn unstated(&self, settings: &Settings, before: impl Fn(&str) -> bool) -> HashSet<String> {
        let unfit = self.unlisted.iter().filter(|_| settings.rest().is_none());
        self.plain.iter().filter(|name| before(name)).chain(unfit).cloned().collect()
    }

    /// Without materials of other names than these.
    pub fn retain(&mut self, there: impl Fn(&str) -> bool) {
        for names in [&mut self.unlisted, &mut self.plain, &mut self.plain_rr, &mut self.plain_gain] {
            names.retain(|name| there(name));
        }
    }
}

impl Settings {
    /// Gives the scene's materials their properties; the build leaves out what is no ground.
    ///
    /// Entries that fit a material add up key by key. For each key the name goes before patterns, and of these the
    /// first counts. What nothing fits has the entry named "", or without one mu 1 and rr 1. Settings without materials
    /// change none. Rules go before materials; their objects are the sources: see [`PartRule`](super::PartRule).
    pub fn apply(&self, scene: &mut Scene) -> Result<Applied, SettingsError> {
        let all = OfFile { called: None, says: None, triangles: scene.triangles.len(), fields: scene.fields.len() };
        self.apply_to(scene, &[all])
    }

    /// The same to a scene of files. For each key a file's own entry goes before those of materials, and rules go
    /// before it. Both give materials a name of their own. An entry for exactly that name goes before all. Of each file
    /// it is told how many triangles and fields it has.
    pub fn apply_files<'a>(
        &self,
        scene: &mut Scene,
        [triangles, fields]: [&[usize]; 2],
        called: &[Called],
        sources: impl IntoIterator<Item = &'a SourceFile>,
    ) -> Result<Applied, SettingsError> {
        let mut sources = sources.into_iter();
        let of =
            |((&triangles, &fields), called)| OfFile { called: Some(called), says: sources.next(), triangles, fields };
        let files: Vec<OfFile> = triangles.iter().zip(fields).zip(called).map(of).collect();
        self.apply_to(scene, &files)
    }

    fn apply_to(&self, scene: &mut Scene, files: &[OfFile]) -> Result<Applied, SettingsError> {
        let mut applied = Applied::default();
        if let Some(tolerance) = self.patch_tolerance {
            scene.fields.iter_mut().for_each(|f| f.tolerance = tolerance);
        }
        let parts = self.parts(scene, files)?;
        let kinds = kinds(scene, parts.as_ref());
        self.check_names(scene, &kinds, files, &mut applied)?;
        let made = self.made(scene, &kinds, files, &mut applied);
        if let Some(parts) = parts {
            for (i, rule) in parts.idle(&self.rules) {
                applied.idle.push(format!("{}: earlier rules state all that it states", rule.who(i)));
            }
            let numbers = self.joined(scene, &kinds, made)?;
            parts.number(&mut scene.triangles, &mut scene.fields, files, &numbers);
        } else {
            scene.materials = made;
        }
        let Applied { unlisted, plain, plain_rr, plain_gain, .. } = &mut applied;
        for names in [unlisted, plain, plain_rr, plain_gain] {
            names.sort_unstable();
            names.dedup();
        }
        Ok(applied)
    }

    /// The entry named "", which takes what no other fits.
    pub fn rest(&self) -> Option<&MaterialRule> {
        self.materials.iter().find(|rule| rule.pattern.is_none() && rule.name.as_deref() == Some(""))
    }

    /// The materials of these kinds, with what is said of each.
    fn made(&self, scene: &Scene, kinds: &[Kind], files: &[OfFile], applied: &mut Applied) -> Vec<Material> {
        let entries = Entries::new(&self.materials);
        let mut used = vec![false; self.materials.len()];
        let made = kinds.iter().map(|kind| self.of_kind(scene, kind, files, &entries, &mut used, applied)).collect();
        self.idle(kinds, &used, &entries, applied);
        made
    }

    /// A material with all that is said of it: for each key by the most particular that states it.
    fn of_kind(
        &self,
        scene: &Scene,
        kind: &Kind,
        files: &[OfFile],
        entries: &Entries,
        used: &mut [bool],
        applied: &mut Applied,
    ) -> Material {
        let name = &kind.names[0];
        let mut material = Material { name: name.clone(), ..scene.materials[kind.from].clone() };
        let source = kind.source.and_then(|file| files[file].says).map(SourceFile::gives);
        let parts = kind.rules.iter().map(|&i| self.rules[i].gives()).chain(source);
        let fitting = entries.fitting(&kind.names);
        let mut says = MaterialRule::default();
        // an entry for the very name that a rule or a source gave is more particular than these
        let is_given = kind.named && (kind.source.is_some() || !kind.rules.is_empty());
        if let Some(&i) = entries.named.get(name.as_str()).filter(|_| is_given) {
            says.fill(&self.materials[i]);
        }
        parts.for_each(|part| _ = says.fill(&part));
        if fitting.is_empty() && !self.materials.is_empty() && says.mu.is_none() {
            applied.unlisted.push(name.clone());
        }
        let mut own = MaterialRule::default();
        for i in fitting.iter().copied().chain(entries.rest.filter(|_| fitting.is_empty())) {
            let entry = &self.materials[i];
            used[i] |= own.fill(entry) || entry.is_silent();
        }
        says.fill(&own);
        let is_fit = !fitting.is_empty() || entries.rest.is_some();
        if !is_fit && !self.materials.is_empty() {
            (material.mu, material.rr) = (1.0, 1.0);
        }
        if is_fit || self.materials.is_empty() {
            let lists = [&mut applied.plain, &mut applied.plain_rr, &mut applied.plain_gain];
            for (stated, names) in says.factors().into_iter().zip(lists) {
                names.extend(stated.is_none().then(|| name.clone()));
            }
        }
        says.give(&mut material);
        material
    }

    /// The rule that names a kind, or the first that speaks of it.
    fn namer(&self, kind: &Kind) -> Option<usize> {
        let names = |i: &&usize| self.rules[**i].name.is_some();
        kind.rules.iter().find(names).or(kind.rules.first()).copied()
    }

    /// How messages call who named a kind.
    fn who(&self, kind: &Kind) -> String {
        match (self.namer(kind), kind.source) {
            (Some(i), _) => self.rules[i].who(i),
            (None, Some(file)) => format!("source {}", file + 1),
            _ => "its source".into(),
        }
    }

    /// Stops at an entry by a name that no material has.
    fn check_names(
        &self,
        scene: &Scene,
        kinds: &[Kind],
        files: &[OfFile],
        applied: &mut Applied,
    ) -> Result<(), SettingsError> {
        let own = scene.materials.iter().map(|m| m.name.as_str());
        let there: HashSet<&str> = kinds.iter().flat_map(|k| &k.names).map(String::as_str).chain(own).collect();
        let missed = |rule: &&MaterialRule| {
            rule.name.as_ref().is_some_and(|name| !name.is_empty() && !there.contains(name.as_str()))
        };
        let (optional, absent): (Vec<&MaterialRule>, Vec<_>) =
            self.materials.iter().filter(missed).partition(|rule| rule.optional == Some(true));
        applied.absent = optional.into_iter().map(|rule| rule.title().into()).collect();
        if absent.is_empty() { Ok(()) } else { Err(misnamed(&absent, &there, &objects(scene, files))) }
    }

    /// Tells entries that do nothing.
    fn idle(&self, kinds: &[Kind], used: &[bool], entries: &Entries, applied: &mut Applied) {
        let idles =
            |(i, rule): &(usize, &MaterialRule)| !used[*i] && Some(*i) != entries.rest && rule.optional != Some(true);
        for (i, rule) in self.materials.iter().enumerate().filter(idles) {
            let taken = rule.name.as_deref().is_some_and(|name| entries.named.get(name) != Some(&i));
            let why = match taken {
                true => "an earlier entry takes it",
                false if kinds.iter().flat_map(|kind| &kind.names).any(|name| rule.fits(name)) => {
                    "other entries state all that it states"
                }
                false => "it fits none",
            };
            applied.idle.push(format!("material {} ({:?}): {why}", i + 1, bounded(rule.title())));
        }
    }

    /// Puts materials into a scene, those of one name once, and gives back the number of each kind. Those that no face
    /// has any more go.
    fn joined(&self, scene: &mut Scene, kinds: &[Kind], made: Vec<Material>) -> Result<Vec<u16>, SettingsError> {
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut materials: Vec<Material> = Vec::new();
        let mut numbers = Vec::new();
        for (kind, material) in kinds.iter().zip(made) {
            let next = materials.len();
            let number = *known.entry(material.name.clone()).or_insert(next);
            if number == next {
                materials.push(material);
            } else if materials[number] != material {
                return Err(self.alike(kind, &materials[number], &material));
            }
            numbers.push(number as u16);
        }
        if materials.len() > Self::MAX_ENTRIES {
            let text = "rules and sources make more than 65,535 materials; give faces one name with name = \"NAME\"";
            return Err(SettingsError { of_materials: true, ..SettingsError::at(None, text) });
        }
        scene.materials = materials;
        Ok(numbers)
    }

    /// That two materials of one name are not alike.
    fn alike(&self, kind: &Kind, a: &Material, b: &Material) -> SettingsError {
        let factors = [("mu", a.mu, b.mu), ("rr", a.rr, b.rr), ("gain", a.gain, b.gain)];
        let other = factors.iter().find(|(_, a, b)| a != b);
        let how = other.map_or("with other properties".into(), |(key, a, b)| {
            format!("with {key} {} and {}", decimal(*a), decimal(*b))
        });
        let name = bounded(&a.name);
        let text = format!(
            "{}: two materials would be called {name:?}, {how}; say that in a [[material]] of that name, or give another name",
            self.who(kind)
        );
        let line = self.namer(kind).and_then(|i| self.rules[i].line);
        SettingsError { of_materials: kind.rules.is_empty(), ..SettingsError::at(line, text) }
    }
}

/// Entries by name and by pattern.
struct Entries<'a> {
    named: HashMap<&'a str, usize>,
    patterns: Vec<(usize, Vec<char>)>,
    rest: Option<usize>,
}

impl<'a> Entries<'a> {
    fn new(materials: &'a [MaterialRule]) -> Self {
        let mut named: HashMap<&str, usize> = HashMap::new();
        let mut patterns: Vec<(usize, Vec<char>)> = Vec::new();
        for (i, rule) in materials.iter().enumerate() {
            if let Some(pattern) = &rule.pattern {
                patterns.push((i, pattern.chars().collect()));
            } else if let Some(name) = &rule.name {
                named.entry(name).or_insert(i);
            }
        }
        let rest = named.remove("");
        Entries { named, patterns, rest }
    }

    /// All that fit any of a material's names, but for the one named "": the most particular first.
    fn fitting(&self, names: &[String]) -> Vec<usize> {
        let letters: Vec<Vec<char>> = names.iter().map(|name| name.chars().collect()).collect();
        let exact = names.iter().filter_map(|name| self.named.get(name.as_str()).copied());
        let is_fit = |(_, pattern): &&(usize, Vec<char>)| letters.iter().any(|name| fits(pattern, name));
        exact.chain(self.patterns.iter().filter(is_fit).map(|p| p.0)).collect()
    }
}

/// The materials as they will be: of faces and fields, then those that none has, as they are.
fn kinds(scene: &Scene, parts: Option<&Parts>) -> Vec<Kind> {
    let whole = |from: usize| Kind {
        from,
        names: vec![scene.materials[from].name.clone()],
        named: false,
        source: None,
        rules: Vec::new(),
    };
    let all = 0..scene.materials.len();
    let Some(parts) = parts else { return all.map(whole).collect() };
    let of_faces: HashSet<usize> = parts.kinds.iter().map(|kind| kind.from).collect();
    let stays = |from: &usize| !of_faces.contains(from);
    parts.kinds.iter().cloned().chain(all.filter(stays).map(whole)).collect()
}

/// Absent names that an error tells.
const MAX_LISTED: usize = 50;

/// Names of the objects, as rules speak of them.
fn objects<'a>(scene: &'a Scene, files: &[OfFile]) -> HashSet<&'a str> {
    let each = |source: &'a String| {
        let own = files.iter().filter_map(|file| file.called).map(|called| called.object(source));
        own.chain([source.as_str()]).collect::<Vec<_>>()
    };
    scene.sources.iter().flat_map(each).collect()
}

/// That no material has the names of these entries.
fn misnamed(absent: &[&MaterialRule], there: &HashSet<&str>, objects: &HashSet<&str>) -> SettingsError {
    let near = |rule: &MaterialRule| match objects.contains(rule.title()) {
        true => format!(" (an object is called so: [[rule]] object = {:?})", bounded(rule.title())),
        false => suggestion(rule.title(), there.iter().copied()),
    };
    let text = match absent {
        [rule] => {
            let name = bounded(rule.title());
            format!("material {name:?} is not in the scene{}; with optional = true it may be absent", near(rule))
        }
        _ => {
            let (count, told) =
                (absent.len() as u64, |rule: &&MaterialRule| format!("{:?}{}", bounded(rule.title()), near(rule)));
            let list = text::first(absent.iter().map(told), count, MAX_LISTED);
            let materials = counted(count, "material");
            format!("{materials} are not in the scene: {list}; with optional = true they may be absent")
        }
    };
    let line = absent.iter().find_map(|rule| rule.line);
    SettingsError { of_materials: true, ..SettingsError::at(line, text) }
}
