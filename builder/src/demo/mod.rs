//! Ground to try things on: the fixtures, the proving ground, and a scene of MAVS.

pub mod fixtures;
pub mod mavs;
pub mod proving_ground;
