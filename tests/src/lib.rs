//! What Hardpan is held against: an exact oracle that shares no code with it, and the means to feed both.

pub mod bytes;
pub mod edges;
pub mod fbx;
pub mod fnv;
pub mod obj;
pub mod oracle;
pub mod random;
pub mod seams;

#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
struct Manual;
