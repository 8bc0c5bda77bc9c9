//! Which faces rules and sources speak of: those of one material become several materials, each with a name of its own.

use super::{MaterialRule, PartRule, Settings, SettingsError, SourceFile, rule::fits};
use crate::scene::{Called, HeightField, Scene, Triangle};
use crate::util::text::{bounded, few, suggestion};
use std::collections::{BTreeSet, HashMap};

/// The part of a scene from one file, in the order of its triangles.
#[derive(Clone, Copy)]
pub(super) struct OfFile<'a> {
    /// None of a scene that was read from no file.
    pub called: Option<&'a Called>,
    pub says: Option<&'a SourceFile>,
    pub triangles: usize,
    pub fields: usize,
}

/// A material as it will be: which one of the scene it was, and who else speaks of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    /// Its number in the scene.
    pub from: usize,
    /// Names under which entries of materials may speak of it: first its own, last that of the source.
    pub names: Vec<String>,
    /// Whether a source or a rule gave it its name.
    pub named: bool,
    /// The file whose entry speaks of it.
    pub source: Option<usize>,
    /// The rules that speak of it, in order: each states a key that none before it states, or no key at all.
    pub rules: Vec<usize>,
}

/// The materials of a scene by rule, and which of them each face has.
pub(super) struct Parts {
    pub kinds: Vec<Kind>,
    of: HashMap<[usize; 3], usize>,
}

/// A pattern, or a name if there is no wildcard in it.
pub(super) struct Pattern<'a> {
    text: &'a str,
    letters: Option<Vec<char>>,
}

impl<'a> Pattern<'a> {
    pub fn new(text: &'a str) -> Self {
        Pattern { text, letters: text.contains(['*', '?']).then(|| text.chars().collect()) }
    }

    fn fits(&self, name: &str) -> bool {
        match &self.letters {
            None => self.text == name,
            Some(letters) => fits(letters, &name.chars().collect::<Vec<char>>()),
        }
    }
}

/// The names of some faces: each key of a rule fits any of its own.
struct Faces<'a> {
    object: [&'a str; 2],
    file: Option<[&'a str; 2]>,
    material: &'a str,
}

impl<'a> Faces<'a> {
    /// Its title in hints, by a key.
    fn title(&self, key: &str) -> Option<&'a str> {
        match key {
            "object" => Some(self.object[0]),
            "file" => self.file.map(|names| names[0]),
            _ => Some(self.material),
        }
    }

    fn fit(&self, key: &str, pattern: &Pattern) -> bool {
        match key {
            // the whole name says more than the object, and is no text for a pattern
            "object" => pattern.fits(self.object[0]) || (pattern.letters.is_none() && pattern.fits(self.object[1])),
            "file" => self.file.iter().flatten().any(|name| pattern.fits(name)),
            _ => pattern.fits(self.material),
        }
    }
}

impl SourceFile {
    /// Whether it says anything of its faces beside their material's name.
    fn says_more(&self) -> bool {
        !self.gives().is_silent()
    }
}

impl Settings {
    /// Whether they say anything of materials, in whatever list.
    pub fn say_materials(&self) -> bool {
        let of_source = |s: &SourceFile| s.material.is_some() || s.says_more();
        !self.materials.is_empty() || !self.rules.is_empty() || self.sources.iter().any(of_source)
    }

    /// Divides the materials of a scene; none if nobody speaks of anything but materials.
    pub(super) fn parts(&self, scene: &Scene, files: &[OfFile]) -> Result<Option<Parts>, SettingsError> {
        let speaks = |f: &OfFile| f.says.is_some_and(|s| s.material.is_some() || s.says_more());
        if self.rules.is_empty() && !files.iter().any(speaks) {
            return Ok(None);
        }
        let rules: Vec<Vec<(&str, Pattern)>> =
            self.rules.iter().map(|rule| rule.given().map(|(key, text)| (key, Pattern::new(text))).collect()).collect();
        let mut fitted = vec![false; rules.len()];
        let mut parts = Parts { kinds: Vec::new(), of: HashMap::new() };
        let mut known: HashMap<Kind, usize> = HashMap::new();
        for place in places(scene, files) {
            let [file, source, from] = place;
            let OfFile { called, says, .. } = files[file];
            let own = scene.materials[from].name.as_str();
            let given = says.and_then(|s| s.material.as_deref());
            let material = given.unwrap_or(own);
            let faces = faces(called, &scene.sources[source], material);
            let fit = |of: &[(&str, Pattern)]| of.iter().all(|(key, pattern)| faces.fit(key, pattern));
            let (mut used, mut stated) = (Vec::new(), MaterialRule::default());
            for (i, _) in rules.iter().enumerate().filter(|(_, of)| fit(of)) {
                fitted[i] = true;
                if self.rules[i].adds_to(&mut stated, used.is_empty()) {
                    used.push(i);
                }
            }
            let mut names = vec![material.to_owned()];
            let source = says.filter(|s| s.says_more());
            if let (Some(s), Some(called)) = (source, called)
                && s.material.is_none()
            {
                names.insert(0, format!("{material} @ {}", called.title()));
            }
            let name = match used.first().and_then(|&i| self.rules[i].name.clone()) {
                Some(name) => name,
                None => used.iter().fold(names[0].clone(), |name, &i| self.rules[i].calls(&name)),
            };
            names.insert(0, name);
            names.dedup();
            let named = names.len() > 1 || given.is_some();
            let kind = Kind { from, names, named, source: source.map(|_| file), rules: used };
            let next = parts.kinds.len();
            let number = *known.entry(kind.clone()).or_insert(next);
            if number == next {
                parts.kinds.push(kind);
            }
            parts.of.insert(place, number);
        }
        let missed = (0..rules.len()).find(|&i| !fitted[i] && self.rules[i].optional != Some(true));
        match missed {
            Some(i) => Err(unfit(i, &self.rules[i], scene, files)),
            None => Ok(Some(parts)),
        }
    }
}

impl Parts {
    /// Rules that state nothing which earlier ones do not: those of no kind.
    pub fn idle<'a>(&self, rules: &'a [PartRule]) -> impl Iterator<Item = (usize, &'a PartRule)> {
        let mut used = vec![false; rules.len()];
        self.kinds.iter().flat_map(|k| &k.rules).for_each(|&i| used[i] = true);
        rules.iter().enumerate().filter(move |(i, rule)| !used[*i] && rule.optional != Some(true))
    }

    /// Gives each triangle and field the number that its kind has.
    pub fn number(&self, triangles: &mut [Triangle], fields: &mut [HeightField], files: &[OfFile], numbers: &[u16]) {
        let mut others = fields;
        for (i, file) in files.iter().enumerate() {
            let (own, behind) = others.split_at_mut(file.fields.min(others.len()));
            others = behind;
            for f in own {
                f.material = numbers[self.of[&[i, usize::from(f.source), usize::from(f.material)]]];
            }
        }
        let mut rest = triangles;
        for (i, file) in files.iter().enumerate() {
            let (own, behind) = rest.split_at_mut(file.triangles.min(rest.len()));
            rest = behind;
            let mut last = (None, 0);
            for t in own {
                let place = [i, usize::from(t.source), usize::from(t.material)];
                if last.0 != Some(place) {
                    last = (Some(place), numbers[self.of[&place]]);
                }
                t.material = last.1;
            }
        }
    }
}

impl PartRule {
    /// Name of the material of that name if the first rule states none.
    fn calls(&self, material: &str) -> String {
        let of: Vec<&str> = [&self.file, &self.object].into_iter().flatten().map(String::as_str).collect();
        let of = of.join("/");
        // two rules for one object give one name
        if of.is_empty() || material.split(" @ ").skip(1).any(|part| part == of) {
            return material.into();
        }
        format!("{material} @ {of}")
    }

    /// Adds its keys to those of earlier rules; only the first rule gives a name. Whether it states something that they
    /// do not, or nothing.
    fn adds_to(&self, keys: &mut MaterialRule, is_first: bool) -> bool {
        let says = self.gives();
        let is_silent = says.is_silent() && self.name.is_none();
        keys.fill(&says) || is_first || is_silent
    }
}

/// Which files, sources and materials come together in a scene, in order.
fn places(scene: &Scene, files: &[OfFile]) -> BTreeSet<[usize; 3]> {
    let mut all = BTreeSet::new();
    let mut others = &scene.fields[..];
    for (i, file) in files.iter().enumerate() {
        let (own, behind) = others.split_at(file.fields.min(others.len()));
        others = behind;
        all.extend(own.iter().map(|f| [i, usize::from(f.source), usize::from(f.material)]));
    }
    let mut rest = &scene.triangles[..];
    for (i, file) in files.iter().enumerate() {
        let (own, behind) = rest.split_at(file.triangles.min(rest.len()));
        rest = behind;
        let mut last = None;
        for t in own {
            let place = [i, usize::from(t.source), usize::from(t.material)];
            if last != Some(place) {
                all.insert(place);
                last = Some(place);
            }
        }
    }
    all
}

fn faces<'a>(called: Option<&'a Called>, source: &'a str, material: &'a str) -> Faces<'a> {
    Faces {
        object: [called.map_or(source, |called| called.object(source)), source],
        file: called.map(|called| [called.file.as_str(), called.title()]),
        material,
    }
}

/// That no face is of all that a rule gives, and which of it there is not.
fn unfit(i: usize, rule: &PartRule, scene: &Scene, files: &[OfFile]) -> SettingsError {
    let all = places(scene, files);
    let of = |&[file, source, from]: &[usize; 3]| {
        let OfFile { called, says, .. } = files[file];
        let material = says.and_then(|s| s.material.as_deref()).unwrap_or(&scene.materials[from].name);
        faces(called, &scene.sources[source], material)
    };
    let fits = |key: &str, pattern: &Pattern| all.iter().any(|place| of(place).fit(key, pattern));
    let absent = rule.given().find(|(key, text)| !fits(key, &Pattern::new(text)));
    let cause = match absent {
        Some((key, text)) => {
            let names: BTreeSet<&str> = all.iter().filter_map(|place| of(place).title(key)).collect();
            let near = match suggestion(text, names.iter().copied()) {
                none if none.is_empty() && !names.is_empty() => {
                    let told = names.iter().map(|name| format!("{:?}", bounded(name)));
                    format!("; there are {}", few(told, names.len() as u64))
                }
                near => near,
            };
            let said = if rule.given().nth(1).is_some() { format!(" {:?}", bounded(text)) } else { String::new() };
            format!("there is no such {key}{said}{near}")
        }
        None => "no face is of all of them".into(),
    };
    let text = format!("{}: {cause}; with optional = true it may be absent", rule.who(i));
    SettingsError::at(rule.line, text)
}
