//! Regular heights against bilinear interpolation in exact fractions.

use crate::common::{image, joined, lattice_scene};
use hardpan::{LeafKind, OpenError, Point, Status, Terrain, format};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Options, Scene, build};
use num_rational::BigRational;
use verification::bytes::{Aligned, BLANK, mend_head};
use verification::oracle::{Steps, field_height, patch_height};
use verification::random::Random;

const XY_UNIT: f64 = 1.0 / 1_048_576.0;
const Z_UNIT: f64 = 1.0 / 16_777_216.0;
/// Half a height step: what quantisation alone may cost.
const HALF_STEP: f64 = 1.0 / 131_072.0;

fn scene_of(field: HeightField) -> Scene {
    Scene { fields: vec![field], ..lattice_scene(&[], Vec::new()) }
}

/// So many posts either way, a metre apart.
fn square(posts: usize, heights: Vec<f64>) -> HeightField {
    let (origin, pitch, tolerance) = ([0.0; 2], 1.0, 0.0);
    HeightField {
        origin,
        pitch,
        columns: posts,
        rows: posts,
        heights,
        material: 0,
        source: 0,
        tolerance,
        ..HeightField::default()
    }
}

/// Heights in `low..low + span` metres, on the height lattice if `whole`.
fn rough(
    origin: [f64; 2],
    pitch: f64,
    [columns, rows]: [usize; 2],
    span: f64,
    whole: bool,
    tolerance: f64,
    seed: u64,
) -> HeightField {
    let mut r = Random(seed);
    let heights = (0..columns * rows)
        .map(|i| {
            let z = 20.0 + span * r.below(10_000) as f64 / 10_000.0 + (i % columns) as f64 * 0.01;
            if whole { (z * 65536.0).round() / 65536.0 } else { z }
        })
        .collect();
    HeightField { origin, pitch, columns, rows, heights, material: 2, source: 1, tolerance, ..HeightField::default() }
}

/// Holds every answer against the field: where there is ground, how high, and how steep.
///
/// The height may be off by the stated tolerance, by half a height step of quantisation, and by what
/// the cell fraction's 16 bits and the answer's rounding cost.
fn check(field: &HeightField, seed: u64, count: usize) {
    let bytes = image(&scene_of(field.clone()));
    let t = Terrain::open_verified(&bytes).unwrap();
    let finite: Vec<f64> = field.heights.iter().copied().filter(|h| h.is_finite()).collect();
    let range = finite.iter().fold(f64::MIN, |m, &h| m.max(h)) - finite.iter().fold(f64::MAX, |m, &h| m.min(h));
    let allowed = field.tolerance.max(HALF_STEP) + 4.0 * range / 65536.0 + Z_UNIT;
    let extent = [field.columns, field.rows].map(|n| (n - 1) as f64 * field.pitch);
    let mut r = Random(seed);
    let mut worst: f64 = 0.0;
    let mut found = 0;
    for i in 0..count {
        let along = |r: &mut Random, k: usize| match i % 4 {
            0 => field.origin[k] + extent[k] * (r.below(1_010_000) as f64 / 1e6 - 0.005),
            // on a line of posts, and one grid unit beside it
            1 => field.origin[k] + field.pitch * r.below([field.columns, field.rows][k]) as f64,
            2 => {
                field.origin[k]
                    + field.pitch * r.below([field.columns, field.rows][k]) as f64
                    + XY_UNIT * r.within(-1, 1) as f64
            }
            _ => field.origin[k] + extent[k] * (r.below(1_000_001) as f64 / 1e6),
        };
        let p = t.point([along(&mut r, 0), along(&mut r, 1), 0.0]).unwrap();
        let answer = t.closest(p);
        let truth = {
            let exact = |v: i64| BigRational::new(v.into(), (1i64 << 20).into());
            field_height(field, &exact(p.x), &exact(p.y))
        };
        let Some(truth) = truth else {
            // The field's zero is rounded to the grid, and a cell's fraction to 16 bits.
            if !reaches(field, p, 1 + (field.pitch / XY_UNIT / 65536.0).ceil() as i64) {
                assert!(!answer.found(), "{p:?}: {answer:?} outside");
            }
            continue;
        };
        assert_eq!(answer.status, Status::Found, "{p:?} at {truth}");
        found += 1;
        assert_eq!(answer.hit.leaf, LeafKind::Patch);
        assert_eq!((t.material_name(answer.hit.material), t.source_name(answer.hit.source)), ("c", "t"));
        let off = (BigRational::from_float(t.z_f64(&answer.hit)).unwrap() - truth).to_f64();
        worst = worst.max(off.abs());
        assert!(off.abs() <= allowed, "{off} m off at {p:?}, {allowed} allowed");
        let mut space = [BLANK.hit; 2];
        let layers = t.layers(p, &mut space);
        assert_eq!((layers.total, space[0].z), (1, answer.hit.z));
    }
    println!("pitch {}: {worst} m of {allowed} m at {found} places", field.pitch);
    assert!(found * 2 > count, "{found} of {count} found");
}

/// Whether the field has ground at a place or `units` of the grid beside it.
fn reaches(field: &HeightField, p: Point, units: i64) -> bool {
    let exact = |v: i64| BigRational::new(v.into(), (1i64 << 20).into());
    let around = [(-1, -1), (1, -1), (-1, 1), (1, 1), (0, 1), (1, 0), (0, -1), (-1, 0)];
    around.iter().any(|&(dx, dy)| field_height(field, &exact(p.x + units * dx), &exact(p.y + units * dy)).is_some())
}

trait ToF64 {
    fn to_f64(&self) -> f64;
}

impl ToF64 for BigRational {
    /// Good to far below a height unit for the small numbers here.
    fn to_f64(&self) -> f64 {
        let scaled = (self * BigRational::from_integer((1i64 << 50).into())).round().to_integer();
        i128::try_from(scaled).unwrap() as f64 / (1i64 << 50) as f64
    }
}

#[test]
fn whole_heights_and_pitch_are_exact_at_posts() {
    let field = rough([-16.0, 8.0], 0.5, [70, 41], 0.9, true, 0.0, 1);
    let bytes = image(&scene_of(field.clone()));
    let t = Terrain::open_verified(&bytes).unwrap();
    for (k, &h) in field.heights.iter().enumerate() {
        let (i, j) = (k % field.columns, k / field.columns);
        let [x, y] = [field.origin[0] + i as f64 * 0.5, field.origin[1] + j as f64 * 0.5];
        let answer = t.closest([x, y, h]);
        assert_eq!((answer.status, t.z_f64(&answer.hit)), (Status::Found, h), "post {i}, {j}");
    }
    check(&field, 2, 4000);
}

#[test]
fn fine_coarse_and_odd_pitches_stay_within_tolerance() {
    check(&rough([3.25, -7.5], 0.25, [130, 67], 0.2, false, 0.0, 3), 4, 3000);
    check(&rough([-40.0, -40.0], 0.1, [200, 150], 1.0, false, 0.002, 5), 6, 3000);
    check(&rough([1000.0, 2000.0], 0.005, [400, 300], 0.02, false, 0.0005, 7), 8, 3000);
    check(&rough([0.0, 0.0], 30.0, [50, 60], 900.0, false, 0.01, 9), 10, 3000);
    check(&rough([388_096.0, 3_948_996.0], 1.0, [90, 90], 40.0, false, 0.001, 11), 12, 3000);
    check(&rough([0.0, 0.0], 1.0, [2, 2], 1.0, false, 0.0, 13), 14, 200);
    check(&rough([0.3, 0.7], 1.0 / 3.0, [33, 18], 1.0, false, 0.0, 15), 16, 2000);
}

#[test]
fn cells_with_a_missing_post_are_no_ground() {
    let mut field = rough([0.0, 0.0], 1.0, [40, 40], 0.9, true, 0.0, 17);
    let mut r = Random(18);
    for _ in 0..60 {
        field.heights[r.below(1600)] = f64::NAN;
    }
    check(&field, 19, 6000);
}

/// Cells are closed, so where a whole cell meets one that is missing there is ground.
#[test]
fn borders_of_missing_cells_belong_to_the_whole_ones() {
    for (hole, places) in [
        (7, [[0.5, 1.0], [1.5, 1.0]]),
        (5, [[1.0, 0.5], [1.0, 1.5]]),
        (1, [[0.5, 1.0], [1.5, 1.0]]),
        (3, [[1.0, 0.5], [1.0, 1.5]]),
    ] {
        let mut heights = vec![2.0; 9];
        heights[hole] = f64::NAN;
        let bytes = image(&scene_of(square(3, heights)));
        let t = Terrain::open_verified(&bytes).unwrap();
        for [x, y] in places {
            assert_eq!(t.closest([x, y, 2.0]).status, Status::Found, "({x}, {y}), post {hole} missing");
        }
    }
}

/// A field that ends within the last step before a page: bounds are rounded up, and lie in the next one.
#[test]
fn a_field_may_end_beside_a_page() {
    for short in [0, 1, 100, 255, 256] {
        // a page of 2^5 tiles of 2^6 steps, of 2^8 query steps
        let pitch = ((1 << 19) - short) as f64 / 4.0 * XY_UNIT;
        let field = rough([0.0, 0.0], pitch, [5, 5], 0.02, false, 0.0, 23);
        let options = Options { tile_log2: Some(6), ..Options::default() };
        let bytes = hardpan_builder::build(&scene_of(field), &options).unwrap().image;
        let verdict = hardpan_builder::verify(&bytes, &Default::default()).unwrap();
        assert!(verdict.passed(), "{short}: {verdict:#?}");
        let t = Terrain::open_verified(&bytes).unwrap();
        for (past, status) in [(0, true), (short.max(20), false)] {
            let end = (1 << 19) - short + past;
            let answer = t.closest(Point { x: end, y: 1000, z: 0 });
            assert_eq!(answer.found(), status, "{short} before the page, {past} past the end");
        }
    }
}

/// Along every line of posts and every border of blocks the field answers, and does not jump.
#[test]
fn fields_are_watertight() {
    for (pitch, span, tolerance) in [(0.5, 3.0, 0.01), (0.25, 40.0, 0.05), (0.1, 0.4, 0.001)] {
        let field = rough([-10.0, 5.0], pitch, [37, 45], span, false, tolerance, 20);
        let bytes = image(&scene_of(field.clone()));
        let t = Terrain::open_verified(&bytes).unwrap();
        // The steepest that two neighbouring posts can be, in height units a plan unit, and the rounding.
        let steepest = (span + 0.01 + 2.0 * tolerance + 4.0 * HALF_STEP) / pitch * XY_UNIT / Z_UNIT;
        // The cell fraction has 16 bits, so a step of one unit may move it by one such part.
        let part = ((span + 0.01 + 2.0 * tolerance) / 65536.0 / Z_UNIT).ceil();
        let jump = 2 * (steepest.ceil() + part) as i64 + 2;
        let unit = |v: f64| Steps::default().xy_units(v);
        let (low, high) = ([unit(-10.0), unit(5.0)], [unit(-10.0 + 36.0 * pitch), unit(5.0 + 44.0 * pitch)]);
        let mut r = Random(21);
        for line in 0..45 {
            for _ in 0..200 {
                for flip in [false, true] {
                    let k = usize::from(flip);
                    let (at, cross) = (
                        low[k] + unit(pitch * f64::from(line.min(if flip { 44 } else { 36 }))),
                        r.within(low[1 - k], high[1 - k]),
                    );
                    let z = |by: i64| {
                        let at = (at + by).clamp(low[k], high[k]);
                        let (x, y) = if flip { (cross, at) } else { (at, cross) };
                        let a = t.closest(Point { x, y, z: 20 << 24 });
                        assert_eq!(a.status, Status::Found, "({x}, {y}) of pitch {pitch}");
                        a.hit.z
                    };
                    let heights = [-2, -1, 0, 1, 2].map(z);
                    for pair in heights.windows(2) {
                        assert!(
                            (pair[0] - pair[1]).abs() <= jump,
                            "a crack of {} at line {line}: {heights:?}",
                            (pair[0] - pair[1]).abs()
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn slopes_follow_the_posts() {
    // z = 0.25 x - 0.125 y: one plane, so every cell has its slope.
    let heights = (0..30 * 30).map(|k| 0.25 * (k % 30) as f64 - 0.125 * (k / 30) as f64).collect();
    let bytes = image(&scene_of(square(30, heights)));
    let t = Terrain::open_verified(&bytes).unwrap();
    let mut r = Random(22);
    for _ in 0..1000 {
        let p = Point { x: r.within(0, 29 << 20), y: r.within(0, 29 << 20), z: 0 };
        assert_eq!(t.slope_f64(&t.closest(p).hit), [0.25, -0.125], "{p:?}");
    }
}

#[test]
fn fixtures_of_heights_are_what_they_say() {
    let bytes = image(&fixtures::step());
    let t = Terrain::open_verified(&bytes).unwrap();
    for x in [-0.4995, -0.1, -0.001, 0.001, 0.1, 0.4995] {
        let a = t.closest([x, 0.1234, 0.0]);
        let wanted = if x < 0.0 { 0.0 } else { 0.1 };
        assert!(a.found() && (t.z_f64(&a.hit) - wanted).abs() <= HALF_STEP, "{x}: {a:?}");
    }
    let mut space = [BLANK.hit; 3];
    assert_eq!(t.layers([0.0, 0.0, 0.0], &mut space).total, 2, "closed on both sides of the step");

    let scene = fixtures::cobble();
    let bytes = image(&scene);
    let t = Terrain::open_verified(&bytes).unwrap();
    let field = &scene.fields[0];
    let mut r = Random(23);
    for _ in 0..5000 {
        let p = t.point([0, 1, 2].map(|_| r.within(-5_000_000, 5_000_000) as f64 / 1e6)).unwrap();
        let exact = |v: i64| BigRational::new(v.into(), (1i64 << 20).into());
        let Some(truth) = field_height(field, &exact(p.x), &exact(p.y)) else { continue };
        let a = t.closest(p);
        assert!(a.found(), "{p:?}");
        let off = (BigRational::from_float(t.z_f64(&a.hit)).unwrap() - truth).to_f64();
        assert!(off.abs() <= field.tolerance + 4.0 * fixtures::JOINT / 65536.0 + Z_UNIT, "{off} at {p:?}");
    }
}

/// A field over a mesh: two layers, the nearest answers, and which kind of leaf it was is said.
#[test]
fn fields_and_meshes_answer_together() {
    let mut field = rough([-20.0, -20.0], 0.5, [81, 81], 0.5, true, 0.0, 24);
    (field.material, field.source) = (0, 0);
    let mut over = fixtures::flat();
    over.fields.push(field);
    let bytes = image(&over);
    let t = Terrain::open_verified(&bytes).unwrap();
    let mut r = Random(25);
    for _ in 0..3000 {
        let p = Point { x: r.within(-30 << 20, 30 << 20), y: r.within(-30 << 20, 30 << 20), z: 0 };
        let inside = p.x.abs().max(p.y.abs()) <= 20 << 20;
        let (low, high) = (t.closest(p), t.closest(Point { z: 21 << 24, ..p }));
        assert_eq!((low.status, low.hit.z, low.hit.leaf), (Status::Found, 0, LeafKind::Bundle), "{p:?}");
        assert_eq!(high.hit.leaf, if inside { LeafKind::Patch } else { LeafKind::Bundle }, "{p:?}");
        let mut space = [BLANK.hit; 4];
        assert_eq!(t.layers(p, &mut space).total, if inside { 2 } else { 1 }, "{p:?}");
        assert!(t.field(p).is_none(), "{p:?}: other ground is there");
    }
    let two = joined(fixtures::step(), fixtures::flat());
    let bytes = image(&two);
    let t = Terrain::open_verified(&bytes).unwrap();
    assert_eq!(t.closest([0.25, 0.0, 0.09]).hit.leaf, LeafKind::Patch);
    assert_eq!(t.closest([40.0, 0.0, 0.09]).hit.leaf, LeafKind::Bundle);
}

/// The same with a cliff of 200 m across it: few of its blocks need 16 bits.
fn cliff(mut field: HeightField) -> HeightField {
    let columns = field.columns;
    field.heights.iter_mut().enumerate().filter(|(k, _)| k % columns >= 30).for_each(|(_, z)| *z += 200.0);
    field
}

/// Parts of fields of an image's tiles by the format: class, whether blocks are long, blocks, and how many are long.
fn blocks_by_the_format(t: &Terrain) -> Vec<[u32; 4]> {
    let tiles = t.section(format::section::TILES).unwrap();
    let u32_at = |b: &[u8], at: usize| u32::from_le_bytes(b[at..at + 4].try_into().unwrap());
    let mut all = Vec::new();
    for r in t.section(format::section::TILE_TABLE).unwrap().chunks(64) {
        let tile = &tiles[u64::from_le_bytes(r[..8].try_into().unwrap()) as usize..];
        for k in 0..u32_at(tile, 32) as usize {
            let record = &tile[4 * u32_at(tile, 28) as usize + 64 * k..][..64];
            let (class, rows) = (record[40], u32_at(record, 36).div_ceil(4));
            let count = u32_at(record, 44) * rows;
            let len = if class == 0 { 32 } else { 64 };
            let blocks = (0..count).map(|n| &tile[(u32_at(record, 48) + n) as usize * len..][..len]);
            let long = blocks.filter(|b| class == 0 && b[4] == 255).count();
            all.push([class.into(), record[43].into(), count, long as u32]);
        }
    }
    all
}

/// Posts of whole metres take a byte each and are exact, however steep; few steep blocks do not make all blocks long.
#[test]
fn blocks_are_as_short_as_their_heights_allow() {
    let whole = {
        let mut field = rough([0.0, 0.0], 30.0, [101, 97], 120.0, false, 1.0 / 128.0, 50);
        field.heights.iter_mut().for_each(|z| *z = z.round());
        field
    };
    let built = build(&scene_of(whole.clone()), &Options::default()).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(blocks_by_the_format(&t), [[0, 0, 25 * 24, 0]]);
    assert!(t.header().error_height <= HALF_STEP, "whole metres stand as they are");
    for (k, h) in whole.heights.iter().enumerate() {
        let a = t.closest([30.0 * (k % 101) as f64, 30.0 * (k / 101) as f64, 0.0]);
        assert_eq!((a.found(), t.z_f64(&a.hit)), (true, *h), "post {k}");
    }
    // two and a half bytes a post, with all that the image has beside them
    let bytes = built.image.len() as f64 - 2048.0;
    assert!(bytes / (101.0 * 97.0) < 2.5, "{bytes}");

    let steep = cliff(rough([0.0, 0.0], 1.0, [101, 97], 2.0, false, 1.0 / 128.0, 51));
    let built = build(&scene_of(steep), &Options::default()).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(blocks_by_the_format(&t), [[0, 1, 25 * 24, 24]]);
}

/// Only images with fields need a reader of this version, and are refused if an older builder made them.
#[test]
fn images_of_the_version_before_open_without_fields() {
    for (scene, readers, opens) in [(fixtures::flat(), 2, None), (fixtures::step(), 3, Some(OpenError::TooOld(2)))] {
        let mut bytes = Aligned::new(&image(&scene));
        assert_eq!(bytes[8..12], [3, 0, readers, 0]);
        bytes[8..12].copy_from_slice(&[2, 0, 2, 0]);
        mend_head(&mut bytes);
        assert_eq!(Terrain::open(&bytes).err(), opens);
    }
}

/// Content of the image's bytes at a place, found by the words of the format without the index: through the tile table.
fn by_the_format(t: &Terrain, p: Point) -> Option<(i64, [i128; 3])> {
    let h = t.header();
    let q = [p.x - (h.origin[0] << 8), p.y - (h.origin[1] << 8)];
    let inside = |k: usize| q[k] >= i64::from(h.min[k]) << 8 && q[k] <= i64::from(h.max[k]) << 8;
    let home = q.map(|v| (v >> 8 >> h.tile_log2) as i32);
    let tiles = t.section(format::section::TILES).unwrap();
    let table = t.section(format::section::TILE_TABLE).unwrap();
    let i32_at = |b: &[u8], at: usize| i32::from_le_bytes(b[at..at + 4].try_into().unwrap());
    let u64_at = |b: &[u8], at: usize| u64::from_le_bytes(b[at..at + 8].try_into().unwrap()) as usize;
    let record =
        table.chunks(64).find(|r| [i32_at(r, 20), i32_at(r, 24)] == home).filter(|_| inside(0) && inside(1))?;
    let tile = &tiles[u64_at(record, 0)..][..u64_at(record, 8)];
    let (at, count) = (i32_at(tile, 28) as usize * 4, i32_at(tile, 32));
    assert!(count <= 1, "one field, one part");
    (count == 1).then(|| patch_height(tile, &tile[at..at + 64], q))?.map(|(z, n)| (z + (h.origin[2] << 8), n))
}

/// Places on a field: anywhere, on posts, at tile borders, each with its neighbours on the grid.
fn places(t: &Terrain, field: &HeightField, count: usize, seed: u64) -> Vec<Point> {
    let h = t.header();
    let unit = f64::from(8 - h.xy_log2).exp2();
    let mut r = Random(seed);
    let mut places = Vec::new();
    for _ in 0..count {
        let [x, y] = [0, 1].map(|k| {
            let posts = [field.columns, field.rows][k];
            let post = (field.origin[k] * unit) as i64 + (field.pitch * r.below(posts) as f64 * unit).round() as i64;
            let [low, high] = [0, posts - 1].map(|n| ((field.origin[k] + field.pitch * n as f64) * unit) as i64);
            let any = r.within(low, high);
            let tile = (any - (h.origin[k] << 8)) >> 8 >> h.tile_log2 << h.tile_log2 << 8;
            [any, post, tile + (h.origin[k] << 8), any][r.below(4)] + r.within(-1, 1)
        });
        places.push(Point { x, y, z: 0 });
    }
    places
}

/// Every answer is what the bytes say, to the bit, and no tile decides it: coarse, fine, odd, tiny and far-off fields,
/// with and without missing posts, in heights of 8 and of 16 bits.
#[test]
fn answers_follow_the_format_to_the_bit_whatever_the_tile() {
    let fields = [
        rough([-2000.0, 3000.0], 30.0, [60, 45], 300.0, false, 0.01, 30),
        rough([388_096.5, -3_948_996.25], 90.0, [70, 90], 900.0, false, 0.5, 31),
        rough([3.0, -2.0], 0.05, [120, 90], 0.1, false, 0.001, 32),
        rough([-100.1, 77.7], 0.3048, [201, 98], 2.0, false, 0.005, 33),
        rough([-0.35, 0.0], 0.001, [90, 70], 0.02, false, 0.0, 34),
        rough([1e7, -2e7], 0.5, [65, 66], 0.5, true, 0.0, 35),
        rough([0.0, 0.0], 7.0, [2, 2], 3.0, false, 0.0, 36),
        rough([-640.0, -640.0], 16.0, [81, 81], 4.0, true, 0.01, 37),
        cliff(rough([50.0, 50.0], 1.0, [61, 53], 2.0, false, 0.01, 38)),
    ];
    for (n, mut field) in fields.into_iter().enumerate() {
        for voids in [false, true] {
            if voids && field.heights.len() > 100 {
                let mut r = Random(40);
                for _ in 0..field.heights.len() / 20 {
                    let k = r.below(field.heights.len());
                    field.heights[k] = f64::NAN;
                }
            }
            let mut first: Option<Vec<_>> = None;
            let fine = if field.pitch < 1.0 { 12 } else { 17 };
            for tile_log2 in [Some(fine), Some(21), Some(24), Some(25), Some(26), None] {
                let options = Options { tile_log2, ..Options::default() };
                let built = build(&scene_of(field.clone()), &options).unwrap();
                let t = Terrain::open_verified(&built.image).unwrap();
                let places = places(&t, &field, 2000, 41 + n as u64);
                let (mut handle, mut kept) = (None, 0);
                let answers: Vec<_> = places
                    .iter()
                    .map(|&p| {
                        let a = t.closest_with(p, &wide(&t));
                        let found = a.found().then(|| {
                            let n = a.hit.normal;
                            (a.hit.z, [n.x, n.y, n.z].map(i128::from))
                        });
                        assert_eq!(found, by_the_format(&t, p), "{p:?}, pitch {}, tiles 2^{tile_log2:?}", field.pitch);
                        // a handle of this place, and of an earlier one, answers with the same bits or not at all
                        let by = |f: &hardpan::Field| {
                            f.ground(p).map(|g| (g.z, [g.normal.x, g.normal.y, g.normal.z].map(i128::from)))
                        };
                        let own = t.field(p);
                        assert_eq!(own.as_ref().and_then(by), found, "{p:?}, pitch {}", field.pitch);
                        if let Some(ground) = handle.as_ref().and_then(by) {
                            assert_eq!(Some(ground), found, "{p:?}, pitch {}", field.pitch);
                            kept += 1;
                        }
                        handle = own.or(handle);
                        (p, found)
                    })
                    .collect();
                assert!(tile_log2.is_some_and(|log2| log2 < 24) || kept > 200, "{kept}");
                let classes = t.header().tile_count == 1 && tile_log2.is_none();
                assert_eq!(classes, tile_log2.is_none(), "one tile, if no side is asked for");
                assert!(voids || answers.iter().filter(|a| a.1.is_some()).count() > 1000);
                let first = first.get_or_insert(answers);
                for (p, wanted) in first {
                    let a = t.closest_with(*p, &wide(&t));
                    let found = a.found().then_some(a.hit.z);
                    assert_eq!(found, wanted.map(|w| w.0), "{p:?}, pitch {}, tiles 2^{tile_log2:?}", field.pitch);
                }
            }
        }
    }
}

/// Any height is near.
fn wide(t: &Terrain) -> hardpan::Options {
    let windows = hardpan::Windows { near: 1 << 50, far: 1 << 50 };
    hardpan::Options { windows, ..t.options() }
}

/// A post on the query grid gives its own height, however far from the field's zero and the image's.
#[test]
fn posts_on_the_grid_are_exact_in_the_far_corner() {
    for (origin, pitch, posts) in [([-1e5, 2e5], 0.75, 1500), ([4096.0 * 30.0, -7.0], 90.0, 1100), ([0.0, 0.0], 0.1, 8)]
    {
        let heights = (0..posts * 2).map(|k| (k * k % 23) as f64 / 1024.0).collect();
        let field = HeightField {
            origin,
            pitch,
            columns: posts,
            rows: 2,
            heights,
            material: 0,
            source: 0,
            tolerance: 0.0,
            ..HeightField::default()
        };
        let bytes = image(&scene_of(field.clone()));
        let t = Terrain::open_verified(&bytes).unwrap();
        for (k, &h) in field.heights.iter().enumerate() {
            let at = [origin[0] + pitch * (k % posts) as f64, origin[1] + pitch * (k / posts) as f64];
            if at.map(|v| (v / XY_UNIT).fract()) != [0.0; 2] {
                continue;
            }
            let a = t.closest([at[0], at[1], h]);
            assert_eq!((a.status, t.z_f64(&a.hit)), (Status::Found, h), "post {k} of pitch {pitch}");
        }
    }
}
