//! Positions, answers and costs. The layout of an answer is C's, so that one may be written where C wants it.

/// A coordinate for cores without a double-precision FPU: metres, 40 integer and 24 fraction bits.
pub type Fixed = fixed::types::I40F24;

/// A position on the query grid: integers, 2^-8 of the image's lattice steps, from the source frame's zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Point {
    /// East, in 2^-8 of the plan step.
    pub x: i64,
    /// North, in 2^-8 of the plan step.
    pub y: i64,
    /// Up, in 2^-8 of the height step.
    pub z: i64,
}

/// Whatever can be rounded, once and half to even, to the query grid.
///
/// `None` says that the position is not finite or beyond what 62 bits hold.
pub trait IntoPoint: Copy {
    /// Rounds to the grid of 2^`xy_log2` m in plan and 2^`z_log2` m in height.
    fn into_point(self, xy_log2: i32, z_log2: i32) -> Option<Point>;
}

impl IntoPoint for Point {
    #[inline(always)]
    fn into_point(self, _: i32, _: i32) -> Option<Point> {
        Some(self)
    }
}

/// `[x, y, z]` in metres.
impl IntoPoint for [f64; 3] {
    #[inline(always)]
    fn into_point(self, xy_log2: i32, z_log2: i32) -> Option<Point> {
        Some(Point { x: round_f64(self[0], xy_log2)?, y: round_f64(self[1], xy_log2)?, z: round_f64(self[2], z_log2)? })
    }
}

/// `[x, y, z]` in metres: widened, which is exact, and rounded as `[f64; 3]`. An `f32` resolves 0.06 mm at 1 km, 1 mm at 16 km.
impl IntoPoint for [f32; 3] {
    #[inline(always)]
    fn into_point(self, xy_log2: i32, z_log2: i32) -> Option<Point> {
        self.map(f64::from).into_point(xy_log2, z_log2)
    }
}

/// `[x, y, z]` in metres.
impl IntoPoint for [Fixed; 3] {
    #[inline(always)]
    fn into_point(self, xy_log2: i32, z_log2: i32) -> Option<Point> {
        Some(Point {
            x: round_fixed(self[0], xy_log2)?,
            y: round_fixed(self[1], xy_log2)?,
            z: round_fixed(self[2], z_log2)?,
        })
    }
}

/// 2^e as f64, for -1022 <= e <= 1023.
pub(crate) const fn exp2(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// Rounds a coordinate to steps, half to even, exactly.
#[inline(always)]
fn round_f64(v: f64, step_log2: i32) -> Option<i64> {
    if cfg!(target_pointer_width = "32") { round_bits(v, step_log2) } else { round_float(v, step_log2) }
}

/// By the addition of 1.5 x 2^52, whose last bit is one step, where the core has such numbers.
#[inline(always)]
fn round_float(v: f64, step_log2: i32) -> Option<i64> {
    const MAGIC: f64 = 6_755_399_441_055_744.0; // 1.5 x 2^52
    let s = v * exp2(-step_log2);
    let r = (s + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()) as i64;
    // the sum's exponent is still that of 2^52
    if (r.wrapping_add(1 << 51) as u64) < 1 << 52 {
        return Some(r);
    }
    round_far(s)
}

#[cold]
#[inline(never)]
fn round_far(s: f64) -> Option<i64> {
    const LIMIT: f64 = 4_611_686_018_427_387_904.0; // 2^62
    // neither infinite nor NaN
    (s > -LIMIT && s < LIMIT).then(|| libm::rint(s) as i64)
}

/// By integers alone, for cores that would emulate doubles.
#[inline(always)]
fn round_bits(v: f64, step_log2: i32) -> Option<i64> {
    let bits = v.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    // a denormal is far below half of any step
    let mantissa = if exponent == 0 { 0 } else { bits & ((1 << 52) - 1) | 1 << 52 };
    let shift = exponent - 1075 - step_log2;
    let r = if shift >= 0 {
        if mantissa != 0 && (exponent == 0x7FF || shift > 9) {
            return None; // 2^62 and beyond, infinite or NaN
        }
        mantissa << (shift & 15)
    } else if shift < -54 {
        0
    } else {
        let n = -shift as u32;
        let half = 1u64 << (n - 1);
        let floor = mantissa >> n;
        let rest = mantissa & ((1u64 << n) - 1);
        floor + u64::from(rest > half || (rest == half && floor & 1 == 1))
    } as i64;
    Some(if bits >> 63 == 1 { -r } else { r })
}

#[inline(always)]
fn round_fixed(v: Fixed, step_log2: i32) -> Option<i64> {
    let bits = v.to_bits();
    let shift = -24 - step_log2; // value in steps = bits * 2^shift
    if shift >= 0 {
        if shift > 40 {
            return if bits == 0 { Some(0) } else { None };
        }
        let r = bits.wrapping_shl(shift as u32);
        return if r >> shift == bits && (r >> 62) == (r >> 63) { Some(r) } else { None };
    }
    let n = (-shift) as u32;
    if n > 62 {
        return Some(0);
    }
    let floor = bits >> n;
    let rest = bits & ((1i64 << n) - 1);
    let half = 1i64 << (n - 1);
    let up = rest > half || (rest == half && floor & 1 == 1);
    Some(floor + up as i64)
}

/// What a query came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    /// There is ground, and `hit` describes it.
    Found,
    /// The image covers this place and there is no ground within the windows.
    NoGround,
    /// The image does not cover this place, or the position is not a finite place in its domain.
    NotInImage,
    /// The tile is marked as damaged, or its bytes are not a tile.
    Damaged,
    /// The work limit was reached first: no query has one yet.
    LimitReached,
}

/// Which stage of the search answered (VS Terrain's: near segment, far below, far above, fall-back).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reach {
    /// Within the near window.
    Near,
    /// Below, outside the near window.
    FarBelow,
    /// Above, outside the near window.
    FarAbove,
    /// Not found: the values come from the fall-back policy and the image's defaults.
    Fallback,
}

/// What kind of leaf holds the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum LeafKind {
    /// A bundle of triangles.
    Bundle,
    /// A field of regular heights.
    Patch,
    /// No leaf: the fall-back.
    None,
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
    /// What the query came to.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_rounding_agree() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed ^ seed >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        };
        let mut cases = vec_of([0.0, -0.0, 0.5, 1.5, -2.5, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY]);
        for i in 0..200_000usize {
            let bits = next();
            // all exponents, then those near the grid with few bits, so that halves are common
            cases[i % 16] = match i % 3 {
                0 => f64::from_bits(bits),
                1 => (bits as i64 >> (bits % 64)) as f64 * exp2(-20 - (bits >> 32) as i32 % 40),
                _ => ((bits as i64 >> 40) as f64 + 0.5) * exp2(-(bits as i32 & 63)),
            };
            for step in [-48, -28, -24, -20, -8, 0, 2] {
                for v in cases {
                    assert_eq!(round_bits(v, step), round_float(v, step), "{v:e} in steps of 2^{step}");
                }
            }
        }
    }

    fn vec_of(first: [f64; 9]) -> [f64; 16] {
        core::array::from_fn(|i| first.get(i).copied().unwrap_or(0.0))
    }
}
