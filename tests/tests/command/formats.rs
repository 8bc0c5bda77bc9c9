//! Meshes of the smaller formats: real files by a table, made ones by their numbers.

use std::{
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use crate::shell::{error, expect, folder, holds, info, soon};
use serde_json::{Value, json};
use verification::obj::{ends_in, real, real_file};

const TABLE: &str = include_str!("../../goldens/files.txt");

/// The command with 1 GiB of address space.
fn bounded(here: &Path, file: &Path) -> (Option<i32>, String, Duration) {
    bounded_with(here, file, "")
}

/// The same, with more typed.
fn bounded_with(here: &Path, file: &Path, more: &str) -> (Option<i32>, String, Duration) {
    let start = Instant::now();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 1048576; exec \"$0\" build \"$1\" -o out.hpan --undersides ground --stitch false --rays none --json $2"])
        .arg(&*crate::shell::HARDPAN)
        .arg(file)
        .arg(more)
        .current_dir(here)
        .output()
        .unwrap();
    let text = match output.status.code() {
        Some(0) => output.stdout,
        _ => output.stderr,
    };
    (output.status.code(), String::from_utf8(text).unwrap(), start.elapsed())
}

/// Every file that the table names, and no file of these formats that it does not.
#[test]
fn cg_01_real_files_as_the_table_says() {
    let here = folder("cg_01_real_files");
    let rows: Vec<Vec<&str>> =
        TABLE.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(" | ").collect()).collect();
    let listed = |file: &Path| rows.iter().any(|row| ends(file, row[0]));
    let mine = |file: &Path| ["ply", "stl", "STL", "gltf", "glb", "crg"].iter().any(|end| ends_in(file, end));
    for file in ["ply", "stl", "gltf", "crg", "malformed"].iter().flat_map(|set| real(set)).filter(|f| mine(f)) {
        assert!(listed(&file), "{} is not in the table", file.display());
    }
    for row in &rows {
        let Some(file) = real_file(row[0]) else { return };
        if row[1] == "read" {
            let typed = ["materials", file.to_str().unwrap(), "--json"];
            let all: Value = serde_json::from_str(&expect(0, &here, &typed)[0]).unwrap();
            let sum: u64 = all.as_array().unwrap().iter().map(|m| m["triangles"].as_u64().unwrap()).sum();
            assert_eq!(sum.to_string(), row[2], "{}", row[0]);
            continue;
        }
        let (code, text, time) = bounded(&here, &file);
        assert!(time < Duration::from_secs(30), "{} took {time:?}", row[0]);
        if row[1] == "built" {
            assert_eq!(code, Some(0), "{}: {text}", row[0]);
            let report: Value = serde_json::from_str(&text).unwrap();
            let kinds = |list: &str, keys: &[&str]| -> u64 {
                keys.iter().map(|key| report["ground"][list][key].as_u64().unwrap_or(0)).sum()
            };
            let all = read_of(&report);
            assert!(kinds("used", &["triangles", "posts"]) > 0, "{}", row[0]);
            assert_eq!(all.to_string(), row[2], "{}", row[0]);
            fs::remove_file(here.join("out.hpan")).unwrap();
        } else {
            assert_eq!(code, Some(row[1].parse().unwrap()), "{}: {text}", row[0]);
            let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
            assert_eq!(errors.len(), 1, "{text}");
            holds(&text, &[row[2]]);
            assert_eq!(fs::read_dir(&here).unwrap().count(), 0, "{} left something", row[0]);
        }
    }
}

fn ends(file: &Path, name: &str) -> bool {
    file.ends_with(name)
}

/// Triangles that the readers gave, at all places.
fn read_of(report: &Value) -> u64 {
    let files = report["import"]["files"].as_array().unwrap();
    let count = |file: &Value, what: &str| {
        file["used"].as_array().unwrap().iter().find(|c| c["what"] == what).and_then(|c| c["count"].as_u64())
    };
    let of = |f: &Value| count(f, "triangles").or(count(f, "posts")).unwrap() * count(f, "places").unwrap_or(1);
    files.iter().map(of).sum()
}

/// A hill of 4 x 4 squares: its corners, and its faces of four corners each.
fn hill() -> (Vec<[f64; 3]>, Vec<[usize; 4]>) {
    let corner = |i: usize| [(i % 5) as f64, (i / 5) as f64, ((i % 5) * (i / 5)) as f64 / 8.0];
    let face = |i: usize| {
        let at = i / 4 * 5 + i % 4;
        [at, at + 1, at + 6, at + 5]
    };
    ((0..25).map(corner).collect(), (0..16).map(face).collect())
}

fn as_obj() -> String {
    let (corners, faces) = hill();
    let mut text = String::new();
    corners.iter().for_each(|[x, y, z]| writeln!(text, "v {x} {y} {z}").unwrap());
    faces.iter().for_each(|f| writeln!(text, "f {} {} {} {}", f[0] + 1, f[1] + 1, f[2] + 1, f[3] + 1).unwrap());
    text
}

/// Each of its triangles, as an OBJ is cut.
fn triangles() -> Vec<[[f64; 3]; 3]> {
    let (corners, faces) = hill();
    faces.iter().flat_map(|f| [[f[0], f[1], f[2]], [f[0], f[2], f[3]]]).map(|t| t.map(|i| corners[i])).collect()
}

fn binary_stl(head: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.resize(80, b' ');
    bytes.extend((triangles().len() as u32).to_le_bytes());
    for t in triangles() {
        bytes.extend([0; 12]);
        t.iter().flatten().for_each(|v| bytes.extend((*v as f32).to_le_bytes()));
        bytes.extend([7, 1]);
    }
    bytes
}

fn text_stl() -> String {
    let mut text = "solid hill top\r\n".to_string();
    for t in triangles() {
        text += "facet normal 0 0 1\r\n outer loop\r\n";
        t.iter().for_each(|[x, y, z]| write!(text, "  vertex {x} {y:e} {z}\r\n").unwrap());
        text += " endloop\r\nendfacet\r\n";
    }
    text + "endsolid hill top\n"
}

/// A PLY, its faces before its vertices if asked, with other properties between.
fn ply(form: &str, faces_first: bool) -> Vec<u8> {
    let (corners, faces) = hill();
    let vertex = "element vertex 25\nproperty uchar red\nproperty double z\nproperty list uchar short more\nproperty float x\nproperty float32 y\n";
    let face = "element face 16\nproperty int8 flag\nproperty list uint16 int vertex_index\n";
    let order = if faces_first { [face, vertex] } else { [vertex, face] };
    let mut bytes =
        format!("ply\nformat {form} 1.0\ncomment made here\n{}{}end_header\n", order[0], order[1]).into_bytes();
    let big = form.contains("big");
    let mut put = |text: &str, le: Vec<u8>| {
        if form == "ascii" {
            bytes.extend(text.as_bytes());
        } else if big {
            bytes.extend(le.iter().rev());
        } else {
            bytes.extend(le);
        }
    };
    let vertices = |put: &mut dyn FnMut(&str, Vec<u8>)| {
        for [x, y, z] in &corners {
            put("9 ", vec![9]);
            put(&format!("{z} "), z.to_le_bytes().to_vec());
            put("2 ", vec![2]);
            put("-4 ", (-4i16).to_le_bytes().to_vec());
            put("5 ", 5i16.to_le_bytes().to_vec());
            put(&format!("{x} "), (*x as f32).to_le_bytes().to_vec());
            put(&format!("{y}\n"), (*y as f32).to_le_bytes().to_vec());
        }
    };
    if !faces_first {
        vertices(&mut put);
    }
    for f in &faces {
        put("0 ", vec![0]);
        put("4", 4u16.to_le_bytes().to_vec());
        f.iter().for_each(|v| put(&format!(" {v}"), (*v as i32).to_le_bytes().to_vec()));
        put("\n", vec![]);
    }
    if faces_first {
        vertices(&mut put);
    }
    bytes
}

/// The hill as glTF: positions interleaved with normals, y up, in a node that is moved, turned and scaled, below
/// another that undoes it. The text, with its buffer as data or without one, and the buffer.
fn gltf(own: bool) -> (Vec<u8>, Vec<u8>) {
    let (corners, faces) = hill();
    let mut bytes: Vec<u8> = Vec::new();
    for [x, y, z] in corners {
        // of the node: half as large, turned by 90 degrees about y (x to -z), moved by (1, 2, 3)
        let [a, b, c] = [x, z, -y];
        let [a, b, c] = [a - 1.0, b - 2.0, c - 3.0];
        let [a, b, c] = [-c * 2.0, b * 2.0, a * 2.0];
        [a, b, c, 0.0, 1.0, 0.0].iter().for_each(|v| bytes.extend((*v as f32).to_le_bytes()));
    }
    let at = bytes.len();
    faces
        .iter()
        .flat_map(|f| [f[0], f[1], f[2], f[0], f[2], f[3]])
        .for_each(|v| bytes.extend((v as u16).to_le_bytes()));
    let turn = std::f64::consts::FRAC_1_SQRT_2;
    let mut buffer = json!({ "byteLength": bytes.len() });
    if !own {
        buffer["uri"] = "a%20buffer.bin".into();
    }
    let text = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [1] }], "buffers": [buffer],
        "bufferViews": [{ "buffer": 0, "byteLength": at, "byteStride": 24 }, { "buffer": 0, "byteOffset": at, "byteLength": bytes.len() - at }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 25, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5123, "count": 96, "type": "SCALAR" },
            { "bufferView": 0, "byteOffset": 12, "componentType": 5126, "count": 25, "type": "VEC3" }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0, "NORMAL": 2 }, "indices": 1, "material": 0, "mode": 4 }] }],
        "materials": [{ "name": "wet  grass" }],
        "nodes": [{ "name": "hill", "mesh": 0, "scale": [0.5, 0.5, 0.5], "rotation": [0, turn, 0, turn] },
            { "name": "group", "children": [0], "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 2, 3, 1] }] });
    (text.to_string().into_bytes(), bytes)
}

fn container(text: &[u8], buffer: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut b = bytes.to_vec();
        b.resize(b.len().next_multiple_of(4), with);
        b
    };
    let (text, buffer) = (pad(text, b' '), pad(buffer, 0));
    let mut all = b"glTF".to_vec();
    [2, (28 + text.len() + buffer.len()) as u32, text.len() as u32].iter().for_each(|v| all.extend(v.to_le_bytes()));
    all.extend(b"JSON");
    all.extend(text);
    all.extend((buffer.len() as u32).to_le_bytes());
    all.extend(b"BIN\0");
    all.extend(buffer);
    all
}

fn glb() -> Vec<u8> {
    let (text, buffer) = gltf(true);
    container(&text, &buffer)
}

/// Eighths of a metre as 16-bit numbers, as a strip of each face, and the middle corner by a sparse accessor.
fn quantised() -> Vec<u8> {
    let (corners, faces) = hill();
    let mut bytes: Vec<u8> = Vec::new();
    let numbers = |[x, y, z]: [f64; 3]| [x, z, -y].map(|v| (v * 8.0) as i16);
    for (i, p) in corners.iter().enumerate() {
        let p = if i == 12 { [0; 3] } else { numbers(*p) };
        p.iter().chain([&0]).for_each(|v| bytes.extend(v.to_le_bytes()));
    }
    // the place, then what stands there
    bytes.extend([12, 0, 0, 0]);
    numbers(corners[12]).iter().chain([&0]).for_each(|v| bytes.extend(v.to_le_bytes()));
    let mut views = vec![
        json!({ "buffer": 0, "byteLength": 200, "byteStride": 8 }),
        json!({ "buffer": 0, "byteOffset": 200, "byteLength": 4 }),
        json!({ "buffer": 0, "byteOffset": 204, "byteLength": 8 }),
    ];
    let sparse =
        json!({ "count": 1, "indices": { "bufferView": 1, "componentType": 5121 }, "values": { "bufferView": 2 } });
    let mut accessors =
        vec![json!({ "bufferView": 0, "componentType": 5122, "count": 25, "type": "VEC3", "sparse": sparse })];
    let mut primitives = Vec::new();
    for (i, f) in faces.iter().enumerate() {
        // fans and strips in turn: both cut a face between its first and its third corner
        let strip = i % 2 == 1;
        let corners = if strip { [f[1], f[2], f[0], f[3]] } else { *f };
        views.push(json!({ "buffer": 0, "byteOffset": bytes.len(), "byteLength": 4 }));
        corners.iter().for_each(|v| bytes.push(*v as u8));
        accessors.push(json!({ "bufferView": i + 3, "componentType": 5121, "count": 4, "type": "SCALAR" }));
        primitives
            .push(json!({ "attributes": { "POSITION": 0 }, "indices": i + 1, "mode": if strip { 5 } else { 6 } }));
    }
    let text = json!({ "asset": { "version": "2.0" }, "extensionsRequired": ["KHR_mesh_quantization"], "buffers": [{ "byteLength": bytes.len() }],
        "bufferViews": views, "accessors": accessors, "meshes": [{ "primitives": primitives }],
        "nodes": [{ "mesh": 0, "scale": [0.125, 0.125, 0.125] }] });
    container(text.to_string().as_bytes(), &bytes)
}

#[test]
fn one_hill_in_every_format_is_one_image() {
    let here = folder("one_hill");
    let identity = |name: &str, bytes: &[u8]| {
        fs::write(here.join(name), bytes).unwrap();
        // names of materials and sources are of the format
        expect(0, &here, &["build", name, "-o", "hill.hpan", "--force"]);
        expect(0, &here, &["export", "obj", "hill.hpan", "-o", "seen.obj", "--force"]);
        let seen = fs::read_to_string(here.join("seen.obj")).unwrap();
        seen.lines().filter(|l| l.starts_with("v ") || l.starts_with("f ")).collect::<Vec<_>>().join("\n")
    };
    let wanted = identity("hill.obj", as_obj().as_bytes());
    fs::write(here.join("a buffer.bin"), gltf(false).1).unwrap();
    assert_eq!(wanted.lines().filter(|l| l.starts_with("f ")).count(), 32);
    for (name, bytes) in [
        ("binary.stl", binary_stl(b"made by nobody")),
        ("solid.stl", binary_stl(b"solid hill, and yet binary")),
        ("text.stl", text_stl().into_bytes()),
        ("ascii.ply", ply("ascii", false)),
        ("faces-first.ply", ply("ascii", true)),
        ("little.ply", ply("binary_little_endian", false)),
        ("big.ply", ply("binary_big_endian", true)),
        ("text.gltf", gltf(false).0),
        ("bytes.glb", glb()),
        ("quantised.glb", quantised()),
        ("other-name.obj", ply("binary_big_endian", false)),
    ] {
        assert_eq!(identity(name, &bytes), wanted, "{name}");
    }
    // the solid's name is the source
    expect(0, &here, &["build", "text.stl"]);
    assert_eq!(info(&here, "text.hpan")["sources"], json!(["hill top"]));
    // and those of nodes and materials
    expect(0, &here, &["build", "bytes.glb"]);
    let info = info(&here, "bytes.hpan");
    assert_eq!((&info["sources"], &info["materials"][0]["name"]), (&json!(["group/hill"]), &json!("wet grass")));
}

/// Faults of a glTF file.
#[test]
fn bad_gltf_ends_with_one_clear_error() {
    let here = folder("bad_gltf");
    let whole: Value = serde_json::from_slice(&gltf(true).0).unwrap();
    for (place, value, wanted) in [
        ("/bufferViews/0/byteLength", json!(587), "accessors[0]: bufferViews[0] ends before its 25 elements do"),
        ("/bufferViews/1/byteOffset", json!(u64::MAX), "accessors[1]: bufferViews[1] ends before its 96 elements do"),
        (
            "/accessors/0/count",
            json!(4_294_967_296u64),
            "accessors[0]: it states 4,294,967,296 elements, more than all buffers can hold",
        ),
        ("/accessors/0/type", json!("VEC2"), "accessors[0]: its type is \"VEC2\", and VEC3 is wanted"),
        ("/accessors/1/componentType", json!(5122), "accessors[1]: indices are whole numbers"),
        ("/accessors/0/count", json!(24), "accessors[1]: it names vertex 24, and there are 24"),
        ("/nodes/0/mesh", json!(1), "meshes[1] is not there"),
        ("/nodes/1/children", json!([0, 0]), "nodes[0] stands in two nodes, or in itself"),
        ("/scenes/0/nodes", json!([7]), "nodes[7] is not there"),
        ("/meshes/0/primitives/0/mode", json!(9), "its mode 9 is unknown"),
        ("/buffers/0/byteLength", json!(100_000), "buffers[0]: it states 100,000 bytes, and has"),
        ("/buffers/0", json!({ "uri": "../b.bin" }), "leads out of the file's folder"),
        ("/buffers/0", json!({ "uri": "/etc/passwd" }), "leads out of the file's folder"),
    ] {
        let mut tree = whole.clone();
        *tree.pointer_mut(place).unwrap() = value;
        fs::write(here.join("a.glb"), container(tree.to_string().as_bytes(), &gltf(true).1)).unwrap();
        holds(&error(2, &here, &["build", "a.glb"]), &["a.glb", wanted]);
    }
    // a buffer that is not there: both files are named
    fs::write(here.join("text.gltf"), gltf(false).0).unwrap();
    let wanted = ["text.gltf: buffers[0]: a buffer.bin: there is no such file", "; copy this file beside the glTF"];
    holds(&error(2, &here, &["build", "text.gltf"]), &wanted);
    let mut tree = whole.clone();
    tree["extensionsRequired"] = json!(["KHR_materials_unlit", "EXT_mesh_gpu_instancing"]);
    fs::write(here.join("a.glb"), container(tree.to_string().as_bytes(), &gltf(true).1)).unwrap();
    holds(&error(3, &here, &["build", "a.glb"]), &["\"EXT_mesh_gpu_instancing\", which is not read"]);
}

#[test]
fn bad_meshes_end_with_one_clear_error() {
    let here = folder("bad_meshes");
    let ply = |vertices: &str, faces: &str, body: &str| {
        let head = format!(
            "ply\nformat ascii 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n"
        );
        format!("{head}element face {faces}\nproperty list uchar int vertex_indices\nend_header\n{body}")
    };
    let stl = |facets: u32| {
        let mut b = vec![b' '; 80];
        b.extend(facets.to_le_bytes());
        b.extend([0; 100]);
        b
    };
    for (name, bytes, wanted) in [
        (
            "a.ply",
            ply("4294967296", "1", "0 0 0\n").into_bytes(),
            "line 3: it states 4,294,967,296 of vertex, and 6 bytes follow",
        ),
        (
            "a.ply",
            ply("1", "1", "0 0 0\n4000000000 1 2 3\n").into_bytes(),
            "line 11: a list of 4000000000 numbers does not fit",
        ),
        ("a.ply", ply("1", "1", "0 0 0\n3 0 1 2\n").into_bytes(), "face 0 names vertex 1, and the file has 1"),
        ("a.ply", ply("1", "1", "0 x 0\n3 0 1 2\n").into_bytes(), "line 10: \"x\" is not a number"),
        ("a.ply", ply("3", "1", "0 0 0 1 0 0 0 1 0 3 0 -1 2\n").into_bytes(), "a face names vertex -1"),
        (
            "a.ply",
            b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n".to_vec(),
            "the file ends before end_header",
        ),
        ("a.ply", b"ply\nformat utf8 1.0\nend_header\n".to_vec(), "line 2: the format is \"utf8\""),
        ("a.stl", stl(u32::MAX), "byte 80: it states 4,294,967,295 facets, and has room for 2"),
        ("a.stl", b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 z\n".to_vec(), "line 4: \"z\" is not a number"),
        ("a.stl", b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n".to_vec(), "line 2: this facet has no end"),
        ("a.stl", b"solid a\nendsolid a\n".to_vec(), "there are no faces to build from"),
        ("a.stl", Vec::new(), "the file is empty"),
    ] {
        fs::write(here.join(name), bytes).unwrap();
        holds(&error(2, &here, &["build", name]), &[name, wanted]);
    }
}

/// The hill as a GLB whose text another function changes.
fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (text, buffer) = gltf(true);
    let mut tree: Value = serde_json::from_slice(&text).unwrap();
    change(&mut tree);
    container(tree.to_string().as_bytes(), &buffer)
}

/// What nodes place is counted before any of it takes memory.
#[test]
fn mv_59_copies_of_a_gltf_are_counted_before_they_are_made() {
    let here = folder("gltf_copies");
    let file = here.join("many.glb");
    let copies = |count: usize| {
        changed(|tree| {
            tree["nodes"] = (0..count).map(|i| json!({ "mesh": 0, "translation": [9 * i, 0, 0] })).collect();
            tree.as_object_mut().unwrap().remove("scenes");
        })
    };
    // 32 triangles each
    fs::write(&file, copies(200_000)).unwrap();
    let (code, text, time) = bounded(&here, &file);
    assert_eq!(code, Some(2), "{text}");
    holds(&text, &["many.glb: 200,000 places come to 6,400,000 triangles, about ", "2,000,000 are the most"]);
    assert!(time < Duration::from_secs(5), "{time:?}");
    let (code, text, _) = bounded_with(&here, &file, "--max-triangles 9000000 --memory 100MiB");
    assert_eq!(code, Some(2), "{text}");
    holds(&text, &["100 MiB are the most"]);
    // as many as it may be
    fs::write(&file, copies(5)).unwrap();
    let [_, said] = expect(0, &here, &["build", "many.glb", "--max-triangles", "160"]);
    holds(&said, &["5 places come to 160 triangles"]);
    let image = fs::read(here.join("many.hpan")).unwrap();
    error(2, &here, &["build", "many.glb", "--max-triangles", "159"]);
    assert_eq!(fs::read(here.join("many.hpan")).unwrap(), image);
    // one mesh without copies is bounded where a bound is typed
    fs::write(here.join("hill.obj"), as_obj()).unwrap();
    expect(0, &here, &["build", "hill.obj"]);
    let why = error(2, &here, &["build", "hill.obj", "--max-triangles", "31"]);
    holds(&why, &["all sources come to 32 triangles", "31 are the most"]);
}

/// Small files that name much.
#[test]
fn a_small_gltf_takes_little_memory() {
    let here = folder("gltf_memory");
    let file = here.join("a.glb");
    let ends = |bytes: Vec<u8>, wanted: i32, words: &str| {
        fs::write(&file, bytes).unwrap();
        let (code, text, time) = bounded(&here, &file);
        assert_eq!(code, Some(wanted), "{text}");
        holds(&text, &[words]);
        assert!(time < Duration::from_secs(10), "{words}: {time:?}");
        let left: Vec<_> = fs::read_dir(&here).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name != "out.hpan") || wanted == 0, "{left:?}");
    };
    // primitives that share one list of vertices have it once
    let primitive = json!({ "attributes": { "POSITION": 0 }, "indices": 1 });
    let many = changed(|tree| {
        tree["accessors"][0]["count"] = json!(25);
        tree["meshes"][0]["primitives"] = vec![primitive.clone(); 1000].into();
    });
    ends(many, 0, "");
    fs::remove_file(here.join("out.hpan")).unwrap();
    // what they come to is counted first, though one node has them
    let shared = changed(|tree| tree["meshes"][0]["primitives"] = vec![primitive.clone(); 62_501].into());
    ends(shared, 2, "62,501 places come to 2,000,032 triangles, ");
    // nodes in each other, without names, each with a mesh
    let deep = changed(|tree| {
        tree["meshes"][0]["primitives"][0] = json!({ "attributes": { "POSITION": 0 }, "mode": 0 });
        let node = |i: usize| json!({ "mesh": 0, "children": [i + 1] });
        let nodes: Vec<Value> = (0..60_000).map(node).chain([json!({ "mesh": 0 })]).collect();
        tree["nodes"] = nodes.into();
        tree["scenes"] = json!([{ "nodes": [0] }]);
    });
    ends(deep, 2, "there are no faces to build from");
    // elements without bytes
    let zeros = changed(|tree| {
        tree["accessors"][0] = json!({ "componentType": 5126, "count": 4_000_000_000u64, "type": "VEC3" });
    });
    ends(zeros, 2, "accessors[0]: it states 4,000,000,000 elements");
    // lists of nothing
    let empty = format!("{{\"nodes\": [{}{{}}]}}", "{},".repeat(5_000_000));
    ends(container(empty.as_bytes(), &[]), 2, "its JSON has more than 4,000,000 objects");
}

/// One file of bytes, named by many buffers, is read once.
#[test]
fn buffers_of_one_file_are_read_once() {
    let here = folder("gltf_one_file");
    let (text, buffer) = gltf(false);
    let mut tree: Value = serde_json::from_slice(&text).unwrap();
    let mut whole = buffer;
    whole.resize(8 << 20, 0);
    fs::write(here.join("a buffer.bin"), &whole).unwrap();
    tree["buffers"] = vec![tree["buffers"][0].clone(); 1000].into();
    let file = here.join("a.gltf");
    fs::write(&file, tree.to_string()).unwrap();
    let (code, text, _) = bounded(&here, &file);
    assert_eq!(code, Some(0), "{text}");
}

/// Programs write lines into heads that no PLY has, and ends of lines of old machines.
#[test]
fn odd_lines_of_ply_and_stl_are_read() {
    let here = folder("odd_lines");
    let built = |name: &str, bytes: &[u8]| -> Value {
        fs::write(here.join(name), bytes).unwrap();
        let [report, _] = expect(0, &here, &["build", name, "-o", "a.hpan", "--json"]);
        serde_json::from_str(&report).unwrap()
    };
    let head = String::from_utf8(ply("ascii", false)).unwrap();
    let odd = head.replace("element vertex", "made by a program\nCopyright: nobody\nelement vertex");
    let report = built("odd.ply", odd.as_bytes());
    assert_eq!(report["ground"]["used"]["triangles"], 32);
    let ignored = report["import"]["files"][0]["ignored"].as_array().unwrap().clone();
    let lines = ignored.iter().find(|c| c["what"] == "unknown_head_lines").unwrap();
    assert_eq!((&lines["count"], &lines["first_line"]), (&json!(2), &json!(4)));
    fs::write(here.join("bad.ply"), head.replace("element vertex 25", "element vertex")).unwrap();
    holds(&error(2, &here, &["build", "bad.ply"]), &["line 4: this is no line of the head of a PLY"]);
    let report = built("cr.stl", text_stl().replace("\r\n", "\r").replace('\n', "\r").as_bytes());
    assert_eq!(report["ground"]["used"]["triangles"], 32);
    assert_eq!(info(&here, "a.hpan")["sources"], json!(["hill top"]));
    let report = built("cr.ply", head.replace('\n', "\r").as_bytes());
    assert_eq!(report["ground"]["used"]["triangles"], 32);
}

/// A box stands for a mesh, at each of its places.
#[test]
fn mv_52_a_box_stands_for_an_obstacle() {
    let here = folder("box_obstacle");
    fs::write(here.join("hill.obj"), as_obj()).unwrap();
    fs::write(here.join("plane.obj"), "v -50 -50 0\nv 50 -50 0\nv 50 50 0\nv -50 50 0\nf 1 2 3 4\n").unwrap();
    let text = "[[source]]\nfile = \"plane.obj\"\n[[source]]\nfile = \"hill.obj\"\nobstacle = \"box\"\n\
                [[source.placed]]\nat = [10, 0, 1]\n[[source.placed]]\nat = [20, 0, 0]\nyaw_deg = 90\n";
    fs::write(here.join("a.toml"), text).unwrap();
    let [report, _] = expect(0, &here, &["build", "--settings", "a.toml", "--json", "-o", "a.hpan"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    // two boxes of twelve triangles instead of two hills of 32
    assert_eq!(report["ground"]["ignored"]["obstacles"], 24);
    let image = hardpan_builder::ImageFile::open(here.join("a.hpan")).unwrap();
    let terrain = hardpan::Terrain::open(&image).unwrap();
    let top = |x: f64, y: f64| {
        let ray = terrain.ray_to([x, y, 30.0], [x, y, -1.0]).unwrap();
        let hit = terrain.raycast(ray, &hardpan::RayOptions::default()).hit;
        (format!("{:?}", hit.kind), ((30.0 - 31.0 * hit.t) * 1e3).round() / 1e3)
    };
    // the hill is 4 m wide and 2 m high, and lies 1 m up; turned it lies west of its place
    assert_eq!(top(10.1, 0.1), ("Obstacle".into(), 3.0));
    assert_eq!(top(13.9, 3.9), ("Obstacle".into(), 3.0));
    assert_eq!(top(16.1, 3.9), ("Obstacle".into(), 2.0));
    assert_eq!(top(14.5, 0.1), ("Ground".into(), 0.0));
    drop(image);
    // the record says it, and so it builds again
    expect(0, &here, &["verify", "a.hpan", "--against", "plane.obj", "hill.obj"]);
    fs::write(here.join("a.toml"), text.replace("\"box\"", "\"ball\"")).unwrap();
    holds(&error(2, &here, &["build", "--settings", "a.toml"]), &["a.toml: line 5", "true, false or \"box\""]);
}

/// Sections of a TDF name prefixes: the material's name, gain and type are those of the longest that fits.
#[test]
fn rf_46_rf_54_prefixes_of_a_tdf() {
    let here = folder("rf_46_tdf");
    let square = |name: &str, x: i32| {
        let (a, b) = (x, x + 10);
        format!("usemtl {name}\nv {a} 0 0\nv {b} 0 0\nv {b} 10 0\nv {a} 10 0\nf -4 -3 -2 -1\n")
    };
    let names = ["road_03", "roadside", "kerbRed", "other", "road_04"];
    let mesh: String = names.iter().zip(0..).map(|(name, i)| square(name, 10 * i)).collect();
    fs::write(here.join("track.obj"), mesh).unwrap();
    let text = "// made by hand\r\n[MARBLE]\r\nDry=9 Materials=road\r\n[FEEDBACK]\r\n\
                Dry=1.05 Wet=0.7 Resistance=0.0 Sound=dry // asphalt\r\nMaterials=road,pits\r\n\
                [Feedback]\r\nDry=0.6 Wet=0.5 Sound=grass\r\nMaterials=roadside, grass\r\n\
                [FEEDBACK]\r\nDry=0.9 Reaction=rumblestrip\r\nMaterials=kerb\r\n";
    fs::write(here.join("track.tdf"), text).unwrap();
    expect(0, &here, &["build", "track.obj", "--settings", "track.tdf"]);
    let [answers, _] = expect(0, &here, &["query", "track.hpan", "--json", "5,5", "15,5", "25,5", "35,5", "45,5"]);
    let answers: Value = serde_json::from_str(&answers).unwrap();
    let found: Vec<&str> = answers.as_array().unwrap().iter().map(|a| a["material"].as_str().unwrap()).collect();
    assert_eq!(found, ["road", "roadside", "kerb", "other", "road"]);
    let materials = info(&here, "track.hpan")["materials"].clone();
    let of = |name: &str| {
        let m = materials.as_array().unwrap().iter().find(|m| m["name"] == name).unwrap();
        (m["gain"].as_f64().unwrap(), m["surface_type"].as_u64().unwrap())
    };
    let near = |(gain, kind): (f64, u64), wanted: (f64, u64)| (gain - wanted.0).abs() < 1e-6 && kind == wanted.1;
    assert!(near(of("road"), (1.05, 0)) && near(of("roadside"), (0.6, 2)) && near(of("kerb"), (0.9, 5)), "{materials}");
    assert!(near(of("other"), (1.0, 0)), "{materials}");
    for (text, wanted) in [
        ("Materials=road\n", "there is no section [FEEDBACK]"),
        ("[FEEDBACK]\nDry=x Materials=road\n", "line 2: Dry is \"x\"; write a number"),
        ("[FEEDBACK]\nDry=1 Materials=ro*\n", "line 2: the prefix \"ro*\" has a wildcard"),
    ] {
        fs::write(here.join("track.tdf"), text).unwrap();
        holds(&error(2, &here, &["build", "track.obj", "--settings", "track.tdf"]), &["track.tdf", wanted]);
    }
    fs::write(here.join("track.tdf"), "[FEEDBACK]\nDry=1 Sound=wood Materials=road\n").unwrap();
    let [_, said] = expect(0, &here, &["build", "track.obj", "--settings", "track.tdf"]);
    holds(&said, &["line 2: sound=\"wood\" is no type of ground that is known"]);
    let [_, why] = soon(2, 3, &here, &["build", "track.tdf"]);
    holds(&why, &["hardpan build MESH.obj --settings track.tdf"]);
}

/// Triangles, extents and heights are those of another program (tests/goldens/meshes.py).
#[test]
fn cg_01_meshes_are_those_of_trimesh() {
    let here = folder("cg_01_trimesh");
    let text = include_str!("../../goldens/meshes.csv");
    let mut parts: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix(',') {
            None => parts.push((line, Vec::new())),
            Some(place) => parts.last_mut().unwrap().1.push(place),
        }
    }
    for (head, places) in parts {
        let words: Vec<&str> = head.split(',').collect();
        let Some(file) = real_file(words[0]) else { return };
        let numbers = |texts: &[&str]| texts.iter().map(|t| t.parse::<f64>().unwrap()).collect::<Vec<_>>();
        let typed = [
            "build",
            file.to_str().unwrap(),
            "-o",
            "a.hpan",
            "--undersides",
            "ground",
            "--stitch",
            "false",
            "--rays",
            "none",
            "--json",
        ];
        let report: Value = serde_json::from_str(&expect(0, &here, &typed)[0]).unwrap();
        assert_eq!(read_of(&report).to_string(), words[1], "{head}");
        let bounds = info(&here, "a.hpan")["bounds"].clone();
        let ends = ["min", "max"].map(|end| serde_json::from_value::<Vec<f64>>(bounds[end].clone()).unwrap()).concat();
        let near = ends.iter().zip(numbers(&words[2..])).all(|(a, b)| (a - b).abs() < 3e-4);
        assert!(near, "{}: {ends:?}", words[0]);
        let csv: String = places.iter().map(|p| p.rsplit_once(',').unwrap().0.to_owned() + "\n").collect();
        fs::write(here.join("places.csv"), format!("x,y\n{csv}")).unwrap();
        let [out, _] = expect(0, &here, &["query", "a.hpan", "--csv", "places.csv", "--json"]);
        let answers: Value = serde_json::from_str(&out).unwrap();
        for (place, answer) in places.iter().zip(answers.as_array().unwrap()) {
            let z: f64 = place.rsplit(',').next().unwrap().parse().unwrap();
            let found = answer["z"].as_f64().unwrap();
            // half a step in plan, on a slope of 60 degrees, and in height
            assert!((found - z).abs() < 4e-4, "{}: {place}: {found}", words[0]);
        }
    }
}
