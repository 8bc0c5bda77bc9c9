//! Walls in images, on the command line.

use crate::shell::{expect, folder};
use serde_json::Value;
use std::fs;

/// A kerb of 0.25 m, a closed beam over it, a sign that is an obstacle.
const YARD: &str = "\
v -4 -4 0\nv 0 -4 0\nv 0 4 0\nv -4 4 0\nv 0 -4 0.25\nv 4 -4 0.25\nv 4 4 0.25\nv 0 4 0.25
usemtl Road\nf 1 2 3 4\nusemtl Pavement\nf 5 6 7 8\nf 3 2 5 8
usemtl Sign\nv 2 0 1\nv 2 1 1\nv 2.5 1 2\nv 2.5 0 2\nf 9 10 11 12
";
const BEAM: &str = "\
v -1 -1 3\nv 1 -1 3\nv 1 1 3\nv -1 1 3\nv -1 -1 4\nv 1 -1 4\nv 1 1 4\nv -1 1 4
usemtl Deck\nf 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8
";
const SETTINGS: &str = "\
[[source]]\nfile = \"yard.obj\"\nup = \"z\"\nunit = \"m\"\n[[source]]\nfile = \"beam.obj\"\nup = \"z\"\nunit = \"m\"
[[material]]\nname = \"Road\"\nmu = 0.9\n[[material]]\nname = \"Pavement\"\nmu = 0.8\n[[material]]\nname = \"Deck\"\nmu = 0.7
[[material]]\nname = \"Sign\"\nmu = 0.5\nobstacle = true
";

#[test]
fn walls_go_into_an_image_and_come_out_again() {
    let folder = folder("walls_go_into_an_image_and_come_out_again");
    for (name, text) in [("yard.obj", YARD), ("beam.obj", BEAM), ("yard.toml", SETTINGS)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let info =
        |image: &str| -> Value { serde_json::from_str(&expect(0, &folder, &["info", image, "--json"])[0]).unwrap() };
    for (rays, walls) in [("all", Some(true)), ("extents", Some(false)), ("none", None)] {
        expect(0, &folder, &["build", "--settings", "yard.toml", "--rays", rays, "-o", &format!("{rays}.hpan")]);
        let facts = info(&format!("{rays}.hpan"));
        assert_eq!(facts["rays"].get("walls").and_then(Value::as_bool), walls, "{rays}");
    }
    expect(0, &folder, &["build", "--settings", "yard.toml", "-o", "plain.hpan"]);
    assert_eq!(info("plain.hpan")["identity"], info("all.hpan")["identity"], "all is the default");
    let facts = info("all.hpan");
    // the kerb's face, the beam's sides and the sign; and the beam's underside
    assert_eq!([&facts["rays"]["obstacles"], &facts["rays"]["ceilings"]].map(|n| n.as_u64()), [Some(12), Some(2)]);
    assert_eq!(facts["triangles"].as_u64(), Some(6));
    let [out, _] = expect(0, &folder, &["verify", "all.hpan"]);
    assert!(out.lines().any(|l| l.starts_with("rays")), "{out}");
    // the same image from itself, from two that are the same, and from an OBJ
    expect(0, &folder, &["rebuild", "all.hpan", "-o", "again.hpan"]);
    assert_eq!(info("again.hpan")["identity"], facts["identity"]);
    expect(0, &folder, &["merge", "all.hpan", "-o", "merged.hpan"]);
    assert_eq!(info("merged.hpan")["rays"]["obstacles"], facts["rays"]["obstacles"]);
    expect(0, &folder, &["merge", "all.hpan", "extents.hpan", "-o", "poor.hpan"]);
    assert_eq!(info("poor.hpan")["rays"]["walls"].as_bool(), Some(false), "one of them has no walls");
    let [out, _] = expect(0, &folder, &["export", "obj", "all.hpan", "-o", "out.obj"]);
    assert!(out.contains(facts["identity"].as_str().unwrap()), "{out}");
    let faces = fs::read_to_string(folder.join("out.obj")).unwrap().lines().filter(|l| l.starts_with("f ")).count();
    assert_eq!(faces, 6 + 14);
    // with and without, the ground is the same
    let [out, _] = expect(1, &folder, &["diff", "all.hpan", "none.hpan", "--json"]);
    let diff: Value = serde_json::from_str(&out).unwrap();
    assert!(diff["facts"].as_array().unwrap().iter().any(|f| f["name"] == "for rays"), "{out}");
}
