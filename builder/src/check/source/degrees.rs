//! Whether x and y of a file look like longitude and latitude, beside heights in metres.

use crate::import::Says;
use crate::report::{Code, Finding, Hint, Quantity, Severity};

use crate::build::source::{AXES, Part, plan};
use crate::util::text::few_digits;

/// How many times farther ground rises than it goes on: a slope of 1 in 3,000 does, in degrees.
const TIMES: f64 = 30.0;
/// Twice a triangle's area in plan, of the square of its longest side: a wall has nearly none.
const WIDE: f64 = 0.1;
/// Triangles that are not level at least, their share of all, and of those the share that rises so.
const MIN_UNEVEN: usize = 12;
const SHARES: [f64; 2] = [0.25, 0.8];
/// Heights at least: a post has fewer.
const HEIGHTS: usize = 6;

/// A corner of ground whose places look like degrees, in the file's numbers and in the scene; none if a unit is stated.
/// A triangle without area in plan shows nothing: it is a wall, or rounding collapsed it.
pub fn corner(part: &Part) -> Option<[[f64; 3]; 2]> {
    if part.frame.says_unit() == Says::Caller {
        return None;
    }
    let up = part.frame.upright();
    let [x, y] = plan(up);
    let (mut first, mut heights) = (None, Vec::with_capacity(HEIGHTS));
    let [mut all, mut uneven, mut rising] = [0usize; 3];
    for t in part.measured_ground() {
        let corners = t.v.map(|v| part.own(v));
        if corners.iter().any(|p| p[x].abs() > 180.0 || p[y].abs() > 90.0) {
            return None;
        }
        first.get_or_insert([corners[0], part.place(t.v[0])]);
        let sides = [0, 1, 2].map(|i| [x, y, up].map(|k| corners[(i + 1) % 3][k] - corners[i][k]));
        let longest = sides.iter().fold(0.0f64, |most, [dx, dy, _]| most.max(dx * dx + dy * dy));
        let area = (sides[0][0] * sides[1][1] - sides[0][1] * sides[1][0]).abs();
        if area == 0.0 {
            continue;
        }
        for height in corners.map(|p| p[up]) {
            if heights.len() < HEIGHTS && !heights.contains(&height) {
                heights.push(height);
            }
        }
        let rise = sides.iter().fold(0.0f64, |most, side| most.max(side[2].abs()));
        all += 1;
        uneven += usize::from(rise > 0.0);
        rising += usize::from(area > WIDE * longest && rise > TIMES * longest.sqrt());
    }
    let [most, share] = [all, uneven].map(|n| n as f64);
    let is_ground = uneven >= MIN_UNEVEN && heights.len() >= HEIGHTS && share >= SHARES[0] * most;
    first.filter(|_| is_ground && rising as f64 >= SHARES[1] * share)
}

/// The finding about such a corner, and how to project to metres.
pub fn finding(part: &Part, [own, place]: [[f64; 3]; 2], severity: Severity) -> Finding {
    let up = part.frame.upright();
    let [x, y] = plan(up);
    let [a, b] = [x, y].map(|k| few_digits(own[k]));
    let text = format!("{} and {} look like degrees, {a} and {b}, beside heights in metres", AXES[x], AXES[y]);
    let [east, north] = [own[x], if up == 1 { -own[y] } else { own[y] }];
    let zone = ((east + 180.0) / 6.0).floor().clamp(0.0, 59.0) as u32 + 1;
    let code = if north < 0.0 { 32700 } else { 32600 } + zone;
    let hint = Hint::Mend(format!(
        "project the heights to metres before they become a mesh: of a raster gdalwarp -t_srs EPSG:{code} HEIGHTS.tif METRES.tif, of points in QGIS Reproject Layer"
    ));
    let value = |name, value| Quantity { name, value, unit: "deg" };
    let values = vec![value("longitude", east), value("latitude", north)];
    Finding { place: Some(place), values, ..part.finding(Code::Degrees, severity, text, hint) }
}
