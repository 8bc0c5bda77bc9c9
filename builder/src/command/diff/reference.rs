//! A file of points of another tool, line by line.

use std::path::Path;

use super::super::{
    Done, Failure, has_extension,
    lines::{Column, Lines, Width, columns, first_of, heading_text, hint, needed, places},
    named, note,
};
use crate::compare::Point;
use csv::StringRecord;

/// Points that are held against the image together.
const CHUNK: usize = 1024;

/// What a line looks like.
const FORM: &str = "a line is x,y,z or x,y,z,mu";

const COLUMNS: [(&[&str], &str); 4] = [(&["x"], "m"), (&["y"], "m"), (&["z"], "m"), (&["mu"], "-")];

/// Whether a name is that of a table, not of an image; `-` is stdin.
pub fn is_table(path: &Path) -> bool {
    path == Path::new("-") || ["csv", "tsv", "txt"].iter().any(|end| has_extension(path, end))
}

pub struct Reference<'a> {
    path: &'a Path,
    lines: Lines<'a>,
    /// Where x, y, z and mu are.
    places: [Option<usize>; 4],
    width: Width,
    /// There is no heading.
    bare: bool,
}

impl<'a> Reference<'a> {
    /// A first line of which no field is a number is a heading.
    pub fn open(path: &'a Path) -> Done<Self> {
        let mut lines = Lines::open(path)?;
        let mut heading = lines.heading()?.map(columns);
        let known = heading.as_deref().map(of_points).transpose().map_err(|e| lines.wrong(e))?;
        let width = Width::of(heading.as_ref().unwrap_or(&unnamed(COLUMNS.len())), known.is_some());
        if let Some(heading) = &mut heading {
            known.and_then(|known| known[3]).into_iter().for_each(|mu| lines.ask(mu));
            lines.units(heading)?;
            of_points(heading).map_err(|e| lines.wrong(e))?;
        }
        let places = known.unwrap_or([0, 1, 2, 3].map(Some));
        Ok(Reference { path, lines, places, width, bare: known.is_none() })
    }

    /// Calls `many` for the points of all lines, in their order, and says whether the file has friction.
    pub fn read(&mut self, mut many: impl FnMut(&[Point], bool) -> Done) -> Done {
        let mut points = Vec::with_capacity(CHUNK);
        let mut any = false;
        while let Some(line) = self.lines.next()? {
            if self.bare && !any {
                let fields = line.len().min(COLUMNS.len());
                note(format!(
                    "{}: read as {}: a heading says otherwise",
                    named(self.path),
                    first_of("x,y,z,mu", fields)
                ));
                // all lines are as the first
                if fields < COLUMNS.len() {
                    self.places[3] = None;
                    self.width = Width::of(&unnamed(3), false);
                }
            }
            let point = self.width.check(line, FORM).and_then(|()| point(line, self.places));
            let point = point.map_err(|e| self.lines.wrong(e))?;
            any = true;
            points.push(Point { number: self.lines.line(), ..point });
            if points.len() == CHUNK {
                many(&points, self.places[3].is_some())?;
                points.clear();
            }
        }
        if !any {
            let text = "no points; lines are x,y,z or x,y,z,mu, and a first line without numbers is a heading";
            return Err(Failure::input(self.path, text));
        }
        many(&points, self.places[3].is_some())
    }
}

/// The first columns of a file without a heading.
fn unnamed(count: usize) -> Vec<Column> {
    columns(&COLUMNS[..count].iter().map(|(names, _)| names[0]).collect::<Vec<_>>().into())
}

/// Where a heading has each of [`COLUMNS`].
fn of_points(heading: &[Column]) -> Result<[Option<usize>; 4], String> {
    let found = places(heading, COLUMNS, "x,y,z[,mu] and any others")?;
    let lacks = ["x", "y", "z"].into_iter().zip(found).filter(|(_, place)| place.is_none()).map(|(name, _)| name);
    match lacks.collect::<Vec<_>>()[..] {
        [] => Ok(found),
        ref lacks => Err(format!(
            "the heading {} has no {}; columns are x, y, z and, if there is friction, mu{}",
            heading_text(heading),
            lacks.join(" and no "),
            hint(heading)
        )),
    }
}

/// Without its number. What is blank or no number, as NaN is, stays so.
fn point(line: &StringRecord, places: [Option<usize>; 4]) -> Result<Point, String> {
    let mut numbers = [None; 4];
    for (number, (place, name)) in numbers.iter_mut().zip(places.into_iter().zip(["x", "y", "z", "mu"])) {
        let field = place.and_then(|place| Some((place, line.get(place)?)));
        *number = field.map(|(place, field)| needed(field, place)).transpose()?;
        if number.is_none() && name != "mu" {
            return Err(format!("no {name}; {FORM}"));
        }
    }
    let [x, y, z, mu] = numbers;
    Ok(Point { number: 0, at: [x, y, z].map(|v| v.unwrap_or(f64::NAN)), mu })
}
