//! Stdout, and whether there was one when the program began.
//!
//! The standard library opens `/dev/null` in place of a closed stdout before `main`, and answers would go there without a word. So a
//! function that the loader calls before it looks.

use std::io::{self, StdoutLock, Write};

/// Stdout, or none: then a write is an error.
pub struct Stdout(Option<StdoutLock<'static>>);

impl Stdout {
    pub fn open() -> Self {
        Self((!was_closed()).then(|| io::stdout().lock()))
    }

    fn some(&mut self) -> io::Result<&mut StdoutLock<'static>> {
        self.0.as_mut().ok_or_else(closed)
    }
}

/// What a write to no stdout is.
pub fn closed() -> io::Error {
    io::Error::other("stdout was closed before the start; give it a file or a pipe, or use -o FILE")
}

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
        let [all, stdout] = ["/proc/self/fd", "/proc/self/fd/1"].map(|place| fs::symlink_metadata(place).is_ok());
        CLOSED.store(all && !stdout, Ordering::Relaxed);
    }

    // SAFETY: the section holds functions without arguments that the loader calls once, before `main`; this one only looks at two
    // names and stores a flag.
    #[allow(unsafe_code)]
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
