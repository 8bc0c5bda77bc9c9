//! What parsers say about a settings file, in words for who wrote it: cause, and what to write instead. Advice is given only
//! where the place at which the parser stopped leaves no doubt; what a key takes is asked of the settings themselves.

use super::{LISTS, MaterialRule, PartRule, Raster, Settings, SourceFile, too_many};
use crate::names::suggestion;
use crate::{MaxCost, Near, Options, Split};
use serde::de::DeserializeOwned;

/// Where a parser stopped.
pub struct Place<'a> {
    /// The line.
    pub line: &'a str,
    /// The line as far as the place.
    pub before: &'a str,
    /// What stands between key and value: `=` of TOML, `:` of JSON.
    pub mark: char,
}

impl Place<'_> {
    /// The key whose value stands here, if it begins in this line, and whether the place is within a list of it.
    fn key(&self) -> (&str, bool) {
        let (mut quote, mut escaped, mut from, mut lists) = (None, false, 0, 0);
        let mut key = "";
        // JSON stops behind what opens a value
        let before = if self.mark == ':' { self.before.trim_end_matches(['{', '[']) } else { self.before };
        for (at, c) in before.char_indices() {
            match quote {
                Some(_) if escaped => escaped = false,
                Some('"') if c == '\\' => escaped = true,
                Some(open) if c == open => quote = None,
                Some(_) => {}
                None if c == '"' || (c == '\'' && self.mark == '=') => quote = Some(c),
                None if c == self.mark => (key, lists) = (&before[from..at], 0),
                None => match c {
                    '[' => lists += 1,
                    ']' => lists -= 1,
                    ',' | '{' | '}' if lists <= 0 => (key, from) = ("", at + 1),
                    _ => {}
                },
            }
        }
        let key = key.trim().trim_matches(['"', '\'']);
        (key.rsplit(['.', '[', '{', '"']).next().unwrap_or_default().trim(), lists > 0)
    }

    /// What to write in place of a line of TOML that begins a table, `[material]` or `[material.Road]`, where a list has many.
    fn list(&self) -> Option<String> {
        let (head, _) = self.line.trim().strip_prefix('[')?.split_once(']')?;
        let (list, name) = head.trim_start_matches('[').split_once('.').unwrap_or((head, ""));
        let (list, name) = (list.trim(), name.trim().trim_matches(['"', '\'']));
        let then = match (list, name) {
            (list, "") if LISTS.contains(&list) => String::new(),
            ("material", name) => format!(", then in a line of its own: name = {name:?}"),
            ("source", _) => ", then in a line of its own: file = \"FILE.obj\"".into(),
            ("rule", _) => ", then in a line of its own: object = \"NAME\", or file = \"FILE.obj\"".into(),
            _ => return None,
        };
        let text = format!("there may be several of these: write [[{list}]], with two brackets on each side{then}");
        (self.mark == '=').then_some(text)
    }

    /// What stands from here on, without a comment.
    fn rest(&self) -> &str {
        let rest = &self.line[self.before.len()..];
        if self.mark == '=' { rest.split('#').next().unwrap_or_default().trim() } else { rest.trim() }
    }

    /// Key and value as the language has them.
    fn entry(&self, key: &str, value: &str) -> String {
        if self.mark == '=' { format!("{key} = {value}") } else { format!("{key:?}: {value}") }
    }

    /// A table of one line as the language has it.
    fn table(&self, entries: &[(&str, &str)]) -> String {
        let all: Vec<String> = entries.iter().map(|(key, value)| self.entry(key, value)).collect();
        format!("{{ {} }}", all.join(", "))
    }

    /// What to write of a kind that serde expects.
    fn kind(&self, key: &str, expected: &str) -> String {
        let whole = |least: i64, most: u64| format!("a whole number from {least} to {most}");
        let near = || format!("a table, as {}", self.table(&[("plan", "4"), ("height", "64")]));
        match (expected, key) {
            ("f64", _) => "a number".into(),
            ("u8", "classes") => whole(0, 31),
            ("u8", "tile_log2") => whole(6, 26),
            ("u8", _) => "a small whole number".into(),
            ("u16", _) => whole(0, u16::MAX.into()),
            ("u32", _) => whole(0, u32::MAX.into()),
            ("i32", _) => whole(i32::MIN.into(), i32::MAX as u64),
            ("a string", _) => "text in quotation marks".into(),
            ("a sequence", "classes") => "a list, as [0, 5]".into(),
            ("a sequence", _) => "a list, as [{ ... }]".into(),
            (three, _) if three == numbers(3) => "three numbers, as [1.0, 2.0, 3.0]".into(),
            (SCALE, _) => "a number, or three for x, y and z, as [1.0, 1.0, 0.5]".into(),
            ("a table or false", _) => format!("{}, or false", near()),
            (TABLE | "struct Near", "weld") | ("struct Near", _) => near(),
            (TABLE, "stitch") => format!("{}, or false", near()),
            (TABLE | "struct MaxCost", "max_cost") => format!("a table, as {}", self.table(&[("tests", "24")])),
            (list, _) if list.starts_with(NUMBERS) => format!("{} numbers in a list", list.trim_start_matches(NUMBERS)),
            (TABLE | "struct Split", "split") => format!("a table, as {}", self.table(&[("bundle_size", "8")])),
            (TABLE | "struct Raster", "raster") => format!("a table, as {}", self.table(&[("cell", "0.5")])),
            (ENTRY, _) => format!("{TABLE} with its keys"),
            (named, _) if named.starts_with("struct ") => TABLE.into(),
            (other, _) => other.into(),
        }
    }
}

/// What an array of so many numbers is called.
pub fn numbers(count: usize) -> String {
    format!("{NUMBERS}{count}")
}

const NUMBERS: &str = "an array of length ";

/// What a scale is called.
pub const SCALE: &str = "a number or three numbers";

/// What a table is called.
pub const TABLE: &str = "a table";

/// What an entry of a list of tables is called.
pub const ENTRY: &str = "a table in a list";

/// What a parser says, explained.
pub fn explain(message: &str, place: &Place) -> String {
    let message = message.trim_end().replace('\n', "; ");
    if let Some(kind) = message.strip_prefix("unknown ") {
        return unknown(kind, place);
    }
    match message.split_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid type: ") || found.starts_with("invalid value: ") => {
            let (_, found) = found.split_once(": ").unwrap_or_default();
            other(found, expected, place)
        }
        Some((found, expected)) if found.starts_with("invalid length ") => {
            let (count, (key, _)) = (found.trim_start_matches("invalid length "), place.key());
            let wanted = place.kind(key, expected);
            if key.is_empty() {
                format!("{count} numbers stand here; write {wanted}")
            } else {
                format!("{key} has {count} numbers; write {wanted}")
            }
        }
        _ if message == too_many() => message,
        _ if message.starts_with("missing field `") => {
            format!("{:?} is missing here; add it", message.split('`').nth(1).unwrap_or_default())
        }
        _ => syntax(&message, place),
    }
}

/// That a list stands where a table belongs: the parsers take one for the other.
pub fn positional(key: &str, place: &Place) -> String {
    match key {
        key if LISTS.contains(&key) => format!("{key} has a list in its list; write a table with its keys"),
        _ => format!("{key} is a list; write {}", place.kind(key, TABLE)),
    }
}

/// What others call a key.
const MEANT: [(&str, &str); 8] = [
    ("pattern", "object"),
    ("object_pattern", "object"),
    ("friction", "mu"),
    ("rolling", "rr"),
    ("rolling_resistance", "rr"),
    ("type", "surface_type"),
    ("rotate", "yaw_deg"),
    ("rotation", "yaw_deg"),
];

/// A word that is not known, the nearest spelling, and where it would be known: serde names in backticks what it found, and then
/// what it knows.
fn unknown(kind: &str, place: &Place) -> String {
    let mut words = kind.split('`').skip(1).step_by(2);
    let word = words.next().unwrap_or_default();
    // under a [[material]] the table of the next one is one of its keys
    if let Some(text) = place.list().filter(|_| place.line.contains(word)) {
        return text;
    }
    let here: Vec<&str> = words.collect();
    let there: Vec<&str> = match kind.starts_with("field") {
        true => {
            TABLES.iter().filter(|t| t.has(word)).map(|t| if place.mark == '=' { t.toml } else { t.json }).collect()
        }
        false => Vec::new(),
    };
    let meant = MEANT.iter().find(|(said, key)| *said == word && here.contains(key));
    let hint = match (meant, &there[..]) {
        (Some((_, key)), _) => format!(" (did you mean {key:?}?)"),
        (None, []) => suggestion(word, here.iter().copied()),
        _ => format!("; it stands {}", there.join(", or ")),
    };
    format!("{word:?} is not known here{hint}; known: {}", here.join(", "))
}

/// A table of a settings file.
struct Table {
    /// Where it stands.
    toml: &'static str,
    json: &'static str,
    /// What the table says of a text in TOML.
    tried: fn(&str) -> String,
}

fn tried<T: DeserializeOwned>(text: &str) -> String {
    toml::from_str::<T>(text).err().map(|e| e.message().into()).unwrap_or_default()
}

const TABLES: [Table; 9] = [
    Table { toml: "at the top, before every [table]", json: "in the outermost {}", tried: tried::<Settings> },
    Table { toml: "under [build]", json: "in \"build\"", tried: tried::<Options> },
    Table { toml: "under [build.split]", json: "in \"split\" of \"build\"", tried: tried::<Split> },
    Table { toml: "under [build.max_cost]", json: "in \"max_cost\" of \"build\"", tried: tried::<MaxCost> },
    Table {
        toml: "under [build.weld] and [build.stitch]",
        json: "in \"weld\" and \"stitch\" of \"build\"",
        tried: tried::<Near>,
    },
    Table { toml: "under [raster]", json: "in \"raster\"", tried: tried::<Raster> },
    Table { toml: "under [[source]]", json: "in an entry of \"source\"", tried: tried::<SourceFile> },
    Table { toml: "under [[material]]", json: "in an entry of \"material\"", tried: tried::<MaterialRule> },
    Table { toml: "under [[rule]]", json: "in an entry of \"rule\"", tried: tried::<PartRule> },
];

impl Table {
    /// Whether it has a key: serde names all, when it meets one that is none.
    fn has(&self, key: &str) -> bool {
        !key.is_empty() && (self.tried)("\"\" = 0").split('`').skip(1).step_by(2).any(|known| known == key)
    }
}

/// What a key takes, in serde's words or [`TABLE`]: what is said of a table with an unknown key in its place. None if it is
/// not known.
pub fn takes(key: &str) -> Option<String> {
    let why = (TABLES.iter().find(|t| t.has(key))?.tried)(&format!("{key:?} = {{ \"\" = 0 }}"));
    match why.split_once(", expected ") {
        Some(("unknown field ``", _)) => Some(TABLE.into()),
        Some((found, expected)) if found.starts_with("invalid type: ") => Some(expected.into()),
        _ => None,
    }
}

/// A value of another kind than its key takes.
fn other(found: &str, expected: &str, place: &Place) -> String {
    let (key, within) = place.key();
    let within = within || expected == ENTRY;
    let wanted = place.kind(key, expected);
    let text = found.strip_prefix("string ").map(|text| text.trim_matches('"'));
    let number = text.map(|text| text.trim().replace(',', ".")).filter(|n| n.parse::<f64>().is_ok());
    let found = match found {
        "map" => "a table".into(),
        "sequence" => "a list".into(),
        _ => match text {
            Some(text) => format!("the text {text:?}"),
            None => found.split('`').nth(1).unwrap_or(found).into(),
        },
    };
    if let Some(text) = place.list().filter(|_| found == "a table" && expected == "a sequence") {
        return text;
    }
    if let (Some(text), "a sequence", true) = (text, expected, LISTS.contains(&key)) {
        return entry_for_text(key, text, place);
    }
    let who = match (key, within) {
        ("", _) => return format!("{found} stands where {wanted} belongs"),
        (key, true) => format!("{key} has {found} in its list"),
        (key, false) => format!("{key} is {found}"),
    };
    match number.filter(|_| wanted.contains("number")) {
        Some(number) if within => format!("{who}; write {wanted} without quotation marks: {number}"),
        Some(number) => format!("{who}; write {wanted} without quotation marks: {}", place.entry(key, &number)),
        None => format!("{who}; write {wanted}"),
    }
}

/// A text where a list of tables belongs: what its writer may have meant.
fn entry_for_text(list: &str, text: &str, place: &Place) -> String {
    let entry = |key: &str| match place.mark {
        '=' => format!("write [[{list}]], then in a line of its own: {}", place.entry(key, &format!("{text:?}"))),
        _ => format!("write {}", place.entry(list, &format!("[{}]", place.table(&[(key, &format!("{text:?}"))])))),
    };
    let own = match place.mark {
        '=' => "for all faces of a file it stands under its [[source]], below file = \"FILE.obj\"",
        _ => "for all faces of a file it stands in its entry of \"source\"",
    };
    match list {
        "source" => format!("source is the text {text:?}; {}", entry("file")),
        "rule" => format!("rule is the text {text:?}; {}", entry("object")),
        _ => {
            format!("material is the text {text:?}; {own}; for an entry of a material of the meshes {}", entry("name"))
        }
    }
}

/// A line that is no TOML or JSON.
fn syntax(message: &str, place: &Place) -> String {
    let (key, within) = place.key();
    let toml = place.mark == '=';
    if message.contains("escape") || message.contains("unicode value") {
        let or = if toml { "or '...' instead of \"...\"" } else { "or \\\\" };
        return format!("a backslash inside \"...\" begins an escape; write / instead of \\, {or}");
    }
    if message.contains("duplicate") {
        let word = message.split('`').nth(1).unwrap_or(place.rest());
        let word = word.split(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).next().unwrap_or_default();
        return format!("{word} stands here a second time; leave one of them");
    }
    comma(key, within, place).or_else(|| if toml { bare(message, key, within, place) } else { None }).unwrap_or_else(
        || match toml {
            true => format!("{message}; a line is KEY = VALUE, [TABLE] or [[TABLE]]; behind # stands a comment"),
            false => format!("{message}; JSON has \"KEY\": VALUE, with commas between, and none after the last"),
        },
    )
}

/// Numbers with commas between that no brackets hold: the parser stops at the first comma of TOML, behind that of JSON.
fn comma(key: &str, within: bool, place: &Place) -> Option<String> {
    let (left, right) = match place.mark {
        '=' => (place.before, place.rest().strip_prefix(',')?),
        _ => {
            let (at, _) = place.before.char_indices().next_back()?;
            (place.before[..at].trim_end().strip_suffix(',')?, &place.line[at..])
        }
    };
    // behind the comma JSON sees another key
    let before = Place { before: left, ..*place };
    let key = if key.is_empty() { before.key().0 } else { key };
    let first = left.rsplit(place.mark).next().unwrap_or_default().trim();
    let more = right.split(['}', ']']).next().unwrap_or_default().split(',').map(str::trim);
    let parts: Vec<&str> = [first].into_iter().chain(more).collect();
    if within || key.is_empty() || !parts.iter().all(|p| p.parse::<f64>().is_ok()) {
        return None;
    }
    let expected = takes(key)?;
    let list = format!("[{}]", parts.join(", "));
    Some(match (expected.as_str(), &parts[..]) {
        ("f64" | SCALE, [whole, digits])
            if whole.parse::<i64>().is_ok() && digits.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("a decimal comma; write {}", place.entry(key, &format!("{whole}.{digits}")))
        }
        ("a sequence", _) => format!("a list stands in brackets; write {}", place.entry(key, &list)),
        (SCALE, [_, _, _]) => format!("a list stands in brackets; write {}", place.entry(key, &list)),
        (expected, parts) if expected == numbers(parts.len()) => {
            format!("a list stands in brackets; write {}", place.entry(key, &list))
        }
        (expected, _) if expected.starts_with(NUMBERS) || expected == TABLE => {
            format!("{key} takes {}", place.kind(key, expected))
        }
        _ => format!("{key} takes one value, and a number has no comma"),
    })
}

/// A value of TOML that is no number, and not in quotation marks.
fn bare(message: &str, key: &str, within: bool, place: &Place) -> Option<String> {
    let rest = place.rest();
    let value = place.line.split_once('=')?.1.trim_start();
    if value.starts_with('"') && value.matches('"').count() == 1 && rest.is_empty() {
        return Some("a text ends in the line that it begins in, with \"".into());
    }
    if within || key.is_empty() || !message.contains("expected") {
        return None;
    }
    let value = value.split('#').next().unwrap_or_default().trim();
    let number = |text: &str| text.parse::<f64>().is_ok().then(|| text.to_string());
    if message.starts_with("invalid mantissa") && rest.starts_with('.') {
        return Some(format!(
            "a number begins with a digit; write {}",
            place.entry(key, &number(&format!("0{value}"))?)
        ));
    }
    if message.starts_with("invalid fraction") && value.ends_with('.') {
        return Some(format!("a number ends with a digit; write {}", place.entry(key, &number(&format!("{value}0"))?)));
    }
    if message.contains("leading zero") {
        let digits = value.trim_start_matches('0');
        let digits =
            if digits.starts_with(|c: char| c.is_ascii_digit()) { digits.into() } else { format!("0{digits}") };
        return Some(format!("a number begins with no other zero; write {}", place.entry(key, &number(&digits)?)));
    }
    let curled = ['“', '”', '„', '‘', '’'];
    if !value.starts_with(|c: char| c.is_alphabetic() || curled.contains(&c)) {
        return None;
    }
    let inner = value.trim_matches(curled);
    Some(match takes(key)?.as_str() {
        // under a [[source]] it is a name
        expected if expected == "a string" || key == "material" => {
            format!("text stands in quotation marks, \"...\"; write {}", place.entry(key, &format!("{inner:?}")))
        }
        expected => format!("{key} is {value:?}; write {}", place.kind(key, expected)),
    })
}
