//! Lines of numbers from CSV files and stdin.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::Display,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use crate::import::utf8;
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Terminator};

use super::{Done, Failure, counted, grouped, named, note};
use crate::names::brief;

/// A CSV file, read line by line; lines that start with `#` are comments. Separators in quotes part no fields; a line's end in quotes
/// is an error. Where the first line has semicolons or tabs between its fields, be it that a line `sep=;` says so, all have, and a comma
/// in a number that is asked with is its point.
pub struct Lines<'a> {
    path: &'a Path,
    reader: Reader<Box<dyn Read>>,
    /// What stands between fields.
    separator: u8,
    /// Lines before the first that the reader sees.
    skipped: u64,
    /// Which columns have numbers that are asked with; without a heading all.
    asked: Option<Vec<bool>>,
    /// Fields as they stand, quotes included; of other separators than commas as they would stand between commas.
    line: StringRecord,
    /// The line is read and not given yet.
    held: bool,
    /// The first lines with a decimal point and with a decimal comma, if commas part no fields.
    decimals: [Option<u64>; 2],
    /// Lines of a word, `=` and a value are commands.
    commands: bool,
    /// How often each of the lines that follow is to be asked, as a command says.
    pub iterations: Option<u32>,
}

impl<'a> Lines<'a> {
    /// `-` is stdin.
    pub fn open(path: &'a Path) -> Done<Self> {
        Self::begin(path, false)
    }

    /// The same of a file that may have commands between its lines.
    pub fn with_commands(path: &'a Path) -> Done<Self> {
        Self::begin(path, true)
    }

    fn begin(path: &'a Path, commands: bool) -> Done<Self> {
        let input: Box<dyn Read> = match path == Path::new("-") {
            true => Box::new(io::stdin().lock()),
            false => Box::new(File::open(path).map_err(|e| Failure::io(path, e))?),
        };
        let mut input = utf8(input).map_err(|e| Failure::io(path, e))?;
        let Head { rest, skipped, separator } = Head::read(&mut input, commands).map_err(|e| Failure::io(path, e))?;
        if separator != b',' {
            let what = if separator == b';' { "semicolons" } else { "tabs" };
            note(format!(
                "{}: read with {what} between fields, and a comma in a number, if any, as its point",
                named(path)
            ));
        }
        // the carriage return of a CRLF is a blank; the last line ends as all others, so that they can be counted
        let input = io::Cursor::new(rest).chain(input).chain(&b"\n"[..]);
        let input: Box<dyn Read> = Box::new(Short { input, since: 0 });
        let mut csv = ReaderBuilder::new();
        csv.has_headers(false).flexible(true).terminator(Terminator::Any(b'\n')).delimiter(separator);
        csv.quoting(false); // fields stay as they stand, and a quote that is left open holds no line back
        let reader = csv.buffer_capacity(1 << 16).from_reader(input);
        let line = StringRecord::new();
        let (decimals, iterations) = ([None; 2], None);
        Ok(Lines { path, reader, separator, skipped, asked: None, line, held: false, decimals, commands, iterations })
    }

    /// The first line that is not blank, if no field of it is a number; an error if one is and others are x and y, beside which NaN and
    /// infinity are names. To be asked before [`Lines::next`].
    pub fn heading(&mut self) -> Done<Option<&StringRecord>> {
        self.held = self.next()?.is_some();
        let named = self.held && has_places(&columns(&self.line));
        let is_number = |field: &str| numeric(field).is_some_and(|v| v.is_finite() || !named);
        let number = self.line.iter().enumerate().find(|(_, field)| is_number(field));
        if let Some((k, field)) = number.filter(|_| named) {
            let (field, at) = (brief(unquoted(field), 40), k + 1);
            let text =
                format!("\"{field}\" is a number (field {at}), and a heading has names alone; rename that column");
            return Err(self.wrong(text));
        }
        let heading = self.held && number.is_none();
        self.held &= !heading;
        if heading {
            self.asked = Some(columns(&self.line).iter().map(|c| ASKED.contains(&&*c.name)).collect());
        }
        Ok(heading.then_some(&self.line))
    }

    /// Makes the numbers of one more column such as are asked with, below a heading.
    pub fn ask(&mut self, column: usize) {
        if let Some(asked) = self.asked.as_mut().and_then(|asked| asked.get_mut(column)) {
            *asked = true;
        }
    }

    /// Passes over a line of units below a heading, and gives them to the columns that have none: no field of it is a number, and
    /// x is in a unit of length.
    pub fn units(&mut self, columns: &mut [Column]) -> Done {
        let bare = |field: &str| unquoted(field).trim_matches(['[', ']', '(', ')', '-']).trim().to_string();
        let x = columns.iter().position(|c| c.name == "x");
        if self.next()?.is_none() {
            return Ok(());
        }
        let length = x.and_then(|k| self.line.get(k)).is_some_and(|f| LENGTHS.contains(&&*bare(f).to_lowercase()));
        self.held = !length || self.line.iter().any(|field| numeric(field).is_some());
        if !self.held {
            // what stands below a wheel is a name
            for (column, field) in columns.iter_mut().zip(&self.line).filter(|(column, _)| column.name != "wheel") {
                let unit = bare(field);
                if column.unit.is_empty() {
                    column.unit = unit;
                } else if !unit.is_empty() && !unit.eq_ignore_ascii_case(&column.unit) {
                    let text = format!("{} is in {unit} here, and in {} by the heading", column.name, column.unit);
                    return Err(self.wrong(text));
                }
            }
            note(format!("{}: line {} has units, and is passed over", named(self.path), self.line()));
        }
        Ok(())
    }

    /// The next line that is not blank.
    pub fn next(&mut self) -> Done<Option<&StringRecord>> {
        if std::mem::take(&mut self.held) {
            return Ok(Some(&self.line));
        }
        while self.read()? {
            if memchr::memchr(b'"', self.line.as_slice().as_bytes()).is_some() {
                self.line = joined(&self.line, char::from(self.separator)).map_err(|text| self.wrong(text))?;
            }
            if self.separator != b',' {
                self.between_commas()?;
            }
            if self.line.iter().all(|field| field.trim_ascii().is_empty()) {
                continue;
            }
            match self.command() {
                None => return Ok(Some(&self.line)),
                Some(Ok(count)) => self.iterations = Some(count),
                Some(Err(text)) => return Err(self.wrong(text)),
            }
        }
        Ok(None)
    }

    /// What the line that was read last orders, if it is a command.
    fn command(&self) -> Option<Result<u32, String>> {
        let mut fields = self.line.iter().filter(|_| self.commands).map(unquoted);
        let (word, value) = order(fields.next()?)?;
        if fields.any(|field| !field.is_empty()) {
            return None;
        }
        if word.eq_ignore_ascii_case(ITERATIONS) {
            let count = value.parse().ok().filter(|n| (1..=MOST_ITERATIONS).contains(n));
            let most = grouped(MOST_ITERATIONS.into());
            let (word, value) = (ITERATIONS, brief(value, 40));
            return Some(count.ok_or_else(|| format!("{word}={value}: write a whole number from 1 to {most}")));
        }
        // below a heading a field may hold anything
        let told = || format!("\"{}\" is no command; there is {ITERATIONS}=N", brief(word, 40));
        (self.asked.is_none() || self.line.len() == 1).then(|| Err(told()))
    }

    /// Makes fields that other separators part such as stand between commas, and numbers that are asked with such as have a point.
    fn between_commas(&mut self) -> Done {
        let at = self.line();
        let mut line = StringRecord::new();
        for (k, field) in self.line.iter().enumerate() {
            let text = unquoted(field);
            let asked = self.asked.as_ref().is_none_or(|asked| asked.get(k) == Some(&true));
            let point = text.replacen(',', ".", 1);
            if asked && text.contains('.') && number(text).is_some() {
                self.decimals[0].get_or_insert(at);
            }
            if asked && point != text && number(&point).is_some() {
                self.decimals[1].get_or_insert(at);
                line.push_field(&point);
            } else if within_quotes(field).is_some() || !field.contains(',') {
                line.push_field(field);
            } else {
                line.push_field(&format!("\"{}\"", field.trim_end_matches('\r').replace('"', "\"\"")));
            }
        }
        self.line = line;
        match self.decimals {
            [Some(point), Some(comma)] => Err(self.wrong(format!(
                "numbers have a decimal point on line {point} and a decimal comma on line {comma}; write a point in all"
            ))),
            _ => Ok(()),
        }
    }

    /// Number of the line that was read last, from 1.
    pub fn line(&self) -> u64 {
        self.skipped + self.reader.position().line() - 1 // its own position is before the blank lines that it follows
    }

    /// What is wrong with the line that was read last.
    pub fn wrong(&self, text: impl Display) -> Failure {
        let line = self.line();
        if self.line.iter().any(|field| field.trim_end().contains('\r')) {
            let text = "ends with a carriage return alone; convert the file: tr '\\r' '\\n'";
            return Failure::input(self.path, format!("line {line}: {text}"));
        }
        if self.line.iter().any(|field| field.contains('\0')) {
            return Failure::input(self.path, format!("line {line}: {ZEROS}"));
        }
        Failure::input(self.path, format!("line {line}: {text}"))
    }

    /// The next line that is no comment.
    fn read(&mut self) -> Done<bool> {
        let mut line = std::mem::take(&mut self.line).into_byte_record();
        loop {
            let more = self.reader.read_byte_record(&mut line).map_err(|e| match e.into_kind() {
                ErrorKind::Io(e) if e.kind() == io::ErrorKind::InvalidData => {
                    Failure::input(self.path, format!("line {}: {e}", self.line() + 1))
                }
                ErrorKind::Io(e) => Failure::io(self.path, e),
                other => Failure::input(self.path, format!("{other:?}; write the points as plain CSV")),
            })?;
            if more && line.get(0).is_some_and(is_comment) {
                continue;
            }
            self.line = StringRecord::from_byte_record(line).map_err(|e| {
                let zeros = e.into_byte_record().as_slice().contains(&0);
                self.wrong(if zeros {
                    ZEROS
                } else {
                    "not UTF-8 text; save it as UTF-8, as iconv -f latin1 -t utf-8 does"
                })
            })?;
            return Ok(more);
        }
    }
}

/// Columns, by name, whose numbers are asked with or go with the question.
const ASKED: [&str; 7] = ["x", "y", "z", "length", "t", "time", "yaw"];

const ZEROS: &str = "zero bytes, as of UTF-16 without its mark; save it as UTF-8";

/// The one command.
const ITERATIONS: &str = "iterations";
/// Its value at most.
const MOST_ITERATIONS: u32 = 1_000_000;

/// Word and value of a field that may be a command: `sep=;` is none.
fn order(field: &str) -> Option<(&str, &str)> {
    let (word, value) = field.split_once('=')?;
    let (word, value) = (word.trim(), value.trim());
    let named = word.starts_with(char::is_alphabetic) && word.chars().all(|c| c.is_alphanumeric() || "_- ".contains(c));
    (named && !word.eq_ignore_ascii_case("sep")).then_some((word, value))
}

/// Word of a whole line that may be a command.
fn ordered(line: &[u8]) -> Option<&str> {
    let end = line.iter().position(|b| b",;\t\r\n".contains(b)).unwrap_or(line.len());
    let rest = line[end..].iter().all(|b| b" ,;\t\r\n".contains(b));
    let (word, _) = order(unquoted(std::str::from_utf8(&line[..end]).ok()?))?;
    rest.then_some(word)
}

/// Whether a file says somewhere how often its lines are to be asked. What cannot be read does not.
pub fn says_iterations(path: &Path) -> bool {
    let Ok(Ok(input)) = File::open(path).map(utf8) else { return false };
    let (mut input, mut line) = (BufReader::with_capacity(1 << 16, input), Vec::new());
    loop {
        line.clear();
        match (&mut input).take(LONGEST as u64).read_until(b'\n', &mut line) {
            Ok(1..) if ordered(&line).is_some_and(|word| word.eq_ignore_ascii_case(ITERATIONS)) => return true,
            Ok(1..) => {}
            _ => return false,
        }
    }
}

/// How a text begins.
struct Head {
    /// What was read from the first line on that has something in it; whole, if it is not too long.
    rest: Vec<u8>,
    /// Lines before it.
    skipped: u64,
    separator: u8,
}

impl Head {
    fn read(input: &mut impl Read, commands: bool) -> io::Result<Self> {
        let mut head = Head { rest: Vec::new(), skipped: 0, separator: b',' };
        let (mut said, mut done) = (None, false);
        loop {
            let mut from = 0;
            let mut found = false;
            let mut held = false; // by a command, which is read with the lines
            for line in head.rest.split_inclusive(|b| *b == b'\n').filter(|line| done || line.ends_with(b"\n")) {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                let says = stated(text).filter(|_| said.is_none());
                let order = commands && ordered(text).is_some();
                held |= order;
                found = says.is_none() && !order && !is_comment(text) && !text.iter().all(|b| b", ;\t\r".contains(b));
                if found {
                    let known = said.filter(|said| text.contains(said));
                    head.separator = known.unwrap_or_else(|| separator(&String::from_utf8_lossy(text)));
                    break;
                }
                said = said.or(says);
                if !held {
                    head.skipped += 1;
                    from += line.len();
                }
            }
            head.rest.drain(..from);
            if found || done || head.rest.len() > LONGEST {
                return Ok(head);
            }
            let mut more = [0; 1 << 14];
            match input.read(&mut more) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
                Ok(read) => {
                    head.rest.extend(&more[..read]);
                    done = read == 0;
                }
            }
        }
    }
}

/// Whether a line that begins so is a comment.
fn is_comment(line: &[u8]) -> bool {
    let first = line.split(|b| b",;\t".contains(b)).next().unwrap_or_default().trim_ascii();
    line.starts_with(b"#") && !NOTHING.iter().any(|word| first.eq_ignore_ascii_case(word.as_bytes()))
}

/// The separator that a line `sep=;` states, as spreadsheets read and write it.
fn stated(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [word @ .., b'=', separator @ (b',' | b';' | b'\t')] if word.eq_ignore_ascii_case(b"sep") => Some(*separator),
        _ => None,
    }
}

/// What parts the fields of a first line: commas, if that makes numbers of it, or a heading with x and y; else semicolons or tabs, if
/// they do, where a number may have a decimal comma; else commas.
fn separator(line: &str) -> u8 {
    let parts = |separator: char| {
        let fields = || line.split(separator).map(unquoted);
        let known = |field: &str| {
            numeric(field).is_some() || separator != ',' && number(&field.replacen(',', ".", 1)).is_some()
        };
        let numbers = fields().all(|field| field.is_empty() || known(field)) && fields().count() > 1;
        numbers || has_places(&columns(&fields().collect::<Vec<_>>().into()))
    };
    [',', ';', '\t'].into_iter().find(|separator| parts(*separator)).map_or(b',', |separator| separator as u8)
}

/// Fields, of which some may be parts of one in quotes, as they were before the separator in it parted them.
fn joined(parts: &StringRecord, separator: char) -> Result<StringRecord, String> {
    let (mut fields, mut parts) = (StringRecord::new(), parts.iter());
    let quotes = |part: &str| memchr::memchr_iter(b'"', part.as_bytes()).count();
    while let Some(part) = parts.next() {
        let at = fields.len() + 1;
        if !part.trim_start().starts_with('"') {
            fields.push_field(part);
            continue;
        }
        let (mut field, mut count) = (String::from(part), quotes(part));
        while count % 2 == 1 {
            let next = parts.next().ok_or_else(|| {
                format!("a quote is left open (field {at}); close it on its line, or take out the line's end in it")
            })?;
            field.push(separator);
            field += next;
            count += quotes(next);
        }
        if within_quotes(&field).is_none_or(|text| text.replace("\"\"", "").contains('"')) {
            return Err(format!("text after a closing quote (field {at}); a quote within quotes is doubled"));
        }
        fields.push_field(&field);
    }
    Ok(fields)
}

/// Units of length that a log may name.
const LENGTHS: [&str; 9] = ["m", "metre", "metres", "meter", "meters", "km", "cm", "mm", "ft"];

/// A column as a heading names it: `X [m]` is `x` in `m`.
pub struct Column {
    /// In lower case, without blanks about it.
    pub name: String,
    /// What stands in brackets; may be empty.
    unit: String,
    /// The field as it stands.
    text: String,
}

/// The columns of a heading.
pub fn columns(heading: &StringRecord) -> Vec<Column> {
    let column = |field: &str| {
        let (name, unit) = unquoted(field).split_once(['[', '(']).unwrap_or((unquoted(field), ""));
        let unit = unit.split([']', ')']).next().unwrap_or_default();
        let text = field.trim_end_matches('\r').to_string();
        Column { name: name.trim().to_ascii_lowercase(), unit: unit.trim().to_string(), text }
    };
    heading.iter().map(column).collect()
}

/// Whether x and y are among them.
fn has_places(heading: &[Column]) -> bool {
    ["x", "y"].iter().all(|name| heading.iter().any(|column| column.name == *name))
}

/// Where a heading has columns of these names, each in a unit; others of a name mean the same.
pub fn places<const N: usize>(
    heading: &[Column],
    known: [(&[&str], &str); N],
    form: &str,
) -> Result<[Option<usize>; N], String> {
    let mut places = [None; N];
    for (place, (names, unit)) in places.iter_mut().zip(known) {
        let mut found = heading.iter().enumerate().filter(|(_, column)| names.contains(&column.name.as_str()));
        let Some((k, column)) = found.next() else { continue };
        if found.next().is_some() {
            return Err(format!("two columns are {}; a heading is {form}", names[0]));
        }
        column.is_in(unit)?;
        *place = Some(k);
    }
    Ok(places)
}

/// What to say of a heading without x and y.
pub fn hint(heading: &[Column]) -> &'static str {
    let ends = |letter: char| heading.iter().filter(|c| c.name.starts_with(letter) || c.name.ends_with(letter)).count();
    let parted = |c: &Column| c.text.contains([';', '\t']);
    match heading {
        // with names such a line is read as it stands
        [one] if parted(one) => "",
        [one] if one.name.starts_with("sep=") => PARTED,
        [one] => separators(&one.text),
        _ if heading.iter().any(parted) => PARTED,
        _ if ends('x') > 1 && ends('y') > 1 => {
            "; several wheels have a line each, as t,wheel,x,y,z; what makes them of this file: hardpan query --help"
        }
        _ => "",
    }
}

/// A heading as it stands, or its begin.
pub fn heading_text(heading: &[Column]) -> String {
    brief(&heading.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(","), 60)
}

/// So many of the columns that a file without a heading has.
pub fn first_of(form: &str, fields: usize) -> String {
    form.split(',').take(fields).collect::<Vec<_>>().join(",")
}

/// How many fields a line has.
pub struct Width {
    least: usize,
    most: usize,
}

impl Width {
    /// Of a heading up to the last column with a name at least; without one (`named`) columns may be left out.
    pub fn of(columns: &[Column], named: bool) -> Self {
        let last = columns.iter().rposition(|c| named && !c.name.is_empty());
        Width { least: last.map_or(0, |k| k + 1), most: columns.len() }
    }

    /// An error if a line has more fields that are not blank, or fewer; `form` is what a line looks like.
    pub fn check(&self, line: &StringRecord, form: &str) -> Result<(), String> {
        let why = match line.iter().skip(self.most).all(|field| unquoted(field).is_empty()) {
            false => form,
            true if line.len() < self.least => {
                "a comma is missing, or the line is cut off; a blank field keeps its comma"
            }
            true => return Ok(()),
        };
        let (fields, columns) = (counted(line.len() as u64, "field"), counted(self.most as u64, "column"));
        Err(format!("{fields}, and {columns}; {why}"))
    }
}

/// Counts lines with numbers that are not finite, or without x, y or time.
#[derive(Default)]
pub struct Odd {
    lines: u64,
    /// The first of them.
    first: u64,
}

impl Odd {
    pub fn count(&mut self, numbers: &[Option<f64>], line: u64) {
        if numbers.iter().flatten().any(|v| !v.is_finite()) {
            self.first = if self.lines == 0 { line } else { self.first };
            self.lines += 1;
        }
    }

    /// One line, if there are any.
    pub fn told(&self) -> Option<String> {
        let (lines, has) = (counted(self.lines, "line"), if self.lines == 1 { "has" } else { "have" });
        let text = || format!("{lines} {has} a number that is blank or not finite; the first is line {}", self.first);
        (self.lines > 0).then(text)
    }
}

/// Counts lines without a z among such as should have one.
#[derive(Default)]
pub struct Heights {
    /// The heading has a column z.
    pub named: bool,
    lines: u64,
    without: u64,
    /// The first line without one.
    first: u64,
}

impl Heights {
    pub fn new(named: bool) -> Self {
        Heights { named, ..Heights::default() }
    }

    pub fn count(&mut self, z: Option<f64>, line: u64) {
        self.lines += 1;
        if z.is_none() {
            self.first = if self.without == 0 { line } else { self.first };
            self.without += 1;
        }
    }

    /// One line, if some have none, and others, or the heading, have one.
    pub fn told(&self) -> Option<String> {
        let [without, lines] = [self.without, self.lines].map(grouped);
        let (have, first) = (if self.without == 1 { "has" } else { "have" }, self.first);
        (self.without > 0 && (self.named || self.without < self.lines)).then(|| {
            format!("{without} of {lines} lines {have} no z: the highest ground answers; the first is line {first}")
        })
    }
}

/// Names that answers along a drive have, as CSV or JSON; those of points lack the first two.
#[rustfmt::skip]
pub const ANSWER: [&str; 15] = [
    "t", "distance", "x", "y", "layer", "z", "slope", "slope_x", "slope_y", "mu", "rr", "material", "source", "status", "reach",
];

/// Columns of a file that go with its answers as they stand.
#[derive(Default)]
pub struct Passed {
    /// What they are called beside the answers; those that would be called as one of these are called asked_ and that.
    pub names: Vec<String>,
    /// The same without quotes, and of one without a name `column_` and its number; none of those that were asked with.
    pub keys: Vec<Option<String>>,
    /// Number of the column wheel among them.
    pub wheel: Option<usize>,
    places: Vec<usize>,
    /// Of all lines, each field after a comma, and where each field ends.
    text: String,
    ends: Vec<usize>,
}

impl Passed {
    /// All columns but those at the places `but`, which answers have too; those at `asked` are part of the question, and `taken`
    /// are names of answers. An error if two would have one name.
    pub fn new(
        heading: &[Column],
        but: &[Option<usize>],
        asked: &[Option<usize>],
        taken: &[&str],
    ) -> Result<Self, String> {
        let mut passed = Passed::default();
        let mut first: HashMap<String, usize> = HashMap::new();
        for (k, column) in heading.iter().enumerate().filter(|(k, _)| !but.contains(&Some(*k))) {
            let (mut name, mut key) = (column.text.clone(), meant(&column.text).trim().to_owned());
            if taken.contains(&column.name.as_str()) {
                name = format!("asked_{}", column.name);
                key.clone_from(&name);
            } else if key.is_empty() {
                key = format!("column_{}", k + 1);
            }
            if let Some(other) = first.insert(key.clone(), k + 1) {
                return Err(format!(
                    "columns {other} and {} would both be called {} beside the answers; rename one, or leave it out",
                    k + 1,
                    brief(&key, 40)
                ));
            }
            if column.name == "wheel" {
                passed.wheel = passed.wheel.or(Some(passed.places.len()));
            }
            passed.names.push(name);
            passed.keys.push(Some(key).filter(|_| !asked.contains(&Some(k))));
            passed.places.push(k);
        }
        Ok(passed)
    }

    pub fn push(&mut self, line: &StringRecord) {
        for place in &self.places {
            self.text.push(',');
            self.text += line.get(*place).unwrap_or_default().trim_end_matches('\r');
            self.ends.push(self.text.len());
        }
    }

    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// The fields of a line, each after a comma, by its number since the last [`Passed::clear`].
    pub fn line(&self, i: usize) -> &str {
        let end = |fields: usize| fields.checked_sub(1).map_or(0, |last| self.ends[last]);
        &self.text[end(i * self.places.len())..end((i + 1) * self.places.len())]
    }

    /// The fields of a line one by one.
    pub fn fields(&self, i: usize) -> impl Iterator<Item = &str> {
        let first = i * self.places.len();
        let mut start = first.checked_sub(1).map_or(0, |last| self.ends[last]);
        self.ends[first..first + self.places.len()]
            .iter()
            .map(move |end| &self.text[std::mem::replace(&mut start, *end) + 1..*end])
    }
}

impl Column {
    /// An error if the column has another unit than this one.
    pub fn is_in(&self, unit: &str) -> Result<(), String> {
        match self.unit.is_empty() || self.unit.eq_ignore_ascii_case(unit) {
            true => Ok(()),
            false => Err(format!(
                "{name} is in {}; convert it, and name it {name} or {name} [{unit}]",
                brief(&self.unit, 40),
                name = self.name
            )),
        }
    }
}

/// Text whose lines are short: of a file without line ends no more than one is read.
struct Short<R> {
    input: R,
    /// Bytes since the last line end.
    since: usize,
}

const LONGEST: usize = 1 << 20;

impl<R: Read> Read for Short<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.since = match memchr::memrchr(b'\n', &into[..read]) {
            Some(last) => read - last - 1,
            None => self.since + read,
        };
        if self.since > LONGEST {
            let text = "longer than 1 MiB; write the points as plain CSV, a line each";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(read)
    }
}

/// A number of a field, as [`f64::from_str`](std::str::FromStr) reads it, with blanks about it.
pub fn number(field: &str) -> Option<f64> {
    fast_float2::parse(field).or_else(|_| fast_float2::parse(unquoted(field))).ok()
}

/// A field without blanks and quotes about it; what stands within quotes stays as it is, but for blanks at its ends.
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

/// The number of a field as [`optional`] has it; of one that is blank no number.
pub fn needed(field: &str, at: usize) -> Result<f64, String> {
    optional(field, at).map(|v| v.unwrap_or(f64::NAN))
}

/// The number of a field, of which `at` come before it, finite or not; none if it is blank.
pub fn optional(field: &str, at: usize) -> Result<Option<f64>, String> {
    let text = unquoted(field);
    match number(text) {
        Some(v) => Ok(Some(v)),
        None if text.is_empty() => Ok(None),
        None if is_nan(text) => Ok(Some(f64::NAN)),
        None => {
            let hint = if text.contains(['#']) {
                "; where there is no number write NaN"
            } else if number(&text.replace(',', ".")).is_some() {
                "; a decimal has a point"
            } else {
                separators(text)
            };
            Err(format!("\"{}\" is not a number (field {}){hint}", brief(text, 40), at + 1))
        }
    }
}

/// A number of a field, or one of the words that programs write where there is none.
fn numeric(field: &str) -> Option<f64> {
    number(field).or_else(|| is_nan(unquoted(field)).then_some(f64::NAN))
}

/// Whether that is what a spreadsheet or a runtime of C writes for what is no number, or not finite: `#N/A`, `-nan(ind)`, `1.#IND`.
fn is_nan(text: &str) -> bool {
    let bare = text.strip_prefix(['-', '+']).unwrap_or(text).to_ascii_lowercase();
    NOTHING.iter().any(|word| text.eq_ignore_ascii_case(word))
        || bare.starts_with("1.#")
        || bare.strip_prefix("nan(").is_some_and(|rest| rest.ends_with(')'))
}

/// What spreadsheets write where there is no number; they begin as comments do.
const NOTHING: [&str; 8] = ["#N/A", "#NUM!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NULL!", "#STR?"];

const PARTED: &str = "; between fields stand commas, semicolons or tabs, the same in the whole file";

/// What to say of a field that has separators in it.
fn separators(field: &str) -> &'static str {
    if field.contains([';', ' ', '\t']) { PARTED } else { "" }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_as_the_standard_library_reads_them() {
        let texts = "0 -0 +1 1. .5 -.5e-3 1e5 1E+5 1e999 5e-324 0.1 123456789.123456789 inf -Infinity NaN +nan \
                     1e . e5 - + 1x 0x10 1_000 1,5 -- infin 1e+ \u{661} in f";
        for text in texts.split(' ') {
            let own = number(text).map(f64::to_bits);
            let wanted = text.parse::<f64>().ok().map(f64::to_bits);
            assert!(own == wanted || text.to_ascii_lowercase().contains("nan") && own.is_some(), "{text}");
        }
        assert_eq!((number(" 1.5\t"), number(" "), number("")), (Some(1.5), None, None));
    }
}
