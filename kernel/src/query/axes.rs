//! Axes of other programs by name, and poses of their matrices.

use crate::query::Pose;

/// Axes of a world and of a body. Hardpan's are east, north, up and forward, left, up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Axes {
    /// Forward, left, up in both: ISO 8855.
    #[default]
    Iso8855 = 0,
    /// World east, north, up; body forward, left, up.
    Enu = 1,
    /// World north, east, down; body forward, right, down.
    Ned = 2,
    /// World and body x, up, right of x: right-handed.
    YUp = 3,
    /// Left-handed: left, up, back, in world and body.
    Rfactor = 4,
    /// Left-handed: forward, right, up, in world and body.
    IsoYRight = 5,
}

/// Where a coordinate comes from, and its sign.
type Map = [(usize, bool); 3];

const SAME: Map = [(0, false), (1, false), (2, false)];

impl Axes {
    /// All of them, in the order of their numbers.
    pub const ALL: [Axes; 6] = [Axes::Iso8855, Axes::Enu, Axes::Ned, Axes::YUp, Axes::Rfactor, Axes::IsoYRight];

    /// The name that people type.
    pub const fn name(self) -> &'static str {
        match self {
            Axes::Iso8855 => "iso8855",
            Axes::Enu => "enu",
            Axes::Ned => "ned",
            Axes::YUp => "y_up",
            Axes::Rfactor => "rfactor",
            Axes::IsoYRight => "iso_y_right",
        }
    }

    /// The axes of a name.
    pub fn named(name: &str) -> Option<Axes> {
        Axes::ALL.into_iter().find(|axes| axes.name() == name)
    }

    /// The axes of a number.
    pub fn numbered(number: u32) -> Option<Axes> {
        Axes::ALL.into_iter().find(|&axes| axes as u32 == number)
    }

    /// How a world's coordinates become east, north, up, and a body's forward, left, up.
    pub const fn conversion(self) -> &'static str {
        match self {
            Axes::Iso8855 | Axes::Enu => "world (x, y, z), body (x, y, z)",
            Axes::Ned => "world (y, x, -z), body (x, -y, -z)",
            Axes::YUp => "world (x, -z, y), body (x, -z, y)",
            Axes::Rfactor => "world (-z, x, y), body (-z, x, y)",
            Axes::IsoYRight => "world (x, -y, z), body (x, -y, z)",
        }
    }

    const fn world(self) -> Map {
        match self {
            Axes::Iso8855 | Axes::Enu => SAME,
            Axes::Ned => [(1, false), (0, false), (2, true)],
            Axes::YUp => [(0, false), (2, true), (1, false)],
            Axes::Rfactor => [(2, true), (0, false), (1, false)],
            Axes::IsoYRight => [(0, false), (1, true), (2, false)],
        }
    }

    const fn body(self) -> Map {
        match self {
            Axes::Ned => [(0, false), (1, true), (2, true)],
            _ => self.world(),
        }
    }

    /// A place or direction of such a world, as east, north, up. Coordinates change places and signs alone.
    pub fn world_in(self, v: [f64; 3]) -> [f64; 3] {
        apply(self.world(), v)
    }

    /// East, north, up as such a world has them.
    pub fn world_out(self, v: [f64; 3]) -> [f64; 3] {
        invert(self.world(), v)
    }

    /// A place or direction of such a body, as forward, left, up.
    pub fn body_in(self, v: [f64; 3]) -> [f64; 3] {
        apply(self.body(), v)
    }

    /// Forward, left, up as such a body has them.
    pub fn body_out(self, v: [f64; 3]) -> [f64; 3] {
        invert(self.body(), v)
    }

    /// The pose of a body: its centre, and the rows of its matrix, which takes places of the body to the world's.
    pub fn pose(self, centre: [f64; 3], rows: [[f64; 3]; 3]) -> Pose {
        // rows in our world's order, of our body's coordinates
        let rows = rows.map(|row| self.body_in(row));
        let column = |k: usize| self.world_in(rows.map(|row| row[k]));
        Pose { centre: self.world_in(centre), axes: [column(0), column(1), column(2)] }
    }
}

fn apply(map: Map, v: [f64; 3]) -> [f64; 3] {
    map.map(|(from, minus)| if minus { -v[from % 3] } else { v[from % 3] })
}

fn invert(map: Map, v: [f64; 3]) -> [f64; 3] {
    let mut out = [0.0; 3];
    for ((to, minus), v) in map.into_iter().zip(v) {
        out[to % 3] = if minus { -v } else { v };
    }
    out
}

/// Why axes are not those of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoseError {
    /// A number is not finite.
    NotFinite,
    /// The rows are not unit vectors at right angles, to 0.001.
    Skewed,
    /// The axes are those of a mirror: they belong to a frame of another name.
    Mirrored,
}

impl Pose {
    /// Turned by yaw, then pitch, then roll, each from its sine and cosine: yaw to the left, pitch nose down, roll
    /// right side down.
    pub fn turned_by(centre: [f64; 3], [yaw, pitch, roll]: [[f64; 2]; 3]) -> Pose {
        let ([sy, cy], [sp, cp], [sr, cr]) = (yaw, pitch, roll);
        Pose {
            centre,
            axes: [
                [cy * cp, sy * cp, -sp],
                [cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr],
                [cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr],
            ],
        }
    }

    /// Whether the rows of its matrix are unit vectors at right angles, to 0.001, and right-handed.
    pub fn check(&self) -> Result<(), PoseError> {
        let [a, b, c] = self.axes;
        let finite = f64::is_finite;
        if !self.axes.iter().flatten().chain(&self.centre).all(|&v| finite(v)) {
            return Err(PoseError::NotFinite);
        }
        let row = |k: usize| [a[k], b[k], c[k]];
        for (i, k) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
            let off = dot(row(i), row(k)) - if i == k { 1.0 } else { 0.0 };
            if libm::fabs(off) > 1e-3 {
                return Err(PoseError::Skewed);
            }
        }
        if dot(cross(a, b), c) < 0.0 { Err(PoseError::Mirrored) } else { Ok(()) }
    }
}

/// Three products, two sums, in this order.
pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `a + b * t`.
pub(super) fn along(a: [f64; 3], b: [f64; 3], t: f64) -> [f64; 3] {
    [a[0] + b[0] * t, a[1] + b[1] * t, a[2] + b[2] * t]
}

/// A unit vector of this direction; none of zero or of what is not finite.
pub(super) fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    // squares must neither vanish nor overflow
    let largest = v.map(libm::fabs).into_iter().fold(0.0, |m, v| if v > m { v } else { m });
    let v = v.map(|c| c / largest);
    let length = libm::sqrt(dot(v, v));
    (largest > 0.0 && length.is_finite()).then(|| v.map(|c| c / length))
}
