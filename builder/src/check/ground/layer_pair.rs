//! A place where ground lies over other ground, or ends beside it.

use hardpan::{Hit, Terrain, format::Attribute};
#[cfg(feature = "json")]
use serde_json::{Value, json};

use super::gaps::place;
use crate::import::NO_NAME;
use crate::util::text::shown;

/// Ground, and lower ground there.
#[derive(Clone, Copy)]
pub struct Over {
    /// The place and its height, metres.
    pub at: [f64; 3],
    /// Height of the lower ground, metres.
    pub low: f64,
    /// Whose the ground is, above and below.
    pub owners: [Owner; 2],
}

/// Numbers of a source and of a material.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    pub source: u16,
    pub material: u16,
}

impl Over {
    /// From one height to the other, metres.
    pub fn height(&self) -> f64 {
        self.at[2] - self.low
    }

    /// Whether both are of one source.
    pub fn is_of_one(&self) -> bool {
        self.owners[0].source == self.owners[1].source
    }

    /// Whose ground lies over whose; empty if nobody named any of it.
    pub fn names(&self, t: &Terrain) -> String {
        let names = self.owners.map(|o| o.name(t));
        if names == [None, None] {
            return String::new();
        }
        names.map(|name| name.unwrap_or_else(|| "unnamed ground".into())).join(" over ")
    }

    /// In words, with a place to query and how the upper ground lies to the lower one.
    pub fn text(&self, t: &Terrain, lies: &str) -> String {
        let [above, below] =
            self.owners.map(|o| o.name(t).map(|name| format!(" ({})", shown(&name))).unwrap_or_default());
        let at = place(&self.at[..2], 0.1);
        let [z, low] = [self.at[2], self.low].map(|z| (z * 1e4).round() / 1e4 + 0.0); // no -0
        format!("at {at}: z {z:.4}{above} {lies} {low:.4}{below}")
    }

    /// For programs, beside what else is known of the place.
    #[cfg(feature = "json")]
    pub fn facts(&self, t: &Terrain, mut facts: Value) -> Value {
        let [source, source_low] = self.owners.map(|o| t.source_name(o.source));
        let [material, material_low] = self.owners.map(|o| t.material_name(o.material));
        let own = json!({
            "at": self.at, "low": self.low,
            "source": source, "source_low": source_low, "material": material, "material_low": material_low,
        });
        if let (Value::Object(facts), Value::Object(own)) = (&mut facts, own) {
            facts.extend(own);
        }
        facts
    }
}

impl Owner {
    /// `material of source`, without what the file gives no name.
    fn name(self, t: &Terrain) -> Option<String> {
        let names = [t.material_name(self.material), t.source_name(self.source)];
        let named: Vec<&str> = names.into_iter().filter(|name| *name != NO_NAME).collect();
        (!named.is_empty()).then(|| named.join(" of "))
    }

    pub fn of(hit: &Hit) -> Self {
        Owner { source: hit.source, material: hit.material }
    }

    pub fn in_palette(a: &Attribute) -> Self {
        Owner { source: a.source, material: a.material }
    }
}
