//! The functions of VsTerrain.h, from programs in C and in Python.
//!
//! `HARDPAN_CFLAGS` adds flags of the compiler, `HARDPAN_RUN` a command before each program: `run.sh` puts valgrind
//! there.
#![cfg(unix)]

use super::shell::{expect, folder, info};
use hardpan::Terrain;
use hardpan_builder::{Image, Split};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

#[allow(dead_code)]
#[path = "../../../builder/c-abi/examples/million.rs"]
mod million;

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

/// A program in C or C++ with the shared library, compiled in a folder as `program`.
fn compile(folder: &Path, source: &Path, flags: &[&str]) -> PathBuf {
    let beside = built("");
    let beside = beside.to_str().unwrap();
    linked(
        folder,
        source,
        flags,
        &[&format!("-L{beside}"), "-lhpan_vsterrain", &format!("-Wl,-rpath,{beside}"), "-lpthread", "-lm"],
    )
}

fn linked(folder: &Path, source: &Path, flags: &[&str], libraries: &[&str]) -> PathBuf {
    let cpp = source.extension().is_some_and(|e| e == "cpp");
    let mut command = Command::new(if cpp { "c++" } else { "cc" });
    command.args(STRICT).arg(if cpp { "-std=c++17" } else { "-std=c99" }).args(flags);
    command.args(env::var("HARDPAN_CFLAGS").iter().flat_map(|f| f.split(' ')));
    let program = folder.join("program");
    command.args(["-O2", "-g", "-I"]).arg(library().join("include")).arg("-o").arg(&program).arg(source);
    command.args(libraries);
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.is_empty(), "{command:?}:\n{text}");
    program
}

/// Runs a program in its folder, which must end well and complain of nothing; returns its output.
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

/// A folder for a program that several tests run.
fn shared(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The program that has a part for each function.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| compile(&shared("vs-library-program"), &source("library.c"), &[]));

/// The listing as it is printed, with the static library; its callback does not use all that it gets.
static LISTING: LazyLock<PathBuf> = LazyLock::new(|| {
    let library = built("libhpan_vsterrain.a");
    let libraries = [library.to_str().unwrap(), "-lpthread", "-lm", "-ldl"];
    linked(&shared("vs-library-listing-3"), &source("listing3.c"), &["-Wno-unused-parameter"], &libraries)
});

/// A part of it, in a new folder.
fn part(name: &str) -> (PathBuf, String) {
    let folder = folder(&format!("vs-library-{name}"));
    let text = run(&folder, &PROGRAM, &[name]);
    (folder, text)
}

/// A part that checks all by itself.
fn silent(name: &str) -> PathBuf {
    let (folder, text) = part(name);
    assert_eq!(text, "");
    folder
}

fn bytes(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Corners and faces of an OBJ file.
fn obj(text: &str) -> (Vec<[f64; 3]>, Vec<Vec<usize>>) {
    let rows = |key: &'static str| text.lines().filter_map(move |l| l.strip_prefix(key));
    let corners = rows("v ").map(|l| {
        let numbers: Vec<f64> = l.split_whitespace().map(|w| w.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    });
    let faces = rows("f ").map(|l| {
        let numbers = l.split_whitespace().map(|w| w.split('/').next().unwrap().parse::<usize>().unwrap() - 1);
        numbers.collect()
    });
    (corners.collect(), faces.collect())
}

#[test]
fn vt_80_listing_3_runs_as_printed_and_writes_both_files() {
    let folder = folder("vs-library-listing");
    assert_eq!(run(&folder, &LISTING, &[]), "\n0\n\n30\n\n60\n\n90\n\n100\n");
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
    let area = |f: &Vec<usize>| {
        let [a, b, c] = [0, 1, 2].map(|k| corners[f[k]]);
        assert_eq!(f.len(), 3);
        ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) / 2.0
    };
    assert_eq!(faces.iter().map(area).sum::<f64>(), 1e6, "counter-clockwise, a square kilometre");
    assert!(corners.iter().all(|p| p[0].abs() == 500.0 && p[1].abs() == 500.0 && p[2] == 0.0), "{corners:?}");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| !name.ends_with(".tmp")), "{names:?}");
}

/// Names of functions that the header declares, each behind the macro.
fn declared() -> Vec<String> {
    let header = fs::read_to_string(library().join("include/VsTerrain.h")).unwrap();
    let parts = header.split("\nVST_API ").skip(1).map(|p| p.split('(').next().unwrap());
    let mut names: Vec<String> = parts.map(|p| p.rsplit([' ', '*']).next().unwrap().into()).collect();
    let all = header.lines().filter(|l| !l.starts_with([' ', '/', '#', 't', '}']) && l.contains('('));
    assert_eq!(all.count(), names.len(), "a function without VST_API");
    names.sort_unstable();
    names
}

#[test]
fn vt_81_functions_stand_behind_the_macro_and_in_the_library() {
    let symbols =
        Command::new("nm").args(["-D", "--defined-only"]).arg(built("libhpan_vsterrain.so")).output().unwrap();
    let symbols = String::from_utf8(symbols.stdout).unwrap();
    let mut defined: Vec<&str> = symbols.lines().filter_map(|l| l.rsplit(' ').next()).collect();
    defined.retain(|name| name.starts_with("vs_terrain"));
    defined.sort_unstable();
    assert_eq!(declared(), defined);
    // Tables 2 and 3, and the code of an error
    let tables = "create destroy add_triangle merge optimize build build2_parameters build2_get_parameters build2 save clear \
        get_version get_last_error get_num_triangles get_num_points get_triangle is_built get_extents_x get_extents_y \
        get_extents_z output_as_obj get_last_error_code";
    let mut wanted: Vec<String> = tables.split_whitespace().map(|name| format!("vs_terrain_{name}")).collect();
    wanted.sort_unstable();
    assert_eq!(declared(), wanted);
    let exports = fs::read_to_string(library().join("VsTerrain.def")).unwrap();
    let mut exports: Vec<&str> = exports.lines().filter_map(|l| l.strip_prefix("    ")).collect();
    exports.sort_unstable();
    assert_eq!(declared(), exports);
    // the macro can be another
    let folder = folder("vs-library-macro");
    let other = folder.join("other.c");
    fs::write(
        &other,
        "#define VST_API extern __attribute__((unused))\n#include <VsTerrain.h>\nint main(void) { return 0; }\n",
    )
    .unwrap();
    compile(&folder, &other, &[]);
}

#[test]
fn vt_82_types_have_the_layout_that_the_library_has() {
    let (_, text) = part("layout");
    let of_c: BTreeMap<&str, usize> =
        text.lines().filter_map(|l| l.split_once(' ')).map(|(name, n)| (name, n.parse().unwrap())).collect();
    let mut ours = BTreeMap::new();
    macro_rules! layout {
        ($type:ident $($field:ident)*) => {
            ours.insert(stringify!($type), size_of::<hpan_vsterrain::$type>());
            $(ours.insert(concat!(stringify!($type), ".", stringify!($field)), offset_of!(hpan_vsterrain::$type, $field));)*
        };
    }
    layout!(vs_terrain_point x y z);
    layout!(vs_terrain_mu_type);
    layout!(vs_terrain_rr_type);
    layout!(vs_terrain_handle);
    layout!(vs_terrain_error);
    layout!(vs_terrain_build_parameters toleranceDepth preferredBundleSize toleranceDepthBundleIncrease minBundleVolume
        toleranceDepthVolumeIncrease);
    layout!(vs_terrain_build_results triangles leaves references maxDepth maxLeaf worstTests worstLines errorPlan
        errorHeight contested seconds);
    layout!(vs_terrain_triangle points mu rr material);
    assert_eq!(of_c, ours);
    assert_eq!([ours["vs_terrain_point"], ours["vs_terrain_mu_type"], ours["vs_terrain_rr_type"]], [24, 4, 4]);
}

/// With what a solver declares before the header, after it, or not at all.
#[test]
fn vt_80_header_is_cpp_too_and_bears_what_the_solver_declares() {
    let folder = folder("vs-library-cpp");
    let vendor = "#ifndef VS_DEFTYPES_H\n#define VS_DEFTYPES_H\ntypedef double vs_real;\ntypedef int vs_bool;\n\
        typedef int (*terrain_func_t)(vs_real in_x, vs_real in_y, vs_real in_z, vs_real *out_z, vs_real *out_dzdx, \
        vs_real *out_dzdy, vs_real *out_mu, vs_real *out_rr, void *userData);\n#endif\n";
    fs::write(folder.join("vs_deftypes.h"), vendor).unwrap();
    let include = format!("-I{}", folder.display());
    for flags in [&["-fno-exceptions", "-fno-rtti"][..], &["-DVENDOR_FIRST", "-std=c++11"], &["-DVENDOR_LAST"]] {
        let program = compile(&folder, &source("library.cpp"), &[flags, &[&include]].concat());
        assert_eq!(run(&folder, &program, &[]), "", "{flags:?}");
    }
    let both = folder.join("both.c");
    let text = "#include \"vs_deftypes.h\"\n#include <VsTerrain.h>\n#include <VsTerrain.h>\n\
        int main(void) { vs_real z = 0; bool no = false; printf(\"%u\", (unsigned)sizeof(uint8_t)); return no || z != 0; }\n";
    fs::write(&both, text).unwrap();
    assert_eq!(run(&folder, &compile(&folder, &both, &["-Wstrict-prototypes", &include]), &[]), "1");
}

#[test]
fn vt_83_vt_96_versions_are_0_1_and_2() {
    silent("versions");
}

#[test]
fn vt_84_null_stale_and_foreign_handles_are_refused() {
    let folder = silent("handles");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0, "nothing was written");
}

#[test]
fn vt_85_bad_triangles_are_refused_and_either_winding_is_ground() {
    let folder = silent("add");
    let [counter, clock, both] = ["counter", "clock", "both"].map(|name| bytes(&folder, &format!("{name}.vsterrain")));
    assert!(counter == clock && clock == both);
    let image = Image::copy_of(&clock).unwrap();
    let terrain = Terrain::open_verified(&image).unwrap();
    assert_eq!(terrain.header().triangles, 2);
    for p in [[-400.0, -400.0, 1.0], [400.0, 400.0, 1.0]] {
        assert!(terrain.closest(p).found());
    }
}

/// The hilly grid of the program: heights at its corners, and its frictions.
fn is_the_grid(folder: &Path, file: &str) {
    let image = Image::read(folder.join(file)).unwrap();
    let terrain = Terrain::open_verified(&image).unwrap();
    assert_eq!(terrain.header().triangles, 24 * 24 * 2);
    for (i, j) in (0..=24).flat_map(|j| (0..=24).map(move |i| (f64::from(i), f64::from(j)))) {
        let answer = terrain.closest([i * 2.0, j * 2.0, 0.0]);
        let inside = (1.0..=23.0).contains(&i) && (1.0..=23.0).contains(&j);
        assert!(answer.found() || !inside, "{i} {j}");
        if answer.found() {
            let z = 0.5 * (i * 0.7).sin() + 0.25 * (j * 0.9).cos();
            assert!((terrain.z_f64(&answer.hit) - z).abs() < 0.001, "{i} {j}");
        }
    }
    for cell in 0..24 * 24 {
        let at = [cell % 24, cell / 24].map(|v| f64::from(v) * 2.0);
        for by in [0.5, 1.5] {
            let mu = terrain.surface(&terrain.closest([at[0] + by, at[1] + by, 0.0]))[0];
            assert_eq!(mu, f64::from(if cell % 5 == 0 { 0.3f32 } else { 0.9 }), "cell {cell}");
        }
    }
}

#[test]
fn vt_86_merged_halves_are_the_whole_in_any_order() {
    let folder = silent("merge");
    let [whole, ab, ba] = ["whole", "ab", "ba"].map(|name| bytes(&folder, &format!("{name}.vsterrain")));
    assert!(whole == ab && ab == ba);
    is_the_grid(&folder, "ab.vsterrain");
}

#[test]
fn vt_87_optimizing_joins_points_whatever_the_order_of_triangles() {
    let folder = folder("vs-library-optimize");
    for seed in ["0", "1", "2", "3"] {
        assert_eq!(run(&folder, &PROGRAM, &["optimize", seed, &format!("{seed}.vsterrain")]), "");
        assert!(bytes(&folder, "0.vsterrain") == bytes(&folder, &format!("{seed}.vsterrain")), "{seed}");
    }
    is_the_grid(&folder, "0.vsterrain");
    // what was moved is stated: by 0.35 mm in plan at most from corner to corner, and half a step
    let [plan, height] = ["plan", "height"].map(|key| info(&folder, "0.vsterrain")["error"][key].as_f64().unwrap());
    assert!((0.0003..0.0015).contains(&plan) && (0.0002..0.0011).contains(&height), "{plan} {height}");
}

#[test]
fn vt_88_progress_rises_from_0_to_100_and_a_callback_cannot_use_its_own_handle() {
    silent("progress");
}

#[test]
fn vt_89_vt_101_a_terrain_is_built_until_it_changes() {
    silent("built");
}

/// By a program in C, and by its counterpart in Rust.
#[test]
fn vt_89_the_library_builds_what_rust_builds() {
    let folder = folder("vs-library-million");
    let program = compile(&folder, &library().join("examples/million.c"), &[]);
    let text = run(&folder, &program, &["5001", "c.vsterrain"]);
    assert!(text.starts_with("5001 triangles: added in 0."), "{text}");
    let rust = million::image(&million::scene(5001)).unwrap();
    assert!(bytes(&folder, "c.vsterrain") == rust[..]);
    assert_eq!(Terrain::open_verified(&rust).unwrap().header().triangles, 5001);
}

#[test]
fn vt_90_vt_91_vt_110_parameters_are_set_and_got() {
    silent("parameters");
    let header = fs::read_to_string(library().join("include/VsTerrain.h")).unwrap();
    for (name, split) in [("DEFAULT", Split::DEFAULT), ("DENSE", Split::DENSE)] {
        let start = format!("VS_TERRAIN_BUILD_{name} = {{");
        let numbers = header.split(&start).nth(1).unwrap().split('}').next().unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|n| n.trim().parse().unwrap()).collect();
        let Split { depth_tolerance, bundle_size, bundle_increase, min_volume, volume_increase } = split;
        assert_eq!(numbers, [depth_tolerance.into(), bundle_size.into(), bundle_increase, min_volume, volume_increase]);
    }
}

#[test]
fn vt_92_results_are_those_of_info() {
    let (folder, text) = part("build2");
    let rows: Vec<Vec<f64>> = text.lines().map(|l| l.split(' ').map(|w| w.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 2);
    for (row, name) in rows.iter().zip(["default", "dense"]) {
        let file = format!("{name}.vsterrain");
        let facts = info(&folder, &file);
        let [leaves, _] = expect(0, &folder, &["info", &file, "--leaves", "--json"]);
        let leaves = &serde_json::from_str::<serde_json::Value>(&leaves).unwrap()["leaves"];
        let blocks = leaves["blocks"].as_array().unwrap();
        let number = |v: &serde_json::Value| v.as_f64().unwrap();
        let most = |key: &str| blocks.iter().map(|b| number(&b[key])).fold(0.0, f64::max);
        let count: f64 = blocks.iter().map(|b| number(&b["count"])).sum();
        assert_eq!(number(&leaves["count"]), count);
        let bound = &facts["bound"];
        let wanted = [
            number(&facts["triangles"]),
            count,
            number(&facts["references"]),
            most("depth"),
            most("max"),
            number(&bound["tests"]),
            number(&bound["lines"]),
            number(&facts["error"]["plan"]),
            number(&facts["error"]["height"]),
            0.0,
        ];
        assert_eq!(row[..10], wanted, "{name}");
        assert!(row[10] > 0.0 && row[10] < 600.0 && row[0] == 1152.0 && count > 10.0);
        assert!(facts["division"].as_str().unwrap().contains(&format!("(preset {name})")), "{}", facts["division"]);
    }
    assert!(rows[0] != rows[1]);
}

#[test]
fn vt_93_version_1_has_no_build2() {
    silent("old_version");
}

#[test]
fn vt_94_saving_builds_first_and_replaces_whole_files_only() {
    let folder = folder("vs-library-save");
    fs::write(folder.join("locked.vsterrain"), "old").unwrap();
    let mut locked = fs::metadata(folder.join("locked.vsterrain")).unwrap().permissions();
    locked.set_readonly(true);
    fs::set_permissions(folder.join("locked.vsterrain"), locked).unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link("loop", "loop");
    link("linked.vsterrain", "link.vsterrain");
    fs::write(folder.join("again.vsterrain"), "anything else").unwrap();
    assert_eq!(run(&folder, &PROGRAM, &["save"]), "");
    let wanted = bytes(&folder, "built.vsterrain");
    for name in ["unbuilt", "again", "d\u{e9}j\u{e0} vu", "linked"] {
        assert!(bytes(&folder, &format!("{name}.vsterrain")) == wanted, "{name}");
    }
    assert!(fs::symlink_metadata(folder.join("link.vsterrain")).unwrap().is_symlink());
    assert_eq!(bytes(&folder, "locked.vsterrain"), b"old");
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with('.'));
    assert!(names.is_empty(), "{names:?}");
}

/// A program that ends in the middle of a write leaves the file that was there. Each time it is killed as soon as some
/// file in its folder is shorter than a whole one.
#[test]
fn vt_94_a_killed_program_leaves_a_whole_file() {
    let folder = folder("vs-library-killed");
    let [one, other] = ["one.vsterrain", "other.vsterrain"];
    let lengths = || -> BTreeMap<String, u64> {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap());
        // a file may be gone by now
        entries.filter_map(|e| Some((e.file_name().into_string().unwrap(), e.metadata().ok()?.len()))).collect()
    };
    for round in 0..4 {
        for name in ["one.vsterrain", "other.vsterrain", "turn.vsterrain"] {
            _ = fs::remove_file(folder.join(name));
        }
        let mut child =
            Command::new(&*PROGRAM).arg("save_for_ever").current_dir(&folder).stdout(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        // both were saved whole before the first turn ended
        while !folder.join("turn.vsterrain").exists() {
            assert!(began.elapsed() < Duration::from_secs(120), "nothing was saved");
            thread::sleep(Duration::from_millis(1));
        }
        let whole = lengths()[one].min(lengths()[other]);
        assert!(whole > 1 << 20, "{whole} bytes are written too quickly");
        while !lengths().values().any(|length| (1..whole).contains(length)) {
            assert!(began.elapsed() < Duration::from_secs(120), "no file was seen half written");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let turn = bytes(&folder, "turn.vsterrain");
        assert!(turn == bytes(&folder, one) || turn == bytes(&folder, other), "round {round}: {} bytes", turn.len());
        let left: Vec<String> = lengths().into_keys().filter(|name| name.ends_with(".tmp")).collect();
        left.iter().for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    }
}

#[test]
fn vt_95_vt_102_vt_103_vt_104_extents_and_an_empty_terrain() {
    silent("clear");
}

#[test]
fn vt_97_each_handle_has_its_last_error() {
    silent("errors");
}

#[test]
fn vt_98_vt_99_vt_100_triangles_and_points_are_counted_and_told() {
    silent("counts");
}

/// Contents of an OBJ beside faces: `usemtl` of lines, and those lines as corners.
fn lines(folder: &Path, name: &str) -> BTreeMap<String, Vec<[[f64; 3]; 2]>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let (corners, mut material, mut all) = (obj(&text).0, String::new(), BTreeMap::<_, Vec<_>>::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("usemtl ") {
            material = name.into();
        }
        if let Some(ends) = line.strip_prefix("l ") {
            let ends: Vec<usize> = ends.split_whitespace().map(|w| w.parse::<usize>().unwrap() - 1).collect();
            all.entry(material.clone()).or_default().push([corners[ends[0]], corners[ends[1]]]);
        }
    }
    all
}

#[test]
fn vt_105_vt_106_vt_107_vt_108_obj_has_what_is_asked_for() {
    let folder = silent("obj");
    let files = ["plain", "pins", "origin", "cells", "all"].map(|name| format!("{name}.obj"));
    let [plain, pins, origin, cells, all] = files.each_ref().map(|name| lines(&folder, name));
    let faces = files.each_ref().map(|name| obj(&fs::read_to_string(folder.join(name)).unwrap()).1.len());
    assert!(plain.is_empty() && cells.is_empty() && faces[0] == 2 && faces[1] == 2 && faces[2] == 2);
    assert!(faces[3] > 2 && faces[3] == faces[4] && (faces[3] - 2) % 6 == 0, "{faces:?}");
    // a hundred along the normal of z = x / 4, each from the ground up
    assert_eq!(pins.keys().collect::<Vec<_>>(), ["Pin"]);
    assert_eq!(pins["Pin"].len(), 100);
    let mut places: Vec<[i64; 2]> = Vec::new();
    for [foot, head] in &pins["Pin"] {
        assert!((foot[2] - foot[0] / 4.0).abs() < 1e-4, "{foot:?}");
        let by = [0, 1, 2].map(|k| head[k] - foot[k]);
        assert!((by[0] / by[2] + 0.25).abs() < 1e-3 && by[1].abs() < 1e-6 && by[2] > 0.1, "{by:?}");
        places.push([foot[0], foot[1]].map(|v| (v * 10.0).round() as i64));
    }
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 100);
    // three of 5 m from the zero
    assert_eq!(origin["AxisX"], [[[0.0; 3], [5.0, 0.0, 0.0]]]);
    assert_eq!(origin["AxisY"], [[[0.0; 3], [0.0, 5.0, 0.0]]]);
    assert_eq!(origin["AxisZ"], [[[0.0; 3], [0.0, 0.0, 5.0]]]);
    assert_eq!(origin.len(), 3);
    assert_eq!([all["Pin"].len(), all["AxisZ"].len()], [9, 1]);
    assert_eq!(all["AxisZ"][0][1], [0.0, 0.0, 2.0]);
    for name in files {
        let library = name.replace(".obj", ".mtl");
        let [text, library_text] = [&name, &library].map(|name| fs::read_to_string(folder.join(name)).unwrap());
        assert!(text.contains(&format!("\nmtllib {library}\n")) || text.starts_with(&format!("mtllib {library}\n")));
        for used in text.lines().filter_map(|l| l.strip_prefix("usemtl ")) {
            assert!(library_text.lines().any(|l| l == format!("newmtl {used}")), "{name}: {used}");
        }
        assert!(library_text.contains("newmtl Pin\nKd 1.000 0.000 0.000"), "red");
        assert!(text.contains("usemtl mu 0.85 rr 1") && text.contains("usemtl mu 0.5 rr 1"));
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 10);
}

/// No mu is ever another, however many there are: tiles get smaller, or it is an error.
#[test]
fn vt_85_many_pairs_take_smaller_tiles_or_are_refused() {
    let folder = silent("pairs");
    let image = Image::read(folder.join("palette.vsterrain")).unwrap();
    let terrain = Terrain::open_verified(&image).unwrap();
    assert_eq!(terrain.materials().len(), 300);
    assert!(terrain.header().tile_log2 < 10, "the least that a build chooses by itself is 10");
    for k in 0..300u16 {
        let side = 1.0 / 128.0;
        let at = [k % 20, k / 20].map(|v| (f64::from(v) + 0.25) * side);
        let answer = terrain.closest([at[0], at[1], 0.0]);
        assert_eq!(terrain.surface(&answer)[0], f64::from(k + 1) / 65536.0, "{k}");
    }
}

#[test]
fn vt_84_different_handles_work_side_by_side() {
    let folder = silent("threads");
    let first = bytes(&folder, "thread0.vsterrain");
    assert!((1..4).all(|k| bytes(&folder, &format!("thread{k}.vsterrain")) == first));
    is_the_grid(&folder, "thread3.vsterrain");
}

/// Output of the example in Python. Python itself does things that valgrind complains of, so it may complain of
/// anything but the library.
fn python(folder: &Path, interpreter: &str) -> String {
    let (example, shared) = (library().join("examples/example.py"), built("libhpan_vsterrain.so"));
    let wrapper = env::var("HARDPAN_RUN").unwrap_or_default();
    let words = wrapper.split_whitespace().filter(|word| !word.starts_with("--error-exitcode"));
    let mut words = words.chain([interpreter]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).arg(&example).arg(&shared).current_dir(folder).env("PYTHONMALLOC", "malloc");
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let [out, complaints] = [&output.stdout, &output.stderr].map(|b| String::from_utf8_lossy(b).into_owned());
    let ours = complaints.contains("libhpan_vsterrain") || wrapper.is_empty() && !complaints.is_empty();
    assert!(output.status.success() && !ours, "{command:?}: {}\n{out}\n{complaints}", output.status);
    out
}

#[test]
fn vt_80_python_makes_the_terrain_of_the_listing() {
    let folders = [folder("vs-library-python"), folder("vs-library-python-c")];
    // beyond scripts that choose one
    let found = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let Some(found) = found.ok().filter(|o| o.status.success()) else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let interpreter = String::from_utf8(found.stdout).unwrap();
    assert_eq!(python(&folders[0], interpreter.trim()), run(&folders[1], &LISTING, &[]));
    for name in ["example.vsterrain", "example.obj", "example.mtl"] {
        let [python, c] = folders.each_ref().map(|folder| bytes(folder, name));
        assert!(python == c, "{name}");
    }
}

/// `unsafe` stands in one file; elsewhere only the names of functions are.
#[test]
fn what_is_unsafe_stands_in_one_file_and_says_why() {
    for entry in fs::read_dir(library().join("src")).unwrap() {
        let path = entry.unwrap().path();
        let (text, mut before) = (fs::read_to_string(&path).unwrap(), "");
        for line in text.lines().map(str::trim) {
            if line.contains("unsafe") && !line.starts_with("//") && line != "#[unsafe(no_mangle)]" {
                assert!(path.ends_with("ffi.rs"), "{}: {line}", path.display());
                assert!(before.starts_with("// SAFETY:"), "no SAFETY line before {line}");
            }
            before = line;
        }
    }
}
