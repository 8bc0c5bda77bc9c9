//! Single calls that find caches swept.

use std::{
    fs,
    hint::black_box,
    ops::RangeInclusive,
    time::{Duration, Instant},
};

use hardpan::Terrain;
use serde_json::{Value, json};

use super::way::Times;

/// Memory that is read before a call that finds caches swept, in bytes, where the machine does not tell how much its caches hold:
/// more than those of most.
pub const SWEEP: usize = 64 << 20;

/// Places that are asked so, a thousandth of all; the slowest of the single calls beside them; and whichever is slowest then is asked
/// [`SWEPT_AGAIN`] times more, until the slowest is such a one.
pub const SWEPT: RangeInclusive<u64> = 8..=256;

pub const SWEPT_SLOWEST: usize = 8;

pub const SWEPT_AGAIN: usize = 3;

/// Time after which no other place is asked.
pub const SWEEPING: Duration = Duration::from_millis(2500);

/// Twice what the last level of caches holds, in bytes.
pub fn sweep() -> usize {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let last = caches.filter_map(|cache| {
        let read = |name: &str| fs::read_to_string(cache.path().join(name)).ok();
        let kibibytes: usize = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        Some((read("level")?.trim().parse::<u32>().ok()?, kibibytes << 10))
    });
    last.max().filter(|(_, bytes)| (1 << 10..1 << 32).contains(bytes)).map_or(SWEEP, |(_, bytes)| 2 * bytes)
}

/// Numbers of the places for calls with caches swept: spread evenly over all, as are the first of them, however many.
pub fn spread_over(queries: u64) -> Vec<u64> {
    let count = (queries / 1000).clamp(*SWEPT.start(), *SWEPT.end());
    if queries <= count {
        return (0..queries).collect();
    }
    // multiples of the golden ratio, less whole ones
    let share = |k: u64| (k as f64 * 0.618_033_988_749_894_9).fract();
    (0..count).map(|k| (share(k) * queries as f64) as u64).collect()
}

/// Single calls, each after caches were swept.
pub struct Swept {
    /// Of memory that was read before each.
    pub bytes: usize,
    /// Of the places that are spread evenly; of each the fastest call.
    pub times: Times,
    pub mean: f64,
    /// Nanoseconds of the longest call.
    pub max: u64,
    /// The slowest of all places, by the fastest of its calls.
    pub worst: (u64, [f64; 3]),
}

impl Swept {
    pub fn time(t: &Terrain, spread: &[[f64; 3]], slowest: &[(u64, [f64; 3])], clock: u64) -> Self {
        let bytes = sweep();
        let memory = vec![1u64; bytes / 8]; // not zeros: those need no memory
        let (start, mut max) = (Instant::now(), 0);
        let mut call = |place: [f64; 3]| {
            _ = black_box(black_box(&memory).iter().step_by(8).sum::<u64>()); // a word of each line
            _ = black_box((place, Instant::now())); // these are at hand
            let start = Instant::now();
            _ = black_box(t.closest(place));
            let ns = (start.elapsed().as_nanos() as u64).saturating_sub(clock);
            max = max.max(ns);
            ns
        };
        let mut calls: Vec<(u64, [f64; 3])> = Vec::new();
        for place in spread.iter().chain(slowest.iter().map(|(_, place)| place)) {
            if calls.is_empty() || start.elapsed() < SWEEPING {
                calls.push((call(*place), *place));
            }
        }
        let mut again = vec![false; calls.len()];
        while let Some(i) = (0..calls.len()).max_by_key(|&i| calls[i].0).filter(|&i| !again[i]) {
            let (ns, place) = &mut calls[i];
            (0..SWEPT_AGAIN).for_each(|_| *ns = call(*place).min(*ns));
            again[i] = true;
        }
        let mut times = Times::default();
        let even = &calls[..calls.len().min(spread.len())];
        even.iter().for_each(|(ns, _)| times.add(*ns));
        let mean = even.iter().map(|(ns, _)| *ns as f64).sum::<f64>() / even.len().max(1) as f64;
        let worst = calls.iter().copied().max_by_key(|(ns, _)| *ns).unwrap_or_default();
        Swept { bytes, times, mean, max, worst }
    }

    /// Of 100 places or more.
    pub fn p99(&self) -> Option<u64> {
        (self.times.calls >= 100).then(|| self.times.quantile(0.99))
    }

    pub fn facts(&self) -> Value {
        let (ns, place) = self.worst;
        json!({
            "places": self.times.calls, "bytes": self.bytes, "max": self.max, "worst": { "ns": ns, "at": place },
            "p99": self.p99(), "p50": self.times.quantile(0.5), "mean": self.mean,
        })
    }
}
