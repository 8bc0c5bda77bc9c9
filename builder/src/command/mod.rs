//! What is typed, what is printed, and the exit codes.
//!
//! Facts go to stdout; warnings and errors go to stderr. A reader that closes the pipe ends the program quietly.

mod again;
mod backend;
mod bench;
mod build;
mod check;
mod completions;
mod debug;
mod demo;
mod diff;
mod estimate;
mod export;
mod factors;
mod findings;
mod friction;
mod grid;
mod help;
mod info;
mod length;
mod map;
mod materials;
mod merge;
mod output;
mod par;
mod progress;
mod query;
mod rebuild;
mod report;
mod scene;
mod sensor;
mod signals;
mod stdout;
mod tables;
mod tell;
mod transform;
mod verify;
mod view;
mod vstu;

use std::{
    env,
    fmt::{self, Display},
    fs,
    io::{self, ErrorKind, Write},
    panic,
    path::Path,
    process::ExitCode,
    thread,
};

use self::output::{Form, Kind, NewFile, Replace, has_bytes, is_nowhere, made_of, make_folder, one_place, write_image};
use self::stdout::Stdout;
use crate::build::error::BuildError;
use crate::image::ImageFile;
use crate::import;
use crate::import::{ImportError, ImportErrorKind, ImportReport, Next, file_name};
use crate::options::MaxCost;
use crate::util::files::WriteError;
use crate::util::text::{
    bounded, costs, counted, decimal, fault, few, few_digits, grouped, named, quoted, section_name, shown, width,
};
use clap::{FromArgMatches, Parser, Subcommand};
use hardpan::{OpenError, Terrain, format::MAGIC};

#[derive(Parser)]
#[command(name = "hardpan", bin_name = "hardpan", version = VERSION, about = "What is the ground here? Terrain images for vehicles and controllers", after_help = EXITS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a terrain image from a mesh
    Build(build::Args),
    /// Put several terrain images together in one, each at its place
    Merge(merge::Args),
    /// Make a terrain image again from itself, by other settings
    Rebuild(rebuild::Args),
    /// List the materials of a source or an image, or write them as a settings file to edit
    Materials(materials::Args),
    /// Sample ground heights on squares: npy, tif, csv, json, png, obj
    Grid(grid::Args),
    /// Show contents, extents, bounds, materials and hashes of an image
    Info(info::Args),
    /// Ask an image for the ground at points
    Query(query::Args),
    /// Drive a terrain sensor over an image: a trace ahead and one below each wheel, as CSV and OBJ
    Sensor(sensor::Args),
    /// Write what the kernel sees: an OBJ that builds the same image again, or maps as PNG
    Export(export::Args),
    /// Compare two images: bytes, facts, heights and materials
    Diff(diff::Args),
    /// Look for faults of a mesh or an image: gaps, steps, double surfaces and others; --html for a page
    Check(check::Args),
    /// Prove what an image claims: sums, structure, costs, that no place is missed; --against its source
    Verify(verify::Args),
    /// Time queries beside the bound that an image states
    Bench(bench::Args),
    /// Build a small proving ground, drive over it and draw it, into ./hardpan-demo; --fixture: small images of known answers
    Demo(demo::Args),
    /// Run a command line of the VS Terrain Utility, as it is
    Vstu(vstu::Args),
    /// Print what completes commands, options and files in a shell
    Completions(completions::Args),
    /// Print the manual page, or write those of all commands
    Man(help::Manual),
}

const VERSION: &str = if cfg!(feature = "gpu") {
    concat!(env!("CARGO_PKG_VERSION"), " (image format 2, gpu yes)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (image format 2, gpu no)")
};
const _: () = assert!(hardpan::format::VERSION == 2, "the format that --version names");
const EXITS: &str = "\
More about one of them: hardpan COMMAND --help

Exit codes: 0 fine; 1 a check failed or images differ; 2 bad input or usage, or a damaged image (verify: 1).
Beyond the input: 3 not supported; 4 the machine refused disk, permission, threads or memory; 130 interrupted.";
pub fn main() -> ExitCode {
    // first, since whatever follows may find no memory
    signals::abort_by(4);
    // no backtrace, which takes memory: where there is none the standard library waits for itself, and where a thread begins so do all
    panic::set_hook(Box::new(|panic| drop(writeln!(io::stderr(), "{panic}"))));
    quiet_drivers();
    signals::end_by(output::interrupted);
    signals::outlive_limits();
    if let [_, one, other] = &env::args_os().collect::<Vec<_>>()[..]
        && [one, other].contains(&&"--verbose".into())
        && [one, other].iter().any(|a| *a == "--version" || *a == "-V")
    {
        return backend::version();
    }
    let typed = help::cli().try_get_matches_from(vstu::dashed(env::args_os().map(query::shield).collect()));
    let typed = match typed.map_err(|e| (help::slip(&e), e)) {
        Ok(typed) => typed,
        Err((Some(failure), _)) => return failed(&failure),
        Err((None, e)) => return help::tell(&help::plain(e)),
    };
    let command = match Cli::from_arg_matches(&typed) {
        Ok(cli) => cli.command,
        Err(e) => return help::tell(&e),
    };
    let out = &mut io::BufWriter::with_capacity(1 << 16, Stdout::open());
    let done = command.threads().map_or(Ok(()), threads).and_then(|()| run(command, out));
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = out.flush();
            failed(&failure)
        }
    }
}

fn run(command: Command, out: &mut impl Write) -> Done {
    match command {
        Command::Build(args) => par::build(args, out),
        Command::Merge(args) => merge::run(&args, out),
        Command::Rebuild(args) => rebuild::run(&args, out),
        Command::Materials(args) => materials::run(&args, out),
        Command::Grid(args) => grid::run(&args, out),
        Command::Info(args) => info::run(&args, out),
        Command::Query(args) => query::run(&args, out),
        Command::Sensor(args) => sensor::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Verify(args) => verify::run(&args, out),
        Command::Bench(args) => bench::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Vstu(args) => vstu::run(&args, out),
        Command::Completions(args) => completions::run(&args, out),
        Command::Man(args) => help::manual(&args, out),
    }
}

/// Names a folder of sessions where the system names none: libraries of graphics drivers print an error of their own otherwise.
/// Nothing lies in it, as nothing would without it.
#[allow(unsafe_code)]
fn quiet_drivers() {
    let name = "XDG_RUNTIME_DIR";
    if cfg!(target_os = "linux") && env::var_os(name).is_none() {
        // SAFETY: no other thread has begun, so none reads the environment.
        unsafe { env::set_var(name, "/dev/null") };
    }
}

impl Command {
    /// How many threads share its work, 0 for as many as the environment says or the machine has; of those that answer at once none do.
    fn threads(&self) -> Option<usize> {
        match self {
            Command::Info(_) | Command::Query(_) | Command::Sensor(_) | Command::Completions(_) | Command::Man(_) => {
                None
            }
            Command::Build(args) => Some(args.threads.count()),
            Command::Merge(args) => Some(args.threads()),
            Command::Rebuild(args) => Some(args.threads()),
            Command::Grid(args) => Some(args.threads.count()),
            Command::Check(args) => Some(args.threads.count()),
            Command::Verify(args) => Some(args.threads.count()),
            _ => Some(0),
        }
    }
}

/// What to type to see an image that was just made.
fn look(image: &Path) -> String {
    let image = quoted(image);
    format!("hardpan export png {image}; hardpan info {image}")
}

#[derive(clap::Args)]
struct Threads {
    /// Threads, at most four for each core [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// How many, 0 if nobody says.
    fn count(&self) -> usize {
        self.threads.unwrap_or(0).into()
    }
}

/// Most threads for each core: thousands take half a minute to begin, and help nobody.
const MOST_THREADS: usize = 4;

/// Begins so many threads: one that is refused later is a panic.
fn threads(count: usize) -> Done {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let by_environment = || env::var("RAYON_NUM_THREADS").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    // with 0 the library of threads would read more of the environment
    let count = [count, by_environment(), cores].into_iter().find(|n| *n > 0).unwrap_or(1);
    let begun = rayon::ThreadPoolBuilder::new().num_threads(count.min(MOST_THREADS * cores)).build_global();
    begun.map_err(|e| Failure::Machine(format!("no threads to work with: {e}; see: ulimit -a")))
}

fn failed(failure: &Failure) -> ExitCode {
    if !matches!(failure, Failure::Different) {
        let _ = writeln!(io::stderr(), "error: {}", clean(failure));
    }
    ExitCode::from(failure.code())
}

/// Why a command stops: file, cause and what to type, in one line, or with a line for each of many causes.
#[derive(Debug)]
pub enum Failure {
    /// An image or an answer is not as it should be.
    Check(String),
    /// Two images differ, and all about it is said.
    Different,
    /// The user's file or words.
    Input(String),
    /// The same of an image that is not as it was written; to who asked whether it is, [`Failure::checked`].
    Damaged(String),
    /// Something that Hardpan does not do, with the way round.
    Unsupported(String),
    /// Disk, permission, memory.
    Machine(String),
    /// Nobody reads the output any more.
    ClosedPipe,
}

impl Failure {
    pub fn check(place: &Path, text: impl Display) -> Self {
        Self::Check(format!("{}: {text}", named(place)))
    }

    pub fn input(place: &Path, text: impl Display) -> Self {
        Self::Input(format!("{}: {text}", named(place)))
    }

    /// What fails where nothing else was asked than whether the image is whole.
    pub fn checked(self) -> Self {
        match self {
            Self::Damaged(text) => Self::Check(text),
            other => other,
        }
    }

    fn damaged(place: &Path, text: impl Display) -> Self {
        Self::Damaged(format!("{}: {text}", named(place)))
    }

    pub fn unsupported(place: &Path, text: impl Display) -> Self {
        Self::Unsupported(format!("{}: {text}", named(place)))
    }

    pub fn io(place: &Path, error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => ImportError::io(place, &error).into(),
        }
    }

    /// What the system says about a file that is to be written.
    pub fn write(place: &Path, error: io::Error) -> Self {
        WriteError::new(place, error).into()
    }

    /// What an image that cannot be opened says about its file.
    pub fn open(place: &Path, error: OpenError) -> Self {
        match error {
            OpenError::NotAnImage if has_extension(place, "vsterrain") => match import::check(place) {
                Err(e) => e.into(),
                Ok(_) => {
                    Self::input(place, "this is a mesh under the name of a terrain; to make one: hardpan build FILE")
                }
            },
            OpenError::NotAnImage => {
                Self::input(place, "this is not a terrain image; to make one: hardpan build FILE.obj")
            }
            OpenError::Blank => {
                Self::damaged(place, "blank memory: no image was written here; copy or build the image again")
            }
            OpenError::TooNew => Self::unsupported(
                place,
                "the image needs a newer hardpan; update it, or build the image again with this one",
            ),
            OpenError::NotUnderstood(_) => {
                Self::unsupported(place, format!("{error}; update hardpan, or build the image again with this one"))
            }
            OpenError::TooOld(_) => Self::unsupported(place, format!("{error}: hardpan build FILE.obj")),
            error => Self::damaged(
                place,
                format!("{error}; copy the image again, or build it again: hardpan build FILE.obj"),
            ),
        }
    }

    pub fn build(place: &Path, error: BuildError) -> Self {
        if let BuildError::Limit(crate::build::error::Limit::Squares { .. }) = error {
            return Self::Machine(format!("{}: {error}", named(place)));
        }
        Self::input(place, format!("{error}{}", options_of(&error)))
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Check(_) | Self::Different => 1,
            Self::Input(_) | Self::Damaged(_) => 2,
            Self::Unsupported(_) => 3,
            Self::Machine(_) => 4,
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Check(t) | Self::Input(t) | Self::Damaged(t) | Self::Unsupported(t) | Self::Machine(t) => {
                f.write_str(t)
            }
            Self::Different => f.write_str("different"),
            Self::ClosedPipe => f.write_str("closed pipe"),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let text = format!("{error}{}", error.next.map(|next| typed(next, &error.file)).unwrap_or_default());
        match error.kind {
            ImportErrorKind::Input => Self::Input(text),
            ImportErrorKind::Unsupported => Self::Unsupported(text),
            ImportErrorKind::Machine => Self::Machine(text),
        }
    }
}

/// Errors of stdout; files go through [`Failure::io`] and [`Failure::write`].
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.get_ref().is_some_and(|e| e.is::<stdout::Closed>()) {
            return Self::Machine(error.to_string());
        }
        Self::write(Path::new("output"), error)
    }
}

impl From<png::EncodingError> for Failure {
    fn from(error: png::EncodingError) -> Self {
        Self::Machine(format!("picture: {error}"))
    }
}

type Done<T = ()> = Result<T, Failure>;

/// The settings, with what names and what writes them, for hints to who may have some or none yet.
const SETTINGS: &str = "the settings (--settings FILE.toml, which hardpan materials FILES -o FILE.toml writes)";

/// What to type against an error of a build, to stand behind it.
fn options_of(error: &BuildError) -> String {
    use crate::build::error::Limit::*;
    use crate::build::error::NoSample::*;
    match error {
        BuildError::Limit(
            Attributes { tile_log2: Some(_), .. } | TileBytes { .. } | SmallTiles { larger: Some(_), .. },
        ) => " (--tile)".into(),
        BuildError::Limit(Far) => " (--translate x,y,z)".into(),
        BuildError::Limit(Split { split, .. }) if split.preset().is_some() => {
            format!(": without --preset [build.split] of {SETTINGS} holds")
        }
        BuildError::Cost { enough: MaxCost { tests, lines }, .. } => {
            let lines = lines.map(|lines| format!(",{lines}")).unwrap_or_default();
            format!(" (--max-cost {tests}{lines})")
        }
        BuildError::OutsideDomain { holds, .. } => {
            let origin = holds.map(|[x, y, z]| format!(" {x},{y},{z}")).unwrap_or_default();
            format!(
                "\noptions: --unit, --scale, --translate, --origin{origin}, --drop-outliers; the rest stands in {SETTINGS}"
            )
        }
        BuildError::Sample(FacesOfFields) => "; take heights not above Z: --rule highest-below=Z".into(),
        BuildError::Sample(SquaresOfFields) => "; take a rule of centres, such as --rule highest".into(),
        BuildError::Sample(OracleOfFields) => "; leave --oracle out".into(),
        BuildError::Sample(OracleOfSquares) => "; leave --oracle out, or take another rule".into(),
        BuildError::Materials(_) => "; say which: --raster-material NAME".into(),
        _ => String::new(),
    }
}

/// What to type when the hint of an error of this file has been followed, to stand behind it.
fn typed(next: Next, file: &Path) -> String {
    let file = quoted(file);
    match next {
        Next::BuildUpY => ", then: hardpan build FILE.obj, with --up y after assimp".into(),
        Next::BuildUp => ", then: hardpan build FILE.obj, with --up y or z as it lies".into(),
        Next::BuildMillimetres => ", then: hardpan build FILE.obj --unit mm".into(),
        Next::BuildPar => ": hardpan build FILE.par".into(),
        Next::BuildBy => format!(": hardpan build --settings {file}"),
        Next::BuildMeshBy => format!(": hardpan build MESH.obj --settings {file}"),
        Next::Look => format!(": hardpan info {file}"),
        Next::QueryAlong => ": hardpan query IMAGE.hpan --along FILE.csv".into(),
        Next::Settings => format!(" of {SETTINGS}"),
        Next::Build => ", then: hardpan build FILE.obj".into(),
    }
}

/// What people should know of files that were read, and how to say what they do not.
fn notes(report: &ImportReport) -> Vec<String> {
    let keys = match report.files.len() {
        1 => "--up and --unit".into(),
        _ => format!("up and unit in its [[source]] of {SETTINGS}"),
    };
    let assumed = report.assumptions().into_iter().map(|text| format!("{text}: {keys} say otherwise"));
    assumed.chain(report.notes()).collect()
}

/// Lines for a terminal.
fn clean(text: impl Display) -> String {
    text.to_string().split('\n').map(shown).collect::<Vec<_>>().join("\n")
}

fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "note: {}", clean(text));
}

fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "warning: {}", clean(text));
}

/// Maps an image file, or reads what is none; [`terrain`] then opens it.
fn load(path: &Path) -> Done<ImageFile> {
    let data = fs::metadata(path).map_err(|e| match path == Path::new("-") {
        true => Failure::input(path, "there is no file of this name; an image that comes through a pipe is /dev/stdin"),
        false => {
            let image = path.with_extension("hpan");
            let meant = path.extension().is_none() && image.is_file();
            let hint = format!("check the spelling (did you mean {:?}?)", file_name(&image));
            if meant {
                Failure::input(path, format!("there is no such file or folder; {hint}"))
            } else {
                Failure::io(path, e)
            }
        }
    })?;
    if data.is_dir() {
        return Err(Failure::input(path, "this is a folder; name an image in it"));
    }
    ImageFile::open(path).map_err(|e| Failure::io(path, e))
}

/// Checks all of the image once: what follows may trust every answer.
fn terrain<'a>(path: &Path, image: &'a [u8]) -> Done<Terrain<'a>> {
    Terrain::open_verified(image).map_err(|e| unopened(path, image, e))
}

/// Proves all that an image claims, as `hardpan verify` does: its counts and bounds, too, which say how much work follows.
fn proven<'a>(path: &Path, image: &'a [u8]) -> Done<Terrain<'a>> {
    let terrain = terrain(path, image)?;
    let verdict =
        crate::verify::verify(image, &crate::verify::Verify::default()).map_err(|e| unopened(path, image, e))?;
    match verdict.failed().filter(|_| !verify::unproven(&verdict)) {
        None => Ok(terrain),
        Some(check) => {
            let again = "copy the image again, or build it again: hardpan build FILE.obj";
            Err(Failure::damaged(path, format!("{}; {again}", verify::first_fault(check))))
        }
    }
}

/// What bytes that cannot be opened say about their file.
fn unopened(path: &Path, image: &[u8], error: OpenError) -> Failure {
    if !image.starts_with(&MAGIC) {
        let begins = |at: &usize| image.get(*at..).is_some_and(|rest| rest.starts_with(&MAGIC));
        if let Some(at) = (64..4096).step_by(64).find(begins) {
            let cut = format!("tail -c +{} {} > image.hpan", at + 1, quoted(path));
            return Failure::input(
                path,
                format!("an image begins at byte {at}, not at the first; to cut it out: {cut}"),
            );
        }
    }
    match error {
        // what is cut short within its first bytes, or before them, may have been one
        OpenError::Truncated if !image.starts_with(&MAGIC) && !MAGIC.starts_with(image) => {
            Failure::open(path, OpenError::NotAnImage)
        }
        OpenError::Content(_)
            if let Some(erased) = Terrain::open(image).ok().and_then(|t| crate::verify::erased(&t)) =>
        {
            Failure::damaged(path, format!("{erased}; write it again"))
        }
        OpenError::Content(e) => {
            let again = "copy the image again, or build it again: hardpan build FILE.obj";
            Failure::damaged(path, format!("{}; {again}", damaged(image).unwrap_or_else(|| fault(e))))
        }
        error => Failure::open(path, error),
    }
}

/// Says which sections are damaged, if several are.
fn damaged(image: &[u8]) -> Option<String> {
    let mut verifier = Terrain::open(image).ok()?.verifier();
    _ = verifier.step(0, &mut []);
    let kinds = (0..32).filter(|k| verifier.damaged_sections() >> k & 1 == 1);
    let names: Vec<&str> = kinds.map(section_name).collect();
    (names.len() > 1).then(|| format!("sections {} are damaged (their checksums differ)", names.join(", ")))
}

/// Whether a name ends in `.` and this, in capitals or not.
fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(wanted))
}

/// Whether two names are of one file that is there.
fn same(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}
