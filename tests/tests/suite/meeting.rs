//! Where height fields meet: in themselves, from tile to tile, each other, and meshes. The truth is the source's posts,
//! bilinear in f64, and of one image the posts that it stores.

use crate::common::lattice_scene;
use hardpan::{Hit, LeafKind, Point, Ray, RayOptions, RayStatus, Status, Terrain, Windows};
use hardpan_builder::image::decode;
use hardpan_builder::{HeightField, Image, Options, Rays, Scene, Triangle, Verify, build, verify};
use std::collections::{BTreeMap, BTreeSet};
use verification::bytes::BLANK;
use verification::random::Random;

/// Query steps in a metre, in plan and in height, at the default steps.
const PLAN: f64 = 1_048_576.0;
const HEIGHT: f64 = 16_777_216.0;

/// A field of random heights about 20 m, on slopes; of every so many posts one has none.
fn rough(origin: [f64; 2], pitch: f64, [columns, rows]: [usize; 2], span: f64, voids: usize, seed: u64) -> HeightField {
    let mut r = Random(seed);
    let heights = (0..columns * rows).map(|i| {
        let z = 20.0 + span * r.below(10_000) as f64 / 10_000.0 + pitch * (0.03 * (i % columns) as f64);
        if voids > 0 && r.below(voids) == 0 { f64::NAN } else { z }
    });
    HeightField { origin, pitch, columns, rows, heights: heights.collect(), ..HeightField::default() }
}

fn scene(fields: Vec<HeightField>) -> Scene {
    Scene { fields, ..lattice_scene(&[], Vec::new()) }
}

fn built(scene: &Scene, tile_log2: Option<u8>) -> Image {
    let image = build(scene, &Options { tile_log2, ..Options::default() }).expect("builds").image;
    let verdict = verify(&image, &Verify::default()).unwrap();
    assert!(verdict.passed(), "{:?}", verdict.failed());
    image
}

/// Any height is near: the nearest answers, however far.
fn wide(t: &Terrain) -> hardpan::Options {
    hardpan::Options { windows: Windows { near: 1 << 50, far: 1 << 50 }, ..t.options() }
}

/// Bilinear over a place in metres, in f64; none outside all cells whose four posts have heights. `hair` metres beyond
/// a cell still count as in it.
fn bilinear(f: &HeightField, [x, y]: [f64; 2], hair: f64) -> Option<f64> {
    let u = [(x - f.origin[0]) / f.pitch, (y - f.origin[1]) / f.pitch];
    let near = |v: f64| {
        let all = [(v - hair / f.pitch).floor(), (v + hair / f.pitch).floor()];
        all.map(|i| i as i64)
    };
    let inside = |i: i64, n: usize| (0..n as i64 - 1).contains(&i);
    for (i, j) in near(u[0]).into_iter().flat_map(|i| near(u[1]).map(|j| (i, j))) {
        if !inside(i, f.columns) || !inside(j, f.rows) {
            continue;
        }
        let post = |a: i64, b: i64| f.heights[((j + b) as usize) * f.columns + (i + a) as usize];
        let [a, b, c, d] = [post(0, 0), post(1, 0), post(0, 1), post(1, 1)];
        let [s, t] = [(u[0] - i as f64).clamp(0.0, 1.0), (u[1] - j as f64).clamp(0.0, 1.0)];
        let z = (a * (1.0 - s) + b * s) * (1.0 - t) + (c * (1.0 - s) + d * s) * t;
        if z.is_finite() {
            return Some(z);
        }
    }
    None
}

/// The steepest way from a post of a field to the next.
fn steepest(f: &HeightField) -> f64 {
    let next = |k: usize, by: usize| Some((f.heights.get(k + by)? - f.heights[k]).abs() / f.pitch);
    let east = (0..f.heights.len()).filter(|k| (k + 1) % f.columns != 0).filter_map(|k| next(k, 1));
    let north = (0..f.heights.len()).filter_map(|k| next(k, f.columns));
    let [a, b] = [east.fold(0.0, f64::max), north.fold(0.0, f64::max)];
    a.hypot(b)
}

/// How far ground may be from the truth at a place, metres: the stated error in height, and the stated error in plan up
/// the steepest slope. Answers are rounded to half a query step, and the truth is an f64.
fn stated(t: &Terrain, slope: f64) -> f64 {
    t.header().error_height + slope * t.header().error_plan + 1.0 / HEIGHT
}

type Posts = BTreeMap<[i64; 2], i64>;

/// All posts of cells with ground, the cells by the query steps of two corners, and how many posts several tiles hold.
/// Every block that holds a post has the same height of it.
fn posts(t: &Terrain) -> (Posts, Vec<[[i64; 2]; 2]>, usize) {
    let (mut posts, mut cells, mut shared) = (Posts::new(), BTreeSet::new(), BTreeMap::new());
    for (number, tile) in decode::tiles(t).enumerate() {
        for field in tile.fields() {
            let [columns, rows] = field.patch.cells;
            for (i, j) in (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j))) {
                let Some(corners) = field.cell([i, j]) else { continue };
                let at = |k: u32| [field.step(0, i + (k & 1)), field.step(1, j + (k >> 1))];
                cells.insert([at(0), at(3)]);
                for (k, z) in (0..).zip(corners) {
                    let there = *posts.entry(at(k)).or_insert(z);
                    assert_eq!(there, z, "two heights of the post at {:?}", at(k));
                    shared.entry(at(k)).or_insert_with(BTreeSet::new).insert(number);
                }
            }
        }
    }
    let shared = shared.values().filter(|tiles| tiles.len() > 1).count();
    (posts, cells.into_iter().collect(), shared)
}

/// n/d rounded to the nearest whole number, a half to the even one.
fn half_even(n: i128, d: i128) -> i64 {
    let (floor, rest) = (n.div_euclid(d), n.rem_euclid(d));
    let up = 2 * rest > d || 2 * rest == d && floor % 2 != 0;
    (floor + i128::from(up)) as i64
}

/// Within a field there is no crack: posts that blocks and tiles share are equal, and at a border every cell that has
/// the place gives the same bits, which are the answer's. In heights of 8 and 16 bits, with and without missing posts,
/// in one tile and in many.
#[test]
fn rf_65_a_field_has_no_crack_at_posts_blocks_and_tiles() {
    let mut classes = BTreeSet::new();
    // pitches are whole query steps, and their cells' fractions shifts
    for (pitch, span, tolerance, small) in
        [(0.5, 1.5, 0.01, 13), (0.25, 0.9, 0.0, 12), (2.0, 300.0, 0.05, 15), (8.0, 3.0, 0.1, 17)]
    {
        for (voids, tile_log2) in [(0, small), (0, small + 1), (9, small), (0, 24)] {
            let mut field = rough([3.0, 5.0], pitch, [43, 38], span, voids, 7 + u64::from(tile_log2));
            field.tolerance = tolerance;
            let image = built(&scene(vec![field.clone()]), Some(tile_log2));
            let t = Terrain::open_verified(&image).unwrap();
            let origin = t.header().origin.map(|v| v << 8);
            let (posts, cells, shared) = posts(&t);
            classes.extend(decode::fields(&t).iter().filter_map(|f| f.blocks.as_ref()).map(|b| b.class));
            assert!(if tile_log2 < 24 { shared > 50 } else { shared == 0 }, "{shared} posts are in several tiles");
            let error = stated(&t, 0.0);
            for (at, z) in &posts {
                let metres = [0, 1].map(|k| (at[k] + origin[k]) as f64 / PLAN);
                let truth = bilinear(&field, metres, 1e-9).expect("a post of the field");
                let z = (z + origin[2]) as f64 / HEIGHT;
                assert!((z - truth).abs() <= error, "{z} for {truth} at {metres:?}, {error} stated");
            }
            let side = (pitch * PLAN) as i64;
            let cell = |at: [i64; 2]| {
                let corner = |i: i64, j: i64| posts.get(&[at[0] + i * side, at[1] + j * side]).copied();
                let all = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)];
                // posts may be there for the cells beside this one
                cells.binary_search(&[at, [at[0] + side, at[1] + side]]).ok()?;
                Some(all.map(|z| i128::from(z.unwrap())))
            };
            let mut r = Random(11);
            let (mut borders, mut found) = (0, 0);
            let least = [0, 1].map(|k| posts.keys().map(|at| at[k]).min().unwrap());
            for _ in 0..3000 {
                let any = [0, 1].map(|k| least[k] + r.within(0, side * ([43, 38][k] - 1)));
                let tile = 1i64 << (tile_log2 + 8);
                let on = [r.below(4), r.below(4)];
                // a line of posts, a border of tiles, or any place; and one query step to either side
                let q = [0, 1].map(|k| {
                    let at = match on[k] {
                        0 => any[k],
                        1 | 2 => least[k] + (any[k] - least[k] + side / 2).div_euclid(side) * side,
                        _ => (any[k] + tile / 2).div_euclid(tile) * tile,
                    };
                    at + r.within(-1, 1)
                });
                // all cells that have the place, with the sixteen bits of its fraction
                let along = |k: usize| {
                    let (low, rest) = ((q[k] - least[k]).div_euclid(side), (q[k] - least[k]).rem_euclid(side));
                    let f = i128::from(rest) * 65_536 / i128::from(side);
                    let own = (least[k] + low * side, f);
                    if f == 0 { vec![own, (own.0 - side, 65_536)] } else { vec![own] }
                };
                let ys = along(1);
                let both = along(0).into_iter().flat_map(|x| ys.iter().map(move |y| (x, *y)));
                let heights: Vec<i64> = both
                    .filter_map(|((x, fx), (y, fy))| {
                        let [a, b, c, d] = cell([x, y])?;
                        let (gx, gy) = (65_536 - fx, 65_536 - fy);
                        Some(half_even((a * gx + b * fx) * gy + (c * gx + d * fx) * fy, 1 << 32))
                    })
                    .collect();
                borders += usize::from(heights.len() > 1);
                assert!(heights.windows(2).all(|w| w[0] == w[1]), "a crack at {q:?}: {heights:?}");
                let answer = t.closest_with(Point { x: q[0] + origin[0], y: q[1] + origin[1], z: 0 }, &wide(&t));
                let z = answer.found().then(|| answer.hit.z - origin[2]);
                assert_eq!(z, heights.first().copied(), "{q:?}, tiles 2^{tile_log2}");
                found += usize::from(answer.found());
            }
            assert!(borders > 500 && found > 1000, "{borders} {found}");
        }
    }
    assert_eq!(classes, BTreeSet::from([0, 1]), "heights of 8 and of 16 bits");
}

/// Every surface over a place, highest first: its height in metres, and the hit.
fn layers(t: &Terrain, p: Point) -> Vec<(f64, Hit)> {
    let mut space = [BLANK.hit; 8];
    let found = t.layers(p, &mut space);
    assert!(found.total <= space.len());
    space[..found.written].iter().map(|hit| (t.z_f64(hit), *hit)).collect()
}

/// Places on the line x = `at`, from y to y, and one and two query steps beside it.
fn along(t: &Terrain, at: f64, [low, high]: [f64; 2], count: usize, seed: u64) -> Vec<Point> {
    let mut r = Random(seed);
    let place = |k: usize| {
        let y = low + (high - low) * if k < 2 { k as f64 } else { r.below(1_000_001) as f64 / 1e6 };
        let p = t.point([at, y, 0.0]).unwrap();
        let [from, to] = [low, high].map(|y| (y * PLAN) as i64);
        let y = p.y.clamp(from + 1, to - 1);
        (-2..=2).map(move |by| Point { x: p.x + by, y, z: 0 })
    };
    (0..count).flat_map(place).collect()
}

/// Two fields of one pitch that share a row of posts, as tiles of an elevation model do: every place on the border has
/// ground, and all ground there is within the stated error of the posts. So the two differ by twice that at most.
#[test]
fn rf_65_fields_side_by_side_meet_within_the_stated_error() {
    for (n, (pitch, span, tolerance, origin)) in [
        (10.0, 4.0, 0.25, [100.0, -300.0]),
        (30.0, 90.0, 0.25, [388_096.0, 5_000_000.0]),
        (1.0 / 3.0, 0.5, 0.02, [0.1, 0.7]),
        (0.05, 0.1, 0.004, [-3.3, 1.0]),
        (0.01, 0.005, 0.0, [0.003, 0.0]),
    ]
    .into_iter()
    .enumerate()
    {
        let (columns, rows) = (41, 33);
        let mut all = rough(origin, pitch, [2 * columns - 1, rows], span, 0, 31 + n as u64);
        // spikes beside the border, which make blocks coarser there
        (1..rows).step_by(2).for_each(|j| all.heights[j * (2 * columns - 1) + columns + 1] += 8.0 * span);
        let half = |from: usize, source: u16| {
            let heights = (0..rows).flat_map(|j| &all.heights[j * all.columns + from..][..columns]);
            let x = origin[0] + pitch * from as f64;
            HeightField {
                origin: [x, origin[1]],
                columns,
                heights: heights.copied().collect(),
                source,
                // one of the two is coarser
                tolerance: tolerance * f64::from(1 + source),
                ..all.clone()
            }
        };
        let (west, east) = (half(0, 0), half(columns - 1, 1));
        for small in [None, Some((pitch * 16.0 * 4096.0).log2() as u8)] {
            let image = built(&scene(vec![west.clone(), east.clone()]), small);
            let t = Terrain::open_verified(&image).unwrap();
            assert!(small.is_none() || t.header().tile_count > 4);
            let error = stated(&t, steepest(&all));
            let (mut both, mut apart) = (0, 0f64);
            let y = [origin[1], origin[1] + pitch * (rows - 1) as f64];
            for p in along(&t, east.origin[0], y, 400, 5) {
                assert_eq!(t.closest_with(p, &wide(&t)).status, Status::Found, "{p:?}, pitch {pitch}");
                let truth = bilinear(&all, [p.x as f64 / PLAN, p.y as f64 / PLAN], 1e-6).unwrap();
                let found = layers(&t, p);
                for (z, hit) in &found {
                    assert!((z - truth).abs() <= error, "{z} for {truth}, {error} stated, pitch {pitch}");
                    assert_eq!(hit.leaf, LeafKind::Patch);
                }
                if let [(a, _), (b, _)] = found[..] {
                    (both, apart) = (both + 1, apart.max(a - b));
                }
            }
            println!("pitch {pitch}: {apart} m apart at {both} places, {} allowed", 2.0 * error);
            assert!(apart <= 2.0 * error);
            assert_eq!(both > 100, tolerance > 0.0, "two heights at {both} places");
        }
    }
}

/// A strip of quads along a border of a field, whose corners there are its posts.
fn apron(field: &HeightField, wide: f64) -> (Vec<[f64; 3]>, Vec<Triangle>) {
    let east = field.origin[0] + field.pitch * (field.columns - 1) as f64;
    let rows = 0..field.rows;
    let corner = |j: usize| {
        let (y, z) = (field.origin[1] + field.pitch * j as f64, field.heights[(j + 1) * field.columns - 1]);
        [[east, y, z], [east + wide, y, z + 0.25]]
    };
    let quads = (0..field.rows as u32 - 1).map(|j| [2 * j, 2 * j + 1, 2 * j + 3, 2 * j + 2]);
    let triangles = quads.flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let triangle = |v| Triangle { v, material: 1, source: 1 };
    (rows.flat_map(corner).collect(), triangles.map(triangle).collect())
}

/// A mesh whose border corners are the border posts of a field: every place on the border has ground, of the field, the
/// mesh or both, within the stated error of the line from post to post.
#[test]
fn rf_65_a_field_and_a_mesh_meet_within_the_stated_error() {
    for (n, (pitch, span, tolerance, origin)) in
        [(0.5, 0.4, 0.005, [0.0; 2]), (10.0, 30.0, 0.05, [500.0, -200.0]), (0.25, 0.1, 0.0, [-7.75, 3.5])]
            .into_iter()
            .enumerate()
    {
        let mut field = rough(origin, pitch, [37, 41], span, 0, 51 + n as u64);
        field.tolerance = tolerance;
        let (positions, triangles) = apron(&field, 3.0 * pitch);
        let both = Scene { positions, triangles, ..scene(vec![field.clone()]) };
        for small in [None, Some((pitch * 16.0 * 4096.0).log2() as u8)] {
            let image = built(&both, small);
            let t = Terrain::open_verified(&image).unwrap();
            assert!(small.is_none() || t.header().tile_count > 4);
            let error = stated(&t, steepest(&field));
            let east = origin[0] + pitch * (field.columns - 1) as f64;
            let y = [origin[1], origin[1] + pitch * (field.rows - 1) as f64];
            let mut leaves = BTreeSet::new();
            for p in along(&t, east, y, 500, 6) {
                assert_eq!(t.closest_with(p, &wide(&t)).status, Status::Found, "{p:?}, pitch {pitch}");
                let truth = bilinear(&field, [east, p.y as f64 / PLAN], 1e-6).unwrap();
                // two query steps beside the border
                let off = 2.0 / PLAN * steepest(&field).max(1.0);
                for (z, hit) in layers(&t, p) {
                    assert!((z - truth).abs() <= error + off, "{z} for {truth} at {p:?}, {error} stated");
                    leaves.insert(hit.leaf.name());
                }
            }
            assert_eq!(leaves, BTreeSet::from(["field", "mesh"]));
        }
    }
}

/// Corners of a mesh lie on the plan step, borders of fields need not. There a slit may be left of half a step at most.
#[test]
fn rf_65_beside_a_border_off_the_lattice_the_slit_is_half_a_plan_step() {
    let half = (PLAN / 4096.0 / 2.0) as i64;
    for (n, (pitch, x, is_slit)) in
        [(1.0 / 3.0, 0.1, true), (0.3, 0.3, true), (0.35, -1.9, false)].into_iter().enumerate()
    {
        let field = rough([x, 0.5], pitch, [37, 21], 0.3, 0, 61 + n as u64);
        let (positions, triangles) = apron(&field, 3.0);
        let image = built(&Scene { positions, triangles, ..scene(vec![field.clone()]) }, None);
        let t = Terrain::open_verified(&image).unwrap();
        let (east, slope) = (x + pitch * 36.0, steepest(&field));
        let mut r = Random(62);
        let mut widest = 0;
        for _ in 0..60 {
            let y = 0.5 + pitch * (0.01 + 19.98 * r.below(1_000_001) as f64 / 1e6);
            let at = t.point([east, y, 0.0]).unwrap();
            let mut missed = 0;
            for by in -2 * half..=2 * half {
                let answer = t.closest_with(Point { x: at.x + by, ..at }, &wide(&t));
                missed = if answer.found() { 0 } else { missed + 1 };
                widest = widest.max(missed);
                if answer.found() {
                    let truth = bilinear(&field, [east, at.y as f64 / PLAN], 1e-6).unwrap();
                    let error = stated(&t, slope) + (by.abs() + half) as f64 / PLAN * (slope + 1.0);
                    assert!((t.z_f64(&answer.hit) - truth).abs() <= error, "{answer:?} for {truth}");
                }
            }
        }
        println!("pitch {pitch}: {widest} of {half} query steps");
        assert!(widest <= half && (widest > 0) == is_slit, "pitch {pitch}: {widest} query steps, {half} allowed");
    }
}

/// Where fields lie over each other the nearest answers, as among meshes: at its own height, by its own name.
#[test]
fn rf_65_of_fields_over_each_other_the_nearest_answers() {
    let mut low = rough([0.0; 2], 0.5, [41, 41], 0.8, 0, 71);
    let mut high = rough([4.1, 3.3], 0.3, [61, 51], 0.6, 0, 72);
    high.heights.iter_mut().enumerate().for_each(|(i, z)| *z += 0.4 + 0.05 * (i % 61) as f64);
    (low.tolerance, high.tolerance, high.source, high.material) = (0.004, 0.002, 1, 2);
    for tile_log2 in [None, Some(14)] {
        let image = built(&scene(vec![low.clone(), high.clone()]), tile_log2);
        let t = Terrain::open_verified(&image).unwrap();
        let error = stated(&t, steepest(&low).max(steepest(&high)));
        let mut r = Random(73);
        let (mut chosen, mut close) = ([0; 2], 0);
        for _ in 0..6000 {
            let at = [0, 1].map(|_| r.below(20_000_001) as f64 / 1e6);
            let z = 18.0 + r.below(8_000_001) as f64 / 1e6;
            let truth = [&low, &high].map(|f| bilinear(f, at, 0.0));
            let answer = t.closest_with([at[0], at[1], z], &wide(&t));
            let off = truth.map(|h| h.map_or(f64::INFINITY, |h| (h - z).abs()));
            if (off[0] - off[1]).abs() <= 2.0 * error {
                close += 1;
                continue;
            }
            let wanted = usize::from(off[1] < off[0]);
            let Some(height) = truth[wanted] else { panic!("the lower field lies everywhere") };
            assert_eq!(answer.status, Status::Found, "{at:?}");
            assert_eq!(usize::from(answer.hit.source), wanted, "{at:?} from {z}: {truth:?}");
            assert!((t.z_f64(&answer.hit) - height).abs() <= error, "{at:?}: {height} {answer:?}");
            chosen[wanted] += 1;
        }
        assert!(chosen.iter().all(|n| *n > 1000) && close < 200, "{chosen:?} {close}");
    }
}

/// Where a ray in query steps passes through a cell with these corners: each place as a part of the ray, and how fast
/// height above ground changes there, in metres a metre of way.
fn passages([low, high]: [[i64; 2]; 2], [a, b, c, d]: [i64; 4], ray: &Ray) -> Vec<(f64, f64)> {
    let side = [0, 1].map(|k| (high[k] - low[k]) as f64);
    let from = [(ray.from.x - low[0]) as f64 / side[0], (ray.from.y - low[1]) as f64 / side[1]];
    let way = [(ray.to.x - ray.from.x) as f64 / side[0], (ray.to.y - ray.from.y) as f64 / side[1]];
    // a + p u + q v + r u v along the ray, less the ray's height: x2 t^2 + x1 t + x0
    let [p, q, r] = [b - a, c - a, a - b - c + d].map(|v| v as f64 / HEIGHT);
    let above = |z: i64| (z - a) as f64 / HEIGHT;
    let x2 = r * way[0] * way[1];
    let x1 =
        p * way[0] + q * way[1] + r * (from[0] * way[1] + from[1] * way[0]) - (above(ray.to.z) - above(ray.from.z));
    let x0 = p * from[0] + q * from[1] + r * from[0] * from[1] - above(ray.from.z);
    let mut roots = Vec::new();
    let under = x1 * x1 - 4.0 * x2 * x0;
    if under >= 0.0 {
        let half = -0.5 * (x1 + under.sqrt().copysign(x1));
        roots.extend([half / x2, x0 / half]);
    }
    roots.retain(|t: &f64| {
        let inside = |k: usize| (-1e-9..=1.0 + 1e-9).contains(&(from[k] + t * way[k]));
        (0.0..=1.0).contains(t) && inside(0) && inside(1)
    });
    roots.into_iter().map(|t| (t, 2.0 * x2 * t + x1)).collect()
}

/// Rays along and across borders of tiles find the same hit, to the bit, as in an image of one tile. It is the first
/// passage through the posts of the image that f64 knows.
#[test]
fn rf_65_rays_over_fields_know_no_tiles() {
    for (pitch, span, voids) in [(0.5, 1.2, 0), (0.3, 0.7, 0), (0.5, 1.5, 11)] {
        let field = rough([0.25, 3.0], pitch, [49, 45], span, voids, 91);
        let extent = [48.0 * pitch, 44.0 * pitch];
        let scene = scene(vec![field.clone()]);
        let image = |tile_log2: u8, rays: Rays| {
            let options = Options { tile_log2: Some(tile_log2), rays: Some(rays), ..Options::default() };
            build(&scene, &options).expect("builds").image
        };
        let one = image(24, Rays::None);
        let one = Terrain::open_verified(&one).unwrap();
        let many: Vec<Image> = [(12, Rays::None), (13, Rays::Extents), (14, Rays::Extents), (24, Rays::Extents)]
            .map(|(log2, rays)| image(log2, rays))
            .into();
        let many: Vec<Terrain> = many.iter().map(|image| Terrain::open_verified(image).unwrap()).collect();
        assert!(many[0].header().tile_count > 100 && one.header().tile_count == 1);
        let origin = one.header().origin.map(|v| v << 8);
        let (posts, cells, _) = posts(&one);
        let mut r = Random(92);
        let (mut met, mut unsure) = (0, 0);
        for n in 0..1200 {
            let mut place = |k: usize| field.origin[k] + extent[k] * r.below(1_000_001) as f64 / 1e6;
            let (mut p, mut q) = ([place(0), place(1), 0.0], [place(0), place(1), 0.0]);
            let mut z = |low: f64, high: f64| 20.0 + low + (high - low) * r.below(1_000_001) as f64 / 1e6;
            (p[2], q[2]) = (z(0.3 * span, 1.6 * span + 1.0), z(-0.5 * span, 0.8 * span));
            // tiles of 1 m, and every second and fourth of their borders is one of larger tiles
            let border = |v: f64| v.round();
            match n % 5 {
                0 => (p[0], q[0]) = (border(p[0]), border(p[0])),
                1 => (p[1], q[1]) = (border(p[1]), border(p[1])),
                // through a corner of tiles, at 45 degrees and less
                2 => {
                    let (way, corner) = ([q[0] - p[0], q[1] - p[1]], [border(p[0]), border(p[1])]);
                    (p[0], p[1]) = (corner[0] - way[0] / 4.0, corner[1] - way[1] / 4.0);
                    (q[0], q[1]) = (corner[0] + way[0] / 4.0, corner[1] + way[1] / 4.0);
                }
                _ => {}
            }
            let ray = one.ray_to(p, q).unwrap();
            let answer = one.raycast(ray, &RayOptions::default());
            for t in &many {
                let other = t.raycast(ray, &RayOptions::default());
                let (a, b) = (&answer.hit, &other.hit);
                assert_eq!(answer.found(), other.found(), "{p:?} {q:?}: {answer:?} {other:?}");
                if answer.found() {
                    assert_eq!((a.t.to_bits(), a.at, a.normal), (b.t.to_bits(), b.at, b.normal), "{p:?} {q:?}");
                    assert_eq!((a.leaf, a.back, a.at_start, a.kind), (b.leaf, b.back, b.at_start, b.kind));
                    assert_eq!((a.material, a.source), (b.material, b.source));
                }
            }
            let steps = |v: Point| Point { x: v.x - origin[0], y: v.y - origin[1], z: v.z - origin[2] };
            let of_image = Ray { from: steps(ray.from), to: steps(ray.to) };
            let corners =
                |[low, high]: &[[i64; 2]; 2]| [*low, [high[0], low[1]], [low[0], high[1]], *high].map(|at| posts[&at]);
            let reach = |k: usize| {
                let ends = [[of_image.from.x, of_image.from.y][k], [of_image.to.x, of_image.to.y][k]];
                [ends[0].min(ends[1]), ends[0].max(ends[1])]
            };
            let [x, y] = [0, 1].map(reach);
            let near =
                |[low, high]: &&[[i64; 2]; 2]| low[0] <= x[1] && high[0] >= x[0] && low[1] <= y[1] && high[1] >= y[0];
            let mut all: Vec<(f64, f64)> =
                cells.iter().filter(near).flat_map(|cell| passages(*cell, corners(cell), &of_image)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let length = (0..3).map(|k| (q[k] - p[k]).powi(2)).sum::<f64>().sqrt();
            // odd pitches have their posts within a query step of where a part says
            let hair = 4e-6 + 4.0 / PLAN * steepest(&field);
            let sure = |(_, rate): &(f64, f64)| rate.abs() / length > 0.02;
            match all.first() {
                Some(first) if !sure(first) => unsure += 1,
                Some((t, rate)) => {
                    let near = hair * length / rate.abs().min(length);
                    let at_rim = [0, 1].into_iter().any(|k| {
                        let v = p[k] + (q[k] - p[k]) * t - field.origin[k];
                        v < 1e-4 || v > extent[k] - 1e-4
                    });
                    if at_rim || voids > 0 && (answer.hit.t - t).abs() * length > near {
                        unsure += 1;
                        continue;
                    }
                    assert_eq!(answer.status, RayStatus::Found, "{p:?} {q:?} passes at {t}");
                    let off = (answer.hit.t - t).abs() * length;
                    assert!(off <= near, "{off} m off of {near}, {p:?} {q:?}: {answer:?}, {t} {rate}");
                    met += 1;
                }
                None => assert!(!answer.found(), "{p:?} {q:?}: {answer:?}"),
            }
        }
        println!("pitch {pitch}: {met} met, {unsure} not sure");
        assert!(met > 800 && unsure < 80, "{met} {unsure}");
    }
}
