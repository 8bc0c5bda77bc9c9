//! Where an image came from: text in its last section, outside its identity.

use crate::settings::{MaterialRule, Settings, SettingsError};
use crate::{Material, Options};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::{self, Read};

/// Files and settings of a build, as the image's PROVENANCE section has them: TOML without times or folders.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// Name and version of the builder.
    pub tool: String,
    /// The frame of the image.
    pub frame: String,
    /// The files that were read.
    #[serde(rename = "input")]
    pub inputs: Vec<Input>,
    /// What was typed and what the settings file said, resolved: every option, and every material by its name, with
    /// what it has beside the defaults.
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
}

impl Input {
    /// Reads all there is.
    pub fn digest(file: impl Into<String>, mut from: impl Read) -> io::Result<Self> {
        let mut digest = Sha256::new();
        let bytes = io::copy(&mut from, &mut digest)?;
        let sha256 = digest.finalize().iter().map(|b| format!("{b:02x}")).collect();
        Ok(Input { file: file.into(), bytes, sha256 })
    }
}

impl Provenance {
    const TOOL: &str = concat!("hardpan-builder ", env!("CARGO_PKG_VERSION"));
    const FRAME: &str = "right-handed, x east, y north, z up, metres";

    /// What nothing but the builder is known of.
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
        let whole = Provenance { tool: Self::TOOL.into(), frame: Self::FRAME.into(), settings, ..self.clone() };
        toml::to_string(&whole).expect("strings, numbers, lists and tables")
    }

    /// Reads the text.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        toml::from_str(text).map_err(|e| SettingsError { line: None, text: e.message().into() })
    }
}
