//! Fields of regular heights: where a place lies in the field, and the height there.

use crate::format::{self, BLOCK_CELLS, Node, PATCH_SHIFT, Patch};
use crate::open::Terrain;
use crate::query::{Observer, Trace};
use crate::types::{LeafKind, Normal, Status};
use crate::walk::{Place, Sink, Surface};

/// The cell of a place along one axis, and the fraction in 2^-16: one wide multiply, rounded down.
///
/// The last post belongs to the last cell, so the field is closed.
#[inline(always)]
fn cell(q: i64, rate: u64, cells: u32) -> Option<(u32, u32)> {
    if q < 0 {
        return None;
    }
    let u = (q as u128).wrapping_mul(u128::from(rate)) >> PATCH_SHIFT;
    let end = u128::from(cells) << 16;
    if u > end || cells == 0 {
        return None;
    }
    let u = u as u64;
    if u == end as u64 {
        return Some((cells - 1, 1 << 16));
    }
    Some(((u >> 16) as u32, (u & 0xFFFF) as u32))
}

impl Terrain<'_> {
    /// Gives `sink` the surface of the patch whose record stands at word `at`, if the place lies in it and has heights.
    #[inline(always)]
    pub(crate) fn patch_surface<O: Observer>(
        &self,
        tile: usize,
        at: usize,
        node: &Node,
        p: Place,
        o: &mut O,
        sink: &mut impl Sink,
    ) -> Result<(), Status> {
        if let Some(s) = self.patch_at(tile, at, p, o)? {
            sink.take(&s, node, o);
        }
        Ok(())
    }

    #[inline(never)]
    fn patch_at<O: Observer>(&self, tile: usize, at: usize, p: Place, o: &mut O) -> Result<Option<Surface>, Status> {
        let patch = self.patch(at).ok_or(Status::Damaged)?;
        let (x, y) = (i64::from(p.x) << 8 | i64::from(p.fx), i64::from(p.y) << 8 | i64::from(p.fy));
        let column = cell(x.wrapping_sub(patch.zero[0]), patch.rate, patch.cells[0]);
        let row = cell(y.wrapping_sub(patch.zero[1]), patch.rate, patch.cells[1]);
        let (Some((i, fx)), Some((j, fy))) = (column, row) else {
            return Ok(None);
        };
        if let Some(s) = self.patch_cell(tile, at, patch, [i, j], [fx, fy], o)? {
            return Ok(Some(s));
        }
        if patch.voids == 0 {
            return Ok(None);
        }
        // cells are closed: on a border, the neighbour's ground is this place's ground
        for (west, south) in [(1, 0), (0, 1), (1, 1)] {
            if (west == 0 || (fx == 0 && i > 0)) && (south == 0 || (fy == 0 && j > 0)) {
                let f = [if west == 1 { 1 << 16 } else { fx }, if south == 1 { 1 << 16 } else { fy }];
                if let Some(s) = self.patch_cell(tile, at, patch, [i - west, j - south], f, o)? {
                    return Ok(Some(s));
                }
            }
        }
        Ok(None)
    }

    #[inline(always)]
    fn patch_cell<O: Observer>(
        &self,
        tile: usize,
        at: usize,
        patch: &Patch,
        [i, j]: [u32; 2],
        [fx, fy]: [u32; 2],
        o: &mut O,
    ) -> Result<Option<Surface>, Status> {
        let bx = (i / BLOCK_CELLS).wrapping_sub(patch.first[0]);
        let by = (j / BLOCK_CELLS).wrapping_sub(patch.first[1]);
        if bx >= u32::from(patch.blocks[0]) || by >= u32::from(patch.blocks[1]) {
            return Ok(None);
        }
        let block = by.wrapping_mul(patch.blocks[0].into()).wrapping_add(bx);
        let (i, j) = (i % BLOCK_CELLS, j % BLOCK_CELLS);
        let large = patch.class != 0;
        let words = if large { 16 } else { 8 };
        let from = tile.wrapping_add(patch.place as usize * 8).wrapping_add(block as usize * words);
        o.see(Trace::Leaf { record: from / 16, lines: 1 });
        o.see(Trace::Test { record: from / 16, part: block, covered: true });
        let post = (j * 5 + i) as usize;
        let (base, scale, void, posts) = if large {
            let b: &[u32; 16] = self.chunk(from).ok_or(Status::Damaged)?;
            let h: &[u16; 32] = zerocopy::transmute_ref!(b);
            let at = |k: usize| u32::from(h[(4 + post + k) & 31]);
            (b[0] as i32, h[2].min(14), h[3], [at(0), at(1), at(5), at(6)])
        } else {
            let b: &[u32; 8] = self.chunk(from).ok_or(Status::Damaged)?;
            let h: &[u8; 32] = zerocopy::transmute_ref!(b);
            let at = |k: usize| u32::from(h[(7 + post + k) & 31]);
            (b[0] as i32, u16::from(h[4].min(14)), u16::from_le_bytes([h[5], h[6]]), [at(0), at(1), at(5), at(6)])
        };
        if void >> (j * 4 + i) & 1 == 1 {
            return Ok(None);
        }
        let [a, b, c, d] = posts.map(|h| i64::from(h) << scale);
        let (fx, fy) = (i64::from(fx), i64::from(fy));
        let (south, north) = ((a << 16) + (b - a) * fx, (c << 16) + (d - c) * fx);
        let sum = (south << 16).wrapping_add((north - south).wrapping_mul(fy));
        let (west, east) = ((a << 16) + (c - a) * fy, (b << 16) + (d - b) * fy);
        Ok(Some(Surface {
            z: (i64::from(base) << 8).wrapping_add(shift_half_even(sum, 24)),
            normal: Normal { x: (west - east) << 8, y: (south - north) << 8, z: patch.up },
            record: at,
            part: block,
            kind: LeafKind::Patch,
            attribute: patch.attribute,
        }))
    }
}

/// `v / 2^n` rounded half to even.
#[inline(always)]
fn shift_half_even(v: i64, n: u32) -> i64 {
    let floor = v >> n;
    let rest = v & ((1 << n) - 1);
    let half = 1 << (n - 1);
    floor + i64::from(rest > half || (rest == half && floor & 1 == 1))
}

const _: () = assert!(format::FRACTION == 8);
