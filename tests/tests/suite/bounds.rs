//! The tables of the head: no ray and no tyre costs more than they say, and who forges them is found out.

use crate::common::{as_given, hills, joined, lattice_scene, moved};
use hardpan::format::rays::RaysHead;
use hardpan::format::{Header, RAY_METRES, TYRE_METRES, section};
use hardpan::{Cost, Kinds, Lattice, Method, OpenError, Pose, RayOptions, Terrain, Tyre, VerifyError, Wheel};
use hardpan_builder::demo::fixtures;
use hardpan_builder::image::decode;
use hardpan_builder::{HeightField, Image, Options, Outcome, Rays, Scene, Triangle, Verify, build, verify};
use std::mem::offset_of;
use verification::bytes::{Aligned, mend_all};
use verification::random::Random;

fn unit(r: &mut Random) -> f64 {
    r.below(1 << 20) as f64 / f64::from(1 << 20)
}

/// Cliffs: terraces with upright faces between them, some of them bridges.
fn cliffs(seed: u64) -> Scene {
    let mut r = Random(seed);
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    let mut quad = |corners: [[f64; 3]; 4]| {
        let first = positions.len() as u32;
        positions.extend(corners);
        for v in [[0, 1, 2], [0, 2, 3]] {
            triangles.push(Triangle { v: v.map(|k| first + k), material: 0, source: 0 });
        }
    };
    for [i, j] in (0..12).flat_map(|j| (0..12).map(move |i| [i, j])) {
        let side = 2.0;
        let ([x, y], z) = ([f64::from(i) * side, f64::from(j) * side], r.below(12) as f64 / 4.0);
        quad([[x, y, z], [x + side, y, z], [x + side, y + side, z], [x, y + side, z]]);
        quad([[x, y, -1.0], [x + side, y, -1.0], [x + side, y, z], [x, y, z]]);
        quad([[x, y + side, -1.0], [x, y, -1.0], [x, y, z], [x, y + side, z]]);
        if r.below(4) == 0 {
            let top = z + 2.5;
            quad([[x, y, top], [x, y + side, top], [x + side, y + side, top], [x + side, y, top]]);
            quad([
                [x, y, top + 0.2],
                [x + side, y, top + 0.2],
                [x + side, y + side, top + 0.2],
                [x, y + side, top + 0.2],
            ]);
        }
    }
    Scene { positions, triangles, ..lattice_scene(&[], Vec::new()) }
}

fn field(origin: [f64; 2], pitch: f64, columns: usize, rows: usize, holes: bool) -> HeightField {
    let height = |i: usize| if holes && i % 97 == 5 { f64::NAN } else { (i % 7) as f64 / 8.0 };
    let heights = (0..columns * rows).map(height).collect();
    HeightField { origin, pitch, columns, rows, heights, tolerance: 0.001, ..HeightField::default() }
}

fn fields(all: Vec<HeightField>) -> Scene {
    Scene { fields: all, ..lattice_scene(&[], Vec::new()) }
}

fn scenes() -> Vec<(&'static str, Scene)> {
    let on_hills = Scene { fields: vec![field([3.0, 2.0], 0.5, 30, 20, true)], ..hills(20, 0.7) };
    vec![
        ("hills", hills(40, 1.3)),
        ("fine hills over coarse ones", joined(hills(30, 0.2), moved(hills(12, 4.0), -10.0, -8.0))),
        ("two sheets", joined(hills(24, 1.3), moved(hills(15, 1.7), 2.3, 1.1))),
        ("soup", fixtures::soup(9)),
        ("curb", fixtures::curb()),
        ("town", fixtures::town(1)),
        ("bridge", fixtures::bridge()),
        ("cliffs", cliffs(1)),
        ("other cliffs", cliffs(2)),
        ("field", fields(vec![field([0.25, -3.0], 1.0, 90, 70, false)])),
        ("fine field with holes", fields(vec![field([0.25, -3.0], 0.1, 150, 120, true)])),
        (
            "fields side by side",
            fields(vec![field([0.0, 0.0], 0.5, 41, 31, false), field([20.0, 0.0], 0.4, 40, 40, false)]),
        ),
        (
            "fields one over the other",
            fields(vec![field([0.0, 0.0], 0.5, 41, 31, false), field([4.1, 3.3], 0.3, 50, 40, true)]),
        ),
        ("field among hills", on_hills),
    ]
}

fn counts(c: &Cost) -> [u32; 4] {
    [c.nodes, c.leaves, c.tests, c.lines]
}

fn most(a: [u32; 4], c: &Cost) -> [u32; 4] {
    let c = counts(c);
    [0, 1, 2, 3].map(|i| a[i].max(c[i]))
}

#[track_caller]
fn within(cost: &Cost, bound: Option<Cost>, what: impl Fn() -> String) {
    let bound = bound.expect("stated");
    assert!(counts(cost).iter().zip(counts(&bound)).all(|(c, b)| *c <= b), "{}: {cost:?}, {bound:?} stated", what());
}

/// Where rays begin or end: anywhere, on borders of squares, and at corners of the ground.
fn place(t: &Terrain, r: &mut Random, corners: &[[i32; 3]]) -> [f64; 3] {
    let [low, high] = t.bounds();
    let mut at = [0, 1, 2].map(|i| low[i] - 1.0 + (high[i] - low[i] + 2.0) * unit(r));
    match r.below(4) {
        0 => {
            let border = f64::exp2(r.within(-3, 4) as f64);
            at[r.below(2)] = (at[0] / border).round() * border;
        }
        1 if !corners.is_empty() => {
            let h = t.header();
            let c = corners[r.below(corners.len())];
            at = [0, 1, 2].map(|i| {
                (h.origin[i] + i64::from(c[i])) as f64 * f64::exp2([h.xy_log2, h.xy_log2, h.z_log2][i].into())
            });
        }
        _ => {}
    }
    at
}

/// Rays of all lengths and directions, through all that they meet and to the first of it, over the ground and over
/// walls; what they cost at most, of each stated length over the ground.
fn cast(name: &str, image: &[u8], count: usize, seed: u64) -> [[u32; 4]; 4] {
    let t = Terrain::open_verified(image).unwrap();
    let corners: Vec<[i32; 3]> = decode::triangles(&t).iter().flat_map(|s| s.corners).collect();
    let mut r = Random(seed);
    let mut found = [[0; 4]; 4];
    for _ in 0..count {
        let metres = [1.0, 5.0, 20.0, 100.0, 0.3, 3.0, 60.0, 250.0][r.below(8)];
        let (mut from, to) = (place(&t, &mut r, &corners), place(&t, &mut r, &corners));
        let mut way = [0, 1, 2].map(|i| to[i] - from[i]);
        match r.below(8) {
            0 => way[2] = 0.0,
            1 => way = [1.0, 0.0, 0.0],
            2 => way = [0.0, -1.0, 0.0],
            3 => way = [1.0, if r.below(2) == 0 { 1.0 } else { -1.0 }, 0.0],
            4 => way = [0.0, 0.0, -1.0],
            _ => {}
        }
        let ground = t.closest(from);
        if r.below(2) == 0 && ground.found() {
            from[2] = t.z_f64(&ground.hit);
        }
        let sign = if r.below(2) == 0 { 1.0 } else { -1.0 };
        let Ok(ray) = t.ray_from(from, way.map(|v| sign * v), metres) else { continue };
        for kinds in [Kinds::GROUND, Kinds::STORED] {
            for after in [None, Some(1.0)] {
                let (_, cost) = t.raycast_costed(ray, &RayOptions { kinds, after, ..RayOptions::default() });
                let is_ground = kinds == Kinds::GROUND;
                let bound = if is_ground { t.ground_ray_bound(metres) } else { t.ray_bound(metres) };
                within(&cost, bound, || format!("{name}: {ray:?} of {metres} m, {kinds:?}"));
                if let Some(i) = RAY_METRES.iter().position(|m| f64::from(*m) == metres).filter(|_| is_ground) {
                    found[i] = most(found[i], &cost);
                }
            }
        }
    }
    found
}

fn made(scene: &Scene, rays: Rays, tile_log2: Option<u8>) -> Image {
    build(scene, &Options { rays: Some(rays), bounds: true, tile_log2, ..as_given() }).expect("builds").image
}

#[test]
fn cg_22_cg_23_no_ray_costs_more_than_is_stated() {
    for (name, scene) in scenes() {
        for (rays, tile_log2) in [(Rays::None, None), (Rays::All, Some(15)), (Rays::Extents, Some(17))] {
            // a soup has triangles of kilometres
            let tile_log2 = tile_log2.filter(|_| name != "soup");
            let image = made(&scene, rays, tile_log2);
            let name = format!("{name}, {rays:?}, tiles {tile_log2:?}");
            cast(&name, &image, 2500, 3);
            let verdict = verify(&image, &Verify::default()).unwrap();
            assert_eq!(verdict.check("bounds").unwrap().outcome, Outcome::Pass, "{name}: {:?}", verdict.failed());
        }
    }
}

/// The bar: on hills what is stated is at most four times what rays come to.
#[test]
fn cg_22_stated_costs_of_rays_are_near_those_that_are_found() {
    let image = made(&hills(60, 1.0), Rays::None, None);
    let t = Terrain::open(&image).unwrap();
    let found = cast("hills", &image, 60_000, 11);
    for (i, metres) in RAY_METRES.into_iter().enumerate() {
        let stated = t.header().ray_bound[i];
        // of 100 m the hills have no more than 60
        for (k, what) in ["nodes", "leaves", "tests", "lines"].into_iter().enumerate() {
            assert!(stated[k] <= 4 * found[i][k], "{metres} m: {} {what}, {} stated", found[i][k], stated[k]);
        }
    }
}

/// Lengths between those of the table, and beyond them.
#[test]
fn cg_22_bounds_of_any_length() {
    let image = made(&cliffs(3), Rays::All, None);
    let t = Terrain::open(&image).unwrap();
    let table = t.header().ray_bound;
    let of = |metres: f64| t.ground_ray_bound(metres).map(|c| counts(&c));
    for (metres, row) in [(0.01, table[0]), (1.0, table[0]), (1.01, table[1]), (20.0, table[2]), (99.0, table[3])] {
        assert_eq!(of(metres), Some(row), "{metres}");
    }
    assert_eq!(of(100.5), Some(table[3].map(|n| 2 * n)));
    assert_eq!(of(2000.0), Some(table[3].map(|n| 20 * n)));
    for metres in [0.0, -1.0, 2000.5, f64::NAN, f64::INFINITY] {
        assert_eq!([t.ground_ray_bound(metres), t.ray_bound(metres)], [None; 2], "{metres}");
    }
    // walls cost more, and the ground alone no less
    let all = t.ray_bound(5.0).map(|c| counts(&c)).unwrap();
    assert!(all.iter().zip(table[1]).skip(1).all(|(a, g)| *a > g) && all[0] >= table[1][0], "{all:?} {table:?}");
    let [small, large] = t.header().tyre_bound;
    let tyre = |l, w| t.tyre_bound(l, w).map(|c| counts(&c));
    assert_eq!([tyre(0.6, 0.25), tyre(0.61, 0.25), tyre(1.2, 0.5)], [Some(small), Some(large), Some(large)]);
    assert_eq!([tyre(1.3, 0.5), tyre(2.5, 0.6)], [Some(large.map(|n| 2 * n)), Some(large.map(|n| 6 * n))]);
    assert_eq!([tyre(0.0, 0.2), tyre(0.6, f64::NAN)], [None; 2]);
}

/// Whether a rectangle of this length and width about a place, turned, meets one from `low` to `high`.
fn meets(at: [f64; 2], [s, c]: [f64; 2], [l, w]: [f64; 2], low: [f64; 2], high: [f64; 2]) -> bool {
    let middle = [0, 1].map(|i| (low[i] + high[i]) / 2.0 - at[i]);
    let half = [0, 1].map(|i| (high[i] - low[i]) / 2.0);
    let reach = [(l * c.abs() + w * s.abs()) / 2.0, (l * s.abs() + w * c.abs()) / 2.0];
    let along = (middle[0] * c + middle[1] * s).abs() <= l / 2.0 + half[0] * c.abs() + half[1] * s.abs();
    let across = (middle[1] * c - middle[0] * s).abs() <= w / 2.0 + half[0] * s.abs() + half[1] * c.abs();
    (0..2).all(|i| middle[i].abs() <= half[i] + reach[i]) && along && across
}

/// All squares below a tyre, and what its contact costs, wherever and however it stands.
#[test]
fn mw_13_no_tyre_costs_more_than_is_stated() {
    for (name, scene) in scenes() {
        let image = made(&scene, Rays::Extents, Some(16).filter(|_| name != "soup"));
        let t = Terrain::open_verified(&image).unwrap();
        if !scene.fields.is_empty() {
            assert_eq!(t.tyre_bound(0.6, 0.25).map(|c| counts(&c)), None, "{name}: fields have none");
            continue;
        }
        let mut columns = Vec::new();
        decode::tiles(&t).for_each(|tile| tile.columns(|c| columns.push((c.extent(&t), c.cost))));
        let ([low, high], mut r) = (t.bounds(), Random(5));
        for _ in 0..400 {
            let at = [0, 1].map(|i| low[i] + (high[i] - low[i]) * unit(&mut r));
            let (s, c) = (std::f64::consts::TAU * unit(&mut r)).sin_cos();
            for size in TYRE_METRES {
                let mut sum = Cost::default();
                for ([x, y], cost) in &columns {
                    if meets(at, [s, c], size, [x[0], y[0]], [x[1], y[1]]) {
                        sum.leaves += cost.leaves;
                        sum.tests += cost.tests;
                        sum.lines += cost.lines;
                    }
                }
                within(&sum, t.tyre_bound(size[0], size[1]), || format!("{name}: {size:?} at {at:?}"));
            }
            let z = low[2] + (high[2] - low[2]) * unit(&mut r);
            let ground = t.closest([at[0], at[1], z]);
            let z = if ground.found() { t.z_f64(&ground.hit) + 0.25 } else { z };
            let (up, aside) = (0.3 * unit(&mut r)).sin_cos();
            let axes = [[c, s, 0.0], [-s * aside, c * aside, up], [s * up, -c * up, aside]];
            let wheel = Wheel::at(Pose { centre: [at[0], at[1], z], axes });
            let methods =
                [Method::Points(&[]), Method::Columns(Lattice::Columns16), Method::Columns(Lattice::Columns64)];
            for method in methods {
                let tyre = Tyre { method, ..Tyre::new(0.3, 0.25) };
                let found = t.contact(&tyre, &wheel);
                within(&found.cost, t.contact_bound(&tyre), || format!("{name}: {wheel:?} {:?}", found.status));
            }
        }
    }
}

/// Where the tables stand: of the head, and of the section.
fn tables(image: &[u8]) -> Vec<(usize, usize)> {
    let t = Terrain::open(image).unwrap();
    let s = t.header().sections.iter().find(|s| s.kind == section::RAYS).expect("rays");
    let of_section = s.offset as usize + offset_of!(RaysHead, ray_bound);
    vec![(offset_of!(Header, ray_bound), 4), (offset_of!(Header, tyre_bound), 2), (of_section, 4)]
}

/// A table that states less than its image costs is named, each of its numbers.
#[test]
fn cg_22_forged_tables_are_refused() {
    for scene in [cliffs(4), fields(vec![field([0.0, 0.0], 0.5, 41, 31, false)])] {
        let image = made(&scene, Rays::All, Some(16));
        assert!(verify(&image, &Verify::default()).unwrap().passed());
        for (table, rows) in tables(&image) {
            for number in (0..4 * rows).step_by(3) {
                let at = table + 4 * number;
                let stated = u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
                if stated == 0 {
                    continue; // nothing is stated, as of tyres over fields
                }
                let mut bytes = Aligned::new(&image);
                bytes[at..at + 4].copy_from_slice(&(stated - 1).to_le_bytes());
                mend_all(&mut bytes);
                let verdict = verify(&bytes, &Verify::default()).unwrap();
                let structure = verdict.check("structure").unwrap().outcome == Outcome::Fail;
                let bounds = verdict.check("bounds").unwrap().outcome == Outcome::Fail;
                // one that only equals what upright rays need, or a shorter ray, is impossible as it stands
                assert!(structure || bounds, "byte {at}, {stated} stated: {:?}", verdict.failed());
                assert_eq!(structure, Terrain::open_verified(&bytes).is_err(), "byte {at}");
            }
        }
    }
}

/// The kernel refuses tables that cannot be: less than a vertical query, or than a shorter ray. Zeros state nothing.
#[test]
fn cg_22_impossible_tables_are_refused_by_the_kernel() {
    let image = made(&hills(30, 1.3), Rays::All, None);
    for (table, rows) in tables(&image) {
        let error = if table < 2048 { VerifyError::HeadInvalid } else { VerifyError::SectionInvalid(section::RAYS) };
        for row in 0..rows {
            let at = table + 16 * row;
            let mut bytes = Aligned::new(&image);
            bytes[at + 8..at + 12].copy_from_slice(&1u32.to_le_bytes());
            mend_all(&mut bytes);
            assert_eq!(Terrain::open_verified(&bytes).err(), Some(OpenError::Content(error)), "byte {at}");
            bytes[at..at + 16].fill(0);
            mend_all(&mut bytes);
            assert!(Terrain::open_verified(&bytes).is_ok());
        }
        let mut bytes = Aligned::new(&image);
        bytes[table..table + 16 * rows].fill(0);
        mend_all(&mut bytes);
        let t = Terrain::open_verified(&bytes).unwrap();
        let none = [t.ground_ray_bound(5.0), t.tyre_bound(0.6, 0.25), t.ray_bound(5.0)];
        assert_eq!(none.iter().filter(|c| c.is_none()).count(), 1);
    }
}
