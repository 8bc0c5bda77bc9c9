//! Scenes, peers and timing for the benchmarks of Hardpan. See `README.md`.

pub mod builder;
pub mod c;
pub mod check;
#[cfg_attr(not(feature = "embree"), path = "no_embree.rs")]
pub mod embree;
pub mod grid;
pub mod heightmap;
pub mod image;
pub mod m4;
pub mod parry;
pub mod report;
pub mod scenes;
pub mod timing;
pub mod union;
pub mod workloads;

/// A place to ask at, and how far a ray may look up or down from it, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub at: [f64; 3],
    pub reach: f64,
}

/// A ray of so many metres; of f32 numbers, and its direction of length one.
#[derive(Clone, Copy, Debug)]
pub struct Sight {
    pub from: [f64; 3],
    pub direction: [f64; 3],
    pub length: f64,
}

/// Ground: its height, and how it changes per metre east and north.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    pub z: f64,
    pub slope: [f64; 2],
}

/// The questions that every structure in the comparison answers.
pub trait Peer {
    /// The nearest surface above or below.
    fn closest(&self, q: &Query) -> Option<Surface>;
    /// How many surfaces lie between `q` and `reach` below it, and the sum of their heights.
    fn layers(&self, q: &Query) -> (usize, f64);
    /// Memory needed to answer, in bytes.
    fn bytes(&self) -> usize;
}

/// Nearest surface of a ray tracer: a ray down, then a ray up that ends where the first one did.
#[inline(always)]
pub fn two_rays(q: &Query, cast: impl Fn(f64, f64) -> Option<Surface>) -> Option<Surface> {
    let below = cast(-1.0, q.reach);
    let reach = below.map_or(q.reach, |s| q.at[2] - s.z);
    match cast(1.0, reach) {
        Some(above) if above.z - q.at[2] < reach => Some(above),
        _ => below,
    }
}

/// One number that depends on everything in an answer, so that no part of it is optimised away.
#[inline(always)]
pub fn digest(s: Option<Surface>) -> f64 {
    s.map_or(0.0, |s| s.z + (s.slope[0] + s.slope[1]) * 1e-300)
}

/// splitmix64.
pub struct Rng(pub u64);

impl Rng {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in `low..high`.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.word() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Uniform in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }
}
