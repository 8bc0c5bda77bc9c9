//! Files of heights: what each format reads, and how that comes to lie in the scene.

pub mod frame;
mod map;

pub use frame::Placed;
pub use map::grey;

use super::formats::Given;
use super::{Count, FileReport, Import, ImportError, ImportErrorKind, NO_NAME, Transform, file_name};
use crate::scene::{DEFAULT_MU, Material, Scene, Triangle};
pub use crate::settings::frame::Heights;
use crate::util::text::{counted, grouped};
use std::path::Path;

/// Heights at posts, as a file has them.
#[derive(Clone, Debug, Default)]
pub struct HeightGrid {
    pub format: &'static str,
    /// Posts of a row.
    pub columns: usize,
    pub rows: usize,
    /// Metres, or of a height map steps: row by row as the file has them; NaN where there is none.
    pub heights: Vec<f64>,
    /// Where the posts lie, in the file's own plane; of a height map nobody says it.
    pub place: Option<Affine>,
    pub plane: Plane,
    pub vertical: Vertical,
    /// Whether its numbers are steps whose height somebody else has to say.
    pub steps: bool,
    /// The number that stands for no height, as the file says.
    pub void: Option<f64>,
    /// What became of the file's own numbers: factor, what is added then, and metres of their unit.
    pub scale: Option<[f64; 3]>,
    /// Whether the window that was asked for is cut out already.
    pub is_cut: bool,
    /// What people should know.
    pub warnings: Vec<String>,
}

impl HeightGrid {
    /// Metres of one of the file's own numbers.
    pub fn metres(&self, own: f64) -> f64 {
        self.scale.map_or(own, |[factor, more, unit]| (own * factor + more) * unit)
    }

    /// The file's own number of metres.
    pub fn own(&self, metres: f64) -> f64 {
        let Some([factor, more, unit]) = self.scale else { return metres };
        let own = (metres / unit - more) / factor;
        if (own - own.round()).abs() < 1e-6 * own.abs() { own.round() } else { own }
    }
}

/// x and y of the post at column 0 and row 0, and the way to the next column and to the next row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    pub zero: [f64; 2],
    pub column: [f64; 2],
    pub row: [f64; 2],
}

impl Affine {
    /// Of posts along the axes: the first lies in the north-west.
    pub fn north_up(zero: [f64; 2], [x, y]: [f64; 2]) -> Affine {
        Affine { zero, column: [x, 0.0], row: [0.0, -y] }
    }

    pub fn at(&self, column: f64, row: f64) -> [f64; 2] {
        [0, 1].map(|k| self.zero[k] + column * self.column[k] + row * self.row[k])
    }

    /// Column and row of a place; none if all posts lie on a line.
    pub fn back(&self) -> Option<impl Fn([f64; 2]) -> [f64; 2] + Copy + use<>> {
        let Affine { zero, column: [a, d], row: [b, e] } = *self;
        let area = a * e - b * d;
        let is_sane = area != 0.0 && area.is_finite();
        is_sane.then_some(move |[x, y]: [f64; 2]| {
            let (x, y) = (x - zero[0], y - zero[1]);
            [(x * e - y * b) / area, (y * a - x * d) / area]
        })
    }

    /// The same, counted from another post.
    pub fn from(&self, [column, row]: [usize; 2]) -> Affine {
        Affine { zero: self.at(column as f64, row as f64), ..*self }
    }

    /// All of it times a factor.
    pub fn scaled(&self, by: f64) -> Affine {
        let times = |v: [f64; 2]| v.map(|v| v * by);
        Affine { zero: times(self.zero), column: times(self.column), row: times(self.row) }
    }
}

/// What a file says of its plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Plane {
    /// Nothing.
    #[default]
    Silent,
    /// An EPSG code.
    Code(u32),
    /// Degrees of a datum that it does not name so that we know it.
    Degrees(String),
    /// Metres of a plane that has no code, with the name that the file gives it.
    Metres(String),
}

/// What a file says of its heights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vertical {
    /// EPSG code, or zero.
    pub code: u32,
    /// Name, or nothing.
    pub name: String,
}

/// Reads a file of heights: what its bytes say comes to lie in the scene when all files are read.
pub fn import(given: &Given, read: Bytes) -> Result<Import, ImportError> {
    let path = given.path;
    let bytes = super::bytes::whole(path)?;
    let name = file_name(path);
    let grid = read(&bytes, &name, path, given.frame.heights.window)?;
    let posts = grid.heights.len() as u64;
    let report = FileReport {
        file: name,
        format: grid.format,
        bytes: bytes.len() as u64,
        frame: "heights in m".into(),
        used: vec![Count { what: "posts", count: posts, first_line: None, objects: None, note: None }],
        ..FileReport::default()
    };
    let scene = Scene {
        materials: vec![Material::new(NO_NAME, DEFAULT_MU)],
        sources: vec!["heights".into()],
        ..Scene::default()
    };
    let import = Import::of(path, scene, Transform::NONE, report);
    Ok(Import { grid: Some(Box::new(grid)), ..import })
}

/// Cells of fields as two triangles each, which have their heights at posts: a mesh that images are measured against.
pub fn as_triangles(scene: &mut Scene) {
    for field in std::mem::take(&mut scene.fields) {
        let (base, columns) = (scene.positions.len(), field.columns);
        scene.positions.extend(field.heights.iter().enumerate().map(|(i, z)| {
            let [x, y] = [i % columns, i / columns].map(|n| n as f64 * field.pitch);
            [field.origin[0] + x, field.origin[1] + y, if z.is_nan() { 0.0 } else { *z }]
        }));
        let cells = (0..field.rows - 1).flat_map(|r| (0..columns - 1).map(move |c| r * columns + c));
        for at in cells {
            let corners = [at, at + 1, at + columns + 1, at + columns];
            if corners.iter().all(|i| !field.heights[*i].is_nan()) {
                let [a, b, c, d] = corners.map(|i| (base + i) as u32);
                let (material, source) = (field.material, field.source);
                scene.triangles.extend([[a, b, c], [a, c, d]].map(|v| Triangle { v, material, source }));
            }
        }
    }
}

/// The window that is asked for: least and greatest x and y.
pub type Window = Option<[f64; 4]>;

/// What reads the bytes of a file, given its name, where it lies, and the window that is asked for.
type Bytes = fn(&[u8], &str, &Path, Window) -> Result<HeightGrid, ImportError>;

/// Files of heights that are read from a zip file, by their endings, and the most bytes that they may have.
const IN_ZIP: [(&str, u64, Bytes); 4] = [
    ("hgt", super::hgt::MAX_BYTES, |bytes, name, path, _| super::hgt::read(bytes, name, path)),
    ("tif", UNPACKED, |bytes, _, path, window| super::tiff::read(bytes, path, window)),
    ("tiff", UNPACKED, |bytes, _, path, window| super::tiff::read(bytes, path, window)),
    ("asc", UNPACKED, |bytes, _, path, _| super::esri_ascii::read(bytes, path)),
];
const UNPACKED: u64 = 512 << 20;

/// The one file of heights in a zip file.
pub fn in_zip(bytes: &[u8], _: &str, path: &Path, window: Window) -> Result<HeightGrid, ImportError> {
    let (name, bytes) = super::zip::only(bytes, path, &IN_ZIP.map(|(ending, most, _)| (ending, most)))?;
    let lower = name.to_ascii_lowercase();
    let Some((.., read)) = IN_ZIP.iter().find(|(ending, ..)| lower.ends_with(&format!(".{ending}"))) else {
        unreachable!("its name ends in one of these");
    };
    read(&bytes, &name, path, window)
}

/// Most posts that are read of a file, and most that heights are laid on: each takes eight bytes of memory.
pub const MAX_POSTS: u64 = 50_000_000;

/// How many posts a file of so many bytes has, if it can have so many, and all of them are to be read.
pub fn posts(path: &Path, size: [u64; 2], bytes: usize) -> Result<usize, ImportError> {
    let count = claimed(path, size, bytes)?;
    fits(path, size, 1, "make it smaller: gdal_translate -srcwin x y columns rows, or -outsize 25% 25%")?;
    Ok(count as usize)
}

/// That so many numbers at each of so many posts fit into memory.
pub fn fits(path: &Path, [columns, rows]: [u64; 2], numbers: u64, hint: &str) -> Result<(), ImportError> {
    let count = columns.saturating_mul(rows).saturating_mul(numbers);
    if count <= MAX_POSTS {
        return Ok(());
    }
    let each = if numbers > 1 { format!(", each of {numbers} numbers") } else { String::new() };
    let cause = format!(
        "it has {} x {} posts{each}: {} MB in memory, and {} MB are the most",
        grouped(columns),
        grouped(rows),
        grouped(count.saturating_mul(8) / 1_000_000),
        grouped(MAX_POSTS * 8 / 1_000_000)
    );
    Err(ImportError::input(path, cause, hint))
}

/// How many posts a file of so many bytes has, if it can have so many.
pub fn claimed(path: &Path, [columns, rows]: [u64; 2], bytes: usize) -> Result<u64, ImportError> {
    let size = format!("{} x {} posts", grouped(columns), grouped(rows));
    // no compression makes more of a byte
    let count = columns.checked_mul(rows).filter(|count| *count <= (1 << 22) + 4096 * bytes as u64);
    let Some(count) = count else {
        let cause = format!("it claims {size} in {}", counted(bytes as u64, "byte"));
        return Err(ImportError::input(path, cause, "it is damaged; get it again"));
    };
    if columns < 2 || rows < 2 {
        let cause = format!("it has {size}, and ground needs two of each");
        return Err(ImportError::input(path, cause, "take a larger part of it"));
    }
    Ok(count)
}

/// That a file ends early, or is not what it says.
pub fn damaged(path: &Path, cause: impl Into<String>) -> ImportError {
    ImportError::input(path, cause, "it is damaged; get it again")
}

/// That a file is not read, with what makes a readable one of it.
pub fn unsupported(path: &Path, cause: impl Into<String>, hint: impl Into<String>) -> ImportError {
    ImportError::new(ImportErrorKind::Unsupported, path, cause, hint)
}

/// Numbers by which rasters say that there is no height.
const SENTINELS: [f64; 8] =
    [-32_767.0, -32_768.0, -9999.0, -99_999.0, -3.402_823_466_385_288_6e38, 3.402_823_466_385_288_6e38, -1e38, 1e38];

/// Heights from which on none is one, metres.
const MAX_HEIGHT: f64 = 1e9;

/// How far such a number lies from all heights to be none itself, metres.
const FAR: f64 = 2000.0;

/// A number among heights that stands for none though nobody said so: far from all others, as programs write it.
pub fn unsaid(heights: &[f64]) -> Option<f64> {
    // no ground is as high, and no image holds it
    if let Some(found) = heights.iter().copied().find(|v| v.abs() >= MAX_HEIGHT) {
        return Some(found);
    }
    let is_one = |v: &f64| SENTINELS.iter().any(|s| (s - v).abs() <= 1e-6 * s.abs());
    let found = heights.iter().copied().find(is_one)?;
    let others = heights.iter().filter(|v| v.is_finite() && **v != found);
    others.clone().all(|v| (v - found).abs() > FAR).then_some(found).filter(|_| others.clone().next().is_some())
}
