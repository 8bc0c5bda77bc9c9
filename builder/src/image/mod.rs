//! Images: their bytes, what they hold, where they come from.

pub mod as_source;
mod bytes;
pub mod decode;
pub mod earth;
pub mod info;
pub mod materials;
pub mod provenance;
pub mod rays;

pub use bytes::{Image, ImageFile};
