//! Triangles into bundles: 128 bytes each, at most 16 triangles that do not overlap in plan.

mod adjacency;
mod grow;
mod grower;
mod record;

use crate::build::lattice::Mesh;
pub use adjacency::ALONE;
pub use adjacency::neighbours;
use adjacency::{beside, number};
use grow::Growing;
use grower::{Grown, grown};
use hardpan_shaders::plan::Plan;
use hardpan_shaders::sort::morton;
use hardpan_shaders::{Face, sort};
use rayon::prelude::*;
use record::class;
pub use record::{Record, is_wide, packed};

/// A triangle of a tile: corner coordinates in steps from the origin, counter-clockwise. One line of memory, for
/// whoever asks for a triangle mostly waits for it.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Tri {
    pub plan: Plan,
    /// Heights.
    pub z: [i32; 3],
    /// Vertex numbers: in the mesh, or of those that are [`Bundled`] from zero on.
    pub v: [u32; 3],
}

impl Tri {
    pub fn new(mesh: &Mesh, face: &Face) -> Self {
        let corners = face.v.map(|v| mesh.vertices[v as usize]);
        Tri { plan: Plan::new(corners), z: corners.map(|c| c[2]), v: face.v }
    }

    pub fn corner(&self, k: usize) -> [i32; 3] {
        let [x, y] = self.plan.corner(k).map(|v| v as i32);
        [x, y, self.z[k]]
    }

    /// Least and greatest height.
    pub fn heights(&self) -> [i32; 2] {
        let [a, b, c] = self.z;
        [a.min(b).min(c), a.max(b).max(c)]
    }

    /// Least coordinates, and greatest.
    fn ends(&self) -> [[i32; 3]; 2] {
        let ([x0, y0, x1, y1], [z0, z1]) = (self.plan.bounds(), self.heights());
        [[x0, y0, z0], [x1, y1, z1]]
    }
}

/// Bundles, their triangles in an order of their own, and where each of those went: bundle and place in it.
pub struct Bundled {
    pub records: Vec<Record>,
    /// Whether some of them are wide.
    pub some_wide: bool,
    pub tris: Vec<Tri>,
    pub places: Vec<(u32, u8)>,
    /// The triangles in the order of their places.
    pub order: Vec<u32>,
    /// Number of each among those given.
    pub given: Vec<u32>,
    /// Bit k of a triangle: no one triangle lies on the other side of the edge from its corner k.
    pub open: Vec<u8>,
}

/// Origin from which bundle positions of a node count.
#[derive(Clone, Copy)]
pub struct Frame {
    pub base: [i32; 2],
    pub shift: u8,
}

impl Frame {
    /// For a square of side 2^`log2`: positions reach twice its size beyond its centre.
    pub fn of(x: i64, y: i64, log2: u32) -> Frame {
        let half = 1i64 << (log2 - 1);
        Frame { base: [(x + half) as i32, (y + half) as i32], shift: log2.saturating_sub(14) as u8 }
    }
}

/// Three times the centre in plan.
fn centre(plan: &Plan) -> [i64; 2] {
    let [a, b, c]: [[i64; 2]; 3] = std::array::from_fn(|k| plan.corner(k));
    [a[0] + b[0] + c[0], a[1] + b[1] + c[1]]
}

/// Grows bundles of triangles of a tile, from seeds in Morton order, each step by the triangle across an edge with the
/// fewest new vertices, then the nearest; where none fits, by one at a vertex.
pub fn bundle(tris: &[Tri], attributes: &[u8], frame: Frame) -> Bundled {
    bundle_by(tris, attributes, frame, |g, wider| g.foretells(wider))
}

/// [`bundle`], told when a wider class need not be tried.
fn bundle_by(
    tris: &[Tri],
    attributes: &[u8],
    frame: Frame,
    foretells: impl Fn(&Growing, u16) -> bool + Sync,
) -> Bundled {
    // attribute, class, place, number: in this order they lie in memory, for neighbours are asked for
    let seed = |((t, attribute), number): ((&Tri, &u8), u32)| {
        let c = centre(&t.plan);
        let at = |i: usize| ((c[i] / 3).wrapping_sub(i64::from(frame.base[i])) + (1 << 32)) as u64 >> 4;
        let kind = u128::from(*attribute) << 8 | u128::from(class(t, frame));
        kind << 96 | u128::from(morton(at(0), at(1))) << 32 | u128::from(number)
    };
    let mut seeds: Vec<u128> = tris.iter().zip(attributes).zip(0..).map(seed).collect();
    sort::sort(&mut seeds);
    let kinds: Vec<u16> = seeds.iter().map(|s| (s >> 96) as u16).collect();
    let seeds: Vec<u32> = seeds.into_iter().map(|s| s as u32).collect();
    let mut tris: Vec<Tri> = seeds.iter().map(|&number| tris[number as usize]).collect();
    let vertices = number(&mut tris);
    let beside = beside(&tris, vertices);
    let part = |(number, tris): (usize, &[Tri])| {
        let from = number * TOGETHER;
        let part = from..from + tris.len();
        grown(
            tris,
            &seeds[part.clone()],
            &kinds[part.clone()],
            (&beside[part], from as u32),
            vertices,
            frame,
            &foretells,
        )
    };
    let parts: Vec<Grown> = tris.par_chunks(TOGETHER).enumerate().map(part).collect();
    let mut all = Grown::default();
    for part in parts {
        let (first, from) = (all.records.len() as u32, all.places.len() as u32);
        all.records.extend(part.records);
        all.places.extend(part.places.into_iter().map(|(record, place)| (first + record, place)));
        all.order.extend(part.order.into_iter().map(|t| from + t));
    }
    let Grown { records, places, order } = all;
    let open = |beside: &[u32; 3]| (0..3).map(|k| u8::from(beside[k] == ALONE) << k).sum::<u8>();
    let open = beside.iter().map(open).collect();
    let some_wide = records.iter().any(is_wide);
    Bundled { records, some_wide, tris, places, order, given: seeds, open }
}

/// Triangles whose bundles are grown by one thread, and apart from those of others: what a tile has, but for heaps.
const TOGETHER: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::grow::{Candidate, NEW_VERTEX};
    use super::*;
    use hardpan::format::bundle::{MEDIUM, NARROW, WIDE};
    use hardpan_shaders::sort::mix;
    use std::sync::Mutex;

    fn random(seed: &mut u64, n: u64) -> u64 {
        *seed = mix(*seed);
        *seed % n
    }

    /// Triangles of some vertices spread over a square, and so high.
    fn heap(seed: &mut u64, count: u64, vertices: u64, spread: u64, high: u64, attributes: u64) -> (Vec<Tri>, Vec<u8>) {
        let mut at = |n: u64| random(seed, n) as i32;
        let points: Vec<[i32; 3]> = (0..vertices).map(|_| [at(spread), at(spread), at(high)]).collect();
        let (mut tris, mut all) = (Vec::new(), Vec::new());
        while tris.len() < count as usize {
            let mut v = [0; 3].map(|_| at(vertices) as u32);
            let corners = |v: [u32; 3]| v.map(|v| points[v as usize]);
            let [a, b, c] = corners(v).map(|p| p.map(i64::from));
            let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
            if area < 0 {
                v.swap(1, 2);
            }
            let (plan, z) = (Plan::new(corners(v)), corners(v).map(|p| p[2]));
            let attribute = at(attributes) as u8;
            tris.extend((area != 0).then_some(Tri { plan, z, v }));
            all.extend((area != 0).then_some(attribute));
        }
        (tris, all)
    }

    /// The counts foretold for wider classes are the counts that they hold.
    #[test]
    fn foretold_as_tried() {
        let (mut seed, told) = (1, Mutex::new([0; 3]));
        for case in 0..120 {
            let (count, vertices) = ([20, 90, 300][case % 3], [6, 24, 150, 1000][case % 4]);
            let spread = [30, 2_000, 40_000, 300_000, 3_000_000][case % 5];
            let high = [1, 500, 100_000, 40_000_000][case / 5 % 4];
            let (tris, attributes) = heap(&mut seed, count, vertices, spread, high, 1 + case as u64 % 2);
            let frame = Frame::of(0, 0, spread.next_power_of_two().ilog2().max(10));
            let foretold = bundle_by(&tris, &attributes, frame, |g, wider| {
                let known = g.foretells(wider);
                told.lock().unwrap()[if known { usize::from(wider) } else { 0 }] += 1;
                known
            });
            let tried = bundle_by(&tris, &attributes, frame, |_, _| false);
            assert!(foretold.records == tried.records && foretold.order == tried.order, "{case}");
            assert!(foretold.places == tried.places, "{case}");
        }
        assert!(told.lock().unwrap().iter().all(|&n| n > 100), "{told:?}");
    }

    /// More triangles than one thread grows have one place each, in the order of places.
    #[test]
    fn parts_are_one_list() {
        let count = 2 * TOGETHER as u64 + 1000;
        let (tris, attributes) = heap(&mut 1, count, count, 100_000_000, 1000, 3);
        let kind = |t: &Tri| {
            let corners = [0, 1, 2].map(|k| t.corner(k));
            (corners, t.z)
        };
        let by_kind: std::collections::HashMap<_, u8> = tris.iter().map(kind).zip(attributes.iter().copied()).collect();
        let Bundled { records, tris, places, order, .. } = bundle(&tris, &attributes, Frame::of(0, 0, 27));
        let held = records.iter().zip(0..).flat_map(|(r, number)| (0..=(r[6] >> 12) as u8).map(move |k| (number, k)));
        assert!(order.len() == tris.len() && held.eq(order.iter().map(|&t| places[t as usize])));
        let attribute = |t: u32| by_kind[&kind(&tris[t as usize])];
        assert!(order.iter().all(|&t| records[places[t as usize].0 as usize][6] as u8 == attribute(t)));
    }

    /// The least is taken as if all were tried in their order.
    #[test]
    fn taken_as_one_by_one() {
        let (mut seed, mut ends) = (1, [0; 3]);
        for case in 0..400 {
            let spread = [60, 3000, 100_000][case % 3];
            let (tris, _) = heap(&mut seed, 80, 40, spread, [1, 30_000_000][case / 3 % 2], 1);
            let class = [NARROW, MEDIUM, WIDE][case % 3];
            let grown = || {
                let mut g = Growing::new(&tris, 40, Frame::of(0, 0, 17));
                g.start(class, [60, 80][case % 2]);
                for t in 0..case as u32 % 5 {
                    if g.points.len() + g.new_vertices(&tris[t as usize].v) <= g.limit() {
                        g.add(t);
                    }
                }
                g
            };
            let candidate = |t: u32, seed: &mut u64| {
                let new = grown().new_vertices(&tris[t as usize].v) as u64;
                Candidate { key: random(seed, 9) + new * NEW_VERTEX, number: t, t, v: tris[t as usize].v }
            };
            let next: Vec<Candidate> = (20..68).map(|t| candidate(t, &mut seed)).collect();
            for small in [true, false] {
                let (mut g, mut plain) = (grown(), grown());
                let mut left = next.clone();
                let taken = g.take(&mut left, small);
                let mut rest = next.clone();
                rest.sort_unstable_by_key(|c| std::cmp::Reverse(c.rank()));
                let expected = loop {
                    let Some(c) = rest.last().copied().filter(|c| plain.has_room(c.new_vertices())) else { break None };
                    rest.pop();
                    if (small || plain.fits(c.t, c.new_vertices())) && !plain.overlaps(c.t) {
                        break Some(c.t);
                    }
                };
                rest.sort_unstable_by_key(|c| c.t);
                assert_eq!((taken, g.asked, g.refused), (expected, plain.asked, plain.refused), "{case}");
                assert!(left.iter().map(|c| c.t).eq(rest.iter().map(|c| c.t)), "{case}");
                ends[match taken {
                    Some(_) => 0,
                    None if left.is_empty() => 1,
                    None => 2,
                }] += 1;
            }
        }
        assert!(ends.iter().all(|&n| n > 9), "{ends:?}");
    }
}
