//! `hardpan query --ray`, and rays of files.

use std::fs;

use crate::shell::{bridge, expect, folder, holds};
use serde_json::{Value, json};

/// A street with a wall and a roof: x is east, z is up.
const STREET: &str = "\
o road
v -20 -5 0
v 20 -5 0
v 20 5 0
v -20 5 0
usemtl Asphalt
f 1 2 3 4
o house
v 12 -3 0
v 12 3 0
v 12 3 4
v 12 -3 4
usemtl Brick
f 5 8 7 6
";

/// MW-04: the wall at 12 m is met by a ray ahead; under the deck the ray from above meets the deck, and what follows is
/// asked apart.
#[test]
fn mw_04_rays_typed_and_of_a_file() {
    let folder = folder("rays_typed");
    fs::write(folder.join("street.obj"), STREET).unwrap();
    expect(0, &folder, &["build", "street.obj", "-o", "street.hpan"]);
    let ahead = "0,0,1,1,0,0,30";
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--ray", ahead, "--ray", "-1,0,1,1,0,-1,5"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), 2, "{out}");
    assert!(
        lines[0].starts_with("found  12.000000 m (t 0.400000000)  at 12.000000, 0.000000, 1.000000  obstacle "),
        "{out}"
    );
    holds(lines[0], &["Brick of house"]);
    holds(lines[1], &["found  1.414214 m", "ground front, Asphalt of road  normal 0.000000, 0.000000, 1.000000"]);
    // the ground alone lets it pass
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--ray", ahead, "--kinds", "ground", "--json"]);
    let answers: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(answers[0]["status"], "left the image");
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--ray", ahead, "--json"]);
    let answers: Value = serde_json::from_str(&out).unwrap();
    let (at, kind) = (&answers[0]["at"], &answers[0]["kind"]);
    assert_eq!((at, kind, &answers[0]["material"]), (&json!([12.0, 0.0, 1.0]), &json!("obstacle"), &json!("Brick")));
    assert_eq!((&answers[0]["t"], &answers[0]["distance"]), (&json!(0.4), &json!(12.0)));
    // no material has a class
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--ray", ahead, "--classes", "3"]);
    holds(&out, &["left the image  searched 20.000000 m"]);
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--ray", ahead, "--explain"]);
    holds(
        &out,
        &["first surface from 0, 0, 1, at most 30.000000 m", "\n  answer     found  12.000000 m", "\n  cost       "],
    );
    // columns of directions or of ends; others go with the answers
    fs::write(
        folder.join("rays.csv"),
        "id,x,y,z,dx,dy,dz,length\na,0,0,1,1,0,0,30\nb,0,0,1,0,0,1,5\nc,0,0,1,0,0,0,5\n",
    )
    .unwrap();
    let [out, err] = expect(0, &folder, &["query", "street.hpan", "--csv", "rays.csv"]);
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(
        rows[0],
        "status,t,distance,x,y,z,normal_x,normal_y,normal_z,material,source,kind,side,leaf,id,asked_x,asked_y,asked_z,dx,dy,dz,length"
    );
    assert!(rows[1].starts_with("found,0.4,12,12,0,1,"), "{out}");
    holds(rows[1], &[",Brick,house,obstacle,", ",a,0,0,1,1,0,0,30"]);
    assert_eq!(rows[2], "clear,1,5,0,0,6,,,,,,,,,b,0,0,1,0,0,1,5");
    assert_eq!(rows[3], "no length,,,,,,,,,,,,,,c,0,0,1,0,0,0,5");
    holds(&err, &["rays.csv: 1 ray of 3 have no answer"]);
    fs::write(folder.join("ends.csv"), "x,y,z,to_x,to_y,to_z\n0,0,1,30,0,1\n").unwrap();
    let [out, _] = expect(0, &folder, &["query", "street.hpan", "--csv", "ends.csv", "-o", "ends-out.csv"]);
    assert_eq!(out, "");
    holds(&fs::read_to_string(folder.join("ends-out.csv")).unwrap(), &["\nfound,0.4,12,12,0,1,"]);
    fs::write(folder.join("wrong.csv"), "x,y,z,to_x,to_y,to_z\n0,0,1,30,east,1\n").unwrap();
    let [_, err] = expect(2, &folder, &["query", "street.hpan", "--csv", "wrong.csv"]);
    holds(&err, &["wrong.csv", "line 2", "\"east\""]);
}

/// An image without walls says so; rays that are none are told, and words that are no rays are refused.
#[test]
fn rays_that_have_no_answer() {
    let folder = bridge("rays_that_have_no_answer");
    expect(0, &folder, &["build", "bridge.obj", "-o", "plain.hpan", "--rays", "none"]);
    let asked = ["query", "plain.hpan", "--ray", "0,0,3,1,0,0,5", "--kinds", "obstacle"];
    let [out, _] = expect(0, &folder, &asked);
    assert_eq!(out, "not stored\n");
    expect(1, &folder, &[&asked[..], &["--strict"]].concat());
    let [out, _] = expect(0, &folder, &["query", "plain.hpan", "--ray", "0,0,3,0,0,1,5"]);
    holds(&out, &["found  3.000000 m (t 0.600000000)", "ground back, Steel plate of deck"]);
    let [out, _] = expect(0, &folder, &["query", "plain.hpan", "--ray", "0,0,3,0,0,1,3000"]);
    assert_eq!(out, "too long\n");
    let refused = |arguments: &[&str]| expect(2, &folder, &[&["query", "plain.hpan"], arguments].concat())[1].clone();
    holds(&refused(&["--ray", "0,0,3,0,0,1"]), &["x,y,z,dx,dy,dz,length"]);
    holds(&refused(&["--ray", "0,0,3,0,0,1,5", "--kinds", "wall"]), &["ground, ceiling and obstacle"]);
    holds(&refused(&["--ray", "0,0,3,0,0,1,5", "--classes", "32"]), &["0 to 31"]);
}
