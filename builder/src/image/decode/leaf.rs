//! The triangles of a bundle, and a part of a height field.

use hardpan::format::{BLOCK_CELLS, FRACTION, Patch, bundle};
use std::ops::Range;

/// A bundle: its half words, and what its coordinates count from.
#[derive(Clone, Copy)]
pub struct BundleView<'a> {
    pub(super) halves: &'a [u16; bundle::HALVES],
    pub(super) base: [i32; 2],
    pub(super) shift: u8,
}

/// The part of a height field that a tile holds.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Its record.
    pub patch: &'a Patch,
    pub(super) words: &'a [u32],
}

impl Field<'_> {
    /// The first query step from the origin along an axis that is at post `k` or beyond.
    pub fn step(&self, axis: usize, k: u32) -> i64 {
        let p = self.patch;
        let rate = i128::from(p.cells_a_step()).max(1);
        let cells = (i128::from(p.first[axis]) + i128::from(k)) << 64;
        p.from(axis) + -(-cells).div_euclid(rate) as i64
    }

    /// Heights of the corners of a cell, south-west, south-east, north-west and north-east, in query steps from the
    /// origin; none if one of them has none.
    pub fn cell(&self, [i, j]: [u32; 2]) -> Option<[i64; 4]> {
        let p = self.patch;
        let block = (j / BLOCK_CELLS).checked_mul(p.blocks)?.checked_add(i / BLOCK_CELLS)?;
        let post = (j % BLOCK_CELLS * (BLOCK_CELLS + 1) + i % BLOCK_CELLS) as usize;
        let block = p.block(self.words, block as usize)?;
        let height = |k: usize| block.height(post + k);
        let [a, b, c, d] = [0, 1, 5, 6].map(height);
        Some([a?, b?, c?, d?])
    }

    /// Along an axis the cells whose first query step lies in a stretch of so many steps.
    pub fn cells(&self, axis: usize, low: i64, size: i64) -> Range<u32> {
        let (from, to) = (low << FRACTION, (low + size) << FRACTION);
        let first = |q: i64| {
            let (mut a, mut b) = (0, self.patch.cells[axis]);
            while a < b {
                let middle = a + (b - a) / 2;
                if self.step(axis, middle) < q { a = middle + 1 } else { b = middle }
            }
            a
        };
        first(from)..first(to)
    }
}

impl<'a> BundleView<'a> {
    /// A bundle of half words whose plan bases count from here, in multiples of 2^`shift`.
    pub fn of(halves: &'a [u16; bundle::HALVES], base: [i32; 2], shift: u8) -> Self {
        BundleView { halves, base, shift }
    }
}

impl BundleView<'_> {
    fn head(&self) -> bundle::Head {
        bundle::Head::of_halves(self.halves)
    }

    /// Number of triangles, 1 to 16.
    pub fn triangles(&self) -> usize {
        self.head().triangles()
    }

    /// Palette entry.
    pub fn attribute(&self) -> u8 {
        self.head().attribute()
    }

    /// One of `format::bundle::{GROUND, CEILING, OBSTACLE}`.
    pub fn kind(&self) -> u16 {
        self.head().kind()
    }

    /// One of `format::bundle::{NARROW, MEDIUM, WIDE}`.
    pub fn class(&self) -> u16 {
        self.head().class()
    }

    /// Corners of a triangle in lattice steps from the origin.
    pub fn corners(&self, part: usize) -> [[i32; 3]; 3] {
        bundle::corners(self.halves, part as u32).map(|i| self.vertex(i))
    }

    /// A vertex, counted from 1.
    fn vertex(&self, i: usize) -> [i32; 3] {
        let class = usize::from(self.class()).min(2);
        let words: [u32; bundle::WORDS] = zerocopy::transmute!(*self.halves);
        let word = |k: usize| words[k % bundle::WORDS];
        let base =
            |axis: usize| i64::from(self.base[axis]) + (i64::from(bundle::plan_base(self.halves, axis)) << self.shift);
        let z = i64::from(bundle::base_height(&words));
        let corner = match class as u16 {
            bundle::NARROW => {
                let [gx, gy] = bundle::slopes(self.halves).map(i64::from);
                let [x, y] = bundle::narrow_plan(word(bundle::NARROW_ZERO.1 + i)).map(i64::from);
                let dz = i64::from(self.halves[(bundle::NARROW_ZERO.0 + i) % bundle::HALVES]);
                [base(0) + x, base(1) + y, z + ((gx * x + gy * y) >> bundle::SLOPE_FRACTION) + dz]
            }
            bundle::MEDIUM => {
                let at = 2 * (bundle::MEDIUM_ZERO + i);
                let pair = [word(at), word(at + 1)];
                let [x, y] = bundle::medium_plan(pair).map(i64::from);
                [base(0) + x, base(1) + y, z + i64::from(bundle::medium_height(pair))]
            }
            _ => [0, 1, 2].map(|k| word(bundle::WIDE_ZERO + bundle::WIDE_STRIDE * i + k) as i32 as i64),
        };
        corner.map(|v| v as i32)
    }
}
