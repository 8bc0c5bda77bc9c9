//! That the parts of a height field meet: a post that blocks or tiles share has one height, and all parts lay their
//! cells on one grid.
//!
//! Several fields may have one material, source and grid. So of each part some part in the tile beside it must go on
//! with it: on the same grid, over every cell that reaches into that tile, with the same heights.

use super::{Check, Fault, Faults, Outcome};
use crate::image::decode::{self, Field, TileView};
use crate::util::text::counted;
use hardpan::Terrain;
use hardpan::format::FRACTION;
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;

/// Cells that are compared for each word of a tile: parts of a builder need fewer.
const COMPARED: usize = 64;
/// Fractions of a cell below this count as none, in 2^-32 cells: there its neighbour has the place, too.
const CLOSED: i128 = 1 << 16;

/// What parts of one field share: rate, first post, up, class, material and source.
type Key = (u64, [i64; 2], u64, u8, u16, u16);

struct Part<'a> {
    field: Field<'a>,
    key: Key,
    /// Number of its first cell in the field.
    first: [i64; 2],
}

impl<'a> Part<'a> {
    fn all(tile: &TileView<'a>) -> Vec<Part<'a>> {
        let palette = tile.palette();
        let part = |field: Field<'a>| {
            let p = field.patch;
            let a = palette.get(usize::from(p.attribute))?;
            let from = [0, 1].map(|axis| p.from(axis));
            let key = (p.cells_a_step(), from, p.upward(), p.class, a.material, a.source);
            Some(Part { field, key, first: p.first.map(i64::from) })
        };
        tile.fields().filter_map(part).collect()
    }

    fn cells(&self, axis: usize) -> i64 {
        self.field.patch.cells[axis].into()
    }

    /// The cells that have a place in a stretch of query steps, along an axis.
    fn meets(&self, axis: usize, [low, high]: [i64; 2]) -> Range<i64> {
        let (rate, zero) = (i128::from(self.key.0), i128::from(self.key.1[axis]));
        let along = |q: i64| (((i128::from(q) - zero) * rate) >> 32) - (i128::from(self.first[axis]) << 32);
        let (from, to) = ((along(low) - CLOSED) >> 32, along(high) >> 32);
        let last = i128::from(self.cells(axis));
        from.clamp(0, last) as i64..(to + 1).clamp(0, last) as i64
    }

    /// The number of this part's first cell in another part of the same grid; none if the grids differ.
    fn first_in(&self, other: &Part) -> Option<[i64; 2]> {
        (self.key == other.key).then(|| [0, 1].map(|k| self.first[k] - other.first[k]))
    }

    fn corners(&self, [i, j]: [i64; 2]) -> Option<[i64; 4]> {
        self.field.cell([i as u32, j as u32])
    }

    /// A fault at a post.
    fn fault(&self, tile: usize, [i, j]: [i64; 2], what: &str) -> Fault {
        let at = [(0, i), (1, j)].map(|(axis, k)| self.field.step(axis, k as u32) as f64 / f64::from(1 << FRACTION));
        Fault::new(Some(tile as u32), Some(at), what)
    }
}

/// How two parts go together.
enum Meeting {
    /// They are not of one field.
    Apart,
    /// A post of the first part that has another height in the second.
    Differs([i64; 2]),
    Alike,
}

/// A tile, and how many cells of it may still be compared.
struct Compare<'t, 'a> {
    tile: usize,
    parts: &'t [Part<'a>],
    left: usize,
    faults: Faults,
}

impl Compare<'_, '_> {
    fn afford(&mut self, cells: i64) -> bool {
        let left = usize::try_from(cells).ok().and_then(|cells| self.left.checked_sub(cells));
        if left.is_none() && self.left > 0 {
            let text = "its parts of height fields lie over each other so often that they cannot be compared";
            self.faults.add(Fault { crowded: true, ..Fault::new(Some(self.tile as u32), None, text) });
        }
        self.left = left.unwrap_or(0);
        left.is_some()
    }

    /// Cells of a part beside each other have the same heights at the posts between them.
    fn within(&mut self, part: &Part) {
        let [columns, rows] = [0, 1].map(|axis| part.cells(axis));
        if !self.afford(columns * rows) {
            return;
        }
        let mut below: Vec<Option<[i64; 4]>> = vec![None; columns as usize];
        for j in 0..rows {
            let mut west: Option<[i64; 4]> = None;
            for (i, below) in (0..columns).zip(&mut below) {
                let here = part.corners([i, j]);
                let pairs = |a: Option<[i64; 4]>, of: [[usize; 2]; 2]| {
                    let (Some(a), Some(b)) = (a, here) else { return None };
                    of.into_iter().find(|[m, n]| a[*m] != b[*n]).map(|[_, n]| n as i64)
                };
                if let Some(k) = pairs(west, [[1, 0], [3, 2]]).or_else(|| pairs(*below, [[2, 0], [3, 1]])) {
                    let what = "a post of a height field has two heights in blocks of one tile";
                    return self.faults.add(part.fault(self.tile, [i + (k & 1), j + (k >> 1)], what));
                }
                (west, *below) = (here, here);
            }
        }
    }

    /// How a part goes together with one of the tile beside it that must have these cells.
    fn meeting(&mut self, part: &Part, other: &Part, cells: &[Range<i64>; 2]) -> Meeting {
        let Some(first) = part.first_in(other) else { return Meeting::Apart };
        let shared = [0, 1].map(|k| (-first[k]).max(0)..(other.cells(k) - first[k]).min(part.cells(k)));
        if (0..2).any(|k| cells[k].start < shared[k].start || cells[k].end > shared[k].end) {
            return Meeting::Apart;
        }
        let [x, y] = shared;
        if !self.afford((x.end - x.start) * (y.end - y.start)) {
            return Meeting::Alike;
        }
        for at in y.flat_map(|j| x.clone().map(move |i| [i, j])) {
            let [a, b] = [part.corners(at), other.corners([at[0] + first[0], at[1] + first[1]])];
            if a != b {
                let both = a.zip(b);
                let k = both.and_then(|(a, b)| (0..4).find(|&k| a[k] != b[k])).unwrap_or(0) as i64;
                return Meeting::Differs([at[0] + (k & 1), at[1] + (k >> 1)]);
            }
        }
        Meeting::Alike
    }

    /// How a part that ends between the last query step of its tile and the first of the next goes together with one
    /// that begins there.
    fn touching(&mut self, part: &Part, other: &Part, axis: usize) -> Meeting {
        let side = 1 - axis;
        let Some(first) = part.first_in(other) else { return Meeting::Apart };
        let shared = (-first[side]).max(0)..(other.cells(side) - first[side]).min(part.cells(side));
        if -first[axis] != part.cells(axis) || shared.is_empty() || !self.afford(shared.end - shared.start) {
            return Meeting::Apart;
        }
        let at = |axis_at: i64, side_at: i64| if axis == 0 { [axis_at, side_at] } else { [side_at, axis_at] };
        // the corners of either cell along the posts that both have
        let (near, far) = if axis == 0 { ([1, 3], [0, 2]) } else { ([2, 3], [0, 1]) };
        for k in shared {
            let (a, b) = (part.corners(at(part.cells(axis) - 1, k)), other.corners(at(0, k + first[side])));
            let (Some(a), Some(b)) = (a, b) else { continue };
            if let Some(n) = (0..2).find(|&n| a[near[n]] != b[far[n]]) {
                return Meeting::Differs(at(part.cells(axis), k + n as i64));
            }
        }
        Meeting::Alike
    }

    /// Every part of the tile goes on in the tile beside it; that has these parts, and none if it is not there.
    fn beside(&mut self, rect: [[i64; 2]; 2], axis: usize, beyond: bool, there: Option<&[Part]>, whole: bool) {
        for part in self.parts {
            let cells = [0, 1].map(|k| part.meets(k, rect[k]));
            let side = !cells[1 - axis].is_empty();
            if !side || cells[axis].is_empty() && !beyond {
                continue;
            }
            let Some(there) = there else {
                if whole && !cells[axis].is_empty() {
                    let at = cells.map(|c| c.start);
                    self.faults.add(part.fault(self.tile, at, "a height field goes on where there is no tile"));
                }
                continue;
            };
            let (mut alike, mut differs) = (false, None);
            for other in there {
                let meeting = match cells[axis].is_empty() {
                    true => self.touching(part, other, axis),
                    false => self.meeting(part, other, &cells),
                };
                match meeting {
                    Meeting::Apart => {}
                    Meeting::Differs(at) => differs = differs.or(Some(at)),
                    Meeting::Alike => alike = true,
                }
                if alike {
                    break;
                }
            }
            let what = "a post of a height field has two heights in tiles beside each other";
            match differs {
                _ if alike => {}
                Some(at) => self.faults.add(part.fault(self.tile, at, what)),
                None if cells[axis].is_empty() => {}
                None => {
                    let at = cells.map(|c| c.start);
                    let what = "a height field goes on in a tile that holds no such part on the same grid";
                    self.faults.add(part.fault(self.tile, at, what));
                }
            }
        }
    }
}

/// Proves that parts of height fields meet, if the image has any. `whole` says that no place is left to other images.
pub fn check(t: &Terrain, whole: bool) -> Option<Check> {
    let h = t.header();
    if h.patch_blocks == 0 {
        return None;
    }
    let tiles: Vec<(TileView, Vec<Part>)> = decode::tiles(t).map(|tile| (tile, Part::all(&tile))).collect();
    let known: HashMap<[i64; 2], usize> =
        tiles.iter().enumerate().map(|(i, (tile, _))| ([tile.record.x, tile.record.y].map(i64::from), i)).collect();
    let log2 = h.tile_log2 + FRACTION;
    let compared = |(tile, (view, parts)): (usize, &(TileView, Vec<Part>))| {
        let left = COMPARED * (view.record.len as usize / 4);
        let mut compare = Compare { tile, parts, left, faults: Faults::default() };
        parts.iter().for_each(|part| compare.within(part));
        if parts.is_empty() {
            return compare.faults;
        }
        for (axis, by) in [(0, 1), (0, -1), (1, 1), (1, -1)] {
            let mut at = [view.record.x, view.record.y].map(i64::from);
            at[axis] += by;
            let rect = at.map(|v| [v << log2, ((v + 1) << log2) - 1]);
            let there = known.get(&at).map(|&other| &tiles[other].1[..]);
            compare.beside(rect, axis, by > 0, there, whole);
        }
        compare.faults
    };
    let mut faults = Faults::default();
    let each: Vec<Faults> = tiles.par_iter().enumerate().map(compared).collect();
    each.into_iter().for_each(|f| faults.join(f));
    let parts: usize = tiles.iter().map(|(_, parts)| parts.len()).sum();
    let looked_at = format!("{} of height fields", counted(parts as u64, "part"));
    let outcome = if faults.count == 0 { Outcome::Pass } else { Outcome::Fail };
    Some(Check { name: "fields", outcome, looked_at, faults })
}
