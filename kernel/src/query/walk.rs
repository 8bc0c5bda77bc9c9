//! The walk of a ray over the squares of the index: directory, tiles, nodes, cells.
//!
//! Squares are half-open, and each names every triangle whose closed plan meets it. So a walk misses nothing if it
//! visits the square of every point of the ray. Where two borders are crossed at once, the axis along which the ray
//! rises comes first: then the square that owns the corner is visited.

use crate::format::rays::{RaysRecord, kind_bit, wall};
use crate::format::{self, Attribute, FRACTION, Node, block, bundle, entry, word};
use crate::hit::{LeafKind, Normal, Status};
use crate::index::see_words;
use crate::leaf::bundle::Bundle;
use crate::leaf::ray::{Meeting, Segment};
use crate::open::Terrain;
use crate::point::{GridPoint, Point};
use crate::query::ray::{FaceNormal, Kind, Ray, RayHit, RayOptions};
use crate::rays::RaysBlob;
use crate::trace::{Observer, Trace};

/// Lengths in query steps along an axis in plan, and in height, are below these.
pub(super) const MAX_PLAN: u64 = 1 << 31;
pub(super) const MAX_HEIGHT: u64 = 1 << 40;
/// Heights beyond this have no ground, whichever the way: they count as this.
const FAR_HEIGHT: i64 = 1 << 41;
/// Squares of one walk. An image that verifies has fewer along 2 km, unless its cells are millimetres.
const MAX_SQUARES: u32 = 1 << 20;
/// Bundles of which a walk remembers what it has tested.
const SLOTS: usize = 8;
/// A quotient of f64 is off by less: behind the best by this nothing is nearer.
const HAIR: f64 = 1e-9;

/// Why a walk ended.
#[derive(Clone, Copy)]
pub(super) enum Stop {
    /// At the ray's end, or behind the best.
    End,
    /// At a damaged square, which the ray enters there.
    Damaged(f64),
    /// By the limit: all before was searched.
    Limit(f64),
}

/// The surface that is first so far.
#[derive(Clone, Copy)]
struct Best<'a> {
    t: f64,
    back: bool,
    kind: Kind,
    tile: usize,
    /// The tile, or what stands beside it: the word at which palette and bundles are counted.
    pool: usize,
    record: usize,
    part: u32,
    attribute: u8,
    from: From<'a>,
}

/// Where its plane comes from.
#[derive(Clone, Copy)]
enum From<'a> {
    Triangle(&'a Node),
    Field(Normal),
}

/// A square of the plan in query steps from the origin: low and high corner.
#[derive(Clone, Copy)]
struct Square {
    low: [i64; 2],
    high: [i64; 2],
}

/// What a square of the index holds.
enum Content {
    Empty,
    Unknown,
    Damaged,
    /// The word of a patch record.
    Patch(usize),
    Block {
        node: usize,
        at: usize,
        cell_log2: [u32; 2],
    },
}

/// A tile on the way.
#[derive(Clone, Copy)]
struct Stand {
    tile: usize,
    /// Its south-western corner.
    corner: [i64; 2],
    /// What RAYS has beside it.
    beside: Option<RaysBlob>,
}

/// A block on the way.
#[derive(Clone, Copy)]
struct Place<'a> {
    stand: Stand,
    node: &'a Node,
    words: &'a [u32; block::WORDS],
    /// What RAYS has beside it.
    beside: Option<&'a RaysRecord>,
}

/// A ray on its way.
pub(super) struct Walk<'a, 't, O> {
    t: &'t Terrain<'a>,
    s: Segment,
    options: &'t RayOptions,
    o: &'t mut O,
    best: Option<Best<'a>>,
    /// The part of the way behind which nothing is nearer than the best.
    most: f64,
    /// Bundles, and of each the triangles that were tested: in the low 16 bits.
    tested: [u64; SLOTS],
    tests: u32,
    /// The part of the way at which it first comes where the image covers nothing.
    pub unknown: f64,
    /// The patch that was last passed through.
    field: usize,
    /// Bits of the kinds that it sees.
    kinds: u32,
    /// Height of the start and way up, in lattice steps.
    rise: [f64; 2],
    /// The closed box in plan of all that it can meet.
    bounds: [[i64; 2]; 2],
}

impl<'a, 't, O: Observer> Walk<'a, 't, O> {
    /// A walk along a ray; none if it comes nowhere near the image.
    #[inline(always)]
    pub fn new(t: &'t Terrain<'a>, ray: &Ray, d: [i64; 3], options: &'t RayOptions, o: &'t mut O) -> Option<Self> {
        let Point { x, y, z } = ray.from;
        let origin = t.header.origin.map(|v| v << FRACTION);
        let p = [
            x.checked_sub(origin[0])?,
            y.checked_sub(origin[1])?,
            z.saturating_sub(origin[2]).clamp(-FAR_HEIGHT, FAR_HEIGHT),
        ];
        let kinds = if options.kinds.0 == 0 { t.kinds().0 } else { options.kinds.0 };
        let bounds = bounds(t, kinds);
        for axis in 0..2 {
            let end = p[axis].saturating_add(d[axis]);
            if p[axis].max(end) < bounds[0][axis] || p[axis].min(end) > bounds[1][axis] {
                return None;
            }
        }
        Some(Walk {
            t,
            s: Segment { p, d },
            options,
            o,
            best: None,
            most: f64::INFINITY,
            tested: [u64::MAX; SLOTS],
            tests: 0,
            unknown: f64::INFINITY,
            field: usize::MAX,
            kinds,
            rise: [p[2] as f64 / 256.0, d[2] as f64 / 256.0],
            bounds,
        })
    }

    /// From square to square to the end.
    pub fn run(&mut self) -> Stop {
        let ([px, py, _], [dx, dy, _]) = (self.s.p, self.s.d);
        let (east, north) = (dx > 0, dy > 0);
        // an axis along which nothing happens is never stepped along
        let (ax, ay) = (dx.abs().max(1), dy.abs().max(1));
        let (part_x, part_y) = (1.0 / ax as f64, 1.0 / ay as f64);
        // crossings of borders are compared as products; one beyond the end is later than all
        let crossing =
            |d: i64, u: i64, a: i64, other: i64| if d == 0 || u > a { i64::MAX } else { u.wrapping_mul(other) };
        let log2 = self.t.header.tile_log2.wrapping_add(FRACTION);
        let (mut qx, mut qy) = (px, py);
        let mut tile_at = [i64::MAX; 2];
        let mut tile = Err(Status::NoGround);
        let mut t_in = 0.0f64;
        for _ in 0..MAX_SQUARES {
            let at = [qx >> log2, qy >> log2];
            if at != tile_at {
                if let Some(square) = self.outside([qx, qy]) {
                    self.unknown(t_in);
                    let Some(q) = self.leave(&square, [qx, qy], &mut t_in) else { return Stop::End };
                    [qx, qy] = q;
                    continue;
                }
                tile_at = at;
                tile = self.stand([qx, qy], tile_at.map(|v| v.wrapping_shl(log2)));
            }
            let low = tile_at.map(|v| v.wrapping_shl(log2));
            let mut square = Square { low, high: low.map(|v| v.wrapping_add(1 << log2)) };
            let content = match &tile {
                Ok(stand) => self.descend(stand.tile, [qx, qy], &mut square),
                Err(Status::NoGround) => Content::Empty,
                Err(Status::Damaged) => Content::Damaged,
                Err(_) => Content::Unknown,
            };
            let stand = tile.unwrap_or(Stand { tile: 0, corner: low, beside: None });
            let Content::Block { node, at, cell_log2 } = content else {
                match content {
                    Content::Unknown => self.unknown(t_in),
                    Content::Damaged => return Stop::Damaged(t_in),
                    Content::Patch(record) => {
                        if let Err(stop) = self.patch(&stand, record, t_in) {
                            return stop;
                        }
                    }
                    _ => {}
                }
                let Some(q) = self.leave(&square, [qx, qy], &mut t_in) else { return Stop::End };
                [qx, qy] = q;
                continue;
            };
            let Some(place) = self.place(stand, node, at) else { return Stop::Damaged(t_in) };
            let [lx, ly] = cell_log2.map(|log2| log2.wrapping_add(FRACTION));
            let (mut cx, mut cy) = (qx >> lx, qy >> ly);
            // cells that are left in the block along each axis
            let mut nx = if east { 3 - (cx & 3) } else { cx & 3 };
            let mut ny = if north { 1 - (cy & 1) } else { cy & 1 };
            let mut ux = if east { ((cx + 1) << lx).wrapping_sub(px) } else { px.wrapping_sub(cx << lx) };
            let mut uy = if north { ((cy + 1) << ly).wrapping_sub(py) } else { py.wrapping_sub(cy << ly) };
            let (mut ex, mut ey) = (crossing(dx, ux, ax, ay), crossing(dy, uy, ay, ax));
            loop {
                let by_x = ex < ey || (ex == ey && east);
                let e = if by_x { ex } else { ey };
                let t_out = match e {
                    i64::MAX => 1.0,
                    _ if by_x => ux as f64 * part_x,
                    _ => uy as f64 * part_y,
                };
                let cell = ((cy & 1) << 2 | cx & 3) as u32;
                if let Err(stop) = self.cell(&place, cell, t_in, t_out) {
                    return stop;
                }
                if e == i64::MAX || t_out > self.most {
                    return Stop::End;
                }
                t_in = t_out;
                if by_x {
                    if nx == 0 {
                        qx = if east { px.wrapping_add(ux) } else { px.wrapping_sub(ux).wrapping_sub(1) };
                        let row = cy << ly;
                        qy = aside(py, dy, ux, ax).clamp(row, row | ((1 << ly) - 1));
                        break;
                    }
                    nx -= 1;
                    cx += if east { 1 } else { -1 };
                    ux = ux.wrapping_add(1 << lx);
                    ex = crossing(dx, ux, ax, ay);
                } else {
                    if ny == 0 {
                        qy = if north { py.wrapping_add(uy) } else { py.wrapping_sub(uy).wrapping_sub(1) };
                        let column = cx << lx;
                        qx = aside(px, dx, uy, ay).clamp(column, column | ((1 << lx) - 1));
                        break;
                    }
                    ny -= 1;
                    cy += if north { 1 } else { -1 };
                    uy = uy.wrapping_add(1 << ly);
                    ey = crossing(dy, uy, ay, ax);
                }
            }
        }
        Stop::Limit(t_in)
    }

    /// The part of the way at which the ray leaves the closed box of the image's bounds; infinite if it ends inside.
    pub fn leaves(&self) -> f64 {
        let mut first = f64::INFINITY;
        for axis in 0..2 {
            let [low, high] = [0, 1].map(|end| self.bounds[end][axis]);
            let (p, d) = (self.s.p[axis], self.s.d[axis]);
            let end = p.wrapping_add(d);
            let border = if end < low { low } else { high };
            if end < low || end > high {
                let t = border.wrapping_sub(p) as f64 / d as f64;
                let t = if t > 0.0 { t } else { 0.0 };
                first = if t < first { t } else { first };
            }
        }
        first
    }

    /// What only rays meet over a place, for a ray that stands upright there.
    pub fn upright(&mut self) -> Stop {
        let [x, y, _] = self.s.p;
        let log2 = self.t.header.tile_log2.wrapping_add(FRACTION);
        let corner = [x, y].map(|v| v >> log2 << log2);
        let mut square = Square { low: corner, high: corner };
        let stand = match self.stand([x, y], corner) {
            Ok(stand) => stand,
            Err(Status::Damaged) => return Stop::Damaged(0.0),
            Err(_) => return Stop::End,
        };
        match self.descend(stand.tile, [x, y], &mut square) {
            Content::Block { node, at, cell_log2: [lx, ly] } => {
                let Some(place) = self.place(stand, node, at) else { return Stop::Damaged(0.0) };
                let [cx, cy] = [x >> FRACTION >> lx & 3, y >> FRACTION >> ly & 1];
                let record = place.beside.filter(|record| record.walls != 0);
                let cell = (cy << 2 | cx) as u32;
                match record.map(|record| self.walls(&place, record, cell, 0.0, 1.0)) {
                    Some(Err(stop)) => stop,
                    _ => Stop::End,
                }
            }
            Content::Damaged => Stop::Damaged(0.0),
            _ => Stop::End,
        }
    }

    /// What lies outside the image's bounds, as a square that holds the place; none inside.
    #[cold]
    #[inline(never)]
    #[allow(clippy::needless_range_loop)] // several arrays by one axis
    fn outside(&self, q: [i64; 2]) -> Option<Square> {
        const FAR: i64 = 1 << 45;
        let mut square = Square { low: [-FAR; 2], high: [FAR; 2] };
        for axis in 0..2 {
            let [low, high] = [0, 1].map(|end| self.bounds[end][axis]);
            if q[axis] < low {
                square.high[axis] = low;
                return Some(square);
            }
            if q[axis] > high {
                square.low[axis] = high + 1;
                return Some(square);
            }
        }
        None
    }

    fn unknown(&mut self, t: f64) {
        if t < self.unknown {
            self.unknown = t;
        }
    }

    /// The place behind a square that is left at once; none if the ray ends in it, or the best lies before.
    #[inline(never)]
    fn leave(&mut self, square: &Square, q: [i64; 2], t_in: &mut f64) -> Option<[i64; 2]> {
        let (p, d) = (self.s.p, self.s.d);
        let (mut u, mut e) = ([0i64; 2], [i64::MAX; 2]);
        for i in 0..2 {
            let a = d[i].abs();
            u[i] = if d[i] > 0 { square.high[i].wrapping_sub(p[i]) } else { p[i].wrapping_sub(square.low[i]) };
            if a != 0 && u[i] <= a {
                e[i] = u[i].wrapping_mul(d[1 - i].abs().max(1));
            }
        }
        let axis = if e[0] < e[1] || (e[0] == e[1] && d[0] > 0) { 0 } else { 1 };
        if e[axis] == i64::MAX {
            return None;
        }
        let (a, other) = (d[axis].abs(), 1 - axis);
        *t_in = u[axis] as f64 / a as f64;
        if *t_in > self.most {
            return None;
        }
        let mut to = q;
        to[axis] =
            if d[axis] > 0 { p[axis].wrapping_add(u[axis]) } else { p[axis].wrapping_sub(u[axis]).wrapping_sub(1) };
        let [low, high] = [square.low[other], square.high[other].wrapping_sub(1)];
        let beside = aside(p[other], d[other], u[axis], a).max(low).min(high);
        // never back: over a border that it has crossed it stands a step ahead
        to[other] = if d[other] > 0 { beside.max(q[other]) } else { beside.min(q[other]) };
        Some(to)
    }

    /// What the index holds at a place of a tile, and the square of which it holds that.
    #[inline(always)]
    fn descend(&mut self, tile: usize, q: [i64; 2], square: &mut Square) -> Content {
        let mut node_at = tile.wrapping_add(format::ROOT);
        let [x, y] = q.map(|q| (q >> FRACTION) as i32);
        for _ in 0..format::MAX_DEPTH {
            let Some(node) = self.t.node(node_at) else { return Content::Damaged };
            let log2 = node.entry_log2.map(u32::from);
            if log2[0] > 31 || log2[1] > 31 {
                return Content::Damaged;
            }
            self.o.see(Trace::Node { log2: log2[0] });
            let [side_x, side_y] = log2.map(|log2| log2.wrapping_add(FRACTION));
            square.low = [q[0] >> side_x << side_x, q[1] >> side_y << side_y];
            square.high = [square.low[0].wrapping_add(1 << side_x), square.low[1].wrapping_add(1 << side_y)];
            let index = node.entry_of(x, y) as usize;
            let at = tile.wrapping_add(node.entries as usize).wrapping_add(index.wrapping_mul(node.entry_words()));
            let at = if node.is_dense() {
                at
            } else {
                let Some(&e) = self.t.words.get(at) else { return Content::Damaged };
                let to = tile.wrapping_add(entry::place(e));
                match (entry::kind(e), e) {
                    (entry::BLOCK, _) => to,
                    (entry::NODE, _) => {
                        node_at = to;
                        continue;
                    }
                    (entry::PATCH, _) => return Content::Patch(to),
                    (_, entry::EMPTY) => return Content::Empty,
                    (_, entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD) => return Content::Unknown,
                    _ => return Content::Damaged,
                }
            };
            let Some(b) = self.t.block(at) else { return Content::Damaged };
            if block::is_node(b[0]) {
                node_at = tile.wrapping_add(b[block::TAIL] as usize);
                continue;
            }
            let [x, y] = block::CELLS_LOG2;
            let Some(cell_log2) = log2[0].checked_sub(x).zip(log2[1].checked_sub(y)) else { return Content::Damaged };
            return Content::Block { node: node_at, at, cell_log2: [cell_log2.0, cell_log2.1] };
        }
        Content::Damaged
    }

    /// The tile of a place.
    fn stand(&mut self, q: [i64; 2], corner: [i64; 2]) -> Result<Stand, Status> {
        let place = GridPoint { x: (q[0] >> FRACTION) as i32, y: (q[1] >> FRACTION) as i32, fx: 0, fy: 0 };
        // what lies beyond the bounds of the ground may have no page
        let h = self.t.header;
        let page = [place.x, place.y].map(|v| v >> (h.tile_log2 & 31) >> (h.page_log2 & 15));
        let within = |axis: usize| (page[axis].wrapping_sub(h.page_min[axis]) as u32) < h.page_count[axis];
        if !within(0) || !within(1) {
            return Err(Status::NotInImage);
        }
        let tile = self.t.tile_of(place, self.o)?;
        let mut stand = Stand { tile, corner, beside: None };
        if self.t.rays.is_some() {
            stand.beside = self.t.rays_blob(tile);
            if stand.beside.is_none() && self.kinds != kind_bit(bundle::GROUND) {
                return Err(Status::Damaged);
            }
        }
        Ok(stand)
    }

    /// The block at a word of the image, and what stands beside it; none if it is damaged.
    #[inline(always)]
    fn place(&self, stand: Stand, node: usize, at: usize) -> Option<Place<'a>> {
        let (words, node) = (self.t.block(at)?, self.t.node(node)?);
        let beside = stand.beside.and_then(|blob| self.t.rays_record(&blob, stand.tile, node, at));
        if beside.is_none() && stand.beside.is_some() && self.kinds != kind_bit(bundle::GROUND) {
            return None;
        }
        Some(Place { stand, node, words, beside })
    }

    /// Whether the ray comes between two heights in lattice steps while it goes from one part of its way to another:
    /// surely not, or perhaps. Numbers of f64 are off by much less than the step that is allowed.
    #[inline(always)]
    fn comes_between(&self, [low, high]: [i64; 2], t_in: f64, t_out: f64) -> bool {
        let [z, dz] = self.rise;
        let t_out = if t_out < 1.0 { t_out } else { 1.0 };
        let (a, b) = (z + dz * t_in, z + dz * t_out);
        let (least, most) = if a < b { (a, b) } else { (b, a) };
        low <= high && least - 1.0 <= high as f64 && most + 1.0 >= low as f64
    }

    /// All that a cell names, in so far as its heights and the ray's meet.
    #[inline(always)]
    fn cell(&mut self, place: &Place<'a>, cell: u32, t_in: f64, t_out: f64) -> Result<(), Stop> {
        if let Some(record) = place.beside
            && record.walls != 0
            && self.kinds != kind_bit(bundle::GROUND)
        {
            self.walls(place, record, cell, t_in, t_out)?;
        }
        let culled = place.beside.is_some_and(|record| !self.comes_between(record.heights(cell), t_in, t_out));
        let home = place.words[(cell & 7) as usize];
        if word::mask(home) == 0 {
            match word::kind(home) {
                word::LIST if culled => return Ok(()),
                word::LIST => return self.list(place, cell, t_in),
                word::PATCH => {}
                word::EMPTY => return Ok(()),
                word::NOT_IN_IMAGE | word::NOT_UNDERSTOOD => {
                    self.unknown(t_in);
                    return Ok(());
                }
                _ => return Err(Stop::Damaged(t_in)),
            }
        }
        if culled || self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        see_words(place.words, cell, self.o);
        let (before, count) = block::further(place.words, cell);
        let (mut w, mut i) = (home, before);
        loop {
            self.word(place, w, word::number(w), t_in)?;
            if i == before.wrapping_add(count) {
                return Ok(());
            }
            w = self.t.further_word(place.stand.tile, place.words, i).map_err(|_| Stop::Damaged(t_in))?;
            i = i.wrapping_add(1);
        }
    }

    #[cold]
    #[inline(never)]
    fn list(&mut self, place: &Place<'a>, cell: u32, t_in: f64) -> Result<(), Stop> {
        if self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        let damaged = Stop::Damaged(t_in);
        let (tile, b) = (place.stand.tile, place.words);
        let (before, _) = block::further(b, cell);
        let to = self.t.further_word(tile, b, before).map_err(|_| damaged)?;
        let at = tile.wrapping_add(to as usize);
        let count = (*self.t.words.get(at).ok_or(damaged)?).min(format::MAX_WORDS);
        self.t.see_list(at, count, self.o);
        for i in 0..count as usize {
            let &[w, number] = self.t.chunk(at.wrapping_add(1 + 2 * i)).ok_or(damaged)?;
            self.word(place, w, number, t_in)?;
        }
        Ok(())
    }

    /// The triangles of a word that were not tested yet, or its patch.
    #[inline(always)]
    fn word(&mut self, place: &Place<'a>, w: u32, number: u32, t_in: f64) -> Result<(), Stop> {
        let tile = place.stand.tile;
        let mask = word::mask(w);
        if mask == 0 {
            return self.patch(&place.stand, tile.wrapping_add((number as usize).wrapping_mul(16)), t_in);
        }
        let record = (tile / 32).wrapping_add(place.node.bundles as usize).wrapping_add(number as usize);
        self.triangles(tile, tile, place.node, record, mask, t_in)
    }

    /// Ceilings and obstacles of a cell.
    #[inline(never)]
    fn walls(&mut self, place: &Place<'a>, record: &RaysRecord, cell: u32, t_in: f64, t_out: f64) -> Result<(), Stop> {
        let damaged = Stop::Damaged(t_in);
        let blob = place.stand.beside.ok_or(damaged)?;
        let (walls, words) = self.t.walls(&blob, record).ok_or(damaged)?;
        if !self.comes_between(walls.heights(cell), t_in, t_out) {
            return Ok(());
        }
        let [from, to] = walls.words_of(cell);
        let frame = self.t.node(blob.at.wrapping_add(format::ROOT)).ok_or(damaged)?;
        let first = (blob.at / 32).wrapping_add(frame.bundles as usize).wrapping_add(walls.first() as usize);
        self.o.see(Trace::Words {
            words: to.wrapping_sub(from) as u32,
            lines: format::lines(from.wrapping_add(10), to.wrapping_sub(from)),
        });
        for &w in words.get(from..to).ok_or(damaged)? {
            let bundle = first.wrapping_add(wall::number(w) as usize);
            self.triangles(place.stand.tile, blob.at, frame, bundle, wall::mask(w), t_in)?;
        }
        Ok(())
    }

    /// The triangles of a bundle that were not tested yet.
    #[inline(always)]
    fn triangles(
        &mut self,
        tile: usize,
        pool: usize,
        node: &'a Node,
        record: usize,
        mut mask: u32,
        t_in: f64,
    ) -> Result<(), Stop> {
        if let Some(slot) = self.tested.get_mut(record % SLOTS) {
            let named = (record as u64) << 16;
            if *slot & !u64::from(word::MASK) == named {
                mask &= !(*slot as u32);
                *slot |= u64::from(mask);
            } else {
                *slot = named | u64::from(mask);
            }
        }
        if mask == 0 {
            return Ok(());
        }
        let words = self.t.bundles.get(record).ok_or(Stop::Damaged(t_in))?;
        let bundle = Bundle { words, record, node };
        let kind = match bundle.head().kind() {
            bundle::GROUND => Kind::Ground,
            bundle::CEILING => Kind::Ceiling,
            bundle::OBSTACLE => Kind::Obstacle,
            _ => return Err(Stop::Damaged(t_in)),
        };
        if self.kinds & kind_bit(kind as u16) == 0 {
            return Ok(());
        }
        self.o.see(Trace::Leaf { record, lines: 2 });
        self.work(mask.count_ones(), t_in)?;
        if O::COUNTS {
            for part in (0..16).filter(|part| mask >> part & 1 == 1) {
                self.o.see(Trace::Test { record, part, covered: false });
            }
        }
        let s = self.s;
        bundle.meetings(mask, &s, &mut |m| self.meet(tile, pool, node, kind, &bundle, m));
        Ok(())
    }

    /// Counts work before it is done.
    #[inline(always)]
    fn work(&mut self, tests: u32, t_in: f64) -> Result<(), Stop> {
        self.tests = self.tests.saturating_add(tests);
        if self.options.limit != 0 && self.tests > self.options.limit {
            return Err(Stop::Limit(t_in));
        }
        Ok(())
    }

    /// Keeps what a line meets, if it lies on the ray and before the best.
    #[inline(always)]
    fn meet(&mut self, tile: usize, pool: usize, node: &'a Node, kind: Kind, bundle: &Bundle<'a>, m: Meeting) {
        let back = m.den > 0;
        let (num, den) = if back { (m.num, m.den) } else { (m.num.wrapping_neg(), m.den.wrapping_neg()) };
        if num < 0 || num > den {
            return;
        }
        let t = num as f64 / den as f64;
        if t > self.best.map_or(f64::INFINITY, |best| best.t) || (back && self.options.front_only) {
            return;
        }
        let (record, attribute) = (bundle.record, bundle.attribute());
        self.keep(Best { t, back, kind, tile, pool, record, part: m.part, attribute, from: From::Triangle(node) });
    }

    /// Keeps a surface that is no farther than the best, if the ray is to see it and it comes first.
    fn keep(&mut self, s: Best<'a>) {
        if self.options.after.is_some_and(|after| s.t <= after) {
            return;
        }
        if self.options.classes != 0 && !self.t.has_class(self.attribute(&s).material, self.options.classes) {
            return;
        }
        if s.kind == Kind::Ground && self.t.has_precedence() {
            let material = self.attribute(&s).material;
            if self.t.is_passed(self.at(s.t), material, self.o) {
                return;
            }
        }
        if let Some(best) = self.best
            && best.t == s.t
            && !self.comes_first(&s, &best)
        {
            return;
        }
        self.best = Some(s);
        self.most = s.t + HAIR;
    }

    /// The place of a part of the way.
    fn at(&self, t: f64) -> Point {
        let ([x, y, z], [dx, dy, dz]) = (self.s.p, self.s.d);
        let [ox, oy, oz] = self.t.header.origin.map(|v| v << FRACTION);
        let from = Point { x: x.wrapping_add(ox), y: y.wrapping_add(oy), z: z.wrapping_add(oz) };
        let to = Point { x: from.x.wrapping_add(dx), y: from.y.wrapping_add(dy), z: from.z.wrapping_add(dz) };
        Ray { from, to }.at(t)
    }

    fn attribute(&self, s: &Best<'a>) -> Attribute {
        self.t.attribute(s.pool, s.attribute)
    }

    /// Whether a surface comes before another at one place of the ray: by kind, by corners, then patches, by material
    /// and source.
    #[cold]
    #[inline(never)]
    fn comes_first(&self, s: &Best<'a>, other: &Best<'a>) -> bool {
        if s.kind != other.kind {
            return s.kind < other.kind;
        }
        let [a, b] = [s, other].map(|s| self.corners(s));
        if a != b {
            return a < b;
        }
        let pair = |s: &Best<'a>| {
            let Attribute { material, source, .. } = self.attribute(s);
            (material, source)
        };
        pair(s) < pair(other)
    }

    /// Corners from the origin, sorted; of a field those behind all.
    fn corners(&self, s: &Best<'a>) -> [[i64; 3]; 3] {
        let From::Triangle(node) = s.from else { return [[i64::MAX; 3]; 3] };
        let Some(words) = self.t.bundles.get(s.record) else { return [[i64::MAX; 3]; 3] };
        let mut corners = Bundle { words, record: s.record, node }.corners_3d(s.part);
        corners.sort_unstable();
        corners
    }

    /// A patch, unless it was the last.
    #[cold]
    #[inline(never)]
    fn patch(&mut self, stand: &Stand, at: usize, t_in: f64) -> Result<(), Stop> {
        let Stand { tile, corner, .. } = *stand;
        if at == self.field || self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        self.field = at;
        let attribute = self.t.patch(at).ok_or(Stop::Damaged(t_in))?.attribute;
        let (s, last) = (self.s, self.most);
        let mut found = None;
        let (after, front_only) = (self.options.after, self.options.front_only);
        let limit = if self.options.limit == 0 { u32::MAX } else { self.options.limit.saturating_sub(self.tests) };
        let (terrain, whole_way) = (self.t, [self.at(0.0), self.at(1.0)]);
        let material = terrain.attribute(tile, attribute).material;
        let passed_by = |t: f64| {
            let [from, to] = whole_way;
            terrain.has_precedence() && terrain.is_passed(Ray { from, to }.at(t), material, &mut ())
        };
        let passed = self.t.passages(tile, at, corner, &s, last, limit, self.o, &mut |passage| {
            let t = passage.at as f64 / 4_294_967_296.0;
            let skipped = (passage.back && front_only) || after.is_some_and(|after| t <= after) || passed_by(t);
            if !skipped {
                found = Some((t, passage));
            }
            skipped
        });
        let (work, whole) = match passed {
            Ok(passed) => passed,
            Err(_) => return Err(Stop::Damaged(t_in)),
        };
        if !whole {
            // cells of the field may lie anywhere behind
            return Err(Stop::Limit(t_in));
        }
        self.tests = self.tests.saturating_add(work);
        if let Some((t, passage)) = found
            && self.best.is_none_or(|best| t <= best.t)
        {
            self.keep(Best {
                t,
                back: passage.back,
                kind: Kind::Ground,
                tile,
                pool: tile,
                record: at,
                part: passage.block,
                attribute,
                from: From::Field(passage.normal),
            });
        }
        Ok(())
    }

    /// Whether it has met anything.
    #[inline(always)]
    pub fn has_best(&self) -> bool {
        self.best.is_some()
    }

    /// The first surface, without its place on the query grid.
    #[inline(never)]
    pub fn best(&self) -> Option<RayHit> {
        let s = self.best?;
        let Attribute { material, source, .. } = self.attribute(&s);
        let unit = s.tile / 32;
        let (leaf, record, normal) = match s.from {
            From::Triangle(node) => {
                let words = self.t.bundles.get(s.record)?;
                let corners = Bundle { words, record: s.record, node }.corners_3d(s.part);
                (LeafKind::Bundle, s.record.wrapping_sub(s.pool / 32), face_normal(corners))
            }
            From::Field(normal) => (LeafKind::Patch, s.record.wrapping_sub(s.tile), normal.into()),
        };
        Some(RayHit {
            t: s.t,
            at: Point::default(),
            normal,
            place: [unit.wrapping_sub(self.t.tiles_at) as u32, record as u32, s.part],
            material,
            source,
            kind: s.kind,
            leaf,
            back: s.back,
            at_start: s.t == 0.0,
        })
    }
}

/// The closed box in plan of the ground, and of what else a ray sees, in query steps from the origin.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // several arrays by one axis
fn bounds(t: &Terrain, kinds: u32) -> [[i64; 2]; 2] {
    let h = t.header;
    let mut bounds = [[h.min[0], h.min[1]], [h.max[0], h.max[1]]];
    if let Some(rays) = t.rays
        && kinds != kind_bit(bundle::GROUND)
        && rays.head.triangles != [0; 2]
    {
        for axis in 0..2 {
            bounds[0][axis] = bounds[0][axis].min(rays.head.min[axis]);
            bounds[1][axis] = bounds[1][axis].max(rays.head.max[axis]);
        }
    }
    bounds.map(|corner| corner.map(|v| i64::from(v) << FRACTION))
}

/// The other coordinate, rounded down, where a ray has come `u` along an axis of which its way is `a`.
#[inline(always)]
fn aside(p: i64, d: i64, u: i64, a: i64) -> i64 {
    let along = u.wrapping_mul(d.abs()) as u64;
    // `a` is above zero
    let a = a as u64;
    if d >= 0 {
        p.wrapping_add(along.checked_div(a).unwrap_or(0) as i64)
    } else {
        p.wrapping_sub(along.wrapping_add(a).wrapping_sub(1).checked_div(a).unwrap_or(0) as i64)
    }
}

/// (b - a) x (c - a), scaled down to 62 bits by a power of two where it has more.
fn face_normal([a, b, c]: [[i64; 3]; 3]) -> FaceNormal {
    let step = |to: [i64; 3]| [0, 1, 2].map(|k| i128::from(to[k].wrapping_sub(a[k])));
    let (u, v) = (step(b), step(c));
    let minor = |i: usize, k: usize| u[i].wrapping_mul(v[k]).wrapping_sub(u[k].wrapping_mul(v[i]));
    let n = [minor(1, 2), minor(2, 0), minor(0, 1)];
    let largest = n.iter().fold(0, |m: u128, v| m.max(v.unsigned_abs()));
    let shift = (128u32.wrapping_sub(largest.leading_zeros())).saturating_sub(62);
    let [x, y, z] = n.map(|v| v.wrapping_shr(shift) as i64);
    FaceNormal { x, y, z }
}
