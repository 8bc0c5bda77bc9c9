//! Slits: hairline gaps in plan between edges at different heights, as at the foot of an upright kerb whose top has
//! other vertices.
//!
//! Seen from above, an open vertex lies within the threshold of an open edge, on the side where its triangle is not, at
//! another height, and no ground at the vertex reaches towards the edge. The edge's triangle is then divided at a new
//! vertex, in the same place in plan and at the height of the edge, so that both edges run through one place in plan;
//! where it cannot be divided a sliver between edge and vertex is added. Within the threshold of the edge's ends
//! nothing is done: a vertex made there would be a seam to what else ends there. Edges of several triangles are let be:
//! under most a wall leans, and what would be made in its place crowds other walls.

use super::super::neighbours::{Beside, Counted, Lines, beside, distance};
use super::cut::Met;
use super::{Search, View, flat};
use crate::options::Near;
use crate::report::Repair;
use hardpan_shaders::sort::lists;

/// Open vertices seen from above.
pub struct Plan {
    /// Their places, at height 0.
    points: Counted,
    /// Where the vertices at each place start, among those of the boundary.
    starts: Vec<u32>,
    /// Whether each vertex of the boundary is at a place in a crowd, or one that has one above it.
    crowded: Vec<bool>,
    /// The open edges at each vertex of the boundary: the other end, and whether the triangle is to the left.
    rays: (Vec<u32>, Vec<(u32, bool)>),
    /// How much higher or lower an edge may run: more, up to `rise` steps.
    level: u32,
    rise: u32,
}

impl Plan {
    pub fn new(View { ground, edges, boundary, near }: View, rise: u32) -> Plan {
        let (mut places, mut starts) = (Vec::<[i32; 3]>::new(), Vec::new());
        for (i, v) in (0..).zip(&boundary.vertices) {
            let place = flat(ground.vertices[*v as usize]);
            if places.last() != Some(&place) {
                places.push(place);
                starts.push(i);
            }
        }
        starts.push(boundary.vertices.len() as u32);
        let number = |v: u32| boundary.number(v).expect("an end of an open edge") as u32;
        let mut open = Vec::new();
        for i in edges.open_faces() {
            let v = ground.faces[i as usize].v;
            for k in edges.open_sides(i).filter(|k| !edges.is_fold(i, *k)) {
                let [a, b] = [v[k], v[(k + 1) % 3]];
                open.extend([(number(a), (b, true)), (number(b), (a, false))]);
            }
        }
        let rays = lists(boundary.vertices.len(), open.iter().copied());
        let points = Counted::new(places, Near { plan: near.plan, height: 0 });
        let mut crowded = vec![false; boundary.vertices.len()];
        for (place, at) in (0..).zip(starts.windows(2)) {
            let is_crowd = u64::from(at[1] - at[0]) > Repair::MAX_NEIGHBOURS;
            crowded[at[0] as usize..at[1] as usize].fill(is_crowd || points.is_crowded(place));
        }
        Plan { points, starts, crowded, rays, level: near.height, rise }
    }

    /// The point at a place beside a line with its triangle to the left, if a slit is between.
    fn before(
        &self,
        i: u32,
        mut place: Beside,
        [a, b]: [[i32; 3]; 2],
        view: View,
        counts: impl Fn(usize) -> bool,
    ) -> Option<Met> {
        if place.off >= 0 || self.crowded[self.starts[i as usize] as usize] {
            return None;
        }
        let length = distance(a, b).0 as i128;
        let rise = (i128::from(b[2]) - i128::from(a[2])) * place.along;
        let up = (2 * rise + length).div_euclid(2 * length);
        let z = (i128::from(a[2]) + up) as i32;
        place.by[1] = (up * length - rise).abs() as f64 / length as f64;
        let within = |n: &usize| height(*n, view).abs_diff(z) <= self.rise;
        let apart =
            |n: &usize| height(*n, view).abs_diff(z) > self.level && counts(*n) && self.rays(*n).next().is_some();
        let n = self.at(i).filter(within).find(apart)?;
        let inward = [i64::from(a[1]) - i64::from(b[1]), i64::from(b[0]) - i64::from(a[0])];
        let reached = self.at(i).filter(within).any(|n| self.reaches(n, inward, view));
        let [x, y, _] = self.points.point(i);
        (!reached).then_some(Met { place, w: view.boundary.vertices[n], level: Some([x, y, z]) })
    }

    fn rays(&self, n: usize) -> impl Iterator<Item = &(u32, bool)> {
        let (starts, rays) = &self.rays;
        rays[starts[n] as usize..starts[n + 1] as usize].iter()
    }

    /// The vertices of the boundary at a place.
    fn at(&self, place: u32) -> std::ops::Range<usize> {
        self.starts[place as usize] as usize..self.starts[place as usize + 1] as usize
    }

    /// Whether the ground at a vertex reaches from it this way.
    fn reaches(&self, n: usize, to: [i64; 2], view: View) -> bool {
        let way = |other: u32| {
            let [from, to] = view.ground.corners([view.boundary.vertices[n], other]);
            [0, 1].map(|k| i64::from(to[k]) - i64::from(from[k]))
        };
        let product = |a: i64, b: i64| i128::from(a) * i128::from(b);
        let cross = |u: [i64; 2], w: [i64; 2]| product(u[0], w[1]) - product(u[1], w[0]);
        let dot = |u: [i64; 2], w: [i64; 2]| product(u[0], w[0]) + product(u[1], w[1]);
        // the first that is met when one turns right; where there are two, that with its triangle to the left
        let behind = |u: [i64; 2]| cross(u, to) < 0 || cross(u, to) == 0 && dot(u, to) < 0;
        let turn = |u: [i64; 2], w: [i64; 2]| behind(u).cmp(&behind(w)).then_with(|| cross(u, w).cmp(&0));
        let rays = self.rays(n).map(|(other, left)| (way(*other), *left));
        let first = rays.min_by(|(u, left), (w, right)| turn(*u, *w).then(right.cmp(left)));
        first.is_some_and(|(_, left)| left)
    }
}

/// Height of a vertex of the boundary.
fn height(n: usize, View { ground, boundary, .. }: View) -> i32 {
    ground.vertices[boundary.vertices[n] as usize][2]
}

/// Gaps in plan.
pub struct Slits<'a> {
    plan: &'a Plan,
    lines: Lines<'a>,
}

impl<'a> Slits<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        Slits { plan, lines: Lines::new(&plan.points) }
    }
}

impl Search for Slits<'_> {
    const KIND: usize = 1;
    const FOLDS: bool = false;
    const CROWD: u64 = 0;
    const SHARE: f64 = 0.75; // what comes of it can be mended then

    fn is_crowded(&self, n: usize) -> bool {
        self.plan.crowded[n]
    }

    fn along(
        &self,
        side: [u32; 2],
        view: View,
        counts: impl Fn(usize) -> bool,
        fits: impl Fn(usize) -> bool,
    ) -> Option<Vec<Met>> {
        let points = &self.plan.points;
        let line = view.ground.corners(side);
        let mut looked = 0;
        let mut met = Vec::new();
        self.lines.along(line.map(flat), |i| {
            let at = points.point(i);
            if let Some(place) = beside(at, line.map(flat), points.near) {
                looked += 1;
                if line.iter().all(|end| distance(*end, at).0 > u128::from(points.near.plan).pow(2)) {
                    met.extend(self.plan.before(i, place, line, view, &counts));
                }
            }
            fits(looked)
        });
        fits(looked).then_some(met)
    }
}
