//! The volume of a cylinder below ground, triangle by triangle, under a tread of flat strips.
//!
//! It is that of columns, as many as there can be: each stands upright over a place of the tread. Each triangle adds
//! integers, so their order and the squares that name them change no bit. Lengths are of the world, from the wheel's
//! centre.

use crate::format::{self, FRACTION, Patch, block, entry, word};
use crate::hit::{LeafKind, Status};
use crate::index::{Leaf, see_words};
use crate::leaf::bundle::Bundle;
use crate::open::Terrain;
use crate::point::{GridPoint, exp2};
use crate::query::axes::along;
use crate::query::contact::{Frame, Ground};
use crate::query::{ContactStatus, Tyre};
use crate::trace::{Log, Observer, Trace};

/// Cells of a height field whose two triangles lie farther from it have no strips, metres.
const MAX_FOLD: f64 = 0.005;
/// Strips of a quarter of the tread.
const QUARTER: usize = 16;
/// Sines of the angles between strips, from below the axle forwards; backwards they are cosines.
const SINES: [f64; QUARTER + 1] = [
    0.0,
    0.098_017_140_329_560_6,
    0.195_090_322_016_128_27,
    0.290_284_677_254_462_33,
    0.382_683_432_365_089_8,
    0.471_396_736_825_997_64,
    0.555_570_233_019_602_2,
    0.634_393_284_163_645_5,
    core::f64::consts::FRAC_1_SQRT_2,
    0.773_010_453_362_737,
    0.831_469_612_302_545_2,
    0.881_921_264_348_355,
    0.923_879_532_511_286_7,
    0.956_940_335_732_208_8,
    0.980_785_280_403_230_4,
    0.995_184_726_672_196_9,
    1.0,
];
/// How far a strip is from the arc in its middle, in radii.
pub(super) const SAGITTA: f64 = 0.001_204_543_794_827_61;
/// More squares of the index than one footprint may have.
const MAX_SQUARES: u32 = 1 << 14;
/// More cells of height fields than are read, and pairs of triangles than are compared.
const MAX_WORK: u32 = 1 << 20;
/// Most corners of a triangle that was cut by a box, the reach, a strip, its tread and its top.
const CORNERS: usize = 16;
/// Sums are in 2^-40.
const UNIT: i32 = 40;

/// A square of the index, or a part of it: query steps from the origin, half-open.
#[derive(Clone, Copy)]
struct Region {
    low: [i64; 2],
    high: [i64; 2],
}

impl Region {
    fn around(q: [i64; 2], log2: [u32; 2]) -> Region {
        let side = log2.map(|log2| log2.wrapping_add(FRACTION) & 63);
        let low = [q[0] >> side[0] << side[0], q[1] >> side[1] << side[1]];
        Region { low, high: [low[0].wrapping_add(1 << side[0]), low[1].wrapping_add(1 << side[1])] }
    }

    fn holds(&self, q: [i64; 2]) -> bool {
        (0..2).all(|k| self.low[k] <= q[k] && q[k] < self.high[k])
    }
}

/// A convex polygon, in metres from the centre of the wheel.
#[derive(Clone, Copy)]
struct Polygon {
    corners: [[f64; 3]; CORNERS],
    count: usize,
}

impl Polygon {
    const EMPTY: Polygon = Polygon { corners: [[0.0; 3]; CORNERS], count: 0 };

    fn all(&self) -> &[[f64; 3]] {
        self.corners.get(..self.count).unwrap_or(&[])
    }

    fn push(&mut self, p: [f64; 3]) {
        if let Some(to) = self.corners.get_mut(self.count) {
            *to = p;
            self.count = self.count.wrapping_add(1);
        }
    }

    /// The part where this is not below zero.
    fn cut(&self, side: impl Fn([f64; 3]) -> f64) -> Polygon {
        if self.all().iter().all(|&p| side(p) >= 0.0) {
            return *self;
        }
        let mut out = Polygon::EMPTY;
        let Some(&last) = self.all().last() else { return out };
        let (mut a, mut from) = (last, side(last));
        for &b in self.all() {
            let to = side(b);
            if (from < 0.0) != (to < 0.0) {
                let t = from / (from - to);
                out.push(along(a, [b[0] - a[0], b[1] - a[1], b[2] - a[2]], t));
            }
            if to >= 0.0 {
                out.push(b);
            }
            (a, from) = (b, to);
        }
        out
    }

    /// Triangles that share its first corner.
    fn fan(&self) -> impl Iterator<Item = [[f64; 3]; 3]> {
        let first = self.corners[0];
        self.all().windows(2).skip(1).filter_map(move |w| Some([first, *w.first()?, *w.get(1)?]))
    }

    fn range(&self, axis: usize) -> [f64; 2] {
        self.all().iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], p| {
            let v = p[axis % 3];
            [if v < low { v } else { low }, if v > high { v } else { high }]
        })
    }

    /// Area in plan, and the middle.
    fn middle(&self) -> (f64, [f64; 3]) {
        let (mut area, mut middle) = (0.0, [0.0; 3]);
        for [a, b, c] in self.fan() {
            let part = area_of([a, b, c]);
            area += part;
            middle = along(middle, [a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2]], part / 3.0);
        }
        (area, middle.map(|v| v / area))
    }

    /// Whether more than a hair of it lies over another: no side of one has all of the other outside.
    fn overlaps(&self, other: &Polygon) -> bool {
        const HAIR: f64 = 1e-5;
        let apart = |a: &Polygon, b: &Polygon| {
            let Some(&last) = a.all().last() else { return true };
            let mut from = last;
            a.all().iter().any(|&to| {
                let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
                let least = HAIR * libm::sqrt(dx * dx + dy * dy);
                let outside = |p: &[f64; 3]| dx * (p[1] - from[1]) - dy * (p[0] - from[0]) <= least;
                let apart = least > 0.0 && b.all().iter().all(outside);
                from = to;
                apart
            })
        };
        !apart(self, other) && !apart(other, self)
    }
}

/// Area of a triangle in plan; below zero from behind.
fn area_of([a, b, c]: [[f64; 3]; 3]) -> f64 {
    ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])) * 0.5
}

/// What a piece of ground adds: its area below the tyre, and products of depth and place.
#[derive(Clone, Copy, Default)]
struct Dip {
    area: f64,
    depth: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Dip {
    /// A triangle of ground with its depths at the corners. Integrals of products of linear functions are exact.
    fn add(&mut self, [a, b, c]: [[f64; 3]; 3], depth: [f64; 3], area: f64) {
        let (x, y) = ([a[0], b[0], c[0]], [a[1], b[1], c[1]]);
        let sum = |v: [f64; 3]| v[0] + v[1] + v[2];
        let times = |v: [f64; 3], w: [f64; 3]| [v[0] * w[0], v[1] * w[1], v[2] * w[2]];
        let (sd, sx, sy) = (sum(depth), sum(x), sum(y));
        let (dx, dy) = (sum(times(depth, x)), sum(times(depth, y)));
        let (part, cubic) = (area / 12.0, area / 60.0);
        self.depth += area / 3.0 * sd;
        self.x += part * (sd * sx + dx);
        self.y += part * (sd * sy + dy);
        let three = |v: [f64; 3], w: [f64; 3], sv: f64, sw: f64, dv: f64, dw: f64| {
            let vw = times(v, w);
            cubic * (sd * (sv * sw + sum(vw)) + sv * dw + sw * dv + 2.0 * sum(times(depth, vw)))
        };
        self.xx += three(x, x, sx, sx, dx, dx);
        self.xy += three(x, y, sx, sy, dx, dy);
        self.yy += three(y, y, sy, sy, dy, dy);
    }
}

/// A piece of ground: a triangle, or half a cell of a height field.
struct Piece {
    corners: [[f64; 3]; 3],
    record: usize,
    part: u32,
    attribute: u8,
    leaf: LeafKind,
    /// The word of its tile.
    tile: usize,
}

/// The ground nearest to a tyre that touches none: how deep it reaches, where, and its corners.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub depth: f64,
    pub place: [f64; 3],
    corners: [[f64; 3]; 3],
    pub ground: Ground,
}

impl Nearest {
    /// Its normal, of any length.
    pub fn normal(&self) -> [f64; 3] {
        let [x, y] = slopes(self.corners);
        [-x, -y, 1.0]
    }
}

/// Slopes of a triangle that faces up.
fn slopes([a, b, c]: [[f64; 3]; 3]) -> [f64; 2] {
    let step = |p: [f64; 3]| [p[0] - a[0], p[1] - a[1], p[2] - a[2]];
    let ([ux, uy, uz], [vx, vy, vz]) = (step(b), step(c));
    let twice = ux * vy - uy * vx;
    [(uz * vy - vz * uy) / twice, (ux * vz - vx * uz) / twice]
}

/// A strip of the tread over the plan: linear functions of a place, each a constant and its slopes.
#[derive(Clone, Copy)]
struct Strip {
    /// Forward and left on the tread.
    at: [[f64; 3]; 2],
    /// Height of the tread.
    tread: [f64; 3],
    /// How far the tyre reaches above it, along up of the wheel.
    tall: [f64; 3],
    /// Where it begins and ends, forward.
    ends: [f64; 2],
    /// Area of the tread's plane for an area in plan; zero of a strip that looks away.
    scale: f64,
}

fn linear([c, x, y]: [f64; 3], p: [f64; 3]) -> f64 {
    c + x * p[0] + y * p[1]
}

impl Strip {
    const NONE: Strip = Strip { at: [[0.0; 3]; 2], tread: [0.0; 3], tall: [0.0; 3], ends: [0.0; 2], scale: 0.0 };

    /// The strip of a number, from behind forwards.
    fn new(frame: &Frame, radius: f64, k: usize) -> Strip {
        let knot = |k: usize| {
            let (side, k) = if k < QUARTER { (-radius, QUARTER - k) } else { (radius, k - QUARTER) };
            [side * SINES[k % (QUARTER + 1)], -radius * SINES[(QUARTER - k) % (QUARTER + 1)]]
        };
        let ([x0, z0], [x1, z1]) = (knot(k), knot(k + 1));
        let rise = (z1 - z0) / (x1 - x0);
        let Frame { forward, axle, up, .. } = frame;
        // a place x, y of the wheel lies at base + x along + y axle
        let (base, way) = (up.map(|v| v * (z0 - rise * x0)), along(*forward, *up, rise));
        let det = way[0] * axle[1] - way[1] * axle[0];
        if det < 0.1 {
            return Strip::NONE;
        }
        let row = |a: f64, b: f64| [-(a * base[0] + b * base[1]) / det, a / det, b / det];
        let at = [row(axle[1], -axle[0]), row(-way[1], way[0])];
        let of = |c: f64, x: f64, y: f64| {
            [0, 1, 2].map(|i: usize| x * at[0][i % 3] + y * at[1][i % 3] + if i == 0 { c } else { 0.0 })
        };
        Strip {
            at,
            tread: of(base[2], way[2], axle[2]),
            tall: of(-2.0 * (z0 - rise * x0), -2.0 * rise, 0.0),
            ends: [x0, x1],
            scale: 1.0 / det,
        }
    }
}

/// Sums over all pieces, in 2^-[`UNIT`] of the greater of radius and width.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    pub volume: i64,
    pub first: [i64; 3],
    /// East, north, up: xx, xy, yy, xz, yz.
    pub second: [i64; 5],
    pub normal: [i64; 3],
    /// Of the tread with ground below it, within reach.
    pub area: i64,
}

/// A sum as a number.
pub(super) fn float(v: i64) -> f64 {
    v as f64 * exp2(-UNIT)
}

/// The search below one tyre.
pub(super) struct Strips<'a, 't> {
    t: &'t Terrain<'a>,
    frame: &'t Frame,
    width: f64,
    strips: [Strip; 2 * QUARTER],
    /// What lengths are divided by.
    pub scale: f64,
    /// The tread's closed box in plan: in query steps from the origin, and in metres.
    bounds: [[i64; 2]; 2],
    sides: [[f64; 2]; 2],
    /// Whether a square of it was of the image.
    pub inside: bool,
    pub sums: Sums,
    /// Triangles and half cells below the tread, and the most that there may be.
    pieces: u32,
    most: u32,
    work: u32,
    /// Whether the nearest ground is looked for alone.
    searches: bool,
    pub nearest: Option<Nearest>,
    /// How far two triangles lie from a cell of a height field at most, metres.
    pub fold: f64,
    pub log: Log<'static>,
}

impl<'a, 't> Strips<'a, 't> {
    #[allow(clippy::needless_range_loop)] // several arrays by one axis
    pub fn new(t: &'t Terrain<'a>, tyre: &Tyre, frame: &'t Frame, most: u16) -> Result<Self, ContactStatus> {
        if t.has_precedence() {
            return Err(ContactStatus::LimitReached); // they read all ground, hidden or not
        }
        let Tyre { radius, width, .. } = *tyre;
        let point = t.point(frame.centre).ok_or(ContactStatus::NotFinite)?;
        let step = exp2(FRACTION as i32 - t.header.xy_log2);
        let (mut bounds, mut sides) = ([[0; 2]; 2], [[0.0; 2]; 2]);
        for k in 0..2 {
            let half = radius * libm::fabs(frame.forward[k]) + 0.5 * width * libm::fabs(frame.axle[k]);
            let lean = -radius * frame.up[k];
            let (low, high) = if lean < 0.0 { (lean, 0.0) } else { (0.0, lean) };
            (sides[0][k], sides[1][k]) = (low - half, high + half);
            let at = [point.x, point.y][k].wrapping_sub(t.header.origin[k] << FRACTION);
            let limits = [t.header.min[k], t.header.max[k]].map(|v| i64::from(v) << FRACTION);
            bounds[0][k] = at.saturating_add((libm::floor(sides[0][k] * step) as i64).saturating_sub(1)).max(limits[0]);
            bounds[1][k] = at.saturating_add((libm::ceil(sides[1][k] * step) as i64).saturating_add(1)).min(limits[1]);
        }
        let mut strips = [Strip::NONE; 2 * QUARTER];
        strips.iter_mut().enumerate().for_each(|(k, strip)| *strip = Strip::new(frame, radius, k));
        Ok(Strips {
            t,
            frame,
            width,
            strips,
            scale: if radius > width { radius } else { width },
            bounds,
            sides,
            inside: false,
            sums: Sums::default(),
            pieces: 0,
            most: most.into(),
            work: 0,
            searches: false,
            nearest: None,
            fold: 0.0,
            log: Log::counting(),
        })
    }

    /// Looks for the ground that is nearest to the tread, after [`Strips::run`] has found none that touches.
    pub fn search(&mut self) -> Result<(), ContactStatus> {
        (self.searches, self.pieces) = (true, 0);
        self.run(&mut |_, _| {})
    }

    /// Adds up all pieces below the tread, and gives the ground of those that the tyre reaches into, with the volume.
    pub fn run(&mut self, take: &mut impl FnMut(&Ground, f64)) -> Result<(), ContactStatus> {
        let [low, high] = self.bounds;
        let (mut y, mut squares) = (low[1], 0u32);
        while y <= high[1] && low[0] <= high[0] {
            // a row is as high as the lowest of its squares
            let (mut x, mut top) = (low[0], i64::MAX);
            while x <= high[0] && squares < MAX_SQUARES {
                let (_, square) = self.square([x, y], &mut ());
                (x, top) = (square.high[0], top.min(square.high[1]));
                squares = squares.wrapping_add(1);
            }
            x = low[0];
            while x <= high[0] {
                if squares >= MAX_SQUARES {
                    return Err(ContactStatus::LimitReached);
                }
                let mut log = core::mem::take(&mut self.log);
                let (leaf, square) = self.square([x, y], &mut log);
                self.log = log;
                let region = Region { low: [x, y], high: [square.high[0], top] };
                match leaf {
                    Ok(leaf) => {
                        self.inside = true;
                        self.leaf(&leaf, &region, take)?;
                    }
                    Err(Status::Damaged) => return Err(ContactStatus::Damaged),
                    Err(Status::NoGround) => self.inside = true,
                    Err(_) => {}
                }
                x = square.high[0];
                squares = squares.wrapping_add(1);
            }
            y = top;
        }
        Ok(())
    }

    /// What the index has for a place, and the square of which it has that.
    fn square<O: Observer>(&self, q: [i64; 2], o: &mut O) -> (Result<Leaf, Status>, Region) {
        let t = self.t;
        let mut region = Region::around(q, [t.header.tile_log2; 2]);
        let p = GridPoint { x: (q[0] >> FRACTION) as i32, y: (q[1] >> FRACTION) as i32, fx: 0, fy: 0 };
        let tile = match t.tile_of(p, o) {
            Ok(tile) => tile,
            Err(status) => return (Err(status), region),
        };
        let mut node_at = tile.wrapping_add(format::ROOT);
        for _ in 0..format::MAX_DEPTH {
            let Some(node) = t.node(node_at) else { break };
            let log2 = node.entry_log2.map(u32::from);
            if log2[0] > 31 || log2[1] > 31 {
                break;
            }
            region = Region::around(q, log2);
            o.see(Trace::Node { log2: log2[0] });
            let index = node.entry_of(p.x, p.y) as usize;
            let at = tile.wrapping_add(node.entries as usize).wrapping_add(index.wrapping_mul(node.entry_words()));
            let block_at = if node.is_dense() {
                at
            } else {
                let Some(&e) = t.words.get(at) else { break };
                let to = tile.wrapping_add(entry::place(e));
                match (entry::kind(e), e) {
                    (entry::BLOCK, _) => to,
                    (entry::NODE, _) => {
                        node_at = to;
                        continue;
                    }
                    (entry::PATCH, _) => {
                        return (Ok(Leaf { tile, node: node_at, at: to, cell: Leaf::PATCH }), region);
                    }
                    (_, entry::EMPTY) => return (Err(Status::NoGround), region),
                    (_, entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD) => return (Err(Status::NotInImage), region),
                    _ => break,
                }
            };
            let Some(b) = t.block(block_at) else { break };
            if block::is_node(b[0]) {
                node_at = tile.wrapping_add(b[block::TAIL] as usize);
                continue;
            }
            let [x, y] = block::CELLS_LOG2;
            let (Some(x), Some(y)) = (log2[0].checked_sub(x), log2[1].checked_sub(y)) else { break };
            region = Region::around(q, [x, y]);
            let cell = node.cell_of(p.x, p.y) & 7;
            let home = b[cell as usize];
            let found = match word::kind(home) {
                _ if word::mask(home) != 0 => Ok(()),
                word::PATCH | word::LIST => Ok(()),
                word::EMPTY => Err(Status::NoGround),
                word::NOT_IN_IMAGE | word::NOT_UNDERSTOOD => Err(Status::NotInImage),
                _ => Err(Status::Damaged),
            };
            return (found.map(|()| Leaf { tile, node: node_at, at: block_at, cell }), region);
        }
        (Err(Status::Damaged), region)
    }

    /// All pieces of a square, and whether some lie over each other.
    fn leaf(&mut self, leaf: &Leaf, region: &Region, take: &mut impl FnMut(&Ground, f64)) -> Result<(), ContactStatus> {
        let mut wet = 0u32;
        self.each(leaf, region, true, &mut |all, piece| {
            wet = wet.wrapping_add(all.piece(piece, region, take)?.into());
            Ok(())
        })?;
        let alone = leaf.cell == Leaf::PATCH
            || self.t.block(leaf.at).is_some_and(|b| word::has_sheet(b[(leaf.cell & 7) as usize]));
        if wet < 2 || alone || self.searches { Ok(()) } else { self.compare(leaf, region) }
    }

    /// Looks for pieces of two sheets that the tyre both reaches into at one place.
    #[cold]
    #[inline(never)]
    fn compare(&mut self, leaf: &Leaf, region: &Region) -> Result<(), ContactStatus> {
        let mut first = 0u32;
        self.each(leaf, region, false, &mut |all, a| {
            first = first.wrapping_add(1);
            let below = all.below(&a.corners);
            if below.count < 3 {
                return Ok(());
            }
            let mut second = 0u32;
            let mut several = false;
            all.each(leaf, region, false, &mut |all, b| {
                second = second.wrapping_add(1);
                // cells of one field lie beside each other
                let beside = matches!(a.leaf, LeafKind::Patch) && a.record == b.record;
                if second <= first || beside {
                    return Ok(());
                }
                all.work()?;
                let other = all.below(&b.corners);
                several |= other.count >= 3 && below.overlaps(&other) && all.share(&(&below, a), &(&other, b));
                Ok(())
            })?;
            if several { Err(ContactStatus::LimitReached) } else { Ok(()) }
        })
    }

    /// Gives every piece that a square names.
    fn each(
        &mut self,
        leaf: &Leaf,
        region: &Region,
        counts: bool,
        give: &mut dyn FnMut(&mut Self, &Piece) -> Result<(), ContactStatus>,
    ) -> Result<(), ContactStatus> {
        let (t, damaged) = (self.t, ContactStatus::Damaged);
        if leaf.cell == Leaf::PATCH {
            return self.field(leaf.tile, leaf.at, region, give);
        }
        let b = t.block(leaf.at).ok_or(damaged)?;
        let cell = leaf.cell & 7;
        if counts {
            see_words(b, cell, &mut self.log);
        }
        let home = b[cell as usize];
        let (before, count) = block::further(b, cell);
        if word::is(home, word::LIST) {
            let to = t.further_word(leaf.tile, b, before).map_err(|_| damaged)?;
            let at = leaf.tile.wrapping_add(to as usize);
            let count = (*t.words.get(at).ok_or(damaged)?).min(format::MAX_WORDS);
            for i in 0..count as usize {
                let &[w, number] = t.chunk(at.wrapping_add(1 + 2 * i)).ok_or(damaged)?;
                self.word(leaf, w, number, region, counts, give)?;
            }
            return Ok(());
        }
        self.word(leaf, home, word::number(home), region, counts, give)?;
        for i in before..before.wrapping_add(count) {
            let w = t.further_word(leaf.tile, b, i).map_err(|_| damaged)?;
            self.word(leaf, w, word::number(w), region, counts, give)?;
        }
        Ok(())
    }

    fn word(
        &mut self,
        leaf: &Leaf,
        w: u32,
        number: u32,
        region: &Region,
        counts: bool,
        give: &mut dyn FnMut(&mut Self, &Piece) -> Result<(), ContactStatus>,
    ) -> Result<(), ContactStatus> {
        let (t, tile) = (self.t, leaf.tile);
        let mut mask = word::mask(w);
        if mask == 0 {
            return self.field(tile, tile.wrapping_add((number as usize).wrapping_mul(16)), region, give);
        }
        let node = t.node(leaf.node).ok_or(ContactStatus::Damaged)?;
        let record = (tile / 32).wrapping_add(node.bundles as usize).wrapping_add(number as usize);
        let words = t.bundles.get(record).ok_or(ContactStatus::Damaged)?;
        let bundle = Bundle { words, record, node };
        if counts {
            self.log.see(Trace::Leaf { record, lines: 2 });
        }
        while mask != 0 {
            let part = mask.trailing_zeros();
            mask &= mask.wrapping_sub(1);
            if counts {
                self.log.see(Trace::Test { record, part, covered: false });
            }
            let corners = bundle.corners_3d(part);
            let low = |k: usize| corners[0][k].min(corners[1][k]).min(corners[2][k]) << FRACTION;
            let high = |k: usize| corners[0][k].max(corners[1][k]).max(corners[2][k]) << FRACTION;
            if (0..2).any(|k| low(k) > self.bounds[1][k] || high(k) < self.bounds[0][k]) {
                continue;
            }
            // from the least corner on, so that its bundle does not matter
            let [a, b, c] = corners;
            let corners = if a < b && a < c {
                [a, b, c]
            } else if b < c {
                [b, c, a]
            } else {
                [c, a, b]
            };
            let corners = corners.map(|c| self.local(c.map(|v| (v << FRACTION) as f64)));
            let (leaf, attribute) = (LeafKind::Bundle, bundle.attribute());
            give(self, &Piece { corners, record, part, attribute, leaf, tile })?;
        }
        Ok(())
    }

    /// Half cells of a height field within a square.
    #[inline(never)]
    fn field(
        &mut self,
        tile: usize,
        at: usize,
        region: &Region,
        give: &mut dyn FnMut(&mut Self, &Piece) -> Result<(), ContactStatus>,
    ) -> Result<(), ContactStatus> {
        let t = self.t;
        let patch: &Patch = t.patch(at).ok_or(ContactStatus::Damaged)?;
        let spans = [0, 1].map(|k| {
            let low = self.bounds[0][k].max(region.low[k]);
            let high = self.bounds[1][k].min(region.high[k]);
            patch.cells_between(k, [low, high])
        });
        for y in spans[1][0]..spans[1][1] {
            for x in spans[0][0]..spans[0][1] {
                self.work()?;
                self.log.see(Trace::Test { record: at, part: 0, covered: true });
                let Some((block, z)) = t.corner_heights(tile, patch, [x, y]).map_err(|_| ContactStatus::Damaged)?
                else {
                    continue;
                };
                // a cell is bilinear: two triangles are a quarter of its twist from it
                let twist = z[0].wrapping_sub(z[1]).wrapping_sub(z[2]).wrapping_add(z[3]);
                let fold = libm::fabs(twist as f64) * 0.25 * exp2(t.header.z_log2 - FRACTION as i32);
                if fold > MAX_FOLD {
                    return Err(ContactStatus::LimitReached);
                }
                self.fold = if fold > self.fold { fold } else { self.fold };
                let corner = |i: u32, k: u32, z: i64| {
                    let [east, north] = [patch.border(0, x.wrapping_add(i)), patch.border(1, y.wrapping_add(k))];
                    self.local([east, north, z as f64])
                };
                let [sw, se, nw, ne] = [corner(0, 0, z[0]), corner(1, 0, z[1]), corner(0, 1, z[2]), corner(1, 1, z[3])];
                for corners in [[sw, se, ne], [sw, ne, nw]] {
                    let (leaf, attribute) = (LeafKind::Patch, patch.attribute);
                    give(self, &Piece { corners, record: at, part: block, attribute, leaf, tile })?;
                }
            }
        }
        Ok(())
    }

    fn work(&mut self) -> Result<(), ContactStatus> {
        self.work = self.work.wrapping_add(1);
        if self.work > MAX_WORK { Err(ContactStatus::LimitReached) } else { Ok(()) }
    }

    /// A place in query steps from the origin, in metres from the centre.
    fn local(&self, q: [f64; 3]) -> [f64; 3] {
        let h = self.t.header;
        let steps = [h.xy_log2, h.xy_log2, h.z_log2].map(|log2| exp2(log2 - FRACTION as i32));
        let from = |k: usize| (q[k] + (h.origin[k] << FRACTION) as f64) * steps[k] - self.frame.centre[k];
        [from(0), from(1), from(2)]
    }

    /// The part of a triangle within the tread's box and reach; of one that faces away nothing.
    fn below(&self, corners: &[[f64; 3]; 3]) -> Polygon {
        if area_of(*corners) <= 0.0 {
            return Polygon::EMPTY;
        }
        let ([[west, south], [east, north]], [above, below]) = (self.sides, self.frame.reach);
        let mut polygon = Polygon::EMPTY;
        corners.iter().for_each(|&p| polygon.push(p));
        let is_within = |[x, y, z]: &[f64; 3]| {
            *x >= west && *x <= east && *y >= south && *y <= north && *z <= above && *z >= -below
        };
        if corners.iter().all(is_within) {
            return polygon;
        }
        let polygon = polygon.cut(|p| p[0] - west).cut(|p| east - p[0]).cut(|p| p[1] - south).cut(|p| north - p[1]);
        polygon.cut(|p| above - p[2]).cut(|p| p[2] + below)
    }

    /// Each strip of the tread that lies over a polygon, from behind forwards, and its part of the polygon.
    fn each_strip(&self, polygon: &Polygon, mut give: impl FnMut(&Strip, &Polygon)) {
        let half = 0.5 * self.width;
        for strip in self.strips.iter().filter(|strip| strip.scale > 0.0) {
            let [x, y] = strip.at;
            let [x0, x1] = strip.ends;
            let [mut before, mut after, mut inside] = [true, true, true];
            for &p in polygon.all() {
                let (x, y) = (linear(x, p), linear(y, p));
                before &= x <= x0;
                after &= x >= x1;
                inside &= x >= x0 && x <= x1 && libm::fabs(y) <= half;
            }
            if before || after {
                continue;
            }
            if inside {
                give(strip, polygon);
                continue;
            }
            let part = polygon.cut(|p| linear(x, p) - x0).cut(|p| x1 - linear(x, p));
            let part = part.cut(|p| half - linear(y, p)).cut(|p| half + linear(y, p));
            if part.count > 2 {
                give(strip, &part);
            }
        }
    }

    /// How much longer than upright the depth of a piece is along up of the wheel; none if it is too steep for that.
    fn slant(&self, [x, y]: [f64; 2]) -> Option<f64> {
        let up = self.frame.up;
        let facing = up[2] - x * up[0] - y * up[1];
        let faces_up = facing >= 0.1 * libm::sqrt(1.0 + x * x + y * y);
        faces_up.then(|| 1.0 / facing)
    }

    /// Whether the tyre reaches into two pieces at one place.
    #[cold]
    #[inline(never)]
    fn share(&self, a: &(&Polygon, &Piece), b: &(&Polygon, &Piece)) -> bool {
        let mut share = false;
        if [a, b].iter().any(|(_, piece)| self.slant(slopes(piece.corners)).is_none()) {
            return false;
        }
        self.each_strip(a.0, |strip, part| {
            let wet = part.cut(|p| p[2] - linear(strip.tread, p));
            self.each_strip(b.0, |other, part| {
                if !share && other.ends[0] == strip.ends[0] {
                    let also = part.cut(|p| p[2] - linear(strip.tread, p));
                    share = wet.count > 2 && also.count > 2 && wet.overlaps(&also);
                }
            });
        });
        share
    }

    /// Adds a piece, if this square is the one that counts it; whether it may be of those that the tyre reaches into.
    fn piece(
        &mut self,
        piece: &Piece,
        region: &Region,
        take: &mut impl FnMut(&Ground, f64),
    ) -> Result<bool, ContactStatus> {
        let polygon = self.below(&piece.corners);
        if polygon.count < 3 {
            return Ok(false);
        }
        // one square has its middle; of slivers, whose middle may be beside them, nothing counts
        let (area, middle) = polygon.middle();
        let [x, y] = [polygon.range(0), polygon.range(1)].map(|[low, high]| high - low);
        let is_whole = area > exp2(self.t.header.xy_log2 - 4) * (x + y);
        if !is_whole {
            return Ok(false);
        }
        let Some(q) = self.t.point(along(self.frame.centre, middle, 1.0)) else { return Ok(false) };
        let origin = self.t.header.origin;
        let q = [q.x.wrapping_sub(origin[0] << FRACTION), q.y.wrapping_sub(origin[1] << FRACTION)];
        if !region.holds(q) {
            return Ok(true);
        }
        let [h, k] = slopes(piece.corners);
        let Some(slant) = self.slant([h, k]) else { return Ok(false) };
        let (mut dip, mut tread) = (Dip::default(), 0.0);
        let mut nearest: Option<(f64, [f64; 3])> = None;
        let searches = self.searches;
        self.each_strip(&polygon, |strip, part| {
            let depth = |p: [f64; 3]| (p[2] - linear(strip.tread, p)) * slant;
            if searches {
                for &p in part.all() {
                    if nearest.is_none_or(|(most, _)| depth(p) > most) {
                        nearest = Some((depth(p), p));
                    }
                }
                return;
            }
            tread += strip.scale * part.fan().map(area_of).fold(0.0, |sum, area| sum + area);
            let [_, most] = part.range(2);
            let lowest = part.all().iter().fold(f64::INFINITY, |least, &p| {
                let z = linear(strip.tread, p);
                if z < least { z } else { least }
            });
            if most <= lowest {
                return;
            }
            let wet = part.cut(depth);
            for corners in wet.fan() {
                let area = strip.scale * area_of(corners);
                dip.area += area;
                dip.add(corners, corners.map(depth), area);
            }
            // the tyre ends above as well
            let deeper = |p: [f64; 3]| depth(p) - linear(strip.tall, p);
            if wet.all().iter().any(|&p| deeper(p) > 0.0) {
                for corners in wet.cut(deeper).fan() {
                    dip.add(corners, corners.map(deeper), -strip.scale * area_of(corners));
                }
            }
        });
        if tread == 0.0 && nearest.is_none() {
            return Ok(false);
        }
        self.pieces = self.pieces.wrapping_add(1);
        if self.pieces > self.most {
            return Err(ContactStatus::LimitReached);
        }
        if let Some((depth, place)) = nearest {
            self.nearer(piece, depth, place);
            return Ok(false);
        }
        let s = 1.0 / self.scale;
        let fixed = |v: f64| libm::rint(v * exp2(UNIT)) as i64;
        self.sums.area = self.sums.area.wrapping_add(fixed(tread * s * s));
        let volume = fixed(dip.depth * s * s * s);
        if volume <= 0 {
            return Ok(false);
        }
        // height is linear in place, so its products follow
        let [a, b, c] = piece.corners[0];
        let g = c - h * a - k * b;
        let Dip { depth, x, y, xx, xy, yy, .. } = dip;
        let (z, xz, yz) = (g * depth + h * x + k * y, g * x + h * xx + k * xy, g * y + h * xy + k * yy);
        let s4 = s * s * s * s;
        let add = |to: &mut i64, v: f64| *to = to.wrapping_add(fixed(v));
        let sums = &mut self.sums;
        sums.volume = sums.volume.wrapping_add(volume);
        sums.first.iter_mut().zip([x, y, z]).for_each(|(to, v)| add(to, v * s4));
        sums.second.iter_mut().zip([xx, xy, yy, xz, yz]).for_each(|(to, v)| add(to, v * s4 * s));
        let wet = dip.area * s * s;
        sums.normal.iter_mut().zip([-h * wet, -k * wet, wet]).for_each(|(to, v)| add(to, v));
        take(&self.ground(piece), float(volume));
        Ok(true)
    }

    fn ground(&self, piece: &Piece) -> Ground {
        let Piece { record, part, attribute, leaf, tile, .. } = *piece;
        let format::Attribute { material, source, .. } = self.t.attribute(tile, attribute);
        let unit = tile / 32;
        let record = if leaf == LeafKind::Bundle { record.wrapping_sub(unit) } else { record.wrapping_sub(tile) };
        Ground { material, source, leaf, place: [unit.wrapping_sub(self.t.tiles_at) as u32, record as u32, part] }
    }

    /// Keeps a piece that is nearer to the tread than all before; of equal ones that of the least corners.
    fn nearer(&mut self, piece: &Piece, depth: f64, place: [f64; 3]) {
        let corners = piece.corners;
        let is_nearer = |n: &Nearest| depth > n.depth || (depth == n.depth && (corners, place) < (n.corners, n.place));
        if self.nearest.as_ref().is_none_or(is_nearer) {
            self.nearest = Some(Nearest { depth, place, corners, ground: self.ground(piece) });
        }
    }
}

/// The area of the round tread so deep in level ground: radii, and radii squared.
pub(super) fn level_area(depth: f64) -> f64 {
    let (depth, deeper) = if depth < 1.0 { (depth, 0.0) } else { (1.0, depth - 1.0) };
    let rest = 1.0 - depth;
    libm::acos(rest) - rest * libm::sqrt(depth * (2.0 - depth)) + 2.0 * deeper
}

/// The penetration into level ground, in radii, at which the tread has this area below ground, in radii squared. It is
/// found with the same strips, so level ground has no error.
pub(super) fn level_penetration(area: f64) -> f64 {
    let (mut sum, mut k) = (0.0, 0usize);
    // from below: half the tread's width and its depth at each border of a strip
    let knot = |k: usize| (SINES[k % (QUARTER + 1)], 1.0 - SINES[(QUARTER - k) % (QUARTER + 1)]);
    while k < QUARTER {
        let ((w0, d0), (w1, d1)) = (knot(k), knot(k + 1));
        let next = sum + (w0 + w1) * (d1 - d0);
        if next > area {
            // the area above the border grows by 2 w0 t + m t^2
            let (m, rest) = ((w1 - w0) / (d1 - d0), area - sum);
            return d0 + rest / (w0 + libm::sqrt(w0 * w0 + m * rest));
        }
        (sum, k) = (next, k + 1);
    }
    1.0 + (area - sum) * 0.5
}
