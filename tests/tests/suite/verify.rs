//! Proofs of `verify`, held against planted faults: sums are mended after each, so only the proof itself can see it.

use crate::common::{as_given, curb_and_patch, hills, image};
use crate::handmade;
use crate::stitch::heap;
use hardpan::{OpenError, Point, Terrain, Trace, VerifyError, format};
use hardpan_builder::demo::fixtures;
use hardpan_builder::image::decode;
use hardpan_builder::{
    Material, Options, Outcome, Scene, Spot, Triangle, Undersides, Verdict, Verify, build, repair, source_error, verify,
};
use std::collections::BTreeSet;
use verification::bytes::{Aligned, mend_all, mend_head};
use verification::obj;
use verification::oracle::Oracle;
use verification::random::{Random, points};
use verification::seams::{Seam, seams, triangles};

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn set(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}

/// Offset and length of a section, and where its entry stands.
fn section(bytes: &[u8], kind: u32) -> (usize, usize, usize) {
    let at = (0..24).map(|k| 512 + 64 * k).find(|&at| word(bytes, at) == kind).unwrap();
    (number(bytes, at + 8) as usize, number(bytes, at + 16) as usize, at)
}

/// Offset and length of each tile.
fn tiles(bytes: &[u8]) -> Vec<(usize, usize)> {
    let ((table, len, _), (from, ..)) = (section(bytes, 6), section(bytes, 7));
    let records = (table..table + len).step_by(64);
    records.map(|r| (from + number(bytes, r) as usize, number(bytes, r + 8) as usize)).collect()
}

/// Where the head states the most tests of wide bundles.
const WIDE_TESTS: usize = 252;

/// Makes every sum, digest and the identity right again.
fn forge(bytes: &mut Aligned) {
    mend_all(bytes); // the table of tiles has their sums, and a digest of its own
    let (table, ..) = section(bytes, 6);
    let mut all = Vec::new();
    for (k, (at, len)) in tiles(bytes).into_iter().enumerate() {
        let digest = handmade::sha256(&bytes[at..at + len]);
        bytes[table + 64 * k + 32..][..32].copy_from_slice(&digest);
        all.extend(digest);
    }
    let mut content = Vec::new();
    for kind in (0..24).map(|k| word(bytes, 512 + 64 * k)).filter(|kind| *kind != 0).collect::<Vec<_>>() {
        let (at, len, entry) = section(bytes, kind);
        let digest = if kind == 7 { handmade::sha256(&all) } else { handmade::sha256(&bytes[at..at + len]) };
        bytes[entry + 32..entry + 64].copy_from_slice(&digest);
        if word(bytes, entry + 4) & 2 != 0 {
            content.extend(kind.to_le_bytes());
            content.extend(digest);
        }
    }
    let identity = handmade::sha256(&[&bytes[64..512], &content].concat());
    bytes[32..64].copy_from_slice(&identity);
    mend_all(bytes);
}

/// Gives the blocks of a node their numbers, those of nodes below it first, and says how many blocks there are so far.
fn renumber(bytes: &mut [u8], tile: usize, node: usize, mut next: u32) -> u32 {
    let entries = tile + 4 * word(bytes, node + 16) as usize;
    let (dense, mut own) = (bytes[node + 4] & 1 == 1, 0);
    for k in 0..1usize << (bytes[node + 2] + bytes[node + 3]) {
        let e = word(bytes, entries + if dense { 64 * k } else { 4 * k });
        let to = match dense {
            true => (e == 4 << 16).then(|| word(bytes, entries + 64 * k + 36)),
            false => (e >> 29 == 2).then_some(e & format::entry::PLACE),
        };
        if let Some(to) = to {
            next = renumber(bytes, tile, tile + 4 * to as usize, next);
        }
        own += u32::from(dense || e >> 29 == 3);
    }
    set(bytes, node + 28, next);
    next + own
}

/// Where the nodes of a tile stand, and its blocks of cells, as offsets in the image.
fn index(bytes: &[u8], tile: usize) -> [Vec<usize>; 2] {
    let (mut nodes, mut found) = (vec![tile + 4 * format::ROOT], Vec::new());
    let mut next = 0;
    while let Some(&node) = nodes.get(next) {
        next += 1;
        let dense = bytes[node + 4] & 1 == 1;
        let count = 1usize << (bytes[node + 2] + bytes[node + 3]);
        let entries = tile + 4 * word(bytes, node + 16) as usize;
        for k in 0..count {
            let block = if dense {
                entries + 64 * k
            } else {
                let e = word(bytes, entries + 4 * k);
                let to = tile + 4 * (e & format::entry::PLACE) as usize;
                match e >> format::entry::SHIFT {
                    format::entry::NODE => nodes.push(to),
                    format::entry::BLOCK => found.push(to),
                    _ => {}
                }
                continue;
            };
            if word(bytes, block) == format::word::NODE << format::word::GUESS {
                nodes.push(tile + 4 * word(bytes, block + 36) as usize);
            } else {
                found.push(block);
            }
        }
    }
    [nodes, found]
}

/// Where the blocks of cells of a tile stand.
fn blocks(bytes: &[u8], tile: usize) -> Vec<usize> {
    let [_, blocks] = index(bytes, tile);
    blocks
}

/// Home words that name triangles: all of them, as offsets.
fn homes(bytes: &[u8]) -> Vec<usize> {
    let all =
        tiles(bytes).into_iter().flat_map(|(tile, _)| blocks(bytes, tile)).flat_map(|b| (0..8).map(move |c| b + 4 * c));
    all.filter(|&at| word(bytes, at) & format::word::MASK != 0).collect()
}

fn proven(bytes: &[u8]) -> Verdict {
    verify(bytes, &Verify::default()).unwrap()
}

/// The checks that fail.
fn failing(bytes: &[u8]) -> Vec<&'static str> {
    proven(bytes).checks.iter().filter(|c| c.outcome == Outcome::Fail).map(|c| c.name).collect()
}

#[track_caller]
fn passes(name: &str, bytes: &[u8], exhaustive: bool) -> Verdict {
    let verdict = verify(bytes, &Verify { exhaustive, ..Verify::default() }).unwrap();
    assert!(verdict.passed(), "{name}: {:#?}", verdict.failed());
    verdict
}

fn small() -> Vec<(&'static str, Scene)> {
    vec![
        ("bridge", fixtures::bridge()),
        ("hole", fixtures::hole()),
        ("curb and patch", curb_and_patch()),
        ("mats", fixtures::mats()),
        ("soup", fixtures::soup(60)),
        ("hills", hills(20, 1.0)),
    ]
}

/// A head that says of wide bundles that fewer are tested than are would promise cheap tests: the kernel refuses it.
#[test]
fn by_02_no_query_tests_more_of_wide_bundles_than_the_head_says() {
    let far = |scale: f64| {
        let mut scene = hills(20, 1.0);
        let mut large = fixtures::flat();
        large.positions.iter_mut().for_each(|p| *p = [p[0] * scale, p[1] * scale, 40.0]);
        let first = scene.positions.len() as u32;
        scene.positions.extend(large.positions);
        scene.triangles.extend(large.triangles.iter().map(|t| Triangle { v: t.v.map(|v| v + first), ..*t }));
        scene
    };
    for (name, scene, most) in
        [("hills", hills(20, 1.0), 0), ("below small", far(0.2), 0), ("below large", far(60.0), 2)]
    {
        let mut bytes = Aligned::new(&image(&scene));
        assert_eq!(word(&bytes, WIDE_TESTS), most, "{name}");
        passes(name, &bytes, false);
        let terrain = Terrain::open(&bytes).unwrap();
        let tested = |p: [f64; 3]| {
            let mut tests = [0, 0];
            terrain.explain(p, |seen| {
                if let Trace::Test { record, .. } = seen {
                    tests[usize::from(bytes[128 * record + 13] & 3 == 2)] += 1;
                }
            });
            tests
        };
        let [low, high] = terrain.bounds();
        let middle = [0, 1].map(|i| (low[i] + high[i]) / 2.0); // on an edge of both large triangles
        let places = (0..400).map(|k| [0, 1].map(|i| middle[i] + 0.05 * f64::from([k % 20, k / 20][i] - 10)));
        let counts: Vec<[u32; 2]> = places.map(|[x, y]| tested([x, y, 1e3])).collect();
        assert_eq!(counts.iter().map(|c| c[1]).max(), Some(most), "{name}");
        assert!(counts.iter().any(|c| c[0] > 0), "{name}: others are tested too");
        let kernel = |bytes: &[u8]| match Terrain::open_verified(bytes) {
            Err(OpenError::Content(e)) => Some(e),
            other => other.map(|_| None).unwrap(),
        };
        for stated in 0..4 {
            set(&mut bytes, WIDE_TESTS, stated);
            forge(&mut bytes);
            assert!(Terrain::open(&bytes).is_ok(), "the head alone does not tell");
            let told = kernel(&bytes);
            assert_eq!(
                matches!(told, Some(VerifyError::BoundExceeded(_))),
                stated < most,
                "{name}: {stated}, {told:?}"
            );
            let expected: Vec<&str> = if stated < most { vec!["bounds"] } else { vec![] };
            assert_eq!(failing(&bytes), expected, "{name}: {stated}");
        }
    }
}

#[test]
fn by_02_what_the_builder_makes_is_proven_and_asked() {
    for (name, scene) in small().into_iter().chain([("flat", fixtures::flat()), ("far", fixtures::far())]) {
        let verdict = passes(name, &image(&scene), true);
        println!("{name}: {}", verdict.check("edges").unwrap().looked_at);
        if ["hills", "hole", "flat"].contains(&name) {
            let seams = verdict.check("seams").unwrap();
            assert_eq!(seams.outcome, Outcome::Pass, "{name}: {:?}", seams.faults);
        }
    }
    for (name, scene) in [("bridge", fixtures::bridge()), ("hills", hills(20, 1.0))] {
        let options = hardpan_builder::Options { tile_log2: Some(14), ..Default::default() };
        passes(name, &build(&scene, &options).unwrap().image, true);
    }
    for seed in 0..24 {
        passes("soup", &image(&fixtures::soup(seed)), true);
    }
}

/// The image without the triangle over a cell's middle among those that its home word names, if it names others.
fn cleared(clean: &Aligned, at: usize) -> Option<Aligned> {
    let w = word(clean, at);
    let rest = w & format::word::MASK & !(1 << (w >> format::word::GUESS & 15));
    let mut bytes = Aligned::new(clean);
    let others = w & !format::word::MASK & !(15 << format::word::GUESS) | rest;
    set(&mut bytes, at, others | rest.trailing_zeros() << format::word::GUESS);
    forge(&mut bytes);
    (rest != 0).then_some(bytes)
}

#[test]
fn by_02_a_cleared_bit_of_a_mask() {
    for (name, scene) in [("hills", hills(40, 1.0)), ("bridge", fixtures::bridge()), ("hole", fixtures::hole())] {
        let clean = Aligned::new(&image(&scene));
        let (mut tried, mut not) = (0, 0);
        let homes = homes(&clean);
        for &at in homes.iter().step_by(homes.len() / 60 + 1) {
            let Some(bytes) = cleared(&clean, at) else {
                not += 1;
                continue;
            };
            assert!(
                failing(&bytes).contains(&"cover"),
                "{name}: {:08x} at {at}: {:?}",
                word(&clean, at),
                failing(&bytes)
            );
            tried += 1;
        }
        assert!(tried > 3, "{name}: {tried} tried, {not} not");
    }
}

/// A convex polygon of exact points x / w, y / w, without what lies beyond a line: kept is where a x + b y <= c w.
fn clipped(polygon: &[[i128; 3]], [a, b, c]: [i128; 3]) -> Vec<[i128; 3]> {
    let side = |p: &[i128; 3]| c * p[2] - a * p[0] - b * p[1];
    let mut kept = Vec::new();
    for (k, p) in polygon.iter().enumerate() {
        let q = &polygon[(k + 1) % polygon.len()];
        let (s, t) = (side(p), side(q));
        kept.extend((s >= 0).then_some(*p));
        if (s > 0 && t < 0) || (s < 0 && t > 0) {
            // p and q in the shares |t| / q's w and |s| / p's w: one homogeneous sum
            let [s, t] = [s.abs(), t.abs()];
            let p: [i128; 3] = [0, 1, 2].map(|i| t * p[i] + s * q[i]);
            let gcd = p.iter().fold(0, |g, v| {
                let (mut g, mut v) = (g, v.abs());
                while v != 0 {
                    (g, v) = (v, g % v);
                }
                g
            });
            kept.push(p.map(|v| v / gcd));
        }
    }
    kept
}

/// Whether a closed triangle has a place in common with a half-open rectangle, by cutting it; the verifier has no such
/// code.
fn meets_by_cutting(corners: [[i32; 3]; 3], low: [i64; 2], size: [i64; 2]) -> bool {
    let mut polygon: Vec<[i128; 3]> = corners.iter().map(|c| [c[0].into(), c[1].into(), 1]).collect();
    let [low, high] = [low, [low[0] + size[0], low[1] + size[1]]].map(|v| v.map(i128::from));
    for line in [[-1, 0, -low[0]], [1, 0, high[0]], [0, -1, -low[1]], [0, 1, high[1]]] {
        polygon = clipped(&polygon, line);
    }
    // a convex set has a place west of the eastern and one south of the northern border only if it has one that is both
    (0..2).all(|i| polygon.iter().any(|p| p[i] < high[i] * p[2]))
}

/// FORMAT.md, "Bundle": corners of a triangle, by the node that names it.
fn corners_of(bytes: &[u8], tile: usize, node: usize, number: u32, part: usize) -> [[i32; 3]; 3] {
    let at = tile + 128 * (word(bytes, node + 20) + number) as usize;
    let half = |k: usize| u16::from_le_bytes([bytes[at + 2 * k], bytes[at + 2 * k + 1]]);
    let long = |k: usize| word(bytes, at + 4 * k);
    let base = [0, 1].map(|i| word(bytes, node + 8 + 4 * i) as i32 + (i32::from(half(i) as i16) << bytes[node + 5]));
    [0, 1, 2].map(|corner| {
        let i = usize::from(half(7 + 4 * corner + part / 4) >> (4 * (part % 4)) & 15);
        match half(6) >> 8 & 3 {
            0 => {
                let [x, y] = [0, 1].map(|k| i32::from(half(32 + 2 * i + k)));
                let plane = (i32::from(half(4) as i16) * x + i32::from(half(5) as i16) * y) >> 8;
                [base[0] + x, base[1] + y, long(1) as i32 + plane + i32::from(half(18 + i))]
            }
            1 => {
                let [a, b] = [long(8 + 2 * i), long(9 + 2 * i)];
                let z = (a >> 20 | b >> 20 << 12) as i32;
                [base[0] + (a & 0xF_FFFF) as i32, base[1] + (b & 0xF_FFFF) as i32, long(1) as i32 + z]
            }
            _ => [0, 1, 2].map(|k| long(8 + 3 * i + k) as i32),
        }
    })
}

/// The rule of completeness: any one reference is missed if the closed triangle meets the half-open cell, at one point
/// of its border, too, and no other one is. Sums are right, so only the proof can know.
#[test]
fn by_02_no_reference_of_a_cell_is_spare() {
    let small = Options { tile_log2: Some(15), ..as_given() };
    let (mut missed, mut spare, mut touching) = (0, 0, 0);
    let scenes = [
        ("hills", hills(16, 1.0), small),
        ("hole", fixtures::hole(), as_given()),
        ("soup", fixtures::soup(12), as_given()),
    ];
    for (name, scene, options) in scenes {
        let clean = Aligned::new(&build(&scene, &options).unwrap().image);
        let t = Terrain::open(&clean).unwrap();
        let log2 = t.header().tile_log2;
        let mut cells = Vec::new();
        for (tile, (at, _)) in decode::tiles(&t).zip(tiles(&clean)) {
            // of each node its blocks, with their places
            let mut nodes = vec![(format::ROOT, [tile.record.x, tile.record.y].map(|v| i64::from(v) << log2))];
            while let Some((node, low)) = nodes.pop() {
                let byte = |k: usize| clean[at + 4 * node + k];
                let (log2, side) = ([byte(0), byte(1)], [byte(2), byte(3)]);
                let entries = word(&clean, at + 4 * node + 16) as usize;
                for k in 0..1usize << (side[0] + side[1]) {
                    let place = [k & ((1 << side[0]) - 1), k >> side[0]];
                    let low = [0, 1].map(|i| low[i] + ((place[i] as i64) << log2[i]));
                    let dense = byte(4) & 1 == 1;
                    let e = word(&clean, at + 4 * (entries + k));
                    let block = match (dense, e >> 29) {
                        (true, _) => entries + 16 * k,
                        (false, 3) => (e & format::entry::PLACE) as usize,
                        (false, 2) => {
                            nodes.push(((e & format::entry::PLACE) as usize, low));
                            continue;
                        }
                        _ => continue,
                    };
                    if word(&clean, at + 4 * block) == 4 << 16 {
                        nodes.push((word(&clean, at + 4 * block + 36) as usize, low));
                        continue;
                    }
                    let size = [1i64 << (log2[0] - 2), 1 << (log2[1] - 1)];
                    let mut before = 0;
                    for cell in 0..8 {
                        let count = (word(&clean, at + 4 * block + 32) >> (4 * cell) & 15) as usize;
                        let home = at + 4 * block + 4 * cell;
                        let further = (before..before + count).map(|i| match i {
                            0..6 => at + 4 * (block + 10 + i),
                            _ => at + 4 * (word(&clean, at + 4 * block + 36) as usize + i - 6),
                        });
                        before += count;
                        let low = [low[0] + (cell as i64 & 3) * size[0], low[1] + (cell as i64 >> 2) * size[1]];
                        // a list names no triangle at its place, and stays as it is
                        if word(&clean, home) & 0xFFFF != 0 {
                            let words: Vec<usize> = std::iter::once(home).chain(further).collect();
                            cells.extend(words.into_iter().map(|w| (w, at, node, low, size)));
                        }
                    }
                }
            }
        }
        let all: Vec<_> = cells
            .iter()
            .flat_map(|c| (0..16).filter(|b| word(&clean, c.0) >> b & 1 == 1).map(move |b| (*c, b)))
            .collect();
        for &((at, tile, node, low, size), part) in all.iter().step_by(all.len() / 120 + 1) {
            let w = word(&clean, at);
            let rest = w & 0xFFFF & !(1 << part);
            if rest == 0 {
                continue;
            }
            let corners = corners_of(&clean, tile, tile + 4 * node, w >> 21, part);
            let first = if rest >> (w >> 16 & 15) & 1 == 1 { w >> 16 & 15 } else { rest.trailing_zeros() };
            let mut bytes = Aligned::new(&clean);
            set(&mut bytes, at, w & !0xF_FFFF | first << 16 | rest);
            forge(&mut bytes);
            let told = failing(&bytes).contains(&"cover");
            let meets = meets_by_cutting(corners, low, size);
            assert_eq!(
                told,
                meets,
                "{name}: bit {part} of {w:08x} at {at}: {corners:?} in {low:?} {size:?}: {:?}",
                failing(&bytes)
            );
            let inside = meets_by_cutting(corners, [low[0] + 1, low[1] + 1], [size[0] - 1, size[1] - 1]);
            (missed, spare) = (missed + u32::from(meets), spare + u32::from(!meets));
            touching += u32::from(meets && !inside);
        }
    }
    println!("{missed} missed, {touching} of them beside a border, {spare} spare");
    assert!(missed > 100 && touching > 20 && spare > 10, "{missed}, {touching}, {spare}");
}

#[test]
fn by_01_a_changed_guess() {
    let clean = Aligned::new(&image(&hills(40, 1.0)));
    let at = *homes(&clean).iter().find(|&&at| (word(&clean, at) & format::word::MASK).count_ones() > 2).unwrap();
    let w = word(&clean, at);
    let (mask, guess) = (w & format::word::MASK, w >> 16 & 15);
    let guesses = |wanted: u32| (0..16).find(|g| mask >> g & 1 == wanted && *g != guess);
    let with = |g: u32| {
        let mut bytes = Aligned::new(&clean);
        set(&mut bytes, at, w & !(15 << 16) | g << 16);
        bytes
    };
    // one that the mask does not have
    let mut bytes = with(guesses(0).unwrap());
    forge(&mut bytes);
    assert_eq!(failing(&bytes), ["structure"]);
    // another one of the mask: answers are the same, only the digest knows
    let mut bytes = with(guesses(1).unwrap());
    mend_all(&mut bytes);
    assert_eq!(failing(&bytes), ["digests"]);
    forge(&mut bytes);
    assert_eq!(failing(&bytes), [""; 0]);
}

#[test]
fn by_01_bounds_digests_and_counts() {
    let clean = Aligned::new(&image(&hills(40, 1.0)));
    let head = |at: usize, by: u32| {
        let mut bytes = Aligned::new(&clean);
        let stated = word(&bytes, at);
        set(&mut bytes, at, stated.wrapping_add(by));
        forge(&mut bytes);
        failing(&bytes)
    };
    // nodes, leaves, tests, lines; layers contradict a tile's
    for at in [256, 260, 264, 268] {
        assert_eq!(head(at, u32::MAX), ["bounds"], "head byte {at}");
    }
    assert_eq!(head(156, u32::MAX), ["structure"]);
    // triangles, bundles, references; patch blocks; greatest coordinates; least
    for (at, by) in [(160, u32::MAX), (168, u32::MAX), (184, u32::MAX), (176, 1), (116, 1), (124, 1)] {
        assert_eq!(head(at, by), ["counts"], "head byte {at}");
    }
    assert_eq!(head(104, 1), ["counts", "cover"]);
    for (k, (tile, _)) in tiles(&clean).into_iter().enumerate().take(3) {
        for at in [64, 68, 72, 76] {
            let mut bytes = Aligned::new(&clean);
            let stated = word(&bytes, tile + at);
            set(&mut bytes, tile + at, stated - 1);
            forge(&mut bytes);
            let verdict = proven(&bytes);
            let failed = verdict.failed().unwrap();
            assert_eq!((failed.name, failed.faults.first[0].tile), ("bounds", Some(k as u32)));
        }
    }
    // sums of digests only
    let (table, ..) = section(&clean, 6);
    let (.., tiles_entry) = section(&clean, 7);
    for at in [32, table + 40, tiles_entry + 40, 512 + 33] {
        let mut bytes = Aligned::new(&clean);
        bytes[at] ^= 1;
        mend_all(&mut bytes);
        assert_eq!(failing(&bytes), ["digests"], "byte {at}");
    }
    // and without mending
    let mut bytes = Aligned::new(&clean);
    let (tile, _) = tiles(&bytes)[0];
    bytes[tile + 300] ^= 1;
    let verdict = proven(&bytes);
    assert_eq!(verdict.failed().map(|c| (c.name, c.faults.first[0].tile)), Some(("checksums", Some(0))));
    let mut bytes = Aligned::new(&clean);
    bytes[section(&clean, 2).0] ^= 1;
    assert_eq!(failing(&bytes), ["checksums"]);
    mend_head(&mut bytes);
    assert_eq!(failing(&bytes), ["checksums"]);
}

#[test]
fn by_01_what_no_builder_writes() {
    let options = Options { tile_log2: Some(15), ..as_given() };
    let mut scene = hills(20, 1.0);
    // one far away, so that there are places without pages between
    let first = scene.positions.len() as u32;
    scene.positions.extend([[1000.0, 0.0, 0.0], [1001.0, 0.0, 0.0], [1000.0, 1.0, 0.0]]);
    scene.triangles.push(hardpan_builder::Triangle { v: [first, first + 1, first + 2], ..scene.triangles[0] });
    let clean = Aligned::new(&build(&scene, &options).unwrap().image);
    assert_eq!(failing(&clean), [""; 0]);
    let with = |change: &dyn Fn(&mut Aligned)| {
        let mut bytes = Aligned::new(&clean);
        change(&mut bytes);
        forge(&mut bytes);
        failing(&bytes)
    };
    for kind in 1..=8 {
        let (.., entry) = section(&clean, kind);
        for flags in (0..=4).filter(|&f| f != word(&clean, entry + 4)) {
            assert_eq!(with(&|b| set(b, entry + 4, flags)), ["structure"], "section {kind}, flags {flags}");
        }
    }
    let first_empty = |kind| {
        let (at, len, _) = section(&clean, kind);
        (at..at + len).step_by(4).find(|&at| word(&clean, at) == format::slot::EMPTY).unwrap()
    };
    for at in [4, 5].map(first_empty) {
        for code in [0, 4, 9, 15, u32::MAX] {
            assert_eq!(with(&|b| set(b, at, code)), ["structure"], "code {code} at {at}");
        }
        assert_eq!(with(&|b| set(b, at, format::slot::NOT_IN_IMAGE)), [""; 0]);
    }
    // errors, and what there is without ground
    let put = |at: usize, v: f64| with(&|b| b[at..at + 8].copy_from_slice(&v.to_le_bytes()));
    let (tile, _) = tiles(&clean)[1];
    for v in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e-9] {
        for at in [272, 280, tile + 80, tile + 88] {
            assert_eq!(put(at, v), ["structure"], "{v} at {at}");
        }
        for at in [224, 232, 240] {
            assert_eq!(put(at, v), [if v.is_finite() { "tables" } else { "structure" }], "{v} at {at}");
        }
    }
    // more layers than triangles
    let all = word(&clean, 184);
    assert_eq!(with(&|b| set(b, 156, all)), [""; 0]);
    assert_eq!(with(&|b| set(b, 156, all + 1)), ["structure"]);
    let layers = |by: u32| {
        with(&|b| {
            set(b, 156, all);
            set(b, tile + 56, word(&clean, tile + 44) + by);
        })
    };
    assert_eq!((layers(0), layers(1)), (vec![], vec!["structure"]));
    let most = 16 * word(&clean, tile + 40);
    assert_eq!(with(&|b| set(b, tile + 44, most + 1)), ["structure"]);
}

/// A bundle of sixteen triangles on the same corners.
fn sixteen(corners: [[i32; 3]; 3]) -> Vec<u8> {
    let mut bundle = [0u16; 64];
    bundle[6] = 2 << 8 | 15 << 12;
    (0..12).for_each(|k| bundle[7 + k] = [0x1111, 0x2222, 0x3333][k / 4]);
    for (n, corner) in corners.iter().enumerate() {
        for (i, c) in corner.iter().enumerate() {
            bundle[22 + 6 * n + 2 * i..][..2].copy_from_slice(&[*c as u16, (*c >> 16) as u16]);
        }
    }
    bundle.iter().flat_map(|h| h.to_le_bytes()).collect()
}

/// Makes the root of a tile with sides of 2^`log2` one of 2^`side` x 2^`side` entries, at this offset, that name
/// nothing, and which has bundles.
fn empty_root(bytes: &mut [u8], tile: usize, log2: u8, side: u8, [entries, first, count]: [usize; 3]) {
    bytes[tile + 128..][..6].copy_from_slice(&[log2 - side, log2 - side, side, side, 0, 0]);
    for (at, v) in [(16, (entries - tile) / 4), (20, first), (24, count), (28, 0)] {
        set(bytes, tile + 128 + at, v as u32);
    }
    (0..1 << (2 * side)).for_each(|k| set(bytes, entries + 4 * k, format::entry::EMPTY));
}

/// Triangles of a small tile over sixteen million tiles each.
#[test]
fn by_02_more_tiles_than_can_be() {
    let options = Options { tile_log2: Some(17), ..as_given() };
    let mut bytes = Aligned::new(&build(&hills(100, 1.0), &options).unwrap().image);
    let (tile, _) = tiles(&bytes)[0];
    let (first, count) = (word(&bytes, tile + 36) as usize, word(&bytes, tile + 40) as usize);
    assert!(count > 100, "{count} bundles");
    let [x, y] = [0, 4].map(|at| (word(&bytes, tile + 8 + at) as i32) << 17);
    let (z, far) = (word(&bytes, 112) as i32, 4000 << 17);
    for b in 0..count {
        let south = y + 1 + b as i32;
        let bundle = sixteen([[x + 1, south, z], [x + far, south, z], [x + 1, south + far, z]]);
        bytes[tile + 128 * (first + b)..][..128].copy_from_slice(&bundle);
    }
    let entries = tile + 4 * word(&bytes, tile + 128 + 16) as usize;
    empty_root(&mut bytes, tile, 17, 1, [entries, first, count]);
    forge(&mut bytes);
    let start = std::time::Instant::now();
    let verdict = proven(&bytes);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let cover = verdict.check("cover").unwrap();
    assert_eq!(cover.outcome, Outcome::Fail, "{verdict:#?}");
    assert!(cover.faults.first.iter().any(|f| f.what.contains("over more tiles than can be held")), "{verdict:#?}");
}

/// Bytes of one image, with a tile of another: both have their tiles at the same places, and all sums are right again.
fn grafted(image: &[u8], other: &[u8], tile: usize, bytes: usize) -> Option<Aligned> {
    assert_eq!(tiles(image), tiles(other));
    let (at, len) = tiles(image)[tile];
    let differing: Vec<usize> = (at..at + len).filter(|&k| image[k] != other[k]).take(bytes).collect();
    let mut made = Aligned::new(image);
    differing.iter().for_each(|&k| made[k] = other[k]);
    forge(&mut made);
    (!differing.is_empty()).then_some(made)
}

/// BY-02: posts that tiles share are equal, and so are those that blocks of a tile share; a part whose grid is another
/// one does not go on with its neighbour. Each is planted in one tile, and all else is whole.
#[test]
fn by_02_parts_of_a_field_meet() {
    let options = hardpan_builder::Options { tile_log2: Some(14), ..Default::default() };
    let made = |raised: Option<usize>, east: f64| {
        let height = |k: usize| 5.0 + (k * k % 37) as f64 / 64.0 + if raised == Some(k) { 1.0 / 64.0 } else { 0.0 };
        let field = hardpan_builder::HeightField {
            origin: [1.0 + east, 1.0],
            pitch: 0.25,
            columns: 49,
            rows: 41,
            // the least and the greatest height stand beside the post that is changed
            heights: (0..49 * 41).map(height).collect(),
            ..Default::default()
        };
        build(&Scene { fields: vec![field], ..hills(0, 1.0) }, &options).unwrap().image
    };
    let whole = made(None, 0.0);
    assert!(tiles(&whole).len() >= 12 && failing(&whole).is_empty(), "{:#?}", proven(&whole));
    let check = proven(&whole);
    let looked_at = &check.check("fields").unwrap().looked_at;
    assert_eq!(*looked_at, format!("{} parts of height fields", tiles(&whole).len()));
    // tiles of 4 m begin at 0; posts 12 and 28 from the west lie at 4 and 8 m, and so do those from the south
    let post = |i: usize, j: usize| j * 49 + i;
    for (i, j, at) in [(12, 6, [4.0, 2.5]), (28, 33, [8.0, 9.25]), (20, 12, [6.0, 4.0]), (12, 12, [4.0, 4.0])] {
        let other = made(Some(post(i, j)), 0.0);
        assert!(failing(&other).is_empty());
        let mut planted = 0;
        for tile in 0..tiles(&whole).len() {
            let Some(bytes) = grafted(&whole, &other, tile, usize::MAX) else { continue };
            planted += 1;
            let verdict = proven(&bytes);
            assert_eq!(failing(&bytes), ["fields"], "{i}, {j} in tile {tile}: {verdict:?}");
            let faults = &verdict.check("fields").unwrap().faults;
            assert!(faults.count >= 2, "both tiles say so: {faults:?}");
            assert!(faults.first.iter().all(|f| f.at == Some(at)), "{at:?}: {faults:?}");
        }
        assert!(planted >= 2, "{planted} tiles hold the post");
    }
    // in one of the blocks that hold a post in the middle of a tile
    let other = made(Some(post(20, 20)), 0.0);
    let home = (0..tiles(&whole).len()).find(|&tile| grafted(&whole, &other, tile, 1).is_some()).unwrap();
    let bytes = grafted(&whole, &other, home, 1).unwrap();
    let verdict = proven(&bytes);
    if grafted(&whole, &other, home, usize::MAX).unwrap()[..] != bytes[..] {
        assert_eq!(failing(&bytes), ["fields"], "{verdict:#?}");
        let faults = &verdict.check("fields").unwrap().faults;
        assert_eq!((faults.count, faults.first[0].at), (1, Some([6.0, 6.0])), "{faults:?}");
    }
    // a grid that begins a hundredth of a millimetre farther east
    let other = made(None, 10.0 / 1_048_576.0);
    let inner = (0..tiles(&whole).len()).find(|&tile| grafted(&whole, &other, tile, 1).is_some()).unwrap();
    let bytes = grafted(&whole, &other, inner, usize::MAX).unwrap();
    assert!(failing(&bytes).contains(&"fields"), "{:#?}", proven(&bytes));
    let verdict = proven(&bytes);
    let faults = &verdict.check("fields").unwrap().faults;
    assert!(faults.first.iter().any(|f| f.what.contains("no such part on the same grid")), "{faults:?}");
}

/// Thousands of patches, each over the whole of a tile whose 65,536 places name none of them.
#[test]
fn by_02_more_patches_than_can_be_named() {
    let options = Options { tile_log2: Some(21), ..as_given() };
    let mut bytes = Aligned::new(&build(&hills(300, 1.0), &options).unwrap().image);
    let [(tile, len)] = tiles(&bytes)[..] else { panic!("one tile") };
    assert_eq!([word(&bytes, tile + 8), word(&bytes, tile + 12)], [0, 0], "at the origin");
    // head and palette, entries, one block of heights, and patches in all that is left
    let entries = tile + 4096;
    let block = entries + (4 << 16);
    let patches = (block + 64).next_multiple_of(64);
    let count = (tile + len - patches) / 64;
    assert!(count > 10_000, "{count} patches");
    bytes[tile + 256 + 8..block + 64].fill(0);
    empty_root(&mut bytes, tile, 21, 8, [entries, 0, 0]);
    bytes[block + 4] = 8; // a unit of 2^8, heights of 0
    let mut patch = [0u32; 16];
    (patch[1], patch[8], patch[9]) = (1 << 5, 4, 4); // 2^37: four cells either way over the tile
    (patch[11], patch[12], patch[14]) = (1, ((block - tile) / 32) as u32, 1);
    for n in 0..count {
        (0..16).for_each(|k| set(&mut bytes, patches + 64 * n + 4 * k, patch[k]));
    }
    let heads = [(28, (patches - tile) / 4), (32, count), (36, 0), (40, 0), (44, 0), (56, 0), (64, 3)];
    heads.into_iter().for_each(|(at, v)| set(&mut bytes, tile + at, v as u32));
    forge(&mut bytes);
    Terrain::open_verified(&bytes).unwrap();
    let start = std::time::Instant::now();
    let verdict = proven(&bytes);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    let cover = verdict.check("cover").unwrap();
    assert!(cover.faults.first.iter().any(|f| f.what.contains("patches lie over more places")), "{verdict:#?}");
}

/// Head bounds a step too wide or too narrow, with patches as with triangles alone.
#[test]
fn by_01_bounds_of_patches_are_exact() {
    let field = |pitch: f64, columns: usize, rows: usize, tolerance: f64| hardpan_builder::HeightField {
        origin: [-3.3, 1.7],
        pitch,
        columns,
        rows,
        heights: (0..columns * rows)
            .map(|i| if i % 11 == 3 { f64::NAN } else { ((i * i) % 23) as f64 / 30.0 - 0.4 })
            .collect(),
        material: 0,
        source: 0,
        tolerance,
        ..hardpan_builder::HeightField::default()
    };
    let alone = |field| Scene { fields: vec![field], ..hills(0, 1.0) };
    let mut both = hills(6, 1.0);
    both.fields.push(field(0.37, 30, 21, 0.01));
    let scenes = [
        ("a field", alone(field(0.5, 17, 9, 0.0))),
        ("an odd pitch", alone(field(1.0 / 3.0, 23, 18, 0.001))),
        ("coarse heights", alone(field(0.25, 40, 40, 0.2))),
        ("field and hills", both),
    ];
    let mut tried = 0;
    for (name, scene) in scenes.into_iter().chain(small().into_iter().filter(|s| !s.1.fields.is_empty())) {
        for tile_log2 in [None, Some(13), Some(26)] {
            let built = build(&scene, &Options { tile_log2, ..as_given() }).unwrap();
            let clean = Aligned::new(&built.image);
            passes(name, &clean, true);
            // what the source says, to the tolerance and the rounding
            let [low, high] = Terrain::open(&clean).unwrap().bounds();
            let (mut least, mut most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
            let mut take =
                |p: [f64; 3]| (0..3).for_each(|i| (least[i], most[i]) = (least[i].min(p[i]), most[i].max(p[i])));
            scene.triangles.iter().flat_map(|t| t.v).for_each(|v| take(scene.positions[v as usize]));
            for f in &scene.fields {
                for (i, &z) in f.heights.iter().enumerate().filter(|(_, z)| z.is_finite()) {
                    let end = [i % f.columns, i / f.columns];
                    take(
                        [0, 1]
                            .map(|k| f.origin[k] + f.pitch * end[k] as f64)
                            .into_iter()
                            .chain([z])
                            .collect::<Vec<_>>()
                            .try_into()
                            .unwrap(),
                    );
                }
            }
            let tolerance = scene.fields.iter().map(|f| f.tolerance).fold(0.0, f64::max);
            for (i, slack) in [2.5 / 4096.0, 2.5 / 4096.0, 1.5 / 65536.0 + tolerance].into_iter().enumerate() {
                assert!((low[i] - least[i]).abs() <= slack, "{name}: {low:?}, {least:?}");
                assert!((high[i] - most[i]).abs() <= slack, "{name}: {high:?}, {most:?}");
            }
            for (at, by) in (104..128).step_by(4).flat_map(|at| [(at, 1u32), (at, u32::MAX)]) {
                let mut bytes = Aligned::new(&clean);
                let stated = word(&bytes, at);
                set(&mut bytes, at, stated.wrapping_add(by));
                forge(&mut bytes);
                // a step beyond the pages cannot even be opened
                let Ok(verdict) = verify(&bytes, &Verify::default()) else { continue };
                let exact = |c: &&hardpan_builder::Check| {
                    c.name == "counts" && c.faults.first.iter().any(|f| f.what.starts_with("the bounds are"))
                };
                // what is too narrow for the kernel goes no further
                let narrow = (at < 116) == (by == 1) && verdict.check("structure").unwrap().outcome == Outcome::Fail;
                assert!(
                    narrow || verdict.checks.iter().filter(|c| c.outcome == Outcome::Fail).any(|c| exact(&c)),
                    "{name}: byte {at} by {}: {verdict:#?}",
                    by as i32
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 150, "{tried} tried");
}

/// A tile whose every bundle is sixteen triangles as large as it, under a root of 65,536 places that name none.
#[test]
fn by_02_more_places_than_words() {
    let options = Options { tile_log2: Some(20), ..as_given() };
    let mut bytes = Aligned::new(&build(&hills(200, 1.0), &options).unwrap().image);
    let (tile, len) = tiles(&bytes)[0];
    let (first, count) = (word(&bytes, tile + 36) as usize, word(&bytes, tile + 40) as usize);
    let entries = tile + 4 * word(&bytes, tile + 28) as usize;
    assert!(len > 128 * first && entries + (4 << 16) <= tile + 128 * first && count > 4000);
    let [x, y] = [0, 4].map(|at| (word(&bytes, tile + 8 + at) as i32) << 20);
    let z = word(&bytes, 112) as i32;
    let far = (1 << 20) - 2;
    let bundle = sixteen([[x + 1, y + 1, z], [x + far, y + 1, z], [x + 1, y + far, z]]);
    (first..first + count).for_each(|b| bytes[tile + 128 * b..][..128].copy_from_slice(&bundle));
    empty_root(&mut bytes, tile, 20, 8, [entries, first, count]);
    forge(&mut bytes);
    let verdict = proven(&bytes);
    let cover = verdict.check("cover").unwrap();
    assert!(cover.faults.first.iter().any(|f| f.what.contains("more places than its words")), "{verdict:#?}");
}

/// A search by brute force finds the same seams, of heaps as they are and stitched, across the borders of tiles too.
#[test]
fn by_02_seams_are_those_that_stitching_closes() {
    let (mut found, mut none) = (0, 0);
    for seed in 0..300 {
        let scene = heap(seed);
        for options in [as_given(), Options::default()] {
            let options = Options { tile_log2: Some(if seed % 2 == 0 { 10 } else { 20 }), ..options };
            let Ok((ground, report)) = repair(&scene, &options) else { continue };
            let mut places = BTreeSet::new();
            for seam in seams(&triangles(&ground), 4, 64) {
                match seam {
                    Seam::Ends(a, b) => places.extend([a, b]),
                    Seam::Beside(_, v) => places.extend([v]),
                }
            }
            let bytes = build(&scene, &options).unwrap().image;
            let verdict = proven(&bytes);
            let told = &verdict.check("seams").unwrap().faults;
            assert_eq!(told.count, places.len() as u64, "heap {seed}: {:?}, and {places:?}", told.first);
            if options.stitch.is_some() {
                assert_eq!(told.count == 0, report.stitch.left == 0, "heap {seed}");
            }
            found += told.count;
            none += u32::from(told.count == 0);
        }
    }
    assert!(found > 1000 && none > 100, "{found} found, {none} without");
}

#[test]
fn names_out_of_order() {
    let clean = Aligned::new(&image(&fixtures::bridge()));
    let mut bytes = Aligned::new(&clean);
    let (names, ..) = section(&clean, 2);
    assert!(bytes[names..].starts_with(b"AsphaltDeck"));
    bytes[names] = b'Z';
    forge(&mut bytes);
    assert_eq!(failing(&bytes), ["tables"]);
    // friction below zero
    let (materials, ..) = section(&clean, 1);
    for factor in 0..4 {
        let mut bytes = Aligned::new(&clean);
        bytes[materials + 8 * factor..][..8].copy_from_slice(&(-0.5f64).to_le_bytes());
        forge(&mut bytes);
        assert_eq!(failing(&bytes), ["tables"], "{factor}");
    }
}

#[test]
fn heads_that_no_builder_writes() {
    let clean = Aligned::new(&image(&fixtures::bridge()));
    assert!(failing(&clean).is_empty());
    let mu = std::mem::offset_of!(format::Header, default_mu);
    for factor in 0..3 {
        let mut bytes = Aligned::new(&clean);
        bytes[mu + 8 * factor..][..8].copy_from_slice(&(-0.5f64).to_le_bytes());
        forge(&mut bytes);
        assert_eq!(failing(&bytes), ["tables"], "default {factor}");
    }
    let origin = std::mem::offset_of!(format::Header, origin);
    for axis in 0..3 {
        // half of 4,096 m: 2^23 steps in plan, 2^27 in height
        let mut bytes = Aligned::new(&clean);
        let steps = if axis < 2 { 1i64 << 23 } else { 1 << 27 };
        bytes[origin + 8 * axis..][..8].copy_from_slice(&steps.to_le_bytes());
        forge(&mut bytes);
        assert!(failing(&bytes).contains(&"tables"), "axis {axis}: {:?}", failing(&bytes));
    }
}

#[test]
fn by_02_false_sheets() {
    // a floor and a deck in one cell: the deck's word starts a sheet
    let clean = Aligned::new(&image(&fixtures::bridge()));
    let mut tried = 0;
    for (tile, _) in tiles(&clean) {
        for block in blocks(&clean, tile) {
            for at in (block + 40..block + 64).step_by(4) {
                let w = word(&clean, at);
                if w & format::word::MASK == 0 || w & format::word::SHEET == 0 {
                    continue;
                }
                let mut bytes = Aligned::new(&clean);
                set(&mut bytes, at, w & !format::word::SHEET);
                forge(&mut bytes);
                assert_eq!(failing(&bytes), ["sheets"], "{w:08x}");
                tried += 1;
            }
        }
    }
    assert!(tried > 0);
}

/// A road of one class over country of another, in a tile of several groups.
fn road_over_country() -> Aligned {
    let (mut scene, road) = (hills(120, 1.0), hills(90, 0.7));
    let before = scene.positions.len() as u32;
    scene.positions.extend(road.positions.iter().map(|[x, y, z]| [x + 30.0, y + 25.0, z + 12.0]));
    scene.triangles.extend(road.triangles.iter().map(|t| Triangle { v: t.v.map(|v| v + before), ..*t }));
    let options = Options { tile_log2: Some(22), ..Options::default() };
    let clean = Aligned::new(&build(&scene, &options).unwrap().image);
    passes("road over country", &clean, false);
    let (tile, _) = tiles(&clean)[0];
    let groups: BTreeSet<u32> = index(&clean, tile)[0].iter().map(|node| word(&clean, node + 20)).collect();
    assert!(tiles(&clean).len() == 1 && groups.len() > 3, "{}", groups.len());
    clean
}

/// None of either may be missing in a cell, and none of one stand in a sheet of the other.
#[test]
fn by_02_a_road_over_country_in_groups() {
    let clean = road_over_country();
    let (tile, _) = tiles(&clean)[0];
    let mut tried = [0; 2];
    let homes = homes(&clean);
    for &at in homes.iter().step_by(homes.len() / 80 + 1) {
        if let Some(bytes) = cleared(&clean, at) {
            assert!(failing(&bytes).contains(&"cover"), "{:08x} at {at}: {:?}", word(&clean, at), failing(&bytes));
            tried[0] += 1;
        }
    }
    let blocks = blocks(&clean, tile);
    for at in blocks.iter().step_by(blocks.len() / 80 + 1).flat_map(|block| (block + 40..block + 64).step_by(4)) {
        let w = word(&clean, at);
        if w & format::word::MASK != 0 && w & format::word::SHEET != 0 {
            let mut bytes = Aligned::new(&clean);
            set(&mut bytes, at, w & !format::word::SHEET);
            forge(&mut bytes);
            assert_eq!(failing(&bytes), ["sheets"], "{w:08x}");
            tried[1] += 1;
        }
    }
    assert!(tried.iter().all(|n| *n > 20), "{tried:?}");
}

/// Above a node of several stand twenty with one entry each, its bundles and its rectangle, in the room of another,
/// which is gone: what lay there is reported as missing, and nothing else.
#[test]
fn by_02_nodes_of_one_rectangle() {
    let clean = road_over_country();
    let (tile, _) = tiles(&clean)[0];
    let to = |bytes: &[u8], entry: usize| tile + 4 * (word(bytes, entry) & format::entry::PLACE) as usize;
    let is_node = |entry: &usize| word(&clean, *entry) >> format::entry::SHIFT == format::entry::NODE;
    let below = |node: usize| {
        let entries = tile + 4 * word(&clean, node + 16) as usize;
        let count = if clean[node + 4] & 1 == 1 { 0 } else { 1usize << (clean[node + 2] + clean[node + 3]) };
        (0..count).map(move |k| entries + 4 * k).filter(is_node).collect::<Vec<_>>()
    };
    let entries = index(&clean, tile)[0].iter().map(|node| below(*node)).find(|entries| entries.len() > 1).unwrap();
    // the first in the file makes room; the others follow, so that no node lies in its blocks
    let gone = *entries.iter().min_by_key(|entry| to(&clean, **entry)).unwrap();
    let kept = *entries
        .iter()
        .filter(|entry| **entry != gone)
        .max_by_key(|entry| word(&clean, to(&clean, **entry) + 24))
        .unwrap();
    let node = to(&clean, kept);
    let mut bytes = Aligned::new(&clean);
    set(&mut bytes, gone, format::entry::EMPTY);
    let room = tile + 4 * word(&clean, to(&clean, gone) + 16) as usize;
    let mut at = tile + (room - tile).next_multiple_of(128);
    let point = |bytes: &mut [u8], entry: usize, to: usize| {
        set(bytes, entry, format::entry::NODE << format::entry::SHIFT | ((to - tile) / 4) as u32);
    };
    point(&mut bytes, kept, at);
    for k in 0..20 {
        bytes[at..at + 32].copy_from_slice(&clean[node..node + 32]);
        let sides = [0, 1].map(|i| clean[node + i] + clean[node + 2 + i]);
        bytes[at..at + 5].copy_from_slice(&[sides[0], sides[1], 0, 0, 0]);
        set(&mut bytes, at + 16, ((at + 32 - tile) / 4) as u32);
        point(&mut bytes, at + 32, if k == 19 { node } else { at + 64 });
        at += 64;
    }
    assert!(at < node);
    renumber(&mut bytes, tile, tile + 4 * format::ROOT, 0);
    forge(&mut bytes);
    let verdict = proven(&bytes);
    assert_eq!(verdict.check("structure").unwrap().outcome, Outcome::Pass);
    let faults = &verdict.check("cover").unwrap().faults;
    assert!(faults.count > 0);
    for fault in &faults.first {
        assert!(fault.what.ends_with("lie over a place that names none"), "{}", fault.what);
    }
}

/// In a tile of several groups a bundle that stands in place of the next one: cells name its triangles twice in one
/// sheet.
#[test]
fn by_02_a_bundle_twice() {
    // of several nodes, and of one
    for (n, least) in [(120, 1500), (40, 150)] {
        let options = hardpan_builder::Options { tile_log2: Some(22), ..Default::default() };
        let mut clean = Aligned::new(&build(&hills(n, 1.0), &options).unwrap().image);
        // no cell says that it is surrounded
        for at in homes(&clean) {
            let w = word(&clean, at);
            set(&mut clean, at, w & !format::word::SHEET);
        }
        forge(&mut clean);
        assert_eq!(failing(&clean), [""; 0]);
        let tiles = tiles(&clean);
        let (tile, _) = tiles[0];
        let (first, count) = (word(&clean, tile + 36) as usize, word(&clean, tile + 40) as usize);
        assert!(tiles.len() == 1 && count > least);
        let (mut followed, mut told) = (0, 0);
        for b in (0..count - 1).step_by(count / 50) {
            let at = tile + 128 * (first + b);
            let mut bytes = Aligned::new(&clean);
            bytes.copy_within(at..at + 128, at + 128);
            forge(&mut bytes);
            let verdict = proven(&bytes);
            assert!(!verdict.passed(), "{b}");
            // unless words name triangles that the bundle does not have
            if verdict.check("structure").unwrap().outcome == Outcome::Pass {
                let faults = &verdict.check("sheets").unwrap().faults;
                assert!(faults.first.iter().all(|f| f.what.starts_with("two triangles of one sheet overlap")));
                followed += 1;
                told += u32::from(faults.count > 0);
            }
        }
        println!("{told} of {followed} told");
        assert!(told > 10 && followed > 20, "{told} of {followed}");
    }
}

/// A node that nothing names any more leaves its bundles to none.
#[test]
fn by_02_bundles_of_no_node() {
    let options = hardpan_builder::Options { tile_log2: Some(22), ..Default::default() };
    let clean = Aligned::new(&build(&hills(120, 1.0), &options).unwrap().image);
    let (tile, _) = tiles(&clean)[0];
    let root = tile + 4 * format::ROOT;
    let [_, _, x, y, flags] = [0, 1, 2, 3, 4].map(|i| clean[root + i]);
    assert_eq!(flags & format::NODE_DENSE, 0);
    let entries = tile + 4 * word(&clean, root + std::mem::offset_of!(format::Node, entries)) as usize;
    let mut told = 0;
    for at in (0..1 << (x + y)).map(|k| entries + 4 * k) {
        if word(&clean, at) >> format::entry::SHIFT != format::entry::NODE {
            continue;
        }
        let mut bytes = Aligned::new(&clean);
        set(&mut bytes, at, format::entry::EMPTY);
        renumber(&mut bytes, tile, root, 0);
        forge(&mut bytes);
        let verdict = proven(&bytes);
        let faults = &verdict.check("counts").unwrap().faults;
        assert!(faults.first.iter().any(|f| f.what.ends_with("bundles belong to no node")), "{verdict:?}");
        told += 1;
    }
    assert!(told > 3, "{told}");
}

/// A node may count fewer of its grid's bundles than the one around it: it is proven as far as it names no others, and
/// who reads the image loses nothing.
#[test]
fn by_02_a_node_may_count_fewer_bundles() {
    let (mut proven, mut told) = (0, 0);
    for (name, scene) in [("city", fixtures::city()), ("soup", fixtures::soup(60))] {
        let clean = Aligned::new(&image(&scene));
        let all = decode::triangles(&Terrain::open(&clean).unwrap());
        for (tile, _) in tiles(&clean) {
            let [nodes, _] = index(&clean, tile);
            let [first, count] = [0, 4].map(|i| std::mem::offset_of!(format::Node, bundles) + i);
            let bundles = |node: usize| word(&clean, node + first);
            let inner =
                nodes.iter().enumerate().filter(|(k, n)| nodes[..*k].iter().any(|m| bundles(*m) == bundles(**n)));
            for (_, &node) in inner.filter(|(_, n)| word(&clean, **n + count) > 0).take(1) {
                for fewer in (1..word(&clean, node + count)).rev().take(8) {
                    let mut bytes = Aligned::new(&clean);
                    set(&mut bytes, node + count, fewer);
                    forge(&mut bytes);
                    match failing(&bytes)[..] {
                        [] => {
                            assert!(decode::triangles(&Terrain::open(&bytes).unwrap()) == all, "{name}: {fewer}");
                            proven += 1;
                        }
                        ["structure"] => {
                            told += 1;
                            break;
                        }
                        ref other => panic!("{name}: {fewer}: {other:?}"),
                    }
                }
            }
        }
    }
    assert!(proven > 20 && told > 5, "{proven} {told}");
}

/// A cell at the border of the ground, or with a step through it, is not surrounded by its sheet.
#[test]
fn by_02_falsely_surrounded() {
    let (mut told, mut fine) = (0, 0);
    for (name, scene) in [("hole", fixtures::hole()), ("curb", fixtures::curb()), ("hills", hills(20, 1.0))] {
        let clean = Aligned::new(&image(&scene));
        let asked = points(&Oracle::new(&scene), 400, 3);
        for at in homes(&clean) {
            let w = word(&clean, at);
            let mut bytes = Aligned::new(&clean);
            set(&mut bytes, at, w | format::word::SHEET);
            if w & format::word::SHEET != 0 {
                continue;
            }
            forge(&mut bytes);
            match failing(&bytes)[..] {
                [] => {
                    same_answers(name, &clean, &bytes, &asked);
                    fine += 1;
                }
                ["sheets"] => told += 1,
                // a further sheet, or a wide bundle
                ["structure"] => {}
                ref other => panic!("{name}: {w:08x} at {at}: {other:?}"),
            }
        }
    }
    println!("{told} told, {fine} true but not stated by the builder");
    assert!(told > 50 && fine < told / 2, "{told} told, {fine} fine");
}

#[track_caller]
fn same_answers(name: &str, a: &[u8], b: &[u8], points: &[Point]) {
    let (a, b) = (Terrain::open(a).unwrap(), Terrain::open(b).unwrap());
    for &p in points {
        let (x, y) = (a.closest(p), b.closest(p));
        assert_eq!((x.status, x.hit.z, x.hit.material), (y.status, y.hit.z, y.hit.material), "{name} at {p:?}");
    }
}

/// Every bundle of every tile raised by a step: an edge opens in a cell, or a tile's neighbour holds another triangle.
#[test]
fn by_02_a_bundle_moved() {
    let options = hardpan_builder::Options { tile_log2: Some(15), ..Default::default() };
    let clean = Aligned::new(&build(&hills(30, 1.0), &options).unwrap().image);
    let tiles = tiles(&clean);
    assert!(tiles.len() >= 9);
    let (mut moved, mut told, mut between) = (0, 0, 0);
    for &(tile, _) in &tiles {
        let (first, count) = (word(&clean, tile + 36) as usize, word(&clean, tile + 40) as usize);
        for b in 0..count {
            let at = tile + 128 * (first + b) + 4;
            let mut bytes = Aligned::new(&clean);
            moved += 1;
            let z = word(&bytes, at);
            set(&mut bytes, at, z.wrapping_add(1));
            forge(&mut bytes);
            let verdict = proven(&bytes);
            if verdict.passed() {
                // a step between triangles that no cell denies
                passes("moved", &bytes, true);
                continue;
            }
            let cover = verdict.check("cover").unwrap();
            between += u32::from(cover.faults.first.iter().any(|f| f.what.contains("held by")));
            told += 1;
        }
    }
    println!("{moved} moved, {told} told, {between} of them between tiles");
    assert!(moved > 50 && told > moved * 3 / 4 && between > moved / 4);
}

/// Bits of the index flipped at random: what still passes answers as before, at every edge and elsewhere.
#[test]
fn by_02_what_passes_answers_the_same() {
    let (mut passed, mut failed) = (0, 0);
    for (name, scene) in small() {
        let clean = Aligned::new(&image(&scene));
        let asked = points(&Oracle::new(&scene), 120, 11);
        let mut random = Random(7);
        let words: Vec<usize> = tiles(&clean)
            .iter()
            .flat_map(|&(t, _)| blocks(&clean, t))
            .flat_map(|b| (0..16).map(move |k| b + 4 * k))
            .collect();
        for _ in 0..150 {
            let at = words[random.below(words.len())];
            let mut bytes = Aligned::new(&clean);
            let w = word(&bytes, at);
            set(&mut bytes, at, w ^ 1 << random.below(32));
            forge(&mut bytes);
            if proven(&bytes).passed() {
                passed += 1;
                passes(name, &bytes, true);
                same_answers(name, &clean, &bytes, &asked);
            } else {
                failed += 1;
            }
        }
    }
    println!("{failed} told, {passed} without effect");
    assert!(failed > 10 * passed / 2, "{failed} told, {passed} passed");
}

/// Any bit of a tile, its triangles among them: nothing panics, and in what still passes every edge is found.
#[test]
fn by_02_any_bit_of_a_tile() {
    let (mut passed, mut failed) = (0, 0);
    for (name, scene) in small().into_iter().filter(|s| s.0 != "soup") {
        let clean = Aligned::new(&image(&scene));
        let mut random = Random(9);
        let tiles = tiles(&clean);
        for _ in 0..120 {
            let (at, len) = tiles[random.below(tiles.len())];
            let mut bytes = Aligned::new(&clean);
            bytes[at + random.below(len)] ^= 1 << random.below(8);
            forge(&mut bytes);
            if proven(&bytes).passed() {
                passed += 1;
                passes(name, &bytes, true);
            } else {
                failed += 1;
            }
        }
    }
    println!("{failed} told, {passed} another image");
    assert!(failed > 100 && passed > 10, "{failed} told, {passed} passed");
}

#[test]
fn by_02_the_image_made_by_hand() {
    let bytes = handmade::by_hand();
    let verdict = proven(&bytes);
    assert!(verdict.passed(), "{verdict:#?}");
}

#[test]
fn by_02_real_meshes_are_proven() {
    for (name, y_up) in [
        ("city/samurai_monastry.obj", true),
        ("city/zdm2.obj", true),
        ("city/3dfier_innerbuffer_05.obj", false),
        ("roads/cloverleaf.obj", false),
    ] {
        let Some(path) = obj::real_file(name) else { continue };
        let scene = obj::read(&path, y_up).unwrap();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let built = image(&scene);
        let verdict = passes(name, &built, false);
        let again = one.install(|| passes(name, &built, false));
        assert_eq!(format!("{verdict:?}"), format!("{again:?}"), "{name}: one thread or two");
        println!("{name}: {} seams", verdict.check("seams").unwrap().faults.count);
    }
}

/// Stated errors hold, and whatever is beyond them is reported.
#[test]
fn by_05_against_the_source() {
    for (name, scene) in small().into_iter().chain([("far", fixtures::far()), ("city", fixtures::city())]) {
        let built = image(&scene);
        let a = source_error(&Terrain::open(&built).unwrap(), &scene, &Options::default(), 20_000);
        if name == "curb and patch" {
            // heights of a field have no triangles to compare with
            assert_eq!(a.source.exceeded, 0, "{name}: {a:?}");
            continue;
        }
        assert!(a.holds(), "{name}: {a:?}");
        assert!(a.source.height <= a.stated[1] + 1e-7 && a.image.height <= a.stated[1] + 1e-7, "{name}: {a:?}");
    }
}

#[test]
fn by_05_what_is_beyond_the_stated_error() {
    let scene = hills(30, 1.0);
    let built = image(&scene);
    let terrain = Terrain::open(&built).unwrap();
    let measured = |change: &dyn Fn(&mut Scene)| {
        let mut scene = scene.clone();
        change(&mut scene);
        source_error(&terrain, &scene, &Options::default(), 10_000)
    };
    // all raised by a millimetre: both ways
    let a = measured(&|s| s.positions.iter_mut().for_each(|p| p[2] += 0.001));
    assert!(a.source.exceeded > 1000 && a.image.exceeded > 1000, "{a:?}");
    assert!((a.source.quantiles[0] - 0.001).abs() < 1e-5 && a.source.height < 0.001 + 1e-5, "{a:?}");
    // a square more in the source is ground lost, one less ground gained
    let a = measured(&|s| {
        let first = s.positions.len() as u32;
        s.positions.extend([[40.0, 0.0, 0.0], [41.0, 0.0, 0.0], [40.0, 1.0, 0.0]]);
        s.triangles.push(hardpan_builder::Triangle { v: [first, first + 1, first + 2], ..s.triangles[0] });
    });
    assert!(a.source.exceeded > 0 && a.image.exceeded == 0, "{a:?}");
    assert!(a.source.missing == a.source.exceeded && a.source.worst.iter().all(|s| !s.exceeds()), "{a:?}");
    assert!(a.source.farthest.iter().all(|s| s.height.is_infinite() && s.at[0] >= 40.0), "{a:?}");
    let gone = scene.triangles[100];
    let a = measured(&|s| s.triangles[100] = s.triangles[99]);
    let corner = scene.positions[gone.v[0] as usize];
    assert!(a.source.exceeded == 0 && a.image.exceeded > 0, "{a:?}");
    assert!((0..2).all(|i| (a.image.farthest[0].at[i] - corner[i]).abs() <= 1.0), "{a:?}");

    // a tile that states less than rounding takes
    let mut scene = hills(30, 0.7);
    scene.positions.iter_mut().for_each(|p| p[2] += 5e-6);
    let mut bytes = Aligned::new(&image(&scene));
    assert!(source_error(&Terrain::open(&bytes).unwrap(), &scene, &Options::default(), 10_000).holds());
    for (tile, _) in tiles(&bytes) {
        bytes[tile + 88..tile + 96].copy_from_slice(&1e-9f64.to_le_bytes());
    }
    forge(&mut bytes);
    assert!(proven(&bytes).passed());
    let a = source_error(&Terrain::open(&bytes).unwrap(), &scene, &Options::default(), 10_000);
    assert!(a.source.exceeded > 0 && a.source.height < 1e-5, "{a:?}");
}

/// However few places are asked at random: a small triangle among large ones shares its corners and edges with its
/// neighbours.
#[test]
fn by_05_each_triangle_is_asked_for_in_its_middle() {
    let mut scene = hills(30, 1.0);
    let first = scene.positions.len() as u32;
    // far more plan area than all others
    scene.positions.extend([[100.0, 0.0, 0.0], [9100.0, 0.0, 0.0], [100.0, 9000.0, 0.0]]);
    scene.triangles.push(hardpan_builder::Triangle { v: [first, first + 1, first + 2], ..scene.triangles[0] });
    for missing in [0, 500, 1233] {
        let mut holed = scene.clone();
        holed.triangles.remove(missing);
        let measured =
            |image: &[u8], scene: &Scene| source_error(&Terrain::open(image).unwrap(), scene, &Options::default(), 10);
        let (whole_image, holed_image) = (image(&scene), image(&holed));
        let a = measured(&holed_image, &scene);
        assert!(a.source.missing > 0 && a.image.exceeded == 0, "{missing}: {a:?}");
        let a = measured(&whole_image, &holed);
        assert!(a.image.missing > 0 && a.source.exceeded == 0, "{missing}: {a:?}");
        assert!(measured(&whole_image, &scene).holds() && measured(&holed_image, &holed).holds());
    }
}

/// The material of each triangle, by its name, is one that the source has there: also of one of two in one place, and
/// in any order.
#[test]
fn by_05_materials_are_those_of_the_source() {
    let mut scene = fixtures::mats();
    let t = scene.triangles[0];
    // the same again, of another material: one of the two stays
    scene.triangles.push(hardpan_builder::Triangle { material: 1 - t.material.min(1), ..t });
    let built = image(&scene);
    let terrain = Terrain::open(&built).unwrap();
    let measured = |scene: &Scene| source_error(&terrain, scene, &Options::default(), 1000);
    assert!(measured(&scene).holds(), "{:?}", measured(&scene));
    let mut turned = scene.clone();
    turned.triangles.reverse();
    turned.materials.reverse();
    let last = scene.materials.len() as u16 - 1;
    turned.triangles.iter_mut().for_each(|t| t.material = last - t.material);
    assert!(measured(&turned).holds(), "{:?}", measured(&turned));
    // those of one material are of another, without any other change
    let mut other = scene.clone();
    let [from, to] = [0, last];
    let of = |s: &Scene, m: u16| s.triangles.iter().filter(|t| t.material == m).count() as u64;
    other.triangles.iter_mut().filter(|t| t.material == to).for_each(|t| t.material = from);
    let a = measured(&other);
    assert_eq!((a.source.exceeded, a.image.exceeded, a.image.other.triangles), (0, 0, of(&scene, to)), "{a:?}");
    let (_, here, there) = a.image.other.first.clone().unwrap();
    let names = [to, from].map(|m| scene.materials[usize::from(m)].name.clone());
    assert_eq!([&here, &there], [&names[0], &names[1]]);
    // and those of the source there are of another than the image
    assert_eq!(a.source.other.triangles, of(&scene, to));
    let (_, here, there) = a.source.other.first.clone().unwrap();
    assert_eq!([here, there], [&names[1], &names[0]].map(String::clone));
    assert!(!a.holds());
}

/// A square of so many cells a side, each of two triangles, those painted of another material.
fn painted(cells: u32, is_painted: impl Fn(u32, u32) -> bool) -> hardpan_builder::Scene {
    let materials = ["bare", "paint"].map(|name| Material::new(name, 0.8)).into();
    let mut scene = hardpan_builder::Scene { materials, sources: vec!["s".into()], ..Default::default() };
    let side = 40.0 / f64::from(cells);
    for [i, j] in (0..=cells).flat_map(|j| (0..=cells).map(move |i| [i, j])) {
        scene.positions.push([side * f64::from(i), side * f64::from(j), 0.0]);
    }
    for [i, j] in (0..cells).flat_map(|j| (0..cells).map(move |i| [i, j])) {
        let a = j * (cells + 1) + i;
        let c = a + cells + 2;
        for v in [[a, a + 1, c], [a, c, c - 1]] {
            let material = is_painted(i, j).into();
            scene.triangles.push(hardpan_builder::Triangle { v, material, source: 0 });
        }
    }
    scene
}

/// Where one of the two has smaller triangles, those tell what was painted beside the middles of the larger ones.
#[test]
fn by_05_materials_of_smaller_triangles() {
    let coarse = painted(1, |_, _| false);
    let fine = |is_painted: fn(u32, u32) -> bool| painted(10, is_painted);
    let strip = fine(|i, _| !(3..7).contains(&i));
    let others = |built: &hardpan_builder::Scene, source: &hardpan_builder::Scene| {
        let image = image(built);
        let a = source_error(&Terrain::open(&image).unwrap(), source, &Options::default(), 1000);
        let sides = [&a.source, &a.image].map(|side| side.other.triangles);
        assert!(a.source.exceeded + a.image.exceeded == 0 && a.holds() == (sides == [0, 0]), "{a:?}");
        sides
    };
    assert_eq!(others(&coarse, &fine(|_, _| false)), [0, 0]);
    assert_eq!(others(&coarse, &strip), [120, 0]);
    assert_eq!(others(&strip, &coarse), [0, 120]);
    // in the middle of one of two triangles alone
    assert_eq!(others(&fine(|i, j| j > i), &coarse), [1, 90]);
    // paint narrower than a step of the lattice, of which no ground is left, is nobody's
    let mut narrow = fine(|_, _| false);
    let first = narrow.positions.len() as u32;
    narrow.positions.extend([[2.0, 0.0, 0.0], [2.0 + 1e-4, 0.0, 0.0], [2.0, 40.0, 0.0], [2.0 + 1e-4, 40.0, 0.0]]);
    for v in [[0, 1, 2], [1, 3, 2]] {
        narrow.triangles.push(hardpan_builder::Triangle { v: v.map(|v| first + v), material: 1, source: 0 });
    }
    assert_eq!(others(&narrow, &narrow), [0, 0]);
}

/// A second coat on the very same triangles is what answers there if it is of higher priority, or of the first name and
/// looks up, in whatever order and from whichever corner they are given.
#[test]
fn by_05_a_second_coat() {
    let others = |built: &hardpan_builder::Scene, source: &hardpan_builder::Scene| {
        let image = image(built);
        let a = source_error(&Terrain::open(&image).unwrap(), source, &Options::default(), 1000);
        assert!(a.source.exceeded + a.image.exceeded == 0, "{a:?}");
        [&a.source, &a.image].map(|side| side.other.triangles)
    };
    let cases = [
        (0, 0, [false, false]),
        (1, 0, [true, false]),
        (0, 1, [true, true]),
        (1, -1, [true, true]),
        (1, 1, [false, false]),
    ];
    // looking up, and looking down
    let cases =
        cases.into_iter().flat_map(|(first, priority, other)| [0, 1].map(|down| (first, priority, down, other[down])));
    for (first, priority, down, is_other) in cases {
        let mut scene = painted(10, |_, _| first == 1);
        scene.materials[1].priority = priority;
        let mut coated = scene.clone();
        for (k, t) in (0..).zip(&scene.triangles[20..27]) {
            let [a, b, c] = t.v;
            let mut v = [[a, b, c], [c, a, b], [b, c, a]][k % 3];
            v.rotate_left(k % 2);
            if down == 1 {
                v.swap(0, 1);
            }
            coated.triangles.insert(25 * k, hardpan_builder::Triangle { v, material: 1 - first, source: 0 });
        }
        let told = if is_other { [7, 7] } else { [0, 0] };
        assert_eq!(others(&scene, &coated), told, "{first} {priority} {down}");
        // neither is one that is no longer there, if it stayed
        assert_eq!(others(&coated, &scene), told, "{first} {priority} {down}");
        assert_eq!(others(&coated, &coated), [0, 0], "{first} {priority} {down}");
    }
    // nor is one that looks down, where that is no ground
    let mut up = painted(10, |_, _| false);
    let coat = &mut up.materials[1];
    (coat.priority, coat.undersides) = (1, Some(Undersides::Ceiling));
    let mut down = up.clone();
    for k in 20..27 {
        let t = up.triangles[k];
        let [a, b, c] = t.v;
        up.triangles.push(hardpan_builder::Triangle { material: 1, ..t });
        down.triangles.push(hardpan_builder::Triangle { v: [a, c, b], material: 1, source: 0 });
    }
    assert_eq!(others(&up, &down), [7, 7]);
    assert_eq!(others(&down, &up), [7, 7]);
    assert_eq!(others(&down, &down), [0, 0]);
}

/// A tile states the error of ground that was moved out of it as well.
#[test]
fn by_05_what_left_a_tile() {
    let options = Options { tile_log2: Some(10), ..Options::default() };
    let (mut compared, mut differ) = (0, 0);
    for seed in 0..400 {
        let scene = heap(seed);
        let Ok(built) = build(&scene, &options) else { continue };
        // of what stands upright now only the plan is kept
        if built.report.stitch.upright > 0 || built.report.stitch.moved == [0.0; 2] {
            continue;
        }
        let a = source_error(&Terrain::open(&built.image).unwrap(), &scene, &options, 4000);
        assert!(a.holds(), "heap {seed}: {a:?}");
        compared += 1;
        let stated = |&(tile, _): &(usize, usize)| built.image[tile + 80..tile + 96].to_vec();
        differ += u32::from(tiles(&built.image).iter().map(stated).collect::<BTreeSet<_>>().len() > 1);
    }
    println!("{compared} compared, in {differ} of them tiles differ");
    assert!(compared > 150 && differ > 20, "{compared} compared, in {differ} of them tiles differ");
}

/// The worst place is the one farthest above what its own tile states.
#[test]
fn by_05_the_worst_is_beyond_its_own_tile() {
    let scene = hills(30, 1.0);
    let mut bytes = Aligned::new(&build(&scene, &Options { tile_log2: Some(15), ..as_given() }).unwrap().image);
    let (tile, _) = tiles(&bytes)[0];
    bytes[tile + 88..tile + 96].copy_from_slice(&0.5f64.to_le_bytes());
    let terrain = Terrain::open(&bytes).unwrap();
    let mut source = scene.clone();
    let raise = |source: &mut Scene, at: [f64; 2], by: f64| {
        source.positions.iter_mut().filter(|p| p[..2] == at).for_each(|p| p[2] += by);
    };
    raise(&mut source, [3.0, 3.0], 0.4); // within what the first tile states
    raise(&mut source, [20.0, 20.0], 0.1);
    let a = source_error(&terrain, &source, &Options::default(), 1000);
    let worst = &a.source.worst[0];
    assert!(a.source.exceeded > 0 && worst.at[..2] == [20.0, 20.0] && worst.stated < 1e-5, "{a:?}");
    assert!((worst.height - 0.1).abs() < 0.01 && (a.source.height - 0.4).abs() < 0.01, "{a:?}");
    // six triangles meet there; the place is reported once
    assert!(a.source.missing == 0 && a.source.farthest.is_empty(), "{a:?}");
    let places: BTreeSet<_> = a.source.worst.iter().map(|s| s.at.map(f64::to_bits)).collect();
    assert!(places.len() == a.source.worst.len() && places.len() == 8, "{a:?}");
    // where nothing is beyond it, the one with the largest error
    raise(&mut source, [20.0, 20.0], -0.1);
    let a = source_error(&terrain, &source, &Options::default(), 1000);
    let worst = &a.source.worst[0];
    assert!(a.source.exceeded == 0 && worst.at[..2] == [3.0, 3.0] && worst.height == a.source.height, "{a:?}");
}

#[test]
fn by_05_what_was_left_out() {
    let mut scene = fixtures::bridge();
    let built = image(&scene);
    let terrain = Terrain::open(&built).unwrap();
    let other = scene.materials.len() as u16;
    scene.materials.push(Material { include: false, ..Material::new("Water", 1.0) });
    scene.materials.push(Material { obstacle: true, ..Material::new("Hedge", 1.0) });
    scene.materials.push(Material { undersides: Some(Undersides::Ceiling), ..Material::new("Deck", 1.0) });
    let mut add = |corners: [[f64; 3]; 3], material: u16| {
        let first = scene.positions.len() as u32;
        scene.positions.extend(corners);
        scene.triangles.push(hardpan_builder::Triangle { v: [0, 1, 2].map(|k| first + k), material, source: 0 });
    };
    add([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 3.0]], 0);
    add([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.00001, 0.0]], 0);
    for material in [other, other + 1] {
        add([[0.0, 0.0, 9.0], [4.0, 0.0, 9.0], [0.0, 4.0, 9.0]], material);
    }
    add([[0.0, 0.0, 8.0], [0.0, 4.0, 8.0], [4.0, 0.0, 8.0]], other + 2);
    add([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.1, 3.0]], 0);
    add([[0.0, 0.0, 0.0], [1e6, 0.0, 0.0], [0.0, 10.0, 0.0]], 0);
    let again = scene.triangles[0];
    scene.triangles.push(again);
    let rules = Options { max_slope: Some(88.0), ..Options::default() };
    let a = source_error(&terrain, &scene, &rules, 1000);
    let counts: Vec<_> = a.lost.iter().map(|l| (l.cause, l.triangles)).collect();
    let causes = [
        "vertical",
        "collapsed",
        "duplicate",
        "excluded material",
        "obstacle",
        "outside the domain",
        "underside",
        "steeper than the limit",
    ];
    assert_eq!(counts, causes.map(|c| (c, 1)));
    assert_eq!((a.lost[3].plan_area, a.lost[3].first), (8.0, Some([0.0, 0.0, 9.0])));
    assert!(a.holds(), "{a:?}");
    // where an image has ground of them nevertheless, it gained that
    for no_ground in [other, other + 1] {
        let mut with = scene.clone();
        with.materials[usize::from(no_ground)] = Material::new("Hay", 1.0);
        with.materials[usize::from(other + 2)].name = "Plate".into();
        with.triangles.remove(with.triangles.len() - 2); // the one outside
        let built = build(&with, &rules).unwrap().image;
        let a = source_error(&Terrain::open(&built).unwrap(), &scene, &rules, 1000);
        let gained = |s: &Spot| s.at[2] == 9.0 && s.height == 3.0; // above the deck, and not above the underside
        assert!(a.source.exceeded == 0 && a.image.exceeded > 200 && gained(&a.image.worst[0]), "{a:?}");
    }
    // what looks down or is too steep, too
    let gained = |with: &Scene, options: &Options, spot: &dyn Fn(&Spot) -> bool| {
        let mut with = with.clone();
        with.materials[usize::from(other + 2)].name = "Plate".into();
        with.triangles.remove(with.triangles.len() - 2); // the one outside
        let built = build(&with, options).unwrap().image;
        let a = source_error(&Terrain::open(&built).unwrap(), &scene, &rules, 1000);
        assert!(a.source.exceeded == 0 && a.image.exceeded > 50 && spot(&a.image.worst[0]), "{a:?}");
    };
    let mut deck = scene.clone();
    deck.materials[usize::from(other + 2)].undersides = Some(Undersides::Ground);
    gained(&deck, &rules, &|s| s.at[2] == 8.0);
    gained(&scene, &Options { max_slope: None, ..rules.clone() }, &|s| s.at[2] == 3.0 && s.height == 3.0);
}

/// Slopes are those of the source: `build` and `source_error` tell alike which are above a limit, and what is at it
/// stays.
#[test]
fn by_05_what_is_too_steep() {
    const SIDE: u32 = 24;
    const PITCH: f64 = 0.3; // no number of steps
    let mut random = Random(5);
    let levels: Vec<i64> = (0..SIDE * SIDE).map(|_| random.within(0, 3)).collect();
    let place = |(i, level): (u32, &i64)| [i % SIDE, i / SIDE, *level as u32].map(|v| 7.7 + PITCH * f64::from(v));
    let mut scene = Scene {
        positions: (0..).zip(&levels).map(place).collect(),
        materials: vec![Material::new("m", 0.8)],
        sources: vec!["s".into()],
        ..Scene::default()
    };
    // squares of rises along x and y
    let mut rises = Vec::new();
    for k in (0..SIDE * (SIDE - 1)).filter(|k| k % SIDE + 1 < SIDE) {
        for v in [[k, k + 1, k + SIDE], [k + SIDE + 1, k + SIDE, k + 1]] {
            scene.triangles.push(Triangle { v, material: 0, source: 0 });
            let [a, b, c] = v.map(|v| levels[v as usize]);
            rises.push((b - a).pow(2) + (c - a).pow(2));
        }
    }
    for (limit, square) in
        [(30.0, 0), (45.0, 1), (1f64.atan().to_degrees(), 1), (60.0, 3), (2f64.atan().to_degrees(), 4)]
    {
        let steep = rises.iter().filter(|rise| **rise > square).count() as u64;
        let rules = Options { max_slope: Some(limit), ..Options::default() };
        let built = build(&scene, &rules).unwrap();
        let a = source_error(&Terrain::open(&built.image).unwrap(), &scene, &rules, 1000);
        assert_eq!([built.report.left_out.steep, a.lost[7].triangles], [steep; 2], "{limit}");
        assert!(a.holds(), "{limit}: {a:?}");
    }
    // upright but for rounding, and so close to a limit that rounding decides: what a build may keep is a source of
    // ground
    let mut doubtful = Scene { triangles: Vec::new(), positions: Vec::new(), ..scene };
    let mut add = |corners: [[f64; 3]; 3]| {
        let first = doubtful.positions.len() as u32;
        doubtful.positions.extend(corners);
        doubtful.triangles.push(Triangle { v: [0, 1, 2].map(|k| first + k), material: 0, source: 0 });
    };
    for k in 0..300 {
        let y = 20.0 * f64::from(k);
        let [run, rise] = [1, 2].map(|_| random.within(10_000, 90_000) as f64 / 9_999.0);
        let along = |t: f64, z: f64| [run * t, y + rise * t, z];
        add([along(0.0, 0.0), along(1.0, 0.0), along(random.within(1, 98) as f64 / 99.0, 3.0)]);
        let height = (60.0 + 1e-8 * f64::from(k)).to_radians().tan();
        add([[20.0, y, 0.0], [20.0, y + 9.0, 0.0], [21.0, y, height]]);
    }
    for limit in [60.0, 89.9999995] {
        let rules = Options { max_slope: Some(limit), ..Options::default() };
        let built = build(&doubtful, &rules).unwrap();
        let a = source_error(&Terrain::open(&built.image).unwrap(), &doubtful, &rules, 1000);
        assert!(a.holds() && (1..590).contains(&built.report.left_out.steep), "{limit}: {a:?}");
    }
}

/// A part that is closed in its file may not be closed in two files joined by name. A face that looks down there is a
/// source of ground nevertheless.
#[test]
fn by_05_a_file_twice() {
    let mut once = fixtures::bridge();
    let base = once.positions.len() as u32;
    let corner = |i: usize| [0, 1, 2].map(|k| 4.0 + (i >> k & 1) as f64);
    once.positions.extend((0..8).map(corner));
    for [a, b, c, d] in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        for v in [[a, b, c], [a, c, d]] {
            once.triangles.push(Triangle { v: v.map(|v| base + v), material: 0, source: 1 });
        }
    }
    once.sources = ["ground", "box"].map(String::from).into();
    let mut twice = once.clone();
    twice.triangles.extend(once.triangles.iter().filter(|t| t.source == 1));
    let mut apart = twice.clone();
    apart.sources.push("copy".into());
    apart.triangles[once.triangles.len()..].iter_mut().for_each(|t| t.source = 2);
    let undersides = [&once, &twice, &apart].map(|scene| {
        let built = build(scene, &Options::default()).unwrap();
        for source in [&once, &twice, &apart] {
            let a = source_error(&Terrain::open(&built.image).unwrap(), source, &Options::default(), 1000);
            // an image that lacks what looks down lacks ground of a source in which it is no underside
            let lacks = std::ptr::eq(source, &twice) && !std::ptr::eq(scene, &twice);
            assert_eq!(a.holds(), !lacks, "{a:?}");
        }
        built.report.left_out.ceilings
    });
    assert_eq!(undersides, [2, 0, 4]);
}
