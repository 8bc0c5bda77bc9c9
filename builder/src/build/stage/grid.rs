//! The cells of a node: which bundles, and which of their triangles, may cover each.

use super::bundle::{Bundled, Tri, is_wide};
use super::crowd::{Costed, Refused, crowd};
use super::rule::Rule;
use crate::build::cost::Crowd;
use crate::build::error::BuildError;
use crate::options::MaxCost;
use hardpan::format::block::{self as layout, CELLS, CELLS_LOG2, INLINE, MOST as MOST_FURTHER};
use hardpan::format::bundle::TRIANGLES;
use hardpan::format::lines;
use hardpan::format::word::NUMBERS;
use hardpan_shaders::{Blocks, Member};
use rayon::prelude::*;

/// Least area of a cell, in median triangles; a cell has up to twice as much, for its sides are powers of two.
const CELL_AREA: u64 = 3;
/// Mean triangles that a block stands for where the triangles are few for their rectangle.
const BLOCK_TRIANGLES: usize = 12;
/// Mean triangles of a cell above which a block is divided further.
const CROWDED: usize = 20;
/// The same for a block that is larger than its triangles ask for.
const COARSE: usize = 12;
/// Triangles of one cell from which on its words are not gathered into sheets.
const CROWD: usize = 40;
/// Most bytes that dividing a block further may cost for each of its triangles; four times as many if it halves the work.
const FINER_BYTES: usize = 32;
/// Triangles of one cell above which its block is divided further.
const MOST: usize = 42;
/// Blocks of a grid that one thread makes one after the other, at least.
const TOGETHER: usize = 32;
/// Words of a line.
pub const LINE: usize = 16;
/// Bytes of a node without its entries.
const NODE_BYTES: usize = 32;
/// Most levels below the first.
const DEEPEST: u32 = 6;

/// A reference of a cell to a bundle or, with an empty mask, to a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub number: u32,
    /// Zero for a patch.
    pub mask: u16,
    /// Triangles to test, or patch cells to read.
    pub tests: u32,
    pub guess: u8,
    /// Starts a sheet: a run of words whose triangles do not overlap in the cell.
    pub start: bool,
}

/// The cells of a block.
#[derive(Default)]
pub struct Block {
    /// Cell by cell, and in a cell sheet by sheet.
    words: Vec<Word>,
    /// Where the words of each cell end.
    ends: [u32; CELLS],
    /// Of each cell whether it is one sheet without steps: no place of it has two heights.
    sole: [bool; CELLS],
    /// At which word of a line its tail has to begin, and its lists at the first, lest a cell cost too much.
    pub tail: Option<usize>,
}

impl Block {
    /// One word in each cell.
    pub fn of(word: Word) -> Block {
        Block {
            words: vec![word; CELLS],
            ends: std::array::from_fn(|k| k as u32 + 1),
            sole: [false; CELLS],
            tail: None,
        }
    }

    /// The words of a cell.
    fn cell(&self, k: usize) -> &[Word] {
        let from = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        &self.words[from..self.ends[k] as usize]
    }

    /// The words of each cell, and whether it is one sheet without steps.
    pub fn cells(&self) -> impl Iterator<Item = (&[Word], bool)> {
        (0..CELLS).map(|k| (self.cell(k), self.sole[k]))
    }
}

/// A rectangle of blocks.
pub struct Grid {
    /// log2 of a block's sides.
    pub block_log2: [u32; 2],
    /// log2 of the blocks along x and y.
    pub side_log2: [u32; 2],
    pub entries: Vec<Entry>,
}

pub enum Entry {
    Empty,
    Block(Block),
    Grid(Grid),
    /// One patch and nothing else.
    Patch(PatchArea),
}

/// What a grid is made of.
pub struct Content<'a> {
    pub bundled: &'a Bundled,
    /// What no cell may cost more than, and the steps within which two heights are one layer.
    pub most: Option<(MaxCost, f64)>,
    /// How many nodes there may be below each other.
    pub nodes: u32,
}

/// Who decides how far a square is divided.
pub enum Division<'a> {
    Rule(&'a Rule<'a>),
    /// The native rule, beginning with these blocks.
    Level(Level),
}

#[derive(Clone, Copy)]
pub struct PatchArea {
    pub number: u32,
    /// Most cells that a query reads.
    pub reads: u32,
    pub min: [i64; 2],
    pub max: [i64; 2],
}

impl PatchArea {
    pub fn meets(&self, low: [i64; 2], size: [i64; 2]) -> bool {
        (0..2).all(|i| self.min[i] < low[i] + size[i] && self.max[i] >= low[i])
    }
}

/// Sides of the rectangle of 2^`bits` square steps, the longer one along x.
fn sides(bits: u32) -> [u32; 2] {
    [bits.div_ceil(2), bits / 2]
}

/// Builds the grid of a square for the triangles and patches that meet it: by a rule, or else about two triangles a cell.
/// Or why it costs more than it may; an error if the rule asks for more than it may.
pub fn grid(
    content: &Content,
    low: [i64; 2],
    log2: u32,
    by: Division,
    patches: &[PatchArea],
) -> Result<Costed<Grid>, BuildError> {
    let tris = &content.bundled.order;
    let mut grid = match by {
        Division::Rule(rule) => {
            Examining { content, rule, room: Room::default() }.grid(low, log2, tris, patches, content.nodes)?
        }
        Division::Level(level) => level.grid(content, patches, 0),
    };
    let mut refused = None;
    if let Some((most, merge)) = content.most {
        let mut numbers = vec![[u32::MAX; TRIANGLES]; content.bundled.records.len()];
        for &t in tris {
            let (bundle, place) = content.bundled.places[t as usize];
            numbers[bundle as usize][usize::from(place)] = t;
        }
        let refining = |most| Refining { content, most, merge, numbers: &numbers, patches };
        let mut allowed = most;
        loop {
            let refining = refining(allowed);
            let more = refining.hopeless(&grid, low).or_else(|| refining.grid(&mut grid, low, content.nodes));
            let Some(more) = more else { break };
            allowed = more.enough;
            refused = Some(refused.map_or(more, |before: Refused| before.and(more)));
        }
    }
    Ok(refused.map_or(Costed::Within(grid), Costed::Refused))
}

/// Blocks that one may be divided into: so many, and so many more for each of its triangles.
const MOST_BLOCKS: [usize; 2] = [1024, 64];

/// Divides blocks of which a cell costs too much.
struct Refining<'a> {
    content: &'a Content<'a>,
    most: MaxCost,
    merge: f64,
    /// Triangles by bundle and place.
    numbers: &'a [[u32; TRIANGLES]],
    patches: &'a [PatchArea],
}

/// A block, where it lies, and what is in it.
struct Held<'a> {
    cells: &'a Block,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &'a [u32],
    patches: &'a [PatchArea],
}

impl Refining<'_> {
    /// Why no division helps, if so much stands over a place of a grid: nothing is divided to see that.
    fn hopeless(&self, grid: &Grid, low: [i64; 2]) -> Option<Refused> {
        let refused = |(k, e): (usize, &Entry)| {
            let low = corner(low, grid.block_log2, grid.side_log2, k);
            match e {
                Entry::Grid(g) => self.hopeless(g, low),
                Entry::Block(cells) => {
                    let crowd = self.crowd(cells, low, grid.block_log2).filter(|crowd| crowd.least)?;
                    Some(Refused::new(crowd, self.most))
                }
                _ => None,
            }
        };
        grid.entries.iter().enumerate().filter_map(refused).reduce(Refused::and)
    }

    /// Divides the blocks of a grid until their cells cost little enough. One that cannot be brought so far is left as it
    /// is, and it is said why.
    fn grid(&self, grid: &mut Grid, low: [i64; 2], nodes: u32) -> Option<Refused> {
        let (log2, side) = (grid.block_log2, grid.side_log2);
        let divide = |(k, e): (usize, &mut Entry)| {
            let low = corner(low, log2, side, k);
            match e {
                Entry::Grid(g) => self.grid(g, low, nodes - 1),
                Entry::Block(cells) => {
                    if self.is_met(cells) {
                        return None;
                    }
                    let (tris, patches) = (self.tris(&cells.words), self.patches(cells));
                    let mut left = MOST_BLOCKS[0] + MOST_BLOCKS[1] * tris.len();
                    let held = Held { cells, low, log2, tris: &tris, patches: &patches };
                    match self.quarters(&held, nodes, &mut left) {
                        Ok(finer) => *e = Entry::Grid(finer),
                        Err(crowd) => return Some(Refused::new(crowd, self.most)),
                    }
                    None
                }
                _ => None,
            }
        };
        grid.entries.iter_mut().enumerate().filter_map(divide).reduce(Refused::and)
    }

    /// The quarters of a block, divided further where need be; else what stands in the way.
    fn quarters(&self, held: &Held, nodes: u32, left: &mut usize) -> Result<Grid, Crowd> {
        let crowd = self.crowd(held.cells, held.low, held.log2).expect("a cell costs too much");
        let side_log2 = [0, 1].map(|i| u32::from(held.log2[i] > CELLS_LOG2[i]));
        if nodes <= 1 || side_log2 == [0; 2] || crowd.least {
            return Err(crowd);
        }
        let log2 = [0, 1].map(|i| held.log2[i] - side_log2[i]);
        let quarter = |k: usize| {
            let low = corner(held.low, log2, side_log2, k);
            let (tris, near, entry) = place(self.content, low, log2, held.tris, held.patches);
            if let Some(entry) = entry {
                return Ok(entry);
            }
            *left = left.checked_sub(1).ok_or(crowd)?;
            let mut cells = block_of(self.content, low, log2, &tris, &near, &mut Room::default());
            if self.is_met(&mut cells) {
                return Ok(Entry::Block(cells));
            }
            let held = Held { cells: &cells, low, log2, tris: &tris, patches: &near };
            self.quarters(&held, nodes - 1, left).map(Entry::Grid)
        };
        let entries = (0..1 << (side_log2[0] + side_log2[1])).map(quarter).collect::<Result<_, _>>()?;
        Ok(Grid { block_log2: log2, side_log2, entries })
    }

    /// The worst cell of a block, if one costs too much.
    fn crowd(&self, block: &Block, low: [i64; 2], log2: [u32; 2]) -> Option<Crowd> {
        let most_lines = |costs: &[[u32; 2]; CELLS]| costs.iter().map(|c| c[1]).max();
        let costs = (0..LINE).map(|tail| costs(block, Some(tail))).min_by_key(most_lines).unwrap_or_default();
        let over = costs.into_iter().enumerate().filter(|(_, [tests, lines])| !self.most.allows(*tests, *lines));
        let crowds = over.map(|(cell, cost)| {
            let (low, size) = cell_at(low, log2, cell);
            let mut tris: Vec<(Tri, u32)> = Vec::with_capacity(cost[0] as usize);
            let Bundled { tris: all, places, .. } = self.content.bundled;
            tris.extend(self.named(block.cell(cell)).map(|t| (all[t as usize], places[t as usize].0)));
            crowd(&tris, low, size, cost, &self.most, self.merge)
        });
        crowds.reduce(Crowd::worse)
    }

    /// Whether the cells of a block cost little enough wherever its tail comes to stand, or else where it is told to.
    fn is_met(&self, block: &mut Block) -> bool {
        let met =
            |tail: &Option<usize>| costs(block, *tail).into_iter().all(|[tests, lines]| self.most.allows(tests, lines));
        let tail = std::iter::once(None).chain((0..LINE).map(Some)).find(met);
        block.tail = tail.flatten();
        tail.is_some()
    }

    /// The triangles that words name.
    fn named(&self, words: &[Word]) -> impl Iterator<Item = u32> {
        let words = words.iter().filter(|w| w.mask != 0);
        words.flat_map(|w| {
            let (mask, numbers) = (w.mask, &self.numbers[w.number as usize]);
            (0..TRIANGLES).filter(move |i| mask >> i & 1 == 1).map(|i| numbers[i])
        })
    }

    /// The same, each once, in the order of their places in bundles.
    fn tris(&self, words: &[Word]) -> Vec<u32> {
        let mut tris: Vec<u32> = self.named(words).collect();
        tris.sort_unstable_by_key(|&t| self.content.bundled.places[t as usize]);
        tris.dedup();
        tris
    }

    /// The patches that cells name.
    fn patches(&self, block: &Block) -> Vec<PatchArea> {
        let named = |p: &&PatchArea| block.words.iter().any(|w| w.mask == 0 && w.number == p.number);
        self.patches.iter().filter(named).copied().collect()
    }
}

/// The lower left corner of an entry of a rectangle, or of a cell of a block.
pub fn corner(low: [i64; 2], log2: [u32; 2], side_log2: [u32; 2], k: usize) -> [i64; 2] {
    let at = [k & ((1 << side_log2[0]) - 1), k >> side_log2[0]];
    [0, 1].map(|i| low[i] + ((at[i] as i64) << log2[i]))
}

/// Tests and lines of each cell of a block, its tail beginning at such a word of a line and its lists at the first; or wherever
/// they come to stand, then at most one line too many.
fn costs(block: &Block, tail: Option<usize>) -> [[u32; 2]; CELLS] {
    let lines = |at: Option<usize>, words: usize| match at {
        _ if words == 0 => 0,
        Some(at) => lines(at, words),
        None => lines(LINE - 1, words),
    };
    let mut before = 0;
    std::array::from_fn(|cell| {
        let words = block.cell(cell);
        if words.is_empty() {
            return [0; 2];
        }
        let listed = words.len() - 1 > MOST_FURTHER || words.iter().any(|w| w.number >= NUMBERS);
        let count = if listed { 1 } else { words.len() - 1 };
        let (from, end) = (before.max(INLINE), before + count);
        before = end;
        let further = tail.map(|tail| tail + from - INLINE);
        let read = 1 + if count == 0 { 0 } else { lines(further, end.saturating_sub(from)) };
        let list = if listed { lines(tail.map(|_| 0), 1 + 2 * words.len()) } else { 0 };
        let leaves: u32 = words.iter().map(|w| if w.mask == 0 { w.tests } else { 2 }).sum();
        [words.iter().map(|w| w.tests).sum(), read + list + leaves]
    })
}

/// What meets a rectangle: triangles and patches, and its entry if they need no block.
fn place(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &[u32],
    patches: &[PatchArea],
) -> (Vec<u32>, Vec<PatchArea>, Option<Entry>) {
    let size = log2.map(|l| 1i64 << l);
    let list: Vec<u32> =
        tris.iter().copied().filter(|&t| content.bundled.tris[t as usize].plan.meets(low, size)).collect();
    let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
    let entry = match near.as_slice() {
        [] if list.is_empty() => Some(Entry::Empty),
        [one] if list.is_empty() => Some(Entry::Patch(*one)),
        _ => None,
    };
    (list, near, entry)
}

/// Divides squares by a rule.
struct Examining<'a> {
    content: &'a Content<'a>,
    rule: &'a Rule<'a>,
    room: Room,
}

impl Examining<'_> {
    /// The grid of a square: one block if it is accepted, else four squares.
    fn grid(
        &mut self,
        low: [i64; 2],
        log2: u32,
        tris: &[u32],
        patches: &[PatchArea],
        nodes: u32,
    ) -> Result<Grid, BuildError> {
        let (content, rule) = (self.content, self.rule);
        let accepted = |log2: u32, tris: &[u32]| {
            nodes <= 1 || log2 <= 2 || rule.accepts(log2, tris.iter().map(|&t| content.bundled.tris[t as usize]))
        };
        let side = u32::from(!accepted(log2, tris));
        let log2 = log2 - side;
        rule.take((NODE_BYTES + (4 << (2 * side))) as u64)?;
        let entry = |k: i64| {
            let low = [low[0] + ((k & 1) << log2), low[1] + ((k >> 1) << log2)];
            Ok(match place(content, low, [log2; 2], tris, patches) {
                (_, _, Some(entry)) => entry,
                (list, near, None) if side == 0 || accepted(log2, &list) => {
                    let block = block_of(content, low, [log2; 2], &list, &near, &mut self.room);
                    rule.take(block_bytes(block.words.len()) as u64)?;
                    Entry::Block(block)
                }
                (list, near, None) => Entry::Grid(self.grid(low, log2, &list, &near, nodes - 1)?),
            })
        };
        let entries = (0..1 << (2 * side)).map(entry).collect::<Result<_, BuildError>>()?;
        Ok(Grid { block_log2: [log2; 2], side_log2: [side; 2], entries })
    }
}

/// Blocks of one size for a rectangle.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub blocks: Blocks,
    /// log2 of the area of a block as its triangles ask for.
    wanted: u32,
}

/// Blocks of one size for a rectangle: who meets which.
pub struct Level {
    sizes: Sizes,
    /// Where the triangles of each block start; last how many there are.
    starts: Vec<u32>,
    /// Their `at` are numbers of triangles.
    members: Vec<Member>,
}

/// What blocks take.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Cells that are not empty, the sum of their tests, and the most.
    cells: usize,
    tests: usize,
    most: usize,
    /// About how many bytes.
    bytes: usize,
}

impl Sizes {
    /// The blocks of a square, before it is divided further.
    pub fn of_square(bundled: &Bundled, low: [i64; 2], log2: u32, patches: &[PatchArea]) -> Sizes {
        Sizes::new(bundled, low, [log2; 2], &bundled.order, patches, 0)
    }

    fn new(bundled: &Bundled, low: [i64; 2], log2: [u32; 2], tris: &[u32], patches: &[PatchArea], depth: u32) -> Sizes {
        // Cells of CELL_AREA to twice as many median triangles, so that equal ground has equal cells everywhere;
        // but only so many blocks where the triangles are few for the rectangle.
        let bits = log2[0] + log2[1];
        let wanted = median_log2(bundled, tris).map_or(bits, |log2| log2 + 3);
        let most = if depth == 0 { (tris.len() / BLOCK_TRIANGLES).max(64) } else { (tris.len() / 4).max(4) }.ilog2();
        let least = if tris.is_empty() && patches.len() > 1 { 4 } else { 2 * depth.min(1) };
        let block_bits = bits - bits.saturating_sub(wanted).min(most).max(least).min(bits.saturating_sub(3));
        let [x, y] = sides(block_bits);
        let block_log2 = [x.min(log2[0]).max(2), y.min(log2[1]).max(1)];
        let side_log2 = [0, 1].map(|i| log2[i].saturating_sub(block_log2[i]).min(8));
        let block_log2 = [0, 1].map(|i| log2[i] - side_log2[i]);
        Sizes { blocks: Blocks { low, block_log2, side_log2 }, wanted }
    }
}

impl Level {
    /// Of these triangles, whose [cells](hardpan_shaders::Stages::cells) these are.
    pub fn of(sizes: Sizes, tris: &[u32], mut members: Vec<Member>) -> Level {
        let [columns, rows] = sizes.blocks.side_log2;
        let blocks = 1 << (columns + rows);
        let mut starts = Vec::with_capacity(blocks + 1);
        for (m, i) in members.iter_mut().zip(0..) {
            m.at = tris[m.at as usize];
            if starts.len() <= m.block as usize {
                starts.resize(m.block as usize + 1, i);
            }
        }
        starts.resize(blocks + 1, members.len() as u32);
        Level { sizes, starts, members }
    }

    fn blocks(&self) -> usize {
        self.starts.len() - 1
    }

    /// log2 of a block's sides.
    fn block_log2(&self) -> [u32; 2] {
        self.sizes.blocks.block_log2
    }

    /// The lower left corner of a block.
    fn low(&self, k: usize) -> [i64; 2] {
        let Blocks { low, block_log2, side_log2 } = self.sizes.blocks;
        corner(low, block_log2, side_log2, k)
    }

    fn members(&self, k: usize) -> &[Member] {
        &self.members[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// The patches of a block.
    fn near(&self, k: usize, patches: &[PatchArea]) -> Vec<PatchArea> {
        let (low, size) = (self.low(k), self.block_log2().map(|log2| 1i64 << log2));
        patches.iter().copied().filter(|p| p.meets(low, size)).collect()
    }

    /// What a block takes, but for bytes.
    fn work(&self, k: usize, near: &[PatchArea]) -> Load {
        let mut tests = counts(self.members(k));
        self.each_patch(k, near, |cell, p| tests[cell] += p.reads);
        Load {
            cells: tests.iter().filter(|&&n| n > 0).count(),
            tests: tests.iter().map(|&n| n as usize).sum(),
            most: tests.into_iter().max().unwrap_or(0) as usize,
            bytes: 0,
        }
    }

    /// About how many bytes a block takes.
    fn bytes(&self, content: &Content, k: usize, near: &[PatchArea]) -> usize {
        let members = self.members(k);
        if members.is_empty() && near.len() <= 1 {
            return 4;
        }
        let mut words = 0;
        self.each_patch(k, near, |_, _| words += 1);
        // cells that name the bundle of the triangle before
        let (mut bundle, mut named) = (u32::MAX, 0);
        for &Member { at, met, .. } in members {
            let number = content.bundled.places[at as usize].0;
            if number != bundle {
                (bundle, named) = (number, 0);
            }
            words += (met & !named).count_ones() as usize;
            named |= met;
        }
        block_bytes(words)
    }

    /// Calls `each` with the cells of a block and the patches that meet them.
    fn each_patch(&self, k: usize, near: &[PatchArea], mut each: impl FnMut(usize, &PatchArea)) {
        for cell in (0..CELLS).filter(|_| !near.is_empty()) {
            let (low, size) = cell_at(self.low(k), self.block_log2(), cell);
            near.iter().filter(|p| p.meets(low, size)).for_each(|p| each(cell, p));
        }
    }

    /// What all blocks take.
    fn total(&self, content: &Content, patches: &[PatchArea]) -> Load {
        let none = Load { bytes: NODE_BYTES, ..Load::default() };
        (0..self.blocks()).fold(none, |a, k| {
            let near = self.near(k, patches);
            let b = self.work(k, &near);
            Load {
                cells: a.cells + b.cells,
                tests: a.tests + b.tests,
                most: a.most.max(b.most),
                bytes: a.bytes + self.bytes(content, k, &near),
            }
        })
    }

    /// Smaller blocks in place of one with many triangles in a cell, if they pay.
    fn finer(&self, content: &Content, k: usize, near: &[PatchArea], depth: u32) -> Option<Level> {
        let ([x, y], members) = (self.block_log2(), self.members(k));
        let bits = x + y;
        if depth == DEEPEST || bits < 12 || members.len() <= 8 {
            return None;
        }
        let Load { cells, tests, most, .. } = self.work(k, near);
        let coarse = bits > self.sizes.wanted && tests > cells * COARSE;
        if !(coarse || tests > CROWDED * cells || most > MOST) {
            return None;
        }
        // stacked surfaces cannot be told apart by smaller cells, and need not be tried further
        let tris: Vec<u32> = members.iter().map(|m| m.at).collect();
        let sizes = Sizes::new(content.bundled, self.low(k), self.block_log2(), &tris, near, depth + 1);
        // too few triangles for a call of the stage
        let plans = tris.iter().map(|&t| content.bundled.tris[t as usize].plan);
        let level = Level::of(sizes, &tris, hardpan_shaders::members(&sizes.blocks, plans));
        let load = level.total(content, near);
        let mean = load.tests / load.cells.max(1);
        let fewer = mean * 5 < tests / cells * 4 || load.most * 5 < most * 4;
        let far_fewer = mean * 2 < tests / cells || load.most * 2 < most;
        let bytes = load.bytes / tris.len();
        ((fewer && bytes <= FINER_BYTES) || (far_fewer && bytes <= 4 * FINER_BYTES)).then_some(level)
    }

    /// The grid of its blocks, those divided further for which that pays.
    fn grid(&self, content: &Content, patches: &[PatchArea], depth: u32) -> Grid {
        let entry = |room: &mut Room, k: usize| {
            let (members, near) = (self.members(k), self.near(k, patches));
            match near.as_slice() {
                [] if members.is_empty() => return Entry::Empty,
                [one] if members.is_empty() => return Entry::Patch(*one),
                _ => {}
            }
            match self.finer(content, k, &near, depth) {
                Some(finer) => Entry::Grid(finer.grid(content, &near, depth + 1)),
                None => Entry::Block(block(content, self.low(k), self.block_log2(), members, &near, room)),
            }
        };
        let blocks = (0..self.blocks()).into_par_iter().with_min_len(TOGETHER);
        let entries = blocks.map_init(Room::default, entry).collect();
        let Blocks { block_log2, side_log2, .. } = self.sizes.blocks;
        Grid { block_log2, side_log2, entries }
    }
}

/// log2 of the area of a cell that suits triangles of median plan area, square steps.
fn median_log2(bundled: &Bundled, tris: &[u32]) -> Option<u32> {
    let mut counts = [0usize; 64];
    for &t in tris {
        let area = bundled.tris[t as usize].plan.area();
        counts[area.max(1).saturating_mul(CELL_AREA).ilog2() as usize] += 1;
    }
    let mut before = 0;
    let reached = (0..).zip(counts).find(|(_, n)| {
        before += n;
        before > tris.len() / 2
    });
    reached.map(|(log2, _)| log2)
}

/// How many triangles meet each cell.
fn counts(members: &[Member]) -> [u32; CELLS] {
    members
        .iter()
        .fold([0; CELLS], |counts, m| std::array::from_fn(|cell| counts[cell] + u32::from(m.met & 1 << cell != 0)))
}

/// Calls `each` with the cells of a mask.
fn each_cell(mut mask: u8, mut each: impl FnMut(usize)) {
    while mask != 0 {
        each(mask.trailing_zeros() as usize);
        mask &= mask - 1;
    }
}

/// About how many bytes a block of so many words takes.
pub fn block_bytes(words: usize) -> usize {
    64 + 4 * words.saturating_sub(CELLS + INLINE)
}

fn cell_log2(block_log2: [u32; 2]) -> [u32; 2] {
    [0, 1].map(|i| block_log2[i] - CELLS_LOG2[i])
}

/// The lower left corner of a cell of a block, and its size.
fn cell_at(low: [i64; 2], block_log2: [u32; 2], cell: usize) -> ([i64; 2], [i64; 2]) {
    let (at, size) = (layout::place(cell).map(|v| v as i64), cell_log2(block_log2).map(|log2| 1i64 << log2));
    ([0, 1].map(|i| low[i] + at[i] * size[i]), size)
}

/// The block of triangles that meet it, in the order of their places in bundles.
fn block_of(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &[u32],
    patches: &[PatchArea],
    room: &mut Room,
) -> Block {
    let cells = |&at: &u32| {
        let [met, central] = content.bundled.tris[at as usize].plan.under(low, cell_log2(log2)).cells([0; 2]);
        Member { block: 0, at, met, central }
    };
    let members: Vec<Member> = tris.iter().map(cells).collect();
    block(content, low, log2, &members, patches, room)
}

/// A triangle that meets a cell.
#[derive(Clone, Copy)]
struct Over {
    t: u32,
    /// Its bundle and place.
    place: (u32, u8),
    /// Bit k: it covers the middle of the block's cell k.
    central: u8,
    /// Its edges with no one triangle on the other side, as in [`Bundled`].
    open: u8,
    /// Least and greatest plan coordinates: x, y, x, y.
    bounds: [i32; 4],
}

/// Whether the interiors of two boxes have a point in common.
fn are_near(a: &[i32; 4], b: &[i32; 4]) -> bool {
    (a[0] < b[2]) & (b[0] < a[2]) & (a[1] < b[3]) & (b[1] < a[3])
}

/// Room for one block, used again.
#[derive(Default)]
struct Room {
    /// The triangles.
    all: Vec<Over>,
    /// Numbers of those among them that meet each cell, cell by cell.
    covering: Vec<u32>,
    /// Those of one cell.
    parts: Vec<Part>,
    words: Vec<Word>,
}

fn block(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    members: &[Member],
    patches: &[PatchArea],
    Room { all, covering, parts, words }: &mut Room,
) -> Block {
    let Bundled { records, places, tris, open, some_wide, .. } = content.bundled;
    let mut block = Block::default();
    words.clear();
    // where the triangles of each cell end
    let mut ends = counts(members).map(|n| n as usize);
    (1..CELLS).for_each(|cell| ends[cell] += ends[cell - 1]);
    covering.clear();
    covering.resize(ends[CELLS - 1], 0);
    all.clear();
    all.extend(members.iter().map(|&Member { at, central, .. }| {
        let i = at as usize;
        Over { t: at, place: places[i], central, open: open[i], bounds: tris[i].plan.bounds() }
    }));
    for (m, number) in members.iter().zip(0..members.len() as u32).rev() {
        each_cell(m.met, |cell| {
            ends[cell] -= 1;
            covering[ends[cell]] = number;
        });
    }
    // and now where they start
    let of_cell = |cell: usize| &covering[ends[cell]..ends.get(cell + 1).copied().unwrap_or(covering.len())];
    // the words of the triangles of the cell before
    let mut before = 0..0;
    for cell in 0..CELLS {
        let ((low, size), from) = (cell_at(low, log2, cell), words.len());
        let covering = of_cell(cell);
        if cell > 0 && are_alike(all, [of_cell(cell - 1), covering], cell) {
            words.extend_from_within(before);
        } else {
            cell_words(content, all, covering, cell, parts, words);
        }
        before = from..words.len();
        for p in patches.iter().filter(|p| p.meets(low, size)) {
            words.push(Word { number: p.number, mask: 0, tests: p.reads, guess: 0, start: true });
        }
        block.ends[cell] = words.len() as u32;
        let words = &words[from..];
        // where every edge has a triangle on either side, those of one sheet surround each of its places
        let step = |&number: &u32| {
            let Over { t, open, .. } = all[number as usize];
            open != 0 && (0..3).any(|k| open >> k & 1 == 1 && tris[t as usize].plan.edge_touches(k, low, size))
        };
        let wide = |w: &Word| w.mask == 0 || *some_wide && is_wide(&records[w.number as usize]);
        block.sole[cell] =
            !words.iter().skip(1).any(|w| w.start) && !words.iter().any(wide) && !covering.iter().any(step);
    }
    block.words = words.clone(); // and no more than they take
    block
}

/// Whether a cell and the one before it have the same words: of the same triangles the same cover their middles.
fn are_alike(all: &[Over], [before, here]: [&[u32]; 2], cell: usize) -> bool {
    let alike = |&number: &u32| {
        let central = all[number as usize].central;
        (central >> cell ^ central >> (cell - 1)) & 1 == 0
    };
    before == here && here.iter().all(alike)
}

/// The triangles of one bundle in a cell.
struct Part {
    word: Word,
    /// Where its triangles stand.
    from: usize,
    to: usize,
    central: bool,
    /// The box of all.
    bounds: [i32; 4],
    sheet: usize,
}

/// Appends the words of one cell, sheet by sheet; first of a sheet the bundle over the cell's middle.
fn cell_words(
    content: &Content,
    all: &[Over],
    tris: &[u32],
    cell: usize,
    parts: &mut Vec<Part>,
    words: &mut Vec<Word>,
) {
    parts.clear();
    for (i, &over) in tris.iter().enumerate() {
        let Over { place: (number, at), central, bounds: [x0, y0, x1, y1], .. } = all[over as usize];
        let central = central >> cell & 1 == 1;
        if parts.last().is_none_or(|p| p.word.number != number) {
            let word = Word { number, mask: 0, tests: 0, guess: at, start: false };
            let bounds = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
            parts.push(Part { word, from: i, to: i, central: false, bounds, sheet: 0 });
        }
        let part = parts.last_mut().expect("just pushed");
        part.word.mask |= 1 << at;
        part.word.tests += 1;
        part.to = i + 1;
        let [a, b, c, d] = part.bounds;
        part.bounds = [a.min(x0), b.min(y0), c.max(x1), d.max(y1)];
        if central && !part.central {
            part.central = true;
            part.word.guess = at;
        }
    }
    parts.sort_unstable_by_key(|p| (!p.central, std::cmp::Reverse(p.word.tests), p.word.number));
    // a crowd is a stack or a fan: too many to compare each with each, and little to gain; nor is more than may be tested kept
    let crowd = tris.len() > content.most.map_or(CROWD, |(most, _)| CROWD.min(most.tests as usize));
    let plan = |o: &Over| &content.bundled.tris[o.t as usize].plan;
    let mut sheets = 0;
    for i in 0..parts.len() {
        let (before, part) = (&parts[..i], &parts[i]);
        let apart = |other: &Part| {
            let of = |p: &Part| tris[p.from..p.to].iter().map(|&over| &all[over as usize]);
            let near = |p: &Part, bounds: [i32; 4]| of(p).filter(move |a| are_near(&a.bounds, &bounds));
            let meets = |a: &Over| near(other, a.bounds).any(|b| plan(a).overlaps(plan(b)));
            !(are_near(&part.bounds, &other.bounds) && near(part, other.bounds).any(meets))
        };
        let free = |s: &usize| before.iter().filter(|o| o.sheet == *s).all(apart);
        let sheet = if crowd { sheets } else { (0..sheets).find(free).unwrap_or(sheets) };
        sheets = sheets.max(sheet + 1);
        parts[i].sheet = sheet;
    }
    if sheets > 1 {
        parts.sort_by_key(|p| p.sheet);
    }
    let mut last = usize::MAX;
    words.extend(parts.iter().map(|p| {
        let start = p.sheet != last;
        last = p.sheet;
        Word { start, ..p.word }
    }));
}

impl Grid {
    /// Whether its blocks stand better in a row than behind a table of entries: most of them are there.
    pub fn is_dense(&self) -> bool {
        let blocks = self.entries.iter().filter(|e| matches!(e, Entry::Block(_))).count();
        blocks * 20 >= self.entries.len() * 17
    }
}

#[cfg(test)]
mod tests {
    use super::super::bundle::{Frame, bundle};
    use super::*;
    use hardpan_shaders::plan::Plan;
    use hardpan_shaders::sort::mix;

    /// Cells have the words that each has alone, whatever the one before it has.
    #[test]
    fn words_of_cells_as_one_by_one() {
        let mut seed = 1;
        let mut random = |n: u64| {
            seed = mix(seed);
            (seed % n) as i32
        };
        let (mut same, mut all) = (0, 0);
        for case in 0..300 {
            // few or many, as large as a cell or far larger
            let (count, size) = ([3, 12, 30][case % 3], [40, 400, 4000][case / 3 % 3]);
            let mut tris = Vec::new();
            while tris.len() < count {
                let [x, y] = [0; 2].map(|_| random(128) - size as i32 / 2);
                let corners = [0; 3].map(|_| [x + random(size), y + random(size), random(1000)]);
                let plan = Plan::new(corners);
                let [a, b, c] = corners.map(|c| c.map(i64::from));
                let left = (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0]);
                let v = [0, 1, 2].map(|k| 3 * tris.len() as u32 + k);
                tris.extend(left.then_some(Tri { plan, z: corners.map(|c| c[2]), v }));
            }
            let bundled = bundle(&tris, &[0; 30], Frame::of(0, 0, 13));
            let content = Content { bundled: &bundled, most: None, nodes: 9 };
            let (low, log2) = ([0; 2], [7, 6]);
            let of = |at: u32| {
                let [met, central] = bundled.tris[at as usize].plan.under(low, cell_log2(log2)).cells([0; 2]);
                Member { block: 0, at, met, central }
            };
            let members: Vec<Member> = bundled.order.iter().map(|&t| of(t)).collect();
            let whole = block(&content, low, log2, &members, &[], &mut Room::default());
            for cell in 0..CELLS {
                let alone = |m: &Member| Member { met: m.met & 1 << cell, ..*m };
                let alone: Vec<Member> = members.iter().map(alone).filter(|m| m.met != 0).collect();
                let alone = block(&content, low, log2, &alone, &[], &mut Room::default());
                assert_eq!(whole.cell(cell), &alone.words[..], "{case} {cell}");
                same +=
                    usize::from(cell > 0 && !alone.words[..].is_empty() && whole.cell(cell - 1) == &alone.words[..]);
                all += usize::from(!alone.words[..].is_empty());
            }
        }
        assert!(same > 300 && same < all * 3 / 4, "{same} of {all}");
    }
}
