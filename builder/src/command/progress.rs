//! Stages on a terminal's stderr, with the time they take; elsewhere nothing.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar for so many steps, which moves only when it is told to.
pub fn steps(name: &'static str, count: u64) -> ProgressBar {
    bar(Some(count), "{msg} {wide_bar} {percent} % {elapsed}, {eta} left").with_message(name)
}

fn bar(count: Option<u64>, template: &str) -> ProgressBar {
    let target = if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).expect("a template that indicatif reads");
    ProgressBar::with_draw_target(count, target).with_style(style)
}

/// Runs a stage and says how long it took.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> (T, Duration) {
    let bar = bar(None, "{spinner} {msg} {elapsed}").with_message(name);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200)); // which takes a thread
    }
    let start = Instant::now();
    let done = work();
    bar.finish_and_clear();
    (done, start.elapsed())
}
