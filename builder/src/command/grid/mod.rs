//! `hardpan grid`: heights of the ground on squares, as arrays, pictures, tables and images.

mod tiff;
mod write;

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    BuildError, Input, Options, Provenance, Settings, again,
    backend::Backend,
    import::file_name,
    sample::{Differs, Estimate, Fit, Grid, Made, Places, Rule, Sampler, Squares, Stack},
    settings::{PostsAt, Raster, SourceFile},
};
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
    grouped, has_extension, is_nowhere, load,
    materials::is_image,
    named,
    report::Report,
    tell::{self, Tell},
    terrain,
    transform::Transform,
};
use crate::draw::grid::picture;
use crate::names::coordinate;

#[derive(clap::Args)]
#[command(mut_arg("files", |arg| arg.help("OBJ or FBX files, of which several are one ground, or a terrain image [default: the sources of the settings]")), after_help = "\
Examples:
  hardpan grid track.obj --cell 0.5 -o track.npy")]
pub struct Args {
    #[command(flatten)]
    from: Sources,
    /// Side of a square, metres, above 0; where squares lie and what files hold says builder/docs/grid.md
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = cell)]
    cell: f64,
    /// Where the grid goes: .npy, .tif, .csv, .json, .png, .hpan, or with --squares .obj [default: nowhere, facts are printed]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Which height a square has: highest, lowest, highest-below=Z or nearest=Z at its centre; cell-least, cell-greatest or cell-mean of all over it
    #[arg(long, default_value = "highest", value_name = "RULE", value_parser = rule)]
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
    text.parse().ok().filter(|v: &f64| v.abs() < 1e12).ok_or_else(|| "not a number of metres".into())
}

fn cell(text: &str) -> Result<f64, String> {
    let side = number(text)?;
    if side > 0.0 { Ok(side) } else { Err("the side of a square is above 0 m, as in --cell 0.5".into()) }
}

const RULES: &str = "highest, lowest, highest-below=Z, nearest=Z, cell-least, cell-greatest, cell-mean";

fn rule(text: &str) -> Result<Rule, String> {
    let height = |z: &str| number(z).map_err(|e| format!("{z:?} is {e}"));
    match (text, text.split_once('=')) {
        ("highest", _) => Ok(Rule::Highest),
        ("lowest", _) => Ok(Rule::Lowest),
        ("cell-least", _) => Ok(Rule::CellLeast),
        ("cell-greatest", _) => Ok(Rule::CellGreatest),
        ("cell-mean", _) => Ok(Rule::CellMean),
        (_, Some(("highest-below", z))) => height(z).map(Rule::HighestBelow),
        (_, Some(("nearest", z))) => height(z).map(Rule::Nearest),
        ("highest-below" | "nearest", None) => Err(format!("it needs a height in metres, as in {text}=3")),
        _ => Err(format!("rules are {RULES}")),
    }
}

/// As it is typed.
fn typed(rule: Rule) -> String {
    match rule {
        Rule::Highest => "highest".into(),
        Rule::Lowest => "lowest".into(),
        Rule::HighestBelow(z) => format!("highest-below={}", decimal(z)),
        Rule::Nearest(z) => format!("nearest={}", decimal(z)),
        Rule::CellLeast => "cell-least".into(),
        Rule::CellGreatest => "cell-greatest".into(),
        Rule::CellMean => "cell-mean".into(),
    }
}

/// What a grid is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Npy,
    Tif,
    Csv,
    Json,
    Png,
    Obj,
    /// An image of heights with posts at the centres.
    Hpan,
}

const GRID: Kind = Kind::GRID;

impl Form {
    const ENDS: [(&str, Form); 8] = [
        ("npy", Form::Npy),
        ("tif", Form::Tif),
        ("tiff", Form::Tif),
        ("csv", Form::Csv),
        ("json", Form::Json),
        ("png", Form::Png),
        ("obj", Form::Obj),
        ("hpan", Form::Hpan),
    ];

    /// As the name says.
    fn of(place: &Path, args: &Args) -> Done<Self> {
        let form = Self::ENDS.into_iter().find(|(end, _)| has_extension(place, end)).map(|(_, form)| form);
        let wrong = |text: &str| Err(Failure::input(place, text));
        match form {
            None if is_nowhere(place) => Ok(Form::Npy),
            None => {
                wrong("the ending says what a grid is written as; name it FILE.npy, .tif, .csv, .json, .png or .hpan")
            }
            Some(Form::Obj) if !args.squares => {
                wrong("an OBJ has each square at its height as a face; add --squares, or name FILE.npy")
            }
            Some(form) if args.squares && form != Form::Obj => {
                wrong("squares are faces of an OBJ; name it FILE.obj, or leave --squares out")
            }
            Some(Form::Tif | Form::Png | Form::Obj | Form::Hpan) if args.layers => {
                wrong("this has one height a square; write --layers as FILE.npy, FILE.csv or FILE.json")
            }
            Some(form) if args.raster_material.is_some() && form != Form::Hpan => {
                wrong("no grid but an image has a material; name it FILE.hpan, or leave --raster-material out")
            }
            Some(form) => Ok(form),
        }
    }
}

/// Heights of squares: one of each, or all.
enum Heights {
    One(Grid),
    All(Stack),
}

impl Heights {
    fn squares(&self) -> &Squares {
        match self {
            Heights::One(grid) => &grid.squares,
            Heights::All(stack) => &stack.squares,
        }
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let form = args.output.as_deref().map(|place| Form::of(place, args)).transpose()?;
    let image = match &args.from.files[..] {
        [only] if is_image(only)? => Some(only),
        _ => None,
    };
    let Some(image) = image else {
        let asked = Asked::new(&args.from, &args.transform)?;
        may_replace(args, asked.sources.iter().map(|(path, _)| path).chain(&args.from.settings))?;
        let over = |settings: &mut Settings| args.repairs.over(&mut settings.build);
        let kept = |libraries: &[&PathBuf], _: &mut Report| {
            args.output.iter().try_for_each(|place| super::made_of(place, libraries.iter().copied()))
        };
        let rest = format!("hardpan check{}{}", typed_files(&asked.sources), args.transform.typed());
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
        return sample(args, form, (&name, &mut provenance), sampler, &backend, out);
    };
    as_it_is(args, image)?;
    may_replace(args, [image])?;
    let bytes = load(image)?;
    let t = terrain(image, &bytes)?;
    // of an image that is one, a grid is recorded as made
    // rules speak of its sources, and their materials are there by name
    let settings = Settings { build: build_options(&t), rules: vec![], ..again::settings_of(&t) };
    let input = File::open(image).and_then(|file| Input::digest(file_name(image), file));
    let inputs = vec![input.map_err(|e| Failure::io(image, e))?];
    let mut provenance = Provenance { inputs, settings, ..Provenance::default() };
    let backend = args.backend.open(t.header().triangles as usize)?;
    sample(args, form, (image, &mut provenance), Sampler::of_image(&t), &backend, out)
}

/// The options with which an image of a grid over an image is built: the lattice is the same, and the rest is as by default.
fn build_options(t: &Terrain) -> Options {
    Options { xy_log2: t.header().xy_log2, z_log2: t.header().z_log2, ..Options::default() }
}

/// Stops at options of a build: an image is sampled as it is.
fn as_it_is(args: &Args, image: &Path) -> Done {
    let mut options = Options::default();
    args.repairs.over(&mut options);
    let nothing = SourceFile::default();
    let typed = args.from.settings.is_some()
        || !args.from.allow.is_empty()
        || args.transform.over(&nothing) != nothing
        || options != Options::default();
    if typed {
        let text = "an image is sampled as it is; name its source instead, or leave settings, --up and all that changes the ground out";
        return Err(Failure::input(image, text));
    }
    Ok(())
}

fn may_replace<'p>(args: &Args, of: impl IntoIterator<Item = &'p PathBuf>) -> Done {
    let Some(place) = &args.output else { return Ok(()) };
    let may = if has_extension(place, "hpan") { Replace::IMAGE } else { Replace::None };
    may.or_any(args.force).check_made(place, GRID, of)
}

/// Samples the ground of a file, compares, writes and tells.
fn sample(
    args: &Args,
    form: Option<Form>,
    (name, provenance): (&Path, &mut Provenance),
    mut ground: Sampler,
    backend: &Backend,
    out: &mut impl Write,
) -> Done {
    let stages = backend.stages();
    let wrong = |e: BuildError| Failure::build(name, e);
    let given = ground.triangles();
    let ignored = match args.ignore_above {
        Some(z) => ground.ignore_above(z, args.ignore_mode == "all").map_err(wrong)?,
        None => 0,
    };
    let material = match form {
        Some(Form::Hpan) => {
            let of_settings = provenance.settings.raster.as_ref().and_then(|r| r.material.as_deref());
            let asked = args.raster_material.as_deref().or(of_settings);
            let found = ground.material(asked).map_err(wrong)?;
            let material = Some(found.name.clone());
            provenance.settings.raster = Some(Raster { cell: args.cell, material, at: PostsAt::Centres });
            Some(found)
        }
        _ => None,
    };
    let squares = ground.squares(args.cell).map_err(|e| match e {
        BuildError::Empty if ignored == given => {
            let text = format!(
                "all {} reach above {} m",
                counted(given as u64, "face"),
                decimal(args.ignore_above.unwrap_or(0.0))
            );
            let or = if args.ignore_mode == "all" { "" } else { ", or type --ignore-mode all" };
            Failure::input(name, format!("{text}; give a higher --ignore-above{or}"))
        }
        e => wrong(e),
    })?;
    let rule = Some(args.rule).filter(|_| !args.layers);
    ground.check(rule, args.oracle).map_err(wrong)?;
    let made = match form {
        Some(Form::Hpan) => Made::Field,
        _ if args.layers => Made::Stack,
        _ => Made::Grid,
    };
    let Squares { columns, rows, cell, .. } = squares;
    let places = Places { columns, rows, apart: cell, rule, made, oracle: args.oracle };
    let estimate = Estimate::of(&ground, &places, 0);
    estimate::allowed(&estimate, name, "take larger squares with --cell")?;
    let mut tell = Tell::new(args.progress.is_json(), if args.oracle { 2 } else { 1 });
    estimate::say(&estimate, &places, &format!("squares of {} m", decimal(cell)), &tell);
    let began = Instant::now();
    let mut phase = tell.phase();
    let heights = match args.layers {
        true => Heights::All(ground.stack(&squares, stages, &mut phase)),
        false => Heights::One(ground.grid(&squares, args.rule, stages, &mut phase).map_err(wrong)?),
    };
    drop(phase);
    let sampled = began.elapsed();
    backend.warning().into_iter().for_each(|text| super::warn(&text));
    let compared = args.oracle.then(|| compare(&ground, &heights, args.rule, &mut tell)).transpose().map_err(wrong)?;
    if let Some(differs) = compared.iter().flatten().next() {
        return Err(Failure::check(name, told(differs)));
    }
    let began = Instant::now();
    let (mut fit, found) = (None, Found::of(&heights));
    match (&args.output, form, heights, material) {
        (Some(place), _, Heights::One(grid), Some(material)) => {
            let (options, tolerance) = (&provenance.settings.build, provenance.settings.patch_tolerance);
            let posts = grid.squares.posts();
            let built = ground.image(posts, grid.heights, &material, tolerance, options, Some(&*provenance));
            let (built, fits) = built.map_err(wrong)?;
            super::write_image(place, name, &built.image, 0)?;
            fit = Some((fitted(&fits, provenance.settings.raster.as_ref()), fits));
        }
        (Some(place), Some(form), heights, _) => write(place, form, &heights, args, name)?,
        _ => {}
    }
    tell.end();
    let written = began.elapsed();
    let facts =
        Facts { args, name, ground: &ground, ignored, squares: &squares, found, fit, estimate, sampled, written };
    if args.json { Ok(writeln!(out, "{:#}", facts.json())?) } else { facts.print(out) }
}

fn compare(ground: &Sampler, heights: &Heights, rule: Rule, tell: &mut Tell) -> Result<Option<Differs>, BuildError> {
    let mut phase = tell.phase();
    match heights {
        Heights::One(grid) => ground.differs(grid, rule, &mut phase),
        Heights::All(stack) => ground.stack_differs(stack, &mut phase),
    }
}

/// The first square of which the oracle says something else.
fn told(differs: &Differs) -> String {
    let Differs { at: [column, row], centre: [x, y], grid, oracle } = differs;
    let all = |heights: &[f64]| match heights {
        [] => "no ground".into(),
        heights => heights.iter().map(|z| decimal(*z)).collect::<Vec<_>>().join(", "),
    };
    format!(
        "column {column}, row {row}, at {},{}: the grid has {}, and the oracle {}; this is a fault of hardpan, please report it",
        decimal(*x),
        decimal(*y),
        all(grid),
        all(oracle)
    )
}

/// Writes a grid to a new file.
fn write(place: &Path, form: Form, heights: &Heights, args: &Args, name: &Path) -> Done {
    let (new, file) = NewFile::create(place)?;
    let mut to = BufWriter::with_capacity(1 << 20, file);
    let wrong = |e| Failure::write(place, e);
    match (form, heights) {
        (Form::Npy, heights) => write::npy(heights, &mut to).map_err(wrong)?,
        (Form::Csv, heights) => write::csv(heights, &mut to).map_err(wrong)?,
        (Form::Json, heights) => write::json(heights, &file_name(name), &rule_of(args), &mut to).map_err(wrong)?,
        (Form::Tif, Heights::One(grid)) => tiff::write(grid, &mut to).map_err(wrong)?,
        (Form::Obj, Heights::One(grid)) => write::obj(grid, &file_name(name), &mut to).map_err(wrong)?,
        (Form::Png, Heights::One(grid)) => to.write_all(&picture(grid, &file_name(name)).png()?).map_err(wrong)?,
        (Form::Tif | Form::Obj | Form::Png | Form::Hpan, _) => unreachable!("refused by its name, or an image"),
    }
    let file: File = to.into_inner().map_err(|e| wrong(e.into_error()))?;
    file.sync_all().map_err(wrong)?;
    new.keep()
}

fn rule_of(args: &Args) -> String {
    if args.layers { "layers".into() } else { typed(args.rule) }
}

/// What squares have: how many have ground, the least and greatest height, and the most heights of one.
struct Found {
    with: u64,
    ends: Option<[f64; 2]>,
    most: u64,
}

impl Found {
    fn of(heights: &Heights) -> Self {
        match heights {
            Heights::One(grid) => {
                let (with, ends) = grid.facts();
                Found { with, ends, most: u64::from(with > 0) }
            }
            Heights::All(stack) => {
                let with = stack.starts.windows(2).filter(|w| w[1] > w[0]).count() as u64;
                let ends = stack.heights.iter().map(|z| [*z; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
                Found { with, ends, most: stack.most() }
            }
        }
    }
}

/// What became of a grid.
struct Facts<'a> {
    args: &'a Args,
    name: &'a Path,
    ground: &'a Sampler<'a>,
    ignored: usize,
    squares: &'a Squares,
    found: Found,
    /// If it became an image: for programs, and in numbers.
    fit: Option<(Value, Fit)>,
    estimate: Estimate,
    sampled: Duration,
    written: Duration,
}

impl Facts<'_> {
    fn json(&self) -> Value {
        let Squares { extent: [low, high], cell, columns, rows, .. } = self.squares;
        let Found { with, ends, most } = self.found;
        let (count, partial) = (self.squares.count() as u64, write::partial(self.squares));
        let mut facts = json!({
            "source": file_name(self.name), "output": self.args.output,
            "extent": { "min": low, "max": high }, "cell": cell, "columns": columns, "rows": rows,
            "rule": rule_of(self.args), "partial": partial,
            "squares": count, "ground": with, "no_data": count - with,
            "least": ends.map(|e| e[0]), "greatest": ends.map(|e| e[1]), "most_layers": most,
            "faces": self.ground.triangles(), "ignored_above": self.ignored,
            "estimate": self.estimate,
            "seconds": { "sampled": self.sampled.as_secs_f64(), "written": self.written.as_secs_f64() },
        });
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
        let Found { with, ends, .. } = self.found;
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
        let partial = write::partial(squares);
        let beyond = [("column", &partial["column"]), ("row", &partial["row"])];
        let beyond: Vec<&str> = beyond.into_iter().filter(|(_, v)| !v.is_null()).map(|(what, _)| what).collect();
        if !beyond.is_empty() {
            let reach = if beyond.len() > 1 { "reach" } else { "reaches" };
            writeln!(out, "partial: the last {} {reach} beyond the ground", beyond.join(" and the last "))?;
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
