//! The cells of a node: which bundles, and which of their triangles, may cover each.

use crate::bundle::{Bundled, Tri};
use crate::cost::{Crowd, MaxCost};
use crate::split::Rule;
use hardpan::format::block::{CELLS, CELLS_LOG2, INLINE, MOST as MOST_FURTHER};
use hardpan::format::bundle::{TRIANGLES, WIDE};
use hardpan::format::word::NUMBERS;

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

/// The words of a cell, sheet by sheet.
#[derive(Clone, Default)]
pub struct Cell {
    pub words: Vec<Word>,
    /// One sheet without steps: no place of the cell has two heights.
    pub sole: bool,
}

/// The cells of a block.
pub type Block = [Cell; CELLS];

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
    Block(Box<Block>),
    Grid(Grid),
    /// One patch and nothing else.
    Patch(PatchArea),
}

/// What a grid is made of.
pub struct Content<'a> {
    pub tris: &'a [Tri],
    pub bundled: &'a Bundled,
    /// Who decides how far the grid is divided; else the native rule.
    pub rule: Option<Rule>,
    /// What no cell may cost more than, and the steps within which two heights are one layer.
    pub most: Option<(MaxCost, f64)>,
    /// How many nodes there may be below each other.
    pub nodes: u32,
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
/// Says where that costs more than it may.
pub fn grid(content: &Content, low: [i64; 2], log2: u32, tris: &[u32], patches: &[PatchArea]) -> (Grid, Option<Crowd>) {
    let mut grid = match &content.rule {
        Some(rule) => examined(content, rule, low, log2, tris, patches, content.nodes),
        None => grid_to(content, low, [log2; 2], tris, patches, 0, 6),
    };
    let mut crowd = None;
    if let Some((most, merge)) = content.most {
        let mut numbers = vec![[u32::MAX; TRIANGLES]; content.bundled.records.len()];
        for &t in tris {
            let (bundle, place) = content.bundled.places[t as usize];
            numbers[bundle as usize][usize::from(place)] = t;
        }
        crowd = Refining { content, most, merge, numbers, patches }.grid(&mut grid, low, content.nodes);
    }
    (grid, crowd)
}

/// Blocks that one may be divided into: so many, and so many more for each of its triangles.
const MOST_BLOCKS: [usize; 2] = [1024, 64];

/// Divides blocks of which a cell costs too much.
struct Refining<'a> {
    content: &'a Content<'a>,
    most: MaxCost,
    merge: f64,
    /// Triangles by bundle and place.
    numbers: Vec<[u32; TRIANGLES]>,
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
    /// Divides the blocks of a grid until their cells cost little enough. One that cannot be brought so far is left as it
    /// is; the worst is said.
    fn grid(&self, grid: &mut Grid, low: [i64; 2], nodes: u32) -> Option<Crowd> {
        let (log2, side) = (grid.block_log2, grid.side_log2);
        let divide = |(k, e): (usize, &mut Entry)| {
            let low = corner(low, log2, side, k);
            match e {
                Entry::Grid(g) => self.grid(g, low, nodes - 1),
                Entry::Block(cells) if !self.is_met(cells) => {
                    let (tris, patches) = (self.tris(cells.as_slice()), self.patches(cells));
                    let mut left = MOST_BLOCKS[0] + MOST_BLOCKS[1] * tris.len();
                    let held = Held { cells, low, log2, tris: &tris, patches: &patches };
                    match self.quarters(&held, nodes, &mut left) {
                        Ok(finer) => *e = Entry::Grid(finer),
                        Err(crowd) => return Some(crowd),
                    }
                    None
                }
                _ => None,
            }
        };
        grid.entries.iter_mut().enumerate().filter_map(divide).reduce(Crowd::worse)
    }

    /// The quarters of a block, divided further where need be; else what stands in the way.
    fn quarters(&self, held: &Held, nodes: u32, left: &mut usize) -> Result<Grid, Crowd> {
        let crowd = self.crowd(held);
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
            let cells = block(self.content, low, log2, &tris, &near);
            if self.is_met(&cells) {
                return Ok(Entry::Block(Box::new(cells)));
            }
            let held = Held { cells: &cells, low, log2, tris: &tris, patches: &near };
            self.quarters(&held, nodes - 1, left).map(Entry::Grid)
        };
        let entries = (0..1 << (side_log2[0] + side_log2[1])).map(quarter).collect::<Result<_, _>>()?;
        Ok(Grid { block_log2: log2, side_log2, entries })
    }

    /// The worst cell of a block that costs too much.
    fn crowd(&self, held: &Held) -> Crowd {
        let size = [0, 1].map(|i| 1i64 << (held.log2[i] - CELLS_LOG2[i]));
        let over =
            costs(held.cells).into_iter().enumerate().filter(|(_, [tests, lines])| !self.most.allows(*tests, *lines));
        let crowds = over.map(|(cell, cost)| {
            let low = corner(held.low, [0, 1].map(|i| held.log2[i] - CELLS_LOG2[i]), CELLS_LOG2, cell);
            let tris = self.tris(&held.cells[cell..=cell]).into_iter();
            let tris: Vec<(Tri, u32)> =
                tris.map(|t| (self.content.tris[t as usize], self.content.bundled.places[t as usize].0)).collect();
            Crowd::of(&tris, low, size, cost, &self.most, self.merge)
        });
        crowds.reduce(Crowd::worse).expect("a cell costs too much")
    }

    fn is_met(&self, block: &Block) -> bool {
        costs(block).into_iter().all(|[tests, lines]| self.most.allows(tests, lines))
    }

    /// The triangles that cells name, ascending.
    fn tris(&self, cells: &[Cell]) -> Vec<u32> {
        let words = cells.iter().flat_map(|c| &c.words).filter(|w| w.mask != 0);
        let of = |w: &Word| {
            let (mask, numbers) = (w.mask, &self.numbers[w.number as usize]);
            (0..TRIANGLES).filter(move |i| mask >> i & 1 == 1).map(|i| numbers[i])
        };
        let mut tris: Vec<u32> = words.flat_map(of).collect();
        tris.sort_unstable();
        tris.dedup();
        tris
    }

    /// The patches that cells name.
    fn patches(&self, block: &Block) -> Vec<PatchArea> {
        let named = |p: &&PatchArea| block.iter().any(|c| c.words.iter().any(|w| w.mask == 0 && w.number == p.number));
        self.patches.iter().filter(named).copied().collect()
    }
}

/// The lower left corner of an entry of a rectangle, or of a cell of a block.
fn corner(low: [i64; 2], log2: [u32; 2], side_log2: [u32; 2], k: usize) -> [i64; 2] {
    let at = [k & ((1 << side_log2[0]) - 1), k >> side_log2[0]];
    [0, 1].map(|i| low[i] + ((at[i] as i64) << log2[i]))
}

/// Tests and lines of each cell of a block, wherever its tail comes to stand: at most one line too many.
fn costs(block: &Block) -> [[u32; 2]; CELLS] {
    // words at an unknown place
    let lines = |words: usize| if words == 0 { 0 } else { (words as u32 + 14) / 16 + 1 };
    let mut before = 0;
    std::array::from_fn(|cell| {
        let words = &block[cell].words;
        if words.is_empty() {
            return [0; 2];
        }
        let listed = words.len() - 1 > MOST_FURTHER || words.iter().any(|w| w.number >= NUMBERS);
        let count = if listed { 1 } else { words.len() - 1 };
        let (from, end) = (before.max(INLINE), before + count);
        before = end;
        let read = 1 + if count == 0 { 0 } else { lines(end.saturating_sub(from)) };
        let list = if listed { lines(1 + 2 * words.len()) } else { 0 };
        let leaves: u32 = words.iter().map(|w| if w.mask == 0 { w.tests } else { 2 }).sum();
        [cell_tests(&block[cell]) as u32, read + list + leaves]
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
    let list: Vec<u32> = tris.iter().copied().filter(|&t| content.tris[t as usize].plan.meets(low, size)).collect();
    let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
    let entry = match near.as_slice() {
        [] if list.is_empty() => Some(Entry::Empty),
        [one] if list.is_empty() => Some(Entry::Patch(*one)),
        _ => None,
    };
    (list, near, entry)
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
        match place(content, low, [log2; 2], tris, patches) {
            (_, _, Some(entry)) => entry,
            (list, near, None) if side == 0 || accepted(log2, &list) => {
                Entry::Block(Box::new(block(content, low, [log2; 2], &list, &near)))
            }
            (list, near, None) => Entry::Grid(examined(content, rule, low, log2, &list, &near, nodes - 1)),
        }
    };
    Grid { block_log2: [log2; 2], side_log2: [side; 2], entries: (0..1 << (2 * side)).map(entry).collect() }
}

fn grid_to(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    tris: &[u32],
    patches: &[PatchArea],
    depth: u32,
    deepest: u32,
) -> Grid {
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
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); (n[0] * n[1]) as usize];
    for &t in tris {
        let plan = &content.tris[t as usize].plan;
        let range = |i: usize| {
            let at = |v: i64| ((v - low[i]) >> block_log2[i]).clamp(0, n[i] - 1);
            at(plan.min[i])..=at(plan.max[i])
        };
        for j in range(1) {
            for i in range(0) {
                if plan.meets([low[0] + i * size[0], low[1] + j * size[1]], size) {
                    lists[(j * n[0] + i) as usize].push(t);
                }
            }
        }
    }
    let entries = lists
        .into_iter()
        .enumerate()
        .map(|(k, list)| {
            let k = k as i64;
            let low = [low[0] + k % n[0] * size[0], low[1] + k / n[0] * size[1]];
            let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(low, size)).collect();
            if list.is_empty() {
                match near.as_slice() {
                    [] => return Entry::Empty,
                    [one] => return Entry::Patch(*one),
                    _ => {}
                }
            }
            let block = block(content, low, block_log2, &list, &near);
            let filled = block.iter().filter(|c| !c.words.is_empty()).count();
            let tests: usize = block.iter().map(cell_tests).sum();
            let most = block.iter().map(cell_tests).max().unwrap_or(0);
            let coarse = block_log2[0] + block_log2[1] > wanted && tests > filled * COARSE;
            let crowded = filled > 0 && (coarse || tests > CROWDED * filled || most > MOST);
            if crowded && depth < deepest && block_log2[0] + block_log2[1] >= 12 && list.len() > 8 {
                // one step first: stacked surfaces cannot be told apart by smaller cells, and need not be tried further
                let finer = |deepest: u32| grid_to(content, low, block_log2, &list, &near, depth + 1, deepest);
                let step = finer(depth + 1);
                let (mean, top) = load(&step);
                let fewer = mean * 5 < tests / filled * 4 || top * 5 < most * 4;
                let far_fewer = mean * 2 < tests / filled || top * 2 < most;
                let bytes = step.bytes() / list.len();
                if (fewer && bytes <= FINER_BYTES) || (far_fewer && bytes <= 4 * FINER_BYTES) {
                    return Entry::Grid(if deepest > depth + 1 { finer(deepest) } else { step });
                }
            }
            Entry::Block(Box::new(block))
        })
        .collect();
    Grid { block_log2, side_log2, entries }
}

/// Median plan area of triangles, in square steps.
fn median_area(content: &Content, tris: &[u32]) -> Option<u64> {
    let mut areas: Vec<u64> = tris.iter().map(|&t| content.tris[t as usize].plan.area()).collect();
    let middle = areas.len() / 2;
    (!areas.is_empty()).then(|| *areas.select_nth_unstable(middle).1)
}

fn cell_tests(cell: &Cell) -> usize {
    cell.words.iter().map(|w| w.tests as usize).sum()
}

/// Mean and greatest tests of the cells of a grid that have any.
fn load(grid: &Grid) -> (usize, usize) {
    fn gather(grid: &Grid, all: &mut Vec<usize>) {
        for e in &grid.entries {
            match e {
                Entry::Block(b) => all.extend(b.iter().map(cell_tests).filter(|&t| t > 0)),
                Entry::Grid(g) => gather(g, all),
                Entry::Empty | Entry::Patch(_) => {}
            }
        }
    }
    let mut all = Vec::new();
    gather(grid, &mut all);
    (all.iter().sum::<usize>() / all.len().max(1), all.iter().copied().max().unwrap_or(0))
}

fn block(content: &Content, low: [i64; 2], log2: [u32; 2], tris: &[u32], patches: &[PatchArea]) -> Block {
    let size = [0, 1].map(|i| 1i64 << (log2[i] - CELLS_LOG2[i]));
    std::array::from_fn(|cell| {
        let at = [cell as i64 & 3, cell as i64 >> 2];
        let low = [0, 1].map(|i| low[i] + at[i] * size[i]);
        let covering: Vec<u32> =
            tris.iter().copied().filter(|&t| content.tris[t as usize].plan.meets(low, size)).collect();
        let mut words = cell_words(content, &covering, low[0] + size[0] / 2, low[1] + size[1] / 2);
        for p in patches.iter().filter(|p| p.meets(low, size)) {
            words.push(Word { number: p.number, mask: 0, tests: p.reads, guess: 0, start: true });
        }
        // where every edge has a triangle on either side, those of one sheet surround each of its places
        let step = |&t: &u32| {
            let (plan, open) = (&content.tris[t as usize].plan, content.bundled.open[t as usize]);
            (0..3).any(|k| open >> k & 1 == 1 && plan.edge_touches(k, low, size))
        };
        let wide = |w: &Word| w.mask == 0 || content.bundled.records[w.number as usize][6] >> 8 & 3 == WIDE;
        let sole = !words.iter().skip(1).any(|w| w.start) && !words.iter().any(wide) && !covering.iter().any(step);
        Cell { words, sole }
    })
}

/// Words of one cell, sheet by sheet; first of a sheet the bundle over the cell's centre.
fn cell_words(content: &Content, tris: &[u32], mid_x: i64, mid_y: i64) -> Vec<Word> {
    struct Part {
        word: Word,
        tris: Vec<u32>,
        central: bool,
    }
    let place = |t: u32| content.bundled.places[t as usize];
    let mut sorted: Vec<u32> = tris.to_vec();
    sorted.sort_unstable_by_key(|&t| place(t));
    let mut parts: Vec<Part> = Vec::new();
    for t in sorted {
        let (number, at) = place(t);
        if parts.last().is_none_or(|p| p.word.number != number) {
            let word = Word { number, mask: 0, tests: 0, guess: at, start: false };
            parts.push(Part { word, tris: Vec::new(), central: false });
        }
        let part = parts.last_mut().expect("just pushed");
        part.word.mask |= 1 << at;
        part.word.tests += 1;
        part.tris.push(t);
        if !part.central && content.tris[t as usize].plan.covers(mid_x, mid_y) {
            part.central = true;
            part.word.guess = at;
        }
    }
    parts.sort_by_key(|p| (!p.central, std::cmp::Reverse(p.tris.len()), p.word.number));
    let mut sheets: Vec<Vec<Part>> = Vec::new();
    // a crowd is a stack or a fan: too many to compare each with each, and little to gain
    let crowd = tris.len() > CROWD;
    for part in parts {
        let apart = |other: &Part| {
            part.tris.iter().all(|&a| {
                let a = &content.tris[a as usize].plan;
                other.tris.iter().all(|&b| !a.overlaps(&content.tris[b as usize].plan))
            })
        };
        match sheets.iter_mut().find(|s| !crowd && s.iter().all(apart)) {
            Some(sheet) => sheet.push(part),
            None => sheets.push(vec![part]),
        }
    }
    let mut words = Vec::new();
    for sheet in &sheets {
        let start = words.len();
        words.extend(sheet.iter().map(|p| p.word));
        words[start].start = true;
    }
    words
}

impl Grid {
    /// About how many bytes it takes.
    fn bytes(&self) -> usize {
        let of = |e: &Entry| match e {
            Entry::Block(cells) => {
                let words: usize = cells.iter().map(|c| c.words.len()).sum();
                64 + 4 * words.saturating_sub(CELLS + INLINE)
            }
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
