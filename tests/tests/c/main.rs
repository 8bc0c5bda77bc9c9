//! Programs in C and C++, compiled and run here, held against the kernel in Rust.
//!
//! `HARDPAN_CFLAGS` adds flags of the compiler, `HARDPAN_RUN` a command before each program: `run.sh c` puts sanitizers
//! and valgrind there.
#![cfg(unix)]

mod answers;
mod bad;
mod examples;
mod header;
mod install;
mod vs;
mod wheel;

use hardpan_builder::{Image, Options, Rays, Scene, build};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// Warnings are errors, in the language as it is written down.
const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-pedantic", "-Werror"];

/// The C interface's folder.
fn interface() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel/c-abi")
}

/// A C program of this folder, or of the interface's, compiled as `name`.
fn compile(name: &str, source: &Path, flags: &[&str]) -> PathBuf {
    let cpp = source.extension().is_some_and(|e| e == "cpp");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}"));
    let libraries = env::current_exe().unwrap().parent().unwrap().join("libhardpan_c.a");
    let standard = if cpp { "-std=c++17" } else { "-std=c99" };
    let mut command = Command::new(if cpp { "c++" } else { "cc" });
    command.arg(standard).args(STRICT).args(flags).args(env::var("HARDPAN_CFLAGS").iter().flat_map(|f| f.split(' ')));
    command.args(["-O2", "-g", "-I"]).arg(interface().join("include")).arg("-o").arg(&to).arg(source).arg(&libraries);
    command.args(["-lpthread", "-lm", "-ldl"]);
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.is_empty(), "{command:?}:\n{text}");
    to
}

/// A source of this folder.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name)
}

/// Runs a program, which must end well and complain of nothing; returns its output.
fn run(program: &Path, arguments: &[&Path], input: &[u8]) -> String {
    let wrapper = env::var("HARDPAN_RUN").unwrap_or_default();
    let mut words = wrapper.split_whitespace();
    let mut command = match words.next() {
        Some(first) => Command::new(first),
        None => Command::new(program),
    };
    command.args(words.chain(None));
    if !wrapper.is_empty() {
        command.arg(program);
    }
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feed = std::thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    let [out, complaints] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    assert!(output.status.success() && complaints.is_empty(), "{command:?}: {}\n{out}\n{complaints}", output.status);
    out
}

/// An image and the file that it lies in.
fn image(name: &str, scene: &Scene) -> (Image, PathBuf) {
    let options = Options { rays: Some(Rays::All), bounds: true, ..Options::default() };
    let image = build(scene, &options).expect("builds").image;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("c-{name}.hpan"));
    fs::write(&path, &image[..]).unwrap();
    (image, path)
}
