//! The build parameters of VS Terrain decide where an image ends to divide.

use crate::common::{as_given, compare, joined, lattice_scene};
use hardpan::{Point, Terrain, Trace};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Options, Report, Scene, Split, Triangle, build};
use std::collections::{BTreeMap, BTreeSet};
use verification::oracle::{Oracle, Q};
use verification::random::{Random, points};

/// Most triangles, and the volume below which more are accepted, as the rows have them.
fn limits(s: Split, depth: u32) -> (u64, f64) {
    let steps = f64::from(depth.max(s.depth_tolerance) - s.depth_tolerance);
    let size = u64::from(s.bundle_size) + (s.bundle_increase * steps) as u64;
    (size, s.min_volume + s.min_volume * s.volume_increase * steps)
}

#[test]
fn vt_73_the_bundle_increase_is_rounded_down() {
    let s = Split::DEFAULT;
    assert_eq!((s.depth_tolerance, s.bundle_size, s.bundle_increase), (8, 8, 0.5));
    assert_eq!([0, 8, 9, 10, 11, 12].map(|d| s.limits(d).0), [8, 8, 8, 9, 9, 10]);
    let odd = Split { depth_tolerance: 2, bundle_size: 3, bundle_increase: 0.75, ..s };
    assert_eq!([2, 3, 4, 5, 6].map(|d| odd.limits(d).0), [3, 3, 4, 5, 6]);
    // and so it is in an image: leaves as large as their depth allows, and none larger
    let (levels, ..) = obeys(&uneven(), Split { bundle_increase: 0.75, ..BY_COUNT });
    let largest = |depth: u32| levels.get(&depth).map_or(0, |l| l.1);
    assert!(levels.keys().all(|&d| largest(d) <= limits(Split { bundle_increase: 0.75, ..BY_COUNT }, d).0));
    assert!(levels.keys().any(|&d| d > 8 && largest(d) > 8), "{levels:?}");
}

#[test]
fn vt_75_the_least_volume_grows_evenly() {
    let s = Split::DEFAULT;
    assert_eq!((s.min_volume, s.volume_increase), (0.125, 1.5));
    assert_eq!([0, 8, 9, 10, 12].map(|d| s.limits(d).1), [0.125, 0.125, 0.3125, 0.5, 0.875], "linear, not compound");
    let odd = Split { depth_tolerance: 2, min_volume: 2.0, volume_increase: 1.0, ..s };
    assert_eq!([2, 3, 4, 5].map(|d| odd.limits(d).1), [2.0, 4.0, 6.0, 8.0]);
    // more is accepted for its volume where that grows
    let still = obeys(&uneven(), Split { min_volume: 0.125, ..BY_COUNT }).2.packed.index_bytes;
    let grows = obeys(&uneven(), Split { min_volume: 0.125, volume_increase: 1.5, ..BY_COUNT }).2.packed.index_bytes;
    assert!(grows < still, "{grows} {still}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    for bad in [
        Split { bundle_size: 0, ..Split::DEFAULT },
        Split { depth_tolerance: 65, ..Split::DEFAULT },
        Split { bundle_increase: -1.0, ..Split::DEFAULT },
        Split { min_volume: f64::NAN, ..Split::DEFAULT },
        Split { volume_increase: f64::INFINITY, ..Split::DEFAULT },
    ] {
        assert!(build(&fixtures::flat(), &Options { split: Some(bad), ..Options::default() }).is_err(), "{bad:?}");
    }
}

/// A square of the image that was not divided further: its lower left corner and log2 of its side, in steps.
type Leaf = ([i64; 2], u32);

/// The leaf over a place, if there is ground near it.
fn leaf(t: &Terrain, p: Point) -> Option<Leaf> {
    let (mut log2, mut words) = (0, false);
    t.explain(p, |trace| match trace {
        Trace::Node { log2: l } => log2 = l,
        Trace::Words { .. } => words = true,
        _ => {}
    });
    let at = [p.x, p.y].map(|c| c.div_euclid(Q) >> log2 << log2);
    words.then_some((at, log2))
}

/// Triangles that meet a square that is `by` steps larger on every side, and their lowest and highest corner.
fn content(oracle: &Oracle, (at, log2): Leaf, by: i64) -> (u64, i64) {
    let (low, high) = (at.map(|c| c - by), at.map(|c| c + (1 << log2) + by));
    let (mut count, mut range) = (0, [i64::MAX, i64::MIN]);
    for t in (0..oracle.len()).map(|i| oracle.triangle(i)) {
        // separating lines: the axes, and the edges of the triangle
        let apart = (0..2).any(|k| t.iter().all(|c| c[k] < low[k]) || t.iter().all(|c| c[k] > high[k]))
            || (0..3).any(|k| {
                let (a, b, c) = (t[k], t[(k + 1) % 3], t[(k + 2) % 3]);
                let side = |x: i64, y: i64| {
                    i128::from(b[0] - a[0]) * i128::from(y - a[1]) - i128::from(b[1] - a[1]) * i128::from(x - a[0])
                };
                let inside = side(c[0], c[1]).signum();
                [low[0], high[0]].iter().all(|&x| [low[1], high[1]].iter().all(|&y| side(x, y) * inside < 0))
            });
        if !apart {
            count += 1;
            range = [range[0].min(t[0][2].min(t[1][2]).min(t[2][2])), range[1].max(t[0][2].max(t[1][2]).max(t[2][2]))];
        }
    }
    (count, (range[1] - range[0]).max(0))
}

/// A sheet of 1 km with a cluster of needles, a rough field and a flat one.
fn uneven() -> Scene {
    let mut r = Random(71);
    let (mut corners, mut faces) = (Vec::new(), Vec::new());
    let mut add = |t: [[i64; 3]; 3]| {
        let first = corners.len() as u32;
        corners.extend(t);
        faces.push(Triangle { v: [first, first + 1, first + 2], ..Triangle::default() });
    };
    let m = 4096;
    for (x, y, n, pitch, rough) in
        [(-500, -500, 50, 20 * m, 3 * m), (13, 27, 60, m / 5, 2000), (-320, 111, 70, m / 3, 0), (200, 200, 40, 40, 9)]
    {
        let heights: Vec<i64> =
            (0..(n + 1) * (n + 1)).map(|_| if rough > 0 { r.within(-rough, rough) } else { 0 }).collect();
        let post = |i: i64, j: i64| [x * m + i * pitch + 7, y * m + j * pitch + 3, heights[(j * (n + 1) + i) as usize]];
        for j in 0..n {
            for i in 0..n {
                add([post(i, j), post(i + 1, j), post(i + 1, j + 1)]);
                add([post(i, j), post(i + 1, j + 1), post(i, j + 1)]);
            }
        }
    }
    for _ in 0..400 {
        // needles: upright slivers, a hair wide, within 0.3 m
        let p = [r.within(0, m / 3) - 60 * m, r.within(0, m / 3) + 70 * m, 0];
        add([p, [p[0] + r.within(1, 9), p[1] + r.within(-9, 9), 30 * m], [p[0], p[1] + r.within(1, 9), 20 * m]]);
    }
    lattice_scene(&corners, faces)
}

/// Builds with a rule and holds every leaf that is met against it. Returns leaves by depth, with their greatest count,
/// and how many were accepted for their volume alone.
fn obeys(scene: &Scene, split: Split) -> (BTreeMap<u32, (usize, u64)>, usize, Report) {
    let options = Options { split: Some(split), tile_log2: Some(24), ..as_given() };
    let built = build(scene, &options).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    let oracle = Oracle::new(scene);
    let asked = points(&oracle, 4000, 5);
    compare(&t, &oracle, &asked[..150]);
    let side = (0..2).map(|k| oracle.bounds()[1][k] - oracle.bounds()[0][k]).max().unwrap();
    let root = 64 - (side as u64 - 1).leading_zeros();
    let volume = |log2: u32, height: i64| (f64::from(log2) - 12.0).exp2().powi(2) * height as f64 / 65536.0;
    let leaves: BTreeSet<Leaf> = asked.iter().filter_map(|&p| leaf(&t, p)).collect();
    let (mut levels, mut small) = (BTreeMap::new(), 0);
    for &(at, log2) in &leaves {
        let depth = root.saturating_sub(log2);
        let (size, least) = limits(split, depth);
        let (count, height) = content(&oracle, (at, log2), -1); // at least these
        assert!(
            count <= size || volume(log2, height) < least || log2 <= 2,
            "{count} triangles, {} m3 at {at:?}, depth {depth}: not to be accepted",
            volume(log2, height)
        );
        small += usize::from(count > size);
        let level = levels.entry(depth).or_insert((0, 0));
        *level = (level.0 + 1, level.1.max(count));
        // and the square that it is a quarter of was not
        if log2 < 24 && content(&oracle, (at.map(|c| c >> 24 << 24), 24), 0).0 < 20_000 {
            let parent = (at.map(|c| c >> (log2 + 1) << (log2 + 1)), log2 + 1);
            let (size, least) = limits(split, root.saturating_sub(log2 + 1));
            let (count, height) = content(&oracle, parent, 1); // at most these
            assert!(
                count > size && volume(log2 + 1, height) >= least,
                "{parent:?} was to be accepted: {count} triangles"
            );
        }
    }
    println!("{split:?}: {} leaves, {small} for their volume; by depth {levels:?}", leaves.len());
    (levels, small, built.report)
}

/// Leaves are accepted for their count alone, whatever their depth.
const BY_COUNT: Split = Split { min_volume: 0.0, bundle_increase: 0.0, volume_increase: 0.0, ..Split::DEFAULT };

#[test]
fn vt_71_leaves_grow_only_beyond_the_depth_tolerance() {
    let scene = uneven();
    for tolerance in [8, 9, 11] {
        let (levels, ..) = obeys(&scene, Split { depth_tolerance: tolerance, bundle_increase: 2.5, ..BY_COUNT });
        assert!(levels.iter().all(|(d, l)| *d > tolerance || l.1 <= 8), "{tolerance}: {levels:?}");
        assert!(levels.iter().any(|(d, l)| *d > tolerance && l.1 > 8), "{tolerance}: {levels:?}");
        assert!(levels.keys().any(|&d| d <= tolerance), "{tolerance}: {levels:?}");
    }
    obeys(&scene, Split::DEFAULT);
    obeys(&scene, Split::DENSE);
}

#[test]
fn vt_72_leaves_hold_as_many_as_is_preferred() {
    let scene = uneven();
    let (levels, small, plain) = obeys(&scene, BY_COUNT);
    assert!(small == 0 && levels.values().all(|l| l.1 <= 8) && levels.values().any(|l| l.1 == 8), "{levels:?}");
    assert!(levels.keys().any(|&d| d > 12));
    let (levels, small, loose) = obeys(&scene, Split { bundle_size: 40, ..BY_COUNT });
    assert!(small == 0 && levels.values().all(|l| l.1 <= 40) && levels.values().any(|l| l.1 > 20), "{levels:?}");
    assert!(loose.packed.index_bytes < plain.packed.index_bytes);
    // above the tolerance more than that only by the rule of volume: `obeys` holds each leaf to it
    let (levels, small, _) = obeys(&scene, Split { min_volume: 0.125, volume_increase: 0.0, ..BY_COUNT });
    assert!(small > 0 && levels.values().any(|l| l.1 > 8));
}

/// Upright slivers a hair wide, 400 of them within 0.3 m, are not told apart any further.
#[test]
fn vt_74_a_cluster_of_needles_stops_at_the_least_volume() {
    let scene = uneven();
    let (_, small, _) = obeys(&scene, Split { min_volume: 0.125, ..BY_COUNT });
    assert!(small > 0, "no leaf was accepted for its volume");
    let (fine, none, _) = obeys(&scene, BY_COUNT);
    assert_eq!(none, 0);
    let (coarse, some, _) = obeys(&scene, Split { min_volume: 8.0, ..BY_COUNT });
    let deepest = |levels: &BTreeMap<u32, (usize, u64)>| *levels.keys().max().unwrap();
    assert!(some > 0 && deepest(&coarse) < deepest(&fine), "{coarse:?} {fine:?}");

    // where the needles are: the largest square of less than the volume, and without the rule a smaller one
    let oracle = Oracle::new(&scene);
    let place = [-60 * 4096 + 300, 70 * 4096 + 300];
    let over = |log2: u32| (place.map(|c| c >> log2 << log2), log2);
    let volume =
        |log2: u32| (f64::from(log2) - 12.0).exp2().powi(2) * content(&oracle, over(log2), 0).1 as f64 / 65536.0;
    let wanted = (0..24).rev().find(|&log2| volume(log2) < 0.125).unwrap();
    assert!(volume(wanted + 1) >= 0.125 && content(&oracle, over(wanted), 0).0 > 8);
    let side = |split: Split| {
        let options = Options { split: Some(split), tile_log2: Some(24), ..as_given() };
        let built = build(&scene, &options).unwrap();
        let t = Terrain::open(&built.image).unwrap();
        leaf(&t, Point { x: place[0] * Q, y: place[1] * Q, z: 0 }).unwrap()
    };
    assert_eq!(side(Split { min_volume: 0.125, ..BY_COUNT }), over(wanted));
    assert!(side(BY_COUNT).1 < wanted);
}

#[test]
fn every_answer_is_the_same_under_any_rule() {
    let scene = joined(fixtures::town(1), fixtures::cobble());
    let native = build(&scene, &Options::default()).unwrap();
    let a = Terrain::open_verified(&native.image).unwrap();
    for split in [Split::DEFAULT, Split::DENSE] {
        let built = build(&scene, &Options { split: Some(split), ..Options::default() }).unwrap();
        let b = Terrain::open_verified(&built.image).unwrap();
        assert_ne!(a.identity(), b.identity());
        for p in points(&Oracle::new(&scene), 2000, 3) {
            let [one, other] = [&a, &b].map(|t| t.closest(p));
            assert_eq!((one.status, one.hit.z, one.hit.normal), (other.status, other.hit.z, other.hit.normal), "{p:?}");
        }
    }
}
