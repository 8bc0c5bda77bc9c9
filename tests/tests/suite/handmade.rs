//! An image made by hand from the tables of `kernel/FORMAT.md`, with the records that the builder never writes.
//!
//! Two tiles: *P*, number 0, at (-1, 3), holds a field; *T*, number 1, at (0, 0), holds all kinds of triangles. Lengths
//! are in units of 1,024 plan steps, "u". A tile has 256 u, a page four tiles, the image three by two pages.

use hardpan::{Answer, Cost, Cursor, Hit, LeafKind, OpenError, Point, Reach, Status, Terrain, Trace, VerifyError};
use verification::bytes::{Aligned, BLANK, Opened, exercise, extreme_points, mend_all};
use verification::fnv::Fnv;
use verification::random::Random;

/// Steps of a u.
const U: i64 = 1024;
/// In steps: 4,096 m, -8,192 m and 4,096 m from the source frame's zero.
const ORIGIN: [i64; 3] = [1 << 24, -(2 << 24), 1 << 28];
/// Lowest is the wide triangle, highest the field with u16 posts in T.
const MIN: [i32; 3] = [-512 * 1024, 0, -86_016];
const MAX: [i32; 3] = [1024 * 1024 - 1, 1024 * 1024 - 1, 442_744];
/// Length of P and T in bytes, and where T's bundles stand, in 128 bytes.
const P_LEN: usize = 2560;
const T_LEN: usize = 266_496;
const T_BUNDLES: u32 = 11;
/// Bundles of T's four nodes that have some, one after the other.
const ROOT_BUNDLES: u32 = 13;
const D_BUNDLES: u32 = 2;
const E_BUNDLES: u32 = 1;
const F_BUNDLES: u32 = 2050;
const DEFAULT_Z: i64 = -12_345;

/// Numbers, little-endian, one after the other.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, v: u16) {
        self.0.extend(v.to_le_bytes());
    }
    fn u32(&mut self, v: u32) {
        self.0.extend(v.to_le_bytes());
    }
    fn i32s(&mut self, v: &[i32]) {
        v.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }
    fn u32s(&mut self, v: &[u32]) {
        v.iter().for_each(|&v| self.u32(v));
    }
    fn u64s(&mut self, v: &[u64]) {
        v.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }
    fn i64s(&mut self, v: &[i64]) {
        v.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }
    fn f64s(&mut self, v: &[f64]) {
        v.iter().for_each(|v| self.0.extend(v.to_le_bytes()));
    }
    /// Zeros up to a length.
    #[track_caller]
    fn zeros_to(&mut self, len: usize) {
        assert!(self.0.len() <= len, "{} bytes, {len} wanted", self.0.len());
        self.0.resize(len, 0);
    }
}

/// A tile's words, put where the test says.
struct Words(Vec<u32>);

impl Words {
    #[track_caller]
    fn put(&mut self, at: usize, words: &[u32]) {
        let to = &mut self.0[at..at + words.len()];
        assert!(to.iter().all(|&w| w == 0), "word {at} is taken");
        to.copy_from_slice(words);
    }
    fn bytes(&mut self, at: usize, bytes: Bytes) {
        let words: Vec<u32> = bytes.0.chunks(4).map(|c| u32::from_le_bytes(c.try_into().unwrap())).collect();
        self.put(at, &words);
    }
}

/// FORMAT.md, "Node": sides of an entry and number of entries (log2), flags, shift; base; entries; bundles and count;
/// first block.
fn node(
    sides: [u8; 4],
    flags: u8,
    shift: u8,
    base: [i32; 2],
    entries: u32,
    [first_bundle, count]: [u32; 2],
    block: u32,
) -> [u32; 8] {
    let [first, second] = [u32::from_le_bytes(sides), u32::from(flags) | u32::from(shift) << 8];
    [first, second, base[0] as u32, base[1] as u32, entries, first_bundle, count, block]
}

/// FORMAT.md, "Entry": kinds, and the three codes.
const fn entry(kind: u32, place: u32) -> u32 {
    kind << 29 | place
}
const EMPTY: u32 = entry(1, 1);
const NOT_IN_IMAGE: u32 = entry(1, 2);
const NOT_UNDERSTOOD: u32 = entry(1, 3);

/// FORMAT.md, "Cell word": bundle, triangles, the one to test first; and words without triangles.
const fn cell(bundle: u32, mask: u32, first: u32) -> u32 {
    bundle << 21 | first << 16 | mask
}
const SHEET: u32 = 1 << 20;
const NO_GROUND: u32 = 1 << 16;
const LIST: u32 = 3 << 16;
const NODE_PLACE: u32 = 4 << 16;
const OTHER_IMAGE: u32 = 5 << 16;
const NEWER: u32 = 6 << 16;
/// A patch whose record stands at a word of the tile.
const fn patch_at(word: u32) -> u32 {
    (word / 16) << 21 | 2 << 16
}

/// FORMAT.md, "Block": home words, further words of each cell, tail; up to six further words.
fn block(home: [u32; 8], counts: u32, tail: u32, further: &[u32]) -> [u32; 16] {
    let mut words = [0; 16];
    words[..8].copy_from_slice(&home);
    (words[8], words[9]) = (counts, tail);
    words[10..10 + further.len()].copy_from_slice(further);
    words
}

/// FORMAT.md, "Bundle": what is before the vertices.
fn bundle(base: [i16; 2], z: i32, slope: [i16; 2], class: u16, palette: u16, corners: &[[u16; 3]]) -> Vec<u16> {
    let mut halves = vec![base[0] as u16, base[1] as u16, z as u16, (z >> 16) as u16, slope[0] as u16, slope[1] as u16];
    halves.push(palette | class << 8 | (corners.len() as u16 - 1) << 12);
    for corner in 0..3 {
        for four in 0..4 {
            let nibbles = (0..4).map(|i| corners.get(4 * four + i).map_or(0, |c| c[corner] << (4 * i)));
            halves.push(nibbles.sum());
        }
    }
    halves
}

fn narrow(base: [i16; 2], z: i32, slope: [i16; 2], palette: u16, corners: &[[u16; 3]], at: &[[u16; 3]]) -> Vec<u16> {
    let mut halves = bundle(base, z, slope, 0, palette, corners);
    halves.extend(at.iter().map(|v| v[2]));
    halves.resize(34, 0);
    at.iter().for_each(|v| halves.extend(&v[..2]));
    halves
}

/// One level triangle with a right angle at the base.
fn level(base: [i16; 2], z: i32, palette: u16, [x, y]: [u16; 2]) -> Vec<u16> {
    narrow(base, z, [0, 0], palette, &[[1, 2, 3]], &[[0, 0, 0], [x, 0, 0], [0, y, 0]])
}

/// FORMAT.md, "Patch": rate, from, first and cells, class, voids and long, place, palette entry, up.
struct Record {
    rate: u64,
    from: [i64; 2],
    first: [u32; 2],
    cells: [u32; 2],
    class: u8,
    voids: u8,
    long: u8,
    place: u32,
    palette: u8,
    up: u64,
}

impl Record {
    fn words(&self) -> [u32; 16] {
        let Record { rate, from, first, cells, .. } = *self;
        let kind = u32::from_le_bytes([self.class, 0, self.voids, self.long]);
        let blocks = cells[0].div_ceil(4);
        [
            rate as u32,
            (rate >> 32) as u32,
            from[0] as u32,
            (from[0] >> 32) as u32,
            from[1] as u32,
            (from[1] >> 32) as u32,
            first[0],
            first[1],
            cells[0],
            cells[1],
            kind,
            blocks,
            self.place,
            self.palette.into(),
            self.up as u32,
            (self.up >> 32) as u32,
        ]
    }
}

/// FORMAT.md, "Patch", the block of each class: 25 posts row by row.
fn posts_of_bytes(base: i32, scale: u32, post: impl Fn(u32, u32) -> u8) -> Bytes {
    let mut b = Bytes::default();
    b.i32s(&[base]);
    b.u32(scale);
    b.0.pop();
    b.0.extend((0..25).map(|k| post(k % 5, k / 5)));
    b.zeros_to(32);
    b
}

fn posts_of_halves(base: i32, scale: u32, post: impl Fn(u32, u32) -> u16) -> Bytes {
    let mut b = Bytes::default();
    b.i32s(&[base]);
    b.u32(scale);
    (0..25).for_each(|k| b.u16(post(k % 5, k / 5)));
    b.zeros_to(64);
    b
}

/// FORMAT.md, "Tile": `patches` and their number, `bundles` and theirs, triangles, heights, layers, bound.
#[allow(clippy::too_many_arguments)]
fn tile_head(
    index: u32,
    [x, y]: [i32; 2],
    len: usize,
    palette: u32,
    patches: [u32; 2],
    bundles: [u32; 3],
    z: [i32; 2],
    layers: u32,
    bound: [u32; 4],
) -> Bytes {
    let mut b = Bytes::default();
    b.0.extend(b"TILE");
    b.u32(index);
    b.i32s(&[x, y]);
    b.u32s(&[len as u32 / 4, 0, palette]);
    b.u32s(&patches);
    b.u32s(&bundles);
    b.i32s(&z);
    b.u32s(&[layers, 0]);
    b.u32s(&bound);
    b.f64s(&[0.001, 0.002]);
    b.zeros_to(128);
    b
}

/// P: a dense root of 1 x 2 blocks, 256 palette entries, no bundle, and a field with a post missing.
fn tile_p() -> Vec<u32> {
    let mut t = Words(vec![0; P_LEN / 4]);
    // nodes: directory, page, root; four cells of the field, for it has voids, and the line of the block
    t.bytes(0, tile_head(0, [-1, 3], P_LEN, 256, [560, 1], [20, 0, 0], [100, 1800], 1, [3, 4, 4, 5]));
    // entries of 256 u x 128 u
    t.put(32, &node([18, 17, 0, 1], 1, 0, [0, 0], 576, [20, 0], 0));
    for k in 0..256 {
        t.put(40 + 2 * k, &[if k == 255 { 1 | 1 << 16 } else { 2 }, 0]);
    }
    // Pitch 16 u = 2^22 query steps. The field's first post is at (-319 u, 705 u), the part's four cells further on.
    let record = Record {
        rate: 1 << 42,
        from: [-319 << 18, 705 << 18],
        first: [4, 4],
        cells: [3, 3],
        class: 1,
        voids: 1,
        long: 0,
        place: 38, // x 64 bytes: word 608
        palette: 255,
        up: 1 << 38, // 2^24 x 2^14
    };
    t.put(560, &record.words());
    // cells of 64 u x 64 u
    let south = [patch_at(560), NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND];
    t.put(576, &block(south, 0, 0, &[]));
    t.put(
        592,
        &block([NO_GROUND, OTHER_IMAGE, NEWER, NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND, NO_GROUND], 0, 0, &[]),
    );
    // 100 + 500 i + 100 j steps; the unit is one step
    let post = |i: u32, j: u32| if i >= 3 && j >= 3 { 0xFFFF } else { (500 * i.min(3) + 100 * j.min(3)) as u16 };
    t.bytes(608, posts_of_halves(100, 8, post));
    t.0
}

/// T: see the tests for what is where.
fn tile_t() -> Vec<u32> {
    const HALF: u16 = 12 * 1024;
    let mut t = Words(vec![0; T_LEN / 4]);
    let count = ROOT_BUNDLES + D_BUNDLES + E_BUNDLES + F_BUNDLES;
    assert_eq!(count, 2066);
    // Triangles: 2 + 1 + 8 + 2 + 2 + 1 of the root, and one a bundle elsewhere. Deepest: directory, page, root, D, E.
    // Dearest: the cell of eight words: eight leaves and tests; the block, two lines of the tail, 16 of bundles.
    let (bundles, heights) = ([T_BUNDLES, count, 16 + 2053], [MIN[2], MAX[2]]);
    t.bytes(0, tile_head(1, [0, 0], T_LEN, 3, [48, 4], bundles, heights, 8, [5, 8, 8, 19]));
    t.put(40, &[0, 0, 1 | 1 << 16, 0, 2, 0]);

    // The root, sparse: entries of 64 u x 64 u; behind it D, E and F. A node's blocks follow its entries. They have
    // numbers in the order in which a walk leaves the nodes: E's, D's, F's, and then the root's own, A and C.
    t.put(32, &node([16, 16, 2, 2], 0, 10, [0, 0], 136, [T_BUNDLES, ROOT_BUNDLES], 6));
    let first = [entry(3, 160), EMPTY, NOT_IN_IMAGE, NOT_UNDERSTOOD];
    let second = [entry(2, 112), entry(4, 64), entry(3, 176), entry(2, 128)];
    t.put(136, &[first, second, [EMPTY; 4], [EMPTY; 4]].concat());
    // D, dense: 2 x 2 blocks of 32 u x 32 u, the first the place of E.
    let mut bundles = T_BUNDLES + ROOT_BUNDLES;
    t.put(112, &node([15, 15, 1, 1], 1, 5, [0, 64 * 1024], 288, [bundles, D_BUNDLES], 1));
    // E, sparse: 2 x 4 entries of 16 u x 8 u.
    bundles += D_BUNDLES;
    t.put(120, &node([14, 13, 1, 2], 0, 0, [0, 64 * 1024], 264, [bundles, E_BUNDLES], 0));
    t.put(264, &[entry(3, 272), EMPTY, NOT_IN_IMAGE, NOT_UNDERSTOOD, EMPTY, EMPTY, EMPTY, EMPTY]);
    // F, sparse: one entry.
    bundles += E_BUNDLES;
    t.put(128, &node([16, 16, 0, 0], 0, 10, [192 * 1024, 64 * 1024], 223, [bundles, F_BUNDLES], 5));
    t.put(223, &[entry(3, 224)]);

    // Patch records: all of a field, from its first post in u.
    let record = |rate, from: [i64; 2], cells, class, voids, place, palette, up| {
        let from = from.map(|u| u << 18);
        Record { rate, from, first: [0; 2], cells, class, voids, long: voids, place, palette, up }.words()
    };
    // pitch 4 u; bytes, with voids and a long block
    t.put(48, &record(1 << 44, [17, 33], [3, 7], 0, 1, 8308, 2, 1 << 36));
    // pitch 8 u; half words
    t.put(64, &record(1 << 43, [66, 66], [7, 7], 1, 0, 4156, 0, 1 << 37));
    // pitch 8 u; one cell
    t.put(80, &record(1 << 43, [194, 66], [1, 1], 0, 0, 8310, 2, 1 << 37));
    // pitch 4 u; three cells in a row
    t.put(96, &record(1 << 44, [33, 65], [3, 1], 0, 0, 8311, 1, 1 << 36));

    // A, 64 u x 64 u from (0, 0), in cells of 16 u x 32 u: floor and roof in two cells, one sheet in two bundles,
    // nothing; a stack of eight, a patch, two codes. The tail crosses from one line to the next.
    let stack: Vec<u32> = (2..10).map(|b| cell(b, 1, 0) | if b > 2 { SHEET } else { 0 }).collect();
    let (floor, roof) = (cell(0, 3, 1), cell(1, 1, 0) | SHEET);
    let home = [floor, floor, cell(10, 3, 0), NO_GROUND, stack[0], patch_at(48), OTHER_IMAGE, NEWER];
    let inline = [roof, roof, cell(11, 3, 0), stack[1], stack[2], stack[3]];
    t.put(160, &block(home, 0x0007_0111, 206, &inline));
    t.put(206, &stack[4..]);
    // C, from (128 u, 64 u): a wide bundle.
    let mut home = [NO_GROUND; 8];
    home[0] = cell(12, 1, 0);
    t.put(176, &block(home, 0, 0, &[]));
    // D's blocks.
    t.put(288, &block([NODE_PLACE; 8], 0, 120, &[]));
    let mut home = [NO_GROUND; 8];
    (home[0], home[1]) = (patch_at(96), cell(1, 1, 0));
    t.put(304, &block(home, 0x11, 0, &[cell(0, 1, 0) | SHEET, patch_at(96) | SHEET]));
    t.put(320, &block([NO_GROUND; 8], 0, 0, &[]));
    t.put(336, &block([OTHER_IMAGE, OTHER_IMAGE, OTHER_IMAGE, OTHER_IMAGE, NEWER, NEWER, NEWER, NEWER], 0, 0, &[]));
    // E's block and F's.
    let mut home = [NO_GROUND; 8];
    home[0] = cell(0, 1, 0);
    t.put(272, &block(home, 0, 0, &[]));
    home[0] = LIST;
    t.put(224, &block(home, 1, 0, &[252]));
    // The list: three pairs in two lines; one bundle beyond 2,047.
    t.put(252, &[3, 1 | SHEET, 0, 1 | SHEET, 2049, 2 << 16 | SHEET, 80 / 16]);

    let mut bundles: Vec<Vec<u16>> = Vec::new();
    // Floor over (0, 0) to (24 u, 24 u): z = 1000 + (2 x - y) / 256 + dz.
    let quad = [[1, 2, 3], [1, 3, 4]];
    let corners = [[0, 0, 0], [2 * HALF, 0, 0], [2 * HALF, 2 * HALF, 0], [0, 2 * HALF, 96]];
    bundles.push(narrow([0, 0], 1000, [2, -1], 1, &quad, &corners));
    // Roof, medium: base (-64 u, -64 u), z 60,000; corners (0, 0), (24 u, 0), (0, 24 u) at 70,000, 168,304 and 70,000.
    // 64 u = 0x10000, 88 u = 0x16000, 10,000 = 0x2710, 108,304 = 0x1A710.
    let mut halves = bundle([-64, -64], 60_000, [0, 0], 1, 2, &[[1, 2, 3]]);
    halves.resize(20, 0);
    halves.extend([0, 0x7101, 0, 0x0021, 0x6000, 0x7101, 0, 0x01A1, 0, 0x7101, 0x6000, 0x0021]);
    bundles.push(halves);
    // The stack: (1 u, 33 u), (15 u, 33 u), (1 u, 63 u) at 2,000, 3,000 ... 9,000.
    bundles.extend((0..8).map(|k| level([1, 33], 2000 + 1000 * k, k as u16 % 3, [14 * 1024, 30 * 1024])));
    // One sheet: (33 u, 1 u) to (40 u, 31 u) at 1,200; to (47 u, 31 u) rising by 56.
    let corners = |dz| [[0, 0, 0], [7 * 1024, 0, dz], [7 * 1024, 30 * 1024, dz], [0, 30 * 1024, 0]];
    bundles.push(narrow([33, 1], 1200, [0, 0], 0, &quad, &corners(0)));
    bundles.push(narrow([40, 1], 1200, [0, 0], 2, &quad, &corners(56)));
    // Wide: (129 u, 65 u, 0), (143 u, 65 u, 28,672), (129 u, 93 u, -86,016).
    let mut halves = bundle([0, 0], 0, [0, 0], 2, 1, &[[1, 2, 3]]);
    halves.resize(22, 0);
    for v in [129 * 1024, 65 * 1024, 0, 143 * 1024, 65 * 1024, 28_672, 129 * 1024, 93 * 1024, -86_016i32] {
        halves.extend([v as u16, (v >> 16) as u16]);
    }
    bundles.push(halves);
    // D's, at multiples of 32 steps from (0, 64 u).
    bundles.push(level([33 * 32, 32], 600, 2, [6 * 1024, 12 * 1024]));
    bundles.push(level([41 * 32, 32], 700, 0, [6 * 1024, 12 * 1024]));
    // E's, at (-3, 64 u + 5): corners (1 u, 65 u), (3 u, 65 u), (1 u, 67 u); z = 5000 - x + y from the base.
    let corners = [[1027, 1019, 0], [3075, 1019, 0], [1027, 3067, 0]];
    bundles.push(narrow([-3, 5], 5000, [-256, 256], 0, &[[1, 2, 3]], &corners));
    // F's: (193 u, 65 u), (207 u, 65 u), (193 u, 93 u), the last higher.
    let steps = [14 * 1024, 28 * 1024];
    bundles.extend((0..2050).map(|k| level([1, 1], if k == 2049 { 1900 } else { 900 }, u16::from(k == 2049), steps)));
    assert_eq!(bundles.len(), count as usize);
    for (k, halves) in bundles.into_iter().enumerate() {
        let mut b = Bytes::default();
        halves.into_iter().for_each(|h| b.u16(h));
        b.zeros_to(128);
        t.bytes(32 * (T_BUNDLES as usize + k), b);
    }

    // Patch blocks. First field: 30,000 + twice 5 + 10 i + 3 j, post (1, 1) higher by 200, post (3, 7) missing.
    let post = |i: u32, j: u32| match (i.min(3), j.min(7)) {
        (1, 1) => 118,
        (3, 7) => 255,
        (i, j) => (5 + 10 * i + 3 * j) as u8,
    };
    t.bytes(8 * 8308, posts_of_bytes(30_000, 9, post));
    // the northern block is a long one, behind all others
    t.put(8 * 8309, &[4160, 0xFF]);
    let half = |post: u8| if post == 255 { 0xFFFF } else { u16::from(post) };
    t.bytes(16 * 4160, posts_of_halves(30_000, 9, |i, j| half(post(i, 4 + j))));
    t.bytes(8 * 8310, posts_of_bytes(2850, 8, |_, _| 50));
    t.bytes(8 * 8311, posts_of_bytes(400, 8, |_, _| 10));
    // Second field: -5,000 + 256 times 1000 + 100 i + 7 j.
    for (k, [x, y]) in [[0, 0], [4, 0], [0, 4], [4, 4]].into_iter().enumerate() {
        let post = |i: u32, j: u32| (1000 + 100 * (x + i).min(7) + 7 * (y + j).min(7)) as u16;
        t.bytes(16 * (4156 + k), posts_of_halves(-5000, 16, post));
    }
    t.0
}

/// A name as long as its field allows, and one longer than 16 bits say, of two bytes a letter.
fn names() -> [String; 5] {
    ["a".into(), "b".repeat(65_535), "c".into(), "s".into(), "ß".repeat(35_000)]
}

/// A section behind the eight that each image has, and what stands in it.
#[derive(Clone, Copy)]
struct More {
    kind: u32,
    flags: u32,
}
const MORE: &[u8] = b"more by hand";
/// Length of the head.
const HEAD: usize = 2048;

/// The whole image.
fn image(more: &[More]) -> Aligned {
    let names = names();
    let mut starts = vec![0u32];
    names.iter().for_each(|n| starts.push(starts.last().unwrap() + n.len() as u32));
    let mut bodies: [Bytes; 8] = Default::default();
    let [materials, text, sources, directory, pages, table, tiles, provenance] = &mut bodies;
    text.0 = names.concat().into_bytes();
    // FORMAT.md, "Material": four numbers; name; surface; class mask, label, flags, priority.
    let properties = [
        ([0.5, 1.0, 1.0, 0.0], 0u16, [0u32, 0, 0], 0i32),
        ([0.25, 1.5, 2.0, 300.0], 7, [0xF0, 99, 1], -5),
        ([0.75, 1.25, 1.0, 0.0], 65_535, [u32::MAX, u32::MAX, 0], i32::MAX),
    ];
    for (k, (numbers, surface, rest, priority)) in properties.into_iter().enumerate() {
        materials.f64s(&numbers);
        materials.u32(starts[k]);
        materials.u16(names[k].len() as u16);
        materials.u16(surface);
        materials.u32s(&rest);
        materials.i32s(&[priority]);
        materials.u64s(&[0]);
    }
    for k in 3..5 {
        sources.u32s(&[starts[k], names[k].len() as u32, 0, 0]);
    }
    // Empty, T's page, not in this image; P's page, not understood, empty.
    directory.u32s(&[1, 17, 2, 16, 3, 1]);
    // P's page: empty, not in this image, not understood, P. T's: T, empty, not in this image, not understood.
    pages.u32s(&[1, 2, 3, 16, 16 + P_LEN as u32 / 128, 1, 2, 3]);
    let mut digests = Vec::new();
    for (words, x, y) in [(tile_p(), -1, 3), (tile_t(), 0, 0)] {
        let at = tiles.0.len();
        tiles.u32s(&words);
        let digest = sha256(&tiles.0[at..]);
        digests.extend(digest);
        table.u64s(&[at as u64, (tiles.0.len() - at) as u64]);
        table.u32(crc32(&tiles.0[at..]));
        table.i32s(&[x, y, 0]);
        table.0.extend(digest);
    }
    provenance.0 = b"by hand".to_vec();

    let mut head = Bytes::default();
    let mut rest = Bytes::default();
    let mut sections = Bytes::default();
    let mut identity = Vec::new();
    let known = bodies.iter().enumerate().map(|(k, body)| (k as u32 + 1, if k == 7 { 0 } else { 3 }, &body.0[..]));
    for (kind, flags, body) in known.chain(more.iter().map(|more| (more.kind, more.flags, MORE))) {
        let digest = if kind == 7 { sha256(&digests) } else { sha256(body) };
        if flags & 2 != 0 {
            identity.extend(kind.to_le_bytes());
            identity.extend(digest);
        }
        sections.u32s(&[kind, flags]);
        sections.u64s(&[(HEAD + rest.0.len()) as u64, body.len() as u64]);
        sections.u32s(&[if kind == 7 { 0 } else { crc32(body) }, 0]);
        sections.0.extend(digest);
        rest.0.extend(body);
        let len = rest.0.len().next_multiple_of(128);
        rest.zeros_to(len);
    }
    // FORMAT.md, "Head", from byte 64: the content header.
    head.u64s(&[0]);
    head.i32s(&[-12, -16]);
    head.i64s(&ORIGIN);
    head.i32s(&MIN);
    head.i32s(&MAX);
    head.u32s(&[18, 1]);
    head.i32s(&[-1, 0]);
    head.u32s(&[3, 2, 2, 8]);
    // triangles, without F's repeated ones; bundles; patch blocks: 1 + 2 + 4 + 1 + 1; triangles in bundles
    head.u64s(&[21, 2066, 9, 16 + 2053]);
    // near 100 steps, far 1,000,000, layers from 2 apart
    head.i64s(&[25_600, 256_000_000, 512, DEFAULT_Z]);
    head.f64s(&[0.125, 3.0, 0.5]);
    // fall-back, one wide bundle, bound
    head.u32s(&[1, 1, 5, 8, 8, 19]);
    head.f64s(&[0.001, 0.002]);
    // bounds of rays and tyres are not stated; without a height the highest ground answers
    head.zeros_to(448);
    sections.zeros_to(24 * 64);
    let identity = sha256(&[&head.0[..], &identity].concat());

    let mut whole = Bytes::default();
    whole.0.extend(b"HARDPAN\n");
    whole.u16(3);
    whole.u16(3);
    whole.u32(HEAD as u32);
    whole.u64s(&[(HEAD + rest.0.len()) as u64]);
    whole.u32s(&[0, 0]);
    for part in [&identity[..], &head.0, &sections.0, &rest.0] {
        whole.0.extend(part);
    }
    let crc = crc32(&whole.0[..HEAD]);
    whole.0[24..28].copy_from_slice(&crc.to_le_bytes());
    Aligned::new(&whole.0)
}

/// The image, for other suites.
pub fn by_hand() -> Aligned {
    image(&[])
}

/// CRC-32 (ISO-HDLC).
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0, |crc, &b| (0..8).fold(crc ^ u32::from(b), |c, _| c >> 1 ^ if c & 1 == 1 { 0xEDB8_8320 } else { 0 }))
}

/// SHA-256 as FIPS 180-4 has it; its constants are roots of primes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let primes: Vec<u128> = (2..312).filter(|n| (2..*n).all(|d| n % d != 0)).collect();
    // the largest number of 36 bits whose power is not above
    let root = |v: u128, power: u32| {
        (0..36).rev().fold(0u128, |r, b| if (r | 1 << b).pow(power) <= v { r | 1 << b } else { r })
    };
    let k: Vec<u32> = primes.iter().map(|p| root(p << 96, 3) as u32).collect();
    let mut state: [u32; 8] = std::array::from_fn(|i| root(primes[i] << 64, 2) as u32);
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize(message.len() + (119 - bytes.len() % 64) % 64, 0);
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for chunk in message.as_chunks::<64>().0 {
        let mut w: Vec<u32> = chunk.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b)).collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s = a.rotate_right(7) ^ a.rotate_right(18) ^ a >> 3;
            let t = b.rotate_right(17) ^ b.rotate_right(19) ^ b >> 10;
            w.push(w[i - 16].wrapping_add(s).wrapping_add(w[i - 7]).wrapping_add(t));
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for i in 0..64 {
            let s = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let one = h.wrapping_add(s).wrapping_add(e & f ^ !e & g).wrapping_add(k[i]).wrapping_add(w[i]);
            let s = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = s.wrapping_add(a & b ^ a & c ^ b & c);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
        }
        for (s, v) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *s = s.wrapping_add(v);
        }
    }
    let mut out = [0; 32];
    out.as_chunks_mut::<4>().0.iter_mut().zip(state).for_each(|(to, s)| *to = s.to_be_bytes());
    out
}

/// A place in 2^-2 u from the origin, and a height in steps.
fn at(x: i64, y: i64, z: i64) -> Point {
    let plan = |v: i64, k: usize| (v * U / 4 + ORIGIN[k]) * 256;
    Point { x: plan(x, 0), y: plan(y, 1), z: (z + ORIGIN[2]) * 256 }
}

enum Want {
    /// Height in half steps, normal, material and source, kind of leaf, stage.
    Ground(i64, [i64; 3], [u16; 2], LeafKind, Reach),
    Nothing,
    Elsewhere,
}
use LeafKind::{Bundle, Patch};
use Reach::{FarAbove, FarBelow, Near};
use Want::{Elsewhere, Ground, Nothing};

/// Places in quarters of u, answers, and costs: nodes, leaves, tests, lines.
fn expected() -> Vec<([i64; 3], Want, [u32; 4])> {
    let mut list = Vec::new();
    let mut add = |place, want, cost| list.push((place, want, cost));
    let (m0, m1, m2) = ([0, 0], [1, 1], [2, 0]);

    // Beyond the bounds. Directory: empty, not in this image, not understood, empty.
    for p in [[-2049, 4, 0], [4, -1, 0], [4096, 4, 0], [4, 4096, 0]] {
        add(p, Elsewhere, [0, 0, 0, 0]);
    }
    add([-400, 40, 0], Nothing, [1, 0, 0, 0]);
    add([2400, 40, 0], Elsewhere, [1, 0, 0, 0]);
    add([40, 2400, 0], Elsewhere, [1, 0, 0, 0]);
    add([2400, 2400, 0], Nothing, [1, 0, 0, 0]);
    // Pages: empty, not in this image, not understood; P's, then T's.
    for (p, want) in [([-1100, 2100], 0), ([-100, 2100], 1), ([-1100, 3100], 1), ([1100, 40], 0), ([40, 1100], 1)] {
        add([p[0], p[1], 0], if want == 0 { Nothing } else { Elsewhere }, [2, 0, 0, 0]);
    }
    add([1100, 1100, 0], Elsewhere, [2, 0, 0, 0]);
    // T's root: empty, not in this image, not understood.
    add([280, 40, 0], Nothing, [3, 0, 0, 0]);
    add([520, 40, 0], Elsewhere, [3, 0, 0, 0]);
    add([800, 40, 0], Elsewhere, [3, 0, 0, 0]);

    // A, first cell. The floor's lower triangle is 1000 + 8 x - 4 y (in u), the upper 1000 + 4 x; its word says the
    // upper first. The roof, 70,000 + 4 x (in steps), is in the second word.
    let area = 24 * 24 * U * U; // 603,979,776
    let (lower, upper) = ([-192 * 24 * U, 96 * 24 * U, area], [-96 * 24 * U, 0, area]);
    assert_eq!((lower, upper), ([-4_718_592, 2_359_296, 603_979_776], [-2_359_296, 0, 603_979_776]));
    add([32, 16, 1000], Ground(2 * 1048, lower, m1, Bundle, Near), [3, 2, 3, 5]);
    add([16, 32, 1000], Ground(2 * 1016, upper, m1, Bundle, Near), [3, 2, 2, 5]);
    // on the diagonal the lower is the owner: moved by (e, e²) the place lies in it
    add([32, 32, 1000], Ground(2 * 1032, lower, m1, Bundle, Near), [3, 2, 3, 5]);
    // second cell, at the roof: 70,000 + 4 x 20,480; and beyond it, at a floor 128 steps above: further than near
    let roof = [-98_304 * 24 * U, 0, area];
    add([80, 4, 151_900], Ground(2 * 151_920, roof, m2, Bundle, Near), [3, 2, 3, 5]);
    add([80, 32, 1000], Ground(2 * 1128, lower, m1, Bundle, FarAbove), [3, 2, 3, 5]);
    // third cell, one sheet: in the west's second triangle, the rest is not read
    let level_half = [0, 0, 7 * 30 * U * U];
    let rising = [-56 * 30 * U, 0, 7 * 30 * U * U];
    add([144, 80, 1200], Ground(2 * 1200, level_half, m0, Bundle, Near), [3, 1, 2, 3]);
    // between both: the east owns its left border; in the east: 1200 + 8 x 4
    add([160, 64, 1200], Ground(2 * 1200, rising, m2, Bundle, Near), [3, 2, 4, 5]);
    // (west of a narrow bundle's base, by one unsigned comparison, nothing is tested)
    add([176, 8, 1200], Ground(2 * 1232, rising, m2, Bundle, Near), [3, 2, 3, 5]);
    add([130, 64, 1200], Nothing, [3, 2, 0, 5]);
    // fourth: no ground
    add([200, 20, 0], Nothing, [3, 0, 0, 0]);
    // fifth: eight in a stack, two of its words in one line of the tail, two in the next
    let stack = [0, 0, 14 * 30 * U * U];
    let cost = [3, 8, 8, 1 + 2 + 16];
    for k in 0..8 {
        let attribute = [m0, m1, m2][k as usize % 3];
        add([16, 160, 1980 + 1000 * k], Ground(2 * (2000 + 1000 * k), stack, attribute, Bundle, Near), cost);
    }
    add([16, 160, 20_000], Ground(2 * 9000, stack, m1, Bundle, FarBelow), cost);
    // sixth: the field with voids, 30,010 + 20 i + 6 j; post (1, 1) is 30,236. Slopes are in 2^-24 step a cell.
    let up = |du: i64, dv: i64, log2: u32| [-du << 24, -dv << 24, 1 << log2];
    // amid posts 10, 30, 16 and 236: 73; slopes (20 + 220) / 2 and (6 + 206) / 2
    add([76, 140, 30_000], Ground(2 * 30_073, up(120, 106, 36), m2, Patch, Near), [3, 1, 1, 2]);
    // on post (1, 1) of the cell to the north-east: 236 to 56 and to 42
    add([84, 148, 30_236], Ground(2 * 30_236, up(-180, -194, 36), m2, Patch, Near), [3, 1, 1, 2]);
    // the cell (2, 6) without post (3, 7) has none, but its western and southern borders belong to its neighbours:
    // posts (2, 6) and (2, 7) are 86 and 92, post (3, 6) is 106
    add([108, 236, 30_000], Nothing, [3, 1, 1, 3]);
    add([100, 236, 30_000], Ground(2 * 30_089, up(20, 6, 36), m2, Patch, Near), [3, 2, 2, 5]);
    add([108, 228, 30_000], Ground(2 * 30_096, up(20, 6, 36), m2, Patch, Near), [3, 2, 2, 5]);
    add([100, 228, 30_000], Ground(2 * 30_086, up(20, 6, 36), m2, Patch, Near), [3, 2, 2, 5]);
    // at the far end, of the missing post and of post (3, 4): 94; and outside, where no block is read
    add([116, 244, 30_000], Nothing, [3, 1, 1, 3]);
    add([116, 196, 30_000], Ground(2 * 30_094, up(20, 6, 36), m2, Patch, Near), [3, 1, 1, 3]);
    add([66, 160, 30_000], Nothing, [3, 0, 0, 1]);
    // seventh and eighth: codes
    add([160, 160, 0], Elsewhere, [3, 0, 0, 0]);
    add([200, 160, 0], Elsewhere, [3, 0, 0, 0]);

    // The entry that is a patch: 251,000 + 25,600 i + 1,792 j; amid the first cell; at (5.25, 6.75); at the end;
    // outside.
    let n = up(25_600, 1792, 37);
    add([280, 280, 264_700], Ground(2 * 264_696, n, m0, Patch, Near), [3, 1, 1, 1]);
    add([432, 480, 397_500], Ground(2 * 397_496, n, m0, Patch, Near), [3, 1, 1, 1]);
    add([488, 488, 442_744], Ground(2 * 442_744, n, m0, Patch, Near), [3, 1, 1, 1]);
    add([260, 280, 264_700], Nothing, [3, 0, 0, 0]);
    // C: the wide triangle, 2 (x - 129 u) - 3 (y - 65 u); a cell without ground.
    let wide = [-2 * 411_041_792, 3 * 411_041_792, 14 * 28 * U * U];
    add([520, 264, 0], Ground(-2 * 1024, wide, m1, Bundle, FarBelow), [3, 1, 1, 3]);
    add([600, 264, 0], Nothing, [3, 0, 0, 0]);
    // F's list, two lines of it: 900, 1,900, and a field at 2,900.
    let (steep, cost) = ([0, 0, 14 * 28 * U * U], [4, 3, 3, 1 + 2 + 2 + 2 + 1]);
    add([784, 280, 890], Ground(2 * 900, steep, m0, Bundle, Near), cost);
    add([784, 280, 1890], Ground(2 * 1900, steep, m1, Bundle, Near), cost);
    add([784, 280, 2890], Ground(2 * 2900, [0, 0, 1 << 37], m2, Patch, Near), cost);
    add([1000, 280, 0], Nothing, [4, 0, 0, 0]);
    // E, below D: 4992 - (x - 1 u) + (y - 65 u) at (1.5 u, 65.25 u); its codes.
    add([6, 261, 4700], Ground(2 * 4736, [1 << 22, -1 << 22, 1 << 22], m0, Bundle, Near), [5, 1, 1, 3]);
    add([30, 261, 0], Nothing, [5, 0, 0, 0]);
    add([80, 260, 0], Nothing, [5, 0, 0, 0]);
    add([8, 300, 0], Elsewhere, [5, 0, 0, 0]);
    add([80, 300, 0], Elsewhere, [5, 0, 0, 0]);
    // D's second block: a patch first, then a triangle; a triangle first, then the patch; beside both, where the patch
    // reads no block; then its third and fourth blocks.
    let steep = [0, 0, 6 * 12 * U * U];
    let flat = [0, 0, 1 << 36];
    add([136, 264, 420], Ground(2 * 410, flat, m1, Patch, Near), [4, 2, 2, 4]);
    add([136, 264, 590], Ground(2 * 600, steep, m2, Bundle, Near), [4, 2, 2, 4]);
    add([168, 264, 690], Ground(2 * 700, steep, m0, Bundle, Near), [4, 2, 2, 4]);
    add([168, 264, 420], Ground(2 * 410, flat, m1, Patch, Near), [4, 2, 2, 4]);
    add([152, 304, 0], Nothing, [4, 1, 1, 3]);
    add([40, 400, 0], Nothing, [4, 0, 0, 0]);
    add([136, 392, 0], Elsewhere, [4, 0, 0, 0]);
    add([136, 480, 0], Elsewhere, [4, 0, 0, 0]);

    // P: amid the first cell, 100 + 500 / 2 + 100 / 2; the cell without a post; the others' codes.
    add([-988, 3108, 400], Ground(2 * 400, up(500, 100, 38), m1, Patch, Near), [3, 1, 1, 2]);
    add([-860, 3236, 400], Nothing, [3, 1, 1, 2]);
    add([-400, 3120, 0], Nothing, [3, 0, 0, 0]);
    add([-1000, 3600, 0], Nothing, [3, 0, 0, 0]);
    add([-700, 3600, 0], Elsewhere, [3, 0, 0, 0]);
    add([-400, 3600, 0], Elsewhere, [3, 0, 0, 0]);
    list
}

fn answer(want: &Want) -> Answer {
    match want {
        &Ground(z, [x, y, up], [material, source], leaf, reach) => {
            let normal = hardpan::Normal { x, y, z: up };
            let hit = Hit { z: z * 128 + ORIGIN[2] * 256, normal, material, source, leaf, reach, place: [0; 3] };
            Answer { status: Status::Found, hit }
        }
        other => {
            let status = if matches!(other, Nothing) { Status::NoGround } else { Status::NotInImage };
            Answer { status, hit: Hit { z: DEFAULT_Z, ..BLANK.hit } }
        }
    }
}

/// An answer without where it lies.
fn placeless(a: Answer) -> Answer {
    Answer { hit: Hit { place: [0; 3], ..a.hit }, ..a }
}

#[test]
fn every_record_answers_as_the_document_says() {
    let bytes = image(&[]);
    let t = Terrain::open_verified(&bytes).expect("verifies");
    let mut cursor = Cursor::new();
    for ([x, y, z], want, [nodes, leaves, tests, lines]) in expected() {
        let p = at(x, y, z);
        let (costed, cost) = t.closest_costed(p);
        assert_eq!(placeless(costed), answer(&want), "at ({x}, {y}, {z})");
        assert_eq!(cost, Cost { nodes, leaves, tests, lines }, "at ({x}, {y}, {z})");
        // Told step by step it is the same.
        let (mut told, mut chosen) = (Cost::default(), false);
        let explained = t.explain(p, |step| match step {
            Trace::Node { .. } => told.nodes += 1,
            Trace::Words { lines, .. } => told.lines += lines,
            Trace::Leaf { lines, .. } => (told.leaves, told.lines) = (told.leaves + 1, told.lines + lines),
            Trace::Long { .. } => told.lines += 1,
            Trace::Test { .. } => told.tests += 1,
            Trace::Candidate(hit) => chosen |= hit == costed.hit,
        });
        assert_eq!((explained, told, chosen), (costed, cost, costed.found()), "at ({x}, {y}, {z})");
        assert_eq!([t.closest(p), t.closest_cursor(p, &mut cursor)], [costed; 2], "at ({x}, {y}, {z})");
    }
}

#[test]
fn what_the_image_says_of_itself() {
    let bytes = image(&[]);
    let t = Terrain::open(&bytes).unwrap();
    let names = names();
    for (k, name) in names.iter().enumerate() {
        let found = if k < 3 { t.material_name(k as u16) } else { t.source_name(k as u16 - 3) };
        assert!(found == name, "name {k} has {} bytes", found.len());
    }
    let hit = t.closest(at(32, 16, 1000)).hit;
    let m = t.material(&hit);
    assert_eq!((m.mu, m.rolling, m.gain, m.cone_index), (0.25, 1.5, 2.0, 300.0));
    assert_eq!((m.surface, m.class_mask, m.label, m.flags, m.priority), (7, 0xF0, 99, 1, -5));
    assert_eq!(t.surface(&t.closest(at(200, 20, 0))), [0.125, 3.0, 0.5], "where there is no ground");
    assert_eq!(t.bound(), Cost { nodes: 5, leaves: 8, tests: 8, lines: 19 });
    // -512 u = -128 m and 1,024 u - 1 step, from 4,096 m and -8,192 m; heights from 4,096 m in 2^-16 m
    let [low, high] = t.bounds();
    assert_eq!(low, [3968.0, -8192.0, 4096.0 - 1.3125]);
    assert_eq!(high, [4096.0 + 256.0 - 1.0 / 4096.0, -8192.0 + 256.0 - 1.0 / 4096.0, 4096.0 + 442_744.0 / 65_536.0]);
    // Bundle 2,049 of F is number 2,065 of the tile, whose bundles stand at 11; T is 20 times 128 bytes behind P.
    assert_eq!(t.closest(at(784, 280, 1890)).hit.place, [20, 11 + 2065, 0]);
    // The record at word 64 of T, block 1 + 2 of its field.
    assert_eq!(t.closest(at(432, 480, 397_500)).hit.place, [20, 64, 3]);
    assert_eq!(t.section(8), Some(&b"by hand"[..]));
}

#[test]
fn layers_of_a_tail_and_of_a_list() {
    let bytes = image(&[]);
    let t = Terrain::open(&bytes).unwrap();
    let mut space = [BLANK.hit; 9];
    for (p, wanted) in [
        ([16, 160], &[9000, 8000, 7000, 6000, 5000, 4000, 3000, 2000][..]),
        ([784, 280], &[2900, 1900, 900]),
        ([136, 264], &[600, 410]),
        ([160, 64], &[1200]),
        ([84, 148], &[30_236]),
        ([200, 20], &[]),
    ] {
        let layers = t.layers(at(p[0], p[1], 0), &mut space);
        let found: Vec<i64> = space[..layers.written].iter().map(|h| h.z / 256 - ORIGIN[2]).collect();
        assert_eq!((&found[..], layers.total), (wanted, wanted.len()), "{p:?}");
        // Less room, the same count.
        let few = t.layers(at(p[0], p[1], 0), &mut space[..2]);
        assert_eq!((few.written, few.total), (wanted.len().min(2), wanted.len()), "{p:?}");
    }
}

#[test]
fn the_answers_are_the_same_bits_everywhere() {
    let bytes = image(&[]);
    let t = Terrain::open(&bytes).unwrap();
    let mut fnv = Fnv::default();
    let (mut points, mut found) = (Vec::new(), 0);
    // A raster over all three by two pages, a finer one over T's lower half, and the places above.
    for k in 0..64 * 64 {
        let (i, j) = (k % 64, k / 64);
        points.push(at(97 * i - 2048, 65 * j, 5000));
        points.push(at(16 * i + 1, 8 * j + 1, 100 * i));
    }
    points.extend(expected().iter().map(|&([x, y, z], ..)| at(x, y, z)));
    let mut space = [BLANK.hit; 9];
    for &p in &points {
        for answer in [t.closest(p), t.below(p)] {
            found += usize::from(answer.found());
            fnv.answer(&answer);
        }
        let layers = t.layers(p, &mut space);
        fnv.status(layers.status);
        space[..layers.written].iter().for_each(|hit| fnv.hit(hit));
    }
    println!("0x{:016x}, {found} found", fnv.0);
    assert_eq!((fnv.0, found), (0x8acf_7702_42ae_e9a8, 753), "the answers have changed");
}

#[test]
fn the_bound_counted_by_hand_is_the_least_that_verifies() {
    let clean = image(&[]);
    let tiles = clean.len() - 128 - T_LEN;
    for k in 0..4 {
        let mut bytes = Aligned::new(&clean);
        bytes[tiles + 64 + 4 * k] -= 1;
        mend_all(&mut bytes);
        assert_eq!(
            Terrain::open_verified(&bytes).err(),
            Some(OpenError::Content(VerifyError::BoundExceeded(1))),
            "number {k}"
        );
    }
}

#[test]
fn a_section_that_need_not_be_understood_changes_no_answer() {
    let known = image(&[]);
    let t = Terrain::open(&known).unwrap();
    // numbers that have a name, and others; as content, too; and all places of the table
    let many: Vec<More> = (40..56).map(|kind| More { kind, flags: kind % 2 * 2 }).collect();
    for more in [
        &[More { kind: 11, flags: 0 }][..],
        &[More { kind: 15, flags: 2 }],
        &[More { kind: u32::MAX, flags: 0 }],
        &many,
    ] {
        let bytes = image(more);
        let u = Terrain::open_verified(&bytes).expect("passed over");
        for more in more {
            assert_eq!(u.section(more.kind), Some(MORE));
        }
        assert_eq!(u.identity() == t.identity(), more.iter().all(|m| m.flags == 0), "content is part of the identity");
        for ([x, y, z], ..) in expected() {
            assert_eq!(u.closest(at(x, y, z)), t.closest(at(x, y, z)));
        }
    }
    assert_eq!(many.len() + 8, 24);
}

/// An unknown section has its checksum and its place all the same, once, and no other flags.
#[test]
fn a_section_that_is_passed_over_is_proven_too() {
    let clean = image(&[More { kind: 11, flags: 0 }, More { kind: 77, flags: 2 }]);
    let entry = |k: usize| 512 + 64 * k;
    let told = |bytes: &Aligned| match Terrain::open_verified(bytes).err() {
        Some(OpenError::Content(e)) => e,
        other => panic!("{other:?}"),
    };
    for (k, kind, bit) in [(8, 11, 1 << 11), (9, 77, 1 << 31)] {
        let mut bytes = Aligned::new(&clean);
        let at = u64::from_le_bytes(clean[entry(k) + 8..entry(k) + 16].try_into().unwrap()) as usize;
        bytes[at] ^= 1;
        assert_eq!(told(&bytes), VerifyError::SectionDamaged(kind));
        let mut verifier = Terrain::open(&bytes).unwrap().verifier();
        assert!(verifier.step(0, &mut []).is_err());
        assert_eq!((verifier.damaged_sections(), verifier.usable()), (bit, true), "no answer depends on it");
        for (byte, value) in [(4, 4), (28, 1), (8, 128)] {
            let mut bytes = Aligned::new(&clean);
            bytes[entry(k) + byte] ^= value;
            mend_all(&mut bytes);
            assert_eq!(told(&bytes), VerifyError::SectionInvalid(kind), "byte {byte}");
        }
    }
    let twice = image(&[More { kind: 77, flags: 0 }, More { kind: 77, flags: 0 }]);
    assert_eq!(told(&twice), VerifyError::SectionInvalid(77));
}

#[test]
fn a_section_that_must_be_understood_is_refused_by_number_and_name() {
    for (kind, name) in [(11, "normals"), (14, "obstacles"), (15, "unknown"), (u32::MAX, "unknown")] {
        for flags in [1, 3] {
            let refused = Terrain::open(&image(&[More { kind, flags }])).err();
            assert_eq!(refused, Some(OpenError::NotUnderstood(kind)));
            let text = refused.unwrap().to_string();
            assert!(text.contains(&format!("kind {kind} ({name})")), "{text}");
        }
    }
}

/// Each field that version 2 added, at the ends of its range and beyond.
#[test]
fn new_fields_have_their_range() {
    let clean = image(&[]);
    let truth: Vec<Answer> =
        expected().iter().map(|&([x, y, z], ..)| Terrain::open(&clean).unwrap().closest(at(x, y, z))).collect();
    let with = |place: usize, value: &[u8]| {
        let mut bytes = Aligned::new(&clean);
        bytes[place..place + value.len()].copy_from_slice(value);
        mend_all(&mut bytes);
        let opened = Terrain::open_verified(&bytes);
        if let Ok(t) = &opened {
            let same = expected().iter().zip(&truth).all(|(&([x, y, z], ..), truth)| t.closest(at(x, y, z)) == *truth);
            assert!(same, "byte {place}");
        }
        opened.err()
    };
    let section = |kind: u32| {
        let t = Terrain::open(&clean).unwrap();
        t.header().sections.iter().find(|s| s.kind == kind).unwrap().offset as usize
    };
    let content = |e| Some(OpenError::Content(e));
    // 24 numbers of ray and tyre bounds, 2^26 at most, and the rule without a height, 0 or 1
    let most = [1u32 << 26; 24].map(u32::to_le_bytes);
    assert_eq!(with(288, most.as_flattened()), None);
    for k in 0..24 {
        let mut beyond = most;
        beyond[k] = ((1u32 << 26) + 1).to_le_bytes();
        assert_eq!(with(288, beyond.as_flattened()), Some(OpenError::HeadInvalid));
    }
    assert_eq!([0u32, 1, 2].map(|v| with(384, &v.to_le_bytes())), [None, None, Some(OpenError::HeadInvalid)]);
    for reserved in [388, 392, 400, 511] {
        assert_eq!(with(reserved, &[1]), content(VerifyError::HeadInvalid));
    }
    // precedence of materials and sources: any; behind it zeros
    for (kind, at) in [(1, 56), (3, 8)] {
        assert_eq!([i16::MIN, -1, i16::MAX].map(|v| with(section(kind) + at, &v.to_le_bytes())), [None; 3]);
        for byte in 2..8 {
            assert_eq!(with(section(kind) + at + byte, &[1]), content(VerifyError::SectionInvalid(kind)));
        }
    }
    // of T: flags of its palette; the kind of a bundle; the first block of each node; a block out of its row
    let (tile, tiles) = (section(7) + P_LEN, section(7));
    let invalid = |tile| content(VerifyError::TileInvalid(tile));
    for flags in [1u32, 2, 1 << 31] {
        assert_eq!(with(tile + 4 * 41, &flags.to_le_bytes()), invalid(1));
    }
    let head = tile + 128 * T_BUNDLES as usize + 13;
    assert_eq!([1u8, 2, 3].map(|kind| with(head, &[clean[head] | kind << 2])), [invalid(1), invalid(1), invalid(1)]);
    for node in [32, 112, 120, 128] {
        let at = tile + 4 * node + 28;
        let number = u32::from_le_bytes(clean[at..at + 4].try_into().unwrap());
        for other in [number + 1, number.wrapping_sub(1)] {
            assert_eq!(with(at, &other.to_le_bytes()), invalid(1), "node at {node}");
        }
    }
    assert_eq!(with(tiles + 4 * 39, &1u32.to_le_bytes()), invalid(0), "P's root");
    for other in [176, 192] {
        assert_eq!(with(tile + 4 * 136, &entry(3, other).to_le_bytes()), invalid(1), "A's entry");
    }
}

#[test]
fn bytes_behind_the_image() {
    let image = image(&[]);
    for trailing in [&[0xFF; 999][..], &[0; 128], &image[..HEAD]] {
        let longer = Aligned::new(&[&image[..], trailing].concat());
        let t = Terrain::open_verified(&longer).expect("what follows is no part of it");
        assert_eq!(t.bytes().len(), image.len());
        assert_eq!(t.closest(at(32, 16, 1000)).hit.z, (1048 + ORIGIN[2]) * 256);
    }
}

#[test]
fn everything_can_be_asked() {
    let bytes = image(&[]);
    let mut points: Vec<Point> = expected().iter().map(|&([x, y, z], ..)| at(x, y, z)).collect();
    points.extend(extreme_points());
    assert_eq!(exercise(&bytes, &points), Opened::Verified);
}

/// Changed bytes behind right checksums, in records that no built image has: everything still ends, and what verifies
/// keeps its word.
#[test]
fn forged_records_never_panic() {
    let mut clean = image(&[]);
    let tiles = clean.len() - 128 - T_LEN;
    // Without the home words' bit 20: of a cell that has two heights nevertheless, not all queries would say the same.
    for word in [160 + 2, 176, 272] {
        clean[tiles + 4 * word + 2] &= !0x10;
    }
    // the directory, pages and table; P; T without the repeated bundles
    let index = Terrain::open(&clean).unwrap().header().sections[3].offset as usize;
    let parts = [index..tiles, tiles..tiles + 28 * 128, clean.len() - 128 - 384..clean.len() - 128];
    let mut asked: Vec<Point> = expected().iter().map(|&([x, y, z], ..)| at(x, y, z)).collect();
    asked.extend(extreme_points().into_iter().step_by(97));
    let (mut r, mut verified, mut refused) = (Random(9), 0, 0);
    let mut bytes = Aligned::new(&clean);
    for _ in 0..400 {
        let part = parts[r.below(3)].clone();
        for _ in 0..1 + r.below(2) {
            let place = part.start + r.below(part.len());
            match r.below(3) {
                0 => bytes[place] ^= 1 << r.below(8),
                1 => bytes[place] = bytes[place].wrapping_add(1),
                _ => bytes[place] = clean[part.start + r.below(part.len())],
            }
        }
        mend_all(&mut bytes);
        match exercise(&bytes, &asked) {
            Opened::Verified => verified += 1,
            Opened::Unproven => refused += 1,
            Opened::No => panic!("the head is whole"),
        }
        bytes.copy_from_slice(&clean);
    }
    assert!(verified > 50 && refused > 50, "{verified} verified, {refused} refused");
}

#[test]
fn the_digest_is_the_usual_one() {
    let hex = |b: &[u8]| sha256(b).iter().map(|b| format!("{b:02x}")).collect::<String>();
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/// The document's digests and identity, computed again from what the builder wrote.
#[test]
fn a_built_image_has_the_digests_of_the_document() {
    let scene = hardpan_builder::demo::fixtures::town(2);
    for built in [&crate::common::image(&scene)[..], &image(&[])] {
        let t = Terrain::open(built).unwrap();
        let mut content = built[64..512].to_vec();
        for s in t.header().sections.iter().filter(|s| s.kind != 0) {
            let body = t.section(s.kind).unwrap();
            let digests: Vec<u8> = if s.kind == 7 {
                let table = t.section(6).unwrap().as_chunks::<64>().0;
                table.iter().flat_map(|record| record[32..].to_vec()).collect()
            } else {
                body.to_vec()
            };
            assert_eq!(s.digest, sha256(&digests), "section {}", s.kind);
            if s.flags & 2 != 0 {
                content.extend(s.kind.to_le_bytes());
                content.extend(s.digest);
            }
        }
        let number = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap()) as usize;
        for record in t.section(6).unwrap().as_chunks::<64>().0 {
            let body = &t.section(7).unwrap()[number(&record[..8])..][..number(&record[8..16])];
            assert_eq!(record[32..], sha256(body), "a tile");
        }
        assert_eq!(t.identity(), sha256(&content));
    }
}
