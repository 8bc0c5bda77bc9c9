//! `hardpan vstu`: command lines, settings and points as printed.

use std::{fs, path::Path};

use crate::shell::{expect, folder, info};
use verification::fbx::{Mesh, Object, Says, binary, document};

/// Listing 1 of the manual of VS Terrain, as printed.
const LISTING_1: &str = r#"--source shape.fbx --target track.vsterrain
--source shape.fbx --target track.vsterrain -settings urbanStyle.vstu
--source shape.fbx --target track.vsterrain --debug trackDebug.obj
--merge merged.vsterrain t1.vsterrain "t 2.vsterrain" t3.vsterrain ...
--debug trackDebug.obj --source track.vsterrain
"#;

/// The words of a line, as a shell parts them.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    for (i, part) in line.split('"').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(String::from)),
            _ => words.push(part.into()),
        }
    }
    words
}

/// Runs a line behind `hardpan vstu`.
#[track_caller]
fn vstu(code: i32, folder: &Path, line: &str) -> [String; 2] {
    let words = words(line);
    let typed: Vec<&str> = ["vstu"].into_iter().chain(words.iter().map(String::as_str)).collect();
    expect(code, folder, &typed)
}

/// A flat square of 20 m at a height, y up and in centimetres as most FBX are, of one material.
fn shape(at: f64, z: f64, material: &'static str) -> Vec<u8> {
    let [a, b] = [100.0 * at, 100.0 * at + 2000.0];
    let points = vec![[a, 100.0 * z, 0.0], [b, 100.0 * z, 0.0], [b, 100.0 * z, -2000.0], [a, 100.0 * z, -2000.0]];
    let mesh = Mesh { points, faces: vec![vec![0, 1, 2, 3]], materials: vec![0] };
    let object = Object { name: "square", mesh: Some(0), materials: vec![material], ..Object::default() };
    binary(7400, &document(7400, Some(Says::Y_UP_CM), &[mesh], &[object]), false, false)
}

/// Line 1 as printed makes an image, of which the command says that VehicleSim cannot read it.
#[test]
fn vt_53_54_12_line_1_of_listing_1_makes_an_image() {
    let folder = folder("vt_53_54_12_line_1_of_listing_1_makes_an_image");
    fs::write(folder.join("shape.fbx"), shape(0.0, 1.5, "Concrete")).unwrap();
    let [_, err] = vstu(0, &folder, LISTING_1.lines().next().unwrap());
    assert_eq!(err.matches("VehicleSim's own solver cannot read it").count(), 1, "{err}");
    let facts = info(&folder, "track.vsterrain");
    assert_eq!(facts["triangles"], 2);
    let [out, _] = expect(0, &folder, &["query", "track.vsterrain", "10,10", "--json"]);
    let answers: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answers[0]["z"], 1.5, "{out}");
    assert_eq!(answers[0]["material"], "Concrete");
}
