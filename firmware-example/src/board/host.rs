//! A host: the flash is a file, and ticks come as soon as they are waited for.

use super::{Board, Tick};
use hardpan::heapless::spsc::Queue;
use std::{env, fmt, fs, process, slice};

struct Host {
    queue: Queue<Tick, 4>,
    begun: u32,
}

impl Board for Host {
    fn start(&mut self, _: u32) {}

    fn wait(&mut self) -> u32 {
        self.begun += 1;
        _ = self.queue.enqueue(self.begun);
        _ = self.queue.dequeue();
        self.queue.len() as u32
    }

    fn settle(&mut self) {}

    fn spent(&self) -> u64 {
        0
    }
}

pub fn say(text: fmt::Arguments) {
    println!("{text}");
}

/// The bytes of a file, aligned as flash is, for as long as the program runs.
fn flash() -> &'static [u8] {
    if cfg!(feature = "linked") {
        return hardpan::include_image!("../../ramp.hpan");
    }
    #[derive(Clone, Copy)]
    #[repr(C, align(128))]
    struct Line([u8; 128]);
    let Some(name) = env::args_os().nth(1) else {
        eprintln!("name a file: what lies in the flash");
        process::exit(64)
    };
    let bytes = fs::read(name).unwrap_or_else(|e| {
        eprintln!("{e}");
        process::exit(66)
    });
    let mut lines = vec![Line([0xFF; 128]); bytes.len().div_ceil(128)];
    for (line, bytes) in lines.iter_mut().zip(bytes.chunks(128)) {
        line.0[..bytes.len()].copy_from_slice(bytes);
    }
    let lines = Vec::leak(lines);
    // SAFETY: lines are bytes without gaps.
    unsafe { slice::from_raw_parts(lines.as_ptr().cast(), 128 * lines.len()) }
}

pub fn start() -> ! {
    let host = Host { queue: Queue::new(), begun: 0 };
    process::exit(crate::run(host, flash()).into())
}
