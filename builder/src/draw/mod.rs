//! Pictures from answers: maps, plots, and what they are made of.

pub mod canvas;
pub mod colour;
mod costs;
pub mod frame;
pub mod grid;
mod heights;
pub mod holes;
mod letters;
pub mod maps;
pub mod materials;
pub mod overview;
pub mod picture;
pub mod plot;
pub mod relief;
pub mod scale;
mod spots;
pub mod tracks;
pub mod view;

pub use overview::overview;
pub use spots::{fine, spots};
