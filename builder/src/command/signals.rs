//! Signals that end a program: Ctrl-C, being asked to end, a terminal that is closed.

/// Ends the program by `end` when such a signal comes. Those that are ignored, as under nohup or in the background of a
/// script, stay so, each by itself. To be called before other threads begin.
#[cfg(unix)]
pub fn end_by(end: fn() -> !) {
    use nix::sys::signal::{SigSet, Signal};
    let ignored = ignored();
    let ends = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
    let signals: SigSet = ends.into_iter().filter(|&signal| ignored >> (signal as u32 - 1) & 1 == 0).collect();
    // blocked in this thread and in those that it begins, they come to the one that waits for them
    if signals.thread_block().is_err() {
        return;
    }
    let wait = move || {
        if signals.wait().is_ok() {
            end()
        }
    };
    if std::thread::Builder::new().spawn(wait).is_err() {
        let _ = signals.thread_unblock();
    }
}

/// Ends the program by this code when it aborts, as it does, with a message, when memory is refused.
#[cfg(unix)]
pub fn abort_by(code: i32) {
    use signal_hook::{consts::SIGABRT, flag::register_conditional_shutdown};
    use std::sync::{Arc, atomic::AtomicBool};
    let _ = register_conditional_shutdown(SIGABRT, code, Arc::new(AtomicBool::new(true)));
}

/// Lets the program outlive a file that becomes larger than it may: the error of who writes it says so.
#[cfg(unix)]
pub fn outlive_limits() {
    use signal_hook::{consts::SIGXFSZ, flag::register};
    use std::sync::{Arc, atomic::AtomicBool};
    let _ = register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Nothing: there is no such limit.
#[cfg(windows)]
pub fn outlive_limits() {}

/// Nothing: there the code is the system's.
#[cfg(windows)]
pub fn abort_by(_: i32) {}

/// A bit for each signal that is ignored, the lowest for signal 1, as Linux has them. Other systems drop ignored
/// signals even where a thread waits for them.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Ends the program by `end` when Ctrl-C is typed.
#[cfg(windows)]
pub fn end_by(end: fn() -> !) {
    let _ = ctrlc::try_set_handler(move || end());
}
