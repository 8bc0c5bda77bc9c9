//! The most that a query may cost, and where it would cost more.

use crate::{bundle::Tri, names::counted};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The most that any vertical query may cost: cells are divided until none costs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxCost {
    /// Triangles and patch cells: from 1 on.
    pub tests: u32,
    /// Lines of 64 bytes: from 3 on, which one bundle takes; by default as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

impl MaxCost {
    /// Whether so many tests and lines are within it.
    pub fn allows(&self, tests: u32, lines: u32) -> bool {
        tests <= self.tests && self.lines.is_none_or(|most| lines <= most)
    }

    /// What allows this too, of the same limits.
    fn raised(self, tests: u32, lines: u32) -> MaxCost {
        MaxCost { tests: self.tests.max(tests), lines: self.lines.map(|most| most.max(lines)) }
    }

    pub(crate) fn is_sane(&self) -> bool {
        self.tests >= 1 && self.lines.is_none_or(|l| l >= 3)
    }
}

impl fmt::Display for MaxCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.tests, "test"))?;
        self.lines.map_or(Ok(()), |lines| write!(f, " and {}", counted(lines, "line")))
    }
}

/// `TESTS` or `TESTS,LINES`.
impl FromStr for MaxCost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |t: &str| t.trim().parse::<u32>().map_err(|_| format!("{t:?} is not a whole number"));
        let (tests, lines) = match text.split_once(',') {
            Some((tests, lines)) => (number(tests)?, Some(number(lines)?)),
            None => (number(text)?, None),
        };
        let most = MaxCost { tests, lines };
        if most.is_sane() { Ok(most) } else { Err("tests start at 1, lines at 3".into()) }
    }
}

/// A place where a query costs more than it may, however far the ground is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
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

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Crowd { at: [x, y], tests, lines, triangles, layers, least } = self;
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

impl Crowd {
    /// Of two the worse: one of which nothing can be had, then that with more tests, lines and triangles, then the place.
    pub fn worse(self, other: Crowd) -> Crowd {
        let key = |c: &Crowd| (c.least, c.tests, c.lines, c.triangles);
        let place = self.at[1].total_cmp(&other.at[1]).then(self.at[0].total_cmp(&other.at[0]));
        if key(&self).cmp(&key(&other)).then(place.reverse()).is_ge() { self } else { other }
    }

    /// What stands over the thickest place of a rectangle that may cost this much: triangles, with the number of the
    /// bundle of each. The place is in steps. Heights within `merge` steps are one layer.
    pub fn of(tris: &[(Tri, u32)], low: [i64; 2], size: [i64; 2], cost: [u32; 2], most: &MaxCost, merge: f64) -> Crowd {
        let (place, over) = thickest(tris, low, size);
        let mut bundles: Vec<u32> = over.iter().map(|&i| tris[i].1).collect();
        bundles.sort_unstable();
        bundles.dedup();
        let mut heights: Vec<f64> =
            over.iter().map(|&i| height(&[0, 1, 2].map(|k| tris[i].0.corner(k)), place)).collect();
        heights.sort_unstable_by(f64::total_cmp);
        heights.dedup_by(|next, kept| *next - *kept <= merge);
        let (triangles, layers) = (over.len() as u32, heights.len() as u32);
        let own = [triangles, 1 + 2 * bundles.len() as u32];
        let least = !most.allows(own[0], own[1]);
        let [tests, lines] = if least { own } else { cost };
        Crowd { at: place.map(|v| v as f64), tests, lines, triangles, layers, least }
    }
}

/// Why ground costs more than it may, however far it is divided: the worst place, and what would be enough.
#[derive(Clone, Copy)]
pub struct Refused {
    pub worst: Crowd,
    pub enough: MaxCost,
}

impl Refused {
    /// By a crowd that costs more than this.
    pub fn new(worst: Crowd, most: MaxCost) -> Refused {
        Refused { worst, enough: most.raised(worst.tests, worst.lines) }
    }

    /// Of two parts of the ground, or of one and then again with more allowed.
    pub fn and(self, other: Refused) -> Refused {
        let MaxCost { tests, lines } = other.enough;
        let enough = self.enough.raised(tests, lines.unwrap_or(0));
        Refused { worst: self.worst.worse(other.worst), enough }
    }
}

/// Most corners that are tried as the thickest place.
const TRIED: usize = 256;

/// The place of a rectangle that most triangles lie over, of its corner, its middle and the corners of triangles in it,
/// and those triangles: no division leaves fewer tests there.
fn thickest(tris: &[(Tri, u32)], low: [i64; 2], size: [i64; 2]) -> ([i64; 2], Vec<usize>) {
    let inside = |p: &[i64; 2]| (0..2).all(|i| (low[i]..low[i] + size[i]).contains(&p[i]));
    let corners = tris.iter().flat_map(|(t, _)| (0..3).map(|k| t.plan.corner(k)));
    let mut places: Vec<[i64; 2]> = corners.filter(inside).collect();
    places.sort_unstable();
    places.dedup();
    let step = places.len().div_ceil(TRIED).max(1);
    let own = [[0, 1].map(|i| low[i] + size[i] / 2), low];
    let over = |[x, y]: [i64; 2]| (0..tris.len()).filter(move |&i| tris[i].0.plan.covers(x, y));
    let tried = own.into_iter().chain(places.into_iter().step_by(step));
    let key = |p: &[i64; 2]| (over(*p).count(), std::cmp::Reverse([p[1], p[0]]));
    let place = tried.max_by_key(key).expect("two places at least");
    (place, over(place).collect())
}

/// The height of a triangle's plane at a place, in steps.
fn height([a, b, c]: &[[i32; 3]; 3], [x, y]: [i64; 2]) -> f64 {
    let d = |p: &[i32; 3], i: usize| f64::from(p[i]) - f64::from(a[i]);
    let (px, py) = (x as f64 - f64::from(a[0]), y as f64 - f64::from(a[1]));
    let area = d(b, 0) * d(c, 1) - d(b, 1) * d(c, 0);
    let [s, t] = [px * d(c, 1) - py * d(c, 0), d(b, 0) * py - d(b, 1) * px];
    f64::from(a[2]) + (s * d(b, 2) + t * d(c, 2)) / area
}
