//! The stages in compute shaders: the same arrays as on the CPU, to the bit.
//!
//! A stage is cut into chunks that fit the memory. A chunk that the device fails at is done again by the CPU.

mod cells;
mod heights;
mod number;
mod open;
mod ops;
mod run;
mod squares;

pub use open::{Adapter, Kind, NoAdapter, Wanted, adapters};
#[doc(hidden)]
pub use run::FaultKind;

use crate::work::{Log, locked};
use crate::{Blocks, Face, Ground, Heights, Layers, Member, Numbered, Pick, Posts, Squares, Stages, Work};
use rayon::prelude::*;
use run::{Device, Failure, Run};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a graphics card may take for a part of a chunk.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of device memory for a chunk, where nothing is said.
const MEMORY: u64 = 1 << 30;
/// With less than this a chunk holds next to nothing.
const MIN_MEMORY: u64 = 1 << 16;

/// Candidates of an item from which on the CPU does it.
const MANY: u64 = 4096;

/// Bytes of device memory that an item and a candidate take, altogether and in the largest buffer.
#[derive(Clone, Copy)]
struct Costs {
    item: u64,
    item_in_one: u64,
    candidate: u64,
    candidate_in_one: u64,
}

/// Items of a chunk as shaders read them.
struct Items {
    words: Vec<i32>,
    /// Where the candidates of each start; last how many there are.
    starts: Vec<u32>,
}

impl Items {
    /// So many words of each of some items, and its candidates.
    fn of<const N: usize>(items: Vec<([i32; N], u32)>) -> Items {
        let words = items.par_iter().flat_map_iter(|(words, _)| *words).collect();
        let mut starts = Vec::with_capacity(items.len() + 1);
        starts.push(0);
        starts.extend(items.iter().scan(0, |sum, (_, n)| {
            *sum += n;
            Some(*sum)
        }));
        Items { words, starts }
    }

    fn count(&self) -> u64 {
        self.starts.len() as u64 - 1
    }

    fn candidates(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0).into()
    }
}

/// Some triangles of the ground.
fn some(ground: Ground, faces: &[u32]) -> Vec<Face> {
    faces.iter().map(|f| ground.faces[*f as usize]).collect()
}

/// A failure for tests: at a chunk of a stage, counted from now on.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub stage: &'static str,
    pub chunk: u64,
    pub kind: FaultKind,
}

/// The stages on a graphics card.
///
/// ```no_run
/// use hardpan_shaders::gpu::Wanted;
/// use hardpan_shaders::{Gpu, Stages};
///
/// let gpu = Gpu::open(&Wanted::default())?;
/// let numbered = gpu.number(&[[3, 0, 0], [1, 0, 0], [3, 0, 0]]);
/// assert_eq!((numbered.order, numbered.starts), (vec![1, 0, 2], vec![0, 1, 3]));
/// # Ok::<(), hardpan_shaders::gpu::NoAdapter>(())
/// ```
#[derive(Debug)]
pub struct Gpu {
    facts: Adapter,
    device: Device,
    log: Log,
    warning: Mutex<Option<String>>,
    faults: Mutex<Vec<Fault>>,
}

impl Gpu {
    /// Opens the graphics card that is wanted and compiles the shaders.
    pub fn open(wanted: &Wanted) -> Result<Gpu, NoAdapter> {
        let memory = wanted.memory.unwrap_or(MEMORY);
        if memory < MIN_MEMORY {
            return Err(NoAdapter::Asked(format!(
                "{memory} bytes of device memory are too few; give at least {MIN_MEMORY}"
            )));
        }
        let (facts, adapter) = open::choose(wanted)?;
        let has = adapter.limits();
        let required_limits = wgpu::Limits {
            max_buffer_size: has.max_buffer_size,
            max_storage_buffer_binding_size: has.max_storage_buffer_binding_size,
            ..wgpu::Limits::default()
        };
        let desc = wgpu::DeviceDescriptor { label: Some("hardpan"), required_limits, ..Default::default() };
        let no = |text: String| {
            NoAdapter::Missing(format!("{facts}: {text}\nuse another driver, or run without a graphics card"))
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&desc)).map_err(|e| no(e.to_string()))?;
        let timeout = (facts.kind != Kind::Software).then_some(TIMEOUT);
        let of = Device::new(device, queue, timeout, memory);
        if let Some(error) = locked(&of.signals.uncaught).take() {
            return Err(no(format!("the driver refuses a shader: {error}")));
        }
        let (warning, faults) = Default::default();
        Ok(Gpu { facts, device: of, log: Log::default(), warning, faults })
    }

    /// The card, its driver and the interface.
    pub fn facts(&self) -> &Adapter {
        &self.facts
    }

    /// The first failure of the device, if there was one. Results do not depend on it.
    pub fn warning(&self) -> Option<String> {
        locked(&self.warning).clone()
    }

    /// Lets the device fail.
    #[doc(hidden)]
    pub fn inject(&self, fault: Fault) {
        locked(&self.faults).push(fault);
    }

    /// With so many groups along an axis at most, as if arrays were large.
    #[doc(hidden)]
    pub fn with_groups(mut self, groups: u64) -> Gpu {
        self.device.groups = groups;
        self
    }

    /// The most bytes of device memory that shaders' arrays took so far.
    #[doc(hidden)]
    pub fn most_held(&self) -> u64 {
        self.device.most_held.load(Ordering::Relaxed)
    }

    fn fault(&self, stage: &str) -> Option<FaultKind> {
        let mut faults = locked(&self.faults);
        let now = faults.iter().position(|f| f.stage == stage && f.chunk == 0);
        faults.iter_mut().filter(|f| f.stage == stage).for_each(|f| f.chunk = f.chunk.saturating_sub(1));
        now.map(|i| faults.remove(i).kind)
    }

    /// Items of a chunk that take so many bytes each, and so many in one buffer.
    fn most(&self, bytes: u64, in_one: u64) -> usize {
        (self.device.memory / bytes).min(self.device.largest / in_one).clamp(1, u32::MAX as u64 / 2) as usize
    }

    /// Cuts items with so many candidates each into ranges that fit three quarters of the memory: places take the rest.
    fn cut(&self, candidates: &[u32], costs: Costs) -> Vec<Range<usize>> {
        let in_one = |size: u64| self.device.largest / size;
        let (mut cuts, mut from, mut items, mut sum) = (Vec::new(), 0, 0u64, 0u64);
        for (i, n) in candidates.iter().enumerate().filter(|(_, n)| **n > 0) {
            let (more, all) = (items + 1, sum + u64::from(*n));
            let fits = costs.item * more + costs.candidate * all <= self.device.memory / 4 * 3
                && all < in_one(costs.candidate_in_one)
                && more < in_one(costs.item_in_one);
            if items > 0 && !fits {
                cuts.push(from..i);
                (from, items, sum) = (i, 1, u64::from(*n));
            } else {
                (items, sum) = (more, all);
            }
        }
        if items > 0 {
            cuts.push(from..candidates.len());
        }
        cuts
    }

    /// Does a chunk on the device, else on the CPU.
    fn chunk<T>(
        &self,
        stage: &'static str,
        on_device: impl FnOnce(&mut Run) -> Result<T, Failure>,
        on_host: impl FnOnce() -> T,
    ) -> T {
        let done = self.attempt(stage, on_device);
        let work = Work { stage, device: true, chunks: 1, ..Work::default() };
        match done {
            Ok((made, bytes)) => {
                self.log.add(Work { bytes, ..work });
                made
            }
            Err(failure) => {
                self.log.add(Work { redone: 1, ..work });
                self.warn(stage, failure);
                on_host()
            }
        }
    }

    fn attempt<T>(
        &self,
        stage: &str,
        on_device: impl FnOnce(&mut Run) -> Result<T, Failure>,
    ) -> Result<(T, u64), Failure> {
        if let Some(text) = locked(&self.device.signals.over).clone() {
            return Err(Failure::Lost(text));
        }
        let of = &self.device.device;
        let scopes = [wgpu::ErrorFilter::Validation, wgpu::ErrorFilter::OutOfMemory, wgpu::ErrorFilter::Internal];
        let scopes = scopes.map(|filter| of.push_error_scope(filter));
        let mut run = Run::new(&self.device, self.fault(stage));
        let made = on_device(&mut run);
        let errors: Vec<wgpu::Error> =
            scopes.into_iter().rev().filter_map(|scope| pollster::block_on(scope.pop())).collect();
        let failure = match (made, errors.into_iter().next()) {
            (Ok(made), None) => {
                let bytes = run.bytes;
                run.end();
                return Ok((made, bytes));
            }
            (_, Some(wgpu::Error::OutOfMemory { .. })) => Failure::Memory,
            (_, Some(error)) => Failure::Refused(error.to_string()),
            (Err(failure), None) => failure,
        };
        // a device that is lost says so when it is asked
        let _ = of.poll(wgpu::PollType::Poll);
        Err(locked(&self.device.signals.over).clone().map_or(failure, Failure::Lost))
    }

    fn warn(&self, stage: &str, failure: Failure) {
        let is_late = matches!(failure, Failure::Timeout);
        let why = match failure {
            Failure::Lost(text) => text,
            Failure::Memory => "its memory is not enough".into(),
            Failure::Refused(text) => text,
            Failure::Timeout => format!("it did not answer within {} s", TIMEOUT.as_secs()),
        };
        if is_late {
            // one that hangs is not waited for again
            locked(&self.device.signals.over).get_or_insert_with(|| why.clone());
        }
        let name = &self.facts.name;
        let text =
            format!("{name} failed in stage {stage}: {why}. The CPU did that part again; the results are the same");
        locked(&self.warning).get_or_insert(text);
    }

    /// Counts items that the CPU does by rule.
    fn by_rule(&self, stage: &'static str, items: usize) {
        self.log.add(Work { stage, on_host: items as u64, ..Work::default() });
    }

    fn stage<T>(&self, stage: &'static str, items: usize, run: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let made = run();
        let seconds = began.elapsed().as_secs_f64();
        self.log.add(Work { stage, device: true, items: items as u64, seconds, ..Work::default() });
        made
    }
}

impl Stages for Gpu {
    fn name(&self) -> String {
        self.facts.to_string()
    }

    fn number(&self, points: &[[u32; 3]]) -> Numbered {
        self.stage("number", points.len(), || number::number(self, points))
    }

    fn squares(&self, ground: Ground, log2: u32) -> Squares {
        self.stage("squares", ground.faces.len(), || squares::squares(self, ground, log2))
    }

    fn cells(&self, ground: Ground, grids: &[(Blocks, &[u32])]) -> Vec<Vec<Member>> {
        let items = grids.iter().map(|(_, faces)| faces.len()).sum();
        self.stage("cells", items, || cells::cells(self, ground, grids))
    }

    fn cells_at_once(&self) -> Option<usize> {
        Some(cells::AT_ONCE)
    }

    fn heights(&self, ground: Ground, posts: Posts, pick: Pick) -> Heights {
        self.stage("heights", ground.faces.len(), || heights::heights(self, ground, posts, pick))
    }

    fn layers(&self, ground: Ground, posts: Posts) -> Layers {
        self.stage("layers", ground.faces.len(), || heights::layers(self, ground, posts))
    }

    fn work(&self) -> Vec<Work> {
        self.log.all()
    }
}
