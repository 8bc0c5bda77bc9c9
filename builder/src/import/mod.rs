//! Files in, scenes out.
//!
//! An importer hands over f64 metres, z up, with the names of materials and objects. What it used, left out or mended
//! is counted in an [`ImportReport`]; axes and units are converted here, once, and nowhere else.

#[cfg(feature = "heights")]
mod bmp;
mod bytes;
mod carve;
pub mod crg;
mod degenerate;
mod delaunay;
mod error;
#[cfg(feature = "heights")]
mod esri_ascii;
#[cfg(feature = "fbx")]
mod fbx;
pub mod formats;
#[cfg(feature = "json")]
mod gltf;
#[cfg(feature = "heights")]
pub mod heights;
#[cfg(feature = "heights")]
mod hgt;
mod mtl;
mod obj;
pub mod par;
pub mod place;
mod ply;
#[cfg(feature = "heights")]
mod png;
mod polygon;
mod report;
mod stl;
mod text;
#[cfg(feature = "heights")]
mod tiff;
#[cfg(feature = "heights")]
mod xyz;
#[cfg(feature = "heights")]
mod zip;

pub(crate) use crate::settings::frame::cos_sin;
pub use crate::settings::frame::{Frame, Says, Transform, Unit, Up};
pub use error::{ImportError, ImportErrorKind, Next, Place};
pub use formats::FORMATS;
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

use crate::build::stage::raster::least_tolerance;
use crate::options::{Georeference, Options, SourceError};
use crate::scene::{Called, DEFAULT_MU, HeightField, Material, Scene, Triangle};
use crate::settings::{Applied, Settings, SettingsError, SourceFile};
use degenerate::Ground;
use formats::{Given, Head, Reader};
use place::{Budget, Placed};

/// Name of a material or an object without one.
pub(crate) const NO_NAME: &str = "unnamed";
/// The name of sources beyond [`MAX_SOURCES`].
const OTHERS: &str = "others";
/// Sources with names of their own.
const MAX_SOURCES: usize = 65_534;
/// Vertices that triangles can number; the three numbers beyond stand for something else while a file is read.
const MAX_VERTICES: usize = u32::MAX as usize - 2;

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
    /// The same of height fields.
    pub fields: Vec<usize>,
    /// Copies of objects within the file.
    copies: Placed,
    /// Name of each file, in the order given.
    pub called: Vec<Called>,
    /// Where on earth files of heights say that the scene lies.
    pub crs: Option<Georeference>,
    /// The most that laying heights on squares changed one at a post of a file, metres.
    pub height_error: f64,
    /// Materials whose friction the files state, which holds where settings say none.
    pub stated: BTreeMap<String, f64>,
    /// Heights that have no place in the scene yet.
    #[cfg(feature = "heights")]
    grid: Option<Box<heights::HeightGrid>>,
    /// Counts.
    pub report: ImportReport,
}

impl Import {
    /// A scene of one file.
    fn of(path: &Path, scene: Scene, transform: Transform, report: FileReport) -> Self {
        Import {
            frames: vec![transform],
            triangles: vec![scene.triangles.len()],
            vertices: vec![scene.positions.len()],
            fields: vec![scene.fields.len()],
            called: vec![Called { file: file_name(path), part: None }],
            report: ImportReport { files: vec![report] },
            scene,
            ..Import::default()
        }
    }

    /// Applies settings to these files, and the entries of the files themselves: [`Settings::apply_files`].
    pub fn apply<'a>(
        &mut self,
        settings: &Settings,
        sources: impl IntoIterator<Item = &'a SourceFile>,
    ) -> Result<Applied, SettingsError> {
        let mut applied =
            settings.apply_files(&mut self.scene, [&self.triangles, &self.fields], &self.called, sources)?;
        for material in &mut self.scene.materials {
            let Some(mu) = self.stated.get(&material.name) else { continue };
            for names in [&mut applied.plain, &mut applied.unlisted] {
                if let Some(at) = names.iter().position(|name| *name == material.name) {
                    names.remove(at);
                    material.mu = *mu;
                }
            }
        }
        Ok(applied)
    }

    /// Makes height fields ready for a build, when it is known what is ground: their order and tolerance, and what the
    /// build options say of the plane and of the error.
    pub fn settle_fields(&mut self, settings: &mut Settings) {
        let Scene { fields, materials, .. } = &mut self.scene;
        fields.retain(|f| materials[usize::from(f.material)].is_ground());
        // the order of files is nothing
        fields.sort_by(|a, b| {
            let key = |f: &HeightField| [f.origin[1], f.origin[0], f.pitch, f.columns as f64, f.rows as f64];
            key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal)
        });
        if settings.patch_tolerance.is_none() {
            // steep ones take more than they ask for
            let z_log2 = settings.build.z_log2;
            fields.iter_mut().for_each(|f| f.tolerance = f.tolerance.max(least_tolerance(f, z_log2)));
        }
        settings.build.crs.clone_from(&self.crs);
        if self.height_error > 0.0 {
            // on top of what the image rounds itself
            let rest = [0.0, self.height_error];
            settings.build.source_error = Some(SourceError { rest, side: 1.0, squares: Vec::new() });
        }
    }
}

/// Reads files into one scene, all in one frame: [`read_all`], without what is [`degenerate`].
pub fn read(files: &[impl AsRef<Path>], frame: &Frame) -> Result<Import, ImportError> {
    let each: Vec<(&Path, Frame)> = files.iter().map(|file| (file.as_ref(), *frame)).collect();
    not_degenerate(read_all(&each)?, each.iter().map(|(file, _)| *file))
}

/// Reads files into one scene, each in its own frame, also what lies so degenerate that no image of it could be proven:
/// [`degenerate`] tells, when it is known what is ground.
///
/// Reads all files. A source of one file is an object: `object`, `group`, or `object/group` where the file has both.
/// With several files it is `file/object`. Where two files would give one name, as many of their folders are added as
/// tell them apart, however they are typed. A file that is read again is another thing: its name ends in `#2`, then
/// `#3`.
pub fn read_all(files: &[(impl AsRef<Path>, Frame)]) -> Result<Import, ImportError> {
    read_called(files, &[])
}

/// The same, where some files are called otherwise in the names of their sources: each as is said here, unless that is
/// empty.
pub fn read_called(files: &[(impl AsRef<Path>, Frame)], called: &[&str]) -> Result<Import, ImportError> {
    let paths: Vec<&Path> = files.iter().map(|(file, _)| file.as_ref()).collect();
    join(parts(files, called, &[], &Budget::default())?, paths.into_iter())
}

/// Reads files as settings have them, each at its places, with trails and potholes, unless that is more than may be:
/// what it comes to goes with it.
pub fn read_sources(
    sources: &[(&Path, &SourceFile)],
    settings: &Settings,
    budget: &Budget,
) -> Result<(Import, Placed), ImportError> {
    #[cfg(feature = "heights")]
    let crs = crate::util::crs::code(&settings.crs);
    let frame = |s: &SourceFile| {
        let frame = s.frame();
        #[cfg(feature = "heights")]
        let frame = Frame { heights: heights::Heights { crs, ..frame.heights }, ..frame };
        frame
    };
    let files: Vec<(&Path, Frame)> = sources.iter().map(|(path, s)| (*path, frame(s))).collect();
    let called: Vec<&str> = sources.iter().map(|(_, s)| s.name.as_deref().unwrap_or_default()).collect();
    let friction: Vec<Option<&str>> = sources.iter().map(|(_, s)| s.friction.as_deref()).collect();
    let mut parts = parts(&files, &called, &friction, budget)?;
    let placed = place::place(&mut parts, sources, budget)?;
    let ground = parts.iter_mut().zip(sources).filter(|(_, (_, source))| carve::is_cut(source));
    ground.for_each(|(part, _)| carve::carve(part, &settings.trails, &settings.potholes));
    Ok((join(parts, files.iter().map(|(path, _)| *path))?, placed))
}

/// The scene of each file.
fn parts(
    files: &[(impl AsRef<Path>, Frame)],
    called: &[&str],
    friction: &[Option<&str>],
    budget: &Budget,
) -> Result<Vec<Import>, ImportError> {
    let read = |((file, frame), friction): (&(_, Frame), &Option<&str>)| {
        let path = AsRef::<Path>::as_ref(file);
        let given = Given { path, frame, budget };
        if friction.is_none() {
            return reader(path)?(&given);
        }
        if !formats::is("crg", path, &head(path)?) {
            let cause = "friction from a file is of roads of OpenCRG, and this is none";
            return Err(ImportError::input(path, cause, "leave friction out of its [[source]]"));
        }
        crg::read(path, frame, *friction)
    };
    let each = friction.iter().chain(std::iter::repeat(&None));
    let mut parts: Vec<Import> = files.iter().zip(each).map(read).collect::<Result<_, _>>()?;
    #[cfg(feature = "heights")]
    let placed = heights::frame::place(&mut parts, files)?;
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
    #[cfg(feature = "heights")]
    for part in &mut parts {
        (part.crs, part.height_error) = (placed.crs.clone(), placed.error);
    }
    Ok(parts)
}

/// The error of ground that lies so degenerate that no image of it could be proven, given the files that were read, and
/// the rules by which something is ground.
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

/// Names of files. Those of one name that have a source of one name get as many of their folders as tell them apart,
/// below the folder that they share: wherever they lie and however they are typed, they are called so. A file that
/// comes again gets a number.
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
        (all.crs, all.height_error) = (next.crs, next.height_error);
        let Scene { positions, triangles, materials, fields, .. } = &mut all.scene;
        let base = positions.len() as u32; // fits, as the joined count does
        if positions.len() + next.scene.positions.len() > MAX_VERTICES {
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
        fields.extend(next.scene.fields.into_iter().map(|field| HeightField {
            material: material[usize::from(field.material)] as u16,
            source: source[usize::from(field.source)],
            ..field
        }));
        all.frames.extend(next.frames);
        all.stated.extend(next.stated);
        all.fields.extend(next.fields);
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
    let over = sorted.len() > MAX_SOURCES;
    let kept: BTreeSet<&str> = sorted.into_iter().take(MAX_SOURCES).chain(over.then_some(OTHERS)).collect();
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
    const MAX_BYTES: usize = 256 << 20;

    /// None beyond [`Names::MAX_BYTES`].
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.known.get(name) {
            return Some(number);
        }
        self.bytes += name.len();
        let (number, name) = (self.list.len() as u32, Rc::<str>::from(name));
        self.list.push(name.clone());
        self.known.insert(name, number);
        (self.bytes <= Self::MAX_BYTES).then_some(number)
    }

    fn too_long(path: &Path) -> ImportError {
        let cause = format!("the names of its objects have more than {} MiB together", Self::MAX_BYTES >> 20);
        ImportError::input(path, cause, "give shorter names, or take objects out of their groups, in a mesh editor")
    }
}

/// Drops materials and sources that no triangle and no field has, and what is no number: its faces were left out.
fn forget_unused(scene: &mut Scene) {
    let no_number = |p: &&mut [f64; 3]| p.iter().any(|v| !v.is_finite());
    scene.positions.par_iter_mut().filter(no_number).for_each(|p| *p = [0.0; 3]);
    let [mut materials, mut sources] = [vec![false; scene.materials.len()], vec![false; scene.sources.len()]];
    for t in &scene.triangles {
        materials[usize::from(t.material)] = true;
        sources[usize::from(t.source)] = true;
    }
    for field in &scene.fields {
        materials[usize::from(field.material)] = true;
        sources[usize::from(field.source)] = true;
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
        for field in &mut scene.fields {
            field.material = material[usize::from(field.material)];
            field.source = source[usize::from(field.source)];
        }
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

/// Tells whether a file can be read at all, from its first bytes and its name.
pub fn check(path: &Path) -> Result<(), ImportError> {
    reader(path).map(|_| ())
}

/// The reader of a file.
fn reader(path: &Path) -> Result<Reader, ImportError> {
    formats::reader(path, &head(path)?)
}

/// The first bytes of a file, and its length.
fn head(path: &Path) -> Result<Head, ImportError> {
    let io = |e| ImportError::io(path, &e);
    let data = fs::metadata(path).map_err(io)?;
    if data.is_dir() {
        return Err(ImportError::input(path, "this is a folder", format!("name a mesh in it, {}", formats::files())));
    }
    if !data.is_file() {
        return Err(ImportError::input(
            path,
            "this is a device or a pipe",
            "save the mesh as a file, FILE.obj, and name that",
        ));
    }
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(io)?.take(Head::LENGTH).read_to_end(&mut bytes).map_err(io)?;
    Ok(Head { bytes, length: data.len() })
}

/// Names of what lies in a folder, in order; of very many some.
fn files_in(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten().take(10_000);
    let mut names: Vec<String> = all.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}
