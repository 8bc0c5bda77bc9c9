//! The content of a tile, read from its bytes.

use super::{Proof, View, widened};
use crate::verify::tile::edges::Own;
use crate::verify::tile::plan::{Box4, Rect, Tri};
use hardpan::format;
use hardpan::format::{BLOCK_CELLS, BLOCK_POSTS, NODE_DENSE, Patch, block, bundle, entry, word};
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use zerocopy::{FromBytes, IntoBytes};

/// Bundles that nodes count from one base, and where their triangles' numbers stand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Group {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) base: [i32; 2],
    pub(super) shift: u8,
}

/// A patch of the tile: where its record stands, and the places where it answers, in query steps, ends included.
pub(super) struct Field {
    pub(super) at: usize,
    pub(super) low: [i64; 2],
    pub(super) high: [i64; 2],
    /// Least and greatest post of its cells there, in steps; none if no post has a height.
    heights: Option<[i32; 2]>,
}

impl Field {
    /// Least and greatest coordinates in steps, rounded outwards; heights that no reader can have do not count.
    pub(super) fn bounds(&self) -> Option<[[i32; 3]; 2]> {
        let [least, most] = self.heights?;
        let up = (1 << format::FRACTION) - 1;
        let plan = |q: [i64; 2], by: i64| q.map(|q| i32::try_from((q + by) >> format::FRACTION).ok());
        let ([Some(x0), Some(y0)], [Some(x1), Some(y1)]) = (plan(self.low, 0), plan(self.high, up)) else {
            return None;
        };
        Some([[x0, y0, least], [x1, y1, most]])
    }

    pub(super) fn meets(&self, r: &Rect) -> bool {
        (0..2).all(|i| self.low[i] < r.high(i) << format::FRACTION && self.high[i] >= r.low[i] << format::FRACTION)
    }
}

/// The triangles of a tile, each once.
#[derive(Default)]
pub(super) struct Content {
    pub(super) tris: Vec<Tri>,
    pub(super) boxes: Vec<Box4>,
    /// Number of a group, then of each of its triangles, 16 a bundle.
    pub(super) groups: HashMap<Group, usize>,
    pub(super) numbers: Vec<u32>,
    /// For each triangle the first place of its number, and whether it stands in several places.
    pub(super) places: Vec<u32>,
    pub(super) again: Vec<bool>,
    /// Whether bundles of one group hold the same triangle.
    pub(super) repeats: bool,
    /// Groups with rectangles of their own, in the order of their numbers: all, or none.
    pub(super) own: Vec<Own>,
    pub(super) fields: Vec<Field>,
}

/// Least and greatest coordinates of triangles, if there are any.
pub(super) fn bounds_of(content: &Content) -> Option<[[i32; 3]; 2]> {
    let [low, high] = [|z: [i32; 3]| z[0].min(z[1]).min(z[2]), |z: [i32; 3]| z[0].max(z[1]).max(z[2])];
    let each = content.tris.iter().zip(&content.boxes);
    each.map(|(t, b)| [[b[0], b[1], low(t.z)], [b[2], b[3], high(t.z)]]).reduce(widened)
}

/// Reads the tile's bundles and patches; `None`, with the fault told, if they cannot be read.
pub(super) fn decode(view: &View, proof: &mut Proof) -> Option<Content> {
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
    /// Reads the triangles of groups; what several of them hold is one triangle. If they are `apart`, what lies in a
    /// group's own rectangle is taken to be in no other, without a search; it gives back whether that is so: each
    /// reaches its own group's, and those have no place in common. Then one that stands in a group twice is two. An
    /// error is a bundle with a corner outside the domain.
    pub(super) fn fill(&mut self, view: &View, groups: &[(Found, usize)], apart: bool) -> Result<bool, u32> {
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

    /// The node of a group alone, if it is this one.
    pub(super) fn own(&self, group: &Group, node: usize) -> Option<&Own> {
        let own = || self.own.binary_search_by_key(self.groups.get(group)?, |own| own.places.start).ok();
        let own = (!self.own.is_empty()).then(own)??;
        Some(&self.own[own]).filter(|own| own.node == node)
    }
}

/// The group of a node, and the node's rectangle, if all nodes inside it and none outside are of that group: no two
/// such have a place in common.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// Where the node stands.
    pub(super) node: usize,
    pub(super) group: Group,
    pub(super) own: Option<Rect>,
}

/// The groups of a node over a rectangle and of all below it.
pub(super) fn groups(view: &View, at: usize, rect: Rect, found: &mut Vec<Found>) {
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
pub(super) fn triangle(view: &View, group: &Group, h: &[u16; bundle::HALVES], part: usize) -> Option<Tri> {
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

/// 2^-16 cells from a part's first cell to a query step of an axis, rounded down.
pub(super) fn along(patch: &Patch, axis: usize, q: i64) -> i128 {
    let whole = |[low, high]: [u32; 2]| i128::from(low) | i128::from(high) << 32;
    let from = whole(patch.from[axis]) as i64;
    let u = (i128::from(q - from) * whole(patch.rate)) >> 32;
    (u >> 16) - (i128::from(patch.first[axis]) << 16)
}

/// First and last query step along an axis, within a tile, at which a patch has a cell.
pub(super) fn answers(patch: &Patch, axis: usize, low: i64, size: i64) -> Option<[i64; 2]> {
    let end = i128::from(patch.cells[axis]) << 16;
    let first_with = |reached: &dyn Fn(i128) -> bool| {
        let (mut from, mut to) = (low << format::FRACTION, (low + size) << format::FRACTION);
        while from < to {
            let middle = from + (to - from) / 2;
            if reached(along(patch, axis, middle)) { to = middle } else { from = middle + 1 }
        }
        from
    };
    let first = first_with(&|u| u >= 0);
    let last = first_with(&|u| u > end) - 1;
    (first <= last).then_some([first, last])
}

/// Least and greatest post, in steps, rounded outwards, of the cells that hold the query steps from the first to the
/// last of each axis; none without heights. The kernel has checked that the blocks of all patches are no more than the
/// tile.
pub(super) fn heights(view: &View, patch: &Patch, ends: [[i64; 2]; 2]) -> Option<[i32; 2]> {
    let cells = [0, 1].map(|axis| {
        ends[axis].map(|q| {
            let cell = along(patch, axis, q) >> 16;
            cell.clamp(0, i128::from(patch.cells[axis]) - 1) as u32 // the last post belongs to the last cell
        })
    });
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    let blocks = cells.map(|[first, last]| first / BLOCK_CELLS..=last / BLOCK_CELLS);
    for (y, x) in blocks[1].clone().flat_map(|y| blocks[0].clone().map(move |x| (y, x))) {
        let block = patch.block(view.words, (y * patch.blocks + x) as usize)?;
        for k in 0..BLOCK_POSTS {
            let place = [BLOCK_CELLS * x + k as u32 % 5, BLOCK_CELLS * y + k as u32 / 5];
            let held = (0..2).all(|i| (cells[i][0]..=cells[i][1] + 1).contains(&place[i]));
            if let Some(z) = block.height(k).filter(|_| held) {
                (least, most) = (least.min(z >> format::FRACTION), most.max(-(-z >> format::FRACTION)));
            }
        }
    }
    let within = |z: i64| z.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    (least <= most).then(|| [within(least), within(most)])
}
