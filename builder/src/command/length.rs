//! Lengths as they are typed: `0.5mm`, `5cm`, `256m`; without a unit metres.

use crate::options::{Near, Options};

/// Units of a length, the longest name first, and what they are in metres.
const UNITS: [(&str, f64); 4] = [("mm", 1e-3), ("cm", 1e-2), ("km", 1e3), ("m", 1.0)];

/// A length in metres, and whether its unit was typed.
fn parse(text: &str) -> Option<(f64, bool)> {
    let text = text.trim();
    let unit = UNITS.into_iter().find_map(|(name, metres)| Some((text.strip_suffix(name)?, metres)));
    let (number, metres) = unit.unwrap_or((text, 1.0));
    let value: f64 = number.trim_end().parse().ok().filter(|v: &f64| v.is_finite())?;
    // divided, for 0.3 mm is nearer to 0.3 / 1000 than to 0.3 times a rounded thousandth
    Some((if metres < 1.0 { value / (1.0 / metres).round() } else { value * metres }, unit.is_some()))
}

/// A length in metres, if it is one.
pub fn metres(text: &str) -> Option<f64> {
    parse(text).map(|(metres, _)| metres)
}

/// Bytes: `2GiB`, `512MiB`; without a unit bytes.
pub fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let unit = UNITS.into_iter().find_map(|(name, bytes)| Some((text.strip_suffix(name)?, bytes)));
    let (number, bytes) = unit.unwrap_or((text, 1));
    let value = number.trim_end().parse::<f64>().ok().filter(|v| *v >= 0.0 && v.is_finite());
    value.map(|v| (v * bytes as f64) as u64).ok_or_else(|| "a number of bytes with a unit, as 2GiB or 512MiB".into())
}

/// A length within a range, both ends in metres.
pub fn within(text: &str, [low, high]: [f64; 2]) -> Result<f64, String> {
    let found = metres(text).filter(|v| (low..=high).contains(v));
    found.ok_or_else(|| format!("a length from {low} to {high} m, as in {low}m or {}mm", low * 1000.0))
}

/// A threshold in plan and in height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Lattice steps, as in the settings.
    Steps(Near),
    /// Metres.
    Metres([f64; 2]),
}

impl Threshold {
    /// `0.5mm` for both, `1mm,2mm`, or `4,64` lattice steps.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form =
            || "PLAN,HEIGHT as lengths with a unit, as in 1mm or 1mm,2mm, or as lattice steps, as in 4,64".to_string();
        let parts: Vec<&str> = text.split(',').collect();
        let lengths: Option<Vec<(f64, bool)>> = parts.iter().map(|part| parse(part)).collect();
        match lengths.as_deref() {
            Some([(v, true)]) if *v >= 0.0 => Ok(Threshold::Metres([*v; 2])),
            Some([(plan, true), (height, true)]) if *plan >= 0.0 && *height >= 0.0 => {
                Ok(Threshold::Metres([*plan, *height]))
            }
            Some([(_, false), (_, false)]) => text.parse().map(Threshold::Steps),
            _ => Err(form()),
        }
    }

    /// In steps of the lattice, the nearest.
    pub fn near(self, options: &Options) -> Near {
        match self {
            Threshold::Steps(near) => near,
            Threshold::Metres([plan, height]) => {
                let steps = |v: f64, log2: i32| (v / f64::exp2(log2.into())).round().min(f64::from(u32::MAX)) as u32;
                Near { plan: steps(plan, options.xy_log2), height: steps(height, options.z_log2) }
            }
        }
    }
}

/// The least and the largest side of a tile, as powers of two of lattice steps.
const TILES: [u8; 2] = [6, 26];

/// The side of a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// As a power of two of lattice steps, as in the settings.
    Log2(u8),
    Metres(f64),
}

impl Side {
    /// `256m`, or `20` for 2^20 lattice steps.
    pub fn parse(text: &str) -> Result<Self, String> {
        let [least, most] = TILES;
        match (text.parse(), parse(text)) {
            (Ok(log2), _) if (least..=most).contains(&log2) => Ok(Side::Log2(log2)),
            (Ok(_), _) => Err(format!("2^{least} to 2^{most} lattice steps")),
            (_, Some((v, true))) if v > 0.0 => {
                let [least, most] = TILES.map(|log2| f64::exp2((i32::from(log2) + Options::default().xy_log2).into()));
                match [v.log2().floor(), v.log2().ceil()].map(|log2| f64::exp2(log2).clamp(least, most)) {
                    [low, high] if low == v && high == v => Ok(Side::Metres(v)),
                    [low, high] if low == high => {
                        Err(format!("tiles have sides of {least}m to {most}m; the nearest is {low}m"))
                    }
                    [low, high] => {
                        Err(format!("tiles have sides of powers of two metres; the nearest are {low}m and {high}m"))
                    }
                }
            }
            _ => Err("the side of a tile, as in 256m, or N for 2^N lattice steps".into()),
        }
    }

    /// The power of two of lattice steps, which [`Options::check`] may refuse.
    pub fn log2(self, options: &Options) -> u8 {
        match self {
            Side::Log2(log2) => log2,
            Side::Metres(side) => (side.log2() as i32 - options.xy_log2).clamp(0, 255) as u8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let lengths = ["20mm", "2cm", "0.02", "0.02 m", "1km"].map(|text| within(text, [0.001, 1000.0]));
        assert_eq!(lengths, [0.02, 0.02, 0.02, 0.02, 1000.0].map(Ok));
        assert!(["", "mm", "-1m", "1e9", "nan", "5 ft"].iter().all(|text| within(text, [0.001, 1000.0]).is_err()));
    }

    #[test]
    fn thresholds_are_rounded_to_the_lattice() {
        let options = Options::default();
        let near = |text: &str| Threshold::parse(text).map(|t| t.near(&options));
        assert_eq!(near("1mm"), Ok(Near { plan: 4, height: 66 }));
        assert_eq!(near("1mm,0.5mm"), Ok(Near { plan: 4, height: 33 }));
        assert_eq!(near("4,64"), Ok(Near { plan: 4, height: 64 }));
        assert!(["4", "1mm,64", "-1mm", "x"].iter().all(|text| near(text).is_err()));
        let side = |text: &str| Side::parse(text).map(|s| s.log2(&options));
        assert_eq!([side("256m"), side("20"), side("0.25m")], [Ok(20), Ok(20), Ok(10)]);
        assert!(["250m", "5", "27", "1km", "-1m", "256"].iter().all(|text| side(text).is_err()));
        // each value that a hint names is accepted, and is the nearest
        for (text, nearest) in [
            ("1e30m", &["16384m"][..]),
            ("1mm", &["0.015625m"]),
            ("20km", &["16384m"]),
            ("250m", &["128m", "256m"]),
            ("12km", &["8192m", "16384m"]),
        ] {
            let why = side(text).unwrap_err();
            let (_, hint) = why.split_once("nearest").unwrap();
            let named: Vec<&str> = hint.split(' ').filter(|word| word.ends_with('m') && side(word).is_ok()).collect();
            assert_eq!(named, nearest, "{why}");
        }
    }
}
