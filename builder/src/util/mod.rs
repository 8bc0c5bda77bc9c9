//! Small tools of all rooms.

#[cfg(feature = "heights")]
pub mod crs;
pub(crate) mod dice;
pub(crate) use hardpan_shaders::sort::mix;
pub mod disjoint_set;
pub(crate) mod exact;
pub mod files;
pub(crate) mod mmap;
pub mod projection;
pub(crate) mod serde_ext;
pub mod steps;
pub mod text;
