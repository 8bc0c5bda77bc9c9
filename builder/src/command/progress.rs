//! Stages on a terminal's stderr, with the time they take; elsewhere nothing.

use std::{
    io::{self, IsTerminal},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Runs a stage and says how long it took.
pub fn stage<T>(name: &'static str, work: impl FnOnce() -> T) -> (T, Duration) {
    let target = if io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}").expect("a template that indicatif reads");
    let bar = ProgressBar::with_draw_target(None, target).with_style(style).with_message(name);
    bar.enable_steady_tick(Duration::from_millis(200));
    let start = Instant::now();
    let done = work();
    bar.finish_and_clear();
    (done, start.elapsed())
}
