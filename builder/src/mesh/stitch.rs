//! Stitch: hairline gaps and T-junctions are closed, for wheels fall through them.
//!
//! An edge is *open* if one triangle uses it, a vertex if it ends an open edge. Two things are wrong and are mended, in
//! passes until there is nothing left to do:
//!
//! - Two open vertices lie within the threshold of each other, and no edge links them: they are joined by the rule of
//!   `weld`.
//! - An open vertex lies within the threshold of an open edge, its foot inside the edge, and is no corner of the edge's
//!   triangle: the triangle is divided into a fan from its apex, along the edge through all such vertices. Where two of
//!   them have one foot the nearer counts, and where the fan would be degenerate the nearest vertex that can be
//!   had alone. New edges are shorter than the one they replace, so this ends.
//!
//! A triangle is a continuous image of what it was, each place moved no farther than the vertex from its foot: no
//! place loses its ground but for such a shift. All decisions of a round are taken on the mesh as it stood before, so
//! they depend on no order, and only on what lies near the triangle.

use super::near::{Tree, beside, distance};
use super::weld::{GONE, Rest, join, joins, note, settle};
use super::{Face, Moved, area2, edge, oriented};
use crate::{Near, Repair};
use rayon::prelude::*;
use std::collections::HashMap;

/// Most passes over the mesh; three were the most that any real mesh took.
const PASSES: usize = 16;
/// Most rounds of divisions in a pass.
const ROUNDS: usize = 64;

/// Closes what lies within the threshold.
pub fn stitch(faces: &mut Vec<Face>, moved: &mut Moved, rest: &Rest, near: Near) -> Repair {
    let mut repair = Repair::default();
    for _ in 0..PASSES {
        let mut rim = Rim::new(faces, rest);
        let moves = joins(rest, &rim.vertices, near, |a, b| rim.users(edge(a, b)) > 0);
        let wanted = moves.len() as u64;
        let joined = join(faces, moved, rest, near, moves, &mut repair);
        if joined > 0 {
            rim = Rim::new(faces, rest);
        }
        repair.open_edges = rim.open.len() as u64;
        repair.left = wanted - joined;
        let divided = divide(faces, moved, rest, near, rim, &mut repair);
        if joined == 0 && !divided {
            break;
        }
    }
    repair
}

/// Edges that one triangle uses, ascending.
fn open_edges(faces: &[Face], vertices: usize) -> Vec<u64> {
    // the greater ends of all edges, by their lesser end
    let mut ends = vec![0u32; 3 * faces.len()];
    let mut next = vec![0u32; vertices + 1];
    let edges = |f: &Face| {
        let [a, b, c] = f.v; // the least first
        [(a, b), (a, c), (b.min(c), b.max(c))]
    };
    faces.iter().flat_map(edges).for_each(|(low, _)| next[low as usize + 1] += 1);
    for v in 1..next.len() {
        next[v] += next[v - 1];
    }
    for (low, high) in faces.iter().flat_map(edges) {
        let at = &mut next[low as usize];
        ends[*at as usize] = high;
        *at += 1;
    }
    let (mut open, mut from) = (Vec::new(), 0);
    for (low, &to) in next[..vertices].iter().enumerate() {
        let run = &mut ends[from..to as usize];
        from = to as usize;
        run.sort_unstable();
        open.extend(run.chunk_by(|a, b| a == b).filter(|r| r.len() == 1).map(|r| edge(low as u32, r[0])));
    }
    open
}

/// The open edges of a mesh and what touches them.
struct Rim {
    /// Ascending.
    open: Vec<u64>,
    /// Ends of open edges, ascending.
    vertices: Vec<u32>,
    /// Every edge between two of them, once for each triangle that uses it, ascending.
    edges: Vec<u64>,
    /// Triangles with an open edge, ascending.
    faces: Vec<u32>,
}

impl Rim {
    fn new(faces: &[Face], rest: &Rest) -> Rim {
        let open = open_edges(faces, rest.vertices.len());
        let mut vertices: Vec<u32> = open.iter().flat_map(|&e| [(e >> 32) as u32, e as u32]).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let mut flagged = vec![false; rest.vertices.len()];
        vertices.iter().for_each(|&v| flagged[v as usize] = true);
        let mut rim = Rim { open, vertices, edges: Vec::new(), faces: Vec::new() };
        for (i, f) in faces.iter().enumerate() {
            let before = rim.edges.len();
            rim.edges.extend(sides(f.v).filter(|e| e.iter().all(|&v| flagged[v as usize])).map(|[a, b]| edge(a, b)));
            if rim.edges[before..].iter().any(|e| rim.open.binary_search(e).is_ok()) {
                rim.faces.push(i as u32);
            }
        }
        rim.edges.par_sort_unstable();
        rim
    }

    /// How many triangles use an edge between vertices of the rim.
    fn users(&self, e: u64) -> u32 {
        let from = self.edges.partition_point(|&o| o < e);
        self.edges[from..].iter().take_while(|&&o| o == e).count() as u32
    }
}

fn sides([a, b, c]: [u32; 3]) -> impl Iterator<Item = [u32; 2]> {
    [[a, b], [b, c], [c, a]].into_iter()
}

/// A triangle that may be divided.
#[derive(Clone, Copy)]
struct Piece {
    face: Face,
    by: [f64; 2],
    /// Its number in the mesh, until it is divided.
    at: Option<u32>,
}

/// How a triangle is to be divided: the side from its corner `side`, through these vertices, which lie off it by so much.
struct Split {
    side: usize,
    through: Vec<u32>,
    by: [f64; 2],
}

/// The edges of the rim while triangles are divided.
struct Edges<'a> {
    rim: &'a Rim,
    /// Users of edges that have changed.
    users: HashMap<u64, u32>,
    /// Open edges at each vertex of the rim.
    open_at: Vec<u32>,
}

impl Edges<'_> {
    /// Users of an edge; edges that leave the rim are not open, and nobody asks how many they have.
    fn users(&self, a: u32, b: u32) -> u32 {
        let e = edge(a, b);
        self.users.get(&e).copied().unwrap_or_else(|| self.rim.users(e))
    }

    fn number(&self, v: u32) -> Option<usize> {
        self.rim.vertices.binary_search(&v).ok()
    }

    fn is_open_at(&self, v: u32) -> bool {
        self.number(v).is_some_and(|i| self.open_at[i] > 0)
    }

    fn set(&mut self, a: u32, b: u32, users: u32) {
        let (was, is) = (self.users(a, b) == 1, users == 1);
        self.users.insert(edge(a, b), users);
        for i in [a, b].iter().filter_map(|&v| self.number(v)).collect::<Vec<_>>() {
            self.open_at[i] = self.open_at[i] + u32::from(is) - u32::from(was);
        }
    }
}

/// Divides triangles at the vertices near their open edges. Returns whether there were any.
fn divide(faces: &mut Vec<Face>, moved: &mut Moved, rest: &Rest, near: Near, rim: Rim, repair: &mut Repair) -> bool {
    let tree = Tree::new(rim.vertices.iter().map(|&v| rest.vertices[v as usize]).collect());
    let piece = |&i: &u32| {
        let face = faces[i as usize];
        Piece { face, by: moved.get(&face.v).copied().unwrap_or_default(), at: Some(i) }
    };
    let mut pieces: Vec<Piece> = rim.faces.iter().map(piece).collect();
    let mut open_at = vec![0; rim.vertices.len()];
    for v in rim.open.iter().flat_map(|&e| [(e >> 32) as u32, e as u32]) {
        open_at[rim.vertices.binary_search(&v).expect("of the rim")] += 1;
    }
    let mut edges = Edges { rim: &rim, users: HashMap::new(), open_at };
    let mut active: Vec<u32> = (0..pieces.len() as u32).collect();
    let whole = pieces.len();
    for _ in 0..ROUNDS {
        let splits: Vec<(Option<Split>, u64)> =
            active.par_iter().map(|&i| split(pieces[i as usize].face.v, &edges, &tree, rest, near)).collect();
        repair.left += splits.iter().filter(|s| s.0.is_none()).map(|s| s.1).sum::<u64>();
        let mut next = Vec::new();
        for (i, split) in active.iter().zip(splits).filter_map(|(&i, (s, _))| Some((i, s?))) {
            let Piece { face, by, at } = pieces[i as usize];
            let [a, b, apex] = [0, 1, 2].map(|k| face.v[(split.side + k) % 3]);
            repair.divided += 1;
            repair.added += split.through.len() as u64;
            edges.set(a, b, edges.users(a, b) - 1);
            let path: Vec<u32> = [a].into_iter().chain(split.through).chain([b]).collect();
            for pair in path.windows(2) {
                edges.set(pair[0], pair[1], edges.users(pair[0], pair[1]) + 1);
                let v = oriented([pair[0], pair[1], apex], rest.vertices).expect("no fan is degenerate");
                next.push(pieces.len() as u32);
                pieces.push(Piece {
                    face: Face { v, ..face },
                    by: [by[0] + split.by[0], by[1] + split.by[1]],
                    at: None,
                });
            }
            if let Some(at) = at {
                moved.remove(&face.v);
                faces[at as usize].v[0] = GONE;
            }
            pieces[i as usize].face.v[0] = GONE;
        }
        active = next;
        if active.is_empty() {
            break;
        }
    }
    if pieces.len() == whole {
        return false;
    }
    let new = || pieces[whole..].iter().filter(|p| p.face.v[0] != GONE);
    note(moved, new().map(|p| (p.face.v, p.by)));
    faces.extend(new().map(|p| p.face));
    settle(faces, rest.materials, repair);
    true
}

/// How a triangle is divided now, if it is; and how many vertices near its open edges cannot be had.
fn split(v: [u32; 3], edges: &Edges, tree: &Tree, rest: &Rest, near: Near) -> (Option<Split>, u64) {
    let length = |a: u32, b: u32| {
        let [p, q] = rest.corners([a, b]);
        distance(p, q).0
    };
    let side = |k: usize| [v[k], v[(k + 1) % 3]];
    let open = |k: usize| {
        let [a, b] = side(k);
        edges.is_open_at(a) && edges.is_open_at(b) && edges.users(a, b) == 1
    };
    let mut sides: Vec<usize> = (0..3).filter(|&k| open(k)).collect();
    sides.sort_by_key(|&k| (std::cmp::Reverse(length(v[k], v[(k + 1) % 3])), v[k], v[(k + 1) % 3]));
    let mut left = 0;
    for k in sides {
        let [a, b] = side(k);
        let line = rest.corners([a, b]);
        let mut beyond = Vec::new();
        tree.along(line, near, |i| {
            let w = edges.rim.vertices[i as usize];
            if !v.contains(&w)
                && edges.open_at[i as usize] > 0
                && let Some(place) = beside(tree.point(i), line, near)
            {
                beyond.push((place, w));
            }
            true
        });
        if beyond.is_empty() {
            continue;
        }
        let apex = v[(k + 2) % 3];
        let sound = |through: &[(super::near::Beside, u32)]| {
            let path: Vec<u32> = [a].into_iter().chain(through.iter().map(|t| t.1)).chain([b]).collect();
            path.windows(2).all(|pair| {
                let [p, q, r] = rest.corners([pair[0], pair[1], apex]);
                length(pair[0], pair[1]) < length(a, b) && area2(p, q, r) != 0
            })
        };
        beyond.sort_by_key(|(place, w)| (place.along, place.off.abs(), *w));
        beyond.dedup_by_key(|(place, _)| place.along);
        if !sound(&beyond) {
            beyond.sort_by_key(|(place, w)| (place.off.abs(), *w));
            let count = beyond.len() as u64;
            match beyond.iter().position(|b| sound(std::slice::from_ref(b))) {
                Some(i) => beyond = vec![beyond[i]],
                None => {
                    left += count;
                    continue;
                }
            }
        }
        let by = beyond.iter().fold([0f64; 2], |m, (place, _)| [m[0].max(place.by[0]), m[1].max(place.by[1])]);
        return (Some(Split { side: k, through: beyond.into_iter().map(|b| b.1).collect(), by }), 0);
    }
    (None, left)
}
