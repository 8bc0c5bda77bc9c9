//! Exact arithmetic on lattice points.

/// Twice the plan area of a triangle, positive if counter-clockwise.
pub fn area2(a: [i32; 3], b: [i32; 3], c: [i32; 3]) -> i128 {
    let d = |p: [i32; 3], i: usize| i64::from(p[i]) - i64::from(a[i]);
    let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
    product(d(b, 0), d(c, 1)) - product(d(b, 1), d(c, 0))
}

/// 2^e.
pub fn exp2(e: i32) -> f64 {
    f64::from_bits(((1023 + e) as u64) << 52)
}

/// 2^64 divided by a number of query steps, rounded up.
pub fn reciprocal(pitch: f64) -> u64 {
    let exponent = (pitch.to_bits() >> 52) as i32 - 1075;
    let mantissa = pitch.to_bits() & ((1 << 52) - 1) | 1 << 52;
    (1u128 << (64 - exponent)).div_ceil(mantissa.into()) as u64
}
