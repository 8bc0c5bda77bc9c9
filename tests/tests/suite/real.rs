//! Real meshes against the oracle.

use crate::common::compare;
use hardpan::Terrain;
use hardpan_builder::{Options, build};
use verification::obj;
use verification::oracle::Oracle;
use verification::random::points;

#[test]
fn real_meshes_answer_as_the_oracle() {
    let data = obj::data();
    let meshes = [
        ("cloverleaf.obj", false),
        ("multilayer-terrain.obj", false),
        ("ditch_surface.obj", false),
        ("3dfier_innerbuffer_05.obj", false),
        ("kitavi_city.obj", false),
        ("recast_undulating.obj", true),
        ("recast_dungeon.obj", true),
        ("chrono_halfround_100mm.obj", false),
        ("samurai_monastry.obj", true),
        ("zdm2.obj", true),
    ];
    let mut files = Vec::new();
    collect(&data, &mut files);
    if files.is_empty() {
        println!("skipped, because there are no files in {} (set HARDPAN_DATA)", data.display());
        return;
    }
    for (name, y_up) in meshes {
        let Some(path) = files.iter().find(|p| p.file_name().is_some_and(|f| f == name)) else {
            println!("skipped {name}, because it is not in {}", data.display());
            continue;
        };
        let scene = obj::read(path, y_up).unwrap();
        let oracle = Oracle::new(&scene);
        let built = build(&scene, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        println!("{name}: {:?}", built.report);
        assert_eq!(built.report.triangles, oracle.len() as u64, "{name}");
        let terrain = Terrain::open_verified(&built.image).unwrap_or_else(|e| panic!("{name}: {e}"));
        compare(&terrain, &oracle, &points(&oracle, 200, 1));
    }
}

fn collect(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "obj") {
            files.push(path);
        }
    }
}
