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

use crate::image::decode;
use crate::image::decode::{Field, TileView};
use crate::report::{Code, Finding, Hint, Quantity, Severity};
use crate::util::text::metres;
use hardpan::{Terrain, format::FRACTION};
use hashbrown::HashMap;
use rayon::prelude::*;

/// How far above or below all neighbours, metres, unless another limit is asked for.
pub const LIMIT: f64 = 3.0;
/// How many times as far as the steepest edge of the ring is high.
pub const TIMES: i64 = 5;
/// Neighbours of a spike at least.
pub const FEWEST: usize = 3;

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
}

impl Around {
    fn add(&mut self, ring: &[Vertex]) {
        for pair in ring.windows(2) {
            let [a, b] = [pair[0][2], pair[1][2]];
            self.low = self.low.min(a).min(b);
            self.high = self.high.max(a).max(b);
            self.step = self.step.max((a - b).abs());
        }
    }

    fn new(z: i64) -> Self {
        Around { z, low: i64::MAX, high: i64::MIN, step: 0 }
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
    let tiles: Vec<TileView> = decode::tiles(t).collect();
    let may_be: BTreeSet<Key> = tiles.par_iter().flat_map_iter(|tile| candidates(tile, h.tile_log2, limit)).collect();
    let mut spikes: Vec<(Key, Ring)> = rings(&tiles, h.tile_log2, &may_be).into_iter().collect();
    spikes.retain(|(_, ring)| ring.around.is_off(limit) && ring.goes_on() && ring.neighbours() >= FEWEST);
    spikes.sort_unstable_by_key(|(key, ring)| (-ring.around.height().abs(), *key));
    spikes.iter().map(|(key, ring)| finding(t, *key, ring)).collect()
}

/// What is around a vertex that is off.
struct Ring {
    around: Around,
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
fn rings(tiles: &[TileView], log2: u32, of: &BTreeSet<Key>) -> HashMap<Key, Ring> {
    let (mut rings, mut around): (HashMap<Key, Ring>, HashMap<[Key; 2], Vec<Key>>) = Default::default();
    let flat = |key: Key, [x, y, z]: Vertex| (key.0, [x, y, if key.0.is_some() { 0 } else { z }]);
    let edge = |key: Key, pair: &[Vertex]| {
        let [a, b] = [0, 1].map(|i| flat(key, pair[i]));
        [a.min(b), a.max(b)]
    };
    for tile in tiles.iter().filter(|_| !of.is_empty()) {
        fans(tile, log2, -1, |key, source, z, others| {
            if of.contains(&key) {
                let new = || Ring { around: Around::new(z), source, edges: BTreeMap::new() };
                let ring = rings.entry(key).or_insert_with(new);
                ring.around.add(others);
                ring.source = source.min(ring.source);
                for edge in others.windows(2).map(|pair| edge(key, pair)) {
                    ring.edges.insert(edge, false);
                    around.entry(edge).or_default().push(key);
                }
            }
        });
    }
    for tile in tiles.iter().filter(|_| !of.is_empty()) {
        fans(tile, log2, -1, |key, _, _, others| {
            for edge in others.windows(2).map(|pair| edge(key, pair)) {
                for vertex in around.get(&edge).into_iter().flatten().filter(|vertex| **vertex != key) {
                    rings.entry(*vertex).and_modify(|ring| _ = ring.edges.insert(edge, true));
                }
            }
        });
    }
    rings
}

fn finding(t: &Terrain, (_, [x, y, _]): Key, ring: &Ring) -> Finding {
    let (h, around) = (t.header(), &ring.around);
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

/// The vertices that are off as far as a tile knows: of a post it may not have all cells.
fn candidates(tile: &TileView, log2: u32, limit: i64) -> Vec<Key> {
    let mut all: HashMap<Key, Around> = HashMap::new();
    fans(tile, log2, limit, |key, _, z, others| all.entry(key).or_insert(Around::new(z)).add(others));
    all.into_iter().filter(|(_, around)| around.is_off(limit)).map(|(key, _)| key).collect()
}

/// Calls `see` with each corner of each triangle: what it is known by, its source, its height and the other two corners. A tile holds all
/// triangles of the vertices in it. A cell of a height field that begins in it counts as one at each post, with three other corners.
/// Only those that are higher than this, from their lowest corner to their highest.
fn fans(tile: &TileView, log2: u32, least: i64, mut see: impl FnMut(Key, u16, i64, &[Vertex])) {
    let palette = tile.palette();
    for bundle in tile.bundles() {
        let source = palette.get(usize::from(bundle.attribute())).map_or(0, |a| a.source);
        for corners in (0..bundle.triangles()).map(|i| bundle.corners(i)) {
            let fine = corners.map(|p| p.map(|v| i64::from(v) << FRACTION));
            if is_flat(&fine, least) {
                continue;
            }
            for k in 0..3 {
                if [corners[k][0] >> log2, corners[k][1] >> log2] == [tile.head.x, tile.head.y] {
                    see((None, fine[k]), source, fine[k][2], &[fine[(k + 1) % 3], fine[(k + 2) % 3]]);
                }
            }
        }
    }
    tile.raster(|field: &Field, [i, j], heights| {
        if is_flat(&heights.map(|z| [0, 0, z]), least) {
            return;
        }
        let Some(a) = palette.get(usize::from(field.patch.attribute)) else { return };
        let ([west, east], [south, north]) =
            ([i, i + 1].map(|i| field.step(0, i)), [j, j + 1].map(|j| field.step(1, j)));
        let [sw, se, nw, ne] = heights;
        let ring = [[west, south, sw], [east, south, se], [east, north, ne], [west, north, nw]];
        for k in 0..4 {
            let ([x, y, z], others) = (ring[k], [1, 2, 3].map(|n| ring[(k + n) % 4]));
            see((Some([a.material, a.source]), [x, y, 0]), a.source, z, &others);
        }
    });
}

/// Whether corners differ in height by no more than this.
fn is_flat(corners: &[Vertex], least: i64) -> bool {
    let heights = || corners.iter().map(|v| v[2]);
    heights().max().zip(heights().min()).is_none_or(|(high, low)| high - low <= least)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::options::Options;
    use crate::scene::{HeightField, Material, Scene, Triangle};

    fn found(scene: &Scene, options: &Options) -> Vec<Finding> {
        spikes(&Terrain::open(&build(scene, options).unwrap().image).unwrap(), LIMIT)
    }

    fn scene() -> Scene {
        Scene {
            positions: Vec::new(),
            triangles: Vec::new(),
            materials: vec![Material::new("a", 0.5)],
            sources: vec!["s".into()],
            ..Scene::default()
        }
    }

    #[test]
    fn by_15_posts_are_vertices() {
        // tiles of 4 m, and each post of one of them and its corners
        let options = Options { tile_log2: Some(14), ..Options::default() };
        for (i, j) in [(8, 8), (4, 8), (9, 11), (6, 7), (12, 12), (8, 5)] {
            let mut scene = scene();
            let heights = (0..17 * 17).map(|k| f64::from(k % 17) / 8.0 + f64::from(k / 17) / 16.0);
            let mut heights: Vec<f64> = heights.collect();
            heights[17 * j + i] -= 20.0;
            let (origin, pitch, tolerance) = ([0.0, 0.0], 1.0, 0.001);
            let field =
                HeightField { origin, pitch, columns: 17, rows: 17, heights, material: 0, source: 0, tolerance };
            scene.fields.push(field);
            let found = found(&scene, &options);
            assert_eq!(found.len(), 1, "({i}, {j}): {found:?}");
            let place = found[0].place.unwrap();
            assert!((place[0] - i as f64).abs() < 1e-3 && (place[1] - j as f64).abs() < 1e-3, "{place:?}");
            let height = found[0].value("height").unwrap();
            assert!((height + 20.0 - 3.0 / 16.0).abs() < 0.01, "{height}");
            assert_eq!(found[0].value("neighbours"), Some(8.0));
            assert!((found[0].value("step").unwrap() - 0.125).abs() < 0.01);
        }
    }

    #[test]
    fn by_15_the_tip_of_a_thing_is_none() {
        // a cone of its own, and the same as a part of the ground
        for wide in [false, true] {
            let mut scene = scene();
            scene.positions = vec![[0.0, 0.0, 8.0]];
            for radius in [4.0, 16.0] {
                let corners = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]];
                scene.positions.extend(corners.map(|[x, y]| [radius * x, radius * y, 1.0]));
            }
            for k in 0..4u32 {
                let [a, b] = [k, (k + 1) % 4].map(|k| k + 1);
                let all = [[0, a, b], [a, a + 4, b + 4], [a, b + 4, b]];
                let faces = all.into_iter().take(if wide { 3 } else { 1 });
                scene.triangles.extend(faces.map(|v| Triangle { v, material: 0, source: 0 }));
            }
            assert_eq!(found(&scene, &Options::default()).len(), usize::from(wide));
        }
    }
}
