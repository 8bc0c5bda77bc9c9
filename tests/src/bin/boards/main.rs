//! `write DIR` writes NAME.hpan and NAME.queries for emulated boards;
//! `trace ELF LOG` prints whose instructions the emulator logged;
//! `check DIR BUDGETS [--bless]` judges the boards' output in DIR/BOARD.NAME.txt, or writes new budgets from it.

mod check;
mod scenes;
mod trace;

use hardpan::{Cost, Point, Terrain};
use hardpan_builder::{Options, Scene, build};
use probe::Queries;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs, path::Path, process::ExitCode};
use verification::edges::{self, Edges};
use verification::oracle::Oracle;

/// How many queries are traced, about.
const TRACED: usize = 200;

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["write", dir] => scenes::ALL.par_iter().for_each(|s| write(Path::new(dir), s)),
        ["trace", elf, log] => trace::run(Path::new(elf), Path::new(log)).unwrap(),
        ["check", dir, budgets] => return check::run(Path::new(dir), Path::new(budgets), false),
        ["check", dir, budgets, "--bless"] => return check::run(Path::new(dir), Path::new(budgets), true),
        _ => {
            eprintln!("boards write DIR | trace ELF LOG | check DIR BUDGETS [--bless]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn write(dir: &Path, scene: &scenes::Scene) {
    let options = Options::default();
    let Some(source) = (scene.make)() else {
        return println!("{}: skipped, because its file is not in HARDPAN_DATA", scene.name);
    };
    let built = build(&source, &options).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    let terrain = Terrain::open(&built.image).unwrap();
    println!(
        "{}: {} triangles, {} bytes, bound {:?}",
        scene.name,
        built.report.triangles,
        built.image.len(),
        terrain.bound()
    );
    let mut sampler = Sampler { terrain, random: 1 };
    let (points, timed) = sampler.points(scene, &source);
    let blob = |points: &[Point], traced| {
        let steps = [options.xy_log2, options.z_log2];
        let mut bytes = Queries::header(built.image.len(), points.len(), scene.uniform, timed, steps, traced).to_vec();
        for v in points.iter().flat_map(|p| [p.x, p.y, p.z]) {
            bytes.extend(v.to_le_bytes());
        }
        bytes
    };
    let file = |extension| dir.join(scene.name).with_extension(extension);
    fs::write(file("hpan"), &*built.image).unwrap();
    fs::write(file("queries"), blob(&points, false)).unwrap();
    let few: Vec<Point> = points[..timed].iter().step_by(timed.div_ceil(TRACED)).copied().collect();
    fs::write(file("traced"), blob(&few, true)).unwrap();
}

/// Makes positions, the same on every run.
struct Sampler<'a> {
    terrain: Terrain<'a>,
    random: u64,
}

impl Sampler<'_> {
    /// splitmix64, as a fraction of 1.
    fn unit(&mut self) -> f64 {
        scenes::unit(&mut self.random)
    }

    /// Somewhere over the image, `margin` of its size beyond the edges, from 2 m below the ground to 4 m above.
    fn anywhere(&mut self, margin: f64) -> Point {
        let [low, high] = self.terrain.bounds();
        let [x, y] = [0, 1].map(|i| low[i] + (high[i] - low[i]) * (self.unit() * (1.0 + 2.0 * margin) - margin));
        let up = 6.0 * self.unit() - 2.0;
        let ground = self.terrain.closest([x, y, (low[2] + high[2]) / 2.0]);
        self.terrain.point([x, y, self.terrain.z_f64(&ground.hit) + up]).unwrap()
    }

    /// Uniform positions, the costliest of all that are tried, and odd ones: off the edges, far up and down, on coarse
    /// grids where edges meet; and random ones more. The first two kinds are to be timed by every call; that many come
    /// first.
    ///
    /// Tried are every corner and 255 points of every edge of the source's triangles, where no early exit helps, every
    /// other one off its edge's height, and 200,000 positions anywhere. Corners are timed all, if the scene says so:
    /// ties of many triangles take instructions that no cost counts.
    fn points(&mut self, scene: &scenes::Scene, source: &Scene) -> (Vec<Point>, usize) {
        let mut points: Vec<Point> = (0..scene.uniform).map(|_| self.anywhere(0.0)).collect();
        let mut costly = Costly { kept: BTreeMap::new(), random: 2, tried: 0 };
        let edges = Edges::of(&Oracle::new(source)).all;
        for (i, mut p) in edges.iter().flat_map(|&e| edges::points(e, 1)).enumerate() {
            if i % 2 == 1 {
                p.z += ((6.0 * self.unit() - 2.0) * f64::from(1 << 24)) as i64; // by the default lattice
            }
            costly.take(p, self.terrain.closest_costed(p).1);
        }
        for i in 0..200_000 {
            let p = self.anywhere(0.0);
            let p = if i % 2 == 0 { p } else { coarse(p) };
            costly.take(p, self.terrain.closest_costed(p).1);
        }
        points.extend(costly.worst(scene.worst));
        if scene.corners {
            let ends: BTreeSet<_> = edges.iter().flatten().collect();
            points.extend(ends.iter().flat_map(|&&e| edges::points([e, e], 256).take(1)));
        }
        println!("    {}: {}; {} are timed", scene.name, costly.summary(edges.len()), points.len());
        let timed = points.len();
        for i in 0..scene.uniform / 3 {
            let mut p = match i % 3 {
                0 => self.anywhere(0.2),
                _ => coarse(self.anywhere(0.01)),
            };
            p.z += [0, 1 << 30, -(1 << 30), 1 << 45][i % 4];
            points.push(p);
        }
        points.extend((0..scene.more).map(|_| self.anywhere(0.0)));
        (points, timed)
    }
}

/// Places of every cost that occurs: `EACH` at random of those that cost the same.
struct Costly {
    kept: BTreeMap<[u32; 4], (u64, Vec<Point>)>,
    random: u64,
    tried: u64,
}

impl Costly {
    const EACH: usize = 120;

    fn take(&mut self, p: Point, Cost { nodes, leaves, tests, lines }: Cost) {
        self.tried += 1;
        let (seen, places) = self.kept.entry([nodes, leaves, tests, lines]).or_default();
        *seen += 1;
        let slot = (scenes::unit(&mut self.random) * *seen as f64) as usize;
        if places.len() < Self::EACH {
            places.push(p);
        } else if let Some(place) = places.get_mut(slot) {
            *place = p;
        }
    }

    /// At most so many: of the costliest costs by a rough model of instructions, and of the most of each count.
    fn worst(&self, room: usize) -> Vec<Point> {
        let keys: [fn(&[u32; 4]) -> u32; 4] =
            [|c| 30 * c[0] + 40 * c[1] + 50 * c[2], |c| c[2], |c| c[3], |c| c[0] + c[1]];
        let mut chosen = BTreeMap::new();
        let order = keys.map(|key| {
            let mut costs: Vec<_> = self.kept.keys().collect();
            costs.sort_by_key(|c| std::cmp::Reverse(key(c)));
            costs
        });
        let mut left = room;
        for cost in (0..self.kept.len()).flat_map(|i| order.iter().map(move |o| o[i])) {
            let places = &self.kept[cost].1;
            if !chosen.contains_key(cost) {
                let n = left.min(places.len()).min((room / 8).max(1));
                chosen.insert(cost, &places[..n]);
                left -= n;
            }
        }
        chosen.into_values().flatten().copied().collect()
    }

    fn summary(&self, edges: usize) -> String {
        let most = |i: usize| self.kept.keys().map(|c| c[i]).max().unwrap_or(0);
        format!(
            "tried {} places, {} of them on {edges} edges; {} costs, most nodes {}, leaves {}, tests {}, lines {}",
            self.tried,
            257 * edges,
            self.kept.len(),
            most(0),
            most(1),
            most(2),
            most(3)
        )
    }
}

/// The nearest eighth of a metre in plan, by the default lattice: many fixtures have their edges there.
fn coarse(p: Point) -> Point {
    Point { x: (p.x + (1 << 16)) & (-1 << 17), y: (p.y + (1 << 16)) & (-1 << 17), z: p.z }
}
