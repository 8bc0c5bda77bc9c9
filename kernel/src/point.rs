//! Positions: on the query grid, and relative to the image's origin.

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

/// `[x, y, z]` in metres: widened, which is exact, and rounded as `[f64; 3]`. An `f32` resolves 0.06 mm at 1 km, 1 mm
/// at 16 km.
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

/// A place inside the image's bounds, relative to its origin: lattice steps, and 2^-8 of a step beyond.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GridPoint {
    pub x: i32,
    pub y: i32,
    pub fx: u32,
    pub fy: u32,
}

impl GridPoint {
    /// In query steps from the origin.
    #[inline(always)]
    pub fn query_x(self) -> i64 {
        i64::from(self.x) << 8 | i64::from(self.fx)
    }

    /// In query steps from the origin.
    #[inline(always)]
    pub fn query_y(self) -> i64 {
        i64::from(self.y) << 8 | i64::from(self.fy)
    }
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
