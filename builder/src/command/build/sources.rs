//! Sources of a build: settings, files, and their frames.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use crate::build::source::{ground, parts};
use crate::image::provenance::{Input, Provenance};
use crate::import::place::{Budget, is_placed};
use crate::import::{Frame, Import, file_name, utf8};
use crate::options::Options;
use crate::report::Finding;
use crate::scene::Scene;
use crate::settings::{Applied, MaterialRule, Settings, SourceFile, mavs};
use crate::{check, import};

use super::{
    super::{
        Form, bounded, counted, decimal, few, findings, friction::typed_files, materials::is_image, note, notes,
        progress::stage, shown,
    },
    Done, Failure, Report, Sources, Transform, has_extension, named, quoted, same,
};

/// Files to read, by their names, with the options of each.
pub struct Asked<'a> {
    from: &'a Sources,
    pub settings: Settings,
    /// Findings about files that are read nevertheless.
    remarks: Vec<String>,
    /// The files, and how they lie.
    pub sources: Vec<Placed>,
    /// Whether an error among the findings stops the reading.
    pub stops: bool,
    /// A scene that settings read.
    scene: Option<mavs::Read>,
}

/// A scene as it was read, with the settings given to it.
pub struct Ready {
    /// Files and settings, as an image records them.
    pub provenance: Provenance,
    pub scene: Scene,
    pub applied: Applied,
    /// The files, and how they lie.
    pub sources: Vec<Placed>,
    pub lain: Lain,
    /// The most that laying heights on squares changed one at a post of a file, metres.
    pub height_error: f64,
    /// The scene that names them.
    pub scene_file: Option<PathBuf>,
}

/// How files lie in a scene: how the numbers of each became metres, and how many triangles it has.
pub struct Lain {
    frames: Vec<import::Transform>,
    triangles: Vec<usize>,
}

impl<'a> Asked<'a> {
    /// Finds the files that are typed, or that the settings name.
    pub fn new(from: &'a Sources, transform: &Transform) -> Done<Self> {
        let (mut settings, remarks) = from.settings.as_deref().map(settings_of).transpose()?.unwrap_or_default();
        if let Some(crs) = transform.crs() {
            settings.crs.clone_from(crs);
        }
        if let [only] = &from.files[..]
            && let Some(scene) = from.scene.read(only)?
        {
            return Asked::of_scene(from, transform, settings, remarks, scene);
        }
        let own = sources(from, transform, &settings)?;
        let sources: Vec<Placed> = own.into_iter().map(|(path, s)| (path, transform.over(&s))).collect();
        if let Some((path, _)) = sources.iter().find(|(path, _)| has_extension(path, "hpan") && !path.exists()) {
            let text = format!("there is no such file; to write the image there, type -o {}", quoted(path));
            return Err(Failure::input(path, text));
        }
        for (path, source) in &sources {
            import::check(path).map_err(|e| match (&from.settings, source.line) {
                (Some(settings), Some(line)) if from.files.is_empty() && !path.exists() => {
                    Failure::input(settings, format!("line {line}: {e}"))
                }
                _ => e.into(),
            })?;
        }
        Ok(Asked { from, settings, remarks, sources, stops: true, scene: None })
    }

    /// The files of a scene. Settings beside it say what materials are, and how the image is built.
    fn of_scene(
        from: &'a Sources,
        transform: &Transform,
        mut settings: Settings,
        remarks: Vec<String>,
        mut scene: mavs::Read,
    ) -> Done<Self> {
        let file = &from.files[0];
        if !transform.typed().is_empty() {
            let text = "the scene says how its files lie; leave out --up, --unit, --scale, --rotate, --translate and options of heights";
            return Err(Failure::input(file, text));
        }
        if let Some(place) = from.settings.as_ref().filter(|_| !settings.sources.is_empty()) {
            let text = format!("there is a [[source]], and the files are those of {}; leave it out", named(file));
            return Err(Failure::input(place, text));
        }
        settings.rules.append(&mut scene.settings.rules);
        settings.trails.append(&mut scene.settings.trails);
        settings.potholes.append(&mut scene.settings.potholes);
        let own = std::mem::take(&mut scene.settings.sources);
        let sources: Vec<Placed> = scene.files.iter().cloned().zip(own).collect();
        for (path, _) in &sources {
            import::check(path)?;
        }
        Ok(Asked { from, settings, remarks, sources, stops: true, scene: Some(scene) })
    }

    /// Reads them. `over` puts what is typed before the settings; `kept` hears of their material libraries, and stops
    /// what would replace one.
    pub fn read(
        self,
        over: impl FnOnce(&mut Settings),
        kept: impl FnOnce(&[&PathBuf], &mut Report) -> Done,
        report: &mut Report,
    ) -> Done<Ready> {
        let Asked { from, settings, remarks, sources, stops, scene } = self;
        if let Some(file) = &from.settings {
            remarks.iter().for_each(|text| report.warn(format!("{}: {}", named(file), shown(text))));
        }
        let scene_file = scene.as_ref().map(|_| from.files[0].clone());
        if let Some(scene) = &scene {
            report.scene(&from.files[0], scene);
        }
        let first = &sources[0].0;
        let (read, time) = stage("reading", || read(&sources, &settings, &from.scene.budget()));
        let (inputs, mut import, placed) = read?;
        if placed.places > 0 {
            // at once: building may take long
            note(format!("{} come to {placed}", counted(placed.places, "place")));
        }
        report.seconds.read = time.as_secs_f64();
        kept(&import.report.libraries().collect::<Vec<_>>(), report)?;
        from.scene.keep(&import.scene, &sources.iter().map(|(path, _)| path).chain(&from.files).collect::<Vec<_>>())?;
        notes(&import.report).into_iter().for_each(|text| report.note(text));
        import.report.warnings().iter().for_each(|text| report.warn(shown(text)));
        (report.inputs, report.import) = (inputs.clone(), import.report.clone());
        let applied = import.apply(&settings, sources.iter().map(|(_, source)| source));
        let applied = applied.map_err(|e| in_settings(from, &sources, e))?;
        let mut settings = settings;
        over(&mut settings);
        import.settle_fields(&mut settings);
        settings.allow.extend(&from.allow);
        let crowded = import::degenerate(&import, &settings.build, sources.iter().map(|(path, _)| path.as_path()));
        let Import { scene, frames, triangles, height_error, .. } = import;
        report.settle(&applied);
        remark(&settings, &sources, &applied, report);
        if ground(&scene, &scene.triangles).next().is_none() && scene.fields.is_empty() {
            return Err(Failure::input(first, "the settings leave out every face; set include = true for the ground"));
        }
        let lain = Lain { frames, triangles };
        let files: Vec<&Path> = sources.iter().map(|(file, _)| file.as_path()).collect();
        let mut found = check::source(&scene, &lain.frames, &lain.triangles, &files);
        // who places a file knows how it lies
        let placed = |f: &Finding| sources.iter().any(|(file, s)| is_placed(s) && file.to_string_lossy() == f.subject);
        found.retain(|f| !placed(f));
        let told = findings::tell(findings::beyond(found, &settings.allow, &sources), sources.len(), report);
        told.or_else(|e| if stops { Err(e) } else { Ok(()) })?;
        if let Some(error) = crowded {
            return Err(error.into());
        }

        settings.sources = sources.iter().map(|(path, s)| without_folders(path, s)).collect();
        let unfit = applied.unlisted.iter().filter(|_| settings.rest().is_none());
        let mut mu_by_default: Vec<String> = applied.plain.iter().chain(unfit).cloned().collect();
        mu_by_default.sort_unstable();
        let provenance = Provenance { inputs, settings, mu_by_default, ..Provenance::default() };
        Ok(Ready { provenance, scene, applied, sources, lain, height_error, scene_file })
    }
}

impl Lain {
    /// Why such a scene has no ground.
    pub fn empty(&self, scene: &Scene, sources: &[Placed], options: &Options) -> Failure {
        let files: Vec<&Path> = sources.iter().map(|(file, _)| file.as_path()).collect();
        let parts = parts(scene, &files, &self.frames, &self.triangles);
        Failure::input(files[0], findings::why_empty(scene, &parts, options))
    }
}

/// Bytes of a settings file at most.
const MAX_SETTINGS: u64 = 64 << 20;

/// TOML, or JSON if the name or the text says so; from a pipe too, all that it gives. With what is said of them.
pub fn settings_of(path: &Path) -> Done<(Settings, Vec<String>)> {
    if is_image(path)? {
        let hint = format!("for settings to edit: hardpan materials {} -o FILE.toml", quoted(path));
        return Err(Failure::input(path, format!("this is a terrain image, and no settings; {hint}")));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| utf8(file.take(MAX_SETTINGS + 1)))
        .and_then(|mut text| text.read_to_end(&mut bytes));
    read.map_err(|e| Failure::io(path, e))?;
    if bytes.len() as u64 > MAX_SETTINGS {
        let most = MAX_SETTINGS >> 20;
        return Err(Failure::input(path, format!("longer than {most} MiB, as no settings are; name a settings file")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::input(path, "this is not UTF-8 text, nor UTF-16; save it as UTF-8"))?;
    let settings = match Form::of(path) {
        _ if has_extension(path, "tdf") => Settings::from_tdf(&text),
        _ if has_extension(path, "vstu") || Settings::is_vstu(&text) => Settings::from_vstu(&text),
        Some(Form::Json) => Settings::from_json(&text).map(|s| (s, Vec::new())),
        // as no TOML begins
        _ if text.trim_start().starts_with('{') => Settings::from_json(&text).map(|s| (s, Vec::new())),
        _ => Settings::from_toml(&text).map(|s| (s, Vec::new())),
    };
    settings.map_err(|e| Failure::input(path, e))
}

/// Names of materials that settings and scene do not agree about.
fn in_settings(from: &Sources, sources: &[Placed], e: crate::settings::SettingsError) -> Failure {
    let place = from.settings.as_deref().unwrap_or(&sources[0].0);
    match e.of_materials {
        true => Failure::input(place, format!("{e}; names: hardpan materials{}", typed_files(sources))),
        false => Failure::input(place, e),
    }
}

/// A file, and how it lies.
pub type Placed = (PathBuf, SourceFile);

/// The files to read, and what settings say of each. Those typed are read instead of those of the settings: each takes
/// the entry of its file name, or where several have one, that of the very file.
fn sources(from: &Sources, transform: &Transform, settings: &Settings) -> Done<Vec<Placed>> {
    let place = from.settings.as_deref().unwrap_or(Path::new(""));
    let folder = place.parent().unwrap_or(Path::new(""));
    let said = |path: &PathBuf| {
        let named = |s: &&SourceFile| file_name(Path::new(&s.file)) == file_name(path);
        let mut alike = settings.sources.iter().filter(named);
        let alone = from.files.iter().filter(|f| file_name(f) == file_name(path)).count() == 1;
        match (alike.next(), alike.next()) {
            (only @ Some(_), None) if alone => only,
            _ => settings.sources.iter().find(|s| same(&folder.join(&s.file), path)),
        }
    };
    let nothing = SourceFile::default();
    // nothing is known of how a file lies that settings do not name, when they say how theirs do
    let placed = settings.sources.iter().any(|s| s.frame() != Frame::default());
    let silent = transform.over(&nothing) == nothing;
    let typed = |path: &PathBuf| match said(path) {
        None if placed && silent => {
            let hint = "which say how their sources lie; name it there, or type --up and --unit";
            Err(Failure::input(path, format!("this file is no [[source]] of {}, {hint}", named(place))))
        }
        source => Ok((path.clone(), source.unwrap_or(&nothing).clone())),
    };
    if !from.files.is_empty() {
        return from.files.iter().map(typed).collect();
    }
    if settings.sources.is_empty() {
        return Err(Failure::input(place, "there is no [[source]] in these settings; add one, or name a FILE"));
    }
    let each = settings.sources.iter().map(|s| {
        let path = folder.join(&s.file);
        if s.file.contains(char::is_control) && !path.exists() {
            let cause = "there is no such file, and its name has a control character";
            let hint = "in \"...\" a backslash begins an escape; write / instead, or '...'";
            return Err(Failure::input(place, format!("source {:?}: {cause}: {hint}", s.file)));
        }
        Ok((path, s.clone()))
    });
    each.collect()
}

/// Options of a file, by its name.
fn without_folders(path: &Path, source: &SourceFile) -> SourceFile {
    let mut source = SourceFile { file: file_name(path), ..source.clone() };
    let on = source.scatter.iter_mut().flat_map(|s| &mut s.on);
    on.for_each(|name| *name = file_name(Path::new(name)));
    source
}

/// Digests and scene of all files, and what those come to that are placed.
fn read(
    sources: &[(PathBuf, SourceFile)],
    settings: &Settings,
    budget: &Budget,
) -> Done<(Vec<Input>, Import, import::place::Placed)> {
    let digest = |(path, _): &(PathBuf, SourceFile)| {
        let digest = fs::File::open(path).and_then(|file| Input::digest(file_name(path), file));
        digest.map_err(|e| Failure::io(path, e))
    };
    let stamp = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).map_err(|e| Failure::io(path, e));
    let stamps: Vec<_> = sources.iter().map(|(path, _)| stamp(path)).collect::<Done<_>>()?;
    let mut inputs: Vec<Input> = sources.iter().map(digest).collect::<Done<_>>()?;
    let each: Vec<(&Path, &SourceFile)> = sources.iter().map(|(path, s)| (path.as_path(), s)).collect();
    let (import, placed) = import::read_sources(&each, settings, budget)?;
    // what was digested is what was read
    let read = inputs.iter_mut().zip(&import.report.files);
    for (((path, _), before), (input, file)) in sources.iter().zip(stamps).zip(read) {
        if input.bytes != file.bytes || stamp(path)? != before {
            return Err(Failure::input(path, "the file changed while it was read; build again when it is complete"));
        }
        input.frame.clone_from(&file.frame);
    }
    Ok((inputs, import, placed))
}

/// Warns of settings without effect, and of settings that contradict their names.
pub fn remark(settings: &Settings, sources: &[Placed], applied: &Applied, report: &mut Report) {
    let list = |names: &[String]| few(names.iter().map(|n| shown(n)), names.len() as u64);
    if !applied.idle.is_empty() {
        report.warn(format!("entries of the settings that do nothing: {}", list(&applied.idle)));
    }
    let material =
        |(i, rule): (usize, &MaterialRule)| (format!("material {} ({:?})", i + 1, bounded(rule.title())), rule.clone());
    let source = |(i, (_, s)): (usize, &Placed)| (format!("source {} ({:?})", i + 1, bounded(&s.file)), s.gives());
    let materials = settings.materials.iter().enumerate().map(material);
    let all = materials.chain(sources.iter().enumerate().map(source));
    let all = all.chain(settings.rules.iter().enumerate().map(|(i, rule)| (rule.who(i), rule.gives())));
    let doubtful = |(who, rule): (String, MaterialRule)| {
        rule.doubtful().map(|(key, value)| format!("{who} {key} {}", decimal(value))).collect::<Vec<String>>()
    };
    let doubtful: Vec<String> = all.flat_map(doubtful).collect();
    if !doubtful.is_empty() {
        report.warn(format!(
            "settings that look like percent or a slip of the point: {}; mu is seldom above {}, rr and gain are factors about 1",
            list(&doubtful),
            MaterialRule::MAX_MU
        ));
    }
}
