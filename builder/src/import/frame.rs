//! How a file's numbers become metres, east, north and up.

use std::{fmt, str::FromStr};

/// The axis of a file that points up, with its sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// (x, y, z) becomes (-z, y, x).
    X,
    /// (x, y, z) becomes (x, -z, y).
    Y,
    /// Stays.
    #[default]
    Z,
    /// (x, y, z) becomes (z, y, -x).
    NegX,
    /// (x, y, z) becomes (x, z, -y).
    NegY,
    /// (x, y, z) becomes (x, -y, -z).
    NegZ,
}

impl Up {
    /// What can be typed.
    pub const NAMES: [&str; 6] = ["x", "y", "z", "-x", "-y", "-z"];
    const ALL: [Up; 6] = [Up::X, Up::Y, Up::Z, Up::NegX, Up::NegY, Up::NegZ];

    fn apply(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self {
            Up::X => [-z, y, x],
            Up::Y => [x, -z, y],
            Up::Z => [x, y, z],
            Up::NegX => [z, y, -x],
            Up::NegY => [x, z, -y],
            Up::NegZ => [x, -y, -z],
        }
    }
}

impl FromStr for Up {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = Self::NAMES.iter().position(|&n| n == text);
        at.map(|i| Self::ALL[i]).ok_or_else(|| format!("an axis is one of {}", Self::NAMES.join(", ")))
    }
}

impl fmt::Display for Up {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

/// The unit of a file's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Metre.
    #[default]
    M,
    /// Kilometre.
    Km,
    /// Centimetre.
    Cm,
    /// Millimetre.
    Mm,
    /// International foot, 0.3048 m.
    Ft,
    /// Survey foot of the United States, 1200/3937 m.
    UsFt,
    /// Inch, 0.0254 m.
    In,
}

impl Unit {
    /// What can be typed.
    pub const NAMES: [&str; 7] = ["m", "km", "cm", "mm", "ft", "us-ft", "in"];
    const ALL: [Unit; 7] = [Unit::M, Unit::Km, Unit::Cm, Unit::Mm, Unit::Ft, Unit::UsFt, Unit::In];

    /// Metres as an exact ratio.
    const fn ratio(self) -> (f64, f64) {
        match self {
            Unit::M => (1.0, 1.0),
            Unit::Km => (1000.0, 1.0),
            Unit::Cm => (1.0, 100.0),
            Unit::Mm => (1.0, 1000.0),
            Unit::Ft => (381.0, 1250.0),
            Unit::UsFt => (1200.0, 3937.0),
            Unit::In => (127.0, 5000.0),
        }
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = Self::NAMES.iter().position(|&n| n == text);
        at.map(|i| Self::ALL[i]).ok_or_else(|| format!("a unit is one of {}", Self::NAMES.join(", ")))
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

/// How a file's numbers become metres, z up.
///
/// In this order, each in f64: times `scale`; times the unit's numerator, divided by its denominator; `up` turned to
/// z; turned by `rotate` about z; moved by `translate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The file's axis that points up.
    pub up: Up,
    /// The file's unit.
    pub unit: Unit,
    /// Factor beside the unit, above zero.
    pub scale: f64,
    /// Turn about up, in degrees, anticlockwise seen from above; exact at multiples of 90.
    pub rotate: f64,
    /// Way moved after all else, in metres.
    pub translate: [f64; 3],
}

impl Default for Frame {
    /// Metres, z up.
    fn default() -> Self {
        Frame { up: Up::Z, unit: Unit::M, scale: 1.0, rotate: 0.0, translate: [0.0; 3] }
    }
}

impl Frame {
    /// The same, with sine and cosine at hand.
    pub(crate) fn transform(&self) -> Transform {
        let (rest, quarters) = libm::remquo(self.rotate, 90.0); // exact
        let (sin, cos) = libm::sincos(rest * (std::f64::consts::PI / 180.0));
        let turn = match quarters.rem_euclid(4) {
            0 => [cos, sin],
            1 => [-sin, cos],
            2 => [-cos, -sin],
            _ => [sin, -cos],
        };
        Transform { frame: *self, turn, ratio: self.unit.ratio() }
    }

    /// The directions of the file's axes x, y and z in the scene, as unit vectors.
    pub fn axes(&self) -> [[f64; 3]; 3] {
        let t = Frame { unit: Unit::M, scale: 1.0, translate: [0.0; 3], ..*self }.transform();
        [t.apply([1.0, 0.0, 0.0]), t.apply([0.0, 1.0, 0.0]), t.apply([0.0, 0.0, 1.0])]
    }
}

/// A frame, ready for many positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transform {
    frame: Frame,
    /// Cosine and sine of the rotation.
    turn: [f64; 2],
    ratio: (f64, f64),
}

impl Transform {
    #[inline]
    pub fn apply(&self, p: [f64; 3]) -> [f64; 3] {
        let (numerator, denominator) = self.ratio;
        let [x, y, z] = self.frame.up.apply(p.map(|v| v * self.frame.scale * numerator / denominator));
        let [cos, sin] = self.turn;
        let [dx, dy, dz] = self.frame.translate;
        [x * cos - y * sin + dx, x * sin + y * cos + dy, z + dz]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(frame: Frame) -> [f64; 3] {
        frame.transform().apply([100.0, 200.0, 300.0])
    }

    #[test]
    fn units_are_exact_ratios() {
        let unit = |unit| at(Frame { unit, ..Frame::default() });
        assert_eq!(unit(Unit::Km), [100_000.0, 200_000.0, 300_000.0]);
        assert_eq!(unit(Unit::Cm), [1.0, 2.0, 3.0]);
        assert_eq!(unit(Unit::Mm), [0.1, 0.2, 0.3]);
        assert_eq!(unit(Unit::Ft), [30.48, 60.96, 91.44]);
        assert_eq!(unit(Unit::UsFt), [120_000.0 / 3937.0, 240_000.0 / 3937.0, 360_000.0 / 3937.0]);
        assert_eq!(unit(Unit::In), [2.54, 5.08, 7.62]);
    }

    #[test]
    fn every_axis_can_point_up_and_none_mirrors() {
        for (name, up) in Up::NAMES.iter().zip(Up::ALL) {
            assert_eq!((name.parse(), up.to_string().as_str()), (Ok(up), *name));
            let frame = Frame { up, ..Frame::default() };
            let [a, b, c] = frame.axes();
            let cross: [f64; 3] = std::array::from_fn(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                a[j] * b[k] - a[k] * b[j]
            });
            assert_eq!(cross, c, "{name} keeps right-handed axes");
            let sign = if name.starts_with('-') { -1.0 } else { 1.0 };
            assert_eq!(frame.axes()["xyz".find(&name[name.len() - 1..]).unwrap()], [0.0, 0.0, sign]);
        }
        for (name, unit) in Unit::NAMES.iter().zip(Unit::ALL) {
            assert_eq!((name.parse(), unit.to_string().as_str()), (Ok(unit), *name));
        }
        assert!("w".parse::<Up>().unwrap_err().contains("-z") && "yd".parse::<Unit>().unwrap_err().contains("us-ft"));
    }

    #[test]
    fn rotations_are_anticlockwise_and_exact_at_right_angles() {
        let turned = |rotate| at(Frame { rotate, ..Frame::default() });
        assert_eq!(turned(90.0), [-200.0, 100.0, 300.0]);
        assert_eq!(turned(-180.0), [-100.0, -200.0, 300.0]);
        assert_eq!(turned(270.0), [200.0, -100.0, 300.0]);
        assert_eq!(turned(360.0 * 1e9 + 90.0), turned(90.0));
        let [x, y, _] = turned(30.0);
        let (s, c) = (0.5, 0.75f64.sqrt());
        assert!((x - (100.0 * c - 200.0 * s)).abs() < 1e-12 && (y - (100.0 * s + 200.0 * c)).abs() < 1e-12);
    }

    #[test]
    fn scale_unit_axes_rotation_translation_in_this_order() {
        let frame = Frame { up: Up::Y, unit: Unit::Cm, scale: 2.0, rotate: 90.0, translate: [10.0, 20.0, -30.0] };
        assert_eq!(at(frame), [10.0 + 6.0, 20.0 + 2.0, -30.0 + 4.0]);
    }
}
