//! Positions and coordinates at and beyond every end.

use crate::common::image;
use hardpan::{Cursor, Fixed, Options, Status, Terrain, Windows};
use hardpan_builder::{Triangle, build, fixtures};
use verification::bytes::{BLANK, extreme_points};
use verification::oracle::Oracle;

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
    let built = build(&scene, &hardpan_builder::Options::default()).unwrap();
    assert_eq!((built.report.outside, built.report.triangles), (1, 2));
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(t.bounds(), [[-500.0, -500.0, 0.0], [500.0, 500.0, 0.0]]);
    // Most of a source lost is no image.
    scene.triangles.extend([scene.triangles[2]; 9].iter().enumerate().map(|(k, t)| Triangle {
        material: 0,
        source: 0,
        v: t.v.map(|i| i.min(first + 2 - (k as u32) % 2)),
    }));
    assert!(build(&scene, &hardpan_builder::Options::default()).is_err());
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
    assert!(refused(|s| s.triangles.clear()).is_some(), "no ground");
    assert!(refused(|s| s.positions.iter_mut().for_each(|p| p[0] = f64::NAN)).is_some(), "no finite corner");
}
