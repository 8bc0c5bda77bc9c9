//! Exact plane geometry of one triangle, in integers.

use crate::hit::Normal;

/// Corners of a triangle, counter-clockwise in plan, in lattice steps.
#[derive(Clone, Copy)]
pub(crate) struct Corners {
    pub x: [i64; 3],
    pub y: [i64; 3],
}

/// How a triangle covers a point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cover {
    Outside,
    /// On an edge or a corner.
    Border,
    /// On an edge or a corner, and over the point moved by (-e, -e²) for any small e: of triangles that
    /// do not overlap, one at most. Where the ground ends along a line it is that one or the next.
    Second,
    /// The same for the point moved by (e, e²).
    Owned,
    Inside,
}

impl Cover {
    /// From the three sides of a place, above zero inside; `rises` tells whether each does so on a step of (e, e²).
    #[inline(always)]
    fn of([u, v, w]: [i64; 3], rises: impl Fn(usize) -> bool) -> Cover {
        if (u | v | w) < 0 {
            return Cover::Outside;
        }
        if u != 0 && v != 0 && w != 0 {
            return Cover::Inside;
        }
        let (mut any, mut all) = (false, true);
        for (k, side) in [u, v, w].into_iter().enumerate() {
            if side == 0 {
                let up = rises(k);
                (any, all) = (any || up, all && up);
            }
        }
        Cover::at_corner(all, any)
    }

    /// How a triangle covers the second of its corners, given the first and the third as well.
    #[inline(always)]
    pub fn around([a, b, c]: [[u32; 2]; 3]) -> Cover {
        Cover::at_corner(rises(a[0], b[0], a[1], b[1]), rises(b[0], c[0], b[1], c[1]))
    }

    /// How a triangle covers a place on its edge from the first to the second of these.
    #[inline(always)]
    pub fn along([a, b]: [[u32; 2]; 2]) -> Cover {
        if rises(a[0], b[0], a[1], b[1]) { Cover::Owned } else { Cover::Second }
    }

    /// How a triangle covers a place on both edges, given whether the sides of both edges rise.
    #[inline(always)]
    fn at_corner(before: bool, after: bool) -> Cover {
        match (before, after) {
            (true, true) => Cover::Owned,
            (false, false) => Cover::Second,
            _ => Cover::Border,
        }
    }
}

/// Corners of a triangle of at most 20 bits, relative to a query position, in query steps.
#[derive(Clone, Copy)]
pub(crate) struct Near {
    /// Below 2^29 in magnitude: `isize` makes each difference one operation on 32-bit and 64-bit cores alike.
    x: [isize; 3],
    y: [isize; 3],
}

impl Near {
    /// Corners in steps and the position `q` in query steps, both from one base and below 2^20 steps.
    #[inline(always)]
    pub fn new([a, b, c]: [[u32; 2]; 3], q: [isize; 2]) -> Self {
        let at = |v: u32, q: isize| ((v << 8) as isize).wrapping_sub(q);
        Near {
            x: [at(a[0], q[0]), at(b[0], q[0]), at(c[0], q[0])],
            y: [at(a[1], q[1]), at(b[1], q[1]), at(c[1], q[1])],
        }
    }

    /// Side of an edge, above zero inside: 2 x 29 + 1 bits.
    #[inline(always)]
    fn side(&self, a: usize, b: usize) -> i64 {
        product(self.x[a], self.y[b]).wrapping_sub(product(self.y[a], self.x[b]))
    }

    /// Whether the position lies inside the triangle; none on its border.
    #[inline(always)]
    pub fn inside(&self) -> Option<bool> {
        // small cores save what is left of a triangle whose first edges exclude the place; large ones mispredict more
        // than that
        if cfg!(target_pointer_width = "32") && (self.side(0, 1) < 0 || self.side(1, 2) < 0) {
            return Some(false);
        }
        let [u, v, w] = [self.side(0, 1), self.side(1, 2), self.side(2, 0)];
        if (u | v | w) < 0 {
            return Some(false);
        }
        (u != 0 && v != 0 && w != 0).then_some(true)
    }

    /// How the triangle covers the position, at which this corner lies.
    #[inline(always)]
    pub fn at(&self, k: usize) -> Cover {
        Cover::at_corner(self.rises((k + 2) % 3, k), self.rises(k, (k + 1) % 3))
    }

    /// How the triangle covers the position, which is on the edge between these corners.
    #[inline(always)]
    pub fn on(&self, a: usize, b: usize) -> Cover {
        if self.rises(a, b) { Cover::Owned } else { Cover::Second }
    }

    #[inline(always)]
    fn rises(&self, a: usize, b: usize) -> bool {
        rises(self.x[a], self.x[b], self.y[a], self.y[b])
    }

    /// The corner that lies at the position.
    #[inline(always)]
    pub fn corner(&self) -> Option<usize> {
        if self.x[0] | self.y[0] == 0 {
            Some(0)
        } else if self.x[1] | self.y[1] == 0 {
            Some(1)
        } else {
            (self.x[2] | self.y[2] == 0).then_some(2)
        }
    }

    /// The corners between which the position lies, on the triangle's border and at none of them.
    #[inline(always)]
    fn edge(&self) -> (usize, usize) {
        if self.side(0, 1) == 0 {
            (0, 1)
        } else if self.side(1, 2) == 0 {
            (1, 2)
        } else {
            (2, 0)
        }
    }

    /// The ends of that edge, and how far the position lies from the first, in 2^-8 of what the second number counts:
    /// along the longer side, above zero.
    #[inline(always)]
    pub fn along(&self) -> (usize, usize, [isize; 2]) {
        let (a, b) = self.edge();
        let (dx, dy) = (self.x[b].wrapping_sub(self.x[a]), self.y[b].wrapping_sub(self.y[a]));
        let (n, d) = if dx.unsigned_abs() >= dy.unsigned_abs() { (self.x[a], dx) } else { (self.y[a], dy) };
        (a, b, if d < 0 { [n, d.wrapping_neg() >> 8] } else { [n.wrapping_neg(), d >> 8] })
    }
}

/// Whether a step of (e, e²) raises the side of the edge from (`ax`, `ay`) to (`bx`, `by`): it does so by x e² - y e.
#[inline(always)]
fn rises<T: Ord>(ax: T, bx: T, ay: T, by: T) -> bool {
    by < ay || (by == ay && bx > ax)
}

/// A widening product, one instruction where `isize` has 32 bits.
#[inline(always)]
pub(crate) fn product(a: isize, b: isize) -> i64 {
    (a as i64).wrapping_mul(b as i64)
}

impl Normal {
    /// The plane through three corners of at most 20 bits with heights of 32.
    #[inline(always)]
    pub fn of([a, b, c]: [[u32; 2]; 3], z: [i32; 3]) -> Normal {
        let step = |v: u32, w: u32| v.wrapping_sub(w) as i32 as isize;
        let (ux, uy, uz) = (step(b[0], a[0]), step(b[1], a[1]), z[1].wrapping_sub(z[0]) as isize);
        let (vx, vy, vz) = (step(c[0], a[0]), step(c[1], a[1]), z[2].wrapping_sub(z[0]) as isize);
        Normal {
            x: product(uy, vz).wrapping_sub(product(uz, vy)),
            y: product(uz, vx).wrapping_sub(product(ux, vz)),
            z: product(ux, vy).wrapping_sub(product(uy, vx)),
        }
    }

    /// Height of the plane above its point at distance `q` in query steps, in 2^-8 steps, rounded half to even: of a
    /// normal [`Normal::of`] corners of at most 24 bits of relief, between them, so that it has 32 bits and its sign.
    #[inline(always)]
    pub fn rise(&self, q: [isize; 2]) -> i64 {
        if self.z >> 31 == 0 { divide_half_even(self.drop(q).wrapping_neg(), self.z) } else { self.rise_large(q) }
    }

    /// Numerator whose quotient by `z` is the depth of the plane, modulo 2^64.
    #[inline(always)]
    fn drop(&self, [qx, qy]: [isize; 2]) -> i64 {
        self.x.wrapping_mul(qx as i64).wrapping_add(self.y.wrapping_mul(qy as i64))
    }

    /// [`Normal::rise`] where 64 bits may not hold what is divided: guessed from the first 31 bits of the divisor, and
    /// set right by what the guess leaves, which 64 bits hold.
    #[inline(never)]
    fn rise_large(&self, q: [isize; 2]) -> i64 {
        if self.z <= 0 {
            return 0;
        }
        let [x, y, z] = [self.x, self.y, self.z].map(|v| v.wrapping_shr(33u32.wrapping_sub(self.z.leading_zeros())));
        let n = Normal { x, y, z }.drop(q).wrapping_neg();
        let (guess, sign) = (divide(n.unsigned_abs(), z as u64).0 as i64, n >> 63);
        let mut rise = (guess ^ sign).wrapping_sub(sign);
        let mut rest = self.drop(q).wrapping_add(rise.wrapping_mul(self.z)).wrapping_neg();
        // below 2^32 it is off by four at most
        for _ in 0..4 {
            let twice = rest.wrapping_mul(2);
            let odd = rise & 1;
            let step = if twice.wrapping_add(odd) > self.z {
                1
            } else if twice.wrapping_sub(odd) < self.z.wrapping_neg() {
                -1
            } else {
                break;
            };
            rise = rise.wrapping_add(step);
            rest = rest.wrapping_sub(step.wrapping_mul(self.z));
        }
        rise
    }

    /// Height of the plane above its point at distance (`qx`, `qy`) in query steps, in 2^-8 steps, rounded half to
    /// even.
    fn rise_any(&self, qx: i64, qy: i64) -> i64 {
        let fits = bits(self.x).max(bits(self.y)) + bits(qx).max(bits(qy)) < 62;
        if fits {
            let up = self.x.wrapping_mul(qx).wrapping_add(self.y.wrapping_mul(qy));
            divide_half_even(up.wrapping_neg(), self.z)
        } else {
            self.rise_wide(qx, qy)
        }
    }

    #[cold]
    #[inline(never)]
    fn rise_wide(&self, qx: i64, qy: i64) -> i64 {
        let up = i128::from(self.x) * i128::from(qx) + i128::from(self.y) * i128::from(qy);
        divide_half_even_wide(-up, i128::from(self.z))
    }
}

impl Corners {
    /// Where the point (`px`, `py`), in 2^-8 steps, lies: coordinates of any magnitude up to 2^33.
    pub fn cover(&self, px: i64, py: i64) -> Cover {
        if !self.is_small() {
            return self.cover_huge(px, py);
        }
        let [x0, x1, x2] = self.x;
        let [y0, y1, y2] = self.y;
        let (qx, qy) = (px.wrapping_sub(x0 << 8), py.wrapping_sub(y0 << 8));
        if qx.unsigned_abs() > 1 << 34 || qy.unsigned_abs() > 1 << 34 {
            return Cover::Outside;
        }
        let (ux, uy) = (x1.wrapping_sub(x0), y1.wrapping_sub(y0));
        let (vx, vy) = (x2.wrapping_sub(x0), y2.wrapping_sub(y0));
        let w2 = ux.wrapping_mul(qy).wrapping_sub(uy.wrapping_mul(qx));
        let w1 = vy.wrapping_mul(qx).wrapping_sub(vx.wrapping_mul(qy));
        let det = ux.wrapping_mul(vy).wrapping_sub(uy.wrapping_mul(vx));
        Cover::of([w2, (det << 8).wrapping_sub(w1).wrapping_sub(w2), w1], |k| self.rises(k))
    }

    fn rises(&self, k: usize) -> bool {
        let [[x0, x1, x2], [y0, y1, y2]] = [self.x, self.y];
        match k {
            0 => rises(x0, x1, y0, y1),
            1 => rises(x1, x2, y1, y2),
            _ => rises(x2, x0, y2, y0),
        }
    }

    #[cold]
    #[inline(never)]
    fn cover_huge(&self, px: i64, py: i64) -> Cover {
        let x = self.x.map(i128::from);
        let y = self.y.map(i128::from);
        let (px, py) = (i128::from(px), i128::from(py));
        let side = |a: usize, b: usize| {
            let w = (x[b] - x[a]) * (py - (y[a] << 8)) - (y[b] - y[a]) * (px - (x[a] << 8));
            w.signum() as i64
        };
        Cover::of([side(0, 1), side(1, 2), side(2, 0)], |k| self.rises(k))
    }

    /// Normal of the plane through the corners with heights `z`, and its height at (`px`, `py`)
    /// above `z[0]` in 2^-8 steps, rounded half to even. The point lies in the triangle.
    ///
    /// The normal is exact while its components are below 2^62, else scaled down to that.
    pub fn plane(&self, z: [i64; 3], px: i64, py: i64) -> (Normal, i64) {
        if !self.is_small() {
            return self.plane_huge(z, px, py);
        }
        let [x0, x1, x2] = self.x;
        let [y0, y1, y2] = self.y;
        let (ux, uy, uz) = (x1.wrapping_sub(x0), y1.wrapping_sub(y0), z[1].wrapping_sub(z[0]));
        let (vx, vy, vz) = (x2.wrapping_sub(x0), y2.wrapping_sub(y0), z[2].wrapping_sub(z[0]));
        let n = Normal {
            x: uy.wrapping_mul(vz).wrapping_sub(uz.wrapping_mul(vy)),
            y: uz.wrapping_mul(vx).wrapping_sub(ux.wrapping_mul(vz)),
            z: ux.wrapping_mul(vy).wrapping_sub(uy.wrapping_mul(vx)),
        };
        (n, n.rise_any(px.wrapping_sub(x0 << 8), py.wrapping_sub(y0 << 8)))
    }

    #[cold]
    #[inline(never)]
    fn plane_huge(&self, z: [i64; 3], px: i64, py: i64) -> (Normal, i64) {
        let x = self.x.map(i128::from);
        let y = self.y.map(i128::from);
        let z = z.map(i128::from);
        let (ux, uy, uz) = (x[1] - x[0], y[1] - y[0], z[1] - z[0]);
        let (vx, vy, vz) = (x[2] - x[0], y[2] - y[0], z[2] - z[0]);
        let n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
        let up = n[0] * (i128::from(px) - (x[0] << 8)) + n[1] * (i128::from(py) - (y[0] << 8));
        let rise = divide_half_even_wide(-up, n[2]);
        let largest = n.iter().fold(0, |m, v| v.unsigned_abs().max(m));
        let shift = (128 - largest.leading_zeros()).saturating_sub(62);
        let [nx, ny, nz] = n.map(|v| (v >> shift) as i64);
        (Normal { x: nx, y: ny, z: nz.max(1) }, rise)
    }

    /// Whether the triangle extends less than 2^26 steps from its first corner, so that 64 bits hold every product
    /// of [`Corners::cover`] and the normal.
    fn is_small(&self) -> bool {
        let fits = |v: &[i64; 3]| {
            let (a, b) = (v[1].wrapping_sub(v[0]), v[2].wrapping_sub(v[0]));
            a.unsigned_abs() < 1 << 26 && b.unsigned_abs() < 1 << 26
        };
        fits(&self.x) && fits(&self.y)
    }
}

#[inline(always)]
fn bits(v: i64) -> u32 {
    64 - v.unsigned_abs().leading_zeros()
}

/// `n / d` rounded half to even; 0 if `d` is not above zero.
#[inline(always)]
pub(crate) fn divide_half_even(n: i64, d: i64) -> i64 {
    if d <= 0 {
        return 0;
    }
    let (m, d) = (n.unsigned_abs(), d as u64);
    let (q, r) = divide(m, d);
    let rest = d.wrapping_sub(r);
    // no branches: one query in two rounds up
    let up = u64::from(r > rest) | (u64::from(r == rest) & q);
    let (q, sign) = (q.wrapping_add(up & 1) as i64, n >> 63);
    (q ^ sign).wrapping_sub(sign)
}

/// Quotient and remainder; on small cores by their own 32-bit division where that is enough.
#[inline(always)]
fn divide(m: u64, d: u64) -> (u64, u64) {
    if cfg!(target_pointer_width = "32") && d >> 32 == 0 && m >> 32 < d {
        let (q, r) = divide_32(m, d as u32);
        return (q.into(), r.into());
    }
    let q = m.checked_div(d).unwrap_or(0);
    (q, m.wrapping_sub(q.wrapping_mul(d)))
}

/// Schoolbook division in base 2^16 for a quotient below 2^32 (Knuth, volume 2, algorithm D).
fn divide_32(m: u64, d: u32) -> (u32, u32) {
    let shift = d.leading_zeros() & 31;
    let (d, m) = (d << shift, m << shift);
    let (high, low) = (d >> 16, d & 0xFFFF);
    let digit = |rest: u32, next: u32| -> (u32, u32) {
        let mut q = rest.checked_div(high).unwrap_or(0);
        let mut r = rest.wrapping_sub(q.wrapping_mul(high));
        let above = |q: u32, r: u32| q >> 16 != 0 || q.wrapping_mul(low) > (r << 16 | next);
        // the divisor's top bit is set: the estimate is two too large at most
        if above(q, r) {
            q = q.wrapping_sub(1);
            r = r.wrapping_add(high);
            if r >> 16 == 0 && above(q, r) {
                q = q.wrapping_sub(1);
            }
        }
        (q, (rest << 16 | next).wrapping_sub(q.wrapping_mul(d)))
    };
    let (q1, rest) = digit((m >> 32) as u32, (m >> 16) as u32 & 0xFFFF);
    let (q0, rest) = digit(rest, m as u32 & 0xFFFF);
    (q1 << 16 | q0, rest >> shift)
}

/// The same in 128 bits; 0 if `d` is not above zero.
#[cold]
#[inline(never)]
pub(crate) fn divide_half_even_wide(n: i128, d: i128) -> i64 {
    let d = if d > 0 { d as u128 } else { return 0 };
    let m = n.unsigned_abs();
    let mut q = m.checked_div(d).unwrap_or(0);
    let r = m.wrapping_sub(q.wrapping_mul(d));
    let rest = d.wrapping_sub(r);
    if r > rest || (r == rest && q & 1 == 1) {
        q = q.wrapping_add(1);
    }
    if n < 0 { (q as i64).wrapping_neg() } else { q as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_by_halves_as_the_machine_does() {
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 32
        };
        let edges = [1, 2, 0xFFFF, 0x1_0000, 0x1_0001, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFE, 0xFFFF_FFFF];
        for i in 0..1_000_000usize {
            let d = if i < 900 { edges[i / 100] } else { (next() >> (i % 32)).max(1) };
            let q = next() >> (i / 7 % 32);
            let m = q * d + next() % d;
            assert_eq!(divide_32(m, d as u32), ((m / d) as u32, (m % d) as u32), "{m} / {d}");
        }
    }

    /// Heights in triangles of at most 20 bits in plan and 24 in height, the largest, needles and cliffs among them,
    /// are those of 128 bits.
    #[test]
    fn rises_as_in_128_bits() {
        let [mut large, mut halves, mut high] = [0; 3];
        let mut check = |plans: [[u32; 2]; 3], z: [i32; 3], q: [isize; 2]| {
            let normal = Normal::of(plans, z);
            let place = [0, 1].map(|k| q[k] + (plans[0][k] << 8) as isize);
            if normal.z <= 0 || Near::new(plans, place).inside() == Some(false) {
                return;
            }
            let (d, up) = (normal.z.into(), i128::from(normal.x) * q[0] as i128 + i128::from(normal.y) * q[1] as i128);
            let want = divide_half_even_wide(-up, d);
            assert_eq!(normal.rise(q), want, "{plans:?} {z:?} {q:?}");
            if d >> 31 != 0 {
                large += 1;
                halves += usize::from(2 * up % d == 0 && up % d != 0);
                high += usize::from(want.unsigned_abs() >> 31 != 0);
            }
        };
        // the divisor's first 31 bits, a one and zeros in the middle, are the farthest below it that they can be
        for k in 0..4000 {
            let (back, [low, high]) =
                (k / 200, if k & 1 == 0 { [0, 0xFF_FFFF - k % 200] } else { [0xFF_FFFF - k % 200, 0] });
            let corners = [[0, 0], [0xF_FFFF, 0], [0xF_FFFF, 0x8_0001]];
            check(corners, [low, high, high], [0xFFF_FF00 - back as isize, 0]);
        }
        let mut seed = 2u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 32) % below
        };
        for i in 0..1_000_000 {
            let (plan, relief) = (1 << (20 - i % 21), 1 << (24 - i / 21 % 25));
            let mut coordinate = |end: u64| match next(16) {
                0..3 => 0,
                3 => end - 1,
                4 => end / 2,
                5 => end / 2 + 1,
                _ => next(end),
            };
            let mut plans = [(); 3].map(|()| [(); 2].map(|()| coordinate(plan) as u32));
            let z = [(); 3].map(|()| coordinate(relief) as i32);
            if Normal::of(plans, z).z < 0 {
                plans.swap(1, 2);
            }
            // a place between the corners, or the next one
            let v = next(513) as i64;
            let w = next(513 - v as u64) as i64;
            let q = [0, 1].map(|k| {
                let [a, b, c] = plans.map(|p| i64::from(p[k]));
                ((v * (b - a) + w * (c - a)) / 2) as isize + next(3) as isize - 1
            });
            check(plans, z, q);
        }
        assert!(large > 100_000 && halves > 1_000 && high > 1_000, "{large} {halves} {high}");
    }

    #[test]
    fn rounds_half_to_even() {
        for (n, d, want) in [(5, 2, 2), (7, 2, 4), (-5, 2, -2), (-7, 2, -4), (-3, 4, -1), (-1, 4, 0), (6, 4, 2)] {
            assert_eq!(divide_half_even(n, d), want);
            assert_eq!(divide_half_even_wide(n.into(), d.into()), want);
        }
    }
}
