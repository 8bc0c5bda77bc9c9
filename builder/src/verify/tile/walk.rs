//! Every node, block and cell names what lies over it.

use super::decode::{Content, Group};
use super::sheet::{MIN_CROWDED, Unproven, all_apart, apart, fan};
use super::{NAMED, Proof, View};
use crate::verify::Fault;
use crate::verify::tile::plan::{Box4, Rect, cell_low};
use hardpan::format;
use hardpan::format::{NODE_DENSE, block, entry, word};

/// Triangles that are tried with entries of nodes for each word of a tile; no builder needs as many.
pub(super) const TRIALS: u64 = 64;

/// Patches that are tried with entries and cells for each word of a tile: where one lies, a word must name it, once at
/// each depth.
pub(super) const PATCHED: u64 = 64;

/// Numbers by the entry to which they belong, of a triangle over a block with the cells that it meets, a bit each.
#[derive(Default)]
pub(super) struct Lists {
    starts: Vec<u32>,
    numbers: Vec<u32>,
    cells: Vec<u8>,
}

/// An entry, of which there are 2^16 at most, and cells, as one number.
pub(super) fn at_entry(entry: i64, cells: u8) -> u32 {
    (entry as u32) << 8 | u32::from(cells)
}

impl Lists {
    /// Lists for pairs of an entry with cells and a number.
    fn new(entries: usize, pairs: &[(u32, u32)]) -> Lists {
        if pairs.is_empty() {
            return Lists::default();
        }
        // where the next of each entry is put stands one behind its start, which it is when all are
        let mut starts = vec![0u32; entries + 2];
        pairs.iter().for_each(|p| starts[(p.0 >> 8) as usize + 2] += 1);
        for i in 2..entries + 2 {
            starts[i] += starts[i - 1];
        }
        let (mut numbers, mut cells) = (vec![0u32; pairs.len()], vec![0u8; pairs.len()]);
        for &(at, number) in pairs {
            let to = &mut starts[(at >> 8) as usize + 1];
            (numbers[*to as usize], cells[*to as usize]) = (number, at as u8);
            *to += 1;
        }
        Lists { starts, numbers, cells }
    }

    fn of(&self, entry: usize) -> (&[u32], &[u8]) {
        match self.starts.get(entry..entry + 2) {
            Some(&[from, to]) => {
                let range = from as usize..to as usize;
                (&self.numbers[range.clone()], &self.cells[range])
            }
            _ => (&[], &[]),
        }
    }
}

/// A triangle of a sheet.
#[derive(Clone, Copy)]
pub(super) struct Member {
    pub(super) bounds: Box4,
    pub(super) number: u32,
    /// The last proof that had it: members of one overlap none of each other. 0 if there was none.
    pub(super) proof: u32,
}

/// A triangle that a cell names, and the sheet in which it does.
#[derive(Clone, Copy)]
pub(super) struct Named {
    number: u32,
    sheet: u32,
}

/// A bundle, as far as a walk has come.
#[derive(Clone, Copy, Default)]
pub(super) struct Bundle {
    /// A class of which some of its triangles are, and those, a bit each: they are proven to overlap no other of the
    /// class.
    pub(super) class: u32,
    pub(super) alone: u32,
    /// Triangles whose numbers stand elsewhere, too.
    pub(super) again: u32,
    /// The block that named it last, and what its cells name of it, 16 bits a cell.
    pub(super) stamp: u64,
    pub(super) named: u128,
}

pub(super) struct Walk<'a, const SMALL: bool> {
    pub(super) view: &'a View<'a>,
    pub(super) content: &'a Content,
    /// As in [`Edges`].
    pub(super) paired: &'a [u8],
    /// Bundles of all groups.
    pub(super) bundles: Vec<Bundle>,
    /// Those that the block at hand names, and of which triangles stand elsewhere.
    pub(super) touched: Vec<usize>,
    /// For each such triangle: the block that named it last, and in which of its cells.
    pub(super) seen: Vec<u64>,
    pub(super) stamp: u64,
    /// Pairs that may still be compared.
    pub(super) pairs_left: u64,
    /// In which proof of a sheet each triangle was last, or of a class, from 1, and of a crowded one: those of one
    /// overlap none of each other.
    pub(super) proven: [Vec<u32>; 2],
    pub(super) proofs: u32,
    /// Triangles that are to be listed at the nodes that alone have them.
    pub(super) withheld: i64,
    /// Triangles in the lists of the nodes above.
    pub(super) listed: usize,
    /// Triangles that may still be tried with entries.
    pub(super) trials_left: u64,
    /// Patches that may still be tried with entries and cells.
    pub(super) patched_left: u64,
    /// Names in a cell that may overlap another, words of a sheet that so far name one class, and triangles of a sheet.
    pub(super) named: Vec<Named>,
    pub(super) whole: Vec<(u32, u32)>,
    pub(super) sheet: Vec<Member>,
    pub(super) proof: &'a mut Proof,
}

impl<const SMALL: bool> Walk<'_, SMALL> {
    /// Proves a node over `low` with sides of 2^`log2`, which the triangles of `list`, those that it alone has, and the
    /// patches of `fields` meet.
    pub(super) fn node(&mut self, at: usize, low: [i64; 2], log2: [u32; 2], list: &[u32], fields: &[u32]) {
        let view = self.view;
        let node = view.node(at);
        let group = Group { first: node.bundles, count: node.bundle_count, base: node.base, shift: node.shift };
        let with_own: Vec<u32>;
        let list = match self.content.own(&group, at) {
            Some(own) => {
                let those = own.tris.clone().filter(|&t| own.holds(t, self.content.boxes[t as usize]));
                with_own = list.iter().copied().chain(those).collect();
                self.withheld -= (with_own.len() - list.len()) as i64;
                &with_own
            }
            None => list,
        };
        let entry_log2 = node.entry_log2.map(u32::from);
        let side = node.side_log2.map(|s| 1i64 << s);
        let size = entry_log2.map(|l| 1i64 << l);
        debug_assert!((0..2).all(|i| entry_log2[i] + u32::from(node.side_log2[i]) == log2[i]));
        let dense = node.flags & NODE_DENSE != 0;
        let count = (side[0] * side[1]) as usize;
        let has_blocks = dense || {
            let entries = &view.words[node.entries as usize..][..count];
            entries.iter().any(|e| e >> entry::SHIFT == entry::BLOCK)
        };
        // over blocks the cells that a triangle meets are found at once; no entry is smaller than one
        let parts = if has_blocks { block::CELLS_LOG2 } else { [0; 2] };
        let cell_log2 = [0, 1].map(|i| entry_log2[i].saturating_sub(parts[i]));
        let cells = [0, 1].map(|i| side[i] << parts[i]);
        // the triangles of each entry, entry after entry
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(list.len() + list.len() / 2);
        for &t in list {
            let (tri, b) = (&self.content.tris[t as usize], self.content.boxes[t as usize]);
            let range = |i: usize| {
                let at = |v: i32| (i64::from(v) - low[i]) >> cell_log2[i];
                [at(b[i]).max(0) >> parts[i], at(b[i + 2]).min(cells[i] - 1) >> parts[i]]
            };
            let mut see = |[[x0, x1], [y0, y1]]: [[i64; 2]; 2]| {
                let trials = ((x1 - x0 + 1) * (y1 - y0 + 1)) as u64;
                if self.listed + pairs.len() > NAMED * view.words.len() || trials > self.trials_left {
                    return false;
                }
                self.trials_left -= trials;
                if has_blocks {
                    let first = [x0 << parts[0], y0 << parts[1]];
                    let low = [0, 1].map(|i| low[i] + (first[i] << cell_log2[i]));
                    let cells = [(x1 - x0 + 1) << parts[0], (y1 - y0 + 1) << parts[1]];
                    tri.blocks::<SMALL>(b, low, cell_log2, cells, |x, y, met| {
                        pairs.push((at_entry((y0 + y) * side[0] + x0 + x, met), t));
                    });
                    return true;
                }
                for (y, x) in (y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (y, x))) {
                    let r = Rect { low: [low[0] + x * size[0], low[1] + y * size[1]], size };
                    if trials == 1 || tri.meets::<SMALL>(b, &r) {
                        pairs.push((at_entry(y * side[0] + x, 0), t));
                    }
                }
                true
            };
            if !tri.windows::<SMALL>(b, low, entry_log2, [range(0), range(1)], &mut see) {
                let text = "its triangles lie over more places than its words can name";
                return self.proof.cover.add(view.fault_at(&Rect { low, size: log2.map(|l| 1 << l) }, text));
            }
        }
        let mut over: Vec<(u32, u32)> = Vec::new();
        for &f in fields {
            let field = &self.content.fields[f as usize];
            let range = |i: usize| {
                let at = |q: i64| (((q >> format::FRACTION) - low[i]) >> entry_log2[i]).clamp(0, side[i] - 1);
                (at(field.low[i]), at(field.high[i]))
            };
            let ((x0, x1), (y0, y1)) = (range(0), range(1));
            let places = ((x1 - x0 + 1) * (y1 - y0 + 1)) as usize;
            // where a patch lies in one of the entries, a word under it names it
            let named = over.len() + places <= view.words.len();
            if !self.afford(if named { places as u64 } else { u64::MAX }, &Rect { low, size: log2.map(|l| 1 << l) }) {
                return;
            }
            over.extend((y0..=y1).flat_map(|y| (x0..=x1).map(move |x| (at_entry(y * side[0] + x, 0), f))));
        }
        let (triangles, patches) = (Lists::new(count, &pairs), Lists::new(count, &over));
        let listed = pairs.len();
        self.listed += listed;
        drop((pairs, over));
        let first = self.content.groups.get(&group).map_or(0, |at| at / 16);
        for k in 0..count {
            let ((list, cells), (fields, _)) = (triangles.of(k), patches.of(k));
            let low = [low[0] + k as i64 % side[0] * size[0], low[1] + k as i64 / side[0] * size[1]];
            let rect = Rect { low, size };
            if dense {
                self.block(first, node.entries as usize + block::WORDS * k, &rect, entry_log2, (list, cells), fields);
                continue;
            }
            let e = view.words[node.entries as usize + k];
            let to = (e & entry::PLACE) as usize;
            match e >> entry::SHIFT {
                entry::NODE => self.node(to, low, entry_log2, list, fields),
                entry::BLOCK => self.block(first, to, &rect, entry_log2, (list, cells), fields),
                kind => {
                    let patch = (kind == entry::PATCH).then_some(to);
                    self.missing(&rect, list.len());
                    self.fields(&rect, fields, patch.as_slice());
                }
            }
        }
        self.listed -= listed;
    }

    /// Tells of triangles over a rectangle that is said to have none.
    fn missing(&mut self, rect: &Rect, count: usize) {
        if count > 0 {
            let text = format!("{count} triangles lie over a place that names none");
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
    }

    /// Takes trials of patches from what may still be done; tells of a rectangle where there are too many.
    fn afford(&mut self, trials: u64, rect: &Rect) -> bool {
        let left = self.patched_left.checked_sub(trials);
        if left.is_none() {
            let text = "its patches lie over more places than its words can name";
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
        self.patched_left = left.unwrap_or(0);
        left.is_some()
    }

    /// Every patch of a list that answers in a rectangle is named there, or the first that is not is told; the names
    /// are ascending.
    fn fields(&mut self, rect: &Rect, fields: &[u32], named: &[usize]) {
        let mut met = fields.iter().map(|&f| &self.content.fields[f as usize]).filter(|f| f.meets(rect));
        if let Some(field) = met.find(|f| named.binary_search(&f.at).is_err()) {
            let text = format!("the patch at word {} lies over a place that does not name it", field.at);
            self.proof.cover.add(self.view.fault_at(rect, text));
        }
    }

    /// Proves a block whose bundles stand from the one of this number on, over which triangles lie, each in some of its
    /// cells.
    fn block(
        &mut self,
        first: usize,
        at: usize,
        rect: &Rect,
        log2: [u32; 2],
        (list, met): (&[u32], &[u8]),
        fields: &[u32],
    ) {
        let (view, content) = (self.view, self.content);
        let b = view.block(at);
        if b[0] == word::NODE << word::GUESS {
            return self.node(b[block::TAIL] as usize, rect.low, log2, list, fields);
        }
        if !self.afford((fields.len() * block::CELLS) as u64, rect) {
            return;
        }
        let log2 = [log2[0] - block::CELLS_LOG2[0], log2[1] - block::CELLS_LOG2[1]];
        let size = log2.map(|l| 1i64 << l);
        self.stamp += 1;
        let stamp = self.stamp << 8;
        let (mut sole, mut further) = (0u8, 0usize);
        for cell in 0..block::CELLS {
            self.proof.cells += 1;
            self.named.clear();
            let (mut sheet, mut patches, mut unread, mut twice) = (0u32, Vec::new(), false, false);
            let mut filled = u32::MAX; // the last sheet with a triangle
            let mut class = None; // of all that a sheet names, 0 if they are of several
            words(view, b, cell, further, |w, number, starts| {
                if starts {
                    (sheet, class) = (sheet + 1, None);
                    self.whole.clear();
                }
                if w & word::MASK == 0 {
                    if w >> word::GUESS & 15 == word::PATCH {
                        patches.push(16 * number as usize);
                        unread |= filled == sheet;
                    }
                    return;
                }
                filled = sheet;
                let bundle = &mut self.bundles[first + number as usize];
                if bundle.stamp != stamp {
                    (bundle.stamp, bundle.named) = (stamp, 0);
                    if bundle.again != 0 {
                        self.touched.push(first + number as usize);
                    }
                }
                let named = u128::from(w & word::MASK) << (16 * cell);
                twice |= bundle.named & named != 0;
                bundle.named |= named;
                let own = if w & word::MASK & !bundle.alone == 0 { bundle.class } else { 0 };
                if own != 0 && own == *class.get_or_insert(own) {
                    return self.whole.push((w, number));
                }
                class = Some(0);
                for (w, number) in self.whole.drain(..).chain([(w, number)]) {
                    self.named.extend(triangles(content, first, w, number).map(|number| Named { number, sheet }));
                }
            });
            self.whole.clear();
            if twice || content.repeats {
                // by the same bits or, where bundles repeat it, by others
                let (mut sheet, mut all) = (0, Vec::new());
                words(view, b, cell, further, |w, number, starts| {
                    sheet += u32::from(starts);
                    all.extend(triangles(content, first, w, number).map(|number| Named { number, sheet }));
                });
                let mut numbers: Vec<u32> = all.iter().map(|n| n.number).collect();
                numbers.sort_unstable();
                twice = numbers.windows(2).any(|two| two[0] == two[1]);
                if twice {
                    self.named = all;
                }
            }
            if b[cell] & word::MASK != 0 && b[cell] & word::SHEET != 0 {
                sole |= 1 << cell;
            }
            further += further_words(b, cell);
            let rect = Rect { low: cell_low(rect.low, size, cell), size };
            if !fields.is_empty() {
                patches.sort_unstable();
                self.fields(&rect, fields, &patches);
            }
            if unread {
                self.proof
                    .sheets
                    .add(view.fault_at(&rect, "a patch follows triangles in their sheet, and is not read"));
            }
            self.sheets(&rect, twice);
        }
        let mut touched = std::mem::take(&mut self.touched);
        for bundle in touched.drain(..) {
            let Bundle { named, again, .. } = self.bundles[bundle];
            for (part, number) in parts_of(again).map(|part| (part, content.numbers[16 * bundle + part])) {
                let seen = &mut self.seen[number as usize];
                let before = if *seen & !255 == stamp { *seen } else { stamp };
                *seen = before | u64::from(cells_naming(named, part));
            }
        }
        self.touched = touched;
        // what lies over the cells, and what they name
        let mut open = 0u8;
        for (&t, &need) in list.iter().zip(met) {
            let tri = &self.content.tris[t as usize];
            let place = self.content.places[t as usize] as usize;
            let (bundle, seen) = (&self.bundles[place / 16], self.seen.get(t as usize).copied().unwrap_or(0));
            let mut has = if bundle.stamp == stamp { cells_naming(bundle.named, place % 16) } else { 0 };
            has |= if seen & !255 == stamp { seen as u8 } else { 0 };
            let lost = need & !has;
            if lost != 0 {
                let cell = Rect { low: cell_low(rect.low, size, lost.trailing_zeros() as usize), size };
                let [x, y, z] = tri.corner(0);
                let text = format!(
                    "{} cells do not name a triangle over them, whose first corner lies at lattice ({x}, {y}, {z})",
                    lost.count_ones()
                );
                self.proof.cover.add(view.fault_at(&cell, text));
            }
            let paired = self.paired[t as usize];
            if sole & need != 0 && paired != 7 {
                for cell in (0..8).filter(|c| (sole & need) >> c & 1 == 1) {
                    let r = Rect { low: cell_low(rect.low, size, cell), size };
                    let step = (0..3).any(|k| paired >> k & 1 == 0 && tri.edge_meets::<SMALL>(k, &r));
                    open |= u8::from(step) << cell;
                }
            }
        }
        for cell in (0..block::CELLS).filter(|c| open >> c & 1 == 1) {
            let r = Rect { low: cell_low(rect.low, size, cell), size };
            let text = "a cell is said to be surrounded by its sheet, and an edge of the sheet runs through it";
            self.proof.sheets.add(view.fault_at(&r, text));
        }
    }

    /// No two triangles of a sheet overlap; `twice` says that one may be there twice.
    fn sheets(&mut self, rect: &Rect, twice: bool) {
        if self.named.len() < 2 {
            return;
        }
        let (named, mut sheet) = (std::mem::take(&mut self.named), std::mem::take(&mut self.sheet));
        for numbers in named.chunk_by(|a, b| a.sheet == b.sheet).filter(|numbers| numbers.len() > 1) {
            sheet.clear();
            let proven = &self.proven[usize::from(numbers.len() >= MIN_CROWDED)];
            sheet.extend(numbers.iter().map(|&Named { number, .. }| Member {
                bounds: self.content.boxes[number as usize],
                number,
                proof: if twice { 0 } else { proven[number as usize] },
            }));
            if let Err(unproven) = self.sheet(&mut sheet) {
                let fault = self.view.fault_at(rect, unproven.text());
                self.proof.sheets.add(Fault { crowded: unproven == Unproven::Crowded, ..fault });
                break;
            }
        }
        (self.named, self.sheet) = (named, sheet);
    }

    /// Compares the triangles of a sheet; says what is wrong.
    fn sheet(&mut self, sheet: &mut [Member]) -> Result<(), Unproven> {
        // many may lie around a vertex, in many cells: those that were proven together before are not even looked at
        // again
        let many = sheet.len() >= MIN_CROWDED;
        if many {
            if sheet.iter().any(|s| s.proof == 0 || s.proof != sheet[0].proof)
                && fan(self.content, sheet, self.proofs + 1)
            {
                self.proofs += 1;
            }
            sheet.sort_unstable_by_key(|s| s.proof);
        }
        let pairs = (sheet.len() * (sheet.len() - 1) / 2) as u64;
        let (mut end, mut rest) = (0, &*sheet);
        if !many && pairs < self.pairs_left {
            if sheet[0].proof != 0 && sheet.iter().all(|s| s.proof == sheet[0].proof) {
                // one proof had them all
                self.pairs_left -= pairs;
                return Ok(());
            }
            if all_apart::<SMALL>(self.content, sheet) {
                (self.pairs_left, rest) = (self.pairs_left - pairs, &[]);
            }
        }
        for group in rest.chunk_by(|a, b| many && a.proof == b.proof) {
            end += group.len();
            let together = group.len() > 1 && group[0].proof != 0;
            for (i, a) in group.iter().enumerate() {
                let within = if together { &[] } else { &group[i + 1..] };
                apart::<SMALL>(self.content, &mut self.pairs_left, a, within)?;
                apart::<SMALL>(self.content, &mut self.pairs_left, a, &sheet[end..])?;
            }
        }
        self.proofs += 1;
        let proven = &mut self.proven[usize::from(many)];
        sheet.iter().for_each(|s| proven[s.number as usize] = self.proofs);
        Ok(())
    }
}

/// How many further words a cell has.
pub(super) fn further_words(b: &[u32; block::WORDS], cell: usize) -> usize {
    (b[block::COUNTS] >> (4 * cell) & 15) as usize
}

/// Calls `see` with each word of a cell, the number of its bundle or patch, and whether it starts a sheet. The cell's
/// further words stand from the one of this number on.
pub(in crate::verify) fn words(
    view: &View,
    b: &[u32; block::WORDS],
    cell: usize,
    first: usize,
    mut see: impl FnMut(u32, u32, bool),
) {
    let word_at = |i: usize| match i.checked_sub(block::INLINE) {
        None => b[block::FURTHER + i],
        Some(beyond) => view.words[b[block::TAIL] as usize + beyond],
    };
    let home = b[cell];
    if home == word::LIST << word::GUESS {
        let at = word_at(first) as usize;
        for i in 0..view.words[at] as usize {
            let w = view.words[at + 1 + 2 * i];
            see(w, view.words[at + 2 + 2 * i], i > 0 && w & word::SHEET != 0);
        }
        return;
    }
    see(home, home >> word::NUMBER, false);
    for w in (first..first + further_words(b, cell)).map(word_at) {
        see(w, w >> word::NUMBER, w & word::SHEET != 0);
    }
}

/// The triangles that a word names of a bundle of those from the first on.
pub(super) fn triangles(content: &Content, first: usize, word: u32, bundle: u32) -> impl Iterator<Item = u32> {
    let from = 16 * (first + bundle as usize);
    parts_of(word & word::MASK).map(move |part| content.numbers[from + part])
}

/// The numbers of a mask's bits.
pub(super) fn parts_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let part = (mask != 0).then_some(mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(part)
    })
}

/// The cells that name a part of a bundle, a bit each, given the parts that each names, 16 bits a cell.
pub(super) fn cells_naming(named: u128, part: usize) -> u8 {
    // bits 0, 16, 32 and 48 side by side
    let four =
        |named: u64| ((named >> part & 0x0001_0001_0001_0001).wrapping_mul(0x0001_0002_0004_0008) >> 48) as u8 & 15;
    four(named as u64) | four((named >> 64) as u64) << 4
}
