//! Where ground ends: the edges with ground on one side alone, and which of them lie beside another.

use crate::image::decode;
use crate::image::decode::TileView;
use hardpan::Terrain;
use hashbrown::HashMap;
use rayon::prelude::*;

use super::gaps::REACH;

/// Where ground ends.
pub struct Border {
    /// Edges that one triangle alone uses.
    pub open: Vec<Edge>,
    /// Edges of several triangles, all on one side of it in plan.
    pub folds: Vec<Edge>,
}

/// An edge with ground on one side in plan.
pub struct Edge {
    /// Lattice steps from the origin.
    pub ends: Ends,
    /// Metres, in plan.
    pub plan: [[f64; 2]; 2],
    /// Heights of its ends, metres.
    pub z: [f64; 2],
    /// In plan to its right or left, away from its triangles, of length 1.
    pub away: [f64; 2],
}

/// Length in plan.
pub fn span([a, b]: [[f64; 2]; 2]) -> f64 {
    let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
    (dx * dx + dy * dy).sqrt()
}

impl Border {
    pub fn of(t: &Terrain) -> Self {
        Self::new(t, Ending::of(t))
    }

    pub fn new(t: &Terrain, Ending(mut ends): Ending) -> Self {
        let h = t.header();
        let [step, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2)));
        ends.par_sort_unstable_by_key(|(ends, _)| *ends);
        let metres = |p: [i32; 3]| [0, 1].map(|i| (h.origin[i] + i64::from(p[i])) as f64 * step);
        let edge = |ends: Ends, left: bool| {
            let z = ends.map(|p| (h.origin[2] + i64::from(p[2])) as f64 * rise);
            let plan = ends.map(metres);
            let ([a, b], length) = (plan, span(plan));
            let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
            let away = if left { [dy, -dx] } else { [-dy, dx] }.map(|v| if length > 0.0 { v / length } else { 0.0 });
            Edge { ends, plan, z, away }
        };
        let (mut open, mut folds) = (Vec::new(), Vec::new());
        for (ends, users) in ends {
            if users.several { &mut folds } else { &mut open }.push(edge(ends, users.left));
        }
        Border { open, folds }
    }
}

/// The edges of a [`Border`], in no order.
pub struct Ending(Vec<(Ends, Users)>);

impl Ending {
    pub fn of(t: &Terrain) -> Self {
        let log2 = t.header().tile_log2;
        let tiles: Vec<TileView> = decode::tiles(t).collect();
        Ending(tiles.par_iter().flat_map_iter(|t| ends(t, log2)).collect())
    }

    /// How many of them are open.
    pub fn open(&self) -> u64 {
        self.0.iter().filter(|(_, users)| !users.several).count() as u64
    }
}

/// Which triangles use an edge.
#[derive(Clone, Copy)]
struct Users {
    /// The third corner of one of them.
    third: [i32; 3],
    /// Whether there are others.
    several: bool,
    /// Whether some lie to its left, and to its right, in plan.
    left: bool,
    right: bool,
}

/// The ends of an edge, the least first, lattice steps from the origin.
type Ends = [[i32; 3]; 2];

/// Of the edges whose least end is in a tile, those at which ground ends, in no order: the tile holds all that meet there.
fn ends(tile: &TileView, log2: u32) -> Vec<(Ends, Users)> {
    let here = |p: [i32; 3]| [p[0] >> log2, p[1] >> log2] == [tile.head.x, tile.head.y];
    let triangles: usize = tile.bundles().map(|bundle| bundle.triangles()).sum();
    let mut edges: HashMap<Ends, Users> = HashMap::with_capacity(3 * triangles / 2);
    for bundle in tile.bundles() {
        for [a, b, c] in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            for [p, q, third] in [[a, b, c], [b, c, a], [c, a, b]] {
                let left = p < q; // triangles turn to the left
                let ends = if left { [p, q] } else { [q, p] };
                if here(ends[0]) {
                    let known = edges.entry(ends).or_insert(Users { third, several: false, left, right: !left });
                    // several leaves may hold a triangle
                    known.several |= known.third != third;
                    (known.left, known.right) = (known.left | left, known.right | !left);
                }
            }
        }
    }
    edges.into_iter().filter(|(_, users)| !(users.left && users.right)).collect()
}

impl Edge {
    /// The part of another edge that lies beside it on the side where there is no ground, so far away at most and near its height: how
    /// far away from it and how far along it the part's ends are.
    fn seen(&self, other: &Edge, most: f64, hair: f64) -> Option<[[f64; 2]; 2]> {
        let ([[x, y], [bx, by]], [ax, ay], length) = (self.plan, self.away, span(self.plan));
        let [ux, uy, uz] = [bx - x, by - y, self.z[1] - self.z[0]].map(|v| if length > 0.0 { v / length } else { 0.0 });
        let [a, b] = [0, 1].map(|i| {
            let [px, py] = other.plan[i];
            let along = (px - x) * ux + (py - y) * uy;
            [(px - x) * ax + (py - y) * ay, along, other.z[i] - self.z[0] - along * uz]
        });
        // ground behind it may be steep
        let rise = most + 2.0 * REACH;
        let (mut from, mut to) = (0.0f64, 1.0f64);
        for (i, [low, high]) in [[-hair, most + hair], [-hair, length + hair], [-rise, rise]].into_iter().enumerate() {
            let run = b[i] - a[i];
            if run != 0.0 {
                let [p, q] = [low, high].map(|v| (v - a[i]) / run);
                (from, to) = (from.max(p.min(q)), to.min(p.max(q)));
            } else if !(low..=high).contains(&a[i]) {
                return None;
            }
        }
        (from <= to).then(|| [from, to].map(|share| [0, 1].map(|i| a[i] + (b[i] - a[i]) * share)))
    }

    /// A place on it, at a share of its length.
    pub fn on(&self, share: f64) -> [f64; 3] {
        let [a, b] = self.plan;
        let between = |a: f64, b: f64| a + (b - a) * share;
        [between(a[0], b[0]), between(a[1], b[1]), between(self.z[0], self.z[1])]
    }

    /// Its part from one share of its length to another, in plan.
    pub fn part(&self, shares: [f64; 2]) -> [[f64; 2]; 2] {
        shares.map(|share| self.on(share)).map(|[x, y, _]| [x, y])
    }
}

/// How far away the first of some edges is, or less by a little, from a place so far along one that sees them.
pub fn first(facing: &[[[f64; 2]; 2]], place: f64, hair: f64) -> f64 {
    let nearest = |[[out, along], [other_out, other_along]]: &[[f64; 2]; 2]| {
        // the part of it that lies no more than a hair beside the way
        let (before, run) = (place - along, other_along - along);
        let (mut from, mut to) = (0.0f64, 1.0f64);
        if run.abs() > hair {
            let ends = [(before - hair) / run, (before + hair) / run];
            (from, to) = (ends[0].min(ends[1]).max(0.0), ends[0].max(ends[1]).min(1.0));
        } else if before.abs() > 2.0 * hair {
            return f64::INFINITY;
        }
        let [near, far] = [from, to].map(|share| out + (other_out - out) * share);
        if from > to || near.max(far) < -hair { f64::INFINITY } else { near.min(far) - hair }
    };
    facing.iter().map(nearest).fold(f64::INFINITY, f64::min)
}

/// Least and greatest x, y and z, metres.
struct Room([[f64; 2]; 3]);

impl Room {
    /// That of an edge, and so much more in plan and in height.
    fn of(e: &Edge, [flat, high]: [f64; 2]) -> Self {
        let [a, b] = e.plan;
        let ends = [[a[0], b[0]], [a[1], b[1]], e.z];
        let more = [flat, flat, high];
        Room([0, 1, 2].map(|i| [ends[i][0].min(ends[i][1]) - more[i], ends[i][0].max(ends[i][1]) + more[i]]))
    }

    /// Whether a place lies in it, but for so much in plan and in height.
    fn holds(&self, place: [f64; 3], [flat, high]: [f64; 2]) -> bool {
        let more = [flat, flat, high];
        (0..3).all(|i| self.0[i][0] - more[i] <= place[i] && place[i] <= self.0[i][1] + more[i])
    }

    fn meets(&self, other: &Room) -> bool {
        (0..3).all(|i| self.0[i][0] <= other.0[i][1] && other.0[i][0] <= self.0[i][1])
    }
}

/// Edges by place: each in the cells of points along it that are half a cell apart.
pub struct Lips<'a> {
    edges: Vec<&'a Edge>,
    /// Where each of them lies.
    boxes: Vec<Room>,
    /// Sides of a cell in plan and its height, metres: large enough that there are no more than a few points for each edge.
    size: [f64; 2],
    /// Which of `held` are in a cell, from one to before another.
    cells: HashMap<[i64; 3], [usize; 2]>,
    held: Vec<usize>,
}

/// Most edges about one that are looked at, some of them several times.
const AROUND: usize = 4096;

impl<'a> Lips<'a> {
    /// With cells of a size at least, of which a mean edge spans so many at most.
    pub fn new(edges: Vec<&'a Edge>, size: [f64; 2], spans: f64) -> Self {
        let sums = edges.iter().fold([0.0; 2], |[flat, high], e| [flat + span(e.plan), high + (e.z[1] - e.z[0]).abs()]);
        let size = [0, 1].map(|i| (sums[i] / spans / edges.len().max(1) as f64).max(size[i]));
        let boxes = edges.iter().map(|e| Room::of(e, [0.0; 2])).collect();
        let mut lips = Lips { edges, boxes, size, cells: HashMap::new(), held: Vec::new() };
        let places = lips.edges.par_iter().enumerate();
        let mut places: Vec<([i64; 3], usize)> =
            places.flat_map_iter(|(i, e)| lips.along(e).map(move |cell| (cell, i))).collect();
        places.par_sort_unstable();
        places.dedup();
        let mut from = 0;
        for cell in places.chunk_by(|(a, _), (b, _)| a == b) {
            lips.cells.insert(cell[0].0, [from, from + cell.len()]);
            from += cell.len();
        }
        lips.held = places.into_iter().map(|(_, i)| i).collect();
        lips
    }

    /// The edges in a cell.
    fn cell(&self, cell: &[i64; 3]) -> &[usize] {
        self.cells.get(cell).map_or(&[], |&[from, to]| &self.held[from..to])
    }

    /// The cells of points along an edge.
    fn along<'e>(&self, e: &'e Edge) -> impl Iterator<Item = [i64; 3]> + use<'e> {
        let ([flat, high], size) = ([span(e.plan), (e.z[1] - e.z[0]).abs()], self.size);
        let parts = (2.0 * (flat / size[0]).max(high / size[1])).ceil().max(1.0);
        (0..=parts as usize).map(move |k| cell(e.on(k as f64 / parts), size))
    }

    /// The edges beside one, no farther away than this, which is half a cell's side at most, as it sees them; none if they are many.
    /// And how many cells and edges were looked at.
    pub fn facing(&self, e: &Edge, most: f64, hair: f64) -> (Option<Vec<[[f64; 2]; 2]>>, u64) {
        let mut cells: Vec<[i64; 3]> = self.along(e).flat_map(about).collect();
        cells.sort_unstable();
        cells.dedup();
        let around = Room::of(e, [most + 2.0 * hair, most + 2.0 * REACH + hair]);
        let (mut near, mut many): (Vec<usize>, usize) = (Vec::new(), 0);
        for cell in cells.iter().map(|cell| self.cell(cell)) {
            many += cell.len();
            if many > AROUND {
                return (None, (cells.len() + AROUND) as u64);
            }
            near.extend(cell.iter().filter(|&&i| around.meets(&self.boxes[i])));
        }
        near.sort_unstable();
        near.dedup();
        let others = near.into_iter().map(|i| self.edges[i]).filter(|other| other.ends != e.ends);
        (Some(others.filter_map(|other| e.seen(other, most, hair)).collect()), (cells.len() + many) as u64)
    }

    /// Tells `see` the edges on which a place lies, but for so little in plan, a quarter of a cell's side at most,
    /// and at which share of their lengths. How many cells and edges were looked at.
    pub fn at(&self, place: [f64; 3], near: f64, mut see: impl FnMut(usize, f64)) -> u64 {
        let [x, y, z] = place;
        // some point of an edge that is in a cell's list is no more than a quarter of a cell from any other
        let [flat, high] = [0.26 * self.size[0] + near, 0.26 * self.size[1] + REACH];
        let [from, to] = [-1.0, 1.0].map(|s| cell([x + s * flat, y + s * flat, z + s * high], self.size));
        let levels = |column, row| (from[2]..=to[2]).map(move |level| [column, row, level]);
        let rows = |column| (from[1]..=to[1]).flat_map(move |row| levels(column, row));
        let mut looked = 0;
        let lists = (from[0]..=to[0])
            .flat_map(rows)
            .map(|cell| self.cell(&cell))
            .inspect(|list| looked += 1 + list.len() as u64);
        for &i in lists.flatten() {
            if !self.boxes[i].holds(place, [near, REACH]) {
                continue;
            }
            let e = self.edges[i];
            let ([a, b], length) = (e.plan, span(e.plan));
            let along = (x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1]);
            let share = if length > 0.0 { (along / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
            let on = e.on(share);
            if span([[x, y], [on[0], on[1]]]) <= near && (z - on[2]).abs() <= REACH {
                see(i, share);
            }
        }
        looked
    }
}

/// The cell of a place.
fn cell([x, y, z]: [f64; 3], [flat, high]: [f64; 2]) -> [i64; 3] {
    [x / flat, y / flat, z / high].map(|v| v.floor() as i64)
}

/// A cell and those around it.
fn about([column, row, level]: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..27).map(move |k| [column + k % 3 - 1, row + k / 3 % 3 - 1, level + k / 9 - 1])
}
