//! Duplicates, vertical and steep faces, outliers: left out, counted, named.

use crate::common::lattice_scene;
use hardpan::Terrain;
use hardpan_builder::demo::fixtures;
use hardpan_builder::{BuildError, Material, Options, Outliers, Scene, Triangle, build, repair};
use verification::oracle::Oracle;
use verification::random::{Random, points};

#[test]
fn vt_15_planted_duplicates_are_counted_and_change_no_answer() {
    let scene = fixtures::soup(15);
    let mut planted = scene.clone();
    let mut r = Random(15);
    // of triangles that have plan area, on vertices of their own, from any corner, of equal rank or a later name
    let area2 = |t: &Triangle| {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let given: Vec<Triangle> = scene.triangles.iter().copied().filter(|t| area2(t).abs() > 1e-3).collect();
    for _ in 0..1000 {
        let mut t = given[r.below(given.len())];
        let looks_up = area2(&t) > 0.0;
        let first = planted.positions.len() as u32;
        planted.positions.extend(t.v.map(|v| scene.positions[v as usize]));
        t.v = [first, first + 1, first + 2];
        t.v.rotate_left(r.below(3));
        if r.below(2) == 0 && looks_up {
            t.v.swap(0, 1); // one that looks down would answer if it looked up
        }
        planted.triangles.push(t);
    }
    let [before, after] = [&scene, &planted].map(|s| build(s, &Options::default()).unwrap());
    assert_eq!(after.report.duplicates - before.report.duplicates, 1000);
    assert_eq!(after.report.triangles, before.report.triangles);
    let [a, b] = [&before, &after].map(|b| Terrain::open_verified(&b.image).unwrap());
    assert_eq!(a.identity(), b.identity());
    for p in points(&Oracle::new(&scene), 2000, 1) {
        assert_eq!(a.closest(p), b.closest(p), "{p:?}");
    }
}

#[test]
fn vt_15_of_coincident_triangles_the_highest_priority_stays() {
    let corners = [[0, 0, 0], [900, 0, 0], [0, 900, 0]];
    let faces = [([0, 1, 2], 2, 1), ([1, 2, 0], 3, 0), ([2, 1, 0], 1, 1), ([0, 2, 1], 1, 0)];
    let triangles = faces.map(|(v, material, source)| Triangle { v, material, source });
    let mut scene = lattice_scene(&corners, triangles.into());
    let all = scene.triangles.clone();
    let stays = |scene: &hardpan_builder::Scene| {
        let (ground, report) = repair(scene, &Options::default()).unwrap();
        assert_eq!((report.duplicates, ground.triangles.len()), (scene.triangles.len() as u64 - 1, 1));
        let t = ground.triangles[0];
        (ground.materials[usize::from(t.material)].name.clone(), ground.sources[usize::from(t.source)].clone())
    };
    assert_eq!(stays(&scene), ("c".into(), "t".into()), "those of b look down; ties by name");
    scene.materials[3].priority = 7;
    assert_eq!(stays(&scene), ("d".into(), "s".into()));
    scene.materials[2].priority = 8;
    assert_eq!(stays(&scene), ("c".into(), "t".into()));
    scene.materials[1].priority = 9;
    assert_eq!(stays(&scene), ("b".into(), "s".into()), "a priority goes before the side");
    scene.materials.iter_mut().for_each(|m| m.priority = -3);
    assert_eq!(stays(&scene), ("c".into(), "t".into()));
    // what looks up in one of its places looks up
    scene.triangles.push(Triangle { v: [2, 0, 1], material: 1, source: 1 });
    assert_eq!(stays(&scene), ("b".into(), "t".into()));
    // those that all look one way have the rule of their names
    for keep in [0, 2] {
        let mut scene = scene.clone();
        scene.triangles = all[keep..keep + 2].to_vec();
        assert_eq!(stays(&scene), [("c".into(), "t".into()), ("b".into(), "s".into())][keep / 2]);
    }
}

#[test]
fn cg_07_vertical_faces_are_counted_and_change_no_height() {
    let scene = fixtures::curb();
    let mut without = scene.clone();
    without.triangles.retain(|t| t.v.iter().any(|&v| scene.positions[v as usize][0] != 0.0));
    let [with, without] = [&scene, &without].map(|s| build(s, &Options::default()).unwrap());
    assert_eq!(
        (with.report.left_out.vertical, without.report.left_out.vertical),
        (2, 0),
        "the kerb's face has two triangles"
    );
    let [a, b] = [&with, &without].map(|b| Terrain::open_verified(&b.image).unwrap());
    for p in points(&Oracle::new(&scene), 1000, 7) {
        assert_eq!(a.closest(p), b.closest(p), "{p:?}");
    }
}

#[test]
fn cg_08_steep_faces_go_from_a_limit_on() {
    // a floor, and walls of 45, 80 and 89.9 degrees, towards different sides
    let wall = |k: i64, degrees: f64| {
        let rise = (4096.0 * degrees.to_radians().tan() * 16.0) as i64;
        let (x, z) = (k * 20_000, rise);
        match k % 2 {
            0 => [[x, 0, 0], [x + 4096, 0, z], [x, 9000, 0]],
            _ => [[x, 0, 0], [x + 9000, 0, 0], [x, 4096, z]],
        }
    };
    let degrees = [0.0, 44.9, 45.1, 80.0, 89.9];
    let corners: Vec<[i64; 3]> = degrees.iter().zip(0..).flat_map(|(&d, k)| wall(k, d)).collect();
    let triangles = (0..5).map(|k| Triangle { v: [3 * k, 3 * k + 1, 3 * k + 2], material: 0, source: 0 }).collect();
    let scene = lattice_scene(&corners, triangles);
    for (limit, kept) in [(None, 5), (Some(89.95), 5), (Some(85.0), 4), (Some(45.0), 2), (Some(0.1), 1)] {
        let r = repair(&scene, &Options { max_slope: limit, ..Options::default() }).unwrap().1;
        assert_eq!((r.triangles, r.left_out.steep), (kept, 5 - kept), "{limit:?}");
    }
    for limit in [0.0, 90.0, -3.0, f64::NAN] {
        let refused = repair(&scene, &Options { max_slope: Some(limit), ..Options::default() });
        assert!(matches!(refused, Err(BuildError::Option(_))), "{limit}");
    }
}

#[test]
fn outliers_are_named_and_do_not_move_the_origin() {
    let mut scene = fixtures::town(1);
    let alone = repair(&scene, &Options::default()).unwrap().0;
    scene.sources.push("stray".into());
    let first = scene.positions.len() as u32;
    scene.positions.extend([[0.0, 0.0, 0.0], [3e7, 1.0, 0.0], [0.0, 2e7, 0.0]]);
    for k in 0..3u16 {
        scene.triangles.push(Triangle { v: [first, first + 1, first + 2], material: 0, source: (k + 1) % 2 });
    }
    // all of one source and most of the area of the other lost: no image, and the message says whose it is, where, and
    // what to do
    let stopped = |scene: &Scene| {
        let error = build(scene, &Options::default()).err().unwrap();
        assert!(matches!(error, BuildError::OutsideDomain { .. }), "{error}");
        let words =
            ["\"stray\"", "(30000000, 1, 0), 100 % of it", "of (0, 0, 0)", "524288 m", "include = false", "coarser"];
        for word in words.iter().chain(&["move it here", "outliers = \"drop\""]) {
            assert!(error.to_string().contains(word), "{error}");
        }
    };
    stopped(&scene);
    let drop = Options { outliers: Outliers::Drop, ..Options::default() };
    let (ground, report) = repair(&scene, &drop).unwrap();
    assert_eq!(ground.triangles.len(), alone.triangles.len());
    let named: Vec<(&str, u64, [f64; 3])> = report.outliers.iter().map(|o| (&*o.source, o.triangles, o.at)).collect();
    assert_eq!(named, [("stray", 2, [3e7, 1.0, 0.0]), ("fixture", 1, [3e7, 1.0, 0.0])]);
    assert_eq!(report.outside, 3);
    // without those of its own it loses nothing, and needs no word
    let kept = Scene { triangles: scene.triangles[..scene.triangles.len() - 3].to_vec(), ..scene.clone() };
    assert_eq!(repair(&kept, &Options::default()).unwrap().1.outside, 0);
    // any number of triangles beside the strays changes nothing
    scene.triangles.extend(kept.triangles.iter().copied().cycle().take(100 * kept.triangles.len()));
    stopped(&scene);
}

/// A single triangle may be most of a source.
#[test]
fn a_source_of_which_most_area_lies_outside_stops_the_build() {
    let far = |side: i64| {
        let small = [[0, 0, 9], [4096, 0, 9], [0, 4096, 9], [8192, 8192, 9]];
        let corners = [[0, 0, 0], [side, 0, 0], [0, side, 0]].into_iter().chain(small).collect::<Vec<_>>();
        let v = [[0, 1, 2], [3, 4, 5], [4, 6, 5]];
        lattice_scene(&corners, v.map(|v| Triangle { v, ..Triangle::default() }).into())
    };
    let refused = build(&far(600_000 << 12), &Options::default());
    let Err(BuildError::OutsideDomain { outliers, .. }) = refused else { panic!("it was built, or fails otherwise") };
    assert_eq!((outliers[0].triangles, outliers[0].of), (1, 3));
    assert!(outliers[0].share > 0.999_999 && outliers[0].share < 1.0);
    let drop = Options { outliers: Outliers::Drop, ..Options::default() };
    assert_eq!(repair(&far(600_000 << 12), &drop).unwrap().1.outside, 1);
    assert_eq!(repair(&far(500_000 << 12), &Options::default()).unwrap().1.outside, 0);
}

/// Parts that are left out on purpose are no outliers, and the rest is where the origin is.
#[test]
fn what_is_not_included_stops_no_build() {
    let mut scene = fixtures::town(1);
    let alone = repair(&scene, &Options::default()).unwrap().0.triangles.len();
    let first = scene.positions.len() as u32;
    let many = 2 * first;
    scene.positions.extend((0..many).map(|i| [3e7 + f64::from(i), f64::from(i % 7), 0.0]));
    scene.sources.push("far".into());
    scene.materials.push(Material::new("far", 1.0));
    let [material, source] = [scene.materials.len() - 1, scene.sources.len() - 1].map(|n| n as u16);
    let v = |i: u32| [first + i, first + i + 1, first + i + 2];
    scene.triangles.extend((0..many - 2).map(|i| Triangle { v: v(i), material, source }));
    assert!(matches!(build(&scene, &Options::default()), Err(BuildError::OutsideDomain { .. })));
    for obstacle in [false, true] {
        let far = scene.materials.last_mut().unwrap();
        (far.include, far.obstacle) = (obstacle, obstacle);
        let (ground, report) = repair(&scene, &Options::default()).unwrap();
        assert_eq!((ground.triangles.len(), report.outside), (alone, 0));
        assert_eq!(report.left_out.excluded + report.left_out.obstacles, u64::from(many) - 2);
    }
}
