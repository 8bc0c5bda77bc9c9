//! A controller that knows the ground under four wheels and ahead, from a terrain image in flash: proven in slices
//! between ticks, asked once a tick, its deadline watched. The same program runs on a host, on a file.
//!
//! Exit codes: 0 fine, 1 no image, 2 damaged, 3 too slow for the tick, 4 a fault, 5 too deep, 6 a tick was late.
#![cfg_attr(target_os = "none", no_std, no_main)]

/// Prints a line: all of them are the transcript.
macro_rules! say {
    ($($text:tt)*) => { $crate::board::say(format_args!($($text)*)) };
}

mod board;
mod boot;
mod control;
mod slot;
mod vehicle;

/// What a board does; its exit code.
pub fn run(board: impl board::Board, flash: &'static [u8]) -> u8 {
    match control::run(board, flash) {
        Ok(()) => 0,
        Err(end) => end.code(),
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    board::start()
}
