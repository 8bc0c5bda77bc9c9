//! The volume of a tyre by strips against closed forms and against integrals of the ground's own formula.

use crate::common::{as_given, hills, image, lattice_scene, shuffled};
use hardpan::{Contact, ContactPoint, ContactStatus, Lattice, Method, Pose, Terrain, Tyre, Wheel};
use hardpan_builder::demo::{fixtures, proving_ground};
use hardpan_builder::{HeightField, Options, Scene, Triangle, build};

const R: f64 = 0.3;
const W: f64 = 0.25;
const STRIPS: Tyre<'static> = Tyre { method: Method::STRIPS, ..Tyre::new(R, W) };

/// Faces that are convex from above, their corners counter-clockwise.
fn faces(all: &[(&[[f64; 3]], u16)]) -> Scene {
    let mut scene = lattice_scene(&[], Vec::new());
    for &(corners, material) in all {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners);
        for k in 2..corners.len() as u32 {
            scene.triangles.push(Triangle { v: [first, first + k - 1, first + k], material, source: 0 });
        }
    }
    scene
}

fn level([x, y]: [f64; 2], [mx, my]: [f64; 2], z: f64) -> [[f64; 3]; 4] {
    [[x, y, z], [mx, y, z], [mx, my, z], [x, my, z]]
}

/// Zero west of x = 0, and this height from there on.
fn step_of(height: f64) -> Scene {
    faces(&[(&level([-8.0; 2], [0.0, 8.0], 0.0), 0), (&level([0.0, -8.0], [8.0; 2], height), 1)])
}

fn plane(sx: f64, sy: f64) -> Scene {
    let z = |x: f64, y: f64| [x, y, sx * x + sy * y];
    faces(&[(&[z(-8.0, -8.0), z(8.0, -8.0), z(8.0, 8.0), z(-8.0, 8.0)], 0)])
}

fn at(x: f64, y: f64, z: f64) -> Wheel {
    Wheel::at(Pose::at([x, y, z]))
}

fn turned(centre: [f64; 3], degrees: [f64; 3]) -> Wheel {
    Wheel::at(Pose::turned_by(centre, degrees.map(|d| [d.to_radians().sin(), d.to_radians().cos()])))
}

fn ask(scene: &Scene, wheel: &Wheel) -> Contact {
    let bytes = image(scene);
    Terrain::open(&bytes).unwrap().contact(&STRIPS, wheel)
}

#[track_caller]
fn near(a: f64, b: f64, most: f64) {
    assert!((a - b).abs() <= most, "{a} is not {b} to {most}");
}

#[track_caller]
fn all_near<const N: usize>(a: [f64; N], b: [f64; N], most: f64) {
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= most), "{a:?} is not {b:?} to {most}");
}

/// The area of a segment of the circle so deep, by its closed form.
fn segment(depth: f64) -> f64 {
    let rest = R - depth;
    R * R * (rest / R).acos() - rest * (2.0 * R * depth - depth * depth).sqrt()
}

/// The penetration into level ground of a volume: halvings of the closed form.
fn level_depth(volume: f64) -> f64 {
    let (mut low, mut high) = (0.0, R);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if segment(middle) * W < volume { low = middle } else { high = middle }
    }
    low
}

/// The volume below ground under the round tread, in its own axes: midpoints of `n` by `m` cells.
fn integral(n: usize, m: usize, ground: impl Fn(f64, f64) -> f64, centre: f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..n {
        let x = R * ((2 * i + 1) as f64 / n as f64 - 1.0);
        let chord = (R * R - x * x).sqrt();
        for k in 0..m {
            let y = W * ((2 * k + 1) as f64 / m as f64 - 1.0) * 0.5;
            sum += (ground(x, y) - (centre - chord)).clamp(0.0, 2.0 * chord);
        }
    }
    sum * 2.0 * R * W / (n * m) as f64
}

/// The closed forms of a step, up and down: a third of the bar of 0.35 mm.
#[test]
fn rf_66_rf_42_strips_on_a_step() {
    let exact = [
        (0.1, -0.1, 101.336658, 0.041595163, None),
        (0.1, -0.05, 89.951659, 0.063532838, None),
        (0.1, 0.0, 77.936714, 0.084051072, Some(0.186465)),
        (0.1, 0.05, 65.070706, 0.101865244, Some(0.382587)),
        (0.1, 0.1, 50.961541, 0.113470920, Some(0.492857)),
        (0.1, 0.15, 36.162685, 0.106513347, Some(0.475635)),
        (0.1, 0.2, 24.119244, 0.052014044, None),
        (0.1, 0.25, 20.0, 0.0, None),
        (0.02, -0.1, 37.965759, 0.009430461, None),
        (0.02, 0.0, 30.790841, 0.031067312, None),
        (0.02, 0.05, 26.894420, 0.032417570, None),
        (0.02, 0.1, 22.706770, 0.020228343, None),
        (-0.1, -0.05, 6.306700, -0.070365539, None),
        (-0.1, 0.0, 12.567468, -0.040574513, None),
        (-0.1, 0.05, 17.530882, -0.015269584, None),
        (-0.1, 0.1, 19.948424, -0.000395390, None),
    ];
    let mut worst = 0.0f64;
    for (height, edge, mm, x, slope) in exact {
        let c = ask(&step_of(height), &at(-edge, 0.0, 0.28));
        worst = worst.max((c.penetration * 1e3 - mm).abs());
        near(c.penetration * 1e3, mm, 0.12);
        near(c.patch_centre[0] + edge, x, 5e-4);
        near(c.patch_centre[1], 0.0, 1e-9);
        near(c.height, 0.28 - (R - c.penetration), 1e-12);
        assert!(c.patch_valid && c.coverage == 1.0 && c.normal == [0.0, 0.0, 1.0] && c.plane_fitted);
        slope.into_iter().for_each(|slope| near(-c.plane[0] / c.plane[2], slope, 0.01));
    }
    println!("largest error on a step: {worst:.3} mm");
}

/// While both sides touch, the volume grows by width times height with the way over the step.
#[test]
fn rf_66_strips_feel_every_micrometre_of_a_step() {
    let bytes = image(&step_of(0.1));
    let t = Terrain::open(&bytes).unwrap();
    let volume = |x: f64| t.contact(&STRIPS, &at(x, 0.0, 0.28)).volume;
    for i in -8..8 {
        let x = 0.01 * f64::from(i) + 1e-4;
        near((volume(x + 1e-3) - volume(x)) / (1e-3 * W * 0.1), 1.0, 0.05);
    }
}

/// A kerb of 0.1 m in any direction: the greatest error, and the greatest change in 1 mm of travel.
#[test]
fn rf_66_strips_pass_a_kerb_in_any_direction() {
    let bytes = image(&step_of(0.1));
    let t = Terrain::open(&bytes).unwrap();
    let (mut error, mut change) = (0.0f64, 0.0f64);
    for degrees in [0.0f64, 7.5, 22.5, 45.0, 60.0, 75.0, 85.0, 88.0, 90.0, 120.0, 180.0, 247.5] {
        let depth = |mm: i32| t.contact(&STRIPS, &turned([0.001 * f64::from(mm), 0.0, 0.28], [degrees, 0.0, 0.0]));
        let mut last = depth(-330).penetration;
        for mm in -329..330 {
            let c = depth(mm).penetration;
            change = change.max((c - last).abs() * 1e3);
            last = c;
            if mm % 47 == 0 {
                let (sin, cos) = degrees.to_radians().sin_cos();
                let x = |f: f64, l: f64| 0.001 * f64::from(mm) + f * cos - l * sin;
                let v = integral(1200, 1000, |f, l| if x(f, l) >= 0.0 { 0.1 } else { 0.0 }, 0.28);
                error = error.max((c - level_depth(v)).abs() * 1e3);
            }
        }
    }
    println!("kerb: error {error:.3} mm, largest change {change:.3} mm a mm");
    assert!(error <= 0.12 && change <= 0.8, "{error} {change}");
}

#[test]
fn rf_66_rf_43_strips_on_level_ground_are_exact() {
    let bytes = image(&plane(0.0, 0.0));
    let t = Terrain::open(&bytes).unwrap();
    for depth in [0.0001, 0.001, 0.005, 0.02, 0.05, 0.2, 0.3, 0.4] {
        for (i, degrees) in [0.0, 30.0, 77.0, 200.0].into_iter().enumerate() {
            let centre = [0.37 * i as f64, -0.21 * i as f64, R - depth];
            let tyre = Tyre { reach: Some([1.0, 2.0]), ..STRIPS };
            let c = t.contact(&tyre, &turned(centre, [degrees, 0.0, 0.0]));
            assert_eq!((c.status, c.patch_valid, c.coverage), (ContactStatus::Found, true, 1.0));
            if depth <= R {
                near(c.penetration, depth, 1e-8);
                near(c.height, 0.0, 1e-8);
            }
            all_near(c.normal, [0.0, 0.0, 1.0], 1e-12);
            all_near(c.patch_centre, [centre[0], centre[1], 0.0], 1e-6);
        }
    }
    // the volume of the round tyre
    near(t.contact(&STRIPS, &at(0.0, 0.0, 0.28)).volume, 7.229497326e-4, 1e-12);
    // RF-43: in the air, and just touching
    let c = t.contact(&STRIPS, &at(0.1, 0.2, 0.35));
    assert_eq!((c.status, c.patch_valid, c.volume, c.normal), (ContactStatus::Found, false, 0.0, [0.0, 0.0, 1.0]));
    near(c.penetration, -0.05, 1e-12);
    near(c.height, 0.0, 1e-12);
    near(c.loaded_radius, 0.35, 1e-12);
    let c = t.contact(&STRIPS, &at(0.0, 0.0, 0.3));
    assert_eq!((c.patch_valid, c.penetration), (false, 0.0));
}

/// Slopes along and across the wheel, camber, a groove and a ridge: the reference values.
#[test]
fn rf_66_strips_on_slopes_grooves_and_with_camber() {
    for (slope, above) in [(0.1, 0.281396517), (0.5, 0.313049517), (1.0, 0.395979797)] {
        let c = ask(&plane(slope, 0.0), &at(0.0, 0.0, above));
        near(c.penetration, 0.02, 2e-5);
        near(c.patch_centre[0], 0.288023307 * slope / (1.0 + slope * slope).sqrt(), 2e-4);
        near(-c.normal[0] / c.normal[2], slope, 1e-6);
        all_near(c.plane, c.normal, 1e-5);
    }
    for (slope, wanted, y) in
        [(0.05, 0.020157478, 0.019122052), (0.1, 0.020634539, 0.036623444), (0.2, 0.022698664, 0.060476800)]
    {
        let c = ask(&plane(0.0, slope), &at(0.0, 0.0, 0.28));
        near(c.penetration, wanted, 6e-5);
        near(c.patch_centre[1], y, 5e-4);
        all_near(c.plane, c.normal, 1e-5);
    }
    for (degrees, wanted) in [(2.0f64, 0.020076731), (5.0, 0.020484493), (10.0, 0.022052675)] {
        let wheel = turned([0.0, 0.0, 0.28 * degrees.to_radians().cos()], [0.0, 0.0, degrees]);
        near(ask(&plane(0.0, 0.0), &wheel).penetration, wanted, 6e-5);
    }
    for (degrees, centre, wanted) in
        [(30.0f64, 0.335, 0.015716863), (30.0, 0.33, 0.022624194), (45.0, 0.40, 0.027330328), (10.0, 0.29, 0.020950349)]
    {
        let z = degrees.to_radians().tan() * 4.0;
        let west = [[-4.0, -4.0, z], [0.0, -4.0, 0.0], [0.0, 4.0, 0.0], [-4.0, 4.0, z]];
        let east = [[0.0, -4.0, 0.0], [4.0, -4.0, z], [4.0, 4.0, z], [0.0, 4.0, 0.0]];
        let tyre = Tyre { reach: Some([2.0, 2.0]), ..STRIPS };
        let bytes = image(&faces(&[(&west, 0), (&east, 0)]));
        let c = Terrain::open(&bytes).unwrap().contact(&tyre, &at(0.0, 0.0, centre));
        near(c.penetration, wanted, 2e-4);
        all_near(c.normal, [0.0, 0.0, 1.0], 1e-9);
    }
    for (e, wanted) in [(0.0, 0.024415939), (0.05, 0.024415939), (0.1, 0.023642997)] {
        let flank = |x0: f64, z0: f64, x1: f64, z1: f64| [[x0, -4.0, z0], [x1, -4.0, z1], [x1, 4.0, z1], [x0, 4.0, z0]];
        let parts = [
            flank(-4.0, 0.0, e - 0.05, 0.0),
            flank(e - 0.05, 0.0, e, 0.02),
            flank(e, 0.02, e + 0.05, 0.0),
            flank(e + 0.05, 0.0, 4.0, 0.0),
        ];
        let c = ask(&faces(&[(&parts[0], 0), (&parts[1], 0), (&parts[2], 0), (&parts[3], 0)]), &at(0.0, 0.0, 0.28));
        near(c.penetration, wanted, 1e-4);
    }
}

/// With camber, over a kerb that the wheel rolls along or crosses: columns without number.
#[test]
fn rf_66_strips_are_the_limit_of_columns() {
    let bytes = image(&step_of(0.1));
    let t = Terrain::open(&bytes).unwrap();
    let mut worst = 0.0f64;
    for (yaw, roll, x) in
        [(90.0, 10.0, 0.05), (90.0, -10.0, 0.0), (30.0, 8.0, 0.1), (0.0, -6.0, -0.05), (200.0, 3.0, 0.2)]
    {
        let wheel = turned([x, 0.0, 0.28], [yaw, 0.0, roll]);
        let [forward, axle, up] = wheel.pose.axes;
        let (n, m) = (1500, 900);
        let mut sum = 0.0;
        for i in 0..n {
            let f = R * ((2 * i + 1) as f64 / n as f64 - 1.0);
            let chord = (R * R - f * f).sqrt();
            for k in 0..m {
                let l = W * ((2 * k + 1) as f64 / m as f64 - 1.0) * 0.5;
                let at = |k: usize| wheel.pose.centre[k] + f * forward[k] + l * axle[k] - chord * up[k];
                let ground = if at(0) >= 0.0 { 0.1 } else { 0.0 };
                sum += ((ground - at(2)) / up[2]).clamp(0.0, 2.0 * chord);
            }
        }
        let exact = level_depth(sum * 2.0 * R * W / f64::from(n * m));
        let c = t.contact(&STRIPS, &wheel);
        assert_eq!((c.status, c.coverage), (ContactStatus::Found, 1.0));
        worst = worst.max((c.penetration - exact).abs() * 1e3);
    }
    println!("with camber: {worst:.3} mm");
    assert!(worst <= 0.2, "{worst}");
}

/// Rough ground as triangles and as a height field, against the integral of the triangles' own formula.
#[test]
fn rf_66_strips_on_rough_ground_and_fields() {
    let height = |i: usize, k: usize| ((i * 7 + k * 13 + i * k) % 11) as f64 / 2048.0;
    let (n, pitch) = (33, 0.0625);
    let heights: Vec<f64> = (0..n * n).map(|p| height(p % n, p / n)).collect();
    let field = HeightField {
        origin: [-1.0; 2],
        pitch,
        columns: n,
        rows: n,
        heights,
        material: 2,
        source: 0,
        tolerance: 0.0,
        blocks: None,
    };
    let mesh: Vec<[[f64; 3]; 3]> = (0..n - 1)
        .flat_map(|k| (0..n - 1).map(move |i| (i, k)))
        .flat_map(|(i, k)| {
            let p = |i: usize, k: usize| [i as f64 * pitch - 1.0, k as f64 * pitch - 1.0, height(i, k)];
            [[p(i, k), p(i + 1, k), p(i + 1, k + 1)], [p(i, k), p(i + 1, k + 1), p(i, k + 1)]]
        })
        .collect();
    let all: Vec<(&[[f64; 3]], u16)> = mesh.iter().map(|t| (&t[..], 2)).collect();
    let ground = |x: f64, y: f64| {
        let (u, v) = ((x + 1.0) / pitch, (y + 1.0) / pitch);
        let (i, k) = (u.floor(), v.floor());
        let (u, v, i, k) = (u - i, v - k, i as usize, k as usize);
        let (a, b, c, d) = (height(i, k), height(i + 1, k), height(i, k + 1), height(i + 1, k + 1));
        if u >= v { a + (b - a) * u + (d - b) * v } else { a + (d - c) * u + (c - a) * v }
    };
    let scenes = [faces(&all), Scene { fields: vec![field], ..lattice_scene(&[], Vec::new()) }];
    for (x, y, degrees) in [(0.013, 0.027, 0.0), (-0.3, 0.21, 33.0), (0.4, -0.45, 145.0f64)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let exact = integral(1000, 800, |f, l| ground(x + f * cos - l * sin, y + f * sin + l * cos), 0.29);
        for (k, scene) in scenes.iter().enumerate() {
            let c = ask(scene, &turned([x, y, 0.29], [degrees, 0.0, 0.0]));
            assert_eq!((c.status, c.coverage, c.hd_share), (ContactStatus::Found, 1.0, k as f64));
            near(c.penetration, level_depth(exact), 1e-4);
        }
    }
}

/// The same bits whatever the order of triangles, the size of tiles and the place of their borders.
#[test]
fn rf_66_the_order_of_triangles_and_tiles_changes_no_bit() {
    let known = |c: Contact| Contact { place: [0; 3], cost: hardpan::Cost::default(), ..c };
    let hills = Scene { fields: vec![bumps()], ..hills(24, 0.25) };
    for scene in [fixtures::curb(), fixtures::mats(), hills] {
        let [low, high] = bounds(&scene);
        let mut images = vec![image(&scene)];
        images.extend((1..4).map(|seed| image(&shuffled(&scene, seed))));
        for tile in [13, 16] {
            let options = Options { tile_log2: Some(tile), ..as_given() };
            images.extend(build(&scene, &options).map(|built| built.image));
        }
        assert_eq!(images.len(), 6);
        let terrains: Vec<Terrain> = images.iter().map(|bytes| Terrain::open(bytes).unwrap()).collect();
        let points =
            [[0.1, 0.05], [-0.1, 0.05], [0.0, -0.1]].map(|[x, y]| ContactPoint { at: [x, y, 0.0], weight: 1.0 + x });
        let methods = [Method::Points(&points), Method::Columns(Lattice::Columns64), Method::STRIPS];
        let mut found = 0;
        for i in 0..40 {
            let f = |k: f64| (f64::from(i) * k).fract();
            let [x, y] = [0, 1].map(|k| low[k] + (high[k] - low[k]) * f([0.618034, 0.754878][k]));
            let ground = terrains[0].closest([x, y, 100.0]);
            let z = if ground.found() { terrains[0].z_f64(&ground.hit) } else { 0.0 };
            let wheel = turned([x, y, z + 0.28], [f(0.3) * 360.0, f(0.7) * 10.0, f(0.9) * 20.0 - 10.0]);
            for method in methods {
                let tyre = Tyre { method, ..STRIPS };
                let wanted = known(terrains[0].contact(&tyre, &wheel));
                found += usize::from(wanted.found() && method == Method::STRIPS);
                for t in &terrains[1..] {
                    assert_eq!(known(t.contact(&tyre, &wheel)), wanted, "{method:?} at {x} {y}");
                }
            }
        }
        assert!(found >= 30, "{found}");
    }
}

fn bounds(scene: &Scene) -> [[f64; 2]; 2] {
    let fields = scene.fields.iter().flat_map(|f| {
        let end = [f.columns, f.rows].map(|n| (n - 1) as f64 * f.pitch);
        [f.origin, [f.origin[0] + end[0], f.origin[1] + end[1]]]
    });
    let all: Vec<[f64; 2]> = scene.positions.iter().map(|p| [p[0], p[1]]).chain(fields).collect();
    [f64::min, f64::max].map(|of| [0, 1].map(|k| all.iter().map(|p| p[k]).reduce(of).unwrap()))
}

/// A field of heights beside the hills.
fn bumps() -> HeightField {
    let heights = (0..65 * 33).map(|i| ((i % 65) * 7 + i / 65 * 13) as f64 % 11.0 / 2048.0).collect();
    let (columns, rows) = (65, 33);
    HeightField {
        origin: [7.0, 1.0],
        pitch: 0.05,
        columns,
        rows,
        heights,
        material: 2,
        source: 0,
        tolerance: 0.0,
        blocks: None,
    }
}

/// Of sheets over each other the upper one counts where the tyre reaches into one alone; else the answer is a limit.
#[test]
fn rf_66_rf_19_strips_over_two_sheets() {
    let bare = [(&level([-8.0; 2], [8.0; 2], -1.0)[..], 0), (&level([-8.0; 2], [0.0, 8.0], 0.0)[..], 1)];
    // the end of a deck over a road is the edge of a step that the tyre does not reach
    let bytes = image(&faces(&bare));
    let t = Terrain::open(&bytes).unwrap();
    let half = t.contact(&STRIPS, &at(0.0, 0.0, 0.28));
    near(half.volume, t.contact(&STRIPS, &at(-1.0, 0.0, 0.28)).volume / 2.0, 1e-5);
    assert_eq!((half.status, t.material_name(half.material)), (ContactStatus::Found, "b"));
    // a road 0.1 m below the deck: the same, down to where the tyre reaches into both
    let (road, deck) = (level([-8.0; 2], [8.0; 2], -0.1), level([-8.0; 2], [0.0, 8.0], 0.0));
    let bytes = image(&faces(&[(&road, 0), (&deck, 1)]));
    let t = Terrain::open(&bytes).unwrap();
    near(t.contact(&STRIPS, &at(0.0, 0.0, 0.28)).penetration, 0.012567468, 1e-4);
    let deep = t.contact(&STRIPS, &at(-0.5, 0.0, 0.15));
    assert_eq!((deep.status, deep.volume), (ContactStatus::LimitReached, 0.0));
    assert_eq!(
        t.contact(&Tyre { method: Method::Columns(Lattice::Columns64), ..STRIPS }, &at(-0.5, 0.0, 0.15)).status,
        ContactStatus::Found
    );
    // neither a deck overhead nor ground far below changes a bit
    let over = level([-8.0; 2], [8.0; 2], 3.0);
    let alone = ask(&step_of(0.1), &at(0.05, 0.0, 0.28));
    let low = level([-8.0; 2], [8.0; 2], -0.4);
    let many = faces(&[
        (&level([-8.0; 2], [0.0, 8.0], 0.0), 0),
        (&level([0.0, -8.0], [8.0; 2], 0.1), 1),
        (&over, 2),
        (&low, 2),
    ]);
    let c = ask(&many, &at(0.05, 0.0, 0.28));
    assert_eq!(
        (c.penetration.to_bits(), c.plane, c.patch_centre),
        (alone.penetration.to_bits(), alone.plane, alone.patch_centre)
    );
    // a plate 5 cm over terrain, over which the wheel stands half
    let mat = level([-1.0; 2], [1.0; 2], 0.05);
    let bytes = image(&faces(&[(&level([-8.0; 2], [8.0; 2], 0.0), 0), (&mat, 1)]));
    let t = Terrain::open(&bytes).unwrap();
    assert_eq!(t.contact(&STRIPS, &at(0.0, 0.0, 0.33)).status, ContactStatus::Found);
    assert_eq!(t.contact(&STRIPS, &at(0.0, 0.0, 0.28)).status, ContactStatus::LimitReached);
}

#[test]
fn rf_66_rf_30_limits_of_strips() {
    // no ground below half of the footprint, and none at all
    let bytes = image(&fixtures::hole());
    let t = Terrain::open(&bytes).unwrap();
    near(t.contact(&STRIPS, &at(-5.0, 0.0, 0.28)).coverage, 0.5, 1e-4);
    assert_eq!(t.contact(&STRIPS, &at(0.0, 0.0, 0.28)).status, ContactStatus::NoGround);
    assert_eq!(t.contact(&STRIPS, &at(900.0, 0.0, 0.28)).status, ContactStatus::NotInImage);
    // a cell whose two triangles lie 1 mm from it, which the error has, and one of 10 mm
    for (twist, status) in [(0.004, ContactStatus::Found), (0.04, ContactStatus::LimitReached)] {
        let heights = vec![0.0, 0.0, 0.0, twist];
        let field =
            HeightField { origin: [-2.0; 2], pitch: 4.0, columns: 2, rows: 2, heights, ..HeightField::default() };
        let bytes = image(&Scene { fields: vec![field], ..lattice_scene(&[], Vec::new()) });
        let t = Terrain::open(&bytes).unwrap();
        let c = t.contact(&STRIPS, &at(0.0, 0.0, 0.29));
        assert_eq!(c.status, status, "{twist}");
        let error = if c.found() { c.error - t.header().error_height - 0.001_204_5 * STRIPS.radius } else { 0.001 };
        near(error, 0.001, 2e-5);
    }
    // more triangles than may be
    let bytes = image(&step_of(0.1));
    let t = Terrain::open(&bytes).unwrap();
    let few = |most: u16| t.contact(&Tyre { method: Method::Strips { most }, ..STRIPS }, &at(0.0, -1.0, 0.28)).status;
    assert_eq!([1, 8].map(few), [ContactStatus::LimitReached, ContactStatus::Found]);
    // the edge of the world
    let c = t.contact(&STRIPS, &at(8.0, 0.0, 0.38));
    near(c.coverage, 0.5, 1e-4);
    for size in [0.0, -0.3, f64::NAN, f64::INFINITY, 1e30] {
        assert_eq!(t.contact(&Tyre { radius: size, ..STRIPS }, &at(0.0, 0.0, 0.3)).status, ContactStatus::BadSize);
        assert_eq!(t.contact(&Tyre { width: size, ..STRIPS }, &at(0.0, 0.0, 0.3)).status, ContactStatus::BadSize);
    }
    // sizes that no tyre has do not fail
    for [radius, width] in [[100.0, 100.0], [1e-9, 100.0], [100.0, 1e-9], [1e-300, 1e-300]] {
        let c = t.contact(&Tyre { radius, width, ..STRIPS }, &at(0.0, 0.0, 0.0));
        assert!(c.penetration.is_finite() || c.penetration.is_nan(), "{c:?}");
    }
}

/// What a tyre costs on this machine.
#[test]
#[ignore = "takes times; run by name"]
fn rf_55_times_of_methods() {
    for (name, scene) in [("kerb", step_of(0.1)), ("hills", hills(24, 0.25)), ("setts", fixtures::cobble())] {
        let bytes = image(&scene);
        let t = Terrain::open(&bytes).unwrap();
        let methods = [Method::Points(&[]), Method::Columns(Lattice::Columns64), Method::Columns(Lattice::Columns256)];
        for method in methods.into_iter().chain([Method::STRIPS, Method::Strips { most: 65535 }]) {
            let tyre = Tyre { method, ..STRIPS };
            let wheel = |i: u32| {
                let x = 0.0037 * f64::from(i % 40);
                let z = t.closest([x, 0.5, 9.0]);
                at(x, 0.5, t.z_f64(&z.hit) + 0.28)
            };
            let start = std::time::Instant::now();
            let rounds = 400;
            let status = (0..rounds).map(|i| t.contact(&tyre, &wheel(i)).status).fold(None, |_, status| Some(status));
            let c = t.contact(&tyre, &wheel(3));
            println!(
                "{name} {method:?}: {:.2} us, {status:?}, {:?}",
                start.elapsed().as_secs_f64() * 1e6 / f64::from(rounds),
                c.cost
            );
        }
    }
}

/// In 1 mm steps over the proving ground: the kerb across, at 30 and at 2 degrees, and setts. Strips change less than
/// 256 columns.
#[test]
fn rf_66_strips_over_the_proving_ground() {
    let bytes = build(&proving_ground::scene(), &Options::default()).unwrap().image;
    let t = Terrain::open(&bytes).unwrap();
    let methods = [Method::Columns(Lattice::Columns256), Method::STRIPS];
    // start, heading, metres, and how high the centre is
    let drives = [
        ("across", [36.0, -22.9], 90.0, 0.8, 0.28),
        ("at 30 degrees", [36.0, -22.85], 30.0, 1.4, 0.28),
        ("at 2 degrees", [32.0, -22.62], 2.0, 6.0, 0.28),
        ("setts", [30.0, 6.3], 0.0, 0.5, 0.29),
    ];
    for (name, [x, y], degrees, metres, z) in drives {
        let (sin, cos) = f64::to_radians(degrees).sin_cos();
        let mut worst = [0.0f64; 2];
        for (worst, method) in worst.iter_mut().zip(methods) {
            let height = |mm: i32| {
                let s = 0.001 * f64::from(mm);
                let c =
                    t.contact(&Tyre { method, ..STRIPS }, &turned([x + s * cos, y + s * sin, z], [degrees, 0.0, 0.0]));
                assert_eq!(c.status, ContactStatus::Found, "{name} {method:?} {mm}");
                c.height
            };
            let mut last = height(0);
            for mm in 1..(metres * 1000.0) as i32 {
                let now = height(mm);
                *worst = worst.max((now - last).abs());
                last = now;
            }
        }
        println!("{name}: 256 columns {:.3} mm, strips {:.3} mm", worst[0] * 1e3, worst[1] * 1e3);
        assert!(worst[1] < worst[0] || worst[1] < 1e-4, "{name}: {worst:?}");
        assert!(worst[1] < 0.8e-3, "{name}: {worst:?}");
    }
}
