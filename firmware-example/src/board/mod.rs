//! What differs from core to core: start, timer, console.

#[cfg(target_arch = "arm")]
mod arm;
#[cfg(not(target_os = "none"))]
mod host;
#[cfg(target_arch = "riscv32")]
mod riscv;

#[cfg(not(target_os = "none"))]
pub use host::{say, start};

/// What the timer says of a tick as it begins: its number, or a count.
pub type Tick = u32;

/// A core with a timer.
pub trait Board {
    /// Starts so many ticks a second.
    fn start(&mut self, ticks_a_second: u32);

    /// Sleeps until a tick has begun, and says how many more wait already.
    fn wait(&mut self) -> u32;

    /// Lets go of ticks that wait.
    fn settle(&mut self);

    /// Instructions since the tick began.
    fn spent(&self) -> u64;

    /// Bytes of stack below here that a call writes to; 0 where nobody looks.
    #[cfg(feature = "counts")]
    fn stack(&self, _: &dyn Fn()) -> usize {
        0
    }
}

#[cfg(target_os = "none")]
mod small {
    use core::fmt;
    use semihosting::io::{self, Write};

    struct Console;

    impl fmt::Write for Console {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            io::stdout().and_then(|mut out| out.write_all(text.as_bytes())).map_err(|_| fmt::Error)
        }
    }

    pub fn say(text: fmt::Arguments) {
        _ = fmt::write(&mut Console, text);
        _ = fmt::write(&mut Console, format_args!("\n"));
    }

    /// No panic can be reached: if one could, this would not link.
    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo) -> ! {
        unsafe extern "C" {
            fn a_panic_path_survives() -> !;
        }
        // SAFETY: nobody defines it, so it is never called.
        unsafe { a_panic_path_survives() }
    }

    /// The flash that the image lies in.
    #[cfg(not(feature = "linked"))]
    pub fn flash() -> &'static [u8] {
        unsafe extern "C" {
            static _image: u8;
            static _image_len: u8;
        }
        // SAFETY: the memory map has this region for the image, and nothing writes to it.
        unsafe { core::slice::from_raw_parts(&raw const _image, &raw const _image_len as usize) }
    }

    #[cfg(feature = "linked")]
    pub fn flash() -> &'static [u8] {
        hardpan::include_image!("../../ramp.hpan")
    }
}

#[cfg(target_os = "none")]
pub use small::{flash, say};

/// A number of the environment, when the program is compiled.
#[cfg(target_os = "none")]
const fn number(text: &str) -> u32 {
    let (bytes, mut i, mut n) = (text.as_bytes(), 0, 0);
    while i < bytes.len() {
        n = 10 * n + (bytes[i] - b'0') as u32;
        i += 1;
    }
    n
}

/// Counts of the timer in a second.
#[cfg(target_os = "none")]
pub const CLOCK_HZ: u32 = number(env!("CLOCK_HZ"));

/// Instructions that do nothing: the timer is compared with them.
#[cfg(target_os = "none")]
#[inline(never)]
fn nops<const N: usize>() {
    // SAFETY: does nothing.
    unsafe { core::arch::asm!(".rept {}", "nop", ".endr", const N) };
}
