//! Ground to try things on: the fixtures and the proving ground.

pub mod fixtures;
pub mod proving_ground;
