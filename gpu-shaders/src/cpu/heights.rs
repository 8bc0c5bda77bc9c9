//! Heights of the ground at the places of a grid: exact, rounded once.
//!
//! A triangle is closed: it covers a place on its border. Bands of rows are looked at apart from each other.

use crate::sort::lists;
use crate::{Ground, Heights, Layers, NONE, Pick, Posts};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::ops::{Add, Mul, Range, Sub};

/// Rows of a band.
const BAND: usize = 16;
/// Query steps in a lattice step, and the same of heights.
pub const STEP_LOG2: u32 = 8;

pub fn heights(ground: Ground, posts: Posts, pick: Pick) -> Heights {
    match pick {
        Pick::Highest => best(ground, posts, |_| true, |new, old| new > old),
        Pick::Lowest => best(ground, posts, |_| true, |new, old| new < old),
        Pick::HighestUpTo(most) => best(ground, posts, |z| z <= most, |new, old| new > old),
        Pick::NearestTo(z) => {
            let rank = |v: i64| (v.abs_diff(z), v > z);
            best(ground, posts, |_| true, |new, old| rank(new) < rank(old))
        }
    }
}

/// The first of the heights that no other is better than.
fn best(
    ground: Ground,
    posts: Posts,
    counts: impl Fn(i64) -> bool + Sync,
    is_better: impl Fn(i64, i64) -> bool + Sync,
) -> Heights {
    let columns = posts.x.len();
    let bands = Bands::new(ground, posts);
    let (mut z, mut owner) = (vec![0; columns * posts.y.len()], vec![NONE; columns * posts.y.len()]);
    let band = |(band, (z, owner)): (usize, (&mut [i64], &mut [u32]))| {
        for &face in bands.faces(band) {
            bands.hits(face, band, |at, height| {
                if counts(height) && (owner[at] == NONE || is_better(height, z[at])) {
                    (z[at], owner[at]) = (height, face);
                }
            });
        }
    };
    let each = (BAND * columns).max(1);
    z.par_chunks_mut(each).zip(owner.par_chunks_mut(each)).enumerate().for_each(band);
    Heights { z, owner }
}

pub fn layers(ground: Ground, posts: Posts) -> Layers {
    let columns = posts.x.len();
    let bands = Bands::new(ground, posts);
    let band = |band: usize| {
        let mut all = Vec::new();
        for &face in bands.faces(band) {
            bands.hits(face, band, |at, height| all.push((at as u32, Reverse(height), face)));
        }
        all.sort_unstable();
        all.dedup_by_key(|hit| (hit.0, hit.1));
        all
    };
    let all: Vec<Vec<(u32, Reverse<i64>, u32)>> = (0..posts.y.len().div_ceil(BAND)).into_par_iter().map(band).collect();
    let mut counts = vec![0; columns * posts.y.len()];
    for (band, hits) in all.iter().enumerate() {
        hits.iter().for_each(|hit| counts[band * BAND * columns + hit.0 as usize] += 1);
    }
    let hits = || all.iter().flatten();
    Layers { starts: starts(&counts), z: hits().map(|h| h.1.0).collect(), owner: hits().map(|h| h.2).collect() }
}

/// Where those of each place start, of which there are so many; last how many there are. All together may be more than
/// 2^32.
pub fn starts(counts: &[u32]) -> Vec<u64> {
    let mut sum = 0;
    let ends = counts.iter().map(|count| {
        sum += u64::from(*count);
        sum
    });
    std::iter::once(0).chain(ends).collect()
}

/// Ascending places along an axis, searched by about where they lie.
pub struct Axis<'a> {
    all: &'a [i64],
    /// Places in a query step.
    rate: f64,
}

impl<'a> Axis<'a> {
    pub fn new(all: &'a [i64]) -> Self {
        let extent = all.last().zip(all.first()).map_or(0, |(last, first)| last - first);
        Axis { all, rate: if extent > 0 { (all.len() - 1) as f64 / extent as f64 } else { 0.0 } }
    }

    /// How many lie before a place.
    #[inline]
    fn before(&self, place: i64) -> usize {
        let Some(first) = self.all.first() else { return 0 };
        // a guess, put right
        let mut at = (((place - first) as f64 * self.rate) as usize).min(self.all.len());
        while at > 0 && self.all[at - 1] >= place {
            at -= 1;
        }
        while at < self.all.len() && self.all[at] < place {
            at += 1;
        }
        at
    }

    /// Those from one place to another.
    #[inline]
    pub fn within(&self, from: i64, to: i64) -> Range<usize> {
        self.before(from)..self.before(to + 1)
    }
}

/// Rows of posts, and the triangles under each few of them.
struct Bands<'a> {
    ground: Ground<'a>,
    x: Axis<'a>,
    y: Axis<'a>,
    starts: Vec<u32>,
    faces: Vec<u32>,
}

impl<'a> Bands<'a> {
    fn new(ground: Ground<'a>, posts: Posts<'a>) -> Self {
        let (x, y) = (Axis::new(posts.x), Axis::new(posts.y));
        let rows = |face: u32| {
            let corners = ground.corners(face);
            let within = |axis: &Axis, k: usize| {
                let v = corners.map(|c| c[k]);
                axis.within(step(v[0].min(v[1]).min(v[2])), step(v[0].max(v[1]).max(v[2])))
            };
            let rows = within(&y, 1);
            if rows.is_empty() || within(&x, 0).is_empty() { 0..0 } else { rows.start / BAND..rows.end.div_ceil(BAND) }
        };
        let of: Vec<Range<usize>> = (0..ground.faces.len() as u32).into_par_iter().map(rows).collect();
        let pairs = of.iter().zip(0u32..).flat_map(|(bands, i)| bands.clone().map(move |band| (band as u32, i)));
        let (starts, faces) = lists(posts.y.len().div_ceil(BAND), pairs);
        Bands { ground, x, y, starts, faces }
    }

    fn faces(&self, band: usize) -> &[u32] {
        &self.faces[self.starts[band] as usize..self.starts[band + 1] as usize]
    }

    /// Calls `see` with each post of a band that a triangle covers, counted from the band's first, and the height
    /// there.
    fn hits(&self, face: u32, band: usize, see: impl FnMut(usize, i64)) {
        let corners = self.ground.corners(face);
        let bits = |k: usize| {
            let v = corners.map(|c| i64::from(c[k]));
            64 - (v[0].max(v[1]).max(v[2]) - v[0].min(v[1]).min(v[2])).leading_zeros()
        };
        let (plan, height) = (bits(0).max(bits(1)), bits(2));
        // two sums of two products of a place, an extent and a height each
        if 2 * plan + height + STEP_LOG2 + 3 < 63 {
            self.exact::<i64>(corners, band, see);
        } else {
            self.exact::<i128>(corners, band, see);
        }
    }

    fn exact<T: Number>(&self, corners: [[i32; 3]; 3], band: usize, mut see: impl FnMut(usize, i64)) {
        let [a, b, c] = corners.map(|c| c.map(i64::from));
        let way = |p: [i64; 3]| [0, 1, 2].map(|i| p[i] - a[i]);
        let (u, v) = (way(b), way(c));
        let number = |n: i64| T::from(n);
        let product = |p: i64, q: i64| number(p) * number(q);
        let area = product(u[0], v[1]) - product(u[1], v[0]);
        // how the height's numerator grows along x and y
        let along = [product(u[2], v[1]) - product(v[2], u[1]), product(v[2], u[0]) - product(u[2], v[0])];
        let base = a[2] << STEP_LOG2;
        let low = |i: usize| a[i].min(b[i]).min(c[i]) << STEP_LOG2;
        let high = |i: usize| a[i].max(b[i]).max(c[i]) << STEP_LOG2;
        let first = band * BAND;
        let rows = self.y.within(low(1), high(1));
        for row in rows.start.max(first)..rows.end.min(first + BAND) {
            let y = self.y.all[row];
            // from where to where the triangle is closed along this row
            let (mut from, mut to) = (low(0), high(0));
            for (p, q) in [(a, b), (b, c), (c, a)] {
                let (ex, ey, dy) = (q[0] - p[0], q[1] - p[1], y - (p[1] << STEP_LOG2));
                let x = p[0] << STEP_LOG2;
                match ey {
                    0 if product(ex, dy) < number(0) => to = from - 1,
                    0 => {}
                    1.. => to = to.min(x + product(ex, dy).floor_by(number(ey)).to_i64()),
                    _ => from = from.max(x - product(ex, dy).floor_by(number(-ey)).to_i64()),
                }
            }
            if from > to {
                continue;
            }
            let start = number(y - (a[1] << STEP_LOG2)) * along[1];
            let columns = self.x.within(from, to);
            let at = (row - first) * self.x.all.len();
            for column in columns {
                let n = start + number(self.x.all[column] - (a[0] << STEP_LOG2)) * along[0];
                see(at + column, base + n.rounded_by(area).to_i64());
            }
        }
    }
}

/// Query steps.
pub fn step(v: i32) -> i64 {
    i64::from(v) << STEP_LOG2
}

/// Whole numbers that are wide enough.
trait Number: Copy + Ord + From<i64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Divided by a number above zero and rounded down.
    fn floor_by(self, by: Self) -> Self;
    fn is_odd(self) -> bool;
    fn to_i64(self) -> i64;

    /// Divided by a number above zero and rounded to the nearest, of two the even one.
    #[inline]
    fn rounded_by(self, by: Self) -> Self {
        let floor = self.floor_by(by);
        let rest = self - floor * by;
        let up = match (rest + rest).cmp(&by) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => floor.is_odd(),
            std::cmp::Ordering::Greater => true,
        };
        floor + Self::from(i64::from(up))
    }
}

impl Number for i64 {
    #[inline]
    fn floor_by(self, by: i64) -> i64 {
        self.div_euclid(by)
    }

    fn is_odd(self) -> bool {
        self & 1 == 1
    }

    fn to_i64(self) -> i64 {
        self
    }
}

impl Number for i128 {
    #[inline]
    fn floor_by(self, by: i128) -> i128 {
        match (i64::try_from(self), i64::try_from(by)) {
            (Ok(n), Ok(d)) => i128::from(n.div_euclid(d)),
            _ => self.div_euclid(by),
        }
    }

    fn is_odd(self) -> bool {
        self & 1 == 1
    }

    fn to_i64(self) -> i64 {
        self as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Face;
    use crate::sort::mix;

    /// All heights at a place, highest first: every triangle asked, in fractions.
    fn all_at(ground: Ground, [x, y]: [i64; 2]) -> Vec<(i64, u32)> {
        let mut all = Vec::new();
        for face in 0..ground.faces.len() as u32 {
            let [a, b, c] = ground.corners(face).map(|c| c.map(i128::from));
            let q = [i128::from(x), i128::from(y)];
            // twice the areas of its parts, in query steps
            let part = |p: [i128; 3], r: [i128; 3]| {
                (p[0] * 256 - q[0]) * (r[1] * 256 - q[1]) - (p[1] * 256 - q[1]) * (r[0] * 256 - q[0])
            };
            let parts = [part(b, c), part(c, a), part(a, b)];
            if parts.iter().any(|p| *p < 0) {
                continue;
            }
            let area: i128 = parts.iter().sum();
            let twice = (parts[0] * a[2] + parts[1] * b[2] + parts[2] * c[2]) * 512;
            // the nearest: between the two halves, and of two the even one
            let mut z = twice.div_euclid(2 * area);
            let rest = twice - z * 2 * area;
            if rest > area || rest == area && z % 2 != 0 {
                z += 1;
            }
            all.push((z as i64, face));
        }
        all.sort_by_key(|(z, face)| (Reverse(*z), *face));
        all.dedup_by_key(|hit| hit.0);
        all
    }

    /// A plane of two triangles over all of the domain, with sides along both axes: ground everywhere.
    #[test]
    fn sides_along_the_axes_of_the_whole_domain() {
        let (low, high) = (i32::MIN, i32::MAX);
        let vertices = [[low, low, 0], [high, low, 0], [high, high, 0], [low, high, 0]];
        let faces = [[0, 1, 2], [0, 2, 3]].map(|v| Face { v, material: 0, source: 0 });
        let ground = Ground { vertices: &vertices, faces: &faces };
        let along: Vec<i64> = (0..=64).map(|i| step(low) + i * ((step(high) - step(low)) / 64)).collect();
        let posts = Posts { x: &along, y: &along };
        assert!(heights(ground, posts, Pick::Highest).owner.iter().all(|owner| *owner != NONE));
        assert_eq!(layers(ground, posts).z, vec![0; 65 * 65]);
    }

    #[test]
    fn more_layers_than_32_bits_count() {
        assert_eq!(
            starts(&[3, u32::MAX, 0, 2, u32::MAX]),
            [0, 3, (1 << 32) + 2, (1 << 32) + 2, (1 << 32) + 4, (2 << 32) + 3]
        );
        assert_eq!(starts(&[]), [0]);
    }

    #[test]
    fn heights_as_by_asking_every_triangle() {
        let mut seed = 7;
        let mut random = |n: i64| {
            seed = mix(seed);
            (seed % n as u64) as i64
        };
        let (mut hits, mut none) = (0, 0);
        for case in 0..60 {
            // small and steep, wide, and over all of the domain
            let (size, height) =
                [(40, 9), (1 << 16, 1 << 30), (i64::from(u32::MAX), i64::from(u32::MAX)), (6, 2)][case % 4];
            let (mut vertices, mut faces) = (Vec::new(), Vec::new());
            while faces.len() < 60 {
                let corners: [[i32; 3]; 3] = [0; 3].map(|_| {
                    [random(size) - size / 2, random(size) - size / 2, random(height) - height / 2].map(|v| v as i32)
                });
                let [a, b, c] = corners.map(|c| c.map(i128::from));
                if (b[0] - a[0]) * (c[1] - a[1]) <= (b[1] - a[1]) * (c[0] - a[0]) {
                    continue;
                }
                let v = [0, 1, 2].map(|k| vertices.len() as u32 + k);
                vertices.extend(corners);
                faces.push(Face { v, material: 0, source: 0 });
            }
            let ground = Ground { vertices: &vertices, faces: &faces };
            let mut axis = |n: usize| {
                let mut all: Vec<i64> = (0..n).map(|_| random(size << 8) - (size << 7)).collect();
                // on corners, too
                all.extend((0..n).map(|_| (random(size) - size / 2) << 8));
                all.sort_unstable();
                all.dedup();
                all
            };
            let (x, y) = (axis(9), axis(21));
            let posts = Posts { x: &x, y: &y };
            let z = random(height << 8) - (height << 7);
            let picks = [Pick::Highest, Pick::Lowest, Pick::HighestUpTo(z), Pick::NearestTo(z)];
            let got = picks.map(|pick| heights(ground, posts, pick));
            let layers = layers(ground, posts);
            for (at, (y, x)) in y.iter().flat_map(|y| x.iter().map(move |x| (y, x))).enumerate() {
                let all = all_at(ground, [*x, *y]);
                let run = layers.starts[at] as usize..layers.starts[at + 1] as usize;
                let those: Vec<(i64, u32)> = run.map(|k| (layers.z[k], layers.owner[k])).collect();
                assert_eq!(those, all, "{case} {x} {y}");
                let nearest = all.iter().min_by_key(|(v, _)| (v.abs_diff(z), *v > z));
                let expected = [all.first(), all.last(), all.iter().find(|hit| hit.0 <= z), nearest];
                for (got, expected) in got.iter().zip(expected) {
                    let expected = expected.copied().unwrap_or((0, NONE));
                    assert_eq!((got.z[at], got.owner[at]), expected, "{case} {x} {y}");
                }
                (hits, none) = (hits + all.len(), none + usize::from(all.is_empty()));
            }
        }
        assert!(hits > 5000 && none > 500, "{hits} {none}");
    }
}
