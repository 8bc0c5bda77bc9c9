//! Ground that lies twice, some centimetres apart; and ground that single precision took.

use std::{fmt::Write, fs, path::Path};

use crate::shell::{check, expect, folder, holds, report, value, values};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Options, Scene, Triangle, build};
use serde_json::{Value, json};
use verification::obj::real_file;

/// An object of squares with a side of `side`, so many in x and y, its height by place; wound upwards or downwards.
struct Sheet<'a> {
    name: &'a str,
    low: [f64; 2],
    count: [u32; 2],
    side: f64,
    z: &'a dyn Fn(f64, f64) -> f64,
    down: bool,
}

impl Sheet<'_> {
    fn write(&self, text: &mut String, first: u32) -> u32 {
        let [wide, deep] = self.count.map(|n| n + 1);
        writeln!(text, "o {}", self.name).unwrap();
        for k in 0..wide * deep {
            let [x, y] = [(0, k % wide), (1, k / wide)].map(|(i, n)| self.low[i] + f64::from(n) * self.side);
            writeln!(text, "v {x:.4} {y:.4} {:.4}", (self.z)(x, y)).unwrap();
        }
        for k in (0..wide * (deep - 1)).filter(|k| k % wide + 1 < wide) {
            let [a, b, c, d] = [k, k + 1, k + wide + 1, k + wide].map(|v| v + first);
            let [b, d] = if self.down { [d, b] } else { [b, d] };
            writeln!(text, "f {a} {b} {c}\nf {a} {c} {d}").unwrap();
        }
        first + wide * deep
    }
}

/// Sheets as an OBJ.
fn obj(sheets: &[Sheet]) -> String {
    let mut text = String::new();
    sheets.iter().fold(1, |first, sheet| sheet.write(&mut text, first));
    text
}

fn square<'a>(name: &'a str, z: &'a dyn Fn(f64, f64) -> f64) -> Sheet<'a> {
    Sheet { name, low: [0.0; 2], count: [60; 2], side: 1.0, z, down: false }
}

/// Double surfaces in ground whose source is known, up to 10 cm apart.
fn of_source(folder: &Path, text: &str, more: &[&str]) -> Value {
    fs::write(folder.join("s.obj"), text).unwrap();
    check(folder, "double-surface", &[&["s.obj", "--up", "z", "--max-apart", "0.1"], more].concat())
}

/// Those in its image.
fn of_image(folder: &Path, most: &str, more: &[&str]) -> Value {
    expect(0, folder, &[&["build", "s.obj", "--up", "z"], more].concat());
    check(folder, "double-surface", &["s.hpan", "--max-apart", most])
}

/// The area of all pairs of sources.
fn area(look: &Value) -> f64 {
    values(look, "area").iter().sum()
}

fn is_near(found: f64, area: f64) -> bool {
    (found - area).abs() < 1e-4 * area
}

/// Hills of 60 m by 60 m.
fn hills(x: f64, y: f64) -> f64 {
    2.0 * (x / 17.0).sin() + 1.5 * (y / 23.0).cos()
}

#[test]
fn ground_that_was_exported_twice_is_told() {
    let folder = folder("ground_that_was_exported_twice_is_told");
    let higher = |x: f64, y: f64| hills(x, y) + 0.02;
    let [low, high] = [square("low", &hills), square("high", &higher)];
    let text = obj(&[low, high]);
    let twice = of_source(&folder, &text, &[]);
    let pair = &twice["findings"][0];
    assert_eq!([&twice["found"], &twice["limit"]], [&json!(1), &json!(0.1)]);
    assert!(is_near(area(&twice), 3600.0), "{twice}");
    let [least, mean, most] = ["least", "mean", "most"].map(|key| value(pair, key));
    // heights in the file and on the lattice are rounded
    assert!(least > 0.0198 && least <= mean && mean <= most && most < 0.0202, "{pair}");
    assert_eq!(pair["subject"], json!("high over low"));
    // an image says the same, and the kernel has both at the place
    assert_eq!(of_image(&folder, "0.1", &[]), twice);
    let [x, y, _] = [0, 1, 2].map(|i| pair["place"][i].as_f64().unwrap());
    let [out, _] = expect(0, &folder, &["query", "s.hpan", &format!("{x:.4},{y:.4}"), "--layers"]);
    assert!(out.contains(" high ") && out.contains(" low "), "{out}");
    // nor does it hang on threads
    for threads in ["1", "3"] {
        assert_eq!(of_source(&folder, &text, &["--threads", threads]), twice);
    }
    assert_eq!(of_image(&folder, "0.015", &[])["found"], json!(0));
    for far in ["4mm", "0.6", "-1", "x"] {
        let why = "a length from 0.005 to 0.5 m";
        holds(&expect(2, &folder, &["check", "s.hpan", "--max-apart", far])[1], &[why]);
    }
}

#[test]
fn ground_of_one_object_twice_is_told_and_a_plate_is_not() {
    let folder = folder("ground_of_one_object_twice_is_told_and_a_plate_is_not");
    let higher = |x: f64, y: f64| hills(x, y) + 0.02;
    let twice = |down: [bool; 2], names: [&str; 2], more: &[&str]| {
        let low = Sheet { down: down[0], ..square(names[0], &hills) };
        let high = Sheet { down: down[1], ..square(names[1], &higher) };
        of_source(&folder, &obj(&[low, high]), more)
    };
    for down in [[false; 2], [true; 2]] {
        assert!(is_near(area(&twice(down, ["s", "s"], &[])), 3600.0));
    }
    // files wind at will: what is of two objects is no plate
    assert!(is_near(area(&twice([true, false], ["a", "b"], &[])), 3600.0));
    fs::write(folder.join("s.toml"), "[build]\nundersides = \"ground\"\n[[material]]\nname = \"\"\nmu = 0.9\n")
        .unwrap();
    for more in [&[][..], &["--settings", "s.toml"]] {
        assert_eq!(twice([true, false], ["s", "s"], more)["found"], json!(0));
        // which an image alone does not tell
        assert!(is_near(area(&of_image(&folder, "0.1", more)), 3600.0));
    }
    // a closed one, whose underside is no ground, or by settings is
    let slab = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nv 0 0 .02\nv 9 0 .02\nv 9 9 .02\nv 0 9 .02\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    for more in [&[][..], &["--settings", "s.toml"]] {
        assert_eq!(of_source(&folder, slab, more)["found"], json!(0));
        assert_eq!(of_image(&folder, "0.1", more)["found"], json!(u8::from(!more.is_empty())));
    }
}

#[test]
fn a_road_laid_over_terrain_is_told() {
    let folder = folder("a_road_laid_over_terrain_is_told");
    let land = |x: f64, y: f64| hills(x, y);
    let road = |lift: f64| {
        let z = move |x: f64, y: f64| hills(x, y) + lift;
        let road = Sheet { name: "road", low: [10.3, 5.1], count: [8, 100], side: 0.5, z: &z, down: false };
        of_source(&folder, &obj(&[square("land", &land), road]), &[])
    };
    let told = road(0.02);
    assert!(is_near(area(&told), 200.0), "{told}");
    assert_eq!(told["findings"][0]["subject"], json!("road over land"));
    // as they are meant to lie, and another deck
    for lift in [0.3, 5.0] {
        assert_eq!(road(lift)["found"], json!(0), "{lift}");
    }
    let flat = |_: f64, _: f64| 0.0;
    let paint = |_: f64, _: f64| 0.002;
    let paint = Sheet { name: "paint", low: [10.3, 5.1], count: [2, 100], side: 0.1, z: &paint, down: false };
    assert_eq!(of_source(&folder, &obj(&[square("land", &flat), paint]), &[])["found"], json!(0));
}

/// However the ground is divided, as much of it lies twice, and as far apart.
#[test]
fn what_lies_twice_hangs_on_no_grid() {
    let folder = folder("what_lies_twice_hangs_on_no_grid");
    let road = |x: f64, y: f64| hills(x, y) + 0.01 + x / 600.0;
    let road = Sheet { name: "road", low: [10.3, 5.1], count: [8, 100], side: 0.5, z: &road, down: false };
    let plate = |_: f64, _: f64| 4.03;
    let plate = Sheet { name: "plate", low: [70.0; 2], count: [1; 2], side: 2.0, z: &plate, down: false };
    let floor = Sheet { name: "floor", low: [65.0; 2], count: [1; 2], side: 10.0, z: &|_, _| 4.0, down: false };
    fs::write(folder.join("s.obj"), obj(&[square("land", &hills), road, plate, floor])).unwrap();
    let mut files = vec![folder.join("s.obj")];
    files.extend(real_file("city/kitavi_city.obj"));
    for file in files {
        let build = ["build", file.to_str().unwrap(), "-o", "s.hpan"];
        let mut all = Vec::new();
        for more in [&[][..], &["--preset", "default"], &["--preset", "dense"], &["--tile", "14"], &["--tile", "18"]] {
            expect(0, &folder, &[&build[..], &["--up", "z", "--drop-outliers"], more].concat());
            let found = check(&folder, "double-surface", &["s.hpan", "--max-apart", "0.1"]);
            let figures = |p: &Value| {
                let sizes = ["area", "least", "mean", "most"].map(|key| (value(p, key) * 1e5).round());
                (p["subject"].to_string(), sizes)
            };
            all.push(found["findings"].as_array().unwrap().iter().map(figures).collect::<Vec<_>>());
        }
        // what is just 4 m2 is reported, too
        assert!(all[0].len() >= 2 && all.iter().all(|found| *found == all[0]), "{all:#?}");
    }
}

/// Where triangles lie very crowded, and beside a field of heights, it is looked at places.
#[test]
fn ground_twice_is_found_in_crowds_and_over_fields() {
    let folder = folder("ground_twice_is_found_in_crowds_and_over_fields");
    let found = |scene: &Scene| {
        let image = build(scene, &Options::default()).unwrap().image;
        fs::write(folder.join("s.hpan"), &image[..]).unwrap();
        area(&check(&folder, "double-surface", &["s.hpan", "--max-apart", "0.1"]))
    };
    let heights = vec![1.0; 41 * 41];
    let field = HeightField { pitch: 0.5, columns: 41, rows: 41, heights, tolerance: 0.001, ..HeightField::default() };
    let none = Scene { positions: Vec::new(), triangles: Vec::new(), ..fixtures::flat() };
    let mut scene = Scene { fields: vec![field], ..none.clone() };
    let lay = |scene: &mut Scene, low: [f64; 2], side: f64, z: f64| {
        let first = scene.positions.len() as u32;
        let corners = [[0.0, 0.0], [side, 0.0], [side, side], [0.0, side]];
        scene.positions.extend(corners.map(|[x, y]| [low[0] + x, low[1] + y, z]));
        scene.triangles.extend(
            [[0, 1, 2], [0, 2, 3]].map(|v: [u32; 3]| Triangle { v: v.map(|v| first + v), ..Triangle::default() }),
        );
    };
    lay(&mut scene, [3.0, 4.0], 10.0, 1.02);
    let of_field = found(&scene);
    assert!((of_field - 100.0).abs() < 6.0, "{of_field}");
    // 60 sheets of 30 by 30 squares, each 2 cm above the next
    let mut crowd = none;
    for k in 0..60 * 900u32 {
        lay(&mut crowd, [k % 30, k / 30 % 30].map(f64::from), 1.0, 0.02 * f64::from(k / 900));
    }
    let of_crowd = found(&crowd);
    assert!((of_crowd / (59.0 * 900.0) - 1.0).abs() < 0.03, "{of_crowd}");
}

/// Slabs of 1 m2 on a field, regular as cells are, wherever they begin and however far apart they lie.
#[test]
fn no_layout_lies_between_the_places() {
    let folder = folder("no_layout_lies_between_the_places");
    for (count, apart, shift) in
        [(400, 20.0, 3.0), (400, 20.0, 3.7), (400, 16.0, 0.0), (100, 32.0, 8.5), (200, 8.0, 1.0)]
    {
        let land = Sheet { count: [42; 2], side: 10.0, ..square("land", &|_, _| 0.0) };
        let mut text = String::new();
        land.write(&mut text, 1);
        text += "o slabs\n";
        let wide = if count == 100 { 10 } else { 20 };
        for k in 0..count {
            let [x, y] = [k % wide, k / wide].map(|n| shift + apart * f64::from(n));
            let [far_x, far_y] = [x + 1.0, y + 1.0];
            writeln!(text, "v {x} {y} .03\nv {far_x} {y} .03\nv {far_x} {far_y} .03\nv {x} {far_y} .03\nf -4 -3 -2 -1")
                .unwrap();
        }
        let (found, whole) = (area(&of_source(&folder, &text, &[])), f64::from(count));
        assert!(is_near(found, whole), "{count} {apart} {shift}: {found}");
    }
}

#[test]
fn all_that_is_within_the_limit_is_told() {
    let folder = folder("all_that_is_within_the_limit_is_told");
    let higher = |x: f64, y: f64| hills(x, y) + if x < 30.0 { 0.05 } else { 0.15 };
    let found = of_source(&folder, &obj(&[square("low", &hills), square("high", &higher)]), &[]);
    // and perhaps of a row of squares between, which is at the limit of what is parallel
    assert!((area(&found) - 1755.0).abs() < 15.0, "{found}");
    assert!((area(&of_image(&folder, "0.2", &[])) - 3570.0).abs() < 30.0);
    assert_eq!(of_image(&folder, "0.04", &[])["found"], json!(0));
    // lids of 1 m2, each an object: of each too little, and together much
    let level = |_: f64, _: f64| 0.0;
    let lid = |_: f64, _: f64| 0.03;
    let names: Vec<String> = (0..100).map(|k| format!("lid{k}")).collect();
    let lids = (0..100u32).map(|k| {
        let low = [k % 10, k / 10].map(|n| 2.0 + 5.0 * f64::from(n));
        Sheet { name: &names[k as usize], low, count: [1; 2], side: 1.0, z: &lid, down: false }
    });
    let sheets: Vec<Sheet> = [square("land", &level)].into_iter().chain(lids).collect();
    let found = of_source(&folder, &obj(&sheets), &[]);
    assert_eq!(found["found"], json!(100));
    assert!(is_near(area(&found), 100.0), "{found}");
    // and where nobody looked
    let heap: String = (0..300).map(|z| format!("v 0 0 {z}\nv 9 0 {z}\nv 0 9 {z}\nf -3 -2 -1\n")).collect();
    let found = of_source(&folder, &heap, &[]);
    assert_eq!(found["found"], json!(0));
    holds(&found["skipped"].to_string(), &[" of more than 256 triangles"]);
}

/// Along a line where they cross surfaces are near, in one object or two.
#[test]
fn what_crosses_lies_not_twice() {
    let folder = folder("what_crosses_lies_not_twice");
    let flat = |_: f64, _: f64| 0.0;
    for slope in [0.5, 3.0] {
        let ramp = move |x: f64, _: f64| slope * (x - 30.0);
        for names in [["a", "b"], ["a", "a"]] {
            let twice = of_source(&folder, &obj(&[square(names[0], &flat), square(names[1], &ramp)]), &[]);
            assert_eq!(twice["found"], json!(0), "{slope} {names:?}: {twice}");
        }
    }
    // stones that stick out of the ground
    let stones = |x: f64, y: f64| 0.4 * (x * 1.3).sin() * (y * 1.1).sin() - 0.1;
    let fine = Sheet { count: [240; 2], side: 0.25, ..square("stones", &stones) };
    // come out of it at less than 1 in 10 along a strip, of 3600 m2
    let twice = of_source(&folder, &obj(&[square("land", &flat), fine]), &[]);
    assert!(area(&twice) < 36.0, "{twice}");
}

/// Only one real file has it: the arrows on an interchange, about an inch above the road.
#[test]
fn real_ground_lies_once() {
    let folder = folder("real_ground_lies_once");
    for (name, more, most) in [
        ("roads/cloverleaf.obj", &["--up", "z", "--unit", "in"][..], 30.0),
        ("city/3dfier_innerbuffer_05.obj", &["--up", "z"], 0.0),
        ("city/zdm2.obj", &["--up", "y"], 0.0),
        ("city/recast_dungeon.obj", &["--up", "y"], 0.0),
        ("roads/chrono_multilayer/multilayer-terrain.obj", &["--up", "z"], 0.0),
    ] {
        let Some(file) = real_file(name) else { continue };
        let of = [file.to_str().unwrap(), "--max-apart", "0.1"];
        let found = area(&check(&folder, "double-surface", &[&of, more].concat()));
        assert!(found <= most && found >= 0.5 * most, "{name}: {found}");
    }
}

/// A grid finer than the steps of single precision so far from zero loses triangles, which is no matter of taste; walls
/// do not.
#[test]
fn what_rounding_took_is_a_warning() {
    let folder = folder("what_rounding_took_is_a_warning");
    let [x0, y0] = [690_000.0, 5_334_000.0];
    let single: fn(f64) -> String = |v| (v as f32).to_string();
    let write = |text: &str| fs::write(folder.join("s.obj"), text).unwrap();
    let grid = |side: f64, number: fn(f64) -> String| {
        let vertex = |i: u32| {
            let [x, y] = [x0 + f64::from(i % 40) * side, y0 + f64::from(i / 40) * side];
            format!("v {} {} {:.3}\n", number(x), number(y), hills(x - x0, y - y0))
        };
        let face = |i: u32| format!("f {0} {1} {2}\nf {1} {3} {2}\n", i + 1, i + 2, i + 41, i + 42);
        (0..1600).map(vertex).chain((0..1560).filter(|i| i % 40 < 39).map(face)).collect::<String>()
    };
    let told = |typed: &[&str]| {
        let (_, report) = report(&folder, &[&["s.obj", "--up", "z"], typed].concat());
        let precision = report["findings"].as_array().unwrap().iter().find(|f| f["code"] == "precision")?;
        let value = |name| precision["values"].as_array()?.iter().find(|v| v["name"] == name)?["value"].as_f64();
        Some((precision["severity"].as_str()?.to_string(), ["step", "lost", "triangles"].map(|n| value(n).unwrap())))
    };
    write(&grid(0.25, single));
    let (severity, [step, lost, all]) = told(&[]).unwrap();
    assert_eq!((severity.as_str(), step, all), ("warning", 0.5, 3042.0));
    // of 39 rows 19 fall onto the row before
    assert_eq!(lost, 2.0 * 39.0 * 19.0);
    assert_eq!(told(&["--allow", "precision"]), None);
    // posts in the middle of cells of half a metre, which are rounded to even multiples of the steps
    write(&grid(0.5, |v| ((v + 0.25) as f32).to_string()));
    assert_eq!(told(&[]), Some(("warning".into(), [0.5, 1482.0, 3042.0])));
    write(&grid(0.5, |v| (v + 0.25).to_string()));
    assert_eq!(told(&[]), None);
    write(&grid(1.25, single));
    assert_eq!(told(&[]), Some(("note".into(), [0.5, 0.0, 3042.0])));
    // houses with upright walls
    let mut town = String::new();
    for k in 0..100 {
        let [x, y] = [x0 + 20.25 * f64::from(k % 10), y0 + 20.3 * f64::from(k / 10)];
        for (dx, dy) in [(0.0, 0.0), (10.0, 0.0), (10.0, 8.3), (0.0, 8.3)] {
            for z in [0.0, 6.0] {
                writeln!(town, "v {} {} {z}", single(x + dx), single(y + dy)).unwrap();
            }
        }
        town += "f -8 -6 -5 -7\nf -6 -4 -3 -5\nf -4 -2 -1 -3\nf -2 -8 -7 -1\nf -7 -5 -3 -1\n";
    }
    write(&town);
    assert_eq!(told(&[]).unwrap().0, "note");
}
