//! `hardpan grid`: heights of the ground on squares, as arrays, pictures, tables and images.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::build::backend::Backend;
use crate::build::error::BuildError;
use crate::grid::{Estimate, Fit, Heights, Made, Places, Rule, Sampler, Squares, write};
use crate::image::as_source;
use crate::image::provenance::{Input, Provenance};
use crate::import::heights::frame::of_user;
use crate::import::{file_name, formats};
use crate::options::Georeference;
use crate::options::Options;
use crate::scene::Material;
use crate::settings::{PostsAt, Raster, Settings, SourceFile};
use hardpan::Terrain;
use serde_json::{Value, json};

use super::{
    Done, Failure, Kind, NewFile, Replace, Threads, backend,
    build::{
        Asked, Ready, Repairs, Sources,
        raster::{fitted, told_of},
    },
    counted, decimal, estimate,
    friction::typed_files,
    grouped, has_extension, is_nowhere,
    length::metres,
    load,
    materials::is_image,
    named, proven,
    report::Report,
    tell::{self, Tell},
    transform::{self, Transform},
};
use crate::draw::grid::picture;
use crate::util::text::coordinate;

#[derive(clap::Args)]
#[command(mut_arg("files", |arg| arg.help(format!("{} files, of which several are one ground, or a terrain image [default: the sources of the settings]", formats::names()))), after_help = "\
Examples:
  hardpan grid track.obj --cell 0.5 -o track.npy")]
pub struct Args {
    #[command(flatten)]
    from: Sources,
    /// Side of a square, metres, above 0; where squares lie and what files hold says builder/docs/grid.md
    #[arg(long, value_name = "METRES", required_unless_present = "size", allow_hyphen_values = true, value_parser = cell)]
    cell: Option<f64>,
    /// Columns and rows: of --extent, or of --cell from the least x and y on
    #[arg(long, value_name = "COLUMNS,ROWS", value_parser = size)]
    size: Option<[u32; 2]>,
    /// Squares of this extent, whatever ground there is: least and greatest x and y [default: from the least x and y of
    /// the ground on]
    #[arg(long, value_name = "x,y,x,y", allow_hyphen_values = true, value_parser = transform::window)]
    extent: Option<[f64; 4]>,
    /// Where the grid goes: .npy, .tif, .csv, .json, .png, .hpan, or with --squares .obj [default: nowhere, facts are
    /// printed]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which height a square has: highest, lowest, highest-below=Z or nearest=Z at its centre; cell-least,
    /// cell-greatest or cell-mean of all over it
    #[arg(long, default_value = "highest", value_name = "RULE")]
    rule: Rule,
    /// All heights at each centre, highest first
    #[arg(long, conflicts_with = "rule")]
    layers: bool,
    /// Leave out faces of which a corner is above this height, metres
    #[arg(long, value_name = "Z", allow_hyphen_values = true, value_parser = number)]
    ignore_above: Option<f64>,
    /// Leave out those of which any corner is above it, or only those of which all are
    #[arg(long, value_name = "MODE", requires = "ignore_above", value_parser = ["any", "all"], default_value = "any", hide_default_value = true, hide_possible_values = true)]
    ignore_mode: String,
    /// Compare with brute force over all faces; exit 1 and the first square that differs, if one does
    #[arg(long)]
    oracle: bool,
    /// Each square as a face at its height, as OBJ
    #[arg(long, requires = "output")]
    squares: bool,
    /// The one material of a grid that is an image, FILE.hpan [default: that of all faces]
    #[arg(long, value_name = "NAME", requires = "output")]
    raster_material: Option<String>,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    heights: transform::Heights,
    #[command(flatten)]
    repairs: Repairs,
    #[command(flatten)]
    backend: backend::Args,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    progress: tell::Form,
    /// Print facts as JSON
    #[arg(long)]
    json: bool,
    /// Replace an output file that is there
    #[arg(long)]
    force: bool,
}

fn number(text: &str) -> Result<f64, String> {
    metres(text).filter(|v| v.abs() < 1e12).ok_or_else(|| "not a length, as in 0.5, 50cm or 500mm".into())
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok().filter(|n| *n > 0)).collect();
    numbers.and_then(|n| n.try_into().ok()).ok_or_else(|| "columns and rows, as in 400,200".into())
}

fn cell(text: &str) -> Result<f64, String> {
    let side = number(text)?;
    if side > 0.0 { Ok(side) } else { Err("the side of a square is above 0 m, as in --cell 0.5".into()) }
}

/// The ending of a grid's name, which says what it is written as.
fn form(place: &Path, args: &Args) -> Done<&'static str> {
    let form = Kind::GRID.end_of(place).or(is_nowhere(place).then_some("npy"));
    let wrong = match form {
        None => "the ending says what a grid is written as; name it FILE.npy, .tif, .csv, .json, .png or .hpan",
        Some("obj") if !args.squares => {
            "an OBJ has each square at its height as a face; add --squares, or name FILE.npy"
        }
        Some(form) if args.squares && form != "obj" => {
            "squares are faces of an OBJ; name it FILE.obj, or leave --squares out"
        }
        Some(form) if args.layers && !["npy", "csv", "json"].contains(&form) => {
            "this has one height a square; write --layers as FILE.npy, FILE.csv or FILE.json"
        }
        Some(form) if args.raster_material.is_some() && form != "hpan" => {
            "no grid but an image has a material; name it FILE.hpan, or leave --raster-material out"
        }
        Some(form) => return Ok(form),
    };
    Err(Failure::input(place, wrong))
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let begun = Instant::now();
    let form = args.output.as_deref().map(|place| form(place, args)).transpose()?;
    let image = match &args.from.files[..] {
        [only] if is_image(only)? => Some(only),
        _ => None,
    };
    let Some(image) = image else {
        let asked = Asked::new(&args.from, &args.transform.with(&args.heights, None))?;
        may_replace(args, asked.sources.iter().map(|(path, _)| path).chain(&args.from.settings))?;
        let over = |settings: &mut Settings| args.repairs.over(&mut settings.build);
        let kept = |libraries: &[&PathBuf], _: &mut Report| {
            args.output.iter().try_for_each(|place| super::made_of(place, libraries.iter().copied()))
        };
        let rest =
            format!("hardpan check{}{}", typed_files(&asked.sources), args.transform.with(&args.heights, None).typed());
        let mut report = Report::default();
        let ready = asked.read(over, kept, &mut report);
        report.print(&rest);
        let Ready { mut provenance, scene, sources, lain, .. } = ready?;
        let (first, options) = (&sources[0].0, &provenance.settings.build);
        let name = if sources.len() == 1 { first.clone() } else { args.from.settings.clone().unwrap_or(first.clone()) };
        let backend = args.backend.open(scene.triangles.len())?;
        let sampler = Sampler::of_scene(&scene, options, backend.stages()).map_err(|e| match e {
            BuildError::Empty => lain.empty(&scene, &sources, options),
            e => Failure::build(&name, e),
        });
        let (sampler, _) = sampler?;
        drop(scene); // the sampler has all of it that counts
        return sample(args, form, (&name, &mut provenance), sampler, (&backend, begun), out);
    };
    as_it_is(args, image)?;
    may_replace(args, [image])?;
    let bytes = load(image)?;
    let t = proven(image, &bytes)?;
    // of an image that is one, a grid is recorded as made
    // rules speak of its sources, and their materials are there by name
    let settings = Settings { build: build_options(&t), rules: vec![], ..as_source::settings_of(&t) };
    let input = File::open(image).and_then(|file| Input::digest(file_name(image), file));
    let inputs = vec![input.map_err(|e| Failure::io(image, e))?];
    let mut provenance = Provenance { inputs, settings, ..Provenance::default() };
    let backend = args.backend.open(t.header().triangles as usize)?;
    sample(args, form, (image, &mut provenance), Sampler::of_image(&t), (&backend, begun), out)
}

/// The options with which an image of a grid over an image is built: the lattice is the same, and the rest is as by
/// default.
fn build_options(t: &Terrain) -> Options {
    let crs = Georeference::of(t);
    Options { xy_log2: t.header().xy_log2, z_log2: t.header().z_log2, crs, ..Options::default() }
}

/// Stops at options of a build: an image is sampled as it is.
fn as_it_is(args: &Args, image: &Path) -> Done {
    let mut options = Options::default();
    args.repairs.over(&mut options);
    let nothing = SourceFile::default();
    let typed = args.from.settings.is_some()
        || !args.from.allow.is_empty()
        || args.transform.with(&args.heights, None).over(&nothing) != nothing
        || args.heights.crs.is_some()
        || options != Options::default();
    if typed {
        let text = "an image is sampled as it is; name its source instead, or leave settings, --up and all that changes the ground out";
        return Err(Failure::input(image, text));
    }
    Ok(())
}

/// The heights of an image as GeoTIFF: as if this were typed of `grid`.
pub fn geotiff(typed: &[std::ffi::OsString], out: &mut impl Write) -> Done {
    use clap::{Args as _, FromArgMatches as _};
    let command = Args::augment_args(clap::Command::new("grid").no_binary_name(true));
    let found = command.try_get_matches_from(typed).and_then(|found| Args::from_arg_matches(&found));
    run(&found.map_err(|e| Failure::Input(e.to_string()))?, out)
}

fn may_replace<'p>(args: &Args, of: impl IntoIterator<Item = &'p PathBuf>) -> Done {
    let Some(place) = &args.output else { return Ok(()) };
    let may = if has_extension(place, "hpan") { Replace::IMAGE } else { Replace::None };
    may.or_any(args.force).check_made(place, Kind::GRID, of)
}

/// Samples the ground of a file, compares, writes and tells.
fn sample(
    args: &Args,
    form: Option<&str>,
    (name, provenance): (&Path, &mut Provenance),
    mut ground: Sampler,
    (backend, begun): (&Backend, Instant),
    out: &mut impl Write,
) -> Done {
    let wrong = |e: BuildError| Failure::build(name, e);
    let ignored = ignore(args, name, &mut ground)?;
    let squares = squares(args, &ground).map_err(wrong)?;
    let material = match form {
        Some("hpan") => Some(material(args, squares.cell, &ground, &mut provenance.settings).map_err(wrong)?),
        _ => None,
    };
    let settings = &provenance.settings;
    let crs = settings.build.crs.clone().or_else(|| of_user(&settings.crs));
    let rule = Some(args.rule).filter(|_| !args.layers);
    ground.check(rule, args.oracle).map_err(wrong)?;
    let made = match (&material, rule) {
        (Some(_), _) => Made::Field,
        (_, None) => Made::Stack,
        _ => Made::Grid,
    };
    let Squares { columns, rows, cell, .. } = squares;
    let written = seconds_written(form);
    let places = Places { columns, rows, apart: cell, rule, made, oracle: args.oracle, written };
    let estimate = Estimate::of(&ground, &places, 0, backend.stages(), begun);
    estimate::allowed(&estimate, name, "take larger squares with --cell")?;
    let mut tell = Tell::new(args.progress.is_json(), if args.oracle { 2 } else { 1 });
    estimate::say(&estimate, &places, &format!("squares of {} m", decimal(cell)), &tell);
    let began = Instant::now();
    let heights = ground.heights(&squares, rule, backend.stages(), &mut tell.phase()).map_err(wrong)?;
    let sampled = began.elapsed();
    backend.warning().into_iter().for_each(|text| super::warn(&text));
    if args.oracle {
        compare(args, name, &ground, &heights, &mut tell)?;
    }
    let began = Instant::now();
    let (mut fit, found) = (None, heights.facts());
    match (&args.output, form, heights, material) {
        (Some(place), _, Heights::One(grid), Some(material)) => {
            let (options, tolerance) = (&provenance.settings.build, provenance.settings.patch_tolerance);
            let posts = grid.squares.posts();
            let built = ground.image(posts, grid.heights, &material, tolerance, options, Some(&*provenance));
            let (built, fits) = built.map_err(wrong)?;
            super::write_image(place, name, &built.image, 0)?;
            fit = Some((fitted(&fits, provenance.settings.raster.as_ref()), fits));
        }
        (Some(place), Some(form), heights, _) => write_to(place, form, &heights, args, name, crs.as_ref())?,
        _ => {}
    }
    tell.end();
    let written = began.elapsed();
    let facts =
        Facts { args, name, ground: &ground, ignored, squares: &squares, found, fit, estimate, sampled, written };
    if args.json { Ok(writeln!(out, "{:#}", facts.json())?) } else { facts.print(out) }
}

/// Seconds of a core that it takes to write a square in such a form.
fn seconds_written(form: Option<&str>) -> f64 {
    match form {
        Some("csv" | "json") => 350e-9,
        Some("obj") => 1300e-9,
        Some("png") => 60e-9,
        Some("npy" | "tif") => 5e-9,
        _ => 0.0,
    }
}

/// Leaves out what is too high, and says how many faces; some must be left.
fn ignore(args: &Args, name: &Path, ground: &mut Sampler) -> Done<usize> {
    let Some(z) = args.ignore_above else { return Ok(0) };
    let (given, all) = (ground.triangles(), args.ignore_mode == "all");
    let ignored = ground.ignore_above(z, all).map_err(|e| Failure::build(name, e))?;
    if ignored == given {
        let text = format!("all {} reach above {} m", counted(given as u64, "face"), decimal(z));
        let or = if all { "" } else { ", or type --ignore-mode all" };
        return Err(Failure::input(name, format!("{text}; give a higher --ignore-above{or}")));
    }
    Ok(ignored)
}

/// The squares that are asked for.
fn squares(args: &Args, ground: &Sampler) -> Result<Squares, BuildError> {
    let wrong = |text: String| Err(BuildError::Option(text));
    match (args.cell, args.size.map(|size| size.map(f64::from)), args.extent) {
        (Some(cell), None, Some(extent)) => ground.squares_in(extent, cell),
        (Some(cell), None, None) => ground.squares(cell),
        (Some(cell), Some([columns, rows]), extent) => {
            let low = match extent {
                Some([x, y, ..]) => [x, y],
                None => ground.squares(cell)?.extent[0],
            };
            let high = [low[0] + columns * cell, low[1] + rows * cell];
            if let Some([x0, y0, x1, y1]) = extent
                && ((high[0] - x1).abs() > 1e-6 * (x1 - x0) || (high[1] - y1).abs() > 1e-6 * (y1 - y0))
            {
                return wrong(format!("{columns} by {rows} squares of {} m do not make this extent", decimal(cell)));
            }
            ground.squares_in([low[0], low[1], high[0], high[1]], cell)
        }
        (None, Some([columns, rows]), Some(extent @ [x0, y0, x1, y1])) => {
            let [x, y] = [(x1 - x0) / columns, (y1 - y0) / rows];
            if (x - y).abs() > 1e-9 * x {
                let sides = [x, y].map(decimal).join(" by ");
                return wrong(format!("{columns} by {rows} parts of this extent are {sides} m, and no squares"));
            }
            ground.squares_in(extent, x)
        }
        (None, ..) => wrong("--size needs --extent or --cell beside it".into()),
    }
}

/// The material of a grid that becomes an image, which the settings record.
fn material(args: &Args, cell: f64, ground: &Sampler, settings: &mut Settings) -> Result<Material, BuildError> {
    let of_settings = settings.raster.as_ref().and_then(|r| r.material.as_deref());
    let found = ground.material(args.raster_material.as_deref().or(of_settings))?;
    settings.raster = Some(Raster { cell, material: Some(found.name.clone()), at: PostsAt::Centres });
    Ok(found)
}

/// Stops at the first square of which the oracle says something else.
fn compare(args: &Args, name: &Path, ground: &Sampler, heights: &Heights, tell: &mut Tell) -> Done {
    let mut phase = tell.phase();
    let differs = match heights {
        Heights::One(grid) => ground.differs(grid, args.rule, &mut phase),
        Heights::All(stack) => ground.stack_differs(stack, &mut phase),
    };
    match differs.map_err(|e| Failure::build(name, e))? {
        Some(differs) => Err(Failure::check(name, format!("{differs}; this is a fault of hardpan, please report it"))),
        None => Ok(()),
    }
}

/// Writes a grid to a new file.
fn write_to(place: &Path, form: &str, heights: &Heights, args: &Args, name: &Path, crs: Option<&Georeference>) -> Done {
    let name = file_name(name);
    let written = NewFile::write_by(place, |to| match (form, heights) {
        ("npy", _) => write::npy(heights, to),
        ("csv", _) => write::csv(heights, to),
        ("json", _) => write::json(heights, &name, &rule_of(args), to),
        ("obj", Heights::One(grid)) => write::obj(grid, &name, to),
        ("png", Heights::One(grid)) => to.write_all(&picture(grid, &name).png().map_err(io::Error::other)?),
        (_, Heights::One(grid)) => write::tiff(grid, crs, to),
        (_, Heights::All(_)) => Err(io::ErrorKind::Unsupported.into()),
    });
    Ok(written?.0.keep()?)
}

fn rule_of(args: &Args) -> String {
    if args.layers { "layers".into() } else { args.rule.to_string() }
}

/// Results of a grid.
struct Facts<'a> {
    args: &'a Args,
    name: &'a Path,
    ground: &'a Sampler<'a>,
    ignored: usize,
    squares: &'a Squares,
    /// Numbers of [`Heights::facts`].
    found: (u64, Option<[f64; 2]>, u64),
    /// If it became an image: for programs, and in numbers.
    fit: Option<(Value, Fit)>,
    estimate: Estimate,
    sampled: Duration,
    written: Duration,
}

impl Facts<'_> {
    fn json(&self) -> Value {
        let (with, ends, most) = self.found;
        let count = self.squares.count() as u64;
        let mut facts = write::facts(self.squares, &file_name(self.name), &rule_of(self.args));
        let more = json!({
            "output": self.args.output, "squares": count, "ground": with, "no_data": count - with,
            "least": ends.map(|e| e[0]), "greatest": ends.map(|e| e[1]), "most_layers": most,
            "faces": self.ground.triangles(), "ignored_above": self.ignored, "estimate": self.estimate,
            "seconds": { "sampled": self.sampled.as_secs_f64(), "written": self.written.as_secs_f64() },
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            facts[key] = value.clone();
        }
        if let Some((fit, _)) = &self.fit {
            facts["fit"] = fit.clone();
        }
        if self.args.oracle {
            facts["oracle"] = json!({ "agrees": true, "squares": count, "faces": self.ground.triangles() });
        }
        facts
    }

    fn print(&self, out: &mut impl Write) -> Done {
        let squares = self.squares;
        let [low, high] = squares.extent;
        let (with, ends, _) = self.found;
        let count = squares.count() as u64;
        let what = self.args.output.as_deref().unwrap_or(self.name);
        writeln!(
            out,
            "{}: {} x {} squares of {} m, {}",
            named(what),
            grouped(squares.columns as u64),
            grouped(squares.rows as u64),
            decimal(squares.cell),
            rule_of(self.args)
        )?;
        let [x, y] = [0, 1].map(|k| format!("{} to {} m", coordinate(low[k]), coordinate(high[k])));
        writeln!(out, "ground at x {x}, y {y}; {}", counted(self.ground.triangles() as u64, "face"))?;
        if self.ignored > 0 {
            writeln!(
                out,
                "left out: {} above {} m",
                counted(self.ignored as u64, "face"),
                decimal(self.args.ignore_above.unwrap_or(0.0))
            )?;
        }
        let heights = ends.map_or(String::new(), |[low, high]| format!(", z {low:.3} to {high:.3} m"));
        writeln!(out, "{} with ground{heights}; {} without", counted(with, "square"), grouped(count - with))?;
        let last = [("column", 0, squares.columns), ("row", 1, squares.rows)];
        for (what, ..) in last.into_iter().filter(|(_, axis, count)| squares.reaches_beyond(*axis, count - 1)) {
            writeln!(out, "partial: the last {what} reaches beyond the ground")?;
        }
        if let Some((_, fit)) = &self.fit {
            told_of(fit, out)?;
        }
        if self.args.oracle {
            writeln!(out, "oracle: all squares agree with brute force over all faces")?;
        }
        writeln!(
            out,
            "sampled in {:.2} s, written in {:.2} s",
            self.sampled.as_secs_f64(),
            self.written.as_secs_f64()
        )?;
        Ok(())
    }
}
