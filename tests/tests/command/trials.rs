//! Faults of ground that people reported, each found at its place.

use std::{fs, path::Path};

use crate::shell::{check, expect, folder, value};
use hardpan_builder::demo::fixtures;
use serde_json::{Value, json};
use verification::obj::trial;

/// The one finding of a kind in a trial, without limits.
fn one(folder: &Path, kind: &str, arguments: &[&str]) -> Value {
    let look = check(folder, kind, arguments);
    assert_eq!(look["found"], json!(1), "{kind} {arguments:?}: {look}");
    look["findings"][0].clone()
}

fn place(finding: &Value) -> [f64; 3] {
    [0, 1, 2].map(|i| finding["place"][i].as_f64().unwrap())
}

/// Asserts a value to within so much.
#[track_caller]
fn near(found: f64, wanted: f64, by: f64) {
    assert!((found - wanted).abs() <= by, "{found}, not {wanted}");
}

#[test]
fn by_15_a_gap_that_a_build_finds_is_found_by_check() {
    let folder = folder("by_15_a_gap_that_a_build_finds_is_found_by_check");
    let Some(sheets) = trial("gap_of_3_cm/sheets.obj") else { return };
    let gap = one(&folder, "gap", &[sheets.to_str().unwrap(), "--up", "z", "--unit", "m"]);
    near(value(&gap, "width"), 0.03, 3e-4);
    near(value(&gap, "length"), 8.0, 0.01);
    let [x, y, z] = place(&gap);
    near(x, 10.015, 3e-4);
    near(y, 4.0, 4.0);
    near(z, 0.0, 1e-4);
    // the build says the same
    let line = ["build", sheets.to_str().unwrap(), "--up", "z", "--unit", "m", "-o", "s.hpan", "--report", "s.json"];
    expect(0, &folder, &line);
    let report: Value = serde_json::from_slice(&fs::read(folder.join("s.json")).unwrap()).unwrap();
    let of_build = &report["gaps"]["first"][0];
    assert_eq!([&of_build["width"], &of_build["at"]], [&json!(value(&gap, "width")), &gap["place"]]);
    // tiles of 19 m, 1 m apart along the 19 m of both
    let trench = trial("gap_of_3_cm/trench.toml").unwrap();
    let gap = one(&folder, "gap", &["--settings", trench.to_str().unwrap()]);
    near(value(&gap, "width"), 1.0, 1e-3);
    near(value(&gap, "length"), 19.0, 0.1);
    near(place(&gap)[0], 19.5, 1e-3);
}

#[test]
fn by_15_a_cliff_between_tiles_is_a_step() {
    let folder = folder("by_15_a_cliff_between_tiles_is_a_step");
    for (name, height) in [("tiles", 2.4), ("tiles_16cm", 0.16)] {
        let Some(settings) = trial(&format!("cliff_between_tiles/{name}.toml")) else { return };
        let step = one(&folder, "step", &["--settings", settings.to_str().unwrap()]);
        assert_eq!(step["severity"], json!("warning"));
        near(value(&step, "height"), height, 2e-4);
        near(value(&step, "length"), 50.0, 0.05);
        near(place(&step)[0], 50.0, 3e-4);
        // an image does not know what stands between
        expect(0, &folder, &["build", "--settings", settings.to_str().unwrap(), "-o", "t.hpan", "--force"]);
        let of_image = one(&folder, "step", &["t.hpan"]);
        assert_eq!([&of_image["severity"], &of_image["values"]], [&json!("note"), &step["values"]]);
    }
}

#[test]
fn by_15_roads_that_land_covers_are_found_however_high_it_stands() {
    let folder = folder("by_15_roads_that_land_covers_are_found_however_high_it_stands");
    // of the road of 360 m2 the land stands above 42 %
    for (name, more, [area, by], [height, off], [south, north]) in [
        ("buried_road/poke.obj", &[][..], [131.0, 2.0], [0.25, 0.01], [0.0, 40.0]),
        ("buried_road_1500mm/land.obj", &["--unit", "m"], [151.0, 3.0], [1.48, 0.02], [12.0, 18.0]),
    ] {
        let Some(file) = trial(name) else { return };
        let road = one(&folder, "buried-road", &[&[file.to_str().unwrap(), "--up", "z"], more].concat());
        assert_eq!(road["subject"], json!("Grass"));
        near(value(&road, "area"), area, by);
        near(value(&road, "height"), height, off);
        let [_, y, z] = place(&road);
        assert!((south..=north).contains(&y), "{road}");
        near(z, height, 0.05);
    }
}

#[test]
fn by_15_spikes_are_found_alone_and_in_groups() {
    let folder = folder("by_15_spikes_are_found_alone_and_in_groups");
    for (name, height) in [("down_35m", -35.0), ("one_zero_at_412m", -412.0), ("up_180m", 180.0), ("up_4m", 4.0)] {
        let Some(file) = trial(&format!("spikes/{name}.obj")) else { return };
        let spike = one(&folder, "spike", &[file.to_str().unwrap(), "--up", "z", "--unit", "m"]);
        near(value(&spike, "height"), height, 0.6);
        assert_eq!(value(&spike, "vertices"), 1.0);
    }
    // land at 412 m with groups of vertices that are off alike, up to 16, or in a block at exactly 0
    let land = |off: &dyn Fn(u32, u32) -> f64| {
        let z = |k: u32| 412.0 + 0.02 * f64::from(k % 40) + off(k % 40, k / 40);
        let post = |k: u32| format!("v {} {} {}\n", 2 * (k % 40), 2 * (k / 40), z(k));
        let square = |k: u32| format!("f {} {} {} {}\n", k + 1, k + 2, k + 42, k + 41);
        (0..1600).map(post).chain((0..1560).filter(|k| k % 40 < 39).map(square)).collect::<String>()
    };
    let inside = |side: u32, x: u32, y: u32| (10..10 + side).contains(&x) && (20..20 + side).contains(&y);
    let found = |off: &dyn Fn(u32, u32) -> f64| {
        fs::write(folder.join("land.obj"), land(off)).unwrap();
        let look = check(&folder, "spike", &["land.obj", "--up", "z", "--unit", "m"]);
        let spikes = look["findings"].as_array().unwrap().clone();
        spikes.iter().map(|s| ["vertices", "height"].map(|name| value(s, name))).collect::<Vec<_>>()
    };
    for (side, count) in [(2, 4.0), (4, 16.0)] {
        let [[vertices, height]] = found(&|x, y| if inside(side, x, y) { 30.0 } else { 0.0 })[..] else { panic!() };
        assert_eq!(vertices, count);
        near(height, 30.0, 0.2);
    }
    // more than 16 are a plateau, unless they lie at a height that stands for nothing
    assert!(found(&|x, y| if inside(8, x, y) { 30.0 } else { 0.0 }).is_empty());
    let zero = |x: u32, y: u32| if inside(8, x, y) { -(412.0 + 0.02 * f64::from(x)) } else { 0.0 };
    let [[vertices, height]] = found(&zero)[..] else { panic!() };
    assert_eq!(vertices, 64.0);
    near(height, -412.0, 0.5);
}

/// A hundred thousand short edges in one square, of which nearly none runs along another: looked over in time.
#[test]
fn by_15_dense_boundaries_are_looked_over_in_time() {
    let folder = folder("by_15_dense_boundaries_are_looked_over_in_time");
    // squares of 2 mm, 3 mm apart, over each other in no order of height
    let square = |k: u32| {
        let [x, y] = [k % 158, k / 158].map(|n| f64::from(n) * 0.003);
        let z = f64::from(k * 7919 % 25_000) * 0.002;
        let [far, top] = [x + 0.002, y + 0.002];
        format!("v {x} {y} {z}\nv {far} {y} {z}\nv {far} {top} {z}\nv {x} {top} {z}\nf -4 -3 -2 -1\n")
    };
    fs::write(folder.join("d.obj"), (0..25_000).map(square).collect::<String>()).unwrap();
    expect(0, &folder, &["build", "d.obj", "--up", "z", "--unit", "m", "--stitch", "false"]);
    let line = ["check", "d.hpan", "--only", "gap,step", "--max-gap", "10cm", "--json"];
    let out = std::process::Command::new("sh")
        .args(["-c", "ulimit -t 300; exec \"$0\" \"$@\""])
        .arg(&*crate::shell::HARDPAN)
        .args(line)
        .current_dir(&folder)
        .output()
        .unwrap();
    let facts: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(facts["looks"]["step"]["found"].as_u64() > Some(0), "{facts}");
}

/// All that is found in the fixtures is kerbs, as notes; but the heap is made of faults.
#[test]
fn by_15_fixtures_have_no_faults_but_kerbs() {
    let folder = folder("by_15_fixtures_have_no_faults_but_kerbs");
    for (name, ..) in fixtures::ALL.iter().filter(|(name, ..)| *name != "soup") {
        expect(0, &folder, &["demo", "--fixture", name]);
        let [out, _] = expect(0, &folder, &["check", &format!("{name}.hpan"), "--json"]);
        let facts: Value = serde_json::from_str(&out).unwrap();
        for (kind, look) in facts["looks"].as_object().unwrap() {
            let findings = look["findings"].as_array().unwrap();
            assert!(findings.iter().all(|f| f["severity"] == "note"), "{name} {kind}: {look}");
            let kerb = matches!(*name, "curb" | "city") && matches!(&**kind, "step" | "double-surface");
            assert!(kerb || findings.is_empty(), "{name} {kind}: {look}");
        }
    }
}
