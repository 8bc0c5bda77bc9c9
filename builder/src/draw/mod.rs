//! Pictures from answers: maps, plots, and what they are made of.

pub mod canvas;
pub mod changes;
pub mod dots;
pub mod holes;
pub mod maps;
pub mod picture;
pub mod plot;
pub mod relief;
pub mod scale;
