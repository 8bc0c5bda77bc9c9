//! Positions and coordinates at and beyond every end.

use crate::common::{image, lattice_scene};
use hardpan::{Cursor, Fixed, Options, Status, Terrain, Windows};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{BuildError, HeightField, Options as Build, Outliers, Scene, Triangle, build};
use verification::bytes::{BLANK, extreme_points};
use verification::oracle::Oracle;
use verification::random::Random;

#[test]
fn what_is_no_place_is_not_in_the_image() {
    let bytes = image(&fixtures::flat());
    let t = Terrain::open(&bytes).unwrap();
    let wild = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 1e19, -1e19];
    let mut cursor = Cursor::new();
    for w in wild {
        for k in 0..3 {
            let mut p = [1.0, 2.0, 3.0];
            p[k] = w;
            let a = t.closest(p);
            assert_eq!(a.status, Status::NotInImage, "{p:?}");
            assert_eq!(t.closest_cursor(p, &mut cursor), a);
            assert_eq!(t.below(p).status, Status::NotInImage);
            assert_eq!(t.closest_costed(p).0, a);
            let mut batch = [BLANK; 2];
            t.closest_batch(&[[0.0; 3], p], &mut batch);
            assert!(batch[0].found());
            assert_eq!(batch[1], a);
            assert!(!t.z_f64(&a.hit).is_nan() && t.slope_f64(&a.hit).iter().all(|s| s.is_finite()));
            let mut space = [BLANK.hit; 2];
            let layers = t.layers(p, &mut space);
            assert_eq!((layers.status, layers.total, layers.written), (Status::NotInImage, 0, 0), "{p:?}");
        }
    }
    for tiny in [5e-324, -5e-324, f64::MIN_POSITIVE, -0.0] {
        let a = t.closest([tiny, tiny, tiny]);
        assert_eq!((a.status, a.hit), (Status::Found, t.closest([0.0; 3]).hit), "{tiny}");
    }
    for end in [Fixed::MIN, Fixed::MAX] {
        assert!(!t.closest([end, Fixed::ZERO, Fixed::ZERO]).found());
        assert!(!t.closest([Fixed::ZERO, Fixed::ZERO, end]).found());
    }
    assert_eq!(t.segment_m([0.0, 0.0, 1.0], f64::NAN).status, Status::NoGround);
    assert_eq!(t.segment_m([0.0, 0.0, 1.0], -1.0).status, Status::NoGround);
    assert_eq!(t.segment_m([0.0, 0.0, 1.0], 0.999).status, Status::NoGround);
    assert!(t.segment_m([0.0, 0.0, 1.0], 1.0).found());
    assert!(t.segment_m([0.0, 0.0, 1.0], f64::INFINITY).found());
}

/// The exact number that a float's bits say, rounded half to even by a rule of its own.
fn steps(v: f32, step_log2: i32) -> Option<i64> {
    let bits = v.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xFF) as i32, i128::from(bits & 0x7F_FFFF));
    let (mantissa, power) = if exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, exponent - 150) };
    let shift = power - step_log2;
    let size = match shift {
        _ if exponent == 0xFF => return None,
        80.. if mantissa != 0 => return None,
        0.. => mantissa << shift.min(80),
        ..=-60 => 0,
        _ => {
            let (twice, unit) = (2 * mantissa, 1i128 << -shift);
            let floor = mantissa / unit;
            let rest = twice - 2 * floor * unit;
            floor + i128::from(rest > unit || (rest == unit && floor % 2 == 1))
        }
    };
    let near = size < 1 << 62;
    near.then_some(if v < 0.0 { -size } else { size } as i64)
}

#[test]
fn single_precision_positions_are_rounded_once() {
    let bytes = image(&fixtures::ramp());
    let t = Terrain::open(&bytes).unwrap();
    let mut r = Random(32);
    let (mut places, mut found) = (0, 0);
    for i in 0..200_000 {
        // any bits, or metres up to some hundreds, of which many are ties on the query grid
        let one = |r: &mut Random| match i % 3 {
            0 => f32::from_bits(r.bits() as u32),
            1 => r.within(-200_000, 200_000) as f32 / 1000.0,
            _ => r.within(-1 << 23, 1 << 23) as f32 / (1 << (i % 30)) as f32,
        };
        let p = [one(&mut r), one(&mut r), one(&mut r)];
        let point = t.point(p).map(|p| [p.x, p.y, p.z]);
        let wanted = [(p[0], -20), (p[1], -20), (p[2], -24)].map(|(v, step)| steps(v, step));
        assert_eq!(point, wanted.iter().all(Option::is_some).then(|| wanted.map(|w| w.unwrap())), "{p:?}");
        places += usize::from(point.is_some());
        let answer = t.closest(p);
        found += usize::from(answer.found());
    }
    assert!(places > 130_000 && found > 30_000, "{places} places, {found} on the ground");
}

#[test]
fn no_extreme_point_wraps_onto_the_ground() {
    for scene in [fixtures::flat(), fixtures::far(), fixtures::soup(1)] {
        let (oracle, bytes) = (Oracle::new(&scene), image(&scene));
        let t = Terrain::open(&bytes).unwrap();
        let Windows { near, far } = t.windows();
        for p in extreme_points() {
            let at = [p.x, p.y, p.z];
            let truth = oracle.closest(at, near, far);
            let a = t.closest(p);
            assert_eq!(a.found(), truth.is_some(), "closest({p:?}): {a:?}");
            let most = 1 << 50;
            let widest = Options { windows: Windows { near: most, far: most }, ..t.options() };
            assert_eq!(
                t.closest_with(p, &widest).found(),
                oracle.closest(at, most, most).is_some(),
                "closest_with({p:?})"
            );
            assert_eq!(t.segment(p, far).found(), oracle.segment(at, far).is_some(), "segment({p:?})");
            assert_eq!(t.segment(p, i64::MAX).found(), oracle.segment(at, i64::MAX).is_some(), "segment({p:?}, MAX)");
        }
    }
}

#[test]
fn a_batch_ends_with_the_shorter_slice() {
    let bytes = image(&fixtures::flat());
    let t = Terrain::open(&bytes).unwrap();
    let points = [[0.0, 0.0, 1.0]; 40];
    for (asked, room) in [(0, 5), (5, 0), (16, 17), (17, 16), (40, 33), (33, 40), (3, 40)] {
        let mut answers = vec![BLANK; room];
        assert_eq!(t.closest_batch(&points[..asked], &mut answers), asked.min(room), "{asked} points, room for {room}");
        let filled = answers.iter().take_while(|a| a.found()).count();
        assert_eq!(filled, asked.min(room));
        assert!(answers[filled..].iter().all(|a| *a == BLANK), "beyond the points");
    }
}

#[test]
fn triangles_beyond_the_domain_are_counted() {
    let mut scene = fixtures::flat();
    let first = scene.positions.len() as u32;
    scene.positions.extend([[0.0, 0.0, 0.0], [1e9, 0.0, 0.0], [0.0, 1e9, 0.0]]);
    scene.triangles.push(Triangle { v: [first, first + 1, first + 2], material: 0, source: 0 });
    // most of a source lost is no image, unless it is asked for
    assert!(matches!(build(&scene, &Build::default()), Err(BuildError::OutsideDomain { .. })));
    let built = build(&scene, &Build { outliers: Outliers::Drop, ..Build::default() }).unwrap();
    assert_eq!((built.report.outside, built.report.triangles), (1, 2));
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(t.bounds(), [[-500.0, -500.0, 0.0], [500.0, 500.0, 0.0]]);
}

#[test]
fn scenes_that_contradict_themselves_are_refused() {
    let options = hardpan_builder::Options::default();
    let refused = |change: fn(&mut hardpan_builder::Scene)| {
        let mut scene = fixtures::bridge();
        change(&mut scene);
        build(&scene, &options).err().map(|e| e.to_string())
    };
    assert!(refused(|_| ()).is_none());
    assert!(refused(|s| s.triangles[0].v[1] = 999).is_some(), "a vertex that is not there");
    assert!(refused(|s| s.triangles[0].material = 99).is_some(), "a material that is not there");
    assert!(refused(|s| s.triangles[0].source = 99).is_some(), "a source that is not there");
    // places count from 0, as in the arrays
    assert!(refused(|s| s.triangles[3].v[1] = 999).unwrap().starts_with("triangle 3 "));
    assert!(refused(|s| s.positions[5][2] = f64::NAN).unwrap().starts_with("vertex 5 "));
    assert!(refused(|s| s.triangles.clear()).is_some(), "no ground");
    assert!(refused(|s| s.positions.iter_mut().for_each(|p| p[0] = f64::NAN)).is_some(), "no finite corner");
}

/// Tiles that are far too many are refused before they take memory; a side that nobody chose is never too small.
#[test]
fn tiles_too_small_for_a_scene_are_refused() {
    let side = 1000 << 12;
    let corners = [[0, 0, 0], [side, 0, 0], [side, side, 0], [0, side, 0]];
    let quad = [[0, 1, 2], [0, 2, 3]].map(|v| Triangle { v, ..Triangle::default() });
    let scene = lattice_scene(&corners, quad.into());
    let start = std::time::Instant::now();
    let built = build(&scene, &Build { tile_log2: Some(9), ..Build::default() });
    assert!(start.elapsed().as_secs() < 1, "{:?}", start.elapsed());
    let Err(error @ BuildError::Limit(_)) = built else { panic!("it was built, or fails otherwise") };
    for word in ["512 plan steps", "128032002 times", "245 GiB", "larger tiles"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    build(&scene, &Build { tile_log2: Some(14), ..Build::default() }).unwrap();
    // a field of that extent, in as small tiles
    let field = HeightField { pitch: 1000.0, columns: 2, rows: 2, heights: vec![0.0; 4], ..HeightField::default() };
    let field = Scene { triangles: Vec::new(), fields: vec![field], ..scene.clone() };
    let built = build(&field, &Build { tile_log2: Some(9), ..Build::default() });
    assert!(matches!(built, Err(BuildError::Limit(_))));
    // dense ground of 45,000 triangles under one that is 500 km wide
    let mut dense = lattice_scene(&[[0, 0, 0], [500 * side, 0, 0], [0, 500 * side, 0]], vec![quad[0]]);
    for i in 0..22_500u32 {
        let first = dense.positions.len() as u32;
        let [x, y] = [i % 150, i / 150].map(|v| f64::from(v) * 0.1);
        dense.positions.extend([[x, y, 9.0], [x + 0.1, y, 9.0], [x + 0.1, y + 0.1, 9.0], [x, y + 0.1, 9.0]]);
        dense.triangles.extend(quad.map(|t| Triangle { v: t.v.map(|v| v + first), ..t }));
    }
    let built = build(&dense, &Build::default()).unwrap();
    assert!(built.report.packed.tiles < 1 << 21);
    Terrain::open_verified(&built.image).unwrap();
}
