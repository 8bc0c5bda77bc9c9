//! `hardpan diff`, as it is typed.

mod points;

use crate::shell::{BRIDGE, error, expect, folder, holds, soon};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// The bridge as `a`, and a changed one as `b`.
fn pair(test: &str, change: impl Fn(String) -> String) -> PathBuf {
    let folder = folder(test);
    fs::write(folder.join("a.obj"), BRIDGE).unwrap();
    fs::write(folder.join("b.obj"), change(BRIDGE.into())).unwrap();
    for name in ["a.obj", "b.obj"] {
        expect(0, &folder, &["build", name]);
    }
    folder
}

#[test]
fn equal_images() {
    // the faces in another order, and another name of the file: the same ground from another source
    let folder = pair("diff_equal", |s| s.replace("f 1 2 3 4", "# the floor\nf 1 2 3 4"));
    let [out, err] = expect(0, &folder, &["diff", "a.hpan", "b.hpan"]);
    holds(&out, &["equal: the same identity, the same content\n", ": provenance, no content\n"]);
    assert!(err.is_empty(), "{err}");
    let [out, _] = expect(0, &folder, &["diff", "a.hpan", "a.hpan"]);
    assert!(out.ends_with("bytes        equal\n"), "{out}");
    let facts: Value = json_of(0, &folder, &["diff", "a.hpan", "b.hpan"]);
    assert_eq!((&facts["equal"], &facts["ground"], &facts["facts"]), (&json!(true), &Value::Null, &json!([])));
    assert_eq!(facts["first_byte"]["section"], "provenance");
}

#[test]
fn a_corner_of_the_deck_rises() {
    let folder = pair("diff_rises", |s| s.replace("v 5 50 6", "v 5 50 6.5"));
    let [out, err] = expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "10"]);
    assert!(err.is_empty(), "{err}");
    let lines: Vec<&str> = out.lines().filter(|l| !l.starts_with("identity")).collect();
    // 10 x 10 squares, 8 vertices and 4 triangles' middles; 25 and 3 places along two edges of the deck, on them and
    // twice beside; the right side of the deck moves, with the places of 10 squares, two of triangles, a vertex, and
    // what is on those edges
    assert_eq!(
        lines,
        [
            "different",
            "z            0 to 6 m -> 0 to 6.5 m",
            "ground       196 places: vertices, middles of triangles, crossings of edges that only one has, beside edges where only one ends, and one in each square of 10.000 m, by which areas are counted",
            "heights      other at 41 places, about 1,000 m2, x -4.70492 to 5, y -48.949228 to 50, at most by +0.500000 m: at 5,50 from 6 to 6.5",
            "bytes        differ from 125 on: content header, content",
        ]
    );
    let facts: Value = json_of(1, &folder, &["diff", "b.hpan", "a.hpan"]);
    assert_eq!(facts["ground"]["largest"], json!({ "at": [5.0, 50.0], "from": 6.5, "to": 6.0 }));
    assert_eq!(facts["facts"][0], json!({ "name": "z", "first": "0 to 6.5 m", "second": "0 to 6 m" }));
}

#[test]
fn ground_goes_and_materials_change() {
    let folder = pair("diff_goes", |s| s.replace("usemtl Steel plate\nf 5 6 7 8", "usemtl Wood\nf 5 6 7"));
    let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "1"]);
    assert_eq!(facts["materials"], json!({ "lost": ["Steel plate"], "gained": ["Wood"], "changed": [], "values": [] }));
    let ground = &facts["ground"];
    assert_eq!((&ground["changed"]["places"], &ground["gained"]["places"]), (&json!(0), &json!(0)));
    // places of the deck's squares, 10 x 100; those below the diagonal stay, and three vertices; beside
    // squares of either half the middle of its triangle
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let over = (0..10).flat_map(|x| {
        let share = (0.448223 + f64::from(x + 45) * (2f64.sqrt() - 1.0)).fract();
        (0..100).map(move |y| (f64::from(x) + (0.529508 + f64::from(y) * golden).fract(), f64::from(y) + share))
    });
    let over = over.filter(|(x, y)| *y > 10.0 * x).count();
    // and along edges: of the diagonal 25 places 1 mm and as many 1 cm beside it, of the two sides 25 and 3 on them
    let lost = &ground["lost"];
    assert_eq!((&lost["places"], &lost["beside"]), (&json!(over + 2 + 2 * 25 + 28), &json!(25)));
    assert_eq!(
        (&lost["first"], &lost["area"]),
        (&json!([-5.0, -50.0 + 100.0 * 10.0 / 256.0, 6.0]), &json!(over as f64))
    );
    let [low, high] = [&lost["extent"][0], &lost["extent"][1]];
    assert_eq!((low, &high[1]), (&json!([-5.0, -46.09375]), &json!(50.0)));
    let change = &ground["materials"][0];
    assert_eq!(
        (&change["from"], &change["to"], &change["first"]),
        (&json!("Steel plate"), &json!("Wood"), &json!([-5.0, -50.0, 6.0]))
    );
    // on the diagonal, too
    assert_eq!(change["places"], 10 * 100 - over + 4 + 25);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    holds(
        &out,
        &[
            "materials    lost: \"Steel plate\"",
            "lost         ground at 12,578 places, about 499.9 m2, x -5 to 4.985694, y ",
            "material     \"Steel plate\" -> \"Wood\" at ",
        ],
    );
}

/// A square counts if its place is ground: what lies on the grid's lines has its area to the last square.
#[test]
fn areas_are_counted_by_squares() {
    // the deck is 10 m by 100 m, and its half that goes 1,000 m2 and less
    let cut = |to: f64| {
        let deck = format!("v -5 -50 6\nv 5 -50 6\nv 5 {to} 6\nv -5 {to} 6");
        move |s: String| s.replace("v -5 -50 6\nv 5 -50 6\nv 5 50 6\nv -5 50 6", &deck)
    };
    for (to, said, area) in [(49.0, "about 10 m2", 10.0), (-49.0, "about 990 m2", 990.0)] {
        let folder = pair("diff_areas", cut(to));
        let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan"]);
        holds(&out, &[said]);
        let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan"]);
        let lost = facts["ground"]["lost"]["area"].as_f64().unwrap();
        assert!((lost - area).abs() < 1e-6, "{lost}");
    }
    let folder = pair("diff_areas", |s| s.split("o deck").next().unwrap().replace("50", "500"));
    let [out, _] = expect(1, &folder, &["diff", "b.hpan", "a.hpan"]);
    holds(&out, &["lost         ground at 248,714 places, about 990,000 m2, "]);
}

/// Strips of 100 m by 10 cm along the grid, wherever they lie: as many places as area.
#[test]
fn strips_along_the_grid_have_their_area() {
    let folder = folder("strips_along_the_grid_have_their_area");
    let floor = "v -50 -50 0\nv 50 -50 0\nv 50 50 0\nv -50 50 0\nf 1 2 3 4\n";
    fs::write(folder.join("a.obj"), floor).unwrap();
    expect(0, &folder, &["build", "a.obj"]);
    for (k, from) in [-31.7, -0.05, 0.1, 17.333, 44.41].into_iter().enumerate() {
        let to = from + 0.1;
        let strips = [[[-50.0, from], [50.0, to]], [[from, -50.0], [to, 50.0]]];
        for [[x0, y0], [x1, y1]] in strips {
            let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
            let strip: String = corners.iter().map(|[x, y]| format!("v {x} {y} 3\n")).collect();
            fs::write(folder.join("b.obj"), format!("{floor}{strip}f 5 6 7 8\n")).unwrap();
            expect(0, &folder, &["build", "b.obj"]);
            let facts: Value = json_of(1, &folder, &["diff", "b.hpan", "a.hpan"]);
            let area = facts["ground"]["lost"]["area"].as_f64().unwrap();
            assert!((area - 10.0).abs() < 0.3, "{k}: {area} m2 from {x0},{y0}");
        }
    }
}

/// Output of `diff --json`.
fn json_of(code: i32, folder: &Path, arguments: &[&str]) -> Value {
    let [out, _] = expect(code, folder, &[arguments, &["--json"]].concat());
    serde_json::from_str(&out).unwrap()
}

/// Ground of 20 by 20 squares of 5 m that is nowhere level, as `a`.
fn hills(test: &str) -> PathBuf {
    let folder = folder(test);
    let vertex = |k: usize| {
        let (x, y) = (k % 21, k / 21);
        format!("v {} {} {}\n", 5 * x + 3, 5 * y + 7, ((7 * x + 3 * y) % 11) as f64 / 4.0 + 2.0)
    };
    let face = |k: usize| {
        let v = k / 20 * 21 + k % 20 + 1;
        format!("f {v} {} {}\nf {v} {} {}\n", v + 1, v + 22, v + 22, v + 21)
    };
    let text = (0..441).map(vertex).chain((0..400).map(face)).collect::<String>();
    fs::write(folder.join("a.obj"), text).unwrap();
    expect(0, &folder, &["build", "a.obj"]);
    folder
}

/// Ground in layers that are hardly farther apart than all of it rose is raised, not lost and gained.
#[test]
fn layers_that_rose_alike_are_the_same_layers() {
    let folder = folder("layers_that_rose_alike_are_the_same_layers");
    let plate = |z: f64| format!("v 0 0 {z}\nv 10 0 {z}\nv 10 10 {z}\nv 0 10 {z}\nf -4 -3 -2 -1\n");
    fs::write(folder.join("a.obj"), plate(0.0) + &plate(0.024)).unwrap();
    expect(0, &folder, &["build", "a.obj"]);
    expect(0, &folder, &["build", "a.obj", "--translate", "0,0,0.02", "-o", "b.hpan"]);
    let ground = &json_of(1, &folder, &["diff", "a.hpan", "b.hpan"])["ground"];
    let places = |kind: &str| ground[kind]["places"].as_u64().unwrap();
    assert_eq!((places("changed"), places("lost"), places("gained")), (ground["shared"].as_u64().unwrap(), 0, 0));
    let rise = ["to", "from"].map(|key| ground["largest"][key].as_f64().unwrap());
    assert!((rise[0] - rise[1] - 0.02).abs() < 2f64.powi(-15), "{rise:?}");
}

/// Squares of the ground about 0,0 at a height and of a material, as an image of that name.
fn layered(folder: &Path, name: &str, squares: &[(f64, f64, &str)]) {
    let square = |(half, z, material): &(f64, f64, &str)| {
        let corners = [[-half, -half], [*half, -half], [*half, *half], [-half, *half]];
        let v: String = corners.iter().map(|[x, y]| format!("v {x} {y} {z}\n")).collect();
        format!("usemtl {material}\n{v}f -4 -3 -2 -1\n")
    };
    fs::write(folder.join(format!("{name}.obj")), squares.iter().map(square).collect::<String>()).unwrap();
    expect(0, folder, &["build", &format!("{name}.obj")]);
}

/// A thousand layers, and another thousand above them, take hardly longer than asking for them: what lies apart is not
/// held against all.
#[test]
fn thick_stacks_are_compared_soon() {
    let folder = folder("diff_stacks");
    for (name, from, count) in [("a", 0, 1000), ("b", 1000, 999)] {
        let sheets: Vec<_> = (from..from + count).map(|k| (5.0, f64::from(k) / 500.0, "Road")).collect();
        layered(&folder, name, &sheets);
    }
    // a part of a second, and seven when each pair was held against all that is left over
    let [out, _] = soon(3, 1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "1", "--json"]);
    let ground = &serde_json::from_str::<Value>(&out).unwrap()["ground"];
    // the highest of one is the lowest of the other
    let area = |kind: &str| ground[kind]["area"].as_f64().unwrap();
    assert_eq!((area("changed"), area("lost"), area("gained")), (100.0, 99_900.0, 99_800.0));
}

/// Ground that covers other ground counts as raised or lowered, however near it lies: 400 m2 over 10,000.
#[test]
fn an_overlay_that_rose_is_not_lost() {
    let folder = folder("an_overlay_that_rose_is_not_lost");
    let floor = (50.0, 0.0, "Tar");
    let patch = |z: f64| (10.0, z, "Paint");
    let all = [
        (vec![patch(0.002)], vec![patch(0.03)], 0.028),
        // near what it covers only now
        (vec![patch(0.02)], vec![patch(0.002)], -0.018),
        // of the material that it covers
        (vec![(10.0, 0.002, "Tar")], vec![(10.0, 0.03, "Tar")], 0.028),
        // two, of which the lower one now lies near to where the upper one was
        (vec![patch(0.01), (10.0, 0.03, "Sign")], vec![patch(0.025), (10.0, 0.045, "Sign")], 0.015),
    ];
    for (before, after, by) in all {
        layered(&folder, "a", &[&[floor], &before[..]].concat());
        layered(&folder, "b", &[&[floor], &after[..]].concat());
        for (images, by) in [(["a.hpan", "b.hpan"], by), (["b.hpan", "a.hpan"], -by)] {
            let ground = &json_of(1, &folder, &[&["diff"][..], &images].concat())["ground"];
            let area = ground["changed"]["area"].as_f64().unwrap();
            assert!((area - 400.0).abs() < 8.0, "{area}");
            let largest = ["to", "from"].map(|key| ground["largest"][key].as_f64().unwrap());
            assert!((largest[0] - largest[1] - by).abs() < 1e-4, "{largest:?}");
            let [lost, gained] = ["lost", "gained"].map(|kind| ground[kind]["places"].as_u64().unwrap() > 0);
            assert_eq!([lost, gained], [false; 2]);
        }
        expect(0, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "0.03"]);
        expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "0.01"]);
    }
    // it is drawn as that
    layered(&folder, "a", &[floor, patch(0.002)]);
    layered(&folder, "b", &[floor, patch(0.03)]);
    let map = ["--png", "map.png", "--size", "200"];
    expect(1, &folder, &[&["diff", "a.hpan", "b.hpan"], &map[..]].concat());
    let (pixels, _) = pixels(&folder.join("map.png"));
    let count = |colour: [u8; 3]| pixels.iter().filter(|p| **p == colour).count();
    assert!(count([168, 72, 0]) >= 1500 && count([44, 40, 48]) < 1500, "the patch is 40 pixels wide");
}

/// A bridge, an underpass and another pavement are other ground, though as much is lost as gained; a map shows both.
#[test]
fn other_ground_is_lost_and_gained() {
    let folder = folder("other_ground_is_lost_and_gained");
    let floor = (50.0, 0.0, "Tar");
    let all = [
        // of one material or three, as far below as the bridge was above
        ((10.0, 5.0, "Tar"), (10.0, -5.0, "Tar")),
        ((10.0, 5.0, "Steel"), (10.0, -5.0, "Stone")),
        // a deck that is farther from it than that may be
        ((10.0, 0.1, "Steel"), (10.0, 0.7, "Steel")),
        ((10.0, 0.002, "Paint"), (10.0, 0.03, "Wood")),
    ];
    for (before, after) in all {
        layered(&folder, "a", &[floor, before]);
        layered(&folder, "b", &[floor, after]);
        let diff = ["diff", "a.hpan", "b.hpan", "--tolerance", "0.05"];
        let [out, _] = expect(1, &folder, &[&diff[..], &["--png", "map.png", "--size", "200"]].concat());
        assert!(out.starts_with("different\n"), "{before:?} {after:?}: {out}");
        holds(
            &out,
            &["\nlost         ground at ", "\ngained       ground at ", "heights      no change of more than 0.05 m"],
        );
        let [out, _] = expect(1, &folder, &[&diff[..], &["--json"]].concat());
        let ground = &serde_json::from_str::<Value>(&out).unwrap()["ground"];
        for kind in ["lost", "gained"] {
            let area = ground[kind]["area"].as_f64().unwrap();
            assert!((area - 400.0).abs() < 8.0, "{kind}: {area}");
        }
        let (pixels, _) = pixels(&folder.join("map.png"));
        let count = |colour: [u8; 3]| pixels.iter().filter(|p| **p == colour).count();
        // 40 pixels wide, and in the legend; of neither alone
        assert!((1600..3000).contains(&count([144, 0, 240])), "{}", count([144, 0, 240]));
        assert_eq!(count([240, 228, 66]), 0);
    }
    // what sinks below what it covered is not met there any more, however little that is
    layered(&folder, "a", &[floor, (10.0, 0.002, "Paint")]);
    layered(&folder, "b", &[floor, (10.0, -0.002, "Paint"), (10.0, 6.0, "Steel")]);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "0.01", "--json"]);
    let ground = &serde_json::from_str::<Value>(&out).unwrap()["ground"];
    for (kind, all) in [("lost", 400.0), ("gained", 800.0)] {
        let area = ground[kind]["area"].as_f64().unwrap();
        assert!((area - all).abs() < 16.0, "{kind}: {area}");
    }
}

/// Where only what is stated of the ground is other, the first line says so.
#[test]
fn only_facts_are_other() {
    let folder = folder("only_facts_are_other");
    let corners = "v -50 -50 0\nv 0 -50 0\nv 0 50 0\nv -50 50 0\nv 50 -50 0\nv 50 50 0\n";
    // a vertex beside an edge, to which that is stitched: the plane is the same, and what it is made of
    for (name, x) in [("a", 0.0), ("b", 0.0008)] {
        let text = format!("{corners}v {x} 0 0\nusemtl Tar\nf 1 2 3 4\nf 2 5 6 3 7\n");
        fs::write(folder.join(format!("{name}.obj")), text).unwrap();
        expect(0, &folder, &["build", &format!("{name}.obj")]);
    }
    let first = |options: &[&str], code: i32| {
        let [out, _] = expect(code, &folder, &[&["diff", "a.hpan", "b.hpan"], options].concat());
        out.lines().next().unwrap().to_string()
    };
    let facts = "triangles, references, layer bound, query cost, error";
    assert_eq!(first(&[], 1), format!("different: the ground is alike at all 250,018 places asked; other: {facts}"));
    assert!(first(&["--tolerance", "0"], 0).starts_with("alike: at none of 250,018 places asked "));
    for (settings, what) in [
        ("build.near = 2\n", "windows"),
        ("build.default_mu = 0.5\n", "no ground"),
        ("[[material]]\nname = \"Tar\"\nlabel = 7\n[[material]]\nname = \"\"\n", "materials"),
    ] {
        fs::write(folder.join("s.toml"), settings).unwrap();
        expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", "b.hpan"]);
        for (options, within) in [(&[][..], ""), (&["--tolerance", "0.1"], " to 0.1 m")] {
            let said = format!("different: the ground is alike{within} at all 250,010 places asked; other: {what}");
            assert_eq!(first(options, 1), said);
        }
    }
    // friction is of the ground
    fs::write(folder.join("s.toml"), "[[material]]\nname = \"Tar\"\nmu = 0.4\n[[material]]\nname = \"\"\n").unwrap();
    expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", "b.hpan"]);
    assert_eq!(first(&[], 1), "different");
}

/// Small changes by the hundred: rings about the largest alone; and ground that is as it was shows how it lies.
#[test]
fn a_map_of_many_small_changes_is_calm() {
    let folder = hills("a_map_of_many_small_changes_is_calm");
    let hills = fs::read_to_string(folder.join("a.obj")).unwrap();
    for (name, rise) in [("b", 0.0), ("c", 0.01)] {
        let plates = (0..100).map(|k| {
            let [x, y, z] =
                [f64::from(k % 10) * 9.7 + 5.0, f64::from(k / 10) * 9.7 + 9.0, 9.0 + rise * f64::from(k + 1)];
            let corners = [[x, y], [x + 0.04, y], [x + 0.04, y + 0.04], [x, y + 0.04]];
            corners.map(|[x, y]| format!("v {x} {y} {z}\n")).concat() + "f -4 -3 -2 -1\n"
        });
        fs::write(folder.join(format!("{name}.obj")), hills.clone() + &plates.collect::<String>()).unwrap();
        expect(0, &folder, &["build", &format!("{name}.obj")]);
    }
    let [out, _] = expect(1, &folder, &["diff", "b.hpan", "c.hpan", "--png", "map.png", "--size", "1000"]);
    holds(&out, &["rings about the largest; 64 small changes have none"]);
    let (pixels, wide) = pixels(&folder.join("map.png"));
    let rows = |rows: std::ops::Range<usize>| pixels[rows.start * wide..rows.end * wide].to_vec();
    let rings = |part: &[[u8; 3]]| part.iter().filter(|p| **p == [213, 0, 50]).count();
    // the plates of the north rise most
    assert!(rings(&rows(60..500)) > 2000 && rings(&rows(500..1070)) == 0, "{}", rings(&pixels));
    let part = rows(560..1060);
    let shade = |lights: std::ops::RangeInclusive<u8>| {
        part.iter().filter(|[r, g, b]| r == g && g == b && lights.contains(r)).count() as f64 / part.len() as f64
    };
    assert!(shade(190..=220) > 0.3 && shade(240..=255) > 0.2, "slopes in the shade, and in the sun");
}

#[test]
fn images_apart_say_so() {
    let folder = pair("diff_apart", |s| s);
    expect(0, &folder, &["build", "b.obj", "--translate", "90000,0,0"]);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    holds(
        &out,
        &[
            "\nheights      no place has ground in both; they do not lie over each other\n",
            "\nx            -50 to 50 m -> 89950 to 90050 m\n",
        ],
    );
    assert!(!out.contains("no change") && !out.contains("m2"), "{out}");
    let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    assert_eq!((&facts["ground"]["shared"], &facts["ground"]["largest"]), (&json!(0), &Value::Null));
}

#[test]
fn long_lists_of_names_are_bounded() {
    let many = |s: String| {
        let squares = (0..40).map(|i| {
            let v = format!("v {i} 60 0\nv {i}.9 60 0\nv {i}.9 61 0\n");
            format!("o tree{i:02}\nusemtl bark{i:02}\n{v}f -3 -2 -1\n")
        });
        s + &squares.collect::<String>()
    };
    let folder = pair("diff_names", many);
    let [out, _] = expect(1, &folder, &["diff", "b.hpan", "a.hpan"]);
    holds(
        &out,
        &[
            "\nsources      42 -> 2; lost: tree00, tree01, tree02, tree03, tree04, and 35 more\n",
            "\nmaterials    lost: \"bark00\", \"bark01\", \"bark02\", \"bark03\", \"bark04\", and 35 more\n",
        ],
    );
    assert!(out.lines().all(|line| line.len() < 200), "{out}");
    let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    assert_eq!(facts["sources"]["count"], json!([2, 42]));
    assert_eq!([&facts["sources"]["lost"], &facts["sources"]["gained"][39]], [&json!([]), &json!("tree39")]);
    // as many values of as many materials
    fs::write(folder.join("s.toml"), "[[material]]\npattern = \"bark*\"\nmu = 1e50\n[[material]]\nname = \"\"\n")
        .unwrap();
    expect(0, &folder, &["build", "b.obj", "--settings", "s.toml", "-o", "c.hpan"]);
    let [out, _] = expect(1, &folder, &["diff", "b.hpan", "c.hpan"]);
    holds(&out, &["\nmaterial     \"bark09\": mu 0.85 -> 1e50\n             and 30 other materials; all: --json\n"]);
    assert!(!out.contains("bark10"), "{out}");
}

#[test]
fn what_is_left_out_is_listed() {
    let folder = pair("diff_include", |s| s);
    let settings = "[[material]]\nname = \"Steel plate\"\ninclude = false\n[[material]]\nname = \"\"\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "b.obj", "--settings", "s.toml"]);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    holds(&out, &["\nmaterial     \"Steel plate\": include true -> false\n", "about 1,000 m2"]);
}

/// Heights count from the tolerance on; ground and materials always do.
#[test]
fn heights_within_a_tolerance_are_alike() {
    let raised = |z: &str| {
        let corner = format!("v 5 50 {z}");
        move |s: String| s.replace("v 5 50 6", &corner)
    };
    let folder = pair("diff_tolerance", raised("6.25"));
    let diff = |code: i32, metres: &str| {
        expect(code, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", metres])[0].clone()
    };
    let out = diff(0, "0.25");
    assert!(
        out.starts_with("alike: at none of 250,096 places asked does the ground differ by more than the tolerance\n"),
        "{out}"
    );
    holds(&out, &["\nheights      no change of more than 0.25 m there\n", "\nz            0 to 6 m -> 0 to 6.25 m\n"]);
    let out = diff(1, "0.2499");
    assert!(out.starts_with("different\n"), "{out}");
    holds(&out, &["heights      other at ", "at most by +0.250000 m: at 5,50 from 6 to 6.25"]);
    let json = ["diff", "a.hpan", "b.hpan", "--json", "--tolerance", "0.3"];
    let facts: Value = serde_json::from_str(&expect(0, &folder, &json)[0]).unwrap();
    assert_eq!(
        (&facts["equal"], &facts["alike"], &facts["ground"]["changed"]["places"]),
        (&json!(false), &json!(true), &json!(0))
    );
    let facts: Value = serde_json::from_str(&expect(1, &folder, &json[..4])[0]).unwrap();
    assert_eq!(facts["alike"], Value::Null);
    for bad in ["-1", "nan"] {
        let [_, err] = expect(2, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", bad]);
        holds(&err, &["a length, 0 or more"]);
    }
    // what is not a height
    for (k, settings) in
        ["[[material]]\nname = \"\"\nmu = 0.8\n", "build.default_mu = 0.5\n", "build.near = 2\n"].iter().enumerate()
    {
        fs::write(folder.join("s.toml"), settings).unwrap();
        expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", "b.hpan"]);
        let said = ["different\n", "different: the ground is alike to 100 m at all "][k.min(1)];
        assert!(diff(1, "100").starts_with(said), "{k}");
    }
    let folder = pair("diff_tolerance_steel", |s| s.replace("usemtl Steel plate", "usemtl Wood"));
    expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "100"]);
    expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "100", "--grid", "1"]);
}

/// A plate of 200 m with a vertex 5 cm from its south edge, as `a`, and with other faces, as `b`.
fn plates(test: &str, more: &str, faces: &str) -> PathBuf {
    let folder = folder(test);
    let plate = "v 0 0 0\nv 200 0 0\nv 200 200 0\nv 0 200 0\nv 100 0.05 0\n";
    fs::write(folder.join("a.obj"), format!("{plate}f 1 2 3 4\n")).unwrap();
    fs::write(folder.join("b.obj"), format!("{plate}{more}{faces}")).unwrap();
    for name in ["a.obj", "b.obj"] {
        expect(0, &folder, &["build", name]);
    }
    folder
}

/// Four squares of 10 m in a row, with friction up, down, down and the same under another name; heights change in the
/// last two.
#[test]
fn a_map_of_friction_and_of_a_window() {
    let folder = folder("a_map_of_friction_and_of_a_window");
    let row = |name: &str, last: &str, heights: [&str; 2], mu: [&str; 3]| {
        let [east, north] = heights;
        let v = format!(
            "v 0 0 0\nv 10 0 0\nv 10 10 0\nv 0 10 0\nv 20 0 0\nv 20 10 0\nv 30 0 0\nv 30 10 {north}\nv 40 0 {east}\nv 40 10 0\n"
        );
        let f = "usemtl Sand\nf 1 2 3 4\nusemtl Clay\nf 2 5 6 3\nusemtl Ice\nf 5 7 8 6\nusemtl ";
        fs::write(folder.join(format!("{name}.obj")), format!("{v}{f}{last}\nf 7 9 10 8\n")).unwrap();
        let mu: String = ["Sand", "Clay", "Ice", last]
            .iter()
            .zip(mu.iter().chain(&["0.9"]))
            .map(|(material, mu)| format!("[[material]]\nname = \"{material}\"\nmu = {mu}\n"))
            .collect();
        fs::write(folder.join(format!("{name}.toml")), mu).unwrap();
        expect(0, &folder, &["build", &format!("{name}.obj"), "--settings", &format!("{name}.toml")]);
    };
    row("a", "Tar", ["0", "0"], ["0.5", "0.5", "0.2"]);
    row("b", "Pitch", ["-0.2", "1"], ["0.7", "0.4", "0.1"]);
    let diff = ["diff", "a.hpan", "b.hpan", "--png", "map.png"];
    let [out, _] = expect(1, &folder, &diff);
    holds(
        &out,
        &[
            "\nheights      other at ",
            "x 20.",
            " to 40, y 0 to 10, at most by +1.000000 m: at 30,10 from 0 to 1\n",
            "\nfriction     mu higher at ",
            "about 100 m2, x 0 to 10, y 0 to 10, ",
            "\nfriction     mu lower at ",
            "about 200 m2, x 10 to 30, y 0 to 10, ",
        ],
    );
    let (up, down) = ([86, 200, 190], [214, 110, 172]);
    // the ground begins behind a margin and the title
    let row_of = |more: &[&str]| {
        let facts: Value =
            serde_json::from_str(&expect(1, &folder, &[&diff[..], more, &["--json"]].concat())[0]).unwrap();
        let [left, top, width, height] = [("ground_at", 0), ("ground_at", 1), ("pixels", 0), ("pixels", 1)]
            .map(|(key, i)| facts["picture"][key][i].as_u64().unwrap() as usize);
        let (pixels, wide) = pixels(&folder.join("map.png"));
        pixels[(top + height / 2) * wide + left..][..width].to_vec()
    };
    let row = row_of(&[]);
    assert_eq!(row.len(), 1600);
    assert!(row[..399].iter().all(|p| *p == up) && row[401..799].iter().all(|p| *p == down));
    // slopes have a hint of light and shade
    let near = |p: [u8; 3], colour: [u8; 3]| p.iter().zip(colour).all(|(p, c)| p.abs_diff(c) < 12);
    let share =
        |part: &[[u8; 3]], colour: [u8; 3]| part.iter().filter(|p| near(**p, colour)).count() * 100 / part.len();
    // of heights and friction that changed, heights are drawn
    assert_eq!((share(&row[810..], down), share(&row[810..], up)), (0, 0));
    // a part of it in as many pixels as are asked for
    let part = row_of(&["--window", "5,0,15,10", "--size", "200"]);
    assert!(part.len() == 200 && part[..99].iter().all(|p| *p == up) && part[101..].iter().all(|p| *p == down));
    assert_eq!(row_of(&["--window", "5,0,15,10", "--per-metre", "7"]).len(), 70);
    // the colours end where it is said: what goes beyond has the last
    let ends = row_of(&["--range", "-0.01,0.01"]);
    assert!(share(&ends[900..1190], [168, 72, 0]) > 70 && share(&row[900..1190], [168, 72, 0]) == 0);
    for bad in ["0.5,1", "1,-1", "0,0", "x", "0,1e-12"] {
        holds(&expect(2, &folder, &[&diff[..], &["--range", bad]].concat())[1], &["0 between them"]);
    }
    expect(2, &folder, &["diff", "a.hpan", "b.hpan", "--range", "-1,1"]);
    // a window beside all ground would replace the map by an empty one
    let kept = fs::read(folder.join("map.png")).unwrap();
    let why = error(2, &folder, &[&diff[..], &["--window", "41,0,45,10"]].concat());
    holds(&why, &["map.png: --window shows none of the ground, which lies at x 0 to 40 m, y 0 to 10 m; give"]);
    assert!(fs::read(folder.join("map.png")).unwrap() == kept);
    // what does not lie over each other says so
    expect(0, &folder, &["build", "b.obj", "--translate", "300,0,0", "-o", "far.hpan"]);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "far.hpan", "--png", "map.png"]);
    holds(&out, &["pixels, 21.2 cm each; no place has ground in both images: they do not lie over each other"]);
    // all ground is that of both, between them is none
    let between = ["--png", "map.png", "--window", "100,0,110,10"];
    let [_, err] = expect(1, &folder, &[&["diff", "a.hpan", "far.hpan"], &between[..]].concat());
    holds(&err, &["note: no ground is met in the picture; it lies at x 0 to 340 m, y 0 to 10 m\n"]);
}

/// Changes of friction that are few have a colour each, in the legend too; rolling resistance and gain have places, and
/// a colour of their own.
#[test]
fn a_map_of_few_frictions_and_of_rolling_resistance() {
    let folder = folder("a_map_of_few_frictions_and_of_rolling_resistance");
    let tile = |k: usize| {
        let x = 10 * k;
        format!("v {x} 0 0\nv {} 0 0\nv {} 10 0\nv {x} 10 0\nusemtl M{k}\nf -4 -3 -2 -1\n", x + 10, x + 10)
    };
    fs::write(folder.join("a.obj"), (0..8).map(tile).collect::<String>()).unwrap();
    let image = |name: &str, all: [&str; 8]| {
        let entry = |(k, set): (usize, &&str)| format!("[[material]]\nname = \"M{k}\"\n{set}\n");
        fs::write(folder.join("s.toml"), all.iter().enumerate().map(entry).collect::<String>()).unwrap();
        expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", name]);
    };
    image("a.hpan", ["mu = 0.8"; 8]);
    let few = ["0.55", "0.35", "0.25", "0.2"].map(|mu| format!("mu = {mu}"));
    let rest = ["mu = 0.8\nrr = 2.5", "mu = 0.8\nrr = 0.5", "mu = 0.8\ngain = 1.5", "mu = 0.8"];
    let all: Vec<&str> = few.iter().map(String::as_str).chain(rest).collect();
    image("b.hpan", all.try_into().unwrap());
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--png", "map.png"]);
    holds(
        &out,
        &[
            "\nfriction     mu lower at ",
            ", about 400 m2, x 0 to 40, y 0 to 10, ",
            "\nrolling      rr higher at ",
            ", about 99.99 m2, x 40 to 50, y 0 to 10, the first 40,0,0\n",
            "\nrolling      rr lower at ",
            ", about 100 m2, x 50 to 60, y 0 to 10, ",
            "\ngain         higher at ",
            ", about 99.99 m2, x 60 to 70, y 0 to 10, ",
        ],
    );
    let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    let ground = &facts["ground"];
    for (key, west) in [("rr_higher", 40.0), ("rr_lower", 50.0), ("gain_higher", 60.0)] {
        assert!((ground[key]["area"].as_f64().unwrap() - 100.0).abs() < 1.0, "{key}: {ground}");
        assert_eq!(ground[key]["extent"], json!([[west, 0.0], [west + 10.0, 10.0]]), "{key}");
    }
    assert_eq!((&ground["gain_lower"]["places"], &ground["materials"]), (&json!(0), &json!([])));
    let (all, wide) = pixels(&folder.join("map.png"));
    let [facts, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--png", "map.png", "--json"]);
    let [left, top] = ground_at(&facts);
    let at = |k: usize| -> Vec<[u8; 3]> {
        let corner = (top + 96) * wide + left + 200 * k + 100;
        let mut seen: Vec<_> = (0..8).flat_map(|y| all[corner + y * wide..][..8].to_vec()).collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    };
    let legend = &all[(top + 200 + 40) * wide..];
    let mut before = [242; 3];
    for colour in (0..4).map(at) {
        assert_eq!(colour.len(), 1, "of one colour: {colour:?}");
        assert!(before[1] - colour[0][1] > 25, "{before:?}, {colour:?}");
        assert!(legend.iter().filter(|p| **p == colour[0]).count() > 200, "{colour:?}");
        before = colour[0];
    }
    assert!((4..7).all(|k| at(k).len() == 1 && at(k) == at(4)) && at(4) != at(7) && at(7) == [[242; 3]]);
    // slight ones are reported as they are
    image(
        "c.hpan",
        ["mu = 0.80003", "mu = 0.79999", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8"],
    );
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "c.hpan", "--png", "map.png"]);
    assert!(out.ends_with("; mu changes by -0.00001 to +0.00003 here\n"), "{out}");
    image(
        "d.hpan",
        ["mu = 0.800000001", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8", "mu = 0.8"],
    );
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "d.hpan", "--png", "map.png"]);
    assert!(out.ends_with("; mu changes by up to +1e-9 here\n"), "{out}");
}

/// No square of the grid meets it, nor the middle of a triangle; the edges where it was do.
#[test]
fn ground_is_missed_beside_edges() {
    let hole = "v 60.11 71.13 0\nv 60.21 71.13 0\nv 60.21 71.23 0\nv 60.11 71.23 0\n";
    let cases = [
        ("sliver", plates("diff_sliver", "", "f 1 5 4\nf 5 3 4\nf 5 2 3\n"), [0.0, 0.0, 200.0, 0.05]),
        (
            "hole",
            plates("diff_hole", hole, "f 1 2 7 6\nf 2 3 8 7\nf 3 4 9 8\nf 4 1 6 9\n"),
            [60.109, 71.129, 60.211, 71.231],
        ),
    ];
    for (name, folder, [x0, y0, x1, y1]) in &cases {
        for (images, kind, other) in
            [(["a.hpan", "b.hpan"], "lost", "gained"), (["b.hpan", "a.hpan"], "gained", "lost")]
        {
            let diff = [&["diff", "--tolerance", "0.01"][..], &images].concat();
            let [out, _] = expect(1, folder, &diff);
            holds(&out, &["different\n", &format!("\n{kind:<12} ground at ")]);
            let facts: Value = serde_json::from_str(&expect(1, folder, &[&diff[..], &["--json"]].concat())[0]).unwrap();
            assert_eq!(facts["alike"], false);
            let ground = &facts["ground"];
            assert_eq!((&ground[other]["places"], &ground["changed"]["places"]), (&json!(0), &json!(0)), "{name}");
            assert!(ground[kind]["beside"].as_u64().unwrap() > 9, "{name}: {ground}");
            // a triangle of 200 m by 5 cm; and 1 dm2, where a square has 16
            let area = ground[kind]["area"].as_f64().unwrap();
            assert!(if *name == "sliver" { (area - 5.0).abs() < 0.75 } else { area < 0.33 }, "{name}: {area}");
            let [low, high] = [0, 1].map(|end| [0, 1].map(|k| ground[kind]["extent"][end][k].as_f64().unwrap()));
            assert!(low[0] >= *x0 && low[1] >= *y0 && high[0] <= *x1 && high[1] <= *y1, "{name}: {low:?} {high:?}");
            // the picture shows the same, in rings
            let [out, _] = expect(1, folder, &[&diff[..], &["--png", "map.png"]].concat());
            holds(&out, &["in all pixels", "\nmap.png: 1600 x 1600 pixels, 12.5 cm each; "]);
            let colour = if kind == "lost" { [44, 40, 48] } else { [240, 228, 66] };
            let (pixels, _) = pixels(&folder.join("map.png"));
            let [found, ring] = [colour, [213, 0, 50]].map(|c| pixels.iter().filter(|p| **p == c).count());
            assert!(found > 0 && ring > 30, "{name}: {found} {ring}");
        }
    }
    // a step of the lattice is an edge elsewhere, no ground
    let folder = &cases[0].1;
    expect(0, folder, &["build", "a.obj", "--translate", "0.0003,0.0003,0", "-o", "c.hpan"]);
    let [out, _] = expect(1, folder, &["diff", "a.hpan", "c.hpan"]);
    holds(&out, &["\nno area      lost at ", "; gained at ", ": along edges, or narrower"]);
    assert!(!out.contains("ground at"), "{out}");
}

/// Houses on a plain, all of round coordinates: a step of the lattice or a few leave no area, and a house that goes has
/// its own.
#[test]
fn a_mesh_that_was_moved_has_no_area() {
    let folder = folder("a_mesh_that_was_moved_has_no_area");
    let plane = |x: [i32; 2], y: [i32; 2], z: i32| {
        let corners = [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]];
        corners.map(|[x, y]| format!("v {x} {y} {z}\n")).concat() + "f -4 -3 -2 -1\n"
    };
    let town = |without: i32| {
        let cells = (0..100).map(|k| (k % 10, k / 10)).map(|(i, j)| {
            let ([x, y], material) = ([50 * i, 50 * j], if (i + j) % 2 == 0 { "Tar" } else { "Grass" });
            format!("usemtl {material}\n") + &plane([x, x + 50], [y, y + 50], 0)
        });
        let roofs = (0..100).filter(|k| *k != without).map(|k| {
            let [x, y] = [50 * (k % 10) + 10, 50 * (k / 10) + 20];
            plane([x, x + 20], [y, y + 15], 6 + k % 3)
        });
        cells.collect::<String>() + "usemtl Tiles\n" + &roofs.collect::<String>()
    };
    fs::write(folder.join("a.obj"), town(-1)).unwrap();
    fs::write(folder.join("b.obj"), town(44)).unwrap();
    expect(0, &folder, &["build", "a.obj"]);
    for moved in ["0.0005,0,0", "0.0005,-0.0005,0", "0.002,0.002,0"] {
        expect(0, &folder, &["build", "a.obj", "--translate", moved, "-o", "m.hpan"]);
        let [out, _] = expect(1, &folder, &["diff", "a.hpan", "m.hpan", "--grid", "1"]);
        holds(
            &out,
            &["\nheights      no change there\n", "\nno area      lost at ", "; gained at ", "of another material at "],
        );
        let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "m.hpan"]);
        for kind in ["lost", "gained"] {
            assert_eq!(facts["ground"][kind]["area"], 0.0, "{moved} {kind}");
            assert!(
                facts["ground"][kind]["places"].as_u64().unwrap() > 400,
                "{moved} {kind}: the corners of the roofs"
            );
        }
        // and a house less, which lies over 20 m by 15 m
        expect(0, &folder, &["build", "b.obj", "--translate", moved, "-o", "m.hpan"]);
        let json = ["diff", "a.hpan", "m.hpan", "--grid", "0.5", "--json"];
        let facts: Value = serde_json::from_str(&expect(1, &folder, &json)[0]).unwrap();
        let [lost, gained] = ["lost", "gained"].map(|kind| facts["ground"][kind]["area"].as_f64().unwrap());
        assert!((lost - 300.0).abs() < 20.0 && gained == 0.0, "{moved}: {lost} {gained}");
    }
}

/// The same corners, and the other diagonal of a warped square: the surfaces differ most where the diagonals cross.
#[test]
fn a_square_cut_the_other_way_is_found() {
    let folder = folder("a_square_cut_the_other_way_is_found");
    let square = |faces: &str| format!("v 0 0 0\nv 1000 0 0.25\nv 1000 1000 0\nv 0 1000 0.25\n{faces}");
    fs::write(folder.join("a.obj"), square("f 1 2 3\nf 1 3 4\n")).unwrap();
    fs::write(folder.join("b.obj"), square("f 1 2 4\nf 2 3 4\n")).unwrap();
    for name in ["a.obj", "b.obj"] {
        expect(0, &folder, &["build", name]);
    }
    let facts: Value = json_of(1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "1000"]);
    assert_eq!(facts["ground"]["largest"], json!({ "at": [500.0, 500.0], "from": 0.0, "to": 0.25 }));
    assert_eq!(facts["ground"]["crossings"], json!({ "crossings": 1, "all": true }));
    expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "0.2499"]);
    expect(0, &folder, &["diff", "a.hpan", "b.hpan", "--tolerance", "0.25"]);
}

/// Red, green and blue of a picture's pixels, and its width.
fn pixels(place: &Path) -> (Vec<[u8; 3]>, usize) {
    let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(place).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let width = reader.next_frame(&mut bytes).unwrap().width as usize;
    (bytes.chunks_exact(3).map(|p| p.try_into().unwrap()).collect(), width)
}

/// Left and top of the ground in a picture, from the facts of a diff.
fn ground_at(facts: &str) -> [usize; 2] {
    let facts: Value = serde_json::from_str(facts).unwrap();
    [0, 1].map(|i| facts["picture"]["ground_at"][i].as_u64().unwrap() as usize)
}

/// Each pixel has the colour of what happened there, and the legend says of which.
#[test]
fn a_map_of_changes() {
    // a quarter of the floor goes and one comes, a part rises and one sinks
    let tiles = |rows: [&str; 4]| {
        let tile = |(i, row): (usize, &&str)| {
            let (x, [z, material]) = (10 * i, row.split(' ').collect::<Vec<_>>()[..].try_into().unwrap());
            let corners = [(x, 0), (x + 10, 0), (x + 10, 10), (x, 10)];
            let v: String = corners.iter().map(|(x, y)| format!("v {x} {y} {z}\n")).collect();
            format!("{v}usemtl {material}\nf -4 -3 -2 -1\n")
        };
        rows.iter().enumerate().filter(|(_, row)| !row.is_empty()).map(tile).collect::<String>()
    };
    let folder = folder("a_map_of_changes");
    fs::write(folder.join("a.obj"), tiles(["0 Sand", "", "0 Sand", "0 Sand"])).unwrap();
    fs::write(folder.join("b.obj"), tiles(["2 Sand", "0 Sand", "-2 Sand", "0 Clay"])).unwrap();
    fs::write(folder.join("c.obj"), tiles(["2 Sand", "0 Sand", "-2 Sand", ""])).unwrap();
    for name in ["a", "b", "c"] {
        expect(0, &folder, &["build", &format!("{name}.obj"), "--stitch", "false"]);
    }
    let picture = |first: &str, second: &str| {
        let [out, _] = expect(1, &folder, &["diff", first, second, "--png", "map.png", "--json"]);
        let (bytes, width) = pixels(&folder.join("map.png"));
        let [left, top] = ground_at(&out);
        // the middle of each tile, 400 pixels wide
        let at = |k: usize| {
            let mut pixels = bytes[(top + 200) * width + left + 400 * k + 200..][..8].to_vec();
            pixels.dedup();
            pixels
        };
        [0, 1, 2, 3].map(at)
    };
    let [up, gained, down, clay] = picture("a.hpan", "b.hpan");
    assert_eq!((up, gained, down), (vec![[168, 72, 0]], vec![[240, 228, 66]], vec![[5, 72, 150]]));
    let other = vec![[196, 188, 224]];
    assert_eq!(clay, other);
    let [down, lost, up, gone] = picture("b.hpan", "a.hpan");
    assert_eq!((down, lost, up), (vec![[5, 72, 150]], vec![[44, 40, 48]], vec![[168, 72, 0]]));
    assert_eq!(gone, other);
    assert_eq!(picture("b.hpan", "c.hpan")[3], [[44, 40, 48]]);
    // a picture that hardpan drew is replaced, another one is not
    fs::write(folder.join("other.png"), "mine").unwrap();
    holds(&error(2, &folder, &["diff", "a.hpan", "b.hpan", "--png", "other.png"]), &["other.png: ", "--force"]);
    expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--png", "other.png", "--force"]);
    holds(&error(2, &folder, &["diff", "a.hpan", "b.hpan", "--png", "a.txt"]), &["maps are PNG"]);
    // equal images have a map too
    expect(0, &folder, &["diff", "a.hpan", "a.hpan", "--png", "map.png"]);
}

#[test]
fn properties_of_materials_and_bad_words() {
    let folder = pair("diff_properties", |s| s);
    let settings = "[[material]]\nname = \"Steel plate\"\nmu = 0.4\nrr = 1.5\nclasses = [3, 7]\nlabel = 12\n\
                    [[material]]\nname = \"\"\n";
    fs::write(folder.join("s.toml"), settings).unwrap();
    expect(0, &folder, &["build", "a.obj", "--settings", "s.toml", "-o", "c.hpan"]);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "c.hpan"]);
    holds(
        &out,
        &[
            "\nmaterial     \"Steel plate\": mu 0.85 -> 0.4, rr 1 -> 1.5, classes [] -> [3,7], label 0 -> 12\n",
            "heights      no change",
            "differ from 2,112 on: materials, content",
        ],
    );
    assert!(!out.contains("Asphalt"), "it has not changed: {out}");
    let [out, _] = expect(1, &folder, &["diff", "c.hpan", "a.hpan", "--json"]);
    let facts: Value = serde_json::from_str(&out).unwrap();
    let value =
        |field: &str, from: Value, to: Value| json!({ "name": "Steel plate", "field": field, "from": from, "to": to });
    let values = [
        value("mu", json!(0.4), json!(0.85)),
        value("rr", json!(1.5), json!(1.0)),
        value("classes", json!([3, 7]), json!([])),
        value("label", json!(12), json!(0)),
    ];
    let wanted = json!({ "lost": [], "gained": [], "changed": ["Steel plate"], "values": values });
    assert_eq!(facts["materials"], wanted);
    for pitch in ["0", "-1", "nan", "x"] {
        expect(2, &folder, &["diff", "a.hpan", "c.hpan", "--grid", pitch]);
    }
    holds(&error(2, &folder, &["diff", "a.hpan", "c.hpan", "--grid", "1e-9"]), &["try --grid 0.2"]);
    error(2, &folder, &["diff", "a.hpan", "a.obj"]);
    error(2, &folder, &["diff", "a.hpan", "absent.hpan"]);
}

/// One of 100,352 triangles is missing. No middle of the grid's squares meets it, and its corners belong to others.
#[test]
fn one_small_triangle_is_missed() {
    let folder = folder("one_small_triangle_is_missed");
    const SIDE: usize = 224;
    // half of the columns and rows are narrow
    let at = |i: usize| if i <= SIDE / 2 { i as f64 / 16.0 } else { i as f64 * 2.0 - SIDE as f64 * 31.0 / 32.0 };
    let mut text = String::new();
    for (i, j) in (0..=SIDE).flat_map(|i| (0..=SIDE).map(move |j| (i, j))) {
        text += &format!("v {} {} {}\n", at(i), at(j), (i % 3) as f64 / 8.0);
    }
    for (i, j) in (0..SIDE).flat_map(|i| (0..SIDE).map(move |j| (i, j))) {
        let v = |i: usize, j: usize| i * (SIDE + 1) + j + 1;
        let [a, b, c, d] = [v(i, j), v(i + 1, j), v(i + 1, j + 1), v(i, j + 1)];
        text += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
    }
    fs::write(folder.join("whole.obj"), &text).unwrap();
    // the lower right half of a narrow square; the grid's pitch is 231 m / 500, and its middles are 0.462 m apart from
    // 0.231 on
    let (i, j) = (50, 90);
    let v = |i: usize, j: usize| i * (SIDE + 1) + j + 1;
    let face = format!("f {} {} {}\n", v(i, j), v(i + 1, j), v(i + 1, j + 1));
    assert_eq!(text.matches(&face).count(), 1);
    fs::write(folder.join("torn.obj"), text.replace(&face, "")).unwrap();
    for name in ["whole.obj", "torn.obj"] {
        expect(0, &folder, &["build", name]);
    }
    for (images, kind, other) in
        [(["whole.hpan", "torn.hpan"], "lost", "gained"), (["torn.hpan", "whole.hpan"], "gained", "lost")]
    {
        let [out, _] = expect(1, &folder, &[&["diff"][..], &images].concat());
        // its middle, and beside its three edges
        let line = format!("{kind:<12} ground at 19 places, no area by the grid, x 3.140625 to 3.1865, ");
        holds(&out, &[&line]);
        assert!(!out.contains("\nno area") && !out.lines().any(|l| l.starts_with(other)), "{out}");
        // no height is another, and yet ground is lost
        expect(1, &folder, &[&["diff", "--tolerance", "1000"][..], &images].concat());
        holds(
            &out,
            &[
                "crossings of edges that only one has, beside edges where only one ends, ",
                "heights      no change there\n",
            ],
        );
        let [out, _] = expect(1, &folder, &[&["diff", "--json"][..], &images].concat());
        let ground = &serde_json::from_str::<Value>(&out).unwrap()["ground"];
        assert_eq!(
            [&ground[kind]["places"], &ground[other]["places"], &ground["changed"]["places"]],
            [&json!(19), &json!(0), &json!(0)]
        );
        assert_eq!(ground[kind]["beside"], 9, "three places along each edge");
        let [low, high] = [0, 1].map(|end| [0, 1].map(|k| ground[kind]["extent"][end][k].as_f64().unwrap()));
        for (k, from) in [at(i), at(j)].into_iter().enumerate() {
            assert!(from <= low[k] && high[k] <= from + 1.0 / 16.0, "{low:?} {high:?}");
        }
    }
}
