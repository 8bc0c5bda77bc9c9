//! The scene of a small proving ground, and the drives over it.
//!
//! The course, x east and y north, in metres:
//!
//! ```text
//!                |=|               an oval of two straights (y = -30 and 30) and two banked bends; a road at x = -20
//!   ____--------+=+------____      that crosses the north straight on a bridge; a road at x = -52 through a tunnel
//!  (  __________|=|________  )     under a hill; in the infield a steep ramp, concrete with a slab missing and a field
//!  ( ( tunnel   |=|  setts  ) )    of setts; on the south straight a lane of wet tiles and a pavement behind a kerb;
//!  ( (__________|=|ramp_slab) )    hills of grass around it
//!   `-----split mu-----kerb---'
//! ```
//!
//! The part that is built first takes its place, and later parts are cut along its outline; so roads and grass meet
//! without a layer beneath. Only `+ - * / sqrt` make the scene, so every machine generates the same bits.

mod drive;

pub use drive::{Driven, drive, record};

use crate::scene::{HeightField, Material, Scene, Triangle};

const ASPHALT: u16 = 0;
const PAINT: u16 = 1;
const WET_TILES: u16 = 2;
const CONCRETE: u16 = 3;
const SETTS: u16 = 4;
const GRASS: u16 = 5;

/// Half the width of the oval's road, how far the foot of its embankment lies outside, and how much the outer edge
/// rises in the bends.
const ROAD_HALF: f64 = 4.5;
const FOOT: f64 = 3.0;
const BANK: f64 = 1.5;
/// Where the crossing road lies, how wide half of it is, and how high its bridge; where the deck begins and ends.
const CROSS: f64 = -20.0;
const CROSS_HALF: f64 = 3.5;
const DECK: f64 = 5.25;
const DECK_ENDS: [f64; 2] = [20.5, 40.5];
/// Where the road through the tunnel lies, how wide half of it is with its gutters, and how long half of the tunnel.
const TUNNEL: f64 = -52.0;
const TUNNEL_HALF: f64 = 4.0;
const TUNNEL_REACH: f64 = 10.0;
/// South-west and north-east corner of the concrete, and of the slab that is missing in it.
const APRON: [[f64; 2]; 2] = [[28.0, -14.0], [48.0, -6.0]];
const SLAB: [[f64; 2]; 2] = [[35.0, -10.0], [41.0, -8.0]];
const SETTS_FIELD: [[f64; 2]; 2] = [[24.0, 2.0], [48.0, 10.0]];
const SETTS_PITCH: f64 = 0.1;
/// South-west and north-east corner of the grass; its grid.
const LAND: [[f64; 2]; 2] = [[-116.0, -70.0], [116.0, 90.0]];
const GRID: f64 = 2.0;

/// The whole course.
pub fn scene() -> Scene {
    let sources = ["oval", "bridge", "tunnel", "pavement", "ramp", "apron", "setts", "land"].map(String::from).into();
    let materials = [
        ("Asphalt", 0.95, 1.0),
        ("Paint", 0.7, 1.0),
        ("Wet tiles", 0.2, 1.0),
        ("Concrete", 0.85, 1.1),
        ("Setts", 0.65, 1.6),
        ("Grass", 0.4, 5.0),
    ]
    .map(|(name, mu, rr)| Material { rr, ..Material::new(name, mu) });
    let scene = Scene { materials: materials.into(), sources, ..Scene::default() };
    let mut d = Draft { scene, source: 0, taken: Vec::new() };
    for (source, part) in [oval, bridge, tunnel, pavement, ramp, apron, setts, land].into_iter().enumerate() {
        d.source = source as u16;
        part(&mut d);
    }
    d.scene
}

/// Whether the ground is missing there on purpose.
pub fn is_open([x, y]: [f64; 2]) -> bool {
    let [low, high] = SLAB;
    low[0] < x && x < high[0] && low[1] < y && y < high[1]
}

/// Distance between the places of a drive, metres: a car at 50 m/s, asked 1,000 times a second.
pub const STEP: f64 = 0.05;

/// Drives over every part of the course, each with its name: the middle of a car every [`STEP`].
pub fn drives() -> Vec<(&'static str, Vec<[f64; 2]>)> {
    let bend = |side: f64| parts().map(move |t| bend_place(side, t, 0.0));
    // to the left beside the kerb and back, each within 8 m
    let kerb = |t: f64| {
        let x = 20.0 + 30.0 * t;
        [x, -30.0 + 4.3 * (ease((x - 20.0) / 8.0) - ease((x - 42.0) / 8.0))]
    };
    // north-east, then north: a parabola about the corner
    let turn = |t: f64| [80.0 + 40.0 * t - 20.0 * t * t, -40.0 + 40.0 * t];
    let grass = [[60.0, -60.0]].into_iter().chain(parts().map(turn)).chain([[100.0, 60.0]]);
    vec![
        ("straight", sample([[50.0, 30.0], [10.0, 30.0]])),
        ("split mu", sample([[-12.0, -30.0], [20.0, -30.0]])),
        ("over the kerb", sample(parts().map(kerb))),
        ("east bend", sample(bend(1.0))),
        ("under bridge", sample([[10.0, 30.0], [-50.0, 30.0]])),
        ("over bridge", sample([[CROSS, -24.0], [CROSS, 82.0]])),
        ("west bend", sample(bend(-1.0))),
        ("through tunnel", sample([[TUNNEL + 1.75, -24.0], [TUNNEL + 1.75, 24.0]])),
        ("over tunnel", sample([[-73.0, 0.0], [-31.0, 0.0]])),
        ("steep ramp", sample([[-6.0, -9.8], [26.0, -9.8]])),
        ("missing slab", sample([[28.02, -9.8], [48.02, -9.8]])),
        ("setts", sample([[22.0, 6.3], [50.0, 6.3]])),
        ("grass", sample(grass)),
    ]
}

/// A drive about the infield, as [`drives`]: over the ramp, with the left wheels over the missing slab, back over the
/// setts.
pub fn infield() -> Vec<[f64; 2]> {
    let turn = |t: f64| {
        let [s, c] = half_circle(t);
        [52.0 + 8.05 * s, -1.75 - 8.05 * c]
    };
    sample([[-6.02, -9.8]].into_iter().chain(parts().map(turn)).chain([[10.0, 6.3]]))
}

fn parts() -> impl Iterator<Item = f64> {
    (0..=64).map(|i| f64::from(i) / 64.0)
}

/// A polyline as places [`STEP`] apart.
fn sample(corners: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let corners: Vec<_> = corners.into_iter().collect();
    let mut path = Vec::new();
    let mut rest = 0.0; // from the start of a leg to its first place
    for leg in corners.windows(2) {
        let d = [leg[1][0] - leg[0][0], leg[1][1] - leg[0][1]];
        let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
        while rest < length {
            path.push([0, 1].map(|i| leg[0][i] + d[i] * (rest / length)));
            rest += STEP;
        }
        rest -= length;
    }
    path
}

/// Smooth from 0 at 0 to 1 at 1.
fn ease(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Sine and cosine of `t` x 180 degrees, more or less: each quarter is a quarter circle in rational form.
fn half_circle(t: f64) -> [f64; 2] {
    let first = t <= 0.5;
    let u = if first { 2.0 * t } else { 2.0 * (1.0 - t) };
    let (s, c) = (2.0 * u / (1.0 + u * u), (1.0 - u * u) / (1.0 + u * u));
    [s, if first { c } else { -c }]
}

/// Part `t` of the way round a bend of the oval, `out` metres outwards of the middle of the road; `side` is 1 in the
/// east, -1 in the west.
fn bend_place(side: f64, t: f64, out: f64) -> [f64; 2] {
    let ([s, c], r) = (half_circle(t), 30.0 + out);
    [side * (50.0 + r * s), -side * r * c]
}

fn oval(d: &mut Draft) {
    // Across: foot of the embankment, outer lane, white line, inner lane.
    const OFFSETS: [f64; 5] = [ROAD_HALF + FOOT, ROAD_HALF, 0.1, -0.1, -ROAD_HALF];
    let across = |i: usize, k: usize, wet: bool| match k {
        0 => GRASS,
        2 if i.is_multiple_of(2) => PAINT,
        1 if wet => WET_TILES,
        _ => ASPHALT,
    };
    let rise = |t: f64, out: f64| match out {
        out if out > ROAD_HALF => 0.0,
        out => BANK * ease(4.0 * t) * ease(4.0 * (1.0 - t)) * (out + ROAD_HALF) / (2.0 * ROAD_HALF),
    };
    for side in [1.0, -1.0] {
        let straight: Vec<Vec<[f64; 3]>> = (0..=50)
            .map(|i| OFFSETS.map(|o| [side * (-50.0 + 2.0 * f64::from(i)), side * (-30.0 - o), 0.0]).to_vec())
            .collect();
        d.road(&straight, |i, k| across(i, k, side > 0.0 && (19..35).contains(&i)));
        let bend: Vec<Vec<[f64; 3]>> = (0..=48)
            .map(|i| {
                let t = f64::from(i) / 48.0;
                let place = |o: f64| {
                    let [x, y] = bend_place(side, t, o);
                    [x, y, rise(t, o)]
                };
                OFFSETS.map(place).to_vec()
            })
            .collect();
        d.road(&bend, |i, k| across(i, k, false));
    }
}

fn bridge(d: &mut Draft) {
    let height = |y: f64| DECK * ease((y + 20.0) / 40.0) * ease((80.0 - y) / 40.0);
    let stations: Vec<f64> = (0..=54).map(|i| -25.5 + 2.0 * f64::from(i)).collect();
    let end = DECK_ENDS.map(|end| stations.iter().position(|y| *y == end).unwrap_or(0));
    let line = |i: usize| if i.is_multiple_of(2) { PAINT } else { ASPHALT };
    // Ramps between slopes of grass.
    for (first, part) in [(0, &stations[..=end[0]]), (end[1], &stations[end[1]..])] {
        let across = |&y: &f64| {
            let z = height(y);
            let foot = CROSS_HALF + 0.5 + 1.6 * z;
            [(-foot, 0.0), (-CROSS_HALF, z), (-0.1, z), (0.1, z), (CROSS_HALF, z), (foot, 0.0)]
                .map(|(o, z)| [CROSS + o, y, z])
                .to_vec()
        };
        d.road(&part.iter().map(across).collect::<Vec<_>>(), |i, k| match k {
            0 | 4 => GRASS,
            2 => line(first + i),
            _ => ASPHALT,
        });
    }
    // A deck between kerbs.
    let (inner, outer) = (CROSS_HALF - 0.4, CROSS_HALF + 0.4);
    let across = |&y: &f64| {
        let z = height(y);
        let kerb = z + 0.2;
        [(-outer, kerb), (-inner, kerb), (-inner, z), (-0.1, z), (0.1, z), (inner, z), (inner, kerb), (outer, kerb)]
            .map(|(o, z)| [CROSS + o, y, z])
            .to_vec()
    };
    let deck: Vec<Vec<[f64; 3]>> = stations[end[0]..=end[1]].iter().map(across).collect();
    d.strips(&deck, |i, k| match k {
        2 | 4 => ASPHALT,
        3 => line(end[0] + i),
        _ => CONCRETE,
    });
}

fn tunnel(d: &mut Draft) {
    const ACROSS: [f64; 6] = [-TUNNEL_HALF, -3.5, -0.1, 0.1, 3.5, TUNNEL_HALF];
    // from inside one straight to inside the other
    let stations: Vec<f64> = (0..=26).map(|i| -26.0 + 2.0 * f64::from(i)).collect();
    let place = |o: f64, y: f64| [TUNNEL + o, y, 0.0];
    for (i, y) in stations.windows(2).enumerate() {
        for (k, o) in ACROSS.windows(2).enumerate() {
            let material = match k {
                0 | 4 => CONCRETE,
                2 if i.is_multiple_of(2) => PAINT,
                _ => ASPHALT,
            };
            d.fill(&[place(o[0], y[0]), place(o[1], y[0]), place(o[1], y[1]), place(o[0], y[1])], material);
        }
    }
    // The hill goes on above the tunnel.
    for ends in [[-26.0, -TUNNEL_REACH], [TUNNEL_REACH, 26.0]] {
        d.take_level([TUNNEL - TUNNEL_HALF, ends[0]], [TUNNEL + TUNNEL_HALF, ends[1]]);
    }
}

fn pavement(d: &mut Draft) {
    let kerb = |x: f64| vec![[x, -22.5, 0.0], [x, -22.5, 0.15], [x, -25.5, 0.12], [x, -25.5, 0.0]];
    let stations: Vec<_> = (0..=10).map(|i| kerb(26.0 + 2.0 * f64::from(i))).collect();
    d.road(&stations, |_, _| CONCRETE);
}

fn ramp(d: &mut Draft) {
    let stations: Vec<_> = [(0.0, 0.0), (8.0, 2.4), (12.0, 2.4), (20.0, 0.0)]
        .iter()
        .map(|&(x, z)| vec![[x, -7.0, 0.0], [x, -7.0, z], [x, -13.0, z], [x, -13.0, 0.0]])
        .collect();
    d.road(&stations, |_, _| CONCRETE);
}

/// Concrete without the slab that is missing.
fn apron(d: &mut Draft) {
    let lines = [0, 1].map(|i| [APRON[0][i], SLAB[0][i], SLAB[1][i], APRON[1][i]]);
    for (i, j) in (0..9).map(|k| (k % 3, k / 3)).filter(|&cell| cell != (1, 1)) {
        let ([west, east], [south, north]) = ([lines[0][i], lines[0][i + 1]], [lines[1][j], lines[1][j + 1]]);
        d.fill(&[[west, south, 0.0], [east, south, 0.0], [east, north, 0.0], [west, north, 0.0]], CONCRETE);
    }
    d.take_level(APRON[0], APRON[1]);
}

/// Round-backed setts as a field of heights.
fn setts(d: &mut Draft) {
    let [low, high] = SETTS_FIELD;
    let [columns, rows] = [0, 1].map(|i| ((high[i] - low[i]) / SETTS_PITCH + 0.5) as usize + 1);
    let back = |i: usize| [0.0, 0.75, 1.0, 0.75][i % 4]; // a sett each 0.4 m
    let height = |i: usize| {
        let (row, column) = (i / columns, i % columns);
        let bond = if row / 4 % 2 == 0 { 0 } else { 2 };
        let edge = row == 0 || column == 0 || row == rows - 1 || column == columns - 1;
        if edge { 0.0 } else { 0.03 * back(row) * back(column + bond) }
    };
    d.scene.fields.push(HeightField {
        origin: low,
        pitch: SETTS_PITCH,
        columns,
        rows,
        heights: (0..rows * columns).map(height).collect(),
        material: SETTS,
        source: d.source,
        tolerance: 0.001,
        ..HeightField::default()
    });
    d.take_level(low, high);
}

/// A round hill at a place: its height falls from `high` in the middle to 0 at `reach`.
fn hill([x, y]: [f64; 2], middle: [f64; 2], reach: f64, high: f64) -> f64 {
    let (dx, dy) = (x - middle[0], y - middle[1]);
    let near = (1.0 - (dx * dx + dy * dy) / (reach * reach)).max(0.0);
    high * near * near * (3.0 - 2.0 * near)
}

/// Height of the grass: hills outside the oval and over the tunnel, level elsewhere and within a cell of every road.
fn land_height(x: f64, y: f64) -> f64 {
    const HILLS: [([f64; 2], f64, f64); 9] = [
        ([-116.0, 46.0], 46.0, 7.0),
        ([-95.0, -66.0], 40.0, 5.0),
        ([-66.0, 84.0], 36.0, 6.0),
        ([40.0, 84.0], 46.0, 8.0),
        ([108.0, 70.0], 40.0, 6.0),
        ([116.0, -30.0], 40.0, 6.0),
        ([20.0, -78.0], 34.0, 4.0),
        ([-34.0, -60.0], 24.0, -1.8),
        ([70.0, -72.0], 24.0, 3.0),
    ];
    // Distance from the oval's middle line, outwards.
    let (dx, dy) = ((x.abs() - 50.0).max(0.0), y.abs());
    let out = (dx * dx + dy * dy).sqrt() - 30.0;
    let from_crossing = if y > 0.0 { (x - CROSS).abs() - 16.0 } else { f64::INFINITY };
    let free = ease((out - 11.0) / 26.0) * ease(from_crossing / 24.0);
    let around: f64 = HILLS.iter().map(|&(middle, reach, high)| hill([x, y], middle, reach, high)).sum();
    free * around + hill([x, y], [TUNNEL, 0.0], 20.0, 6.5)
}

fn land(d: &mut Draft) {
    let [columns, rows] = [0, 1].map(|i| ((LAND[1][i] - LAND[0][i]) / GRID) as usize);
    let at = |i: usize, j: usize| {
        let (x, y) = (LAND[0][0] + GRID * i as f64, LAND[0][1] + GRID * j as f64);
        [x, y, land_height(x, y)]
    };
    for (i, j) in (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j))) {
        let [a, b, c, e] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        // along the more level diagonal
        let halves =
            if (a[2] - c[2]).abs() <= (b[2] - e[2]).abs() { [[a, b, c], [a, c, e]] } else { [[a, b, e], [b, c, e]] };
        halves.iter().for_each(|corners| d.fill(corners, GRASS));
    }
}

/// A convex polygon.
type Polygon = Vec<[f64; 3]>;

/// A scene in the making.
struct Draft {
    scene: Scene,
    source: u16,
    /// Outlines in plan, convex, counter-clockwise, that [`Draft::fill`] leaves out.
    taken: Vec<[[f64; 2]; 4]>,
}

impl Draft {
    /// A convex polygon as triangles around its first corner.
    fn fan(&mut self, corners: &[[f64; 3]], material: u16) {
        let first = self.scene.positions.len() as u32;
        self.scene.positions.extend_from_slice(corners);
        for k in 1..corners.len() as u32 - 1 {
            self.scene.triangles.push(Triangle { v: [first, first + k, first + k + 1], material, source: self.source });
        }
    }

    /// Strips along a road: between neighbouring stations, between neighbouring places across.
    fn strips(&mut self, stations: &[Vec<[f64; 3]>], material: impl Fn(usize, usize) -> u16) {
        for (i, pair) in stations.windows(2).enumerate() {
            for k in 0..pair[0].len() - 1 {
                self.fan(&[pair[0][k], pair[1][k], pair[1][k + 1], pair[0][k + 1]], material(i, k));
            }
        }
    }

    /// [`Draft::strips`] that take their place; across from left to right.
    fn road(&mut self, stations: &[Vec<[f64; 3]>], material: impl Fn(usize, usize) -> u16) {
        self.strips(stations, material);
        for pair in stations.windows(2) {
            let last = pair[0].len() - 1;
            self.take([pair[0][0], pair[0][last], pair[1][last], pair[1][0]].map(|[x, y, _]| [x, y]));
        }
    }

    /// Takes a place, of four corners in either sense; of a road the first two lie across.
    fn take(&mut self, mut corners: [[f64; 2]; 4]) {
        let [a, b, c, e] = corners;
        if (c[0] - a[0]) * (e[1] - b[1]) < (c[1] - a[1]) * (e[0] - b[0]) {
            corners.reverse();
        }
        self.taken.push(corners);
    }

    fn take_level(&mut self, [west, south]: [f64; 2], [east, north]: [f64; 2]) {
        self.take([[west, south], [east, south], [east, north], [west, north]]);
    }

    /// The part of a convex polygon, counter-clockwise, that nothing has taken.
    fn fill(&mut self, corners: &[[f64; 3]], material: u16) {
        let mut pieces: Vec<Polygon> = vec![corners.to_vec()];
        for outline in self.taken.iter().filter(|outline| boxes_meet(corners, &outline[..])) {
            pieces = pieces.iter().flat_map(|piece| without(piece, outline)).collect();
        }
        pieces.iter().for_each(|piece| self.fan(piece, material));
    }
}

fn boxes_meet(a: &[[f64; 3]], b: &[[f64; 2]]) -> bool {
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    };
    [0, 1].iter().all(|&i| {
        let ([a0, a1], [b0, b1]) = (ends(&mut a.iter().map(|p| p[i])), ends(&mut b.iter().map(|p| p[i])));
        a0 < b1 && b0 < a1
    })
}

/// A convex polygon without the area of an outline, as convex pieces.
fn without(polygon: &Polygon, outline: &[[f64; 2]; 4]) -> Vec<Polygon> {
    let (mut inside, mut pieces) = (polygon.clone(), Vec::new());
    // of a road across first: so its sides cut nothing beyond its ends
    for k in [0, 2, 1, 3] {
        let [left, right] = halves(&inside, outline[k], outline[(k + 1) % 4]);
        if left.is_empty() {
            return vec![polygon.clone()];
        }
        inside = left;
        pieces.extend(Some(right).filter(|right| !right.is_empty()));
    }
    pieces
}

/// The parts of a convex polygon to the left and to the right of a line; what is nearer than a micrometre lies on it.
fn halves(polygon: &Polygon, a: [f64; 2], b: [f64; 2]) -> [Polygon; 2] {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length = (d[0] * d[0] + d[1] * d[1]).sqrt();
    let side = |p: &[f64; 3]| {
        let distance = (d[0] * (p[1] - a[1]) - d[1] * (p[0] - a[0])) / length;
        if distance.abs() < 1e-6 { 0.0 } else { distance }
    };
    let mut parts = [Vec::new(), Vec::new()];
    let mut strictly = [false; 2];
    for (i, p) in polygon.iter().enumerate() {
        let q = &polygon[(i + 1) % polygon.len()];
        let (from, to) = (side(p), side(q));
        for (part, sign) in [1.0, -1.0].into_iter().enumerate() {
            strictly[part] |= sign * from > 0.0;
            if sign * from >= 0.0 {
                parts[part].push(*p);
            }
            if from * to < 0.0 {
                parts[part].push([0, 1, 2].map(|k| p[k] + (q[k] - p[k]) * (from / (from - to))));
            }
        }
    }
    for (part, strictly) in parts.iter_mut().zip(strictly) {
        if !strictly {
            part.clear();
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the signed area in plan.
    fn area(polygon: &[[f64; 3]]) -> f64 {
        (0..polygon.len())
            .map(|i| {
                let (p, q) = (polygon[i], polygon[(i + 1) % polygon.len()]);
                p[0] * q[1] - p[1] * q[0]
            })
            .sum()
    }

    #[test]
    fn what_is_cut_out_is_gone_and_nothing_else() {
        let square = vec![[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [4.0, 4.0, 5.0], [0.0, 4.0, 5.0]];
        let cut = |[west, south]: [f64; 2], [east, north]: [f64; 2]| {
            let pieces = without(&square, &[[west, south], [east, south], [east, north], [west, north]]);
            for piece in &pieces {
                assert!(area(piece) > 0.0 && piece.iter().all(|p| (p[2] - p[1] - 1.0).abs() < 1e-12), "{piece:?}");
            }
            pieces.iter().map(|piece| area(piece) / 2.0).sum::<f64>()
        };
        assert_eq!(cut([1.0, 1.0], [2.0, 3.0]), 14.0);
        assert_eq!(cut([-1.0, 3.0], [9.0, 9.0]), 12.0);
        assert_eq!(cut([-1.0, -1.0], [9.0, 9.0]), 0.0);
        // beside it, and along its side
        assert_eq!((cut([5.0, 1.0], [6.0, 2.0]), cut([4.0, 0.0], [6.0, 4.0])), (16.0, 16.0));
        assert_eq!(without(&square, &[[5.0, 5.0], [6.0, 5.0], [6.0, 6.0], [5.0, 6.0]]), std::slice::from_ref(&square));
    }

    /// All of the land is covered, except for the missing slab.
    #[test]
    fn seen_from_above_the_parts_make_one_sheet() {
        let scene = scene();
        let mut sum = 0.0; // of what lies on the ground: all but the bridge's deck and the road in the tunnel
        for t in &scene.triangles {
            let corners = t.v.map(|v| scene.positions[v as usize]);
            let middle = [0, 1].map(|k| corners.iter().map(|c| c[k]).sum::<f64>() / 3.0);
            let deck = t.source == 1 && (DECK_ENDS[0]..DECK_ENDS[1]).contains(&middle[1]);
            let under = t.source == 2 && middle[1].abs() < TUNNEL_REACH;
            sum += if deck || under { 0.0 } else { area(&corners).abs() / 2.0 };
        }
        let extent = |[low, high]: [[f64; 2]; 2]| (high[0] - low[0]) * (high[1] - low[1]);
        let all = extent(LAND) - extent(SLAB) - extent(SETTS_FIELD);
        assert!((sum - all).abs() < 1e-3, "{sum} of {all}");
    }
}
