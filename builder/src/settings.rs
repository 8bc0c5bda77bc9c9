//! The one settings structure: sources, materials and build options, as TOML or as JSON of the same shape.

mod faults;

use self::faults::{Place, explain, numbers, positional, takes};
use crate::import::{Frame, Unit, Up};
use crate::names::{self, counted, decimal, grouped, suggestion};
use crate::scene::is_factor;
use crate::{Material, Options, Scene, Undersides};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::{
    cell::LazyCell,
    collections::{HashMap, HashSet},
    fmt,
    marker::PhantomData,
};
use toml::de::{DeTable, DeValue};

/// What an image is built from, and how. Every key may be left out; unknown ones are errors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Coordinate reference system of the frame, as the user names it; recorded, not interpreted.
    pub crs: String,
    /// Largest error at a post of every height field, metres; by default each field's own.
    pub patch_tolerance: Option<f64>,
    /// Build options; what a command line says goes before them.
    pub build: Options,
    /// Files, in order. Names that are not absolute are relative to the settings file.
    #[serde(rename = "source", deserialize_with = "few")]
    pub sources: Vec<SourceFile>,
    /// Materials by name or pattern: the first that fits counts, and one named "" for all that none fits.
    #[serde(rename = "material", deserialize_with = "few")]
    pub materials: Vec<MaterialRule>,
}

/// A file of a scene, and how its numbers become metres: see [`Frame`] for the order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceFile {
    /// Its name.
    pub file: String,
    /// The axis that points up: x, y, z, -x, -y, -z; by default as the file says, of an OBJ z.
    #[serde(with = "word", skip_serializing_if = "Option::is_none")]
    pub up: Option<Up>,
    /// m, km, cm, mm, ft, us-ft, in, or one of their longer names; by default as the file says, of an OBJ m.
    #[serde(with = "word", skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Factor beside the unit, above 0; by default 1.
    pub scale: Option<f64>,
    /// Turn about up in degrees, anticlockwise seen from above; by default 0.
    pub yaw_deg: Option<f64>,
    /// Way moved after all else, in metres; by default none.
    #[serde(deserialize_with = "some_exactly")]
    pub translate: Option<[f64; 3]>,
    /// Whose it is and on what terms, as the user words it; recorded.
    pub licence: String,
}

/// What is said about the materials of a name or a pattern. What is left out stays as the source has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialRule {
    /// The exact name; "" for faces without a material and for every name that nothing else fits.
    pub name: Option<String>,
    /// Instead of a name: `*` is any text, `?` any one character.
    pub pattern: Option<String>,
    /// Whether its faces are used at all: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub include: Option<bool>,
    /// Whether its faces are obstacles, which wheels do not stand on: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub obstacle: Option<bool>,
    /// Which of its faces are undersides: auto, ground (none), ceiling; by default as the build options say.
    pub undersides: Option<Undersides>,
    /// Friction coefficient, 0 or more.
    pub mu: Option<f64>,
    /// Rolling resistance, as a factor, 0 or more.
    pub rr: Option<f64>,
    /// Gain, as a factor, 0 or more.
    pub gain: Option<f64>,
    /// Surface type, as the user numbers it: 0 to 65,535.
    pub surface_type: Option<u16>,
    /// Classes for masks: 0 to 31 each.
    pub classes: Option<Vec<u8>>,
    /// Cone index, kPa, 0 or more; 0 if not stated.
    pub cone_index: Option<f64>,
    /// Label for sensors.
    pub label: Option<u32>,
    /// Which of coincident triangles stays: that of the highest priority.
    pub priority: Option<i32>,
    /// The line of the settings file that names it.
    #[serde(skip)]
    line: Option<usize>,
}

/// What settings did to a scene.
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
    /// Names of materials that the one named "" takes, and of each the name or pattern of an entry that fits it but for capitals, and
    /// `_` for blanks; sorted.
    pub slips: Vec<(String, String)>,
    /// Patterns that fit no material, and entries whose materials earlier ones take, each with which of it.
    pub idle: Vec<String>,
}

impl Applied {
    /// Without materials of other names than these.
    pub fn retain(&mut self, there: impl Fn(&str) -> bool) {
        for names in [&mut self.unlisted, &mut self.plain, &mut self.plain_rr, &mut self.plain_gain] {
            names.retain(|name| there(name));
        }
        self.slips.retain(|(name, _)| there(name));
    }
}

/// What is wrong with settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The line of the text, from 1, where it is known.
    pub line: Option<usize>,
    /// The character of the line, from 1, where a parser stopped.
    pub column: Option<usize>,
    /// Cause, and what to write instead.
    pub text: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: {}", self.text),
            (Some(line), None) => write!(f, "line {line}: {}", self.text),
            (None, _) => f.write_str(&self.text),
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Entries of a list at most: a scene has no more materials.
    pub const MOST: usize = 65_535;
    /// Patterns at most, for each is tried with every material.
    pub const MOST_PATTERNS: usize = 512;

    /// Reads TOML.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        // before they take memory; each of the two lists has a limit of its own
        let mut heads = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[["));
        if let Some((i, _)) = heads.nth(2 * Self::MOST) {
            return Err(SettingsError { line: Some(i + 1), column: None, text: too_many() });
        }
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let line = |at: usize| ends.partition_point(|&end| end < at) + 1;
        let stopped = |at: Option<usize>, explained: &dyn Fn(&Place) -> String| {
            let stop = at.unwrap_or_default().min(text.len());
            let before = text[..stop].rsplit('\n').next().unwrap_or_default();
            let whole = text[stop - before.len()..].lines().next().unwrap_or_default();
            let text = explained(&Place { line: whole, before, mark: '=' });
            SettingsError { line: at.map(line), column: at.map(|_| before.chars().count() + 1), text }
        };
        let failed = |e: toml::de::Error| stopped(e.span().map(|s| s.start), &|place| explain(e.message(), place));
        let tree = DeTable::parse(text).map_err(failed)?;
        if let Some((key, at)) = list_for_table(tree.get_ref()) {
            return Err(stopped(Some(at), &|place| positional(key, place)));
        }
        let place = |list: &str, i: usize, key: &str| {
            let entry = tree.get_ref().get(list)?.get_ref().get(i)?;
            Some(line(entry.get_ref().get(key).map_or(entry.span(), |v: &toml::Spanned<DeValue>| v.span()).start))
        };
        if let more @ Some(_) = ["source", "material"].into_iter().find_map(|list| place(list, Self::MOST, "")) {
            return Err(SettingsError { line: more, column: None, text: too_many() });
        }
        let mut settings: Settings = toml::from_str(text).map_err(failed)?;
        for (i, rule) in settings.materials.iter_mut().enumerate() {
            rule.line = place("material", i, if rule.name.is_some() { "name" } else { "pattern" });
        }
        settings.check(place)?;
        Ok(settings)
    }

    /// Reads JSON of the same shape.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let settings: Settings = serde_json::from_str(text).map_err(|e| {
            let (line, message) = (e.line(), e.to_string());
            let message = message.split(" at line ").next().unwrap_or_default();
            let whole = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            let before = whole.get(..e.column()).unwrap_or(whole); // columns are bytes
            let place = Place { line: whole, before, mark: ':' };
            let known = (line > 0).then_some(line);
            let column = known.map(|_| before.chars().count().max(1));
            SettingsError { line: known, column, text: explain(message, &place) }
        })?;
        settings.check(|_, _, _| None)?;
        Ok(settings)
    }

    /// Numbers in their ranges, a file for each source, a name or a pattern for each material. `place` gives the
    /// line of a key of an entry of a list.
    fn check(&self, place: impl Fn(&str, usize, &str) -> Option<usize>) -> Result<(), SettingsError> {
        let wrong = |line: Option<usize>, text: String| Err(SettingsError { line, column: None, text });
        for (i, source) in self.sources.iter().enumerate() {
            let who = format!("source {} ({:?})", i + 1, source.file);
            if source.file.is_empty() {
                return wrong(place("source", i, "file"), format!("{who}: name a file"));
            }
            if source.scale.is_some_and(|v| !(v > 0.0 && v.is_finite())) {
                return wrong(place("source", i, "scale"), format!("{who}: scale must be a number above 0"));
            }
            if source.yaw_deg.is_some_and(|v| !v.is_finite()) {
                return wrong(place("source", i, "yaw_deg"), format!("{who}: yaw_deg must be a number of degrees"));
            }
            if source.translate.iter().flatten().any(|v| !v.is_finite()) {
                return wrong(place("source", i, "translate"), format!("{who}: translate is [x, y, z] in metres"));
            }
        }
        let mut patterns = 0;
        for (i, rule) in self.materials.iter().enumerate() {
            let who = format!("material {} ({:?})", i + 1, rule.title());
            let place = |key| place("material", i, key);
            if rule.name.is_some() == rule.pattern.is_some() {
                return wrong(place(""), format!("{who}: give either name or pattern"));
            }
            patterns += usize::from(rule.pattern.is_some());
            if patterns > Self::MOST_PATTERNS {
                let most = grouped(Self::MOST_PATTERNS as u64);
                return wrong(place("pattern"), format!("{who}: more than {most} patterns; give names instead"));
            }
            let factors = [("mu", rule.mu), ("rr", rule.rr), ("gain", rule.gain), ("cone_index", rule.cone_index)];
            for (key, value) in factors {
                if let Some(value) = value.filter(|v| !is_factor(*v)) {
                    return wrong(
                        place(key),
                        format!("{who}: {key} is {}; write a number of 0 or more", decimal(value)),
                    );
                }
            }
            if rule.classes.iter().flatten().any(|&c| c > 31) {
                return wrong(place("classes"), format!("{who}: classes go from 0 to 31"));
            }
        }
        if self.patch_tolerance.is_some_and(|v| !(v >= 0.0 && v.is_finite())) {
            return wrong(None, "patch_tolerance is a number of 0 or more, in metres".into());
        }
        self.build.check().map_err(|e| SettingsError { line: None, column: None, text: format!("build: {e}") })
    }

    /// Gives the scene's materials their properties; the build leaves out what is no ground.
    ///
    /// The first entry whose name equals or whose pattern fits a material's name counts, wherever one named "" stands;
    /// that one takes the rest, and without it they have mu 1 and rr 1. Settings without materials change none.
    pub fn apply(&self, scene: &mut Scene) -> Result<Applied, SettingsError> {
        let mut applied = Applied::default();
        if let Some(tolerance) = self.patch_tolerance {
            scene.fields.iter_mut().for_each(|f| f.tolerance = tolerance);
        }
        if self.materials.is_empty() {
            applied.plain = scene.materials.iter().map(|m| m.name.clone()).collect();
            (applied.plain_rr, applied.plain_gain) = (applied.plain.clone(), applied.plain.clone());
        } else {
            self.apply_materials(scene, &mut applied)?;
        }
        let Applied { unlisted, plain, plain_rr, plain_gain, .. } = &mut applied;
        for names in [unlisted, plain, plain_rr, plain_gain] {
            names.sort_unstable();
            names.dedup();
        }
        applied.slips.sort_unstable();
        applied.slips.dedup();
        Ok(applied)
    }

    fn apply_materials(&self, scene: &mut Scene, applied: &mut Applied) -> Result<(), SettingsError> {
        let mut named: HashMap<&str, usize> = HashMap::new();
        let mut patterns: Vec<(usize, Vec<char>)> = Vec::new();
        for (i, rule) in self.materials.iter().enumerate() {
            if let Some(pattern) = &rule.pattern {
                patterns.push((i, pattern.chars().collect()));
            } else if let Some(name) = &rule.name {
                named.entry(name).or_insert(i);
            }
        }
        let rest = named.remove("");
        let names: Vec<Vec<char>> = scene.materials.iter().map(|m| m.name.chars().collect()).collect();
        let mut used = vec![false; self.materials.len()];
        for (material, name) in scene.materials.iter_mut().zip(&names) {
            let exact = named.get(material.name.as_str()).copied();
            let pattern = patterns.iter().find(|(_, pattern)| fits(pattern, name)).map(|p| p.0);
            let first = exact.into_iter().chain(pattern).min();
            if first.is_none() {
                applied.unlisted.push(material.name.clone());
            }
            match first.or(rest) {
                Some(i) => {
                    used[i] = true;
                    self.materials[i].give(material);
                    let MaterialRule { mu, rr, gain, .. } = &self.materials[i];
                    let lists = [&mut applied.plain, &mut applied.plain_rr, &mut applied.plain_gain];
                    for (stated, names) in [mu, rr, gain].into_iter().zip(lists) {
                        names.extend(stated.is_none().then(|| material.name.clone()));
                    }
                }
                None => (material.mu, material.rr) = (1.0, 1.0),
            }
        }
        if rest.is_some() && !applied.unlisted.is_empty() {
            self.slips(applied);
        }
        let lower = || scene.materials.iter().map(|m| m.name.to_lowercase().chars().collect()).collect();
        let lower: LazyCell<Vec<Vec<char>>, _> = LazyCell::new(lower);
        let there: HashSet<&str> = scene.materials.iter().map(|m| m.name.as_str()).collect();
        for (i, rule) in self.materials.iter().enumerate().filter(|(i, _)| !used[*i] && Some(*i) != rest) {
            if let Some(name) = rule.name.as_ref().filter(|name| !there.contains(name.as_str())) {
                let blanks = self.blanks(&scene.materials);
                let text = if blanks.len() > 1 && blanks.iter().any(|(n, _)| n == name) {
                    let count = blanks.len() as u64;
                    let listed = blanks.iter().map(|(name, there)| format!("{there:?} for {name:?}"));
                    let listed = names::few(listed, count);
                    format!("{} differ from the scene's only by blanks and _; write {listed}", counted(count, "name"))
                } else {
                    let hint = match name.contains(['*', '?']) {
                        true => format!(" (did you mean pattern = {name:?}?)"),
                        false => {
                            let near = suggestion(name, scene.materials.iter().map(|m| m.name.as_str()));
                            format!("{near}; as pattern = {name:?} it may be absent")
                        }
                    };
                    format!("material {name:?} is not in the scene{hint}")
                };
                return Err(SettingsError { line: rule.line, column: None, text });
            }
            let why = match &rule.pattern {
                Some(pattern) => idle(pattern, &names, || (&lower[..], &scene.materials[..])),
                None => "an earlier entry takes it".into(),
            };
            applied.idle.push(format!("material {} ({:?}): {why}", i + 1, rule.title()));
        }
        Ok(())
    }

    /// Finds materials that only the entry named "" takes, though another one was hardly meant not to.
    fn slips(&self, applied: &mut Applied) {
        let plain = |text: &str| text.to_lowercase().replace('_', " ");
        let mut named: HashMap<String, &str> = HashMap::new();
        let mut patterns: Vec<(Vec<char>, &str)> = Vec::new();
        for rule in &self.materials {
            match &rule.pattern {
                Some(pattern) => patterns.push((plain(pattern).chars().collect(), pattern)),
                None => _ = named.entry(plain(rule.title())).or_insert(rule.title()),
            }
        }
        named.remove("");
        for name in &applied.unlisted {
            let own = plain(name);
            let letters: Vec<char> = own.chars().collect();
            let pattern = || patterns.iter().find(|(pattern, _)| fits(pattern, &letters)).map(|(_, title)| *title);
            if let Some(title) = named.get(&own).copied().or_else(pattern) {
                applied.slips.push((name.clone(), title.into()));
            }
        }
    }

    /// Names that no material has, and those that it has with `_` for blanks or the reverse, as exporters write them.
    fn blanks<'a>(&'a self, there: &'a [Material]) -> Vec<(&'a str, &'a str)> {
        let joined = |name: &str| name.replace(' ', "_");
        let known: HashMap<String, &str> = there.iter().map(|m| (joined(&m.name), m.name.as_str())).collect();
        let names: HashSet<&str> = there.iter().map(|m| m.name.as_str()).collect();
        let absent = self.materials.iter().filter_map(|m| m.name.as_deref()).filter(|name| !names.contains(name));
        absent.filter_map(|name| Some((name, *known.get(&joined(name))?))).collect()
    }

    /// As TOML that [`Settings::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("strings, numbers, lists and tables")
    }
}

impl SourceFile {
    /// What is not said is as by default.
    pub fn frame(&self) -> Frame {
        Frame {
            up: self.up,
            unit: self.unit,
            scale: self.scale.unwrap_or(1.0),
            rotate: self.yaw_deg.unwrap_or(0.0),
            translate: self.translate.unwrap_or_default(),
        }
    }
}

impl MaterialRule {
    /// The name or the pattern.
    pub fn title(&self) -> &str {
        self.name.as_ref().or(self.pattern.as_ref()).map_or("", String::as_str)
    }

    /// Whether it speaks of a material of this name.
    pub fn fits(&self, name: &str) -> bool {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        match &self.pattern {
            Some(pattern) => fits(&letters(pattern), &letters(name)),
            None => self.name.as_deref().is_some_and(|own| own.is_empty() || own == name),
        }
    }

    /// Factors that look like percent: mu above [`Self::MOST_MU`], rr and gain from [`Self::MOST`] on.
    pub fn doubtful(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let factors = [
            ("mu", self.mu.filter(|v| *v > Self::MOST_MU)),
            ("rr", self.rr.filter(|v| *v >= Self::MOST)),
            ("gain", self.gain.filter(|v| *v >= Self::MOST)),
        ];
        factors.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }

    /// No tyre on a road has more friction.
    pub const MOST_MU: f64 = 2.0;
    /// Half of 1 in percent.
    pub const MOST: f64 = 50.0;

    /// Without what is as it is by default and seldom said.
    pub fn brief(&self) -> Self {
        fn other<T: PartialEq + Clone>(value: &Option<T>, plain: &Option<T>) -> Option<T> {
            value.clone().filter(|_| value != plain)
        }
        let plain = MaterialRule::from(&Material::default());
        MaterialRule {
            obstacle: other(&self.obstacle, &plain.obstacle),
            classes: other(&self.classes, &plain.classes),
            cone_index: other(&self.cone_index, &plain.cone_index),
            label: other(&self.label, &plain.label),
            priority: other(&self.priority, &plain.priority),
            ..self.clone()
        }
    }

    fn give(&self, m: &mut Material) {
        fn set<T: Copy>(to: &mut T, from: Option<T>) {
            *to = from.unwrap_or(*to);
        }
        set(&mut m.include, self.include);
        set(&mut m.obstacle, self.obstacle);
        set(&mut m.undersides, self.undersides.map(Some));
        set(&mut m.mu, self.mu);
        set(&mut m.rr, self.rr);
        set(&mut m.gain, self.gain);
        set(&mut m.surface, self.surface_type);
        set(&mut m.cone_index, self.cone_index);
        set(&mut m.class_mask, self.classes.as_ref().map(|c| c.iter().fold(0, |mask, c| mask | 1 << c)));
        set(&mut m.label, self.label);
        set(&mut m.priority, self.priority);
    }
}

/// An entry by name that gives all that the material has.
impl From<&Material> for MaterialRule {
    fn from(m: &Material) -> Self {
        MaterialRule {
            name: Some(m.name.clone()),
            pattern: None,
            include: Some(m.include),
            obstacle: Some(m.obstacle),
            undersides: m.undersides,
            mu: Some(m.mu),
            rr: Some(m.rr),
            gain: Some(m.gain),
            surface_type: Some(m.surface),
            classes: Some((0..32).filter(|c| m.class_mask >> c & 1 == 1).collect()),
            cone_index: Some(m.cone_index),
            label: Some(m.label),
            priority: Some(m.priority),
            line: None,
        }
    }
}

/// Why a pattern takes none of these names; `lower` gives them in small letters, and their materials.
fn idle<'a>(pattern: &str, names: &[Vec<char>], lower: impl FnOnce() -> (&'a [Vec<char>], &'a [Material])) -> String {
    let first = |pattern: &str, names: &[Vec<char>]| {
        let pattern: Vec<char> = pattern.chars().collect();
        names.iter().position(|name| fits(&pattern, name))
    };
    if first(pattern, names).is_some() {
        return "earlier entries take all that it fits".into();
    }
    let (lower, materials) = lower();
    match first(&pattern.to_lowercase(), lower) {
        Some(i) => format!("it fits none; {:?} only if capitals did not count", materials[i].name),
        None => "it fits none".into(),
    }
}

/// Whether a name fits a pattern of `*` and `?`.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    // behind the last `*`, and the first character that it has not taken yet
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match (pattern.get(p), star) {
            (Some('*'), _) => {
                p += 1;
                star = Some((p, n));
            }
            (Some(&c), _) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            (_, Some((after, taken))) => {
                (p, n) = (after, taken + 1);
                star = Some((after, taken + 1));
            }
            _ => return false,
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// A word of a fixed set, as it is typed.
mod word {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(word: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match word {
            Some(word) => serializer.collect_str(word),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let word = Option::<String>::deserialize(deserializer)?;
        word.map(|w| w.parse().map_err(de::Error::custom)).transpose()
    }
}

/// A table, or `false` for none.
pub(crate) mod or_false {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use std::{fmt, marker::PhantomData};

    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_bool(false),
        }
    }

    struct OrFalse<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for OrFalse<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a table or false")
        }

        fn visit_bool<E: de::Error>(self, v: bool) -> Result<Self::Value, E> {
            if v { Err(E::invalid_value(de::Unexpected::Bool(v), &self)) } else { Ok(None) }
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Some)
        }
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_any(OrFalse(PhantomData))
    }
}

/// The key of a list that stands in place of a table, and where: parsers fill a table's keys from it, one after the other.
fn list_for_table<'a>(table: &'a DeTable) -> Option<(&'a str, usize)> {
    table.iter().find_map(|(key, value)| match value.get_ref() {
        DeValue::Table(inner) => list_for_table(inner),
        DeValue::Array(items) => {
            let name: &str = key.get_ref();
            let entries = matches!(name, "source" | "material");
            let wrong = if entries { items.iter().find(|item| item.get_ref().is_array()) } else { None };
            match wrong.or_else(|| (takes(name)? == "a table").then_some(value)) {
                Some(wrong) => Some((name, wrong.span().start)),
                None => items.iter().find_map(|item| list_for_table(item.get_ref().as_table()?)),
            }
        }
        _ => None,
    })
}

/// That a list is too long.
fn too_many() -> String {
    format!(
        "more than {} entries, and a scene has no more materials; patterns fit many",
        grouped(Settings::MOST as u64)
    )
}

/// A list of [`Settings::MOST`] entries at most.
fn few<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a sequence")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(entry) = list.next_element()? {
                if all.len() == Settings::MOST {
                    return Err(de::Error::custom(too_many()));
                }
                all.push(entry);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Few(PhantomData))
}

/// So many numbers, no fewer and no more: what is too many, the parser of TOML would pass over.
struct Exactly<const N: usize>([f64; N]);

impl<'de, const N: usize> Deserialize<'de> for Exactly<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers<const N: usize>;
        impl<'de, const N: usize> de::Visitor<'de> for Numbers<N> {
            type Value = Exactly<N>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(&numbers(N))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let (mut all, mut count) = ([0.0; N], 0);
                while let Some(number) = list.next_element()? {
                    if let Some(place) = all.get_mut(count) {
                        *place = number;
                    }
                    count += 1;
                }
                if count == N { Ok(Exactly(all)) } else { Err(de::Error::invalid_length(count, &self)) }
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

/// So many numbers.
pub(crate) fn exactly<'de, const N: usize, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; N], D::Error> {
    Exactly::deserialize(deserializer).map(|all| all.0)
}

/// So many numbers, or none.
pub(crate) fn some_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<[f64; N]>, D::Error> {
    Ok(Option::<Exactly<N>>::deserialize(deserializer)?.map(|all| all.0))
}

/// Lists of so many numbers.
pub(crate) fn each_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<[f64; N]>, D::Error> {
    Ok(Vec::<Exactly<N>>::deserialize(deserializer)?.into_iter().map(|all| all.0).collect())
}

/// true, false, 1 or 0.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    struct Flag;
    impl de::Visitor<'_> for Flag {
        type Value = Option<bool>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("true, false, 1 or 0")
        }

        fn visit_bool<E>(self, v: bool) -> Result<Self::Value, E> {
            Ok(Some(v))
        }

        fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
            if v > 1 { Err(E::invalid_value(de::Unexpected::Unsigned(v), &self)) } else { Ok(Some(v == 1)) }
        }

        fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
            let wrong = |_| E::invalid_value(de::Unexpected::Signed(v), &self);
            u64::try_from(v).map_err(wrong).and_then(|v| self.visit_u64(v))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(Flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fallback, Near, Split, fixtures};

    /// What is said of TOML, without the column.
    fn error(text: &str) -> String {
        SettingsError { column: None, ..Settings::from_toml(text).unwrap_err() }.to_string()
    }

    #[test]
    fn vt_76_numbers_are_checked_with_index_and_name() {
        let text = "[[material]]\nname = \"Ice\"\nmu = 0.1\n\n[[material]]\nname = \"Setts\"\nrr = 1.5\nmu = -0.2\n";
        assert_eq!(error(text), "line 8: material 2 (\"Setts\"): mu is -0.2; write a number of 0 or more");
        for (key, value) in [("mu", "nan"), ("rr", "inf"), ("gain", "-1.0"), ("cone_index", "-inf")] {
            let why = error(&format!("[[material]]\nname = \"Ice\"\n{key} = {value}\n"));
            assert!(why.starts_with(&format!("line 3: material 1 (\"Ice\"): {key} is ")), "{why}");
        }
        let why = Settings::from_json(r#"{"material": [{"name": "Ice", "mu": -1}]}"#).unwrap_err();
        assert_eq!(why.to_string(), "material 1 (\"Ice\"): mu is -1; write a number of 0 or more");
        let zero = Settings::from_toml("[[material]]\nname = \"Ice\"\nmu = 0\nrr = 0.0\n").unwrap();
        assert_eq!((zero.materials[0].mu, zero.materials[0].rr), (Some(0.0), Some(0.0)));
    }

    #[test]
    fn vt_77_include_in_both_forms() {
        for (text, wanted) in [("1", true), ("true", true), ("0", false), ("false", false)] {
            let toml = Settings::from_toml(&format!("[[material]]\nname = \"a\"\ninclude = {text}\n")).unwrap();
            let json =
                Settings::from_json(&format!(r#"{{"material": [{{"name": "a", "include": {text}}}]}}"#)).unwrap();
            assert_eq!([toml, json].map(|s| s.materials[0].include), [Some(wanted); 2]);
        }
        let why = error("[[material]]\nname = \"a\"\ninclude = 2\n");
        assert!(why.contains("line 3") && why.contains("true, false, 1 or 0"), "{why}");
        let why = error("[[material]]\nname = \"a\"\nobstacle = -1\n");
        assert!(why.contains("line 3") && why.contains("true, false, 1 or 0"), "{why}");
    }

    #[test]
    fn vt_78_the_one_without_a_name_takes_the_rest() {
        let listed = "[[material]]\nname = \"\"\nmu = 0.3\nrr = 2\n[[material]]\nname = \"Grass\"\nmu = 0.4\n";
        let mut scene = fixtures::mats();
        let applied = Settings::from_toml(listed).unwrap().apply(&mut scene).unwrap();
        let factors = |scene: &Scene| scene.materials.iter().map(|m| (m.mu, m.rr)).collect::<Vec<_>>();
        assert_eq!(factors(&scene), [(0.3, 2.0), (0.4, 1.6), (0.3, 2.0)], "Concrete, Grass, and without a name");
        assert_eq!(applied.unlisted, ["", "Concrete"]);
        assert!(applied.plain.is_empty(), "each is given a mu");
        let plain = |text: &str| Settings::from_toml(text).unwrap().apply(&mut fixtures::mats()).unwrap().plain;
        assert_eq!(plain("build.near = 3"), ["", "Concrete", "Grass"]);
        assert_eq!(plain("[[material]]\nname = \"\"\nmu = 1\n[[material]]\nname = \"Grass\"\nrr = 2\n"), ["Grass"]);
        let mu =
            Settings::from_toml("[[material]]\nname = \"\"\nmu = 1\n[[material]]\nname = \"Grass\"\nmu = 1\nrr = 2\n");
        let applied_mu = mu.unwrap().apply(&mut fixtures::mats()).unwrap();
        assert_eq!((applied_mu.plain_rr.len(), applied_mu.plain_gain.len()), (2, 3), "all but Grass, and all");

        let mut scene = fixtures::mats();
        let alone = Settings::from_toml("[[material]]\nname = \"Grass\"\nmu = 0.4\n").unwrap();
        assert_eq!(alone.apply(&mut scene).unwrap().unlisted, ["", "Concrete"]);
        assert_eq!(factors(&scene), [(1.0, 1.0), (0.4, 1.6), (1.0, 1.0)]);
    }

    #[test]
    fn the_first_that_fits_counts() {
        let text = r#"
            material = [
                { pattern = "C*e", mu = 0.1 },
                { name = "Concrete", mu = 0.2 },
                { pattern = "?rass", mu = 0.3, classes = [0, 5], label = 7, surface_type = 9, priority = -2, cone_index = 80 },
                { pattern = "*", mu = 0.4 },
                { pattern = "nothing*" },
            ]"#;
        let mut scene = fixtures::mats();
        let applied = Settings::from_toml(text).unwrap().apply(&mut scene).unwrap();
        assert_eq!([0, 1, 2].map(|i| scene.materials[i].mu), [0.1, 0.3, 0.4]);
        let idle = ["material 2 (\"Concrete\"): an earlier entry takes it", "material 5 (\"nothing*\"): it fits none"];
        assert_eq!(applied.idle, idle);
        let text = "[[material]]\npattern = \"GR*\"\n[[material]]\nname = \"Grass\"\n[[material]]\nname = \"Grass\"\n[[material]]\npattern = \"G*\"\n";
        let idle = Settings::from_toml(text).unwrap().apply(&mut fixtures::mats()).unwrap().idle;
        assert_eq!(
            idle,
            [
                "material 1 (\"GR*\"): it fits none; \"Grass\" only if capitals did not count",
                "material 3 (\"Grass\"): an earlier entry takes it",
                "material 4 (\"G*\"): earlier entries take all that it fits",
            ]
        );
        assert!(applied.unlisted.is_empty());
        let grass = &scene.materials[1];
        assert_eq!((grass.class_mask, grass.label, grass.surface), (0b10_0001, 7, 9));
        assert_eq!((grass.priority, grass.cone_index, grass.rr), (-2, 80.0, 1.6), "what is not stated stays");
    }

    #[test]
    fn vt_26_what_is_not_included_is_left_out() {
        let mut scene = fixtures::mats();
        let text = "[[material]]\nname = \"Grass\"\ninclude = 0\n[[material]]\nname = \"\"\nobstacle = true\n\
                    [[material]]\nname = \"Concrete\"\nundersides = \"ground\"\n";
        Settings::from_toml(text).unwrap().apply(&mut scene).unwrap();
        assert_eq!(scene.materials[0].undersides, Some(Undersides::Ground));
        let report = crate::build(&scene, &Options::default()).unwrap().report;
        assert_eq!((report.excluded, report.obstacles, report.triangles), (2, 2, 2));
    }

    #[test]
    fn repairs_can_be_set_and_switched_off() {
        let build = |text: &str| Settings::from_toml(text).unwrap().build;
        assert_eq!(build("").stitch, Options::default().stitch);
        let off = build("build.stitch = false\nbuild.undersides = \"ceiling\"\nbuild.max_slope = 60");
        assert_eq!((off.stitch, off.undersides, off.max_slope), (None, Undersides::Ceiling, Some(60.0)));
        let near = build("build.weld = { plan = 2, height = 3 }\nbuild.stitch = { plan = 8, height = 128 }");
        assert_eq!((near.weld, near.stitch), (Near { plan: 2, height: 3 }, Some(Near { plan: 8, height: 128 })));
        let split = build("build.split = { bundle_size = 5 }");
        assert_eq!(split.split, Some(Split { bundle_size: 5, ..Split::DEFAULT }));
        for options in [off, near, split] {
            let settings = Settings { build: options.clone(), ..Settings::default() };
            assert_eq!(build(&settings.to_toml()), options);
            assert_eq!(Settings::from_json(&serde_json::to_string(&settings).unwrap()).unwrap().build, options);
        }
        assert!(error("[build]\nstitch = { plan = 8, hight = 128 }").contains("did you mean \"height\"?"));
    }

    #[test]
    fn unknown_words_have_their_line_and_the_nearest_spelling() {
        for (text, parts) in [
            ("crs = \"a\"\n[[material]]\nnmae = \"x\"\n", &["line 3: ", "\"nmae\"", "did you mean \"name\"?"][..]),
            ("\n[build]\nnaer = 3.0\n", &["line 3: ", "did you mean \"near\"?"]),
            ("[build]\nfallback = \"defalt\"\n", &["line 2: ", "did you mean \"default\"?"]),
            ("materials = 3\n", &["line 1: ", "did you mean \"material\"?"]),
            ("[[material]]\nname = \"x\"\nfriction = 0.7\n", &["line 3: ", "did you mean \"mu\"?"]),
            ("[[material]]\nname = \"x\"\ntype = 7\n", &["line 3: ", "did you mean \"surface_type\"?"]),
            (
                "[[material]]\nname = \"x\"\nmu = \"slippery\"\n",
                &["line 3: mu is the text \"slippery\"; write a number"],
            ),
            ("[[material]]\nname = \"x\"\nmu = \n", &["line 3: "]),
            ("[[material]]\nmu = 1.0\n", &["line 1: material 1 (\"\"): give either name or pattern"]),
            ("[[material]]\nname = \"x\"\nclasses = [32]\n", &["line 3: ", "0 to 31"]),
            ("[build]\nxy_log2 = 3\n", &["build: steps go from"]),
            ("[[source]]\nfile = \"a.obj\"\nup = \"w\"\n", &["line 3: ", "x, y, z"]),
            ("[[source]]\nfile = \"a.obj\"\nscale = 0\n", &["line 3: source 1 (\"a.obj\"): scale"]),
            ("[[source]]\nup = \"y\"\n", &["line 1: source 1 (\"\"): name a file"]),
            ("[[source]]\nfile = \"a.obj\"\nyaw = 3.0\n", &["line 3: ", "did you mean \"yaw_deg\"?"]),
            ("[[source]]\nfile = \"a.obj\"\n\ntranslate = [1.0, nan, 2.0]\n", &["line 4: ", "[x, y, z]"]),
            ("patch_tolerance = nan\n", &["patch_tolerance"]),
        ] {
            let why = error(text);
            parts.iter().for_each(|part| assert!(why.contains(part), "no {part:?} in {why}"));
        }
        let why = Settings::from_json("{\n\"build\": {\n\"naer\": 3 } }").unwrap_err().to_string();
        assert!(why.starts_with("line 3, column 6: ") && why.contains("did you mean \"near\"?"), "{why}");

        let text = "[[material]]\nname = \"Grass\"\n\n[[material]]\nmu = 0.2\nname = \"Concerte\"\n";
        let why = Settings::from_toml(text).unwrap().apply(&mut fixtures::mats()).unwrap_err().to_string();
        assert_eq!(
            why,
            "line 6: material \"Concerte\" is not in the scene (did you mean \"Concrete\"?); as pattern = \"Concerte\" it may be absent"
        );
        let all = Settings::from_toml("[[material]]\nname = \"*\"\nmu = 1\n").unwrap();
        let why = all.apply(&mut fixtures::mats()).unwrap_err().to_string();
        assert_eq!(why, "line 2: material \"*\" is not in the scene (did you mean pattern = \"*\"?)");
    }

    /// Not in the words of a parser: place, cause, and what to write, as the language has it; and no advice where there is doubt.
    #[test]
    fn slips_of_the_pen_are_understood() {
        let grass = |rest: &str| format!("[[material]]\nname = \"Grass\"\n{rest}\n");
        let file = |rest: &str| format!("[[source]]\nfile = \"a.obj\"\n{rest}\n");
        let build = |rest: &str| format!("[build]\n{rest}\n");
        for (text, wanted) in [
            (grass("mu = 0,85"), "line 3, column 7: a decimal comma; write mu = 0.85"),
            (grass("mu = 0,85 # dry, or wet"), "line 3, column 7: a decimal comma; write mu = 0.85"),
            (grass("mu = 1,2,3"), "line 3, column 7: mu takes one value, and a number has no comma"),
            (grass("label = 1,000"), "line 3, column 10: label takes one value, and a number has no comma"),
            (grass("label = 7 # a, b\nmu = x # 0,5"), "line 4, column 6: mu is \"x\"; write a number"),
            (grass("classes = 0,5"), "line 3, column 12: a list stands in brackets; write classes = [0, 5]"),
            (grass("classes = 3"), "line 3, column 11: classes is 3; write a list, as [0, 5]"),
            (
                grass("classes = [0.5]"),
                "line 3, column 12: classes has 0.5 in its list; write a whole number from 0 to 31",
            ),
            (
                grass("classes = [0, 300]"),
                "line 3, column 15: classes has 300 in its list; write a whole number from 0 to 31",
            ),
            (grass("classes = [0, 32]"), "line 3: material 1 (\"Grass\"): classes go from 0 to 31"),
            (grass("classes = [\n0,\n300]"), "line 5, column 1: 300 stands where a small whole number belongs"),
            (file("translate = 1,2,3"), "line 3, column 14: a list stands in brackets; write translate = [1, 2, 3]"),
            (file("translate = 1,2"), "line 3, column 14: translate takes three numbers, as [1.0, 2.0, 3.0]"),
            (file("translate = 3"), "line 3, column 13: translate is 3; write three numbers, as [1.0, 2.0, 3.0]"),
            (
                file("translate = [1, 2]"),
                "line 3, column 13: translate has 2 numbers; write three numbers, as [1.0, 2.0, 3.0]",
            ),
            (
                file("translate = [1, 2, 3, 4]"),
                "line 3, column 13: translate has 4 numbers; write three numbers, as [1.0, 2.0, 3.0]",
            ),
            (
                file("translate = [0,5, 1,5, 2]"),
                "line 3, column 13: translate has 5 numbers; write three numbers, as [1.0, 2.0, 3.0]",
            ),
            (
                file("translate=[1,2,\"3\"]"),
                "line 3, column 16: translate has the text \"3\" in its list; write a number without quotation marks: 3",
            ),
            (file("translate = [\n1,\n2,\n\"3\"]"), "line 6, column 1: the text \"3\" stands where a number belongs"),
            (
                build("origin = [0, 0, 0, 0]"),
                "line 2, column 10: origin has 4 numbers; write three numbers, as [1.0, 2.0, 3.0]",
            ),
            (build("origin = 0,0,0"), "line 2, column 11: a list stands in brackets; write origin = [0, 0, 0]"),
            (
                build("source_error = { rest = [0, 0, 0], side = 1, squares = [] }"),
                "line 2, column 25: rest has 3 numbers; write 2 numbers in a list",
            ),
            (
                build("source_error = { rest = [0, 0], side = 1, squares = [[1, 2, 3, 4, 5]] }"),
                "line 2, column 54: squares has 5 numbers; write 4 numbers in a list",
            ),
            (build("weld = 3"), "line 2, column 8: weld is 3; write a table, as { plan = 4, height = 64 }"),
            (build("weld = 1,2"), "line 2, column 9: weld takes a table, as { plan = 4, height = 64 }"),
            (
                build("weld = [1, 2, 3]"),
                "line 2, column 8: weld is a list; write a table, as { plan = 4, height = 64 }",
            ),
            (
                build("stitch = 3"),
                "line 2, column 10: stitch is 3; write a table, as { plan = 4, height = 64 }, or false",
            ),
            (
                build("stitch = true"),
                "line 2, column 10: stitch is true; write a table, as { plan = 4, height = 64 }, or false",
            ),
            (build("split = 3"), "line 2, column 9: split is 3; write a table, as { bundle_size = 8 }"),
            (build("max_cost = 24"), "line 2, column 12: max_cost is 24; write a table, as { tests = 24 }"),
            (build("tile_log2 = 0.5"), "line 2, column 13: tile_log2 is 0.5; write a whole number from 6 to 26"),
            (
                build("near = \"4\""),
                "line 2, column 8: near is the text \"4\"; write a number without quotation marks: near = 4",
            ),
            ("build.weld = 2\n".into(), "line 1, column 14: weld is 2; write a table, as { plan = 4, height = 64 }"),
            (
                "source = [[\"a.obj\"]]\n".into(),
                "line 1, column 11: source has a list in its list; write a table with its keys",
            ),
            (
                grass("mu = \"0.85\""),
                "line 3, column 6: mu is the text \"0.85\"; write a number without quotation marks: mu = 0.85",
            ),
            (
                grass("mu = \"0,85\" # dry"),
                "line 3, column 6: mu is the text \"0,85\"; write a number without quotation marks: mu = 0.85",
            ),
            (grass("mu = .85"), "line 3, column 6: a number begins with a digit; write mu = 0.85"),
            (grass("mu = 5."), "line 3, column 8: a number ends with a digit; write mu = 5.0"),
            (grass("mu = 05"), "line 3, column 6: a number begins with no other zero; write mu = 5"),
            (
                grass("mu: 5"),
                "line 3, column 5: key with no value, expected `=`; a line is KEY = VALUE, [TABLE] or [[TABLE]]; behind # stands a comment",
            ),
            (grass("mu = 1\nmu = 2"), "line 4, column 1: mu stands here a second time; leave one of them"),
            (grass("include = yes"), "line 3, column 11: include is \"yes\"; write true, false, 1 or 0"),
            (grass("include = 2"), "line 3, column 11: include is 2; write true, false, 1 or 0"),
            (
                grass("surface_type = 1.5"),
                "line 3, column 16: surface_type is 1.5; write a whole number from 0 to 65535",
            ),
            (
                "[[material]]\nname = Grass, wet\n".into(),
                "line 2, column 13: text stands in quotation marks, \"...\"; write name = \"Grass, wet\"",
            ),
            (
                "[[material]]\nname = “Grass”\n".into(),
                "line 2, column 8: text stands in quotation marks, \"...\"; write name = \"Grass\"",
            ),
            (
                "[[material]]\nname = \"Grass\n".into(),
                "line 2, column 14: a text ends in the line that it begins in, with \"",
            ),
            (
                "[[material]]\nname = \"a, 0,5\" \"b\"\n".into(),
                "line 2, column 17: unexpected key or value, expected newline, `#`; a line is KEY = VALUE, [TABLE] or [[TABLE]]; behind # stands a comment",
            ),
            (
                "[material]\nname = \"a\"\n".into(),
                "line 1, column 1: there may be several of these: write [[material]], with two brackets on each side",
            ),
            (
                "[[source]]\nfile = \"C:\\tracks\\a.obj\"\n".into(),
                "line 2, column 19: a backslash inside \"...\" begins an escape; write / instead of \\, or '...' instead of \"...\"",
            ),
            (
                "[[source]]\nfile=\"C:\\Users\\me\\town.obj\"\n".into(),
                "line 2, column 11: a backslash inside \"...\" begins an escape; write / instead of \\, or '...' instead of \"...\"",
            ),
            (
                "mu = 3\n".into(),
                "line 1, column 1: \"mu\" is not known here; it stands under [[material]]; known: crs, patch_tolerance, build, source, material",
            ),
            (
                "undersides = 3\n".into(),
                "line 1, column 1: \"undersides\" is not known here; it stands under [build], or under [[material]]; known: crs, patch_tolerance, build, source, material",
            ),
            (
                "plan = 3\n".into(),
                "line 1, column 1: \"plan\" is not known here; it stands under [build.weld] and [build.stitch]; known: crs, patch_tolerance, build, source, material",
            ),
            (
                build("weld = { plan = 1, hight = 2 }"),
                "line 2, column 20: \"hight\" is not known here (did you mean \"height\"?); known: plan, height",
            ),
        ] {
            assert_eq!(Settings::from_toml(&text).unwrap_err().to_string(), wanted, "{text}");
        }
        for (text, wanted) in [
            (
                r#"{"material": [{"name": "a", "mu": "0.5"}]}"#,
                r#"line 1, column 39: mu is the text "0.5"; write a number without quotation marks: "mu": 0.5"#,
            ),
            (
                "{\n\"material\": [{\"name\": \"a\",\n\"mu\": 0,85}]}",
                r#"line 3, column 9: a decimal comma; write "mu": 0.85"#,
            ),
            (
                r#"{"material": [{"name": "0:5", "label": 1,000}]}"#,
                r#"line 1, column 42: label takes one value, and a number has no comma"#,
            ),
            (
                r#"{"material": [{"classes": [0.5]}]}"#,
                r#"line 1, column 30: classes has 0.5 in its list; write a whole number from 0 to 31"#,
            ),
            (r#"{"material": [{"classes": 5}]}"#, r#"line 1, column 27: classes is 5; write a list, as [0, 5]"#),
            (r#"{"material": {"name": "a"}}"#, r#"line 1, column 13: material is a table; write a list, as [{ ... }]"#),
            (
                r#"{"material": [{"mu": 1, "mu": 2}]}"#,
                r#"line 1, column 28: mu stands here a second time; leave one of them"#,
            ),
            (
                r#"{"source": [{"file": "C:\tracks\a.obj"}]}"#,
                r#"line 1, column 33: a backslash inside "..." begins an escape; write / instead of \, or \\"#,
            ),
            (
                r#"{"source": [{"translate": 1,2,3}]}"#,
                r#"line 1, column 27: translate is 1; write three numbers, as [1.0, 2.0, 3.0]"#,
            ),
            (
                r#"{"source": [{"translate": [1,2,3,4]}]}"#,
                r#"line 1, column 35: translate has 4 numbers; write three numbers, as [1.0, 2.0, 3.0]"#,
            ),
            (
                r#"{"source": [{"translate": [1,2,"3"]}]}"#,
                r#"line 1, column 34: translate has the text "3" in its list; write a number without quotation marks: 3"#,
            ),
            (
                r#"{"build": {"origin": [0,0]}}"#,
                r#"line 1, column 26: origin has 2 numbers; write three numbers, as [1.0, 2.0, 3.0]"#,
            ),
            (
                r#"{"build": {"weld": 3}}"#,
                r#"line 1, column 20: weld is 3; write a table, as { "plan": 4, "height": 64 }"#,
            ),
            (
                r#"{"near": 3}"#,
                r#"line 1, column 7: "near" is not known here; it stands in "build"; known: crs, patch_tolerance, build, source, material"#,
            ),
            (
                r#"{"crs": }"#,
                r#"line 1, column 9: expected value; JSON has "KEY": VALUE, with commas between, and none after the last"#,
            ),
        ] {
            assert_eq!(Settings::from_json(text).unwrap_err().to_string(), wanted, "{text}");
        }
        for (text, there) in [
            (grass("near = 3"), "under [build]"),
            (build("crs = \"a\""), "at the top, before every [table]"),
            (build("bundle_size = 3"), "under [build.split]"),
        ] {
            let why = Settings::from_toml(&text).unwrap_err().to_string();
            assert!(why.contains(&format!("is not known here; it stands {there}; known: ")), "{why}");
        }
    }

    #[test]
    fn both_languages_say_the_same() {
        let settings = Settings {
            crs: "EPSG:32632".into(),
            patch_tolerance: Some(0.01),
            build: Options { fallback: Fallback::EdgeExtend, tile_log2: Some(14), near: 0.1, ..Options::default() },
            sources: vec![SourceFile {
                file: "a \"b\".obj".into(),
                licence: "CC0".into(),
                up: Some(Up::NegX),
                unit: Some(Unit::UsFt),
                yaw_deg: Some(-30.0),
                scale: Some(2.5),
                translate: Some([1.0, -2.0, 3.5]),
            }],
            materials: vec![MaterialRule::from(&Material::new("wet\nleaf\\*", 0.123_456_789_012_345_68))],
        };
        let toml = settings.to_toml();
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(Settings::from_toml(&toml).unwrap().to_toml(), toml);
        assert_eq!(Settings::from_json(&json).unwrap().to_toml(), toml);
        assert_eq!(Settings::from_toml("").unwrap().to_toml(), Settings::default().to_toml());
        assert_eq!(Settings::from_json("{}").unwrap().build, Options::default());
    }

    #[test]
    fn patterns() {
        let fits = |p: &str, n: &str| super::fits(&p.chars().collect::<Vec<_>>(), &n.chars().collect::<Vec<_>>());
        for (pattern, name) in [
            ("", ""),
            ("*", ""),
            ("a*", "a"),
            ("*b*", "abc"),
            ("a?c", "abc"),
            ("*aab", "aaaab"),
            ("a*b*c", "axbxbxc"),
            ("ü?", "üß"),
        ] {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [("", "a"), ("?", ""), ("a", "A"), ("a*b", "abc"), ("*aab", "aaaba"), ("??", "a")] {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
        // no blow-up
        assert!(!fits(&"*a".repeat(30), &"a".repeat(29)) && !fits(&"*a".repeat(2000), &("a".repeat(1999) + "b")));
    }
}
