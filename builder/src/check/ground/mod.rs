//! Findings about ground: pairs of boundary edges, sheets over each other, spikes.

pub mod border;
pub mod buried;
pub mod cell_triangles;
pub mod double_surface;
mod faces;
pub mod gaps;
pub mod layer_pair;
pub mod pairs;
pub mod same_height;
pub mod spikes;
pub mod steps;

use hardpan::Terrain;

use crate::report::{Code, Finding, Hint, Quantity};
use crate::scene::Scene;

use self::{
    border::{Border, Edge},
    double_surface::double_surfaces,
    gaps::Gap,
    pairs::{ALL, Ask, Pairs, pairs},
};

/// How far the ground of one material is hidden by that of another, above or below it, metres; none if it is not.
pub(crate) fn hidden_by(t: &Terrain, one: u16, other: u16) -> Option<f64> {
    let precedence = |m: u16| t.materials().get(usize::from(m)).map(|m| m.precedence);
    let band = t.header().precedence_band as f64 * f64::exp2(f64::from(t.header().z_log2 - 8));
    (t.has_precedence() && precedence(one) < precedence(other)).then_some(band)
}

/// Limits of the analyses of ground, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Gaps of up to this width; so far apart are the edges of a pair at most.
    pub gap: f64,
    /// Steps of more than this height.
    pub step: f64,
    /// Double surfaces up to so far apart.
    pub apart: f64,
    /// Spikes of more than this above or below their ring.
    pub spike: f64,
    /// Buried roads: ground that stands more than this through other ground.
    pub buried: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { gap: 2.0, step: 0.05, apart: 0.3, spike: spikes::LIMIT, buried: buried::LIMIT }
    }
}

/// Findings of one analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub code: Code,
    /// Limit of the analysis, metres, if the kind has one.
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

/// Edges of a step lie so near to each other, metres, however narrow a gap is looked for.
pub const NEAR: f64 = 0.05;

/// Findings that a look lists at most.
pub const LISTED: usize = 1000;

/// Kinds that [`ground`] looks for.
pub const OF_GROUND: [Code; Code::OF_GROUND.len()] = Code::OF_GROUND;

/// Looks for what is wanted in an image. Of upright faces and undersides only `scene` knows, from which the image was
/// built.
pub fn ground(t: &Terrain, scene: Option<&Scene>, limits: &Limits, wanted: impl Fn(Code) -> bool) -> Vec<Look> {
    let mut looks = Vec::new();
    if wanted(Code::Gap) || wanted(Code::Step) {
        let border = Border::of(t);
        let edges: Vec<&Edge> = border.open.iter().collect();
        let ask =
            Ask { heights: ALL, reach: limits.gap.max(NEAR), gap: |_| Some(limits.gap), step: limits.step, scene };
        let Pairs { gaps, steps, skipped } = pairs(t, &border, &edges, &ask);
        if wanted(Code::Gap) {
            let findings = gaps.iter().take(LISTED).map(Gap::finding).collect();
            let places = gaps.iter().map(|gap| gap.at).collect();
            looks.push(Look::new(Code::Gap, Some(limits.gap), places, findings, skipped.clone()));
        }
        if wanted(Code::Step) {
            let findings = steps.iter().take(LISTED).map(|step| step.finding(t)).collect();
            let places = steps.iter().map(|step| step.over.at).collect();
            looks.push(Look::new(Code::Step, Some(limits.step), places, findings, skipped));
        }
    }
    if wanted(Code::DoubleSurface) {
        let found = double_surfaces(t, limits.apart, scene);
        let findings = found.pairs.iter().take(LISTED).map(|pair| pair.finding(t)).collect();
        let places = found.pairs.iter().map(|pair| pair.over.at).collect();
        looks.push(Look::new(Code::DoubleSurface, Some(limits.apart), places, findings, found.skipped()));
    }
    if wanted(Code::SameHeight) {
        looks.push(Look::of(Code::SameHeight, None, same_height::overlaps(t)));
    }
    if wanted(Code::Spike) {
        looks.push(Look::of(Code::Spike, Some(limits.spike), Ok(spikes::spikes(t, limits.spike))));
    }
    if wanted(Code::BuriedRoad) {
        looks.push(Look::of(Code::BuriedRoad, Some(limits.buried), buried::buried(t, limits.buried)));
    }
    looks
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

    /// How many findings there are, or why the check was skipped.
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
