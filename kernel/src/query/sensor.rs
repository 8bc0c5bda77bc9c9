//! The terrain sensor: a trace ahead of a vehicle, and one down from each wheel; and patterns of rays.

use crate::hit::Cost;
use crate::open::Terrain;
use crate::query::axes::along;
use crate::query::ray::{RayOptions, RayStatus};
use crate::query::{Beam, Pose, PoseError};

/// Traces of a sensor, in this order everywhere: vehicle, front left, front right, rear left, rear right.
pub const TRACES: usize = 5;

/// One trace of a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct SensorTrace {
    /// How far it ends from the centre, in metres.
    pub length: f64,
    /// How far against its direction it starts from the centre, in metres.
    pub offset: f64,
    /// Whether it is cast.
    pub enabled: bool,
}

/// Where a distance comes from that is subtracted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting<T> {
    /// The configuration.
    Constant(T),
    /// Each step.
    External,
}

impl<T> Setting<T> {
    fn of(&self, given: Option<T>) -> Result<T, SensorError>
    where
        T: Copy,
    {
        match (self, given) {
            (Setting::Constant(value), None) => Ok(*value),
            (Setting::External, Some(value)) => Ok(value),
            (Setting::Constant(_), Some(_)) => Err(SensorError::NotExpected),
            (Setting::External, None) => Err(SensorError::Missing),
        }
    }
}

/// How a sensor is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorConfig {
    /// The traces, in the order of the sensor.
    pub traces: [SensorTrace; TRACES],
    /// From the vehicle's centre to its front, in metres.
    pub vehicle_distance: Setting<f64>,
    /// Radii of the tyres, in metres: front left, front right, rear left, rear right.
    pub tyre_distance: Setting<[f64; 4]>,
    /// Centres of the tyres in the vehicle: forward, left, up, in metres.
    pub wheels: [[f64; 3]; 4],
    /// What traces see: everything that the image has.
    pub options: RayOptions,
}

impl Default for SensorConfig {
    fn default() -> Self {
        let tyre = SensorTrace { length: 2.0, offset: 0.5, enabled: true };
        SensorConfig {
            traces: [SensorTrace { length: 50.0, offset: 0.0, enabled: true }, tyre, tyre, tyre, tyre],
            vehicle_distance: Setting::Constant(2.3),
            tyre_distance: Setting::Constant([0.3; 4]),
            wheels: [[1.35, 0.8, 0.0], [1.35, -0.8, 0.0], [-1.35, 0.8, 0.0], [-1.35, -0.8, 0.0]],
            options: RayOptions::default(),
        }
    }
}

/// What a step brings along.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SensorStep {
    /// From the vehicle's centre to its front; only where the configuration asks for it.
    pub vehicle_distance: Option<f64>,
    /// Radii of the tyres; only where the configuration asks for them.
    pub tyre_distance: Option<[f64; 4]>,
    /// Centres of the tyres in the world; else those of the configuration.
    pub wheels: Option<[[f64; 3]; 4]>,
}

/// Why a step is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SensorError {
    /// A number of pose, configuration or step is not finite.
    NotFinite = 1,
    /// The axes of the vehicle are not at right angles.
    Skewed = 2,
    /// The axes of the vehicle are those of a mirror.
    Mirrored = 3,
    /// A distance is set to come with each step, and did not.
    Missing = 4,
    /// A distance is set to be constant, and came with the step.
    NotExpected = 5,
    /// An enabled trace does not run forwards: its length and offset add up to zero or less, or to more than 2 km.
    BadLength = 6,
}

impl From<PoseError> for SensorError {
    fn from(e: PoseError) -> Self {
        match e {
            PoseError::NotFinite => SensorError::NotFinite,
            PoseError::Skewed => SensorError::Skewed,
            PoseError::Mirrored => SensorError::Mirrored,
        }
    }
}

/// What a sensor saw, in the order of its traces. World: east, north, up, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorReading {
    /// Whether each trace met something.
    pub hit: [bool; TRACES],
    /// Where; of a miss the end of the trace, of a disabled one its centre.
    pub hit_location: [[f64; 3]; TRACES],
    /// Where each trace starts.
    pub start: [[f64; 3]; TRACES],
    /// Where each trace ends.
    pub end: [[f64; 3]; TRACES],
    /// Unit normals of what was met; up without a hit.
    pub normal: [[f64; 3]; TRACES],
    /// From each centre to the location; zero of a disabled trace.
    pub distance: [f64; TRACES],
    /// From the vehicle's front to what is ahead of it: below zero within the vehicle.
    pub vehicle_adjusted: f64,
    /// From each tyre's tread to what is below it: below zero inside.
    pub tyre_adjusted: [f64; 4],
    /// Materials of what was met; `u16::MAX` without a hit.
    pub material: [u16; TRACES],
    /// What each trace came to; none of a disabled one.
    pub status: [Option<RayStatus>; TRACES],
    /// What all of them cost.
    pub cost: Cost,
}

impl<'a> Terrain<'a> {
    /// One step of the terrain sensor. `docs/sensor.md` of this crate has every value.
    #[allow(clippy::needless_range_loop)] // several arrays by one trace
    pub fn sensor(&self, config: &SensorConfig, pose: &Pose, step: &SensorStep) -> Result<SensorReading, SensorError> {
        pose.check()?;
        let vehicle_distance = config.vehicle_distance.of(step.vehicle_distance)?;
        let tyre_distance = config.tyre_distance.of(step.tyre_distance)?;
        let [a, b, c, d] = step.wheels.unwrap_or_else(|| config.wheels.map(|at| pose.placed(at)));
        let centres = [pose.centre, a, b, c, d];
        let traces = config.traces.iter().flat_map(|t| [t.length, t.offset]);
        let mut numbers =
            centres.iter().flatten().copied().chain(tyre_distance).chain([vehicle_distance]).chain(traces);
        if !numbers.all(f64::is_finite) {
            return Err(SensorError::NotFinite);
        }
        let wrong = |t: &SensorTrace| t.enabled && !(t.length + t.offset > 0.0 && t.length + t.offset <= 2000.0);
        if config.traces.iter().any(wrong) {
            return Err(SensorError::BadLength);
        }
        let mut reading = SensorReading {
            hit: [false; TRACES],
            hit_location: centres,
            start: centres,
            end: centres,
            normal: [[0.0, 0.0, 1.0]; TRACES],
            distance: [0.0; TRACES],
            vehicle_adjusted: 0.0,
            tyre_adjusted: [0.0; 4],
            material: [u16::MAX; TRACES],
            status: [None; TRACES],
            cost: Cost::default(),
        };
        let down = pose.axes[2].map(|v| -v);
        for k in 0..TRACES {
            let trace = config.traces[k];
            if !trace.enabled {
                continue;
            }
            let (centre, direction) = (centres[k], if k == 0 { pose.axes[0] } else { down });
            let (start, end) = (along(centre, direction, -trace.offset), along(centre, direction, trace.length));
            (reading.start[k], reading.end[k], reading.hit_location[k]) = (start, end, end);
            let status = match self.ray_to(start, end) {
                Ok(ray) => {
                    let answer = self.raycast_watched(ray, &config.options, &mut reading.cost);
                    if answer.found() {
                        reading.hit[k] = true;
                        reading.hit_location[k] = self.metres(answer.hit.at);
                        reading.normal[k] = self.face_normal_f64(&answer.hit);
                        reading.material[k] = answer.hit.material;
                    }
                    answer.status
                }
                Err(status) => status,
            };
            reading.status[k] = Some(status);
            let way = along(reading.hit_location[k], centre, -1.0);
            reading.distance[k] = libm::sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
        }
        // of a disabled trace there is no distance, and nothing is subtracted
        let less = |k: usize, less: f64| if config.traces[k].enabled { reading.distance[k] - less } else { 0.0 };
        reading.vehicle_adjusted = less(0, vehicle_distance);
        reading.tyre_adjusted = [0, 1, 2, 3].map(|k: usize| less(k + 1, tyre_distance[k]));
        Ok(reading)
    }
}

/// Patterns of rays of a wheel, by name; the spin axis is their origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// One ray from 1 m above, straight down, 20 m.
    One,
    /// Five rays from the axle, 30 degrees apart, 6 m.
    Fan5,
    /// The same five from 0.37 m below the axle, 4 m.
    Fan5Rim,
    /// Five rays from the axle, 15 degrees apart, 6 m.
    Fan5At15,
    /// Nine rays straight down from a line across the tread, 0.37 m below the axle and 0.25 m wide, 2 m.
    Rake9,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Pattern; 5] = [Pattern::One, Pattern::Fan5, Pattern::Fan5Rim, Pattern::Fan5At15, Pattern::Rake9];

    /// The name that people type.
    pub const fn name(self) -> &'static str {
        match self {
            Pattern::One => "one",
            Pattern::Fan5 => "fan5",
            Pattern::Fan5Rim => "fan5-rim",
            Pattern::Fan5At15 => "fan5-15",
            Pattern::Rake9 => "rake9",
        }
    }

    /// The pattern of a name.
    pub fn named(name: &str) -> Option<Pattern> {
        Pattern::ALL.into_iter().find(|pattern| pattern.name() == name)
    }

    /// Its rays, and how many of them count: one, five or nine.
    pub fn beams(self) -> ([Beam; 9], usize) {
        // sine and cosine of 60, 30 and 15 degrees
        const ROOT3: f64 = 0.866_025_403_784_438_6;
        const SIN15: f64 = 0.258_819_045_102_520_74;
        const COS15: f64 = 0.965_925_826_289_068_3;
        let down = [0.0, 0.0, -1.0];
        let beam =
            |z: f64, direction: [f64; 3], length: f64| Beam { origin: [0.0, 0.0, z], direction, length, less: 0.0 };
        let mut beams = [beam(1.0, down, 20.0); 9];
        let fan = |[[s1, c1], [s2, c2]]: [[f64; 2]; 2]| {
            [[s1, 0.0, -c1], [s2, 0.0, -c2], down, [-s2, 0.0, -c2], [-s1, 0.0, -c1]]
        };
        let at30 = [[ROOT3, 0.5], [0.5, ROOT3]];
        let at15 = [[0.5, ROOT3], [SIN15, COS15]];
        let (angles, z, length) = match self {
            Pattern::One => return (beams, 1),
            Pattern::Rake9 => {
                for (i, to) in beams.iter_mut().enumerate() {
                    *to = beam(-0.37, down, 2.0);
                    to.origin[1] = (4.0 - i as f64) * 0.03125;
                }
                return (beams, 9);
            }
            Pattern::Fan5 => (at30, 0.0, 6.0),
            Pattern::Fan5Rim => (at30, -0.37, 4.0),
            Pattern::Fan5At15 => (at15, 0.0, 6.0),
        };
        for (to, direction) in beams.iter_mut().zip(fan(angles)) {
            *to = beam(z, direction, length);
        }
        (beams, 5)
    }
}
