//! The queries.

mod axes;
mod batch;
mod beam;
mod bound;
mod chassis;
mod class;
mod clearance;
mod contact;
pub mod cursor;
mod fallback;
mod field;
pub mod ground;
mod layers;
mod ray;
mod sensor;
mod strips;
mod vertical;
mod walk;

pub use axes::{Axes, PoseError};
pub use beam::{Beam, Pose, Sensed};
pub use chassis::{ChassisHit, ChassisPoint, Group};
pub use clearance::{Clearance, Mover, Step, StepStatus};
pub use contact::{Contact, ContactPoint, ContactStatus, Lattice, MAX_COMPATIBLE_POINTS, Method, Motion, Tyre, Wheel};
pub use cursor::Cursor;
pub use field::{Field, FieldGround};
pub use ground::{Ground, Surface};
pub use ray::{FaceNormal, Kind, Kinds, MAX_RAY_METRES, Ray, RayAnswer, RayHit, RayOptions, RayStatus};
pub use sensor::{Pattern, SensorConfig, SensorError, SensorReading, SensorStep, SensorTrace, Setting, TRACES};
pub use vertical::Options;
