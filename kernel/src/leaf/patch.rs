//! Fields of regular heights: where a place lies in the field, and the height there.
//!
//! All arithmetic is of 32-bit numbers and their 64-bit products, for small cores have no wider ones.

use crate::format::{BLOCK_CELLS, Node, POSTS_AT, Patch, block_unit, joined};
use crate::hit::{LeafKind, Normal, Status};
use crate::leaf::{Candidate, Claim, Sink};
use crate::open::Terrain;
use crate::point::GridPoint;
use crate::trace::{Observer, Trace};

/// The ground of a field at one place.
#[derive(Clone, Copy)]
pub(crate) struct Height {
    /// In 2^-8 steps from the origin.
    pub z: i64,
    pub normal: Normal,
    /// The block that holds the cell.
    pub block: u32,
}

/// A place along one axis: cells from the part's first, and the fraction in 2^-16.
#[derive(Clone, Copy)]
struct Spot {
    cell: u32,
    part: u32,
}

/// The fraction at a cell's far border.
const ONE: u32 = 1 << 16;

const fn product(a: u32, b: u32) -> u64 {
    (a as u64).wrapping_mul(b as u64)
}

impl Patch {
    /// Where a query position lies along an axis; before the part, beyond all cells.
    #[inline(always)]
    fn spot(&self, axis: usize, q: i64, wide: bool) -> Spot {
        let ([low, high], q_low) = (self.rate, q as u32);
        let u = product(high, q_low).wrapping_add(product(low, q_low) >> 32).wrapping_add(self.start[axis].into());
        let u = if wide { u.wrapping_add(self.cells_a_step().wrapping_mul((q >> 32) as u64)) } else { u };
        Spot { cell: ((u >> 32) as u32).wrapping_sub(self.first[axis]), part: u as u32 >> 16 }
    }

    /// The cells along an axis that a closed range of query steps may meet: the first, and the one behind the last.
    pub(crate) fn cells_between(&self, axis: usize, range: [i64; 2]) -> [u32; 2] {
        let cell = |q: i64| {
            let u = i128::from(q).wrapping_mul(self.cells_a_step().into()) >> 32;
            let u = u.wrapping_add(self.start[axis & 1].into()) >> 32;
            (u as i64).wrapping_sub(i64::from(self.first[axis & 1] as i32))
        };
        let end = i64::from(self.cells[axis & 1]);
        let [low, high] = range.map(cell);
        let within = |cell: i64| cell.clamp(0, end) as u32;
        [within(low.saturating_sub(1)), within(high.saturating_add(2))]
    }

    /// Where a cell begins along an axis, in query steps.
    pub(crate) fn border(&self, axis: usize, cell: u32) -> f64 {
        let number = i64::from(self.first[axis & 1] as i32).wrapping_add(cell.into());
        let cells = (number << 32).wrapping_sub(self.start[axis & 1].into());
        cells as f64 / self.cells_a_step() as f64 * 4_294_967_296.0
    }
}

impl Terrain<'_> {
    /// Gives `sink` the surface of the patch whose record stands at word `at`, if the place lies in it and has heights.
    #[inline(always)]
    pub(crate) fn patch_surface<O: Observer>(
        &self,
        tile: usize,
        at: usize,
        node: &Node,
        p: GridPoint,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<(), Status> {
        if let Some(s) = self.patch_at(tile, at, p, o)? {
            sink.take(&s, node, o);
        }
        Ok(())
    }

    /// The surface of the patch whose record stands at word `at`, in the tile at word `tile`; none outside the
    /// field's cells and where a cell has no heights.
    #[inline(always)]
    pub(crate) fn patch_at<O: Observer>(
        &self,
        tile: usize,
        at: usize,
        p: GridPoint,
        o: &mut O,
    ) -> Result<Option<Candidate>, Status> {
        let patch = self.patch(at).ok_or(Status::Damaged)?;
        let height = self.patch_height(tile, patch, p, o)?;
        let attribute = patch.attribute;
        Ok(height.map(|Height { z, normal, block }| Candidate {
            z,
            normal,
            record: at,
            part: block,
            kind: LeafKind::Patch,
            attribute,
            claim: Claim::Tie,
        }))
    }

    /// Heights at the corners of a cell in 2^-8 steps from the origin: south-west, south-east, north-west, north-east;
    /// and its block. None of a cell without heights.
    pub(crate) fn corner_heights(
        &self,
        tile: usize,
        patch: &Patch,
        [x, y]: [u32; 2],
    ) -> Result<Option<(u32, [i64; 4])>, Status> {
        let block = (y / BLOCK_CELLS).wrapping_mul(patch.blocks).wrapping_add(x / BLOCK_CELLS);
        let class = usize::from(patch.class & 1);
        let words = patch.block_words();
        let at = (patch.place as usize).wrapping_add(block as usize).wrapping_mul(words).wrapping_add(tile);
        let b = self.words.get(at..at.wrapping_add(words)).ok_or(Status::Damaged)?;
        let word = |i: usize| b.get(i).copied().unwrap_or(0);
        let (base, unit) = (i64::from(word(0) as i32) << 8, block_unit(class as u32, word(1)));
        let none = if class == 0 { 0xFF } else { 0xFFFF };
        let first = (y % BLOCK_CELLS * 5 + x % BLOCK_CELLS) as usize;
        let posts = [0, 1, 5, 6].map(|k| {
            let at = POSTS_AT[class].wrapping_add((first + k) << class);
            word(at / 4) >> (8 * (at & 3)) & none
        });
        let height = |post: u32| base.wrapping_add(i64::from(post).wrapping_mul(unit.into()));
        Ok((!posts.contains(&none)).then(|| (block, posts.map(height))))
    }

    #[inline(always)]
    pub(crate) fn patch_height<O: Observer>(
        &self,
        tile: usize,
        patch: &Patch,
        p: GridPoint,
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let (x, y) = (patch.spot(0, p.query_x(), false), patch.spot(1, p.query_y(), false));
        match patch.special() {
            class @ ..=1 if x.cell < patch.cells[0] && y.cell < patch.cells[1] => {
                self.patch_cell::<O, false>(tile, patch, class, x, y, o)
            }
            _ => self.patch_border(tile, patch, p, o),
        }
    }

    /// The same where more than one cell may count, in wide tiles, and at the far end of the field.
    #[inline(never)]
    fn patch_border<O: Observer>(
        &self,
        tile: usize,
        patch: &Patch,
        p: GridPoint,
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let spot = |axis: usize, q: i64| {
            let (mut s, end) = (patch.spot(axis, q, patch.wide != 0), patch.cells[axis]);
            // the last post belongs to the last cell, so the field is closed
            if s.cell == end && s.part == 0 {
                s = Spot { cell: end.wrapping_sub(1), part: ONE };
            }
            (s.cell < end).then_some(s)
        };
        let (Some(x), Some(y)) = (spot(0, p.query_x()), spot(1, p.query_y())) else { return Ok(None) };
        let class = u32::from(patch.class);
        if patch.voids == 0 {
            return self.patch_cell::<O, false>(tile, patch, class, x, y, o);
        }
        // cells are closed: on a border, the neighbour's ground is this place's ground
        let before = |s: Spot| (s.part == 0 && s.cell > 0).then(|| Spot { cell: s.cell.wrapping_sub(1), part: ONE });
        let (west, south) = (before(x), before(y));
        for (x, y) in [(Some(x), Some(y)), (west, Some(y)), (Some(x), south), (west, south)] {
            if let (Some(x), Some(y)) = (x, y)
                && let Some(height) = self.patch_cell::<O, true>(tile, patch, class, x, y, o)?
            {
                return Ok(Some(height));
            }
        }
        Ok(None)
    }

    #[inline(always)]
    fn patch_cell<O: Observer, const VOIDS: bool>(
        &self,
        tile: usize,
        patch: &Patch,
        class: u32,
        x: Spot,
        y: Spot,
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let [bx, by] = [x.cell / BLOCK_CELLS, y.cell / BLOCK_CELLS];
        let [i, j] = [x.cell % BLOCK_CELLS, y.cell % BLOCK_CELLS];
        let block = by.wrapping_mul(patch.blocks).wrapping_add(bx);
        let record = (patch.place as usize).wrapping_add(block as usize);
        let post = (j * 5 + i) as usize;
        let found = if class == 0 {
            let record = (tile / 8).wrapping_add(record);
            see(o, record, block);
            let b = self.words.as_chunks::<8>().0.get(record).ok_or(Status::Damaged)?;
            let h: &[u8; 32] = zerocopy::transmute_ref!(b);
            let at = |k: usize| h[(POSTS_AT[0] + post + k) & 31].into();
            let posts = [at(0), at(1), at(5), at(6)];
            bilinear::<8, VOIDS>(posts, [x.part, y.part], b[0], block_unit(0, b[1]))
        } else {
            let record = (tile / 16).wrapping_add(record);
            see(o, record, block);
            let b = self.words.as_chunks::<16>().0.get(record).ok_or(Status::Damaged)?;
            let h: &[u16; 32] = zerocopy::transmute_ref!(b);
            let at = |k: usize| h[(POSTS_AT[1] / 2 + post + k) & 31].into();
            let posts = [at(0), at(1), at(5), at(6)];
            bilinear::<16, VOIDS>(posts, [x.part, y.part], b[0], block_unit(1, b[1]))
        };
        let Some((z, x, y)) = found else { return Ok(None) };
        Ok(Some(Height { z, normal: Normal { x, y, z: patch.upward() as i64 }, block }))
    }
}

#[inline(always)]
fn see<O: Observer>(o: &mut O, record: usize, part: u32) {
    o.see(Trace::Leaf { record, lines: 1 });
    o.see(Trace::Test { record, part, covered: true });
}

/// Height in 2^-8 steps, and the normal's plan components, from the posts south-west, south-east, north-west and
/// north-east.
///
/// A height times 2^16 has `BITS` + 16 bits, and a difference of two one more.
#[inline(always)]
pub(super) fn bilinear<const BITS: u32, const VOIDS: bool>(
    [a, b, c, d]: [u32; 4],
    [fx, fy]: [u32; 2],
    base: u32,
    unit: u32,
) -> Option<(i64, i64, i64)> {
    let none = (1 << BITS) - 1;
    if VOIDS && (a == none || b == none || c == none || d == none) {
        return None;
    }
    let times = |v: i32, w: u32| i64::from(v).wrapping_mul(w.into());
    let fall = |v: u32, w: u32| v.wrapping_sub(w) as i32;
    let rest = ONE.wrapping_sub(fy);
    let south = (a << 16).wrapping_add(b.wrapping_sub(a).wrapping_mul(fx));
    let north = (c << 16).wrapping_add(d.wrapping_sub(c).wrapping_mul(fx));
    let west = times(fall(a, b), rest).wrapping_add(times(fall(c, d), fy));
    let sum = product(south, rest).wrapping_add(product(north, fy));
    // the height above the base is sum * unit / 2^32, rounded half up, and of a tie to even
    let half = product(sum as u32, unit).wrapping_add(1 << 31);
    let rise = product((sum >> 32) as u32, unit).wrapping_add(half >> 32);
    let rise = if BITS < 16 { (rise as u32).into() } else { rise };
    let rise = if half as u32 == 0 { rise & !1 } else { rise };
    let z = joined([base << 8, (base as i32 >> 24) as u32]).wrapping_add(rise) as i64;
    let slope = |v: i64| if BITS < 16 { times(v as i32, unit) } else { v.wrapping_mul(unit.into()) };
    Some((z, slope(west), slope(i64::from(south).wrapping_sub(north.into()))))
}
