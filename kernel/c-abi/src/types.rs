//! Records and numbers that C sees.

use core::ffi::c_char;
use hardpan::{Answer, Cost, Fixed, Hit, IntoPoint, Layers, Normal, OpenError, Point, Status, Terrain, VerifyError};
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// The version of the interface: it changes when a record or a function does.
pub const HPAN_ABI_VERSION: u32 = 1;

/// The version of the interface that the library has; a program that finds another than `HPAN_ABI_VERSION` was
/// compiled with the header of another library. Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_abi_version() -> u32 {
    HPAN_ABI_VERSION
}

/// What a function came to; `hpan_error_text` says it in words.
///
/// Wrong pointers, sizes and handles are mistakes of the program; the others are of the image or of the question.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum hpan_error {
    /// Fine.
    HPAN_OK = 0,
    /// A pointer that is needed is null.
    HPAN_ERROR_NULL = 1,
    /// Not a handle of this kind: another one, or memory that was overwritten or never held one.
    HPAN_ERROR_HANDLE = 2,
    /// The handle was closed.
    HPAN_ERROR_CLOSED = 3,
    /// A pointer is not a multiple of what its type asks for.
    HPAN_ERROR_ALIGNMENT = 4,
    /// The memory is too small; of a string, the length that it needs was written.
    HPAN_ERROR_ROOM = 5,
    /// More than 2^31 - 1 elements, or more bytes than memory can have.
    HPAN_ERROR_COUNT = 6,
    /// There is no material, source or surface of that number, or no material of that name.
    HPAN_ERROR_INDEX = 7,
    /// An option has a value that it cannot have.
    HPAN_ERROR_OPTION = 8,
    /// The position is not finite, or farther from zero than any image reaches.
    HPAN_ERROR_POSITION = 9,
    /// The image does not start at a multiple of 128.
    HPAN_ERROR_IMAGE_ADDRESS = 20,
    /// The image is shorter than a head, or than the length that its head states.
    HPAN_ERROR_IMAGE_SHORT = 21,
    /// The bytes are not a terrain image.
    HPAN_ERROR_NOT_AN_IMAGE = 22,
    /// Blank or erased memory: all zeros or all ones.
    HPAN_ERROR_BLANK = 23,
    /// The image needs a newer library.
    HPAN_ERROR_TOO_NEW = 24,
    /// The head of the image does not match its checksum.
    HPAN_ERROR_HEAD_DAMAGED = 25,
    /// The head of the image states what no builder writes.
    HPAN_ERROR_HEAD_INVALID = 26,
    /// The image is of a format that is read no longer: build it again.
    HPAN_ERROR_TOO_OLD = 27,
    /// A section's bytes do not match their checksum; its kind was written.
    HPAN_ERROR_SECTION_DAMAGED = 30,
    /// A section contradicts the head; its kind was written.
    HPAN_ERROR_SECTION_INVALID = 31,
    /// Bytes outside the sections are not zero.
    HPAN_ERROR_PADDING = 32,
    /// A tile's bytes do not match their checksum; its number was written.
    HPAN_ERROR_TILE_DAMAGED = 33,
    /// A tile contradicts itself; its number was written.
    HPAN_ERROR_TILE_INVALID = 34,
    /// A place in a tile costs more than the image states; the tile's number was written.
    HPAN_ERROR_BOUND_EXCEEDED = 35,
    /// Something else that a newer kernel tells apart.
    HPAN_ERROR_OTHER = 99,
}

use hpan_error::*;

impl From<OpenError> for hpan_error {
    fn from(e: OpenError) -> Self {
        match e {
            OpenError::Misaligned => HPAN_ERROR_IMAGE_ADDRESS,
            OpenError::Truncated => HPAN_ERROR_IMAGE_SHORT,
            OpenError::NotAnImage => HPAN_ERROR_NOT_AN_IMAGE,
            OpenError::Blank => HPAN_ERROR_BLANK,
            OpenError::TooNew | OpenError::NotUnderstood(_) => HPAN_ERROR_TOO_NEW,
            OpenError::TooOld(_) => HPAN_ERROR_TOO_OLD,
            OpenError::HeadDamaged => HPAN_ERROR_HEAD_DAMAGED,
            OpenError::HeadInvalid => HPAN_ERROR_HEAD_INVALID,
            OpenError::Content(e) => located(e).0,
            _ => HPAN_ERROR_OTHER,
        }
    }
}

/// An error of the content, and the section's kind or the tile's number.
pub(crate) fn located(e: VerifyError) -> (hpan_error, u32) {
    match e {
        VerifyError::HeadDamaged => (HPAN_ERROR_HEAD_DAMAGED, 0),
        VerifyError::HeadInvalid => (HPAN_ERROR_HEAD_INVALID, 0),
        VerifyError::SectionDamaged(kind) => (HPAN_ERROR_SECTION_DAMAGED, kind),
        VerifyError::SectionInvalid(kind) => (HPAN_ERROR_SECTION_INVALID, kind),
        VerifyError::Padding => (HPAN_ERROR_PADDING, 0),
        VerifyError::TileDamaged(tile) => (HPAN_ERROR_TILE_DAMAGED, tile),
        VerifyError::TileInvalid(tile) => (HPAN_ERROR_TILE_INVALID, tile),
        VerifyError::BoundExceeded(tile) => (HPAN_ERROR_BOUND_EXCEEDED, tile),
        _ => (HPAN_ERROR_OTHER, 0),
    }
}

/// A number of `hpan_error` in words, in English; of any other number, that there is no such error. Never null, never
/// freed.
///
/// Threads: any number at a time.
#[unsafe(no_mangle)]
pub extern "C" fn hpan_error_text(error: i32) -> *const c_char {
    const TEXTS: [(hpan_error, &core::ffi::CStr); 25] = [
        (HPAN_OK, c"fine"),
        (HPAN_ERROR_NULL, c"a pointer that is needed is null"),
        (
            HPAN_ERROR_HANDLE,
            c"not a handle of this kind: another one, or memory that was overwritten or never held one",
        ),
        (HPAN_ERROR_CLOSED, c"the handle was closed"),
        (HPAN_ERROR_ALIGNMENT, c"a pointer is not a multiple of what its type asks for"),
        (HPAN_ERROR_ROOM, c"the memory is too small: ask for the size first"),
        (HPAN_ERROR_COUNT, c"more than 2147483647 elements, or more bytes than memory can have"),
        (HPAN_ERROR_INDEX, c"there is no material, source or surface of that number or name"),
        (HPAN_ERROR_OPTION, c"an option has a value that it cannot have"),
        (HPAN_ERROR_POSITION, c"the position is not finite, or farther from zero than any image reaches"),
        (HPAN_ERROR_IMAGE_ADDRESS, c"the image must start at an address that is a multiple of 128"),
        (HPAN_ERROR_IMAGE_SHORT, c"the image is cut short"),
        (HPAN_ERROR_NOT_AN_IMAGE, c"these bytes are not a terrain image"),
        (HPAN_ERROR_BLANK, c"blank memory: no image was written here"),
        (HPAN_ERROR_TOO_NEW, c"the image needs a newer library"),
        (HPAN_ERROR_TOO_OLD, c"the image is of a format that is read no longer: build it again"),
        (HPAN_ERROR_HEAD_DAMAGED, c"the head of the image is damaged (its checksum differs)"),
        (HPAN_ERROR_HEAD_INVALID, c"the head of the image contradicts itself"),
        (HPAN_ERROR_SECTION_DAMAGED, c"a section of the image is damaged (its checksum differs)"),
        (HPAN_ERROR_SECTION_INVALID, c"a section of the image contradicts the head"),
        (HPAN_ERROR_PADDING, c"bytes of the image outside the sections are not zero"),
        (HPAN_ERROR_TILE_DAMAGED, c"a tile of the image is damaged (its checksum differs)"),
        (HPAN_ERROR_TILE_INVALID, c"a tile of the image contradicts itself"),
        (HPAN_ERROR_BOUND_EXCEEDED, c"a tile of the image costs more than the image states"),
        (HPAN_ERROR_OTHER, c"an error that only a newer library tells apart"),
    ];
    let text = TEXTS.iter().find(|(e, _)| *e as i32 == error).map_or(c"there is no such error", |(_, text)| text);
    text.as_ptr()
}

/// Height where there is no ground: `fallback` of `hpan_options`.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum hpan_fallback {
    /// The lower end of the bounds.
    HPAN_BOUNDS_MIN_Z = 0,
    /// The image's default height.
    HPAN_DEFAULT_Z = 1,
    /// No value of its own: the default height, and nothing should use it.
    HPAN_MISS = 2,
    /// The height at the nearest place of the bounding rectangle, else its bottom.
    HPAN_EDGE_EXTEND = 3,
}

/// A position on the query grid of one image: integers, from the zero of the source's frame.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_point {
    /// East, in 2^-8 of the plan step; INT64_MIN in all three is the position of no place.
    pub x: i64,
    /// North, in 2^-8 of the plan step.
    pub y: i64,
    /// Up, in 2^-8 of the height step.
    pub z: i64,
}

impl hpan_point {
    /// What a position that is none becomes: it is answered as NaN is.
    const NOWHERE: Self = hpan_point { x: i64::MIN, y: i64::MIN, z: i64::MIN };

    /// A position on the image's query grid.
    #[inline(always)]
    pub(crate) fn of(t: &Terrain, p: impl IntoPoint) -> Self {
        t.point(p).map_or(Self::NOWHERE, |Point { x, y, z }| hpan_point { x, y, z })
    }

    /// Whether it is a place.
    pub(crate) fn is_somewhere(&self) -> bool {
        self.x != i64::MIN
    }
}

impl IntoPoint for hpan_point {
    #[inline(always)]
    fn into_point(self, _: i32, _: i32) -> Option<Point> {
        let hpan_point { x, y, z } = self;
        self.is_somewhere().then_some(Point { x, y, z })
    }
}

/// `[x, y, z]` as 2^-24 m.
#[repr(transparent)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub(crate) struct FixedPoint(pub [i64; 3]);

impl IntoPoint for FixedPoint {
    #[inline(always)]
    fn into_point(self, xy_log2: i32, z_log2: i32) -> Option<Point> {
        self.0.map(Fixed::from_bits).into_point(xy_log2, z_log2)
    }
}

/// The ground at one place, in integers: `hpan_z_f64` and its kin make metres of it.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_hit {
    /// Height in 2^-8 of the height step, from the zero of the source's frame.
    pub z: i64,
    /// The upward normal in lattice units, east, north and up; up is above zero.
    pub normal: [i64; 3],
    /// Where the surface lies in the image: for comparisons, its meaning may change.
    pub place: [u32; 3],
    /// Number of the material; 65535 where there is no ground.
    pub material: u16,
    /// Number of the source; 65535 where there is no ground.
    pub source: u16,
    /// One of `hpan_leaf`.
    pub leaf: u8,
    /// One of `hpan_reach`.
    pub reach: u8,
}

impl hpan_hit {
    /// What conversions need of it.
    #[inline(always)]
    pub(crate) fn hit(&self) -> Hit {
        let [x, y, z] = self.normal;
        Hit { z: self.z, normal: Normal { x, y, z }, material: self.material, source: self.source, ..Hit::NONE }
    }
}

impl From<&Hit> for hpan_hit {
    fn from(h: &Hit) -> Self {
        let normal = [h.normal.x, h.normal.y, h.normal.z];
        let (leaf, reach) = (h.leaf.code(), h.reach.code());
        hpan_hit { z: h.z, normal, material: h.material, source: h.source, leaf, reach, place: h.place }
    }
}

/// A status and a hit that is always filled: by the ground, or by the fall-back.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_answer {
    /// The ground, or the fall-back.
    pub hit: hpan_hit,
    /// One of `hpan_status`.
    pub status: u8,
}

impl hpan_answer {
    /// What conversions need of it.
    #[inline(always)]
    pub(crate) fn answer(&self) -> Answer {
        let found = self.status == Status::Found.code();
        let status = if found { Status::Found } else { Status::NoGround };
        Answer { status, hit: self.hit.hit() }
    }
}

/// The ground at one place in metres, as vehicle solvers take it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_ground {
    /// Height in metres.
    pub z: f64,
    /// Metres of height a metre east.
    pub dzdx: f64,
    /// Metres of height a metre north.
    pub dzdy: f64,
    /// Friction.
    pub mu: f64,
    /// Rolling resistance, as a factor.
    pub rolling: f64,
    /// Gain, as a factor.
    pub gain: f64,
}

/// How many heights lie over a place.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_layers_found {
    /// One of `hpan_status`: `HPAN_FOUND` if there is at least one.
    pub status: u8,
    /// How many were written, highest first.
    pub written: usize,
    /// How many there are; more than `written` if there was too little room.
    pub total: usize,
}

impl From<Layers> for hpan_layers_found {
    fn from(Layers { status, written, total }: Layers) -> Self {
        hpan_layers_found { status: status as u8, written, total }
    }
}

/// Counted work of one query.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_cost {
    /// Directory, page and nodes read.
    pub nodes: u32,
    /// Leaves read.
    pub leaves: u32,
    /// Triangle tests and interpolations.
    pub tests: u32,
    /// 64-byte lines of cell words and leaves, beyond root and nodes.
    pub lines: u32,
}

impl From<Cost> for hpan_cost {
    fn from(Cost { nodes, leaves, tests, lines }: Cost) -> Self {
        hpan_cost { nodes, leaves, tests, lines }
    }
}

/// How a search goes; the image's own by `hpan_get_options`.
#[repr(C)]
#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
pub struct hpan_options {
    /// Half length of the near segment, in 2^-8 of the height step (`hpan_steps` converts metres); 0 or more.
    pub near_steps: i64,
    /// Length of each far segment, in 2^-8 of the height step; 0 or more.
    pub far_steps: i64,
    /// One of `hpan_fallback`.
    pub fallback: u32,
}

/// What an image says of itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_facts {
    /// Length of the image in bytes.
    pub image_bytes: u64,
    /// Triangles of the ground.
    pub triangles: u64,
    /// log2 of the plan step in metres.
    pub xy_log2: i32,
    /// log2 of the height step in metres.
    pub z_log2: i32,
    /// Number of tiles; a bitmap of damage has a bit for each.
    pub tiles: u32,
    /// Number of materials.
    pub materials: u32,
    /// Number of sources.
    pub sources: u32,
    /// Most layers over any place, an upper bound.
    pub max_layers: u32,
    /// Stated worst cost of any vertical query.
    pub bound: hpan_cost,
    /// How many of its tests may be of wide bundles, which take many times as long.
    pub wide_tests: u32,
    /// Error against the source in plan, metres.
    pub error_plan: f64,
    /// Error against the source in height, metres.
    pub error_height: f64,
    /// Height where there is no ground, if the fall-back is the default height: metres.
    pub default_z: f64,
    /// Friction where there is no ground.
    pub default_mu: f64,
    /// Rolling resistance where there is no ground, as a factor.
    pub default_rolling: f64,
    /// Gain where there is no ground, as a factor.
    pub default_gain: f64,
}

/// What is known of a material.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_material {
    /// Friction.
    pub mu: f64,
    /// Rolling resistance, as a factor.
    pub rolling: f64,
    /// Gain, as a factor.
    pub gain: f64,
    /// Cone index in PSI; zero if not stated.
    pub cone_index: f64,
    /// Class bits for masks.
    pub class_mask: u32,
    /// Label for sensors.
    pub label: u32,
    /// Which of coincident surfaces stayed: the highest.
    pub priority: i32,
    /// Surface type: 0 dry pavement, 1 wet, 2 grass, 3 dirt, 4 gravel, 5 rumble strip, 16 ice, 17 snow, 18 clay, 19
    /// sand, or another number of the user's.
    pub surface: u16,
    /// 1 for an obstacle, else 0.
    pub obstacle: u8,
}

/// A step of a search, for `hpan_explain`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hpan_trace {
    /// One of `hpan_trace_kind`; it says which of the others count, which are zero else.
    pub kind: u32,
    /// `HPAN_TRACE_NODE`: log2 of an entry's side in plan steps.
    pub log2: u32,
    /// `HPAN_TRACE_WORDS`: bundles and patches that may cover the place.
    pub words: u32,
    /// `HPAN_TRACE_WORDS`, `HPAN_TRACE_LEAF`, `HPAN_TRACE_LONG`: 64-byte lines.
    pub lines: u32,
    /// `HPAN_TRACE_LEAF`, `HPAN_TRACE_TEST`, `HPAN_TRACE_LONG`: which leaf, in units of its size from the start.
    pub record: u64,
    /// `HPAN_TRACE_TEST`: the triangle.
    pub part: u32,
    /// `HPAN_TRACE_TEST`: 1 if the triangle covers the place.
    pub covered: u32,
    /// `HPAN_TRACE_CANDIDATE`: the surface.
    pub hit: hpan_hit,
}

/// Kinds of steps.
#[repr(u32)]
#[derive(Clone, Copy)]
pub enum hpan_trace_kind {
    /// A directory, page or node was read.
    HPAN_TRACE_NODE = 0,
    /// The words of a cell were read.
    HPAN_TRACE_WORDS = 1,
    /// A bundle or a patch block was read.
    HPAN_TRACE_LEAF = 2,
    /// A triangle was tested, or a patch interpolated.
    HPAN_TRACE_TEST = 3,
    /// A surface over the place, within the windows or not.
    HPAN_TRACE_CANDIDATE = 4,
    /// A patch block named a long one, which was read.
    HPAN_TRACE_LONG = 5,
}
