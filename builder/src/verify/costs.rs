//! That no ray and no tyre costs more than the image states.
//!
//! Every window of the format's grid is bounded by what is stated. One is tried together with its neighbours first:
//! where all squares that any of them sees cost no more along a staircase, none has to be looked at alone.

use super::tile::{self, View};
use super::{Fault, Faults};
use crate::image::rays::{self, TileRays};
use hardpan::Terrain;
use hardpan::format::{
    self, FRACTION, NODE_DENSE, Node, Patch, RAY_METRES, ROOT, TYRE_METRES, block, entry, rays::wall, word,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use zerocopy::{FromBytes, IntoBytes};

/// Squares that are compared at once, however large the window.
const SOME: usize = 48;

/// A rectangle in lattice steps.
type Rect = [[i64; 2]; 2];

/// A rectangle, and what it costs: leaves, tests, lines; or nodes.
type Priced<const N: usize> = (Rect, [u32; N]);

/// What is stated of rays of a length, or of a tyre.
struct Claim {
    what: String,
    stated: [u32; 4],
    /// log2 of the steps between windows, and what their sides have beyond those.
    grid: u32,
    sides: [i64; 2],
    /// Steps of a ray.
    length: Option<i64>,
    walls: bool,
}

/// A tile, and what rays have beside it.
struct Place<'a> {
    view: View<'a>,
    beside: Option<TileRays<'a>>,
}

struct Proving<'a> {
    tiles: BTreeMap<[i64; 2], Place<'a>>,
    log2: u32,
}

/// What a window holds.
#[derive(Default)]
struct Window {
    cells: Vec<Priced<3>>,
    squares: Vec<Priced<1>>,
    /// Patches: tile, word, whole record.
    patches: BTreeMap<([i64; 2], usize), Patch>,
    /// Most patches of a cell.
    together: u32,
    /// Steps of a ray; zero of a tyre.
    length: i64,
}

/// Proves the tables of an image whose structure is sound.
pub fn check(t: &Terrain) -> Faults {
    let h = t.header();
    let steps = |metres: f64| (metres * 2f64.powi(-h.xy_log2)).ceil() as i64;
    let mut claims = Vec::new();
    let beside = rays::head(t);
    let tables = [(Some(h.ray_bound), false), (beside.map(|head| head.ray_bound), true)];
    for (table, walls) in tables.into_iter().filter_map(|(table, walls)| Some((table?, walls))) {
        for (metres, stated) in RAY_METRES.into_iter().zip(table) {
            let length = steps(metres.into());
            let grid = (length / 2).max(1).ilog2();
            let sides = [length + 3, length * 7072 / 10_000 + 4].map(|side| multiple(side, grid));
            let of = if walls { ", over all kinds," } else { "" };
            let what = format!("a ray of {metres} m{of}");
            claims.push(Claim { what, stated, grid, sides, length: Some(length + 3), walls });
        }
    }
    for ([length, width], stated) in TYRE_METRES.into_iter().zip(h.tyre_bound) {
        let side = steps(length.hypot(width)) + 3;
        let grid = (side / 4).max(1).ilog2();
        let what = format!("a tyre of {length} x {width} m");
        claims.push(Claim { what, stated, grid, sides: [multiple(side, grid); 2], length: None, walls: false });
    }
    claims.retain(|claim| claim.stated != [0; 4]);
    let mut besides = rays::tiles(t);
    let places = tile::table(t).iter().enumerate().filter_map(|(index, record)| {
        let view = View::new(t, index as u32, record)?;
        Some(([record.x, record.y].map(i64::from), Place { view, beside: besides.next() }))
    });
    let proving = Proving { tiles: places.collect(), log2: h.tile_log2 };
    let mut faults = Faults::default();
    claims.iter().filter_map(|claim| proving.claim(claim)).for_each(|fault| faults.add(fault));
    faults
}

fn multiple(v: i64, log2: u32) -> i64 {
    let unit = 1 << log2;
    (v + unit - 1) / unit * unit
}

fn add<const N: usize>(a: [u32; N], b: [u32; N]) -> [u32; N] {
    std::array::from_fn(|i| a[i].saturating_add(b[i]))
}

fn greatest<const N: usize>(a: [u32; N], b: [u32; N]) -> [u32; N] {
    std::array::from_fn(|i| a[i].max(b[i]))
}

impl Proving<'_> {
    /// The first place by which a claim is false.
    fn claim(&self, claim: &Claim) -> Option<Fault> {
        let behind = if claim.length.is_none() { (claim.sides[0] >> self.log2) + 1 } else { 0 };
        let around = |[x, y]: [i64; 2]| (x - behind..=x).flat_map(move |x| (y - behind..=y).map(move |y| [x, y]));
        let low = |at: [i64; 2]| at.map(|v| (v << self.log2) >> claim.grid << claim.grid);
        let starts: BTreeSet<[i64; 2]> = self.tiles.keys().flat_map(|at| around(*at)).map(low).collect();
        let first: Mutex<Option<([i64; 2], [u32; 4])>> = Mutex::new(None);
        starts.into_par_iter().for_each(|low| {
            if first.lock().is_ok_and(|first| first.is_some()) {
                return;
            }
            if let (Some(fault), Ok(mut first)) = (self.square(claim, low, self.log2.max(claim.grid)), first.lock()) {
                first.get_or_insert(fault);
            }
        });
        let (at, found) = first.into_inner().ok()??;
        let [nodes, leaves, tests, lines] = claim.stated;
        let what = format!(
            "{} may cost {} nodes, {} leaves, {} tests and {} lines near here; {nodes}, {leaves}, {tests} and {lines} \
             are stated",
            claim.what, found[0], found[1], found[2], found[3]
        );
        Some(Fault::new(None, Some(at.map(|v| v as f64)), what))
    }

    /// A window that begins in this square and costs more than is stated.
    fn square(&self, claim: &Claim, low: [i64; 2], log2: u32) -> Option<([i64; 2], [u32; 4])> {
        let side = 1i64 << log2;
        let far = side + claim.sides[0];
        let around = [low.map(|v| v - far), low.map(|v| v + far)];
        // far within one square all windows cost the same
        let is_one = self.numbers(around, false).len() == 1 && self.squares(around) == 1 && self.has_no_block(around);
        let (log2, side) = if is_one { (claim.grid.min(log2), side.min(1 << claim.grid)) } else { (log2, side) };
        if log2 <= claim.grid + 1 || self.squares(around) <= SOME {
            let most = self.most(claim, low, side);
            if (0..4).all(|i| most[i] <= claim.stated[i]) {
                return None;
            }
            if log2 <= claim.grid {
                return Some((low, most));
            }
        }
        let half = side / 2;
        let quarters = [[0, 0], [half, 0], [0, half], [half, half]];
        quarters.iter().find_map(|by| self.square(claim, [low[0] + by[0], low[1] + by[1]], log2 - 1))
    }

    /// Whether no square of a window has cells.
    fn has_no_block(&self, window: Rect) -> bool {
        self.numbers(window, false).iter().filter_map(|at| self.tiles.get(at)).all(|place| {
            let mut none = true;
            place.each(window, false, &mut |spot| {
                none &= spot.block.is_none();
                none
            });
            none
        })
    }

    /// How many squares lie in a window, or more than some.
    fn squares(&self, window: Rect) -> usize {
        let mut count = 0;
        for at in self.numbers(window, false) {
            if let Some(place) = self.tiles.get(&at) {
                place.each(window, false, &mut |_| {
                    count += 1;
                    count <= SOME
                });
            }
            if count > SOME {
                break;
            }
        }
        count
    }

    /// The tiles of a window, row by row from the south, or from the north.
    fn numbers(&self, window: Rect, north_first: bool) -> Vec<[i64; 2]> {
        let ends = |i: usize| window[0][i] >> self.log2..((window[1][i] - 1) >> self.log2) + 1;
        let mut rows: Vec<i64> = ends(1).collect();
        if north_first {
            rows.reverse();
        }
        rows.into_iter().flat_map(|y| ends(0).map(move |x| [x, y])).collect()
    }

    fn most(&self, claim: &Claim, low: [i64; 2], side: i64) -> [u32; 4] {
        let [long, short] = claim.sides;
        let Some(length) = claim.length else {
            let window = [low, low.map(|v| v + side + long)];
            return self.whole(self.read(window, false, claim), window);
        };
        let mut most = [0; 4];
        for [east, up] in [[long, short], [short, long]] {
            let x = [low[0], low[0] + side + east];
            for (y, falls) in [([low[1], low[1] + side + up], false), ([low[1] - up, low[1] + side], true)] {
                let window = [[x[0], y[0]], [x[1], y[1]]];
                let held = self.read(window, falls, claim);
                most = greatest(most, self.steps(held, window, length));
            }
        }
        most
    }

    /// What lies in a window, in the order of staircases.
    fn read(&self, window: Rect, falls: bool, claim: &Claim) -> Window {
        let mut held = Window { length: claim.length.unwrap_or(0), ..Window::default() };
        for at in self.numbers(window, falls) {
            match self.tiles.get(&at) {
                Some(place) => place.read(at, window, falls, claim.walls, &mut held),
                None => {
                    let low = at.map(|v| v << self.log2);
                    let square = [low, low.map(|v| v + (1 << self.log2))];
                    held.cells.push((square, [0; 3]));
                    held.squares.push((square, [0]));
                }
            }
        }
        held
    }

    /// The costliest staircase through a window, for a ray of so many steps.
    fn steps(&self, held: Window, window: Rect, length: i64) -> [u32; 4] {
        let tiles = [0, 1].map(|i| ((window[1][i] - 1) >> self.log2) - (window[0][i] >> self.log2) + 1);
        let tiles = (tiles[0] + tiles[1] - 1) as usize;
        let mut cells = held.cells;
        let mut counts: BTreeMap<[i64; 2], u32> = BTreeMap::new();
        let (mut rate, mut all) = (0u64, 0u32);
        for ((tile, _), patch) in &held.patches {
            *counts.entry(*tile).or_default() += 1;
            rate = rate.max(patch.cells_a_step());
            all = all.saturating_add(patch.cells[0].saturating_add(patch.cells[1]));
        }
        let mut counts: Vec<u32> = counts.into_values().collect();
        counts.sort_unstable();
        let passages: u32 = counts.iter().rev().take(tiles).sum();
        // cells at a border of tiles are in the patches of both
        let most = if passages > 1 { 22_361 } else { 14_143 };
        let through = borders(length, rate, most).saturating_mul(held.together);
        let fields = if passages == 0 { 0 } else { through.saturating_add(4 * passages).min(all) };
        let [leaves, tests, lines] = add(costliest(&mut cells, window), of_cells(fields));
        let [nodes] = costliest(&mut held.squares.clone(), window);
        [nodes.saturating_add(2 * tiles as u32), leaves, tests, lines]
    }

    /// All of a window.
    fn whole(&self, held: Window, window: Rect) -> [u32; 4] {
        let meets = |r: &Rect| (0..2).all(|i| r[0][i] < window[1][i] && r[1][i] > window[0][i]);
        let cells = held.cells.iter().filter(|(r, _)| meets(r));
        let [mut leaves, mut tests, mut lines] = cells.fold([0; 3], |sum, (_, cost)| add(sum, *cost));
        let [mut nodes] = held.squares.iter().fold([0], |sum, (_, cost)| add(sum, *cost));
        let tiles = self.numbers(window, false).iter().filter(|at| self.tiles.contains_key(*at)).count();
        nodes = nodes.saturating_add(2 * tiles as u32);
        for patch in held.patches.values() {
            let [x, y] = [0, 1].map(|i| {
                let query = u128::from((window[1][i] - window[0][i]) as u64) << FRACTION;
                let cells = ((query * u128::from(patch.cells_a_step())) >> 64) as u32 + 3;
                cells.min(patch.cells[i])
            });
            [leaves, tests, lines] = add([leaves, tests, lines], of_cells(x.saturating_mul(y)));
        }
        [nodes, leaves, tests, lines]
    }
}

/// Leaves, tests and lines of cells of height fields: two lines each, for their block may name a long one.
fn of_cells(cells: u32) -> [u32; 3] {
    [cells, cells, cells.saturating_mul(2)]
}

/// Borders of cells of the format's rule: all that a ray of so many steps crosses, but for two.
fn borders(length: i64, rate: u64, most: u128) -> u32 {
    let way = u128::from(length as u64) << FRACTION;
    let cells = (way * most / 10_000 + 1) * u128::from(rate);
    u32::try_from((cells >> 64) + 1).unwrap_or(u32::MAX)
}

/// The costliest of all staircases through rectangles, which come in their order. What lies left of one, or below it,
/// or above it where staircases fall, has come before.
fn costliest<const N: usize>(all: &mut [Priced<N>], window: Rect) -> [u32; N] {
    let mut borders: [Vec<i64>; 2] = Default::default();
    for (rect, _) in all.iter_mut() {
        for i in 0..2 {
            rect[0][i] = rect[0][i].max(window[0][i]);
            rect[1][i] = rect[1][i].min(window[1][i]);
            borders[i].extend([rect[0][i], rect[1][i]]);
        }
    }
    for of in &mut borders {
        of.sort_unstable();
        of.dedup();
    }
    let mut fronts = [0, 1].map(|i| vec![[0; N]; borders[i].len()]);
    let mut most = [0; N];
    for (rect, cost) in all.iter().filter(|(r, _)| (0..2).all(|i| r[0][i] < r[1][i])) {
        let [x, y] = [0, 1].map(|i| {
            let at = |v: i64| borders[i].partition_point(|b| *b < v);
            at(rect[0][i])..at(rect[1][i])
        });
        let before = fronts[0][x.clone()].iter().chain(&fronts[1][y.clone()]).fold([0; N], |a, b| greatest(a, *b));
        let sum = add(before, *cost);
        most = greatest(most, sum);
        fronts[0][x].fill(sum);
        fronts[1][y].fill(sum);
    }
    most
}

/// A place of the index that no node divides.
struct Spot<'p> {
    node: &'p Node,
    low: [i64; 2],
    /// Nodes on the way to it.
    depth: u32,
    /// The word of its block, or of its patch record.
    block: Option<usize>,
    patch: Option<usize>,
}

impl Place<'_> {
    /// Calls `see` with every spot in a window, until it has seen enough.
    fn each(&self, window: Rect, north_first: bool, see: &mut dyn FnMut(&Spot) -> bool) {
        self.node(ROOT, self.view.rect.low, 1, (window, north_first), see);
    }

    fn node(&self, at: usize, low: [i64; 2], depth: u32, by: (Rect, bool), see: &mut dyn FnMut(&Spot) -> bool) -> bool {
        let words = self.view.words;
        let Ok(node) = Node::read_from_bytes(words[at..at + 8].as_bytes()) else { return true };
        let ends = [0, 1].map(|i| {
            let log2 = node.entry_log2[i];
            let first = ((by.0[0][i] - low[i]) >> log2).max(0);
            first..=((by.0[1][i] - 1 - low[i]) >> log2).min((1 << node.side_log2[i]) - 1)
        });
        let (first, last) = (*ends[1].start(), *ends[1].end());
        for row in 0..=last - first {
            let j = if by.1 { last - row } else { first + row };
            for i in ends[0].clone() {
                let k = (j << node.side_log2[0] | i) as usize;
                let low = [low[0] + (i << node.entry_log2[0]), low[1] + (j << node.entry_log2[1])];
                let mut spot = Spot { node: &node, low, depth, block: None, patch: None };
                if node.flags & NODE_DENSE != 0 {
                    spot.block = Some(node.entries as usize + block::WORDS * k);
                } else {
                    let e = words[node.entries as usize + k];
                    let to = (e & entry::PLACE) as usize;
                    match e >> entry::SHIFT {
                        entry::NODE => {
                            if !self.node(to, low, depth + 1, by, see) {
                                return false;
                            }
                            continue;
                        }
                        entry::BLOCK => spot.block = Some(to),
                        entry::PATCH => spot.patch = Some(to),
                        _ => {}
                    }
                }
                let inner = spot.block.filter(|at| words[*at] == word::NODE << word::GUESS);
                let goes_on = match inner {
                    Some(at) => self.node(words[at + block::TAIL] as usize, low, depth + 1, by, see),
                    None => see(&spot),
                };
                if !goes_on {
                    return false;
                }
            }
        }
        true
    }

    fn read(&self, tile: [i64; 2], window: Rect, falls: bool, walls: bool, held: &mut Window) {
        self.each(window, falls, &mut |spot| {
            let size = spot.node.entry_log2.map(|l| 1i64 << l);
            let square = [spot.low, [spot.low[0] + size[0], spot.low[1] + size[1]]];
            held.squares.push((square, [spot.depth]));
            let Some(at) = spot.block else {
                if let Some(at) = spot.patch {
                    self.note(tile, at, held);
                    held.together = held.together.max(1);
                }
                held.cells.push((square, [0; 3]));
                return true;
            };
            let Some(b) = self.view.words[at..].first_chunk::<{ block::WORDS }>() else { return true };
            let record = self.beside.as_ref().filter(|_| walls).and_then(|beside| {
                let record = beside.block(spot.node.block_number(at))?;
                beside.block_walls(record)
            });
            let part = [size[0] / 4, size[1] / 2];
            for row in if falls { [1, 0] } else { [0, 1] } {
                for column in 0..4 {
                    let low = [spot.low[0] + column * part[0], spot.low[1] + row * part[1]];
                    let rect = [low, [low[0] + part[0], low[1] + part[1]]];
                    if (0..2).any(|i| rect[0][i] >= window[1][i] || rect[1][i] <= window[0][i]) {
                        continue;
                    }
                    let cell = (4 * row + column) as usize;
                    let mut cost = self.cell(tile, b, cell, held);
                    if let Some((own, words)) = record {
                        let [from, to] = own.words_of(cell as u32);
                        let words = words.get(from..to).unwrap_or_default();
                        let (masks, count) = (words.iter().map(|w| wall::mask(*w).count_ones()), words.len() as u32);
                        let lines = if count == 0 { 0 } else { format::lines(from + 10, words.len()) + 2 * count };
                        cost = add(cost, [count, masks.sum(), lines]);
                    }
                    held.cells.push((rect, cost));
                }
            }
            true
        });
    }

    fn note(&self, tile: [i64; 2], at: usize, held: &mut Window) -> Option<Patch> {
        let patch = Patch::read_from_bytes(self.view.words.get(at..)?.get(..16)?.as_bytes()).ok()?;
        held.patches.insert((tile, at), patch);
        Some(patch)
    }

    /// Leaves, tests and lines of a cell. Of patches that it names with others each is passed again, and one more.
    fn cell(&self, tile: [i64; 2], b: &[u32; block::WORDS], cell: usize, held: &mut Window) -> [u32; 3] {
        let home = b[cell];
        let kind = home >> word::GUESS & 15;
        let is_list = home & word::MASK == 0 && kind == word::LIST;
        if home & word::MASK == 0 && !is_list && kind != word::PATCH {
            return [0; 3];
        }
        let (before, count) = block::further(b, cell as u32);
        let (before, count) = (before as usize, count as usize);
        let mut lines = format::word_lines(b[block::TAIL] as usize, before, count);
        if is_list {
            let at = match before.checked_sub(block::INLINE) {
                None => b[block::FURTHER + before],
                Some(beyond) => self.view.words[b[block::TAIL] as usize + beyond],
            } as usize;
            lines = lines.saturating_add(format::lines(at, 1 + 2 * self.view.words[at] as usize));
        }
        let mut cost = [0, 0, lines];
        let mut patches = Vec::new();
        tile::words(&self.view, b, cell, before, |w, number, _| match w & word::MASK {
            0 => patches.push(16 * number as usize),
            mask => cost = add(cost, [1, mask.count_ones(), 2]),
        });
        held.together = held.together.max(patches.len() as u32);
        let mut passed = 0;
        for at in &patches {
            let Some(patch) = self.note(tile, *at, held) else { continue };
            let most = patch.cells[0].saturating_add(patch.cells[1]);
            passed = passed.max(borders(held.length, patch.cells_a_step(), 14_143).saturating_add(3).min(most));
        }
        if patches.len() > 1 && held.length > 0 {
            let again = passed.saturating_mul(patches.len() as u32 + 1);
            cost = add(cost, of_cells(again));
        }
        cost
    }
}
