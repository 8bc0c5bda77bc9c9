//! What a tick asks, and what it may cost.

#[cfg(feature = "counts")]
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
    390 + 410 * lines + 70 * (tests - wide) + 8380 * wide
}

/// Four wheels by `contact`, and points ahead of the vehicle by `closest`.
#[cfg(feature = "contact")]
mod contact {
    use super::*;
    use crate::boot::LAYERS;
    use hardpan::heapless::Vec;
    use hardpan::{Answer, Contact, ContactStatus, Hit, Pose, Tyre, Wheel};

    pub const TICKS_A_SECOND: u32 = 1000;
    /// A millisecond at 168 MHz, if an instruction takes a cycle.
    pub const BUDGET: u64 = 168_000;

    /// It asks once, below its centre.
    const TYRE: Tyre = Tyre::new(0.33, 0.2);
    /// Centres of the wheels in the vehicle.
    const WHEELS: [[f64; 3]; 4] = [[1.3, 0.8, 0.0], [1.3, -0.8, 0.0], [-1.3, 0.8, 0.0], [-1.3, -0.8, 0.0]];

    /// How far ahead of the vehicle the ground is asked for, in metres.
    const AHEAD: [f64; 3] = [5.0, 10.0, 20.0];

    /// What a wheel takes beside its search, and a search for a wheel, in parts of `closest`.
    const OF_WHEEL: u64 = 29_000;
    const SEARCH: u64 = 2;

    pub fn most(terrain: &Terrain) -> u64 {
        let one = most_of_one(terrain);
        4 * (OF_WHEEL + SEARCH * one) + (AHEAD.len() as u64 + 1) * (one + 500)
    }

    pub struct Vehicle {
        z: f64,
        wheels: [Contact; 4],
        ahead: [Option<Answer>; AHEAD.len()],
        layers: Vec<Hit, LAYERS>,
    }

    impl Vehicle {
        pub fn new(terrain: &Terrain) -> Self {
            Vehicle {
                z: terrain.z_f64(&terrain.closest(place(terrain, 0, 0.0)).hit) + 0.32,
                wheels: [const { Contact::of(ContactStatus::NoGround) }; 4],
                ahead: [None; AHEAD.len()],
                layers: Vec::new(),
            }
        }

        /// The pose is level, at the height that the wheels had a tick ago.
        pub fn tick(&mut self, terrain: &Terrain, tick: u32) {
            let pose = Pose::at(place(terrain, tick, self.z));
            let mut sum = 0.0;
            for (wheel, at) in self.wheels.iter_mut().zip(WHEELS) {
                *wheel = terrain.contact(&TYRE, &Wheel::at(Pose::at(pose.placed(at))));
                sum += wheel.height;
            }
            self.z = 0.25 * sum + 0.32;
            for (answer, x) in self.ahead.iter_mut().zip(AHEAD) {
                *answer = Some(terrain.closest(pose.placed([x, 0.0, 0.0])));
            }
        }

        pub fn say(&mut self, terrain: &Terrain, tick: u32) {
            for (i, wheel) in self.wheels.iter().enumerate() {
                let [height, deep] = [wheel.height, wheel.penetration].map(micro);
                let [x, y, z] = wheel.normal.map(micro);
                let mu = micro(wheel.mu);
                say!("{tick} wheel {i}: {} z {height} deep {deep} normal {x} {y} {z} mu {mu}", wheel.status as u8);
            }
            for (x, answer) in AHEAD.iter().zip(&self.ahead) {
                let Some(answer) = answer else { continue };
                say!("{tick} ahead {}: {} z {}", *x as i32, answer.status as u8, micro(terrain.z_f64(&answer.hit)));
            }
            _ = terrain.layers_vec(place(terrain, tick, self.z), &mut self.layers);
            for hit in &self.layers {
                say!("{tick} layer: z {}", micro(terrain.z_f64(hit)));
            }
        }
    }

    #[cfg(feature = "counts")]
    pub mod counts {
        use super::*;
        use core::hint::black_box;
        use hardpan::{ContactPoint, Lattice, Method, SensorConfig, SensorStep};

        /// Places at which calls are counted.
        const PLACES: u32 = 30;

        /// Instructions and stack of each call, the most along the drive.
        pub fn say(terrain: &Terrain, board: &impl Board) {
            let points = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
                .map(|i| ContactPoint { at: [0.03 * f64::from(i) - 0.135, 0.0, 0.0], weight: 1.0 });
            let ten = Tyre { method: Method::Points(&points), ..TYRE };
            let columns = Tyre { method: Method::Columns(Lattice::Columns16), ..TYRE };
            let sensor = SensorConfig::default();
            let mut most = [[0; 2]; 6];
            for tick in 0..PLACES {
                let z = terrain.z_f64(&terrain.closest(place(terrain, 10 * tick, 0.0)).hit) + 0.32;
                let pose = Pose::at(place(terrain, 10 * tick, z));
                let wheel = Wheel::at(pose);
                let mut call = |to: usize, call: &dyn Fn()| {
                    let before = board.spent();
                    call();
                    let spent = [board.spent().wrapping_sub(before), board.stack(call) as u64];
                    if let Some(most) = most.get_mut(to) {
                        *most = [most[0].max(spent[0]), most[1].max(spent[1])];
                    }
                };
                call(0, &|| ());
                call(1, &|| _ = black_box(terrain.closest(pose.centre)));
                call(2, &|| _ = black_box(terrain.contact(&TYRE, &wheel)));
                call(3, &|| _ = black_box(terrain.contact(&ten, &wheel)));
                call(4, &|| _ = black_box(terrain.contact(&columns, &wheel)));
                call(5, &|| _ = black_box(terrain.sensor(&sensor, &pose, &SensorStep::default())));
            }
            let names =
                ["nothing", "closest", "contact, 1 point", "contact, 10 points", "contact, 16 columns", "sensor"];
            for (name, [instructions, stack]) in names.iter().zip(most) {
                say!("count {name}: {instructions} instructions, {stack} bytes of stack");
            }
        }
    }

    /// It drives east from the middle of the ground, 20 m a second.
    fn place(terrain: &Terrain, tick: u32, z: f64) -> [f64; 3] {
        let [low, high] = terrain.bounds();
        [0.5 * (low[0] + high[0]) + 0.02 * f64::from(tick), 0.5 * (low[1] + high[1]), z]
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
        /// The middle of the ground, and the height of the hubs.
        middle_mm: [i32; 2],
        z_mm: i32,
        wheels: [Option<Answer>; 4],
    }

    impl Vehicle {
        pub fn new(terrain: &Terrain) -> Self {
            let h = terrain.header();
            let ([x, y, _], [west, south, _], [east, north, _]) = (h.origin, h.min, h.max);
            // in lattice steps, which are powers of two of a metre
            let middle = |zero: i64, least: i32, most: i32| {
                let sum = zero.wrapping_mul(2).wrapping_add(least.into()).wrapping_add(most.into());
                (sum.wrapping_mul(500) >> h.xy_log2.unsigned_abs().min(31)) as i32
            };
            let middle_mm = [middle(x, west, east), middle(y, south, north)];
            let mut vehicle = Vehicle { middle_mm, z_mm: 0, wheels: [None; 4] };
            vehicle.tick(terrain, 0);
            vehicle
        }

        pub fn tick(&mut self, terrain: &Terrain, tick: u32) {
            let mut sum = 0;
            for (wheel, [x, y, z]) in self.wheels.iter_mut().zip(HUBS) {
                // east, 20 m a second
                let [middle_x, middle_y] = self.middle_mm;
                let hub = [middle_x + 200 * tick as i32 + x, middle_y + y, self.z_mm + z];
                let answer = terrain.closest(hub.map(|mm| Fixed::from_num(mm).wrapping_div_int(1000)));
                sum += z_mm(terrain, &answer);
                *wheel = Some(answer);
            }
            self.z_mm = sum / 4 + 320;
        }

        pub fn say(&mut self, terrain: &Terrain, tick: u32) {
            for (i, wheel) in self.wheels.iter().enumerate() {
                let Some(answer) = wheel else { continue };
                let [x, y] = terrain.slope_f32(&answer.hit).map(|v| (v * 1e6) as i32);
                let mu = (terrain.surface_f32(answer)[0] * 1e6) as i32;
                let z = z_mm(terrain, answer);
                say!("{tick} wheel {i}: {} z {z} slope {x} {y} mu {mu}", answer.status as u8);
            }
        }
    }

    fn z_mm(terrain: &Terrain, answer: &Answer) -> i32 {
        terrain.z_fixed(&answer.hit).wrapping_mul_int(1000).wrapping_round().wrapping_to_num()
    }
}
