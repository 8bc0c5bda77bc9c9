//! What a parser says about a settings file, in words for who wrote it.

use super::SettingsError;
use crate::names::{bounded_text, suggestion};

/// What the parsers call kinds of values, and what people call them.
const KINDS: [(&str, &str); 7] = [
    ("f64", "a number"),
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("i32", "a whole number"),
    ("a string", "text in quotation marks"),
    ("a sequence", "a list"),
];

/// The rules of the language, for who broke one.
const TOML: &str = "a line is KEY = VALUE, [TABLE] or [[TABLE]]; text stands in \"...\" with / instead of \\; a number has a decimal point";

/// A parser's error of TOML; `parsed` says whether the text is TOML at all.
pub fn of_toml(text: &str, e: &toml::de::Error, parsed: bool) -> SettingsError {
    let rule = if parsed { None } else { Some(TOML) };
    let Some(span) = e.span() else { return SettingsError::at(None, told(e.message(), rule)) };
    let before = &text[..text.floor_char_boundary(span.start)];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    SettingsError { column: Some(column), ..SettingsError::at(Some(line), told(e.message(), rule)) }
}

/// The cause, with kinds as people call them, and the nearest spelling of a word that is unknown: serde puts that word in backticks, and
/// then those that it knows.
pub fn told(message: &str, rule: Option<&str>) -> String {
    let message = message.trim_end().replace('\n', "; ");
    let mut words = message.split('`').skip(1).step_by(2);
    let text = match (message.starts_with("unknown "), message.rsplit_once("expected "), rule) {
        (_, _, Some(rule)) => format!("{message}; {rule}"),
        (true, ..) => {
            let (word, known) = (words.next().unwrap_or_default(), words.collect::<Vec<_>>());
            format!(
                "{word:?} is not known here{}; known: {}",
                suggestion(word, known.iter().copied()),
                known.join(", ")
            )
        }
        (_, Some((cause, kind)), _) => {
            let plain = KINDS.iter().find(|(own, _)| *own == kind).map_or(kind, |(_, plain)| plain);
            format!("{cause}expected {plain}")
        }
        _ => message,
    };
    bounded_text(text)
}
