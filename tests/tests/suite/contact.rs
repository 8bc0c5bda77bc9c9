//! Wheels, chassis points and the terrain sensor against closed forms.

use crate::common::{as_given, image, lattice_scene, shuffled};
use hardpan::{
    Axes, ChassisHit, ChassisPoint, Contact, ContactPoint, ContactStatus, Group, Lattice, Method, Motion, Pattern,
    Pose, PoseError, RayStatus, Sensed, SensorConfig, SensorError, SensorStep, SensorTrace, Setting, Terrain, Tyre,
    Wheel,
};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Image, Material, Options, Rays, Scene, Triangle, build};

/// Rectangles: their low and high corners, heights at the four corners counter-clockwise from the low one, and
/// materials.
#[allow(clippy::type_complexity)] // least and greatest x and y, heights of corners, material
fn plates(all: &[([f64; 2], [f64; 2], [f64; 4], u16)]) -> Scene {
    let mut scene = lattice_scene(&[], Vec::new());
    for &([x, y], [mx, my], [a, b, c, d], material) in all {
        let first = scene.positions.len() as u32;
        scene.positions.extend([[x, y, a], [mx, y, b], [mx, my, c], [x, my, d]]);
        for v in [[0, 1, 2], [0, 2, 3]] {
            scene.triangles.push(Triangle { v: v.map(|k| first + k), material, source: 0 });
        }
    }
    scene
}

fn level(low: [f64; 2], high: [f64; 2], z: f64, material: u16) -> ([f64; 2], [f64; 2], [f64; 4], u16) {
    (low, high, [z; 4], material)
}

/// Zero west of x = 0, and this height from there on.
fn step_of(height: f64) -> Image {
    image(&plates(&[level([-8.0, -8.0], [0.0, 8.0], 0.0, 0), level([0.0, -8.0], [8.0, 8.0], height, 1)]))
}

/// A plane with slopes in x and y, 16 m about the middle.
fn plane(sx: f64, sy: f64) -> Image {
    let z = |x: f64, y: f64| sx * x + sy * y;
    image(&plates(&[([-8.0; 2], [8.0; 2], [z(-8.0, -8.0), z(8.0, -8.0), z(8.0, 8.0), z(-8.0, 8.0)], 0)]))
}

const TYRE: Tyre<'static> = Tyre::new(0.3, 0.25);

fn columns(lattice: Lattice) -> Tyre<'static> {
    Tyre { method: Method::Columns(lattice), ..TYRE }
}

const ALL: [Lattice; 3] = [Lattice::Columns16, Lattice::Columns64, Lattice::Columns256];

fn at(x: f64, y: f64, z: f64) -> Wheel {
    Wheel::at(Pose::at([x, y, z]))
}

fn turned(centre: [f64; 3], degrees: [f64; 3]) -> Pose {
    Pose::turned_by(centre, degrees.map(|d| [d.to_radians().sin(), d.to_radians().cos()]))
}

#[track_caller]
fn near(a: f64, b: f64, most: f64) {
    assert!((a - b).abs() <= most, "{a} is not {b} to {most}");
}

#[track_caller]
fn all_near<const N: usize>(a: [f64; N], b: [f64; N], most: f64) {
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= most), "{a:?} is not {b:?} to {most}");
}

#[test]
fn rf_09_weighted_points() {
    let bytes = step_of(0.1);
    let t = Terrain::open(&bytes).unwrap();
    let point = |x: f64, y: f64, weight: f64| ContactPoint { at: [x, y, 0.0], weight };
    let ask =
        |points: &[ContactPoint], wheel: &Wheel| t.contact(&Tyre { method: Method::Points(points), ..TYRE }, wheel);
    let two = [point(-0.1, 0.0, 1.0), point(0.1, 0.0, 3.0)];
    let c = ask(&two, &at(0.0, 0.0, 0.3));
    assert_eq!(c.status, ContactStatus::Found);
    let lattice = 1.0 / 65536.0;
    near(c.height, 0.075, lattice);
    all_near(c.patch_centre, [0.05, 0.0, 0.075], 1e-4);
    assert_eq!((c.normal, c.coverage, c.hd_share, c.plane_fitted), ([0.0, 0.0, 1.0], 1.0, 0.0, false));
    // only ratios of weights matter
    let more = two.map(|p| ContactPoint { weight: p.weight * 1024.0, ..p });
    assert_eq!(ask(&more, &at(0.0, 0.0, 0.3)), c);
    // one of many is one alone, and `closest` there
    let one = t.contact(&TYRE, &at(0.05, 0.02, 0.3));
    let closest = t.closest([0.05, 0.02, 0.3]);
    assert_eq!(one.height.to_bits(), t.z_f64(&closest.hit).to_bits());
    let hot = [point(-0.1, 0.0, 0.0), point(0.05, 0.02, 7.0), point(0.1, 0.1, 0.0)];
    assert_eq!(ask(&hot, &at(0.0, 0.0, 0.3)).height.to_bits(), one.height.to_bits());
    assert_eq!(ask(&[], &at(0.05, 0.02, 0.3)), one);
    near(one.penetration, 0.1, 2.0 * lattice);
    near(one.loaded_radius, 0.2, 2.0 * lattice);
    // the plane feels the kerb, the normal does not
    let grid: Vec<_> = [-0.1, 0.1].into_iter().flat_map(|x| [-0.1, 0.1].map(|y| point(x, y, 1.0))).collect();
    let c = ask(&grid, &at(0.0, 0.0, 0.3));
    let slope = 0.1 / 0.2;
    let r = (1.0f64 + slope * slope).sqrt();
    all_near(c.plane, [-slope / r, 0.0, 1.0 / r], 1e-3);
    assert!(c.plane_fitted && c.normal == [0.0, 0.0, 1.0]);
    // turned by 90 degrees the wheel's forward points are to the north
    let north = Wheel::at(turned([-1.0, 0.0, 0.3], [90.0, 0.0, 0.0]));
    all_near(ask(&[point(0.1, 0.0, 1.0)], &north).patch_centre, [-1.0, 0.1, 0.0], 1e-3);
}

#[test]
fn rf_09_points_over_nothing_are_left_out() {
    let bytes = image(&fixtures::hole());
    let t = Terrain::open(&bytes).unwrap();
    let points = [[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.1, 0.0]].map(|at| ContactPoint { at, weight: 1.0 });
    let tyre = Tyre { method: Method::Points(&points), ..TYRE };
    let c = t.contact(&tyre, &at(-5.0, 0.0, 0.3));
    assert_eq!((c.status, c.height), (ContactStatus::Found, 0.0));
    near(c.coverage, 1.0 / 3.0, 1e-15);
    near(c.patch_centre[0], -5.5, 1e-9);
    assert_eq!(t.contact(&tyre, &at(0.0, 0.0, 0.3)).status, ContactStatus::NoGround);
    assert_eq!(t.contact(&tyre, &at(900.0, 0.0, 0.3)).status, ContactStatus::NotInImage);
    // half of a cylinder over the opening
    for lattice in ALL {
        let n = f64::from(lattice as u16);
        let c = t.contact(&columns(lattice), &at(-5.0, 0.0, 0.28));
        near(c.coverage, 0.5, 1.0 / n);
        assert_eq!(t.contact(&columns(lattice), &at(0.0, 0.0, 0.28)).status, ContactStatus::NoGround);
    }
}

#[test]
fn rf_21_rf_22_rf_25_rf_26_extrapolation() {
    let bytes = plane(0.1, 0.0);
    let t = Terrain::open(&bytes).unwrap();
    let wheel = |velocity: Option<[f64; 3]>, dt: f64, extrapolate: bool| Wheel {
        motion: Motion { velocity, dt, extrapolate },
        ..at(1.0, 0.0, 0.4)
    };
    let v = [10.0, 0.0, 0.0];
    for tyre in [TYRE, columns(Lattice::Columns16)] {
        let here = t.contact(&tyre, &wheel(None, 0.0, false));
        let ahead = t.contact(&tyre, &at(1.0 + 10.0 * 0.001, 0.0, 0.4));
        assert_eq!(t.contact(&tyre, &wheel(Some(v), 0.001, true)), ahead);
        assert!(
            matches!(tyre.method, Method::Columns(_))
                || (ahead.patch_centre[0] - here.patch_centre[0] - 0.01).abs() < 1e-6
        );
        assert_eq!(t.contact(&tyre, &wheel(Some(v), 0.001, false)), here);
        assert_eq!(t.contact(&tyre, &wheel(None, 0.001, true)), here);
        assert_eq!(t.contact(&tyre, &wheel(Some([f64::NAN; 3]), 60.0, false)), here);
        let bad = [(Some([f64::NAN, 0.0, 0.0]), 0.001), (Some(v), 60.0), (Some(v), f64::NAN), (Some(v), -1.5)];
        for (velocity, dt) in bad {
            assert_eq!(t.contact(&tyre, &wheel(velocity, dt, true)).status, ContactStatus::BadMotion);
        }
    }
}

#[test]
fn rf_23_down_of_the_chassis() {
    let bytes = plane(0.1, 0.05);
    let t = Terrain::open(&bytes).unwrap();
    let (s, c) = 10f64.to_radians().sin_cos();
    for scale in [1.0, 7.5] {
        let wheel = Wheel { down: Some([s * scale, 0.0, -c * scale]), ..at(0.0, 0.0, 0.5) };
        let found = t.contact(&TYRE, &wheel);
        let way = 0.5 / (c + 0.1 * s);
        all_near(found.patch_centre, [way * s, 0.0, 0.5 - way * c], 2e-5);
    }
    for down in [[0.0; 3], [f64::NAN, 0.0, -1.0], [f64::INFINITY, 0.0, 0.0]] {
        let wheel = Wheel { down: Some(down), ..at(0.0, 0.0, 0.5) };
        assert_eq!(t.contact(&TYRE, &wheel).status, ContactStatus::BadDown);
    }
}

#[test]
fn rf_24_spin_does_not_matter() {
    let bytes = plane(0.1, 0.05);
    let t = Terrain::open(&bytes).unwrap();
    let still = turned([0.3, -0.2, 0.35], [30.0, 0.0, 4.0]);
    let [forward, axle, up] = still.axes;
    let points = [[0.1, 0.05, 0.0], [-0.1, -0.05, 0.0], [0.0, 0.1, 0.0]].map(|at| ContactPoint { at, weight: 1.0 });
    for tyre in [Tyre { method: Method::Points(&points), ..TYRE }, columns(Lattice::Columns64)] {
        let wanted = t.contact(&tyre, &Wheel::at(still));
        for degrees in [17.0f64, 90.0, 180.0, 271.0] {
            let (s, c) = degrees.to_radians().sin_cos();
            let turn = |a: f64, b: f64| [0, 1, 2].map(|k| forward[k] * a + up[k] * b);
            let spun = Pose { axes: [turn(c, -s), axle, turn(s, c)], ..still };
            let moving = Motion { velocity: Some([10.0, 0.0, 0.0]), dt: 0.0, extrapolate: true };
            for wheel in [Wheel::at(spun), Wheel { motion: moving, ..Wheel::at(spun) }] {
                let found = t.contact(&tyre, &wheel);
                near(found.height, wanted.height, 1e-6);
                all_near(found.patch_centre, wanted.patch_centre, 1e-6);
                all_near(found.plane, wanted.plane, 1e-6);
            }
            // the chassis' down, given
            let down = Some(up.map(|v| -v));
            let given = [still, spun].map(|pose| t.contact(&tyre, &Wheel { down, ..Wheel::at(pose) }));
            near(given[0].height, given[1].height, 1e-6);
            near(given[0].height, wanted.height, 1e-6);
        }
    }
}

#[test]
fn rf_27_rf_30_bad_poses_and_sizes() {
    let bytes = plane(0.0, 0.0);
    let t = Terrain::open(&bytes).unwrap();
    let of = |tyre: &Tyre, pose: Pose| t.contact(tyre, &Wheel::at(pose)).status;
    let level = Pose::at([0.0, 0.0, 0.3]);
    let skewed = |by: f64| {
        let mut pose = level;
        pose.axes[1][0] = by;
        pose
    };
    assert_eq!(of(&TYRE, skewed(0.00099)), ContactStatus::Found);
    assert_eq!(of(&TYRE, skewed(0.00101)), ContactStatus::Skewed);
    let long = |by: f64| Pose { axes: [[by, 0.0, 0.0], level.axes[1], level.axes[2]], ..level };
    assert_eq!(of(&TYRE, long(1.00049)), ContactStatus::Found);
    assert_eq!(of(&TYRE, long(1.00051)), ContactStatus::Skewed);
    let mirrored = Pose { axes: [level.axes[0], [0.0, -1.0, 0.0], level.axes[2]], ..level };
    assert_eq!(of(&TYRE, mirrored), ContactStatus::Mirrored);
    assert_eq!(of(&TYRE, long(f64::NAN)), ContactStatus::NotFinite);
    assert_eq!(of(&TYRE, Pose::at([f64::INFINITY, 0.0, 0.0])), ContactStatus::NotFinite);
    assert_eq!(of(&TYRE, Pose::at([1e300, 0.0, 0.0])), ContactStatus::NotFinite);
    assert_eq!(of(&TYRE, turned([0.0, 0.0, 0.3], [0.0, 0.0, 79.0])), ContactStatus::Found);
    assert_eq!(of(&TYRE, turned([0.0, 0.0, 0.3], [0.0, 0.0, 81.0])), ContactStatus::Lying);
    for size in [0.0, -0.3, f64::NAN, f64::INFINITY, 1e30] {
        assert_eq!(of(&Tyre { radius: size, ..TYRE }, level), ContactStatus::BadSize);
        assert_eq!(of(&Tyre { width: size, ..columns(Lattice::Columns16) }, level), ContactStatus::BadSize);
    }
    for reach in [[-1.0, 2.0], [0.0, 0.0], [f64::NAN, 1.0], [1.0, 1e9]] {
        assert_eq!(of(&Tyre { reach: Some(reach), ..TYRE }, level), ContactStatus::BadSize);
    }
    for weight in [-1.0, f64::NAN, f64::INFINITY, 0.0] {
        let points = [ContactPoint { weight, ..ContactPoint::CENTRE }];
        assert_eq!(of(&Tyre { method: Method::Points(&points), ..TYRE }, level), ContactStatus::BadPoints);
    }
    let points = [ContactPoint { at: [f64::NAN; 3], weight: 1.0 }];
    assert_eq!(of(&Tyre { method: Method::Points(&points), ..TYRE }, level), ContactStatus::BadPoints);
}

/// The reference values of the lattices on a step of 0.1 m, and of a hollow of 0.1 m; penetration in mm.
#[test]
fn rf_66_rf_42_columns_on_a_step() {
    let mm = [
        (0.1, -0.1, [103.695, 101.997, 101.509], 101.337),
        (0.1, 0.0, [78.005, 77.949, 77.935], 77.937),
        (0.1, 0.1, [47.016, 50.004, 50.727], 50.962),
        (0.1, 0.2, [26.309, 24.659, 24.264], 24.119),
        (-0.1, 0.0, [12.721, 12.543, 12.568], 12.567),
    ];
    for (height, edge, wanted, exact) in mm {
        let bytes = step_of(height);
        let t = Terrain::open(&bytes).unwrap();
        for (lattice, wanted) in ALL.into_iter().zip(wanted) {
            let c = t.contact(&columns(lattice), &at(-edge, 0.0, 0.28));
            near(c.penetration * 1e3, wanted, 0.02);
            // 3.3 of the note: what one column moves, and some of them at once
            near(c.penetration * 1e3, exact, 5.0);
            near(c.height, 0.28 - (0.3 - c.penetration), 1e-12);
            assert!(c.patch_valid && c.coverage == 1.0 && c.normal == [0.0, 0.0, 1.0]);
        }
    }
    // patch centre and plane against the closed form, with 256 columns
    let bytes = step_of(0.1);
    let t = Terrain::open(&bytes).unwrap();
    for (edge, x, slope) in [(0.0, 0.084051072, 0.186465), (0.05, 0.101865244, 0.382587), (0.1, 0.113470920, 0.492857)]
    {
        let c = t.contact(&columns(Lattice::Columns256), &at(-edge, 0.0, 0.28));
        near(c.patch_centre[0] + edge, x, 0.002);
        near(-c.plane[0] / c.plane[2], slope, 0.02);
    }
}

/// How much a kerb of 0.1 m changes the penetration in 1 mm of travel, square on, at 45 degrees and along the wheel.
#[test]
fn rf_66_columns_pass_a_kerb_in_small_steps() {
    let bytes = step_of(0.1);
    let t = Terrain::open(&bytes).unwrap();
    for (lattice, most) in ALL.into_iter().zip([15.2, 4.2, 1.1]) {
        let mut worst = 0.0f64;
        for degrees in [0.0, 45.0, 90.0] {
            let depth = |mm: i32| {
                let pose = turned([0.001 * f64::from(mm), 0.0, 0.28], [degrees, 0.0, 0.0]);
                t.contact(&columns(lattice), &Wheel::at(pose)).penetration * 1e3
            };
            (-320..320).for_each(|mm| worst = worst.max((depth(mm + 1) - depth(mm)).abs()));
        }
        println!("{lattice:?}: {worst:.2} mm");
        assert!(worst <= most, "{lattice:?}: {worst}");
    }
}

#[test]
fn rf_66_columns_on_level_ground_are_exact() {
    let bytes = plane(0.0, 0.0);
    let t = Terrain::open(&bytes).unwrap();
    for lattice in ALL {
        for depth in [0.001, 0.005, 0.02, 0.05, 0.3] {
            for (i, degrees) in [0.0, 30.0, 77.0, 200.0].into_iter().enumerate() {
                let centre = [0.37 * i as f64, -0.21 * i as f64, 0.3 - depth];
                let c = t.contact(&columns(lattice), &Wheel::at(turned(centre, [degrees, 0.0, 0.0])));
                near(c.penetration, depth, 3e-7);
                near(c.height, 0.0, 3e-7);
                assert_eq!((c.normal, c.patch_valid, c.coverage), ([0.0, 0.0, 1.0], true, 1.0));
                all_near(c.patch_centre, [centre[0], centre[1], 0.0], 5e-4);
                near(c.loaded_radius, 0.3 - depth, 3e-7);
            }
        }
        let c = t.contact(&columns(lattice), &at(0.0, 0.0, 0.35));
        assert_eq!((c.status, c.patch_valid, c.volume), (ContactStatus::Found, false, 0.0), "RF-43: airborne");
        assert!(c.penetration < -0.0499 && c.penetration > -0.054, "{}", c.penetration);
    }
    // the volume of flat ground at 20 mm
    let c = t.contact(&columns(Lattice::Columns256), &at(0.0, 0.0, 0.28));
    near(c.volume, 7.229497326e-4, 2e-6);
    let point = t.contact(&TYRE, &at(0.0, 0.0, 0.35));
    assert!(!point.patch_valid && point.found(), "RF-43: airborne");
    near(point.penetration, -0.05, 1e-12);
}

#[test]
fn rf_66_columns_on_slopes_and_with_camber() {
    // along the wheel: the same volume at the same distance from the plane; the centre of depths is that of the
    // segment's area
    for (slope, above) in [(0.1, 0.281396517), (0.5, 0.313049517), (1.0, 0.395979797)] {
        let bytes = plane(slope, 0.0);
        let t = Terrain::open(&bytes).unwrap();
        let c = t.contact(&columns(Lattice::Columns256), &at(0.0, 0.0, above));
        near(c.penetration, 0.02, 1e-4);
        near(c.patch_centre[0], 0.288023307 * slope / (1.0 + slope * slope).sqrt(), 5e-4);
        all_near(c.plane, c.normal, 1e-5);
        near(-c.normal[0] / c.normal[2], slope, 1e-5);
    }
    // across it
    for (slope, wanted, y) in
        [(0.05, 0.020157478, 0.019122052), (0.1, 0.020634539, 0.036623444), (0.2, 0.022698664, 0.060476800)]
    {
        let bytes = plane(0.0, slope);
        let t = Terrain::open(&bytes).unwrap();
        let c = t.contact(&columns(Lattice::Columns256), &at(0.0, 0.0, 0.28));
        near(c.penetration, wanted, 1e-4);
        near(c.patch_centre[1], y, 2e-3);
    }
    let bytes = plane(0.0, 0.0);
    let t = Terrain::open(&bytes).unwrap();
    for (degrees, wanted) in [(2.0f64, 0.020076731), (5.0, 0.020484493), (10.0, 0.022052675)] {
        let pose = turned([0.0, 0.0, 0.28 * degrees.to_radians().cos()], [0.0, 0.0, degrees]);
        let c = t.contact(&columns(Lattice::Columns256), &Wheel::at(pose));
        near(c.penetration, wanted, 1e-4);
    }
}

/// Volume never falls as the wheel sinks, nor as ground rises; a deck above reach, or ground below, changes no bit.
#[test]
fn rf_66_columns_are_monotone_and_see_one_sheet() {
    let below = [level([-8.0, -8.0], [0.0, 8.0], 0.0, 0), level([0.0, -8.0], [8.0, 8.0], 0.1, 1)];
    let more = [below[0], below[1], level([-8.0; 2], [8.0; 2], -0.4, 2), level([-8.0; 2], [8.0; 2], 3.0, 2)];
    let (one, many) = (image(&plates(&below)), image(&plates(&more)));
    let [one, many] = [&one, &many].map(|bytes| Terrain::open(bytes).unwrap());
    let other = image(&shuffled(&plates(&below), 5));
    let other = Terrain::open(&other).unwrap();
    let known = |c: Contact| Contact { place: [0; 3], cost: hardpan::Cost::default(), ..c };
    let mut last = -1.0;
    for i in 0..200 {
        let wheel = at(0.003 * f64::from(i % 7) - 0.01, 0.0, 0.36 - 0.001 * f64::from(i));
        let sink = at(0.02, 0.0, 0.36 - 0.001 * f64::from(i));
        for lattice in ALL {
            let c = known(one.contact(&columns(lattice), &wheel));
            assert_eq!(c, known(many.contact(&columns(lattice), &wheel)));
            assert_eq!(c, known(other.contact(&columns(lattice), &wheel)), "order of triangles");
        }
        let c = one.contact(&columns(Lattice::Columns64), &sink);
        assert!(c.volume >= last, "{i}: {} after {last}", c.volume);
        last = c.volume;
    }
    // the end of a deck over a road: columns beyond it fall to the road, and touch nothing there
    let deck = image(&plates(&[level([-8.0; 2], [8.0; 2], -1.0, 0), level([-8.0, -8.0], [0.0, 8.0], 0.0, 1)]));
    let t = Terrain::open(&deck).unwrap();
    let (whole, half) = (at(-1.0, 0.0, 0.28), at(0.0, 0.0, 0.28));
    let [whole, half] = [whole, half].map(|w| t.contact(&columns(Lattice::Columns256), &w));
    near(half.volume, whole.volume / 2.0, 1e-6);
    assert_eq!((half.coverage, t.material_name(half.material)), (1.0, "b"));
    // just within and just above reach
    let tyre = Tyre { reach: Some([0.25, 2.0]), ..columns(Lattice::Columns16) };
    let lattice = 1.0 / 65536.0;
    let near_deck = |z: f64| t.contact(&tyre, &at(-1.0, 0.0, z)).height;
    assert!(near_deck(-0.25).abs() < 0.2 && near_deck(-0.25 - lattice) < -0.9);
}

#[test]
fn rf_45_rf_52_rf_53_surface_types_and_gain() {
    let mut scene = plates(&[0, 1, 2, 3].map(|k| level([f64::from(k), 0.0], [f64::from(k) + 1.0, 1.0], 0.0, k as u16)));
    let kinds = [0, 1, 5, 18];
    for (i, (m, surface)) in scene.materials.iter_mut().zip(kinds).enumerate() {
        *m = Material { surface, gain: 1.0 + i as f64 / 8.0, rr: 1.0, mu: 0.5 + i as f64 / 8.0, ..m.clone() };
    }
    let bytes = image(&scene);
    let t = Terrain::open(&bytes).unwrap();
    for (i, surface) in kinds.into_iter().enumerate() {
        let mut chassis = [ChassisHit::of(ContactStatus::NoGround, [0.0; 3])];
        let point = [ChassisPoint { at: [0.5 + i as f64, 0.5, 0.5], group: 0 }];
        t.chassis(&Pose::at([0.0; 3]), &Motion::default(), &[], &point, &mut chassis);
        assert_eq!((chassis[0].surface, chassis[0].gain), (surface, 1.0 + i as f64 / 8.0));
        for tyre in [TYRE, columns(Lattice::Columns16)] {
            let c = t.contact(&tyre, &at(0.5 + i as f64, 0.5, 0.28));
            assert_eq!((c.surface, c.gain, c.mu), (surface, 1.0 + i as f64 / 8.0, 0.5 + i as f64 / 8.0));
            assert_eq!(t.material_name(c.material), ["a", "b", "c", "d"][i]);
        }
    }
    // strips: one square below the whole tread, then two of them
    let strips = Tyre { method: Method::STRIPS, ..TYRE };
    let c = t.contact(&strips, &at(0.5, 0.5, 0.28));
    assert_eq!((c.surface, t.material_name(c.material)), (0, "a"));
    near(c.gain, 1.0, 1e-7);
    let c = t.contact(&strips, &at(1.95, 0.5, 0.28));
    assert_eq!((c.surface, t.material_name(c.material)), (1, "b"));
    assert!(c.gain > 1.13 && c.gain < 1.18, "{}", c.gain);
    // a tie goes to the lower type, and half of the gain comes from each side
    let points = [-0.1, 0.1].map(|x| ContactPoint { at: [x, 0.0, 0.0], weight: 1.0 });
    let c = t.contact(&Tyre { method: Method::Points(&points), ..TYRE }, &at(2.0, 0.5, 0.3));
    assert_eq!((c.surface, c.gain), (1, (1.125 + 1.25) / 2.0));
}

#[test]
fn rf_42_rf_44_fields_of_heights_are_hd() {
    let bytes = image(&fixtures::cobble());
    let t = Terrain::open(&bytes).unwrap();
    for tyre in [TYRE, columns(Lattice::Columns64)] {
        let c = t.contact(&tyre, &at(0.033, 0.041, 0.28));
        assert!(c.is_hd() && c.hd_share == 1.0);
        assert!(c.penetration <= 0.02 && c.penetration > 0.008, "{}", c.penetration);
    }
}

#[test]
fn axes_by_name() {
    let (s, c) = 30f64.to_radians().sin_cos();
    let iso = turned([1.0, 2.0, 3.0], [30.0, 0.0, 0.0]);
    let rows = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
    assert_eq!(Axes::Iso8855.pose([1.0, 2.0, 3.0], rows).axes, iso.axes);
    // (x, y, z) of ISO are (-z, x, y) of rFactor: its yaw to the left is about y
    let rf = Axes::Rfactor.pose([2.0, 3.0, -1.0], [[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]);
    assert_eq!((rf.centre, rf.axes), (iso.centre, iso.axes));
    assert_eq!(
        Axes::Ned.pose([2.0, 1.0, -3.0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).axes[0],
        [0.0, 1.0, 0.0]
    );
    for axes in Axes::ALL {
        let one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        assert_eq!(axes.pose([0.0; 3], one).check(), Ok(()), "{axes:?}");
        assert_eq!(axes.pose([0.0; 3], [one[0], one[1], [0.0, 0.0, -1.0]]).check(), Err(PoseError::Mirrored));
        let p = [1.0, -2.0, 3.5];
        assert_eq!((axes.world_in(axes.world_out(p)), axes.body_in(axes.body_out(p))), (p, p));
        assert_eq!(Axes::named(axes.name()), Some(axes));
    }
    assert_eq!(Axes::named("iso"), None);
    // the same wheel in both frames has the same contact, to the bit
    let bytes = plane(0.1, 0.05);
    let t = Terrain::open(&bytes).unwrap();
    let iso = Axes::Iso8855.pose([0.1, 0.2, 0.3], rows);
    let rf = Axes::Rfactor.pose([0.2, 0.3, -0.1], [[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]]);
    let tyre = columns(Lattice::Columns64);
    assert_eq!(t.contact(&tyre, &Wheel::at(iso)), t.contact(&tyre, &Wheel::at(rf)));
}

#[test]
fn damaged_ground_below_one_sample_is_damage() {
    let bytes = image(&plates(&[level([-8.0; 2], [8.0; 2], 0.0, 0)]));
    let t = Terrain::open(&bytes).unwrap().with_damage(&[0xFF; 64]);
    for tyre in [TYRE, columns(Lattice::Columns16), Tyre { method: Method::STRIPS, ..TYRE }] {
        assert_eq!(t.contact(&tyre, &at(0.0, 0.0, 0.3)).status, ContactStatus::Damaged);
    }
    let mut out = [ChassisHit::of(ContactStatus::Found, [0.0; 3])];
    let point = [ChassisPoint { at: [0.0; 3], group: 0 }];
    assert_eq!(t.chassis(&Pose::at([0.0; 3]), &Motion::default(), &[], &point, &mut out), 1);
    assert_eq!(out[0].status, ContactStatus::Damaged);
}

#[test]
fn rf_28_to_rf_35_and_rf_48_to_rf_53_chassis_points() {
    let bytes = plane(0.1, 0.05);
    let t = Terrain::open(&bytes).unwrap();
    let none = ChassisHit::of(ContactStatus::NoGround, [0.0; 3]);
    let ask = |t: &Terrain, pose: &Pose, motion: &Motion, groups: &[Group], points: &[ChassisPoint]| {
        let mut out = [none; 25];
        assert_eq!(t.chassis(pose, motion, groups, points, &mut out), points.len());
        out
    };
    let still = Motion::default();
    let points: [ChassisPoint; 25] =
        core::array::from_fn(|i| ChassisPoint { at: [0.2 * (i / 5) as f64, 0.3 * (i % 5) as f64, 0.0], group: 0 });
    let pose = Pose::at([-1.0, 0.5, 0.4]);
    for (hit, point) in ask(&t, &pose, &still, &[], &points).iter().zip(points) {
        let p = [pose.centre[0] + point.at[0], pose.centre[1] + point.at[1], 0.4];
        let closest = t.closest(p);
        assert_eq!((hit.height.to_bits(), hit.normal), (t.z_f64(&closest.hit).to_bits(), t.normal_f64(&closest.hit)));
        assert_eq!((hit.point, hit.status), (p, ContactStatus::Found));
        near(hit.height, 0.1 * p[0] + 0.05 * p[1], 1e-4);
    }
    // RF-29, RF-31: 10 mm ahead
    let moving = Motion { velocity: Some([10.0, 0.0, 0.0]), dt: 0.001, extrapolate: true };
    assert_eq!(ask(&t, &pose, &moving, &[], &points[..1])[0].point, [-1.0 + 10.0 * 0.001, 0.5, 0.4]);
    let parked = Motion { extrapolate: false, ..moving };
    assert_eq!(ask(&t, &pose, &parked, &[], &points[..1])[0].point, [-1.0, 0.5, 0.4]);
    let late = Motion { dt: 60.0, ..moving };
    assert_eq!(ask(&t, &pose, &late, &[], &points[..1])[0].status, ContactStatus::BadMotion);
    // RF-33, RF-34, RF-35: rotation first, then the offset, each group for itself
    let fore = [1.0, -1.0].map(|x| [x, 0.0, 0.0]);
    let of = |group: u32| fore.map(|at| ChassisPoint { at, group });
    let half = turned([0.0, 0.0, 0.5], [180.0, 0.0, 0.0]);
    let quarter = turned([0.0; 3], [90.0, 0.0, 0.0]);
    let groups = [Group { id: 7, pose: half }, Group { id: 9, pose: quarter }];
    let at = Pose::at([0.0; 3]);
    let (a, b) = (ask(&t, &at, &still, &groups, &of(7)), ask(&t, &at, &still, &groups, &of(9)));
    all_near(a[0].point, [-1.0, 0.0, 0.5], 1e-12);
    all_near(a[1].point, [1.0, 0.0, 0.5], 1e-12);
    all_near(b[0].point, [0.0, 1.0, 0.0], 1e-12);
    all_near(b[1].point, [0.0, -1.0, 0.0], 1e-12);
    assert_eq!(ask(&t, &at, &still, &groups, &of(8))[0].status, ContactStatus::NoGroup);
    // RF-49: pitched by 10 degrees over flat ground
    let flat = plane(0.0, 0.0);
    let t = Terrain::open(&flat).unwrap();
    let pitched = ask(&t, &turned([0.0, 0.0, 0.5], [0.0, 10.0, 0.0]), &still, &[], &points[..1])[0];
    near(pitched.local_height, 0.507713, 1e-6);
    let lifted = [Group { id: 1, pose: Pose::at([0.0, 0.0, 0.5]) }];
    let high = ask(&t, &Pose::at([0.0, 0.0, 0.5]), &still, &lifted, &[ChassisPoint { at: [0.0; 3], group: 1 }])[0];
    assert_eq!((high.local_height, high.height), (1.0, 0.0));
    let side = ask(&t, &turned([0.0, 0.0, 0.5], [0.0, 90.0, 0.0]), &still, &[], &points[..1])[0];
    assert_eq!((side.status, side.local_valid, side.local_height), (ContactStatus::Found, false, 0.0));
    let skewed = Pose { axes: [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], ..at };
    assert_eq!(ask(&t, &skewed, &still, &[], &points[..1])[0].status, ContactStatus::Skewed);
    assert_eq!(ask(&t, &Pose::at([f64::NAN; 3]), &still, &[], &points[..1])[0].status, ContactStatus::NotFinite);
}

/// Level ground, and a wall 12 m ahead of the middle.
fn walled() -> Image {
    let mut scene = plates(&[level([-20.0; 2], [20.0; 2], 0.0, 0)]);
    scene.materials[1] = Material { obstacle: true, ..scene.materials[1].clone() };
    let first = scene.positions.len() as u32;
    scene.positions.extend([[12.0, -5.0, 0.0], [12.0, 5.0, 0.0], [12.0, 5.0, 4.0], [12.0, -5.0, 4.0]]);
    for v in [[0, 1, 2], [0, 2, 3]] {
        scene.triangles.push(Triangle { v: v.map(|k| first + k), material: 1, source: 0 });
    }
    build(&scene, &Options { rays: Some(Rays::All), ..as_given() }).unwrap().image
}

#[test]
fn mw_01_to_mw_12_and_mw_18_to_mw_23_the_sensor_measures() {
    let bytes = walled();
    let t = Terrain::open(&bytes).unwrap();
    let config = SensorConfig {
        wheels: SensorConfig::default().wheels.map(|[x, y, _]| [x, y, -0.15]),
        ..SensorConfig::default()
    };
    let pose = Pose::at([0.0, 0.0, 0.5]);
    let r = t.sensor(&config, &pose, &SensorStep::default()).unwrap();
    assert_eq!(r.hit, [true; 5]);
    assert_eq!(r.status, [Some(RayStatus::Found); 5]);
    // MW-04, MW-06, MW-22
    near(r.distance[0], 12.0, 1e-5);
    near(r.vehicle_adjusted, 9.7, 1e-5);
    assert_eq!(t.material_name(r.material[0]), "b");
    // MW-09, MW-23: 0.35 above flat, radius 0.3
    for k in 0..4 {
        near(r.tyre_adjusted[k], 0.05, 1e-5);
        let [x, y, _] = config.wheels[k];
        all_near(r.hit_location[k + 1], [x, y, 0.0], 1e-4);
        all_near(r.start[k + 1], [x, y, 0.85], 1e-12);
        all_near(r.end[k + 1], [x, y, -1.65], 1e-12);
    }
    all_near(r.normal[0].map(f64::abs), [1.0, 0.0, 0.0], 1e-12);
    // MW-06: negative, not clamped
    let long = SensorConfig { vehicle_distance: Setting::Constant(13.0), ..config };
    near(t.sensor(&long, &pose, &SensorStep::default()).unwrap().vehicle_adjusted, -1.0, 1e-5);
    // MW-05: 3-4-5, looking down on the ground
    let steep = Pose { centre: [0.0, 0.0, 4.0], axes: [[0.6, 0.0, -0.8], [0.0, 1.0, 0.0], [0.8, 0.0, 0.6]] };
    near(t.sensor(&config, &steep, &SensorStep::default()).unwrap().distance[0], 5.0, 2e-5);
    // MW-12: a miss is at its end
    let back = turned([0.0, 0.0, 0.5], [180.0, 0.0, 0.0]);
    let miss = t.sensor(&config, &back, &SensorStep::default()).unwrap();
    assert_eq!((miss.hit[0], miss.hit_location[0], miss.material[0]), (false, miss.end[0], u16::MAX));
    // MW-18, MW-19, MW-20: the others meet the ground, each below its own start
    assert_eq!(miss.hit, [false, true, true, true, true]);
    for k in 1..5 {
        let [[x, y, z], [sx, sy, sz]] = [miss.hit_location[k], miss.start[k]];
        all_near([x, y, z], [sx, sy, sz - 0.85], 1e-4);
        assert_eq!([sx > 0.0, sy > 0.0], [k >= 3, k % 2 == 0], "front left, front right, rear left, rear right");
    }
    near(miss.distance[0], 50.0, 1e-9);
    assert_eq!(miss.status[0], Some(RayStatus::LeftImage));
    let hole = image(&fixtures::hole());
    let hole = Terrain::open(&hole).unwrap();
    let over = hole.sensor(&config, &pose, &SensorStep::default()).unwrap();
    assert_eq!(over.hit, [false; 5]);
    assert_eq!(over.hit_location, over.end);
    assert_eq!(over.status[1], Some(RayStatus::Clear));
}

#[test]
fn mw_13_to_mw_16_distances_of_the_step() {
    let bytes = walled();
    let t = Terrain::open(&bytes).unwrap();
    let pose = Pose::at([0.0, 0.0, 0.35]);
    let outside = SensorConfig {
        vehicle_distance: Setting::External,
        tyre_distance: Setting::External,
        ..SensorConfig::default()
    };
    for (front, radii) in [(2.0, [0.3, 0.31, 0.32, 0.4]), (3.5, [0.1; 4])] {
        let step = SensorStep { vehicle_distance: Some(front), tyre_distance: Some(radii), wheels: None };
        let r = t.sensor(&outside, &pose, &step).unwrap();
        near(r.vehicle_adjusted, 12.0 - front, 1e-5);
        all_near(r.tyre_adjusted, radii.map(|r| 0.35 - r), 1e-5);
        assert_eq!(t.sensor(&SensorConfig::default(), &pose, &step), Err(SensorError::NotExpected));
    }
    assert_eq!(t.sensor(&outside, &pose, &SensorStep::default()), Err(SensorError::Missing));
    let wheels = Some([[1.0, 2.0, 0.4], [3.0, 4.0, 0.5], [5.0, 6.0, 0.6], [7.0, 8.0, 0.7]]);
    let r = t.sensor(&SensorConfig::default(), &pose, &SensorStep { wheels, ..SensorStep::default() }).unwrap();
    all_near(r.tyre_adjusted, [0.1, 0.2, 0.3, 0.4], 1e-5);
    all_near(r.hit_location[2], [3.0, 4.0, 0.0], 1e-3);
}

#[test]
fn mw_27_to_mw_38_lengths_offsets_and_switches() {
    let bytes = walled();
    let t = Terrain::open(&bytes).unwrap();
    let pose = Pose::at([0.0, 0.0, 0.5]);
    let ask = |config: &SensorConfig| t.sensor(config, &pose, &SensorStep::default()).unwrap();
    let way = [12.0, 0.5, 0.5, 0.5, 0.5];
    #[allow(clippy::needless_range_loop)] // several arrays by one trace
    for k in 0..5 {
        let with = |trace: SensorTrace| {
            let mut config = SensorConfig::default();
            config.traces[k] = trace;
            config
        };
        let lattice = 1.0 / 4096.0;
        let trace = SensorTrace { length: way[k] + lattice, offset: 0.25, enabled: true };
        let inside = ask(&with(trace));
        assert!(inside.hit[k], "MW-27: just inside, trace {k}");
        let outside = ask(&with(SensorTrace { length: way[k] - lattice, ..trace }));
        assert!(!outside.hit[k], "MW-31: just outside, trace {k}");
        // MW-32: the start moves against the direction by the offset, and the distance is still from the centre
        let further = ask(&with(SensorTrace { offset: 0.75, ..trace }));
        let moved = [0, 1, 2].map(|i| further.start[k][i] - inside.start[k][i]);
        all_near(moved, if k == 0 { [-0.5, 0.0, 0.0] } else { [0.0, 0.0, 0.5] }, 1e-12);
        near(further.distance[k], inside.distance[k], 1e-6);
        // a start behind what is hit: nothing is left
        let behind = ask(&with(SensorTrace { length: way[k] + 2.0, offset: -way[k] - 1.0, enabled: true }));
        assert!(!behind.hit[k]);
        // MW-37, MW-38: each alone
        let mut alone = SensorConfig::default();
        alone.traces.iter_mut().enumerate().for_each(|(i, t)| t.enabled = i == k);
        let r = ask(&alone);
        assert_eq!(r.hit, core::array::from_fn(|i| i == k));
        for i in (0..5).filter(|&i| i != k) {
            assert_eq!(
                (r.status[i], r.distance[i], r.start[i], r.end[i]),
                (None, 0.0, r.hit_location[i], r.hit_location[i])
            );
        }
        assert!(r.cost.tests > 0);
    }
    let mut none = SensorConfig::default();
    none.traces.iter_mut().for_each(|t| t.enabled = false);
    let r = ask(&none);
    assert_eq!((r.cost, r.vehicle_adjusted, r.tyre_adjusted), (hardpan::Cost::default(), 0.0, [0.0; 4]));
    let mut bad = SensorConfig::default();
    bad.traces[2].length = f64::NAN;
    assert_eq!(t.sensor(&bad, &pose, &SensorStep::default()), Err(SensorError::NotFinite));
    bad.traces[2] = SensorTrace { length: 0.0, offset: 0.0, enabled: true };
    assert_eq!(t.sensor(&bad, &pose, &SensorStep::default()), Err(SensorError::BadLength));
    let mirrored = Pose { axes: [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]], ..pose };
    assert_eq!(t.sensor(&SensorConfig::default(), &mirrored, &SensorStep::default()), Err(SensorError::Mirrored));
}

#[test]
fn mw_43_patterns_of_rays() {
    let bytes = step_of(0.1);
    let t = Terrain::open(&bytes).unwrap();
    // the axle stands over the edge, 0.35 m above the low side
    let pose = Pose::at([-0.0, 0.0, 0.35]);
    let (low, high) = (0.35, 0.25);
    for (pattern, angles) in
        [(Pattern::Fan5, [60.0, 30.0, 0.0, -30.0, -60.0]), (Pattern::Fan5At15, [30.0, 15.0, 0.0, -15.0, -30.0f64])]
    {
        let (beams, count) = pattern.beams();
        assert_eq!(count, 5);
        let none = t.beam(&pose, &beams[0], &Default::default());
        let mut out: [Sensed; 5] = [none; 5];
        assert_eq!(t.rays(&pose, &beams[..count], &Default::default(), &mut out), 5);
        for (sensed, angle) in out.iter().zip(angles) {
            // an edge belongs to both sides: the ray straight down meets the higher first
            let height = if angle >= 0.0 { high } else { low };
            near(sensed.distance, height / angle.to_radians().cos(), 1e-4);
        }
    }
    let counts = Pattern::ALL.map(|pattern| pattern.beams().1);
    assert_eq!(counts, [1, 5, 5, 5, 9]);
    let (rake, _) = Pattern::Rake9.beams();
    let none = t.beam(&pose, &rake[0], &Default::default());
    let mut out = [none; 9];
    let low = Pose::at([-1.0, 0.0, 0.45]);
    assert_eq!(t.rays(&low, &rake, &Default::default(), &mut out), 9);
    out.iter().for_each(|s| near(s.distance, 0.08, 1e-4));
    let mut few = [none; 2];
    assert_eq!(t.rays(&low, &rake, &Default::default(), &mut few), 2);
    Pattern::ALL.into_iter().for_each(|p| assert_eq!(Pattern::named(p.name()), Some(p)));
}
