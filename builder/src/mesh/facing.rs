//! Facing: which triangles are undersides.
//!
//! Real files wind at will, so a source's winding is trusted only if the source is exactly closed: on the lattice,
//! every directed edge of its triangles once and its opposite once. What hangs together at edges is a shell, and the sign of its volume
//! says which way its triangles look; but a shell that is wound against the one that holds it is a cavity in that, and looks as it does.
//! What holds a shell is the least larger one that lies around the place just under its top, a little beside its highest corner, if its
//! box holds the shell's box: so what stands on a shell, or is sunk into it with its top free or in a larger cavity, is not held. Of
//! anything else every triangle is ground.

use super::{Face, area2, edge};
use crate::parts::Parts;
use crate::{Material, Options, Scene, Undersides};
use hashbrown::{HashMap, HashSet};
use robust::{Coord, orient2d};
use rstar::{AABB, RTree, primitives::GeomWithData, primitives::Rectangle};

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

/// Most boxes of shells wound otherwise that may lie around the least corner of one, and of any around its top; one with more is taken
/// for no cavity, since no source that means something has so many, and each of many shells would have to be held against all.
const AROUND: usize = 256;
/// Most triangles whose rectangles in plan may lie around the top of a shell: of all shells whose boxes lie around the top of one that may
/// be a cavity. One with more is none, either.
const COLUMN: usize = 1024;

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
    let (mut numbers, mut shells, mut of_sources) = (parts.firsts(), Vec::new(), vec![Source::default(); sources]);
    for (i, f) in faces.iter().enumerate().filter(|(_, f)| !f.is_outside() && closed[usize::from(f.source)]) {
        let source = &mut of_sources[usize::from(f.source)];
        source.triangles.push(i as u32);
        if numbers[i] == i as u32 {
            numbers[i] = shells.len() as u32;
            source.shells.push(shells.len());
            shells.push(Shell::default());
        } else {
            numbers[i] = numbers[numbers[i] as usize]; // that comes before it
        }
        shells[numbers[i] as usize].add(f.v.map(|v| vertices[v as usize]));
    }
    let mut turned: Vec<Option<bool>> = shells.iter().map(Shell::is_turned).collect();
    for Source { shells: mut those, triangles } in of_sources {
        those.retain(|&i| turned[i].is_some());
        let triangle = |&t: &u32| (numbers[t as usize] as usize, faces[t as usize].v.map(|v| vertices[v as usize]));
        cavities(those, triangles.iter().map(triangle), &mut shells, &mut turned);
    }
    let of = |(f, number): (&Face, u32)| {
        let is = !f.is_outside() && closed[usize::from(f.source)];
        is.then(|| turned[number as usize]).flatten()
    };
    faces.iter().zip(numbers).map(of).collect()
}

/// What a closed source is made of: numbers of shells and of triangles.
#[derive(Clone, Default)]
struct Source {
    shells: Vec<usize>,
    triangles: Vec<u32>,
}

/// Turns the cavities among those shells of a source that have a volume, whose triangles with the number of the shell of each are these.
fn cavities(
    mut those: Vec<usize>,
    triangles: impl Iterator<Item = (usize, [[i32; 3]; 3])> + Clone,
    shells: &mut [Shell],
    turned: &mut [Option<bool>],
) {
    // those that are not inside out, and those that are
    let boxes = [Some(false), Some(true)].map(|is| {
        let those = those.iter().filter(|&&i| turned[i] == is);
        RTree::bulk_load(those.map(|&i| GeomWithData::new(shells[i].rectangle(), i)).collect())
    });
    // those that may be: a box of one that is wound otherwise holds theirs
    those.retain(|&i| {
        let others = &boxes[usize::from(turned[i] == Some(false))];
        around(others, shells[i].low.map(f64::from)).is_some_and(|a| a.iter().any(|&k| shells[k].holds(&shells[i])))
    });
    if those.is_empty() {
        return;
    }
    let held: HashSet<usize> = those.iter().copied().collect();
    triangles.clone().filter(|t| held.contains(&t.0)).for_each(|(i, corners)| shells[i].reach(corners));
    // all that may lie around their tops
    let mut near = HashSet::new();
    those.retain(|&i| {
        let top = shells[i].place().map(|v| v as f64 / PARTS as f64);
        let around = boxes.each_ref().map(|boxes| around(boxes, top));
        let [Some(some), Some(others)] = around else { return false };
        let is_told = some.len() + others.len() <= AROUND;
        near.extend(some.into_iter().chain(others).filter(|_| is_told));
        is_told
    });
    let mut over = Vec::new();
    for (i, corners) in triangles.filter(|t| near.contains(&t.0)) {
        shells[i].reach(corners);
        let plan = corners.map(|p| [p[0], p[1]].map(|v| PARTS as f64 * f64::from(v)));
        over.push(GeomWithData::new(Rectangle::from_aabb(AABB::from_points(&plan)), (i, corners)));
    }
    let over = RTree::bulk_load(over);
    // none is held by one that comes after it
    those.sort_by(|&i, &k| shells[k].rank().cmp(&shells[i].rank()));
    for i in those {
        let place = shells[i].place();
        let mut over = over.locate_all_at_point([place[0] as f64, place[1] as f64]).map(|t| t.data);
        let mut runs: HashMap<usize, i32> = HashMap::new();
        for (k, corners) in over.by_ref().take(COLUMN) {
            *runs.entry(k).or_default() += over_once(corners, place);
        }
        if over.next().is_some() {
            continue;
        }
        let larger = |k: &usize| shells[*k].rank() > shells[i].rank();
        let around = runs.into_iter().filter(|(_, runs)| *runs != 0).map(|(k, _)| k).filter(larger);
        let least = around.min_by(|&k, &l| shells[k].rank().cmp(&shells[l].rank()));
        let holder = least.filter(|&k| shells[k].holds(&shells[i]) && shells[k].is_turned() != shells[i].is_turned());
        if let Some(holder) = holder {
            turned[i] = turned[holder];
        }
    }
}

/// The shells whose boxes lie around a place, if they are not too many.
fn around(boxes: &RTree<GeomWithData<Rectangle<[f64; 3]>, usize>>, place: [f64; 3]) -> Option<Vec<usize>> {
    let some: Vec<usize> = boxes.locate_all_at_point(place).map(|b| b.data).take(AROUND + 1).collect();
    (some.len() <= AROUND).then_some(some)
}

/// Whether a triangle lies over a place, in [`PARTS`] of steps, or goes through it: once if it is counter-clockwise in plan, and once less
/// than not if it is clockwise. The place is taken a hair farther east, and by a hair of that farther north, so that of triangles that
/// meet in an edge one has it.
fn over_once(corners: [[i32; 3]; 3], place: [i64; 3]) -> i32 {
    let from = |p: [i32; 3]| [0, 1, 2].map(|i| i128::from(PARTS * i64::from(p[i]) - place[i]));
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

/// Parts of a step in which places are told. The top of a shell lies by one of so many of the way from its highest corner to each of the
/// other two of a triangle there.
const PARTS: i64 = 64;

/// Six times its volume, its box, and that of its triangles that look up from it which reaches highest: z, x and y of its corners, highest
/// first.
#[derive(Clone)]
struct Shell {
    volume: i128,
    low: [i32; 3],
    high: [i32; 3],
    top: Option<[[i32; 3]; 3]>,
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
    fn reach(&mut self, corners: [[i32; 3]; 3]) {
        let up = area2(corners[0], corners[1], corners[2]);
        if up.signum() == self.volume.signum() {
            let mut corners = corners.map(|[x, y, z]| [z, x, y]);
            corners.sort_unstable_by(|a, b| b.cmp(a));
            self.top = self.top.max(Some(corners));
        }
    }

    /// Its top, in [`PARTS`] of steps.
    fn place(&self) -> [i64; 3] {
        let [x, y, z] = self.low;
        let [a, b, c] = self.top.unwrap_or([[z, x, y]; 3]);
        let at = |i: usize| (PARTS - 2) * i64::from(a[i]) + i64::from(b[i]) + i64::from(c[i]);
        [at(1), at(2), at(0)]
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
    fn rank(&self) -> impl Ord + use<> {
        (self.size(), self.low, self.high, self.volume, self.top)
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

/// Whether a triangle of the scene is clockwise in plan, by its positions as they are, without rounding; by its lattice points if it stands
/// upright.
fn looks_down(scene: &Scene, vertices: &[[i32; 3]], i: usize, f: &Face) -> bool {
    let [a, b, c] = scene.triangles[i].v.map(|v| scene.positions[v as usize]).map(|[x, y, _]| Coord { x, y });
    let area = orient2d(a, b, c);
    if area == 0.0 {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        return area2(a, b, c) < 0;
    }
    area < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the distance from its middle: at each part of a step in and about an octahedron, on its faces, edges and corners, too.
    #[test]
    fn what_lies_around_a_place_is_counted_exactly() {
        const R: i32 = 1;
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
        let most = PARTS * i64::from(R) + 2;
        let places = (-most..=most).flat_map(|x| (-most..=most).map(move |y| [x, y]));
        for [x, y, z] in places.flat_map(|[x, y]| (-most..=most).map(move |z| [x, y, z])) {
            let far = x.abs() + y.abs() + z.abs() - PARTS * i64::from(R);
            let runs: i32 = triangles.iter().map(|t| over_once(*t, [x, y, z])).sum();
            // on the surface it is what is just under
            assert_eq!(runs, i32::from(far < 0 || (far == 0 && z > 0)), "{x} {y} {z}");
            let turned: i32 = triangles.iter().map(|&[a, b, c]| over_once([c, b, a], [x, y, z])).sum();
            assert_eq!(turned, -runs, "{x} {y} {z}");
        }
    }
}
