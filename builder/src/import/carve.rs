//! Trails and potholes, cut into the triangles of the ground.
//!
//! A trail becomes triangles in plan, a pothole rings and sectors of a polygon. Each parts the triangles of the
//! ground along its edges. The ground within gets another material, or is lowered.

use super::{Import, NO_NAME};
use crate::scene::{DEFAULT_MU, Material, Scene, Triangle};
use crate::settings::SourceFile;
use crate::settings::marks::{Pothole, Trail};

/// Corners of the rim of a pothole, and of the rings within it.
const CORNERS: usize = 32;
const RINGS: usize = 6;
/// Names of the bands.
const BANDS: [&str; 2] = ["trail", "track"];

/// A convex polygon in plan, anticlockwise, and what becomes of the ground within.
struct Stamp {
    ring: Vec<[f64; 2]>,
    low: [f64; 2],
    high: [f64; 2],
    /// The number of its band.
    band: usize,
}

/// A convex piece of a triangle.
struct Piece {
    corners: Vec<[f64; 3]>,
    material: u16,
}

/// Whether a source is ground into which marks are cut.
pub fn is_cut(source: &SourceFile) -> bool {
    !source.is_obstacle() && source.include != Some(false) && source.scatter.is_none()
}

/// Cuts trails, then potholes, into what a file has.
pub fn carve(part: &mut Import, trails: &[Trail], potholes: &[Pothole]) {
    let scene = &mut part.scene;
    let mut stamps: Vec<Stamp> = Vec::new();
    for (band, width) in [(0, true), (1, false)] {
        for trail in trails {
            let half = if width { trail.width / 2.0 } else { trail.track_width / 2.0 };
            let sides: &[f64] = if width { &[0.0] } else { &[-0.5, 0.5] };
            sides.iter().for_each(|side| strip(&trail.points, side * trail.wheelbase, half, band, &mut stamps));
        }
    }
    if (stamps.is_empty() && potholes.is_empty()) || scene.triangles.is_empty() {
        return;
    }
    let mut bands = [0u16; 2];
    if !trails.is_empty() {
        for (band, name) in bands.iter_mut().zip(BANDS) {
            let known = scene.materials.iter().position(|m| m.name == name);
            *band = known.unwrap_or(scene.materials.len()) as u16;
            if known.is_none() {
                scene.materials.push(Material::new(name, DEFAULT_MU));
            }
        }
    }
    let holes: Vec<Hole> = potholes.iter().map(Hole::new).collect();
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
        let mut pieces = vec![Piece { corners: corners.to_vec(), material: t.material }];
        near.for_each(|stamp| pieces = stamp.part(std::mem::take(&mut pieces), bands));
        holes.iter().for_each(|hole| pieces = hole.part(std::mem::take(&mut pieces)));
        if pieces.len() == 1 && pieces[0].corners.len() == 3 {
            all.push(Triangle { material: pieces[0].material, ..*t });
            continue;
        }
        for piece in pieces {
            let base = positions.len() as u32;
            positions.extend(piece.corners.iter().map(|p| lowered(*p, &holes)));
            let count = piece.corners.len() as u32;
            let fan = (1..count.saturating_sub(1)).map(|i| [base, base + i, base + i + 1]);
            all.extend(fan.map(|v| Triangle { v, material: piece.material, source: t.source }));
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

impl Stamp {
    /// None if it has no area.
    fn new(mut ring: Vec<[f64; 2]>, band: usize) -> Option<Stamp> {
        let corners: Vec<[f64; 3]> = ring.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        let area = area(&corners);
        if area < 0.0 {
            ring.reverse();
        }
        let [low, high] = ends(corners.iter());
        (area != 0.0).then_some(Stamp { ring, low, high, band })
    }

    /// Parts pieces along the edges; what lies within all of them changes.
    fn part(&self, pieces: Vec<Piece>, bands: [u16; 2]) -> Vec<Piece> {
        let mut all = Vec::with_capacity(pieces.len() + 4);
        for piece in pieces {
            let [low, high] = ends(piece.corners.iter());
            if [0, 1].iter().any(|&k| self.low[k] > high[k] || self.high[k] < low[k]) {
                all.push(piece);
                continue;
            }
            // one that lies beside it stays whole
            let Some((outside, corners)) = parted(&piece.corners, &self.ring) else {
                all.push(piece);
                continue;
            };
            all.extend(outside.into_iter().map(|corners| Piece { corners, material: piece.material }));
            all.push(Piece { corners, material: bands[self.band] });
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

/// A band beside a line, as triangles: corners of neighbours are one where the line bends.
fn strip(points: &[[f64; 2]], beside: f64, half: f64, band: usize, stamps: &mut Vec<Stamp>) {
    let direction = |i: usize| {
        let [p, q] = [points[i], points[i + 1]];
        let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
        let length = (dx * dx + dy * dy).sqrt();
        (length > 0.0).then(|| [dx / length, dy / length])
    };
    let ways: Vec<[f64; 2]> = (0..points.len().saturating_sub(1)).filter_map(direction).collect();
    if ways.len() + 1 != points.len() {
        return; // points that are twice there were left out before
    }
    let side = |i: usize, off: f64| {
        let [a, b] = [ways[i.saturating_sub(1)], ways[i.min(ways.len() - 1)]];
        let normal = [-(a[1] + b[1]) / 2.0, (a[0] + b[0]) / 2.0];
        // at most three times as far out as on a straight line
        let long = (normal[0] * normal[0] + normal[1] * normal[1]).max(1.0 / 9.0);
        [points[i][0] + normal[0] / long * off, points[i][1] + normal[1] / long * off]
    };
    for i in 0..ways.len() {
        let [a, b] = [side(i, beside - half), side(i + 1, beside - half)];
        let [d, c] = [side(i, beside + half), side(i + 1, beside + half)];
        stamps.extend(Stamp::new(vec![a, b, c], band));
        stamps.extend(Stamp::new(vec![a, c, d], band));
    }
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
            all.extend(outside.into_iter().chain(rings).map(|corners| Piece { corners, material: piece.material }));
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
