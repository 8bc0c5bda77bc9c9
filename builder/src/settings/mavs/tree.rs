//! JSON as a tree, with the keys that stand twice in one object.

use crate::util::text::bounded;
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use std::fmt;

/// A value as the text has it.
enum Node {
    Leaf(Value),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

/// The tree of a text, and the paths of keys of which an earlier one does not count.
pub fn parse(text: &str) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut twice = Vec::new();
    let node: Node = serde_json::from_str(text)?;
    Ok((node.value("", &mut twice), twice))
}

impl Node {
    fn value(self, path: &str, twice: &mut Vec<String>) -> Value {
        match self {
            Node::Leaf(value) => value,
            Node::List(all) => {
                let each = all.into_iter().enumerate();
                Value::Array(each.map(|(i, node)| node.value(&format!("{path}[{i}]"), twice)).collect())
            }
            Node::Table(all) => {
                let mut table = Map::new();
                for (key, node) in all {
                    let dot = if path.is_empty() { "" } else { "." };
                    let at = format!("{path}{dot}{}", bounded(&key));
                    let value = node.value(&at, twice);
                    if table.insert(key, value).is_some() {
                        twice.push(at);
                    }
                }
                Value::Object(table)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> de::Visitor<'de> for Any {
            type Value = Node;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("JSON")
            }

            fn visit_bool<E>(self, v: bool) -> Result<Node, E> {
                Ok(Node::Leaf(v.into()))
            }

            fn visit_i64<E>(self, v: i64) -> Result<Node, E> {
                Ok(Node::Leaf(v.into()))
            }

            fn visit_u64<E>(self, v: u64) -> Result<Node, E> {
                Ok(Node::Leaf(v.into()))
            }

            fn visit_f64<E>(self, v: f64) -> Result<Node, E> {
                Ok(Node::Leaf(v.into()))
            }

            fn visit_str<E>(self, v: &str) -> Result<Node, E> {
                Ok(Node::Leaf(v.into()))
            }

            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Leaf(Value::Null))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
                let mut all = Vec::new();
                while let Some(node) = list.next_element()? {
                    all.push(node);
                }
                Ok(Node::List(all))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
                let mut all = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    all.push(entry);
                }
                Ok(Node::Table(all))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
