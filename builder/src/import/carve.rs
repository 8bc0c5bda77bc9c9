//! Trails and potholes, cut into the triangles of the ground.
//!
//! A trail becomes triangles in plan, a pothole rings of a polygon. Each parts the triangles of the ground along its edges; what lies within
//! gets another material, or is lowered.

use super::{Import, NO_NAME};
use crate::scene::{DEFAULT_MU, Material, Scene, Triangle};
use crate::settings::SourceFile;
use crate::settings::marks::{Pothole, Trail};

/// Corners of the rim of a pothole, and of the rings within it.
const CORNERS: usize = 32;
const RINGS: usize = 6;
/// What bands are called.
const BANDS: [&str; 2] = ["trail", "track"];

/// A convex polygon in plan, anticlockwise, and what becomes of the ground within.
struct Stamp {
    ring: Vec<[f64; 2]>,
    low: [f64; 2],
    high: [f64; 2],
    then: Then,
}

#[derive(Clone, Copy)]
enum Then {
    /// It is of a band.
    Band(usize),
    /// It only gets corners along the edges of a ring.
    Part,
}

/// A convex piece of a triangle.
struct Piece {
    corners: Vec<[f64; 3]>,
    material: u16,
}

/// Whether a source is ground into which marks are cut.
pub fn is_cut(source: &SourceFile) -> bool {
    source.obstacle != Some(true) && source.include != Some(false) && source.scatter.is_none()
}

/// Cuts trails, then potholes, into what a file has.
pub fn carve(part: &mut Import, trails: &[Trail], potholes: &[Pothole]) {
    let scene = &mut part.scene;
    let mut stamps: Vec<Stamp> = Vec::new();
    for (band, width) in [(0, true), (1, false)] {
        for trail in trails {
            let half = if width { trail.width / 2.0 } else { trail.track_width / 2.0 };
            let sides: &[f64] = if width { &[0.0] } else { &[-0.5, 0.5] };
            sides
                .iter()
                .for_each(|side| strip(&trail.points, side * trail.wheelbase, half, Then::Band(band), &mut stamps));
        }
    }
    for hole in potholes {
        for ring in (1..=RINGS).rev() {
            let radius = hole.diameter / 2.0 * ring as f64 / RINGS as f64;
            stamps.extend(Stamp::new(circle(hole.at, radius), Then::Part));
        }
    }
    if stamps.is_empty() || scene.triangles.is_empty() {
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
        if near.peek().is_none() || area(&corners) == 0.0 {
            all.push(*t);
            continue;
        }
        let mut pieces = vec![Piece { corners: corners.to_vec(), material: t.material }];
        near.for_each(|stamp| pieces = stamp.part(std::mem::take(&mut pieces), bands));
        for hole in potholes {
            pieces = middle(pieces, hole);
        }
        if pieces.len() == 1 && pieces[0].corners.len() == 3 && potholes.is_empty() {
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
    fn new(mut ring: Vec<[f64; 2]>, then: Then) -> Option<Stamp> {
        let corners: Vec<[f64; 3]> = ring.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
        let area = area(&corners);
        if area < 0.0 {
            ring.reverse();
        }
        let [low, high] = ends(corners.iter());
        (area != 0.0).then_some(Stamp { ring, low, high, then })
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
            let (mut rest, mut outside) = (piece.corners.clone(), Vec::new());
            for (i, a) in self.ring.iter().enumerate() {
                let [inner, outer] = halves(&rest, *a, self.ring[(i + 1) % self.ring.len()]);
                outside.extend((area(&outer) != 0.0).then_some(outer));
                rest = inner;
                if area(&rest) == 0.0 {
                    break;
                }
            }
            // one that lies beside it stays whole
            if area(&rest) == 0.0 {
                all.push(piece);
                continue;
            }
            all.extend(outside.into_iter().map(|corners| Piece { corners, material: piece.material }));
            let material = match self.then {
                Then::Band(band) => bands[band],
                Then::Part => piece.material,
            };
            all.push(Piece { corners: rest, material });
        }
        all
    }
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
fn strip(points: &[[f64; 2]], beside: f64, half: f64, then: Then, stamps: &mut Vec<Stamp>) {
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
        stamps.extend(Stamp::new(vec![a, b, c], then));
        stamps.extend(Stamp::new(vec![a, c, d], then));
    }
}

fn circle(at: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
    let corner = |i: usize| {
        let [cos, sin] = super::cos_sin(360.0 * i as f64 / CORNERS as f64);
        [at[0] + radius * cos, at[1] + radius * sin]
    };
    (0..CORNERS).map(corner).collect()
}

/// Parts the pieces about the middle of a hole, so that it becomes a corner.
fn middle(pieces: Vec<Piece>, hole: &Pothole) -> Vec<Piece> {
    let [x, y] = hole.at;
    let mut all = Vec::with_capacity(pieces.len() + 3);
    for piece in pieces {
        let [low, high] = ends(piece.corners.iter());
        if low[0] > x || high[0] < x || low[1] > y || high[1] < y || high[0] - low[0] > hole.diameter {
            all.push(piece);
            continue;
        }
        let material = piece.material;
        for half in halves(&piece.corners, [x, y], [x + 1.0, y]) {
            let quarters = halves(&half, [x, y], [x, y + 1.0]).into_iter().filter(|c| area(c) != 0.0);
            all.extend(quarters.map(|corners| Piece { corners, material }));
        }
    }
    all
}

/// A place of the ground with what is dug there.
fn lowered([x, y, z]: [f64; 3], holes: &[Hole]) -> [f64; 3] {
    let dug = holes.iter().map(|hole| hole.depth([x, y]));
    [x, y, z - dug.fold(0.0, |most, v| if v > most { v } else { most })]
}

/// A pothole, and which way the edges of its rim look.
struct Hole<'a> {
    hole: &'a Pothole,
    /// Directions, each as long as 1 by the distance of the edge from the middle.
    ways: Vec<[f64; 2]>,
}

impl<'a> Hole<'a> {
    fn new(hole: &'a Pothole) -> Self {
        let half = 180.0 / CORNERS as f64;
        let reach = hole.diameter / 2.0 * super::cos_sin(half)[0];
        let way = |i: usize| super::cos_sin(half + 360.0 * i as f64 / CORNERS as f64).map(|v| v / reach);
        Hole { hole, ways: (0..CORNERS).map(way).collect() }
    }

    /// How deep it is at a place: nothing along the edges of its rim, as beyond.
    fn depth(&self, at: [f64; 2]) -> f64 {
        let [dx, dy] = [at[0] - self.hole.at[0], at[1] - self.hole.at[1]];
        let out =
            self.ways.iter().map(|[x, y]| x * dx + y * dy).fold(0.0, |most: f64, v| if v > most { v } else { most });
        if out < 1.0 { self.hole.depth * (1.0 - out * out) } else { 0.0 }
    }
}
