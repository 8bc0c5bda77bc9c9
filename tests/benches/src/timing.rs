//! Timing on a machine that others use too.
//!
//! Contestants take turns, round after round, so that a slow minute hits all alike, and ratios are formed within a
//! round. A turn starts with a pass that is not timed: it brings the contestant's own data back into the caches.
//! Batches are timed by the CPU time of the thread, single queries by the time stamp counter between fences.

use std::hint::black_box;

/// Passes over the single queries; the best of each counts.
const PASSES: usize = 5;
/// Read before every swept query: more than the L1 and L2 caches of one core.
const SWEEP_BYTES: usize = 6 << 20;

enum Job {
    /// Nanoseconds a query over this many queries.
    Batch(usize),
    /// Nanoseconds of one call.
    Single(usize),
}

/// Someone who answers queries by number.
pub struct Contestant<'a> {
    pub name: String,
    /// Queries a call.
    unit: usize,
    /// At most so many queries a round, for those who would take minutes.
    limit: usize,
    work: Box<dyn FnMut(Job) -> f64 + 'a>,
}

impl<'a> Contestant<'a> {
    /// `answer(i)` answers query i, and gives a number that depends on the whole answer.
    pub fn new(name: &str, answer: impl FnMut(usize) -> f64 + 'a) -> Self {
        Self::in_calls_of(1, name, answer)
    }

    /// `answer(i)` answers the i-th `unit` queries.
    pub fn in_calls_of(unit: usize, name: &str, mut answer: impl FnMut(usize) -> f64 + 'a) -> Self {
        let work = move |job: Job| match job {
            Job::Batch(n) => {
                let start = thread_ns();
                let sum: f64 = (0..n / unit).map(&mut answer).sum();
                black_box(sum);
                (thread_ns() - start) / (n / unit * unit) as f64
            }
            Job::Single(i) => clock::single(|| answer(i)),
        };
        Contestant { name: name.into(), unit, limit: usize::MAX, work: Box::new(work) }
    }

    pub fn at_most(self, limit: usize) -> Self {
        Contestant { limit, ..self }
    }

    /// Whether a call is one query, and short enough to be timed again and again.
    pub fn is_single(&self) -> bool {
        self.unit == 1 && self.limit == usize::MAX
    }

    /// Nanoseconds a query, timed over the first `n`, which it has just answered once before.
    fn turn(&mut self, n: usize) -> f64 {
        let n = n.min(self.limit);
        (self.work)(Job::Batch(n));
        (self.work)(Job::Batch(n))
    }

    /// Nanoseconds of `n` single calls spread over `of` queries, each the best of five: what a structure costs,
    /// without the machine's interruptions.
    pub fn best(&mut self, n: usize, of: usize) -> Vec<f64> {
        let overhead = clock::overhead();
        let mut best = vec![f64::INFINITY; n];
        for _ in 0..PASSES {
            for (k, best) in best.iter_mut().enumerate() {
                *best = best.min((self.work)(Job::Single(k * of / n)) - overhead);
            }
        }
        best
    }

    /// Nanoseconds of `n` single calls spread over `of` queries, each after a sweep that empties the L1 and L2
    /// caches: what a control loop sees that does other work in between.
    pub fn swept(&mut self, n: usize, of: usize) -> Vec<f64> {
        let overhead = clock::overhead();
        let memory = vec![1u64; SWEEP_BYTES / 8];
        self.turn(of);
        let mut call = |k| {
            black_box(memory.iter().step_by(8).fold(0u64, |s, v| s.wrapping_add(*v)));
            (self.work)(Job::Single(k * of / n)) - overhead
        };
        (0..n).map(&mut call).collect()
    }
}

/// Nanoseconds a query in each round.
#[derive(Clone)]
pub struct Times {
    pub name: String,
    pub rounds: Vec<f64>,
}

impl Times {
    pub fn median(&self) -> f64 {
        quantile(&mut self.rounds.clone(), 0.5)
    }

    pub fn range(&self) -> [f64; 2] {
        [0.0, 1.0].map(|q| quantile(&mut self.rounds.clone(), q))
    }

    /// The ratio to another's times: the median over the rounds.
    pub fn times_as_long_as(&self, other: &Times) -> f64 {
        quantile(&mut self.rounds.iter().zip(&other.rounds).map(|(a, b)| a / b).collect::<Vec<_>>(), 0.5)
    }
}

/// Everybody answers the first `n` queries in each round.
pub fn race(contestants: &mut [Contestant], n: usize, rounds: usize) -> Vec<Times> {
    let mut times: Vec<_> = contestants.iter().map(|c| Times { name: c.name.clone(), rounds: vec![] }).collect();
    for _ in 0..rounds {
        for (c, t) in contestants.iter_mut().zip(&mut times) {
            t.rounds.push(c.turn(n));
        }
    }
    times
}

pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(((values.len() as f64 - 1.0) * q).round() as usize).copied().unwrap_or(f64::NAN)
}

/// CPU time of this thread: what others do in between does not count.
pub fn thread_ns() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid clock and a valid place for its answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}

/// Time stamps around one call, in nanoseconds.
mod clock {
    use super::{black_box, quantile};

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn single(call: impl FnOnce() -> f64) -> f64 {
        use std::arch::x86_64::{__rdtscp, _mm_lfence, _rdtsc};
        // SAFETY: instructions that every x86-64 processor has.
        let ticks = unsafe {
            _mm_lfence();
            let start = _rdtsc();
            _mm_lfence();
            black_box(call());
            let end = __rdtscp(&mut 0);
            _mm_lfence();
            end - start
        };
        ticks as f64 / ticks_per_ns()
    }

    #[cfg(target_arch = "x86_64")]
    fn ticks_per_ns() -> f64 {
        use std::arch::x86_64::_rdtsc;
        use std::{sync::OnceLock, time::Instant};
        static RATE: OnceLock<f64> = OnceLock::new();
        *RATE.get_or_init(|| {
            // SAFETY: as above.
            let now = || unsafe { _rdtsc() };
            let (start, ticks) = (Instant::now(), now());
            while start.elapsed().as_millis() < 50 {}
            (now() - ticks) as f64 / start.elapsed().as_nanos() as f64
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    pub fn single(call: impl FnOnce() -> f64) -> f64 {
        let start = std::time::Instant::now();
        black_box(call());
        start.elapsed().as_nanos() as f64
    }

    /// Cost of timing.
    pub fn overhead() -> f64 {
        quantile(&mut (0..2001).map(|_| single(|| 0.0)).collect::<Vec<_>>(), 0.5)
    }
}
