//! `hardpan build`: a mesh file in, a verified image out.

pub mod make;
pub mod raster;

use std::{
    ffi::OsStr,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::{
    Code, Input, MaxCost, Options, Outliers, Provenance, Scene, Settings, Split, Undersides, check,
    check::source_part::{ground, parts},
    import::{self, Frame, Import, file_name, utf8},
    settings::{Applied, MaterialRule, Raster, SourceFile},
};

use super::{
    Done, Failure, Form, Kind, NewFile, Replace, Threads, again, backend, bounded, decimal, factors, few, findings,
    friction::typed_files,
    has_bytes, has_extension, help, is_nowhere,
    length::{Side, Threshold},
    materials::is_image,
    named, notes,
    progress::stage,
    quoted,
    report::{self, Report},
    same, shown, tell,
    transform::{Transform, way},
};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub from: Sources,
    /// Where the image goes [default: FILE.hpan beside FILE; without FILE the name of the settings]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    transform: Transform,
    /// Side of a tile, a power of two metres, as in 256m; N for 2^N lattice steps [default: chosen from the density]
    #[arg(long, value_name = "SIDE", allow_hyphen_values = true, value_parser = tile)]
    tile: Option<Side>,
    #[command(flatten)]
    repairs: Repairs,
    #[command(flatten)]
    factors: factors::Friction,
    /// Divide the ground as VS Terrain does; list prints the parameters, others: [build.split] in the settings
    #[arg(long, value_parser = Presets)]
    preset: Option<Split>,
    /// Divide the ground until no query takes more triangle tests, and lines of 64 bytes
    #[arg(long, value_name = "TESTS[,LINES]")]
    max_cost: Option<MaxCost>,
    /// Heights instead of triangles: of the highest ground, at posts so many metres apart
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = pitch)]
    raster: Option<f64>,
    /// The one material of those heights [default: that of all faces]
    #[arg(long, value_name = "NAME")]
    raster_material: Option<String>,
    #[command(flatten)]
    progress: tell::Form,
    #[command(flatten)]
    backend: backend::Args,
    #[command(flatten)]
    pub threads: Threads,
    /// Draw the image into an OBJ to look at, and an MTL beside it
    #[arg(long, value_name = "FILE.obj")]
    debug: Option<PathBuf>,
    /// Write counts, findings, bounds and times as JSON, also when the build fails
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Print that report instead of text
    #[arg(long)]
    json: bool,
    /// Take warnings for errors: exit 1, and no image is written
    #[arg(long)]
    strict: bool,
    /// Replace a file that is no terrain image or report, or take the name of another kind of file
    #[arg(long)]
    force: bool,
}

/// What is read.
#[derive(clap::Args)]
pub struct Sources {
    /// Wavefront OBJ or FBX files; several become one terrain. Or one file FILE.par whose line VS_TERRAIN_FILE names a mesh or an image [default: the sources of the settings]
    #[arg(required_unless_present = "settings", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Materials, sources and build options (TOML, JSON, or .vstu of VS Terrain); what is typed goes before them
    #[arg(long, value_name = "FILE.toml")]
    pub settings: Option<PathBuf>,
    /// Say nothing of these kinds of findings, and do not stop at them; a warning ends with its kind, as [orientation]
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub allow: Vec<Code>,
}

/// What becomes of the ground before it is used.
#[derive(clap::Args)]
pub struct Repairs {
    /// Where the lattice has its zero: multiples of 4096 m [default: near the median of the ground]
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, value_parser = origin)]
    origin: Option<[f64; 3]>,
    /// Make vertices within this one, in plan and in height: 1mm, or 1mm,2mm; without units lattice steps [default: 0,0]
    #[arg(long, value_name = "PLAN,HEIGHT", allow_hyphen_values = true, value_parser = weld)]
    weld: Option<Threshold>,
    /// Close gaps of up to this between open edges, in plan and in height, as for --weld; false for none [default: 4,64]
    #[arg(long, value_name = "PLAN,HEIGHT|false", allow_hyphen_values = true, value_parser = stitch)]
    stitch: Option<Stitch>,
    /// Leave out triangles steeper than so many degrees: above 0, below 90 [default: none are]
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = max_slope)]
    max_slope: Option<f64>,
    /// Faces that are left out: auto (undersides of closed objects), ground (none), ceiling (all that face down)
    #[arg(long, value_name = "WHICH", value_parser = undersides)]
    undersides: Option<Undersides>,
    /// Leave out what lies outside the domain, even if it is most of a source
    #[arg(long)]
    drop_outliers: bool,
}

/// A threshold, or none.
#[derive(Clone, Copy)]
struct Stitch(Option<Threshold>);

fn origin(text: &str) -> Result<[f64; 3], String> {
    let origin = way(text)?;
    in_range(Options { origin: Some(origin), ..Options::default() }).map(|_| origin)
}

fn weld(text: &str) -> Result<Threshold, String> {
    let weld = Threshold::parse(text)?;
    let options = Options::default();
    in_range(Options { weld: weld.near(&options), ..options }).map(|_| weld)
}

fn stitch(text: &str) -> Result<Stitch, String> {
    if text == "false" {
        return Ok(Stitch(None));
    }
    let stitch = Threshold::parse(text).map_err(|e| format!("{e}, or false for none"))?;
    let options = Options::default();
    in_range(Options { stitch: Some(stitch.near(&options)), ..options }).map(|_| Stitch(Some(stitch)))
}

fn tile(text: &str) -> Result<Side, String> {
    let side = Side::parse(text)?;
    let options = Options::default();
    in_range(Options { tile_log2: Some(side.log2(&options)), ..options }).map(|_| side)
}

fn max_slope(text: &str) -> Result<f64, String> {
    let degrees = text.parse().map_err(|_| "not a number of degrees")?;
    in_range(Options { max_slope: Some(degrees), ..Options::default() }).map(|_| degrees)
}

fn pitch(text: &str) -> Result<f64, String> {
    let metres = text.parse().ok().filter(|v| Raster::is_cell(*v));
    metres.ok_or_else(|| "the distance of posts in metres, above 0, as in --raster 0.5".into())
}

/// `--preset`. What asks for the list is answered as what asks for help is: no file is needed.
#[derive(Clone)]
pub struct Presets;

impl TypedValueParser for Presets {
    type Value = Split;

    fn parse_ref(&self, cli: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Split, clap::Error> {
        match PossibleValuesParser::new(PRESETS).parse_ref(cli, arg, value)?.as_str() {
            "default" => Ok(Split::DEFAULT),
            "dense" => Ok(Split::DENSE),
            _ => Err(help::answer(presets())),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(PRESETS.into_iter().map(PossibleValue::new)))
    }
}

const PRESETS: [&str; 3] = ["default", "dense", "list"];

/// A table of the presets.
fn presets() -> String {
    let mut text = format!("{:<16} {:>9} {:>9}\n", "[build.split]", PRESETS[0], PRESETS[1]);
    let [a, b] = [Split::DEFAULT, Split::DENSE];
    for (key, values) in [
        ("depth_tolerance", [a.depth_tolerance.into(), b.depth_tolerance.into()]),
        ("bundle_size", [a.bundle_size.into(), b.bundle_size.into()]),
        ("bundle_increase", [a.bundle_increase, b.bundle_increase]),
        ("min_volume", [a.min_volume, b.min_volume]),
        ("volume_increase", [a.volume_increase, b.volume_increase]),
    ] {
        let [default, dense] = values.map(decimal);
        text += &format!("{key:<16} {default:>9} {dense:>9}\n");
    }
    text
}

fn undersides(text: &str) -> Result<Undersides, String> {
    match text {
        "auto" => Ok(Undersides::Auto),
        "ground" => Ok(Undersides::Ground),
        "ceiling" => Ok(Undersides::Ceiling),
        _ => Err("auto, ground or ceiling".into()),
    }
}

/// Options, if a settings file might say the same.
fn in_range(options: Options) -> Result<Options, String> {
    options.check().map(|()| options).map_err(|e| e.to_string())
}

impl Repairs {
    /// Whether something is typed.
    pub fn is_typed(&self) -> bool {
        let Repairs { origin, weld, stitch, max_slope, undersides, drop_outliers } = self;
        let typed = [origin.is_some(), weld.is_some(), stitch.is_some(), max_slope.is_some(), undersides.is_some()];
        typed.contains(&true) || *drop_outliers
    }

    /// What is typed goes before what the settings say.
    pub fn over(&self, build: &mut Options) {
        build.origin = self.origin.or(build.origin);
        build.weld = self.weld.map_or(build.weld, |t| t.near(build));
        build.stitch = self.stitch.map_or(build.stitch, |s| s.0.map(|t| t.near(build)));
        build.max_slope = self.max_slope.or(build.max_slope);
        build.undersides = self.undersides.unwrap_or(build.undersides);
        if self.drop_outliers {
            build.outliers = Outliers::Drop;
        }
    }
}

impl Args {
    /// The same for an image that `par` names.
    ///
    /// # Errors
    ///
    /// If something is typed that is of meshes.
    pub fn of_image(self, par: &Path, output: PathBuf) -> Done<again::Common> {
        let of_meshes = [
            ("--up, --unit, --scale, --rotate, --translate", !self.transform.typed().is_empty()),
            ("--allow", !self.from.allow.is_empty()),
            ("--tile", self.tile.is_some()),
            ("--max-cost", self.max_cost.is_some()),
            ("--raster", self.raster.is_some() || self.raster_material.is_some()),
            ("--report", self.report.is_some()),
            ("--strict", self.strict),
            ("--debug, which is of its own: hardpan export obj IMAGE --cells --pins 10", self.debug.is_some()),
            ("--progress", self.progress.is_typed()),
        ];
        if let Some((option, _)) = of_meshes.iter().find(|(_, typed)| *typed) {
            let text = format!(
                "it names a terrain image, which knows nothing of {option}; leave that out, or build from the mesh"
            );
            return Err(Failure::input(par, text));
        }
        let Args { from, preset, factors, repairs, threads, json, force, .. } = self;
        Ok(again::Common { output, settings: from.settings, preset, factors, repairs, threads, json, force })
    }

    /// The same of all that is typed.
    fn over(&self, settings: &mut Settings) {
        let Settings { build, raster, .. } = settings;
        self.repairs.over(build);
        build.tile_log2 = self.tile.map(|side| side.log2(build)).or(build.tile_log2);
        build.max_cost = self.max_cost.or(build.max_cost);
        build.split = self.preset.or(build.split);
        if let Some(cell) = self.raster {
            let (material, at) = raster.take().map_or_else(Default::default, |r| (r.material, r.at));
            *raster = Some(Raster { cell, material, at });
        }
        if let Some(raster) = raster {
            raster.material = self.raster_material.clone().or(raster.material.take());
        }
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    report::reported(args.json, "--report FILE.json", out, |out, report| written(args, out, report))
}

/// Makes the image, and the file with the report if there is to be one.
fn written(args: &Args, out: &mut dyn Write, report: &mut Report) -> Done {
    let Some(place) = &args.report else { return make::make(args, out, report) };
    let kept = [&args.from.settings, &args.output].into_iter().flatten().chain(&args.from.files);
    if !is_nowhere(place) && kept.into_iter().any(|file| file == place || same(file, place)) {
        return Err(Failure::input(place, "the report would replace another file of this build; name another one"));
    }
    Replace::Only(0, report::START, "a report of a build").or_any(args.force).check_made(place, Kind::REPORT, None)?;
    // with --force it may be a library of the sources, which is known when they are read
    let is_one = has_bytes(place, 0, report::START).unwrap_or(false);
    report.withheld = !is_one && place.exists() && !is_nowhere(place);
    let end = make::make(args, out, report);
    if report.withheld {
        return end;
    }
    let text = report.text(end.as_ref().map(drop));
    let written = NewFile::write(place, text.as_bytes()).and_then(NewFile::keep);
    match (end, written) {
        (Ok(()), Err(Failure::Machine(text))) => {
            Err(Failure::Machine(format!("{text}; only the report is missing, the image is in its place")))
        }
        (end, written) => end.and(written),
    }
}

/// What is to be read: its files as they were named, and what is said of each.
pub struct Asked<'a> {
    from: &'a Sources,
    pub settings: Settings,
    /// What is wrong with them, though they are read.
    remarks: Vec<String>,
    /// The files, and how they lie.
    pub sources: Vec<Placed>,
    /// Whether an error among the findings stops the reading.
    pub stops: bool,
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
}

/// How files lie in a scene: how the numbers of each became metres, and how many triangles it has.
pub struct Lain {
    frames: Vec<import::Transform>,
    triangles: Vec<usize>,
}

impl<'a> Asked<'a> {
    /// Finds the files that are typed, or that the settings name.
    pub fn new(from: &'a Sources, transform: &Transform) -> Done<Self> {
        let (settings, remarks) = from.settings.as_deref().map(settings_of).transpose()?.unwrap_or_default();
        let own = sources(from, transform, &settings)?;
        let sources: Vec<Placed> = own.into_iter().map(|(path, s)| (path, transform.over(&s))).collect();
        if let Some((path, _)) = sources.iter().find(|(path, _)| has_extension(path, "hpan") && !path.exists()) {
            let text = format!("there is no such file; where the image goes is said by -o {}", quoted(path));
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
        Ok(Asked { from, settings, remarks, sources, stops: true })
    }

    /// Reads them. `over` puts what is typed before the settings; `kept` hears of their material libraries, and stops what
    /// would replace one.
    pub fn read(
        self,
        over: impl FnOnce(&mut Settings),
        kept: impl FnOnce(&[&PathBuf], &mut Report) -> Done,
        report: &mut Report,
    ) -> Done<Ready> {
        let Asked { from, settings, remarks, sources, stops } = self;
        if let Some(file) = &from.settings {
            remarks.iter().for_each(|text| report.warn(format!("{}: {}", named(file), shown(text))));
        }
        let first = &sources[0].0;
        let (read, time) = stage("reading", || read(&sources));
        let (inputs, mut import) = read?;
        report.seconds.read = time.as_secs_f64();
        kept(&import.report.libraries().collect::<Vec<_>>(), report)?;
        notes(&import.report).into_iter().for_each(|text| report.note(text));
        import.report.warnings().iter().for_each(|text| report.warn(shown(text)));
        (report.inputs, report.import) = (inputs.clone(), import.report.clone());
        let applied = settings.apply_files(&mut import, sources.iter().map(|(_, source)| source));
        let applied = applied.map_err(|e| in_settings(from, &sources, e))?;
        let mut settings = settings;
        over(&mut settings);
        settings.allow.extend(&from.allow);
        let crowded = import::degenerate(&import, &settings.build, sources.iter().map(|(path, _)| path.as_path()));
        let Import { scene, frames, triangles, .. } = import;
        report.settle(&applied);
        remark(&settings, &sources, &applied, report);
        if ground(&scene, &scene.triangles).next().is_none() && scene.fields.is_empty() {
            return Err(Failure::input(first, "the settings leave out every face; set include = true for the ground"));
        }
        let lain = Lain { frames, triangles };
        let files: Vec<&Path> = sources.iter().map(|(file, _)| file.as_path()).collect();
        let found = check::source(&scene, &lain.frames, &lain.triangles, &files);
        let told = findings::tell(findings::beyond(found, &settings.allow, &sources), sources.len(), report);
        told.or_else(|e| if stops { Err(e) } else { Ok(()) })?;
        if let Some(error) = crowded {
            return Err(error.into());
        }

        settings.sources = sources.iter().map(|(path, s)| SourceFile { file: file_name(path), ..s.clone() }).collect();
        let unfit = applied.unlisted.iter().filter(|_| settings.rest().is_none());
        let mut mu_by_default: Vec<String> = applied.plain.iter().chain(unfit).cloned().collect();
        mu_by_default.sort_unstable();
        let provenance = Provenance { inputs, settings, mu_by_default, ..Provenance::default() };
        Ok(Ready { provenance, scene, applied, sources, lain })
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
const MOST_SETTINGS: u64 = 64 << 20;

/// TOML, or JSON if the name or the text says so; from a pipe too, all that it gives. With what is said of them.
pub fn settings_of(path: &Path) -> Done<(Settings, Vec<String>)> {
    if is_image(path)? {
        let hint = format!("for settings to edit: hardpan materials {} -o FILE.toml", quoted(path));
        return Err(Failure::input(path, format!("this is a terrain image, and no settings; {hint}")));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(path)
        .and_then(|file| utf8(file.take(MOST_SETTINGS + 1)))
        .and_then(|mut text| text.read_to_end(&mut bytes));
    read.map_err(|e| Failure::io(path, e))?;
    if bytes.len() as u64 > MOST_SETTINGS {
        let most = MOST_SETTINGS >> 20;
        return Err(Failure::input(path, format!("longer than {most} MiB, as no settings are; name a settings file")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::input(path, "this is not UTF-8 text, nor UTF-16; save it as UTF-8"))?;
    let settings = match Form::of(path) {
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

/// The files to read, and what settings say of each. Those typed are read instead of those of the settings: each takes the entry of its
/// file name, or where several have one, that of the very file.
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

/// Digests and scene of all files.
fn read(sources: &[(PathBuf, SourceFile)]) -> Done<(Vec<Input>, Import)> {
    let digest = |(path, _): &(PathBuf, SourceFile)| {
        let digest = fs::File::open(path).and_then(|file| Input::digest(file_name(path), file));
        digest.map_err(|e| Failure::io(path, e))
    };
    let stamp = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).map_err(|e| Failure::io(path, e));
    let stamps: Vec<_> = sources.iter().map(|(path, _)| stamp(path)).collect::<Done<_>>()?;
    let mut inputs: Vec<Input> = sources.iter().map(digest).collect::<Done<_>>()?;
    let files: Vec<(&Path, Frame)> = sources.iter().map(|(path, s)| (path.as_path(), s.frame())).collect();
    let called: Vec<&str> = sources.iter().map(|(_, s)| s.name.as_deref().unwrap_or_default()).collect();
    let import = import::read_called(&files, &called)?;
    // what was digested is what was read
    let read = inputs.iter_mut().zip(&import.report.files);
    for (((path, _), before), (input, file)) in sources.iter().zip(stamps).zip(read) {
        if input.bytes != file.bytes || stamp(path)? != before {
            return Err(Failure::input(path, "the file changed while it was read; build again when it is complete"));
        }
        input.frame.clone_from(&file.frame);
    }
    Ok((inputs, import))
}

/// What the settings say for nothing, and what they hardly mean.
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
            MaterialRule::MOST_MU
        ));
    }
}
