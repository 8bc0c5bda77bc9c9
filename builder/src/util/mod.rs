//! Small tools of all rooms.

pub(crate) mod dice;
pub mod disjoint_set;
pub(crate) mod exact;
pub mod files;
pub(crate) mod mmap;
pub(crate) mod serde_ext;
pub mod text;
