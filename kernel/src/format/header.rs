//! The head: what an image says of itself, and where its sections lie.

use super::Section;
use core::mem::offset_of;
use core::ops::Range;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First bytes of every image.
pub const MAGIC: [u8; 8] = *b"HARDPAN\n";
/// The version of the format that this crate writes.
pub const VERSION: u16 = 3;
/// The oldest format version that this crate reads: of an image without height fields, which have changed since.
pub const MIN_VERSION: u16 = 2;
/// The oldest format version whose height fields this crate reads.
pub const FIELDS_VERSION: u16 = 3;
/// Length of the head: header and section table.
pub const HEAD_LEN: usize = size_of::<Header>();
/// Number of places in the section table.
pub const SECTIONS: usize = 24;
/// The bytes of the head that the identity covers.
pub const CONTENT_HEADER: Range<usize> = offset_of!(Header, must_understand)..SECTION_TABLE;
/// Where the section table stands.
pub const SECTION_TABLE: usize = offset_of!(Header, sections);
/// Where the head's checksum stands, which counts as zero in it.
pub const HEAD_CRC: Range<usize> = offset_of!(Header, head_crc)..offset_of!(Header, reserved0);

/// Lengths of the rays that [`Header::ray_bound`] is of, in metres.
pub const RAY_METRES: [u32; 4] = [1, 5, 20, 100];
/// Length and width of the rectangles that [`Header::tyre_bound`] is of, in metres.
pub const TYRE_METRES: [[f64; 2]; 2] = [[0.6, 0.25], [1.2, 0.5]];
/// Numbers of a bound that are greater are no builder's.
pub const MAX_BOUND: u32 = 1 << 26;

/// Fall-back values of `z` where there is no ground (VS Terrain's: the bottom of the bounding box).
pub mod fallback {
    /// The lower end of the bounding box.
    pub const BOUNDS_MIN_Z: u32 = 0;
    /// The header's `default_z`.
    pub const DEFAULT: u32 = 1;
    /// No value of its own: `default_z`, and nothing should use it.
    pub const MISS: u32 = 2;
    /// The height at the nearest place of the bounding rectangle, else its bottom.
    pub const EDGE_EXTEND: u32 = 3;
}

/// Rules for the answer to a query of a place in plan that has no height, and no rule of its own.
pub mod no_height {
    /// The highest ground.
    pub const HIGHEST: u32 = 0;
    /// The ground nearest to the head's `default_z`, of two equally near the lower.
    pub const NEAREST: u32 = 1;
}

/// Features of [`Header::must_understand`].
pub mod feature {
    /// Ground of lower precedence is hidden: [`Header::precedence_band`](super::Header::precedence_band).
    pub const PRECEDENCE: u64 = 1;
    /// Some materials have no height of their own: [`Material::FRICTION_ONLY`](crate::format::Material::FRICTION_ONLY).
    pub const FRICTION_ONLY: u64 = 2;
    /// Those that this crate knows.
    pub const UNDERSTOOD: u64 = PRECEDENCE | FRICTION_ONLY;
}

/// Heights over one place that a query keeps to know what they hide.
pub const HELD_LEVELS: usize = 32;

/// How often a query of an image with these features may read a cell of so many surfaces.
pub const fn readings(features: u64, surfaces: u32) -> u32 {
    let paints = features & feature::FRICTION_ONLY != 0;
    match (surfaces, paints) {
        _ if features == 0 => 1,
        (0 | 1, _) => 1,
        (2..=32, false) => 2, // HELD_LEVELS
        (2..=32, true) => 4,
        (more, false) => more.saturating_add(3),
        (more, true) => more.saturating_mul(2).saturating_add(5),
    }
}

/// The first 2,048 bytes of an image.
#[derive(Clone, Debug, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub struct Header {
    /// `MAGIC`.
    pub magic: [u8; 8],
    /// Format version of the writer.
    pub version: u16,
    /// Oldest reader that understands the image.
    pub least_reader: u16,
    /// Length of this record.
    pub head_len: u32,
    /// Length of the image, a multiple of 128.
    pub total_len: u64,
    /// CRC-32 (ISO-HDLC) of the head with this field zero.
    pub head_crc: u32,
    /// Zero.
    pub reserved0: u32,
    /// SHA-256 of the content header (bytes 64 to 511) and, in order, kind and digest of each content section.
    pub identity: [u8; 32],
    /// Features that a reader must know: bits of [`feature`].
    pub must_understand: u64,
    /// log2 of the plan step in metres.
    pub xy_log2: i32,
    /// log2 of the height step in metres.
    pub z_log2: i32,
    /// The origin in lattice steps from the source frame's zero.
    pub origin: [i64; 3],
    /// Least lattice coordinates of the ground, from the origin.
    pub min: [i32; 3],
    /// Greatest lattice coordinates of the ground, from the origin.
    pub max: [i32; 3],
    /// log2 of a tile's side in plan steps.
    pub tile_log2: u32,
    /// log2 of the tiles along a page's side.
    pub page_log2: u32,
    /// Number of the first page in x and y.
    pub page_min: [i32; 2],
    /// Number of pages in x and y.
    pub page_count: [u32; 2],
    /// Number of tiles.
    pub tile_count: u32,
    /// Most layers over any place, an upper bound.
    pub max_layers: u32,
    /// Triangles of the ground.
    pub triangles: u64,
    /// Bundles of all tiles.
    pub bundles: u64,
    /// Patch blocks of all tiles.
    pub patch_blocks: u64,
    /// Triangles in all bundles: more than `triangles`, for a tile holds all that it touches.
    pub references: u64,
    /// Default near window, in 2^-8 of the height step.
    pub near: i64,
    /// Default far window, in 2^-8 of the height step.
    pub far: i64,
    /// Heights closer than this are one layer, in 2^-8 of the height step.
    pub layer_merge: i64,
    /// Height without ground, in 2^-8 of the height step from the frame's zero.
    pub default_z: i64,
    /// Friction without ground.
    pub default_mu: f64,
    /// Rolling resistance without ground.
    pub default_rolling: f64,
    /// Gain without ground.
    pub default_gain: f64,
    /// One of [`fallback`].
    pub fallback: u32,
    /// Stated most tests of a vertical query that are of wide bundles: they take many times as long.
    pub wide_tests: u32,
    /// Stated worst cost of a vertical query: nodes, leaves, tests, lines.
    pub bound: [u32; 4],
    /// Error against the source in plan, metres.
    pub error_plan: f64,
    /// Error against the source in height, metres.
    pub error_height: f64,
    /// Stated worst cost of a ray of each of [`RAY_METRES`] over ground: nodes, leaves, tests, lines; zeros if it is
    /// not stated.
    pub ray_bound: [[u32; 4]; 4],
    /// The same of a tyre under each of [`TYRE_METRES`].
    pub tyre_bound: [[u32; 4]; 2],
    /// One of [`no_height`].
    pub no_height_rule: u32,
    /// Zero.
    pub reserved1: u32,
    /// How far ground of higher precedence hides other ground, in 2^-8 of the height step; zero without precedence.
    pub precedence_band: i64,
    /// Zero.
    pub reserved2: [u8; 112],
    /// The section table.
    pub sections: [Section; SECTIONS],
}

const _: () = {
    assert!(size_of::<Header>() == 2048 && SECTION_TABLE == 512);
};
