//! A chunk on the device: buffers, dispatches, bytes there and back.

use crate::wgsl::{GROUP, Kernel, MODULES, Module};
use crate::work::locked;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use wgpu::{Buffer, BufferUsages, PollType};

/// Bytes of a slot of parameters: every device can bind at multiples of it.
const SLOT: usize = 256;
const SLOTS: usize = 256;
/// Threads after which what was recorded is sent off, so that no submission takes long.
const LOAD: u64 = 1 << 26;
/// Buffers between host and device that are kept.
const RING: usize = 6;
/// Bytes that one thread copies at a time.
const PIECE: usize = 1 << 18;
/// How long to wait for what another thread is about to say, where a device has all the time it needs.
const LONG: Duration = Duration::from_secs(60);
/// Groups along an axis that every device takes.
pub const GROUPS: u64 = 65_535;

/// Why the device did not do a chunk.
#[derive(Clone, Debug)]
pub enum Failure {
    Lost(String),
    Memory,
    Refused(String),
    Timeout,
}

/// A failure for tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    Lost,
    Memory,
    Validation,
    Timeout,
}

/// State of the device's callbacks.
#[derive(Debug, Default)]
pub struct Signals {
    /// Why no chunk is given to the device any more.
    pub over: Mutex<Option<String>>,
    /// An error that no chunk caught.
    pub uncaught: Mutex<Option<String>>,
}

#[derive(Debug)]
struct Pipeline {
    kernel: &'static Kernel,
    layout: wgpu::BindGroupLayout,
    pipeline: wgpu::ComputePipeline,
}

/// A device with its pipelines and the buffers that are kept.
#[derive(Debug)]
pub struct Device {
    pub device: wgpu::Device,
    queue: wgpu::Queue,
    pub signals: Arc<Signals>,
    pub timeout: Option<Duration>,
    /// Bytes of the largest buffer that shaders see.
    pub largest: u64,
    /// Bytes of device memory for a chunk.
    pub memory: u64,
    /// Groups along an axis.
    pub groups: u64,
    /// The most bytes that were in use or kept when one chunk took some.
    pub most_held: AtomicU64,
    pipelines: Vec<Pipeline>,
    free: Mutex<Vec<Buffer>>,
    uniforms: Mutex<Vec<Buffer>>,
    up: Mutex<Vec<Buffer>>,
    down: Mutex<Vec<Buffer>>,
}

impl Device {
    pub fn new(device: wgpu::Device, queue: wgpu::Queue, timeout: Option<Duration>, memory: u64) -> Self {
        let signals = Arc::new(Signals::default());
        let of = signals.clone();
        device.on_uncaptured_error(Arc::new(move |error| *locked(&of.uncaught) = Some(error.to_string())));
        let of = signals.clone();
        device.set_device_lost_callback(move |reason, text| {
            *locked(&of.over) = Some(format!("the device was lost ({reason:?} {text})"));
        });
        let limits = device.limits();
        let largest = limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) & !15;
        let pipelines = pipelines(&device);
        let [free, uniforms, up, down] = [0; 4].map(|_| Mutex::default());
        Device {
            device,
            queue,
            signals,
            timeout,
            largest,
            memory,
            groups: GROUPS,
            most_held: AtomicU64::new(0),
            pipelines,
            free,
            uniforms,
            up,
            down,
        }
    }

    fn pipeline(&self, entry: &str) -> &Pipeline {
        self.pipelines.iter().find(|p| p.kernel.entry == entry).expect("an entry point that is listed")
    }

    fn create(&self, size: u64, usage: BufferUsages, mapped_at_creation: bool) -> Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
    }

    /// A mapped buffer for bytes on their way to the device.
    fn staging(&self, size: u64) -> Buffer {
        if let Some(buffer) = take(&mut locked(&self.up), size, u64::MAX) {
            let is_mapped = Arc::new(AtomicBool::new(false));
            let of = is_mapped.clone();
            buffer.map_async(wgpu::MapMode::Write, .., move |done| of.store(done.is_ok(), Ordering::Release));
            let _ = self.device.poll(PollType::Poll);
            if is_mapped.load(Ordering::Acquire) {
                return buffer;
            }
        }
        self.create(rounded(size), BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC, true)
    }
}

/// All pipelines, on all cores: errors come by the callback.
fn pipelines(device: &wgpu::Device) -> Vec<Pipeline> {
    let of = |module: &'static Module| {
        let source = wgpu::ShaderSource::Wgsl(module.text().into());
        let text = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(module.name), source });
        module.kernels.iter().map(|kernel| pipeline(device, &text, module, kernel)).collect::<Vec<_>>()
    };
    MODULES.par_iter().flat_map_iter(of).collect()
}

fn pipeline(device: &wgpu::Device, text: &wgpu::ShaderModule, module: &Module, kernel: &'static Kernel) -> Pipeline {
    let label = Some(kernel.entry);
    let storage = |read_only| wgpu::BufferBindingType::Storage { read_only };
    let entry = |binding, ty, size| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: size },
        count: None,
    };
    let params = entry(0, wgpu::BufferBindingType::Uniform, std::num::NonZero::new(module.size as u64));
    let read = kernel.read.iter().map(|binding| entry(*binding, storage(true), None));
    let write = kernel.write.iter().map(|binding| entry(*binding, storage(false), None));
    let entries: Vec<_> = std::iter::once(params).chain(read).chain(write).collect();
    let layout = wgpu::BindGroupLayoutDescriptor { label, entries: &entries };
    let layout = device.create_bind_group_layout(&layout);
    let bind_group_layouts = &[Some(&layout)];
    let of_pipeline = wgpu::PipelineLayoutDescriptor { label, bind_group_layouts, immediate_size: 0 };
    let of_pipeline = device.create_pipeline_layout(&of_pipeline);
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label,
        layout: Some(&of_pipeline),
        module: text,
        entry_point: Some(kernel.entry),
        // every kernel sets what it reads
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..Default::default()
        },
        cache: None,
    });
    Pipeline { kernel, layout, pipeline }
}

/// The smallest buffer that is large enough, and no larger than that.
fn take(buffers: &mut Vec<Buffer>, size: u64, most: u64) -> Option<Buffer> {
    let fits = |b: &Buffer| b.size() >= size && b.size() <= most;
    let best = (0..buffers.len()).filter(|i| fits(&buffers[*i])).min_by_key(|i| buffers[*i].size())?;
    Some(buffers.swap_remove(best))
}

fn total(buffers: &[Buffer]) -> u64 {
    buffers.iter().map(Buffer::size).sum()
}

/// A size that more than one need has.
fn rounded(size: u64) -> u64 {
    size.next_multiple_of((size.next_power_of_two() / 8).max(1 << 12))
}

/// Numbers on the device.
#[derive(Clone, Debug)]
pub struct Words {
    buffer: Buffer,
    pub count: u64,
}

/// The work of a chunk.
pub struct Run<'a> {
    of: &'a Device,
    encoder: wgpu::CommandEncoder,
    uniforms: Buffer,
    slots: Vec<u8>,
    load: u64,
    taken: Vec<Buffer>,
    free: Vec<Buffer>,
    up: Vec<Buffer>,
    fault: Option<FaultKind>,
    /// Bytes to the device and back.
    pub bytes: u64,
}

impl<'a> Run<'a> {
    pub fn new(of: &'a Device, fault: Option<FaultKind>) -> Self {
        let uniforms = locked(&of.uniforms).pop();
        let usage = BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let uniforms = uniforms.unwrap_or_else(|| of.create((SLOT * SLOTS) as u64, usage, false));
        let encoder = of.device.create_command_encoder(&Default::default());
        let (slots, taken, free, up) = Default::default();
        Run { of, encoder, uniforms, slots, load: 0, taken, free, up, fault, bytes: 0 }
    }

    /// Hands back what it used, after all of it was done.
    pub fn end(self) {
        let mut free = locked(&self.of.free);
        free.extend(self.taken);
        // the memory of a chunk is enough
        while total(&free) > self.of.memory {
            free.remove(0);
        }
        locked(&self.of.uniforms).push(self.uniforms);
        keep(&self.of.up, self.up);
    }

    /// Room for numbers, whatever stands there.
    pub fn room(&mut self, count: u64) -> Result<Words, Failure> {
        self.fail_as_asked()?;
        let size = (4 * count).next_multiple_of(16).max(16);
        if size > self.of.largest {
            return Err(Failure::Memory);
        }
        // one that is much too large would waste what a chunk may take
        let most = (size + size / 4).max(1 << 14);
        let buffer = take(&mut self.free, size, most).unwrap_or_else(|| {
            let mut free = locked(&self.of.free);
            let taken: u64 = self.taken.iter().map(Buffer::size).sum();
            let buffer = take(&mut free, size, most).unwrap_or_else(|| {
                let rounded = rounded(size).min(self.of.largest);
                // what is kept makes room for what is needed
                while !free.is_empty() && taken + rounded + total(&free) > self.of.memory {
                    free.remove(0);
                }
                let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
                self.of.create(rounded, usage, false)
            });
            self.of.most_held.fetch_max(taken + buffer.size() + total(&free), Ordering::Relaxed);
            self.taken.push(buffer.clone());
            buffer
        });
        Ok(Words { buffer, count })
    }

    fn fail_as_asked(&mut self) -> Result<(), Failure> {
        match self.fault {
            Some(FaultKind::Lost) => self.of.device.destroy(),
            Some(FaultKind::Memory) => return Err(Failure::Memory),
            // no buffer can be both
            Some(FaultKind::Validation) => {
                drop(self.of.create(16, BufferUsages::MAP_READ | BufferUsages::STORAGE, false))
            }
            Some(FaultKind::Timeout) | None => {}
        }
        Ok(())
    }

    /// Room that is needed no more, for what is recorded from now on.
    pub fn release(&mut self, words: Words) {
        self.free.push(words.buffer);
    }

    /// Numbers from the host.
    pub fn upload<T: bytemuck::NoUninit>(&mut self, numbers: &[T]) -> Result<Words, Failure> {
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        let words = self.room((bytes.len() as u64).div_ceil(4))?;
        if bytes.is_empty() {
            return Ok(words);
        }
        let size = bytes.len() as u64;
        let staging = self.of.staging(size);
        let mut view = staging.get_mapped_range_mut(..size).map_err(|e| Failure::Refused(e.to_string()))?;
        let (pieces, mut rest) = view.slice(..).into_chunks::<PIECE>();
        let from = bytes.par_chunks_exact(PIECE);
        rest.copy_from_slice(from.remainder());
        let pieces: Vec<wgpu::WriteOnly<[u8; PIECE]>> = pieces.into_iter().collect();
        pieces.into_par_iter().zip(from).for_each(|(to, from)| wgpu::WriteOnly::<[u8]>::from(to).copy_from_slice(from));
        drop(view);
        staging.unmap();
        self.encoder.copy_buffer_to_buffer(&staging, 0, &words.buffer, 0, size);
        self.up.push(staging);
        self.bytes += size;
        Ok(words)
    }

    /// Runs an entry point with so many threads; its buffers come in the order in which the bindings are listed.
    pub fn dispatch<P: bytemuck::NoUninit>(&mut self, entry: &str, params: P, buffers: &[&Words], threads: u64) {
        if threads == 0 {
            return;
        }
        if self.slots.len() == SLOT * SLOTS || self.load > LOAD {
            self.submit();
        }
        let pipeline = self.of.pipeline(entry);
        let at = self.slots.len();
        self.slots.extend(bytemuck::bytes_of(&params));
        self.slots.resize(at + SLOT, 0);
        let params = wgpu::BufferBinding {
            buffer: &self.uniforms,
            offset: at as u64,
            size: std::num::NonZero::new(size_of::<P>() as u64),
        };
        let storage = |words: &&'_ Words| {
            let size = std::num::NonZero::new((4 * words.count).next_multiple_of(16).max(16));
            (words.buffer.clone(), size)
        };
        let storage: Vec<_> = buffers.iter().map(storage).collect();
        let bindings = pipeline.kernel.read.iter().chain(pipeline.kernel.write);
        assert_eq!(bindings.clone().count(), buffers.len(), "{entry}");
        let entry = |binding, of| wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(of) };
        let storage = bindings
            .zip(&storage)
            .map(|(binding, (buffer, size))| entry(*binding, wgpu::BufferBinding { buffer, offset: 0, size: *size }));
        let entries: Vec<_> = std::iter::once(entry(0, params)).chain(storage).collect();
        let layout = &pipeline.layout;
        let group = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        let group = self.of.device.create_bind_group(&group);
        let mut pass = self.encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &group, &[]);
        let groups = threads.div_ceil(GROUP);
        let x = groups.min(self.of.groups);
        pass.dispatch_workgroups(x as u32, groups.div_ceil(x) as u32, 1);
        drop(pass);
        self.load += threads;
    }

    /// Sends off what was recorded.
    fn submit(&mut self) -> wgpu::SubmissionIndex {
        if !self.slots.is_empty() {
            self.of.queue.write_buffer(&self.uniforms, 0, &self.slots);
        }
        self.slots.clear();
        self.load = 0;
        let next = self.of.device.create_command_encoder(&Default::default());
        self.of.queue.submit([std::mem::replace(&mut self.encoder, next).finish()])
    }

    /// Does what was recorded and brings numbers back: of each so many from one on.
    pub fn download(&mut self, wanted: &[(&Words, u64, u64)]) -> Result<Vec<Vec<u32>>, Failure> {
        let size = 4 * wanted.iter().map(|(_, _, count)| count).sum::<u64>();
        if size == 0 {
            return Ok(vec![Vec::new(); wanted.len()]);
        }
        let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
        let kept = take(&mut locked(&self.of.down), size, u64::MAX);
        let staging = kept.unwrap_or_else(|| self.of.create(rounded(size), usage, false));
        let mut at = 0;
        for (words, first, count) in wanted.iter().filter(|(_, _, count)| *count > 0) {
            self.encoder.copy_buffer_to_buffer(&words.buffer, 4 * first, &staging, at, 4 * count);
            at += 4 * count;
        }
        let index = self.submit();
        let (tell, told) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |done| tell.send(done.is_ok()).unwrap_or_default());
        self.wait(index)?;
        // another thread that waits may be the one that is told
        let is_mapped = told.recv_timeout(self.of.timeout.unwrap_or(LONG)).map_err(|_| Failure::Timeout)?;
        if !is_mapped {
            return Err(Failure::Refused("no bytes came back".into()));
        }
        let view = staging.get_mapped_range(..size).map_err(|e| Failure::Refused(e.to_string()))?;
        let mut rest = &view[..];
        let mut all = Vec::new();
        for (_, _, count) in wanted {
            let (from, more) = rest.split_at(4 * *count as usize);
            let mut to = vec![0u32; *count as usize];
            let pieces = to.par_chunks_mut(PIECE / 4).zip(from.par_chunks(PIECE));
            pieces.for_each(|(to, from)| bytemuck::cast_slice_mut(to).copy_from_slice(from));
            all.push(to);
            rest = more;
        }
        drop(view);
        staging.unmap();
        keep(&self.of.down, [staging]);
        self.bytes += size;
        Ok(all)
    }

    fn wait(&self, index: wgpu::SubmissionIndex) -> Result<(), Failure> {
        let is_late = self.fault == Some(FaultKind::Timeout);
        let timeout = if is_late { Some(Duration::ZERO) } else { self.of.timeout };
        let done = self.of.device.poll(PollType::Wait { submission_index: Some(index), timeout });
        if let Some(text) = locked(&self.of.signals.over).clone() {
            return Err(Failure::Lost(text));
        }
        if let Some(text) = locked(&self.of.signals.uncaught).take() {
            return Err(Failure::Refused(text));
        }
        match done {
            Ok(_) if !is_late => Ok(()),
            Ok(_) | Err(wgpu::PollError::Timeout) => Err(Failure::Timeout),
            Err(e) => Err(Failure::Refused(e.to_string())),
        }
    }
}

/// Keeps the latest of some buffers.
fn keep(ring: &Mutex<Vec<Buffer>>, more: impl IntoIterator<Item = Buffer>) {
    let mut ring = locked(ring);
    ring.extend(more);
    let many = ring.len().saturating_sub(RING);
    ring.drain(..many);
}
