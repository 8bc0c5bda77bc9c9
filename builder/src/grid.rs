//! The cells of a node: which bundles, and which of their triangles, may cover each.

use crate::bundle::{Bundled, Tri};
use hardpan::format::word;

/// Cells along a block's side.
pub const SIDE: i64 = 4;
/// Mean triangles of a cell above which a block is divided further.
const CROWDED: usize = 14;
/// The same for a block that is larger than its triangles ask for.
const COARSE: usize = 6;

/// A reference of a cell to a bundle or, with an empty mask, to a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub number: u32,
    /// Zero for a patch.
    pub mask: u16,
    /// Triangles to test, or patch cells to read.
    pub tests: u32,
    pub guess: u8,
    /// Ends a sheet: a run of words whose triangles do not overlap in the cell.
    pub last: bool,
}

/// A square of blocks.
pub struct Grid {
    /// log2 of a block's side.
    pub block_log2: u32,
    /// log2 of the blocks along a side.
    pub side_log2: u32,
    pub entries: Vec<Entry>,
}

pub enum Entry {
    Empty,
    Block(Box<[Vec<Word>; 16]>),
    Grid(Grid),
    /// One patch and nothing else.
    Patch(PatchArea),
}

/// What a grid is made of.
pub struct Content<'a> {
    pub tris: &'a [Tri],
    pub bundled: &'a Bundled,
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
    pub fn meets(&self, x: i64, y: i64, s: i64) -> bool {
        self.min[0] < x + s && self.min[1] < y + s && self.max[0] >= x && self.max[1] >= y
    }
}

/// Builds the grid of a square for the triangles and patches that meet it: about two triangles a cell.
pub fn grid(content: &Content, x: i64, y: i64, log2: u32, tris: &[u32], patches: &[PatchArea], depth: u32) -> Grid {
    // Cells of one to four and a half median triangles, so that equal ground has equal cells everywhere;
    // but no more than eight blocks a side where the triangles are few for the square.
    let wanted = median_area(content, tris).map_or(log2, |area| (area.max(1) * 9 / 2).ilog2() / 2 + 2);
    let most = (0..7).find(|k| tris.len() <= 64 << (2 * k)).unwrap_or(7).max(3);
    let least = if tris.is_empty() && patches.len() > 1 { 2 } else { depth.min(1) };
    let side_log2 = log2.saturating_sub(wanted).min(most).max(least).min(log2.saturating_sub(2));
    let block_log2 = log2 - side_log2;
    let n = 1usize << side_log2;
    let s = 1i64 << block_log2;
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); n * n];
    for &t in tris {
        let plan = &content.tris[t as usize].plan;
        let low = [plan.min[0] - x, plan.min[1] - y].map(|v| (v >> block_log2).clamp(0, n as i64 - 1));
        let high = [plan.max[0] - x, plan.max[1] - y].map(|v| (v >> block_log2).clamp(0, n as i64 - 1));
        for j in low[1]..=high[1] {
            for i in low[0]..=high[0] {
                if plan.meets(x + i * s, y + j * s, s) {
                    lists[j as usize * n + i as usize].push(t);
                }
            }
        }
    }
    let entries = lists
        .into_iter()
        .enumerate()
        .map(|(k, list)| {
            let (bx, by) = (x + (k % n) as i64 * s, y + (k / n) as i64 * s);
            let near: Vec<PatchArea> = patches.iter().copied().filter(|p| p.meets(bx, by, s)).collect();
            if list.is_empty() {
                match near.as_slice() {
                    [] => return Entry::Empty,
                    [one] => return Entry::Patch(*one),
                    _ => {}
                }
            }
            let block = block(content, bx, by, block_log2, &list, &near);
            let filled = block.iter().filter(|c| !c.is_empty()).count();
            let tests: usize = block.iter().map(|c| cell_tests(c)).sum();
            let most = block.iter().map(|c| cell_tests(c)).max().unwrap_or(0);
            let coarse = block_log2 > wanted && tests > filled * COARSE;
            let crowded = filled > 0 && (coarse || tests > CROWDED * filled || most > 3 * CROWDED);
            if crowded && depth < 6 && block_log2 >= 6 && list.len() > 8 {
                let finer = grid(content, bx, by, block_log2, &list, &near, depth + 1);
                // stacked surfaces cannot be told apart by smaller cells
                let (mean, top) = load(&finer);
                if mean * 5 < tests / filled * 4 || top * 5 < most * 4 {
                    return Entry::Grid(finer);
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

fn cell_tests(cell: &[Word]) -> usize {
    cell.iter().map(|w| w.tests as usize).sum()
}

/// Mean and greatest tests of the cells of a grid that have any.
fn load(grid: &Grid) -> (usize, usize) {
    fn gather(grid: &Grid, all: &mut Vec<usize>) {
        for e in &grid.entries {
            match e {
                Entry::Block(b) => all.extend(b.iter().map(|c| cell_tests(c)).filter(|&t| t > 0)),
                Entry::Grid(g) => gather(g, all),
                Entry::Empty | Entry::Patch(_) => {}
            }
        }
    }
    let mut all = Vec::new();
    gather(grid, &mut all);
    (all.iter().sum::<usize>() / all.len().max(1), all.iter().copied().max().unwrap_or(0))
}

fn block(content: &Content, x: i64, y: i64, log2: u32, tris: &[u32], patches: &[PatchArea]) -> [Vec<Word>; 16] {
    let s = (1i64 << log2) / SIDE;
    std::array::from_fn(|cell| {
        let (cx, cy) = (x + (cell as i64 % SIDE) * s, y + (cell as i64 / SIDE) * s);
        let covering: Vec<u32> =
            tris.iter().copied().filter(|&t| content.tris[t as usize].plan.meets(cx, cy, s)).collect();
        let mut words = cell_words(content, &covering, cx + s / 2, cy + s / 2);
        for p in patches.iter().filter(|p| p.meets(cx, cy, s)) {
            words.push(Word { number: p.number, mask: 0, tests: p.reads, guess: 0, last: true });
        }
        words
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
            let word = Word { number, mask: 0, tests: 0, guess: at, last: false };
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
    for part in parts {
        let apart = |other: &Part| {
            part.tris.iter().all(|&a| {
                let a = &content.tris[a as usize].plan;
                other.tris.iter().all(|&b| !a.overlaps(&content.tris[b as usize].plan))
            })
        };
        match sheets.iter_mut().find(|s| s.iter().all(apart)) {
            Some(sheet) => sheet.push(part),
            None => sheets.push(vec![part]),
        }
    }
    let mut words = Vec::new();
    for sheet in &sheets {
        words.extend(sheet.iter().map(|p| p.word));
        words.last_mut().expect("a sheet has parts").last = true;
    }
    words
}

impl Grid {
    /// Whether its words need their long form.
    pub fn is_long(&self, bundles: usize) -> bool {
        bundles >= word::BUNDLES as usize
            || self.entries.iter().any(|e| match e {
                Entry::Block(b) => {
                    b.iter().map(Vec::len).sum::<usize>() > 255 || b.iter().flatten().any(|w| w.number >= word::BUNDLES)
                }
                _ => false,
            })
    }
}
