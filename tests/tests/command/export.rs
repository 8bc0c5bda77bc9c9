//! `hardpan export`: triangles that build the same image again, and maps that show what the kernel answers.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::shell::{BRIDGE, HARDPAN, but_friction, check, error, expect, folder, holds, soon, value, values};
use hardpan::{Answer, Hit, Terrain};
use hardpan_builder::demo::fixtures;
use hardpan_builder::export::Obj;
use hardpan_builder::image::decode;
use hardpan_builder::{Image, Material, Options, Settings, SourceError, Split, build};
use serde_json::{Value, json};
use verification::obj::real_file;

fn identity(folder: &Path, image: &str) -> String {
    let facts: Value = serde_json::from_str(&expect(0, folder, &["info", image, "--json"])[0]).unwrap();
    facts["identity"].as_str().unwrap().into()
}

/// Exports an image of a folder and builds it again, from the exported files alone, in another folder.
#[track_caller]
fn again(folder: &Path, image: &str) {
    let [out, _] = expect(0, folder, &["export", "obj", image, "-o", "out.obj", "--force"]);
    let wanted = identity(folder, image);
    holds(&out, &["proven", &wanted]);
    let there = folder.join("there");
    let _ = fs::remove_dir_all(&there);
    fs::create_dir(&there).unwrap();
    for file in ["out.obj", "out.mtl", "out.toml"] {
        fs::rename(folder.join(file), there.join(file)).unwrap();
    }
    let [_, err] = expect(0, &there, &["build", "--settings", "out.toml"]);
    // friction that nobody stated is not stated by the settings
    let other = |line: &&str| line.starts_with("warning: ") && !line.contains(": mu is 0.85 by default of ");
    assert_eq!(err.lines().find(other), None);
    assert_eq!(identity(&there, "out.hpan"), wanted, "{image}");
    expect(0, folder, &["diff", image, "there/out.hpan"]);
    // and from that image the same triangles again
    let [out, _] = expect(0, &there, &["export", "obj", "out.hpan", "-o", "twice.obj"]);
    holds(&out, &["proven", &wanted]);
    let triangles = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(there.join(name)).unwrap();
        text.lines().filter(|l| !l.starts_with(['#', 'm'])).map(String::from).collect()
    };
    assert!(triangles("out.obj") == triangles("twice.obj"), "{image}");
}

/// A square of `n` x `n` cells of `side` m from a corner on, bumpy, as lines of an OBJ; `first` is its first vertex.
fn sheet(n: usize, side: f64, corner: [f64; 3], first: usize) -> String {
    let mut text = String::new();
    for (i, j) in (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j))) {
        let z = corner[2] + ((i * 7 + j * 13) % 5) as f64 * 0.031;
        text += &format!("v {} {} {z}\n", corner[0] + i as f64 * side, corner[1] + j as f64 * side);
    }
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let a = first + j * (n + 1) + i;
        text += &format!("f {a} {} {} {}\n", a + 1, a + n + 2, a + n + 1);
    }
    text
}

const BOX: &str = "\
o closed box
v 0 0 1\nv 4 0 1\nv 4 4 1\nv 0 4 1\nv 0 0 2\nv 4 0 2\nv 4 4 2\nv 0 4 2
usemtl Side
f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8
usemtl Under
f 4 3 2 1
usemtl Top
f 5 6 7 8
";

#[test]
fn vt_28_the_obj_builds_the_same_image_again() {
    let folder = folder("vt_28_the_obj_builds_the_same_image_again");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("bridge.obj", BRIDGE);
    write("box.obj", BOX);
    // two sheets, a hair apart and with other vertices along the seam: they are stitched, and one tile is moved
    let seam = format!(
        "o west\nusemtl A\n{}o east # and more\ng part two\nusemtl B\n{}",
        sheet(8, 1.0, [0.0; 3], 1),
        sheet(5, 1.6, [8.0004, 0.0, 0.0], 82)
    );
    write("seam.obj", &seam);
    // most vertices are a wall's, so that the origin is where the ground alone would not put it
    let mut wall = String::from("o wall\nusemtl Wall\n");
    for i in 0..20 {
        wall += &format!("v 2100 {i} 0\nv 2100 {i} 9\n");
    }
    for i in 0..19 {
        let a = 2 * i + 1;
        wall += &format!("f {a} {} {} {}\n", a + 1, a + 3, a + 2);
    }
    wall += &format!("o ground\nusemtl Ground\n{}", sheet(2, 3.3, [2000.0, 1.7, 0.1], 41));
    write("wall.obj", &wall);
    write(
        "settings.toml",
        "[build]\nxy_log2 = -9\nz_log2 = -13\nnear = 2.5\nfallback = \"miss\"\ndefault_z = -3.25\n\
         [[material]]\nname = \"A\"\nmu = 0.31\nrr = 1.7\ngain = 0.3\nsurface_type = 7\nclasses = [0, 31]\ncone_index = 812.5\nlabel = 99\npriority = -4\n\
         [[material]]\nname = \"B\"\nobstacle = true\n",
    );
    let cases: [&[&str]; 12] = [
        &["bridge.obj"],
        &["box.obj"],
        &["seam.obj"],
        &["seam.obj", "--tile", "13"],
        &["seam.obj", "--weld", "3000,9000"],
        &["seam.obj", "--max-slope", "4", "--stitch", "false"],
        &["seam.obj", "--settings", "settings.toml"],
        &["wall.obj"],
        &["wall.obj", "--translate", "-700000.3,4000000.7,33.3", "--rotate", "33"],
        &["seam.obj", "bridge.obj", "box.obj", "--preset", "dense"],
        &["seam.obj", "--preset", "default"],
        &["seam.obj", "--max-cost", "9"],
    ];
    for case in cases {
        let arguments: Vec<&str> = ["build", "-o", "image.hpan"].iter().chain(case).copied().collect();
        expect(0, &folder, &arguments);
        again(&folder, "image.hpan");
    }
    // what is reported of these cases is so
    expect(0, &folder, &["build", "wall.obj"]);
    let origin = |name: &str| Terrain::open(&Image::read(folder.join(name)).unwrap()).unwrap().header().origin;
    assert_eq!(origin("wall.hpan")[0], 4096 << 12);
    write("ground.obj", &format!("usemtl Ground\n{}", sheet(2, 3.3, [2000.0, 1.7, 0.1], 1)));
    expect(0, &folder, &["build", "ground.obj"]);
    assert_eq!(origin("ground.hpan")[0], 0);
    expect(0, &folder, &["build", "ground.obj", "--origin", "-4096,8192,0"]);
    assert_eq!(origin("ground.hpan"), [-4096 << 12, 8192 << 12, 0]);
    holds(&expect(2, &folder, &["build", "ground.obj", "--origin", "1,0,0"])[1], &["--origin", "4096"]);
    expect(0, &folder, &["build", "seam.obj"]);
    expect(0, &folder, &["export", "obj", "seam.hpan"]);
    holds(&fs::read_to_string(folder.join("seam-ground.toml")).unwrap(), &["[build.source_error]"]);
}

#[test]
fn an_export_is_not_stitched_again() {
    let folder = folder("an_export_is_not_stitched_again");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let plate = |x: f64| format!("v {x} 0 0\nv {} 0 0\nv {} 4 0\nv {x} 4 0\nf -4 -3 -2 -1\n", x + 4.0, x + 4.0);
    write("q.obj", &format!("o plates\nusemtl Slab\n{}{}", plate(0.0), plate(4.0)));
    write("q.toml", "[[material]]\nname = \"Slab\"\nmu = 0.8\n");
    expect(0, &folder, &["build", "q.obj", "--settings", "q.toml"]);
    expect(0, &folder, &["export", "obj", "q.hpan"]);
    holds(&fs::read_to_string(folder.join("q-ground.toml")).unwrap(), &["delete this line.\nstitch = false\n"]);
    let strict = ["build", "--settings", "q-ground.toml", "--strict"];
    assert_eq!(expect(0, &folder, &strict)[1], "");
    assert_eq!(identity(&folder, "q-ground.hpan"), identity(&folder, "q.hpan"));
}

#[test]
fn an_export_without_faces_of_no_area_builds() {
    let folder = folder("an_export_without_faces_of_no_area_builds");
    fs::write(folder.join("box.obj"), BOX).unwrap();
    fs::write(folder.join("box.toml"), "[[material]]\nname = \"\"\nmu = 0.8\n").unwrap();
    expect(0, &folder, &["build", "box.obj", "--settings", "box.toml", "--rays", "none"]);
    expect(0, &folder, &["export", "obj", "box.hpan"]);
    let text = fs::read_to_string(folder.join("box-ground.obj")).unwrap();
    assert_eq!(text.matches("f 1 1 1\n").count(), 2);
    let cleaned = text.replace("usemtl Side\nf 1 1 1\n", "").replace("usemtl Under\nf 1 1 1\n", "");
    assert!(!cleaned.contains("f 1 1 1"));
    fs::write(folder.join("box-ground.obj"), cleaned).unwrap();
    let [_, err] = expect(0, &folder, &["build", "--settings", "box-ground.toml", "--strict"]);
    assert_eq!(err, "");
}

#[test]
fn vt_28_real_meshes_build_the_same_image_again() {
    let folder = folder("vt_28_real_meshes_build_the_same_image_again");
    let meshes = [("samurai_monastry", "y"), ("zdm2", "y"), ("3dfier_innerbuffer_05", "z")];
    for (name, up) in meshes {
        let Some(file) = real_file(&format!("city/{name}.obj")) else { continue };
        // walls that repairs have bent come back as ground: the export warns of them
        expect(0, &folder, &["build", file.to_str().unwrap(), "--up", up, "--rays", "none", "-o", "image.hpan"]);
        again(&folder, "image.hpan");
    }
}

#[test]
fn the_obj_holds_lattice_points_and_each_triangle_once() {
    let folder = folder("the_obj_holds_lattice_points_and_each_triangle_once");
    // a wall has no ground, and keeps its name; the floor is in many tiles
    let text = format!("{BRIDGE}o a wall\nusemtl Brick  red\nv 9 9 0\nv 9 9.1 0\nv 9 9 4.3\nf 9 10 11\n");
    fs::write(folder.join("bridge.obj"), text).unwrap();
    expect(
        0,
        &folder,
        &["build", "bridge.obj", "--tile", "16", "--translate", "0.1,-0.30000001,1e-4", "--rays", "none"],
    );
    let [out, err] = expect(0, &folder, &["export", "obj", "bridge.hpan", "--json"]);
    assert_eq!(err, "");
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        facts,
        json!({
            "obj": "bridge-ground.obj", "mtl": "bridge-ground.mtl", "settings": "bridge-ground.toml",
            "triangles": 4, "vertices": 8, "identity": identity(&folder, "bridge.hpan"), "proven": true,
            "translate": [0.0, 0.0, 0.0], "moved_by_f32": 0.0, "off_between_posts": null,
        })
    );
    let obj = fs::read_to_string(folder.join("bridge-ground.obj")).unwrap();
    let [head, body] = obj.split_once("mtllib").map(|(a, b)| [a, b]).unwrap();
    holds(head, &["# The ground of bridge.hpan", "# To build it again: hardpan build --settings bridge-ground.toml"]);
    // 0.1 m is 409.6 steps of 2^-12 m, and 1e-4 m is 6.55 of 2^-16 m
    let [x, y, z] = [(-5.0 * 4096.0 + 410.0) / 4096.0, (-50.0 * 4096.0 - 1229.0) / 4096.0, 6.0 + 7.0 / 65536.0];
    let line = format!("v {x} {y} {z}");
    assert_eq!(line, "v -4.89990234375 -50.300048828125 6.0001068115234375");
    assert!(body.lines().any(|l| l == line), "{body}");
    let names: Vec<&str> = body.lines().filter(|l| l.starts_with(['o', 'u'])).collect();
    let wanted = ["o deck", "usemtl Steel plate", "o floor", "usemtl Asphalt", "usemtl Brick red", "o a wall"];
    assert_eq!(names, wanted);
    let points: Vec<[f64; 3]> = body.lines().filter_map(|l| l.strip_prefix("v ")).map(numbers).collect();
    let faces: Vec<[usize; 3]> = body.lines().filter_map(|l| l.strip_prefix("f ")).map(numbers).collect();
    assert_eq!((points.len(), faces.len()), (8, 6));
    assert_eq!(faces[4..], [[1; 3]; 2], "names without ground");
    let steps = [4096.0, 4096.0, 65536.0];
    assert!(points.iter().all(|p| (0..3).all(|i| (p[i] * steps[i]).fract() == 0.0)));
    let plan = |t: &[usize; 3]| {
        let [a, b, c] = t.map(|i| points[i - 1]);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    assert_eq!(faces[..4].iter().map(plan).collect::<Vec<_>>(), [1000.0, 1000.0, 10000.0, 10000.0]);
    assert_eq!(faces.iter().collect::<BTreeSet<_>>().len(), 5);
    let mtl = fs::read_to_string(folder.join("bridge-ground.mtl")).unwrap();
    assert_eq!(
        mtl.lines().filter_map(|l| l.strip_prefix("newmtl ")).collect::<Vec<_>>(),
        ["Asphalt", "Brick red", "Steel plate"]
    );
}

/// Three numbers of a line.
fn numbers<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Debug>(line: &str) -> [T; 3] {
    line.split(' ').map(|n| n.parse().unwrap()).collect::<Vec<T>>().try_into().unwrap()
}

/// A material without a name, and others that no line of an OBJ can say: the settings give them their names again.
#[test]
fn vt_28_materials_whose_names_no_obj_can_say() {
    let folder = folder("vt_28_materials_whose_names_no_obj_can_say");
    expect(0, &folder, &["demo", "--fixture", "mats", "-o", "mats.hpan"]);
    again(&folder, "mats.hpan");
    let mut scene = fixtures::mats();
    scene.materials[0].name = "two  blanks\n".into();
    scene.materials[1].name = "unnamed".into();
    // one of them has no ground
    scene.materials.push(Material { label: 7, ..Material::new("a \\", 0.25) });
    scene.sources = vec!["mats".into()];
    let built = build(&scene, &Options::default()).unwrap();
    let t = Terrain::open(&built.image).unwrap();
    let obj = Obj::new(&t).unwrap();
    let known = Settings { materials: scene.materials.iter().map(Into::into).collect(), ..Settings::default() };
    let settings = obj.settings(&known, "x.obj");
    let texts = obj.texts("", "x.mtl", |_| [0.5; 3], &settings).unwrap();
    assert_eq!(texts.identity(Path::new("x.obj")).unwrap(), t.identity());
    let mesh = String::from_utf8(texts.mesh).unwrap();
    let mut names: Vec<&str> = mesh.lines().filter_map(|line| line.strip_prefix("usemtl ")).collect();
    names.sort_unstable();
    assert_eq!(names, ["unnamed", "unnamed 2", "unnamed 3", "unnamed 4"]);
}

#[test]
fn what_cannot_be_an_obj_says_so() {
    let folder = folder("what_cannot_be_an_obj_says_so");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    let files = || fs::read_dir(&folder).unwrap().map(|f| f.unwrap().file_name()).collect::<BTreeSet<_>>();
    fs::write(folder.join("other.obj"), "v 0 0 0\n").unwrap();
    let mut odd = fixtures::bridge();
    odd.sources[0] = "two\nlines".into();
    fs::write(folder.join("odd.hpan"), &build(&odd, &Options::default()).unwrap().image[..]).unwrap();
    let mut damaged = fs::read(folder.join("bridge.hpan")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    damaged[2000] ^= 1;
    fs::write(folder.join("damaged.hpan"), damaged).unwrap();
    let before = files();
    for (code, arguments, parts) in [
        (3, &["odd.hpan"][..], &["odd.hpan: ", "\"two\\nlines\"", "no name in an OBJ"][..]),
        (2, &["damaged.hpan"], &["damaged.hpan: "]),
        (2, &["bridge.obj"], &["bridge.obj: this is not a terrain image"]),
        (2, &["none.hpan"], &["none.hpan: "]),
        (2, &["bridge.hpan", "-o", "bridge.obj"], &["bridge.obj: the image was built from this very file"]),
        (2, &["bridge.hpan", "-o", "other.obj"], &["other.obj: there is a file here already", "--force"]),
        (2, &["bridge.hpan", "-o", "bridge.stl"], &["bridge.stl: an OBJ is called FILE.obj"]),
        (2, &["bridge.hpan", "-o", "no/such/folder.obj"], &["no/such/folder.obj: "]),
    ] {
        let arguments: Vec<&str> = ["export", "obj"].iter().chain(arguments).copied().collect();
        holds(&error(code, &folder, &arguments), parts);
        assert_eq!(files(), before, "{arguments:?}");
    }
    // never the mesh from which the image was built, whatever it is called now
    fs::rename(folder.join("bridge.obj"), folder.join("moved.obj")).unwrap();
    for force in [&["--force"][..], &[]] {
        let arguments = [&["export", "obj", "bridge.hpan", "-o", "moved.obj"], force].concat();
        let why = error(2, &folder, &arguments);
        holds(&why, &["moved.obj: the image was built from this very file; name another one with -o"]);
        assert_eq!(fs::read_to_string(folder.join("moved.obj")).unwrap(), BRIDGE);
    }
    expect(0, &folder, &["export", "obj", "bridge.hpan", "-o", "other.obj", "--force"]);

    // an image without a record, divided by rules that its bytes do not tell
    let rules = Options { split: Some(Split::DENSE), ..Options::default() };
    fs::write(folder.join("plain.hpan"), &build(&fixtures::town(1), &rules).unwrap().image[..]).unwrap();
    let [out, err] = expect(0, &folder, &["export", "obj", "plain.hpan"]);
    assert!(!out.contains("proven"), "{out}");
    holds(&err, &["warning: plain.hpan: the image records no build options"]);
    let [_, err] = expect(0, &folder, &["export", "obj", "plain.hpan", "--force", "--unproven"]);
    assert_eq!(err, "");
}

/// Files that are written together name each other, and the next line to type works.
#[cfg(unix)]
#[test]
fn odd_names_of_exports_are_read_again() {
    let folder = folder("odd_names_of_exports_are_read_again");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let odd = "it's $(one)\n\u{9b}'.hpan";
    expect(0, &folder, &["build", "bridge.obj", "-o", odd]);
    // no line of an OBJ holds such a name
    let files = || fs::read_dir(&folder).unwrap().count();
    let before = files();
    for arguments in [&[odd][..], &[odd, "-o", "two  blanks.obj"]] {
        let why = error(2, &folder, &[&["export", "obj"], arguments].concat());
        holds(&why, &["an OBJ cannot name this file"]);
        assert_eq!(files(), before);
    }
    // the others are found, from what is printed and from what the files say
    for name in ["-q.obj", "it's \u{fc} $HOME `x` \"y\" \\ #.obj"] {
        let place = format!("./{name}");
        let [out, _] = expect(0, &folder, &["export", "obj", odd, "-o", &place]);
        let next = out.lines().find_map(|l| l.strip_prefix("next: hardpan ")).unwrap();
        let toml = fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        let said = toml.lines().find_map(|l| l.strip_prefix("# To build it again: hardpan ")).unwrap();
        for line in [next, said] {
            let script = format!("\"$0\" {line} -o again.hpan");
            let done = Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).current_dir(&folder).output().unwrap();
            assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
            assert_eq!(identity(&folder, "again.hpan"), identity(&folder, odd));
        }
        let obj = fs::read_to_string(folder.join(name)).unwrap();
        let library = obj.lines().find_map(|l| l.strip_prefix("mtllib ")).unwrap();
        assert!(folder.join(library).is_file(), "{library}");
        let [_, err] = expect(0, &folder, &["build", &place, "--report", "r.json", "-o", "again.hpan", "--force"]);
        let lines: Vec<&str> = err.lines().collect();
        assert!(lines.len() == 1 && lines[0].contains(": mu is 0.85 by default of "), "the library is found: {err}");
    }
    // a message has one line, and steers no terminal
    for arguments in [&["info", "a\nb\u{1b}[31m"][..], &["build", "a\nb\u{1b}[31m"], &["materials", "a\nb\u{1b}[31m"]] {
        holds(&error(2, &folder, arguments), &["a\\nb\\u{1b}[31m: there is no such file"]);
    }
    let [out, _] = expect(0, &folder, &["info", odd]);
    holds(&out, &["it's $(one)\\n\\u{9b}'.hpan: Hardpan image"]);
}

#[test]
fn an_image_of_an_export_states_the_error_of_the_first() {
    let mut scene = fixtures::town(1);
    scene.positions.iter_mut().for_each(|p| p[0] += 1e-3);
    // a hairline gap somewhere: vertices of every fifth triangle of their own, moved a little
    for i in (0..scene.triangles.len()).step_by(5) {
        for k in 0..3 {
            let [x, y, z] = scene.positions[scene.triangles[i].v[k] as usize];
            scene.triangles[i].v[k] = scene.positions.len() as u32;
            scene.positions.push([x + 5e-4, y, z]);
        }
    }
    let options = Options { tile_log2: Some(16), ..Options::default() };
    let first = build(&scene, &options).unwrap();
    assert!(first.report.stitch.moved[0] > 0.0, "{:?}", first.report.stitch);
    let t = Terrain::open(&first.image).unwrap();
    let obj = Obj::new(&t).unwrap();
    let known = Settings { build: options, ..Settings::default() };
    let settings = obj.settings(&known, "x.obj");
    let stated = settings.build.source_error.clone().unwrap();
    assert!(!stated.squares.is_empty());
    let ground = hardpan_builder::repair(&scene, &known.build).unwrap().0;
    let errors = |options: &Options| {
        let again = build(&ground, options).unwrap();
        let t = Terrain::open(&again.image).unwrap();
        let tiles: Vec<_> = decode::tiles(&t).map(|tile| ([tile.head.x, tile.head.y], tile.head.error)).collect();
        ((t.header().error_plan, t.header().error_height), tiles, t.identity())
    };
    let (head, tiles, id) = errors(&settings.build);
    assert_eq!((head, id), ((t.header().error_plan, t.header().error_height), t.identity()));
    // smaller tiles: none states less than the tile that held it
    let (finer_head, finer, _) = errors(&Options { tile_log2: Some(14), ..settings.build.clone() });
    assert_eq!(finer_head, head);
    for (at, error) in &finer {
        let parent = tiles.iter().find(|(p, _)| *p == at.map(|v| v >> 2)).unwrap().1;
        assert_eq!(*error, parent);
    }
    // larger ones: the most of what they hold
    let (coarser_head, coarser, _) = errors(&Options { tile_log2: Some(18), ..settings.build.clone() });
    assert_eq!(coarser_head, head);
    for (at, error) in &coarser {
        let parts = tiles.iter().filter(|(p, _)| p.map(|v| v >> 2) == *at).map(|t| t.1);
        let most = parts.fold([0.0f64; 2], |m, e| [m[0].max(e[0]), m[1].max(e[1])]);
        assert_eq!(*error, most);
    }
    // of a source that is not on the lattice, rounding comes on top; other moves too
    let mut rough = fixtures::flat();
    let plain = build(&rough, &Options::default()).unwrap().report.packed.error;
    let known = SourceError { rest: [0.5, 0.25], side: 1.0, squares: vec![[1e9, 1e9, 9.0, 9.0]] };
    let with = Options { source_error: Some(known), ..Options::default() };
    assert_eq!(build(&rough, &with).unwrap().report.packed.error, [0.5, 0.25]);
    rough.positions[0][2] += 1e-6;
    assert_eq!(build(&rough, &with).unwrap().report.packed.error, [0.5 + plain[0], 0.25 + plain[1]]);
    let wrong = SourceError { rest: [-1.0, 0.0], side: 1.0, squares: Vec::new() };
    assert!(build(&rough, &Options { source_error: Some(wrong), ..Options::default() }).is_err());
    assert_eq!(Obj::new(&t).map(|o| o.triangles.len()), Ok(t.header().triangles as usize));
}

/// A PNG: width, height, pixels.
fn decoded(file: &Path) -> (usize, usize, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(file).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    let pixels = bytes[..info.buffer_size()].as_chunks().0.to_vec();
    (info.width as usize, info.height as usize, pixels)
}

/// Draws one map, and gives back its facts and a pixel of the ground by column and row.
fn map(folder: &Path, image: &str, map: &str, more: &[&str]) -> (Value, impl Fn(usize, usize) -> [u8; 3] + use<>) {
    let arguments = ["export", "png", image, "--map", map, "-o", "map.png", "--force", "--json"];
    let arguments: Vec<&str> = arguments.iter().chain(more).copied().collect();
    let [out, err] = expect(0, folder, &arguments);
    assert!(err.is_empty() || err.starts_with("note: no ground is met"), "{err}");
    let facts: Value = serde_json::from_str::<Value>(&out).unwrap()[0].take();
    let (width, height, pixels) = decoded(&folder.join("map.png"));
    assert_eq!((facts["width"].as_u64(), facts["height"].as_u64()), (Some(width as u64), Some(height as u64)));
    let at: Vec<usize> = facts["ground_at"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect();
    // hatched or not, it is no ground
    (facts, move |x, y| Some(pixels[(at[1] + y) * width + at[0] + x]).filter(|c| *c != HATCH).unwrap_or(NOTHING))
}

const DARK: [u8; 3] = [68, 1, 84];
const LIGHT: [u8; 3] = [253, 231, 37];
const NOTHING: [u8; 3] = [236, 238, 240];
/// The lines on it.
const HATCH: [u8; 3] = [176, 180, 186];
const HOLE: [u8; 3] = [0, 114, 178];
const EDGE: [u8; 3] = [213, 94, 0];
const STEP: [u8; 3] = [170, 51, 119];

/// A floor at 0 with a hole, a deck over part of it.
fn pierced(test: &str) -> PathBuf {
    let folder = folder(test);
    let mut text = String::from(BRIDGE.split_once("o deck").unwrap().1);
    text = format!("o deck{}", text.replace("f 5 6 7 8", "f 1 2 3 4"));
    text += "o floor\nusemtl Asphalt\n";
    for y in [-50, -20, 20, 50] {
        [-50, -30, -10, 50].iter().for_each(|x| text += &format!("v {x} {y} 0\n"));
    }
    for (i, j) in (0..3).flat_map(|j| (0..3).map(move |i| (i, j))).filter(|c| *c != (1, 1)) {
        let a = 5 + 4 * j + i;
        text += &format!("f {a} {} {} {}\n", a + 1, a + 5, a + 4);
    }
    fs::write(folder.join("pierced.obj"), text).unwrap();
    fs::write(
        folder.join("s.toml"),
        "[[material]]\nname = \"Asphalt\"\nmu = 0.9\n[[material]]\nname = \"Steel plate\"\nmu = 0.3\n",
    )
    .unwrap();
    expect(0, &folder, &["build", "pierced.obj", "--settings", "s.toml"]);
    folder
}

#[test]
fn maps_show_what_the_kernel_answers() {
    let folder = pierced("maps_show_what_the_kernel_answers");
    let bytes = Image::read(folder.join("pierced.hpan")).unwrap();
    let t = Terrain::open(&bytes).unwrap();
    // 121 x 77 points of a window that reaches beyond the ground
    let [x0, y0, step] = [-71.3, -40.1, 0.97];
    let (x1, y1) = (x0 + 121.0 * step, y0 + 77.0 * step);
    let window = format!("{x0},{y0},{x1},{y1}");
    let view = ["--window", &window, "--size", "121x77"];
    let each = |see: &mut dyn FnMut(usize, usize, [f64; 3], Answer)| {
        for (column, row) in (0..77).flat_map(|row| (0..121).map(move |column| (column, row))) {
            let p = [x0 + (column as f64 + 0.5) * step, y1 - (row as f64 + 0.5) * step, 50.0];
            see(column, row, p, t.closest(p));
        }
    };

    let (facts, mu) = map(&folder, "pierced.hpan", "mu", &[&view[..], &["--range", "0.3,0.9"]].concat());
    assert_eq!((&facts["pixels"], &facts["facts"]["mu"]), (&json!([121, 77]), &json!([0.3, 0.9])));
    let mut seen = [0; 3];
    each(&mut |x, y, p, a| {
        let (kind, colour) = match (a.found(), t.surface(&a)[0]) {
            (false, _) => (0, NOTHING),
            (true, 0.3) => (1, DARK),
            (true, _) => (2, LIGHT),
        };
        seen[kind] += 1;
        assert_eq!(mu(x, y), colour, "at {p:?}");
    });
    assert!(seen.iter().all(|&n| n > 300), "{seen:?}");

    let (facts, layers) = map(&folder, "pierced.hpan", "layers", &view);
    assert_eq!(facts["facts"]["most"], json!(2));
    each(&mut |x, y, p, _| {
        let wanted = [NOTHING, [206; 3], DARK][t.layers(p, &mut [Hit::NONE; 4]).total];
        assert_eq!(layers(x, y), wanted, "at {p:?}");
    });

    let (facts, cost) = map(&folder, "pierced.hpan", "cost", &[&view[..], &["--range", "1,10"]].concat());
    let (mut most, mut shades) = (0, std::collections::BTreeMap::new());
    each(&mut |x, y, p, _| {
        let c = t.closest_costed(p).1;
        most = most.max(c.tests);
        let shade = *shades.entry((c.leaves > 0).then_some(c.tests)).or_insert(cost(x, y));
        assert_eq!(cost(x, y), shade, "at {p:?}");
    });
    assert_eq!(shades[&Some(most)], LIGHT);
    assert_eq!((&facts["facts"]["tests"], &facts["facts"]["stated_tests"]), (&json!(most), &json!(t.bound().tests)));
    assert_eq!(shades.values().collect::<BTreeSet<_>>().len(), shades.len(), "{shades:?}");

    let (facts, leaves) = map(&folder, "pierced.hpan", "leaves", &view);
    let mut colours = std::collections::BTreeMap::new();
    each(&mut |x, y, p, a| {
        let leaf = a.found().then_some([a.hit.place[0], a.hit.place[1]]);
        assert_eq!(*colours.entry(leaf).or_insert(leaves(x, y)), leaves(x, y), "at {p:?}");
    });
    assert_eq!(facts["facts"]["bundles"], json!(colours.len() - 1));

    let (facts, materials) = map(&folder, "pierced.hpan", "materials", &view);
    let mut colours = std::collections::BTreeMap::new();
    each(&mut |x, y, p, a| {
        let material = a.found().then_some(a.hit.material);
        assert_eq!(*colours.entry(material).or_insert(materials(x, y)), materials(x, y), "at {p:?}");
    });
    assert_eq!(colours.values().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(facts["facts"]["materials"].as_array().unwrap().len(), 2);

    let (facts, errors) = map(&folder, "pierced.hpan", "error", &view);
    each(&mut |x, y, p, a| assert_eq!(errors(x, y) == NOTHING, !a.found(), "at {p:?}"));
    assert_eq!(facts["facts"]["height"], json!([t.header().error_height, t.header().error_height]));

    // the hole is enclosed, what lies west of the ground is not
    let (facts, holes) = map(&folder, "pierced.hpan", "holes", &view);
    let (mut counts, mut number) = ([0; 2], 0);
    each(&mut |x, y, p, a| {
        let colour = holes(x, y);
        if ![HOLE, NOTHING, EDGE, [200; 3]].contains(&colour) {
            number += 1;
        } else if colour != EDGE {
            assert_eq!(
                (colour == HOLE, colour == NOTHING),
                (!a.found() && p[0] > -49.0, !a.found() && p[0] < -50.0),
                "{p:?}"
            );
        }
        counts[0] += usize::from(!a.found() && p[0] > -49.0);
        counts[1] += usize::from(colour == EDGE);
    });
    let facts = &facts["facts"];
    assert!((counts[0] as f64 * step * step - 800.0).abs() < 60.0, "{counts:?}");
    let seen = facts["holes"][0]["pixels"].as_f64().unwrap();
    assert!((seen * step * step - 800.0).abs() < 60.0 && facts["enclosed_holes"] == json!(1), "{facts}");
    assert!(counts[1] > 150 && (100..=11 * 16).contains(&number), "{counts:?} {number}");
    // four sides of the hole, one of the deck's ends and its two sides, and the ground's border inside the window
    let (whole, _) = map(&folder, "pierced.hpan", "holes", &[]);
    assert_eq!([&whole["facts"]["open_edges"], &whole["facts"]["open_length"]], [&json!(20), &json!(740.0)]);

    let (facts, relief) = map(&folder, "pierced.hpan", "relief", &view);
    assert_eq!(facts["facts"]["heights"], json!([0.0, 6.0]));
    each(&mut |x, y, p, a| {
        if [[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.0, 1.0]]
            .iter()
            .all(|d| t.closest([p[0] + d[0] * step, p[1] + d[1] * step, 50.0]).found() == a.found())
        {
            assert_eq!(relief(x, y) == NOTHING, !a.found(), "at {p:?}");
        }
    });
}

/// Squares of one sheet over `columns` x `rows` cells of 1 m at a height, but for some; `first` is its first vertex.
fn floor(columns: usize, rows: usize, z: f64, first: usize, but: &[(usize, usize)]) -> String {
    let mut text = String::new();
    for (i, j) in (0..=rows).flat_map(|j| (0..=columns).map(move |i| (i, j))) {
        text += &format!("v {i} {j} {z}\n");
    }
    for (i, j) in (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j))).filter(|c| !but.contains(c)) {
        let a = first + j * (columns + 1) + i;
        text += &format!("f {a} {} {} {}\n", a + 1, a + columns + 2, a + columns + 1);
    }
    text
}

#[test]
fn holes_are_listed_with_place_and_size() {
    let folder = folder("holes_are_listed_with_place_and_size");
    // holes of one, two and three cells, and a bay at the border that is none
    let but = [(3, 3), (6, 6), (7, 6), (10, 2), (10, 3), (10, 4), (0, 9)];
    fs::write(folder.join("f.obj"), floor(20, 20, 0.0, 1, &but)).unwrap();
    expect(0, &folder, &["build", "f.obj"]);
    let (facts, _) = map(&folder, "f.hpan", "holes", &["--per-metre", "10"]);
    let facts = &facts["facts"];
    assert_eq!([&facts["enclosed_holes"], &facts["narrow_gaps"]], [&json!(3), &json!(0)]);
    let bytes = Image::read(folder.join("f.hpan")).unwrap();
    let t = Terrain::open(&bytes).unwrap();
    let list = facts["holes"].as_array().unwrap();
    let wanted = [([1.0, 3.0], [10.5, 3.5]), ([2.0, 1.0], [7.0, 6.5]), ([1.0, 1.0], [3.5, 3.5])];
    for (hole, (size, place)) in list.iter().zip(wanted) {
        let at = [0, 1].map(|i| hole["at"][i].as_f64().unwrap());
        assert_eq!([&hole["size"], &hole["pixels"]], [&json!(size), &json!((100.0 * size[0] * size[1]) as u64)]);
        assert!((0..2).all(|i| (at[i] - place[i]).abs() < 0.11) && !t.closest([at[0], at[1], 0.0]).found(), "{hole}");
    }
    let [out, _] = expect(0, &folder, &["export", "png", "f.hpan", "--map", "holes", "--per-metre", "10"]);
    holds(
        &out,
        &[
            "3 enclosed holes seen at 10 cm a pixel; gaps of up to 25 cm looked for along the open edges: none;",
            "\n  1: hole 1 m by 3 m at 10.",
            "\n  3: hole 1 m by 1 m at 3.4",
        ],
    );
    // many: the largest, and how many others
    let but: Vec<(usize, usize)> = (0..12).map(|k| (1 + 2 * (k % 6), 1 + 2 * (k / 6))).collect();
    fs::write(folder.join("g.obj"), floor(14, 6, 0.0, 1, &but)).unwrap();
    expect(0, &folder, &["build", "g.obj"]);
    let [out, _] = expect(0, &folder, &["export", "png", "g.hpan", "--map", "holes"]);
    holds(&out, &["12 enclosed holes seen", "\n  and 4 no larger\n"]);
    assert!(
        (1..=8).all(|i| out.matches(&format!("\n  {i}: hole ")).count() == 1) && out.matches(": hole ").count() == 8
    );
    // each of those has its number in the picture, the others have none: a white box beside it
    let (facts, pixel) = map(&folder, "g.hpan", "holes", &["--per-metre", "60"]);
    let boxes = facts["facts"]["holes"].as_array().unwrap().iter().map(|hole| {
        let at = [0, 1].map(|i| hole["at"][i].as_f64().unwrap());
        let [x, y] = [(at[0] * 60.0) as usize, ((6.0 - at[1]) * 60.0) as usize];
        let near = (y - 55..y + 55).flat_map(|y| (x - 55..x + 55).map(move |x| (x, y)));
        near.filter(|&(x, y)| pixel(x, y) == [255; 3]).count()
    });
    let boxes: Vec<usize> = boxes.collect();
    assert!(boxes[..8].iter().all(|n| *n > 60) && boxes[8..].iter().all(|n| *n == 0) && boxes.len() == 12, "{boxes:?}");
    // none
    fs::write(folder.join("w.obj"), floor(3, 3, 0.0, 1, &[])).unwrap();
    expect(0, &folder, &["build", "w.obj"]);
    let [out, _] = expect(0, &folder, &["export", "png", "w.hpan", "--map", "holes", "--size", "300"]);
    holds(
        &out,
        &[
            "no enclosed hole seen at 1 cm a pixel; gaps of up to 25 cm looked for along the open edges: none; 12 open edges here, 12 m long\n",
        ],
    );
    // in a window only what lies in it: half of one side, and a corner of another
    let (facts, _) = map(&folder, "w.hpan", "holes", &["--window", "0.5,-1,1.25,1", "--per-metre", "100"]);
    assert_eq!([&facts["facts"]["open_edges"], &facts["facts"]["open_length"]], [&json!(2), &json!(0.75)]);
}

/// A hole that bars lie over is a hole between each two of them, and a comb of very many edges is soon drawn.
#[test]
fn holes_of_a_comb_are_soon_listed() {
    let folder = folder("holes_of_a_comb_are_soon_listed");
    let (rows, teeth) = (32, 500);
    let mut text = String::new();
    let mut face = |corners: [[f64; 2]; 4]| {
        text += &corners.map(|[x, y]| format!("v {x} {y} 0\n")).concat();
        text += "f -4 -3 -2 -1\n";
    };
    let mut quad = |[x0, y0]: [f64; 2], [x1, y1]: [f64; 2]| face([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]);
    let (wide, deep) = (0.4 * teeth as f64, 5.0 * rows as f64);
    quad([-5.0, -5.0], [0.0, deep + 5.0]);
    quad([wide, -5.0], [wide + 5.0, deep + 5.0]);
    quad([0.0, -5.0], [wide, 0.3]);
    quad([0.0, deep], [wide, deep + 5.0]);
    for row in 0..rows {
        let y = 5.0 * row as f64;
        for part in 0..2 * teeth {
            let x = 0.2 * part as f64;
            quad([x, y], [x + 0.2, y + 0.5]);
            if part % 2 == 0 {
                quad([x, y + 0.5], [x + 0.2, y + 4.0]);
            }
        }
    }
    fs::write(folder.join("c.obj"), text).unwrap();
    expect(0, &folder, &["build", "c.obj", "--up", "z", "--unit", "m"]);
    for size in ["1000", "4000"] {
        let [out, _] = soon(10, 0, &folder, &["export", "png", "c.hpan", "--map", "holes", "--size", size]);
        let rows = rows.to_string();
        holds(
            &out,
            &[
                &format!("{rows} enclosed holes seen"),
                "\n  1: hole 200 m by 4.",
                " looked for along the open edges: 16,000; ",
            ],
        );
    }
}

/// A crack is found at any size of a pixel, with its width.
#[test]
fn cracks_are_found_whatever_a_pixel_is() {
    let folder = folder("cracks_are_found_whatever_a_pixel_is");
    // 60 m of ground, cut by a crack of 30 m along x = 20, which is 6 cm wide in its middle and closed at its ends
    let text = "v -40 0 0\nv 20 0 0\nv 80 0 0\nv 80 60 0\nv 20 60 0\nv -40 60 0\nv 20 15 0\nv 20 45 0\nv 19.97 30 0\nv 20.03 30 0\n\
                f 1 2 7 9 8 5 6\nf 2 3 4 5 8 10 7\n";
    fs::write(folder.join("crack.obj"), text).unwrap();
    expect(0, &folder, &["build", "crack.obj"]);
    for size in ["30", "300", "1600"] {
        let (facts, pixel) = map(&folder, "crack.hpan", "holes", &["--size", size]);
        let facts = &facts["facts"];
        assert_eq!([&facts["enclosed_holes"], &facts["narrow_gaps"]], [&json!(0), &json!(1)], "{size}: {facts}");
        let gap = &facts["gaps"][0];
        let [x, y, width, length] =
            [&gap["at"][0], &gap["at"][1], &gap["width"], &gap["length"]].map(|v| v.as_f64().unwrap());
        assert!((x - 20.0).abs() < 0.03 && (15.0..45.0).contains(&y), "{gap}");
        let wanted = 0.06 * (1.0 - (y - 30.0).abs() / 15.0);
        assert!((width - wanted).abs() < 0.01 * wanted, "{gap}: {wanted}");
        assert!((26.0..30.0).contains(&length), "{gap}");
        let [columns, rows] =
            [0, 1].map(|i| if i == 0 { size.parse::<usize>().unwrap() } else { size.parse::<usize>().unwrap() / 2 });
        let blue =
            (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y))).filter(|&(x, y)| pixel(x, y) == HOLE).count();
        assert!(blue > 20, "a ring is drawn");
    }
    let [out, _] = expect(0, &folder, &["export", "png", "crack.hpan", "--map", "holes", "--size", "100"]);
    let looked = "no enclosed hole seen at 1.2 m a pixel; gaps of up to 1.8 m looked for along the open edges: 1;";
    holds(&out, &[looked, "\n  1: gap 5."]);
    // what is printed can be asked, and is no ground
    let place = out.lines().find_map(|l| l.strip_prefix("  1: gap ")?.rsplit_once(" at ")).unwrap().1;
    holds(&expect(1, &folder, &["query", "crack.hpan", place, "--strict"])[0], &["no ground"]);
    // and so fine that pixels show it
    let (facts, pixel) = map(&folder, "crack.hpan", "holes", &["--window", "19,10,21,50", "--per-metre", "100"]);
    assert_eq!([&facts["facts"]["enclosed_holes"], &facts["facts"]["narrow_gaps"]], [&json!(0), &json!(1)]);
    assert!((95..105).filter(|&x| pixel(x, 2000) == HOLE).count() >= 6);
}

/// A slit that runs aslant is told once, by its width and length: as a gap, or as a hole if it is wider than those that
/// are looked for.
#[test]
fn slits_are_told_once_by_width_and_length() {
    let folder = folder("slits_are_told_once_by_width_and_length");
    let slit = |width: f64, degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (far, wide) = (2.2, width / 2.0);
        let rim = [[-far, -wide], [far, -wide], [far, wide], [-far, wide]];
        let all = [[-5.0, -5.0], [5.0, -5.0], [5.0, 5.0], [-5.0, 5.0]].into_iter().chain(rim);
        let text: String = all.map(|[x, y]| format!("v {} {} 0\n", x * cos - y * sin, x * sin + y * cos)).collect();
        fs::write(folder.join("s.obj"), text + "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n").unwrap();
        expect(0, &folder, &["build", "s.obj", "--stitch", "false"]);
    };
    let listed = |window: &str, pixels: &str| {
        let given = ["export", "png", "s.hpan", "--map", "holes", "--force", "--window", window, "--per-metre", pixels];
        let [out, _] = expect(0, &folder, &given);
        let found: Vec<String> = out.lines().filter(|line| line.starts_with("  ")).map(String::from).collect();
        (out, found)
    };
    for degrees in [0.0, 49.0, 120.0] {
        slit(0.002, degrees);
        for pixels in ["20", "100", "300"] {
            let (out, found) = listed("-3,-3,3,3", pixels);
            let [one] = &found[..] else { panic!("{out}") };
            let (width, rest) = one.strip_prefix("  1: gap ").unwrap().split_once(" mm wide, 4.4 m long at ").unwrap();
            assert!((width.parse::<f64>().unwrap() - 2.0).abs() < 0.4 && rest.starts_with(['0', '-']), "{one}");
            // along the pixels' rows it may lie between them
            let besides = if (degrees, pixels) == (49.0, "300") { " besides gaps" } else { "" };
            assert!(out.contains(&format!("no enclosed hole{besides}")), "{out}");
        }
        slit(0.3, degrees);
        let (out, found) = listed("-3,-3,3,3", "100");
        let size = if degrees == 0.0 { "4.4 m by 30 cm at" } else { "31 cm wide, 4.41 m long at" };
        let [one] = &found[..] else { panic!("{out}") };
        assert!(one.starts_with(&format!("  1: hole {size} ")), "{one}");
        let (facts, _) = map(&folder, "s.hpan", "holes", &["--window", "-3,-3,3,3", "--per-metre", "100"]);
        let hole = &facts["facts"]["holes"][0];
        let near = |key: &str, metres: f64| hole[key].as_f64().is_some_and(|v| (v - metres).abs() < 0.005);
        match degrees {
            0.0 => assert!(hole["width"].is_null() && hole["length"].is_null(), "{hole}"),
            _ => assert!(near("width", 0.31) && near("length", 4.41), "{hole}"),
        }
        holds(&out, &["1 enclosed hole seen at 1 cm a pixel"]);
    }
    // what a slit runs into is a hole of its own
    let text = "v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nv -.3 -.2 0\nv 0 -.2 0\nv 0 -.001 0\nv 3 -.001 0\nv 3 .001 0\n\
                v 0 .001 0\nv 0 .2 0\nv -.3 .2 0\nf 1 2 8 7 6 5\nf 2 3 9 8\nf 3 4 12 11 10 9\nf 4 1 5 12\n";
    fs::write(folder.join("s.obj"), text).unwrap();
    expect(0, &folder, &["build", "s.obj", "--stitch", "false"]);
    let (out, found) = listed("-1,-1,4,1", "100");
    holds(&out, &["1 enclosed hole seen at", "\n  1: hole 30 cm by 40 cm at -0.1", "\n  2: gap 1."]);
    assert_eq!(found.len(), 2, "{out}");
}

/// Two lanes of 20 m as one OBJ, from y = 0 on, so far apart, the other one so much higher; `first` is the first
/// vertex.
fn lanes(apart: f64, z: f64, rise: f64, first: usize) -> String {
    let mut text = String::new();
    for (y, z) in [(0.0, z), (3.0, z), (3.0 + apart, z + rise), (6.0, z + rise)] {
        text += &format!("v 0 {y} {z}\nv 20 {y} {z}\n");
    }
    let [a, b] = [first, first + 4];
    text + &format!("f {a} {} {} {}\nf {b} {} {} {}\n", a + 1, a + 3, a + 2, b + 1, b + 3, b + 2)
}

/// A gap that is open at both ends is one gap, however fine the picture, and verify fails if it is asked for gaps as
/// wide.
#[test]
fn gaps_between_lanes_are_found_once() {
    let folder = folder("gaps_between_lanes_are_found_once");
    fs::write(folder.join("gap.obj"), lanes(0.012, 0.0, 0.0, 1)).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"\"\nmu = 0.9\n").unwrap();
    let [out, err] = expect(0, &folder, &["build", "gap.obj", "--settings", "s.toml", "--strict"]);
    holds(&out, &["\nbeside 8 open edges: 1 gap of up to 2 m; "]);
    holds(&err, &["note: gap.obj: beside open edges there is a gap 1.2 cm wide, 20 m long at "]);
    for size in ["1", "20", "80", "200"] {
        let (facts, _) = map(&folder, "gap.hpan", "holes", &["--per-metre", size]);
        let facts = &facts["facts"];
        assert_eq!([&facts["enclosed_holes"], &facts["narrow_gaps"]], [&json!(0), &json!(1)], "{size}: {facts}");
        let gap = &facts["gaps"][0];
        let [x, y, width, length] =
            [&gap["at"][0], &gap["at"][1], &gap["width"], &gap["length"]].map(|v| v.as_f64().unwrap());
        assert!((x - 10.0).abs() < 0.5, "about its middle: {gap}");
        // what is stored is off by half a step at most
        assert!((y - 3.006).abs() < 3e-4 && (width - 0.012).abs() < 3e-4, "{gap}");
        assert!((length - 20.0).abs() < 1e-3, "{gap}");
    }
    let (facts, _) = map(&folder, "gap.hpan", "holes", &["--window", "4,2.9,5,3.1"]);
    assert_eq!(facts["facts"]["narrow_gaps"], json!(1), "where one looks closely, too");
    // its edges are drawn all along, the others as they are
    let (_, pixel) = map(&folder, "gap.hpan", "holes", &["--per-metre", "20"]);
    assert!((0..400).all(|x| pixel(x, 59) == HOLE || pixel(x, 60) == HOLE));
    assert!([0, 119].iter().all(|&y| (0..400).all(|x| pixel(x, y) == EDGE)));
    // a ring is whole where the gap lies at the border
    let (_, pixel) = map(&folder, "gap.hpan", "holes", &["--window", "4,3,8,6", "--size", "800"]);
    let round = (0..60).map(|y| (0..800).filter(|&x| pixel(x, 599 - y) == HOLE).count()).collect::<Vec<_>>();
    assert!(round[4..14].iter().all(|n| *n > 0) && round[14..].iter().all(|n| *n == 0), "{round:?}");
    let (facts, _) = map(&folder, "gap.hpan", "holes", &["--per-metre", "20", "--max-gap", "0.01"]);
    assert_eq!([&facts["facts"]["narrow_gaps"], &facts["facts"]["max_gap"]], [&json!(0), &json!(0.01)]);
    for (arguments, why) in [
        (&["--map", "holes", "--max-gap", "0"][..], "a length from 0.001 to 100 m"),
        (&["--map", "holes", "--max-gap", "-1"], "a length from 0.001 to 100 m"),
        (&["--map", "relief", "--max-gap", "0.1"], "no map but holes shows gaps and steps; add --map holes"),
    ] {
        holds(&expect(2, &folder, &[&["export", "png", "gap.hpan"], arguments].concat())[1], &[why]);
    }

    let found = check(&folder, "gap", &["gap.hpan", "--max-gap", "0.05"]);
    let gap = &found["findings"][0];
    assert_eq!([&found["found"], &found["limit"]], [&json!(1), &json!(0.05)]);
    assert!((value(gap, "width") - 0.012).abs() < 3e-4, "{gap}");
    let place = gap["text"].as_str().unwrap().rsplit_once(" at ").unwrap().1;
    holds(&expect(1, &folder, &["query", "gap.hpan", place, "--strict"])[0], &["no ground"]);
    assert_eq!(check(&folder, "gap", &["gap.hpan", "--max-gap", "0.01"])["found"], json!(0));
    // a report has them too
    expect(0, &folder, &["build", "gap.obj", "--report", "gap.json"]);
    let report: Value = serde_json::from_slice(&fs::read(folder.join("gap.json")).unwrap()).unwrap();
    let gaps = &report["gaps"];
    assert_eq!([&gaps["open_edges"], &gaps["found"], &gaps["max_gap"]], [&json!(8), &json!(1), &json!(2.0)]);
    assert!((gaps["first"][0]["width"].as_f64().unwrap() - 0.012).abs() < 3e-4, "{gaps}");
    // closed by a larger threshold
    let [_, err] = expect(0, &folder, &["build", "gap.obj", "--stitch", "64,64", "-o", "closed.hpan"]);
    assert_eq!(but_friction(&err), "");
    assert_eq!(check(&folder, "gap", &["closed.hpan", "--max-gap", "0.05"])["found"], json!(0));
}

/// Gaps, and ground without gaps.
#[test]
fn gaps_are_where_ground_ends_at_its_own_height() {
    let folder = folder("gaps_are_where_ground_ends_at_its_own_height");
    let found = |text: &str| -> Vec<[f64; 2]> {
        fs::write(folder.join("g.obj"), text).unwrap();
        expect(0, &folder, &["build", "g.obj"]);
        let (facts, _) = map(&folder, "g.hpan", "holes", &["--per-metre", "100", "--max-gap", "0.1"]);
        let gaps = facts["facts"]["gaps"].as_array().unwrap().clone();
        gaps.iter().map(|g| [&g["width"], &g["at"][2]].map(|v| v.as_f64().unwrap())).collect()
    };
    let near = |found: Vec<[f64; 2]>, wanted: &[[f64; 2]]| {
        let equal = found.iter().flatten().zip(wanted.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-3);
        assert!(found.len() == wanted.len() && equal, "{found:?}: {wanted:?}");
    };
    near(found(&lanes(0.05, 0.0, 0.0, 1)), &[[0.05, 0.0]]);
    near(found(&lanes(0.2, 0.0, 0.0, 1)), &[]);
    // a kerb is met, and a cliff
    near(found(&lanes(0.05, 0.0, 0.15, 1)), &[[0.05, 0.075]]);
    near(found(&lanes(0.05, 0.0, 2.0, 1)), &[[0.05, 1.0]]);
    // one in a deck over whole ground, and one over the other
    let whole = |z: f64| format!("v 0 0 {z}\nv 20 0 {z}\nv 20 6 {z}\nv 0 6 {z}\nf 1 2 3 4\n");
    near(found(&(whole(0.0) + &lanes(0.05, 5.0, 0.0, 5))), &[[0.05, 5.0]]);
    near(found(&(lanes(0.05, 5.0, 0.0, 1) + &lanes(0.05, 0.0, 0.0, 9))), &[[0.05, 0.0], [0.05, 5.0]]);
    // a wall on both lips; but not what leaves a crack or goes on beneath or above the other side, nor the ground of a
    // slot
    let strip = |end: f64, z: f64| format!("v 0 3 {z}\nv 20 3 {z}\nv 20 {end} {z}\nv 0 {end} {z}\nf -4 -3 -2 -1\n");
    for (end, z) in [(3.05, 1.2), (3.05, -1.2), (3.04, 1.2), (3.04, -1.2), (4.0, 1.2), (4.0, -1.2)] {
        let crack: &[[f64; 2]] = if (end, z) == (3.05, 1.2) { &[] } else { &[[0.05, 0.0]] };
        near(found(&(lanes(0.05, 0.0, 0.0, 1) + &strip(end, z))), crack);
    }
    // a manhole whose floor is as wide as it is
    let road = "v 0 0 0\nv 20 0 0\nv 20 6 0\nv 0 6 0\nv 10 3 0\nv 10.08 3 0\nv 10.08 3.08 0\nv 10 3.08 0\n";
    let around = "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let floor = "v 10 3 -1.5\nv 10.08 3 -1.5\nv 10.08 3.08 -1.5\nv 10 3.08 -1.5\nf -4 -3 -2 -1\n";
    near(found(&format!("{road}{around}")), &[[0.08, 0.0]]);
    near(found(&format!("{road}{around}{floor}")), &[[0.08, 0.0]]);
    // ground right beneath, and a slope that comes near from beneath
    near(found(&(whole(-0.05) + &lanes(0.05, 0.0, 0.0, 5))), &[]);
    let slope =
        "v 0 0 0\nv 20 0 0\nv 20 3 0\nv 0 3 0\nf 1 2 3 4\nv 0 2 -1.8\nv 20 2 -1.8\nv 20 5 2.7\nv 0 5 2.7\nf 5 6 7 8\n";
    near(found(slope), &[]);
    // a jag of 60 degrees in the border
    near(
        found(
            "v 0 0 0\nv 1 0 0\nv 0.98 0.0346 0\nv 1.02 0.0346 0\nv 2 0 0\nv 2 -1 0\nv 0 -1 0\nf 1 3 2 7\nf 2 4 5 6 7\n",
        ),
        &[],
    );
}

/// The sides of a gap need not be of one height.
#[test]
fn gaps_say_how_much_higher_one_side_is() {
    let folder = folder("gaps_say_how_much_higher_one_side_is");
    for (rise, words) in [(0.0, " long at "), (0.15, " long, one side up to 15 cm higher at ")] {
        fs::write(folder.join("g.obj"), lanes(0.05, 0.0, rise, 1)).unwrap();
        expect(0, &folder, &["build", "g.obj", "--report", "g.json"]);
        let report: Value = serde_json::from_slice(&fs::read(folder.join("g.json")).unwrap()).unwrap();
        let gap = check(&folder, "gap", &["g.hpan", "--max-gap", "0.1"])["findings"][0].clone();
        holds(gap["text"].as_str().unwrap(), &[words]);
        for found in [report["gaps"]["first"][0]["rise"].as_f64().unwrap(), value(&gap, "rise")] {
            assert!((found - rise).abs() < 2e-5, "{gap}");
        }
    }
}

/// The widest come first, be they short; a crack around a plate is as long as its way around, and one along a bend as
/// the bend.
#[test]
fn gaps_are_told_widest_first_with_their_length_along_the_edge() {
    let folder = folder("gaps_are_told_widest_first_with_their_length_along_the_edge");
    let short = lanes(0.06, 0.0, 0.0, 9).replace("v 0 ", "v 40 ").replace("v 20 ", "v 41 ");
    // of two rings of corners about (0, 100), so far out, a part of a turn
    let band = |first: usize, [inner, outer]: [f64; 2], parts: usize| {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / 64.0;
        let at = |r: f64, k: usize| format!("v {:.6} {:.6} 0\n", r * angle(k).cos(), 100.0 + r * angle(k).sin());
        let corners: String = (0..=parts).map(|k| at(inner, k) + &at(outer, k)).collect();
        let faces = (0..parts).map(|k| first + 2 * k).map(|a| format!("f {a} {} {} {}\n", a + 1, a + 3, a + 2));
        corners + &faces.collect::<String>()
    };
    let bend = band(17, [10.0, 12.0], 32) + &band(17 + 66, [12.04, 14.0], 32);
    let plate = band(17 + 132, [0.5, 2.0], 64) + &band(17 + 132 + 130, [2.01, 4.0], 64);
    fs::write(folder.join("g.obj"), lanes(0.02, 0.0, 0.0, 1) + &short + &bend + &plate).unwrap();
    expect(0, &folder, &["build", "g.obj"]);
    let gaps = check(&folder, "gap", &["g.hpan", "--max-gap", "0.1"]);
    let turn = |r: f64| r * std::f64::consts::TAU;
    let wanted = [[0.06, 1.0], [0.04, turn(12.02) / 2.0], [0.02, 20.0], [0.01, turn(2.005)]];
    let [widths, lengths] = ["width", "length"].map(|name| values(&gaps, name));
    let sizes: Vec<[f64; 2]> = widths.into_iter().zip(lengths).map(|(width, length)| [width, length]).collect();
    let near = |a: &[f64; 2], b: &[f64; 2]| (a[0] - b[0]).abs() < 5e-4 && (a[1] / b[1] - 1.0).abs() < 0.01;
    assert!(sizes.len() == 4 && sizes.iter().zip(&wanted).all(|(a, b)| near(a, b)), "{sizes:?}");
    // what goes on wider than is asked for may be wider than all others
    let tapered = around(&[[-1.0, 0.0], [3.0, -0.3], [3.0, 0.3]]);
    fs::write(folder.join("t.obj"), tapered + &lanes(0.09, 20.0, 0.0, 7)).unwrap();
    let gaps = check(&folder, "gap", &["t.obj", "--stitch", "false", "--up", "z", "--max-gap", "0.1"]);
    assert_eq!(values(&gaps, "wider"), [1.0, 0.0]);
    assert!((values(&gaps, "width")[1] - 0.09).abs() < 3e-4 && (values(&gaps, "length")[1] - 20.0).abs() < 0.01);
}

/// A quay wall of a real town, 42 cm wide between a road and water of about its height.
#[test]
fn walls_of_a_real_town_are_no_gaps() {
    let folder = folder("walls_of_a_real_town_are_no_gaps");
    if let Some(file) = real_file("city/3dfier_innerbuffer_05.obj") {
        let gaps = check(&folder, "gap", &[file.to_str().unwrap(), "--up", "z", "--max-gap", "0.5"]);
        assert_eq!(gaps["found"], json!(0));
    }
}

/// Ground of 10 m around a hole with corners at these places, about the origin.
fn around(hole: &[[f64; 2]]) -> String {
    let count = hole.len();
    let mut text = String::new();
    for [x, y] in hole {
        let length = (x * x + y * y).sqrt();
        text += &format!("v {x} {y} 0\nv {} {} 0\n", 5.0 * x / length, 5.0 * y / length);
    }
    for k in 0..count {
        let (a, b) = (2 * k + 1, 2 * ((k + 1) % count) + 1);
        text += &format!("f {a} {} {} {b}\n", a + 1, b + 1);
    }
    text
}

/// Width and length of the one gap in some ground. At its place, as it is printed, there is no ground.
fn gap_of(folder: &Path, text: &str) -> [f64; 2] {
    fs::write(folder.join("h.obj"), text).unwrap();
    expect(0, folder, &["build", "h.obj", "--stitch", "false"]);
    let gaps = check(folder, "gap", &["h.hpan", "--max-gap", "0.5"]);
    assert_eq!(gaps["found"], json!(1), "{gaps}");
    let gap = &gaps["findings"][0];
    let place = gap["text"].as_str().unwrap().rsplit_once(" at ").unwrap().1;
    for place in [place, place.rsplit_once(',').unwrap().0] {
        holds(&expect(1, folder, &["query", "h.hpan", place, "--strict"])[0], &["no ground"]);
    }
    ["width", "length"].map(|name| value(gap, name))
}

/// A hole is a gap of one width, whatever its shape and however it is turned.
#[test]
fn holes_of_any_shape_are_gaps_however_they_are_turned() {
    let folder = folder("holes_of_any_shape_are_gaps_however_they_are_turned");
    for (sides, radius) in [(3, 0.02), (4, 0.0283), (5, 0.02), (6, 0.02), (8, 0.05), (16, 0.02)] {
        let turned = [0.0f64, 10.0, 30.0, 45.0, 77.0].map(|degrees| {
            let corner = |k: i32| {
                let a = degrees.to_radians() + std::f64::consts::TAU * f64::from(k) / f64::from(sides);
                [radius * a.cos(), radius * a.sin()]
            };
            gap_of(&folder, &around(&(0..sides).map(corner).collect::<Vec<_>>()))
        });
        // between the middle of a side and what lies opposite; half way there a triangle is narrower the other way
        let half = std::f64::consts::PI / f64::from(sides);
        let across = match sides {
            3 => radius,
            _ => radius * (half.cos() + if sides % 2 == 0 { half.cos() } else { 1.0 }),
        };
        for [width, length] in turned {
            assert!((0.93 * across..across + 0.0006).contains(&width), "{sides}: {turned:?}, {across}");
            assert!((0.8 * radius..2.02 * radius).contains(&length), "{sides}: {turned:?}");
            assert!((width - turned[0][0]).abs() < 0.05 * across, "{sides}: {turned:?}");
        }
    }
}

/// Steps are shown where they are asked for, in a colour of their own.
#[test]
fn the_map_of_holes_rings_steps() {
    let folder = folder("the_map_of_holes_rings_steps");
    fs::write(folder.join("s.obj"), lanes(0.0, 0.0, 0.02, 1)).unwrap();
    expect(0, &folder, &["build", "s.obj"]);
    let found = |more: &[&str]| {
        let (facts, pixel) = map(&folder, "s.hpan", "holes", &[&["--per-metre", "40"], more].concat());
        let [width, height] = ["width", "height"].map(|name| facts[name].as_u64().unwrap() as usize);
        let at: Vec<usize> =
            facts["ground_at"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect();
        let inside = (0..height - 200).flat_map(|y| (0..width - at[0]).map(move |x| (x, y)));
        let purple = inside.filter(|&(x, y)| pixel(x, y) == STEP).count();
        let [columns, rows] = [0, 1].map(|i| facts["pixels"][i].as_u64().unwrap() as usize);
        let whole = (0..rows).any(|y| (0..columns).all(|x| pixel(x, y) == STEP));
        assert_eq!(whole, purple > 50, "all along its edge");
        (facts["facts"].clone(), purple > 50)
    };
    let (facts, ringed) = found(&[]);
    assert_eq!((ringed, facts.to_string().contains("step")), (false, false));
    for window in ["0,0,20,6", "15,2,18,8"] {
        let (facts, ringed) = found(&["--max-step", "0.01", "--window", window]);
        assert_eq!((ringed, &facts["steps"]), (true, &json!(1)), "{facts}");
        assert!((facts["first_steps"][0]["height"].as_f64().unwrap() - 0.02).abs() < 2e-5, "{facts}");
        let [west, _, east, _] = window.split(',').map(|v| v.parse::<f64>().unwrap()).collect::<Vec<_>>()[..] else {
            panic!()
        };
        let x = facts["first_steps"][0]["at"][0].as_f64().unwrap();
        assert!((x - (west + east) / 2.0).abs() < 0.6, "about the middle of what is seen: {facts}");
    }
    let (facts, ringed) = found(&["--max-step", "0.03"]);
    assert_eq!((ringed, &facts["steps"]), (false, &json!(0)));
    let why = "no map but holes shows gaps and steps; add --map holes";
    holds(&expect(2, &folder, &["export", "png", "s.hpan", "--map", "relief", "--max-step", "0.1"])[1], &[why]);
}

/// A gap has one width, however wide a gap may be that is looked for; where it is wider than that it is said.
#[test]
fn gaps_are_as_wide_whatever_the_limit() {
    let folder = folder("gaps_are_as_wide_whatever_the_limit");
    for ([long, wide], least) in [([0.08, 0.04], 0.05), ([0.4, 0.03], 0.04), ([0.9, 0.9], 0.95), ([0.7, 0.2], 0.25)] {
        for degrees in [0.0f64, 33.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let turn = |x: f64, y: f64| [x * cos - y * sin, x * sin + y * cos];
            let (x, y) = (long / 2.0, wide / 2.0);
            fs::write(folder.join("g.obj"), around(&[turn(-x, -y), turn(x, -y), turn(x, y), turn(-x, y)])).unwrap();
            expect(0, &folder, &["build", "g.obj", "--stitch", "false", "--up", "z", "--unit", "m"]);
            for limit in [least, 2.0 * least, 1.0, 5.0] {
                let gaps = check(&folder, "gap", &["g.hpan", "--max-gap", &limit.to_string()]);
                let gap = &gaps["findings"][0];
                assert_eq!((&gaps["found"], value(gap, "wider")), (&json!(1), 0.0), "{limit}: {gaps}");
                let [width, length] = ["width", "length"].map(|name| value(gap, name));
                let equal = (width - wide).abs() < 1e-3 && (length - long).abs() < wide / 8.0;
                assert!(equal, "{long} x {wide}, {degrees}, {limit}: {gap}");
            }
        }
    }
    // one that tapers, 24 cm wide in the end
    let half = 4f64.to_radians();
    let (far, off) = (2.0 * half.cos() - 1.0, 2.0 * half.sin());
    fs::write(folder.join("g.obj"), around(&[[-1.0, 0.0], [far, -off], [far, off]])).unwrap();
    expect(0, &folder, &["build", "g.obj", "--stitch", "false", "--up", "z"]);
    for (limit, wider) in [("0.05", 1), ("0.1", 1), ("0.5", 0), ("1", 0), ("3", 0)] {
        let gap = &check(&folder, "gap", &["g.hpan", "--max-gap", limit])["findings"][0];
        assert_eq!(value(gap, "wider"), f64::from(wider), "{limit}: {gap}");
    }
}

/// A crack that is narrower than a pixel is one gap of the map, and no hole for each pixel that shows it.
#[test]
fn cracks_are_one_gap_in_a_closer_look() {
    let folder = folder("cracks_are_one_gap_in_a_closer_look");
    let (sin, cos) = 27f64.to_radians().sin_cos();
    let all = [
        [-10.0, -10.0],
        [10.0, -10.0],
        [10.0, 10.0],
        [-10.0, 10.0],
        [-5.0, 0.0],
        [0.0, -0.003],
        [5.0, 0.0],
        [0.0, 0.003],
    ];
    let text: String = all.iter().map(|[x, y]| format!("v {} {} 0\n", x * cos - y * sin, x * sin + y * cos)).collect();
    fs::write(folder.join("c.obj"), text + "f 1 2 7 6 5\nf 3 4 5 8 7\nf 1 5 4\nf 2 3 7\n").unwrap();
    expect(0, &folder, &["build", "c.obj", "--stitch", "false", "--up", "z"]);
    for window in ["-7,-7,7,7", "-3,-3,3,3", "-1,-1,4,4"] {
        for pixels in ["100", "150"] {
            let given = ["export", "png", "c.hpan", "--map", "holes", "--json", "--force", "--window", window];
            let [out, _] = expect(0, &folder, &[&given[..], &["--per-metre", pixels]].concat());
            holds(&out, &["\"enclosed_holes\": 0,", "\"narrow_gaps\": 1"]);
        }
    }
}

/// Corners of a pit are no gaps, unless they are as narrow as a slit.
#[test]
fn corners_are_no_gaps() {
    let folder = folder("corners_are_no_gaps");
    for degrees in [89.0f64, 80.0, 60.0, 30.0, 20.0, 4.0] {
        for turned in [0.0f64, 71.0] {
            // with equal sides of 2 m about a corner, far wider than what is asked for, but for the slit
            let half = degrees.to_radians() / 2.0;
            let (near, deep, wide) = (-1.0, 2.0 * half.cos(), 2.0 * half.sin());
            let (sin, cos) = turned.to_radians().sin_cos();
            let turn = |[x, y]: [f64; 2]| [x * cos - y * sin, x * sin + y * cos];
            let pit = [[near, 0.0], [near + deep, -wide], [near + deep, wide]].map(turn);
            fs::write(folder.join("p.obj"), around(&pit)).unwrap();
            let gaps = check(&folder, "gap", &["p.obj", "--stitch", "false", "--max-gap", "0.1"]);
            assert_eq!(gaps["found"], json!(u8::from(degrees < 15.0)), "{degrees} {turned}: {gaps}");
        }
    }
}

/// Joints of paving stones are looked for while that takes no longer than about a second, and left to `check` from then
/// on.
#[test]
fn joints_of_paving_stones_are_soon_looked_for() {
    let folder = folder("joints_of_paving_stones_are_soon_looked_for");
    for (n, found) in [(60, json!(1)), (150, Value::Null), (170, Value::Null)] {
        let stone = |k: usize| {
            let [x, y, z] = [(k / n) as f64 * 0.1, (k % n) as f64 * 0.1, (k % 5) as f64 * 0.001];
            let corners = [[0.0, 0.0], [0.09, 0.0], [0.09, 0.09], [0.0, 0.09]];
            let corners = corners.map(|[dx, dy]| format!("v {} {} {z}\n", x + dx, y + dy));
            corners.concat() + "f -4 -3 -2\nf -4 -2 -1\n"
        };
        fs::write(folder.join("stones.obj"), (0..n * n).map(stone).collect::<String>()).unwrap();
        let line = ["build", "stones.obj", "--report", "r.json", "--up", "z", "--unit", "m"];
        soon(10, 0, &folder, &line);
        let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
        assert_eq!(report["gaps"]["open_edges"], json!(4 * n * n), "{report}");
        assert_eq!(report["gaps"]["found"], found, "{report}");
        let [out, _] = soon(30, 1, &folder, &["check", "stones.hpan", "--only", "gap", "--max-gap", "0.1", "--json"]);
        let gaps = serde_json::from_str::<Value>(&out).unwrap()["looks"]["gap"].clone();
        assert_eq!(gaps["found"], json!(1), "{gaps}");
        assert!((values(&gaps, "width")[0] - 0.01).abs() < 3e-4, "{gaps}");
    }
}

/// The printed place of a gap has so many digits that it lies in the gap.
#[test]
fn printed_places_of_gaps_have_no_ground() {
    let folder = folder("printed_places_of_gaps_have_no_ground");
    let sizes = [0.00151, 0.0033, 0.0101, 0.0107, 0.0112, 0.0301, 0.0999];
    for (k, wide) in sizes.into_iter().enumerate() {
        let long = wide * (1.0 + 0.07 * k as f64);
        let [x, y] = [0.12345 * (k + 1) as f64, 0.07031 * (7 - k) as f64];
        let corners = [[x, y], [x + long, y], [x + long, y + wide], [x, y + wide]];
        let outer = [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]];
        let text: String = corners.iter().chain(&outer).map(|[x, y]| format!("v {x} {y} 0\n")).collect();
        let [width, _] = gap_of(&folder, &(text + "f 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 4 8 5 1\n"));
        assert!(
            (width - wide).abs() < 0.0005 + 0.01 * wide || (width - long).abs() < 0.0005 + 0.01 * long,
            "{wide}: {width}"
        );
    }
}

/// Many layers, and many triangles through each other, do not hold a build up: what would is left to `check`.
#[test]
fn gaps_in_thousands_of_layers_are_soon_looked_for() {
    let folder = folder("gaps_in_thousands_of_layers_are_soon_looked_for");
    let layers = (0..3000).map(|i| format!("v 0 0 {i}\nv 10 0 {i}\nv 0 10 {i}\nf -3 -2 -1\n"));
    let mut state = 1u64;
    let mut number = |most: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        most * (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let heap = (0..3000).map(|_| {
        let ([x, y, z], mut off) = ([100.0, 100.0, 3.0].map(&mut number), || number(10.0) - 5.0);
        let [a, b, c, d] = [off(), off(), off(), off()];
        format!("v {x} {y} {z}\nv {} {} {}\nv {} {} {z}\nf -3 -2 -1\n", x + a, y + b, z + 0.1 * d, x + c, y + d)
    });
    for (name, text) in [("layers", layers.collect::<String>()), ("heap", heap.collect())] {
        fs::write(folder.join(format!("{name}.obj")), text).unwrap();
        soon(10, 0, &folder, &["build", &format!("{name}.obj"), "--report", "r.json", "--up", "z"]);
        let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
        assert!(report["gaps"]["open_edges"].as_u64() > Some(8000), "{name}: {report}");
        if name == "layers" {
            assert_eq!(report["gaps"]["found"], json!(0), "{report}");
        }
    }
    // so many in a square centimetre that looking would take minutes
    let crowd = (0..80_000).map(|_| {
        let (x, y) = (number(0.01), number(0.01));
        let mut corner = || format!("v {} {} {}\n", x + number(0.002), y + number(0.002), number(0.01));
        [corner(), corner(), corner()].concat() + "f -3 -2 -1\n"
    });
    fs::write(folder.join("crowd.obj"), crowd.collect::<String>()).unwrap();
    soon(10, 0, &folder, &["build", "crowd.obj", "--report", "r.json", "--up", "z", "--unit", "m"]);
    let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    assert_eq!(report["gaps"]["found"], Value::Null);
    let [out, _] = soon(10, 1, &folder, &["check", "crowd.hpan", "--only", "gap", "--max-gap", "0.1", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let gaps = &facts["looks"]["gap"];
    assert_eq!(facts["passed"], json!(false), "{facts}");
    let why = gaps["skipped"].as_str().unwrap();
    let place = why.split_once("as near (").unwrap().1.split_once(')').unwrap().0;
    assert!(place.split(", ").all(|v| (0.0..0.012).contains(&v.parse::<f64>().unwrap())), "{why}");
}

#[test]
fn the_gaps_of_a_real_city_are_found_closely_too() {
    let Some(file) = real_file("city/kitavi_city.obj") else { return };
    let folder = folder("the_gaps_of_a_real_city_are_found_closely_too");
    expect(0, &folder, &["build", file.to_str().unwrap(), "--drop-outliers", "-o", "k.hpan"]);
    let (facts, _) = map(&folder, "k.hpan", "holes", &[]);
    let gaps = facts["facts"]["gaps"].as_array().unwrap().clone();
    // a gap at two heights counts twice
    assert!((40..120).contains(&gaps.len()), "{}", gaps.len());
    let number = |v: &Value| v.as_f64().unwrap();
    assert!(gaps.iter().all(|g| number(&g["length"]) >= number(&g["width"])));
    let gap = gaps.iter().find(|g| (number(&g["width"]) - 0.189).abs() < 1e-3).expect("that of 18.9 cm");
    let [x, y] = [0, 1].map(|i| number(&gap["at"][i]));
    let window = format!("{},{},{},{}", x - 1.0, y - 1.0, x + 1.0, y + 1.0);
    let (facts, _) = map(&folder, "k.hpan", "holes", &["--window", &window]);
    let close = &facts["facts"]["gaps"];
    let close = close.as_array().unwrap();
    assert!((1..5).contains(&close.len()), "{close:?}");
    assert!(close.iter().all(|gap| (number(&gap["width"]) - 0.189).abs() < 5e-3), "{close:?}");
}

#[test]
fn the_crack_of_a_real_interchange_is_found() {
    let Some(file) = real_file("roads/cloverleaf.obj") else { return };
    let folder = folder("the_crack_of_a_real_interchange_is_found");
    expect(0, &folder, &["build", file.to_str().unwrap(), "--up", "z", "--unit", "in", "-o", "c.hpan"]);
    for size in ["200", "1600"] {
        let (facts, _) = map(&folder, "c.hpan", "holes", &["--size", size]);
        assert_eq!(facts["facts"]["narrow_gaps"], json!(1), "{facts}");
        let at = &facts["facts"]["gaps"][0]["at"];
        let near = [12.8, -93.3].iter().enumerate().all(|(i, v)| (at[i].as_f64().unwrap() - v).abs() < 1.0);
        assert!(near, "{facts}");
    }
}

#[test]
fn the_deck_of_a_bridge_and_the_road_under_it() {
    let folder = folder("the_deck_of_a_bridge_and_the_road_under_it");
    // a road at 0 with a hole under a deck at 6 with another
    let text = floor(20, 20, 0.0, 1, &[(5, 5)]) + &floor(20, 10, 6.0, 442, &[(8, 3), (9, 3)]);
    fs::write(folder.join("b.obj"), text).unwrap();
    expect(0, &folder, &["build", "b.obj"]);
    let holes = |more: &[&str]| {
        let (facts, _) = map(&folder, "b.hpan", "holes", &[&["--per-metre", "10"], more].concat());
        let holes = facts["facts"]["holes"].as_array().unwrap();
        let pixels: u64 = holes.iter().map(|hole| hole["pixels"].as_u64().unwrap()).sum();
        (pixels as f64 / 100.0, facts["facts"]["open_length"].as_f64().unwrap())
    };
    assert_eq!(holes(&[]), (0.0, 80.0 + 4.0 + 60.0 + 6.0), "from above each hides the other");
    assert_eq!(holes(&["--above", "3"]), (2.0, 66.0));
    assert_eq!(holes(&["--below", "3"]), (1.0, 84.0));
    assert_eq!(holes(&["--below=-1"]), (0.0, 0.0));
    assert_eq!(holes(&["--below", "6", "--above", "6"]), (2.0, 66.0), "the ends belong to it");
    let heights = |more: &[&str]| {
        map(&folder, "b.hpan", "relief", &[&["--size", "20"], more].concat()).0["facts"]["heights"].clone()
    };
    assert_eq!([heights(&[]), heights(&["--below", "5.9"])], [json!([0.0, 6.0]), json!([0.0, 0.0])]);
    assert_eq!(map(&folder, "b.hpan", "layers", &["--below", "5.9"]).0["facts"]["most"], json!(1));
    for (arguments, why) in [
        (&["--above", "2", "--below", "1"][..], "no ground is above --above and below --below"),
        (&["--above", "2", "--map", "cost"], "the map cost counts all heights"),
        (&["--above", "high"], "must be a height in metres"),
    ] {
        holds(&expect(2, &folder, &[&["export", "png", "b.hpan"], arguments].concat())[1], &[why]);
    }
    // all maps are all of those that tell heights apart
    let all = ["export", "png", "b.hpan", "--map", "all", "--above", "2", "--size", "9", "-o", "all"];
    expect(0, &folder, &all);
    assert!(!folder.join("all/b-cost.png").exists() && folder.join("all/b-mu.png").exists());
}

/// A relief's legend has the heights that are drawn, to the pixel.
#[test]
fn reliefs_tell_the_heights_that_they_draw() {
    let folder = folder("reliefs_tell_the_heights_that_they_draw");
    // a needle of 6.3 m, half a metre wide
    let needle =
        "v 7 7 0\nv 7.5 7 0\nv 7.25 7.25 6.3\nv 7.5 7.5 0\nv 7 7.5 0\nf -5 -4 -3\nf -4 -2 -3\nf -2 -1 -3\nf -1 -5 -3\n";
    fs::write(folder.join("n.obj"), floor(20, 20, 0.0, 1, &[]) + needle).unwrap();
    expect(0, &folder, &["build", "n.obj"]);
    let (facts, pixel) = map(&folder, "n.hpan", "relief", &["--per-metre", "10"]);
    let bytes = Image::read(folder.join("n.hpan")).unwrap();
    let t = Terrain::open(&bytes).unwrap();
    let most = (0..400 * 400).map(|i| [(i % 400) as f64 * 0.05 + 0.025, (i / 400) as f64 * 0.05 + 0.025]);
    let most = most.map(|[x, y]| t.z_f64(&t.closest([x, y, 50.0]).hit)).fold(0.0, f64::max);
    assert!(most > 5.0);
    assert_eq!(facts["facts"]["heights"], json!([0.0, most]));
    assert!((0..200).all(|x| pixel(x, 3) != NOTHING));
    // flat ground is of one colour
    fs::write(folder.join("flat.obj"), floor(5, 5, 2.5, 1, &[])).unwrap();
    expect(0, &folder, &["build", "flat.obj"]);
    let (facts, pixel) = map(&folder, "flat.hpan", "relief", &["--size", "40"]);
    assert_eq!(facts["facts"]["heights"], json!([2.5, 2.5]));
    let colours: BTreeSet<[u8; 3]> =
        (0..40).flat_map(|y| (0..40).map(move |x| (x, y))).map(|(x, y)| pixel(x, y)).collect();
    assert_eq!(colours.len(), 1);
}

/// The map of slopes has the colour of each slope in degrees on one scale, whatever the picture shows.
#[test]
fn slopes_are_degrees_on_one_scale() {
    let folder = folder("slopes_are_degrees_on_one_scale");
    // level, 45 degrees, and steeper
    let strip = |x: usize, rise: usize| {
        format!("v {x} 0 0\nv {} 0 {rise}\nv {} 10 {rise}\nv {x} 10 0\nf -4 -3 -2 -1\n", x + 10, x + 10)
    };
    fs::write(folder.join("s.obj"), strip(0, 0) + &strip(20, 10) + &strip(40, 20)).unwrap();
    expect(0, &folder, &["build", "s.obj", "--up", "z", "--unit", "m"]);
    let (facts, pixel) = map(&folder, "s.hpan", "slope", &["--per-metre", "10"]);
    assert_eq!([50, 250, 450].map(|x| pixel(x, 50)), [DARK, LIGHT, LIGHT]);
    assert_eq!(facts["facts"]["range"], json!([0.0, 45.0]));
    let steepest = facts["facts"]["degrees"][1].as_f64().unwrap();
    assert!((steepest - 2f64.atan().to_degrees()).abs() < 0.01, "{steepest}");
    let (_, pixel) = map(&folder, "s.hpan", "slope", &["--per-metre", "10", "--range", "0,90"]);
    assert!(![DARK, LIGHT].contains(&pixel(250, 50)));
}

/// Many small holes: numbered ones have rings, the others dots.
#[test]
fn many_small_holes_are_dots() {
    let folder = folder("many_small_holes_are_dots");
    let but: Vec<(usize, usize)> = (0..100).map(|k| (10 * (k % 10) + 5, 10 * (k / 10) + 5)).collect();
    fs::write(folder.join("f.obj"), floor(100, 100, 0.0, 1, &but)).unwrap();
    expect(0, &folder, &["build", "f.obj"]);
    let (facts, pixel) = map(&folder, "f.hpan", "holes", &["--per-metre", "4"]);
    assert_eq!(facts["facts"]["enclosed_holes"], json!(100));
    // a ring leaves room about the hole, which a dot covers
    let places = facts["facts"]["holes"].as_array().unwrap().iter().map(|hole| {
        let [x, y] = [0, 1].map(|i| (hole["at"][i].as_f64().unwrap() * 4.0) as i64);
        let off = |far: i64| [(far, 0), (-far, 0), (0, far), (0, -far)].map(|(dx, dy)| (x + dx, 400 - y + dy));
        let blue = |far: i64| off(far).iter().filter(|(x, y)| pixel(*x as usize, *y as usize) == HOLE).count();
        (blue(6), blue(3))
    });
    let places: Vec<(usize, usize)> = places.collect();
    assert!(places[..8].iter().all(|(ring, _)| *ring >= 2), "{places:?}");
    assert!(places[8..].iter().all(|(ring, _)| *ring == 0), "{places:?}");
}

/// The fourteen materials seen most have plain colours of their own; the others of a picture have one.
#[test]
fn many_materials_are_told_apart() {
    let folder = folder("many_materials_are_told_apart");
    let count = 16;
    let mut text = String::new();
    for i in 0..count {
        // the first are the largest
        let (x, high) = (i as f64, 3.0 - i as f64 / 100.0);
        text += &format!(
            "v {x} 0 0\nv {} 0 0\nv {} {high} 0\nv {x} {high} 0\nusemtl m{i:02}\nf -4 -3 -2 -1\n",
            x + 1.0,
            x + 1.0
        );
    }
    fs::write(folder.join("m.obj"), text).unwrap();
    expect(0, &folder, &["build", "m.obj"]);
    let (facts, pixel) = map(&folder, "m.hpan", "materials", &["--per-metre", "40"]);
    assert_eq!(facts["facts"]["materials"].as_array().unwrap().len(), count);
    let seen = |i: usize| -> BTreeSet<[u8; 3]> {
        (40..60).flat_map(|y| (10..30).map(move |x| (x, y))).map(|(x, y)| pixel(40 * i + x, y)).collect()
    };
    let all: Vec<BTreeSet<_>> = (0..count).map(seen).collect();
    assert!(all.iter().all(|colours| colours.len() == 1), "plain: {all:?}");
    assert_eq!(all[..14].iter().collect::<BTreeSet<_>>().len(), 14);
    assert!(all[14] == all[15] && !all[..14].contains(&all[14]));
    let [out, _] = expect(0, &folder, &["export", "png", "m.hpan", "--map", "materials,mu", "-o", "."]);
    holds(&out, &["; 16 of 16 materials seen here\n", "; 1 value of mu seen here\n"]);

    // the same of any window, however much of each it shows, and in the library beside an OBJ
    let (_, pixel_of_part) = map(&folder, "m.hpan", "materials", &["--window", "5,0,16,2", "--size", "440x80"]);
    let part = |i: usize| -> BTreeSet<[u8; 3]> {
        (10..30).flat_map(|y| (10..30).map(move |x| (x, y))).map(|(x, y)| pixel_of_part(40 * i + x, y)).collect()
    };
    (5..14).for_each(|i| assert_eq!(part(i - 5), all[i], "m{i:02}"));
    // where fewer than 14 are seen, each has its own
    assert_eq!((5..16).map(|i| part(i - 5)).collect::<BTreeSet<_>>().len(), 11);
    expect(0, &folder, &["export", "obj", "m.hpan"]);
    let library = fs::read_to_string(folder.join("m-ground.mtl")).unwrap();
    let colours: Vec<[f64; 3]> = library.lines().filter_map(|l| l.strip_prefix("Kd ")).map(numbers).collect();
    for (i, (colour, seen)) in colours.iter().zip(&all[..14]).enumerate() {
        let seen = seen.first().unwrap().map(|c| f64::from(c) / 255.0);
        assert!((0..3).all(|k| (colour[k] - seen[k]).abs() < 1e-3), "m{i:02}: {colour:?} {seen:?}");
    }
    let told: BTreeSet<String> = colours.iter().map(|c| format!("{c:?}")).collect();
    assert_eq!((colours.len(), told.len()), (16, 16));
}

/// Squares of 1 m side by side, each of a material, as an image called `m.hpan`.
fn named(folder: &Path, names: &[&str]) {
    let squares = names.iter().enumerate().map(|(i, name)| {
        let j = i + 1;
        format!("usemtl {name}\nv {i} 0 0\nv {j} 0 0\nv {j} 1 0\nv {i} 1 0\nf -4 -3 -2 -1\n")
    });
    fs::write(folder.join("m.obj"), squares.collect::<String>()).unwrap();
    expect(0, folder, &["build", "m.obj"]);
}

/// The colour of a material goes by its name, on maps and in the library beside an OBJ, whatever others there are.
#[test]
fn materials_keep_their_colours() {
    let folder = folder("materials_keep_their_colours");
    let colours = |names: &[&str]| {
        named(&folder, names);
        let (_, pixel) = map(&folder, "m.hpan", "materials", &["--per-metre", "40"]);
        let most = |i: usize| {
            let seen = (5..35).flat_map(|y| (5..35).map(move |x| (x, y))).map(|(x, y)| pixel(40 * i + x, y));
            let mut times = std::collections::BTreeMap::<[u8; 3], usize>::new();
            seen.for_each(|c| *times.entry(c).or_default() += 1);
            times.into_iter().max_by_key(|(_, n)| *n).unwrap().0
        };
        expect(0, &folder, &["export", "obj", "m.hpan", "--force"]);
        let library = fs::read_to_string(folder.join("m-ground.mtl")).unwrap();
        let mut known = std::collections::BTreeMap::new();
        for part in library.split("newmtl ").skip(1) {
            let kd = part.lines().find_map(|l| l.strip_prefix("Kd ")).unwrap();
            known.insert(part.lines().next().unwrap().to_string(), kd.to_string());
        }
        names.iter().enumerate().map(|(i, n)| (most(i), known[*n].clone())).collect::<Vec<_>>()
    };
    let before = colours(&["Asphalt", "Grass", "Ice"]);
    let after = colours(&["Asphalt", "Grass", "Asphalt_wet"]);
    assert_eq!(before[..2], after[..2]);
    assert!(after[2].0 != after[0].0 && after[2].0 != after[1].0, "{after:?}");
    // in whatever place of the table
    assert_eq!(colours(&["A", "Grass", "Z"])[1], before[1]);
    assert_eq!(colours(&["Grass"])[0], before[1]);
}

/// Letters that the picture lacks are drawn as Latin ones that sound like them; no two names read the same.
#[test]
fn names_in_any_alphabet_are_drawn() {
    let folder = folder("names_in_any_alphabet_are_drawn");
    let typed = ["export", "png", "m.hpan", "--map", "materials", "--size", "400", "-o", "p.png"];
    // what is as dark as letters are, under the picture
    let letters = |names: &[&str]| {
        named(&folder, names);
        let [_, err] = expect(0, &folder, &typed);
        let (width, _, pixels) = decoded(&folder.join("p.png"));
        let rows = pixels.len() / width;
        let legend = &pixels[(rows - 75) * width..];
        let dark = |p: &[u8; 3]| p[0] < 200 && p[0].abs_diff(p[2]) < 10;
        (legend.iter().map(dark).collect::<Vec<_>>(), err)
    };
    for (name, drawn) in [("Асфальт", "Asfal't"), ("道路", "Dao Lu"), ("Οδός", "Odos")] {
        let (told, err) = letters(&[name]);
        assert_eq!(
            err,
            format!("note: names of materials are drawn in letters that the picture has: {drawn} is {name}\n")
        );
        let (plain, none) = letters(&[drawn]);
        assert!(told == plain && none.is_empty(), "{name}");
    }
    for (name, other) in [("Łąka", "Laka"), ("İstanbul", "Istanbul"), ("Größe", "Grosse")] {
        let (told, err) = letters(&[name]);
        assert!(err.is_empty() && told != letters(&[other]).0, "{name}");
    }
    let (_, err) = letters(&["道路", "道録", "\u{e000}"]);
    holds(&err, &["Dao Lu #1 is 道路, Dao Lu #2 is 道録, ? is \u{e000}\n"]);
}

/// Dark columns beneath bars of a legend: in the last row of a picture that has so many, their distances.
fn ticks(file: &Path, count: usize) -> Vec<usize> {
    let (width, _, pixels) = decoded(file);
    let dark = |row: &[[u8; 3]]| (0..width).filter(|&x| row[x] == [32, 34, 38]).collect::<Vec<_>>();
    let rows: Vec<Vec<usize>> = pixels.chunks(width).map(dark).collect();
    // a tick is four rows high
    let row = rows.windows(4).rev().find(|four| four[0].len() == count && four.iter().all(|row| *row == four[0]));
    row.unwrap_or_else(|| panic!("no {count} ticks"))[0].windows(2).map(|two| two[1] - two[0]).collect()
}

/// Scales have round numbers between their ends, that of changes too, which goes by square roots.
#[test]
fn scales_have_ticks() {
    let folder = folder("scales_have_ticks");
    for (image, z) in [("a", 0.0), ("b", 0.3)] {
        fs::write(folder.join("f.obj"), floor(5, 5, z, 1, &[])).unwrap();
        expect(0, &folder, &["build", "f.obj", "-o", &format!("{image}.hpan")]);
    }
    // 0.2, 0.4, 0.6, 0.8, 1.0 of 1.2 on 240 pixels; 200, 400, 600, 800 of 1000
    let _ = map(&folder, "a.hpan", "mu", &["--size", "400"]);
    assert_eq!(ticks(&folder.join("map.png"), 5), [40; 4]);
    let _ = map(&folder, "a.hpan", "relief", &["--size", "400", "--range", "0,1000"]);
    assert_eq!(ticks(&folder.join("map.png"), 4), [48; 3]);
    // 2 mm, 2 cm, 10 cm and 20 cm of 30 cm
    expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--png", "d.png", "--size", "400"]);
    let at = [0.002f64, 0.02, 0.1, 0.2].map(|z| (240.0 * (z / 0.3).sqrt()) as usize);
    assert_eq!(ticks(&folder.join("d.png"), 4), [at[1] - at[0], at[2] - at[1], at[3] - at[2]]);
}

/// Squares of 1 m side by side, each of a friction, as an image.
fn frictions(folder: &Path, image: &str, all: &[&str]) {
    let squares = (0..all.len()).map(|i| {
        let j = i + 1;
        format!("usemtl m{i}\nv {i} 0 {i}\nv {j} 0 {i}\nv {j} 1 {i}\nv {i} 1 {i}\nf -4 -3 -2 -1\n")
    });
    fs::write(folder.join("f.obj"), squares.collect::<String>()).unwrap();
    let rules = all.iter().enumerate().map(|(i, mu)| format!("[[material]]\nname = \"m{i}\"\nmu = {mu}\n"));
    fs::write(folder.join("s.toml"), rules.collect::<String>()).unwrap();
    expect(0, folder, &["build", "f.obj", "--settings", "s.toml", "-o", image]);
}

/// A number has one colour in pictures of two images: of friction always, of others with the same range.
#[test]
fn pictures_of_two_images_can_be_compared() {
    let folder = folder("pictures_of_two_images_can_be_compared");
    frictions(&folder, "one.hpan", &["0.6", "0", "1.2", "3"]);
    frictions(&folder, "two.hpan", &["0.6", "0.7"]);
    let square = |image: &str, name: &str, more: &[&str]| {
        let (facts, pixel) = map(&folder, image, name, &[&["--per-metre", "10"], more].concat());
        let count = if image == "one.hpan" { 4 } else { 2 };
        (facts["facts"]["range"].clone(), (0..count).map(|i| pixel(10 * i + 5, 5)).collect::<Vec<_>>())
    };
    let ((range, one), (_, two)) = (square("one.hpan", "mu", &[]), square("two.hpan", "mu", &[]));
    assert_eq!((range, &one[1..]), (json!([0.0, 1.2]), &[DARK, LIGHT, LIGHT][..]));
    assert!(one[0] == two[0] && two[0] != two[1], "{one:?} {two:?}");
    let (range, ends) = square("two.hpan", "mu", &["--range", "0.6,0.7"]);
    assert_eq!((range, ends), (json!([0.6, 0.7]), vec![DARK, LIGHT]));
    // steps of a metre, which lie as high in both
    let (one, two) = (square("one.hpan", "relief", &[]).1, square("two.hpan", "relief", &[]).1);
    assert_ne!(one[1], two[1]);
    let [one, two] = ["one.hpan", "two.hpan"].map(|image| square(image, "relief", &["--range", "relief=-1,1"]).1);
    assert!(one[0] == two[0] && one[1] == two[1] && one[1] == one[2], "{one:?} {two:?}");
    // several maps, each with a range of its own
    let all = ["export", "png", "one.hpan", "--size", "9", "--json", "-o", "all", "--map"];
    let typed = ["all", "--range", "mu=0,1", "--range", "cost=0,3"];
    let [out, _] = expect(0, &folder, &[&all[..], &typed].concat());
    let facts: Value = serde_json::from_str(&out).unwrap();
    let maps: Vec<&str> = facts.as_array().unwrap().iter().map(|m| m["map"].as_str().unwrap()).collect();
    assert_eq!(maps, ["relief", "slope", "layers", "leaves", "materials", "mu", "cost", "error", "holes"]);
    assert_eq!(facts[5]["facts"]["range"], json!([0.0, 1.0]));
    for (typed, why) in [
        (&["relief,mu", "--range", "0,1"][..], "has a scale; here: relief, mu\n"),
        (&["leaves", "--range", "0,1"], "has a scale; here: none\n"),
        (&["mu", "--range", "leaves=0,1"], "has a scale; here: mu\n"),
        (&["mu", "--range", "cost=0,1"], "has a scale; here: mu\n"),
        (&["mu", "--range", "0,1", "--range", "mu=0,2"], "gives the ends of the scale of mu twice"),
        (&["cost", "--range", "0,1.5"], "whole numbers"),
        (&["mu", "--range", "1,1"], "LOW must be below HIGH"),
        (&["mu", "--range", "0"], "LOW,HIGH"),
        (&["reliff"], "'relief'"),
        (&["mu,"], "relief, slope, layers, leaves, materials, mu, cost, error, holes, all"),
    ] {
        holds(&expect(2, &folder, &[&all[..], typed].concat())[1], &[why]);
    }
}

/// Far from the zero a file about its own middle is exact in single precision, and its settings or `--translate` move
/// it back.
#[test]
fn vt_28_local_files_are_moved_back() {
    let folder = folder("vt_28_local_files_are_moved_back");
    fs::write(folder.join("s.obj"), sheet(8, 1.03, [0.0; 3], 1)).unwrap();
    let far = ["build", "s.obj", "--translate", "388096.3,3948996.7,33"];
    expect(0, &folder, &far);
    let obj = ["export", "obj", "s.hpan", "--force", "--json"];
    let facts = |more: &[&str]| {
        let [out, err] = expect(0, &folder, &[&obj[..], more].concat());
        (serde_json::from_str::<Value>(&out).unwrap(), err)
    };
    let (there, said) = facts(&[]);
    let moved = there["moved_by_f32"].as_f64().unwrap();
    // at 3.9 million metres single precision has a number every quarter of a metre
    assert!((0.05..=0.125).contains(&moved), "{moved}");
    holds(
        &said,
        &["note: s-ground.obj: its numbers are so large", "; --local writes them about the middle of the ground"],
    );
    let (here, said) = facts(&["--local"]);
    assert_eq!((said.as_str(), &here["moved_by_f32"], &here["proven"]), ("", &json!(0.0), &json!(true)));
    assert_eq!(here["translate"], json!([388100.0, 3949001.0, 33.0]));
    let translate = "--translate 388100,3949001,33";
    holds(&fs::read_to_string(folder.join("s-ground.obj")).unwrap(), &[translate, "\nv -3."]);
    holds(&expect(0, &folder, &["export", "obj", "s.hpan", "--force", "--local"])[0], &[translate, "proven"]);
    // by the settings, and by what is typed where they do not say it
    expect(0, &folder, &["build", "--settings", "s-ground.toml", "-o", "again.hpan"]);
    let text = fs::read_to_string(folder.join("s-ground.toml")).unwrap();
    let silent: String = text.lines().filter(|l| !l.starts_with("translate")).map(|l| format!("{l}\n")).collect();
    assert_ne!(text, silent);
    fs::write(folder.join("silent.toml"), silent).unwrap();
    let [option, value] = ["--translate", "388100,3949001,33"];
    expect(0, &folder, &["build", "--settings", "silent.toml", option, value, "-o", "typed.hpan"]);
    for image in ["again.hpan", "typed.hpan"] {
        assert_eq!(identity(&folder, image), identity(&folder, "s.hpan"));
    }
    let lost = ["build", "--settings", "silent.toml", "-o", "lost.hpan"];
    holds(&expect(2, &folder, &lost)[1], &["lie outside the domain, among them most of an object"]);
}

#[test]
fn maps_of_heights_and_on_any_number_of_threads() {
    let folder = folder("maps_of_heights_and_on_any_number_of_threads");
    let cobbles = build(&fixtures::cobble(), &Options::default()).unwrap();
    fs::write(folder.join("cobble.hpan"), &cobbles.image[..]).unwrap();
    let all = "relief,slope,layers,leaves,materials,mu,cost,error,holes";
    let names = ["relief", "layers", "leaves", "materials", "mu", "cost", "error", "holes"];
    for threads in ["1", "2"] {
        let status = Command::new(&*HARDPAN)
            .args(["export", "png", "cobble.hpan", "--map", all, "--size", "200", "-o", threads])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(&folder)
            .output()
            .unwrap()
            .status;
        assert!(status.success());
    }
    for name in names {
        let [one, two] = ["1", "2"].map(|t| fs::read(folder.join(t).join(format!("cobble-{name}.png"))).unwrap());
        assert!(one == two, "{name}");
        decoded(&folder.join("1").join(format!("cobble-{name}.png")));
    }
    let (facts, _) = map(&folder, "cobble.hpan", "leaves", &[]);
    assert_eq!(facts["facts"]["bundles"], json!(0));
    assert!(facts["facts"]["patch_blocks"].as_u64().unwrap() > 100, "{facts}");
}

#[test]
fn windows_sizes_and_places_of_maps() {
    let folder = pierced("windows_sizes_and_places_of_maps");
    let points = |more: &[&str]| map(&folder, "pierced.hpan", "mu", more).0["pixels"].clone();
    assert_eq!(points(&[]), json!([1600, 1600]));
    assert_eq!(points(&["--size", "300"]), json!([300, 300]));
    assert_eq!(points(&["--size", "300x20"]), json!([300, 20]));
    assert_eq!(points(&["--per-metre", "2.5"]), json!([250, 250]));
    assert_eq!(points(&["--per-metre", "2", "--window", "-10,-5,20,5"]), json!([60, 20]));
    assert_eq!(points(&["--window", "-10,-5,30,5"]), json!([1600, 400]));
    // a window of another shape stands in the middle
    let (facts, _) = map(&folder, "pierced.hpan", "mu", &["--window", "-10,-5,10,5", "--size", "40x40"]);
    assert_eq!(facts["window"], json!([-10.0, -10.0, 10.0, 10.0]));
    fs::write(folder.join("plain"), "mine").unwrap();
    // in a hole there is a picture too
    let inside = ["--window", "-25,-5,-15,5", "--size", "9"];
    let (_, hollow) = map(&folder, "pierced.hpan", "mu", &inside);
    assert_eq!(hollow(4, 4), NOTHING);
    let [_, err] = expect(0, &folder, &[&["export", "png", "pierced.hpan", "-o", "w.png"], &inside[..]].concat());
    holds(&err, &["note: no ground is met in the picture; it lies at x -50 to 50 m, y -50 to 50 m\n"]);
    // but none away from the ground, where it would replace another
    let kept = fs::read(folder.join("w.png")).unwrap();
    for window in ["90,0,95,5", "-60,0,-50.1,5", "0,50.1,5,60", "0,-80,5,-60", "1e6,1e6,1000001,1000001"] {
        let away = ["export", "png", "pierced.hpan", "-o", "w.png", "--window", window, "--size", "9"];
        let why = "pierced.hpan: --window shows none of the ground, which lies at x -50 to 50 m, y -50 to 50 m; give";
        holds(&error(2, &folder, &away), &[why]);
        assert!(fs::read(folder.join("w.png")).unwrap() == kept);
    }
    // at its border there is some
    expect(0, &folder, &["export", "png", "pierced.hpan", "-o", "w.png", "--window", "49,49,60,60", "--size", "9"]);

    for (code, arguments, parts) in [
        (2, &["--window", "1,2,3"][..], &["--window", "x0,y0,x1,y1"][..]),
        (2, &["--window", "5,0,1,1"], &["x0 must be below x1"]),
        (2, &["--window=-1e308,-1e308,1e308,1e308"], &["beyond 1e15"]),
        (2, &["--size", "0"], &["--size", "1 to 65536"]),
        (2, &["--size", "10x"], &["'10x'", "width and height as 640x480", "1 to 65536"]),
        (2, &["--window", "0,0,1e-30,1e-30"], &["0.001 m wide and high at least"]),
        (2, &["--per-metre", "1e-300"], &["from 1e-9 to 1e9"]),
        (2, &["--per-metre", "2e9"], &["from 1e-9 to 1e9"]),
        (2, &["--map", "mu", "-o", "mu.jpg"], &["mu.jpg: one map goes into FILE.png"]),
        (
            2,
            &["--map", "mu,cost", "-o", "pierced.obj"],
            &["pierced.obj: one map goes into FILE.png, several go into a folder"],
        ),
        (2, &["--map", "mu", "-o", "plain"], &["plain: one map goes into FILE.png"]),
        (2, &["--map", "mu,cost", "-o", "plain"], &["plain: one map goes into FILE.png, several go into a folder"]),
        (2, &["--map", "mu,cost", "-o", "new.png"], &["new.png: one map goes into FILE.png, several go into a folder"]),
        (2, &["--map", "mu,cost", "-o", "pierced.obj/new"], &["a part of its path, is a file", "name a folder"]),
        (2, &["--size", "50000x50000"], &["pierced.hpan: ", "--size or --window"]),
        (2, &["--per-metre", "1e9"], &["pierced.hpan: ", "100,000,000,000 x 100,000,000,000 pixels", "--per-metre"]),
        (2, &["--per-metre", "-1"], &["above zero"]),
        (2, &["--map", "colour"], &["colour", "relief"]),
        (2, &["--size", "9", "--per-metre", "1"], &["cannot be used with"]),
    ] {
        let arguments: Vec<&str> = ["export", "png", "pierced.hpan"].iter().chain(arguments).copied().collect();
        holds(&expect(code, &folder, &arguments)[1], parts);
    }
    holds(&error(2, &folder, &["export", "png", "pierced.obj"]), &["this is not a terrain image"]);
    assert!(!folder.join("pierced-relief.png").exists());

    let [out, err] = expect(0, &folder, &["export", "png", "pierced.hpan", "--size", "50"]);
    holds(&out, &["pierced-relief.png: 50 x 50 pixels, 2 m each"]);
    holds(&err, &["note: other maps: --map relief,slope,layers"]);
    // a picture by hardpan is replaced, that of somebody else is not, and then none is written
    expect(0, &folder, &["export", "png", "pierced.hpan", "--size", "60"]);
    assert!(decoded(&folder.join("pierced-relief.png")).0 > 60);
    let ours = fs::read(folder.join("pierced-relief.png")).unwrap();
    let at = ours.windows(8).position(|w| w == b"Software").unwrap();
    for theirs in [[&ours[..at], b"Hardware", &ours[at + 8..]].concat(), b"short".to_vec()] {
        fs::write(folder.join("pierced-relief.png"), &theirs).unwrap();
        holds(
            &error(2, &folder, &["export", "png", "pierced.hpan", "--size", "50", "--map", "layers,relief"]),
            &["pierced-relief.png: there is a file here that is not a picture by hardpan; to replace it add --force"],
        );
        assert!(fs::read(folder.join("pierced-relief.png")).unwrap() == theirs);
        assert!(!folder.join("pierced-layers.png").exists());
    }
    expect(0, &folder, &["export", "png", "pierced.hpan", "--size", "50", "--force"]);
    for (word, image) in [("pierced.hpan", "pierced.hpan"), ("later.hpan", "later.hpan"), ("pgn", "FILE.hpan")] {
        let typed = [format!("maps: hardpan export png {image};"), format!("triangles: hardpan export obj {image}\n")];
        holds(&error(2, &folder, &["export", word]), &[&typed[0], &typed[1]]);
    }
    holds(
        &error(2, &folder, &["export", "png", "pierced.hpan", "-o", "pierced.hpan", "--force"]),
        &["pierced.hpan: one map goes into FILE.png"],
    );
    fs::copy(folder.join("pierced.hpan"), folder.join("image.png")).unwrap();
    holds(
        &error(2, &folder, &["export", "png", "image.png", "-o", "./image.png", "--force"]),
        &["image.png: this would replace its own source"],
    );
    expect(0, &folder, &["export", "png", "pierced.hpan", "--size", "50", "--map", "mu,cost,mu", "-o", "maps"]);
    let names: BTreeSet<_> = fs::read_dir(folder.join("maps")).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["pierced-cost.png", "pierced-mu.png"]);
}
