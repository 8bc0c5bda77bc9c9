//! `hardpan diff`, as it is typed.

mod shell;

use serde_json::{Value, json};
use shell::{BRIDGE, error, expect, folder, holds};
use std::{fs, path::PathBuf};

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
    let facts: Value = serde_json::from_str(&expect(0, &folder, &["diff", "a.hpan", "b.hpan", "--json"])[0]).unwrap();
    assert_eq!((&facts["equal"], &facts["ground"], &facts["facts"]), (&json!(true), &Value::Null, &json!([])));
    assert_eq!(facts["first_byte"]["section"], "provenance");
}

#[test]
fn a_corner_of_the_deck_rises() {
    let folder = pair("diff_rises", |s| s.replace("v 5 50 6", "v 5 50 6.5"));
    let [out, err] = expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "10"]);
    assert!(err.is_empty(), "{err}");
    let lines: Vec<&str> = out.lines().filter(|l| !l.starts_with("identity")).collect();
    // 11 x 11 places of the grid, 2 x 2 vertices beside it; 6 of the right side and of the diagonal move
    assert_eq!(
        lines,
        [
            "different",
            "z            0 to 6 m -> 0 to 6.5 m",
            "ground       125 places: all vertices, and a grid of 10.000 m",
            "heights      other at 11 places, at most by +0.500000 m: at 5,50 from 6 to 6.5",
            "bytes        differ from 125 on: content header, content",
        ]
    );
    let facts: Value = serde_json::from_str(&expect(1, &folder, &["diff", "b.hpan", "a.hpan", "--json"])[0]).unwrap();
    assert_eq!(facts["ground"]["largest"], json!({ "at": [5.0, 50.0], "from": 6.5, "to": 6.0 }));
    assert_eq!(facts["facts"][0], json!({ "name": "z", "first": "0 to 6.5 m", "second": "0 to 6 m" }));
}

#[test]
fn ground_goes_and_materials_change() {
    let folder = pair("diff_goes", |s| s.replace("usemtl Steel plate\nf 5 6 7 8", "usemtl Wood\nf 5 6 7"));
    let facts: Value =
        serde_json::from_str(&expect(1, &folder, &["diff", "a.hpan", "b.hpan", "--grid", "1", "--json"])[0]).unwrap();
    assert_eq!(facts["materials"], json!({ "lost": ["Steel plate"], "gained": ["Wood"], "changed": [], "values": [] }));
    let ground = &facts["ground"];
    assert_eq!((&ground["changed"], &ground["gained"]["places"]), (&json!(0), &json!(0)));
    // places of the deck, 11 x 101; those on the diagonal, at every tenth, and below it stay
    let over = (0..=10).flat_map(|x| (0..=100).map(move |y| (x, y))).filter(|(x, y)| *y > 10 * x).count();
    let lost = json!({
        "places": over, "first": [-5.0, -49.0, 6.0], "extent": [[-5.0, -49.0], [4.0, 50.0]], "area": over as f64,
    });
    assert_eq!(ground["lost"], lost);
    let change = &ground["materials"][0];
    assert_eq!(
        (&change["from"], &change["to"], &change["first"]),
        (&json!("Steel plate"), &json!("Wood"), &json!([-5.0, -50.0, 6.0]))
    );
    assert_eq!(change["places"], 11 * 101 - over);
    let [out, _] = expect(1, &folder, &["diff", "a.hpan", "b.hpan"]);
    holds(
        &out,
        &[
            "materials    lost: \"Steel plate\"",
            "lost         ground at ",
            " m2, x -5 to 4.8, y -49.8 to 50, the first -5,-49.8,6\n",
            "material     \"Steel plate\" -> \"Wood\" at ",
        ],
    );
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
            "differ from 1,088 on: materials, content",
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
