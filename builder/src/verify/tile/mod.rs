//! Proofs of a tile from its bytes: its cells name every triangle over them, and sheets are sheets.
//!
//! The kernel has checked the structure before, so every offset and count may be followed.

mod decode;
pub(super) mod edges;
mod non_overlap;
pub(super) mod plan;
mod sheet;
mod walk;

use crate::verify::seams::{Edge, Link, may_link};
use crate::verify::{Fault, Faults};
use decode::{Content, Field, Found, Group, bounds_of, decode};
use edges::Edges;
use hardpan::format::{Node, Tile, TileRecord, block, bundle, section};
use hardpan::{Point, Terrain, format};
use hashbrown::HashSet;
use non_overlap::classes;
use plan::{Rect, Tri};
pub(super) use walk::words;
use walk::{Bundle, PATCHED, TRIALS, Walk};
use zerocopy::{FromBytes, IntoBytes};

/// Pairs of triangles that are compared for each triangle of a tile and for each of its words, on average; a seventh of
/// that is the most that real meshes need.
const PAIRS: [u64; 2] = [256, 16];
/// Triangles that the entries of nodes inside each other may list for each word of a tile: a word names as many at
/// most, and those of the outer nodes are few.
const NAMED: usize = 16;
/// A tile's bytes in the shapes that are read.
pub struct View<'a> {
    pub head: &'a Tile,
    pub words: &'a [u32],
    pub index: u32,
    pub rect: Rect,
}

/// Result of a tile.
#[derive(Default)]
pub struct Proof {
    pub cover: Faults,
    pub sheets: Faults,
    pub counts: Faults,
    pub edges: Faults,
    /// Places on edges that were asked for.
    pub points: u64,
    /// Triangles whose least corner lies in the tile.
    pub triangles: u64,
    pub patch_blocks: u64,
    /// Cells that were proven.
    pub cells: u64,
    /// Least and greatest corners of triangles, and of what lies in the tile of patches, rounded outwards.
    pub bounds: Option<[[i32; 3]; 2]>,
    /// Triangles that reach beyond the tile.
    pub crossings: Vec<Tri>,
    /// Open edges that have a place in the tile.
    pub open: Vec<Edge>,
    /// Other edges that may link two open vertices of a seam's length.
    pub links: Vec<Link>,
    /// Pairs of material and source of the tile's palette.
    pub attributes: Vec<u32>,
}

/// The records of all tiles.
pub fn table<'a>(terrain: &Terrain<'a>) -> &'a [TileRecord] {
    <[TileRecord]>::ref_from_bytes(terrain.section(section::TILE_TABLE).unwrap_or(&[])).unwrap_or(&[])
}

impl<'a> View<'a> {
    /// The tile of a record, if its bytes are there.
    pub fn new(terrain: &Terrain<'a>, index: u32, record: &TileRecord) -> Option<Self> {
        let tiles = terrain.section(section::TILES)?;
        let bytes = tiles.get(record.offset as usize..)?.get(..record.len as usize)?;
        let head = Tile::ref_from_bytes(bytes.get(..size_of::<Tile>())?).ok()?;
        let words = <[u32]>::ref_from_bytes(bytes).ok()?;
        let log2 = terrain.header().tile_log2;
        let low = [record.x, record.y].map(|v| i64::from(v) << log2);
        Some(View { head, words, index, rect: Rect { low, size: [1 << log2; 2] } })
    }

    /// Whether its bytes have the sum of its record.
    pub fn is_whole(&self, record: &TileRecord) -> bool {
        crc32fast::hash(self.words.as_bytes()) == record.crc
    }

    fn node(&self, at: usize) -> Node {
        Node::read_from_bytes(self.words[at..at + 8].as_bytes()).expect("eight words")
    }

    fn block(&self, at: usize) -> &'a [u32; block::WORDS] {
        self.words[at..].first_chunk().expect("a block")
    }

    fn bundle(&self, at: u32) -> &'a [u16; bundle::HALVES] {
        let words = &self.words[32 * (self.head.bundles + at) as usize..][..32];
        <[u16; bundle::HALVES]>::ref_from_bytes(words.as_bytes()).expect("128 bytes")
    }

    /// Whether a triangle's least corner lies in the tile.
    pub fn is_home(&self, t: &Tri) -> bool {
        let [x, y, _] = t.corner(0).min(t.corner(1)).min(t.corner(2));
        self.rect.holds_box([x, y, x, y])
    }

    /// Material, and source times 2^16, of a palette entry.
    fn attribute(&self, number: u8) -> u32 {
        self.words[format::PALETTE + 2 * usize::from(number)]
    }
}

/// Proves a tile that the kernel has checked.
pub fn prove(terrain: &Terrain, view: &View, exhaustive: bool) -> Proof {
    let mut proof = Proof::default();
    let header = terrain.header();
    let h = view.head;
    proof.attributes = (0..h.palette_len).map(|a| view.attribute(a as u8)).collect();
    let Some(mut content) = decode(view, &mut proof) else { return proof };
    let bounds = bounds_of(&content);
    let all = content.fields.iter().filter_map(Field::bounds).chain(bounds);
    if let Some([low, high]) = all.reduce(widened) {
        if (0..3).any(|i| low[i] < header.min[i] || high[i] > header.max[i]) {
            proof.cover.add(view.fault("a triangle or a patch lies outside the bounds that the head states"));
        }
        if low[2] < h.min_z || high[2] > h.max_z {
            proof.counts.add(view.fault("a height lies outside the range that the tile states"));
        }
        proof.bounds = Some([low, high]);
    }
    let references: u32 = (0..h.bundle_count).map(|b| u32::from(view.bundle(b)[6] >> 12) + 1).sum();
    if references != h.references {
        proof.counts.add(view.fault(format!("{} references stated, {references} there", h.references)));
    }
    let far = |v: i64, axis: usize| (v - view.rect.low[axis]).abs() >= 1 << 29;
    let wide =
        view.rect.size[0] >= 1 << 29 || bounds.is_some_and(|b| b.iter().any(|c| (0..2).any(|i| far(c[i].into(), i))));
    if wide {
        run::<false>(terrain, view, &mut content, exhaustive, &mut proof);
    } else {
        run::<true>(terrain, view, &mut content, exhaustive, &mut proof);
    }
    proof
}

/// The box of two boxes.
pub fn widened(a: [[i32; 3]; 2], b: [[i32; 3]; 2]) -> [[i32; 3]; 2] {
    [[0, 1, 2].map(|i| a[0][i].min(b[0][i])), [0, 1, 2].map(|i| a[1][i].max(b[1][i]))]
}

fn run<const SMALL: bool>(terrain: &Terrain, view: &View, content: &mut Content, exhaustive: bool, proof: &mut Proof) {
    let edges = |content: &Content| Edges::new(&content.tris, &content.boxes, &content.own, &content.numbers);
    let mut sides = edges(content);
    if content.groups.len() > 1 && is_any_twice(content, &sides.crowded) {
        // in one group, and it is one triangle there, too
        let known = |(&group, &at): (&Group, &usize)| (Found { node: 0, group, own: None }, at);
        let mut groups: Vec<(Found, usize)> = content.groups.iter().map(known).collect();
        groups.sort_unstable_by_key(|g| g.1);
        content.fill(view, &groups, false).expect("they were read before");
        sides = edges(content);
    }
    let (mut all, mut withheld, mut own) = (Vec::new(), 0, content.own.iter().peekable());
    for t in 0..content.tris.len() as u32 {
        let (tri, bounds) = (&content.tris[t as usize], content.boxes[t as usize]);
        let held = view.rect.holds_box(bounds);
        if !held && !tri.meets::<SMALL>(bounds, &view.rect) {
            continue;
        }
        // those that lie in a rectangle of their node alone are looked for there
        while own.next_if(|own| own.tris.end <= t).is_some() {}
        match own.peek() {
            Some(own) if own.holds(t, bounds) => withheld += 1,
            _ => all.push(t),
        }
        let home = held || view.is_home(tri);
        proof.triangles += u64::from(home);
        if home && exhaustive {
            // an edge of two triangles is walked from its lesser end
            let twice = |k: usize| sides.paired[t as usize] >> k & 1 == 1 && tri.corner(k) > tri.corner((k + 1) % 3);
            (0..3).filter(|&k| !twice(k)).for_each(|k| ask(terrain, view, tri, k, proof));
        }
        if !held {
            proof.crossings.push(tri.canonical());
        }
        for (k, n, over) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let (a, b) = (tri.corner(k), tri.corner(n));
            if sides.open[t as usize] >> k & 1 == 0 {
                if may_link(a, b) {
                    proof.links.push([a.min(b), a.max(b)]);
                }
            } else if held || tri.edge_meets::<SMALL>(k, &view.rect) {
                let is_fold = sides.crowded[t as usize] >> k & 1 == 1;
                proof.open.push(Edge { a: a.min(b), b: a.max(b), apex: tri.corner(over), is_fold });
            }
        }
    }
    let log2 = terrain.header().tile_log2;
    let count = content.tris.len();
    let classes = match SMALL {
        true => classes(&content.tris, &content.boxes, &mut sides, &view.rect),
        false => vec![0; count],
    };
    let bundle = |numbers: &[u32]| {
        let numbers = numbers.iter().map(|&number| number as usize);
        let bits = |is: &dyn Fn(usize) -> bool| {
            (0..).zip(numbers.clone()).fold(0, |all, (part, number)| all | u32::from(is(number)) << part)
        };
        let of = |number: usize| classes.get(number).copied().unwrap_or(0);
        let class = numbers.clone().map(of).find(|class| *class != 0).unwrap_or(0);
        let alone = if class == 0 { 0 } else { bits(&|number| of(number) == class) };
        Bundle { class, alone, again: bits(&|number| content.again.get(number) == Some(&true)), ..Bundle::default() }
    };
    let mut walk = Walk::<SMALL> {
        view,
        content,
        paired: &sides.paired,
        bundles: content.numbers.chunks(16).map(bundle).collect(),
        touched: Vec::new(),
        seen: if content.again.contains(&true) { vec![0; count] } else { Vec::new() },
        stamp: 0,
        pairs_left: PAIRS[0] * (count as u64 + 64) + PAIRS[1] * view.words.len() as u64,
        proofs: classes.iter().copied().max().unwrap_or(0),
        proven: [classes.clone(), classes],
        withheld,
        listed: 0,
        trials_left: TRIALS * view.words.len() as u64,
        patched_left: PATCHED * view.words.len() as u64,
        named: Vec::new(),
        whole: Vec::new(),
        sheet: Vec::new(),
        proof,
    };
    let fields: Vec<u32> = (0..content.fields.len() as u32).collect();
    walk.node(format::ROOT, view.rect.low, [log2; 2], &all, &fields);
    if walk.withheld != 0 && walk.proof.cover.count == 0 {
        let text = format!("{} triangles could not be followed to the nodes that have them", walk.withheld);
        walk.proof.cover.add(view.fault(text));
    }
}

/// The triangles of a tile whose least corner lies in it.
pub fn home_triangles(view: &View) -> Vec<Tri> {
    let tris = decode(view, &mut Proof::default()).map_or(Vec::new(), |content| content.tris);
    tris.into_iter().filter(|t| view.is_home(t)).collect()
}

/// The triangles of a tile that meet it and reach beyond it.
pub fn crossing(view: &View) -> Vec<Tri> {
    let mut tris = decode(view, &mut Proof::default()).map_or(Vec::new(), |content| content.tris);
    tris.retain(|t| !view.rect.holds_box(t.bounds()) && t.meets::<false>(t.bounds(), &view.rect));
    tris
}

/// Asks the kernel at both ends of an edge and at the 255 grid points between: it must find the height that the edge
/// has.
fn ask(terrain: &Terrain, view: &View, tri: &Tri, k: usize, proof: &mut Proof) {
    let (a, b) = (tri.corner(k).map(i64::from), tri.corner((k + 1) % 3).map(i64::from));
    let origin = terrain.header().origin;
    for j in 0..=256 {
        let [x, y, z] = [0, 1, 2].map(|i| ((origin[i] + a[i]) << format::FRACTION) + j * (b[i] - a[i]));
        let answer = terrain.segment(Point { x, y, z }, 0);
        proof.points += 1;
        if !answer.found() || answer.hit.z != z {
            let at = [0, 1].map(|i| a[i] as f64 + j as f64 / 256.0 * (b[i] - a[i]) as f64);
            let what = format!("{j}/256 along an edge of a triangle a query does not find it: {:?}", answer.status);
            proof.edges.add(Fault::new(Some(view.index), Some(at), what));
        }
    }
}

/// First and last tile under a triangle's box, in x and y.
fn tile_box(tri: &Tri, log2: u32) -> [[i64; 2]; 2] {
    let b = tri.bounds();
    [[b[0], b[2]], [b[1], b[3]]].map(|ends| ends.map(|v| i64::from(v) >> log2))
}

/// Calls `see` with each tile that a triangle meets, until it gives back false; says whether it never did.
pub fn tiles_met(tri: &Tri, log2: u32, mut see: impl FnMut([i64; 2]) -> bool) -> bool {
    let bounds = tri.bounds();
    tri.windows::<false>(bounds, [0; 2], [log2; 2], tile_box(tri, log2), &mut |[[x0, x1], [y0, y1]]| {
        let mut tiles = (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| [x, y]));
        let rect = |tile: [i64; 2]| Rect { low: tile.map(|v| v << log2), size: [1 << log2; 2] };
        tiles.all(|tile| !tri.meets::<false>(bounds, &rect(tile)) || see(tile))
    })
}

impl View<'_> {
    fn fault(&self, what: impl Into<String>) -> Fault {
        Fault::new(Some(self.index), None, what)
    }

    /// A fault at a rectangle: its middle.
    fn fault_at(&self, r: &Rect, what: impl Into<String>) -> Fault {
        let at = [0, 1].map(|i| r.low[i] as f64 + r.size[i] as f64 / 2.0);
        Fault::new(Some(self.index), Some(at), what)
    }
}

/// Whether a triangle is there twice: then none of its edges is its own or paired.
fn is_any_twice(content: &Content, crowded: &[u8]) -> bool {
    let mut known = HashSet::new();
    let those = content.tris.iter().zip(crowded).filter(|(_, crowded)| **crowded == 7);
    !those.map(|(tri, _)| tri.canonical()).all(|tri| known.insert(tri))
}

#[cfg(test)]
mod tests {
    use super::sheet::{Unproven, all_apart, apart};
    use super::walk::{Member, cells_naming};
    use super::*;

    /// Squares of 100 steps, 16 x 16, in two triangles each; the eight columns in the east are raised, and moved this
    /// far east.
    fn kerb(by: i32) -> Content {
        let mut tris = Vec::new();
        for (x, y) in (0..16).flat_map(|x| (0..16).map(move |y| (x, y))) {
            let (z, by) = if x < 8 { (0, 0) } else { (40, by) };
            let p = |i: i32, j: i32| [100 * (x + i) + by, 100 * (y + j)];
            for c in [[p(0, 0), p(1, 0), p(0, 1)], [p(0, 1), p(1, 0), p(1, 1)]] {
                tris.push(Tri { x: c.map(|c| c[0]), y: c.map(|c| c[1]), z: [z; 3], attribute: 0 });
            }
        }
        let boxes = tris.iter().map(Tri::bounds).collect();
        Content { tris, boxes, ..Content::default() }
    }

    #[test]
    fn pairs_are_compared_as_long_as_some_are_left() {
        let content = kerb(0);
        let member = |number: u32| Member { bounds: content.boxes[number as usize], number, proof: 0 };
        let all: Vec<Member> = (0..512).map(member).collect();
        let compare = |left: &mut u64| {
            all.iter().enumerate().try_for_each(|(i, a)| apart::<true>(&content, left, a, &all[i + 1..]))
        };
        let mut left = 512 * 511 / 2 + 1;
        assert_eq!((compare(&mut left), left), (Ok(()), 1));
        assert_eq!(compare(&mut { left }), Err(Unproven::Crowded));
        let twice = apart::<true>(&content, &mut 10, &all[7], &all[7..8]);
        assert_eq!(twice, Err(Unproven::Overlap(content.tris[all[7].number as usize].corner(0))));
    }

    #[test]
    fn on_both_sides_of_a_kerb_is_one_class_unless_it_leans_over() {
        let rect = Rect { low: [0; 2], size: [2048; 2] };
        let told = |content: &Content| {
            classes(&content.tris, &content.boxes, &mut Edges::new(&content.tris, &content.boxes, &[], &[]), &rect)
        };
        let along = |i: &usize| (6..10).contains(&(i / 32)) && (5..11).contains(&(i / 2 % 16));
        let by_kerb = told(&kerb(0));
        assert!((0..512).filter(along).all(|i| by_kerb[i] == 1));
        for by in [-1, -30, -100, -250] {
            let content = kerb(by);
            let classes = told(&content);
            assert!(
                (0..512).filter(along).all(|i| classes[i] == 1 + u32::from(i >= 256) || i / 32 == 7 || i / 32 == 8)
            );
            let overlaps = |i: usize, j: usize| i != j && content.tris[i].overlaps::<true>(&content.tris[j]);
            let over: Vec<_> =
                (0..512).flat_map(|i| (0..512).map(move |j| (i, j))).filter(|(i, j)| overlaps(*i, *j)).collect();
            assert!(over.len() >= 64 && over.iter().all(|&(i, j)| classes[i] == 0 || classes[i] != classes[j]), "{by}");
        }
    }

    /// Whatever was proven before, a sheet passes only if no two of its triangles overlap or the same proof had both.
    #[test]
    fn a_few_are_compared_as_by_comparing_each_with_each() {
        let content = kerb(-30);
        let mut seed = 3u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let mut passed = [0; 2];
        for _ in 0..4000 {
            let (column, row) = (5 + random(3), random(12));
            let count = 2 + random(3);
            let mut sheet: Vec<Member> = Vec::new();
            for _ in 0..count {
                let number = (32 * (column + random(3)) + 2 * (row + random(3)) + random(2)) as u32;
                let proof = random(8) as u32;
                sheet.push(Member { bounds: content.boxes[number as usize], number, proof });
            }
            let overlap = |a: &Member, b: &Member| {
                (a.proof == 0 || a.proof != b.proof)
                    && content.tris[a.number as usize].overlaps::<true>(&content.tris[b.number as usize])
            };
            let apart = (0..sheet.len()).all(|i| (0..i).all(|j| !overlap(&sheet[i], &sheet[j])));
            assert_eq!(all_apart::<true>(&content, &sheet), apart);
            passed[usize::from(apart)] += 1;
        }
        assert!(passed.iter().all(|n| *n > 500), "{passed:?}");
    }

    #[test]
    fn cells_that_name_a_part_are_those_with_its_bit() {
        let named = 0x8001_0000_7FFE_0100_FFFF_0000_1234_8421u128;
        for part in 0..16 {
            let cells = (0..8).filter(|cell| named >> (16 * cell + part) & 1 == 1).fold(0, |all, cell| all | 1 << cell);
            assert_eq!(cells_naming(named, part), cells, "{part}");
        }
    }
}
