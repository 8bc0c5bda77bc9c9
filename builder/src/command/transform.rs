//! Axes, unit, scale, rotation and translation, as they are typed.

use crate::{
    import::{Unit, Up},
    settings::{FirstRow, Raster, Scale, SourceFile, is_turn},
};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::decimal;

/// How the numbers of every FILE become metres.
#[derive(clap::Args, Clone)]
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
    /// Options of files of heights, where a command takes them.
    #[arg(skip)]
    heights: Heights,
    #[arg(skip)]
    cell: Option<f64>,
}

/// How files of heights become ground.
#[derive(clap::Args, Clone, Default)]
pub struct Heights {
    /// UTM or other transverse Mercator plane on which heights are laid [default: that of FILE, of degrees one about
    /// the middle]
    #[arg(long, value_name = "EPSG:CODE", value_parser = code)]
    pub crs: Option<String>,
    /// System of a file of heights that does not say it: EPSG:CODE, or metres
    #[arg(long, value_name = "EPSG:CODE", value_parser = code_or_metres)]
    file_crs: Option<String>,
    /// Where the first row of a height map lies
    #[arg(long, value_name = "north|south", value_parser = first_row)]
    first_row: Option<FirstRow>,
    /// Metres of a step of a height map
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = finite)]
    height_scale: Option<f64>,
    /// Height of step 0 of a height map [default: 0]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = finite)]
    height_zero: Option<f64>,
    /// The number of FILE, before scale and offset, that stands for no height, whatever FILE says; nan if none does
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = void)]
    no_data: Option<f64>,
    /// The part of heights that is used: least and greatest x and y of FILE's own plane
    #[arg(long, value_name = "x,y,x,y", allow_hyphen_values = true, value_parser = window)]
    window: Option<[f64; 4]>,
}

/// How far posts lie apart.
#[derive(clap::Args, Clone, Default)]
pub struct Cell {
    /// Way from post to post of heights, metres [default: as FILE has it, of degrees its finer one]
    #[arg(long, value_name = "METRES", value_parser = cell)]
    cell: Option<f64>,
}

fn cell(text: &str) -> Result<f64, String> {
    let cell = text.parse().ok().filter(|v| Raster::is_cell(*v));
    cell.ok_or_else(|| "the distance of posts in metres, above 0, as in --cell 10".into())
}

fn code(text: &str) -> Result<String, String> {
    let code = crate::util::crs::code(text).map(|code| format!("EPSG:{code}"));
    code.ok_or_else(|| "a code of the EPSG register, as in EPSG:32633".into())
}

fn code_or_metres(text: &str) -> Result<String, String> {
    if text.eq_ignore_ascii_case("metres") { Ok("metres".into()) } else { code(text).map_err(|e| e + ", or metres") }
}

fn first_row(text: &str) -> Result<FirstRow, String> {
    match text {
        "north" => Ok(FirstRow::North),
        "south" => Ok(FirstRow::South),
        _ => Err("north or south".into()),
    }
}

fn finite(text: &str) -> Result<f64, String> {
    number(text, "not a number")
}

fn void(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "a number, or nan for none".into())
}

/// Least and greatest x and y.
pub fn window(text: &str) -> Result<[f64; 4], String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let window = numbers.and_then(|n| <[f64; 4]>::try_from(n).ok());
    let window = window.filter(|[a, b, c, d]| a < c && b < d && (c - a + d - b).is_finite());
    window.ok_or_else(|| "four numbers with commas between them, the least x and y, then the greatest".into())
}

impl Transform {
    /// With what is typed of files of heights.
    pub fn with(&self, heights: &Heights, cell: Option<&Cell>) -> Self {
        Transform { heights: heights.clone(), cell: cell.and_then(|c| c.cell), ..self.clone() }
    }

    /// The plane on which heights are laid.
    pub fn crs(&self) -> Option<&String> {
        self.heights.crs.as_ref()
    }

    /// A source with what was typed instead of what it says.
    pub fn over(&self, source: &SourceFile) -> SourceFile {
        SourceFile {
            up: self.up.or(source.up),
            unit: self.unit.or(source.unit),
            scale: self.scale.map(Scale::All).or(source.scale),
            yaw_deg: self.rotate.or(source.yaw_deg),
            translate: self.translate.or(source.translate),
            cell: self.cell.or(source.cell),
            height_scale: self.heights.height_scale.or(source.height_scale),
            height_zero: self.heights.height_zero.or(source.height_zero),
            first_row: self.heights.first_row.or(source.first_row),
            file_crs: self.heights.file_crs.clone().or_else(|| source.file_crs.clone()),
            no_data: self.heights.no_data.or(source.no_data),
            window: self.heights.window.or(source.window),
            ..source.clone()
        }
    }

    /// Typed again, each option behind a blank: ` --up y --unit cm`.
    pub fn typed(&self) -> String {
        let numbers = |all: &[f64]| all.iter().map(|v| decimal(*v)).collect::<Vec<_>>().join(",");
        let heights = &self.heights;
        let first_row = heights.first_row.map(|row| if row == FirstRow::South { "south" } else { "north" });
        let each = [
            ("up", self.up.map(|v| v.to_string())),
            ("unit", self.unit.map(|v| v.to_string())),
            ("scale", self.scale.map(decimal)),
            ("rotate", self.rotate.map(decimal)),
            ("translate", self.translate.map(|way| way.map(decimal).join(","))),
            ("cell", self.cell.map(decimal)),
            ("crs", heights.crs.clone()),
            ("file-crs", heights.file_crs.clone()),
            ("first-row", first_row.map(str::to_owned)),
            ("height-scale", heights.height_scale.map(decimal)),
            ("height-zero", heights.height_zero.map(decimal)),
            ("no-data", heights.no_data.map(|v| v.to_string())),
            ("window", heights.window.map(|window| numbers(&window))),
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
    if value > 0.0 {
        Ok(value)
    } else {
        Err("must be above zero; to mirror, write scale = [-1, 1, 1] in a [[source]] of settings".into())
    }
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
