//! `hardpan vstu`: command lines, settings and points as printed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::shell::{BRIDGE, HARDPAN, bridge, ended, error, expect, folder, holds, info};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Options, Settings, Split, Triangle, build};
use serde_json::{Value, json};
use verification::fbx::{Mesh, Object, Says, binary, document, text};

/// Listing 1 of the manual of VS Terrain, as printed.
const LISTING_1: &str = r#"--source shape.fbx --target track.vsterrain
--source shape.fbx --target track.vsterrain -settings urbanStyle.vstu
--source shape.fbx --target track.vsterrain --debug trackDebug.obj
--merge merged.vsterrain t1.vsterrain "t 2.vsterrain" t3.vsterrain ...
--debug trackDebug.obj --source track.vsterrain
"#;

/// Listing 2, as printed: its last `}` is missing.
const LISTING_2: &str = r#"{
  "VsTerrainUtility": {
    "Version": 1.0,
    "Depth Tolerance": 8,
    "Bundle Size Preferred": 8,
    "Bundle Increase": 0.5,
    "Minimum Bundle Volume": 0.125,
    "Bundle Volume Increase": 1.5,
    "Materials": [ {
      "Name": "Concrete",
      "mu": 0.8,
      "rr": 1.0,
      "include": 1
    }, {
      "Name": "Grass",
      "mu": 0.6,
      "rr": 1.0,
      "include": 1
    }, {
      "Name": "",
      "mu": 1.0,
      "rr": 1.0,
      "include": 1
    }
  ]
}
"#;

/// Figure 5, as printed: its last line is blank.
const FIGURE_5: &str = "iterations=100
-1.7354910825717979606, -313.10045870324142925, 1.0, 2.0
-1.7354910825717979606, -316.16955870324136413, 1.0, 2.0
-1.7354910825717979606, -322.14095870324149473, 1.0, 2.0
-1.7354910825717979606, -327.14095870324149473, 1.0, 2.0

";

/// Columns of the measured table.
const MEASURED: &str = "x,y,z_from,length,found,z,dzdx,dzdy,nx,ny,nz,mu,rr,material,layer,triangle,\
iterations,ns_min,ns_median,ns_max,nodes,tri_tests";

/// The words of a line, as a shell parts them.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    for (i, part) in line.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.into()),
        }
    }
    words
}

/// Runs a line behind `hardpan vstu`.
#[track_caller]
fn vstu(code: i32, folder: &Path, line: &str) -> [String; 2] {
    let words = words(line);
    let typed: Vec<&str> = ["vstu"].into_iter().chain(words.iter().map(String::as_str)).collect();
    expect(code, folder, &typed)
}

/// A flat square of 20 m at a height, y up and in centimetres as most FBX are, of one material.
fn shape(at: f64, z: f64, material: &'static str) -> Vec<u8> {
    let [a, b] = [100.0 * at, 100.0 * at + 2000.0];
    let points = vec![[a, 100.0 * z, 0.0], [b, 100.0 * z, 0.0], [b, 100.0 * z, -2000.0], [a, 100.0 * z, -2000.0]];
    let mesh = Mesh { points, faces: vec![vec![0, 1, 2, 3]], materials: vec![0] };
    let object = Object { name: "square", mesh: Some(0), materials: vec![material], ..Object::default() };
    binary(7400, &document(7400, Some(Says::Y_UP_CM), &[mesh], &[object]), false, false)
}

/// Line 1 as printed makes an image, of which the command says that VehicleSim cannot read it.
#[test]
fn vt_53_54_12_line_1_of_listing_1_makes_an_image() {
    let folder = folder("vt_53_54_12_line_1_of_listing_1_makes_an_image");
    fs::write(folder.join("shape.fbx"), shape(0.0, 1.5, "Concrete")).unwrap();
    let [_, err] = vstu(0, &folder, LISTING_1.lines().next().unwrap());
    assert_eq!(err.matches("VehicleSim's own solver cannot read it").count(), 1, "{err}");
    let facts = info(&folder, "track.vsterrain");
    assert_eq!(facts["triangles"], 2);
    let [out, _] = expect(0, &folder, &["query", "track.vsterrain", "10,10", "--json"]);
    let answers: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answers[0]["z"], 1.5, "{out}");
    assert_eq!(answers[0]["material"], "Concrete");
}

/// Listing 2 as a file should be.
fn listing_2() -> String {
    format!("{LISTING_2}}}\n")
}

/// The files of Listing 1, in a new folder.
fn listed(test: &str) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join("shape.fbx"), shape(0.0, 1.5, "Concrete")).unwrap();
    fs::write(folder.join("urbanStyle.vstu"), LISTING_2).unwrap();
    for (name, at, material) in [("t1", 0.0, "Concrete"), ("t 2", 20.0, "Grass"), ("t3", 40.0, "Sand")] {
        fs::write(folder.join("tile.fbx"), shape(at, 1.5, material)).unwrap();
        expect(0, &folder, &["vstu", "-source", "tile.fbx", "-target", &format!("{name}.vsterrain")]);
    }
    fs::remove_file(folder.join("tile.fbx")).unwrap();
    folder
}

/// Answer of an image at a place.
#[track_caller]
fn at(folder: &Path, image: &str, place: &str) -> Value {
    let [out, _] = expect(0, folder, &["query", image, place, "--json"]);
    serde_json::from_str::<Value>(&out).unwrap()[0].clone()
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// A measured table: of each row its fields by their columns.
fn table(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    // the one name with a comma stands in quotes
    let text = fs::read_to_string(folder.join(name)).unwrap().replace(r#""Road, wet""#, "Road");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), columns.len(), "{line}");
        columns.iter().zip(fields).map(|(c, f)| (c.to_string(), f.to_string())).collect()
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// A slope z = (y + 400) / 160 over |x| <= 40 and y from -400 to -320, where Figure 5 asks.
fn slope(test: &str) -> PathBuf {
    let folder = folder(test);
    let mesh = "v -40 -400 0\nv 40 -400 0\nv 40 -320 0.5\nv -40 -320 0.5\nusemtl Road, wet\nf 1 2 3\nf 1 3 4\n";
    fs::write(folder.join("slope.obj"), mesh).unwrap();
    expect(0, &folder, &["build", "slope.obj"]);
    fs::write(folder.join("points.csv"), FIGURE_5).unwrap();
    folder
}

/// All lines of Listing 1 run as printed, one after the other in one folder, and again.
#[test]
fn vt_53_55_63_all_lines_of_listing_1_run() {
    let folder = listed("vt_53_55_63_all_lines_of_listing_1_run");
    for _ in 0..2 {
        let said: Vec<String> = LISTING_1.lines().map(|line| vstu(0, &folder, line)[1].clone()).collect();
        // what is odd in the listings is said, and nothing else that they mean
        holds(&said[1], &["urbanStyle.vstu: line 26, column 1: a last } is missing"]);
        holds(&said[3], &["warning: \"...\" is no file"]);
        assert!(said.iter().all(|said| said.contains("solver cannot read it") || said.is_empty()), "{said:?}");
        assert!(said[4].is_empty(), "{said:?}");
    }
    assert_eq!(info(&folder, "merged.vsterrain")["triangles"], 6);
    for (place, material) in [("10,10", "Concrete"), ("30,10", "Grass"), ("50,10", "Sand")] {
        let answer = at(&folder, "merged.vsterrain", place);
        assert_eq!((&answer["z"], &answer["material"]), (&json!(1.5), &json!(material)));
    }
}

/// Line 2 takes the friction that Listing 2 states; 0.8 is no default of any kind.
#[test]
fn vt_79_listing_2_as_printed_builds() {
    let folder = listed("vt_79_listing_2_as_printed_builds");
    let line = LISTING_1.lines().nth(1).unwrap();
    let [_, err] = vstu(0, &folder, line);
    assert_eq!(err.matches("a last } is missing").count(), 1, "{err}");
    assert_eq!(at(&folder, "track.vsterrain", "10,10")["mu"], 0.8);
    let [out, _] = expect(0, &folder, &["info", "track.vsterrain", "--provenance", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(facts["provenance"]["settings"]["build"]["split"]["depth_tolerance"], 8, "{out}");
    // strict: its place, and no image
    fs::remove_file(folder.join("track.vsterrain")).unwrap();
    let why = error(
        2,
        &folder,
        &["vstu", "-source", "shape.fbx", "-target", "a.vsterrain", "-settings", "urbanStyle.vstu", "-strict"],
    );
    holds(&why, &["urbanStyle.vstu: line 26, column 1: ", "-strict"]);
    assert!(!folder.join("a.vsterrain").exists());
    // the whole text makes the same image, and no word is said of it
    fs::write(folder.join("whole.vstu"), listing_2()).unwrap();
    let [_, err] = vstu(0, &folder, "-source shape.fbx -target whole.vsterrain -settings whole.vstu -strict");
    assert!(!err.contains("missing"), "{err}");
    vstu(0, &folder, line);
    assert_eq!(bytes(&folder, "whole.vsterrain"), bytes(&folder, "track.vsterrain"));
}

/// No other damage is taken for that one.
#[test]
fn vt_79_x2_only_the_last_brace_may_be_missing() {
    let (settings, said) = Settings::from_vstu(LISTING_2).unwrap();
    assert!(said.len() == 1 && said[0].starts_with("line 26, column 1: "), "{said:?}");
    assert_eq!(settings.build.split, Some(Split::DEFAULT));
    assert!(Settings::from_vstu(&listing_2()).unwrap().1.is_empty());
    let lines: Vec<&str> = LISTING_2.lines().collect();
    for shorter in 1..lines.len() {
        let text = lines[..shorter].join("\n");
        let why = Settings::from_vstu(&text).expect_err(&text);
        assert_eq!(why.line, Some(shorter), "{why}");
        assert!(why.column.is_some());
    }
    for (text, line) in [(format!("{LISTING_2}}}}}"), 27), (LISTING_2.replacen("0.6,", "0.6", 1), 17)] {
        let why = Settings::from_vstu(&text).unwrap_err();
        assert_eq!(why.line, Some(line), "{why}");
    }
    // without the object it is not mended
    assert!(Settings::from_vstu("{ \"a\": 1").is_err());
}

#[test]
fn vt_12_a_foreign_terrain_is_answered_with_the_way_round() {
    let folder = bridge("vt_12_a_foreign_terrain_is_answered_with_the_way_round");
    fs::write(folder.join("a.vsterrain"), b"VSTR\0\x01 any bytes that are none of ours").unwrap();
    fs::write(folder.join("points.csv"), "1,2\n").unwrap();
    let lines = [
        "build a.vsterrain",
        "rebuild a.vsterrain -o b.hpan",
        "query a.vsterrain 1,2",
        "vstu -source a.vsterrain -target b.vsterrain",
        "vstu -source a.vsterrain -debug b.obj",
        "vstu -source a.vsterrain -queryfile points.csv",
        "vstu -merge b.vsterrain bridge.hpan a.vsterrain",
    ];
    for line in lines {
        let why = error(3, &folder, &line.split(' ').collect::<Vec<_>>());
        holds(&why, &["a.vsterrain: ", "Generate OBJ", "hardpan build FILE.obj"]);
    }
    assert!(!folder.join("b.vsterrain").exists() && !folder.join("b.hpan").exists() && !folder.join("b.obj").exists());
    // one that is there is not replaced unasked
    let why = error(2, &folder, &["vstu", "-source", "bridge.hpan", "-target", "a.vsterrain"]);
    holds(&why, &["not a terrain image", "--force"]);
    expect(0, &folder, &["vstu", "-source", "bridge.hpan", "-target", "a.vsterrain", "-force"]);
    // our own image is read under that name, and said to be ours once
    let [out, err] = expect(0, &folder, &["query", "a.vsterrain", "0,0"]);
    assert!(out.contains("Steel plate") && err.is_empty(), "{out}{err}");
    let [_, err] = expect(0, &folder, &["build", "bridge.obj", "-o", "c.vsterrain"]);
    holds(&err, &["c.vsterrain: a Hardpan image under this name; VehicleSim's own solver cannot read it"]);
    let [_, err] = expect(0, &folder, &["build", "bridge.obj", "-o", "c.hpan"]);
    assert!(!err.contains("VehicleSim"), "{err}");
}

/// The content of a file decides its kind, whatever its name is.
#[test]
fn vt_53_content_decides_and_not_the_name() {
    let folder = folder("vt_53_content_decides_and_not_the_name");
    let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 2.0], [0.0, 4.0, 2.0]];
    let mesh = Mesh { points, faces: vec![vec![0, 1, 2, 3]], materials: vec![] };
    let object = Object { name: "ramp", mesh: Some(0), ..Object::default() };
    let records = document(7400, Some(Says::Z_UP_M), &[mesh], &[object]);
    fs::write(folder.join("bytes.dat"), binary(7400, &records, false, true)).unwrap();
    fs::write(folder.join("words.dat"), text(7400, &records)).unwrap();
    for name in ["bytes", "words"] {
        vstu(0, &folder, &format!("-source {name}.dat -target {name}.vsterrain"));
        assert_eq!(at(&folder, &format!("{name}.vsterrain"), "2,1")["z"], 0.5);
    }
    // an image under the name of a mesh is built again, and not read as one
    fs::copy(folder.join("bytes.vsterrain"), folder.join("image.fbx")).unwrap();
    vstu(0, &folder, "-source image.fbx -target again.vsterrain");
    assert_eq!(bytes(&folder, "again.vsterrain"), bytes(&folder, "bytes.vsterrain"));
    // an FBX without a mesh
    fs::write(folder.join("empty.fbx"), binary(7400, &document(7400, Some(Says::Z_UP_M), &[], &[]), false, false))
        .unwrap();
    let why = error(2, &folder, &["vstu", "-source", "empty.fbx", "-target", "empty.vsterrain"]);
    assert!(why.contains("empty.fbx") && !folder.join("empty.vsterrain").exists(), "{why}");
}

#[test]
fn vt_54_the_target_is_written_or_the_cause_is_said() {
    let folder = folder("vt_54_the_target_is_written_or_the_cause_is_said");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    vstu(0, &folder, "-source bridge.obj -target new.vsterrain");
    assert!(bytes(&folder, "new.vsterrain").starts_with(b"HARDPAN"));
    // where no file can be: the folder is a file, the folder takes none, there is none
    for (target, code) in [("bridge.obj/x.vsterrain", 2), ("/proc/x.vsterrain", 4), ("none/x.vsterrain", 2)] {
        let why = error(code, &folder, &["vstu", "-source", "bridge.obj", "-target", target]);
        assert!(why.contains(target), "{why}");
    }
    // nor its own source, with force neither
    for more in [&[][..], &["-force"]] {
        let line = [&["vstu", "-source", "new.vsterrain", "-target", "new.vsterrain"][..], more].concat();
        holds(&error(2, &folder, &line), &["own source"]);
    }
    holds(&error(2, &folder, &["vstu", "-source", "no.fbx", "-target", "x.vsterrain"]), &["no.fbx", "no such file"]);
}

#[test]
fn vt_55_200_tiles_merge_in_one_command() {
    let folder = folder("vt_55_200_tiles_merge_in_one_command");
    let mut words = vec!["vstu".to_string(), "-merge".into(), "all.vsterrain".into()];
    for i in 0..200 {
        let (x, y) = (10 * (i % 20), 10 * (i / 20));
        let mesh =
            format!("v {x} {y} {i}\nv {} {y} {i}\nv {} {} {i}\nv {x} {} {i}\nf 1 2 3 4\n", x + 8, x + 8, y + 8, y + 8);
        fs::write(folder.join("tile.obj"), mesh).unwrap();
        let name = format!("tile {i}.vsterrain");
        expect(0, &folder, &["build", "tile.obj", "-o", &name]);
        words.push(name);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [_, err] = expect(0, &folder, &words);
    assert_eq!(err.matches("solver cannot read it").count(), 1, "{err}");
    assert_eq!(info(&folder, "all.vsterrain")["triangles"], 400);
    let places: String = (0..200).map(|i| format!("{},{}\n", 10 * (i % 20) + 3, 10 * (i / 20) + 5)).collect();
    fs::write(folder.join("places.csv"), places).unwrap();
    let [out, _] = expect(0, &folder, &["query", "all.vsterrain", "--csv", "places.csv"]);
    let heights: Vec<f64> = out.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert_eq!(heights, (0..200).map(f64::from).collect::<Vec<_>>());
    // a merge names its files itself
    for line in [
        "-merge",
        "-merge all.vsterrain",
        "-merge a.vsterrain b.vsterrain -source c.fbx",
        "-merge a.vsterrain b.vsterrain -t c",
    ] {
        let line: Vec<&str> = ["vstu"].into_iter().chain(line.split(' ')).collect();
        holds(&expect(2, &folder, &line)[1], &["-merge"]);
    }
}

/// Friction and rolling resistance at all places of a bridge, over and under its deck.
#[track_caller]
fn factors(folder: &Path, image: &str) -> Vec<[f64; 2]> {
    let places: Vec<String> = (-4..5).flat_map(|i| [format!("{},1,9", 11 * i), format!("{},1,0", i)]).collect();
    let mut line = vec!["query", image, "--json"];
    line.extend(places.iter().map(String::as_str));
    let [out, _] = expect(0, folder, &line);
    let answers: Vec<Value> = serde_json::from_str(&out).unwrap();
    assert_eq!(answers.len(), 18);
    answers.iter().map(|a| ["mu", "rr"].map(|key| a[key].as_f64().unwrap())).collect()
}

/// Multiply and override, of a mesh, of an image and of several; the override comes first.
#[test]
fn vt_56_57_58_59_60_factors_of_friction() {
    let folder = bridge("vt_56_57_58_59_60_factors_of_friction");
    fs::write(folder.join("far.obj"), "v 90 0 0\nv 91 0 0\nv 90 1 0\nf 1 2 3\n").unwrap();
    expect(0, &folder, &["build", "far.obj"]);
    assert!(factors(&folder, "bridge.hpan").iter().all(|f| *f == [0.85, 1.0]));
    for (flags, wanted) in [
        ("-mu-multiply 0.5", [0.425, 1.0]),
        ("-mu-override 0.25", [0.25, 1.0]),
        ("-rr-multiply 1.5", [0.85, 1.5]),
        ("-rr-override 3", [0.85, 3.0]),
        ("-mu-override 1 -mu-multiply 0.5", [0.5, 1.0]),
        ("-mu-multiply 0.5 -mu-override 1", [0.5, 1.0]),
        ("-rr-multiply 0.5 -rr-override 3 -mu-override 0", [0.0, 1.5]),
    ] {
        for from in [
            "-source bridge.obj -target new.vsterrain",
            "-source bridge.hpan -target new.vsterrain",
            "-merge new.vsterrain bridge.hpan far.hpan",
        ] {
            let [out, _] = vstu(0, &folder, &format!("{flags} {from}"));
            let all = factors(&folder, "new.vsterrain");
            assert!(all.iter().all(|f| *f == wanted), "{flags} {from}: {all:?}");
            holds(&out, &[if flags.contains("-mu-") { "mu" } else { "rr" }]);
        }
    }
    for wrong in ["-mu-multiply -1", "-mu-override x", "-rr-multiply nan", "-rr-override inf", "-mu-override"] {
        let line: Vec<&str> =
            ["vstu", "-s", "bridge.obj", "-t", "no.vsterrain"].into_iter().chain(wrong.split(' ')).collect();
        holds(&expect(2, &folder, &line)[1], &[wrong.split(' ').next().unwrap()]);
    }
    assert!(!folder.join("no.vsterrain").exists());
}

/// One set of settings in three languages makes one image, byte for byte; as JSON under any name, and without its
/// ending.
#[test]
fn vt_61_settings_in_any_language_make_the_same_bytes() {
    let folder = listed("vt_61_settings_in_any_language_make_the_same_bytes");
    let material =
        |name: &str, mu: f64| json!({ "name": name, "mu": mu, "rr": 1.0, "include": true, "optional": true });
    let native = json!({
        "build": { "split": {
            "depth_tolerance": 8, "bundle_size": 8, "bundle_increase": 0.5, "min_volume": 0.125, "volume_increase": 1.5,
        } },
        "material": [material("Concrete", 0.8), material("Grass", 0.6), material("", 1.0)],
    });
    let toml = Settings::from_json(&native.to_string()).unwrap().to_toml();
    for (name, text) in [
        ("a.vstu", listing_2()),
        ("b.json", listing_2()),
        ("c.cfg", listing_2()),
        ("d", listing_2()),
        ("e.json", native.to_string()),
        ("f.cfg", native.to_string()),
        ("g.toml", toml),
    ] {
        fs::write(folder.join(name), text).unwrap();
        vstu(0, &folder, &format!("-source shape.fbx -target vstu.hpan -settings {name}"));
        expect(0, &folder, &["build", "shape.fbx", "-o", "native.hpan", "--settings", name]);
        let wanted = if name == "a.vstu" { "native.hpan" } else { "first.hpan" };
        assert_eq!(bytes(&folder, "vstu.hpan"), bytes(&folder, wanted), "{name}");
        assert_eq!(bytes(&folder, "native.hpan"), bytes(&folder, wanted), "{name}");
        fs::copy(folder.join("vstu.hpan"), folder.join("first.hpan")).unwrap();
    }
    vstu(0, &folder, "-source shape.fbx -target vstu.hpan -settings urbanStyle");
    assert_eq!(bytes(&folder, "vstu.hpan"), bytes(&folder, "first.hpan"));
    // other settings are another image
    fs::write(folder.join("h.vstu"), listing_2().replace("0.8", "0.7")).unwrap();
    vstu(0, &folder, "-source shape.fbx -target vstu.hpan -settings h.vstu");
    assert_ne!(info(&folder, "vstu.hpan")["identity"], info(&folder, "first.hpan")["identity"]);
    // a rebuild takes them as well
    vstu(0, &folder, "-source first.hpan -target again.hpan -settings h.vstu");
    assert_eq!(at(&folder, "again.hpan", "10,10")["mu"], 0.7);
    holds(
        &error(2, &folder, &["vstu", "-s", "shape.fbx", "-t", "x.hpan", "-settings", "none"]),
        &["none", "no such file"],
    );
}

#[test]
fn vt_62_x4_a_query_needs_its_source() {
    let folder = bridge("vt_62_x4_a_query_needs_its_source");
    fs::write(folder.join("p.csv"), "0,0,7\n").unwrap();
    for flag in ["-queryfile p.csv", "-target x.vsterrain", "-debug x.obj", "-settings x.vstu", "-mu-multiply 2", ""] {
        let line: Vec<&str> = ["vstu"].into_iter().chain(flag.split_whitespace()).collect();
        holds(&expect(2, &folder, &line)[1], &["--source <"]);
    }
    let missing = |line: &[&str]| expect(2, &folder, line)[1].clone();
    // a merge takes no query, so the error does not name it
    let alone = missing(&["vstu", "-queryfile", "p.csv"]);
    assert!(alone.contains("--source <s>") && !alone.contains("--merge"), "{alone}");
    holds(&missing(&["vstu", "-s", "bridge.hpan"]), &["--target <", "--debug <", "--queryfile <"]);
    holds(&missing(&["vstu", "-s", "bridge.hpan", "-mu-multiply", "2", "-queryfile", "p.csv"]), &["--target <"]);
    for flag in ["-queryfile p.csv", "-debug x.obj"] {
        let line: Vec<&str> = ["vstu", "-s", "bridge.obj"].into_iter().chain(flag.split(' ')).collect();
        holds(&error(2, &folder, &line), &["bridge.obj: this is a mesh", "-target FILE"]);
    }
    // the short form of the seed
    vstu(0, &folder, "-queryfile p.csv -s bridge.hpan");
    assert_eq!(table(&folder, "p.csv_out.csv")[0]["z"], "6");
}

/// The report of a build is that of `hardpan build --report`; of an image there is none.
#[test]
fn a_report_is_that_of_the_build() {
    let folder = listed("a_report_is_that_of_the_build");
    vstu(0, &folder, "-source shape.fbx -target a.vsterrain -report a.json");
    expect(0, &folder, &["build", "shape.fbx", "-o", "b.vsterrain", "--report", "b.json"]);
    let [a, b] =
        ["a.json", "b.json"].map(|name| serde_json::from_slice::<serde_json::Value>(&bytes(&folder, name)).unwrap());
    assert_eq!((&a["done"], &a["report"]), (&b["done"], &b["report"]));
    for key in ["import", "warnings", "findings", "materials", "ground"] {
        assert!(!a[key].is_null() && a[key] == b[key], "{key}: {} {}", a[key], b[key]);
    }
    let text = error(2, &folder, &["vstu", "-source", "a.vsterrain", "-target", "c.vsterrain", "-report", "c.json"]);
    holds(&text, &["a.vsterrain: a report is of a mesh"]);
    assert!(!folder.join("c.vsterrain").exists() && !folder.join("c.json").exists());
}

/// Both lines of Listing 1 with a debug OBJ draw the same, as `hardpan export obj` does.
#[test]
fn vt_63_debug_of_a_mesh_and_of_its_image() {
    let folder = listed("vt_63_debug_of_a_mesh_and_of_its_image");
    let lines: Vec<&str> = LISTING_1.lines().collect();
    vstu(0, &folder, lines[2]);
    let drawn = ["trackDebug.obj", "trackDebug.mtl"].map(|name| bytes(&folder, name));
    ["trackDebug.obj", "trackDebug.mtl"].iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    vstu(0, &folder, lines[4]);
    assert_eq!(["trackDebug.obj", "trackDebug.mtl"].map(|name| bytes(&folder, name)), drawn);
    let text = String::from_utf8(drawn[0].clone()).unwrap();
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert!(count("o cells") == 1 && count("o pins") == 1 && count("g cell_") > 0, "{text}");
    expect(0, &folder, &["export", "obj", "track.vsterrain", "--cells", "--pins", "10", "-o", "trackDebug.obj"]);
    assert_eq!(["trackDebug.obj", "trackDebug.mtl"].map(|name| bytes(&folder, name)), drawn);
    // what is no drawing is not replaced
    fs::write(folder.join("mesh.obj"), BRIDGE).unwrap();
    holds(&error(2, &folder, &["vstu", "-s", "track.vsterrain", "-d", "mesh.obj"]), &["mesh.obj", "--force"]);
    assert_eq!(fs::read_to_string(folder.join("mesh.obj")).unwrap(), BRIDGE);
}

/// All in one line: build, draw, ask.
#[test]
fn vt_62_63_several_commands_in_one_line() {
    let folder = listed("vt_62_63_several_commands_in_one_line");
    fs::write(folder.join("p.csv"), "iterations=2\n10,10\n").unwrap();
    vstu(0, &folder, "-queryfile p.csv -debug a.obj -target a.vsterrain -source shape.fbx -settings urbanStyle");
    assert_eq!(table(&folder, "p.csv_out.csv")[0]["mu"], "0.8");
    // of an image: built again, then drawn and asked
    vstu(0, &folder, "-queryfile p.csv -debug b.obj -target b.vsterrain -source a.vsterrain -mu-override 0.5");
    assert_eq!(table(&folder, "p.csv_out.csv")[0]["mu"], "0.5");
    vstu(0, &folder, "-debug m.obj -merge m.vsterrain t1.vsterrain t3.vsterrain");
    assert!(folder.join("a.obj").exists() && folder.join("b.obj").exists() && folder.join("m.obj").exists());
    holds(
        &expect(2, &folder, &["vstu", "-merge", "m.vsterrain", "t1.vsterrain", "t3.vsterrain", "-queryfile", "p.csv"])
            [1],
        &["--queryfile <"],
    );
}

#[test]
fn vt_64_pause_at_the_end() {
    let folder = bridge("vt_64_pause_at_the_end");
    let run = |pause: &str, quiet: Option<&str>| {
        let mut command = Command::new(&*HARDPAN);
        command.args(["vstu", "-source", "bridge.hpan", "-target", "again.hpan", "-pause", pause]).current_dir(&folder);
        match quiet {
            Some(v) => command.env("HARDPAN_NO_PAUSE", v),
            None => command.env_remove("HARDPAN_NO_PAUSE"),
        };
        let begun = Instant::now();
        ended(0, command.output().unwrap(), &["vstu", "-pause", pause]);
        begun.elapsed()
    };
    assert!(run("1", None) >= Duration::from_secs(1));
    assert!(run("0.75", Some("0")) >= Duration::from_millis(750));
    assert!(run("3000", Some("1")) < Duration::from_secs(300));
    for wrong in ["-1", "long", "1e300"] {
        holds(&expect(2, &folder, &["vstu", "-s", "bridge.hpan", "-t", "x.hpan", "-pause", wrong])[1], &["-pause"]);
    }
}

/// The words of Table 1, by each of the names that it gives.
#[test]
fn vt_65_help_in_the_words_of_table_1() {
    let folder = folder("vt_65_help_in_the_words_of_table_1");
    let all = ["-?", "-h", "--help", "-help", "--h", "--?"].map(|flag| expect(0, &folder, &["vstu", flag]));
    assert!(all.iter().all(|said| *said == all[0] && said[1].is_empty()));
    // with others beside it
    assert_eq!(expect(0, &folder, &["vstu", "-source", "no.fbx", "-?"]), all[0]);
    assert_eq!(expect(0, &folder, &["help", "vstu"])[0].trim_end(), all[0][0].trim_end());
    let text = all[0][0].split_whitespace().collect::<Vec<_>>().join(" ");
    holds(
        &text,
        &[
            "-source <s> Specifies source file for a subsequent command",
            "-target <t> Name of the terrain file to write using source data",
            "Merge a list of vs terrain files into one file",
            "-mu-multiply <mm> Multiply all terrain mu values by the multiplier mm",
            "-mu-override <mo> Override all terrain mu values with the value [mo]",
            "-rr-multiply <rrm> Multiply all terrain rolling resistance values by the multiplier rrm",
            "-rr-override <rro> Override all terrain rolling resistance values with the value [rro]",
            "-settings <s> Specifies the name of a settings file: .vstu by default, but any valid JSON file is accepted",
            "-queryfile <f> Instructs the VSTU to take the input file [f] and perform custom queries",
            "-debug <d> Specifies an OBJ file with debug information to output for visual inspection",
            "-pause <p> Pause for [p] seconds at the end of the build",
        ],
    );
    assert!(all[0][0].lines().all(|line| line.len() <= 120) && all[0][0].lines().count() <= 40);
    // what is none is named, with the nearest
    let wrong = |line: &[&str]| expect(2, &folder, &[&["vstu"], line].concat())[1].clone();
    for (flag, near) in
        [("-sorce", "-source"), ("--quer-file", "-queryfile"), ("-mu-multply", "-mu-multiply"), ("-Target", "-target")]
    {
        holds(&wrong(&[flag, "x"]), &[flag, &format!("'-{near}'")]);
    }
    holds(&wrong(&["-source", "-target", "x"]), &["a value is required for '--source <s>'"]);
    holds(&wrong(&["-target", "x", "-source"]), &["a value is required for '--source <s>'"]);
    holds(&wrong(&["-source", "a", "--s", "b"]), &["'--source <s>' cannot be used multiple times"]);
    holds(&wrong(&["shape.fbx"]), &["shape.fbx"]);
}

/// Output of a command without the times that it took: columns of a measured table, and numbers of seconds in a line.
fn untimed(bytes: Vec<u8>) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes.clone()) else { return bytes };
    let timed: Vec<usize> = match text.starts_with(MEASURED) {
        true => MEASURED.split(',').enumerate().filter(|(_, c)| c.starts_with("ns_")).map(|(i, _)| i).collect(),
        false => vec![],
    };
    let kept = |line: &str| -> String {
        let fields = line.split(',').enumerate().filter(|(i, _)| !timed.contains(i)).map(|(_, field)| field);
        let words = fields.collect::<Vec<_>>().join(",");
        let words: Vec<&str> = words.split(' ').collect();
        let is_time =
            |i: usize| words.get(i + 1).is_some_and(|next| ["s", "ns"].contains(&next.trim_end_matches([',', ';'])));
        let shown = |(i, word): (usize, &&str)| if is_time(i) { "-".to_string() } else { word.to_string() };
        words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(kept).collect::<Vec<_>>().join("\n").into_bytes()
}

/// Every flag with one dash and with two, and its short form: the same words and the same files.
#[test]
fn vt_66_x4_x5_one_dash_or_two() {
    let folder = listed("vt_66_x4_x5_one_dash_or_two");
    fs::write(folder.join("p.csv"), "10,10\n0,0,2\n").unwrap();
    // what is no drawing is replaced with -force alone, and settings that lack a brace stop with -strict alone
    let kept = || fs::write(folder.join("kept.obj"), BRIDGE).unwrap();
    kept();
    vstu(2, &folder, "-source t1.vsterrain -debug kept.obj");
    for (code, flags, files) in [
        (0, "source shape.fbx|target o.vsterrain", &["o.vsterrain"][..]),
        (
            0,
            "source shape.fbx|target o.vsterrain|settings urbanStyle.vstu|debug o.obj",
            &["o.vsterrain", "o.obj", "o.mtl"],
        ),
        (
            0,
            "source t1.vsterrain|target o.vsterrain|mu-override 0.5|mu-multiply 0.5|rr-override 2|rr-multiply 3",
            &["o.vsterrain"],
        ),
        (0, "merge o.vsterrain t1.vsterrain t3.vsterrain|pause 0.2", &["o.vsterrain"]),
        (0, "source t1.vsterrain|debug kept.obj|force", &["kept.obj", "kept.mtl"]),
        (2, "source shape.fbx|target o.vsterrain|settings urbanStyle.vstu|strict", &[]),
        (0, "source t1.vsterrain|queryfile p.csv", &["p.csv_out.csv"]),
    ] {
        let mut first = None;
        for form in 0..3 {
            let flag = |flag: &str| match (form, &flag[..1]) {
                (0, _) => format!("-{flag}"),
                (2, "s") if flag.starts_with("source") => flag.replacen("source", "-s", 1),
                (2, "t") => flag.replacen("target", "-t", 1),
                (2, "d") => flag.replacen("debug", "-d", 1),
                (2, "m") if flag.starts_with("merge") => flag.replacen("merge", "-m", 1),
                _ => format!("--{flag}"),
            };
            kept();
            let begun = Instant::now();
            let said = vstu(code, &folder, &flags.split('|').map(flag).collect::<Vec<_>>().join(" "));
            assert!(!flags.contains("pause") || begun.elapsed() >= Duration::from_millis(200), "{flags}");
            assert_eq!(folder.join("o.vsterrain").exists(), files.contains(&"o.vsterrain"), "{flags}");
            let made: Vec<Vec<u8>> = files.iter().map(|name| untimed(bytes(&folder, name))).collect();
            let came = (said.map(|text| untimed(text.into_bytes())), made);
            assert_eq!(*first.get_or_insert_with(|| came.clone()), came, "{flags}");
            files.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
        }
    }
}

/// All orders of the flags of each line.
#[test]
fn vt_67_the_order_of_flags_is_free() {
    let folder = listed("vt_67_the_order_of_flags_is_free");
    let merge = r#"--merge merged.vsterrain t1.vsterrain "t 2.vsterrain" t3.vsterrain"#;
    let lines: Vec<String> = LISTING_1.lines().map(String::from).collect();
    let merge = format!("{merge} --mu-multiply 0.5 -settings urbanStyle.vstu");
    for (line, files) in [
        (&lines[0], &["track.vsterrain"][..]),
        (&lines[1], &["track.vsterrain"]),
        (&lines[2], &["track.vsterrain", "trackDebug.obj"]),
        (&merge, &["merged.vsterrain"]),
        (&lines[4], &["trackDebug.obj"]),
    ] {
        let mut flags: Vec<Vec<String>> = vec![];
        for word in words(line) {
            if word.starts_with('-') {
                flags.push(vec![]);
            }
            flags.last_mut().unwrap().push(word);
        }
        let mut first: Option<Vec<Vec<u8>>> = None;
        let count = (1..=flags.len()).product::<usize>();
        for order in 0..count {
            let (mut rest, mut order, mut typed) = (flags.clone(), order, vec!["vstu".to_string()]);
            while !rest.is_empty() {
                let k = order % rest.len();
                order /= rest.len();
                typed.extend(rest.remove(k));
            }
            expect(0, &folder, &typed.iter().map(String::as_str).collect::<Vec<_>>());
            let made: Vec<Vec<u8>> = files.iter().map(|name| bytes(&folder, name)).collect();
            assert_eq!(*first.get_or_insert_with(|| made.clone()), made, "{typed:?}");
        }
        assert!(count >= 2);
    }
}

#[test]
fn vt_68_names_with_blanks_and_of_any_language() {
    let folder = listed("vt_68_names_with_blanks_and_of_any_language");
    let names = ["t 2.hpan", "straße 地形.vsterrain", " -x y.hpan"];
    for (i, name) in names.iter().enumerate() {
        fs::write(folder.join("ö ö.fbx"), shape(20.0 * i as f64, 2.0, "Grass")).unwrap();
        expect(0, &folder, &["vstu", "-source", "ö ö.fbx", "-target", name]);
    }
    expect(0, &folder, &["vstu", "-merge", "alle zusammen.vsterrain", names[0], names[1], names[2]]);
    assert_eq!(info(&folder, "alle zusammen.vsterrain")["triangles"], 6);
    fs::write(folder.join("пункты 1.csv"), "50,10\n").unwrap();
    expect(0, &folder, &["vstu", "-s", "alle zusammen.vsterrain", "-queryfile", "пункты 1.csv", "-d", "ä b.obj"]);
    assert_eq!(table(&folder, "пункты 1.csv_out.csv")[0]["z"], "2");
    // a dash at the front is written with its folder
    holds(&expect(2, &folder, &["vstu", "-s", "-a.fbx", "-t", "x.hpan"])[1], &["a.fbx"]);
    fs::copy(folder.join("ö ö.fbx"), folder.join("-a.fbx")).unwrap();
    expect(0, &folder, &["vstu", "-s", "./-a.fbx", "-t", "./-b.hpan"]);
    assert!(folder.join("-b.hpan").exists());
}

#[test]
fn vt_69_70_unknown_keys_and_versions() {
    let folder = listed("vt_69_70_unknown_keys_and_versions");
    let odd = listing_2()
        .replacen("\"Depth Tolerance\"", "\"Depht Tolerance\"", 1)
        .replacen(
            "\"rr\": 1.0,\n      \"include\": 1\n    }, {\n      \"Name\": \"\"",
            "\"rr\": 1.0, \"friction\": 2,\n      \"include\": 1\n    }, {\n      \"Name\": \"\"",
            1,
        )
        .replacen("1.0", "2.0", 1);
    fs::write(folder.join("odd.vstu"), odd.replacen('{', "{ \"other tool\": [1], ", 1)).unwrap();
    let [_, err] = vstu(0, &folder, "-source shape.fbx -target odd.hpan -settings odd.vstu");
    holds(
        &err,
        &[
            "odd.vstu: VsTerrainUtility.Depht Tolerance is not known here (did you mean \"Depth Tolerance\"?)",
            "odd.vstu: VsTerrainUtility.Materials[1].friction is not known here",
            "odd.vstu: other tool is not known here",
            "odd.vstu: VsTerrainUtility.Version is 2.0, and 1.0 is known",
        ],
    );
    assert_eq!(at(&folder, "odd.hpan", "10,10")["mu"], 0.8);
    // of two entries of one name the first counts, and that is said
    let twice = r#"{ "VsTerrainUtility": { "Version": 1.0, "Materials": [
        { "Name": "Concrete", "mu": 0.3 }, { "Name": "", "mu": 0.4 }, { "Name": "Concrete", "mu": 0.5 }, { "Name": "", "mu": 0.6 } ] } }"#;
    fs::write(folder.join("twice.vstu"), twice).unwrap();
    let [_, err] = vstu(0, &folder, "-source shape.fbx -target twice.hpan -settings twice.vstu");
    holds(&err, &["Materials[2] (\"Concrete\") does nothing", "Materials[3] (\"\") does nothing"]);
    assert_eq!(at(&folder, "twice.hpan", "10,10")["mu"], 0.3);
    // natively strict takes them for errors, and so does strict here
    let [_, err] = expect(1, &folder, &["build", "shape.fbx", "--settings", "odd.vstu", "--strict", "-o", "no.hpan"]);
    holds(&err, &["4 warnings"]);
    holds(
        &error(2, &folder, &["vstu", "-s", "shape.fbx", "-t", "no.hpan", "-settings", "odd.vstu", "-strict"]),
        &["odd.vstu", "-strict"],
    );
    assert!(!folder.join("no.hpan").exists());
    // without the object it is none, whatever else it has
    for (text, parts) in [
        ("{}", &["there is no \"VsTerrainUtility\""][..]),
        ("{ \"VSTerrainUtility\": {} }", &["did you mean \"VsTerrainUtility\"?"]),
        ("{ \"material\": [] }", &["there is no \"VsTerrainUtility\""]),
        ("[]", &["no object"]),
        ("{ \"VsTerrainUtility\": [] }", &["VsTerrainUtility is a list; write an object"]),
        ("", &["line 1"]),
    ] {
        fs::write(folder.join("none.vstu"), text).unwrap();
        let why = error(2, &folder, &["vstu", "-s", "shape.fbx", "-t", "no.hpan", "-settings", "none.vstu"]);
        holds(&why, parts);
    }
    let (_, said) = Settings::from_vstu("{ \"VsTerrainUtility\": {} }").unwrap();
    assert_eq!(said, ["VsTerrainUtility.Version is missing; read as 1.0"]);
}

/// Build parameters: a part of them takes the others from the default group, none of them divides nothing.
#[test]
fn vt_61_build_parameters() {
    let of = |text: &str| Settings::from_vstu(&format!("{{ \"VsTerrainUtility\": {{ \"Version\": 1, {text} }} }}"));
    let split = |text: &str| of(text).unwrap().0.build.split;
    assert_eq!(split("\"Materials\": []"), None);
    let wanted = Split { bundle_size: 12, ..Split::DEFAULT };
    assert_eq!(split("\"Bundle Size Preferred\": 12"), Some(wanted));
    let all = "\"Depth Tolerance\": 5, \"Bundle Size Preferred\": 6.0, \"Bundle Increase\": 1.25, \"Minimum Bundle Volume\": 2, \"Bundle Volume Increase\": 0";
    let wanted =
        Split { depth_tolerance: 5, bundle_size: 6, bundle_increase: 1.25, min_volume: 2.0, volume_increase: 0.0 };
    assert_eq!(split(all), Some(wanted));
    for (text, part) in [
        ("\"Depth Tolerance\": 1.5", "Depth Tolerance is 1.5; write a whole number"),
        ("\"Depth Tolerance\": -1", "Depth Tolerance is -1; write a number of 0 or more"),
        ("\"Depth Tolerance\": 65", "depth_tolerance"),
        ("\"Bundle Size Preferred\": 0", "bundle_size"),
        ("\"Bundle Increase\": \"1\"", "Bundle Increase is the text \"1\""),
        ("\"Materials\": {}", "Materials is an object; write a list"),
    ] {
        let why = of(text).unwrap_err().to_string();
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn vt_76_77_78_materials_of_settings() {
    let folder = folder("vt_76_77_78_materials_of_settings");
    let square = |i: i32| {
        let (x, n) = (10 * i, 4 * i);
        format!(
            "v {x} 0 0\nv {} 0 0\nv {} 10 0\nv {x} 10 0\nusemtl m{i}\nf {} {} {} {}\n",
            x + 10,
            x + 10,
            n + 1,
            n + 2,
            n + 3,
            n + 4
        )
    };
    fs::write(folder.join("mats.obj"), (0..4).map(square).collect::<String>()).unwrap();
    let write = |materials: Value| {
        let all = json!({ "VsTerrainUtility": { "Version": 1.0, "Materials": materials } });
        fs::write(folder.join("s.vstu"), all.to_string()).unwrap();
    };
    let line = ["vstu", "-source", "mats.obj", "-target", "mats.hpan", "-settings", "s.vstu"];
    // both forms of include; one that no face has is no error
    for [off, on] in [[json!(0), json!(1)], [json!(false), json!(true)]] {
        write(json!([
            { "Name": "m0", "mu": 0.8, "rr": 1.5, "include": on },
            { "Name": "m1", "mu": 0.7, "include": off },
            { "Name": "absent", "mu": 0.1, "include": off },
            { "Name": "", "mu": 1.0, "rr": 1.0, "include": on },
        ]));
        let [_, err] = expect(0, &folder, &line);
        assert!(!err.contains("absent"), "{err}");
        let answers = ["5,5", "15,5", "25,5", "35,5"].map(|place| at(&folder, "mats.hpan", place));
        assert_eq!((&answers[0]["mu"], &answers[0]["rr"]), (&json!(0.8), &json!(1.5)));
        assert_eq!(answers[1]["status"], "no ground");
        assert_eq!((&answers[2]["mu"], &answers[3]["mu"]), (&json!(1.0), &json!(1.0)));
    }
    // without the rest others have mu 1 and rr 1, and are listed
    write(json!([{ "Name": "m0", "mu": 0.8, "rr": 1.5 }]));
    let [_, err] = expect(0, &folder, &line);
    holds(&err, &["m1", "m2", "m3"]);
    assert_eq!(at(&folder, "mats.hpan", "25,5")["mu"], 1.0);
    for (material, parts) in [
        (json!({ "Name": "m0", "mu": -0.8 }), &["Materials[1] (\"m0\").mu is -0.8"][..]),
        (json!({ "Name": "m0", "rr": -1 }), &["Materials[1] (\"m0\").rr is -1"]),
        (json!({ "Name": "m0", "mu": "0.8" }), &["Materials[1] (\"m0\").mu is the text \"0.8\""]),
        (json!({ "Name": "m0", "include": 2 }), &["Materials[1] (\"m0\").include is 2; write 0, 1, false or true"]),
        (json!({ "mu": 1 }), &["Materials[1] has no \"Name\""]),
        (json!({ "Name": 3 }), &["Materials[1].Name is 3"]),
        (json!([]), &["Materials[1] is a list; write an object"]),
    ] {
        write(json!([{ "Name": "m9" }, material]));
        holds(&error(2, &folder, &line), &[&["s.vstu: "][..], parts].concat());
    }
}

/// Figure 5 as printed, natively and as the utility: names of the files, counts, every number of the surface.
#[test]
fn vt_36_42_43_44_46_figure_5_runs() {
    let folder = slope("vt_36_42_43_44_46_figure_5_runs");
    expect(0, &folder, &["query", "slope.hpan", "--csv", "points.csv"]);
    vstu(0, &folder, "-queryfile points.csv -source slope.hpan");
    let places: Vec<[&str; 4]> = FIGURE_5
        .lines()
        .filter(|line| line.contains(','))
        .map(|line| line.split(", ").collect::<Vec<_>>().try_into().unwrap())
        .collect();
    for name in ["points_out.csv", "points.csv_out.csv"] {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text.lines().next(), Some(MEASURED));
        // the name of the material has a comma, and stands in quotes
        assert_eq!(text.matches("\"Road, wet\"").count(), 2, "{text}");
        let rows = table(&folder, name);
        assert_eq!(rows.len(), 4);
        for (row, place) in rows.iter().zip(&places) {
            // the nearest double of 20 digits, as the standard library finds it
            for (column, text) in ["x", "y", "z_from", "length"].iter().zip(place) {
                assert_eq!(number(row, column).to_bits(), text.parse::<f64>().unwrap().to_bits());
            }
            assert_eq!(row["iterations"], "100");
            let [least, median, most] = ["ns_min", "ns_median", "ns_max"].map(|column| number(row, column));
            assert!(0.0 < least && least <= median && median <= most, "{row:?}");
            let y = number(row, "y");
            if y > -320.0 {
                assert_eq!(row["found"], "0");
                let surface = ["z", "dzdx", "dzdy", "nx", "ny", "nz", "mu", "rr", "material", "layer", "triangle"];
                assert!(surface.iter().all(|column| row[*column].is_empty()), "{row:?}");
                continue;
            }
            assert_eq!(row["found"], "1");
            assert!((number(row, "z") - (y + 400.0) / 160.0).abs() < 1e-5, "{row:?}");
            let long = (1.0 + 0.00625f64.powi(2)).sqrt();
            for (column, wanted) in [
                ("dzdx", 0.0),
                ("dzdy", 0.00625),
                ("nx", 0.0),
                ("ny", -0.00625 / long),
                ("nz", 1.0 / long),
                ("mu", 0.85),
                ("rr", 1.0),
            ] {
                assert!((number(row, column) - wanted).abs() < 1e-12, "{column} of {row:?}");
            }
            assert_eq!((row["material"].as_str(), row["layer"].as_str()), ("Road", "1"));
        }
    }
    assert_eq!("-313.10045870324142925".parse::<f64>().unwrap(), -313.10045870324143);
}

/// Triangle, nodes and tests are those of `--explain`.
#[test]
fn vt_44_45_cost_and_triangle_are_those_of_the_search() {
    let folder = bridge("vt_44_45_cost_and_triangle_are_those_of_the_search");
    let places: Vec<[f64; 2]> =
        (-9..10).flat_map(|i| [[5.0 * f64::from(i), -3.0], [0.7 * f64::from(i), 41.0]]).collect();
    let text: String = places.iter().map(|[x, y]| format!("{x},{y}\n")).collect();
    fs::write(folder.join("p.csv"), text).unwrap();
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "--measure", "-o", "out.csv"]);
    let rows = table(&folder, "out.csv");
    let mut triangles: BTreeMap<u64, (String, bool)> = BTreeMap::new();
    for (row, [x, y]) in rows.iter().zip(&places) {
        let [out, _] = expect(0, &folder, &["query", "bridge.hpan", &format!("{x},{y}"), "--explain"]);
        let cost = out.lines().find(|line| line.trim().starts_with("cost")).unwrap();
        let counts: Vec<&str> = cost.split_whitespace().collect();
        let before = |word: &str| {
            counts[counts.iter().position(|w| w.trim_end_matches([',', ';']).starts_with(word)).unwrap() - 1]
        };
        assert_eq!((row["nodes"].as_str(), row["tri_tests"].as_str()), (before("node"), before("test")), "{out}");
        // the last test that covers the place in the leaf of the answer's material
        let (mut record, mut own, mut found) = (0, false, vec![]);
        for line in out.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("leaf") {
                record = rest.trim().split(':').next().unwrap().parse::<u64>().unwrap();
                own = line.contains(&row["material"]);
            } else if let Some(rest) =
                line.strip_prefix("test").filter(|rest| own && rest.ends_with("covers the place"))
            {
                found.push(16 * record + rest.trim().split(':').next().unwrap().parse::<u64>().unwrap());
            }
        }
        let triangle: u64 = row["triangle"].parse().unwrap();
        assert!(found.contains(&triangle), "{triangle} {found:?}\n{out}");
        // which of the four it is: of each quad the diagonal goes from its first corner to its third
        let wide = if row["material"] == "Asphalt" { 50.0 } else { 5.0 };
        let own = (row["material"].clone(), y / 50.0 > x / wide);
        assert_eq!(*triangles.entry(triangle).or_insert_with(|| own.clone()), own, "{triangle}");
    }
    // in each tile that it reaches into a triangle has a number of its own
    let all: BTreeSet<_> = triangles.into_values().collect();
    assert_eq!(all.len(), 4, "two of the floor, two of the deck: {all:?}");
}

/// The sheet that answers has its number from the top.
#[test]
fn vt_44_layers_are_counted_from_the_top() {
    let folder = bridge("vt_44_layers_are_counted_from_the_top");
    fs::write(
        folder.join("p.csv"),
        "y,x,z,length,note\n1,0,,,deck\n1,0,1,,floor\n1,0,5,9,floor\n1,0,7,0.5,none\n1,20,,,floor\n",
    )
    .unwrap();
    expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv", "--measure"]);
    let rows = table(&folder, "p_out.csv");
    let got: Vec<[&str; 5]> =
        rows.iter().map(|r| ["x", "found", "z", "layer", "note"].map(|c| r[c].as_str())).collect();
    assert_eq!(
        got,
        [
            ["0", "1", "6", "1", "deck"],
            ["0", "1", "0", "2", "floor"],
            ["0", "1", "0", "2", "floor"],
            ["0", "0", "", "", "none"],
            ["20", "1", "0", "1", "floor"]
        ]
    );
}

/// Commands among the lines: where they count, what is none, and headings as before.
#[test]
fn vt_42_iterations_apply_to_the_lines_after_them() {
    let folder = bridge("vt_42_iterations_apply_to_the_lines_after_them");
    let write = |text: &str| fs::write(folder.join("p.csv"), text).unwrap();
    let line = ["query", "bridge.hpan", "--csv", "p.csv", "-o", "out.csv"];
    for text in [
        "1,1\nITERATIONS = 3\n2,2\n\n# iterations=9\n3,3\niterations=1000,,,\n4,4\n",
        "x,y\n1,1\niterations=3\n2,2\n3,3\niterations=1000\n4,4",
        "# a comment\r\n1,1\r\niterations=3\r\n2,2\r\n3,3\r\niterations=1000\r\n4,4\r\n",
        "iterations=1\ny;x\n1;1\niterations=3\n2;2\n3;3\niterations=1000\n4;4\n",
    ] {
        write(text);
        expect(0, &folder, &line);
        let counts: Vec<String> = table(&folder, "out.csv").iter().map(|row| row["iterations"].clone()).collect();
        assert_eq!(counts, ["1", "3", "3", "1000"], "{text}");
    }
    for (text, parts) in [
        ("1,1\niterations=0\n2,2", &["line 2: iterations=0: write a whole number from 1 to 1,000,000"][..]),
        ("1,1\niterations=x\n2,2", &["line 2: iterations=x"]),
        ("1,1\niterations=-5\n2,2", &["line 2: iterations=-5"]),
        ("1,1\n\nrepeat=5\n2,2", &["line 3: \"repeat\" is no command; there is iterations=N"]),
        ("repeat=5\n2,2", &["line 1: \"repeat\" is no command"]),
    ] {
        write(text);
        let [_, err] = expect(2, &folder, &["query", "bridge.hpan", "--csv", "p.csv"]);
        holds(&err, parts);
    }
    // below a heading a field is text, whatever it holds; a file without commands is answered as before
    write("note,x,y\na=b,1,1\nc=d,,\n");
    let [out, _] = expect(0, &folder, &["query", "bridge.hpan", "--csv", "p.csv"]);
    assert!(out.starts_with("x,y,z,slope_x") && out.lines().count() == 3, "{out}");
    // a pipe has said so before its first point, or too late
    let pipe = |text: &str, more: &str| {
        let script = format!("printf '{text}' | \"$0\" query bridge.hpan --csv - {more}");
        Command::new("sh").args(["-c", &script]).arg(&*HARDPAN).current_dir(&folder).output().unwrap()
    };
    let [out, _] = ended(0, pipe("iterations=7\\n1,1\\n", ""), &["pipe"]);
    assert!(out.starts_with(MEASURED) && out.contains(",7,"), "{out}");
    let [_, err] = ended(2, pipe("1,1\\niterations=7\\n2,2\\n", ""), &["pipe"]);
    holds(&err, &["line 3: ", "--measure"]);
    let [out, _] = ended(0, pipe("1,1\\niterations=7\\n2,2\\n", "--measure"), &["pipe"]);
    assert_eq!(out.lines().count(), 3);
    // what has no such columns is refused
    write("iterations=2\n1,1\n");
    for option in ["--layers", "--json", "--explain", "--fallback", "--plot=a.png", "1,1"] {
        holds(
            &error(2, &folder, &["query", "bridge.hpan", "--csv", "p.csv", option]),
            &[option.split('=').next().unwrap(), "--measure"],
        );
    }
}

/// A line that is cut short: its number, and what comes before it is answered.
#[test]
fn vt_42_half_written_lines() {
    let folder = slope("vt_42_half_written_lines");
    let cut = FIGURE_5.replace("-316.16955870324136413, 1.0, 2.0", "-");
    fs::write(folder.join("points.csv"), &cut).unwrap();
    let [_, why] = vstu(2, &folder, "-s slope.hpan -queryfile points.csv");
    holds(
        &why,
        &[
            "points.csv: line 3: \"-\" is not a number (field 2)",
            "points.csv_out.csv has what comes before it: 1 place",
        ],
    );
    assert_eq!(table(&folder, "points.csv_out.csv").len(), 1);
    for (line, part) in [
        ("-1.73", "no y"),
        ("1,2,3,4,5", "5 fields"),
        ("1,2,,4", "a point is"),
        ("1,2,3,-4", "below zero"),
        ("1,2,3x", "\"3x\""),
    ] {
        fs::write(folder.join("points.csv"), format!("iterations=2\n1,2\n3,4\n{line}\n5,6\n")).unwrap();
        let [_, why] = expect(2, &folder, &["query", "slope.hpan", "--csv", "points.csv"]);
        holds(&why, &["points.csv: line 4: ", part, "2 places"]);
        assert_eq!(table(&folder, "points_out.csv").len(), 2);
    }
    // of a first line no file is made
    fs::write(folder.join("first.csv"), "1\n").unwrap();
    holds(&error(2, &folder, &["query", "slope.hpan", "--csv", "first.csv", "--measure"]), &["line 1"]);
    assert!(!folder.join("first_out.csv").exists());
    // a table is replaced, and nothing else
    fs::write(folder.join("points.csv"), FIGURE_5).unwrap();
    fs::write(folder.join("points_out.csv"), "my,own\n").unwrap();
    holds(&error(2, &folder, &["query", "slope.hpan", "--csv", "points.csv"]), &["points_out.csv", "--force"]);
    expect(0, &folder, &["query", "slope.hpan", "--csv", "points.csv", "--force"]);
    assert_eq!(table(&folder, "points_out.csv").len(), 4);
}

/// Forty sheets over half a metre of the soup, which has twenty-four elsewhere: the most tests are there.
#[test]
fn vt_45_a_dense_spot_is_found_by_its_tests() {
    let folder = folder("vt_45_a_dense_spot_is_found_by_its_tests");
    let mut scene = fixtures::soup(1);
    let [x, y] = [31.0, -33.0];
    for k in 0..40 {
        let (first, z) = (scene.positions.len() as u32, 50.0 + 0.3 * f64::from(k));
        scene.positions.extend([[x, y, z], [x + 0.5, y, z], [x + 0.5, y + 0.5, z], [x, y + 0.5, z]]);
        for v in [[0, 1, 2], [0, 2, 3]] {
            scene.triangles.push(Triangle { v: v.map(|i| first + i), material: 0, source: 0 });
        }
    }
    let image = build(&scene, &Options::default()).unwrap().image;
    fs::write(folder.join("soup.hpan"), &image[..]).unwrap();
    let mut text = String::from("iterations=5\n");
    for i in 0..60 {
        for j in 0..60 {
            writeln!(text, "{},{}", f64::from(i) * 2.0 - 58.8, f64::from(j) * 2.0 - 58.8).unwrap();
        }
    }
    fs::write(folder.join("p.csv"), text).unwrap();
    let [out, _] = expect(0, &folder, &["query", "soup.hpan", "--csv", "p.csv"]);
    let mut rows = table(&folder, "p_out.csv");
    assert_eq!(rows.len(), 3600);
    let inside = |row: &BTreeMap<String, String>| {
        (0.0..=0.5).contains(&(number(row, "x") - x)) && (0.0..=0.5).contains(&(number(row, "y") - y))
    };
    assert_eq!(rows.iter().filter(|row| inside(row)).count(), 1);
    rows.sort_by_key(|row| std::cmp::Reverse(row["tri_tests"].parse::<u64>().unwrap()));
    assert!(inside(&rows[0]) && number(&rows[0], "tri_tests") >= 40.0, "{:?}", rows[0]);
    assert!(number(&rows[1], "tri_tests") < number(&rows[0], "tri_tests"));
    holds(&out, &[&format!("most work at {},{} ", rows[0]["x"], rows[0]["y"])]);
}

/// A million lines go through in little memory, and their rows are those that a part of them has.
#[test]
fn vt_42_a_million_lines_stream() {
    let folder = slope("vt_42_a_million_lines_stream");
    let mut text = String::from("iterations=1\n");
    for i in 0..1_000_000 {
        writeln!(text, "{},{}", f64::from(i % 1000) * 0.07 - 35.0, -330.0 - f64::from(i / 1000) * 0.05).unwrap();
    }
    fs::write(folder.join("many.csv"), text).unwrap();
    let script = "ulimit -v 131072; exec \"$0\" query slope.hpan --csv many.csv --measure";
    let output = Command::new("sh").args(["-c", script]).arg(&*HARDPAN).current_dir(&folder).output().unwrap();
    let [out, _] = ended(0, output, &["query", "many.csv"]);
    holds(&out, &["many_out.csv: 1,000,000 places"]);
    let answers = fs::read_to_string(folder.join("many_out.csv")).unwrap();
    assert_eq!(answers.lines().count(), 1_000_001);
    let last: Vec<&str> = answers.lines().next_back().unwrap().split(',').collect();
    assert_eq!((last[1].parse::<f64>().unwrap(), last[4]), (-330.0 - 999.0 * 0.05, "1"));
    ["many.csv", "many_out.csv"].iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
}
