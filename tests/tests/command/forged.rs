//! Images whose checksums are right and whose counts are not: no command takes more than the file can hold.

use std::{fmt::Write, fs, path::Path};

use crate::shell::{error, expect, folder, holds, soon};
use hardpan::Terrain;
use hardpan::format::{block, entry, word};
use hardpan_builder::demo::fixtures;
use hardpan_builder::grid::Sampler;
use hardpan_builder::image::decode;
use hardpan_builder::{Image, Options, Scene, Triangle, build};
use verification::bytes::{Aligned, mend_all};

const TILE: u8 = 22;

/// Hills of so many posts each way, a metre apart, in one tile of 1024 m.
fn hills(n: u32) -> Aligned {
    let post = |k: u32| {
        let [x, y] = [k % n, k / n].map(f64::from);
        [x, y, 3.0 * (x / 17.0).sin() + 2.0 * (y / 23.0).cos() + 0.3 * (x * y / 50.0).sin()]
    };
    let square = |k: u32| [[k, k + 1, k + n], [k + n, k + 1, k + n + 1]];
    let squares = (0..n * (n - 1)).filter(|k| k % n + 1 < n);
    let triangles = squares.flat_map(square).map(|v| Triangle { v, material: 0, source: 0 }).collect();
    let scene = Scene { positions: (0..n * n).map(post).collect(), triangles, ..fixtures::flat() };
    let built = build(&scene, &Options { tile_log2: Some(TILE), ..Options::default() }).unwrap();
    Aligned::new(&built.image)
}

fn word_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn set(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

/// Where the one tile lies, its first bundle in units of 128 bytes, and how many there are.
fn tile(bytes: &[u8]) -> [usize; 3] {
    let entry = (0..8).map(|k| 512 + 64 * k).find(|&at| word_at(bytes, at) == 7).unwrap();
    let tile = word_at(bytes, entry + 8) as usize;
    [tile, word_at(bytes, tile + 36) as usize, word_at(bytes, tile + 40) as usize]
}

/// Where the nodes of the tile stand.
fn nodes(bytes: &[u8], tile: usize) -> Vec<usize> {
    let (mut nodes, mut next) = (vec![tile + 128], 0);
    while let Some(&node) = nodes.get(next) {
        next += 1;
        let entries = tile + 4 * word_at(bytes, node + 16) as usize;
        for k in 0..1usize << (bytes[node + 2] + bytes[node + 3]) {
            let e = word_at(bytes, entries + 4 * k);
            let dense = bytes[node + 4] & 1 == 1;
            let named = |at: u32| tile + 4 * at as usize;
            if dense && word_at(bytes, entries + 64 * k) == word::NODE << word::GUESS {
                nodes.push(named(word_at(bytes, entries + 64 * k + 4 * block::TAIL)));
            } else if !dense && e >> entry::SHIFT == entry::NODE {
                nodes.push(named(e & entry::PLACE));
            }
        }
    }
    nodes
}

/// Wide triangles as a bundle, seven corners at most.
fn wide(triangles: &[[[i32; 2]; 3]]) -> Vec<u8> {
    let mut bundle = [0u16; 64];
    bundle[6] = 2 << 8 | (triangles.len() as u16 - 1) << 12;
    for (n, corner) in triangles.iter().flatten().enumerate() {
        bundle[7 + 4 * (n % 3) + n / 12] |= (n as u16 + 1) << (4 * (n / 3 % 4));
        for (i, v) in corner.iter().enumerate() {
            bundle[22 + 6 * n + 2 * i..][..2].copy_from_slice(&[*v as u16, (*v >> 16) as u16]);
        }
    }
    bundle.iter().flat_map(|h| h.to_le_bytes()).collect()
}

/// States the largest costs that may be.
fn at_any_cost(bytes: &mut [u8], tile: usize, triangles: u32) {
    (0..4).for_each(|k| [tile + 64, 256].into_iter().for_each(|at| set(bytes, at + 4 * k, 1 << 26)));
    [tile + 44, tile + 56, 156].into_iter().for_each(|at| set(bytes, at, triangles));
    set(bytes, 252, triangles);
}

fn save(folder: &Path, name: &str, mut bytes: Aligned) {
    mend_all(&mut bytes);
    Terrain::open_verified(&bytes).unwrap();
    fs::write(folder.join(name), &bytes[..]).unwrap();
}

/// Nodes that count the bundles of all others as theirs would have each read once for each node, gigabytes of a file of
/// some megabytes.
#[test]
fn by_06_a_bundle_is_read_once() {
    let folder = folder("by_06_a_bundle_is_read_once");
    let mut bytes = hills(200);
    let [at, first, count] = tile(&bytes);
    let all = decode::triangles(&Terrain::open(&bytes).unwrap()).len();
    let own: Vec<usize> = nodes(&bytes, at).into_iter().filter(|node| word_at(&bytes, node + 24) > 0).collect();
    assert!(own.len() > 8, "{}", own.len());
    for node in own {
        let rest = first + count - word_at(&bytes, node + 20) as usize;
        set(&mut bytes, node + 24, rest as u32);
    }
    save(&folder, "a.hpan", bytes);
    let image = Image::copy_of(&fs::read(folder.join("a.hpan")).unwrap()).unwrap();
    let t = Terrain::open(&image).unwrap();
    // what stands in two nodes was one triangle, and may be two by their bases
    let most = t.header().references as usize;
    assert!((all..=most).contains(&decode::triangles(&t).len()), "{} {most}", decode::triangles(&t).len());
    assert!(Sampler::of_image(&t).triangles() <= most);
    // and a grid of it is refused before anything is taken
    let text = error(2, &folder, &["grid", "a.hpan", "--cell", "1"]);
    holds(&text, &["a.hpan: ", "copy the image again"]);
}

/// Bounds of thirty kilometres about half a kilometre of ground: its squares would take gigabytes.
#[test]
fn by_06_a_grid_is_of_bounds_that_are_proven() {
    let folder = folder("by_06_a_grid_is_of_bounds_that_are_proven");
    let mut bytes = hills(60);
    (0..2).for_each(|axis| set(&mut bytes, 116 + 4 * axis, 30_000 << 12));
    save(&folder, "a.hpan", bytes);
    let [out, err] = expect(2, &folder, &["grid", "a.hpan", "--cell", "1"]);
    assert!(out.is_empty() && !err.contains("squares"), "{err}");
    holds(&err, &["a.hpan: ", "copy the image again"]);
}

/// Thin triangles across 65,536 places of a node that names none of them: as many are tried as are met.
#[test]
fn by_06_a_proof_tries_the_places_that_are_met() {
    let folder = folder("by_06_a_proof_tries_the_places_that_are_met");
    let mut bytes = hills(550);
    let [at, first, count] = tile(&bytes);
    for k in 0..count {
        let (x, y) = (1 + k as i32 % 97, 1 + k as i32 % 89);
        let bundle = wide(&[[[x, y], [2_248_000 - x, 2_247_000 + y], [x, y + 1]]]);
        bytes[at + 128 * (first + k)..][..128].copy_from_slice(&bundle);
    }
    let (side, entries) = (8, at + 4096);
    bytes[at + 128..][..6].copy_from_slice(&[TILE - side, TILE - side, side, side, 0, 0]);
    for (field, v) in [(16, 1024), (20, first), (24, count), (28, 0)] {
        set(&mut bytes, at + 128 + field, v as u32);
    }
    (0..1 << (2 * side)).for_each(|k| set(&mut bytes, entries + 4 * k, entry::EMPTY));
    at_any_cost(&mut bytes, at, count as u32);
    save(&folder, "a.hpan", bytes);
    let [out, _] = soon(4, 1, &folder, &["verify", "a.hpan", "--threads", "1"]);
    holds(&out, &["cover      fail"]);
}

/// Slivers side by side in one cell, whose boxes all overlap: not each pair is compared.
#[test]
fn by_06_a_proof_compares_no_more_pairs_than_the_file_may_need() {
    let folder = folder("by_06_a_proof_compares_no_more_pairs_than_the_file_may_need");
    let mut bytes = hills(550);
    let [at, first, count] = tile(&bytes);
    // the row of blocks is the next multiple of 16 words behind the entry
    let (block, list) = (at + 2112, at + 4160);
    assert!(list + 4 + 8 * count < at + 128 * first, "there is room for the list");
    bytes[at + 128..][..6].copy_from_slice(&[TILE, TILE, 0, 0, 0, 0]);
    for (field, v) in [(16, 512), (20, first), (24, count), (28, 0)] {
        set(&mut bytes, at + 128 + field, v as u32);
    }
    set(&mut bytes, at + 2048, entry::BLOCK << entry::SHIFT | ((block - at) / 4) as u32);
    bytes[block..block + 64].fill(0);
    (1..8).for_each(|cell| set(&mut bytes, block + 4 * cell, word::EMPTY << word::GUESS));
    set(&mut bytes, block, word::LIST << word::GUESS);
    set(&mut bytes, block + 4 * block::COUNTS, 1);
    set(&mut bytes, block + 4 * block::FURTHER, ((list - at) / 4) as u32);
    set(&mut bytes, list, count as u32);
    for k in 0..count {
        let sliver = |n: i32| [[6 * n, 0], [6 * n + 900_000, 899_999], [6 * n + 900_000, 900_002]];
        let bundle = wide(&[sliver(2 * k as i32), sliver(2 * k as i32 + 1)]);
        bytes[at + 128 * (first + k)..][..128].copy_from_slice(&bundle);
        set(&mut bytes, list + 4 + 8 * k, 3);
        set(&mut bytes, list + 8 + 8 * k, k as u32);
    }
    at_any_cost(&mut bytes, at, 2 * count as u32);
    save(&folder, "a.hpan", bytes);
    let [out, _] = soon(3, 1, &folder, &["verify", "a.hpan", "--threads", "1"]);
    holds(&out, &["sheets     fail", "too many long and thin triangles"]);
}

/// A fan of as many triangles as may meet in a vertex is proven all the same, and soon.
#[test]
fn by_06_a_fan_of_the_most_triangles_is_proven() {
    let folder = folder("by_06_a_fan_of_the_most_triangles_is_proven");
    let n = 8_192;
    let mut text = String::from("v 0 0 0\n");
    for i in 0..n {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(n)).sin_cos();
        writeln!(text, "v {} {} 0", 500.0 * cos, 500.0 * sin).unwrap();
    }
    (0..n).for_each(|i| writeln!(text, "f 1 {} {}", i + 2, (i + 1) % n + 2).unwrap());
    fs::write(folder.join("fan.obj"), text).unwrap();
    expect(0, &folder, &["build", "fan.obj", "--up", "z", "--unit", "m"]);
    let [out, _] = soon(10, 0, &folder, &["verify", "fan.hpan", "--threads", "1"]);
    holds(&out, &["sheets     pass"]);
}
