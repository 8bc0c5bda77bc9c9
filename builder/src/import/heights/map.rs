//! Pictures as heights: grey steps of pixels.

/// The grey step of a colour, and whether it is a colour at all. Grey keeps its number.
pub fn grey([r, g, b]: [u16; 3]) -> (f64, bool) {
    let luma = 299 * u32::from(r) + 587 * u32::from(g) + 114 * u32::from(b);
    (f64::from(luma) / 1000.0, r != g || g != b)
}
