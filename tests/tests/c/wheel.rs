//! Wheels, chassis points and the sensor through C are the kernel's, to the bit; records have the layout that the
//! header states.

use super::*;
use hardpan::{
    ChassisHit, ChassisPoint, Contact, ContactPoint, ContactStatus, Group, Lattice, Method, Motion, Pose, SensorConfig,
    SensorStep, Terrain, Tyre, Wheel,
};
use hardpan_builder::demo::fixtures;

fn doubles(name: &str, values: &[f64]) -> String {
    let all: String = values.iter().map(|v| format!(" {:016x}", v.to_bits())).collect();
    format!("{name}{all}\n")
}

fn contact(name: &str, c: &Contact) -> String {
    let single = [c.penetration, c.loaded_radius, c.volume, c.mu, c.rolling, c.gain, c.coverage, c.hd_share, c.error];
    let all = [&[c.height], &c.normal[..], &c.plane, &c.patch_centre, &single].concat();
    let flags = [c.patch_valid, c.plane_fitted, c.is_hd()].map(u8::from);
    let [a, b, d] = flags;
    let rest =
        format!("rest {} {} {} {} {} {a} {b} {d}\n", c.cost.tests, c.place[2], c.surface, c.material, c.status.code());
    doubles(name, &all) + &rest
}

#[test]
fn rf_17_rf_43_rf_51_mw_17_wheels_and_the_sensor_in_c() {
    let (image, path) = image("wheel", &fixtures::curb());
    let t = Terrain::open(&image).unwrap();
    let tyre = Tyre::new(0.3, 0.25);
    let level = Wheel::at(Pose::at([0.1, 0.2, 0.28]));
    let two = [([-0.1, 0.0, 0.0], 1.0), ([0.1, 0.0, 0.0], 3.0)].map(|(at, weight)| ContactPoint { at, weight });
    let mut wanted = contact("one", &t.contact(&tyre, &level));
    wanted += &contact("two", &t.contact(&Tyre { method: Method::Points(&two), ..tyre }, &level));
    wanted += &contact("strips", &t.contact(&Tyre { method: Method::STRIPS, ..tyre }, &level));
    wanted += &contact("columns", &t.contact(&Tyre { method: Method::Columns(Lattice::Columns64), ..tyre }, &level));
    let axes = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let group = Group { id: 7, pose: Pose { centre: [0.0, 0.0, 0.5], axes } };
    let mut hits = [ChassisHit::of(ContactStatus::NoGround, [0.0; 3]); 2];
    let points = [7, 0].map(|group| ChassisPoint { at: [1.0, 0.0, 0.0], group });
    t.chassis(&level.pose, &Motion::default(), &[group], &points, &mut hits);
    for h in &hits {
        let all = [&h.point[..], &[h.height, h.local_height], &h.normal, &[h.mu, h.rolling, h.gain]].concat();
        wanted += &doubles("chassis", &all);
    }
    for [x, y] in [[1.35, 0.8], [1.35, -0.8], [-1.35, 0.8], [-1.35, -0.8]] {
        wanted += &contact("wheel", &t.contact(&tyre, &Wheel::at(Pose::at([x, y, 0.28]))));
    }
    let pose = Pose::at([0.0, 0.0, 0.4]);
    let r = t.sensor(&SensorConfig::default(), &pose, &SensorStep::default()).unwrap();
    let places = [r.hit_location, r.start, r.end, r.normal].concat().concat();
    wanted += &doubles("sensor", &[&places[..], &r.distance, &[r.vehicle_adjusted], &r.tyre_adjusted].concat());
    let hits: String = r.hit.map(u8::from).map(|h| format!(" {h}")).concat();
    wanted += &format!("hits{hits}\n");
    let program = compile("wheel", &source("wheel.c"), &[]);
    let text = run(&program, &[&path], &[]);
    for (got, wanted) in text.lines().zip(wanted.lines()) {
        assert_eq!(got, wanted);
    }
    assert_eq!(text, wanted);
}

/// The force of a tyre on a kerb of 0.15 m has no jumps, and the wheel comes to stand on top of it.
#[test]
fn rf_66_a_quarter_car_rolls_over_a_kerb() {
    let (_, path) = image("quarter-car", &fixtures::curb());
    let program = compile("quarter-car", &interface().join("examples/quarter_car.c"), &[]);
    let text = run(&program, &[&path, Path::new("-5"), Path::new("0"), Path::new("14.5")], &[]);
    let rows: Vec<Vec<f64>> = text
        .lines()
        .filter(|l| l.starts_with(|c: char| c.is_ascii_digit()))
        .map(|l| l.split(',').map(|v| v.parse().unwrap()).collect())
        .collect();
    let at = |x: f64| rows.iter().find(|row| row[1] >= x).unwrap_or_else(|| panic!("{text}"));
    // before the kerb nothing moves: the static penetration of 400 kg
    let rest = 0.3 - 400.0 * 9.81 / 200_000.0;
    assert!((at(-1.0)[2] - rest).abs() < 1e-6 && (at(-1.0)[4] - 3924.0).abs() < 1.0, "{text}");
    // at the edge the force has grown by what has gone under the tread; far behind, the hub is 0.15 m higher
    assert!(at(0.0)[4] > 2.0 * 3924.0, "{text}");
    assert!((at(9.3)[2] - rest - 0.15).abs() < 0.02, "{text}");
    let last = text.lines().last().unwrap();
    let jump: f64 = last.split_whitespace().rev().nth(1).unwrap().parse().unwrap();
    // 0.5 mm forwards and what the hub moves in a step: a point would jump by 30,000 N at once
    assert!(jump > 0.0 && jump < 2_500.0, "{last}");
}

#[test]
fn rf_17_a_whole_car_in_cpp() {
    let (image, path) = image("car", &fixtures::curb());
    let t = Terrain::open(&image).unwrap();
    let program = compile("car", &interface().join("examples/car.cpp"), &[]);
    let text = run(&program, &[&path, Path::new("-1.3"), Path::new("0"), Path::new("0")], &[]);
    let tyre = Tyre { method: Method::STRIPS, ..Tyre::new(0.3, 0.25) };
    let mut wanted = String::new();
    for (i, [x, y]) in [[1.35, 0.8], [1.35, -0.8], [-1.35, 0.8], [-1.35, -0.8]].into_iter().enumerate() {
        let c = t.contact(&tyre, &Wheel::at(Pose::at([x - 1.3, y, 0.28])));
        assert!(c.found() && c.penetration > 0.019, "{c:?}");
        let (height, penetration, mu) = (c.height + 0.0, c.penetration, c.mu);
        wanted += &format!("wheel {i} status 0 height {height:.6} penetration {penetration:.6} mu {mu:.2}\n");
    }
    // the floor is 0.2 m above the road, and 0.05 m above the pavement
    for (i, clear) in [0.05, 0.05, 0.2, 0.2].into_iter().enumerate() {
        wanted += &format!("floor {i} status 0 clear {clear:.6}\n");
    }
    let same = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() < 1e-5,
        _ => a == b,
    };
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let (got, wanted) = (words(&text), words(&wanted));
    assert!(got.len() == wanted.len() && got.iter().zip(&wanted).all(|(a, b)| same(a, b)), "{text}{wanted:?}");
}
