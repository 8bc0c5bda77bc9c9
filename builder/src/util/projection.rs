//! Transverse Mercator: metres on a plane from longitude and latitude, and back.
//!
//! The series of Krueger to the sixth order (Karney 2011, arXiv:1002.1417), with the functions of `libm` alone: the
//! bits are the same on every machine. It is within 10 nm of the projection up to 3,000 km from the central meridian.

/// An ellipsoid: its equatorial radius in metres, and 1 / flattening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ellipsoid {
    pub radius: f64,
    pub inverse_flattening: f64,
}

impl Ellipsoid {
    /// That of WGS 84.
    pub const WGS84: Ellipsoid = Ellipsoid { radius: 6_378_137.0, inverse_flattening: 298.257_223_563 };

    /// That of most frames of today.
    pub const GRS80: Ellipsoid = Ellipsoid { radius: 6_378_137.0, inverse_flattening: 298.257_222_101 };

    fn flattening(self) -> f64 {
        if self.inverse_flattening == 0.0 { 0.0 } else { 1.0 / self.inverse_flattening }
    }

    /// Metres in a degree of longitude and of latitude, at a latitude in degrees.
    pub fn degree(self, latitude: f64) -> [f64; 2] {
        let f = self.flattening();
        let (sin, cos) = libm::sincos(latitude.to_radians());
        let e2 = f * (2.0 - f);
        let w = libm::sqrt(1.0 - e2 * sin * sin);
        [self.radius * cos / w, self.radius * (1.0 - e2) / (w * w * w)].map(f64::to_radians)
    }
}

/// What a transverse Mercator projection is made of. Angles are degrees, ways metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    pub ellipsoid: Ellipsoid,
    /// The central meridian.
    pub longitude: f64,
    /// The latitude at which northings are the false northing.
    pub latitude: f64,
    /// Scale on the central meridian.
    pub scale: f64,
    /// Easting and northing at that longitude and latitude.
    pub zero: [f64; 2],
}

/// A transverse Mercator projection.
#[derive(Clone, Copy, Debug)]
pub struct TransverseMercator {
    of: Parameters,
    /// The first eccentricity, and one less its square.
    e: f64,
    e2m: f64,
    /// The scale times the radius of a sphere with meridians as long.
    unit: f64,
    forward: [f64; 6],
    inverse: [f64; 6],
    /// The plane's latitude of the zero.
    xi: f64,
}

impl TransverseMercator {
    pub fn new(of: Parameters) -> Self {
        let f = of.ellipsoid.flattening();
        let n = f / (2.0 - f);
        let n2 = n * n;
        let radius = of.ellipsoid.radius / (1.0 + n) * (1.0 + n2 * (1.0 / 4.0 + n2 * (1.0 / 64.0 + n2 / 256.0)));
        let polynomial = |from: i32, c: &[f64]| {
            let power = (0..from).fold(1.0, |p, _| p * n);
            c.iter().rev().fold(0.0, |sum, c| sum * n + c) * power
        };
        let forward = [
            polynomial(1, &[1.0 / 2.0, -2.0 / 3.0, 5.0 / 16.0, 41.0 / 180.0, -127.0 / 288.0, 7_891.0 / 37_800.0]),
            polynomial(2, &[13.0 / 48.0, -3.0 / 5.0, 557.0 / 1_440.0, 281.0 / 630.0, -1_983_433.0 / 1_935_360.0]),
            polynomial(3, &[61.0 / 240.0, -103.0 / 140.0, 15_061.0 / 26_880.0, 167_603.0 / 181_440.0]),
            polynomial(4, &[49_561.0 / 161_280.0, -179.0 / 168.0, 6_601_661.0 / 7_257_600.0]),
            polynomial(5, &[34_729.0 / 80_640.0, -3_418_889.0 / 1_995_840.0]),
            polynomial(6, &[212_378_941.0 / 319_334_400.0]),
        ];
        let inverse = [
            polynomial(1, &[1.0 / 2.0, -2.0 / 3.0, 37.0 / 96.0, -1.0 / 360.0, -81.0 / 512.0, 96_199.0 / 604_800.0]),
            polynomial(2, &[1.0 / 48.0, 1.0 / 15.0, -437.0 / 1_440.0, 46.0 / 105.0, -1_118_711.0 / 3_870_720.0]),
            polynomial(3, &[17.0 / 480.0, -37.0 / 840.0, -209.0 / 4_480.0, 5_569.0 / 90_720.0]),
            polynomial(4, &[4_397.0 / 161_280.0, -11.0 / 504.0, -830_251.0 / 7_257_600.0]),
            polynomial(5, &[4_583.0 / 161_280.0, -108_847.0 / 3_991_680.0]),
            polynomial(6, &[20_648_693.0 / 638_668_800.0]),
        ];
        let e2 = f * (2.0 - f);
        let (e, e2m) = (libm::sqrt(e2), 1.0 - e2);
        let mut made = TransverseMercator { of, e, e2m, unit: of.scale * radius, forward, inverse, xi: 0.0 };
        made.xi = made.sphere(0.0, of.latitude)[1];
        made
    }

    pub fn parameters(&self) -> &Parameters {
        &self.of
    }

    /// tan of the conformal latitude, from tan of the latitude.
    fn conformal(&self, t: f64) -> f64 {
        let root = libm::sqrt(1.0 + t * t);
        let s = libm::sinh(self.e * libm::atanh(self.e * t / root));
        t * libm::sqrt(1.0 + s * s) - s * root
    }

    /// Easting and northing in units of `unit`, from the central meridian and the equator.
    fn sphere(&self, east: f64, latitude: f64) -> [f64; 2] {
        let t = self.conformal(libm::tan(latitude.to_radians()));
        let (sin, cos) = libm::sincos(east.to_radians());
        let (x, y) = (libm::asinh(sin / libm::sqrt(t * t + cos * cos)), libm::atan2(t, cos));
        let mut at = [x, y];
        for (k, c) in (1..).zip(self.forward) {
            let by = f64::from(2 * k);
            let (sin, cos) = libm::sincos(by * y);
            at = [at[0] + c * cos * libm::sinh(by * x), at[1] + c * sin * libm::cosh(by * x)];
        }
        at
    }

    /// Easting and northing in metres, from longitude and latitude in degrees.
    pub fn forward(&self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        let east = libm::remainder(longitude - self.of.longitude, 360.0);
        let [x, y] = self.sphere(east, latitude);
        [self.of.zero[0] + self.unit * x, self.of.zero[1] + self.unit * (y - self.xi)]
    }

    /// Longitude and latitude in degrees, from easting and northing in metres.
    pub fn inverse(&self, [easting, northing]: [f64; 2]) -> [f64; 2] {
        let (x, y) = ((easting - self.of.zero[0]) / self.unit, (northing - self.of.zero[1]) / self.unit + self.xi);
        let mut at = [x, y];
        for (k, c) in (1..).zip(self.inverse) {
            let by = f64::from(2 * k);
            let (sin, cos) = libm::sincos(by * y);
            at = [at[0] - c * cos * libm::sinh(by * x), at[1] - c * sin * libm::cosh(by * x)];
        }
        let (sinh, (sin, cos)) = (libm::sinh(at[0]), libm::sincos(at[1]));
        let wanted = sin / libm::sqrt(sinh * sinh + cos * cos);
        let mut t = wanted / self.e2m;
        for _ in 0..5 {
            let now = self.conformal(t);
            t += (wanted - now) / libm::sqrt(1.0 + now * now) * (1.0 + self.e2m * t * t)
                / (self.e2m * libm::sqrt(1.0 + t * t));
        }
        let longitude = libm::remainder(self.of.longitude + libm::atan2(sinh, cos).to_degrees(), 360.0);
        [longitude, libm::atan(t).to_degrees()]
    }
}
