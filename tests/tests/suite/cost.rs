//! Worst cost of queries: by place, by an option of the build; and the distance of most ground from its source.

use crate::common::{as_given, compare, hills, image, joined, lattice_scene, moved, on_threads, shuffled};
use hardpan::{Cost, Point, Status, Terrain, Trace, format};
use hardpan_builder::demo::fixtures;
use hardpan_builder::image::decode;
use hardpan_builder::{
    BuildError, Fallback, HeightField, HotSpot, Job, MaxCost, Options, Outcome, Scene, Split, Triangle, Verify, build,
    verify,
};
use verification::oracle::{Oracle, Q};
use verification::random::{Random, points};

fn scenes() -> Vec<(&'static str, Scene)> {
    vec![
        ("two sheets", joined(hills(24, 1.3), moved(hills(15, 1.7), 2.3, 1.1))),
        ("hills", hills(20, 1.0)),
        ("soup", fixtures::soup(9)),
        ("curb", fixtures::curb()),
    ]
}

fn within(tests: u32, lines: Option<u32>) -> Options {
    Options { max_cost: Some(MaxCost { tests, lines }), ..as_given() }
}

/// Triangles over a place of the lattice, by the closed rule, in integers of its own.
fn over(oracle: &Oracle, [x, y]: [i64; 2]) -> Vec<[[i64; 3]; 3]> {
    let all = (0..oracle.len()).map(|i| oracle.triangle(i));
    let covers = |t: &[[i64; 3]; 3]| {
        let apart = |k: usize, v: i64| t.iter().all(|c| c[k] < v) || t.iter().all(|c| c[k] > v);
        if apart(0, x) || apart(1, y) {
            return false;
        }
        let side = |k: usize| {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            (i128::from(b[0] - a[0]) * i128::from(y - a[1]) - i128::from(b[1] - a[1]) * i128::from(x - a[0])).signum()
        };
        let sides = [side(0), side(1), side(2)];
        sides != [0; 3] && (sides.iter().all(|&s| s >= 0) || sides.iter().all(|&s| s <= 0))
    };
    all.filter(covers).collect()
}

/// The most triangles that any corner has over it.
fn thickest_corner(oracle: &Oracle) -> usize {
    let mut corners: Vec<[i64; 2]> =
        (0..oracle.len()).flat_map(|i| oracle.triangle(i)).map(|[x, y, _]| [x, y]).collect();
    corners.sort_unstable();
    corners.dedup();
    corners.into_iter().map(|c| over(oracle, c).len()).max().unwrap()
}

#[test]
fn by_01_columns_hold_what_queries_cost() {
    let mut scenes = scenes();
    let heights = (0..30 * 20).map(|i| if i % 97 == 5 { f64::NAN } else { f64::from(i % 7) }).collect();
    let field = HeightField { pitch: 0.5, columns: 30, rows: 20, heights, tolerance: 0.01, ..HeightField::default() };
    scenes.push(("field", Scene { fields: vec![field], ..hills(20, 0.7) }));
    for (name, scene) in scenes {
        for tile_log2 in [None, Some(18)] {
            let built = build(&scene, &Options { tile_log2, ..as_given() }).unwrap();
            let t = Terrain::open_verified(&built.image).unwrap();
            let mut all = Vec::new();
            let mut costliest: Option<Cost> = None;
            for tile in decode::tiles(&t) {
                let from = all.len();
                tile.columns(|c| all.push(c));
                let own = &all[from..];
                // the tile's statement is the greatest of each, and no more
                let most = |f: fn(&Cost) -> u32| own.iter().map(|c| f(&c.cost)).max().unwrap_or(0);
                let stated = [most(|c| c.nodes), most(|c| c.leaves), most(|c| c.tests), most(|c| c.lines)];
                assert_eq!(stated, tile.head.bound, "{name}");
                let worst = tile.costliest().map(|c| c.cost);
                assert_eq!(worst.map(|c| c.tests), own.iter().map(|c| c.cost.tests).max(), "{name}");
                let key = |c: &Cost| [c.tests, c.lines, c.leaves, c.nodes];
                costliest = costliest.into_iter().chain(worst).max_by_key(key);
            }
            assert_eq!(decode::costliest(&t).map(|c| c.cost), costliest, "{name}");
            // each place lies in one column at most, and costs no more than that
            let oracle = Oracle::new(&scene);
            let mut met = 0;
            for p in points(&oracle, 300, 11) {
                let [x, y] = [p.x, p.y].map(|v| v.div_euclid(Q));
                let over = |c: &&decode::Column| (0..2).all(|i| (0..c.size[i]).contains(&([x, y][i] - c.low[i])));
                let columns: Vec<_> = all.iter().filter(over).collect();
                let (answer, cost) = t.closest_costed(p);
                assert!(columns.len() <= 1, "{name}: {columns:?}");
                assert!(!answer.found() || columns.len() == 1, "{name}: ground at {p:?} in no column");
                if let [c] = columns[..] {
                    let ([a, b, d, e], m) = ([cost.nodes, cost.leaves, cost.tests, cost.lines], c.cost);
                    assert!(a <= m.nodes && b <= m.leaves && d <= m.tests && e <= m.lines, "{name}: {cost:?} of {m:?}");
                    met += 1;
                }
            }
            assert!(met > 100, "{name}: {met}");
        }
    }
}

/// Beyond the bounds `edge-extend` searches at their nearest place: counted, told, and within the stated bound.
#[test]
fn by_01_the_search_at_the_border_is_counted() {
    let mut scenes = scenes();
    scenes.extend([("bridge", fixtures::bridge()), ("ramp", fixtures::ramp()), ("far", fixtures::far())]);
    for (name, scene) in scenes {
        let options = Options { fallback: Fallback::EdgeExtend, ..as_given() };
        let built = build(&scene, &options).unwrap();
        let t = Terrain::open_verified(&built.image).unwrap();
        let bound = t.bound();
        let h = t.header();
        let edge = |i: usize, v: i32| (h.origin[i] + i64::from(v)) << format::FRACTION;
        let [[west, east], [south, north]] = [0, 1].map(|i| [edge(i, h.min[i]), edge(i, h.max[i])]);
        let middle = (edge(2, h.min[2]) + edge(2, h.max[2])) / 2;
        let (mut asked, mut most) = (Vec::new(), Cost::default());
        for i in 0..=400i64 {
            let along = |low: i64, high: i64| low + (high - low) / 400 * i;
            for out in [1, 1 << 20, 1 << 40] {
                asked.extend([[along(west, east), south - out], [along(west, east), north + out]]);
                asked.extend([[west - out, along(south, north)], [east + out, along(south, north)]]);
                asked.extend([[west - out, south - out], [east + out, north + out]]);
            }
        }
        // where corners of triangles lie on the border
        let oracle = Oracle::new(&scene);
        let corners = (0..oracle.len()).flat_map(|i| oracle.triangle(i));
        let corners: std::collections::BTreeSet<_> = corners.map(|[x, y, _]| [x * Q, y * Q]).collect();
        asked.extend(corners.iter().filter(|c| c[0] == west).map(|c| [west - 1, c[1]]));
        asked.extend(corners.iter().filter(|c| c[0] == east).map(|c| [east + 1, c[1]]));
        asked.extend(corners.iter().filter(|c| c[1] == south).map(|c| [c[0], south - 1]));
        asked.extend(corners.iter().filter(|c| c[1] == north).map(|c| [c[0], north + 1]));
        for [x, y] in asked {
            let p = Point { x, y, z: middle };
            let (answer, cost) = t.closest_costed(p);
            assert_eq!((answer, answer.status), (t.closest(p), Status::NotInImage), "{name}: {p:?}");
            let mut told = Cost::default();
            t.explain(p, |step| match step {
                Trace::Node { .. } => told.nodes += 1,
                Trace::Words { lines, .. } => told.lines += lines,
                Trace::Leaf { lines, .. } => (told.leaves, told.lines) = (told.leaves + 1, told.lines + lines),
                Trace::Long { .. } => told.lines += 1,
                Trace::Test { .. } => told.tests += 1,
                Trace::Candidate(_) => {}
            });
            assert_eq!(told, cost, "{name}: {p:?}");
            assert!(cost.nodes > 0, "{name}: a search that costs nothing at {p:?}");
            let within = |f: fn(&Cost) -> u32| f(&cost) <= f(&bound);
            let all = within(|c| c.nodes) && within(|c| c.leaves) && within(|c| c.tests) && within(|c| c.lines);
            assert!(all, "{name}: {cost:?} of {bound:?} at {p:?}");
            let near = t.closest(Point { x: x.clamp(west, east), y: y.clamp(south, north), z: middle });
            if near.found() {
                assert_eq!(answer.hit.z, near.hit.z, "{name}: {p:?}");
                most = most.max(cost);
            }
        }
        assert!(most.tests > 0, "{name}: no ground at the border");
    }
}

#[test]
fn by_01_no_query_costs_more_than_allowed() {
    for (name, scene) in scenes() {
        let oracle = Oracle::new(&scene);
        let native = image(&scene);
        let a = Terrain::open_verified(&native).unwrap();
        let (bound, least) = (a.bound(), thickest_corner(&oracle) as u32);
        for most in [within(bound.tests, None), within(bound.tests, Some(bound.lines))] {
            let same = build(&scene, &most).unwrap().image;
            assert!(bound.tests == 0 || Terrain::open(&same).unwrap().bound().tests <= bound.tests, "{name}");
        }
        // halfway to the least that any division can have, and all but there
        for tests in [(bound.tests + least) / 2, least + 2] {
            let options = within(tests, None);
            let built = match build(&scene, &options) {
                Ok(built) => built,
                Err(e) => panic!("{name}: {tests} of {} tests, at least {least}: {e}", bound.tests),
            };
            let b = Terrain::open_verified(&built.image).unwrap();
            println!(
                "{name}: {tests} tests: {:?} to {:?}, {} to {} bytes",
                bound,
                b.bound(),
                native.len(),
                built.image.len()
            );
            assert!(b.bound().tests <= tests, "{name}");
            let verdict = verify(&built.image, &Verify::default()).unwrap();
            assert!(verdict.checks.iter().all(|c| c.outcome != Outcome::Fail), "{name}: {:?}", verdict.failed());
            let asked = points(&oracle, 5000, 5);
            assert!(asked.iter().all(|&p| b.closest_costed(p).1.tests <= tests), "{name}");
            for &p in &asked[..1000] {
                let [one, other] = [&a, &b].map(|t| t.closest(p));
                assert_eq!((one.status, one.hit.z, one.hit.normal), (other.status, other.hit.z, other.hit.normal));
            }
            compare(&b, &oracle, &asked[..100]);
            // what an image costs, it may cost
            let bound = b.bound();
            let own = build(&scene, &within(bound.tests, Some(bound.lines)));
            assert!(own.is_ok(), "{name}: {}", own.err().unwrap());
            // no order and no number of threads is content
            assert!(build(&shuffled(&scene, 3), &options).unwrap().image[..] == built.image[..], "{name}");
            for threads in [1, 2] {
                assert!(
                    on_threads(threads, || build(&scene, &options).unwrap().image)[..] == built.image[..],
                    "{name}"
                );
            }
            // and with the rules of VS Terrain
            let loose = Split { bundle_size: 40, ..Split::DEFAULT };
            let split = build(&scene, &Options { split: Some(loose), ..options.clone() }).unwrap();
            assert!(Terrain::open_verified(&split.image).unwrap().bound().tests <= tests, "{name}");
        }
        // fewer lines
        let lines = bound.lines - bound.lines / 8;
        if let Ok(built) = build(&scene, &within(u32::MAX, Some(lines))) {
            assert!(Terrain::open_verified(&built.image).unwrap().bound().lines <= lines, "{name}");
        }
    }
}

/// The allowance that the error names is enough.
#[track_caller]
fn refused(scene: &Scene, options: &Options) -> (HotSpot, String) {
    match build(scene, options).err() {
        Some(e @ BuildError::Cost { worst, most, enough }) => {
            assert!(enough.tests >= most.tests && enough.lines >= most.lines, "{e}");
            let built = build(scene, &Options { max_cost: Some(enough), ..options.clone() }).unwrap();
            let bound = Terrain::open_verified(&built.image).unwrap().bound();
            assert!(enough.allows(bound.tests, bound.lines), "{e}: {bound:?}");
            (worst, e.to_string())
        }
        other => panic!("{other:?}"),
    }
}

/// However little is allowed.
#[test]
fn by_01_what_is_said_to_be_enough_is() {
    for (name, scene) in scenes() {
        let bound = Terrain::open(&image(&scene)).unwrap().bound();
        let least = thickest_corner(&Oracle::new(&scene)) as u32;
        for most in [within(1, Some(3)), within(least - 1, None), within(bound.tests, Some(5)), within(least, Some(8))]
        {
            let (worst, text) = refused(&scene, &most);
            assert!(worst.tests > 0, "{name}: {text}");
        }
    }
}

#[test]
fn by_01_what_no_division_brings_about() {
    const M: i64 = 4096;
    let triangle = |k: u32| Triangle { v: [3 * k, 3 * k + 1, 3 * k + 2], ..Triangle::default() };
    // one fan of 40 about (3, 4), flat; and a stack of 25 roofs around (40, 8)
    let circle = |k: i64| {
        let turn = k as f64 * std::f64::consts::TAU / 40.0;
        [3 * M + (turn.cos() * 5000.0) as i64, 4 * M + (turn.sin() * 5000.0) as i64, 0]
    };
    let fan: Vec<[i64; 3]> = (0..40).flat_map(|k| [[3 * M, 4 * M, 0], circle(k), circle((k + 1) % 40)]).collect();
    let mut r = Random(4);
    let stack: Vec<[i64; 3]> = (0..25)
        .flat_map(|k| {
            let mut at = |x: i64, y: i64| [(40 + x) * M + r.within(0, 900), (8 + y) * M + r.within(0, 900), k * 65536];
            [at(-9, -9), at(9, -9), at(0, 9)]
        })
        .collect();
    for (name, corners, most, layers) in [("fan", &fan, 39, 1), ("stack", &stack, 24, 25)] {
        let scene = lattice_scene(corners, (0..corners.len() as u32 / 3).map(triangle).collect());
        let oracle = Oracle::new(&scene);
        let (worst, text) = refused(&scene, &within(most, None));
        let place = worst.at.map(|v| (v * M as f64) as i64);
        assert_eq!((worst.triangles, worst.layers, worst.least), (most + 1, layers, true), "{name}: {text}");
        assert_eq!(over(&oracle, place).len() as u32, worst.triangles, "{name}: {text}");
        assert_eq!(worst.tests, worst.triangles, "{name}");
        if name == "fan" {
            assert_eq!(worst.at, [3.0, 4.0]);
            assert!(
                text.contains("(3.000, 4.000) takes at least 40 tests") && text.contains("allow 40 tests"),
                "{text}"
            );
        }
        for threads in [1, 2] {
            let again = on_threads(threads, || refused(&shuffled(&scene, threads as u64), &within(most, None)));
            assert_eq!(again, (worst, text.clone()), "{name}");
        }
        let built = build(&scene, &within(worst.tests, None)).unwrap();
        assert_eq!(Terrain::open_verified(&built.image).unwrap().bound().tests, worst.tests, "{name}");
        // lines as well: a bundle has two, its words one
        let (worst, _) = refused(&scene, &within(100, Some(4)));
        assert!(worst.lines > 4 && worst.least, "{name}: {worst:?}");
    }
    // both: the worse is reported, in whichever tile it lies
    let both = [fan, stack].concat();
    let scene = lattice_scene(&both, (0..both.len() as u32 / 3).map(triangle).collect());
    for tile_log2 in [None, Some(14)] {
        let (worst, _) = refused(&scene, &Options { tile_log2, ..within(3, None) });
        assert_eq!((worst.at, worst.triangles), ([3.0, 4.0], 40));
    }
    // a field with voids takes four reads wherever it is
    let heights = vec![1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0, 7.0, 8.0, 9.0];
    let field = HeightField { pitch: 1.0, columns: 3, rows: 3, heights, tolerance: 0.1, ..HeightField::default() };
    let scene = Scene { fields: vec![field], ..lattice_scene(&[], Vec::new()) };
    assert_eq!(refused(&scene, &within(3, None)).0.tests, 4);
    assert!(build(&scene, &within(4, None)).is_ok());
    // no cost at all is no option
    assert!(matches!(build(&scene, &within(0, None)).err(), Some(BuildError::Option(_))));
    assert!(matches!(build(&scene, &within(9, Some(2))).err(), Some(BuildError::Option(_))));
}

/// A tile that costs too much is refused by itself, and of all the worst is reported, with what is enough for each.
#[test]
fn by_01_tiles_are_refused_one_by_one() {
    let scene = joined(moved(hills(20, 1.0), 2.3, 1.1), hills(30, 1.7));
    let options = Options { tile_log2: Some(14), ..within(7, Some(7)) };
    let job = Job::new(&scene, &options).unwrap();
    let (mut made, mut refused) = (0, Vec::new());
    for tile in 0..job.tiles() {
        match job.tile(tile) {
            Ok(_) => made += 1,
            Err(BuildError::Cost { worst, most, enough }) => {
                assert!(Some(most) == options.max_cost && !most.allows(worst.tests, worst.lines), "{worst:?}");
                assert!(enough.allows(worst.tests, worst.lines), "{enough:?}");
                refused.push((worst, enough));
            }
            Err(e) => panic!("{e}"),
        }
    }
    assert!(made > 0 && refused.len() > 1, "{made} made, {refused:?}");
    let worst = refused.iter().map(|(worst, _)| *worst).reduce(HotSpot::worse).unwrap();
    let tests = refused.iter().map(|(_, enough)| enough.tests).max().unwrap();
    let lines = refused.iter().map(|(_, enough)| enough.lines).max().unwrap();
    match build(&scene, &options).err() {
        Some(BuildError::Cost { worst: told, enough, .. }) => {
            assert_eq!((told, enough), (worst, MaxCost { tests, lines }));
        }
        other => panic!("{other:?}"),
    }
    assert!(build(&scene, &Options { max_cost: Some(MaxCost { tests, lines }), ..options }).is_ok());
}

/// A rectangle of two triangles at a height in steps, which may be a fraction.
fn slab(west: f64, east: f64, north: f64, z: f64) -> Scene {
    let corner = |x: f64, y: f64| [x, y, z / 65536.0];
    let triangles = [[0, 1, 2], [0, 2, 3]].map(|v| Triangle { v, ..Triangle::default() }).into();
    let positions = vec![corner(west, 0.0), corner(east, 0.0), corner(east, north), corner(west, north)];
    Scene { positions, ..lattice_scene(&[], triangles) }
}

#[test]
fn by_05_shares_of_the_plan_area() {
    let step = 1.0 / 65536.0;
    // four fifths lie a quarter of a step off the lattice, a fifth 0.4
    let mut scene = joined(slab(0.0, 800.0, 10.0, 0.25), slab(800.0, 1000.0, 10.0, 7.4));
    let some = hills(40, 1.0);
    scene.materials.clone_from(&some.materials);
    let report = build(&scene, &as_given()).unwrap().report; // the step between them is no gap
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let [p50, p99, p999] = report.error_quantiles.height;
    assert!(near(p50, 0.25 * step) && near(p99, 0.4 * step) && near(p999, 0.4 * step), "{:?}", report.error_quantiles);
    assert!(
        (150..400).contains(&report.error_quantiles.places),
        "about 64 for each triangle: {}",
        report.error_quantiles.places
    );
    // on the lattice nothing is off
    let exact = build(&some, &Options::default()).unwrap().report;
    assert!(
        exact.error_quantiles.height[2] < 1e-6 && (30_000..36_000).contains(&exact.error_quantiles.places),
        "{:?}",
        exact.error_quantiles
    );
    // no order changes them, nor do threads
    let town = joined(fixtures::town(1), fixtures::cobble());
    let of = |scene: &Scene| build(scene, &Options::default()).unwrap().report.error_quantiles;
    assert_eq!(of(&town), of(&shuffled(&town, 8)));
    assert_eq!(on_threads(1, || of(&town)), on_threads(2, || of(&town)));
}

/// Slopes off the lattice, measured by the builder and by the comparison with the source, which share no code.
#[test]
fn by_05_shares_agree_with_the_comparison() {
    let mut scene = hills(30, 1.0);
    let mut r = Random(12);
    for p in &mut scene.positions {
        *p = p.map(|v| v + r.within(0, 1 << 20) as f64 / (1u64 << 30) as f64);
    }
    let built = build(&scene, &Options::default()).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    let measured = hardpan_builder::source_error(&t, &scene, &Options::default(), 200_000).source.quantiles;
    for (k, (own, other)) in built.report.error_quantiles.height.into_iter().zip(measured).enumerate() {
        println!("{k}: {own:.9} and {other:.9} m");
        assert!(own > 0.0 && (own - other).abs() < 0.1 * other, "{own} and {other}");
    }
}
