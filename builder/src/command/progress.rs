//! Stages on a terminal's stderr, with the time they take; elsewhere nothing, or lines of JSON where they are asked
//! for.

use std::{
    io::{self, IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

/// Whether stages are lines of JSON.
static LINES: AtomicBool = AtomicBool::new(false);

/// From here on each stage is two lines of JSON, and no bar.
pub fn as_lines() {
    LINES.store(true, Ordering::Relaxed);
}

fn are_lines() -> bool {
    LINES.load(Ordering::Relaxed)
}

/// How much of a stage is done; a reader that went away is no matter.
fn line(stage: &str, done: u32) {
    if are_lines() {
        let _ = writeln!(io::stderr(), "{}", json!({ "stage": stage, "done": done, "total": 1 }));
    }
}

/// A bar for so many steps, which moves only when it is told to.
pub fn steps(name: &'static str, count: u64) -> ProgressBar {
    bar(Some(count), "{msg} {wide_bar} {percent} % {elapsed}, {eta} left").with_message(name)
}

fn bar(count: Option<u64>, template: &str) -> ProgressBar {
    let is_shown = io::stderr().is_terminal() && !are_lines();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).expect("a template that indicatif reads");
    ProgressBar::with_draw_target(count, target).with_style(style)
}

/// Runs a stage and says how long it took.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> (T, Duration) {
    let bar = bar(None, "{spinner} {msg} {elapsed}").with_message(name);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200)); // which takes a thread
    }
    line(name, 0);
    let start = Instant::now();
    let done = work();
    let time = start.elapsed();
    bar.finish_and_clear();
    line(name, 1);
    (done, time)
}
