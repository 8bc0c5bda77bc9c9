//! The text before the numbers of an OpenCRG: sections, keys, channels, and the file that it may name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::import::{self, ImportError, Place, bytes, text::quoted};
use crate::util::text::{bounded, shown};

/// The text of a file, and of the file that it names.
#[derive(Default)]
pub struct Head {
    pub road: Keys,
    /// None where no file has the section: the defaults of the standard hold then.
    pub mods: Option<Keys>,
    pub opts: Option<Keys>,
    pub format: Option<Format>,
    pub channels: Vec<Channel>,
    /// The file whose numbers these are, and all that were read, in that order.
    pub files: Vec<PathBuf>,
    /// The bytes of the file with the numbers, where they begin, and their line.
    pub body: Option<Body>,
    /// Names of keys that nothing uses, with the line of the first.
    pub unused: Vec<(String, u64)>,
    /// The first line whose number has something else behind it, and how many have.
    pub loose: Option<(u64, u64)>,
}

/// Where the numbers are.
pub struct Body {
    pub bytes: Vec<u8>,
    pub at: usize,
    pub line: u64,
}

/// Keys of a section, in small letters, and their numbers.
#[derive(Clone, Debug, Default)]
pub struct Keys(BTreeMap<String, Key>);

/// A number, and where it stands.
#[derive(Clone, Debug, Default)]
struct Key {
    value: f64,
    file: PathBuf,
    line: u64,
}

impl Keys {
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).map(|key| key.value)
    }

    /// The error of a key's number.
    pub fn fault(&self, key: &str, cause: impl Into<String>, hint: &str) -> ImportError {
        let Key { file, line, .. } = self.0.get(key).cloned().unwrap_or_default();
        fault(&file, line, cause, hint)
    }

    pub fn or_zero(&self, key: &str) -> f64 {
        self.get(key).unwrap_or(0.0)
    }

    pub fn set(&mut self, key: &str, value: f64) {
        self.0.insert(key.into(), Key { value, ..Key::default() });
    }

    pub fn times(&mut self, key: &str, factor: f64) {
        if let Some(key) = self.0.get_mut(key) {
            key.value *= factor;
        }
    }

    pub fn forget(&mut self, key: &str) {
        self.0.remove(key);
    }

    pub fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.0.contains_key(*key))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// How numbers are written: `#:LRFI`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Each row begins a new record of 80 bytes, or a new line.
    pub long: bool,
    pub double: bool,
    pub text: bool,
}

/// A column of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    pub kind: Kind,
    pub line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A long section at this v.
    At(f64),
    /// The long section of this number, from 1.
    Number(f64),
    X,
    Y,
    U,
    Phi,
    Banking,
    Slope,
    /// Something that a ground has no use for.
    Other,
}

/// Files that name each other.
const DEEPEST: usize = 8;

const ROAD: &[&str] = &[
    "reference_line_start_u",
    "reference_line_start_x",
    "reference_line_start_y",
    "reference_line_start_z",
    "reference_line_start_phi",
    "reference_line_start_b",
    "reference_line_start_s",
    "reference_line_end_u",
    "reference_line_end_x",
    "reference_line_end_y",
    "reference_line_end_z",
    "reference_line_end_phi",
    "reference_line_increment",
    "long_section_v_right",
    "long_section_v_left",
    "long_section_v_increment",
];

const OPTS: &[&str] = &[
    "border_mode_u",
    "border_mode_v",
    "border_offset_u",
    "border_offset_v",
    "border_smooth_ubeg",
    "border_smooth_uend",
    "refline_continuation",
];

pub const MODS: &[&str] = &[
    "scale_z_grid",
    "scale_slope",
    "scale_banking",
    "scale_length",
    "scale_width",
    "scale_curvature",
    "grid_nan_mode",
    "grid_nan_offset",
    "refline_rotcenter_x",
    "refline_rotcenter_y",
    "refline_offset_phi",
    "refline_offset_x",
    "refline_offset_y",
    "refline_offset_z",
    "refpoint_u_fraction",
    "refpoint_u_offset",
    "refpoint_u",
    "refpoint_v_fraction",
    "refpoint_v_offset",
    "refpoint_v",
    "refpoint_x",
    "refpoint_y",
    "refpoint_z",
    "refpoint_phi",
];

/// Keys whose numbers are one of a few, from zero to this.
const WHOLE: &[(&str, f64)] =
    &[("border_mode_u", 4.0), ("border_mode_v", 4.0), ("refline_continuation", 1.0), ("grid_nan_mode", 2.0)];

#[derive(Clone, Copy, PartialEq)]
enum Section {
    None,
    Comment,
    Road,
    Opts,
    Mods,
    Channels,
    File,
}

/// The section that a line which begins with `$` opens.
fn section(line: &str) -> Section {
    let line = line.to_ascii_uppercase();
    let begins = |name: &str| line.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_of_name));
    [
        ("$ROAD_CRG", Section::Road),
        ("$ROAD_CRG_OPTS", Section::Opts),
        ("$ROAD_CRG_MODS", Section::Mods),
        ("$ROAD_CRG_FILE", Section::File),
        ("$KD_DEFINITION", Section::Channels),
        ("$CT", Section::Comment),
    ]
    .into_iter()
    .find(|(name, _)| begins(name))
    .map_or(Section::None, |(_, section)| section)
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Reads the text of a file, and of the file that it names.
pub fn read(path: &Path) -> Result<Head, ImportError> {
    let mut head = Head::default();
    let mut open = Vec::new();
    one(path, whole(path)?, &mut head, &mut open)?;
    Ok(head)
}

/// All bytes of a file, which is no device.
fn whole(path: &Path) -> Result<Vec<u8>, ImportError> {
    import::head(path)?;
    bytes::whole(path)
}

pub fn fault(path: &Path, line: u64, cause: impl Into<String>, hint: &str) -> ImportError {
    ImportError { place: Place::Line(line), ..ImportError::input(path, cause, hint) }
}

/// Reads one file; `open` has those that lead to it.
fn one(path: &Path, bytes: Vec<u8>, head: &mut Head, open: &mut Vec<PathBuf>) -> Result<(), ImportError> {
    let same = |file: &Path| std::fs::canonicalize(file).unwrap_or_else(|_| file.into());
    if open.contains(&same(path)) {
        return Err(ImportError::input(
            path,
            "it names itself in $ROAD_CRG_FILE",
            "name the file with the numbers there",
        ));
    }
    if open.len() == DEEPEST {
        return Err(ImportError::input(path, "files name each other, more than eight deep", "name the last one alone"));
    }
    open.push(same(path));
    let outer = [head.opts.is_some(), head.mods.is_some()];
    let [mut opts, mut mods] = [0; 2];
    let (mut here, mut files) = (Section::None, 0);
    // the name of the other file, and its line
    let (mut named, mut of) = (String::new(), 0);
    let (mut at, mut line) = (0, 0);
    loop {
        let (raw, next) = next_line(&bytes, at);
        let is_end = at >= bytes.len();
        line += 1;
        let begins = raw.first() == Some(&b'$');
        if here == Section::File && (begins || is_end) {
            files += 1;
            if files > 1 {
                // each may name others: they would grow without end
                let cause = "a second section $ROAD_CRG_FILE; one file names one other";
                return Err(fault(path, of.max(1), cause, "join the numbers in one file"));
            }
            let file = beside(path, std::mem::take(&mut named), of.max(1))?;
            let held = whole(&file).map_err(|e| {
                let cause = format!("it names {}: {}", quoted(e.file.as_os_str().as_encoded_bytes()), e.cause);
                ImportError { file: path.into(), place: Place::Line(of), cause, ..e }
            })?;
            one(&file, held, head, open)?;
            here = Section::None;
        }
        if is_end {
            break;
        }
        at = next;
        if here == Section::Comment && !begins {
            continue;
        }
        let text = String::from_utf8_lossy(raw);
        let text = text.split('!').next().unwrap_or_default().trim();
        if text.is_empty() || text.starts_with('*') {
            continue;
        }
        // a name of a file may begin with the name of a variable
        if text.starts_with('$') && (begins || here != Section::File) {
            if text.starts_with("$$$$") {
                if head.body.is_some() {
                    return Err(fault(path, line, "these numbers follow those of the file that it names", "leave one"));
                }
                head.files.insert(0, path.into());
                head.body = Some(Body { bytes, at, line: line + 1 });
                open.pop();
                return Ok(());
            }
            here = section(text);
            for (wanted, kept, seen, outer) in [
                (Section::Opts, &mut head.opts, &mut opts, outer[0]),
                (Section::Mods, &mut head.mods, &mut mods, outer[1]),
            ] {
                if here == wanted {
                    if *seen > 0 {
                        let cause = format!("this section stands in line {seen} too");
                        return Err(fault(path, line, cause, "leave one of them"));
                    }
                    *seen = line;
                    if outer {
                        // the section of the file that names this one holds
                        here = Section::None;
                    } else {
                        *kept = Some(Keys::default());
                    }
                }
            }
            continue;
        }
        match here {
            Section::File => {
                named += text;
                of = line;
            }
            Section::Channels => channel(path, text, line, head)?,
            Section::Road | Section::Opts | Section::Mods => key(path, text, line, here, head)?,
            Section::None | Section::Comment => {}
        }
    }
    head.files.push(path.into());
    open.pop();
    Ok(())
}

/// The line that begins at a place, without its end, and where the next one begins.
pub fn next_line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &bytes[at.min(bytes.len())..];
    match memchr::memchr2(b'\n', b'\r', rest) {
        None => (rest, bytes.len()),
        Some(end) => (&rest[..end], at + end + 1 + usize::from(rest[end..].starts_with(b"\r\n"))),
    }
}

/// The file that a section `$ROAD_CRG_FILE` names.
fn beside(path: &Path, name: String, line: u64) -> Result<PathBuf, ImportError> {
    let name = name.replace('\\', "/");
    if name.is_empty() {
        return Err(fault(path, line, "no name stands in its section $ROAD_CRG_FILE", "write it there"));
    }
    let full = match name.strip_prefix('$') {
        None => name,
        Some(rest) => {
            let (variable, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let value = std::env::var(variable).map_err(|_| {
                let cause = format!("{:?} stands in the name of a file, and is not set", bounded(variable));
                fault(path, line, cause, "set it in the environment, or write the path")
            })?;
            value + rest
        }
    };
    Ok(path.with_file_name("").join(full))
}

/// A number at the beginning of a text, and whether something stands behind it.
pub fn number(text: &str) -> Option<(f64, bool)> {
    let text = text.trim();
    // Fortran writes exponents so
    let plain = text.replace(['d', 'D'], "e");
    let (value, length) = fast_float2::parse_partial::<f64, _>(plain.as_bytes()).ok()?;
    (length > 0 && value.is_finite()).then_some((value, length < plain.len()))
}

fn key(path: &Path, text: &str, line: u64, here: Section, head: &mut Head) -> Result<(), ImportError> {
    let Some((key, value)) = text.split_once('=') else {
        let cause = format!("{} is no key with a number", quoted(text.as_bytes()));
        return Err(fault(path, line, cause, "write KEY = NUMBER, or begin the line with *"));
    };
    let key = key.trim().to_ascii_lowercase();
    let (known, keys) = match here {
        Section::Road => (ROAD, Some(&mut head.road)),
        Section::Opts => (OPTS, head.opts.as_mut()),
        _ => (MODS, head.mods.as_mut()),
    };
    let Some(keys) = keys.filter(|_| known.contains(&&*key)) else {
        head.unused.push((shown(&key), line));
        return Ok(());
    };
    let Some((value, loose)) = number(value) else {
        let cause = format!("{} is not a number", quoted(value.trim().as_bytes()));
        return Err(fault(path, line, cause, "write one, or begin the line with *"));
    };
    if loose {
        let (first, count) = head.loose.unwrap_or((line, 0));
        head.loose = Some((first, count + 1));
    }
    if let Some((_, most)) = WHOLE.iter().find(|(name, _)| *name == key)
        && !(value.fract() == 0.0 && (0.0..=*most).contains(&value))
    {
        return Err(fault(path, line, format!("{key} is {value}"), &format!("write a whole number, 0 to {most}")));
    }
    keys.0.insert(key, Key { value, file: path.into(), line });
    Ok(())
}

fn channel(path: &Path, text: &str, line: u64, head: &mut Head) -> Result<(), ImportError> {
    let Some((mark, rest)) = text.split_once(':') else { return Ok(()) };
    match mark.trim().to_ascii_uppercase().as_str() {
        "#" => {
            let code: Vec<char> = rest.trim().to_ascii_uppercase().chars().take(3).collect();
            head.format = match code[..] {
                [a @ ('K' | 'L'), b @ ('R' | 'D'), c @ ('F' | 'B')] => {
                    Some(Format { long: a == 'L', double: b == 'D', text: c == 'F' })
                }
                _ => {
                    let cause = format!("{} is no format of numbers", quoted(rest.trim().as_bytes()));
                    return Err(fault(path, line, cause, "it is one of LRFI, LDFI, KRBI, KDBI"));
                }
            };
        }
        "D" => {
            let kind = kind(rest).map_err(|cause| {
                fault(
                    path,
                    line,
                    cause,
                    "a channel is \"long section 1,m\", \"long section at v = 0.5,m\", or \"reference line phi,rad\"",
                )
            })?;
            head.channels.push(Channel { kind, line });
        }
        // virtual channels are for programs that draw
        _ => {}
    }
    Ok(())
}

fn kind(text: &str) -> Result<Kind, String> {
    let lower = text.to_ascii_lowercase();
    let (name, unit) = lower.split_once(',').unwrap_or((&lower, ""));
    let unit = unit.split(',').next().unwrap_or_default().trim();
    let name: String = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let of = |unit: &str, wanted: &str| match unit == wanted {
        true => Ok(()),
        false => Err(format!("the unit of {:?} is {:?} and not {wanted}", bounded(&name), bounded(unit))),
    };
    if let Some(rest) = name.strip_prefix("long section") {
        of(unit, "m")?;
        let (kind, digits): (fn(f64) -> Kind, &str) = match rest.trim().strip_prefix("at v") {
            Some(rest) => (Kind::At, rest.trim().strip_prefix('=').unwrap_or_default()),
            None => (Kind::Number, rest),
        };
        return match number(digits) {
            Some((value, false)) => Ok(kind(value)),
            _ => Err(format!("{:?} has no number", bounded(&name))),
        };
    }
    let Some(rest) = name.strip_prefix("reference line") else { return Ok(Kind::Other) };
    let (kind, wanted) = match rest.trim() {
        "u" => (Kind::U, "m"),
        "x" => (Kind::X, "m"),
        "y" => (Kind::Y, "m"),
        "phi" => (Kind::Phi, "rad"),
        "banking" => (Kind::Banking, "m/m"),
        "slope" => (Kind::Slope, "m/m"),
        _ => return Err(format!("{:?} is not known", bounded(&name))),
    };
    of(unit, wanted)?;
    Ok(kind)
}

impl Head {
    /// The file with the numbers.
    pub fn file(&self) -> &Path {
        &self.files[0]
    }
}
