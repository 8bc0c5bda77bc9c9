//! The walk of a ray over the squares of the index: directory, tiles, nodes, cells.
//!
//! Squares are half-open, and each names every triangle whose closed plan meets it. So a walk misses nothing if it
//! visits the square of every point of the ray. Where two borders are crossed at once, the axis along which the ray
//! rises comes first: then the square that owns the corner is visited.

use crate::format::rays::{RaysRecord, kind_bit, wall};
use crate::format::{self, Attribute, FRACTION, Node, block, bundle, entry, word};
use crate::geom::product;
use crate::hit::{LeafKind, Normal, Status};
use crate::index::see_words;
use crate::leaf::bundle::Bundle;
use crate::leaf::ray::{Meeting, Segment};
use crate::open::Terrain;
use crate::point::{GridPoint, Point};
use crate::query::ray::{FaceNormal, Kind, Ray, RayHit, RayOptions};
use crate::rays::RaysBlob;
use crate::trace::{Log, Observer, Trace};

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
/// The same of f32, in which borders are compared with the best: small cores have them.
const SINGLE_HAIR: f32 = 1e-6;

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

/// Why a square is not searched to its end.
#[derive(Clone, Copy)]
enum Halt {
    Damaged,
    Limit,
}

/// Where the ray came into a square.
#[derive(Clone, Copy)]
enum Entry {
    /// It starts there.
    Start,
    /// Over a border of a cell, so far along an axis.
    Cell(i64, usize),
    /// Over a border of a square that was left at once.
    Square(i64, usize),
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

impl Square {
    /// The square of a place, given log2 of its sides.
    fn of(q: [i64; 2], log2: [u32; 2]) -> Square {
        let low = [0, 1].map(|i| q[i] >> log2[i] << log2[i]);
        Square { low, high: [0, 1].map(|i| low[i].wrapping_add(1 << log2[i])) }
    }
}

/// What a square of the index holds.
enum Content<'a> {
    Empty,
    Unknown,
    Damaged,
    /// The word of a patch record.
    Patch(usize),
    /// The word of a block, of at least one cell.
    Block {
        node: &'a Node,
        at: usize,
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
struct Place<'a, 's> {
    stand: &'s Stand,
    node: &'a Node,
    words: &'a [u32; block::WORDS],
    /// What RAYS has beside it.
    beside: Option<&'a RaysRecord>,
}

/// A ray on its way.
pub(super) struct Walk<'a, 't, 'o> {
    t: &'t Terrain<'a>,
    s: Segment,
    options: &'t RayOptions,
    o: &'t mut Log<'o>,
    best: Option<Best<'a>>,
    /// The part of the way behind which nothing is nearer than the best.
    most: f32,
    /// Bundles, and of each the triangles that were tested: in the low 16 bits.
    tested: [u64; SLOTS],
    tests: u32,
    /// The part of the way at which it first comes where the image covers nothing.
    pub unknown: f64,
    /// The patch that was last passed through.
    field: usize,
    /// Bits of the kinds that it sees.
    kinds: u32,
    /// The part of the way that a query step along each axis takes.
    steps: [f32; 2],
    /// The way up, and how far a height on it may be off, in lattice steps.
    rise: [f32; 2],
    /// Heights of the ray where it comes into a cell and where it leaves it, above the start.
    heights: [f32; 2],
    /// The closed box in plan of all that it can meet.
    bounds: [[i64; 2]; 2],
}

impl<'a, 't, 'o> Walk<'a, 't, 'o> {
    /// A walk along a ray that sees some kinds, after so many tests; none if it comes nowhere near the image.
    #[inline(always)]
    pub fn new(
        t: &'t Terrain<'a>,
        ray: &Ray,
        d: [i64; 3],
        [kinds, tests]: [u32; 2],
        options: &'t RayOptions,
        o: &'t mut Log<'o>,
    ) -> Option<Self> {
        let Point { x, y, z } = ray.from;
        let origin = t.header.origin.map(|v| v << FRACTION);
        let p = [
            x.checked_sub(origin[0])?,
            y.checked_sub(origin[1])?,
            z.saturating_sub(origin[2]).clamp(-FAR_HEIGHT, FAR_HEIGHT),
        ];
        let (bounds, rise) = (bounds(t, kinds), d[2] as f32 * (1.0 / 256.0));
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
            most: f32::INFINITY,
            tested: [u64::MAX; SLOTS],
            tests,
            unknown: f64::INFINITY,
            field: usize::MAX,
            kinds,
            steps: [d[0], d[1]].map(|d| 1.0 / d.unsigned_abs().max(1) as u32 as f32),
            // seven roundings of 2^-24 each, the start's fraction, and what a conversion drops
            rise: [rise, (if rise < 0.0 { -rise } else { rise }) * (1.0 / 2_097_152.0) + 3.0],
            heights: [0.0; 2],
            bounds,
        })
    }

    /// From square to square to the end. An upright ray has one cell.
    #[inline(never)]
    pub fn run(&mut self) -> Stop {
        let mut entry = Entry::Start;
        match self.squares(&mut entry) {
            Ok(()) => Stop::End,
            Err(Halt::Damaged) => Stop::Damaged(self.part(entry)),
            Err(Halt::Limit) => Stop::Limit(self.part(entry)),
        }
    }

    /// The part of the way over so many query steps along an axis, at most all of it.
    #[inline(always)]
    fn way(&self, u: i64, axis: usize) -> f32 {
        // below 2^31
        u as i32 as f32 * self.steps[axis & 1]
    }

    /// The part of the way at an entry.
    #[cold]
    fn part(&self, entry: Entry) -> f64 {
        let way = |axis: usize| self.s.d[axis & 1].abs().max(1) as f64;
        match entry {
            Entry::Start => 0.0,
            Entry::Cell(u, axis) => u as f64 * (1.0 / way(axis)),
            Entry::Square(u, axis) => u as f64 / way(axis),
        }
    }

    #[inline(always)]
    fn squares(&mut self, entry: &mut Entry) -> Result<(), Halt> {
        let ([px, py, _], [dx, dy, _]) = (self.s.p, self.s.d);
        let (east, north) = (dx > 0, dy > 0);
        // an axis along which nothing happens is never stepped along
        let (ax, ay) = (dx.abs().max(1), dy.abs().max(1));
        // crossings of borders are compared as products; one beyond the end is later than all
        let crossing = |d: i64, u: i64, a: i64, other: i64| {
            if d == 0 || u > a { i64::MAX } else { product(u as isize, other as isize) }
        };
        let log2 = self.t.header.tile_log2.wrapping_add(FRACTION);
        let (mut qx, mut qy) = (px, py);
        let mut stand = Stand { tile: 0, corner: [i64::MAX; 2], beside: None };
        let mut known = Err(Status::NoGround);
        for _ in 0..MAX_SQUARES {
            let corner = [qx >> log2 << log2, qy >> log2 << log2];
            if corner != stand.corner {
                if let Some(square) = self.outside([qx, qy]) {
                    self.unknown(*entry);
                    let Some(q) = self.leave(&square, [qx, qy], entry) else { return Ok(()) };
                    [qx, qy] = q;
                    continue;
                }
                stand.corner = corner;
                known = self.stand([qx, qy], &mut stand);
            }
            let (content, sides) = match known {
                Ok(()) => self.descend(stand.tile, [qx, qy]),
                Err(Status::NoGround) => (Content::Empty, [log2; 2]),
                Err(Status::Damaged) => (Content::Damaged, [log2; 2]),
                Err(_) => (Content::Unknown, [log2; 2]),
            };
            let Content::Block { node, at } = content else {
                match content {
                    Content::Unknown => self.unknown(*entry),
                    Content::Damaged => return Err(Halt::Damaged),
                    Content::Patch(record) => self.patch(&stand, record)?,
                    _ => {}
                }
                let square = Square::of([qx, qy], sides);
                let Some(q) = self.leave(&square, [qx, qy], entry) else { return Ok(()) };
                [qx, qy] = q;
                continue;
            };
            let place = self.place(&stand, node, at).ok_or(Halt::Damaged)?;
            let [lx, ly] = [sides[0].wrapping_sub(block::CELLS_LOG2[0]), sides[1].wrapping_sub(block::CELLS_LOG2[1])];
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
                    _ if by_x => self.way(ux, 0),
                    _ => self.way(uy, 1),
                };
                self.heights = [self.heights[1], self.rise[0] * t_out];
                let cell = ((cy & 1) << 2 | cx & 3) as u32;
                self.cell(&place, cell, *entry)?;
                if e == i64::MAX || t_out > self.most {
                    return Ok(());
                }
                *entry = if by_x { Entry::Cell(ux, 0) } else { Entry::Cell(uy, 1) };
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
        Err(Halt::Limit)
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

    #[cold]
    #[inline(never)]
    fn unknown(&mut self, entry: Entry) {
        let t = self.part(entry);
        if t < self.unknown {
            self.unknown = t;
        }
    }

    /// The place behind a square that is left at once; none if the ray ends in it, or the best lies before.
    #[inline(never)]
    fn leave(&mut self, square: &Square, q: [i64; 2], entry: &mut Entry) -> Option<[i64; 2]> {
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
        *entry = Entry::Square(u[axis], axis);
        let t = self.way(u[axis], axis);
        if t > self.most {
            return None;
        }
        self.heights[1] = self.rise[0] * t;
        let mut to = q;
        to[axis] =
            if d[axis] > 0 { p[axis].wrapping_add(u[axis]) } else { p[axis].wrapping_sub(u[axis]).wrapping_sub(1) };
        let [low, high] = [square.low[other], square.high[other].wrapping_sub(1)];
        let beside = aside(p[other], d[other], u[axis], a).max(low).min(high);
        // never back: over a border that it has crossed it stands a step ahead
        to[other] = if d[other] > 0 { beside.max(q[other]) } else { beside.min(q[other]) };
        Some(to)
    }

    /// What the index holds at a place of a tile, and log2 of the sides of the square of which it holds that, in query
    /// steps.
    #[inline(always)]
    fn descend(&mut self, tile: usize, q: [i64; 2]) -> (Content<'a>, [u32; 2]) {
        let mut node_at = tile.wrapping_add(format::ROOT);
        let [x, y] = q.map(|q| (q >> FRACTION) as i32);
        for _ in 0..format::MAX_DEPTH {
            let Some(node) = self.t.node(node_at) else { break };
            let log2 = node.entry_log2.map(u32::from);
            if log2[0] > 31 || log2[1] > 31 {
                break;
            }
            self.o.see(Trace::Node { log2: log2[0] });
            let sides = log2.map(|log2| log2.wrapping_add(FRACTION));
            let index = node.entry_of(x, y) as usize;
            let at = tile.wrapping_add(node.entries as usize).wrapping_add(index.wrapping_mul(node.entry_words()));
            let at = if node.is_dense() {
                at
            } else {
                let Some(&e) = self.t.words.get(at) else { break };
                let to = tile.wrapping_add(entry::place(e));
                match (entry::kind(e), e) {
                    (entry::BLOCK, _) => to,
                    (entry::NODE, _) => {
                        node_at = to;
                        continue;
                    }
                    (entry::PATCH, _) => return (Content::Patch(to), sides),
                    (_, entry::EMPTY) => return (Content::Empty, sides),
                    (_, entry::NOT_IN_IMAGE | entry::NOT_UNDERSTOOD) => return (Content::Unknown, sides),
                    _ => break,
                }
            };
            let Some(b) = self.t.block(at) else { break };
            if block::is_node(b[0]) {
                node_at = tile.wrapping_add(b[block::TAIL] as usize);
                continue;
            }
            if log2[0] < block::CELLS_LOG2[0] || log2[1] < block::CELLS_LOG2[1] {
                break;
            }
            return (Content::Block { node, at }, sides);
        }
        (Content::Damaged, [0; 2])
    }

    /// Finds the tile of a place, and what RAYS has beside it.
    fn stand(&mut self, q: [i64; 2], stand: &mut Stand) -> Result<(), Status> {
        let place = GridPoint { x: (q[0] >> FRACTION) as i32, y: (q[1] >> FRACTION) as i32, fx: 0, fy: 0 };
        let walls = self.kinds != kind_bit(bundle::GROUND);
        if walls {
            // what lies beyond the bounds of the ground may have no page
            let h = self.t.header;
            let page = [place.x, place.y].map(|v| v >> (h.tile_log2 & 31) >> (h.page_log2 & 15));
            let within = |axis: usize| (page[axis].wrapping_sub(h.page_min[axis]) as u32) < h.page_count[axis];
            if !within(0) || !within(1) {
                return Err(Status::NotInImage);
            }
        }
        stand.tile = self.t.tile_of(place, self.o)?;
        if self.t.rays.is_some() {
            stand.beside = self.t.rays_blob(stand.tile);
            if stand.beside.is_none() && walls {
                return Err(Status::Damaged);
            }
        }
        Ok(())
    }

    /// The block at a word of the image, and what stands beside it; none if it is damaged.
    #[inline(always)]
    fn place<'s>(&self, stand: &'s Stand, node: &'a Node, at: usize) -> Option<Place<'a, 's>> {
        let words = self.t.block(at)?;
        let beside = stand.beside.as_ref().and_then(|blob| self.t.rays_record(blob, stand.tile, node, at));
        if beside.is_none() && stand.beside.is_some() && self.kinds != kind_bit(bundle::GROUND) {
            return None;
        }
        Some(Place { stand, node, words, beside })
    }

    /// Whether the ray comes between two heights in lattice steps in the cell: surely not, or perhaps.
    #[inline(always)]
    fn comes_between(&self, heights: [i64; 2]) -> bool {
        let start = self.s.p[2] >> FRACTION;
        // what is farther than this counts as this, on both sides
        let [low, high] = heights.map(|z| z.wrapping_sub(start).clamp(i32::MIN.into(), i32::MAX.into()) as i32);
        let ([a, b], off) = (self.heights, self.rise[1]);
        let (least, most) = if a < b { (a, b) } else { (b, a) };
        low <= high && (least - off) as i32 <= high && (most + off) as i32 >= low
    }

    /// All that a cell names, in so far as its heights and the ray's meet.
    #[inline(always)]
    fn cell(&mut self, place: &Place<'a, '_>, cell: u32, entry: Entry) -> Result<(), Halt> {
        if let Some(record) = place.beside
            && record.walls != 0
            && self.kinds != kind_bit(bundle::GROUND)
        {
            self.walls(place, record, cell)?;
        }
        let culled = place.beside.is_some_and(|record| !self.comes_between(record.heights(cell)));
        let home = place.words[(cell & 7) as usize];
        if word::mask(home) == 0 {
            match word::kind(home) {
                word::LIST if culled => return Ok(()),
                word::LIST => return self.list(place, cell),
                word::PATCH => {}
                word::EMPTY => return Ok(()),
                word::NOT_IN_IMAGE | word::NOT_UNDERSTOOD => {
                    self.unknown(entry);
                    return Ok(());
                }
                _ => return Err(Halt::Damaged),
            }
        }
        if culled || self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        see_words(place.words, cell, self.o);
        let (before, count) = block::further(place.words, cell);
        let (mut w, mut i) = (home, before);
        loop {
            self.word(place, w, word::number(w))?;
            if i == before.wrapping_add(count) {
                return Ok(());
            }
            w = self.t.further_word(place.stand.tile, place.words, i).map_err(|_| Halt::Damaged)?;
            i = i.wrapping_add(1);
        }
    }

    #[cold]
    #[inline(never)]
    fn list(&mut self, place: &Place<'a, '_>, cell: u32) -> Result<(), Halt> {
        if self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        let damaged = Halt::Damaged;
        let (tile, b) = (place.stand.tile, place.words);
        let (before, _) = block::further(b, cell);
        let to = self.t.further_word(tile, b, before).map_err(|_| damaged)?;
        let at = tile.wrapping_add(to as usize);
        let count = (*self.t.words.get(at).ok_or(damaged)?).min(format::MAX_WORDS);
        self.t.see_list(at, count, self.o);
        for i in 0..count as usize {
            let &[w, number] = self.t.chunk(at.wrapping_add(1 + 2 * i)).ok_or(damaged)?;
            self.word(place, w, number)?;
        }
        Ok(())
    }

    /// The triangles of a word that were not tested yet, or its patch.
    #[inline(always)]
    fn word(&mut self, place: &Place<'a, '_>, w: u32, number: u32) -> Result<(), Halt> {
        let tile = place.stand.tile;
        let mask = word::mask(w);
        if mask == 0 {
            return self.patch(place.stand, tile.wrapping_add((number as usize).wrapping_mul(16)));
        }
        let record = (tile / 32).wrapping_add(place.node.bundles as usize).wrapping_add(number as usize);
        self.triangles(tile, tile, place.node, record, mask)
    }

    /// Ceilings and obstacles of a cell.
    #[inline(never)]
    fn walls(&mut self, place: &Place<'a, '_>, record: &RaysRecord, cell: u32) -> Result<(), Halt> {
        let damaged = Halt::Damaged;
        let blob = place.stand.beside.as_ref().ok_or(damaged)?;
        let (walls, words) = self.t.walls(blob, record).ok_or(damaged)?;
        if !self.comes_between(walls.heights(cell)) {
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
            self.triangles(place.stand.tile, blob.at, frame, bundle, wall::mask(w))?;
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
    ) -> Result<(), Halt> {
        let slot = &mut self.tested[record % SLOTS];
        let named = (record as u64) << 16;
        if *slot & !u64::from(word::MASK) == named {
            mask &= !(*slot as u32);
            *slot |= u64::from(mask);
        } else {
            *slot = named | u64::from(mask);
        }
        if mask == 0 { Ok(()) } else { self.bundle([tile, pool], node, record, mask) }
    }

    #[inline(never)]
    fn bundle(&mut self, [tile, pool]: [usize; 2], node: &'a Node, record: usize, mask: u32) -> Result<(), Halt> {
        let words = self.t.bundles.get(record).ok_or(Halt::Damaged)?;
        let bundle = Bundle { words, record, node };
        let kind = bundle.head().kind();
        if self.kinds & kind_bit(kind) == 0 {
            return if kind <= bundle::OBSTACLE { Ok(()) } else { Err(Halt::Damaged) };
        }
        self.o.see(Trace::Leaf { record, lines: 2 });
        if self.options.limit != 0 {
            self.work(mask.count_ones())?;
        }
        if self.o.counts() {
            self.tell(record, mask);
        }
        let s = self.s;
        let near = bundle.near();
        // a kernel without `wide` cannot test these walls: it has no answer beyond them
        if near.is_none() && !cfg!(feature = "wide") {
            return Err(Halt::Damaged);
        }
        let mut left = match &near {
            Some(near) => near.crossed(&bundle, mask, &s),
            None => mask,
        };
        while left != 0 {
            let part = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            let met = match &near {
                Some(near) => near.meeting(&bundle, part, &s),
                None => bundle.wide_meeting(part, &s),
            };
            if let Some(met) = met {
                self.meet([tile, pool], kind, &bundle, part, met);
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn tell(&mut self, record: usize, mask: u32) {
        for part in (0..16).filter(|part| mask >> part & 1 == 1) {
            self.o.see(Trace::Test { record, part, covered: false });
        }
    }

    /// Counts work before it is done.
    #[inline(always)]
    fn work(&mut self, tests: u32) -> Result<(), Halt> {
        self.tests = self.tests.saturating_add(tests);
        if self.options.limit != 0 && self.tests > self.options.limit {
            return Err(Halt::Limit);
        }
        Ok(())
    }

    /// Keeps what a line meets, if it lies on the ray and before the best.
    #[inline(always)]
    fn meet(&mut self, [tile, pool]: [usize; 2], kind: u16, bundle: &Bundle<'a>, part: u32, m: Meeting) {
        let back = m.den > 0;
        let (num, den) = if back { (m.num, m.den) } else { (m.num.wrapping_neg(), m.den.wrapping_neg()) };
        if num < 0 || num > den {
            return;
        }
        let t = num as f64 / den as f64;
        if self.best.is_some_and(|best| t > best.t) || (back && self.options.front_only) {
            return;
        }
        let kind = match kind {
            bundle::GROUND => Kind::Ground,
            bundle::CEILING => Kind::Ceiling,
            _ => Kind::Obstacle,
        };
        let (record, attribute, from) = (bundle.record, bundle.attribute(), From::Triangle(bundle.node));
        self.keep(Best { t, back, kind, tile, pool, record, part, attribute, from });
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
        self.most = s.t as f32 + SINGLE_HAIR;
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
    fn patch(&mut self, stand: &Stand, at: usize) -> Result<(), Halt> {
        let tile = stand.tile;
        if at == self.field || self.kinds & kind_bit(bundle::GROUND) == 0 {
            return Ok(());
        }
        self.field = at;
        let attribute = self.t.patch(at).ok_or(Halt::Damaged)?.attribute;
        let (s, last) = (self.s, self.best.map_or(f64::INFINITY, |best| best.t + HAIR));
        let mut found = None;
        let (after, front_only) = (self.options.after, self.options.front_only);
        let limit = if self.options.limit == 0 { u32::MAX } else { self.options.limit.saturating_sub(self.tests) };
        let (terrain, whole_way) = (self.t, [self.at(0.0), self.at(1.0)]);
        let material = terrain.attribute(tile, attribute).material;
        let passed_by = |t: f64| {
            let [from, to] = whole_way;
            terrain.has_precedence() && terrain.is_passed(Ray { from, to }.at(t), material, &mut ())
        };
        let passed = self.t.passages(tile, at, &s, last, limit, self.o, &mut |passage| {
            let t = passage.at as f64 / 4_294_967_296.0;
            let skipped = (passage.back && front_only) || after.is_some_and(|after| t <= after) || passed_by(t);
            if !skipped {
                found = Some((t, passage));
            }
            skipped
        });
        let (work, whole) = match passed {
            Ok(passed) => passed,
            Err(_) => return Err(Halt::Damaged),
        };
        if !whole {
            // cells of the field may lie anywhere behind
            return Err(Halt::Limit);
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

    /// The part of the way up to the first surface.
    #[inline(always)]
    pub fn first(&self) -> Option<f64> {
        self.best.map(|best| best.t)
    }

    /// The first surface.
    #[inline(never)]
    pub fn best(&self, ray: &Ray) -> Option<RayHit> {
        let s = self.best?;
        let Attribute { material, source, .. } = self.attribute(&s);
        let unit = s.tile / 32;
        let (leaf, record, normal) = match s.from {
            From::Triangle(node) => {
                let words = self.t.bundles.get(s.record)?;
                let bundle = Bundle { words, record: s.record, node };
                let normal = match bundle.near_normal(s.part) {
                    Some(normal) => normal.into(),
                    None => face_normal(bundle.corners_3d(s.part)),
                };
                (LeafKind::Bundle, s.record.wrapping_sub(s.pool / 32), normal)
            }
            From::Field(normal) => (LeafKind::Patch, s.record.wrapping_sub(s.tile), normal.into()),
        };
        Some(RayHit {
            t: s.t,
            at: ray.at(s.t),
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
