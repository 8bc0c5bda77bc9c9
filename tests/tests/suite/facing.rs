//! Undersides and obstacles are no ground.

use crate::common::{lattice_scene, metres, shuffled};
use hardpan::{Hit, Point, Status, Terrain};
use hardpan_builder::demo::fixtures;
use hardpan_builder::{Options, Scene, Triangle, Undersides, build, repair, source_error};
use verification::oracle::{Oracle, Q};
use verification::random::{Random, points};
use verification::shells::{self, Corners};

/// A box of 100 x 100 x 10,000 steps: twelve triangles, outside out, the first two its bottom.
fn closed_box() -> Scene {
    let corners: Vec<[i64; 3]> = (0..8).map(|k| [100 * (k & 1), 100 * (k >> 1 & 1), 10_000 * (k >> 2)]).collect();
    let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [1, 3, 7, 5], [3, 2, 6, 7], [2, 0, 4, 6]];
    let triangles = sides
        .iter()
        .flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]])
        .map(|v| Triangle { v, material: 0, source: 0 })
        .collect();
    lattice_scene(&corners, triangles)
}

fn turned(mut scene: Scene) -> Scene {
    scene.triangles.iter_mut().for_each(|t| t.v.swap(0, 1));
    scene
}

/// Triangles stored, ceilings, vertical ones.
fn counts(scene: &Scene, undersides: Undersides) -> [u64; 3] {
    let r = repair(scene, &Options { undersides, ..Options::default() }).unwrap().1;
    assert_eq!(
        r.triangles_in,
        r.triangles + r.left_out.ceilings + r.left_out.vertical + r.left_out.collapsed + r.duplicates
    );
    [r.triangles, r.left_out.ceilings, r.left_out.vertical]
}

#[test]
fn the_bottom_of_a_closed_box_is_a_ceiling() {
    let scene = closed_box();
    assert_eq!(counts(&scene, Undersides::Auto), [2, 2, 8]);
    assert_eq!(counts(&turned(scene.clone()), Undersides::Auto), [2, 2, 8], "whichever way it is wound");
    assert_eq!(counts(&scene, Undersides::Ground), [4, 0, 8]);
    assert_eq!(counts(&scene, Undersides::Ceiling), [2, 2, 8]);
    assert_eq!(counts(&turned(scene.clone()), Undersides::Ceiling), [2, 2, 8], "the top, which its winding calls one");
    for scene in [scene.clone(), turned(scene)] {
        let built = build(&scene, &Options::default()).unwrap();
        let t = Terrain::open_verified(&built.image).unwrap();
        let below = t.closest([0.01, 0.01, 0.001]);
        assert_eq!(
            (below.status, t.z_f64(&below.hit)),
            (Status::Found, 10_000.0 / 65536.0),
            "from just above the bottom"
        );
    }
}

#[test]
fn of_a_box_that_is_not_exactly_closed_everything_is_ground() {
    let mut open = closed_box();
    open.triangles.truncate(11);
    assert_eq!(counts(&open, Undersides::Auto), [4, 0, 7]);
    let mut wound = closed_box();
    wound.triangles[11].v.swap(0, 1);
    assert_eq!(counts(&wound, Undersides::Auto), [4, 0, 8], "one triangle against all others");
    let mut doubled = closed_box();
    doubled.triangles.extend(closed_box().triangles);
    let r = repair(&doubled, &Options::default()).unwrap().1;
    assert_eq!((r.triangles, r.left_out.ceilings, r.duplicates), (4, 0, 4), "every edge twice");
    let mut two = closed_box();
    two.triangles[0].source = 1;
    assert_eq!(counts(&two, Undersides::Auto), [4, 0, 8], "a box of two sources");
    let mut beyond = closed_box();
    let first = beyond.positions.len() as u32;
    beyond.positions.extend([[1e9, 0.0, 0.0], [1e9, 1.0, 0.0], [1e9, 0.0, 1.0]]);
    beyond.triangles.push(Triangle { v: [first, first + 1, first + 2], material: 0, source: 0 });
    assert_eq!(repair(&beyond, &Options::default()).unwrap().1.left_out.ceilings, 0, "part of it lies outside");
}

#[test]
fn a_sheet_with_two_sides_is_ground() {
    let mut scene = lattice_scene(&[[0, 0, 0], [500, 0, 7], [0, 500, 9]], Vec::new());
    scene.triangles = [[0, 1, 2], [0, 2, 1]].map(|v| Triangle { v, material: 0, source: 0 }).into();
    let r = repair(&scene, &Options::default()).unwrap().1;
    assert_eq!((r.triangles, r.duplicates, r.left_out.ceilings), (1, 1, 0), "closed, but without volume");
}

#[test]
fn each_source_is_judged_by_itself_and_a_material_may_say_otherwise() {
    // a box inside out, one outside out, and ground wound at will around them
    let mut scene = closed_box();
    for (k, shift) in [(1, 500i64), (2, 1000)] {
        let other = if k == 1 { turned(closed_box()) } else { closed_box() };
        let first = scene.positions.len() as u32;
        let east = shift as f64 / 4096.0;
        scene.positions.extend(other.positions.iter().map(|p| [p[0] + east, p[1], p[2]]));
        scene.triangles.extend(other.triangles.iter().map(|t| Triangle {
            v: t.v.map(|v| v + first),
            source: k,
            material: k,
        }));
    }
    scene.sources.push("u".into());
    assert_eq!(counts(&scene, Undersides::Auto), [6, 6, 24]);
    scene.materials[2].undersides = Some(Undersides::Ground);
    assert_eq!(counts(&scene, Undersides::Auto), [8, 4, 24]);
    scene.materials[1].undersides = Some(Undersides::Ceiling);
    assert_eq!(counts(&scene, Undersides::Ground), [4 + 2 + 4, 2, 24]);
    let (ground, _) = repair(&scene, &Options::default()).unwrap();
    let tops = ground.triangles.iter().filter(|t| t.material == 0);
    assert!(tops.clone().count() == 2 && tops.flat_map(|t| t.v).all(|v| ground.positions[v as usize][2] > 0.1));
}

/// Boxes of one source, their corners moved and stretched so: outside out, and inside out.
fn boxes(those: &[(bool, [f64; 3], f64)]) -> Scene {
    let mut scene = closed_box();
    let (corners, sides) = (std::mem::take(&mut scene.positions), std::mem::take(&mut scene.triangles));
    for (inside_out, by, size) in those {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners.iter().map(|p| [0, 1, 2].map(|i| size * p[i] + by[i])));
        scene.triangles.extend(sides.iter().map(|t| {
            let [a, b, c] = t.v.map(|v| v + first);
            Triangle { v: if *inside_out { [a, c, b] } else { [a, b, c] }, ..*t }
        }));
    }
    scene
}

/// Heights of what is ground over a place.
fn heights(scene: &Scene, place: [f64; 2]) -> Vec<f64> {
    let built = build(scene, &Options { stitch: None, ..Options::default() }).unwrap();
    let t = Terrain::open_verified(&built.image).unwrap();
    let mut hits = [hardpan::Hit::NONE; 8];
    let count = t.layers([place[0], place[1], 0.0], &mut hits).written;
    let agreed = source_error(&t, scene, &Options::default(), 1000);
    let undersides = agreed.lost.iter().find(|l| l.cause == "underside").map(|l| l.triangles);
    assert!(agreed.holds() && undersides == Some(built.report.left_out.ceilings), "{agreed:?}");
    hits[..count].iter().map(|hit| t.z_f64(hit)).collect()
}

/// Parts of one object that are mirrored, as tools that join meshes leave them.
#[test]
fn a_shell_is_judged_by_itself_unless_it_may_be_a_cavity_of_the_one_around_it() {
    let high = 10_000.0 / 65536.0;
    let row: Vec<_> = (0..10).map(|k| (k == 3, [f64::from(k), 0.0, 0.0], 1.0)).collect();
    for k in 0..10 {
        assert_eq!(heights(&boxes(&row), [f64::from(k) + 0.01, 0.01]), [high], "box {k}");
    }
    // as many of one kind as of the other
    let two = [(false, [0.0; 3], 1.0), (true, [1.0, 0.0, 0.0], 1.0)];
    assert_eq!([0.01, 1.01].map(|x| heights(&boxes(&two), [x, 0.01])), [[high], [high]]);
    // a hall: its floor is ground, and its ceiling is none; whatever is beside it, small or large
    for inside_out in [false, true] {
        for beside in [None, Some((false, 0.5)), Some((true, 0.5)), Some((false, 9.0)), Some((true, 9.0))] {
            let mut all = vec![(inside_out, [0.0; 3], 4.0), (!inside_out, [0.025, 0.025, 0.125], 2.0)];
            all.extend(beside.map(|(inside_out, size)| (inside_out, [1.0, 0.0, 0.0], size)));
            let said = format!("{inside_out}, {beside:?}");
            assert_eq!(heights(&boxes(&all), [0.07, 0.07]), [4.0 * high, 0.125], "{said}");
            if let Some((_, size)) = beside {
                assert_eq!(heights(&boxes(&all), [1.001, 0.001]), [size * high], "{said}");
            }
            // a table in the hall, and one that is mirrored
            for way in [inside_out, !inside_out] {
                all.push((way, [0.03, 0.03, 0.125], 0.5));
                let expected = [4.0 * high, 0.125 + 0.5 * high, 0.125];
                assert_eq!(heights(&boxes(&all), [0.031, 0.031]), expected, "{said}, {way}");
                all.pop();
            }
        }
    }
}

/// A box from one corner to another, in cells, inside out or not.
#[derive(Clone, Copy)]
struct Block {
    low: [i64; 3],
    high: [i64; 3],
    inside_out: bool,
}

/// Steps of a cell: thirds of it are on the lattice.
const CELL: i64 = 3 * 4096;

/// Whether a slab of so high columns, all as deep, has a cell.
fn is_full(columns: &[i64], depth: i64, [x, y, z]: [i64; 3]) -> bool {
    (0..depth).contains(&y) && z >= 0 && usize::try_from(x).is_ok_and(|x| columns.get(x).is_some_and(|h| z < *h))
}

/// The triangles of a closed slab, in squares of a cell, whose columns are so many cells high and all as deep, and of
/// blocks.
fn slab_and_blocks(columns: &[i64], depth: i64, blocks: &[Block]) -> Vec<[[i64; 3]; 3]> {
    let mut triangles = Vec::new();
    // a square with an axis upright on it, against the clock as seen from its tip
    let mut square = |at: [i64; 3], size: [i64; 3], axis: usize, outward: bool| {
        let corner = |u: i64, v: i64| {
            let mut p = at;
            p[(axis + 1) % 3] += u * size[(axis + 1) % 3];
            p[(axis + 2) % 3] += v * size[(axis + 2) % 3];
            p
        };
        let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
        triangles.extend(if outward { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
    };
    for (x, high) in (0..).zip(columns) {
        for (y, z) in (0..depth).flat_map(|y| (0..*high).map(move |z| (y, z))) {
            for (axis, side) in (0..3).flat_map(|axis| [-1, 1].map(|side| (axis, side))) {
                let mut beside = [x, y, z];
                beside[axis] += side;
                if !is_full(columns, depth, beside) {
                    let mut at = [x, y, z];
                    at[axis] += i64::from(side == 1);
                    square(at, [1; 3], axis, side == 1);
                }
            }
        }
    }
    for b in blocks {
        let size = [0, 1, 2].map(|i| b.high[i] - b.low[i]);
        for axis in 0..3 {
            square(b.low, size, axis, b.inside_out);
            let mut at = b.low;
            at[axis] = b.high[axis];
            square(at, size, axis, !b.inside_out);
        }
    }
    triangles
}

fn scene_of(triangles: &[[[i64; 3]; 3]]) -> Scene {
    let mut corners: Vec<[i64; 3]> = triangles.iter().flatten().copied().collect();
    corners.sort_unstable();
    corners.dedup();
    let number = |p: &[i64; 3]| corners.binary_search(p).unwrap() as u32;
    let faces = triangles.iter().map(|t| Triangle { v: [0, 1, 2].map(|i| number(&t[i])), material: 0, source: 0 });
    // z has steps of its own
    let steps: Vec<[i64; 3]> = corners.iter().map(|[x, y, z]| [CELL * x, CELL * y, 16 * CELL * z]).collect();
    lattice_scene(&steps, faces.collect())
}

/// Level ground, by its corners in cells.
fn ground_of(scene: &Scene) -> Vec<[[i64; 3]; 3]> {
    let (ground, _) = repair(scene, &Options { stitch: None, ..Options::default() }).unwrap();
    let cells = |v: u32| ground.positions[v as usize].map(|p| (p / 3.0) as i64);
    let sorted = |t: &Triangle| {
        let mut corners = t.v.map(cells);
        corners.sort_unstable();
        corners
    };
    let mut all: Vec<_> = ground.triangles.iter().map(sorted).collect();
    all.sort_unstable();
    all
}

/// Solids on a hilly slab, sunk into it, touching it from within or hanging over it lie within its box and are none of
/// its cavities. Against the cells that are full, in any order of the triangles.
#[test]
fn blocks_on_a_hilly_slab_are_no_cavities_and_those_within_it_are() {
    let mut state = 1u64;
    let mut random = |below: i64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as i64 % below
    };
    let (mut cavities, mut free, mut nested, mut sunk) = (0, 0, 0, 0);
    for round in 0..400 {
        let (wide, depth) = (8 + random(4), 8);
        let least = 1 + 6 * random(2);
        let columns: Vec<i64> = (0..wide).map(|_| least + random(10 - least)).collect();
        let slab_high = *columns.iter().max().unwrap();
        let mut blocks = Vec::new();
        for number in 0..1 + random(4) {
            let size = [0; 3].map(|_| if number == 0 { 2 + random(5) } else { 1 + random(3) });
            // anywhere in the slab's box, or in that of the first; or a cell within that, and under the least of the
            // columns
            let first = blocks.first().filter(|_| random(2) == 0).map(|b: &Block| (b.low, b.high));
            let within = random(2);
            let top = if within == 1 { *columns.iter().min().unwrap() } else { slab_high };
            let (from, to) = first.unwrap_or(([0; 3], [wide, depth, top]));
            let low = [0, 1, 2].map(|i| from[i] + within + random((to[i] - from[i] - size[i] + 1 - 2 * within).max(1)));
            let high = [0, 1, 2].map(|i| low[i] + size[i]);
            blocks.push(Block { low, high, inside_out: random(2) == 0 });
        }
        let mut triangles = slab_and_blocks(&columns, depth, &blocks);
        let mut edges: Vec<_> = triangles.iter().flat_map(|t| (0..3).map(|k| [t[k], t[(k + 1) % 3]])).collect();
        edges.sort_unstable();
        if edges.windows(2).any(|w| w[0] == w[1]) {
            continue; // it is not exactly closed
        }
        // the shells, of which the slab is the first, and which way each looks; known of larger ones before it is of
        // smaller ones
        let slab = Block { low: [0; 3], high: [wide, depth, slab_high], inside_out: false };
        let shells: Vec<Block> = [slab].into_iter().chain(blocks.iter().copied()).collect();
        let volume = |i: usize| match i {
            0 => columns.iter().sum::<i64>() * depth,
            _ => (0..3).map(|k| shells[i].high[k] - shells[i].low[k]).product(),
        };
        let full = |shell: usize, cell: [i64; 3]| match shell {
            0 => is_full(&columns, depth, cell),
            _ => (0..3).all(|i| (shells[shell].low[i]..shells[shell].high[i]).contains(&cell[i])),
        };
        let mut order: Vec<usize> = (0..shells.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(volume(i)));
        let mut looks_in: Vec<bool> = shells.iter().map(|b| b.inside_out).collect();
        for (at, &i) in order.iter().enumerate().filter(|(_, i)| **i != 0) {
            let b = shells[i];
            // its cells, and those that touch it
            let [x, y, z] = [0, 1, 2].map(|k| b.low[k] - 1..b.high[k] + 1);
            let cells = || {
                let plan = x.clone().flat_map(|x| y.clone().map(move |y| [x, y]));
                plan.flat_map(|[x, y]| z.clone().map(move |z| [x, y, z]))
            };
            let larger = order[..at].iter().copied().filter(|&k| volume(k) > volume(i));
            // around its highest corners: one of the eight cells at each is full
            let tops = [b.low[0], b.high[0]].map(|x| [b.low[1], b.high[1]].map(|y| [x, y, b.high[2]])).concat();
            let is_at =
                |k: usize, [x, y, z]: [i64; 3]| (0..8).any(|c| full(k, [x - (c & 1), y - (c >> 1 & 1), z - (c >> 2)]));
            let around: Vec<usize> = larger.filter(|&k| tops.iter().all(|top| is_at(k, *top))).collect();
            let least = around.iter().map(|&k| volume(k)).min();
            let nearest = || around.iter().copied().filter(|&k| Some(volume(k)) == least);
            let is_within = nearest().all(|k| cells().all(|cell| full(k, cell)));
            let is_against = |k: usize| shells[k].inside_out != b.inside_out && looks_in[k] == shells[k].inside_out;
            let may_be = least.is_some() && nearest().all(is_against);
            nested += usize::from(least.is_some() && is_within && nearest().all(|k| k != 0));
            sunk += usize::from(may_be && !is_within);
            free += usize::from(b.inside_out && !(may_be && is_within) && (0..3).all(|i| b.high[i] <= slab.high[i]));
            if may_be && is_within {
                looks_in[i] = !b.inside_out;
                cavities += 1;
            }
        }
        // what each leaves
        let of_slab = slab_and_blocks(&columns, depth, &[]).len();
        let shell = |t: usize| if t < of_slab { 0 } else { 1 + (t - of_slab) / 12 };
        let area =
            |t: &[[i64; 3]; 3]| (t[1][0] - t[0][0]) * (t[2][1] - t[0][1]) - (t[1][1] - t[0][1]) * (t[2][0] - t[0][0]);
        let is_ground = |(i, t): (usize, &[[i64; 3]; 3])| {
            let mut sorted = *t;
            sorted.sort_unstable();
            (area(t) != 0 && (area(t) > 0) != looks_in[shell(i)]).then_some(sorted)
        };
        let mut expected: Vec<_> = triangles.iter().enumerate().filter_map(is_ground).collect();
        expected.sort_unstable();
        let said =
            format!("{columns:?} {:?}", blocks.iter().map(|b| (b.low, b.high, b.inside_out)).collect::<Vec<_>>());
        assert_eq!(ground_of(&scene_of(&triangles)), expected, "{said}");
        if round % 4 == 0 {
            heights(&scene_of(&triangles), [1.0, 1.0]);
        }
        for i in (1..triangles.len()).rev() {
            triangles.swap(i, random(i as i64 + 1) as usize);
            triangles[i].rotate_left(random(3) as usize);
        }
        assert_eq!(ground_of(&scene_of(&triangles)), expected, "{said}");
    }
    assert!(cavities > 20 && free > 20 && nested > 5 && sunk > 20, "{cavities} {free} {nested} {sunk}");
}

/// The triangles of a pyramid with its base at this height, and its tip that far above, in cells; mirrored.
fn mirrored_pyramid(base: i64, tip: i64) -> Vec<[[i64; 3]; 3]> {
    let [a, b, c, d] = [[2, 2, base], [6, 2, base], [6, 6, base], [2, 6, base]];
    let top = [4, 4, base + tip];
    // outside out they would run the other way
    let sides = [[a, top, b], [b, top, c], [c, top, d], [d, top, a]];
    sides.into_iter().chain([[a, b, c], [a, c, d]]).collect()
}

/// A rock that is sunk into the ground keeps its tip as long as that is free or reaches to the top, however it is
/// wound.
#[test]
fn a_pyramid_sunk_into_a_slab_is_a_cavity_only_with_its_tip_below_the_top() {
    let (high, tall) = (20, 10);
    // so high that both are in one slab's box
    let mut columns = [high; 9];
    columns[0] = 40;
    for base in [5, 9, 10, 11, 12, 14, 16, 18, 20, 25] {
        let slab = slab_and_blocks(&columns, 8, &[]);
        let pyramid = mirrored_pyramid(base, tall);
        let triangles: Vec<_> = slab.iter().chain(&pyramid).copied().collect();
        let mut ground = ground_of(&scene_of(&triangles));
        let of_slab = ground_of(&scene_of(&slab));
        assert!(of_slab.iter().all(|t| ground.contains(t)), "{base}");
        ground.retain(|t| !of_slab.contains(t));
        let expected = if base + tall >= high { &pyramid[..4] } else { &pyramid[4..] };
        let mut expected: Vec<_> = expected.to_vec();
        expected.iter_mut().for_each(|t| t.sort_unstable());
        expected.sort_unstable();
        assert_eq!(ground, expected, "{base}");
        heights(&scene_of(&triangles), [12.0, 12.0]);
    }
}

/// A house in a cave keeps its roof where its foundations reach below the floor of that, which is in the rock, and
/// however it is wound.
#[test]
fn a_house_sunk_into_the_floor_of_a_cave_is_no_cavity() {
    let cave = Block { low: [1, 1, 2], high: [8, 7, 12], inside_out: true };
    for (base, roof, inside_out) in
        [(2, 6), (1, 6), (2, 4), (0, 11)].into_iter().flat_map(|(b, r)| [(b, r, true), (b, r, false)])
    {
        let house = Block { low: [3, 3, base], high: [5, 5, roof], inside_out };
        let triangles = slab_and_blocks(&[20; 9], 8, &[cave, house]);
        let scene = scene_of(&triangles);
        let mut levels: Vec<i64> = ground_of(&scene).iter().map(|t| t[0][2]).collect();
        levels.sort_unstable();
        levels.dedup();
        assert_eq!(levels, [2, roof, 20], "{base} {inside_out}");
        heights(&scene, [12.0, 12.0]);
    }
}

/// A shell with too much around it is no cavity: what that costs is bounded.
#[test]
fn a_cavity_has_so_many_triangles_around_it_at_most() {
    // a box within another with many needles in its top, beside one that is as large as their box: they lie over the
    // box within
    for (needles, is_cavity) in [(4095, true), (4096, false)] {
        let (side, high, lowest) = (4200, 100, 100);
        let corners = |high: i64, low: i64| [[0, 0, low], [side, 0, high], [side, side, high], [0, side, low]];
        let ([a, b, c, d], [e, f, g, h]) = (corners(0, 0), corners(high, lowest));
        let mut triangles =
            vec![[a, c, b], [a, d, c], [c, d, h], [c, h, g], [d, a, e], [d, e, h], [a, b, f], [a, f, e]];
        // the edge across from the needles, from f to g
        let posts: Vec<[i64; 3]> =
            [f].into_iter().chain((3..needles + 2).map(|y| [side, y, high])).chain([g]).collect();
        for pair in posts.windows(2) {
            triangles.extend([[e, pair[0], pair[1]], [b, pair[1], pair[0]]]);
        }
        triangles.extend([[e, g, h], [b, c, g]]);
        let within = Block { low: [3000, 1, 9], high: [4000, 2, 99], inside_out: true };
        triangles.extend(slab_and_blocks(&[], 0, &[within]));
        let ground = ground_of(&scene_of(&triangles));
        let at = |z: i64| ground.iter().filter(|t| t.iter().all(|p| p[2] == z)).count();
        assert_eq!([at(9), at(99)], if is_cavity { [2, 0] } else { [0, 2] }, "{needles}");
    }
}

/// Turned walls stand upright but for rounding, which must not decide which way a triangle looks: not by the order of
/// its corners, and not otherwise in the proof than in the build.
#[test]
fn turned_walls_are_judged_alike_by_build_and_proof() {
    let mut seen = 0;
    for degrees in 1..90 {
        let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
        // a box with a corner more in the foot of a wall
        let mut scene = closed_box();
        let corners: Vec<[f64; 3]> =
            (0..8).map(|k| [10 * (k & 1), 6 * (k >> 1 & 1), 4 * (k >> 2)]).map(|p| p.map(f64::from)).collect();
        let turn = |[x, y, z]: [f64; 3]| [cos * x - sin * y, sin * x + cos * y, z];
        scene.positions = corners.into_iter().chain([[3.0, 0.0, 0.0]]).map(turn).collect();
        // of the bottom and of the wall at its edge from 0 to 1
        let divided = [[8, 0, 2], [8, 2, 3], [8, 3, 1], [0, 8, 4], [8, 5, 4], [8, 1, 5]];
        scene.triangles.retain(|t| ![0, 1].iter().all(|v| t.v.contains(v)) && t.v != [0, 2, 3] && t.v != [0, 5, 4]);
        scene.triangles.extend(divided.map(|v| Triangle { v, material: 0, source: 0 }));
        for undersides in [Undersides::Auto, Undersides::Ceiling] {
            let options = Options { undersides, ..Options::default() };
            let mut counts = Vec::new();
            for _ in 0..3 {
                let built = build(&scene, &options).unwrap();
                let t = Terrain::open_verified(&built.image).unwrap();
                let agreed = source_error(&t, &scene, &options, 1000);
                let lost = agreed.lost.iter().find(|l| l.cause == "underside").map(|l| l.triangles);
                assert!(
                    agreed.holds() && lost == Some(built.report.left_out.ceilings),
                    "{degrees} {undersides:?}: {agreed:?}"
                );
                counts.push((built.report.left_out.ceilings, t.identity()));
                scene.triangles.iter_mut().for_each(|t| t.v.rotate_left(1));
            }
            assert!(counts.iter().all(|c| *c == counts[0]), "{degrees} {undersides:?}");
            seen += usize::from(counts[0].0 > 3);
        }
    }
    assert!(seen > 5, "{seen} with walls that count");
}

#[test]
fn open_fixtures_keep_every_triangle() {
    for scene in [fixtures::bridge(), fixtures::curb(), fixtures::town(2), fixtures::soup(3)] {
        let all = repair(&scene, &Options { stitch: None, ..Options::default() }).unwrap().1;
        assert_eq!((all.left_out.ceilings, all.triangles), (0, Oracle::new(&scene).len() as u64));
    }
}

#[test]
fn obstacles_and_excluded_materials_are_left_out() {
    let mut scene = fixtures::mats();
    scene.materials[1].include = false;
    scene.materials[2].obstacle = true;
    let built = build(&scene, &Options::default()).unwrap();
    let r = &built.report;
    assert_eq!((r.triangles, r.left_out.excluded, r.left_out.obstacles), (2, 2, 2));
    let t = Terrain::open_verified(&built.image).unwrap();
    let found = [5.0, 15.0, 25.0].map(|x| t.closest([x, 5.0, 0.0]).found());
    assert_eq!(found, [true, false, false]);
    let names: Vec<&str> = (0..3).map(|m| t.material_name(m)).collect();
    assert_eq!(names, ["", "Concrete", "Grass"], "the table keeps them");
    let flags: Vec<u32> = t.materials().iter().map(|m| m.flags).collect();
    assert_eq!(flags, [1, 0, 0]);
    scene.materials.iter_mut().for_each(|m| m.include = false);
    assert!(build(&scene, &Options::default()).is_err(), "no ground is left");
}

/// Triangles of several sources, as they are wound, in steps.
fn sources(those: &[Vec<Corners>]) -> Scene {
    let triangles = those.iter().flatten().count() as u32;
    let source = |source: u16, count: usize| std::iter::repeat_n(source, count);
    let of = (0..).zip(those).flat_map(|(number, t)| source(number, t.len()));
    let corners: Vec<[i64; 3]> = those.iter().flatten().flatten().copied().collect();
    let all =
        (0..triangles).zip(of).map(|(i, source)| Triangle { v: [3 * i, 3 * i + 1, 3 * i + 2], material: 0, source });
    lattice_scene(&corners, all.collect())
}

/// Nothing is closed that was open.
fn unstitched() -> Options {
    Options { stitch: None, ..Options::default() }
}

/// Two solids of one object that cross, of which the lesser is wound inside out and sticks out of the other, but not
/// out of its box.
#[test]
fn a_mirrored_solid_that_sticks_out_of_another_keeps_its_top() {
    let corners: [[i64; 3]; 16] = [
        [-10, 0, 0],
        [0, -10, 0],
        [10, 0, 0],
        [0, 10, 0],
        [-10, 0, 5],
        [0, -10, 5],
        [10, 0, 5],
        [0, 10, 5],
        [-4, -4, 0],
        [-8, -4, 0],
        [-8, -6, 0],
        [-4, -6, 0],
        [-4, -4, 3],
        [-8, -4, 3],
        [-8, -6, 3],
        [-4, -6, 3],
    ];
    let large = [[1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 4, 8], [3, 8, 7], [4, 1, 5], [4, 5, 8]];
    let its_ends = [[1, 3, 2], [1, 4, 3], [5, 6, 7], [5, 7, 8]];
    let small = [[14, 10, 9], [13, 14, 9], [15, 11, 10], [14, 15, 10], [16, 12, 11], [15, 16, 11], [13, 9, 12]];
    let its_rest = [[16, 13, 12], [10, 11, 9], [11, 12, 9], [15, 14, 13], [16, 15, 13]];
    let faces: Vec<[usize; 3]> = [&large[..], &its_ends, &small, &its_rest].concat();
    let turn = |[x, y, z]: [i64; 3]| [-y, x, z];
    let mut turned = corners;
    for quarter in 0..4 {
        let triangles: Vec<Corners> = faces.iter().map(|f| f.map(|v| turned[v - 1].map(|v| 4096 * v))).collect();
        let scene = sources(&[triangles]);
        let built = build(&scene, &unstitched()).unwrap();
        // the bottoms of both
        assert_eq!((built.report.triangles, built.report.left_out.ceilings), (4, 4), "{quarter}");
        let t = Terrain::open_verified(&built.image).unwrap();
        let [x, y, _] = (0..quarter).fold([-7, -5, 0], |p, _| turn(p)).map(|v| v as f64);
        let answer = t.closest([x, y, 0.0]);
        // z has steps of its own: a metre there is a sixteenth here
        assert_eq!((answer.status, t.z_f64(&answer.hit)), (Status::Found, 3.0 / 16.0), "{quarter}");
        turned = turned.map(turn);
    }
}

/// A point of a shape, before it is put somewhere.
type F = [f64; 3];

/// A closed solid in the cube from -1 to 1, outside out.
fn solid(r: &mut Random) -> Vec<[F; 3]> {
    // a polygon cut into triangles
    let prism = |polygon: &[[f64; 2]], cut: &[[usize; 3]]| {
        let at = |i: usize, z: f64| [polygon[i][0], polygon[i][1], z];
        let mut all: Vec<[F; 3]> = Vec::new();
        for &[a, b, c] in cut {
            all.extend([[at(a, 1.0), at(b, 1.0), at(c, 1.0)], [at(a, -1.0), at(c, -1.0), at(b, -1.0)]]);
        }
        for i in 0..polygon.len() {
            let k = (i + 1) % polygon.len();
            all.extend([[at(i, -1.0), at(k, -1.0), at(k, 1.0)], [at(i, -1.0), at(k, 1.0), at(i, 1.0)]]);
        }
        all
    };
    let fan: Vec<[usize; 3]> = (1..7).map(|i| [0, i, i + 1]).collect();
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let mut all = match r.below(6) {
        0 | 1 => prism(&square, &fan[..2]),
        2 => {
            let [a, b, c, d] = [[-1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]];
            vec![[a, b, c], [a, c, d], [a, d, b], [b, d, c]]
        }
        3 => {
            let tip = |axis: usize, side: f64| [0, 1, 2].map(|i| if i == axis { side } else { 0.0 });
            let signs = (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| f64::from(1 - 2 * bit)));
            let face = |[x, y, z]: F| {
                let [a, b, c] = [tip(0, x), tip(1, y), tip(2, z)];
                if x * y * z > 0.0 { [a, b, c] } else { [a, c, b] }
            };
            signs.map(face).collect()
        }
        4 => {
            let corners =
                [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.5, 1.0], [0.0, 1.0], [-1.0, 0.5], [-1.0, -1.0], [0.0, -1.0]];
            let count = 3 + r.below(6);
            if count < 5 { prism(&square[..3], &fan[..1]) } else { prism(&corners[..count], &fan[..count - 2]) }
        }
        _ => {
            let u = [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]];
            let u = u.map(|p: [i32; 2]| p.map(|v| f64::from(v) / 1.5 - 1.0));
            prism(&u, &[[0, 1, 5], [1, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]])
        }
    };
    if r.below(4) == 0 {
        let middle = |a: F, b: F| [0, 1, 2].map(|i| (a[i] + b[i]) / 2.0);
        let four = |[a, b, c]: [F; 3]| {
            let [d, e, f] = [middle(a, b), middle(b, c), middle(c, a)];
            [[a, d, f], [d, b, e], [f, e, c], [d, e, f]]
        };
        all = all.into_iter().flat_map(four).collect();
    }
    all
}

/// Solids in a source: in each other, apart, crossing or touching, wound either way.
fn source(r: &mut Random) -> Vec<Corners> {
    // on a grid so coarse that they touch, or anywhere
    let grid = [240, 60, 1, 1][r.below(4)];
    let mut all = Vec::new();
    let mut boxes = vec![([0i64; 3], [1200i64; 3])];
    for _ in 0..1 + r.below(6) {
        let shape = solid(r);
        // within the last or another, or anything near one
        let nested = r.below(6) > 0;
        let from = if r.below(3) > 0 { boxes.len() - 1 } else { r.below(boxes.len()) };
        let (middle, whole) = boxes[from];
        let half = whole.map(|h| h * if nested { r.within(20, 70) } else { r.within(30, 130) } / 100);
        let half = half.map(|h| ((h + grid / 2) / grid * grid).max(grid));
        let middle = [0, 1, 2].map(|i| {
            let off = if nested { (whole[i] - half[i]).max(0) / 4 } else { half[i] };
            (middle[i] + r.within(-off, off) + grid / 2).div_euclid(grid) * grid
        });
        boxes.push((middle, half));
        // a quaternion: of a right angle, or any
        let any = grid == 1 && r.below(2) == 0;
        let [w, x, y, z] = [0; 4].map(|_| r.within(-9, 9) as f64);
        let n = (w * w + x * x + y * y + z * z).max(1.0);
        let turn = |p: F| {
            let rows = [
                [w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
                [2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)],
                [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ];
            rows.map(|row| (row[0] * p[0] + row[1] * p[1] + row[2] * p[2]) / n)
        };
        let (first, swap, flip) = (r.below(3), r.below(2) == 1, [0; 3].map(|_| r.below(2) == 1));
        let axes = [first, (first + 1 + usize::from(swap)) % 3, (first + 2 - usize::from(swap)) % 3];
        let put = |p: F| {
            let p = [0, 1, 2].map(|i| if flip[i] { -p[axes[i]] } else { p[axes[i]] } * half[i] as f64);
            let p = if any { turn(p) } else { p };
            [0, 1, 2].map(|i| p[i].round() as i64 + middle[i])
        };
        // axes that are swapped and flipped leave about half of them inside out
        all.extend(shape.iter().map(|t| t.map(put)));
    }
    all
}

/// Against an oracle that holds each shell against each, and each triangle against each: random solids in one or two
/// sources.
#[test]
fn random_closed_solids_look_as_the_oracle_says() {
    let long = std::env::var_os("HARDPAN_LONG").is_some();
    let mut r = Random(11);
    let (mut cavities, mut stuck, mut deep, mut open, mut shells) = (0, 0, 0, 0, 0);
    let scenes = if long { 10_000 } else { 1_000 };
    for number in 0..scenes {
        let those: Vec<Vec<Corners>> = (0..1 + r.below(2)).map(|_| source(&mut r)).collect();
        let mut down = Vec::new();
        for judged in those.iter().map(|t| shells::judge(t)) {
            cavities += judged.cavities;
            stuck += judged.stuck;
            deep += usize::from(judged.depth > 1);
            open += usize::from(judged.shells == 0);
            shells += judged.shells;
            down.extend(judged.down);
        }
        let scene = sources(&those);
        let built = build(&shuffled(&scene, number), &unstitched()).unwrap();
        assert_eq!(built.report.left_out.ceilings, down.iter().filter(|d| **d).count() as u64, "{number}");
        let mut ground = scene.clone();
        let mut of = down.iter();
        ground.triangles.retain(|_| !of.next().unwrap());
        let oracle = Oracle::new(&ground);
        // each triangle that is ground
        let (repaired, _) = repair(&scene, &unstitched()).unwrap();
        let corners = |t: &Triangle| t.v.map(|v| repaired.positions[v as usize]);
        let mut stored: Vec<[[f64; 3]; 3]> = repaired.triangles.iter().map(corners).collect();
        let mut wanted: Vec<[[f64; 3]; 3]> = (0..oracle.len()).map(|i| oracle.triangle(i).map(metres)).collect();
        for all in [&mut stored, &mut wanted] {
            all.iter_mut().for_each(|t| t.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap()));
            all.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap());
        }
        assert_eq!(stored, wanted, "{number}");
        // what an image of it answers, and what its proof takes for undersides
        let t = Terrain::open_verified(&built.image).unwrap();
        let agreed = source_error(&t, &scene, &unstitched(), 1);
        let undersides = agreed.lost.iter().find(|l| l.cause == "underside").map(|l| l.triangles);
        assert!(agreed.holds() && undersides == Some(built.report.left_out.ceilings), "{number}: {agreed:?}");
        let merge = t.header().layer_merge;
        for p in points(&oracle, 8, number) {
            let truth: Vec<i64> = oracle.layers(p.x, p.y, merge).iter().map(|g| g.z).collect();
            let mut hits = [Hit::NONE; 64];
            let layers = t.layers(Point { z: p.z + Q, ..p }, &mut hits);
            let found: Vec<i64> = hits[..layers.written].iter().map(|hit| hit.z).collect();
            assert_eq!((layers.total, found), (truth.len(), truth), "{number} {p:?}");
        }
    }
    println!(
        "{scenes} scenes: {shells} shells, {cavities} cavities, {stuck} that meet what is around, {deep} nested, {open} open"
    );
    let least = scenes as usize / 10;
    assert!(cavities > least && stuck > least && deep > least / 4 && open > least / 4 && shells > 20 * least);
}

/// A corridor in closed ground that a shaft crosses, a tower or a cavity like itself, keeps its floor; and so does one
/// whose own floor is divided finely.
#[test]
fn a_corridor_that_a_shaft_crosses_keeps_its_floor() {
    let block = |low, high, inside_out| Block { low, high, inside_out };
    let ground = block([-1000, -1000, -600], [1000, 1000, 0], false);
    for quarter in 0..4 {
        let turn = |b: Block| {
            let at = |[x, y, z]: [i64; 3]| (0..quarter).fold([x, y, z], |[x, y, z], _| [-y, x, z]);
            let [p, q] = [at(b.low), at(b.high)];
            block([0, 1, 2].map(|i| p[i].min(q[i])), [0, 1, 2].map(|i| p[i].max(q[i])), b.inside_out)
        };
        for (inside_out, top) in [(false, 100), (true, -20)] {
            let corridor = block([-200, -15, -100], [200, 15, -70], true);
            let shaft = block([50, -25, -500], [100, 25, top], inside_out);
            let blocks = [ground, corridor, shaft].map(turn);
            let ground = ground_of(&scene_of(&slab_and_blocks(&[], 0, &blocks)));
            let at = |z: i64| ground.iter().filter(|t| t.iter().all(|p| p[2] == z)).count();
            // the ground, the corridor's floor and not its roof; the shaft's floor as a cavity, else its top
            let shafts = if inside_out { [2, 0] } else { [0, 2] };
            assert_eq!(
                [at(0), at(-100), at(-70), at(-500), at(top)],
                [2, 2, 0, shafts[0], shafts[1]],
                "{quarter} {inside_out}"
            );
        }
    }
}
