//! Scenes at the limits of the table "Bit budget" of `kernel/FORMAT.md`, each against the truth, and each shown to be
//! stored in the class that it is about.

use crate::common::{compare, image, lattice_scene};
use crate::oracle::anchor;
use hardpan::format::bundle::{MEDIUM, MEDIUM_ZERO, NARROW, NARROW_ZERO, VERTEX_LIMIT, WIDE};
use hardpan::format::section::TILES;
use hardpan::{Hit, Point, Status, Terrain};
use hardpan_builder::{Image, Triangle};
use verification::oracle::{Oracle, Q, plane_height};
use verification::random::points;

/// Beyond the last lattice coordinate.
const END: i64 = 1 << 31;

/// Content of a bundle's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    record: u32,
    class: u16,
    /// Largest plan coordinate and largest height above its base or plane; zeros in a wide bundle.
    plan: u32,
    height: u32,
}

impl Held {
    fn of(terrain: &Terrain, hit: &Hit) -> Held {
        let record = hit.place[0] + hit.place[1];
        let bytes = &terrain.section(TILES).unwrap()[128 * record as usize..][..128];
        let half = |i: usize| u32::from(u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]));
        let class = (half(6) >> 8 & 3) as u16;
        let (mut plan, mut height) = (0, 0);
        for i in 1..=VERTEX_LIMIT[usize::from(class)] {
            let (x, y, dz) = match class {
                NARROW => {
                    let at = 2 * (NARROW_ZERO.1 + i);
                    (half(at), half(at + 1), half(NARROW_ZERO.0 + i))
                }
                MEDIUM => {
                    let [a, b] = [0, 2].map(|k| 4 * (MEDIUM_ZERO + i) + k).map(|at| half(at) | half(at + 1) << 16);
                    (a & 0xF_FFFF, b & 0xF_FFFF, a >> 20 | b >> 20 << 12)
                }
                _ => (0, 0, 0),
            };
            (plan, height) = (plan.max(x).max(y), height.max(dz));
        }
        Held { record, class, plan, height }
    }
}

/// Triangles on the lattice, asked everything at corners, along edges, inside, one query step beside those, and where
/// heights are halves.
struct Case {
    image: Image,
    oracle: Oracle,
    corners: Vec<[i64; 3]>,
}

impl Case {
    #[track_caller]
    fn new(corners: &[[i64; 3]], faces: &[[u32; 3]], anchored: bool) -> Case {
        let triangle = |(v, material, source)| Triangle { v, material, source };
        let mut vertices = corners.to_vec();
        let mut triangles: Vec<Triangle> = faces.iter().map(|&v| triangle((v, 0, 0))).collect();
        if anchored {
            triangles.extend(anchor(&mut vertices).into_iter().map(triangle));
        }
        let scene = lattice_scene(&vertices, triangles);
        let image = image(&scene);
        let case = Case { image, oracle: Oracle::new(&scene), corners: corners.to_vec() };
        case.ask(faces);
        case
    }

    #[track_caller]
    fn ask(&self, faces: &[[u32; 3]]) {
        let terrain = Terrain::open_verified(&self.image).unwrap();
        assert_eq!(terrain.header().origin, [0; 3], "coordinates are counted from the origin");
        let mut places = points(&self.oracle, 160, 1);
        for face in faces {
            let v = face.map(|i| self.corners[i as usize]);
            for (a, b) in [(v[0], v[1]), (v[1], v[2]), (v[2], v[0])] {
                for s in [0, 1, 127, 128, 255] {
                    for by in [[0, 0, 0], [1, 0, -1], [-1, 0, 1], [0, 1, 0], [0, -1, 0]] {
                        let [x, y, z] = [0, 1, 2].map(|k| a[k] * Q + s * (b[k] - a[k]) + by[k]);
                        places.push(Point { x, y, z });
                    }
                }
            }
        }
        compare(&terrain, &self.oracle, &places);
    }

    /// The bundle that holds the ground at a corner.
    #[track_caller]
    fn held(&self, corner: usize) -> Held {
        let terrain = Terrain::open(&self.image).unwrap();
        let [x, y, z] = self.corners[corner].map(|c| c * Q);
        let answer = terrain.segment(Point { x, y, z }, 0);
        assert_eq!((answer.status, answer.hit.z), (Status::Found, z), "corner {corner}");
        Held::of(&terrain, &answer.hit)
    }
}

/// One triangle.
#[track_caller]
fn one(corners: [[i64; 3]; 3], anchored: bool) -> (Case, Held) {
    let case = Case::new(&corners, &[[0, 1, 2]], anchored);
    let held = case.held(1);
    (case, held)
}

/// Both windings, all four directions, and either slope.
fn turned([a, b, c]: [[i64; 3]; 3]) -> impl Iterator<Item = [[i64; 3]; 3]> {
    (0..8).map(move |k| {
        [a, b, c].map(|[x, y, z]| {
            let [x, y] = if k & 1 == 0 { [x, y] } else { [y, x] };
            [if k & 2 == 0 { x } else { -x }, if k & 4 == 0 { y } else { -y }, if k & 1 == 0 { z } else { -z }]
        })
    })
}

/// Reaches just under 2^`log2` steps: a bundle's base is a multiple of a power of two, which takes that much of its
/// reach.
fn reaches(log2: u32) -> impl Iterator<Item = i64> {
    [0].into_iter().chain((0..9).map(|k| 1 << k)).map(move |less| (1 << log2) - 1 - less)
}

#[test]
fn narrow_bundles_of_the_largest_extent() {
    let mut largest = 0;
    for reach in reaches(16) {
        // A strip of eight triangles: none is large, their bundle is.
        let posts = [0, 1, 2, 3, 4].map(|k| reach * k / 4);
        let row = |y: i64| posts.map(|x| [x, y, x / 3 + y]);
        let corners = [row(0), row(9001)].concat();
        let faces: Vec<[u32; 3]> = (0..4).flat_map(|k| [[k, k + 1, k + 6], [k, k + 6, k + 5]]).collect();
        let case = Case::new(&corners, &faces, false);
        let [west, east] = [case.held(0), case.held(4)];
        if west.record == east.record && east.class == NARROW {
            largest = largest.max(east.plan);
        }
        let turned: Vec<[i64; 3]> = corners.iter().map(|&[x, y, z]| [-y, -x, z]).collect();
        let along = Case::new(&turned, &faces, false);
        assert!(along.held(4).class != WIDE, "turned");
    }
    assert!(largest >= 0xFF00, "no narrow bundle reached further than {largest}");
}

#[test]
fn narrow_bundles_of_the_largest_rest_over_their_plane() {
    // Beyond the steepest plane that a bundle can store, 32767/256 up and 32768/256 down, the rest is in the vertex.
    for (top, class, rest) in [
        (65_534 + 0xFFFF, NARROW, 0xFFFF),
        (65_534 + 0x1_0000, MEDIUM, 0),
        (-65_536 - 0xFFFF, NARROW, 0xFFFF),
        (-65_536 - 0x1_0000, MEDIUM, 0),
    ] {
        for axis in [0, 1] {
            let mut corners = [[0, 0, 0], [512, 0, top], [0, 512, 0]];
            if axis == 1 {
                corners = corners.map(|[x, y, z]| [y, x, z]);
            }
            let (_, held) = one(corners, false);
            assert_eq!(held.class, class, "{corners:?}: {held:?}");
            assert!(class != NARROW || held.height == rest, "{corners:?}: {held:?}");
        }
    }
    // A square with two high corners has a level plane: everything is in the rest.
    let saddle = |z: i64| {
        let corners = [[0, 0, 0], [4000, 0, z], [4000, 4000, 0], [0, 4000, z]];
        let case = Case::new(&corners, &[[0, 1, 2], [0, 2, 3]], false);
        [case.held(1), case.held(3)]
    };
    let [a, b] = saddle(0xFFFF);
    assert_eq!((a.record, a.class, a.height), (b.record, NARROW, 0xFFFF), "{a:?}");
    let [a, b] = saddle(0x1_0000);
    assert!(a.record != b.record || a.class != NARROW, "{a:?}");
}

#[test]
fn narrow_bundles_of_the_largest_height_range() {
    let side = 0xFFFF / 3;
    for corners in turned([[0, 0, 0], [side, 0, (1 << 19) - 1], [0, side, 77]]) {
        let (_, held) = one(corners, false);
        assert_eq!(held.class, NARROW, "{corners:?}: {held:?}");
    }
    let (_, held) = one([[0, 0, 0], [side, 0, 1 << 19], [0, side, 77]], false);
    assert_ne!(held.class, NARROW, "{held:?}");
}

#[test]
fn medium_bundles_of_the_largest_extent_and_height() {
    let mut largest = (0, 0);
    for reach in reaches(20) {
        let (_, held) = one([[0, 0, -5], [reach, 3, (1 << 24) - 6], [1, reach, 40]], false);
        if held.class == MEDIUM {
            largest = largest.max((held.plan, held.height));
        }
    }
    assert!(largest.0 >= 0xF_F000 && largest.1 == 0xFF_FFFF, "no medium bundle reached further than {largest:?}");
    let reach = 0xF_F000;
    for corners in turned([[0, 0, -5], [reach, 3, (1 << 24) - 6], [1, reach, 40]]) {
        let (_, held) = one(corners, false);
        assert_eq!((held.class, held.height), (MEDIUM, 0xFF_FFFF), "{corners:?}");
    }
    let (_, held) = one([[0, 0, -5], [reach, 3, (1 << 24) - 5], [1, reach, 40]], false);
    assert_eq!(held.class, WIDE, "2^24 steps of height");
    let (_, held) = one([[0, 0, 0], [1 << 20, 0, 9], [1, 1 << 20, 40]], false);
    assert_eq!(held.class, WIDE, "2^20 steps of plan");
}

#[test]
fn wide_bundles_about_the_last_64_bit_product() {
    for side in [(1 << 26) - 1, 1 << 26, (1 << 26) + 1] {
        // The corner that products count from is the least, so the last of these spans 2^27 steps from south to north.
        for corners in [
            [[0, 0, -END], [side, 0, END - 1], [0, side, -END]],
            [[-side, 5, END - 1], [0, 0, -END], [-side + 1, side, END - 1]],
            [[0, 0, END - 1], [side, -side, -END], [side, side, END - 1]],
            [[0, 0, -END], [side, -side, END - 1], [side - 1, side, 0]],
        ] {
            let (_, held) = one(corners, true);
            assert_eq!(held.class, WIDE, "{corners:?}");
        }
    }
}

#[test]
fn wide_bundles_up_to_the_ends_of_the_domain() {
    let (low, high) = (-END, END - 1);
    for corners in [
        [[low, low, low], [high, low, high], [low, high, high]],
        [[low, high, high], [high, high, low], [high, low, high]],
        [[low, low, high], [high, 0, low], [low, high, high]],
        // A needle along the domain's whole length: twice its area is one square step, its slope beyond 2^64.
        [[low, low, low], [high, high - 1, high], [high - 1, high - 2, low]],
        // And one that is a step wide everywhere.
        [[low, 0, low], [high, 0, high], [high, 1, low]],
    ] {
        let (_, held) = one(corners, true);
        assert_eq!(held.class, WIDE, "{corners:?}");
    }
}

#[test]
fn needles_and_cliffs_of_every_class() {
    // Twice the area of a needle is one square step, so nothing of its height's numerator is divided away.
    let needle = |k: i64, z: i64| [[0, 0, 0], [k + 1, k, z], [k, k - 1, -z]];
    for (k, z, anchored, class) in [
        (21_000, 32_000, false, NARROW),
        (30_000, (1 << 23) - 1, false, MEDIUM),
        ((1 << 26) - 2, END - 1, true, WIDE),
        ((1 << 26) - 1, END - 1, true, WIDE),
        (END - 2, END - 1, true, WIDE),
    ] {
        for corners in turned(needle(k, z)) {
            let (_, held) = one(corners, anchored);
            assert_eq!(held.class, class, "{corners:?}: {held:?}");
        }
    }
    // A cliff of one step in plan.
    for (z, anchored, class) in
        [(0x1_0000, false, NARROW), ((1 << 24) - 1, false, MEDIUM), (1 << 24, true, WIDE), (END - 1, true, WIDE)]
    {
        for corners in turned([[0, 0, 0], [1, 0, z], [0, 1, z / 2]]) {
            let (case, held) = one(corners, anchored);
            assert_eq!(held.class, class, "{corners:?}: {held:?}");
            let terrain = Terrain::open(&case.image).unwrap();
            let inside: Vec<Point> = (0..=Q)
                .map(|s| {
                    let [x, y, z] = [0, 1, 2].map(|k| {
                        corners[0][k] * Q + s * (corners[1][k] - corners[0][k]) + (corners[2][k] - corners[0][k]) * 3
                    });
                    Point { x, y, z }
                })
                .collect();
            compare(&terrain, &case.oracle, &inside);
        }
    }
}

/// Heights that lie exactly between two answers, above and below zero, go to the even one in every class.
#[test]
fn halves_in_every_class() {
    for (half, z, anchored, class) in [
        (0x2000, 12_345, false, NARROW),
        (0x2000, -524_287, false, NARROW),
        (0x7_F000, (1 << 24) - 1, false, MEDIUM),
        (0x7_F000, 1 - (1 << 24), false, MEDIUM),
        ((1 << 25) - 1, END - 1, true, WIDE),
        ((1 << 25) - 1, 1 - END, true, WIDE),
        (1 << 25, END - 1, true, WIDE),
        ((1 << 30) - 1, 1 - END, true, WIDE),
    ] {
        let corners = [[0, 0, 0], [2 * half, 0, z], [0, 2 * half, 0]];
        let (case, held) = one(corners, anchored);
        assert_eq!(held.class, class, "{corners:?}: {held:?}");
        let mut halves = 0;
        let places: Vec<Point> = [1, 3, 5, 127, 129, 255, 257, 509, 511]
            .iter()
            .flat_map(|odd| [0, 1, half].map(|y| (odd * half, y)))
            .map(|(x, y)| {
                let exact = plane_height(corners, x, y);
                halves += usize::from(exact.fract().numer().magnitude() * 2u32 == *exact.denom().magnitude());
                let down = exact.floor().to_integer();
                Point { x, y, z: i64::try_from(down).unwrap() }
            })
            .collect();
        assert!(halves >= 9, "{halves} of {} heights are halves: {corners:?}", places.len());
        compare(&Terrain::open(&case.image).unwrap(), &case.oracle, &places);
    }
}

/// Places that round to the last grid points of the domain, from either side, and over its ends.
#[test]
fn places_that_round_to_the_ends_of_the_domain() {
    let (low, high) = (-END, END - 1);
    let (case, _) = one([[low, low, low], [high, low, high], [low, high, high]], true);
    let terrain = Terrain::open(&case.image).unwrap();
    let units = [1.0 / 1_048_576.0, 1.0 / 1_048_576.0, 1.0 / 16_777_216.0];
    let mut asked = Vec::new();
    for grid in [low * Q, low * Q - 1, low * Q + 1, high * Q, high * Q + 1, high * Q - 1, END * Q - 1, END * Q] {
        for off in [-0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75] {
            let even = grid as f64 + off; // exact: 40 bits and two more
            for k in 0..3 {
                let mut metres = [low as f64 / 4096.0, low as f64 / 4096.0, low as f64 / 65_536.0];
                metres[k] = even * units[k];
                let mut want = [low * Q; 3];
                want[k] = even.round_ties_even() as i64;
                let [x, y, z] = want;
                assert_eq!(terrain.point(metres), Some(Point { x, y, z }), "{metres:?}");
                assert_eq!(terrain.closest(metres), terrain.closest(Point { x, y, z }), "{metres:?}");
                asked.push(Point { x, y, z });
            }
        }
    }
    compare(&terrain, &case.oracle, &asked);
}
