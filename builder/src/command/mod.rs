//! What is typed, what is printed, and the exit codes.
//!
//! Facts go to stdout; warnings and errors go to stderr. A reader that closes the pipe ends the program quietly.

mod bench;
mod build;
mod canvas;
mod demo;
mod diff;
mod drive;
mod export;
mod gaps;
mod help;
mod holes;
mod info;
mod lie;
mod lines;
mod maps;
mod materials;
mod picture;
mod plot;
mod progress;
mod query;
mod relief;
mod report;
mod transform;
mod verify;

use std::{
    env,
    ffi::OsString,
    fmt::{self, Display},
    fs,
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::{self, ExitCode},
    sync::{Mutex, MutexGuard, PoisonError},
};

use self::canvas::SIGNED;
use clap::{FromArgMatches, Parser, Subcommand};
use hardpan::{OpenError, Terrain, format::MAGIC};
use hardpan_builder::{
    BuildError, Image, ImageFile, Verify,
    import::{ImportError, ImportErrorKind},
    names::{costs, counted, cut, decimal, few, grouped, named, quoted, shown, width},
};

#[derive(Parser)]
#[command(name = "hardpan", version = VERSION, about = "What is the ground here? Terrain images for vehicles and controllers", after_help = EXITS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a terrain image from a mesh
    Build(build::Args),
    /// List the materials of a source or an image, or write them as a settings file to edit
    Materials(materials::Args),
    /// Show contents, extents, bounds, materials and hashes of an image
    Info(info::Args),
    /// Ask an image for the ground at points
    Query(query::Args),
    /// Write what the kernel sees: an OBJ that builds the same image again, or maps as PNG
    Export(export::Args),
    /// Compare two images: bytes, facts, heights and materials
    Diff(diff::Args),
    /// Prove what an image claims: sums, structure, costs, that no place is missed; --against its source
    Verify(verify::Args),
    /// Time queries beside the bound that an image states
    Bench(bench::Args),
    /// Build a small proving ground, drive over it and draw it, into ./hardpan-demo; --fixture: small images of known answers
    Demo(demo::Args),
    /// Print what completes commands and options in a shell
    Completions(help::Completions),
    /// Print the manual page, or write those of all commands
    Man(help::Manual),
}

const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (image format 1, gpu no)");
const EXITS: &str = "\
All about one of them: hardpan COMMAND --help
Exit codes: 0 fine, 1 a check failed, 2 bad input or usage, 3 not supported, 4 the machine refused, 130 interrupted";
/// [`NewFile`]s that have not taken their places yet.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Files that this run writes.
static CHECKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

pub fn main() -> ExitCode {
    // where signals are ignored, as with nohup, they stay so
    let _ = ctrlc::try_set_handler(|| {
        let files = temporary_files();
        files.iter().for_each(|file| drop(fs::remove_file(file)));
        process::exit(130) // before another file begins
    });
    let typed = help::cli().get_matches_from(env::args_os().map(query::shield));
    let command = Cli::from_arg_matches(&typed).unwrap_or_else(|e| e.exit()).command;
    let out = &mut io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let done = match command {
        Command::Build(args) => build::run(&args, out),
        Command::Materials(args) => materials::run(&args, out),
        Command::Info(args) => info::run(&args, out),
        Command::Query(args) => query::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Verify(args) => verify::run(&args, out),
        Command::Bench(args) => bench::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Completions(args) => help::completions(&args, out),
        Command::Man(args) => help::manual(&args, out),
    };
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = out.flush();
            if matches!(failure, Failure::Different) {
                return ExitCode::from(failure.code());
            }
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::from(failure.code())
        }
    }
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
        use ErrorKind::{FileTooLarge, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        if let Some(folder) =
            place.parent().filter(|f| *f != "" && error.kind() == NotFound && fs::symlink_metadata(f).is_err())
        {
            let cause = format!("there is no folder {}; to make it: mkdir -p {}", named(folder), quoted(folder));
            return Self::input(place, cause);
        }
        let cause = match error.kind() {
            StorageFull | QuotaExceeded => "the disk is full; free some space, or name a file on another one",
            FileTooLarge => "files may not be so large here; name one on another disk, or look at: ulimit -f",
            PermissionDenied => "no file may be written here; name one where you may write, or check with: ls -ld .",
            ReadOnlyFilesystem => "this disk may only be read; name a file on another one",
            _ => return Self::io(place, error),
        };
        Self::Machine(format!("{}: {cause}", named(place)))
    }

    /// What an image that cannot be opened says about its file.
    pub fn open(place: &Path, error: OpenError) -> Self {
        match error {
            OpenError::NotAnImage => {
                Self::input(place, "this is not a terrain image; to make one: hardpan build FILE.obj")
            }
            OpenError::Blank => {
                Self::check(place, "blank memory: no image was written here; copy or build the image again")
            }
            OpenError::TooNew => Self::unsupported(
                place,
                "the image needs a newer hardpan; update it, or build the image again with this one",
            ),
            error => {
                Self::check(place, format!("{error}; copy the image again, or build it again: hardpan build FILE.obj"))
            }
        }
    }

    pub fn build(place: &Path, error: BuildError) -> Self {
        let advice = match &error {
            BuildError::Limit(text) if text.contains("smaller tiles") => " (--tile 18, or less)",
            BuildError::Limit(text) if text.contains("larger tiles") => " (--tile 22, or more)",
            BuildError::Limit(text) if text.contains("move it") => " (--translate x,y,z)",
            BuildError::OutsideDomain { .. } => "\noptions: --unit, --scale, --translate, --origin, --drop-outliers",
            _ => "",
        };
        Self::input(place, format!("{error}{advice}"))
    }

    pub fn code(&self) -> u8 {
        match self {
            Self::ClosedPipe => 0,
            Self::Check(_) | Self::Different => 1,
            Self::Input(_) => 2,
            Self::Unsupported(_) => 3,
            Self::Machine(_) => 4,
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Check(t) | Self::Input(t) | Self::Unsupported(t) | Self::Machine(t) => f.write_str(t),
            Self::Different => f.write_str("different"),
            Self::ClosedPipe => f.write_str("closed pipe"),
        }
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let text = error.to_string();
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
        Self::write(Path::new("output"), error)
    }
}

type Done<T = ()> = Result<T, Failure>;

fn note(text: impl Display) {
    let _ = writeln!(io::stderr(), "note: {text}");
}

fn warn(text: impl Display) {
    let _ = writeln!(io::stderr(), "warning: {text}");
}

/// Maps an image file, or reads what is none; [`terrain`] then opens it.
fn load(path: &Path) -> Done<ImageFile> {
    if fs::metadata(path).map_err(|e| Failure::io(path, e))?.is_dir() {
        return Err(Failure::input(path, "this is a folder; name an image in it"));
    }
    ImageFile::open(path).map_err(|e| Failure::io(path, e))
}

/// Checks all of the image once: what follows may trust every answer.
fn terrain<'a>(path: &Path, image: &'a [u8]) -> Done<Terrain<'a>> {
    Terrain::open_verified(image).map_err(|e| unopened(path, image, e))
}

/// What bytes that cannot be opened say about their file.
fn unopened(path: &Path, image: &[u8], error: OpenError) -> Failure {
    match error {
        OpenError::Truncated if !image.starts_with(&MAGIC) => Failure::open(path, OpenError::NotAnImage),
        error => Failure::open(path, error),
    }
}

/// Whether a name ends in `.` and this, in capitals or not.
fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(wanted))
}

/// Whether two names are of one file that is there.
fn same(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether two new files would be one.
fn one_place(a: &Path, b: &Path) -> bool {
    end_of(a).is_some_and(|a| Some(a) == end_of(b))
}

/// Where a new file comes to lie, beyond links: its folder and name. None if there is no such folder.
fn end_of(place: &Path) -> Option<(PathBuf, OsString)> {
    let end = behind_links(place);
    let folder = end.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((fs::canonicalize(folder).ok()?, end.file_name()?.to_owned()))
}

/// Makes a folder, and those that it lies in; `hint` says what to do where it is a file.
fn make_folder(folder: &Path, hint: &str) -> Done {
    fs::create_dir_all(folder).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            Failure::input(folder, format!("this, or a part of its path, is a file; {hint}"))
        }
        _ => Failure::write(folder, e),
    })
}

/// What a new file may replace.
enum Replace<'a> {
    /// Any file.
    Any,
    /// A file that has these bytes from such a one on, which is such a thing.
    Only(u64, &'a [u8], &'a str),
    /// A file of these bytes.
    Same(&'a [u8]),
    /// None.
    None,
}

impl Replace<'_> {
    /// What a build may replace.
    const IMAGE: Self = Replace::Only(0, &MAGIC, "a terrain image");
    /// What a picture may replace.
    const PICTURE: Self = Replace::Only(SIGNED.0, SIGNED.1, "a picture by hardpan");

    /// Any file, if the user says so.
    fn or_any(self, force: bool) -> Self {
        if force { Replace::Any } else { self }
    }

    /// Stops if a file cannot be written here, or may not, or would be one with another one that this run writes. Once for each.
    fn check(self, place: &Path) -> Done {
        match fs::metadata(place) {
            Ok(data) if data.is_dir() => return Err(Failure::input(place, "this is a folder; name a file in it")),
            Ok(data) if !data.is_file() => {
                return Err(Failure::input(place, "this is a device or a pipe; name a file"));
            }
            Ok(data) if data.permissions().readonly() && !matches!(self, Replace::Any) => {
                let cause = "the file here may only be read; name another one, or to replace it add --force";
                return Err(Failure::Machine(format!("{}: {cause}", named(place))));
            }
            Ok(_) => {
                let mut start = Vec::new();
                let cause = match self {
                    Replace::Any => None,
                    Replace::None => Some("there is a file here already".into()),
                    Replace::Same(bytes) => {
                        let there = fs::read(place).map_err(|e| Failure::io(place, e))?;
                        (there != bytes).then(|| "there is another file here already".into())
                    }
                    Replace::Only(at, magic, what) => {
                        let mut file = fs::File::open(place).map_err(|e| Failure::io(place, e))?;
                        file.seek(SeekFrom::Start(at))
                            .and_then(|_| file.take(magic.len() as u64).read_to_end(&mut start))
                            .map_err(|e| Failure::io(place, e))?;
                        (start != magic).then(|| format!("there is a file here that is not {what}"))
                    }
                };
                if let Some(cause) = cause {
                    return Err(Failure::input(place, format!("{cause}; to replace it add --force")));
                }
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(Failure::io(place, e)),
        }
        // a place that cannot be written to is better known now
        NewFile::write(place, b"")?;
        let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = checked.iter().find(|other| one_place(place, other)) {
            let text = format!("this and {} would be one file; name another one", named(other));
            return Err(Failure::input(place, text));
        }
        checked.push(place.to_owned());
        Ok(())
    }
}

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that appears whole or not at all: written beside its place as `.NAME.PROCESS-NUMBER.tmp`, then renamed. What
/// stops the program takes it away; where nothing could, as when the power goes, it lies there and hinders nobody.
/// A link is followed: what it leads to is written.
struct NewFile<'a> {
    place: &'a Path,
    /// Where the file lies in the end, beyond links.
    end: PathBuf,
    temporary: PathBuf,
}

impl<'a> NewFile<'a> {
    fn write(place: &'a Path, bytes: &[u8]) -> Done<Self> {
        let (new, mut file) = Self::create(place)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|e| Failure::write(place, e))?;
        Ok(new)
    }

    /// An empty file, to be written and synced before it is kept.
    fn create(place: &'a Path) -> Done<(Self, fs::File)> {
        let end = behind_links(place);
        let name = end.file_name().ok_or_else(|| Failure::input(place, "this is no file name; name one"))?;
        let mut number = 0u32;
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{number}.tmp", process::id()));
            let temporary = end.with_file_name(hidden);
            let mut all = temporary_files();
            match fs::File::create_new(&temporary) {
                Ok(file) => {
                    all.push(temporary.clone());
                    return Ok((NewFile { place, end, temporary }, file));
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(e) => return Err(Failure::write(place, e)),
            }
        }
    }

    fn keep(self) -> Done {
        // an interruption comes before or after
        let _all = temporary_files();
        fs::rename(&self.temporary, &self.end).map_err(|e| Failure::write(self.place, e))
    }
}

impl Drop for NewFile<'_> {
    /// Nothing is left behind when a check fails; after `keep` there is nothing to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        temporary_files().retain(|file| *file != self.temporary);
    }
}

/// Where a chain of links leads to, whether or not there is a file; the last of very many, as where they go in a circle.
fn behind_links(place: &Path) -> PathBuf {
    let mut at = place.to_owned();
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&at) else { break };
        at = at.parent().unwrap_or(Path::new("")).join(to);
    }
    at
}

/// Writes an image: to a temporary file, read back and proven, then renamed.
fn write_image(place: &Path, image: &Image) -> Done {
    let new = NewFile::write(place, image)?;
    {
        let read = ImageFile::open(&new.temporary).map_err(|e| Failure::io(place, e))?;
        let verdict = hardpan_builder::verify(&read, &Verify::default()).map_err(|e| unopened(place, &read, e))?;
        if read[..] != image[..] {
            return Err(Failure::Machine(format!(
                "{}: the disk gave back other bytes than were written; choose another place with -o",
                named(place)
            )));
        }
        if let Some(check) = verdict.failed() {
            let text = format!(
                "{}; nothing was written; unless that says what to do it is a fault of hardpan, not of the mesh: please report it",
                verify::first_fault(check)
            );
            return Err(Failure::check(place, text));
        }
    }
    new.keep()
}

/// A name of so many letters at most.
fn brief(name: &str, most: usize) -> String {
    let name = shown(name);
    if name.chars().count() <= most { name } else { name.chars().take(most - 3).chain("...".chars()).collect() }
}
