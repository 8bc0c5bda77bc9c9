//! How far sampling is: a bar on a terminal, or lines of JSON.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use clap::builder::PossibleValue;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::progress;

/// Steps of a bar.
const STEPS: f64 = 1000.0;
/// At most so often there is a line.
const EVERY: Duration = Duration::from_millis(100);

#[derive(clap::Args)]
pub struct Form {
    /// Progress on stderr: a bar on a terminal, or as JSON a line each
    #[arg(long, value_name = "FORM", default_value = "auto")]
    #[arg(value_parser = [PossibleValue::new("auto").alias("bar"), PossibleValue::new("json")])]
    progress: String,
}

impl Form {
    pub fn is_json(&self) -> bool {
        self.progress == "json"
    }
}

/// Tells of phases one after the other, each an equal part.
pub struct Tell {
    bar: Option<ProgressBar>,
    phases: usize,
    begun: usize,
    last: Option<Instant>,
    /// Percent that were told.
    told: f64,
}

impl Tell {
    pub fn new(json: bool, phases: usize) -> Self {
        let bar = (!json).then(|| progress::steps("sampling", STEPS as u64));
        Tell { bar, phases, begun: 0, last: None, told: -1.0 }
    }

    pub fn is_json(&self) -> bool {
        self.bar.is_none()
    }

    pub fn line(&self, facts: &Value) {
        let _ = writeln!(io::stderr(), "{facts}");
    }

    /// Receives the share of the next phase that is done.
    pub fn phase(&mut self) -> impl FnMut(f64) {
        let before = self.begun as f64;
        self.begun += 1;
        move |share| self.hear((before + share.clamp(0.0, 1.0)) / self.phases as f64)
    }

    fn hear(&mut self, share: f64) {
        let now = Instant::now();
        if self.last.is_some_and(|last| now - last < EVERY) {
            return;
        }
        self.last = Some(now);
        match &self.bar {
            Some(bar) => bar.set_position((share * STEPS) as u64),
            // whole and tenths; the last is reported at the end
            None => self.percent((share * 1000.0).floor().min(999.0) / 10.0),
        }
    }

    fn percent(&mut self, percent: f64) {
        if percent > self.told {
            self.told = percent;
            self.line(&json!({ "progress": percent }));
        }
    }

    /// All is done.
    pub fn end(&mut self) {
        match &self.bar {
            Some(bar) => bar.finish_and_clear(),
            None => self.percent(100.0),
        }
    }
}
