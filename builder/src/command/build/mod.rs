//! `hardpan build`: a mesh file in, a verified image out.

pub mod make;
pub mod raster;
mod sources;

use std::{
    ffi::OsStr,
    io::Write,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::import::formats;
use crate::options::{MaxCost, Options, Outliers, Rays, Split, Undersides};
use crate::report::Code;
use crate::settings::{FitTo, PartRule, Raster, Settings};

pub use self::sources::{Asked, Placed, Ready, remark, settings_of};
use super::{
    Done, Failure, Kind, NewFile, Replace, Threads, again, backend, decimal, factors, has_bytes, has_extension, help,
    is_nowhere,
    length::{Side, Threshold, bytes, metres},
    named, progress, quoted,
    report::{self, Report},
    same, scene, tell,
    transform::{self, Transform, way},
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan build track.obj --up z --unit m                     one mesh, its axes and unit stated
  hardpan build --settings town.toml -o town2.hpan            all sources and options from a file
  hardpan build town.obj --up y --max-cost 24 -o cheap.hpan   no query takes more than 24 tests
More options: hardpan man build; builder/docs/content.md.")]
pub struct Args {
    #[command(flatten)]
    pub from: Sources,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    heights: transform::Heights,
    #[command(flatten)]
    cell: transform::Cell,
    #[command(flatten)]
    repairs: Repairs,
    #[command(flatten)]
    factors: factors::Friction,
    /// Side of a tile: 256m; N for 2^N lattice steps [default: by the density]
    #[arg(long, value_name = "SIDE", allow_hyphen_values = true, value_parser = Side::parse)]
    tile: Option<Side>,
    /// Divide the ground as VS Terrain does; list prints the values
    #[arg(long, value_parser = Presets)]
    preset: Option<Split>,
    /// Divide the ground until no query takes more tests or 64-byte lines
    #[arg(long, value_name = "TESTS[,LINES]")]
    max_cost: Option<MaxCost>,
    /// For rays: none, extents (heights of cells), all (walls, undersides, obstacles too) [default: all]
    #[arg(long, value_name = "WHICH")]
    rays: Option<Rays>,
    /// State the worst cost of rays and tyres too, which takes longer
    #[arg(long)]
    bounds: bool,
    /// Ground of a file or a pattern hides that of lower numbers, of others 0: road.obj=1
    #[arg(long, value_name = "FILE=NUMBER", value_parser = precedence)]
    pub precedence: Vec<PartRule>,
    /// Store the highest ground at posts this far apart, instead of triangles
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = pitch)]
    raster: Option<f64>,
    /// Find posts of heights with which the image has at most so many bytes: 256KiB
    #[arg(long, value_name = "SIZE", conflicts_with = "raster", value_parser = size)]
    fit: Option<u64>,
    /// Find posts whose heights are off by at most this, in the smallest image
    #[arg(long, value_name = "METRES", conflicts_with = "raster", allow_hyphen_values = true, value_parser = max_error)]
    max_error: Option<f64>,
    /// The one material of those heights [default: that of all faces]
    #[arg(long, value_name = "NAME")]
    raster_material: Option<String>,
    /// The image [default: FILE.hpan, or the name of the settings]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    progress: tell::Form,
    #[command(flatten)]
    backend: backend::Args,
    #[command(flatten)]
    pub threads: Threads,
    /// Also draw the image as an OBJ to look at, with an MTL beside it
    #[arg(long, value_name = "FILE.obj")]
    debug: Option<PathBuf>,
    /// Write counts, findings and times as JSON, also when the build fails
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Print that report instead of text
    #[arg(long)]
    json: bool,
    /// Treat warnings as errors: exit with 1, and write no image
    #[arg(long)]
    strict: bool,
    /// Replace files of other kinds, or use their names
    #[arg(long)]
    force: bool,
}

/// Options of reading.
#[derive(clap::Args)]
pub struct Sources {
    #[arg(required_unless_present = "settings", value_name = "FILE", help = help_of_files())]
    pub files: Vec<PathBuf>,
    /// Materials, sources and build options: TOML, JSON or .vstu
    #[arg(long, value_name = "FILE.toml")]
    pub settings: Option<PathBuf>,
    /// Accept these kinds of findings; a warning ends with its kind, as [unit]
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    pub allow: Vec<Code>,
    #[command(flatten)]
    pub scene: scene::Args,
}

/// Help of the files.
fn help_of_files() -> String {
    format!(
        "{} files that become one terrain, a scene of MAVS, or one FILE.par [default: as settings say]",
        formats::names()
    )
}

/// Options that change the ground before it is used.
#[derive(clap::Args)]
pub struct Repairs {
    /// Zero of the lattice, multiples of 4096 m [default: near the median]
    #[arg(long, value_name = "x,y,z", allow_hyphen_values = true, value_parser = origin)]
    origin: Option<[f64; 3]>,
    /// Join vertices this close: 1mm, or 4,64 in lattice steps [default: 0,0]
    #[arg(long, value_name = "PLAN,HEIGHT", allow_hyphen_values = true, value_parser = weld)]
    weld: Option<Threshold>,
    /// Close gaps of up to this between open edges, values as for --weld [default: 4,64]
    #[arg(long, value_name = "PLAN,HEIGHT|false", allow_hyphen_values = true, value_parser = stitch)]
    stitch: Option<Stitch>,
    /// Leave out triangles steeper than this [default: none]
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = max_slope)]
    max_slope: Option<f64>,
    /// Leave out faces that look down: auto (of closed objects), ground (none), ceiling (all)
    #[arg(long, value_name = "WHICH", value_parser = undersides)]
    undersides: Option<Undersides>,
    /// How far ground of higher precedence hides other ground below and above [default: 1]
    #[arg(long, value_name = "METRES", hide = true, allow_hyphen_values = true, value_parser = band)]
    precedence_band: Option<f64>,
    /// Leave out ground outside the domain, even if that is most of a source
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

fn max_slope(text: &str) -> Result<f64, String> {
    let degrees = text.parse().map_err(|_| "not a number of degrees")?;
    in_range(Options { max_slope: Some(degrees), ..Options::default() }).map(|_| degrees)
}

/// `FILE=NUMBER`: what a rule of the settings might say.
fn precedence(text: &str) -> Result<PartRule, String> {
    let parts = text.rsplit_once('=').filter(|(file, _)| !file.is_empty());
    let (file, number) = parts.ok_or("a file and a number with = between them, as road.obj=1")?;
    let number = number.parse().map_err(|_| format!("{number:?} is no whole number from -32768 to 32767"))?;
    Ok(PartRule { file: Some(file.into()), precedence: Some(number), ..PartRule::default() })
}

fn band(text: &str) -> Result<f64, String> {
    let band = metres(text).ok_or("a length in metres, above 0, as in 0.5")?;
    in_range(Options { precedence_band: band, ..Options::default() }).map(|_| band)
}

fn pitch(text: &str) -> Result<f64, String> {
    let pitch = metres(text).filter(|v| Raster::is_cell(*v));
    pitch.ok_or_else(|| "the distance of posts in metres, above 0, as in --raster 0.5".into())
}

fn size(text: &str) -> Result<u64, String> {
    bytes(text).and_then(|size| if size > 0 { Ok(size) } else { Err("above 0, as in 256KiB".into()) })
}

fn max_error(text: &str) -> Result<f64, String> {
    let error = metres(text).filter(|v| FitTo::is_error(*v));
    error.ok_or_else(|| "a length in metres, above 0, as in --max-error 0.05".into())
}

/// `--preset`. What asks for the list is answered as what asks for help is: no file is needed.
#[derive(Clone)]
pub struct Presets;

impl TypedValueParser for Presets {
    type Value = Split;

    fn parse_ref(&self, cli: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<Split, clap::Error> {
        let name = PossibleValuesParser::new(preset_names()).parse_ref(cli, arg, value)?;
        let preset = Split::PRESETS.iter().find(|(preset, _)| *preset == name);
        preset.map(|(_, split)| *split).ok_or_else(|| help::answer(presets()))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(preset_names().into_iter().map(PossibleValue::new)))
    }
}

/// Names that may be typed: a preset, or the word that lists them.
fn preset_names() -> Vec<&'static str> {
    Split::PRESETS.iter().map(|(name, _)| *name).chain(["list"]).collect()
}

/// A table of the presets.
fn presets() -> String {
    let row = |first: &str, cells: &mut dyn Iterator<Item = String>| {
        format!("{first:<16}{}\n", cells.map(|cell| format!(" {cell:>9}")).collect::<String>())
    };
    let mut text = row("[build.split]", &mut Split::PRESETS.iter().map(|(name, _)| name.to_string()));
    for (i, (key, _)) in Split::DEFAULT.numbers().into_iter().enumerate() {
        text += &row(key, &mut Split::PRESETS.iter().map(|(_, split)| decimal(split.numbers()[i].1)));
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
        let Repairs { origin, weld, stitch, max_slope, undersides, precedence_band, drop_outliers } = self;
        let typed = [origin.is_some(), weld.is_some(), stitch.is_some(), max_slope.is_some(), undersides.is_some()];
        let typed = [typed.contains(&true), precedence_band.is_some()];
        typed.contains(&true) || *drop_outliers
    }

    /// Options of the command line override settings.
    pub fn over(&self, build: &mut Options) {
        build.origin = self.origin.or(build.origin);
        build.weld = self.weld.map_or(build.weld, |t| t.near(build));
        build.stitch = self.stitch.map_or(build.stitch, |s| s.0.map(|t| t.near(build)));
        build.max_slope = self.max_slope.or(build.max_slope);
        build.undersides = self.undersides.unwrap_or(build.undersides);
        build.precedence_band = self.precedence_band.unwrap_or(build.precedence_band);
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
            ("--precedence", !self.precedence.is_empty()),
            ("--rays", self.rays.is_some()),
            ("--bounds", self.bounds),
            ("--raster", self.raster.is_some() || self.raster_material.is_some()),
            ("--fit, --max-error", self.fit.is_some() || self.max_error.is_some()),
            ("--report", self.report.is_some()),
            ("--strict", self.strict),
            ("--debug, which is of its own: hardpan export obj IMAGE --cells --pins 10", self.debug.is_some()),
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
        let Settings { build, raster, fit, .. } = settings;
        self.repairs.over(build);
        build.tile_log2 = self.tile.map(|side| side.log2(build)).or(build.tile_log2);
        build.max_cost = self.max_cost.or(build.max_cost);
        build.split = self.preset.or(build.split);
        build.rays = self.rays.or(build.rays);
        build.bounds |= self.bounds;
        if let Some(cell) = self.raster {
            let (material, at) = raster.take().map_or_else(Default::default, |r| (r.material, r.at));
            (*raster, *fit) = (Some(Raster { cell, material, at }), None);
        }
        if self.fit.is_some() || self.max_error.is_some() {
            let material = fit.take().and_then(|fit| fit.material);
            (*raster, *fit) = (None, Some(FitTo { size: self.fit, max_error: self.max_error, material }));
        }
        let materials = [raster.as_mut().map(|r| &mut r.material), fit.as_mut().map(|f| &mut f.material)];
        for material in materials.into_iter().flatten() {
            *material = self.raster_material.clone().or(material.take());
        }
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if args.progress.is_json() {
        progress::as_lines();
    }
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
    let written = NewFile::write(place, text.as_bytes()).and_then(NewFile::keep).map_err(Failure::from);
    match (end, written) {
        (Ok(()), Err(Failure::Machine(text))) => {
            Err(Failure::Machine(format!("{text}; only the report is missing, the image is in its place")))
        }
        (end, written) => end.and(written),
    }
}
