//! Rays against brute force.

use crate::common::{hills, image, lattice_scene, metres, shuffled};
use hardpan::{Kind, Point, Ray, RayAnswer, RayOptions, RayStatus, Terrain};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Scene, Triangle};
use num_rational::BigRational;
use verification::oracle::Oracle;
use verification::random::Random;
use verification::rays::{Met, meetings, rays};

/// Holds an answer against the truth.
#[track_caller]
fn same(t: &Terrain, oracle: &Oracle, ray: &Ray, answer: &RayAnswer, truth: Option<&Met>) {
    let Some(met) = truth else {
        assert!(matches!(answer.status, RayStatus::Clear | RayStatus::LeftImage), "{ray:?} met {answer:?}");
        return;
    };
    assert_eq!(answer.status, RayStatus::Found, "{ray:?} meets {met:?} at {}, {answer:?}", met.t());
    let hit = answer.hit;
    assert_eq!(hit.t.to_bits(), met.t().to_bits(), "{ray:?}: {hit:?}, {met:?} at {}", met.t());
    assert_eq!((hit.back, hit.kind, hit.at_start), (met.back, Kind::Ground, met.num == 0), "{ray:?}: {hit:?}, {met:?}");
    let [a, b, c] = oracle.triangle(met.face).map(|v| v.map(i128::from));
    let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    let n = if n[2] < 0 { n.map(|n| -n) } else { n };
    assert_eq!([hit.normal.x, hit.normal.y, hit.normal.z].map(i128::from), n, "{ray:?}: {hit:?}, {met:?}");
    let (material, source) = oracle.attribute(met.face);
    let names = (t.material_name(hit.material), t.source_name(hit.source));
    let wanted = (&*oracle.materials[usize::from(material)], &*oracle.sources[usize::from(source)]);
    assert_eq!(names, wanted, "{ray:?}: {hit:?}, {met:?}");
    // the quotient is right to three roundings
    let exact = met.exact();
    let most = exact * BigRational::new(1.into(), (1i64 << 51).into());
    let off = BigRational::from_float(hit.t).unwrap() - met.exact();
    assert!(off <= most && -off <= most);
    let at = |p: i64, q: i64| p + (((q - p) as f64 * hit.t).round_ties_even() as i64);
    let Ray { from, to } = ray;
    assert_eq!(hit.at, Point { x: at(from.x, to.x), y: at(from.y, to.y), z: at(from.z, to.z) });
}

fn upright(ray: &Ray) -> bool {
    ray.from.x == ray.to.x && ray.from.y == ray.to.y
}

/// Every ray, and what follows behind each of its hits.
#[track_caller]
fn compare(name: &str, scene: &Scene, count: usize, reach: i64, seed: u64) {
    let (oracle, bytes) = (Oracle::new(scene), image(scene));
    let t = Terrain::open(&bytes).unwrap();
    let other = image(&shuffled(scene, seed));
    let other = Terrain::open(&other).unwrap();
    let mut found = 0;
    for ray in rays(&oracle, count, reach, seed) {
        if upright(&ray) {
            continue;
        }
        let all = meetings(&oracle, &ray);
        let options = RayOptions::default();
        let answer = t.raycast(ray, &options);
        same(&t, &oracle, &ray, &answer, all.first());
        found += usize::from(answer.found());
        let place = |a: RayAnswer| RayAnswer { hit: hardpan::RayHit { place: [0; 3], ..a.hit }, ..a };
        assert_eq!(place(answer), place(other.raycast(ray, &options)), "{ray:?}");
        assert_eq!(answer, t.raycast_costed(ray, &options).0);
        let front = RayOptions { front_only: true, ..options };
        same(&t, &oracle, &ray, &t.raycast(ray, &front), all.iter().find(|m| !m.back));
        let mut after = -1.0;
        for _ in 0..8 {
            let next = t.raycast(ray, &RayOptions { after: Some(after), ..options });
            let truth = all.iter().find(|m| m.t() > after);
            same(&t, &oracle, &ray, &next, truth);
            let Some(met) = truth else { break };
            after = met.t();
        }
    }
    println!("{name}: {found} of {count} rays met something");
    assert!(found * 5 > count, "{name}: {found} of {count}");
}

#[test]
fn small_fixtures() {
    let all =
        [fixtures::flat(), fixtures::ramp(), fixtures::bridge(), fixtures::hole(), fixtures::curb(), fixtures::mats()];
    for (i, scene) in all.iter().enumerate() {
        compare(&format!("fixture {i}"), scene, 1500, 1 << 23, i as u64);
    }
    compare("far", &fixtures::far(), 2000, 1 << 23, 9);
}

#[test]
fn soups() {
    for seed in 0..20 {
        compare(&format!("soup {seed}"), &fixtures::soup(seed), 300, 1 << (20 + seed % 8), seed);
    }
}

#[test]
fn small_hills() {
    compare("hills", &hills(40, 0.7), 1500, 1 << 23, 1);
    compare("coarse hills", &hills(12, 37.0), 2000, 1 << 26, 2);
}

/// A triangle of which one corner lies at a place, and the others in one quarter of the plane about it.
fn at_corner([x, y]: [i64; 2], quarter: [i64; 2], size: i64) -> Vec<[i64; 3]> {
    let at = |a: i64, b: i64| [x + quarter[0] * a, y + quarter[1] * b, 0];
    let mut v = vec![[x, y, 0], at(size, size / 3), at(size / 3, size)];
    if quarter[0] * quarter[1] < 0 {
        v.swap(1, 2);
    }
    v
}

/// Where four cells, blocks or tiles meet, and a single triangle touches their corner: rays through it from eight sides.
#[test]
fn rays_through_corners_that_one_triangle_touches() {
    let mut asked = 0;
    for log2 in [0, 3, 6, 9, 12, 14] {
        for quarter in [[1, 1], [-1, 1], [-1, -1], [1, -1]] {
            let mut positions: Vec<[i64; 3]> = Vec::new();
            // far corners make the image large enough to have cells of many sizes
            for corner in
                [[-(1 << 16), -(1 << 16)], [1 << 16, 1 << 16], [5 << log2, 7 << log2], [-(3 << log2), 1 << log2]]
            {
                positions.extend(at_corner(corner, quarter, 1 + (1 << log2) / 2 * 3));
            }
            let triangles =
                (0..4).map(|i| Triangle { v: [3 * i, 3 * i + 1, 3 * i + 2], ..Triangle::default() }).collect();
            let scene = Scene {
                positions: positions.iter().map(|&v| metres(v)).collect(),
                triangles,
                ..lattice_scene(&[], Vec::new())
            };
            let bytes = image(&scene);
            let (t, oracle) = (Terrain::open(&bytes).unwrap(), Oracle::new(&scene));
            for corner in positions.iter().step_by(3) {
                for d in [[1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0], [-1, -1], [0, -1], [1, -1], [3, 1], [-1, 7]] {
                    for (length, rise) in [(1, 1), (1 << 8, -5), (1 << 16, 1 << 14), (1 << 22, -(1 << 20))] {
                        let ends = [-1, 1].map(|s: i64| Point {
                            x: (corner[0] << 8) + s * d[0] * length,
                            y: (corner[1] << 8) + s * d[1] * length,
                            z: s * rise,
                        });
                        let ray = Ray { from: ends[0], to: ends[1] };
                        let all = meetings(&oracle, &ray);
                        assert!(!all.is_empty());
                        same(&t, &oracle, &ray, &t.raycast(ray, &RayOptions::default()), all.first());
                        asked += 1;
                    }
                }
            }
        }
    }
    println!("{asked} rays");
}

/// Straight down is `below` and straight up is its mirror image, bit for bit.
#[test]
fn upright_rays_are_vertical_queries() {
    for (name, scene) in [("bridge", fixtures::bridge()), ("curb", fixtures::curb()), ("soup", fixtures::soup(5))] {
        let (oracle, bytes) = (Oracle::new(&scene), image(&scene));
        let t = Terrain::open(&bytes).unwrap();
        let mut found = [0; 2];
        for p in verification::random::points(&oracle, 3000, 7) {
            for length in [0x1_0000i64, 1 << 27, 1 << 32] {
                let down = Ray { from: p, to: Point { z: p.z - length, ..p } };
                let (answer, below) = (t.raycast(down, &RayOptions::default()), t.segment(p, length));
                assert_eq!(answer.found(), below.found(), "{name}: {p:?} {answer:?} {below:?}");
                if below.found() {
                    let hit = answer.hit;
                    assert_eq!((hit.at, hit.normal), (Point { z: below.hit.z, ..p }, below.hit.normal.into()));
                    assert_eq!(
                        (hit.material, hit.source, hit.place, hit.back),
                        (below.hit.material, below.hit.source, below.hit.place, false)
                    );
                    found[0] += 1;
                }
                let up = Ray { from: p, to: Point { z: p.z + length, ..p } };
                let answer = t.raycast(up, &RayOptions::default());
                let truth = oracle.over(p.x, p.y).into_iter().rev().find(|g| g.z >= p.z && g.z - p.z <= length);
                assert_eq!(answer.found(), truth.is_some(), "{name}: {p:?} {answer:?}");
                if let Some(truth) = truth {
                    assert_eq!(
                        (answer.hit.at.z, answer.hit.back, answer.hit.at_start),
                        (truth.z, true, truth.z == p.z)
                    );
                    found[1] += 1;
                }
                // one after the other, every height once
                let heights: Vec<i64> =
                    oracle.over(p.x, p.y).iter().map(|g| g.z).filter(|&z| z <= p.z && p.z - z <= length).collect();
                let mut after = None;
                for z in heights {
                    let next = t.raycast(down, &RayOptions { after, ..RayOptions::default() });
                    assert_eq!((next.found(), next.hit.at.z), (true, z), "{name}: {down:?}");
                    after = Some(next.hit.t);
                }
                assert!(!t.raycast(down, &RayOptions { after, ..RayOptions::default() }).found() || after.is_none());
            }
        }
        assert!(found[0] > 1000 && found[1] > 1000, "{name}: {found:?}");
    }
}

#[test]
fn rays_that_are_none() {
    let bytes = image(&fixtures::bridge());
    let t = Terrain::open(&bytes).unwrap();
    let status = |from: [f64; 3], d: [f64; 3], length: f64| match t.ray_from(from, d, length) {
        Ok(ray) => t.raycast(ray, &RayOptions::default()).status,
        Err(status) => status,
    };
    let o = [0.0, 0.0, 10.0];
    assert_eq!(status(o, [0.0; 3], 5.0), RayStatus::NoLength);
    assert_eq!(status(o, [1.0, 0.0, 0.0], 0.0), RayStatus::NoLength);
    assert_eq!(status(o, [1.0, 0.0, 0.0], 1e-9), RayStatus::NoLength);
    assert_eq!(status(o, [f64::NAN, 0.0, 0.0], 5.0), RayStatus::NotFinite);
    assert_eq!(status(o, [f64::INFINITY, 0.0, 0.0], 5.0), RayStatus::NotFinite);
    assert_eq!(status([f64::NAN; 3], [1.0, 0.0, 0.0], 5.0), RayStatus::NotFinite);
    assert_eq!(status(o, [1.0, 0.0, 0.0], f64::NAN), RayStatus::NotFinite);
    assert_eq!(status([1e300; 3], [1.0, 0.0, 0.0], 5.0), RayStatus::NotFinite);
    assert_eq!(status(o, [1.0, 0.0, 0.0], 2000.1), RayStatus::TooLong);
    assert_eq!(status(o, [1e-300, 0.0, -1e-300], 20.0), RayStatus::Found);
    assert_eq!(status(o, [1e300, 0.0, -1e300], 20.0), RayStatus::Found);
    assert_eq!(status([1e9, 1e9, 1e9], [1.0, 0.0, 0.0], 5.0), RayStatus::LeftImage);
    let ends = [i64::MIN, -1, 0, 1, i64::MAX];
    for x in ends {
        for y in ends {
            for z in ends {
                for w in ends {
                    let ray = Ray { from: Point { x, y, z }, to: Point { x: w, y: z, z: x } };
                    assert!(
                        !t.raycast(ray, &RayOptions { limit: 100, ..RayOptions::default() }).found() || z.abs() < 2
                    );
                }
            }
        }
    }
}

/// Limits of work: whatever the limit, what is found is first, and nothing lies before what was searched.
#[test]
fn limits_of_work() {
    let scene = hills(30, 0.5);
    let (oracle, bytes) = (Oracle::new(&scene), image(&scene));
    let t = Terrain::open(&bytes).unwrap();
    let mut reached = 0;
    for ray in rays(&oracle, 400, 1 << 24, 3) {
        let whole = t.raycast(ray, &RayOptions::default());
        for limit in [1, 2, 5, 10, 40, 1000] {
            let (answer, cost) = t.raycast_costed(ray, &RayOptions { limit, ..RayOptions::default() });
            if answer.status == RayStatus::LimitReached {
                reached += 1;
                assert!(!whole.found() || whole.hit.t >= answer.hit.t, "{ray:?}: {answer:?} {whole:?}");
                assert!(upright(&ray) || cost.tests <= limit, "{cost:?}");
            } else {
                assert_eq!(answer, whole);
            }
        }
    }
    assert!(reached > 100, "{reached}");
}

/// A million rays through vertices and edges, half of them in each scene's `long` run.
fn through_edges(name: &str, scene: &Scene, count: usize) {
    let (oracle, bytes) = (Oracle::new(scene), image(scene));
    let t = Terrain::open(&bytes).unwrap();
    let mut r = Random(11);
    let (mut missed, mut middle) = (0, 0);
    for i in 0..count {
        let v = oracle.triangle(r.below(oracle.len()));
        let (a, b) = (v[r.below(3)], v[r.below(3)]);
        let s = r.within(0, 256);
        let on = [0, 1, 2].map(|k| a[k] * 256 + s * (b[k] - a[k]));
        let d = [20, 20, 24].map(|log2: i64| r.within(-(5 << log2), 5 << log2) >> (i % 7));
        let [from, to] = [-1, 1].map(|s| Point { x: on[0] + s * d[0], y: on[1] + s * d[1], z: on[2] + s * d[2] });
        let ray = Ray { from, to };
        let answer = t.raycast(ray, &RayOptions::default());
        missed += usize::from(!answer.found() || answer.hit.t > 0.5);
        middle += usize::from(answer.hit.t == 0.5);
    }
    println!("{name}: {missed} of {count} missed, {middle} in the middle");
    assert_eq!(missed, 0, "{name}");
}

#[test]
fn rays_through_edges_and_vertices() {
    through_edges("hills", &hills(60, 0.7), 50_000);
    through_edges("soup", &fixtures::soup(103), 20_000);
}

/// Those of `tests/run.sh long`: a million on hills, as many in the city.
#[test]
#[ignore = "minutes"]
fn a_million_rays_through_edges_and_vertices() {
    through_edges("hills", &hills(300, 0.7), 1_000_000);
    through_edges("city", &fixtures::city(), 1_000_000);
}
