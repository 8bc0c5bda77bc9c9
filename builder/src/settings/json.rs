//! Settings as JSON.

use super::{
    LISTS, Settings, SettingsError,
    faults::{ENTRY, Place, TABLE, explain, takes},
};
use crate::names::bounded_text;
use serde::de::{self, DeserializeSeed as _, Deserializer};
use std::fmt;

impl Settings {
    /// Reads JSON of the same shape.
    pub fn from_json(text: &str) -> Result<Self, SettingsError> {
        let failed = |e: serde_json::Error| json_fault(text, &e);
        let mut json = serde_json::Deserializer::from_str(text);
        match Tables::Outermost.deserialize(&mut json) {
            Err(e) if e.is_data() => return Err(failed(e)),
            _ => {} // what is no JSON is told with what else is wrong
        }
        let settings: Settings = serde_json::from_str(text).map_err(failed)?;
        settings.check(|_, _, _| None)?;
        Ok(settings)
    }
}

/// What a parser of JSON says of a text, explained.
pub(super) fn json_fault(text: &str, e: &serde_json::Error) -> SettingsError {
    let (line, message) = (e.line(), e.to_string());
    let message = message.split(" at line ").next().unwrap_or_default();
    let whole = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let before = whole.get(..e.column()).unwrap_or(whole); // columns are bytes
    let place = Place { line: whole, before, mark: ':' };
    let known = (line > 0).then_some(line);
    let column = known.map(|_| before.chars().count().max(1));
    SettingsError { column, ..SettingsError::at(known, bounded_text(explain(message, &place))) }
}

/// A value of JSON in which no list stands for a table, though serde would fill the table's keys from it one after the other.
enum Tables<'k> {
    Outermost,
    /// Of a key of the outermost.
    Of(&'k str),
    /// An entry of a list of tables: there are none in it.
    Entry,
    /// Of a key of `build`: there are none in it.
    Build(&'k str),
}

impl<'de> de::DeserializeSeed<'de> for Tables<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self {
            Tables::Outermost | Tables::Entry | Tables::Of("build") => deserializer.deserialize_map(self),
            Tables::Of(_) | Tables::Build(_) => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> de::Visitor<'de> for Tables<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if matches!(self, Tables::Entry) { ENTRY } else { TABLE })
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match self {
                Tables::Outermost => map.next_value_seed(Tables::Of(&key))?,
                Tables::Of("build") => map.next_value_seed(Tables::Build(&key))?,
                _ => drop(map.next_value::<de::IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        match self {
            Tables::Of(key) if LISTS.contains(&key) => while list.next_element_seed(Tables::Entry)?.is_some() {},
            Tables::Of(key) if key != "raster" => while list.next_element::<de::IgnoredAny>()?.is_some() {},
            Tables::Build(key) if takes(key).is_none_or(|kind| kind != TABLE) => {
                while list.next_element::<de::IgnoredAny>()?.is_some() {}
            }
            _ => return Err(de::Error::invalid_type(de::Unexpected::Seq, &self)),
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
