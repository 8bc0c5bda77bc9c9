//! The functions of the VS Terrain Library: terrain images from C, and from any language that calls it.
//!
//! What C sees is `include/VsTerrain.h`, written by hand and held against this crate by tests. A handle is a number
//! that stands in a table of this library's, never an address: null, destroyed and foreign ones are refused, and
//! nothing is read through them. No panic leaves a function; it becomes an error. All that Rust cannot check stands in
//! `ffi.rs`; the rest is safe.
#![allow(non_camel_case_types, non_snake_case)] // names of C and of VehicleSim

mod additional;
mod basic;
mod contents;
mod ffi;
mod file;
mod handle;
mod progress;
mod results;
mod types;

pub use additional::*;
pub use basic::*;
pub use handle::vs_terrain_handle;
pub use types::*;
