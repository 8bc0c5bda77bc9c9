//! Where an image came from: text in its last section, outside its identity.

use crate::options::Options;
use crate::scene::Material;
use crate::settings::factors::Factors;
use crate::settings::{MaterialRule, Settings, SettingsError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::HashSet,
    io::{self, Read},
};

/// Files and settings of a build, as the image's PROVENANCE section has them: TOML without times or folders.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Name and version of the builder.
    pub tool: String,
    /// The frame of the image.
    pub frame: String,
    /// Names of materials whose mu nobody stated: it is that by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mu_by_default: Vec<String>,
    /// Changes of the friction of all materials, which have it already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<Factors>,
    /// The files that were read.
    #[serde(rename = "input")]
    pub inputs: Vec<Input>,
    /// Resolved settings of the command line and the file: every option, and every material by its name, with its
    /// values beside the defaults.
    pub settings: Settings,
}

/// A file that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Its name, without folders.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Which of its axes, in what unit, became x, y and z, before it was scaled, turned about z and moved:
    /// `x, -z, y in 1/100 m`; empty if that is not known.
    pub frame: String,
}

impl Input {
    /// Reads all there is.
    pub fn digest(file: impl Into<String>, mut from: impl Read) -> io::Result<Self> {
        let mut digest = Sha256::new();
        let bytes = io::copy(&mut from, &mut digest)?;
        let sha256 = digest.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(Input { file: file.into(), bytes, sha256, frame: String::new() })
    }
}

/// By what a file is known to be one that an image was built from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// Its SHA-256.
    Digest,
    /// Its name; its bytes are others.
    Name,
    /// Its place in the order, for want of anything else.
    Order,
}

impl Provenance {
    const TOOL: &str = concat!("hardpan-builder ", env!("CARGO_PKG_VERSION"));
    const FRAME: &str = "right-handed, x east, y north, z up, metres";

    /// Whether this version of the builder wrote it: another one may build other bytes.
    pub(crate) fn is_own(&self) -> bool {
        self.tool == Self::TOOL
    }

    /// The record that names the builder alone.
    pub(crate) fn plain() -> String {
        format!("tool = {:?}\n", Self::TOOL)
    }

    /// The text for an image built with these options, of these materials.
    pub(crate) fn text(&self, options: &Options, materials: &[Material]) -> String {
        let settings = Settings {
            build: options.clone(),
            materials: materials.iter().map(|m| MaterialRule::from(m).brief()).collect(),
            ..self.settings.clone()
        };
        let known: HashSet<&str> = materials.iter().map(|m| m.name.as_str()).collect();
        let whole = Provenance {
            tool: Self::TOOL.into(),
            frame: Self::FRAME.into(),
            mu_by_default: self.mu_by_default.iter().filter(|name| known.contains(name.as_str())).cloned().collect(),
            settings,
            ..self.clone()
        };
        toml::to_string(&whole).expect("strings, numbers, lists and tables")
    }

    /// Which recorded file each of these is, if it can be told: by digest, of several alike the one of its name; then
    /// by name; and what is left in order, if as many are left of either. No recorded file is two.
    pub fn recognise(&self, given: &[Input]) -> Vec<Option<(usize, MatchedBy)>> {
        let mut found = vec![None; given.len()];
        let mut free = vec![true; self.inputs.len()];
        for (by, bytes, name) in
            [(MatchedBy::Digest, true, true), (MatchedBy::Digest, true, false), (MatchedBy::Name, false, true)]
        {
            let same = |a: &Input, b: &Input| (!bytes || a.sha256 == b.sha256) && (!name || a.file == b.file);
            for (found, file) in found.iter_mut().zip(given).filter(|(found, _)| found.is_none()) {
                if let Some(i) = (0..free.len()).find(|&i| free[i] && same(file, &self.inputs[i])) {
                    free[i] = false;
                    *found = Some((i, by));
                }
            }
        }
        let rest: Vec<usize> = (0..free.len()).filter(|&i| free[i]).collect();
        if rest.len() == found.iter().filter(|f| f.is_none()).count() {
            let unknown = found.iter_mut().filter(|f| f.is_none());
            unknown.zip(rest).for_each(|(found, i)| *found = Some((i, MatchedBy::Order)));
        }
        found
    }

    /// Reads the text.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|e| SettingsError::at(None, e.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_digest_then_name_then_order() {
        let input =
            |name: &str| Input { file: name[..1].into(), bytes: 1, sha256: name[1..].into(), ..Input::default() };
        let recognised = |recorded: &[&str], given: &[&str]| {
            let known = Provenance { inputs: recorded.iter().map(|n| input(n)).collect(), ..Provenance::default() };
            known.recognise(&given.iter().map(|n| input(n)).collect::<Vec<_>>())
        };
        use MatchedBy::{Digest, Name, Order};
        // a letter for the name, a number for the bytes
        for (recorded, given, wanted) in [
            (&["a1", "b2"][..], &["a1", "b2"][..], &[Some((0, Digest)), Some((1, Digest))][..]),
            (&["a1", "b2"], &["b2", "a1"], &[Some((1, Digest)), Some((0, Digest))]),
            (&["a1", "b2"], &["x2", "y1"], &[Some((1, Digest)), Some((0, Digest))]),
            (&["a1", "b2"], &["a2", "b1"], &[Some((1, Digest)), Some((0, Digest))]),
            (&["a1", "b2"], &["b3", "a1"], &[Some((1, Name)), Some((0, Digest))]),
            (&["a1", "b2"], &["x3", "a4"], &[Some((1, Order)), Some((0, Name))]),
            (&["a1", "b2"], &["x3", "y4"], &[Some((0, Order)), Some((1, Order))]),
            (&["a1", "b2"], &["x3"], &[None]),
            (&["a1", "b2"], &["b9"], &[Some((1, Name))]),
            (&["a1"], &["a1", "x3"], &[Some((0, Digest)), None]),
            (&["a1"], &["a1", "a1"], &[Some((0, Digest)), None]),
            (&["a1", "a1", "b1"], &["b1", "a1", "c1"], &[Some((2, Digest)), Some((0, Digest)), Some((1, Digest))]),
            (&[], &["a1"], &[None]),
        ] {
            assert_eq!(recognised(recorded, given), wanted, "{given:?} of {recorded:?}");
        }
    }
}
