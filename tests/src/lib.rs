//! What Hardpan is held against: an exact oracle that shares no code with it, and the means to feed both.

pub mod bytes;
pub mod edges;
pub mod fbx;
pub mod fnv;
pub mod obj;
pub mod oracle;
pub mod random;
pub mod seams;
pub mod shells;

use hardpan_builder::{Scene, fixtures};

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
