//! Files in, scenes out.
//!
//! An importer hands over f64 metres, z up, with the names of materials and objects. What it used, left out or mended
//! is counted in an [`ImportReport`]; axes and units are converted here, once, and nowhere else.

mod degenerate;
mod delaunay;
mod error;
#[cfg(feature = "fbx")]
mod fbx;
mod mtl;
mod obj;
pub mod par;
pub mod place;
mod polygon;
mod report;
mod text;

pub(crate) use crate::settings::frame::cos_sin;
pub use crate::settings::frame::{Frame, Says, Transform, Unit, Up};
pub use error::{ImportError, ImportErrorKind, Next, Place};
pub use report::{Count, FileReport, ImportReport, Library};
pub use text::{Utf8, utf8};

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    rc::Rc,
};

use rayon::prelude::*;

use crate::options::Options;
use crate::scene::{Called, DEFAULT_MU, Material, Scene, Triangle};
use crate::settings::{Applied, Settings, SettingsError, SourceFile};
use degenerate::Ground;
use place::{Budget, Placed};

/// What a material, or an object, is called that has no name.
pub(crate) const NO_NAME: &str = "unnamed";
/// The name of sources beyond [`MOST_SOURCES`].
const OTHERS: &str = "others";
/// Sources with names of their own.
const MOST_SOURCES: usize = 65_534;
/// Vertices that triangles can number; the three numbers beyond stand for something else while a file is read.
const MOST_VERTICES: usize = u32::MAX as usize - 2;

/// A scene and what was remarkable about its files.
#[derive(Debug, Default)]
pub struct Import {
    /// Meshes of all files.
    pub scene: Scene,
    /// How the numbers of each file became metres, in the order given.
    pub frames: Vec<Transform>,
    /// How many triangles each file has, in the order given: those of the scene are in that order too.
    pub triangles: Vec<usize>,
    /// The same of vertices.
    pub vertices: Vec<usize>,
    /// What each file is called, in the order given.
    pub called: Vec<Called>,
    /// Counts.
    pub report: ImportReport,
}

impl Import {
    /// Of one file.
    fn of(path: &Path, scene: Scene, transform: Transform, report: FileReport) -> Self {
        Import {
            frames: vec![transform],
            triangles: vec![scene.triangles.len()],
            vertices: vec![scene.positions.len()],
            called: vec![Called { file: file_name(path), part: None }],
            report: ImportReport { files: vec![report] },
            scene,
        }
    }

    /// What settings say of these files, and the entries of the files themselves: [`Settings::apply_files`].
    pub fn apply<'a>(
        &mut self,
        settings: &Settings,
        sources: impl IntoIterator<Item = &'a SourceFile>,
    ) -> Result<Applied, SettingsError> {
        settings.apply_files(&mut self.scene, &self.triangles, &self.called, sources)
    }
}

/// Reads files into one scene, all in one frame: [`read_all`], without what is [`degenerate`].
pub fn read(files: &[impl AsRef<Path>], frame: &Frame) -> Result<Import, ImportError> {
    let each: Vec<(&Path, Frame)> = files.iter().map(|file| (file.as_ref(), *frame)).collect();
    not_degenerate(read_all(&each)?, each.iter().map(|(file, _)| *file))
}

/// Reads files into one scene, each in its own frame, also what lies so degenerate that no image of it could be proven: [`degenerate`] tells,
/// when it is known what is ground.
///
/// Of one file, a source is an object: `object`, `group`, or `object/group` where the file has both. Of several files
/// it is `file/object`: the file's name, and where two files would have a source of one name, as many of their folders as tell
/// them apart, however they are typed. A file that is read again is another thing: its name ends in `#2`, then `#3`.
pub fn read_all(files: &[(impl AsRef<Path>, Frame)]) -> Result<Import, ImportError> {
    read_called(files, &[])
}

/// The same, where some files are called otherwise in the names of their sources: each as is said here, unless that is empty.
pub fn read_called(files: &[(impl AsRef<Path>, Frame)], called: &[&str]) -> Result<Import, ImportError> {
    let paths: Vec<&Path> = files.iter().map(|(file, _)| file.as_ref()).collect();
    join(parts(files, called)?, paths.into_iter())
}

/// Reads files as settings have them, each at its places, unless that is more than may be: what it comes to goes with it.
pub fn read_sources(sources: &[(&Path, &SourceFile)], budget: &Budget) -> Result<(Import, Placed), ImportError> {
    let files: Vec<(&Path, Frame)> = sources.iter().map(|(path, s)| (*path, s.frame())).collect();
    let called: Vec<&str> = sources.iter().map(|(_, s)| s.name.as_deref().unwrap_or_default()).collect();
    let mut parts = parts(&files, &called)?;
    let placed = place::place(&mut parts, sources, budget)?;
    Ok((join(parts, files.iter().map(|(path, _)| *path))?, placed))
}

/// The scene of each file.
fn parts(files: &[(impl AsRef<Path>, Frame)], called: &[&str]) -> Result<Vec<Import>, ImportError> {
    let read = |(file, frame): &(_, Frame)| {
        let path = AsRef::<Path>::as_ref(file);
        read_any(check(path)?, path, frame)
    };
    let mut parts: Vec<Import> = files.iter().map(read).collect::<Result<_, _>>()?;
    let paths: Vec<&Path> = files.iter().map(|(file, _)| file.as_ref()).collect();
    let names = if files.len() > 1 { names(&paths, &parts) } else { vec![String::new(); files.len()] };
    let said = called.iter().copied().chain(std::iter::repeat(""));
    for (((import, name), said), path) in parts.iter_mut().zip(&names).zip(said).zip(&paths) {
        let name = if said.is_empty() { name } else { said };
        let part = (!name.is_empty()).then(|| name.to_owned());
        if part.is_some() {
            import.scene.sources.iter_mut().for_each(|s| *s = format!("{name}/{s}"));
        }
        import.called = vec![Called { file: file_name(path), part }];
    }
    Ok(parts)
}

/// The error of ground that lies so degenerate that no image of it could be proven, given the files that were read, and the rules by which
/// something is ground.
pub fn degenerate<'a>(
    import: &Import,
    rules: &Options,
    files: impl Iterator<Item = &'a Path> + Clone,
) -> Option<ImportError> {
    let ground = Ground::new(&import.scene, rules);
    let error = degenerate_in(import, &ground, files.clone())?;
    // undersides are looked for where something depends on it
    match degenerate::ceilings(&import.scene, rules) {
        none if none.is_empty() => Some(error),
        ceilings => degenerate_in(import, &ground.without(ceilings), files),
    }
}

fn degenerate_in<'a>(import: &Import, ground: &Ground, files: impl Iterator<Item = &'a Path>) -> Option<ImportError> {
    let (mut triangle, mut vertex) = (0, 0);
    let mut ends: Vec<(&Path, usize)> = Vec::new();
    let sizes = import.triangles.iter().zip(&import.vertices).zip(&import.report.files);
    for (file, ((triangles, vertices), report)) in files.zip(sizes) {
        let (first, from) = (triangle, vertex);
        (triangle, vertex) = (first + triangles, from + vertices);
        ends.push((file, triangle));
        if let Some(what) = degenerate::fan(ground, first..triangle, from..vertex, report.format == "obj") {
            return Some(what.error(file));
        }
    }
    let (file, what) = degenerate::slivers(ground, &ends)?;
    Some(what.error(ends[file].0))
}

/// Reads the bytes of an OBJ that is to be a file at `path`, beside which its libraries lie.
pub fn read_obj(bytes: &[u8], path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    not_degenerate(obj::read_bytes(bytes, path, frame)?, [path].into_iter())
}

fn read_any(format: Format, path: &Path, frame: &Frame) -> Result<Import, ImportError> {
    match format {
        Format::Obj => obj::read(path, frame),
        #[cfg(feature = "fbx")]
        Format::Fbx => fbx::read(path, frame),
    }
}

fn not_degenerate<'a>(import: Import, files: impl Iterator<Item = &'a Path> + Clone) -> Result<Import, ImportError> {
    match degenerate(&import, &Options::default(), files) {
        None => Ok(import),
        Some(error) => Err(error),
    }
}

/// Whether a name in an OBJ is read as it is written.
pub fn keeps_name(name: &str) -> bool {
    let line = format!("{name}\n");
    let mut c = text::Cursor::new(line.as_bytes());
    !name.is_empty() && !name.contains('\0') && c.words() == name.as_bytes() && c.rest() == b"\n"
}

/// Names of files. Those of one name that have a source of one name get as many of their folders as tell them apart, below the folder
/// that they share: wherever they lie and however they are typed, they are called so. A file that comes again gets a number.
fn names(paths: &[&Path], parts: &[Import]) -> Vec<String> {
    let real: Vec<PathBuf> = paths.iter().map(|path| real(path)).collect();
    let mut names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let mut alike: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    names.iter().enumerate().for_each(|(i, name)| alike.entry(name).or_default().push(i));
    let mut told = Vec::new();
    for files in alike.values() {
        let mut seen: HashMap<&str, &Path> = HashMap::new();
        let mut sources = files.iter().flat_map(|&i| parts[i].scene.sources.iter().map(move |source| (source, i)));
        if sources.all(|(source, i)| *seen.entry(source).or_insert(&real[i]) == real[i]) {
            continue;
        }
        let shared = real[files[0]].ancestors().find(|folder| files.iter().all(|&i| real[i].starts_with(folder)));
        let below = |i: usize| shared.and_then(|folder| real[i].strip_prefix(folder).ok()).unwrap_or(&real[i]);
        let longest = files.iter().map(|&i| below(i).components().count()).max().unwrap_or(1);
        let tails = |length| files.iter().map(move |&i| last_parts(below(i), length));
        let apart: HashSet<&Path> = files.iter().map(|&i| real[i].as_path()).collect();
        let length = (1..longest).find(|&length| tails(length).collect::<HashSet<_>>().len() == apart.len());
        told.extend(files.iter().copied().zip(tails(length.unwrap_or(longest))));
    }
    told.into_iter().for_each(|(i, name)| names[i] = name);
    let mut times: HashMap<&Path, u32> = HashMap::new();
    for (name, real) in names.iter_mut().zip(&real) {
        let time = times.entry(real).or_default();
        *time += 1;
        if *time > 1 {
            *name += &format!("#{time}");
        }
    }
    names
}

/// Where a file lies, by the name that it was given: a link keeps its own.
fn real(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(folder).map_or_else(|_| path.into(), |folder| folder.join(path.file_name().unwrap_or_default()))
}

/// So many last parts of a path, as text, with `/` between them.
fn last_parts(path: &Path, parts: usize) -> String {
    let all: Vec<_> = path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    all[all.len().saturating_sub(parts)..].join("/")
}

/// Puts scenes one behind the other; materials and sources of one name become one.
fn join<'a>(mut parts: Vec<Import>, paths: impl Iterator<Item = &'a Path>) -> Result<Import, ImportError> {
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let (sources, numbers) = number_sources(parts.iter().flat_map(|part| &part.scene.sources).map(String::as_str));
    let mut numbers = &numbers[..];
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut all = Import { scene: Scene { sources, ..Scene::default() }, ..Import::default() };
    for (next, path) in parts.into_iter().zip(paths) {
        let Scene { positions, triangles, materials, .. } = &mut all.scene;
        let base = positions.len() as u32; // fits, as the joined count does
        if positions.len() + next.scene.positions.len() > MOST_VERTICES {
            return Err(too_many(path, "vertices of all files together are more than 4,294,967,293"));
        }
        let mut material = Vec::new();
        for m in next.scene.materials {
            let number = *known.entry(m.name.clone()).or_insert(materials.len());
            material.push(number);
            if number == materials.len() {
                materials.push(m);
            }
        }
        if materials.len() > usize::from(u16::MAX) {
            return Err(too_many(path, "materials of all files together are more than 65,535"));
        }
        let (source, rest) = numbers.split_at(next.scene.sources.len());
        numbers = rest;
        positions.extend(next.scene.positions);
        triangles.extend(next.scene.triangles.iter().map(|t| Triangle {
            v: t.v.map(|v| v + base),
            material: material[usize::from(t.material)] as u16,
            source: source[usize::from(t.source)],
        }));
        all.frames.extend(next.frames);
        all.triangles.extend(next.triangles);
        all.vertices.extend(next.vertices);
        all.called.extend(next.called);
        all.report.files.extend(next.report.files);
    }
    Ok(all)
}

/// Names that an image can hold, ascending, and the number of each name given. Beyond the first 65,534 by
/// name all are one: which ones does not depend on their order.
pub(crate) fn number_sources<'a>(names: impl Iterator<Item = &'a str> + Clone) -> (Vec<String>, Vec<u16>) {
    let sorted: BTreeSet<&str> = names.clone().collect();
    let over = sorted.len() > MOST_SOURCES;
    let kept: BTreeSet<&str> = sorted.into_iter().take(MOST_SOURCES).chain(over.then_some(OTHERS)).collect();
    let kept: Vec<&str> = kept.into_iter().collect();
    let others = kept.binary_search(&OTHERS).unwrap_or_default();
    let number = names.map(|n| kept.binary_search(&n).unwrap_or(others) as u16).collect();
    (kept.into_iter().map(String::from).collect(), number)
}

/// Names in order of appearance.
#[derive(Default)]
struct Names {
    list: Vec<Rc<str>>,
    known: HashMap<Rc<str>, u32>,
    bytes: usize,
}

impl Names {
    /// Bytes of all names: a name of many parts says them again and again, so that a small file may have endless ones.
    const MOST: usize = 256 << 20;

    /// None beyond [`Names::MOST`].
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.known.get(name) {
            return Some(number);
        }
        self.bytes += name.len();
        let (number, name) = (self.list.len() as u32, Rc::<str>::from(name));
        self.list.push(name.clone());
        self.known.insert(name, number);
        (self.bytes <= Self::MOST).then_some(number)
    }

    fn too_long(path: &Path) -> ImportError {
        let cause = format!("the names of its objects have more than {} MiB together", Self::MOST >> 20);
        ImportError::input(path, cause, "give shorter names, or take objects out of their groups, in a mesh editor")
    }
}

/// Drops materials and sources that no triangle has, and what is no number: its faces were left out.
fn forget_unused(scene: &mut Scene) {
    let no_number = |p: &&mut [f64; 3]| p.iter().any(|v| !v.is_finite());
    scene.positions.par_iter_mut().filter(no_number).for_each(|p| *p = [0.0; 3]);
    let [mut materials, mut sources] = [vec![false; scene.materials.len()], vec![false; scene.sources.len()]];
    for t in &scene.triangles {
        materials[usize::from(t.material)] = true;
        sources[usize::from(t.source)] = true;
    }
    if !materials.iter().chain(&sources).all(|&used| used) {
        let number = |used: &[bool]| -> Vec<u16> {
            used.iter().scan(0, |next, &used| Some(std::mem::replace(next, *next + u16::from(used)))).collect()
        };
        let (material, source) = (number(&materials), number(&sources));
        scene.triangles.par_iter_mut().for_each(|t| {
            t.material = material[usize::from(t.material)];
            t.source = source[usize::from(t.source)];
        });
    }
    let mut used = materials.into_iter();
    scene.materials.retain(|_| used.next() == Some(true));
    let mut used = sources.into_iter();
    scene.sources.retain(|_| used.next() == Some(true));
}

fn too_many(path: &Path, cause: &str) -> ImportError {
    ImportError::input(path, cause, "split it, or leave some out")
}

/// Materials of which only the names are known.
fn plain(path: &Path, names: &[Rc<str>]) -> Result<Vec<Material>, ImportError> {
    if names.len() > usize::from(u16::MAX) {
        return Err(too_many(path, "more than 65,535 materials"));
    }
    Ok(names.iter().map(|name| Material::new(&**name, DEFAULT_MU)).collect())
}

/// A path's last part, as text: the name by which a file is known.
pub fn file_name(path: &Path) -> String {
    last_parts(path, 1)
}

/// Formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Autodesk FBX, binary or text; with the feature `fbx`.
    #[cfg(feature = "fbx")]
    Fbx,
}

/// Tells whether a file can be read at all, from its name and its first bytes.
pub fn check(path: &Path) -> Result<Format, ImportError> {
    let io = |e| ImportError::io(path, &e);
    let data = fs::metadata(path).map_err(io)?;
    if data.is_dir() {
        return Err(ImportError::input(path, "this is a folder", "name a mesh in it, FILE.obj or FILE.fbx"));
    }
    if !data.is_file() {
        return Err(ImportError::input(
            path,
            "this is a device or a pipe",
            "save the mesh as a file, FILE.obj, and name that",
        ));
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mut head = Vec::new();
    fs::File::open(path).map_err(io)?.take(64).read_to_end(&mut head).map_err(io)?;
    let kind = SIGNATURES.iter().find(|(bytes, _)| head.starts_with(bytes)).map_or(&*extension, |(_, kind)| *kind);
    match kind {
        "obj" => Ok(Format::Obj),
        #[cfg(feature = "fbx")]
        "fbx" => Ok(Format::Fbx),
        "hpan" if !head.starts_with(&hardpan::format::MAGIC) => Err(ImportError::input(
            path,
            "this has the name of a terrain image, and is none",
            "name a mesh, FILE.obj, or make the image again",
        )),
        "hpan" => {
            let error = ImportError::input(path, "this is a terrain image already", "look at it");
            Err(ImportError { next: Some(Next::Look), ..error })
        }
        "toml" => {
            let error = ImportError::input(path, "these are settings, and no mesh", "build by them");
            Err(ImportError { next: Some(Next::BuildBy), ..error })
        }
        kind => {
            let (hint, next) = way_round(kind);
            let cause = format!("{} not read", what(kind));
            Err(ImportError { next, ..ImportError::new(ImportErrorKind::Unsupported, path, cause, hint) })
        }
    }
}

/// Names of what lies in a folder, in order; of very many some.
fn files_in(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().take(10_000);
    let mut names: Vec<String> = all.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// First bytes by which a file is known whatever its name says.
const SIGNATURES: [(&[u8], &str); 10] = [
    (b"Kaydara FBX Binary", "fbx"),
    (b"; FBX", "fbx"),
    (b"HARDPAN\n", "hpan"),
    (b"glTF", "glb"),
    (b"PK\x03\x04", "zip"),
    (b"\x1F\x8B", "gz"),
    (b"version https://git-lfs", "lfs"),
    (b"$CT", "crg"),
    (b"<!DOCTYPE html", "html"),
    (b"<html", "html"),
];

fn what(kind: &str) -> String {
    match kind {
        "mtl" => "a material library has no mesh and is".into(),
        "lfs" => "the pointer that Git LFS leaves in place of a file is".into(),
        "html" => "this is a web page, and such are".into(),
        "" => "files without an extension are".into(),
        kind if kind.chars().all(|c| c.is_ascii_alphanumeric()) && kind.len() < 9 => format!("{kind} files are"),
        _ => "files of this kind are".into(),
    }
}

/// How programs export what is read; an OBJ says no axis, and most programs write it y up.
const EXPORT: &str =
    if cfg!(feature = "fbx") { "export FBX, or Wavefront OBJ with z up" } else { "export Wavefront OBJ with z up" };
/// What GDAL makes of a raster.
const POINTS: &str = "make points of its heights, in metres: gdal_translate -of XYZ";
/// How points become a mesh.
const TRIANGULATE: &str =
    "make a mesh of the points in CloudCompare (Edit, Mesh, Delaunay 2.5D, XY plane; save as OBJ)";

/// What to do with a file that is not read.
fn way_round(kind: &str) -> (String, Option<Next>) {
    let (hint, next) = match kind {
        "fbx" => {
            ("this hardpan is built without the feature \"fbx\": build it with that, or export Wavefront OBJ".into(), Next::Build)
        }
        "gltf" | "glb" | "stl" | "ply" | "dae" | "3ds" | "x3d" | "off" => {
            let next = if matches!(kind, "gltf" | "glb") { Next::BuildUpY } else { Next::BuildUp };
            (format!("assimp export FILE.{kind} FILE.obj; or open it in Blender and {EXPORT}"), next)
        }
        "blend" | "wrl" | "usd" | "usda" | "usdc" | "usdz" => (format!("open it in Blender and {EXPORT}"), Next::Build),
        "step" | "stp" | "iges" | "igs" | "ifc" | "brep" => {
            ("open it in FreeCAD and export Alias Mesh (.obj)".into(), Next::BuildMillimetres)
        }
        "tif" | "tiff" | "asc" | "img" | "vrt" | "dem" | "dt0" | "dt1" | "dt2" | "jp2" | "bt" | "ter" | "hgt" | "png"
        | "bmp" | "jpg" | "jpeg" | "exr" | "raw" | "r16" => {
            (format!("{POINTS} FILE.{kind} FILE.xyz; leave out those without data; {TRIANGULATE}"), Next::Build)
        }
        "shp" | "geojson" | "gpkg" | "kml" | "kmz" | "gml" | "fgb" | "gdb" | "mif" | "tab" | "dxf" | "dwg" => {
            let hint = "interpolate the heights of its contours or points in QGIS (Processing, Interpolation, TIN), saved as FILE.tif";
            (format!("{hint}; {POINTS} FILE.tif FILE.xyz; {TRIANGULATE}"), Next::Build)
        }
        "las" | "laz" | "e57" | "pcd" | "xyz" | "pts" | "csv" | "txt" => (TRIANGULATE.into(), Next::Build),
        "crg" => {
            ("ask OpenCRG's library for heights on a grid (crgEvalxy2z) and write them as Wavefront OBJ".into(), Next::Build)
        }
        "osm" | "pbf" => {
            let hint = "open it in OSM2World and export Wavefront OBJ (without heights of the land its ground is flat)";
            (hint.into(), Next::BuildUp)
        }
        "xodr" => (format!("import it as OpenDRIVE in an editor of roads, and {EXPORT}"), Next::Build),
        "par" | "cpar" => ("build the terrain that it names alone".into(), Next::BuildPar),
        "vsterrain" => {
            ("only the VehicleSim tools know what is in it; write it as OBJ with their VS Terrain Utility (Generate OBJ, without cells, pins and origin)".into(), Next::Build)
        }
        "vstu" => ("name it beside the mesh".into(), Next::BuildMeshBy),
        "sdf" | "urdf" | "world" => ("build the meshes that it names".into(), Next::Build),
        "vprp" => {
            ("write time, x and y of its places as CSV, and ask an image for the ground along it".into(), Next::QueryAlong)
        }
        "json" => ("build the meshes that the scene names; or, if these are settings, build by them".into(), Next::BuildBy),
        "zip" | "gz" | "rar" | "7z" => ("unpack it".into(), Next::Build),
        "mtl" => ("name the mesh that uses it".into(), Next::Build),
        "lfs" => return ("get the file: git lfs pull".into(), None),
        "html" => return ("download the file itself".into(), None),
        "" => (format!("let its name say what it is (.obj, .fbx), or {EXPORT}"), Next::Build),
        _ => (format!("in the program that made it, {EXPORT}"), Next::Build),
    };
    (hint, Some(next))
}

#[cfg(all(test, not(feature = "fbx")))]
mod tests {
    use super::*;

    #[test]
    fn without_its_feature_fbx_is_refused_with_a_recipe() {
        let path = std::env::temp_dir().join(format!("hardpan-no-fbx-{}.fbx", std::process::id()));
        fs::write(&path, "Kaydara FBX Binary  ").unwrap();
        let why = check(&path).unwrap_err();
        fs::remove_file(&path).unwrap();
        assert_eq!(why.kind, ImportErrorKind::Unsupported);
        assert!(why.to_string().contains("fbx files are not read") && why.hint.contains("\"fbx\""), "{why}");
        assert!(!way_round("skp").0.contains("FBX"));
    }
}
