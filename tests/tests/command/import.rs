//! Mesh files, good and bad, through the command.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use crate::shell::{HARDPAN, SETTINGS, bridge, but_friction, error, expect, folder, holds, info};
use hardpan::Terrain;
use hardpan_builder::{
    Material, Options, Scene, Triangle, build,
    import::{self, FORMATS, Frame, ImportErrorKind, Place, formats},
};
use serde_json::Value;
use verification::obj::{self, ends_in, real};

const SQUARE: &str = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nf 1 2 3 4\n";

/// Builds within 1 GiB of address space; a folder holds nothing afterwards but what it held, and an image if all went
/// well.
fn bounded(folder: &Path, file: &Path, options: &[&str]) -> (Output, Duration) {
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1048576; exec \"$0\" build \"$@\""])
        .arg(&*HARDPAN)
        .arg(file)
        .args(["-o", "out.hpan"])
        .args(options)
        .current_dir(folder)
        .output()
        .unwrap();
    let left: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left.len(), usize::from(output.status.success()), "{}: {left:?} is left", file.display());
    if output.status.success() {
        fs::remove_file(folder.join("out.hpan")).unwrap();
    }
    (output, start.elapsed())
}

fn is_obj(path: &Path) -> bool {
    ends_in(path, "obj")
}

#[test]
fn cg_01_vt_24_odd_and_malformed_files() {
    let here = folder("odd_and_malformed_files");
    // what is not built, and why; all else is
    let refused: BTreeMap<&str, &str> = [
        ("blender_340_line_point_0_obj.obj", "every triangle is vertical"),
        ("concave_polygon.obj", "every triangle is vertical"),
        ("issue-246-usemtl-whitespace.obj", "every triangle is vertical"),
        ("space_in_material_name.obj", "every triangle is vertical"),
        ("number_formats.obj", "line 11: \"3.1+e2\" is not a number"),
        ("point_cloud.obj", "there are no faces"),
        ("synthetic_obj_zoo_0_obj.obj", "every triangle is vertical or collapsed"),
        ("empty.obj", "there are no faces"),
        ("invalid-face-definition.obj", "(faces left out that have fewer than three corners: 2)"),
        ("invalid-relative-vertex-index.obj", "line 1: a face counts back"),
        ("invalid_index.obj", "line 12: a face names vertex 7, and the file has 1 to 6"),
        ("issue-140-zero-face-idx.obj", "line 16: a face names vertex 0"),
        ("malformed.obj", "line 23: a face names vertex 12"),
        ("obj_fuzz_0084.obj", "line 9: a byte of zero"),
        ("obj_fuzz_0170.obj", "line 4: a byte of zero"),
        ("obj_fuzz_0180.obj", "line 4: a byte of zero"),
    ]
    .into();
    let all = [real("obj_odd"), real("malformed")].concat();
    // these have tests of their own
    let other = |f: &Path| {
        ["fbx", "ply", "gltf", "glb", "stl", "crg", "bmp", "png", "tif", "tiff", "asc", "hgt", "zip"]
            .iter()
            .any(|end| ends_in(f, end))
    };
    for file in all.into_iter().filter(|f| !other(f)) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let (output, time) = bounded(&here, &file, &["--up", "z"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(time < Duration::from_secs(10), "{name} took {time:?}");
        let code = output.status.code();
        let expected = match refused.get(name) {
            _ if !is_obj(&file) => 3,
            Some(_) => 2,
            None => 0,
        };
        assert_eq!(code, Some(expected), "{name}: {text}");
        if expected != 0 {
            let errors: Vec<&str> = text.lines().filter(|l| l.starts_with("error: ")).collect();
            assert_eq!(errors.len(), 1, "{text}");
            let cause = if expected == 3 { "hardpan build" } else { refused[name] };
            assert!(errors[0].contains(name) && errors[0].contains(cause), "{text}");
        }
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}

/// A name of many parts is said again and again: few bytes could make endless ones.
#[test]
fn vt_24_endless_names() {
    let here = folder("endless_names");
    let path = here.with_extension("obj");
    let mut text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\no {}\n", "n".repeat(100_000));
    (0..20_000).for_each(|i| writeln!(text, "g {i}\nf 1 2 3").unwrap());
    fs::write(&path, &text).unwrap();
    let (output, time) = bounded(&here, &path, &[]);
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{why}");
    holds(&why, &["error: ", "the names of its objects have more than 256 MiB together; give shorter names"]);
    // and few long ones, said often, cost no time
    let mut text = format!("v 0 0 0\nv 1 0 0\nv 0 1 0\no {}\n", "n".repeat(100_000));
    (0..300_000).for_each(|i| writeln!(text, "g {}\nf 1 2 3", i % 2).unwrap());
    fs::write(&path, &text).unwrap();
    let (output, again) = bounded(&here, &path, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(time.max(again) < Duration::from_secs(10), "{time:?} {again:?}");
}

/// A face of many more corners than there are vertices: what it takes to cut it is not asked for.
#[test]
fn vt_24_a_face_of_endless_corners() {
    let here = folder("endless_corners");
    let path = here.with_extension("obj");
    fs::write(&path, format!("{SQUARE}f{}\n", " 1 2 3 4".repeat(6_000_000))).unwrap();
    let (output, time) = bounded(&here, &path, &[]);
    fs::remove_file(&path).unwrap();
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{why}");
    holds(
        &why,
        &["line 6: a face of 24,000,000 corners is not strictly convex, and 262,144 are the most then; cut it"],
    );
    assert!(time < Duration::from_secs(10), "{time:?}");
}

/// Files that are not read: their kind, and the tools that convert them.
#[test]
fn vt_24_recipes_for_what_is_not_read() {
    let here = folder("recipes");
    let raster = ["make points of its heights, in metres: gdal_translate -of XYZ FILE.", "CloudCompare"];
    for (name, bytes, wanted) in [
        ("a.vrt", &b"<VRT"[..], &["vrt files are not read; ", raster[0], raster[1]][..]),
        ("a.jp2", b"\0\0", &["jp2 files are not read; ", raster[0], raster[1]]),
        ("a.TER", b"TERRAGEN", &["ter files are not read; ", raster[0], raster[1]]),
        ("a.exr", b"v/1", &["exr files are not read; ", raster[0], raster[1]]),
        ("a.obj.gz", b"\x1F\x8B", &["gz files are not read; unpack it, then: hardpan build FILE.obj"]),
        ("a.rar", b"Rar!", &["rar files are not read; unpack it, then: hardpan build FILE.obj"]),
        ("a.las", b"LASF", &["las files are not read; make a mesh of the points in CloudCompare"]),
        (
            "a.dae",
            b"<?xml",
            &[
                "dae files are not read; assimp export FILE.dae FILE.obj; or open it in Blender and export FBX, or Wavefront OBJ with z up, then: hardpan build FILE.obj, with --up y or z as it lies",
            ],
        ),
        ("a.xodr", b"<", &["xodr files are not read; ", "export FBX, or", ", then: hardpan build"]),
        ("a.osm", b"<osm", &["osm files are not read; open it in OSM2World and export Wavefront OBJ"]),
        ("a.vstu", b"{}", &["vstu files are not read; ", "hardpan build MESH.obj --settings "]),
        ("track.txt", b"0 0 0\n", &["txt files are not read; make a mesh of the points"]),
        ("a.step", b"ISO", &["step files are not read; open it in FreeCAD", "--unit mm"]),
        ("a.shp", b"\0\0\x27\x0A", &["shp files are not read; interpolate the heights", "QGIS", "XYZ", "CloudCompare"]),
        (
            "a.fbx",
            b"version https://git-lfs.github.com/spec/v1\n",
            &["the pointer that Git LFS leaves", "git lfs pull"],
        ),
        ("b.obj", b"<!DOCTYPE html>", &["this is a web page"]),
        ("a", b"", &["files without an extension are not read; let its name say what it is (.obj, .fbx, "]),
    ] {
        fs::write(here.join(name), bytes).unwrap();
        holds(&error(3, &here, &["build", name]), wanted);
    }
}

/// The table of formats: no name or ending stands twice, help and errors list what is read, and the page has a section
/// for each.
#[test]
fn formats_stand_once_and_everywhere() {
    let here = folder("formats");
    let once = |words: Vec<&str>| {
        let mut sorted = words.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), words.len(), "{words:?}");
    };
    once(FORMATS.iter().map(|format| format.name).collect());
    once(FORMATS.iter().flat_map(|format| format.endings.iter().copied()).collect());
    assert!(
        ["obj", "fbx", "gltf", "ply", "stl", "crg"]
            .iter()
            .all(|name| formats::read().any(|format| format.name == *name))
    );
    for command in ["build", "grid", "materials"] {
        let [help, _] = expect(0, &here, &[command, "--help"]);
        holds(&help, &[&format!("{} files", formats::names())]);
    }
    holds(&error(2, &here, &["build", "."]), &[&formats::files()]);
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/docs"));
    let [meshes, heights] =
        ["formats.md", "heights.md"].map(|page| fs::read_to_string(docs.join(page)).unwrap_or_default());
    for format in formats::read() {
        let is_mesh = meshes.contains(&format!("\n## {}\n", format.name.to_uppercase()));
        let is_field = heights.is_empty() || format.endings.iter().any(|end| heights.contains(&format!(".{end}")));
        assert!(is_mesh || is_field, "no page has {}", format.name);
    }
}

#[test]
fn cg_01_real_meshes_build() {
    let here = folder("real_meshes_build");
    let meshes = ["city", "fbx", "mavs", "roads", "terrain"].map(real).concat();
    for file in meshes.iter().filter(|f| is_obj(f)) {
        let (mut output, time) = bounded(&here, file, &["--up", "z"]);
        // a town whose ground lies elsewhere than its houses: refused with a way out, which works
        if file.ends_with("kitavi_city.obj") {
            assert_eq!(output.status.code(), Some(2));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            holds(
                &said,
                &[
                    "\"ground\"",
                    "\"roads\"",
                    "100 % of it",
                    "include = false (instead of true) in its [[material]]\n",
                    "--translate",
                    &format!("--drop-outliers; the rest stands in {SETTINGS}\n"),
                ],
            );
            output = bounded(&here, file, &["--up", "z", "--drop-outliers"]).0;
        }
        let text = String::from_utf8_lossy(&output.stderr);
        println!("{}: {:?} in {time:?}\n{text}", file.display(), output.status.code());
        // a wall of one sheet, and what stands on its side
        let none = text.contains("every triangle is vertical");
        assert_eq!(output.status.code(), Some(if none { 2 } else { 0 }), "{}: {text}", file.display());
    }
}

/// Another reader, of a few lines, sees the same numbers and the same faces, but for how concave ones are cut.
#[test]
fn cg_01_real_meshes_are_read_as_they_stand() {
    let meshes = ["city", "fbx", "mavs", "roads", "terrain"].map(real).concat();
    for file in meshes.iter().filter(|f| is_obj(f)) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let read = import::read(&[file], &Frame::default()).unwrap().scene;
        let plain = obj::read(file, false).unwrap();
        let bits = |p: &[[f64; 3]]| p.iter().map(|p| p.map(|v| (v + 0.0).to_bits())).collect::<Vec<_>>();
        assert!(bits(&read.positions) == bits(&plain.positions), "{name}: positions");
        let unnamed = |name: &str| if name.is_empty() { "unnamed".to_string() } else { name.into() };
        let named = |s: &Scene| -> Vec<String> {
            s.triangles.iter().map(|t| unnamed(&s.materials[usize::from(t.material)].name)).collect()
        };
        assert!(named(&read) == named(&plain), "{name}: materials of {} triangles", read.triangles.len());
        let other = read.triangles.iter().zip(&plain.triangles).filter(|(a, b)| a.v != b.v).count();
        // the files that have concave faces
        let most = match name {
            "blender_293_instancing.obj" => 80,
            "maya_axes.obj" => 50,
            "RoadBlockade_01.obj" => 18,
            _ => 0,
        };
        assert!(other <= most, "{name}: {other} triangles");
    }
}

/// The bytes of the mesh decide, not how its faces are cut, named or placed in the file.
#[test]
fn cg_02_a_cube_of_quads_is_the_cube_of_triangles() {
    let here = folder("a_cube_of_quads");
    let corners = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n";
    let quads = [[1, 4, 3, 2], [5, 6, 7, 8], [1, 2, 6, 5], [2, 3, 7, 6], [3, 4, 8, 7], [4, 1, 5, 8]];
    let (mut whole, mut cut) = (corners.to_string(), corners.to_string());
    for [a, b, c, d] in quads {
        writeln!(whole, "f {a} {b} {c} {d}").unwrap();
        writeln!(cut, "f {a} {b} {c}\nf {a} {c} {d}").unwrap();
    }
    fs::write(here.join("quads.obj"), whole).unwrap();
    fs::write(here.join("cut.obj"), cut).unwrap();
    for name in ["quads", "cut"] {
        expect(0, &here, &["build", &format!("{name}.obj")]);
        let import = import::read(&[here.join(format!("{name}.obj"))], &Frame::default()).unwrap();
        assert_eq!(import.scene.triangles.len(), 12);
    }
    assert_eq!(info(&here, "quads.hpan")["identity"], info(&here, "cut.hpan")["identity"]);
}

#[test]
fn scale_unit_axes_rotation_translation() {
    let here = folder("scale_unit_axes_rotation_translation");
    fs::write(here.join("a.obj"), "v 100 0 -200\nv 300 0 -250\nv 100 100 -700\nf 1 2 3\n").unwrap();
    let bounds = |options: &[&str]| {
        let arguments = [&["build", "a.obj", "-o", "a.hpan"], options].concat();
        expect(0, &here, &arguments);
        let info = info(&here, "a.hpan");
        let [low, high] = ["min", "max"].map(|k| info["bounds"][k].as_array().unwrap().clone());
        let number = |v: &Value| v.as_f64().unwrap();
        (low.iter().map(number).collect::<Vec<_>>(), high.iter().map(number).collect::<Vec<_>>())
    };
    let y_up = bounds(&["--up", "y", "--unit", "cm"]);
    assert_eq!(y_up, (vec![1.0, 2.0, 0.0], vec![3.0, 7.0, 1.0]));
    assert_eq!(bounds(&["--up", "-y", "--unit", "cm"]), (vec![1.0, -7.0, -1.0], vec![3.0, -2.0, 0.0]));
    assert_eq!(bounds(&["--up=-z"]), (vec![100.0, -100.0, 200.0], vec![300.0, 0.0, 700.0]));
    assert_eq!(
        bounds(&["--up", "x", "--unit", "km", "--scale", "1e-3"]),
        (vec![200.0, 0.0, 100.0], vec![700.0, 100.0, 300.0])
    );
    let turned = ["--up", "y", "--unit", "cm", "--rotate", "-90", "--translate", "-10,.5,-1e1"];
    assert_eq!(bounds(&turned), (vec![-8.0, -2.5, -10.0], vec![-3.0, -0.5, -9.0]));
    let near = |a: f64, b: f64| (a - b).abs() < 1e-3;
    let (low, high) = bounds(&["--up", "z", "--rotate", "-30.5", "--translate=0,0,0"]);
    assert!(near(low[0], 86.1629) && near(high[1], 35.4091), "{low:?} {high:?}");
    let (low, _) = bounds(&["--up", "z", "--unit", "us-ft"]);
    assert!(near(low[0], 100.0 * 1200.0 / 3937.0), "{low:?}");

    for bad in [
        &["--translate", "1,2"][..],
        &["--translate", "1,2,x"],
        &["--translate", "1,2,nan"],
        &["--rotate", "inf"],
        &["--rotate", "north"],
        &["--scale", "-1"],
        &["--unit", "yd"],
        &["--up", "w"],
    ] {
        let [_, why] = expect(2, &here, &[&["build", "a.obj"], bad].concat());
        assert!(why.contains(bad[0]), "{why}");
    }
}

#[test]
fn several_files_are_one_scene() {
    let here = folder("several_files_are_one_scene");
    fs::write(here.join("a.obj"), format!("o road\nusemtl stone\n{SQUARE}")).unwrap();
    fs::create_dir(here.join("far")).unwrap();
    let beside = SQUARE.replace("10", "20").replace("v 0", "v 15");
    fs::write(here.join("far/b.obj"), format!("usemtl stone\no road\n{beside}g edge\nusemtl mud\nf 1 2 3\n")).unwrap();
    let why = error(2, &here, &["build", "a.obj", "far/b.obj"]);
    assert!(why.contains("-o"), "{why}");
    expect(0, &here, &["build", "a.obj", "far/b.obj", "-o", "ab.hpan"]);
    expect(0, &here, &["build", "far/b.obj", "a.obj", "-o", "ba.hpan"]);
    let [ab, ba] = ["ab.hpan", "ba.hpan"].map(|n| info(&here, n));
    assert_eq!(ab["identity"], ba["identity"]);
    assert_eq!(ab["sources"], serde_json::json!(["a.obj/road", "b.obj/road", "b.obj/road/edge"]));
    assert_eq!(ab["materials"].as_array().unwrap().len(), 2);
    let [out, _] = expect(0, &here, &["query", "ab.hpan", "17,4", "2,3"]);
    holds(&out, &["a.obj/road", "b.obj/road"]);
    let why = error(2, &here, &["build", "a.obj", "far/b.obj", "-o", "far/b.obj", "--force"]);
    assert!(why.contains("its own source"), "{why}");
    let why = error(2, &here, &["build", "a.obj", "far/c.obj", "-o", "ab.hpan"]);
    assert!(why.contains("far/c.obj"), "{why}");
    // the same file twice
    expect(0, &here, &["build", "a.obj", "a.obj", "-o", "aa.hpan"]);
    assert_eq!(info(&here, "aa.hpan")["triangles"], 2);
}

#[test]
fn what_cannot_be_read_says_what_to_do() {
    let here = folder("what_cannot_be_read");
    fs::write(here.join("wall.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    fs::write(here.join("one.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::write(here.join("slope.obj"), "v 0 0 0\nv 1 0 1\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::write(here.join("point.obj"), "v 7 8 9\nv 7 8 9\nf 1 2 1\nf 2 1 2\n").unwrap();
    fs::write(here.join("lines.obj"), "v 0 0 0\nv 1 0 0\nf 1 2 1\nf 2 1 2\n").unwrap();
    fs::write(
        here.join("dust.obj"),
        "v 0 0 0\nv 1e-5 0 0\nv 0 1e-5 0\nv 9 0 0\nv 9.00001 0 0\nv 9 1e-5 0\nf 1 2 3\nf 4 5 6\n",
    )
    .unwrap();
    fs::write(here.join("points.obj"), "v 0 0 0\nv 1 0 0\n").unwrap();
    fs::write(here.join("none.obj"), "").unwrap();
    fs::write(here.join("far.obj"), "v 1e13 0 0\nv 2e13 0 0\nv 1e13 1e13 0\nf 1 2 3\n").unwrap();
    fs::write(here.join("hidden.obj"), "glTF\x02\0\0\0").unwrap();
    fs::write(here.join("cut.obj"), "Kaydara FBX Binary  \0").unwrap();
    fs::write(here.join("packed.obj"), b"PK\x03\x04.....").unwrap();
    let zeros = fs::File::create(here.join("zeros.obj")).unwrap();
    zeros.set_len(3 << 30).unwrap();
    fs::write(here.join("track.txt"), "x").unwrap();
    let names = |here: &Path| fs::read_dir(here).unwrap().count();
    let before = names(&here);
    for (code, arguments, parts) in [
        (2, &["."][..], &["this is a folder; name a mesh in it, FILE.obj, FILE.fbx, "][..]),
        (2, &["/dev/null"], &["a device or a pipe", ".obj"]),
        (2, &["absent.obj"], &["absent.obj: there is no such file or folder; check the spelling\n"]),
        (2, &["pionts.obj"], &["there is no such file or folder; check the spelling (did you mean \"points.obj\"?)\n"]),
        (2, &["one.obj/x.obj"], &["one.obj/x.obj: a part of this path is not a folder"]),
        (2, &["none.obj"], &["there are no faces"]),
        (2, &["points.obj"], &["there are no faces", "f lines"]),
        (2, &["wall.obj"], &["100 % with y up; state --up y"]),
        (2, &["wall.obj", "--up", "z"], &["every triangle is vertical", "type --up y"]),
        (2, &["one.obj", "--up", "y", "--rotate", "45"], &["every triangle is vertical", "type --up z"]),
        (
            2,
            &["one.obj", "--up", "z", "--scale", "1e-4"],
            &[
                "all of it is too small, 0.0001 by 0.0001 by 0 m, where the lattice has steps of 0.000244 m; check --unit and --scale\n",
            ],
        ),
        (2, &["wall.obj", "--up", "z", "--unit", "mm", "--scale", "1e-9"], &["too small, 1e-12 by 0 by 1e-12 m"]),
        (
            2,
            &["slope.obj", "--up", "z", "--max-slope", "5"],
            &["left out by the settings; check --unit, --scale and --max-slope"],
        ),
        (
            2,
            &["point.obj"],
            &["every triangle is vertical or collapsed: all corners lie in one place; export the mesh again\n"],
        ),
        (2, &["lines.obj"], &["every triangle is vertical or collapsed: none has an area; export the mesh again\n"]),
        (
            2,
            &["dust.obj"],
            &["every triangle is vertical or collapsed, on a lattice with steps of 0.000244 m", "--scale"],
        ),
        (2, &["far.obj"], &["far from its zero", "--translate"]),
        (2, &["zeros.obj"], &["every byte of the file is zero: it was never written whole; copy it again"]),
        (2, &["cut.obj"], &["cut.obj: byte 21: the file ends here"]),
        (2, &["hidden.obj"], &["byte 8: it states 0 bytes, and has 8"]),
        (2, &["packed.obj"], &["this is no whole zip file"]),
        (3, &["track.txt"], &["txt files are not read", "hardpan build FILE.obj"]),
    ] {
        let [out, why] = expect(code, &here, &[&["build"], arguments].concat());
        assert!(out.is_empty() && why.lines().last().unwrap().starts_with("error: "), "{why}");
        holds(&why, parts);
        let typed = arguments.iter().position(|a| *a == "--up").map(|i| arguments[i + 1]);
        assert!(typed.is_none_or(|up| !why.contains(&format!("--up {up}"))), "{why}");
        assert_eq!(names(&here), before, "{arguments:?} left something behind");
    }
    expect(0, &here, &["build", "one.obj"]);

    // as somebody who may not read it
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(here.join("one.obj"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(here.join("one.obj")).is_ok() {
        println!("skipped an unreadable file, because this user may read everything");
    } else {
        holds(&error(4, &here, &["build", "one.obj"]), &["permission denied", "ls -l one.obj"]);
    }

    // a demo where there can be none
    fs::write(here.join("hardpan-demo"), "").unwrap();
    holds(&error(2, &here, &["demo"]), &["hardpan-demo", "is a file", "elsewhere"]);

    // a pipe without a writer
    let made = Command::new("mkfifo").arg(here.join("pipe.obj")).status();
    if made.is_ok_and(|s| s.success()) {
        holds(&error(2, &here, &["build", "pipe.obj"]), &["a device or a pipe"]);
    } else {
        println!("skipped a pipe, because there is no mkfifo");
    }
}

#[test]
fn one_triangle_over_the_whole_domain() {
    let here = folder("one_triangle_over_the_whole_domain");
    let most = 524_287.999;
    let text = format!("v -{most} 0 0\nv {most} {most} 0\nv 0 -{most} 30000\nf 1 2 3\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("whole-domain.obj");
    fs::write(&file, text).unwrap();
    let (output, time) = bounded(&here, &file, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(time < Duration::from_secs(10), "{time:?}");
}

#[test]
fn cg_02_polygons_of_very_many_corners_end_soon() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many-corners.obj");
    let mut r = verification::random::Random(7);
    // jagged stars and tangles
    for (n, star) in [(8_192, true), (60_000, true), (8_000, false), (9_000, false)] {
        let mut text = String::new();
        for i in 0..n {
            let angle =
                if star { f64::from(i) } else { r.below(n as usize) as f64 } / f64::from(n) * std::f64::consts::TAU;
            let radius = 500.0 + r.below(500) as f64;
            writeln!(text, "v {} {} 0", radius * angle.cos(), radius * angle.sin()).unwrap();
        }
        text += "f";
        (1..=n).for_each(|i| write!(text, " {i}").unwrap());
        fs::write(&file, text).unwrap();
        let start = Instant::now();
        let import = import::read(&[&file], &Frame::default());
        assert!(start.elapsed() < Duration::from_secs(10), "{n} corners: {:?}", start.elapsed());
        match (n, import) {
            (9_000, Err(e)) => {
                assert_eq!(e.place, Place::Line(9_001));
                holds(
                    &e.to_string(),
                    &[
                        "a face of 9,000 corners crosses itself or covers a place twice, and such faces may have at most 8,192 corners",
                        "mesh editor",
                    ],
                );
            }
            (9_000, Ok(_)) => panic!("more corners than can be"),
            (_, import) => {
                let count = import.unwrap().scene.triangles.len();
                assert!(!star || count == n as usize - 2, "{count} triangles");
            }
        }
    }
}

/// The default origin follows the median; of what fits about another one that is named, and of what fits about none
/// that is said.
#[test]
fn vt_24_ground_that_fits_about_another_origin() {
    let here = folder("ground_that_fits_about_another_origin");
    let square = |low: [f64; 2], side: f64| {
        let [x, y] = low;
        format!("v {x} {y} 7\nv {} {y} 7\nv {} {} 7\nv {x} {} 7\nf 1 2 3 4\n", x + side, x + side, y + side, y + side)
    };
    for (low, side, origin) in [
        ([-524_287.0; 2], 1_048_574.0, Some("0,0,0")),
        ([-524_288.0; 2], 1_048_575.999_755_859_4, Some("0,0,0")),
        ([4_096.0 * 300.0 - 524_288.0, -8_192.0 - 524_288.0], 1_048_575.0, Some("1228800,-8192,0")),
        ([-524_288.0; 2], 1_048_576.0, None),
        ([-523_000.0; 2], 1_048_570.0, None),
        ([-600_000.0; 2], 1_200_000.0, None),
    ] {
        fs::write(here.join("a.obj"), square(low, side)).unwrap();
        let line = ["build", "a.obj", "--up", "z", "--unit", "m"];
        let [_, why] = expect(2, &here, &line);
        let Some(origin) = origin else {
            holds(
                &why,
                &[
                    "2 of 2 triangles lie outside the domain, among them most of an object; ",
                    "\none image cannot hold all of it, wherever its origin is\n",
                ],
            );
            continue;
        };
        holds(
            &why,
            &["\nabout another origin one image holds all of it: origin = [", &format!(" --origin {origin}, ")],
        );
        assert!(!here.join("a.hpan").exists());
        let [out, _] = expect(0, &here, &[&line[..], &["--origin", origin]].concat());
        assert!(!out.contains("left out"), "{out}");
        // and as settings
        let list = why.split(": origin = ").nth(1).unwrap().split(" under [build]").next().unwrap();
        fs::write(here.join("s.toml"), format!("[build]\norigin = {list}\n")).unwrap();
        expect(0, &here, &[&line[..], &["--settings", "s.toml", "-o", "b.hpan"]].concat());
        assert_eq!(info(&here, "a.hpan")["identity"], info(&here, "b.hpan")["identity"]);
        fs::remove_file(here.join("a.hpan")).unwrap();
    }
}

/// An image's tile names 256 pairs of material and source; the builder makes tiles as small as that needs.
#[test]
fn many_objects_in_a_small_place() {
    let mut scene = Scene { materials: vec![Material::new("m", 1.0)], ..Scene::default() };
    for i in 0..2000u32 {
        let (x, y) = (f64::from(i % 50), f64::from(i / 50));
        let base = scene.positions.len() as u32;
        scene.positions.extend([[x, y, 0.0], [x + 1.0, y, 0.0], [x, y + 1.0, 0.1]]);
        scene.triangles.push(Triangle { v: [base, base + 1, base + 2], material: 0, source: i as u16 });
        scene.sources.push(format!("object {i}"));
    }
    // ground below all of it
    let base = scene.positions.len() as u32;
    scene.positions.extend([[-100.0, -100.0, -1.0], [200.0, -100.0, -1.0], [50.0, 300.0, -1.0]]);
    scene.triangles.push(Triangle { v: [base, base + 1, base + 2], material: 0, source: 0 });
    let first = build(&scene, &Options::default()).unwrap();
    let terrain = Terrain::open_verified(&first.image).unwrap();
    let answer = terrain.closest([17.2, 23.3, 0.0]);
    assert_eq!(terrain.source_name(answer.hit.source), format!("object {}", 23 * 50 + 17));
    scene.triangles.reverse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let second = pool.install(|| build(&scene, &Options::default())).unwrap();
    assert!(first.image[..] == second.image[..]);
}

/// Whatever side of tiles is told to be better can be taken.
#[test]
fn sides_of_tiles_that_are_named_can_be_built() {
    let folder = folder("sides_of_tiles_that_are_named");
    // 3,600 objects in 12 m by 12 m of ground that is 100 m large
    let mut text = String::from("o ground\nv 0 0 -9\nv 100 0 -9\nv 100 100 -9\nv 0 100 -9\nf 1 2 3 4\n");
    for i in 0..3600 {
        let [x, y] = [f64::from(i % 60) * 0.2, f64::from(i / 60) * 0.2];
        let [high_x, high_y] = [x + 0.2, y + 0.2];
        writeln!(text, "o {i}\nv {x} {y} 0\nv {high_x} {y} 0\nv {x} {high_y} 0\nf -3 -2 -1").unwrap();
    }
    fs::write(folder.join("a.obj"), text).unwrap();
    let built = |code: i32, tile: &str| {
        expect(code, &folder, &["build", "a.obj", "--up", "z", "--unit", "m", "--tile", tile])[1].clone()
    };
    expect(0, &folder, &["build", "a.obj", "--up", "z", "--unit", "m"]);
    for tile in ["14", "20"] {
        let why = built(2, tile);
        let (_, named) = why.rsplit_once("use smaller tiles, tile_log2 = ").unwrap_or_else(|| panic!("{why}"));
        built(0, named.strip_suffix(" (--tile)\n").unwrap());
    }
    // and where it is no error, but an image larger than need be
    let note = built(0, "12");
    let (_, named) = note.split_once("fewer take less, as with --tile ").unwrap_or_else(|| panic!("{note}"));
    built(0, named.lines().next().unwrap());
}

/// Tiles that lie too far apart for their size, and those that no size makes fit.
#[test]
fn sides_of_tiles_are_named_where_there_are_some() {
    let at = |[x, y, z]: [f64; 3]| [[x, y, z], [x + 1.0, y, z], [x, y + 1.0, z]];
    let scene = |places: &[[f64; 3]]| Scene {
        materials: vec![Material::new("m", 1.0)],
        sources: (0..places.len()).map(|i| format!("object {i}")).collect(),
        positions: places.iter().copied().flat_map(at).collect(),
        triangles: (0..places.len() as u32)
            .map(|i| Triangle { v: [3 * i, 3 * i + 1, 3 * i + 2], material: 0, source: i as u16 })
            .collect(),
        ..Scene::default()
    };
    let options = |tile| Options { tile_log2: Some(tile), origin: Some([0.0; 3]), ..Options::default() };
    let refused = |scene: &Scene, tile: u8| build(scene, &options(tile)).err().map(|e| e.to_string()).unwrap();
    let far = scene(&[[-400_000.0, 0.0, 0.0], [400_000.0, 9.0, 0.0]]);
    let why = refused(&far, 6);
    let (_, named) = why.rsplit_once("use larger tiles, tile_log2 = ").unwrap_or_else(|| panic!("{why}"));
    build(&far, &options(named.parse().unwrap())).unwrap();
    let heap = scene(&(0..300).map(|i| [0.0, 0.0, f64::from(i)]).collect::<Vec<_>>());
    let why = refused(&heap, 14);
    assert!(why.contains("300 pairs of material and source") && !why.contains("tile_log2"), "{why}");
}

#[test]
fn by_10_notes_say_what_was_left_out() {
    let here = folder("notes_say_what_was_left_out");
    let text = format!(
        "mtllib my\x1B[2J.mtl\n{SQUARE}f 1 2\nf 2 3\nl 1 2\nv 0 0 nan\nf 1 2 5\no \x07bell\nusemtl \x1B[31mred\nf 1 2 3\n"
    );
    fs::write(here.join("a.obj"), text).unwrap();
    let [_, notes] = expect(0, &here, &["build", "a.obj"]);
    holds(
        &notes,
        &[
            "note: a.obj: line 1: material library \"my\\u{1b}[2J.mtl\": it is not there",
            "note: a.obj: points and lines left out: 1 (first at line 9)",
            "warning: a.obj: faces left out that have a corner that is not a finite number: 1 (first at line 11)",
        ],
    );
    // a build prints four lines, and the report has all
    assert!(notes.lines().count() == 4 && notes.ends_with("more lines; to list them: --report FILE.json\n"), "{notes}");
    // a material that no library defines is named
    fs::write(here.join("u.mtl"), "newmtl grass\n").unwrap();
    fs::write(here.join("u.obj"), format!("mtllib u.mtl\nusemtl grass\n{SQUARE}usemtl Gras\x07\nf 1 2 3\n")).unwrap();
    let [_, notes] = expect(0, &here, &["build", "u.obj", "--report", "u.json"]);
    let wanted = "note: u.obj: materials used that no material library defines: 1 (1 triangle): \"Gras\\u{7}\"\n";
    holds(&notes, &[wanted]);
    let report: serde_json::Value = serde_json::from_slice(&fs::read(here.join("u.json")).unwrap()).unwrap();
    let repaired = report["import"]["files"][0]["repaired"].as_array().unwrap();
    assert!(repaired.iter().any(|c| c["what"] == "materials_undefined" && c["names"][0] == "Gras\u{7}"), "{report}");
    // and no library is replaced by what is made of it
    for typed in [
        &["build", "u.obj", "-o", "u.mtl", "--force"][..],
        &["build", "u.obj", "-o", "v.hpan", "--report", "./u.mtl", "--force"],
        &["materials", "u.obj", "-o", "u.mtl", "--force"],
    ] {
        holds(&error(2, &here, typed), &["u.mtl: this would replace its own source; name another file"]);
        assert_eq!(fs::read(here.join("u.mtl")).unwrap(), b"newmtl grass\n");
        assert!(!here.join("v.hpan").exists());
    }
    // nor where that is not known yet
    fs::write(here.join("broken.obj"), "mtllib u.mtl\nv 1 2\n").unwrap();
    error(2, &here, &["build", "broken.obj", "--report", "u.mtl", "--force"]);
    assert_eq!(fs::read(here.join("u.mtl")).unwrap(), b"newmtl grass\n");
    // half of a face with its corners in another order is lost
    fs::write(here.join("bow.obj"), SQUARE.replace("f 1 2 3 4", "f 1 2 4 3")).unwrap();
    let warning = "bow.obj: faces that cross themselves, as if their corners came in another order; filled as well as can be, and ground may be missing: 1 (first at line 5)";
    holds(&expect(0, &here, &["build", "bow.obj"])[1], &[&format!("warning: {warning}\n")]);
    // nothing of one that names a corner twice, or touches itself
    for (name, face) in [("again.obj", "1 2 3 4 4 5"), ("pinched.obj", "1 2 3 4 5 6 4")] {
        let corners = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 5 5 0\nv 0 10 0\nv 0 8 0\n";
        fs::write(here.join(name), format!("{corners}f {face}\n")).unwrap();
        let said = expect(0, &here, &["build", name])[1].clone();
        assert!(!said.contains("cross"), "{said}");
    }
    let strict = expect(1, &here, &["build", "bow.obj", "--strict", "--force"]);
    holds(&strict[1], &["2 warnings, and --strict: no image was written"]); // and that no friction is stated
    for arguments in
        [&["info", "a.hpan"][..], &["query", "a.hpan", "1,2", "6,3"], &["query", "a.hpan", "6,3", "--explain"]]
    {
        let [out, _] = expect(0, &here, arguments);
        assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out:?}");
    }
    let report = import::read(&[here.join("a.obj")], &Frame::default()).unwrap().report;
    let json = serde_json::to_value(&report).unwrap();
    let list = |name: &str| json["files"][0][name].as_array().unwrap().clone();
    assert!(list("used").iter().any(|c| c["what"] == "triangles" && c["count"] == 3));
    assert!(list("refused").iter().any(|c| c["what"] == "faces_not_finite" && c["first_line"] == 11));
    assert!(list("repaired").iter().any(|c| c["what"] == "polygons" && c["count"] == 1));
    assert!(list("ignored").iter().any(|c| c["what"] == "points_and_lines"));
}

#[test]
fn errors_are_for_programs_too() {
    let here = folder("errors_are_for_programs_too");
    fs::write(here.join("a.obj"), "v 0 0 0\nv 0 x 0\n").unwrap();
    let path = here.join("a.obj");
    let error = import::read(&[&path], &Frame::default()).unwrap_err();
    assert_eq!((error.kind, error.place, &error.file), (ImportErrorKind::Input, Place::Line(2), &path));
    let unsupported = import::read(&[here.join("a.dae")], &Frame::default()).unwrap_err();
    assert_eq!(unsupported.kind, ImportErrorKind::Input, "a file that is not there comes first");
    fs::write(here.join("a.dae"), "").unwrap();
    let unsupported = import::read(&[here.join("a.dae")], &Frame::default()).unwrap_err();
    assert_eq!(unsupported.kind, ImportErrorKind::Unsupported);
}

/// A road as one face, a plate with a kerb along it, and triangles that all meet in one corner: files that people have.
#[test]
fn cg_02_long_outlines_and_fans_build_and_are_proven() {
    let here = folder("cg_02_long_outlines_and_fans_build_and_are_proven");
    let ribbon = |n: usize| {
        let side = |i: usize, off: f64| {
            let along = 0.2 * i as f64;
            let bend = (along / 60.0).sin();
            [along, 20.0 * bend + off, 0.05 * bend]
        };
        let there = (0..n / 2).map(|i| side(i, -4.0));
        there.chain((0..n / 2).rev().map(|i| side(i, 4.0))).collect::<Vec<_>>()
    };
    let plate = |n: usize| {
        let edge = (0..n).map(|i| [100.0 - 0.1 * i as f64, 50.0, 0.01 * (i % 3) as f64]);
        [[0.0; 3], [100.0, 0.0, 0.0]].into_iter().chain(edge).collect::<Vec<_>>()
    };
    let fan = |n: usize| {
        let round = |i: usize| (std::f64::consts::TAU * i as f64 / n as f64).sin_cos();
        let rim = (0..n).map(|i| [300.0 * round(i).1, 300.0 * round(i).0, 0.0]);
        let corners: Vec<[f64; 3]> = [[0.0; 3]].into_iter().chain(rim).collect();
        (corners, (0..n).map(|i| vec![0, 1 + i, 1 + (i + 1) % n]).collect::<Vec<_>>())
    };
    let whole = |corners: Vec<[f64; 3]>| {
        let all = (0..corners.len()).collect();
        (corners, vec![all])
    };
    // bytes a triangle at most
    for (name, (corners, faces), most) in [
        ("ribbon400", whole(ribbon(400)), 100),
        ("ribbon8000", whole(ribbon(8000)), 40),
        ("plate1000", whole(plate(1000)), 400),
        ("fan1000", fan(1000), 3000),
    ] {
        let mut text = String::new();
        corners.iter().for_each(|[x, y, z]| text += &format!("v {x} {y} {z}\n"));
        for face in &faces {
            text += "f";
            face.iter().for_each(|i| text += &format!(" {}", i + 1));
            text += "\n";
        }
        let triangles = if faces.len() == 1 { corners.len() - 2 } else { faces.len() };
        fs::write(here.join(format!("{name}.obj")), text).unwrap();
        let [_, notes] = expect(0, &here, &["build", &format!("{name}.obj"), "--rays", "none"]);
        assert_eq!(but_friction(&notes), "", "{name}");
        let image = format!("{name}.hpan");
        expect(0, &here, &["verify", &image, "--against", &format!("{name}.obj")]);
        let bytes = fs::read(here.join(&image)).unwrap();
        let stored = info(&here, &image)["triangles"].as_u64().unwrap();
        assert_eq!(stored, triangles as u64, "{name}");
        assert!(bytes.len() as u64 <= most * stored, "{name}: {} bytes of {stored} triangles", bytes.len());
    }
    let (corners, faces) = fan(3000);
    let corners = corners.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let faces = faces.iter().map(|f| format!("f {} {} {}\n", f[0] + 1, f[1] + 1, f[2] + 1));
    fs::write(here.join("fan.obj"), corners.chain(faces).collect::<String>()).unwrap();
    let [_, notes] = expect(0, &here, &["build", "fan.obj", "--tile", "22"]);
    holds(
        &notes,
        &["note: fan.obj: ", " bytes a triangle: triangles lie crowded, up to 3,000 over a place are tested; "],
    );
}

/// Large triangles in small tiles that somebody asked for, or a few far apart, make a large image, and that is said.
#[test]
fn few_triangles_over_many_tiles_are_told() {
    let folder = folder("few_triangles_over_many_tiles_are_told");
    fs::write(folder.join("a.obj"), SQUARE.replace("10", "4000")).unwrap();
    let [_, err] = expect(0, &folder, &["build", "a.obj", "--tile", "16"]);
    holds(
        &err,
        &["note: a.obj: ", " bytes a triangle: each of the 63,001 tiles has its own head", "as with --tile 18\n"],
    );
    assert!(!expect(0, &folder, &["build", "a.obj"])[1].contains("bytes a triangle"));
    let one = |k: i32| format!("v {0} {1} 0\nv {0}.9 {1} 0\nv {0} {1}.9 0\nf -3 -2 -1\n", k % 32 * 6007, k / 32 * 6011);
    fs::write(folder.join("far.obj"), (0..1024).map(one).collect::<String>()).unwrap();
    let size = |more: &[&str]| {
        let line = [&["build", "far.obj", "--up", "z", "--unit", "m"], more].concat();
        let told = expect(0, &folder, &line)[1].lines().find(|l| l.contains("bytes a triangle")).map(String::from);
        (told, fs::metadata(folder.join("far.hpan")).unwrap().len())
    };
    let (told, large) = size(&[]);
    let told = told.unwrap();
    holds(&told, &["note: far.obj: ", " bytes a triangle: each of the 1,024 tiles has its own head"]);
    let (_, typed) = told.rsplit_once("as with ").unwrap();
    let (_, less) = size(&typed.split(' ').collect::<Vec<_>>());
    assert!(less < large / 4 * 3, "{less} of {large}");
    // large ones over each other, in the largest tiles there are
    let mut random = verification::random::Random(4);
    let mut corner = || [0; 3].map(|_| random.below(1_000_000));
    let vast = |_| {
        let corners = [corner(), corner(), corner()].map(|[x, y, z]| format!("v {x} {y} {}\n", z / 1000));
        corners.concat() + "f -3 -2 -1\n"
    };
    let vast: Vec<String> = (0..3000).map(vast).collect();
    fs::write(folder.join("vast.obj"), vast[..100].concat()).unwrap();
    let [_, err] = expect(0, &folder, &["build", "vast.obj", "--up", "z", "--unit", "m", "--tile", "26"]);
    holds(&err, &["note: vast.obj: ", " tiles has its own head and all that lies over it; there are no larger ones"]);
    let why = error(2, &folder, &["build", "vast.obj", "--up", "z", "--unit", "m", "--tile", "16"]);
    let (_, typed) = why.trim_end().rsplit_once("use larger tiles, tile_log2 = ").unwrap();
    let tile = typed.strip_suffix(" (--tile)").unwrap();
    expect(0, &folder, &["build", "vast.obj", "--up", "z", "--unit", "m", "--tile", tile]);
    // or more than those can hold: no larger ones are named
    fs::write(folder.join("vast.obj"), vast.concat()).unwrap();
    for tile in ["22", "24", "26"] {
        let why = error(2, &folder, &["build", "vast.obj", "--up", "z", "--unit", "m", "--tile", tile]);
        holds(&why, &[" plan steps are too small for this scene: ", "; no larger ones fit it; build it in parts, or "]);
        assert!(!why.contains("--tile"), "{why}");
    }
}

/// A file without its last line's end may be cut off, and is where that is a face of too few corners.
#[test]
fn vt_24_files_that_are_cut_off_are_told() {
    let folder = folder("files_that_are_cut_off_are_told");
    let whole = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nv 20 0 0\nv 20 9 0\nf 1 2 3 4\nf 2 5 6 3\n";
    let said = |text: &str| {
        fs::write(folder.join("a.obj"), text).unwrap();
        but_friction(&expect(0, &folder, &["build", "a.obj"])[1])
    };
    let at = |line: u32| format!(": 1 (first at line {line})\n");
    let cut =
        "warning: a.obj: last line that is cut off (export the file again; if it is whole, give it its line's end)";
    let small = "note: a.obj: faces left out that have fewer than three corners";
    let maybe = "note: a.obj: last line without its end (the file may be cut off there, and a face in it lack corners; if so, export it again)";
    assert_eq!(said(whole), "");
    assert_eq!(said(&format!("{whole}# no more")), "");
    assert_eq!(said(whole.trim_end()), format!("{maybe}{}", at(8)));
    assert_eq!(said(whole.trim_end_matches(" 6 3\n")), format!("{cut}{}{small}{}", at(8), at(8)));
    assert_eq!(said(&format!("{whole}usemtl Gra")), format!("{maybe}{}", at(9)));
    assert_eq!(said(&format!("{whole}v 1 2 3")), format!("{maybe}{}", at(9)));
    fs::write(folder.join("a.obj"), whole.trim_end_matches(" 5 6 3\n")).unwrap();
    let [_, err] = expect(1, &folder, &["build", "a.obj", "--strict"]);
    holds(&err, &[cut, ": 2 warnings, and --strict"]);
}

/// A file that only has the name of an image is no image, for readers of meshes and of images.
#[test]
fn a_text_by_the_name_of_an_image_is_none() {
    let folder = bridge("a_text_by_the_name_of_an_image_is_none");
    expect(0, &folder, &["build", "bridge.obj"]);
    fs::write(folder.join("x.hpan"), "hello\n").unwrap();
    let commands =
        [&["build"][..], &["check"], &["materials"], &["grid", "--cell", "1"], &["verify", "bridge.hpan", "--against"]];
    for command in commands {
        let why = error(2, &folder, &[command, &["x.hpan"]].concat());
        holds(&why, &["x.hpan: ", "none"]);
        assert!(!why.contains("hardpan info"), "{command:?}: {why}");
    }
    // and one that is an image is called so
    holds(&error(2, &folder, &["build", "bridge.hpan"]), &["hardpan info bridge.hpan"]);
}
