//! `write DIR` writes NAME.hpan and NAME.queries; `hash DIR NAME` prints the hashes as the boards do;
//! `check DIR BUDGETS [--bless]` judges the boards' output in DIR/BOARD.NAME.txt, or writes new budgets from it.

mod check;
mod scenes;

use hardpan::{Cost, Point, Terrain};
use hardpan_builder::{Image, Options, build};
use probe::{KINDS, Queries};
use std::{env, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["write", dir] => scenes::ALL.iter().for_each(|s| write(Path::new(dir), s)),
        ["hash", dir, name] => hashes(Path::new(dir), name),
        ["check", dir, budgets] => return check::run(Path::new(dir), Path::new(budgets), false),
        ["check", dir, budgets, "--bless"] => return check::run(Path::new(dir), Path::new(budgets), true),
        _ => {
            eprintln!("host write DIR | hash DIR NAME | check DIR BUDGETS [--bless]");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn write(dir: &Path, scene: &scenes::Scene) {
    let options = Options::default();
    let built = build(&(scene.make)(), &options).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
    let terrain = Terrain::open(&built.image).unwrap();
    let queries = Sampler { terrain, random: 1 }.queries(scene, [options.xy_log2, options.z_log2], built.image.len());
    println!(
        "{}: {} triangles, {} bytes, bound {:?}",
        scene.name,
        built.report.triangles,
        built.image.len(),
        terrain.bound()
    );
    fs::write(dir.join(scene.name).with_extension("hpan"), &*built.image).unwrap();
    fs::write(dir.join(scene.name).with_extension("queries"), queries).unwrap();
}

fn hashes(dir: &Path, name: &str) {
    let image = Image::read(dir.join(name).with_extension("hpan")).unwrap();
    let queries = fs::read(dir.join(name).with_extension("queries")).unwrap();
    let queries = Queries::read(&queries).unwrap();
    let terrain = Terrain::open(&image).unwrap();
    assert!(probe::opens_only(&image));
    for (kind, name) in KINDS.iter().enumerate() {
        println!("hash {name} {:016x}", probe::hash(&terrain, &queries, kind));
    }
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

    /// Uniform positions, the costliest of many, and odd ones: off the edges, far up and down, on coarse grids where edges meet.
    fn queries(mut self, scene: &scenes::Scene, steps: [i32; 2], image_len: usize) -> Vec<u8> {
        let mut points: Vec<Point> = (0..scene.uniform).map(|_| self.anywhere(0.0)).collect();
        let mut tried: Vec<(Point, Cost)> = (0..200_000)
            .map(|i| {
                let p = self.anywhere(0.0);
                let p = if i % 2 == 0 { p } else { coarse(p) };
                (p, self.terrain.closest_costed(p).1)
            })
            .collect();
        let keys: [fn(&Cost) -> u32; 4] =
            [|c| c.tests, |c| c.lines, |c| c.nodes + c.leaves, |c| 30 * c.nodes + 40 * c.leaves + 50 * c.tests];
        for key in keys {
            tried.sort_by_key(|(_, c)| std::cmp::Reverse(key(c)));
            points.extend(tried.iter().take(scene.uniform / 12).map(|t| t.0));
        }
        let timed = points.len();
        for i in 0..scene.uniform / 3 {
            let mut p = match i % 3 {
                0 => self.anywhere(0.2),
                _ => coarse(self.anywhere(0.01)),
            };
            p.z += [0, 1 << 30, -(1 << 30), 1 << 45][i % 4];
            points.push(p);
        }
        let mut bytes = Queries::header(image_len, points.len(), scene.uniform, timed, steps).to_vec();
        for v in points.iter().flat_map(|p| [p.x, p.y, p.z]) {
            bytes.extend(v.to_le_bytes());
        }
        bytes
    }
}

/// The nearest eighth of a metre in plan, by the default lattice: many fixtures have their edges there.
fn coarse(p: Point) -> Point {
    Point { x: (p.x + (1 << 16)) & (-1 << 17), y: (p.y + (1 << 16)) & (-1 << 17), z: p.z }
}
