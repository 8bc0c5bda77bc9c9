//! Heights that stand in a raster where nobody measured, and that a mesh made of it has as if it were ground.

use hardpan_builder::Triangle;

use super::{counted, decimal, few, grouped, named, part::Part, report::Report};

/// What programs write where there is no height, but for the ends of single precision.
const KNOWN: [f64; 7] = [-9999.0, -99999.0, -32767.0, -32768.0, 1e20, 1e38, -1e38];

/// The number among those that a height is, but for what a unit's rounding leaves of it.
fn known(height: f64) -> Option<f64> {
    let end = f64::from(f32::MAX).copysign(height);
    KNOWN.into_iter().find(|v| (v - height).abs() <= 1e-9 * v.abs()).or((height as f32 == end as f32).then_some(end))
}

/// A height in as many digits as single precision has, where it has more.
fn told(value: f64) -> String {
    if value.abs() < 1e19 { decimal(value) } else { format!("{:e}", value as f32) }
}

/// Such heights of one file, which lie farther from all others than those lie apart.
pub struct NoData<'a> {
    part: &'a Part<'a>,
    values: Vec<f64>,
}

impl<'a> NoData<'a> {
    /// Of triangles that are ground, if there are any.
    pub fn of(part: &'a Part<'a>) -> Option<Self> {
        let mut found = NoData { part, values: Vec::new() };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in part.ground().flat_map(|t| t.v) {
            let height = found.height(v);
            match known(height) {
                Some(value) if found.values.contains(&value) => {}
                Some(value) => found.values.push(value),
                None => (low, high) = (low.min(height), high.max(height)),
            }
        }
        found.values.retain(|value| (low - value).max(value - high) > high - low && low <= high);
        (!found.values.is_empty()).then_some(found)
    }

    /// In the file's own numbers.
    fn height(&self, corner: u32) -> f64 {
        self.part.own(corner)[self.part.frame.upright()]
    }

    fn at(&self, corner: u32) -> bool {
        known(self.height(corner)).is_some_and(|value| self.values.contains(&value))
    }

    /// Whether a corner of a triangle is so.
    pub fn touches(&self, t: &Triangle) -> bool {
        t.v.iter().any(|v| self.at(*v))
    }

    fn told(&self) -> String {
        let part = self.part;
        let mut corners: Vec<u32> = part.ground().flat_map(|t| t.v).collect();
        corners.sort_unstable();
        corners.dedup();
        let all = corners.len() as u64;
        corners.retain(|v| self.at(*v));
        let places = corners.iter().map(|v| part.place(*v));
        let first = places.min_by(|p, q| p[0].total_cmp(&q[0]).then(p[1].total_cmp(&q[1]))).unwrap_or_default();
        let faces = part.ground().filter(|t| self.touches(t)).count() as u64;
        let values: Vec<String> = self.values.iter().map(|v| told(*v)).collect();
        // as gdal_translate writes it
        let end = values[0].split_once('e').map_or(format!(" {}", values[0]), |(_, power)| format!("e+{power}"));
        let [x, y] = [first[0], first[1]].map(|v| decimal((v * 1e6).round() / 1e6));
        format!(
            "{}: {} of {} {} the height {}, far from all others, as rasters have it where there is no data; the first is at x {x}, y {y}, and nobody measured the {} about them: leave such points out before they become a mesh (of points: grep -v '{end}$' ALL.xyz > FILE.xyz), or fill them (gdal_fillnodata.py)",
            named(part.file),
            grouped(corners.len() as u64),
            counted(all, "vertex"),
            if corners.len() == 1 { "has" } else { "have" },
            few(values.iter().cloned(), values.len() as u64),
            counted(faces, "triangle")
        )
    }
}

/// Warns of files that have such heights.
pub fn warn(parts: &[Part], report: &mut Report) {
    parts.iter().filter_map(NoData::of).for_each(|found| report.warn(found.told()));
}
