//! A car driven over the course: four wheels, each with a cursor.

use super::{STEP, is_open};
use hardpan::{Answer, Cost, Cursor, Terrain};
use std::fmt::Write;

/// Half the wheelbase and half the track, metres.
const CAR: [f64; 2] = [1.35, 0.8];
/// How high the hub of a wheel is, metres.
const HUB: f64 = 0.3;
/// How fast a recorded drive is, m/s.
const SPEED: f64 = 10.0;

/// The ground under the wheels.
#[derive(Default)]
pub struct Driven {
    /// Half way: front left, front right, rear left, rear right.
    pub half_way: Vec<Answer>,
    pub asked: u64,
    pub missed: u64,
    /// Most tests, and most lines, of a query.
    pub worst: Cost,
    /// Places of wheels, and whether there is other ground above.
    pub tracks: Vec<([f64; 2], bool)>,
}

/// Drives along a path. An error says where an answer is not as the course was laid out, or depends on the cursor.
pub fn drive(terrain: &Terrain, path: &[[f64; 2]]) -> Result<Driven, String> {
    let [low, high] = terrain.bounds();
    let mut wheels = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]].map(Wheel::new);
    let mut driven = Driven::default();
    for (i, pair) in path.windows(2).enumerate() {
        for wheel in &mut wheels {
            let at = wheel.place(pair[0], pair[1]);
            let (answer, cost) = wheel.ask(terrain, at)?;
            if answer.found() == is_open(at) {
                let what = if answer.found() { "ground in the opening" } else { "no ground" };
                return Err(format!("{what} at {at:?}"));
            }
            driven.worst.tests = driven.worst.tests.max(cost.tests);
            driven.worst.lines = driven.worst.lines.max(cost.lines);
            driven.asked += 1;
            driven.missed += u64::from(!answer.found());
            if answer.found() && i % 3 == 0 {
                let top = terrain.segment_m([at[0], at[1], high[2] + 1.0], high[2] - low[2] + 2.0);
                driven.tracks.push((at, terrain.z_f64(&top.hit) > wheel.hub));
            }
            if i == path.len() / 2 {
                driven.half_way.push(answer);
            }
        }
    }
    Ok(driven)
}

/// The hub of the left front wheel along a path, as CSV.
pub fn record(terrain: &Terrain, path: &[[f64; 2]]) -> Result<String, String> {
    let mut wheel = Wheel::new([1.0, 1.0]);
    let mut text = String::from("t,x,y,z\n");
    for (i, pair) in path.windows(2).enumerate() {
        let [x, y] = wheel.place(pair[0], pair[1]);
        wheel.ask(terrain, [x, y])?;
        let _ = writeln!(text, "{:.3},{x:.4},{y:.4},{:.4}", i as f64 * STEP / SPEED, wheel.hub); // into memory
    }
    Ok(text)
}

struct Wheel {
    /// Forward and left of the car's middle.
    arm: [f64; 2],
    /// Height of its hub.
    hub: f64,
    cursor: Cursor,
}

impl Wheel {
    /// The wheel before (1) or behind (-1) the middle, on the left (1) or right (-1).
    fn new(side: [f64; 2]) -> Self {
        Wheel { arm: [0, 1].map(|i| side[i] * CAR[i]), hub: HUB, cursor: Cursor::new() }
    }

    /// Where the wheel is while the car goes from `a` to `b`.
    fn place(&self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let (c, s, [forward, left]) = (dx / length, dy / length, self.arm);
        [a[0] + c * forward - s * left, a[1] + s * forward + c * left]
    }

    /// The ground closest to the hub, asked twice: with the cursor, and without. Without ground the hub stays as high
    /// as it is.
    fn ask(&mut self, terrain: &Terrain, [x, y]: [f64; 2]) -> Result<(Answer, Cost), String> {
        let hub = [x, y, self.hub];
        let answer = terrain.closest_cursor(hub, &mut self.cursor);
        let (single, cost) = terrain.closest_costed(hub);
        if answer != single {
            return Err(format!("the answer at {hub:?} depends on the cursor"));
        }
        if answer.found() {
            self.hub = terrain.z_f64(&answer.hit) + HUB;
        }
        Ok((answer, cost))
    }
}
