//! `hardpan diff` of an image and points of another tool.

use crate::shell::{bridge, error, expect, folder, holds, soon};
use serde_json::{Value, json};
use std::fs;
use verification::obj::real_file;

use super::{json_of, pixels};

/// Height of the plane, metres; steps of the lattice at all places asked.
fn plane(x: f64, y: f64) -> f64 {
    0.25 * x - 0.5 * y + 3.0
}

/// The plane in two rectangles with 10 m between them, as `plane.hpan`, of mu 0.75.
fn two_parts(test: &str) -> std::path::PathBuf {
    let folder = folder(test);
    let part = |x0: f64, x1: f64| {
        let corners = [(x0, -40.0), (x1, -40.0), (x1, 40.0), (x0, 40.0)];
        corners.map(|(x, y)| format!("v {x} {y} {}\n", plane(x, y))).concat() + "f -4 -3 -2 -1\n"
    };
    let text = format!("usemtl Clay\n{}{}", part(-40.0, 0.0), part(10.0, 40.0));
    fs::write(folder.join("plane.obj"), text).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Clay\"\nmu = 0.75\nrr = 1\n").unwrap();
    expect(0, &folder, &["build", "plane.obj", "--settings", "s.toml"]);
    folder
}

/// Offsets of a point in height, parts of 1024 m, and in friction, parts of 16; the image less the reference.
fn offsets(k: i64) -> [i64; 2] {
    [(k * 37) % 101 - 30, k % 7 - 2]
}

/// Points on the left part, of known offsets.
fn points(count: i64) -> Vec<[f64; 4]> {
    let point = |k: i64| {
        let (x, y) = ((k % 60) as f64 / 2.0 - 39.5, (k / 60) as f64 * 0.25 - 39.0);
        let [dz, dmu] = offsets(k);
        [x, y, plane(x, y) - dz as f64 / 1024.0, 0.75 - dmu as f64 / 16.0]
    };
    (0..count).map(point).collect()
}

fn table(heading: &str, points: &[[f64; 4]]) -> String {
    let lines = points.iter().map(|[x, y, z, mu]| format!("{x},{y},{z},{mu}\n"));
    format!("{heading}{}", lines.collect::<String>())
}

/// Statistics of whole numbers, as parts of one: mean, mean of absolute values, root mean square, percentiles.
fn expected(all: &[i64], one: f64) -> Value {
    let count = all.len() as f64;
    let sum = |of: fn(i64) -> i64| all.iter().map(|v| of(*v)).sum::<i64>() as f64;
    let mut sizes: Vec<i64> = all.iter().map(|v| v.abs()).collect();
    sizes.sort_unstable();
    // the least that so many parts of a thousand do not exceed
    let percentile = |share: usize| sizes[(share * all.len()).div_ceil(1000) - 1] as f64 / one;
    json!([
        sum(|v| v) / count / one,
        sum(i64::abs) / count / one,
        (sum(|v| v * v) / count).sqrt() / one,
        percentile(500),
        percentile(900),
        percentile(990),
        percentile(999)
    ])
}

#[track_caller]
fn same(found: &Value, wanted: &Value) {
    let p = &found["percentiles"];
    let all = [&found["mean"], &found["mean_absolute"], &found["root_mean_square"], &p[0], &p[1], &p[2], &p[3]];
    for (k, found) in all.into_iter().enumerate() {
        let (found, wanted) = (found.as_f64().unwrap(), wanted[k].as_f64().unwrap());
        assert!((found - wanted).abs() < 1e-9, "{k}: {found}, not {wanted}");
    }
}

#[test]
fn a_plane_with_known_offsets() {
    let folder = two_parts("a_plane_with_known_offsets");
    let count = 3001;
    let all = points(count);
    let whole = table("x,y,z,mu\n", &all);
    // between the parts, beside the image, and without a place
    let more = whole.clone() + "5,0,3,0.75\n1e5,0,3,0.75\n-1e5,0,3,\nNaN,1,2,0.5\n1,,2,0.5\n1,1,,0.5\n";
    fs::write(folder.join("ref.csv"), &whole).unwrap();
    fs::write(folder.join("more.csv"), more).unwrap();
    let found = json_of(0, &folder, &["diff", "plane.hpan", "more.csv"]);
    let counts = ["points", "compared", "no_ground", "not_in_image", "no_number"].map(|name| &found[name]);
    assert_eq!(counts, [&json!(count + 6), &json!(count), &json!(1), &json!(2), &json!(3)]);
    assert_eq!((&found["first_left"], &found["alike"]), (&json!(count + 2), &Value::Null));
    let [dz, dmu] = [0, 1].map(|i| (0..count).map(|k| offsets(k)[i]).collect::<Vec<_>>());
    same(&found["heights"], &expected(&dz, 1024.0));
    same(&found["mu"], &expected(&dmu, 16.0));
    // the ten farthest, of as far the first; 70 parts are the most, at every 101st point
    let mut worst: Vec<i64> = (0..count).collect();
    worst.sort_by_key(|k| -dz[*k as usize].abs());
    for (k, place) in worst.iter().take(10).enumerate() {
        let off = &found["heights"]["worst"][k];
        let [x, y, z, _] = all[*place as usize];
        assert_eq!((&off["number"], &off["at"]), (&json!(place + 2), &json!([x, y])), "{off}");
        let close = |name: &str, wanted: f64| (off[name].as_f64().unwrap() - wanted).abs() < 1e-9;
        assert!(close("reference", z) && close("image", plane(x, y)) && close("difference", 70.0 / 1024.0), "{off}");
    }
    assert_eq!(found["heights"]["worst"][0], found["heights"]["largest"]);
    assert_eq!(found["heights"]["worst"].as_array().unwrap().len(), 10);

    // the limit: 70 / 1024 m is the most, and reached
    expect(0, &folder, &["diff", "plane.hpan", "ref.csv"]);
    let [out, _] = expect(0, &folder, &["diff", "plane.hpan", "ref.csv", "--tolerance", "0.068359375"]);
    assert!(out.starts_with("alike: no point is farther off than 0.068359375 m\ncompared     3,001 of 3,001 points"));
    let over = dz.iter().filter(|d| d.abs() as f64 / 1024.0 > 0.06).count();
    let [out, _] = expect(1, &folder, &["diff", "plane.hpan", "ref.csv", "--tolerance", "0.06"]);
    assert!(out.starts_with(&format!("different: {over} points farther off than 0.06 m\n")), "{out}");
    let found = json_of(1, &folder, &["diff", "plane.hpan", "ref.csv", "--tolerance", "0.06"]);
    assert_eq!((&found["alike"], &found["heights"]["over"]), (&json!(false), &json!(over)));
    // decimals are taken as they are written: in binary 1.01 is more than 0.01 from 1
    fs::write(folder.join("decimal.csv"), "x,y,z\n-8,0,0.99\n-8,0,1.01\n").unwrap();
    expect(0, &folder, &["diff", "plane.hpan", "decimal.csv", "--tolerance", "0.01"]);
    expect(1, &folder, &["diff", "plane.hpan", "decimal.csv", "--tolerance", "0.009999999"]);
    // ground that is not there is no agreement; what has no place says nothing
    let [out, _] = expect(1, &folder, &["diff", "plane.hpan", "more.csv", "--tolerance", "1"]);
    holds(
        &out,
        &["different: 3 points without ground\n", "; 1 without ground, 2 not in the image, 3 with no number, "],
    );
    holds(&out, &[", the first on line 3003\n"]);
    fs::write(folder.join("nan.csv"), whole + "nan,1,2,0.5\n").unwrap();
    expect(0, &folder, &["diff", "plane.hpan", "nan.csv", "--tolerance", "1"]);
}

#[test]
fn tables_as_others_write_them() {
    let folder = two_parts("tables_as_others_write_them");
    let all = points(500);
    fs::write(folder.join("ref.csv"), table("x,y,z,mu\n", &all)).unwrap();
    let wanted = json_of(0, &folder, &["diff", "plane.hpan", "ref.csv"]);
    let comma = |v: f64| v.to_string().replace('.', ",");
    let lines = all.iter().map(|p| format!("7;{};{};{};{}\n", comma(p[3]), comma(p[2]), comma(p[0]), comma(p[1])));
    let excel = format!("id;MU [-];Z [m];X [m];Y [m]\n{}", lines.collect::<String>());
    fs::write(folder.join("excel.csv"), excel).unwrap();
    assert_eq!(json_of(0, &folder, &["diff", "plane.hpan", "excel.csv"]), wanted);
    let tabs = table("x,y,z,mu\n", &all).replace(',', "\t");
    fs::write(folder.join("tabs.tsv"), tabs).unwrap();
    assert_eq!(json_of(0, &folder, &["diff", "plane.hpan", "tabs.tsv"]), wanted);
    // without a heading, of heights alone
    let bare: String = all.iter().map(|[x, y, z, _]| format!("{x} , {y},{z}\n")).collect();
    fs::write(folder.join("bare.txt"), &bare).unwrap();
    let [out, err] = expect(0, &folder, &["diff", "plane.hpan", "bare.txt", "--json", "--csv", "each.csv"]);
    assert_eq!(err, "note: bare.txt: read as x,y,z: a heading says otherwise\n");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["heights"]["mean"], &found["mu"]), (&wanted["heights"]["mean"], &Value::Null));
    let each = fs::read_to_string(folder.join("each.csv")).unwrap();
    assert!(each.starts_with("line,x,y,z,image_z,difference,status\n1,-39.5,-39,"), "{each}");
    // by a pipe
    let script = "\"$0\" diff plane.hpan - --json < ref.csv";
    let mut command = std::process::Command::new("sh");
    let done = command.args(["-c", script]).arg(&*crate::shell::HARDPAN).current_dir(&folder).output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&done.stdout).unwrap(), wanted);
}

/// Each line of the table is a difference, by arithmetic on what stands in it.
#[test]
fn each_difference_as_csv() {
    let folder = two_parts("each_difference_as_csv");
    let all = points(2500);
    fs::write(folder.join("ref.csv"), table("x,y,z,mu\n", &all) + "5,0,3,0.75\n9e9,0,3,0.75\nNaN,0,3,0.75\n").unwrap();
    expect(0, &folder, &["diff", "plane.hpan", "ref.csv", "--csv", "each.csv"]);
    let text = fs::read_to_string(folder.join("each.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("line,x,y,z,image_z,difference,mu,image_mu,mu_difference,status"));
    for (k, [x, y, z, mu]) in all.iter().enumerate() {
        let fields: Vec<&str> = lines.next().unwrap().split(',').collect();
        assert_eq!((fields.len(), fields[9]), (10, "found"));
        let [dz, dmu] = offsets(k as i64);
        let wanted = [k as f64 + 2.0, *x, *y, *z, plane(*x, *y), dz as f64 / 1024.0, *mu, 0.75, dmu as f64 / 16.0];
        let found: Vec<f64> = fields[..9].iter().map(|f| f.parse().unwrap()).collect();
        assert!(found.iter().zip(wanted).all(|(f, w)| (f - w).abs() < 1e-9), "{found:?}, not {wanted:?}");
    }
    let rest: Vec<&str> = lines.collect();
    let wanted = [
        "2502,5,0,3,,,0.75,,,no ground",
        "2503,9000000000,0,3,,,0.75,,,not in image",
        "2504,NaN,0,3,,,0.75,,,no number",
    ];
    assert_eq!(rest, wanted);
    // a table that is there stays, and so does one that a bad line ends
    let held = error(2, &folder, &["diff", "plane.hpan", "ref.csv", "--csv", "each.csv"]);
    holds(&held, &["each.csv: ", "--force"]);
    fs::write(folder.join("bad.csv"), "x,y,z\n1,2,3\n1,2,three\n").unwrap();
    error(2, &folder, &["diff", "plane.hpan", "bad.csv", "--csv", "each.csv", "--force"]);
    assert_eq!(fs::read_to_string(folder.join("each.csv")).unwrap(), text);
}

/// Vertices of a real mesh lie on its image, but for rounding of heights to its steps; one that was raised is found.
#[test]
fn vertices_of_a_real_mesh() {
    let folder = folder("vertices_of_a_real_mesh");
    let Some(file) = real_file("terrain/recast_undulating.obj") else { return };
    expect(0, &folder, &["build", file.to_str().unwrap(), "--up", "y", "-o", "real.hpan"]);
    let text = fs::read_to_string(&file).unwrap();
    let vertex = |line: &str| {
        let [x, y, z] = <[f64; 3]>::try_from(
            line.strip_prefix("v ")?.split_whitespace().map(|v| v.parse().unwrap()).collect::<Vec<f64>>(),
        )
        .unwrap();
        Some([x, -z, y])
    };
    // those that the lattice has in plan: others, at a border, may be rounded away from it
    let whole = |p: &[f64; 3]| p[0].fract() == 0.0 && p[1].fract() == 0.0;
    let all: Vec<[f64; 3]> = text.lines().filter_map(vertex).filter(whole).collect();
    assert!(all.len() > 1000);
    let table = |raised: usize| {
        let line =
            |(k, [x, y, z]): (usize, &[f64; 3])| format!("{x},{y},{}\n", if k == raised { z + 0.125 } else { *z });
        "x,y,z\n".to_string() + &all.iter().enumerate().map(line).collect::<String>()
    };
    fs::write(folder.join("own.csv"), table(usize::MAX)).unwrap();
    fs::write(folder.join("raised.csv"), table(1234)).unwrap();
    // half a step of height is 0.008 mm
    let found = json_of(0, &folder, &["diff", "real.hpan", "own.csv", "--tolerance", "0.00001"]);
    assert_eq!((&found["compared"], &found["points"]), (&json!(all.len()), &json!(all.len())));
    let largest = found["heights"]["largest"]["difference"].as_f64().unwrap().abs();
    assert!(largest > 0.0 && largest <= 0.5 / 65536.0 + 1e-9, "{largest}");
    let found = json_of(1, &folder, &["diff", "real.hpan", "raised.csv", "--tolerance", "0.01"]);
    let heights = &found["heights"];
    let [x, y, z] = all[1234];
    assert_eq!((&heights["over"], &heights["largest"]["number"]), (&json!(1), &json!(1236)));
    assert_eq!((&heights["largest"]["at"], &heights["largest"]["reference"]), (&json!([x, y]), &json!(z + 0.125)));
    assert!((heights["largest"]["difference"].as_f64().unwrap() + 0.125).abs() < 1e-5, "{heights}");
}

/// The height of the reference says which of several layers is meant.
#[test]
fn the_nearest_layer_answers() {
    let folder = bridge("the_nearest_layer_answers");
    fs::write(folder.join("ref.csv"), "x,y,z\n0,0,5.875\n0,0,0.25\n20,20,0.5\n").unwrap();
    let found = json_of(0, &folder, &["diff", "bridge.hpan", "ref.csv"]);
    let worst = found["heights"]["worst"].as_array().unwrap();
    let told: Vec<[f64; 2]> = worst.iter().map(|w| ["image", "difference"].map(|k| w[k].as_f64().unwrap())).collect();
    assert_eq!(told, [[0.0, -0.5], [0.0, -0.25], [6.0, 0.125]]);
    let [out, _] = expect(0, &folder, &["diff", "bridge.hpan", "ref.csv"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(
        lines,
        [
            "compared     3 of 3 points, the image less the reference",
            "heights      largest -0.5 m at 20,20 (line 4): 0, and 0.5 by the reference",
            "             mean -0.208333 m, of absolute values 0.291667 m, root mean square 0.330719 m",
            "             50 % within 0.25 m, 90 % 0.5 m, 99 % 0.5 m, 99.9 % 0.5 m",
            "          2. -0.25 m at 0,0 (line 3): 0, and 0.25 by the reference",
            "          3. +0.125 m at 0,0 (line 2): 6, and 5.875 by the reference",
        ]
    );
}

/// Dots have the colours of their differences, where their points are; what is worse lies above.
#[test]
fn a_map_of_points() {
    let folder = two_parts("a_map_of_points");
    let point = |x: f64, y: f64, off: f64| format!("{x},{y},{}\n", plane(x, y) - off);
    let text = [
        "x,y,z\n".to_string(),
        point(-30.0, 30.0, 0.5),
        point(-20.0, 20.0, -0.5),
        point(-10.0, 10.0, 0.0),
        point(30.0, -30.0, 0.0),
        point(30.0, -30.0, -0.5),
        point(30.0, -30.0, 0.25),
        "5,5,3\n".into(),
        "1e5,5,3\n".into(),
    ]
    .concat();
    fs::write(folder.join("ref.csv"), text).unwrap();
    let found = json_of(0, &folder, &["diff", "plane.hpan", "ref.csv", "-o", "map.png", "--size", "400"]);
    let picture = &found["picture"];
    let (bytes, width) = pixels(&folder.join("map.png"));
    let number = |v: &Value| v.as_f64().unwrap();
    let at = |x: f64, y: f64| {
        let per = number(&picture["metres_per_pixel"]);
        let [left, top] = [0, 1].map(|i| picture["ground_at"][i].as_u64().unwrap() as usize);
        let [west, north] = [number(&picture["window"][0]), number(&picture["window"][3])];
        bytes[(top + ((north - y) / per) as usize) * width + left + ((x - west) / per) as usize]
    };
    assert_eq!((at(-30.0, 30.0), at(-20.0, 20.0), at(-10.0, 10.0)), ([168, 72, 0], [5, 72, 150], [242; 3]));
    assert_eq!((at(30.0, -30.0), at(5.0, 5.0)), ([5, 72, 150], [44, 40, 48]));
    // ground without points is grey, and of one slope alike
    assert!(at(-35.0, 0.0) == at(20.0, 0.0) && at(20.0, 0.0) != [242; 3], "{:?}", at(20.0, 0.0));
    let [out, _] = expect(0, &folder, &["diff", "plane.hpan", "ref.csv", "-o", "map.png", "--size", "400"]);
    holds(
        &out,
        &["\nmap.png: 400 x 400 pixels, 20 cm each; ", "the image less the reference: -50 cm to +50 cm here\n"],
    );
    // ends of the scale that are typed: half of what they are is weaker
    let typed = ["diff", "plane.hpan", "ref.csv", "--png", "map.png", "--size", "400", "--range", "-2,2"];
    expect(0, &folder, &typed);
    let (other, _) = pixels(&folder.join("map.png"));
    assert!(!other.contains(&[5, 72, 150]) || other.iter().filter(|p| **p == [5, 72, 150]).count() < 30);
    holds(&error(2, &folder, &["diff", "plane.hpan", "ref.csv", "-o", "map.jpg"]), &["maps are PNG"]);
    let beside = ["diff", "plane.hpan", "ref.csv", "-o", "map.png", "--window", "900,900,950,950"];
    holds(&error(2, &folder, &beside), &["--window shows none of the ground"]);
}

#[test]
fn references_that_cannot_be_read() {
    let folder = two_parts("references_that_cannot_be_read");
    for (text, why) in [
        ("", "ref.csv: no points; a line is x,y,z or x,y,z,mu"),
        ("x,y,z\n", "ref.csv: no points; "),
        ("x,y\n1,2\n", "line 1: the heading x,y has no z; a line is x,y,z or x,y,z,mu"),
        ("a,b\n1,2\n", "line 1: the heading a,b has no x and no y and no z; "),
        ("x,y,z,z\n1,2,3,4\n", "line 1: two columns are z"),
        ("x,y,z [ft]\n1,2,3\n", "line 1: z is in ft; convert it, "),
        ("x,y,z\n1,2,3\n4,five,6\n", "line 3: \"five\" is not a number (field 2)"),
        ("x,y,z,mu\n1,2,3,0.5\n\n4,5,6,dry\n", "line 4: \"dry\" is not a number (field 4)"),
        ("x,y,z\n1,2\n", "line 2: no z; "),
        ("1,2\n", "line 1: no z; a line is x,y,z or x,y,z,mu"),
        ("1,2,3\n1,2,3,0.5\n", "line 2: 4 fields, and 3 columns; a line is x,y,z or x,y,z,mu"),
        ("1,2,3,4,5\n", "line 1: 5 fields, and 4 columns; a line is x,y,z or x,y,z,mu"),
    ] {
        fs::write(folder.join("ref.csv"), text).unwrap();
        let [out, err] = expect(2, &folder, &["diff", "plane.hpan", "ref.csv"]);
        let said = err.lines().last().unwrap_or_default();
        assert!(out.is_empty() && said.starts_with("error: ref.csv: ") && said.contains(why), "{text:?}: {err}");
    }
    fs::write(folder.join("ref.csv"), "x,y,z\n-9,0,0.75\n").unwrap();
    holds(&error(2, &folder, &["diff", "plane.hpan", "none.csv"]), &["none.csv: there is no such file"]);
    holds(&error(2, &folder, &["diff", "ref.csv", "plane.hpan"]), &["ref.csv: a reference comes second: "]);
    holds(&error(2, &folder, &["diff", "plane.hpan", "ref.csv", "--grid", "1"]), &["--grid is for two images"]);
    holds(&error(2, &folder, &["diff", "plane.hpan", "plane.hpan", "--csv", "a.csv"]), &["--csv lists the points"]);
    holds(&error(2, &folder, &["diff", "plane.hpan", "ref.csv", "--csv", "ref.csv", "--force"]), &["ref.csv: "]);
    for tolerance in ["-1", "nan", "x"] {
        expect(2, &folder, &["diff", "plane.hpan", "ref.csv", "--tolerance", tolerance]);
    }
    // a damaged image, and none
    let mut image = fs::read(folder.join("plane.hpan")).unwrap();
    let last = image.len() - 200;
    image[last] ^= 1;
    fs::write(folder.join("broken.hpan"), image).unwrap();
    let said = error(2, &folder, &["diff", "broken.hpan", "ref.csv", "--csv", "each.csv"]);
    assert!(said.starts_with("error: broken.hpan: ") && !folder.join("each.csv").exists(), "{said}");
    holds(&error(2, &folder, &["diff", "plane.obj", "ref.csv"]), &["plane.obj: this is not a terrain image"]);
    // nothing to compare is no agreement, and what is not in the image is reported
    fs::write(folder.join("ref.csv"), "x,y,z\nNaN,0,1\n").unwrap();
    let found = json_of(1, &folder, &["diff", "plane.hpan", "ref.csv"]);
    assert_eq!((&found["compared"], &found["heights"], &found["no_number"]), (&json!(0), &Value::Null, &json!(1)));
    let feet: String = (0..20).map(|k| format!("{},{},3\n", 1000 + 50 * k, 2000)).collect();
    fs::write(folder.join("ref.csv"), format!("x,y,z\n{feet}")).unwrap();
    let [out, err] = expect(1, &folder, &["diff", "plane.hpan", "ref.csv", "--tolerance", "1"]);
    holds(&out, &["different: 20 points without ground; nothing could be compared\n", "compared     0 of 20 points"]);
    holds(&err, &["note: ref.csv: most points are not in the image; its ground has x "]);
}

/// Very many points take little time.
#[test]
fn many_points() {
    let folder = two_parts("many_points");
    let count = 300_000;
    let line = |k: u64| {
        let (x, y) = (-39.0 + (k % 600) as f64 / 16.0, -39.0 + (k / 600) as f64 / 16.0);
        format!("{x},{y},{}\n", plane(x, y) - (k % 4) as f64 / 8.0)
    };
    fs::write(folder.join("ref.csv"), "x,y,z\n".to_string() + &(0..count).map(line).collect::<String>()).unwrap();
    let [out, _] = soon(20, 0, &folder, &["diff", "plane.hpan", "ref.csv", "--json"]);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["compared"], count);
    same(&found["heights"], &json!([0.1875, 0.1875, 0.0546875f64.sqrt(), 0.125, 0.375, 0.375, 0.375]));
}
