//! Images joined, placed and built again; factors of friction.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::shell::{BRIDGE, bridge, error, expect, folder, holds, info};
use hardpan::{Status, Terrain};
use hardpan_builder::demo::fixtures;
use hardpan_builder::edit::merge::{Merged, NoMerge, Part, Place};
use hardpan_builder::edit::rebuild::Rebuild;
use hardpan_builder::export::Obj;
use hardpan_builder::image::as_source::{scene, settings_of};
use hardpan_builder::image::decode;
use hardpan_builder::import::Frame;
use hardpan_builder::{
    ImageFile, Material, Near, Options, Provenance, Scene, Split, Triangle, Undersides, build, build_recorded, import,
};
use serde_json::Value;
use verification::random::Random;

/// Most that a step of rounding moves, in plan and height, on the default lattice.
const ROUNDING: [f64; 2] = [std::f64::consts::SQRT_2 / 8192.0, 1.0 / 131_072.0];

/// Builds a scene as the command does, with a record, and saves it.
fn save(folder: &Path, name: &str, scene: &Scene, options: &Options) {
    let built = build_recorded(scene, options, Some(&Provenance::default())).unwrap();
    fs::write(folder.join(name), &built.image[..]).unwrap();
}

/// Asks an image of a folder, from above; height and mu.
fn ask(folder: &Path, image: &str, places: &[[f64; 2]]) -> Vec<Option<[f64; 2]>> {
    let image = ImageFile::open(folder.join(image)).unwrap();
    let t = Terrain::open_verified(&image).unwrap();
    let one = |p: &[f64; 2]| {
        let answer = t.closest([p[0], p[1], 0.0]);
        (answer.status == Status::Found).then(|| [t.z_f64(&answer.hit), t.surface(&answer)[0]])
    };
    places.iter().map(one).collect()
}

/// Places of a square about the zero, the same every time.
fn places(count: usize, half: f64, seed: u64) -> Vec<[f64; 2]> {
    let mut r = Random(seed);
    let mut one = || (r.within(-1_000_000, 1_000_000) as f64) / 1e6 * half;
    (0..count).map(|_| [one(), one()]).collect()
}

/// A square tile of `n` x `n` bumpy cells of 1 m, whose low corner is at x, y: of two materials, one source, no
/// coordinate on the lattice but on its borders in plan.
fn tile(n: u32, [x, y]: [f64; 2], source: &str) -> Scene {
    let materials = vec![Material::new("Grass", 0.5), Material::new("Road", 0.9)];
    let mut scene = Scene { materials, sources: vec![source.into()], ..Scene::default() };
    for (i, j) in (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))) {
        let at = [x + f64::from(i), y + f64::from(j)];
        let bump = ((at[0] * 7.0 + at[1] * 13.0).rem_euclid(5.0)) * 0.031;
        let inside = if i % n == 0 || j % n == 0 { 0.0 } else { 0.013 };
        scene.positions.push([at[0] + inside, at[1] + inside, bump]);
    }
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let a = j * (n + 1) + i;
        let material = u16::from((i + j) % 3 == 0);
        for v in [[a, a + 1, a + n + 2], [a, a + n + 2, a + n + 1]] {
            scene.triangles.push(Triangle { v, material, source: 0 });
        }
    }
    scene
}

/// The scenes of several, one behind the other; materials and sources of one name become one.
fn joined(scenes: &[Scene]) -> Scene {
    let mut all = Scene::default();
    for s in scenes {
        let base = all.positions.len() as u32;
        all.positions.extend(&s.positions);
        let material: Vec<u16> =
            s.materials.iter().map(|m| number(&mut all.materials, m, |a, b| a.name == b.name)).collect();
        let source: Vec<u16> = s.sources.iter().map(|name| number(&mut all.sources, name, |a, b| a == b)).collect();
        all.triangles.extend(s.triangles.iter().map(|t| Triangle {
            v: t.v.map(|v| v + base),
            material: material[usize::from(t.material)],
            source: source[usize::from(t.source)],
        }));
    }
    all
}

fn number<T: Clone>(all: &mut Vec<T>, one: &T, same: impl Fn(&T, &T) -> bool) -> u16 {
    let there = all.iter().position(|other| same(other, one));
    there.unwrap_or_else(|| {
        all.push(one.clone());
        all.len() - 1
    }) as u16
}

/// The west and the east half of [`fixtures::flat`].
fn halves(folder: &Path) {
    for (name, [low, high]) in [("west.hpan", [-500.0, 0.0]), ("east.hpan", [0.0, 500.0])] {
        let mut half = fixtures::flat();
        half.positions.iter_mut().for_each(|p| p[0] = p[0].clamp(low, high));
        save(folder, name, &half, &Options::default());
    }
}

#[test]
fn vt_47_two_halves_of_flat_answer_like_flat_and_their_order_does_not_matter() {
    let folder = folder("vt_47_two_halves_of_flat_answer_like_flat_and_their_order_does_not_matter");
    halves(&folder);
    save(&folder, "flat.hpan", &fixtures::flat(), &Options::default());
    let [out, _] = expect(0, &folder, &["merge", "west.hpan", "east.hpan", "-o", "ab.hpan"]);
    holds(&out, &["ab.hpan: 4 triangles", "ground of 1000.000 by 1000.000 m"]);
    expect(0, &folder, &["merge", "east.hpan", "west.hpan", "-o", "ba.hpan", "--threads", "1"]);
    expect(0, &folder, &["merge", "west.hpan", "east.hpan", "west.hpan", "-o", "aba.hpan", "--threads", "2"]);
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(bytes("ab.hpan") == bytes("ba.hpan") && bytes("ab.hpan") == bytes("aba.hpan"));
    expect(0, &folder, &["verify", "ab.hpan"]);
    // on the seam, on the border, beyond it, and at many others
    let mut all = places(2000, 520.0, 47);
    all.extend([[0.0, 0.0], [0.0, -123.4], [-500.0, 500.0], [500.0, 500.0], [500.1, 0.0]]);
    let (merged, flat) = (ask(&folder, "ab.hpan", &all), ask(&folder, "flat.hpan", &all));
    assert_eq!(merged, flat);
    let inside = |p: &[f64; 2]| p.iter().all(|v| v.abs() <= 500.0);
    for (place, answer) in all.iter().zip(&merged) {
        assert_eq!(*answer, inside(place).then_some([0.0, 0.85]), "{place:?}");
    }
    let facts = [info(&folder, "ab.hpan"), info(&folder, "flat.hpan")];
    assert_eq!(facts[0]["error"], facts[1]["error"]);
    // and it records of what it is made
    let record = expect(0, &folder, &["info", "ab.hpan", "--provenance"])[0].clone();
    for name in ["west.hpan", "east.hpan"] {
        let sum = hardpan_builder::Input::digest(name, &bytes(name)[..]).unwrap().sha256;
        holds(&record, &[&format!("file = \"{name}\""), &sum]);
    }
}

#[test]
fn vt_55_two_hundred_images_become_one_in_one_command() {
    let folder = folder("vt_55_two_hundred_images_become_one_in_one_command");
    let mut typed: Vec<String> = vec!["merge".into(), "-o".into(), "all.hpan".into()];
    let lift = |i: u32| f64::from(i % 7) * 0.25;
    for i in 0..200 {
        let mut scene = tile(2, [f64::from(i % 20) * 4.0, f64::from(i / 20) * 4.0], &format!("tile {i}"));
        scene.positions.iter_mut().for_each(|p| p[2] = lift(i));
        let name = format!("{i}.hpan");
        save(&folder, &name, &scene, &Options::default());
        typed.push(name);
    }
    let typed: Vec<&str> = typed.iter().map(String::as_str).collect();
    let [out, _] = expect(0, &folder, &typed);
    holds(&out, &["all.hpan: 1,600 triangles"]);
    let at = |i: u32| [f64::from(i % 20) * 4.0 + 0.7, f64::from(i / 20) * 4.0 + 1.1];
    let found = ask(&folder, "all.hpan", &(0..200).map(at).collect::<Vec<_>>());
    for i in 0..200 {
        assert_eq!(found[i as usize].unwrap()[0], lift(i), "tile {i}");
    }
    assert_eq!(info(&folder, "all.hpan")["sources"].as_array().unwrap().len(), 200);
}

#[test]
fn vt_68_an_image_with_a_space_in_its_name_is_merged() {
    let folder = folder("vt_68_an_image_with_a_space_in_its_name_is_merged");
    halves(&folder);
    for name in ["t 2.hpan", "Straße größer.hpan"] {
        fs::copy(folder.join("east.hpan"), folder.join(name)).unwrap();
        expect(0, &folder, &["merge", "west.hpan", name, "-o", "m 1.hpan"]);
        assert_eq!(ask(&folder, "m 1.hpan", &[[-100.0, 3.0], [100.0, 3.0]]), [Some([0.0, 0.85]); 2]);
        let place = format!("{name}:100,0,0,0");
        expect(0, &folder, &["merge", "west.hpan", name, "-o", "m 1.hpan", "--place", &place]);
        assert_eq!(ask(&folder, "m 1.hpan", &[[50.0, 3.0], [150.0, 3.0]]), [None, Some([0.0, 0.85])]);
    }
}

#[test]
fn vt_21_a_par_file_with_the_line_as_printed_finds_its_terrain() {
    let folder = folder("vt_21_a_par_file_with_the_line_as_printed_finds_its_terrain");
    const LINE: &str = r"VS_TERRAIN_FILE Scene_Import\VS_Scene_Builder\test.vsterrain";
    halves(&folder);
    let inner = folder.join("run").join("Scene_Import").join("VS_Scene_Builder");
    fs::create_dir_all(&inner).unwrap();
    let write = |text: &str| fs::write(folder.join("run/in.par"), text).unwrap();
    write(&format!("PARSFILE\r\n! {LINE}x\r\nOPT_SKIP 1\r\n{LINE}\r\nEND\r\n"));
    let west = fs::read(folder.join("west.hpan")).unwrap();
    // our own image is loaded: verified, and the same at its place
    fs::write(inner.join("test.vsterrain"), &west).unwrap();
    let [out, err] = expect(0, &folder, &["build", "run/in.par"]);
    holds(&out, &["run/in.hpan: the image run/Scene_Import/VS_Scene_Builder/test.vsterrain, verified"]);
    holds(&err, &["run/in.par: line 4 names run/Scene_Import/VS_Scene_Builder/test.vsterrain"]);
    assert!(fs::read(folder.join("run/in.hpan")).unwrap() == west);
    // or built by what is typed
    expect(0, &folder, &["build", "run/in.par", "-o", "slow.hpan", "--mu-override", "0.25"]);
    assert_eq!(ask(&folder, "slow.hpan", &[[-20.0, 1.0], [20.0, 1.0]]), [Some([0.0, 0.25]), None]);
    holds(&error_line(2, &folder, &["build", "run/in.par", "--up", "y"]), &["names a terrain image", "--up"]);
    holds(&error_line(2, &folder, &["build", "run/in.par", "--debug", "d.obj"]), &["names a terrain image", "--debug"]);
    assert!(!folder.join("d.obj").exists());
    // of other capitals if it is the only one
    fs::rename(inner.join("test.vsterrain"), inner.join("Test.VSTerrain")).unwrap();
    expect(0, &folder, &["build", "run/in.par"]);
    fs::write(inner.join("TEST.vsterrain"), &west).unwrap();
    let text = error(2, &folder, &["build", "run/in.par"]);
    holds(&text, &["run/in.par: line 4", "there is no test.vsterrain", "there is: TEST.vsterrain, Test.VSTerrain"]);
    fs::remove_file(inner.join("TEST.vsterrain")).unwrap();
    // bytes of another program
    fs::write(inner.join("Test.VSTerrain"), b"VSTERRAIN 1.1 and so on").unwrap();
    holds(&error_line(3, &folder, &["build", "run/in.par"]), &["Generate OBJ", "hardpan build FILE.obj"]);
    fs::remove_file(inner.join("Test.VSTerrain")).unwrap();
    let text = error(2, &folder, &["build", "run/in.par"]);
    holds(&text, &["line 4", "there is no test.vsterrain", "there is: nothing"]);
    // a mesh is built
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    fs::write(folder.join("list.par"), "VS_TERRAIN_FILE \"bridge.obj\"\nVS_TERRAIN_FILE \"bridge.obj\"").unwrap();
    expect(0, &folder, &["build", "list.par"]);
    assert_eq!(ask(&folder, "list.hpan", &[[20.0, 0.0]])[0].unwrap()[0], 0.0);
    write("VS_TERRAIN_FILE a.obj\nVS_TERRAIN_FILE b.obj\n");
    holds(&error(2, &folder, &["build", "run/in.par"]), &["line 1: line 2 names another terrain"]);
    write("VS_TERRAIN_FILES a.obj\nPARSFILE\n");
    holds(&error(2, &folder, &["build", "run/in.par"]), &["no line of it begins with VS_TERRAIN_FILE"]);
    write("VS_TERRAIN_FILE \n");
    holds(&error(2, &folder, &["build", "run/in.par"]), &["line 1: no name follows"]);
}

/// The line of stderr that is the error, behind notes.
#[track_caller]
fn error_line(code: i32, folder: &Path, arguments: &[&str]) -> String {
    let [_, err] = expect(code, folder, arguments);
    err.lines().find(|line| line.starts_with("error: ")).unwrap_or_else(|| panic!("{err}")).into()
}

#[test]
fn vt_21_tiles_answer_where_they_are_placed() {
    let folder = folder("vt_21_tiles_answer_where_they_are_placed");
    save(&folder, "tile.hpan", &fixtures::ramp(), &Options::default()); // z = 0.10 x + 0.05 y, 200 m square
    let placed = ["--place", "tile.hpan:0,0,0,0", "--at", "tile.hpan:400,0,1.5,90"];
    let [out, _] = expect(0, &folder, &[&["merge", "tile.hpan", "-o", "row.hpan"][..], &placed].concat());
    holds(&out, &["row.hpan: 4 triangles", "ground of 600.000 by 200.000 m"]);
    let turned = ["--place", "tile.hpan:400,0,1.5,90", "--place", "tile.hpan:0,0,0"];
    expect(0, &folder, &[&["merge", "tile.hpan", "-o", "other.hpan"][..], &turned].concat());
    assert!(fs::read(folder.join("row.hpan")).unwrap() == fs::read(folder.join("other.hpan")).unwrap());
    // what would lie outside the domain is not left out without a word
    let far = ["--place", "tile.hpan:600000,0,0", "--place", "tile.hpan:-600000,0,0"];
    let typed = [&["merge", "tile.hpan", "-o", "far.hpan"][..], &far].concat();
    holds(&error(2, &folder, &typed), &["outside the domain", "--drop-outliers"]);
    assert!(!folder.join("far.hpan").exists());
    let [out, _] = expect(0, &folder, &[&typed[..], &["--drop-outliers"]].concat());
    holds(&out, &["far.hpan: 2 triangles"]);
    let here = places(500, 99.9, 21);
    let there: Vec<[f64; 2]> = here.iter().map(|p| [p[0] + 400.0, p[1]]).collect();
    for (p, found) in here.iter().zip(ask(&folder, "row.hpan", &here)) {
        assert!((found.unwrap()[0] - (0.1 * p[0] + 0.05 * p[1])).abs() < 1e-4, "{p:?}");
    }
    // turned anticlockwise what was east is north: x = v and y = -u of what lies at u, v
    for (p, found) in here.iter().zip(ask(&folder, "row.hpan", &there)) {
        assert!((found.unwrap()[0] - (0.1 * p[1] - 0.05 * p[0] + 1.5)).abs() < 1e-4, "{p:?}");
    }
    // every corner is one that was turned, exactly, and the stated error is that of one rounding
    let [row, tile] = ["row.hpan", "tile.hpan"].map(|name| ImageFile::open(folder.join(name)).unwrap());
    let [row, tile] = [&row, &tile].map(|image| Terrain::open(image).unwrap());
    let absolute = |t: &Terrain| -> Vec<[[i64; 3]; 3]> {
        let at = |c: [i32; 3]| [0, 1, 2].map(|i| t.header().origin[i] + i64::from(c[i]));
        decode::triangles(t).iter().map(|s| s.corners.map(at)).collect()
    };
    let sorted = |mut all: Vec<[[i64; 3]; 3]>| {
        all.iter_mut().for_each(|corners| corners.sort_unstable());
        all.sort_unstable();
        all
    };
    let turned = |c: [i64; 3]| [400 * 4096 - c[1], c[0], c[2] + 98_304];
    let wanted = absolute(&tile).into_iter().flat_map(|c| [c, c.map(turned)]).collect();
    assert_eq!(sorted(absolute(&row)), sorted(wanted));
    assert_eq!([row.header().error_plan, row.header().error_height], ROUNDING);
    // one way only to type it wrong
    let wrong = |place: &str| expect(2, &folder, &["merge", "tile.hpan", "-o", "x.hpan", "--place", place])[1].clone();
    holds(&wrong("other.hpan:0,0,0,0"), &["other.hpan: --place names this image, which is not among"]);
    holds(&wrong("tile.hpan"), &["an image and a place"]);
    holds(&wrong("tile.hpan:1,2"), &["x,y,z or x,y,z,yaw"]);
    holds(&wrong("tile.hpan:1,2,NaN,0"), &["x,y,z or x,y,z,yaw"]);
    holds(&wrong("tile.hpan:1,2,3,361"), &["between -360 and 360"]);
    assert!(!folder.join("x.hpan").exists());
}

#[test]
fn a_place_off_the_lattice_is_in_the_stated_error() {
    let folder = folder("a_place_off_the_lattice_is_in_the_stated_error");
    save(&folder, "ramp.hpan", &fixtures::ramp(), &Options::default());
    let (yaw, way) = (33.7f64, [1000.123, -250.4567, 0.1]);
    let place = format!("ramp.hpan:{},{},{},{yaw}", way[0], way[1], way[2]);
    let [out, _] = expect(0, &folder, &["merge", "ramp.hpan", "-o", "far.hpan", "--place", &place]);
    holds(&out, &["error against what it was first built from: at most 0.345 mm in plan and 0.0153 mm in height"]);
    expect(0, &folder, &["verify", "far.hpan"]);
    let facts = info(&folder, "far.hpan");
    let [plan, height] = ["plan", "height"].map(|key| facts["error"][key].as_f64().unwrap());
    for (stated, one) in [plan, height].into_iter().zip(ROUNDING) {
        assert!(stated >= 2.0 * one && stated < 2.0 * one + 1e-9, "{stated} of two times {one}");
    }
    let (sin, cos) = yaw.to_radians().sin_cos();
    let here = places(2000, 99.0, 33);
    let there: Vec<[f64; 2]> =
        here.iter().map(|[x, y]| [x * cos - y * sin + way[0], x * sin + y * cos + way[1]]).collect();
    let most = height + plan * 0.1f64.hypot(0.05) + 1e-6; // places are rounded to the query grid
    let mut worst = 0f64;
    for (p, found) in here.iter().zip(ask(&folder, "far.hpan", &there)) {
        worst = worst.max((found.unwrap()[0] - (0.1 * p[0] + 0.05 * p[1] + way[2])).abs());
    }
    assert!(worst < most, "{worst} of {most}");
    // what is moved by a part of a step only rounds once more, too
    expect(0, &folder, &["merge", "ramp.hpan", "-o", "near.hpan", "--place", "ramp.hpan:0.0001,0,0"]);
    let near = info(&folder, "near.hpan")["error"]["plan"].as_f64().unwrap();
    assert!((2.0 * ROUNDING[0]..2.0 * ROUNDING[0] + 1e-9).contains(&near), "{near}");
}

/// Nine tiles, of which neighbours share their borders; one has an edge with a vertex that its neighbour has not.
fn tiles() -> Vec<Scene> {
    let mut all: Vec<Scene> =
        (0..9).map(|i| tile(6, [f64::from(i % 3) * 6.0, f64::from(i / 3) * 6.0], &format!("tile {}", i / 2))).collect();
    let middle = &mut all[4];
    let (a, b) = (middle.positions[0], middle.positions[1]);
    let new = middle.positions.len() as u32;
    middle.positions.push([0, 1, 2].map(|i| (a[i] + b[i]) / 2.0));
    let [old, far] = [middle.triangles[0], middle.triangles[0]];
    middle.triangles[0] = Triangle { v: [old.v[0], new, old.v[2]], ..old };
    middle.triangles.push(Triangle { v: [new, far.v[1], far.v[2]], ..far });
    all
}

#[test]
fn a_merge_is_what_a_build_of_the_exported_objs_is() {
    let stitch = Options { undersides: Undersides::Ground, ..Options::default() };
    let images: Vec<_> = tiles().iter().map(|tile| build(tile, &Options::default()).unwrap().image).collect();
    let terrains: Vec<Terrain> = images.iter().map(|image| Terrain::open_verified(image).unwrap()).collect();
    let exported = |t: &Terrain| {
        let mut text = Vec::new();
        Obj::new(t).unwrap().write("", "none.mtl", &mut text).unwrap();
        let mut scene = import::read_obj(&text, Path::new("nowhere.obj"), &Frame::default()).unwrap().scene;
        let known = |name: &str| scene_material(t, name);
        scene.materials.iter_mut().for_each(|m| *m = known(&m.name));
        scene
    };
    let objs: Vec<Scene> = terrains.iter().map(exported).collect();
    let wanted = build(&joined(&objs), &stitch).unwrap();
    assert!(wanted.report.stitch.divided > 0, "the border of the middle tile is stitched");
    let merged = |order: &[usize], threads: usize| {
        let part = |i: &usize| Part { terrain: terrains[*i], name: i.to_string(), place: Place::default() };
        let merged = Merged::new(&order.iter().map(part).collect::<Vec<_>>()).unwrap();
        merged.unify().unwrap();
        assert_eq!((merged.steps, merged.source_error([-12, -16])), ([-12, -16], None));
        let mut scene = merged.scene;
        scene.materials.iter_mut().for_each(|m| m.undersides = None);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| build(&scene, &stitch)).unwrap().image
    };
    for (order, threads) in
        [([0, 1, 2, 3, 4, 5, 6, 7, 8], 1), ([8, 3, 4, 1, 0, 2, 7, 6, 5], 2), ([4, 8, 7, 6, 5, 3, 2, 1, 0], 2)]
    {
        assert!(merged(&order, threads)[..] == wanted.image[..], "{order:?}");
    }
    // and of its ground, as one scene
    let ground: Vec<Scene> = terrains.iter().map(|t| scene(t)).collect();
    let again = build(&joined(&ground), &stitch).unwrap();
    let [again, wanted] = [&again.image, &wanted.image].map(|image| decode::triangles(&Terrain::open(image).unwrap()));
    assert!(again == wanted);
}

fn scene_material(t: &Terrain, name: &str) -> Material {
    let all = (0..t.materials().len() as u16).map(|m| hardpan_builder::image::as_source::material(t, m));
    all.into_iter().find(|m| m.name == name).unwrap()
}

#[test]
fn vt_47_two_halves_merged_in_memory_answer_as_flat() {
    let half = |low: f64, high: f64| {
        let mut half = fixtures::flat();
        half.positions.iter_mut().for_each(|p| p[0] = p[0].clamp(low, high));
        build(&half, &Options::default()).unwrap().image
    };
    let halves = [half(-500.0, 0.0), half(0.0, 500.0)];
    let parts = halves.each_ref().map(|image| Part {
        terrain: Terrain::open_verified(image).unwrap(),
        name: "half".into(),
        place: Place::default(),
    });
    let merged = Merged::new(&parts).unwrap();
    let built = build(&merged.scene, &Options::default()).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(t.header().triangles, 4);
    for p in places(500, 510.0, 86) {
        let answer = t.closest([p[0], p[1], 0.0]);
        assert_eq!(answer.status == Status::Found, p.iter().all(|v| v.abs() <= 500.0), "{p:?}");
        assert!(t.z_f64(&answer.hit) == 0.0 && (answer.status != Status::Found || t.surface(&answer)[0] == 0.85));
    }
}

#[test]
fn what_parts_were_moved_by_stays_stated_where_it_was() {
    // a gap of 0.9 mm that stitching closes, and a tile far away without any
    let mut torn = joined(&[tile(4, [0.0, 0.0], "a"), tile(4, [4.0009, 0.0], "b")]);
    torn.positions.iter_mut().for_each(|p| p[2] = 0.0);
    let images = [build(&torn, &Options::default()), build(&tile(4, [3000.0, 0.0], "c"), &Options::default())];
    let images = images.map(|built| built.unwrap().image);
    let [near, far] = images.each_ref().map(|image| Terrain::open_verified(image).unwrap());
    let moved = near.header().error_plan;
    assert!(moved > ROUNDING[0] + 0.0001 && far.header().error_plan == ROUNDING[0], "{moved}");
    let part = |terrain, place| Part { terrain, name: String::new(), place };
    let merged = Merged::new(&[part(near, Place::default()), part(far, Place::default())]).unwrap();
    let source_error = merged.source_error([-12, -16]);
    let built = build(&merged.scene, &Options { source_error, ..Options::default() }).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!(t.header().error_plan, moved);
    let errors: Vec<f64> = decode::tiles(&t).map(|tile| tile.head.error[0]).collect();
    assert!(errors.contains(&moved) && errors.contains(&ROUNDING[0]), "{errors:?}");
    // turned by a quarter it is stated there
    let quarter = Place { translate: [-8192.0, 0.0, 0.0], yaw_deg: 90.0 };
    let merged = Merged::new(&[part(near, quarter), part(far, Place::default())]).unwrap();
    let source_error = merged.source_error([-12, -16]);
    let built = build(&merged.scene, &Options { source_error, ..Options::default() }).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    for tile in decode::tiles(&t) {
        let west = tile.head.x < 0 && t.header().origin[0] <= 0;
        assert_eq!(tile.head.error[0], if west { moved } else { ROUNDING[0] }, "tile {}", tile.head.x);
    }
}

#[test]
fn images_of_other_steps_meet_on_the_finest_and_state_the_coarsest() {
    let coarse = Options { xy_log2: -8, z_log2: -10, ..Options::default() };
    let images = [build(&tile(4, [0.0, 0.0], "a"), &coarse), build(&tile(4, [4.0, 0.0], "b"), &Options::default())];
    let images = images.map(|built| built.unwrap().image);
    let part = |i: usize| Part {
        terrain: Terrain::open_verified(&images[i]).unwrap(),
        name: i.to_string(),
        place: Place::default(),
    };
    let merged = Merged::new(&[part(0), part(1)]).unwrap();
    assert_eq!(merged.steps, [-12, -16]);
    let source_error = merged.source_error(merged.steps);
    let built = build(&merged.scene, &Options { source_error, stitch: None, ..Options::default() }).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    assert_eq!([t.header().error_plan, t.header().error_height], [std::f64::consts::SQRT_2 / 512.0, 1.0 / 2048.0]);
    assert_eq!(t.header().triangles, 64);
}

#[test]
fn materials_of_one_name_are_one_or_the_merge_says_why_not() {
    let folder = folder("materials_of_one_name_are_one_or_the_merge_says_why_not");
    let other = |change: fn(&mut Material)| {
        let mut scene = tile(2, [2.0, 0.0], "other");
        change(&mut scene.materials[1]);
        scene
    };
    save(&folder, "a.hpan", &tile(2, [0.0, 0.0], "one"), &Options::default());
    save(&folder, "b.hpan", &other(|m| m.mu = 0.8), &Options::default());
    save(&folder, "c.hpan", &other(|m| m.surface = 3), &Options::default());
    save(&folder, "d.hpan", &other(|_| {}), &Options::default());
    expect(0, &folder, &["merge", "a.hpan", "d.hpan", "-o", "ad.hpan"]);
    let facts = info(&folder, "ad.hpan");
    assert_eq!(facts["sources"], serde_json::json!(["one", "other"]));
    assert_eq!(facts["materials"].as_array().unwrap().len(), 2);
    let text = error(2, &folder, &["merge", "a.hpan", "b.hpan", "-o", "x.hpan"]);
    holds(&text, &["material \"Road\": mu is 0.9 in a.hpan and 0.8 in b.hpan", "--settings"]);
    let text = error(2, &folder, &["merge", "c.hpan", "a.hpan", "-o", "x.hpan"]);
    holds(&text, &["material \"Road\": surface_type is 3 in c.hpan and 0 in a.hpan"]);
    assert!(!folder.join("x.hpan").exists());
    // settings, or one mu for all, say what is meant
    let rest = "[[material]]\nname = \"Grass\"\nmu = 0.5\n";
    fs::write(folder.join("road.toml"), format!("{rest}[[material]]\nname = \"Road\"\nmu = 0.7\n")).unwrap();
    expect(0, &folder, &["merge", "a.hpan", "b.hpan", "-o", "ab.hpan", "--settings", "road.toml"]);
    assert_eq!(info(&folder, "ab.hpan")["materials"][1]["mu"], 0.7);
    expect(0, &folder, &["merge", "a.hpan", "b.hpan", "-o", "ab.hpan", "--mu-override", "0.6"]);
    assert_eq!(info(&folder, "ab.hpan")["materials"][1]["mu"], 0.6);
    // by the library
    let images = ["a.hpan", "b.hpan"].map(|name| ImageFile::open(folder.join(name)).unwrap());
    let parts = images.each_ref().map(|image| Part {
        terrain: Terrain::open(image).unwrap(),
        name: "p".into(),
        place: Place::default(),
    });
    assert!(matches!(Merged::new(&parts).unwrap().unify(), Err(NoMerge::Differ(differ)) if differ.key == "mu"));
}

#[test]
fn what_is_no_image_or_is_to_stay_stops_a_merge() {
    let folder = folder("what_is_no_image_or_is_to_stay_stops_a_merge");
    halves(&folder);
    let west = fs::read(folder.join("west.hpan")).unwrap();
    let merge = |files: &[&'static str], output: &'static str| [&["merge"], files, &["-o", output]].concat();
    let mut damaged = west.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    fs::write(folder.join("damaged.hpan"), damaged).unwrap();
    fs::write(folder.join("cut.hpan"), &west[..west.len() / 2]).unwrap();
    fs::write(folder.join("their.vsterrain"), b"not ours").unwrap();
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    for (code, other, wanted) in [
        (2, "damaged.hpan", &["damaged.hpan: section", "damaged"][..]),
        (2, "cut.hpan", &["cut.hpan"]),
        (2, "nowhere.hpan", &["nowhere.hpan: there is no such file"]),
        (2, "bridge.obj", &["bridge.obj: this is not a terrain image", "hardpan build FILE.obj"]),
        (3, "their.vsterrain", &["their.vsterrain", "Generate OBJ", "hardpan build FILE.obj"]),
    ] {
        holds(&error(code, &folder, &merge(&["west.hpan", other], "x.hpan")), wanted);
        holds(&error(code, &folder, &["rebuild", other, "-o", "x.hpan"]), wanted);
    }
    assert!(!folder.join("x.hpan").exists());
    // an input is never written over, by whatever name, nor is another file without a word
    for output in ["west.hpan", "./west.hpan"] {
        let text = error(2, &folder, &["merge", "east.hpan", "west.hpan", "-o", output, "--force"]);
        holds(&text, &["would replace its own source"]);
        holds(&error(2, &folder, &["rebuild", "west.hpan", "-o", output]), &["would replace its own source"]);
    }
    assert!(fs::read(folder.join("west.hpan")).unwrap() == west);
    holds(&error(2, &folder, &merge(&["west.hpan"], "bridge.obj")), &["--force"]);
    fs::write(folder.join("notes"), "mine").unwrap();
    holds(&error(2, &folder, &merge(&["west.hpan"], "notes")), &["that is not a terrain image", "--force"]);
    assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), "mine");
    // another image may be, and the other file with a word
    expect(0, &folder, &["merge", "west.hpan", "east.hpan", "-o", "notes", "--force"]);
    expect(0, &folder, &["merge", "west.hpan", "-o", "notes"]);
    assert_eq!(ask(&folder, "notes", &[[-1.0, 0.0], [1.0, 0.0]]), [Some([0.0, 0.85]), None]);
    // and nothing half written stays behind
    let left =
        fs::read_dir(&folder).unwrap().filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains(".tmp"));
    assert_eq!(left.count(), 0);
}

#[test]
fn json_of_merge_and_rebuild_is_a_report_of_a_build() {
    let folder = folder("json_of_merge_and_rebuild_is_a_report_of_a_build");
    halves(&folder);
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    let merge =
        ["merge", "west.hpan", "east.hpan", "-o", "m.hpan", "--json", "--mu-override", "1", "--mu-multiply", "0.5"];
    let rebuild = ["rebuild", "west.hpan", "-o", "r.hpan", "--json", "--rr-multiply", "2"];
    for (typed, image, inputs, factors) in [
        (&merge[..], "m.hpan", 2, serde_json::json!({ "mu_override": 1.0, "mu_multiply": 0.5 })),
        (&rebuild, "r.hpan", 1, serde_json::json!({ "rr_multiply": 2.0 })),
    ] {
        let report: Value = serde_json::from_str(&expect(0, &folder, typed)[0]).unwrap();
        assert!(jsonschema::is_valid(&schema, &report), "{:?}", jsonschema::validate(&schema, &report).unwrap_err());
        assert_eq!((&report["done"], &report["factors"]), (&true.into(), &factors));
        assert_eq!(report["inputs"].as_array().unwrap().len(), inputs);
        assert_eq!(report["image"]["identity"], info(&folder, image)["identity"]);
    }
    let report: Value =
        serde_json::from_str(&expect(2, &folder, &["merge", "no.hpan", "-o", "x.hpan", "--json"])[0]).unwrap();
    assert!(jsonschema::is_valid(&schema, &report) && report["done"] == false);
}

/// mu and rr at many places of the ground of [`BRIDGE`].
fn frictions(folder: &Path, image: &str) -> Vec<[f64; 2]> {
    let image = ImageFile::open(folder.join(image)).unwrap();
    let t = Terrain::open_verified(&image).unwrap();
    let one = |p: [f64; 2]| {
        let [mu, rr, _] = t.surface(&t.closest([p[0], p[1], 7.0]));
        [mu, rr]
    };
    places(300, 49.0, 56).into_iter().map(one).collect()
}

/// A folder with an image whose ground has mu 0.5 and rr 1.5 on the floor and mu 0.8 and rr 1 on the deck, and its
/// sources.
fn stated(test: &str) -> std::path::PathBuf {
    let folder = bridge(test);
    let text = "[[material]]\nname = \"Asphalt\"\nmu = 0.5\nrr = 1.5\n[[material]]\nname = \"Steel plate\"\nmu = 0.8\nrr = 1.0\n";
    fs::write(folder.join("bridge.toml"), text).unwrap();
    expect(0, &folder, &["build", "bridge.obj", "--settings", "bridge.toml", "-o", "stated.hpan"]);
    folder
}

/// A statement of `make` about two materials holds after build, merge and rebuild with these flags.
fn with_factors(test: &str, flags: &[&str], make: impl Fn([f64; 2]) -> [f64; 2], said: &str) -> PathBuf {
    let folder = stated(test);
    let before = frictions(&folder, "stated.hpan");
    assert!(before.contains(&[0.5, 1.5]) && before.contains(&[0.8, 1.0]));
    let wanted: Vec<[f64; 2]> = before.into_iter().map(make).collect();
    for typed in [
        &["build", "bridge.obj", "--settings", "bridge.toml", "-o", "new.hpan"][..],
        &["merge", "stated.hpan", "-o", "new.hpan"],
        &["rebuild", "stated.hpan", "-o", "new.hpan"],
    ] {
        let [out, _] = expect(0, &folder, &[typed, flags].concat());
        holds(&out, &[&format!("friction: {said}\n")]);
        assert_eq!(frictions(&folder, "new.hpan"), wanted, "{typed:?}");
        // what it records is what it has: once more it does not change
        expect(0, &folder, &["rebuild", "new.hpan", "-o", "again.hpan"]);
        assert!(fs::read(folder.join("new.hpan")).unwrap() == fs::read(folder.join("again.hpan")).unwrap());
    }
    folder
}

#[test]
fn vt_56_mu_is_multiplied_everywhere() {
    let folder = with_factors(
        "vt_56_mu_is_multiplied_everywhere",
        &["--mu-multiply", "0.85"],
        |[mu, rr]| [mu * 0.85, rr],
        "mu times 0.85",
    );
    // the numbers of the row, wherever the floor answers
    let [before, after] = ["stated.hpan", "new.hpan"].map(|image| frictions(&folder, image));
    let floor: Vec<f64> = before.iter().zip(&after).filter(|(b, _)| b[0] == 0.5).map(|(_, a)| a[0]).collect();
    assert!(floor.len() > 10 && floor.iter().all(|mu| *mu == 0.425), "{floor:?}");
}

#[test]
fn vt_57_every_mu_is_the_one_given() {
    with_factors(
        "vt_57_every_mu_is_the_one_given",
        &["--mu-override", "0.3"],
        |[_, rr]| [0.3, rr],
        "mu 0.3 of all materials",
    );
}

#[test]
fn vt_58_rr_is_multiplied_everywhere() {
    with_factors("vt_58_rr_is_multiplied_everywhere", &["--rr-multiply", "3"], |[mu, rr]| [mu, rr * 3.0], "rr times 3");
}

#[test]
fn vt_59_every_rr_is_the_one_given() {
    with_factors(
        "vt_59_every_rr_is_the_one_given",
        &["--rr-override", "0"],
        |[mu, _]| [mu, 0.0],
        "rr 0 of all materials",
    );
}

#[test]
fn vt_60_override_goes_before_multiply() {
    let flags = ["--mu-multiply", "0.5", "--rr-override", "4", "--mu-override", "1", "--rr-multiply", "0.25"];
    let said = "mu 1 of all materials, then times 0.5; rr 4 of all materials, then times 0.25";
    with_factors("vt_60_override_goes_before_multiply", &flags, |_| [0.5, 1.0], said);
}

#[test]
fn factors_out_of_range_stop_before_there_is_an_image() {
    let folder = stated("factors_out_of_range_stop_before_there_is_an_image");
    for typed in [
        &["build", "bridge.obj", "-o", "x.hpan"][..],
        &["merge", "stated.hpan", "-o", "x.hpan"],
        &["rebuild", "stated.hpan", "-o", "x.hpan"],
    ] {
        for flags in
            [["--mu-multiply", "-1"], ["--mu-override", "nan"], ["--rr-multiply", "inf"], ["--rr-override", "much"]]
        {
            let [_, err] = expect(2, &folder, &[typed, &flags].concat());
            holds(&err, &[flags[0], "a number of 0 or more"]);
        }
        let [_, err] = expect(2, &folder, &[typed, &["--mu-override", "1e300", "--mu-multiply", "1e300"]].concat());
        holds(&err, &["times 1e300 is no number"]);
    }
    assert!(!folder.join("x.hpan").exists());
    // one mu for all is stated, so that --strict has nothing to say
    expect(1, &folder, &["build", "bridge.obj", "-o", "x.hpan", "--strict"]);
    expect(0, &folder, &["build", "bridge.obj", "-o", "x.hpan", "--strict", "--mu-override", "0.7"]);
}

#[test]
fn vt_33_rebuilt_by_its_own_settings_a_file_is_the_same_byte_by_byte() {
    let folder = folder("vt_33_rebuilt_by_its_own_settings_a_file_is_the_same_byte_by_byte");
    let near = |plan, height| Near { plan, height };
    let mut torn = joined(&tiles());
    torn.positions.iter_mut().skip(100).step_by(7).for_each(|p| p[0] += 0.0007);
    let mut some = torn.clone();
    some.materials[0].include = false;
    some.materials.push(Material { obstacle: true, ..Material::new("Wall", 0.2) });
    some.triangles.iter_mut().step_by(9).for_each(|t| t.material = 2);
    let plain = Options::default();
    for (name, scene, options) in [
        ("torn", &torn, plain.clone()),
        ("some", &some, plain.clone()),
        ("welded", &torn, Options { weld: near(5, 90), stitch: Some(near(16, 256)), ..plain.clone() }),
        ("flat", &torn, Options { max_slope: Some(8.0), ..plain.clone() }),
        ("dense", &torn, Options { split: Some(Split::DENSE), tile_log2: Some(14), ..plain.clone() }),
        ("coarse", &torn, Options { xy_log2: -9, z_log2: -12, origin: Some([4096.0, 0.0, 0.0]), ..plain.clone() }),
        ("town", &fixtures::town(1), plain.clone()),
        ("bridge", &fixtures::bridge(), Options { default_mu: 0.1, near: 2.0, ..plain }),
    ] {
        let name = format!("{name}.hpan");
        save(&folder, &name, scene, &options);
        let [out, _] = expect(0, &folder, &["rebuild", &name, "-o", "again.hpan"]);
        holds(&out, &[&format!("the file is the same as {name}")]);
        assert!(fs::read(folder.join(&name)).unwrap() == fs::read(folder.join("again.hpan")).unwrap(), "{name}");
    }
    // and by the settings of a file, those with which it was built
    let folder = stated("vt_33_settings");
    let text = fs::read_to_string(folder.join("bridge.toml")).unwrap();
    fs::write(folder.join("bridge.toml"), format!("[build]\nnear = 3.0\nstitch = {{ plan = 8, height = 99 }}\n{text}"))
        .unwrap();
    expect(0, &folder, &["build", "bridge.obj", "--settings", "bridge.toml", "-o", "first.hpan"]);
    let [out, err] = expect(0, &folder, &["rebuild", "first.hpan", "-o", "again.hpan", "--settings", "bridge.toml"]);
    assert!(out.contains("the file is the same as first.hpan") && err.is_empty(), "{out}{err}");
    assert!(fs::read(folder.join("first.hpan")).unwrap() == fs::read(folder.join("again.hpan")).unwrap());
    // built without a record it is made by the rule of default, and says so
    fs::write(
        folder.join("plain.hpan"),
        &build(&fixtures::town(1), &Options { tile_log2: Some(15), ..Options::default() }).unwrap().image[..],
    )
    .unwrap();
    expect(0, &folder, &["rebuild", "plain.hpan", "-o", "again.hpan"]);
    expect(0, &folder, &["verify", "again.hpan"]);
}

#[test]
fn vt_33_rebuilt_by_other_settings_it_answers_within_what_it_states() {
    let folder = folder("vt_33_rebuilt_by_other_settings_it_answers_within_what_it_states");
    let mut ramp = fixtures::ramp();
    ramp.positions.iter_mut().for_each(|p| *p = p.map(|v| v * 0.997)); // off every lattice
    save(&folder, "ramp.hpan", &ramp, &Options::default());
    let all = places(1000, 99.0, 34);
    let truth = |p: &[f64; 2]| 0.1 * p[0] + 0.05 * p[1]; // of the fixture
    fs::write(folder.join("dense.toml"), "[build]\nnear = 1.0\nsplit = { depth_tolerance = 4, bundle_size = 3, bundle_increase = 1.0, min_volume = 0.01, volume_increase = 1.0 }\n").unwrap();
    fs::write(folder.join("coarse.toml"), "[build]\nxy_log2 = -5\nz_log2 = -6\n").unwrap();
    fs::write(folder.join("fine.toml"), "[build]\nxy_log2 = -14\nz_log2 = -18\ntile_log2 = 18\n").unwrap();
    for (settings, exact) in [("dense.toml", true), ("fine.toml", true), ("coarse.toml", false)] {
        expect(0, &folder, &["rebuild", "ramp.hpan", "-o", "new.hpan", "--settings", settings]);
        expect(0, &folder, &["verify", "new.hpan"]);
        let facts = info(&folder, "new.hpan");
        let [plan, height] = ["plan", "height"].map(|key| facts["error"][key].as_f64().unwrap());
        if exact {
            assert_eq!([plan, height], ROUNDING, "{settings}"); // that of the first build, whatever its new steps
            // places are rounded to another query grid
            for (new, old) in ask(&folder, "new.hpan", &all).iter().zip(ask(&folder, "ramp.hpan", &all)) {
                assert!((new.unwrap()[0] - old.unwrap()[0]).abs() < 1e-6, "{settings}: {new:?} {old:?}");
            }
        } else {
            assert_eq!([plan, height], [ROUNDING[0] + std::f64::consts::SQRT_2 / 64.0, ROUNDING[1] + 1.0 / 128.0]);
        }
        let most = height + plan * 0.1f64.hypot(0.05) + 1e-6;
        for (p, found) in all.iter().zip(ask(&folder, "new.hpan", &all)) {
            let off = (found.unwrap()[0] - truth(p)).abs();
            assert!(off < most, "{settings} {p:?}: {off} of {most}");
        }
        // what it records makes it again
        expect(0, &folder, &["rebuild", "new.hpan", "-o", "again.hpan"]);
        assert!(
            fs::read(folder.join("new.hpan")).unwrap() == fs::read(folder.join("again.hpan")).unwrap(),
            "{settings}"
        );
    }
    // what is of meshes alone is refused
    fs::write(folder.join("raster.toml"), "raster = { cell = 1.0 }\n").unwrap();
    fs::write(folder.join("error.toml"), "[build]\nsource_error = { rest = [0.1, 0.1], side = 1.0, squares = [] }\n")
        .unwrap();
    for (settings, wanted) in [("raster.toml", "raster"), ("error.toml", "source_error")] {
        let text = error(2, &folder, &["rebuild", "ramp.hpan", "-o", "x.hpan", "--settings", settings]);
        holds(&text, &[settings, wanted]);
        let text = error(2, &folder, &["merge", "ramp.hpan", "-o", "x.hpan", "--settings", settings]);
        holds(&text, &[settings, wanted]);
    }
}

#[test]
fn a_rebuild_mends_what_was_not_mended_and_nothing_twice() {
    let mut torn = joined(&[tile(4, [0.0, 0.0], "a"), tile(4, [4.0009, 0.0], "b")]);
    torn.positions.iter_mut().for_each(|p| p[2] = 0.0);
    let open = Options { stitch: None, ..Options::default() };
    let image = build_recorded(&torn, &open, Some(&Provenance::default())).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    let near = Some(Near { plan: 4, height: 64 });
    let none = hardpan_builder::Factors::default();
    // it was not stitched: now it is, as its source would have been
    let rebuild = Rebuild::new(&t, None, |build| build.stitch = near, &none).unwrap();
    assert!(!rebuild.same && rebuild.options.stitch == near);
    let now = build(&rebuild.scene, &rebuild.options).unwrap();
    let once = build(&torn, &Options::default()).unwrap();
    assert_eq!(now.report.stitch.open_edges, once.report.stitch.open_edges);
    assert!(now.report.stitch.joined > 0 && now.report.packed.error[0] >= once.report.packed.error[0] - 1e-9);
    // it was: so it is let be
    let image = build_recorded(&torn, &Options::default(), Some(&Provenance::default())).unwrap().image;
    let t = Terrain::open_verified(&image).unwrap();
    let rebuild = Rebuild::new(&t, None, |build| build.stitch = near, &none).unwrap();
    assert!(rebuild.same && rebuild.options.stitch.is_none());
    let other = Rebuild::new(&t, None, |build| build.near = 1.0, &none).unwrap();
    assert!(!other.same && other.options.stitch.is_none());
    assert_eq!(settings_of(&t).build, Options::default());
    let built = build(&other.scene, &other.options).unwrap();
    let [a, b] = [&image, &built.image].map(|image| decode::triangles(&Terrain::open(image).unwrap()));
    assert!(a == b);
}

#[test]
fn settings_of_a_rebuild_count_for_all_materials_of_the_image() {
    let folder = stated("settings_of_a_rebuild_count_for_all_materials_of_the_image");
    fs::write(folder.join("one.toml"), "[[material]]\nname = \"Asphalt\"\nmu = 0.4\n").unwrap();
    let [_, err] = expect(0, &folder, &["rebuild", "stated.hpan", "-o", "new.hpan", "--settings", "one.toml"]);
    holds(&err, &["warning: no entry of the settings fits \"Steel plate\": mu 1 and rr 1"]);
    let all = frictions(&folder, "new.hpan");
    assert!(all.iter().all(|f| [[0.4, 1.5], [1.0, 1.0]].contains(f)));
    fs::write(folder.join("wrong.toml"), "[[material]]\nname = \"Asfalt\"\nmu = 0.4\n").unwrap();
    let text = error(2, &folder, &["rebuild", "stated.hpan", "-o", "new.hpan", "--settings", "wrong.toml"]);
    holds(&text, &["wrong.toml", "\"Asphalt\"", "hardpan materials stated.hpan"]);
}
