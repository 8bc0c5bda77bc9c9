//! Settings as JSON.

use super::{Settings, SettingsError, faults::told};
use crate::util::serde_ext::Table;

/// The rules of the language, for who broke one.
const JSON: &str = "JSON has \"KEY\": VALUE, with commas between, and none after the last; text has / instead of \\";

impl Settings {
    /// Reads JSON of the same shape.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let Table(settings): Table<Settings> = serde_json::from_str(text).map_err(|e| of_json(text, &e))?;
        settings.check(|_, _, _| None)?;
        Ok(settings)
    }
}

/// A parser's error of JSON.
pub(super) fn of_json(text: &str, e: &serde_json::Error) -> SettingsError {
    let whole = text.lines().nth(e.line().saturating_sub(1)).unwrap_or_default();
    let before = &whole[..whole.floor_char_boundary(e.column())]; // columns are bytes
    let column = before.chars().count().max(1);
    let message = e.to_string();
    // the parser ends with a place, which goes before
    let message = message.rsplit_once(" at line ").map_or(&*message, |(cause, _)| cause);
    let rule = if e.is_data() { None } else { Some(JSON) };
    let known = (e.line() > 0).then_some(e.line());
    SettingsError { column: known.map(|_| column), rule, ..SettingsError::at(known, told(message)) }
}
