//! Which shells of a source are inside out, with code of its own.

use crate::scene::Scene;
use hashbrown::{HashMap, HashSet};
use rstar::{AABB, RTree, primitives::GeomWithData, primitives::Rectangle};
use std::cmp::Reverse;

type P = [i64; 3];
type Corners = [P; 3];
/// Boxes of triangles, each with the number of its shell and its own.
type Boxes = RTree<GeomWithData<Rectangle<P>, (usize, u32)>>;

/// Most triangles of others whose boxes may lie over a top of a cavity; and as many for each of its own, of those in
/// whose boxes the planes of its own are, within their boxes.
const MAX_BOXES: usize = 4096;

/// Of each triangle whether its shell is inside out, if its source is exactly closed on the lattice: every directed
/// edge once, and its opposite once. What hangs together at edges is a shell. One is as its volume says, unless it is a
/// cavity: of those of larger volume around its highest corners the least, or each of several, has it inside without
/// meeting it, is wound against it, and is no cavity.
pub fn inside_out(scene: &Scene, steps: &[Option<[[i64; 3]; 3]>]) -> Vec<Option<bool>> {
    const NONE: u32 = u32::MAX;
    let solid = |q: &[[i64; 3]; 3]| q[0] != q[1] && q[1] != q[2] && q[2] != q[0];
    let ends = |q: &[[i64; 3]; 3], k: usize| {
        let [a, b] = [q[k], q[(k + 1) % 3]].map(|p| p.map(|v| v as i32));
        (a.min(b), a.max(b))
    };
    // the triangle along each edge from its lesser end, and that from its greater
    let mut edges: HashMap<(u16, [i32; 3], [i32; 3]), [u32; 2]> = HashMap::new();
    let mut open = HashSet::new();
    for (i, (t, q)) in scene.triangles.iter().zip(steps).enumerate() {
        match q {
            None => drop(open.insert(t.source)),
            Some(q) if solid(q) => (0..3).for_each(|k| {
                let (low, high) = ends(q, k);
                let way =
                    &mut edges.entry((t.source, low, high)).or_insert([NONE; 2])[usize::from(q[k] > q[(k + 1) % 3])];
                if std::mem::replace(way, i as u32) != NONE {
                    open.insert(t.source);
                }
            }),
            _ => {}
        }
    }
    open.extend(edges.iter().filter(|(_, ways)| ways.contains(&NONE)).map(|((source, ..), _)| *source));
    let mut shells: HashMap<u16, Vec<Shell>> = HashMap::new();
    let mut seen = vec![false; steps.len()];
    for (first, t) in scene.triangles.iter().enumerate().filter(|(_, t)| !open.contains(&t.source)) {
        let mut shell = Shell { low: [i64::MAX; 3], high: [i64::MIN; 3], volume: 0, triangles: Vec::new() };
        let mut next = vec![first as u32];
        while let Some(i) = next.pop() {
            let Some(q) = steps[i as usize].as_ref().filter(|q| solid(q) && !seen[i as usize]) else { continue };
            seen[i as usize] = true;
            shell.triangles.push(i);
            let [a, b, c] = q.map(|c| c.map(i128::from));
            let minor = |i: usize, j: usize| b[i] * c[j] - b[j] * c[i];
            for (a, minor) in a.into_iter().zip([minor(1, 2), minor(2, 0), minor(0, 1)]) {
                shell.volume = shell.volume.wrapping_add(a.wrapping_mul(minor));
            }
            for k in 0..3 {
                shell.low = [0, 1, 2].map(|i| shell.low[i].min(q[k][i]));
                shell.high = [0, 1, 2].map(|i| shell.high[i].max(q[k][i]));
                let (low, high) = ends(q, k);
                next.extend(edges[&(t.source, low, high)]);
            }
        }
        if shell.volume != 0 {
            shells.entry(t.source).or_default().push(shell);
        }
    }
    drop(edges);
    let mut inside_out = vec![None; steps.len()];
    for mut shells in shells.into_values() {
        // largest first, so that what holds one is known before it
        shells.sort_by_key(|s| Reverse(s.volume.abs()));
        let is_cavity = cavities(&shells, |t| steps[t as usize].unwrap_or_default());
        for (s, is_cavity) in shells.iter().zip(is_cavity) {
            s.triangles.iter().for_each(|&t| inside_out[t as usize] = Some((s.volume < 0) != is_cavity));
        }
    }
    inside_out
}

/// For each shell, largest first, whether it is a cavity.
fn cavities(shells: &[Shell], corners: impl Fn(u32) -> Corners) -> Vec<bool> {
    let mut is_cavity = vec![false; shells.len()];
    // at whose least corner is a box of one wound otherwise
    let boxes = [1, -1].map(|way| {
        let those = shells.iter().filter(|s| s.volume.signum() == way);
        RTree::bulk_load(those.map(|s| Rectangle::from_corners(s.low, s.high)).collect())
    });
    let is_any = |boxes: &RTree<Rectangle<P>>, at| boxes.locate_in_envelope_intersecting(at).next().is_some();
    let is_doubted = |s: &Shell| is_any(&boxes[usize::from(s.volume > 0)], AABB::from_point(s.low));
    let doubted: Vec<usize> = (0..shells.len()).filter(|&i| is_doubted(&shells[i])).collect();
    // with all in their boxes, or over them
    let column = |low: P, high: P| AABB::from_corners(low, [high[0], high[1], i64::MAX]);
    let columns = doubted.iter().map(|&i| Rectangle::from_aabb(column(shells[i].low, shells[i].high))).collect();
    let columns = RTree::bulk_load(columns);
    let asked = (0..shells.len()).filter(|&k| is_any(&columns, AABB::from_corners(shells[k].low, shells[k].high)));
    let boxed = |k: usize, t: u32| GeomWithData::new(Rectangle::from_aabb(AABB::from_points(&corners(t))), (k, t));
    let triangles: Boxes =
        RTree::bulk_load(asked.flat_map(|k| shells[k].triangles.iter().map(move |&t| boxed(k, t))).collect());
    let size = |k: usize| shells[k].volume.abs();
    for i in doubted {
        let own = || shells[i].triangles.iter().map(|&t| corners(t));
        let highest = own().flatten().map(|p| p[2]).max();
        let mut tops = Vec::new();
        for (east, north) in [(1, 1), (1, -1), (-1, 1), (-1, -1)] {
            let corners = || own().flatten().filter(|p| Some(p[2]) == highest);
            tops.extend(corners().max_by_key(|p| (east * p[0], north * p[1])));
            tops.extend(corners().max_by_key(|p| (north * p[1], east * p[0])));
        }
        tops.sort_unstable();
        tops.dedup();
        let mut around: Vec<usize> = (0..shells.len()).filter(|&k| size(k) > size(i)).collect();
        for top in &tops {
            let over = triangles.locate_in_envelope_intersecting(column(*top, *top)).map(|b| b.data);
            let over: Vec<(usize, u32)> = over.filter(|&(k, _)| k != i).take(MAX_BOXES + 1).collect();
            let (mut runs, mut touched) = (HashMap::new(), HashSet::new());
            for &(k, t) in &over {
                *runs.entry(k).or_insert(0) += runs_over(&corners(t), top);
                touched.extend(meet(&[*top; 3], &corners(t)).then_some(k));
            }
            around.retain(|k| {
                over.len() <= MAX_BOXES && (touched.contains(k) || runs.get(k).is_some_and(|&runs| runs != 0))
            });
        }
        let Some(least) = around.iter().map(|&k| size(k)).min() else { continue };
        around.retain(|&k| size(k) == least);
        let may_hold = |&k: &usize| shells[k].volume.signum() != shells[i].volume.signum() && !is_cavity[k];
        let mut count = 0;
        let mut is_free = |s: Corners| {
            let within = AABB::from_points(&s);
            let mut near = triangles.locate_in_envelope_intersecting(within).map(|b| (b.data, b.geom()));
            near.all(|((k, t), b)| {
                count += usize::from(is_cut(&s, &b.lower(), &b.upper()));
                let is_meant = around.contains(&k);
                count < MAX_BOXES * shells[i].triangles.len() && !(is_meant && meet(&s, &corners(t)))
            })
        };
        is_cavity[i] = around.iter().all(may_hold) && own().all(&mut is_free);
    }
    is_cavity
}

/// How often a triangle at the height of a place or above it runs around that in plan, against the clock.
fn runs_over(corners: &[[i64; 3]; 3], place: &[i64; 3]) -> i64 {
    let q = corners.map(|c| [0, 1, 2].map(|i| i128::from(c[i] - place[i])));
    let mut runs = 0;
    for k in 0..3 {
        // where edges cross the line that runs east from the place; one through the place is west of it, one that ends
        // at its level ends below it
        let (a, b) = (q[k], q[(k + 1) % 3]);
        let turn = a[0] * b[1] - b[0] * a[1];
        runs += i64::from(a[1] <= 0 && b[1] > 0 && turn > 0) - i64::from(b[1] <= 0 && a[1] > 0 && turn < 0);
    }
    if runs == 0 {
        return 0;
    }
    // the plane at the place, by weights of the corners
    let weight = |a: [i128; 3], b: [i128; 3]| a[0] * b[1] - a[1] * b[0];
    let weights = [weight(q[1], q[2]), weight(q[2], q[0]), weight(q[0], q[1])];
    let height: i128 = weights.iter().zip(&q).map(|(w, q)| w * q[2]).sum();
    if height.signum() * weights.iter().sum::<i128>().signum() >= 0 { runs } else { 0 }
}

type Wide = [i128; 3];

fn from_to(a: P, b: P) -> Wide {
    [0, 1, 2].map(|i| i128::from(b[i] - a[i]))
}

fn normal(u: Wide, v: Wide) -> Wide {
    [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
}

fn times(u: Wide, v: Wide) -> i128 {
    u.into_iter().zip(v).map(|(a, b)| a * b).sum()
}

/// Whether the plane of a triangle meets a box: its corners are not all on one side; if it has no plane, always.
fn is_cut([a, b, c]: &Corners, low: &P, high: &P) -> bool {
    let normal = normal(from_to(*a, *b), from_to(*a, *c));
    let corners = (0..8).map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 1 { high[i] } else { low[i] }));
    let sides = || corners.clone().map(|p| times(normal, from_to(*a, p)));
    sides().any(|v| v >= 0) && sides().any(|v| v <= 0)
}

/// Whether two triangles have a point in common: a side of one meets the other.
fn meet(s: &Corners, t: &Corners) -> bool {
    (0..3).any(|k| side_meets(s[k], s[(k + 1) % 3], t) || side_meets(t[k], t[(k + 1) % 3], s))
}

fn side_meets(p: P, q: P, &[a, b, c]: &Corners) -> bool {
    let normal = normal(from_to(a, b), from_to(a, c));
    let [from, to] = [p, q].map(|p| times(normal, from_to(a, p)).signum());
    if from * to > 0 {
        return false;
    }
    let all_one_way = |turns: [i128; 3]| turns.iter().all(|&v| v >= 0) || turns.iter().all(|&v| v <= 0);
    if from != 0 || to != 0 {
        let along = from_to(p, q);
        return all_one_way(
            [(a, b), (b, c), (c, a)].map(|(a, b)| times(along, self::normal(from_to(p, a), from_to(p, b)))),
        );
    }
    // in its plane: it crosses a side, or is within; of a triangle without area sides are all
    let is_within = || {
        let turns = [(a, b), (b, c), (c, a)].map(|(a, b)| times(normal, self::normal(from_to(a, b), from_to(a, p))));
        normal != [0; 3] && all_one_way(turns)
    };
    sides_meet(p, q, a, b) || sides_meet(p, q, b, c) || sides_meet(p, q, c, a) || is_within()
}

/// Whether two lines from point to point meet: they lie in one plane, and meet as seen along each axis.
fn sides_meet(p: P, q: P, r: P, s: P) -> bool {
    let turn = |a: P, b: P, c: P, i: usize, j: usize| {
        let (u, v) = (from_to(a, b), from_to(a, c));
        (u[i] * v[j] - u[j] * v[i]).signum()
    };
    let cross = |i: usize, j: usize| {
        turn(p, q, r, i, j) * turn(p, q, s, i, j) <= 0 && turn(r, s, p, i, j) * turn(r, s, q, i, j) <= 0
    };
    let overlap = |i: usize| p[i].min(q[i]) <= r[i].max(s[i]) && r[i].min(s[i]) <= p[i].max(q[i]);
    (0..3).all(overlap)
        && times(from_to(p, q), normal(from_to(r, s), from_to(p, r))) == 0
        && [(0, 1), (1, 2), (2, 0)].into_iter().all(|(i, j)| cross(i, j))
}

/// A connected part of a closed source: its box in steps, six times its volume, and the triangles.
struct Shell {
    low: P,
    high: P,
    volume: i128,
    triangles: Vec<u32>,
}
