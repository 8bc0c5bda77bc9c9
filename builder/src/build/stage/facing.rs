//! Facing: which triangles are undersides.
//!
//! Real files wind at will, so a source's winding is trusted only if the source is exactly closed: on the lattice,
//! every directed edge of its triangles once and its opposite once. What hangs together at edges is a shell, and the
//! sign of its volume says which way its triangles look; but a cavity looks as the shell does that it is in. Of
//! anything else every triangle is ground.
//!
//! A shell is a cavity only if it lies wholly inside another of its source. Of the shells of larger volume that are
//! around its highest corners, the least must hold it wholly, be wound against it, and be no cavity itself; if several
//! are least, each of them. What touches that one is judged by itself, and its top stays ground. All this is exact on
//! the lattice, and knows no order.

use crate::build::lattice::edge;
use crate::options::{Options, Undersides};
use crate::scene::{Material, Scene};
use crate::util::disjoint_set::DisjointSet;
use crate::util::exact::area2;
use hardpan_shaders::Face;
use hashbrown::HashMap;
use rayon::prelude::*;
use robust::{Coord, orient2d};
use rstar::{AABB, Envelope, RTree, RTreeObject, SelectionFunction, primitives::Rectangle};
use std::cmp::Reverse;

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
    faces.par_iter().enumerate().map(down).collect()
}

/// Most triangles of others whose boxes may lie over a top of a shell; and as many for each of its own, of those whose
/// boxes the planes of its own meet within their boxes. A shell with more is taken for no cavity: each costs time.
const AROUND: usize = 4096;

/// For each triangle of closed sources whether it is inside out; empty if there is no such source.
fn turned(vertices: &[[i32; 3]], faces: &[Face]) -> Vec<Option<bool>> {
    let sources = faces.par_iter().map(|f| usize::from(f.source) + 1).max().unwrap_or(0);
    // opposite edges cancel out; what remains proves a source open
    let add = |mut sums: Vec<u64>, f: &Face| {
        let sum = &mut sums[usize::from(f.source)];
        if f.is_outside() {
            *sum = sum.wrapping_add(ODD);
            return sums;
        }
        for (a, b) in edges(f) {
            // quickly: sums of others come to zero as well, but seldom, and are looked at closely
            let h = edge(a, b).wrapping_mul(ODD);
            let h = h ^ h >> 32;
            *sum = if a < b { sum.wrapping_add(h) } else { sum.wrapping_sub(h) };
        }
        sums
    };
    let none = || vec![0u64; sources];
    let both = |a: Vec<u64>, b: Vec<u64>| a.into_iter().zip(b).map(|(a, b)| a.wrapping_add(b)).collect();
    let some = faces.len().div_ceil(rayon::current_num_threads()).max(1);
    let sums = faces.par_chunks(some).map(|some| some.iter().fold(none(), add)).reduce(none, both);
    let mut paired = Vec::new();
    for (i, f) in (0u32..).zip(faces).filter(|(_, f)| !f.is_outside() && sums[usize::from(f.source)] == 0) {
        paired.extend(edges(f).map(|(a, b)| (f.source, edge(a, b), a < b, i)));
    }
    if paired.is_empty() {
        return Vec::new();
    }
    paired.sort_unstable();
    let (mut closed, mut parts) = (vec![false; sources], DisjointSet::new(faces.len()));
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
        let pieces = triangles.iter().map(|&t| Piece {
            shell: numbers[t as usize] as usize,
            corners: faces[t as usize].v.map(|v| vertices[v as usize]),
        });
        cavities(those, pieces, &shells, &mut turned);
    }
    let of = |(f, number): (&Face, u32)| {
        let is = !f.is_outside() && closed[usize::from(f.source)];
        is.then(|| turned[number as usize]).flatten()
    };
    faces.iter().zip(numbers).map(of).collect()
}

/// Parts of a closed source: numbers of shells and of triangles.
#[derive(Clone, Default)]
struct Source {
    shells: Vec<usize>,
    triangles: Vec<u32>,
}

/// A triangle with the number of its shell.
#[derive(Clone, Copy)]
struct Piece {
    shell: usize,
    corners: [[i32; 3]; 3],
}

impl RTreeObject for Piece {
    type Envelope = AABB<[i32; 3]>;

    fn envelope(&self) -> Self::Envelope {
        AABB::from_points(&self.corners)
    }
}

/// Turns the cavities among those shells of a source that have a volume; these are its triangles.
fn cavities(mut those: Vec<usize>, pieces: impl Iterator<Item = Piece>, shells: &[Shell], turned: &mut [Option<bool>]) {
    // those that are not inside out, and those that are
    let boxes = [Some(false), Some(true)].map(|is| {
        let those = those.iter().filter(|&&i| turned[i] == is).map(|&i| &shells[i]);
        RTree::bulk_load(those.map(|s| Rectangle::from_corners(s.low, s.high)).collect())
    });
    // those that may be: around their least corners is a box of one that is wound otherwise
    let meets_some =
        |boxes: &RTree<Rectangle<[i32; 3]>>, some| boxes.locate_in_envelope_intersecting(some).next().is_some();
    those.retain(|&i| {
        let others = &boxes[usize::from(turned[i] == Some(false))];
        meets_some(others, AABB::from_point(shells[i].low))
    });
    if those.is_empty() {
        return;
    }
    let columns = those.iter().map(|&i| Rectangle::from_aabb(over(shells[i].low, shells[i].high)));
    let columns = RTree::bulk_load(columns.collect());
    let mut pieces: Vec<Piece> =
        pieces.filter(|p| turned[p.shell].is_some() && meets_some(&columns, p.envelope())).collect();
    pieces.sort_unstable_by_key(|p| p.shell);
    let all = RTree::bulk_load(pieces.clone());
    // what holds one comes before it
    those.sort_unstable_by_key(|&i| Reverse(shells[i].size()));
    for i in those {
        let from = pieces.partition_point(|p| p.shell < i);
        let own = pieces[from..].chunk_by(|p, q| p.shell == q.shell).next().unwrap_or_default();
        if is_cavity(own, &all, shells, turned) {
            turned[i] = turned[i].map(|is| !is);
        }
    }
}

/// Whether a shell of these triangles is a cavity, if that is known of all that are larger.
fn is_cavity(own: &[Piece], all: &RTree<Piece>, shells: &[Shell], turned: &[Option<bool>]) -> bool {
    let Some(&Piece { shell, .. }) = own.first() else { return false };
    let size = shells[shell].size();
    // larger ones around all its tops
    let mut around: Option<Vec<usize>> = None;
    for top in tops(own) {
        let above = all.locate_in_envelope_intersecting(over(top, top)).filter(|p| p.shell != shell);
        let mut runs: HashMap<usize, (i32, bool)> = HashMap::new();
        for (count, p) in above.enumerate() {
            if count == AROUND {
                return false;
            }
            let (runs, touches) = runs.entry(p.shell).or_default();
            *runs += over_once(p.corners, top);
            *touches |= meet([top; 3], p.corners);
        }
        let is_around = |k: &usize| runs.get(k).is_some_and(|(runs, touches)| *runs != 0 || *touches);
        match &mut around {
            Some(some) => some.retain(is_around),
            None => around = Some(runs.keys().copied().filter(|k| is_around(k) && shells[*k].size() > size).collect()),
        }
    }
    let around = around.unwrap_or_default();
    let Some(least) = around.iter().map(|&k| shells[k].size()).min() else { return false };
    // wound against it, no cavities, and nowhere in touch with it
    let against = turned[shell].map(|is| !is);
    let holders: Vec<usize> = around.into_iter().filter(|&k| shells[k].size() == least).collect();
    let mut left = AROUND * own.len();
    holders.iter().all(|&k| shells[k].is_turned() == against && turned[k] == against)
        && own.iter().all(|s| {
            all.locate_with_selection_function(Near::of(s.corners)).all(|p| {
                left = left.saturating_sub(1);
                left > 0 && !(holders.contains(&p.shell) && meet(s.corners, p.corners))
            })
        })
}

/// The highest corners that lie farthest east, west, north and south: no more than eight.
fn tops(own: &[Piece]) -> Vec<[i32; 3]> {
    let corners = || own.iter().flat_map(|p| p.corners);
    let highest = corners().map(|p| p[2]).max();
    let ways = [[1, 1], [1, -1], [-1, 1], [-1, -1]].into_iter().flat_map(|signs| [(signs, [0, 1]), (signs, [1, 0])]);
    let top = |(signs, axes): ([i64; 2], [usize; 2])| {
        let far = |p: &[i32; 3]| axes.map(|i| signs[i] * i64::from(p[i]));
        corners().filter(|p| Some(p[2]) == highest).max_by_key(far)
    };
    let mut tops: Vec<[i32; 3]> = ways.filter_map(top).collect();
    tops.sort_unstable();
    tops.dedup();
    tops
}

/// The box of all that lies in a box or over it.
fn over(low: [i32; 3], [x, y, _]: [i32; 3]) -> AABB<[i32; 3]> {
    AABB::from_corners(low, [x, y, i32::MAX])
}

/// Triangles whose plane is met within its box.
struct Near {
    within: AABB<[i32; 3]>,
    normal: [i128; 3],
    along: i128,
}

impl Near {
    fn of(corners: [[i32; 3]; 3]) -> Near {
        let [e, f, _] = sides(corners);
        let normal = cross(e, f);
        Near { within: AABB::from_points(&corners), normal, along: dot(normal, corners[0].map(i128::from)) }
    }
}

impl SelectionFunction<Piece> for Near {
    fn should_unpack_parent(&self, envelope: &AABB<[i32; 3]>) -> bool {
        let farthest = |up: bool| {
            let corner = [0, 1, 2].map(|i| {
                let end = if (self.normal[i] > 0) == up { envelope.upper() } else { envelope.lower() };
                i128::from(end[i])
            });
            dot(self.normal, corner)
        };
        self.within.intersects(envelope) && (farthest(false)..=farthest(true)).contains(&self.along)
    }

    fn should_unpack_leaf(&self, leaf: &Piece) -> bool {
        self.should_unpack_parent(&leaf.envelope())
    }
}

/// Whether two triangles have a point in common; they may be lines or points. If not, there is a plane between them:
/// that of one of them, or along a side of one and one of the other, along a side and an axis, or across an axis.
fn meet(s: [[i32; 3]; 3], t: [[i32; 3]; 3]) -> bool {
    let (e, f) = (sides(s), sides(t));
    let axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let [s, t] = [s, t].map(|t| t.map(|p| p.map(i128::from)));
    let parts = |normal: [i128; 3]| {
        let [[a, b, c], [k, l, m]] = [s, t].map(|t| t.map(|p| dot(normal, p)));
        a.max(b).max(c) < k.min(l).min(m) || k.max(l).max(m) < a.min(b).min(c)
    };
    let parts_along = |a: &[[i128; 3]], b: &[[i128; 3]]| a.iter().any(|&a| b.iter().any(|&b| parts(cross(a, b))));
    !(axes.into_iter().any(parts)
        || parts(cross(e[0], e[1]))
        || parts(cross(f[0], f[1]))
        || parts_along(&e, &f)
        || parts_along(&e, &axes)
        || parts_along(&f, &axes))
}

/// From each corner to the next.
fn sides([a, b, c]: [[i32; 3]; 3]) -> [[i128; 3]; 3] {
    [(a, b), (b, c), (c, a)].map(|(a, b)| [0, 1, 2].map(|i| i128::from(b[i]) - i128::from(a[i])))
}

fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i] * b[j] - b[i] * a[j])
}

fn dot(a: [i128; 3], b: [i128; 3]) -> i128 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Whether a triangle lies over a place or goes through it: once if it is counter-clockwise in plan, and once less than
/// not if it is clockwise. The place is taken a hair farther east, and by a hair of that farther north, so that of
/// triangles that meet in an edge one has it.
fn over_once(corners: [[i32; 3]; 3], place: [i32; 3]) -> i32 {
    let [a, b, c] = corners.map(|p| [0, 1, 2].map(|i| i128::from(p[i]) - i128::from(place[i])));
    let side = |a: [i128; 3], b: [i128; 3]| {
        let turn = a[0] * b[1] - a[1] * b[0];
        [turn, a[1] - b[1], b[0] - a[0]].into_iter().find(|v| *v != 0).unwrap_or(0).signum()
    };
    let up = area2(corners[0], corners[1], corners[2]).signum();
    if up == 0 || [side(a, b), side(b, c), side(c, a)] != [up; 3] {
        return 0;
    }
    // six times the volume between it and the place, above zero where it is over that
    if dot(a, cross(b, c)) * up >= 0 { up as i32 } else { 0 }
}

/// Six times its volume, and its box.
struct Shell {
    volume: i128,
    low: [i32; 3],
    high: [i32; 3],
}

impl Default for Shell {
    fn default() -> Self {
        Shell { volume: 0, low: [i32::MAX; 3], high: [i32::MIN; 3] }
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
        self.volume = self.volume.wrapping_add(dot(a, cross(b, c)));
    }

    /// Whether it is inside out; none if it has no volume.
    fn is_turned(&self) -> Option<bool> {
        (self.volume != 0).then_some(self.volume < 0)
    }

    /// Six times its volume, whichever way it is wound.
    fn size(&self) -> u128 {
        self.volume.unsigned_abs()
    }
}

/// Any odd number with bits all over, which a triangle outside the domain adds to its source, too: no few of them
/// cancel out.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Directed edges; none of a triangle with two equal corners, for its neighbours share them.
fn edges(f: &Face) -> impl Iterator<Item = (u32, u32)> {
    let [a, b, c] = f.v;
    let flat = a == b || b == c || c == a;
    [(a, b), (b, c), (c, a)].into_iter().filter(move |_| !flat)
}

/// Whether a triangle of the scene is clockwise in plan, by its positions as they are, without rounding; by its lattice
/// points if it stands upright.
fn looks_down(scene: &Scene, vertices: &[[i32; 3]], i: usize, f: &Face) -> bool {
    let area = facing(scene, i);
    if area == 0.0 {
        let [a, b, c] = f.v.map(|v| vertices[v as usize]);
        return area2(a, b, c) < 0;
    }
    area < 0.0
}

/// More than 0 if a triangle of the source looks up, less if down, and 0 if it is upright; exact.
pub fn facing(scene: &Scene, i: usize) -> f64 {
    let [a, b, c] = scene.triangles[i].v.map(|v| scene.positions[v as usize]).map(|[x, y, _]| Coord { x, y });
    orient2d(a, b, c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the distance from its middle: at each step in and about an octahedron, on its faces, edges and corners,
    /// too.
    #[test]
    fn what_lies_around_a_place_is_counted_exactly() {
        const R: i32 = 12;
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
        let most = R + 2;
        let places = (-most..=most).flat_map(|x| (-most..=most).map(move |y| [x, y]));
        for [x, y, z] in places.flat_map(|[x, y]| (-most..=most).map(move |z| [x, y, z])) {
            let far = x.abs() + y.abs() + z.abs() - R;
            let runs: i32 = triangles.iter().map(|t| over_once(*t, [x, y, z])).sum();
            // on the surface it is what is just under
            assert_eq!(runs, i32::from(far < 0 || (far == 0 && z > 0)), "{x} {y} {z}");
            let turned: i32 = triangles.iter().map(|&[a, b, c]| over_once([c, b, a], [x, y, z])).sum();
            assert_eq!(turned, -runs, "{x} {y} {z}");
        }
    }
}
