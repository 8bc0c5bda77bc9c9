//! The queries.

mod batch;
mod beam;
mod class;
mod clearance;
pub mod cursor;
mod fallback;
pub mod ground;
mod layers;
mod ray;
mod vertical;
mod walk;

pub use beam::{Beam, Pose, Sensed};
pub use clearance::{Clearance, Mover, Step, StepStatus};
pub use cursor::Cursor;
pub use ground::{Ground, Surface};
pub use ray::{FaceNormal, Kind, Kinds, MOST_RAY_METRES, Ray, RayAnswer, RayHit, RayOptions, RayStatus};
pub use vertical::Options;
