//! Error against the source as shares of the plan area, measured at the end of a build.
//!
//! Places are spread evenly over the plan of the triangles that are ground, as they were given, and the kernel is asked
//! for the nearest height straight above or below each. Where they lie follows from each triangle's corners and from
//! the whole area, so it is the same for any order of triangles. Height fields are not measured.

use crate::report::ErrorQuantiles;
use crate::scene::{Scene, Triangle};
use crate::util::exact::exp2;
use hardpan::{Terrain, Windows};
use hardpan_shaders::sort::mix;
use rayon::prelude::*;

/// About how many places there are at most.
const PLACES: u64 = 1 << 15;
/// And how many for each triangle.
const EACH: u64 = 64;
/// Any odd number with bits all over.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Tests that all of them may take, by the bound of one: in deep stacks fewer places are asked.
const WORK: u64 = 1 << 23;

/// Places on the triangles of a scene that are ground, metres. Of each triangle it is told its share: twice its plan
/// area in square steps, zero of what is no ground.
pub fn places(scene: &Scene, areas: &[u64]) -> Vec<[f64; 3]> {
    // whole numbers, so that their sum knows no order
    let (count, total) = areas.par_iter().filter(|&&a| a > 0).map(|&a| (1, u128::from(a))).reduce(
        || (0, 0), //
        |a, b| (a.0 + b.0, a.1 + b.1),
    );
    let each = PLACES.min(EACH * count) as f64 / (total.max(1) as f64);
    let fold = |p: &[f64; 3]| mix(p.iter().fold(0, |h, v| (h ^ v.to_bits()).wrapping_mul(ODD).rotate_left(29)));
    let folded: Vec<u64> = scene.positions.par_iter().map(fold).collect();
    // of each triangle its corners, how many places it has, and what random numbers begin with
    let chosen = |(t, &area): (&Triangle, &u64)| {
        // of all corners, in any order
        let mut seed = t.v.iter().fold(0u64, |sum, &v| sum.wrapping_add(folded[v as usize]));
        let count = (area as f64 * each + random(&mut seed)) as usize;
        (area > 0 && count > 0).then_some((t.v, count, seed))
    };
    let within = |(v, count, mut seed): ([u32; 3], usize, u64)| {
        let mut t = v.map(|v| scene.positions[v as usize]);
        t.sort_unstable_by(|a, b| a.partial_cmp(b).expect("numbers"));
        let place = move |_| {
            let (mut u, mut v) = (random(&mut seed), random(&mut seed));
            if u + v > 1.0 {
                (u, v) = (1.0 - u, 1.0 - v);
            }
            [0, 1, 2].map(|k| t[0][k] + u * (t[1][k] - t[0][k]) + v * (t[2][k] - t[0][k]))
        };
        (0..count).map(place)
    };
    scene.triangles.par_iter().zip(areas).filter_map(chosen).flat_map_iter(within).collect()
}

/// The next random number from 0 to 1.
fn random(seed: &mut u64) -> f64 {
    *seed = mix(*seed);
    (*seed >> 11) as f64 * exp2(-53)
}

/// Options of a query for the nearest ground straight above or below a place, at any distance.
pub fn upright() -> hardpan::Options {
    let windows = Windows { near: i64::MAX >> 2, far: i64::MAX >> 2 };
    hardpan::Options { windows, fallback: hardpan::format::fallback::MISS }
}

/// Asks an image for its heights at these places.
pub fn measure(terrain: &Terrain, places: &[[f64; 3]]) -> ErrorQuantiles {
    let options = upright();
    let off = |p: &[f64; 3]| {
        let answer = terrain.closest_with(*p, &options);
        if answer.found() { (terrain.z_f64(&answer.hit) - p[2]).abs() } else { f64::INFINITY }
    };
    let every = (places.len() as u64).saturating_mul(terrain.bound().tests.into()).div_ceil(WORK).max(1);
    // by place, not by number: in any order the same
    let asked = |p: &&[f64; 3]| p.iter().fold(0, |h, v| mix(h ^ v.to_bits())) % every == 0;
    let mut all: Vec<f64> = places.par_iter().filter(asked).map(off).collect();
    all.sort_unstable_by(f64::total_cmp);
    // the least error that so many thousandths of the places stay within
    let share = |thousandths: usize| {
        let rank = (all.len() * thousandths).div_ceil(1000);
        all.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    ErrorQuantiles { places: all.len() as u64, height: [500, 990, 999].map(share) }
}
