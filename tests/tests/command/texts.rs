//! Messages of the command where people misunderstood it or it was silent.

use crate::shell::{BRIDGE, OF_SOURCES, SETTINGS, bridge, but_friction, error, expect, folder, found, holds, report};
use hardpan_builder::query::column::COLUMNS;
use serde_json::{Value, json};
use std::{fs, path::Path};
use verification::obj::real_file;

/// A bumpy square of `n` x `n` cells of `side` m from a corner on, as an OBJ.
fn hills(n: usize, side: f64, [x, y, z]: [f64; 3]) -> String {
    let all = (0..=n).flat_map(|j| (0..=n).map(move |i| (i, j)));
    let height = |i: usize, j: usize| z + ((i * 7 + j * 13) % 29) as f64 * 0.031;
    let vertex = |(i, j)| format!("v {} {} {}\n", x + i as f64 * side, y + j as f64 * side, height(i, j));
    let mut text: String = all.map(vertex).collect();
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let a = j * (n + 1) + i + 1;
        text += &format!("f {a} {} {} {}\n", a + 1, a + n + 2, a + n + 1);
    }
    text
}

/// As a program of single precision reads the vertices of a file and writes them again, the first so much higher.
fn through_f32(file: &Path, raised: f32) {
    let text = fs::read_to_string(file).unwrap();
    let mut first = raised;
    let mut line = |line: &str| match line.strip_prefix("v ") {
        Some(numbers) => {
            let [x, y, z] =
                <[f32; 3]>::try_from(numbers.split(' ').map(|v| v.parse().unwrap()).collect::<Vec<f32>>()).unwrap();
            format!("v {x} {y} {}\n", z + std::mem::take(&mut first))
        }
        None => format!("{line}\n"),
    };
    let text: String = text.lines().map(&mut line).collect();
    fs::write(file, text).unwrap();
}

/// At 300 m single precision has steps of two of the lattice's: about a local zero nothing is lost, else a tolerance
/// passes over it.
#[test]
fn mending_in_single_precision_is_told_from_rounding() {
    let folder = folder("mending_in_single_precision");
    fs::write(folder.join("h.obj"), hills(40, 1.3, [3.0, -7.0, 300.0])).unwrap();
    expect(0, &folder, &["build", "h.obj"]);
    let mesh = folder.join("h-ground.obj");
    let built = |more: &[&str], raised| {
        let [out, err] = expect(0, &folder, &[&["export", "obj", "h.hpan", "--force"], more].concat());
        through_f32(&mesh, raised);
        expect(0, &folder, &["build", "--settings", "h-ground.toml", "--stitch", "false"]);
        [out, err]
    };
    let diff = ["diff", "h.hpan", "h-ground.hpan"];
    let [out, err] = built(&["--local"], 0.0);
    holds(&out, &["its zero is at 29, 19, 300 m; these settings move it back, or: --translate 29,19,300\n"]);
    assert_eq!(err, "");
    holds(&expect(0, &folder, &diff)[0], &["equal: "]);
    // from the frame's zero
    let [_, err] = built(&[], 0.0);
    holds(&err, &["moves vertices by up to 0.0153 mm; --local writes them about the middle of the ground"]);
    let [out, _] = expect(1, &folder, &diff);
    assert!(out.starts_with("different\n"), "{out}");
    let tolerant = [&diff[..], &["--tolerance", "0.0001"]].concat();
    holds(&expect(0, &folder, &tolerant)[0], &["alike"]);
    // what was mended does not drown
    for local in [&[][..], &["--local"]] {
        built(local, 0.25);
        let [out, _] = expect(1, &folder, &[&tolerant[..], &["--json"]].concat());
        let ground = &serde_json::from_str::<Value>(&out).unwrap()["ground"];
        let rise = ["to", "from"].map(|key| ground["largest"][key].as_f64().unwrap());
        assert!(
            (rise[0] - rise[1] - 0.25).abs() < 1e-4 && ground["changed"]["area"].as_f64().unwrap() < 2.0,
            "{ground}"
        );
    }
}

/// Settings that state all friction.
const MU: &str = "[[material]]\nname = \"\"\nmu = 0.5\n";

/// Findings of a source, as severity and kind.
fn pairs(found: &[[&str; 2]]) -> Vec<[String; 2]> {
    found.iter().map(|pair| pair.map(String::from)).collect()
}

/// Longitude, latitude and metres: all of it is cliffs, whichever axis is up.
#[test]
fn degrees_are_told_from_ground_on_its_side() {
    let folder = folder("degrees");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    for ([x, y], code) in [([-122.1, 42.9], "EPSG:32610"), ([151.2, -33.9], "EPSG:32756")] {
        let upright = hills(30, 1.0 / 3600.0, [x, y, 1500.0]);
        write("d.obj", &upright);
        assert_eq!(found(&folder, &["d.obj"]), (2, pairs(&[["error", "degrees"]])));
        let (end, said) = report(&folder, &["d.obj", "--up", "z"]);
        let degrees = &said["findings"][0];
        assert_eq!(
            (end, degrees["severity"].as_str(), degrees["code"].as_str()),
            (0, Some("warning"), Some("degrees"))
        );
        let places = degrees["values"].as_array().unwrap().iter().map(|v| v["value"].as_f64().unwrap());
        assert_eq!(places.collect::<Vec<_>>(), [x, y]);
        holds(degrees["hint"]["mend"].as_str().unwrap(), &[code]);
        // whoever states a unit is believed, and whoever allows it
        assert_eq!(found(&folder, &["d.obj", "--up", "z", "--unit", "m"]), (0, vec![]));
        assert_eq!(found(&folder, &["d.obj", "--allow", "degrees"]), (0, vec![]));
        for (up, y) in [("y", true), ("x", false)] {
            let turned = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
                ["v", x, y, z] => format!("v {x} {z} {}\n", -y.parse::<f64>().unwrap()),
                _ => format!("{line}\n"),
            };
            write("u.obj", &if y { upright.lines().map(turned).collect() } else { turned_up(&upright, up) });
            let (end, said) = report(&folder, &["u.obj", "--up", up]);
            holds(said["findings"][0]["hint"]["mend"].as_str().unwrap(), &[code]);
            assert_eq!((end, said["findings"].as_array().unwrap().len()), (0, 1));
        }
    }
    // on its side its triangles are needles: the error comes after what looks wrong
    let higher = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {y} {}\n", 900.0 * z.parse::<f64>().unwrap()),
        _ => format!("{line}\n"),
    };
    write("n.obj", &hills(300, 1.0 / 3600.0, [11.0, 48.0, 1.0]).lines().map(higher).collect::<String>());
    let [_, err] = expect(0, &folder, &["materials", "n.obj"]);
    holds(&err, &["warning: a build will stop at this: n.obj: x and y look like degrees, 11 and 48, "]);
    // the same in metres, as small, and standing on its side
    let none = |text: &str, typed: &[&str]| {
        write("m.obj", text);
        let (_, found) = found(&folder, &[&["m.obj"], typed].concat());
        assert!(found.iter().all(|[_, code]| code != "degrees"), "{found:?}");
    };
    let metres = hills(30, 1.0, [-122.1, 42.9, 1500.0]);
    none(&metres, &[]);
    none(&metres, &["--up", "y"]);
    none(&hills(30, 0.02, [-122.1, 42.9, 0.0]), &["--up", "z"]);
    // a path of a few staggered places along x or y, and a post on a slab
    for (n, [i, j]) in [(14, [0, 1]), (14, [1, 0]), (60, [0, 1]), (60, [1, 0])] {
        let place = |k: u32| {
            let along = [f64::from(k) * 71.5, 0.3 * f64::from(k % 2) + 0.6 * f64::from(k % 3)];
            format!("v {} {} {}\n", along[i], along[j], 10.0 + 0.3 * f64::from(k * 7 % 5))
        };
        let faces = (1..=n).map(|k| format!("f {k} {} {}\n", k + 1, k + 2));
        none(&(0..n + 2).map(place).chain(faces).collect::<String>(), &[]);
    }
    let ring = |z: f64, r: f64| {
        (0..6).map(move |k| {
            let (sin, cos) = f64::from(k).sin_cos();
            format!("v {} {} {z}\n", 10.0 + r * cos, 20.0 + r * sin)
        })
    };
    let sides = (1..=6).map(|k| format!("f {k} {} {} {}\n", k % 6 + 1, k % 6 + 7, k + 6));
    let slab = "v 9 19 0\nv 11 19 0\nv 11 21 0\nv 9 21 0\nf -4 -3 -2 -1\n".into();
    none(&ring(0.0, 0.1).chain(ring(8.0, 0.05)).chain(sides).chain([slab]).collect::<String>(), &["--up", "z"]);
    let fence: String = (0..40).map(|i| format!("v {i} 0 0\nv {i} 0.001 30\nv {i}.01 0 0\nf -3 -2 -1\n")).collect();
    none(&(fence + "v 0 0 0\nv 40 0 0\nv 40 40 0\nf -3 -2 -1\n"), &["--up", "z"]);
}

/// A bumpy square of which three vertices have a height of their own.
fn with_voids(side: f64, height: &str) -> String {
    let vertex = |(i, line): (usize, &str)| match (i, line.rsplit_once(' ')) {
        (40 | 41 | 500, Some((place, _))) => format!("{place} {height}\n"),
        _ => format!("{line}\n"),
    };
    hills(30, side, [10.0, 20.0, 100.0]).lines().enumerate().map(vertex).collect()
}

/// Values for missing heights are reported with number and place, and do not hide how the rest lies.
#[test]
fn heights_that_stand_for_no_data_are_told() {
    let folder = folder("no_data");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let told = |text: &str, typed: &[&str]| {
        write("n.obj", text);
        let (_, report) = report(&folder, &[&["n.obj", "--drop-outliers"], typed].concat());
        let found = report["findings"].as_array().unwrap().iter();
        let found: Vec<&Value> = found.filter(|f| OF_SOURCES.iter().any(|code| f["code"] == *code)).collect();
        assert!(found.iter().all(|f| f["code"] == "no-data"), "{found:?}");
        found.first().copied().cloned()
    };
    for (height, said) in [
        ("-999", "-999"),
        ("-9999", "-9999"),
        ("9999", "9999"),
        ("-32768.0", "-32768"),
        ("-32767", "-32767"),
        ("32767", "32767"),
        ("65535", "65535"),
        ("1e20", "1e20"),
        ("1.70141e38", "1.70141e38"),
        ("-3.4028231e+38", "-3.402823e38"),
        ("-3.4028234663852886e+38", "-3.4028235e38"),
        ("-1.7976931348623157e308", "-1.7976931348623157e308"),
    ] {
        let told = told(&with_voids(2.0, height), &[]).unwrap();
        holds(told["text"].as_str().unwrap(), &[&format!("have the height {said}, far"), "the first is at x 18, y 52"]);
        let value = |name: &str| {
            told["values"].as_array().unwrap().iter().find(|v| v["name"] == name).unwrap()["value"].clone()
        };
        assert_eq!((value("vertices"), told["severity"].as_str()), (json!(3.0), Some("warning")));
        let first: f64 = height.parse().unwrap();
        assert!((value("height").as_f64().unwrap() - first).abs() <= 1e-6 * first.abs(), "{told}");
    }
    // a step in a model in millimetres; numbers nobody knows; one that is not far from others
    assert_eq!(told(&with_voids(2.0, "-999"), &["--unit", "mm", "--up", "z"]), None);
    for height in ["-9998", "-9999.5", "-304.5", "-3047.6952", "0", "101"] {
        assert_eq!(told(&with_voids(2.0, height), &["--up", "z"]), None, "{height}");
    }
    let deep = with_voids(2.0, "-9999") + "v 0 0 -9000\nv 1 0 -9000\nv 0 1 -9000\nf -3 -2 -1\n";
    assert_eq!(told(&deep, &["--up", "z"]), None);
    // what is right is allowed: typed, in the settings, or in the entry of the file
    write("n.obj", &with_voids(2.0, "-9999"));
    let stated = "[[source]]\nfile = \"n.obj\"\nup = \"z\"\nunit = \"m\"\n";
    for (settings, typed, left) in [
        (format!("{stated}{MU}"), &[][..], 1),
        (format!("{stated}{MU}"), &["--allow", "unit,no-data"], 0),
        (format!("allow = [\"no-data\"]\n{stated}{MU}"), &[], 0),
        (format!("{stated}allow = [\"no-data\"]\n{MU}"), &[], 0),
        (format!("{stated}allow = [\"orientation\"]\n{MU}"), &[], 1),
    ] {
        write("s.toml", &settings);
        let line = [&["--settings", "s.toml", "--strict"], typed].concat();
        let (end, found) = found(&folder, &line);
        assert_eq!((end, found.len()), (i32::from(left > 0), left), "{settings} {typed:?}");
    }
    let known = ["orientation", "no-data", "buried-road"];
    holds(&expect(2, &folder, &["build", "n.obj", "--allow", "nodata"])[1], &known);
    write("s.toml", &format!("allow = [\"nodata\"]\n{MU}"));
    holds(&error(2, &folder, &["build", "n.obj", "--settings", "s.toml"]), &[&known[..], &["line 1"]].concat());
}

/// The numbers of an OBJ's vertices in another order, so that another axis points up.
fn turned_up(text: &str, up: &str) -> String {
    let turned = |line: &str| match (up, &line.split(' ').collect::<Vec<_>>()[..]) {
        ("x", ["v", x, y, z]) => format!("v {z} {x} {y}\n"),
        ("y", ["v", x, y, z]) => format!("v {y} {z} {x}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(turned).collect()
}

/// Neither no data nor how a file lies hides the other, nor its unit.
#[test]
fn no_data_is_told_of_what_lies_on_its_side() {
    let folder = folder("no_data_on_its_side");
    let found = |up: &str, text: &str| {
        fs::write(folder.join("n.obj"), turned_up(text, up)).unwrap();
        found(&folder, &["n.obj", "--drop-outliers"])
    };
    let both = pairs(&[["warning", "no-data"], ["error", "orientation"]]);
    for height in ["-9999", "-32768", "-99999", "-1e38"] {
        for up in ["x", "y"] {
            assert_eq!(found(up, &with_voids(2.0, height)), (2, both.clone()), "{height} {up}");
        }
        assert_eq!(found("z", &with_voids(2.0, height)), (0, both[..1].to_vec()), "{height}");
    }
    let large = pairs(&[["warning", "unit"]]);
    assert_eq!(found("y", &with_voids(500.0, "-9999")), (2, [both, large.clone()].concat()));
    // a floor that reaches far is no height, whichever axis is up
    let floor = "v -9999 -9999 0\nv 9999 -9999 0\nv 9999 9999 0\nv -9999 9999 0\nf -4 -3 -2 -1\n";
    assert_eq!(found("z", &(hills(30, 2.0, [10.0, 20.0, 0.0]) + floor)), (0, large));
}

/// `materials` doubts a file as a build does.
#[test]
fn doubts_are_told_before_a_build() {
    let folder = folder("doubts_before_a_build");
    let single = |v: &str| f64::from(v.parse::<f32>().unwrap());
    let rounded = hills(30, 2.3, [4_000_000.0, 500_000.0, 0.0]);
    let rounded = rounded.lines().map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {} {} {}\n", single(x), single(y), single(z)),
        _ => format!("{line}\n"),
    });
    for (text, doubt) in [
        (hills(30, 2.0, [10.0, 20.0, 100.0]).replacen(" 100\n", " -9999\n", 1), " [no-data]\n"),
        (hills(30, 1.0 / 3600.0, [-122.1, 42.9, 1500.0]), " [degrees]\n"),
        ("v 0 0 0\nv 0.03 0 0\nv 0 0.03 0\nf 1 2 3\n".into(), "; it may need --unit [unit]\n"),
        (rounded.collect(), " [precision]\n"),
    ] {
        fs::write(folder.join("d.obj"), text).unwrap();
        let [_, built] = expect(0, &folder, &["build", "d.obj", "--up", "z", "--drop-outliers"]);
        let [_, told] = expect(0, &folder, &["materials", "d.obj", "--up", "z"]);
        holds(&told, &["warning: d.obj: ", doubt]);
        assert_eq!(told, but_friction(&built));
    }
}

/// A little that lies outside is left out with a warning; who says so has it so.
#[test]
fn outliers_that_are_left_out_may_be_meant() {
    let folder = folder("outliers_that_may_be_meant");
    let ground = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nf 1 2 3 4\n";
    fs::write(folder.join("a.obj"), format!("{ground}v 2e6 0 0\nv 2000001 0 0\nv 2e6 1 0\nf 5 6 7\n")).unwrap();
    fs::write(folder.join("mu.toml"), MU).unwrap();
    let strict = ["build", "a.obj", "--settings", "mu.toml", "--strict"];
    let [_, err] = expect(1, &folder, &strict);
    holds(&err, &["warning: a.obj: outside the domain, left out: "]);
    let [_, err] = expect(0, &folder, &[&strict[..], &["--drop-outliers"]].concat());
    holds(&err, &["note: a.obj: outside the domain, left out: ", "; put it nearer if it belongs to the ground"]);
    assert!(!err.contains("drop"), "{err}");
    fs::write(folder.join("mu.toml"), format!("[build]\noutliers = \"drop\"\n{MU}")).unwrap();
    expect(0, &folder, &strict);
}

/// A file in millimetres is reported beside one in metres. Who states a unit is believed.
#[test]
fn each_file_is_asked_for_its_unit() {
    let folder = folder("each_file_is_asked_for_its_unit");
    for (name, side) in [("small.obj", 0.04), ("plain.obj", 40.0), ("vast.obj", 4e4)] {
        let text = format!("v 0 0 0\nv {side} 0 0\nv {side} {side} 0\nv 0 {side} 0\nf 1 2 3 4\n");
        fs::write(folder.join(name), text).unwrap();
    }
    let said = |typed: &[&str]| {
        let (end, report) = report(&folder, typed);
        let of = |f: &Value| (f["code"] == "unit").then(|| f["subject"].as_str().unwrap().to_string());
        let files: Vec<String> = report["findings"].as_array().unwrap().iter().filter_map(of).collect();
        assert_eq!(end, 0);
        files.join(" ")
    };
    for (files, told) in [
        (&["plain.obj"][..], ""),
        (&["small.obj"], "small.obj"),
        (&["small.obj", "plain.obj", "vast.obj"], "small.obj vast.obj"),
    ] {
        assert_eq!(said(files), told);
        assert_eq!(said(&[files, &["--unit", "m"]].concat()), "");
        assert_eq!(said(&[files, &["--allow", "unit"]].concat()), "");
    }
    let [_, err] = expect(0, &folder, &["build", "small.obj", "plain.obj", "-o", "u.hpan"]);
    holds(&err, &[&format!("; it may need unit in its [[source]] of {SETTINGS} [unit]\n")]);
    let each = |name: &str, unit: &str| format!("[[source]]\nfile = \"{name}.obj\"\n{unit}");
    for (unit, told) in [("", "small.obj vast.obj"), ("unit = \"m\"\n", "vast.obj")] {
        let sources = each("small", unit) + &each("vast", "");
        fs::write(folder.join("by.toml"), format!("{sources}{MU}")).unwrap();
        assert_eq!(said(&["--settings", "by.toml"]), told);
    }
}

/// Real meshes in metres are neither degrees nor without data.
#[test]
fn real_meshes_are_not_doubted_so() {
    for name in ["city/zdm2.obj", "terrain/recast_undulating.obj", "terrain/chrono_bump_YUP.obj"] {
        let Some(file) = real_file(name) else { continue };
        let folder = folder("real_meshes_are_not_doubted");
        let [_, err] = expect(0, &folder, &["build", file.to_str().unwrap(), "--up", "z", "-o", "r.hpan"]);
        assert!(!err.contains("look like degrees") && !err.contains("no data"), "{name}: {err}");
    }
}

#[test]
fn an_image_is_not_called_as_a_picture_is() {
    let folder = bridge("an_image_is_not_called_as_a_picture");
    for name in ["out.png", "out.JPG", "out.csv", "out.zip", "out.blend", "out.tif", "out.obj"] {
        let why = error(2, &folder, &["build", "bridge.obj", "-o", name]);
        holds(&why, &[&format!("{name}: other files are called so; name it FILE.hpan, or add --force")]);
        assert!(!folder.join(name).exists());
    }
    expect(0, &folder, &["build", "bridge.obj", "-o", "out.png", "--force"]);
    expect(0, &folder, &["build", "bridge.obj", "-o", "out.bin"]);
}

#[test]
fn hints_lead_to_what_was_meant() {
    let folder = bridge("hints_lead_to_what_was_meant");
    expect(0, &folder, &["export", "png", "bridge.hpan", "--map", "holes"]);
    let why = error(2, &folder, &["export", "png", "bridge"]);
    holds(&why, &["bridge: there is no such file or folder; check the spelling (did you mean \"bridge.hpan\"?)\n"]);
    fs::write(folder.join("road.obj"), BRIDGE.replace("Asphalt", "Road")).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Raod\"\n").unwrap();
    let why = error(2, &folder, &["build", "road.obj", "--settings", "s.toml"]);
    holds(&why, &["(did you mean \"Road\"?)"]);
    fs::write(folder.join("trail.vprp"), "QS VANE REPLAY FILE\n").unwrap();
    let why = error(3, &folder, &["build", "trail.vprp"]);
    holds(&why, &["vprp files are not read; ", "hardpan query IMAGE.hpan --along FILE.csv"]);
}

/// A picture of equal images shows the ground.
#[test]
fn equal_images_are_drawn() {
    let folder = folder("equal_images_are_drawn");
    fs::write(folder.join("h.obj"), hills(40, 1.0, [0.0; 3])).unwrap();
    expect(0, &folder, &["build", "h.obj"]);
    let equal = ["diff", "h.hpan", "h.hpan", "--png", "same.png", "--size", "100"];
    let [out, err] = expect(0, &folder, &equal);
    holds(&out, &["equal: ", "same.png: 100 x 100 pixels"]);
    assert!(err.is_empty() && !out.contains("no place has ground"), "{out}{err}");
    let facts: Value = serde_json::from_str(&expect(0, &folder, &[&equal[..], &["--json"]].concat())[0]).unwrap();
    assert_eq!(facts["ground"], Value::Null);
    let at = facts["picture"]["ground_at"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize);
    let [x, y]: [usize; 2] = at.collect::<Vec<_>>().try_into().unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(fs::File::open(folder.join("same.png")).unwrap()))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let bytes = info.color_type.samples();
    let grey = |x: usize, y: usize| {
        let at = y * info.line_size + x * bytes;
        let [r, g, b] = [0, 1, 2].map(|i| pixels[at + i]);
        r == g && g == b && r > 60
    };
    assert!((0..100).all(|i| grey(x + i, y + 50) && grey(x + 50, y + i)));
}

/// The same triangles twice with two frictions: which stays goes by the name, so it is said; a priority says what is
/// meant.
#[test]
fn coincident_triangles_of_two_frictions_are_told() {
    let folder = folder("coincident_triangles_of_two_frictions_are_told");
    let faces = "f 1 2 3\nf 1 3 4\n";
    let obj = format!("v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nusemtl Sand\n{faces}usemtl Ice\n{faces}");
    fs::write(folder.join("m.obj"), obj).unwrap();
    let settings = |sand: &str, ice: &str| {
        let text = format!(
            "[[source]]\nfile = \"m.obj\"\nup = \"z\"\nunit = \"m\"\n[[material]]\nname = \"Sand\"\n{sand}\n[[material]]\nname = \"Ice\"\n{ice}\n"
        );
        fs::write(folder.join("s.toml"), text).unwrap();
    };
    let line = ["build", "--settings", "s.toml", "-o", "m.hpan", "--force"];
    settings("mu = 0.6", "mu = 0.1");
    let [_, err] = expect(0, &folder, &line);
    let told = "2 triangles lie exactly on others of another friction, as \"Sand\" on \"Ice\", and \"Ice\" answers";
    assert!(err.contains(told), "{err}");
    expect(1, &folder, &[&line[..], &["--strict"]].concat());
    for (sand, ice) in
        [("mu = 0.6\npriority = 1", "mu = 0.1"), ("mu = 0.6", "mu = 0.1\npriority = 1"), ("mu = 0.6", "mu = 0.6")]
    {
        settings(sand, ice);
        let [_, err] = expect(0, &folder, &[&line[..], &["--strict"]].concat());
        assert!(!err.contains("lie exactly"), "{err}");
    }
}

/// The table of answer columns: the page has a row with each, and CSV has them in its order.
#[test]
fn answer_columns_stand_on_the_page() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../builder/docs/query-and-csv.md")).unwrap();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let names: Vec<String> = COLUMNS.iter().flat_map(|column| column.names()).collect();
    for name in &names {
        assert!(rows.iter().any(|row| row.split('|').nth(1).unwrap().contains(&format!("`{name}`"))), "{name}");
    }
    let here = bridge("answer_columns");
    expect(0, &here, &["query", "bridge.hpan", "0,0", "-o", "a.csv"]);
    let text = fs::read_to_string(here.join("a.csv")).unwrap();
    assert!(text.starts_with(&format!("x,y,{},asked_z,length\n", names.join(","))), "{text}");
}
