//! The cells of a node: which bundles, and which of their triangles, may cover each.

use crate::bundle::{Bundled, Tri, lists};
use crate::split::Rule;
use hardpan::format::block::{CELLS, CELLS_LOG2, INLINE};
use hardpan::format::bundle::WIDE;

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
}

impl Block {
    /// One word in each cell.
    pub fn of(word: Word) -> Block {
        Block { words: vec![word; CELLS], ends: std::array::from_fn(|k| k as u32 + 1), sole: [false; CELLS] }
    }

    /// The words of each cell, and whether it is one sheet without steps.
    pub fn cells(&self) -> impl Iterator<Item = (&[Word], bool)> {
        let from = |k: usize| if k == 0 { 0 } else { self.ends[k - 1] as usize };
        (0..CELLS).map(move |k| (&self.words[from(k)..self.ends[k] as usize], self.sole[k]))
    }

    /// The tests of each cell that has any.
    fn tests(&self) -> impl Iterator<Item = usize> {
        self.cells().filter(|c| !c.0.is_empty()).map(|c| c.0.iter().map(|w| w.tests as usize).sum())
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
    pub tris: &'a [Tri],
    pub bundled: &'a Bundled,
    /// Who decides how far the grid is divided, and how many nodes there may be below each other; else the native rule.
    pub rule: Option<(Rule, u32)>,
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

/// Builds the grid of a square for the triangles and patches that meet it: by the rule, or else about two triangles a cell.
/// The triangles stand in the order of their places in bundles.
pub fn grid(content: &Content, low: [i64; 2], log2: u32, tris: &[u32], patches: &[PatchArea]) -> Grid {
    match &content.rule {
        Some((rule, nodes)) => examined(content, rule, low, log2, tris, patches, *nodes),
        None => level(content, low, [log2; 2], tris, patches, 0).refined(content, patches, 0),
    }
}

/// The grid of a square by a rule: one block if it is accepted, else four squares.
fn examined(
    content: &Content,
    rule: &Rule,
    low: [i64; 2],
    log2: u32,
    tris: &[u32],
    patches: &[PatchArea],
    nodes: u32,
) -> Grid {
    let accepted = |log2: u32, tris: &[u32]| {
        nodes <= 1 || log2 <= 2 || rule.accepts(log2, tris.iter().map(|&t| content.tris[t as usize]))
    };
    let side = u32::from(!accepted(log2, tris));
    let log2 = log2 - side;
    let entry = |k: i64| {
        let low = [low[0] + ((k & 1) << log2), low[1] + ((k >> 1) << log2)];
        let size = [1i64 << log2; 2];
        let list: Vec<u32> = tris.iter().copied().filter(|&t| content.tris[t as usize].plan.meets(low, size)).collect();
        let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
        match near.as_slice() {
            [] if list.is_empty() => Entry::Empty,
            [one] if list.is_empty() => Entry::Patch(*one),
            _ if side == 0 || accepted(log2, &list) => {
                Entry::Block(block(content, low, [log2; 2], &list, &near))
            }
            _ => Entry::Grid(examined(content, rule, low, log2, &list, &near, nodes - 1)),
        }
    };
    Grid { block_log2: [log2; 2], side_log2: [side; 2], entries: (0..1 << (2 * side)).map(entry).collect() }
}

/// Blocks of one size for a rectangle, not divided further yet.
struct Level {
    grid: Grid,
    low: [i64; 2],
    /// log2 of the area of a block as its triangles ask for.
    wanted: u32,
    /// Triangles of the blocks, one behind the other, and where those of each start.
    starts: Vec<u32>,
    tris: Vec<u32>,
}

fn level(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &[u32],
    patches: &[PatchArea],
    depth: u32,
) -> Level {
    // Cells of CELL_AREA to twice as many median triangles, so that equal ground has equal cells everywhere;
    // but only so many blocks where the triangles are few for the rectangle.
    let bits = log2[0] + log2[1];
    let wanted = median_area(content, tris).map_or(bits, |area| area.max(1).saturating_mul(CELL_AREA).ilog2() + 3);
    let most = if depth == 0 { (tris.len() / BLOCK_TRIANGLES).max(64) } else { (tris.len() / 4).max(4) }.ilog2();
    let least = if tris.is_empty() && patches.len() > 1 { 4 } else { 2 * depth.min(1) };
    let block_bits = bits - bits.saturating_sub(wanted).min(most).max(least).min(bits.saturating_sub(3));
    let [x, y] = sides(block_bits);
    let block_log2 = [x.min(log2[0]).max(2), y.min(log2[1]).max(1)];
    let side_log2 = [0, 1].map(|i| log2[i].saturating_sub(block_log2[i]).min(8));
    let block_log2 = [0, 1].map(|i| log2[i] - side_log2[i]);
    let size = block_log2.map(|k| 1i64 << k);
    let n = side_log2.map(|k| 1i64 << k);
    let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(2 * tris.len());
    for &t in tris {
        let plan = &content.tris[t as usize].plan;
        let range = |i: usize| {
            let at = |v: i64| ((v - low[i]) >> block_log2[i]).clamp(0, n[i] - 1);
            at(plan.min[i])..=at(plan.max[i])
        };
        for j in range(1) {
            for i in range(0) {
                if plan.meets([low[0] + i * size[0], low[1] + j * size[1]], size) {
                    pairs.push(((j * n[0] + i) as u32, t));
                }
            }
        }
    }
    let (starts, tris) = lists((n[0] * n[1]) as usize, pairs.iter().copied());
    let grid = Grid { block_log2, side_log2, entries: Vec::new() };
    let mut level = Level { grid, low, wanted, starts, tris };
    let entry = |k: usize| {
        let (low, list) = (level.low(k), level.list(k));
        let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
        match near.as_slice() {
            [] if list.is_empty() => Entry::Empty,
            [one] if list.is_empty() => Entry::Patch(*one),
            _ => Entry::Block(block(content, low, block_log2, list, &near)),
        }
    };
    level.grid.entries = (0..(n[0] * n[1]) as usize).map(entry).collect();
    level
}

impl Level {
    /// The lower left corner of a block.
    fn low(&self, k: usize) -> [i64; 2] {
        let Grid { block_log2, side_log2, .. } = self.grid;
        let at = [k & ((1 << side_log2[0]) - 1), k >> side_log2[0]];
        [0, 1].map(|i| self.low[i] + ((at[i] as i64) << block_log2[i]))
    }

    /// The triangles of a block.
    fn list(&self, k: usize) -> &[u32] {
        &self.tris[self.starts[k] as usize..self.starts[k + 1] as usize]
    }

    /// Divides the blocks with many triangles in a cell, if that pays.
    fn refined(mut self, content: &Content, patches: &[PatchArea], depth: u32) -> Grid {
        let block_log2 = self.grid.block_log2;
        if depth == DEEPEST || block_log2[0] + block_log2[1] < 12 {
            return self.grid;
        }
        let size = block_log2.map(|k| 1i64 << k);
        for k in 0..self.grid.entries.len() {
            let (low, list) = (self.low(k), self.list(k));
            let Entry::Block(block) = &self.grid.entries[k] else { continue };
            let (filled, tests, most) = load(block.tests());
            let coarse = block_log2[0] + block_log2[1] > self.wanted && tests > filled * COARSE;
            if list.len() <= 8 || !(coarse || tests > CROWDED * filled || most > MOST) {
                continue;
            }
            let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
            // stacked surfaces cannot be told apart by smaller cells, and need not be tried further
            let step = level(content, low, block_log2, list, &near, depth + 1);
            let (cells, sum, top) = load(step.grid.blocks().flat_map(Block::tests));
            let mean = sum / cells.max(1);
            let fewer = mean * 5 < tests / filled * 4 || top * 5 < most * 4;
            let far_fewer = mean * 2 < tests / filled || top * 2 < most;
            let bytes = step.grid.bytes() / list.len();
            if (fewer && bytes <= FINER_BYTES) || (far_fewer && bytes <= 4 * FINER_BYTES) {
                self.grid.entries[k] = Entry::Grid(step.refined(content, &near, depth + 1));
            }
        }
        self.grid
    }
}

/// Median plan area of triangles, in square steps.
fn median_area(content: &Content, tris: &[u32]) -> Option<u64> {
    let mut areas: Vec<u64> = tris.iter().map(|&t| content.tris[t as usize].plan.area()).collect();
    let middle = areas.len() / 2;
    (!areas.is_empty()).then(|| *areas.select_nth_unstable(middle).1)
}

/// How many cells there are, the sum of their tests, and the most.
fn load(tests: impl Iterator<Item = usize>) -> (usize, usize, usize) {
    tests.fold((0, 0, 0), |(cells, sum, most), t| (cells + 1, sum + t, most.max(t)))
}

fn block(content: &Content, low: [i64; 2], log2: [u32; 2], tris: &[u32], patches: &[PatchArea]) -> Block {
    let size = [0, 1].map(|i| 1i64 << (log2[i] - CELLS_LOG2[i]));
    let met: Vec<[u8; 2]> = tris.iter().map(|&t| content.tris[t as usize].plan.cells(low, size)).collect();
    let mut block = Block::default();
    let (mut covering, mut parts) = (Vec::with_capacity(tris.len()), Vec::new());
    for cell in 0..CELLS {
        let at = [cell as i64 & 3, cell as i64 >> 2];
        let low = [0, 1].map(|i| low[i] + at[i] * size[i]);
        covering.clear();
        let in_cell = |bits: u8| bits >> cell & 1 == 1;
        covering.extend(tris.iter().zip(&met).filter(|m| in_cell(m.1[0])).map(|m| (*m.0, in_cell(m.1[1]))));
        let from = block.words.len();
        cell_words(content, &covering, &mut parts, &mut block.words);
        for p in patches.iter().filter(|p| p.meets(low, size)) {
            block.words.push(Word { number: p.number, mask: 0, tests: p.reads, guess: 0, start: true });
        }
        block.ends[cell] = block.words.len() as u32;
        let words = &block.words[from..];
        // where every edge has a triangle on either side, those of one sheet surround each of its places
        let step = |&(t, _): &(u32, bool)| {
            let (plan, open) = (&content.tris[t as usize].plan, content.bundled.open[t as usize]);
            open != 0 && (0..3).any(|k| open >> k & 1 == 1 && plan.edge_touches(k, low, size))
        };
        let wide = |w: &Word| w.mask == 0 || content.bundled.records[w.number as usize][6] >> 8 & 3 == WIDE;
        block.sole[cell] =
            !words.iter().skip(1).any(|w| w.start) && !words.iter().any(wide) && !covering.iter().any(step);
    }
    block
}

/// The triangles of one bundle in a cell.
struct Part {
    word: Word,
    /// Where its triangles stand.
    from: usize,
    to: usize,
    central: bool,
    sheet: usize,
}

/// Appends the words of one cell, sheet by sheet; first of a sheet the bundle over the cell's middle.
///
/// Of each triangle it is told whether it covers the middle.
fn cell_words(content: &Content, tris: &[(u32, bool)], parts: &mut Vec<Part>, words: &mut Vec<Word>) {
    parts.clear();
    for (i, &(t, central)) in tris.iter().enumerate() {
        let (number, at) = content.bundled.places[t as usize];
        if parts.last().is_none_or(|p| p.word.number != number) {
            let word = Word { number, mask: 0, tests: 0, guess: at, start: false };
            parts.push(Part { word, from: i, to: i, central: false, sheet: 0 });
        }
        let part = parts.last_mut().expect("just pushed");
        part.word.mask |= 1 << at;
        part.word.tests += 1;
        part.to = i + 1;
        if central && !part.central {
            part.central = true;
            part.word.guess = at;
        }
    }
    parts.sort_unstable_by_key(|p| (!p.central, std::cmp::Reverse(p.word.tests), p.word.number));
    // a crowd is a stack or a fan: too many to compare each with each, and little to gain
    let crowd = tris.len() > CROWD;
    let plan = |t: &(u32, bool)| &content.tris[t.0 as usize].plan;
    let mut sheets = 0;
    for i in 0..parts.len() {
        let (before, part) = (&parts[..i], &parts[i]);
        let apart = |other: &Part| {
            tris[part.from..part.to]
                .iter()
                .all(|a| tris[other.from..other.to].iter().all(|b| !plan(a).overlaps(plan(b))))
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
    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.entries.iter().filter_map(|e| if let Entry::Block(b) = e { Some(b) } else { None })
    }

    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        let of = |e: &Entry| match e {
            Entry::Block(b) => 64 + 4 * b.words.len().saturating_sub(CELLS + INLINE),
            Entry::Grid(g) => 4 + g.bytes(),
            Entry::Empty | Entry::Patch(_) => 4,
        };
        32 + self.entries.iter().map(of).sum::<usize>()
    }

    /// Whether its blocks stand better in a row than behind a table of entries: most of them are there.
    pub fn is_dense(&self) -> bool {
        let blocks = self.entries.iter().filter(|e| matches!(e, Entry::Block(_))).count();
        blocks * 20 >= self.entries.len() * 17
    }
}
