//! `hardpan bench`, as it is typed.

use std::{fs, path::Path};

use crate::shell::{BRIDGE, error, expect, folder, holds};
use hardpan::Terrain;
use hardpan::format::Header;
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Options, Rays, Scene, build};
use serde_json::Value;
use std::mem::offset_of;
use verification::bytes::{Aligned, mend_all};

/// Writes an image of a scene, and gives back the bound that it states: nodes, leaves, tests, lines.
fn write(folder: &Path, name: &str, scene: &Scene) -> [u32; 4] {
    let image = build(scene, &Options::default()).unwrap().image;
    fs::write(folder.join(name), &image[..]).unwrap();
    Terrain::open(&image).unwrap().header().bound
}

fn facts(folder: &Path, arguments: &[&str]) -> Value {
    let all = [&["bench"], arguments, &["--json"]].concat();
    serde_json::from_str(&expect(0, folder, &all)[0]).unwrap()
}

fn costs(facts: &Value, name: &str) -> [u32; 4] {
    ["nodes", "leaves", "tests", "lines"].map(|kind| facts[name][kind].as_u64().unwrap() as u32)
}

#[test]
fn vt_34_a_performance_test() {
    let folder = folder("vt_34_a_performance_test");
    let bound = write(&folder, "city.hpan", &fixtures::city());
    let [out, err] = expect(0, &folder, &["bench", "city.hpan", "-n", "100000"]);
    assert!(err.is_empty(), "{err}");
    holds(&out, &["city.hpan: 100,000 queries, plan uniform\n", "queries/s", "misses", " of 100,000: "]);
    let line = |start: &str| {
        let line = out.lines().find(|l| l.starts_with(start)).unwrap_or_else(|| panic!("no {start:?} in:\n{out}"));
        line[start.len()..].split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    let figure = |text: &String| text.replace(',', "").parse::<f64>().unwrap();
    assert_eq!(line("stated bound")[..4], bound.map(|b| b.to_string()));
    assert_eq!(line("ns a query"), ["max", "worst", "p99.9", "p99", "p50", "queries/s", "mean"]);
    for way in ["single calls", "batches of 64", "cursor", "cold"] {
        let figures: Vec<f64> = line(way).iter().map(figure).collect();
        let [max, worst, p999, p99, p50, rate, mean] = figures[..] else { panic!("{way}: {figures:?}") };
        assert!([max, worst, p999, p99, p50].is_sorted_by(|a, b| a >= b) && mean > 0.0, "{way}: {figures:?}");
        assert!((rate * mean / 1e9 - 1.0).abs() < 0.01, "{way}: {figures:?}");
    }

    // as many as the row asks for, where a query is quick
    write(&folder, "flat.hpan", &fixtures::flat());
    let [out_flat, _] = expect(0, &folder, &["bench", "flat.hpan", "-n", "5000000"]);
    holds(&out_flat, &["flat.hpan: 5,000,000 queries, plan uniform", "stated bound", "queries/s", " of 5,000,000: "]);

    let [one, other] = [(); 2].map(|()| facts(&folder, &["city.hpan", "-n", "70000"]));
    assert_eq!(costs(&one, "stated"), bound);
    for same in ["attained", "costliest", "misses", "no_ground", "not_in_image", "queries", "identity"] {
        assert_eq!(one[same], other[same], "the same places in every run");
    }
    assert_eq!(one["queries"].as_u64(), Some(70_000));
    let counts: Vec<_> = one["ns"].as_array().unwrap().iter().map(|way| way["count"].as_u64().unwrap()).collect();
    assert_eq!(counts, [70_000, 70_000, 70_000, 32], "cold calls last");
    for way in one["ns"].as_array().unwrap() {
        let [max, p999, p99, p50] = ["max", "p999", "p99", "p50"].map(|name| way[name].as_u64().unwrap());
        let worst = way["worst"]["ns"].as_u64().unwrap();
        assert!([max, worst, p999, p99, p50].is_sorted_by(|a, b| a >= b), "{way}");
        let numbers = |v: &Value| v.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>();
        // a place, or of a batch from where to where its places lie
        if way["name"] == "batches of 64" {
            let [low, high] = [0, 1].map(|i| numbers(&way["worst"]["within"][i]));
            assert!(low.len() == 3 && low.iter().zip(&high).all(|(l, h)| l < h), "{way}");
        } else {
            assert_eq!(numbers(&way["worst"]["at"]).len(), 3, "{way}");
        }
    }
}

#[test]
fn of_few_queries_the_longest_takes_the_mean_at_least() {
    let folder = folder("of_few_queries_the_longest_takes_the_mean_at_least");
    write(&folder, "flat.hpan", &fixtures::flat());
    for queries in ["1", "1", "2", "65"] {
        let facts = facts(&folder, &["flat.hpan", "-n", queries]);
        assert_eq!(facts["ns"][3]["count"].as_u64(), Some(queries.parse::<u64>().unwrap().min(22)));
        for way in facts["ns"].as_array().unwrap() {
            let figure = |name: &str| way[name].as_f64().unwrap();
            assert!(figure("mean") > 0.0 && figure("max") >= figure("mean"), "{way}");
            assert!((figure("queries_per_second") * figure("mean") / 1e9 - 1.0).abs() < 1e-6, "{way}");
        }
    }
}

#[test]
fn vt_35_the_worst_columns_cost_what_is_stated() {
    let folder = folder("vt_35_the_worst_columns_cost_what_is_stated");
    let heights = (0..60 * 40).map(|i| if i % 97 == 5 { f64::NAN } else { f64::from(i % 7) }).collect();
    let field = HeightField { pitch: 0.5, columns: 60, rows: 40, heights, tolerance: 0.01, ..HeightField::default() };
    let scenes = [
        ("town", fixtures::town(2)),
        ("bridge", fixtures::bridge()),
        ("curb", fixtures::curb()),
        ("cobble", fixtures::cobble()),
        ("soup", fixtures::soup(5)),
        ("field", Scene { fields: vec![field], ..fixtures::flat() }),
    ];
    for (name, scene) in scenes {
        let image = format!("{name}.hpan");
        let bound = write(&folder, &image, &scene);
        let worst = facts(&folder, &[&image, "--plan", "worst", "-n", "20000"]);
        assert_eq!(worst["plan"], "worst");
        let attained = costs(&worst, "attained");
        println!("{name}: {attained:?} of {bound:?}");
        for (attained, stated) in attained.into_iter().zip(bound) {
            assert!(attained <= stated && 2 * attained >= stated, "{name}: {attained} of {stated}");
        }
        // no other plan finds more than is stated, nor uniform more than worst
        for plan in ["uniform", "area"] {
            let queries = if plan == "uniform" { "20000" } else { "5000" };
            let facts = facts(&folder, &[&image, "--plan", plan, "-n", queries]);
            let found = costs(&facts, "attained");
            assert!(plan == "area" || attained.into_iter().zip(found).all(|(w, u)| w >= u), "{name}: {found:?}");
            assert!(costs(&facts, "attained").into_iter().zip(bound).all(|(a, b)| a <= b), "{name}, {plan}");
            if plan == "area" {
                assert_eq!(facts["misses"].as_u64(), Some(0), "{name}: over the ground there is ground");
            }
        }
    }
    let [out, _] = expect(0, &folder, &["bench", "town.hpan", "--plan", "worst", "-n", "20000"]);
    holds(&out, &["plan worst", "attained / stated"]);
}

/// On the image of the demo, whose columns alone do not tell the costliest places; however many are asked.
#[test]
fn vt_35_the_worst_plan_finds_no_less_than_a_uniform_one() {
    let folder = folder("vt_35_the_worst_plan_finds_no_less_than_a_uniform_one");
    expect(0, &folder, &["demo"]);
    let image = "hardpan-demo/proving-ground.hpan";
    for queries in ["4", "1000", "300000"] {
        let [uniform, worst] = ["uniform", "worst"]
            .map(|plan| costs(&facts(&folder, &[image, "--plan", plan, "-n", queries]), "attained"));
        assert!(uniform.into_iter().zip(worst).all(|(u, w)| u <= w), "{queries}: {uniform:?} {worst:?}");
    }
    let [out, _] = expect(0, &folder, &["bench", image, "-n", "1"]);
    assert!(out.starts_with(&format!("{image}: 1 query, plan uniform\n")), "{out}");
}

#[test]
fn vt_35_over_the_area_of_the_ground() {
    let folder = folder("vt_35_over_the_area_of_the_ground");
    // a floor of 100 m2 at one end of a strip of 10,000 m, with a hair of ground at the other
    let floor = "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nf 1 2 3 4\nv 9999 0 5\nv 10000 0 5\nv 10000 0.01 5\nf 5 6 7\n";
    fs::write(folder.join("floor.obj"), floor).unwrap();
    expect(0, &folder, &["build", "floor.obj"]);
    let misses = |plan: &str| {
        let facts = facts(&folder, &["floor.hpan", "--plan", plan, "-n", "20000"]);
        facts["misses"].as_u64().unwrap()
    };
    assert!(misses("uniform") > 19_900);
    assert_eq!(misses("area"), 0);
}

#[test]
fn vt_35_along_a_drive() {
    let folder = folder("vt_35_along_a_drive");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    // over the deck and under it, then beyond the floor
    fs::write(folder.join("drive.csv"), "t,x,y,z,yaw\n0,-20,0,,0\n1,0,0,0.5,0\n2,0,0,6.5,0\n3,60,0,0,0\n").unwrap();
    let facts = facts(&folder, &["bridge.hpan", "--along", "drive.csv", "-n", "4000"]);
    assert_eq!((facts["misses"].as_u64(), facts["not_in_image"].as_u64()), (Some(1000), Some(1000)));
    assert_eq!(facts["plan"], "along drive.csv");
    let [out, _] = expect(0, &folder, &["bench", "bridge.hpan", "--along", "drive.csv", "-n", "10"]);
    holds(&out, &["10 queries, along drive.csv", "misses   2 of 10: 0 no ground, 2 not in image"]);

    for (drive, why) in [
        ("t,x,z\n0,1,2\n", "drive.csv: line 1: the heading t,x,z has no y"),
        ("x,y,X\n0,1,2\n", "drive.csv: line 1: two columns are x"),
        ("t,x,y\n0,1,2\n1,2\n", "drive.csv: line 3: no y"),
        ("t,x,y\n0,one,2\n", "drive.csv: line 2: \"one\" is not a number (field 2)"),
        ("t,x,y,z,yaw\n", "drive.csv: no points"),
        ("", "drive.csv: no points"),
    ] {
        fs::write(folder.join("drive.csv"), drive).unwrap();
        holds(&error(2, &folder, &["bench", "bridge.hpan", "--along", "drive.csv"]), &[why]);
    }
}

/// The figures of a frame are of all four wheels.
#[test]
fn a_frame_is_of_all_wheels() {
    let folder = folder("a_frame_is_of_all_wheels");
    write(&folder, "city.hpan", &fixtures::city());
    let wheel = |k: usize| [[1.4, 0.8], [1.4, -0.8], [-1.4, 0.8], [-1.4, -0.8]][k];
    let row = |i: usize, k: usize| format!("{i},w{k},{},{},1\n", i as f64 / 20.0 + wheel(k)[0], wheel(k)[1]);
    let rows: String = (0..500).flat_map(|i| (0..4).map(move |k| (i, k))).map(|(i, k)| row(i, k)).collect();
    fs::write(folder.join("wheels.csv"), format!("t,wheel,x,y,z\n{rows}")).unwrap();
    let all = facts(&folder, &["city.hpan", "--along", "wheels.csv", "-n", "8000"]);
    let frames = &all["frames"];
    assert_eq!((frames["name"].as_str(), frames["count"].as_u64()), (Some("frame of 4 wheels"), Some(2000)));
    let [rate, mean] = ["queries_per_second", "mean"].map(|name| frames[name].as_f64().unwrap());
    assert!((rate * mean / 4e9 - 1.0).abs() < 1e-6, "four queries a frame: {frames}");
    let [max, p999, p99, p50] = ["max", "p999", "p99", "p50"].map(|name| frames[name].as_u64().unwrap());
    let worst = frames["worst"]["ns"].as_u64().unwrap();
    assert!([max, worst, p999, p99, p50].is_sorted_by(|a, b| a >= b), "{frames}");
    // all wheels of the slowest are within the car's length of each other
    let ends = |k: usize, i: usize| frames["worst"]["within"][k][i].as_f64().unwrap();
    assert!((ends(1, 0) - ends(0, 0) - 2.8).abs() < 1e-9 && (ends(1, 1) - ends(0, 1) - 1.6).abs() < 1e-9, "{frames}");
    let [out, err] = expect(0, &folder, &["bench", "city.hpan", "--along", "wheels.csv", "-n", "8000"]);
    assert!(!err.contains("of no tick"), "{err}");
    // a line that is missing shifts nobody: wheels are together by the time
    fs::write(folder.join("gap.csv"), format!("t,wheel,x,y,z\n{}", rows.replace(&row(7, 2), ""))).unwrap();
    let gap = ["bench", "city.hpan", "--along", "gap.csv", "-n", "8000", "--json"];
    let [found, err] = expect(0, &folder, &gap);
    holds(
        &err,
        &["note: gap.csv: 3 lines of times that not all 4 wheels have: they belong to no tick; the first is line 30\n"],
    );
    let frames = &serde_json::from_str::<Value>(&found).unwrap()["frames"];
    let end = |k: usize, i: usize| frames["worst"]["within"][k][i].as_f64().unwrap();
    assert!((end(1, 0) - end(0, 0) - 2.8).abs() < 1e-9 && (end(1, 1) - end(0, 1) - 1.6).abs() < 1e-9, "{frames}");
    // no wheel has a time of another one
    fs::write(folder.join("apart.csv"), "t,wheel,x,y\n0,l,1,1\n1,r,1,2\n").unwrap();
    assert!(facts(&folder, &["city.hpan", "--along", "apart.csv", "-n", "100"])["frames"].is_null());
    holds(&out, &["\nframe of 4 wheels "]);
    fs::write(folder.join("one.csv"), "t,x,y,z\n0,1,1,1\n1,2,1,1\n").unwrap();
    assert!(facts(&folder, &["city.hpan", "--along", "one.csv", "-n", "100"])["frames"].is_null());
}

#[test]
fn what_bench_refuses() {
    let folder = folder("what_bench_refuses");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    expect(0, &folder, &["build", "bridge.obj"]);
    for arguments in [
        &["bench"][..],
        &["bench", "bridge.hpan", "-n", "0"],
        &["bench", "bridge.hpan", "-n", "-5"],
        &["bench", "bridge.hpan", "-n", "1000000000001"],
        &["bench", "bridge.hpan", "-n", "18446744073709551616"],
        &["bench", "bridge.hpan", "-n", "1e6"],
        &["bench", "bridge.hpan", "--plan", "best"],
        &["bench", "bridge.hpan", "--plan", "worst", "--along", "drive.csv"],
    ] {
        assert!(expect(2, &folder, arguments)[0].is_empty());
    }
    let [_, err] = expect(2, &folder, &["bench", "bridge.hpan", "-n", "99999999999999999"]);
    holds(&err, &["'99999999999999999'", "a whole number from 1 to 1,000,000,000,000"]);
    error(2, &folder, &["bench", "absent.hpan"]);
    error(2, &folder, &["bench", "bridge.obj"]);
    error(2, &folder, &["bench", "bridge.hpan", "--along", "absent.csv"]);
    let mut image = fs::read(folder.join("bridge.hpan")).unwrap();
    let middle = image.len() - 100;
    image[middle] ^= 4;
    fs::write(folder.join("damaged.hpan"), &image).unwrap();
    error(2, &folder, &["bench", "damaged.hpan"]);
}

/// What rays and tyres come to, beside what the image states. One that states too little fails.
#[test]
fn cg_22_rays_and_tyres_beside_what_is_stated() {
    let folder = folder("cg_22_rays_and_tyres_beside_what_is_stated");
    let options = Options { rays: Some(Rays::All), bounds: true, ..Options::default() };
    fs::write(folder.join("curb.hpan"), &build(&fixtures::curb(), &options).unwrap().image[..]).unwrap();
    let told = serde_json::from_str::<Value>(&expect(0, &folder, &["info", "curb.hpan", "--json"])[0]).unwrap();
    for (plan, rows) in [("rays", 8), ("tyre", 4)] {
        let facts = facts(&folder, &["curb.hpan", "-n", "4000", "--plan", plan]);
        let reached = facts["reached"].as_array().unwrap();
        assert_eq!(reached.len(), rows);
        for row in reached {
            let [stated, found] = ["stated", "found"].map(|name| costs(row, name));
            assert!(found.iter().zip(stated).all(|(f, s)| *f > 0 && *f <= s), "{row}");
        }
        let asked: u64 = reached.iter().map(|row| row["asked"].as_u64().unwrap()).sum();
        assert!((2000..5000).contains(&asked), "{asked}");
        if plan == "rays" {
            assert_eq!(reached[5]["name"], "5 m, all kinds");
            assert_eq!(costs(&reached[5], "stated"), costs(&told, "ray_bound"));
        }
        let [out, _] = expect(0, &folder, &["bench", "curb.hpan", "-n", "400", "--plan", plan]);
        holds(&out, &["stated", "found", "ratio"]);
    }
    let [out, _] = expect(0, &folder, &["info", "curb.hpan"]);
    let [ray, tyre] = ["ray_bound", "tyre_bound"].map(|name| costs(&told, name));
    holds(&out, &[&format!("ray of 5 m  at most {} nodes", ray[0]), &format!("tyre        at most {} nodes", tyre[0])]);

    // no more stated than a vertical query takes
    let mut image = Aligned::new(&fs::read(folder.join("curb.hpan")).unwrap());
    let bound = offset_of!(Header, bound);
    let least: Vec<u8> = image[bound..bound + 16].to_vec();
    let table = offset_of!(Header, ray_bound);
    (0..4).for_each(|row| image[table + 16 * row..][..16].copy_from_slice(&least));
    mend_all(&mut image);
    fs::write(folder.join("forged.hpan"), &image[..]).unwrap();
    let [_, err] = expect(1, &folder, &["bench", "forged.hpan", "-n", "4000", "--plan", "rays"]);
    holds(&err, &["cost more than the image states"]);
    let [out, _] = expect(1, &folder, &["verify", "forged.hpan", "--json"]);
    holds(&out, &["a ray of 5 m may cost"]);
}
