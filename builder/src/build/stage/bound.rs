//! The most that a ray of a length, or a tyre of a size, can cost anywhere in an image.
//!
//! A ray passes the squares of the index along a staircase, eastwards and either north or south. So the costliest
//! staircase through a window that holds the ray is a bound. Windows stand at every place of a grid; a larger square of
//! places is looked at first, and divided only where it costs more than the most so far.

use super::tile::Blob;
use crate::options::Options;
use hardpan::format::rays::{RaysRecord, RaysTile, Walls, wall};
use hardpan::format::{self, Node, Patch, RAY_METRES, ROOT, TYRE_METRES, block, entry, word};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use zerocopy::{FromBytes, IntoBytes};

/// Leaves, tests, lines, nodes.
type Sum = [u32; 4];

/// A row of a table of the format: nodes, leaves, tests, lines; zeros where they are too many.
type Row = [u32; 4];

/// The tables of an image; zeros state nothing.
#[derive(Default)]
pub struct Tables {
    /// Rays over the ground.
    pub ray: [Row; 4],
    /// Rays over all that the image holds.
    pub all: [Row; 4],
    /// Squares below a tyre.
    pub tyre: [Row; 2],
}

/// The most that a vertical query costs.
pub fn vertical(tiles: &[Blob]) -> Row {
    tiles.iter().fold([0; 4], |mut most, t| {
        raise(&mut most, &t.head.bound);
        most
    })
}

impl Tables {
    /// Of the tiles of an image.
    pub fn new(tiles: &[Blob], log2: u32, options: &Options) -> Tables {
        let step = options.xy_log2;
        let ground = Squares::new(tiles, log2, false);
        let upright = vertical(tiles);
        // a ray straight down or up is a vertical query
        let at_least = |mut row: Row, least: Row| {
            if row != [0; 4] {
                raise(&mut row, &least);
            }
            row
        };
        let ray = RAY_METRES.map(|metres| at_least(ground.ray(f64::from(metres), step), upright));
        let tyre = TYRE_METRES.map(|size| at_least(ground.tyre(size, step), upright));
        let has_walls = tiles.iter().any(|t| t.rays.get(WALLS).is_some_and(|count| count.iter().any(|n| *n > 0)));
        let squares = if has_walls { Squares::new(tiles, log2, true) } else { ground };
        let [nodes, mut rest @ ..] = upright;
        add(&mut rest, &squares.walls());
        // and once more for what else stands over the place
        let least = [nodes.saturating_mul(2), rest[0], rest[1], rest[2]];
        let of = |i: usize| match has_walls {
            true => at_least(squares.ray(f64::from(RAY_METRES[i]), step), least),
            false => at_least(ray[i], least),
        };
        Tables { ray, all: [0, 1, 2, 3].map(of), tyre }
    }
}

/// Where the head of a blob says how many ceilings and obstacles it has.
const WALLS: std::ops::Range<usize> = {
    let at = std::mem::offset_of!(RaysTile, references) / 4;
    at..at + 2
};

/// Parts of a window's side that a staircase is followed in, at most: what is smaller counts as one.
const UNITS: i64 = 512;
/// Squares in a window that are looked at before it is divided, however large it is.
const FEW: u32 = 32;
/// Squares of places that are divided in any case; of more, one in eight.
const DIVIDED: usize = 2048;

/// Cells of a field that a way passes in 10,000 of their sides, in both axes together; and where those at a border of
/// tiles are in the patches of both.
const ONCE: u128 = 14_143;
const TWICE: u128 = 22_361;

/// What a place of a node holds.
#[derive(Clone, Copy)]
enum Held {
    Nothing,
    Node(u32),
    Block(u32),
    /// One patch: a set of them.
    Patch(u32),
}

#[derive(Clone, Copy)]
struct Inner {
    low: [i64; 2],
    log2: [u32; 2],
    side: [i64; 2],
    /// Nodes that a search reads down to it.
    depth: u32,
    first: u32,
}

/// What a cell costs: leaves, tests, lines; and the patches that it names, a number of a set.
#[derive(Clone, Copy, Default)]
struct Cell {
    cost: [u32; 3],
    set: u32,
}

/// A part of a height field.
#[derive(Clone, Copy)]
struct Part {
    cells: [u32; 2],
    /// Cells in 2^-64 of a query step.
    rate: u64,
}

impl Part {
    /// Borders of cells that a way of so many steps crosses, in both axes together, but for two; `most` of them in
    /// 10,000 steps of a cell.
    fn crossed(&self, steps: i64, most: u128) -> u32 {
        let query = (steps as u128) << format::FRACTION;
        let crossed = ((query * most / 10_000 + 1) * u128::from(self.rate)) >> 64;
        u32::try_from(crossed + 1).unwrap_or(u32::MAX)
    }

    /// No way crosses more of its cells.
    fn most(&self) -> u32 {
        self.cells[0].saturating_add(self.cells[1])
    }

    /// Cells of one passage.
    fn passed(&self, steps: i64) -> u32 {
        self.crossed(steps, ONCE).saturating_add(3).min(self.most())
    }
}

/// The squares of one tile.
#[derive(Default)]
struct Tree {
    nodes: Vec<Inner>,
    held: Vec<Held>,
    blocks: Vec<[Cell; block::CELLS]>,
    parts: Vec<Part>,
    /// Patches that cells name together; the first is none.
    sets: Vec<Vec<u32>>,
    /// Most that the walls of one cell cost.
    walls: [u32; 3],
}

/// The squares of all tiles.
struct Squares {
    tiles: HashMap<[i64; 2], Tree>,
    log2: u32,
}

/// Reads a tile.
struct Reader<'a> {
    words: &'a [u32],
    rays: &'a [u32],
    tree: Tree,
    patches: HashMap<usize, u32>,
    sets: HashMap<Vec<u32>, u32>,
}

/// Leaves, tests and lines of cells of height fields: each may lie in a block that names a long one.
fn of_cells(cells: u32) -> [u32; 3] {
    [cells, cells, cells.saturating_mul(2)]
}

fn add(sum: &mut [u32], by: &[u32]) {
    sum.iter_mut().zip(by).for_each(|(s, b)| *s = s.saturating_add(*b));
}

fn raise(most: &mut [u32], by: &[u32]) {
    most.iter_mut().zip(by).for_each(|(m, b)| *m = (*m).max(*b));
}

impl Reader<'_> {
    fn node(&mut self, at: usize, low: [i64; 2], depth: u32) -> u32 {
        let node = *Node::ref_from_bytes(self.words[at..at + 8].as_bytes()).expect("a node");
        let (log2, count) = (node.entry_log2.map(u32::from), node.entry_count());
        let number = self.tree.nodes.len();
        let side = node.side_log2.map(|s| 1i64 << s);
        let first = self.tree.held.len() as u32;
        self.tree.nodes.push(Inner { low, log2, side, depth, first });
        self.tree.held.resize(first as usize + count, Held::Nothing);
        for k in 0..count {
            let place = node.place_of(k);
            let low = [0, 1].map(|i| low[i] + ((place[i] as i64) << log2[i]));
            let at = node.entries as usize + node.entry_words() * k;
            let block_at = match (node.is_dense(), entry::kind(self.words[at])) {
                (true, _) => at,
                (false, entry::BLOCK) => entry::place(self.words[at]),
                (false, entry::NODE) => {
                    let to = entry::place(self.words[at]);
                    self.tree.held[first as usize + k] = Held::Node(self.node(to, low, depth + 1));
                    continue;
                }
                (false, entry::PATCH) => {
                    let patch = self.patch(entry::place(self.words[at]));
                    self.tree.held[first as usize + k] = Held::Patch(self.set(vec![patch]));
                    continue;
                }
                _ => continue,
            };
            let b: [u32; block::WORDS] = *self.words[block_at..].first_chunk().expect("a block");
            self.tree.held[first as usize + k] = if block::is_node(b[0]) {
                Held::Node(self.node(b[block::TAIL] as usize, low, depth + 1))
            } else {
                let mut cells = [Cell::default(); block::CELLS];
                for (cell, c) in cells.iter_mut().enumerate() {
                    *c = self.cell(&b, cell as u32);
                    let walls = self.walls(node.block_number(block_at), cell as u32);
                    add(&mut c.cost, &walls);
                    raise(&mut self.tree.walls, &walls);
                }
                self.tree.blocks.push(cells);
                Held::Block(self.tree.blocks.len() as u32 - 1)
            };
        }
        number as u32
    }

    /// What the words of a cell cost that name triangles, and the patches.
    fn cell(&mut self, b: &[u32; block::WORDS], cell: u32) -> Cell {
        let home = b[cell as usize];
        let is_list = word::is(home, word::LIST);
        if word::mask(home) == 0 && !is_list && !word::is(home, word::PATCH) {
            return Cell::default();
        }
        let (before, count) = block::further(b, cell);
        let (before, count) = (before as usize, count as usize);
        let tail = b[block::TAIL] as usize;
        let word_at = |i: usize| match b.get(block::FURTHER + i) {
            Some(w) => *w,
            None => self.words[tail + i - block::INLINE],
        };
        let mut lines = format::word_lines(tail, before, count);
        let mut named: Vec<(u32, u32)> = Vec::new();
        if is_list {
            let at = word_at(before) as usize;
            let pairs = self.words[at] as usize;
            lines = lines.saturating_add(format::lines(at, 1 + 2 * pairs));
            named.extend((0..pairs).map(|i| (self.words[at + 1 + 2 * i], self.words[at + 2 + 2 * i])));
        } else {
            let own = std::iter::once(home).chain((before..before + count).map(word_at));
            named.extend(own.map(|w| (w, word::number(w))));
        }
        let (mut cost, mut patches) = ([0, 0, lines], Vec::new());
        for (w, number) in named {
            match word::mask(w) {
                0 => patches.push(16 * number as usize),
                mask => add(&mut cost, &[1, mask.count_ones(), 2]),
            }
        }
        let patches = patches.into_iter().map(|at| self.patch(at)).collect();
        Cell { cost, set: self.set(patches) }
    }

    /// What ceilings and obstacles of a cell cost.
    fn walls(&self, number: u32, cell: u32) -> [u32; 3] {
        let Some(head) = self.rays.get(..32) else { return [0; 3] };
        let head = RaysTile::ref_from_bytes(head.as_bytes()).expect("a head");
        let at = head.records as usize + RaysRecord::WORDS * number as usize;
        let record = RaysRecord::ref_from_bytes(self.rays[at..at + RaysRecord::WORDS].as_bytes()).expect("a record");
        if record.walls == 0 {
            return [0; 3];
        }
        let (own, rest) = self.rays[record.walls as usize..].split_at(Walls::WORDS);
        let walls = Walls::ref_from_bytes(own.as_bytes()).expect("walls");
        let [from, to] = walls.words_of(cell);
        if from == to {
            return [0; 3];
        }
        let tests = rest[from..to].iter().map(|w| wall::mask(*w).count_ones()).sum();
        let count = (to - from) as u32;
        [count, tests, format::lines(from + Walls::WORDS, to - from) + 2 * count]
    }

    fn patch(&mut self, at: usize) -> u32 {
        let patch = Patch::ref_from_bytes(self.words[at..at + 16].as_bytes()).expect("a patch");
        *self.patches.entry(at).or_insert_with(|| {
            self.tree.parts.push(Part { cells: patch.cells, rate: patch.cells_a_step() });
            self.tree.parts.len() as u32 - 1
        })
    }

    fn set(&mut self, patches: Vec<u32>) -> u32 {
        let sets = &mut self.tree.sets;
        *self.sets.entry(patches).or_insert_with_key(|patches| {
            sets.push(patches.clone());
            sets.len() as u32 - 1
        })
    }
}

/// Rounded up to a multiple of 2^`log2`.
fn up(v: i64, log2: u32) -> i64 {
    (((v - 1) >> log2) + 1) << log2
}

fn raise_least(least: &mut [u32; 2], log2: [u32; 2]) {
    [0, 1].into_iter().for_each(|i| least[i] = least[i].min(log2[i]));
}

impl Squares {
    /// The squares of all tiles, with ceilings and obstacles if `with_walls`.
    fn new(tiles: &[Blob], log2: u32, with_walls: bool) -> Squares {
        let tree = |t: &Blob| {
            let words = <[u32]>::ref_from_bytes(t.bytes()).expect("words");
            let tree = Tree::default();
            let rays = if with_walls { &t.rays[..] } else { &[] };
            let (patches, sets) = (HashMap::new(), HashMap::new());
            let mut reader = Reader { words, rays, tree, patches, sets };
            reader.set(Vec::new());
            reader.node(ROOT, [t.x, t.y].map(|v| i64::from(v) << log2), 1);
            ([t.x, t.y].map(i64::from), reader.tree)
        };
        Squares { tiles: tiles.par_iter().map(tree).collect::<Vec<_>>().into_iter().collect(), log2 }
    }

    /// Most leaves, tests and lines that the walls of a cell cost.
    fn walls(&self) -> [u32; 3] {
        self.tiles.values().fold([0; 3], |mut most, tree| {
            raise(&mut most, &tree.walls);
            most
        })
    }

    /// The most that a ray of so many metres costs, by whose plan steps are 2^`xy_log2` m.
    fn ray(&self, metres: f64, xy_log2: i32) -> Row {
        let length = (metres * crate::util::exact::exp2(-xy_log2)).ceil() as i64;
        let grid = (length / 2).max(1).ilog2();
        // a step for each end, one for rounding
        let sides = [length, length * 7072 / 10_000 + 1].map(|v| up(v + 3, grid));
        self.most(&Ask { grid, sides, length: Some(length + 3) })
    }

    /// The most that all squares cost that a tyre of such a length and width meets, in whatever direction.
    fn tyre(&self, [length, width]: [f64; 2], xy_log2: i32) -> Row {
        let side = (length.hypot(width) * crate::util::exact::exp2(-xy_log2)).ceil() as i64 + 3;
        let grid = (side / 4).max(1).ilog2();
        self.most(&Ask { grid, sides: [up(side, grid); 2], length: None })
    }

    fn most(&self, ask: &Ask) -> Row {
        let reach = (ask.sides[0] >> self.log2) + 1;
        let mut all: Vec<[i64; 2]> = self.tiles.keys().copied().collect();
        if ask.length.is_none() {
            // a window may begin where there is no tile
            let behind = |[x, y]: &[i64; 2]| {
                let [x, y] = [*x, *y];
                (y - reach..=y).flat_map(move |y| (x - reach..=x).map(move |x| [x, y])).collect::<Vec<_>>()
            };
            all = all.iter().flat_map(behind).collect::<HashSet<_>>().into_iter().collect();
        }
        all.sort_unstable();
        let squares = |tile: &[i64; 2]| {
            let mut squares = Vec::new();
            self.squares(ask, tile.map(|v| v << self.log2), self.log2.max(ask.grid), &mut squares);
            squares
        };
        let mut squares: Vec<([i64; 2], u32)> = all.par_iter().flat_map_iter(squares).collect();
        // of small tiles several have one
        squares.par_sort_unstable();
        squares.dedup();
        let valued = squares
            .into_par_iter()
            .map_init(Scratch::default, |scratch, (low, log2)| (self.value(ask, low, 1 << log2, scratch), low, log2));
        let mut valued: Vec<(Sum, [i64; 2], u32)> = valued.collect();
        // the costliest first: then few others are divided
        valued.par_sort_unstable_by_key(|(value, low, _)| (std::cmp::Reverse([value[1], value[2]]), *low));
        // of many the rest is believed as it is, which may state more than need be
        let rest = valued.split_off(valued.len().min(DIVIDED.max(valued.len() / 8)));
        let mut least = [0; 4];
        rest.iter().for_each(|(value, ..)| raise(&mut least, value));
        let best = least.map(AtomicU32::new);
        valued.into_par_iter().for_each_init(Scratch::default, |scratch, (value, low, log2)| {
            self.divide(ask, value, low, log2, &best, scratch);
        });
        let [leaves, tests, lines, nodes] = best.map(|v| v.into_inner());
        let row = [nodes, leaves, tests, lines];
        if row.iter().all(|v| *v <= format::MAX_BOUND) { row } else { [0; 4] }
    }

    /// The squares of places that are looked at first.
    fn squares(&self, ask: &Ask, low: [i64; 2], log2: u32, squares: &mut Vec<([i64; 2], u32)>) {
        let low = low.map(|v| v >> ask.grid << ask.grid);
        if log2 <= ask.grid + 1 || self.is_few(low, (1 << log2) + ask.sides[0]) {
            return squares.push((low, log2));
        }
        quarters(low, log2).for_each(|low| self.squares(ask, low, log2 - 1, squares));
    }

    /// Raises the best to the most of all windows that begin in a square, which cost no more than `value` together.
    fn divide(&self, ask: &Ask, value: Sum, low: [i64; 2], log2: u32, best: &[AtomicU32; 4], scratch: &mut Scratch) {
        if value.iter().zip(best).all(|(v, b)| *v <= b.load(Ordering::Relaxed)) {
            return;
        }
        let raise = |value: Sum| value.iter().zip(best).for_each(|(v, b)| _ = b.fetch_max(*v, Ordering::Relaxed));
        if log2 <= ask.grid {
            return raise(value);
        }
        // far within one square all windows cost the same
        if self.is_one(low, (1 << log2) + ask.sides[0]) {
            return raise(self.value(ask, low, 1 << ask.grid, scratch));
        }
        for low in quarters(low, log2) {
            let value = self.value(ask, low, 1 << (log2 - 1), scratch);
            self.divide(ask, value, low, log2 - 1, best, scratch);
        }
    }

    /// Whether few squares lie around here.
    fn is_few(&self, low: [i64; 2], side: i64) -> bool {
        let window = [low.map(|v| v - side), low.map(|v| v + side)];
        let mut left = FEW;
        for at in self.tiles_in(&window) {
            let Some(tree) = self.tiles.get(&at) else { continue };
            tree.count(0, &window, &mut left, 1);
            if left == 0 {
                return false;
            }
        }
        true
    }

    /// Whether one square lies around here.
    fn is_one(&self, low: [i64; 2], side: i64) -> bool {
        let window = [low.map(|v| v - side), low.map(|v| v + side)];
        let mut tiles = self.tiles_in(&window);
        let (Some(at), None) = (tiles.next(), tiles.next()) else { return false };
        let mut left = 2;
        self.tiles.get(&at).is_some_and(|tree| {
            tree.count(0, &window, &mut left, 2);
            left > 0
        })
    }

    fn tiles_in(&self, window: &[[i64; 2]; 2]) -> impl DoubleEndedIterator<Item = [i64; 2]> + use<> {
        let range = |i: usize| window[0][i] >> self.log2..=(window[1][i] - 1) >> self.log2;
        let (columns, rows) = (range(0), range(1));
        rows.flat_map(move |y| columns.clone().map(move |x| [x, y]))
    }

    /// The most of all windows that begin in a square of places.
    fn value(&self, ask: &Ask, low: [i64; 2], side: i64, scratch: &mut Scratch) -> Sum {
        let [long, short] = ask.sides;
        let Some(length) = ask.length else { return self.all(&[low, low.map(|v| v + side + long)]) };
        let mut most = [0; 4];
        for [w, h] in [[long, short], [short, long]] {
            let north = [low, [low[0] + side + w, low[1] + side + h]];
            let south = [[low[0], low[1] - h], [low[0] + side + w, low[1] + side]];
            raise(&mut most, &self.staircase(&north, false, length, scratch));
            raise(&mut most, &self.staircase(&south, true, length, scratch));
        }
        most
    }

    /// The costliest staircase through a window, eastwards and north or south.
    fn staircase(&self, window: &[[i64; 2]; 2], south: bool, length: i64, scratch: &mut Scratch) -> Sum {
        let size = [0, 1].map(|i| window[1][i] - window[0][i]);
        let mut unit = size.map(|v| (v / UNITS).max(1).ilog2());
        let mut least = [self.log2; 2];
        for tree in self.tiles_in(window).filter_map(|at| self.tiles.get(&at)) {
            tree.least(0, window, &mut least);
        }
        [0, 1].into_iter().for_each(|i| unit[i] = unit[i].max(least[i]));
        let mut climb = Climb { window, unit, south, length, scratch, most: [0; 4], together: 0, rate: 0 };
        let units = [0, 1].map(|i| (((window[1][i] - 1) >> unit[i]) - (window[0][i] >> unit[i]) + 1) as usize);
        climb.scratch.clear(units);
        let mut step = |at: [i64; 2]| match self.tiles.get(&at) {
            Some(tree) => climb.node(tree, at, 0),
            None => climb.square(at.map(|v| v << self.log2), [self.log2; 2], 0),
        };
        let [columns, rows] = [0, 1].map(|i| {
            let (from, to) = (window[0][i] >> self.log2, (window[1][i] - 1) >> self.log2);
            from..=to
        });
        let tiles = (columns.end() - columns.start() + rows.end() - rows.start() + 1) as usize;
        for k in 0..=rows.end() - rows.start() {
            let y = if south { rows.end() - k } else { rows.start() + k };
            columns.clone().for_each(|x| step([x, y]));
        }
        let Climb { mut most, together, rate, .. } = climb;
        // patches are passed once in each tile, but where several lie together
        let mut by_tile: HashMap<[i64; 2], u32> = HashMap::new();
        let mut cells = 0u32;
        for (at, part) in &scratch.parts {
            *by_tile.entry(*at).or_default() += 1;
            cells = cells.saturating_add(self.tiles[at].parts[*part as usize].most());
        }
        let mut counts: Vec<u32> = by_tile.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let passages: u32 = counts.iter().take(tiles).sum();
        let fastest = Part { cells: [0; 2], rate };
        let crossed = if passages == 0 {
            0
        } else {
            fastest.crossed(length, if passages > 1 { TWICE } else { ONCE }).saturating_mul(together)
        };
        let passed = crossed.saturating_add(passages.saturating_mul(4)).min(cells);
        add(&mut most[..3], &of_cells(passed));
        add(&mut most[3..], &[2 * tiles as u32]);
        most
    }

    /// What all squares of a window cost.
    fn all(&self, window: &[[i64; 2]; 2]) -> Sum {
        let mut sum = [0; 4];
        for at in self.tiles_in(window) {
            let Some(tree) = self.tiles.get(&at) else { continue };
            let mut parts: Vec<u32> = Vec::new();
            add(&mut sum[3..], &[2]);
            tree.all(0, window, &mut sum, &mut parts);
            for part in parts {
                // cells of the window, and one more for each axis and rounding
                let Part { cells, rate } = tree.parts[part as usize];
                let along = |i: usize| {
                    let query = ((window[1][i] - window[0][i]) as u128) << format::FRACTION;
                    let crossed = ((query * u128::from(rate)) >> 64) + 3;
                    (crossed as u32).min(cells[i])
                };
                add(&mut sum[..3], &of_cells(along(0).saturating_mul(along(1))));
            }
        }
        sum
    }
}

/// The corners of the quarters of a square.
fn quarters(low: [i64; 2], log2: u32) -> impl Iterator<Item = [i64; 2]> {
    let half = (1i64 << log2) / 2;
    [[0, 0], [half, 0], [0, half], [half, half]].into_iter().map(move |by| [low[0] + by[0], low[1] + by[1]])
}

/// What is looked for.
struct Ask {
    /// log2 of the distance of windows.
    grid: u32,
    /// Long and short side of a window, but for the square in which it begins.
    sides: [i64; 2],
    /// Of a ray; none: all squares.
    length: Option<i64>,
}

impl Tree {
    /// The entries of a node that meet a window: first and last column and row.
    fn range(&self, node: &Inner, window: &[[i64; 2]; 2]) -> [[i64; 2]; 2] {
        [0, 1].map(|i| {
            let from = ((window[0][i] - node.low[i]) >> node.log2[i]).max(0);
            let to = ((window[1][i] - 1 - node.low[i]) >> node.log2[i]).min(node.side[i] - 1);
            [from, to]
        })
    }

    /// Lowers log2 of the least sides to those of the squares of a window.
    fn least(&self, node: u32, window: &[[i64; 2]; 2], least: &mut [u32; 2]) {
        let node = &self.nodes[node as usize];
        raise_least(least, node.log2);
        let [[x0, x1], [y0, y1]] = self.range(node, window);
        let mut has_blocks = false;
        for [x, y] in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| [x, y])) {
            match self.held[(i64::from(node.first) + y * node.side[0] + x) as usize] {
                Held::Node(to) => self.least(to, window, least),
                Held::Block(_) => has_blocks = true,
                _ => {}
            }
        }
        if has_blocks {
            raise_least(least, [0, 1].map(|i| node.log2[i].saturating_sub(block::CELLS_LOG2[i])));
        }
    }

    fn count(&self, node: u32, window: &[[i64; 2]; 2], left: &mut u32, block: u32) {
        let node = &self.nodes[node as usize];
        let [[x0, x1], [y0, y1]] = self.range(node, window);
        for [x, y] in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| [x, y])) {
            if *left == 0 {
                return;
            }
            match self.held[(i64::from(node.first) + y * node.side[0] + x) as usize] {
                Held::Node(to) => self.count(to, window, left, block),
                Held::Block(_) => *left = left.saturating_sub(block),
                _ => *left -= 1,
            }
        }
    }

    fn all(&self, node: u32, window: &[[i64; 2]; 2], sum: &mut Sum, parts: &mut Vec<u32>) {
        let node = &self.nodes[node as usize];
        let mut name = |set: u32| {
            for part in &self.sets[set as usize] {
                if !parts.contains(part) {
                    parts.push(*part);
                }
            }
        };
        let [[x0, x1], [y0, y1]] = self.range(node, window);
        let mut below = Vec::new();
        for [x, y] in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| [x, y])) {
            match self.held[(i64::from(node.first) + y * node.side[0] + x) as usize] {
                Held::Node(to) => {
                    below.push(to);
                    continue;
                }
                Held::Patch(set) => name(set),
                Held::Nothing => {}
                Held::Block(b) => {
                    let low = [node.low[0] + (x << node.log2[0]), node.low[1] + (y << node.log2[1])];
                    for (cell, c) in self.blocks[b as usize].iter().enumerate() {
                        let (low, log2) = cell_square(low, node.log2, cell);
                        let meets = |i: usize| low[i] < window[1][i] && low[i] + (1 << log2[i]) > window[0][i];
                        if meets(0) && meets(1) {
                            add(&mut sum[..3], &c.cost);
                            name(c.set);
                        }
                    }
                }
            }
            add(&mut sum[3..], &[node.depth]);
        }
        below.into_iter().for_each(|to| self.all(to, window, sum, parts));
    }
}

/// The lower left corner of a cell of a block, and log2 of its sides.
fn cell_square(low: [i64; 2], log2: [u32; 2], cell: usize) -> ([i64; 2], [u32; 2]) {
    let log2 = [0, 1].map(|i| log2[i].saturating_sub(block::CELLS_LOG2[i]));
    let at = block::place(cell);
    ([0, 1].map(|i| low[i] + ((at[i] as i64) << log2[i])), log2)
}

/// What staircases cost up to the squares that were last seen in each column and row.
#[derive(Default)]
struct Scratch {
    columns: Vec<Sum>,
    rows: Vec<Sum>,
    /// Patches of the window, by tile.
    parts: Vec<([i64; 2], u32)>,
}

impl Scratch {
    fn clear(&mut self, [columns, rows]: [usize; 2]) {
        self.columns.clear();
        self.columns.resize(columns, [0; 4]);
        self.rows.clear();
        self.rows.resize(rows, [0; 4]);
        self.parts.clear();
    }
}

/// The squares of a window, one after the other, so that those before one on a staircase come before it.
struct Climb<'w, 's> {
    window: &'w [[i64; 2]; 2],
    unit: [u32; 2],
    south: bool,
    length: i64,
    scratch: &'s mut Scratch,
    most: Sum,
    /// Most patches that one square names, and the most cells a step.
    together: u32,
    rate: u64,
}

impl Climb<'_, '_> {
    fn node(&mut self, tree: &Tree, tile: [i64; 2], node: u32) {
        let node = &tree.nodes[node as usize];
        let [[x0, x1], [y0, y1]] = tree.range(node, self.window);
        for k in 0..=y1 - y0 {
            let y = if self.south { y1 - k } else { y0 + k };
            for x in x0..=x1 {
                let low = [node.low[0] + (x << node.log2[0]), node.low[1] + (y << node.log2[1])];
                match tree.held[(i64::from(node.first) + y * node.side[0] + x) as usize] {
                    Held::Node(to) => self.node(tree, tile, to),
                    Held::Nothing => self.square(low, node.log2, node.depth),
                    Held::Patch(set) => {
                        let by = self.patches(tree, tile, set);
                        let [leaves, tests, lines] = of_cells(by);
                        self.pass(low, node.log2, [leaves, tests, lines, node.depth]);
                    }
                    Held::Block(b) => self.block(tree, tile, &tree.blocks[b as usize], low, node),
                }
            }
        }
    }

    /// A square that costs nodes alone.
    fn square(&mut self, low: [i64; 2], log2: [u32; 2], nodes: u32) {
        self.pass(low, log2, [0, 0, 0, nodes]);
    }

    fn block(&mut self, tree: &Tree, tile: [i64; 2], cells: &[Cell; block::CELLS], low: [i64; 2], node: &Inner) {
        let log2 = [0, 1].map(|i| node.log2[i].saturating_sub(block::CELLS_LOG2[i]));
        let part = |i: usize, k: i64| {
            let from = low[i] + (k << log2[i]);
            let meets = from < self.window[1][i] && from + (1 << log2[i]) > self.window[0][i];
            meets.then(|| self.units_along(i, from, log2[i]))
        };
        let (columns, rows) = ([0, 1, 2, 3].map(|k| part(0, k)), [0, 1].map(|k| part(1, k)));
        let most = |all: &[Sum], units: Option<[usize; 2]>| {
            let mut most = [0; 4];
            units.into_iter().for_each(|[from, to]| all[from..=to].iter().for_each(|s| raise(&mut most, s)));
            most
        };
        let mut above = columns.map(|units| most(&self.scratch.columns, units));
        let mut beside = rows.map(|units| most(&self.scratch.rows, units));
        // its nodes are paid once, whichever of its cells come
        let nodes = above.iter().chain(&beside).map(|s| s[3]).max().unwrap_or(0).saturating_add(node.depth);
        let order = if self.south { [1, 0] } else { [0, 1] };
        for row in order.into_iter().filter(|row| rows[*row].is_some()) {
            for column in (0..4).filter(|column| columns[*column].is_some()) {
                let Cell { cost, set } = cells[4 * row + column];
                let by = if set == 0 { 0 } else { self.patches(tree, tile, set) };
                let mut sum = above[column];
                raise(&mut sum, &beside[row]);
                add(&mut sum[..3], &cost);
                add(&mut sum[..3], &of_cells(by));
                (above[column], beside[row]) = (sum, sum);
                raise(&mut self.most, &sum);
            }
        }
        self.most[3] = self.most[3].max(nodes);
        for (units, mut sum) in columns.into_iter().zip(above) {
            sum[3] = nodes;
            units.into_iter().for_each(|[from, to]| self.scratch.columns[from..=to].fill(sum));
        }
        for row in order {
            let mut sum = beside[row];
            sum[3] = nodes;
            rows[row].into_iter().for_each(|[from, to]| self.scratch.rows[from..=to].fill(sum));
        }
    }

    /// What a square pays for patches that it names with others, which each passes again. All are noted.
    fn patches(&mut self, tree: &Tree, tile: [i64; 2], set: u32) -> u32 {
        let set = &tree.sets[set as usize];
        self.together = self.together.max(set.len() as u32);
        let mut most = 0;
        for part in set {
            let of = &tree.parts[*part as usize];
            self.rate = self.rate.max(of.rate);
            most = most.max(of.passed(self.length));
            if !self.scratch.parts.contains(&(tile, *part)) {
                self.scratch.parts.push((tile, *part));
            }
        }
        if set.len() < 2 { 0 } else { most.saturating_mul(set.len() as u32 + 1) }
    }

    /// The first and the last unit of an axis that a side meets.
    fn units_along(&self, i: usize, low: i64, log2: u32) -> [usize; 2] {
        let [from, to] = [self.window[0][i], self.window[1][i]];
        let unit = |v: i64| ((v >> self.unit[i]) - (from >> self.unit[i])) as usize;
        [unit(low.max(from)), unit((low + (1 << log2)).min(to) - 1)]
    }

    /// Its units: first and last of columns and rows.
    fn units(&self, low: [i64; 2], log2: [u32; 2]) -> [[usize; 2]; 2] {
        [0, 1].map(|i| self.units_along(i, low[i], log2[i]))
    }

    /// The most up to what lies before a square.
    fn before(&self, [[x0, x1], [y0, y1]]: [[usize; 2]; 2]) -> Sum {
        let mut most = [0; 4];
        let all = self.scratch.columns[x0..=x1].iter().chain(&self.scratch.rows[y0..=y1]);
        all.for_each(|s| raise(&mut most, s));
        most
    }

    fn pass(&mut self, low: [i64; 2], log2: [u32; 2], cost: Sum) {
        let units = self.units(low, log2);
        let mut sum = self.before(units);
        add(&mut sum, &cost);
        raise(&mut self.most, &sum);
        let [[x0, x1], [y0, y1]] = units;
        self.scratch.columns[x0..=x1].fill(sum);
        self.scratch.rows[y0..=y1].fill(sum);
    }
}
