//! Ground that goes before other ground, and materials that give friction alone, against the truth.

use crate::common::{as_given, compare, lattice_scene};
use hardpan::{Cursor, Hit, LeafKind, Point, RayOptions, Reach, Status, Terrain, Windows};
use hardpan_builder::{HeightField, Material, Options, Scene, Triangle, build};
use verification::obj::trial;
use verification::oracle::{Oracle, Steps};
use verification::random::{Random, points};

/// Few vertices and many triangles of four materials, whose standings are drawn.
fn scene(r: &mut Random) -> Scene {
    let unit = [1, 7, 256, 4096, 50_001, 1 << 18][r.below(6)];
    let steps = [unit, unit, (unit / 16).max(1)];
    let nudge = |r: &mut Random| if r.below(5) == 0 { r.within(-1, 1) } else { 0 };
    let vertex = |r: &mut Random| [4, 4, 3].map(|most| r.within(-most, most)).map(|c| (c, nudge(r)));
    let count = 3 + r.below(21);
    let vertices: Vec<[i64; 3]> = (0..count)
        .map(|_| {
            let corner = vertex(r);
            [0, 1, 2].map(|k| 1000 + corner[k].0 * steps[k] + corner[k].1)
        })
        .collect();
    let triangle = |r: &mut Random| Triangle {
        v: [0; 3].map(|_| r.below(count) as u32),
        material: r.below(4) as u16,
        source: r.below(2) as u16,
    };
    let triangles = (0..1 + r.below(70)).map(|_| triangle(r)).collect();
    let mut scene = lattice_scene(&vertices, triangles);
    let paints = r.below(2) == 0;
    for m in &mut scene.materials {
        (m.precedence, m.priority) = (r.within(-1, 2) as i16, r.within(0, 1) as i32);
        m.friction_only = paints && r.below(3) == 0;
    }
    scene
}

/// Scenes drawn one after the other, each asked at so many places.
fn drawn(seeds: std::ops::Range<u64>, places: usize) -> u64 {
    let mut asked = 0;
    for seed in seeds {
        let mut r = Random(seed);
        let scene = scene(&mut r);
        let band = [1.0 / 65_536.0, 0.01, 0.25, 1.0, 3.0][r.below(5)];
        let options = Options { precedence_band: band, ..as_given() };
        let units = |metres: f64| Steps::default().z_units(metres);
        let oracle = Oracle::new(&scene).with_band(units(band).max(1), units(options.layer_merge));
        let Ok(built) = build(&scene, &options) else {
            let paint =
                |i: usize| scene.materials.iter().find(|m| m.name == oracle.materials[oracle.attribute(i).0 as usize]);
            assert!((0..oracle.len()).all(|i| paint(i).unwrap().friction_only), "seed {seed}");
            continue;
        };
        let terrain = Terrain::open_verified(&built.image).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        compare(&terrain, &oracle, &points(&oracle, places, seed));
        asked += places as u64;
    }
    asked
}

/// More scenes than [`drawn`], and of each place what `closest` and `below` answer alone.
fn asked(seeds: std::ops::Range<u64>, places: usize) -> u64 {
    let mut asked = 0;
    for seed in seeds {
        let mut r = Random(seed ^ 0xA5A5_0000);
        let scene = scene(&mut r);
        let options = Options { precedence_band: [0.01, 0.25, 1.0][r.below(3)], ..as_given() };
        let units = |metres: f64| Steps::default().z_units(metres);
        let oracle = Oracle::new(&scene).with_band(units(options.precedence_band), units(options.layer_merge));
        let Ok(built) = build(&scene, &options) else { continue };
        let t = Terrain::open_verified(&built.image).unwrap();
        let Windows { near, far } = t.windows();
        for p in points(&oracle, places, seed) {
            let shown = oracle.over(p.x, p.y);
            let truth = Oracle::nearest(&shown, p.z, near, far);
            let answer = t.closest(p);
            let names = |m: u16| oracle.materials[usize::from(m)].as_str();
            let found = answer.found().then(|| (answer.hit.z, t.material_name(answer.hit.material)));
            assert_eq!(found, truth.map(|(g, _)| (g.z, names(g.material))), "seed {seed}: {p:?}");
            let below = t.below(p);
            let first = shown.iter().find(|g| g.z <= p.z && p.z - g.z <= far).map(|g| (g.z, names(g.material)));
            assert_eq!(
                below.found().then(|| (below.hit.z, t.material_name(below.hit.material))),
                first,
                "seed {seed}: {p:?}"
            );
            asked += 1;
        }
    }
    asked
}

#[test]
fn by_17_drawn_places_answer_as_the_oracle() {
    let scenes = std::env::var("HARDPAN_SCENES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    println!("{} places", asked(0..scenes, 500));
}

#[test]
fn by_17_drawn_scenes_answer_as_the_oracle() {
    println!("{} places", drawn(0..60, 100));
    // triangles of the same corners, of ground and of paint
    drawn(1073..1075, 100);
}

/// More heights over each place than a query holds.
#[test]
fn by_17_forty_levels_answer_as_the_oracle() {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for k in 0..40 {
        let first = vertices.len() as u32;
        vertices.extend([[0, 0, 9000 * k], [400_000, 0, 9000 * k], [0, 400_000, 9000 * k + 50_000]]);
        triangles.push(Triangle { v: [0, 1, 2].map(|c| first + c), material: (k % 4) as u16, source: 0 });
    }
    for paint in [false, true] {
        let mut scene = lattice_scene(&vertices, triangles.clone());
        for (m, precedence) in scene.materials.iter_mut().zip([0, 3, 1, 2]) {
            m.precedence = precedence;
        }
        scene.materials[0].friction_only = paint;
        let units = |metres: f64| Steps::default().z_units(metres);
        let oracle = Oracle::new(&scene).with_band(units(0.2), units(as_given().layer_merge));
        let built = build(&scene, &Options { precedence_band: 0.2, ..as_given() }).unwrap();
        let terrain = Terrain::open_verified(&built.image).unwrap();
        compare(&terrain, &oracle, &points(&oracle, 60, 1));
    }
}

/// Level squares over (-10, -10) to (10, 10): height, half its side, material.
fn squares(all: &[(f64, f64, u16)], materials: Vec<Material>) -> Scene {
    laid(all, materials, 0)
}

/// The same; those whose bit is set are fields of heights.
fn laid(all: &[(f64, f64, u16)], materials: Vec<Material>, fields: u32) -> Scene {
    let mut scene = Scene { materials, sources: vec!["s".into()], ..Scene::default() };
    for (i, &(z, half, material)) in all.iter().enumerate() {
        if fields >> i & 1 == 1 {
            let (origin, pitch) = ([-half; 2], 2.0 * half);
            let field = HeightField { origin, pitch, columns: 2, rows: 2, material, ..HeightField::default() };
            scene.fields.push(HeightField { heights: vec![z; 4], ..field });
            continue;
        }
        let first = scene.positions.len() as u32;
        scene.positions.extend([[-half, -half, z], [half, -half, z], [half, half, z], [-half, half, z]]);
        let triangle = |v: [u32; 3]| Triangle { v: v.map(|k| first + k), material, source: 0 };
        scene.triangles.extend([[0, 1, 2], [0, 2, 3]].map(triangle));
    }
    scene
}

fn named(name: &str, precedence: i16) -> Material {
    Material { precedence, ..Material::new(name, 0.5) }
}

/// Height and material of the ground closest to a height over (1, 2).
fn closest<'a>(t: &Terrain<'a>, z: f64) -> Option<(f64, &'a str)> {
    let answer = t.closest([1.0, 2.0, z]);
    answer.found().then(|| (t.z_f64(&answer.hit), t.material_name(answer.hit.material)))
}

#[test]
fn by_17_a_bridge_and_the_road_under_it_each_hide_their_own_land() {
    // land over the road, a bridge with earth heaped on it, and land between them that nothing hides
    let all = [(0.0, 10.0, 1), (0.375, 10.0, 0), (3.0, 10.0, 0), (6.0, 10.0, 1), (6.5, 10.0, 0)];
    // meshes alone, land as fields, roads as fields, all as fields, and each alone
    for fields in [0, 0b10110, 0b01001, 0b11111, 1, 2, 4, 8, 16] {
        let scene = laid(&all, vec![named("land", 0), named("road", 1)], fields);
        let image = build(&scene, &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        let expected = [(0.3, 0.0), (0.5, 0.0), (1.6, 3.0), (4.6, 6.0), (6.5, 6.0), (9.0, 6.0)];
        for (z, height) in expected {
            let material = if height == 3.0 { "land" } else { "road" };
            assert_eq!(closest(&t, z), Some((height, material)), "from {z}, {fields:b}");
        }
        let below = t.below([1.0, 2.0, 5.9]);
        assert_eq!((below.status, t.z_f64(&below.hit)), (Status::Found, 3.0));
        assert_eq!(t.z_f64(&t.below([1.0, 2.0, 2.9]).hit), 0.0, "a car under the bridge keeps its road");
        let mut space = [Hit::NONE; 8];
        let layers = t.layers([1.0, 2.0, 0.0], &mut space);
        let seen: Vec<(f64, Reach)> = space[..layers.written].iter().map(|h| (t.z_f64(h), h.reach)).collect();
        let (near, hidden) = (Reach::Near, Reach::Hidden);
        assert_eq!(seen, [(6.5, hidden), (6.0, near), (3.0, near), (0.375, hidden), (0.0, near)]);
    }
}

#[test]
fn by_17_the_band_ends_where_it_is_stated() {
    for (above, hidden) in [(0.75, true), (-0.75, true), (0.7500153, false), (-0.7500153, false)] {
        let scene = squares(&[(0.0, 10.0, 1), (above, 10.0, 0)], vec![named("land", 0), named("road", 1)]);
        let options = Options { precedence_band: 0.75, ..as_given() };
        let image = build(&scene, &options).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        let of_land = closest(&t, above).unwrap();
        assert_eq!(of_land.1, if hidden { "road" } else { "land" }, "{above}");
    }
}

#[test]
fn by_17_of_equal_precedence_priority_decides_at_one_height() {
    for precedence in [0, 7] {
        let mut materials = vec![named("a", precedence), named("b", precedence)];
        let all = [(0.0, 10.0, 0), (0.0, 9.0, 1), (0.5, 8.0, 0)];
        let image = build(&squares(&all, materials.clone()), &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        assert!(!t.has_precedence(), "of one standing alone the image is as it was");
        materials[1].priority = 3;
        let image = build(&squares(&all, materials.clone()), &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        assert_eq!(closest(&t, 0.0), Some((0.0, "b")));
        assert_eq!(closest(&t, 0.5), Some((0.5, "a")), "priority hides nothing at another height");
    }
}

#[test]
fn by_17_a_land_of_less_than_zero_needs_one_entry() {
    let scene = squares(&[(0.0, 10.0, 1), (0.4, 10.0, 0)], vec![named("land", -1), named("road", 0)]);
    let image = build(&scene, &as_given()).unwrap().image;
    assert_eq!(closest(&Terrain::open_verified(&image).unwrap(), 0.4), Some((0.0, "road")));
}

#[test]
fn by_17_images_without_precedence_are_as_they_were() {
    let all = [(0.0, 10.0, 1), (0.4, 10.0, 0)];
    let plain = build(&squares(&all, vec![named("land", 0), named("road", 0)]), &as_given()).unwrap().image;
    let t = Terrain::open_verified(&plain).unwrap();
    assert_eq!((t.header().must_understand, t.header().precedence_band), (0, 0));
    let both = build(&squares(&all, vec![named("land", 5), named("road", 5)]), &as_given()).unwrap().image;
    assert_eq!(Terrain::open_verified(&both).unwrap().header().must_understand, 0);
}

#[test]
fn by_17_a_band_of_zero_is_refused() {
    let scene = squares(&[(0.0, 10.0, 0)], vec![named("land", 0)]);
    for band in [0.0, -1.0, f64::NAN, 1001.0] {
        let e = build(&scene, &Options { precedence_band: band, ..as_given() }).err().expect("refused").to_string();
        assert!(e.contains("precedence is above 0"), "{e}");
    }
}

/// Levels as height, half a side and material; heights and the materials that answer there.
type Case<'a> = (&'a [(f64, f64, u16)], &'a [(f64, &'a str)]);

#[test]
fn by_17_friction_alone_goes_to_the_ground_right_below() {
    let paint = Material { friction_only: true, ..Material::new("paint", 0.2) };
    let materials = || vec![named("road", 0), paint.clone()];
    // exactly on its ground, of the same corners; above it; a hair below; a deck between; beyond the band
    let cases: [Case; 5] = [
        (&[(0.0, 10.0, 0), (0.0, 10.0, 1)], &[(0.0, "paint")]),
        (&[(0.0, 10.0, 0), (0.3, 5.0, 1)], &[(0.0, "paint")]),
        (&[(0.0, 10.0, 0), (-0.0005, 5.0, 1)], &[(0.0, "paint")]),
        (&[(0.0, 10.0, 0), (0.25, 10.0, 0), (0.375, 5.0, 1)], &[(0.25, "paint"), (0.0, "road")]),
        (&[(0.0, 10.0, 0), (1.1, 5.0, 1)], &[(0.0, "road")]),
    ];
    for (all, expected) in cases {
        let image = build(&squares(all, materials()), &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        let mut space = [Hit::NONE; 8];
        let layers = t.layers([1.0, 2.0, 0.0], &mut space);
        let seen: Vec<(f64, &str)> =
            space[..layers.written].iter().map(|h| (t.z_f64(h), t.material_name(h.material))).collect();
        assert_eq!(seen, expected);
        let answer = t.closest([1.0, 2.0, 5.0]);
        assert_eq!(t.surface(&answer)[0], if expected[0].1 == "paint" { 0.2 } else { 0.5 });
        assert_eq!(
            t.material_name(t.closest([9.0, 9.5, 5.0]).hit.material) == "paint",
            all[1].1 == 10.0 && all.len() == 2
        );
    }
    // over no ground it is nothing
    let image = build(&squares(&[(0.0, 1.0, 0), (0.0, 10.0, 1)], materials()), &as_given()).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    assert!(!t.closest([5.0, 5.0, 0.0]).found());
}

/// Level squares of drawn heights, sizes and standings; each ray lands on the first that is shown.
#[test]
fn by_17_rays_pass_through_hidden_ground() {
    for seed in 0..40 {
        let mut r = Random(seed);
        let materials: Vec<Material> = (0..4)
            .map(|k| Material { friction_only: k == 3, ..named(["a", "b", "c", "d"][k], r.within(0, 2) as i16) })
            .collect();
        let all: Vec<(f64, f64, u16)> = (0..8)
            .map(|_| (r.within(0, 48) as f64 / 16.0, r.within(2, 10) as f64, r.below(4) as u16))
            .chain([(-4.0, 10.0, 0)])
            .collect();
        // every second scene has fields; no field gives friction alone
        let is_field = |(i, s): (usize, &(f64, f64, u16))| u32::from(s.2 != 3 && r.below(2) == 0) << i;
        let fields = if seed % 2 == 1 { all.iter().enumerate().map(is_field).sum() } else { 0 };
        let image = build(&laid(&all, materials.clone(), fields), &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        for _ in 0..200 {
            let from = [0, 1].map(|_| r.within(-900, 900) as f64 / 100.0 + 0.001);
            let to = [0, 1].map(|_| r.within(-900, 900) as f64 / 100.0 + 0.001);
            let (top, low) = (5.0, -5.0);
            let ray = t.ray_to([from[0], from[1], top], [to[0], to[1], low]).unwrap();
            // heights on the way, the highest first, with the place of each
            let place = |z: f64| [0, 1].map(|k| from[k] + (to[k] - from[k]) * (top - z) / (top - low));
            let covers = |half: f64, p: [f64; 2]| p.iter().all(|v| v.abs() < half);
            if all.iter().any(|&(z, half, _)| place(z).iter().any(|v| (v.abs() - half).abs() < 1e-6)) {
                continue; // on a border, which is ground
            }
            let rank = |m: u16| materials[usize::from(m)].precedence;
            let paint = |m: u16| materials[usize::from(m)].friction_only;
            let shown = |&&(z, half, m): &&(f64, f64, u16)| {
                let p = place(z);
                let hides = |o: &(f64, f64, u16)| {
                    !paint(o.2) && covers(o.1, p) && rank(o.2) > rank(m) && (o.0 - z).abs() <= 1.0
                };
                covers(half, p) && !paint(m) && !all.iter().any(hides)
            };
            let first = all.iter().filter(shown).map(|s| s.0).fold(f64::NEG_INFINITY, f64::max);
            let answer = t.raycast(ray, &RayOptions::default());
            let found = if answer.found() { t.metres(answer.hit.at)[2] } else { f64::NEG_INFINITY };
            assert!(found == first || (found - first).abs() < 1e-6, "seed {seed}: {found}, not {first}");
        }
    }
}

/// A field of drawn heights about (1000, 1000, 1000) lattice steps, on posts so many query units apart.
fn field(r: &mut Random, pitch: i64, level: i64) -> HeightField {
    let metres = |steps: i64| steps as f64 / 4096.0;
    let side = pitch / 256;
    let [columns, rows] = [0; 2].map(|_| 2 + r.below(6));
    let origin = [0; 2].map(|_| 1000 + side * r.within(-4, 1) + if r.below(3) == 0 { r.within(0, side) } else { 0 });
    let (most, low) = (r.below(4) as i64, r.within(-3, 3));
    let voids = r.below(3) == 0;
    let heights = (0..columns * rows).map(|_| match voids && r.below(7) == 0 {
        true => f64::NAN,
        false => (1000 + level * (low + r.within(0, most))) as f64 / 65536.0,
    });
    HeightField {
        origin: origin.map(metres),
        pitch: pitch as f64 / 1_048_576.0,
        columns,
        rows,
        heights: heights.collect(),
        material: r.below(4) as u16,
        source: r.below(2) as u16,
        ..HeightField::default()
    }
}

/// Answers at a place against the oracle: heights, materials, sources, and what is hidden.
#[track_caller]
fn same(t: &Terrain, oracle: &Oracle, cursor: &mut Cursor, p: Point, what: impl Fn() -> String) {
    let Windows { near, far } = t.windows();
    let told = |h: &Hit| (h.z, t.material_name(h.material), t.source_name(h.source));
    let true_one = |g: &verification::oracle::Ground| {
        (g.z, &*oracle.materials[usize::from(g.material)], &*oracle.sources[usize::from(g.source)])
    };
    let at = [p.x, p.y, p.z];
    let (answer, cost) = t.closest_costed(p);
    let truth = oracle.closest(at, near, far);
    assert_eq!(answer.found().then(|| told(&answer.hit)), truth.map(|(g, _)| true_one(&g)), "{}: {p:?}", what());
    assert_eq!(t.closest(p), answer, "{}: {p:?}", what());
    assert_eq!(t.closest_cursor(p, cursor), answer, "{}: {p:?}", what());
    let bound = t.bound();
    assert!(cost.tests <= bound.tests && cost.lines <= bound.lines, "{}: {cost:?} at {p:?}, {bound:?} stated", what());
    let below = t.below(p);
    let truth = oracle.segment(at, far);
    assert_eq!(below.found().then(|| told(&below.hit)), truth.map(|g| true_one(&g)), "{}: below {p:?}", what());
    // in a cell of one sheet the owner of an edge is the only layer there: what is hidden at one height may be left out
    let but_edges = |mut all: Vec<((i64, &str, &str), bool)>| {
        let shown: Vec<i64> = all.iter().filter(|(_, hidden)| !hidden).map(|(g, _)| g.0).collect();
        all.retain(|(g, hidden)| !hidden || !shown.contains(&g.0));
        all.into_iter().map(|(g, hidden)| format!("{g:?} {hidden}")).collect::<Vec<_>>()
    };
    let mut space = [Hit::NONE; 64];
    let layers = t.layers(p, &mut space);
    let seen = but_edges(space[..layers.written].iter().map(|h| (told(h), h.reach == Reach::Hidden)).collect());
    let truth = oracle.layers(p.x, p.y, t.header().layer_merge);
    let truth = but_edges(truth.iter().map(|g| (true_one(g), g.hidden)).collect());
    assert_eq!(seen, truth, "{}: layers at {p:?}", what());
    assert!(
        space[..layers.written].iter().all(|h| t.is_hidden(p, h) == (h.reach == Reach::Hidden)),
        "{}: {p:?}",
        what()
    );
}

/// Fields and triangles of drawn standings over each other: posts, borders, holes and places between.
fn drawn_fields(seeds: std::ops::Range<u64>, places: usize) -> u64 {
    let mut asked = 0;
    for seed in seeds {
        let mut r = Random(seed ^ 0x0F1E_1D00);
        let pitch = 1i64 << [14, 16, 18, 20, 22][r.below(5)];
        let level = [2, 64, 1024, 8192][r.below(4)];
        let (side, part) = (pitch / 256, (pitch >> 16).max(1));
        let vertex = |r: &mut Random| {
            let corner =
                [0, 1].map(|_| 1000 + side * r.within(-4, 4) + if r.below(3) == 0 { r.within(0, side) } else { 0 });
            [corner[0], corner[1], 1000 + level * r.within(-3, 4)]
        };
        let count = 3 + r.below(12);
        let vertices: Vec<[i64; 3]> = (0..count).map(|_| vertex(&mut r)).collect();
        let triangle = |r: &mut Random| Triangle {
            v: [0; 3].map(|_| r.below(count) as u32),
            material: r.below(4) as u16,
            source: r.below(2) as u16,
        };
        let number = if r.below(5) == 0 { 0 } else { 1 + r.below(20) };
        let triangles = (0..number).map(|_| triangle(&mut r)).collect();
        let mut scene = lattice_scene(&vertices, triangles);
        scene.fields = (0..1 + r.below(3)).map(|_| field(&mut r, pitch, level)).collect();
        let paints = r.below(3) == 0;
        for (i, m) in scene.materials.iter_mut().enumerate() {
            (m.precedence, m.priority) = (r.within(-1, 2) as i16, r.within(0, 1) as i32);
            m.friction_only = paints && r.below(3) == 0 && scene.fields.iter().all(|f| usize::from(f.material) != i);
        }
        let metres = |steps: i64| steps as f64 / 65_536.0;
        let band = [metres(1), metres(level), metres(3 * level / 2), metres(4 * level), 1.0][r.below(5)];
        // tiles of about a cell too, so that fields lie in several
        let tile_log2 = Some(side.ilog2().clamp(6, 20) as u8).filter(|_| r.below(2) == 0);
        let options = Options { precedence_band: band, tile_log2, ..as_given() };
        let units = |metres: f64| Steps::default().z_units(metres);
        let oracle = Oracle::new(&scene).with_fields(&scene, Steps::default());
        let oracle = oracle.with_band(units(band).max(1), units(options.layer_merge));
        // a field of which no cell has all posts is no ground
        let Ok(built) = build(&scene, &options) else { continue };
        let t = Terrain::open_verified(&built.image).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        if seed % 40 == 0 {
            let verdict = hardpan_builder::verify(&built.image, &Default::default()).unwrap();
            assert!(verdict.passed(), "seed {seed}: {verdict:#?}");
        }
        let mut cursor = Cursor::new();
        for _ in 0..places {
            let along = |r: &mut Random, k: usize| {
                let post = 1000 * 256 + pitch * r.within(-5, 7);
                let field = &scene.fields[r.below(scene.fields.len())];
                let corner = (field.origin[k] * 1_048_576.0) as i64 + pitch * r.within(0, 7);
                let step = [0, 0, part, -part][r.below(4)];
                match r.below(4) {
                    0 => post + step,
                    1 => corner + step,
                    _ => post + part * r.within(0, pitch / part),
                }
            };
            let [x, y] = [along(&mut r, 0), along(&mut r, 1)];
            let shown = oracle.layers(x, y, 0);
            let z = match r.below(3) {
                0 => (1000 + level * r.within(-4, 5)) * 256 + r.within(-300, 300),
                _ if shown.is_empty() => 0,
                _ => shown[r.below(shown.len())].z + r.within(-1, 1) * units(band) + r.within(-1, 1),
            };
            same(&t, &oracle, &mut cursor, Point { x, y, z }, || {
                let over = (0..oracle.len()).filter(|i| oracle.covers(*i, x, y));
                let over: Vec<_> = over.map(|i| (oracle.triangle(i), oracle.attribute(i))).collect();
                format!("seed {seed}, {tile_log2:?}, pitch {pitch}: triangles {over:?}, fields {:?}", scene.fields)
            });
            asked += 1;
        }
    }
    asked
}

#[test]
fn by_17_fields_of_heights_answer_as_the_oracle() {
    let scenes = std::env::var("HARDPAN_SCENES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let asked = drawn_fields(0..scenes, 400);
    println!("{asked} places");
    assert!(asked >= scenes * 350, "{asked}");
}

/// A mesh covers its southern and western borders, a field all of its own; a cell without a post covers nothing.
#[test]
fn by_17_a_field_covers_its_borders_and_not_its_holes() {
    let all = [(0.0, 10.0, 0), (-0.25, 4.0, 1)];
    let borders = [[-4.0, 1.0], [1.0, -4.0], [4.0, 1.0], [1.0, 4.0]];
    for fields in 0..4 {
        let scene = laid(&all, vec![named("land", 0), named("road", 1)], fields);
        let image = build(&scene, &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        for (i, [x, y]) in borders.into_iter().enumerate() {
            let road = fields & 2 != 0 || i < 2;
            let answer = t.closest([x, y, 1.0]);
            assert_eq!(t.z_f64(&answer.hit), if road { -0.25 } else { 0.0 }, "{x}, {y}, {fields:b}");
        }
    }
    let mut scene = laid(&all, vec![named("land", 0), named("road", 1)], 1);
    scene.triangles.retain(|t| t.material == 0);
    let heights = (0..25).map(|i| if i == 12 { f64::NAN } else { -0.25 }).collect();
    let road = HeightField { origin: [-4.0; 2], pitch: 2.0, columns: 5, rows: 5, ..HeightField::default() };
    scene.fields.push(HeightField { heights, material: 1, ..road });
    let image = build(&scene, &as_given()).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    for (x, z) in [(-3.0, -0.25), (-2.0, -0.25), (-1.999, 0.0), (0.0, 0.0), (1.999, 0.0), (2.0, -0.25), (3.0, -0.25)] {
        assert_eq!(t.z_f64(&t.closest([x, 0.5, 1.0]).hit), z, "{x}");
        assert_eq!(t.z_f64(&t.closest([0.5, x, 1.0]).hit), z, "{x}");
    }
}

/// Land and road of a trial, each as a mesh or as a field of its vertices; heights are rounded to 8 lattice steps.
fn trial_scene(name: &str, [land, road]: [bool; 2]) -> Option<Scene> {
    let text = std::fs::read_to_string(trial(name)?).unwrap();
    let mut scene = Scene { materials: vec![named("Grass", 0), named("Asphalt", 1)], ..Scene::default() };
    scene.sources = vec!["s".into()];
    let (mut material, mut used) = (0u16, [const { Vec::<u32>::new() }; 2]);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["v", x, y, z, ..] => {
                let [x, y, z]: [f64; 3] = [x, y, z].map(|v| v.parse().unwrap());
                scene.positions.push([x, y, (z * 8192.0).round() / 8192.0]);
            }
            ["usemtl", name] => material = u16::from(name == "Asphalt"),
            ["f", ref corners @ ..] => {
                let corner = |c: &&str| c.split('/').next().unwrap().parse::<u32>().unwrap() - 1;
                let corners: Vec<u32> = corners.iter().map(corner).collect();
                used[usize::from(material)].extend(&corners);
                for k in 2..corners.len() {
                    scene.triangles.push(Triangle { v: [corners[0], corners[k - 1], corners[k]], material, source: 0 });
                }
            }
            _ => (),
        }
    }
    // the pitch of the land is 1 or 2 m
    let east = used[0].iter().map(|v| scene.positions[*v as usize][0]);
    let pitch = east.filter(|x| *x > 0.0).fold(f64::INFINITY, f64::min);
    for (material, is_field) in [(0, land), (1, road)] {
        if !is_field {
            continue;
        }
        scene.triangles.retain(|t| t.material != material);
        let places: Vec<[f64; 3]> =
            used[usize::from(material)].iter().map(|v: &u32| scene.positions[*v as usize]).collect();
        let end = |k: usize, from: f64, most: fn(f64, f64) -> f64| places.iter().map(|p| p[k]).fold(from, most);
        let low = [0, 1].map(|k| end(k, f64::INFINITY, f64::min));
        let [columns, rows] = [0, 1].map(|k| ((end(k, 0.0, f64::max) - low[k]) / pitch) as usize + 1);
        let height = |i: usize| {
            let at = [low[0] + (i % columns) as f64 * pitch, low[1] + (i / columns) as f64 * pitch];
            // a road is level, and has fewer corners than posts
            places.iter().find(|p| p[..2] == at).map_or(0.0, |p| p[2])
        };
        let heights = (0..columns * rows).map(height).collect();
        let (origin, tolerance) = (low, 4.0 / 65_536.0);
        scene.fields.push(HeightField {
            origin,
            pitch,
            columns,
            rows,
            heights,
            material,
            tolerance,
            ..HeightField::default()
        });
    }
    Some(scene)
}

#[test]
fn by_17_buried_roads_and_land_as_fields_answer_as_the_oracle() {
    for name in ["buried_road/poke.obj", "buried_road_1500mm/land.obj"] {
        for fields in [[true, false], [false, true], [true, true]] {
            let Some(scene) = trial_scene(name, fields) else { return };
            let options = Options { precedence_band: 1.6, ..as_given() };
            let image = build(&scene, &options).unwrap().image;
            let t = Terrain::open_verified(&image).unwrap();
            let units = |metres: f64| Steps::default().z_units(metres);
            let oracle = Oracle::new(&scene).with_fields(&scene, Steps::default());
            let oracle = oracle.with_band(units(1.6), units(options.layer_merge));
            let (mut r, mut cursor, mut on_road) = (Random(17), Cursor::new(), 0);
            for _ in 0..2000 {
                let [x, y] = [[-1, 61], [-1, 31]].map(|[low, high]| 32 * r.within(low << 15, high << 15));
                let [x, y] = if r.below(4) == 0 { [x >> 20 << 20, y >> 20 << 20] } else { [x, y] };
                let p = Point { x, y, z: r.within(-2 << 24, 2 << 24) };
                same(&t, &oracle, &mut cursor, p, || format!("{name} {fields:?}"));
                if (0..60 << 20).contains(&x) && (12 << 20..18 << 20).contains(&y) {
                    let answer = t.closest(Point { z: units(0.3), ..p });
                    assert_eq!((answer.hit.z, t.material_name(answer.hit.material)), (0, "Asphalt"), "{p:?}");
                    on_road += 1;
                }
            }
            assert!(on_road > 200, "{on_road}");
        }
    }
}

/// Among fields and meshes at one height the higher priority answers, whichever of them is a field.
#[test]
fn by_17_among_fields_at_one_height_the_higher_priority_answers() {
    let all = [(0.0, 10.0, 0), (0.0, 9.0, 1), (0.0, 8.0, 2)];
    for fields in 0..8 {
        let mut materials = vec![named("a", 0), named("b", 0), named("c", 0)];
        (materials[0].priority, materials[1].priority) = (1, 2);
        let image = build(&laid(&all, materials, fields), &as_given()).unwrap().image;
        assert_eq!(closest(&Terrain::open_verified(&image).unwrap(), 0.5), Some((0.0, "b")), "{fields:b}");
    }
}

/// Two roads of one precedence hide nothing of each other: both hide the land, and the nearer one answers.
#[test]
fn by_17_grounds_of_equal_precedence_are_ordinary_ground_to_each_other() {
    let all = [(0.0, 10.0, 1), (0.5, 10.0, 2), (0.25, 10.0, 0)];
    for fields in 0..8 {
        let scene = laid(&all, vec![named("land", 0), named("one", 7), named("other", 7)], fields);
        let image = build(&scene, &as_given()).unwrap().image;
        let t = Terrain::open_verified(&image).unwrap();
        for (z, expected) in [(-1.0, (0.0, "one")), (0.2, (0.0, "one")), (0.3, (0.5, "other")), (2.0, (0.5, "other"))] {
            assert_eq!(closest(&t, z), Some(expected), "from {z}, {fields:b}");
        }
    }
}

/// A query reads a cell of many sheets of land twice, and not once for each sheet.
#[test]
fn by_17_many_sheets_of_land_cost_two_readings() {
    let land = (0..40).map(|k| (f64::from(k) / 8.0, 10.0, 0));
    let all: Vec<(f64, f64, u16)> = land.chain([(2.0625, 10.0, 1)]).collect();
    let scene = squares(&all, vec![named("land", 0), named("road", 1)]);
    let image = build(&scene, &Options { precedence_band: 0.5, ..as_given() }).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    let (answer, cost) = t.closest_costed([1.0, 2.0, 2.25]);
    assert_eq!(t.z_f64(&answer.hit), 2.0625);
    assert!(cost.tests <= 2 * 2 * 41, "{} tests", cost.tests);
    // the first that is not hidden, past four that are
    let (answer, cost) = t.closest_costed([1.0, 2.0, 2.625]);
    assert_eq!(t.z_f64(&answer.hit), 2.625);
    assert!(cost.tests <= 2 * 2 * 41, "{} tests", cost.tests);
}

/// A field of square cells, whose heights a function of x and y gives.
fn field_of(origin: f64, pitch: f64, posts: usize, numbers: [u16; 2], height: impl Fn(f64, f64) -> f64) -> HeightField {
    let at = |n: usize| origin + n as f64 * pitch;
    let heights = (0..posts * posts).map(|n| height(at(n % posts), at(n / posts))).collect();
    let [material, source] = numbers;
    let (columns, rows, tolerance) = (posts, posts, 1e-4);
    HeightField {
        origin: [origin; 2],
        pitch,
        columns,
        rows,
        heights,
        material,
        source,
        tolerance,
        ..Default::default()
    }
}

/// Cobbles 6 cm high on a slope, from 2 to 6 m either way: they end on the slope at the border.
fn cobbles(x: f64, y: f64) -> f64 {
    let border = [x - 2.0, 6.0 - x, y - 2.0, 6.0 - y].into_iter().fold(0.25, f64::min) / 0.25;
    slope(x) + 0.06 * border * (7.0 * x).sin().abs() * (9.0 * y).sin().abs()
}

/// The same between posts 1/32 m apart.
fn bilinear(x: f64, y: f64) -> f64 {
    let [a, b] = [x, y].map(|v| (v * 32.0).floor().min(191.0));
    let [s, t] = [x * 32.0 - a, y * 32.0 - b];
    let post = |i: f64, j: f64| cobbles((a + i) / 32.0, (b + j) / 32.0);
    (post(0.0, 0.0) * (1.0 - s) + post(1.0, 0.0) * s) * (1.0 - t)
        + (post(0.0, 1.0) * (1.0 - s) + post(1.0, 1.0) * s) * t
}

fn slope(x: f64) -> f64 {
    0.125 * x
}

/// Asks along lines over the edges of a fine patch, one query step beside them too. Up to its border, with all of that,
/// the patch answers and hides the base. At the edge the height is continuous within the stated error.
fn seam(base: Scene, of_base: LeafKind) {
    let fine = field_of(2.0, 1.0 / 32.0, 129, [1, 1], cobbles);
    let scene = Scene {
        materials: vec![named("flat", 0), named("cobble", 1)],
        sources: vec!["SD".into(), "HD".into()],
        fields: base.fields.iter().cloned().chain([fine]).collect(),
        ..base
    };
    let image = build(&scene, &Options::default()).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    let (stated, step) = (t.header().error_height, 2f64.powi(-20));
    let ask = |x: f64, y: f64| {
        let answer = t.closest([x, y, 2.0]);
        assert!(answer.found(), "{x} {y}");
        let names = (t.material_name(answer.hit.material), t.source_name(answer.hit.source));
        (t.z_f64(&answer.hit), answer.hit.leaf, names)
    };
    let (mut asked, mut highest): (u32, f64) = (0, 0.0);
    for other in (0..=400).map(|n| 1.97 + f64::from(n) * 0.0101) {
        for edge in [2.0, 6.0] {
            let mut before: Option<f64> = None;
            for along in [-0.5, -step, 0.0, step, 0.5].map(|d| edge + d) {
                for (x, y) in [(along, other), (other, along)] {
                    let (z, leaf, names) = ask(x, y);
                    let inside = [x, y].iter().all(|v| (2.0..=6.0).contains(v));
                    let expected = if inside { (LeafKind::Patch, ("cobble", "HD")) } else { (of_base, ("flat", "SD")) };
                    assert_eq!((leaf, names), expected, "{x} {y}");
                    let truth = if inside { bilinear(x, y) } else { slope(x) };
                    let mut hits = [Hit::NONE; 4];
                    let listed = t.layers([x, y, 2.0], &mut hits).written;
                    let hidden = hits[..listed].iter().filter(|hit| hit.reach == Reach::Hidden).count();
                    assert_eq!(hidden, usize::from(inside), "{x} {y}");
                    assert!((z - truth).abs() < stated + 1e-5, "{x} {y}: {z}, not {truth}");
                    highest = highest.max(z - slope(x));
                    asked += 1;
                }
                if (along - edge).abs() <= step {
                    let (z, ..) = ask(along, other);
                    assert!(
                        before.is_none_or(|b| (z - b).abs() <= 2.0 * stated + step),
                        "{along} {other}: {z} {before:?}"
                    );
                    before = Some(z);
                }
            }
        }
    }
    assert!(asked > 8000 && highest > 0.05, "{asked} {highest}");
}

#[test]
fn rf_39_a_fine_patch_in_a_coarse_mesh_answers_up_to_its_edge() {
    let mut base = squares(&[(0.0, 10.0, 0)], Vec::new());
    base.positions.iter_mut().for_each(|p| p[2] = slope(p[0]));
    seam(base, LeafKind::Bundle);
}

#[test]
fn rf_39_a_fine_patch_in_a_coarse_field_answers_up_to_its_edge() {
    let base = field_of(-8.0, 4.0, 5, [0, 0], |x, _| slope(x));
    seam(Scene { fields: vec![base], ..Scene::default() }, LeafKind::Patch);
}
