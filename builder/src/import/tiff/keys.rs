//! What a GeoTIFF says of its place: keys, tie points, and the metadata of GDAL.

use super::super::heights::{Affine, Plane, Vertical};
use super::{Tags, doubles, text, unsigned};
use crate::util::crs::US_FOOT;

/// Keys that name something by a number of their own.
const USER_DEFINED: u64 = 32_767;

/// The keys of a file.
#[derive(Default)]
pub struct Keys {
    short: Vec<(u64, u64)>,
    texts: Vec<(u64, String)>,
    double: Vec<(u64, f64)>,
}

impl Keys {
    pub fn of(tags: &mut Tags) -> Keys {
        let directory = unsigned(tags, 34_735).unwrap_or_default();
        let (numbers, names) = (doubles(tags, 34_736), text(tags, 34_737).unwrap_or_default());
        let mut keys = Keys::default();
        for entry in directory.get(4..).unwrap_or_default().chunks_exact(4) {
            let [key, place, count, value] = [entry[0], entry[1], entry[2], entry[3]];
            let (at, count) = (value as usize, count as usize);
            match place {
                0 => keys.short.push((key, value)),
                34_736 => keys.double.extend(numbers.get(at).map(|v| (key, *v))),
                34_737 => {
                    let own = names.as_bytes().get(at..).map(|rest| &rest[..count.min(rest.len())]).unwrap_or_default();
                    let own = String::from_utf8_lossy(own);
                    let name: String = own.trim_matches(['|', '\0', ' ']).chars().filter(|c| !c.is_control()).collect();
                    keys.texts.push((key, name.chars().take(200).collect()));
                }
                _ => {}
            }
        }
        keys
    }

    fn short(&self, key: u64) -> Option<u64> {
        self.short.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    fn text(&self, key: u64) -> Option<&str> {
        self.texts.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    /// A code of the register.
    fn code(&self, key: u64) -> Option<u32> {
        let code = self.short(key).filter(|code| (1024..USER_DEFINED).contains(code));
        code.map(|code| code as u32)
    }

    /// Whether a tie point is the centre of a pixel.
    pub fn is_point(&self) -> bool {
        self.short(1025) == Some(2)
    }

    /// Metres of a unit of its plane, if that is a unit of length.
    pub fn metres(&self) -> Option<f64> {
        let is_plane = self.short(1024) != Some(2);
        length(self.short(3076).filter(|_| is_plane)?)
    }

    /// Metres of a unit of its heights.
    pub fn vertical_unit(&self) -> Option<f64> {
        length(self.short(4099)?)
    }

    pub fn plane(&self) -> Plane {
        let name = [3073, 1026, 2049].into_iter().find_map(|key| self.text(key)).unwrap_or_default();
        match (self.short(1024), self.code(3072), self.code(2048)) {
            (_, Some(code), _) => Plane::Code(code),
            (Some(2) | None, None, Some(code)) => Plane::Code(code),
            (Some(2), None, None) => Plane::Degrees(name.into()),
            (Some(1), None, _) => Plane::Metres(name.into()),
            _ => Plane::Silent,
        }
    }

    pub fn vertical(&self) -> Vertical {
        let code = self.code(4096).unwrap_or(0);
        let name = match (self.text(4097), code) {
            (Some(name), _) if !name.is_empty() => name.into(),
            (_, 5030) => "WGS 84 ellipsoid".into(),
            (_, 5773) => "EGM96 height".into(),
            (_, 3855) => "EGM2008 height".into(),
            (_, 5703) => "NAVD88 height".into(),
            (_, 0) => String::new(),
            (_, code) => format!("EPSG:{code}"),
        };
        Vertical { code, name }
    }
}

/// Metres of a unit of length, by its code.
fn length(code: u64) -> Option<f64> {
    match code {
        9001 => Some(1.0),
        9002 => Some(0.3048),
        9003 => Some(US_FOOT),
        _ => None,
    }
}

/// Metres of a unit of heights as GDAL writes it.
pub fn unit(text: &str) -> Option<f64> {
    match text.trim().to_ascii_lowercase().as_str() {
        "" | "m" | "metre" | "metres" | "meter" | "meters" => Some(1.0),
        "ft" | "foot" | "feet" => Some(0.3048),
        "us survey foot" | "us-ft" | "us_survey_foot" | "ft_us" => Some(US_FOOT),
        _ => None,
    }
}

/// The text of an item of the first band in the metadata of GDAL.
pub fn item(metadata: &str, name: &str) -> Option<String> {
    let wanted = format!("name=\"{name}\"");
    metadata.split("<Item ").skip(1).find_map(|item| {
        let (head, rest) = item.split_once('>')?;
        let is_first = !head.contains("sample=") || head.contains("sample=\"0\"");
        let text = rest.split("</Item").next()?;
        (head.contains(&wanted) && is_first).then(|| text.trim().to_owned())
    })
}

/// The affine map from pixels to places nearest to points (i, j, x, y), and how far the worst is from it in pixels.
pub fn fit(points: &[[f64; 4]]) -> Option<(Affine, f64)> {
    let n = points.len() as f64;
    let mean = |k: usize| points.iter().map(|p| p[k]).sum::<f64>() / n;
    let [mi, mj, mx, my] = [0, 1, 2, 3].map(mean);
    let sum = |f: &dyn Fn([f64; 4]) -> f64| {
        points.iter().map(|p| f([p[0] - mi, p[1] - mj, p[2] - mx, p[3] - my])).sum::<f64>()
    };
    let [ii, ij, jj] = [sum(&|p| p[0] * p[0]), sum(&|p| p[0] * p[1]), sum(&|p| p[1] * p[1])];
    let area = ii * jj - ij * ij;
    if area == 0.0 || !area.is_finite() {
        return None;
    }
    let along = |k: usize| {
        let [iv, jv] = [sum(&|p| p[0] * p[k]), sum(&|p| p[1] * p[k])];
        [(iv * jj - jv * ij) / area, (jv * ii - iv * ij) / area]
    };
    let [[a, b], [d, e]] = [along(2), along(3)];
    let zero = [mx - a * mi - b * mj, my - d * mi - e * mj];
    let place = Affine { zero, column: [a, d], row: [b, e] };
    let back = place.back()?;
    let off = |p: &[f64; 4]| {
        let [i, j] = back([p[2], p[3]]);
        (i - p[0]).abs().max((j - p[1]).abs())
    };
    Some((place, points.iter().map(off).fold(0.0, f64::max)))
}
