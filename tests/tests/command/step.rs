//! Steps: ground that ends beside lower ground, without a face between.

use std::{fs, path::Path};

use crate::shell::{check, expect, folder, holds, value, values};
use serde_json::{Value, json};
use verification::obj::real_file;

/// Two plates of 20 m by 3 m, `low` and `high`, so far apart, the other one higher by `rise`; turned by degrees about
/// the zero, and with an upright face between them.
fn plates(apart: f64, rise: f64, degrees: f64, face: bool) -> String {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let vertex = |&[x, y, z]: &[f64; 3]| format!("v {:.9} {:.9} {z}\n", x * cos - y * sin, x * sin + y * cos);
    let corners = |y: f64, z: f64| [[0.0, y, z], [20.0, y, z], [20.0, y + 3.0, z], [0.0, y + 3.0, z]];
    let all: String = corners(0.0, 0.0).iter().chain(&corners(3.0 + apart, rise)).map(vertex).collect();
    let upright = if face { "o face\nf 4 3 6 5\n" } else { "" };
    format!("{all}o low\nf 1 2 3 4\no high\nf 5 6 7 8\n{upright}")
}

/// Steps of more than 5 mm in ground whose source is known.
fn of_source(folder: &Path, text: &str) -> Value {
    fs::write(folder.join("s.obj"), text).unwrap();
    check(folder, "step", &["s.obj", "--up", "z", "--max-step", "0.005"])
}

/// Steps in its image.
fn of_image(folder: &Path, least: f64) -> Value {
    expect(0, folder, &["build", "s.obj", "--up", "z"]);
    check(folder, "step", &["s.hpan", "--max-step", &least.to_string()])
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

#[test]
fn plates_that_do_not_meet_in_height_are_found() {
    let folder = folder("plates_that_do_not_meet_in_height_are_found");
    for degrees in [0.0, 27.0, 45.0, 133.0, 180.0] {
        for rise in [0.001, 0.02, 0.3, 3.0] {
            let found = of_source(&folder, &plates(0.0, rise, degrees, false))["found"].clone();
            assert_eq!(found, json!(u8::from(rise > 0.005)), "{degrees} {rise}");
            // less than asked for; a cliff is a step, however high
            let at = of_image(&folder, 0.9 * rise);
            assert_eq!(of_image(&folder, 1.1 * rise)["found"], json!(0));
            assert_eq!(at["found"], json!(1));
            let step = &at["findings"][0];
            let [height, low, length] = ["height", "low", "length"].map(|name| value(step, name));
            assert!((height - rise).abs() < 2e-5 && low.abs() < 2e-5 && (length - 20.0).abs() < 0.01, "{step}");
            assert_eq!(step["subject"], json!("high over low"));
            // on the line where they meet
            let [x, y, z] = [0, 1, 2].map(|i| number(&step["place"][i]));
            let (sin, cos) = degrees.to_radians().sin_cos();
            assert!((y * cos - x * sin - 3.0).abs() < 3e-4 && (z - rise).abs() < 2e-5, "{step}");
        }
    }
}

#[test]
fn steps_are_said_in_words_with_their_place() {
    let folder = folder("steps_are_said_in_words_with_their_place");
    let steps = of_source(&folder, &plates(0.0, 0.02, 0.0, false));
    let words = "step 2 cm high, 20 m long at 9.745,3.000: z 0.0200 (high) beside 0.0000 (low)";
    assert_eq!(steps["findings"][0]["text"], json!(words));
    for height in ["0", "101", "-1", "x"] {
        let why = "a length from 0.0001 to 100 m";
        holds(&expect(2, &folder, &["check", "s.obj", "--max-step", height])[1], &[why]);
    }
}

/// A face between two heights is seen in the source, and not in an image.
#[test]
fn kerbs_with_upright_faces_are_none_where_the_source_is_known() {
    let folder = folder("kerbs_with_upright_faces_are_none_where_the_source_is_known");
    for degrees in [0.0, 27.0, 133.0] {
        let steps = of_source(&folder, &plates(0.0, 0.12, degrees, true));
        assert_eq!(steps["found"], json!(0), "{steps}");
        assert_eq!(of_image(&folder, 0.01)["found"], json!(1));
    }
    // one half way along it makes two of it
    let face = "v 8 3 0\nv 12 3 0\nv 12 3 .12\nv 8 3 .12\nf -4 -3 -2 -1\n";
    assert_eq!(of_source(&folder, &(plates(0.0, 0.12, 0.0, false) + face))["found"], json!(2));
    assert_eq!(of_image(&folder, 0.01)["found"], json!(1));
    // a face somewhere else, and one that does not reach so high, change nothing
    for face in [[7.0, 0.0, 0.12], [3.0, -0.5, 0.03]] {
        let [y, low, high] = face;
        let text = plates(0.0, 0.12, 0.0, false)
            + &format!("v 0 {y} {low}\nv 20 {y} {low}\nv 20 {y} {high}\nv 0 {y} {high}\nf -4 -3 -2 -1\n");
        assert_eq!(of_source(&folder, &text)["found"], json!(1), "{face:?}");
    }
    // a sloped one is ground
    let sloped = "v 0 0 0\nv 20 0 0\nv 20 3 0\nv 0 3 0\nv 0 3.03 .12\nv 20 3.03 .12\nv 20 6 .12\nv 0 6 .12\n\
                  f 1 2 3 4\nf 4 3 6 5\nf 5 6 7 8\n";
    assert_eq!(of_source(&folder, sloped)["found"], json!(0));
    assert_eq!(of_image(&folder, 0.0005)["found"], json!(0));
}

/// A quad whose foot is set back at one corner is one upright and one steep triangle: together they close what neither
/// does.
#[test]
fn a_riser_that_leans_closes_a_step() {
    let folder = folder("a_riser_that_leans_closes_a_step");
    let kerb = |set_back: f64, rise: f64, riser: &str| {
        format!(
            "v -5 0 0\nv -5 10 0\nv {set_back} 10 0\nv 0 0 0\nv 0 0 {rise}\nv 0 10 {rise}\nv 5 10 {rise}\nv 5 0 {rise}\n\
             f 4 3 2 1\nf 8 7 6 5\n{riser}"
        )
    };
    let riser = "f 4 5 6 3\n";
    let both = "f 4 5 6\nf 4 6 3\n";
    for (set_back, rise) in [(0.008, 0.12), (-0.008, 0.12), (0.03, 0.3), (0.001, 0.006)] {
        for faces in [riser, both, "f 4 5 3\nf 5 6 3\n"] {
            assert_eq!(
                of_source(&folder, &kerb(set_back, rise, faces))["found"],
                json!(0),
                "{set_back} {rise} {faces}"
            );
            let lower = check(&folder, "step", &["s.obj", "--up", "z", "--max-step", "0.004"]);
            assert_eq!(lower["found"], json!(0));
        }
        if set_back > 0.0 {
            assert_eq!(of_source(&folder, &kerb(set_back, rise, ""))["found"], json!(1), "{set_back} {rise}");
        }
    }
    // half of it closes the step too: some of its face stands at each place
    assert_eq!(of_source(&folder, &kerb(0.008, 0.12, "f 4 5 6\n"))["found"], json!(0));
    // of one that leans more the upright half closes the way from the edge down to the other half
    assert_eq!(of_source(&folder, &kerb(0.045, 0.12, riser))["found"], json!(0));
    // and a wall that does not go down from the edge: outside, inside and between
    let edge =
        "v -5 -5 .2\nv 0 -5 .2\nv 0 5 .2\nv -5 5 .2\nv 0 -5 0\nv 5 -5 0\nv 5 5 0\nv 0 5 0\nf 1 2 3 4\nf 5 6 7 8\n";
    for [x, low, high] in [[0.04, 0.0, 3.0], [-0.04, 0.05, 3.0], [0.045, 0.09, 0.11]] {
        let wall = format!("v {x} -5 {low}\nv {x} 5 {low}\nv {x} 5 {high}\nv {x} -5 {high}\nf 9 10 11 12\n");
        let steps = of_source(&folder, &(edge.to_string() + &wall));
        assert_eq!(steps["found"], json!(1), "{x}");
        assert!((value(&steps["findings"][0], "height") - 0.2).abs() < 1e-3, "{steps}");
    }
    // and one along another edge hides no place of this one
    let corner = "v 0 -3 0\nv 3 -3 0\nv 3 .7 0\nv 0 .7 0\nv 0 0 0\nv 0 0 .08\nv -3 .7 0\nv -3 0 .08\nv -3 0 0\nf 1 2 3 4 5\nf 6 4 7 8\nf 5 6 8 9\n";
    let steps = of_source(&folder, corner);
    assert!(value(&steps["findings"][0], "height") > 0.075, "{steps}");
    // nor does a thin one that rises along a kerb
    let kerb = "v -5 0 0\nv -5 40 4\nv 0 40 4\nv 0 0 0\nv 0 0 .12\nv 0 40 4.12\nv 5 40 4.12\nv 5 0 .12\nf 4 3 2 1\nf 8 7 6 5\n";
    let thin = "v .01 0 .06\nv .01 40 4.06\nv .03 40 4.06\nf -3 -2 -1\n";
    assert_ne!(of_source(&folder, &(kerb.to_string() + thin))["found"], json!(0));
}

#[test]
fn a_crack_in_a_kerb_line_is_a_step_too() {
    let folder = folder("a_crack_in_a_kerb_line_is_a_step_too");
    let steps = of_source(&folder, &plates(0.005, 0.12, 27.0, false));
    assert_eq!(steps["found"], json!(1));
    assert!((values(&steps, "height")[0] - 0.12).abs() < 2e-5, "{steps}");
    assert_eq!(check(&folder, "gap", &["s.obj", "--up", "z"])["found"], json!(1));
    // nor is a wider one in the way, while it is less wide than high
    for (apart, rise) in [(0.009, 0.3), (0.015, 0.02), (0.02, 0.45), (0.048, 0.12)] {
        assert_eq!(of_source(&folder, &plates(apart, rise, 27.0, false))["found"], json!(1), "{apart} {rise}");
    }
    assert_eq!(of_source(&folder, &plates(0.06, 0.12, 27.0, false))["found"], json!(1));
    assert_eq!(of_source(&folder, &plates(0.15, 0.12, 27.0, false))["found"], json!(0));
}

/// A gap is as wide as it is across, also where other ground is met half way down.
#[test]
fn gaps_of_a_real_monastery_have_widths() {
    let folder = folder("gaps_of_a_real_monastery_have_widths");
    if let Some(file) = real_file("city/samurai_monastry.obj") {
        expect(0, &folder, &["build", file.to_str().unwrap(), "--up", "y", "-o", "s.hpan"]);
        let gaps = check(&folder, "gap", &["s.hpan", "--max-gap", "0.2"])["findings"].as_array().unwrap().clone();
        assert!(gaps.len() > 100 && gaps.iter().all(|g| value(g, "width") > 0.0));
        // between open edges at x 46.193 and 46.308
        let between = |g: &&Value| (number(&g["place"][0]) - 46.25).abs() < 0.01 && value(g, "length") > 20.0;
        let width = value(gaps.iter().find(between).unwrap(), "width");
        assert!((width - 0.115).abs() < 1e-3, "{width}");
    }
}

/// A face at one place of an edge does not hide other places of the edge.
#[test]
fn a_part_of_an_edge_is_a_step() {
    let folder = folder("a_part_of_an_edge_is_a_step");
    let slab = "v 0 0 .02\nv 5 0 .02\nv 5 20 .02\nv 0 20 .02\nf 1 2 3 4\n";
    let lengths = |text: &str| values(&of_source(&folder, &(slab.to_string() + text)), "length");
    let beside = |y0: f64, y1: f64, z0: f64, z1: f64| {
        format!("v 5 {y0} {z0}\nv 9 {y0} {z0}\nv 9 {y1} {z1}\nv 5 {y1} {z1}\nf -4 -3 -2 -1\n")
    };
    // the ground goes down an embankment, in either direction: the step goes on, however high
    let [one] = lengths(&(beside(0.0, 15.0, 0.0, 0.0) + &beside(15.0, 20.0, 0.0, -1.25)))[..] else { panic!() };
    let [other] = lengths(&(beside(0.0, 5.0, -1.25, 0.0) + &beside(5.0, 20.0, 0.0, 0.0)))[..] else { panic!() };
    assert!((one - 20.0).abs() < 0.01 && (other - 20.0).abs() < 0.01, "{one} {other}");
    // an upright face stands along a metre
    let face = "v 5 9.5 0\nv 5 10.5 0\nv 5 10.5 .02\nv 5 9.5 .02\nf -4 -3 -2 -1\n";
    let sum: f64 = lengths(&(beside(0.0, 20.0, 0.0, 0.0) + face)).iter().sum();
    assert!((17.5..19.5).contains(&sum), "{sum}");
}

/// Thirteen metres of a kilometre.
#[test]
fn a_short_step_of_a_long_edge_is_found() {
    let folder = folder("a_short_step_of_a_long_edge_is_found");
    let sheet = |x: f64, y0: f64, y1: f64, z: f64| {
        let far = x + 5.0;
        format!("v {x} {y0} {z}\nv {far} {y0} {z}\nv {far} {y1} {z}\nv {x} {y1} {z}\nf -4 -3 -2 -1\n")
    };
    let low = [(0.0, 493.0, 0.014), (493.0, 506.0, 0.005), (506.0, 1000.0, 0.014)].map(|(a, b, z)| sheet(5.0, a, b, z));
    fs::write(folder.join("s.obj"), sheet(0.0, 0.0, 1000.0, 0.02) + &low.concat()).unwrap();
    let step = &of_image(&folder, 0.01)["findings"][0];
    let [height, length] = ["height", "length"].map(|name| value(step, name));
    assert!((height - 0.015).abs() < 1e-4 && (length - 13.0).abs() < 1.1, "{step}");
}

/// Long upright faces, and such as lie beyond everything, cost nothing: a build that walks along them does not end.
#[test]
fn upright_faces_of_any_length() {
    let folder = folder("upright_faces_of_any_length");
    let far: String = (0..3000)
        .map(|i| format!("v 0 {i} -5\nv 0 {} 0\nv 0 {0} 5\nf -3 -2 -1\n", 3e8 + f64::from(i)))
        .chain((0..3000).map(|i| format!("v {i} 0 -5\nv 10000 {i} 0\nv 10000 {i} 5\nf -3 -2 -1\n")))
        .collect();
    let steps = of_source(&folder, &(plates(0.0, 0.02, 0.0, false) + &far));
    assert_eq!(steps["found"], json!(1));
}

/// A deck over a road, an edge that a higher sheet covers, the sides of a ramp, an overlay, a plate and a slope are no
/// steps: no other edge runs along theirs.
#[test]
fn what_is_no_step() {
    let folder = folder("what_is_no_step");
    let sheet = |x0: f64, x1: f64, y0: f64, y1: f64, z: [f64; 2]| {
        format!(
            "v {x0} {y0} {}\nv {x1} {y0} {}\nv {x1} {y1} {}\nv {x0} {y1} {}\nf -4 -3 -2 -1\n",
            z[0], z[1], z[1], z[0]
        )
    };
    let road = sheet(-20.0, 20.0, -5.0, 5.0, [0.0; 2]);
    for (what, text) in [
        ("a bridge", sheet(-3.0, 3.0, -20.0, 20.0, [5.0; 2])),
        ("one under it", sheet(-3.0, 3.0, -2.0, 2.0, [-0.1; 2])),
        ("a ramp", sheet(-8.0, 8.0, -2.0, 2.0, [0.0, 3.0])),
        ("paint", sheet(-3.0, 3.0, -2.0, 2.0, [0.002; 2])),
        ("a steep slope beside it", sheet(20.0, 20.1, -5.0, 5.0, [0.0, -0.4])),
    ] {
        // the upper end of a ramp hangs over the road, as a bridge does
        assert_eq!(of_source(&folder, &(road.clone() + &text))["found"], json!(0), "{what}");
    }
    // a plate on the road is a double surface
    assert_eq!(of_source(&folder, &(road + &sheet(-3.0, 3.0, -2.0, 2.0, [0.02; 2])))["found"], json!(0));
    let twice = check(&folder, "double-surface", &["s.obj", "--up", "z"]);
    assert!((value(&twice["findings"][0], "area") - 24.0).abs() < 0.01, "{twice}");
}

#[test]
fn the_steps_of_a_real_interchange_and_a_factory_are_few() {
    let folder = folder("the_steps_of_a_real_interchange_and_a_factory_are_few");
    if let Some(file) = real_file("roads/cloverleaf.obj") {
        let place = file.to_str().unwrap();
        // its arrows lie nearly an inch above the road: a double surface, and no step
        for (kind, found) in [("step", 0), ("double-surface", 1)] {
            let looks = check(&folder, kind, &[place, "--up", "z", "--unit", "in"]);
            assert_eq!(looks["found"], json!(found), "{looks}");
        }
    }
    if let Some(file) = real_file("city/zdm2.obj") {
        let place = file.to_str().unwrap();
        expect(0, &folder, &["build", place, "--up", "y", "-o", "s.hpan", "--report", "s.json", "--force"]);
        let report: Value = serde_json::from_slice(&fs::read(folder.join("s.json")).unwrap()).unwrap();
        let [all, known] = [&["s.hpan"][..], &[place, "--up", "y"]].map(|of| {
            let typed = [&["check"], of, &["--max-step", "0.005", "--only", "step", "--json"]].concat();
            let [out, _] = expect(1, &folder, &typed);
            serde_json::from_str::<Value>(&out).unwrap()["looks"]["step"].clone()
        });
        // with their upright faces few are left that a wheel may climb; roofs without walls are steps of their height
        let low = values(&known, "height").iter().filter(|h| **h < 0.5).count();
        let [all, known] = [all, known].map(|looks| looks["found"].as_u64().unwrap());
        assert!(all > 2 * known && low < 40, "{all}, {known} of them without an upright face, {low} of these low");
        // the build looks at 23,590 open edges
        assert!(report["gaps"]["found"].as_u64() > Some(0), "{}", report["gaps"]);
    }
}
