//! Weld: vertices that lie close to each other become one.
//!
//! A vertex is a root if no root within reach has a smaller hash of its coordinates; every other takes the nearest
//! root. That is decided from the least hash on, in rounds; after [`ROUNDS`] what is undecided stays itself. So a
//! result depends on nothing but the places nearby, and no vertex moves farther than the reach.
//!
//! **Crowds are let be**: a vertex with more than [`Repair::MAX_NEIGHBOURS`] others within reach stays itself and is
//! nobody's root, and is counted ([`Repair::crowded`]). A reach that so many share is no gap between them, but a heap
//! of loose triangles, or a mesh finer than the reach, which joining would leave nothing of; and the work stays in
//! proportion to the vertices.
//!
//! No place loses its ground: where joining would leave a triangle without plan area, and no other triangle has the
//! edge that it becomes, its corners stay. So do those of a triangle that repairs would move farther than
//! [`Ground::farthest`] in all.

use super::ground::{GONE, Ground, Step, bearable};
use super::neighbours::{Counted, beside, distance, meet};
use crate::build::lattice::{edge, oriented};
use crate::options::Near;
use crate::report::Repair;
use rayon::prelude::*;

const ROUNDS: usize = 8;
/// Joins all vertices within reach of each other.
pub fn weld(ground: &mut Ground, near: Near) -> Repair {
    let mut repair = Repair::default();
    let mut used = vec![false; ground.vertices.len()];
    ground.faces.iter().flat_map(|f| f.v).for_each(|v| used[v as usize] = true);
    let members: Vec<u32> = (0..used.len() as u32).filter(|&v| used[v as usize]).collect();
    drop(used);
    let Joins { moves, crowded, undecided } =
        joins(ground, &members, &ground.points(&members, near), None::<fn(u32, u32) -> bool>);
    let wanted = moves.len() as u64;
    repair.left = wanted - join(ground, near, moves, &mut repair) + crowded + undecided;
    repair.crowded = crowded;
    repair
}

/// Vertices that are to be joined.
pub struct Joins {
    /// Pairs of a vertex and its root, ascending.
    pub moves: Vec<(u32, u32)>,
    /// Vertices that were let be because they are too many in one place.
    pub crowded: u64,
    /// Vertices that the rounds did not decide.
    pub undecided: u64,
}

/// Who joins whom: pairs of a vertex and its root, ascending.
///
/// Vertices in a crowd are let be. Given which vertices an edge links, those that a chain of edges links within reach
/// of both are no neighbours: a fine mesh, not a gap.
pub fn joins(
    ground: &Ground,
    members: &[u32],
    points: &Counted,
    linked: Option<impl Fn(u32, u32) -> bool + Sync>,
) -> Joins {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Undecided,
        Root,
        Joined,
    }
    let chained = |i: u32, j: u32| {
        let Some(linked) = &linked else { return false };
        let linked = |a: u32, b: u32| linked(members[a as usize], members[b as usize]);
        if linked(i, j) {
            return true;
        }
        let mut between = Vec::new();
        points.around(i, |k| {
            if meet(points.point(k), points.point(j), points.near) {
                between.push(k);
            }
            true
        });
        let mut reached = vec![i];
        while let Some(at) = reached.pop() {
            if at == j {
                return true;
            }
            between.retain(|&k| {
                let next = linked(at, k);
                if next {
                    reached.push(k);
                }
                !next
            });
        }
        false
    };
    // calls `see` with the neighbours of a member until it says `false`
    let around = |i: u32, see: &mut dyn FnMut(u32) -> bool| {
        points.around(i, |j| chained(i, j) || see(j));
    };
    let lonely = |i: u32| {
        let mut lonely = true;
        around(i, &mut |_| {
            lonely = false;
            false
        });
        lonely
    };
    let mut undecided: Vec<u32> = (0..members.len() as u32)
        .into_par_iter()
        .filter(|&i| !points.is_alone(i) && !points.is_crowded(i) && !lonely(i))
        .collect();
    let crowded = (0..members.len() as u32).filter(|&i| points.is_crowded(i)).count() as u64;
    if undecided.is_empty() {
        return Joins { moves: Vec::new(), crowded, undecided: 0 };
    }
    let all = undecided.clone();
    // who is in a crowd is nobody's root
    let mut states: Vec<State> = (0..members.len() as u32)
        .map(|i| if points.is_crowded(i) { State::Joined } else { State::Undecided })
        .collect();
    let rank = |i: u32| (ground.hash(points.point(i)), i);
    for _ in 0..ROUNDS {
        let decide = |&i: &u32| {
            let (own, mut state) = (rank(i), State::Root);
            around(i, &mut |j| {
                if rank(j) < own {
                    match states[j as usize] {
                        State::Root => state = State::Joined,
                        State::Undecided => state = State::Undecided,
                        State::Joined => {}
                    }
                }
                state != State::Joined
            });
            state
        };
        let decided: Vec<State> = undecided.par_iter().map(decide).collect();
        undecided.iter().zip(&decided).for_each(|(&i, &s)| states[i as usize] = s);
        undecided.retain(|&i| states[i as usize] == State::Undecided);
        if undecided.is_empty() {
            break;
        }
    }
    let nearest = |&i: &u32| {
        let mut best = None;
        around(i, &mut |j| {
            if states[j as usize] == State::Root {
                let key = (distance(points.point(i), points.point(j)), j);
                best = Some(best.map_or(key, |b: ((u128, u32), u32)| b.min(key)));
            }
            true
        });
        best.map(|(_, root)| (members[i as usize], members[root as usize]))
    };
    let joined = all.par_iter().filter(|&&i| states[i as usize] == State::Joined);
    let mut moves: Vec<(u32, u32)> = joined.filter_map(nearest).collect();
    moves.sort_unstable();
    Joins { moves, crowded, undecided: undecided.len() as u64 }
}

/// Moves vertices to their roots, but for those that would take ground away. Returns how many it moved.
pub fn join(ground: &mut Ground, near: Near, mut moves: Vec<(u32, u32)>, repair: &mut Repair) -> u64 {
    if moves.is_empty() {
        return 0;
    }
    let faces = &ground.faces;
    let mut flagged = vec![false; ground.vertices.len()];
    moves.iter().flat_map(|&(from, to)| [from, to]).for_each(|v| flagged[v as usize] = true);
    let touched: Vec<u32> = (0..faces.len() as u32)
        .into_par_iter()
        .filter(|&i| faces[i as usize].v[0] != GONE && faces[i as usize].v.iter().any(|&v| flagged[v as usize]))
        .collect();
    drop(flagged);
    let image = |moves: &[(u32, u32)], v: u32| moves.binary_search_by_key(&v, |m| m.0).map_or(v, |i| moves[i].1);
    let (images, lost) = loop {
        let images: Vec<[u32; 3]> =
            touched.par_iter().map(|&i| faces[i as usize].v.map(|v| image(&moves, v))).collect();
        let shifted = |k: usize| {
            let face = &faces[touched[k] as usize].v;
            let by = displacement(ground, *face, images[k]);
            !bearable(ground.by(face), by, ground.farthest)
        };
        let strained: Vec<usize> = (0..images.len()).filter(|&k| shifted(k)).collect();
        let lost: Vec<usize> = (0..images.len()).filter(|&k| oriented(images[k], &ground.vertices).is_none()).collect();
        if lost.is_empty() && strained.is_empty() {
            break (images, Vec::new());
        }
        let mut edges = Vec::with_capacity(3 * images.len());
        let mut points = Vec::with_capacity(3 * images.len());
        for v in images.iter().filter(|v| oriented(**v, &ground.vertices).is_some()) {
            edges.extend([edge(v[0], v[1]), edge(v[1], v[2]), edge(v[2], v[0])]);
            points.extend(v);
        }
        edges.sort_unstable();
        points.sort_unstable();
        let held = |a: u32, b: u32| match a == b {
            true => points.binary_search(&a).is_ok(),
            false => edges.binary_search(&edge(a, b)).is_ok(),
        };
        let covered = |k: usize| covered(ground, images[k], near, held);
        let fate = |&k: &usize| {
            let face = faces[touched[k] as usize].v;
            let by = displacement(ground, face, images[k]);
            let off = covered(k)?;
            let by = [by[0] + off[0], by[1] + off[1]];
            let before = ground.by(&face);
            bearable(before, by, ground.farthest).then(|| (images[k], [before[0] + by[0], before[1] + by[1]]))
        };
        let fates: Vec<Option<([u32; 3], [f64; 2])>> = lost.iter().map(fate).collect();
        let mut pinned: Vec<u32> = lost
            .iter()
            .zip(&fates)
            .filter(|f| f.1.is_none())
            .map(|f| f.0)
            .chain(&strained)
            .flat_map(|&k| faces[touched[k] as usize].v)
            .collect();
        if pinned.is_empty() {
            break (images, fates.into_iter().flatten().collect());
        }
        pinned.sort_unstable();
        moves.retain(|m| pinned.binary_search(&m.0).is_err());
    };
    if moves.is_empty() {
        return 0;
    }
    ground.record.begin(&ground.vertices, &ground.faces);
    let swept = touched.iter().zip(&images).map(|(&i, to)| {
        let face = ground.faces[i as usize];
        let (before, by) = (ground.by(&face.v), displacement(ground, face.v, *to));
        (face, [ground.corners(face.v), ground.corners(*to)], [before[0] + by[0], before[1] + by[1]])
    });
    let swept: Vec<_> = swept.collect();
    ground.record.moved(swept);
    let gone = |(&i, v): (&u32, &[u32; 3])| {
        let face = ground.faces[i as usize];
        oriented(*v, &ground.vertices).is_none().then(|| Step::Upright(ground.corners(*v), face))
    };
    let upright: Vec<Step> = touched.iter().zip(&images).filter_map(gone).collect();
    let steps = moves.iter().map(|&(from, to)| {
        let [from, to] = ground.corners([from, to]);
        Step::Moved(from, to)
    });
    let steps: Vec<Step> = steps.chain(upright).collect();
    ground.follow(steps);
    let mut changed = Vec::new();
    for (&i, v) in touched.iter().zip(images) {
        let from = ground.faces[i as usize].v;
        if from == v {
            continue;
        }
        let by = displacement(ground, from, v);
        let before = ground.moved.remove(&from).unwrap_or_default();
        let face = &mut ground.faces[i as usize];
        match oriented(v, &ground.vertices) {
            Some(v) => {
                face.v = v;
                changed.push((v, [before[0] + by[0], before[1] + by[1]]));
            }
            None => {
                face.v[0] = GONE;
                repair.collapsed += 1;
            }
        }
    }
    // what is lost lies on triangles that have its corners now
    let mut heirs: Vec<(u32, [f64; 2])> = lost.iter().flat_map(|(v, by)| v.map(|v| (v, *by))).collect();
    heirs.sort_unstable_by_key(|h| h.0);
    if !heirs.is_empty() {
        for v in touched.iter().map(|&i| ground.faces[i as usize].v).filter(|v| v[0] != GONE) {
            for corner in v {
                let from = heirs.partition_point(|h| h.0 < corner);
                changed.extend(heirs[from..].iter().take_while(|h| h.0 == corner).map(|h| (v, h.1)));
            }
        }
    }
    ground.note(changed);
    ground.settle(repair);
    repair.joined += moves.len() as u64;
    moves.len() as u64
}

/// By how much a triangle without plan area lies off the edge or edges that it becomes, in steps of plan and height, if
/// others hold them within reach.
pub fn covered(ground: &Ground, [a, b, c]: [u32; 3], near: Near, held: impl Fn(u32, u32) -> bool) -> Option<[f64; 2]> {
    // the corners, the two that lie farthest apart in plan first
    let apart = |a: u32, b: u32| {
        let [p, q] = ground.corners([a, b]);
        distance(p, q).0
    };
    let [a, b, c] = *[[a, b, c], [b, c, a], [c, a, b]].iter().max_by_key(|v| apart(v[0], v[1])).expect("three");
    let [p, q, r] = ground.corners([a, b, c]);
    let end = |p: [i32; 3]| meet(r, p, near).then(|| gap(r, p));
    let off = end(p).or_else(|| end(q)).or_else(|| Some(beside(r, [p, q], near)?.by))?;
    (held(a, b) || (held(a, c) && held(c, b))).then_some(off)
}

/// The farthest that a corner goes, in steps of plan and height.
fn displacement(ground: &Ground, from: [u32; 3], to: [u32; 3]) -> [f64; 2] {
    (0..3).fold([0f64; 2], |most, k| {
        let [p, q] = ground.corners([from[k], to[k]]);
        let by = gap(p, q);
        [most[0].max(by[0]), most[1].max(by[1])]
    })
}

/// How far apart two points are, in steps of plan and height.
fn gap(p: [i32; 3], q: [i32; 3]) -> [f64; 2] {
    let (plan, height) = distance(p, q);
    [(plan as f64).sqrt(), f64::from(height)]
}
