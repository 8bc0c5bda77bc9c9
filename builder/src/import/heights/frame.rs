//! How grids of heights come to lie in the scene: in metres on one plane, on squares, rows from the south.

use super::{Affine, HeightGrid, Heights, MAX_POSTS, Plane, unsaid, unsupported};
use crate::import::{Frame, Import, ImportError};
use crate::options::Georeference;
use crate::scene::HeightField;
use crate::util::crs::{Datum, METRES, System, of_code};
use crate::util::projection::{Parameters, TransverseMercator};
use crate::util::text::{decimal, grouped, quoted};
use hardpan::format::Crs;
use rayon::prelude::*;
use std::{ops::Range, path::Path};

/// What all files of heights together say.
#[derive(Debug, Default)]
pub struct Placed {
    /// Where on earth the scene lies.
    pub crs: Option<Georeference>,
    /// The most that laying them on squares changed a height at a post of a file, metres.
    pub error: f64,
}

/// Posts of files at which heights are stored, so that they are off by this at most, metres.
const TOLERANCE: f64 = 0.01;
/// A file of no system has cells no smaller than this, metres: others may be degrees.
const MIN_CELL: f64 = 0.01;
/// The largest cells of degrees: where all posts are places on earth, they may be such.
const MAX_DEGREES: f64 = 0.5;
/// Way between places that are projected, metres; those between follow from them within a hundredth of a millimetre.
const NODES: f64 = 2000.0;
/// Posts between them at most.
const MAX_NODES: usize = 32;
/// Degrees of latitude and from the middle that a plane reaches.
const REACH: [f64; 2] = [88.0, 20.0];

/// The plane of a file.
#[derive(Clone, Debug)]
enum Own {
    Degrees(Datum),
    Plane {
        datum: Datum,
        tm: TransverseMercator,
        code: u32,
    },
    /// Metres of which nothing but a name is known.
    Metres {
        name: String,
        code: u32,
    },
}

/// A plane on which the scene lies.
#[derive(Clone, Debug)]
struct Target {
    own: Own,
    says: u8,
}

/// A file and its grid.
struct File<'a> {
    path: &'a Path,
    grid: HeightGrid,
    options: Heights,
    own: Own,
    /// Who stated it.
    says: u8,
}

fn warp(path: &Path, system: &str) -> String {
    format!("lay it on a plane in metres: gdalwarp -t_srs {system} {} METRES.tif", quoted(path))
}

/// The system of a file: what it says itself, or else what is said of it.
fn own(grid: &HeightGrid, options: &Heights, path: &Path) -> Result<(Own, u8), ImportError> {
    if options.file_crs == Some(METRES) && matches!(grid.plane, Plane::Silent | Plane::Metres(_)) {
        let name = if let Plane::Metres(name) = &grid.plane { name.clone() } else { String::new() };
        return Ok((Own::Metres { name, code: 0 }, Crs::USER));
    }
    let code = match (&grid.plane, options.file_crs) {
        (Plane::Code(own), Some(said)) if *own != said => {
            let said = if said == METRES { "metres".into() } else { format!("EPSG:{said}") };
            let cause = format!("it says that it is in EPSG:{own}, and --file-crs says {said}");
            return Err(ImportError::input(
                path,
                cause,
                "leave --file-crs out; heights are not moved to another datum",
            ));
        }
        (Plane::Code(own), _) => Some((*own, Crs::FILE)),
        (_, said) => said.filter(|code| *code != METRES).map(|code| (code, Crs::USER)),
    };
    if let Some((code, says)) = code {
        let own = match of_code(code) {
            Some(System::Geographic(datum)) => Own::Degrees(datum),
            Some(System::Plane { metres, .. } | System::Other { metres, .. }) if metres != 1.0 && says == Crs::USER => {
                let cause =
                    format!("a number of EPSG:{code} is {metres} m, and the file's numbers are taken as metres");
                return Err(unsupported(path, cause, warp(path, "EPSG:32601")));
            }
            Some(System::Plane { datum, of, .. }) => Own::Plane { datum, tm: TransverseMercator::new(of), code },
            Some(System::Other { method, .. }) if method == "merc" => {
                let cause = format!("a metre of EPSG:{code} is none on the ground (Mercator)");
                return Err(unsupported(path, cause, warp(path, "EPSG:32601")));
            }
            Some(System::Other { .. }) => Own::Metres { name: format!("EPSG:{code}"), code },
            None => {
                let cause = format!("EPSG:{code} is not known here");
                return Err(unsupported(path, cause, warp(path, "EPSG:32601")));
            }
        };
        return Ok((own, says));
    }
    match &grid.plane {
        Plane::Degrees(name) => {
            let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
            let cause = format!("it is in degrees of a datum that is not known{name}");
            Err(ImportError::input(path, cause, "say which: --file-crs EPSG:4326 for WGS 84, EPSG:4269 for NAD83"))
        }
        Plane::Metres(name) => Ok((Own::Metres { name: name.clone(), code: 0 }, Crs::FILE)),
        _ => {
            if let Some(cell) = grid.place.filter(|place| may_be_degrees(place, [grid.columns, grid.rows])) {
                let cell = decimal(libm::hypot(cell.column[0], cell.column[1]));
                let cause = format!("its cells are {cell} wide, and it does not say whether that is degrees or metres");
                let hint = "say it: --file-crs EPSG:4326 for degrees of WGS 84, --file-crs metres for metres";
                return Err(ImportError::input(path, cause, hint));
            }
            Ok((Own::Metres { name: String::new(), code: 0 }, Crs::NOBODY))
        }
    }
}

/// Whether a grid of which nobody says the unit could be one of degrees.
fn may_be_degrees(place: &Affine, [columns, rows]: [usize; 2]) -> bool {
    let cell = libm::hypot(place.column[0], place.column[1]);
    let far = [(columns - 1) as f64, (rows - 1) as f64];
    let corners = [[0.0, 0.0], [far[0], 0.0], [0.0, far[1]], far].map(|[c, r]| place.at(c, r));
    let on_earth = corners.iter().all(|[x, y]| x.abs() <= 361.0 && y.abs() <= 91.0);
    cell < MIN_CELL || cell <= MAX_DEGREES && on_earth
}

/// Gives the grids of files their fields.
pub fn place(parts: &mut [Import], files: &[(impl AsRef<Path>, Frame)]) -> Result<Placed, ImportError> {
    let mut all = Vec::new();
    for ((part, (path, frame)), number) in parts.iter_mut().zip(files).zip(0..) {
        let Some(mut grid) = part.grid.take() else { continue };
        let (path, options) = (path.as_ref(), frame.heights);
        no_mesh(frame, path)?;
        upright(&mut grid);
        let (own, says) = own(&grid, &options, path)?;
        window(&mut grid, &options, path)?;
        if let Some(void) = options.no_data.map(|void| grid.metres(void)).or(grid.void) {
            grid.heights
                .iter_mut()
                .filter(|h| **h == void || **h == f64::from(void as f32))
                .for_each(|h| *h = f64::NAN);
        }
        if grid.heights.par_iter().all(|h| h.is_nan()) {
            return Err(ImportError::input(
                path,
                "no post of it has a height",
                "see what it says of no data: gdalinfo -stats",
            ));
        }
        if let Some(void) = unsaid(&grid.heights).filter(|_| options.no_data.is_none()) {
            let cause = format!("it has the height {void}, far from all others, and does not say that this is none");
            let own = grid.own(void);
            let hint = format!("if there is no ground: --no-data {own}; if it is a height: --no-data nan");
            return Err(ImportError::input(path, cause, hint));
        }
        part.report.files[0].warnings.append(&mut grid.warnings);
        all.push((number, File { path, grid: *grid, options, own, says }));
    }
    let Some((_, first)) = all.first() else { return Ok(Placed::default()) };
    let (first, shift) = (first.path, files[all[0].0].1.translate);
    let target = target(all.iter().map(|(_, file)| file))?;
    let vertical = vertical(&all)?;
    let mut error = 0f64;
    for (number, file) in all {
        let (path, frame) = (file.path, files[number].1);
        let (mut field, off) = laid(file, &target)?;
        error = error.max(off);
        if target.is_somewhere() && frame.translate != shift {
            let cause = format!("it is moved otherwise than {}, and both lie on one plane of the earth", quoted(first));
            return Err(ImportError::input(path, cause, "move none of them, or all by one way"));
        }
        let [x, y, z] = frame.translate;
        field.origin = [field.origin[0] + x, field.origin[1] + y];
        if z != 0.0 {
            field.heights.par_iter_mut().for_each(|h| *h += z);
        }
        if !trimmed(&mut field) {
            let cause = "no four posts about a cell have heights, and ground is between such";
            return Err(ImportError::input(path, cause, "see what it says of no data: gdalinfo -stats"));
        }
        let part = &mut parts[number];
        part.fields = vec![1];
        part.scene.fields = vec![field];
    }
    apart(parts, files)?;
    Ok(Placed { crs: target.record(shift, vertical), error })
}

/// Leaves off rows and columns at the border in which no cell has heights at its four posts; says whether there are
/// such cells at all.
fn trimmed(field: &mut HeightField) -> bool {
    let row = |r: usize| &field.heights[r * field.columns..][..field.columns];
    let ends = |r: usize| {
        let (low, high) = (row(r), row(r + 1));
        let is_ground = |c: &usize| [low[*c], low[c + 1], high[*c], high[c + 1]].iter().all(|h| !h.is_nan());
        let first = (0..field.columns - 1).find(is_ground)?;
        Some([first, (0..field.columns - 1).rev().find(is_ground).unwrap_or(first)])
    };
    let rows: Vec<Option<[usize; 2]>> = (0..field.rows - 1).into_par_iter().map(ends).collect();
    let [south, north] = [rows.iter().position(Option::is_some), rows.iter().rposition(Option::is_some)];
    let (Some(south), Some(north)) = (south, north) else { return false };
    let all = rows.iter().flatten().fold([usize::MAX, 0], |[a, b], [c, d]| [a.min(*c), b.max(*d)]);
    let ([west, east], wide) = (all, field.columns);
    let (columns, count) = (east - west + 2, north - south + 2);
    if (columns, count) != (field.columns, field.rows) {
        // in place, as fields are large
        for r in 0..count {
            let from = (south + r) * wide + west;
            field.heights.copy_within(from..from + columns, r * columns);
        }
        field.heights.truncate(count * columns);
        let way = [west, south].map(|n| n as f64 * field.pitch);
        field.origin = [field.origin[0] + way[0], field.origin[1] + way[1]];
        (field.columns, field.rows) = (columns, count);
    }
    true
}

/// Meshes and heights lie at one place, or one of them is in another frame.
fn apart(parts: &[Import], files: &[(impl AsRef<Path>, Frame)]) -> Result<(), ImportError> {
    const NONE: [f64; 4] = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    let wider = |a: [f64; 4], [x, y]: [f64; 2]| [a[0].min(x), a[1].min(y), a[2].max(x), a[3].max(y)];
    let grids = parts.iter().flat_map(|p| &p.scene.fields).fold(NONE, |all, f| {
        let far = [f.columns, f.rows].map(|n| (n - 1) as f64 * f.pitch);
        wider(wider(all, f.origin), [f.origin[0] + far[0], f.origin[1] + far[1]])
    });
    // who places a file knows where it lies
    let is_here =
        |(part, (_, frame)): &(&Import, &(_, Frame))| !part.scene.triangles.is_empty() && !frame.heights.elsewhere;
    for (part, (path, _)) in parts.iter().zip(files).filter(is_here) {
        let corners = part.scene.triangles.iter().flat_map(|t| t.v).map(|v| part.scene.positions[v as usize]);
        let mesh = corners.fold(NONE, |all, [x, y, _]| wider(all, [x, y]));
        if mesh[0] > grids[2] || mesh[2] < grids[0] || mesh[1] > grids[3] || mesh[3] < grids[1] {
            let told = |[a, b, c, d]: [f64; 4]| format!("x {a:.1} to {c:.1}, y {b:.1} to {d:.1}");
            let cause = format!("it lies apart from all heights: it has {}, and they have {}", told(mesh), told(grids));
            let hint = "move it there with translate in its [[source]], or give the heights its frame with --crs";
            return Err(ImportError::input(path.as_ref(), cause, hint));
        }
    }
    Ok(())
}

/// Heights have no axes, no unit and no turn of their own.
fn no_mesh(frame: &Frame, path: &Path) -> Result<(), ImportError> {
    let plain = Frame { translate: frame.translate, ..Frame::default() };
    // what is said of heights may be NaN
    if (Frame { heights: Heights::default(), ..*frame }) == plain {
        return Ok(());
    }
    let cause = "axes, unit, scale and turns are of meshes, and this is a grid of heights";
    Err(ImportError::input(path, cause, "take --cell, --height-scale and --height-zero for it"))
}

/// Turns a grid whose rows run north or south, or whose columns run west, so that its posts lie as they are stored.
fn upright(grid: &mut HeightGrid) {
    let Some(mut place) = grid.place else { return };
    let is_small = |a: f64, b: f64| a.abs() <= 1e-9 * b.abs();
    if is_small(place.column[0], place.column[1]) && is_small(place.row[1], place.row[0]) {
        let (columns, rows) = (grid.columns, grid.rows);
        let turned = (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c));
        grid.heights = turned.map(|i| grid.heights[i]).collect();
        (grid.columns, grid.rows) = (rows, columns);
        place = Affine { column: [place.row[0], 0.0], row: [0.0, place.column[1]], ..place };
    }
    if place.column[1] == 0.0 && place.row[0] == 0.0 && place.column[0] < 0.0 {
        grid.heights.par_chunks_mut(grid.columns).for_each(<[f64]>::reverse);
        let zero = place.at((grid.columns - 1) as f64, 0.0);
        place = Affine { zero, column: [-place.column[0], 0.0], ..place };
    }
    grid.place = Some(place);
}

/// Cuts a grid to a window.
fn window(grid: &mut HeightGrid, options: &Heights, path: &Path) -> Result<(), ImportError> {
    let Some(window) = options.window.filter(|_| !grid.is_cut) else { return Ok(()) };
    let [columns, rows] = within(window, grid.place, [grid.columns, grid.rows], path)?;
    let own = rows.clone().flat_map(|r| &grid.heights[r * grid.columns..][columns.clone()]).copied().collect();
    grid.place = grid.place.map(|place| place.from([columns.start, rows.start]));
    (grid.heights, grid.columns, grid.rows) = (own, columns.len(), rows.len());
    Ok(())
}

/// Columns and rows of a grid that lie in a window: least and greatest x and y.
pub fn within(
    [x0, y0, x1, y1]: [f64; 4],
    place: Option<Affine>,
    size: [usize; 2],
    path: &Path,
) -> Result<[Range<usize>; 2], ImportError> {
    let Some(place) = place.filter(|p| p.column[1] == 0.0 && p.row[0] == 0.0) else {
        let cause = "a window is of a file whose posts lie along x and y, and this one has no place, or is turned";
        return Err(unsupported(path, cause, "cut it: gdal_translate -srcwin x y columns rows"));
    };
    let along = |zero: f64, pitch: f64, [low, high]: [f64; 2], count: usize| {
        let ends = [(low - zero) / pitch, (high - zero) / pitch];
        let (first, last) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let first = (first - 1e-6).ceil().max(0.0) as usize;
        let last = (last + 1e-6).floor().min((count - 1) as f64);
        (last >= 1.0 && first < last as usize).then_some(first..last as usize + 1)
    };
    let columns = along(place.zero[0], place.column[0], [x0, x1], size[0]);
    let rows = along(place.zero[1], place.row[1], [y0, y1], size[1]);
    let (Some(columns), Some(rows)) = (columns, rows) else {
        let far = place.at((size[0] - 1) as f64, (size[1] - 1) as f64);
        let [w, s] = [place.zero[0].min(far[0]), place.zero[1].min(far[1])].map(decimal);
        let [e, n] = [place.zero[0].max(far[0]), place.zero[1].max(far[1])].map(decimal);
        let cause = format!("the window has no two posts of it each way: it has x {w} to {e} and y {s} to {n}");
        return Err(ImportError::input(path, cause, "give another one: --window x,y,x,y"));
    };
    Ok([columns, rows])
}

/// What all files say of their heights; nothing if one says nothing.
fn vertical(all: &[(usize, File)]) -> Result<super::Vertical, ImportError> {
    let first = &all[0].1;
    for (_, file) in all {
        if file.grid.vertical.name.is_empty() {
            return Ok(super::Vertical::default());
        }
        if file.grid.vertical != first.grid.vertical {
            let [a, b] = [file, first].map(|f| f.grid.vertical.name.clone());
            let cause = format!("its heights are {a}, and those of {} are {b}", quoted(first.path));
            return Err(ImportError::input(
                file.path,
                cause,
                "heights are not moved from one to another; make them alike",
            ));
        }
    }
    Ok(first.grid.vertical.clone())
}

impl Own {
    fn datum(&self) -> Option<&Datum> {
        match self {
            Own::Degrees(datum) | Own::Plane { datum, .. } => Some(datum),
            Own::Metres { .. } => None,
        }
    }

    fn name(&self) -> String {
        match self {
            Own::Degrees(datum) => format!("degrees of {}", datum.name),
            Own::Plane { code: 0, tm, .. } => {
                let Parameters { longitude, latitude, .. } = tm.parameters();
                let [longitude, latitude] = [longitude, latitude].map(|v| decimal((v * 1e9).round() / 1e9));
                format!("transverse Mercator about {longitude}, {latitude}")
            }
            Own::Plane { code, .. } => format!("EPSG:{code}"),
            Own::Metres { name, .. } => name.clone(),
        }
    }

    /// Whether places of one are places of the other.
    fn is(&self, other: &Own) -> bool {
        match (self, other) {
            (Own::Degrees(a), Own::Degrees(b)) => a == b,
            (Own::Plane { datum: a, tm: p, .. }, Own::Plane { datum: b, tm: q, .. }) => {
                a == b && p.parameters() == q.parameters()
            }
            (Own::Metres { name: a, .. }, Own::Metres { name: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// The plane of all files: the one that is asked for; else their own if it is one in metres; else one about their
/// middle.
fn target<'a>(files: impl Iterator<Item = &'a File<'a>> + Clone) -> Result<Target, ImportError> {
    let Some(first) = files.clone().next() else { unreachable!("there is a file") };
    let differ = |file: &File, other: &File, what: &str, hint: &str| {
        let [a, b] = [file, other].map(|f| match f.own.name() {
            none if none.is_empty() => "says no system".into(),
            name => format!("is in {name}"),
        });
        let cause = format!("it {a}, and {} {b}: {what}", quoted(other.path));
        ImportError::input(file.path, cause, hint)
    };
    if let Some(other) = files.clone().find(|f| f.own.datum().map(|d| &d.name) != first.own.datum().map(|d| &d.name)) {
        return Err(differ(other, first, "no datum is moved to another", "make them alike: gdalwarp -t_srs"));
    }
    if let Some(code) = first.options.crs {
        let Some(System::Plane { datum, of, metres: 1.0 }) = of_code(code) else {
            let cause =
                format!("--crs EPSG:{code} is no UTM nor other transverse Mercator in metres that is known here");
            return Err(unsupported(first.path, cause, warp(first.path, &format!("EPSG:{code}"))));
        };
        let own = Own::Plane { datum, tm: TransverseMercator::new(of), code };
        match first.own.datum().or(own.datum().filter(|_| first.own.is(&own))) {
            Some(datum) if Some(&datum.name) == own.datum().map(|d| &d.name) => {
                return Ok(Target { own, says: Crs::USER });
            }
            Some(datum) => {
                let other = own.datum().map(|d| d.name.clone()).unwrap_or_default();
                let cause = format!(
                    "it refers to {}, and --crs EPSG:{code} to {other}; no datum is moved to another",
                    datum.name
                );
                return Err(unsupported(first.path, cause, warp(first.path, &format!("EPSG:{code}"))));
            }
            None => {
                let cause = match first.own.name() {
                    none if none.is_empty() => "it does not say its system".into(),
                    name => format!("the way from its system ({name}) is not known"),
                };
                let hint =
                    format!("say it with --file-crs EPSG:CODE, or {}", warp(first.path, &format!("EPSG:{code}")));
                return Err(unsupported(first.path, cause, hint));
            }
        }
    }
    let mut planes = files.clone().filter(|f| !matches!(f.own, Own::Degrees(_)));
    if let Some(plane) = planes.next() {
        return match files.clone().find(|f| !f.own.is(&plane.own)) {
            None => Ok(Target { own: plane.own.clone(), says: plane.says }),
            Some(other) => Err(differ(other, plane, "both lie on one plane in an image", "say which: --crs EPSG:CODE")),
        };
    }
    // the middle of all degrees
    let mut ends = [[f64::INFINITY, f64::INFINITY], [f64::NEG_INFINITY, f64::NEG_INFINITY]];
    for file in files {
        let place = file.grid.place.unwrap_or(Affine::north_up([0.0; 2], [1.0; 2]));
        let far = [file.grid.columns - 1, file.grid.rows - 1].map(|n| n as f64);
        for [c, r] in [[0.0, 0.0], [far[0], 0.0], [0.0, far[1]], far] {
            let at = place.at(c, r);
            ends = [[0, 1].map(|k| ends[0][k].min(at[k])), [0, 1].map(|k| ends[1][k].max(at[k]))];
        }
    }
    let [longitude, latitude] = [0, 1].map(|k| (ends[0][k] + ends[1][k]) / 2.0);
    if ends[1][0] - ends[0][0] > 2.0 * REACH[1] || ends[0][1] < -REACH[0] || ends[1][1] > REACH[0] {
        let cause = format!(
            "degrees {:.3} to {:.3} east, {:.3} to {:.3} north are more than lies on one plane",
            ends[0][0], ends[1][0], ends[0][1], ends[1][1]
        );
        return Err(unsupported(first.path, cause, "cut a part out of it: --window, or gdal_translate -projwin"));
    }
    let Some(datum) = first.own.datum().cloned() else { unreachable!("degrees have a datum") };
    let of = Parameters { ellipsoid: datum.ellipsoid, longitude, latitude, scale: 1.0, zero: [0.0; 2] };
    Ok(Target { own: Own::Plane { datum, tm: TransverseMercator::new(of), code: 0 }, says: Crs::BUILDER })
}

/// The plane that a user names, as EPSG:CODE, for a scene whose files say nothing of it.
pub fn of_user(text: &str) -> Option<Georeference> {
    let code = crate::util::crs::code(text)?;
    let own = match of_code(code)? {
        System::Plane { datum, of, .. } => Own::Plane { datum, tm: TransverseMercator::new(of), code },
        System::Other { .. } => Own::Metres { name: format!("EPSG:{code}"), code },
        System::Geographic(_) => return None,
    };
    Target { own, says: Crs::USER }.record([0.0; 3], super::Vertical::default())
}

impl Target {
    fn is_somewhere(&self) -> bool {
        !self.own.name().is_empty()
    }

    fn record(&self, shift: [f64; 3], vertical: super::Vertical) -> Option<Georeference> {
        if !self.is_somewhere() && vertical.name.is_empty() {
            return None;
        }
        let mut record = Crs {
            method: Crs::UNKNOWN,
            code: 0,
            vertical_code: vertical.code,
            says: self.says,
            vertical_says: if vertical.name.is_empty() { Crs::NOBODY } else { Crs::FILE },
            name_len: 0,
            datum_len: 0,
            vertical_len: 0,
            reserved0: 0,
            radius: 0.0,
            inverse_flattening: 0.0,
            longitude: 0.0,
            latitude: 0.0,
            scale: 0.0,
            zero: [0.0; 2],
            shift,
            reserved1: [0; 3],
        };
        match &self.own {
            Own::Plane { tm, code, .. } => {
                let Parameters { ellipsoid, longitude, latitude, scale, zero } = *tm.parameters();
                (record.method, record.code) = (Crs::TRANSVERSE_MERCATOR, *code);
                (record.radius, record.inverse_flattening) = (ellipsoid.radius, ellipsoid.inverse_flattening);
                (record.longitude, record.latitude, record.scale, record.zero) = (longitude, latitude, scale, zero);
            }
            Own::Metres { code, .. } => record.code = *code,
            Own::Degrees(_) => {}
        }
        let datum = self.own.datum().map(|d| d.name.clone()).unwrap_or_default();
        Some(Georeference { record, name: self.own.name(), datum, vertical: vertical.name })
    }
}

/// Maps between the plane of a file and the scene's.
#[derive(Clone, Copy)]
enum Way {
    Same,
    FromDegrees(TransverseMercator, f64),
    FromPlane(TransverseMercator, TransverseMercator),
}

impl Way {
    fn there(&self, at: [f64; 2]) -> [f64; 2] {
        match self {
            Way::Same => at,
            Way::FromDegrees(to, _) => to.forward(at),
            Way::FromPlane(from, to) => to.forward(from.inverse(at)),
        }
    }

    fn back(&self, at: [f64; 2]) -> [f64; 2] {
        match self {
            Way::Same => at,
            Way::FromDegrees(to, middle) => {
                let [longitude, latitude] = to.inverse(at);
                // as the file counts them, beyond 180 degrees too
                [longitude + 360.0 * ((middle - longitude) / 360.0).round_ties_even(), latitude]
            }
            Way::FromPlane(from, to) => from.forward(to.inverse(at)),
        }
    }
}

/// A file's grid as a field, and the most that this changed a height at its posts.
fn laid(file: File, target: &Target) -> Result<(HeightField, f64), ImportError> {
    let File { path, mut grid, options, own, .. } = file;
    let (step, zero) = (options.step, options.zero.unwrap_or(0.0));
    if grid.steps && step.is_none() {
        let cause = "its numbers are steps of grey, and nobody says how high one is";
        return Err(ImportError::input(path, cause, "say it in metres: --height-scale 0.1"));
    }
    let step = step.unwrap_or(1.0);
    if (step, zero) != (1.0, 0.0) {
        grid.heights.par_iter_mut().for_each(|h| *h = zero + *h * step);
    }
    let place = match (grid.place, options.cell) {
        (Some(place), _) => place,
        (None, Some(cell)) => {
            let north = if options.south_first { 0.0 } else { (grid.rows - 1) as f64 * cell };
            let row = if options.south_first { cell } else { -cell };
            let half =
                [grid.columns, grid.rows].map(|n| if options.centred { (n - 1) as f64 * cell / 2.0 } else { 0.0 });
            Affine { zero: [-half[0], north - half[1]], column: [cell, 0.0], row: [0.0, row] }
        }
        (None, None) => {
            let cause = "it does not say where its posts lie, nor how far apart";
            return Err(ImportError::input(path, cause, "say it in metres: --cell 10"));
        }
    };
    let Affine { column, row, .. } = place;
    let same = own.is(&target.own);
    let most = grid.columns.max(grid.rows) as f64;
    let is_square = column[1] == 0.0
        && row[0] == 0.0
        && column[0] > 0.0
        && (row[1].abs() - column[0]).abs() * most <= 1e-3 * column[0];
    let keeps = options.cell.is_none_or(|cell| cell == column[0]);
    if same && is_square && keeps && !matches!(own, Own::Degrees(_)) {
        let north_first = row[1] < 0.0;
        let south = if north_first { place.zero[1] + (grid.rows - 1) as f64 * row[1] } else { place.zero[1] };
        if north_first {
            turn(&mut grid.heights, grid.columns);
        }
        let field = HeightField {
            origin: [place.zero[0], south],
            pitch: column[0],
            columns: grid.columns,
            rows: grid.rows,
            heights: grid.heights,
            tolerance: TOLERANCE,
            ..HeightField::default()
        };
        return Ok((field, 0.0));
    }
    let way = match (&own, &target.own) {
        _ if same => Way::Same,
        (Own::Degrees(_), Own::Plane { tm, .. }) => Way::FromDegrees(*tm, place.at((grid.columns / 2) as f64, 0.0)[0]),
        (Own::Plane { tm: from, .. }, Own::Plane { tm, .. }) => Way::FromPlane(*from, *tm),
        _ => unreachable!("files of other systems are refused"),
    };
    resampled(grid, place, way, options.cell, path)
}

/// Rows the other way round.
pub fn turn(heights: &mut [f64], columns: usize) {
    let rows = heights.len() / columns;
    for row in 0..rows / 2 {
        let (low, high) = heights.split_at_mut((rows - 1 - row) * columns);
        low[row * columns..][..columns].swap_with_slice(&mut high[..columns]);
    }
}

/// Two digits of a number, rounded down.
fn two_digits(v: f64) -> f64 {
    let tens = libm::log10(v).floor() as i32 - 1;
    let unit = 10f64.powi(tens.abs());
    if tens >= 0 { (v / unit).floor() * unit } else { (v * unit).floor() / unit }
}

/// Heights at multiples of `cell` on the plane, bilinear between the posts of the file.
fn resampled(
    grid: HeightGrid,
    place: Affine,
    way: Way,
    cell: Option<f64>,
    path: &Path,
) -> Result<(HeightField, f64), ImportError> {
    let Some(back) = place.back() else { return Err(super::damaged(path, "its posts lie on a line")) };
    let far = [grid.columns - 1, grid.rows - 1];
    let there = |c: f64, r: f64| way.there(place.at(c, r));
    let cell = cell.unwrap_or_else(|| {
        let [c, r] = far.map(|n| (n / 2) as f64);
        let [a, b, d] = [there(c, r), there(c + 1.0, r), there(c, r + 1.0)];
        let apart = |p: [f64; 2]| libm::hypot(p[0] - a[0], p[1] - a[1]);
        two_digits(apart(b).min(apart(d)))
    });
    // what the border reaches
    let along = |n: usize| (0..=n).map(|i| i as f64);
    let [east, south] = far.map(|n| n as f64);
    let border = along(far[0]).flat_map(|c| [[c, 0.0], [c, south]]);
    let border = border.chain(along(far[1]).flat_map(|r| [[0.0, r], [east, r]]));
    let mut ends = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    for [c, r] in border {
        let at = there(c, r);
        ends = [[0, 1].map(|k| ends[0][k].min(at[k])), [0, 1].map(|k| ends[1][k].max(at[k]))];
    }
    let first = [0, 1].map(|k| (ends[0][k] / cell - 1e-6).ceil());
    let last = [0, 1].map(|k| (ends[1][k] / cell + 1e-6).floor());
    let count = [0, 1].map(|k| last[k] - first[k] + 1.0);
    if !(count[0] >= 2.0 && count[1] >= 2.0 && count[0] * count[1] <= MAX_POSTS as f64 && count[0].max(count[1]) < 1e6)
    {
        let [x, y] = [0, 1].map(|k| ends[1][k] - ends[0][k]);
        let cause = format!(
            "it is {x:.1} m by {y:.1} m, and posts {} m apart would be fewer than two or more than {}",
            decimal(cell),
            grouped(MAX_POSTS)
        );
        return Err(ImportError::input(path, cause, "give another distance: --cell METRES"));
    }
    let [columns, rows] = count.map(|n| n as usize);
    let origin = first.map(|n| n * cell);
    let nodes = |pitch: f64| ((NODES / pitch) as usize).clamp(1, MAX_NODES);
    let exact = matches!(way, Way::Same);
    let to_file = |x: f64, y: f64| back(way.back([(first[0] + x) * cell, (first[1] + y) * cell]));
    let heights = Grid { columns: grid.columns, rows: grid.rows, heights: &grid.heights };
    let of_file = Nodes::new(&to_file, [columns, rows], nodes(cell), exact);
    let mut laid = vec![f64::NAN; columns * rows];
    laid.par_chunks_mut(columns).enumerate().for_each(|(y, line)| {
        of_file.row(y, |x, [c, r]| line[x] = heights.at(c, r));
    });
    // how far the ground at the file's own posts is off
    let to_field = |c: f64, r: f64| there(c, r).map(|v| v / cell);
    let to_field = |c: f64, r: f64| {
        let at = to_field(c, r);
        [at[0] - first[0], at[1] - first[1]]
    };
    let new = Grid { columns, rows, heights: &laid };
    let of_field = Nodes::new(&to_field, [grid.columns, grid.rows], nodes(cell), exact);
    let off = |r: usize| {
        let mut most = 0f64;
        of_field.row(r, |c, [x, y]| {
            let off = (new.at(x, y) - grid.heights[r * grid.columns + c]).abs();
            if off > most {
                most = off;
            }
        });
        most
    };
    let error = (0..grid.rows).into_par_iter().map(off).reduce(|| 0.0, f64::max);
    let field = HeightField {
        origin,
        pitch: cell,
        columns,
        rows,
        heights: laid,
        tolerance: TOLERANCE,
        ..HeightField::default()
    };
    Ok((field, error))
}

/// Heights between posts.
struct Grid<'a> {
    columns: usize,
    rows: usize,
    heights: &'a [f64],
}

impl Grid<'_> {
    /// Bilinear; NaN beyond the posts, and where one that counts has no height.
    fn at(&self, c: f64, r: f64) -> f64 {
        const NEAR: f64 = 1e-6;
        let [w, h] = [self.columns - 1, self.rows - 1].map(|n| n as f64);
        if !(c >= -NEAR && c <= w + NEAR && r >= -NEAR && r <= h + NEAR) {
            return f64::NAN;
        }
        let cell = |v: f64, n: usize| {
            let near = v.round_ties_even();
            let v = if (v - near).abs() <= NEAR { near } else { v };
            let v = v.clamp(0.0, (n - 1) as f64);
            let i = (v as usize).min(n - 2);
            (i, v - i as f64)
        };
        let ((i, u), (j, v)) = (cell(c, self.columns), cell(r, self.rows));
        let at = |i: usize, j: usize| self.heights[j * self.columns + i];
        let weights = [
            (i, j, (1.0 - u) * (1.0 - v)),
            (i + 1, j, u * (1.0 - v)),
            (i, j + 1, (1.0 - u) * v),
            (i + 1, j + 1, u * v),
        ];
        let mut sum = 0.0;
        for (i, j, weight) in weights {
            if weight != 0.0 {
                sum += weight * at(i, j);
            }
        }
        sum
    }
}

/// A smooth map of posts, known exactly at some of them and between by cubics: exact ones cost a hundred times as much.
struct Nodes<'a, F> {
    map: &'a F,
    size: [usize; 2],
    step: usize,
    /// Nodes of a row, one before the first post and two behind the last.
    wide: usize,
    known: Vec<[f64; 2]>,
}

impl<'a, F: Fn(f64, f64) -> [f64; 2] + Sync> Nodes<'a, F> {
    fn new(map: &'a F, size: [usize; 2], step: usize, exact: bool) -> Self {
        if exact || step < 4 {
            return Nodes { map, size, step: 0, wide: 0, known: Vec::new() };
        }
        let [wide, high] = size.map(|n| (n - 1) / step + 4);
        let place = |k: usize| (k as f64 - 1.0) * step as f64;
        let node = |i: usize| map(place(i % wide), place(i / wide));
        let known = (0..wide * high).into_par_iter().map(node).collect();
        Nodes { map, size, step, wide, known }
    }

    /// Tells each post of a row where it comes to lie.
    fn row(&self, row: usize, mut tell: impl FnMut(usize, [f64; 2])) {
        if self.step == 0 {
            (0..self.size[0]).for_each(|x| tell(x, (self.map)(x as f64, row as f64)));
            return;
        }
        let between = |t: f64, p: [[f64; 2]; 4]| {
            // the cubic through values at -1, 0, 1 and 2
            let weights = [
                -t * (t - 1.0) * (t - 2.0) / 6.0,
                (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
                -(t + 1.0) * t * (t - 2.0) / 2.0,
                (t + 1.0) * t * (t - 1.0) / 6.0,
            ];
            [0, 1].map(|k| (0..4).map(|i| weights[i] * p[i][k]).sum::<f64>())
        };
        let (j, t) = (row / self.step, (row % self.step) as f64 / self.step as f64);
        let line: Vec<[f64; 2]> =
            (0..self.wide).map(|i| between(t, [0, 1, 2, 3].map(|k| self.known[(j + k) * self.wide + i]))).collect();
        for x in 0..self.size[0] {
            let (i, t) = (x / self.step, (x % self.step) as f64 / self.step as f64);
            tell(x, between(t, [line[i], line[i + 1], line[i + 2], line[i + 3]]));
        }
    }
}
