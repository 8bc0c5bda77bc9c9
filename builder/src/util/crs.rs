//! Coordinate reference systems by their EPSG codes: longitudes and latitudes, or metres on a plane.

use super::projection::{Ellipsoid, Parameters};

/// What a code stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum System {
    /// Longitude and latitude, degrees.
    Geographic(Datum),
    /// Transverse Mercator, UTM among it. A number of it is so many metres; the parameters are in metres.
    Plane { datum: Datum, of: Parameters, metres: f64 },
    /// A plane by another method, of which only its name and the metres of its unit are known.
    Other { method: String, metres: f64 },
}

impl System {
    /// Metres of a number of a plane; none of degrees.
    pub fn metres(&self) -> Option<f64> {
        match self {
            System::Plane { metres, .. } | System::Other { metres, .. } => Some(*metres),
            System::Geographic(_) => None,
        }
    }
}

/// What longitudes and latitudes refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    pub name: String,
    pub ellipsoid: Ellipsoid,
}

/// Metres of the survey foot of the United States.
pub const US_FOOT: f64 = 1200.0 / 3937.0;

/// Datums by the codes that have them: those of longitudes and latitudes, and of planes.
const DATUMS: [(&str, &[[u32; 2]]); 14] = [
    ("WGS 84", &[[4326, 4326], [32_601, 32_660], [32_701, 32_760]]),
    ("ETRS89", &[[4258, 4258], [25_828, 25_838], [3034, 3035], [3044, 3051], [5554, 5556]]),
    ("NAD83", &[[4269, 4269], [26_901, 26_923], [26_929, 26_998]]),
    ("NAD27", &[[4267, 4267], [26_701, 26_722]]),
    ("ED50", &[[4230, 4230], [23_028, 23_038]]),
    ("DHDN", &[[4314, 4314], [31_466, 31_469]]),
    ("MGI", &[[4312, 4312], [31_254, 31_259], [31_284, 31_287]]),
    ("OSGB36", &[[4277, 4277], [27_700, 27_700]]),
    ("NZGD2000", &[[4167, 4167], [2193, 2193]]),
    ("GDA94", &[[4283, 4283], [28_348, 28_358]]),
    ("GDA2020", &[[7844, 7844], [7846, 7859]]),
    ("RGF93", &[[4171, 4171], [2154, 2154]]),
    ("CH1903", &[[4149, 4149], [21_781, 21_781]]),
    ("Hartebeesthoek94", &[[4148, 4148], [2046, 2055]]),
];

/// Ellipsoids by their short names: equatorial radius, and 1 / flattening or the polar radius.
const ELLIPSOIDS: [(&str, f64, f64); 15] = [
    ("WGS84", 6_378_137.0, 298.257_223_563),
    ("GRS80", 6_378_137.0, 298.257_222_101),
    ("intl", 6_378_388.0, 297.0),
    ("krass", 6_378_245.0, 298.3),
    ("bessel", 6_377_397.155, 299.152_812_8),
    ("clrk66", 6_378_206.4, 6_356_583.8),
    ("airy", 6_377_563.396, 299.324_964_6),
    ("WGS72", 6_378_135.0, 298.26),
    ("helmert", 6_378_200.0, 298.3),
    ("aust_SA", 6_378_160.0, 298.25),
    // names of datums
    ("NAD83", 6_378_137.0, 298.257_222_101),
    ("NAD27", 6_378_206.4, 6_356_583.8),
    ("OSGB36", 6_377_563.396, 299.324_964_6),
    ("potsdam", 6_377_397.155, 299.152_812_8),
    ("hermannskogel", 6_377_397.155, 299.152_812_8),
];

fn ellipsoid(name: &str) -> Option<Ellipsoid> {
    let (_, radius, other) = *ELLIPSOIDS.iter().find(|(short, ..)| *short == name)?;
    let inverse_flattening = if other > 1e6 { radius / (radius - other) } else { other };
    Some(Ellipsoid { radius, inverse_flattening })
}

/// What an EPSG code stands for; none if it is not known.
pub fn of_code(code: u32) -> Option<System> {
    let text = crs_definitions::from_code(u16::try_from(code).ok()?)?.proj4;
    let value = |key: &str| {
        let mut all = text.split_ascii_whitespace();
        all.find_map(|word| word.strip_prefix('+')?.strip_prefix(key)?.strip_prefix('='))
    };
    let has = |key: &str| text.split_ascii_whitespace().any(|word| word.strip_prefix('+') == Some(key));
    let number = |key: &str| value(key).map_or(Some(0.0), |text| text.parse::<f64>().ok());
    let metres = match (value("units"), value("to_meter")) {
        (_, Some(text)) => text.parse().ok()?,
        (Some("us-ft"), _) => US_FOOT,
        (Some("ft"), _) => 0.3048,
        (Some("m") | None, _) => 1.0,
        _ => return None,
    };
    let method = value("proj")?;
    let other = || Some(System::Other { method: method.into(), metres });
    let of = value("datum").or(value("ellps")).and_then(ellipsoid);
    let (Some(ellipsoid), None, None) = (of, value("pm"), value("axis")) else { return other() };
    let within = |all: &&(&str, &[[u32; 2]])| all.1.iter().any(|[low, high]| (*low..=*high).contains(&code));
    let name = DATUMS.iter().find(within).map_or_else(|| format!("as EPSG:{code}"), |(name, _)| (*name).into());
    let datum = Datum { name, ellipsoid };
    match method {
        "longlat" => Some(System::Geographic(datum)),
        "utm" => {
            let zone = number("zone").filter(|zone| (1.0..=60.0).contains(zone))?;
            let zero = [500_000.0, if has("south") { 10_000_000.0 } else { 0.0 }];
            let of = Parameters { ellipsoid, longitude: 6.0 * zone - 183.0, latitude: 0.0, scale: 0.9996, zero };
            Some(System::Plane { datum, of, metres })
        }
        "tmerc" => {
            let scale = value("k").or(value("k_0")).map_or(Some(1.0), |text| text.parse().ok())?;
            let [longitude, latitude] = [number("lon_0")?, number("lat_0")?];
            let of = Parameters { ellipsoid, longitude, latitude, scale, zero: [number("x_0")?, number("y_0")?] };
            Some(System::Plane { datum, of, metres })
        }
        _ => other(),
    }
}

/// What is said of a file: an EPSG code, or zero for metres of no system.
pub fn of_file(text: &str) -> Option<u32> {
    if text.trim().eq_ignore_ascii_case("metres") { Some(METRES) } else { code(text) }
}

/// Stands for metres of no system.
pub const METRES: u32 = 0;

/// The code that a text names: `EPSG:25832`, or the number alone.
pub fn code(text: &str) -> Option<u32> {
    let own = text.trim();
    let digits = match own.get(..5) {
        Some(head) if head.eq_ignore_ascii_case("EPSG:") => &own[5..],
        _ => own,
    };
    digits.parse().ok().filter(|code| (1024..=998_999).contains(code))
}
