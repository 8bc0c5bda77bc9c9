//! Places on earth: from longitude and latitude to metres of an image, and back.

use crate::util::projection::{Ellipsoid, Parameters, TransverseMercator};
use crate::util::text::{decimal, shown};
use hardpan::Terrain;
use hardpan::format::Crs;

/// The plane of an image that knows where on earth it lies.
///
/// ```
/// use hardpan_builder::image::earth::Earth;
/// use hardpan_builder::util::projection::{Ellipsoid, Parameters};
///
/// let ellipsoid = Ellipsoid { radius: 6_378_137.0, inverse_flattening: 298.257_223_563 };
/// let utm = Parameters { ellipsoid, longitude: 9.0, latitude: 0.0, scale: 0.9996, zero: [500_000.0, 0.0] };
/// let [x, y] = Earth::new(utm, [0.0; 3]).place([11.0, 48.0]);
/// assert_eq!([x.round(), y.round()], [649_188.0, 5_318_236.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Earth {
    plane: TransverseMercator,
    shift: [f64; 3],
}

impl Earth {
    /// A frame of a plane whose places were moved by so many metres.
    pub fn new(plane: Parameters, shift: [f64; 3]) -> Self {
        Earth { plane: TransverseMercator::new(plane), shift }
    }

    /// The frame of an image, if it records a projection that is known here.
    pub fn of(t: &Terrain) -> Option<Self> {
        let (crs, _) = t.crs()?;
        let ellipsoid = Ellipsoid { radius: crs.radius, inverse_flattening: crs.inverse_flattening };
        let Crs { longitude, latitude, scale, zero, shift, .. } = *crs;
        let plane = Parameters { ellipsoid, longitude, latitude, scale, zero };
        (crs.method == Crs::TRANSVERSE_MERCATOR).then(|| Earth::new(plane, shift))
    }

    /// x and y, metres, of longitude and latitude in degrees.
    pub fn place(&self, lonlat: [f64; 2]) -> [f64; 2] {
        let at = self.plane.forward(lonlat);
        [0, 1].map(|k| at[k] + self.shift[k])
    }

    /// Longitude and latitude in degrees, of x and y in metres.
    pub fn back(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        self.plane.inverse([x - self.shift[0], y - self.shift[1]])
    }

    /// z, metres, of a height of the image's vertical system.
    pub fn z(&self, height: f64) -> f64 {
        height + self.shift[2]
    }

    /// Where on earth an image lies, in words.
    pub fn told(t: &Terrain) -> Option<String> {
        let (crs, [name, datum, vertical]) = t.crs()?;
        let mut text = if name.is_empty() { "unknown".to_owned() } else { shown(name) };
        if !datum.is_empty() {
            text += &format!(", datum {}", shown(datum));
        }
        text += match crs.says {
            Crs::FILE => " (stated by file)",
            Crs::USER => " (stated by user)",
            _ => "",
        };
        let vertical = if vertical.is_empty() { "unknown".into() } else { shown(vertical) };
        text += &format!("; heights: {vertical}");
        if crs.shift != [0.0; 3] {
            text += &format!("; moved by {}", crs.shift.map(decimal).join(","));
        }
        Some(text)
    }
}
