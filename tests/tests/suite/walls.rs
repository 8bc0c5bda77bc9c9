//! Walls, undersides and obstacles in the image: rays hit them, wheels do not.

use hardpan::format::section;
use hardpan::{Kind, Kinds, OpenError, Point, Ray, RayAnswer, RayOptions, RayStatus, Terrain, VerifyError};
use hardpan_builder::demo::fixtures;
use hardpan_builder::image::decode;
use hardpan_builder::image::rays::{self, Wall};
use hardpan_builder::{
    HeightField, Image, Material, Options, Rays, Scene, Triangle, Undersides, Verify, WallKind, build, verify,
};
use verification::bytes::{Aligned, mend_all, mend_head};
use verification::random::Random;

fn with(scene: &Scene, rays: Rays) -> Image {
    with_options(scene, &Options { rays: Some(rays), ..Options::default() })
}

fn with_options(scene: &Scene, options: &Options) -> Image {
    let image = build(scene, options).expect("builds").image;
    let t = Terrain::open_verified(&image).expect("verifies");
    assert_eq!(t.section(section::RAYS).is_some(), options.rays.is_some_and(|r| r != Rays::None));
    let verdict = verify(&image, &Verify::default()).unwrap();
    assert!(verdict.passed(), "{:?}", verdict.failed());
    image
}

fn cast(t: &Terrain, from: [f64; 3], to: [f64; 3]) -> RayAnswer {
    t.raycast(t.ray_to(from, to).unwrap(), &RayOptions::default())
}

/// Ground of 20 by 20 m around a box of which the top is ground, too; and a closed bridge over all of it.
fn house() -> Scene {
    let mut scene = fixtures::flat();
    scene.triangles.clear();
    scene.positions.clear();
    let quad = |scene: &mut Scene, corners: [[f64; 3]; 4], material: u16, source: u16| {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners);
        for v in [[0, 1, 2], [0, 2, 3]] {
            scene.triangles.push(Triangle { v: v.map(|v| first + v), material, source });
        }
    };
    scene.materials = vec![Material::new("ground", 0.9), Material { obstacle: true, ..Material::new("tree", 0.5) }];
    scene.sources = vec!["yard".into(), "bridge".into()];
    quad(&mut scene, [[-10.0, -10.0, 0.0], [10.0, -10.0, 0.0], [10.0, 10.0, 0.0], [-10.0, 10.0, 0.0]], 0, 0);
    let block = |scene: &mut Scene, [a, b, c]: [f64; 3], [d, e, f]: [f64; 3], source: u16| {
        quad(scene, [[a, b, f], [d, b, f], [d, e, f], [a, e, f]], 0, source);
        quad(scene, [[a, b, c], [a, e, c], [d, e, c], [d, b, c]], 0, source);
        quad(scene, [[a, b, c], [d, b, c], [d, b, f], [a, b, f]], 0, source);
        quad(scene, [[d, b, c], [d, e, c], [d, e, f], [d, b, f]], 0, source);
        quad(scene, [[d, e, c], [a, e, c], [a, e, f], [d, e, f]], 0, source);
        quad(scene, [[a, e, c], [a, b, c], [a, b, f], [a, e, f]], 0, source);
    };
    block(&mut scene, [-2.0, -2.0, 5.0], [2.0, 2.0, 6.0], 1);
    // a trunk that leans, and a fence on no ground
    quad(&mut scene, [[6.0, 0.0, 0.0], [6.0, 1.0, 0.0], [7.0, 1.0, 4.0], [7.0, 0.0, 4.0]], 1, 0);
    quad(&mut scene, [[-5.0, 12.0, 0.0], [5.0, 12.0, 0.0], [5.0, 12.0, 2.0], [-5.0, 12.0, 2.0]], 1, 0);
    scene
}

#[test]
fn a_ray_hits_the_face_of_a_kerb() {
    let image = with(&fixtures::curb(), Rays::All);
    let t = Terrain::open(&image).unwrap();
    let [ceilings, obstacles] = rays::head(&t).unwrap().triangles;
    assert_eq!((ceilings, obstacles), (0, 2));
    let found = cast(&t, [-2.0, 1.0, 0.0625], [2.0, 3.0, 0.0625]);
    assert_eq!(
        (found.status, found.hit.t, found.hit.kind, found.hit.back),
        (RayStatus::Found, 0.5, Kind::Obstacle, false)
    );
    assert_eq!(t.face_normal_f64(&found.hit), [-1.0, 0.0, 0.0]);
    assert_eq!(t.material_name(found.hit.material), "Pavement");
    // from behind it is met as well, unless only fronts count
    let ray = t.ray_to([2.0, 3.0, 0.0625], [-2.0, 1.0, 0.0625]).unwrap();
    assert!(t.raycast(ray, &RayOptions::default()).hit.back);
    let front = RayOptions { front_only: true, ..RayOptions::default() };
    assert_eq!(t.raycast(ray, &front).status, RayStatus::Clear);
    // wheels do not know it
    let ground = RayOptions { kinds: Kinds::GROUND, ..RayOptions::default() };
    assert_eq!(t.raycast(ray, &ground).status, RayStatus::Clear);
    // over the kerb, just below its top, and just above
    let top = (0.15f64 * 65536.0).round() / 65536.0;
    assert!(cast(&t, [-2.0, 1.0, top - 1e-5], [2.0, 1.0, top - 1e-5]).found());
    assert_eq!(cast(&t, [-2.0, 1.0, top + 1e-5], [2.0, 1.0, top + 1e-5]).status, RayStatus::Clear);
}

#[test]
fn undersides_walls_and_obstacles_answer_by_kind() {
    for tile_log2 in [None, Some(12), Some(14)] {
        let image = with_options(&house(), &Options { rays: Some(Rays::All), tile_log2, ..Options::default() });
        let t = Terrain::open(&image).unwrap();
        assert_eq!(rays::head(&t).unwrap().triangles, [2, 12]);
        let up = cast(&t, [0.5, 0.25, 1.0], [0.5, 0.25, 9.0]);
        assert_eq!((up.hit.kind, up.hit.t, up.hit.back), (Kind::Ceiling, 0.5, false));
        let up = cast(&t, [0.5, 0.25, 1.0], [1.0, 0.5, 9.0]);
        assert_eq!((up.hit.kind, up.hit.t, up.hit.back), (Kind::Ceiling, 0.5, false));
        let side = cast(&t, [-4.0, 0.5, 5.5], [0.0, 0.5, 5.5]);
        assert_eq!((side.hit.kind, side.hit.t, t.source_name(side.hit.source)), (Kind::Obstacle, 0.5, "bridge"));
        let trunk = cast(&t, [6.0, 0.5, 2.0], [7.0, 0.5, 2.0]);
        assert_eq!((trunk.hit.kind, trunk.hit.t, t.material_name(trunk.hit.material)), (Kind::Obstacle, 0.5, "tree"));
        // beyond the ground, where no vertical query answers
        let fence = cast(&t, [0.0, 11.0, 1.0], [0.0, 13.0, 1.0]);
        assert_eq!((fence.status, fence.hit.kind, fence.hit.t), (RayStatus::Found, Kind::Obstacle, 0.5));
        let deck = cast(&t, [0.5, 0.5, 9.0], [0.5, 0.25, 1.0]);
        assert_eq!((deck.hit.kind, deck.hit.t), (Kind::Ground, 0.375));
        let only = |kinds| {
            t.raycast(
                t.ray_to([0.5, 0.5, 9.0], [0.5, 0.25, 1.0]).unwrap(),
                &RayOptions { kinds, ..RayOptions::default() },
            )
        };
        let below = only(Kinds::CEILING);
        assert_eq!((below.hit.kind, below.hit.t, below.hit.back), (Kind::Ceiling, 0.5, true));
        assert_eq!(only(Kinds::OBSTACLE).status, RayStatus::Clear);
    }
}

#[test]
fn what_is_not_stored_is_said() {
    let scene = house();
    for (rays, kinds) in [(Rays::None, 0), (Rays::Extents, 1), (Rays::All, 7)] {
        let image = with(&scene, rays);
        let t = Terrain::open(&image).unwrap();
        assert_eq!(t.ray_kinds(), kinds);
        let ray = t.ray_to([-4.0, 0.5, 5.5], [0.0, 0.5, 5.5]).unwrap();
        for kind in [Kinds::CEILING, Kinds::OBSTACLE] {
            let asked = t.raycast(ray, &RayOptions { kinds: kind, ..RayOptions::default() }).status;
            assert_eq!(asked == RayStatus::NotStored, rays != Rays::All, "{rays:?} {kind:?}: {asked:?}");
        }
        assert_eq!(t.raycast(ray, &RayOptions::default()).status == RayStatus::Found, rays == Rays::All);
    }
}

/// The ground of an image is the same with whatever rays have; without walls even its bytes are.
#[test]
fn the_ground_knows_nothing_of_rays() {
    let alone = |scene: &Scene| build(scene, &Options::default()).unwrap().image;
    for scene in
        [fixtures::curb(), fixtures::town(1), fixtures::bridge(), fixtures::cobble(), house(), fixtures::soup(3)]
    {
        let plain = alone(&scene);
        let t = Terrain::open(&plain).unwrap();
        for rays in [Rays::Extents, Rays::All] {
            let image = with(&scene, rays);
            let u = Terrain::open(&image).unwrap();
            assert!(decode::triangles(&t) == decode::triangles(&u));
            assert_eq!((t.header().min, t.header().max), (u.header().min, u.header().max));
            if rays == Rays::Extents {
                assert_eq!(t.section(section::TILES), u.section(section::TILES));
            }
            let ([low, high], mut r) = (t.bounds(), Random(7));
            for _ in 0..2000 {
                let at = |k: usize, r: &mut Random| {
                    low[k] - 0.5 + (high[k] - low[k] + 1.0) * r.below(1 << 20) as f64 / f64::from(1 << 20)
                };
                let p = [at(0, &mut r), at(1, &mut r), at(2, &mut r)];
                let (a, b) = (t.closest(p), u.closest(p));
                assert_eq!((a.status, a.hit.z, a.hit.normal), (b.status, b.hit.z, b.hit.normal), "{p:?}");
            }
        }
        assert!(alone(&scene)[..] == with(&scene, Rays::None)[..]);
    }
}

/// Corners in query steps.
fn corners(t: &Terrain, c: [[i32; 3]; 3]) -> [[i128; 3]; 3] {
    c.map(|p| [0, 1, 2].map(|k| (i128::from(t.header().origin[k]) + i128::from(p[k])) << 8))
}

/// Where a ray meets a triangle, as an image tells it, and whether from behind.
fn meets(c: [[i128; 3]; 3], ray: &Ray) -> Option<(f64, bool)> {
    let p = [ray.from.x, ray.from.y, ray.from.z].map(i128::from);
    let d = [ray.to.x, ray.to.y, ray.to.z].map(i128::from);
    let d = [0, 1, 2].map(|k| d[k] - p[k]);
    let c = c.map(|v| [0, 1, 2].map(|k| v[k] - p[k]));
    for k in 0..3 {
        let [low, high] = [d[k].min(0), d[k].max(0)];
        if c.iter().all(|c| c[k] < low) || c.iter().all(|c| c[k] > high) {
            return None;
        }
    }
    let cross =
        |a: [i128; 3], b: [i128; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: [i128; 3], b: [i128; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let sides = [0, 1, 2].map(|k| dot(d, cross(c[k], c[(k + 1) % 3])));
    let den: i128 = sides.iter().sum();
    if den == 0 || !(sides.iter().all(|s| *s >= 0) || sides.iter().all(|s| *s <= 0)) {
        return None;
    }
    let num = dot(c[0], cross(c[1], c[2]));
    let (num, den, back) = if den < 0 { (-num, -den, false) } else { (num, den, true) };
    (num >= 0 && num <= den).then(|| (num as f64 / den as f64, back))
}

/// The first surface of any kind, by brute force over all that the image holds.
fn brute(t: &Terrain, ground: &[decode::Stored], walls: &[Wall], ray: &Ray) -> Option<(f64, Kind)> {
    let on_ground = ground.iter().filter_map(|g| Some((meets(corners(t, g.corners), ray)?.0, Kind::Ground)));
    let kind = |w: &Wall| if w.kind == WallKind::Ceiling { Kind::Ceiling } else { Kind::Obstacle };
    let on_walls = walls.iter().filter_map(|w| Some((meets(corners(t, w.corners), ray)?.0, kind(w))));
    on_ground.chain(on_walls).min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
}

#[test]
fn rays_among_walls_are_as_by_brute_force() {
    let mut hits = [0; 3];
    let scenes = [fixtures::curb(), house(), fixtures::town(1), fixtures::soup(3)];
    for (scene, tile_log2) in scenes.iter().map(|s| (s, None)).chain(scenes[..2].iter().map(|s| (s, Some(14)))) {
        let undersides = Undersides::Auto;
        let options = Options { rays: Some(Rays::All), tile_log2, undersides, ..Options::default() };
        let image = build(scene, &options).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        let (ground, walls) = (decode::triangles(&t), rays::walls(&t));
        let mut r = Random(11);
        let target = |r: &mut Random| {
            let k = r.below(ground.len() + walls.len());
            let c = corners(&t, if k < ground.len() { ground[k].corners } else { walls[k - ground.len()].corners });
            // a vertex, a place on an edge, or one inside
            let [a, b] = [r.below(3), r.below(3)];
            [0, 1, 2].map(|k| (c[a][k] + (c[b][k] - c[a][k]) * r.below(257) as i128 / 256) as i64)
        };
        for k in 0..300 {
            let [p, q] = [target(&mut r), target(&mut r)];
            let mut d = [0, 1, 2].map(|_| r.within(-1 << 22, 1 << 22));
            d[2] <<= 4;
            let (from, to) = match k % 3 {
                0 => (p, q),
                _ => ([0, 1, 2].map(|k| p[k] - d[k]), [0, 1, 2].map(|k| p[k] + d[k])),
            };
            let point = |[x, y, z]: [i64; 3]| Point { x, y, z };
            let ray = Ray { from: point(from), to: point(to) };
            if from[..2] == to[..2] {
                continue;
            }
            let found = t.raycast(ray, &RayOptions::default());
            if found.status == RayStatus::TooLong {
                continue;
            }
            let told = found.found().then_some((found.hit.t, found.hit.kind));
            assert_eq!(told, brute(&t, &ground, &walls, &ray), "{ray:?}");
            hits[found.hit.kind as usize] += usize::from(found.found());
        }
    }
    assert!(hits.iter().all(|n| *n > 20), "{hits:?}");
}

/// Between a kerb's top and its face there is no slit, though the ground is stitched along it.
#[test]
fn a_kerb_is_closed_where_its_top_was_mended() {
    let mut scene = fixtures::flat();
    (scene.positions, scene.triangles) = (Vec::new(), Vec::new());
    let mut r = Random(3);
    let mut quad = |corners: [[f64; 3]; 4]| {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners);
        scene.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|v| Triangle {
            v: v.map(|v| first + v),
            material: 0,
            source: 0,
        }));
    };
    // the pavement has vertices of its own along the edge, up to half a millimetre off, and the face has none of them
    for i in 0..8 {
        let [a, b] = [f64::from(i), f64::from(i) + 1.0];
        quad([[0.0, a, 0.25], [2.0, a, 0.25], [2.0, b, 0.25], [0.0, b, 0.25]]);
        quad([[0.0, b, 0.0], [0.0, a, 0.0], [0.0, a, 0.25], [0.0, b, 0.25]]);
        quad([[-2.0, a, 0.0], [0.0, a, 0.0], [0.0, b, 0.0], [-2.0, b, 0.0]]);
        let [c, d] = [a + 0.25, a + 0.75];
        let off = (r.below(5) as f64 - 2.0) / 8192.0;
        quad([[off, c, 0.25 + off], [2.0, c, 1.0], [2.0, d, 1.0], [off, d, 0.25 - off]]);
    }
    for stitch in [None, Options::default().stitch] {
        let options = Options { rays: Some(Rays::All), stitch, ..Options::default() };
        let image = with_options(&scene, &options);
        let t = Terrain::open(&image).unwrap();
        let is_mended = build(&scene, &options).unwrap().report.stitch.divided > 0;
        assert_eq!(is_mended, stitch.is_some());
        for _ in 0..20_000 {
            let y = r.below(7 << 20) as f64 / f64::from(1 << 20) + 0.5;
            let dy = (r.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5) * 0.5;
            let rise = r.below(1 << 20) as f64 / f64::from(1 << 20) + 0.05;
            let found = cast(&t, [-0.5, y - dy, 0.25 + rise], [0.5, y + dy, 0.25 - rise]);
            assert!(found.found() && found.hit.t < 0.51, "{y} {dy} {rise}: {found:?}");
        }
    }
}

/// A wall over a field of heights, and on a field alone.
#[test]
fn walls_stand_on_fields_of_heights() {
    let mut scene = house();
    scene.triangles.retain(|t| t.material == 1);
    scene.fields.push(HeightField {
        origin: [-16.0, -16.0],
        pitch: 0.5,
        columns: 65,
        rows: 65,
        heights: (0..65 * 65).map(|i| f64::from(i % 7) / 16.0).collect(),
        material: 0,
        source: 0,
        tolerance: 0.001,
        ..HeightField::default()
    });
    for tile_log2 in [None, Some(14)] {
        let image = with_options(&scene, &Options { rays: Some(Rays::All), tile_log2, ..Options::default() });
        let t = Terrain::open(&image).unwrap();
        let fence = cast(&t, [0.0, 11.0, 1.0], [0.0, 13.0, 1.0]);
        assert_eq!((fence.status, fence.hit.kind, fence.hit.t), (RayStatus::Found, Kind::Obstacle, 0.5));
        let plain = build(&scene, &Options { tile_log2, ..Options::default() }).unwrap().image;
        let u = Terrain::open(&plain).unwrap();
        let mut r = Random(5);
        for _ in 0..1000 {
            let at = |r: &mut Random| (r.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5) * 31.0;
            let p = [at(&mut r), at(&mut r), 1.0];
            assert_eq!(t.closest(p).hit.z, u.closest(p).hit.z);
        }
    }
}

/// The order of triangles, and where tiles end, change no answer.
#[test]
fn walls_are_the_same_in_any_order() {
    let scene = house();
    let image = with(&scene, Rays::All);
    let shuffled = with(&super::common::shuffled(&scene, 5), Rays::All);
    let [t, u] = [&image, &shuffled].map(|image| Terrain::open(image).unwrap());
    assert_eq!(t.identity(), u.identity());
    assert!(t.section(section::RAYS) == u.section(section::RAYS));
    let one = super::common::on_threads(1, || with(&scene, Rays::All));
    assert!(one[..] == image[..]);
}

/// A flipped bit is found; whatever the bytes say, nothing panics, and what verifies again answers.
#[test]
fn damaged_bytes_for_rays_are_found() {
    let image = with_options(&house(), &Options { rays: Some(Rays::All), tile_log2: Some(14), ..Options::default() });
    let place = |bytes: &[u8]| {
        let t = Terrain::open(bytes).unwrap();
        let s = t.header().sections.iter().position(|s| s.kind == section::RAYS).unwrap();
        (s, t.header().sections[s].offset as usize, t.header().sections[s].len as usize)
    };
    let (_, at, len) = place(&image);
    let mut r = Random(9);
    let rays: Vec<([f64; 3], [f64; 3])> = (0..40)
        .map(|_| {
            let mut at = || (r.below(1 << 20) as f64 / f64::from(1 << 20) - 0.5) * 24.0;
            ([at(), at(), 4.0 + at() / 4.0], [at(), at(), 4.0 + at() / 4.0])
        })
        .collect();
    let (mut refused, mut answered) = (0, 0);
    for k in 0..1500 {
        let mut bytes = Aligned::new(&image);
        let byte = at + if k < 600 { k } else { r.below(len) };
        bytes[byte] ^= 1 << r.below(8);
        assert_eq!(
            Terrain::open_verified(&bytes).err(),
            Some(OpenError::Content(VerifyError::SectionDamaged(section::RAYS)))
        );
        let t = Terrain::open(&bytes).unwrap();
        let mut verifier = t.verifier();
        let mut bitmap = [0u8; 64];
        while !matches!(verifier.step(usize::MAX, &mut bitmap), Ok(true))
            && verifier.step(usize::MAX, &mut bitmap).is_ok()
        {}
        assert!(verifier.usable() && bitmap == [0; 64], "the ground is sound");
        // forged: the checksum is mended
        mend_all(&mut bytes);
        match Terrain::open_verified(&bytes) {
            Ok(_) => answered += 1,
            Err(e) => {
                assert_eq!(e, OpenError::Content(VerifyError::SectionInvalid(section::RAYS)));
                refused += 1;
            }
        }
        let t = Terrain::open(&bytes).unwrap();
        for (from, to) in &rays {
            let found = cast(&t, *from, *to);
            assert!(found.hit.t >= 0.0);
        }
        if k % 16 == 0 {
            let verdict = verify(&bytes, &Verify::default()).unwrap();
            assert!(!verdict.passed(), "byte {} of the section", byte - at);
        }
    }
    assert!(refused > 300 && answered > 50, "{refused} {answered}");
}

/// Another number of blocks, a part that is missing for a tile, a section that is cut short.
#[test]
fn a_section_of_another_image_is_refused() {
    let image = with_options(&house(), &Options { rays: Some(Rays::All), tile_log2: Some(14), ..Options::default() });
    let t = Terrain::open(&image).unwrap();
    let entry = t.header().sections.iter().position(|s| s.kind == section::RAYS).unwrap();
    let at = t.header().sections[entry].offset as usize;
    let blob = at + u64::from_le_bytes(image[at + 128..at + 136].try_into().unwrap()) as usize;
    // tiles of the head, blocks of a blob, the length of a tile's part
    for (place, value) in [(at, 1u8), (blob + 28, 1), (at + 128 + 8, 128)] {
        let mut bytes = Aligned::new(&image);
        bytes[place] ^= value;
        mend_all(&mut bytes);
        let e = Terrain::open_verified(&bytes).err();
        assert_eq!(e, Some(OpenError::Content(VerifyError::SectionInvalid(section::RAYS))), "byte {place}");
        let u = Terrain::open(&bytes).unwrap();
        let found = cast(&u, [-4.0, 0.5, 5.5], [0.0, 0.5, 5.5]);
        assert!(matches!(found.status, RayStatus::Found | RayStatus::Damaged | RayStatus::Clear));
    }
    let mut short = Aligned::new(&image);
    short[512 + 64 * entry + 16..][..8].copy_from_slice(&128u64.to_le_bytes());
    mend_head(&mut short);
    assert_eq!(Terrain::open(&short).err(), Some(OpenError::HeadInvalid));
}

/// Bytes of the section: at most 2.5 bytes of heights a triangle of even ground, and 40 bytes a wall, all in.
#[test]
fn bytes_for_rays() {
    let size = |scene: &Scene| {
        let [extents, all] = [Rays::Extents, Rays::All].map(|rays| {
            let image = with(scene, rays);
            let t = Terrain::open(&image).unwrap();
            let walls = rays::head(&t).unwrap().triangles.iter().sum::<u64>();
            (
                image.len() as f64,
                t.section(section::RAYS).unwrap().len() as f64,
                t.header().triangles as f64,
                walls as f64,
            )
        });
        (extents.1 / extents.2, (all.0 - extents.0) / all.3, all.3)
    };
    let (extents, ..) = size(&super::common::hills(128, 8.0));
    let (of_town, wall, walls) = size(&fixtures::town(4));
    println!("bytes: {extents:.2} a triangle of hills, {of_town:.2} of a town; {wall:.1} a wall of {walls}");
    assert!(extents <= 2.5 && wall <= 40.0, "{extents} {wall}");
}
