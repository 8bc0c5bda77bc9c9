//! No repair opens a slit: ground that repairs uncovered inside the mesh is covered again.
//!
//! Where a triangle is divided or a vertex moves, an open edge sweeps over some ground. At the border of the mesh that
//! is the shift that an image states. But inside, where other ground began at that edge or under it, a slit is left if
//! that does not follow. So what was swept is noted, as triangles; and in the end, where the ground ends now beside one
//! of them and did not end before within the shift, that triangle is added. Seen from above: a step of less than
//! [`RISE`] is no end, nor is the foot of a wall, or any line on it, that rounding alone set off the vertical.

use super::ground::{Ground, Place, Record, Sweep};
use super::region::{Flat, Region, ends_of};
use crate::build::lattice::{edge, least_first};
use crate::util::exact::area2;
use hardpan_shaders::Face;
use hardpan_shaders::sort::lists;
use hashbrown::HashMap;
use rayon::prelude::*;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Most times that is looked again: what is added may end beside what was swept, too.
const MAX_REPEATS: usize = 64;
/// Shorter pieces are no part of an edge, metres.
const MIN_LENGTH: f64 = 1e-9;
/// Parts of a long edge that have boxes of their own.
const PARTS: usize = 4;

/// Most that is looked at beside an edge: more is a heap, and let be.
const MANY: usize = 1024;
/// Lines that are looked at together: of each there may be so much.
const TOGETHER: usize = 1 << 14;
/// Rounding takes so much of an error in plan, in steps.
const ROUNDING: f64 = 0.7;
/// How wide rounding makes an upright wall in plan, in steps: within that a wall is at all its heights.
const WALL: f64 = 1.5;
/// How far above and below is looked, in `rise`: beside an edge that lies a rise away from a place may lie ground
/// another one away.
const FAR: f64 = 2.125;

type Tree = RTree<GeomWithData<Rectangle<[f64; 3]>, u32>>;

/// A rectangle of whole steps around a box: coordinates are far below 2^53.
fn whole(b: &AABB<[f64; 3]>) -> Flat {
    let (from, to) = (b.lower(), b.upper());
    [[from[0], from[1]].map(|v| v as i64 - 1), [to[0], to[1]].map(|v| v as i64 + 1)]
}

/// Boxes to look for, and where in plan there are any.
struct Boxes {
    tree: Tree,
    region: Region,
}

impl Boxes {
    fn new(boxes: Vec<GeomWithData<Rectangle<[f64; 3]>, u32>>) -> Boxes {
        let flat =
            |b: &GeomWithData<Rectangle<[f64; 3]>, u32>| whole(&AABB::from_corners(b.geom().lower(), b.geom().upper()));
        Boxes { region: Region::new(&boxes.iter().map(flat).collect::<Vec<_>>()), tree: RTree::bulk_load(boxes) }
    }

    /// Whether one meets a box around a part of a line.
    fn meet_line(&self, line: [Place; 2]) -> bool {
        strips(line, 0.0, 0.0).any(|b| self.region.may_meet(whole(&b)) && self.meets(b))
    }

    fn meets(&self, b: AABB<[f64; 3]>) -> bool {
        self.locate_in_envelope_intersecting(b).next().is_some()
    }
}

impl std::ops::Deref for Boxes {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

/// A part of an edge, with its triangle to the left.
struct Piece {
    ends: [Place; 2],
    /// Where it starts and ends, in parts of the edge.
    part: [f64; 2],
}

impl Piece {
    fn at(&self, s: f64) -> [f64; 3] {
        let [a, b] = self.ends.map(|p| p.map(f64::from));
        [0, 1, 2].map(|k| a[k] + s * (b[k] - a[k]))
    }

    /// Which part of the whole edge lies within `reach` of another piece in plan, if that is not `rise` higher or
    /// lower.
    fn near(&self, other: &Piece, reach: f64, rise: f64) -> Option<[f64; 2]> {
        let (from, to) = (self.at(0.0), self.at(1.0));
        let d = [0, 1, 2].map(|k| to[k] - from[k]);
        let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
        // along the edge and off it, and how much higher
        let seen = |s: f64| {
            let p = other.at(s);
            let v = [0, 1, 2].map(|k| p[k] - from[k]);
            let along = (v[0] * d[0] + v[1] * d[1]) / length;
            [along, (d[0] * v[1] - d[1] * v[0]) / length, v[2] - d[2] * along / length]
        };
        let [start, end] = other.part.map(seen);
        if start[2].abs().min(end[2].abs()) > rise {
            return None;
        }
        let [u, w] = [0, 1].map(|k| end[k] - start[k]);
        // the extremes lie at its ends, where it enters the strip of what is within reach, or where a circle touches
        let touch = reach * u / (u * u + w * w).sqrt();
        let mut all = [f64::INFINITY, f64::NEG_INFINITY];
        for s in [0.0, 1.0].into_iter().chain([-reach, reach, -touch, touch].map(|off| (off - start[1]) / w)) {
            let (along, off) = (start[0] + s * u, start[1] + s * w);
            if (0.0..=1.0).contains(&s) && off.abs() <= reach * (1.0 + MIN_LENGTH) {
                let half = (reach * reach - off * off).max(0.0).sqrt();
                all = [all[0].min((along - half) / length), all[1].max((along + half) / length)];
            }
        }
        (all[0] < all[1]).then_some(all)
    }
}

/// Adds what was uncovered and ought not to have been, of ground that goes on over steps up to `rise`. Returns how many
/// triangles: they come last, out of order.
pub fn restore(ground: &mut Ground, rise: u32) -> u64 {
    let Record { before, mut swept } = std::mem::take(&mut ground.record);
    let Some((vertices, faces)) = before.filter(|_| !swept.is_empty()) else { return 0 };
    let priority = |f: Face| ground.materials[usize::from(f.material)].standing();
    swept.sort_unstable_by_key(|Sweep { corners, face, by, .. }| {
        (*corners, Reverse(priority(*face)), face.material, face.source, by.map(f64::to_bits))
    });
    swept.dedup_by(|next, kept| {
        let same = next.corners == kept.corners;
        if same {
            kept.by = [0, 1].map(|i| kept.by[i].max(next.by[i]));
            kept.off = [0, 1].map(|i| kept.off[i].max(next.off[i]));
        }
        same
    });
    let (known, mut made) = (ground.vertices.len(), HashMap::new());
    let mut restored = 0;
    // what lies far from all that was swept has no say
    let region = |swept: &[Sweep]| {
        let sides = |s: &Sweep| {
            let ([a, b, c], margin) = (s.corners, s.by[0] + s.wide() + 4.0);
            [[a, b], [b, c], [c, a]].into_iter().flat_map(move |side| strips(side, margin, 0.0))
        };
        Region::new(&swept.iter().flat_map(sides).map(|b| whole(&b)).collect::<Vec<_>>())
    };
    let near = |region: &Region, vertices: &[Place], faces: &[Face]| -> Vec<Face> {
        let is_near = |f: &Face| region.may_meet(ends_of(&f.v.map(|v| vertices[v as usize])));
        faces.par_iter().filter(|f| is_near(f)).copied().collect()
    };
    let all = region(&swept);
    let (mut now, mut early) = (near(&all, &ground.vertices, &ground.faces), near(&all, &vertices, &faces));
    for _ in 0..MAX_REPEATS {
        let lost = lost([(&ground.vertices, &now), (&vertices, &early)], &swept, f64::from(rise));
        if lost.is_empty() {
            break;
        }
        // the smallest first: what is beside one may need no more
        let base = |s: &Sweep| strips([s.corners[0], s.corners[1]], s.wide(), FAR * f64::from(rise));
        let size = |i: u32| (swept[i as usize].size(), i);
        let boxes = tree(lost.iter().flat_map(|i| base(&swept[*i as usize]).map(|b| (*i, b))));
        let is_first = |i: &u32| {
            let beside = base(&swept[*i as usize]).flat_map(|b| boxes.locate_in_envelope_intersecting(b));
            beside.map(|b| size(b.data)).min() == Some(size(*i))
        };
        let first: Vec<u32> = lost.iter().copied().filter(is_first).collect();
        restored += first.len() as u64;
        for i in &first {
            let Sweep { corners, face, off, .. } = swept[*i as usize];
            let v = corners.map(|place| {
                ground.vertices[..known].binary_search(&place).map_or_else(
                    |_| {
                        *made.entry(place).or_insert_with(|| {
                            ground.vertices.push(place);
                            ground.vertices.len() as u32 - 1
                        })
                    },
                    |v| v as u32,
                )
            });
            let v = least_first(v);
            ground.faces.push(Face { v, ..face });
            now.push(Face { v, ..face });
            ground.note([(v, off)]);
        }
        // what else was swept there may end beside that now
        let there = tree(first.iter().flat_map(|i| base(&swept[*i as usize]).map(|b| (0, b))));
        let mut number = 0..;
        swept.retain(|s| {
            let i = number.next().expect("endless");
            let is_near = || base(s).any(|b| there.locate_in_envelope_intersecting(b).next().is_some());
            first.binary_search(&i).is_err() && (lost.binary_search(&i).is_ok() || is_near())
        });
        let left = region(&swept);
        (now, early) = (near(&left, &ground.vertices, &now), near(&left, &vertices, &early));
    }
    // what is swept from now on is looked at the next time
    ground.record = Record { before: Some((vertices, faces)), swept: Vec::new() };
    restored
}

/// Numbers of what was swept and is to be added, ascending: of a mesh now and before.
fn lost([now, before]: [(&[Place], &[Face]); 2], swept: &[Sweep], rise: f64) -> Vec<u32> {
    let all = (0..).zip(swept);
    let boxes =
        tree(all.flat_map(|(i, s)| strips([s.corners[0], s.corners[1]], s.wide(), FAR * rise).map(move |b| (i, b))));
    // of each open edge what was swept beside it, and of that what has nothing else there
    let beside = |line: &[Place; 2]| {
        let near = found(&boxes, *line, 0.0);
        let is_beside = |i: &u32| covers(swept[*i as usize].corners, *line, rise).is_some();
        near.len() <= MANY && near.iter().any(is_beside)
    };
    let lines: Vec<[Place; 2]> = open(now, &boxes, rise).into_par_iter().filter(beside).collect();
    // the smallest first
    let of = |piece: Piece| {
        let near = found(&boxes, piece.ends, 0.0);
        let some = near.into_iter().filter_map(|i| {
            let [from, to] = covers(swept[i as usize].corners, piece.ends, rise)?;
            let part = [from.max(piece.part[0]), to.min(piece.part[1])];
            (part[1] - part[0] > MIN_LENGTH).then_some((i, Piece { part, ..piece }))
        });
        let mut some: Vec<(u32, Piece)> = some.collect();
        some.sort_by_key(|(i, _)| (swept[*i as usize].size(), *i));
        some
    };
    let beside: Vec<Vec<(u32, Piece)>> = ends(now, lines, rise).into_par_iter().map(of).collect();
    let reach =
        beside.iter().flatten().flat_map(|(i, piece)| strips(piece.ends, swept[*i as usize].by[0] + 2.0, FAR * rise));
    let lines = open(before, &tree(reach.map(|b| (0, b))), rise / 2.0);
    let borders = ends(before, lines, rise / 2.0);
    let all = (0..).zip(&borders);
    let boxes = tree(all.flat_map(|(i, piece)| strips(piece.ends, 0.0, 0.0).map(move |b| (i, b))));
    let lost = |some: &Vec<(u32, Piece)>| {
        let (mut lost, mut taken) = (Vec::new(), Vec::new());
        for (i, piece) in some {
            let reach = swept[*i as usize].by[0] + ROUNDING;
            let near = strips(piece.ends, reach + 1.0, 2.0 * rise);
            let near = near.flat_map(|b| boxes.locate_in_envelope_intersecting(b));
            let excused = near.filter_map(|b| piece.near(&borders[b.data as usize], reach, rise));
            if !gaps(piece.part, excused.chain(taken.iter().copied()).collect()).is_empty() {
                lost.push(*i);
                taken.push(piece.part);
            }
        }
        lost
    };
    let mut lost: Vec<u32> = beside.par_iter().flat_map_iter(lost).collect();
    lost.sort_unstable();
    lost.dedup();
    lost
}

/// The open edges of a mesh in these boxes where it may end, with their triangles to the left.
fn open((vertices, faces): (&[Place], &[Face]), boxes: &Boxes, level: f64) -> Vec<[Place; 2]> {
    if boxes.size() == 0 {
        return Vec::new();
    }
    let is_near = |f: &&Face| boxes.region.may_meet(ends_of(&f.v.map(|v| vertices[v as usize])));
    let sides = |[a, b, c]: [u32; 3]| [[a, b], [b, c], [c, a]].map(|[a, b]| (edge(a, b), a < b));
    let mut edges: Vec<(u64, bool)> = faces.par_iter().filter(is_near).flat_map_iter(|f| sides(f.v)).collect();
    edges.par_sort_unstable();
    edges.dedup();
    let open = edges.chunk_by(|a, b| a.0 == b.0).filter(|users| users.len() == 1).map(|users| {
        let (e, forth) = users[0];
        let [a, b] = [(e >> 32) as u32, e as u32].map(|v| vertices[v as usize]);
        if forth { [a, b] } else { [b, a] }
    });
    let open: Vec<[Place; 2]> = open.collect();
    // most have another's ground along all of them: that which ends there on the other side
    let mut facing: Vec<[[i32; 2]; 3]> = open.iter().map(|[a, b]| [[b[0], b[1]], [a[0], a[1]], [b[2], a[2]]]).collect();
    facing.par_sort_unstable();
    let ends = |[a, b]: &&[Place; 2]| {
        let key = [[a[0], a[1]], [b[0], b[1]]];
        let first = facing.partition_point(|other| other[..2] < key[..]);
        let others = facing[first..].iter().take_while(|other| other[..2] == key[..]);
        let beside =
            |other: &[[i32; 2]; 3]| [a, b].iter().zip(other[2]).all(|(p, z)| f64::from(p[2].abs_diff(z)) < level);
        !others.clone().any(beside) && boxes.meet_line([*a, *b])
    };
    open.par_iter().filter(ends).copied().collect()
}

/// Where the ground of a mesh ends along open edges: parts with no ground beside them, up to `level` higher or lower.
fn ends(mesh: (&[Place], &[Face]), mut lines: Vec<[Place; 2]>, level: f64) -> Vec<Piece> {
    if lines.len() > TOGETHER {
        // a heap has far more edges than places, and an edge has beside it what each of its ends has
        let mut places: Vec<Place> = lines.iter().flatten().copied().collect();
        places.par_sort_unstable();
        places.dedup();
        let few = |places: &[Place]| {
            let points: Vec<[Place; 2]> = places.iter().map(|p| [*p; 2]).collect();
            let (few, _) = beside(mesh, &points, level);
            few.into_iter().map(|n| places[n as usize]).collect::<Vec<_>>()
        };
        let few: Vec<Place> = places.chunks(TOGETHER).flat_map(few).collect();
        lines.retain(|line| line.iter().all(|p| few.binary_search(p).is_ok()));
    }
    lines.chunks(TOGETHER).flat_map(|lines| ends_of_some(mesh, lines, level)).collect()
}

fn ends_of_some(mesh: (&[Place], &[Face]), lines: &[[Place; 2]], level: f64) -> Vec<Piece> {
    let (few, near) = beside(mesh, lines, level);
    let (starts, near) = lists(lines.len(), near.iter().copied());
    let pieces = |n: u32| -> Vec<Piece> {
        let (line, n) = (lines[n as usize], n as usize);
        let corners = |i: &u32| mesh.1[*i as usize].v.map(|v| mesh.0[v as usize]);
        let near = &near[starts[n] as usize..starts[n + 1] as usize];
        let covered = near.iter().filter_map(|i| covers(corners(i), line, level));
        gaps([0.0, 1.0], covered.collect()).into_iter().map(|part| Piece { ends: line, part }).collect()
    };
    few.into_par_iter().flat_map_iter(pieces).collect()
}

/// The lines that have at most [`MANY`] triangles beside them, ascending, and pairs of a line and such a triangle.
/// "Beside" means that their boxes meet.
fn beside((vertices, faces): (&[Place], &[Face]), lines: &[[Place; 2]], level: f64) -> (Vec<u32>, Vec<(u32, u32)>) {
    let counts: Vec<AtomicU32> = lines.iter().map(|_| AtomicU32::new(0)).collect();
    let is_few = |n: u32| counts[n as usize].load(Relaxed) <= MANY as u32;
    let boxes =
        |few: &[u32]| tree(few.iter().flat_map(|&n| strips(lines[n as usize], 0.0, level).map(move |b| (n, b))));
    let mut few: Vec<u32> = (0..lines.len() as u32).collect();
    let (mut boxes_of_few, mut near) = (boxes(&few), Vec::new());
    // each turn takes as many triangles as all before it, and leaves out the lines that have too many by then
    let last = (faces.len() / MANY).checked_ilog2().unwrap_or(0);
    for turn in (0..=last).rev() {
        let (start, step) = if turn == last { (0, 1 << last) } else { (1 << turn, 2 << turn) };
        let beside = |i: usize| {
            let mut beside = SmallVec::<[u32; 8]>::new();
            let corners = faces[i].v.map(|v| vertices[v as usize]);
            if boxes_of_few.region.may_meet(ends_of(&corners)) {
                beside.extend(boxes_of_few.locate_in_envelope_intersecting(around(&corners)).map(|b| b.data));
            }
            beside.sort_unstable();
            beside.dedup();
            beside.retain(|n| counts[*n as usize].fetch_add(1, Relaxed) <= MANY as u32);
            beside.into_iter().map(move |n| (n, i as u32))
        };
        near.par_extend((start..faces.len()).into_par_iter().step_by(step).flat_map_iter(beside));
        let before = few.len();
        few.retain(|n| is_few(*n));
        if few.len() < before {
            near.retain(|(n, _)| is_few(*n));
            boxes_of_few = boxes(&few);
        }
    }
    (few, near)
}

/// The pieces of a part that remain when others are taken out of it.
fn gaps([mut from, to]: [f64; 2], mut others: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    others.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
    others.push([to; 2]);
    let mut gaps = Vec::new();
    for [start, end] in others {
        let start = start.min(to);
        if start - from > MIN_LENGTH {
            gaps.push([from, start]);
        }
        from = from.max(end);
    }
    gaps
}

/// Along which part of a line a triangle lies just to the right of it, up to `level` higher or lower.
fn covers([p, q, r]: [Place; 3], [a, b]: [Place; 2], level: f64) -> Option<[f64; 2]> {
    let (mut from, mut to) = (0.0f64, 1.0f64);
    // where what is linear along the line is not below zero
    let mut keep = |at_a: f64, at_b: f64| match (at_a < 0.0, at_b < 0.0) {
        (false, false) => {}
        (true, true) => to = -1.0,
        (true, false) => from = from.max(at_a / (at_a - at_b)),
        (false, true) => to = to.min(at_a / (at_a - at_b)),
    };
    let (mut rise, area) = ([0.0; 2], area2(p, q, r) as f64);
    for [p, q, r] in [[p, q, r], [q, r, p], [r, p, q]] {
        let off = [area2(p, q, a), area2(p, q, b)];
        if off == [0, 0] {
            // the line runs along this side
            let way = |k: usize| i128::from(q[k] - p[k]).signum() * i128::from(b[k] - a[k]).signum();
            let same = if way(0) != 0 { way(0) } else { way(1) };
            keep(-same as f64, -same as f64);
        }
        let [at_a, at_b] = off.map(|v| v as f64);
        keep(at_a, at_b);
        rise = [rise[0] + at_a / area * f64::from(r[2]), rise[1] + at_b / area * f64::from(r[2])];
    }
    let [at_a, at_b] = [a, b].map(|p| f64::from(p[2]));
    let off = [rise[0] - at_a, rise[1] - at_b];
    let reach = level + WALL * slope([p, q, r], area);
    keep(reach - off[0], reach - off[1]);
    keep(reach + off[0], reach + off[1]);
    let [low, high] = [p[2].min(q[2]).min(r[2]), p[2].max(q[2]).max(r[2])].map(f64::from);
    keep(high + level - at_a, high + level - at_b);
    keep(at_a - low + level, at_b - low + level);
    (to - from > MIN_LENGTH).then_some([from, to])
}

/// How many steps of height a triangle climbs in one of plan: of this area, doubled.
fn slope([p, q, r]: [Place; 3], area: f64) -> f64 {
    let [u, v] = [q, r].map(|to| [0, 1, 2].map(|k| f64::from(to[k]) - f64::from(p[k])));
    (u[1] * v[2] - u[2] * v[1]).hypot(u[2] * v[0] - u[0] * v[2]) / area
}

/// Boxes to look for, with their numbers.
fn tree(boxes: impl Iterator<Item = (u32, AABB<[f64; 3]>)>) -> Boxes {
    Boxes::new(boxes.map(|(i, b)| GeomWithData::new(Rectangle::from_aabb(b), i)).collect())
}

/// The box around places.
fn around(places: &[Place]) -> AABB<[f64; 3]> {
    let side = |k: usize| places.iter().map(move |p| p[k]);
    let low = [0, 1, 2].map(|k| side(k).min().map_or(0.0, f64::from));
    let high = [0, 1, 2].map(|k| side(k).max().map_or(0.0, f64::from));
    AABB::from_corners(low, high)
}

/// Boxes around a line, part by part if it lies slanted, so much larger in plan and in height.
fn strips([a, b]: [Place; 2], margin: f64, rise: f64) -> impl Iterator<Item = AABB<[f64; 3]>> {
    let margins = [margin, margin, rise];
    let [a, b] = [a, b].map(|p| p.map(f64::from));
    let d = [0, 1, 2].map(|k| b[k] - a[k]);
    let mut sizes = [0, 1, 2].map(|k| d[k].abs() / (4.0 * (margins[k] + 16.0)));
    sizes.sort_unstable_by(f64::total_cmp);
    let count = (sizes[1] as usize + 1).min(PARTS);
    (0..count).map(move |part| {
        let [p, q] = [part, part + 1].map(|i| [0, 1, 2].map(|k| a[k] + d[k] * i as f64 / count as f64));
        let low = [0, 1, 2].map(|k| p[k].min(q[k]) - margins[k]);
        let high = [0, 1, 2].map(|k| p[k].max(q[k]) + margins[k]);
        AABB::from_corners(low, high)
    })
}

/// The boxes along a line, each once; more than [`MANY`] if there are many.
fn found(boxes: &Boxes, line: [Place; 2], rise: f64) -> Vec<u32> {
    let parts = strips(line, 0.0, rise);
    let all = parts.flat_map(|part| boxes.locate_in_envelope_intersecting(part).take(MANY + 1).map(|b| b.data));
    let mut all: Vec<u32> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}
