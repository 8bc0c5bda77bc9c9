//! Weld with a threshold.

use crate::common::{lattice_scene, on_threads, shuffled};
use hardpan_builder::{Near, Options, Scene, Triangle, repair};
use std::collections::BTreeSet;
use verification::random::Random;
use verification::seams::{Point, lost, triangles};

const NEAR: Near = Near { plan: 10, height: 30 };

fn options(weld: Near) -> Options {
    Options { weld, stitch: None, ..Options::default() }
}

/// A sheet whose every triangle has corners of its own, off by up to `by` steps.
fn torn(seed: u64, by: i64) -> Scene {
    let mut r = Random(seed);
    let (mut corners, mut faces) = (Vec::new(), Vec::new());
    for j in 0..12i64 {
        for i in 0..12i64 {
            for v in [[[i, j], [i + 1, j], [i + 1, j + 1]], [[i, j], [i + 1, j + 1], [i, j + 1]]] {
                let first = corners.len() as u32;
                corners.extend(v.map(|[x, y]| {
                    [
                        4000 * x + r.within(-by, by),
                        4000 * y + r.within(-by, by),
                        100 * ((x * y) % 7) + r.within(-by, by),
                    ]
                }));
                faces.push(Triangle { v: [first, first + 1, first + 2], material: 0, source: 0 });
            }
        }
    }
    lattice_scene(&corners, faces)
}

fn vertices(triangles: &[[Point; 3]]) -> BTreeSet<Point> {
    triangles.iter().flatten().copied().collect()
}

#[test]
fn a_torn_sheet_becomes_whole() {
    // Any two corners of a post lie in reach of each other, so all take one root.
    for seed in 0..20 {
        let (ground, report) = repair(&torn(seed, 3), &options(NEAR)).unwrap();
        let mesh = triangles(&ground);
        assert_eq!((mesh.len(), vertices(&mesh).len()), (288, 169), "seed {seed}");
        assert_eq!((report.weld.collapsed, report.weld.left), (0, 0));
        let [h, v] = report.weld.moved;
        assert!(h > 0.0 && h <= 10.0 / 4096.0 && v > 0.0 && v <= 30.0 / 65536.0, "{h} {v}");
    }
}

#[test]
fn a_root_is_an_old_vertex_and_nothing_moves_farther_than_the_threshold() {
    for seed in 0..30 {
        let scene = torn(seed, 4 + seed as i64);
        let before = triangles(&repair(&scene, &options(Near::default())).unwrap().0);
        let (ground, report) = repair(&scene, &options(NEAR)).unwrap();
        let after = triangles(&ground);
        assert!(vertices(&after).is_subset(&vertices(&before)), "seed {seed}");
        assert_eq!(vertices(&before).len() - vertices(&after).len(), report.weld.joined as usize);
        let moved = [report.weld.moved[0] * 4096.0, report.weld.moved[1] * 65536.0];
        assert!(moved[0] <= 10.0 && moved[1] <= 30.0);
        assert_eq!(lost(&before, &after, moved), [[0.0; 3]; 0], "seed {seed}");
        assert_eq!(lost(&after, &before, moved), [[0.0; 3]; 0], "seed {seed}");
        // all were decided: no two that stayed lie in reach of each other
        let stayed: Vec<Point> = vertices(&after).into_iter().collect();
        let near = |a: Point, b: Point| (a[0] - b[0]).pow(2) + (a[1] - b[1]).pow(2) <= 100 && (a[2] - b[2]).abs() <= 30;
        let pairs = stayed.iter().enumerate().flat_map(|(i, &a)| stayed[..i].iter().map(move |&b| (a, b)));
        let close = pairs.filter(|&(a, b)| near(a, b)).count() as u64;
        assert!(close == 0 || report.weld.left > 0, "seed {seed}: {close} pairs");
    }
}

/// A reach over everything ends as soon as a small one.
#[test]
fn a_crowd_is_let_be() {
    let n = 150i64;
    let corners: Vec<Point> =
        (0..=n).flat_map(|j| (0..=n).map(move |i| [400 * i, 400 * j, 37 * ((i * j) % 50)])).collect();
    let at = |i: i64, j: i64| (j * (n + 1) + i) as u32;
    let square =
        |i: i64, j: i64| [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]];
    let triangles = (0..n)
        .flat_map(|j| (0..n).flat_map(move |i| square(i, j)))
        .map(|v| Triangle { v, ..Triangle::default() })
        .collect();
    let scene = lattice_scene(&corners, triangles);
    let start = std::time::Instant::now();
    let (ground, report) = repair(&scene, &options(Near { plan: 100_000, height: 100_000 })).unwrap();
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    assert_eq!((report.weld.joined, report.weld.left, ground.triangles.len()), (0, 151 * 151, 45_000));
    assert_eq!(report.weld.crowded, 151 * 151);
}

/// 64 others within reach are welded; 65 are a crowd, which takes in nobody and is counted.
#[test]
fn a_crowd_has_more_than_64_others_within_reach() {
    for others in [63, 64, 65, 66] {
        // triangles with one corner each in a square of 9 x 9 steps, the other two far apart
        let mut corners = Vec::new();
        for k in 0..=others {
            corners.extend([[k % 9 - 4, k / 9 - 4, 0], [5000 + 500 * k, 9000, 0], [9000, -5000 - 500 * k, 0]]);
        }
        let faces = (0..=others as u32).map(|k| Triangle { v: [3 * k, 3 * k + 1, 3 * k + 2], ..Triangle::default() });
        let scene = lattice_scene(&corners, faces.collect());
        let (_, report) = repair(&scene, &options(Near { plan: 12, height: 0 })).unwrap();
        let wanted = if others <= 64 { (others as u64, 0, 0) } else { (0, others as u64 + 1, others as u64 + 1) };
        assert_eq!((report.weld.joined, report.weld.left, report.weld.crowded), wanted, "{others} others");
    }
}

#[test]
fn order_and_threads_decide_nothing() {
    for seed in 0..8 {
        let scene = torn(seed, 9);
        let mesh = |scene: &Scene| triangles(&repair(scene, &options(NEAR)).unwrap().0);
        let one = on_threads(1, || mesh(&scene));
        assert_eq!(one, on_threads(2, || mesh(&scene)));
        assert_eq!(one, mesh(&shuffled(&scene, seed + 1)));
    }
}

#[test]
fn the_origin_decides_nothing() {
    let scene = torn(5, 9);
    let mut far = scene.clone();
    far.positions.iter_mut().for_each(|p| p[0] += 409_600.0);
    // The hash is of absolute places: a scene elsewhere may choose other roots, the same scene beside others may not.
    let mut beside = scene.clone();
    let first = beside.positions.len() as u32;
    beside.positions.extend(far.positions.iter());
    for _ in 0..2 {
        // twice: the median, and with it the origin, goes there
        beside.triangles.extend(far.triangles.iter().map(|t| Triangle { v: t.v.map(|v| v + first), ..*t }));
    }
    beside.positions.extend(far.positions.iter().map(|p| [p[0] + 1000.0, p[1], p[2]]));
    let third = first + far.positions.len() as u32;
    beside.triangles.extend(far.triangles.iter().map(|t| Triangle { v: t.v.map(|v| v + third), ..*t }));
    let alone = triangles(&repair(&scene, &options(NEAR)).unwrap().0);
    let all = triangles(&repair(&beside, &options(NEAR)).unwrap().0);
    let part: Vec<_> = all.into_iter().filter(|t| t[0][0] < 1_000_000).collect();
    assert_eq!(part, alone);
}

#[test]
fn a_needle_that_nothing_else_covers_stays() {
    // two corners in reach of each other: joined, the triangle would be a line that no other triangle has
    let scene =
        lattice_scene(&[[0, 0, 0], [5, 0, 0], [0, 90_000, 0]], vec![Triangle { v: [0, 1, 2], ..Triangle::default() }]);
    let (ground, report) = repair(&scene, &options(NEAR)).unwrap();
    assert_eq!((ground.triangles.len(), report.weld.joined, report.weld.left), (1, 0, 1));
    // with a neighbour along it, it may go
    let scene = lattice_scene(
        &[[0, 0, 0], [5, 0, 0], [0, 90_000, 0], [-70_000, 0, 0], [70_000, 0, 0]],
        [[0, 1, 2], [0, 2, 3], [1, 2, 4]].map(|v| Triangle { v, ..Triangle::default() }).into(),
    );
    let (ground, report) = repair(&scene, &options(NEAR)).unwrap();
    assert_eq!((ground.triangles.len(), report.weld.joined, report.weld.collapsed, report.weld.left), (2, 1, 1, 0));
}
