//! Tables of numbers as text, CSV and its like: points, references and drives, read line by line.

mod drive;
mod layout;
mod lines;
mod passed;
mod points;

use std::{fmt, io, path::PathBuf};

pub use self::{
    drive::{Drive, Stop},
    lines::{meant, unquoted},
    passed::Passed,
    points::{POINT, Points, Row, point},
};
use crate::util::text::{counted, grouped, named};

/// Why a table cannot be read.
#[derive(Debug)]
pub struct TableError {
    /// The file; `-` is stdin.
    pub file: PathBuf,
    /// The line, from 1; 0 is the file as a whole.
    pub line: u64,
    /// The field of the line, from 1; 0 is the line as a whole.
    pub column: usize,
    pub cause: Cause,
}

/// The fault of a table, a line or a field.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// An error of the system.
    Io(io::Error),
    /// A line of more than 1 MiB.
    Long,
    /// Bytes that are no UTF-8.
    Encoding,
    /// A quote that its line does not close.
    Quote,
    /// A field that is no number.
    Number(String),
    /// A heading that lacks these columns, and what a line looks like.
    Heading { heading: String, lacks: Vec<&'static str>, form: &'static str },
    /// Places by these columns, which are degrees, and no x and y.
    Degrees([String; 2]),
    /// Two columns of one meaning.
    Twice(&'static str),
    /// A column in a unit that is not converted.
    Unit { name: &'static str, unit: String, wanted: &'static str },
    /// A line with more fields than columns, or cut off.
    Width { fields: usize, columns: usize, form: &'static str },
    /// A line without a field that is needed.
    Missing { name: &'static str, form: &'static str },
    /// A length below zero.
    Length(f64),
    /// Two columns that would have one name beside the answers.
    SameName { columns: [usize; 2], name: String },
    /// A time before that of the line before.
    Back { before: f64, now: f64 },
    /// A place too far away to drive to.
    TooFar,
    /// A line that names no wheel, or does so alone.
    Wheel,
    /// There is no line of numbers.
    Empty(&'static str),
    /// A word that is no command.
    Command(String),
    /// An invalid number of iterations.
    Iterations(String),
    /// A command that comes after points that were asked once.
    Late,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", named(&self.file))?;
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        At(self.column, &self.cause).fmt(f)
    }
}

impl std::error::Error for TableError {}

/// The fault, and the field that has it.
#[derive(Debug)]
pub struct At<C = Cause>(usize, C);

impl From<Cause> for At {
    fn from(cause: Cause) -> Self {
        At(0, cause)
    }
}

impl<C: fmt::Display> fmt::Display for At<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.1.fmt(f)?;
        if self.0 > 0 { write!(f, " (field {})", self.0) } else { Ok(()) }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::Long => f.write_str("longer than 1 MiB; write a line for each point"),
            Self::Encoding => f.write_str("not UTF-8 text; save it as UTF-8"),
            Self::Quote => f.write_str("a quote is left open"),
            Self::Number(text) => write!(f, "\"{text}\" is not a number"),
            Self::Heading { heading, lacks, form } => write!(
                f,
                "the heading {heading} has no {}; {form}, with commas, semicolons or tabs between fields",
                lacks.join(" and no ")
            ),
            Self::Degrees([latitude, longitude]) => write!(
                f,
                "the columns {latitude} and {longitude} are degrees, and places are in metres: project them to the coordinate \
                 system of the ground, as with QGIS or cs2cs, and name the columns x and y"
            ),
            Self::Twice(name) => write!(f, "two columns are {name}"),
            Self::Unit { name, unit, wanted } => {
                write!(f, "{name} is in {unit}; convert it, and name it {name} or {name} [{wanted}]")
            }
            Self::Width { fields, columns, form } => {
                let why = if fields > columns { form } else { "a blank field keeps its separator" };
                write!(f, "{}, and {}; {why}", counted(*fields as u64, "field"), counted(*columns as u64, "column"))
            }
            Self::Missing { name, form } => write!(f, "no {name}; {form}"),
            Self::Length(length) => write!(f, "the length {length} is below zero"),
            Self::SameName { columns: [first, second], name } => write!(
                f,
                "columns {first} and {second} would both be called {name} beside the answers; rename one, or leave it out"
            ),
            Self::Back { before, now } => write!(
                f,
                "the time goes back, from {before} to {now}; sort the lines by time, and name wheels in a column wheel"
            ),
            Self::TooFar => f.write_str("too far from the place before it; places are in metres"),
            Self::Wheel => f.write_str("some lines name their wheel, and some do not; name it in each"),
            Self::Empty(form) => write!(f, "no points; {form}"),
            Self::Command(word) => write!(f, "\"{word}\" is no command; there is iterations=N"),
            Self::Iterations(value) => {
                let most = grouped(lines::MAX_ITERATIONS.into());
                write!(f, "iterations={value}: write a whole number from 1 to {most}")
            }
            Self::Late => f.write_str("iterations=N comes after the first point of a pipe; write it before"),
        }
    }
}

/// How a table was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Other separators than commas.
    Separator(char),
    /// The number of a line of units.
    Units(u64),
    /// The columns of a table without a heading.
    Columns(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Separator(c) => {
                let what = if *c == ';' { "semicolons" } else { "tabs" };
                write!(f, "read with {what} between fields, and a comma in a number, if any, as its point")
            }
            Self::Units(line) => write!(f, "line {line} has units, and is passed over"),
            Self::Columns(columns) => write!(f, "read as {columns}: a heading says otherwise"),
        }
    }
}

/// Lines of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub lines: u64,
    /// The number of the first.
    pub first: u64,
}

impl Tally {
    /// Counts a line if it is of the kind.
    pub fn count(&mut self, is: bool, line: u64) {
        self.first = if is && self.lines == 0 { line } else { self.first };
        self.lines += u64::from(is);
    }
}

/// Lines without a z.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heights {
    /// The heading has a column z.
    pub named: bool,
    pub all: Tally,
    pub without: Tally,
}

impl Heights {
    pub fn count(&mut self, z: Option<f64>, line: u64) {
        self.all.count(true, line);
        self.without.count(z.is_none(), line);
    }

    /// The lines that lack a z, although others or the heading have one.
    pub fn lacking(&self) -> Option<Tally> {
        let some = self.named || self.without.lines < self.all.lines;
        Some(self.without).filter(|without| some && without.lines > 0)
    }
}
