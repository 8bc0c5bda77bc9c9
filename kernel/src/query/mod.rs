//! The queries.

mod batch;
pub mod cursor;
mod fallback;
pub mod ground;
mod layers;
mod vertical;

pub use cursor::Cursor;
pub use ground::{Ground, Surface};
pub use vertical::Options;
