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
    assert_eq!((&c["surface_type"], &c["material"]), (&Value::from(19), &Value::from("High")));
    near(&c["cone_index"], 150.0, 0.0);
    near(&ask("0.3,0.25,strips", "0,0,0.28")["penetration"], 0.077937, 1e-4);
    // 90 degrees to the left the wheel rolls along the edge
    let turned = ask("0.3,0.25,columns64", "-1,0,0.28,90");
    near(&turned["penetration"], 0.02, 1e-6);
    assert_eq!((&turned["surface_type"], &turned["cone_index"]), (&Value::from(1), &Value::Null));
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
        ("0.3,0.25,cam", "a method is one of point, points10, columns16, columns64, columns256, strips"),
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
        ("tyre_distance = [0.3, 0.3]", "line 1: [0.3, 0.3] is no distance here; write four numbers of metres"),
        ("\nvehicle_distance = \"extern\"", "line 2: \"extern\" is no distance here; write a number of metres"),
        ("vehicle_distance = true", "as in 2.3, or \"external\""),
        ("vehicle = 3", "line 1: invalid type: integer `3`, expected lines in braces"),
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

/// Columns of plain queries: the surface type, the cone index where there is one, and the label.
#[test]
fn mv_30_mv_32_rf_45_columns_of_plain_queries() {
    let folder = folder("mv_30_mv_32_rf_45_columns_of_plain_queries");
    let names = [
        ("dry", 0),
        ("wet", 1),
        ("grass", 2),
        ("dirt", 3),
        ("gravel", 4),
        ("rumble_strip", 5),
        ("ice", 16),
        ("snow", 17),
        ("clay", 18),
        ("sand", 19),
    ];
    let (mut obj, mut settings) =
        (String::new(), "[[source]]\nfile = \"s.obj\"\nup = \"z\"\nunit = \"m\"\n".to_string());
    for (i, (name, _)) in names.iter().enumerate() {
        let n = 4 * i;
        obj += &format!("v {i} 0 0\nv {0} 0 0\nv {0} 1 0\nv {i} 1 0\nusemtl m{i}\n", i + 1);
        obj += &format!("f {} {} {} {}\n", n + 1, n + 2, n + 3, n + 4);
        settings +=
            &format!("[[material]]\nname = \"m{i}\"\nmu = 0.5\nsurface_type = \"{name}\"\nlabel = {}\n", 40 + i);
        if *name == "sand" {
            settings += "cone_index = 150\n";
        }
    }
    fs::write(folder.join("s.obj"), obj).unwrap();
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "--settings", "s.toml", "-o", "s.hpan"]);
    let points: String = (0..10).map(|i| format!("{i}.5,0.5\n")).collect();
    fs::write(folder.join("p.csv"), format!("x,y\n{points}99,99\n")).unwrap();
    let [out, _] = expect(0, &folder, &["query", "s.hpan", "--csv", "p.csv"]);
    let lines: Vec<Vec<&str>> = out.lines().map(|l| l.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|n| *n == name).unwrap();
    let [kind, cone, label] = ["surface_type", "cone_index", "label"].map(column);
    for (i, (name, number)) in names.iter().enumerate() {
        let row = &lines[i + 1];
        let wanted = [
            number.to_string(),
            match *name {
                "sand" => "150".into(),
                "clay" => "250".into(),
                _ => String::new(),
            },
            (40 + i).to_string(),
        ];
        assert_eq!([row[kind], row[cone], row[label]], wanted, "{name}");
    }
    // without ground there is no material
    assert_eq!([kind, cone, label].map(|k| lines[11][k]), [""; 3]);
    let [out, _] = expect(0, &folder, &["query", "s.hpan", "9.5,0.5", "0.5,0.5", "--json"]);
    let all: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&all[0]["cone_index"], &all[0]["surface_type"], &all[0]["label"]),
        (&150.0.into(), &19.into(), &49.into())
    );
    assert_eq!((&all[1]["cone_index"], &all[1]["surface_type"]), (&Value::Null, &0.into()));
}

/// The same wheel in all axes: questions and answers change places and signs alone.
#[test]
fn rf_48_axes_by_name() {
    let folder = step("rf_48_axes_by_name");
    let ask = |axes: &str, pose: &str| -> [Value; 2] {
        let typed = ["query", "s.hpan", "--tyre", "0.3,0.25,strips", "--pose", pose, "--axes", axes, "--json"];
        let [out, err] = expect(0, &folder, &typed);
        [serde_json::from_str::<Value>(&out).unwrap()[0].clone(), err.into()]
    };
    let [iso, err] = ask("iso8855", "-0.05,2,0.28,30,1,2");
    assert_eq!(err, "");
    let vector = |v: &Value| -> [f64; 3] { [0, 1, 2].map(|k| v[k].as_f64().unwrap()) };
    type Out = fn([f64; 3]) -> [f64; 3];
    let all: [(&str, &str, Out, f64, &str); 5] = [
        ("enu", "-0.05,2,0.28", |v| v, 1.0, "world (x, y, z)"),
        ("ned", "2,-0.05,-0.28", |[x, y, z]| [y, x, -z], -1.0, "world (y, x, -z)"),
        ("y_up", "-0.05,0.28,-2", |[x, y, z]| [x, z, -y], 1.0, "world (x, -z, y)"),
        ("rfactor", "2,0.28,0.05", |[x, y, z]| [y, z, -x], 1.0, "world (-z, x, y)"),
        ("iso_y_right", "-0.05,-2,0.28", |[x, y, z]| [x, -y, z], 1.0, "world (x, -y, z)"),
    ];
    for (axes, place, out, up, conversion) in all {
        let [c, err] = ask(axes, &format!("{place},30,1,2"));
        holds(err.as_str().unwrap(), &[axes, conversion]);
        for name in ["normal", "plane", "patch"] {
            assert_eq!(vector(&c[name]), out(vector(&iso[name])).map(|v| v + 0.0), "{axes} {name}");
        }
        assert_eq!(c["height"].as_f64().unwrap(), up * iso["height"].as_f64().unwrap());
        for name in ["penetration", "loaded_radius", "volume", "mu", "coverage", "material"] {
            assert_eq!(c[name], iso[name], "{axes} {name}");
        }
    }
    let [_, err] = expect(2, &folder, &["query", "s.hpan", "--tyre", "0.3,0.25", "--pose", "0,0,0", "--axes", "iso"]);
    holds(&err, &["axes are one of iso8855, enu, ned, y_up, rfactor, iso_y_right"]);
    // a drive: rFactor's x, y, z are left, up, back
    fs::write(folder.join("rf.csv"), "t,x,y,z,yaw\n0,0,0.28,3,0\n1,0,0.28,-1,0\n").unwrap();
    fs::write(folder.join("iso.csv"), "t,x,y,z,yaw\n0,-3,0,0.28,0\n1,1,0,0.28,0\n").unwrap();
    let along = |file: &str, more: &[&str]| {
        let [out, _] =
            expect(0, &folder, &[&["query", "s.hpan", "--along", file, "--tyre", "0.3,0.25"], more].concat());
        let lines: Vec<Vec<String>> = out.lines().map(|l| l.split(',').map(String::from).collect()).collect();
        let at = |name: &str| lines[0].iter().position(|n| n == name).unwrap();
        let columns = ["distance", "penetration", "mu"].map(at);
        lines[1..].iter().map(|row| columns.map(|k| row[k].clone())).collect::<Vec<_>>()
    };
    let rows = along("rf.csv", &["--axes", "rfactor"]);
    assert_eq!(rows, along("iso.csv", &[]));
    assert_eq!(rows[4][0], "4");
    fs::write(folder.join("flat.csv"), "t,x,y\n0,0,3\n").unwrap();
    let typed = ["query", "s.hpan", "--along", "flat.csv", "--tyre", "0.3,0.25", "--axes", "rfactor"];
    holds(&expect(2, &folder, &typed)[1], &["flat.csv", "line 2: no z"]);
}

/// The picture of a drive has a line for points, columns and strips, and as many places as the drive.
#[test]
fn rf_66_a_drive_is_drawn_by_three_methods() {
    let folder = step("rf_66_a_drive_is_drawn_by_three_methods");
    let drive: String = (0..100).map(|i| format!("{},{},0,0.28,0\n", i, -2.0 + 0.02 * f64::from(i))).collect();
    fs::write(folder.join("d.csv"), format!("t,x,y,z,yaw\n{drive}")).unwrap();
    let typed =
        ["query", "s.hpan", "--along", "d.csv", "--tyre", "0.3,0.25,strips", "--plot", "d.svg", "-o", "d.csv.csv"];
    expect(0, &folder, &typed);
    let svg = fs::read_to_string(folder.join("d.svg")).unwrap();
    holds(&svg, &[">point<", ">columns64<", ">strips<", "wheel FL", "height, m", "slope, %"]);
    expect(
        0,
        &folder,
        &["query", "s.hpan", "--along", "d.csv", "--tyre", "0.3,0.25", "--plot", "d.png", "-o", "e.csv"],
    );
    assert!(fs::read(folder.join("d.png")).unwrap().starts_with(b"\x89PNG"));
}

/// Two halves that are merged answer as the whole: the same bits by every method.
#[test]
fn rf_66_a_merged_image_gives_the_same_bits() {
    let folder = step("rf_66_a_merged_image_gives_the_same_bits");
    let (vertices, _) = STEP.split_once("usemtl Low").unwrap();
    let settings = fs::read_to_string(folder.join("s.toml")).unwrap().replace("mu = ", "optional = true\nmu = ");
    for (name, faces) in [("w", "usemtl Low\nf 1 2 3 4\n"), ("e", "usemtl High\nf 5 6 7 8\n")] {
        fs::write(folder.join(format!("{name}.obj")), format!("{vertices}{faces}")).unwrap();
        fs::write(folder.join(format!("{name}.toml")), settings.replace("s.obj", &format!("{name}.obj"))).unwrap();
        expect(0, &folder, &["build", "--settings", &format!("{name}.toml"), "-o", &format!("{name}.hpan")]);
    }
    expect(0, &folder, &["merge", "w.hpan", "e.hpan", "-o", "m.hpan"]);
    for method in ["point", "points10", "columns16", "columns64", "columns256", "strips"] {
        let tyre = format!("0.3,0.25,{method}");
        for pose in ["0,0,0.28", "0.03,0.4,0.29,33,2,3", "-0.1,3,0.3,190,0,-8"] {
            let ask = |image: &str| {
                let [out, _] = expect(0, &folder, &["query", image, "--tyre", &tyre, "--pose", pose, "--json"]);
                let mut c = serde_json::from_str::<Value>(&out).unwrap()[0].clone();
                ["tests", "source", "error"].into_iter().for_each(|name| _ = c.as_object_mut().unwrap().remove(name));
                c
            };
            assert_eq!(ask("s.hpan"), ask("m.hpan"), "{method} {pose}");
        }
    }
}
