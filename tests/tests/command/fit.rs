//! `build --fit` and `--max-error`: posts that keep a size and an error, measured again from outside.

use crate::shell::{BRIDGE, error, expect, folder, holds, info};
use hardpan::Terrain;
use hardpan_builder::Image;
use hardpan_builder::import::{Frame, read};
use serde_json::{Value, json};
use std::{fmt::Write, fs, path::Path};
use verification::oracle::{Oracle, Steps};
use verification::random::Random;

/// Units of heights of the oracle and of rounding between posts.
const HAIR: f64 = 1e-5;

/// Hills in metres.
fn hill(x: f64, y: f64) -> f64 {
    20.0 + 3.0 * (x / 60.0).sin() + 2.0 * (y / 45.0).cos() + 0.02 * (x / 3.0).sin()
}

/// Posts of an ASCII grid from x = y = 5 on, 10 m apart; none where `is_hole` says so.
fn posts(columns: usize, rows: usize, is_hole: impl Fn(usize, usize) -> bool) -> Vec<[f64; 3]> {
    let all = (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j))).filter(|(i, j)| !is_hole(*i, *j));
    let at = |n: usize| 5.0 + 10.0 * n as f64;
    all.map(|(i, j)| [at(i), at(j), (hill(at(i), at(j)) * 1000.0).round() / 1000.0]).collect()
}

fn ascii(columns: usize, rows: usize, posts: &[[f64; 3]]) -> String {
    let mut text =
        format!("ncols {columns}\nnrows {rows}\nxllcorner 0\nyllcorner 0\ncellsize 10\nnodata_value -9999\n");
    for j in (0..rows).rev() {
        for i in 0..columns {
            let at = [i, j].map(|n| 5.0 + 10.0 * n as f64);
            let post = posts.iter().find(|p| p[0] == at[0] && p[1] == at[1]);
            write!(text, "{} ", post.map_or(-9999.0, |p| p[2])).unwrap();
        }
        text += "\n";
    }
    text
}

/// Triangles 3 m wide on hills, without a corner, whose border lies across.
fn mesh() -> String {
    let mut text = "o land\nusemtl Grass\n".to_string();
    let (wide, deep) = (61, 41);
    for (i, j) in (0..deep).flat_map(|j| (0..wide).map(move |i| (i, j))) {
        let [x, y] = [i, j].map(|n| 3.0 * f64::from(n) + 0.7);
        writeln!(text, "v {x} {y} {:.4}", hill(x, y)).unwrap();
    }
    for (i, j) in (0..deep - 1).flat_map(|j| (0..wide - 1).map(move |i| (i, j))).filter(|(i, j)| i + j > 20) {
        let a = j * wide + i + 1;
        writeln!(text, "f {} {} {}\nf {} {} {}", a, a + 1, a + 1 + wide, a, a + 1 + wide, a + wide).unwrap();
    }
    text
}

/// The report of a build that ends well, which keeps the schema and says the length of its file.
#[track_caller]
fn built(folder: &Path, typed: &[&str]) -> Value {
    let line = [&["build"], typed, &["-o", "a.hpan", "--report", "r.json", "--force"]].concat();
    expect(0, folder, &line);
    let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    assert!(jsonschema::is_valid(&schema, &report), "{report:#}");
    let fit = report["fit"].clone();
    assert_eq!(fit["bytes"], json!(fs::metadata(folder.join("a.hpan")).unwrap().len()));
    assert_eq!(fit["stated"], info(folder, "a.hpan")["error"]["height"]);
    assert!(fit["error"].as_f64() <= fit["stated"].as_f64(), "{fit}");
    fit
}

/// The largest error of the image at places, which all have ground.
#[track_caller]
fn off(folder: &Path, places: &[[f64; 3]]) -> f64 {
    let image = Image::read(folder.join("a.hpan")).unwrap();
    let t = Terrain::open_verified(&image).unwrap();
    let off = |p: &[f64; 3]| {
        let answer = t.closest(*p);
        assert!(answer.found(), "{p:?}");
        (t.z_f64(&answer.hit) - p[2]).abs()
    };
    places.iter().map(off).fold(0.0, f64::max)
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("{v}"))
}

/// The value that an error names after a flag.
#[track_caller]
fn named<'a>(text: &'a str, flag: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("{flag} ")).unwrap_or_else(|| panic!("{flag}: {text}"));
    rest.split_whitespace().next().unwrap()
}

#[test]
fn by_19_a_height_file_keeps_a_size_and_its_error_is_measured() {
    let folder = folder("by_19_a_height_file_keeps_a_size_and_its_error_is_measured");
    let places = posts(90, 61, |_, _| false);
    fs::write(folder.join("h.asc"), ascii(90, 61, &places)).unwrap();
    let bytes = number(&built(&folder, &["h.asc", "--max-error", "0.9"])["bytes"]);
    let mut before = f64::INFINITY;
    for size in [format!("{bytes}"), format!("{}KB", bytes * 1.2 / 1000.0), "0.5MiB".into()] {
        let fit = built(&folder, &["h.asc", "--fit", &size]);
        assert!(number(&fit["bytes"]) <= number(&fit["size"]), "{size}: {fit}");
        let (off, said) = (off(&folder, &places), number(&fit["error"]));
        // measured at all posts, and bilinear between them: nothing is farther off elsewhere
        assert!((off - said).abs() < HAIR && said <= before, "{size}: {off}, {fit}");
        assert_eq!(fit["places"], json!(90 * 61));
        before = said;
    }
    assert!(before < 0.0001, "all posts have room: {before}");
    expect(0, &folder, &["verify", "a.hpan", "--against", "h.asc"]);
}

#[test]
fn by_19_the_smallest_image_that_keeps_an_error_is_found() {
    let folder = folder("by_19_the_smallest_image_that_keeps_an_error_is_found");
    let places = posts(90, 61, |_, _| false);
    fs::write(folder.join("h.asc"), ascii(90, 61, &places)).unwrap();
    let mut before = u64::MAX;
    for most in [0.05, 1.0] {
        let fit = built(&folder, &["h.asc", "--max-error", &most.to_string()]);
        assert!(number(&fit["stated"]) <= most && off(&folder, &places) <= most, "{most}: {fit}");
        let bytes = fit["bytes"].as_u64().unwrap();
        assert!(bytes < before, "{most}: {fit}");
        before = bytes;
    }
    // the same on one thread, and again from the settings of the image
    let identity = info(&folder, "a.hpan")["identity"].clone();
    built(&folder, &["h.asc", "--max-error", "100cm", "--threads", "1"]);
    assert_eq!(info(&folder, "a.hpan")["identity"], identity);
    expect(0, &folder, &["materials", "a.hpan", "-o", "s.toml"]);
    built(&folder, &["h.asc", "--settings", "s.toml"]);
    assert_eq!(info(&folder, "a.hpan")["identity"], identity);
    // both limits: one byte less is refused, and what is named instead holds
    let fit = built(&folder, &["h.asc", "--max-error", "0.05"]);
    let bytes = fit["bytes"].as_u64().unwrap();
    let (least, less) = (bytes.to_string(), (bytes - 1).to_string());
    built(&folder, &["h.asc", "--max-error", "0.05", "--fit", &least]);
    let line = ["build", "h.asc", "--max-error", "0.05", "--fit", &less, "-o", "no.hpan"];
    let text = error(2, &folder, &line);
    assert!(!folder.join("no.hpan").exists());
    assert_eq!(named(&text, "--fit"), least);
    let more = named(&text, "--max-error");
    assert!(more.parse::<f64>().unwrap() > 0.05, "{text}");
    built(&folder, &["h.asc", "--max-error", more, "--fit", &less]);
    // a size that holds no ground at all
    let text = error(2, &folder, &["build", "h.asc", "--fit", "1KiB", "-o", "no.hpan"]);
    built(&folder, &["h.asc", "--fit", named(&text, "--fit")]);
    // an error below what posts can be stored with
    let text = error(2, &folder, &["build", "h.asc", "--max-error", "0.000001", "-o", "no.hpan"]);
    built(&folder, &["h.asc", "--max-error", named(&text, "--max-error")]);
    assert!(off(&folder, &places) < 0.0001);
}

#[test]
fn by_19_ground_at_holes_and_borders_is_kept() {
    let folder = folder("by_19_ground_at_holes_and_borders_is_kept");
    let is_hole = |i: usize, j: usize| (20..33).contains(&i) && (10..24).contains(&j) || i + j < 12;
    let places = posts(90, 61, is_hole);
    fs::write(folder.join("h.asc"), ascii(90, 61, &places)).unwrap();
    let mut size = "0".to_string();
    for flag in ["--max-error", "--fit"] {
        let value = if flag == "--fit" { size.clone() } else { "0.5".into() };
        let typed = [flag, &value];
        let fit = built(&folder, &[&["h.asc"][..], &typed].concat());
        size = fit["bytes"].to_string();
        assert!(number(&fit["pitch"]) > 10.0 && number(&fit["beyond"]) > 0.0, "{fit}");
        assert_eq!(fit["places"], json!(places.len()));
        assert!((off(&folder, &places) - number(&fit["error"])).abs() < HAIR, "{fit}");
        let [out, _] = expect(0, &folder, &[&["build", "h.asc", "-o", "b.hpan"][..], &typed].concat());
        holds(&out, &["not measured: "]);
    }
    // the middle of the hole stays one
    let image = Image::read(folder.join("a.hpan")).unwrap();
    assert!(!Terrain::open_verified(&image).unwrap().closest([265.0, 170.0, 20.0]).found());
}

#[test]
fn by_19_a_mesh_becomes_a_field_that_keeps_size_and_error() {
    let folder = folder("by_19_a_mesh_becomes_a_field_that_keeps_size_and_error");
    fs::write(folder.join("m.obj"), mesh()).unwrap();
    let scene = read(&[folder.join("m.obj")], &Frame::default()).unwrap().scene;
    let (oracle, steps, mut r) = (Oracle::new(&scene), Steps::default(), Random(7));
    let mut places = Vec::new();
    for _ in 0..4000 {
        let [x, y] = [182_000, 122_000].map(|most| r.below(most) as f64 / 1000.0);
        let found = oracle.over(steps.xy_units(x), steps.xy_units(y)).first().map(|g| g.z as f64 * 2f64.powi(-24));
        places.extend(found.map(|z| [x, y, z]));
    }
    places.extend(scene.positions.iter().filter(|[x, y, _]| (x - 0.7) / 3.0 + (y - 0.7) / 3.0 > 21.5));
    assert!(places.len() > 5000);
    let mut size = "0".to_string();
    for case in 0..3 {
        let limits = ["--max-error 0.2".into(), format!("--fit {size}"), "--fit 64KiB --max-error 0.05".into()];
        let limits: &String = &limits[case];
        let typed: Vec<&str> = limits.split(' ').collect();
        let fit = built(&folder, &[&["m.obj"][..], &typed].concat());
        size = fit["bytes"].to_string();
        let (off, said) = (off(&folder, &places), number(&fit["error"]));
        // the error is that of the worst place anywhere, which places by chance come near to
        assert!(off <= said + HAIR && off > 0.5 * said, "{typed:?}: {off}, {fit}");
        assert!(fit["size"].is_null() || number(&fit["bytes"]) <= number(&fit["size"]), "{fit}");
        assert!(fit["max_error"].is_null() || number(&fit["stated"]) <= number(&fit["max_error"]), "{fit}");
        assert_eq!(fit["material"], json!("Grass"));
        let p: Vec<f64> = fit["at"].as_array().unwrap().iter().map(number).collect();
        let image = Image::read(folder.join("a.hpan")).unwrap();
        let t = Terrain::open_verified(&image).unwrap();
        let there = (t.z_f64(&t.closest([p[0], p[1], p[2]]).hit) - p[2]).abs();
        assert!((there - said).abs() < 1e-4, "{there} {fit}");
    }
    let schema: Value = serde_json::from_str(include_str!("../../../builder/info.schema.json")).unwrap();
    let [out, _] = expect(0, &folder, &["info", "a.hpan", "--provenance", "--json"]);
    let told: Value = serde_json::from_str(&out).unwrap();
    assert!(jsonschema::is_valid(&schema, &told), "{told:#}");
    let fit = json!({ "size": 65536, "max_error": 0.05, "material": "Grass" });
    assert_eq!(told["provenance"]["settings"]["fit"], fit);
}

#[test]
fn by_19_what_no_field_keeps_is_refused() {
    let folder = folder("by_19_what_no_field_keeps_is_refused");
    fs::write(folder.join("b.obj"), BRIDGE).unwrap();
    fs::write(folder.join("h.asc"), ascii(20, 20, &posts(20, 20, |_, _| false))).unwrap();
    // ground under a deck is in no field: 6 m
    let line = ["build", "b.obj", "--max-error", "0.05", "--raster-material", "Asphalt", "-o", "no.hpan"];
    let text = error(2, &folder, &line);
    holds(&text, &["no posts keep an error of 5 cm; the least error is 6 m at "]);
    assert!(!folder.join("no.hpan").exists());
    let [flat, raster] = [["b.obj", "--fit", "64KiB"], ["h.asc", "--raster", "1"]];
    holds(&error(2, &folder, &[&["build"][..], &flat].concat()), &["--raster-material NAME"]);
    let one = ["build", "b.obj", "h.asc", "-o", "no.hpan", "--fit", "1MiB"];
    holds(&error(2, &folder, &one), &["only one field of heights, or triangles alone"]);
    for bad in ["0", "-1", "x", "0KiB", "nan"] {
        expect(2, &folder, &["build", "h.asc", "--fit", bad]);
        expect(2, &folder, &["build", "h.asc", "--max-error", bad]);
    }
    expect(2, &folder, &[&["build"][..], &raster, &["--fit", "1MiB"]].concat());
    for (text, line) in [
        ("patch_tolerance = 0.01\n", "patch_tolerance"),
        ("[fit]\nsize = 0\n", "line 1: fit: size is a number of bytes above 0"),
        ("[fit]\n", "fit: state size, max_error, or both"),
        ("[fit]\nmax_error = -1\n", "fit: max_error is a number above 0"),
        ("raster = { cell = 1 }\nfit = { size = 9999 }\n", "leave raster out"),
    ] {
        fs::write(folder.join("s.toml"), text).unwrap();
        let typed: &[&str] = if text.contains("fit") { &[] } else { &["--fit", "1MiB"] };
        let text = error(2, &folder, &[&["build", "h.asc", "--settings", "s.toml"][..], typed].concat());
        holds(&text, &[line]);
    }
}
