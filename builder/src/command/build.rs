//! `hardpan build`: a mesh file in, a verified image out.

use std::{
    collections::HashSet,
    ffi::OsStr,
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::{
    BuildError, Built, Code, Contested, Input, MaxCost, Near, Options, Outliers, Provenance, Repair, Scene, Settings,
    Split, Undersides, build_on, check,
    export::debug::Debug,
    import::{self, Frame, Import, file_name, utf8},
    read::{larger_tiles, triangles},
    repair,
    sample::{FieldPosts, Fit, Made, Rule, Sampler},
    settings::{Applied, MaterialRule, PostsAt, Raster, SourceFile},
};
use hardpan::Terrain;
use hardpan_shaders::Stages;
use serde_json::{Value, json};

use super::{
    Done, Failure, Form, Kind, NewFile, Replace, SETTINGS, Threads, advised, again, backend, bounded, counted, debug,
    decimal,
    estimate::{Estimate, Places},
    factors, few, findings,
    friction::{self, Origin, typed_files},
    grouped, has_bytes, has_extension, help, is_nowhere, look, made_of,
    materials::is_image,
    named, note, one_place,
    progress::stage,
    quoted,
    report::{self, Report, Seconds},
    same, shown,
    tell::{self, Tell},
    transform::{Transform, way},
    write_image,
};
use crate::check::walk::ALL;
use crate::check::{
    border::{Border, Edge, Ending},
    double_surface,
    gaps::{self, Gap},
    overlap,
    source_part::{ground, parts},
    steps::{self, Step},
    walk::Walk,
};
use crate::names::metres;

#[derive(clap::Args)]
#[command(after_help = "\
Warnings name files that seem to lie on their side or to have another unit, x and y that look like degrees, numbers in single precision,
and heights that stand for no data (-9999, 32767 and such). Who states --up or --unit is believed; what is right is allowed by --allow KIND.
Beside open edges it looks for gaps of up to 10 cm and for steps of 5 mm to 50 cm, and says how many there are, or what was not looked for,
as gaps that would take more than about a second and the build;
ground that lies over other ground, nearly parallel to it and 5 mm to 10 cm above, it notes with its area, as what was exported twice;
others are looked for by: hardpan verify IMAGE --max-gap METRES --max-step METRES --max-apart METRES")]
pub struct Args {
    #[command(flatten)]
    pub from: Sources,
    /// Where the image goes [default: beside FILE as FILE.hpan; without FILE beside the settings, under their name]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    transform: Transform,
    /// Side of a tile: 2^LOG2 lattice steps of 2^-12 m [default: chosen from the density]
    #[arg(long, value_name = "LOG2", value_parser = clap::value_parser!(u8).range(6..=26))]
    tile: Option<u8>,
    #[command(flatten)]
    repairs: Repairs,
    #[command(flatten)]
    factors: factors::Friction,
    /// Divide the ground by the rules of VS Terrain, with these parameters; others: [build.split] in the settings. More than 256 MiB of
    /// index, or 256 bytes a triangle if that is more, are refused, as steep and stacked triangles may ask for; a note says if they make an image large;
    /// list prints the parameters of both
    #[arg(long, value_parser = Presets)]
    preset: Option<Split>,
    /// Divide the ground until no query costs more: triangle tests and, if given, lines of 64 bytes; or say where it cannot be
    #[arg(long, value_name = "TESTS[,LINES]")]
    max_cost: Option<MaxCost>,
    /// Make an image of heights instead of triangles: of the highest ground, at posts so many metres apart, at multiples of that
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
    /// Draw the image into an OBJ, and an MTL beside it, to look at: what hardpan export obj IMAGE --cells --pins 10 draws
    #[arg(long, value_name = "FILE.obj")]
    debug: Option<PathBuf>,
    /// Write what was used, ignored, repaired and refused, bounds, errors and times as JSON, also when the build fails
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Print that report instead of text
    #[arg(long)]
    json: bool,
    /// Take warnings for errors: exit 1, and no image is written; so it is with ground whose friction nobody stated
    #[arg(long)]
    strict: bool,
    /// Replace an output file that is not a terrain image, or a report that is none; or give an image the name of a picture, a table and such
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
    /// Make vertices within so many lattice steps one, in plan and in height [default: 0,0, those on one lattice point]
    #[arg(long, value_name = "PLAN,HEIGHT", allow_hyphen_values = true, value_parser = weld)]
    weld: Option<Near>,
    /// Close gaps between open edges of at most so many lattice steps, in plan and in height, or false for none: triangles are divided at
    /// vertices beside their sides, and at many of them by points inside, so that none becomes a fan of needles. In plan also
    /// between edges up to half a metre above each other, as at the foot of a kerb [default: 4,64]
    #[arg(long, value_name = "PLAN,HEIGHT|false", allow_hyphen_values = true, value_parser = stitch)]
    stitch: Option<Stitch>,
    /// Leave out triangles steeper than so many degrees: above 0, below 90 [default: none are]
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = max_slope)]
    max_slope: Option<f64>,
    /// Which faces are ceilings, and left out: auto (those of closed objects that face down), ground (none), ceiling (all that face down)
    #[arg(long, value_name = "WHICH", value_parser = undersides)]
    undersides: Option<Undersides>,
    /// Leave out what lies outside the domain, even if it is most of a source
    #[arg(long)]
    drop_outliers: bool,
}

/// A threshold, or none.
#[derive(Clone, Copy)]
struct Stitch(Option<Near>);

fn origin(text: &str) -> Result<[f64; 3], String> {
    let origin = way(text)?;
    in_range(Options { origin: Some(origin), ..Options::default() }).map(|_| origin)
}

fn weld(text: &str) -> Result<Near, String> {
    let weld = text.parse()?;
    in_range(Options { weld, ..Options::default() }).map(|o| o.weld)
}

fn stitch(text: &str) -> Result<Stitch, String> {
    let near = |e| format!("{e}, or false for none");
    let stitch = if text == "false" { None } else { Some(text.parse().map_err(near)?) };
    in_range(Options { stitch, ..Options::default() }).map(|o| Stitch(o.stitch))
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
    /// What is typed goes before what the settings say.
    pub fn over(&self, build: &mut Options) {
        build.origin = self.origin.or(build.origin);
        build.weld = self.weld.unwrap_or(build.weld);
        build.stitch = self.stitch.map_or(build.stitch, |s| s.0);
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
        build.tile_log2 = self.tile.or(build.tile_log2);
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
    let mut report = Report::default();
    if !args.json {
        return reported(args, out, &mut report);
    }
    let end = reported(args, &mut std::io::sink(), &mut report);
    out.write_all(report.text(end.as_ref().map(drop)).as_bytes())?;
    end
}

/// Makes the image, and the file with the report if there is to be one.
fn reported(args: &Args, out: &mut impl Write, report: &mut Report) -> Done {
    let Some(place) = &args.report else { return make(args, out, report) };
    let kept = [&args.from.settings, &args.output].into_iter().flatten().chain(&args.from.files);
    if !is_nowhere(place) && kept.into_iter().any(|file| file == place || same(file, place)) {
        return Err(Failure::input(place, "the report would replace another file of this build; name another one"));
    }
    Replace::Only(0, report::START, "a report of a build").or_any(args.force).check_made(place, Kind::REPORT, None)?;
    // with --force it may be a library of the sources, which is known when they are read
    let is_one = has_bytes(place, 0, report::START).unwrap_or(false);
    report.withheld = !is_one && place.exists() && !is_nowhere(place);
    let end = make(args, out, report);
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

fn make(args: &Args, out: &mut impl Write, report: &mut Report) -> Done {
    let asked = Asked::new(&args.from, &args.transform)?;
    let sources = &asked.sources;
    let first = &sources[0].0;
    let output = match (&args.output, &args.from.settings, &args.from.files[..]) {
        (Some(output), ..) => output.clone(),
        (None, _, [only]) => only.with_extension("hpan"),
        (None, Some(settings), []) if !settings.is_file() => {
            return Err(Failure::input(
                settings,
                "this is no file after which an image could be called; name one with -o FILE.hpan",
            ));
        }
        // not into the folder of the sources, which may be another, nor under their name: of other settings is another image
        (None, Some(settings), _) => settings.with_extension("hpan"),
        _ => return Err(Failure::input(first, "several files make one image; name it with -o FILE.hpan")),
    };
    // what is said of all files is said of the image
    let who = &if sources.len() == 1 { first.clone() } else { output.clone() };
    report.output = file_name(&output);
    // else the report would stand under the image's name
    let under_its_name = args.report.iter().any(|place| one_place(place, &output) && !is_nowhere(place));
    report.withheld |= under_its_name;
    may_replace(&output, args, sources)?;
    let of = || args.from.settings.iter().chain(sources.iter().map(|(file, _)| file));
    let drawing = match &args.debug {
        Some(place) => Some((place, debug::library(place, args.force, of())?)),
        None => None,
    };

    if args.raster.or(asked.settings.raster.as_ref().map(|r| r.cell)).is_none() {
        let of_raster =
            [("--raster-material", args.raster_material.is_some()), ("--progress", args.progress.is_typed())];
        if let Some((option, _)) = of_raster.iter().find(|(_, typed)| *typed) {
            let text = format!("{option} is of an image of heights; add --raster METRES, or leave it out");
            return Err(Failure::Input(text));
        }
    }

    let kept = |libraries: &[&PathBuf], report: &mut Report| {
        if let Some(place) = &args.report {
            made_of(place, libraries.iter().copied()).inspect_err(|_| report.withheld = true)?;
            report.withheld = under_its_name;
        }
        if let Some((place, library)) = &drawing {
            made_of(place, libraries.iter().copied())?;
            made_of(library, libraries.iter().copied())?;
        }
        made_of(&output, libraries.iter().copied())
    };
    let Ready { mut provenance, mut scene, mut applied, sources, lain } =
        asked.read(|settings| args.over(settings), kept, report)?;
    let factors = args.factors.factors();
    if !factors.is_none() {
        factors.apply(&mut scene.materials).map_err(|e| Failure::build(who, e))?;
        (report.factors, provenance.factors) = (Some(factors), Some(factors));
    }
    if factors.states_mu() {
        provenance.mu_by_default.clear();
    }
    if factors.mu_override.is_some() {
        // which says it of all of them
        (applied.plain, applied.unlisted, applied.slips) = Default::default();
    }
    let backend = args.backend.open(scene.triangles.len())?;
    let options = provenance.settings.build.clone();
    let failed = |e| match e {
        BuildError::Empty => lain.empty(&scene, &sources, &options),
        e => Failure::build(who, e),
    };
    let began = Instant::now();
    let built = if provenance.settings.raster.is_some() {
        rastered(args, who, &scene, &mut provenance, backend.stages(), &failed).map(|(built, fit)| (built, Some(fit)))
    } else {
        let build = || build_on(&scene, &options, Some(&provenance), backend.stages());
        stage("building", build).0.map(|built| (built, None)).map_err(&failed)
    };
    report.seconds.build = began.elapsed().as_secs_f64();
    backend::settle(&backend, report);
    let (built, fit) = built?;
    let (settings, options) = (&provenance.settings, &options);
    let r = &built.report;
    regret(who, r, options, report);
    let terrain = Terrain::open(&built.image).map_err(|e| Failure::open(&output, e))?;
    if args.repairs.stitch.is_none() && options.stitch.is_none() && fit.is_none() {
        let (seams, _) = stage("looking for hairline gaps", || unstitched(&scene, options, &terrain));
        if let Some(text) = seams.map_err(|e| Failure::build(who, e))? {
            report.warn(format!("{}: {text}", named(who)));
        }
    }
    let there: HashSet<&str> = friction::ground(&terrain).into_iter().map(|(name, _)| name).collect();
    applied.retain(|name| there.contains(name));
    report.settle(&applied);
    let plain = Origin {
        scene: &scene,
        applied: &applied,
        rules: settings,
        strict: args.strict,
        settings: args.from.settings.as_deref(),
        sources: &sources,
        transform: &args.transform,
        dropping: args.repairs.drop_outliers,
        output: &output,
    }
    .tell(&terrain, report);
    let (overlaps, time) = stage("looking for ground at one height", || overlap::told(&terrain));
    report.seconds.overlaps = time.as_secs_f64();
    let allows = |code| settings.allow.contains(&code);
    match overlaps.map(|told| told.filter(|_| !allows(Code::SameHeight))) {
        Ok(Some(text)) => report.warn(format!("{}: {text}{}", named(who), if has_backs(&scene) { BACKS } else { "" })),
        Ok(None) => {}
        Err(why) => note(format!("{}: {why}", named(who))),
    }
    if let Some(Contested { triangles, stays, goes }) = &r.contested {
        let them = counted(*triangles, "triangle");
        let [stays, goes] = [stays, goes].map(|name| shown(&format!("{name:?}")));
        report.warn(format!("{}: {them} lie exactly on others of another friction, as {goes} on {stays}, and {stays} answers, by its name; to say what is meant: priority = 1 for its material in the settings", named(who)));
    }
    if args.strict && !report.warnings.is_empty() {
        let text = format!("{}, and --strict: no image was written", counted(report.warnings.len() as u64, "warning"));
        return Err(Failure::check(who, text));
    }
    let open = options.stitch.map(|_| r.stitch.open_edges);
    let (beside, time) = stage("looking for gaps and steps", || Beside::of(&terrain, &scene, open));
    report.seconds.gaps = time.as_secs_f64();
    (report.gaps, report.steps) = (Some(beside.gaps()), Some(beside.steps(&terrain)));
    let (twice, time) =
        stage("looking for ground that lies twice", || double_surface::twice(&terrain, NARROW, Some(&scene), true));
    report.seconds.twice = time.as_secs_f64();
    report.twice = Some(json!({ "max_apart": NARROW, "found": twice.pairs.len(), "first": twice.facts(&terrain) }));
    let drawn = match &drawing {
        Some((place, library)) => {
            let (files, drawn) = stage("drawing", || debug::make(&terrain, &Debug::USUAL, place, library)).0?;
            Some((files, debug::said(place, library, &Debug::USUAL, &drawn)))
        }
        None => None,
    };
    let (written, time) =
        stage("writing and verifying", || write_image(&output, who, &built.image, built.report.stitch.divided));
    report.seconds.verify = time.as_secs_f64();
    written?;
    let drawn = drawn.map(|(files, said)| files.into_iter().try_for_each(NewFile::keep).map(|()| said));
    // what names the image comes when it is in its place
    beside.note(&terrain, &output, &sources, r.vertical, &settings.allow);
    twice.told(&terrain, Some(&scene)).filter(|_| !allows(Code::DoubleSurface)).into_iter().for_each(note);
    plain.into_iter().for_each(note);

    report.describe(&terrain, r);
    report.raster = fit.as_ref().map(|fit| fitted(fit, settings.raster.as_ref()));
    if let Some(text) = heavy(&terrain, options, r.index_bytes) {
        note(format!("{}: {text}", named(who)));
    }
    let left_out = [
        (r.excluded, format!("{} not included", grouped(r.excluded))),
        (r.obstacles, counted(r.obstacles, "obstacle")),
        (r.vertical, format!("{} vertical", grouped(r.vertical))),
        (r.ceilings, format!("{} of closed objects", counted(r.ceilings, "underside"))),
        (r.steep, format!("{} steeper than the limit", grouped(r.steep))),
        (r.collapsed, format!("{} collapsed to a line or a point", grouped(r.collapsed))),
        (r.duplicates, counted(r.duplicates, "duplicate")),
        (r.outside, format!("{} outside the domain", grouped(r.outside))),
    ];
    let left_out: Vec<String> = left_out.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
    let (triangles, bytes) = (terrain.header().triangles, built.image.len() as u64);
    match &fit {
        Some(fit) => {
            let (posts, apart) =
                (counted(fit.posts, "post"), decimal(settings.raster.as_ref().map_or(0.0, |r| r.cell)));
            writeln!(out, "{}: {posts} with ground, {apart} m apart, {} bytes", named(&output), grouped(bytes))?;
            told_of(fit, out)?;
        }
        None => writeln!(
            out,
            "{}: {}, {} bytes ({:.1} a triangle)",
            named(&output),
            counted(triangles, "triangle"),
            grouped(bytes),
            bytes as f64 / triangles as f64
        )?,
    }
    let [low, high] = terrain.bounds();
    let [wide, deep] = [0, 1].map(|i| high[i] - low[i]);
    writeln!(out, "ground of {wide:.3} by {deep:.3} m, z {:.3} to {:.3} m", low[2], high[2])?;
    if !factors.is_none() {
        writeln!(out, "friction: {factors}")?;
    }
    if !left_out.is_empty() {
        writeln!(out, "left out of {}: {}", counted(r.triangles_in, "triangle"), left_out.join(", "))?;
    }
    let s = &r.stitch;
    if s.joined + s.divided > 0 {
        writeln!(
            out,
            "gaps closed: {} joined, {} divided; nothing moved farther than {:.2} mm in plan and {:.2} mm in height",
            counted(s.joined, "vertex"),
            counted(s.divided, "triangle"),
            s.moved[0] * 1e3,
            s.moved[1] * 1e3
        )?;
    }
    writeln!(out, "{}", beside.sum())?;
    let bound = terrain.bound();
    writeln!(
        out,
        "any query costs at most {} and {} of 64 bytes",
        counted(bound.tests, "test"),
        counted(bound.lines, "line")
    )?;
    let Seconds { read, build, overlaps, gaps, twice, verify } = report.seconds;
    let looked = overlaps + gaps + twice;
    writeln!(
        out,
        "read in {read:.2} s, built in {build:.2} s, looked over in {looked:.2} s; verified in {verify:.2} s"
    )?;
    if let Some(said) = drawn.transpose()? {
        writeln!(out, "{said}")?;
    }
    if !is_nowhere(&output) {
        writeln!(out, "next: {}", look(&output))?;
    }
    Ok(())
}

/// An image of heights over a scene, as the settings have it, and how well it fits. What it became of is recorded in them.
fn rastered(
    args: &Args,
    who: &Path,
    scene: &Scene,
    provenance: &mut Provenance,
    stages: &dyn Stages,
    failed: &dyn Fn(BuildError) -> Failure,
) -> Done<(Built, Fit)> {
    let Settings { build: options, raster, patch_tolerance: tolerance, .. } = &mut provenance.settings;
    let raster = raster.as_mut().expect("an image of heights is asked for");
    let (mended, _) = stage("mending", || Sampler::of_scene(scene, options, stages));
    let (ground, mesh) = mended.map_err(failed)?;
    let material = ground.material(raster.material.as_deref()).map_err(failed)?;
    raster.material = Some(material.name.clone());
    let posts = match raster.at {
        PostsAt::Multiples => ground.multiples(raster.cell),
        PostsAt::Centres => ground.squares(raster.cell).map(|squares| squares.posts()),
    };
    let posts = posts.map_err(failed)?;
    let heights = heights_at(&posts, &ground, args, who, scene.bytes(), stages)?;
    let (options, tolerance) = (options.clone(), *tolerance);
    let image = || ground.image(posts, heights, &material, tolerance, &options, Some(&*provenance));
    let (mut built, fit) = stage("packing", image).0.map_err(failed)?;
    // what became of the triangles, and what there is of the field
    let of = std::mem::take(&mut built.report);
    let crate::Report { error, shares, posts, tiles, nodes, bundles, references, patch_blocks, .. } = of;
    let crate::Report { index_bytes, leaf_bytes, image_bytes, .. } = of;
    let own = crate::Report { error, shares, posts, tiles, nodes, bundles, references, patch_blocks, ..mesh };
    built.report = crate::Report { index_bytes, leaf_bytes, image_bytes, ..own };
    Ok((built, fit))
}

/// The highest ground at posts. What it takes is said before; `more` are bytes that stay beside it.
fn heights_at(
    posts: &FieldPosts,
    ground: &Sampler,
    args: &Args,
    who: &Path,
    more: u64,
    stages: &dyn Stages,
) -> Done<Vec<f64>> {
    let (columns, rows, apart) = (posts.x.len(), posts.y.len(), posts.pitch);
    let places = Places { columns, rows, apart, rule: Some(Rule::Highest), made: Made::Field, oracle: false };
    let estimate = Estimate::of(ground, &places, more);
    estimate.allowed(who, "take posts farther apart with --raster")?;
    let mut tell = Tell::new(args.progress.is_json(), 1);
    estimate.tell(&places, &format!("posts {} m apart", decimal(apart)), &tell);
    let [x, y] = ground.inside(posts);
    let heights = ground.at_posts(&x, &y, Rule::Highest, stages, &mut tell.phase());
    tell.end();
    Ok(heights)
}

/// How well a field fits its mesh, for programs.
pub fn fitted(fit: &Fit, raster: Option<&Raster>) -> Value {
    let Fit { posts, lost, worst, stated, shares } = fit;
    let [p50, p99, p999] = shares.height.map(|v| v.is_finite().then_some(v));
    let shares = json!({ "places": shares.places, "p50": p50, "p99": p99, "p999": p999 });
    let (pitch, at, material) = (raster.map(|r| r.cell), raster.map(|r| r.at), raster.map(|r| &r.material));
    json!({
        "pitch": pitch, "at": at, "material": material, "posts": posts, "lost": lost, "worst_at_posts": worst,
        "stated": stated, "shares": shares,
    })
}

/// The same in words.
pub fn told_of(fit: &Fit, out: &mut impl Write) -> Done {
    let Fit { lost, worst, stated, shares, .. } = fit;
    let [p50, p99, p999] = shares.height.map(|v| if v.is_finite() { metres(v) } else { "no ground".into() });
    writeln!(out, "error in height: at posts up to {}, stated {}", metres(*worst), metres(*stated))?;
    if shares.places > 0 {
        let places = counted(shares.places, "place");
        writeln!(out, "at {places} all over the mesh: p50 {p50}, p99 {p99}, p99.9 {p999}")?;
    }
    if *lost > 0 {
        writeln!(out, "lost: {} of which no cell has ground at all four corners", counted(*lost, "post"))?;
    }
    Ok(())
}

/// What is to be read: its files as they were named, and what is said of each.
pub struct Asked<'a> {
    from: &'a Sources,
    settings: Settings,
    /// What is wrong with them, though they are read.
    remarks: Vec<String>,
    /// The files, and how they lie.
    pub sources: Vec<Placed>,
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
        Ok(Asked { from, settings, remarks, sources })
    }

    /// Reads them. `over` puts what is typed before the settings; `kept` hears of their material libraries, and stops what
    /// would replace one.
    pub fn read(
        self,
        over: impl FnOnce(&mut Settings),
        kept: impl FnOnce(&[&PathBuf], &mut Report) -> Done,
        report: &mut Report,
    ) -> Done<Ready> {
        let Asked { from, settings, remarks, sources } = self;
        if let Some(file) = &from.settings {
            remarks.iter().for_each(|text| report.warn(format!("{}: {}", named(file), shown(text))));
        }
        let first = &sources[0].0;
        let (read, time) = stage("reading", || read(&sources));
        let (inputs, mut import) = read?;
        report.seconds.read = time.as_secs_f64();
        kept(&import.report.libraries().collect::<Vec<_>>(), report)?;
        import.report.notes().iter().for_each(|text| note(advised(text)));
        import.report.warnings().iter().for_each(|text| report.warn(shown(text)));
        (report.inputs, report.import) = (inputs.clone(), import.report.clone());
        let applied = settings.apply_files(&mut import, sources.iter().map(|(_, source)| source));
        let applied = applied.map_err(|e| in_settings(from, &sources, e))?;
        let mut settings = settings;
        over(&mut settings);
        settings.allow.extend(&from.allow);
        let crowded = import::crowded(&import, &settings.build, sources.iter().map(|(path, _)| path.as_path()));
        let Import { scene, frames, triangles, .. } = import;
        report.settle(&applied);
        remark(&settings, &sources, &applied, report);
        if ground(&scene, &scene.triangles).next().is_none() && scene.fields.is_empty() {
            return Err(Failure::input(first, "the settings leave out every face; set include = true for the ground"));
        }
        let lain = Lain { frames, triangles };
        let files: Vec<&Path> = sources.iter().map(|(file, _)| file.as_path()).collect();
        let found = check::source(&scene, &lain.frames, &lain.triangles, &files);
        findings::tell(findings::beyond(found, &settings.allow, &sources), sources.len(), report)?;
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

/// What else may be done about ground of two materials at one height, where some of it looks down.
const BACKS: &str = "; if it is the back of a sheet, leave out what looks down: undersides = \"ceiling\" for its material or object in the settings";

/// Whether some ground of a scene looks down.
fn has_backs(scene: &Scene) -> bool {
    ground(scene, &scene.triangles).any(|t| {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        (b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0])
    })
}

/// Why an image is large for its triangles, and what to do: tiles that hold little, the rules of a preset, or needles in fans.
fn heavy(t: &Terrain, options: &Options, index: u64) -> Option<String> {
    let h = t.header();
    let (bytes, triangles, tiles) = (h.total_len, h.triangles.max(1), u64::from(h.tile_count));
    let asked = options.split.is_some() || options.max_cost.is_some() || options.tile_log2.is_some();
    let [large, heavy] = if asked { ASKED } else { HEAVY };
    if bytes <= large || bytes / triangles < heavy || h.patch_blocks > 0 {
        return None;
    }
    let why = match (options.split, options.max_cost) {
        _ if bytes < LIGHT * tiles => {
            let then = match larger_tiles(t, (h.tile_log2 + 2).min(26)) {
                Some(log2) => format!("fewer take less, as with --tile {log2}"),
                None => {
                    "there are no larger ones that fit, and triangles that reach over fewer of them take less".into()
                }
            };
            format!("each of the {} has its own head and all that lies over it; {then}", counted(tiles, "tile"))
        }
        (Some(split), _) if index > bytes / 2 => format!(
            "{} divides this ground far; without it, or with a greater bundle_size or min_volume under [build.split] of {SETTINGS}, it takes less",
            split.title()
        ),
        (None, Some(most)) if index > bytes / 2 => {
            format!(
                "no more than {most} are allowed a query, and the ground is divided for that; allow more, and it may take less"
            )
        }
        _ => format!(
            "triangles lie crowded, up to {} over a place are tested; cut long ones that meet in a corner otherwise in the source, or lay less over each other",
            grouped(u64::from(t.bound().tests))
        ),
    };
    Some(format!("{} bytes a triangle: {why}", grouped(bytes / triangles)))
}

/// Bytes of an image, and of it for each triangle, from which on it is said why: of any, and where limits or rules were asked for.
const HEAVY: [u64; 2] = [4 << 20, 300];
const ASKED: [u64; 2] = [256 << 10, 100];
/// Bytes of a tile below which it holds little for what it takes.
const LIGHT: u64 = 32 << 10;
/// How wide a gap may be that is noted, and how far apart ground that lies twice, metres.
const NARROW: f64 = 0.1;
/// Along so many open edges, or along one for so many triangles, gaps and steps are looked for.
const FEW: [u64; 2] = [100_000, 8];
/// So much work for steps, or so much for each triangle: see [`Walk::work`].
const WORK: [u64; 2] = [7_000_000, 8];
/// All the work for gaps, or so much of it for each triangle, about a second or what the build takes: see [`Walk::over`].
const ALL_WORK: [u64; 2] = [300_000_000, 1000];

/// What there is beside the open edges, unless they are too many to look: gaps, and steps without an upright face in the source.
struct Beside {
    edges: u64,
    gaps: Option<Vec<Gap>>,
    steps: Option<Vec<Step>>,
}

impl Beside {
    /// Told how many edges are open, if that is known.
    fn of(t: &Terrain, scene: &Scene, open: Option<u64>) -> Self {
        let triangles = t.header().triangles;
        let are_many = |edges: &u64| *edges > FEW[0].max(triangles / FEW[1]);
        let of_many = |edges| Beside { edges, gaps: None, steps: None };
        if let Some(edges) = open.filter(are_many) {
            return of_many(edges);
        }
        let ending = Ending::of(t);
        let edges = ending.open();
        if are_many(&edges) {
            return of_many(edges);
        }
        let border = Border::new(t, ending);
        let open: Vec<&Edge> = border.open.iter().collect();
        let most = |[all, each]: [u64; 2]| all.max(triangles.saturating_mul(each));
        let walk = Walk::within(t, &border, &open, ALL, NARROW, most(ALL_WORK));
        let gaps = Some(gaps::gaps(&walk, |_| Some(NARROW))).filter(|_| !walk.over());
        let steps = (walk.work(steps::FEWEST, false).0 <= most(WORK))
            .then(|| steps::steps(&walk, steps::LEAST, Some(scene), |_| true));
        Beside { edges, gaps, steps: steps.and_then(Result::ok) }
    }

    fn gaps(&self) -> Value {
        let first = self.gaps.as_deref().map(gaps::facts);
        let found = self.gaps.as_ref().map(Vec::len);
        json!({ "max_gap": NARROW, "open_edges": self.edges, "found": found, "first": first })
    }

    fn steps(&self, t: &Terrain) -> Value {
        let first = self.steps.as_deref().map(|steps| steps::facts(steps, t));
        let found = self.steps.as_ref().map(Vec::len);
        json!({ "max_step": steps::LEAST, "open_edges": self.edges, "found": found, "first": first })
    }

    /// What was looked for, and how much of it there is.
    fn sum(&self) -> String {
        let gaps = gaps::sum(self.gaps.as_ref().map(Vec::len), NARROW);
        let steps = steps::sum(self.steps.as_ref().map(Vec::len), steps::LEAST);
        format!("beside {}: {gaps}, {steps}", counted(self.edges, "open edge"))
    }

    /// Says what there is, which no check counts as a fault, or that nobody looked. The sources have so many upright faces.
    fn note(&self, t: &Terrain, image: &Path, sources: &[Placed], upright: u64, allow: &[Code]) {
        let image = if is_nowhere(image) { "IMAGE".into() } else { quoted(image) };
        let (gap, step) = (format!("--max-gap {NARROW}"), format!("--max-step {}", steps::LEAST));
        let unsought = [(self.gaps.is_none(), "gaps", &gap), (self.steps.is_none(), "steps", &step)];
        let unsought: Vec<_> = unsought.iter().filter(|u| u.0).collect();
        if !unsought.is_empty() {
            let many = counted(self.edges, "open edge");
            let what = unsought.iter().map(|u| u.1).collect::<Vec<_>>().join(" and ");
            let how = unsought.iter().map(|u| u.2.as_str()).collect::<Vec<_>>().join(" ");
            note(format!("{many}; to look for {what} beside them: hardpan verify {image} {how}"));
        }
        let gaps = self.gaps.as_deref().filter(|_| !allow.contains(&Code::Gap)).unwrap_or_default();
        let map = format!("hardpan export png {image} --map holes");
        if let Some(told) = gaps::told(gaps, NARROW) {
            note(format!("{told}; to see them: {map} {gap}"));
        }
        let steps = self.steps.as_deref().filter(|_| !allow.contains(&Code::Step));
        if let Some(told) = steps.and_then(|steps| steps::told(steps, t)) {
            // which of them have a face between only the sources know
            note(match upright {
                0 => format!(
                    "{told}; in a mesh without upright faces, as export obj writes it, kerbs and stairs count too; to see them: {map} {step}"
                ),
                _ => {
                    let files: Vec<String> = sources.iter().map(|(path, _)| quoted(path)).collect();
                    format!("{told}; to list them: hardpan verify {image} --against {} {step}", files.join(" "))
                }
            });
        }
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

pub fn read_settings(path: &Path) -> Done<Settings> {
    settings_of(path).map(|(settings, _)| settings)
}

/// Names of materials that settings and scene do not agree about.
fn in_settings(from: &Sources, sources: &[Placed], e: crate::settings::SettingsError) -> Failure {
    let place = from.settings.as_deref().unwrap_or(&sources[0].0);
    match e.is_of_materials() {
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

/// Says what of the ground is not as the source has it, though nobody asked for that.
pub fn regret(who: &Path, r: &crate::Report, options: &Options, report: &mut Report) {
    for outlier in r.outliers.iter().take(8) {
        let text = format!("{}: outside the domain, left out: {outlier}", named(who));
        match options.outliers {
            Outliers::Drop => note(text),
            Outliers::Stop => report.warn(format!("{text}; if it is meant so, --drop-outliers")),
        }
    }
    for (repair, what, then) in [(&r.weld, "weld", "not welded"), (&r.stitch, "stitch", "not stitched")] {
        if repair.crowded > 0 {
            report.warn(format!(
                "{}: {} {then}, with more than {} others within the threshold; a smaller {what} reaches fewer",
                named(who),
                counted(repair.crowded, "vertex"),
                Repair::CROWD
            ));
        }
    }
    if r.weld.left > r.weld.crowded {
        report.warn(format!(
            "{}: {} within the threshold of others not welded, because ground would be lost or moved too far",
            named(who),
            counted(r.weld.left - r.weld.crowded, "vertex")
        ));
    }
    if r.stitch.left > r.stitch.crowded {
        report.warn(format!(
            "{}: {} could not be joined to open edges close by; wheels may find hairline gaps there",
            named(who),
            counted(r.stitch.left - r.stitch.crowded, "vertex")
        ));
    }
    if let Some([x, y, z]) = r.stitch.slit.filter(|_| r.stitch.slits > 0) {
        note(format!(
            "{}: {} an edge at another height could not be brought under or over a vertex within the threshold, the first near {x:.3},{y:.3},{z:.3}; a query on such a line may find no ground",
            named(who),
            match r.stitch.slits {
                1 => "once".into(),
                n => format!("{} times", grouped(n)),
            }
        ));
    }
}

/// That settings turn stitching off, if by default it would change what was built.
fn unstitched(scene: &Scene, options: &Options, t: &Terrain) -> Result<Option<String>, BuildError> {
    let Some(near) = Options::default().stitch else { return Ok(None) };
    let (mended, r) = repair(scene, &Options { stitch: Some(near), ..options.clone() })?;
    let Repair { joined, divided, before_levelled, .. } = r.stitch;
    // what a mesh that was stitched has of slits could not be had on top of the rest
    if before_levelled == 0 {
        return Ok(None);
    }
    let h = t.header();
    let step = [h.xy_log2, h.xy_log2, h.z_log2].map(|log2| 2f64.powi(log2));
    let lattice = |v: u32| [0, 1, 2].map(|i| (mended.positions[v as usize][i] / step[i]) as i64 - h.origin[i]);
    // a corner of what it makes that nothing of what it takes has
    let mut lost: HashSet<[[i64; 3]; 3]> = triangles(t).iter().map(|s| s.corners.map(|c| c.map(i64::from))).collect();
    let made = mended.triangles.iter().map(|t| t.v.map(lattice));
    let made: Vec<_> = made.filter(|corners| !lost.remove(corners)).collect();
    let lost: HashSet<[i64; 3]> = lost.into_iter().flatten().collect();
    let at = made.into_iter().flatten().filter(|corner| !lost.contains(corner)).min();
    let at = at.map(|v| [0, 1, 2].map(|i| (h.origin[i] + v[i]) as f64 * step[i]));
    let at = at.map(|at| format!(", first at {}", gaps::place(&at, step[0] * f64::from(near.plan))));
    Ok(Some(format!(
        "the settings turn stitching off, and wheels may find hairline gaps: it would join {} and divide {}{}; \
         close them with --stitch {},{}, or keep them with --stitch false",
        counted(joined, "vertex"),
        counted(divided, "triangle"),
        at.unwrap_or_default(),
        near.plan,
        near.height
    )))
}

/// An image may be replaced; other people's files need a word.
fn may_replace(output: &Path, args: &Args, sources: &[(PathBuf, SourceFile)]) -> Done {
    let of = args.from.settings.iter().chain(sources.iter().map(|(file, _)| file));
    Replace::IMAGE.or_any(args.force).check_made(output, Kind::IMAGE, of)
}
