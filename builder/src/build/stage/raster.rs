//! Height fields into patch blocks: 4 x 4 cells of bilinear heights in 32 bytes, or in 64 where that is too few.
//!
//! A post shared by blocks is rounded to the coarsest of their scales, so a field has no cracks.

use crate::build::error::{BuildError, Limit};
use crate::build::lattice::Field;
use crate::scene::{Blocks, HeightField};
use crate::util::exact::{exp2, reciprocal};
use hardpan::format::{BLOCK_CELLS, BLOCK_WORDS, FRACTION, LONG, PATCH_SCALES, POSTS_AT, Patch, halves};
use rayon::prelude::*;

/// A field on the lattice: posts in height steps, and the scale of each block.
///
/// A place `q` query steps from the origin lies at `(q - from) * rate / 2^32`, rounded down, in 2^-32 cells. The rate
/// is rounded up, so that a post on the query grid lies exactly where it should, to the 2^-16 cells that count.
pub struct Rastered {
    rate: u64,
    from: [i64; 2],
    up: i64,
    cells: [u32; 2],
    /// 0: blocks of 32 bytes, some of which name a long one; 1: blocks of 64 bytes.
    class: u8,
    /// Least and greatest coordinates in steps: in plan of the first and last place with ground, rounded outwards, in
    /// height of the posts as they are stored.
    pub bounds: [[i32; 3]; 2],
    pub material: u16,
    pub source: u16,
    /// What storing it changes at most, in plan and height, metres: nothing, if all of it stands as in its image.
    pub fit: [f64; 2],
    blocks: [usize; 2],
    records: Vec<Record>,
}

/// A block: its bytes, of which short ones have 32.
#[derive(Clone, Copy)]
struct Record {
    bytes: [u8; 64],
    is_long: bool,
    has_voids: bool,
}

impl Record {
    const EMPTY: Record = Record { bytes: [0; 64], is_long: false, has_voids: false };
}

const SIDE: usize = BLOCK_CELLS as usize;
/// Query steps in a plan step.
const UNIT: i64 = 1 << FRACTION;

/// Rounds a field's posts and packs its blocks; `source` is what it is in the scene.
pub fn raster(f: &Field, source: &HeightField, origin_z: i64, step: [i32; 2]) -> Result<Rastered, BuildError> {
    let (field, heights) = (&f.field, &source.heights);
    let limit = |fault| BuildError::from(Limit::Field { pitch: field.pitch, fault });
    let up = (field.pitch * exp2(24 - step[0])).round_ties_even();
    // a step at least, and less than the domain
    if !(exp2(24)..exp2(56)).contains(&up) {
        return Err(limit("is too coarse or too fine for the plan step"));
    }
    let rate = reciprocal(field.pitch * exp2(8 - step[0]));
    let scale_z = exp2(-step[1]);
    // in steps: computed where it is asked for, as fields are large
    let steps = |h: f64| {
        let z = (h * scale_z).round_ties_even();
        (z.abs() < 1e15).then(|| z as i64 - origin_z)
    };
    if heights.par_iter().filter_map(|h| steps(*h)).any(|z| i32::try_from(z).is_err()) {
        return Err(limit("reaches beyond the domain in height"));
    }
    let cells = [field.columns - 1, field.rows - 1];
    let blocks = cells.map(|c| c.div_ceil(SIDE));
    let post = |x: usize, y: usize| steps(heights[y.min(field.rows - 1) * field.columns + x.min(field.columns - 1)]);
    let kept = source.blocks.as_ref().and_then(|stored| kept(stored, blocks, cells, &post));
    // one whose posts are no longer those of its image takes the least error that holds it
    let tolerance = match &source.blocks {
        Some(_) if kept.is_none() => field.tolerance.max(least_tolerance(source, step[1])),
        _ => field.tolerance,
    };
    // half a scale of error is allowed at a post, and a height step of its own rounding
    let allowed = ((tolerance * scale_z) as u64).max(1);
    let whole = whole_scale(heights.par_iter().filter_map(|h| steps(*h)));
    let coarsest = (allowed.ilog2() + 1).min(COARSEST).max(whole.0);
    // rounding by neighbours' scales may widen the range by one coarsest step at either end
    let more = if coarsest == whole.0 { 0 } else { 2 << coarsest };
    let count = blocks[0] * blocks[1];
    let range = |b: usize| {
        let (bx, by) = (b % blocks[0] * SIDE, b / blocks[0] * SIDE);
        let posts = (0..=SIDE).flat_map(|j| (0..=SIDE).map(move |i| (i, j)));
        let heights = posts.filter_map(|(i, j)| post(bx + i, by + j));
        let ends = heights.map(|z| [z; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        ends.map_or(0, |[low, high]| high - low + more)
    };
    let scale = |range: i64, class: usize| (whole.0..=coarsest).find(|&s| range >> s < MOST[class]);
    let long = |b: usize| Some((scale(range(b), 1)?, true));
    let short = |b: usize| scale(range(b), 0).map(|s| (s, false)).or_else(|| long(b));
    let packed = || -> Option<Packed> {
        let shorts: Vec<(u32, bool)> = (0..count).into_par_iter().map(short).collect::<Option<_>>()?;
        // a block that names a long one costs both
        if shorts.par_iter().filter(|(_, is_long)| *is_long).count() * 2 <= count {
            return Some((0, shorts, whole.1));
        }
        Some((1, (0..count).into_par_iter().map(long).collect::<Option<_>>()?, whole.1))
    };
    let is_kept = kept.is_some();
    let found = kept.or_else(packed);
    let (class, scales, rest) =
        found.ok_or_else(|| limit("is too steep for 16 bits a block; allow a larger tolerance"))?;
    // the coarsest scale of the blocks that share a post
    let shared = |x: usize, y: usize| shared(&scales, blocks, [x, y]);
    let rounded = &|x: usize, y: usize| -> Option<i64> {
        let (x, y) = (x.min(field.columns - 1), y.min(field.rows - 1));
        let s = shared(x, y);
        let z = post(x, y)?;
        let half = if s == 0 { 0 } else { 1i64 << (s - 1) };
        Some(((z - rest + half) >> s << s) + rest)
    };
    // a block's bytes, and its least and greatest height
    let record = |(b, &(scale, is_long)): (usize, &(u32, bool))| -> Result<(Record, [i64; 2]), BuildError> {
        let (bx, by) = (b % blocks[0] * SIDE, b / blocks[0] * SIDE);
        let heights: Vec<Option<i64>> =
            (0..=SIDE).flat_map(|j| (0..=SIDE).map(move |i| (i, j))).map(|(i, j)| rounded(bx + i, by + j)).collect();
        let height = heights.iter().flatten().fold([i64::MAX, i64::MIN], |[low, high], &z| [low.min(z), high.max(z)]);
        let base = heights.iter().flatten().min().map_or(0, |z| ((z - rest) >> scale << scale) + rest);
        let mut r = Record { is_long, has_voids: heights.contains(&None), ..Record::EMPTY };
        let base32 = i32::try_from(base).map_err(|_| limit("reaches beyond the domain in height"))?;
        r.bytes[..4].copy_from_slice(&base32.to_le_bytes());
        r.bytes[4] = (FRACTION + scale) as u8;
        // all ones is no height
        let values = heights.iter().map(|h| h.map_or(u16::MAX, |z| ((z - base) >> scale) as u16));
        for (k, v) in values.enumerate() {
            match is_long {
                false => r.bytes[POSTS_AT[0] + k] = v as u8,
                true => r.bytes[POSTS_AT[1] + 2 * k..][..2].copy_from_slice(&v.to_le_bytes()),
            }
        }
        Ok((r, height))
    };
    let mut records = vec![Record::EMPTY; scales.len()];
    let put = |(to, of): (&mut Record, (usize, &(u32, bool)))| -> Result<[i64; 2], BuildError> {
        let (made, height) = record(of)?;
        *to = made;
        Ok(height)
    };
    let made = records.par_iter_mut().zip(scales.par_iter().enumerate()).map(put);
    let reach = |a: [i64; 2], b: [i64; 2]| Ok([a[0].min(b[0]), a[1].max(b[1])]);
    let height = made.try_reduce(|| [i64::MAX, i64::MIN], reach)?;
    // whether no post is moved by rounding
    let is_step = |v: f64| v.fract() == 0.0;
    let is_exact = || heights.par_iter().all(|h| h.is_nan() || is_step(h * scale_z));
    let is_placed = || source.origin.iter().all(|v| is_step(v * exp2(FRACTION as i32 - step[0])));
    let fit = match is_kept || coarsest == whole.0 {
        true if is_kept && is_placed() && is_exact() => [0.0; 2],
        true if is_kept || is_exact() => [field.pitch / 65_536.0, 0.0],
        // a tolerance below a height step still lets a post lose half of two
        true => [field.pitch / 65_536.0, tolerance],
        false => [field.pitch / 65_536.0, tolerance.max(exp2(step[1] + coarsest as i32 - 1))],
    };
    let mut field = Rastered {
        fit,
        rate,
        from: f.zero,
        up: up as i64,
        cells: cells.map(|c| c as u32),
        class,
        bounds: Default::default(),
        material: field.material,
        source: field.source,
        blocks,
        records,
    };
    let plan = [0, 1].map(|axis| field.ends(axis));
    for (k, (q, z)) in [plan.map(|p| p[0] >> FRACTION), plan.map(|p| (p[1] + UNIT - 1) >> FRACTION)]
        .into_iter()
        .zip(height)
        .enumerate()
    {
        let corner = [q[0], q[1], z].map(i32::try_from);
        let [Ok(x), Ok(y), Ok(z)] = corner else { return Err(limit("reaches beyond the domain")) };
        field.bounds[k] = [x, y, z];
    }
    Ok(field)
}

/// Class, the scale of each block and whether it is long, and what all posts leave of their unit.
type Packed = (u8, Vec<(u32, bool)>, i64);

/// Values of a post that stand for a height, by class.
const MOST: [i64; 2] = [255, 65_535];
/// The coarsest scale of a block, log2 in height steps.
const COARSEST: u32 = *PATCH_SCALES.end() - FRACTION;

/// The coarsest scale that moves none of these heights, and what they all leave of it.
fn whole_scale(heights: impl ParallelIterator<Item = i64> + Clone) -> (u32, i64) {
    let Some(first) = heights.clone().find_first(|_| true) else { return (0, 0) };
    let bits = heights.map(|z| (z ^ first) as u64).reduce(|| 0, |a, b| a | b);
    let scale = bits.trailing_zeros().min(COARSEST);
    (scale, first.rem_euclid(1 << scale))
}

/// The coarsest scale of the blocks that share a post.
fn shared(scales: &[(u32, bool)], blocks: [usize; 2], [x, y]: [usize; 2]) -> u32 {
    let around = |v: usize, n: usize| {
        let b = (v / SIDE).min(n - 1);
        if v.is_multiple_of(SIDE) && b > 0 { b - 1..=b } else { b..=b }
    };
    let all = around(y, blocks[1]).flat_map(|j| around(x, blocks[0]).map(move |i| scales[j * blocks[0] + i].0));
    all.max().expect("a post has a block")
}

/// Blocks as they stand in an image, and how far all posts are moved since: none if they do not hold these posts.
fn kept(
    stored: &Blocks,
    blocks: [usize; 2],
    cells: [usize; 2],
    post: &(impl Fn(usize, usize) -> Option<i64> + Sync),
) -> Option<Packed> {
    let scales: Vec<(u32, bool)> = stored.scales.iter().map(|s| (u32::from(s.log2), s.is_long)).collect();
    let is_sound = |s: &(u32, bool)| s.0 <= COARSEST && (s.1 || stored.class == 0);
    if stored.class > 1 || scales.len() != blocks[0] * blocks[1] || !scales.iter().all(is_sound) {
        return None;
    }
    let posts = |b: usize| {
        let (bx, by) = (b % blocks[0] * SIDE, b / blocks[0] * SIDE);
        let all = (0..=SIDE).flat_map(move |j| (0..=SIDE).map(move |i| [bx + i, by + j]));
        all.filter_map(|[x, y]| Some(([x, y], post(x, y)?)))
    };
    let by_scale = (0..scales.len()).filter_map(|b| Some((scales[b].0, posts(b).next()?.1)));
    let (coarse, z) = by_scale.max_by_key(|(s, _)| *s).unwrap_or_default();
    let rest = z.rem_euclid(1 << coarse);
    let holds = |b: usize| {
        let (mut low, mut high) = (i64::MAX, i64::MIN);
        let fits = posts(b).all(|([x, y], z)| {
            (low, high) = (low.min(z), high.max(z));
            // beyond the border the last post stands again
            let at = [x.min(cells[0]), y.min(cells[1])];
            (z - rest).rem_euclid(1 << shared(&scales, blocks, at)) == 0
        });
        let (scale, is_long) = scales[b];
        fits && (low > high || (high - low) >> scale < MOST[usize::from(is_long)])
    };
    (0..scales.len()).into_par_iter().all(holds).then_some((stored.class, scales, rest))
}

/// The least error at a post, metres, with which blocks of 16 bits hold a field: so many height steps, a power of two.
pub fn least_tolerance(field: &HeightField, z_log2: i32) -> f64 {
    let scale = exp2(-z_log2);
    let block = |south: usize| {
        let rows = south..(south + SIDE + 1).min(field.rows);
        let range = |west: usize| {
            let columns = west..(west + SIDE + 1).min(field.columns);
            let posts = rows.clone().flat_map(|row| &field.heights[row * field.columns..][columns.clone()]);
            let ends = posts.filter(|h| !h.is_nan()).map(|h| [*h; 2]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
            ends.map_or(0.0, |[low, high]| (high - low) * scale)
        };
        (0..field.columns).step_by(SIDE).map(range).fold(0.0, f64::max)
    };
    let souths: Vec<usize> = (0..field.rows).step_by(SIDE).collect();
    // rounding of both ends may widen it by a step
    let range = souths.into_par_iter().map(block).reduce(|| 0.0, f64::max).min(1e15) as i64 + 2;
    // as `scales_for` asks, at the coarsest scale that the error allows
    let holds = |k: &u32| (range + (4 << k)) >> (k + 1) < 65_535;
    (0..40).find(holds).map_or(0.0, |k| exp2(k as i32 + z_log2))
}

/// The part of a field that a tile holds: first block, blocks and cells, in x and y.
#[derive(Clone, Copy)]
pub struct Part {
    first: [u32; 2],
    blocks: [u32; 2],
    cells: [u32; 2],
}

impl Part {
    pub fn block_count(&self) -> u64 {
        u64::from(self.blocks[0]) * u64::from(self.blocks[1])
    }
}

impl Rastered {
    /// 2^-32 cells from the field's first post to a place in query steps.
    fn along(&self, axis: usize, q: i64) -> i128 {
        (i128::from(q - self.from[axis]) * i128::from(self.rate)) >> 32
    }

    /// The first query step that lies so far from the field's first post.
    fn reach(&self, axis: usize, cells: i128) -> i64 {
        let rate = i128::from(self.rate);
        self.from[axis] + ((cells << 32) + rate - 1).div_euclid(rate) as i64
    }

    /// First and last query step with ground: fractions are 2^-16 cells, and the last is all of the far border.
    fn ends(&self, axis: usize) -> [i64; 2] {
        let beyond = (i128::from(self.cells[axis]) << 32) + (1 << 16);
        [self.reach(axis, 0), self.reach(axis, beyond) - 1]
    }

    /// The steps in which the first and the last place with ground lie.
    pub fn extent(&self) -> [[i64; 2]; 2] {
        let ends = [0, 1].map(|a| self.ends(a));
        [0, 1].map(|k| [0, 1].map(|a| ends[a][k] >> 8))
    }

    /// The part that lies in a square; none if there is none.
    pub fn part(&self, x: i64, y: i64, s: i64) -> Option<Part> {
        let mut part = Part { first: [0; 2], blocks: [0; 2], cells: [0; 2] };
        for (a, low) in [x, y].into_iter().enumerate() {
            let [least, most] = self.ends(a);
            let (low, high) = ((low << 8).max(least), (((low + s) << 8) - 1).min(most));
            if low > high {
                return None;
            }
            let cell = |u: i128| (u >> 32).clamp(0, i128::from(self.cells[a]) - 1) as u32;
            // a border belongs to both cells, so the cell before it is here too
            let (from, to) = (cell(self.along(a, low) - (1 << 16)), cell(self.along(a, high)));
            part.first[a] = from / BLOCK_CELLS;
            part.blocks[a] = to / BLOCK_CELLS - part.first[a] + 1;
            part.cells[a] = (part.blocks[a] * BLOCK_CELLS).min(self.cells[a] - part.first[a] * BLOCK_CELLS);
        }
        Some(part)
    }

    /// The record of a part whose blocks stand at byte `place` of its tile.
    pub fn record(&self, part: &Part, place: usize, attribute: u8) -> Patch {
        Patch {
            rate: halves(self.rate),
            from: self.from.map(|q| halves(q as u64)),
            first: part.first.map(|block| block * BLOCK_CELLS),
            cells: part.cells,
            class: self.class,
            interpolation: 0,
            voids: self.has_voids(part).into(),
            long: self.has_long(part).into(),
            blocks: part.blocks[0],
            place: (place / self.block_len()) as u32,
            attribute,
            reserved0: [0; 3],
            up: halves(self.up as u64),
        }
    }

    /// Bytes of all blocks.
    pub fn block_bytes(&self) -> u64 {
        let long = self.records.iter().filter(|r| self.class == 0 && r.is_long).count();
        (self.records.len() * self.block_len() + long * LINE) as u64
    }

    /// Bytes of a block.
    pub fn block_len(&self) -> usize {
        4 * BLOCK_WORDS[usize::from(self.class)]
    }

    /// Whether a post of a part has no height.
    pub fn has_voids(&self, part: &Part) -> bool {
        self.rows(part).flatten().any(|r| r.has_voids)
    }

    /// Whether a block of a part names a long one.
    pub fn has_long(&self, part: &Part) -> bool {
        self.class == 0 && self.rows(part).flatten().any(|r| r.is_long)
    }

    /// Bytes of the blocks of a part, row by row, which stand at byte `place` of their tile; behind them the long ones.
    pub fn bytes(&self, part: &Part, place: usize) -> Vec<u8> {
        let (len, count) = (self.block_len(), part.block_count() as usize);
        let mut bytes = Vec::with_capacity(len * count);
        if self.class == 1 {
            bytes.extend(self.rows(part).flatten().flat_map(|r| r.bytes));
            return bytes;
        }
        let mut long = ((place + len * count) / LINE..).skip(usize::from(!(place + len * count).is_multiple_of(LINE)));
        for r in self.rows(part).flatten() {
            if r.is_long {
                let mut named = [0; 32];
                named[..4].copy_from_slice(&(long.next().expect("without end") as u32).to_le_bytes());
                named[4] = LONG as u8;
                bytes.extend(named);
            } else {
                bytes.extend(&r.bytes[..len]);
            }
        }
        if self.has_long(part) {
            bytes.resize((place + bytes.len()).next_multiple_of(LINE) - place, 0);
        }
        bytes.extend(self.rows(part).flatten().filter(|r| r.is_long).flat_map(|r| r.bytes));
        bytes
    }

    fn rows(&self, part: &Part) -> impl Iterator<Item = &[Record]> {
        let ([x, y], [columns, rows]) = (part.first.map(|v| v as usize), part.blocks.map(|v| v as usize));
        (y..y + rows).map(move |j| &self.records[j * self.blocks[0] + x..][..columns])
    }
}

/// Bytes of a line.
const LINE: usize = 64;
