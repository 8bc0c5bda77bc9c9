//! Spikes: a vertex far above, or far below, all its neighbours.
//!
//! The neighbours of a vertex are the other ends of its triangles' edges. The ring around it is made of the edges of its triangles that
//! it is no end of: they join its neighbours. A vertex is a spike if
//!
//! - it lies above its highest neighbour, or below its lowest one, by more than the limit, [`LIMIT`] metres unless another is asked for;
//! - and that is more than [`TIMES`] times the height of the steepest edge of the ring, from end to end;
//! - and it has at least [`FEWEST`] neighbours: of fewer nobody can tell which of them is wrong;
//! - and ground goes on beyond the ring: other triangles have at least half of its edges. Else the vertex is the tip of a thing, as of a
//!   roof or a cone.
//!
//! So a summit is none: its ring is about as steep as its sides. A post of a height field counts as a vertex with eight neighbours, or
//! fewer beside posts without height.
//!
//! Not found: two neighbours that are both off, alike; a vertex that lies off in plan alone; a vertex with triangles that were left
//! out of the image, as steep ones may be, if none is left.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    finding::{Code, Finding, Hint, Quantity, Severity},
    names::metres,
    read::{self, Field, TileView},
};
use hardpan::{Terrain, format::FRACTION};
use hashbrown::HashMap;
use rayon::prelude::*;

/// How far above or below all neighbours, metres, unless another limit is asked for.
pub const LIMIT: f64 = 3.0;
/// How many times as far as the steepest edge of the ring is high.
pub const TIMES: i64 = 5;
/// Neighbours of a spike at least.
pub const FEWEST: usize = 3;

/// Cells around a post.
const CELLS: u32 = 4;

/// What a vertex is known by: its field, if it is a post, and its place in query steps from the origin; that of a post is in plan only.
type Key = (Option<[u16; 2]>, [i64; 3]);

/// A vertex in query steps from the origin.
type Vertex = [i64; 3];

/// What is known of the neighbours of a vertex; heights in query steps from the origin.
#[derive(Clone, Copy)]
struct Around {
    /// Its own height.
    z: i64,
    low: i64,
    high: i64,
    /// The height of the steepest edge of the ring.
    step: i64,
    /// How often triangles or cells at it were seen.
    seen: u32,
}

impl Around {
    fn add(&mut self, ring: &[Vertex]) {
        for pair in ring.windows(2) {
            let [a, b] = [pair[0][2], pair[1][2]];
            self.low = self.low.min(a).min(b);
            self.high = self.high.max(a).max(b);
            self.step = self.step.max((a - b).abs());
        }
        self.seen += 1;
    }

    fn join(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.step = self.step.max(other.step);
    }

    /// How far it lies above all neighbours, or below all of them, which is less than zero; or zero.
    fn height(&self) -> i64 {
        (self.z - self.high).max(0) + (self.z - self.low).min(0)
    }

    /// Whether it lies off by more than this.
    fn is_off(&self, limit: i64) -> bool {
        self.height().abs() > limit.max(TIMES * self.step)
    }
}

/// The spikes of more than so many metres, the highest and deepest first.
pub fn spikes(t: &Terrain, limit: f64) -> Vec<Finding> {
    let h = t.header();
    let rise = f64::exp2(f64::from(h.z_log2) - f64::from(FRACTION));
    let limit = (limit / rise) as i64;
    let tiles: Vec<TileView> = read::tiles(t).collect();
    let of_tiles: Vec<Vec<(Key, Around)>> = tiles.par_iter().map(|tile| candidates(tile, h.tile_log2, limit)).collect();
    let mut all: HashMap<Key, Around> = HashMap::new();
    for (key, around) in of_tiles.into_iter().flatten() {
        all.entry(key).and_modify(|known| known.join(&around)).or_insert(around);
    }
    all.retain(|_, around| around.is_off(limit));
    let mut spikes: Vec<(Key, Ring)> = rings(&tiles, h.tile_log2, &all).into_iter().collect();
    spikes.retain(|(_, ring)| ring.goes_on() && ring.neighbours() >= FEWEST);
    spikes.sort_unstable_by_key(|(key, _)| (-all[key].height().abs(), *key));
    spikes.iter().map(|(key, ring)| finding(t, *key, &all[key], ring)).collect()
}

/// What is around a vertex that is off.
struct Ring {
    /// The source of its triangles, the least of several.
    source: u16,
    /// Which of the edges other triangles have, too.
    edges: BTreeMap<[Key; 2], bool>,
}

impl Ring {
    fn neighbours(&self) -> usize {
        self.edges.keys().flatten().collect::<BTreeSet<_>>().len()
    }

    fn goes_on(&self) -> bool {
        2 * self.edges.values().filter(|shared| **shared).count() >= self.edges.len()
    }
}

/// The rings of vertices.
fn rings(tiles: &[TileView], log2: u32, of: &HashMap<Key, Around>) -> HashMap<Key, Ring> {
    let (mut rings, mut around): (HashMap<Key, Ring>, HashMap<[Key; 2], Vec<Key>>) = Default::default();
    let each = |see: &mut dyn FnMut(Key, u16, [Key; 2])| {
        for tile in tiles {
            fans(tile, log2, |key, source, _, ring| {
                let known = |[x, y, z]: Vertex| (key.0, [x, y, if key.0.is_some() { 0 } else { z }]);
                for [a, b] in ring.windows(2).map(|pair| [known(pair[0]), known(pair[1])]) {
                    see(key, source, [a.min(b), a.max(b)]);
                }
            });
        }
    };
    if of.is_empty() {
        return rings;
    }
    each(&mut |key, source, edge| {
        if of.contains_key(&key) {
            let ring = rings.entry(key).or_insert(Ring { source, edges: BTreeMap::new() });
            ring.source = source.min(ring.source);
            ring.edges.insert(edge, false);
            around.entry(edge).or_default().push(key);
        }
    });
    each(&mut |key, _, edge| {
        for vertex in around.get(&edge).into_iter().flatten().filter(|vertex| **vertex != key) {
            rings.entry(*vertex).and_modify(|ring| _ = ring.edges.insert(edge, true));
        }
    });
    rings
}

fn finding(t: &Terrain, (_, [x, y, _]): Key, around: &Around, ring: &Ring) -> Finding {
    let h = t.header();
    let [side, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2) - f64::from(FRACTION)));
    let whole = |axis: usize, v: i64, step: f64| ((h.origin[axis] << FRACTION) + v) as f64 * step;
    let place = [whole(0, x, side), whole(1, y, side), whole(2, around.z, rise)];
    let [height, step] = [around.height(), around.step].map(|v| v as f64 * rise);
    let neighbours = ring.neighbours();
    let lies = if height > 0.0 { "above" } else { "below" };
    Finding {
        code: Code::Spike,
        severity: Severity::Warning,
        subject: t.source_name(ring.source).into(),
        place: Some(place),
        values: vec![
            Quantity { name: "height", value: height, unit: "m" },
            Quantity { name: "neighbours", value: neighbours as f64, unit: "" },
            Quantity { name: "step", value: step, unit: "m" },
        ],
        text: format!("a vertex lies {} {lies} all its {neighbours} neighbours", metres(height.abs())),
        hint: Hint::Mend("move the vertex in the source, or leave it out".into()),
    }
}

/// Of a tile the vertices that are off, and the posts that have cells in other tiles, too.
fn candidates(tile: &TileView, log2: u32, limit: i64) -> Vec<(Key, Around)> {
    let mut all: HashMap<Key, Around> = HashMap::new();
    fans(tile, log2, |key, _, z, ring| {
        all.entry(key).or_insert(Around { z, low: i64::MAX, high: i64::MIN, step: 0, seen: 0 }).add(ring);
    });
    let is_part = |key: &Key, around: &Around| key.0.is_some() && around.seen < CELLS;
    let mut left: Vec<(Key, Around)> =
        all.into_iter().filter(|(key, around)| is_part(key, around) || around.is_off(limit)).collect();
    left.sort_unstable_by_key(|(key, _)| *key);
    left
}

/// Calls `see` with each corner of each triangle: what it is known by, its source, its height and the other two corners. A tile holds all
/// triangles of the vertices in it. A cell of a height field that begins in it counts as one at each post, with three other corners.
fn fans(tile: &TileView, log2: u32, mut see: impl FnMut(Key, u16, i64, &[Vertex])) {
    let palette = tile.palette();
    for bundle in tile.bundles() {
        let source = palette.get(usize::from(bundle.attribute())).map_or(0, |a| a.source);
        for corners in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            let fine = corners.map(|p| p.map(|v| i64::from(v) << FRACTION));
            for k in 0..3 {
                if [corners[k][0] >> log2, corners[k][1] >> log2] == [tile.head.x, tile.head.y] {
                    see((None, fine[k]), source, fine[k][2], &[fine[(k + 1) % 3], fine[(k + 2) % 3]]);
                }
            }
        }
    }
    tile.raster(|field: &Field, [i, j], [sw, se, nw, ne]| {
        let Some(a) = palette.get(usize::from(field.patch.attribute)) else { return };
        let ([west, east], [south, north]) =
            ([i, i + 1].map(|i| field.step(0, i)), [j, j + 1].map(|j| field.step(1, j)));
        let ring = [[west, south, sw], [east, south, se], [east, north, ne], [west, north, nw]];
        for k in 0..4 {
            let ([x, y, z], others) = (ring[k], [1, 2, 3].map(|n| ring[(k + n) % 4]));
            see((Some([a.material, a.source]), [x, y, 0]), a.source, z, &others);
        }
    });
}
