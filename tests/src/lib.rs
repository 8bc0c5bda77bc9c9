//! The reference of the tests: an exact oracle that shares no code with Hardpan, and the means to feed both.

pub mod bytes;
pub mod edges;
pub mod fbx;
pub mod fnv;
pub mod obj;
pub mod oracle;
pub mod random;
pub mod rays;
pub mod seams;
pub mod shells;

use hardpan_builder::Scene;
use hardpan_builder::demo::fixtures;
use std::io::Write;

/// Says that a test, or a part of it, is left out, and why. With `HARDPAN_CI=1` nothing may be left out: then the test
/// fails.
#[track_caller]
pub fn skipped(why: &str) {
    assert!(std::env::var_os("HARDPAN_CI").is_none_or(|v| v != "1"), "nothing may be skipped with HARDPAN_CI=1: {why}");
    let thread = std::thread::current();
    // past the capture of a test that passes, which would hide it
    let line = format!("{}: skipped, because {why}\n", thread.name().unwrap_or("test"));
    _ = std::io::stderr().write_all(line.as_bytes());
}

/// Fixtures of a few triangles, without heights in fields and without gaps, with their names.
pub fn small_meshes() -> [(&'static str, Scene); 6] {
    [
        ("flat", fixtures::flat()),
        ("ramp", fixtures::ramp()),
        ("bridge", fixtures::bridge()),
        ("hole", fixtures::hole()),
        ("curb", fixtures::curb()),
        ("mats", fixtures::mats()),
    ]
}

#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../builder/docs/query-and-csv.md")]
#[doc = include_str!("../../kernel/docs/firmware.md")]
#[cfg(doctest)]
struct Manual;
