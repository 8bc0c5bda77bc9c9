//! Cost of sampling, before it begins.

use super::{Made, Rule, Sampler};
use hardpan::format::FRACTION;
use hardpan_shaders::{Face, Ground, Pick, Posts, Stages};
use serde::Serialize;
use std::{fs, hint::black_box, time::Instant};

/// Places of samples.
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
    /// Seconds of a core that writing a place takes.
    pub written: f64,
}

/// Memory and time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Estimate {
    pub heights_bytes: u64,
    /// The most that the whole program takes at once, what it took so far included.
    pub memory_bytes: u64,
    /// Seconds of the whole run, from its beginning.
    pub seconds: f64,
}

/// Memory of the program beside arrays.
const PROGRAM: u64 = 15 << 20;

/// Seconds of a core for a hit, a place, a triangle; of a whole square, of a post of a field, and of a triangle that
/// the oracle asks.
const HIT: f64 = 13e-9;
const PLACE: f64 = 6e-9;
const FACE: f64 = 120e-9;
const WHOLE: f64 = 250e-9;
const POST: f64 = 300e-9;
const ASKED: f64 = 4e-9;

/// Places along each side, and the most faces, of the part of a job that is done before, to see how fast the machine is
/// now.
const SIDE: usize = 192;
const FACES: usize = 20_000;

impl Estimate {
    /// `more` are bytes that stay beside what the sampler has; the run began at `begun`.
    pub fn of(ground: &Sampler, places: &Places, more: u64, stages: &dyn Stages, begun: Instant) -> Self {
        let Places { columns, rows, apart, rule, made, oracle, written } = *places;
        let (hits, faces) = (ground.hits(apart), ground.triangles() as f64);
        let count = columns as f64 * rows as f64;
        let [heights_bytes, mesh, next] = ground.memory([columns, rows], hits, made);
        let memory_bytes = peak().unwrap_or(0).max(PROGRAM + mesh + more + next);
        let threads = rayon::current_num_threads() as f64;
        let [pace, each] = ground.pace(stages);
        let hit = if rule.is_some_and(Rule::is_of_cells) { WHOLE } else { HIT };
        let post = if made == Made::Field { POST } else { 0.0 };
        let oracle = if oracle { count * faces * ASKED } else { 0.0 };
        let sampled = pace * (hits * hit + count * (PLACE + post) + faces * FACE + oracle) + count * each;
        let seconds = begun.elapsed().as_secs_f64() + sampled / threads + pace * count * written;
        Estimate { heights_bytes, memory_bytes, seconds }
    }
}

impl Sampler<'_> {
    /// How much longer than [`Estimate`] thinks a small part of the work takes here and now, and the seconds of a core
    /// for a place that the kernel is asked for, 0 where it is not.
    fn pace(&self, stages: &dyn Stages) -> [f64; 2] {
        let along = |axis: usize| {
            let [low, high] = self.bounds.map(|v| i64::from(v[axis]) << FRACTION);
            (0..SIDE as i64).map(move |i| low + (high - low) * (2 * i + 1) / (2 * SIDE as i64))
        };
        let [mut x, mut y]: [Vec<i64>; 2] = [along(0).collect(), along(1).collect()];
        x.dedup();
        y.dedup();
        let faces: Vec<Face> = self.faces.iter().copied().step_by(self.faces.len() / FACES + 1).collect();
        let timed = |work: &dyn Fn()| {
            // the first time may wait for memory and threads
            let times = [(); 2].map(|()| {
                let begun = Instant::now();
                work();
                begun.elapsed().as_secs_f64()
            });
            times[0].min(times[1])
        };
        let part = Ground { vertices: &self.vertices, faces: &faces };
        let ground = || drop(black_box(stages.heights(part, Posts { x: &x, y: &y }, Pick::Highest)));
        let [low, high] = self.bounds.map(|v| [f64::from(v[0]), f64::from(v[1])]);
        let area = ((high[0] - low[0]) * (high[1] - low[1])).max(1.0);
        let places = (x.len() * y.len()) as f64;
        let hits = self.hits_of(&faces, 1.0) / area * places;
        let expected = (hits * HIT + places * PLACE + faces.len() as f64 * FACE) / rayon::current_num_threads() as f64;
        let pace = if faces.is_empty() { 1.0 } else { timed(&ground) / expected };
        let each = self.asked.as_ref().map_or(0.0, |asked| {
            let t = asked.terrain();
            let asked = || x.iter().zip(&y).for_each(|(x, y)| _ = black_box(self.ask(&t, [*x, *y], Pick::Highest)));
            timed(&asked) / x.len().min(y.len()).max(1) as f64
        });
        [pace, each]
    }
}

/// The most bytes that the program had so far; none if nobody says.
fn peak() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
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
