//! Whether the turns of a scene are radians or degrees.

use super::SettingsError;
use crate::util::text::decimal;
use std::f64::consts::{FRAC_PI_2, PI};

/// The unit of turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Angles {
    /// Degrees.
    Deg,
    /// Radians.
    Rad,
}

impl Angles {
    /// In degrees, at most a whole turn.
    pub fn degrees(self, v: f64) -> f64 {
        let degrees = match self {
            Angles::Deg => v,
            Angles::Rad => v * (180.0 / PI),
        };
        if degrees.abs() <= 360.0 { degrees } else { libm::fmod(degrees, 360.0) }
    }
}

/// How far a typed turn may lie from the one that is meant.
const SLIP: f64 = 0.02;

/// The unit of all turns of a file, each with its place, and one line that says by which value. No turn says nothing.
pub fn decide(all: &[(String, f64)]) -> Result<(Angles, Option<String>), SettingsError> {
    let is_turned = all.iter().filter(|(_, v)| *v != 0.0);
    let quarters = |v: f64| (v.abs() / FRAC_PI_2).round();
    let is_radians =
        |v: f64| quarters(v) >= 1.0 && (v.abs() - quarters(v) * FRAC_PI_2).abs() <= SLIP && v.abs() <= 2.0 * PI + SLIP;
    let radians = is_turned.clone().find(|(_, v)| is_radians(*v));
    let degrees = is_turned.clone().find(|(_, v)| v.abs() > 2.0 * PI + SLIP);
    let said = |unit: &str, (at, v): &(String, f64), other: &str| {
        Some(format!("turns are taken as {unit}, by {at} = {}; if they are not: --angles {other}", decimal(*v)))
    };
    match (radians, degrees, is_turned.clone().next()) {
        (Some(r), Some(d), _) => {
            let text = format!(
                "{} = {} looks like radians, and {} = {} like degrees; say which: --angles rad, or --angles deg",
                r.0,
                decimal(r.1),
                d.0,
                decimal(d.1)
            );
            Err(SettingsError::at(None, text))
        }
        (Some(r), None, _) => Ok((Angles::Rad, said("radians", r, "deg"))),
        (None, Some(d), _) | (None, None, Some(d)) => Ok((Angles::Deg, said("degrees", d, "rad"))),
        (None, None, None) => Ok((Angles::Rad, None)),
    }
}
