//! Rows of the feature list that the command answers for, one test each.

use crate::shell::{bridge, expect, folder, holds, info};
use serde_json::Value;
use std::{fs, path::Path};

/// The heights that `query --json` finds at points of a CSV, a row each; `null` without ground.
fn heights(folder: &Path, points: &str, options: &[&str]) -> Vec<Value> {
    fs::write(folder.join("points.csv"), points).unwrap();
    let typed = [&["query", "bridge.hpan", "--csv", "points.csv", "--json"], options].concat();
    let answers: Value = serde_json::from_str(&expect(0, folder, &typed)[0]).unwrap();
    answers.as_array().unwrap().iter().map(|answer| answer["z"].clone()).collect()
}

#[test]
fn vt_37_a_length_is_tested_downward() {
    let folder = bridge("vt_37_a_length_is_tested_downward");
    let found = heights(&folder, "x,y,z,length\n0,0,7,2\n0,0,5,2\n0,0,5,6\n", &[]);
    assert_eq!(found, [Value::from(6.0), Value::Null, Value::from(0.0)]);
}

#[test]
fn vt_38_every_layer_from_top_to_bottom() {
    let folder = bridge("vt_38_every_layer_from_top_to_bottom");
    let typed = ["query", "bridge.hpan", "0,0", "20,0", "--layers", "--json"];
    let answers: Value = serde_json::from_str(&expect(0, &folder, &typed)[0]).unwrap();
    let rows: Vec<_> = answers.as_array().unwrap().iter().map(|a| ["x", "z", "layer"].map(|k| a[k].as_f64())).collect();
    assert_eq!(rows, [[0.0, 6.0, 1.0], [0.0, 0.0, 2.0], [20.0, 0.0, 1.0]].map(|row| row.map(Some)));
}

#[test]
fn vt_39_shapes_of_lines_may_be_mixed() {
    let folder = bridge("vt_39_shapes_of_lines_may_be_mixed");
    let found = heights(&folder, "0,0\n0,0,2\n0,0,5,2\n0,0,5,6\n", &[]);
    assert_eq!(found, [Value::from(6.0), Value::from(0.0), Value::Null, Value::from(0.0)]);
}

#[test]
fn vt_40_without_a_length_the_near_window_counts() {
    let folder = bridge("vt_40_without_a_length_the_near_window_counts");
    assert_eq!(heights(&folder, "0,0,5\n0,0,2\n", &[]), [6.0, 0.0]);
}

#[test]
fn vt_41_without_a_height_the_topmost_counts() {
    let folder = bridge("vt_41_without_a_height_the_topmost_counts");
    assert_eq!(heights(&folder, "0,0\n-4,7\n20,0\n", &[]), [6.0, 6.0, 0.0]);
}

#[test]
fn mv_03_names_of_a_material_library_are_in_info() {
    let folder = folder("mv_03_names_of_a_material_library_are_in_info");
    fs::write(folder.join("a.mtl"), "newmtl wet clay\nKd 0.3 0.2 0.1\nnewmtl unused\nnewmtl gravel\n").unwrap();
    let text = "mtllib a.mtl\nv 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nusemtl wet clay\nf 1 2 3\nusemtl gravel\nf 1 3 4\n";
    fs::write(folder.join("a.obj"), text).unwrap();
    expect(0, &folder, &["build", "a.obj"]);
    let materials = info(&folder, "a.hpan")["materials"].clone();
    let names: Vec<&str> = materials.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["gravel", "wet clay"]);
}

#[test]
fn mv_05_the_frame_is_east_north_up() {
    let folder = bridge("mv_05_the_frame_is_east_north_up");
    holds(&expect(0, &folder, &["info", "bridge.hpan"])[0], &["x east, y north, z up"]);
    // y up becomes north where the file's z points south
    fs::write(folder.join("y.obj"), "v 0 3 0\nv 9 3 0\nv 9 3 -5\nf 1 2 3\n").unwrap();
    expect(0, &folder, &["build", "y.obj", "--up", "y"]);
    let bounds = info(&folder, "y.hpan")["bounds"].clone();
    assert_eq!(bounds, serde_json::json!({ "min": [0.0, 0.0, 3.0], "max": [9.0, 5.0, 3.0] }));
}

/// A car that leaves its road under a roof: by the usual windows it stands on the roof, as `kernel/docs/hil.md` says.
#[test]
fn vt_02_a_wheel_that_looks_no_farther_than_its_travel_gets_no_roof() {
    let folder = folder("vt_02_a_wheel_that_looks_no_farther_than_its_travel_gets_no_roof");
    let sheet = |east: f64, z: f64| format!("v 0 0 {z}\nv {east} 0 {z}\nv {east} 4 {z}\nv 0 4 {z}\nf -4 -3 -2 -1\n");
    fs::write(folder.join("yard.obj"), sheet(10.0, 0.0) + &sheet(30.0, 20.0)).unwrap();
    expect(0, &folder, &["build", "yard.obj", "--up", "z", "--unit", "m"]);
    fs::write(folder.join("wheels.toml"), "[build]\nnear = 0.5\nfar = 0.5\n").unwrap();
    expect(0, &folder, &["rebuild", "yard.hpan", "--settings", "wheels.toml", "-o", "wheels.hpan"]);
    let asked = |image: &str, places: &[&str]| -> Vec<Value> {
        let answers = &expect(0, &folder, &[&["query", image, "--json"], places].concat())[0];
        serde_json::from_str::<Vec<Value>>(answers).unwrap().iter().map(|answer| answer["z"].clone()).collect()
    };
    // on the road and beside it, from hubs at 0.3 m
    let hubs = ["5,2,0.3", "20,2,0.3"];
    assert_eq!(asked("yard.hpan", &hubs), [Value::from(0.0), Value::from(20.0)]);
    assert_eq!(asked("wheels.hpan", &hubs), [Value::from(0.0), Value::Null]);
    // down only, over the travel
    assert_eq!(asked("yard.hpan", &["5,2,0.5,0.7", "20,2,0.5,0.7"]), [Value::from(0.0), Value::Null]);
}
