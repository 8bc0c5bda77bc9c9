//! One hash over a fixed set of queries: the same bits on every machine, in every profile.

use crate::common::{hills, image};
use hardpan::{Point, Terrain};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Scene};
use verification::bytes::BLANK;
use verification::fnv::Fnv;
use verification::random::Random;

/// Every kind of query at `count` places of a box around the scene, everything but places in the image.
fn hash(scene: &Scene, count: usize) -> u64 {
    let bytes = image(scene);
    let t = Terrain::open(&bytes).unwrap();
    let unit = |v: f64, scale: f64| (v * scale) as i64;
    let [low, high] = t.bounds().map(|b| [unit(b[0], 1_048_576.0), unit(b[1], 1_048_576.0), unit(b[2], 16_777_216.0)]);
    let (mut r, mut fnv, mut space) = (Random(1), Fnv::default(), [BLANK.hit; 8]);
    for _ in 0..count {
        let [x, y, z] = [0, 1, 2].map(|k| r.within(low[k] - (1 << 20), high[k] + (1 << 20)));
        let p = Point { x, y, z };
        for answer in [t.closest(p), t.below(p), t.segment(p, 1 << 26)] {
            fnv.answer(&answer);
            for v in t.slope_f64(&answer.hit).into_iter().chain(t.normal_f64(&answer.hit)).chain([t.z_f64(&answer.hit)])
            {
                fnv.bytes(&v.to_bits().to_le_bytes());
            }
            for v in t.slope_f32(&answer.hit).into_iter().chain(t.normal_f32(&answer.hit)) {
                fnv.bytes(&v.to_bits().to_le_bytes());
            }
        }
        let layers = t.layers(p, &mut space);
        fnv.status(layers.status);
        fnv.bytes(&(layers.total as u64).to_le_bytes());
        space[..layers.written].iter().for_each(|hit| fnv.hit(hit));
    }
    fnv.0
}

fn waves() -> Scene {
    let heights = (0..64 * 48).map(|k| ((k * k) % 97) as f64 / 64.0).collect();
    let mut scene = fixtures::flat();
    scene.fields.push(HeightField {
        origin: [-8.0, -8.0],
        pitch: 0.25,
        columns: 64,
        rows: 48,
        heights,
        material: 0,
        source: 0,
        tolerance: 0.0,
        ..HeightField::default()
    });
    scene
}

#[test]
fn answers_are_the_same_bits_everywhere() {
    let sets: [(&str, Scene, u64); 9] = [
        ("flat", fixtures::flat(), 0xe6e2_7a55_e443_3bbe),
        ("ramp", fixtures::ramp(), 0x8cc2_6c8d_f90f_eeca),
        ("far", fixtures::far(), 0x8cc2_6c8d_f90f_eeca),
        ("bridge", fixtures::bridge(), 0x8d5e_7f05_eb98_e2b1),
        ("curb", fixtures::curb(), 0x19d3_440b_31f8_de77),
        ("mats", fixtures::mats(), 0xe407_5f0c_5ad9_c82b),
        ("soup", fixtures::soup(1), 0x3d20_d70e_012e_b13b),
        ("hills", hills(60, 1.25), 0x9a63_6ecf_a767_77e1),
        ("waves", waves(), 0x9984_58e5_1a91_2e26),
    ];
    let found: Vec<(&str, u64, u64)> =
        sets.iter().map(|(name, scene, wanted)| (*name, hash(scene, 2000), *wanted)).collect();
    for (name, hash, wanted) in &found {
        println!("(\"{name}\", 0x{hash:016x}) stands as 0x{wanted:016x}");
    }
    assert!(found.iter().all(|(_, hash, wanted)| hash == wanted), "the answers have changed");
}
