//! Where a segment meets the triangles of a bundle and the cells of a height field: exact in integers up to the place
//! on its way.

use crate::format::bundle::{MEDIUM, NARROW};
use crate::format::{BLOCK_CELLS, FRACTION, NO_POST, Patch, PatchBlock};
use crate::geom::product;
use crate::hit::{Normal, Status};
use crate::leaf::bundle::{Bundle, Class, Medium, Narrow};
use crate::leaf::patch::bilinear;
use crate::open::Terrain;
use crate::trace::{Observer, Trace};

/// A segment: start and way, in query steps from the origin. The way has less than 2^31 in plan and 2^40 in height,
/// the start at most 2^41.
#[derive(Clone, Copy)]
pub(crate) struct Segment {
    pub p: [i64; 3],
    pub d: [i64; 3],
}

/// Where a line meets the plane of a triangle: `num / den` of the way, `den` below zero from its front.
#[derive(Clone, Copy)]
pub(crate) struct Meeting {
    pub num: i128,
    pub den: i128,
}

/// A corner from the start: x, y, z, and the side of the ray's vertical plane on which it lies.
type Corner = (i64, i64, i64, i64);

/// A product of 128 bits. Small cores have two multiplications for a first number of 32 bits, which most are.
#[inline(always)]
fn wide(a: i64, b: i64) -> i128 {
    if cfg!(not(target_pointer_width = "32")) {
        return i128::from(a).wrapping_mul(i128::from(b));
    }
    if i64::from(a as i32) != a {
        return wide_of(a, b);
    }
    let by = |part: i64| i64::from(a as i32).wrapping_mul(part);
    let least = by(i64::from(b as u32));
    let rest = by(i64::from((b >> 32) as i32)).wrapping_add(least >> 32);
    i128::from(rest) << 32 | i128::from(least as u32)
}

#[cold]
#[inline(never)]
fn wide_of(a: i64, b: i64) -> i128 {
    i128::from(a).wrapping_mul(i128::from(b))
}

/// Twice the area in plan that two corners span with the start.
#[inline(always)]
fn plan(u: &Corner, v: &Corner) -> i64 {
    u.0.wrapping_mul(v.1).wrapping_sub(u.1.wrapping_mul(v.0))
}

impl Bundle<'_> {
    /// What a narrow or medium bundle counts from.
    #[inline(always)]
    pub fn near(&self) -> Option<Near> {
        let class = self.class();
        (class == NARROW || class == MEDIUM).then(|| {
            let [x, y] = self.base().map(i64::from);
            Near { narrow: class == NARROW, base: [x, y, self.base_z()].map(|v| v << FRACTION) }
        })
    }

    /// A vertex of a narrow or medium bundle from its base.
    #[inline(always)]
    fn near_corner(&self, narrow: bool, i: usize) -> ([u32; 2], i32) {
        if narrow {
            let plan = Narrow::plan(self, i);
            (plan, Narrow::height(self, i, plan))
        } else {
            let plan = Medium::plan(self, i);
            (plan, Medium::height(self, i, plan))
        }
    }

    /// Where the segment's line meets a triangle of a wide bundle, as [`Near::meeting`] says it.
    #[cold]
    #[inline(never)]
    pub fn wide_meeting(&self, part: u32, s: &Segment) -> Option<Meeting> {
        let d = s.d.map(i128::from);
        let det = |a: [i128; 3], b: [i128; 3], c: [i128; 3]| {
            let minor = |i: usize, k: usize| b[i].wrapping_mul(c[k]).wrapping_sub(b[k].wrapping_mul(c[i]));
            let [x, y, z] =
                [a[0].wrapping_mul(minor(1, 2)), a[1].wrapping_mul(minor(2, 0)), a[2].wrapping_mul(minor(0, 1))];
            x.wrapping_add(y).wrapping_add(z)
        };
        let from = |c: [i64; 3]| [0, 1, 2].map(|k| i128::from((c[k] << FRACTION).wrapping_sub(s.p[k])));
        let [u, v, w] = self.corners_3d(part).map(from);
        let den = inside([det(d, u, v), det(d, v, w), det(d, w, u)])?;
        Some(Meeting { num: det(u, v, w), den })
    }
}

/// What a narrow or medium bundle counts from, in query steps.
#[derive(Clone, Copy)]
pub(crate) struct Near {
    narrow: bool,
    base: [i64; 3],
}

impl Near {
    /// The start from the base.
    #[inline(always)]
    fn start(&self, s: &Segment) -> [i64; 3] {
        [0, 1, 2].map(|i| s.p[i].wrapping_sub(self.base[i]))
    }

    /// The triangles of a mask that the ray's vertical plane crosses or touches.
    #[inline(always)]
    pub fn crossed(&self, b: &Bundle, mask: u32, s: &Segment) -> u32 {
        let ([px, py, _], [dx, dy, _]) = (self.start(s), s.d);
        // products fit 64 bits only where the segment comes as near as this, and it meets nothing elsewhere
        let reach = i64::from(if self.narrow { Narrow::REACH } else { Medium::REACH }) << FRACTION;
        let apart = |p: i64, d: i64| p.max(p.wrapping_add(d)) < 0 || p.min(p.wrapping_add(d)) > reach;
        if apart(px, dx) || apart(py, dy) {
            return 0;
        }
        let across = Across::new(px, py, s);
        if self.narrow { sides::<Narrow>(b, mask, &across) } else { sides::<Medium>(b, mask, &across) }
    }

    /// Where the segment's line meets a triangle, borders included. One that holds the line in its plane is not met:
    /// its neighbours are, at the edge they share.
    #[inline(always)]
    pub fn meeting(&self, b: &Bundle, part: u32, s: &Segment) -> Option<Meeting> {
        let ([px, py, pz], dz) = (self.start(s), s.d[2]);
        let across = Across::new(px, py, s);
        let corners = b.corner_numbers(part).map(|i| b.near_corner(self.narrow, i));
        let [u, v, w] = corners.map(|(plan, z)| {
            let z = (i64::from(z) << FRACTION).wrapping_sub(pz);
            let x = (i64::from(plan[0]) << FRACTION).wrapping_sub(px);
            let y = (i64::from(plan[1]) << FRACTION).wrapping_sub(py);
            (x, y, z, across.of(plan))
        });
        // below or above all of the segment it is met beyond the ends
        if u.2.max(v.2).max(w.2) < dz.min(0) || u.2.min(v.2).min(w.2) > dz.max(0) {
            return None;
        }
        let side =
            |c: i64, u: &Corner, v: &Corner| wide(dz, c).wrapping_add(wide(v.2, u.3)).wrapping_sub(wide(u.2, v.3));
        let [c0, c1, c2] = [plan(&u, &v), plan(&v, &w), plan(&w, &u)];
        let den = inside([side(c0, &u, &v), side(c1, &v, &w), side(c2, &w, &u)])?;
        let num = wide(u.2, c1).wrapping_add(wide(v.2, c2)).wrapping_add(wide(w.2, c0));
        Some(Meeting { num, den })
    }
}

/// On which side of the ray's vertical plane vertices lie.
#[derive(Clone, Copy)]
struct Across {
    /// Below 2^31 each.
    way: [isize; 2],
    start: i64,
}

impl Across {
    #[inline(always)]
    fn new(px: i64, py: i64, s: &Segment) -> Across {
        let [dx, dy, _] = s.d;
        Across { way: [dx as isize, dy as isize], start: dy.wrapping_mul(px).wrapping_sub(dx.wrapping_mul(py)) }
    }

    #[inline(always)]
    fn of(&self, [x, y]: [u32; 2]) -> i64 {
        let [dx, dy] = self.way;
        (product(dx, y as isize).wrapping_sub(product(dy, x as isize)) << FRACTION).wrapping_add(self.start)
    }
}

/// The triangles that the ray's vertical plane crosses or touches: no branch for each.
#[inline(always)]
fn sides<C: Class>(b: &Bundle, mut mask: u32, across: &Across) -> u32 {
    let mut crossed = 0u32;
    while mask != 0 {
        let part = mask.trailing_zeros();
        let [u, v, w] = b.corner_numbers(part).map(|i| across.of(C::plan(b, i)));
        let left = (u & v & w) >> 63;
        let right = (u.wrapping_neg() & v.wrapping_neg() & w.wrapping_neg()) >> 63;
        crossed |= !(left | right) as u32 & mask & mask.wrapping_neg();
        mask &= mask.wrapping_sub(1);
    }
    crossed
}

/// The sum of the sides, if none is of another sign than it.
#[inline(always)]
fn inside([a, b, c]: [i128; 3]) -> Option<i128> {
    let front = (a | b | c) >= 0;
    let back = (a.wrapping_neg() | b.wrapping_neg() | c.wrapping_neg()) >= 0;
    let den = a.wrapping_add(b).wrapping_add(c);
    ((front | back) & (den != 0)).then_some(den)
}

/// Where a segment passes through the ground of a height field.
#[derive(Clone, Copy)]
pub(crate) struct Passage {
    /// In 2^-32 of the way.
    pub at: u64,
    /// From below.
    pub back: bool,
    pub normal: Normal,
    /// The block that holds the cell.
    pub block: u32,
}

/// The end of the way in parts of 2^-32.
const WHOLE: i64 = 1 << 32;
/// The far border of a cell.
const ONE: i64 = 1 << 32;
/// More cells than a field may have.
const MAX_CELLS: u32 = 1 << 20;
/// Greatest rate of a field.
const MAX_RATE: u64 = 1 << 56;
/// Beyond the cells of every field, in 2^-32 cells.
const FARTHEST: i128 = 1 << 61;

/// A segment along one axis of a field: place and way in 2^-32 cells from the part's first cell.
#[derive(Clone, Copy)]
struct Along {
    p: i64,
    d: i64,
}

impl Along {
    /// Where the segment is after so many parts of its way, rounded down.
    #[inline(always)]
    fn at(self, k: i64) -> i64 {
        self.p.wrapping_add((wide(self.d, k) >> 32) as i64)
    }

    /// The first part of the way at which it is at `b` or beyond, or, if it goes down, below `b`; never is [`WHOLE`]
    /// and one.
    #[inline(never)]
    fn reaches(self, b: i64) -> i64 {
        let from = i128::from(b).wrapping_sub(i128::from(self.p)) << 32;
        let d = i128::from(self.d);
        let first = if d > 0 {
            from.wrapping_add(d).wrapping_sub(1).checked_div(d)
        } else {
            from.checked_neg().and_then(|n| n.checked_div(d.wrapping_neg())).map(|q| q.wrapping_add(1))
        };
        // what is reached before the start has a quotient below zero, or a fraction of it that rounds to zero
        let start = if d > 0 { self.p >= b } else { self.p < b };
        match first {
            _ if start => 0,
            Some(k) if k <= i128::from(WHOLE) => k as i64,
            _ => WHOLE + 1,
        }
    }

    /// When it enters and when it leaves the closed range from `low` to `high`.
    fn within(self, low: i64, high: i64) -> [i64; 2] {
        match self.d {
            0 if (low..=high).contains(&self.p) => [0, WHOLE + 1],
            0 => [WHOLE + 1, 0],
            1.. => [self.reaches(low), self.reaches(high.wrapping_add(1))],
            _ => [self.reaches(high.wrapping_add(1)), self.reaches(low)],
        }
    }
}

/// A cell of a field, and the segment in it.
struct Cell {
    posts: [u32; 4],
    base: i64,
    unit: u32,
    /// First and last part of the way in the cell, and where it is there, from the cell's corner.
    ends: [i64; 2],
    places: [[i64; 2]; 2],
    axes: [Along; 2],
    /// The cell's corner.
    low: [i64; 2],
    z: [i64; 2],
}

impl Cell {
    fn place(&self, k: i64) -> [i64; 2] {
        if k == self.ends[0] {
            self.places[0]
        } else if k == self.ends[1] {
            self.places[1]
        } else {
            [0, 1].map(|i| self.axes[i].at(k).wrapping_sub(self.low[i]).clamp(0, ONE))
        }
    }

    /// On which side of the ground the segment is: above is above zero.
    #[inline(never)]
    fn side(&self, k: i64) -> i32 {
        let ([u, v], [a, b, c, d]) = (self.place(k), self.posts.map(i64::from));
        let along = |a: i64, b: i64| (a << 32).wrapping_add(b.wrapping_sub(a).wrapping_mul(u));
        let rise = wide(along(a, b), ONE.wrapping_sub(v)).wrapping_add(wide(along(c, d), v));
        let ground = rise.wrapping_mul(i128::from(self.unit));
        let z = i128::from(self.z[0].wrapping_sub(self.base)) << 32;
        let height = z.wrapping_add(wide(self.z[1], k)) << 32;
        height.cmp(&ground) as i32
    }

    /// Where the ground is as steep as the segment, if that is between the ends and the ground comes nearer to it
    /// there.
    fn vertex(&self, side: i32) -> Option<i64> {
        let [a, b, c, d] = self.posts.map(f64::from);
        let unit = f64::from(self.unit);
        let part = 1.0 / ONE as f64;
        let [du, dv] = self.axes.map(|axis| axis.d as f64 * part);
        let [u, v] = self.places[0].map(|p| p as f64 * part);
        let twist = a - b - c + d;
        let curve = -(unit * twist * du * dv);
        let turns_back = curve * f64::from(side) > 0.0;
        if !turns_back {
            return None;
        }
        let slope = self.z[1] as f64 - unit * ((b - a) * du + (c - a) * dv + twist * (u * dv + v * du));
        let way = -slope / (2.0 * curve) * WHOLE as f64;
        let most = self.ends[1].wrapping_sub(self.ends[0]);
        (way > 0.0 && way < most as f64).then(|| self.ends[0].wrapping_add(way as i64))
    }

    /// The first part of the way behind `low` at which the side is another than at `low`, given that it is so at
    /// `high`.
    #[inline(never)]
    fn change(&self, low: i64, high: i64, side: i32) -> i64 {
        let (mut low, mut high) = (low, high);
        while high.wrapping_sub(low) > 1 {
            let middle = low.wrapping_add(high.wrapping_sub(low) >> 1);
            if self.side(middle) == side { low = middle } else { high = middle }
        }
        high
    }
}

impl Terrain<'_> {
    /// Gives, in order, every passage through the ground of a patch until `take` says that it is enough; parts of the
    /// way behind `last` are not looked at, nor more than `limit` cells. The answer is the number of cells, and whether
    /// that was all.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn passages<O: Observer>(
        &self,
        tile: usize,
        at: usize,
        s: &Segment,
        last: f64,
        limit: u32,
        o: &mut O,
        take: &mut impl FnMut(Passage) -> bool,
    ) -> Result<(u32, bool), Status> {
        let patch = self.patch(at).ok_or(Status::Damaged)?;
        let (rate, cells) = (patch.cells_a_step(), patch.cells);
        if rate > MAX_RATE || cells.iter().any(|&n| n == 0 || n >= MAX_CELLS) || patch.class > 1 {
            return Err(Status::Damaged);
        }
        let axes = [0, 1].map(|i| {
            let first = i128::from(patch.first[i]) << 32;
            let place = |q: i64| {
                let p = i128::from(q.wrapping_sub(patch.from(i))).wrapping_mul(i128::from(rate)) >> 32;
                // no cell is as far as that
                p.wrapping_sub(first).clamp(-FARTHEST, FARTHEST) as i64
            };
            let [p, to] = [s.p[i], s.p[i].wrapping_add(s.d[i])].map(place);
            Along { p, d: to.wrapping_sub(p) }
        });
        let ends = cells.map(|n| i64::from(n) << 32);
        let [x, y] = [axes[0].within(0, ends[0]), axes[1].within(0, ends[1])];
        let (mut k, mut end) = (x[0].max(y[0]), x[1].min(y[1]));
        if last < 1.0 {
            end = end.min((last * WHOLE as f64) as i64 + 2);
        }
        let z = [s.p[2], s.d[2]];
        let mut work = 0u32;
        // the side on which the segment enters the next cell, if it is known
        let mut before: Option<i32> = None;
        // the axes along which it has just come over a border
        let mut entered = if k > 0 { [x[0] == k, y[0] == k] } else { [false; 2] };
        while k < end && k <= WHOLE {
            let place = axes.map(|axis| axis.at(k));
            let number = [0, 1].map(|i| ((place[i] >> 32).max(0) as u32).min(cells[i].wrapping_sub(1)));
            let group = number.map(|n| n / BLOCK_CELLS);
            let index = group[1].wrapping_mul(patch.blocks).wrapping_add(group[0]);
            let block = self.patch_block(tile, patch, index).ok_or(Status::Damaged)?;
            o.see(Trace::Leaf { record: block.record, lines: 1 });
            if block.is_long {
                o.see(Trace::Long { record: block.record });
            }
            // the whole block is passed at once where the segment is above or below all of it
            let span = [0, 1].map(|i| {
                let high = (group[i].wrapping_add(1).wrapping_mul(BLOCK_CELLS)).min(cells[i]);
                [i64::from(group[i].wrapping_mul(BLOCK_CELLS)) << 32, i64::from(high) << 32]
            });
            let out = leaves(axes, span, ends).min(end);
            let reach = [k, out.min(WHOLE)].map(|k| z[0].wrapping_add((wide(z[1], k) >> 32) as i64));
            let top = block.base.wrapping_add(i64::from(block.unit).wrapping_mul(block.most.into()));
            if reach[0].max(reach[1]).wrapping_add(1) < block.base || reach[0].min(reach[1]) > top {
                (before, entered) = (None, crossed(axes, span, ends, out));
                k = out.max(k.wrapping_add(1));
                continue;
            }
            work = work.wrapping_add(1);
            if work > limit {
                return Ok((work, false));
            }
            let low = number.map(|n| i64::from(n) << 32);
            let span = low.map(|low| [low, low.wrapping_add(ONE)]);
            let out = leaves(axes, span, ends).min(end);
            let posts = block.posts(number.map(|n| n % BLOCK_CELLS));
            o.see(Trace::Test { record: block.record, part: index, covered: true });
            if posts.contains(&block.none) {
                (before, entered) = (None, crossed(axes, span, ends, out));
                k = out.max(k.wrapping_add(1));
                continue;
            }
            let over = crossed(axes, span, ends, out);
            let stop = out.min(WHOLE).max(k);
            let snap = |k: i64, over: [bool; 2], rising: bool| {
                [0, 1].map(|i| {
                    let border = if (axes[i].d > 0) == rising { ONE } else { 0 };
                    if over[i] { border } else { axes[i].at(k).wrapping_sub(low[i]).clamp(0, ONE) }
                })
            };
            let places = [snap(k, entered, false), snap(stop, if out <= WHOLE { over } else { [false; 2] }, true)];
            let cell = Cell { posts, base: block.base, unit: block.unit, ends: [k, stop], places, axes, low, z };
            let mut give = |k: i64, back: bool| {
                let part = cell.place(k).map(|p| (p >> 16) as u32);
                let normal = block.normal(posts, part, patch);
                take(Passage { at: k as u64, back, normal, block: index })
            };
            let mut from = k;
            let mut side = match before {
                Some(side) => side,
                None => {
                    let side = cell.side(k);
                    if side == 0 && !give(k, cell.side(stop.min(k.wrapping_add(1))) > 0) {
                        return Ok((work, true));
                    }
                    side
                }
            };
            if side == 0 && k < stop {
                from = k.wrapping_add(1);
                side = cell.side(from);
            }
            let exit = if from < stop { cell.side(stop) } else { side };
            if side != 0 && from < stop {
                let turn = if exit == side || exit == 0 { cell.vertex(side) } else { None };
                let turned = turn.filter(|&turn| turn > from && turn < stop).map(|turn| (turn, cell.side(turn)));
                if let Some((turn, there)) = turned.filter(|turned| turned.1 != side) {
                    // two passages, or one touch
                    let done = !give(cell.change(from, turn, side), side < 0)
                        || (there != 0 && !give(cell.change(turn, stop, there), there < 0));
                    if done {
                        return Ok((work, true));
                    }
                } else if exit != side && !give(cell.change(from, stop, side), side < 0) {
                    return Ok((work, true));
                }
            }
            (before, entered) = (Some(exit), over);
            k = out.max(k.wrapping_add(1));
        }
        Ok((work, true))
    }

    /// A block of a patch.
    #[inline(always)]
    fn patch_block(&self, tile: usize, patch: &Patch, index: u32) -> Option<Block<'_>> {
        let record = (patch.place as usize).wrapping_add(index as usize);
        let record = (tile / patch.block_words()).wrapping_add(record);
        Some(Block::new(record, patch.block(self.words.get(tile..)?, index as usize)?, patch.class))
    }
}

/// When the segment leaves a rectangle of cells; a border at the field's end is part of it.
fn leaves(axes: [Along; 2], span: [[i64; 2]; 2], ends: [i64; 2]) -> i64 {
    let [x, y] = out(axes, span, ends);
    x.min(y)
}

/// The axes over whose borders it leaves.
fn crossed(axes: [Along; 2], span: [[i64; 2]; 2], ends: [i64; 2], at: i64) -> [bool; 2] {
    out(axes, span, ends).map(|k| k <= at && k <= WHOLE)
}

fn out(axes: [Along; 2], span: [[i64; 2]; 2], ends: [i64; 2]) -> [i64; 2] {
    [0, 1].map(|i| {
        let [low, high] = span[i];
        match axes[i].d {
            0 => WHOLE + 1,
            1.. => axes[i].reaches(if high == ends[i] { high.wrapping_add(1) } else { high }),
            _ => axes[i].reaches(low),
        }
    })
}

/// A block's heights.
struct Block<'a> {
    /// Which, as [`Trace::Leaf`] has it, and whether it names a long one.
    record: usize,
    is_long: bool,
    held: PatchBlock<'a>,
    base: i64,
    unit: u32,
    /// Greatest post, and the one that is no height.
    most: u32,
    none: u32,
}

impl<'a> Block<'a> {
    #[inline(always)]
    fn new(record: usize, held: PatchBlock<'a>, class: u8) -> Self {
        let none = NO_POST[held.class & 1];
        let (base, unit) = (held.base(), 1 << (held.scale() & 31));
        Block { record, is_long: held.class > usize::from(class), held, base, unit, most: none - 1, none }
    }

    /// The posts of a cell: south-west, south-east, north-west, north-east.
    fn posts(&self, [i, j]: [u32; 2]) -> [u32; 4] {
        let first = (j * 5 + i) as usize;
        [0, 1, 5, 6].map(|k| self.held.post(first + k))
    }

    fn normal(&self, posts: [u32; 4], part: [u32; 2], patch: &Patch) -> Normal {
        let (base, scale) = ((self.base >> FRACTION) as u32, self.held.scale());
        let found = if self.held.class == 0 {
            bilinear::<8, false>(posts, part, base, scale)
        } else {
            bilinear::<16, false>(posts, part, base, scale)
        };
        let (_, x, y) = found.unwrap_or_default();
        Normal { x, y, z: patch.upward() as i64 }
    }
}
