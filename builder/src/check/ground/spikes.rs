//! Spikes: a few vertices far above, or far below, the ring around them.
//!
//! Vertices hang together along edges that are no higher than the limit, [`LIMIT`] metres unless another is asked for.
//! A group is what hangs together, or several such that lie beside each other, of no more than [`MAX_VERTICES`]
//! vertices; or any number of vertices that all lie at exactly 0, or at a height that stands for no data. Its ring is
//! made of the other vertices of its triangles, and of the edges between those. A group is a spike if
//!
//! - it lies above all of its ring, or below all of it, by more than the limit;
//! - and that is more than [`TIMES`] times the height of the steepest edge of the ring, from end to end;
//! - and the ring has at least [`FEWEST`] vertices: of fewer nobody can tell which of them is wrong;
//! - and ground goes on beyond the ring: other triangles have at least half of its edges. Else the group is the tip of
//!   a thing, as of a roof or a cone.
//!
//! A post of a height field counts as a vertex with eight neighbours, or fewer beside posts without height.
//!
//! Not found: a vertex that lies off in plan alone; a vertex with triangles that were left out of the image, as steep
//! ones may be, if none is left.

use std::collections::{BTreeMap, BTreeSet};

use crate::build::source::nodata::KNOWN;
use crate::image::decode;
use crate::image::decode::{Field, TileView};
use crate::report::{Code, Finding, Quantity};
use crate::util::disjoint_set::DisjointSet;
use crate::util::text::{counted, metres};
use hardpan::{Terrain, format::FRACTION};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

/// How far above or below the ring, metres, unless another limit is asked for.
pub const LIMIT: f64 = 3.0;
/// How many times as far as the steepest edge of the ring is high.
pub const TIMES: i64 = 5;
/// Vertices of a ring at least.
pub const FEWEST: usize = 3;
/// Vertices of a group at most.
pub const MAX_VERTICES: u32 = 16;

/// Key of a vertex: its field, if it is a post, and its place in query steps from the origin; a post has a place in
/// plan only.
type Key = (Option<[u16; 2]>, [i64; 3]);

/// A vertex in query steps from the origin.
type Vertex = [i64; 3];

fn key_of(beside: Key, [x, y, z]: Vertex) -> Key {
    (beside.0, [x, y, if beside.0.is_some() { 0 } else { z }])
}

/// The vertices of tiles in which something is steep, and what hangs together.
struct Vertices {
    numbers: HashMap<Key, u32>,
    heights: Vec<i64>,
    /// Whether all triangles of a vertex are known.
    is_whole: Vec<bool>,
    links: DisjointSet,
    /// Ends of edges that are higher than the limit.
    steep: Vec<[u32; 2]>,
}

impl Vertices {
    fn of(tiles: &[TileView], log2: u32, limit: i64) -> Self {
        let (numbers, links) = (HashMap::new(), DisjointSet::default());
        let mut all = Vertices { numbers, heights: Vec::new(), is_whole: Vec::new(), links, steep: Vec::new() };
        for tile in tiles {
            fans(tile, log2, |key, _, z, others| {
                let one = all.number(key, z);
                all.is_whole[one as usize] = true;
                for other in others {
                    let two = all.number(key_of(key, *other), other[2]);
                    match (other[2] - z).abs() <= limit {
                        true => all.links.join(one, two),
                        false => all.steep.push([one, two]),
                    }
                }
            });
        }
        all
    }

    fn number(&mut self, key: Key, z: i64) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.heights.push(z);
            self.is_whole.push(false);
            self.links.add()
        })
    }

    /// Vertices that may be a spike, by the first vertex of each group; `links` joins groups.
    fn groups(&self, links: &mut DisjointSet, voids: &[i64]) -> HashMap<u32, Group> {
        let mut all: HashMap<u32, Group> = HashMap::new();
        let mut add = |i: u32, links: &mut DisjointSet| {
            let z = self.heights[i as usize];
            let group = all.entry(links.of(i)).or_insert(Group { count: 0, low: z, high: z, is_whole: true });
            group.count += 1;
            (group.low, group.high) = (group.low.min(z), group.high.max(z));
            group.is_whole &= self.is_whole[i as usize];
        };
        (0..self.heights.len() as u32).for_each(|i| add(i, links));
        let half = self.heights.len() as u32 / 2;
        let is_void = |g: &Group| g.low == g.high && voids.contains(&g.low) && g.count < half;
        all.retain(|_, group| group.is_whole && (group.count <= MAX_VERTICES || is_void(group)));
        all
    }
}

/// Vertices that hang together.
#[derive(Clone, Copy)]
struct Group {
    count: u32,
    /// Least and greatest height.
    low: i64,
    high: i64,
    is_whole: bool,
}

/// The ring around a group.
struct Ring {
    low: i64,
    high: i64,
    /// The height of the steepest edge.
    step: i64,
    /// The source of its triangles, the least of several.
    source: u16,
    vertices: BTreeSet<Key>,
    /// Which of the edges other triangles have, too.
    edges: BTreeMap<[Key; 2], bool>,
    /// The lowest and the highest vertex of the group, and their heights.
    ends: [(i64, Key); 2],
}

impl Ring {
    /// How far a group lies above all of it, or below all of it, which is less than zero; or zero.
    fn height(&self, group: &Group) -> i64 {
        (group.low - self.high).max(0) + (group.high - self.low).min(0)
    }

    fn is_around_a_spike(&self, group: &Group, limit: i64) -> bool {
        let shared = self.edges.values().filter(|shared| **shared).count();
        let goes_on = 2 * shared >= self.edges.len();
        self.height(group).abs() > limit.max(TIMES * self.step) && goes_on && self.vertices.len() >= FEWEST
    }
}

/// The spikes of more than so many metres, the highest and deepest first.
pub fn spikes(t: &Terrain, limit: f64) -> Vec<Finding> {
    let h = t.header();
    let rise = f64::exp2(f64::from(h.z_log2) - f64::from(FRACTION));
    let limit = (limit / rise) as i64;
    // exact: a height that is no step of the lattice stands for nothing
    let void = |v: f64| (v / rise) as i64 - (h.origin[2] << FRACTION);
    let voids: Vec<i64> = KNOWN.into_iter().chain([0.0]).map(void).collect();
    let tiles: Vec<TileView> = decode::tiles(t).collect();
    let is_near = |tile: &TileView| {
        let (mut steep, mut is_void) = (false, false);
        fans(tile, h.tile_log2, |_, _, z, others| {
            steep |= others.iter().any(|other| (other[2] - z).abs() > limit);
            is_void |= voids.contains(&z);
        });
        [steep, is_void]
    };
    let near: Vec<[bool; 2]> = tiles.par_iter().map(is_near).collect();
    if near.iter().all(|[steep, _]| !steep) {
        return Vec::new();
    }
    let steep = tiles.iter().zip(&near).filter(|(_, [steep, _])| *steep).map(|(tile, _)| [tile.head.x, tile.head.y]);
    let around = |[x, y]: [i32; 2]| (0..9).map(move |k| [x + k % 3 - 1, y + k / 3 - 1]);
    let wanted: HashSet<[i32; 2]> = steep.flat_map(around).collect();
    let is_wanted =
        |(tile, [_, is_void]): &(TileView, [bool; 2])| *is_void || wanted.contains(&[tile.head.x, tile.head.y]);
    let tiles: Vec<TileView> = tiles.into_iter().zip(near).filter(is_wanted).map(|(tile, _)| tile).collect();
    let mut all = Vertices::of(&tiles, h.tile_log2, limit);
    let mut links = std::mem::take(&mut all.links);
    let alone = all.groups(&mut links, &voids);
    let mut found = rings(&tiles, h.tile_log2, &all, &alone, &mut links);
    found.retain(|first, ring| ring.is_around_a_spike(&alone[first], limit));
    let mut spikes: Vec<(Group, Ring)> = Vec::new();
    let mut taken: Vec<u32> = Vec::new();
    for (first, ring) in found {
        taken.push(first);
        spikes.push((alone[&first], ring));
    }
    // those beside each other, too
    for [a, b] in std::mem::take(&mut all.steep) {
        let [a, b] = [a, b].map(|i| links.of(i));
        if [a, b].iter().all(|i| alone.get(i).is_some_and(|g| g.count <= MAX_VERTICES) && !taken.contains(i)) {
            links.join(a, b);
        }
    }
    let mut joined = all.groups(&mut links, &[]);
    joined.retain(|first, group| alone.get(first).is_none_or(|before| before.count < group.count));
    let mut found = rings(&tiles, h.tile_log2, &all, &joined, &mut links);
    found.retain(|first, ring| ring.is_around_a_spike(&joined[first], limit));
    spikes.extend(found.into_iter().map(|(first, ring)| (joined[&first], ring)));
    spikes.sort_unstable_by_key(|(group, ring)| (-ring.height(group).abs(), ring.ends));
    spikes.iter().map(|(group, ring)| finding(t, group, ring)).collect()
}

/// The rings of groups.
fn rings(
    tiles: &[TileView],
    log2: u32,
    all: &Vertices,
    groups: &HashMap<u32, Group>,
    links: &mut DisjointSet,
) -> HashMap<u32, Ring> {
    let (mut rings, mut around): (HashMap<u32, Ring>, HashMap<[Key; 2], Vec<u32>>) = Default::default();
    let mut group_of = |key: Key| all.numbers.get(&key).map(|number| links.of(*number));
    let edge = |pair: &[Key]| [pair[0].min(pair[1]), pair[0].max(pair[1])];
    for tile in tiles.iter().filter(|_| !groups.is_empty()) {
        fans(tile, log2, |key, source, z, others| {
            let Some(first) = group_of(key).filter(|first| groups.contains_key(first)) else { return };
            let ring = rings.entry(first).or_insert_with(|| Ring {
                low: i64::MAX,
                high: i64::MIN,
                step: 0,
                source,
                vertices: BTreeSet::new(),
                edges: BTreeMap::new(),
                ends: [(z, key); 2],
            });
            let others: Vec<(Key, i64, bool)> = others
                .iter()
                .map(|v| (key_of(key, *v), v[2]))
                .map(|(other, z)| (other, z, group_of(other) == Some(first)))
                .collect();
            for (other, z, _) in others.iter().filter(|(.., is_own)| !is_own) {
                (ring.low, ring.high) = (ring.low.min(*z), ring.high.max(*z));
                ring.vertices.insert(*other);
            }
            for pair in others.windows(2).filter(|pair| pair.iter().all(|(.., is_own)| !is_own)) {
                let edge = edge(&[pair[0].0, pair[1].0]);
                ring.step = ring.step.max((pair[0].1 - pair[1].1).abs());
                ring.edges.insert(edge, false);
                around.entry(edge).or_default().push(first);
            }
            ring.source = source.min(ring.source);
            let [low, high] = ring.ends;
            ring.ends = [low.min((z, key)), high.max((z, key))];
        });
    }
    for tile in tiles.iter().filter(|_| !groups.is_empty()) {
        fans(tile, log2, |key, _, _, others| {
            let others: Vec<Key> = others.iter().map(|v| key_of(key, *v)).collect();
            for edge in others.windows(2).map(edge) {
                for first in around.get(&edge).into_iter().flatten().filter(|first| group_of(key) != Some(**first)) {
                    rings.entry(*first).and_modify(|ring| _ = ring.edges.insert(edge, true));
                }
            }
        });
    }
    rings
}

fn finding(t: &Terrain, group: &Group, ring: &Ring) -> Finding {
    let h = t.header();
    let [side, rise] = [h.xy_log2, h.z_log2].map(|log2| f64::exp2(f64::from(log2) - f64::from(FRACTION)));
    let whole = |axis: usize, v: i64, step: f64| ((h.origin[axis] << FRACTION) + v) as f64 * step;
    let (z, (_, [x, y, _])) = ring.ends[usize::from(ring.height(group) > 0)];
    let place = [whole(0, x, side), whole(1, y, side), whole(2, z, rise)];
    let [height, step] = [ring.height(group), ring.step].map(|v| v as f64 * rise);
    let neighbours = ring.vertices.len();
    let lies = if height > 0.0 { "above" } else { "below" };
    let (what, verb) = (counted(group.count, "vertex"), if group.count == 1 { "lies" } else { "lie" });
    Finding {
        subject: t.source_name(ring.source).into(),
        place: Some(place),
        values: vec![
            Quantity { name: "height", value: height, unit: "m" },
            Quantity { name: "neighbours", value: neighbours as f64, unit: "" },
            Quantity { name: "step", value: step, unit: "m" },
            Quantity { name: "vertices", value: f64::from(group.count), unit: "" },
        ],
        ..Code::Spike.finding(format!("{what} {verb} {} {lies} the {neighbours} around", metres(height.abs())))
    }
}

/// Calls `see` with each corner of each triangle: what it is known by, its source, its height and the other two
/// corners. A tile holds all triangles of the vertices in it. A cell of a height field that begins in it counts as one
/// at each post, with three other corners.
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
    tile.raster(|field: &Field, [i, j], heights| {
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
            let field = HeightField {
                origin,
                pitch,
                columns: 17,
                rows: 17,
                heights,
                material: 0,
                source: 0,
                tolerance,
                ..HeightField::default()
            };
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
