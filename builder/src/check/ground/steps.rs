//! Steps: ground ends at an open edge and begins again lower, with no upright face of the source between.

use crate::report::{Code, Finding, Severity};
use crate::util::text::metres;
use hardpan::Terrain;
#[cfg(feature = "json")]
use serde_json::{Value, json};

use super::layer_pair::Over;
use super::length;

/// Ground that ends higher than what lies beside it.
pub struct Step {
    /// In the middle along the upper edge.
    pub over: Over,
    /// Metres along the edge.
    pub length: f64,
    /// Parts of the upper edges in plan, metres.
    pub edges: Vec<[[f64; 2]; 2]>,
    /// Whether the source was asked for upright faces.
    pub is_known: bool,
}

impl Step {
    /// As a value. An image does not keep upright faces: there it is a note, for it may be a kerb.
    pub fn finding(&self, t: &Terrain) -> Finding {
        let values =
            vec![length("height", self.over.height()), length("length", self.length), length("low", self.over.low)];
        let severity = if self.is_known { Severity::Warning } else { Severity::Note };
        let (subject, place) = (self.over.names(t), Some(self.over.at));
        Finding { severity, subject, place, values, ..Code::Step.finding(self.told(t)) }
    }

    /// In words, with a place to query.
    pub fn told(&self, t: &Terrain) -> String {
        let (high, long) = (metres(self.over.height()), metres(self.length));
        format!("step {high} high, {long} long {}", self.over.text(t, "beside"))
    }
}

/// For programs: the first of them.
#[cfg(feature = "json")]
pub fn facts(steps: &[Step], t: &Terrain) -> Value {
    let fact = |s: &Step| s.over.facts(t, json!({ "height": s.over.height(), "length": s.length }));
    steps.iter().take(super::gaps::LISTED[1]).map(fact).collect()
}
