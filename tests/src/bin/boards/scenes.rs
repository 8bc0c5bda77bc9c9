//! The terrains that the boards are asked about. Only + - * and floor in what is generated: the same images everywhere.

use hardpan_builder::demo::proving_ground;
use hardpan_builder::import::{self, Frame, Up};
use hardpan_builder::{HeightField, Material, Scene as Source, Triangle};
use std::{env, path::Path};

/// A terrain, how many uniform queries it gets, how many of the costliest, whether every corner is one, and how many
/// random ones more.
pub struct Scene {
    pub name: &'static str,
    /// None where its file is not at hand.
    pub make: fn() -> Option<Source>,
    pub uniform: usize,
    pub worst: usize,
    pub corners: bool,
    pub more: usize,
}

/// `small` is what fits a microbit. `demo` is the proving ground of `hardpan demo`; `wide` has triangles of kilometres,
/// `plain` two of them, `island` has hills over two; `decks` and `slabs` have 8 and 24 pairs of 100 and 250 m, which
/// are not wide. `zones` has a floor and two painted zones in its plane, `fans` eight grounds of four triangles in one
/// plane. The last two are files of `HARDPAN_DATA`: Chrono's multilayer terrain, Recast's undulating one.
pub const ALL: [Scene; 14] = [
    Scene { name: "hills", make: || Some(hills()), uniform: 1200, worst: 4000, corners: true, more: 0 },
    Scene { name: "proving", make: || Some(proving()), uniform: 1200, worst: 4000, corners: true, more: 0 },
    Scene { name: "field", make: || Some(field()), uniform: 1200, worst: 400, corners: false, more: 0 },
    Scene { name: "small", make: || Some(small()), uniform: 360, worst: 120, corners: false, more: 0 },
    Scene { name: "demo", make: || Some(proving_ground::scene()), uniform: 600, worst: 1500, corners: false, more: 0 },
    Scene { name: "wide", make: || Some(wide()), uniform: 600, worst: 800, corners: true, more: 0 },
    Scene { name: "plain", make: || Some(plain()), uniform: 600, worst: 400, corners: true, more: 0 },
    Scene { name: "island", make: || Some(island()), uniform: 600, worst: 800, corners: true, more: 0 },
    Scene { name: "decks", make: || Some(decks(8, 100.0)), uniform: 600, worst: 400, corners: true, more: 0 },
    Scene { name: "slabs", make: || Some(decks(24, 250.0)), uniform: 600, worst: 400, corners: true, more: 0 },
    Scene { name: "zones", make: || Some(zones()), uniform: 600, worst: 400, corners: true, more: 0 },
    Scene { name: "fans", make: || Some(fans(8)), uniform: 600, worst: 400, corners: true, more: 0 },
    Scene {
        name: "multilayer",
        make: || file("roads/chrono_multilayer/multilayer-terrain.obj", None),
        uniform: 600,
        worst: 1500,
        corners: false,
        more: 20_000,
    },
    Scene {
        name: "undulating",
        make: || file("terrain/recast_undulating.obj", Some(Up::Y)),
        uniform: 600,
        worst: 1500,
        corners: false,
        more: 20_000,
    },
];

fn file(path: &str, up: Option<Up>) -> Option<Source> {
    let path = Path::new(&env::var_os("HARDPAN_DATA")?).join(path);
    let frame = Frame { up, ..Frame::default() };
    path.exists().then(|| import::read(&[&path], &frame).unwrap_or_else(|e| panic!("{e}")).scene)
}

/// splitmix64, as a fraction of 1.
pub fn unit(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A parabola's answer to the sine: period 1, from -1 to 1.
fn wave(t: f64) -> f64 {
    let u = 2.0 * (t - t.floor()) - 1.0;
    4.0 * u * (if u < 0.0 { -u } else { u } - 1.0)
}

fn relief(x: f64, y: f64) -> f64 {
    18.0 * wave(x / 310.0 + 0.1) * wave(y / 270.0) + 5.0 * wave((x + y) / 71.0) + 0.8 * wave((x - 2.0 * y) / 23.0)
}

fn empty() -> Source {
    let material = |name: &str, mu, rr| Material { rr, ..Material::new(name, mu) };
    Source {
        positions: vec![],
        triangles: vec![],
        materials: vec![material("grass", 0.6, 0.08), material("asphalt", 1.0, 0.01), material("kerb", 0.9, 0.02)],
        sources: vec!["generated".into()],
        ..Source::default()
    }
}

/// Adds a sheet of `columns` x `rows` cells, two triangles each, at whatever `place` makes of the corner's numbers.
fn sheet(to: &mut Source, columns: u32, rows: u32, material: u16, mut place: impl FnMut(u32, u32) -> [f64; 3]) {
    let first = to.positions.len() as u32;
    for j in 0..=rows {
        to.positions.extend((0..=columns).map(|i| place(i, j)));
    }
    for (j, i) in (0..rows).flat_map(|j| (0..columns).map(move |i| (j, i))) {
        let a = first + j * (columns + 1) + i;
        let [b, c, d] = [a + 1, a + columns + 2, a + columns + 1];
        let halves = if (i ^ j) & 1 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] };
        to.triangles.extend(halves.map(|v| Triangle { v, material, source: 0 }));
    }
}

/// One sheet with irregular corners, about 6 m apart.
fn rolling(cells: u32, to: &mut Source) {
    let mut random = 7;
    let size = 6.0 * f64::from(cells);
    sheet(to, cells, cells, 0, |i, j| {
        let mut shift = |at: u32| if at == 0 || at == cells { 0.0 } else { 3.6 * (unit(&mut random) - 0.5) };
        let (x, y) = (6.0 * f64::from(i) + shift(i), 6.0 * f64::from(j) + shift(j));
        [x - size / 2.0, y - size / 2.0, relief(x, y)]
    });
}

/// A straight road along x with a crown, and a kerb on each side: a steep face 3 cm wide and 12 cm high, then 30 cm of
/// top.
fn road(to: &mut Source, cells: u32, y: f64) {
    let length = f64::from(cells);
    let x = |i: u32| f64::from(i) - length / 2.0;
    sheet(to, cells, 4, 1, |i, j| [x(i), y + 2.0 * f64::from(j) - 4.0, [0.0, 0.06, 0.08, 0.06, 0.0][j as usize]]);
    for side in [-1.0, 1.0] {
        let profile = [(4.0, 0.0), (4.03, 0.12), (4.33, 0.12)];
        sheet(to, cells, 2, 2, |i, j| {
            let (across, up) = profile[j as usize];
            [x(i), y + side * across, up]
        });
    }
}

/// A deck across the road, 6 m up, with a ramp at each end.
fn bridge(to: &mut Source, half: u32, at: f64) {
    sheet(to, 8, 2 * half, 1, |i, j| {
        let y = f64::from(j) - f64::from(half);
        let from_end = f64::from(half) - if y < 0.0 { -y } else { y };
        [at + f64::from(i) - 4.0, y, if from_end < 20.0 { 0.3 * from_end } else { 6.0 }]
    });
}

fn hills() -> Source {
    let mut scene = empty();
    rolling(87, &mut scene);
    scene
}

fn proving() -> Source {
    let mut scene = empty();
    sheet(&mut scene, 52, 52, 0, |i, j| {
        let [x, y] = [i, j].map(|k| 6.0 * f64::from(k) - 156.0);
        [x, y, -0.05 + 0.04 * wave(x / 40.0) * wave(y / 50.0)]
    });
    road(&mut scene, 300, 0.0);
    bridge(&mut scene, 40, 10.0);
    // cobbles, 10 cm apart
    sheet(&mut scene, 20, 20, 1, |i, j| {
        [-40.0 + 0.1 * f64::from(i), 20.0 + 0.1 * f64::from(j), if (i | j) & 1 == 0 { 0.02 } else { 0.0 }]
    });
    scene
}

fn heights(posts: usize, pitch: f64) -> HeightField {
    let at = |k: usize| pitch * k as f64;
    HeightField {
        origin: [-at(posts / 2), -at(posts / 2)],
        pitch,
        columns: posts,
        rows: posts,
        heights: (0..posts * posts).map(|k| relief(at(k % posts), at(k / posts))).collect(),
        material: 0,
        source: 0,
        tolerance: 0.01,
        ..HeightField::default()
    }
}

fn field() -> Source {
    Source { fields: vec![heights(257, 0.5)], ..empty() }
}

fn small() -> Source {
    let mut scene = empty();
    rolling(12, &mut scene);
    road(&mut scene, 30, 0.0);
    bridge(&mut scene, 14, 6.0);
    let mut patch = heights(33, 0.5);
    patch.origin = [40.0, 40.0];
    scene.fields.push(patch);
    scene
}

/// Four decks of triangles up to 60 km long over each other, the lowest rough.
fn wide() -> Source {
    let mut scene = empty();
    for deck in 0..4u16 {
        let mut random = 11 + u64::from(deck);
        sheet(&mut scene, 9, 9, deck % 3, |i, j| {
            let [x, y] = [i, j].map(|k| 9000.0 * (f64::from(k) - 4.5) + 5000.0 * (unit(&mut random) - 0.5));
            [x, y, 1500.0 * f64::from(deck) + 900.0 * unit(&mut random)]
        });
    }
    sheet(&mut scene, 1, 1, 1, |i, j| [60000.0 * f64::from(i) - 30000.0, 60000.0 * f64::from(j) - 30000.0, 7000.0]);
    scene
}

/// A floor of 60 m and two painted zones that overlap, all at one height.
fn zones() -> Source {
    let mut scene = empty();
    for (zone, (at, size)) in (0..).zip([(-30.0, 60.0), (-20.0, 40.0), (-25.0, 40.0)]) {
        sheet(&mut scene, 1, 1, zone, |i, j| [at + size * f64::from(i), at + size * f64::from(j), 0.0]);
    }
    scene
}

/// A square of 20 m divided into four triangles again and again, each time about another point, all in one plane.
fn fans(count: u32) -> Source {
    let (mut scene, mut random) = (empty(), 5);
    for _ in 0..count {
        let a = scene.positions.len() as u32;
        let [x, y] = [0; 2].map(|_: u8| ((unit(&mut random) - 0.5) * 4800.0).floor() / 256.0);
        scene.positions.extend([
            [-10.0, -10.0, 0.0],
            [10.0, -10.0, 0.0],
            [10.0, 10.0, 0.0],
            [-10.0, 10.0, 0.0],
            [x, y, 0.0],
        ]);
        scene.triangles.extend((0..4).map(|k| Triangle { v: [a + k, a + (k + 1) % 4, a + 4], material: 0, source: 0 }));
    }
    scene
}

/// Two triangles of 60 km that are not level.
fn plain() -> Source {
    let mut scene = empty();
    sheet(&mut scene, 1, 1, 1, |i, j| {
        [
            60000.0 * f64::from(i) - 30000.0,
            60000.0 * f64::from(j) - 30000.0,
            [[0.0, 700.3], [1500.7, 2300.9]][i as usize][j as usize],
        ]
    });
    scene
}

/// Hills over two triangles of 2 km.
fn island() -> Source {
    let mut scene = hills();
    sheet(&mut scene, 1, 1, 1, |i, j| {
        let [x, y] = [i, j].map(|k| 2000.0 * f64::from(k) - 1000.0);
        [x, y, [[-40.0, -41.3], [-39.1, -40.7]][i as usize][j as usize]]
    });
    scene
}

/// Decks over each other, each of two triangles of a size, that slope.
fn decks(decks: u16, size: f64) -> Source {
    let mut scene = empty();
    for deck in 0..decks {
        let mut random = 5 + u64::from(deck);
        sheet(&mut scene, 1, 1, deck % 3, |i, j| {
            let [x, y] = [i, j].map(|k| size * f64::from(k));
            [x, y, 0.3 * size * (f64::from(deck) + 0.9 * unit(&mut random))]
        });
    }
    scene
}
