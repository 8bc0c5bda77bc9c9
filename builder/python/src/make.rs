//! Images of arrays and of files.

use crate::{BuildError, facts, image::Held, report};
use hardpan_builder::import::{ImportError, ImportErrorKind};
use hardpan_builder::settings::{Applied, MaterialRule, SettingsError, SourceFile};
use hardpan_builder::util::text::{bounded, named};
use hardpan_builder::{
    Built, Code, Finding, Hint, ImageFile, Input, Material, Provenance, Scene, Settings, Severity, Triangle,
    build_recorded, check, import,
};
use numpy::PyReadonlyArray2;
use pyo3::{exceptions::PyOSError, prelude::*, types::PyDict};
use std::{
    fs::File,
    path::{Path, PathBuf},
};

type Made<'py> = (Held, Bound<'py, PyDict>);

/// Why there is no image; the interpreter need not be held for it.
enum Failure {
    Input(String),
    Machine(String),
    File(std::io::Error, PathBuf),
}

impl From<hardpan_builder::BuildError> for Failure {
    fn from(e: hardpan_builder::BuildError) -> Self {
        Failure::Input(e.to_string())
    }
}

impl From<ImportError> for Failure {
    fn from(e: ImportError) -> Self {
        let make = if e.kind == ImportErrorKind::Machine { Failure::Machine } else { Failure::Input };
        make(e.to_string())
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Input(text) => BuildError::new_err(text),
            Failure::Machine(text) => PyOSError::new_err(text),
            Failure::File(e, path) => facts::io(e, &path),
        }
    }
}

/// A built scene, and the report of its making.
struct Done {
    built: Built,
    applied: Applied,
    warnings: Vec<String>,
}

impl Done {
    fn into_python(self, py: Python<'_>) -> PyResult<Made<'_>> {
        let all = report::of(py, &self.built.report)?;
        all.set_item("mu_by_default", self.applied.plain)?;
        all.set_item("idle_settings", self.applied.idle)?;
        all.set_item("warnings", self.warnings)?;
        let image = ImageFile::Read(self.built.image);
        Ok((py.detach(|| Held::new(image, true, || "the image that was built".into()))?, all))
    }
}

/// Works with threads that end with it, so that builds go on in the children of a process that has built.
fn threaded<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().build();
    pool.map_err(|e| Failure::Machine(format!("no threads to build with: {e}")))?.install(work)
}

/// Settings of a file of that name, or else JSON that a mapping became, in which places say nothing.
fn settings(text: &str, file: Option<&Path>) -> Result<Settings, Failure> {
    let settings = match file {
        Some(file) if !file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) => Settings::from_toml(text),
        _ => Settings::from_json(text),
    };
    let settings = settings.map_err(|e| said(e, file))?;
    if settings.raster.is_some() {
        let text = "raster: heights instead of triangles are made by the command: hardpan build --raster METRES";
        return Err(Failure::Input(text.into()));
    }
    Ok(settings)
}

/// An error in settings, and the file that has it.
fn said(e: SettingsError, file: Option<&Path>) -> Failure {
    Failure::Input(match file {
        Some(file) => format!("{}: {e}", named(file)),
        // a mapping has no lines, and breaks no rule of a language
        None => e.text,
    })
}

/// The rules of the materials, each a mapping that became JSON. An error names its place in the list.
fn read_rules(rules: &[String], names: &[String]) -> Result<Vec<MaterialRule>, Failure> {
    let one = |(i, rule): (usize, &String)| {
        let read = Settings::from_json(&format!("{{\"material\": [{rule}]}}"));
        let settings = read.map_err(|e| {
            // alone in its list, it is the first
            let name = format!("({:?}): ", bounded(&names[i]));
            let text = e.text.strip_prefix(&format!("material 1 {name}")).unwrap_or(&e.text);
            Failure::Input(format!("materials[{i}] {name}{text}"))
        });
        Ok(settings?.materials)
    };
    Ok(rules.iter().enumerate().map(one).collect::<Result<Vec<_>, Failure>>()?.into_iter().flatten().collect())
}

/// An image of triangles in memory. All arrays fit each other in shape; names and rules are those of the materials.
#[pyfunction]
pub fn build<'py>(
    py: Python<'py>,
    vertices: PyReadonlyArray2<'py, f64>,
    faces: PyReadonlyArray2<'py, i64>,
    of_face: Option<Vec<i64>>,
    names: Vec<String>,
    rules: Vec<String>,
    text: &str,
) -> PyResult<Made<'py>> {
    let positions: Vec<[f64; 3]> = vertices.as_slice()?.as_chunks().0.to_vec();
    let faces: Vec<[i64; 3]> = faces.as_slice()?.as_chunks().0.to_vec();
    let work = || {
        let mut triangles = Vec::with_capacity(faces.len());
        for (i, corners) in faces.iter().enumerate() {
            let mut v = [0; 3];
            for (to, &corner) in v.iter_mut().zip(corners) {
                *to = index(corner, positions.len(), || format!("faces: face {i} names vertex"))? as u32;
            }
            let material = of_face.as_ref().map_or(0, |of_face| of_face[i]);
            let material = index(material, names.len(), || format!("face_materials: face {i} has material"))? as u16;
            triangles.push(Triangle { v, material, source: 0 });
        }
        let materials = names.iter().map(|name| Material { name: name.clone(), ..Material::default() }).collect();
        let mut scene = Scene { positions, triangles, materials, sources: vec!["arrays".into()], ..Scene::default() };
        let mut settings = settings(text, None)?;
        settings.materials = read_rules(&rules, &names)?;
        let applied = settings.apply(&mut scene).map_err(|e| said(e, None))?;
        let mut done = made(&scene, settings, applied, vec![], vec![])?;
        done.warnings.extend(done.built.report.precision.as_ref().and_then(warning));
        Ok(done)
    };
    py.detach(|| threaded(work))?.into_python(py)
}

/// A finding in words, if it is one that a user must know.
fn warning(f: &Finding) -> Option<String> {
    let hint = match &f.hint {
        Hint::Mend(text) => text.clone(),
        Hint::Set { key, value } => format!("it may need {key}={value:?}"),
    };
    (f.severity >= Severity::Warning).then(|| format!("{}: {}; {hint} [{}]", f.subject, f.text, f.code))
}

/// A number that names one of `count` things.
fn index(number: i64, count: usize, what: impl FnOnce() -> String) -> Result<usize, Failure> {
    let index = usize::try_from(number).ok().filter(|i| *i < count);
    index.ok_or_else(|| match count {
        0 => Failure::Input(format!("{} {number}, but there is none", what())),
        _ => Failure::Input(format!("{} {number}; numbers go from 0 to {}", what(), count - 1)),
    })
}

/// An image of files: of those given, all in the frame of `frame`, or of those that the settings name, from their
/// folder on.
#[pyfunction]
pub fn build_files<'py>(
    py: Python<'py>,
    files: Vec<PathBuf>,
    frame: &str,
    text: &str,
    file: Option<PathBuf>,
) -> PyResult<Made<'py>> {
    let work = || {
        let file = file.as_deref();
        let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut settings = settings(text, file)?;
        let frames = Settings::from_json(frame).map_err(|e| said(e, None))?.sources;
        let frame = frames.first().cloned().unwrap_or_default();
        let sources: Vec<(PathBuf, SourceFile)> = match &files[..] {
            [] => settings.sources.iter().map(|s| (folder.join(&s.file), s.clone())).collect(),
            files => files.iter().map(|file| (file.clone(), frame.clone())).collect(),
        };
        if sources.is_empty() {
            return Err(Failure::Input("no files: give some, or name them under [[source]] in the settings".into()));
        }
        let digest = |path: &Path| File::open(path).and_then(|file| Input::digest(import::file_name(path), file));
        let named = |(path, _): &(PathBuf, _)| digest(path).map_err(|e| Failure::File(e, path.clone()));
        let inputs = sources.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        let files: Vec<(&Path, &SourceFile)> = sources.iter().map(|(path, s)| (path.as_path(), s)).collect();
        let (mut import, _) = import::read_sources(&files, &settings, &import::place::Budget::default())?;
        let applied = import.apply(&settings, sources.iter().map(|(_, source)| source));
        let applied = applied.map_err(|e| said(e, file))?; // says what is ground
        import.settle_fields(&mut settings);
        if let Some(e) = import::degenerate(&import, &settings.build, files.iter().map(|(path, _)| *path)) {
            return Err(e.into());
        }
        let mut warnings = import.report.warnings();
        let paths: Vec<&Path> = files.iter().map(|(path, _)| *path).collect();
        let mut found = check::source(&import.scene, &import.frames, &import.triangles, &paths);
        found.retain(|f| f.code == Code::Precision && !settings.allow.contains(&f.code));
        found.retain(|f| {
            !sources.iter().any(|(path, s)| path.to_string_lossy() == f.subject && s.allow.contains(&f.code))
        });
        warnings.extend(found.iter().filter_map(warning));
        made(&import.scene, settings, applied, inputs, warnings)
    };
    py.detach(|| threaded(work))?.into_python(py)
}

/// The image of a scene to which the settings were applied.
fn made(
    scene: &Scene,
    settings: Settings,
    applied: Applied,
    inputs: Vec<Input>,
    warnings: Vec<String>,
) -> Result<Done, Failure> {
    let options = settings.build.clone();
    let provenance = Provenance { inputs, mu_by_default: applied.plain.clone(), settings, ..Provenance::default() };
    let built = build_recorded(scene, &options, Some(&provenance))?;
    Ok(Done { built, applied, warnings })
}
