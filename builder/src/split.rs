//! The build parameters of VS Terrain, for those who ask for them.
//!
//! A square of ground is *examined*: it is accepted as a leaf if few triangles meet it or if its volume, its area times
//! the height between the lowest and the highest corner of these triangles, is small; else its four quarters are examined,
//! one step deeper. The depth of a square is log2 of the root's side over its own; the root is the least power-of-two
//! square as large as the ground.
//!
//! A leaf is a block of the image, whose eight cells tell its triangles further apart. Two things that the rule does
//! not ask for divide the ground as well: the borders of tiles, and squares with more triangles than one group of bundles
//! may hold. And one thing ends it early: the deepest node that the format allows, or a square of four steps.

use serde::{Deserialize, Serialize};

/// Build parameters of VS Terrain. In a settings file those that are left out are as in [`Split::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Split {
    /// Depth beyond which squares are accepted more easily, step by step: 0 to 64.
    pub depth_tolerance: u32,
    /// A square that at most so many triangles meet is accepted: from 1 on.
    pub bundle_size: u32,
    /// What each step beyond the tolerance adds to the bundle size, the sum rounded down: from 0 on.
    pub bundle_increase: f64,
    /// A square of less volume is accepted, cubic metres: from 0 on.
    pub min_volume: f64,
    /// What each step beyond the tolerance adds to the least volume, in least volumes: from 0 on.
    pub volume_increase: f64,
}

impl Default for Split {
    fn default() -> Self {
        Split::DEFAULT
    }
}

impl Split {
    /// For most scenes.
    pub const DEFAULT: Split =
        Split { depth_tolerance: 8, bundle_size: 8, bundle_increase: 0.5, min_volume: 0.125, volume_increase: 1.5 };

    /// For dense scans. These values are ours: VS Terrain does not publish its own.
    pub const DENSE: Split =
        Split { depth_tolerance: 14, bundle_size: 16, bundle_increase: 0.5, min_volume: 1e-4, volume_increase: 1.5 };

    /// The name of a preset: `default` or `dense`.
    pub fn preset(&self) -> Option<&'static str> {
        let presets = [("default", Split::DEFAULT), ("dense", Split::DENSE)];
        presets.into_iter().find(|(_, preset)| preset == self).map(|(name, _)| name)
    }

    /// What to call it: its preset, or where settings have it.
    pub fn title(&self) -> String {
        self.preset().map_or("[build.split]".into(), |name| format!("preset {name}"))
    }

    /// Most triangles of a square that is accepted for them, and the volume below which it is accepted, at a depth.
    pub fn limits(&self, depth: u32) -> (u64, f64) {
        let beyond = f64::from(depth.saturating_sub(self.depth_tolerance));
        let size = u64::from(self.bundle_size) + (beyond * self.bundle_increase).floor() as u64;
        (size, self.min_volume * (1.0 + beyond * self.volume_increase))
    }

    /// The first of its numbers that is out of range, as a key under `build`.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let far = |v: f64| !(0.0..=1e9).contains(&v);
        let all = [
            ("split.depth_tolerance", self.depth_tolerance > 64),
            ("split.bundle_size", self.bundle_size < 1),
            ("split.bundle_increase", far(self.bundle_increase)),
            ("split.min_volume", far(self.min_volume)),
            ("split.volume_increase", far(self.volume_increase)),
        ];
        all.into_iter().find(|(_, wrong)| *wrong).map(|(key, _)| key)
    }
}
