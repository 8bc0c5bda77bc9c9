//! Sections of materials of a terrain definition file, TDF, as rules.
//!
//! A section `[FEEDBACK]` lists prefixes of names of materials, and says what their ground is like. Keys stand on lines
//! of their own, or several on one.

use super::{PartRule, Settings, SettingsError};
use crate::util::text::bounded;
use hardpan::format::surface;

/// Words of `Sound` and `Reaction`, and the surface types that they mean.
const SURFACES: [(&str, u16); 7] = [
    ("dry", surface::DRY),
    ("wet", surface::WET),
    ("grass", surface::GRASS),
    ("dirt", surface::DIRT),
    ("gravel", surface::GRAVEL),
    ("rumblestrip", surface::RUMBLE_STRIP),
    ("rumble", surface::RUMBLE_STRIP),
];

/// A section, as far as it was read.
#[derive(Default)]
struct Section {
    line: usize,
    gain: Option<f64>,
    surface_type: Option<u16>,
    prefixes: Vec<String>,
}

impl Settings {
    /// Reads the sections `[FEEDBACK]` of a TDF. A material whose name begins with a prefix gets the prefix as its
    /// name, `Dry` as its gain, and the type that `Sound` names, or else `Reaction`; the longest prefix goes before
    /// others.
    pub fn from_tdf(text: &str) -> Result<(Self, Vec<String>), SettingsError> {
        let (mut sections, mut warnings): (Vec<Section>, Vec<String>) = (Vec::new(), Vec::new());
        let mut within = false;
        let mut list = false;
        for (i, line) in text.lines().enumerate() {
            let wrong = |text: String| SettingsError::at(Some(i + 1), text);
            let line = line.split("//").next().unwrap_or_default().trim();
            if let Some(name) = line.strip_prefix('[') {
                within = name.split(']').next().is_some_and(|name| name.trim().eq_ignore_ascii_case("feedback"));
                if within {
                    sections.push(Section { line: i + 1, ..Section::default() });
                }
                list = false;
                continue;
            }
            let Some(section) = sections.last_mut().filter(|_| within) else { continue };
            for word in line.split_whitespace() {
                let (key, value) = match word.split_once('=') {
                    Some((key, value)) => {
                        list = key.eq_ignore_ascii_case("materials");
                        (key.to_ascii_lowercase(), value)
                    }
                    // the rest of a list
                    None if list => ("materials".into(), word),
                    None => continue,
                };
                match &*key {
                    "dry" => {
                        let number = value.parse::<f64>().ok().filter(|v| *v >= 0.0 && v.is_finite());
                        let cause = || wrong(format!("Dry is {:?}; write a number of 0 or more", bounded(value)));
                        section.gain = Some(number.ok_or_else(cause)?);
                    }
                    "sound" | "reaction" => {
                        let known = SURFACES.iter().find(|(word, _)| value.eq_ignore_ascii_case(word));
                        match known {
                            Some((_, kind)) if key == "sound" || section.surface_type.is_none() => {
                                section.surface_type = Some(*kind);
                            }
                            Some(_) => {}
                            None => {
                                let (place, value) = (i + 1, bounded(value));
                                warnings.push(format!(
                                    "line {place}: {word_of}={value:?} is no type of ground that is known",
                                    word_of = key
                                ));
                            }
                        }
                    }
                    "materials" => {
                        for prefix in value.split(',').map(str::trim).filter(|prefix| !prefix.is_empty()) {
                            if prefix.contains(['*', '?']) {
                                return Err(wrong(format!("the prefix {:?} has a wildcard", bounded(prefix))));
                            }
                            section.prefixes.push(prefix.into());
                        }
                    }
                    _ => {}
                }
            }
        }
        if sections.is_empty() {
            return Err(SettingsError::at(None, "there is no section [FEEDBACK] in this TDF"));
        }
        let mut settings = Settings::default();
        for Section { line, gain, surface_type, prefixes } in sections {
            for prefix in prefixes {
                let material = Some(format!("{prefix}*"));
                let (name, optional) = (Some(prefix), Some(true));
                let rule =
                    PartRule { material, name, optional, gain, surface_type, line: Some(line), ..PartRule::default() };
                settings.rules.push(rule);
            }
        }
        // the rule that speaks first goes before the others
        settings.rules.sort_by_key(|rule| std::cmp::Reverse(rule.material.as_ref().map(String::len)));
        let lines: Vec<Option<usize>> = settings.rules.iter().map(|rule| rule.line).collect();
        settings.check(|_, i, _| lines.get(i).copied().flatten())?;
        Ok((settings, warnings))
    }
}
