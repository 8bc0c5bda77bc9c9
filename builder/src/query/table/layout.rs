//! Where a table has its numbers: by the names of its heading, or by their order.

use super::{
    Cause, Note, TableError,
    lines::{Line, Lines, unquoted},
};
use crate::util::text::brief;

/// The columns of a table.
pub struct Form {
    pub known: &'static [Known],
    /// A table without a heading has the first of these columns, as many as its first line has fields, within these
    /// counts.
    pub bare: [usize; 2],
    /// Its points are queries: a length is not below zero, and lines `iterations=N` are commands.
    pub asked: bool,
    /// The form of a line.
    pub text: &'static str,
    /// The same of a table whose places are in degrees, if there is a way from these to metres.
    pub degrees: Option<&'static Form>,
}

/// A column.
pub struct Known {
    pub names: &'static [&'static str],
    pub unit: Option<&'static str>,
    pub needed: bool,
}

impl Known {
    pub const fn needed(names: &'static [&'static str]) -> Self {
        Known { names, unit: Some("m"), needed: true }
    }

    pub const fn optional(names: &'static [&'static str], unit: Option<&'static str>) -> Self {
        Known { names, unit, needed: false }
    }

    /// Where a heading has it.
    fn find(&self, columns: &[Column]) -> Result<Option<usize>, Cause> {
        let mut found = columns.iter().enumerate().filter(|(_, column)| self.names.contains(&&*column.name));
        let Some((k, column)) = found.next() else { return Ok(None) };
        if found.next().is_some() {
            return Err(Cause::Twice(self.names[0]));
        }
        self.check(&column.unit)?;
        Ok(Some(k))
    }

    fn check(&self, unit: &str) -> Result<(), Cause> {
        match self.unit {
            Some(DEGREES) if DEGREE.iter().any(|name| unit.eq_ignore_ascii_case(name)) => Ok(()),
            Some(wanted) if !unit.is_empty() && !unit.eq_ignore_ascii_case(wanted) => {
                Err(Cause::Unit { name: self.names[0], unit: brief(unit, 40), wanted })
            }
            _ => Ok(()),
        }
    }
}

/// How surveyors name places, where somebody says the columns.
const SURVEYED: [(&str, &str); 9] = [
    ("easting", "x"),
    ("e", "x"),
    ("northing", "y"),
    ("n", "y"),
    ("height", "z"),
    ("h", "z"),
    ("elevation", "z"),
    ("altitude", "z"),
    ("up", "z"),
];
/// The unit of degrees, and how else it is written.
pub const DEGREES: &str = "deg";
const DEGREE: [&str; 4] = ["degree", "degrees", "°", "dd"];
/// How headings name degrees.
pub const LATITUDE: [&str; 2] = ["lat", "latitude"];
pub const LONGITUDE: [&str; 4] = ["lon", "lng", "long", "longitude"];

/// A column as a heading names it: `X [m]` is `x` in `m`.
pub struct Column {
    /// In lower case.
    pub name: String,
    unit: String,
    /// The field as it stands.
    pub text: String,
}

impl Column {
    fn of(field: &str) -> Self {
        let (name, unit) = unquoted(field).split_once(['[', '(']).unwrap_or((unquoted(field), ""));
        let unit = unit.split([']', ')']).next().unwrap_or_default().trim().into();
        Column { name: name.trim().to_ascii_lowercase(), unit, text: field.into() }
    }
}

pub struct Layout {
    /// There is a heading.
    pub named: bool,
    /// Its line.
    pub line: u64,
    pub columns: Vec<Column>,
    /// Where each known column is.
    pub places: Vec<Option<usize>>,
    pub form: &'static Form,
}

impl Layout {
    /// The layout of a table without a heading, whose first line has this many fields.
    pub fn bare(form: &'static Form, fields: usize) -> Self {
        let count = fields.clamp(form.bare[0], form.bare[1]);
        let columns = form.known[..count].iter().map(|known| Column::of(known.names[0])).collect();
        let places = (0..form.known.len()).map(|k| Some(k).filter(|k| *k < count)).collect();
        Layout { named: false, line: 0, columns, places, form }
    }

    /// The layout of a table whose columns somebody says, and whether there are blanks between them: as many names as a
    /// line has fields. A first line without a number is passed over.
    pub fn said(lines: &mut Lines, form: &'static Form, said: &str) -> Result<Self, TableError> {
        let parted = [',', ';', '\t'].into_iter().find(|c| said.contains(*c));
        lines.said(parted.is_none());
        let names: Vec<&str> = match parted {
            Some(separator) => said.split(separator).collect(),
            None => said.split_whitespace().collect(),
        };
        let mut columns: Vec<Column> = names.into_iter().map(Column::of).collect();
        for column in &mut columns {
            if let Some((_, name)) = SURVEYED.iter().find(|(name, _)| *name == column.name) {
                column.name = (*name).into();
            }
        }
        if let Some(line) = lines.next()?
            && line.has_number()
        {
            lines.hold();
        }
        Self::of(columns, 0, lines, form)
    }

    /// The layout of a table from its first lines: a line without a number is a heading, and a line of units may
    /// follow.
    pub fn read(lines: &mut Lines, form: &'static Form) -> Result<Self, TableError> {
        let Some(line) = lines.next()? else { return Ok(Self::bare(form, 0)) };
        if line.has_number() {
            let fields = line.len();
            let layout = Self::bare(form, fields);
            let names: Vec<&str> = layout.columns.iter().take(fields).map(|c| &*c.name).collect();
            // two numbers are a place
            lines.notes.extend((fields > 2).then(|| Note::Columns(names.join(","))));
            lines.hold();
            return Ok(layout);
        }
        let (line, columns): (_, Vec<Column>) = (line.number, line.fields().map(Column::of).collect());
        let layout = Self::of(columns, line, lines, form)?;
        layout.units(lines)?;
        Ok(layout)
    }

    /// The layout of named columns, those of a line or of line 0, which no file has.
    fn of(columns: Vec<Column>, line: u64, lines: &Lines, mut form: &'static Form) -> Result<Self, TableError> {
        let has = |names: &[&str]| columns.iter().any(|c| names.contains(&&*c.name));
        if let Some(degrees) = form.degrees.filter(|_| has(&LATITUDE) && has(&LONGITUDE) && !has(form.known[0].names)) {
            form = degrees;
        }
        let places: Result<Vec<_>, _> = form.known.iter().map(|known| known.find(&columns)).collect();
        let places = places.map_err(|e| lines.wrong(e))?;
        let lacks: Vec<&str> =
            form.known.iter().zip(&places).filter(|(k, p)| k.needed && p.is_none()).map(|(k, _)| k.names[0]).collect();
        if !lacks.is_empty() {
            let one_of =
                |names: &[&str]| columns.iter().find(|c| names.contains(&&*c.name)).map(|c| brief(&c.text, 40));
            if let Some((latitude, longitude)) = one_of(&LATITUDE).zip(one_of(&LONGITUDE)) {
                return Err(lines.wrong(Cause::Degrees([latitude, longitude])));
            }
            let heading: Vec<&str> = columns.iter().map(|c| &*c.text).collect();
            let heading = brief(&heading.join(","), 60);
            return Err(lines.wrong(Cause::Heading { heading, lacks, form: form.text }));
        }
        Ok(Layout { named: true, line, columns, places, form })
    }

    /// Passes over a line of units: it has one for x, and no number.
    fn units(&self, lines: &mut Lines) -> Result<(), TableError> {
        let Some(line) = lines.next()? else { return Ok(()) };
        let unit = |place: &Option<usize>| {
            let field = unquoted(place.and_then(|k| line.get(k)).unwrap_or_default());
            field.trim_matches(['[', ']', '(', ')', '-']).trim()
        };
        let known = || self.form.known.iter().zip(&self.places);
        let x = known().find(|(known, _)| known.needed).map_or("", |(_, place)| unit(place));
        if line.has_number() || x.is_empty() {
            lines.hold();
            return Ok(());
        }
        let (number, wrong) = (line.number, known().find_map(|(known, place)| known.check(unit(place)).err()));
        lines.notes.push(Note::Units(number));
        wrong.map_or(Ok(()), |cause| Err(lines.wrong(cause)))
    }

    /// An error if a line has more fields that are not blank than there are columns, or ends before the last with a
    /// name.
    pub fn check(&self, line: &Line) -> Result<(), Cause> {
        let more = line.fields().skip(self.columns.len()).any(|field| !unquoted(field).is_empty());
        let least = self.columns.iter().rposition(|c| self.named && !c.name.is_empty()).map_or(0, |last| last + 1);
        match more || line.len() < least {
            true => Err(Cause::Width { fields: line.len(), columns: self.columns.len(), form: self.form.text }),
            false => Ok(()),
        }
    }

    /// The number in a known column; none if it is blank or missing. A column that is needed is there, and a blank in
    /// it is NaN.
    pub fn number(&self, line: &Line, k: usize) -> Result<Option<f64>, super::At> {
        let (known, place) = (&self.form.known[k], self.places[k]);
        if known.needed && place.is_none_or(|place| place >= line.len()) {
            return Err(Cause::Missing { name: known.names[0], form: self.form.text }.into());
        }
        Ok(line.number(place)?.or(known.needed.then_some(f64::NAN)))
    }
}
