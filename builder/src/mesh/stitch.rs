//! Stitch: hairline gaps and T-junctions are closed, for wheels fall through them.
//!
//! An edge is *open* if one triangle uses it, a vertex if it ends an open edge. Two things are wrong and are mended, in
//! passes until there is nothing left to do:
//!
//! - Two open vertices lie within the threshold of each other, and no chain of edges near both links them: they are
//!   joined by the rule of `weld`.
//! - An open vertex lies within the threshold of an open edge, its foot inside the edge, and is no corner of the edge's
//!   triangle: the triangle is divided into a [fan](mod@fan) from its apex, along the edge through all such vertices, and with points inside it
//!   if they are many. Where two of them have one foot the nearer counts, and where the fan would be degenerate the nearest vertex
//!   that can be had alone. A vertex that lies exactly on another side of the triangle divides that side. Of a wall, a hair off
//!   the vertical, a part may be upright then: it goes, if it lies within the threshold of an edge of other triangles, and
//!   they count as moved as far as it. New edges are shorter than the one they replace.
//!
//! Where that comes to an end, and vertices are left that no triangle can be divided at, they are [nudged](nudge), and it goes on;
//! and last, [slits] between edges at different heights are closed in plan.
//!
//! A triangle is a continuous image of what it was, each place moved no farther than the vertex from its foot: no
//! place loses its ground but for such a shift, and all shifts of a place are at most twice the thresholds of weld and
//! stitch. All decisions of a round are taken on the mesh as it stood before, so they depend on no order, and
//! only on what lies near the triangle. Heaps of loose triangles, with more open vertices in one place than any mesh has,
//! are let be: vertices with more than [`Repair::CROWD`] others within reach, edges that end at one, and edges with more than about one
//! in each reach along them. [`Repair::crowded`] counts the first.

mod cut;
mod fan;
mod nudge;
mod slits;

use super::near::{Lines, Points, beside, distance};
use super::weld::{GONE, Ground, Joins, join, joins};
use super::{Face, edge, oriented};
use crate::bundle::lists;
use crate::{Near, Repair};
use cut::{Cut, Met, Split, Upright};
use fan::Fan;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use slits::{Plan, View};
use std::cell::LazyCell;

/// Most passes over the mesh.
const PASSES: usize = 16;
/// Triangles that dividing may add beside twice as many as there are: only heaps of loose triangles come to that.
const ADDED: u64 = 4096;
/// Most rounds of divisions in a pass.
const ROUNDS: usize = 64;

/// Closes what lies within the threshold; seen from above also between edges up to `rise` steps higher or lower.
pub fn stitch(ground: &mut Ground, near: Near, rise: u32) -> Repair {
    let mut repair = Repair::default();
    let most = 2 * ground.faces.len() as u64 + ADDED;
    let [mut seams, mut slits] = [Hot::ALL, Hot::ALL];
    for _ in 0..PASSES {
        if repair.added > most {
            break;
        }
        let mut rim = Rim::new(ground, near);
        let Joins { moves, crowded, undecided } = rim.joins(ground);
        let wanted = moves.len() as u64;
        let joined = join(ground, near, moves, &mut repair);
        if joined > 0 {
            rim = Rim::new(ground, near);
            [seams, slits] = [Hot::ALL, Hot::ALL];
        }
        repair.open_edges = rim.open;
        (repair.left, repair.crowded) = (wanted - joined + crowded + undecided, crowded);
        let (made, left) = divide(ground, near, &rim, None, &seams, &mut repair);
        repair.left += left.count;
        let divided = !made.is_empty();
        slits.extend(&made);
        seams = Hot::after(made, left);
        if joined > 0 || divided {
            continue;
        }
        if repair.left > crowded && nudge::nudge(ground, near, &rim, &mut repair) {
            [seams, slits] = [Hot::ALL, Hot::ALL];
            continue;
        }
        // not with all that repairs may move a place, so that what comes of it can be mended
        let farthest = ground.farthest;
        ground.farthest = farthest.map(|by| 0.75 * by);
        let plan = Plan::new(ground, &rim, near, rise);
        let (made, left) = divide(ground, near, &rim, Some(&plan), &slits, &mut repair);
        repair.slits = left.count;
        repair.slit = left.places.iter().min().map(|p| [0, 1, 2].map(|k| (ground.origin[k] + i64::from(p[k])) as f64));
        let settled = made.is_empty();
        seams.extend(&made);
        slits = Hot::after(made, left);
        ground.farthest = farthest;
        if settled {
            return repair;
        }
    }
    // not settled: what would come next is left
    let rim = Rim::new(ground, near);
    repair.open_edges = rim.open;
    let Joins { moves, crowded, undecided } = rim.joins(ground);
    (repair.left, repair.crowded) = (moves.len() as u64 + crowded + undecided, crowded);
    let open = |plan: Option<&Plan>| -> u64 {
        let Draft { pieces, edges } = Draft::new(ground, &rim, plan);
        pieces.iter().map(|piece| Cut { piece, edges: &edges, ground, near }.split().1).sum()
    };
    repair.left += open(None);
    let plan = Plan::new(ground, &rim, near, rise);
    repair.slits = open(Some(&plan));
    repair
}

/// Vertices that no triangle could be divided at.
#[derive(Default)]
struct Left {
    count: u64,
    /// Corners of those triangles.
    places: Vec<[i32; 3]>,
}

/// Where a mesh has changed since all of it was looked at, or something was left: elsewhere nothing is to be done.
struct Hot(Option<Vec<[i32; 3]>>);

impl Hot {
    const ALL: Hot = Hot(None);

    /// After all of it was looked at, with changes in these places.
    fn after(mut made: Vec<[i32; 3]>, left: Left) -> Hot {
        made.extend(left.places);
        Hot(Some(made))
    }

    fn extend(&mut self, made: &[[i32; 3]]) {
        self.0.iter_mut().for_each(|places| places.extend(made));
    }

    /// The pieces with an open side near such a place, seen from above.
    fn near(&self, pieces: &[Piece], ground: &Ground, near: Near) -> Vec<u32> {
        let all = 0..pieces.len() as u32;
        let Some(places) = &self.0 else { return all.collect() };
        let mut places: Vec<[i32; 3]> = places.iter().copied().map(flat).collect();
        places.sort_unstable();
        places.dedup();
        let points = Points::new(places, Near { plan: near.plan, height: 0 });
        let lines = Lines::new(&points);
        let is_near = |i: &u32| {
            let Piece { face, open, .. } = pieces[*i as usize];
            sides(face.v).enumerate().filter(|(k, _)| open >> k & 1 == 1).any(|(_, side)| {
                let mut met = false;
                lines.along(ground.corners(side).map(flat), |_| {
                    met = true;
                    false
                });
                met
            })
        };
        all.into_par_iter().filter(is_near).collect()
    }
}

/// Seen from above.
fn flat([x, y, _]: [i32; 3]) -> [i32; 3] {
    [x, y, 0]
}

/// The edges of a mesh, those of them that are open, and what touches those.
struct Rim {
    /// How many open edges there are.
    open: u64,
    /// Ends of open edges, ascending.
    vertices: Vec<u32>,
    /// Where they are.
    points: Points,
    /// Of each vertex of the mesh its number among them, or [`INNER`].
    numbers: Vec<u32>,
    /// Open edges at each of them.
    open_at: Vec<u32>,
    /// All edges at the lesser of their ends, ascending, once for each triangle that uses them: the other end, times 2^32,
    /// and which side of which triangle it is.
    edges: Vec<u64>,
    /// Where those at each vertex of the mesh start.
    starts: Vec<u32>,
    /// Triangles with an open edge, ascending, and a bit for each corner that one runs from.
    faces: Vec<(u32, u8)>,
}

/// A vertex that ends no open edge.
const INNER: u32 = u32::MAX;

impl Rim {
    fn new(ground: &Ground, near: Near) -> Rim {
        let faces = &ground.faces;
        let at_lesser = faces.iter().enumerate().flat_map(|(i, f)| {
            (0..3).map(move |k| {
                let (a, b) = (f.v[k], f.v[(k + 1) % 3]);
                (a.min(b), u64::from(a.max(b)) << 32 | (3 * i + k) as u64)
            })
        });
        let (starts, mut edges) = lists(ground.vertices.len(), at_lesser);
        // first how many open edges there are at each vertex
        let mut numbers = vec![0; ground.vertices.len()];
        let mut sides = vec![0u8; faces.len()];
        let mut open = 0;
        for v in 0..ground.vertices.len() {
            let run = &mut edges[starts[v] as usize..starts[v + 1] as usize];
            run.sort_unstable();
            for e in run.chunk_by(|a, b| a >> 32 == b >> 32).filter(|e| e.len() == 1) {
                let (other, side) = ((e[0] >> 32) as usize, e[0] as u32 as usize);
                open += 1;
                (numbers[v], numbers[other]) = (numbers[v] + 1, numbers[other] + 1);
                sides[side / 3] |= 1 << (side % 3);
            }
        }
        let (mut vertices, mut open_at) = (Vec::new(), Vec::new());
        for (v, number) in numbers.iter_mut().enumerate() {
            let count = std::mem::replace(number, INNER);
            if count > 0 {
                *number = vertices.len() as u32;
                vertices.push(v as u32);
                open_at.push(count);
            }
        }
        let points = ground.points(&vertices, near);
        let faces = sides.into_iter().zip(0..).filter(|(sides, _)| *sides != 0).map(|(sides, i)| (i, sides)).collect();
        Rim { open, vertices, points, numbers, open_at, edges, starts, faces }
    }

    /// The number of a vertex among those of the rim.
    fn number(&self, v: u32) -> Option<usize> {
        // points that were made since are not in it
        let number = self.numbers.get(v as usize).copied().unwrap_or(INNER);
        (number != INNER).then_some(number as usize)
    }

    /// How many triangles use an edge.
    fn users(&self, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b) as usize, a.max(b));
        let Some(&[start, end]) = self.starts.get(low..low + 2) else { return 0 };
        let at = &self.edges[start as usize..end as usize];
        let from = if at.len() <= 16 { 0 } else { at.partition_point(|e| (e >> 32) < u64::from(high)) };
        let ends = at[from..].iter().map(|e| (e >> 32) as u32);
        ends.skip_while(|&e| e < high).take_while(|&e| e == high).count() as u32
    }

    /// Which of its vertices are to be joined.
    fn joins(&self, ground: &Ground) -> Joins {
        joins(ground, &self.vertices, &self.points, Some(|a, b| self.users(a, b) > 0))
    }
}

fn sides([a, b, c]: [u32; 3]) -> impl Iterator<Item = [u32; 2]> + Clone {
    [[a, b], [b, c], [c, a]].into_iter()
}

/// Squared length of an edge in plan.
fn length(ground: &Ground, side: [u32; 2]) -> u128 {
    let [p, q] = ground.corners(side);
    distance(p, q).0
}

/// A triangle that may be divided.
#[derive(Clone, Copy)]
struct Piece {
    face: Face,
    by: [f64; 2],
    /// Its number in the mesh, until it is divided.
    at: Option<u32>,
    /// Which of its sides were open before any was divided, a bit each.
    open: u8,
}

/// The edges of the rim while triangles are divided.
struct Edges<'a> {
    rim: &'a Rim,
    /// Users of edges that have changed.
    users: HashMap<u64, u32>,
    /// Open edges at each vertex of the rim.
    open_at: Vec<u32>,
    /// The vertices of the rim seen from above, if slits are looked for.
    plan: Option<&'a Plan>,
    lines: Lines<'a>,
}

impl Edges<'_> {
    /// Users of an edge.
    fn users(&self, a: u32, b: u32) -> u32 {
        self.users.get(&edge(a, b)).copied().unwrap_or_else(|| self.rim.users(a, b))
    }

    /// Whether an edge is open, which was open before or not.
    fn is_open(&self, [a, b]: [u32; 2], before: bool) -> bool {
        self.users.get(&edge(a, b)).map_or(before, |&users| users == 1)
    }

    /// Whether slits are looked for.
    fn is_plan(&self) -> bool {
        self.plan.is_some()
    }

    fn is_open_at(&self, v: u32) -> bool {
        self.rim.number(v).is_some_and(|i| self.open_at[i] > 0)
    }

    /// Which sides of a triangle are open, the longest first.
    fn open_sides(&self, piece: &Piece, ground: &Ground) -> Vec<usize> {
        let side = |k: usize| [piece.face.v[k], piece.face.v[(k + 1) % 3]];
        let open = |k: &usize| {
            let before = piece.open >> k & 1 == 1;
            side(*k).into_iter().all(|v| self.is_open_at(v)) && self.is_open(side(*k), before)
        };
        let mut sides: Vec<usize> = (0..3).filter(open).collect();
        sides.sort_by_key(|&k| (std::cmp::Reverse(length(ground, side(k))), side(k)));
        sides
    }

    /// What lies beside a side of a triangle; none if there is a crowd at its ends or along it.
    fn beside(&self, piece: &Piece, k: usize, ground: &Ground, near: Near) -> Option<Vec<Met>> {
        let (rim, v) = (self.rim, piece.face.v);
        let side = [v[k], v[(k + 1) % 3]];
        let crowded = |i: usize| match self.plan {
            Some(plan) => plan.is_crowded(plan.place(i)),
            None => rim.points.is_crowded(i as u32),
        };
        if side.into_iter().any(|w| rim.number(w).is_some_and(crowded)) {
            return None;
        }
        let line = ground.corners(side);
        const FEW: usize = 4;
        let room = LazyCell::new(|| FEW + (length(ground, side).isqrt() / u128::from(near.plan.max(1))) as usize);
        let fits = |n: usize| n <= FEW || n <= *room;
        let counts = |i: usize| self.open_at[i] > 0 && !v.contains(&rim.vertices[i]);
        if let Some(plan) = self.plan {
            return plan.along(&self.lines, side, View { ground, rim }, counts, fits);
        }
        let mut met = Vec::new();
        self.lines.along(line, |i| {
            if counts(i as usize)
                && let Some(place) = beside(rim.points.point(i), line, near)
            {
                met.push(Met { place, w: rim.vertices[i as usize], level: None });
            }
            fits(met.len())
        });
        fits(met.len()).then_some(met)
    }

    /// One user more or less.
    fn count(&mut self, a: u32, b: u32, more: bool) {
        let was = self.users(a, b);
        let is = if more { was + 1 } else { was - 1 };
        self.users.insert(edge(a, b), is);
        let (Some(i), Some(j)) = (self.rim.number(a), self.rim.number(b)) else { return };
        for at in [i, j] {
            self.open_at[at] = self.open_at[at] + u32::from(is == 1) - u32::from(was == 1);
        }
    }
}

/// Triangles with open edges while they are divided.
struct Draft<'a> {
    pieces: Vec<Piece>,
    edges: Edges<'a>,
}

impl<'a> Draft<'a> {
    fn new(ground: &Ground, rim: &'a Rim, plan: Option<&'a Plan>) -> Self {
        let piece = |&(i, open): &(u32, u8)| {
            let face = ground.faces[i as usize];
            Piece { face, by: ground.by(&face.v), at: Some(i), open }
        };
        Draft {
            pieces: rim.faces.iter().map(piece).collect(),
            edges: Edges {
                rim,
                users: HashMap::new(),
                open_at: rim.open_at.clone(),
                plan,
                lines: Lines::new(plan.map_or(&rim.points, |plan| &plan.points)),
            },
        }
    }
}

/// Divides triangles at the vertices near their open edges. Returns where, and how many vertices are left.
fn divide(
    ground: &mut Ground,
    near: Near,
    rim: &Rim,
    plan: Option<&Plan>,
    hot: &Hot,
    repair: &mut Repair,
) -> (Vec<[i32; 3]>, Left) {
    let Draft { mut pieces, mut edges } = Draft::new(ground, rim, plan);
    let mut active = hot.near(&pieces, ground, near);
    let (mut made, mut left) = (Vec::new(), Left::default());
    let (whole, known) = (pieces.len(), ground.vertices.len());
    let mut gone: Vec<Upright> = Vec::new();
    let most = repair.added + 2 * ground.faces.len() as u64 + ADDED;
    for _ in 0..ROUNDS {
        if repair.added > most {
            break;
        }
        let splits: Vec<(Option<Split>, u64)> = active
            .par_iter()
            .map(|&i| Cut { piece: &pieces[i as usize], edges: &edges, ground, near }.split())
            .collect();
        for (&i, (_, count)) in active.iter().zip(&splits).filter(|(_, s)| s.0.is_none() && s.1 > 0) {
            left.places.extend(ground.corners(pieces[i as usize].face.v));
            left.count += count;
        }
        let mut next = Vec::new();
        let splits = active.iter().zip(splits).filter_map(|(&i, (s, _))| Some((i, s?))).collect::<Vec<_>>();
        // a part goes only if nothing that may hold its edges changes; of two that hold each other's the first goes
        let mut changing: HashSet<u64> = HashSet::new();
        let mut first: HashMap<u64, ([u32; 3], u32)> = HashMap::new();
        for (i, split) in &splits {
            let v = pieces[*i as usize].face.v;
            let own = (v, *i);
            for e in sides(v).map(|[a, b]| edge(a, b)) {
                match split.upright {
                    None => _ = changing.insert(e),
                    Some(_) => _ = first.entry(e).and_modify(|f| *f = own.min(*f)).or_insert(own),
                }
            }
        }
        let mut lost: Vec<Upright> = Vec::new();
        let before = ground.vertices.len();
        for (i, split) in splits {
            let Piece { face, by, at, .. } = pieces[i as usize];
            if let Some(part) = split.upright {
                let waits = |[a, b]: [u32; 2]| {
                    let e = edge(a, b);
                    changing.contains(&e) || first.get(&e).is_some_and(|f| *f < (face.v, i))
                };
                if sides(part.v).any(waits) || sides(face.v).any(waits) {
                    next.push(i);
                    continue;
                }
                lost.push(part);
            }
            let Fan { path, points, parts, .. } = split.fan;
            let place =
                |v: u32| if v as usize >= before { points[v as usize - before] } else { ground.vertices[v as usize] };
            made.extend(path.into_iter().map(place));
            repair.divided += 1;
            repair.levelled += u64::from(plan.is_some());
            repair.added += parts.len() as u64 - 1;
            sides(face.v).for_each(|[a, b]| edges.count(a, b, false));
            // its points are numbered after those of others before it
            let later = (ground.vertices.len() - before) as u32;
            ground.vertices.extend(points);
            for part in parts {
                let part = part.map(|v| if v as usize >= before { v + later } else { v });
                let Some(v) = oriented(part, &ground.vertices) else {
                    repair.upright += 1;
                    continue;
                };
                sides(v).for_each(|[a, b]| edges.count(a, b, true));
                next.push(pieces.len() as u32);
                pieces.push(Piece {
                    face: Face { v, ..face },
                    by: [by[0] + split.by[0], by[1] + split.by[1]],
                    at: None,
                    open: 0, // its sides have changed
                });
            }
            if let Some(at) = at {
                ground.moved.remove(&face.v);
                ground.faces[at as usize].v[0] = GONE;
            }
            pieces[i as usize].face.v[0] = GONE;
        }
        inherit(&mut pieces, &lost);
        gone.extend(lost);
        active = next;
        if active.is_empty() {
            break;
        }
    }
    if pieces.len() == whole {
        return (made, left);
    }
    let stays = |p: &&Piece| p.face.v[0] != GONE;
    ground.note(pieces.iter().filter(stays).filter(|p| p.by != [0.0; 2]).map(|p| (p.face.v, p.by)));
    // those that do not touch the rim hold edges too, and were never divided
    let mut inner: Vec<Piece> = Vec::new();
    if !gone.is_empty() {
        let whole = |f: &&Face| f.v[0] != GONE;
        inner.extend(ground.faces.iter().filter(whole).map(|&face| Piece { face, by: [0.0; 2], at: None, open: 0 }));
        inherit(&mut inner, &gone);
        ground.note(inner.iter().filter(|p| p.by != [0.0; 2]).map(|p| (p.face.v, p.by)));
    }
    ground.faces.reserve_exact(pieces.len() - whole);
    ground.faces.extend(pieces[whole..].iter().filter(stays).map(|p| p.face));
    if ground.vertices.len() > known {
        ground.faces.retain(|f| f.v[0] != GONE);
        number(ground);
    }
    ground.settle(repair);
    (made, left)
}

/// Numbers vertices by their coordinates again.
fn number(ground: &mut Ground) {
    let mut order: Vec<u32> = (0..ground.vertices.len() as u32).collect();
    order.sort_by_key(|&v| ground.vertices[v as usize]); // mostly sorted already
    let mut vertices: Vec<[i32; 3]> = Vec::with_capacity(order.len());
    let mut numbers = vec![0; order.len()];
    for v in order {
        let place = ground.vertices[v as usize];
        if vertices.last() != Some(&place) {
            vertices.push(place);
        }
        numbers[v as usize] = vertices.len() as u32 - 1;
    }
    ground.vertices = vertices;
    let renumber = |v: [u32; 3]| oriented(v.map(|v| numbers[v as usize]), &ground.vertices).expect("it has area");
    ground.faces.iter_mut().for_each(|f| f.v = renumber(f.v));
    ground.faces.sort();
    let before: Vec<_> = std::mem::take(&mut ground.moved).into_iter().map(|(v, by)| (renumber(v), by)).collect();
    ground.note(before);
}

/// Triangles with an edge of a part that went count as moved as far as it.
fn inherit(pieces: &mut [Piece], lost: &[Upright]) {
    if lost.is_empty() {
        return;
    }
    let mut far: HashMap<u64, [f64; 2]> = HashMap::new();
    let most = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
    for part in lost {
        for e in sides(part.v).map(|[a, b]| edge(a, b)) {
            far.entry(e).and_modify(|f| *f = most(*f, part.by)).or_insert(part.by);
        }
    }
    for piece in pieces.iter_mut().filter(|p| p.face.v[0] != GONE) {
        for by in sides(piece.face.v).filter_map(|[a, b]| far.get(&edge(a, b))) {
            piece.by = most(piece.by, *by);
        }
    }
}
