//! Settings, materials, reports and what an image says about its origin, as they are typed.

use crate::shell::{but_friction, error, expect, folder, holds, info, value};
use hardpan::Terrain;
use hardpan_builder::{Image, Settings};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};
use verification::obj::{ends_in, real};

/// Three squares of 10 m in a row: Concrete, Grass, and one without a material.
const MATS: &str = "\
v 0 0 0
v 10 0 0
v 10 10 0
v 0 10 0
v 20 0 0
v 20 10 0
v 30 0 0
v 30 10 0
f 5 7 8 6
usemtl Concrete
f 1 2 3 4
usemtl Grass
f 2 5 6 3
";

fn mats(test: &str) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join("mats.obj"), MATS).unwrap();
    folder
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

fn facts(folder: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&expect(0, folder, arguments)[0]).unwrap()
}

fn identity(folder: &Path, image: &str) -> String {
    facts(folder, &["info", image, "--json"])["identity"].as_str().unwrap().into()
}

/// mu over the middles of the three squares; none without ground.
fn friction(folder: &Path, image: &str) -> [Option<f64>; 3] {
    let image = Image::read(folder.join(image)).unwrap();
    let t = Terrain::open_verified(&image).unwrap();
    [5.0, 15.0, 25.0].map(|x| {
        let a = t.closest([x, 5.0, 0.0]);
        a.found().then(|| t.material(&a.hit).mu)
    })
}

#[test]
fn vt_26_materials_are_listed_and_left_out() {
    let folder = mats("vt_26_materials_are_listed_and_left_out");
    let [out, _] = expect(0, &folder, &["materials", "mats.obj"]);
    assert_eq!(
        out,
        "\
material                         triangles      m2 in plan      mu       rr     gain  type
Concrete                                 2           100.0    0.85        1        1     0
Grass                                    2           100.0    0.85        1        1     0
unnamed                                  2           100.0    0.85        1        1     0
mu, rr and gain are those by default, until settings state others: no mesh states any
"
    );
    expect(0, &folder, &["build", "mats.obj", "-o", "all.hpan"]);
    let [out, said] = expect(0, &folder, &["materials", "mats.obj", "-o", "mats.toml"]);
    assert_eq!(out, "");
    holds(&said, &["note: mats.toml: settings of ", "; edit, then: hardpan build --settings mats.toml\n"]);
    // an image knows no folders
    fs::create_dir(folder.join("else")).unwrap();
    for (place, then) in [("of.toml", "--settings of.toml"), ("else/of.toml", "FILE --settings else/of.toml")] {
        let [_, said] = expect(0, &folder, &["materials", "all.hpan", "-o", place]);
        holds(&said, &[&format!("; edit, then: hardpan build {then}\n")]);
        holds(&fs::read_to_string(folder.join(place)).unwrap(), &[&format!("Edit, then: hardpan build {then}\n")]);
    }
    // of a source they show the rule of VS Terrain, of an image the one that it has
    let written = fs::read_to_string(folder.join("mats.toml")).unwrap();
    let rule = written.split_once("# [build.split]\n").unwrap().1.split_once("\n\n").unwrap().0;
    write(&folder, "vs.toml", &format!("[build.split]\n{}\n", rule.replace("# ", "")));
    expect(0, &folder, &["build", "mats.obj", "--settings", "vs.toml", "-o", "vs.hpan"]);
    holds(&expect(0, &folder, &["info", "vs.hpan"])[0], &["preset default"]);
    expect(0, &folder, &["materials", "vs.hpan", "-o", "vs.toml", "--force"]);
    holds(
        &fs::read_to_string(folder.join("vs.toml")).unwrap(),
        &[&format!("\n[build.split]\n{}\n", rule.replace("# ", ""))],
    );
    let edited = written.replacen("name = \"Grass\"\ninclude = true", "name = \"Grass\"\ninclude = 0", 1);
    write(&folder, "mats.toml", &edited);
    let [out, err] = expect(0, &folder, &["build", "--settings", "mats.toml"]);
    holds(&out, &["mats.hpan: 4 triangles", "left out of 6 triangles: 2 not included"]);
    let two = "2 materials (\"Concrete\" 100.0 m2, \"unnamed\" 100.0 m2)";
    assert_eq!(err, format!("warning: mats.obj: mu is 0.85 by default of {two}; state it in mats.toml\n"));
    assert_eq!(friction(&folder, "all.hpan"), [Some(0.85); 3]);
    assert_eq!(friction(&folder, "mats.hpan"), [Some(0.85), None, Some(0.85)], "a hole, and the others unchanged");
    let [out, _] = expect(0, &folder, &["materials", "mats.hpan"]);
    holds(&out, &["Grass                                    0             0.0", "not included"]);

    let all = facts(&folder, &["materials", "all.hpan", "--json"]);
    let mut stated = all.clone();
    for material in stated.as_array_mut().unwrap() {
        let keys = ["mu", "rr", "gain", "mu_by_default"];
        let factors = keys.map(|key| material.as_object_mut().unwrap().remove(key));
        assert_eq!(factors, [json!(0.85), json!(1.0), json!(1.0), json!(true)].map(Some));
    }
    let source = facts(&folder, &["materials", "mats.obj", "--json"]);
    assert_eq!(stated, source, "the image lists what its source does, and friction, which that does not state");
    assert_eq!(
        (&all[1]["name"], &all[1]["triangles"], &all[1]["plan_area"]),
        (&json!("Grass"), &json!(2), &json!(100.0))
    );
}

/// The list has what covers most first, then by name; a settings file is by name.
#[test]
fn materials_are_listed_by_area() {
    let folder = folder("materials_are_listed_by_area");
    let square = |(i, (name, side)): (usize, (&str, i32))| {
        let (x, to) = (10 * i, 10 * i as i32 + side);
        format!("usemtl {name}\nv {x} 0 0\nv {to} 0 0\nv {to} {side} 0\nv {x} {side} 0\nf -4 -3 -2 -1\n")
    };
    let squares = [("Ash", 1), ("Birch", 5), ("Cedar", 2), ("Elm", 5)];
    write(&folder, "a.obj", &squares.into_iter().enumerate().map(square).collect::<String>());
    expect(0, &folder, &["build", "a.obj"]);
    for file in ["a.obj", "a.hpan"] {
        let [out, _] = expect(0, &folder, &["materials", file]);
        let names = |text: &str, start: &str| -> Vec<String> {
            let named = text.lines().filter_map(|l| l.strip_prefix(start)).filter(|l| l.contains(['A', 'B', 'C', 'E']));
            named.map(|l| l.trim_matches('"').split(' ').next().unwrap().to_string()).collect()
        };
        let rows =
            out.replace("\nmu is not stated, so the default holds: \"Ash\", \"Birch\", \"Cedar\", \"Elm\"\n", "");
        assert_eq!(names(&rows, ""), ["Birch", "Elm", "Cedar", "Ash"], "{out}");
        let listed = facts(&folder, &["materials", file, "--json"]);
        let listed: Vec<&str> = listed.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
        assert_eq!(listed, ["Birch", "Elm", "Cedar", "Ash"]);
        let [out, _] = expect(0, &folder, &["materials", file, "-o", "-"]);
        assert_eq!(names(&out, "name = "), ["Ash", "Birch", "Cedar", "Elm"], "{out}");
    }
}

#[test]
fn vt_48_all_properties_go_round() {
    let folder = mats("vt_48_all_properties_go_round");
    let text = r#"
        crs = "EPSG:32632"
        build = { near = 2.5, tile_log2 = 15, fallback = "edge-extend" }

        [[source]]
        file = "mats.obj"
        up = "z"
        unit = "cm"
        yaw_deg = 90
        translate = [1000.0, -5.5, 3.25]
        licence = "CC0"

        [[material]]
        name = "Concrete"
        mu = 0.9
        rr = 1.25
        gain = 0.75
        surface_type = 3
        classes = [0, 5, 31]
        cone_index = 812.5
        label = 4000000000
        priority = -7

        [[material]]
        pattern = "G??s*"
        obstacle = true

        [[material]]
        name = ""
        mu = 0.123456789012345678
    "#;
    write(&folder, "first.toml", text);
    expect(0, &folder, &["build", "--settings", "first.toml", "-o", "first.hpan"]);
    let shown = facts(&folder, &["info", "first.hpan", "--materials", "--json"]);
    assert_eq!(
        shown["materials"][0],
        json!({
            "name": "Concrete", "mu": 0.9, "rr": 1.25, "gain": 0.75, "surface_type": 3, "classes": [0, 5, 31],
            "cone_index": 812.5, "label": 4_000_000_000u32, "priority": -7, "precedence": 0,
            "friction_only": false, "obstacle": false, "include": true,
        })
    );
    let head = facts(&folder, &["info", "first.hpan", "--json"]);
    assert_eq!((&head["near"], &head["tile_log2"], &head["triangles"]), (&json!(2.5), &json!(15), &json!(4)));
    // a centimetre a unit, a quarter turn, then moved
    assert_eq!(
        head["bounds"],
        json!({ "min": ([999.9, -5.5, 3.25].map(on_lattice)), "max": ([1000.0, -5.2, 3.25].map(on_lattice)) })
    );

    // which are used at all, and out of the image and back
    write(&folder, "part.toml", &text.replace("priority = -7", "include = false"));
    expect(0, &folder, &["build", "--settings", "part.toml", "-o", "part.hpan"]);
    expect(0, &folder, &["materials", "part.hpan", "-o", "again.toml"]);
    expect(0, &folder, &["build", "--settings", "again.toml", "-o", "again.hpan"]);
    for image in ["part.hpan", "again.hpan"] {
        let shown = facts(&folder, &["info", image, "--materials", "--json"])["materials"].clone();
        let used = [0, 1, 2].map(|i| ["include", "obstacle"].map(|key| shown[i][key].as_bool().unwrap()));
        assert_eq!(used, [[false, false], [true, true], [true, false]], "{shown}");
        let [table, _] = expect(0, &folder, &["info", image, "--materials"]);
        let lines: Vec<&str> = table.lines().collect();
        let wanted = [
            ("material ", " priority precedence is            classes"),
            ("Concrete ", "          0 not included  0 5 31"),
            ("Grass ", "          0 an obstacle"),
            ("unnamed ", "          0 ground"),
            ("mu is not stated, so the default holds: ", "\"Grass\""),
        ];
        assert!(
            lines.len() == 5 && lines.iter().zip(wanted).all(|(l, (a, z))| l.starts_with(a) && l.ends_with(z)),
            "{table}"
        );
    }
    assert_eq!(fs::read(folder.join("part.hpan")).unwrap(), fs::read(folder.join("again.hpan")).unwrap());

    // out of the image and back
    expect(0, &folder, &["materials", "first.hpan", "-o", "second.toml"]);
    let written = fs::read_to_string(folder.join("second.toml")).unwrap();
    holds(
        &written,
        &["crs = \"EPSG:32632\"", "yaw_deg = 90.0", "licence = \"CC0\"", "obstacle = true", "classes = [0, 5, 31]"],
    );
    expect(0, &folder, &["build", "--settings", "second.toml", "-o", "second.hpan"]);
    let bytes = |name: &str| fs::read(folder.join(name)).unwrap();
    assert!(bytes("first.hpan") == bytes("second.hpan"), "provenance and all");

    // the same in JSON, which cannot show what nobody states
    let [_, err] = expect(0, &folder, &["materials", "first.hpan", "-o", "second.json"]);
    holds(
        &err,
        &["note: second.json: JSON has no comments, and shows only what is stated; -o FILE.toml shows all keys"],
    );
    expect(0, &folder, &["build", "--settings", "second.json", "-o", "second.hpan"]);
    assert!(bytes("first.hpan") == bytes("second.hpan"));
    let settings = Settings::from_toml(text).unwrap();
    write(&folder, "third.json", &serde_json::to_string(&settings).unwrap());
    expect(0, &folder, &["build", "--settings", "third.json", "-o", "third.hpan"]);
    assert!(bytes("first.hpan") == bytes("third.hpan"));

    // what is typed goes before the file
    expect(
        0,
        &folder,
        &["build", "mats.obj", "--settings", "first.toml", "--unit", "m", "--tile", "17", "-o", "typed.hpan"],
    );
    let head = facts(&folder, &["info", "typed.hpan", "--json"]);
    assert_eq!((&head["tile_log2"], &head["bounds"]["max"]), (&json!(17), &json!([1000.0, 24.5, 3.25])));
    expect(0, &folder, &["build", "mats.obj", "--preset", "dense", "-o", "dense.hpan"]);
    let origin = facts(&folder, &["info", "dense.hpan", "--provenance", "--json"]);
    assert_eq!(origin["provenance"]["settings"]["build"]["split"]["bundle_size"], 16);
    // nothing of the image's content depends on how its settings were written
    expect(0, &folder, &["build", "mats.obj", "-o", "a.hpan"]);
    expect(0, &folder, &["materials", "a.hpan", "-o", "a.toml"]);
    expect(0, &folder, &["build", "mats.obj", "--settings", "a.toml", "-o", "b.hpan"]);
    assert_eq!(identity(&folder, "a.hpan"), identity(&folder, "b.hpan"));
}

/// `--weld`, `--stitch` and `--max-slope` say what the settings file can say, and are refused where it is.
#[test]
fn repairs_as_they_are_typed() {
    let folder = folder("repairs_as_they_are_typed");
    // two level squares 2 mm, 8 steps, apart; a slope of 45 degrees with a corner 3 mm above a corner of theirs
    let squares = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nv 10.002 0 0\nv 20 0 0\nv 20 10 0\nv 10.002 10 0\n\
                   v 20 0 0.003\nv 30 0 10\nv 30 10 10\nf 1 2 3 4\nf 5 6 7 8\nf 9 10 11\n";
    write(&folder, "s.obj", squares);
    let report = |typed: &[&str]| -> Value {
        expect(0, &folder, &[&["build", "s.obj", "--report", "r.json"], typed].concat());
        serde_json::from_str(&fs::read_to_string(folder.join("r.json")).unwrap()).unwrap()
    };
    let counts = |typed: &[&str]| {
        let ground = report(typed)["ground"].clone();
        let n = |kind: &str, key: &str| ground[kind][key].as_u64().unwrap();
        [n("repaired", "welded_vertices"), n("repaired", "stitched_vertices"), n("ignored", "steep")]
    };
    for (typed, set, wanted) in [
        (&[][..], "", [0, 0, 0]),
        (&["--stitch", "10,64"], "stitch = { plan = 10, height = 64 }", [0, 2, 0]),
        (&["--stitch", "10,256"], "stitch = { plan = 10, height = 256 }", [0, 3, 0]),
        (&["--stitch=false", "--weld", "10, 64"], "stitch = false\nweld = { plan = 10, height = 64 }", [2, 0, 0]),
        (&["--weld", "9,256", "--max-slope", "44.9"], "weld = { plan = 9, height = 256 }\nmax_slope = 44.9", [2, 0, 1]),
        (&["--max-slope", "45.1"], "max_slope = 45.1", [0, 0, 0]),
    ] {
        assert_eq!(counts(typed), wanted, "{typed:?}");
        let image = fs::read(folder.join("s.hpan")).unwrap();
        write(&folder, "s.toml", &format!("[build]\n{set}\n"));
        assert_eq!(counts(&["--settings", "s.toml"]), wanted, "{set}");
        assert!(fs::read(folder.join("s.hpan")).unwrap() == image, "{set}");
    }
    // what is typed goes before the file, and is recorded
    write(&folder, "s.toml", "build = { weld = { plan = 10, height = 64 }, stitch = false, max_slope = 10 }\n");
    let typed = ["--settings", "s.toml", "--weld", "0,0", "--stitch", "9,65", "--max-slope", "60"];
    assert_eq!(counts(&typed), [0, 2, 0]);
    let recorded = &facts(&folder, &["info", "s.hpan", "--provenance", "--json"])["provenance"]["settings"]["build"];
    let steps = |plan: u32, height: u32| json!({ "plan": plan, "height": height });
    assert_eq!((&recorded["weld"], &recorded["stitch"]), (&steps(0, 0), &steps(9, 65)));
    assert_eq!(recorded["max_slope"], json!(60.0));

    let reach = "weld and stitch reach at most 2^20 steps in plan and 2^28 in height";
    for (flag, key, value, set, why) in [
        ("--weld", "weld", "1048577,0", "{ plan = 1048577, height = 0 }", reach),
        ("--stitch", "stitch", "0,268435457", "{ plan = 0, height = 268435457 }", reach),
        ("--max-slope", "max_slope", "90", "90", "the steepest slope lies between 0 and 90 degrees"),
        ("--max-slope", "max_slope", "-1", "-1", "the steepest slope lies between 0 and 90 degrees"),
        ("--max-slope", "max_slope", "nan", "nan", "the steepest slope lies between 0 and 90 degrees"),
    ] {
        let [out, err] = expect(2, &folder, &["build", "s.obj", flag, value, "-o", "no.hpan"]);
        assert!(out.is_empty());
        holds(&err, &[flag, value, why]);
        write(&folder, "s.toml", &format!("[build]\n{key} = {set}\n"));
        holds(&error(2, &folder, &["build", "s.obj", "--settings", "s.toml", "-o", "no.hpan"]), &["s.toml", why]);
    }
    for (flag, value, why) in [
        ("--weld", "4", "PLAN,HEIGHT"),
        ("--weld", "4,-1", "\"-1\" is not a whole number of lattice steps"),
        ("--weld", "false", "PLAN,HEIGHT"),
        ("--stitch", "1,2,3", "PLAN,HEIGHT"),
        ("--stitch", "true", "PLAN,HEIGHT"),
        ("--max-slope", "steep", "not a number of degrees"),
        ("--rotate", "1e300", "must lie between -360 and 360"),
    ] {
        holds(&expect(2, &folder, &["build", "s.obj", flag, value, "-o", "no.hpan"])[1], &[flag, why]);
    }
    assert!(!folder.join("no.hpan").exists());
    holds(
        &expect(0, &folder, &["build", "--help"])[0],
        &["--weld <PLAN,HEIGHT>", "--stitch <", "--max-slope <DEGREES>"],
    );
}

/// Ground that is too crowded to be repaired is reported and counted.
#[test]
fn crowds_that_repairs_let_be_are_told() {
    let folder = folder("crowds_that_repairs_let_be_are_told");
    // corners of 70 triangles on 9 x 8 lattice steps
    let corner = |k: usize| [k % 9, k / 9].map(|v| v as f64 / 4096.0);
    let mut heap = String::new();
    for k in 0..70 {
        let ([x, y], far) = (corner(k), 1.0 + k as f64);
        heap += &format!("v {x} {y} 0\nv {far} 90 0\nv 90 -{far} 0\nf -3 -2 -1\n");
    }
    write(&folder, "heap.obj", &heap);
    // how many, and the code and the count of what is found
    let told = |arguments: &[&str], key: &str| -> (u64, Vec<(String, f64)>) {
        expect(0, &folder, &[&["build", "heap.obj", "--report", "r.json"], arguments].concat());
        let report = facts_of(&folder, "r.json");
        let findings = report["findings"].as_array().unwrap();
        let found = findings.iter().map(|f| (f["code"].as_str().unwrap().into(), value(f, "count")));
        (report["ground"]["repaired"][key].as_u64().unwrap(), found.collect())
    };
    let crowd = |code: &str| (70, vec![(code.to_string(), 70.0)]);
    assert_eq!(told(&["--weld", "20,0", "--stitch=false"], "weld_crowded"), crowd("not-welded"));
    // the others that stay apart from them
    let stitched = ["not-stitched", "not-stitched"].map(String::from).into_iter().zip([70.0, 140.0]).collect();
    assert_eq!(told(&["--stitch", "20,0"], "stitch_crowded"), (70, stitched));
    assert_eq!(told(&["--weld", "0,0", "--stitch=false"], "weld_crowded"), (0, Vec::new()));
}

/// A fine road along a coarse plane builds by default, at a cost for a controller; where the plane's triangle is a
/// thread, what stays open is reported.
#[test]
fn a_fine_road_along_a_coarse_plane_builds() {
    let folder = folder("a_fine_road_along_a_coarse_plane_builds");
    let n = 2000;
    let road = |deep: f64| {
        let mut obj = format!("v 0 0 0\nv 1000 0 0\nv 500 {deep} 0\nf -3 -2 -1\n");
        for i in 0..n {
            let [x, next] = [i, i + 1].map(|i| f64::from(i) / 2.0);
            obj += &format!("v {x} 0 0\nv {next} 0 0\nv {next} 5 0\nv {x} 5 0\nf -4 -3 -2 -1\n");
        }
        obj
    };
    write(&folder, "coarse.obj", &road(-1000.0));
    write(&folder, "thread.obj", &road(-0.05));
    let [out, err] = expect(0, &folder, &["build", "coarse.obj", "--unit", "m"]);
    holds(&out, &["gaps closed: 0 vertices joined, 1 triangle divided"]);
    assert!(!err.contains("warning"), "{err}");
    let facts: Value = serde_json::from_str(&expect(0, &folder, &["info", "coarse.hpan", "--json"])[0]).unwrap();
    let tests = facts["bound"]["tests"].as_u64().unwrap();
    assert!(tests <= 40, "{tests}");
    holds(
        &expect(0, &folder, &["verify", "coarse.hpan", "--no-seams", "--against", "coarse.obj"])[0],
        &["every claim holds"],
    );
    expect(0, &folder, &["build", "thread.obj", "--unit", "m", "--report", "r.json"]);
    let finding = &facts_of(&folder, "r.json")["findings"][0];
    assert_eq!([&finding["code"], &finding["severity"]], [&json!("not-stitched"), &json!("warning")]);
    expect(1, &folder, &["build", "thread.obj", "--unit", "m", "--strict"]);
    holds(&expect(0, &folder, &["verify", "thread.hpan"])[0], &["every claim holds", "seams      note"]);
}

/// The nearest point of the lattice of 2^-12 m.
fn on_lattice(v: f64) -> f64 {
    (v * 4096.0).round() / 4096.0
}

/// The settings that the manual shows.
#[test]
fn the_manual_shows_settings_that_work() {
    let folder = folder("the_manual_shows_settings");
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/docs/settings.md")).unwrap();
    let text = manual.split("```toml\n").find(|b| b.starts_with("crs = ")).unwrap().split("```").next().unwrap();
    write(&folder, "town.toml", text);
    let squares = "v 0 0 0\nv 900 0 0\nv 0 0 -900\nv -900 0 0\nv 0 0 900\nusemtl Asphalt\nf 1 2 3\nusemtl Hedge 7\nf 1 3 4\nusemtl Lawn\nf 1 4 5\n";
    write(&folder, "town.obj", squares);
    let [out, err] = expect(0, &folder, &["build", "--settings", "town.toml"]);
    holds(&out, &["town.hpan: 2 triangles", "left out of 3 triangles: 1 not included"]);
    assert!(err.is_empty(), "{err}");
    let listed = facts(&folder, &["materials", "town.hpan", "--json"]);
    // those that cover most first
    let wanted = [("Asphalt", 0.9, true), ("Lawn", 0.7, true), ("Hedge 7", 0.85, false)];
    for (m, (name, mu, include)) in listed.as_array().unwrap().iter().zip(wanted) {
        assert_eq!((&m["name"], &m["mu"], &m["include"]), (&json!(name), &json!(mu), &json!(include)));
    }
}

#[test]
fn vt_76_bad_numbers_name_index_and_material() {
    let folder = mats("vt_76_bad_numbers_name_index_and_material");
    write(&folder, "s.toml", "[[material]]\nname = \"Grass\"\n[[material]]\nname = \"Concrete\"\nmu = -0.5\n");
    let why = error(2, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    assert_eq!(why, "error: s.toml: line 5: material 2 (\"Concrete\"): mu is -0.5; write a number of 0 or more\n");
    write(&folder, "s.json", r#"{"material": [{"name": "Grass", "rr": -1}]}"#);
    let why = error(2, &folder, &["build", "mats.obj", "--settings", "s.json"]);
    assert_eq!(why, "error: s.json: material 1 (\"Grass\"): rr is -1; write a number of 0 or more\n");
    assert!(!folder.join("mats.hpan").exists());
}

#[test]
fn vt_77_include_as_number_and_as_word() {
    let folder = mats("vt_77_include_as_number_and_as_word");
    for (value, wanted) in [("0", None), ("false", None), ("1", Some(0.85)), ("true", Some(0.85))] {
        let text = format!("[[material]]\nname = \"Grass\"\ninclude = {value}\n[[material]]\nname = \"\"\n");
        write(&folder, "s.toml", &text);
        expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
        assert_eq!(friction(&folder, "mats.hpan"), [Some(0.85), wanted, Some(0.85)], "include = {value}");
    }
}

#[test]
fn vt_78_the_rest_takes_the_one_without_a_name() {
    let folder = mats("vt_78_the_rest_takes_the_one_without_a_name");
    write(&folder, "s.toml", "[[material]]\nname = \"\"\nmu = 0.5\n[[material]]\nname = \"Grass\"\nmu = 0.4\n");
    let [_, err] = expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    assert!(err.is_empty(), "{err}");
    assert_eq!(friction(&folder, "mats.hpan"), [Some(0.5), Some(0.4), Some(0.5)]);
    // without it mu and rr are 1, and the names are said
    write(&folder, "s.toml", "[[material]]\nname = \"Concrete\"\nmu = 0.9\n[[material]]\nname = \"Grass\"\nmu = 0.4\n");
    let [_, err] = expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    let told = "no entry of the settings fits 1 of 3 materials (\"unnamed\" 100.0 m2): mu 1 and rr 1";
    assert_eq!(err, format!("warning: {told}\n"));
    assert_eq!(friction(&folder, "mats.hpan"), [Some(0.9), Some(0.4), Some(1.0)]);
    // to those who said so a warning is an error, with nothing written, and the report has it
    let before = fs::read(folder.join("mats.hpan")).unwrap();
    let strict = ["build", "mats.obj", "--settings", "s.toml", "--strict"];
    let report = ["--report", "r.json"];
    let [_, err] = expect(1, &folder, &[&strict[..], &report].concat());
    holds(
        &err,
        &[
            "warning: no entry of the settings fits ",
            "error: mats.obj: 1 warning, and --strict: no image was written\n",
        ],
    );
    assert_eq!(fs::read(folder.join("mats.hpan")).unwrap(), before, "the image of before stays");
    expect(1, &folder, &[&strict[..], &["-o", "new.hpan"]].concat());
    assert!(!folder.join("new.hpan").exists());
    let report: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    assert_eq!((report["done"].as_bool(), report["error"]["exit"].as_u64()), (Some(false), Some(1)));
    assert_eq!(report["warnings"][0], told);
    write(&folder, "s.toml", "[[material]]\nname = \"\"\nmu = 0.5\n");
    expect(0, &folder, &strict);
    // settings that do not speak of materials change none
    write(&folder, "s.toml", "build.near = 3\n");
    expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    assert_eq!(friction(&folder, "mats.hpan"), [Some(0.85); 3]);
}

/// Friction that all have by default is noted. It is a warning where settings name materials, or where warnings stop
/// the build. A first `.vstu`: what its note says can be typed, and its entries count.
#[test]
fn vt_26_a_first_vstu_is_one() {
    let folder = mats("vt_26_a_first_vstu_is_one");
    let [out, said] = expect(0, &folder, &["materials", "mats.obj", "--up", "z", "-o", "mats.vstu"]);
    assert_eq!(out, "");
    let typed = ["build", "mats.obj", "--up", "z", "--settings", "mats.vstu"];
    holds(&said, &[&format!("; edit, then: hardpan {}\n", typed.join(" "))]);
    // nobody states mu
    let text = fs::read_to_string(folder.join("mats.vstu")).unwrap();
    assert!(!text.contains("mu"), "{text}");
    let build = |text: &str| {
        write(&folder, "mats.vstu", text);
        expect(0, &folder, &typed);
        friction(&folder, "mats.hpan")
    };
    assert_eq!(build(&text), [Some(0.85); 3]);
    let edited = text.replace("\"Grass\", \"include\": 1", "\"Grass\", \"mu\": 0.4, \"include\": 1");
    assert_eq!(build(&edited), [Some(0.85), Some(0.4), Some(0.85)]);
    let edited = edited.replace("\"Concrete\", \"include\": 1", "\"Concrete\", \"include\": 0");
    assert_eq!(build(&edited), [None, Some(0.4), Some(0.85)]);
    // that of an image has the build parameters, too, and changes nothing
    let stated = edited.replace("\"unnamed\", ", "\"unnamed\", \"mu\": 0.5, \"rr\": 2, ");
    build(&stated.replace("\"Materials\"", "\"Depth Tolerance\": 3, \"Materials\""));
    expect(0, &folder, &["materials", "mats.hpan", "-o", "image.vstu"]);
    holds(&fs::read_to_string(folder.join("image.vstu")).unwrap(), &["\"Depth Tolerance\": 3,", "\"rr\": 2"]);
    expect(0, &folder, &["vstu", "-source", "mats.obj", "-target", "again.hpan", "-settings", "image.vstu"]);
    assert_eq!(identity(&folder, "again.hpan"), identity(&folder, "mats.hpan"));
}

#[test]
fn friction_that_nobody_states_is_told() {
    let folder = mats("friction_that_nobody_states_is_told");
    let three = "mats.obj: mu is 0.85 by default of 3 materials (\"Concrete\" 100.0 m2, \"Grass\" 100.0 m2, \"unnamed\" 100.0 m2)";
    let build = |more: &[&str]| expect(0, &folder, &[&["build", "mats.obj"], more].concat())[1].clone();
    let state = "to state it in settings to fill in: hardpan materials mats.obj -o mats.toml";
    assert_eq!(build(&[]), format!("note: {three}; {state}\n"));
    // with --strict somebody has to state it
    fs::rename(folder.join("mats.hpan"), folder.join("before.hpan")).unwrap();
    write(&folder, "elsewhere.toml", "[[material]]\nname = \"Grass\"\nmu = 0.4\n");
    let [_, err] = expect(1, &folder, &["build", "mats.obj", "--strict"]);
    let refused = "error: mats.obj: 1 warning, and --strict: no image was written\n";
    assert_eq!(err, format!("warning: {three}; {state}\n{refused}"));
    assert!(!folder.join("mats.hpan").exists());
    // what it says to type, once it is filled in
    expect(0, &folder, &["materials", "mats.obj", "-o", "mats.toml"]);
    let text = fs::read_to_string(folder.join("mats.toml")).unwrap().replace("# mu = 0.85", "mu = 0.85");
    write(&folder, "mats.toml", &text);
    assert_eq!(build(&["--strict", "--settings", "mats.toml"]), "");
    fs::remove_file(folder.join("mats.toml")).unwrap();
    expect(0, &folder, &["build", "mats.obj"]);
    // a file without materials, and how it lies, if that was typed
    write(&folder, "bare.obj", &MATS.replace("usemtl", "# "));
    let bare = |more: &[&str]| expect(0, &folder, &[&["build", "bare.obj", "-o", "b.hpan"], more].concat())[1].clone();
    let write_it = "to state it in settings to fill in: hardpan materials bare.obj";
    let all = "note: bare.obj: mu is 0.85 by default of 1 material (\"unnamed\" 300.0 m2); ";
    assert_eq!(bare(&[]), format!("{all}{write_it} -o b.toml\n"));
    let typed = ["--up", "-z", "--unit", "inch", "--scale", "2.5", "--rotate", "-90", "--translate=-1,0,1e3"];
    let said = bare(&typed);
    let again = "--up -z --unit in --scale 2.5 --rotate -90 --translate -1,0,1000 -o b.toml";
    assert!(
        said.starts_with("note: bare.obj: mu is 0.85") && said.ends_with(&format!("{write_it} {again}\n")),
        "{said}"
    );
    let image = identity(&folder, "b.hpan");
    expect(0, &folder, &[&["materials", "bare.obj"][..], &again.split(' ').collect::<Vec<_>>()].concat());
    // what that writes states nothing yet, which is a warning
    let unstated =
        said.replace("note", "warning").split_once("to state").unwrap().0.to_owned() + "state it in b.toml\n";
    let given = ["build", "--settings", "b.toml", "-o", "b.hpan"];
    assert_eq!(expect(0, &folder, &given)[1], unstated);
    assert_eq!(identity(&folder, "b.hpan"), image);
    let none = "error: bare.obj: 1 warning, and --strict: no image was written\n";
    assert_eq!(expect(1, &folder, &[&given[..], &["--strict"]].concat())[1], format!("{unstated}{none}"));
    let text = fs::read_to_string(folder.join("b.toml")).unwrap();
    let comments = "# mu = 0.85  # by default, until stated\n# rr = 1.0\n# gain = 1.0\n";
    assert!(text.ends_with(comments) && text.contains("The source states no friction"), "{text}");
    write(&folder, "b.toml", &text.replace("# mu = 0.85", "mu = 0.5"));
    assert_eq!(expect(0, &folder, &[&given[..], &["--strict"]].concat())[1], "");
    // nor in JSON
    expect(0, &folder, &["materials", "bare.obj", "-o", "b.json"]);
    assert!(!fs::read_to_string(folder.join("b.json")).unwrap().contains("null"));
    let given = ["build", "--settings", "b.json", "-o", "j.hpan"];
    assert_eq!(expect(0, &folder, &given)[1], all.replace("note", "warning") + "state it in b.json\n");
    // an image states all
    expect(0, &folder, &["materials", "b.hpan", "-o", "i.json"]);
    assert_eq!(expect(0, &folder, &["build", "--settings", "i.json", "-o", "i.hpan", "--strict"])[1], "");
    assert_eq!(identity(&folder, "i.hpan"), identity(&folder, "b.hpan"));
    expect(0, &folder, &["materials", "b.hpan", "-o", "i.toml"]);
    let text = fs::read_to_string(folder.join("i.toml")).unwrap();
    assert!(text.contains("\nmu = 0.5\nrr = 1.0\ngain = 1.0\n") && !text.contains("states no friction"), "{text}");

    // what has no area, or is not the ground, is not spoken of
    write(
        &folder,
        "s.toml",
        "[[material]]\nname = \"Grass\"\ninclude = false\n[[material]]\nname = \"Concrete\"\nmu = 1\n[[material]]\nname = \"\"\n",
    );
    let wanted =
        "warning: mats.obj: mu is 0.85 by default of 1 of 2 materials (\"unnamed\" 100.0 m2); state it in s.toml\n";
    assert_eq!(build(&["--settings", "s.toml", "-o", "s.hpan"]), wanted);
    // settings that speak of no materials
    write(&folder, "near.toml", "build.near = 3\n");
    let near = ["--settings", "near.toml", "-o", "near.hpan"];
    let state = "state it in near.toml";
    assert_eq!(build(&near), format!("note: {three}; {state}\n"));
    fs::remove_file(folder.join("near.hpan")).unwrap();
    let [_, err] = expect(1, &folder, &[&["build", "mats.obj", "--strict"], &near[..]].concat());
    assert_eq!(err, format!("warning: {three}; {state}\n{refused}"));
    build(&["-o", "new.hpan", "--report", "new.json"]);
    let plain = &facts_of(&folder, "new.json")["materials"]["plain"];
    assert_eq!(plain, &json!(["Concrete", "Grass", "unnamed"]));
}

/// Ground that is not in the image needs no friction: a floor under a closed box, left out as an underside.
#[test]
fn friction_is_told_of_what_is_in_the_image() {
    let folder = folder("friction_is_told_of_what_is_in_the_image");
    let square = "v 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv 0 0 2\nv 1 0 2\nv 1 1 2\nv 0 1 2\n";
    let walls = "usemtl Wall\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let grass = "o grass\nv -2 -2 0\nv 4 -2 0\nv 4 4 0\nv -2 4 0\nusemtl Grass\nf 9 10 11 12\n";
    let boxed = format!("o box\n{square}usemtl Floor\nf 4 3 2 1\nusemtl Roof\nf 5 6 7 8\n{walls}{grass}");
    write(&folder, "box.obj", &boxed);
    let note = &expect(0, &folder, &["build", "box.obj", "--report", "r.json"])[1];
    assert_eq!(facts_of(&folder, "r.json")["materials"]["plain"], json!(["Grass", "Roof"]), "as the note says");
    holds(
        note,
        &["note: box.obj: mu is 0.85 by default of 2 materials (\"Grass\" 36.0 m2, \"Roof\" 1.0 m2); to state"],
    );
    let [roof, grass] = ["Roof", "Grass"].map(|name| format!("[[material]]\nname = \"{name}\"\nmu = 0.5\n"));
    write(&folder, "s.toml", &(roof.clone() + &grass));
    let strict = ["build", "box.obj", "--settings", "s.toml", "--strict"];
    assert_eq!(expect(0, &folder, &strict)[1], "");
    assert_eq!(info(&folder, "box.hpan")["triangles"], 4);
    // what is there is reported as before
    write(&folder, "s.toml", &roof);
    let why = "warning: no entry of the settings fits 1 of 2 materials (\"Grass\" 36.0 m2): mu 1 and rr 1\n";
    assert!(expect(1, &folder, &strict)[1].starts_with(why));
    // also the floor, once it is ground
    write(&folder, "s.toml", &format!("{roof}{grass}[[material]]\nname = \"Floor\"\nundersides = \"ground\"\n"));
    let why = "warning: box.obj: mu is 0.85 by default of 1 of 3 materials (\"Floor\" 1.0 m2); state it in s.toml\n";
    assert!(expect(1, &folder, &[&strict[..], &["-o", "floor.hpan"]].concat())[1].starts_with(why));
    // settings that lie beside and state only what is not in the image say no more than none
    write(&folder, "box.toml", "[[material]]\nname = \"Floor\"\nmu = 0.5\n");
    fs::remove_file(folder.join("box.hpan")).unwrap();
    assert_eq!(&expect(0, &folder, &["build", "box.obj"])[1], note);
}

/// One mesh with several settings: each image has the name of its settings, and lies beside them.
#[test]
fn images_of_settings_are_called_like_them() {
    let folder = mats("images_of_settings_are_called_like_them");
    for (name, mu) in [("dry", 0.9), ("wet", 0.5)] {
        let text = format!("[[source]]\nfile = \"mats.obj\"\n[[material]]\nname = \"\"\nmu = {mu}\n");
        write(&folder, &format!("{name}.toml"), &text);
        let [out, _] = expect(0, &folder, &["build", "--settings", &format!("{name}.toml")]);
        assert!(out.starts_with(&format!("{name}.hpan: 6 triangles")), "{out}");
    }
    assert_eq!(["dry.hpan", "wet.hpan"].map(|image| friction(&folder, image)), [[Some(0.9); 3], [Some(0.5); 3]]);
    assert!(!folder.join("mats.hpan").exists());
    // a file that is typed gives its own name
    expect(0, &folder, &["build", "mats.obj", "--settings", "wet.toml"]);
    assert_eq!(friction(&folder, "mats.hpan"), [Some(0.5); 3]);
}

fn facts_of(folder: &Path, report: &str) -> Value {
    serde_json::from_slice(&fs::read(folder.join(report)).unwrap()).unwrap()
}

/// Settings beside other files than their sources: they lead there from any folder, and wherever both are moved to.
#[test]
fn settings_in_another_folder_name_their_sources() {
    let folder = folder("settings_in_another_folder");
    for name in ["a", "a/deep", "b", "c"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    write(&folder, "a/mats.obj", MATS);
    write(&folder, "a/deep/more.obj", "v 0 0 9\nv 1 0 9\nv 0 1 9\nf 1 2 3\n");
    expect(0, &folder, &["build", "a/mats.obj", "-o", "direct.hpan"]);
    let named = |settings: &str| -> Vec<String> {
        let text = fs::read_to_string(folder.join(settings)).unwrap();
        Settings::from_toml(&text).unwrap().sources.into_iter().map(|s| s.file).collect()
    };
    expect(0, &folder, &["materials", "a/mats.obj", "-o", "b/mats.toml"]);
    let both = ["materials", "../a/../a/mats.obj", "../a/deep/more.obj", "-o", "../a/both.toml"];
    expect(0, &folder.join("c"), &both);
    let whole = folder.join("a/mats.obj");
    expect(0, &folder.join("b"), &["materials", whole.to_str().unwrap(), "-o", "whole.toml"]);
    let slashes = |names: Vec<String>| names.iter().map(|n| n.replace('\\', "/")).collect::<Vec<_>>();
    assert_eq!(slashes(named("b/mats.toml")), ["../a/mats.obj"]);
    assert_eq!(slashes(named("b/whole.toml")), ["../a/mats.obj"]);
    assert_eq!(slashes(named("a/both.toml")), ["mats.obj", "deep/more.obj"]);
    let builds = |folder: &Path| {
        for (from, settings) in
            [("", "b/mats.toml"), ("b", "mats.toml"), ("c", "../b/mats.toml"), ("a/deep", "../../b/mats.toml")]
        {
            let image = folder.join("c/out.hpan");
            let built = ["build", "--settings", settings, "-o", image.to_str().unwrap()];
            expect(0, &folder.join(from), &built);
            assert_eq!(identity(folder, "c/out.hpan"), identity(folder, "direct.hpan"), "from {from:?}");
            fs::remove_file(image).unwrap();
        }
    };
    builds(&folder);
    let moved = folder.with_file_name("settings_in_another_folder_moved");
    let _ = fs::remove_dir_all(&moved);
    fs::rename(&folder, &moved).unwrap();
    builds(&moved);
    fs::rename(&moved, &folder).unwrap();
    // what an image writes says that it knows no folders; files that are named are found
    expect(0, &folder, &["build", "--settings", "b/mats.toml", "-o", "b/mats.hpan"]);
    expect(0, &folder, &["materials", "b/mats.hpan", "-o", "c/image.toml"]);
    holds(
        &fs::read_to_string(folder.join("c/image.toml")).unwrap(),
        &["# The image knows no folders", "file = \"mats.obj\""],
    );
    let settings = fs::read_to_string(folder.join("c/image.toml")).unwrap();
    let line = 1 + settings.lines().position(|l| l == "file = \"mats.obj\"").unwrap();
    let why = error(2, &folder, &["build", "--settings", "c/image.toml"]);
    holds(
        &why,
        &[&format!("c/image.toml: line {line}: c/mats.obj: there is no such file or folder; check the spelling")],
    );
    expect(0, &folder, &["build", "a/mats.obj", "--settings", "c/image.toml", "-o", "c/again.hpan"]);
    assert_eq!(identity(&folder, "c/again.hpan"), identity(&folder, "direct.hpan"));
}

#[test]
fn mistakes_in_settings_have_their_place_and_a_hint() {
    let folder = mats("mistakes_in_settings");
    for (text, wanted) in [
        (
            "[[material]]\nname = \"Concrte\"\n",
            "s.toml: line 2: material \"Concrte\" is not in the scene (did you mean \"Concrete\"?); with optional = true it may be absent; names: hardpan materials mats.obj",
        ),
        (
            "[[material]]\nname = \"Grass\"\nfriction = 1\n",
            "s.toml: line 3, column 1: \"friction\" is not known here (did you mean \"friction_only\"?); known: name, pattern, ",
        ),
        ("[bulid]\nnear = 1\n", "s.toml: line 1, column 2: \"bulid\" is not known here (did you mean \"build\"?)"),
        ("[build]\nnear = \"far\"\n", "s.toml: line 2, column 8: invalid type: string \"far\", expected a number\n"),
        ("[build\n", "s.toml: line 1, column 7: unclosed table, expected `]`"),
        ("near = 3.0\n", "s.toml: line 1, column 1: \"near\" is not known here; known: crs, "),
        ("[[material]]\npattern = \"*\"\ninclude = 0\n", "the settings leave out every face"),
    ] {
        write(&folder, "s.toml", text);
        let why = error(2, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
        holds(&why, &[wanted]);
    }
    write(&folder, "s.toml", "build.near = 3\n");
    holds(&error(2, &folder, &["build", "--settings", "s.toml"]), &["no [[source]]"]);
    for big in [false, true] {
        let unit = |u: u16| if big { u.to_be_bytes() } else { u.to_le_bytes() };
        let text = "\u{feff}[[material]]\nname = \"\"\nmu = 0.25\n";
        fs::write(folder.join("s.toml"), text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()).unwrap();
        expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml", "-o", "utf16.hpan"]);
        assert_eq!(friction(&folder, "utf16.hpan"), [Some(0.25); 3]);
    }
    fs::write(folder.join("s.toml"), b"crs = \"\xFF\"").unwrap();
    holds(&error(2, &folder, &["build", "mats.obj", "--settings", "s.toml"]), &["s.toml: this is not UTF-8"]);
    error(2, &folder, &["build", "mats.obj", "--settings", "absent.toml"]);
    error(2, &folder, &["build", "mats.obj", "--settings", "."]);
    write(&folder, "s.toml", "[[source]]\nfile = \"absent.obj\"\n");
    holds(&error(2, &folder, &["build", "--settings", "s.toml"]), &["absent.obj"]);
    // idle entries are said, not refused
    write(
        &folder,
        "s.toml",
        "[[material]]\nname = \"Grass\"\nmu = 1\n[[material]]\npattern = \"Gr*\"\nmu = 2\n[[material]]\npattern = \"x*\"\n",
    );
    let [_, err] = expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    holds(
        &err,
        &[
            "warning: entries of the settings that do nothing: material 2 (\"Gr*\"): other entries state all that it states, material 3 (\"x*\"): it fits none\n",
        ],
    );

    // files of others are safe
    write(&folder, "mine.toml", "crs = \"mine\"");
    holds(&error(2, &folder, &["materials", "mats.obj", "-o", "mine.toml"]), &["--force"]);
    error(2, &folder, &["materials", "mats.obj", "-o", "mats.obj", "--force"]);
    error(2, &folder, &["build", "mats.obj", "--settings", "mine.toml", "-o", "mine.toml", "--force"]);
    for place in ["mats.obj", "mine.toml", "x.hpan"] {
        error(2, &folder, &["build", "mats.obj", "--settings", "mine.toml", "-o", "x.hpan", "--report", place]);
    }
    assert_eq!(fs::read_to_string(folder.join("mine.toml")).unwrap(), "crs = \"mine\"");
    assert_eq!(fs::read_to_string(folder.join("mats.obj")).unwrap(), MATS);
    expect(0, &folder, &["materials", "mats.obj", "-o", "mine.toml", "--force"]);
}

#[test]
fn two_sources_each_in_its_own_frame() {
    let folder = mats("two_sources_each_in_its_own_frame");
    fs::create_dir(folder.join("parts")).unwrap();
    write(&folder, "parts/wall.obj", "v 0 2 0\nv 1 2 0\nv 1 2 -1\nusemtl Stone\nf 1 2 3\n");
    let text = "[[source]]\nfile = \"mats.obj\"\n[[source]]\nfile = \"parts/wall.obj\"\nup = \"y\"\nscale = 10\ntranslate = [100, 0, 0]\n";
    write(&folder, "both.toml", text);
    // from elsewhere: names are relative to the settings
    let [out, _] =
        expect(0, folder.parent().unwrap(), &["build", "--settings", "two_sources_each_in_its_own_frame/both.toml"]);
    holds(&out, &["both.hpan: 7 triangles"]);
    let head = facts(&folder, &["info", "both.hpan", "--json"]);
    assert_eq!(head["bounds"], json!({ "min": [0.0, 0.0, 0.0], "max": [110.0, 10.0, 20.0] }));
    let origin = facts(&folder, &["info", "both.hpan", "--provenance", "--json"])["provenance"].clone();
    assert_eq!(origin["settings"]["source"][1]["up"], json!("y"));
    assert_eq!(origin["settings"]["source"][1]["file"], json!("wall.obj"));
}

#[test]
fn files_of_one_name_are_told_apart() {
    let folder = folder("files_of_one_name_are_told_apart");
    for (name, x) in [("d1", 0), ("d2", 10)] {
        fs::create_dir(folder.join(name)).unwrap();
        let mesh = format!("v {x} 0 5\nv {} 0 5\nv {x} 4 5\nf 1 2 3\n", x + 4);
        write(&folder, &format!("{name}/t.obj"), &mesh);
    }
    write(
        &folder,
        "dd.toml",
        "[[source]]\nfile = \"d1/t.obj\"\ntranslate = [0, 0, 100]\n[[source]]\nfile = \"d2/t.obj\"\n",
    );
    for typed in [&["d1/t.obj", "d2/t.obj"][..], &["./d2/t.obj", "d1/t.obj"], &[]] {
        let arguments = [&["build", "--settings", "dd.toml", "-o", "both.hpan"], typed].concat();
        expect(0, &folder, &arguments);
        let answers = facts(&folder, &["query", "both.hpan", "1,1", "11,1", "--json"]);
        assert_eq!((&answers[0]["z"], &answers[1]["z"]), (&json!(105.0), &json!(5.0)), "{typed:?}");
        assert_eq!(answers[0]["source"], json!("d1/t.obj/unnamed"));
    }
}

/// From wherever files are named, and wherever their project lies, they are called the same.
#[test]
fn names_of_files_do_not_depend_on_how_they_are_typed() {
    let all = folder("names_of_files_do_not_depend_on_how_they_are_typed");
    let mut images = Vec::new();
    for home in ["ann", "somewhere/else"] {
        let project = all.join(home);
        for (i, file) in ["a/lod/t.obj", "b/lod/t.obj", "t.obj", "maps/other.obj"].iter().enumerate() {
            fs::create_dir_all(project.join(file).parent().unwrap()).unwrap();
            let x = 10 * i;
            write(&project, file, &format!("v {x} 0 5\nv {} 0 5\nv {x} 4 5\nf 1 2 3\n", x + 4));
        }
        let whole = |file: &str| project.join(file).to_str().unwrap().to_string();
        let typed = [
            ("", ["a/lod/t.obj", "b/lod/t.obj", "t.obj", "maps/other.obj"].map(String::from)),
            ("a/lod", ["t.obj", "../../b/lod/t.obj", "../../t.obj", "../../maps/other.obj"].map(String::from)),
            ("b", ["../maps/./other.obj", "../a/../t.obj", "lod/t.obj", "../a/lod/t.obj"].map(String::from)),
            ("maps", [whole("t.obj"), "other.obj".into(), whole("a/lod/t.obj"), whole("b/lod/t.obj")]),
        ];
        for (from, files) in typed {
            let out = project.join("all.hpan");
            let output = ["build", "-o", out.to_str().unwrap()];
            expect(0, &project.join(from), &[&output[..], &files.each_ref().map(String::as_str)].concat());
            let head = facts(&project, &["info", "all.hpan", "--json"]);
            images.push((head["sources"].clone(), head["identity"].clone()));
        }
    }
    let names = json!(["a/lod/t.obj/unnamed", "b/lod/t.obj/unnamed", "other.obj/unnamed", "t.obj/unnamed"]);
    assert_eq!(images[0].0, names);
    assert!(images.iter().all(|image| *image == images[0]), "{images:?}");
}

#[test]
fn by_09_provenance() {
    let folder = mats("by_09_provenance");
    write(
        &folder,
        "s.toml",
        "crs = \"EPSG:25832\"\n[[source]]\nfile = \"mats.obj\"\nlicence = \"CC-BY 4.0, A. Author\"\nunit = \"ft\"\n",
    );
    expect(0, &folder, &["build", "--settings", "s.toml"]);
    let [out, _] = expect(0, &folder, &["info", "s.hpan", "--provenance"]);
    let wanted = "\
tool = \"hardpan-builder VERSION\"
frame = \"right-handed, x east, y north, z up, metres\"
mu_by_default = [\"Concrete\", \"Grass\", \"unnamed\"]

[[input]]
file = \"mats.obj\"
bytes = 133
sha256 = \"DIGEST\"
frame = \"x, y, z in 381/1250 m\"

[settings]
crs = \"EPSG:25832\"

[settings.build]
xy_log2 = -12
z_log2 = -16
undersides = \"auto\"
outliers = \"stop\"
rays = \"all\"
near = 4.0
far = 5000.0
layer_merge = 0.0009765625
fallback = \"bounds-min-z\"
default_z = 0.0
default_mu = 1.0
default_rr = 1.0
default_gain = 1.0

[settings.build.weld]
plan = 0
height = 0

[settings.build.stitch]
plan = 4
height = 64

[[settings.source]]
file = \"mats.obj\"
unit = \"ft\"
licence = \"CC-BY 4.0, A. Author\"
";
    let material = |name: &str| {
        format!(
            "\n[[settings.material]]\nname = \"{name}\"\ninclude = true\nmu = 0.85\nrr = 1.0\ngain = 1.0\nsurface_type = 0\n"
        )
    };
    assert_eq!(MATS.len(), 133);
    let wanted = wanted.replace("VERSION", env!("CARGO_PKG_VERSION")).replace("DIGEST", MATS_SHA256);
    let wanted = wanted + &["Concrete", "Grass", "unnamed"].map(material).concat();
    assert_eq!(out, wanted);
    // outside the identity, and the same wherever and whenever it is built
    let first = fs::read(folder.join("s.hpan")).unwrap();
    expect(
        0,
        folder.parent().unwrap(),
        &["build", "by_09_provenance/mats.obj", "--settings", "by_09_provenance/s.toml"],
    );
    assert!(fs::read(folder.join("mats.hpan")).unwrap() == first);
    expect(0, &folder, &["build", "mats.obj", "--unit", "ft", "-o", "bare.hpan"]);
    assert_eq!(identity(&folder, "s.hpan"), identity(&folder, "bare.hpan"));
}

/// By `sha256sum`.
const MATS_SHA256: &str = "4f1f056de750f82e0040c06fe4f86564af00d2917948a7594cbbbf70466b3dcc";

#[test]
fn vt_16_bundles_add_up() {
    let folder = folder("vt_16_bundles_add_up");
    expect(0, &folder, &["demo"]);
    let image = "hardpan-demo/proving-ground.hpan";
    let head = facts(&folder, &["info", image, "--json"]);
    let parts = facts(&folder, &["info", image, "--leaves", "--tiles", "--sections", "--json"]);
    let leaves = &parts["leaves"];
    assert_eq!((&leaves["bundles"], &leaves["references"]), (&head["bundles"], &head["references"]));
    let pairs: Vec<[u64; 2]> = serde_json::from_value(leaves["triangles_bundles"].clone()).unwrap();
    assert_eq!(pairs.iter().map(|[t, n]| t * n).sum::<u64>(), head["references"].as_u64().unwrap());
    assert_eq!(pairs.iter().map(|[_, n]| n).sum::<u64>(), head["bundles"].as_u64().unwrap());
    let held = || pairs.iter().filter(|p| p[1] > 0).map(|p| p[0]);
    assert_eq!((leaves["min"].as_u64(), leaves["max"].as_u64()), (held().min(), held().max()));
    let mean = head["references"].as_f64().unwrap() / head["bundles"].as_f64().unwrap();
    assert!((leaves["mean"].as_f64().unwrap() - mean).abs() < 1e-9, "{leaves}");
    assert_eq!(facts(&folder, &["info", image, "--bundles", "--json"])["leaves"], *leaves);
    let classes = ["narrow", "medium", "wide"].map(|c| leaves["classes"][c].as_u64().unwrap());
    assert_eq!(classes.iter().sum::<u64>(), head["bundles"].as_u64().unwrap());

    let tiles = parts["tiles"].as_array().unwrap();
    assert_eq!(tiles.len() as u64, head["tiles"].as_u64().unwrap());
    let sum = |key: &str| tiles.iter().map(|t| t[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(
        (sum("references"), sum("bundles")),
        (head["references"].as_u64().unwrap(), head["bundles"].as_u64().unwrap())
    );
    for key in ["nodes", "leaves", "tests", "lines"] {
        assert_eq!(tiles.iter().map(|t| t["bound"][key].as_u64()).max().unwrap(), head["bound"][key].as_u64());
    }
    let sections = parts["sections"].as_array().unwrap();
    assert_eq!(sections.iter().find(|s| s["name"] == "tiles").unwrap()["bytes"].as_u64(), Some(sum("bytes")));
    assert_eq!(sections.len(), 8);

    let [out, _] =
        expect(0, &folder, &["info", image, "--leaves", "--tiles", "--sections", "--materials", "--provenance"]);
    holds(&out, &["triangles    bundles", "z min", "tile table", "cone index", "tool = \"hardpan-builder"]);
}

/// Settings and scenes are held to one rule: what is built can be exported and built again.
#[test]
fn vt_76_a_scene_has_no_factors_below_zero() {
    use hardpan_builder::demo::fixtures;
    use hardpan_builder::{BuildError, Options, build};
    for bad in [-1.0, -1e-300, f64::NAN, f64::INFINITY] {
        for key in ["mu", "rr", "gain", "cone_index"] {
            let mut scene = fixtures::mats();
            let m = &mut scene.materials[1];
            *match key {
                "mu" => &mut m.mu,
                "rr" => &mut m.rr,
                "gain" => &mut m.gain,
                _ => &mut m.cone_index,
            } = bad;
            let name = m.name.clone();
            let Err(BuildError::Scene(text)) = build(&scene, &Options::default()) else { panic!("{key} is {bad}") };
            assert_eq!(text, format!("material 1 ({name:?}): {key} is {bad}; it must be a number of 0 or more"));
        }
    }
}

#[test]
fn by_10_reports_have_the_written_shape() {
    let schema = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/report.schema.json"));
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let check = |path: &Path| -> Value {
        let report: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let faults: Vec<String> = schema.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(faults.is_empty(), "{}: {faults:#?}", path.display());
        report
    };
    let folder = mats("by_10_reports");
    write(
        &folder,
        "s.toml",
        "[[material]]\nname = \"Grass\"\ninclude = 0\n[[material]]\nname = \"Concrete\"\nobstacle = 1\n[[material]]\npattern = \"x\"\n",
    );
    expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml", "--report", "r.json"]);
    let report = check(&folder.join("r.json"));
    assert_eq!(
        (&report["done"], &report["error"], &report["output"]),
        (&json!(true), &Value::Null, &json!("mats.hpan"))
    );
    assert_eq!(
        report["inputs"],
        json!([{ "file": "mats.obj", "bytes": 133, "sha256": MATS_SHA256, "frame": "x, y, z in 1 m" }])
    );
    assert_eq!(report["ground"]["used"]["triangles"], 2);
    let ignored = json!({ "excluded": 2, "obstacles": 2, "vertical": 0, "ceilings": 0, "steep": 0, "duplicates": 0 });
    assert_eq!(report["ground"]["ignored"], ignored);
    assert_eq!(report["ground"]["outliers"], json!([]));
    assert_eq!(report["ground"]["moved"]["stitch"], json!({ "plan": 0.0, "height": 0.0 }));
    let shares = &report["image"]["error"]["shares"];
    assert!(shares["places"].as_u64() > Some(50) && shares["p999"].as_f64() < Some(1e-6), "{shares}");
    assert_eq!(
        report["materials"],
        json!({ "unlisted": ["unnamed"], "plain": [], "plain_rr": [], "plain_gain": [],
                "idle": ["material 3 (\"x\"): it fits none"] }),
        "what is excluded or an obstacle is not in the image"
    );
    assert_eq!(report["image"]["identity"].as_str(), Some(&*identity(&folder, "mats.hpan")));
    assert_eq!(report["image"]["bytes"], fs::metadata(folder.join("mats.hpan")).unwrap().len());

    // one that fails says why, and an image that was there stays
    let before = fs::read(folder.join("mats.hpan")).unwrap();
    write(&folder, "bad.obj", "v 0 0 0\nv 1 0 zero\n");
    let why = error(2, &folder, &["build", "bad.obj", "-o", "mats.hpan", "--report", "bad.json"]);
    let report = check(&folder.join("bad.json"));
    assert_eq!((&report["done"], &report["image"]), (&json!(false), &Value::Null));
    assert_eq!(report["error"], json!({ "exit": 2, "text": why.trim_end().strip_prefix("error: ").unwrap() }));
    assert!(fs::read(folder.join("mats.hpan")).unwrap() == before);
    error(2, &folder, &["build", "mats.obj", "--report", "nowhere/r.json"]);

    let mut files = [real("malformed"), real("obj_odd")].concat();
    files.retain(|path| ends_in(path, "obj"));
    let (mut built, mut failed) = (0, 0);
    for file in &files {
        let done = std::process::Command::new(&*crate::shell::HARDPAN)
            .args(["build", file.to_str().unwrap(), "-o", "any.hpan", "--report", "any.json"])
            .current_dir(&folder)
            .output()
            .unwrap();
        let report = check(&folder.join("any.json"));
        assert_eq!(report["done"].as_bool(), Some(done.status.success()), "{}", file.display());
        assert_eq!(report["error"]["exit"].as_i64().unwrap_or(0), i64::from(done.status.code().unwrap()));
        if done.status.success() { built += 1 } else { failed += 1 }
    }
    println!("{built} built, {failed} refused, each with a report of the written shape");
    assert!(files.is_empty() || built > 0 && failed > 0);
}

/// A scene as an OBJ; fields are left out.
fn as_obj(scene: &hardpan_builder::Scene) -> String {
    let mut text: String = scene.positions.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let mut triangles: Vec<_> = scene.triangles.iter().collect();
    // those without a name stand before all names
    triangles.sort_by_key(|t| &scene.materials[usize::from(t.material)].name);
    let mut last = "";
    for t in triangles {
        let name = &scene.materials[usize::from(t.material)].name;
        if name != last {
            text += &format!("usemtl {name}\n");
            last = name;
        }
        let [a, b, c] = t.v.map(|v| v + 1);
        text += &format!("f {a} {b} {c}\n");
    }
    text
}

/// The fixtures that are meshes; cobble and step are heights, which no file brings.
#[test]
fn by_10_reports_of_fixtures_have_the_written_shape() {
    use hardpan_builder::demo::fixtures;
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    let folder = folder("by_10_fixtures");
    let large = [("city", fixtures::city()), ("soup", fixtures::soup(1)), ("far", fixtures::far())];
    for (name, scene) in verification::small_meshes().into_iter().chain(large) {
        write(&folder, "a.obj", &as_obj(&scene));
        expect(0, &folder, &["build", "a.obj", "--up", "z", "--unit", "m", "--report", "a.json"]);
        let report: Value = serde_json::from_slice(&fs::read(folder.join("a.json")).unwrap()).unwrap();
        assert!(jsonschema::is_valid(&schema, &report), "{name}: {:?}", jsonschema::validate(&schema, &report));
        let file = &report["import"]["files"][0];
        let count = |list: &str, what: &str| {
            let found = file[list].as_array().unwrap().iter().find(|c| c["what"] == what);
            found.map_or(0, |c| c["count"].as_u64().unwrap())
        };
        let triangles = scene.triangles.len() as u64;
        assert_eq!((count("used", "faces"), count("used", "triangles")), (triangles, triangles), "{name}");
        assert_eq!(count("used", "vertices"), scene.positions.len() as u64, "{name}");
        assert_eq!(file["refused"], json!([]), "{name}");
        let (ground, image) = (&report["ground"], &facts(&folder, &["info", "a.hpan", "--json"]));
        assert_eq!(ground["used"]["triangles"], image["triangles"], "{name}");
        assert_eq!(report["done"], json!(true));
    }
}

/// First attempts that fail: settings for a mesh, a unit by its long name, a mesh that a build will refuse.
#[test]
fn first_words_are_answered() {
    let folder = mats("first_words_are_answered");
    write(&folder, "s.toml", "");
    write(&folder, "s.json", "{}");
    let why = error(2, &folder, &["build", "s.toml"]);
    assert_eq!(why, "error: s.toml: these are settings, and no mesh; build by them: hardpan build --settings s.toml\n");
    holds(&error(3, &folder, &["build", "s.json"]), &["hardpan build --settings s.json"]);
    // a backslash that TOML takes for a tab
    write(&folder, "s.toml", "[[source]]\nfile = \"C:\\town.obj\"\n");
    let why = error(2, &folder, &["build", "--settings", "s.toml"]);
    holds(&why, &["s.toml: source \"C:\\town.obj\": there is no such file", "write / instead, or '...'"]);

    // an image in place of settings
    expect(0, &folder, &["build", "mats.obj"]);
    let why = error(2, &folder, &["build", "mats.obj", "--settings", "mats.hpan"]);
    let wanted = "mats.hpan: this is a terrain image, and no settings; for settings to edit: hardpan materials mats.hpan -o FILE.toml\n";
    assert!(why.ends_with(wanted), "{why}");
    // capitals, but for those that mean something else
    for typed in [["--unit", "M"], ["--unit", "Metre"], ["--up", "Z"]] {
        expect(0, &folder, &["build", "mats.obj", typed[0], typed[1]]);
        let bounds = &facts(&folder, &["info", "mats.hpan", "--json"])["bounds"];
        assert_eq!(bounds["max"][0], 30.0);
    }
    write(&folder, "s.toml", "[[source]]\nfile = \"mats.obj\"\nup = \"Z\"\nunit = \"MM\"\n");
    expect(0, &folder, &["build", "--settings", "s.toml"]);
    let bounds = &facts(&folder, &["info", "s.hpan", "--json"])["bounds"];
    assert!((bounds["max"][0].as_f64().unwrap() - 0.03).abs() < 1e-3, "{bounds}");
    let [_, why] = expect(2, &folder, &["build", "mats.obj", "--unit", "Mm"]);
    holds(&why, &["Mm is a megametre; a millimetre is mm"]);
    let [_, why] = expect(2, &folder, &["build", "mats.obj", "--stitch", "none"]);
    holds(&why, &["PLAN,HEIGHT as lengths", "or false for none"]);

    for unit in ["in", "inch", "inches"] {
        expect(0, &folder, &["build", "mats.obj", "--unit", unit]);
        let bounds = &facts(&folder, &["info", "mats.hpan", "--json"])["bounds"];
        assert!((bounds["max"][0].as_f64().unwrap() - 30.0 * 0.0254).abs() < 1e-3, "{bounds}");
    }
    // so large, and nobody says in what
    let far = MATS.replace("10", "10000").replace("20", "20000");
    write(&folder, "far.obj", &far);
    let large = |typed: &[&str]| -> String {
        let [_, err] = expect(0, &folder, &[&["build", "far.obj"], typed].concat());
        but_friction(&err)
    };
    assert_eq!(
        large(&[]),
        "warning: far.obj: the ground is 20000 by 10000 m large, and nobody states its unit; it may need --unit [unit]\n"
    );
    assert_eq!([large(&["--unit", "m"]), large(&["--unit", "cm"])], ["", ""]);

    // a wall, of which a build would make nothing
    write(&folder, "wall.obj", "v 0 0 0\nv 9 0 0\nv 9 0 9\nv 0 0 9\nf 1 2 3 4\n");
    for arguments in [&["materials", "wall.obj"][..], &["materials", "wall.obj", "-o", "w.toml"]] {
        let [_, said] = expect(0, &folder, arguments);
        holds(&said, &["warning: a build will stop at this: wall.obj: 0 % of the surface", "state --up y"]);
    }
    assert!(!expect(0, &folder, &["materials", "wall.obj", "--up", "y"])[1].contains("warning"));
    error(2, &folder, &["build", "wall.obj"]);

    // to stdout, as to a file
    expect(0, &folder, &["materials", "mats.obj", "-o", "FILE.toml"]);
    let [out, said] = expect(0, &folder, &["materials", "mats.obj", "-o", "-"]);
    assert_eq!((out, said), (fs::read_to_string(folder.join("FILE.toml")).unwrap(), String::new()));
    assert!(!folder.join("-").exists());
}

#[test]
fn columns_stay_in_line() {
    let folder = folder("columns_stay_in_line");
    let name = "0b6b7a8e-8a9c-4a4c-9d5b-57f3c1e1a2b3-asphalt";
    write(&folder, "long.obj", &MATS.replace("Grass", name));
    write(&folder, "s.toml", &format!("[[material]]\nname = \"{name}\"\nrr = 1e50\n[[material]]\nname = \"\"\n"));
    expect(0, &folder, &["build", "long.obj", "--settings", "s.toml"]);
    let cases: [(&[&str], usize); 4] = [
        (&["materials", "long.obj"], 6),
        (&["materials", "long.hpan"], 6),
        (&["info", "long.hpan", "--materials"], 4),
        (&["info", "long.hpan"], 3),
    ];
    for (arguments, columns) in cases {
        let [out, _] = expect(0, &folder, arguments);
        let table: Vec<&str> = out.lines().skip_while(|l| !l.starts_with("material ")).collect();
        // where the first columns of numbers end
        let ends = |line: &str| -> Vec<usize> {
            let (start, rest) = line.split_at(name.len());
            assert!(!start.trim().is_empty());
            let ends =
                rest.char_indices().filter(|(i, c)| *c != ' ' && rest[i + 1..].chars().next().is_none_or(|n| n == ' '));
            ends.map(|(i, _)| i).take(columns - 1).collect()
        };
        let head: Vec<usize> = ends(&table[0].replace("m2 in plan", "m2-in-plan").replace("cone index", "cone-index"));
        assert!(table.len() > 3 && head.len() == columns - 1);
        let rows =
            table[1..].iter().filter(|line| !line.starts_with("mu, rr") && !line.starts_with("mu is not stated"));
        rows.for_each(|line| assert_eq!(ends(line), head, "{out}"));
        assert!(arguments == ["materials", "long.obj"] || out.contains(" 1e50 "), "{out}");
    }
}

/// -0 is 0, in lists and in the identity.
#[test]
fn a_zero_has_no_sign() {
    let folder = mats("a_zero_has_no_sign");
    let built = |zero: &str| {
        let text = format!(
            "build.default_rr = {zero}\n[[material]]\nname = \"\"\nmu = {zero}\nrr = {zero}\ngain = {zero}\ncone_index = {zero}\n"
        );
        write(&folder, "z.toml", &text);
        expect(0, &folder, &["build", "mats.obj", "--settings", "z.toml", "-o", "z.hpan"]);
        let listed = expect(0, &folder, &["materials", "z.hpan"])[0].clone();
        let written = expect(0, &folder, &["materials", "z.hpan", "-o", "-"])[0].clone();
        (listed, written, identity(&folder, "z.hpan"))
    };
    let (plain, signed) = (built("0.0"), built("-0.0"));
    assert_eq!(plain, signed);
    assert!(!signed.0.contains("-0") && !signed.1.contains("= -0"), "{}{}", signed.0, signed.1);
}

/// Where settings say how their sources lie, a file of another name has no entry, and the user says how it lies.
#[test]
fn files_that_settings_do_not_name() {
    let folder = mats("files_that_settings_do_not_name");
    fs::copy(folder.join("mats.obj"), folder.join("next.obj")).unwrap();
    write(&folder, "one.toml", "[[source]]\nfile = \"elsewhere/mats.obj\"\nunit = \"cm\"\n");
    write(&folder, "plain.toml", "[[source]]\nfile = \"mats.obj\"\n");
    let width = |arguments: &[&str]| {
        expect(0, &folder, &[&["build", "-o", "n.hpan"], arguments].concat());
        let bounds = &facts(&folder, &["info", "n.hpan", "--json"])["bounds"];
        bounds["max"][0].as_f64().unwrap() - bounds["min"][0].as_f64().unwrap()
    };
    let metres = width(&["next.obj", "--settings", "plain.toml"]);
    assert!((100.0 * width(&["mats.obj", "--settings", "one.toml"]) - metres).abs() < 0.1);
    assert_eq!(width(&["next.obj", "--settings", "one.toml", "--unit", "m"]), metres);
    let why = error(2, &folder, &["build", "next.obj", "--settings", "one.toml", "-o", "two.hpan"]);
    let hint = "name it there, or type --up and --unit";
    assert_eq!(
        why,
        format!("error: next.obj: this file is no [[source]] of one.toml, which say how their sources lie; {hint}\n")
    );
    assert!(!folder.join("two.hpan").exists());
}

/// Names of the settings that differ from the scene's by blanks alone are told at once, and where the scene's names are
/// to be had.
#[test]
fn names_with_blanks_are_told_together() {
    let folder = mats("names_with_blanks_are_told_together");
    write(&folder, "a.obj", &MATS.replace("Concrete", "Old_concrete").replace("Grass", "Wet_long_grass"));
    let rule = |name: &str| format!("[[material]]\nname = \"{name}\"\nmu = 0.5\n");
    let told = |names: &[&str]| {
        write(&folder, "s.toml", &names.iter().map(|name| rule(name)).collect::<String>());
        error(2, &folder, &["build", "mats.obj", "a.obj", "--settings", "s.toml", "-o", "all.hpan"])
    };
    let names = "; names: hardpan materials mats.obj a.obj\n";
    let all = "\"Old concrete\" (did you mean \"Old_concrete\"?), \"Wet long_grass\" (did you mean \"Wet_long_grass\"?), \
               \"Grsas\" (did you mean \"Grass\"?); with optional = true they may be absent";
    assert_eq!(
        told(&["Grass", "Old concrete", "Wet long_grass", "Grsas"]),
        format!("error: s.toml: line 5: 3 materials are not in the scene: {all}{names}")
    );
    let one = "material \"Old concrete\" is not in the scene (did you mean \"Old_concrete\"?)";
    let absent = "with optional = true it may be absent";
    assert_eq!(told(&["Grass", "Old concrete"]), format!("error: s.toml: line 5: {one}; {absent}{names}"));
}

#[test]
fn a_file_that_is_not_the_source_is_told() {
    let folder = mats("a_file_that_is_not_the_source_is_told");
    write(&folder, "s.toml", "[[material]]\nname = \"Grass\"\nmu = 0.4\n");
    expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    write(&folder, "other.obj", &MATS.replace("Grass", "Sand"));
    let [out, why] = expect(1, &folder, &["verify", "mats.hpan", "--against", "other.obj", "--json"]);
    let told = "note: not in other.obj: materials of the image, \"Grass\"; is that the source? The image was built from mats.obj";
    assert!(why.lines().any(|line| line == told), "{why}");
    let sides = "of another material than the source has there: 2 triangles of the image, such as that at (13.333, 6.667, 0.000): \
                 \"Grass\", and \"Sand\" in the source; of another material than the image has there: 2 triangles of the source, \
                 such as that at (13.333, 6.667, 0.000): \"Sand\", and \"Grass\" in the image";
    let why = why.lines().last().unwrap();
    assert_eq!(why, format!("error: mats.hpan: {sides}; is it this image's mesh, with the same settings?"));
    let facts: Value = serde_json::from_str(&out).unwrap();
    for (side, [own, other]) in [("image", ["Grass", "Sand"]), ("source", ["Sand", "Grass"])] {
        let said = &facts["against"][side]["other_material"];
        assert_eq!(
            (&said["triangles"], &said["first"]["own"], &said["first"]["other"]),
            (&2.into(), &own.into(), &other.into())
        );
    }
    // also where some of it lies higher
    write(&folder, "other.obj", &MATS.replace("Grass", "Sand").replace("v 30 10 0", "v 30 10 1"));
    let [_, why] = expect(1, &folder, &["verify", "mats.hpan", "--against", "other.obj"]);
    let why = why.lines().last().unwrap();
    holds(
        why,
        &[
            "error: mats.hpan: its error is larger than it states at ",
            ": it is higher or lower at ",
            &format!("; {sides}; "),
        ],
    );
    // what the image has no ground of may be absent
    write(&folder, "s.toml", "[[material]]\nname = \"Grass\"\ninclude = false\n");
    expect(0, &folder, &["build", "mats.obj", "--settings", "s.toml"]);
    let bare = MATS.replace("usemtl Grass\nf 2 5 6 3\n", "");
    assert!(bare.len() < MATS.len());
    write(&folder, "other.obj", &bare);
    let [_, why] = expect(0, &folder, &["verify", "mats.hpan", "--against", "other.obj"]);
    assert!(why.contains(told), "{why}");
}

/// Nor does what is made of an image state the mu of a material that no entry fitted: an entry would give it another
/// one.
#[test]
fn vt_26_what_no_entry_fits_stays_so() {
    let folder = mats("vt_26_what_no_entry_fits_stays_so");
    write(&folder, "s.toml", "[[source]]\nfile = \"mats.obj\"\n[[material]]\nname = \"Grass\"\nmu = 1\n");
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "a.hpan"]);
    assert_eq!(friction(&folder, "a.hpan"), [Some(1.0); 3]);
    let [out, _] = expect(0, &folder, &["materials", "a.hpan"]);
    assert!(out.ends_with("mu is not stated, so the default holds: \"Concrete\", \"unnamed\"\n"), "{out}");
    for name in ["of.toml", "of.json"] {
        expect(0, &folder, &["materials", "a.hpan", "-o", name]);
    }
    let [out, _] = expect(0, &folder, &["export", "obj", "a.hpan", "-o", "e.obj"]);
    let then = "a build warns of it, and --strict refuses it, until e.toml states it";
    holds(&out, &[&format!("\nmu is not stated for \"Concrete\", \"unnamed\": {then}\n")]);
    let text = fs::read_to_string(folder.join("of.toml")).unwrap();
    holds(&text, &["# [[material]]\n# name = \"Concrete\"\n", "\n# mu = 1.0\n"]);
    for settings in ["of.toml", "of.json", "e.toml"] {
        let text = fs::read_to_string(folder.join(settings)).unwrap();
        let stated = text.lines().filter(|line| !line.starts_with('#') && line.contains("mu") && !line.contains("_mu"));
        assert_eq!(stated.count(), 1, "{text}");
        let [_, err] = expect(0, &folder, &["build", "--settings", settings, "-o", "b.hpan"]);
        let both = "(\"Concrete\" 100.0 m2, \"unnamed\" 100.0 m2)";
        holds(&err, &[&format!("warning: no entry of the settings fits 2 of 3 materials {both}: mu 1 and rr 1\n")]);
        expect(0, &folder, &["diff", "a.hpan", "b.hpan"]);
    }
    // where no entry is left, all are stated, for settings without any leave what the source has
    write(&folder, "s.toml", "[[source]]\nfile = \"mats.obj\"\n[[material]]\npattern = \"Sand*\"\nmu = 1\n");
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "a.hpan"]);
    assert!(!expect(0, &folder, &["export", "obj", "a.hpan", "-o", "e.obj", "--force"])[0].contains("nobody"));
    expect(0, &folder, &["build", "--settings", "e.toml", "-o", "b.hpan", "--strict"]);
    expect(0, &folder, &["diff", "a.hpan", "b.hpan"]);
}

/// `materials` reports missing friction of an image too, and writes no mu for it into settings.
#[test]
fn vt_26_an_image_knows_which_friction_nobody_stated() {
    let folder = mats("an_image_knows_which_friction_nobody_stated");
    let stated = "[[material]]\nname = \"Grass\"\nmu = 0.85\n[[material]]\nname = \"\"\n";
    write(&folder, "s.toml", &format!("[[source]]\nfile = \"mats.obj\"\n{stated}"));
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "a.hpan"]);
    let told = "mu is not stated, so the default holds: \"Concrete\", \"unnamed\"\n";
    for arguments in [&["materials", "a.hpan"][..], &["info", "a.hpan", "--materials"]] {
        let [out, _] = expect(0, &folder, arguments);
        assert!(out.ends_with(told), "{out}");
    }
    let listed = facts(&folder, &["materials", "a.hpan", "--json"]);
    let of = |name: &str| listed.as_array().unwrap().iter().find(|m| m["name"] == name).unwrap().clone();
    assert_eq!([&of("Grass")["mu"], &of("Grass")["mu_by_default"]], [&json!(0.85), &Value::Null]);
    assert_eq!([&of("Concrete")["mu"], &of("Concrete")["mu_by_default"]], [&json!(0.85), &json!(true)]);
    expect(0, &folder, &["materials", "a.hpan", "-o", "of.toml"]);
    let text = fs::read_to_string(folder.join("of.toml")).unwrap();
    assert_eq!(text.matches("\nmu = 0.85\n").count(), 1, "{text}");
    assert_eq!(text.matches("\n# mu = 0.85  # by default, until stated\n").count(), 2, "{text}");
    expect(0, &folder, &["export", "obj", "a.hpan", "-o", "e.obj"]);
    for settings in ["s.toml", "of.toml", "e.toml"] {
        let [_, err] = expect(1, &folder, &["build", "--settings", settings, "-o", "b.hpan", "--strict"]);
        let both = "(\"Concrete\" 100.0 m2, \"unnamed\" 100.0 m2)";
        holds(&err, &["warning: ", "mu is 0.85 by default of 2 of 3 materials", both, "and --strict"]);
        expect(0, &folder, &["build", "--settings", settings, "-o", "b.hpan"]);
        assert_eq!(info(&folder, "b.hpan")["identity"], info(&folder, "a.hpan")["identity"], "{settings}");
    }
}

/// However long a name is, what is said of it is short.
#[test]
fn long_names_fit_messages() {
    let here = folder("long_names_fit_messages");
    let long = "n".repeat(60_000);
    let mesh = |name: &str| format!("v 0 0 0\nv 9 0 0\nv 0 9 0\nusemtl {name}\nf 1 2 3\n");
    fs::write(here.join("long.obj"), mesh(&long)).unwrap();
    fs::write(here.join("road.obj"), mesh("Road")).unwrap();
    let material = |rest: &str| format!("[[material]]\n{rest}\n[[material]]\nname = \"\"\n");
    for (code, file, settings) in [
        (0, "long.obj", String::new()),
        (0, "long.obj", material(&format!("name = \"{long}\"\nmu = 85"))),
        (0, "road.obj", material(&format!("pattern = \"{long}\""))),
        (2, "road.obj", material(&format!("name = \"{long}\""))),
        (2, "road.obj", material(&format!("name = \"{long}*\""))),
        (2, "road.obj", material(&format!("name = \"{long}\"\nmu = -1"))),
        (2, "road.obj", material(&format!("mu = \"{long}\""))),
        (2, "road.obj", material(&format!("{long} = 1"))),
        (2, "road.obj", format!("[[source]]\nfile = \"{long}.obj\"\nscale = -1\n")),
    ] {
        fs::write(here.join("a.toml"), &settings).unwrap();
        let [_, said] = expect(code, &here, &["build", file, "--settings", "a.toml", "-o", "a.hpan"]);
        let about: Vec<&str> = said.lines().filter(|line| line.contains("nnnn")).collect();
        assert!(!about.is_empty() && about.iter().all(|line| line.len() < 1_000), "{settings:.50}: {said:.2000}");
    }
}
