//! Faults along the borders of a mesh, and the distance of two meshes: by brute force.

use hardpan_builder::Scene;
use std::collections::{BTreeMap, BTreeSet};

/// A point in lattice steps.
pub type Point = [i64; 3];

/// The triangles of a scene that has exact lattice points, at the default steps.
pub fn triangles(scene: &Scene) -> Vec<[Point; 3]> {
    let place = |v: u32| {
        let p = scene.positions[v as usize];
        let steps = [p[0] * 4096.0, p[1] * 4096.0, p[2] * 65536.0];
        assert!(steps.iter().all(|s| s.fract() == 0.0), "{p:?} is no lattice point");
        steps.map(|s| s as i64)
    };
    scene.triangles.iter().map(|t| t.v.map(place)).collect()
}

/// Edges with all their triangles, 64 at most, on one side in plan, once for each of these: lesser end, greater end,
/// apex of the triangle.
pub fn open_edges(triangles: &[[Point; 3]]) -> Vec<[Point; 3]> {
    let mut users: BTreeMap<[Point; 2], Vec<Point>> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            users.entry([a.min(b), a.max(b)]).or_default().push(t[(k + 2) % 3]);
        }
    }
    let left = |[a, b]: [Point; 2], p: &Point| (b[0] - a[0]) * (p[1] - a[1]) > (b[1] - a[1]) * (p[0] - a[0]);
    let one_sided = |(e, apexes): &([Point; 2], Vec<Point>)| {
        apexes.len() <= 64 && apexes.iter().all(|p| left(*e, p) == left(*e, &apexes[0]))
    };
    users
        .into_iter()
        .filter(one_sided)
        .flat_map(|([a, b], apexes)| apexes.into_iter().map(move |p| [a, b, p]))
        .collect()
}

/// A seam that ought to be closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seam {
    /// Two open vertices within the threshold that no chain of edges links within the threshold of both.
    Ends(Point, Point),
    /// An open edge, and within the threshold an open vertex, of none of its triangles, whose foot lies inside the
    /// edge.
    Beside([Point; 2], Point),
}

/// All seams within so many steps in plan and in height.
pub fn seams(triangles: &[[Point; 3]], plan: i64, height: i64) -> Vec<Seam> {
    let open = open_edges(triangles);
    let vertices: Vec<Point> = open.iter().flat_map(|e| [e[0], e[1]]).collect::<BTreeSet<_>>().into_iter().collect();
    let linked: BTreeSet<[Point; 2]> = triangles
        .iter()
        .flat_map(|t| [(0, 1), (1, 2), (0, 2)].map(|(i, j)| [t[i].min(t[j]), t[i].max(t[j])]))
        .collect();
    // vertices lie in order of x: those in reach of an edge are one run of them
    let run = |low: i64, high: i64| {
        let from = vertices.partition_point(|v| v[0] < low - plan);
        vertices[from..].iter().take_while(move |v| v[0] <= high + plan)
    };
    let near = |a: Point, b: Point| {
        let d = [0, 1, 2].map(|k| b[k] - a[k]);
        d[0] * d[0] + d[1] * d[1] <= plan * plan && d[2].abs() <= height
    };
    let chained = |a: Point, b: Point| {
        let all: Vec<Point> = run(a[0], a[0]).copied().filter(|&c| near(c, a) && near(c, b)).collect();
        let mut reached = BTreeSet::from([a]);
        loop {
            let new: Vec<Point> = all
                .iter()
                .copied()
                .filter(|c| !reached.contains(c) && reached.iter().any(|r| linked.contains(&[*c.min(r), *c.max(r)])))
                .collect();
            if new.is_empty() {
                return reached.contains(&b);
            }
            reached.extend(new);
        }
    };
    let mut found = Vec::new();
    for &a in &vertices {
        for &b in run(a[0], a[0]).filter(|&&b| b > a && near(a, b)) {
            if !chained(a, b) {
                found.push(Seam::Ends(a, b));
            }
        }
    }
    let users = |ends: &[Point; 2]| {
        let ends = *ends;
        let from = open.partition_point(|e| e[..2] < ends[..]);
        open[from..].iter().take_while(move |e| e[..2] == ends)
    };
    for &[a, b, _] in &open {
        let [low, high] = [a[1].min(b[1]) - plan, a[1].max(b[1]) + plan];
        for &v in run(a[0].min(b[0]), a[0].max(b[0])).filter(|v| (low..=high).contains(&v[1])) {
            if v == a || v == b || users(&[a, b]).any(|e| e[2] == v) {
                continue;
            }
            let d = [0, 1, 2].map(|k| i128::from(b[k] - a[k]));
            let w = [0, 1, 2].map(|k| i128::from(v[k] - a[k]));
            let (length, foot, off) = (d[0] * d[0] + d[1] * d[1], w[0] * d[0] + w[1] * d[1], w[0] * d[1] - w[1] * d[0]);
            let near = off * off <= i128::from(plan * plan) * length;
            let level = (w[2] * length - foot * d[2]).abs() <= i128::from(height) * length;
            if 0 < foot && foot < length && near && level {
                found.push(Seam::Beside([a, b], v));
            }
        }
    }
    found
}

/// Whether a triangle has a place at most `h` steps in plan and `v` steps in height from a point.
fn within(t: &[Point; 3], p: [f64; 3], h: f64, v: f64) -> bool {
    let c = t.map(|c| [c[0] as f64 - p[0], c[1] as f64 - p[1], c[2] as f64 - p[2]]);
    let cross = |a: [f64; 3], b: [f64; 3]| a[0] * b[1] - a[1] * b[0];
    let sub = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|k| a[k] - b[k]);
    // the heights over the part of the disc that the triangle covers lie between those of its extreme places
    let (u, w) = (sub(c[1], c[0]), sub(c[2], c[0]));
    let area = cross(u, w);
    let slope = [(u[2] * w[1] - w[2] * u[1]) / area, (w[2] * u[0] - u[2] * w[0]) / area];
    let z = |x: f64, y: f64| c[0][2] + slope[0] * (x - c[0][0]) + slope[1] * (y - c[0][1]);
    let inside = |x: f64, y: f64| {
        (0..3).all(|k| cross(sub(c[(k + 1) % 3], c[k]), sub([x, y, 0.0], c[k])) * area.signum() >= 0.0)
    };
    let steepest = slope[0].hypot(slope[1]);
    let up = if steepest > 0.0 { slope.map(|s| s / steepest * h) } else { [0.0; 2] };
    let mut heights: Vec<f64> =
        [[0.0; 2], up, up.map(|s| -s)].iter().filter(|q| inside(q[0], q[1])).map(|q| z(q[0], q[1])).collect();
    for k in 0..3 {
        let (a, d) = (c[k], sub(c[(k + 1) % 3], c[k]));
        if a[0].hypot(a[1]) <= h {
            heights.push(a[2]);
        }
        // where the edge enters and leaves the disc
        let (aa, ad, dd) = (a[0] * a[0] + a[1] * a[1], a[0] * d[0] + a[1] * d[1], d[0] * d[0] + d[1] * d[1]);
        let root = ad * ad - dd * (aa - h * h);
        if root >= 0.0 {
            let ts = [(-ad - root.sqrt()) / dd, (-ad + root.sqrt()) / dd];
            heights.extend(ts.iter().filter(|t| (0.0..=1.0).contains(*t)).map(|t| a[2] + t * d[2]));
        }
    }
    let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    low <= v && high >= -v
}

/// Places of one mesh that have none of the other within `h` steps in plan and `v` in height: corners, and places on
/// the edges and inside.
pub fn lost(from: &[[Point; 3]], to: &[[Point; 3]], [h, v]: [f64; 2]) -> Vec<[f64; 3]> {
    let boxes: Vec<[f64; 4]> = to
        .iter()
        .map(|t| {
            let c = |k: usize| t.map(|p| p[k] as f64);
            let low = |c: [f64; 3]| c[0].min(c[1]).min(c[2]) - h;
            let high = |c: [f64; 3]| c[0].max(c[1]).max(c[2]) + h;
            [low(c(0)), low(c(1)), high(c(0)), high(c(1))]
        })
        .collect();
    let weights = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.5, 0.5, 0.0],
        [0.25, 0.0, 0.75],
        [0.0, 0.625, 0.375],
        [0.25, 0.25, 0.5],
        [0.875, 0.0625, 0.0625],
        [0.125, 0.75, 0.125],
    ];
    let places = from.iter().flat_map(|t| {
        weights.map(|w| [0, 1, 2].map(|k| w[0] * t[0][k] as f64 + w[1] * t[1][k] as f64 + w[2] * t[2][k] as f64))
    });
    let slack = 1e-6; // for the arithmetic here
    places
        .filter(|p| {
            let near = |b: &[f64; 4]| b[0] <= p[0] && p[0] <= b[2] && b[1] <= p[1] && p[1] <= b[3];
            !to.iter().zip(&boxes).any(|(t, b)| near(b) && within(t, *p, h + slack, v + slack))
        })
        .collect()
}

/// How much higher or lower ground may lie to go on a sheet, steps of height: a quarter of a metre.
pub const LEVEL: f64 = 16_384.0;

/// The borders of the closed union of triangles, as pieces of their edges: along them no other triangle, up to so many
/// steps higher or lower, lies just outside.
pub fn rims(triangles: &[[Point; 3]], level: f64) -> Vec<[[f64; 3]; 2]> {
    let cross = |o: Point, a: Point, b: Point| {
        let d = |p: Point, k: usize| i128::from(p[k] - o[k]);
        d(a, 0) * d(b, 1) - d(a, 1) * d(b, 0)
    };
    let upward = |t: &[Point; 3]| if cross(t[0], t[1], t[2]) > 0 { *t } else { [t[0], t[2], t[1]] };
    let all: Vec<[Point; 3]> = triangles.iter().map(upward).collect();
    let float = |p: Point| p.map(|v| v as f64);
    let mut rims = Vec::new();
    for t in &all {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            let covers = |c: &[Point; 3]| {
                let (mut from, mut to) = (0.0f64, 1.0f64);
                let mut keep = |at_a: f64, at_b: f64| {
                    // where a function that is linear along the edge is not below zero
                    let root = at_a / (at_a - at_b);
                    match (at_a < 0.0, at_b < 0.0) {
                        (false, false) => {}
                        (true, true) => to = -1.0,
                        (true, false) => from = from.max(root),
                        (false, true) => to = to.min(root),
                    }
                };
                for j in 0..3 {
                    let (p, q) = (c[j], c[(j + 1) % 3]);
                    let [at_a, at_b] = [cross(p, q, a), cross(p, q, b)];
                    if (at_a, at_b) == (0, 0) {
                        let runs = (q[0] - p[0]) * (b[0] - a[0]) + (q[1] - p[1]) * (b[1] - a[1]);
                        keep(-(runs as f64), -(runs as f64)); // along the edge: outside is the other way's inside
                    } else {
                        keep(at_a as f64, at_b as f64);
                    }
                }
                let off = [a, b].map(|p| height(c, float(p)) - p[2] as f64);
                keep(level - off[0], level - off[1]);
                keep(level + off[0], level + off[1]);
                (from < to).then_some([from, to])
            };
            let is_near = |c: &&[Point; 3]| {
                (0..2).all(|k| {
                    let [low, high] = [a[k].min(b[k]), a[k].max(b[k])];
                    c.iter().any(|p| p[k] >= low) && c.iter().any(|p| p[k] <= high)
                })
            };
            let mut covered: Vec<[f64; 2]> = all.iter().filter(is_near).filter_map(covers).collect();
            covered.sort_by(|a, b| a[0].total_cmp(&b[0]));
            covered.push([1.0, 1.0]);
            let at = |s: f64| [0, 1, 2].map(|k| a[k] as f64 + s * (b[k] - a[k]) as f64);
            let mut reached = 0.0;
            for [from, to] in covered {
                if from - reached > 1e-9 {
                    rims.push([at(reached), at(from)]);
                }
                reached = to.max(reached);
            }
        }
    }
    rims
}

/// The height of a triangle's plane over a place.
pub fn height(t: &[Point; 3], p: [f64; 3]) -> f64 {
    let d = |q: Point| [0, 1, 2].map(|k| (q[k] - t[0][k]) as f64);
    let (u, w) = (d(t[1]), d(t[2]));
    let v = [0, 1].map(|k| p[k] - t[0][k] as f64);
    let area = u[0] * w[1] - u[1] * w[0];
    t[0][2] as f64 + ((v[0] * w[1] - v[1] * w[0]) * u[2] + (u[0] * v[1] - u[1] * v[0]) * w[2]) / area
}

/// How far a place lies from a piece of a border in plan, and how much higher or lower the border is there.
pub fn off([a, b]: [[f64; 3]; 2], p: [f64; 3]) -> [f64; 2] {
    let d = [0, 1, 2].map(|k| b[k] - a[k]);
    let length = d[0] * d[0] + d[1] * d[1];
    let s = (((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / length).clamp(0.0, 1.0);
    let at = [0, 1, 2].map(|k| a[k] + s * d[k]);
    [(at[0] - p[0]).hypot(at[1] - p[1]), (at[2] - p[2]).abs()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: [Point; 3] = [[0, 0, 0], [100, 0, 0], [0, 100, 50]];

    #[test]
    fn a_place_is_near_where_a_ruler_says_so() {
        let near = |p: [f64; 3], h, v| within(&FLOOR, p, h, v);
        assert!(near([10.0, 0.0, 0.0], 0.0, 0.0) && near([10.0, 10.0, 5.0], 0.0, 0.0));
        assert!(!near([10.0, 10.0, 6.0], 0.0, 0.9) && near([10.0, 10.0, 6.0], 0.0, 1.1));
        assert!(
            near([10.0, 10.0, 6.0], 2.1, 0.0) && !near([10.0, 10.0, 6.0], 1.9, 0.0),
            "two steps north it is so high"
        );
        assert!(near([50.0, -3.0, 0.0], 3.1, 0.0) && !near([50.0, -3.0, 0.0], 2.9, 9.0));
        assert_eq!(lost(&[FLOOR], &[FLOOR], [0.0; 2]), [[0.0; 3]; 0]);
        assert!(!lost(&[FLOOR], &[FLOOR.map(|p| [p[0] + 3, p[1], p[2]])], [2.9, 0.0]).is_empty());
    }

    #[test]
    fn a_seam_is_one_where_edges_are_open() {
        let apart = |by: i64| [FLOOR, [[20, -by, 0], [10, -90, 0], [30, -90, 0]]];
        assert_eq!(seams(&apart(4), 4, 0), [Seam::Beside([FLOOR[0], FLOOR[1]], [20, -4, 0])]);
        assert_eq!(seams(&apart(5), 4, 9), []);
        let ends = [FLOOR, FLOOR.map(|p| [-2 - p[0], p[1], 0])];
        assert_eq!(seams(&ends, 2, 0), [Seam::Ends([-2, 0, 0], FLOOR[0])]);
    }
}
