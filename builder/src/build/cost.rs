//! The most that a query may cost, and where it would cost more.

use crate::util::text::counted;
use std::fmt;

/// A place where a query costs more than it may, however far the ground is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotSpot {
    /// The place, metres.
    pub at: [f64; 2],
    /// Triangle tests and patch cells of a query there.
    pub tests: u32,
    /// Lines of 64 bytes.
    pub lines: u32,
    /// Triangles over the place.
    pub triangles: u32,
    /// Heights that they have there.
    pub layers: u32,
    /// Whether that is what stands over the place itself; else what the finest division leaves around it.
    pub least: bool,
}

impl fmt::Display for HotSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HotSpot { at: [x, y], tests, lines, triangles, layers, least } = self;
        let takes = if *least { "takes at least" } else { "as finely divided as can be, still takes" };
        let (tests, lines) = (counted(*tests, "test"), counted(*lines, "line"));
        let lie = if *triangles == 1 { "lies" } else { "lie" };
        let (triangles, layers) = (counted(*triangles, "triangle"), counted(*layers, "layer"));
        write!(
            f,
            "a query at ({x:.3}, {y:.3}) {takes} {tests} and {lines}: {triangles} in {layers} {lie} over that place"
        )
    }
}

impl HotSpot {
    /// The worse of two: a place without any figure first, then more tests, lines and triangles, then the place.
    pub fn worse(self, other: HotSpot) -> HotSpot {
        let key = |c: &HotSpot| (c.least, c.tests, c.lines, c.triangles);
        let place = self.at[1].total_cmp(&other.at[1]).then(self.at[0].total_cmp(&other.at[0]));
        if key(&self).cmp(&key(&other)).then(place.reverse()).is_ge() { self } else { other }
    }
}
