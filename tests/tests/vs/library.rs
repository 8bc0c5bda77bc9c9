//! The functions of VsTerrain.h, from programs in C and in Python.
//!
//! `HARDPAN_CFLAGS` adds flags of the compiler, `HARDPAN_RUN` a command before each program: `run.sh` puts valgrind there.
#![cfg(unix)]

use super::shell::{expect, folder, info};
use hardpan::Terrain;
use hardpan_builder::Image;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Warnings are errors.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

/// The crate of the library.
fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../builder/c-abi")
}

/// The library in a file of this kind, which cargo makes beside the tests.
fn built(name: &str) -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().join(name)
}

/// A source of this folder.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vs").join(name)
}

/// A program in C or C++, compiled in a folder as `program`.
fn compile(folder: &Path, source: &Path, flags: &[&str]) -> PathBuf {
    let cpp = source.extension().is_some_and(|e| e == "cpp");
    let mut command = Command::new(if cpp { "c++" } else { "cc" });
    command.args(STRICT).arg(if cpp { "-std=c++17" } else { "-std=c99" }).args(flags);
    command.args(env::var("HARDPAN_CFLAGS").iter().flat_map(|f| f.split(' ')));
    let program = folder.join("program");
    command.args(["-O2", "-g", "-I"]).arg(library().join("include")).arg("-o").arg(&program).arg(source);
    command.arg(built("libhpan_vsterrain.a")).args(["-lpthread", "-lm", "-ldl"]);
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.is_empty(), "{command:?}:\n{text}");
    program
}

/// What a program prints in its folder, which must end well and complain of nothing.
fn run(folder: &Path, program: &Path, arguments: &[&str]) -> String {
    let wrapper = env::var("HARDPAN_RUN").unwrap_or_default();
    let mut words = wrapper.split_whitespace();
    let mut command = Command::new(words.next().map_or(program.as_os_str(), |first| first.as_ref()));
    command.args(words);
    if !wrapper.is_empty() {
        command.arg(program);
    }
    let output = command.args(arguments).current_dir(folder).output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let [out, complaints] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    assert!(output.status.success() && complaints.is_empty(), "{command:?}: {}\n{out}\n{complaints}", output.status);
    out
}

/// The listing as it is printed; its callback does not use all that it gets.
fn listing(folder: &Path) -> String {
    run(folder, &compile(folder, &source("listing3.c"), &["-Wno-unused-parameter"]), &[])
}

/// Corners and faces of an OBJ file.
fn obj(text: &str) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let rows = |key: &'static str| text.lines().filter_map(move |l| l.strip_prefix(key));
    let corners = rows("v ").map(|l| {
        let numbers: Vec<f64> = l.split_whitespace().map(|w| w.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    });
    let faces = rows("f ").map(|l| {
        let numbers = l.split_whitespace().map(|w| w.split('/').next().unwrap().parse::<usize>().unwrap() - 1);
        numbers.collect::<Vec<_>>().try_into().unwrap()
    });
    (corners.collect(), faces.collect())
}

#[test]
fn vt_80_listing_3_runs_as_printed_and_writes_both_files() {
    let folder = folder("vs-library-listing");
    assert_eq!(listing(&folder), "\n0\n\n100\n");
    let image = Image::read(folder.join("example.vsterrain")).unwrap();
    let terrain = Terrain::open_verified(&image).unwrap();
    assert_eq!(terrain.bounds(), [[-500.0, -500.0, 0.0], [500.0, 500.0, 0.0]]);
    for p in [[0.0, 0.0, 1.0], [499.0, -499.0, -3.0], [-500.0, 500.0, 0.0], [123.4, 321.0, 1000.0]] {
        let answer = terrain.closest(p);
        assert!(answer.found(), "{p:?}");
        assert_eq!(terrain.z_f64(&answer.hit), 0.0);
        assert_eq!(terrain.slope_f64(&answer.hit), [0.0, 0.0]);
        assert_eq!(terrain.surface(&answer), [f64::from(0.85f32), 1.0, 1.0]);
    }
    assert!(!terrain.closest([500.5, 0.0, 0.0]).found());
    expect(0, &folder, &["verify", "example.vsterrain"]);
    assert_eq!(info(&folder, "example.vsterrain")["triangles"], 2);

    let (corners, faces) = obj(&fs::read_to_string(folder.join("example.obj")).unwrap());
    let area = |f: &[usize; 3]| {
        let [a, b, c] = f.map(|i| corners[i]);
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0
    };
    assert_eq!(faces.iter().map(area).sum::<f64>(), 1e6, "counter-clockwise, a square kilometre");
    assert!(corners.iter().all(|p| p[0].abs() == 500.0 && p[1].abs() == 500.0 && p[2] == 0.0), "{corners:?}");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".tmp")), "{names:?}");
}
