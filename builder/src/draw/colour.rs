//! Colours of maps: paper and ink, categories, and a scale.

/// Red, green and blue.
pub type Colour = [u8; 3];

pub const WHITE: Colour = [255; 3];
pub const INK: Colour = [32, 34, 38];
/// Where there is no ground: in a frame it is hatched.
pub const NOTHING: Colour = [236, 238, 240];
/// The lines of that.
pub const HATCH: Colour = [176, 180, 186];
/// Colours that the colour-blind tell apart, after Okabe and Ito, without black.
pub const CATEGORIES: [Colour; 7] =
    [[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]];
/// The colour of all others.
pub const OTHERS: Colour = [130; 3];

/// From dark to light in even steps of lightness, through hues that the colour-blind tell apart: after viridis.
const SCALE: [Colour; 10] = [
    [68, 1, 84],
    [72, 40, 120],
    [62, 74, 137],
    [49, 104, 142],
    [38, 130, 142],
    [31, 158, 137],
    [53, 183, 121],
    [110, 206, 88],
    [181, 222, 43],
    [253, 231, 37],
];

/// A place on the scale: dark at 0, light at 1.
pub fn scale(t: f64) -> Colour {
    let t = t.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let i = (t as usize).min(SCALE.len() - 2);
    mix(SCALE[i], SCALE[i + 1], t - i as f64)
}

/// From `a` at 0 to `b` at 1.
pub fn mix(a: Colour, b: Colour, t: f64) -> Colour {
    [0, 1, 2].map(|i| (f64::from(a[i]) + (f64::from(b[i]) - f64::from(a[i])) * t).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L* of CIE 1976.
    fn lightness(c: Colour) -> f64 {
        let linear = |v: u8| match f64::from(v) / 255.0 {
            v if v <= 0.04045 => v / 12.92,
            v => ((v + 0.055) / 1.055).powf(2.4),
        };
        let y = 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
        116.0 * y.cbrt() - 16.0
    }

    #[test]
    fn the_scale_grows_lighter_in_even_steps() {
        let steps: Vec<f64> = (0..=20).map(|i| lightness(scale(f64::from(i) / 20.0))).collect();
        let even = (steps[20] - steps[0]) / 20.0;
        assert!(even > 3.5, "{steps:?}");
        for pair in steps.windows(2) {
            assert!((pair[1] - pair[0] - even).abs() < 0.35 * even, "{steps:?}");
        }
        assert_eq!((scale(-1.0), scale(2.0)), (SCALE[0], SCALE[9]));
    }
}
