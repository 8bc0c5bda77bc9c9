//! The one settings structure: sources, materials and build options, as TOML or as JSON of the same shape.

mod apply;
pub mod factors;
mod faults;
pub mod frame;
#[cfg(feature = "json")]
mod json;
pub mod marks;
#[cfg(feature = "json")]
pub mod mavs;
mod part;
pub mod placement;
mod rule;
mod tdf;
#[cfg(test)]
mod tests;
#[cfg(feature = "json")]
mod vstu;

pub use self::apply::Applied;
use self::faults::of_toml;
use self::frame::{Frame, Unit, Up};
use self::marks::{Pothole, Trail};
use self::placement::{Placement, Scatter};
use crate::options::{Options, Undersides};
use crate::report::Code;
pub use crate::util::serde_ext::Scale;
use crate::util::serde_ext::{Table, flag, some_exactly, some_table, some_unsigned, surface_type, table, word};
use crate::util::text::{bounded, grouped};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::{fmt, marker::PhantomData, path::Path};
use toml::de::DeTable;

/// Settings of an image. Every key may be left out; unknown ones are errors.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Coordinate reference system of the frame, as the user names it; recorded. Files of heights are laid on it:
    /// EPSG:CODE.
    pub crs: String,
    /// Largest error at a post of every height field, metres; by default each field's own.
    pub patch_tolerance: Option<f64>,
    /// Kinds of findings that are right as they are: nothing is said of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Code>,
    /// An image of heights instead of triangles; by default none.
    #[serde(deserialize_with = "some_table")]
    pub raster: Option<Raster>,
    /// A size or an error of a field of heights, for which its posts are found; by default none.
    #[serde(deserialize_with = "some_table", skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitTo>,
    /// Build options; what a command line says goes before them.
    #[serde(deserialize_with = "table")]
    pub build: Options,
    /// Files, in order. Names that are not absolute are relative to the settings file.
    #[serde(rename = "source", deserialize_with = "few")]
    pub sources: Vec<SourceFile>,
    /// Materials by name or pattern: all that fit add up, and one named "" is for all that none fits. See
    /// [`Settings::apply`].
    #[serde(rename = "material", deserialize_with = "few")]
    pub materials: Vec<MaterialRule>,
    /// Rules for faces by object, file and material: all that fit add up. They go before what materials and sources
    /// say.
    #[serde(rename = "rule", deserialize_with = "few", skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<PartRule>,
    /// Bands of the materials `trail` and `track`, cut into all that is ground.
    #[serde(rename = "trail", deserialize_with = "few", skip_serializing_if = "Vec::is_empty")]
    pub trails: Vec<Trail>,
    /// Holes, cut into all that is ground.
    #[serde(rename = "pothole", deserialize_with = "few", skip_serializing_if = "Vec::is_empty")]
    pub potholes: Vec<Pothole>,
}

/// A field of heights that is made of a mesh: of its highest ground, at posts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Raster {
    /// Way from one post to the next, metres, above 0.
    pub cell: f64,
    /// The one material of the field; by default that of all faces.
    #[serde(default)]
    pub material: Option<String>,
    /// Where the posts lie.
    #[serde(default)]
    pub at: PostsAt,
}

/// A size and an error that a field of heights keeps: one of them, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FitTo {
    /// Most bytes of the image, above 0.
    pub size: Option<u64>,
    /// Largest error in height, metres, above 0.
    pub max_error: Option<f64>,
    /// The one material of a field that is made of a mesh; by default that of all faces.
    pub material: Option<String>,
}

/// Where the posts of a field lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PostsAt {
    /// At multiples of their distance.
    #[default]
    Multiples,
    /// At the centres of squares, of which the first has its corner at the least x and y of the ground.
    Centres,
}

impl FitTo {
    /// Whether such an error can be asked for.
    pub fn is_error(metres: f64) -> bool {
        metres > 0.0 && metres < 1e9
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<&'static str> {
        match (self.size, self.max_error) {
            (None, None) => Some("fit: state size, max_error, or both"),
            (Some(0), _) => Some("fit: size is a number of bytes above 0"),
            (_, Some(v)) if !Self::is_error(v) => Some("fit: max_error is a number above 0, in metres"),
            _ => None,
        }
    }
}

impl Raster {
    /// Whether such a way from one post to the next can be.
    pub fn is_cell(metres: f64) -> bool {
        metres > 0.0 && metres < 1e9
    }
}

/// A file of a scene, how its numbers become metres (see [`Frame`] for the order), and what is said of all its faces.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceFile {
    /// Its name.
    pub file: String,
    /// Name of its sources; by default as the file, and `FILE#2` where that is placed a second time.
    pub name: Option<String>,
    /// The axis that points up: x, y, z, -x, -y, -z; by default as the file says, of an OBJ z.
    #[serde(with = "word", skip_serializing_if = "Option::is_none")]
    pub up: Option<Up>,
    /// m, km, cm, mm, ft, us-ft, in, or one of their longer names; by default as the file says, of an OBJ m.
    #[serde(with = "word", skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// Factor beside the unit, above 0, or one for each of x, y and z of the scene, of which negative ones mirror; by
    /// default 1.
    pub scale: Option<Scale>,
    /// First turn, about x, in degrees, -360 to 360: a positive one raises what lies to the north; by default 0.
    pub roll_deg: Option<f64>,
    /// Second turn, about y, in degrees, -360 to 360: a positive one lowers what lies to the east; by default 0.
    pub pitch_deg: Option<f64>,
    /// Last turn, about up, in degrees, anticlockwise seen from above, -360 to 360; by default 0.
    pub yaw_deg: Option<f64>,
    /// Way moved after all else, in metres; by default none.
    #[serde(deserialize_with = "some_exactly")]
    pub translate: Option<[f64; 3]>,
    /// For heights: the distance between posts, metres, above 0.
    pub cell: Option<f64>,
    /// For a height map: metres of a step, other than 0.
    pub height_scale: Option<f64>,
    /// For a height map: the height of its step 0, metres.
    pub height_zero: Option<f64>,
    /// For a height map: where its first row lies, north or south.
    pub first_row: Option<FirstRow>,
    /// For a height map: whether its middle lies at zero, instead of its south-western post.
    #[serde(deserialize_with = "flag")]
    pub centred: Option<bool>,
    /// For heights: the system that the file does not state, EPSG:CODE.
    pub file_crs: Option<String>,
    /// For heights: a number that stands for no height.
    pub no_data: Option<f64>,
    /// For heights: least and greatest x and y that are used, [x, y, x, y] of the file's own plane.
    #[serde(deserialize_with = "some_exactly")]
    pub window: Option<[f64; 4]>,
    /// Of a road of OpenCRG: the file beside it whose numbers are mu.
    pub friction: Option<String>,
    /// Whose it is and on what terms, as the user words it; recorded.
    pub licence: String,
    /// Kinds of findings about how it was read that are right as they are: nothing is said of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<Code>,
    /// The material of all its faces, whatever the file says; by default as the file says.
    pub material: Option<String>,
    /// Whether its faces are used at all: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub include: Option<bool>,
    /// Whether its faces are obstacles, which wheels do not stand on: true or false, 1 or 0. With "box" a box stands
    /// for it, as wide as it is along x, y and z before it is placed.
    #[serde(deserialize_with = "obstacle")]
    pub obstacle: Option<Obstacle>,
    /// Which of its faces are undersides: auto, ground (none), ceiling.
    pub undersides: Option<Undersides>,
    /// Friction coefficient of its faces, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub mu: Option<f64>,
    /// Rolling resistance, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub rr: Option<f64>,
    /// Gain, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub gain: Option<f64>,
    /// Surface type, 0 to 65,535, or a name as below.
    #[serde(deserialize_with = "surface_type")]
    pub surface_type: Option<u16>,
    /// Cone index, PSI, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub cone_index: Option<f64>,
    /// Label for sensors.
    pub label: Option<u32>,
    /// Which of surfaces at one height answers, and of coincident triangles stays: that of the highest priority.
    pub priority: Option<i32>,
    /// Its ground hides other ground of lower precedence over the same place, within `precedence_band`: any whole
    /// number.
    pub precedence: Option<i16>,
    /// Whether it has no height of its own, and gives friction, type and name to the ground right below it.
    #[serde(deserialize_with = "flag")]
    pub friction_only: Option<bool>,
    /// Where it stands, after all of the above; by default once, as it lies.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placed: Vec<Placement>,
    /// Further places, drawn at random.
    #[serde(deserialize_with = "some_table")]
    pub scatter: Option<Scatter>,
    /// The line of the settings file that names it.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// A rule about the faces of an object, a file or a material: all given keys must fit. In each `*` is any text and `?`
/// any one character. Keys that are left out stay as the material has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PartRule {
    /// Their object: its name in the file, or without wildcards the whole name of the source as answers have it,
    /// `file/object`.
    pub object: Option<String>,
    /// Their file: its name without folders, or what it is called in the names of sources.
    pub file: Option<String>,
    /// Their material: the name that the file gives it, or its source in these settings.
    pub material: Option<String>,
    /// Name of their material in the image; by default `MATERIAL @ FILE/OBJECT`, with the given parts only, for each
    /// rule. With "" they have none.
    pub name: Option<String>,
    /// Whether a scene may be without such faces: true or false, 1 or 0. Without it that is an error.
    #[serde(deserialize_with = "flag")]
    pub optional: Option<bool>,
    /// Whether they are used at all: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub include: Option<bool>,
    /// Whether they are obstacles, which wheels do not stand on: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub obstacle: Option<bool>,
    /// Which of them are undersides: auto, ground (none), ceiling.
    pub undersides: Option<Undersides>,
    /// Friction coefficient, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub mu: Option<f64>,
    /// Rolling resistance, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub rr: Option<f64>,
    /// Gain, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub gain: Option<f64>,
    /// Surface type, 0 to 65,535, or a name as below.
    #[serde(deserialize_with = "surface_type")]
    pub surface_type: Option<u16>,
    /// Classes for masks: 0 to 31 each.
    pub classes: Option<Vec<u8>>,
    /// Cone index, PSI, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub cone_index: Option<f64>,
    /// Label for sensors.
    pub label: Option<u32>,
    /// Which of surfaces at one height answers, and of coincident triangles stays: that of the highest priority.
    pub priority: Option<i32>,
    /// Its ground hides other ground of lower precedence over the same place, within `precedence_band`: any whole
    /// number.
    pub precedence: Option<i16>,
    /// Whether it has no height of its own, and gives friction, type and name to the ground right below it.
    #[serde(deserialize_with = "flag")]
    pub friction_only: Option<bool>,
    /// The line of the settings file that names it.
    #[serde(skip)]
    pub(crate) line: Option<usize>,
}

/// An entry for materials of a name or a pattern. Keys that are left out stay as the source has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaterialRule {
    /// The exact name; "" for faces without a material and for every name that nothing else fits.
    pub name: Option<String>,
    /// Instead of a name: `*` is any text, `?` any one character.
    pub pattern: Option<String>,
    /// Whether a scene may be without it: true or false, 1 or 0. Without it an absent name is an error.
    #[serde(deserialize_with = "flag")]
    pub optional: Option<bool>,
    /// Whether its faces are used at all: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub include: Option<bool>,
    /// Whether its faces are obstacles, which wheels do not stand on: true or false, 1 or 0.
    #[serde(deserialize_with = "flag")]
    pub obstacle: Option<bool>,
    /// Which of its faces are undersides: auto, ground (none), ceiling; by default as the build options say.
    pub undersides: Option<Undersides>,
    /// Friction coefficient, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub mu: Option<f64>,
    /// Rolling resistance, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub rr: Option<f64>,
    /// Gain, as a factor, 0 or more.
    #[serde(deserialize_with = "some_unsigned")]
    pub gain: Option<f64>,
    /// Surface type, 0 to 65,535, or its name: 0 dry, 1 wet, 2 grass, 3 dirt, 4 gravel, 5 rumble_strip, 16 ice, 17
    /// snow, 18 clay, 19 sand; others are the user's.
    #[serde(deserialize_with = "surface_type")]
    pub surface_type: Option<u16>,
    /// Classes for masks: 0 to 31 each.
    pub classes: Option<Vec<u8>>,
    /// Cone index, PSI, 0 or more; if not stated 250 for clay and sand, else 0.
    #[serde(deserialize_with = "some_unsigned")]
    pub cone_index: Option<f64>,
    /// Label for sensors.
    pub label: Option<u32>,
    /// Which of surfaces at one height answers, and of coincident triangles stays: that of the highest priority.
    pub priority: Option<i32>,
    /// Its ground hides other ground of lower precedence over the same place, within `precedence_band`: any whole
    /// number.
    pub precedence: Option<i16>,
    /// Whether it has no height of its own, and gives friction, type and name to the ground right below it.
    #[serde(deserialize_with = "flag")]
    pub friction_only: Option<bool>,
    /// The line of the settings file that names it.
    #[serde(skip)]
    line: Option<usize>,
}

/// An error in settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsError {
    /// The line of the text, from 1, where it is known.
    pub line: Option<usize>,
    /// The character of the line, from 1, where a parser stopped.
    pub column: Option<usize>,
    /// Cause, and what to write instead.
    pub text: String,
    /// The rules of the language, if the text breaks them.
    pub rule: Option<&'static str>,
    /// Whether a list of the materials of a scene tells what to write.
    pub of_materials: bool,
}

impl SettingsError {
    /// An error of a line, if it is known.
    pub(crate) fn at(line: Option<usize>, text: impl Into<String>) -> Self {
        SettingsError { line, column: None, text: text.into(), rule: None, of_materials: false }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, _) => {}
        }
        f.write_str(&self.text)?;
        self.rule.map_or(Ok(()), |rule| write!(f, "; {rule}"))
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Entries of a list at most: a scene has no more materials.
    pub const MAX_ENTRIES: usize = 65_535;
    /// Patterns of materials at most, and rules: each is tried with every name.
    pub const MAX_PATTERNS: usize = 512;

    /// Reads TOML.
    pub fn from_toml(text: &str) -> Result<Self, SettingsError> {
        // before they take memory; each of the three lists has a limit of its own
        let mut heads = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[["));
        if let Some((i, _)) = heads.nth(3 * Self::MAX_ENTRIES) {
            return Err(SettingsError::at(Some(i + 1), too_many()));
        }
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let line = |at: usize| ends.partition_point(|&end| end < at) + 1;
        let tree = DeTable::parse(text).map_err(|e| of_toml(text, &e, false))?;
        let place = |list: &str, i: usize, key: &str| {
            let found = tree.get_ref().get(list)?;
            let mut entry = if matches!(list, "build" | "raster" | "fit") { found } else { found.get_ref().get(i)? };
            for key in key.split('.') {
                entry = entry.get_ref().get(key).unwrap_or(entry);
            }
            Some(line(entry.span().start))
        };
        if let more @ Some(_) = LISTS.into_iter().find_map(|list| place(list, Self::MAX_ENTRIES, "")) {
            return Err(SettingsError::at(more, too_many()));
        }
        let mut settings: Settings = toml::from_str(text).map_err(|e| of_toml(text, &e, true))?;
        for (i, source) in settings.sources.iter_mut().enumerate() {
            source.line = place("source", i, "file");
        }
        for (i, rule) in settings.materials.iter_mut().enumerate() {
            rule.line = place("material", i, if rule.name.is_some() { "name" } else { "pattern" });
        }
        for (i, rule) in settings.rules.iter_mut().enumerate() {
            rule.line = place("rule", i, "");
        }
        settings.check(place)?;
        Ok(settings)
    }

    /// Numbers in their ranges, a file for each source, a name or a pattern for each material. `place` gives the
    /// line of a key of an entry of a list, or of a table.
    fn check(&self, place: impl Fn(&str, usize, &str) -> Option<usize>) -> Result<(), SettingsError> {
        let sources = (0..self.sources.len()).filter_map(|i| Some(("source", i, self.source_fault(i)?)));
        let materials = (0..self.materials.len()).filter_map(|i| Some(("material", i, self.material_fault(i)?)));
        let rules = (0..self.rules.len()).filter_map(|i| Some(("rule", i, self.rule_fault(i)?)));
        if let Some((list, i, (key, text))) = sources.chain(materials).chain(rules).next() {
            return Err(SettingsError::at(place(list, i, key), text));
        }
        let trails = self.trails.iter().enumerate().filter_map(|(i, t)| Some(("trail", i, t.fault()?)));
        let holes = self.potholes.iter().enumerate().filter_map(|(i, p)| Some(("pothole", i, p.fault()?)));
        if let Some((list, i, text)) = trails.chain(holes).next() {
            return Err(SettingsError::at(place(list, i, ""), format!("{list} {}: {text}", i + 1)));
        }
        if self.patch_tolerance.is_some_and(|v| !(v >= 0.0 && v.is_finite())) {
            return Err(SettingsError::at(None, "patch_tolerance is a number of 0 or more, in metres"));
        }
        if self.raster.as_ref().is_some_and(|r| !Raster::is_cell(r.cell)) {
            let text = "raster: cell is the way from post to post, a number above 0, in metres";
            return Err(SettingsError::at(place("raster", 0, "cell"), text));
        }
        if let Some(fit) = &self.fit {
            let beside = [(self.raster.is_some(), "raster"), (self.patch_tolerance.is_some(), "patch_tolerance")];
            let beside = beside.into_iter().find(|(stated, _)| *stated);
            let text = fit.fault().map(str::to_string).or_else(|| {
                beside.map(|(_, key)| format!("fit finds posts and tolerance; leave {key} out, or leave fit out"))
            });
            if let Some(text) = text {
                return Err(SettingsError::at(place("fit", 0, ""), text));
            }
        }
        match self.build.fault() {
            Some((key, range)) => Err(SettingsError::at(place("build", 0, key), format!("build: {key}: {range}"))),
            None => Ok(()),
        }
    }

    /// A fault of a source, and its key.
    fn source_fault(&self, i: usize) -> Option<(&'static str, String)> {
        let source = &self.sources[i];
        let is = |wrong: bool, key, text: &str| wrong.then(|| (key, text.to_string()));
        let turns = [("roll_deg", source.roll_deg), ("pitch_deg", source.pitch_deg), ("yaw_deg", source.yaw_deg)];
        let turn = turns.into_iter().find(|(_, v)| v.is_some_and(|v| !is_turn(v)));
        let factors = match source.scale {
            Some(Scale::Each(_)) => "the factors of x, y and z in scale must be numbers other than 0",
            _ => "scale must be a number above 0; to mirror, give one for each axis: [-1, 1, 1]",
        };
        let is_scale = |s: Scale| match s {
            Scale::All(v) => v > 0.0 && v.is_finite(),
            Scale::Each(all) => all.iter().all(|v| *v != 0.0 && v.is_finite()),
        };
        let (key, text) = is(source.file.is_empty(), "file", "name a file")
            .or_else(|| is(source.scale.is_some_and(|s| !is_scale(s)), "scale", factors))
            .or_else(|| turn.map(|(key, _)| (key, format!("{key} must lie between -360 and 360"))))
            .or_else(|| source.height_fault().map(|(key, text)| (key, text.into())))
            .or_else(|| Some(("name", self.name_taken(i)?)))
            .or_else(|| is(source.name.as_deref() == Some(""), "name", "name is empty; write a name, or leave it out"))
            .or_else(|| {
                is(
                    source.material.as_deref() == Some(""),
                    "material",
                    "material is empty; write a name, or leave it out",
                )
            })
            .or_else(|| {
                let code = source.allow.iter().find(|code| !code.is_of_source())?;
                let text = format!("{code} is of the ground of all files; allow it at the top of the settings");
                Some(("allow", text))
            })
            .or_else(|| source.gives().fault())
            .or_else(|| {
                let (i, (key, why)) = source.placed.iter().enumerate().find_map(|(i, p)| Some((i, p.fault()?)))?;
                Some(("placed", format!("placed {}: {key}: {why}", i + 1)))
            })
            .or_else(|| {
                let (key, why) = source.scatter.as_ref()?.fault()?;
                Some(("scatter", format!("scatter: {key}: {why}")))
            })
            .or_else(|| {
                is(
                    source.translate.iter().flatten().any(|v| !v.is_finite()),
                    "translate",
                    "translate is [x, y, z] in metres",
                )
            })?;
        Some((key, format!("source {} ({:?}): {text}", i + 1, bounded(&source.file))))
    }

    /// A fault of an entry of materials, and its key.
    fn material_fault(&self, i: usize) -> Option<(&'static str, String)> {
        let rule = &self.materials[i];
        let patterns = || self.materials[..=i].iter().filter(|rule| rule.pattern.is_some()).count();
        let (key, text) = match rule {
            _ if rule.name.is_some() == rule.pattern.is_some() => ("", "give either name or pattern".into()),
            _ if i >= Self::MAX_PATTERNS && rule.pattern.is_some() && patterns() > Self::MAX_PATTERNS => {
                ("pattern", format!("more than {} patterns; give names instead", Self::MAX_PATTERNS))
            }
            _ => rule.fault()?,
        };
        Some((key, format!("material {} ({:?}): {text}", i + 1, bounded(rule.title()))))
    }

    /// A fault of a rule, and its key.
    fn rule_fault(&self, i: usize) -> Option<(&'static str, String)> {
        let rule = &self.rules[i];
        let (key, text) = match rule {
            _ if i == Self::MAX_PATTERNS => {
                ("", format!("more than {i} rules; patterns fit many, as object = \"*_LOD1\""))
            }
            _ if rule.given().next().is_none() => {
                ("", "give an object, a file or a material whose faces it speaks of".into())
            }
            _ => rule.gives().fault()?,
        };
        Some((key, format!("{}: {text}", rule.who(i))))
    }

    /// Why the name of a source would be that of another one, too.
    fn name_taken(&self, i: usize) -> Option<String> {
        let name = self.sources[i].name.as_ref()?;
        if let Some(j) = self.sources[..i].iter().position(|other| other.name.as_ref() == Some(name)) {
            return Some(format!("source {} is called {:?}, too; give each a name of its own", j + 1, bounded(name)));
        }
        let (file, number) = name.rsplit_once('#')?;
        let is_file = |s: &SourceFile| Path::new(&s.file).file_name().is_some_and(|own| own == file);
        let is_taken = number.bytes().all(|b| b.is_ascii_digit()) && self.sources.iter().any(is_file);
        is_taken.then(|| {
            format!("a further placement of {:?} may be called {:?}; give another name", bounded(file), bounded(name))
        })
    }

    /// As TOML that [`Settings::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("strings, numbers, lists and tables")
    }
}

impl SourceFile {
    /// Whether wheels do not stand on it.
    pub fn is_obstacle(&self) -> bool {
        self.obstacle.is_some_and(|o| o != Obstacle::No)
    }

    /// The frame; missing keys are as by default.
    pub fn frame(&self) -> Frame {
        Frame {
            up: self.up,
            unit: self.unit,
            scale: self.scale.map_or([1.0; 3], Scale::each),
            roll: self.roll_deg.unwrap_or(0.0),
            pitch: self.pitch_deg.unwrap_or(0.0),
            rotate: self.yaw_deg.unwrap_or(0.0),
            translate: self.translate.unwrap_or_default(),
            #[cfg(feature = "heights")]
            heights: self.heights(),
        }
    }

    /// A fault in the keys of a file of heights.
    fn height_fault(&self) -> Option<(&'static str, &'static str)> {
        let is = |wrong: bool, key, text| wrong.then_some((key, text));
        is(self.cell.is_some_and(|v| !Raster::is_cell(v)), "cell", "cell must be a number above 0, in metres")
            .or_else(|| {
                let is_wrong = self.height_scale.is_some_and(|v| v == 0.0 || !v.is_finite());
                is(is_wrong, "height_scale", "height_scale must be a number other than 0, in metres")
            })
            .or_else(|| {
                let is_wrong = self.height_zero.is_some_and(|v| !v.is_finite());
                is(is_wrong, "height_zero", "height_zero must be a number, in metres")
            })
            .or_else(|| {
                let is_wrong = self.window.is_some_and(|[a, b, c, d]| !(a < c && b < d && (c - a + d - b).is_finite()));
                is(is_wrong, "window", "window must be [x, y, x, y], the least and then the greatest")
            })
            .or_else(|| {
                #[cfg(feature = "heights")]
                let is_wrong = self.file_crs.as_deref().is_some_and(|t| crate::util::crs::of_file(t).is_none());
                #[cfg(not(feature = "heights"))]
                let is_wrong = false;
                is(is_wrong, "file_crs", "file_crs must be EPSG:CODE, as EPSG:4326, or metres")
            })
    }

    #[cfg(feature = "heights")]
    fn heights(&self) -> frame::Heights {
        frame::Heights {
            cell: self.cell,
            step: self.height_scale,
            zero: self.height_zero,
            south_first: self.first_row == Some(FirstRow::South),
            centred: self.centred == Some(true),
            file_crs: self.file_crs.as_deref().and_then(crate::util::crs::of_file),
            crs: None,
            no_data: self.no_data,
            window: self.window,
            elsewhere: !self.placed.is_empty() || self.scatter.is_some(),
        }
    }
}

/// What a source is to wheels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Ground.
    No,
    /// An obstacle.
    Yes,
    /// An obstacle for which a box stands.
    Box,
}

impl Serialize for Obstacle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Obstacle::Box => serializer.serialize_str("box"),
            other => serializer.serialize_bool(*other == Obstacle::Yes),
        }
    }
}

/// true, false, 1, 0 or "box".
fn obstacle<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Obstacle>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true, false or \"box\"")]
    enum Typed {
        Flag(bool),
        Number(u8),
        Word(String),
    }
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(Typed::Flag(false) | Typed::Number(0)) => Ok(Some(Obstacle::No)),
        Some(Typed::Flag(true) | Typed::Number(1)) => Ok(Some(Obstacle::Yes)),
        Some(Typed::Word(word)) if word == "box" => Ok(Some(Obstacle::Box)),
        Some(_) => Err(de::Error::custom("expected true, false or \"box\"")),
    }
}

/// Where the first row of a height map lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstRow {
    North,
    South,
}

/// The lists of tables.
const LISTS: [&str; 3] = ["source", "material", "rule"];

/// Whether a number of degrees is a turn: at most a whole one, either way.
pub fn is_turn(degrees: f64) -> bool {
    degrees.abs() <= 360.0
}

/// A list of [`Settings::MAX_ENTRIES`] entries at most.
fn few<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a list of tables: [[source]], [[material]], [[rule]] in TOML, [{ ... }] in JSON")
        }

        fn visit_str<E: de::Error>(self, v: &str) -> Result<Self::Value, E> {
            let lists =
                "[[source]], [[material]], [[rule]]; the material of all faces of a file stands below its [[source]]";
            Err(E::custom(format!("{:?} is text, expected a list of tables: {lists}", bounded(v))))
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some(Table(entry)) = list.next_element()? {
                if all.len() == Settings::MAX_ENTRIES {
                    return Err(de::Error::custom(too_many()));
                }
                all.push(entry);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_seq(Few(PhantomData))
}

/// That a list is too long.
fn too_many() -> String {
    format!(
        "more than {} entries, and a scene has no more materials; patterns fit many",
        grouped(Settings::MAX_ENTRIES as u64)
    )
}
