//! What parsers say about a settings file, in words for who wrote it: cause, and what to write instead.

use super::{MaterialRule, Settings, SourceFile, suggestion};
use crate::{Options, Split};
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
    /// The key whose value stands here, or nothing.
    fn key(&self) -> &str {
        let key = self.before.rsplit_once(self.mark).map_or("", |(key, _)| key.trim().trim_matches('"'));
        key.rsplit(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).next().unwrap_or_default()
    }

    /// Key and value as the line has them, without a comment.
    fn entry(&self) -> Option<(&str, &str)> {
        let (key, value) = self.line.split_once(self.mark)?;
        Some((key.trim(), value.split('#').next().unwrap_or_default().trim()))
    }

    /// A number that is written with a decimal comma, with a point.
    fn comma(&self) -> Option<String> {
        let (_, value) = self.line.rsplit_once(self.mark)?;
        let (whole, rest) = value.trim().split_once(',')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (whole.parse::<i64>().is_ok() && !digits.is_empty()).then(|| format!("{whole}.{digits}"))
    }
}

/// What a parser says, explained.
pub fn explain(message: &str, place: &Place) -> String {
    let message = message.trim_end().replace('\n', "; ");
    if let Some(kind) = message.strip_prefix("unknown ") {
        return unknown(kind);
    }
    if let Some(number) = place.comma() {
        return format!("a decimal comma; write {number}");
    }
    match message.split_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid type: ") || found.starts_with("invalid value: ") => {
            let (_, found) = found.split_once(": ").unwrap_or_default();
            other(found, expected, place)
        }
        Some((found, expected)) if found.starts_with("invalid length ") => {
            let key = place.key();
            format!("{key}{}write {}", if key.is_empty() { "" } else { ": " }, kind(expected))
        }
        _ => syntax(&message, place),
    }
}

/// A word that is not known, the nearest spelling, and where it would be known: serde names in backticks what it found, and then
/// what it knows.
fn unknown(kind: &str) -> String {
    let mut words = kind.split('`').skip(1).step_by(2);
    let word = words.next().unwrap_or_default();
    let here: Vec<&str> = words.collect();
    let there = if kind.starts_with("field") { tables(word) } else { Vec::new() };
    let hint = match &there[..] {
        [] => suggestion(word, here.iter().copied()),
        _ => format!("; it stands {}", there.join(", or ")),
    };
    format!("{word:?} is not known here{hint}; known: {}", here.join(", "))
}

/// The tables of a settings file that have a key.
fn tables(key: &str) -> Vec<&'static str> {
    let all = [
        ("at the top, before every [table]", keys::<Settings>()),
        ("under [build]", keys::<Options>()),
        ("under [build.split]", keys::<Split>()),
        ("under [[source]]", keys::<SourceFile>()),
        ("under [[material]]", keys::<MaterialRule>()),
    ];
    all.iter().filter(|(_, keys)| keys.iter().any(|k| k == key)).map(|(table, _)| *table).collect()
}

/// The keys of a table, as serde names them when it meets one that is none.
fn keys<T: DeserializeOwned>() -> Vec<String> {
    let why = serde_json::from_str::<T>(r#"{"": 0}"#).err().map(|e| e.to_string()).unwrap_or_default();
    why.split('`').skip(1).step_by(2).filter(|key| !key.is_empty()).map(String::from).collect()
}

/// A value of another kind than its key takes.
fn other(found: &str, expected: &str, place: &Place) -> String {
    let (key, wanted) = (place.key(), kind(expected));
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
    match number.filter(|_| wanted.contains("number")) {
        Some(number) => format!("{key} is {found}; write {wanted} without quotation marks: {key} = {number}"),
        None if found == "a table" && wanted.starts_with("a list") && place.line.trim_start().starts_with('[') => {
            let name = place.line.trim().trim_matches(['[', ']']);
            format!("there may be several of these: write [[{name}]], with two brackets on each side")
        }
        None if key.is_empty() => format!("{found} stands where {wanted} belongs"),
        None => format!("{key} is {found}; write {wanted}"),
    }
}

/// What serde expects.
fn kind(expected: &str) -> String {
    let whole = |least: i64, most: u64| format!("a whole number from {least} to {most}");
    match expected {
        "f64" => "a number".into(),
        "u8" => whole(0, u8::MAX.into()),
        "u16" => whole(0, u16::MAX.into()),
        "u32" => whole(0, u32::MAX.into()),
        "i32" => whole(i32::MIN.into(), i32::MAX as u64),
        "a string" => "text in quotation marks".into(),
        "a sequence" => "a list, as [0, 5]".into(),
        "an array of length 3" => "three numbers, as [1.0, 2.0, 3.0]".into(),
        "struct MaxCost" => "a table, as { tests = 24 }".into(),
        "struct Near" => "a table, as { plan = 4, height = 64 }".into(),
        named if named.starts_with("struct ") => "a table".into(),
        other => other.into(),
    }
}

/// A line that is no TOML or JSON.
fn syntax(message: &str, place: &Place) -> String {
    let (key, value) = place.entry().unwrap_or_default();
    let first = value.chars().next();
    if message.contains("escape") || message.contains("unicode value") {
        return "a backslash inside \"...\" begins an escape; write / instead of \\, or '...' instead of \"...\""
            .into();
    }
    if message.contains("duplicate") {
        return format!("{:?} stands here a second time; leave one of them", place.line.trim());
    }
    if place.mark == '=' && first.is_some_and(char::is_alphabetic) {
        return format!(
            "{value:?} is neither a number nor true or false; text stands in quotation marks: {key} = {value:?}"
        );
    }
    if place.mark == '=' && value.starts_with('.') {
        return format!("a number begins with a digit; write {key} = 0{value}");
    }
    if place.mark == '=' && value.starts_with('"') && value.matches('"').count() == 1 {
        return "a text ends in the line that it begins in, with \"".into();
    }
    match place.mark {
        '=' => format!("{message}; a line is KEY = VALUE, [TABLE] or [[TABLE]]; behind # stands a comment"),
        _ => format!("{message}; JSON has \"KEY\": VALUE, with commas between, and none after the last"),
    }
}
