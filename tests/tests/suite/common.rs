//! Building, and comparing with the oracle in every way a question can be put.

use hardpan::{Answer, Cursor, Fixed, Hit, Options, Point, Reach, Status, Terrain, Windows};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{HeightField, Image, Material, Scene, Triangle, Undersides, build};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use verification::bytes::BLANK;
use verification::oracle::{Ground, Oracle, Stage};
use verification::random::Random;

/// An image of the triangles as they are given: nothing is repaired, all that is not vertical is ground.
pub fn image(scene: &Scene) -> Image {
    build(scene, &as_given()).expect("builds").image
}

/// Options that repair nothing.
pub fn as_given() -> hardpan_builder::Options {
    hardpan_builder::Options { undersides: Undersides::Ground, stitch: None, ..hardpan_builder::Options::default() }
}

/// The same triangles: in another order, on vertices in another order, each from another corner.
pub fn shuffled(scene: &Scene, seed: u64) -> Scene {
    let mut r = Random(seed);
    let mut order = |n: usize| {
        let mut o: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            o.swap(i, r.below(i + 1));
        }
        o
    };
    let (vertices, triangles) = (order(scene.positions.len()), order(scene.triangles.len()));
    let mut place = vec![0u32; vertices.len()];
    for (to, &from) in vertices.iter().enumerate() {
        place[from] = to as u32;
    }
    let mut turn = seed;
    Scene {
        positions: vertices.iter().map(|&i| scene.positions[i]).collect(),
        triangles: triangles
            .iter()
            .map(|&i| {
                let mut t = scene.triangles[i];
                t.v = t.v.map(|v| place[v as usize]);
                turn = turn.wrapping_mul(5).wrapping_add(1);
                t.v.rotate_left(turn as usize >> 8 & 1);
                t
            })
            .collect(),
        ..scene.clone()
    }
}

/// Result of `make` on so many threads.
pub fn on_threads<T: Send>(threads: usize, make: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(make)
}

/// Lattice coordinates as metres, at the default steps.
pub fn metres([x, y, z]: [i64; 3]) -> [f64; 3] {
    [x as f64 / 4096.0, y as f64 / 4096.0, z as f64 / 65536.0]
}

/// A scene of lattice triangles, materials `a` to `d` and sources `s` and `t`.
pub fn lattice_scene(vertices: &[[i64; 3]], triangles: Vec<Triangle>) -> Scene {
    let material = |name: &str| Material::new(name, 0.5);
    Scene {
        positions: vertices.iter().map(|&v| metres(v)).collect(),
        triangles,
        materials: ["a", "b", "c", "d"].map(material).into(),
        sources: vec!["s".into(), "t".into()],
        ..Scene::default()
    }
}

/// Rolling ground of `n` by `n` cells of `pitch` metres: two triangles a cell.
pub fn hills(n: usize, pitch: f64) -> Scene {
    let height =
        |i: usize, j: usize| ((i * i + 3 * i * j + 7 * j) % 64) as f64 / 128.0 + ((i / 16 + j / 16) % 5) as f64;
    let row = n as u32 + 1;
    let mut triangles = Vec::with_capacity(2 * n * n);
    for j in 0..n as u32 {
        for i in 0..n as u32 {
            let a = j * row + i;
            for v in [[a, a + 1, a + 1 + row], [a, a + 1 + row, a + row]] {
                triangles.push(Triangle { v, material: 0, source: 0 });
            }
        }
    }
    let positions =
        (0..=n).flat_map(|j| (0..=n).map(move |i| [i as f64 * pitch, j as f64 * pitch, height(i, j)])).collect();
    Scene { positions, ..lattice_scene(&[], triangles) }
}

/// A kerb under a field of heights of which one is missing.
pub fn curb_and_patch() -> Scene {
    let mut scene = fixtures::curb();
    scene.fields.push(HeightField {
        origin: [-4.0, -4.0],
        pitch: 0.5,
        columns: 17,
        rows: 17,
        heights: (0..17 * 17).map(|i| if i == 40 { f64::NAN } else { (i % 7) as f64 / 10.0 + 8.0 }).collect(),
        material: 1,
        source: 0,
        tolerance: 0.001,
        ..HeightField::default()
    });
    scene
}

/// Moves a scene in plan.
pub fn moved(mut scene: Scene, east: f64, north: f64) -> Scene {
    for p in &mut scene.positions {
        *p = [p[0] + east, p[1] + north, p[2]];
    }
    scene
}

/// Both scenes in one; materials and sources must be the same.
pub fn joined(mut a: Scene, b: Scene) -> Scene {
    let first = a.positions.len() as u32;
    a.positions.extend(b.positions);
    a.triangles.extend(b.triangles.into_iter().map(|t| Triangle { v: t.v.map(|i| i + first), ..t }));
    a.fields.extend(b.fields);
    a
}

/// Holds a hit against the truth: height, plane, material and source.
#[track_caller]
pub fn same_ground(terrain: &Terrain, oracle: &Oracle, hit: &Hit, truth: &Ground, what: impl Fn() -> String) {
    assert_eq!(hit.z, truth.z, "height of {}", what());
    let names = (terrain.material_name(hit.material), terrain.source_name(hit.source));
    let wanted = (&*oracle.materials[truth.material as usize], &*oracle.sources[truth.source as usize]);
    assert_eq!(names, wanted, "owner's material and source of {}", what());
    let n = [hit.normal.x, hit.normal.y, hit.normal.z].map(i128::from);
    // Exact while it fits, else all three shifted down by one count.
    let widest = truth.normal.iter().map(|c| 128 - c.unsigned_abs().leading_zeros()).max().unwrap_or(0);
    let shift = widest.saturating_sub(62);
    let [x, y, z] = truth.normal.map(|c| c >> shift);
    assert_eq!(n, [x, y, z.max(1)], "owner's normal of {}", what());
}

/// Asks everything about every point, in every way, and holds it against the oracle.
#[track_caller]
pub fn compare(terrain: &Terrain, oracle: &Oracle, points: &[Point]) {
    let Windows { near, far } = terrain.windows();
    let merge = terrain.header().layer_merge;
    let mut cursor = Cursor::new();
    let mut batch = vec![BLANK; points.len()];
    assert_eq!(terrain.closest_batch(points, &mut batch), points.len());
    for (i, &p) in points.iter().enumerate() {
        let at = [p.x, p.y, p.z];
        let single = terrain.closest(p);
        expect(terrain, oracle, &single, oracle.closest(at, near, far), || format!("closest({p:?})"));
        assert_eq!(terrain.closest_cursor(p, &mut cursor), single, "cursor at {p:?}");
        assert_eq!(batch[i], single, "batch at {p:?}");
        let (costed, cost) = terrain.closest_costed(p);
        assert_eq!(costed, single, "costed at {p:?}");
        let bound = terrain.bound();
        assert!(
            cost.nodes <= bound.nodes
                && cost.leaves <= bound.leaves
                && cost.tests <= bound.tests
                && cost.lines <= bound.lines,
            "{cost:?} at {p:?} exceeds the stated {bound:?}"
        );
        assert_eq!(terrain.explain(p, |_| ()), single, "explain at {p:?}");

        let narrow = Options { windows: Windows { near: near / 16, far: far / 512 }, ..terrain.options() };
        let truth = oracle.closest(at, narrow.windows.near, narrow.windows.far);
        expect(terrain, oracle, &terrain.closest_with(p, &narrow), truth, || {
            format!("closest_with({p:?}, {narrow:?})")
        });
        for length in [0, 1, far / 1000, far] {
            let answer = terrain.segment(p, length);
            match oracle.segment(at, length) {
                Some(g) => {
                    assert_eq!(answer.status, Status::Found, "segment({p:?}, {length})");
                    same_ground(terrain, oracle, &answer.hit, &g, || format!("segment({p:?}, {length})"));
                }
                None => assert!(!answer.found(), "segment({p:?}, {length}) found {answer:?}"),
            }
        }
        assert_eq!(terrain.below(p), terrain.segment(p, far), "below at {p:?}");

        let truth = oracle.layers(p.x, p.y, merge);
        assert!(
            truth.len() <= terrain.max_layers() as usize,
            "{} layers at {p:?}, {} stated",
            truth.len(),
            terrain.max_layers()
        );
        for room in [256, 2, 1, 0] {
            let mut space = vec![BLANK.hit; room];
            let layers = terrain.layers(p, &mut space);
            assert_eq!(layers.total, truth.len(), "layers over {p:?}, room for {room}");
            assert_eq!(layers.written, truth.len().min(room), "layers over {p:?}, room for {room}");
            assert_eq!(layers.status == Status::Found, !truth.is_empty(), "layers over {p:?}");
            for (k, (hit, truth)) in space.iter().zip(&truth).enumerate() {
                same_ground(terrain, oracle, hit, truth, || format!("layer {k} over {p:?}, room for {room}"));
                assert_eq!(hit.reach == Reach::Hidden, truth.hidden, "layer {k} over {p:?}");
                assert_eq!(terrain.is_hidden(p, hit), truth.hidden, "layer {k} over {p:?}");
            }
        }
        same_in_other_numbers(terrain, p, &single);
    }
}

#[track_caller]
fn expect(
    terrain: &Terrain,
    oracle: &Oracle,
    answer: &Answer,
    truth: Option<(Ground, Stage)>,
    what: impl Fn() -> String,
) {
    let Some((ground, stage)) = truth else {
        assert!(matches!(answer.status, Status::NoGround | Status::NotInImage), "{} found {answer:?}", what());
        assert_eq!(answer.hit.reach, Reach::Fallback, "{}", what());
        return;
    };
    assert_eq!(answer.status, Status::Found, "{}: {ground:?} is there", what());
    same_ground(terrain, oracle, &answer.hit, &ground, &what);
    let reach = match stage {
        Stage::Near => Reach::Near,
        Stage::FarBelow => Reach::FarBelow,
        Stage::FarAbove => Reach::FarAbove,
    };
    assert_eq!(answer.hit.reach, reach, "{}", what());
}

/// The same place as f64 and as fixed point, on the grid point and just within its rounding.
#[track_caller]
fn same_in_other_numbers(terrain: &Terrain, p: Point, answer: &Answer) {
    const EXACT: u64 = 1 << 50;
    if [p.x, p.y, p.z].iter().any(|c| c.unsigned_abs() >= EXACT) {
        return;
    }
    let unit = [1.0 / 1_048_576.0, 1.0 / 1_048_576.0, 1.0 / 16_777_216.0];
    for off in [0.0, 0.25, -0.375] {
        let f = [0, 1, 2].map(|k| ([p.x, p.y, p.z][k] as f64 + off) * unit[k]);
        assert_eq!(terrain.closest(f), *answer, "f64 {f:?} for {p:?}");
    }
    let fixed = [p.x << 4, p.y << 4, p.z].map(Fixed::from_bits);
    assert_eq!(terrain.closest(fixed), *answer, "fixed {fixed:?} for {p:?}");
    assert_eq!(terrain.point(fixed), Some(p));
    if answer.found() {
        let z = answer.hit.z as f64 / 16_777_216.0;
        assert_eq!(terrain.z_f64(&answer.hit), z);
        assert_eq!(terrain.z_fixed(&answer.hit).to_bits(), answer.hit.z);
    }
}

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what each thread allocates.
pub struct Counting;

// SAFETY: passes every call on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

/// Allocations of this thread while `f` runs.
pub fn allocations(f: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}
