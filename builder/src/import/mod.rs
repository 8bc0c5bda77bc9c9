//! Files in, scenes out.
//!
//! An importer hands over f64 metres, z up, with the names of materials and objects. Everything it left out
//! is a count in [`Import::notes`]; axes and units are converted here, once, and nowhere else.

mod obj;
mod polygon;

use clap::ValueEnum;
use hardpan_builder::Scene;
use std::{fs, path::Path};

use crate::command::Failure;

/// A scene and what was remarkable about its file.
pub struct Import {
    pub scene: Scene,
    /// One line for each kind of thing that was left out, with its count.
    pub notes: Vec<String>,
}

/// The axis that points up in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Up {
    /// (x, y, z) becomes (x, -z, y).
    Y,
    Z,
}

/// The unit of the file's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unit {
    M,
    Cm,
    Mm,
    Ft,
    In,
}

impl Unit {
    /// Metres as an exact ratio.
    const fn ratio(self) -> (f64, f64) {
        match self {
            Unit::M => (1.0, 1.0),
            Unit::Cm => (1.0, 100.0),
            Unit::Mm => (1.0, 1000.0),
            Unit::Ft => (381.0, 1250.0),
            Unit::In => (127.0, 5000.0),
        }
    }
}

/// How the file's numbers are meant, as it is typed.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct FrameArgs {
    /// The axis that points up in the mesh file [default: z]
    #[arg(long, value_enum, value_name = "AXIS")]
    pub up: Option<Up>,
    /// The unit of the numbers in the mesh file
    #[arg(long, value_enum, default_value = "m")]
    unit: Unit,
    /// Multiply the numbers in the mesh file by this as well
    #[arg(long, default_value_t = 1.0, value_parser = scale)]
    scale: f64,
}

fn scale(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be above zero".into()) }
}

impl FrameArgs {
    pub fn frame(&self) -> Frame {
        Frame { up: self.up.unwrap_or(Up::Z), unit: self.unit, scale: self.scale }
    }
}

/// How the file's numbers become metres, z up: times `scale`, times the unit's ratio, then the axes.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub up: Up,
    pub unit: Unit,
    pub scale: f64,
}

impl Frame {
    fn apply(&self, p: [f64; 3]) -> [f64; 3] {
        let (numerator, denominator) = self.unit.ratio();
        let [x, y, z] = p.map(|v| v * self.scale * numerator / denominator);
        match self.up {
            Up::Z => [x, y, z],
            Up::Y => [x, -z, y],
        }
    }
}

/// Reads a file of any supported kind.
pub fn read(path: &Path, frame: &Frame) -> Result<Import, Failure> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "obj" => {
            let bytes = fs::read(path).map_err(|e| Failure::io(path, e))?;
            obj::read(path, bytes, frame)
        }
        "hpan" => Err(Failure::input(path, "this is a terrain image already; to look at it: hardpan info")),
        "fbx" | "gltf" | "glb" | "stl" | "ply" | "dae" | "3ds" | "blend" => Err(Failure::unsupported(
            path,
            format!(
                "{extension} files are not read yet; export Wavefront OBJ from your editor, then: hardpan build FILE.obj"
            ),
        )),
        "tif" | "tiff" | "asc" | "hgt" | "png" | "bmp" | "crg" => Err(Failure::unsupported(
            path,
            format!(
                "{extension} files are not read by the command yet; heights in memory go through hardpan_builder::HeightField"
            ),
        )),
        _ => Err(Failure::unsupported(
            path,
            "only Wavefront OBJ files (.obj) are read; export one, then: hardpan build FILE.obj",
        )),
    }
}
