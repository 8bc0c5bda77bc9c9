//! Findings about what files say of themselves: how they lie, degrees, unit, no data, precision.

mod degrees;
pub mod orientation;
mod unit;

use std::path::Path;

use crate::build::source::precision::Rounded;
use crate::build::source::{Part, nodata, parts};
use crate::report::{Finding, Severity};
use crate::scene::Scene;
use crate::settings::frame::Transform;

use self::orientation::Orientation;

/// What looks wrong with how files became a scene: orientation, degrees, unit, no data, precision; of each file by
/// itself. Given are, of each file in the order read, its frame, how many triangles it has, and its name, as an
/// [`Import`](crate::import::Import) has them.
///
/// ```
/// use hardpan_builder::{Code, Hint, check, import};
/// use std::path::Path;
///
/// let wall = b"v 0 0 0\nv 9 0 0\nv 9 0 9\nv 0 0 9\nf 1 2 3 4\n";
/// let file = Path::new("wall.obj");
/// let read = import::read_obj(wall, file, &import::Frame::default()).unwrap();
/// let found = check::source(&read.scene, &read.frames, &read.triangles, &[file]);
/// assert_eq!(found[0].code, Code::Orientation);
/// assert_eq!(found[0].hint, Hint::Set { key: "up", value: "y".into() });
/// ```
pub fn source(scene: &Scene, frames: &[Transform], triangles: &[usize], files: &[&Path]) -> Vec<Finding> {
    parts(scene, files, frames, triangles).iter().flat_map(of_part).collect()
}

fn of_part(part: &Part) -> Vec<Finding> {
    let (orientation, degrees, rounded) = (Orientation::of(part), degrees::corner(part), Rounded::of(part));
    let severity = orientation.severity(part);
    let lies = match degrees {
        // all of it is cliffs, whichever axis is up
        Some(corner) => Some(degrees::finding(part, corner, severity.unwrap_or(Severity::Warning))),
        // what rounding left says nothing of how it lies
        None if rounded.as_ref().is_some_and(Rounded::loses_most) => None,
        None => severity.map(|severity| orientation.finding(part, severity)),
    };
    let unit = if degrees.is_some() { None } else { unit::finding(part) };
    let rounded = rounded.map(|rounded| rounded.finding(part));
    let doubted = orientation.doubt().map(|_| orientation.other());
    let no_data = nodata::finding(part, [Some(part.frame.upright()), doubted].into_iter().flatten());
    [no_data, rounded, lies, unit].into_iter().flatten().collect()
}
