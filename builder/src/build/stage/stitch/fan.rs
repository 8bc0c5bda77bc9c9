//! The parts of a triangle that is divided at vertices along a side.
//!
//! A few make a fan from its apex. Many would make needles, which nobody can prove apart, and a query at the apex would
//! test them all. So points are made inside the triangle, in rows along the side: each has about a quarter as many as
//! the row before, over some of its feet, and lies about half as far from it as its points lie apart, until few are
//! left to make a fan. The rows of a triangle that is about as high as long are straight, their points on the way to
//! the apex; of a long and thin one that way leads far along the side, so points lie square over their feet, and the
//! rows come down towards both ends. The points lie on the lattice: off the triangle's plane by half a step of height
//! at most.

use super::super::ground::Ground;
use super::distance;
use crate::options::Near;
use crate::util::exact::area2;
use std::collections::HashSet;

/// Most vertices that make a fan where there is room for rows: as many triangles come to lie around the apex for each
/// that it had.
pub const FAN: usize = 8;
/// Most that make one where there is none.
pub const NEEDLES: usize = 64;
/// So many points of a row have one point of the row above.
const STRIDE: usize = 4;
/// Most points of the last row, by the kind of the rows.
const LAST: [usize; 2] = [2, 3];
/// Least distance of points of a row, steps: rounded, they keep their order.
const APART: f64 = 16.0;
/// Least distance of rows, in reaches, and what it is where there is room.
const RISE: [f64; 2] = [1.0, 256.0];
/// Altitude of a triangle whose parts have room for rows, in reaches.
const ROOM: f64 = 128.0;
/// Most times that the rows are laid anew without vertices that they cannot have.
const TRIES: usize = 8;

/// The parts of a triangle.
pub struct Fan {
    /// The vertices along the side, its ends among them.
    pub path: Vec<u32>,
    /// Points that are made, for the path and inside: their numbers begin where those of the vertices end.
    pub points: Vec<[i32; 3]>,
    /// Counter-clockwise, but for what a vertex off the side turns over.
    pub parts: Vec<[u32; 3]>,
    /// The farthest that a point lies off the triangle's plane, steps of height.
    pub off: f64,
}

impl Fan {
    /// Whether all parts meet at the apex.
    pub fn is_plain(&self) -> bool {
        self.parts.len() + 1 == self.path.len()
    }

    /// Where a vertex or a point that was made lies.
    pub fn place(&self, v: u32, ground: &Ground) -> [i32; 3] {
        place(v, &self.points, ground)
    }
}

fn place(v: u32, points: &[[i32; 3]], ground: &Ground) -> [i32; 3] {
    let known = ground.vertices.len();
    if (v as usize) < known { ground.vertices[v as usize] } else { points[v as usize - known] }
}

/// A point of a row.
#[derive(Clone, Copy)]
struct Point {
    v: u32,
    /// How far along the side its foot lies, steps.
    along: f64,
    /// The foot's number in the path.
    foot: usize,
}

/// Divides a triangle from its apex along a path: vertices, or numbers of points made for it, and how far along the
/// side they lie, in steps. None if they are more than [`NEEDLES`] and there is no room for rows.
pub fn fan(mut path: Vec<(u32, f64)>, made: Vec<[i32; 3]>, apex: u32, ground: &Ground, near: Near) -> Option<Fan> {
    let vertices = |path: Vec<(u32, f64)>| path.into_iter().map(|p| p.0).collect::<Vec<u32>>();
    for _ in 0..TRIES {
        if path.len() - 2 <= FAN {
            break;
        }
        let Some(rows) = Rows::new(&path, made.clone(), apex, ground, near) else { break };
        let unsound = rows.unsound();
        if unsound.is_empty() {
            let parts = rows.parts.iter().map(|part| part.map(|p| p.v)).collect();
            return Some(Fan { path: vertices(path), points: rows.points, parts, off: rows.off });
        }
        // its parts are small, and may have them
        let end = path.len() - 1;
        let mut number = 0..;
        path.retain(|_| number.next().is_some_and(|i| i == 0 || i == end || !unsound.contains(&i)));
    }
    (path.len() - 2 <= NEEDLES).then(|| {
        let path = vertices(path);
        let parts = path.windows(2).map(|pair| [pair[0], pair[1], apex]).collect();
        Fan { path, points: made, parts, off: 0.0 }
    })
}

/// Whether a triangle is so high over its first side that rows find room in its parts.
pub fn has_room(v: [u32; 3], ground: &Ground, near: Near) -> bool {
    let [a, b, c] = ground.corners(v);
    let altitude = area2(a, b, c) as f64 / (distance(a, b).0 as f64).sqrt();
    altitude >= ROOM * f64::from(near.plan.max(1))
}

/// Where the points of the rows lie.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// On the way from their feet to the apex.
    Straight,
    /// Square over their feet, lower towards both ends.
    Square,
}

struct Rows<'a> {
    ground: &'a Ground<'a>,
    /// The triangle, from the start of the side.
    corners: [[i32; 3]; 3],
    /// The side's length, how far along it the apex lies, and how far off, in steps.
    length: f64,
    foot: f64,
    altitude: f64,
    reach: f64,
    kind: Kind,
    points: Vec<[i32; 3]>,
    parts: Vec<[Point; 3]>,
    off: f64,
}

impl<'a> Rows<'a> {
    fn new(path: &[(u32, f64)], points: Vec<[i32; 3]>, apex: u32, ground: &'a Ground, near: Near) -> Option<Self> {
        let point = |(foot, &(v, along)): (usize, &(u32, f64))| Point { v, along, foot };
        let mut row: Vec<Point> = path.iter().enumerate().map(point).collect();
        let end = row.pop()?;
        let start = row.remove(0);
        let corners = ground.corners([start.v, end.v, apex]);
        let length = (distance(corners[0], corners[1]).0 as f64).sqrt();
        let altitude = area2(corners[0], corners[1], corners[2]) as f64 / length;
        let way = |to: usize, k: usize| f64::from(corners[to][k]) - f64::from(corners[0][k]);
        let foot = (way(1, 0) * way(2, 0) + way(1, 1) * way(2, 1)) / length;
        let reach = f64::from(near.plan.max(1));
        let (kind, parts) = (Kind::Straight, Vec::new());
        let mut rows = Rows { ground, corners, length, foot, altitude, reach, kind, points, parts, off: 0.0 };
        let (_, wide, rise) = rows.next(&row, 0.0);
        let leans = |way: f64| rise / altitude * way.abs() > wide;
        if leans(foot) || leans(length - foot) {
            rows.kind = Kind::Square;
        }
        let mut height = 0.0;
        while row.len() > LAST[rows.kind as usize] {
            let (feet, _, rise) = rows.next(&row, height);
            if rise < RISE[0] * reach {
                return None;
            }
            height += rise;
            let above: Vec<Point> =
                feet.iter().map(|&i| Point { v: rows.point(row[i].along, height / altitude), ..row[i] }).collect();
            for (f, pair) in feet.windows(2).zip(above.windows(2)) {
                let middle = (pair[0].along + pair[1].along) / 2.0;
                let turn = f[0] + row[f[0]..f[1]].partition_point(|p| p.along < middle).max(1) - 1;
                let of = |i: usize| if i < turn { pair[0] } else { pair[1] };
                rows.parts.extend((f[0]..f[1]).map(|i| [row[i], row[i + 1], of(i)]));
                rows.parts.push([row[turn], pair[1], pair[0]]);
            }
            let ([first, .., last], [left, .., right]) = (&row[..], &above[..]) else { return None };
            rows.parts.extend([[start, *first, *left], [*last, end, *right]]);
            row = above;
        }
        row.insert(0, start);
        row.push(end);
        let apex = Point { v: apex, ..start };
        rows.parts.extend(row.windows(2).map(|pair| [pair[0], pair[1], apex]));
        Some(rows)
    }

    /// The row above one of this height: its feet, how far apart they lie mostly, and how far it rises.
    fn next(&self, row: &[Point], height: f64) -> (Vec<usize>, f64, f64) {
        let feet = self.feet(row);
        let mut gaps: Vec<f64> = feet.windows(2).map(|f| row[f[1]].along - row[f[0]].along).collect();
        gaps.sort_by(f64::total_cmp);
        let wide = gaps[gaps.len() / 2];
        // rows to come share the half of the way to the apex
        let (last, mut to_come, mut count) = (LAST[self.kind as usize], 1, feet.len());
        while count > last {
            (to_come, count) = (to_come + 1, count.div_ceil(STRIDE) + last - 1);
        }
        let room = (self.altitude / 2.0 - height) / f64::from(to_come);
        let wanted = (wide / 2.0).max(RISE[1] * self.reach);
        (feet, wide, wanted.min(room))
    }

    /// Which points of a row have another above them: its ends, some between that lie apart, and if they are square the
    /// one under the apex.
    fn feet(&self, row: &[Point]) -> Vec<usize> {
        let end = row.len() - 1;
        let under = row.partition_point(|p| p.along < self.foot);
        let mut feet = vec![0];
        for i in 1..end {
            let last = feet[feet.len() - 1];
            let far = |from: &Point, to: &Point| to.along - from.along >= APART;
            let apart = i - last >= STRIDE && far(&row[last], &row[i]) && far(&row[i], &row[end]);
            if apart || self.kind == Kind::Square && i == under {
                feet.push(i);
            }
        }
        feet.push(end);
        feet
    }

    /// Makes a point: over a foot so far along the side, this part of the way up.
    fn point(&mut self, along: f64, up: f64) -> u32 {
        let Rows { corners: [a, b, c], length, foot, altitude, .. } = *self;
        let place = if self.kind == Kind::Square {
            let roof = if along < foot { along / foot } else { (length - along) / (length - foot) };
            let [ex, ey] = [0, 1].map(|k| (f64::from(b[k]) - f64::from(a[k])) / length);
            let over = |from: i32, ahead: f64, left: f64| f64::from(from) + along * ahead + up * roof * altitude * left;
            [over(a[0], ex, -ey), over(a[1], ey, ex)]
        } else {
            let way = |from: f64, to: i32, part: f64| from + (f64::from(to) - from) * part;
            [0, 1].map(|k| way(way(f64::from(a[k]), b[k], along / length), c[k], up))
        };
        let [x, y] = place.map(|v| v.round_ties_even() as i32);
        let p = [x, y, 0];
        let parts = [(area2(p, b, c), a), (area2(a, p, c), b), (area2(a, b, p), c)];
        let area = area2(a, b, c);
        let height: i128 = parts.iter().map(|(part, corner)| part * i128::from(corner[2])).sum();
        let z = (2 * height + area).div_euclid(2 * area);
        let off = (z * area - height).abs() as f64 / area as f64;
        self.off = if off > self.off { off } else { self.off };
        self.points.push([x, y, z as i32]);
        (self.ground.vertices.len() + self.points.len() - 1) as u32
    }

    /// Numbers in the path of what is at a part without area, or turned over.
    fn unsound(&self) -> HashSet<usize> {
        let turned = |part: &&[Point; 3]| {
            let [a, b, c] = part.map(|p| place(p.v, &self.points, self.ground));
            area2(a, b, c) <= 0
        };
        self.parts.iter().filter(turned).flat_map(|part| part.map(|p| p.foot)).collect()
    }
}
