//! Rims: what open edges go all around, and its area.

use std::collections::HashMap;

use hardpan::Terrain;
use rayon::prelude::*;

use super::{
    border::{Edge, span},
    relief::View,
};

/// Open edges in a ring with no ground inside, as one sees it from above, but for islands.
pub struct Rim {
    /// Square metres, without those of islands.
    pub area: f64,
    /// Metres, with those of islands.
    pub length: f64,
}

/// Corners in plan with the side without ground on the left, metres.
struct Ring {
    corners: Vec<[f64; 2]>,
    /// Square metres; less than zero of an island, which it goes around the other way.
    area: f64,
    /// Least and greatest x and y.
    room: [[f64; 2]; 2],
}

/// Work beyond which no rims are looked for: pixels and corners of others inside the rooms of rings; and open edges.
const MOST: f64 = 1e9;
const MOST_EDGES: usize = 30_000;

/// Rims in a picture, and of each pixel the innermost around its middle.
pub fn rims(t: &Terrain, view: &View, edges: &[&Edge]) -> (Vec<Rim>, Vec<Option<u32>>) {
    let mut of = vec![None; view.width * view.height];
    if edges.len() > MOST_EDGES {
        return (Vec::new(), of);
    }
    let rings = rings(&bare(t, view, edges)).into_iter().filter(|ring| ring.room.iter().all(|p| view.has(*p)));
    let (mut holes, islands): (Vec<Ring>, Vec<Ring>) = rings.partition(|ring| ring.area > 0.0);
    let pixels = |ring: &Ring| (0..2).map(|i| (ring.room[1][i] - ring.room[0][i]) * view.per_metre).product::<f64>();
    let work: f64 = holes.iter().map(|ring| pixels(ring) + (ring.corners.len() * islands.len()) as f64).sum();
    if work > MOST {
        return (Vec::new(), of);
    }
    holes.sort_by(|a, b| b.area.total_cmp(&a.area));
    // what lies in another one is smaller, and comes later
    let mut all: Vec<(Option<u32>, &Ring)> =
        (0..).map(Some).zip(&holes).chain(islands.iter().map(|r| (None, r))).collect();
    all.sort_by(|(_, a), (_, b)| b.area.abs().total_cmp(&a.area.abs()));
    all.into_iter().for_each(|(rim, ring)| ring.fill(view, |pixel| of[pixel] = rim));
    let mut rims: Vec<Rim> = holes.iter().map(|ring| Rim { area: ring.area, length: ring.length() }).collect();
    for island in &islands {
        // the innermost, which is the smallest
        if let Some(i) = holes.iter().rposition(|ring| ring.holds(island.corners[0])) {
            rims[i].area += island.area;
            rims[i].length += island.length();
        }
    }
    (rims, of)
}

/// Pixels from one place along an edge to the next at which it is looked beside it, and most places.
const APART: f64 = 4.0;
const PLACES: f64 = 1024.0;

/// Edges right beside which no ground is seen from above, all along.
fn bare<'a>(t: &Terrain, view: &View, edges: &[&'a Edge]) -> Vec<&'a Edge> {
    let off = 2.0 * f64::exp2(f64::from(t.header().xy_log2));
    let bare = |e: &Edge| {
        let parts = (span(e.plan) * view.per_metre / APART).ceil().clamp(1.0, PLACES);
        let beside = (0..parts as usize).map(|k| {
            let [x, y, _] = e.on((k as f64 + 0.5) / parts);
            [x + off * e.away[0], y + off * e.away[1]]
        });
        view.highest(t, &beside.collect::<Vec<_>>()).iter().all(|answer| !answer.found())
    };
    edges.par_iter().copied().filter(|e| bare(e)).collect()
}

/// All rings of some edges. Where several meet in a corner each keeps to its own side.
fn rings(edges: &[&Edge]) -> Vec<Ring> {
    let cross = |[ax, ay]: [f64; 2], [bx, by]: [f64; 2]| ax * by - ay * bx;
    let way = |[[ax, ay], [bx, by]]: [[f64; 2]; 2]| [bx - ax, by - ay];
    // from where to where each goes
    let turned = |e: &&Edge| cross(way(e.plan), e.away) < 0.0;
    let legs = edges
        .iter()
        .map(|e| if turned(e) { ([e.ends[1], e.ends[0]], [e.plan[1], e.plan[0]]) } else { (e.ends, e.plan) });
    let legs: Vec<_> = legs.collect();
    let mut from: HashMap<[i32; 3], Vec<usize>> = HashMap::new();
    legs.iter().enumerate().for_each(|(i, (ends, _))| from.entry(ends[0]).or_default().push(i));
    // how far one turns to the left from one into another
    let left = |i: usize, k: usize| {
        let (a, b) = (way(legs[i].1), way(legs[k].1));
        let cos = (a[0] * b[0] + a[1] * b[1]) / (span(legs[i].1) * span(legs[k].1));
        if cross(a, b) >= 0.0 { 1.0 - cos } else { cos - 1.0 }
    };
    let mut met = vec![false; legs.len()];
    let mut rings = Vec::new();
    for first in 0..legs.len() {
        let (mut corners, mut leg) = (Vec::new(), Some(first).filter(|i| !met[*i]));
        while let Some(at) = leg.filter(|i| !met[*i]) {
            met[at] = true;
            corners.push(legs[at].1[0]);
            let next = from.get(&legs[at].0[1]).into_iter().flatten().copied().filter(|&i| i == first || !met[i]);
            leg = next.max_by(|&i, &k| left(at, i).total_cmp(&left(at, k)));
        }
        if leg == Some(first) && !corners.is_empty() {
            rings.push(Ring::of(corners));
        }
    }
    rings
}

impl Ring {
    fn of(corners: Vec<[f64; 2]>) -> Self {
        let [x, y] = corners[0];
        let sides = corners.windows(2).map(|side| [side[0], side[1]]);
        let area = sides.map(|[a, b]| (a[0] - x) * (b[1] - y) - (a[1] - y) * (b[0] - x)).sum::<f64>() / 2.0;
        let room = corners.iter().fold([[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]], |[low, high], p| {
            [[0, 1].map(|i| low[i].min(p[i])), [0, 1].map(|i| high[i].max(p[i]))]
        });
        Ring { corners, area, room }
    }

    fn sides(&self) -> impl Iterator<Item = [[f64; 2]; 2]> {
        let next = self.corners.iter().skip(1).chain(self.corners.first());
        self.corners.iter().zip(next).map(|(a, b)| [*a, *b])
    }

    fn length(&self) -> f64 {
        self.sides().map(span).sum()
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        let near = (0..2).all(|i| (self.room[0][i]..=self.room[1][i]).contains(&[x, y][i]));
        let crossed = |[a, b]: &[[f64; 2]; 2]| {
            (a[1] <= y) != (b[1] <= y) && a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0]) < x
        };
        near && self.sides().filter(crossed).count() % 2 == 1
    }

    /// Tells all pixels of a picture whose middle is inside.
    fn fill(&self, view: &View, mut tell: impl FnMut(usize)) {
        // the first pixel whose middle is not before a place
        let first = |at: f64, most: usize| (at - 0.5).ceil().clamp(0.0, most as f64) as usize;
        let mut crossings: Vec<(usize, f64)> = Vec::new();
        for [a, b] in self.sides().map(|side| side.map(|[x, y]| view.place(x, y))) {
            for row in first(a[1].min(b[1]), view.height)..first(a[1].max(b[1]), view.height) {
                let share = (row as f64 + 0.5 - a[1]) / (b[1] - a[1]);
                crossings.push((row, a[0] + share * (b[0] - a[0])));
            }
        }
        crossings.sort_by(|(row, x), (other, z)| row.cmp(other).then(x.total_cmp(z)));
        for pair in crossings.chunks_exact(2) {
            let [(row, from), (_, to)] = [pair[0], pair[1]];
            (first(from, view.width)..first(to, view.width)).for_each(|column| tell(row * view.width + column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares that meet in a corner are two rings, and one with the other side without ground goes around the other way.
    #[test]
    fn rings_keep_to_their_side() {
        let corners = |x: i32, y: i32, side: i32| [[x, y], [x + side, y], [x + side, y + side], [x, y + side]];
        let square = |x, y, side, inside: bool| {
            let all = corners(x, y, side);
            let middle = [x, y].map(|v| f64::from(v) + f64::from(side) / 2.0);
            let edge = move |k: usize| {
                let mut ends = [all[k], all[(k + 1) % 4]].map(|[x, y]| [x, y, 0]);
                ends.sort_unstable();
                let plan = ends.map(|[x, y, _]| [x, y].map(f64::from));
                let off = [0, 1].map(|i| middle[i] - (plan[0][i] + plan[1][i]) / 2.0);
                let away = off.map(|v| v / (f64::from(side) / 2.0) * if inside { 1.0 } else { -1.0 });
                Edge { ends, plan, z: [0.0; 2], away }
            };
            (0..4).map(edge).collect::<Vec<_>>()
        };
        let all = [(0, 0, 2, true), (2, 2, 3, true), (20, 0, 6, true), (22, 2, 1, false)];
        let all: Vec<Edge> = all.into_iter().flat_map(|(x, y, side, inside)| square(x, y, side, inside)).collect();
        let areas = |edges: &[&Edge]| {
            let mut areas: Vec<f64> = rings(edges).iter().map(|ring| ring.area).collect();
            areas.sort_by(f64::total_cmp);
            areas
        };
        let mut edges: Vec<&Edge> = all.iter().collect();
        for _ in 0..edges.len() {
            edges.rotate_left(1);
            assert_eq!(areas(&edges), [-1.0, 4.0, 9.0, 36.0]);
        }
        // what is not whole is none
        assert_eq!(areas(&edges[1..]).len(), 3);
    }
}
