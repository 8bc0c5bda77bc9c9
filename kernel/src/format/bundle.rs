//! Layout of a bundle: up to 16 triangles in 128 bytes, as 32 words or 64 half words. Vertices are numbered from 1.

/// Words of a bundle.
pub const WORDS: usize = 32;
/// Half words of a bundle.
pub const HALVES: usize = 64;
/// The half word that holds palette entry, class, kind and number of triangles; see [`Head`].
pub const HEAD: usize = 6;
/// Where the three nibble planes of corner numbers start, four half words each.
pub const CORNERS: usize = 7;
/// In a narrow bundle `dz` of vertex i stands at this half word plus i, and `x`, `y` at this word plus i.
pub const NARROW_ZERO: (usize, usize) = (18, 16);
/// Vertex i of a medium bundle stands at this pair of words plus i.
pub const MEDIUM_ZERO: usize = 4;
/// Vertex i of a wide bundle stands at this word plus `WIDE_STRIDE` times i.
pub const WIDE_ZERO: usize = 8;
/// Words of a vertex of a wide bundle.
pub const WIDE_STRIDE: usize = 3;
/// Most triangles.
pub const TRIANGLES: usize = 16;
/// Class 0: `x, y, dz` u16 beside an integer plane; 15 vertices.
pub const NARROW: u16 = 0;
/// Class 1: 20-bit x and y, 24-bit z; 11 vertices.
pub const MEDIUM: u16 = 1;
/// Class 2: 32-bit x, y, z about the image's origin; 7 vertices.
pub const WIDE: u16 = 2;
/// Kind 0: wheels stand on its triangles.
pub const GROUND: u16 = 0;
/// Kind 1: its triangles look down.
pub const CEILING: u16 = 1;
/// Kind 2: rays hit its triangles, and wheels do not stand on them.
pub const OBSTACLE: u16 = 2;
/// Most vertices of each class.
pub const VERTEX_LIMIT: [usize; 3] = [15, 11, 7];
/// In a narrow bundle the heights of a triangle's corners differ by less, in steps.
pub const NARROW_RELIEF: i64 = 1 << 19;

/// Half words behind the corners that are zero in a bundle of so many vertices, at most the class's limit.
pub const fn unused(class: u16, vertices: usize) -> [core::ops::Range<usize>; 2] {
    let (first, stride) = match class {
        NARROW => {
            return [NARROW_ZERO.0 + 1 + vertices..2 * NARROW_ZERO.1 + 2, 2 * (NARROW_ZERO.1 + 1 + vertices)..HALVES];
        }
        MEDIUM => (4 * (MEDIUM_ZERO + 1), 4),
        _ => (2 * (WIDE_ZERO + WIDE_STRIDE), 2 * WIDE_STRIDE),
    };
    [CORNERS + 12..first, first + stride * vertices..HALVES]
}

/// Fraction bits of a narrow bundle's slopes, which are height steps a plan step.
pub const SLOPE_FRACTION: u32 = 8;
/// Greatest plan coordinate of a narrow vertex.
pub const NARROW_REACH: u32 = 0xFFFF;
/// Greatest plan coordinate of a medium vertex.
pub const MEDIUM_REACH: u32 = (1 << MEDIUM_PLAN) - 1;
/// Bits of a medium vertex: of x and y, and of the two parts of its height beside them, the low one first.
const MEDIUM_PLAN: u32 = 20;
const MEDIUM_HEIGHT: u32 = 12;
/// log2 of what the heights of a medium bundle are less than, above its base.
pub const MEDIUM_RELIEF_LOG2: u32 = 2 * MEDIUM_HEIGHT;

/// Half word [`HEAD`] of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head(pub u16);

impl Head {
    /// The head of a bundle of ground with so many triangles, 1 to 16.
    pub const fn new(attribute: u8, class: u16, triangles: usize) -> Self {
        Head(attribute as u16 | class << 8 | (triangles as u16 - 1) << 12)
    }

    /// The same of another kind.
    pub const fn of_kind(self, kind: u16) -> Self {
        Head(self.0 & !(3 << 10) | (kind & 3) << 10)
    }

    /// A bundle as words.
    #[inline(always)]
    pub const fn of(words: &[u32; WORDS]) -> Self {
        Head(words[HEAD / 2] as u16)
    }

    /// A bundle as half words.
    #[inline(always)]
    pub const fn of_halves(halves: &[u16; HALVES]) -> Self {
        Head(halves[HEAD])
    }

    /// Palette entry.
    #[inline(always)]
    pub const fn attribute(self) -> u8 {
        self.0 as u8
    }

    /// [`NARROW`], [`MEDIUM`] or [`WIDE`]; 3 is invalid.
    #[inline(always)]
    pub const fn class(self) -> u16 {
        self.0 >> 8 & 3
    }

    /// [`GROUND`], [`CEILING`] or [`OBSTACLE`]; 3 is invalid. In a tile only ground.
    #[inline(always)]
    pub const fn kind(self) -> u16 {
        self.0 >> 10 & 3
    }

    /// Number of triangles, 1 to 16.
    #[inline(always)]
    pub const fn triangles(self) -> usize {
        (self.0 >> 12) as usize + 1
    }
}

/// Vertex numbers of a triangle, from 1; zeros behind the last.
#[inline(always)]
pub const fn corners(halves: &[u16; HALVES], part: u32) -> [usize; 3] {
    let (at, shift) = (CORNERS + (part >> 2 & 3) as usize, 4 * (part & 3));
    [
        (halves[at] >> shift & 15) as usize,
        (halves[at + 4] >> shift & 15) as usize,
        (halves[at + 8] >> shift & 15) as usize,
    ]
}

/// Writes the vertex numbers of a triangle where zeros stand.
pub const fn set_corners(halves: &mut [u16; HALVES], part: usize, corners: [u8; 3]) {
    let (at, shift) = (CORNERS + part / 4 % 4, 4 * (part % 4));
    halves[at] |= (corners[0] as u16) << shift;
    halves[at + 4] |= (corners[1] as u16) << shift;
    halves[at + 8] |= (corners[2] as u16) << shift;
}

/// x and y of a narrow vertex in its word.
#[inline(always)]
pub const fn narrow_plan(xy: u32) -> [u32; 2] {
    [xy & NARROW_REACH, xy >> 16]
}

/// The word of a narrow vertex.
pub const fn narrow_word([x, y]: [u16; 2]) -> u32 {
    x as u32 | (y as u32) << 16
}

/// x and y of a medium vertex in its two words.
#[inline(always)]
pub const fn medium_plan([first, second]: [u32; 2]) -> [u32; 2] {
    [first & MEDIUM_REACH, second & MEDIUM_REACH]
}

/// Height of a medium vertex above the base.
#[inline(always)]
pub const fn medium_height([first, second]: [u32; 2]) -> u32 {
    second >> MEDIUM_PLAN << MEDIUM_HEIGHT | first >> MEDIUM_PLAN
}

/// The two words of a medium vertex.
pub const fn medium_words([x, y]: [u32; 2], height: u32) -> [u32; 2] {
    [x | height << MEDIUM_PLAN, y | height >> MEDIUM_HEIGHT << MEDIUM_PLAN]
}

/// Plan base along an axis, 0 or 1: the node's base and so many times 2^`shift`.
#[inline(always)]
pub const fn plan_base(halves: &[u16; HALVES], axis: usize) -> i16 {
    halves[axis & 1] as i16
}

/// Base height.
#[inline(always)]
pub const fn base_height(words: &[u32; WORDS]) -> i32 {
    words[1] as i32
}

/// Slopes of a narrow bundle's plane.
#[inline(always)]
pub const fn slopes(halves: &[u16; HALVES]) -> [i16; 2] {
    [halves[4] as i16, halves[5] as i16]
}
