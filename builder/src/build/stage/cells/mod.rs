//! The cells of a node: which bundles, and which of their triangles, may cover each.

mod examine;
mod level;
mod places;
mod refine;
mod words;

use crate::build::error::BuildError;
use crate::build::stage::bundle::Bundled;
use crate::build::stage::hot_spot::{Costed, Refused};
use crate::build::stage::rule::Rule;
use crate::options::MaxCost;
use examine::Examining;
use hardpan::format::block::{CELLS, INLINE};
use hardpan::format::bundle::TRIANGLES;
pub use level::Level;
pub use level::Sizes;
use refine::Refining;
pub use refine::corner;
use words::Scratch;

/// Blocks of a grid that one thread makes one after the other, at least.
const TOGETHER: usize = 32;
/// Words of a line.
pub const LINE: usize = 16;

/// A reference of a cell to a bundle or, with an empty mask, to a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRef {
    pub number: u32,
    /// Zero for a patch.
    pub mask: u16,
    /// Triangles to test, or patch cells to read.
    pub tests: u32,
    /// 64-byte lines to read.
    pub lines: u32,
    pub first_test: u8,
    /// Starts a sheet: a run of words whose triangles do not overlap in the cell.
    pub start: bool,
}

impl CellRef {
    /// A reference to a patch.
    pub fn patch(p: &PatchArea) -> CellRef {
        CellRef { number: p.number, mask: 0, tests: p.reads, lines: p.lines, first_test: 0, start: true }
    }
}

/// The cells of a block.
#[derive(Default)]
pub struct Block {
    /// Cell by cell, and in a cell sheet by sheet.
    words: Vec<CellRef>,
    /// Where the words of each cell end.
    ends: [u32; CELLS],
    /// For each cell whether it is one sheet without steps: no place of it has two heights.
    sole: [bool; CELLS],
    /// The word of a line at which its tail begins. Its lists begin at the first. This bounds the cost of a cell.
    pub tail: Option<usize>,
}

impl Block {
    /// One word in each cell.
    pub fn of(word: CellRef) -> Block {
        Block {
            words: vec![word; CELLS],
            ends: std::array::from_fn(|k| k as u32 + 1),
            sole: [false; CELLS],
            tail: None,
        }
    }

    /// The words of a cell.
    fn cell(&self, k: usize) -> &[CellRef] {
        let from = if k == 0 { 0 } else { self.ends[k - 1] as usize };
        &self.words[from..self.ends[k] as usize]
    }

    /// The words of each cell, and whether it is one sheet without steps.
    pub fn cells(&self) -> impl Iterator<Item = (&[CellRef], bool)> {
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

/// Content of a grid.
pub struct Content<'a> {
    pub bundled: &'a Bundled,
    /// Limit of the cost of each cell, and the steps within which two heights are one layer.
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
    /// Most cells that a query reads, and 64-byte lines.
    pub reads: u32,
    pub lines: u32,
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

/// Builds the grid of a square for the triangles and patches that meet it: by a rule, or else about two triangles a
/// cell. Or why it costs more than it may; an error if the rule asks for more than it may.
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
            Examining { content, rule, room: Scratch::default() }.grid(low, log2, tris, patches, content.nodes)?
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

/// Finds the triangles and patches that meet a rectangle, and its entry if they need no block.
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

/// About how many bytes a block of so many words takes.
pub fn block_bytes(words: usize) -> usize {
    64 + 4 * words.saturating_sub(CELLS + INLINE)
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
    use super::places::cell_log2;
    use super::words::block;
    use super::*;
    use crate::build::stage::bundle::Tri;
    use crate::build::stage::bundle::{Frame, bundle};
    use hardpan_shaders::Member;
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
            let whole = block(&content, low, log2, &members, &[], &mut Scratch::default());
            for cell in 0..CELLS {
                let alone = |m: &Member| Member { met: m.met & 1 << cell, ..*m };
                let alone: Vec<Member> = members.iter().map(alone).filter(|m| m.met != 0).collect();
                let alone = block(&content, low, log2, &alone, &[], &mut Scratch::default());
                assert_eq!(whole.cell(cell), &alone.words[..], "{case} {cell}");
                same +=
                    usize::from(cell > 0 && !alone.words[..].is_empty() && whole.cell(cell - 1) == &alone.words[..]);
                all += usize::from(!alone.words[..].is_empty());
            }
        }
        assert!(same > 300 && same < all * 3 / 4, "{same} of {all}");
    }
}
