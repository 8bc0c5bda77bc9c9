//! What the command says, where it was misunderstood or silent.

mod shell;

use serde_json::{Value, json};
use shell::{BRIDGE, expect, folder, holds};
use std::{fs, path::Path};

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
    let said = "as a program of single precision rounds them (--tolerance 0.0001 passes over that)";
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
}

/// A table for each material, as others have it, is answered with the list.
#[test]
fn tables_by_name_are_told_to_be_entries_of_a_list() {
    let folder = folder("tables_by_name");
    fs::write(folder.join("b.obj"), BRIDGE).unwrap();
    for (text, line, then) in [
        (
            "[material.Asphalt]\nmu = 1",
            1,
            "[[material]], with two brackets on each side, then in a line of its own: name = \"Asphalt\"\n",
        ),
        (
            "[[material.Asphalt]]\nmu = 1",
            1,
            "[[material]], with two brackets on each side, then in a line of its own: name = \"Asphalt\"\n",
        ),
        ("\n[material.\"Steel plate\"] # rough\nmu = 1", 2, "a line of its own: name = \"Steel plate\"\n"),
        ("[[material]]\nname = \"Asphalt\"\n[material.Wood]\nmu = 1", 3, "a line of its own: name = \"Wood\"\n"),
        (
            "[source.town]\nunit = \"m\"",
            1,
            "[[source]], with two brackets on each side, then in a line of its own: file = \"FILE.obj\"\n",
        ),
        ("[source]\nunit = \"m\"", 1, "[[source]], with two brackets on each side\n"),
    ] {
        fs::write(folder.join("s.toml"), text).unwrap();
        let [_, err] = expect(2, &folder, &["build", "b.obj", "--settings", "s.toml"]);
        holds(&err, &[&format!("s.toml: line {line}, column 1: there may be several of these: write "), then]);
    }
}

/// A slip of units is named near the zero and at map coordinates.
#[test]
fn diff_names_the_units_of_a_slip() {
    let folder = folder("diff_names_units");
    let names = "US survey feet?";
    for (zero, z) in [([0.0, 0.0], 3.0), ([500_000.0, 4_649_000.0], 30.0)] {
        fs::write(folder.join("h.obj"), hills(30, 40.0, [zero[0], zero[1], z])).unwrap();
        for unit in ["m", "ft", "us-ft", "km"] {
            // of kilometres only what is near the zero
            if unit != "km" || zero[0] == 0.0 {
                let image = format!("{unit}.hpan");
                expect(0, &folder, &["build", "h.obj", "--unit", unit, "-o", &image]);
            }
        }
        let first = |a: &str, b: &str| {
            let [out, _] = expect(1, &folder, &["diff", a, b]);
            out.lines().next().unwrap().to_string()
        };
        holds(&first("m.hpan", "us-ft.hpan"), &["times as large, a slip between metres and ", names]);
        holds(&first("us-ft.hpan", "m.hpan"), &["times as large, a slip between metres and ", names]);
        holds(&first("m.hpan", "ft.hpan"), &["0.3048 times as large, a slip between metres and feet?"]);
        if zero[0] == 0.0 {
            holds(&first("m.hpan", "km.hpan"), &["1000 times as large, a slip between kilometres and metres, or "]);
        } else {
            holds(&first("ft.hpan", "us-ft.hpan"), &["times as large, a slip between feet and ", names]);
        }
    }
}
