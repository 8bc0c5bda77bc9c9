//! Errors of a settings file, in words for its author.

use super::SettingsError;
use crate::util::text::{bounded, bounded_text, suggestion};

/// Kinds of values in the words of the parsers, and in plain words.
const KINDS: [(&str, &str); 8] = [
    ("f64", "a number"),
    ("u8", "a whole number from 0 to 255"),
    ("u16", "a whole number from 0 to 65535"),
    ("u32", "a whole number from 0 to 4294967295"),
    ("i16", "a whole number from -32768 to 32767"),
    ("i32", "a whole number"),
    ("a string", "text in quotation marks"),
    ("a sequence", "a list"),
];

/// The rules of the language, for who broke one.
const TOML: &str = "a line is KEY = VALUE, [TABLE] or [[TABLE]]; text stands in \"...\" with / instead of \\; a number has a decimal point";

/// A parser's error of TOML; `parsed` says whether the text is TOML at all.
pub fn of_toml(text: &str, e: &toml::de::Error, parsed: bool) -> SettingsError {
    let rule = if parsed { None } else { Some(TOML) };
    let said = SettingsError { rule, ..SettingsError::at(None, told(e.message())) };
    let Some(span) = e.span() else { return said };
    let before = &text[..text.floor_char_boundary(span.start)];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    let column = before[start..].chars().count() + 1;
    SettingsError { line: Some(line), column: Some(column), ..said }
}

/// The cause, with kinds as people call them, and the nearest spelling of a word that is unknown.
pub fn told(message: &str) -> String {
    let message = message.trim_end().replace('\n', "; ");
    let text = match (unknown(&message), message.rsplit_once("expected ")) {
        (Some((word, known)), _) => {
            let near = match word {
                // an entry of materials, where only rules have these keys
                "object" | "file" if known.contains(&"pattern") => " (a [[rule]] has it)".into(),
                _ => suggestion(word, known.iter().copied()),
            };
            format!("{:?} is not known here{near}; known: {}", bounded(word), known.join(", "))
        }
        (None, Some((cause, kind))) => {
            let plain = KINDS.iter().find(|(own, _)| *own == kind).map_or(kind, |(_, plain)| plain);
            format!("{cause}expected {plain}")
        }
        _ => message,
    };
    bounded_text(text)
}

/// An unknown word, and those that are known: serde puts all in backticks. The word may have some, too, but not those
/// that are known.
fn unknown(message: &str) -> Option<(&str, Vec<&str>)> {
    let (_, words) = message.strip_prefix("unknown ")?.split_once('`')?;
    let (word, known) = words.rsplit_once("`, expected ")?;
    Some((word, known.split('`').skip(1).step_by(2).collect()))
}

#[cfg(test)]
mod tests {
    use crate::settings::Settings;

    #[test]
    fn an_unknown_key_may_have_backticks() {
        for key in ["m`u", "`", "a`, expected `b`", "`mu`"] {
            let text = format!("[[material]]\nname = \"a\"\n{key:?} = 1\n");
            let why = Settings::from_toml(&text).unwrap_err();
            assert!(why.text.starts_with(&format!("{key:?} is not known here")), "{why}");
            let (_, known) = why.text.rsplit_once("; known: ").unwrap();
            let known: Vec<&str> = known.split(", ").collect();
            assert!(
                known.starts_with(&["name", "pattern"]) && known.ends_with(&["precedence", "friction_only"]),
                "{why}"
            );
        }
    }
}
