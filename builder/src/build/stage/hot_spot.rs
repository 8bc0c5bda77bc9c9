//! Where a query would cost more than it may, and what would be enough.

use super::bundle::Tri;
use crate::build::cost::HotSpot;
use crate::options::MaxCost;

/// Triangles over the thickest place of a rectangle that may cost this much, with the number of each bundle. The place
/// is in steps. Heights within `merge` steps are one layer.
pub fn hot_spot(
    tris: &[(Tri, u32)],
    low: [i64; 2],
    size: [i64; 2],
    cost: [u32; 2],
    most: &MaxCost,
    merge: f64,
) -> HotSpot {
    let (place, over) = thickest(tris, low, size);
    let mut bundles: Vec<u32> = over.iter().map(|&i| tris[i].1).collect();
    bundles.sort_unstable();
    bundles.dedup();
    let mut heights: Vec<f64> = over.iter().map(|&i| height(&[0, 1, 2].map(|k| tris[i].0.corner(k)), place)).collect();
    heights.sort_unstable_by(f64::total_cmp);
    heights.dedup_by(|next, kept| *next - *kept <= merge);
    let (triangles, layers) = (over.len() as u32, heights.len() as u32);
    let own = [triangles, 1 + 2 * bundles.len() as u32];
    let least = !most.allows(own[0], own[1]);
    let [tests, lines] = if least { own } else { cost };
    HotSpot { at: place.map(|v| v as f64), tests, lines, triangles, layers, least }
}

/// Why ground costs more than it may, however far it is divided: the worst place, and what would be enough.
#[derive(Clone, Copy)]
pub struct Refused {
    pub worst: HotSpot,
    pub enough: MaxCost,
}

/// A result within a limit of cost, or the reason why there is none.
pub enum Costed<T> {
    Within(T),
    Refused(Refused),
}

impl Refused {
    /// By a hot_spot that costs more than this.
    pub fn new(worst: HotSpot, most: MaxCost) -> Refused {
        Refused { worst, enough: most.raised(worst.tests, worst.lines) }
    }

    /// Joins the refusals of two parts of the ground, or of one part and the same part with a higher limit.
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
