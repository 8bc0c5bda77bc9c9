//! One test for each row of the feature list that this suite answers for.

use crate::common::{allocations, compare, hills, image, joined, metres, moved};
use hardpan::{Cost, Cursor, LeafKind, Options, Point, Reach, Status, Terrain, Trace, Windows, format};
use hardpan_builder::Scene;
use hardpan_builder::demo::fixtures;
use num_bigint::BigInt;
use num_rational::BigRational;
use verification::bytes::BLANK;
use verification::oracle::{Oracle, Q, Steps, plane_height};
use verification::random::{Random, points};

#[track_caller]
fn z_at(terrain: &Terrain, p: [f64; 3]) -> f64 {
    let answer = terrain.closest(p);
    assert_eq!(answer.status, Status::Found, "at {p:?}");
    terrain.z_f64(&answer.hit)
}

fn window(terrain: &Terrain, near: f64) -> Options {
    let windows = Windows { near: Steps::default().z_units(near), ..terrain.windows() };
    Options { windows, ..terrain.options() }
}

#[test]
fn vt_02_closest_surface_above_or_below() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    let expected = [(2.0, 0.0), (5.0, 6.0), (3.0, 0.0), (3.0 + 1.0 / 16_777_216.0, 6.0), (-1.0, 0.0), (9.0, 6.0)];
    for (z, surface) in expected {
        assert_eq!(z_at(&t, [0.0, 0.0, z]), surface, "from {z}");
    }
}

#[test]
fn vt_03_rf_40_height_slope_and_surface_in_one_answer() {
    let bytes = image(&fixtures::ramp());
    let t = Terrain::open(&bytes).unwrap();
    let a = t.closest([10.0, 20.0, 2.5]);
    assert_eq!(t.z_f64(&a.hit), 2.0);
    let [dx, dy] = t.slope_f64(&a.hit);
    assert!((dx - 0.10).abs() <= 1e-9 && (dy - 0.05).abs() <= 1e-9, "{dx} {dy}");
    let [dx, dy] = t.slope_f32(&a.hit);
    assert!((dx - 0.10).abs() <= 1e-5 && (dy - 0.05).abs() <= 1e-5, "{dx} {dy}");
    let [nx, ny, nz] = t.normal_f64(&a.hit);
    let length = (1.0f64 + 0.10 * 0.10 + 0.05 * 0.05).sqrt();
    for (n, wanted) in [(nx, -0.10), (ny, -0.05), (nz, 1.0)] {
        assert!((n - wanted / length).abs() <= 1e-9, "{n}");
    }
    let m = t.material(&a.hit);
    assert_eq!((m.mu, m.rolling), (0.8, 1.2));
    assert_eq!(t.surface(&a)[..2], [0.8, 1.2]);
}

#[test]
fn mv_74_the_surface_below_a_height() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    for (z, wanted) in [(3.0, Some(0.0)), (6.0, Some(6.0)), (9.0, Some(6.0)), (0.0, Some(0.0)), (-0.5, None)] {
        let a = t.below([0.0, 0.0, z]);
        assert_eq!(a.found().then(|| t.z_f64(&a.hit)), wanted, "from {z}");
    }
}

#[test]
fn rf_44_gain_is_one_unless_stated() {
    let mut scene = fixtures::mats();
    scene.materials[0].gain = 1.25;
    let stated = scene.materials[0].name.clone();
    let bytes = image(&scene);
    let t = Terrain::open(&bytes).unwrap();
    assert!(t.materials().len() == 3 && !stated.is_empty());
    for (i, m) in t.materials().iter().enumerate() {
        let wanted = if t.material_name(i as u16) == stated { 1.25f64 } else { 1.0 };
        assert_eq!(m.gain.to_bits(), wanted.to_bits());
    }
}

#[test]
fn mv_33_clay_and_sand_have_a_cone_index() {
    let mut scene = fixtures::mats();
    for (surface, stated, wanted) in [(18, 0.0, 250.0), (19, 0.0, 250.0), (19, 150.0, 150.0), (0, 0.0, 0.0)] {
        scene.materials.iter_mut().for_each(|m| (m.surface, m.cone_index) = (surface, stated));
        let bytes = image(&scene);
        let found: Vec<f64> = Terrain::open(&bytes).unwrap().materials().iter().map(|m| m.cone_index).collect();
        assert_eq!(found, [wanted; 3], "surface {surface}, stated {stated}");
    }
}

#[test]
fn vt_04_found_says_where() {
    let bytes = image(&fixtures::flat());
    let t = Terrain::open(&bytes).unwrap();
    for (z, reach) in [(0.0, Reach::Near), (4.0, Reach::Near), (4.001, Reach::FarBelow), (-4.001, Reach::FarAbove)] {
        let a = t.closest([0.0, 0.0, z]);
        assert!(a.found());
        assert_eq!((a.hit.reach, a.hit.leaf), (reach, LeafKind::Bundle), "from {z}");
    }
    let m = t.closest([0.0, 0.0, 0.0]);
    assert_eq!((t.material(&m.hit).mu, t.material(&m.hit).rolling), (0.85, 1.0));
}

/// `ramp` with an opening of 10 m at its centre.
fn ramp_with_a_hole() -> Scene {
    let mut scene = fixtures::hole();
    for p in &mut scene.positions {
        if p[0].abs() == 500.0 {
            *p = [p[0] / 5.0, p[1] / 5.0, 0.0];
        }
        p[2] = (2.0 * p[0] + p[1]) / 20.0;
    }
    scene
}

#[test]
fn vt_05_no_terrain_still_fills_every_output() {
    let bytes = image(&ramp_with_a_hole());
    let t = Terrain::open(&bytes).unwrap();
    let a = t.closest([0.0, 0.0, 0.0]);
    assert_eq!(a.status, Status::NoGround);
    assert_eq!(t.z_f64(&a.hit), -15.0);
    assert_eq!(t.slope_f64(&a.hit), [0.0, 0.0]);
    assert_eq!(t.normal_f64(&a.hit), [0.0, 0.0, 1.0]);
    let h = t.header();
    assert_eq!(t.surface(&a), [h.default_mu, h.default_rolling, h.default_gain]);
    assert_eq!((a.hit.reach, a.hit.leaf), (Reach::Fallback, LeafKind::None));
    // A slice that was filled with something else is overwritten.
    let mut answers = [BLANK; 1];
    t.closest_batch(&[[0.0, 0.0, 0.0]], &mut answers);
    assert_eq!(answers[0], a);
    // The policy can be chosen for one call.
    let default = Options { fallback: format::fallback::DEFAULT, ..t.options() };
    assert_eq!(t.closest_with([0.0, 0.0, 0.0], &default).hit.z, h.default_z);
}

#[test]
fn vt_11_queries_read_the_image_in_place() {
    use std::io::Write;
    let path = std::env::temp_dir().join(format!("hardpan-vt-11-{}.hpan", std::process::id()));
    std::fs::File::create(&path).unwrap().write_all(&image(&fixtures::soup(11))).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    // SAFETY: nothing writes to the file while it is mapped.
    let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
    let asked = points(&Oracle::new(&fixtures::soup(11)), 500, 1);
    let mut answers = vec![BLANK; asked.len()];
    let mut found = 0;
    let count = allocations(|| {
        let t = Terrain::open_verified(&map).expect("verifies");
        let (from, to) = (t.bytes().as_ptr_range().start, map.as_ptr());
        assert!(std::ptr::eq(from, to), "a copy was made");
        let (mut cursor, mut space) = (Cursor::new(), [BLANK.hit; 8]);
        t.closest_batch(&asked, &mut answers);
        for &p in &asked {
            found += usize::from(t.closest(p).found()) + usize::from(t.closest_cursor(p, &mut cursor).found());
            found += t.layers(p, &mut space).written + usize::from(t.below(p).found());
        }
    });
    std::fs::remove_file(&path).unwrap();
    assert!(found > asked.len());
    assert_eq!(count, 0, "allocations");
}

/// Stated bound, and mean tests and lines over a drive across all of it.
fn costs(cells: usize) -> (Cost, [f64; 2]) {
    let scene = hills(cells, 0.5);
    let bytes = image(&scene);
    let t = Terrain::open(&bytes).unwrap();
    let mut r = Random(cells as u64);
    let end = Steps::default().xy_units(cells as f64 * 0.5);
    let count = 20_000;
    let mut sum = [0.0; 2];
    for _ in 0..count {
        let (answer, cost) = t.closest_costed(Point { x: r.within(0, end), y: r.within(0, end), z: 0 });
        assert!(answer.found());
        sum = [sum[0] + f64::from(cost.tests), sum[1] + f64::from(cost.lines)];
    }
    (t.bound(), sum.map(|s| s / f64::from(count)))
}

#[track_caller]
fn grows_little(cells: &[usize]) {
    let (small, mean) = costs(cells[0]);
    for &n in &cells[1..] {
        let (bound, means) = costs(n);
        println!(
            "{} triangles: bound {bound:?}, mean tests and lines {means:?}; before {small:?}, {mean:?}",
            2 * n * n
        );
        for (now, then, what) in [
            (f64::from(bound.tests), f64::from(small.tests), "stated tests"),
            (f64::from(bound.lines), f64::from(small.lines), "stated lines"),
            (means[0], mean[0], "mean tests"),
            (means[1], mean[1], "mean lines"),
        ] {
            assert!(now < 1.5 * then, "{what} at {n} cells: {now} against {then}");
        }
    }
}

#[test]
fn vt_13_cg_24_cost_does_not_grow_with_size() {
    grows_little(&[71, 708]);
}

#[test]
fn vt_13_cost_does_not_grow_to_ten_million() {
    grows_little(&[71, 708, 2237]);
}

#[test]
fn vt_14_sparse_scenery_costs_nothing_between() {
    let town = fixtures::town(10);
    let apart = 49.0 * 4096.0; // 200.7 km
    let (one, other) = (image(&town), image(&moved(town.clone(), apart, 0.0)));
    let both = image(&joined(town.clone(), moved(town, apart, 0.0)));
    let sum = one.len() + other.len();
    let rest = both.len().abs_diff(sum);
    assert!(rest * 20 <= sum, "{} bytes for both, {sum} apart", both.len());
    let bound = |bytes: &[u8]| Terrain::open(bytes).unwrap().bound();
    assert_eq!(bound(&both), bound(&one));
    let t = Terrain::open(&both).unwrap();
    assert_eq!(t.closest([apart / 2.0, 0.0, 0.0]).status, Status::NoGround, "the image covers the gap");
}

#[test]
fn vt_17_explain_lists_candidates_and_the_choice() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    let p = [0.25, 0.5, 2.0];
    let (mut nodes, mut tests, mut candidates) = (0, 0, Vec::new());
    let answer = t.explain(p, |step| match step {
        Trace::Node { .. } => nodes += 1,
        Trace::Test { .. } => tests += 1,
        Trace::Candidate(hit) => candidates.push(hit),
        _ => {}
    });
    let mut heights: Vec<f64> = candidates.iter().map(|hit| t.z_f64(hit)).collect();
    heights.sort_by(f64::total_cmp);
    assert_eq!(heights, [0.0, 6.0]);
    assert!(candidates.contains(&answer.hit), "the chosen one, and the stage that chose it: {:?}", answer.hit);
    let cost = t.closest_costed(p).1;
    assert_eq!((nodes, tests), (cost.nodes, cost.tests));
}

#[test]
fn vt_18_near_window_first() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    assert_eq!(t.windows().near, Steps::default().z_units(4.0), "the default window");
    let both = t.closest_with([0.0, 0.0, 2.0], &window(&t, 4.0));
    assert_eq!((t.z_f64(&both.hit), both.hit.reach), (0.0, Reach::Near));
    let neither = t.closest_with([0.0, 0.0, 2.0], &window(&t, 1.0));
    assert_eq!((t.z_f64(&neither.hit), neither.hit.reach), (0.0, Reach::FarBelow));
    // The near window counts whatever the far one is.
    let short = Options { windows: Windows { near: Steps::default().z_units(4.0), far: 1 }, ..t.options() };
    let near = t.closest_with([0.0, 0.0, 2.0], &short);
    assert_eq!((near.status, t.z_f64(&near.hit), near.hit.reach), (Status::Found, 0.0, Reach::Near));
    // At z = 5 the deck is nearer, but with no near window the far segment goes below first.
    let below_first = t.closest_with([0.0, 0.0, 5.0], &window(&t, 0.0));
    assert_eq!((t.z_f64(&below_first.hit), below_first.hit.reach), (0.0, Reach::FarBelow));
}

#[test]
fn vt_19_far_below_then_far_above() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    assert_eq!(t.windows().far, Steps::default().z_units(5000.0), "the default window");
    for (z, surface, reach) in
        [(50.0, 6.0, Reach::FarBelow), (-50.0, 0.0, Reach::FarAbove), (5006.0, 6.0, Reach::FarBelow)]
    {
        let a = t.closest([0.0, 0.0, z]);
        assert_eq!((t.z_f64(&a.hit), a.hit.reach), (surface, reach), "from {z}");
    }
    assert_eq!(t.closest([0.0, 0.0, 5006.001]).status, Status::NoGround);
    assert_eq!(t.closest([0.0, 0.0, -5000.001]).status, Status::NoGround);
}

#[test]
fn vt_20_fallback_is_the_bottom_of_the_bounding_box() {
    let bytes = image(&fixtures::ramp());
    let t = Terrain::open(&bytes).unwrap();
    let bounds = |z| Options { fallback: z, ..t.options() };
    let a = t.closest_with([1e6, 0.0, 0.0], &bounds(format::fallback::BOUNDS_MIN_Z));
    assert!(!a.found());
    assert_eq!((t.z_f64(&a.hit), a.hit.reach), (-15.0, Reach::Fallback));
    assert_eq!(t.closest([1e6, 0.0, 0.0]), a, "it is the image's own policy");
    let edge = t.closest_with([1e6, 20.0, 11.0], &bounds(format::fallback::EDGE_EXTEND));
    assert!(!edge.found());
    assert_eq!(t.z_f64(&edge.hit), 11.0, "the ramp at (100, 20)");
}

#[test]
fn cg_10_no_face_is_missed() {
    for seed in 0..6 {
        let scene = fixtures::soup(seed);
        let oracle = Oracle::new(&scene);
        let bytes = image(&scene);
        compare(&Terrain::open_verified(&bytes).unwrap(), &oracle, &points(&oracle, 3000, seed));
    }
}

#[test]
fn cg_11_one_answer_per_height_on_edges_and_vertices() {
    for seed in [20, 21] {
        let scene = fixtures::soup(seed);
        let oracle = Oracle::new(&scene);
        let bytes = image(&scene);
        let mut on_border = Vec::new();
        for v in (0..oracle.len()).map(|i| oracle.triangle(i)) {
            for (a, b) in [(v[0], v[1]), (v[1], v[2]), (v[2], v[0])] {
                for j in [0, 1, 85, 128, 255] {
                    let [x, y, z] = [0, 1, 2].map(|k| a[k] * Q + j * (b[k] - a[k]));
                    on_border.push(Point { x, y, z });
                }
            }
        }
        compare(&Terrain::open(&bytes).unwrap(), &oracle, &on_border);
    }
}

/// Rounded to the nearest whole number, of two as near the even one.
fn half_even(v: &BigRational) -> BigInt {
    let half = BigRational::new(1.into(), 2.into());
    let (low, rest) = (v.floor().to_integer(), v - v.floor());
    let up = rest > half || (rest == half && low.bit(0));
    low + BigInt::from(u8::from(up))
}

#[test]
fn cg_12_height_is_the_exact_plane_rounded_once() {
    let scene = fixtures::soup(30);
    let oracle = Oracle::new(&scene);
    let bytes = image(&scene);
    let t = Terrain::open(&bytes).unwrap();
    let mut r = Random(5);
    let scale = BigRational::from_integer((1i64 << 24).into());
    let (half, mut checked) = (BigRational::new(1.into(), (1i64 << 25).into()), 0);
    for i in 0..oracle.len() {
        // A point of the triangle in metres, off every grid: the query rounds it to the nearest place.
        let [a, b, c] = oracle.triangle(i).map(metres);
        let (s, u) = (r.below(1000) as f64 / 1000.0, r.below(1000) as f64 / 1000.0);
        let p = [0, 1].map(|k| a[k] + s * ((b[k] - a[k]) + u * (c[k] - b[k])));
        let place = t.point([p[0], p[1], 0.0]).unwrap();
        assert_eq!([place.x, place.y], p.map(|c| (c * 1_048_576.0).round_ties_even() as i64));
        if !oracle.covers(i, place.x, place.y) {
            continue; // thinner than the rounding
        }
        let exact = plane_height(oracle.triangle(i), place.x, place.y);
        let z: i64 = half_even(&exact).try_into().unwrap();
        // straight at it: this surface, or one that rounds to the same height
        let a = t.segment(Point { z, ..place }, 0);
        assert!(a.found(), "{:?} over {place:?}", oracle.triangle(i));
        assert_eq!(a.hit.z, z);
        let off = BigRational::from_float(t.z_f64(&a.hit)).unwrap() - exact / &scale;
        assert!(off >= -half.clone() && off <= half, "{off} m off {:?}", oracle.triangle(i));
        checked += 1;
    }
    assert!(checked * 10 > oracle.len() * 8, "{checked} of {}", oracle.len());
}

#[test]
fn cg_13_the_highest_surface_on_request() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    let mut space = [BLANK.hit; 4];
    let layers = t.layers([0.0, 0.0, 0.0], &mut space);
    assert_eq!((layers.total, t.z_f64(&space[0]), t.z_f64(&space[1])), (2, 6.0, 0.0));
    let top = t.below([0.0, 0.0, 100.0]);
    assert_eq!((t.z_f64(&top.hit), t.material_name(top.hit.material)), (6.0, "Deck"));
    // Room for one: the highest, and the truth about how many there are.
    let one = t.layers([0.0, 0.0, 0.0], &mut space[..1]);
    assert_eq!((one.written, one.total, t.z_f64(&space[0])), (1, 2, 6.0));
}

#[test]
fn by_01_no_query_costs_more_than_the_image_states() {
    for scene in [fixtures::soup(40), fixtures::curb(), fixtures::town(2)] {
        let bytes = image(&scene);
        let t = Terrain::open_verified(&bytes).expect("the bound is recomputed from the bytes");
        let bound = t.bound();
        let mut worst = Cost::default();
        for p in points(&Oracle::new(&scene), 100_000, 7) {
            let cost = t.closest_costed(p).1;
            worst.nodes = worst.nodes.max(cost.nodes);
            worst.leaves = worst.leaves.max(cost.leaves);
            worst.tests = worst.tests.max(cost.tests);
            worst.lines = worst.lines.max(cost.lines);
        }
        println!("attained {worst:?} of {bound:?}");
        assert!(
            worst.nodes <= bound.nodes
                && worst.leaves <= bound.leaves
                && worst.tests <= bound.tests
                && worst.lines <= bound.lines,
            "attained {worst:?}, stated {bound:?}"
        );
        for wild in [[f64::NAN; 3], [1e300; 3], [0.0, f64::INFINITY, 0.0]] {
            assert!(t.closest_costed(wild).1 <= bound, "{wild:?}");
        }
    }
}

#[test]
fn by_11_as_exact_far_from_the_origin() {
    let (ramp, far) = (image(&fixtures::ramp()), image(&fixtures::far()));
    let (near, far) = (Terrain::open(&ramp).unwrap(), Terrain::open(&far).unwrap());
    let mut r = Random(3);
    for _ in 0..5000 {
        let p = [0, 1].map(|_| r.within(-102_000, 102_000) as f64 / 1000.0);
        let a = near.closest([p[0], p[1], 1.0]);
        let b = far.closest([p[0] + fixtures::FAR[0], p[1] + fixtures::FAR[1], 1.0]);
        assert_eq!(a.status, b.status, "{p:?}");
        let (za, zb) = (near.z_f64(&a.hit), far.z_f64(&b.hit));
        assert!((za - zb).abs() <= 1e-6, "{za} and {zb} at {p:?}");
        assert_eq!(
            (near.slope_f64(&a.hit), near.material(&a.hit).mu),
            (far.slope_f64(&b.hit), far.material(&b.hit).mu)
        );
    }
}
