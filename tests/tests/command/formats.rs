//! Meshes of the smaller formats: real files by a table, made ones by their numbers.

use std::{fmt::Write as _, fs, path::Path, time::{Duration, Instant}};

use crate::shell::{error, expect, folder, holds, info};
use serde_json::{Value, json};
use verification::obj::{ends_in, real, real_file};

const TABLE: &str = include_str!("../../goldens/files.txt");

/// The command with 1 GiB of address space.
fn bounded(here: &Path, file: &Path) -> (Option<i32>, String, Duration) {
    let start = Instant::now();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 1048576; exec \"$0\" build \"$1\" -o out.hpan --undersides ground --json"])
        .arg(&*crate::shell::HARDPAN)
        .arg(file)
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
    let rows: Vec<Vec<&str>> = TABLE.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(" | ").collect()).collect();
    let listed = |file: &Path| rows.iter().any(|row| ends(file, row[0]));
    let mine = |file: &Path| ["ply", "stl", "STL", "gltf", "glb"].iter().any(|end| ends_in(file, end));
    for file in ["ply", "stl", "gltf", "malformed"].iter().flat_map(|set| real(set)).filter(|f| mine(f)) {
        assert!(listed(&file), "{} is not in the table", file.display());
    }
    for row in &rows {
        let Some(file) = real_file(row[0]) else { return };
        let (code, text, time) = bounded(&here, &file);
        assert!(time < Duration::from_secs(30), "{} took {time:?}", row[0]);
        if row[1] == "built" {
            assert_eq!(code, Some(0), "{}: {text}", row[0]);
            let report: Value = serde_json::from_str(&text).unwrap();
            let kinds = |list: &str, keys: &[&str]| -> u64 {
                keys.iter().map(|key| report["ground"][list][key].as_u64().unwrap_or(0)).sum()
            };
            let all = read_of(&report);
            assert!(kinds("used", &["triangles"]) > 0, "{}", row[0]);
            assert_eq!(all.to_string(), row[2], "{}", row[0]);
            fs::remove_file(here.join("out.hpan")).unwrap();
        } else {
            assert_eq!(code, Some(row[1].parse().unwrap()), "{}: {text}", row[0]);
            let errors: Vec<&str> = text.lines().filter(|line| line.starts_with("error: ")).collect();
            assert_eq!(errors.len(), 1, "{text}");
            holds(&text, &[row[2], file.file_name().unwrap().to_str().unwrap().split('.').next().unwrap()]);
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
    files.iter().map(|f| count(f, "triangles").unwrap() * count(f, "places").unwrap_or(1)).sum()
}

/// A hill of 4 x 4 squares: its corners, and its faces of four corners each.
fn hill() -> (Vec<[f64; 3]>, Vec<[usize; 4]>) {
    let corner = |i: usize| [(i % 5) as f64, (i / 5) as f64, ((i % 5) * (i / 5)) as f64 / 8.0];
    let face = |i: usize| { let at = i / 4 * 5 + i % 4; [at, at + 1, at + 6, at + 5] };
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
    let mut bytes = format!("ply\nformat {form} 1.0\ncomment made here\n{}{}end_header\n", order[0], order[1]).into_bytes();
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
    let mut vertices = |put: &mut dyn FnMut(&str, Vec<u8>)| {
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

#[test]
fn one_hill_in_every_format_is_one_image() {
    let here = folder("one_hill");
    let identity = |name: &str, bytes: &[u8]| {
        fs::write(here.join(name), bytes).unwrap();
        // names of materials and sources are of the format
        expect(0, &here, &["build", name, "-o", "hill.hpan", "--force"]);
        let exported = expect(0, &here, &["export", "obj", "hill.hpan", "-o", "-"]);
        exported[0].lines().filter(|l| l.starts_with("v ") || l.starts_with("f ")).collect::<Vec<_>>().join("\n")
    };
    let wanted = identity("hill.obj", as_obj().as_bytes());
    assert_eq!(wanted.lines().filter(|l| l.starts_with("f ")).count(), 32);
    for (name, bytes) in [
        ("binary.stl", binary_stl(b"made by nobody")),
        ("solid.stl", binary_stl(b"solid hill, and yet binary")),
        ("text.stl", text_stl().into_bytes()),
        ("ascii.ply", ply("ascii", false)),
        ("faces-first.ply", ply("ascii", true)),
        ("little.ply", ply("binary_little_endian", false)),
        ("big.ply", ply("binary_big_endian", true)),
        ("other-name.obj", ply("binary_big_endian", false)),
    ] {
        assert_eq!(identity(name, &bytes), wanted, "{name}");
    }
    // the solid's name is the source
    expect(0, &here, &["build", "text.stl"]);
    assert_eq!(info(&here, "text.hpan")["sources"], json!(["hill top"]));
}

#[test]
fn bad_meshes_end_with_one_clear_error() {
    let here = folder("bad_meshes");
    let ply = |vertices: &str, faces: &str, body: &str| {
        let head = format!("ply\nformat ascii 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n");
        format!("{head}element face {faces}\nproperty list uchar int vertex_indices\nend_header\n{body}")
    };
    let stl = |facets: u32| { let mut b = vec![b' '; 80]; b.extend(facets.to_le_bytes()); b.extend([0; 100]); b };
    for (name, bytes, wanted) in [
        ("a.ply", ply("4294967296", "1", "0 0 0\n").into_bytes(), "line 3: it states 4,294,967,296 of vertex, and 6 bytes follow"),
        ("a.ply", ply("1", "1", "0 0 0\n4000000000 1 2 3\n").into_bytes(), "line 11: a list of 4000000000 numbers does not fit"),
        ("a.ply", ply("1", "1", "0 0 0\n3 0 1 2\n").into_bytes(), "face 0 names vertex 1, and the file has 1"),
        ("a.ply", ply("1", "1", "0 x 0\n3 0 1 2\n").into_bytes(), "line 10: \"x\" is not a number"),
        ("a.ply", ply("3", "1", "0 0 0 1 0 0 0 1 0 3 0 -1 2\n").into_bytes(), "a face names vertex -1"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n".to_vec(), "the file ends before end_header"),
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
