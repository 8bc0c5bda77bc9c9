//! Why a file cannot be read.

use super::{file_name, files_in};
use crate::util::text::{named, quoted, suggestion};
use std::{
    fmt,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

/// Why a file cannot be read: where, what is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportError {
    /// Who can help.
    pub kind: ImportErrorKind,
    /// The file.
    pub file: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// The cause.
    pub cause: String,
    /// The remedy.
    pub hint: String,
    /// The next step, for a program to word.
    pub next: Option<Next>,
}

/// The step after a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Build the mesh that there is then.
    Build,
    /// The same; it has y up.
    BuildUpY,
    /// The same; nobody knows whether y or z is up.
    BuildUp,
    /// The same, in millimetres.
    BuildMillimetres,
    /// Build the parsfile of one terrain.
    BuildPar,
    /// Build by this file as settings.
    BuildBy,
    /// Build a mesh by this file as settings.
    BuildMeshBy,
    /// Look into this image.
    Look,
    /// Ask an image for the ground along a drive.
    QueryAlong,
    /// Write that in the settings.
    Settings,
}

/// Who can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportErrorKind {
    /// The file is not as it should be.
    Input,
    /// The file may be fine, but nothing here reads it; the hint is a way round.
    Unsupported,
    /// Disk, permission, memory.
    Machine,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of text; the first is 1.
    Line(u64),
    /// A byte; the first is 0.
    Byte(u64),
}

impl ImportError {
    /// An error of a whole file.
    pub(crate) fn new(
        kind: ImportErrorKind,
        file: &Path,
        cause: impl Into<String>,
        hint: impl Into<String>,
    ) -> ImportError {
        ImportError { kind, file: file.into(), place: Place::File, cause: cause.into(), hint: hint.into(), next: None }
    }

    /// A file that is not as it should be.
    pub(crate) fn input(file: &Path, cause: impl Into<String>, hint: impl Into<String>) -> ImportError {
        Self::new(ImportErrorKind::Input, file, cause, hint)
    }

    /// An error of the system about a file.
    pub fn io(file: &Path, error: &io::Error) -> ImportError {
        use ImportErrorKind::{Input, Machine};
        let (kind, cause, hint) = match error.kind() {
            ErrorKind::InvalidData => (Input, error.to_string(), "save it as UTF-8".into()),
            ErrorKind::NotFound => {
                let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
                let (name, there) = (file_name(file), files_in(folder));
                // a link may lead nowhere
                let others = there.iter().map(String::as_str).filter(|other| *other != name);
                let hint = format!("check the spelling{}", suggestion(&name, others));
                (Input, "there is no such file or folder".into(), hint)
            }
            ErrorKind::IsADirectory => (Input, "this is a folder".into(), "name a file in it".into()),
            ErrorKind::NotADirectory => {
                (Input, "a part of this path is not a folder".into(), "check the spelling".into())
            }
            ErrorKind::PermissionDenied => {
                (Machine, "permission denied".into(), format!("check with: ls -l {}", quoted(file)))
            }
            ErrorKind::OutOfMemory => {
                (Machine, "there is not enough memory for it".into(), "free some, or look at: ulimit -v".into())
            }
            _ => (Machine, error.to_string(), "try again, or with a copy on another disk".into()),
        };
        Self::new(kind, file, cause, hint)
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", named(&self.file))?;
        match self.place {
            Place::File => {}
            Place::Line(n) => write!(f, "line {n}: ")?,
            Place::Byte(n) => write!(f, "byte {n}: ")?,
        }
        write!(f, "{}; {}", self.cause, self.hint)
    }
}

impl std::error::Error for ImportError {}
