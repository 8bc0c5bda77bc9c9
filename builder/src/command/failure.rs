//! Why a command ends without success: the message, the hint and the exit code.

use super::paths::has_extension;
use super::words::clean;
use crate::build::error::BuildError;
use crate::import;
use crate::import::{ImportError, ImportErrorKind, Next};
use crate::options::MaxCost;
use crate::util::files::WriteError;
use crate::util::text::{named, quoted};
use hardpan::OpenError;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{fmt, io};

/// Result of a command.
pub(super) type Done<T = ()> = Result<T, Failure>;

pub(super) fn failed(failure: &Failure) -> ExitCode {
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

    /// A failure of a command that only checks an image.
    pub fn checked(self) -> Self {
        match self {
            Self::Damaged(text) => Self::Check(text),
            other => other,
        }
    }

    pub(super) fn damaged(place: &Path, text: impl Display) -> Self {
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

    /// An error of the system about a file to be written.
    pub fn write(place: &Path, error: io::Error) -> Self {
        WriteError::new(place, error).into()
    }

    /// An error of an image that cannot be opened, with its file.
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
        if error.get_ref().is_some_and(|e| e.is::<super::stdout::Closed>()) {
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

/// The settings, with what names and what writes them, for hints to who may have some or none yet.
pub(super) const SETTINGS: &str =
    "the settings (--settings FILE.toml, which hardpan materials FILES -o FILE.toml writes)";

/// The options that help against an error of a build.
pub(super) fn options_of(error: &BuildError) -> String {
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
        BuildError::Sample(FacesOfFields | FacesOfPrecedence) => {
            "; take heights not above Z: --rule highest-below=Z".into()
        }
        BuildError::Sample(SquaresOfFields | SquaresOfPrecedence) => {
            "; take a rule of centres, such as --rule highest".into()
        }
        BuildError::Sample(OracleOfFields | OracleOfPrecedence) => "; leave --oracle out".into(),
        BuildError::Sample(OracleOfSquares) => "; leave --oracle out, or take another rule".into(),
        BuildError::Materials(_) => "; say which: --raster-material NAME".into(),
        BuildError::Fit(unfit) => {
            let [size, error] = unfit.instead();
            let flags = [("--fit", size), ("--max-error", error)];
            let flags = flags.into_iter().filter_map(|(flag, value)| Some(format!("{flag} {}", value?)));
            let flags = flags.collect::<Vec<_>>().join(" or ");
            if flags.is_empty() { flags } else { format!("; give {flags}") }
        }
        _ => String::new(),
    }
}

/// The line to type after the hint of an error of this file.
pub(super) fn typed(next: Next, file: &Path) -> String {
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
