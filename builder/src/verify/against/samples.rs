//! Where surfaces are compared: corners, edges and places spread over the plan.

use super::{Point, centre, plan_area};

/// SplitMix64, as numbers from 0 to 1.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A place in a triangle, evenly spread.
    pub(super) fn within(&mut self, t: &[Point; 3]) -> Point {
        let (mut u, mut v) = (self.next(), self.next());
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        at(t, u, v)
    }
}

pub(super) fn at([a, b, c]: &[Point; 3], u: f64, v: f64) -> Point {
    [0, 1, 2].map(|i| a[i] + u * (b[i] - a[i]) + v * (c[i] - a[i]))
}

/// Places of a triangle that are measured however small it is: neighbours have the very same corners and middles.
pub fn fixed(t: &[Point; 3]) -> [Point; 7] {
    let [a, b, c] = *t;
    let middle = |p: Point, q: Point| [0, 1, 2].map(|i| (p[i] + q[i]) / 2.0);
    [a, b, c, middle(a, b), middle(a, c), middle(b, c), centre(t)]
}

/// About `samples` seeded places, spread evenly over the plan of these triangles: those in the triangle of a number.
pub fn spread(triangles: &[[Point; 3]], samples: usize) -> impl Fn(usize, &[Point; 3]) -> Spread + Sync + use<> {
    let area: f64 = triangles.iter().map(|t| plan_area(t).abs()).sum();
    move |number, t| {
        let mut random = Random(number as u64);
        let share = if area > 0.0 { plan_area(t).abs() / area * samples as f64 } else { 0.0 };
        let left = (share + random.next()) as usize;
        Spread { triangle: *t, random, left }
    }
}

/// Seeded places in a triangle.
pub struct Spread {
    triangle: [Point; 3],
    random: Random,
    left: usize,
}

impl Iterator for Spread {
    type Item = Point;

    fn next(&mut self) -> Option<Point> {
        self.left = self.left.checked_sub(1)?;
        Some(self.random.within(&self.triangle))
    }
}

/// Quantiles of 50, 99 and 99.9 %; zero if there are none.
pub fn quantiles(mut all: Vec<f32>) -> [f64; 3] {
    all.sort_unstable_by(f32::total_cmp);
    [0.5, 0.99, 0.999].map(|share| {
        let last = all.len().saturating_sub(1);
        all.get(((share * all.len() as f64) as usize).min(last)).copied().unwrap_or(0.0).into()
    })
}
