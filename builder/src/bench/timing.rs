//! Calls that are timed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use hardpan::Terrain;

/// Runs of every call. The fastest counts, since the machine did other work during the others.
const RUNS: usize = 3;

/// Memory that is read before a cold call, in bytes: more than most caches hold.
pub const EVICTION: usize = 128 << 20;

/// Places of cold calls at most.
pub const COLD: usize = 32;

/// One way of asking, and how long it took.
pub struct Timing {
    pub name: String,
    /// Queries that a figure is of: 1, or the wheels of a frame.
    each: u64,
    /// How much was timed: queries, or frames.
    pub count: u64,
    /// All calls without reading the clock in between: the fastest run of each chunk.
    whole: Duration,
    /// The fastest run of each call.
    pub fastest: Times,
    /// Nanoseconds of the longest call.
    max: u64,
    /// The slowest of `fastest`, and the least and greatest of its places.
    pub worst: (u64, [[f64; 3]; 2]),
}

impl Timing {
    pub fn new(name: String, each: usize) -> Self {
        let (worst, fastest) = ((0, [[0.0; 3]; 2]), Times::default());
        Timing { name, each: each as u64, count: 0, whole: Duration::ZERO, fastest, max: 0, worst }
    }

    /// Asks `unit` points a call, without a break and then with the clock, whose reading takes `clock` nanoseconds.
    pub fn time(&mut self, points: &[[f64; 3]], unit: usize, clock: u64, mut call: impl FnMut(&[[f64; 3]])) {
        let mut run = || {
            let start = Instant::now();
            points.chunks(unit).for_each(&mut call);
            start.elapsed()
        };
        let fastest = (0..RUNS).map(|_| run()).min().unwrap_or_default();
        self.whole += fastest.saturating_sub(Duration::from_nanos(clock));
        self.count += points.len() as u64 / self.each;
        let mut fastest = vec![u64::MAX; points.len().div_ceil(unit)];
        for _ in 0..RUNS {
            for (points, fastest) in points.chunks(unit).zip(&mut fastest) {
                let ns = timed(clock, || call(points)) / (points.len() as u64 / self.each).max(1);
                self.max = self.max.max(ns);
                *fastest = ns.min(*fastest);
            }
        }
        points.chunks(unit).zip(fastest).for_each(|(points, ns)| self.add(points, ns));
    }

    /// Single calls, each after other memory was read.
    pub fn cold(t: &Terrain, places: &[[f64; 3]], clock: u64) -> Self {
        let mut cold = Timing::new("cold".into(), 1);
        let memory = vec![1u64; EVICTION / 8]; // zeros would need no memory
        for place in places {
            let mut runs = [(); RUNS].map(|()| {
                _ = black_box(black_box(&memory).iter().step_by(8).sum::<u64>()); // a word of each line
                timed(clock, || _ = black_box(t.closest(*place)))
            });
            runs.sort_unstable();
            let [fastest, .., longest] = runs;
            cold.max = cold.max.max(longest);
            cold.count += 1;
            cold.whole += Duration::from_nanos(fastest);
            cold.add(&[*place], fastest);
        }
        cold
    }

    fn add(&mut self, points: &[[f64; 3]], ns: u64) {
        self.fastest.add(ns);
        if ns >= self.worst.0 {
            let ends =
                |end: fn(f64, f64) -> f64| points.iter().fold(points[0], |all, p| [0, 1, 2].map(|i| end(all[i], p[i])));
            self.worst = (ns, [ends(f64::min), ends(f64::max)]);
        }
    }

    /// Nanoseconds and queries a second. A total below the time of reading the clock counts as one nanosecond.
    pub fn mean(&self) -> (f64, f64) {
        let mean = self.whole.as_nanos().max(1) as f64 / self.count as f64;
        (mean, self.each as f64 * 1e9 / mean)
    }

    /// Nanoseconds of the longest call that was timed; no less than the mean, as the longest of all is.
    pub fn max(&self) -> u64 {
        self.max.max(self.mean().0.ceil() as u64)
    }
}

/// Nanoseconds of a call, less what reading the clock takes.
fn timed(clock: u64, call: impl FnOnce()) -> u64 {
    let start = Instant::now();
    call();
    (start.elapsed().as_nanos() as u64).saturating_sub(clock)
}

/// Time to read the clock twice, in nanoseconds: the median of many.
pub fn clock() -> u64 {
    let mut times = Times::default();
    (0..10_001).for_each(|_| times.add(Instant::now().elapsed().as_nanos() as u64));
    times.quantile(0.5)
}

/// Nanoseconds, counted: each of its own below 2,048, above to a 1,024th.
#[derive(Default)]
pub struct Times {
    counts: Vec<u64>,
    calls: u64,
}

impl Times {
    const FINE: u32 = 10;

    fn add(&mut self, ns: u64) {
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
