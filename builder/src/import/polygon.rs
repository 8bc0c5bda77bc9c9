//! Faces with more than three corners, as triangles.

use super::{delaunay, report::Thing};
use crate::util::text::grouped;
use earcut::Earcut;

/// Most corners of a face that is cut by ears, where nothing else will do: that takes time that grows with their square
/// and more.
const MAX_EARS: usize = 8_192;
/// Most corners of any other face that is not strictly convex: seconds.
const MAX_CORNERS: usize = 262_144;
/// Corners of a face from which on it is cut by halves, if it is strictly convex, and else by Delaunay's rule: the
/// triangles of a fan all meet in one corner.
const LONG: usize = 64;
/// Least share of a face's plan in its largest view: below it the face is upright but for rounding.
const MIN_PLAN: f64 = 1e-5;
/// Narrower faces are no ground; strips along the edges of a face that are narrower may be missing, metres.
const NARROW: f64 = 1e-3;
const STRIP: f64 = 1e-5;
/// How many times its area in the view in which it is largest a face covers in plan at least, where that is only
/// largest because of the halves of the plan one looks up and the other down.
const HALVES: f64 = 2.0;

/// Outcome of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Triangles that fill it, two fewer than corners, or fewer yet where corners repeat or touch an edge: as many lie
    /// over a place as it runs around it.
    Whole,
    /// Triangles that fill it as well as can be: it crosses itself, and runs around places the other way.
    Crossing,
    /// Nothing: why.
    Refused(Refusal),
}

/// Why a face of very many corners is not cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// More than [`MAX_CORNERS`], not strictly convex.
    Long,
    /// It crosses itself, or covers a place twice.
    Crossing,
    /// It has no area.
    Flat,
    /// As it is seen, corners that are apart lie in one place.
    Folded,
    /// Its edges cross too many edges between its other corners, as of thin teeth: more than [`delaunay::CROSSED`].
    Thin,
    /// Numbers beyond 10^60 m.
    Huge,
}

impl Refusal {
    /// The cause, after the face's name; and what to do.
    pub fn explain(self, corners: usize) -> (String, &'static str) {
        const CUT: &str = "cut it into smaller ones in a mesh editor";
        let most = format!("such faces may have at most {} corners", grouped(MAX_EARS as u64));
        let (cause, hint) = match self {
            Refusal::Long => {
                (format!("is not strictly convex, and {} are the most then", grouped(MAX_CORNERS as u64)), CUT)
            }
            Refusal::Crossing => (format!("crosses itself or covers a place twice, and {most}"), CUT),
            Refusal::Flat => (format!("has no area, and {most}"), "leave it out"),
            Refusal::Folded => (format!("stands upright in part, with corners right above others, and {most}"), CUT),
            Refusal::Thin => {
                let crossed = grouped(delaunay::CROSSED[1] as u64);
                let cause = "has long thin teeth: its edges cross more than";
                (format!("{cause} {crossed} edges of the Delaunay triangulation of its corners, and {most}"), CUT)
            }
            Refusal::Huge => ("has corners beyond 10^60 m".into(), "export the mesh again"),
        };
        (format!("of {} corners {cause}", grouped(corners as u64)), hint)
    }
}

/// Cuts faces, with memory that it keeps from one to the next.
#[derive(Default)]
pub struct Cutter {
    ring: Vec<[f64; 3]>,
    flat: Vec<[f64; 2]>,
    earcut: Earcut<f64>,
    corners: Vec<u32>,
}

/// Remedies for a face that is not cut whole.
struct Rest {
    cut: Cut,
    /// Ears of a face that crosses itself.
    ears: Vec<[usize; 3]>,
    /// Twice the area of those.
    covered: f64,
}

impl Cutter {
    /// Cuts a face of these vertices, and tells `see` what it is. An error is the cause, after the face's name, and
    /// what to do.
    pub fn face(
        &mut self,
        corners: &[u32],
        positions: &[[f64; 3]],
        mut see: impl FnMut(Thing),
        mut emit: impl FnMut([u32; 3]),
    ) -> Result<(), (String, &'static str)> {
        match *corners {
            [] | [_] | [_, _] => {
                see(Thing::Small);
                return Ok(());
            }
            [a, b, c] => {
                emit([a, b, c]);
                see(Thing::Faces);
                return Ok(());
            }
            _ => {}
        }
        // with more corners than there are vertices it names some twice, and so is not strictly convex
        if corners.len() > MAX_CORNERS.max(positions.len()) {
            return Err(Refusal::Long.explain(corners.len()));
        }
        let mut ring = std::mem::take(&mut self.ring);
        ring.clear();
        ring.extend(corners.iter().map(|&v| positions[v as usize]));
        let mut count = 0;
        let cut = self.cut(&ring, |t| {
            count += 1;
            emit(t.map(|i| corners[i]));
        });
        self.ring = ring;
        match cut {
            Cut::Whole => {}
            Cut::Crossing => see(Thing::Crossing),
            Cut::Refused(why) => return Err(why.explain(corners.len())),
        }
        if count == 0 {
            see(Thing::Folded);
        } else {
            see(Thing::Polygons);
            see(Thing::Faces);
        }
        Ok(())
    }

    /// Cuts one face into triangles of indices into `ring`, wound as the face is.
    ///
    /// A triangle stays. A convex face, as it is seen from the side where it is largest, becomes the fan from its first
    /// corner, as other tools draw it; one with very many corners, none of them straight, is halved again and again. A
    /// concave one is cut as it is seen from above, or from that side if it is upright or crosses itself above: by
    /// ears, or if it has very many corners, as one that has straight ones, as [`delaunay`] says. One of which a part
    /// looks up and another down, so that it covers far more in plan than it seems to have from any side, is cut from
    /// above in any case. Its points on straight edges stay corners in every case, so that a neighbour's edge still
    /// meets them and their heights are kept.
    pub fn cut(&mut self, ring: &[[f64; 3]], mut emit: impl FnMut([usize; 3])) -> Cut {
        if ring.len() == 3 {
            emit([0, 1, 2]);
            return Cut::Whole;
        }
        let Err(Rest { cut, ears, .. }) = self.cut_all(ring, &mut emit) else { return Cut::Whole };
        let kept = if cut == Cut::Crossing { unspun(ring) } else { Vec::new() };
        if (1..ring.len()).contains(&kept.len()) {
            let some: Vec<[f64; 3]> = kept.iter().map(|&i| ring[i]).collect();
            if some.len() < 3 || self.cut_all(&some, &mut |t: [usize; 3]| emit(t.map(|i| kept[i]))).is_ok() {
                return Cut::Whole;
            }
        }
        ears.into_iter().for_each(emit);
        cut
    }

    /// Cuts it with all of its corners.
    fn cut_all(&mut self, ring: &[[f64; 3]], emit: &mut impl FnMut([usize; 3])) -> Result<(), Rest> {
        let views = views(ring);
        let plan = views[0];
        let largest = views.into_iter().fold(plan, |best, v| if v.size > best.size { v } else { best });
        let mut shape = self.see(ring, largest);
        let by_plan = largest.axis != plan.axis
            && (swept(ring) > HALVES * largest.size || (plan.size > MIN_PLAN * largest.size && !shape.is_convex()));
        if by_plan {
            shape = self.see(ring, plan);
        }
        let mut cut = self.cut_seen(ring, shape, emit);
        if by_plan && cut.as_ref().is_err_and(|rest| rest.covered <= HALVES * largest.size) {
            // it may hang over
            let shape = self.see(ring, largest);
            cut = self.cut_seen(ring, shape, emit).or(cut);
        }
        cut
    }

    /// Looks at it.
    fn see(&mut self, ring: &[[f64; 3]], view: View) -> Shape {
        flatten(ring, view, &mut self.flat);
        Shape::of(&self.flat)
    }

    /// Cuts it as it is seen.
    fn cut_seen(&mut self, ring: &[[f64; 3]], shape: Shape, emit: &mut impl FnMut([usize; 3])) -> Result<(), Rest> {
        let flat = &self.flat;
        if shape.strictly && shape.turns == 1 && flat.len() > LONG {
            halve(0, flat.len() - 1, emit);
            return Ok(());
        }
        // ears and fans of a long face crowd around few of its corners
        if flat.len() > LONG {
            let cut = if flat.len() > MAX_CORNERS { Err(Refusal::Long) } else { delaunay::cut(ring, flat) };
            match cut {
                Ok(triangles) => {
                    triangles.into_iter().for_each(emit);
                    return Ok(());
                }
                Err(refusal) if flat.len() > MAX_EARS => {
                    return Err(Rest { cut: Cut::Refused(refusal), ears: Vec::new(), covered: 0.0 });
                }
                Err(_) => {}
            }
        }
        if shape.is_convex() {
            (2..flat.len()).for_each(|i| emit([0, i - 1, i]));
            return Ok(());
        }
        self.earcut.earcut_slice(flat, &[], &mut self.corners);
        let doubled = |[a, b, c]: [usize; 3]| turn(flat[a], flat[b], flat[c]);
        let mut ears: Vec<[usize; 3]> = self.corners.as_chunks().0.iter().map(|t| t.map(|i| i as usize)).collect();
        if ears.len() + 2 < flat.len() {
            keep_corners(&mut ears, flat.len());
        }
        ears.iter_mut().filter(|t| doubled(**t) < 0.0).for_each(|t| t.swap(1, 2));
        // where corners repeat or touch an edge some have no triangle, and nothing is missing; where the face crosses
        // itself there may be as many as there should be, of them some over others
        let area: f64 = (2..flat.len()).map(|i| doubled([0, i - 1, i])).sum();
        let covered: f64 = ears.iter().map(|t| doubled(*t)).sum();
        let (around, missing) = (around(flat), (area - covered).abs());
        if covered > NARROW * around && missing > 1e-9 * covered + STRIP * around {
            return Err(Rest { cut: Cut::Crossing, ears, covered });
        }
        ears.into_iter().for_each(emit);
        Ok(())
    }
}

/// Cuts the corners from one to another, and the edge between these two, in the middle and so on.
fn halve(from: usize, to: usize, emit: &mut impl FnMut([usize; 3])) {
    if to - from > 1 {
        let middle = from.midpoint(to);
        emit([from, middle, to]);
        halve(from, middle, emit);
        halve(middle, to, emit);
    }
}

/// Splits triangles at the corners that no triangle has, between the two corners whose edge they lie on.
fn keep_corners(triangles: &mut Vec<[usize; 3]>, corners: usize) {
    let mut has = vec![false; corners];
    triangles.iter().flatten().for_each(|&i| has[i] = true);
    // the next corner that a triangle has
    let mut next = vec![0; corners];
    let mut after = 0;
    for i in (0..2 * corners).rev() {
        next[i % corners] = after;
        if has[i % corners] {
            after = i % corners;
        }
    }
    let gap = |a: usize, b: usize| has[a] && has[b] && next[a] == b && (a + 1) % corners != b;
    let mut open = std::mem::take(triangles);
    while let Some([a, b, c]) = open.pop() {
        let turned = [[a, b, c], [b, c, a], [c, a, b]];
        match turned.into_iter().find(|t| gap(t[0], t[1])) {
            None => triangles.push([a, b, c]),
            Some([a, b, c]) => {
                let mut from = a;
                while from != b {
                    let to = (from + 1) % corners;
                    open.push([from, to, c]);
                    from = to;
                }
            }
        }
    }
}

/// An axis along which a face is seen.
#[derive(Clone, Copy)]
struct View {
    axis: usize,
    /// Twice its area, seen so.
    size: f64,
    /// Whether it runs clockwise.
    back: bool,
}

/// From above, and along x and y.
fn views(ring: &[[f64; 3]]) -> [View; 3] {
    let o = ring[0]; // close to the face, so that large coordinates do not swamp the sum
    let mut normal = [0.0; 3];
    for (i, p) in ring.iter().enumerate() {
        let q = ring[(i + 1) % ring.len()];
        for (axis, n) in normal.iter_mut().enumerate() {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            *n += (p[u] - o[u]) * (q[v] - o[v]) - (p[v] - o[v]) * (q[u] - o[u]);
        }
    }
    [2, 0, 1].map(|axis| View { axis, size: normal[axis].abs(), back: normal[axis] < 0.0 })
}

/// Twice the area in plan of a fan from its first corner, whichever way its triangles look: that of a face of which a
/// part looks up and another down is no less.
fn swept(ring: &[[f64; 3]]) -> f64 {
    let flat = |p: [f64; 3]| [p[0], p[1]];
    ring.windows(2).map(|e| turn(flat(ring[0]), flat(e[0]), flat(e[1])).abs()).sum()
}

/// As it is seen; the result runs counter-clockwise.
fn flatten(ring: &[[f64; 3]], View { axis, back, .. }: View, flat: &mut Vec<[f64; 2]>) {
    let o = ring[0];
    let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
    if back {
        (u, v) = (v, u);
    }
    flat.clear();
    flat.extend(ring.iter().map(|p| [p[u] - o[u], p[v] - o[v]]));
}

/// The corners of a face, but for those that repeat the one before, and those at the ends of edges that lead there and
/// back.
fn unspun(ring: &[[f64; 3]]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::with_capacity(ring.len());
    for (i, p) in ring.iter().enumerate() {
        match kept[..] {
            [.., last] if ring[last] == *p => {}
            [.., before, _] if ring[before] == *p => drop(kept.pop()),
            _ => kept.push(i),
        }
    }
    let same = |a: usize, b: usize| ring[a] == ring[b];
    let mut around = &kept[..];
    loop {
        around = match *around {
            [first, .., last] if same(first, last) => &around[1..],
            [first, .., before, _] if same(first, before) => &around[..around.len() - 1],
            [_, second, .., last] if same(second, last) => &around[1..],
            _ => return around.to_vec(),
        };
    }
}

/// How long its edges are.
fn around(flat: &[[f64; 2]]) -> f64 {
    let ends = flat.iter().zip(flat.iter().cycle().skip(1));
    ends.map(|(a, b)| libm::hypot(b[0] - a[0], b[1] - a[1])).sum()
}

/// Twice the signed area of the corner.
pub fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Which way a flat face turns at its corners.
struct Shape {
    /// Nowhere right.
    left: bool,
    /// Everywhere left.
    strictly: bool,
    /// How often it turns about itself, right turns taken off: a face that neither crosses nor touches itself does so
    /// once.
    turns: i32,
}

impl Shape {
    fn is_convex(&self) -> bool {
        self.left && self.turns <= 1
    }

    fn of(ring: &[[f64; 2]]) -> Shape {
        let n = ring.len();
        let mut shape = Shape { left: true, strictly: true, turns: 0 };
        // an edge runs up, or along the axis; one without length runs as the one before it
        let upward = |a: [f64; 2], b: [f64; 2]| (a != b).then(|| b[1] > a[1] || (b[1] == a[1] && b[0] > a[0]));
        let last = (0..n).rev().find_map(|i| Some((ring[i], upward(ring[i], ring[(i + 1) % n])?)));
        let (mut from, mut before) = last.unwrap_or((ring[0], true));
        for i in 0..n {
            let [b, c] = [ring[i], ring[(i + 1) % n]];
            let by = turn(from, b, c);
            shape.left &= by >= 0.0;
            shape.strictly &= by > 0.0;
            let Some(up) = upward(b, c) else { continue };
            match (before, up) {
                (false, true) if by >= 0.0 => shape.turns += 1,
                (true, false) if by < 0.0 => shape.turns -= 1,
                _ => {}
            }
            (from, before) = (b, up);
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(ring: &[[f64; 3]]) -> Vec<[usize; 3]> {
        let mut out = Vec::new();
        assert_eq!(Cutter::default().cut(ring, |t| out.push(t)), Cut::Whole, "{ring:?}");
        out
    }

    fn generator() -> impl FnMut() -> f64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64
        }
    }

    fn plan_area(ring: &[[f64; 3]], triangles: &[[usize; 3]]) -> (f64, f64) {
        let areas = triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| [ring[i][0], ring[i][1]]);
            turn(a, b, c) / 2.0
        });
        areas.fold((0.0, 0.0), |(sum, size), a| (sum + a, size + a.abs()))
    }

    #[test]
    fn convex_faces_are_fans_from_the_first_corner() {
        assert_eq!(cut(&[[0., 0., 0.], [1., 0., 0.], [1., 1., 5.], [0., 1., 0.]]), [[0, 1, 2], [0, 2, 3]]);
    }

    /// Every line through such a face meets few of its triangles.
    #[test]
    fn convex_faces_with_many_corners_are_no_fans() {
        let n = 100_000;
        let corner = |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(n);
        let ring: Vec<[f64; 3]> = (0..n).map(|i| [100.0 * corner(i).cos(), 100.0 * corner(i).sin(), 0.0]).collect();
        let triangles = cut(&ring);
        assert_eq!(triangles.len(), ring.len() - 2);
        let mut uses = vec![0; ring.len()];
        triangles.iter().flatten().for_each(|&i| uses[i] += 1);
        assert!(uses.iter().all(|&u| (1..=34).contains(&u)), "{:?}", uses.iter().max());
        let (sum, size) = plan_area(&ring, &triangles);
        let whole: f64 = (2..ring.len()).map(|i| turn(flat(ring[0]), flat(ring[i - 1]), flat(ring[i]))).sum();
        assert!(sum == size && (sum - whole / 2.0).abs() < 1e-6);
    }

    /// Corners around a point.
    fn round(n: usize, mut radius: impl FnMut(usize) -> f64) -> Vec<[f64; 3]> {
        let at = |i: usize| (std::f64::consts::TAU * i as f64 / n as f64, radius(i));
        (0..n).map(at).map(|(a, r)| [r * a.cos(), r * a.sin(), 0.0]).collect()
    }

    /// Long faces, by what they are.
    fn long(n: usize) -> Vec<(&'static str, Vec<[f64; 3]>)> {
        let teeth = |every: usize, high: f64| {
            let mut ring: Vec<[f64; 3]> =
                (0..n).map(|i| [(n - i) as f64, (i / every % 2) as f64 * high, (i % 3) as f64]).collect();
            ring.extend([[0.0, -5.0, 0.0], [n as f64, -5.0, 0.0]]);
            ring
        };
        let turn = |k: usize, out: f64| {
            let (a, r) = (std::f64::consts::TAU * (k % 64) as f64 / 64.0, 1.0 + 0.05 * k as f64 + out);
            [r * a.cos(), r * a.sin(), 0.0]
        };
        let spiral = (0..n / 2).map(|k| turn(k, 1.0)).chain((0..n / 2).rev().map(|k| turn(k, 0.0))).collect();
        let straight = (0..n).map(|i| i as f64).map(|x| [x, 0.0, 0.0]).chain([[0.0, 9.0, 0.0]]).collect();
        let horn = (0..n).rev().map(|i| i as f64 / n as f64).map(|x| [x, x * x, 0.0]);
        let horn = [[0.0, -1.0, 0.0], [1.0, -1.0, 0.0]].into_iter().chain(horn).collect();
        // a strip with holes, each reached from its lower edge, there and back
        let hole = |k: usize| {
            let x = (6 * k + 3) as f64;
            [[x, 0.], [x, 2.], [x - 1., 3.], [x, 4.], [x + 1., 3.], [x, 2.], [x, 0.]].map(|[x, y]| [x, y, 0.0])
        };
        let outline = [[n as f64, 0.0, 0.0], [n as f64, 9.0, 0.0], [0.0, 9.0, 0.0]];
        let holes = [[0.0; 3]].into_iter().chain((0..n / 7).flat_map(hole)).chain(outline).collect();
        vec![
            ("saw", teeth(1, 1.0)),
            ("comb", teeth(2, 1000.0)),
            ("spiral", spiral),
            ("star", round(n, |i| 1.0 + (i * 7919 % 1000) as f64 / 100.0)),
            ("straight", straight),
            ("horn", horn),
            ("holes", holes),
        ]
    }

    /// Against the area of the face and the edges of its triangles: each edge of the face is one of one triangle, each
    /// other of two.
    #[test]
    fn long_faces_are_cut_whole_and_soon() {
        let begin = std::time::Instant::now();
        for (name, ring) in long(40_000) {
            let mut triangles = Vec::new();
            let clock = std::time::Instant::now();
            assert_eq!(Cutter::default().cut(&ring, |t| triangles.push(t)), Cut::Whole, "{name}");
            println!("{name}: {} corners, {:?}", ring.len(), clock.elapsed());
            assert_eq!(triangles.len(), ring.len() - 2, "{name}");
            let (sum, size) = plan_area(&ring, &triangles);
            let whole: f64 =
                (0..ring.len()).map(|i| turn([0.; 2], flat(ring[i]), flat(ring[(i + 1) % ring.len()]))).sum();
            assert!(sum == size && (sum - whole / 2.0).abs() <= 1e-9 * size, "{name}: {sum} {size} {whole}");
            let mut uses = std::collections::BTreeMap::new();
            let place = |i: usize| ring[i].map(f64::to_bits);
            let mut count = |a: usize, b: usize, by: i32| *uses.entry((place(a), place(b))).or_insert(0) += by;
            triangles.iter().for_each(|&[a, b, c]| [(a, b), (b, c), (c, a)].iter().for_each(|&(a, b)| count(a, b, 1)));
            (0..ring.len()).for_each(|i| count((i + 1) % ring.len(), i, 1));
            for ((a, b), n) in &uses {
                assert_eq!(uses.get(&(*b, *a)), Some(n), "{name}: {a:?} {b:?}");
            }
        }
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }

    /// Cut both ways, short faces have the same area.
    #[test]
    fn long_and_short_faces_are_cut_alike() {
        for (name, ring) in long(600) {
            let flat: Vec<[f64; 2]> = ring.iter().map(|p| [p[0], p[1]]).collect();
            let triangles = delaunay::cut(&ring, &flat).unwrap();
            let ((sum, size), (other, _)) = (plan_area(&ring, &triangles), plan_area(&ring, &cut(&ring)));
            assert!(sum == size && triangles.len() == ring.len() - 2, "{name}");
            assert!((sum - other).abs() <= 1e-9 * size, "{name}: {sum} {other}");
        }
    }

    /// A smooth outline with as many corners as may be, apart by chance.
    #[test]
    fn a_plain_outline_of_most_corners_is_cut() {
        let mut random = generator();
        let mut angles: Vec<f64> = (0..MAX_CORNERS).map(|_| std::f64::consts::TAU * random() / 2f64.powi(24)).collect();
        angles.sort_by(f64::total_cmp);
        angles.dedup();
        let place = |a: &f64| {
            let r = 3e5 * (1.0 + 0.2 * (5.0 * a).sin());
            [r * a.cos(), r * a.sin(), 0.0]
        };
        let ring: Vec<[f64; 3]> = angles.iter().map(place).collect();
        assert!(ring.len() > 250_000);
        let triangles = cut(&ring);
        assert_eq!(triangles.len(), ring.len() - 2);
        let (sum, size) = plan_area(&ring, &triangles);
        let whole: f64 = (0..ring.len()).map(|i| turn([0.; 2], flat(ring[i]), flat(ring[(i + 1) % ring.len()]))).sum();
        assert!(sum == size && (sum - whole / 2.0).abs() <= 1e-9 * size, "{sum} {size} {whole}");
    }

    #[test]
    fn long_faces_that_cross_themselves_or_are_longer_still_are_refused() {
        let n = MAX_EARS + 1;
        let mut random = generator();
        let tangle = (0..n).map(|_| [random(), random(), 0.]).collect();
        let cells = (0..n).map(|_| [(random() / 1e6).floor(), (random() / 1e6).floor(), 0.]).collect();
        let twice = [round(n, |_| 9.0), round(n, |_| 8.0)].concat();
        let mut folded = long(2 * n).remove(6).1;
        folded[2][2] = 1.0; // above where it comes back to
        let there_and_back = (0..n).map(|i| [i.min(n - i) as f64, 0., 0.]).collect();
        let mut far = round(n, |i| 1.0 + (i % 2) as f64);
        far[7][0] = 1e70;
        for (name, ring, why) in [
            ("tangle", tangle, Refusal::Crossing),
            ("cells", cells, Refusal::Crossing),
            ("twice", twice, Refusal::Crossing),
            ("folded", folded, Refusal::Folded),
            ("there and back", there_and_back, Refusal::Flat),
            ("a line", (0..n).map(|i| [i as f64, 0., 0.]).collect(), Refusal::Flat),
            ("a place", vec![[1., 1., 1.]; n], Refusal::Flat),
            ("a comb of more", long(MAX_CORNERS).remove(1).1, Refusal::Long),
            ("far", far, Refusal::Huge),
        ] {
            let mut out = 0;
            assert_eq!((Cutter::default().cut(&ring, |_| out += 1), out), (Cut::Refused(why), 0), "{name}");
            let (cause, hint) = why.explain(ring.len());
            assert!(cause.starts_with("of ") && cause.contains(" corners ") && !hint.is_empty(), "{cause}");
        }
        // hairs that no machine can tell from nothing do not decide
        for least in [1e-45, 1e-140, 5e-324] {
            let mut ring = long(n).remove(0).1;
            ring[3][1] = least;
            ring[5][0] = ring[5][0].max(least);
            assert_eq!(Cutter::default().cut(&ring, |_| ()), Cut::Whole, "{least}");
        }
    }

    /// A cell of ground with a corner that is far off: seen from the side it crosses itself, where it is level.
    #[test]
    fn a_bent_face_is_cut_by_its_plan() {
        for far in [-9999.0, -30.0, 3.0, 30.0, 30_000.0] {
            for spike in 0..4 {
                let mut ring = [[0., 0., 0.1], [1., 0., 0.3], [1., 1., 0.], [0., 1., 0.2]];
                ring[spike][2] = far;
                assert_eq!(plan_area(&ring, &cut(&ring)), (1.0, 1.0), "{far} {spike}");
            }
        }
        // concave, with two corners far above: of a quarter of the square nothing is covered, and nothing twice
        for k in 0..6 {
            let mut ring = [[0., 0., 0.], [2., 0., 0.], [2., 1., 0.], [1., 1., 0.], [1., 2., 0.], [0., 2., 0.]];
            (ring[k][2], ring[(k + 1) % 6][2]) = (6.0, -7.0);
            assert_eq!(plan_area(&ring, &cut(&ring)), (3.0, 3.0), "{k}");
        }
    }

    /// A face without area, or narrower than a millimetre, loses none.
    #[test]
    fn faces_that_repeat_corners_or_have_no_area_cross_nothing() {
        let flat = |corners: &[[i32; 2]]| corners.iter().map(|p| [p[0].into(), p[1].into(), 0.0]).collect::<Vec<_>>();
        for (corners, area) in [
            (&[[1, 2], [0, 2], [1, 2], [0, 2], [0, 3]][..], 0.5),
            (&[[3, 3], [3, 0], [0, 3], [3, 3], [3, 0]], 4.5),
            (&[[1, 3], [3, 1], [1, 1], [2, 2], [1, 1]], 2.0),
            (&[[0, 0], [1, 0], [0, 0], [1, 0]], 0.0),
            (&[[0, 0], [4, 0], [4, 4], [4, 6], [4, 4], [0, 4]], 16.0),
            (&[[0, 0], [4, 0], [4, 4], [4, 2], [4, 4], [0, 4]], 16.0),
            (&[[0, 0], [4, 0], [4, 2], [6, 2], [4, 2], [4, 4], [0, 4]], 16.0),
            (&[[0, 0], [4, 0], [4, 2], [2, 2], [2, 4], [0, 4], [-2, 5], [0, 4]], 12.0),
            (&[[0, 0], [4, 0], [4, 4], [2, 2], [3, 3], [4, 4], [0, 4]], 16.0),
            (&[[0, 0], [2, 0], [2, 2], [2, 1], [2, 0], [4, 0], [4, 4], [0, 4]], 16.0),
        ] {
            let ring = flat(corners);
            assert_eq!(plan_area(&ring, &cut(&ring)).1, area, "{corners:?}");
        }
        let mut random = generator();
        for n in [4, 5, 8, 40] {
            for digits in [1e3, 1e6, 1e15] {
                let along = |t: f64, by: f64| [10.0 * t, 7.0 * t + by, 3.0 * t].map(|v| (v * digits).round() / digits);
                let ring: Vec<_> = (0..n).map(|_| along(random() / 2f64.powi(24), random() / 2f64.powi(44))).collect();
                cut(&ring);
            }
        }
    }

    /// A comb whose teeth and back have points on their straight edges, those in the back raised.
    #[test]
    fn points_on_straight_edges_of_concave_faces_stay_corners() {
        let teeth = 50;
        let mut ring: Vec<[f64; 3]> = (0..=4 * teeth).map(|i| [f64::from(i), 0., f64::from(i % 2)]).collect();
        for i in (0..teeth).rev() {
            let x = f64::from(4 * i);
            ring.extend([[x + 4., 9., 0.], [x + 3., 9., 0.], [x + 2., 9., 0.], [x + 2., 5., 0.], [x + 2., 1., 0.]]);
            ring.extend([[x + 1., 1., 0.], [x + 0.5, 1., 0.]]);
        }
        for turned in 0..ring.len() {
            ring.rotate_left(1);
            let triangles = cut(&ring);
            assert_eq!(triangles.len(), ring.len() - 2, "turned by {turned}");
            let (sum, size) = plan_area(&ring, &triangles);
            assert_eq!(sum, size);
            let whole: f64 =
                (0..ring.len()).map(|i| turn([0.; 2], flat(ring[i]), flat(ring[(i + 1) % ring.len()]))).sum();
            assert_eq!(sum, whole / 2.);
        }
        let flip: Vec<_> = ring.iter().rev().copied().collect();
        let (sum, size) = plan_area(&flip, &cut(&flip));
        assert_eq!(sum, -size);
    }

    fn flat(p: [f64; 3]) -> [f64; 2] {
        [p[0], p[1]]
    }

    /// Seen from any side, each triangle lies in the face's plane and is wound as the face is.
    #[test]
    fn faces_that_stand() {
        let arrow = [[0., 0.], [4., 0.], [4., 4.], [3., 1.]];
        for axis in 0..3 {
            for back in [false, true] {
                let mut ring: Vec<[f64; 3]> = arrow
                    .map(|[u, v]| {
                        let mut p = [0.25 * (u + v); 3];
                        (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (u, v);
                        p
                    })
                    .to_vec();
                if back {
                    ring.reverse();
                }
                let triangles = cut(&ring);
                assert_eq!(triangles.len(), 2);
                for t in triangles {
                    let [a, b, c] = t.map(|i| [ring[i][(axis + 1) % 3], ring[i][(axis + 2) % 3]]);
                    assert_eq!(turn(a, b, c) > 0., !back);
                }
            }
        }
    }

    /// Against each pair of edges and how often a face runs around places: stars, some with a corner twice, with two
    /// neighbouring corners exchanged, and with any corners at all.
    #[test]
    fn faces_that_cross_themselves_are_told() {
        let mut random = generator();
        let crosses = |ring: &[[f64; 3]]| {
            let n = ring.len();
            let edge = |i: usize| [flat(ring[i]), flat(ring[(i + 1) % n])];
            let parts = |[a, b]: [[f64; 2]; 2], [c, d]: [[f64; 2]; 2]| turn(a, b, c) * turn(a, b, d) < 0.0;
            (0..n).any(|i| (0..i).any(|j| parts(edge(i), edge(j)) && parts(edge(j), edge(i))))
        };
        let (mut told, mut twice) = (0, 0);
        for n in (4..=12).cycle().take(1200) {
            let mut ring = round(n, |_| 1.0 + random() % 400.0 / 100.0);
            let at = random() as usize % n;
            match random() as usize % 4 {
                0 => ring.swap(at, (at + 1) % n),
                1 => ring.insert(at, ring[at]),
                2 => ring.iter_mut().for_each(|p| *p = [random() % 9e4 / 1e4, random() % 9e4 / 1e4, 0.0]),
                _ => {}
            }
            let high = [0.0, 1e-3, 0.05, 0.2][random() as usize % 4];
            ring.iter_mut().for_each(|p| p[2] = high * random() / 2f64.powi(24));
            let mut triangles = Vec::new();
            let cut = Cutter::default().cut(&ring, |t| triangles.push(t));
            assert!(cut == Cut::Whole || crosses(&ring), "{ring:?} {triangles:?}");
            let (sum, size) = plan_area(&ring, &triangles);
            assert!((sum.abs() - size).abs() <= 1e-9 * size, "{ring:?} {triangles:?}");
            // how often it runs around places, and how many triangles lie there
            let way = if sum < 0.0 { -1.0 } else { 1.0 };
            let places = (0..60).map(|_| [random() % 900.0 / 100.0 + 1e-3, random() % 900.0 / 100.0 + 2e-3]);
            let differs = places.filter(|p| {
                let left = |a: usize, b: usize| turn(flat(ring[a]), flat(ring[b]), *p) * way > 0.0;
                let over = triangles.iter().filter(|[a, b, c]| left(*a, *b) && left(*b, *c) && left(*c, *a)).count();
                let runs: i64 = (0..ring.len())
                    .map(|i| [flat(ring[i]), flat(ring[(i + 1) % ring.len()])])
                    .map(|[a, b]| match (a[1] < p[1], b[1] < p[1]) {
                        (true, false) if turn(a, b, *p) > 0.0 => 1,
                        (false, true) if turn(a, b, *p) < 0.0 => -1,
                        _ => 0,
                    })
                    .sum();
                twice += usize::from(cut == Cut::Whole && over > 1);
                over as f64 != runs as f64 * way
            });
            let differs = differs.count();
            assert!(cut == Cut::Crossing || differs == 0, "{ring:?} {triangles:?}");
            told += usize::from(cut == Cut::Crossing && differs > 0);
        }
        assert!(told > 100 && twice > 0, "{told} {twice}");
        // a long random one ends soon
        let tangle: Vec<_> = (0..3000).map(|_| [random(), random(), 0.]).collect();
        let start = std::time::Instant::now();
        assert_eq!(Cutter::default().cut(&tangle, |_| ()), Cut::Crossing);
        assert!(start.elapsed().as_secs() < 10);
    }
}
