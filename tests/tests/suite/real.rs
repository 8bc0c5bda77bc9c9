//! Real meshes against the oracle.

use crate::common::compare;
use hardpan::Terrain;
use hardpan_builder::{Options, build, repair};
use verification::obj;
use verification::oracle::Oracle;
use verification::random::points;

#[test]
fn real_meshes_answer_as_the_oracle() {
    for (name, y_up) in [
        ("roads/cloverleaf.obj", false),
        ("roads/chrono_multilayer/multilayer-terrain.obj", false),
        ("mavs/data/scenes/meshes/surfaces/ditch/ditch_surface.obj", false),
        ("city/3dfier_innerbuffer_05.obj", false),
        ("city/kitavi_city.obj", false),
        ("terrain/recast_undulating.obj", true),
        ("city/recast_dungeon.obj", true),
        ("terrain/chrono_halfround_100mm.obj", false),
        ("city/samurai_monastry.obj", true),
        ("city/zdm2.obj", true),
    ] {
        let Some(path) = obj::real_file(name) else { continue };
        let mut scene = obj::read(&path, y_up).unwrap();
        let built = build(&scene, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        println!("{name}: {:?}", built.report);
        // what reaches beyond 2^31 steps from the image's origin is left out, and counted
        let given = scene.triangles.len();
        let origin = Terrain::open(&built.image).unwrap().header().origin;
        let inside = |v: u32| {
            let steps = [4096.0, 4096.0, 65536.0];
            (0..3).all(|i| {
                let k = (scene.positions[v as usize][i] * steps[i]).round_ties_even() - origin[i] as f64;
                (-2147483648.0..=2147483647.0).contains(&k)
            })
        };
        let kept = scene.triangles.iter().copied().filter(|t| t.v.into_iter().all(inside)).collect::<Vec<_>>();
        scene.triangles = kept;
        assert_eq!(built.report.outside, (given - scene.triangles.len()) as u64, "{name}");
        let oracle = Oracle::new(&repair(&scene, &Options::default()).unwrap().0);
        assert_eq!(built.report.triangles, oracle.len() as u64, "{name}");
        let terrain = Terrain::open_verified(&built.image).unwrap_or_else(|e| panic!("{name}: {e}"));
        compare(&terrain, &oracle, &points(&oracle, 200, 1));
    }
}
