//! Stdout, and whether there was one to write to when the program began.
//!
//! The standard library opens `/dev/null` in place of a closed stdout before `main`, and answers would go there without
//! a word. So a function that the loader calls before it looks.

use std::{
    error::Error,
    fmt::{self, Display},
    io::{self, StdoutLock, Write},
};

/// Stdout, or none that can be written to: then a write is an error.
pub struct Stdout(Option<StdoutLock<'static>>);

impl Stdout {
    pub fn open() -> Self {
        Self((!was_closed()).then(|| io::stdout().lock()))
    }

    fn some(&mut self) -> io::Result<&mut StdoutLock<'static>> {
        self.0.as_mut().ok_or_else(closed)
    }
}

/// The error of a write without stdout.
pub fn closed() -> io::Error {
    io::Error::other(Closed)
}

/// Nothing can be written to stdout.
#[derive(Debug)]
pub struct Closed;

impl Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(
            "stdout was closed before the start, or may only be read: the answer is lost; give it a file or a pipe",
        )
    }
}

impl Error for Closed {}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.some()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(target_os = "linux")]
pub use at_start::was_closed;

#[cfg(not(target_os = "linux"))]
pub fn was_closed() -> bool {
    false
}

#[cfg(target_os = "linux")]
mod at_start {
    use std::{
        fs,
        sync::atomic::{AtomicBool, Ordering},
    };

    static CLOSED: AtomicBool = AtomicBool::new(false);

    pub fn was_closed() -> bool {
        CLOSED.load(Ordering::Relaxed)
    }

    extern "C" fn look() {
        let is_there = fs::metadata("/proc/self/fdinfo").is_ok();
        let flags = fs::read_to_string("/proc/self/fdinfo/1").ok().and_then(|text| {
            let (_, rest) = text.split_once("flags:")?;
            u32::from_str_radix(rest.split_whitespace().next()?, 8).ok()
        });
        // the lowest two bits: 0 for what may only be read
        CLOSED.store(is_there && flags.is_none_or(|flags| flags & 3 == 0), Ordering::Relaxed);
    }

    // SAFETY: the section holds functions without arguments that the loader calls once, before `main`; this one only
    // reads a small file and stores a flag.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
