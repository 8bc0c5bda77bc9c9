//! What the command says, where it was misunderstood or silent.

use crate::shell::{BRIDGE, SETTINGS, bridge, but_friction, error, expect, folder, holds};
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

/// At 300 m single precision has steps of two of the lattice's: about a local zero nothing is lost, else `diff` knows it.
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
    let said = "as a program of single precision may round them (--tolerance 0.0001 passes over that)";
    holds(&out, &["different: heights other by up to 0.000015 m on ", &format!("{said}\n")]);
    let tolerant = [&diff[..], &["--tolerance", "0.0001"]].concat();
    holds(&expect(0, &folder, &tolerant)[0], &["alike"]);
    // what was mended does not drown
    built(&[], 0.25);
    holds(&expect(1, &folder, &diff)[0], &[&format!("{said}; also: raised by up to 0.25")]);
    let facts: Value = serde_json::from_str(&expect(1, &folder, &[&diff[..], &["--json"]].concat())[0]).unwrap();
    assert_eq!(facts["ground"]["rounded"]["tolerance"], json!(0.0001));
    let [out, _] = expect(1, &folder, &tolerant);
    assert!(out.starts_with("different\n"), "{out}");
    built(&["--local"], 0.25);
    let [out, _] = expect(1, &folder, &diff);
    assert!(out.starts_with("different\n"), "{out}");
    // a shift by a millimetre on gentle ground is none
    let post = |i: u32| format!("v {} {} {}\n", i % 40, i / 40, f64::from(i % 40) * 0.015 + f64::from(i / 40) * 0.01);
    let face = |i: u32| format!("f {0} {1} {2}\nf {1} {3} {2}\n", i + 1, i + 2, i + 41, i + 42);
    let gentle = (0..1600).map(post).chain((0..1560).filter(|i| i % 40 < 39).map(face)).collect::<String>();
    fs::write(folder.join("g.obj"), gentle).unwrap();
    expect(0, &folder, &["build", "g.obj"]);
    expect(0, &folder, &["build", "g.obj", "--translate", "0.001,0,0", "-o", "moved.hpan"]);
    let [out, _] = expect(1, &folder, &["diff", "g.hpan", "moved.hpan"]);
    assert!(out.starts_with("different") && !out.contains("single precision"), "{out}");
}

/// A slip of units is named near the zero and at map coordinates.
#[test]
fn diff_names_the_units_of_a_slip() {
    let folder = folder("diff_names_units");
    let names = "US survey feet?";
    for (zero, z, side) in [([0.0, 0.0], 3.0, 32.0), ([500_000.0, 4_649_000.0], 30.0, 8.0)] {
        fs::write(folder.join("h.obj"), hills(30, side, [zero[0], zero[1], z])).unwrap();
        for unit in ["m", "ft", "us-ft", "km"] {
            expect(0, &folder, &["build", "h.obj", "--unit", unit, "-o", &format!("{unit}.hpan")]);
        }
        let first = |a: &str, b: &str| {
            let [out, _] = expect(1, &folder, &["diff", a, b]);
            out.lines().next().unwrap().to_string()
        };
        holds(&first("m.hpan", "us-ft.hpan"), &["times as large, a slip between metres and ", names]);
        holds(&first("us-ft.hpan", "m.hpan"), &["times as large, a slip between metres and ", names]);
        holds(&first("m.hpan", "ft.hpan"), &["0.3048 times as large, a slip between metres and feet?"]);
        holds(&first("m.hpan", "km.hpan"), &["1000 times as large, a slip between kilometres and metres, or "]);
        if zero[0] > 0.0 {
            holds(&first("ft.hpan", "us-ft.hpan"), &["times as large, a slip between feet and ", names]);
        }
    }
}

/// Settings that state all friction.
const MU: &str = "[[material]]\nname = \"\"\nmu = 0.5\n";

/// What a strict build by settings of these sources says.
fn built_by(folder: &Path, sources: &str, code: i32) -> [String; 2] {
    fs::write(folder.join("by.toml"), format!("{sources}{MU}")).unwrap();
    expect(code, folder, &["build", "--settings", "by.toml", "--strict"])
}

/// Of places rounded to half a metre, a tenth apart, most triangles have no area: what is left stands on edge, and says nothing of how they lie.
#[test]
fn rounding_that_took_most_triangles_is_no_question_of_the_axis() {
    let folder = folder("rounding_that_took_most_triangles_is_no_question_of_the_axis");
    let rounded = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => {
            let [x, y] = [x, y].map(|v| v.parse::<f32>().unwrap());
            format!("v {x} {y} {}\n", 1.0 + (20.0 * z.parse::<f64>().unwrap()).round())
        }
        _ => format!("{line}\n"),
    };
    let text: String = hills(60, 0.1, [559_705.0, 4_380_480.0, 0.0]).lines().map(rounded).collect();
    fs::write(folder.join("single.obj"), text).unwrap();
    let [_, err] = expect(0, &folder, &["build", "single.obj"]);
    holds(
        &err,
        &["warning: single.obj: all its numbers are of single precision, ", " triangles have no plan area by that"],
    );
    assert!(!err.contains("on its side"), "{err}");
}

/// Longitude, latitude and metres: all of it is cliffs, whichever axis is up.
#[test]
fn degrees_are_told_from_ground_on_its_side() {
    let folder = folder("degrees");
    fs::write(folder.join("mu.toml"), MU).unwrap();
    fs::write(folder.join("flat.obj"), "v 0 0 0\nv 9 0 0\nv 9 9 0\nf 1 2 3\n").unwrap();
    let zones = [([-122.1, 42.9], "EPSG:32610"), ([151.2, -33.9], "EPSG:32756")];
    for ([x, y], code) in zones {
        fs::write(folder.join("d.obj"), hills(30, 1.0 / 3600.0, [x, y, 1500.0])).unwrap();
        let said = ["d.obj: x and y look like degrees, ", &format!("gdalwarp -t_srs {code} HEIGHTS.tif METRES.tif")];
        let why = error(2, &folder, &["build", "d.obj"]);
        holds(&why, &said);
        assert!(!why.contains("--up y"), "{why}");
        let [out, err] = expect(0, &folder, &["build", "d.obj", "--up", "z"]);
        holds(&err, &[&format!("warning: {}", said[0]), said[1]]);
        assert!(!err.contains("on its side") && !out.contains("on its side") && !err.contains("check --unit"), "{err}");
        let strict = ["build", "d.obj", "--up", "z", "--settings", "mu.toml", "--strict"];
        holds(&expect(1, &folder, &strict)[1], &["; if it is meant so, say its unit: --unit m\n"]);
        // or it is meant so
        holds(&why, &["; if it is meant so, build it with --up z and --unit m\n"]);
        let why = error(2, &folder, &["build", "d.obj", "--unit", "ft"]);
        holds(&why, &[&said[..], &["; if it is meant so, build it with --up z\n"]].concat());
        let [_, err] = expect(0, &folder, &[&strict[..], &["--unit", "m"]].concat());
        holds(&err, &[&format!("note: {}", said[0])]);
        let silent = ["warning", "gdalwarp", "on its side"].iter().all(|word| !err.contains(word));
        assert!(silent, "{err}");
        // of one file alone in its entry
        let two = "[[source]]\nfile = \"d.obj\"\nup = \"z\"\n[[source]]\nfile = \"flat.obj\"\n";
        let [_, err] = built_by(&folder, two, 1);
        holds(&err, &[&format!("say its unit: unit = \"m\" in its [[source]] of {SETTINGS}\n")]);
        let [_, err] = built_by(&folder, &two.replace("up = ", "unit = \"m\"\nup = "), 0);
        holds(&err, &[&format!("note: {}", said[0])]);
    }
    // with y up, whether anybody says so or not
    let turned = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {z} {}\n", -y.parse::<f64>().unwrap()),
        _ => format!("{line}\n"),
    };
    for ([x, y], code) in zones {
        let upright = hills(30, 1.0 / 3600.0, [x, y, 1500.0]);
        fs::write(folder.join("y.obj"), upright.lines().map(turned).collect::<String>()).unwrap();
        for more in [&["--force"][..], &["--up", "y", "--force"]] {
            let [_, err] = expect(0, &folder, &[&["build", "y.obj"], more].concat());
            holds(&err, &["warning: y.obj: x and z look like degrees, ", &format!("gdalwarp -t_srs {code} ")]);
            assert!(!err.contains("on its side"), "{err}");
        }
    }
    // with x up, and of nine cells
    for cells in [30, 3] {
        let upright = hills(cells, 1.0 / 3600.0, [11.0, 48.0, 1500.0]);
        fs::write(folder.join("x.obj"), turned_up(&upright, "x")).unwrap();
        let [_, err] = expect(0, &folder, &["build", "x.obj", "--force"]);
        holds(&err, &["warning: x.obj: y and z look like degrees, 11 and 48, beside heights in metres"]);
        assert!(!err.contains("on its side"), "{err}");
        fs::write(folder.join("z.obj"), &upright).unwrap();
        holds(&error(2, &folder, &["build", "z.obj"]), &["z.obj: x and y look like degrees, 11 and 48"]);
    }
    // on its side its triangles are needles: that is no news of the mesh
    let higher = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {y} {}\n", 900.0 * z.parse::<f64>().unwrap()),
        _ => format!("{line}\n"),
    };
    let high: String = hills(300, 1.0 / 3600.0, [11.0, 48.0, 1.0]).lines().map(higher).collect();
    fs::write(folder.join("n.obj"), high).unwrap();
    for (command, code, end) in [
        (&["build", "n.obj", "--up", "y", "-o", "n.hpan"][..], 2, "error: n.obj: "),
        (&["materials", "n.obj", "--up", "y"], 0, "warning: a build will stop at this: n.obj: "),
    ] {
        let [_, err] = expect(code, &folder, command);
        let told = "warning: n.obj: x and y look like degrees, 11 and 48, ";
        holds(
            &err,
            &[told, "proven apart", "; if these are degrees, project them; else cut them across in a mesh editor"],
        );
        assert!(err.find(told).is_some() && err.find(told) < err.find(end), "{err}");
    }
    // so few digits that most places of it are one
    let rough = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {:.4} {:.4} {z}\n", x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap()),
        _ => format!("{line}\n"),
    };
    let small = hills(80, 1.5e-5, [11.0, 48.0, 100.0]);
    fs::write(folder.join("s.obj"), small.lines().map(rough).collect::<String>()).unwrap();
    let said = "s.obj: x and y look like degrees, 11 and 48";
    holds(&error(2, &folder, &["build", "s.obj"]), &[said, "; if it is meant so, build it with --up z and --unit m\n"]);
    let [_, err] = expect(0, &folder, &["build", "s.obj", "--up", "y"]);
    holds(&err, &[&format!("warning: {said}"), "; if it is meant so, say its unit: --unit m\n"]);
    // the same in metres, as small, and standing on its side; walls about a floor
    let alarm = |file: &str, more: &[&str]| {
        let [_, err] = expect(0, &folder, &[&["build", file, "-o", "m.hpan"], more].concat());
        assert!(!err.contains("look like degrees"), "{err}");
    };
    fs::write(folder.join("m.obj"), hills(30, 1.0, [-122.1, 42.9, 1500.0])).unwrap();
    alarm("m.obj", &[]);
    alarm("m.obj", &["--up", "y"]);
    fs::write(folder.join("m.obj"), hills(30, 0.02, [-122.1, 42.9, 0.0])).unwrap();
    alarm("m.obj", &["--up", "z"]);
    // a path of a few staggered places along x or y, and a post on a slab
    for (n, [i, j]) in [(14, [0, 1]), (14, [1, 0]), (60, [0, 1]), (60, [1, 0])] {
        let place = |k: u32| {
            let along = [f64::from(k) * 71.5, 0.3 * f64::from(k % 2) + 0.6 * f64::from(k % 3)];
            format!("v {} {} {}\n", along[i], along[j], 10.0 + 0.3 * f64::from(k * 7 % 5))
        };
        let faces = (1..=n).map(|k| format!("f {k} {} {}\n", k + 1, k + 2));
        fs::write(folder.join("m.obj"), (0..n + 2).map(place).chain(faces).collect::<String>()).unwrap();
        alarm("m.obj", &["--force"]);
    }
    let ring = |z: f64, r: f64| {
        (0..6).map(move |k| {
            let (sin, cos) = f64::from(k).sin_cos();
            format!("v {} {} {z}\n", 10.0 + r * cos, 20.0 + r * sin)
        })
    };
    let sides = (1..=6).map(|k| format!("f {k} {} {} {}\n", k % 6 + 1, k % 6 + 7, k + 6));
    let slab = "v 9 19 0\nv 11 19 0\nv 11 21 0\nv 9 21 0\nf -4 -3 -2 -1\n".into();
    let post: String = ring(0.0, 0.1).chain(ring(8.0, 0.05)).chain(sides).chain([slab]).collect();
    fs::write(folder.join("m.obj"), post).unwrap();
    alarm("m.obj", &["--up", "z"]);
    // waves drawn out along y, and turned over on the way
    let wave = |i: u32| {
        let (x, z) = (f64::from(i) * 0.3, (2.0 * f64::from(i)).sin());
        format!("v {x} 0 {z}\nv {} 90.01 {}\n", x + 1.5, -z)
    };
    let sheets = |i: u32| format!("f {} {} {} {}\n", 2 * i + 1, 2 * i + 3, 2 * i + 4, 2 * i + 2);
    fs::write(folder.join("m.obj"), (0..61).map(wave).chain((0..60).map(sheets)).collect::<String>()).unwrap();
    alarm("m.obj", &["--up", "z"]);
    let fence: String = (0..40).map(|i| format!("v {i} 0 0\nv {i} 0.001 30\nv {i}.01 0 0\nf -3 -2 -1\n")).collect();
    fs::write(folder.join("m.obj"), fence + "v 0 0 0\nv 40 0 0\nv 40 40 0\nf -3 -2 -1\n").unwrap();
    alarm("m.obj", &["--up", "z"]);
}

/// What rasters have in place of a height is told, with number and place, and does not hide how the rest lies.
#[test]
fn heights_that_stand_for_no_data_are_told() {
    let folder = folder("no_data");
    let ground = hills(30, 2.0, [10.0, 20.0, 100.0]);
    let with = |height: &str| {
        let vertex = |(i, line): (usize, &str)| match (i, line.rsplit_once(' ')) {
            (40 | 41 | 500, Some((place, _))) => format!("{place} {height}\n"),
            _ => format!("{line}\n"),
        };
        fs::write(folder.join("n.obj"), ground.lines().enumerate().map(vertex).collect::<String>()).unwrap();
    };
    for (height, told) in [
        ("-999", "-999"),
        ("-9999", "-9999"),
        ("9999", "9999"),
        ("-32768.0", "-32768"),
        ("-32767", "-32767"),
        ("32767", "32767"),
        ("65535", "65535"),
        ("1e20", "1e20"),
        ("1e38", "1e38"),
        ("1.70141e38", "1.70141e38"),
        ("-3.4e+38", "-3.4e38"),
        ("-3.4028231e+38", "-3.402823e38"),
        ("-3.4028234663852886e+38", "-3.4028235e38"),
        ("-1.7976931348623157e308", "-1.7976931348623157e308"),
    ] {
        with(height);
        let [_, err] = expect(0, &folder, &["build", "n.obj", "--drop-outliers"]);
        let said = format!("warning: n.obj: 3 of 961 vertices have the height {told}, far from all others");
        holds(&err, &[&said, "the first is at x 18, y 52, and nobody measured the ", "$' ALL.xyz > FILE.xyz)"]);
        assert!(!err.contains("look like degrees") && !err.contains("on its side"), "{err}");
        assert!(!err.contains("so far from zero"), "{err}");
    }
    // unless they are meant so, as a floor that catches what falls
    with("-9999");
    fs::write(folder.join("mu.toml"), MU).unwrap();
    fs::copy(folder.join("n.obj"), folder.join("o.obj")).unwrap();
    fs::write(folder.join("flat.obj"), "v 0 0 90\nv 9 0 90\nv 9 9 90\nf 1 2 3\n").unwrap();
    let strict = |code, files: &[&str]| {
        let line = ["build", "--up", "z", "--settings", "mu.toml", "--strict", "-o", "s.hpan"];
        expect(code, &folder, &[&line[..], files].concat())[1].clone()
    };
    holds(&strict(1, &["n.obj"]), &["(gdal_fillnodata.py); if its numbers are meant so, --scale 1\n"]);
    holds(&strict(1, &["n.obj", "--scale", "2"]), &["(gdal_fillnodata.py)\n"]);
    holds(&strict(1, &["n.obj", "--unit", "ft"]), &["(gdal_fillnodata.py); if its numbers are meant so, --scale 1\n"]);
    let meant = strict(0, &["n.obj", "--scale", "1"]);
    holds(&meant, &["note: n.obj: 3 of 961 vertices have the height -9999, far", "; the first is at x 18, y 52\n"]);
    strict(0, &["n.obj", "o.obj", "--scale", "1"]);
    let one = format!("scale = 1 in its [[source]] of {SETTINGS}");
    let typed_one = format!("scale = 1 (instead of --scale) in its [[source]] of {SETTINGS}");
    holds(&strict(1, &["n.obj", "flat.obj"]), &[&format!("; if its numbers are meant so, {one}\n")]);
    let typed = strict(1, &["n.obj", "flat.obj", "--scale", "1"]);
    holds(&typed, &[&format!("; if its numbers are meant so, {typed_one}\n")]);
    let two = "[[source]]\nfile = \"n.obj\"\nup = \"z\"\nscale = 1\n[[source]]\nfile = \"flat.obj\"\n";
    built_by(&folder, two, 0);
    built_by(&folder, &two.replace("scale = 1", "scale = 1.5"), 1);
    // a step in a model in millimetres
    with("-999");
    let [_, err] = expect(0, &folder, &["build", "n.obj", "--unit", "mm", "--up", "z"]);
    assert!(!err.contains("no data"), "{err}");
    // in another unit and with another axis up
    let turned = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
        ["v", x, y, z] => format!("v {x} {z} -{y}\n"),
        _ => format!("{line}\n"),
    };
    with("-9999");
    let text = fs::read_to_string(folder.join("n.obj")).unwrap();
    fs::write(folder.join("y.obj"), text.lines().map(turned).collect::<String>()).unwrap();
    let [_, err] = expect(0, &folder, &["build", "y.obj", "--up", "y", "--unit", "us-ft", "--translate", "0,0,7.3"]);
    holds(&err, &["warning: y.obj: 3 of 961 vertices have the height -9999, "]);
    // a number nobody knows, and one that is not far from others
    for height in ["-9998", "-9999.5", "-304.5", "-3048", "-3047.68", "0", "101"] {
        with(height);
        let [_, err] = expect(0, &folder, &["build", "n.obj", "--up", "z"]);
        assert!(!err.contains("no data"), "{err}");
    }
    with("-9999");
    let deep =
        fs::read_to_string(folder.join("n.obj")).unwrap() + "v 0 0 -9000\nv 1 0 -9000\nv 0 1 -9000\nf -3 -2 -1\n";
    fs::write(folder.join("n.obj"), deep).unwrap();
    let [_, err] = expect(0, &folder, &["build", "n.obj", "--up", "z"]);
    assert!(!err.contains("no data"), "{err}");
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
    let told = |code: i32, up: &str, text: &str| {
        fs::write(folder.join("n.obj"), turned_up(text, up)).unwrap();
        let [_, built] = expect(code, &folder, &["build", "n.obj", "--drop-outliers"]);
        let [_, listed] = expect(0, &folder, &["materials", "n.obj"]);
        // but for the domain's
        assert!(built.starts_with(&listed.replace("warning: a build will stop at this:", "error:")), "{listed}{built}");
        assert!(!built.contains("cross"), "{built}");
        built
    };
    let with = |side: f64, height: &str| {
        let vertex = |(i, line): (usize, &str)| match (i, line.rsplit_once(' ')) {
            (40 | 41 | 500, Some((place, _))) => format!("{place} {height}\n"),
            _ => format!("{line}\n"),
        };
        hills(30, side, [10.0, 20.0, 100.0]).lines().enumerate().map(vertex).collect::<String>()
    };
    for (height, value) in [("-9999", "-9999"), ("-32768", "-32768"), ("-99999", "-99999"), ("-1e38", "-1e38")] {
        for (up, place) in [("x", "y 18, z 52"), ("y", "x 22, z 28")] {
            let err = told(2, up, &with(2.0, height));
            let void =
                format!("warning: n.obj: 3 of 961 vertices have the height {value} with {up} up, far from all others");
            let lies = format!("with z up, 100 % with {up} up; type --up {up}, or type --up z if it is meant so\n");
            holds(&err, &[&void, &format!("the first is at {place}, "), &lies]);
            assert!(!err.contains(" m large"), "{err}");
        }
        let err = told(0, "z", &with(2.0, height));
        holds(&err, &[&format!("have the height {value}, far from all others"), "the first is at x 18, y 52, "]);
        assert!(!err.contains("on its side") && !err.contains(" up, "), "{err}");
    }
    // -9999 m, in the file's unit
    for (unit, metres, height) in
        [("mm", 1e-3, "-9999000"), ("cm", 1e-2, "-999900"), ("in", 0.0254, "-393661.4173"), ("km", 1e3, "-9.999")]
    {
        let scaled = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
            ["v", x, y, z] => {
                let [x, y, z] = [x, y, z].map(|v| v.parse::<f64>().unwrap() / metres);
                format!("v {x} {y} {z:.6}\n")
            }
            _ => format!("{line}\n"),
        };
        fs::write(folder.join("n.obj"), with(2.0, "-9999").lines().map(scaled).collect::<String>()).unwrap();
        let [_, err] = expect(0, &folder, &["build", "n.obj", "--unit", unit, "--drop-outliers"]);
        holds(&err, &[&format!("3 of 961 vertices have the height {height} (-9999 m), far from all others")]);
        assert!(!err.contains("on its side"), "{err}");
        holds(&err, &["build with --settings n.toml --drop-outliers, which this writes"]);
    }
    let err = told(2, "y", &with(500.0, "-9999"));
    holds(
        &err,
        &[
            "have the height -9999 with y up",
            " m large, and nobody says its unit; --unit says the unit",
            "type --up y, ",
        ],
    );
    // a floor that reaches far is no height, whichever axis is up
    let floor = "v -9999 -9999 0\nv 9999 -9999 0\nv 9999 9999 0\nv -9999 9999 0\nf -4 -3 -2 -1\n";
    let err = told(0, "z", &(hills(30, 2.0, [10.0, 20.0, 0.0]) + floor));
    holds(&err, &["the ground is 19998 by 19998 m large"]);
    assert!(!err.contains("no data") && !err.contains("on its side"), "{err}");
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
        (hills(30, 2.0, [10.0, 20.0, 100.0]).replacen(" 100\n", " -9999\n", 1), "has the height -9999, far"),
        (hills(30, 1.0 / 3600.0, [-122.1, 42.9, 1500.0]), "x and y look like degrees, "),
        ("v 0 0 0\nv 0.03 0 0\nv 0 0.03 0\nf 1 2 3\n".into(), "the ground is only 0.03 by 0.03 m large"),
        (rounded.collect(), "all its numbers are of single precision"),
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
    holds(&err, &["note: a.obj: outside the domain, left out: "]);
    fs::write(folder.join("mu.toml"), format!("[build]\noutliers = \"drop\"\n{MU}")).unwrap();
    expect(0, &folder, &strict);
}

/// A file in millimetres is told beside one in metres.
#[test]
fn each_file_is_asked_for_its_unit() {
    let folder = folder("each_file_is_asked_for_its_unit");
    let square = |name: &str, x: f64, side: f64| {
        let [east, north] = [x + side, side];
        let text = format!("v {x} 0 0\nv {east} 0 0\nv {east} {north} 0\nv {x} {north} 0\nf 1 2 3 4\n");
        fs::write(folder.join(name), text).unwrap();
    };
    for (name, side) in [("small.obj", 0.04), ("tiny.obj", 0.01), ("plain.obj", 40.0), ("vast.obj", 4e4)] {
        square(name, 0.0, side);
    }
    let said = |files: &[&str]| {
        let [_, err] = expect(0, &folder, &[&["build", "--up", "z", "-o", "u.hpan"], files].concat());
        err.lines().filter(|line| line.contains(" large")).map(String::from).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(said(&["plain.obj"]), "");
    let small = "warning: small.obj: the ground is only 0.04 by 0.04 m large; check";
    let so = "also if it is meant so";
    assert_eq!(said(&["small.obj"]), format!("{small} --unit and --scale; --unit says the unit, {so}"));
    let place = &format!("in its [[source]] of {SETTINGS}");
    let there = &format!("unit {place}");
    assert_eq!(said(&["small.obj", "plain.obj"]), format!("{small} unit and scale; {there} says the unit, {so}"));
    let both =
        "warning: small.obj, tiny.obj: the ground is only 0.04 by 0.04 m, or less, large; check --unit and --scale";
    let each = format!("--unit says the unit (of one alone: {there}), {so}");
    assert_eq!(said(&["small.obj", "tiny.obj"]), format!("{both}; {each}"));
    let vast = "warning: vast.obj: the ground is 40000 by 40000 m large, and nobody says its unit;";
    assert_eq!(said(&["vast.obj"]), format!("{vast} --unit says the unit, {so}"));
    assert_eq!(said(&["plain.obj", "vast.obj"]), format!("{vast} {there} says the unit, {so}"));
    // pieces of one
    square("west.obj", 0.0, 6000.0);
    square("east.obj", 6000.0, 6000.0);
    let pieces = "warning: west.obj, east.obj: the ground is 12000 by 6000 m large, and nobody says its unit;";
    assert_eq!(said(&["west.obj", "east.obj"]), format!("{pieces} {each}"));
    // a unit that is typed is that of all files, and says of some alone nothing
    let note = "note: small.obj: the ground is only 0.04 by 0.04 m large";
    assert_eq!(said(&["small.obj", "--unit", "m"]), note);
    assert_eq!(said(&["vast.obj", "--unit", "m"]), "");
    assert_eq!(said(&["west.obj", "east.obj", "--unit", "m"]), "");
    square("wide.obj", 0.0, 2e4);
    assert_eq!(said(&["vast.obj", "wide.obj", "--unit", "m"]), "");
    let alone = format!("unit (instead of --unit) {place} says the unit, {so}");
    assert_eq!(said(&["small.obj", "plain.obj", "--unit", "m"]), format!("{small} unit and scale; {alone}"));
    let vast = "warning: vast.obj: the ground is 40000 by 40000 m large, as you say of all files;";
    assert_eq!(said(&["plain.obj", "vast.obj", "--unit", "m"]), format!("{vast} {alone}"));
    let each = |name: &str| format!("[[source]]\nfile = \"{name}.obj\"\nunit = \"m\"\n");
    built_by(&folder, &["plain", "small", "vast"].map(each).concat(), 0);
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
    for (name, what) in [
        ("out.png", "a picture"),
        ("out.JPG", "a picture"),
        ("out.csv", "a table"),
        ("out.zip", "an archive"),
        ("out.blend", "a mesh"),
        ("out.tif", "heights"),
        ("out.obj", "a mesh"),
    ] {
        let why = error(2, &folder, &["build", "bridge.obj", "-o", name]);
        holds(&why, &[&format!("{name}: this is the name of {what}, "), "name it FILE.hpan, or add --force"]);
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
    let why = error(2, &folder, &["build", "*.obj", "-o", "all.hpan"]);
    holds(&why, &["*.obj: there is no such file or folder; a shell puts names of files in place of * and ?"]);
    fs::write(folder.join("road.obj"), BRIDGE.replace("Asphalt", "Road")).unwrap();
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Rode\"\n").unwrap();
    let why = error(2, &folder, &["build", "road.obj", "--settings", "s.toml"]);
    holds(&why, &["(did you mean \"Road\"?)"]);
    fs::write(folder.join("trail.vprp"), "QS VANE REPLAY FILE\n").unwrap();
    let why = error(3, &folder, &["build", "trail.vprp"]);
    holds(&why, &["vprp files (trails) are not read; ", "hardpan query IMAGE.hpan --along FILE.csv"]);
    for name in ["h.raw", "h.r16"] {
        fs::write(folder.join(name), [7; 64]).unwrap();
        let why = error(3, &folder, &["build", name]);
        holds(&why, &["data type = 12", "gdal_translate -of XYZ", "Delaunay"]);
        assert!(!why.contains("FBX"), "{why}");
    }
}

/// The recipe for trails makes a drive of one.
#[test]
fn the_recipe_for_trails_works() {
    let Some(trail) = real_file("mavs/data/waypoints/x_axis_points.vprp") else { return };
    let folder = bridge("the_recipe_for_trails");
    fs::copy(trail, folder.join("FILE.vprp")).unwrap();
    let why = error(3, &folder, &["build", "FILE.vprp"]);
    let recipe = why.split_once("x and y: ").unwrap().1.split_once(", and ask").unwrap().0;
    assert!(std::process::Command::new("sh").args(["-c", recipe]).current_dir(&folder).status().unwrap().success());
    assert_eq!(fs::read_to_string(folder.join("FILE.csv")).unwrap(), "t,x,y\n0.01,-1000.0,0.0\n0.02,1000.0,0.0\n");
}

/// Of equal images only the picture is asked, and shows the ground.
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

/// The same triangles twice with two frictions: which stays goes by the name, so it is said; a priority says what is meant.
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
