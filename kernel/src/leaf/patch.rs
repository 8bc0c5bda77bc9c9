//! Fields of regular heights: where a place lies in the field, and the height there.
//!
//! All arithmetic is of 32-bit numbers and their 64-bit products, for small cores have no wider ones.

use crate::format::{BLOCK_CELLS, FRACTION, LONG, NO_POST, Node, POSTS_AT, Patch, block_scale, joined};
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
    /// Where a place lies along an axis that is `d` query steps from the field's first post, if that is less than 2^32.
    /// Others set bits of `far`.
    #[inline(always)]
    fn spot(&self, axis: usize, d: i64, far: &mut u32) -> Spot {
        let [low, high] = self.rate;
        *far |= (d >> 32) as u32;
        let u = product(high, d as u32).wrapping_add(product(low, d as u32) >> 32);
        Spot { cell: ((u >> 32) as u32).wrapping_sub(self.first[axis & 1]), part: u as u32 >> 16 }
    }

    /// The same of any place; before the field, beyond all cells.
    fn spot_afar(&self, axis: usize, d: i64) -> Spot {
        let u = self.along(d);
        let cell = (u >> 32).wrapping_sub(self.first[axis & 1].into());
        let cell = u32::try_from(cell).unwrap_or(u32::MAX);
        Spot { cell, part: u as u32 >> 16 }
    }

    /// 2^-32 cells from the field's first post.
    fn along(&self, d: i64) -> i128 {
        i128::from(d).wrapping_mul(self.cells_a_step().into()) >> 32
    }

    /// The cells along an axis that a closed range of query steps may meet: the first, and the one behind the last.
    pub(crate) fn cells_between(&self, axis: usize, range: [i64; 2]) -> [u32; 2] {
        let cell =
            |q: i64| (self.along(q.wrapping_sub(self.from(axis))) >> 32).wrapping_sub(self.first[axis & 1].into());
        let end = i128::from(self.cells[axis & 1]);
        let [low, high] = range.map(cell);
        let within = |cell: i128| cell.clamp(0, end) as u32;
        [within(low.saturating_sub(1)), within(high.saturating_add(2))]
    }

    /// Where a cell begins along an axis, in query steps.
    pub(crate) fn border(&self, axis: usize, cell: u32) -> f64 {
        let number = u64::from(self.first[axis & 1]).wrapping_add(cell.into());
        self.from(axis) as f64 + number as f64 / self.cells_a_step() as f64 * 18_446_744_073_709_551_616.0
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
        let number = (y / BLOCK_CELLS).wrapping_mul(patch.blocks).wrapping_add(x / BLOCK_CELLS);
        let words = self.words.get(tile..).ok_or(Status::Damaged)?;
        let block = patch.block(words, number as usize).ok_or(Status::Damaged)?;
        let first = (y % BLOCK_CELLS * 5 + x % BLOCK_CELLS) as usize;
        let [sw, se, nw, ne] = [0, 1, 5, 6].map(|k| block.height(first + k));
        let (Some(sw), Some(se), Some(nw), Some(ne)) = (sw, se, nw, ne) else { return Ok(None) };
        Ok(Some((number, [sw, se, nw, ne])))
    }

    #[inline(always)]
    pub(crate) fn patch_height<O: Observer>(
        &self,
        tile: usize,
        patch: &Patch,
        p: GridPoint,
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let d = [p.query_x().wrapping_sub(patch.from(0)), p.query_y().wrapping_sub(patch.from(1))];
        self.patch_over(tile, patch, d, o)
    }

    /// The first post of a patch's field, in query steps from the frame's zero.
    pub(crate) fn first_post(&self, patch: &Patch) -> [i64; 2] {
        let [ox, oy, _] = self.header.origin;
        [(ox << FRACTION).wrapping_add(patch.from(0)), (oy << FRACTION).wrapping_add(patch.from(1))]
    }

    /// The height over a place in query steps from the field's first post.
    #[inline(always)]
    pub(crate) fn patch_over<O: Observer>(
        &self,
        tile: usize,
        patch: &Patch,
        d: [i64; 2],
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let mut far = 0;
        let (x, y) = (patch.spot(0, d[0], &mut far), patch.spot(1, d[1], &mut far));
        match patch.special() {
            class @ ..=1 if x.cell < patch.cells[0] && y.cell < patch.cells[1] && far == 0 => {
                self.patch_cell::<O, false>(tile, patch, class, x, y, o)
            }
            _ => self.patch_border(tile, patch, d, o),
        }
    }

    /// The same where more than one cell may count, far from the field's first post, and at its far end.
    #[inline(never)]
    fn patch_border<O: Observer>(
        &self,
        tile: usize,
        patch: &Patch,
        d: [i64; 2],
        o: &mut O,
    ) -> Result<Option<Height>, Status> {
        let spot = |axis: usize, d: i64| {
            let (mut s, end) = (patch.spot_afar(axis, d), patch.cells[axis & 1]);
            // the last post belongs to the last cell, so the field is closed
            if s.cell == end && s.part == 0 {
                s = Spot { cell: end.wrapping_sub(1), part: ONE };
            }
            (s.cell < end).then_some(s)
        };
        let (Some(x), Some(y)) = (spot(0, d[0]), spot(1, d[1])) else { return Ok(None) };
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
            let scale = block_scale(b[1]);
            if scale == LONG {
                let record = (tile / 16).wrapping_add(b[0] as usize);
                o.see(Trace::Long { record });
                let found = self.long_cell::<VOIDS>(record, post, [x.part, y.part])?;
                return Ok(found.map(|(z, x, y)| Height {
                    z,
                    normal: Normal { x, y, z: patch.upward() as i64 },
                    block,
                }));
            }
            let h: &[u8; 32] = zerocopy::transmute_ref!(b);
            let at = |k: usize| h[(POSTS_AT[0] + post + k) & 31].into();
            let posts = [at(0), at(1), at(5), at(6)];
            bilinear::<8, VOIDS>(posts, [x.part, y.part], b[0], scale)
        } else {
            let record = (tile / 16).wrapping_add(record);
            see(o, record, block);
            self.long_cell::<VOIDS>(record, post, [x.part, y.part])?
        };
        let Some((z, x, y)) = found else { return Ok(None) };
        Ok(Some(Height { z, normal: Normal { x, y, z: patch.upward() as i64 }, block }))
    }

    /// Height and normal in a cell of a block of 64 bytes. One copy: the way to short blocks has the registers.
    #[inline(never)]
    fn long_cell<const VOIDS: bool>(
        &self,
        record: usize,
        post: usize,
        parts: [u32; 2],
    ) -> Result<Option<(i64, i64, i64)>, Status> {
        let b = self.words.as_chunks::<16>().0.get(record).ok_or(Status::Damaged)?;
        let h: &[u16; 32] = zerocopy::transmute_ref!(b);
        let at = |k: usize| h[(POSTS_AT[1] / 2 + post + k) & 31].into();
        let posts = [at(0), at(1), at(5), at(6)];
        Ok(bilinear::<16, VOIDS>(posts, parts, b[0], block_scale(b[1])))
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
    scale: u32,
) -> Option<(i64, i64, i64)> {
    let none = NO_POST[BITS as usize / 16];
    let unit = 1u32 << (scale & 31);
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
