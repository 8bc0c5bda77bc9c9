//! Tables of points: to ask at, or with heights to hold an image against.

use std::path::Path;

use crate::image::earth::Earth;

use super::{
    At, Cause, Note, Passed, TableError,
    layout::{DEGREES, Form, Known, LATITUDE, LONGITUDE, Layout},
    lines::{Line, Lines},
};

/// Rows that are read together.
const CHUNK: usize = 1024;

/// The form of a point to ask at.
pub const POINT: &str = "a point is x,y or x,y,z or x,y,z,length";

static PLAIN: Form = POINTS;
const POINTS: Form = Form {
    known: &[
        Known::needed(&["x"]),
        Known::needed(&["y"]),
        Known::optional(&["z"], Some("m")),
        Known::optional(&["length"], Some("m")),
    ],
    bare: [4, 4],
    asked: true,
    text: POINT,
    degrees: None,
};
static ON_EARTH: Form = Form { degrees: Some(&DEGREES_POINTS), ..POINTS };
static DEGREES_POINTS: Form = Form {
    known: &[
        Known { names: &LONGITUDE, unit: Some(DEGREES), needed: true },
        Known { names: &LATITUDE, unit: Some(DEGREES), needed: true },
        Known::optional(&["z"], Some("m")),
        Known::optional(&["length"], Some("m")),
    ],
    ..POINTS
};
static REFERENCE: Form = Form {
    known: &[Known::needed(&["x"]), Known::needed(&["y"]), Known::needed(&["z"]), Known::optional(&["mu"], Some("-"))],
    bare: [3, 4],
    asked: false,
    text: "a line is x,y,z or x,y,z,mu",
    degrees: None,
};

/// The numbers of a line: x, y, z, and length or mu. A number that is needed but blank is NaN.
pub struct Row {
    pub line: u64,
    /// How often the point is to be asked.
    pub iterations: u32,
    pub numbers: [Option<f64>; 4],
}

/// A table of points, read chunk by chunk.
pub struct Points {
    lines: Lines,
    layout: Layout,
    /// Rows of the chunk.
    pub rows: Vec<Row>,
    /// The other columns of their lines.
    pub passed: Passed,
    /// Points may be asked several times, each with its own number.
    pub timed: bool,
    /// The way from longitude and latitude to metres, if its places are in degrees.
    earth: Option<Earth>,
    /// The error of the line behind the chunk.
    failed: Option<TableError>,
}

impl Points {
    /// Points to ask at, with lines `iterations=N` between them; such a file is `timed`.
    /// Places by `lat` and `lon` are taken if there is a way to metres.
    /// `columns` are the names of its columns, if somebody says them.
    pub fn open(path: &Path, earth: Option<Earth>, columns: Option<&str>) -> Result<Self, TableError> {
        let mut points = Self::begin(path, if earth.is_some() { &ON_EARTH } else { &PLAIN }, columns)?;
        points.earth = earth.filter(|_| points.in_degrees());
        let again = || Lines::open(path, true).is_ok_and(Lines::has_iterations);
        points.timed = points.lines.iterations.is_some() || path.is_file() && again();
        Ok(points)
    }

    /// Points of another tool, with heights and perhaps friction.
    pub fn reference(path: &Path, columns: Option<&str>) -> Result<Self, TableError> {
        let mut points = Self::begin(path, &REFERENCE, columns)?;
        if points.lines.next()?.is_none() {
            return Err(points.lines.wrong_at(0, Cause::Empty(REFERENCE.text)));
        }
        points.lines.hold();
        Ok(points)
    }

    fn begin(path: &Path, form: &'static Form, columns: Option<&str>) -> Result<Self, TableError> {
        let mut lines = Lines::open(path, form.asked)?;
        let layout = match columns {
            Some(columns) => Layout::said(&mut lines, form, columns)?,
            None => Layout::read(&mut lines, form)?,
        };
        let (rows, passed) = (Vec::new(), Passed::default());
        Ok(Points { lines, layout, rows, passed, timed: false, earth: None, failed: None })
    }

    /// Whether its places are longitudes and latitudes.
    pub fn in_degrees(&self) -> bool {
        self.layout.form.known[0].unit == Some(DEGREES)
    }

    pub fn notes(&self) -> &[Note] {
        &self.lines.notes
    }

    /// Whether there is a column of this number of a [`Row`], in the heading or on the first line.
    pub fn has(&self, k: usize) -> bool {
        self.layout.places[k].is_some()
    }

    /// Where a heading has a column of this name, which is in lower case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.layout.columns.iter().position(|column| self.layout.named && column.name == name)
    }

    /// Whether a heading names such a column.
    pub fn names(&self, k: usize) -> bool {
        self.layout.named && self.has(k)
    }

    /// Passes on all columns but the first `own` of a [`Row`], beside answers of these names.
    pub fn pass(&mut self, own: usize, answers: &[impl AsRef<str>]) -> Result<(), TableError> {
        let (own, asked) = self.layout.places.split_at(own);
        let passed = Passed::new(&self.layout.columns, own, asked, answers);
        self.passed = passed.map_err(|e| self.lines.wrong_at(self.layout.line, e))?;
        Ok(())
    }

    /// Reads the next rows, if there are any. Those before a wrong line come before its error.
    pub fn chunk(&mut self) -> Result<bool, TableError> {
        self.rows.clear();
        self.passed.clear();
        self.failed.take().map_or(Ok(()), Err)?;
        while self.rows.len() < CHUNK {
            match self.row() {
                Ok(Some(row)) => self.rows.push(row),
                Ok(None) => break,
                Err(e) if self.rows.is_empty() => return Err(e),
                Err(e) => {
                    self.failed = Some(e);
                    break;
                }
            }
        }
        Ok(!self.rows.is_empty())
    }

    fn row(&mut self) -> Result<Option<Row>, TableError> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let late = line.iterations.is_some() && !self.timed;
        let numbers = if late { Err(Cause::Late.into()) } else { numbers(&line, &self.layout) };
        if numbers.is_ok() {
            self.passed.push(&line);
        }
        let (line, iterations) = (line.number, line.iterations.unwrap_or(1));
        let numbers = numbers.map(|numbers| match (&self.earth, numbers) {
            (Some(earth), [Some(longitude), Some(latitude), z, length]) => {
                let [x, y] = earth.place([longitude, latitude]);
                [Some(x), Some(y), z.map(|z| earth.z(z)), length]
            }
            _ => numbers,
        });
        numbers.map(|numbers| Some(Row { line, iterations, numbers })).map_err(|at| self.lines.wrong(at))
    }
}

/// The numbers of a point that is typed as a line of a table.
pub fn point(text: &str) -> Result<[Option<f64>; 4], At> {
    Line::typed(text, |line| numbers(&line, &Layout::bare(&PLAIN, line.len())))
}

fn numbers(line: &Line, layout: &Layout) -> Result<[Option<f64>; 4], At> {
    let mut numbers = [None; 4];
    for (k, number) in numbers.iter_mut().enumerate() {
        *number = layout.number(line, k)?;
    }
    layout.check(line)?;
    match (numbers, layout.places[3]) {
        ([.., None, Some(_)], _) => Err(Cause::Missing { name: "z", form: POINT }.into()),
        ([.., Some(length)], Some(k)) if layout.form.asked && length < 0.0 && length.is_finite() => {
            Err(At(k + 1, Cause::Length(length)))
        }
        _ => Ok(numbers),
    }
}
