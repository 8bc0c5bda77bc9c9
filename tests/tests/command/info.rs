//! `hardpan info --json`, against its written shape.

use std::{fs, path::Path};

use crate::shell::{BRIDGE, expect, folder};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Options, build};
use jsonschema::Validator;
use serde_json::{Map, Value, json};

const SQUARE: &str = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nf 1 2 3 4\n";
const PARTS: [&str; 5] = ["--leaves", "--tiles", "--sections", "--materials", "--provenance"];
/// Keys that may be left out.
const OPTIONAL: [&str; 9] = ["leaves", "tiles", "sections", "materials", "provenance", "up", "unit", "lines", "rays"];

fn schema() -> Validator {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/info.schema.json"));
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// Facts of an image, which have the shape.
#[track_caller]
fn facts(schema: &Validator, folder: &Path, image: &str, options: &[&str]) -> Value {
    let [out, err] = expect(0, folder, &[&["info", image, "--json"], options].concat());
    assert_eq!(err, "");
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert!(schema.is_valid(&facts), "{image} {options:?}: {facts:#}");
    facts
}

/// The bytes of a few triangles, with reasons.
#[test]
fn pages_are_told() {
    let folder = crate::shell::bridge("pages_are_told");
    let [out, _] = expect(0, &folder, &["info", "bridge.hpan"]);
    let wanted = "\npages       4 of 4,096 bytes beside a directory of 16 bytes: a page for each square of 32 x 32 tiles, 4096 m, that has ground\n";
    assert!(out.contains(wanted), "{out}");
    // within one square of them
    fs::write(folder.join("small.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "small.obj", "--translate", "1000,1000,0"]);
    let [out, _] = expect(0, &folder, &["info", "small.hpan"]);
    assert!(out.contains("\npages       1 of 4,096 bytes beside a directory of 4 bytes: "), "{out}");
}

/// No name steers a terminal or turns what stands beside it, wherever it is printed; JSON has it as it is.
#[cfg(unix)]
#[test]
fn names_and_provenance_are_escaped() {
    let folder = folder("names_and_provenance_are_escaped");
    let odd = |name: &str| format!("{name}\u{1b}[31m\u{202e}\u{85}\u{7f}\u{200b}\u{2066}\u{feff}");
    let [file, object, material, crs, licence] = ["f", "o", "m", "c\n", "l"].map(odd);
    let file = file + ".obj";
    fs::write(folder.join(&file), format!("mtllib {material}.mtl\no {object}\nusemtl {material}\n{SQUARE}")).unwrap();
    let quoted = |text: &str| json!(text).to_string().replace('\u{7f}', "\\u007f");
    let settings = format!(
        "crs = {}\n[[source]]\nfile = {}\nlicence = {}\n[[material]]\nname = {}\nmu = 0.5\n",
        quoted(&crs),
        quoted(&file),
        quoted(&licence),
        quoted(&material)
    );
    fs::write(folder.join("s.toml"), settings).unwrap();
    let mut said = expect(0, &folder, &["build", "--settings", "s.toml", "-o", "s.hpan"]).concat();
    for line in [
        &["info", "s.hpan"][..],
        &["info", "s.hpan", "--leaves", "--tiles", "--sections", "--materials", "--provenance"],
        &["query", "s.hpan", "1,1", "--explain"],
        &["query", "s.hpan", "1,1"],
        &["materials", "s.hpan"],
        &["materials", &file],
        &["verify", "s.hpan", "--against", &file],
        &["diff", "s.hpan", "s.hpan"],
    ] {
        said += &expect(0, &folder, line).concat();
    }
    let raw = |c: char| c != '\n' && (c.is_control() || "\u{202e}\u{200b}\u{2066}\u{feff}".contains(c));
    let line = said.lines().find(|line| line.contains(raw));
    assert_eq!(line, None);
    for part in ["f", "o", "m", "l"] {
        assert!(
            said.contains(&format!("{part}\\u{{1b}}[31m\\u{{202e}}"))
                || said.contains(&format!("{part}\\u001B[31m\\u{{202e}}")),
            "{part}: {said}"
        );
    }
    // as it is
    let facts = facts(&schema(), &folder, "s.hpan", &["--provenance", "--materials"]);
    assert_eq!(facts["provenance"]["settings"]["crs"], json!(crs));
    assert_eq!(facts["provenance"]["input"][0]["file"], json!(file));
    assert!(facts["materials"].as_array().unwrap().iter().any(|m| m["name"] == json!(material)), "{facts:#}");
}

/// Every place of a value, by pointer.
fn places(value: &Value, at: String, all: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(k, v)| places(v, format!("{at}/{k}"), all)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| places(v, format!("{at}/{i}"), all)),
        _ => {}
    }
    all.push(at);
}

#[test]
fn vt_32_info_has_the_published_shape() {
    let folder = folder("vt_32_info_has_the_published_shape");
    let schema = schema();
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    fs::write(
        folder.join("s.toml"),
        "crs = \"EPSG:25832\"\npatch_tolerance = 0.01\n[build]\nmax_slope = 60\nstitch = false\norigin = [0, 0, 0]\n\
         max_cost = { tests = 30 }\nsplit = { bundle_size = 8 }\nsource_error = { rest = [0.1, 0.2], side = 1, squares = [[0, 0, 1, 1]] }\n\
         [[source]]\nfile = \"bridge.obj\"\nup = \"z\"\nunit = \"m\"\nscale = 1.5\nyaw_deg = 90\ntranslate = [1, 2, 3]\nlicence = \"CC0\"\n\
         [[material]]\nname = \"Asphalt\"\nmu = 0.7\nclasses = [0, 31]\nlabel = 7\npriority = -1\ncone_index = 9.5\nundersides = \"ground\"\n\
         [[material]]\nname = \"\"\nobstacle = false\n",
    )
    .unwrap();
    expect(0, &folder, &["demo"]);
    expect(0, &folder, &["build", "bridge.obj"]);
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "said.hpan"]);
    let plain = build(&fixtures::cobble(), &Options::default()).unwrap();
    fs::write(folder.join("plain.hpan"), &plain.image[..]).unwrap();

    let images = ["hardpan-demo/proving-ground.hpan", "bridge.hpan", "said.hpan", "plain.hpan"];
    let each = images.map(|image| facts(&schema, &folder, image, &[]));
    for (image, all) in images.iter().zip(&each) {
        let parts = facts(&schema, &folder, image, &PARTS);
        assert_eq!(parts["sections"], all["sections"]);
        assert_eq!(parts["materials"], all["materials"]);
        assert_eq!(parts["leaves"]["bundles"], all["bundles"]);
        for part in PARTS {
            let one = facts(&schema, &folder, image, &[part]);
            assert_eq!(one, json!({ "info": 1, &part[2..]: parts[&part[2..]] }));
        }
    }
    // version, counts, extents, materials, build settings, error and query bound, hashes: what the images have
    let [demo, bridge, said, plain] = &each;
    assert!(demo["patch_blocks"].as_u64() > Some(0) && plain["patch_blocks"].as_u64() > Some(0));
    assert_eq!((&bridge["format"], &bridge["least_reader"]), (&json!(3), &json!(2)));
    assert!(each.iter().all(|all| all["tool"].as_str().unwrap().starts_with("hardpan-builder ")));
    assert_eq!(plain["build"], Value::Null, "nothing is recorded");
    // a mesh has what rays need
    let mut as_demo = bridge["build"].clone();
    assert_eq!(as_demo["rays"].take(), json!("all"));
    assert_eq!((&demo["build"], &demo["division"]), (&as_demo, &json!("by the native rule")));
    assert_eq!((&bridge["build"]["xy_log2"], &bridge["build"]["split"]), (&json!(-12), &Value::Null));
    assert_eq!((&said["build"]["split"]["bundle_size"], &said["build"]["stitch"]), (&json!(8), &json!(false)));
    assert_eq!(said["build"]["max_cost"], json!({ "tests": 30 }));
    assert_eq!(said["defaults"], json!({ "z": 0.0, "mu": 1.0, "rr": 1.0, "gain": 1.0 }));
    let asphalt = json!({
        "name": "Asphalt", "mu": 0.7, "rr": 1.0, "gain": 1.0, "surface_type": 0, "classes": [0, 31], "cone_index": 9.5,
        "label": 7, "priority": -1, "precedence": 0, "friction_only": false, "obstacle": false,
        "include": true,
    });
    assert_eq!(said["materials"][0], asphalt);
    assert_eq!(said["sections"].as_array().unwrap().len(), 9);
    assert!(
        said["sections"][0]["sha256"].as_str().unwrap().len() == 64 && said["error"]["height"].as_f64() > Some(0.2)
    );
    assert_eq!(bridge["bounds"], json!({ "min": [-50.0, -50.0, 0.0], "max": [50.0, 50.0, 6.0] }));
    assert!(bridge["bound"]["tests"].as_u64() > Some(0));
}

/// Tests of triangles whose products need 128 bits are told, where there are any: here of those two, whatever lies on
/// them.
#[test]
fn wide_tests_are_told() {
    let folder = folder("wide_tests_are_told");
    for (side, wide, classes) in [(60_000, 2, 16), (60, 0, 0)] {
        let mut obj = format!("v 0 0 0\nv {side} 0 1\nv {side} {side} 2\nv 0 {side} 3\nf 1 2 3\nf 1 3 4\n");
        for deck in 0..9 {
            obj += &["3 3", "9 3", "3 9"].map(|p| format!("v {p} {}\n", 30 + deck)).concat();
            obj += "f -3 -2 -1\n";
        }
        fs::write(folder.join("p.obj"), obj).unwrap();
        expect(0, &folder, &["build", "p.obj", "-o", "p.hpan"]);
        let leaves = facts(&schema(), &folder, "p.hpan", &["--leaves"]);
        assert_eq!(leaves["leaves"]["classes"]["wide"], classes);
        let said = facts(&schema(), &folder, "p.hpan", &[]);
        assert_eq!(said["wide_tests"], wide);
        assert!(said["bound"]["tests"].as_u64() >= Some(9), "{said}");
        let [out, _] = expect(0, &folder, &["info", "p.hpan"]);
        assert_eq!(out.contains(&format!("\nwide        up to {wide} tests: ")), wide > 0, "{out}");
        assert_eq!(out.contains("\nwide "), wide > 0, "{out}");
    }
}

/// JSON that lacks a key, has one more, or a value of another kind does not fit the schema.
#[test]
fn vt_32_another_shape_is_not_the_published_one() {
    let folder = folder("vt_32_another_shape_is_not_the_published_one");
    let schema = schema();
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let settings = "[build]\nmax_cost = { tests = 30, lines = 40 }\nsplit = { bundle_size = 8 }\norigin = [0, 0, 0]\n\
                    [[source]]\nfile = \"bridge.obj\"\nup = \"z\"\n[[material]]\nname = \"Asphalt\"\nclasses = [3]\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "bridge.hpan"]);
    let mut tried = 0;
    for options in [&[][..], &PARTS] {
        let right = facts(&schema, &folder, "bridge.hpan", options);
        let mut wrong = |at: &str, what: &str, value: &Value| {
            tried += 1;
            assert!(!schema.is_valid(value), "{at} {what}");
        };
        let mut all = Vec::new();
        places(&right, String::new(), &mut all);
        for at in &all {
            let changed = |change: &dyn Fn(&mut Value)| {
                let mut value = right.clone();
                change(value.pointer_mut(at).unwrap());
                value
            };
            match right.pointer(at).unwrap() {
                Value::Object(map) => {
                    wrong(at, "more", &changed(&|v| v["more"] = json!(1)));
                    for key in map.keys().filter(|k| {
                        !OPTIONAL.contains(&k.as_str()) || options.is_empty() && at.is_empty() && *k != "rays"
                    }) {
                        let without = |v: &mut Value| _ = v.as_object_mut().map(|map: &mut Map<_, _>| map.remove(key));
                        wrong(at, key, &changed(&without));
                    }
                }
                Value::Array(_) => wrong(at, "no list", &changed(&|v| *v = json!({ "0": 1 }))),
                Value::Null => wrong(at, "something", &changed(&|v| *v = json!([7.5]))),
                Value::String(_) => wrong(at, "no text", &changed(&|v| *v = json!(7.5))),
                _ => wrong(at, "a text", &changed(&|v| *v = json!("seven"))),
            }
        }
        for (at, value) in
            [("/info", json!(2)), ("/bound/tests", json!(-1)), ("/identity", json!("0123")), ("", json!([]))]
        {
            let mut mutated = right.clone();
            if let Some(place) = mutated.pointer_mut(at) {
                *place = value;
                wrong(at, "out of range", &mutated);
            }
        }
    }
    assert!(tried > 400, "{tried}");
}

/// Blocks by depth, as `info --leaves` shows them: those up to the depth tolerance hold as many triangles as is
/// preferred at most.
#[test]
fn vt_71_leaf_sizes_by_depth() {
    let folder = folder("vt_71_leaf_sizes_by_depth");
    // a coarse sheet of 1 km and a fine one over a part of it
    let mut text = String::new();
    let mut first = 1;
    for (x, y, n, pitch) in [(-500.0, -500.0, 50, 20.0), (13.1, 27.3, 60, 0.2)] {
        for k in 0..(n + 1) * (n + 1) {
            let (i, j) = (k % (n + 1), k / (n + 1));
            let z = 0.01 * f64::from(i * i % 7 + j * j % 5);
            text += &format!("v {} {} {z}\n", x + pitch * f64::from(i), y + pitch * f64::from(j));
        }
        for k in 0..n * n {
            let a = first + k / n * (n + 1) + k % n;
            text += &format!("f {a} {} {} {}\n", a + 1, a + n + 2, a + n + 1);
        }
        first += (n + 1) * (n + 1);
    }
    fs::write(folder.join("u.obj"), text).unwrap();
    let schema = schema();
    for tolerance in [8, 10] {
        let split = format!(
            "[build.split]\ndepth_tolerance = {tolerance}\nbundle_size = 8\nbundle_increase = 2.5\nmin_volume = 0\n"
        );
        fs::write(folder.join("s.toml"), split).unwrap();
        expect(0, &folder, &["build", "u.obj", "--settings", "s.toml", "-o", "u.hpan"]);
        let facts = facts(&schema, &folder, "u.hpan", &["--leaves"]);
        let blocks = facts["leaves"]["blocks"].as_array().unwrap();
        let levels: Vec<[f64; 5]> = blocks
            .iter()
            .map(|b| ["depth", "side", "count", "mean", "max"].map(|name| b[name].as_f64().unwrap()))
            .collect();
        // the square around all is of 1,024 m
        assert!(levels.iter().all(|[depth, side, ..]| *side == 1024.0 / depth.exp2()), "{levels:?}");
        assert!(levels.is_sorted_by(|a, b| a[0] < b[0]) && levels.iter().all(|l| l[2] >= 1.0 && l[3] <= l[4]));
        let most = |depth: f64| 8.0 + (2.5 * (depth - f64::from(tolerance)).max(0.0)).floor();
        assert!(levels.iter().all(|l| l[4] <= most(l[0])), "{tolerance}: {levels:?}");
        assert!(levels.iter().any(|l| l[0] <= f64::from(tolerance)), "{tolerance}: {levels:?}");
        assert!(levels.iter().any(|l| l[0] > f64::from(tolerance) && l[4] > 8.0), "{tolerance}: {levels:?}");
        let [out, _] = expect(0, &folder, &["info", "u.hpan", "--leaves"]);
        let deepest = levels.last().unwrap();
        let line = out.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!([line[0], line[line.len() - 1]], [deepest[0], deepest[4]].map(|v| v.to_string()), "{out}");
    }
}

/// A section that need not be understood is passed over and listed; what is made of the image has it no more, and that
/// is said.
#[test]
fn sections_of_a_newer_version() {
    use verification::bytes::with_section;
    let folder = crate::shell::bridge("sections_of_a_newer_version");
    let known = fs::read(folder.join("bridge.hpan")).unwrap();
    for (file, kind, flags, label) in [("a.hpan", 4711, 0, "unknown 4711"), ("b.hpan", 11, 2, "normals 11")] {
        let more = with_section(&known, kind, flags, &[7; 300]);
        fs::write(folder.join(file), &more[..]).unwrap();
        expect(0, &folder, &["verify", file]);
        let [out, _] = expect(0, &folder, &["info", file]);
        assert!(out.contains(&format!("\n{label:<10} {:>10}\n", 300)), "{out}");
        let [out, _] = expect(0, &folder, &["info", file, "--sections"]);
        assert!(out.contains(label), "{out}");
        let facts = facts(&schema(), &folder, file, &[]);
        let last = facts["sections"].as_array().unwrap().last().unwrap();
        assert_eq!([&last["kind"], &last["bytes"], &last["content"]], [&json!(kind), &json!(300), &json!(flags == 2)]);
        let [asked, old] =
            [file, "bridge.hpan"].map(|file| expect(0, &folder, &["query", file, "0,0,2", "0,0", "20,0"]));
        assert_eq!(asked, old);
        for made in [&["merge", file, "-o", "made.hpan"][..], &["rebuild", file, "-o", "made.hpan"]] {
            let [_, err] = expect(0, &folder, made);
            assert!(
                err.contains(&format!("{file}: section {label} of 300 bytes is not understood, and left out")),
                "{err}"
            );
            let sections = crate::shell::info(&folder, "made.hpan")["sections"].as_array().unwrap().len();
            assert_eq!(sections, 9);
            expect(0, &folder, &["diff", "made.hpan", "bridge.hpan"]);
        }
    }
    // one that must be understood
    for (kind, name) in [(11, "normals"), (4711, "unknown")] {
        fs::write(folder.join("c.hpan"), &with_section(&known, kind, 3, &[7; 300])[..]).unwrap();
        let why = crate::shell::error(3, &folder, &["info", "c.hpan"]);
        assert!(why.contains(&format!("section kind {kind} ({name}) must be understood")), "{why}");
    }
    // and an image of version 1
    let mut old = verification::bytes::Aligned::new(&known);
    (old[8], old[10]) = (1, 1);
    verification::bytes::mend_head(&mut old);
    fs::write(folder.join("old.hpan"), &old[..]).unwrap();
    let why = crate::shell::error(3, &folder, &["query", "old.hpan", "0,0"]);
    assert!(why.contains("format version 1: build it again"), "{why}");
}
