//! `hardpan demo`: a proving ground, built, verified, driven over and drawn.
//!
//! The course, x east and y north, in metres:
//!
//! ```text
//!             |=|  bridge ramp          an oval of two straights (y = -30 and 30) and two banked bends;
//!   ____------+=+------____             a road at x = -20 that crosses the north straight on a bridge;
//!  (   ______ |=| ________ )            in the infield a steep ramp and a field of setts;
//!  (  (       |=|  setts  ))            on the south straight a lane of wet tiles and a pavement
//!  (  (______ |=| ramp ___))            behind a kerb; hills of grass around it
//!   `----split mu---kerb--'
//! ```

use std::{fs, io::Write, path::Path, time::Instant};

use hardpan::{Answer, Cost, Cursor, Terrain};
use hardpan_builder::{HeightField, Material, Options, Scene, Triangle, build};

use super::{
    Done, Failure, NewFile,
    canvas::{Canvas, Colour, mix},
    grouped,
    relief::{View, relief},
    write_image,
};

#[derive(clap::Args)]
pub struct Args {}

const FOLDER: &str = "hardpan-demo";

pub fn run(_: &Args, out: &mut impl Write) -> Done {
    let folder = Path::new(FOLDER);
    fs::create_dir_all(folder).map_err(|e| {
        Failure::Machine(format!("{FOLDER}: this folder cannot be made here ({e}); run the demo where you may write"))
    })?;
    let (image_path, picture_path) = (folder.join("proving-ground.hpan"), folder.join("relief.png"));

    let start = Instant::now();
    let scene = proving_ground();
    let built = build(&scene, &Options::default()).map_err(|e| Failure::build(&image_path, e))?;
    let seconds = start.elapsed().as_secs_f64();
    write_image(&image_path, &built.image)?;
    let terrain = Terrain::open(&built.image).map_err(|e| Failure::open(&image_path, e))?;
    let h = terrain.header();
    writeln!(
        out,
        "Built a proving ground of {} triangles and {} height posts in {seconds:.2} s: {} bytes, verified.\n",
        grouped(h.triangles),
        grouped(scene.fields.iter().map(|f| f.heights.len() as u64).sum()),
        grouped(h.total_len)
    )?;
    out.flush()?;

    let view = View::all(&terrain, 6.0);
    let mut picture = relief(&terrain, &view, 2, |a| colour(terrain.material_name(a.hit.material)));
    drive(&terrain, &view, &mut picture, out)?;
    NewFile::write(&picture_path, &picture.png()?)?.keep()?;

    writeln!(out, "\nThe picture is {}; yellow lines are the wheels. Try next:", picture_path.display())?;
    let image = image_path.display();
    writeln!(out, "  hardpan info {image}")?;
    writeln!(out, "  hardpan export png {image} --map materials,layers,cost")?;
    writeln!(out, "  hardpan query {image} -20,31 --layers        # the bridge and the road under it")?;
    writeln!(out, "  hardpan query {image} -20,31,1.5 --explain   # why a wheel down there stays down there")?;
    writeln!(out, "  hardpan build YOUR.obj")?;
    Ok(())
}

/// Distance between wheel positions: a car at 50 m/s, asked 1,000 times a second.
const STEP: f64 = 0.05;
/// Half the wheelbase and half the track.
const CAR: [f64; 2] = [1.35, 0.8];

/// Drives every part of the course on four wheels, with a cursor each, and prints what they met.
fn drive(terrain: &Terrain, view: &View, picture: &mut Canvas, out: &mut impl Write) -> Done {
    writeln!(out, "                           z of the wheels half way, in metres        mu        costliest query")?;
    writeln!(out, "drive            length   front l  front r   rear l   rear r    left right   tests lines  surface")?;
    let (mut asked, mut missed, mut worst) = (0, 0, Cost::default());
    for (name, path) in course() {
        let mut wheels = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(f, l)| Wheel {
            arm: [f * CAR[0], l * CAR[1]],
            z: 0.0,
            cursor: Cursor::new(),
        });
        let (mut half_way, mut cost) = (None, Cost::default());
        for (i, pair) in path.windows(2).enumerate() {
            let mut answers = Vec::new();
            for wheel in &mut wheels {
                let [x, y] = wheel.place(pair[0], pair[1]);
                let (answer, c) =
                    wheel.ask(terrain, x, y).map_err(|e| Failure::Check(format!("{name}: {e}; please report this")))?;
                cost = most(cost, c);
                asked += 1;
                missed += u64::from(!answer.found());
                answers.push(answer);
                if i % 3 == 0 {
                    let [column, row] = view.place(x, y).map(|v| v.floor() as i64);
                    picture.pixel(column, row).into_iter().for_each(|p| *p = mix(*p, [255, 220, 60], 0.5));
                }
            }
            if i == path.len() / 2 {
                half_way = Some(answers);
            }
        }
        worst = most(worst, cost);
        let Some(answers) = half_way else { continue };
        let z: Vec<f64> = answers.iter().map(|a| terrain.z_f64(&a.hit)).collect();
        let mu: Vec<f64> = answers.iter().map(|a| terrain.surface(a)[0]).collect();
        let mut surfaces: Vec<&str> = answers.iter().map(|a| terrain.material_name(a.hit.material)).collect();
        surfaces.sort_unstable();
        surfaces.dedup();
        writeln!(
            out,
            "{name:<16} {:>4.0} m {:>9.3} {:>8.3} {:>8.3} {:>8.3}    {:>4.2}  {:>4.2}   {:>5} {:>5}  {}",
            path.len() as f64 * STEP,
            z[0],
            z[1],
            z[2],
            z[3],
            mu[0],
            mu[1],
            cost.tests,
            cost.lines,
            surfaces.join(", ")
        )?;
    }
    let bound = terrain.bound();
    writeln!(
        out,
        "\n{} wheel queries, {missed} without ground. The costliest took {} tests and {} lines of 64 bytes;",
        grouped(asked),
        worst.tests,
        worst.lines
    )?;
    writeln!(
        out,
        "the image states that no query, anywhere on it, takes more than {} tests and {} lines.",
        bound.tests, bound.lines
    )?;
    if missed > 0 {
        return Err(Failure::Check(format!("{FOLDER}: {missed} wheel positions without ground; please report this")));
    }
    if worst.tests > bound.tests || worst.lines > bound.lines {
        return Err(Failure::Check(format!("{FOLDER}: a query cost more than the image states; please report this")));
    }
    Ok(())
}

fn most(a: Cost, b: Cost) -> Cost {
    Cost {
        nodes: a.nodes.max(b.nodes),
        leaves: a.leaves.max(b.leaves),
        tests: a.tests.max(b.tests),
        lines: a.lines.max(b.lines),
    }
}

struct Wheel {
    /// Forward and left of the car's middle.
    arm: [f64; 2],
    z: f64,
    cursor: Cursor,
}

impl Wheel {
    /// Where the wheel is while the car goes from `a` to `b`.
    fn place(&self, a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
        let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let (c, s, [forward, left]) = (dx / length, dy / length, self.arm);
        [a[0] + c * forward - s * left, a[1] + s * forward + c * left]
    }

    /// The ground closest to the hub, asked twice: with the cursor, and without.
    fn ask(&mut self, terrain: &Terrain, x: f64, y: f64) -> Result<(Answer, Cost), String> {
        let hub = [x, y, self.z + 0.3];
        let answer = terrain.closest_cursor(hub, &mut self.cursor);
        let (single, cost) = terrain.closest_costed(hub);
        if answer != single {
            return Err(format!("the answer at {hub:?} depends on the cursor"));
        }
        self.z = terrain.z_f64(&answer.hit);
        Ok((answer, cost))
    }
}

/// Every drive as positions, [`STEP`] apart.
fn course() -> Vec<(&'static str, Vec<[f64; 2]>)> {
    let parts = || (0..=64).map(|i| f64::from(i) / 64.0);
    let bend = |side: f64| parts().map(move |t| Oval::point(side, t, 0.0));
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
        ("banked bend east", sample(bend(1.0))),
        ("under the bridge", sample([[10.0, 30.0], [-50.0, 30.0]])),
        ("banked bend west", sample(bend(-1.0))),
        ("over the bridge", sample([[CROSS, -24.0], [CROSS, 82.0]])),
        ("steep ramp", sample([[-6.0, -10.0], [26.0, -10.0]])),
        ("setts", sample([[22.0, 6.3], [50.0, 6.3]])),
        ("grass", sample(grass)),
    ]
}

/// A polyline as points [`STEP`] apart.
fn sample(corners: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    let corners: Vec<_> = corners.into_iter().collect();
    let mut path = Vec::new();
    let mut rest = 0.0; // from the start of a leg to its first point
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

const ASPHALT: u16 = 0;
const PAINT: u16 = 1;
const WET_TILES: u16 = 2;
const CONCRETE: u16 = 3;
const SETTS: u16 = 4;
const GRASS: u16 = 5;

fn materials() -> Vec<Material> {
    [
        ("Asphalt", 0.95, 1.0),
        ("Paint", 0.7, 1.0),
        ("Wet tiles", 0.2, 1.0),
        ("Concrete", 0.85, 1.1),
        ("Setts", 0.65, 1.6),
        ("Grass", 0.4, 5.0),
    ]
    .map(|(name, mu, rr)| Material { rr, ..Material::new(name, mu) })
    .into()
}

fn colour(material: &str) -> Colour {
    match material {
        "Asphalt" => [92, 94, 100],
        "Paint" => [236, 234, 224],
        "Wet tiles" => [70, 130, 180],
        "Concrete" => [184, 178, 166],
        "Setts" => [168, 120, 84],
        _ => [132, 158, 92],
    }
}

/// Where the crossing road lies, how wide half of it is, and how high its bridge.
const CROSS: f64 = -20.0;
const CROSS_HALF: f64 = 3.5;
const DECK: f64 = 5.25;
/// Half the width of the oval's road, and how much its outer edge rises in the bends.
const ROAD_HALF: f64 = 4.5;
const BANK: f64 = 1.5;
/// Roads lie a little above the grass.
const VERGE: f64 = -0.06;
/// West and south, east and north end of the grass; its grid; the field of setts.
const LAND: [[f64; 2]; 2] = [[-116.0, -70.0], [116.0, 90.0]];
const GRID: f64 = 2.0;
const SETTS_FIELD: [[f64; 2]; 2] = [[24.0, 2.0], [48.0, 10.0]];
const SETTS_PITCH: f64 = 0.1;

/// The whole course. Only `+ - * / sqrt` make it, so every machine generates the same bits.
pub fn proving_ground() -> Scene {
    let sources = ["oval", "bridge", "pavement", "ramp", "setts", "land"].map(String::from).into();
    let mut d = Draft { scene: Scene { materials: materials(), sources, ..Scene::default() }, source: 0 };
    oval(&mut d);
    crossing(&mut d);
    pavement(&mut d);
    ramp(&mut d);
    setts(&mut d);
    land(&mut d);
    d.scene
}

struct Draft {
    scene: Scene,
    source: u16,
}

impl Draft {
    fn quad(&mut self, corners: [[f64; 3]; 4], material: u16) {
        let first = self.scene.positions.len() as u32;
        self.scene.positions.extend(corners);
        for v in [[0, 1, 2], [0, 2, 3]] {
            self.scene.triangles.push(Triangle { v: v.map(|i| first + i), material, source: self.source });
        }
    }

    /// Strips along a road: between neighbouring stations, between neighbouring offsets.
    fn strips(&mut self, stations: &[Vec<[f64; 3]>], material: impl Fn(usize, usize) -> u16) {
        for (i, pair) in stations.windows(2).enumerate() {
            for k in 0..pair[0].len() - 1 {
                self.quad([pair[0][k], pair[1][k], pair[1][k + 1], pair[0][k + 1]], material(i, k));
            }
        }
    }
}

/// Smooth from 0 at 0 to 1 at 1.
fn ease(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The oval's bends; `side` is 1 in the east, -1 in the west.
struct Oval;

impl Oval {
    /// Part `t` of the way round a bend, `out` metres outwards of the middle of the road.
    ///
    /// Each half of the bend is a quarter circle in rational form.
    fn point(side: f64, t: f64, out: f64) -> [f64; 2] {
        let first = t <= 0.5;
        let u = if first { 2.0 * t } else { 2.0 * (1.0 - t) };
        let (s, c) = (2.0 * u / (1.0 + u * u), (1.0 - u * u) / (1.0 + u * u));
        let r = 30.0 + out;
        [side * (50.0 + r * s), side * if first { -r * c } else { r * c }]
    }

    fn rise(t: f64, out: f64) -> f64 {
        BANK * ease(4.0 * t) * ease(4.0 * (1.0 - t)) * (out + ROAD_HALF) / (2.0 * ROAD_HALF)
    }
}

fn oval(d: &mut Draft) {
    d.source = 0;
    // Across: foot of the embankment, outer lane, white line, inner lane.
    const OFFSETS: [f64; 5] = [ROAD_HALF + 3.0, ROAD_HALF, 0.1, -0.1, -ROAD_HALF];
    let across = |i: usize, k: usize, wet: bool| match k {
        0 => GRASS,
        2 if i.is_multiple_of(2) => PAINT,
        1 if wet => WET_TILES,
        _ => ASPHALT,
    };
    for side in [1.0, -1.0] {
        let straight: Vec<Vec<[f64; 3]>> = (0..=50)
            .map(|i| {
                let x = side * (-50.0 + 2.0 * f64::from(i));
                OFFSETS.map(|o| [x, side * (-30.0 - o), if o > ROAD_HALF { 4.0 * VERGE } else { 0.0 }]).to_vec()
            })
            .collect();
        d.strips(&straight, |i, k| across(i, k, side > 0.0 && (19..35).contains(&i)));
        let bend: Vec<Vec<[f64; 3]>> = (0..=48)
            .map(|i| {
                let t = f64::from(i) / 48.0;
                let point = |o: f64| {
                    let [x, y] = Oval::point(side, t, o);
                    [x, y, if o > ROAD_HALF { 4.0 * VERGE } else { Oval::rise(t, o) }]
                };
                OFFSETS.map(point).to_vec()
            })
            .collect();
        d.strips(&bend, |i, k| across(i, k, false));
    }
}

/// Height of the crossing road.
fn crossing_height(y: f64) -> f64 {
    DECK * ease((y + 20.0) / 40.0) * ease((80.0 - y) / 40.0)
}

fn crossing(d: &mut Draft) {
    d.source = 1;
    let stations: Vec<f64> = (0..=54).map(|i| -25.5 + 2.0 * f64::from(i)).collect();
    let strip = |stations: &[f64], across: &[(f64, f64)]| -> Vec<Vec<[f64; 3]>> {
        stations
            .iter()
            .map(|&y| across.iter().map(|&(o, up)| [CROSS + o, y, crossing_height(y) + up]).collect())
            .collect()
    };
    let lanes = [(-CROSS_HALF, 0.0), (-0.1, 0.0), (0.1, 0.0), (CROSS_HALF, 0.0)];
    d.strips(&strip(&stations, &lanes), |i, k| if k == 1 && i.is_multiple_of(2) { PAINT } else { ASPHALT });
    // Raised concrete on both sides of the deck, and slopes of grass beside the ramps.
    let deck = [20.5, 24.5, 28.5, 32.5, 36.5, 40.5];
    for side in [-1.0, 1.0] {
        let kerb = [(side * (CROSS_HALF - 0.4), 0.2), (side * (CROSS_HALF + 0.4), 0.2)];
        d.strips(&strip(&deck, &kerb), |_, _| CONCRETE);
        for part in [&stations[..24], &stations[33..]] {
            let slope: Vec<Vec<[f64; 3]>> = part
                .iter()
                .map(|&y| {
                    let z = crossing_height(y);
                    let foot = CROSS_HALF + 1.6 * (z - 4.0 * VERGE);
                    vec![[CROSS + side * CROSS_HALF, y, z], [CROSS + side * foot, y, 4.0 * VERGE]]
                })
                .collect();
            d.strips(&slope, |_, _| GRASS);
        }
    }
}

fn pavement(d: &mut Draft) {
    d.source = 2;
    let kerb = |x: f64| vec![[x, -25.5, 0.0], [x, -25.5, 0.12], [x, -22.5, 0.15], [x, -22.5, VERGE]];
    let stations: Vec<_> = (0..=10).map(|i| kerb(26.0 + 2.0 * f64::from(i))).collect();
    d.strips(&stations, |_, _| CONCRETE);
}

fn ramp(d: &mut Draft) {
    d.source = 3;
    let stations: Vec<_> = [(0.0, VERGE), (8.0, 2.4), (12.0, 2.4), (20.0, VERGE)]
        .iter()
        .map(|&(x, z)| vec![[x, -13.0, VERGE], [x, -13.0, z], [x, -7.0, z], [x, -7.0, VERGE]])
        .collect();
    d.strips(&stations, |_, _| CONCRETE);
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
        source: 4,
        tolerance: 0.001,
    });
}

/// Grass: hills outside the oval, level within it, open where the setts lie.
fn land(d: &mut Draft) {
    d.source = 5;
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
    let height = |x: f64, y: f64| {
        // Distance from the oval's middle line, outwards.
        let (dx, dy) = ((x.abs() - 50.0).max(0.0), y.abs());
        let out = (dx * dx + dy * dy).sqrt() - 30.0;
        let from_crossing = if y > 0.0 { (x - CROSS).abs() - 12.0 } else { f64::INFINITY };
        let free = ease((out - 8.0) / 26.0) * ease(from_crossing / 24.0);
        let hill = |&([cx, cy], r, h): &([f64; 2], f64, f64)| {
            let near = (1.0 - ((x - cx) * (x - cx) + (y - cy) * (y - cy)) / (r * r)).max(0.0);
            h * near * near * (3.0 - 2.0 * near)
        };
        VERGE + free * HILLS.iter().map(hill).sum::<f64>()
    };
    let [columns, rows] = [0, 1].map(|i| ((LAND[1][i] - LAND[0][i]) / GRID) as usize);
    let at = |i: usize, j: usize| {
        let (x, y) = (LAND[0][0] + GRID * i as f64, LAND[0][1] + GRID * j as f64);
        [x, y, height(x, y)]
    };
    let [low, high] = SETTS_FIELD;
    for (i, j) in (0..rows).flat_map(|j| (0..columns).map(move |i| (i, j))) {
        let [x, y, _] = at(i, j);
        let open = x >= low[0] && x < high[0] && y >= low[1] && y < high[1];
        if !open {
            d.quad([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], GRASS);
        }
    }
}
