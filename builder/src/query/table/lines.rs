//! Lines of a table, and their fields.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use super::{At, Cause, Note, TableError};
use crate::import::utf8;
use crate::util::text::brief;

/// A table, read line by line. Lines that start with `#` are comments. The first line decides the separator: semicolon
/// if it has one, otherwise tab, otherwise comma. Separators in quotes are text.
pub struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead>,
    text: String,
    /// Where each field ends.
    ends: Vec<usize>,
    separator: Option<u8>,
    /// Fields have any number of blanks between them, and lines that start with `//` are comments too: somebody said
    /// it.
    said: [bool; 2],
    number: u64,
    /// The line is to be given again.
    held: bool,
    /// Lines `iterations=N` are commands.
    commands: bool,
    /// How often the lines that follow are to be asked.
    pub iterations: Option<u32>,
    pub notes: Vec<Note>,
}

/// Bytes of a line at most.
const LONGEST: u64 = 1 << 20;
/// How often a point is asked at most.
pub const MAX_ITERATIONS: u32 = 1_000_000;
/// The separator of fields.
const SEPARATORS: [char; 3] = [',', ';', '\t'];

impl Lines {
    /// `-` is stdin.
    pub fn open(path: &Path, commands: bool) -> Result<Self, TableError> {
        let input = || -> io::Result<Box<dyn BufRead>> {
            let input: Box<dyn Read> = match path == Path::new("-") {
                true => Box::new(io::stdin().lock()),
                false => Box::new(File::open(path)?),
            };
            Ok(Box::new(BufReader::with_capacity(1 << 16, utf8(input)?)))
        };
        let error = |e| TableError { file: path.into(), line: 0, column: 0, cause: Cause::Io(e) };
        Ok(Lines {
            path: path.into(),
            input: input().map_err(error)?,
            text: String::new(),
            ends: Vec::new(),
            separator: None,
            said: [false; 2],
            number: 0,
            held: false,
            commands,
            iterations: None,
            notes: Vec::new(),
        })
    }

    /// Somebody says the columns: lines that start with `//` are comments then, and `blanks` are between fields.
    pub fn said(&mut self, blanks: bool) {
        self.said = [blanks, true];
    }

    /// An error about the line that was read last.
    pub fn wrong(&self, at: impl Into<At>) -> TableError {
        let At(column, cause) = at.into();
        TableError { file: self.path.clone(), line: self.number, column, cause }
    }

    /// An error about an earlier line; 0 is the whole file.
    pub fn wrong_at(&self, line: u64, cause: Cause) -> TableError {
        TableError { line, ..self.wrong(cause) }
    }

    /// Whether a command repeats the lines after it. A command that cannot be read does not.
    pub fn has_iterations(mut self) -> bool {
        while self.iterations.is_none() && matches!(self.next(), Ok(Some(_))) {}
        self.iterations.is_some()
    }

    /// Gives the line that was read last again.
    pub fn hold(&mut self) {
        self.held = true;
    }

    /// The next line of fields.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, TableError> {
        if !std::mem::take(&mut self.held) {
            loop {
                if !self.read()? {
                    return Ok(None);
                } else if self.has_fields().map_err(|e| self.wrong(e))? {
                    break;
                }
            }
            self.split().map_err(|e| self.wrong(e))?;
        }
        let commas = self.separator != Some(b',');
        let (number, iterations) = (self.number, self.iterations);
        Ok(Some(Line { text: &self.text, ends: &self.ends, commas, number, iterations }))
    }

    /// Reads the next line that is no comment, if there is one.
    fn read(&mut self) -> Result<bool, TableError> {
        let mut line = std::mem::take(&mut self.text).into_bytes();
        loop {
            line.clear();
            let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut line);
            self.number += 1;
            match read.map_err(|e| self.wrong(Cause::Io(e)))? {
                0 => return Ok(false),
                _ if line.len() as u64 == LONGEST && !line.ends_with(b"\n") => return Err(self.wrong(Cause::Long)),
                _ if line.starts_with(b"#") || (self.said[1] && line.starts_with(b"//")) => {}
                _ => break,
            }
        }
        self.text = String::from_utf8(line).map_err(|_| self.wrong(Cause::Encoding))?;
        self.text.truncate(self.text.trim_end_matches(['\n', '\r']).len());
        Ok(true)
    }

    /// Whether the line has fields: it is not blank and not a command.
    fn has_fields(&mut self) -> Result<bool, Cause> {
        let text = self.text.as_str();
        if text.trim_matches(SEPARATORS).trim().is_empty() {
            return Ok(false);
        }
        // a spreadsheet's line of separators: the first line shows them too
        let bare = text.trim_matches('"').as_bytes();
        if self.separator.is_none() && bare.len() == 5 && bare[..4].eq_ignore_ascii_case(b"sep=") {
            return Ok(false);
        }
        let count = if self.commands { command(text)? } else { None };
        self.iterations = count.or(self.iterations);
        Ok(count.is_none())
    }

    /// Finds the fields of the line.
    fn split(&mut self) -> Result<(), At> {
        if self.said[0] {
            self.text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.separator = Some(b' ');
        }
        let Lines { text, ends, notes, .. } = self;
        let separator = *self.separator.get_or_insert_with(|| {
            let bare: String = text.split('"').step_by(2).collect();
            let separator = [';', '\t'].into_iter().find(|c| bare.contains(*c));
            notes.extend(separator.map(Note::Separator));
            separator.map_or(b',', |c| c as u8)
        });
        let line = text.as_bytes();
        let begins_quoted = |start: usize| line[start..].trim_ascii_start().starts_with(b"\"");
        let (mut quoted, mut open) = (begins_quoted(0), false);
        ends.clear();
        for i in memchr::memchr2_iter(separator, b'"', line) {
            if line[i] == b'"' {
                open ^= quoted;
            } else if !open {
                ends.push(i);
                quoted = begins_quoted(i + 1);
            }
        }
        if open {
            return Err(At(ends.len() + 1, Cause::Quote));
        }
        ends.push(line.len());
        Ok(())
    }
}

/// The number of a line `iterations=N`, or what is wrong with another command.
fn command(text: &str) -> Result<Option<u32>, Cause> {
    let Some((word, value)) = text.split_once('=') else { return Ok(None) };
    let (word, value) = (word.trim(), value.trim_end_matches(SEPARATORS).trim());
    if word.eq_ignore_ascii_case("iterations") && !value.contains(SEPARATORS) {
        let count = value.parse().ok().filter(|n| (1..=MAX_ITERATIONS).contains(n));
        return count.map(Some).ok_or_else(|| Cause::Iterations(brief(value, 40)));
    }
    // a line of points has more than one field
    if text.contains(SEPARATORS) { Ok(None) } else { Err(Cause::Command(brief(word, 40))) }
}

/// Fields of a line.
pub struct Line<'a> {
    text: &'a str,
    ends: &'a [usize],
    /// A number may have a decimal comma.
    pub commas: bool,
    pub number: u64,
    pub iterations: Option<u32>,
}

impl<'a> Line<'a> {
    /// The fields of what is typed, with commas between them.
    pub fn typed<T>(text: &str, with: impl FnOnce(Line<'_>) -> T) -> T {
        let ends: Vec<usize> = text.match_indices(',').map(|(i, _)| i).chain([text.len()]).collect();
        with(Line { text, ends: &ends, commas: false, number: 0, iterations: None })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field as it stands.
    pub fn get(&self, k: usize) -> Option<&'a str> {
        let start = k.checked_sub(1).map_or(0, |before| self.ends.get(before).map_or(0, |end| end + 1));
        self.ends.get(k).map(|end| &self.text[start..*end])
    }

    pub fn fields(&self) -> impl Iterator<Item = &'a str> {
        (0..self.len()).filter_map(|k| self.get(k))
    }

    /// Whether a field is a number.
    pub fn has_number(&self) -> bool {
        self.fields().any(|field| number(unquoted(field), self.commas).is_some())
    }

    /// The number in a column, finite or not; none if the field is blank or not there.
    pub fn number(&self, column: Option<usize>) -> Result<Option<f64>, At> {
        let Some((k, field)) = column.and_then(|k| Some((k, self.get(k)?))) else { return Ok(None) };
        let text = unquoted(field);
        match number(text, self.commas) {
            None if !text.is_empty() => Err(At(k + 1, Cause::Number(brief(text, 40)))),
            number => Ok(number),
        }
    }
}

/// A number as [`f64::from_str`](std::str::FromStr) reads it, or with a comma for its point.
pub fn number(text: &str, commas: bool) -> Option<f64> {
    let point = || fast_float2::parse(text.replacen(',', ".", 1)).ok().filter(|_| commas);
    fast_float2::parse(text).ok().or_else(point)
}

/// A field without blanks and quotes about it.
pub fn unquoted(field: &str) -> &str {
    within_quotes(field).unwrap_or(field).trim()
}

/// The text that a field means: all of it, or what is in its quotes, where two stand for one.
pub fn meant(field: &str) -> Cow<'_, str> {
    match within_quotes(field) {
        Some(text) if text.contains('"') => text.replace("\"\"", "\"").into(),
        Some(text) => text.into(),
        None => field.into(),
    }
}

fn within_quotes(field: &str) -> Option<&str> {
    field.trim().strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_as_the_standard_library_reads_them() {
        let texts = "0 -0 +1 1. .5 -.5e-3 1e5 1E+5 1e999 5e-324 0.1 123456789.123456789 inf -Infinity NaN +nan \
                     1e . e5 - + 1x 0x10 1_000 1,5 -- infin 1e+ \u{661} in f";
        for text in texts.split(' ') {
            let own = number(text, false).map(f64::to_bits);
            let wanted = text.parse::<f64>().ok().map(f64::to_bits);
            assert!(own == wanted || text.to_ascii_lowercase().contains("nan") && own.is_some(), "{text}");
        }
        let commas = ["1,5", "-,5", "1.5", "1.234,5", "1,234,5"].map(|text| number(text, true));
        assert_eq!(commas, [Some(1.5), Some(-0.5), Some(1.5), None, None]);
    }
}
