//! The references of the cells of a block, sheet by sheet.

use super::places::{cell_at, counts, each_cell};
use super::{Block, CellRef, Content, PatchArea};
use crate::build::stage::bundle::{Bundled, is_wide};
use hardpan::format::block::CELLS;
use hardpan_shaders::Member;

/// Triangles of one cell from which on its words are not gathered into sheets.
pub(super) const MAX_COMPARED: usize = 40;

/// A triangle that meets a cell.
#[derive(Clone, Copy)]
pub(super) struct CellTriangle {
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
pub(super) fn are_near(a: &[i32; 4], b: &[i32; 4]) -> bool {
    (a[0] < b[2]) & (b[0] < a[2]) & (a[1] < b[3]) & (b[1] < a[3])
}

/// Scratch for one block, used again.
#[derive(Default)]
pub(super) struct Scratch {
    /// The triangles.
    all: Vec<CellTriangle>,
    /// Numbers of those among them that meet each cell, cell by cell.
    covering: Vec<u32>,
    /// Those of one cell.
    parts: Vec<Part>,
    words: Vec<CellRef>,
}

pub(super) fn block(
    content: &Content,
    low: [i64; 2],
    log2: [u32; 2],
    members: &[Member],
    patches: &[PatchArea],
    Scratch { all, covering, parts, words }: &mut Scratch,
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
        CellTriangle { t: at, place: places[i], central, open: open[i], bounds: tris[i].plan.bounds() }
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
            words.push(CellRef::patch(p));
        }
        block.ends[cell] = words.len() as u32;
        let words = &words[from..];
        // where every edge has a triangle on either side, those of one sheet surround each of its places
        let step = |&number: &u32| {
            let CellTriangle { t, open, .. } = all[number as usize];
            open != 0 && (0..3).any(|k| open >> k & 1 == 1 && tris[t as usize].plan.edge_touches(k, low, size))
        };
        let wide = |w: &CellRef| w.mask == 0 || *some_wide && is_wide(&records[w.number as usize]);
        block.sole[cell] =
            !words.iter().skip(1).any(|w| w.start) && !words.iter().any(wide) && !covering.iter().any(step);
    }
    block.words = words.clone(); // and no more than they take
    block
}

/// Whether a cell and the one before it have the same words: of the same triangles the same cover their middles.
pub(super) fn are_alike(all: &[CellTriangle], [before, here]: [&[u32]; 2], cell: usize) -> bool {
    let alike = |&number: &u32| {
        let central = all[number as usize].central;
        (central >> cell ^ central >> (cell - 1)) & 1 == 0
    };
    before == here && here.iter().all(alike)
}

/// The triangles of one bundle in a cell.
pub(super) struct Part {
    word: CellRef,
    /// Where its triangles stand.
    from: usize,
    to: usize,
    central: bool,
    /// The box of all.
    bounds: [i32; 4],
    sheet: usize,
}

/// Appends the words of one cell, sheet by sheet; first of a sheet the bundle over the cell's middle.
pub(super) fn cell_words(
    content: &Content,
    all: &[CellTriangle],
    tris: &[u32],
    cell: usize,
    parts: &mut Vec<Part>,
    words: &mut Vec<CellRef>,
) {
    parts.clear();
    for (i, &over) in tris.iter().enumerate() {
        let CellTriangle { place: (number, at), central, bounds: [x0, y0, x1, y1], .. } = all[over as usize];
        let central = central >> cell & 1 == 1;
        if parts.last().is_none_or(|p| p.word.number != number) {
            let word = CellRef { number, mask: 0, tests: 0, lines: 2, first_test: at, start: false };
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
            part.word.first_test = at;
        }
    }
    parts.sort_unstable_by_key(|p| (!p.central, std::cmp::Reverse(p.word.tests), p.word.number));
    // a hot_spot is a stack or a fan: too many to compare each with each, and little to gain; nor is more than may be
    // tested kept
    let hot_spot = tris.len() > content.most.map_or(MAX_COMPARED, |(most, _)| MAX_COMPARED.min(most.tests as usize));
    let plan = |o: &CellTriangle| &content.bundled.tris[o.t as usize].plan;
    let mut sheets = 0;
    for i in 0..parts.len() {
        let (before, part) = (&parts[..i], &parts[i]);
        let apart = |other: &Part| {
            let of = |p: &Part| tris[p.from..p.to].iter().map(|&over| &all[over as usize]);
            let near = |p: &Part, bounds: [i32; 4]| of(p).filter(move |a| are_near(&a.bounds, &bounds));
            let meets = |a: &CellTriangle| near(other, a.bounds).any(|b| plan(a).overlaps(plan(b)));
            !(are_near(&part.bounds, &other.bounds) && near(part, other.bounds).any(meets))
        };
        let free = |s: &usize| before.iter().filter(|o| o.sheet == *s).all(apart);
        let sheet = if hot_spot { sheets } else { (0..sheets).find(free).unwrap_or(sheets) };
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
        CellRef { start, ..p.word }
    }));
}
