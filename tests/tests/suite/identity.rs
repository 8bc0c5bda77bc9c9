//! The same sources give the same image, whatever their order and the number of threads.

use crate::common::{hills, joined, lattice_scene, on_threads, shuffled};
use hardpan::Terrain;
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Image, Job, Options, Scene, Triangle, build};
use verification::random::Random;

/// An image as the builder makes it by itself.
fn image(scene: &Scene) -> Image {
    build(scene, &Options::default()).expect("builds").image
}

fn scenes() -> Vec<(&'static str, Scene)> {
    vec![
        ("bridge", fixtures::bridge()),
        ("mats", fixtures::mats()),
        ("soup", fixtures::soup(50)),
        ("town", fixtures::town(2)),
        ("town and cobble", joined(fixtures::town(1), fixtures::cobble())),
    ]
}

#[test]
fn two_builds_are_equal() {
    for (name, scene) in scenes() {
        assert!(image(&scene)[..] == image(&scene)[..], "{name}");
    }
}

#[test]
fn order_of_triangles_and_vertices_is_no_content() {
    for (name, scene) in scenes() {
        let one = image(&scene);
        for seed in [1, 2] {
            let other = image(&shuffled(&scene, seed));
            let [a, b] = [&one, &other].map(|i| Terrain::open(i).unwrap().identity());
            assert_eq!(a, b, "{name}");
            assert!(one[..] == other[..], "{name}: equal identity, other bytes");
        }
    }
}

#[test]
fn number_of_threads_is_no_content() {
    let with = |threads, scene: &Scene| on_threads(threads, || image(scene));
    for (name, scene) in scenes() {
        assert!(with(1, &scene)[..] == with(2, &scene)[..], "{name}");
    }
}

/// Tiles made in any order, on one thread or several, by one job or each by a job of its own that was given the
/// triangles in another order.
#[test]
fn schedule_of_tiles_is_no_content() {
    let scenes = [
        ("bridge", fixtures::bridge(), 16),
        ("mats", fixtures::mats(), 14),
        ("town", fixtures::town(2), 18),
        ("town and cobble", joined(fixtures::town(1), fixtures::cobble()), 18),
        ("hills", hills(30, 1.0), 15),
    ];
    for (name, scene, tile_log2) in scenes {
        let options = Options { tile_log2: Some(tile_log2), ..Options::default() };
        let whole = build(&scene, &options).unwrap();
        let job = || Job::new(&scene, &options).unwrap();
        let count = job().tiles();
        println!("{name}: {count} tiles");
        assert!((4..200).contains(&count), "{name}: {count} tiles");
        let given: Vec<usize> = (0..count).collect();
        let mut orders = vec![given.clone(), given.iter().rev().copied().collect()];
        for seed in 1..=2 {
            let (mut r, mut order) = (Random(seed), given.clone());
            (1..count).for_each(|i| order.swap(i, r.below(i + 1)));
            assert_ne!(order, given);
            orders.push(order);
        }
        for (order, threads) in orders.iter().zip([1, 2, 1, 3]) {
            let built = on_threads(threads, || {
                let job = job();
                let tiles = order.iter().map(|&i| job.tile(i).unwrap()).collect();
                job.image(tiles, None).unwrap()
            });
            assert!(built.image[..] == whole.image[..], "{name}: {order:?}");
            assert_eq!(built.report, whole.report, "{name}");
        }
        // as many machines as tiles, of which every one knows no more than the scene
        let apart = orders[2].iter().zip(0..).map(|(&i, seed)| {
            on_threads(1 + seed as usize % 2, || Job::new(&shuffled(&scene, seed), &options).unwrap().tile(i).unwrap())
        });
        let built = job().image(apart.collect(), None).unwrap();
        assert!(built.image[..] == whole.image[..], "{name}: each from the beginning");

        // one that is not there, and one twice
        for indices in [given[1..].to_vec(), [&given[1..], &given[1..2]].concat()] {
            let job = job();
            let tiles = indices.iter().map(|&i| job.tile(i).unwrap()).collect();
            let why = job.image(tiles, None).err().unwrap().to_string();
            assert_eq!(why, format!("an image of this scene takes each of its {count} tiles once"));
        }
    }
}

#[test]
fn order_of_materials_and_sources_is_no_content() {
    let scene = fixtures::soup(51);
    let mut other = scene.clone();
    other.materials.reverse();
    other.sources.reverse();
    let (m, s) = (other.materials.len() as u16 - 1, other.sources.len() as u16 - 1);
    for t in &mut other.triangles {
        (t.material, t.source) = (m - t.material, s - t.source);
    }
    assert!(image(&scene)[..] == image(&other)[..]);
}

#[test]
fn content_changes_identity() {
    let identity = |scene: &Scene| Terrain::open(&image(scene)).unwrap().identity();
    let scene = fixtures::bridge();
    let mut seen = vec![identity(&scene)];
    let changes: [fn(&mut Scene); 4] = [
        |s| s.positions[0][2] += 1.0 / 65536.0,
        |s| s.materials[0].mu += 1e-9,
        |s| s.sources[0].push('x'),
        |s| s.triangles.truncate(3),
    ];
    for change in changes {
        let mut other = scene.clone();
        change(&mut other);
        let id = identity(&other);
        assert!(!seen.contains(&id));
        seen.push(id);
    }
    // Below half a step nothing is different.
    let mut same = scene.clone();
    same.positions[0][2] += 0.4 / 65536.0;
    assert_eq!(identity(&same), seen[0]);
}

/// A format that repeats the corners of every triangle gives the image of one that shares them.
#[test]
fn sharing_of_vertices_is_no_content() {
    // The square's corners lie about the border of two origins, most of its triangles at one of them.
    let corners: Vec<[i64; 3]> = [[0, 0], [1, 0], [2, 0], [2047, 0], [2048, 3], [2047, 5], [2049, 9]]
        .map(|[x, y]: [i64; 2]| [x * 4096, y * 4096, 0])
        .into();
    let faces = [[4, 5, 0], [4, 5, 1], [4, 6, 2], [4, 6, 3], [4, 6, 5]];
    let border = lattice_scene(&corners, faces.map(|v| Triangle { v, material: 0, source: 0 }).into());
    for (name, scene) in scenes().into_iter().chain([("border", border)]) {
        let mut apart = scene.clone();
        apart.positions = scene.triangles.iter().flat_map(|t| t.v.map(|i| scene.positions[i as usize])).collect();
        for (t, k) in apart.triangles.iter_mut().zip(0..) {
            t.v = [3 * k, 3 * k + 1, 3 * k + 2];
        }
        assert!(image(&scene)[..] == image(&apart)[..], "{name}");
    }
}
