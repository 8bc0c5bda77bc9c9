//! Trails and potholes, cut into the triangles of the ground.
//!
//! A trail becomes triangles in plan, a pothole rings and sectors of a polygon. Each parts the triangles of the
//! ground along its edges. The ground within gets another material, or is lowered.

use super::{Import, NO_NAME};
use crate::scene::{DEFAULT_MU, HeightField, Material, Scene, Triangle};
use crate::settings::SourceFile;
use crate::settings::marks::{Pothole, Trail};

/// Corners of the rim of a pothole, and of the rings within it.
const CORNERS: usize = 32;
const RINGS: usize = 6;
/// Names of the bands. The later one goes before the earlier, where trails cross.
const BANDS: [&str; 2] = ["trail", "track"];
/// Cosines of the bend up to which sides of a band meet in one corner, and of a step of a round one.
const GENTLE: f64 = 0.985;
const STEP: f64 = 0.97;

/// A convex polygon in plan, anticlockwise, and what becomes of the ground within.
struct Stamp {
    ring: Vec<[f64; 2]>,
    low: [f64; 2],
    high: [f64; 2],
    /// The number of its trail.
    trail: usize,
    /// 0 for none, else the number of its band from 1 on.
    band: usize,
}

/// A convex piece of a triangle, and the bands in which it lies: of trails before the last, and of that.
struct Piece {
    corners: Vec<[f64; 3]>,
    before: usize,
    trail: usize,
    band: usize,
}

impl Piece {
    /// The band that goes before the others.
    fn band(&self) -> usize {
        self.before.max(self.band)
    }
}

/// Whether a source is ground into which marks are cut.
pub fn is_cut(source: &SourceFile) -> bool {
    !source.is_obstacle() && source.include != Some(false) && source.scatter.is_none()
}

/// Cuts trails, then potholes, into what a file has.
pub fn carve(part: &mut Import, trails: &[Trail], potholes: &[Pothole]) {
    let holes: Vec<Hole> = potholes.iter().map(Hole::new).collect();
    let mut stamps: Vec<Stamp> = Vec::new();
    trails.iter().enumerate().for_each(|(i, trail)| bands(trail, i, &mut stamps));
    dig(part, &stamps, &holes);
    let scene = &mut part.scene;
    if (stamps.is_empty() && potholes.is_empty()) || scene.triangles.is_empty() {
        return;
    }
    let mut materials = [0u16; 2];
    if !trails.is_empty() {
        for (material, name) in materials.iter_mut().zip(BANDS) {
            let known = scene.materials.iter().position(|m| m.name == name);
            *material = known.unwrap_or(scene.materials.len()) as u16;
            if known.is_none() {
                scene.materials.push(Material::new(name, DEFAULT_MU));
            }
        }
    }
    let Scene { positions, triangles, .. } = scene;
    let mut all: Vec<Triangle> = Vec::with_capacity(triangles.len());
    for t in triangles.iter() {
        let corners = t.v.map(|v| positions[v as usize]);
        let [low, high] = ends(corners.iter());
        let meets = |s: &&Stamp| [0, 1].iter().all(|&k| s.low[k] <= high[k] && s.high[k] >= low[k]);
        let mut near = stamps.iter().filter(meets).peekable();
        // what stands upright has no inside in plan
        if (near.peek().is_none() && holes.is_empty()) || area(&corners) == 0.0 {
            all.push(*t);
            continue;
        }
        let mut pieces = vec![Piece { corners: corners.to_vec(), before: 0, trail: 0, band: 0 }];
        near.for_each(|stamp| pieces = stamp.part(std::mem::take(&mut pieces)));
        holes.iter().for_each(|hole| pieces = hole.part(std::mem::take(&mut pieces)));
        let material = |piece: &Piece| piece.band().checked_sub(1).map_or(t.material, |band| materials[band]);
        if let [only] = &pieces[..]
            && only.corners.len() == 3
        {
            all.push(Triangle { material: material(only), ..*t });
            continue;
        }
        for piece in pieces {
            let base = positions.len() as u32;
            positions.extend(piece.corners.iter().map(|p| lowered(*p, &holes)));
            let count = piece.corners.len() as u32;
            let fan = (1..count.saturating_sub(1)).map(|i| [base, base + i, base + i + 1]);
            all.extend(fan.map(|v| Triangle { v, material: material(&piece), source: t.source }));
        }
    }
    scene.triangles = all;
    // bands that no triangle has got, and materials that none has kept, name nothing
    let none = scene.materials.iter().all(|m| m.name == NO_NAME);
    if !none || !trails.is_empty() {
        super::forget_unused(scene);
    }
    (part.triangles, part.vertices) = (vec![scene.triangles.len()], vec![scene.positions.len()]);
}

/// Lowers posts of fields within potholes. What a field cannot have is a warning of its file.
fn dig(part: &mut Import, stamps: &[Stamp], holes: &[Hole]) {
    if part.scene.fields.is_empty() {
        return;
    }
    let mut met = vec![false; holes.len()];
    let mut over = vec![false; holes.len()];
    for field in &mut part.scene.fields {
        let (origin, pitch) = (field.origin, field.pitch);
        let last = [field.columns, field.rows].map(|count| count.saturating_sub(1) as f64);
        for (i, hole) in holes.iter().enumerate() {
            let reach = hole.hole.diameter / 2.0;
            let from = [0, 1].map(|k| ((hole.hole.at[k] - reach - origin[k]) / pitch).ceil().max(0.0));
            let to = [0, 1].map(|k| ((hole.hole.at[k] + reach - origin[k]) / pitch).floor().min(last[k]));
            over[i] |= [0, 1].iter().all(|&k| (0.0..=last[k]).contains(&((hole.hole.at[k] - origin[k]) / pitch)));
            // in the order of the holes, so that each post is lowered by the deepest alone
            for row in from[1] as usize..(to[1] + 1.0).max(0.0) as usize {
                for column in from[0] as usize..(to[0] + 1.0).max(0.0) as usize {
                    let at = [origin[0] + column as f64 * pitch, origin[1] + row as f64 * pitch];
                    let own = hole.depth(at);
                    let before = holes[..i].iter().map(|h| h.depth(at)).fold(0.0, f64::max);
                    if own > 0.0 {
                        met[i] = true;
                        field.heights[row * field.columns + column] -= (own - before).max(0.0);
                    }
                }
            }
        }
    }
    let lost = met.iter().zip(over).filter(|(met, over)| !**met && *over).count() as u64;
    let mut warnings = Vec::new();
    if lost > 0 {
        let text = "no post of this map lies in it, so the ground there is as if it were not";
        warnings.push(format!("potholes left out: {lost} ({text})"));
    }
    if part.scene.fields.iter().any(|field| stamps.iter().any(|stamp| meets(stamp, field))) {
        warnings.push("trails are cut into meshes, and this is a map of heights: it has none".into());
    }
    part.report.files.iter_mut().for_each(|file| file.warnings.extend(warnings.iter().cloned()));
}

/// Whether a part of a trail may lie over a field.
fn meets(stamp: &Stamp, field: &HeightField) -> bool {
    let counts = [field.columns, field.rows].map(|count| count.saturating_sub(1) as f64);
    let far = [0, 1].map(|k| field.origin[k] + counts[k] * field.pitch);
    [0, 1].iter().all(|&k| stamp.low[k] < far[k] && stamp.high[k] > field.origin[k])
}

impl Stamp {
    /// None if it has no area.
    fn new(mut ring: Vec<[f64; 2]>, trail: usize, band: usize) -> Option<Stamp> {
        let corners: Vec<[f64; 3]> = ring.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        let area = area(&corners);
        if area < 0.0 {
            ring.reverse();
        }
        let [low, high] = ends(corners.iter());
        (area != 0.0).then_some(Stamp { ring, low, high, trail, band })
    }

    /// Parts pieces along the edges; what lies within all of them changes.
    fn part(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut all = Vec::with_capacity(pieces.len() + 4);
        for mut piece in pieces {
            if piece.trail != self.trail {
                piece = Piece { before: piece.band(), trail: self.trail, band: 0, ..piece };
            }
            let [low, high] = ends(piece.corners.iter());
            // a piece that has the band already stays whole, as one that lies beside it
            let is_beside = [0, 1].iter().any(|&k| self.low[k] > high[k] || self.high[k] < low[k]);
            let parted = if is_beside || piece.band == self.band { None } else { parted(&piece.corners, &self.ring) };
            let Some((outside, corners)) = parted else {
                all.push(piece);
                continue;
            };
            all.extend(outside.into_iter().map(|corners| Piece { corners, ..piece }));
            all.push(Piece { corners, band: self.band, ..piece });
        }
        all
    }
}

/// The convex parts of a polygon outside of a ring, and the one within; none if nothing is within.
#[allow(clippy::type_complexity)] // polygons, and the one inside
fn parted(corners: &[[f64; 3]], ring: &[[f64; 2]]) -> Option<(Vec<Vec<[f64; 3]>>, Vec<[f64; 3]>)> {
    let (mut rest, mut outside) = (corners.to_vec(), Vec::new());
    for (i, a) in ring.iter().enumerate() {
        let [inner, outer] = halves(&rest, *a, ring[(i + 1) % ring.len()]);
        outside.extend((area(&outer) != 0.0).then_some(outer));
        rest = inner;
        if area(&rest) == 0.0 {
            return None;
        }
    }
    Some((outside, rest))
}

/// Both parts of each polygon that have an area.
fn split(all: Vec<Vec<[f64; 3]>>, a: [f64; 2], b: [f64; 2]) -> Vec<Vec<[f64; 3]>> {
    all.iter().flat_map(|corners| halves(corners, a, b)).filter(|corners| area(corners) != 0.0).collect()
}

/// The parts of a convex polygon to the left and to the right of a line.
fn halves(corners: &[[f64; 3]], a: [f64; 2], b: [f64; 2]) -> [Vec<[f64; 3]>; 2] {
    let side = |p: &[f64; 3]| (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    let mut both = [Vec::new(), Vec::new()];
    for (i, p) in corners.iter().enumerate() {
        let q = &corners[(i + 1) % corners.len()];
        let (s, t) = (side(p), side(q));
        if s >= 0.0 {
            both[0].push(*p);
        }
        if s <= 0.0 {
            both[1].push(*p);
        }
        if (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0) {
            // the same place from either side: an edge of two triangles is cut in one place
            let (p, q, s, t) = if p < q { (p, q, s, t) } else { (q, p, t, s) };
            let way = s / (s - t);
            let cut = [0, 1, 2].map(|k| p[k] + (q[k] - p[k]) * way);
            both.iter_mut().for_each(|half| half.push(cut));
        }
    }
    both
}

/// Twice the area in plan, positive if it is anticlockwise.
fn area(corners: &[[f64; 3]]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    let [x, y, _] = corners.first().copied().unwrap_or_default();
    corners.iter().zip(next).map(|(p, q)| (p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x)).sum()
}

fn ends<'a>(corners: impl Iterator<Item = &'a [f64; 3]>) -> [[f64; 2]; 2] {
    let none = [[f64::INFINITY; 2], [f64::NEG_INFINITY; 2]];
    corners.fold(none, |[low, high], p| [[0, 1].map(|k| low[k].min(p[k])), [0, 1].map(|k| high[k].max(p[k]))])
}

/// The bands of a trail, from the outside in: what lies up to a distance from its middle line.
fn bands(trail: &Trail, number: usize, stamps: &mut Vec<Stamp>) {
    let [inner, outer] = [-1.0, 1.0].map(|side| (trail.wheelbase + side * trail.track_width) / 2.0);
    let half = trail.width / 2.0;
    let of = |d: f64| match d {
        d if d > inner && d < outer => 2,
        d if d < half => 1,
        _ => 0,
    };
    let mut ends: Vec<f64> = [half, outer, inner].into_iter().filter(|r| *r > 0.0).collect();
    ends.sort_by(|a, b| b.total_cmp(a));
    ends.dedup();
    for (i, reach) in ends.iter().enumerate() {
        let next = ends.get(i + 1).copied().unwrap_or(0.0);
        strip(&trail.points, *reach, number, of((reach + next) / 2.0), stamps);
    }
}

/// All that lies within a distance of a line, but for what is beyond its ends. Where the line bends, its outer side is
/// round.
fn strip(points: &[[f64; 2]], reach: f64, trail: usize, band: usize, stamps: &mut Vec<Stamp>) {
    let mut points = points.to_vec();
    points.dedup();
    let between = |i: usize| {
        let [p, q]: [[f64; 2]; 2] = [points[i], points[i + 1]];
        let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
        let length = (dx * dx + dy * dy).sqrt();
        ([dx / length, dy / length], length)
    };
    let ways: Vec<([f64; 2], f64)> = (0..points.len().saturating_sub(1)).map(between).collect();
    let left = |[x, y]: [f64; 2]| [-y, x];
    let off = |p: [f64; 2], n: [f64; 2], by: f64| [p[0] + n[0] * by, p[1] + n[1] * by];
    // the middle of two normals where the line bends so little that both sides meet there
    let shared = |i: usize| {
        let ((a, before), (b, after)) = (*ways.get(i.checked_sub(1)?)?, *ways.get(i)?);
        let cosine = a[0] * b[0] + a[1] * b[1];
        let [a, b] = [left(a), left(b)];
        let middle = [(a[0] + b[0]) / 2.0, (a[1] + b[1]) / 2.0];
        let square = middle[0] * middle[0] + middle[1] * middle[1];
        // how far along the line a corner lies from the place of the bend
        let along = reach * (1.0 / square - 1.0).max(0.0).sqrt();
        (cosine > GENTLE && along < before.min(after) / 2.0).then_some([middle[0] / square, middle[1] / square])
    };
    for (i, (way, _)) in ways.iter().enumerate() {
        let [n, m] = [shared(i), shared(i + 1)].map(|n| n.unwrap_or(left(*way)));
        let [p, q] = [points[i], points[i + 1]];
        let ring = vec![off(p, n, -reach), off(q, m, -reach), off(q, m, reach), off(p, n, reach)];
        stamps.extend(Stamp::new(ring, trail, band));
        let Some((next, _)) = ways.get(i + 1).filter(|_| shared(i + 1).is_none()) else { continue };
        let turn = way[0] * next[1] - way[1] * next[0];
        let side = if turn > 0.0 { -1.0 } else { 1.0 };
        let mut normals = vec![left(*way)];
        round(left(*way), left(*next), *way, side, &mut normals);
        let ring = std::iter::once(q).chain(normals.iter().map(|n| off(q, *n, side * reach))).collect();
        stamps.extend(Stamp::new(ring, trail, band));
    }
}

/// Normals from one to another, without the first: on the way past `over`, where they are opposite.
fn round(a: [f64; 2], b: [f64; 2], over: [f64; 2], side: f64, into: &mut Vec<[f64; 2]>) {
    if a[0] * b[0] + a[1] * b[1] > STEP {
        into.push(b);
        return;
    }
    let sum = [a[0] + b[0], a[1] + b[1]];
    let length = (sum[0] * sum[0] + sum[1] * sum[1]).sqrt();
    let middle = if length > 1e-9 { sum.map(|v| v / length) } else { over.map(|v| v * side) };
    round(a, middle, over, side, into);
    round(middle, b, over, side, into);
}

/// A place of the ground with what is dug there.
fn lowered([x, y, z]: [f64; 3], holes: &[Hole]) -> [f64; 3] {
    let dug = holes.iter().map(|hole| hole.depth([x, y]));
    [x, y, z - dug.fold(0.0, |most, v| if v > most { v } else { most })]
}

/// A pothole: rings of a polygon of [`CORNERS`], and sectors. What lies in one ring and one sector is flat.
struct Hole<'a> {
    hole: &'a Pothole,
    rim: Vec<[f64; 2]>,
    /// The way out of each sector, as long as 1 by the distance of the rim's edge from the middle.
    ways: Vec<[f64; 2]>,
}

impl<'a> Hole<'a> {
    fn new(hole: &'a Pothole) -> Self {
        let (half, radius) = (180.0 / CORNERS as f64, hole.diameter / 2.0);
        let reach = radius * super::cos_sin(half)[0];
        let turn = |i: usize| 2.0 * half * i as f64;
        let way = |i: usize| super::cos_sin(half + turn(i)).map(|v| v / reach);
        let corner = |i: usize| {
            let [cos, sin] = super::cos_sin(turn(i));
            [hole.at[0] + radius * cos, hole.at[1] + radius * sin]
        };
        Hole { hole, rim: (0..CORNERS).map(corner).collect(), ways: (0..CORNERS).map(way).collect() }
    }

    /// How far out a place is: 1 along the rim.
    fn out(&self, at: [f64; 2]) -> (usize, f64) {
        let [dx, dy] = [at[0] - self.hole.at[0], at[1] - self.hole.at[1]];
        let all = self.ways.iter().map(|[x, y]| x * dx + y * dy).enumerate();
        all.fold((0, 0.0), |most, one| if one.1 > most.1 { one } else { most })
    }

    /// How deep it is at a place, linear from ring to ring.
    fn depth(&self, at: [f64; 2]) -> f64 {
        let (_, out) = self.out(at);
        if out >= 1.0 {
            return 0.0;
        }
        let ring = (out * RINGS as f64).floor();
        let [inner, outer] = [ring, ring + 1.0].map(|k| {
            let part = k / RINGS as f64;
            1.0 - part * part
        });
        self.hole.depth * (inner + (outer - inner) * (out * RINGS as f64 - ring))
    }

    /// Parts what lies within the rim along sectors and rings.
    fn part(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut all = Vec::with_capacity(pieces.len());
        let radius = self.hole.diameter / 2.0;
        for piece in pieces {
            let [low, high] = ends(piece.corners.iter());
            let beside =
                [0, 1].iter().any(|&k| low[k] > self.hole.at[k] + radius || high[k] < self.hole.at[k] - radius);
            let parted = if beside { None } else { parted(&piece.corners, &self.rim) };
            let Some((outside, within)) = parted else {
                all.push(piece);
                continue;
            };
            let mut parts = vec![within];
            for i in 0..CORNERS / 2 {
                parts = split(parts, self.rim[i], self.rim[i + CORNERS / 2]);
            }
            let rings = parts.into_iter().flat_map(|sector| self.rings(sector));
            all.extend(outside.into_iter().chain(rings).map(|corners| Piece { corners, ..piece }));
        }
        all
    }

    /// Parts what lies in one sector along the rings.
    fn rings(&self, sector: Vec<[f64; 3]>) -> Vec<Vec<[f64; 3]>> {
        let count = sector.len() as f64;
        let middle = [0, 1].map(|k| sector.iter().map(|p| p[k]).sum::<f64>() / count);
        let (number, _) = self.out(middle);
        let ends = [self.rim[number], self.rim[(number + 1) % CORNERS]];
        let mut parts = vec![sector];
        for ring in 1..RINGS {
            let part = ring as f64 / RINGS as f64;
            let [a, b] = ends.map(|p| [0, 1].map(|k| self.hole.at[k] + (p[k] - self.hole.at[k]) * part));
            parts = split(parts, a, b);
        }
        parts
    }
}
