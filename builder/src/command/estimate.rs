//! What sampling takes, said before it begins: memory and time; and that a machine has not so much memory.

use std::{fs, path::Path};

use crate::sample::{Made, Rule, Sampler};
use serde_json::{Value, json};

use super::{Done, Failure, grouped, named, note, tell::Tell};

/// What is sampled.
pub struct Places {
    pub columns: usize,
    pub rows: usize,
    /// Way from one to the next, metres.
    pub apart: f64,
    /// None for all heights.
    pub rule: Option<Rule>,
    pub made: Made,
    /// Whether every face is asked for every place.
    pub oracle: bool,
}

#[derive(Clone, Copy)]
pub struct Estimate {
    /// Bytes of the heights, and of all arrays that there are.
    memory: [u64; 2],
    seconds: f64,
}

impl Estimate {
    /// Seconds of a core for a hit, a place, a triangle; of a whole square, of a post of a field, and of a triangle that the oracle asks.
    const HIT: f64 = 13e-9;
    const PLACE: f64 = 6e-9;
    const FACE: f64 = 120e-9;
    const WHOLE: f64 = 250e-9;
    const POST: f64 = 300e-9;
    const ASKED: f64 = 4e-9;

    /// `more` are bytes that stay beside what the sampler has.
    pub fn of(ground: &Sampler, places: &Places, more: u64) -> Self {
        let Places { columns, rows, apart, rule, made, oracle } = *places;
        let (hits, faces) = (ground.hits(apart), ground.triangles() as f64);
        let count = columns as f64 * rows as f64;
        let [heights, all] = ground.memory([columns, rows], hits, made);
        let hit = if rule.is_some_and(Rule::is_of_cells) { Self::WHOLE } else { Self::HIT };
        let post = if made == Made::Field { Self::POST } else { 0.0 };
        let oracle = if oracle { count * faces * Self::ASKED } else { 0.0 };
        let seconds = hits * hit + count * (Self::PLACE + post) + faces * Self::FACE + oracle;
        Estimate { memory: [heights, all + more], seconds: seconds / rayon::current_num_threads() as f64 }
    }

    /// Stops at what the machine cannot hold; `then` is what to type.
    pub fn allowed(&self, name: &Path, then: &str) -> Done {
        let Some(there) = machine_memory().filter(|there| self.memory[1] > *there) else { return Ok(()) };
        let [needed, there] = [self.memory[1], there].map(bytes);
        let text = format!("this takes {needed} of memory, and there are {there}; {then}");
        Err(Failure::Machine(format!("{}: {text}", named(name))))
    }

    /// `what` names the places and how far they are apart.
    pub fn tell(&self, places: &Places, what: &str, tell: &Tell) {
        let Places { columns, rows, apart, .. } = places;
        if tell.is_json() {
            let mut facts = self.facts();
            facts["columns"] = json!(columns);
            facts["rows"] = json!(rows);
            facts["cell"] = json!(apart);
            return tell.line(&json!({ "estimate": facts }));
        }
        let [heights, all] = self.memory;
        note(format!(
            "{} x {} {what}; memory: heights {}, with all arrays {}; time: about {} s",
            grouped(*columns as u64),
            grouped(*rows as u64),
            bytes(heights),
            bytes(all),
            seconds(self.seconds)
        ));
    }

    pub fn facts(&self) -> Value {
        json!({ "heights_bytes": self.memory[0], "memory_bytes": self.memory[1], "seconds": self.seconds })
    }
}

/// Bytes as people read them.
fn bytes(n: u64) -> String {
    if n < 10 << 10 {
        format!("{n} bytes")
    } else if n < 10 << 20 {
        format!("{:.1} KiB", n as f64 / 1024.0)
    } else {
        format!("{:.1} MiB", n as f64 / 1_048_576.0)
    }
}

fn seconds(s: f64) -> String {
    if s < 0.095 { format!("{:.2}", s.max(0.01)) } else { format!("{s:.1}") }
}

/// Bytes that the machine has, or fewer that a container is allowed; none if nobody says.
fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let machine = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map(|kib| kib << 10);
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let allowed = limits.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    machine.into_iter().chain(allowed).min()
}
