//! Rays, slowly: every triangle is tested for every ray, in exact integers of any length.

use crate::oracle::{Oracle, Q};
use crate::random::Random;
use hardpan::{Point, Ray, Terrain};
use hardpan_builder::image::{self, decode};
use num_rational::BigRational;

/// Where a ray meets a triangle: `num / den` of its way, both above zero or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Met {
    pub num: i128,
    pub den: i128,
    /// From below.
    pub back: bool,
    /// Number of the triangle in the canonical order.
    pub face: usize,
}

impl Met {
    /// The quotient as an image tells it: both numbers rounded, then one division.
    pub fn t(&self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// The quotient itself.
    pub fn exact(&self) -> BigRational {
        BigRational::new(self.num.into(), self.den.into())
    }
}

fn cross(a: [i128; 3], b: [i128; 3]) -> Option<[i128; 3]> {
    let minor = |i: usize, k: usize| a[i].checked_mul(b[k])?.checked_sub(a[k].checked_mul(b[i])?);
    Some([minor(1, 2)?, minor(2, 0)?, minor(0, 1)?])
}

fn dot(a: [i128; 3], b: [i128; 3]) -> Option<i128> {
    (0..3).try_fold(0i128, |sum, k| sum.checked_add(a[k].checked_mul(b[k])?))
}

/// Where a ray meets one triangle, whose corners may stand in any order: not if it lies in the triangle's plane.
fn meet(mut v: [[i64; 3]; 3], ray: &Ray, face: usize) -> Option<Met> {
    let [a, b, c] = v.map(|v| [i128::from(v[0]), i128::from(v[1])]);
    if (b[0] - a[0]) * (c[1] - a[1]) < (b[1] - a[1]) * (c[0] - a[0]) {
        v.swap(1, 2);
    }
    meet_turned(v, ray, face)
}

/// The same, with the front where the corners run counter-clockwise.
fn meet_turned(v: [[i64; 3]; 3], ray: &Ray, face: usize) -> Option<Met> {
    let p = [ray.from.x, ray.from.y, ray.from.z].map(i128::from);
    let to = [ray.to.x, ray.to.y, ray.to.z].map(i128::from);
    let d = [0, 1, 2].map(|k| to[k] - p[k]);
    let mut c = v.map(|v| [0, 1, 2].map(|k| i128::from(v[k]) * i128::from(Q) - p[k]));
    let area =
        |c: &[[i128; 3]; 3]| (c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) - (c[1][1] - c[0][1]) * (c[2][0] - c[0][0]);
    if area(&c) < 0 {
        c.swap(1, 2);
    }
    // far triangles cannot be met, and their products would not fit
    for k in 0..3 {
        let [low, high] = [p[k].min(to[k]), p[k].max(to[k])].map(|v| v - p[k]);
        if c.iter().all(|c| c[k] < low) || c.iter().all(|c| c[k] > high) {
            return None;
        }
    }
    let side = |i: usize| dot(d, cross(c[i], c[(i + 1) % 3])?);
    let sides = [0, 1, 2].map(|i| side(i).expect("fits 128 bits"));
    let den = sides.iter().sum::<i128>();
    if den == 0 || !(sides.iter().all(|&s| s >= 0) || sides.iter().all(|&s| s <= 0)) {
        return None;
    }
    let num = dot(c[0], cross(c[1], c[2]).expect("fits 128 bits")).expect("fits 128 bits");
    let (num, den, back) = if den < 0 { (-num, -den, false) } else { (num, den, true) };
    (num >= 0 && num <= den).then_some(Met { num, den, back, face })
}

/// All meetings, the first one first: by `t` as it is told, then in the canonical order.
pub fn meetings(oracle: &Oracle, ray: &Ray) -> Vec<Met> {
    let mut all: Vec<Met> = (0..oracle.len()).filter_map(|i| meet(oracle.triangle(i), ray, i)).collect();
    all.sort_by(|a, b| a.t().total_cmp(&b.t()).then(a.face.cmp(&b.face)));
    all
}

/// A triangle as an image holds it, its front where its corners run counter-clockwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Surface {
    pub kind: u8,
    /// Corners on the lattice, sorted.
    pub sorted: [[i64; 3]; 3],
    pub material: u16,
    pub source: u16,
    /// The same in their order.
    pub corners: [[i64; 3]; 3],
}

/// All triangles of an image: ground, ceilings, obstacles.
pub fn surfaces(t: &Terrain) -> Vec<Surface> {
    let origin = t.header().origin;
    let of = |kind: u8, corners: [[i32; 3]; 3], material, source| {
        let corners = corners.map(|v| [0, 1, 2].map(|k| i64::from(v[k]) + origin[k]));
        let mut sorted = corners;
        sorted.sort_unstable();
        Surface { kind, sorted, material, source, corners }
    };
    let ground = decode::triangles(t).into_iter().map(|s| of(0, s.corners, s.material, s.source));
    let rest = image::rays::walls(t).into_iter().map(|w| {
        let kind = if w.kind == hardpan_builder::WallKind::Ceiling { 1 } else { 2 };
        of(kind, w.corners, w.material, w.source)
    });
    let mut all: Vec<Surface> = ground.chain(rest).collect();
    all.sort_unstable();
    all
}

/// All meetings with surfaces of some kinds, the first one first; of those at one `t` as the order of surfaces has
/// them.
pub fn meetings_of(surfaces: &[Surface], kinds: u32, ray: &Ray) -> Vec<Met> {
    let chosen = surfaces.iter().enumerate().filter(|(_, s)| kinds >> s.kind & 1 == 1);
    let mut all: Vec<Met> = chosen.filter_map(|(i, s)| meet_turned(s.corners, ray, i)).collect();
    all.sort_by(|a, b| a.t().total_cmp(&b.t()).then(a.face.cmp(&b.face)));
    all
}

/// Rays that tell walks and rounding apart: between random places; through vertices, edges and insides of triangles,
/// which lie in their middle or at an end; along axes, borders of cells and diagonals; grazing; steep.
pub fn rays(oracle: &Oracle, count: usize, reach: i64, seed: u64) -> Vec<Ray> {
    let triangles: Vec<[[i64; 3]; 3]> = (0..oracle.len()).map(|i| oracle.triangle(i)).collect();
    rays_about(&triangles, count, reach, seed)
}

/// The same about any triangles.
pub fn rays_about(triangles: &[[[i64; 3]; 3]], count: usize, reach: i64, seed: u64) -> Vec<Ray> {
    let mut r = Random(seed);
    let end = |k: usize, most: bool| {
        let all = triangles.iter().flatten().map(|v| v[k] * Q);
        if most { all.max() } else { all.min() }.unwrap_or(0)
    };
    let [low, high] = [false, true].map(|most| [0, 1, 2].map(|k| end(k, most)));
    let margin = [0, 1, 2].map(|k| ((high[k] - low[k]) / 16).max(2 * Q));
    (0..count)
        .map(|i| {
            let mut at = [0, 1, 2].map(|k| r.within(low[k] - margin[k], high[k] + margin[k]));
            if i % 8 != 0 && !triangles.is_empty() {
                let v = triangles[r.below(triangles.len())];
                let [a, b, c] = [v[r.below(3)], v[r.below(3)], v[r.below(3)]];
                let (s, t) = (r.within(0, Q), if i % 8 > 5 { r.within(0, Q) } else { 0 });
                at = [0, 1, 2].map(|k| {
                    let on = a[k] * Q + s * (b[k] - a[k]);
                    on + ((i128::from(t) * i128::from(c[k] * Q - on)) >> 8) as i64
                });
            }
            let reach = (reach >> r.below(10)).max(2);
            // heights have finer steps
            let mut d = [0, 1, 2].map(|k| if k == 2 { 16 * r.within(-reach, reach) } else { r.within(-reach, reach) });
            match r.below(12) {
                0 => d[r.below(2)] = 0,
                1 => d[2] = 0,
                2 => d[1] = d[0],
                3 => d[1] = -d[0],
                4 => d[2] >>= r.below(20),
                5 => d = [d[0] >> 12, d[1] >> 12, d[2]],
                // on the borders of cells
                6 => {
                    let log2 = 8 + r.below(14);
                    (at[0], d[0]) = (at[0] >> log2 << log2, d[0] >> log2 << log2);
                    (at[1], d[1]) = (at[1] >> log2 << log2, d[1] >> log2 << log2);
                }
                7 => {
                    let log2 = 8 + r.below(14);
                    (at[0], d[0]) = (at[0] >> log2 << log2, 0);
                }
                _ => {}
            }
            let (from, to) = match r.below(6) {
                0 => (at, [0, 1, 2].map(|k| at[k] + d[k])),
                1 => ([0, 1, 2].map(|k| at[k] - d[k]), at),
                _ => ([0, 1, 2].map(|k| at[k] - d[k]), [0, 1, 2].map(|k| at[k] + d[k])),
            };
            let point = |[x, y, z]: [i64; 3]| Point { x, y, z };
            Ray { from: point(from), to: point(to) }
        })
        .collect()
}
