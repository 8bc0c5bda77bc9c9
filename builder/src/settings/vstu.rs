//! Settings of the VS Terrain Utility: JSON whose outermost object holds one called `VsTerrainUtility`.

use super::{MaterialRule, Settings, SettingsError};
use crate::options::Split;
use crate::util::text::{bounded, bounded_text, suggestion};
use serde_json::{Map, Value, error::Category};
use std::collections::HashSet;

/// The object that holds all.
const ROOT: &str = "VsTerrainUtility";
const VERSION: &str = "Version";
const MATERIALS: &str = "Materials";
/// The build parameters, in the order of [`Split`].
const PARAMETERS: [&str; 5] =
    ["Depth Tolerance", "Bundle Size Preferred", "Bundle Increase", "Minimum Bundle Volume", "Bundle Volume Increase"];
/// The keys of a material.
const OF_MATERIAL: [&str; 4] = ["Name", "mu", "rr", "include"];

impl Settings {
    /// Whether a text is settings of the VS Terrain Utility, or would be if it ended well.
    pub fn is_vstu(text: &str) -> bool {
        text.trim_start_matches('\u{feff}').trim_start().starts_with('{') && text.contains("\"VsTerrainUtility\"")
    }

    /// Reads settings of the VS Terrain Utility. What is read all the same comes back as warnings, each with its place:
    /// keys that nobody knows, another version than 1.0, and a last `}` that is missing, as in the example of its
    /// manual.
    ///
    /// Its materials may be absent from a scene. Without build parameters the ground is not divided by their rule.
    pub fn from_vstu(text: &str) -> Result<(Self, Vec<String>), SettingsError> {
        let (tree, mut warnings) = parsed(text)?;
        let wrong = |text: String| SettingsError::at(None, bounded_text(text));
        let Value::Object(top) = &tree else {
            return Err(wrong(format!("the outermost is no object; it holds one called {ROOT:?}")));
        };
        let Some(root) = top.get(ROOT) else {
            let near = suggestion_of(top, ROOT);
            return Err(wrong(format!(
                "there is no {ROOT:?} in the outermost object{near}; it holds all of the settings"
            )));
        };
        let root = object(root, ROOT).map_err(wrong)?;
        unknown(top, "", &[ROOT], &mut warnings);
        let known: Vec<&str> = [VERSION, MATERIALS].into_iter().chain(PARAMETERS).collect();
        unknown(root, ROOT, &known, &mut warnings);
        match root.get(VERSION) {
            Some(v) if v.as_f64() == Some(1.0) => {}
            Some(v) => warnings.push(format!(
                "{ROOT}.{VERSION} is {}, and 1.0 is known: what is known of it is read",
                bounded(&v.to_string())
            )),
            None => warnings.push(format!("{ROOT}.{VERSION} is missing; read as 1.0")),
        }
        let mut settings = Settings::default();
        settings.build.split = split(root).map_err(wrong)?;
        if let Some(list) = root.get(MATERIALS) {
            let path = format!("{ROOT}.{MATERIALS}");
            let list = list
                .as_array()
                .ok_or_else(|| wrong(format!("{path} is {}; write a list of materials, [{{ ... }}]", kind(list))))?;
            if list.len() > Settings::MAX_ENTRIES {
                return Err(wrong(super::too_many()));
            }
            let each = list.iter().enumerate().map(|(i, m)| material(m, &format!("{path}[{i}]"), &mut warnings));
            settings.materials = each.collect::<Result<_, _>>().map_err(wrong)?;
            let mut known = HashSet::new();
            for (i, name) in settings.materials.iter().enumerate().filter_map(|(i, m)| Some((i, m.name.as_ref()?))) {
                if !known.insert(name) {
                    warnings.push(format!(
                        "{path}[{i}] ({:?}) does nothing: an earlier entry has this name",
                        bounded(name)
                    ));
                }
            }
        }
        settings.check(|_, _, _| None)?;
        Ok((settings, warnings))
    }
}

impl Settings {
    /// Names of materials with what a file of the VS Terrain Utility can say of them, and the build parameters if there
    /// are some.
    pub fn to_vstu(&self) -> String {
        let mut lines = vec![format!("{VERSION:?}: 1.0")];
        if let Some(s) = self.build.split {
            let [depth, size] = [s.depth_tolerance, s.bundle_size].map(f64::from);
            let values = [depth, size, s.bundle_increase, s.min_volume, s.volume_increase];
            lines.extend(PARAMETERS.iter().zip(values).map(|(key, value)| format!("{key:?}: {value}")));
        }
        let entry = |m: &MaterialRule| {
            let name = m.name.as_ref()?;
            let [key, mu, rr, include] = OF_MATERIAL;
            let factors = [(mu, m.mu), (rr, m.rr)].map(|(key, v)| v.map(|v| format!("{key:?}: {v}")));
            let whole =
                [format!("{key:?}: {}", Value::from(name.as_str()))].into_iter().chain(factors.into_iter().flatten());
            let whole = whole.chain(m.include.map(|v| format!("{include:?}: {}", u8::from(v))));
            Some(format!("      {{ {} }}", whole.collect::<Vec<_>>().join(", ")))
        };
        let entries: Vec<String> = self.materials.iter().filter_map(entry).collect();
        lines.push(format!("{MATERIALS:?}: [\n{}\n    ]", entries.join(",\n")));
        format!("{{\n  {ROOT:?}: {{\n    {}\n  }}\n}}\n", lines.join(",\n    "))
    }
}

/// The tree of a text that may lack its last `}`, and that it does.
fn parsed(text: &str) -> Result<(Value, Vec<String>), SettingsError> {
    let failed = match serde_json::from_str::<Value>(text) {
        Ok(tree) => return Ok((tree, Vec::new())),
        Err(e) => e,
    };
    let mended = (failed.classify() == Category::Eof).then(|| serde_json::from_str::<Value>(&format!("{text}}}")));
    if let Some(Ok(tree)) = mended
        && tree.get(ROOT).is_some()
    {
        let end = text.trim_end();
        let [line, column] = [end.lines().count(), end.lines().next_back().unwrap_or_default().chars().count()];
        let warning =
            format!("line {line}, column {column}: a last }} is missing behind this; it is read as if it were there");
        return Ok((tree, vec![warning]));
    }
    Err(super::json::of_json(text, &failed))
}

/// Name of a value's kind, for the author.
fn kind(v: &Value) -> String {
    match v {
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) => format!("the text {:?}", bounded(text)),
        other => other.to_string(),
    }
}

fn object<'v>(v: &'v Value, path: &str) -> Result<&'v Map<String, Value>, String> {
    v.as_object().ok_or_else(|| format!("{path} is {}; write an object, {{ ... }}", kind(v)))
}

/// Tells of keys that nobody knows, each by its path.
fn unknown(object: &Map<String, Value>, path: &str, known: &[&str], warnings: &mut Vec<String>) {
    let dot = if path.is_empty() { "" } else { "." };
    for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
        let near = suggestion(key, known.iter().copied());
        warnings.push(bounded_text(format!("{path}{dot}{} is not known here{near}, and is passed over", bounded(key))));
    }
}

/// The key of an object that is near another one.
fn suggestion_of(object: &Map<String, Value>, wanted: &str) -> String {
    match object.keys().any(|key| !suggestion(key, [wanted]).is_empty()) {
        true => format!(" (did you mean {wanted:?}?)"),
        false => String::new(),
    }
}

/// A number of 0 or more that a key has, if it is there.
fn number(of: &Map<String, Value>, path: &str, key: &str) -> Result<Option<f64>, String> {
    let Some(v) = of.get(key) else { return Ok(None) };
    let number = v.as_f64().filter(|v| v.is_finite() && *v >= 0.0).map(|v| v + 0.0);
    number.map(Some).ok_or_else(|| format!("{path}.{key} is {}; write a number of 0 or more", kind(v)))
}

/// The same, a whole one.
fn integer(of: &Map<String, Value>, path: &str, key: &str) -> Result<Option<u32>, String> {
    let whole = |v: f64| (v.fract() == 0.0 && v <= f64::from(u32::MAX)).then_some(v as u32);
    let number = number(of, path, key)?;
    number.map(|v| whole(v).ok_or_else(|| format!("{path}.{key} is {v}; write a whole number"))).transpose()
}

/// The build parameters; those that are left out are as by default, and without any there is no rule.
fn split(root: &Map<String, Value>) -> Result<Option<Split>, String> {
    if !PARAMETERS.iter().any(|key| root.contains_key(*key)) {
        return Ok(None);
    }
    let [depth, size, increase, volume, by] = PARAMETERS;
    let plain = Split::DEFAULT;
    Ok(Some(Split {
        depth_tolerance: integer(root, ROOT, depth)?.unwrap_or(plain.depth_tolerance),
        bundle_size: integer(root, ROOT, size)?.unwrap_or(plain.bundle_size),
        bundle_increase: number(root, ROOT, increase)?.unwrap_or(plain.bundle_increase),
        min_volume: number(root, ROOT, volume)?.unwrap_or(plain.min_volume),
        volume_increase: number(root, ROOT, by)?.unwrap_or(plain.volume_increase),
    }))
}

/// A material; `path` says which.
fn material(v: &Value, path: &str, warnings: &mut Vec<String>) -> Result<MaterialRule, String> {
    let own = object(v, path)?;
    unknown(own, path, &OF_MATERIAL, warnings);
    let [name, mu, rr, include] = OF_MATERIAL;
    let name = match own.get(name) {
        Some(Value::String(name)) => name.clone(),
        Some(other) => return Err(format!("{path}.{name} is {}; write text in quotation marks", kind(other))),
        None => return Err(format!("{path} has no {name:?}; add it, or \"{name}\": \"\" for all that no other names")),
    };
    let who = format!("{path} ({:?})", bounded(&name));
    let include = match own.get(include) {
        None => None,
        Some(Value::Bool(v)) => Some(*v),
        Some(v) => match v.as_f64() {
            Some(0.0) => Some(false),
            Some(1.0) => Some(true),
            _ => return Err(format!("{who}.{include} is {}; write 0, 1, false or true", kind(v))),
        },
    };
    let [mu, rr] = [number(own, &who, mu)?, number(own, &who, rr)?];
    Ok(MaterialRule { name: Some(name), optional: Some(true), include, mu, rr, ..MaterialRule::default() })
}
