//! The types of the header, and why a call failed.

use std::ffi::{c_int, c_void};
use zerocopy::{FromBytes, Immutable};

/// A point in metres: x east, y north, z up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, Immutable)]
pub struct vs_terrain_point {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// Friction coefficient.
pub type vs_terrain_mu_type = f32;

/// Rolling resistance, as a factor.
pub type vs_terrain_rr_type = f32;

/// Told how far a call is, from 0 to 100; what it gets back is the caller's.
pub type vs_terrain_optimize_callback = Option<extern "C" fn(progress: c_int, userData: *mut c_void)>;

/// The same of a build.
pub type vs_terrain_build2_callback = vs_terrain_optimize_callback;

/// Build parameters: Table 4.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, Immutable)]
pub struct vs_terrain_build_parameters {
    pub toleranceDepth: i32,
    pub preferredBundleSize: i32,
    pub toleranceDepthBundleIncrease: f64,
    pub minBundleVolume: f64,
    pub toleranceDepthVolumeIncrease: f64,
}

/// Results of a build.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct vs_terrain_build_results {
    pub triangles: u64,
    pub leaves: u64,
    pub references: u64,
    pub maxDepth: u32,
    pub maxLeaf: u32,
    pub worstTests: u32,
    pub worstLines: u32,
    pub errorPlan: f64,
    pub errorHeight: f64,
    pub contested: u64,
    pub seconds: f64,
}

/// Bytes of a material's name, the zero at its end included.
pub const VS_TERRAIN_NAME_SIZE: usize = 48;

/// A triangle of a terrain.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct vs_terrain_triangle {
    pub points: [vs_terrain_point; 3],
    pub mu: vs_terrain_mu_type,
    pub rr: vs_terrain_rr_type,
    pub material: [u8; VS_TERRAIN_NAME_SIZE],
}

/// Outcome of a call. In the header these are `VS_TERRAIN_OK`, `VS_TERRAIN_ERROR_HANDLE` and so on.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum vs_terrain_error {
    /// Fine.
    #[default]
    OK = 0,
    /// The handle is null, was destroyed, or is none of this library's.
    HANDLE = 1,
    /// Another call uses the handle: of another thread, or the one whose callback this is.
    BUSY = 2,
    /// An argument has a value that it cannot have.
    ARGUMENT = 3,
    /// There is no such version, or it cannot do this.
    VERSION = 4,
    /// There is no ground.
    EMPTY = 5,
    /// More than an image or the memory can hold.
    LIMIT = 6,
    /// No image can be made of this, or its proof failed.
    BUILD = 7,
    /// A file cannot be written.
    FILE = 8,
    /// A fault of this library.
    INTERNAL = 9,
}

/// Why a call failed.
#[derive(Clone, Debug)]
pub struct Fault {
    pub code: vs_terrain_error,
    pub text: String,
}

impl Fault {
    pub fn new(code: vs_terrain_error, text: impl Into<String>) -> Self {
        Fault { code, text: text.into() }
    }
}

/// Why a scene cannot become an image.
impl From<hardpan_builder::BuildError> for Fault {
    fn from(e: hardpan_builder::BuildError) -> Self {
        use hardpan_builder::BuildError::*;
        let code = match e {
            Option(_) => vs_terrain_error::ARGUMENT,
            Empty => vs_terrain_error::EMPTY,
            Limit(_) | OutsideDomain { .. } => vs_terrain_error::LIMIT,
            _ => vs_terrain_error::BUILD,
        };
        Fault::new(code, e.to_string())
    }
}
