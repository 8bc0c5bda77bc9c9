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

/// So many numbers, no fewer and no more: what is too many, the parser of TOML would pass over.
struct Exactly<const N: usize>([f64; N]);

impl<'de, const N: usize> Deserialize<'de> for Exactly<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers<const N: usize>;
        impl<'de, const N: usize> de::Visitor<'de> for Numbers<N> {
            type Value = Exactly<N>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list of {N} numbers")
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let (mut all, mut count) = ([0.0; N], 0);
                while let Some(number) = list.next_element()? {
                    if let Some(place) = all.get_mut(count) {
                        *place = number;
                    }
                    count += 1;
                }
                if count == N { Ok(Exactly(all)) } else { Err(de::Error::invalid_length(count, &self)) }
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

/// A factor for all axes, or one for each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
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

impl<'de> Deserialize<'de> for Scale {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One;
        impl<'de> de::Visitor<'de> for One {
            type Value = Scale;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number or a list of 3 numbers")
            }

            fn visit_f64<E>(self, v: f64) -> Result<Scale, E> {
                Ok(Scale::All(v))
            }

            fn visit_i64<E>(self, v: i64) -> Result<Scale, E> {
                Ok(Scale::All(v as f64))
            }

            fn visit_u64<E>(self, v: u64) -> Result<Scale, E> {
                Ok(Scale::All(v as f64))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Scale, A::Error> {
                let all = Exactly::<3>::deserialize(de::value::SeqAccessDeserializer::new(list))?;
                Ok(Scale::Each(all.0))
            }
        }
        deserializer.deserialize_any(One)
    }
}

/// So many numbers.
pub(crate) fn exactly<'de, const N: usize, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; N], D::Error> {
    Exactly::deserialize(deserializer).map(|all| all.0)
}

/// So many numbers, or none.
pub(crate) fn some_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<[f64; N]>, D::Error> {
    Ok(Option::<Exactly<N>>::deserialize(deserializer)?.map(|all| all.0))
}

/// Lists of so many numbers.
pub(crate) fn each_exactly<'de, const N: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<[f64; N]>, D::Error> {
    Ok(Vec::<Exactly<N>>::deserialize(deserializer)?.into_iter().map(|all| all.0).collect())
}

/// true, false, 1 or 0.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    struct Flag;
    impl de::Visitor<'_> for Flag {
        type Value = Option<bool>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("true, false, 1 or 0")
        }

        fn visit_bool<E>(self, v: bool) -> Result<Self::Value, E> {
            Ok(Some(v))
        }

        fn visit_u64<E: de::Error>(self, v: u64) -> Result<Self::Value, E> {
            if v > 1 { Err(E::invalid_value(de::Unexpected::Unsigned(v), &self)) } else { Ok(Some(v == 1)) }
        }

        fn visit_i64<E: de::Error>(self, v: i64) -> Result<Self::Value, E> {
            let wrong = |_| E::invalid_value(de::Unexpected::Signed(v), &self);
            u64::try_from(v).map_err(wrong).and_then(|v| self.visit_u64(v))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(Flag)
}
