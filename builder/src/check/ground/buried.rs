//! Buried roads: ground of one material that stands through ground of another.
//!
//! Looked at are the cells over which triangles of two materials lie over each other, no steeper to each other than
//! [`PARALLEL`]: what meets steeper, as walls do, is meant to cross. Parts where one material lies above the other hang
//! together along edges of triangles. Such a part counts if
//!
//! - it crosses: it comes down to one height with the other material at a triangle beyond whose edge, or in which, that
//!   lies above;
//! - and it and the part beyond the line are both more than the limit high, [`LIMIT`] metres unless another is asked
//!   for.
//!
//! Of two materials all parts that count are summed up: where either lies above by more than the limit. The material
//! that is above on less of it stands through the other. Areas of less than [`SMALL`] square metres are not told.
//!
//! Ground that other ground hides by its precedence is no fault: between the two it counts from the band on.
//!
//! Not found: ground that covers a road whole, with no line where they cross; two parts of one material; a height
//! field, which is no triangles.

use std::collections::BTreeMap;

use crate::image::decode::Stack;
use crate::report::{Code, Finding, Quantity, Severity};
use crate::util::disjoint_set::DisjointSet;
use crate::util::text::{grouped, metres, shown};
use hardpan::Terrain;
use hashbrown::HashMap;

use super::cell_triangles::{self, Lattice, Member, Polygon, Shared};
use super::hidden_by;

/// How far one stands above the other, metres, unless another limit is asked for.
pub const LIMIT: f64 = 0.01;
/// Steeper to each other nothing counts, metres a metre.
pub const PARALLEL: f64 = 1.0;
/// Less is not told, square metres.
pub const SMALL: f64 = 1.0;

/// Ground that lies above by no more than this part of the limit is at one height.
const LEVEL: f64 = 0.1;

/// Two materials, the lesser number first, and whether the first of them lies above.
type Side = ([u16; 2], bool);

/// The joint of two parts: an edge of a triangle, its least end first, lattice steps from the origin.
type Link = (Side, [[i32; 3]; 2]);

/// Ground of one material above ground of another, which hangs together.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Where it is above by more than the limit, square metres.
    area: f64,
    /// How far at most, metres.
    height: f64,
    /// A place right beside that, on the upper of the two, metres.
    at: [f64; 3],
}

impl Part {
    fn join(&mut self, other: Part) {
        let area = self.area + other.area;
        if other.height > self.height {
            *self = other;
        }
        self.area = area;
    }
}

/// The parts of a tile, or of all.
#[derive(Default)]
struct Ground {
    /// For each link its number, and whether ground at it is at one height.
    numbers: HashMap<Link, (u32, bool)>,
    links: DisjointSet,
    parts: Vec<(Side, Part)>,
    /// Which of them cross.
    crossings: Vec<[u32; 2]>,
}

impl Ground {
    /// All links hang together.
    fn joined(&mut self, links: impl Iterator<Item = Link>, level: bool) -> Option<u32> {
        links.fold(None, |first, link| {
            let new = || {
                self.parts.push((link.0, Part::default()));
                (self.links.add(), false)
            };
            let (number, is_level) = self.numbers.entry(link).or_insert_with(new);
            *is_level |= level;
            self.links.join(first.unwrap_or(*number), *number);
            first.or(Some(*number))
        })
    }

    /// Finds for each number the first of its part, which has all of it.
    fn gather(&mut self) {
        for i in 0..self.parts.len() {
            let first = self.links.of(i as u32) as usize;
            if first != i {
                let part = std::mem::take(&mut self.parts[i].1);
                self.parts[first].1.join(part);
            }
        }
        for (&((pair, above), edge), &(number, level)) in &self.numbers {
            if let Some(&(other, true)) = self.numbers.get(&((pair, !above), edge)).filter(|_| level && above) {
                self.crossings.push([number, other]);
            }
        }
        for pair in &mut self.crossings {
            *pair = pair.map(|i| self.links.of(i));
        }
        self.crossings.sort_unstable();
        self.crossings.dedup();
    }
}

/// Parts of a tile, as far as other tiles need them.
struct OfTile {
    parts: Vec<(Side, Part)>,
    /// Those edges that other tiles may know, too, with the number of their part, and whether ground at them is at one
    /// height.
    beyond: Vec<(Link, (u32, bool))>,
    crossings: Vec<[u32; 2]>,
}

/// Ground that stands through other ground by more than so much, metres, largest area first. An error says why the
/// analysis could not run.
pub fn buried(t: &Terrain, limit: f64) -> Result<Vec<Finding>, String> {
    let look = Look { t, lattice: Lattice::of(t), tile_log2: t.header().tile_log2, limit };
    let see = |ground: &mut (Ground, [i32; 2]), cell: &Stack, pair: [&Member; 2]| {
        ground.1 = cell.low.map(|v| (v >> look.tile_log2) as i32);
        look.see(&mut ground.0, cell, pair);
    };
    let of_tiles =
        cell_triangles::pairs(t, f64::INFINITY, |a, b| a == b, see, |(ground, tile)| look.of_tile(ground, tile));
    let of_tiles = of_tiles
        .ok_or("triangles of several materials lie so crowded that nobody looked which of them stand through others")?;
    let mut all = Ground::default();
    for tile in of_tiles {
        let first = all.parts.len() as u32;
        tile.parts.iter().for_each(|_| _ = all.links.add());
        all.parts.extend(tile.parts);
        all.crossings.extend(tile.crossings.into_iter().map(|pair| pair.map(|i| i + first)));
        for (link, (part, level)) in tile.beyond {
            let known = all.numbers.entry(link).or_insert((part + first, level));
            known.1 |= level;
            all.links.join(known.0, part + first);
        }
    }
    all.gather();
    let counts = |pair: &[u32; 2]| pair.iter().all(|&i| all.parts[i as usize].1.height > limit);
    let mut counted: Vec<u32> = all.crossings.iter().copied().filter(counts).flatten().collect();
    counted.sort_unstable();
    counted.dedup();
    let mut sums: BTreeMap<[u16; 2], [Part; 2]> = BTreeMap::new();
    for ((pair, above), part) in counted.into_iter().map(|i| all.parts[i as usize]) {
        sums.entry(pair).or_default()[usize::from(!above)].join(part);
    }
    let mut through: Vec<([u16; 2], [Part; 2])> = sums
        .into_iter()
        .map(|([a, b], [p, q])| if p.area <= q.area { ([a, b], [p, q]) } else { ([b, a], [q, p]) })
        .filter(|(_, parts)| parts[0].area >= SMALL)
        .collect();
    through.sort_by(|(_, a), (_, b)| b[0].area.total_cmp(&a[0].area)); // stable
    Ok(through.into_iter().map(|(materials, parts)| finding(t, materials, parts)).collect())
}

fn finding(t: &Terrain, materials: [u16; 2], [through, below]: [Part; 2]) -> Finding {
    let [upper, lower] = materials.map(|m| shown(t.material_name(m)));
    let [area, beside] = [through, below].map(|p| grouped(p.area.round() as u64));
    let high = metres(through.height);
    Finding {
        code: Code::BuriedRoad,
        severity: Severity::Warning,
        subject: upper.clone(),
        place: Some(through.at),
        values: vec![
            Quantity { name: "area", value: through.area, unit: "m2" },
            Quantity { name: "height", value: through.height, unit: "m" },
            Quantity { name: "below", value: below.area, unit: "m2" },
        ],
        text: format!(
            "{upper:?} stands through {lower:?}, up to {high} above it on {area} m2; beside that it lies below it on {beside} m2"
        ),
        hint: Code::BuriedRoad.hint(),
    }
}

/// How is looked.
struct Look<'a> {
    t: &'a Terrain<'a>,
    lattice: Lattice,
    tile_log2: u32,
    limit: f64,
}

impl Look<'_> {
    /// From which height on the one of two materials may stand above the other, metres.
    fn limit(&self, upper: u16, lower: u16) -> f64 {
        hidden_by(self.t, upper, lower).map_or(self.limit, |band| self.limit.max(band))
    }

    fn see(&self, ground: &mut Ground, cell: &Stack, [a, b]: [&Member; 2]) {
        let [a, b] = if a.owner.material < b.owner.material { [a, b] } else { [b, a] };
        let Some(both) = a.shared(b, self.lattice, cell.size, PARALLEL) else { return };
        let pair = [a, b].map(|m| m.owner.material);
        if pair.iter().any(|m| self.t.materials().get(usize::from(*m)).is_some_and(|m| m.is_friction_only())) {
            return;
        }
        for above in [true, false] {
            // what is above by nothing is at one height
            let Some((_, [low, high])) =
                self.band(&both, above, 0.0).filter(|(_, [low, high])| low < high || *low != 0.0)
            else {
                continue;
            };
            let links = [a, b].into_iter().flat_map(|m| edges(m.corners)).map(|edge| ((pair, above), edge));
            let level = low.abs().min(high.abs()) <= LEVEL * self.limit;
            let Some(number) = ground.joined(links, level) else { continue };
            let [upper, lower] = if above { pair } else { [pair[1], pair[0]] };
            if let Some((part, [low, high])) = self.band(&both, above, self.limit(upper, lower)) {
                let height = low.abs().max(high.abs());
                let place = nearly_at(&part, |p| both.apart(p).abs());
                let [x, y] = self.lattice.place(cell.low, place);
                let at = [x, y, a.height(place).max(b.height(place))];
                ground.parts[number as usize].1.join(Part { area: self.lattice.area(part.area()), height, at });
            }
        }
    }

    /// Where the first lies above, or the second, by more than so much.
    fn band(&self, both: &Shared, above: bool, least: f64) -> Option<(Polygon, [f64; 2])> {
        if above { both.between(least, f64::INFINITY) } else { both.between(f64::NEG_INFINITY, -least) }
    }

    fn of_tile(&self, mut ground: Ground, tile: [i32; 2]) -> OfTile {
        ground.gather();
        let side = 1i64 << self.tile_log2;
        let inside = |p: &[i32; 3]| {
            (0..2).all(|i| (1..side).contains(&(i64::from(p[i]) - (i64::from(tile[i]) << self.tile_log2))))
        };
        let mut beyond: Vec<(Link, (u32, bool))> = Vec::new();
        for (link, (number, level)) in ground.numbers.iter().filter(|((_, ends), _)| !ends.iter().all(inside)) {
            beyond.push((*link, (ground.links.of(*number), *level)));
        }
        beyond.sort_unstable();
        // only parts that cross, or go on, are of use
        let going_on = beyond.iter().map(|(_, (number, _))| *number);
        let mut used: Vec<u32> = ground.crossings.iter().flatten().copied().chain(going_on).collect();
        used.sort_unstable();
        used.dedup();
        let place = |i: u32| used.binary_search(&i).unwrap_or_default() as u32;
        OfTile {
            parts: used.iter().map(|&i| ground.parts[i as usize]).collect(),
            beyond: beyond.into_iter().map(|(link, (i, level))| (link, (place(i), level))).collect(),
            crossings: ground.crossings.iter().map(|pair| pair.map(place)).collect(),
        }
    }
}

/// The sides of a triangle.
fn edges([a, b, c]: [[i32; 3]; 3]) -> [[[i32; 3]; 2]; 3] {
    [[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q)])
}

/// A place in a polygon right beside the corner where something is most: a 64th of the way to its centre.
fn nearly_at(part: &Polygon, what: impl Fn([f64; 2]) -> f64) -> [f64; 2] {
    let centre = part.centre();
    let most = part.corners().iter().copied().max_by(|a, b| what(*a).total_cmp(&what(*b))).unwrap_or(centre);
    [0, 1].map(|i| most[i] + (centre[i] - most[i]) / 64.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build;
    use crate::demo::{fixtures, proving_ground};
    use crate::options::Options;
    use crate::scene::{Material, Scene, Triangle};

    fn found(scene: &Scene) -> Vec<Finding> {
        buried(&Terrain::open(&build(scene, &Options::default()).unwrap().image).unwrap(), LIMIT).unwrap()
    }

    /// Level land of 32 m by 32 m, and a road over all of it, both in squares; the road's height by place.
    fn two(side: f64, road: impl Fn(f64, f64) -> f64) -> Scene {
        let mut scene = Scene {
            positions: Vec::new(),
            triangles: Vec::new(),
            materials: vec![Material::new("Land", 0.4), Material::new("Road", 0.9)],
            sources: vec!["s".into()],
            ..Scene::default()
        };
        let count = (32.0 / side) as u32;
        for material in 0..2u16 {
            let first = scene.positions.len() as u32;
            for k in 0..(count + 1) * (count + 1) {
                let [x, y] = [k % (count + 1), k / (count + 1)].map(|n| f64::from(n) * side);
                scene.positions.push([x, y, if material == 1 { road(x, y) } else { 0.0 }]);
            }
            for k in (0..(count + 1) * count).filter(|k| k % (count + 1) < count) {
                let [a, b, c, d] = [0, 1, count + 2, count + 1].map(|n| first + k + n);
                scene.triangles.extend([[a, b, c], [a, c, d]].map(|v| Triangle { v, material, source: 0 }));
            }
        }
        scene
    }

    #[test]
    fn by_15_what_crosses_is_found_with_its_area_however_fine() {
        for side in [32.0, 2.0, 0.5] {
            // a plane that rises by 1 in 32: it is more than 10 mm under the land for x < 7.68
            let found = found(&two(side, |x, _| (x - 8.0) / 32.0));
            assert_eq!(found.len(), 1, "{side}");
            let Finding { code, subject, place, .. } = &found[0];
            assert_eq!((*code, &**subject), (Code::BuriedRoad, "Land"));
            let value = |name| found[0].value(name).unwrap();
            assert!((value("area") - 32.0 * 7.68).abs() < 0.1, "{side}: {}", value("area"));
            assert!((value("below") - 32.0 * (32.0 - 8.32)).abs() < 0.1, "{side}: {}", value("below"));
            assert!((value("height") - 0.25).abs() < 1e-4);
            let [x, _, z] = place.unwrap();
            assert!((0.0..0.2).contains(&x) && z.abs() < 1e-4, "{place:?}");
        }
    }

    #[test]
    fn by_15_overlays_and_what_crosses_steeply_are_not() {
        assert_eq!(found(&two(2.0, |_, _| 0.002)), []);
        assert_eq!(found(&two(2.0, |x, y| 0.3 - x / 512.0 + y / 512.0)), []);
        assert_eq!(found(&two(2.0, |x, _| 2.0 * (x - 8.0))), [], "steeper than the limit");
        assert_eq!(found(&two(2.0, |x, _| if x < 16.0 { -0.15 } else { 0.15 })).len(), 1, "half of it is buried");
        use fixtures::*;
        for (i, scene) in [bridge(), curb(), mats(), town(2), proving_ground::scene()].iter().enumerate() {
            assert_eq!(found(scene), [], "{i}");
        }
    }
}
