//! Facing: which triangles are undersides.
//!
//! Real files wind at will, so a source's winding is trusted only if the source is exactly closed: on the lattice,
//! every directed edge of its triangles once and its opposite once. What hangs together at edges is a shell, and the sign of its volume
//! says which way its triangles look; but a shell that is wound against the least one that holds it is a cavity in that, and looks as it
//! does. One holds another if its box does, and if it lies around the place just under the middle of the highest triangle that looks up
//! from the other: so what stands on a shell, or is sunk into it less deep than that place, is not held. Of anything else every triangle
//! is ground.

use super::{Face, area2, edge};
use crate::parts::Parts;
use crate::{Material, Options, Scene, Undersides};
use rstar::{AABB, RTree, primitives::GeomWithData, primitives::Rectangle};
use std::{cmp::Reverse, collections::HashMap};

/// Whether each triangle looks down; empty if none does. Facing is that of the source, before rounding.
pub fn ceilings(
    scene: &Scene,
    vertices: &[[i32; 3]],
    faces: &[Face],
    materials: &[Material],
    options: &Options,
) -> Vec<bool> {
    let rules: Vec<Undersides> = materials.iter().map(|m| m.undersides.unwrap_or(options.undersides)).collect();
    let turned = if rules.contains(&Undersides::Auto) { turned(vertices, faces) } else { Vec::new() };
    if turned.is_empty() && !rules.contains(&Undersides::Ceiling) {
        return Vec::new();
    }
    let down = |(i, f): (usize, &Face)| {
        let turned = match rules[usize::from(f.material)] {
            Undersides::Ground => None,
            Undersides::Ceiling => Some(false),
            Undersides::Auto => turned.get(i).copied().flatten(),
        };
        !f.is_outside() && turned.is_some_and(|turned| turned != looks_down(scene, vertices, i, f))
    };
    faces.iter().enumerate().map(down).collect()
}

/// Most boxes of shells that may lie around the least corner of another, and most triangles of shells that are asked about whose
/// rectangles in plan lie around its highest triangle's middle; one with more is taken for no cavity.
const AROUND: usize = 4096;
const COLUMN: usize = 16_384;

/// Of the triangles of closed sources whether they are inside out; empty if there is no such source.
fn turned(vertices: &[[i32; 3]], faces: &[Face]) -> Vec<Option<bool>> {
    let sources = faces.iter().map(|f| usize::from(f.source) + 1).max().unwrap_or(0);
    // opposite edges cancel out; what remains proves a source open
    let mut sums = vec![0u64; sources];
    for f in faces {
        let sum = &mut sums[usize::from(f.source)];
        if f.is_outside() {
            *sum = sum.wrapping_add(ODD);
            continue;
        }
        for (a, b) in edges(f) {
            // quickly: sums of others come to zero as well, but seldom, and are looked at closely
            let h = edge(a, b).wrapping_mul(ODD);
            let h = h ^ h >> 32;
            *sum = if a < b { sum.wrapping_add(h) } else { sum.wrapping_sub(h) };
        }
    }
    let mut paired = Vec::new();
    for (i, f) in (0u32..).zip(faces).filter(|(_, f)| !f.is_outside() && sums[usize::from(f.source)] == 0) {
        paired.extend(edges(f).map(|(a, b)| (f.source, edge(a, b), a < b, i)));
    }
    if paired.is_empty() {
        return Vec::new();
    }
    paired.sort_unstable();
    let (mut closed, mut parts) = (vec![false; sources], Parts::new(faces.len()));
    for source in paired.chunk_by(|a, b| a.0 == b.0) {
        let (pairs, rest) = source.as_chunks();
        if rest.is_empty() && pairs.iter().all(|[a, b]| a.1 == b.1 && a.2 != b.2) {
            closed[usize::from(source[0].0)] = true;
            pairs.iter().for_each(|[a, b]| parts.join(a.3, b.3));
        }
    }
    drop(paired);
    let (mut numbers, mut shells, mut of_sources) = (parts.firsts(), Vec::new(), vec![Vec::new(); sources]);
    for (i, f) in faces.iter().enumerate().filter(|(_, f)| !f.is_outside() && closed[usize::from(f.source)]) {
        if numbers[i] == i as u32 {
            numbers[i] = shells.len() as u32;
            of_sources[usize::from(f.source)].push(shells.len());
            shells.push(Shell::default());
        } else {
            numbers[i] = numbers[numbers[i] as usize]; // that comes before it
        }
        shells[numbers[i] as usize].add(f.v.map(|v| vertices[v as usize]));
    }
    let mut turned: Vec<Option<bool>> = shells.iter().map(Shell::is_turned).collect();
    of_sources.iter_mut().for_each(|those| those.retain(|&i| turned[i].is_some()));
    let boxes =
        of_sources.iter().map(|those| those.iter().map(|&i| GeomWithData::new(shells[i].rectangle(), i)).collect());
    let boxes: Vec<_> = boxes.map(RTree::bulk_load).collect();
    // those that may be cavities, and all whose boxes hold those
    let (mut held, mut holders) = (vec![false; shells.len()], vec![false; shells.len()]);
    for (&i, boxes) in of_sources.iter().zip(&boxes).flat_map(|(those, boxes)| those.iter().map(move |i| (i, boxes))) {
        let around = around(&shells, boxes, i);
        held[i] = around.iter().any(|&k| turned[k] != turned[i]);
        around.into_iter().filter(|_| held[i]).for_each(|k| holders[k] = true);
    }
    let mut columns = vec![Vec::new(); sources];
    let corners = |f: &Face| f.v.map(|v| vertices[v as usize]);
    for (i, f) in faces.iter().enumerate().filter(|(_, f)| !f.is_outside() && closed[usize::from(f.source)]) {
        let (number, corners) = (numbers[i] as usize, corners(f));
        if held[number] || holders[number] {
            shells[number].reach(corners);
        }
        if holders[number] {
            let plan = corners.map(|p| [p[0], p[1]].map(|v| 3.0 * f64::from(v)));
            let plan = Rectangle::from_aabb(AABB::from_points(&plan));
            columns[usize::from(f.source)].push(GeomWithData::new(plan, i as u32));
        }
    }
    for ((mut those, boxes), column) in of_sources.into_iter().zip(&boxes).zip(columns) {
        let column = RTree::bulk_load(column);
        // none is held by one that comes after it
        those.sort_by_key(|&i| Reverse(shells[i].size()));
        for i in those.into_iter().filter(|&i| held[i]) {
            let place = shells[i].place();
            let over = column.locate_all_at_point([place[0] as f64, place[1] as f64]);
            let mut over = over.map(|t| t.data as usize);
            let mut runs: HashMap<usize, i32> = HashMap::new();
            for t in over.by_ref().take(COLUMN) {
                *runs.entry(numbers[t] as usize).or_default() += over_once(corners(&faces[t]), place);
            }
            if over.next().is_some() {
                continue;
            }
            let holds = |k: &usize| runs.get(k).is_some_and(|runs| *runs != 0);
            let holder = around(&shells, boxes, i).into_iter().filter(holds).min_by_key(|&k| shells[k].rank());
            if let Some(holder) = holder.filter(|&k| shells[k].is_turned() != shells[i].is_turned()) {
                turned[i] = turned[holder];
            }
        }
    }
    let of = |(f, number): (&Face, u32)| {
        let is = !f.is_outside() && closed[usize::from(f.source)];
        is.then(|| turned[number as usize]).flatten()
    };
    faces.iter().zip(numbers).map(of).collect()
}

/// The others of a source whose boxes hold that of a shell; none where there are too many.
fn around(shells: &[Shell], boxes: &RTree<GeomWithData<Rectangle<[f64; 3]>, usize>>, i: usize) -> Vec<usize> {
    let mut all = boxes.locate_all_at_point(shells[i].low.map(f64::from)).map(|b| b.data);
    let some = all.by_ref().take(AROUND).filter(|&k| shells[k].holds(&shells[i])).collect();
    if all.next().is_some() { Vec::new() } else { some }
}

/// Whether a triangle lies over a place, in thirds of steps, or goes through it: once if it is counter-clockwise in plan, and once less
/// than not if it is clockwise. The place is taken a hair farther east, and by a hair of that farther north, so that of triangles that
/// meet in an edge one has it.
fn over_once(corners: [[i32; 3]; 3], place: [i64; 3]) -> i32 {
    let from = |p: [i32; 3]| [0, 1, 2].map(|i| i128::from(3 * i64::from(p[i]) - place[i]));
    let [a, b, c] = corners.map(from);
    let side = |a: [i128; 3], b: [i128; 3]| {
        let turn = a[0] * b[1] - a[1] * b[0];
        [turn, a[1] - b[1], b[0] - a[0]].into_iter().find(|v| *v != 0).unwrap_or(0).signum()
    };
    let up = area2(corners[0], corners[1], corners[2]).signum();
    if up == 0 || [side(a, b), side(b, c), side(c, a)] != [up; 3] {
        return 0;
    }
    // six times the volume between it and the place, above zero where it is over that
    let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
    let volume = a[0] * minor(1, 2) + a[1] * minor(2, 0) + a[2] * minor(0, 1);
    if volume * up >= 0 { up as i32 } else { 0 }
}

/// Six times its volume, its box, and the corners in order of that of its triangles that look up from it which reaches highest.
#[derive(Clone)]
struct Shell {
    volume: i128,
    low: [i32; 3],
    high: [i32; 3],
    top: Option<(i32, [[i32; 3]; 3])>,
}

impl Default for Shell {
    fn default() -> Self {
        Shell { volume: 0, low: [i32::MAX; 3], high: [i32::MIN; 3], top: None }
    }
}

impl Shell {
    fn add(&mut self, corners: [[i32; 3]; 3]) {
        for p in corners {
            self.low = [0, 1, 2].map(|i| self.low[i].min(p[i]));
            self.high = [0, 1, 2].map(|i| self.high[i].max(p[i]));
        }
        let [a, b, c] = corners.map(|p| p.map(i128::from));
        // sums beyond i128 wrap, and the whole, which is small, comes out right
        let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
        let six = a[0] * minor(1, 2) + a[1] * minor(2, 0) + a[2] * minor(0, 1);
        self.volume = self.volume.wrapping_add(six);
    }

    /// Of each of its triangles, when its volume is known.
    fn reach(&mut self, mut corners: [[i32; 3]; 3]) {
        let up = area2(corners[0], corners[1], corners[2]);
        if up.signum() == self.volume.signum() {
            corners.sort_unstable();
            self.top = self.top.max(corners.iter().map(|p| p[2]).max().map(|high| (high, corners)));
        }
    }

    /// The middle of its highest triangle, in thirds of steps.
    fn place(&self) -> [i64; 3] {
        let corners = self.top.map_or([self.low; 3], |(_, corners)| corners);
        [0, 1, 2].map(|i| corners.iter().map(|p| i64::from(p[i])).sum())
    }

    /// Whether it is inside out; none if it has no volume.
    fn is_turned(&self) -> Option<bool> {
        (self.volume != 0).then_some(self.volume < 0)
    }

    fn rectangle(&self) -> Rectangle<[f64; 3]> {
        Rectangle::from_corners(self.low.map(f64::from), self.high.map(f64::from))
    }

    /// Of its box.
    fn size(&self) -> u128 {
        (0..3).map(|i| u128::from(self.high[i].abs_diff(self.low[i]))).product()
    }

    /// Of no two shells of one source alike.
    fn rank(&self) -> impl Ord {
        (self.size(), self.low, self.high, self.volume, self.top.map(|(_, corners)| corners))
    }

    /// Whether another's box lies in its own, and is not the same.
    fn holds(&self, other: &Shell) -> bool {
        (self.low, self.high) != (other.low, other.high)
            && (0..3).all(|i| self.low[i] <= other.low[i] && other.high[i] <= self.high[i])
    }
}

/// Any odd number with bits all over, which a triangle outside the domain adds to its source, too: no few of them cancel out.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Directed edges; none of a triangle with two equal corners, for its neighbours share them.
fn edges(f: &Face) -> impl Iterator<Item = (u32, u32)> {
    let [a, b, c] = f.v;
    let flat = a == b || b == c || c == a;
    [(a, b), (b, c), (c, a)].into_iter().filter(move |_| !flat)
}

/// A mix of 64 bits (the finaliser of SplitMix64).
pub fn mix(v: u64) -> u64 {
    let v = v.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let v = (v ^ v >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let v = (v ^ v >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    v ^ v >> 31
}

/// Whether a triangle of the scene is clockwise in plan, by its positions in a fixed order of corners;
/// by its lattice points if that is undecided.
fn looks_down(scene: &Scene, vertices: &[[i32; 3]], i: usize, f: &Face) -> bool {
    let mut p = scene.triangles[i].v.map(|v| scene.positions[v as usize]);
    let mut odd = false;
    for (i, j) in [(0, 1), (1, 2), (0, 1)] {
        let before = |k: usize| p[i][k].total_cmp(&p[j][k]);
        if before(0).then(before(1)).then(before(2)).is_gt() {
            p.swap(i, j);
            odd = !odd;
        }
    }
    let area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if area == 0.0 {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        return area2(a, b, c) < 0;
    }
    (area < 0.0) != odd
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the distance from its middle: at each third of a step in and about an octahedron, on its faces, edges and corners, too.
    #[test]
    fn what_lies_around_a_place_is_counted_exactly() {
        const R: i32 = 4;
        let tip = |axis: usize, side: i32| {
            let mut p = [0; 3];
            p[axis] = side * R;
            p
        };
        let mut triangles = Vec::new();
        for [x, y, z] in (0..8).map(|k| [k & 1, k >> 1 & 1, k >> 2].map(|bit| 1 - 2 * bit)) {
            let [a, b, c] = [tip(0, x), tip(1, y), tip(2, z)];
            triangles.push(if x * y * z > 0 { [a, b, c] } else { [a, c, b] });
        }
        let most = 3 * i64::from(R) + 2;
        let places = (-most..=most).flat_map(|x| (-most..=most).map(move |y| [x, y]));
        for [x, y, z] in places.flat_map(|[x, y]| (-most..=most).map(move |z| [x, y, z])) {
            let far = x.abs() + y.abs() + z.abs() - 3 * i64::from(R);
            let runs: i32 = triangles.iter().map(|t| over_once(*t, [x, y, z])).sum();
            // on the surface it is what is just under
            assert_eq!(runs, i32::from(far < 0 || (far == 0 && z > 0)), "{x} {y} {z}");
            let turned: i32 = triangles.iter().map(|&[a, b, c]| over_once([c, b, a], [x, y, z])).sum();
            assert_eq!(turned, -runs, "{x} {y} {z}");
        }
    }
}
