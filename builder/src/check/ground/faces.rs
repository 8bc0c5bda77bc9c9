//! Upright faces of a source: what stands at an edge, or half way down a step.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::scene::Scene;
use hardpan::Terrain;
use rayon::prelude::*;
use rstar::{AABB, RTree, primitives::GeomWithData};

use super::border::{Edge, span};

/// A face that has a corner on an edge stands at it if it rises so many times as far as it leans off, and that is no
/// more, metres; and if it runs along the edge, but for the sine of an angle.
const STEEP: f64 = 4.0;
const LEAN: f64 = 0.05;
const SKEW: f64 = 0.3;

/// A place of an edge and a height. A face that leans may stand so far off.
pub struct Spot<'a> {
    pub edge: &'a Edge,
    pub at: [f64; 3],
    pub rise: f64,
}

/// At which of these a face of the source stands that is upright or nearly so.
pub fn standing(scene: &Scene, t: &Terrain, spots: &[Spot]) -> Vec<bool> {
    let h = t.header();
    // metres that ground may have moved in plan and height from its source
    let hair = f64::exp2(f64::from(h.xy_log2));
    let moved = [h.error_plan + 2.0 * hair, h.error_height + f64::exp2(f64::from(h.z_log2))];
    let places = spots.iter().zip(0..).map(|(spot, i)| GeomWithData::new([spot.at[0], spot.at[1]], i));
    let tree: RTree<GeomWithData<[f64; 2], usize>> = RTree::bulk_load(places.collect());
    let met: Vec<AtomicBool> = spots.iter().map(|_| AtomicBool::new(false)).collect();
    scene.triangles.par_iter().for_each(|face| {
        let corners = face.v.map(|v| scene.positions[v as usize]);
        let Some(face) = Standing::of(corners, moved[0]) else { return };
        let [a, b] = face.plan;
        let low = [0, 1].map(|i| a[i].min(b[i]) - moved[0] - LEAN);
        let high = [0, 1].map(|i| a[i].max(b[i]) + moved[0] + LEAN);
        for place in tree.locate_in_envelope(AABB::from_corners(low, high)) {
            let Spot { edge, at, rise } = &spots[place.data];
            let aside = if face.leans_from(edge, moved) { (rise / STEEP).min(LEAN) } else { 0.0 };
            if face.holds(*at, aside, moved) {
                met[place.data].store(true, Ordering::Relaxed);
            }
        }
    });
    met.into_iter().map(AtomicBool::into_inner).collect()
}
/// A face seen from the side: where it stands in plan, and its corners, each metres from there and its height; and
/// where they lie.
struct Standing {
    plan: [[f64; 2]; 2],
    corners: [[f64; 2]; 3],
    places: [[f64; 3]; 3],
}

impl Standing {
    /// None if it does not stand upright, but for so much in plan, or nearly so.
    fn of(corners: [[f64; 3]; 3], moved: f64) -> Option<Self> {
        let plan = corners.map(|[x, y, _]| [x, y]);
        let sides = [[plan[0], plan[1]], [plan[1], plan[2]], [plan[2], plan[0]]];
        let longest = sides.into_iter().reduce(|a, b| if span(b) > span(a) { b } else { a })?;
        let ([[x, y], [bx, by]], length) = (longest, span(longest));
        let [ux, uy] = if length > 0.0 { [(bx - x) / length, (by - y) / length] } else { [0.0; 2] };
        let thick = plan.iter().map(|p| ((p[0] - x) * uy - (p[1] - y) * ux).abs()).fold(0.0, f64::max);
        let side = corners.map(|[px, py, pz]| [(px - x) * ux + (py - y) * uy, pz]);
        let heights = side.map(|[_, z]| z);
        let rise = heights.into_iter().fold(f64::MIN, f64::max) - heights.into_iter().fold(f64::MAX, f64::min);
        let [u, v] = [1, 2].map(|k| [0, 1, 2].map(|i| corners[k][i] - corners[0][i]));
        let across = [1, 2, 0].map(|i| u[i] * v[(i + 1) % 3] - u[(i + 1) % 3] * v[i]);
        let steep = thick <= LEAN && across[0].hypot(across[1]) >= STEEP * across[2].abs();
        ((thick <= moved || steep) && rise > 0.0 && longest.iter().flatten().all(|v| v.is_finite()))
            .then_some(Standing { plan: longest, corners: side, places: corners })
    }

    /// Whether it runs along an edge and has a corner on it.
    fn leans_from(&self, edge: &Edge, moved: [f64; 2]) -> bool {
        let ([[x, y], [bx, by]], [[ex, ey], [fx, fy]]) = (self.plan, edge.plan);
        let (length, long) = (span(self.plan), span(edge.plan));
        let skew = (bx - x) * edge.away[0] + (by - y) * edge.away[1];
        let on = |[px, py, pz]: [f64; 3]| {
            let share = (((px - ex) * (fx - ex) + (py - ey) * (fy - ey)) / (long * long)).clamp(0.0, 1.0);
            let z = edge.z[0] + share * (edge.z[1] - edge.z[0]);
            let foot = [ex + share * (fx - ex), ey + share * (fy - ey)];
            span([[px, py], foot]) <= moved[0] && (pz - z).abs() <= moved[1]
        };
        skew.abs() <= SKEW * length && self.places.into_iter().any(on)
    }

    /// Whether it stands at a place, no farther off than this.
    fn holds(&self, [px, py, z]: [f64; 3], aside: f64, moved: [f64; 2]) -> bool {
        let ([[x, y], [bx, by]], length) = (self.plan, span(self.plan));
        let [ux, uy] = if length > 0.0 { [(bx - x) / length, (by - y) / length] } else { [0.0; 2] };
        let along = ((px - x) * ux + (py - y) * uy).clamp(0.0, length);
        let off = span([[px, py], [x + along * ux, y + along * uy]]);
        // where the upright line there meets the sides
        let [a, b, c] = self.corners;
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let run = q[0] - p[0];
            let ends = if run.abs() > moved[0] {
                let share = (along - p[0]) / run;
                if !(0.0..=1.0).contains(&share) {
                    continue;
                }
                [p[1] + (q[1] - p[1]) * share; 2]
            } else if (along - p[0]).abs() <= 2.0 * moved[0] {
                [p[1], q[1]]
            } else {
                continue;
            };
            (low, high) = ends.iter().fold((low, high), |(low, high), &z| (low.min(z), high.max(z)));
        }
        off <= aside + moved[0] && (low - moved[1]..=high + moved[1]).contains(&z)
    }
}
