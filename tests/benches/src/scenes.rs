//! The scenes: made of formulas, the same on every machine, vertices rounded to f32 so that every peer sees the same
//! mesh.

use crate::Rng;
use crate::heightmap::Heightmap;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Triangles over shared vertices.
#[derive(Default)]
pub struct Mesh {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|v| self.positions[v as usize].map(f64::from))
    }

    pub fn bounds(&self) -> [[f64; 3]; 2] {
        let mut b = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
        for p in &self.positions {
            for a in 0..3 {
                b[0][a] = b[0][a].min(p[a].into());
                b[1][a] = b[1][a].max(p[a].into());
            }
        }
        b
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A height field of 2 x 2 km in quads.
    Hills { columns: usize, rows: usize },
    /// 1 x 1 km, turned by 17 degrees: streets, kerbs, pavements, three bridges, three tunnels, 500 boxes.
    City,
    /// A road of 250 x 4 m in 2 cm quads, 1.5 m above a corner of 10 x 10 km in 50 m quads.
    Strip,
}

#[derive(Clone, Copy)]
pub struct Scene {
    pub name: &'static str,
    pub kind: Kind,
}

pub const SCENES: [Scene; 6] = [
    Scene { name: "hills10k", kind: Kind::Hills { columns: 100, rows: 50 } },
    Scene { name: "hills100k", kind: Kind::Hills { columns: 250, rows: 200 } },
    Scene { name: "hills1m", kind: Kind::Hills { columns: 800, rows: 625 } },
    Scene { name: "city", kind: Kind::City },
    Scene { name: "strip", kind: Kind::Strip },
    Scene { name: "hills10m", kind: Kind::Hills { columns: 2500, rows: 2000 } },
];

/// Triangles of the strip's country; the road's come after them.
pub const COUNTRY_TRIANGLES: usize = 80_000;

impl Scene {
    pub fn mesh(&self) -> Mesh {
        match self.kind {
            Kind::Hills { columns, rows } => {
                let mut m = Modeller::new(0.0, [-1000.0, -1000.0]);
                m.patch((0.0..2000.0, columns), (0.0..2000.0, rows), hills);
                m.mesh
            }
            Kind::City => city(),
            Kind::Strip => strip(),
        }
    }

    /// The same ground as a height map, if it has one layer.
    pub fn heightmap(&self) -> Option<Heightmap> {
        match self.kind {
            Kind::Hills { columns, rows } => Some(Heightmap::hills(columns, rows)),
            _ => None,
        }
    }
}

/// Puts triangles together; equal vertices are one.
#[derive(Default)]
pub struct Modeller {
    pub mesh: Mesh,
    known: HashMap<[u32; 3], u32, BuildHasherDefault<Mix>>,
    turn: (f64, f64),
    shift: [f64; 2],
}

impl Modeller {
    fn new(angle: f64, shift: [f64; 2]) -> Self {
        Modeller { mesh: Mesh::default(), known: HashMap::default(), turn: angle.sin_cos(), shift }
    }

    fn vertex(&mut self, [x, y, z]: [f64; 3]) -> u32 {
        let (s, c) = self.turn;
        let (x, y) = (x + self.shift[0], y + self.shift[1]);
        self.placed([(c * x - s * y) as f32, (s * x + c * y) as f32, z as f32])
    }

    fn placed(&mut self, p: [f32; 3]) -> u32 {
        let p = p.map(|v| v + 0.0); // no negative zero
        *self.known.entry(p.map(f32::to_bits)).or_insert_with(|| {
            self.mesh.positions.push(p);
            self.mesh.positions.len() as u32 - 1
        })
    }

    /// A triangle that is where it should be.
    pub fn triangle(&mut self, corners: [[f32; 3]; 3]) {
        let corners = corners.map(|p| self.placed(p));
        self.mesh.triangles.push(corners);
    }

    fn quad(&mut self, corners: [[f64; 3]; 4]) {
        let [a, b, c, d] = corners.map(|p| self.vertex(p));
        self.mesh.triangles.extend([[a, b, c], [a, c, d]]);
    }

    /// `x.1` by `y.1` quads of heights over a rectangle.
    fn patch(&mut self, x: (Range<f64>, usize), y: (Range<f64>, usize), z: impl Fn(f64, f64) -> f64) {
        let at = |(r, n): &(Range<f64>, usize), i: usize| r.start + (r.end - r.start) * i as f64 / *n as f64;
        for j in 0..y.1 {
            for i in 0..x.1 {
                self.quad([(0, 0), (1, 0), (1, 1), (0, 1)].map(|(a, b)| {
                    let (x, y) = (at(&x, i + a), at(&y, j + b));
                    [x, y, z(x, y)]
                }));
            }
        }
    }

    /// A vertical face over `a`-`b`, with its foot and top at either end.
    fn wall(&mut self, a: [f64; 2], b: [f64; 2], foot: [f64; 2], top: [f64; 2]) {
        self.quad([[a[0], a[1], foot[0]], [b[0], b[1], foot[1]], [b[0], b[1], top[1]], [a[0], a[1], top[0]]]);
    }
}

/// A quick hash for keys of three words.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(b.into());
        }
    }
    fn write_u32(&mut self, v: u32) {
        self.0 = (self.0.rotate_left(26) ^ u64::from(v)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// -1..1 for a point of the integer plane.
fn speckle(i: i64, j: i64) -> f64 {
    Rng((i as u64).wrapping_mul(0x8DA6_B343) ^ (j as u64).wrapping_mul(0xD816_3841) ^ 77).range(-1.0, 1.0)
}

/// Smooth noise with features of size one.
fn noise(x: f64, y: f64) -> f64 {
    let (i, j) = (x.floor(), y.floor());
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let (u, v) = (smooth(x - i), smooth(y - j));
    let row = |b: i64| {
        let h = |a: i64| speckle(i as i64 + a, j as i64 + b);
        h(0) * (1.0 - u) + h(1) * u
    };
    row(0) * (1.0 - v) + row(1) * v
}

/// Height of the hills at 0..2000 m.
pub fn hills(x: f64, y: f64) -> f64 {
    20.0 * (x / 310.0).sin() * (y / 270.0).cos()
        + 5.0 * noise(x / 60.0, y / 60.0)
        + noise(x / 12.0, y / 12.0)
        + 0.05 * noise(x / 1.7, y / 1.7)
}

pub const CITY_ANGLE: f64 = 17.0 * std::f64::consts::PI / 180.0;
pub const CITY_SHIFT: [f64; 2] = [-500.0, -500.0];

/// Height of the city's streets at 0..1000 m.
pub fn street(x: f64, y: f64) -> f64 {
    3.0 * (x / 150.0).sin() * (y / 190.0).cos() + 0.004 * noise(x / 0.8, y / 0.8)
}

fn city() -> Mesh {
    const KERB: f64 = 0.15;
    #[derive(PartialEq)]
    enum Use {
        Road,
        Pavement,
        Block,
    }
    let from_axis = |i: i64| (i.rem_euclid(100)).min(99 - i.rem_euclid(100));
    let land = |i: i64, j: i64| match from_axis(i).min(from_axis(j)) {
        0..5 => Use::Road,
        5..7 => Use::Pavement,
        _ => Use::Block,
    };
    let mut m = Modeller::new(CITY_ANGLE, CITY_SHIFT);
    for j in 0..1000 {
        for i in 0..1000 {
            let (x, y) = (i as f64, j as f64);
            let lift = match land(i, j) {
                Use::Block => continue,
                Use::Pavement => KERB,
                Use::Road => 0.0,
            };
            m.patch((x..x + 1.0, 1), (y..y + 1.0, 1), |x, y| street(x, y) + lift);
            if lift > 0.0 {
                let [sw, se, ne, nw] = [[x, y], [x + 1.0, y], [x + 1.0, y + 1.0], [x, y + 1.0]];
                for (di, dj, a, b) in [(1, 0, se, ne), (-1, 0, nw, sw), (0, 1, ne, nw), (0, -1, sw, se)] {
                    if land(i + di, j + dj) == Use::Road {
                        let foot = [street(a[0], a[1]), street(b[0], b[1])];
                        m.wall(a, b, foot, foot.map(|z| z + KERB));
                    }
                }
            }
        }
    }
    let mut rng = Rng(5);
    for block in 0..100 {
        let [x0, y0] = [block % 10, block / 10].map(|i| f64::from(i) * 100.0 + 7.0);
        m.patch((x0..x0 + 86.0, 21), (y0..y0 + 86.0, 21), |x, y| street(x, y) + KERB);
        for _ in 0..5 {
            let (w, d, h) = (rng.range(8.0, 25.0), rng.range(8.0, 25.0), rng.range(6.0, 40.0));
            let (x, y) = (x0 + rng.range(1.0, 85.0 - w), y0 + rng.range(1.0, 85.0 - d));
            let z = street(x, y);
            let corners = [[x, y], [x + w, y], [x + w, y + d], [x, y + d]];
            for k in 0..4 {
                m.wall(corners[k], corners[(k + 1) % 4], [z - 1.0; 2], [z + h; 2]);
            }
            m.patch((x..x + w, 1), (y..y + d, 1), |_, _| z + h);
        }
    }
    for y in [200.0, 500.0, 800.0] {
        let deck = |x: f64| street(x, y) + 6.5 + 2.0 * (x / 90.0).sin();
        m.patch((0.0..1000.0, 500), (y - 4.0..y + 4.0, 4), |x, _| deck(x));
        m.patch((0.0..1000.0, 500), (y - 4.0..y + 4.0, 4), |x, _| deck(x) - 1.0);
        for x in (0..500).map(|k| f64::from(k) * 2.0) {
            let ends = [deck(x), deck(x + 2.0)];
            for edge in [y - 4.0, y + 4.0] {
                m.wall([x, edge], [x + 2.0, edge], ends.map(|z| z - 1.0), ends.map(|z| z + 1.0));
            }
        }
    }
    for x in [300.0, 600.0, 900.0] {
        let floor = |y: f64| street(x, y) - 7.0;
        m.patch((x - 4.0..x + 4.0, 4), (0.0..1000.0, 500), |_, y| floor(y));
        m.patch((x - 4.0..x + 4.0, 4), (0.0..1000.0, 500), |_, y| floor(y) + 5.0);
        for y in (0..500).map(|k| f64::from(k) * 2.0) {
            let ends = [floor(y), floor(y + 2.0)];
            for edge in [x - 4.0, x + 4.0] {
                m.wall([edge, y], [edge, y + 2.0], ends, ends.map(|z| z + 5.0));
            }
        }
    }
    m.mesh
}

/// Plan position on the strip's road, `along` and `across` its gentle curve.
pub fn on_road(along: f64, across: f64) -> [f64; 2] {
    const RADIUS: f64 = 400.0;
    const START: f64 = 0.6;
    let (s0, c0) = f64::sin_cos(START);
    let (s, c) = (START + along / RADIUS).sin_cos();
    [4200.0 + (RADIUS - across) * c - RADIUS * c0, 4100.0 + (RADIUS - across) * s - RADIUS * s0]
}

fn strip() -> Mesh {
    let country = |x: f64, y: f64| 30.0 * (x / 700.0).sin() * (y / 900.0).cos() + 8.0 * noise(x / 300.0, y / 300.0);
    let mut m = Modeller::new(0.0, [0.0; 2]);
    m.patch((-5000.0..5000.0, 200), (-5000.0..5000.0, 200), country);
    let post = |i: i64, j: i64| {
        let (along, across) = (i as f64 * 0.02, j as f64 * 0.02 - 2.0);
        let [x, y] = on_road(along, across);
        [x, y, country(x, y) + 1.5 + 0.01 * noise(along / 0.5, across / 0.5) + 0.003 * speckle(i, j)]
    };
    for i in 0..12_500 {
        for j in 0..200 {
            m.quad([post(i, j), post(i + 1, j), post(i + 1, j + 1), post(i, j + 1)]);
        }
    }
    m.mesh
}
