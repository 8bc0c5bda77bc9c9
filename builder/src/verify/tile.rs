//! What one tile claims, proven from its bytes: that its cells name every triangle over them, and that sheets are sheets.
//!
//! The kernel has checked the structure before, so every offset and count may be followed.

use super::edges::{Edges, Own};
use super::non_overlap::classes;
use super::plan::{Box4, Rect, Tri, boxes_overlap, cell_low};
use super::seams::{Edge, Link, may_link};
use super::{Fault, Faults};
use hardpan::format::{
    self, BLOCK_CELLS, NODE_DENSE, Node, Patch, Tile, TileRecord, block, bundle, entry, section, word,
};
use hardpan::{Point, Terrain};
use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use zerocopy::{FromBytes, IntoBytes};

/// Pairs of triangles that are compared for each triangle of a tile and for each of its words, on average; a seventh of that is the
/// most that real meshes need.
const PAIRS: [u64; 2] = [256, 16];
/// Triangles that the entries of nodes inside each other may list for each word of a tile: a word names as many at most, and those of
/// the outer nodes are few.
const NAMED: usize = 16;
/// Triangles that are tried with entries of nodes for each word of a tile; no builder needs as many.
const TRIALS: u64 = 64;
/// Patches that are tried with entries and cells for each word of a tile: where one lies, a word must name it, once at each
/// depth.
const PATCHED: u64 = 64;

/// A tile's bytes in the shapes that are read.
pub struct View<'a> {
    pub head: &'a Tile,
    pub words: &'a [u32],
    pub index: u32,
    pub rect: Rect,
}

/// What came of a tile.
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

/// Bundles that nodes count from one base, and where their triangles' numbers stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Group {
    first: u32,
    count: u32,
    base: [i32; 2],
    shift: u8,
}

/// A patch of the tile: where its record stands, and the places where it answers, in query steps, ends included.
struct Field {
    at: usize,
    low: [i64; 2],
    high: [i64; 2],
    /// Least and greatest post of its cells there, in steps; none if no post has a height.
    heights: Option<[i32; 2]>,
}

impl Field {
    /// Least and greatest coordinates in steps, rounded outwards; heights that no reader can have do not count.
    fn bounds(&self) -> Option<[[i32; 3]; 2]> {
        let [least, most] = self.heights?;
        let up = (1 << format::FRACTION) - 1;
        let plan = |q: [i64; 2], by: i64| q.map(|q| i32::try_from((q + by) >> format::FRACTION).ok());
        let ([Some(x0), Some(y0)], [Some(x1), Some(y1)]) = (plan(self.low, 0), plan(self.high, up)) else {
            return None;
        };
        Some([[x0, y0, least], [x1, y1, most]])
    }

    fn meets(&self, r: &Rect) -> bool {
        (0..2).all(|i| self.low[i] < r.high(i) << format::FRACTION && self.high[i] >= r.low[i] << format::FRACTION)
    }
}

/// The triangles of a tile, each once.
#[derive(Default)]
struct Content {
    tris: Vec<Tri>,
    boxes: Vec<Box4>,
    /// Number of a group, then of each of its triangles, 16 a bundle.
    groups: HashMap<Group, usize>,
    numbers: Vec<u32>,
    /// Of each triangle where its number stands first, and whether it stands in several places.
    places: Vec<u32>,
    again: Vec<bool>,
    /// Whether bundles of one group hold the same triangle.
    repeats: bool,
    /// Of groups with rectangles of their own, in the order of their numbers: of all, or of none.
    own: Vec<Own>,
    fields: Vec<Field>,
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

/// Least and greatest coordinates of triangles, if there are any.
fn bounds_of(content: &Content) -> Option<[[i32; 3]; 2]> {
    let [low, high] = [|z: [i32; 3]| z[0].min(z[1]).min(z[2]), |z: [i32; 3]| z[0].max(z[1]).max(z[2])];
    let each = content.tris.iter().zip(&content.boxes);
    each.map(|(t, b)| [[b[0], b[1], low(t.z)], [b[2], b[3], high(t.z)]]).reduce(widened)
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

/// Asks the kernel at both ends of an edge and at the 255 grid points between: it must find the height that the edge has.
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

/// Reads the tile's bundles and patches; `None`, with the fault told, if they cannot be read.
fn decode(view: &View, proof: &mut Proof) -> Option<Content> {
    let mut found = Vec::new();
    groups(view, format::ROOT, view.rect, &mut found);
    let count = (view.head.references as usize).min(view.words.len() / 2); // a bundle of sixteen has 32 words
    let mut content = Content {
        tris: Vec::with_capacity(count),
        boxes: Vec::with_capacity(count),
        places: Vec::with_capacity(count),
        again: Vec::with_capacity(count),
        ..Content::default()
    };
    // each once, with where its numbers stand
    let mut groups: Vec<(Found, usize)> = Vec::new();
    for found in found {
        let at = content.numbers.len();
        match content.groups.entry(found.group) {
            Entry::Vacant(new) => {
                new.insert(at);
                groups.push((found, at));
                content.numbers.resize(at + 16 * found.group.count as usize, u32::MAX);
            }
            Entry::Occupied(same) => {
                let same = groups.partition_point(|g| g.1 < *same.get());
                groups[same].0.own = None;
            }
        }
        let places = content.numbers.len();
        if places > 64 * (view.head.bundle_count as usize + 16) || places > u32::MAX as usize {
            proof.cover.add(view.fault("its nodes name the same bundles from too many bases to be proven"));
            return None;
        }
    }
    let mut held = vec![false; view.head.bundle_count as usize];
    for group in content.groups.keys() {
        held[(group.first - view.head.bundles) as usize..][..group.count as usize].fill(true);
    }
    let loose = held.iter().filter(|held| !**held).count();
    if loose > 0 {
        proof.counts.add(view.fault(format!("{loose} bundles belong to no node")));
    }
    let filled = match content.fill(view, &groups, true) {
        Ok(false) => content.fill(view, &groups, false),
        filled => filled,
    };
    if let Err(b) = filled {
        proof.cover.add(view.fault(format!("bundle {b}: a corner lies outside the domain")));
        return None;
    }
    for p in 0..view.head.patch_count as usize {
        let at = view.head.patches as usize + 16 * p;
        let patch = Patch::read_from_bytes(view.words[at..at + 16].as_bytes()).expect("16 words");
        proof.patch_blocks += patch.block_count() as u64;
        let ends = [0, 1].map(|axis| answers(&patch, axis, view.rect.low[axis], view.rect.size[axis]));
        if let [Some(x), Some(y)] = ends {
            let heights = heights(view, &patch, [x, y]);
            content.fields.push(Field { at, low: [x[0], y[0]], high: [x[1], y[1]], heights });
        }
    }
    Some(content)
}

impl Content {
    /// Reads the triangles of groups; what several of them hold is one triangle. If they are `apart`, what lies in a group's own
    /// rectangle is taken to be in no other, without a search; it gives back whether that is so: each reaches its own group's, and
    /// those have no place in common. Then one that stands in a group twice is two. An error is a bundle with a corner outside the
    /// domain.
    fn fill(&mut self, view: &View, groups: &[(Found, usize)], apart: bool) -> Result<bool, u32> {
        self.tris.clear();
        self.boxes.clear();
        self.places.clear();
        self.again.clear();
        self.repeats = false;
        self.own.clear();
        let (mut known, several) = (HashMap::<Tri, (u32, usize)>::new(), groups.len() > 1);
        for &(Found { node, group, own }, at) in groups {
            let from = self.tris.len() as u32;
            for b in 0..group.count {
                let halves = view.bundle(group.first - view.head.bundles + b);
                for part in 0..usize::from(halves[6] >> 12) + 1 {
                    let tri = triangle(view, &group, halves, part).ok_or(b)?;
                    let new = self.tris.len() as u32;
                    let (mut number, bounds) = (new, tri.bounds());
                    let only_here = !several || apart && own.is_some_and(|own| own.holds_box(bounds));
                    if !only_here && apart && !own.is_some_and(|own| own.meets_box(bounds)) {
                        return Ok(false);
                    }
                    if !only_here {
                        let (same, group) = known.entry(tri.canonical()).or_insert((new, usize::MAX));
                        number = *same;
                        self.repeats |= std::mem::replace(group, at) == at;
                    }
                    let place = at + 16 * b as usize + part;
                    if number == new {
                        self.boxes.push(bounds);
                        self.tris.push(tri);
                        self.places.push(place as u32);
                        self.again.push(false);
                    } else {
                        self.again[number as usize] = true;
                    }
                    self.numbers[place] = number;
                }
            }
            if let Some(rect) = own.filter(|_| several && apart) {
                let places = at..at + 16 * group.count as usize;
                self.own.push(Own { node, rect, places, tris: from..self.tris.len() as u32 });
            }
        }
        Ok(true)
    }

    /// What a node of a group alone has, if it is this one.
    fn own(&self, group: &Group, node: usize) -> Option<&Own> {
        let own = || self.own.binary_search_by_key(self.groups.get(group)?, |own| own.places.start).ok();
        let own = (!self.own.is_empty()).then(own)??;
        Some(&self.own[own]).filter(|own| own.node == node)
    }
}

/// The group of a node, and the node's rectangle, if all nodes inside it and none outside are of that group: no two such have a place
/// in common.
#[derive(Clone, Copy)]
struct Found {
    /// Where the node stands.
    node: usize,
    group: Group,
    own: Option<Rect>,
}

/// The groups of a node over a rectangle and of all below it.
fn groups(view: &View, at: usize, rect: Rect, found: &mut Vec<Found>) {
    let node = view.node(at);
    let outer = found.len();
    if node.bundle_count > 0 {
        let group = Group { first: node.bundles, count: node.bundle_count, base: node.base, shift: node.shift };
        match found.last_mut() {
            Some(last) if last.group == group => last.own = None,
            _ => found.push(Found { node: at, group, own: None }),
        }
    }
    let inner = found.len();
    for k in 0..1usize << (node.side_log2[0] + node.side_log2[1]) {
        let to = if node.flags & NODE_DENSE != 0 {
            let b = view.block(node.entries as usize + block::WORDS * k);
            (b[0] == word::NODE << word::GUESS).then_some(b[block::TAIL] as usize)
        } else {
            let e = view.words[node.entries as usize + k];
            (e >> entry::SHIFT == entry::NODE).then_some((e & entry::PLACE) as usize)
        };
        if let Some(to) = to {
            let place = [k & ((1 << node.side_log2[0]) - 1), k >> node.side_log2[0]];
            let low = [0, 1].map(|i| rect.low[i] + ((place[i] as i64) << node.entry_log2[i]));
            groups(view, to, Rect { low, size: node.entry_log2.map(|l| 1 << l) }, found);
        }
    }
    if found.len() == inner {
        found[outer..].iter_mut().for_each(|own| own.own = Some(rect));
    }
}

/// Corners of a triangle of a bundle, by the tables of the format; `None` if one lies outside the domain.
fn triangle(view: &View, group: &Group, h: &[u16; bundle::HALVES], part: usize) -> Option<Tri> {
    let corner = |plane: usize| usize::from(h[bundle::CORNERS + 4 * plane + part / 4] >> (4 * (part % 4)) & 15);
    let word = |at: usize| u32::from(h[2 * at]) | u32::from(h[2 * at + 1]) << 16;
    let long = |at: usize| i64::from(word(at) as i32);
    let base = [0, 1].map(|i| i64::from(group.base[i]) + (i64::from(h[i] as i16) << group.shift));
    let (base_z, class) = (long(1), h[6] >> 8 & 3);
    let mut tri = Tri { x: [0; 3], y: [0; 3], z: [0; 3], attribute: view.attribute(h[6] as u8) };
    for k in 0..3 {
        let i = corner(k);
        let [x, y, z] = match class {
            bundle::NARROW => {
                let [x, y] = [0, 1].map(|k| i64::from(h[2 * (bundle::NARROW_ZERO.1 + i) + k]));
                let plane = (i64::from(h[4] as i16) * x + i64::from(h[5] as i16) * y) >> 8;
                [base[0] + x, base[1] + y, base_z + plane + i64::from(h[bundle::NARROW_ZERO.0 + i])]
            }
            bundle::MEDIUM => {
                let [a, b] = [0, 1].map(|k| word(2 * (bundle::MEDIUM_ZERO + i) + k));
                let [x, y, z] = [a & 0xF_FFFF, b & 0xF_FFFF, a >> 20 | b >> 20 << 12].map(i64::from);
                [base[0] + x, base[1] + y, base_z + z]
            }
            _ => [0, 1, 2].map(|k| long(bundle::WIDE_ZERO + bundle::WIDE_STRIDE * i + k)),
        };
        tri.x[k] = i32::try_from(x).ok()?;
        tri.y[k] = i32::try_from(y).ok()?;
        tri.z[k] = i32::try_from(z).ok()?;
    }
    Some(tri)
}

/// 2^-16 cells from a part's first cell to a query step of an axis, rounded down; `low` is the tile's first step.
fn along(patch: &Patch, axis: usize, low: i64, q: i64) -> i128 {
    let rate = i128::from(patch.rate[0]) | i128::from(patch.rate[1]) << 32;
    let zero = if patch.wide != 0 { 0 } else { low >> format::PATCH_LOG2 << format::PATCH_LOG2 << format::FRACTION };
    let u = i128::from(patch.start[axis]) + ((i128::from(q - zero) * rate) >> 32);
    (u >> 16) - (i128::from(patch.first[axis] as i32) << 16)
}

/// First and last query step along an axis, within a tile, at which a patch has a cell.
fn answers(patch: &Patch, axis: usize, low: i64, size: i64) -> Option<[i64; 2]> {
    let end = i128::from(patch.cells[axis]) << 16;
    let first_with = |reached: &dyn Fn(i128) -> bool| {
        let (mut from, mut to) = (low << format::FRACTION, (low + size) << format::FRACTION);
        while from < to {
            let middle = from + (to - from) / 2;
            if reached(along(patch, axis, low, middle)) { to = middle } else { from = middle + 1 }
        }
        from
    };
    let first = first_with(&|u| u >= 0);
    let last = first_with(&|u| u > end) - 1;
    (first <= last).then_some([first, last])
}

/// Least and greatest post, in steps, rounded outwards, of the cells that hold the query steps from the first to the last
/// of each axis; none without heights. The kernel has checked that the blocks of all patches are no more than the tile.
fn heights(view: &View, patch: &Patch, ends: [[i64; 2]; 2]) -> Option<[i32; 2]> {
    let cells = [0, 1].map(|axis| {
        ends[axis].map(|q| {
            let cell = along(patch, axis, view.rect.low[axis], q) >> 16;
            cell.clamp(0, i128::from(patch.cells[axis]) - 1) as u32 // the last post belongs to the last cell
        })
    });
    let (words, size) = if patch.class == 0 { (8, 1) } else { (16, 2) };
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    let blocks = cells.map(|[first, last]| first / BLOCK_CELLS..=last / BLOCK_CELLS);
    for (y, x) in blocks[1].clone().flat_map(|y| blocks[0].clone().map(move |x| (y, x))) {
        let at = (patch.place + y * patch.blocks + x) as usize * words;
        let block = view.words[at..at + words].as_bytes();
        let base = i64::from(view.words[at] as i32) << format::FRACTION;
        let (unit, posts) = if size == 1 { (view.words[at + 1] & 0xFF_FFFF, 7) } else { (view.words[at + 1], 8) };
        for (k, post) in block[posts..posts + 25 * size].chunks_exact(size).enumerate() {
            let place = [BLOCK_CELLS * x + k as u32 % 5, BLOCK_CELLS * y + k as u32 / 5];
            let held = (0..2).all(|i| (cells[i][0]..=cells[i][1] + 1).contains(&place[i]));
            if held && post.iter().any(|&b| b != 0xFF) {
                let post = post.iter().rev().fold(0, |v, &b| v << 8 | i64::from(b));
                let z = base + post * i64::from(unit);
                (least, most) = (least.min(z >> format::FRACTION), most.max(-(-z >> format::FRACTION)));
            }
        }
    }
    let within = |z: i64| z.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    (least <= most).then(|| [within(least), within(most)])
}

/// Whether a triangle is there twice: then none of its edges is its own or paired.
fn is_any_twice(content: &Content, crowded: &[u8]) -> bool {
    let mut known = HashSet::new();
    let those = content.tris.iter().zip(crowded).filter(|(_, crowded)| **crowded == 7);
    !those.map(|(tri, _)| tri.canonical()).all(|tri| known.insert(tri))
}

/// Numbers by the entry to which they belong, of a triangle over a block with the cells that it meets, a bit each.
#[derive(Default)]
struct Lists {
    starts: Vec<u32>,
    numbers: Vec<u32>,
    cells: Vec<u8>,
}

/// An entry, of which there are 2^16 at most, and cells, as one number.
fn at_entry(entry: i64, cells: u8) -> u32 {
    (entry as u32) << 8 | u32::from(cells)
}

impl Lists {
    /// Of pairs of an entry with cells and a number.
    fn new(entries: usize, pairs: &[(u32, u32)]) -> Lists {
        if pairs.is_empty() {
            return Lists::default();
        }
        // where the next of each entry is put stands one behind its start, which it is when all are
        let mut starts = vec![0u32; entries + 2];
        pairs.iter().for_each(|p| starts[(p.0 >> 8) as usize + 2] += 1);
        for i in 2..entries + 2 {
            starts[i] += starts[i - 1];
        }
        let (mut numbers, mut cells) = (vec![0u32; pairs.len()], vec![0u8; pairs.len()]);
        for &(at, number) in pairs {
            let to = &mut starts[(at >> 8) as usize + 1];
            (numbers[*to as usize], cells[*to as usize]) = (number, at as u8);
            *to += 1;
        }
        Lists { starts, numbers, cells }
    }

    fn of(&self, entry: usize) -> (&[u32], &[u8]) {
        match self.starts.get(entry..entry + 2) {
            Some(&[from, to]) => {
                let range = from as usize..to as usize;
                (&self.numbers[range.clone()], &self.cells[range])
            }
            _ => (&[], &[]),
        }
    }
}

/// Triangles of a sheet from which on it is crowded.
const CROWD: usize = 17;

/// A triangle of a sheet.
#[derive(Clone, Copy)]
struct Member {
    bounds: Box4,
    number: u32,
    /// The last proof that had it: members of one overlap none of each other. 0 if there was none.
    proof: u32,
}

/// A triangle that a cell names, and the sheet in which it does.
#[derive(Clone, Copy)]
struct Named {
    number: u32,
    sheet: u32,
}

/// A bundle, as far as a walk has come.
#[derive(Clone, Copy, Default)]
struct Bundle {
    /// A class of which some of its triangles are, and those, a bit each: they are proven to overlap no other of the class.
    class: u32,
    alone: u32,
    /// Of its triangles those whose numbers stand elsewhere, too.
    again: u32,
    /// The block that named it last, and what its cells name of it, 16 bits a cell.
    stamp: u64,
    named: u128,
}

struct Walk<'a, const SMALL: bool> {
    view: &'a View<'a>,
    content: &'a Content,
    /// As in [`Edges`].
    paired: &'a [u8],
    /// Of all groups.
    bundles: Vec<Bundle>,
    /// Those that the block at hand names, and of which triangles stand elsewhere.
    touched: Vec<usize>,
    /// Of each such triangle: the block that named it last, and in which of its cells.
    seen: Vec<u64>,
    stamp: u64,
    /// Pairs that may still be compared.
    pairs_left: u64,
    /// In which proof of a sheet each triangle was last, or of a class, from 1, and of a crowded one: those of one overlap none of each
    /// other.
    proven: [Vec<u32>; 2],
    proofs: u32,
    /// Triangles that are to be listed at the nodes that alone have them.
    withheld: i64,
    /// Triangles in the lists of the nodes above.
    listed: usize,
    /// Triangles that may still be tried with entries.
    trials_left: u64,
    /// Patches that may still be tried with entries and cells.
    patched_left: u64,
    /// What a cell names that may overlap another, words of a sheet that so far name one class, and triangles of a sheet.
    named: Vec<Named>,
    whole: Vec<(u32, u32)>,
    sheet: Vec<Member>,
    proof: &'a mut Proof,
}

impl<const SMALL: bool> Walk<'_, SMALL> {
    /// Proves a node over `low` with sides of 2^`log2`, which the triangles of `list`, those that it alone has, and the patches of `fields`
    /// meet.
    fn node(&mut self, at: usize, low: [i64; 2], log2: [u32; 2], list: &[u32], fields: &[u32]) {
        let view = self.view;
        let node = view.node(at);
        let group = Group { first: node.bundles, count: node.bundle_count, base: node.base, shift: node.shift };
        let with_own: Vec<u32>;
        let list = match self.content.own(&group, at) {
            Some(own) => {
                let those = own.tris.clone().filter(|&t| own.holds(t, self.content.boxes[t as usize]));
                with_own = list.iter().copied().chain(those).collect();
                self.withheld -= (with_own.len() - list.len()) as i64;
                &with_own
            }
            None => list,
        };
        let entry_log2 = node.entry_log2.map(u32::from);
        let side = node.side_log2.map(|s| 1i64 << s);
        let size = entry_log2.map(|l| 1i64 << l);
        debug_assert!((0..2).all(|i| entry_log2[i] + u32::from(node.side_log2[i]) == log2[i]));
        let dense = node.flags & NODE_DENSE != 0;
        let count = (side[0] * side[1]) as usize;
        let has_blocks = dense || {
            let entries = &view.words[node.entries as usize..][..count];
            entries.iter().any(|e| e >> entry::SHIFT == entry::BLOCK)
        };
        // over blocks the cells that a triangle meets are found at once; no entry is smaller than one
        let parts = if has_blocks { block::CELLS_LOG2 } else { [0; 2] };
        let cell_log2 = [0, 1].map(|i| entry_log2[i].saturating_sub(parts[i]));
        let cells = [0, 1].map(|i| side[i] << parts[i]);
        // the triangles of each entry, entry after entry
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(list.len() + list.len() / 2);
        for &t in list {
            let (tri, b) = (&self.content.tris[t as usize], self.content.boxes[t as usize]);
            let range = |i: usize| {
                let at = |v: i32| (i64::from(v) - low[i]) >> cell_log2[i];
                [at(b[i]).max(0) >> parts[i], at(b[i + 2]).min(cells[i] - 1) >> parts[i]]
            };
            let mut see = |[[x0, x1], [y0, y1]]: [[i64; 2]; 2]| {
                let trials = ((x1 - x0 + 1) * (y1 - y0 + 1)) as u64;
                if self.listed + pairs.len() > NAMED * view.words.len() || trials > self.trials_left {
                    return false;
                }
                self.trials_left -= trials;
                if has_blocks {
                    let first = [x0 << parts[0], y0 << parts[1]];
                    let low = [0, 1].map(|i| low[i] + (first[i] << cell_log2[i]));
                    let cells = [(x1 - x0 + 1) << parts[0], (y1 - y0 + 1) << parts[1]];
                    tri.blocks::<SMALL>(b, low, cell_log2, cells, |x, y, met| {
                        pairs.push((at_entry((y0 + y) * side[0] + x0 + x, met), t));
                    });
                    return true;
                }
                for (y, x) in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (y, x))) {
                    let r = Rect { low: [low[0] + x * size[0], low[1] + y * size[1]], size };
                    if trials == 1 || tri.meets::<SMALL>(b, &r) {
                        pairs.push((at_entry(y * side[0] + x, 0), t));
                    }
                }
                true
            };
            if !tri.windows::<SMALL>(b, low, entry_log2, [range(0), range(1)], &mut see) {
                let text = "its triangles lie over more places than its words can name";
                return self.proof.cover.add(view.fault_at(&Rect { low, size: log2.map(|l| 1 << l) }, text));
            }
        }
        let mut over: Vec<(u32, u32)> = Vec::new();
        for &f in fields {
            let field = &self.content.fields[f as usize];
            let range = |i: usize| {
                let at = |q: i64| (((q >> format::FRACTION) - low[i]) >> entry_log2[i]).clamp(0, side[i] - 1);
                (at(field.low[i]), at(field.high[i]))
            };
            let ((x0, x1), (y0, y1)) = (range(0), range(1));
            let places = ((x1 - x0 + 1) * (y1 - y0 + 1)) as usize;
            // where a patch lies in one of the entries, a word under it names it
            let named = over.len() + places <= view.words.len();
            if !self.afford(if named { places as u64 } else { u64::MAX }, &Rect { low, size: log2.map(|l| 1 << l) }) {
                return;
            }
            over.extend((y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (at_entry(y * side[0] + x, 0), f))));
        }
        let (triangles, patches) = (Lists::new(count, &pairs), Lists::new(count, &over));
        let listed = pairs.len();
        self.listed += listed;
        drop((pairs, over));
        let first = self.content.groups.get(&group).map_or(0, |at| at / 16);
        for k in 0..count {
            let ((list, cells), (fields, _)) = (triangles.of(k), patches.of(k));
            let low = [low[0] + k as i64 % side[0] * size[0], low[1] + k as i64 / side[0] * size[1]];
            let rect = Rect { low, size };
            if dense {
                self.block(first, node.entries as usize + block::WORDS * k, &rect, entry_log2, (list, cells), fields);
                continue;
            }
            let e = view.words[node.entries as usize + k];
            let to = (e & entry::PLACE) as usize;
            match e >> entry::SHIFT {
                entry::NODE => self.node(to, low, entry_log2, list, fields),
                entry::BLOCK => self.block(first, to, &rect, entry_log2, (list, cells), fields),
                kind => {
                    let patch = (kind == entry::PATCH).then_some(to);
                    self.missing(&rect, list.len());
                    self.fields(&rect, fields, patch.as_slice());
                }
            }
        }
        self.listed -= listed;
    }

    /// Tells of triangles over a rectangle that is said to have none.
    fn missing(&mut self, rect: &Rect, count: usize) {
        if count > 0 {
            let text = format!("{count} triangles lie over a place that names none");
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
    }

    /// Takes trials of patches from what may still be done; tells of a rectangle where there are too many.
    fn afford(&mut self, trials: u64, rect: &Rect) -> bool {
        let left = self.patched_left.checked_sub(trials);
        if left.is_none() {
            let text = "its patches lie over more places than its words can name";
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
        self.patched_left = left.unwrap_or(0);
        left.is_some()
    }

    /// Every patch of a list that answers in a rectangle is named there, or the first that is not is told; the names are
    /// ascending.
    fn fields(&mut self, rect: &Rect, fields: &[u32], named: &[usize]) {
        let mut met = fields.iter().map(|&f| &self.content.fields[f as usize]).filter(|f| f.meets(rect));
        if let Some(field) = met.find(|f| named.binary_search(&f.at).is_err()) {
            let text = format!("the patch at word {} lies over a place that does not name it", field.at);
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
    }

    /// Proves a block whose bundles stand from the one of this number on, over which triangles lie, each in some of its cells.
    fn block(
        &mut self,
        first: usize,
        at: usize,
        rect: &Rect,
        log2: [u32; 2],
        (list, met): (&[u32], &[u8]),
        fields: &[u32],
    ) {
        let (view, content) = (self.view, self.content);
        let b = view.block(at);
        if b[0] == word::NODE << word::GUESS {
            return self.node(b[block::TAIL] as usize, rect.low, log2, list, fields);
        }
        if !self.afford((fields.len() * block::CELLS) as u64, rect) {
            return;
        }
        let log2 = [log2[0] - block::CELLS_LOG2[0], log2[1] - block::CELLS_LOG2[1]];
        let size = log2.map(|l| 1i64 << l);
        self.stamp += 1;
        let stamp = self.stamp << 8;
        let (mut sole, mut further) = (0u8, 0usize);
        for cell in 0..block::CELLS {
            self.proof.cells += 1;
            self.named.clear();
            let (mut sheet, mut patches, mut unread, mut twice) = (0u32, Vec::new(), false, false);
            let mut filled = u32::MAX; // the last sheet with a triangle
            let mut class = None; // of all that a sheet names, 0 if they are of several
            words(view, b, cell, further, |w, number, starts| {
                if starts {
                    (sheet, class) = (sheet + 1, None);
                    self.whole.clear();
                }
                if w & word::MASK == 0 {
                    if w >> word::GUESS & 15 == word::PATCH {
                        patches.push(16 * number as usize);
                        unread |= filled == sheet;
                    }
                    return;
                }
                filled = sheet;
                let bundle = &mut self.bundles[first + number as usize];
                if bundle.stamp != stamp {
                    (bundle.stamp, bundle.named) = (stamp, 0);
                    if bundle.again != 0 {
                        self.touched.push(first + number as usize);
                    }
                }
                let named = u128::from(w & word::MASK) << (16 * cell);
                twice |= bundle.named & named != 0;
                bundle.named |= named;
                let own = if w & word::MASK & !bundle.alone == 0 { bundle.class } else { 0 };
                if own != 0 && own == *class.get_or_insert(own) {
                    return self.whole.push((w, number));
                }
                class = Some(0);
                for (w, number) in self.whole.drain(..).chain([(w, number)]) {
                    self.named.extend(triangles(content, first, w, number).map(|number| Named { number, sheet }));
                }
            });
            self.whole.clear();
            if twice || content.repeats {
                // by the same bits or, where bundles repeat it, by others
                let (mut sheet, mut all) = (0, Vec::new());
                words(view, b, cell, further, |w, number, starts| {
                    sheet += u32::from(starts);
                    all.extend(triangles(content, first, w, number).map(|number| Named { number, sheet }));
                });
                let mut numbers: Vec<u32> = all.iter().map(|n| n.number).collect();
                numbers.sort_unstable();
                twice = numbers.windows(2).any(|two| two[0] == two[1]);
                if twice {
                    self.named = all;
                }
            }
            if b[cell] & word::MASK != 0 && b[cell] & word::SHEET != 0 {
                sole |= 1 << cell;
            }
            further += further_words(b, cell);
            let rect = Rect { low: cell_low(rect.low, size, cell), size };
            if !fields.is_empty() {
                patches.sort_unstable();
                self.fields(&rect, fields, &patches);
            }
            if unread {
                self.proof
                    .sheets
                    .add(view.fault_at(&rect, "a patch follows triangles in their sheet, and is not read"));
            }
            self.sheets(&rect, twice);
        }
        let mut touched = std::mem::take(&mut self.touched);
        for bundle in touched.drain(..) {
            let Bundle { named, again, .. } = self.bundles[bundle];
            for (part, number) in parts_of(again).map(|part| (part, content.numbers[16 * bundle + part])) {
                let seen = &mut self.seen[number as usize];
                let before = if *seen & !255 == stamp { *seen } else { stamp };
                *seen = before | u64::from(cells_naming(named, part));
            }
        }
        self.touched = touched;
        // what lies over the cells, and what they name
        let mut open = 0u8;
        for (&t, &need) in list.iter().zip(met) {
            let tri = &self.content.tris[t as usize];
            let place = self.content.places[t as usize] as usize;
            let (bundle, seen) = (&self.bundles[place / 16], self.seen.get(t as usize).copied().unwrap_or(0));
            let mut has = if bundle.stamp == stamp { cells_naming(bundle.named, place % 16) } else { 0 };
            has |= if seen & !255 == stamp { seen as u8 } else { 0 };
            let lost = need & !has;
            if lost != 0 {
                let cell = Rect { low: cell_low(rect.low, size, lost.trailing_zeros() as usize), size };
                let [x, y, z] = tri.corner(0);
                let text = format!(
                    "{} cells do not name a triangle over them, whose first corner lies at lattice ({x}, {y}, {z})",
                    lost.count_ones()
                );
                self.proof.cover.add(view.fault_at(&cell, text));
            }
            let paired = self.paired[t as usize];
            if sole & need != 0 && paired != 7 {
                for cell in (0..8).filter(|c| (sole & need) >> c & 1 == 1) {
                    let r = Rect { low: cell_low(rect.low, size, cell), size };
                    let step = (0..3).any(|k| paired >> k & 1 == 0 && tri.edge_meets::<SMALL>(k, &r));
                    open |= u8::from(step) << cell;
                }
            }
        }
        for cell in (0..block::CELLS).filter(|c| open >> c & 1 == 1) {
            let r = Rect { low: cell_low(rect.low, size, cell), size };
            let text = "a cell is said to be surrounded by its sheet, and an edge of the sheet runs through it";
            self.proof.sheets.add(view.fault_at(&r, text));
        }
    }

    /// No two triangles of a sheet overlap; `twice` says that one may be there twice.
    fn sheets(&mut self, rect: &Rect, twice: bool) {
        if self.named.len() < 2 {
            return;
        }
        let (named, mut sheet) = (std::mem::take(&mut self.named), std::mem::take(&mut self.sheet));
        for numbers in named.chunk_by(|a, b| a.sheet == b.sheet).filter(|numbers| numbers.len() > 1) {
            sheet.clear();
            let proven = &self.proven[usize::from(numbers.len() >= CROWD)];
            sheet.extend(numbers.iter().map(|&Named { number, .. }| Member {
                bounds: self.content.boxes[number as usize],
                number,
                proof: if twice { 0 } else { proven[number as usize] },
            }));
            if let Err(unproven) = self.sheet(&mut sheet) {
                let fault = self.view.fault_at(rect, unproven.text());
                self.proof.sheets.add(Fault { crowded: unproven == Unproven::Crowded, ..fault });
                break;
            }
        }
        (self.named, self.sheet) = (named, sheet);
    }

    /// Compares the triangles of a sheet; says what is wrong.
    fn sheet(&mut self, sheet: &mut [Member]) -> Result<(), Unproven> {
        // many may lie around a vertex, in many cells: those that were proven together before are not even looked at again
        let many = sheet.len() >= CROWD;
        if many {
            if sheet.iter().any(|s| s.proof == 0 || s.proof != sheet[0].proof)
                && fan(self.content, sheet, self.proofs + 1)
            {
                self.proofs += 1;
            }
            sheet.sort_unstable_by_key(|s| s.proof);
        }
        let pairs = (sheet.len() * (sheet.len() - 1) / 2) as u64;
        let (mut end, mut rest) = (0, &*sheet);
        if !many && pairs < self.pairs_left {
            if sheet[0].proof != 0 && sheet.iter().all(|s| s.proof == sheet[0].proof) {
                // one proof had them all
                self.pairs_left -= pairs;
                return Ok(());
            }
            if all_apart::<SMALL>(self.content, sheet) {
                (self.pairs_left, rest) = (self.pairs_left - pairs, &[]);
            }
        }
        for group in rest.chunk_by(|a, b| many && a.proof == b.proof) {
            end += group.len();
            let together = group.len() > 1 && group[0].proof != 0;
            for (i, a) in group.iter().enumerate() {
                let within = if together { &[] } else { &group[i + 1..] };
                apart::<SMALL>(self.content, &mut self.pairs_left, a, within)?;
                apart::<SMALL>(self.content, &mut self.pairs_left, a, &sheet[end..])?;
            }
        }
        self.proofs += 1;
        let proven = &mut self.proven[usize::from(many)];
        sheet.iter().for_each(|s| proven[s.number as usize] = self.proofs);
        Ok(())
    }
}

/// How many further words a cell has.
fn further_words(b: &[u32; block::WORDS], cell: usize) -> usize {
    (b[block::COUNTS] >> (4 * cell) & 15) as usize
}

/// Calls `see` with each word of a cell, the number of its bundle or patch, and whether it starts a sheet. The cell's
/// further words stand from the one of this number on.
fn words(view: &View, b: &[u32; block::WORDS], cell: usize, first: usize, mut see: impl FnMut(u32, u32, bool)) {
    let word_at = |i: usize| match i.checked_sub(block::INLINE) {
        None => b[block::FURTHER + i],
        Some(beyond) => view.words[b[block::TAIL] as usize + beyond],
    };
    let home = b[cell];
    if home == word::LIST << word::GUESS {
        let at = word_at(first) as usize;
        for i in 0..view.words[at] as usize {
            let w = view.words[at + 1 + 2 * i];
            see(w, view.words[at + 2 + 2 * i], i > 0 && w & word::SHEET != 0);
        }
        return;
    }
    see(home, home >> word::NUMBER, false);
    for w in (first..first + further_words(b, cell)).map(word_at) {
        see(w, w >> word::NUMBER, w & word::SHEET != 0);
    }
}

/// The triangles that a word names of a bundle of those from the first on.
fn triangles(content: &Content, first: usize, word: u32, bundle: u32) -> impl Iterator<Item = u32> {
    let from = 16 * (first + bundle as usize);
    parts_of(word & word::MASK).map(move |part| content.numbers[from + part])
}

/// The numbers of a mask's bits.
fn parts_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let part = (mask != 0).then_some(mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(part)
    })
}

/// The cells that name a part of a bundle, a bit each, given the parts that each names, 16 bits a cell.
fn cells_naming(named: u128, part: usize) -> u8 {
    // bits 0, 16, 32 and 48 side by side
    let four =
        |named: u64| ((named >> part & 0x0001_0001_0001_0001).wrapping_mul(0x0001_0002_0004_0008) >> 48) as u8 & 15;
    four(named as u64) | four((named >> 64) as u64) << 4
}

/// Whether none of a few triangles overlaps another: boxes first, all at once.
fn all_apart<const SMALL: bool>(content: &Content, sheet: &[Member]) -> bool {
    sheet.iter().enumerate().all(|(i, a)| {
        let mut near = 0u32;
        for (j, b) in sheet[..i].iter().enumerate() {
            let known = (a.proof == b.proof) & (a.proof != 0);
            near |= u32::from(boxes_overlap(a.bounds, b.bounds) & !known) << j;
        }
        let tri = &content.tris[a.number as usize];
        while near != 0 {
            let b = &sheet[near.trailing_zeros() as usize];
            if tri.overlaps::<SMALL>(&content.tris[b.number as usize]) {
                return false;
            }
            near &= near - 1;
        }
        true
    })
}

/// Proves those of a sheet apart that meet in the vertex that most of them have: sorted by their directions from there, each ends before
/// the next begins. They get the number of that proof; says whether they did.
fn fan(content: &Content, sheet: &mut [Member], proof: u32) -> bool {
    let tri = |member: &Member| &content.tris[member.number as usize];
    let mut counts: HashMap<[i32; 2], u32> = HashMap::new();
    for (t, k) in sheet.iter().map(tri).flat_map(|t| [0, 1, 2].map(|k| (t, k))) {
        *counts.entry([t.x[k], t.y[k]]).or_default() += 1;
    }
    let Some((&vertex, _)) = counts.iter().max_by_key(|(vertex, count)| (**count, **vertex)) else { return false };
    // of each the directions in which it begins and ends, counter-clockwise
    let mut spokes: Vec<([[i64; 2]; 2], usize)> = Vec::new();
    for (i, t) in sheet.iter().map(tri).enumerate() {
        let Some(k) = (0..3).find(|&k| [t.x[k], t.y[k]] == vertex) else { continue };
        let way = |n: usize| [t.x[n % 3], t.y[n % 3]].map(i64::from);
        let from = vertex.map(i64::from);
        spokes.push(([k + 1, k + 2].map(|n| [way(n)[0] - from[0], way(n)[1] - from[1]]), i));
    }
    let cross = |a: [i64; 2], b: [i64; 2]| i128::from(a[0]) * i128::from(b[1]) - i128::from(a[1]) * i128::from(b[0]);
    let south = |d: [i64; 2]| d[1] < 0 || d[1] == 0 && d[0] < 0;
    let order = |a: [i64; 2], b: [i64; 2]| south(a).cmp(&south(b)).then(0.cmp(&cross(a, b)));
    spokes.sort_unstable_by(|([a, _], _), ([b, _], _)| order(*a, *b));
    let apart = spokes.iter().zip(spokes.iter().cycle().skip(1)).all(|(([from, to], _), ([next, _], _))| {
        let turn = cross(*from, *next);
        let same = turn == 0 && south(*from) == south(*next);
        turn < 0 || turn == 0 && !same || turn > 0 && cross(*to, *next) >= 0
    });
    if apart && spokes.len() > 1 {
        spokes.iter().for_each(|(_, i)| sheet[*i].proof = proof);
    }
    apart && spokes.len() > 1
}

/// Why it is not proven that triangles of a sheet lie apart.
#[derive(Debug, PartialEq)]
enum Unproven {
    /// Two overlap, and this is a corner of the first.
    Overlap([i32; 3]),
    /// There are too many pairs to compare.
    Crowded,
}

impl Unproven {
    fn text(&self) -> String {
        match self {
            Unproven::Overlap([x, y, z]) => {
                format!("two triangles of one sheet overlap; the first has a corner at lattice ({x}, {y}, {z})")
            }
            Unproven::Crowded => "too many long and thin triangles lie side by side here to be proven apart".into(),
        }
    }
}

/// Whether a triangle overlaps none of others, but for those that are proven not to; so many pairs may still be compared.
fn apart<const SMALL: bool>(
    content: &Content,
    left: &mut u64,
    one: &Member,
    others: &[Member],
) -> Result<(), Unproven> {
    let tri = &content.tris[one.number as usize];
    *left = left.saturating_sub(others.len() as u64);
    if *left == 0 {
        return Err(Unproven::Crowded);
    }
    let overlaps = |other: &Member| {
        let known = one.proof != 0 && one.proof == other.proof;
        !known && boxes_overlap(one.bounds, other.bounds) && tri.overlaps::<SMALL>(&content.tris[other.number as usize])
    };
    if others.iter().any(overlaps) {
        return Err(Unproven::Overlap(tri.corner(0)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of 100 steps, 16 x 16, in two triangles each; the eight columns in the east are raised, and moved this far east.
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
