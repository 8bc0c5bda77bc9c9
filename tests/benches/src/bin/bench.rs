//! Measures every bar: `bench [SCENE...] [--quick] [--record]`. `--quick` leaves out what is slow and not timed, unless
//! it is named.

use benchmarks::c::Interface;
use benchmarks::check::Agreement;
use benchmarks::embree::Embree;
use benchmarks::grid::{Grid, Reference};
use benchmarks::heightmap::Heightmap;
use benchmarks::image::{self, Hardpan};
use benchmarks::parry::Parry;
use benchmarks::report::*;
use benchmarks::scenes::{COUNTRY_TRIANGLES, Kind, SCENES, Scene};
use benchmarks::timing::{self, Contestant};
use benchmarks::workloads::{self, PATCH_POINTS, WHEELS};
use benchmarks::{Peer, Query, Rng, builder, check, digest, m4, union};
use hardpan::{Answer, Cost, Cursor, Surface, Terrain};
use hardpan_builder::HeightField;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

const BATCH_SIZE: usize = 64;
/// Scenes where wheels, layers, floors and swept caches are looked at too.
const FULL: [&str; 3] = ["hills1m", "city", "strip"];

/// Further subjects: the patch, the C interface, the builder, the edges of meshes, the emulated Cortex-M4F.
const OTHERS: [&str; 5] = ["patch", "c", "builder", "edges", "m4f"];

const HARDPAN: &str = "hardpan, single";
const HARDPAN_BATCH: &str = "hardpan, batch of 64";
const HARDPAN_CURSOR: &str = "hardpan, cursor";
const EMBREE: &str = "embree 3, robust";
const PARRY: &str = "parry3d";
const GRID: &str = "grid64";
const SLOW_GRID: &str = "grid64, 200 queries";
const SLOW_QUERIES: usize = 200;
const HEIGHTMAP: &str = "height map, f32";

/// How thorough a run is.
struct Effort {
    queries: usize,
    checked: usize,
    rounds: usize,
    singles: usize,
    swept: usize,
    builds: usize,
}

const THOROUGH: Effort =
    Effort { queries: 200_000, checked: 200_000, rounds: 9, singles: 20_000, swept: 2_000, builds: 5 };
const QUICK: Effort = Effort { queries: 64_000, checked: 20_000, rounds: 5, singles: 5_000, swept: 400, builds: 1 };

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let names: Vec<&str> = arguments.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let known = |n: &str| OTHERS.contains(&n) || SCENES.iter().any(|s| s.name == n);
    if arguments.iter().any(|a| !known(a) && !["--quick", "--record"].contains(&a.as_str())) {
        let scenes = SCENES.map(|s| s.name).join(" ");
        let others = OTHERS.join(" ");
        eprintln!("usage: bench [--quick] [--record] [SCENE...]\nscenes: {scenes} {others} (all by default)");
        return ExitCode::from(2);
    }
    let wanted = |name: &str| names.is_empty() || names.contains(&name);
    let effort = if flag("--quick") { QUICK } else { THOROUGH };
    let untimed = |name: &str| names.contains(&name) || (names.is_empty() && !flag("--quick"));
    let circumstances = circumstances(&effort);
    println!("{circumstances}\n");

    let mut report = Report::default();
    if !cfg!(feature = "embree") {
        for what in [SINGLE, BATCH, WHEEL, FLOOR, LAYERS, RAYS_1, RAYS_5, RAYS_100, SWEPT] {
            report.without(what, "no Embree 3 here");
        }
    }
    // first, while the heap is as a program's that only builds
    if wanted("builder") {
        bench_builder(&effort, &mut report);
    }
    for scene in SCENES.iter().filter(|s| wanted(s.name)) {
        bench_scene(scene, &effort, &mut report);
    }
    if wanted("patch") {
        bench_patch(&effort, &mut report);
    }
    if wanted("c") {
        bench_c(&effort, &mut report);
    }
    growth(&mut report);
    if untimed("edges") {
        edges(&mut report);
    } else if flag("--quick") {
        report.without(MISSES, "left out by --quick");
    }
    if untimed("m4f") {
        m4f(&mut report);
    } else if flag("--quick") {
        M4_BARS.iter().for_each(|b| report.without(b.3, "left out by --quick"));
    }
    println!("{report}");
    if flag("--record") {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        report.record(&folder, &circumstances).expect("results can be written");
        println!("recorded in tests/benches/results");
    }
    if report.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The conditions of a measurement, which its reader needs.
fn circumstances(effort: &Effort) -> String {
    let file = |path| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = file("/proc/cpuinfo");
    let model = cpu.lines().find(|l| l.starts_with("model name"));
    let model = model.and_then(|l| l.split(": ").nth(1)).unwrap_or("?");
    let load = file("/proc/loadavg");
    let target = match cfg!(target_feature = "avx2") {
        true => "this processor",
        false => "any processor of its kind",
    };
    format!(
        "{model} ({}), load {} at the start; compiled for {target}; {} queries, {} rounds; one thread",
        std::env::consts::ARCH,
        load.split(' ').next().unwrap_or("?"),
        effort.queries,
        effort.rounds,
    )
}

/// Hardpan's ways to one answer.
fn hardpan<'q>(hardpan: &'q Hardpan, queries: &'q [Query]) -> Vec<Contestant<'q>> {
    let terrain = hardpan.terrain;
    let points: Vec<[f64; 3]> = queries.iter().map(|q| q.at).collect();
    let mut answers = vec![terrain.closest(points[0]); BATCH_SIZE];
    let mut cursors = [const { Cursor::new() }; WHEELS];
    vec![
        peer(HARDPAN, hardpan, queries),
        Contestant::in_calls_of(BATCH_SIZE, HARDPAN_BATCH, move |i| {
            terrain.closest_batch(&points[i * BATCH_SIZE..][..BATCH_SIZE], &mut answers);
            answers.iter().map(|a| digest(hardpan.surface(a))).sum()
        }),
        Contestant::new(HARDPAN_CURSOR, move |i| {
            let cursor = &mut cursors[i / PATCH_POINTS % WHEELS];
            digest(hardpan.surface(&terrain.closest_cursor(queries[i].at, cursor)))
        }),
    ]
}

fn peer<'q>(name: &str, peer: &'q impl Peer, queries: &'q [Query]) -> Contestant<'q> {
    Contestant::new(name, move |i| digest(peer.closest(&queries[i])))
}

fn layers<'q>(name: &str, peer: &'q impl Peer, queries: &'q [Query]) -> Contestant<'q> {
    Contestant::new(name, move |i| {
        let (n, sum) = peer.layers(&queries[i]);
        n as f64 + sum
    })
}

fn look_up<'q>(map: &'q Heightmap, queries: &'q [Query]) -> Contestant<'q> {
    Contestant::new(HEIGHTMAP, move |i| digest(Some(map.at(&queries[i]))))
}

/// A floor for every structure: a 64-byte line at random out of as many bytes as the image has.
fn lines(memory: &[[u64; 8]]) -> [Contestant<'_>; 2] {
    let pick = |i: usize| ((u128::from(Rng(i as u64).word()) * memory.len() as u128) >> 64) as usize;
    let mut last = 0;
    [
        Contestant::new("memory, overlapped", move |i| memory[pick(i)][0] as f64),
        Contestant::new("memory, waited for", move |i| {
            last = memory[pick(i ^ (last & 1))][0] as usize;
            last as f64
        }),
    ]
}

/// Whoever answers on a scene.
struct Peers<'a> {
    hardpan: Hardpan<'a>,
    embree: Option<Embree<'a>>,
    parry: Parry,
    grid: &'a Grid,
    /// The scene is so uneven that the grid would take minutes.
    slow: bool,
    map: Option<Heightmap>,
}

impl Peers<'_> {
    /// The contestants in `closest`.
    fn closest<'q>(&'q self, queries: &'q [Query]) -> Vec<Contestant<'q>> {
        let mut all = hardpan(&self.hardpan, queries);
        all.extend(self.embree.as_ref().map(|embree| peer(EMBREE, embree, queries)));
        all.push(peer(PARRY, &self.parry, queries));
        all.push(match self.slow {
            true => peer(SLOW_GRID, self.grid, queries).at_most(SLOW_QUERIES),
            false => peer(GRID, self.grid, queries),
        });
        all.extend(self.map.as_ref().map(|map| look_up(map, queries)));
        all
    }

    /// The contestants in `layers`; Embree needs a scene of its own for it.
    fn layers<'q>(&'q self, embree: &'q Option<Embree>, queries: &'q [Query]) -> Vec<Contestant<'q>> {
        let mut all = vec![layers(HARDPAN, &self.hardpan, queries)];
        all.extend(embree.as_ref().map(|embree| layers(EMBREE, embree, queries)));
        all.push(layers(PARRY, &self.parry, queries));
        if !self.slow {
            all.push(layers(GRID, self.grid, queries));
        }
        all
    }
}

fn find<'t>(timings: &'t [Timing], who: &str) -> Option<&'t Timing> {
    timings.iter().find(|t| t.times.name == who)
}

/// A scene in the works.
struct Bench<'a> {
    scene: &'static str,
    effort: &'a Effort,
    report: &'a mut Report,
}

impl Bench<'_> {
    fn add(&mut self, what: &'static str, value: f64, from: String) {
        self.report.add(what, self.scene, value, from);
    }

    fn fault(&mut self, fault: String) {
        println!("  FAULT: {fault}");
        self.report.faults.push(format!("{}: {fault}", self.scene));
    }

    /// Times batches, and if asked single queries: their floors, and how they fare after a sweep.
    fn race(&mut self, workload: &'static str, mut contestants: Vec<Contestant>, singly: bool) -> Vec<Timing> {
        let Effort { queries, rounds, singles, swept, .. } = *self.effort;
        let times = timing::race(&mut contestants, queries, rounds);
        let mut singly = |c: &mut Contestant| {
            let apart = singly && c.is_single();
            let mut figure = |quantile, ns: &dyn Fn(&mut Contestant) -> Vec<f64>| {
                apart.then(|| timing::quantile(&mut ns(c), quantile))
            };
            (figure(0.999, &|c| c.best(singles, queries)), figure(0.5, &|c| c.swept(swept, queries)))
        };
        let singles: Vec<_> = contestants.iter_mut().map(&mut singly).collect();
        println!("  {workload:24} {:>7} {:>17} {:>7} {:>7}", "ns", "range", "p99.9", "swept");
        let timing = |(times, (floor, swept))| Timing { scene: self.scene, workload, times, floor, swept };
        let timings: Vec<_> = times.into_iter().zip(singles).map(timing).collect();
        timings.iter().for_each(|t| println!("    {t}"));
        self.report.timings.extend(timings.iter().cloned());
        timings
    }

    /// How many times as long `b` takes as `a`, if both ran.
    fn compare(&mut self, what: &'static str, timings: &[Timing], a: &str, b: &str) {
        if let (Some(a), Some(b)) = (find(timings, a), find(timings, b)) {
            let from = format!("{:.0} : {:.0} ns", a.times.median(), b.times.median());
            self.add(what, b.times.times_as_long_as(&a.times), from);
        }
    }

    /// The same of a figure of single queries.
    fn compare_singly(&mut self, what: &'static str, timings: &[Timing], figure: impl Fn(&Timing) -> Option<f64>) {
        let of = |who| find(timings, who).and_then(&figure);
        if let (Some(a), Some(b)) = (of(HARDPAN), of(EMBREE)) {
            self.add(what, b / a, format!("{a:.0} : {b:.0} ns"));
        }
    }

    /// Holds answers against the reference. Hardpan's have to be right; of the others it is good to know.
    fn check(&mut self, workload: &str, peers: &Peers, reference: &Reference, queries: &[Query]) {
        let queries = &queries[..self.effort.checked];
        let mut all: Vec<(&str, &dyn Peer)> = vec![(HARDPAN, &peers.hardpan), (PARRY, &peers.parry)];
        all.extend(peers.embree.as_ref().map(|e| (EMBREE, e as &dyn Peer)));
        for (name, peer) in all {
            let agreement = check::closest(reference, queries, |q| peer.closest(q).map(|s| s.z));
            println!("  {workload}: {name}: {agreement}");
            self.judge(workload, name, &agreement);
        }
        self.check_ways(workload, peers.hardpan.terrain, queries);
    }

    fn judge(&mut self, workload: &str, name: &str, agreement: &Agreement) {
        if let (HARDPAN, [first, ..]) = (name, &agreement.wrong[..]) {
            self.fault(format!("{workload}: {} wrong answers, the first {first}", agreement.wrong.len()));
        }
    }

    /// Batches and cursors have to give what single calls give.
    fn check_ways(&mut self, workload: &str, terrain: Terrain, queries: &[Query]) {
        let points: Vec<_> = queries.iter().map(|q| q.at).collect();
        let single: Vec<Answer> = points.iter().map(|&p| terrain.closest(p)).collect();
        let mut batch = single.clone();
        for (points, answers) in points.chunks(BATCH_SIZE).zip(batch.chunks_mut(BATCH_SIZE)) {
            terrain.closest_batch(points, answers);
        }
        let mut cursor = Cursor::new();
        let differ = |a: &Answer, b: &Answer| {
            let key = |a: &Answer| (a.status, a.hit.z, a.hit.normal, a.hit.material, a.hit.source, a.hit.reach);
            key(a) != key(b)
        };
        let by_batch = single.iter().zip(&batch).filter(|(a, b)| differ(a, b)).count();
        let by_cursor =
            single.iter().zip(&points).filter(|&(a, &p)| differ(a, &terrain.closest_cursor(p, &mut cursor))).count();
        for (way, n) in [("batches", by_batch), ("cursors", by_cursor)] {
            if n > 0 {
                self.fault(format!("{workload}: {way} answer {n} queries differently from single calls"));
            }
        }
    }

    /// Counts work, and holds it against the stated bound.
    fn count(&mut self, workload: &str, terrain: Terrain, queries: &[Query]) {
        let fields = |c: Cost| [c.nodes, c.leaves, c.tests, c.lines];
        let (mut sum, mut most, bound) = ([0u64; 4], [0; 4], fields(terrain.bound()));
        for q in queries {
            for (k, v) in fields(terrain.closest_costed(q.at).1).into_iter().enumerate() {
                sum[k] += u64::from(v);
                most[k] = most[k].max(v);
            }
        }
        let [nodes, leaves, tests, lines] = sum.map(|s| s as f64 / queries.len() as f64);
        println!(
            "  {workload}: mean work: {nodes:.2} nodes, {leaves:.2} leaves, {tests:.2} tests, {lines:.2} lines; most {most:?}, stated {bound:?}"
        );
        if (0..4).any(|k| most[k] > bound[k]) {
            self.fault(format!(
                "{workload}: work {most:?} exceeds the stated bound {bound:?} (nodes, leaves, tests, lines)"
            ));
        }
        self.add(LINES, lines, format!("{workload}, most {}", most[3]));
        self.add(TESTS, tests, format!("{workload}, most {}", most[2]));
        self.add(BOUND_TESTS, f64::from(bound[2]) / tests, format!("{} : {tests:.2}", bound[2]));
        self.add(BOUND_LINES, f64::from(bound[3]) / lines, format!("{} : {lines:.2}", bound[3]));
    }
}

fn timed<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let made = make();
    (made, start.elapsed().as_secs_f64())
}

fn bench_scene(scene: &Scene, effort: &Effort, report: &mut Report) {
    let mut bench = Bench { scene: scene.name, effort, report };
    let mesh = scene.mesh();
    let n = mesh.triangles.len();
    let per_triangle = |bytes: usize| bytes as f64 / n as f64;

    let source = image::scene(&mesh);
    let built = image::image(&source);
    drop(source);
    println!("{}: {n} triangles; {:?}", scene.name, built.report);
    bench.add(BYTES, per_triangle(built.image.len()), format!("{} bytes", built.image.len()));

    let (embree, seconds) = timed(|| Embree::new(&mesh, false));
    let reference = Reference::new(&mesh, (scene.kind == Kind::Strip).then_some(COUNTRY_TRIANGLES));
    let uneven = reference.grid().is_none().then(|| Grid::of(&mesh));
    let peers = Peers {
        hardpan: Hardpan::new(&built.image),
        embree,
        parry: Parry::new(&mesh),
        grid: reference.grid().or(uneven.as_ref()).expect("one of the two"),
        slow: uneven.is_some(),
        map: scene.heightmap(),
    };
    if let Some(embree) = &peers.embree {
        println!(
            "  embree: {:.2} Mtri/s, {:.1} bytes a triangle",
            n as f64 / seconds / 1e6,
            per_triangle(embree.bytes())
        );
    }
    println!(
        "  parry3d: {:.1}, grid64: {:.1} bytes a triangle",
        per_triangle(peers.parry.bytes()),
        per_triangle(peers.grid.bytes())
    );

    let full = FULL.contains(&scene.name);
    let (workload, queries) = match scene.kind {
        Kind::Strip => ("on triangles", workloads::on_triangles(&mesh, effort.queries)),
        _ => ("random", workloads::random(&mesh, &reference, effort.queries)),
    };
    bench.check(workload, &peers, &reference, &queries);
    bench.count(workload, peers.hardpan.terrain, &queries);
    let memory: Vec<[u64; 8]> = (0..built.image.len() as u64 / 64).map(|i| [i; 8]).collect();
    let mut contestants = peers.closest(&queries);
    contestants.extend(lines(&memory));
    let timings = bench.race(workload, contestants, full);
    bench.compare(SINGLE, &timings, HARDPAN, EMBREE);
    bench.compare(BATCH, &timings, HARDPAN_BATCH, EMBREE);
    bench.compare_singly(FLOOR, &timings, |t| t.floor);
    bench.compare_singly(SWEPT, &timings, |t| t.swept);
    if !full {
        return;
    }

    let queries = workloads::wheels(scene, &reference, effort.queries);
    bench.check("wheels", &peers, &reference, &queries);
    let timings = bench.race("wheels", peers.closest(&queries), false);
    bench.compare(WHEEL, &timings, HARDPAN_CURSOR, EMBREE);
    bench.compare(WHEEL_GRID, &timings, HARDPAN_CURSOR, GRID);

    for (workload, what, length) in
        [("rays of 1 m", RAYS_1, 1.0), ("rays of 5 m", RAYS_5, 5.0), ("rays of 100 m", RAYS_100, 100.0)]
    {
        let sights = workloads::sights(&mesh, &reference, effort.queries, length);
        let (hardpan, sights) = (&peers.hardpan, &sights);
        let mut all = vec![Contestant::new(HARDPAN, move |i| hardpan.sight(&sights[i]).unwrap_or(0.0))];
        if let Some(embree) = &peers.embree {
            let [ours, theirs] = [
                sights.iter().filter(|s| hardpan.sight(s).is_some()).count(),
                sights.iter().filter(|s| embree.sight(s).is_some()).count(),
            ];
            println!("  {workload}: {ours} meet something, {theirs} by Embree, of {}", sights.len());
            all.push(Contestant::new(EMBREE, move |i| embree.sight(&sights[i]).unwrap_or(0.0)));
        }
        let timings = bench.race(workload, all, false);
        bench.compare(what, &timings, HARDPAN, EMBREE);
    }

    let queries = workloads::columns(&mesh, &reference, effort.queries);
    let checked = &queries[..effort.checked];
    let merge = peers.hardpan.layer_merge();
    let agreement = check::layers(&reference, checked, merge, |q| peers.hardpan.heights(q.at));
    println!("  layers: {HARDPAN}: {agreement}");
    bench.judge("layers", HARDPAN, &agreement);
    let embree = Embree::new(&mesh, true);
    let timings = bench.race("layers", peers.layers(&embree, &queries), false);
    bench.compare(LAYERS, &timings, HARDPAN, EMBREE);
}

/// Times builds, `verify` and reading, and measures how near images are to their sources.
fn bench_builder(effort: &Effort, report: &mut Report) {
    let median = |values: &[f64]| timing::quantile(&mut values.to_vec(), 0.5);
    let range = |values: &[f64]| {
        let [low, high] = [0.0, 1.0].map(|q| timing::quantile(&mut values.to_vec(), q));
        format!("{low:.2}..{high:.2} s")
    };
    for scene in SCENES.iter().filter(|s| FULL.contains(&s.name)) {
        let mesh = scene.mesh();
        let n = mesh.triangles.len() as f64;
        if scene.name == "hills1m" {
            let (bytes, seconds) = builder::parse(&mesh, effort.builds);
            let from = format!("{bytes} bytes, {}", range(&seconds));
            report.add(PARSE, scene.name, bytes as f64 / median(&seconds) / 1e6, from);
        }
        let given = image::scene(&mesh);
        drop(mesh);
        let taken: Vec<builder::Taken> = (0..effort.builds).map(|_| builder::take(&given)).collect();
        println!("{}, repaired: {:?}", scene.name, taken[0].report);
        for (what, seconds) in [(BUILD, (|t| t.build) as fn(&builder::Taken) -> f64), (VERIFY, |t| t.verify)] {
            let seconds: Vec<f64> = taken.iter().map(seconds).collect();
            report.add(what, scene.name, n / median(&seconds) / 1e6, range(&seconds));
        }
        let peak = taken.iter().map(|t| t.peak).max().unwrap_or(0);
        report.add(PEAK, scene.name, peak as f64 / n, format!("{peak} bytes"));
    }
    for name in builder::NEAR {
        match builder::scene(name) {
            Ok(scene) => {
                let built = builder::report(&scene);
                let moved = [built.weld.moved, built.stitch.moved].map(|m| m.map(|v| v * 1e3));
                let from = |i: usize| format!("moved by weld {:.3}, by stitch {:.3}", moved[0][i], moved[1][i]);
                report.add(PLAN_ERROR, name, built.packed.error[0] * 1e3, from(0));
                report.add(HEIGHT_ERROR, name, built.packed.error[1] * 1e3, from(1));
                report.add(
                    P999,
                    name,
                    built.error_quantiles.height[2] * 1e3,
                    format!("{} places", built.error_quantiles.places),
                );
            }
            Err(why) => report.without(name, &why),
        }
    }
    for name in builder::STITCHED {
        match builder::scene(name).map(|scene| builder::open_edges(&scene)) {
            Ok([before, after]) => report.add(OPEN, name, after as f64, format!("{before} before")),
            Err(why) => report.without(name, &why),
        }
    }
}

/// A height field of a million cells: one patch, asked like a height map.
fn bench_patch(effort: &Effort, report: &mut Report) {
    const CELLS: usize = 1000;
    const TOLERANCE: f64 = 0.005;
    let mut bench = Bench { scene: "patch", effort, report };
    let map = Heightmap::hills(CELLS, CELLS);
    let source = image::field(HeightField {
        origin: [-1000.0; 2],
        pitch: 2000.0 / CELLS as f64,
        columns: CELLS + 1,
        rows: CELLS + 1,
        heights: map.posts().map(f64::from).collect(),
        tolerance: TOLERANCE,
        ..HeightField::default()
    });
    let built = image::image(&source);
    let hardpan = Hardpan::new(&built.image);
    let cells = (CELLS * CELLS) as f64;
    println!("patch: {cells} cells; {:?}", built.report);
    bench.add(
        "bytes per cell",
        built.image.len() as f64 / cells,
        format!("{} bytes, tolerance {} mm", built.image.len(), TOLERANCE * 1e3),
    );

    let queries = workloads::on_field(effort.queries);
    let (mut worst, mut missed) = (0.0f64, 0);
    for q in &queries {
        match hardpan.closest(q) {
            Some(s) => worst = worst.max((s.z - map.at(q).z).abs()),
            None => missed += 1,
        }
    }
    println!(
        "  random: {HARDPAN}: {} asked, {missed} missed, others within {:.3} mm of the height map",
        queries.len(),
        worst * 1e3
    );
    if missed > 0 || worst > TOLERANCE + check::TOLERANCE {
        bench.fault(format!("random: {missed} missed, others within {worst} m where {TOLERANCE} m is the tolerance"));
    }
    bench.check_ways("random", hardpan.terrain, &queries[..effort.checked]);
    bench.count("random", hardpan.terrain, &queries);
    let mut contestants = crate::hardpan(&hardpan, &queries);
    contestants.push(look_up(&map, &queries));
    let timings = bench.race("random", contestants, true);
    bench.compare(PATCH, &timings, HEIGHTMAP, HARDPAN);
    bench.compare(PATCH_BATCH, &timings, HEIGHTMAP, HARDPAN_BATCH);
}

/// The same calls in Rust and through C, on the hills of a million triangles: answers, then times.
fn bench_c(effort: &Effort, report: &mut Report) {
    const NAMES: [&str; 4] = ["closest, Rust", "closest, C", "five values, Rust", "five values, callback"];
    let Some(scene) = SCENES.iter().find(|s| s.name == "hills1m") else { return };
    let mesh = scene.mesh();
    let built = image::image(&image::scene(&mesh));
    let image: &'static [u8] = Box::leak(Box::new(built.image));
    let (terrain, c) = (Terrain::open(image).expect("an image just built"), Interface::open(image));
    let mut bench = Bench { scene: scene.name, effort, report };
    let queries = workloads::on_triangles(&mesh, effort.queries);
    let values = |p| {
        let g = terrain.ground(p);
        ([g.z, g.slope[0], g.slope[1], g.mu, g.rolling], g.found)
    };
    let differ = |q: &&Query| {
        let (a, b) = (terrain.closest(q.at).hit, c.closest(q.at));
        a.z != b.z || [a.normal.x, a.normal.y, a.normal.z] != b.normal || values(q.at) != c.callback(q.at)
    };
    let wrong = queries.iter().filter(differ).count();
    println!("c: {} asked, {wrong} answered otherwise than in Rust", queries.len());
    if wrong > 0 {
        bench.fault(format!("{wrong} answers through C differ"));
    }
    let at = |i: usize| queries[i].at;
    let sum = |(values, found): ([f64; 5], bool)| values.iter().sum::<f64>() + f64::from(u8::from(found));
    let contestants = vec![
        Contestant::new(NAMES[0], |i| {
            let answer = terrain.closest(at(i));
            (answer.hit.z ^ answer.hit.normal.x) as f64
        }),
        Contestant::new(NAMES[1], |i| {
            let answer = c.closest(at(i));
            (answer.z ^ answer.normal[0]) as f64
        }),
        Contestant::new(NAMES[2], |i| sum(values(at(i)))),
        Contestant::new(NAMES[3], |i| sum(c.callback(at(i)))),
    ];
    let timings = bench.race("through C", contestants, false);
    bench.compare(C_CLOSEST, &timings, NAMES[0], NAMES[1]);
    bench.compare(C_CALLBACK, &timings, NAMES[2], NAMES[3]);
}

/// Counted work of each hills scene, times that of the smallest.
fn growth(report: &mut Report) {
    for (work, growth) in [(LINES, LINES_GROWTH), (TESTS, TESTS_GROWTH)] {
        let Some(smallest) = report.value(work, "hills10k") else {
            return;
        };
        for scene in ["hills100k", "hills1m", "hills10m"] {
            if let Some(value) = report.value(work, scene) {
                report.add(growth, scene, value / smallest, format!("{value:.2} : {smallest:.2}"));
            }
        }
    }
}

/// Every corner and edge of the meshes whose closed union has to answer.
fn edges(report: &mut Report) {
    for mesh in union::MESHES {
        let (found, seconds) = timed(|| union::ask(mesh));
        match found {
            Ok(found) => {
                let from = format!("{} points, {} edges, {} open", found.points, found.edges, found.border);
                println!("{mesh}: {from}: {} misses; {seconds:.0} s", found.misses);
                if let Some(first) = found.first {
                    report.faults.push(format!("{mesh}: {} misses, the first at {first}", found.misses));
                }
                report.add(MISSES, mesh, found.misses as f64, from);
            }
            Err(why) => report.without(mesh, &why),
        }
    }
}

/// Scene and call of the emulator, its name in the table, figures of the worst and the mean.
const M4_BARS: [(&str, &str, &str, &str, Option<&str>); 4] = [
    ("hills", "closest", "one sheet", M4_WORST, Some(M4_MEAN)),
    ("proving", "closest", "proving ground", M4_WORST, Some(M4_MEAN)),
    ("field", "decode", "heights", M4_DECODE, None),
    ("field", "closest", "heights", M4_HEIGHT, None),
];

/// Instructions on the emulated Cortex-M4F.
fn m4f(report: &mut Report) {
    let counts = m4::counts();
    for (scene, call, name, worst, mean) in M4_BARS {
        let found = match &counts {
            Ok(counts) => {
                counts.iter().find(|c| c.scene == scene && c.call == call).ok_or("the emulator gave no figure")
            }
            Err(why) => Err(&why[..]),
        };
        match found {
            Ok(c) => {
                report.add(worst, name, c.worst, format!("mean {}", c.mean));
                if let Some(mean) = mean {
                    report.add(mean, name, c.mean, format!("worst {}", c.worst));
                }
            }
            Err(why) => report.without(worst, why),
        }
    }
}
