//! `hardpan check`: faults of a mesh or of an image, in one report.

mod html;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::build::build_read;
use crate::build::error::BuildError;
use crate::check;
use crate::check::ground::double_surface::MIN_APART;
use crate::check::{Limits, Look};
use crate::options::Options;
use crate::report::{Code, Finding, Severity};
use crate::util::text::{counted, few, grouped, metres};
use hardpan::Terrain;
use serde_json::{Map, Value, json};

use super::{
    Done, Failure, Kind, NewFile, Replace, Threads,
    build::{Asked, Repairs, Sources},
    findings::{self, worded},
    length::within,
    load, made_of,
    materials::is_image,
    named,
    progress::stage,
    report::Report,
    terrain,
    transform::{self, Transform},
};

#[derive(clap::Args)]
#[command(
    override_usage = "hardpan check <FILE…|IMAGE> [OPTIONS]",
    after_help = "\
A mesh shows more than its image: axes, unit, upright faces, undersides.
For the meaning of each kind, and what it may miss, see builder/docs/check-and-verify.md.
Exit codes: 0 nothing found; 1 something was found, or a kind could not be looked for."
)]
pub struct Args {
    #[command(flatten)]
    from: Sources,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    heights: transform::Heights,
    #[command(flatten)]
    cell: transform::Cell,
    #[command(flatten)]
    repairs: Repairs,
    /// Look only for these kinds
    #[arg(long, value_name = "CODE,...", value_delimiter = ',', value_parser = code)]
    only: Vec<Code>,
    /// Find gaps up to this wide beside open edges [default: 2m]
    #[arg(long, value_name = "WIDTH", allow_hyphen_values = true, value_parser = |text: &str| within(text, [0.001, 100.0]))]
    max_gap: Option<f64>,
    /// Find steps higher than this [default: 50mm]
    #[arg(long, value_name = "HEIGHT", allow_hyphen_values = true, value_parser = |text: &str| within(text, [0.0001, 100.0]))]
    max_step: Option<f64>,
    /// Find double surfaces from 5 mm to this far apart [default: 0.3m]
    #[arg(long, value_name = "HEIGHT", allow_hyphen_values = true, value_parser = |text: &str| within(text, [MIN_APART, 0.5]))]
    max_apart: Option<f64>,
    /// Find vertices more than this above or below their ring [default: 3m]
    #[arg(long, value_name = "HEIGHT", allow_hyphen_values = true, value_parser = |text: &str| within(text, [0.01, 10_000.0]))]
    max_spike: Option<f64>,
    /// Write one page: what was checked, kinds, a map and a list with links
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    /// Replace a file that is not such a page
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    pub threads: Threads,
}

impl Args {
    fn transform(&self) -> Transform {
        self.transform.with(&self.heights, Some(&self.cell))
    }
}

fn code(text: &str) -> Result<Code, String> {
    text.trim().parse()
}

/// Findings of a kind that are listed in words.
const LISTED: usize = 8;

/// All that was found.
struct Found {
    /// The image, or the files.
    title: String,
    looks: Vec<Look>,
    /// Warnings that have no place: of settings and materials.
    warnings: Vec<String>,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if !Code::ALL.into_iter().any(|code| args.wants(code)) {
        return Err(Failure::Input("--allow names all kinds of --only; leave one of them out".into()));
    }
    if let Some(place) = &args.html {
        let of = args.from.files.iter().chain(&args.from.settings);
        Replace::Only(0, html::START, "a page by hardpan check").or_any(args.force).check_made(
            place,
            Kind::PAGE,
            of,
        )?;
    }
    let found = match &args.from.files[..] {
        [image] if is_image(image)? => {
            args.refuse_of_meshes(image)?;
            let bytes = load(image)?;
            let t = terrain(image, &bytes)?;
            let found = Found {
                title: named(image),
                looks: ground(args, &t, None, &|code| args.wants(code)),
                warnings: Vec::new(),
            };
            page(args, &found, &t, || Ok(vec![html::Checked::digest(image, &bytes)?]))?;
            found
        }
        _ => of_sources(args)?,
    };
    if args.json {
        writeln!(out, "{:#}", found.facts())?;
    } else {
        found.print(out)?;
        if let Some(place) = &args.html {
            writeln!(out, "page: {}", named(place))?;
        }
    }
    match found.count() + found.skipped() {
        0 => Ok(()),
        _ => Err(Failure::Different),
    }
}

/// Builds the sources in memory, and checks them and their ground.
fn of_sources(args: &Args) -> Done<Found> {
    let mut asked = Asked::new(&args.from, &args.transform())?;
    asked.stops = false;
    let files: Vec<PathBuf> = asked.sources.iter().map(|(file, _)| file.clone()).collect();
    let kept = |of: &[&PathBuf]| args.html.iter().try_for_each(|place| made_of(place, of.iter().copied()));
    kept(&files.iter().collect::<Vec<_>>())?;
    if asked.settings.raster.is_some() {
        let text = "the settings ask for heights instead of triangles ([raster]); build that image, and check it";
        return Err(Failure::input(&files[0], text));
    }
    let mut report = Report::default();
    let ready =
        asked.read(|settings| args.repairs.over(&mut settings.build), |libraries, _| kept(libraries), &mut report)?;
    let first = &ready.sources[0].0;
    let options: &Options = &ready.provenance.settings.build;
    let build = || build_read(&ready.scene, options, None, &hardpan_shaders::Cpu::new());
    let built = stage("building", build).0.map_err(|e| match e {
        BuildError::Empty => ready.lain.empty(&ready.scene, &ready.sources, options),
        e => Failure::build(first, e),
    })?;
    let t = Terrain::open(&built.image).map_err(|e| Failure::open(first, e))?;
    let title = few(files.iter().map(|file| named(file)), files.len() as u64);
    let allow = &ready.provenance.settings.allow;
    let wants = |code| args.wants(code) && !allow.contains(&code);
    // those of the sources are reported once
    let told: Vec<String> = report.findings.iter().map(|f| findings::line(f, files.len() > 1)).collect();
    report.warnings.retain(|line| !told.contains(line));
    let own = report.findings.drain(..).chain(check::built(&built.report, options));
    let mut looks = by_code(&own.collect::<Vec<_>>(), wants);
    looks.extend(ground(args, &t, Some(&ready.scene), &wants));
    let found = Found { title, looks, warnings: report.warnings };
    let inputs = files.iter().zip(&ready.provenance.inputs);
    page(args, &found, &t, || inputs.map(|(file, input)| html::Checked::new(file, input.sha256.clone())).collect())?;
    Ok(found)
}

/// A look for each wanted kind that is not of the ground.
fn by_code(all: &[Finding], wants: impl Fn(Code) -> bool) -> Vec<Look> {
    let look = |code| {
        let findings: Vec<Finding> = all.iter().filter(|f| f.code == code).cloned().collect();
        let places = findings.iter().filter_map(|f| f.place).collect();
        Look { code, limit: None, found: Some(findings.len()), findings, places, skipped: None }
    };
    Code::ALL.into_iter().filter(|code| !check::OF_GROUND.contains(code) && wants(*code)).map(look).collect()
}

fn ground(args: &Args, t: &Terrain, scene: Option<&crate::scene::Scene>, wants: &dyn Fn(Code) -> bool) -> Vec<Look> {
    stage("looking over the ground", || check::ground(t, scene, &args.limits(), wants)).0
}

/// Writes the page, if one is asked for.
fn page(args: &Args, found: &Found, t: &Terrain, files: impl FnOnce() -> Done<Vec<html::Checked>>) -> Done {
    let Some(place) = &args.html else { return Ok(()) };
    Ok(NewFile::write(place, html::page(found, &files()?, t)?.as_bytes())?.keep()?)
}

impl Args {
    /// Stops at what says something of meshes beside an image.
    fn refuse_of_meshes(&self, image: &Path) -> Done {
        let of_meshes = [
            ("--settings is", self.from.settings.is_some()),
            (
                "--up, --unit, --scale, --rotate, --translate and options of heights are",
                !self.transform().typed().is_empty(),
            ),
            ("--origin, --weld, --stitch, --max-slope, --undersides and --drop-outliers are", self.repairs.is_typed()),
        ];
        if let Some((what, _)) = of_meshes.iter().find(|(_, typed)| *typed) {
            let text =
                format!("this is a terrain image, and {what} for meshes only; leave that out, or check the mesh");
            return Err(Failure::input(image, text));
        }
        match self.only.iter().find(|code| !check::OF_GROUND.contains(code)) {
            Some(code) => Err(Failure::input(image, format!("{code} is looked for in a mesh, not in an image"))),
            None => Ok(()),
        }
    }

    fn wants(&self, code: Code) -> bool {
        (self.only.is_empty() || self.only.contains(&code)) && !self.from.allow.contains(&code)
    }

    fn limits(&self) -> Limits {
        let Limits { gap, step, apart, spike, buried } = Limits::default();
        Limits {
            gap: self.max_gap.unwrap_or(gap),
            step: self.max_step.unwrap_or(step),
            apart: self.max_apart.unwrap_or(apart),
            spike: self.max_spike.unwrap_or(spike),
            buried,
        }
    }
}

impl Found {
    /// But for notes, which say what was asked for.
    fn count(&self) -> usize {
        let notes = |look: &Look| look.findings.iter().filter(|f| f.severity == Severity::Note).count();
        self.looks.iter().filter_map(|look| Some(look.found? - notes(look))).sum()
    }

    /// Kinds that nobody looked for, or not everywhere.
    fn skipped(&self) -> usize {
        self.looks.iter().filter(|look| look.skipped.is_some()).count()
    }

    /// `3 findings`.
    fn summary(&self) -> String {
        let skipped = match self.skipped() as u64 {
            0 => String::new(),
            n => format!(", {} not looked for everywhere", counted(n, "kind")),
        };
        match self.count() as u64 {
            0 => format!("nothing found{skipped}"),
            n => format!("{}{skipped}", counted(n, "finding")),
        }
    }

    /// The first of each kind, numbered from 1 through all kinds.
    fn listed(&self, most: usize) -> Vec<(usize, &Finding)> {
        (1..).zip(self.looks.iter().flat_map(|look| look.findings.iter().take(most))).collect()
    }

    fn facts(&self) -> Value {
        let look = |look: &Look| {
            let Look { limit, found, findings, skipped, .. } = look;
            json!({ "limit": limit, "found": found, "skipped": skipped, "findings": findings })
        };
        let looks: Map<String, Value> = self.looks.iter().map(|l| (l.code.name().into(), look(l))).collect();
        json!({
            "of": self.title, "passed": self.count() + self.skipped() == 0, "found": self.count(), "looks": looks,
            "warnings": self.warnings,
        })
    }

    fn print(&self, out: &mut impl Write) -> Done {
        writeln!(out, "{}: {}", self.title, self.summary())?;
        let shown = |look: &&Look| look.found != Some(0) || check::OF_GROUND.contains(&look.code);
        for look in self.looks.iter().filter(shown) {
            writeln!(out, "{}", row(look).join("  ").trim_end())?;
        }
        for (number, finding) in self.listed(LISTED) {
            writeln!(out, "{number}: {}", line(finding))?;
        }
        let rest: usize = self.looks.iter().map(|l| l.found.unwrap_or(0).saturating_sub(LISTED)).sum();
        if rest > 0 {
            writeln!(
                out,
                "and {} more; --json lists {} of a kind",
                grouped(rest as u64),
                grouped(check::LISTED as u64)
            )?;
        }
        self.warnings.iter().try_for_each(|text| writeln!(out, "warning: {text}"))?;
        Ok(())
    }
}

/// A finding in words; of a source with its file.
fn line(finding: &Finding) -> String {
    if finding.code.is_of_source() {
        return findings::line(finding, false);
    }
    match finding.place.filter(|_| !finding.text.contains(" at ")) {
        None => worded(finding, false),
        Some([x, y, z]) => {
            let text = format!("{} at {x:.3},{y:.3},{z:.3}", finding.text);
            worded(&Finding { text, ..finding.clone() }, false)
        }
    }
}

/// Kind, count and what was looked for.
fn row(look: &Look) -> [String; 3] {
    let count = look.found.map_or("-".into(), |n| grouped(n as u64));
    let what = match look.limit.map(metres) {
        Some(limit) if look.code == Code::Gap => format!("of up to {limit}"),
        Some(limit) if look.code == Code::DoubleSurface => format!("up to {limit} apart"),
        Some(limit) => format!("of more than {limit}"),
        None => String::new(),
    };
    let why = look.skipped.iter().map(|why| format!(" ({why})"));
    [format!("{:<16}", look.code.name()), format!("{count:>8}"), what + &why.collect::<String>()]
}
