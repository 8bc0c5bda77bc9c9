//! Axes, unit, scale, rotation and translation, as they are typed.

use crate::{
    import::{Unit, Up},
    settings::{Scale, SourceFile, is_turn},
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::decimal;

/// How the numbers of every FILE become metres.
#[derive(clap::Args)]
pub struct Transform {
    /// The axis that points up in FILE [default: as FILE states, z for OBJ]
    #[arg(long, value_name = "AXIS", ignore_case = true, allow_hyphen_values = true, value_parser = possible(Up::NAMES, Up::ALIASES).try_map(|s| s.parse::<Up>()))]
    up: Option<Up>,
    /// The unit of the numbers in FILE [default: as FILE states, m for OBJ]
    #[arg(long, ignore_case = true, value_parser = possible(Unit::NAMES, Unit::ALIASES).try_map(|s| s.parse::<Unit>()))]
    unit: Option<Unit>,
    /// Also multiply the numbers in FILE by this [default: 1]
    #[arg(long, allow_hyphen_values = true, value_parser = scale)]
    scale: Option<f64>,
    /// Then turn about the up axis, anticlockwise seen from above, -360 to 360 degrees [default: 0]
    #[arg(long, value_name = "YAW", allow_hyphen_values = true, value_parser = degrees)]
    rotate: Option<f64>,
    /// Then move, in metres
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, value_parser = way)]
    translate: Option<[f64; 3]>,
}

impl Transform {
    /// A source with what was typed instead of what it says.
    pub fn over(&self, source: &SourceFile) -> SourceFile {
        SourceFile {
            up: self.up.or(source.up),
            unit: self.unit.or(source.unit),
            scale: self.scale.map(Scale::All).or(source.scale),
            yaw_deg: self.rotate.or(source.yaw_deg),
            translate: self.translate.or(source.translate),
            ..source.clone()
        }
    }

    /// Typed again, each option behind a blank: ` --up y --unit cm`.
    pub fn typed(&self) -> String {
        let each = [
            ("up", self.up.map(|v| v.to_string())),
            ("unit", self.unit.map(|v| v.to_string())),
            ("scale", self.scale.map(decimal)),
            ("rotate", self.rotate.map(decimal)),
            ("translate", self.translate.map(|way| way.map(decimal).join(","))),
        ];
        each.into_iter().filter_map(|(name, value)| Some(format!(" --{name} {}", value?))).collect()
    }
}

fn possible<const N: usize>(names: [&'static str; N], aliases: [&'static [&'static str]; N]) -> PossibleValuesParser {
    let value = |(name, others)| PossibleValue::new(name).aliases(others);
    PossibleValuesParser::new(names.into_iter().zip(aliases).map(value))
}

fn scale(text: &str) -> Result<f64, String> {
    let value = number(text, "not a number")?;
    if value > 0.0 { Ok(value) } else { Err("must be above zero".into()) }
}

fn degrees(text: &str) -> Result<f64, String> {
    let value = number(text, "not a number of degrees")?;
    if is_turn(value) { Ok(value) } else { Err("must lie between -360 and 360".into()) }
}

fn number(text: &str, what: &str) -> Result<f64, String> {
    let finite = |text: &str| text.parse().ok().filter(|v: &f64| v.is_finite());
    let point = if finite(&text.replacen(',', ".", 1)).is_some() { "; a decimal has a point" } else { "" };
    finite(text).ok_or_else(|| format!("{what}{point}"))
}

pub fn way(text: &str) -> Result<[f64; 3], String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|v: &f64| v.is_finite())).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(|| "three numbers with commas between them, x,y,z".into())
}
