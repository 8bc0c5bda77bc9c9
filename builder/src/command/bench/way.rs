//! Calls that are timed.

use std::{
    cmp::Reverse,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::swept::SWEPT_SLOWEST;

/// Runs without a break, of which the fastest counts: in the others the machine did something else as well.
pub const RUNS: usize = 3;

/// A way of asking, and how long it took.
pub struct Way {
    pub name: String,
    /// Whether figures are of calls, however many places each asks, and not of queries.
    pub calls: bool,
    /// Of all queries, without reading the clock in between: of each chunk the fastest run.
    pub whole: Duration,
    /// Of each call that was made again and again the fastest.
    pub fastest: Times,
    /// Nanoseconds of the longest call.
    pub max: u64,
    /// The slowest of `fastest`, and least and greatest of its places.
    pub worst: (u64, [[f64; 3]; 2]),
    /// Places of the slowest of `fastest`, at most [`SWEPT_SLOWEST`].
    pub slowest: Vec<(u64, [f64; 3])>,
}

/// Slowest calls that are made once more, [`AGAIN`] times, each after [`BEFORE`] places that came before it, so that caches are
/// about as they were; then those that are slowest now, so many rounds at most.
pub const SLOWEST: usize = 32;

pub const AGAIN: usize = 8;

pub const BEFORE: usize = 256;

pub const ROUNDS: usize = 64;

impl Way {
    pub fn new(name: &str) -> Self {
        Way {
            name: name.into(),
            calls: false,
            whole: Duration::ZERO,
            fastest: Times::default(),
            max: 0,
            worst: (0, [[0.0; 3]; 2]),
            slowest: Vec::new(),
        }
    }

    /// Asks `unit` points a call, without a break and with the clock, whose reading takes `clock` nanoseconds.
    pub fn time(&mut self, points: &[[f64; 3]], unit: usize, clock: u64, mut call: impl FnMut(&[[f64; 3]])) {
        let mut run = || {
            let start = Instant::now();
            points.chunks(unit).for_each(&mut call);
            start.elapsed()
        };
        let fastest = (0..RUNS).map(|_| run()).min().unwrap_or_default();
        self.whole += fastest.saturating_sub(Duration::from_nanos(clock));
        let calls: Vec<&[[f64; 3]]> = points.chunks(unit).collect();
        let whole = self.calls;
        let mut timed = |points: &[[f64; 3]]| {
            let start = Instant::now();
            call(points);
            let each = if whole { 1 } else { points.len() as u64 };
            (start.elapsed().as_nanos() as u64).saturating_sub(clock) / each
        };
        let mut fastest = vec![u64::MAX; calls.len()];
        for _ in 0..RUNS {
            for (points, fastest) in calls.iter().zip(&mut fastest) {
                let ns = timed(points);
                self.max = self.max.max(ns);
                *fastest = ns.min(*fastest);
            }
        }
        // until the slowest are such as were asked again
        let mut again = vec![false; calls.len()];
        for _ in 0..ROUNDS {
            let mut order: Vec<usize> = (0..calls.len()).collect();
            let count = SLOWEST.min(order.len());
            order.select_nth_unstable_by_key(count - 1, |&i| Reverse((fastest[i], i)));
            let slowest = order[..count].iter().max_by_key(|&&i| (fastest[i], i));
            if slowest.is_none_or(|&i| again[i]) {
                break;
            }
            for &i in order[..count].iter().filter(|&&i| !std::mem::replace(&mut again[i], true)) {
                for _ in 0..AGAIN {
                    calls[i.saturating_sub(BEFORE / unit)..i].iter().for_each(|points| _ = timed(points));
                    fastest[i] = fastest[i].min(timed(calls[i]));
                }
            }
        }
        let mut order: Vec<usize> = (0..calls.len()).collect();
        let count = SLOWEST.min(order.len());
        order.select_nth_unstable_by_key(count - 1, |&i| Reverse((fastest[i], i)));
        for (ns, place) in order[..count].iter().map(|&i| (fastest[i], calls[i][0])) {
            if self.slowest.iter().all(|(_, other)| *other != place) {
                self.slowest.push((ns, place));
            }
        }
        self.slowest.sort_by_key(|(ns, _)| Reverse(*ns));
        self.slowest.truncate(SWEPT_SLOWEST);
        for (points, ns) in calls.iter().zip(fastest) {
            self.fastest.add(ns);
            if ns >= self.worst.0 {
                let ends = |end: fn(f64, f64) -> f64| {
                    points.iter().fold(points[0], |all, p| [0, 1, 2].map(|i| end(all[i], p[i])))
                };
                self.worst = (ns, [ends(f64::min), ends(f64::max)]);
            }
        }
    }

    /// Nanoseconds a query, and queries a second. What takes no longer than reading the clock counts as a nanosecond in all.
    pub fn mean(&self, asked: u64) -> (f64, f64) {
        let mean = self.whole.as_nanos().max(1) as f64 / asked as f64;
        (mean, 1e9 / mean)
    }

    /// Nanoseconds of the longest call that was timed; no less than the mean, as the longest of all is.
    pub fn max(&self, asked: u64) -> u64 {
        self.max.max(self.mean(asked).0.ceil() as u64)
    }

    pub fn facts(&self, asked: u64) -> Value {
        let (mean, rate) = self.mean(asked);
        let [p999, p99, p50] = [0.999, 0.99, 0.5].map(|q| self.fastest.quantile(q));
        let (ns, [low, high]) = self.worst;
        let worst = match low == high {
            true => json!({ "ns": ns, "at": low }),
            false => json!({ "ns": ns, "within": [low, high] }),
        };
        json!({
            "way": self.name, "max": self.max(asked), "worst": worst, "p999": p999, "p99": p99, "p50": p50, "mean": mean,
            "queries_per_second": rate,
        })
    }
}

/// What reading the clock twice takes, in nanoseconds: the median of many.
pub fn clock() -> u64 {
    let mut times = Times::default();
    (0..10_001).for_each(|_| times.add(Instant::now().elapsed().as_nanos() as u64));
    times.quantile(0.5)
}

/// Nanoseconds, counted: each of its own below 2,048, above to a 1,024th.
#[derive(Default)]
pub struct Times {
    pub counts: Vec<u64>,
    pub calls: u64,
}

impl Times {
    pub const FINE: u32 = 10;

    pub fn add(&mut self, ns: u64) {
        let shift = (ns | 1).ilog2().saturating_sub(Self::FINE);
        let slot = ((shift as usize) << Self::FINE) + (ns >> shift) as usize;
        if self.counts.len() <= slot {
            self.counts.resize(slot + 1, 0);
        }
        self.counts[slot] += 1;
        self.calls += 1;
    }

    /// The least time that a share of all calls do not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let rank = (self.calls as f64 * share).ceil() as u64;
        let mut before = 0;
        let slot = self.counts.iter().position(|n| {
            before += n;
            before >= rank
        });
        let slot = slot.unwrap_or(0);
        let shift = (slot >> Self::FINE).saturating_sub(1);
        ((slot - (shift << Self::FINE)) as u64) << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut times = Times::default();
        (1..=1000).for_each(|ns| times.add(ns));
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(|q| times.quantile(q)), [500, 990, 999, 1000]);
        for ns in [0, 2047, 2048, 2049, 123_456, 5_000_000_000, u64::MAX] {
            let mut one = Times::default();
            one.add(ns);
            let near = one.quantile(0.5);
            assert!(near <= ns && ns - near <= ns >> 10 && (ns > 2048 || near == ns), "{ns}: {near}");
        }
    }
}
