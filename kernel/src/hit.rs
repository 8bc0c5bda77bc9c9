//! Answers and costs. The layout of an answer is C's, so that one may be written where C wants it.

/// An outcome with its numbers, names and meanings: they stand here once, for the command, C and Python too.
macro_rules! outcomes {
    ($(#[$meta:meta])* $type:ident { $($variant:ident = $code:literal, $name:literal, $symbol:literal, $meaning:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type {
            $(#[doc = $meaning] $variant = $code),*
        }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [$type] = &[$($type::$variant),*];

            /// Its number in C, in Python and in arrays.
            #[inline(always)]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// Its name in tables, CSV and JSON.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),* }
            }

            /// Its name in programs: in Python as it stands, in C after `HPAN_` or `HPAN_RAY_`.
            pub const fn symbol(self) -> &'static str {
                match self { $($type::$variant => $symbol),* }
            }

            /// Its meaning, as one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $($type::$variant => $meaning),* }
            }
        }
    };
}

pub(crate) use outcomes;

outcomes! {
    /// Outcome of a query.
    Status {
        Found = 0, "found", "FOUND", "There is ground, and the hit describes it.";
        NoGround = 1, "no ground", "NO_GROUND", "The image covers this place and there is no ground within the windows.";
        NotInImage = 2, "not in image", "NOT_IN_IMAGE",
            "The image does not cover this place, or the position is not a finite place in its domain.";
        Damaged = 3, "damaged", "DAMAGED", "The tile is marked as damaged, or its bytes are not a tile.";
        LimitReached = 4, "limit reached", "LIMIT_REACHED", "The work limit was reached first: no query has one yet.";
    }
}

outcomes! {
    /// Which stage of the search answered (VS Terrain's: near segment, far below, far above, fall-back).
    Reach {
        Near = 0, "near", "NEAR", "Within the near window.";
        FarBelow = 1, "far below", "FAR_BELOW", "Below, outside the near window.";
        FarAbove = 2, "far above", "FAR_ABOVE", "Above, outside the near window.";
        Fallback = 3, "fall-back", "FALLBACK", "Not found: the values come from the fall-back.";
        Hidden = 4, "hidden", "HIDDEN", "Ground of higher precedence hides it: only layers tell it.";
    }
}

outcomes! {
    /// Kind of the leaf that holds the surface.
    LeafKind {
        Bundle = 0, "mesh", "MESH", "A bundle of triangles of a mesh.";
        Patch = 1, "field", "FIELD", "A block of a height field.";
        None = 2, "none", "NONE", "No leaf: the fall-back.";
    }
}

/// An upward normal in lattice units: height falls by `x/z` height steps a plan step in x.
///
/// Exact as long as all three are below 2^62, as they are of every triangle of less than 2^29 steps. Else they are
/// divided by the least power of two that brings them there, and rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Normal {
    /// East component.
    pub x: i64,
    /// North component.
    pub y: i64,
    /// Up component, always above zero.
    pub z: i64,
}

impl Normal {
    /// Straight up.
    pub const UP: Normal = Normal { x: 0, y: 0, z: 1 };
    /// Not looked for yet: no triangle has it.
    pub(crate) const UNKNOWN: Normal = Normal { x: 0, y: 0, z: 0 };
}

/// The ground at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Hit {
    /// Height in 2^-8 of the height step, from the source frame's zero: the exact rational, rounded once, half to even.
    pub z: i64,
    /// The plane that gave it.
    pub normal: Normal,
    /// Where the surface lies in the image, for `explain` and tests. The tile, in 128-byte units from the start of the
    /// tiles; in it the bundle, in 128-byte units, or the patch record, in words; the triangle, or the patch's block.
    pub place: [u32; 3],
    /// Index into the material table; `u16::MAX`, which no image has, where there is no ground.
    pub material: u16,
    /// Index into the source table; `u16::MAX` where there is no ground.
    pub source: u16,
    /// The kind of leaf.
    pub leaf: LeafKind,
    /// The stage that found it.
    pub reach: Reach,
}

impl Hit {
    /// No ground, level, at zero: what to fill slices with before a query writes to them.
    pub const NONE: Hit = Hit {
        z: 0,
        normal: Normal::UP,
        material: u16::MAX,
        source: u16::MAX,
        leaf: LeafKind::None,
        reach: Reach::Fallback,
        place: [0; 3],
    };
}

/// A status and a hit that is always filled: by the ground, or by the fall-back policy and the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Answer {
    /// The ground, or the fall-back.
    pub hit: Hit,
    /// Outcome of the query.
    pub status: Status,
}

impl Answer {
    /// No answer yet: what to fill slices with before a query writes to them.
    pub const NONE: Answer = Answer { status: Status::NotInImage, hit: Hit::NONE };

    /// Whether there is ground.
    #[inline(always)]
    pub fn found(&self) -> bool {
        matches!(self.status, Status::Found)
    }
}

/// How many heights lie over a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layers {
    /// `Found` if there is at least one.
    pub status: Status,
    /// How many were written, highest first.
    pub written: usize,
    /// How many there are; more than `written` if the caller's space was too small.
    pub total: usize,
}

/// Search windows of `closest`, in 2^-8 of the height step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Windows {
    /// Half length of the near segment.
    pub near: i64,
    /// Length of each far segment.
    pub far: i64,
}

/// Counted work of one query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cost {
    /// Directory, page and nodes read.
    pub nodes: u32,
    /// Leaves (bundles and patch blocks) read.
    pub leaves: u32,
    /// Triangle tests and patch interpolations.
    pub tests: u32,
    /// 64-byte lines of cell words and leaves, beyond root and nodes.
    pub lines: u32,
}
