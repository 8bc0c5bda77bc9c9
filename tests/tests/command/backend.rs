//! `--backend`: a graphics driver gives the bytes of the CPU, and where there is none it is said what to do.
//!
//! A software driver is enough. Where none is installed the tests that need it say so, but with `HARDPAN_CI=1` they
//! fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use crate::grid::obj;
use crate::shell::{BRIDGE, HARDPAN, ended, folder, holds, info};
use hardpan_builder::build::backend::{Backend, Choice, Wanted};
use hardpan_builder::demo::{fixtures, proving_ground};
use hardpan_builder::{MaxCost, Options, Scene, Split, build, build_on, mix};
use hardpan_shaders::{Blocks, Cpu, Ground, Heights, Layers, Member, Numbered, Pick, Posts, Squares, Stages, Work};
use rayon::prelude::*;
use serde_json::Value;
use verification::{
    obj::{data_or_skip, read},
    skipped,
};

/// The drivers that draw on the processor, by the lists that the Vulkan loader reads.
fn software_lists() -> Vec<PathBuf> {
    let folders = ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    files
        .map(|f| f.path())
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("lvp_icd")))
        .collect()
}

/// Variables of a run.
type Variables<'a> = &'a [(&'a str, &'a str)];

/// Runs with variables, expects an exit code, and gives back stdout and stderr.
#[track_caller]
fn expect_with(variables: Variables, code: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    let mut command = Command::new(&*HARDPAN);
    command.args(arguments).current_dir(folder).env("XDG_RUNTIME_DIR", folder); // Mesa complains without it
    command.env_remove("WGPU_BACKEND").env_remove("WGPU_ADAPTER_NAME");
    command.envs(variables.iter().copied());
    ended(code, command.output().unwrap(), arguments)
}

#[track_caller]
fn expect(code: i32, folder: &Path, arguments: &[&str]) -> [String; 2] {
    expect_with(&[], code, folder, arguments)
}

/// The error of a run, which prints nothing else.
#[track_caller]
fn error(variables: Variables, code: i32, folder: &Path, arguments: &[&str]) -> String {
    let [out, err] = expect_with(variables, code, folder, arguments);
    assert!(out.is_empty() && err.starts_with("error: ") && err.matches("error: ").count() == 1, "{out}{err}");
    err
}

/// Whether a software driver is there; and a word if not.
#[track_caller]
fn has_driver(folder: &Path) -> bool {
    let [out, _] = expect(0, folder, &["--version", "--verbose"]);
    if out.contains(" (vulkan, software, ") {
        return true;
    }
    let text = format!("there is no software driver (on Debian: apt-get install mesa-vulkan-drivers): {out}");
    assert!(software_lists().is_empty(), "{text}");
    skipped(&text);
    false
}

/// Runs with `--report`, and gives back what it says of the backend.
#[track_caller]
fn reported(folder: &Path, arguments: &[&str]) -> Value {
    expect(0, folder, &[arguments, &["--report", "r.json"]].concat());
    let report: Value = serde_json::from_slice(&fs::read(folder.join("r.json")).unwrap()).unwrap();
    fs::remove_file(folder.join("r.json")).unwrap();
    report["backend"].clone()
}

/// Names and counts of items of the stages, of which none ran on a device.
#[track_caller]
fn on_cpu(backend: &Value) -> Vec<(String, u64)> {
    assert_eq!(backend["name"], "cpu");
    let one = |stage: &Value| {
        assert_eq!((&stage["device"], &stage["bytes"]), (&false.into(), &0.into()), "{stage}");
        (stage["stage"].as_str().unwrap().to_owned(), stage["items"].as_u64().unwrap())
    };
    backend["stages"].as_array().unwrap().iter().map(one).collect()
}

/// The same of stages that all ran on a device, but for fewer than so many items in a hundred; and their chunks.
#[track_caller]
fn on_device(backend: &Value, percent: u64) -> (Vec<(String, u64)>, Vec<u64>) {
    assert!(backend["name"].as_str().unwrap().contains("(vulkan, software, "), "{backend}");
    assert_eq!(backend["why"], "as asked");
    let one = |stage: &Value| {
        let count = |key: &str| stage[key].as_u64().unwrap();
        assert_eq!((&stage["device"], count("redone")), (&true.into(), 0), "{stage}");
        assert!(
            count("on_host") * 100 < count("items") * percent && count("bytes") > 0 && count("chunks") > 0,
            "{stage}"
        );
        ((stage["stage"].as_str().unwrap().to_owned(), count("items")), count("chunks"))
    };
    backend["stages"].as_array().unwrap().iter().map(one).unzip()
}

/// Faces of an OBJ in another order within each object and material.
fn shuffled(text: &str) -> String {
    let is_face = |line: &str| line.starts_with("f ");
    let lines: Vec<&str> = text.lines().collect();
    let runs = lines.chunk_by(|a, b| is_face(a) == is_face(b));
    let shuffled = runs.flat_map(|run| {
        let mut numbered: Vec<(u64, &str)> = (1..).map(mix).zip(run.iter().copied()).collect();
        if is_face(run[0]) {
            numbered.sort_unstable_by(|a, b| b.cmp(a));
        }
        numbered.into_iter().map(|(_, line)| line)
    });
    shuffled.map(|line| format!("{line}\n")).collect()
}

/// Hills of 100,352 triangles: cells of a metre, two triangles each.
fn hills100k() -> String {
    const SIDE: u32 = 224;
    let each = || (0..=SIDE).flat_map(|j| (0..=SIDE).map(move |i| (i, j)));
    let height = |i: u32, j: u32| {
        let [x, y] = [i, j].map(f64::from);
        12.0 * (x / 97.0).sin() * (y / 61.0).cos() + 1.5 * (x / 9.0 + y / 13.0).sin()
    };
    let mut text: String = each().map(|(i, j)| format!("v {i} {j} {:.3}\n", height(i, j))).collect();
    text += "usemtl Ground\n";
    for (i, j) in each().filter(|(i, j)| *i < SIDE && *j < SIDE) {
        let a = j * (SIDE + 1) + i + 1;
        let c = a + SIDE + 1;
        text += &format!("f {a} {} {}\nf {a} {} {c}\n", a + 1, c + 1, c + 1);
    }
    text
}

/// The part of a scene within so many metres of its middle, torn at the border.
fn part(scene: Scene, reach: f64) -> Scene {
    let ends = |k: usize| {
        let along = scene.positions.iter().map(move |p| p[k]);
        along.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    };
    let middle = [0, 1].map(|k| ends(k).iter().sum::<f64>() / 2.0);
    let is_near = |v: &u32| (0..2).all(|k| (scene.positions[*v as usize][k] - middle[k]).abs() <= reach);
    let triangles = scene.triangles.iter().filter(|t| t.v.iter().all(is_near)).copied().collect();
    Scene { triangles, ..scene }
}

/// An OBJ with the faces of those groups alone whose names begin so.
fn of_groups(text: &str, names: &str) -> String {
    let mut is_one = false;
    let kept = text.lines().filter(|line| {
        is_one = line.strip_prefix("g ").map_or(is_one, |name| name.starts_with(names));
        is_one || !line.starts_with("f ")
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// Scenes as OBJ files of a folder, with their options.
fn files(folder: &Path) -> Vec<(String, Vec<&'static str>)> {
    let city = part(fixtures::city(), 130.0);
    assert!(city.triangles.len() > 10_000, "{}", city.triangles.len());
    let mut texts = vec![
        ("town.obj", obj(&fixtures::town(2)), vec![]),
        ("soup.obj", obj(&fixtures::soup(1)), vec![]),
        ("hills100k.obj", hills100k(), vec![]),
        ("city.obj", obj(&city), vec![]),
    ];
    if let Some(data) = data_or_skip() {
        let real: [(&str, &str, &[&str]); 3] = [
            ("3dfier.obj", "city/3dfier_innerbuffer_05.obj", &[]),
            ("zdm2.obj", "city/zdm2.obj", &["--up", "y"]),
            ("cloverleaf.obj", "roads/cloverleaf.obj", &["--unit", "in"]),
        ];
        let town = fs::read_to_string(data.join("city/kitavi_city.obj")).unwrap();
        texts.push(("buildings.obj", of_groups(&town, "b_"), vec!["--up", "z", "--unit", "m"]));
        texts.extend(
            real.map(|(name, file, options)| (name, fs::read_to_string(data.join(file)).unwrap(), options.to_vec())),
        );
    }
    let written = texts.into_iter().map(|(name, text, options)| {
        fs::write(folder.join(name), &text).unwrap();
        fs::write(folder.join(format!("shuffled-{name}")), shuffled(&text)).unwrap();
        (name.to_owned(), options)
    });
    written.collect()
}

/// Three shares of memory, of which the last two make several chunks.
const MEMORY: [&str; 3] = ["1GiB", "1MiB", "64KiB"];

/// Builds one file on all backends in a folder of its own.
fn check_builds(above: &Path, name: &str, options: &[&str]) {
    let folder = above.join(format!("of-{name}"));
    fs::create_dir(&folder).unwrap();
    let build = |file: &str, image: &str, more: &[&str]| {
        let place = format!("../{file}");
        reported(&folder, &[&["build", &place, "-o", image, "--force"], options, more].concat())
    };
    let expected = on_cpu(&build(name, "cpu.hpan", &["--backend", "cpu"]));
    assert_eq!(
        expected.iter().map(|(stage, _)| &stage[..]).collect::<Vec<_>>(),
        ["number", "squares", "cells"],
        "{name}"
    );
    let bytes = fs::read(folder.join("cpu.hpan")).unwrap();
    let mut before = vec![0; expected.len()];
    for memory in MEMORY {
        let mut of_threads = Vec::new();
        for threads in ["1", "2"] {
            let more = ["--backend", "software", "--gpu-memory", memory, "--threads", threads];
            let (stages, chunks) = on_device(&build(name, "device.hpan", &more), 1);
            assert_eq!(stages, expected, "{name}");
            assert!(
                fs::read(folder.join("device.hpan")).unwrap() == bytes,
                "{name} {memory} {threads} threads: other bytes"
            );
            of_threads.push(chunks);
        }
        assert_eq!(of_threads[0], of_threads[1], "{name} {memory}");
        let chunks = of_threads.swap_remove(0);
        // less memory, more chunks
        let is_large = |i: usize| expected[i].1 > if memory == "1MiB" { 30_000 } else { 2_000 };
        for i in (0..chunks.len()).filter(|i| memory != MEMORY[0] && is_large(*i)) {
            assert!(chunks[i] > 1 && chunks[i] > before[i], "{name} {memory} {:?}: {chunks:?} {before:?}", expected[i]);
        }
        before = chunks;
    }
    // the same triangles in another order
    let other = format!("shuffled-{name}");
    assert!(fs::read(above.join(&other)).unwrap() != fs::read(above.join(name)).unwrap());
    let identity = info(&folder, "cpu.hpan")["identity"].clone();
    build(&other, "other.hpan", &["--backend", "software"]);
    assert_eq!(info(&folder, "other.hpan")["identity"], identity, "{other}");
    assert!(identity.is_string());
}

#[test]
fn by_04_a_graphics_driver_gives_the_same_bytes() {
    let folder = folder("by_04_a_graphics_driver_gives_the_same_bytes");
    if has_driver(&folder) {
        files(&folder).par_iter().for_each(|(name, options)| check_builds(&folder, name, options));
    }
}

/// Triangles and fields of heights, by the library.
#[test]
fn by_04_the_proving_ground_has_the_same_bytes() {
    if !has_driver(&folder("by_04_the_proving_ground_has_the_same_bytes")) {
        return;
    }
    let (scene, options) = (proving_ground::scene(), Options::default());
    let expected = build(&scene, &options).unwrap().image;
    for memory in [1 << 30, 1 << 20, 1 << 16] {
        let wanted = Wanted { choice: Choice::Software, adapter: None, memory: Some(memory) };
        let backend = Backend::choose(&wanted, 0).unwrap();
        let image = build_on(&scene, &options, None, backend.stages()).unwrap().image;
        assert!(image[..] == expected[..], "{memory}: other bytes");
        let work = backend.stages().work();
        let is_right = |w: &Work| w.device && w.redone == 0 && w.bytes > 0 && w.on_host * 100 < w.items;
        assert!(work.len() == 3 && work.iter().all(is_right), "{work:?}");
    }
}

/// The processor's stages, as if they were asked for the cells of so many triangles at once; and the grids of each
/// time.
struct AtOnce(Cpu, usize, Mutex<Vec<usize>>);

impl Stages for AtOnce {
    fn name(&self) -> String {
        self.0.name()
    }

    fn number(&self, points: &[[u32; 3]]) -> Numbered {
        self.0.number(points)
    }

    fn squares(&self, ground: Ground, log2: u32) -> Squares {
        self.0.squares(ground, log2)
    }

    fn cells(&self, ground: Ground, grids: &[(Blocks, &[u32])]) -> Vec<Vec<Member>> {
        self.2.lock().unwrap().push(grids.len());
        self.0.cells(ground, grids)
    }

    fn cells_at_once(&self) -> Option<usize> {
        Some(self.1)
    }

    fn heights(&self, ground: Ground, posts: Posts, pick: Pick) -> Heights {
        self.0.heights(ground, posts, pick)
    }

    fn layers(&self, ground: Ground, posts: Posts) -> Layers {
        self.0.layers(ground, posts)
    }

    fn work(&self) -> Vec<Work> {
        self.0.work()
    }
}

/// Tiles have the same bytes, whether the cells of each are asked for alone or with those of others: also of a tile
/// that is divided into many groups, of fields, of cells that cost too much, and of those that a rule divides.
#[test]
fn by_04_cells_asked_for_at_once_give_the_same_bytes() {
    // all of it in one tile
    let heap = Options { tile_log2: Some(25), origin: Some([-4096.0, -4096.0, 0.0]), ..Options::default() };
    let small = Options { tile_log2: Some(18), ..Options::default() };
    let cheap = Options { max_cost: Some(MaxCost { tests: 20, lines: None }), ..Options::default() };
    let refused = Options { max_cost: Some(MaxCost { tests: 1, lines: Some(3) }), ..Options::default() };
    let ruled = Options { split: Some(Split::DEFAULT), ..Options::default() };
    let town = fixtures::town(3);
    let cases = [
        ("heap", &town, &heap, true),
        ("small tiles", &town, &small, true),
        ("cheap", &town, &cheap, true),
        ("refused", &town, &refused, true),
        ("rule", &town, &ruled, false),
        ("fields", &proving_ground::scene(), &Options::default(), true),
    ];
    for (name, scene, options, some) in cases {
        let image = |stages: &dyn Stages| {
            let built = build_on(scene, options, None, stages);
            built.map(|b| b.image.to_vec()).map_err(|e| e.to_string())
        };
        let cpu = Cpu::new();
        let alone = image(&cpu);
        assert_eq!(alone.is_err(), name == "refused", "{name}: {:?}", alone.as_ref().err());
        let asked = |work: &Cpu| work.work().iter().find(|w| w.stage == "cells").map(|w| (w.items, w.chunks));
        assert_eq!(asked(&cpu).is_some(), some, "{name}");
        let mut calls = Vec::new();
        for many in [1, 30_000, usize::MAX] {
            let stages = AtOnce(Cpu::new(), many, Mutex::default());
            assert!(image(&stages) == alone, "{name} {many}: other bytes");
            let grids = stages.2.into_inner().unwrap();
            assert_eq!(asked(&stages.0).map(|a| a.0), asked(&cpu).map(|a| a.0), "{name} {many}");
            assert_eq!(grids.iter().sum::<usize>() as u64, asked(&cpu).map_or(0, |a| a.1), "{name} {many}");
            calls.push(grids.len());
        }
        assert_eq!(calls[2], usize::from(some), "{name}: {calls:?}");
        match name {
            "heap" => assert!(asked(&cpu).unwrap().1 >= 4 && calls[0] == 1, "{calls:?}"),
            "small tiles" => assert!(calls[0] > 5 && calls[1] > 1 && calls[1] < calls[0], "{calls:?}"),
            _ => {}
        }
    }
}

#[test]
fn by_20_a_field_of_a_mesh_has_the_same_bytes() {
    let folder = folder("by_20_a_field_of_a_mesh_has_the_same_bytes");
    if !has_driver(&folder) {
        return;
    }
    // of the soup, triangles of kilometres are the processor's by rule
    let scenes = [("town", fixtures::town(2), "0.7", "Asphalt", 1), ("soup", fixtures::soup(2), "61.7", "Clay", 5)];
    for (name, scene, cell, material, percent) in scenes {
        fs::write(folder.join("a.obj"), obj(&scene)).unwrap();
        let build = |image: &str, more: &[&str]| {
            let typed = ["build", "a.obj", "--raster", cell, "--raster-material", material, "-o", image, "--force"];
            reported(&folder, &[&typed[..], more].concat())
        };
        let expected = on_cpu(&build("cpu.hpan", &["--backend", "cpu"]));
        assert!(expected.iter().any(|(stage, _)| stage == "heights"), "{expected:?}");
        for memory in MEMORY {
            let (stages, _) =
                on_device(&build("device.hpan", &["--backend", "software", "--gpu-memory", memory]), percent);
            assert_eq!(stages, expected, "{name} {memory}");
            let [cpu, device] = ["cpu.hpan", "device.hpan"].map(|image| fs::read(folder.join(image)).unwrap());
            assert!(cpu == device, "{name} {memory}: other bytes");
        }
    }
}

#[test]
fn cg_05_grids_have_the_same_bytes() {
    let folder = folder("cg_05_grids_have_the_same_bytes");
    if !has_driver(&folder) {
        return;
    }
    let mut sources = vec![("town.obj", obj(&fixtures::town(2)), "0.7"), ("soup.obj", obj(&fixtures::soup(2)), "61.7")];
    if let Some(data) = data_or_skip() {
        sources.push(("city.obj", fs::read_to_string(data.join("city/3dfier_innerbuffer_05.obj")).unwrap(), "0.9"));
    }
    for (name, text, cell) in sources {
        fs::write(folder.join(name), text).unwrap();
        let rules: [(&[&str], &str); 4] = [
            (&["--rule", "highest"], "g.npy"),
            (&["--rule", "lowest"], "g.npy"),
            (&["--rule", "nearest=2"], "g.npy"),
            (&["--layers"], "g.csv"),
        ];
        for (rule, out) in rules {
            let grid = |backend: &[&str]| {
                let [_, err] = expect(
                    0,
                    &folder,
                    &[&["grid", name, "--cell", cell, "-o", out, "--force"], rule, backend].concat(),
                );
                assert_eq!(err.contains("(vulkan, software, "), backend[1] == "software", "{err}");
                fs::read(folder.join(out)).unwrap()
            };
            let expected = grid(&["--backend", "cpu"]);
            assert!(expected.len() > 50_000, "{name} {rule:?}: {}", expected.len());
            for memory in MEMORY {
                let got = grid(&["--backend", "software", "--gpu-memory", memory]);
                assert!(got == expected, "{name} {rule:?} {memory}: other bytes");
            }
        }
    }
}

#[test]
fn a_missing_graphics_card_is_explained() {
    let folder = folder("a_missing_graphics_card_is_explained");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    // as if no driver were installed
    let none: Variables = &[("VK_DRIVER_FILES", "/there/is/none.json"), ("VK_ICD_FILENAMES", "/there/is/none.json")];
    let looked = [
        "\nfound: none\n",
        "\nlooked for: the Vulkan loader libvulkan.so.1 on the library path\n",
        "\nlooked for: drivers listed in VK_DRIVER_FILES, or else in /etc/vulkan/icd.d and /usr/share/vulkan/icd.d\n",
    ];
    let [out, _] = expect_with(none, 0, &folder, &["--version", "--verbose"]);
    holds(&out, &[concat!("hardpan ", env!("CARGO_PKG_VERSION")), "gpu yes", "\nadapters: none\n"]);
    for (backend, help) in [
        ("gpu", "no graphics card; install the driver of the card, with its Vulkan part"),
        ("software", "no software driver; on Debian and Ubuntu: apt-get install mesa-vulkan-drivers"),
    ] {
        for command in [&["build", "bridge.obj"][..], &["grid", "bridge.obj", "--cell", "1"]] {
            let text = error(none, 4, &folder, &[command, &["--backend", backend]].concat());
            assert!(text.starts_with(&format!("error: --backend {backend}: {help}\n")), "{text}");
            holds(&text, &looked);
            assert!(text.lines().count() == 4 && text.lines().all(|line| line.len() <= 120), "{text}");
        }
    }
    assert!(!folder.join("bridge.hpan").exists());
    // auto goes on without one, also where a large job would take it
    let [_, err] = expect_with(none, 0, &folder, &["build", "bridge.obj"]);
    assert!(!err.contains("stages run on"), "{err}");
    let text = error(none, 4, &folder, &["build", "bridge.obj", "--adapter", "nonsense", "--force"]);
    holds(&text, &["no graphics card whose name contains \"nonsense\"; ", "\nfound: none\n"]);
}

/// Where no session has a folder, as in containers, a driver's library prints no error of its own.
#[test]
fn by_04_what_a_driver_prints_is_no_error() {
    let folder = folder("by_04_what_a_driver_prints_is_no_error");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let ran = |arguments: &[&str]| {
        let mut command = std::process::Command::new(&*crate::shell::HARDPAN);
        command.args(arguments).current_dir(&folder).env_remove("XDG_RUNTIME_DIR");
        crate::shell::ended(0, command.output().unwrap(), arguments)
    };
    let [_, err] = ran(&["--version", "--verbose"]);
    assert_eq!(err, "");
    if has_driver(&folder) {
        let [_, err] = ran(&["grid", "bridge.obj", "--cell", "1", "--backend", "software"]);
        assert!(err.lines().all(|line| line.starts_with("note: ")), "{err}");
    }
}

#[test]
fn a_software_driver_is_no_graphics_card() {
    let folder = folder("a_software_driver_is_no_graphics_card");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    let lists = software_lists();
    let (true, Some(list)) = (has_driver(&folder), lists.first().and_then(|list| list.to_str())) else { return };
    // other drivers of this machine are not seen
    let only: Variables = &[("VK_DRIVER_FILES", list), ("VK_ICD_FILENAMES", list)];
    let [out, _] = expect_with(only, 0, &folder, &["--version", "--verbose"]);
    let adapters: Vec<&str> = out.lines().filter_map(|line| line.strip_prefix("adapter: ")).collect();
    let [adapter] = adapters[..] else { panic!("{out}") };
    holds(adapter, &["llvmpipe", "(vulkan, software, ", "Mesa"]);
    let text = error(only, 4, &folder, &["build", "bridge.obj", "--backend", "gpu"]);
    holds(
        &text,
        &["--backend gpu: no graphics card; install the driver", &format!("\nfound: {adapter}\n"), "\nlooked for: "],
    );
    for backend in [&["--backend", "software"][..], &["--backend", "gpu"], &["--backend", "auto"], &[]] {
        let text = error(only, 4, &folder, &[&["build", "bridge.obj", "--adapter", "nonsense"], backend].concat());
        holds(&text, &["whose name contains \"nonsense\"; ", &format!("\nfound: {adapter}\n"), "\nlooked for: "]);
    }
    let build: &[&str] = &["build", "bridge.obj", "--backend", "software", "--force"];
    let of_name: Variables = &[("VK_DRIVER_FILES", list), ("WGPU_ADAPTER_NAME", "nonsense")];
    holds(&error(of_name, 4, &folder, build), &["\"nonsense\" (WGPU_ADAPTER_NAME)", adapter]);
    let of_interface: Variables = &[("VK_DRIVER_FILES", list), ("WGPU_BACKEND", "nonsense")];
    // a word that no machine knows is a slip of the user
    let cause = "WGPU_BACKEND=nonsense: this program knows no \"nonsense\"; set WGPU_BACKEND=vulkan or unset it";
    for backend in ["software", "gpu"] {
        let text = error(of_interface, 2, &folder, &["build", "bridge.obj", "--backend", backend]);
        assert_eq!(text, format!("error: --backend {backend}: {cause}\nfound: {adapter}\n"));
    }
    let [out, _] = expect_with(of_interface, 0, &folder, &["--version", "--verbose"]);
    holds(&out, &["adapters: not known; WGPU_BACKEND=nonsense: "]);
    // and what is right is taken
    let [_, err] = expect_with(only, 0, &folder, &[build, &["--adapter", "LLVMpipe"]].concat());
    holds(&err, &[&format!("note: stages run on {adapter}: as asked\n")]);
    // so little memory that nothing fits
    let text = error(only, 2, &folder, &[build, &["--gpu-memory", "1"]].concat());
    holds(&text, &["--gpu-memory <SIZE>", "at least 64KiB"]);
}

#[test]
fn what_is_typed_wrong_is_told() {
    let folder = folder("what_is_typed_wrong_is_told");
    fs::write(folder.join("bridge.obj"), BRIDGE).unwrap();
    for size in ["x", "", "12 parsecs", "-1", "1.5GiB", "GiB", "99999999999GiB"] {
        let more = format!("--gpu-memory={size}");
        let text = error(&[], 2, &folder, &["build", "bridge.obj", &more]);
        let why = if size.starts_with('9') {
            "more than there can be"
        } else {
            "a whole number of bytes, or of KiB, MiB or GiB, as 512MiB"
        };
        holds(&text, &["--gpu-memory <SIZE>", why]);
    }
    for command in [&["build", "bridge.obj"][..], &["grid", "bridge.obj", "--cell", "1"]] {
        let text = error(&[], 2, &folder, &[command, &["--backend", "cpu", "--adapter", "x"]].concat());
        holds(&text, &["--adapter and --gpu-memory are for a graphics card, but --backend cpu uses none"]);
        let text = error(&[], 2, &folder, &[command, &["--backend", "card"]].concat());
        holds(&text, &["'card'", "auto, cpu, gpu, software"]);
    }
    assert!(!folder.join("bridge.hpan").exists());
}

/// The command that a program without graphics cards names is the one of the page.
#[test]
fn the_page_says_how_to_install_graphics_cards() {
    let page = include_str!("../../../builder/docs/gpu.md");
    holds(page, &[&format!("\n{}\n", hardpan_builder::build::backend::INSTALL)]);
}

/// Shuffled faces are the same triangles.
#[test]
fn shuffled_files_have_the_same_triangles() {
    let text = obj(&fixtures::mats());
    let folder = folder("shuffled_files_have_the_same_triangles");
    let of = |name: &str, text: &str| -> Scene {
        fs::write(folder.join(name), text).unwrap();
        read(&folder.join(name), false).unwrap()
    };
    let sorted = |scene: &Scene| {
        let mut all: Vec<_> = scene.triangles.iter().map(|t| (t.material, t.v)).collect();
        all.sort_unstable();
        all
    };
    let (one, two) = (of("a.obj", &text), of("b.obj", &shuffled(&text)));
    assert_eq!((sorted(&one), &one.positions), (sorted(&two), &two.positions));
    assert_ne!(one.triangles, two.triangles);
}
