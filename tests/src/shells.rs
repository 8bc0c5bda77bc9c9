//! Which triangles of a scene look down, slowly: every shell against every other, and every triangle against every
//! other.
//!
//! Shares no code with the builder. Whether triangles meet comes from where the sides of one go through the other, in
//! whole numbers, and what is inside from a ray that no corner and no side lies on. For small coordinates.

use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// Lattice points; of no coordinate above 2^20, so that all products fit.
pub type P = [i64; 3];
pub type Corners = [P; 3];

/// Judgement of a source.
pub struct Judged {
    /// For each triangle whether it looks down; an upright one does not.
    pub down: Vec<bool>,
    /// How many shells there are, and of them the cavities, and those that would be but meet what is around them.
    pub shells: usize,
    pub cavities: usize,
    pub stuck: usize,
    /// The deepest nesting: shells that lie in each other.
    pub depth: usize,
}

/// Judges the triangles of one source.
pub fn judge(triangles: &[Corners]) -> Judged {
    let mut judged = Judged { down: vec![false; triangles.len()], shells: 0, cavities: 0, stuck: 0, depth: 0 };
    let Some(shells) = shells(triangles) else { return judged };
    judged.shells = shells.len();
    let of = |shell: usize| shells[shell].iter().map(|&t| triangles[t]).collect::<Vec<_>>();
    let all: Vec<Vec<Corners>> = (0..shells.len()).map(of).collect();
    let volume: Vec<i128> =
        all.iter().map(|s| s.iter().map(|&[a, b, c]| det(wide(a), wide(b), wide(c))).sum()).collect();
    let mut order: Vec<usize> = (0..shells.len()).filter(|&i| volume[i] != 0).collect();
    order.sort_by_key(|&i| -volume[i].abs());
    let mut cavity = vec![false; shells.len()];
    let mut depth = vec![0; shells.len()];
    for (at, &i) in order.iter().enumerate() {
        // larger ones around its highest corners, of those that lie farthest to either side
        let larger = order[..at].iter().copied().filter(|&k| volume[k].abs() > volume[i].abs());
        let corners: BTreeSet<P> = all[i].iter().flatten().copied().collect();
        let highest = corners.iter().map(|p| p[2]).max();
        let high: Vec<P> = corners.into_iter().filter(|p| Some(p[2]) == highest).collect();
        let sides = [[1, 0], [-1, 0], [0, 1], [0, -1]];
        let far = |x: i64, y: i64| {
            let most = |d: [i64; 2], of: &[P]| of.iter().map(|p| d[0] * p[0] + d[1] * p[1]).max().unwrap_or(0);
            let on = |d: [i64; 2], of: &[P]| -> Vec<P> {
                of.iter().copied().filter(|p| d[0] * p[0] + d[1] * p[1] == most(d, of)).collect()
            };
            let first = on([x, y], &high);
            sides
                .into_iter()
                .filter(move |d| d[0] * x + d[1] * y == 0)
                .flat_map(move |d| on(d, &first))
                .collect::<Vec<_>>()
        };
        let tops: BTreeSet<P> = sides.into_iter().flat_map(|[x, y]| far(x, y)).collect();
        let is_around = |top: &P, k: usize| all[k].iter().any(|t| meet(&[*top; 3], t)) || winding(*top, &all[k]) != 0;
        let place = |k: usize| match () {
            () if !tops.iter().all(|top| is_around(top, k)) => Place::Outside,
            () if all[i].iter().any(|s| all[k].iter().any(|t| meet(s, t))) => Place::Meets,
            () => Place::Inside,
        };
        let around: Vec<(usize, Place)> = larger.map(|k| (k, place(k))).filter(|(_, p)| *p != Place::Outside).collect();
        let Some(least) = around.iter().map(|(k, _)| volume[*k].abs()).min() else { continue };
        let mut nearest = around.iter().filter(|(k, _)| volume[*k].abs() == least);
        let holds = |k: usize| volume[k].signum() != volume[i].signum() && !cavity[k];
        let (may_be, is_inside) =
            (nearest.clone().all(|(k, _)| holds(*k)), nearest.clone().all(|(_, p)| *p == Place::Inside));
        cavity[i] = may_be && is_inside;
        judged.stuck += usize::from(may_be && !is_inside);
        judged.cavities += usize::from(cavity[i]);
        depth[i] = nearest.find(|(_, p)| *p == Place::Inside).map_or(0, |(k, _)| depth[*k] + 1);
        judged.depth = judged.depth.max(depth[i]);
    }
    for &i in &order {
        let looks_in = (volume[i] < 0) != cavity[i];
        for &t in &shells[i] {
            let [a, b, c] = triangles[t];
            let area = cross(sub(b, a), sub(c, a))[2];
            judged.down[t] = area != 0 && (area < 0) != looks_in;
        }
    }
    judged
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Inside,
    Outside,
    Meets,
}

/// The triangles of each shell; none unless every directed edge is there once, and its opposite.
fn shells(triangles: &[Corners]) -> Option<Vec<Vec<usize>>> {
    let mut owner: BTreeMap<[P; 2], usize> = BTreeMap::new();
    let has_sides = |t: &Corners| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
    for (i, t) in triangles.iter().enumerate().filter(|(_, t)| has_sides(t)) {
        for k in 0..3 {
            if owner.insert([t[k], t[(k + 1) % 3]], i).is_some() {
                return None;
            }
        }
    }
    if owner.keys().any(|&[a, b]| !owner.contains_key(&[b, a])) {
        return None;
    }
    let mut left: BTreeSet<usize> = owner.values().copied().collect();
    let mut found = Vec::new();
    while let Some(first) = left.pop_first() {
        let (mut shell, mut next) = (vec![first], 0);
        while next < shell.len() {
            let t = triangles[shell[next]];
            for k in 0..3 {
                let beside = owner[&[t[(k + 1) % 3], t[k]]];
                if left.remove(&beside) {
                    shell.push(beside);
                }
            }
            next += 1;
        }
        found.push(shell);
    }
    Some(found)
}

type Wide = [i128; 3];

fn wide(p: P) -> Wide {
    assert!(p.iter().all(|v| v.abs() <= 1 << 20), "{p:?}");
    p.map(i128::from)
}

fn sub(a: P, b: P) -> Wide {
    let (a, b) = (wide(a), wide(b));
    [0, 1, 2].map(|k| a[k] - b[k])
}

fn cross(a: Wide, b: Wide) -> Wide {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn det(a: Wide, b: Wide, c: Wide) -> i128 {
    let n = cross(b, c);
    a[0] * n[0] + a[1] * n[1] + a[2] * n[2]
}

/// Whether two closed triangles have a point in common: then a side of one meets the other.
pub fn meet(s: &Corners, t: &Corners) -> bool {
    let goes_through = |s: &Corners, t: &Corners| (0..3).any(|k| side_meets(s[k], s[(k + 1) % 3], t));
    goes_through(s, t) || goes_through(t, s)
}

fn side_meets(p: P, q: P, t: &Corners) -> bool {
    let [a, b, c] = *t;
    let normal = cross(sub(b, a), sub(c, a));
    let sides = [[a, b], [b, c], [c, a]];
    let Some(flat) = (0..3).find(|&k| normal[k] != 0) else {
        return sides.iter().any(|&[r, s]| lines_meet(p, q, r, s));
    };
    let over = |p: P| (0..3).map(|k| normal[k] * sub(p, a)[k]).sum::<i128>();
    let (from, to) = (over(p), over(q));
    if from.signum() * to.signum() > 0 {
        return false;
    }
    // as seen along an axis
    let (i, j) = ((flat + 1) % 3, (flat + 2) % 3);
    // whether a place, in parts of so many, is within the triangle
    let is_within = |at: Wide, parts: i128| {
        let turns = sides.map(|[r, s]| {
            let (d, r) = (sub(s, r), wide(r));
            (d[i] * (at[j] - parts * r[j]) - d[j] * (at[i] - parts * r[i])).signum()
        });
        turns.iter().all(|&v| v >= 0) || turns.iter().all(|&v| v <= 0)
    };
    if from == 0 && to == 0 {
        return is_within(wide(p), 1) || is_within(wide(q), 1) || sides.iter().any(|&[r, s]| lines_meet(p, q, r, s));
    }
    let (parts, p, q) = ((from - to).abs(), wide(p), wide(q));
    is_within([0, 1, 2].map(|k| p[k] * to.abs() + q[k] * from.abs()), parts)
}

fn lines_meet(p: P, q: P, r: P, s: P) -> bool {
    let is_on = |x: P, a: P, b: P| {
        cross(sub(b, a), sub(x, a)) == [0; 3] && (0..3).all(|k| (a[k].min(b[k])..=a[k].max(b[k])).contains(&x[k]))
    };
    if is_on(p, r, s) || is_on(q, r, s) || is_on(r, p, q) || is_on(s, p, q) {
        return true;
    }
    // else they cross within both
    let (d, e) = (sub(q, p), sub(s, r));
    let normal = cross(d, e);
    let Some(flat) = (0..3).find(|&k| normal[k] != 0) else { return false };
    let (i, j) = ((flat + 1) % 3, (flat + 2) % 3);
    let turn = |d: Wide, from: P, to: P| (d[i] * sub(to, from)[j] - d[j] * sub(to, from)[i]).signum();
    (0..3).map(|k| normal[k] * sub(r, p)[k]).sum::<i128>() == 0
        && turn(d, p, r) * turn(d, p, s) < 0
        && turn(e, r, p) * turn(e, r, q) < 0
}

/// How often a shell goes around a place that is not on it.
fn winding(place: P, shell: &[Corners]) -> i32 {
    let mut r = Random(1);
    loop {
        let ray = [0; 3].map(|_| i128::from(r.within(-1000, 1000)));
        let crossed = |&t: &Corners| {
            let [a, b, c] = t.map(|p| sub(p, place));
            let volume = det(a, b, c);
            let sides = [det(ray, a, b), det(ray, b, c), det(ray, c, a)].map(i128::signum);
            match sides {
                _ if volume == 0 => Some(0), // seen from its edge
                [1, 1, 1] => Some(i32::from(volume > 0)),
                [-1, -1, -1] => Some(-i32::from(volume < 0)),
                _ if sides.contains(&1) && sides.contains(&-1) => Some(0),
                _ => None, // along a side or through a corner: another ray tells
            }
        };
        if let Some(runs) = shell.iter().map(crossed).sum() {
            return runs;
        }
    }
}
