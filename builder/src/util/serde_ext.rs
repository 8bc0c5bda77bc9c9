//! Shapes of values that serde does not have by itself.

use serde::{Deserialize, Deserializer, Serialize, de};
use std::{fmt, marker::PhantomData};

/// A word of a fixed set, as it is typed.
pub(crate) mod word {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use std::{fmt::Display, str::FromStr};

    pub fn serialize<T: Display, S: Serializer>(word: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match word {
            Some(word) => serializer.collect_str(word),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        let word = Option::<String>::deserialize(deserializer)?;
        word.map(|w| w.parse().map_err(de::Error::custom)).transpose()
    }
}

/// A table, or `false` for none.
pub(crate) mod or_false {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use std::{fmt, marker::PhantomData};

    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_bool(false),
        }
    }

    struct OrFalse<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> de::Visitor<'de> for OrFalse<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("a table or false")
        }

        fn visit_bool<E: de::Error>(self, v: bool) -> Result<Self::Value, E> {
            if v { Err(E::invalid_value(de::Unexpected::Bool(v), &self)) } else { Ok(None) }
        }

        fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Some)
        }
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        deserializer.deserialize_any(OrFalse(PhantomData))
    }
}

/// A table. A list, of which serde would take the values one after the other, is none.
pub(crate) struct Table<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for OfMap<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(de::value::MapAccessDeserializer::new(map)).map(Table)
            }
        }
        deserializer.deserialize_map(OfMap(PhantomData))
    }
}

/// A table.
pub(crate) fn table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Table::deserialize(deserializer).map(|table| table.0)
}

/// A table, or none.
pub(crate) fn some_table<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Option::<Table<T>>::deserialize(deserializer)?.map(|table| table.0))
}

/// A number; -0 is 0.
pub(crate) fn unsigned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    f64::deserialize(deserializer).map(|v| v + 0.0)
}

/// The same, which may be left out.
pub(crate) fn some_unsigned<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.map(|v| v + 0.0))
}

/// A factor for all axes, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number or a list of 3 numbers")]
pub enum Scale {
    /// For all.
    All(f64),
    /// For x, y and z.
    Each([f64; 3]),
}

impl Scale {
    /// The factors of x, y and z.
    pub fn each(self) -> [f64; 3] {
        match self {
            Scale::All(v) => [v; 3],
            Scale::Each(all) => all,
        }
    }
}

/// So many numbers, no fewer and no more: what is too many, the parser of TOML would pass over.
fn numbers<const N: usize, E: de::Error>(all: Vec<f64>) -> Result<[f64; N], E> {
    all.try_into().map_err(|all: Vec<f64>| E::invalid_length(all.len(), &format!("a list of {N} numbers").as_str()))
}

/// So many numbers.
pub(crate) fn exactly<'de, const N: usize, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; N], D::Error> {
    numbers(Vec::deserialize(deserializer)?)
}

/// So many numbers, or none.
pub(crate) fn some_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<[f64; N]>, D::Error> {
    Option::deserialize(deserializer)?.map(numbers).transpose()
}

/// Lists of so many numbers.
pub(crate) fn each_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<[f64; N]>, D::Error> {
    Vec::deserialize(deserializer)?.into_iter().map(numbers).collect()
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected true, false, 1 or 0")]
enum Flag {
    Word(bool),
    Number(u8),
}

/// true, false, 1 or 0.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(Flag::Word(is)) => Ok(Some(is)),
        Some(Flag::Number(n @ 0..=1)) => Ok(Some(n == 1)),
        Some(Flag::Number(_)) => Err(de::Error::custom("expected true, false, 1 or 0")),
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected u16")]
enum SurfaceType {
    Number(u16),
    Name(String),
}

/// A surface type: its number, or its name.
pub(crate) fn surface_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
    use hardpan::format::surface::NAMES;
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(SurfaceType::Number(n)) => Ok(Some(n)),
        Some(SurfaceType::Name(name)) => match NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, n)) => Ok(Some(*n)),
            None => {
                let known = NAMES.map(|(known, _)| format!("`{known}`")).join(", ");
                Err(de::Error::custom(format!("unknown variant `{name}`, expected one of {known}")))
            }
        },
    }
}
