//! Scenes of MAVS, from the command line, row by row.

#![allow(clippy::approx_constant)] // as people type them

use std::{fs, path::Path};

use crate::shell::{error, expect, folder, holds, info, soon};
use serde_json::{Value, json};

/// A square of so many metres about a place, at a height, in one material.
fn square(name: &str, [x, y, z]: [f64; 3], half: f64) -> String {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let line = |[i, j]: [f64; 2]| format!("v {} {} {z}\n", x + i * half, y + j * half);
    format!("o {name}\nusemtl {name}\n{}f -4 -3 -2 -1\n", corners.map(line).concat())
}

/// A box from 0 to 1 along each axis, all faces outward.
const BOX: &str = "o box\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nusemtl Steel
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/// A new folder with `plane.obj`, 100 m wide at z = 0, `box.obj`, and a scene.
fn scene(test: &str, tree: &Value) -> std::path::PathBuf {
    let here = folder(test);
    fs::write(here.join("plane.obj"), square("Plane", [0.0; 3], 50.0)).unwrap();
    fs::write(here.join("box.obj"), BOX).unwrap();
    write(&here, "scene.json", tree);
    here
}

fn write(here: &Path, name: &str, tree: &Value) {
    fs::write(here.join(name), tree.to_string()).unwrap();
}

/// A scene of one surface and these objects.
fn with(objects: Value) -> Value {
    json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Objects": objects })
}

/// The report of a build of the scene, which ends well.
#[track_caller]
fn built(here: &Path, options: &[&str]) -> Value {
    serde_json::from_str(&expect(0, here, &[&["build", "scene.json", "--json"], options].concat())[0]).unwrap()
}

/// Output of `query --json` at points.
#[track_caller]
fn asked(here: &Path, points: &[&str], options: &[&str]) -> Vec<Value> {
    let typed = [&["query", "scene.hpan", "--json"], options, &["--"], points].concat();
    serde_json::from_str::<Value>(&expect(0, here, &typed)[0]).unwrap().as_array().unwrap().clone()
}

/// The heights at points; `null` without ground.
#[track_caller]
fn heights(here: &Path, points: &[&str]) -> Vec<Value> {
    asked(here, points, &[]).into_iter().map(|a| a["z"].clone()).collect()
}

/// Least and greatest coordinates of the ground.
#[track_caller]
fn bounds(here: &Path) -> Value {
    info(here, "scene.hpan")["bounds"].clone()
}

/// Counts of a file in the report.
fn counted(report: &Value, file: &str, what: &str) -> Vec<u64> {
    let files = report["import"]["files"].as_array().unwrap().iter().filter(|f| f["file"] == file);
    let used = files.flat_map(|f| f["used"].as_array().unwrap());
    used.filter(|c| c["what"] == what).map(|c| c["count"].as_u64().unwrap()).collect()
}

#[test]
fn mv_01_mv_20_mv_21_mv_52_mv_55_a_scene_becomes_an_image_with_its_objects_aside() {
    let wall = |at: [f64; 3], scale: [f64; 3]| json!({ "YawPitchRoll": [0, 0, 0], "Position": at, "Scale": scale });
    let objects = json!([{ "Mesh": "box.obj", "Instances": [
        wall([31.0, -31.0, 0.0], [1.0, 62.0, 5.0]), wall([-31.0, 31.0, 0.0], [62.0, 1.0, 5.0]),
        wall([-32.0, -31.0, 0.0], [1.0, 62.0, 5.0]), wall([-31.0, -32.0, 0.0], [62.0, 1.0, 5.0]) ] }]);
    let here = scene("mv_01_a_scene", &with(objects));
    let report = built(&here, &[]);
    assert_eq!(counted(&report, "box.obj", "places"), [4]);
    assert_eq!(report["ground"]["ignored"]["obstacles"], 48);
    assert_eq!(heights(&here, &["31.5,0", "0,31.5", "0,0"]), [0.0, 0.0, 0.0]);
    let materials = info(&here, "scene.hpan")["materials"].clone();
    assert_eq!(materials.as_array().unwrap().iter().filter(|m| m["obstacle"] == false).count(), 1, "{materials}");
    // a ray meets the wall that the wheel does not stand on
    let image = hardpan_builder::ImageFile::open(here.join("scene.hpan")).unwrap();
    let terrain = hardpan::Terrain::open(&image).unwrap();
    let ray = terrain.ray_to([0.0, 0.0, 1.0], [40.0, 0.0, 1.0]).unwrap();
    let hit = terrain.raycast(ray, &hardpan::RayOptions::default()).hit;
    assert_eq!(format!("{:?}", hit.kind), "Obstacle");
    assert!((hit.t * 40.0 - 31.0).abs() < 1e-3, "{}", hit.t);
    assert_eq!(terrain.material_name(hit.material), "Steel @ box.obj");
    drop(image);
    built(&here, &["--objects", "drivable"]);
    assert_eq!(heights(&here, &["31.5,0", "0,31.5", "0,0"]), [5.0, 5.0, 0.0]);
}

#[test]
fn mv_01_mv_54_other_files_of_mavs_are_refused_by_name() {
    let here = scene("mv_01_others", &json!({ "Label Colors": [], "Labels": [] }));
    holds(&error(3, &here, &["build", "scene.json"]), &["a list of labels of MAVS", "name the scene"]);
    write(&here, "scene.json", &json!({ "Soil Layer": {} }));
    holds(&error(3, &here, &["build", "scene.json"]), &["a list of texture layers of MAVS"]);
    // a mesh that is the scene itself
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "scene.json" }] }));
    error(3, &here, &["build", "scene.json"]);
    write(&here, "scene.json", &with(json!([{ "Mesh": "tree.obj", "Instances": [] }])));
    holds(
        &error(2, &here, &["build", "scene.json"]),
        &["Objects[0].Mesh: there is no file \"tree.obj\"", "--mesh-dir"],
    );
}

#[test]
fn mv_02_mv_28_scale_then_turn_then_way() {
    let place = json!({ "Mesh": "box.obj", "Scale": [2, 3, 4], "YawPitchRoll": [90, 0, 0], "Position": [10, 20, 30] });
    let here = scene("mv_02_order", &json!({ "Surface Mesh": [place] }));
    built(&here, &["--undersides", "ground"]);
    // x of 0 to 2 becomes y, y of 0 to 3 becomes -x
    assert_eq!(bounds(&here), json!({ "min": [7.0, 20.0, 30.0], "max": [10.0, 22.0, 34.0] }));
}

#[test]
fn mv_27_mv_29_turns_and_mirrors() {
    let placed = |turns: Value, scale: Value| json!({ "Surface Mesh": [{ "Mesh": "box.obj", "Scale": scale, "YawPitchRoll": turns }] });
    let here = scene("mv_27_turns", &json!({}));
    for (turns, scale, angles, wanted) in [
        // yaw turns +X to +Y, pitch +Z to +X, roll +Y to +Z
        (json!([90, 0, 0]), json!([2, 1, 1]), "deg", [[-1.0, 0.0, 0.0], [0.0, 2.0, 1.0]]),
        (json!([0, 90, 0]), json!([2, 1, 1]), "deg", [[0.0, 0.0, -2.0], [1.0, 1.0, 0.0]]),
        (json!([0, 0, 90]), json!([2, 1, 1]), "deg", [[0.0, -1.0, 0.0], [2.0, 0.0, 1.0]]),
        // roll, then pitch, then yaw
        (json!([90, 90, 0]), json!([2, 1, 3]), "deg", [[-1.0, 0.0, -2.0], [0.0, 3.0, 0.0]]),
        (json!([0, 0, 0]), json!([2, 1, -1]), "deg", [[0.0, 0.0, -1.0], [2.0, 1.0, 0.0]]),
        (json!([1.5707963267948966, 0, 0]), json!([2, 1, 1]), "rad", [[-1.0, 0.0, 0.0], [0.0, 2.0, 1.0]]),
    ] {
        write(&here, "scene.json", &placed(turns.clone(), scale));
        built(&here, &["--angles", angles, "--undersides", "ground"]);
        assert_eq!(bounds(&here), json!({ "min": wanted[0], "max": wanted[1] }), "{turns}");
    }
    // a mirrored mesh keeps its upper side
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "plane.obj", "Scale": [1, 1, -1] }] }));
    built(&here, &[]);
    fs::write(here.join("up.obj"), "v 0 0 1\nv 9 0 1\nv 9 9 1\nv 0 9 1\nf 1 2 3 4\n").unwrap();
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "up.obj", "Scale": [-1, 1, 1] }] }));
    built(&here, &["--undersides", "ceiling"]);
    assert_eq!(heights(&here, &["-3,4"]), [1.0]);
    for (scale, what) in [(json!([1, 0, 1]), "three numbers other than 0"), (json!([1, 1]), "three numbers")] {
        write(&here, "scene.json", &placed(json!([0, 0, 0]), scale));
        holds(&error(2, &here, &["build", "scene.json"]), &["Surface Mesh[0].Scale is [1,", what]);
    }
}

#[test]
fn mv_27_degrees_or_radians_by_the_values() {
    let here = scene("mv_27_unit", &json!({}));
    let of = |turns: &[f64]| {
        let each: Vec<Value> =
            turns.iter().map(|v| json!({ "Mesh": "plane.obj", "YawPitchRoll": [v, 0, 0] })).collect();
        json!({ "Surface Mesh": each })
    };
    for (turns, said) in [
        (&[0.0, 3.1415][..], Some("radians")),
        (&[-1.570796, 0.3], Some("radians")),
        (&[3.15159], Some("radians")),
        (&[45.0], Some("degrees")),
        (&[2.0], Some("degrees")),
        (&[0.0], None),
    ] {
        write(&here, "scene.json", &of(turns));
        let notes = built(&here, &[])["scene"]["notes"].clone();
        let notes =
            notes.as_array().unwrap().iter().filter_map(|n| n.as_str()).find(|n| n.contains("turns are taken as"));
        assert_eq!(notes.map(|n| n.contains(said.unwrap_or("?"))), said.map(|_| true), "{turns:?}: {notes:?}");
    }
    write(&here, "scene.json", &of(&[1.5708, 90.0]));
    let both = error(2, &here, &["build", "scene.json"]);
    holds(&both, &["Surface Mesh[0].YawPitchRoll[0] = 1.5708", "Surface Mesh[1].YawPitchRoll[0] = 90", "--angles rad"]);
    built(&here, &["--angles", "deg"]);
}

#[test]
fn mv_26_mv_62_mv_66_switches_of_axes_in_their_order() {
    let here = scene("mv_26_axes", &json!({}));
    fs::write(here.join("point.obj"), "v 1 2 3\nv 1.5 2 3\nv 1 2.5 3\nv 1 2 3.5\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
        .unwrap();
    for (switches, least) in [
        (json!({}), [1.0, 2.0, 3.0]),
        (json!({ "Rotate Y to Z": true }), [1.0, -3.5, 2.0]),
        (json!({ "Rotate X to Y": true }), [-2.5, 1.0, 3.0]),
        (json!({ "Rotate Y to X": true }), [2.0, -1.5, 3.0]),
        (json!({ "Rotate Y to Z": true, "Rotate X to Y": true }), [3.0, 1.0, 2.0]),
        (json!({ "Rotate X to Y": true, "Rotate Y to X": true }), [1.0, 2.0, 3.0]),
    ] {
        let mut surface = switches.clone();
        surface["Mesh"] = "point.obj".into();
        write(&here, "scene.json", &json!({ "Surface Mesh": [surface] }));
        built(&here, &["--undersides", "ground"]);
        assert_eq!(bounds(&here)["min"], json!(least), "{switches}");
    }
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "plane.obj", "Rotate Y to Z": 1 }] }));
    holds(&error(2, &here, &["build", "scene.json"]), &["Surface Mesh[0].Rotate Y to Z is 1; write true or false"]);
}

#[test]
fn mv_06_mv_07_mv_08_mv_24_mv_25_mv_63_where_meshes_are_looked_for() {
    let here = folder("mv_06_paths");
    for (place, z) in
        [("data/scenes/meshes/a/one.obj", 1.0), ("data/scenes/meshes/b/two.obj", 2.0), ("else/c/one.obj", 5.0)]
    {
        let file = here.join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, square("s", [0.0, 0.0, z], 5.0)).unwrap();
    }
    let surface = |mesh: &str| json!({ "Surface Mesh": [{ "Mesh": mesh }] });
    let build = |tree: &Value, options: &[&str]| {
        write(&here, "data/scenes/s.json", tree);
        let typed = [&["build", "data/scenes/s.json", "-o", "scene.hpan", "--json"], options].concat();
        serde_json::from_str::<Value>(&expect(0, &here, &typed)[0]).unwrap()
    };
    // the folder above the scene's is that of the data
    build(&surface("a/one.obj"), &[]);
    assert_eq!(heights(&here, &["0,0"]), [1.0]);
    // by its name alone, with a note
    let report = build(&surface("two.obj"), &[]);
    holds(&report["scene"]["notes"].to_string(), &["\"two.obj\\\" was found as"]);
    assert_eq!(heights(&here, &["0,0"]), [2.0]);
    // a folder that is typed goes before that of the scene
    let mut stated = surface("c/one.obj");
    stated["PathToMeshes"] = json!("../../else");
    build(&stated, &[]);
    assert_eq!(heights(&here, &["0,0"]), [5.0]);
    build(&surface("c/one.obj"), &["--mesh-dir", "else"]);
    assert_eq!(heights(&here, &["0,0"]), [5.0]);
    // two of one name
    fs::create_dir_all(here.join("data/scenes/meshes/z")).unwrap();
    fs::copy(here.join("else/c/one.obj"), here.join("data/scenes/meshes/z/one.obj")).unwrap();
    let report = build(&surface("one.obj"), &[]);
    holds(&report["warnings"].to_string(), &["a/one.obj", "z/one.obj", "the first is read"]);
    assert_eq!(heights(&here, &["0,0"]), [1.0]);
    // a whole path
    build(&surface(here.join("else/c/one.obj").to_str().unwrap()), &[]);
    assert_eq!(heights(&here, &["0,0"]), [5.0]);
    // full paths are looked for nowhere else
    let mut full = surface("a/one.obj");
    full["UseFullPaths"] = json!(true);
    write(&here, "data/scenes/s.json", &full);
    holds(&error(2, &here, &["build", "data/scenes/s.json"]), &["Surface Mesh[0].Mesh", "UseFullPaths is true"]);
    // a scene far from its data
    fs::create_dir_all(here.join("far")).unwrap();
    write(&here, "far/s.json", &surface("a/one.obj"));
    let why = error(2, &here, &["build", "far/s.json"]);
    holds(&why, &["Surface Mesh[0].Mesh: there is no file \"a/one.obj\"", "--data-dir"]);
    expect(0, &here, &["build", "far/s.json", "--data-dir", "data", "-o", "scene.hpan"]);
    assert_eq!(heights(&here, &["0,0"]), [1.0]);
    write(
        &here,
        "far/s.json",
        &json!({ "Surface Mesh": [{ "Mesh": here.join("else/c/one.obj") }, { "Mesh": "no.obj" }] }),
    );
    holds(&error(2, &here, &["build", "far/s.json"]), &["Surface Mesh[1].Mesh"]);
}

#[test]
fn mv_09_mv_67_labels_of_meshes_and_groups() {
    let tree = json!({ "Object Labels": "labels.json", "Surface Mesh": [{ "Mesh": "plane.obj" }],
        "Objects": [{ "Mesh": "two.obj", "Label By Group": true, "Instances": [{}] }] });
    let here = scene("mv_09_labels", &tree);
    fs::write(here.join("two.obj"), square("rock", [0.0, 0.0, 1.0], 1.0) + &square("tree", [5.0, 0.0, 1.0], 1.0))
        .unwrap();
    let colours =
        json!([{ "Label": "trail", "Label Number": 4, "Color": [1, 0, 0] }, { "Label": "stone", "Label Number": 9 }]);
    let labels = json!([["plane.obj", "trail"], ["rock", "stone"], ["other.obj", "trail"]]);
    write(&here, "labels.json", &json!({ "Label Colors": colours, "Labels": labels }));
    built(&here, &["--objects", "drivable"]);
    let label = |at: [f64; 2]| {
        let image = hardpan_builder::ImageFile::open(here.join("scene.hpan")).unwrap();
        let terrain = hardpan::Terrain::open(&image).unwrap();
        let answer = terrain.closest([at[0], at[1], 1.0]);
        terrain.materials()[usize::from(answer.hit.material)].label
    };
    assert_eq!([[20.0, 20.0], [0.0, 0.0], [5.0, 0.0]].map(label), [4, 9, 0]);
    // without the file nothing has one
    fs::remove_file(here.join("labels.json")).unwrap();
    let report = built(&here, &[]);
    holds(&report["scene"]["notes"].to_string(), &["Object Labels: there is no file"]);
    assert_eq!(label([20.0, 20.0]), 0);
}

#[test]
fn mv_10_mv_12_mv_19_mv_65_a_layered_surface_is_ground_where_there_is_no_other() {
    let layered = json!({ "Mesh": "box.obj", "Scale": [10, 10, 2], "Layers": "layers.json" });
    let here = scene("mv_10_layered", &json!({ "Layered Surface": layered }));
    let report = built(&here, &[]);
    assert_eq!(heights(&here, &["5,5"]), [2.0]);
    holds(&report["scene"]["notes"].to_string(), &["the ground is that of Layered Surface.Mesh"]);
    assert_eq!(report["scene"]["unused"], json!(["Layered Surface.Layers"]));
    let both = json!({ "Layered Surface": layered, "Surface Mesh": [{ "Mesh": "plane.obj" }] });
    write(&here, "scene.json", &both);
    let report = built(&here, &[]);
    assert_eq!(heights(&here, &["5,5"]), [0.0]);
    holds(&report["scene"]["notes"].to_string(), &["the ground is that of Surface Mesh"]);
}

#[test]
fn mv_13_to_mv_18_trails_are_bands_of_material() {
    let trail = json!({ "Trail Width": 2.0, "Track Width": 0.6, "Wheelbase": 1.25, "Path": "way.vprp" });
    let tree = |trail: &Value| json!({ "Surface Mesh": [{ "Mesh": "slope.obj" }], "Layered Surface": { "Mesh": "slope.obj", "Trail": trail } });
    let here = scene("mv_13_trails", &tree(&trail));
    // two triangles, rising to the north: the trail crosses their common edge
    fs::write(
        here.join("slope.obj"),
        "v -50 -50 -5\nv 50 -50 -5\nv 50 50 5\nv -50 50 5\nusemtl Grass\nf 1 2 3\nf 1 3 4\n",
    )
    .unwrap();
    let way = |poses: &str| format!("QS VANE REPLAY FILE\nVersion: 1\n@Data\n{poses}@END OF REPLAY FILE\n");
    fs::write(here.join("way.vprp"), way("0.01:-40.0 0.0 2.0:1.0 0.0 0.0 0.0\n0.02:40.0 0.0 2.0:1.0 0.0 0.0 0.0\n"))
        .unwrap();
    // off by default
    let report = built(&here, &[]);
    holds(
        &report["scene"]["notes"].to_string(),
        &["Layered Surface.Trail of 1 path is not used", "--trails as-material"],
    );
    assert_eq!(asked(&here, &["0,0"], &[])[0]["material"], "Grass");
    let report = built(&here, &["--trails", "as-material"]);
    // MV-17
    holds(&report["scene"]["notes"].to_string(), &["Layered Surface.Trail.Path: 2 poses, as 2 points"]);
    let at = |points: &[&str]| -> Vec<(String, f64)> {
        let all = asked(&here, points, &[]).into_iter();
        all.map(|a| (a["material"].as_str().unwrap().into(), a["z"].as_f64().unwrap())).collect()
    };
    // the trail reaches 1 m to either side, a track from 0.325 to 0.925 m
    let points = [
        "-30,0",
        "-30,0.3",
        "-30,0.35",
        "-30,0.9",
        "-30,0.95",
        "-30,1.05",
        "-30,-0.9",
        "-30,-0.97",
        "39.9,0",
        "40.1,0",
        "0,0.6",
    ];
    let names = ["trail", "trail", "track", "track", "trail", "Grass", "track", "trail", "trail", "Grass", "track"];
    for ((point, (name, z)), wanted) in points.iter().zip(at(&points)).zip(names) {
        let y: f64 = point.split(',').nth(1).unwrap().parse().unwrap();
        assert_eq!(name, wanted, "{point}");
        assert!((z - y / 10.0).abs() < 1e-4, "{point}: {z}");
    }
    expect(0, &here, &["verify", "scene.hpan"]);
    // as settings
    let wanted = report["image"]["identity"].clone();
    expect(0, &here, &["materials", "scene.json", "--trails", "as-material", "-o", "scene.toml"]);
    let again = expect(0, &here, &["build", "--settings", "scene.toml", "-o", "again.hpan", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again[0]).unwrap()["image"]["identity"], wanted);
    // several paths, of which one bends
    fs::write(here.join("bend.vprp"), way("0:-20 10 0:1 0 0 0\n1:0 10 0:1 0 0 0\n2:0 30 0:1 0 0 0\n")).unwrap();
    let mut both = trail.clone();
    both["Path"] = json!(["way.vprp", "bend.vprp"]);
    write(&here, "scene.json", &tree(&both));
    built(&here, &["--trails", "as-material"]);
    let names: Vec<String> = at(&["-30,0", "-10,10", "-10,10.6", "0.6,20", "0.45,9.55", "0.9,9.1", "3,20"])
        .into_iter()
        .map(|a| a.0)
        .collect();
    // the outer side of a bend is round
    assert_eq!(names, ["trail", "trail", "track", "track", "track", "Grass", "Grass"]);
    fs::write(here.join("way.vprp"), way("0:1 2\n")).unwrap();
    let why = error(2, &here, &["build", "scene.json", "--trails", "as-material"]);
    holds(&why, &["Layered Surface.Trail.Path[0]", "way.vprp: line 4", "time:x y z:quaternion"]);
}

/// The bands of a trail are as wide as stated where it turns back, and its tracks keep their distance.
#[test]
fn mv_14_mv_15_mv_16_a_hairpin_keeps_its_bands() {
    let trail = json!({ "Trail Width": 2.0, "Track Width": 0.6, "Wheelbase": 1.25, "Path": "way.vprp" });
    let tree = json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Layered Surface": { "Mesh": "plane.obj", "Trail": trail } });
    let here = scene("mv_14_hairpin", &tree);
    let way = |points: &[[f64; 2]]| {
        let poses: String = points.iter().enumerate().map(|(i, [x, y])| format!("{i}:{x} {y} 0:1 0 0 0\n")).collect();
        fs::write(here.join("way.vprp"), format!("@Data\n{poses}")).unwrap();
    };
    // what the ground has at a distance from the middle line, but within 2 cm of an edge
    let wanted = |d: f64| {
        let at = |edge: f64| (d - edge).abs() < 0.02;
        let name = match d {
            d if (0.325..=0.925).contains(&d) => "track",
            d if d < 1.0 => "trail",
            _ => "Plane",
        };
        (!at(0.325) && !at(0.925) && !at(1.0)).then_some(name)
    };
    let turn = |i: i32| {
        let a = std::f64::consts::PI * (f64::from(i) / 12.0 - 0.5);
        [10.0 + 1.5 * a.cos(), 1.5 + 1.5 * a.sin()]
    };
    let tight: Vec<[f64; 2]> = [[-20.0, 0.0]].into_iter().chain((0..=12).map(turn)).chain([[-20.0, 3.0]]).collect();
    for points in [
        vec![[-20.0, 0.0], [10.0, 0.0], [-20.0, 0.0]],
        vec![[-20.0, 0.0], [10.0, 0.0], [-20.0, 0.6]],
        vec![[-20.0, 0.0], [10.0, 0.0], [10.0, 20.0]],
        vec![[-20.0, 0.0], [10.0, 0.0], [10.0, 0.3], [-20.0, 9.0]],
        tight,
    ] {
        way(&points);
        built(&here, &["--trails", "as-material"]);
        let distance = |x: f64, y: f64| {
            let of = |pair: &[[f64; 2]]| {
                let [[ax, ay], [bx, by]] = [pair[0], pair[1]];
                let (dx, dy) = (bx - ax, by - ay);
                let t = (((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                (x - ax - t * dx).hypot(y - ay - t * dy)
            };
            points.windows(2).map(of).fold(f64::INFINITY, f64::min)
        };
        let mut asked_at = Vec::new();
        for i in 0..40 {
            for j in 0..40 {
                let (x, y) = (8.0 + 0.107 * f64::from(i), -1.5 + 0.131 * f64::from(j));
                asked_at.extend(wanted(distance(x, y)).map(|name| (format!("{x},{y}"), name)));
            }
        }
        let places: Vec<&str> = asked_at.iter().map(|(at, _)| at.as_str()).collect();
        let found = asked(&here, &places, &[]);
        for ((at, name), answer) in asked_at.iter().zip(&found) {
            assert_eq!(answer["material"], *name, "{points:?}: {at}");
        }
    }
    expect(0, &here, &["verify", "scene.hpan"]);
}

#[test]
fn mv_34_mv_69_what_a_map_of_heights_cannot_have() {
    let here = scene("mv_34_keys", &json!({}));
    let rows: Vec<Vec<u8>> = (0..9).map(|_| vec![128; 9]).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    fs::write(here.join("map.bmp"), bmp(&rows, false)).unwrap();
    let map = |more: Value| {
        let mut own = json!({ "Heightmap": { "Map": "map.bmp", "Resolution": 1, "Scale": 0.1 } });
        more.as_object().unwrap().iter().for_each(|(k, v)| own[k.as_str()] = v.clone());
        own
    };
    // what would be passed over is refused
    for (key, value) in [
        ("Scale", json!([2, 1, 1])),
        ("YawPitchRoll", json!([90, 0, 0])),
        ("Rotate Y to Z", json!(true)),
        ("Rotate X to Y", json!(true)),
    ] {
        write(&here, "scene.json", &json!({ "Surface Mesh": [map(json!({ key: value }))] }));
        holds(&error(2, &here, &["build", "scene.json"]), &[&format!("Surface Mesh[0].{key}: a map of heights takes")]);
    }
    write(&here, "scene.json", &json!({ "Layered Surface": map(json!({ "Scale": [1, 1, 3] })) }));
    holds(&error(2, &here, &["build", "scene.json"]), &["Layered Surface.Scale: a map of heights takes"]);
    let silent =
        json!({ "Scale": [1, 1, 1], "YawPitchRoll": [0, 0, 0], "Rotate Y to Z": false, "Position": [0, 0, 5] });
    write(&here, "scene.json", &json!({ "Surface Mesh": [map(silent)] }));
    built(&here, &[]);
    assert!((heights(&here, &["0,0"])[0].as_f64().unwrap() - 5.0).abs() < 0.01);
    // a pothole lowers the posts within it; one between posts is told
    fs::write(here.join("holes.txt"), "0.5 4 1 1\n0.3 0.5 -2.5 -2.5\n0.3 2 90 90\n").unwrap();
    write(&here, "scene.json", &json!({ "Surface Mesh": [map(json!({}))], "Potholes": "holes.txt" }));
    let report = built(&here, &[]);
    let z: Vec<f64> = heights(&here, &["1,1", "2,1", "3,1", "-2.5,-2.5"]).iter().map(|z| z.as_f64().unwrap()).collect();
    assert!((z[0] + 0.5).abs() < 0.01 && (z[1] + 0.375).abs() < 0.02 && z[2].abs() < 0.01, "{z:?}");
    assert!(z[3].abs() < 0.01, "{z:?}");
    holds(&report["warnings"].to_string(), &["potholes left out: 1 (no post of this map lies in it"]);
    fs::write(here.join("way.vprp"), "@Data\n0:-3 0 0:1 0 0 0\n1:3 0 0:1 0 0 0\n").unwrap();
    let trail = json!({ "Trail Width": 1, "Track Width": 0.2, "Wheelbase": 0.5, "Path": "way.vprp" });
    write(&here, "scene.json", &json!({ "Layered Surface": map(json!({ "Trail": trail })) }));
    let report = built(&here, &["--trails", "as-material"]);
    holds(&report["warnings"].to_string(), &["trails are cut into meshes, and this is a map of heights"]);
}

#[test]
fn mv_69_potholes_are_deepest_in_their_middle() {
    let tree = json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Potholes": "holes.txt" });
    let here = scene("mv_69_potholes", &tree);
    fs::write(here.join("holes.txt"), "# depth, diameter, x, y\n0.25, 2, 10, -5\n0.1 1 0 0\n").unwrap();
    built(&here, &[]);
    let z: Vec<f64> =
        heights(&here, &["10,-5", "0,0", "10.5,-5", "11.01,-5", "20,20"]).iter().map(|z| z.as_f64().unwrap()).collect();
    assert!((z[0] + 0.25).abs() < 1e-4 && (z[1] + 0.1).abs() < 1e-4, "{z:?}");
    // a paraboloid, within a sixth of its depth
    assert!((z[2] + 0.25 * 0.75).abs() < 0.01, "{z:?}");
    assert_eq!(z[3..], [0.0, 0.0]);
    expect(0, &here, &["verify", "scene.hpan"]);
    fs::write(here.join("holes.txt"), "0.25, 2, 10\n").unwrap();
    holds(
        &error(2, &here, &["build", "scene.json"]),
        &["Potholes: ", "holes.txt: line 1: a line is depth, diameter, x, y"],
    );
    fs::write(here.join("holes.txt"), "-1, 2, 10, 3\n").unwrap();
    holds(&error(2, &here, &["build", "scene.json"]), &["pothole 1: depth and diameter are numbers above 0"]);
}

/// The table of keys on the page is that of the reader.
#[test]
fn mv_75_the_page_lists_every_key() {
    use hardpan_builder::settings::mavs::{Fate, KEYS};
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/docs/scenes.md")).unwrap();
    let (_, table) = page.split_once("\n## Keys\n").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|l| l.starts_with("| `"))
        .map(|l| l.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let listed: Vec<(&str, &str)> = rows.iter().map(|row| (row[0].trim_matches('`'), row[2])).collect();
    let fate = |fate: &Fate| if *fate == Fate::Used { "used" } else { "not used" };
    let known: Vec<(&str, &str)> = KEYS.iter().map(|(key, _, of)| (*key, fate(of))).collect();
    assert_eq!(listed, known);
}

#[test]
fn mv_73_where_there_is_no_ground() {
    let here = scene("mv_73_hole", &json!({ "Surface Mesh": [{ "Mesh": "ring.obj" }] }));
    // a floor with a hole of 2 m in its middle
    let ring =
        |a: f64, b: f64, c: f64, d: f64| format!("v {a} {b} 3\nv {c} {b} 3\nv {c} {d} 3\nv {a} {d} 3\nf -4 -3 -2 -1\n");
    fs::write(
        here.join("ring.obj"),
        [ring(-9., -9., 9., -1.), ring(-9., 1., 9., 9.), ring(-9., -1., -1., 1.), ring(1., -1., 9., 1.)].concat(),
    )
    .unwrap();
    built(&here, &[]);
    let none = &asked(&here, &["0,0"], &[])[0];
    assert_eq!((&none["z"], &none["status"]), (&Value::Null, &json!("no ground")));
    assert_eq!(
        asked(&here, &["0,0", "5,0"], &["--fallback=mavs"])
            .iter()
            .map(|a| a["z"].as_f64().unwrap())
            .collect::<Vec<_>>(),
        [f64::from(f32::MIN), 3.0]
    );
    assert_eq!(asked(&here, &["0,0"], &["--fallback"])[0]["z"], 3.0);
}

#[test]
fn mv_04_textures_are_listed_and_not_loaded() {
    let here = scene("mv_04_textures", &json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }] }));
    let mesh = fs::read_to_string(here.join("plane.obj")).unwrap();
    fs::write(here.join("plane.obj"), format!("mtllib plane.mtl\n{mesh}")).unwrap();
    fs::write(here.join("plane.mtl"), "newmtl Plane\nmap_Kd -s 1 1 1 grass.bmp\nbump stones.jpg\nmap_d grass.bmp\n")
        .unwrap();
    let report = built(&here, &[]);
    let ignored = report["import"]["files"][0]["ignored"].as_array().unwrap().clone();
    let textures = ignored.iter().find(|c| c["what"] == "textures").unwrap();
    assert_eq!((&textures["count"], &textures["names"]), (&json!(2), &json!(["grass.bmp", "stones.jpg"])));
}

/// A BMP of grey, its rows from below as the format has them.
fn bmp(rows_from_below: &[&[u8]], deep: bool) -> Vec<u8> {
    let (columns, rows) = (rows_from_below[0].len(), rows_from_below.len());
    let bytes = if deep { 3 } else { 1 };
    let palette: Vec<u8> = if deep { Vec::new() } else { (0..=255).flat_map(|v: u8| [v, v, v, 0]).collect() };
    let mut body = Vec::new();
    for row in rows_from_below {
        let mut line: Vec<u8> = row.iter().flat_map(|v| vec![*v; bytes]).collect();
        line.resize(line.len().next_multiple_of(4), 0);
        body.extend(line);
    }
    let start = 54 + palette.len();
    let mut all = b"BM".to_vec();
    [(start + body.len()) as u32, 0, start as u32, 40, columns as u32, rows as u32]
        .iter()
        .for_each(|v| all.extend(v.to_le_bytes()));
    [1u16, 8 * bytes as u16].iter().for_each(|v| all.extend(v.to_le_bytes()));
    [0u32, body.len() as u32, 0, 0, 0, 0].iter().for_each(|v| all.extend(v.to_le_bytes()));
    all.extend(palette);
    all.extend(body);
    all
}

#[test]
fn mv_34_to_mv_39_maps_of_heights() {
    // the first row of the picture, the upper one, lies in the south; it has the steps 128, 129 and 130
    let here = scene("mv_34_heights", &json!({}));
    fs::write(here.join("map.bmp"), bmp(&[&[28, 128, 228], &[128, 129, 130]], true)).unwrap();
    fs::write(here.join("flat.bmp"), bmp(&[&[28, 128, 228], &[128, 129, 130]], false)).unwrap();
    let map = |name: &str| json!({ "Map": name, "Resolution": 10.0, "Scale": 2.0 });
    let trees =
        json!([{ "Mesh": "box.obj", "Random": { "Number": 3, "Polygon": [[-9, -4], [9, -4], [9, 4], [-9, 4]] } }]);
    for tree in [
        json!({ "Layered Surface": { "Heightmap": map("map.bmp") }, "Surface Mesh": [{ "Mesh": "plane.obj" }] }),
        json!({ "Surface Mesh": [{ "Heightmap": map("flat.bmp") }] }),
        json!({ "Layered Surface": { "Heightmap": map("map.bmp") }, "Objects": trees }),
    ] {
        write(&here, "scene.json", &tree);
        built(&here, &[]);
        // MV-36, MV-37: posts are 10 m apart about the zero, z = (grey - 128) times Scale
        let z = heights(&here, &["-10,-5", "0,-5", "10,-5", "-10,5", "0,5", "10,5", "-5,-5", "11,0"]);
        let wanted = [0.0, 2.0, 4.0, -200.0, 0.0, 200.0, 1.0];
        for (z, wanted) in z.iter().zip(wanted) {
            assert!((z.as_f64().unwrap() - wanted).abs() < 0.011, "{z} {wanted}");
        }
        assert_eq!(z[7], Value::Null);
    }
    let names = |here: &Path| {
        let mut all: Vec<_> = fs::read_dir(here).unwrap().map(|f| f.unwrap().file_name()).collect();
        all.sort();
        all
    };
    // MV-38: nothing is written but the image, and a mesh if it is asked for
    let before = names(&here);
    built(&here, &[]);
    assert_eq!(names(&here), before);
    built(&here, &["--keep-mesh", "kept.obj"]);
    let kept = fs::read_to_string(here.join("kept.obj")).unwrap();
    assert_eq!([kept.matches("v ").count(), kept.matches("f ").count()], [6, 4]);
    // by default 1 m and 0.1 m a step
    write(&here, "scene.json", &json!({ "Layered Surface": { "Heightmap": { "Map": "map.bmp" } } }));
    built(&here, &[]);
    assert!((heights(&here, &["1,-0.5"])[0].as_f64().unwrap() - 0.2).abs() < 0.011);
    // as settings
    let wanted = info(&here, "scene.hpan")["identity"].clone();
    expect(0, &here, &["materials", "scene.json", "-o", "scene.toml"]);
    expect(0, &here, &["build", "--settings", "scene.toml", "-o", "again.hpan"]);
    assert_eq!(info(&here, "again.hpan")["identity"], wanted);
    for (map, wanted) in [
        (json!({ "Map": "no.bmp" }), "Layered Surface.Heightmap.Map: there is no file"),
        (json!({ "Map": "plane.obj" }), "plane.obj is no picture"),
        (json!({ "Map": "map.bmp", "Resolution": 0 }), "Layered Surface.Heightmap.Resolution is 0"),
        (json!({}), "Layered Surface.Heightmap has no Map"),
    ] {
        write(&here, "scene.json", &json!({ "Layered Surface": { "Heightmap": map } }));
        holds(&error(2, &here, &["build", "scene.json"]), &[wanted]);
    }
    // beside all surfaces it is none
    write(&here, "scene.json", &json!({ "Heightmap": { "Map": "map.bmp" } }));
    let cause = "a Heightmap by itself is no ground; add a Surface Mesh or a Layered Surface";
    holds(&error(2, &here, &["build", "scene.json"]), &[cause]);
}

/// Textures and smoothed normals that nothing uses are told, and the MTL file of an object is looked for.
#[test]
fn mv_56_mv_68_smooth_normals_and_material_files() {
    let objects = json!([{ "Mesh": "box.obj", "Smooth Normals": true, "Material": "other.mtl", "Instances": [{}] },
        { "Mesh": "box.obj", "Smooth Normals": false, "Instances": [{}] }]);
    let here = scene("mv_68_material", &with(objects));
    let report = built(&here, &[]);
    assert_eq!(report["scene"]["unused"], json!(["Objects[0].Smooth Normals"]));
    holds(&report["scene"]["notes"].to_string(), &["Objects[0].Material: there is no file", "other.mtl"]);
    fs::write(here.join("other.mtl"), "newmtl Steel\n").unwrap();
    let report = built(&here, &["--objects", "drivable"]);
    assert!(!report["scene"]["notes"].to_string().contains("Objects[0].Material"));
    assert_eq!(asked(&here, &["0.5,0.5"], &[])[0]["material"], "Steel");
}

#[test]
fn mv_23_the_highest_of_surfaces_that_overlap() {
    let tree = json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }, { "Mesh": "plane.obj", "Position": [0, 0, 1] }] });
    let here = scene("mv_23_highest", &tree);
    built(&here, &[]);
    assert_eq!(heights(&here, &["0,0"]), [1.0]);
    let all: Vec<Value> = asked(&here, &["0,0"], &["--layers"]).into_iter().map(|a| a["z"].clone()).collect();
    assert_eq!(all, [1.0, 0.0]);
}

#[test]
fn mv_30_mv_31_mv_32_mv_33_materials_and_cone_index() {
    let here = scene("mv_31_materials", &json!({}));
    let build = |surface: Value| {
        let mut whole = surface;
        whole["Mesh"] = "plane.obj".into();
        write(&here, "scene.json", &json!({ "Surface Mesh": [whole] }));
        built(&here, &[]);
        info(&here, "scene.hpan")["materials"][0].clone()
    };
    let words = [("dry", 0), ("wet", 1), ("ice", 16), ("snow", 17), ("clay", 18), ("sand", 19)];
    for (word, kind) in words {
        let material = build(json!({ "Material": word, "Cone Index": 150 }));
        assert_eq!(material["surface_type"], kind, "{material}");
        assert_eq!(material["cone_index"].as_f64(), Some(if kind >= 18 { 150.0 } else { 0.0 }), "{material}");
    }
    for surface in [json!({}), json!({ "Material": "" })] {
        assert_eq!(build(surface)["surface_type"], 0);
    }
    assert_eq!(build(json!({ "Material": "clay" }))["cone_index"], 250.0);
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "plane.obj", "Material": "mud" }] }));
    let why = error(2, &here, &["build", "scene.json"]);
    holds(&why, &["Surface Mesh[0].Material is \"mud\"; write one of dry, wet, ice, snow, clay, sand"]);
}

#[test]
fn mv_40_to_mv_51_animations_are_checked_and_listed() {
    let walk = json!({ "Animation Folder": "walk", "Frame List": "walk/frames.txt", "Behavior": "wander", "Mesh Scale": 2.0,
        "Rotate Y to X": true, "Rotate Y to Z": false, "Initial Position": [-5.0, 0.0, 0.0], "Initial Heading": 0.0,
        "Frame Rate": 30.0, "Speed": 1.5, "Path": "way.json" });
    let tree = |walk: &Value| json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Animations": [walk] });
    let here = scene("mv_40_animations", &tree(&walk));
    let unused = built(&here, &[])["scene"]["unused"].clone();
    let keys = [
        "",
        "[0].Animation Folder",
        "[0].Frame List",
        "[0].Behavior",
        "[0].Mesh Scale",
        "[0].Rotate Y to X",
        "[0].Initial Position",
        "[0].Initial Heading",
        "[0].Frame Rate",
        "[0].Speed",
        "[0].Path",
    ];
    let wanted: Vec<String> = keys.iter().map(|key| format!("Animations{key}")).collect();
    let mut unused: Vec<&str> = unused.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    unused.sort_unstable();
    let mut wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(unused, wanted);
    // a list of another file
    write(&here, "scene.json", &json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Animations": "walk.json" }));
    built(&here, &[]);
    for (key, value) in [
        ("Animation Folder", json!(1)),
        ("Frame List", json!([])),
        ("Behavior", json!(2)),
        ("Path", json!({})),
        ("Mesh Scale", json!("big")),
        ("Rotate Y to X", json!(0)),
        ("Rotate Y to Z", json!("no")),
        ("Initial Position", json!([1, 2])),
        ("Initial Heading", json!("east")),
        ("Frame Rate", json!(null)),
        ("Speed", json!("fast")),
    ] {
        let mut wrong = walk.clone();
        wrong[key] = value;
        write(&here, "scene.json", &tree(&wrong));
        holds(&error(2, &here, &["build", "scene.json"]), &[&format!("Animations[0].{key} is ")]);
    }
    let mut odd = walk.clone();
    odd["Behavior"] = "fly".into();
    write(&here, "scene.json", &tree(&odd));
    holds(&built(&here, &[])["warnings"].to_string(), &["Animations[0].Behavior", "wander, circle, straight"]);
    // its first frame stands there as an obstacle
    fs::create_dir_all(here.join("walk")).unwrap();
    fs::write(here.join("walk/frames.txt"), "\nbox.obj\nother.obj\n").unwrap();
    fs::copy(here.join("box.obj"), here.join("walk/box.obj")).unwrap();
    write(&here, "scene.json", &tree(&walk));
    let report = built(&here, &["--animations", "first-frame"]);
    assert_eq!(report["ground"]["ignored"]["obstacles"], 12);
    // turned by Rotate Y to X, scaled by 2, moved to x = -5
    built(&here, &["--animations", "first-frame", "--objects", "drivable"]);
    assert_eq!(heights(&here, &["-4,-1", "-4,1"]), [2.0, 0.0]);
}

#[test]
fn mv_53_without_a_surface_the_first_object_is_the_ground() {
    let courtyard = json!({ "Objects": [
        { "Mesh": "box.obj", "Instances": [{ "Position": [-50, -50, 0], "Scale": [100, 100, 0.1] }] },
        { "Mesh": "box.obj", "Random": { "Number": 3, "Polygon": [[-9, -9], [9, -9], [9, 9], [-9, 9]] } }] });
    let here = scene("mv_53_first_object", &courtyard);
    let report = built(&here, &[]);
    let z = heights(&here, &["0,0"])[0].as_f64().unwrap();
    assert!((z - 0.1).abs() < 1e-4, "{z}");
    holds(&report["scene"]["notes"].to_string(), &["the ground is Objects[0]"]);
    assert_eq!(report["ground"]["ignored"]["obstacles"], 36);
}

/// The places of scattered boxes, from the highest ground on a fine raster of one image: as many as there are tops.
fn tops(here: &Path) -> Vec<[f64; 3]> {
    let [text, _] = expect(0, here, &["export", "obj", "scene.hpan", "-o", "scene-out.obj", "--force"]);
    drop(text);
    let text = fs::read_to_string(here.join("scene-out.obj")).unwrap();
    let mut vertices: Vec<[f64; 3]> = Vec::new();
    let mut faces: Vec<Vec<usize>> = Vec::new();
    let mut object = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["v", x, y, z, ..] => vertices.push([x, y, z].map(|v| v.parse().unwrap())),
            ["o" | "g", name, ..] => object = name.into(),
            ["f", ref corners @ ..] if object.contains("box") => {
                faces
                    .push(corners.iter().map(|c| c.split('/').next().unwrap().parse::<usize>().unwrap() - 1).collect());
            }
            _ => {}
        }
    }
    // two triangles of each top come one behind the other by their corners
    let mut seen: Vec<[f64; 3]> = Vec::new();
    let mut done = vec![false; faces.len()];
    for i in 0..faces.len() {
        if done[i] {
            continue;
        }
        let mut corners = faces[i].clone();
        for j in i + 1..faces.len() {
            let shared = faces[j].iter().filter(|v| faces[i].contains(v)).count();
            if !done[j] && shared == 2 {
                done[j] = true;
                corners.extend(&faces[j]);
                break;
            }
        }
        corners.sort_unstable();
        corners.dedup();
        let mid = [0, 1, 2].map(|k| corners.iter().map(|v| vertices[*v][k]).sum::<f64>() / corners.len() as f64);
        seen.push(mid);
    }
    seen
}

/// A flat square about the zero, which is easy to find in an image.
const LID: &str = "o box\nv -0.5 -0.5 0\nv 0.5 -0.5 0\nv 0.5 0.5 0\nv -0.5 0.5 0\nf 1 2 3 4\n";

#[test]
fn mv_22_mv_57_to_mv_61_mv_64_mv_71_mv_72_random_places() {
    let random = |more: Value| {
        let mut random =
            json!({ "Number": 40, "Polygon": [[-30, -30], [30, -30], [30, 30], [-30, 30]], "Offset": [0, 0, 1.5] });
        more.as_object().unwrap().iter().for_each(|(k, v)| random[k.as_str()] = v.clone());
        with(json!([{ "Mesh": "lid.obj", "Random": random }]))
    };
    let here = scene("mv_57_random", &random(json!({ "Minimum Spacing": 4 })));
    fs::write(here.join("lid.obj"), LID).unwrap();
    let drivable = |more: &[&str]| built(&here, &[&["--objects", "drivable"], more].concat());
    let first = drivable(&[]);
    assert_eq!(counted(&first, "lid.obj", "places"), [40]);
    let places = tops(&here);
    assert_eq!(places.len(), 40);
    for (i, [x, y, z]) in places.iter().enumerate() {
        assert!(x.abs() <= 30.01 && y.abs() <= 30.01 && (z - 1.5).abs() < 1e-4, "{x} {y} {z}");
        for [u, v, _] in &places[..i] {
            assert!((x - u).hypot(y - v) > 3.99, "{x} {y} {u} {v}");
        }
    }
    // the same again, and others by another seed
    let identity = |report: &Value| report["image"]["identity"].clone();
    assert_eq!(identity(&drivable(&[])), identity(&first));
    assert_ne!(identity(&drivable(&["--seed", "7"])), identity(&first));
    // the numbers of the generator are the same on every machine
    let mut sorted = places.clone();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for (found, wanted) in sorted.iter().zip(WESTMOST) {
        assert!((found[0] - wanted[0]).abs() < 1e-3 && (found[1] - wanted[1]).abs() < 1e-3, "{found:?} {wanted:?}");
    }
    // none, a concave polygon, and one that is too narrow for all
    write(&here, "scene.json", &random(json!({ "Number": 0 })));
    assert_eq!(counted(&drivable(&[]), "lid.obj", "places"), [0]);
    let l = json!([[0, 0], [20, 0], [20, 5], [5, 5], [5, 20], [0, 20]]);
    write(&here, "scene.json", &random(json!({ "Polygon": l, "Scale": [0.5, 0.5] })));
    holds(&drivable(&[])["scene"]["notes"].to_string(), &["Objects[0].Random.Polygon is not convex"]);
    for [x, y, _] in tops(&here) {
        assert!(x > -0.01 && y > -0.01 && (x < 5.01 || y < 5.01), "{x} {y}");
    }
    write(&here, "scene.json", &random(json!({ "Polygon": [[0, 0], [1, 1]] })));
    holds(
        &error(2, &here, &["build", "scene.json"]),
        &["Objects[0].Random.Polygon is a list of 2; write a list of three"],
    );
    write(&here, "scene.json", &random(json!({ "Minimum Spacing": 30 })));
    holds(&error(2, &here, &["build", "scene.json"]), &["there was room for ", " of 40 places, 30 m apart"]);
    write(&here, "scene.json", &random(json!({ "Polygon": [[900, 0], [990, 0], [990, 90]] })));
    holds(&error(2, &here, &["build", "scene.json"]), &["no ground of any source was found within the polygon"]);
    for (key, value) in [("Number", json!(-1)), ("Scale", json!([2, 1])), ("Polygon", json!("x")), ("Offset", json!(1))]
    {
        write(&here, "scene.json", &random(json!({ key: value })));
        holds(&error(2, &here, &["build", "scene.json"]), &[&format!("Objects[0].Random.{key} is ")]);
    }
}

/// The westmost places of the first scene of the test above.
const WESTMOST: [[f64; 2]; 3] = [[-29.0219, -11.3477], [-27.8737, -4.6428], [-25.0516, 3.2201]];

/// A random place is turned by any angle: a lid that lies east of its zero lies on all sides of its places.
#[test]
fn mv_72_random_places_are_turned() {
    let random = json!({ "Number": 1, "Polygon": [[0, 0], [0.001, 0], [0, 0.001]], "Offset": [0, 0, 1] });
    let here = scene("mv_72_turned", &with(json!([{ "Mesh": "lid.obj", "Random": random }])));
    fs::write(here.join("lid.obj"), "o box\nv 1.5 -0.5 0\nv 2.5 -0.5 0\nv 2.5 0.5 0\nv 1.5 0.5 0\nf 1 2 3 4\n")
        .unwrap();
    let mut quarters = [0; 4];
    for seed in 0..12 {
        built(&here, &["--objects", "drivable", "--seed", &seed.to_string()]);
        let [[x, y, _]] = tops(&here)[..] else { panic!("one lid") };
        assert!((x.hypot(y) - 2.0).abs() < 0.01, "{x} {y}");
        quarters[usize::from(x < 0.0) + 2 * usize::from(y < 0.0)] += 1;
    }
    assert!(quarters.iter().all(|n| *n > 0), "{quarters:?}");
}

#[test]
fn mv_61_mv_71_factors_of_random_places() {
    let here = scene("mv_61_factors", &json!({}));
    fs::write(here.join("lid.obj"), LID).unwrap();
    let extents = |scale: Value| {
        let random = json!({ "Number": 1, "Polygon": [[-30, -30], [30, -30], [30, 30], [-30, 30]], "Scale": scale, "Offset": [0, 0, 1] });
        let tree =
            json!({ "Surface Mesh": [{ "Mesh": "plane.obj" }], "Objects": [{ "Mesh": "lid.obj", "Random": random }] });
        write(&here, "scene.json", &tree);
        built(&here, &["--objects", "drivable"]);
        let listed: Value = serde_json::from_str(&expect(0, &here, &["materials", "scene.hpan", "--json"])[0]).unwrap();
        let area = listed.as_array().unwrap().iter().find(|m| m["name"] == "unnamed").unwrap()["plan_area"].clone();
        area.as_f64().unwrap()
    };
    assert!((extents(json!([3, 3])) - 9.0).abs() < 0.01);
    assert!((1.0..4.01).contains(&extents(json!([1, 2]))));
    assert!((extents(json!([[2, 2], [3, 3], [1, 1]])) - 6.0).abs() < 0.01);
}

#[test]
fn mv_59_many_places_are_counted_before_they_are_built() {
    let random = json!({ "Number": 5000, "Polygon": [[-30, -30], [30, -30], [30, 30], [-30, 30]] });
    let here = scene("mv_59_many", &with(json!([{ "Mesh": "blade.obj", "Random": random }])));
    fs::write(here.join("blade.obj"), "v 0 0 0\nv .01 0 0\nv .01 0 .3\nv 0 0 .3\nf 1 2 3 4\nf 4 3 2 1\n").unwrap();
    let report = built(&here, &[]);
    assert_eq!(report["ground"]["ignored"]["obstacles"], 20_000);
    let mut tree: Value = with(json!([{ "Mesh": "blade.obj", "Random": random }]));
    tree["Objects"][0]["Random"]["Number"] = 1_000_000.into();
    write(&here, "scene.json", &tree);
    let [_, why] = soon(1, 2, &here, &["build", "scene.json"]);
    holds(
        &why,
        &[
            "blade.obj: 1,000,000 places come to 4,000,000 triangles, about ",
            "2,000,000 are the most",
            "draw fewer of it",
        ],
    );
    let [_, why] = soon(1, 2, &here, &["build", "scene.json", "--max-triangles", "9000000", "--memory", "100MiB"]);
    holds(&why, &["100 MiB are the most", "--memory"]);
    // boxes stand for them
    tree["Objects"][0]["Random"]["Number"] = 1000.into();
    write(&here, "scene.json", &tree);
    let report = built(&here, &["--objects", "boxes"]);
    assert_eq!(counted(&report, "blade.obj", "boxes"), [1]);
    let ignored = &report["ground"]["ignored"];
    // a blade has no depth: its box is two upright sides and their thin ends
    assert_eq!(ignored["obstacles"].as_u64().unwrap() + ignored["vertical"].as_u64().unwrap(), 12_000, "{ignored}");
}

/// The scene as settings of our own builds the same bytes.
#[test]
fn mv_01_mv_57_a_scene_as_settings_builds_the_same() {
    let tree = json!({ "Object Labels": "labels.json",
        "Surface Mesh": [{ "Mesh": "plane.obj", "Material": "sand", "Cone Index": 150, "Scale": [2, 2, 1] }],
        "Objects": [{ "Mesh": "box.obj", "Rotate Y to Z": true, "Instances": [{ "YawPitchRoll": [0.3, 0, 3.1415], "Scale": [-1, 2, 1] }] },
            { "Mesh": "box.obj", "Random": { "Number": 9, "Polygon": [[-9, -9], [9, -9], [9, 9]], "Scale": [0.5, 1] } }] });
    let here = scene("mv_01_settings", &tree);
    let colours = json!([{ "Label": "stone", "Label Number": 9 }]);
    write(&here, "labels.json", &json!({ "Label Colors": colours, "Labels": [["box.obj", "stone"]] }));
    for (i, options) in [&[][..], &["--objects", "drivable", "--seed", "5"]].iter().enumerate() {
        let wanted = built(&here, options)["image"]["identity"].clone();
        fs::create_dir_all(here.join("own")).unwrap();
        for name in [format!("own/scene{i}.toml"), format!("own/scene{i}.json")] {
            expect(0, &here, &[&["materials", "scene.json", "-o", &name], *options].concat());
            let built = expect(0, &here, &["build", "--settings", &name, "-o", "again.hpan", "--json"]);
            let report: Value = serde_json::from_str(&built[0]).unwrap();
            assert_eq!(report["image"]["identity"], wanted, "{name}");
        }
    }
}

#[test]
fn mv_70_mv_75_unknown_keys_are_told_with_their_path() {
    let tree = json!({ "Surface Mesh": [{ "Mesh": "plane.obj", "Posit1on": [0, 0, 0] }], "Colour": "green", "_comment": "mine",
        "VegOverrideFile": "veg.json", "Vegetation Distribution": {} });
    let here = scene("mv_75_unknown", &tree);
    let report = built(&here, &[]);
    let unknown = report["scene"]["unknown"].clone();
    assert_eq!(unknown.as_array().unwrap().len(), 2, "{unknown}");
    holds(&unknown.to_string(), &["Surface Mesh[0].Posit1on (did you mean \\\"Position\\\"?)", "\"Colour"]);
    // MV-70
    let mut unused: Vec<&str> =
        report["scene"]["unused"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    unused.sort_unstable();
    assert_eq!(unused, ["VegOverrideFile", "Vegetation Distribution", "_comment"]);
    holds(&report["warnings"].to_string(), &["Surface Mesh[0].Posit1on"]);
    expect(1, &here, &["build", "scene.json", "--strict"]);
    // of two equal keys the last counts, with a warning
    fs::write(here.join("scene.json"), "{\"Surface Mesh\": [{\"Mesh\": \"no.obj\", \"Mesh\": \"plane.obj\"}]}")
        .unwrap();
    holds(&built(&here, &[])["warnings"].to_string(), &["Surface Mesh[0].Mesh stands twice"]);
}

#[test]
fn mv_01_bad_scenes_end_with_one_clear_error() {
    let here = scene("mv_01_bad", &json!({}));
    let deep = format!("{{\"Objects\": {}", "[".repeat(100_000));
    for (text, wanted) in [
        (deep.as_str(), "line 1"),
        ("{\"Objects\": [}", "line 1, column 14"),
        ("{\"Objects\": 3}", "Objects is 3; write a list of objects"),
        ("{\"Objects\": [3]}", "Objects[0] is 3; write an object"),
        ("{\"Objects\": []}", "there is no ground"),
        ("{\"Surface Mesh\": [{}]}", "Surface Mesh[0] has no Mesh"),
        ("{\"Surface Mesh\": [{\"Mesh\": \"no.obj\"}]}", "Surface Mesh[0].Mesh: there is no file \"no.obj\""),
        ("{\"Surface Mesh\": [{\"Mesh\": \"plane.obj\", \"Position\": [1e400, 0, 0]}]}", "line 1"),
        (
            "{\"Surface Mesh\": [{\"Mesh\": \"plane.obj\", \"Position\": \"here\"}]}",
            "Surface Mesh[0].Position is the text \"here\"",
        ),
        ("{\"Surface Mesh\": [{\"Mesh\": \"plane.obj\", \"YawPitchRoll\": 3}]}", "Surface Mesh[0].YawPitchRoll is 3"),
    ] {
        fs::write(here.join("scene.json"), text).unwrap();
        let [_, why] = soon(2, 2, &here, &["build", "scene.json"]);
        assert!(why.starts_with("error: ") && why.trim_end().lines().count() == 1, "{why}");
        holds(&why, &["scene.json", wanted]);
        assert!(!here.join("scene.hpan").exists());
    }
}

/// A scene of two million kilometres: its corners lie outside of a lattice of the usual steps, and inside of one of
/// whole metres.
#[test]
fn mv_01_a_scene_beyond_the_domain_takes_coarser_steps() {
    let Some(scene) = verification::obj::real_file("mavs/data/scenes/brick_scene.json") else { return };
    let here = folder("mv_01_brick");
    fs::write(here.join("coarse.toml"), "[build]\nxy_log2 = 0\nz_log2 = -20\n").unwrap();
    expect(0, &here, &["build", scene.to_str().unwrap(), "--settings", "coarse.toml", "-o", "scene.hpan"]);
    let z = heights(&here, &["0,0", "1e8,-1e8"]);
    assert!(z.iter().all(|z| (z.as_f64().unwrap() - 0.005 * 0.0025).abs() < 1e-6), "{z:?}");
    // settings beside a scene have no sources of their own
    fs::write(here.join("coarse.toml"), "[[source]]\nfile = \"a.obj\"\n").unwrap();
    let why = error(2, &here, &["build", scene.to_str().unwrap(), "--settings", "coarse.toml"]);
    holds(&why, &["there is a [[source]], and the files are those of"]);
}

/// Other commands take a scene as they take meshes.
#[test]
fn mv_01_check_grid_and_verify_take_scenes() {
    let objects = json!([{ "Mesh": "lid.obj", "Random": { "Number": 5, "Polygon": [[-9, -9], [9, -9], [9, 9]], "Offset": [0, 0, 2] } }]);
    let here = scene("mv_01_commands", &with(objects));
    fs::write(here.join("lid.obj"), LID).unwrap();
    built(&here, &["--objects", "drivable"]);
    expect(0, &here, &["verify", "scene.hpan", "--against", "plane.obj", "lid.obj"]);
    expect(0, &here, &["grid", "scene.json", "--cell", "10", "-o", "heights.csv"]);
    expect(0, &here, &["check", "scene.json"]);
    let why = error(2, &here, &["build", "scene.json", "--up", "y"]);
    holds(&why, &["the scene says how its files lie"]);
}
