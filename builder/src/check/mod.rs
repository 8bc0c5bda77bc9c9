//! Findings about a source or its ground: how a source lies, gaps, steps, double surfaces, surfaces at one height, spikes, buried roads.
//!
//! An analysis asks a scene or an image, and returns values. It prints nothing and names no option.
//!
//! ```
//! use hardpan_builder::{Code, Options, build, check, demo::fixtures};
//!
//! let built = build(&fixtures::bridge(), &Options::default()).unwrap();
//! let terrain = hardpan::Terrain::open(&built.image).unwrap();
//! let looks = check::ground(&terrain, None, &check::Limits::default(), |code| code == Code::Gap);
//! assert_eq!((looks[0].code, looks[0].found), (Code::Gap, Some(0)));
//! ```

pub mod border;
mod built;
pub mod buried;
pub mod cell_triangles;
mod degrees;
pub mod double_surface;
pub mod gaps;
pub mod jump;
pub mod layer_pair;
pub mod orientation;
pub mod overlap;
pub mod spikes;
pub mod steps;
mod unit;
pub mod walk;

use std::path::Path;

use hardpan::Terrain;

use crate::build::source::precision::Rounded;
use crate::build::source::{Part, nodata, parts};
use crate::report::{Code, Finding, Hint, Quantity, Severity};
use crate::scene::Scene;
use crate::settings::frame::Transform;

pub use self::built::built;
use self::{
    border::{Border, Edge},
    double_surface::double_surfaces,
    orientation::Orientation,
    walk::{ALL, Walk},
};

/// What is looked for in ground, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Gaps of up to this width.
    pub gap: f64,
    /// Steps of more than this height, and of at most half a metre.
    pub step: f64,
    /// Double surfaces up to so far apart.
    pub apart: f64,
    /// Spikes of more than this above or below all neighbours.
    pub spike: f64,
    /// Buried roads: ground that stands more than this through other ground.
    pub buried: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { gap: 0.02, step: 0.05, apart: 0.3, spike: spikes::LIMIT, buried: buried::LIMIT }
    }
}

/// What one analysis found.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub code: Code,
    /// What was looked for, metres, if the kind has a limit.
    pub limit: Option<f64>,
    /// How many there are; none if nobody looked.
    pub found: Option<usize>,
    /// The first of them, worst first.
    pub findings: Vec<Finding>,
    /// Where all of them are, in the same order.
    pub places: Vec<[f64; 3]>,
    /// Why nobody looked, or where not.
    pub skipped: Option<String>,
}

/// Findings that a look lists at most.
pub const LISTED: usize = 1000;

/// Kinds that [`ground`] looks for.
pub const OF_GROUND: [Code; Code::OF_GROUND.len()] = Code::OF_GROUND;

/// Looks for what is wanted in an image. Of upright faces and undersides only `scene` knows, from which the image was built.
pub fn ground(t: &Terrain, scene: Option<&Scene>, limits: &Limits, wanted: impl Fn(Code) -> bool) -> Vec<Look> {
    let mut looks = Vec::new();
    if wanted(Code::Gap) || wanted(Code::Step) {
        let border = Border::of(t);
        let edges: Vec<&Edge> = border.open.iter().collect();
        let walk = Walk::new(t, &border, &edges, ALL, limits.gap.max(steps::BESIDE));
        looks.extend(wanted(Code::Gap).then(|| gap_look(&walk, limits.gap)));
        looks.extend(wanted(Code::Step).then(|| step_look(&walk, limits.step, scene)));
    }
    if wanted(Code::DoubleSurface) {
        let found = double_surfaces(t, limits.apart, scene);
        let findings = found.pairs.iter().take(LISTED).map(|pair| pair.finding(t)).collect();
        let places = found.pairs.iter().map(|pair| pair.over.at).collect();
        looks.push(Look::new(Code::DoubleSurface, Some(limits.apart), places, findings, found.skipped()));
    }
    if wanted(Code::SameHeight) {
        looks.push(Look::of(Code::SameHeight, None, overlap::overlaps(t)));
    }
    if wanted(Code::Spike) {
        looks.push(Look::of(Code::Spike, Some(limits.spike), Ok(spikes::spikes(t, limits.spike))));
    }
    if wanted(Code::BuriedRoad) {
        looks.push(Look::of(Code::BuriedRoad, Some(limits.buried), buried::buried(t, limits.buried)));
    }
    looks
}

fn gap_look(walk: &Walk, limit: f64) -> Look {
    if let Some(why) = walk.crowded("gaps", gaps::FEWEST, true) {
        return Look::none(Code::Gap, Some(limit), why);
    }
    let all = gaps::gaps(walk, |_| Some(limit));
    let findings = all.iter().take(LISTED).map(gaps::Gap::finding).collect();
    Look::new(Code::Gap, Some(limit), all.iter().map(|gap| gap.at).collect(), findings, None)
}

fn step_look(walk: &Walk, limit: f64, scene: Option<&Scene>) -> Look {
    match steps::steps(walk, limit, scene, |_| true) {
        Ok(all) => {
            let findings = all.iter().take(LISTED).map(|step| step.finding(walk.t)).collect();
            Look::new(Code::Step, Some(limit), all.iter().map(|step| step.over.at).collect(), findings, None)
        }
        Err(why) => Look::none(Code::Step, Some(limit), why),
    }
}

impl Look {
    fn new(
        code: Code,
        limit: Option<f64>,
        places: Vec<[f64; 3]>,
        findings: Vec<Finding>,
        skipped: Option<String>,
    ) -> Self {
        Look { code, limit, found: Some(places.len()), findings, places, skipped }
    }

    /// Of all findings, or why nobody looked.
    fn of(code: Code, limit: Option<f64>, found: Result<Vec<Finding>, String>) -> Self {
        match found {
            Ok(mut all) => {
                let places = all.iter().filter_map(|finding| finding.place).collect();
                all.truncate(LISTED);
                Look::new(code, limit, places, all, None)
            }
            Err(why) => Look::none(code, limit, why),
        }
    }

    fn none(code: Code, limit: Option<f64>, why: String) -> Self {
        Look { code, limit, found: None, findings: Vec::new(), places: Vec::new(), skipped: Some(why) }
    }
}

/// A warning about a place of the ground.
fn at(code: Code, subject: String, place: [f64; 3], values: Vec<Quantity>, text: String, mend: &str) -> Finding {
    Finding { subject, place: Some(place), values, hint: Hint::Mend(mend.into()), ..code.finding(text) }
}

/// A value in metres.
fn length(name: &'static str, value: f64) -> Quantity {
    Quantity { name, value, unit: "m" }
}

/// What looks wrong with how files became a scene: orientation, degrees, unit, no data, precision; of each file by itself. Given are, of each
/// file in the order read, its frame, how many triangles it has, and its name, as an [`Import`](crate::import::Import) has them.
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
