//! `query --tyre`, `sensor`, and surface types by name.

use std::fs;

use crate::shell::{expect, folder, holds};
use serde_json::Value;

/// Zero west of x = 0, and 0.1 from there on.
const STEP: &str = "v -8 -8 0\nv 0 -8 0\nv 0 8 0\nv -8 8 0\nv 0 -8 0.1\nv 8 -8 0.1\nv 8 8 0.1\nv 0 8 0.1\n\
    usemtl Low\nf 1 2 3 4\nusemtl High\nf 5 6 7 8\n";

fn step(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    fs::write(folder.join("s.obj"), STEP).unwrap();
    let settings = "[[source]]\nfile = \"s.obj\"\nup = \"z\"\nunit = \"m\"\n\
        [[material]]\nname = \"Low\"\nmu = 0.9\nsurface_type = \"wet\"\n\
        [[material]]\nname = \"High\"\nmu = 0.5\nsurface_type = \"sand\"\ncone_index = 150\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "s.hpan"]);
    folder
}

fn near(v: &Value, wanted: f64, most: f64) {
    let v = v.as_f64().unwrap();
    assert!((v - wanted).abs() <= most, "{v} is not {wanted}");
}

#[test]
fn rf_42_rf_45_rf_66_what_a_tyre_stands_on() {
    let folder = step("rf_42_rf_45_rf_66_what_a_tyre_stands_on");
    let ask = |tyre: &str, pose: &str| -> Value {
        let [out, err] = expect(0, &folder, &["query", "s.hpan", "--tyre", tyre, "--pose", pose, "--json"]);
        assert_eq!(err, "");
        serde_json::from_str::<Value>(&out).unwrap()[0].clone()
    };
    let c = ask("0.3,0.25,columns256", "0,0,0.28");
    near(&c["penetration"], 0.077935, 2e-5);
    near(&c["height"], 0.28 - 0.3 + 0.077935, 2e-5);
    assert_eq!((&c["surface_type"], &c["material"]), (&Value::from(19.0), &Value::from("High")));
    near(&c["cone_index"], 150.0, 0.0);
    // 90 degrees to the left the wheel rolls along the edge
    let turned = ask("0.3,0.25,columns64", "-1,0,0.28,90");
    near(&turned["penetration"], 0.02, 1e-6);
    assert_eq!((&turned["surface_type"], &turned["cone_index"]), (&Value::from(1.0), &Value::Null));
    let point = ask("0.3,0.25,point", "-0.001,0,0.3");
    near(&point["height"], 0.0, 0.0);
    near(&ask("0.3,0.25,points10", "0,0,0.3")["height"], 0.1 * 4.4 / 6.8, 1e-4);
    let [text, _] = expect(0, &folder, &["query", "s.hpan", "--tyre", "0.3,0.25", "--pose", "-1,0,0.28"]);
    holds(&text, &["status         found\n", "penetration    0.020000 m\n", "patch valid    yes\n"]);
    for (pose, status) in [("0,0,0.3,0,0,85", "lying"), ("900,0,0", "not in image"), ("nan,0,0", "not finite")] {
        assert_eq!(ask("0.3,0.25", pose)["status"], status);
    }
    for (tyre, why) in [
        ("0,0.25", "a tyre's radius is a number of metres above 0"),
        ("0.3,-1", "a tyre's width is a number of metres above 0"),
        ("0.3,nan", "a tyre's width is a number of metres above 0"),
        ("0.3", "a tyre is RADIUS,WIDTH[,METHOD] in metres"),
        ("0.3,0.25,strips", "a method is one of point, points10, columns16, columns64, columns256"),
    ] {
        let [_, err] = expect(2, &folder, &["query", "s.hpan", "--tyre", tyre, "--pose", "0,0,0.3"]);
        holds(&err, &[why]);
    }
    let [_, err] = expect(2, &folder, &["query", "s.hpan", "--tyre", "0.3,0.25", "--pose", "0,0"]);
    holds(&err, &["a pose is x,y,z[,yaw,pitch,roll]"]);
    let [_, err] = expect(2, &folder, &["query", "s.hpan", "--pose", "0,0,1"]);
    holds(&err, &["--tyre"]);
}

#[test]
fn rf_66_four_wheels_along_a_drive() {
    let folder = step("rf_66_four_wheels_along_a_drive");
    fs::write(folder.join("d.csv"), "t,x,y,z,yaw\n0,-3,0,0.28,0\n1,0,0,0.28,90\n").unwrap();
    let [out, err] = expect(0, &folder, &["query", "s.hpan", "--along", "d.csv", "--tyre", "0.3,0.25"]);
    assert_eq!(err, "");
    let lines: Vec<Vec<&str>> = out.lines().map(|l| l.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|n| *n == name).unwrap();
    assert_eq!(lines.len(), 9);
    let of = |line: usize, name: &str| lines[line][column(name)];
    for (line, name, x, y) in [(1, "FL", "-1.65", "0.8"), (4, "RR", "-4.35", "-0.8"), (5, "FL", "-0.8", "1.35")] {
        assert_eq!([of(line, "wheel"), of(line, "x"), of(line, "y"), of(line, "status")], [name, x, y, "found"]);
    }
    for line in 1..=4 {
        assert!((of(line, "penetration").parse::<f64>().unwrap() - 0.02).abs() < 1e-6, "{out}");
    }
    // turned to the north, the right wheels stand on the step
    let depth = |line: usize| of(line, "penetration").parse::<f64>().unwrap();
    assert!(depth(5) < 0.021 && depth(6) > 0.119 && depth(7) < 0.021 && depth(8) > 0.119, "{out}");
}

#[test]
fn mw_01_mw_02_mw_11_mw_16_the_sensor_along_a_drive() {
    let folder = step("mw_01_mw_02_mw_11_mw_16_the_sensor_along_a_drive");
    fs::write(folder.join("d.csv"), "t,x,y,z,yaw,tyre_distance_front_left,tyre_distance_front_right,tyre_distance_rear_left,tyre_distance_rear_right\n\
        0,-3,0,0.35,0,0.3,0.3,0.3,0.1\n1,100,0,0.35,0,0.3,0.3,0.3,0.3\n").unwrap();
    let run = |config: &str, code: i32| {
        fs::write(folder.join("c.toml"), config).unwrap();
        let typed = ["sensor", "s.hpan", "--drive", "d.csv", "--config", "c.toml", "--obj", "t.obj", "--force"];
        expect(code, &folder, &typed)
    };
    let [out, _] =
        run("vehicle = { length = 20 }\ntyre_distance = \"external\"\nfront_left = { enabled = false }\n", 0);
    let lines: Vec<Vec<&str>> = out.lines().map(|l| l.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|n| *n == name).unwrap_or_else(|| panic!("{name}: {out}"));
    let of = |line: usize, name: &str| lines[line][column(name)];
    let number = |line: usize, name: &str| of(line, name).parse::<f64>().unwrap();
    let order: Vec<usize> = ["vehicle", "front_left", "front_right", "rear_left", "rear_right"]
        .iter()
        .map(|name| column(&format!("{name}_hit")))
        .collect();
    assert!(order.is_sorted());
    assert_eq!([of(1, "vehicle_hit"), of(1, "vehicle_status")], ["0", "left the image"]);
    assert!((number(1, "vehicle_distance") - 20.0).abs() < 1e-9 && (number(1, "vehicle_adjusted") - 17.7).abs() < 1e-9);
    assert_eq!(
        [of(1, "front_left_hit"), of(1, "front_left_status"), of(1, "front_left_distance")],
        ["0", "disabled", "0"]
    );
    assert_eq!([of(1, "front_right_hit"), of(1, "front_right_material")], ["1", "Low"]);
    assert!(
        (number(1, "front_right_adjusted") - 0.05).abs() < 1e-5
            && (number(1, "rear_right_adjusted") - 0.25).abs() < 1e-5
    );
    assert_eq!([of(2, "rear_left_hit"), of(2, "rear_left_hit_z")], ["0", of(2, "rear_left_end_z")]);
    // four traces of two steps, each a line of two points: hits green, misses red
    let obj = fs::read_to_string(folder.join("t.obj")).unwrap();
    let count = |text: &str| obj.lines().filter(|l| l.contains(text)).count();
    assert_eq!([count("v "), obj.lines().filter(|l| l.starts_with("l ")).count()], [16, 8]);
    assert_eq!([count(" 0 0.8 0"), count(" 0.9 0 0")], [6, 10]);
    let wrong = [
        ("vehicle = { lenght = 2 }", "line 1"),
        ("vehicle_distance = \"external\"", "there is no column vehicle_distance"),
        ("rear_left = { length = 0, offset = 0 }", "rear_left: length and offset together are above 0"),
        ("rear_left = { length = nan }", "rear_left: length and offset together"),
        ("tyre_distance = [0.3, 0.3]", "line 1"),
    ];
    for (config, why) in wrong {
        let [_, err] = run(config, 2);
        holds(&err, &[why]);
    }
}

#[test]
fn mv_30_rf_45_surface_types_have_names() {
    let folder = step("mv_30_rf_45_surface_types_have_names");
    let [out, _] = expect(0, &folder, &["info", "s.hpan", "--json", "--materials"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let all: Vec<_> =
        facts["materials"].as_array().unwrap().iter().map(|m| m["surface_type"].as_u64().unwrap()).collect();
    assert_eq!(all, [19, 1]);
    let settings = fs::read_to_string(folder.join("s.toml")).unwrap();
    for (name, why) in [("mud", "\"mud\" is not known here"), ("gravl", "did you mean \"gravel\"?")] {
        fs::write(folder.join("s.toml"), settings.replace("\"sand\"", &format!("\"{name}\""))).unwrap();
        let [_, err] = expect(2, &folder, &["build", "--settings", "s.toml", "-o", "t.hpan"]);
        holds(&err, &[why, "known: dry, wet, grass, dirt, gravel, rumble_strip, ice, snow, clay, sand"]);
    }
}
