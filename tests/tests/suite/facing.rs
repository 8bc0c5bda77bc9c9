//! Undersides and obstacles are no ground.

use crate::common::lattice_scene;
use hardpan::{Status, Terrain};
use hardpan_builder::{Options, Scene, Triangle, Undersides, against, build, fixtures, repair};
use verification::oracle::Oracle;

/// A box of 100 x 100 x 10,000 steps: twelve triangles, outside out, the first two its bottom.
fn closed_box() -> Scene {
    let corners: Vec<[i64; 3]> = (0..8).map(|k| [100 * (k & 1), 100 * (k >> 1 & 1), 10_000 * (k >> 2)]).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]];
    let triangles = sides
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .map(|v| Triangle { v, material: 0, source: 0 })
        .collect();
    lattice_scene(&corners, triangles)
}

fn turned(mut scene: Scene) -> Scene {
    scene.triangles.iter_mut().for_each(|t| t.v.swap(0, 1));
    scene
}

/// Triangles stored, ceilings, vertical ones.
fn counts(scene: &Scene, undersides: Undersides) -> [u64; 3] {
    let r = repair(scene, &Options { undersides, ..Options::default() }).unwrap().1;
    assert_eq!(r.triangles_in, r.triangles + r.ceilings + r.vertical + r.collapsed + r.duplicates);
    [r.triangles, r.ceilings, r.vertical]
}

#[test]
fn the_bottom_of_a_closed_box_is_a_ceiling() {
    let scene = closed_box();
    assert_eq!(counts(&scene, Undersides::Auto), [2, 2, 8]);
    assert_eq!(counts(&turned(scene.clone()), Undersides::Auto), [2, 2, 8], "whichever way it is wound");
    assert_eq!(counts(&scene, Undersides::Ground), [4, 0, 8]);
    assert_eq!(counts(&scene, Undersides::Ceiling), [2, 2, 8]);
    assert_eq!(counts(&turned(scene.clone()), Undersides::Ceiling), [2, 2, 8], "the top, which its winding calls one");
    for scene in [scene.clone(), turned(scene)] {
        let built = build(&scene, &Options::default()).unwrap();
        let t = Terrain::open_verified(&built.image).unwrap();
        let below = t.closest([0.01, 0.01, 0.001]);
        assert_eq!(
            (below.status, t.z_f64(&below.hit)),
            (Status::Found, 10_000.0 / 65536.0),
            "from just above the bottom"
        );
    }
}

#[test]
fn of_a_box_that_is_not_exactly_closed_everything_is_ground() {
    let mut open = closed_box();
    open.triangles.truncate(11);
    assert_eq!(counts(&open, Undersides::Auto), [4, 0, 7]);
    let mut wound = closed_box();
    wound.triangles[11].v.swap(0, 1);
    assert_eq!(counts(&wound, Undersides::Auto), [4, 0, 8], "one triangle against all others");
    let mut doubled = closed_box();
    doubled.triangles.extend(closed_box().triangles);
    let r = repair(&doubled, &Options::default()).unwrap().1;
    assert_eq!((r.triangles, r.ceilings, r.duplicates), (4, 0, 4), "every edge twice");
    let mut two = closed_box();
    two.triangles[0].source = 1;
    assert_eq!(counts(&two, Undersides::Auto), [4, 0, 8], "a box of two sources");
    let mut beyond = closed_box();
    let first = beyond.positions.len() as u32;
    beyond.positions.extend([[1e9, 0.0, 0.0], [1e9, 1.0, 0.0], [1e9, 0.0, 1.0]]);
    beyond.triangles.push(Triangle { v: [first, first + 1, first + 2], material: 0, source: 0 });
    assert_eq!(repair(&beyond, &Options::default()).unwrap().1.ceilings, 0, "part of it lies outside");
}

#[test]
fn a_sheet_with_two_sides_is_ground() {
    let mut scene = lattice_scene(&[[0, 0, 0], [500, 0, 7], [0, 500, 9]], Vec::new());
    scene.triangles = [[0, 1, 2], [0, 2, 1]].map(|v| Triangle { v, material: 0, source: 0 }).into();
    let r = repair(&scene, &Options::default()).unwrap().1;
    assert_eq!((r.triangles, r.duplicates, r.ceilings), (1, 1, 0), "closed, but without volume");
}

#[test]
fn each_source_is_judged_by_itself_and_a_material_may_say_otherwise() {
    // a box inside out, one outside out, and ground wound at will around them
    let mut scene = closed_box();
    for (k, shift) in [(1, 500i64), (2, 1000)] {
        let other = if k == 1 { turned(closed_box()) } else { closed_box() };
        let first = scene.positions.len() as u32;
        let east = shift as f64 / 4096.0;
        scene.positions.extend(other.positions.iter().map(|p| [p[0] + east, p[1], p[2]]));
        scene.triangles.extend(other.triangles.iter().map(|t| Triangle {
            v: t.v.map(|v| v + first),
            source: k,
            material: k,
        }));
    }
    scene.sources.push("u".into());
    assert_eq!(counts(&scene, Undersides::Auto), [6, 6, 24]);
    scene.materials[2].undersides = Some(Undersides::Ground);
    assert_eq!(counts(&scene, Undersides::Auto), [8, 4, 24]);
    scene.materials[1].undersides = Some(Undersides::Ceiling);
    assert_eq!(counts(&scene, Undersides::Ground), [4 + 2 + 4, 2, 24]);
    let (ground, _) = repair(&scene, &Options::default()).unwrap();
    let tops = ground.triangles.iter().filter(|t| t.material == 0);
    assert!(tops.clone().count() == 2 && tops.flat_map(|t| t.v).all(|v| ground.positions[v as usize][2] > 0.1));
}

/// Boxes of one source, their corners moved and stretched so: outside out, and inside out.
fn boxes(those: &[(bool, [f64; 3], f64)]) -> Scene {
    let mut scene = closed_box();
    let (corners, sides) = (std::mem::take(&mut scene.positions), std::mem::take(&mut scene.triangles));
    for (inside_out, by, size) in those {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners.iter().map(|p| [0, 1, 2].map(|i| size * p[i] + by[i])));
        scene.triangles.extend(sides.iter().map(|t| {
            let [a, b, c] = t.v.map(|v| v + first);
            Triangle { v: if *inside_out { [a, c, b] } else { [a, b, c] }, ..*t }
        }));
    }
    scene
}

/// Heights of what is ground over a place.
fn heights(scene: &Scene, place: [f64; 2]) -> Vec<f64> {
    let built = build(scene, &Options { stitch: None, ..Options::default() }).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    let mut hits = [hardpan::Hit::NONE; 8];
    let count = t.layers([place[0], place[1], 0.0], &mut hits).written;
    let agreed = against(&t, scene, &Options::default(), 1000);
    let undersides = agreed.lost.iter().find(|l| l.cause == "underside").map(|l| l.triangles);
    assert!(agreed.holds() && undersides == Some(built.report.ceilings), "{agreed:?}");
    hits[..count].iter().map(|hit| t.z_f64(hit)).collect()
}

/// Parts of one object that are mirrored, as tools that join meshes leave them.
#[test]
fn a_shell_is_judged_by_itself_unless_it_may_be_a_cavity_of_the_one_around_it() {
    let high = 10_000.0 / 65536.0;
    let row: Vec<_> = (0..10).map(|k| (k == 3, [f64::from(k), 0.0, 0.0], 1.0)).collect();
    for k in 0..10 {
        assert_eq!(heights(&boxes(&row), [f64::from(k) + 0.01, 0.01]), [high], "box {k}");
    }
    // as many of one kind as of the other
    let two = [(false, [0.0; 3], 1.0), (true, [1.0, 0.0, 0.0], 1.0)];
    assert_eq!([0.01, 1.01].map(|x| heights(&boxes(&two), [x, 0.01])), [[high], [high]]);
    // a hall: its floor is ground, and its ceiling is none; whatever is beside it, small or large
    for inside_out in [false, true] {
        for beside in [None, Some((false, 0.5)), Some((true, 0.5)), Some((false, 9.0)), Some((true, 9.0))] {
            let mut all = vec![(inside_out, [0.0; 3], 4.0), (!inside_out, [0.025, 0.025, 0.125], 2.0)];
            all.extend(beside.map(|(inside_out, size)| (inside_out, [1.0, 0.0, 0.0], size)));
            let said = format!("{inside_out}, {beside:?}");
            assert_eq!(heights(&boxes(&all), [0.07, 0.07]), [4.0 * high, 0.125], "{said}");
            if let Some((_, size)) = beside {
                assert_eq!(heights(&boxes(&all), [1.001, 0.001]), [size * high], "{said}");
            }
            // a table in the hall, and one that is mirrored
            for way in [inside_out, !inside_out] {
                all.push((way, [0.03, 0.03, 0.125], 0.5));
                let expected = [4.0 * high, 0.125 + 0.5 * high, 0.125];
                assert_eq!(heights(&boxes(&all), [0.031, 0.031]), expected, "{said}, {way}");
                all.pop();
            }
        }
    }
}

#[test]
fn open_fixtures_keep_every_triangle() {
    for scene in [fixtures::bridge(), fixtures::curb(), fixtures::town(2), fixtures::soup(3)] {
        let all = repair(&scene, &Options { stitch: None, ..Options::default() }).unwrap().1;
        assert_eq!((all.ceilings, all.triangles), (0, Oracle::new(&scene).len() as u64));
    }
}

#[test]
fn obstacles_and_excluded_materials_are_left_out() {
    let mut scene = fixtures::mats();
    scene.materials[1].include = false;
    scene.materials[2].obstacle = true;
    let built = build(&scene, &Options::default()).unwrap();
    let r = &built.report;
    assert_eq!((r.triangles, r.excluded, r.obstacles), (2, 2, 2));
    let t = Terrain::open_verified(&built.image).unwrap();
    let found = [5.0, 15.0, 25.0].map(|x| t.closest([x, 5.0, 0.0]).found());
    assert_eq!(found, [true, false, false]);
    let names: Vec<&str> = (0..3).map(|m| t.material_name(m)).collect();
    assert_eq!(names, ["", "Concrete", "Grass"], "the table keeps them");
    let flags: Vec<u32> = t.materials().iter().map(|m| m.flags).collect();
    assert_eq!(flags, [1, 0, 0]);
    scene.materials.iter_mut().for_each(|m| m.include = false);
    assert!(build(&scene, &Options::default()).is_err(), "no ground is left");
}
