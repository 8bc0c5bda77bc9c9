//! Findings about a source or its ground: gaps, steps, double surfaces, spikes, buried roads.
//!
//! An analysis asks a scene or an image, and returns values. It prints nothing and names no option.

pub mod border;
pub mod buried;
pub mod cell_triangles;
pub mod double_surface;
pub mod gaps;
pub mod layer_pair;
pub mod overlap;
pub mod spikes;
pub mod steps;
pub mod walk;
