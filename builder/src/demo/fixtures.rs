//! Small scenes whose true heights are known: to try, for tests and benchmarks.
//!
//! Only `+ - * /` and integers make them, so every machine generates the same bits.

use crate::scene::{HeightField, Material, Scene, Triangle};
use crate::util::dice::Dice;

/// Where [`far`] lies, east and north in metres: as large as map coordinates become.
pub const FAR: [f64; 2] = [388_096.0, 3_948_996.0];
/// Depth of the joints of [`cobble`] in metres.
pub const JOINT: f64 = 0.012;
/// Posts from one joint of [`cobble`] to the next.
pub const SETT: usize = 20;

/// A name, what the scene is, and what makes it.
pub type Fixture = (&'static str, &'static str, fn() -> Scene);

/// All of them.
pub const ALL: [Fixture; 11] = [
    ("flat", "A level square of 1000 m at z = 0: two triangles, mu 0.85", flat),
    ("ramp", "The plane z = 0.10 x + 0.05 y on 200 m by 200 m, mu 0.8, rr 1.2", ramp),
    ("bridge", "Ground at z = 0 on 100 m by 100 m under a deck at z = 6 over |x| <= 5", bridge),
    ("hole", "flat with an opening of 10 m by 10 m at the centre", hole),
    ("curb", "A road at z = 0, from x = 0 on a pavement at 0.15; a lamp arm at z = 5 over |x| <= 1", curb),
    ("mats", "Three squares of 10 m: Concrete, Grass, and a material without a name", mats),
    ("cobble", "Setts of 0.10 m with joints 12 mm deep on 10 m by 10 m, as heights every 5 mm", cobble),
    ("step", "z = 0, from x = 0 on z = 0.1; heights every millimetre, 1 m by 1 m", step),
    ("city", "A town of 1200 m by 1200 m with kerbs, houses, trees and a flyover", city),
    ("soup", "A random heap of overlaps, slivers, T-junctions, duplicates and walls", || soup(1)),
    ("far", "ramp at east 388 096 m, north 3 948 996 m", far),
];

/// A level square of 1000 m at z = 0.
pub fn flat() -> Scene {
    let mut d = Draft::new(&[("Asphalt", 0.85, 1.0)]);
    let [a, b, c, e] =
        [(-500.0, -500.0), (500.0, -500.0), (-500.0, 500.0), (500.0, 500.0)].map(|(x, y)| d.vertex([x, y, 0.0]));
    d.triangle([a, b, c], 0);
    d.triangle([c, b, e], 0);
    d.scene
}

/// The plane z = 0.10 x + 0.05 y, 200 m square.
pub fn ramp() -> Scene {
    ramp_at([0.0, 0.0])
}

/// [`ramp`], moved to [`FAR`].
pub fn far() -> Scene {
    ramp_at(FAR)
}

fn ramp_at([east, north]: [f64; 2]) -> Scene {
    let mut d = Draft::new(&[("Asphalt", 0.8, 1.2)]);
    let corner = |x: f64, y: f64| [east + x, north + y, (2.0 * x + y) / 20.0];
    d.quad([corner(-100.0, -100.0), corner(100.0, -100.0), corner(100.0, 100.0), corner(-100.0, 100.0)], 0);
    d.scene
}

/// Ground at z = 0, 100 m square, under a deck at z = 6 over |x| <= 5.
pub fn bridge() -> Scene {
    let mut d = Draft::new(&[("Asphalt", 0.85, 1.0), ("Deck", 0.7, 1.1)]);
    d.level([-50.0, -50.0], [50.0, 50.0], 0.0, 0);
    d.level([-5.0, -50.0], [5.0, 50.0], 6.0, 1);
    d.scene
}

/// [`flat`] with an opening of 10 m by 10 m at the centre.
pub fn hole() -> Scene {
    let mut d = Draft::new(&[("Asphalt", 0.85, 1.0)]);
    let ring = |r: f64| [[-r, -r, 0.0], [r, -r, 0.0], [r, r, 0.0], [-r, r, 0.0]];
    let (outer, inner) = (ring(500.0).map(|p| d.vertex(p)), ring(5.0).map(|p| d.vertex(p)));
    for i in 0..4 {
        let j = (i + 1) % 4;
        d.triangle([outer[i], outer[j], inner[j]], 0);
        d.triangle([outer[i], inner[j], inner[i]], 0);
    }
    d.scene
}

/// A road at z = 0 for x < 0, a pavement at z = 0.15 for x >= 0, the kerb's face between them, and
/// a lamp arm at z = 5 over |x| <= 1.
pub fn curb() -> Scene {
    let mut d = Draft::new(&[("Metal", 0.3, 1.0), ("Pavement", 0.7, 1.3), ("Road", 0.9, 1.0)]);
    d.level([-10.0, -10.0], [0.0, 10.0], 0.0, 2);
    d.level([0.0, -10.0], [10.0, 10.0], 0.15, 1);
    d.quad([[0.0, 10.0, 0.0], [0.0, -10.0, 0.0], [0.0, -10.0, 0.15], [0.0, 10.0, 0.15]], 1);
    d.level([-1.0, -0.25], [1.0, 0.25], 5.0, 0);
    d.scene
}

/// Three squares of 10 m in a row: `Concrete`, `Grass`, and one whose material has no name.
pub fn mats() -> Scene {
    let mut d = Draft::new(&[("Concrete", 0.9, 1.0), ("Grass", 0.5, 1.6), ("", 1.0, 1.0)]);
    for i in 0..3u16 {
        let west = 10.0 * f64::from(i);
        d.level([west, 0.0], [west + 10.0, 10.0], 0.0, i);
    }
    d.scene
}

/// Setts of 0.10 m with joints [`JOINT`] deep on 10 m by 10 m, as heights every 5 mm: every
/// [`SETT`]th row and column of posts is a joint, everything else lies at z = 0.
pub fn cobble() -> Scene {
    let mut d = Draft::new(&[("Cobble", 0.75, 1.4)]);
    let posts = 2001;
    let heights = (0..posts * posts)
        .map(|i| if (i % posts) % SETT == 0 || (i / posts) % SETT == 0 { -JOINT } else { 0.0 })
        .collect();
    d.scene.fields.push(HeightField {
        origin: [-5.0, -5.0],
        pitch: 0.005,
        columns: posts,
        rows: posts,
        heights,
        material: 0,
        source: 0,
        tolerance: 0.0005,
        ..HeightField::default()
    });
    d.scene
}

/// z = 0 for x < 0 and z = 0.1 for x >= 0, as two fields of heights every millimetre, |x| and |y| up to 0.5 m.
pub fn step() -> Scene {
    let mut d = Draft::new(&[("Asphalt", 0.85, 1.0)]);
    for (west, z) in [(-0.5, 0.0), (0.0, 0.1)] {
        d.scene.fields.push(HeightField {
            origin: [west, -0.5],
            pitch: 0.001,
            columns: 501,
            rows: 1001,
            heights: vec![z; 501 * 1001],
            material: 0,
            source: 0,
            tolerance: 0.0,
            ..HeightField::default()
        });
    }
    d.scene
}

/// A town of 12 by 12 blocks: at least 405,163 vertices and 673,096 faces.
pub fn city() -> Scene {
    town(12)
}

const BLOCK: usize = 50; // cells of ground along a block
const CELL: f64 = 2.0; // metres

/// A town of `blocks` by `blocks` blocks of 100 m: rolling ground, pavements behind kerbs, buildings
/// with flat and gabled roofs, trees, and a flyover along the middle.
pub fn town(blocks: usize) -> Scene {
    let mut d = Draft::new(&[
        ("Asphalt", 0.9, 1.0),
        ("Bark", 0.4, 1.0),
        ("Concrete", 0.8, 1.1),
        ("Leaves", 0.2, 1.0),
        ("Paving", 0.7, 1.2),
        ("Roof", 0.5, 1.0),
        ("Wall", 0.6, 1.0),
    ]);
    let [asphalt, bark, concrete, leaves, paving, roof, wall] = [0, 1, 2, 3, 4, 5, 6];
    let cells = blocks * BLOCK;
    let metres = |i: usize| (i as f64 - cells as f64 / 2.0) * CELL;
    let at = |i: usize, j: usize, up: f64| [metres(i), metres(j), ground(i, j) + up];

    let first = d.scene.positions.len() as u32;
    for j in 0..=cells {
        for i in 0..=cells {
            d.vertex(at(i, j, 0.0));
        }
    }
    for j in 0..cells {
        for i in 0..cells {
            let a = first + (j * (cells + 1) + i) as u32;
            let (b, up) = (a + 1, cells as u32 + 1);
            d.triangle([a, b, b + up], asphalt);
            d.triangle([a, b + up, a + up], asphalt);
        }
    }

    for block in 0..blocks * blocks {
        let (west, south) = ((block % blocks) * BLOCK, (block / blocks) * BLOCK);
        // A pavement of one cell around the block, 0.15 m above the road, with the kerb's face.
        let (near, far) = (3, BLOCK - 3);
        let side = far - near;
        let rim = |k: usize, inset: usize| {
            let along = (k % side).clamp(inset, side - inset);
            let (i, j) = match k / side % 4 {
                0 => (near + along, near + inset),
                1 => (far - inset, near + along),
                2 => (far - along, far - inset),
                _ => (near + inset, far - along),
            };
            (west + i, south + j)
        };
        let ring: Vec<[u32; 3]> = (0..4 * side)
            .map(|k| {
                let ((i, j), (m, n)) = (rim(k, 0), rim(k, 1));
                [at(i, j, 0.0), at(i, j, 0.15), at(m, n, 0.15)].map(|p| d.vertex(p))
            })
            .collect();
        for k in 0..ring.len() {
            let ([road, edge, inner], [road2, edge2, inner2]) = (ring[k], ring[(k + 1) % ring.len()]);
            for corners in [[road, road2, edge2], [road, edge2, edge], [edge, edge2, inner2], [edge, inner2, inner]] {
                d.triangle(corners, paving);
            }
        }

        // Four lots: a building each, and trees between them.
        for lot in 0..4 {
            let mut dice = Dice(1 + 4 * block as u64 + lot as u64);
            let (i, j) = (west + 7 + 20 * (lot % 2), south + 7 + 20 * (lot / 2));
            let [x, y, z] = at(i, j, -1.0);
            let (wide, deep, high) = (8.0 + 24.0 * dice.unit(), 8.0 + 24.0 * dice.unit(), 4.0 + 36.0 * dice.unit());
            let ridge = if dice.unit() < 0.5 { 0.0 } else { wide / 3.0 };
            d.house([x, y, z], [wide, deep, high], ridge, wall, roof);
            for _ in 0..3 {
                let (tx, ty) = (x + 34.0 + 2.0 * dice.unit(), y + 30.0 * dice.unit());
                d.tree([tx, ty, z], 0.2, 4.0, bark);
                d.tree([tx, ty, z + 3.0], 1.0 + dice.unit(), 4.0 + 3.0 * dice.unit(), leaves);
            }
        }
    }

    // The flyover: a deck 4 m wide, 6 m above the ground of the middle street.
    let row = cells / 2 - 1;
    for i in 0..cells {
        let deck = [at(i, row, 6.0), at(i + 1, row, 6.0), at(i + 1, row + 2, 6.0), at(i, row + 2, 6.0)];
        d.quad(deck, concrete);
    }
    d.scene
}

/// Rolling ground: bumps of 4t(1-t) on three scales.
fn ground(i: usize, j: usize) -> f64 {
    let bump = |k: usize, period: usize| {
        let t = (k % period) as f64 / period as f64;
        4.0 * t * (1.0 - t) * if (k / period).is_multiple_of(2) { 1.0 } else { -1.0 }
    };
    6.0 * bump(i, 200) * bump(j, 150) + 1.5 * bump(i + 30, 70) + 0.05 * bump(i, 9) * bump(j, 11)
}

/// A seeded heap of everything that meshes in the wild do wrong, within about 64 m of zero: a sheet
/// with T-junctions, slivers, duplicates under other materials, vertical and collapsed faces,
/// overlaps, 24 stacked sheets, and triangles of kilometres beside triangles of millimetres.
pub fn soup(seed: u64) -> Scene {
    let mut d = Draft::new(&[("Clay", 0.4, 1.8), ("Gravel", 0.6, 1.4), ("Rock", 0.8, 1.1), ("Sand", 0.3, 2.0)]);
    let mut dice = Dice(seed);

    // A bent sheet; every third cell is halved along one side only, so its neighbour has a T-junction.
    let height: Vec<f64> = (0..13 * 13).map(|_| 4.0 * dice.unit() - 2.0).collect();
    let post = |i: usize, j: usize| [8.0 * i as f64 - 48.0, 8.0 * j as f64 - 48.0, height[13 * j + i]];
    for j in 0..12 {
        for i in 0..12 {
            let [a, b, c, e] = [post(i, j), post(i + 1, j), post(i + 1, j + 1), post(i, j + 1)];
            let m = (i + j) as u16 % 4;
            if (i + j) % 3 == 0 {
                let t = [a[0] + 8.0 * dice.unit(), a[1], a[2] + 0.01 * dice.unit()];
                d.fan(&[t, b, c, e, a], m);
            } else {
                d.fan(&[a, b, c, e], m);
            }
        }
    }
    // Overlaps of every size and winding.
    for _ in 0..160 {
        let size = [0.003, 0.1, 2.0, 30.0][dice.below(4)];
        let at = dice.point([64.0, 64.0, 10.0]);
        let corners = [(); 3].map(|()| {
            let by = dice.point([size, size, size / 4.0]);
            [0, 1, 2].map(|k| at[k] + by[k])
        });
        d.fan(&corners, dice.below(4) as u16);
    }
    // Slivers: long, and a few lattice steps wide.
    for _ in 0..40 {
        let (a, b) = (dice.point([60.0, 60.0, 3.0]), dice.point([60.0, 60.0, 3.0]));
        let t = dice.unit();
        let c = [0, 1, 2].map(|k| a[k] + t * (b[k] - a[k]) + (dice.unit() - 0.5) / 1024.0);
        d.fan(&[a, b, c], dice.below(4) as u16);
    }
    // Vertical faces, and collapsed ones.
    for _ in 0..20 {
        let (a, b) = (dice.point([50.0, 50.0, 4.0]), dice.point([50.0, 50.0, 4.0]));
        d.quad([a, b, [b[0], b[1], b[2] + 3.0], [a[0], a[1], a[2] + 3.0]], 2);
        d.fan(&[a, b, b], 2);
        d.fan(&[a, [a[0] + 1e-5, a[1], a[2]], [a[0], a[1] + 1e-5, a[2]]], 2);
    }
    // Stacked sheets, the lowest closer together than any tyre could tell.
    let corner = dice.point([20.0, 20.0, 0.0]);
    for k in 0..24 {
        let z = corner[2] + if k < 4 { f64::from(k) / 65536.0 } else { 0.3 * f64::from(k) };
        d.level([corner[0], corner[1]], [corner[0] + 6.0, corner[1] + 5.0], z, (k % 4) as u16);
    }
    // Kilometres beside millimetres.
    for k in 0..4 {
        let z = -20.0 - 5.0 * f64::from(k);
        let [a, b] = [dice.point([500.0, 500.0, 5.0]), dice.point([500.0, 500.0, 5.0])];
        d.fan(
            &[[-20_000.0 + a[0], -15_000.0 + a[1], z], [18_000.0 + b[0], -9_000.0, z + b[2]], [900.0, 22_000.0, z]],
            k as u16,
        );
    }
    for _ in 0..60 {
        let at = dice.point([0.05, 0.05, 0.02]);
        let corners = [(); 3].map(|()| {
            let by = dice.point([0.002, 0.002, 0.001]);
            [0, 1, 2].map(|k| at[k] + by[k])
        });
        d.fan(&corners, dice.below(4) as u16);
    }
    // Duplicates: turned, mirrored, under another material and source.
    d.scene.sources.push("soup-again".into());
    for _ in 0..60 {
        let mut t = d.scene.triangles[dice.below(d.scene.triangles.len())];
        t.v.rotate_left(dice.below(3));
        if dice.below(2) == 0 {
            t.v.swap(0, 1);
        }
        t.material = dice.below(4) as u16;
        t.source = dice.below(2) as u16;
        d.scene.triangles.push(t);
    }
    d.scene
}

/// A scene in the making.
struct Draft {
    scene: Scene,
}

impl Draft {
    /// Materials as (name, mu, rolling resistance).
    fn new(materials: &[(&str, f64, f64)]) -> Draft {
        let material = |&(name, mu, rr): &(&str, f64, f64)| Material { rr, ..Material::new(name, mu) };
        Draft {
            scene: Scene {
                positions: Vec::new(),
                triangles: Vec::new(),
                materials: materials.iter().map(material).collect(),
                sources: vec!["fixture".into()],
                ..Scene::default()
            },
        }
    }

    fn vertex(&mut self, p: [f64; 3]) -> u32 {
        self.scene.positions.push(p);
        self.scene.positions.len() as u32 - 1
    }

    fn triangle(&mut self, v: [u32; 3], material: u16) {
        self.scene.triangles.push(Triangle { v, material, source: 0 });
    }

    /// A polygon as triangles around its first corner.
    fn fan(&mut self, corners: &[[f64; 3]], material: u16) {
        let first = self.scene.positions.len() as u32;
        self.scene.positions.extend_from_slice(corners);
        for k in 1..corners.len() as u32 - 1 {
            self.triangle([first, first + k, first + k + 1], material);
        }
    }

    fn quad(&mut self, corners: [[f64; 3]; 4], material: u16) {
        self.fan(&corners, material);
    }

    /// A level rectangle between two corners.
    fn level(&mut self, [west, south]: [f64; 2], [east, north]: [f64; 2], z: f64, material: u16) {
        self.quad([[west, south, z], [east, south, z], [east, north, z], [west, north, z]], material);
    }

    /// Walls, and a roof whose ridge lies `ridge` above the eaves.
    fn house(&mut self, [x, y, z]: [f64; 3], [wide, deep, high]: [f64; 3], ridge: f64, wall: u16, roof: u16) {
        let (east, north, eaves, mid) = (x + wide, y + deep, z + high, x + wide / 2.0);
        let feet = [[x, y], [east, y], [east, north], [x, north]];
        for k in 0..4 {
            let ([ax, ay], [bx, by]) = (feet[k], feet[(k + 1) % 4]);
            self.quad([[ax, ay, z], [bx, by, z], [bx, by, eaves], [ax, ay, eaves]], wall);
        }
        let (top, south, far) = (eaves + ridge, [mid, y], [mid, north]);
        self.quad([[x, y, eaves], [south[0], south[1], top], [far[0], far[1], top], [x, north, eaves]], roof);
        self.quad([[mid, y, top], [east, y, eaves], [east, north, eaves], [mid, north, top]], roof);
    }

    /// An eight-sided cone.
    fn tree(&mut self, [x, y, z]: [f64; 3], radius: f64, high: f64, material: u16) {
        let ring =
            [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)]
                .map(|(u, v)| self.vertex([x + radius * u, y + radius * v, z]));
        let top = self.vertex([x, y, z + high]);
        for k in 0..8 {
            self.triangle([ring[k], ring[(k + 1) % 8], top], material);
        }
    }
}
