//! What sampling takes, before it begins.

use super::{Made, Rule, Sampler};
use serde::Serialize;
use std::fs;

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

/// Memory and time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    pub heights_bytes: u64,
    /// Of all arrays together.
    pub memory_bytes: u64,
    pub seconds: f64,
}

/// Seconds of a core for a hit, a place, a triangle; of a whole square, of a post of a field, and of a triangle that the oracle asks.
const HIT: f64 = 13e-9;
const PLACE: f64 = 6e-9;
const FACE: f64 = 120e-9;
const WHOLE: f64 = 250e-9;
const POST: f64 = 300e-9;
const ASKED: f64 = 4e-9;

impl Estimate {
    /// `more` are bytes that stay beside what the sampler has.
    pub fn of(ground: &Sampler, places: &Places, more: u64) -> Self {
        let Places { columns, rows, apart, rule, made, oracle } = *places;
        let (hits, faces) = (ground.hits(apart), ground.triangles() as f64);
        let count = columns as f64 * rows as f64;
        let [heights_bytes, all] = ground.memory([columns, rows], hits, made);
        let hit = if rule.is_some_and(Rule::is_of_cells) { WHOLE } else { HIT };
        let post = if made == Made::Field { POST } else { 0.0 };
        let oracle = if oracle { count * faces * ASKED } else { 0.0 };
        let seconds = hits * hit + count * (PLACE + post) + faces * FACE + oracle;
        let seconds = seconds / rayon::current_num_threads() as f64;
        Estimate { heights_bytes, memory_bytes: all + more, seconds }
    }
}

/// Bytes that the machine has, or fewer that a container is allowed; none if nobody says.
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let machine = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map(|kib| kib << 10);
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let allowed = limits.iter().find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    machine.into_iter().chain(allowed).min()
}
