//! Generated scenes.

use hardpan_shaders::sort::mix;
use hardpan_shaders::{Blocks, Face, Ground, Posts};

/// Numbers that look random, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: i64) -> i64 {
        self.0 = mix(self.0);
        (self.0 % n as u64) as i64
    }

    fn within(&mut self, half: i64) -> i64 {
        self.below(2 * half) - half
    }
}

/// Triangles with what stages are asked about them.
pub struct Scene {
    pub name: &'static str,
    vertices: Vec<[i32; 3]>,
    faces: Vec<Face>,
    x: Vec<i64>,
    y: Vec<i64>,
    blocks: Vec<Blocks>,
    lists: Vec<Vec<u32>>,
    pub squares_log2: Vec<u32>,
}

impl Scene {
    pub fn ground(&self) -> Ground<'_> {
        Ground { vertices: &self.vertices, faces: &self.faces }
    }

    pub fn posts(&self) -> Posts<'_> {
        Posts { x: &self.x, y: &self.y }
    }

    pub fn grids(&self) -> Vec<(Blocks, &[u32])> {
        self.blocks.iter().zip(&self.lists).map(|(blocks, list)| (*blocks, &list[..])).collect()
    }

    /// A height that some are above of and some below.
    pub fn middle_height(&self) -> i64 {
        let mut all: Vec<i32> = self.vertices.iter().map(|v| v[2]).collect();
        all.sort_unstable();
        all.get(all.len() / 2).map_or(0, |z| (i64::from(*z) << 8) + 77)
    }

    /// With posts over all of it, also on corners and off the lattice, and grids that hold all, a part and nothing.
    fn new(name: &'static str, corners: &[[[i32; 3]; 3]], count: [usize; 2], squares_log2: &[u32]) -> Scene {
        let (mut vertices, mut faces) = (Vec::new(), Vec::new());
        for t in corners {
            let v = [0, 1, 2].map(|k| vertices.len() as u32 + k);
            vertices.extend(t);
            faces.push(Face { v, material: 0, source: 0 });
        }
        let end = |i: usize, least: bool| {
            let all = corners.iter().flatten().map(|c| i64::from(c[i]));
            if least { all.min() } else { all.max() }.unwrap_or(0)
        };
        let axis = |i: usize| {
            let (low, high) = (end(i, true) << 8, end(i, false) << 8);
            let mut all: Vec<i64> = (0..count[i] as i64).map(|k| low + (high - low) / count[i] as i64 * k).collect();
            all.extend(corners.iter().flatten().take(20).map(|c| i64::from(c[i]) << 8));
            all.extend([low - 1, high, high + 1]);
            all.sort_unstable();
            all.dedup();
            all
        };
        let (x, y) = (axis(0), axis(1));
        let low = [end(0, true), end(1, true)];
        let extent = [0, 1].map(|i| (end(i, false) - low[i] + 1) as u64);
        let log2 = extent.map(|e| e.next_power_of_two().ilog2());
        let grid = |low: [i64; 2], side: [u32; 2], more: u32| Blocks {
            low,
            block_log2: [0, 1].map(|i| (log2[i] + more).saturating_sub(side[i]).max([2, 1][i])),
            side_log2: side,
        };
        let blocks = vec![
            grid(low, [0, 0], 0),
            grid(low, [4, 3], 0),
            grid([low[0] - 3, low[1] - 5], [7, 8], 1),
            grid([0, 1].map(|i| low[i] + extent[i] as i64 / 3), [3, 3], 0),
            grid([low[0] - 3 * extent[0] as i64, low[1]], [2, 2], 0),
        ];
        let all: Vec<u32> = (0..faces.len() as u32).collect();
        let some = all.iter().copied().rev().step_by(3).collect();
        let lists = vec![all.clone(), all.clone(), some, all.clone(), all];
        Scene { name, vertices, faces, x, y, blocks, lists, squares_log2: squares_log2.to_vec() }
    }
}

/// Counter-clockwise in plan and not vertical.
fn is_ground([a, b, c]: &[[i32; 3]; 3]) -> bool {
    let way = |p: &[i32; 3]| [0, 1].map(|i| i128::from(p[i]) - i128::from(a[i]));
    let (u, v) = (way(b), way(c));
    u[0] * v[1] > u[1] * v[0]
}

fn ground(mut corners: impl FnMut() -> [[i32; 3]; 3], count: usize) -> Vec<[[i32; 3]; 3]> {
    let mut all = Vec::new();
    while all.len() < count {
        let t = corners();
        let turned = [t[0], t[2], t[1]];
        all.extend([t, turned].into_iter().find(is_ground));
    }
    all
}

/// A surface of so many cells along each side, two triangles each.
pub fn hills(side: i64) -> Scene {
    let mut random = Random(3);
    let cell = 1i64 << 13;
    let vertices: Vec<Vec<[i32; 3]>> = (0..=side)
        .map(|j| {
            let mut one = |i: i64| {
                let (x, y) = (i * cell + random.within(2000), j * cell + random.within(2000));
                [x as i32, y as i32, (((x * y) >> 12) % 90_000 + random.within(9000)) as i32]
            };
            (0..=side).map(&mut one).collect()
        })
        .collect();
    let mut corners = Vec::new();
    for (lower, upper) in vertices.iter().zip(&vertices[1..]) {
        for i in 0..side as usize {
            let (a, b, c, d) = (lower[i], lower[i + 1], upper[i], upper[i + 1]);
            corners.extend([[a, b, d], [a, d, c]].into_iter().filter(is_ground));
        }
    }
    let posts = (side * 3 / 2) as usize;
    Scene::new("hills", &corners, [posts, posts], &[11, 14, 31])
}

/// Scenes for every stage.
pub fn all_scenes() -> Vec<Scene> {
    let mut random = Random(11);
    let mut all = vec![hills(100)];
    // one order or another
    let mut shuffled = hills(60);
    shuffled.name = "shuffled hills";
    for k in (1..shuffled.faces.len()).rev() {
        shuffled.faces.swap(k, random.below(k as i64 + 1) as usize);
    }
    all.push(shuffled);
    // small ones among large ones that lie one on the other
    let size = |random: &mut Random| [300, 9000, 100_000][random.below(3) as usize];
    let mut soup = ground(
        || {
            let (s, x, y) = (size(&mut random), random.within(50_000), random.within(50_000));
            [0; 3].map(|_| [x + random.within(s), y + random.within(s), random.within(4000)].map(|v| v as i32))
        },
        900,
    );
    let large = [[-150_000, -150_000, 70], [150_000, -150_000, 70], [0, 190_000, 70]];
    // flat ones at the same height, before and behind
    let flat = |k: i32| [[k * 3000, 900, 70], [k * 3000 + 2900, 900, 70], [k * 3000, 3900, 70]];
    soup.splice(0..0, [large; 20]);
    soup.extend((-20..20).map(flat));
    soup.extend([large; 20]);
    all.push(Scene::new("soup", &soup, [70, 60], &[12, 16]));
    let end = i64::from(i32::MAX);
    let needles = ground(
        || {
            let (a, b) = (random.within(end), random.within(end));
            let across = [[-end, a, -end], [end, b, end], [end - 9, b + 5, random.within(end)]];
            let along = [[a, -end, 0], [b, end, 9], [b + 40, end - 5, 5]];
            if random.below(2) == 0 { across } else { along }.map(|c| c.map(|v| v.clamp(-end, end) as i32))
        },
        60,
    );
    all.push(Scene::new("needles", &needles, [40, 50], &[24, 27, 31]));
    let corner = |x: i32, y: i32, z: i32| [x, y, z];
    let (low, high) = (i32::MIN, i32::MAX);
    let ends = vec![
        [corner(low, low, low), corner(high, low, high), corner(high, high, low)],
        [corner(low, low, low), corner(high, high, high), corner(low, high, high)],
        [corner(low, low, 0), corner(low + 3, low, 9), corner(low, low + 3, high)],
        [corner(high, high, 5), corner(high - 40_000, high, low), corner(high, high - 40_000, high)],
    ];
    all.push(Scene::new("ends of the domain", &ends, [60, 60], &[28, 29, 30, 31]));
    // tall ones keep to 64 bits when they are narrow; others do not
    let mut random = Random(13);
    let tall = ground(
        || {
            let s = [6, 200, 8000, 1 << 20][random.below(4) as usize];
            let (x, y) = (random.within(3000), random.within(3000));
            [0; 3].map(|_| [x + random.within(s), y + random.within(s), random.within(end)].map(|v| v as i32))
        },
        700,
    );
    all.push(Scene::new("tall", &tall, [90, 90], &[16, 18]));
    all.push(Scene::new("none", &[], [5, 5], &[4]));
    all.push(Scene::new("one", &[[[3, 4, 5], [99, 6, 700], [50, 80, -40]]], [30, 30], &[0, 3, 7]));
    let in_one_cell = ground(
        || [0; 3].map(|_| [64 + random.below(60), 64 + random.below(60), random.below(9)].map(|v| v as i32)),
        800,
    );
    all.push(Scene::new("all in one cell", &in_one_cell, [25, 25], &[6, 2]));
    all
}

/// Triangles whose extents and heights take about as many bits as 64-bit products hold, somewhere in the domain.
pub fn as_wide_as_fits(seed: u64) -> Scene {
    let mut random = Random(seed);
    let plan = 1 + random.below(25);
    let height = (52 - 2 * plan - random.below(6)).clamp(1, 32);
    let centre = [0; 3].map(|_| if random.below(2) == 0 { 0 } else { random.within(1 << 31) });
    let all = ground(
        || {
            let plan = if random.below(3) == 0 { 1 + random.below(plan) } else { plan };
            let bits = [plan, plan, height];
            let mut corner = || [0, 1, 2].map(|i| centre[i] + random.below(1 << bits[i]));
            [corner(), corner(), corner()].map(|c| c.map(|v| v.clamp(i32::MIN.into(), i32::MAX.into()) as i32))
        },
        if plan < 3 { 4 } else { 200 },
    );
    Scene::new("as wide as fits", &all, [25, 25], &[(plan as u32).saturating_sub(3)])
}

/// Points with few and many bits, apart, together, and on one place.
pub fn points() -> Vec<(&'static str, Vec<[u32; 3]>)> {
    let mut random = Random(1);
    let mut some = |count: usize, bits: [u32; 3]| -> Vec<[u32; 3]> {
        (0..count).map(|_| bits.map(|b| random.below(1 << b) as u32)).collect()
    };
    let mut twice = some(4000, [20, 20, 9]);
    twice.extend(twice.clone());
    let mut descending: Vec<[u32; 3]> = (0..9000u32).map(|i| [i / 90, i % 90, i % 7]).collect();
    descending.reverse();
    vec![
        ("none", vec![]),
        ("one", vec![[7, u32::MAX, 0]]),
        ("two on one place", vec![[5, 5, 5]; 2]),
        ("all 96 bits", some(20_000, [32, 32, 32])),
        ("twice", twice),
        ("on one place", vec![[1, 2, 3]; 6000]),
        ("in one column", some(6000, [0, 0, 14])),
        ("one bit", some(5000, [1, 1, 1])),
        ("descending", descending),
        ("as many as a block", some(4096, [9, 9, 9])),
        ("one more", some(4097, [9, 9, 9])),
    ]
}
