//! FBX files, through the command and the library: fixtures of our own, and real ones.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::shell::{HARDPAN, SETTINGS, error, expect, folder, holds, info, report};
use hardpan_builder::{
    Scene,
    import::{self, Frame, ImportErrorKind, Place, Unit, Up},
};
use serde_json::{Value, json};
use verification::{
    fbx::{Mesh, Object, Record, Says, Value as V, binary, document, text},
    obj::{ends_in, real},
    random::Random,
};

/// A sheet of one face or more over a rectangle, y up, centimetres.
fn sheet(x: [f64; 2], z: [f64; 2], y: f64) -> Mesh {
    let points = vec![[x[0], y, z[1]], [x[1], y, z[1]], [x[1], y, z[0]], [x[0], y, z[0]]];
    Mesh { points, faces: vec![vec![0, 1, 2, 3]], materials: vec![] }
}

/// [`crate::shell::BRIDGE`] in centimetres, y up: a floor, and a deck that is an object in another.
fn bridge() -> (Vec<Mesh>, Vec<Object>) {
    let meshes = vec![sheet([-5000., 5000.], [-5000., 5000.], 0.0), sheet([-500., 500.], [-5000., 5000.], 600.0)];
    let object =
        |name, mesh, material| Object { name, mesh: Some(mesh), materials: vec![material], ..Object::default() };
    (meshes, vec![object("floor", 0, "Asphalt"), object("deck", 1, "Steel plate")])
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::write(path, bytes).unwrap();
}

fn read(path: &Path) -> import::Import {
    import::read(&[path], &Frame::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Positions of triangles with material and source, in order.
fn corners(scene: &Scene) -> Vec<([[f64; 3]; 3], &str, &str)> {
    let names = |t: &hardpan_builder::Triangle| {
        (&*scene.materials[usize::from(t.material)].name, &*scene.sources[usize::from(t.source)])
    };
    scene.triangles.iter().map(|t| (t.v.map(|v| scene.positions[v as usize]), names(t).0, names(t).1)).collect()
}

/// Twice the signed area in plan.
fn area2([a, b, c]: [[f64; 3]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// FBX files below a folder of the real data: so many, or none.
fn files(below: &str, count: usize) -> Vec<PathBuf> {
    let mut all = real(below);
    all.retain(|path| ends_in(path, "fbx"));
    assert!(all.len() == count || all.is_empty(), "{} of {count} in {below}", all.len());
    all
}

/// Real files.
const REAL: usize = 26;
/// Malformed ones.
const MALFORMED: usize = 11;
/// Real files beside which lies the same scene as OBJ.
const COMPARED: usize = 15;
/// The only object of the real files that is hidden.
const HIDDEN: &str = "Slime_002:Slime_Body_high";

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn vt_23_vt_25_binary_text_and_obj_build_one_image() {
    let here = folder("fbx_binary_text_and_obj");
    let (meshes, objects) = bridge();
    write(&here.join("bridge.obj"), crate::shell::BRIDGE);
    expect(0, &here, &["build", "bridge.obj"]);
    let wanted = info(&here, "bridge.hpan");
    let in_metres: Vec<Mesh> = meshes
        .iter()
        .map(|m| Mesh {
            points: m.points.iter().map(|[x, y, z]| [x / 100.0, -z / 100.0, y / 100.0]).collect(),
            ..m.clone()
        })
        .collect();
    for version in [7100, 7400, 7500, 7700] {
        for (says, meshes) in [(Says::Y_UP_CM, &meshes), (Says::Z_UP_M, &in_metres)] {
            let records = document(version, Some(says), meshes, &objects);
            write(&here.join("text.fbx"), text(version, &records));
            for (name, big, packed) in
                [("plain", false, false), ("packed", false, true), ("big", true, false), ("big-packed", true, true)]
            {
                write(&here.join(format!("{name}.fbx")), binary(version, &records, big, packed));
            }
            for name in ["text", "plain", "packed", "big", "big-packed"] {
                let (file, image) = (format!("{name}.fbx"), format!("{name}.hpan"));
                let [_, notes] = expect(0, &here, &["build", &file, "-o", &image]);
                let plain = notes.starts_with(&format!("note: {file}: mu is 0.85 by default of 2 materials "));
                assert!(plain && notes.lines().count() == 1, "{name} {version}: {notes}");
                expect(0, &here, &["verify", &image]);
                let built = info(&here, &image);
                assert_eq!(built["identity"], wanted["identity"], "{name} {version}");
            }
        }
    }
    // the very same with two files of two formats, and with one thread
    expect(0, &here, &["build", "bridge.obj", "plain.fbx", "-o", "both.hpan"]);
    let both = info(&here, "both.hpan");
    assert_eq!(both["sources"], json!(["bridge.obj/deck", "bridge.obj/floor", "plain.fbx/deck", "plain.fbx/floor"]));
    assert_eq!((&both["triangles"], both["materials"].as_array().unwrap().len()), (&wanted["triangles"], 2));
    let one = Command::new(&*HARDPAN)
        .args(["build", "plain.fbx", "-o", "one.hpan"])
        .current_dir(&here)
        .env("RAYON_NUM_THREADS", "1")
        .status();
    assert!(one.unwrap().success());
    assert_eq!(fs::read(here.join("one.hpan")).unwrap(), fs::read(here.join("plain.hpan")).unwrap());
}

#[test]
fn vt_25_vt_26_everything_downstream() {
    let here = folder("fbx_everything_downstream");
    let (meshes, objects) = bridge();
    write(&here.join("shape.fbx"), binary(7400, &document(7400, Some(Says::Y_UP_CM), &meshes, &objects), false, false));
    expect(0, &here, &["build", "shape.fbx", "-o", "track.hpan", "--report", "track.json"]);
    expect(0, &here, &["verify", "track.hpan", "--against", "shape.fbx"]);
    let [out, _] = expect(0, &here, &["query", "track.hpan", "0,0,6", "20,0,3", "--explain"]);
    holds(&out, &["floor", "deck", "Steel plate", "Asphalt"]);
    // what the report and the record say
    let report: Value = serde_json::from_slice(&fs::read(here.join("track.json")).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    assert!(jsonschema::is_valid(&schema, &report), "{:?}", jsonschema::validate(&schema, &report).unwrap_err());
    let file = &report["import"]["files"][0];
    assert_eq!((&file["format"], &file["frame"]), (&json!("fbx"), &json!("x, -z, y in 1/100 m")));
    assert_eq!(report["inputs"][0]["frame"], file["frame"]);
    let [out, _] = expect(0, &here, &["info", "track.hpan", "--provenance"]);
    holds(&out, &["shape.fbx", "frame = \"x, -z, y in 1/100 m\""]);
    // materials, as a list and as settings that leave one out
    let [out, _] = expect(0, &here, &["materials", "shape.fbx", "--json"]);
    let listed: Value = serde_json::from_str(&out).unwrap();
    let named: Vec<_> =
        listed.as_array().unwrap().iter().map(|m| (&m["name"], &m["triangles"], &m["plan_area"])).collect();
    assert_eq!(
        named,
        [(&json!("Asphalt"), &json!(2), &json!(10_000.0)), (&json!("Steel plate"), &json!(2), &json!(1_000.0))]
    );
    expect(0, &here, &["materials", "shape.fbx", "-o", "shape.toml"]);
    let settings = fs::read_to_string(here.join("shape.toml")).unwrap();
    let (head, tail) = settings.split_once("name = \"Steel plate\"").unwrap();
    write(
        &here.join("shape.toml"),
        format!("{head}name = \"Steel plate\"{}", tail.replacen("include = true", "include = false", 1)),
    );
    expect(0, &here, &["build", "--settings", "shape.toml", "-o", "floor.hpan"]);
    let floor = info(&here, "floor.hpan");
    assert_eq!((&floor["triangles"], &floor["sources"]), (&json!(2), &json!(["deck", "floor"])));
    // out as OBJ and back
    expect(0, &here, &["export", "obj", "track.hpan", "-o", "again.obj"]);
    expect(0, &here, &["build", "--settings", "again.toml", "-o", "again.hpan"]);
    assert_eq!(info(&here, "again.hpan")["identity"], info(&here, "track.hpan")["identity"]);
    // a file of another name is read by its first bytes
    fs::copy(here.join("shape.fbx"), here.join("shape.obj")).unwrap();
    expect(0, &here, &["build", "shape.obj", "-o", "odd.hpan"]);
    assert_eq!(info(&here, "odd.hpan")["identity"], info(&here, "track.hpan")["identity"]);
}

/// Options override the file, and the file overrides the format's defaults. The report names which one decided.
#[test]
fn vt_23_axes_and_unit() {
    let here = folder("fbx_axes_and_unit");
    let path = here.join("a.fbx");
    let mesh = Mesh {
        points: vec![[100., 200., 300.], [400., 200., 300.], [100., 200., -600.]],
        faces: vec![vec![0, 1, 2]],
        materials: vec![],
    };
    let object = Object { name: "a", mesh: Some(0), ..Object::default() };
    let first = |says: Option<Says>, frame: &Frame| {
        write(&path, text(7400, &document(7400, says, std::slice::from_ref(&mesh), std::slice::from_ref(&object))));
        let import = import::read(&[&path], frame).unwrap();
        (import.scene.positions[0], [import.report.assumptions(), import.report.notes()].concat().join("\n"))
    };
    let none = Frame::default();
    assert_eq!(first(Some(Says::Y_UP_CM), &none), ([1.0, -3.0, 2.0], String::new()));
    assert_eq!(first(Some(Says::Z_UP_M), &none), ([100.0, 200.0, 300.0], String::new()));
    let turned = Says { right: (1, 1), front: (0, 1), up: (2, 1), unit: 2.54 };
    assert_eq!(first(Some(turned), &none).0, [200.0 * 127.0 / 5000.0, -100.0 * 127.0 / 5000.0, 300.0 * 127.0 / 5000.0]);
    let down = Says { right: (0, 1), front: (2, -1), up: (1, -1), unit: 500.0 };
    assert_eq!(first(Some(down), &none).0, [500.0, 1500.0, -1000.0]);
    // no settings at all, or such as contradict themselves
    let (at, notes) = first(None, &none);
    assert_eq!(at, [1.0, -3.0, 2.0]);
    holds(&notes, &["a.fbx: says nothing of its axes and unit; taken as x, -z, y in 1/100 m"]);
    let [_, notes] = expect(0, &here, &["build", "a.fbx", "-o", "once.hpan"]);
    holds(&notes, &["in 1/100 m: --up and --unit say otherwise\n"]);
    fs::copy(&path, here.join("b.fbx")).unwrap();
    let [_, notes] = expect(0, &here, &["build", "a.fbx", "b.fbx", "-o", "twice.hpan"]);
    holds(&notes, &[&format!("in 1/100 m: up and unit in its [[source]] of {SETTINGS} say otherwise\n")]);
    let (at, notes) = first(Some(Says { right: (1, 1), ..Says::Y_UP_CM }), &none);
    assert_eq!(at, [1.0, -3.0, 2.0]);
    holds(&notes, &["says nothing of its axes;"]);
    let (_, notes) = first(Some(Says { unit: 0.0, ..Says::Y_UP_CM }), &none);
    holds(&notes, &["says nothing of its unit;"]);
    // typed
    let typed = Frame { up: Some(Up::Z), unit: Some(Unit::In), ..none };
    assert_eq!(first(None, &typed), ([2.54, 5.08, 7.62], String::new()));
    let metres = Frame { unit: Some(Unit::M), scale: [2.0; 3], rotate: 90.0, translate: [0.0, 0.0, 0.5], ..none };
    assert_eq!(first(Some(Says::Y_UP_CM), &metres).0, [600.0, 200.0, 400.5]);
    write(&path, text(7400, &document(7400, Some(Says::Y_UP_CM), &[mesh], &[object])));
    for (typed, low) in [
        (&[][..], [1.0, -3.0, 2.0]),
        (&["--unit", "m"], [100.0, -300.0, 200.0]),
        (&["--up=-y"], [1.0, -6.0, -2.0]),
        (&["--translate", "0,0,1"], [1.0, -3.0, 3.0]),
    ] {
        expect(0, &here, &[&["build", "a.fbx"], typed].concat());
        assert_eq!(info(&here, "a.hpan")["bounds"]["min"], json!(low), "{typed:?}");
        let [_, notes] = expect(0, &here, &["verify", "a.hpan", "--against", "a.fbx"]);
        assert_eq!(notes, "");
    }
}

/// A wall of 80 m2 on a floor that is smaller: who types an axis is believed, and so is a file, unless nearly nothing
/// could be driven on.
#[test]
fn vt_23_axes_that_a_file_states_are_believed() {
    let here = folder("fbx_axes_that_a_file_states");
    let object = Object { name: "a", mesh: Some(0), ..Object::default() };
    for (says, deep, typed, end, severity) in [
        (Some(Says::Y_UP_CM), 400.0, &[][..], 0, None),
        (Some(Says::Y_UP_CM), 40.0, &[], 0, Some("warning")),
        (Some(Says::Y_UP_CM), 40.0, &["--up", "y"], 0, None),
        (Some(Says::Y_UP_CM), 40.0, &["--allow", "orientation"], 0, None),
        (None, 400.0, &[], 0, Some("warning")),
        (None, 40.0, &[], 2, Some("error")),
        (None, 40.0, &["--up", "y"], 0, None),
        (None, 40.0, &["--allow", "orientation"], 0, None),
    ] {
        let [back, front] = [0.0, -deep];
        let floor = [[0., 0., back], [1000., 0., back], [1000., 0., front], [0., 0., front]];
        let wall = [[0., 800., front], [1000., 800., front]];
        let faces = vec![vec![0, 1, 2, 3], vec![3, 2, 5, 4]];
        let mesh = Mesh { points: [&floor[..], &wall].concat(), faces, materials: vec![] };
        write(&here.join("a.fbx"), text(7400, &document(7400, says, &[mesh], std::slice::from_ref(&object))));
        let (code, report) = report(&here, &[&["a.fbx"], typed].concat());
        let found = &report["findings"];
        assert_eq!((code, found[0]["severity"].as_str()), (end, severity), "{deep} {typed:?}");
        if severity.is_some() {
            assert_eq!(found[0]["hint"], json!({ "set": { "key": "up", "value": "z" } }));
            let shares = [0, 1].map(|i| found[0]["values"][i]["value"].as_f64().unwrap());
            assert!(
                (shares[0] - 100.0 * deep / (deep + 800.0)).abs() < 1e-6
                    && (shares[0] + shares[1] - 100.0).abs() < 1e-6
            );
        }
    }
}

/// The statement of one file does not hold for another. Moving a file does not hide its frame.
#[test]
fn vt_23_each_file_is_doubted_by_itself() {
    let here = folder("fbx_and_obj_on_its_side");
    let (meshes, objects) = bridge();
    write(&here.join("says.fbx"), text(7400, &document(7400, Some(Says::Y_UP_CM), &meshes, &objects)));
    write(
        &here.join("side.obj"),
        "v 0 0 0\nv 9 0 0\nv 9 9 0.1\nv 0 9 0\nv 9 0 9\nv 0 0 9\nf 1 2 3 4\nf 1 2 5 6\nf 6 5 2 1\n",
    );
    write(&here.join("field.obj"), "v 0 0 0\nv 90 0 0\nv 90 90 0\nv 0 90 0\nf 1 2 3 4\n");
    write(&here.join("wall.obj"), "v 0 0 0\nv 9 0 0\nv 9 0 9\nv 0 0 9\nf 1 2 3 4\n");
    // roofs that are left out leave their walls
    let roofs: String =
        (4..9).map(|z| format!("v 0 0 {z}\nv 9 0 {z}\nv 9 9 {z}\nv 0 9 {z}\nusemtl roof\nf -4 -3 -2 -1\n")).collect();
    let walls: String =
        [0, 9].map(|y| format!("v 0 {y} 0\nv 9 {y} 0\nv 9 {y} 11\nv 0 {y} 11\nusemtl wall\nf -4 -3 -2 -1\n")).concat();
    let ground = "v 0 0 0\nv 9 0 0\nv 9 9 0\nv 0 9 0\nusemtl ground\nf 1 2 3 4\n";
    write(&here.join("house.obj"), format!("{ground}{roofs}{walls}"));
    write(
        &here.join("house.toml"),
        "[[source]]\nfile = \"house.obj\"\n[[material]]\nname = \"roof\"\ninclude = false\n",
    );
    let moved = "[[source]]\nfile = \"side.obj\"\nyaw_deg = 30.0\n[[source]]\nfile = \"field.obj\"\ntranslate = [50.0, 0.0, 0.0]\n";
    write(&here.join("moved.toml"), moved);
    let each = |more: &str| format!("[[source]]\nfile = \"field.obj\"\n[[source]]\nfile = \"wall.obj\"\n{more}\n");
    write(&here.join("up.toml"), each("up = \"z\""));
    write(&here.join("allow.toml"), each("allow = [\"orientation\"]"));
    write(&here.join("other.toml"), each("").replacen("\n[", "\nallow = [\"orientation\"]\n[", 1));
    for (typed, end, told) in [
        (&["says.fbx", "side.obj"][..], 0, &[("side.obj", "warning")][..]),
        (&["side.obj", "says.fbx"], 0, &[("side.obj", "warning")]),
        (&["side.obj", "field.obj"], 0, &[("side.obj", "warning")]),
        (&["wall.obj", "side.obj"], 2, &[("wall.obj", "error"), ("side.obj", "warning")]),
        (&["wall.obj", "field.obj", "--up", "z"], 0, &[]),
        (&["wall.obj", "field.obj", "--allow", "orientation"], 0, &[]),
        (&["--settings", "house.toml"], 0, &[]),
        (&["--settings", "moved.toml"], 0, &[("side.obj", "warning")]),
        (&["--settings", "up.toml"], 0, &[]),
        (&["--settings", "allow.toml"], 0, &[]),
        (&["--settings", "other.toml"], 2, &[("wall.obj", "error")]),
    ] {
        let (code, report) = report(&here, typed);
        let found = report["findings"].as_array().unwrap().iter();
        let found: Vec<_> = found.map(|f| [&f["subject"], &f["severity"]].map(|v| v.as_str().unwrap())).collect();
        let told: Vec<_> = told.iter().map(|(file, severity)| [*file, *severity]).collect();
        assert_eq!((code, found), (end, told), "{typed:?}");
    }
    // the key of one of several files stands in its entry
    let [_, why] = expect(2, &here, &["build", "field.obj", "wall.obj", "-o", "new.hpan"]);
    let entry = format!("; state up = \"y\" in its [[source]] of {SETTINGS}; if it is right: --allow orientation\n");
    holds(&why, &["error: wall.obj: 0 % of the surface", &entry]);
    assert!(!here.join("new.hpan").exists());
}

/// Quarter turns and whole numbers, so that every place is exact.
#[test]
fn vt_23_objects_stand_where_their_transforms_put_them() {
    let here = folder("fbx_transforms");
    let path = here.join("a.fbx");
    let mesh =
        Mesh { points: vec![[1., 2., 3.], [2., 2., 3.], [1., 4., 3.]], faces: vec![vec![0, 1, 2]], materials: vec![] };
    let places = |objects: &[Object]| {
        let records = document(7500, Some(Says::Z_UP_M), std::slice::from_ref(&mesh), objects);
        let each = [text(7500, &records).into_bytes(), binary(7500, &records, false, true)].map(|bytes| {
            write(&path, bytes);
            let import = read(&path);
            let all = corners(&import.scene).into_iter().map(|(c, _, name)| (c, name.to_string()));
            all.collect::<Vec<_>>()
        });
        assert_eq!(each[0], each[1]);
        each[0].clone()
    };
    let one = |vectors: Vec<(&'static str, [f64; 3])>, switches: Vec<(&'static str, i32)>| {
        places(&[Object { name: "a", mesh: Some(0), vectors, switches, ..Object::default() }])[0].0
    };
    let t = ("Lcl Translation", [10.0, 20.0, 30.0]);
    let s = ("Lcl Scaling", [2.0, 3.0, 4.0]);
    let r = ("Lcl Rotation", [0.0, 0.0, 90.0]); // (x, y) to (-y, x)
    assert_eq!(one(vec![], vec![]), [[1., 2., 3.], [2., 2., 3.], [1., 4., 3.]]);
    assert_eq!(one(vec![t], vec![]), [[11., 22., 33.], [12., 22., 33.], [11., 24., 33.]]);
    assert_eq!(one(vec![t, s], vec![]), [[12., 26., 42.], [14., 26., 42.], [12., 32., 42.]]);
    assert_eq!(one(vec![t, r, s], vec![])[0], [10. - 6., 20. + 2., 30. + 12.]);
    // about x, then about z; and the other way round
    let both = ("Lcl Rotation", [90.0, 0.0, 90.0]); // about x: (y, z) to (-z, y)
    assert_eq!(one(vec![both], vec![])[0], [3., 1., 2.]);
    assert_eq!(one(vec![both], vec![("RotationOrder", 5)])[0], [-2., -3., 1.]);
    // pivots: (2, 2, 3) does not move
    let pivots = vec![r, s, ("RotationPivot", [2., 2., 3.]), ("ScalingPivot", [2., 2., 3.])];
    assert_eq!(one(pivots.clone(), vec![]), [[2., 0., 3.], [2., 2., 3.], [-4., 0., 3.]]);
    let offsets = [pivots, vec![("RotationOffset", [100., 0., 0.]), ("ScalingOffset", [0., 5., 0.])]].concat();
    assert_eq!(one(offsets, vec![])[1], [102. - 5., 2., 3.]);
    // a turn before, and one after that is taken back
    assert_eq!(one(vec![("PreRotation", [90., 0., 0.]), r], vec![])[0], [-2., -3., 1.]);
    assert_eq!(one(vec![("PostRotation", [0., 0., 90.]), r], vec![])[0], [1., 2., 3.]);
    let idle = vec![("RotationActive", 0)];
    assert_eq!(one(vec![("PreRotation", [90., 0., 0.]), r], idle)[0], [-2., 1., 3.]);
    // its mesh stands off it
    let geometric = vec![
        ("GeometricTranslation", [5., 0., 0.]),
        ("GeometricRotation", [0., 0., 90.]),
        ("GeometricScaling", [1., 1., 2.]),
    ];
    assert_eq!(one(geometric.clone(), vec![])[0], [5. - 2., 1., 6.]);
    assert_eq!(one([geometric, vec![t, r]].concat(), vec![])[0], [10. - 1., 20. + 3., 30. + 6.]);

    // objects in objects, one mesh twice, the mesh's offset not inherited
    let outer = Object {
        name: " outer ",
        vectors: vec![t, r, ("GeometricTranslation", [9., 9., 9.])],
        mesh: Some(0),
        ..Object::default()
    };
    let inner = Object {
        name: "in  ner",
        parent: Some(0),
        vectors: vec![("Lcl Translation", [1., 0., 0.])],
        mesh: Some(0),
        ..Object::default()
    };
    let all = places(&[outer, inner]);
    let mut named: Vec<(&str, [f64; 3])> = all.iter().map(|(c, name)| (name.as_str(), c[0])).collect();
    named.sort_by_key(|n| n.0);
    assert_eq!(named, [("outer", [10. - 11., 20. + 10., 30. + 12.]), ("outer/in ner", [10. - 2., 20. + 2., 30. + 3.])]);
    // scale that a child takes over in three ways: with the turn between, without its parent's own, number by number
    for (kind, wanted) in [(1, [-2. * 3., 7., 3.]), (2, [-2., 1., 3.]), (0, [-2. * 7., 3., 3.])] {
        let top = Object { name: "top", ..Object::default() };
        let parent =
            Object { name: "p", parent: Some(0), vectors: vec![("Lcl Scaling", [3., 7., 1.])], ..Object::default() };
        let child = Object {
            name: "c",
            parent: Some(1),
            mesh: Some(0),
            vectors: vec![("Lcl Rotation", [0., 0., 90.])],
            switches: vec![("InheritType", kind)],
            ..Object::default()
        };
        let at = places(&[top, parent, child])[0].0[0];
        assert_eq!(at, wanted, "inherit type {kind}");
    }
}

/// A mirrored object faces the way it did. A sheet seen from above stays one, whether the object, its parent, or the
/// file's axes are left-handed.
#[test]
fn vt_23_mirrored_objects_keep_their_faces_outside() {
    let here = folder("fbx_mirrored");
    let path = here.join("a.fbx");
    let quad = sheet([0.0, 100.0], [0.0, 100.0], 50.0);
    let left_handed = Says { right: (0, -1), ..Says::Y_UP_CM };
    for says in [Says::Y_UP_CM, left_handed] {
        for (outer, inner) in [
            ([1., 1., 1.], [1., 1., 1.]),
            ([-1., 1., 1.], [1., 1., 1.]),
            ([-1., 1., 1.], [1., 1., -2.]),
            ([1., 1., 1.], [1., 1., -1.]),
        ] {
            let objects = [
                Object { name: "outer", vectors: vec![("Lcl Scaling", outer)], ..Object::default() },
                Object {
                    name: "inner",
                    parent: Some(0),
                    mesh: Some(0),
                    vectors: vec![("Lcl Scaling", inner)],
                    ..Object::default()
                },
            ];
            write(&path, text(7400, &document(7400, Some(says), std::slice::from_ref(&quad), &objects)));
            let import = read(&path);
            let all = corners(&import.scene);
            assert!(all.len() == 2 && all.iter().all(|t| area2(t.0) > 0.0), "{says:?} {outer:?} {inner:?}: {all:?}");
        }
    }
}

#[test]
fn vt_26_materials_are_those_of_each_face() {
    let here = folder("fbx_materials_by_face");
    let path = here.join("a.fbx");
    let mut mesh = Mesh::default();
    for i in 0..5 {
        let (x, at) = (f64::from(i), mesh.points.len() as i32);
        mesh.points.extend([[x, 0., 0.], [x + 1., 0., 0.], [x + 1., 1., 0.], [x, 1., 0.]]);
        mesh.faces.push((at..at + 4).collect());
    }
    mesh.materials = vec![1, 0, 1, 7, 0];
    let object = |name, materials| Object { name, mesh: Some(0), materials, ..Object::default() };
    // the order of an object's materials is that of their connections
    let objects = [object("a", vec!["mud", "Road  marking "]), object("b", vec!["ice"])];
    let records = document(7400, Some(Says::Z_UP_M), &[mesh.clone()], &objects);
    for bytes in [text(7400, &records).into_bytes(), binary(7400, &records, true, false)] {
        write(&path, bytes);
        let import = read(&path);
        let names: Vec<_> =
            corners(&import.scene).iter().step_by(2).map(|t| (t.2.to_string(), t.1.to_string())).collect();
        let of = |name: &str| names.iter().filter(|n| n.0 == name).map(|n| n.1.as_str()).collect::<Vec<_>>();
        // one that the object has not is its first
        assert_eq!(of("a"), ["Road marking", "mud", "Road marking", "mud", "mud"]);
        assert_eq!(of("b")[1], "ice");
    }
    // names of another encoding stay apart, and are as an OBJ has them
    let far = [object("h?user", vec!["h?user"]), object("h!user", vec!["h!user"])];
    let records = document(7400, Some(Says::Z_UP_M), &[mesh.clone()], &far);
    for mut bytes in
        [text(7400, &records).into_bytes(), binary(7400, &records, false, true), binary(7500, &records, true, false)]
    {
        for (mark, byte) in [(b"h?user", 0xE4), (b"h!user", 0xF6)] {
            while let Some(at) = bytes.windows(6).position(|w| w == mark) {
                bytes[at + 1] = byte;
            }
        }
        write(&path, bytes);
        let import = read(&path);
        let mut names: Vec<_> = import.scene.materials.iter().map(|m| &*m.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["h\u{e4}user", "h\u{f6}user"]);
        assert_eq!(import.scene.sources, names);
        let repaired = &import.report.files[0].repaired;
        assert_eq!(repaired.iter().find(|c| c.what == "names_not_utf8").map(|c| c.count), Some(4));
    }
    // a shorter list than there are faces is a damage that is said
    mesh.materials.truncate(3);
    write(&path, text(7400, &document(7400, Some(Says::Z_UP_M), &[mesh], &objects)));
    holds(&read(&path).report.notes().join("\n"), &["damaged parts that were passed over: 1"]);
}

#[test]
fn vt_25_what_is_left_out_is_said() {
    let here = folder("fbx_left_out");
    let path = here.join("a.fbx");
    let quad = sheet([0.0, 1000.0], [0.0, 1000.0], 0.0);
    let mut odd = quad.clone();
    odd.points.extend([[0., 0., f64::NAN], [50., f64::INFINITY, 0.]]);
    odd.faces.extend([vec![0, 1], vec![2], vec![0, 1, 4], vec![0, 1, 5, 2], vec![0, 1, 2, 1]]);
    let object = |name, mesh| Object { name, mesh: Some(mesh), ..Object::default() };
    let hidden = |name, parent, switches| Object { parent, switches, ..object(name, 0) };
    let objects = [
        object("seen", 1),
        hidden("hidden", None, vec![("Visibility", 0)]),
        hidden("in hidden", Some(1), vec![]),
        hidden("seen in hidden", Some(1), vec![("Visibility Inheritance", 0)]),
        hidden("not shown", None, vec![("Show", 0)]),
    ];
    let records = document(7400, Some(Says::Y_UP_CM), &[quad.clone(), odd, quad], &objects);
    write(&path, binary(7400, &records, false, false));
    let import = read(&path);
    assert_eq!(import.scene.sources, ["hidden/seen in hidden", "seen"]);
    assert!(import.scene.positions.iter().flatten().all(|v| v.is_finite()));
    assert_eq!(import.scene.triangles.len(), 4);
    let lost = "a.fbx: faces left out that have a corner that is not a finite number: 2";
    assert_eq!(import.report.warnings(), [lost]);
    let notes = import.report.notes().join("\n");
    holds(
        &notes,
        &[
            "a.fbx: hidden objects with a mesh left out: 3 (6 triangles): \"hidden\", \"hidden/in hidden\", \"not shown\"",
            "a.fbx: meshes left out that no object has: 1",
            "a.fbx: faces left out that have fewer than three corners: 2",
            "a.fbx: faces left out that have no inside, as their edges go out and back: 1",
        ],
    );
    expect(0, &here, &["build", "a.fbx", "--report", "a.json"]);
    let report: Value = serde_json::from_slice(&fs::read(here.join("a.json")).unwrap()).unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../builder/report.schema.json")).unwrap();
    assert!(jsonschema::is_valid(&schema, &report), "{:?}", jsonschema::validate(&schema, &report).unwrap_err());
    let refused = report["import"]["files"][0]["refused"].as_array().unwrap();
    assert!(refused.iter().any(|c| c["what"] == "faces_folded" && c["count"] == 1), "{refused:?}");
    let ignored = report["import"]["files"][0]["ignored"].as_array().unwrap();
    let hidden = ignored.iter().find(|c| c["what"] == "hidden").unwrap();
    let names = json!(["hidden", "hidden/in hidden", "not shown"]);
    assert_eq!((&hidden["count"], &hidden["triangles"], &hidden["names"]), (&json!(3), &json!(6), &names));
}

/// The finest level of detail is read.
#[test]
fn vt_25_of_levels_of_detail_the_finest() {
    use verification::record;
    let here = folder("fbx_levels_of_detail");
    let path = here.join("a.fbx");
    let quad = sheet([0.0, 1000.0], [0.0, 1000.0], 0.0);
    let object = |name, parent, mesh| Object { name, parent, mesh, ..Object::default() };
    let objects = [object("group", None, None), object("fine", Some(0), Some(0)), object("coarse", Some(0), Some(0))];
    let mut records = document(7400, Some(Says::Y_UP_CM), &[quad], &objects);
    records[2].inside.push(record!("NodeAttribute", 900i64, V::Name("NodeAttribute", String::new()), "LodGroup"; [record!("Properties70"; [])]));
    records[3].inside.push(record!("C", "OO", 900i64, 2_000_000i64));
    write(&path, text(7400, &records));
    let import = read(&path);
    assert_eq!(import.scene.sources, ["group/fine"]);
    holds(
        &import.report.notes().join("\n"),
        &["objects left out that stand for others from afar: 1 (2 triangles): \"group/coarse\""],
    );
    // nothing else there
    let mut first = records.clone();
    first[3].inside.retain(|r| !matches!(r.values[..], [_, V::Long(1_000), V::Long(2_000_001)]));
    write(&path, text(7400, &first));
    let why = import::read(&[&path], &Frame::default()).unwrap_err();
    holds(&why.cause, &["no faces to build from (objects left out that stand for others from afar: 1)"]);
    // very many of them
    let mut objects = vec![object("group", None, None)];
    objects.extend((0..40_000).map(|i| object("level", Some(0), (i < 2).then_some(0))));
    let mut records = document(7400, Some(Says::Y_UP_CM), &[sheet([0.0, 1000.0], [0.0, 1000.0], 0.0)], &objects);
    records[2].inside.push(record!("NodeAttribute", 900i64, V::Name("NodeAttribute", String::new()), "LodGroup"; [record!("Properties70"; [])]));
    records[3].inside.push(record!("C", "OO", 900i64, 2_000_000i64));
    write(&path, binary(7400, &records, false, false));
    let start = Instant::now();
    assert_eq!(read(&path).scene.triangles.len(), 2);
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
}

/// A file cut off anywhere is refused with the place, or what is missing is not needed.
#[test]
fn vt_24_files_cut_off_anywhere() {
    let here = folder("fbx_cut_off");
    let path = here.join("a.fbx");
    let (meshes, objects) = bridge();
    let records = document(7400, Some(Says::Y_UP_CM), &meshes, &objects);
    let newer = document(7500, Some(Says::Y_UP_CM), &meshes, &objects);
    let whole = {
        write(&path, text(7400, &records));
        read(&path).scene
    };
    for (bytes, is_text) in [
        (binary(7400, &records, false, false), false),
        (binary(7500, &newer, true, true), false),
        (text(7400, &records).into_bytes(), true),
    ] {
        let (mut built, mut placed) = (0, 0);
        for length in 0..bytes.len() {
            write(&path, &bytes[..length]);
            match import::read(&[&path], &Frame::default()) {
                Ok(import) => {
                    assert_eq!(corners(&import.scene), corners(&whole), "{length} of {}", bytes.len());
                    // all but blanks
                    assert!(is_text && length + 5 > bytes.len(), "{length} of {}", bytes.len());
                    built += 1;
                }
                Err(e) => {
                    assert_eq!(e.kind, ImportErrorKind::Input, "{length}: {e}");
                    match e.place {
                        Place::Byte(at) => {
                            assert!(at <= length as u64, "{length}: {e}");
                            placed += 1;
                        }
                        // text that ends between records lacks what would make it a scene
                        _ => assert!(is_text && e.cause.contains("no faces"), "{length}: {e}"),
                    }
                }
            }
        }
        write(&path, &bytes[..bytes.len() / 2]);
        holds(&error(2, &here, &["build", "a.fbx"]), &["error: a.fbx: byte "]);
        assert_eq!(fs::read_dir(&here).unwrap().count(), 1, "nothing but the source");
        println!("{} bytes: {placed} refused with a place, {built} built", bytes.len());
        assert!(placed * 10 > bytes.len() * 9 && (built > 0) == is_text);
    }
    // what may stand behind the last brace
    let good = text(7400, &records);
    for (end, wanted) in [
        ("CreationTime: \"2010-01-01\"\n", true),
        ("Version: 100 ; last\r\n", true),
        ("\0", true),
        ("\0\0\x1A", true),
        ("\x1A", true),
        ("CreationTime: \"2010-01-01\"", false),
        ("CreationTime: \n", false),
        ("Version: 100,\n", false),
        ("Version: 10", false),
    ] {
        write(&path, format!("{good}{end}"));
        let end_is_good = import::read(&[&path], &Frame::default()).map(|i| corners(&i.scene) == corners(&whole));
        assert_eq!(end_is_good.ok(), wanted.then_some(true), "{end:?}");
    }
    // nor does such an end hide another fault
    for end in ["\0", "\x1A", "\x1A\r\n", "\0\0"] {
        write(&path, format!("{good}}}{end}"));
        let why = import::read(&[&path], &Frame::default()).unwrap_err();
        assert_eq!(why.place, Place::Byte(good.len() as u64), "{end:?}: {why}");
        holds(&why.cause, &["a brace closes what none has opened"]);
    }
    // zero bytes elsewhere would end the text for the library: nothing behind them may be lost unsaid
    for mark in ["\n\tModel:", "Model::deck", "; FBX", "deck\", \"Mesh\""] {
        let at = good.find(mark).unwrap() + 4;
        let mut bytes = good.clone().into_bytes();
        bytes.insert(at, 0);
        write(&path, bytes);
        let why = import::read(&[&path], &Frame::default()).unwrap_err();
        assert_eq!(why.place, Place::Byte(at as u64), "{why}");
        holds(&why.cause, if at > 5 { &["a zero byte stands here, within the text"] } else { &["this is no text"] });
    }
    // other files under this name
    let utf16: Vec<u8> = "\u{FEFF}; FBX 7.4.0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, wanted) in [
        (crate::shell::BRIDGE.as_bytes(), "a.fbx: byte "),
        (&utf16, "byte 0: this is text in UTF-16; save it in UTF-8"),
    ] {
        write(&path, bytes);
        holds(&error(2, &here, &["build", "a.fbx"]), &[wanted]);
    }
    // by the command: one line, exit code 2, and nothing left
    let bytes = binary(7400, &records, false, false);
    for length in (0..bytes.len() - 40).step_by(bytes.len() / 12) {
        write(&path, &bytes[..length]);
        let why = error(2, &here, &["build", "a.fbx"]);
        holds(&why, &["error: a.fbx: byte ", "; "]);
        assert_eq!(fs::read_dir(&here).unwrap().count(), 1);
    }
}

/// Bytes changed at random: refused or built, soon, and never a crash.
#[test]
fn vt_24_any_bytes_end_well() {
    let here = folder("fbx_any_bytes");
    let path = here.join("a.fbx");
    let (meshes, objects) = bridge();
    let records = document(7400, Some(Says::Y_UP_CM), &meshes, &objects);
    let kinds =
        [binary(7400, &records, false, false), binary(7400, &records, true, true), text(7400, &records).into_bytes()];
    let (mut built, mut refused) = (0, 0);
    for seed in 0..1500 {
        let mut r = Random(seed);
        let mut bytes = kinds[r.below(3)].clone();
        for _ in 0..1 + r.below(4) {
            let at = r.below(bytes.len());
            match r.below(4) {
                0 => bytes[at] = r.below(256) as u8,
                1 => bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, b'{', b'}', b'"', b'*'][r.below(9)],
                2 => bytes[at] ^= 1 << r.below(8),
                _ => drop(bytes.drain(at..(at + r.below(20)).min(bytes.len()))),
            }
        }
        write(&path, &bytes);
        let start = Instant::now();
        match import::read(&[&path], &Frame::default()) {
            Ok(import) => {
                let scene = &import.scene;
                assert!(!scene.triangles.is_empty() && scene.positions.iter().flatten().all(|v| v.is_finite()));
                assert!(scene.triangles.iter().flat_map(|t| t.v).all(|v| (v as usize) < scene.positions.len()));
                built += 1;
            }
            Err(e) => {
                assert!(matches!(e.kind, ImportErrorKind::Input | ImportErrorKind::Unsupported), "{e}");
                assert!(!e.to_string().contains(|c: char| c.is_control()), "{e}");
                refused += 1;
            }
        }
        assert!(start.elapsed() < Duration::from_secs(5), "seed {seed}");
    }
    println!("{built} built, {refused} refused");
    assert!(built > 100 && refused > 100);
}

/// Builds within 1 GiB of address space; a folder holds nothing afterwards but what it held, and an image if all went
/// well.
fn bounded(folder: &Path, file: &Path) -> (i32, String, Duration) {
    let command = &*HARDPAN;
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 1048576; exec \"$0\" build \"$@\""])
        .arg(command)
        .arg(file)
        .args(["-o", "out.hpan"])
        .current_dir(folder)
        .output()
        .unwrap();
    let left = fs::read_dir(folder).unwrap().count();
    assert_eq!(left, usize::from(output.status.success()), "{}: something is left", file.display());
    if output.status.success() {
        expect(0, folder, &["verify", "out.hpan"]);
        fs::remove_file(folder.join("out.hpan")).unwrap();
    }
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap(), start.elapsed())
}

#[test]
fn vt_24_bombs_and_chains() {
    let here = folder("fbx_bombs");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bomb.fbx");
    let (meshes, objects) = bridge();
    let records = document(7400, Some(Says::Y_UP_CM), &meshes, &objects);
    // an array that claims four billion numbers
    let mut bytes = binary(7400, &records, false, true);
    let array = bytes.windows(8).position(|w| w == b"Vertices").unwrap() + 8;
    bytes[array + 1..array + 5].fill(0xFF);
    write(&path, &bytes);
    let (code, why, time) = bounded(&here, &path);
    assert_eq!(code, 2, "{why}");
    assert!(time < Duration::from_secs(10));
    // a face of very many corners, and as many edges that all name its last one: each goes back over the whole face
    let corners = 300_000;
    let mut round = meshes[0].clone();
    round.faces.push(vec![0; corners]);
    let edges = |name| Record { name, values: vec![V::Ints(vec![3 + corners as i32; corners])], inside: vec![] };
    let mut records = document(7400, Some(Says::Y_UP_CM), &[round], &objects[..1]);
    records[2].inside[0].inside.push(edges("Edges"));
    let mut words = records.clone();
    words[2].inside[0].inside.last_mut().unwrap().name = "\"Edges\"";
    for bytes in [
        binary(7400, &records, false, true),
        binary(7500, &records, true, false),
        text(7400, &records).into_bytes(),
        text(7400, &records).replace("Edges:", "Edges ; of the face\n :").into_bytes(),
        text(7400, &words).into_bytes(),
    ] {
        write(&path, &bytes);
        let (code, why, time) = bounded(&here, &path);
        assert_eq!(code, 2, "{why}");
        holds(&why, &["face 1 of 300,000 corners is not strictly convex, and 262,144 are the most then"]);
        assert!(time < Duration::from_secs(5), "{time:?}");
    }
    // objects in objects, a hundred thousand deep: as records of text, so that the file is small
    let chain: Vec<Object> = (0..100_000)
        .map(|i| Object {
            name: "n",
            parent: (i > 0).then(|| i - 1),
            mesh: (i == 99_999).then_some(0),
            ..Object::default()
        })
        .collect();
    write(&path, binary(7400, &document(7400, Some(Says::Y_UP_CM), &meshes[..1], &chain), false, false));
    let (code, why, time) = bounded(&here, &path);
    assert_eq!(code, 2, "{why}");
    holds(&why, &["more than 1000 deep"]);
    assert!(time < Duration::from_secs(10));
    // objects in objects, with long names; one byte more than may be
    for (depth, length, wanted) in [(990, 1_000, 2), (64, 63, 2), (63, 64, 0)] {
        let name: &str = "n".repeat(length).leak();
        let top = Object { name: "n", ..Object::default() };
        let chain: Vec<Object> = std::iter::once(top)
            .chain((0..depth).map(|i| Object { name, parent: Some(i), mesh: Some(0), ..Object::default() }))
            .collect();
        write(&path, binary(7400, &document(7400, Some(Says::Y_UP_CM), &meshes[..1], &chain), false, false));
        let (code, why, time) = bounded(&here, &path);
        assert_eq!(code, wanted, "{why}");
        holds(&why, if wanted == 2 { &["name, with those that it stands in, is longer than 4096 bytes"] } else { &[] });
        assert!(time < Duration::from_secs(5), "{time:?}");
    }
    // many names that begin alike, at length
    let name: &str = "n".repeat(4_000).leak();
    let group = Object { name, ..Object::default() };
    let names: Vec<&str> = (0..80_000).map(|i| &*i.to_string().leak()).collect();
    let leaf = |name| Object { name, parent: Some(0), mesh: Some(0), ..Object::default() };
    let all: Vec<Object> = std::iter::once(group).chain(names.iter().map(|name| leaf(name))).collect();
    write(&path, binary(7400, &document(7400, Some(Says::Y_UP_CM), &meshes[..1], &all), false, false));
    let (code, why, time) = bounded(&here, &path);
    assert_eq!(code, 2, "{why}");
    holds(&why, &["the names of its objects have more than 256 MiB together"]);
    assert!(time < Duration::from_secs(10), "{time:?}");
    // records in records, and braces in braces
    let mut deep = String::from("; FBX 7.4.0 project file\n");
    (0..100_000).for_each(|_| deep.push_str("a: {\n"));
    write(&path, &deep);
    let (code, why, _) = bounded(&here, &path);
    assert_eq!(code, 2, "{why}");
    // a mesh of many corners a thousand thousand times: more vertices than can be
    let mut many = Mesh::default();
    for i in 0..5_000 {
        many.points.push([f64::from(i), 0.0, f64::from(i % 2)]);
    }
    many.faces.push(vec![0, 1, 2]);
    let copies: Vec<Object> = (0..100_000).map(|_| Object { name: "n", mesh: Some(0), ..Object::default() }).collect();
    write(&path, binary(7400, &document(7400, Some(Says::Y_UP_CM), &[many], &copies), false, false));
    let (code, why, time) = bounded(&here, &path);
    assert_eq!(code, 4, "{why}");
    holds(&why, &["not enough memory for 500,000,000 vertices"]);
    assert!(time < Duration::from_secs(10), "{time:?}");
}

#[test]
fn vt_24_a_vertex_that_is_not_there() {
    let here = folder("fbx_no_such_vertex");
    let mut mesh = sheet([0.0, 1000.0], [0.0, 1000.0], 0.0);
    mesh.faces.push(vec![0, 1, 9]);
    let object = Object { name: "a\x1Bb", mesh: Some(0), ..Object::default() };
    let mut bytes = binary(7400, &document(7400, Some(Says::Y_UP_CM), &[mesh], &[object]), false, false);
    write(&here.join("a.fbx"), bytes.clone());
    let why = error(2, &here, &["build", "a.fbx"]);
    holds(&why, &["a.fbx: its records can be read, but what they say contradicts itself, as when faces have corners"]);
    // who wrote it may be known for it
    let foot = bytes.len() - 16;
    bytes.splice(foot..foot, *b"Open Asset Import Library (Assimp) 5.2.0");
    write(&here.join("a.fbx"), bytes);
    let why = error(3, &here, &["build", "a.fbx"]);
    holds(
        &why,
        &["a.fbx: assimp wrote it, and leaves out", "; have it write Wavefront OBJ: assimp export SOURCE FILE.obj"],
    );
}

/// A list of a text states its length, and the library reads what there is: commas in decimals make two numbers of one.
#[test]
fn vt_24_lists_that_are_not_as_long_as_they_state() {
    let here = folder("fbx_lists_of_other_lengths");
    let path = here.join("a.fbx");
    let halves = |y: f64| Mesh {
        points: sheet([0.25, 1000.5], [0.75, 1000.25], y).points,
        faces: vec![vec![0, 1, 2], vec![0, 2, 3]],
        materials: vec![0, 0],
    };
    let object = |name, mesh| Object { name, mesh: Some(mesh), materials: vec!["m"], ..Object::default() };
    let records = document(7400, Some(Says::Y_UP_CM), &[halves(1.5), halves(2.5)], &[object("a", 0), object("b", 1)]);
    let good = text(7400, &records);
    let second = good.rfind("Vertices").unwrap();
    let line = |at: usize| good[..at].lines().count() as u64;
    let told = |text: &str| {
        write(&path, text);
        let e = import::read(&[&path], &Frame::default()).unwrap_err();
        assert_eq!(e.kind, ImportErrorKind::Input, "{e}");
        (e.place, e.to_string())
    };
    write(&path, &good);
    assert_eq!(read(&path).scene.triangles.len(), 4);
    // decimals of the second mesh alone, as another language writes them
    let end = second + good[second..].find('}').unwrap();
    let parted = format!("{}{}{}", &good[..second], good[second..end].replace('.', ","), &good[end..]);
    let (place, why) = told(&parted);
    assert_eq!(place, Place::Line(line(second)));
    holds(&why, &["the list Vertices states 12 numbers and holds 24; ", "binary FBX"]);
    holds(&error(2, &here, &["build", "a.fbx"]), &["holds 24"]);
    assert!(!here.join("a.hpan").exists());
    // corners, materials, and points that are too many or too few
    let corner = good.find("PolygonVertexIndex").unwrap();
    for (from, to, at, parts) in [
        ("*6 {", "*7 {", corner, ["PolygonVertexIndex", " 7 numbers and holds 6;"]),
        ("*6 {", "*5 {", corner, ["PolygonVertexIndex", " 5 numbers and holds 6;"]),
        ("*6 {", "*-6 {", corner, ["PolygonVertexIndex", " and holds 6;"]),
        (
            "Materials: *2",
            "Materials: *3",
            good.find("Materials: *").unwrap(),
            ["Materials", " 3 numbers and holds 2;"],
        ),
        ("*12 {", "*11 {", good.find("Vertices").unwrap(), ["Vertices", " 11 numbers and holds 12;"]),
        ("*12 {", "*24 {", good.find("Vertices").unwrap(), ["Vertices", " 24 numbers and holds 12;"]),
    ] {
        let (place, why) = told(&good.replacen(from, to, 1));
        assert_eq!(place, Place::Line(line(at)), "{why}");
        holds(&why, &parts);
    }
    // as long as they state: over several lines, between comments, in words and in lists of which a ground has no use
    for (from, to) in [
        (",", ",\n\t\t\t"),
        ("a: ", "a: ; Vertices: *9 { a: 1 }\n"),
        ("\tMaterials: *2", "\tEdges: *9 {\n\ta: 1,2\n}\n\tMaterials: *2"),
        ("\tMaterials: *2", "\tNormals: *9 {\n\ta: 1,2\n}\n\tMaterials: *2"),
        ("\"Model::a\"", "\"Model::Vertices: *9 { a: 1 }\""),
        ("0.25,", "+2.5E-1 ,"),
    ] {
        let text = match from {
            "," => good.split_once("Objects").map(|(head, rest)| format!("{head}Objects{}", rest.replace(from, to))),
            from => Some(good.replacen(from, to, 1)),
        };
        let text = text.unwrap();
        assert_ne!(text, good, "{from:?}");
        write(&path, &text);
        assert_eq!(read(&path).scene.triangles.len(), 4, "{to:?}");
    }
    // lists of bytes
    for (big, packed) in [(false, false), (false, true), (true, false), (true, true)] {
        let good = binary(7400, &records, big, packed);
        let at = good.windows(9).rposition(|w| w == b"Verticesd").unwrap() + 9;
        for count in [6u32, 11, 13, 24] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&if big { count.to_be_bytes() } else { count.to_le_bytes() });
            write(&path, &bytes);
            let e = import::read(&[&path], &Frame::default()).unwrap_err();
            assert!(
                e.kind == ImportErrorKind::Input && matches!(e.place, Place::Byte(_)),
                "{count} {big} {packed}: {e}"
            );
        }
    }
}

/// All binary files have a foot of 161 bytes or more, which holds nothing of the scene.
#[test]
fn vt_24_real_files_without_all_of_their_foot() {
    let here = folder("fbx_without_foot");
    for file in files("fbx", REAL) {
        let bytes = fs::read(&file).unwrap();
        if !bytes.starts_with(b"Kaydara FBX Binary") {
            continue;
        }
        for missing in [1, 16, 100, 161] {
            let length = bytes.len() - missing;
            write(&here.join("cut.fbx"), &bytes[..length]);
            let why = error(2, &here, &["build", "cut.fbx"]);
            holds(&why, &[&format!("error: cut.fbx: byte {length}: the file is cut off here, within its foot")]);
        }
    }
    assert_eq!(fs::read_dir(&here).unwrap().count(), 1, "nothing but the source");
}

#[test]
fn vt_24_malformed_files() {
    let here = folder("fbx_malformed");
    // what is not built, and why; all else is, for what is wrong with it is mended, left out or no part of the ground
    let refused: BTreeMap<&str, &str> = [
        ("fbx_fuzz_0143.fbx", "byte 3568: a record states a length beyond the one that it is part of"),
        ("fbx_fuzz_0546.fbx", "byte 12560: the file ends here, within a record"),
        ("fbx_fuzz_0742.fbx", "byte 1: this is no text, and the file does not begin as a binary FBX does"),
        ("fbx_fuzz_0739.fbx", "byte 30944: the file is cut off here, within its foot"),
        // the array of vertices in which 1.#NOPE stands
        ("synthetic_bad_inf_nan_fail_7500_ascii.fbx", "byte 9208: reading stops here"),
        ("synthetic_node_cycle_fail_7700_ascii.fbx", "what they say contradicts itself"),
    ]
    .into();
    let noted: BTreeMap<&str, &str> = [
        ("maya_bad_face_6100_ascii.fbx", "faces left out that have fewer than three corners: 2"),
        ("synthetic_cursed_geometry_7700_ascii.fbx", "faces left out that have fewer than three corners: 3"),
    ]
    .into();
    for file in files("malformed", MALFORMED) {
        let name = file_name(&file);
        let (code, text, time) = bounded(&here, &file);
        assert!(time < Duration::from_secs(10), "{name} took {time:?}");
        match refused.get(name) {
            Some(why) => {
                assert!(code == 2 && text.starts_with("error: ") && text.lines().count() == 1, "{name}: {code} {text}");
                holds(&text, &[name, why]);
            }
            None => {
                assert_eq!(code, 0, "{name}: {text}");
                holds(&text, &[noted.get(name).copied().unwrap_or_default()]);
            }
        }
    }
}

/// The library's own matrices, made by other means, put every vertex to the same place; with its own conversion of axes
/// and unit, too.
#[test]
fn vt_23_real_files_stand_where_the_library_puts_them() {
    let far = |a: [f64; 3], b: ufbx::Vec3| (a[0] - b.x).abs().max((a[1] - b.y).abs()).max((a[2] - b.z).abs());
    for file in files("fbx", REAL) {
        let bytes = fs::read(&file).unwrap();
        let raw = Frame { up: Some(Up::Z), unit: Some(Unit::M), ..Frame::default() };
        for (frame, target) in [(raw, None), (Frame::default(), Some(ufbx::CoordinateAxes::right_handed_z_up()))] {
            let import = import::read(&[&file], &frame).unwrap_or_else(|e| panic!("{e}"));
            if target.is_some() && import.report.files[0].assumed.is_some() {
                continue;
            }
            let options = ufbx::LoadOpts {
                target_axes: target.unwrap_or_default(),
                target_unit_meters: if target.is_some() { 1.0 } else { 0.0 },
                ..ufbx::LoadOpts::default()
            };
            let Ok(scene) = ufbx::load_memory(&bytes, options) else { panic!("{}", file.display()) };
            let mut at = import.scene.positions.iter();
            let (mut worst, mut size) = (0.0f64, 0.0f64);
            for mesh in &scene.meshes {
                for node in mesh.element.instances.iter().filter(|n| &*n.element.name != HIDDEN) {
                    let m = &node.geometry_to_world;
                    for v in &mesh.vertices {
                        let wanted = ufbx::transform_position(m, *v);
                        size = size.max(wanted.x.abs()).max(wanted.y.abs()).max(wanted.z.abs());
                        worst = worst.max(far(*at.next().unwrap(), wanted));
                    }
                }
            }
            assert!(at.next().is_none(), "{}", file.display());
            assert!(worst <= 1e-12 * size, "{}: {worst} of {size}", file.display());
        }
    }
}

/// Other programs wrote the same scene as OBJ, which says neither axes nor unit: most in those of the FBX file.
#[test]
fn vt_23_real_files_have_the_ground_of_their_obj() {
    let raw = Frame { up: Some(Up::Z), unit: Some(Unit::M), ..Frame::default() };
    let mut compared = 0;
    let all = files("fbx", REAL);
    for file in &all {
        let name = file_name(file).trim_end_matches(".fbx");
        let mut parts: Vec<&str> = name.split('_').collect();
        parts.retain(|p| p.parse::<u32>().map_or(true, |n| n < 3000) && *p != "ascii" && *p != "binary");
        let other = file.with_file_name(format!("{}.obj", parts.join("_")));
        if !other.exists() {
            continue;
        }
        compared += 1;
        // as what the FBX is read and as what the OBJ, where that is not the same; and whether the OBJ has all of it
        let (as_fbx, as_obj, all) = match parts.join("_").as_str() {
            // Blender wrote metres, z up
            "blender_340_y_up" => (Frame::default(), raw, true),
            // the same, y up, and the cube without its neighbour
            "blender_340_z_up" => (Frame::default(), Frame { up: Some(Up::Y), ..raw }, false),
            // feet, z up, in the one, and centimetres, y up, in the other
            "revit_wall_square" => (Frame::default(), Frame { up: Some(Up::Y), unit: Some(Unit::Cm), ..raw }, true),
            _ => (raw, raw, true),
        };
        let [a, b] = [(file, as_fbx), (&other, as_obj)].map(|(f, frame)| import::read(&[f], &frame).unwrap().scene);
        let points =
            |s: &Scene| s.triangles.iter().flat_map(|t| t.v).map(|v| s.positions[v as usize]).collect::<Vec<_>>();
        let (pa, pb) = (points(&a), points(&b));
        let size = pb.iter().flatten().fold(0.0f64, |m, v| m.max(v.abs()));
        // to the last of six decimals or, of large numbers, digits
        let near = 1e-6f64.max(1e-6 * size);
        let off = |from: &[[f64; 3]], to: &[[f64; 3]]| {
            let mut to = to.to_vec();
            to.sort_by(|p, q| p[0].total_cmp(&q[0]));
            from.iter()
                .find(|p| {
                    let first = to.partition_point(|q| q[0] < p[0] - near);
                    let mut beside = to[first..].iter().take_while(|q| q[0] <= p[0] + near);
                    !beside.any(|q| (0..3).all(|i| (p[i] - q[i]).abs() <= near))
                })
                .copied()
        };
        assert_eq!(off(&pb, &pa), None, "{name}: of the OBJ");
        if !all {
            continue;
        }
        assert_eq!(off(&pa, &pb), None, "{name}: of the FBX");
        assert_eq!(a.triangles.len(), b.triangles.len(), "{name}");
        let area = |s: &Scene| -> f64 { corners(s).iter().map(|(t, ..)| area2(*t)).sum::<f64>().abs() };
        let whole = |s: &Scene| -> f64 { corners(s).iter().map(|(t, ..)| area2(*t).abs()).sum() };
        let of = whole(&b).max(1e-9);
        for (a, b) in [(area(&a), area(&b)), (whole(&a), whole(&b))] {
            assert!((a - b).abs() <= 1e-4 * of, "{name}: {a} and {b}");
        }
    }
    assert_eq!(compared, if all.is_empty() { 0 } else { COMPARED });
}

/// One scene, written with three sets of axes.
#[test]
fn vt_23_one_scene_in_three_sets_of_axes() {
    let all: Vec<_> = files("fbx", REAL).into_iter().filter(|f| file_name(f).starts_with("axes_")).collect();
    assert!(all.is_empty() || all.len() == 3, "{all:?}");
    let scenes: Vec<Scene> = all.iter().map(|f| read(f).scene).collect();
    for scene in &scenes {
        for (a, b) in scene.positions.iter().flatten().zip(scenes[0].positions.iter().flatten()) {
            assert!((a - b).abs() < 1e-6, "{:?}", scenes.iter().map(|s| &s.positions).collect::<Vec<_>>());
        }
        assert_eq!(scene.triangles, scenes[0].triangles);
    }
}

/// All 26, built and proven; one with a face of 25,122 corners.
#[test]
fn vt_25_real_files() {
    let here = folder("fbx_real");
    // triangles of the scene and of the image; materials; what became of x, y and z
    let known: BTreeMap<&str, (usize, u64, usize, &str)> = [
        ("axes_nxpz_7400_binary.fbx", (1, 1, 1, "y, -x, z in 1/100 m")),
        ("axes_pypz_7400_binary.fbx", (1, 1, 1, "x, y, z in 1/100 m")),
        ("axes_pzny_7400_binary.fbx", (1, 1, 1, "x, z, -y in 1/100 m")),
        ("blender_279_nested_meshes_7400_binary.fbx", (40, 16, 1, "x, -z, y in 1/100 m")),
        ("blender_293_instancing_7400_binary.fbx", (7744, 7632, 1, "x, -z, y in 1 m")),
        ("blender_340_default_unscaled_7400_binary.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("blender_340_y_up_7400_binary.fbx", (26, 8, 2, "x, -z, y in 1/100 m")),
        ("blender_340_z_up_7400_binary.fbx", (26, 8, 2, "x, y, z in 1/100 m")),
        ("blender_suzanne_multimaterial_7400_binary.fbx", (968, 952, 7, "x, -z, y in 1/100 m")),
        ("close_to_identity_transforms.fbx", (420, 102, 2, "x, -z, y in 1 m")),
        ("global_settings.fbx", (1352, 624, 2, "x, -z, y in 500/100 m")),
        ("kenney_collision-track-corner.fbx", (86, 78, 1, "x, -z, y in 1/100 m")),
        ("max2009_blob_5800_ascii.fbx", (832, 350, 5, "x, -z, y in 1/100 m")),
        ("max2009_blob_6100_binary.fbx", (832, 474, 5, "x, y, z in 127/5000 m")),
        ("max7_cube_5000_binary.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("max_geometry_transform_7700_binary.fbx", (24, 4, 1, "x, y, z in 127/5000 m")),
        ("maya_axes_7700_ascii.fbx", (220, 45, 4, "x, -z, y in 1/100 m")),
        ("maya_cube_6100_ascii.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("maya_cube_7500_ascii.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("maya_cube_7500_binary.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("maya_cube_big_endian_7500_binary.fbx", (12, 2, 1, "x, -z, y in 1/100 m")),
        ("maya_ngon_maze_7700_binary.fbx", (41136, 40882, 4, "x, -z, y in 1/100 m")),
        ("maya_pivots_7500_binary.fbx", (12, 6, 1, "x, -z, y in 1/100 m")),
        ("maya_slime_7500_binary.fbx", (976, 509, 1, "x, -z, y in 1/100 m")),
        ("revit_wall_square_7700_binary.fbx", (88, 12, 1, "x, y, z in 381/1250 m")),
        ("spider.fbx", (1368, 763, 4, "x, -z, y in 1/100 m")),
    ]
    .into();
    assert_eq!(known.len(), REAL);
    for file in files("fbx", REAL) {
        let name = file_name(&file);
        let (code, text, time) = bounded(&here, &file);
        assert!(time < Duration::from_secs(10), "{name} took {time:?}");
        assert_eq!(code, 0, "{name}: {text}");
        let import = read(&file);
        let built = hardpan_builder::build(&import.scene, &hardpan_builder::Options::default()).unwrap();
        let found = (
            import.scene.triangles.len(),
            built.report.triangles,
            import.scene.materials.len(),
            import.report.files[0].frame.as_str(),
        );
        assert_eq!(known.get(name), Some(&found), "{name}");
    }
}
