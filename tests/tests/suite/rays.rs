//! Rays against brute force.

use crate::common::{as_given, hills, image, lattice_scene, metres, shuffled};
use hardpan::{
    Beam, Kind, Kinds, LeafKind, Mover, Point, Pose, Ray, RayAnswer, RayHit, RayOptions, RayStatus, StepStatus, Terrain,
};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Image, Options, Rays, Scene, Triangle, build};
use num_rational::BigRational;
use verification::oracle::Oracle;
use verification::random::Random;
use verification::rays::{Met, meetings, meetings_of, rays, rays_about, surfaces};

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
        let place = |a: RayAnswer| RayAnswer { hit: RayHit { place: [0; 3], ..a.hit }, ..a };
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
    for seed in 0..12 {
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

/// Where four cells, blocks or tiles meet, and a single triangle touches their corner: rays through it from eight
/// sides.
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
                assert!(cost.tests <= limit, "{cost:?}");
            } else {
                assert_eq!(answer, whole);
            }
        }
    }
    assert!(reached > 100, "{reached}");
}

/// A ray straight down or up holds its limit over triangles, beside walls and on a field with voids.
#[test]
fn limits_of_upright_rays() {
    let voids = field(40, 40, 0.5, |i, k| if (i + 3 * k) % 7 == 0 { f64::NAN } else { (i * k % 5) as f64 });
    let scenes = [("hills", hills(30, 0.5)), ("furnished", furnished(3)), ("field", voids)];
    for (name, scene) in scenes {
        let bytes = image(&scene);
        let t = Terrain::open(&bytes).unwrap();
        let (mut r, mut reached, mut found) = (Random(5), 0, 0);
        let [low, high] = t.bounds();
        let between = |axis: usize, k: i64| low[axis] + (high[axis] - low[axis]) * k as f64 / 4096.0;
        for i in 0..600 {
            let at = [0, 1].map(|axis| between(axis, r.within(0, 4096)));
            let [from, to] = if i % 2 == 0 { [high[2] + 1.0, low[2] - 1.0] } else { [low[2] - 1.0, high[2] + 1.0] };
            let Ok(ray) = t.ray_to([at[0], at[1], from], [at[0], at[1], to]) else { continue };
            let whole = t.raycast(ray, &RayOptions::default());
            for limit in [1, 2, 4, 8, 1000] {
                let (answer, cost) = t.raycast_costed(ray, &RayOptions { limit, ..RayOptions::default() });
                assert!(cost.tests <= limit, "{name}: {ray:?} with {limit}: {cost:?}");
                match answer.status {
                    RayStatus::LimitReached => {
                        reached += 1;
                        assert_eq!((answer.hit.t, answer.hit.at), (0.0, ray.from), "{name}");
                    }
                    _ => assert_eq!(answer, whole, "{name}: {ray:?} with {limit}"),
                }
            }
            found += usize::from(whole.found());
            let all = t.raycast(ray, &RayOptions { limit: 1000, ..RayOptions::default() });
            assert_eq!(all, whole, "{name}: {ray:?}");
        }
        assert!(reached > 100 && found > 100, "{name}: {reached} limits, {found} found");
    }
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

/// An image with all that its scene has for rays.
fn whole(scene: &Scene, rays: Rays) -> Image {
    build(scene, &Options { rays: Some(rays), ..as_given() }).expect("builds").image
}

/// Boxes, tables, bridges and leaning plates over a floor of two materials, some of them at one place.
fn furnished(seed: u64) -> Scene {
    let mut r = Random(seed);
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    let mut quad = |corners: [[f64; 3]; 4], material: u16| {
        let first = positions.len() as u32;
        positions.extend(corners);
        for v in [[0, 1, 2], [0, 2, 3]] {
            triangles.push(Triangle { v: v.map(|k| first + k), material, source: 0 });
        }
    };
    for (x, y) in (0..6).flat_map(|i| (0..6).map(move |j| (f64::from(i) * 4.0, f64::from(j) * 4.0))) {
        quad([[x, y, 0.0], [x + 4.0, y, 0.0], [x + 4.0, y + 4.0, 0.0], [x, y + 4.0, 0.0]], u16::from(x > 9.0));
    }
    for i in 0..24 {
        let at = |r: &mut Random, n: usize| r.below(n * 4) as f64 / 4.0;
        let ([x, y, z], [a, b, c]) =
            ([at(&mut r, 20), at(&mut r, 20), at(&mut r, 3)], [0, 1, 2].map(|_| 0.25 + at(&mut r, 3)));
        let lean = if i % 3 == 0 { at(&mut r, 2) } else { 0.0 };
        let p = |i: usize, j: usize, k: usize| [x + a * i as f64 + lean * k as f64, y + b * j as f64, z + c * k as f64];
        // top, bottom, sides, each looking outwards
        quad([p(0, 0, 1), p(1, 0, 1), p(1, 1, 1), p(0, 1, 1)], 2);
        quad([p(0, 0, 0), p(0, 1, 0), p(1, 1, 0), p(1, 0, 0)], 3);
        quad([p(0, 0, 0), p(1, 0, 0), p(1, 0, 1), p(0, 0, 1)], 1);
        quad([p(1, 1, 0), p(0, 1, 0), p(0, 1, 1), p(1, 1, 1)], 2);
        quad([p(0, 1, 0), p(0, 0, 0), p(0, 0, 1), p(0, 1, 1)], 3);
        quad([p(1, 0, 0), p(1, 1, 0), p(1, 1, 1), p(1, 0, 1)], 0);
    }
    Scene { positions, triangles, ..lattice_scene(&[], Vec::new()) }
}

/// MW-04, MV-52: ground, undersides and walls in one walk, in every choice of kinds, against brute force over all of
/// them.
#[test]
fn walls_and_undersides() {
    let mut all: Vec<(String, Scene)> = (0..3).map(|seed| (format!("furnished {seed}"), furnished(seed))).collect();
    all.push(("curb".into(), fixtures::curb()));
    all.push(("town".into(), fixtures::town(1)));
    for (name, mut scene) in all {
        let options = Options { rays: Some(Rays::All), ..Options::default() };
        scene.materials.iter_mut().enumerate().for_each(|(i, m)| m.class_mask = 1 << i);
        let image = build(&scene, &options).expect("builds").image;
        let t = Terrain::open_verified(&image).unwrap();
        let surfaces = surfaces(&t);
        let mut of_kind = [0; 3];
        let corners: Vec<_> = surfaces.iter().map(|s| s.corners).collect();
        let count = 2_000_000 / (surfaces.len() + 1500);
        for ray in rays_about(&corners, count, 10 << 20, 5).into_iter().filter(|ray| !upright(ray)) {
            for kinds in [7u32, 1, 2, 4, 6] {
                let truth = meetings_of(&surfaces, kinds, &ray);
                let options = RayOptions { kinds: Kinds(kinds), ..RayOptions::default() };
                let mut after = None;
                for met in truth.iter().map(Some).chain([None]).take(3) {
                    let met = met
                        .filter(|m| after.is_none_or(|after| m.t() > after))
                        .or(truth.iter().find(|m| after.is_some_and(|after| m.t() > after)));
                    let answer = t.raycast(ray, &RayOptions { after, ..options });
                    let Some(met) = met else {
                        assert!(!answer.found(), "{name}: {ray:?}: {answer:?}");
                        break;
                    };
                    let s = surfaces[met.face];
                    let hit = answer.hit;
                    assert_eq!(
                        (answer.status, hit.t),
                        (RayStatus::Found, met.t()),
                        "{name}: {kinds} {ray:?}: {answer:?}, {met:?} {s:?}"
                    );
                    assert_eq!(
                        (hit.kind as u8, hit.back, hit.material, hit.source),
                        (s.kind, met.back, s.material, s.source),
                        "{name}: {ray:?}: {met:?}"
                    );
                    let normal = [hit.normal.x, hit.normal.y, hit.normal.z].map(i128::from);
                    let [a, b, c] = s.corners.map(|v| v.map(i128::from));
                    let (u, v) = ([0, 1, 2].map(|k| b[k] - a[k]), [0, 1, 2].map(|k| c[k] - a[k]));
                    assert_eq!(
                        normal,
                        [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
                    );
                    of_kind[hit.kind as usize] += 1;
                    after = Some(hit.t);
                }
            }
            // of one class of material
            let classes = 1 << (ray.from.x & 3);
            let truth = meetings_of(&surfaces, 7, &ray)
                .into_iter()
                .find(|m| t.materials()[usize::from(surfaces[m.face].material)].class_mask & classes != 0);
            let answer = t.raycast(ray, &RayOptions { classes, ..RayOptions::default() });
            assert_eq!(answer.found().then_some(answer.hit.t), truth.map(|m| m.t()), "{name}: {ray:?}");
        }
        println!("{name}: {of_kind:?}");
        assert!(of_kind.iter().sum::<i32>() > 300, "{name}: {of_kind:?}");
    }
}

/// Heights of cells change what is read and no answer.
#[test]
fn extents_change_no_answer() {
    let scene = hills(40, 0.7);
    let [plain, extents] = [Rays::None, Rays::Extents].map(|rays| whole(&scene, rays));
    let (a, b) = (Terrain::open(&plain).unwrap(), Terrain::open(&extents).unwrap());
    let mut tests = [0u64; 2];
    for ray in rays(&Oracle::new(&scene), 20_000, 5 << 20, 8) {
        let (one, two) = (a.raycast_costed(ray, &RayOptions::default()), b.raycast_costed(ray, &RayOptions::default()));
        assert_eq!(one.0, two.0, "{ray:?}");
        tests[0] += u64::from(one.1.tests);
        tests[1] += u64::from(two.1.tests);
    }
    println!("{tests:?} tests");
    assert!(5 * tests[1] < 4 * tests[0], "{tests:?}");
    // a kind that the image does not hold
    let ray = a.ray_from([1.0, 1.0, 9.0], [1.0, 0.0, -1.0], 5.0).unwrap();
    for (t, kinds) in [(&a, Kinds::OBSTACLE), (&b, Kinds::CEILING), (&b, Kinds::GROUND.and(Kinds::OBSTACLE))] {
        assert_eq!(t.raycast(ray, &RayOptions { kinds, ..RayOptions::default() }).status, RayStatus::NotStored);
    }
}

fn field(columns: usize, rows: usize, pitch: f64, height: impl Fn(usize, usize) -> f64) -> Scene {
    let heights = (0..columns * rows).map(|i| height(i % columns, i / columns)).collect();
    let field = HeightField {
        origin: [0.25, -3.0],
        pitch,
        columns,
        rows,
        heights,
        material: 2,
        source: 1,
        tolerance: 0.001,
        ..HeightField::default()
    };
    Scene { fields: vec![field], ..lattice_scene(&[], Vec::new()) }
}

/// On height fields a ray and `closest` agree, to what `closest` drops of a place; nothing is missed, and nothing lies
/// before.
#[test]
fn fields_agree_with_closest() {
    let rough = |i: usize, j: usize| ((i * 7 + j * j * 3 + i * j) % 17) as f64 / 16.0;
    let smooth = |i: usize, j: usize| ((i as f64 / 5.0).sin() + (j as f64 / 4.0).cos()) * 2.0;
    let holed = |i: usize, j: usize| if (i * 5 + j * 3).is_multiple_of(23) { f64::NAN } else { rough(i, j) };
    let cases = [
        ("rough", field(60, 45, 0.5, rough), Some(13u8)),
        ("odd pitch", field(40, 60, 0.3, rough), None),
        ("smooth", field(70, 70, 1.0, smooth), Some(14)),
        ("holed", field(50, 50, 0.5, holed), None),
    ];
    for (name, scene, tile_log2) in cases {
        let image = build(&scene, &Options { tile_log2, ..as_given() }).expect("builds").image;
        let t = Terrain::open_verified(&image).unwrap();
        let mut r = Random(4);
        let [low, high] = t.bounds();
        let (mut found, mut grazed) = (0, 0);
        for i in 0..6000 {
            let mut at = |margin: f64| {
                [0, 1, 2].map(|k| {
                    low[k] - margin + (high[k] - low[k] + 2.0 * margin) * r.below(1 << 20) as f64 / f64::from(1 << 20)
                })
            };
            let (mut p, mut q) = (at(0.0), at(0.0));
            // half of them surely go through the ground
            if i % 2 == 0 {
                (p[2], q[2]) = (high[2] + 0.5, low[2] - 0.5);
            }
            let pitch = scene.fields[0].pitch;
            let snap = |v: f64, o: f64| ((v - o) / pitch).round() * pitch + o;
            match i % 10 {
                // through posts, along their lines, and diagonally
                4 => (p[0], q[0]) = (snap(p[0], 0.25), snap(p[0], 0.25)),
                5 | 6 => {
                    (p[0], p[1], q[0], q[1]) = (snap(p[0], 0.25), snap(p[1], -3.0), snap(q[0], 0.25), snap(q[1], -3.0))
                }
                8 => {
                    (p[0], p[1]) = (snap(p[0], 0.25), snap(p[1], -3.0));
                    let n = ((q[0] - p[0]).abs().min((q[1] - p[1]).abs()) / pitch).floor() * pitch;
                    (q[0], q[1]) = (p[0] + n.copysign(q[0] - p[0]), p[1] + n.copysign(q[1] - p[1]));
                }
                _ => {}
            }
            let Ok(ray) = t.ray_to(p, q) else { continue };
            if upright(&ray) {
                continue;
            }
            let answer = t.raycast(ray, &RayOptions::default());
            if i % 2 == 0 && name != "holed" {
                assert!(answer.found(), "{name}: {p:?} {q:?} {answer:?}");
            }
            // heights above the ground along the way
            let above = |k: f64| {
                let at = ray.at(k);
                let ground = t.closest(at);
                ground.found().then(|| at.z - ground.hit.z)
            };
            let off = 3000;
            let until = if answer.found() { answer.hit.t } else { 1.0 };
            let sign = (0..=200)
                .filter_map(|k| above(until * f64::from(k) / 200.0))
                .filter(|z| z.abs() > off)
                .collect::<Vec<_>>();
            let whole = name != "holed";
            assert!(!whole || sign.windows(2).all(|w| (w[0] > 0) == (w[1] > 0)), "{name}: {ray:?} {answer:?} {sign:?}");
            if answer.found() {
                found += 1;
                assert_eq!((answer.hit.leaf, answer.hit.material, answer.hit.kind), (LeafKind::Patch, 2, Kind::Ground));
                let here = above(answer.hit.t).or(above(answer.hit.t + 1e-9)).or(above(answer.hit.t - 1e-9));
                assert!(here.is_some_and(|z| z.abs() <= off), "{name}: {ray:?} {answer:?} {here:?}");
                let last = sign.last();
                assert!(
                    last.is_none_or(|z| (*z < 0) == answer.hit.back) || !whole,
                    "{name}: {ray:?} {answer:?} {last:?}"
                );
                // the next one is met from the other side
                let next = t.raycast(ray, &RayOptions { after: Some(answer.hit.t), ..RayOptions::default() });
                if next.found() && whole && next.hit.t < 1.0 && next.hit.t - answer.hit.t > 1e-6 {
                    // through posts and along diagonals it may touch one exactly
                    grazed += usize::from(next.hit.back == answer.hit.back && ![4, 5, 6, 8].contains(&(i % 10)));
                }
            }
        }
        println!("{name}: {found} met, {grazed} odd");
        assert!(found > 2000 && grazed == 0, "{name}: {found} {grazed}");
    }
}

/// Damaged tiles: an answer before them stands, and behind them nothing is told.
#[test]
fn damaged_tiles_are_told_where_the_ray_comes_to_them() {
    let scene = hills(40, 0.5);
    let image =
        build(&scene, &Options { tile_log2: Some(15), rays: Some(Rays::All), ..as_given() }).expect("builds").image;
    let t = Terrain::open(&image).unwrap();
    assert!(t.header().tile_count > 3);
    let damage = [0b10u8];
    let damaged = t.with_damage(&damage);
    let mut told = 0;
    for ray in rays(&Oracle::new(&scene), 4000, 10 << 20, 2) {
        let (whole, answer) = (t.raycast(ray, &RayOptions::default()), damaged.raycast(ray, &RayOptions::default()));
        if answer.status == RayStatus::Damaged {
            told += 1;
            assert!(!whole.found() || whole.hit.t >= answer.hit.t - 1e-12 || upright(&ray), "{ray:?}");
        } else {
            assert_eq!(answer, whole, "{ray:?}");
        }
    }
    assert!(told > 100, "{told}");
}

/// MW-08, MW-09, MW-10, MW-11, MW-12: distances of a body's rays, less a radius; the end of one that meets nothing.
#[test]
fn mw_09_distances_of_wheels() {
    let image = whole(&fixtures::flat(), Rays::All);
    let t = Terrain::open(&image).unwrap();
    let down = Beam { origin: [0.0; 3], direction: [0.0, 0.0, -2.0], length: 0.6, less: 0.3 };
    let tilted = Beam { direction: [1.0, 0.0, -1.0], ..down };
    let missing = Beam { direction: [0.0, 1.0, 0.0], length: 0.5, ..down };
    let mut out = [t.beam(&Pose::at([0.0; 3]), &down, &RayOptions::default()); 3];
    let beams = [down, tilted, missing];
    assert_eq!(t.rays(&Pose::at([1.0, 2.0, 0.35]), &beams, &RayOptions::default(), &mut out), 3);
    assert!((out[0].distance - 0.05).abs() < 1e-6, "{:?}", out[0]);
    let at = t.metres(out[0].answer.hit.at);
    assert!(at.iter().zip([1.0, 2.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-6), "{at:?}");
    assert!((out[1].distance - (0.35 * 2f64.sqrt() - 0.3)).abs() < 1e-6, "{:?}", out[1]);
    assert_eq!((out[2].answer.status, out[2].distance), (RayStatus::Clear, 0.5 - 0.3));
    let end = t.metres(out[2].answer.hit.at);
    assert!((end[1] - 2.5).abs() < 1e-6 && (end[2] - 0.35).abs() < 1e-6, "{end:?}");
    // RF-23: down is where the chassis says, ten degrees off
    let ramp = whole(&fixtures::ramp(), Rays::All);
    let t = Terrain::open(&ramp).unwrap();
    let (sin, cos) = (10f64.to_radians().sin(), 10f64.to_radians().cos());
    let pose = Pose { centre: [0.0, 0.0, 3.0], axes: [[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]] };
    let sensed =
        t.beam(&pose, &Beam { direction: [0.0, 0.0, -1.0], length: 20.0, less: 0.0, ..down }, &RayOptions::default());
    let ray = t.ray_from(pose.centre, [sin, 0.0, -cos], 20.0).unwrap();
    let truth = meetings(&Oracle::new(&fixtures::ramp()), &ray);
    assert_eq!(sensed.answer.hit.t, truth[0].t());
}

/// CG-23, CG-22: the lamp over the kerb leaves 5 m, and a step up the kerb is for who may and can.
#[test]
fn cg_22_steps_and_cg_23_clearance_at_the_kerb() {
    let mut scene = fixtures::curb();
    // metal, pavement, road
    for (material, class_mask) in scene.materials.iter_mut().zip([0, 0b10, 0b11]) {
        material.class_mask = class_mask;
    }
    let image = whole(&scene, Rays::All);
    let t = Terrain::open(&image).unwrap();
    let beside = t.clearance([-0.5, 0.0, 0.0]);
    assert_eq!((t.z_f64(&beside.ground.hit), t.free_f64(&beside)), (0.0, Some(5.0)));
    // on the very edge of the pavement that is the next surface, and the lamp is above it
    assert_eq!(t.free_f64(&t.clearance([0.0, 0.0, 0.0])), Some(0.149993896484375));
    assert_eq!(t.free_f64(&t.clearance([0.0, 0.0, 0.2])), Some(5.0 - 0.149993896484375));
    assert_eq!(t.free_f64(&t.clearance([-5.0, 0.0, 0.0])), None);
    let (car, pedestrian) = (0b1, 0b10);
    let of = |classes: u32, x: f64| {
        let answer = t.closest_of([x, 5.0, 0.0], classes, &t.options());
        answer.found().then(|| t.z_f64(&answer.hit))
    };
    assert_eq!(
        [of(car, 5.0), of(pedestrian, 5.0), of(car, -5.0), of(0, 5.0)],
        [None, Some(0.15), Some(0.0), Some(0.15)].map(|z| z.map(|z: f64| (z * 65536.0).round() / 65536.0))
    );
    let mut hits = [hardpan::Hit::NONE; 4];
    let layers = |classes: u32, hits: &mut [hardpan::Hit]| t.layers_of([0.5, 0.0, 0.0], classes, hits).total;
    assert_eq!([layers(0, &mut hits), layers(pedestrian, &mut hits), layers(car, &mut hits)], [2, 1, 0]);
    let step = |x: f64, to: f64, mover: Mover| t.can_step([x, 5.0, 0.0], [to, 5.0, 0.0], &mover).status;
    let walker = Mover { classes: pedestrian, step: 0.2, height: 1.9 };
    assert_eq!(step(-0.3, 0.3, walker), StepStatus::Free);
    assert_eq!(step(0.3, -0.3, walker), StepStatus::Free);
    assert_eq!(step(-0.3, 0.3, Mover { step: 0.1, ..walker }), StepStatus::NoGroundThere);
    assert_eq!(step(-0.3, 0.3, Mover { classes: car, ..walker }), StepStatus::NoGroundThere);
    assert_eq!(step(0.3, 0.6, Mover { classes: car, ..walker }), StepStatus::NoGroundHere);
    let under = |height: f64| t.can_step([-2.0, 0.0, 0.0], [-0.5, 0.0, 0.0], &Mover { height, ..walker }).status;
    assert_eq!([under(4.9), under(5.1)], [StepStatus::Free, StepStatus::TooLow]);
}

/// MW-04: a wall twelve metres ahead, which the ground alone does not show.
#[test]
fn mw_04_a_wall_ahead() {
    let mut scene = fixtures::flat();
    let first = scene.positions.len() as u32;
    scene.positions.extend([[12.0, -2.0, 0.0], [12.0, 2.0, 0.0], [12.0, 2.0, 3.0], [12.0, -2.0, 3.0]]);
    scene.triangles.extend([[0, 2, 1], [0, 3, 2]].map(|v| Triangle { v: v.map(|k| first + k), ..Triangle::default() }));
    let image = whole(&scene, Rays::All);
    let t = Terrain::open(&image).unwrap();
    let body = Beam { origin: [0.0, 0.0, 0.5], direction: [1.0, 0.0, 0.0], length: 30.0, less: 2.0 };
    let sensed = t.beam(&Pose::at([0.0; 3]), &body, &RayOptions::default());
    assert_eq!((sensed.answer.status, sensed.answer.hit.kind), (RayStatus::Found, Kind::Obstacle));
    assert!((sensed.distance - 10.0).abs() < 1e-5, "{sensed:?}");
    let ground = RayOptions { kinds: Kinds::GROUND, ..RayOptions::default() };
    assert!(!t.beam(&Pose::at([0.0; 3]), &body, &ground).answer.found());
    // straight down on the wall's edge the ground answers, and nothing else is there
    assert_eq!(
        t.raycast(t.ray_to([12.0, 0.0, 5.0], [12.0, 0.0, -1.0]).unwrap(), &RayOptions::default()).hit.kind,
        Kind::Ground
    );
}
