//! The callback of VehicleSim, driven by a mock solver.

use super::*;
use hardpan::{Ground, Surface, Terrain};
use hardpan_builder::Triangle;
use hardpan_builder::demo::fixtures;

/// FNV-1a.
fn fold(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

/// Drives the mock solver: a hash of all outputs, and how many wheels had ground.
fn drive(t: &Terrain, float: bool) -> (u64, usize) {
    let (mut hash, mut found) = (0xcbf2_9ce4_8422_2325, 0);
    for tick in 0..1000 {
        let (x, y) = (f64::from(tick * 37) / 1024.0 - 18.0, f64::from(tick * 11) / 1024.0 - 5.0);
        for (x, y) in [(x, y), (x, y + 1.5), (x - 2.75, y), (x - 2.75, y + 1.5)] {
            let g = t.ground([x, y, 5.0]);
            found += usize::from(g.found);
            for v in [g.z, g.slope[0], g.slope[1], g.mu, g.rolling, f64::from(u8::from(g.found))] {
                hash = match float {
                    true => fold(hash, &(v as f32).to_le_bytes()),
                    false => fold(hash, &v.to_le_bytes()),
                };
            }
        }
    }
    (hash, found)
}

#[test]
fn vt_01_06_07_08_10_mock_solver_drives_two_images_from_four_threads() {
    let (ramp, ramp_path) = image("vs-ramp", &fixtures::ramp());
    let (bridge, bridge_path) = image("vs-bridge", &fixtures::bridge());
    let (_, flat_path) = image("vs-flat", &fixtures::flat());
    let [wrapper, api] = [interface().join("examples"), source("")].map(|folder| format!("-I{}", folder.display()));
    for float in [false, true] {
        let flags = [&*wrapper, &*api, if float { "-DHPAN_VS_REAL=float" } else { "-DHPAN_VS_REAL=double" }];
        let program = compile(if float { "vs-float" } else { "vs-double" }, &source("vs.c"), &flags);
        let printed = run(&program, &[&ramp_path, &bridge_path, &flat_path], &[]);
        let mut wanted = String::new();
        for i in 0..4 {
            for (number, image) in [&ramp, &bridge].into_iter().enumerate() {
                let (hash, found) = drive(&Terrain::open(image).unwrap(), float);
                assert!(found > 100, "{found} wheels on ground");
                wanted += &format!("{i} {number} {hash:016x} {found}\n");
            }
        }
        assert_eq!(printed, wanted, "float: {float}");
    }
}

#[test]
fn vt_10_surface_of_the_user_before_an_image_answers_first() {
    struct Seven;
    impl Surface for Seven {
        fn ground(&self, [x, _, _]: [f64; 3]) -> Ground {
            Ground { found: x < 10.0, z: 7.0, slope: [0.0; 2], mu: 0.5, rolling: 2.0 }
        }
    }
    let (flat, _) = image("vs-seven", &fixtures::flat());
    let terrain = Terrain::open(&flat).unwrap();
    let (first, last): ([&dyn Surface; 2], [&dyn Surface; 2]) = ([&Seven, &terrain], [&terrain, &Seven]);
    assert_eq!(first[..].ground([0.0, 0.0, 0.0]).z, 7.0);
    assert_eq!(last[..].ground([0.0, 0.0, 0.0]), terrain.ground([0.0, 0.0, 0.0]));
    let beside = Ground { found: true, z: 0.0, slope: [0.0; 2], mu: 0.85, rolling: 1.0 };
    assert_eq!(first[..].ground([20.0, 0.0, 0.0]), beside);
    // where none has ground the last one's defaults answer
    assert_eq!(last[..].ground([9e3, 0.0, 0.0]), Ground { found: false, ..Seven.ground([0.0; 3]) });
    let none: [&dyn Surface; 0] = [];
    assert_eq!(none[..].ground([0.0; 3]), Ground::NONE);
}

/// The plane z = 0.1 x + 0.05 y, 200 m square, with an opening of 10 m by 10 m at the centre.
fn ramp_with_a_hole() -> Scene {
    let ring = |r: f64| [[-r, -r], [r, -r], [r, r], [-r, r]].map(|[x, y]| [x, y, (2.0 * x + y) / 20.0]);
    let around = |i: u32| {
        let j = (i + 1) % 4;
        [[i, j, j + 4], [i, j + 4, i + 4]].map(|v| Triangle { v, material: 0, source: 0 })
    };
    let positions = [ring(100.0), ring(5.0)].concat();
    Scene { positions, triangles: (0..4).flat_map(around).collect(), ..fixtures::ramp() }
}

/// The values by hand: the ramp has mu 0.8 and rr 1.2, its lowest corner lies at z = -15, and the defaults of an image
/// are 1.
#[test]
fn vt_03_05_08_callback_fills_all_outputs_with_ground_and_without() {
    let (holed, holed_path) = image("vs-hole", &ramp_with_a_hole());
    let (_, ramp_path) = image("vs-five", &fixtures::ramp());
    let double = compile("five", &source("five.c"), &[]);
    let float = compile("five-float", &source("five.c"), &["-DHPAN_VS_REAL=float"]);
    let header = Terrain::open(&holed).unwrap().header();
    for (program, near) in [(&double, 1e-9), (&float, 1e-5)] {
        let close = |path: &Path, place: [f64; 3], wanted: [f64; 6]| {
            let input: Vec<u8> = place.iter().flat_map(|v| v.to_le_bytes()).collect();
            let text = run(program, &[path], &input);
            let got: Vec<f64> = text.split_whitespace().map(|w| w.parse().unwrap()).collect();
            let good = got.len() == 6 && got.iter().zip(wanted).all(|(g, w)| (g - w).abs() <= near);
            assert!(good, "{got:?} is not {wanted:?} at {place:?}");
        };
        close(&ramp_path, [10.0, 20.0, 3.0], [1.0, 2.0, 0.1, 0.05, 0.8, 1.2]);
        close(&holed_path, [10.0, 20.0, 3.0], [1.0, 2.0, 0.1, 0.05, 0.8, 1.2]);
        close(&holed_path, [0.0, 0.0, 3.0], [0.0, -15.0, 0.0, 0.0, header.default_mu, header.default_rolling]);
    }
}
