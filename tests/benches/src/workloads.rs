//! Where the benchmarks ask: points of known ground, a little above or below it.

use crate::grid::Reference;
use crate::scenes::{self, CITY_ANGLE, CITY_SHIFT, Kind, Mesh, Scene, on_road, street};
use crate::{Query, Rng, Sight};

/// Rays may look this far up and down; every point has ground much nearer.
const REACH: f64 = 100.0;

/// Uniform over the extents; -0.3..1 m above one of the layers there.
pub fn random(mesh: &Mesh, reference: &Reference, n: usize) -> Vec<Query> {
    let (mut rng, [low, high]) = (Rng(1), mesh.bounds());
    let mut queries = Vec::with_capacity(n);
    while queries.len() < n {
        let [x, y] = [0, 1].map(|a| rng.range(low[a], high[a]));
        let heights = reference.heights(x, y);
        if !heights.is_empty() {
            let z = heights[rng.below(heights.len())] + rng.range(-0.3, 1.0);
            queries.push(Query { at: [x, y, z], reach: REACH });
        }
    }
    queries
}

/// Uniform over the triangles, so that dense places count; -0.3..1 m above the triangle.
pub fn on_triangles(mesh: &Mesh, n: usize) -> Vec<Query> {
    let mut rng = Rng(2);
    let mut queries = Vec::with_capacity(n);
    while queries.len() < n {
        let [a, b, c] = mesh.corners(rng.below(mesh.triangles.len()));
        let (mut u, mut v) = (rng.range(0.0, 1.0), rng.range(0.0, 1.0));
        if u + v > 1.0 {
            (u, v) = (1.0 - u, 1.0 - v);
        }
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area.abs() > 1e-9 {
            let [x, y, z] = [0, 1, 2].map(|k| a[k] + u * (b[k] - a[k]) + v * (c[k] - a[k]));
            queries.push(Query { at: [x, y, z + rng.range(-0.3, 1.0)], reach: REACH });
        }
    }
    queries
}

/// From above everything down through everything.
pub fn columns(mesh: &Mesh, reference: &Reference, n: usize) -> Vec<Query> {
    let [low, high] = mesh.bounds();
    let mut queries = random(mesh, reference, n);
    for q in &mut queries {
        q.at[2] = high[2] + 1.0;
        q.reach = high[2] - low[2] + 2.0;
    }
    queries
}

/// From 0 to 2 m above one of the layers of a random place, in directions uniform on the sphere.
pub fn sights(mesh: &Mesh, reference: &Reference, n: usize, length: f64) -> Vec<Sight> {
    let mut rng = Rng(7);
    let mut sight = |q: Query| {
        let direction = loop {
            let d = [0; 3].map(|_| rng.range(-1.0, 1.0));
            let square: f64 = d.iter().map(|v| v * v).sum();
            if (1e-4..1.0).contains(&square) {
                break d.map(|v| v / square.sqrt());
            }
        };
        let [x, y, z] = q.at;
        // the height above the layer was -0.3 to 1 m
        let from = [x, y, z + 0.3 + rng.range(0.0, 0.7)];
        let single = |v: [f64; 3]| v.map(|v| f64::from(v as f32));
        Sight { from: single(from), direction: single(direction), length }
    };
    random(mesh, reference, n).into_iter().map(&mut sight).collect()
}

/// Four wheels at 20 m/s, asked every millisecond at the 2 x 5 points of each contact patch.
pub const WHEELS: usize = 4;
pub const PATCH_POINTS: usize = 10;

pub fn wheels(scene: &Scene, reference: &Reference, n: usize) -> Vec<Query> {
    let path = |s: f64| -> [f64; 2] {
        match scene.kind {
            Kind::Hills { .. } => [200.0 * (s / 200.0).cos(), 200.0 * (s / 200.0 * 0.9).sin()],
            Kind::City => {
                let (x, y) = (100.0 + s + CITY_SHIFT[0], 400.0 + 6.0 * (s / 12.0).sin() + CITY_SHIFT[1]);
                let (sin, cos) = CITY_ANGLE.sin_cos();
                [cos * x - sin * y, sin * x + cos * y]
            }
            Kind::Strip => on_road((s * 0.95).min(247.0), 0.4 * (s / 9.0).sin()),
        }
    };
    // Under the city's bridges; on top elsewhere.
    let start = if scene.kind == Kind::City { street(100.0, 400.0) } else { 1e9 };
    let mut ground = [start; WHEELS];
    let mut queries = Vec::with_capacity(n);
    for step in 0.. {
        let s = 1.0 + f64::from(step) * 0.02;
        let ([x, y], [ahead_x, ahead_y]) = (path(s), path(s + 0.05));
        let (sin, cos) = (ahead_y - y).atan2(ahead_x - x).sin_cos();
        let from_body = |along: f64, left: f64| [x + cos * along - sin * left, y + sin * along + cos * left];
        for (wheel, (along, left)) in [(1.4, 0.8), (1.4, -0.8), (-1.4, 0.8), (-1.4, -0.8)].into_iter().enumerate() {
            let [hub_x, hub_y] = from_body(along, left);
            let z = reference.closest([hub_x, hub_y, ground[wheel]]).expect("a drive stays on the ground");
            ground[wheel] = z;
            for p in 0..PATCH_POINTS {
                let [x, y] = from_body(along + (p % 5) as f64 * 0.045 - 0.09, left + (p / 5) as f64 * 0.15 - 0.075);
                queries.push(Query { at: [x, y, z + 0.3], reach: 1.0 });
            }
        }
        if queries.len() >= n {
            break;
        }
    }
    queries.truncate(n);
    queries
}

/// Uniform over the hills as a height field; -0.3..1 m above them.
pub fn on_field(n: usize) -> Vec<Query> {
    let mut rng = Rng(3);
    let mut point = || {
        let (x, y) = (rng.range(-1000.0, 1000.0), rng.range(-1000.0, 1000.0));
        Query { at: [x, y, scenes::hills(x + 1000.0, y + 1000.0) + rng.range(-0.3, 1.0)], reach: REACH }
    };
    (0..n).map(|_| point()).collect()
}
