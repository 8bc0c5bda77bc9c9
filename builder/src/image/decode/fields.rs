//! Height fields of an image, put together from the parts that its tiles hold.

use super::leaf::Field;
use super::tiles;
use crate::scene::{Blocks, HeightField, Scale};
use crate::util::exact::{exp2, reciprocal};
use hardpan::Terrain;
use hardpan::format::{BLOCK_CELLS, BLOCK_POSTS, FRACTION, PatchBlock};
use std::collections::HashMap;

/// A part of a field, and where it lies.
struct Piece<'a> {
    view: Field<'a>,
    /// Its tile, and its place among the parts there.
    tile: usize,
    order: usize,
    /// Which fields it may be of.
    group: usize,
    /// Its first block, counted from that of the field.
    at: [i64; 2],
    blocks: [i64; 2],
}

/// What all parts of a field share: rate, first post, up, class, material and source.
type Key = ([u32; 2], [[u32; 2]; 2], [u32; 2], u8, u16, u16);

const SIDE: i64 = BLOCK_CELLS as i64;
/// Posts along a block.
const POSTS: usize = BLOCK_CELLS as usize + 1;

impl Piece<'_> {
    /// A block, counted as `at` is; none if it has no such block.
    fn block(&self, at: [i64; 2]) -> Option<PatchBlock<'_>> {
        let [i, j] = [0, 1].map(|k| at[k] - self.at[k]);
        let inside = (0..self.blocks[0]).contains(&i) && (0..self.blocks[1]).contains(&j);
        let number = inside.then_some((j * self.blocks[0] + i) as usize)?;
        self.view.patch.block(self.view.words, number)
    }

    fn all(&self) -> impl Iterator<Item = [i64; 2]> + use<> {
        let ([x, y], [wide, high]) = (self.at, self.blocks);
        (y..y + high).flat_map(move |j| (x..x + wide).map(move |i| [i, j]))
    }
}

/// The height fields of a verified image, with their blocks as they stand there.
pub fn fields(t: &Terrain) -> Vec<HeightField> {
    let pieces = pieces(t);
    let mut parent: Vec<usize> = (0..pieces.len()).collect();
    let mut known: HashMap<(usize, [i64; 2]), Vec<usize>> = HashMap::new();
    for (i, piece) in pieces.iter().enumerate() {
        let end = [0, 1].map(|k| piece.at[k] + piece.blocks[k] - 1);
        // parts of neighbouring tiles share the blocks along their border
        let border = |b: &[i64; 2]| (0..2).any(|k| b[k] == piece.at[k] || b[k] == end[k]);
        for block in piece.all().filter(border) {
            let there = known.entry((piece.group, block)).or_default();
            let alike = |other: &&usize| {
                pieces[**other].tile != piece.tile && pieces[**other].block(block) == piece.block(block)
            };
            let same = there.iter().find(alike).copied();
            there.push(i);
            if let Some(other) = same {
                let (a, b) = (root(&mut parent, i), root(&mut parent, other));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut number: HashMap<usize, usize> = HashMap::new();
    for i in 0..pieces.len() {
        let root = root(&mut parent, i);
        let n = *number.entry(root).or_insert(all.len());
        match all.get_mut(n) {
            Some(own) => own.push(i),
            None => all.push(vec![i]),
        }
    }
    // parts that make no rectangle stay fields of their own
    let all: Vec<Vec<&Piece>> = all
        .into_iter()
        .flat_map(|own| {
            let own: Vec<&Piece> = own.into_iter().map(|i| &pieces[i]).collect();
            if is_one(&own) { vec![own] } else { own.into_iter().map(|piece| vec![piece]).collect() }
        })
        .collect();
    ordered(&all).into_iter().map(|i| field(t, &all[i])).collect()
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

fn pieces<'a>(t: &Terrain<'a>) -> Vec<Piece<'a>> {
    let mut groups: HashMap<Key, usize> = HashMap::new();
    let mut pieces = Vec::new();
    for (number, tile) in tiles(t).enumerate() {
        let palette = tile.palette();
        for (order, patch) in tile.patches().iter().enumerate() {
            let Some(a) = palette.get(usize::from(patch.attribute)) else { continue };
            let blocks = [i64::from(patch.blocks), i64::from(patch.cells[1].div_ceil(BLOCK_CELLS))];
            let key = (patch.rate, patch.from, patch.up, patch.class, a.material, a.source);
            let next = groups.len();
            let group = *groups.entry(key).or_insert(next);
            let at = patch.first.map(|cell| i64::from(cell / BLOCK_CELLS));
            pieces.push(Piece { view: tile.part(patch), tile: number, order, group, at, blocks });
        }
    }
    pieces
}

/// The first and the last block of some parts.
fn ends(own: &[&Piece]) -> [[i64; 2]; 2] {
    let start = [[i64::MAX; 2], [i64::MIN; 2]];
    own.iter().fold(start, |[low, high], p| {
        [[0, 1].map(|k| low[k].min(p.at[k])), [0, 1].map(|k| high[k].max(p.at[k] + p.blocks[k] - 1))]
    })
}

/// Whether parts make a whole rectangle, each block of which stands in all of them alike.
fn is_one(own: &[&Piece]) -> bool {
    let [low, high] = ends(own);
    let wide = high[0] - low[0] + 1;
    let most: i64 = own.iter().map(|p| p.blocks[0] * p.blocks[1]).sum();
    if wide * (high[1] - low[1] + 1) > most {
        return false;
    }
    let mut found: Vec<Option<PatchBlock>> = vec![None; (wide * (high[1] - low[1] + 1)) as usize];
    for piece in own {
        for at in piece.all() {
            let slot = &mut found[((at[1] - low[1]) * wide + at[0] - low[0]) as usize];
            let block = piece.block(at);
            if slot.is_some() && *slot != block {
                return false;
            }
            *slot = block;
        }
    }
    let mut tiles: Vec<usize> = own.iter().map(|p| p.tile).collect();
    tiles.sort_unstable();
    found.iter().all(Option::is_some) && tiles.windows(2).all(|w| w[0] != w[1])
}

/// Fields in an order that all tiles have.
fn ordered(all: &[Vec<&Piece>]) -> Vec<usize> {
    let mut places: Vec<[usize; 3]> =
        all.iter().enumerate().flat_map(|(i, own)| own.iter().map(move |p| [p.tile, p.order, i])).collect();
    places.sort_unstable();
    let mut before = vec![0; all.len()];
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for w in places.windows(2).filter(|w| w[0][0] == w[1][0]) {
        next[w[0][2]].push(w[1][2]);
        before[w[1][2]] += 1;
    }
    let mut open: std::collections::BTreeSet<usize> = (0..all.len()).filter(|i| before[*i] == 0).collect();
    let mut order = Vec::new();
    while let Some(i) = open.pop_first() {
        order.push(i);
        for &j in &next[i] {
            before[j] -= 1;
            if before[j] == 0 {
                open.insert(j);
            }
        }
    }
    if order.len() == all.len() { order } else { (0..all.len()).collect() }
}

/// A field of its parts.
fn field(t: &Terrain, own: &[&Piece]) -> HeightField {
    let h = t.header();
    let patch = own[0].view.patch;
    let [low, high] = ends(own);
    let blocks = [0, 1].map(|k| (high[k] - low[k] + 1) as usize);
    let cells = [0, 1].map(|k| {
        let end = own.iter().map(|p| (p.at[k] - low[k]) * SIDE + i64::from(p.view.patch.cells[k])).max();
        end.unwrap_or_default() as usize
    });
    let [columns, rows] = cells.map(|c| c + 1);
    let mut heights = vec![f64::NAN; columns * rows];
    let mut scales = vec![Scale::default(); blocks[0] * blocks[1]];
    let step = exp2(h.z_log2);
    for piece in own {
        for at in piece.all() {
            let Some(block) = piece.block(at) else { continue };
            let [i, j] = [0, 1].map(|k| (at[k] - low[k]) as usize);
            let log2 = block.scale().saturating_sub(FRACTION) as u8;
            scales[j * blocks[0] + i] = Scale { log2, is_long: block.class == 1 };
            for k in 0..BLOCK_POSTS {
                let (x, y) = (i * (POSTS - 1) + k % POSTS, j * (POSTS - 1) + k / POSTS);
                if let Some(z) = block.height(k).filter(|_| x < columns && y < rows) {
                    heights[y * columns + x] = (h.origin[2] + (z >> FRACTION)) as f64 * step;
                }
            }
        }
    }
    let palette = tiles(t).nth(own[0].tile).map(|tile| tile.palette()).unwrap_or_default();
    let (material, source) = palette.get(usize::from(patch.attribute)).map_or((0, 0), |a| (a.material, a.source));
    let zero = [0, 1].map(|k| first(own[0], k, low[k]));
    HeightField {
        origin: [0, 1].map(|k| ((h.origin[k] << FRACTION) + zero[k]) as f64 * exp2(h.xy_log2 - FRACTION as i32)),
        pitch: pitch(patch.upward(), patch.cells_a_step(), h.xy_log2),
        columns,
        rows,
        heights,
        material,
        source,
        tolerance: 0.0,
        blocks: Some(Blocks { class: patch.class, scales }),
    }
}

/// The query step of a field's first post along an axis; of a part of it alone, of the first post there.
fn first(own: &Piece, axis: usize, low: i64) -> i64 {
    let rate = i128::from(own.view.patch.cells_a_step()).max(1);
    let cells = i128::from(low * SIDE) << 64;
    own.view.patch.from(axis) + ((cells + rate - 1) / rate) as i64
}

/// The way from post to post in metres that has these numbers in a record: the shortest in decimals.
fn pitch(up: u64, rate: u64, xy_log2: i32) -> f64 {
    let fits = |pitch: &f64| {
        (pitch * exp2(24 - xy_log2)).round_ties_even() as u64 == up
            && reciprocal(pitch * exp2(FRACTION as i32 - xy_log2)) == rate
    };
    let whole = up as f64 * exp2(xy_log2 - 24);
    let near = exp2(64) / rate as f64 * exp2(xy_log2 - FRACTION as i32);
    let decimals = (0..17).flat_map(|digits| [near, whole].map(|v| format!("{v:.digits$e}").parse().unwrap_or(v)));
    [whole].into_iter().chain(decimals).find(fits).unwrap_or(whole)
}
