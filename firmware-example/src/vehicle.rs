//! What a tick asks, and what it may cost.

use crate::board::Board;
use hardpan::Terrain;

#[cfg(not(feature = "contact"))]
pub use closest::*;
#[cfg(feature = "contact")]
pub use contact::*;

/// Instructions of `closest` on a Cortex-M4F at most: the model of kernel/docs/firmware.md. Tests of large or steep
/// triangles are slow.
fn most_of_one(terrain: &Terrain) -> u64 {
    let bound = terrain.bound();
    let [lines, tests, wide] = [bound.lines, bound.tests, terrain.header().wide_tests].map(u64::from);
    380 + 410 * lines + 70 * (tests - wide) + 8380 * wide
}

/// Four wheels by `contact`, and a sensor that looks ahead and down.
#[cfg(feature = "contact")]
mod contact {
    use super::*;
    use crate::boot::LAYERS;
    use hardpan::heapless::Vec;
    use hardpan::{
        Contact, ContactStatus, Hit, Lattice, Method, Pose, SensorConfig, SensorReading, SensorStep, SensorTrace, Tyre,
        Wheel,
    };

    pub const TICKS_A_SECOND: u32 = 1000;
    /// A millisecond at 168 MHz, if an instruction takes a cycle.
    pub const BUDGET: u64 = 168_000;

    const TYRE: Tyre = Tyre { method: Method::Columns(Lattice::Columns16), ..Tyre::new(0.33, 0.2) };
    /// Centres of the wheels in the vehicle.
    const WHEELS: [[f64; 3]; 4] = [[1.3, 0.8, 0.0], [1.3, -0.8, 0.0], [-1.3, 0.8, 0.0], [-1.3, -0.8, 0.0]];

    /// Columns that a wheel asks, and what each and the wheel itself add to `closest`.
    const COLUMNS: u64 = 16;
    const OF_COLUMN: u64 = 2000;
    const OF_WHEEL: u64 = 6000;

    pub fn most(terrain: &Terrain) -> u64 {
        4 * (COLUMNS * (most_of_one(terrain) + OF_COLUMN) + OF_WHEEL)
    }

    pub struct Vehicle {
        config: SensorConfig,
        z: f64,
        wheels: [Contact; 4],
        sensor: Option<SensorReading>,
        layers: Vec<Hit, LAYERS>,
    }

    impl Vehicle {
        pub fn new(terrain: &Terrain) -> Self {
            let off = SensorTrace { length: 2.0, offset: 0.5, enabled: false };
            let ahead = SensorTrace { length: 10.0, offset: 0.0, enabled: true };
            Vehicle {
                config: SensorConfig { traces: [ahead, off, off, off, off], ..SensorConfig::default() },
                z: terrain.z_f64(&terrain.closest(place(0, 0.0)).hit) + 0.32,
                wheels: [const { Contact::of(ContactStatus::NoGround) }; 4],
                sensor: None,
                layers: Vec::new(),
            }
        }

        /// The pose is level, at the height that the wheels had a tick ago.
        pub fn tick(&mut self, terrain: &Terrain, tick: u32) {
            let pose = Pose::at(place(tick, self.z));
            let mut sum = 0.0;
            for (wheel, at) in self.wheels.iter_mut().zip(WHEELS) {
                *wheel = terrain.contact(&TYRE, &Wheel::at(Pose::at(pose.placed(at))));
                sum += wheel.height;
            }
            self.z = 0.25 * sum + 0.32;
            self.sensor = terrain.sensor(&self.config, &pose, &SensorStep::default()).ok();
            if tick % 10 == 0 {
                _ = terrain.layers_vec(pose.centre, &mut self.layers);
            }
        }

        pub fn say(&self, _: &Terrain, tick: u32) {
            for (i, wheel) in self.wheels.iter().enumerate() {
                let [height, deep] = [wheel.height, wheel.penetration].map(micro);
                let [x, y, z] = wheel.normal.map(micro);
                let mu = micro(wheel.mu);
                say!("{tick} wheel {i}: {} z {height} deep {deep} normal {x} {y} {z} mu {mu}", wheel.status as u8);
            }
            match &self.sensor {
                Some(sensor) => say!("{tick} ahead: {} at {}", u8::from(sensor.hit[0]), micro(sensor.distance[0])),
                None => say!("{tick} ahead: not asked"),
            }
            say!("{tick} layers: {}", self.layers.len());
        }

        pub fn count(&self, _: &Terrain, _: &impl Board) {}
    }

    fn place(tick: u32, z: f64) -> [f64; 3] {
        [60.0 + 0.02 * f64::from(tick), 0.0, z]
    }

    /// In millionths, towards zero.
    fn micro(v: f64) -> i32 {
        (v * 1e6) as i32
    }
}

/// Four wheels by `closest`, with no floating point but in the answers.
#[cfg(not(feature = "contact"))]
mod closest {
    use super::*;
    use hardpan::{Answer, Fixed};

    pub const TICKS_A_SECOND: u32 = 100;
    /// Ten milliseconds at 16 MHz, if an instruction takes two cycles.
    pub const BUDGET: u64 = 80_000;

    /// Hubs in millimetres, in the vehicle.
    const HUBS: [[i32; 3]; 4] = [[1300, 800, 0], [1300, -800, 0], [-1300, 800, 0], [-1300, -800, 0]];

    /// What `Fixed` and reading the answer add to `closest`; a Cortex-M0 takes three times as much as a Cortex-M4F.
    const OF_WHEEL: u64 = 600;

    pub fn most(terrain: &Terrain) -> u64 {
        4 * 3 * (most_of_one(terrain) + OF_WHEEL)
    }

    pub struct Vehicle {
        z_mm: i32,
        wheels: [Option<Answer>; 4],
    }

    impl Vehicle {
        pub fn new(terrain: &Terrain) -> Self {
            let mut vehicle = Vehicle { z_mm: 0, wheels: [None; 4] };
            vehicle.tick(terrain, 0);
            vehicle
        }

        pub fn tick(&mut self, terrain: &Terrain, tick: u32) {
            let mut sum = 0;
            for (wheel, [x, y, z]) in self.wheels.iter_mut().zip(HUBS) {
                let hub = [60_000 + 200 * tick as i32 % 20_000 + x, y, self.z_mm + z];
                let answer = terrain.closest(hub.map(|mm| Fixed::from_num(mm).wrapping_div_int(1000)));
                sum += z_mm(terrain, &answer);
                *wheel = Some(answer);
            }
            self.z_mm = sum / 4 + 320;
        }

        pub fn say(&self, terrain: &Terrain, tick: u32) {
            for (i, wheel) in self.wheels.iter().enumerate() {
                let Some(answer) = wheel else { continue };
                let [x, y] = terrain.slope_f32(&answer.hit).map(|v| (v * 1e6) as i32);
                let mu = (terrain.surface_f32(answer)[0] * 1e6) as i32;
                let z = z_mm(terrain, answer);
                say!("{tick} wheel {i}: {} z {z} slope {x} {y} mu {mu}", answer.status as u8);
            }
        }

        pub fn count(&self, _: &Terrain, _: &impl Board) {}
    }

    fn z_mm(terrain: &Terrain, answer: &Answer) -> i32 {
        terrain.z_fixed(&answer.hit).wrapping_mul_int(1000).wrapping_round().wrapping_to_num()
    }
}
