//! The stages on an adapter give the arrays of the CPU, whatever the scene and the memory.
//!
//! A software driver is enough. Where none is installed the tests say so, but with `HARDPAN_CI=1` they fail.
//! `HARDPAN_CARD=1` takes a card.
#![cfg(feature = "wgpu")]

mod scenes;

use hardpan_shaders::gpu::{Fault, FaultKind, Wanted, adapters};
use hardpan_shaders::{Cpu, Gpu, Ground, Pick, Posts, Stages, Work};
use scenes::{Random, Scene, all_scenes, as_wide_as_fits, hills, points};
use std::fmt::Debug;
use std::io::Write;
use std::sync::LazyLock;

/// A software driver, or a card if one is asked for; of so much memory.
fn open(memory: Option<u64>) -> Option<Gpu> {
    let wanted = Wanted { software: std::env::var("HARDPAN_CARD").is_err(), name: None, memory };
    match Gpu::open(&wanted) {
        Ok(gpu) => Some(gpu),
        Err(no) => {
            let is_installed = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().any(|folder| {
                let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
                files.into_iter().any(|f| f.file_name().to_string_lossy().starts_with("lvp_icd"))
            });
            assert!(std::env::var("HARDPAN_CI").is_err() && !is_installed, "{no}");
            // past the capture of a test that passes
            _ = writeln!(std::io::stderr(), "skipped: {no}");
            None
        }
    }
}

/// All the memory, and two shares that make several chunks.
static GPUS: LazyLock<Vec<Gpu>> =
    LazyLock::new(|| [None, Some(1 << 20), Some(100_000)].into_iter().filter_map(open).collect());

#[track_caller]
fn same<T: PartialEq + Debug>(what: &str, got: &[T], expected: &[T]) {
    if let Some(i) = (0..got.len().min(expected.len())).find(|i| got[*i] != expected[*i]) {
        panic!("{what}: number {i} is {:?} on the device and {:?} on the CPU", got[i], expected[i]);
    }
    assert_eq!(got.len(), expected.len(), "{what}: the count");
}

fn check_number(name: &str, gpu: &Gpu, points: &[[u32; 3]]) {
    let (got, expected) = (gpu.number(points), Cpu::new().number(points));
    same(&format!("number, {name}: order"), &got.order, &expected.order);
    same(&format!("number, {name}: starts"), &got.starts, &expected.starts);
}

fn check_squares(name: &str, gpu: &Gpu, ground: Ground, log2: u32) {
    let (got, expected) = (gpu.squares(ground, log2), Cpu::new().squares(ground, log2));
    let what = |array: &str| format!("squares of 2^{log2}, {name}: {array}");
    same(&what("squares"), &got.squares, &expected.squares);
    same(&what("starts"), &got.starts, &expected.starts);
    same(&what("faces"), &got.faces, &expected.faces);
}

fn check_cells(gpu: &Gpu, scene: &Scene) {
    let (got, expected) = (gpu.cells(scene.ground(), &scene.grids()), Cpu::new().cells(scene.ground(), &scene.grids()));
    for (grid, (got, expected)) in got.iter().zip(&expected).enumerate() {
        same(&format!("cells, {}, grid {grid}", scene.name), got, expected);
    }
    assert_eq!(got.len(), expected.len(), "cells, {}", scene.name);
}

fn check_heights(gpu: &Gpu, scene: &Scene, pick: Pick) {
    let (ground, posts) = (scene.ground(), scene.posts());
    let (got, expected) = (gpu.heights(ground, posts, pick), Cpu::new().heights(ground, posts, pick));
    same(&format!("heights, {}, {pick:?}: z", scene.name), &got.z, &expected.z);
    same(&format!("heights, {}, {pick:?}: owner", scene.name), &got.owner, &expected.owner);
}

fn check_layers(gpu: &Gpu, scene: &Scene) {
    let (ground, posts) = (scene.ground(), scene.posts());
    let (got, expected) = (gpu.layers(ground, posts), Cpu::new().layers(ground, posts));
    same(&format!("layers, {}: starts", scene.name), &got.starts, &expected.starts);
    same(&format!("layers, {}: z", scene.name), &got.z, &expected.z);
    same(&format!("layers, {}: owner", scene.name), &got.owner, &expected.owner);
}

/// Work of a stage since some time.
fn work(gpu: &Gpu, stage: &str) -> Work {
    gpu.work().into_iter().find(|w| w.stage == stage).unwrap_or_default()
}

#[test]
fn points_are_numbered_as_on_the_cpu() {
    for gpu in GPUS.iter() {
        for (name, points) in points() {
            check_number(name, gpu, &points);
        }
        let (name, points) = &points()[3];
        check_number(name, gpu, points); // and again
        let work = work(gpu, "number");
        assert!(work.device && work.redone == 0 && work.bytes > 0, "{work:?} {:?}", gpu.warning());
    }
    if let [all, .., few] = &GPUS[..] {
        assert!(work(few, "number").chunks > 2 * work(all, "number").chunks);
    }
}

#[test]
fn squares_are_those_of_the_cpu() {
    for gpu in GPUS.iter() {
        for scene in all_scenes() {
            scene.squares_log2.iter().for_each(|log2| check_squares(scene.name, gpu, scene.ground(), *log2));
        }
        assert_eq!(work(gpu, "squares").redone, 0, "{:?}", gpu.warning());
    }
}

#[test]
fn cells_are_those_of_the_cpu() {
    for gpu in GPUS.iter() {
        all_scenes().iter().for_each(|scene| check_cells(gpu, scene));
        assert_eq!(work(gpu, "cells").redone, 0, "{:?}", gpu.warning());
    }
}

#[test]
fn heights_are_those_of_the_cpu() {
    for gpu in GPUS.iter() {
        for scene in all_scenes() {
            let z = scene.middle_height();
            for pick in [Pick::Highest, Pick::Lowest, Pick::HighestUpTo(z), Pick::NearestTo(z)] {
                check_heights(gpu, &scene, pick);
            }
        }
        let scene = hills(40);
        for z in [i64::MIN, i64::MAX] {
            check_heights(gpu, &scene, Pick::NearestTo(z));
            check_heights(gpu, &scene, Pick::HighestUpTo(z));
        }
        assert_eq!(work(gpu, "heights").redone, 0, "{:?}", gpu.warning());
    }
}

#[test]
fn products_that_just_fit_are_exact() {
    for seed in 0..40 {
        let scene = as_wide_as_fits(seed);
        let z = scene.middle_height();
        for gpu in GPUS.iter().take(1) {
            let pick = [Pick::Highest, Pick::Lowest, Pick::HighestUpTo(z), Pick::NearestTo(z)][seed as usize % 4];
            check_heights(gpu, &scene, pick);
            check_layers(gpu, &scene);
            check_cells(gpu, &scene);
            check_squares(scene.name, gpu, scene.ground(), scene.squares_log2[0]);
        }
    }
}

#[test]
fn layers_are_those_of_the_cpu() {
    for gpu in GPUS.iter() {
        all_scenes().iter().for_each(|scene| check_layers(gpu, scene));
        assert_eq!(work(gpu, "layers").redone, 0, "{:?}", gpu.warning());
    }
}

/// Groups are numbered along two axes, as they are where there are very many.
#[test]
fn groups_lie_along_two_axes() {
    let Some(gpu) = open(None) else { return };
    let (gpu, scene) = (gpu.with_groups(3), hills(100));
    check_number("groups", &gpu, &points()[3].1);
    check_squares(scene.name, &gpu, scene.ground(), 14);
    check_cells(&gpu, &scene);
    check_heights(&gpu, &scene, Pick::Lowest);
    check_layers(&gpu, &scene);
    assert!(gpu.work().iter().all(|w| w.redone == 0 && w.bytes > 0), "{:?}", gpu.warning());
}

/// A chunk takes no more than it may.
#[test]
fn memory_is_kept_to() {
    const MEMORY: u64 = 2 << 20;
    let scene = hills(100);
    let mut random = Random(6);
    let points: Vec<[u32; 3]> = (0..50_000).map(|_| [0; 3].map(|_| random.below(1 << 30) as u32)).collect();
    let checks: [&dyn Fn(&Gpu); 5] = [
        &|gpu| check_number("memory", gpu, &points),
        &|gpu| check_squares(scene.name, gpu, scene.ground(), 14),
        &|gpu| check_cells(gpu, &scene),
        &|gpu| check_heights(gpu, &scene, Pick::Highest),
        &|gpu| check_layers(gpu, &scene),
    ];
    let Some(together) = open(Some(MEMORY)) else { return };
    for check in checks {
        let Some(gpu) = open(Some(MEMORY)) else { return };
        check(&gpu);
        check(&together);
        for gpu in [&gpu, &together] {
            let held = gpu.most_held();
            assert!(held <= MEMORY && held > MEMORY / 4, "{held} {:?}", gpu.work());
            assert!(gpu.work().iter().all(|w| w.chunks > 1 && w.redone == 0), "{:?}", gpu.work());
        }
    }
}

/// Most of the work is the device's, not the CPU's by rule.
#[test]
fn hills_are_all_done_on_the_device() {
    let Some(gpu) = open(None) else { return };
    let scene = hills(100);
    check_squares(scene.name, &gpu, scene.ground(), 14);
    check_cells(&gpu, &scene);
    check_heights(&gpu, &scene, Pick::Highest);
    check_layers(&gpu, &scene);
    for work in gpu.work() {
        assert!(work.chunks == 1 && work.on_host == 0 && work.redone == 0 && work.bytes > 1000, "{work:?}");
    }
    assert_eq!(gpu.warning(), None);
    // and what shaders do not take is counted
    let scene = all_scenes().into_iter().find(|s| s.name == "needles").unwrap();
    check_squares(scene.name, &gpu, scene.ground(), 24);
    assert!(work(&gpu, "squares").on_host > 0);
}

#[test]
fn chunks_that_fail_are_done_again_by_the_cpu() {
    let scene = hills(60);
    let points: Vec<[u32; 3]> = {
        let mut random = Random(5);
        (0..20_000).map(|_| [0; 3].map(|_| random.below(1 << 12) as u32)).collect()
    };
    type Check<'a> = (&'static str, Box<dyn Fn(&Gpu) + 'a>);
    let checks: Vec<Check> = vec![
        ("number", Box::new(|gpu| check_number("random", gpu, &points))),
        ("squares", Box::new(|gpu| check_squares("hills", gpu, scene.ground(), 14))),
        ("cells", Box::new(|gpu| check_cells(gpu, &scene))),
        ("heights", Box::new(|gpu| check_heights(gpu, &scene, Pick::Highest))),
        ("layers", Box::new(|gpu| check_layers(gpu, &scene))),
    ];
    for (stage, check) in &checks {
        // one device for what it recovers from
        let Some(gpu) = open(Some(200_000)) else { return };
        for (kind, why) in [(FaultKind::Memory, "memory"), (FaultKind::Validation, "")] {
            let before = work(&gpu, stage).redone;
            gpu.inject(Fault { stage, chunk: 1, kind });
            check(&gpu);
            assert_eq!(work(&gpu, stage).redone, before + 1, "{stage} {kind:?}");
            let warning = gpu.warning().expect("a warning");
            assert!(warning.contains(stage) && (before > 0 || warning.contains(why)), "{warning}");
        }
        let done = work(&gpu, stage);
        check(&gpu); // it goes on
        let more = work(&gpu, stage);
        assert!(more.redone == done.redone && more.bytes > done.bytes && more.chunks > done.chunks + 1, "{more:?}");
        // after these no chunk goes to the device
        for (kind, why) in [(FaultKind::Lost, "lost"), (FaultKind::Timeout, "did not answer")] {
            let Some(gpu) = open(Some(200_000)) else { return };
            gpu.inject(Fault { stage, chunk: 1, kind });
            check(&gpu);
            let first = work(&gpu, stage);
            assert!(
                first.redone > 0 && first.redone == first.chunks - 1 && first.bytes > 0,
                "{stage} {kind:?} {first:?}"
            );
            let warning = gpu.warning().expect("a warning");
            assert!(warning.contains(stage) && warning.contains(why), "{warning}");
            check(&gpu);
            let second = work(&gpu, stage);
            assert_eq!((second.redone - first.redone, second.bytes), (second.chunks - first.chunks, first.bytes));
            assert_eq!(gpu.warning(), Some(warning)); // said once
        }
    }
}

#[test]
fn several_threads_use_one_device() {
    let Some(gpu) = open(Some(1 << 20)) else { return };
    let (scene, points) = (hills(50), &points()[4].1);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (gpu, scene) = (&gpu, &scene);
            scope.spawn(move || match thread {
                0 => check_number("threads", gpu, points),
                1 => check_heights(gpu, scene, Pick::Highest),
                2 => check_cells(gpu, scene),
                _ => check_squares("threads", gpu, scene.ground(), 14),
            });
        }
    });
    // and from inside a pool, where threads take over each other's tasks
    use rayon::prelude::*;
    (0..8)
        .into_par_iter()
        .for_each(|k| if k % 2 == 0 { check_cells(&gpu, &scene) } else { check_layers(&gpu, &scene) });
    assert_eq!(gpu.warning(), None);
}

#[test]
fn adapters_are_listed_and_one_that_is_missing_is_explained() {
    let all = adapters().unwrap();
    for software in [false, true] {
        let name = Some("no such adapter".to_string());
        let text = Gpu::open(&Wanted { software, name, memory: None }).unwrap_err().to_string();
        assert!(text.contains("no such adapter") && text.contains("\nlooked for: "), "{text}");
        assert!(all.iter().all(|a| text.contains(&a.name)), "{text}");
        assert!(text.contains(if software { "mesa-vulkan-drivers" } else { "driver of the card" }), "{text}");
    }
    let text = Gpu::open(&Wanted { memory: Some(100), ..Wanted::default() }).unwrap_err().to_string();
    assert!(text.starts_with("100 bytes") && text.contains("65536"), "{text}");
    let Some(gpu) = open(None) else { return };
    assert!(all.contains(gpu.facts()), "{all:?}");
    assert!(!gpu.facts().driver.is_empty() && gpu.name().contains(&gpu.facts().driver), "{}", gpu.name());
}

#[test]
fn nothing_gives_nothing() {
    let Some(gpu) = open(None) else { return };
    let ground = Ground { vertices: &[], faces: &[] };
    let posts = Posts { x: &[], y: &[] };
    assert_eq!(gpu.number(&[]), Cpu::new().number(&[]));
    assert_eq!(gpu.squares(ground, 8), Cpu::new().squares(ground, 8));
    assert_eq!(gpu.cells(ground, &[]), Cpu::new().cells(ground, &[]));
    assert_eq!(gpu.heights(ground, posts, Pick::Lowest), Cpu::new().heights(ground, posts, Pick::Lowest));
    assert_eq!(gpu.layers(ground, posts), Cpu::new().layers(ground, posts));
    assert!(gpu.work().iter().all(|w| w.bytes == 0));
}
