//! What a controller of wheels asks, apart from the rest: its code is stated on a page.

use core::hint::black_box;
use hardpan::{
    Contact, ContactPoint, Lattice, Method, Pose, SensorConfig, SensorReading, SensorStep, Terrain, Tyre, Wheel,
};

#[unsafe(no_mangle)]
extern "C" fn wheels_points(t: &Terrain, points: &&[ContactPoint], wheel: &Wheel, to: &mut Contact) {
    *to = t.contact(&Tyre { method: Method::Points(points), ..Tyre::new(0.33, 0.2) }, wheel);
}

#[unsafe(no_mangle)]
extern "C" fn wheels_columns(t: &Terrain, wheel: &Wheel, to: &mut Contact) {
    *to = t.contact(&Tyre { method: Method::Columns(Lattice::Columns16), ..Tyre::new(0.33, 0.2) }, wheel);
}

#[unsafe(no_mangle)]
extern "C" fn wheels_sensor(t: &Terrain, config: &SensorConfig, pose: &Pose, to: &mut SensorReading) {
    match t.sensor(config, pose, &SensorStep::default()) {
        Ok(reading) => *to = reading,
        Err(e) => _ = black_box(e),
    }
}
