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
