//! Shared parts of `merge` and `rebuild`: they read images as sources, write an image and report it.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::build::Built;
use crate::build::error::BuildError;
use crate::check;
use crate::edit::merge::NoMerge;
use crate::image::ImageFile;
use crate::image::as_source::mu_by_default;
use crate::image::provenance::Input;
use crate::import::file_name;
use crate::options::{Options, Outliers, Split};
use crate::report::Code;
use crate::settings::factors::Factors;
use crate::settings::{Applied, Settings};
use hardpan::Terrain;

use super::{
    Done, Failure, Kind, Replace, Threads,
    build::{Presets, Repairs, make::fates, remark, settings_of},
    counted, factors, few, grouped, is_nowhere, look,
    materials::told_by_default,
    named,
    progress::stage,
    quoted,
    report::Report,
    shown, terrain, warn, write_image,
};
use crate::util::text::metres;

/// Options that both take.
#[derive(clap::Args)]
pub struct Common {
    /// Where the image goes; an existing image is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Materials and build options (TOML, or JSON as .json), without its sources; typed options override it
    #[arg(long, value_name = "FILE.toml")]
    pub settings: Option<PathBuf>,
    /// Divide the ground by the rules of VS Terrain, with these parameters
    #[arg(long, value_parser = Presets)]
    pub preset: Option<Split>,
    #[command(flatten)]
    pub factors: factors::Friction,
    #[command(flatten)]
    pub repairs: Repairs,
    #[command(flatten)]
    pub threads: Threads,
    /// Print a report as JSON, as build --json does
    #[arg(long)]
    pub json: bool,
    /// Replace an output file that is not a terrain image
    #[arg(long)]
    pub force: bool,
}

impl Common {
    /// The settings, if there are any.
    pub fn read_settings(&self) -> Done<Option<Settings>> {
        let Some(file) = &self.settings else { return Ok(None) };
        let (settings, remarks) = settings_of(file)?;
        remarks.iter().for_each(|text| warn(format!("{}: {text}", named(file))));
        Ok(Some(settings))
    }

    /// Options of the command line override settings.
    pub fn over(&self, build: &mut Options) {
        self.repairs.over(build);
        build.split = self.preset.or(build.split);
    }

    pub fn factors(&self) -> Factors {
        self.factors.factors()
    }

    /// Stops at an output that would replace one of these, or something else that nobody asked to replace.
    pub fn may_replace<'p>(&'p self, images: impl IntoIterator<Item = &'p PathBuf>) -> Done {
        let of = self.settings.iter().chain(images);
        Replace::IMAGE.or_any(self.force).check_made(&self.output, Kind::IMAGE, of)
    }

    /// An error that contradicts an option of a build, or of a material.
    pub fn failed(&self, image: &Path, error: BuildError) -> Failure {
        match error {
            BuildError::Option(text) => Failure::input(self.settings.as_deref().unwrap_or(image), text),
            error => Failure::build(image, error),
        }
    }
}

/// Checks all of an image that is a source, and takes its digest.
pub fn open<'a>(file: &Path, image: &'a ImageFile) -> Done<(Terrain<'a>, Input)> {
    let digest = Input::digest(file_name(file), &image[..]).map_err(|e| Failure::io(file, e))?;
    Ok((terrain(file, image)?, Input { frame: "x, y, z in m".into(), ..digest }))
}

/// Why images are not built again; `whole` is the one, or what they become, and `first` one of them.
pub fn failed(args: &Common, whole: &Path, first: &Path, error: NoMerge) -> Failure {
    match error {
        NoMerge::Turned(ref part) => {
            let part = if part.is_empty() { first } else { Path::new(part) };
            Failure::unsupported(part, format!("{error}; leave its yaw out, or build from the sources"))
        }
        NoMerge::Differ(_) => {
            let hint = "to say what is meant, give it an entry in --settings FILE.toml";
            Failure::input(whole, format!("{error}; {hint}"))
        }
        NoMerge::Crs { parts: [_, ref other], .. } => {
            Failure::input(Path::new(other), format!("{error}; say in --settings which is meant: crs = \"...\""))
        }
        NoMerge::Settings(e) => {
            let names = format!("names: hardpan materials {}", quoted(first));
            Failure::input(args.settings.as_deref().unwrap_or(whole), format!("{e}; {names}"))
        }
        NoMerge::Build(e) => args.failed(whole, e),
        NoMerge::TooMany(_) | NoMerge::Bands { .. } => Failure::input(whole, error),
    }
}

/// Says what settings of materials say for nothing, and of which they say nothing.
pub fn settle(settings: &Settings, applied: &Applied, report: &mut Report) {
    report.settle(applied);
    remark(settings, &[], applied, report);
    let unlisted = applied.unlisted.iter().map(|name| shown(&format!("{name:?}")));
    if !applied.unlisted.is_empty() && settings.rest().is_none() {
        let list = few(unlisted, applied.unlisted.len() as u64);
        report.warn(format!("no entry of the settings fits {list}: mu 1 and rr 1"));
    }
}

/// Builds, verifies, writes and tells of an image. `source` is what it is made of, or of several itself.
pub fn finish(
    args: &Common,
    source: &Path,
    options: &Options,
    build: impl FnOnce() -> Done<Built>,
    report: &mut Report,
    out: &mut dyn Write,
) -> Done {
    let output = &args.output;
    report.output = file_name(output);
    let began = Instant::now();
    let built = stage("building", build).0?;
    report.seconds.build = began.elapsed().as_secs_f64();
    let r = &built.report;
    if let (true, Outliers::Stop, Some(first)) = (r.outside > 0, options.outliers, r.outliers.first()) {
        let text = format!("outside the domain about the origin: {first}; nothing was written");
        let hint = "put it nearer, give --origin, or leave it out by --drop-outliers";
        return Err(Failure::input(output, format!("{text}; {hint}")));
    }
    report.find(&named(source), check::built(r, options));
    let t = Terrain::open(&built.image).map_err(|e| Failure::open(output, e))?;
    let (looks, time) = stage("looking for ground at one height", || {
        check::ground(&t, None, &Default::default(), |code| code == Code::SameHeight)
    });
    report.seconds.look = time.as_secs_f64();
    for look in looks {
        look.skipped.iter().for_each(|why| report.note(format!("{}: {why}", named(output))));
        report.find(&named(output), look.findings);
    }
    let (written, time) =
        stage("writing and verifying", || write_image(output, source, &built.image, r.stitch.divided));
    report.seconds.verify = time.as_secs_f64();
    written?;
    told_by_default(mu_by_default(&t).iter())
        .into_iter()
        .for_each(|text| report.note(format!("{}: {text}", named(output))));
    report.describe(&t, r);
    tell(&t, r, output, out)?;
    if let Some(factors) = &report.factors {
        writeln!(out, "friction: {factors}")?;
    }
    let seconds = &report.seconds;
    let [read, build, verify] = [seconds.read, seconds.build, seconds.verify];
    writeln!(out, "read in {read:.2} s, built in {build:.2} s; verified in {verify:.2} s")?;
    if !is_nowhere(output) {
        writeln!(out, "next: {}", look(output))?;
    }
    Ok(())
}

/// Prints an image in brief, as a build does.
fn tell(t: &Terrain, r: &crate::report::Report, output: &Path, out: &mut dyn Write) -> Done {
    let (triangles, bytes) = (t.header().triangles, t.header().total_len);
    let all = match t.header().patch_blocks {
        0 => format!(
            "{}, {} bytes ({:.1} a triangle)",
            counted(triangles, "triangle"),
            grouped(bytes),
            bytes as f64 / triangles as f64
        ),
        blocks => {
            let held = [(triangles, "triangle"), (blocks, "block")].map(|(n, one)| counted(n, one));
            format!("{} and {} of heights, {} bytes", held[0], held[1], grouped(bytes))
        }
    };
    writeln!(out, "{}: {all}", named(output))?;
    let [low, high] = t.bounds();
    let [wide, deep] = [0, 1].map(|i| high[i] - low[i]);
    writeln!(out, "ground of {wide:.3} by {deep:.3} m, z {:.3} to {:.3} m", low[2], high[2])?;
    fates(r, out)?;
    let h = t.header();
    let [plan, height] = [h.error_plan, h.error_height].map(metres);
    writeln!(out, "error against what it was first built from: at most {plan} in plan and {height} in height")?;
    let bound = t.bound();
    let [tests, lines] = [counted(bound.tests, "test"), counted(bound.lines, "line")];
    Ok(writeln!(out, "any query costs at most {tests} and {lines} of 64 bytes")?)
}
