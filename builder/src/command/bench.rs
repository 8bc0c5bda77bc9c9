//! `hardpan bench`: queries timed, beside the bound that the image states.

use std::{
    cmp::Reverse,
    fs,
    hint::black_box,
    io::Write,
    ops::RangeInclusive,
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::ValueEnum;
use hardpan::{
    Answer, Cost, Cursor, Hit, Status, Terrain,
    format::{FRACTION, PATCH_LOG2},
};
use hardpan_builder::read::{self, Column, TileView};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    Done, Failure, counted, drive, grouped,
    info::{cost_of, hex},
    lines::Odd,
    load, named, note,
    progress::steps,
    query::{self, status_text},
    terrain,
};

#[derive(clap::Args)]
#[command(after_help = format!("{HOW}\n\n{}", drive::HELP))]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// How many queries
    #[arg(short = 'n', long = "queries", value_name = "N", default_value_t = 1_000_000, value_parser = queries)]
    queries: u64,
    /// Which places
    #[arg(long, value_enum, default_value_t = Plan::Uniform, conflicts_with = "along")]
    plan: Plan,
    /// The places of a drive instead, again and again
    #[arg(long, value_name = "DRIVE.csv")]
    along: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

fn queries(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|n| (1..=MOST).contains(n));
    number.ok_or_else(|| format!("a whole number from 1 to {} without commas", grouped(MOST)))
}

/// Under the table of times, with how much memory sweeps caches.
fn footnote(sweep: usize) -> String {
    format!(
        "\
max: the longest call, interruptions by the machine included. worst to p50: of each place the fastest of its calls, and of those the
slowest, and the quantiles: what the places take by themselves. Of batches all are a 64th of a call. These are warm: each call comes
right after another, and caches hold what they can of the image. A tick, of a drive of several wheels, is one call for each with its
own cursor, and all figures but queries/s are of all together. queries/s and mean are by the clock, whatever else the machine did. Caches swept: before each call {} MiB of other memory are read, as
where the ground is asked for once in a millisecond and much else is done in between; places are
called once, but the slowest four times",
        sweep >> 20
    )
}

const HOW: &str = "\
Every place is asked by single calls, by batches of 64 and with a cursor; a drive's wheels one after another. A drive of several
wheels is timed tick by tick too: the wheels' places of one time, to less than half a tick, asked one after the other, each with its wheel's
cursor; times that not all wheels have are left out, and without a time column it is a line of each, the first, the second and so on. First all three answers are compared and the cost is
counted. Then each way runs three times without a break, of which the fastest gives mean and queries/s, and three times with the clock
read around every call, all less what reading the clock takes; of a batch they are a 64th of a call. The longest call, max, is mostly
one in which the machine did something else: the quantiles are those of the fastest of each place's three calls, and worst is the
slowest of these, after the slowest places were asked eight times more, each after those that came before it. It is told with where it is
and what a query costs there. The places are the same every time.

All that is warm: caches hold what they can of the image. A loop that asks once in a millisecond, and does much else in between, meets
caches that hold little of it: single calls with caches swept are such, each after other memory was read, twice as much as the last
level of caches holds, or 64 MiB where the machine does not tell. They are made at a thousandth of the places, 8 to 256, spread evenly,
and at the slowest of the single calls, and are over after about three seconds; p99 takes 100 places. The slowest is one that was
called four times.

The plan worst is worst in work that is counted, not in time: which lines lie in caches no image states. It visits the columns that
cost most by the image's own count, and those that cost most of as many places as the plan uniform has, and climbs from there: it finds
no less than uniform with as many queries.

  hardpan bench track.hpan -n 5000000
  hardpan bench track.hpan --plan worst
  hardpan bench track.hpan --along drive.csv --json

Exit codes: 0 fine, 1 a query cost more than the image states, or two ways of asking differ.";

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Plan {
    /// Evenly in the extents, whether there is ground or not
    Uniform,
    /// Evenly over the plan area of the ground, each on one of the layers there
    Area,
    /// In the costliest columns
    Worst,
}

/// Places that are asked in one go: so many that caches do not hold what they read.
const CHUNK: u64 = 1 << 20;
const BATCH: usize = 64;
/// Most queries: days of work.
const MOST: u64 = 1_000_000_000_000;
/// Runs without a break, of which the fastest counts: in the others the machine did something else as well.
const RUNS: usize = 3;

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let t = &terrain(&args.file, &image)?;
    let mut ticks = None;
    let mut places = match (&args.along, args.plan) {
        (Some(path), _) => {
            let (points, several) = along(t, path)?;
            ticks = several;
            Places::Round(points, 0)
        }
        (None, Plan::Uniform) => Places::Uniform(t.bounds()),
        (None, Plan::Area) => area(t),
        (None, Plan::Worst) => Places::Round(worst(t, args.queries), 0),
    };
    let plan = match (&args.along, args.plan) {
        (Some(path), _) => format!("along {}", named(path)),
        (None, plan) => plan.to_possible_value().map(|v| v.get_name().to_owned()).unwrap_or_default(),
    };
    let mut found = Found::default();
    let clock = clock();
    let wanted = spread_over(args.queries);
    let mut spread = vec![[0.0; 3]; wanted.len()];
    let mut ways = [Way::new("single calls"), Way::new("batches of 64"), Way::new("cursor")];
    let mut random = Random(SEED);
    let mut points = Vec::new();
    let mut asked = 0;
    let progress = steps("timing", args.queries);
    while asked < args.queries {
        progress.set_position(asked);
        places.fill(t, (args.queries - asked).min(CHUNK) as usize, &mut random, &mut points).ok_or_else(|| {
            let text = "there is too little ground to meet any by chance; ask elsewhere: --plan worst, or --along";
            Failure::input(&args.file, text)
        })?;
        for (place, number) in spread.iter_mut().zip(&wanted) {
            let here = number.checked_sub(asked).and_then(|i| points.get(i as usize));
            here.into_iter().for_each(|p| *place = *p);
        }
        asked += points.len() as u64;
        found.check(t, &points).map_err(|text| Failure::check(&args.file, text))?;
        let [single, batch, cursor] = &mut ways;
        single.time(&points, 1, clock, |p| _ = black_box(t.closest(p[0])));
        let mut answers = [Answer { status: Status::NoGround, hit: Hit::NONE }; BATCH];
        batch.time(&points, BATCH, clock, |p| {
            t.closest_batch(p, &mut answers);
            _ = black_box(&answers);
        });
        let mut last = Cursor::new();
        cursor.time(&points, 1, clock, |p| _ = black_box(t.closest_cursor(p[0], &mut last)));
    }
    let ticks = ticks.map(|ticks| ticks.time(t, args.queries, clock));
    let swept = Swept::time(t, &spread, &ways[0].slowest, clock);
    progress.finish_and_clear();
    if args.json {
        let facts = json!({
            "identity": hex(&t.identity()),
            "plan": plan,
            "queries": asked,
            "stated": cost_of(&t.bound()),
            "attained": cost_of(&found.most),
            "costliest": { "at": found.place, "cost": cost_of(&found.costliest) },
            "ns": ways.iter().map(|w| w.facts(asked)).collect::<Vec<_>>(),
            "ticks": ticks.as_ref().map(TimedTicks::facts),
            "swept": swept.facts(),
            "clock_ns": clock,
            "misses": found.misses(),
            "no_ground": found.no_ground,
            "not_in_image": found.not_in_image,
        });
        writeln!(out, "{facts:#}")?;
    } else {
        table(args, t, &plan, asked, &found, &ways, ticks.as_ref(), &swept, clock, out)?;
    }
    match within(&found.most, &t.bound()) {
        true => Ok(()),
        false => Err(Failure::check(
            &args.file,
            "a query cost more than the image states; look into it, and build it again: hardpan verify, hardpan build",
        )),
    }
}

#[expect(clippy::too_many_arguments)]
fn table(
    args: &Args,
    t: &Terrain,
    plan: &str,
    asked: u64,
    found: &Found,
    ways: &[Way],
    ticks: Option<&TimedTicks>,
    swept: &Swept,
    clock: u64,
    out: &mut impl Write,
) -> Done {
    let kind = if args.along.is_none() { "plan " } else { "" };
    writeln!(out, "{}: {}, {kind}{plan}\n", named(&args.file), counted(asked, "query"))?;
    writeln!(out, "{:18}{:>8} {:>8} {:>8} {:>8}", "", "nodes", "leaves", "tests", "lines")?;
    let (stated, attained) = (counts(&t.bound()), counts(&found.most));
    let [x, y, z] = found.place;
    for (name, c, note) in [
        ("stated bound", stated, "no query on this image takes more".to_string()),
        ("attained", attained, format!("the costliest of these at ({x:.3}, {y:.3}, {z:.3})")),
    ] {
        writeln!(out, "{name:18}{:>8} {:>8} {:>8} {:>8}  {note}", c[0], c[1], c[2], c[3])?;
    }
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| f64::from(attained[i]) / f64::from(stated[i].max(1)));
    writeln!(out, "{:18}{a:>8.2} {b:>8.2} {c:>8.2} {d:>8.2}\n", "attained / stated")?;
    writeln!(
        out,
        "{:20}{:>9} {:>8} {:>8} {:>8} {:>8} {:>12} {:>8}",
        "ns a query", "max", "worst", "p99.9", "p99", "p50", "queries/s", "mean"
    )?;
    let ways_and_ticks = ways.iter().map(|w| (w, asked, 1));
    for (w, asked, each) in ways_and_ticks.chain(ticks.map(|t| (&t.way, t.count, t.wheels))) {
        let [p999, p99, p50] = [0.999, 0.99, 0.5].map(|q| w.fastest.quantile(q));
        let (mean, rate) = w.mean(asked);
        let rate = rate * each as f64;
        writeln!(
            out,
            "{:20}{:>9} {:>8} {p999:>8} {p99:>8} {p50:>8} {:>12} {mean:>8.1}",
            w.name,
            w.max(asked),
            w.worst.0,
            grouped(rate as u64)
        )?;
    }
    let [p99, p50] = [swept.p99().map_or("-".into(), |ns| ns.to_string()), swept.times.quantile(0.5).to_string()];
    writeln!(
        out,
        "{:20}{:>9} {:>8} {:>8} {p99:>8} {p50:>8} {:>12} {:>8.1}",
        "single, caches swept", swept.max, swept.worst.0, "-", "-", swept.mean
    )?;
    writeln!(out, "{}", footnote(swept.bytes))?;
    let (ns, [[x, y, z], _]) = ways[0].worst;
    let cost = t.closest_costed([x, y, z]).1;
    writeln!(
        out,
        "\nslowest place     ({x:.3}, {y:.3}, {z:.3}): {ns} ns, {}, {}",
        counted(cost.tests, "test"),
        counted(cost.lines, "line")
    )?;
    writeln!(
        out,
        "misses            {} of {}: {} no ground, {} not in image",
        grouped(found.misses()),
        grouped(asked),
        grouped(found.no_ground),
        grouped(found.not_in_image)
    )?;
    writeln!(out, "clock             {clock} ns a reading, taken off")?;
    Ok(())
}

fn counts(c: &Cost) -> [u32; 4] {
    [c.nodes, c.leaves, c.tests, c.lines]
}

fn within(cost: &Cost, bound: &Cost) -> bool {
    counts(cost).iter().zip(counts(bound)).all(|(c, b)| *c <= b)
}

/// Where queries go.
enum Places {
    Uniform([[f64; 3]; 2]),
    /// Columns with the areas of all up to each, and room for layers.
    Area(Vec<(Column, f64)>, Vec<Hit>),
    /// The same ones again and again, from a number on.
    Round(Vec<[f64; 3]>, usize),
}

/// Places in columns that are tried for one with ground.
const DRAWS: usize = 100_000;

impl Places {
    /// The next `count` places; none if ground could not be met.
    fn fill(&mut self, t: &Terrain, count: usize, random: &mut Random, points: &mut Vec<[f64; 3]>) -> Option<()> {
        points.clear();
        for _ in 0..count {
            points.push(match self {
                Places::Uniform([low, high]) => [0, 1, 2].map(|i| low[i] + (high[i] - low[i]) * random.share()),
                Places::Area(columns, room) => (0..DRAWS).find_map(|_| {
                    let at = random.share() * columns.last()?.1;
                    let column = &columns[columns.partition_point(|c| c.1 <= at).min(columns.len() - 1)].0;
                    let [x, y] = inside(t, column, random);
                    let layers = t.layers([x, y, 0.0], room);
                    let hit = room[..layers.written].get(random.below(layers.written.max(1)))?;
                    Some([x, y, t.z_f64(hit)])
                })?,
                Places::Round(places, next) => {
                    let place = *places.get(*next)?;
                    *next = (*next + 1) % places.len();
                    place
                }
            });
        }
        Some(())
    }
}

/// A place in a column, in metres.
fn inside(t: &Terrain, column: &Column, random: &mut Random) -> [f64; 2] {
    let h = t.header();
    [0, 1].map(|i| {
        let low = (h.origin[i] + column.low[i]) as f64;
        (low + column.size[i] as f64 * random.share()) * 2f64.powi(h.xy_log2)
    })
}

fn area(t: &Terrain) -> Places {
    let mut columns = Vec::new();
    let mut sum = 0.0;
    for tile in read::tiles(t) {
        tile.columns(|c| {
            sum += c.size[0] as f64 * c.size[1] as f64;
            columns.push((c, sum));
        });
    }
    Places::Area(columns, query::room(t))
}

/// A kind of cost, and how many columns are visited for it.
type Kind = (usize, fn(&Cost) -> u32);
const WORST: [Kind; 4] = [(256, |c| c.tests), (16, |c| c.lines), (16, |c| c.leaves), (16, |c| c.nodes)];
/// Places and posts that are tried in a column.
const TRIES: usize = 64;
const POSTS: usize = 4096;
/// Places of the plan uniform from which each kind's climbs start.
const FROM_UNIFORM: usize = 16;
/// Where random places begin.
const SEED: u64 = 1;

/// Places that cost most: in each of the costliest columns, and among as many as the plan uniform asks, each the end of a climb. Of each
/// kind the columns cost at least half as much as the costliest. The costliest place of each kind comes first.
fn worst(t: &Terrain, queries: u64) -> Vec<[f64; 3]> {
    let (mut random, [low, high]) = (Random(2), t.bounds());
    let tiles: Vec<TileView> = read::tiles(t).collect();
    let cost = |place: [f64; 3]| t.closest_costed(place).1;
    let uniform = uniform_worst(t, queries);
    let mut places: [Vec<(u32, [f64; 3])>; WORST.len()] = Default::default();
    for (((count, kind), uniform), places) in WORST.into_iter().zip(uniform).zip(&mut places) {
        let mut columns: Vec<(Column, usize)> = Vec::new();
        let cut = |columns: &mut Vec<(Column, usize)>| {
            columns.sort_unstable_by_key(|(c, _)| (Reverse(kind(&c.cost)), Reverse(c.cost.tests), c.low[1], c.low[0]));
            columns.truncate(count);
        };
        for (i, tile) in tiles.iter().enumerate() {
            tile.columns(|c| {
                columns.push((c, i));
                if columns.len() >= 4096 {
                    cut(&mut columns);
                }
            });
        }
        cut(&mut columns);
        let half = columns.first().map_or(0, |(c, _)| kind(&c.cost).div_ceil(2));
        let mut starts = uniform;
        for (column, tile) in columns.iter().take_while(|(c, _)| kind(&c.cost) >= half) {
            let mut tried: Vec<[f64; 2]> = (0..TRIES).map(|_| inside(t, column, &mut random)).collect();
            tried.extend(posts(t, &tiles[*tile], column).take(POSTS));
            let mut at = |[x, y]: [f64; 2]| {
                let place = [x, y, low[2] + (high[2] - low[2]) * random.share()];
                (kind(&cost(place)), place)
            };
            starts.extend(tried.into_iter().map(&mut at).max_by_key(|(cost, _)| *cost));
        }
        places.extend(starts.into_iter().map(|start| climbed(t, start, |place| kind(&cost(place)))));
        places.sort_by_key(|(cost, _)| Reverse(*cost));
    }
    let longest = places.iter().map(Vec::len).max().unwrap_or(0);
    let round = |i: usize| places.iter().filter_map(move |all| all.get(i).map(|(_, place)| *place));
    (0..longest).flat_map(round).collect()
}

/// For each kind the costliest of the places that the plan uniform asks, with what they cost.
fn uniform_worst(t: &Terrain, queries: u64) -> [Vec<(u32, [f64; 3])>; WORST.len()] {
    let (mut places, mut random, mut points) = (Places::Uniform(t.bounds()), Random(SEED), Vec::new());
    let mut found: [Vec<(u32, [f64; 3])>; WORST.len()] = Default::default();
    let mut left = queries;
    while left > 0 && places.fill(t, left.min(CHUNK) as usize, &mut random, &mut points).is_some() {
        left -= points.len() as u64;
        let costs: Vec<Cost> = points.par_iter().map(|p| t.closest_costed(*p).1).collect();
        for ((_, kind), found) in WORST.into_iter().zip(&mut found) {
            found.extend(costs.iter().zip(&points).map(|(cost, place)| (kind(cost), *place)));
            found.sort_by_key(|(cost, _)| Reverse(*cost));
            found.truncate(FROM_UNIFORM);
        }
    }
    found
}

/// Goes from a place to costlier ones nearby, in steps of a metre first and half as long wherever none helps.
fn climbed(t: &Terrain, start: (u32, [f64; 3]), cost: impl Fn([f64; 3]) -> u32) -> (u32, [f64; 3]) {
    let (mut most, mut at) = start;
    let least = f64::exp2(f64::from(t.header().xy_log2));
    let mut step = 1.0;
    while step >= least {
        let around = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];
        let near = around.map(|[i, j]| [at[0] + f64::from(i) * step, at[1] + f64::from(j) * step, at[2]]);
        match near.into_iter().map(|p| (cost(p), p)).max_by_key(|(cost, _)| *cost).filter(|(cost, _)| *cost > most) {
            Some(better) => (most, at) = better,
            None => step /= 2.0,
        }
    }
    (most, at)
}

/// Posts in a column of such fields as lack some, in metres: queries there read up to four cells.
fn posts(t: &Terrain, tile: &TileView, column: &Column) -> impl Iterator<Item = [f64; 2]> {
    let (h, column) = (t.header(), *column);
    let square = [tile.record.x, tile.record.y].map(|v| i64::from(v) << h.tile_log2 >> PATCH_LOG2 << PATCH_LOG2);
    tile.patches().iter().filter(|p| p.voids != 0).flat_map(move |p| {
        // positions along an axis in 2^-32 cells, as the format has them, and back
        let rate = i128::from(p.rate[1]) << 32 | i128::from(p.rate[0]);
        let along = |i: usize| {
            let (from, start) = (if p.wide == 0 { square[i] } else { 0 }, i128::from(p.start[i]));
            let cells = |steps: i64| (((i128::from(steps - from) << FRACTION) * rate) >> 32) + start;
            let (first, last) = (i128::from(p.first[i]), i128::from(p.first[i]) + i128::from(p.cells[i]));
            let low = (cells(column.low[i]) >> 32).max(first);
            let high = (cells(column.low[i] + column.size[i]) >> 32).min(last);
            (low..=high).map(move |post| {
                let q = -((start - (post << 32)) << 32).div_euclid(rate); // at it or just behind
                let at = (i128::from(h.origin[i] + from) << FRACTION) + q;
                at as f64 * 2f64.powi(h.xy_log2 - FRACTION as i32)
            })
        };
        let across = along(0);
        along(1).flat_map(move |y| across.clone().map(move |x| [x, y]))
    })
}

/// The places of a drive, wheel by wheel, and of several wheels the ticks; where it has no height, on the highest ground.
fn along(t: &Terrain, path: &std::path::Path) -> Done<(Vec<[f64; 3]>, Option<Ticks>)> {
    let [low, high] = t.bounds();
    let z = |x: f64, y: f64| {
        let answer = t.segment_m([x, y, high[2] + 1.0], high[2] - low[2] + 2.0);
        if answer.found() { t.z_f64(&answer.hit) } else { high[2] }
    };
    let mut drive = drive::read(path)?;
    let mut odd = Odd::default();
    drive.stops.iter().for_each(|s| odd.count(&[s.t, Some(s.x), Some(s.y), s.z], s.line));
    for text in drive.doubt.iter().cloned().chain(odd.told()).chain(drive.heights.told()) {
        note(format!("{}: {text}", named(path)));
    }
    // a cursor goes with a wheel
    drive.stops.sort_by_key(|s| s.wheel);
    let points: Vec<[f64; 3]> = drive.stops.iter().map(|s| [s.x, s.y, s.z.unwrap_or_else(|| z(s.x, s.y))]).collect();
    let wheels = drive.wheels.len();
    if wheels < 2 {
        return Ok((points, None));
    }
    let together = drive.ticks();
    drive.apart(&together).into_iter().for_each(|text| note(format!("{}: {text}", named(path))));
    let ticks = Ticks { wheels, points: together.into_iter().map(|i| points[i]).collect() };
    Ok((points, Some(ticks).filter(|ticks| !ticks.points.is_empty())))
}

/// Places of several wheels, tick by tick.
struct Ticks {
    wheels: usize,
    points: Vec<[f64; 3]>,
}

/// How long they took, each all wheels together.
struct TimedTicks {
    way: Way,
    wheels: usize,
    count: u64,
}

impl Ticks {
    /// Asks one wheel after the other, each with a cursor of its own, again and again for so many queries, or a chunk of them.
    fn time(&self, t: &Terrain, queries: u64, clock: u64) -> TimedTicks {
        let wheels = self.wheels;
        let count = (queries.min(CHUNK) as usize / wheels).max(1);
        let points: Vec<[f64; 3]> = self.points.iter().cycle().take(count * wheels).copied().collect();
        let mut way = Way { calls: true, ..Way::new(&format!("tick of {wheels} wheels")) };
        let mut cursors = vec![Cursor::new(); wheels];
        way.time(&points, wheels, clock, |places| {
            places.iter().zip(&mut cursors).for_each(|(p, cursor)| _ = black_box(t.closest_cursor(*p, cursor)));
        });
        TimedTicks { way, wheels, count: count as u64 }
    }
}

impl TimedTicks {
    fn facts(&self) -> Value {
        let mut facts = self.way.facts(self.count);
        facts["wheels"] = self.wheels.into();
        facts["ticks"] = self.count.into();
        facts["queries_per_second"] = (self.way.mean(self.count).1 * self.wheels as f64).into();
        facts
    }
}

/// What queries came to.
#[derive(Default)]
struct Found {
    /// The most of each kind.
    most: Cost,
    /// Of the query that took most tests, then lines.
    costliest: Cost,
    place: [f64; 3],
    no_ground: u64,
    not_in_image: u64,
}

impl Found {
    /// Asks in every way, and says where two differ.
    fn check(&mut self, t: &Terrain, points: &[[f64; 3]]) -> Result<(), String> {
        let mut answers = [Answer { status: Status::NoGround, hit: Hit::NONE }; BATCH];
        let mut cursor = Cursor::new();
        for points in points.chunks(BATCH) {
            t.closest_batch(points, &mut answers);
            for (p, batched) in points.iter().zip(&answers) {
                let (answer, cost) = t.closest_costed(*p);
                if answer != *batched || answer != t.closest(*p) || answer != t.closest_cursor(*p, &mut cursor) {
                    return Err(format!("the answer at {p:?} depends on the way of asking; please report this"));
                }
                match answer.status {
                    Status::Found => {}
                    Status::NoGround => self.no_ground += 1,
                    Status::NotInImage => self.not_in_image += 1,
                    status => return Err(format!("{} at {p:?}", status_text(status))),
                }
                let key = |c: &Cost| [c.tests, c.lines, c.leaves, c.nodes];
                if key(&cost) > key(&self.costliest) {
                    (self.costliest, self.place) = (cost, *p);
                }
                self.most = Cost {
                    nodes: self.most.nodes.max(cost.nodes),
                    leaves: self.most.leaves.max(cost.leaves),
                    tests: self.most.tests.max(cost.tests),
                    lines: self.most.lines.max(cost.lines),
                };
            }
        }
        Ok(())
    }

    fn misses(&self) -> u64 {
        self.no_ground + self.not_in_image
    }
}

/// A way of asking, and how long it took.
struct Way {
    name: String,
    /// Whether figures are of calls, however many places each asks, and not of queries.
    calls: bool,
    /// Of all queries, without reading the clock in between: of each chunk the fastest run.
    whole: Duration,
    /// Of each call that was made again and again the fastest.
    fastest: Times,
    /// Nanoseconds of the longest call.
    max: u64,
    /// The slowest of `fastest`, and least and greatest of its places.
    worst: (u64, [[f64; 3]; 2]),
    /// Places of the slowest of `fastest`, at most [`SWEPT_SLOWEST`].
    slowest: Vec<(u64, [f64; 3])>,
}

/// Slowest calls that are made once more, [`AGAIN`] times, each after [`BEFORE`] places that came before it, so that caches are
/// about as they were; then those that are slowest now, so many rounds at most.
const SLOWEST: usize = 32;
const AGAIN: usize = 8;
const BEFORE: usize = 256;
const ROUNDS: usize = 64;

impl Way {
    fn new(name: &str) -> Self {
        Way {
            name: name.into(),
            calls: false,
            whole: Duration::ZERO,
            fastest: Times::default(),
            max: 0,
            worst: (0, [[0.0; 3]; 2]),
            slowest: Vec::new(),
        }
    }

    /// Asks `unit` points a call, without a break and with the clock, whose reading takes `clock` nanoseconds.
    fn time(&mut self, points: &[[f64; 3]], unit: usize, clock: u64, mut call: impl FnMut(&[[f64; 3]])) {
        let mut run = || {
            let start = Instant::now();
            points.chunks(unit).for_each(&mut call);
            start.elapsed()
        };
        let fastest = (0..RUNS).map(|_| run()).min().unwrap_or_default();
        self.whole += fastest.saturating_sub(Duration::from_nanos(clock));
        let calls: Vec<&[[f64; 3]]> = points.chunks(unit).collect();
        let whole = self.calls;
        let mut timed = |points: &[[f64; 3]]| {
            let start = Instant::now();
            call(points);
            let each = if whole { 1 } else { points.len() as u64 };
            (start.elapsed().as_nanos() as u64).saturating_sub(clock) / each
        };
        let mut fastest = vec![u64::MAX; calls.len()];
        for _ in 0..RUNS {
            for (points, fastest) in calls.iter().zip(&mut fastest) {
                let ns = timed(points);
                self.max = self.max.max(ns);
                *fastest = ns.min(*fastest);
            }
        }
        // until the slowest are such as were asked again
        let mut again = vec![false; calls.len()];
        for _ in 0..ROUNDS {
            let mut order: Vec<usize> = (0..calls.len()).collect();
            let count = SLOWEST.min(order.len());
            order.select_nth_unstable_by_key(count - 1, |&i| Reverse((fastest[i], i)));
            let slowest = order[..count].iter().max_by_key(|&&i| (fastest[i], i));
            if slowest.is_none_or(|&i| again[i]) {
                break;
            }
            for &i in order[..count].iter().filter(|&&i| !std::mem::replace(&mut again[i], true)) {
                for _ in 0..AGAIN {
                    calls[i.saturating_sub(BEFORE / unit)..i].iter().for_each(|points| _ = timed(points));
                    fastest[i] = fastest[i].min(timed(calls[i]));
                }
            }
        }
        let mut order: Vec<usize> = (0..calls.len()).collect();
        let count = SLOWEST.min(order.len());
        order.select_nth_unstable_by_key(count - 1, |&i| Reverse((fastest[i], i)));
        for (ns, place) in order[..count].iter().map(|&i| (fastest[i], calls[i][0])) {
            if self.slowest.iter().all(|(_, other)| *other != place) {
                self.slowest.push((ns, place));
            }
        }
        self.slowest.sort_by_key(|(ns, _)| Reverse(*ns));
        self.slowest.truncate(SWEPT_SLOWEST);
        for (points, ns) in calls.iter().zip(fastest) {
            self.fastest.add(ns);
            if ns >= self.worst.0 {
                let ends = |end: fn(f64, f64) -> f64| {
                    points.iter().fold(points[0], |all, p| [0, 1, 2].map(|i| end(all[i], p[i])))
                };
                self.worst = (ns, [ends(f64::min), ends(f64::max)]);
            }
        }
    }

    /// Nanoseconds a query, and queries a second. What takes no longer than reading the clock counts as a nanosecond in all.
    fn mean(&self, asked: u64) -> (f64, f64) {
        let mean = self.whole.as_nanos().max(1) as f64 / asked as f64;
        (mean, 1e9 / mean)
    }

    /// Nanoseconds of the longest call that was timed; no less than the mean, as the longest of all is.
    fn max(&self, asked: u64) -> u64 {
        self.max.max(self.mean(asked).0.ceil() as u64)
    }

    fn facts(&self, asked: u64) -> Value {
        let (mean, rate) = self.mean(asked);
        let [p999, p99, p50] = [0.999, 0.99, 0.5].map(|q| self.fastest.quantile(q));
        let (ns, [low, high]) = self.worst;
        let worst = match low == high {
            true => json!({ "ns": ns, "at": low }),
            false => json!({ "ns": ns, "within": [low, high] }),
        };
        json!({
            "way": self.name, "max": self.max(asked), "worst": worst, "p999": p999, "p99": p99, "p50": p50, "mean": mean,
            "queries_per_second": rate,
        })
    }
}

/// Memory that is read before a call that finds caches swept, in bytes, where the machine does not tell how much its caches hold:
/// more than those of most.
const SWEEP: usize = 64 << 20;
/// Places that are asked so, a thousandth of all; the slowest of the single calls beside them; and whichever is slowest then is asked
/// [`SWEPT_AGAIN`] times more, until the slowest is such a one.
const SWEPT: RangeInclusive<u64> = 8..=256;
const SWEPT_SLOWEST: usize = 8;
const SWEPT_AGAIN: usize = 3;
/// Time after which no other place is asked.
const SWEEPING: Duration = Duration::from_millis(2500);

/// Twice what the last level of caches holds, in bytes.
fn sweep() -> usize {
    let caches = fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let last = caches.filter_map(|cache| {
        let read = |name: &str| fs::read_to_string(cache.path().join(name)).ok();
        let kibibytes: usize = read("size")?.trim().strip_suffix('K')?.parse().ok()?;
        Some((read("level")?.trim().parse::<u32>().ok()?, kibibytes << 10))
    });
    last.max().filter(|(_, bytes)| (1 << 10..1 << 32).contains(bytes)).map_or(SWEEP, |(_, bytes)| 2 * bytes)
}

/// Numbers of the places for calls with caches swept: spread evenly over all, as are the first of them, however many.
fn spread_over(queries: u64) -> Vec<u64> {
    let count = (queries / 1000).clamp(*SWEPT.start(), *SWEPT.end());
    if queries <= count {
        return (0..queries).collect();
    }
    // multiples of the golden ratio, less whole ones
    let share = |k: u64| (k as f64 * 0.618_033_988_749_894_9).fract();
    (0..count).map(|k| (share(k) * queries as f64) as u64).collect()
}

/// Single calls, each after caches were swept.
struct Swept {
    /// Of memory that was read before each.
    bytes: usize,
    /// Of the places that are spread evenly; of each the fastest call.
    times: Times,
    mean: f64,
    /// Nanoseconds of the longest call.
    max: u64,
    /// The slowest of all places, by the fastest of its calls.
    worst: (u64, [f64; 3]),
}

impl Swept {
    fn time(t: &Terrain, spread: &[[f64; 3]], slowest: &[(u64, [f64; 3])], clock: u64) -> Self {
        let bytes = sweep();
        let memory = vec![1u64; bytes / 8]; // not zeros: those need no memory
        let (start, mut max) = (Instant::now(), 0);
        let mut call = |place: [f64; 3]| {
            _ = black_box(black_box(&memory).iter().step_by(8).sum::<u64>()); // a word of each line
            _ = black_box((place, Instant::now())); // these are at hand
            let start = Instant::now();
            _ = black_box(t.closest(place));
            let ns = (start.elapsed().as_nanos() as u64).saturating_sub(clock);
            max = max.max(ns);
            ns
        };
        let mut calls: Vec<(u64, [f64; 3])> = Vec::new();
        for place in spread.iter().chain(slowest.iter().map(|(_, place)| place)) {
            if calls.is_empty() || start.elapsed() < SWEEPING {
                calls.push((call(*place), *place));
            }
        }
        let mut again = vec![false; calls.len()];
        while let Some(i) = (0..calls.len()).max_by_key(|&i| calls[i].0).filter(|&i| !again[i]) {
            let (ns, place) = &mut calls[i];
            (0..SWEPT_AGAIN).for_each(|_| *ns = call(*place).min(*ns));
            again[i] = true;
        }
        let mut times = Times::default();
        let even = &calls[..calls.len().min(spread.len())];
        even.iter().for_each(|(ns, _)| times.add(*ns));
        let mean = even.iter().map(|(ns, _)| *ns as f64).sum::<f64>() / even.len().max(1) as f64;
        let worst = calls.iter().copied().max_by_key(|(ns, _)| *ns).unwrap_or_default();
        Swept { bytes, times, mean, max, worst }
    }

    /// Of 100 places or more.
    fn p99(&self) -> Option<u64> {
        (self.times.calls >= 100).then(|| self.times.quantile(0.99))
    }

    fn facts(&self) -> Value {
        let (ns, place) = self.worst;
        json!({
            "places": self.times.calls, "bytes": self.bytes, "max": self.max, "worst": { "ns": ns, "at": place },
            "p99": self.p99(), "p50": self.times.quantile(0.5), "mean": self.mean,
        })
    }
}

/// What reading the clock twice takes, in nanoseconds: the median of many.
fn clock() -> u64 {
    let mut times = Times::default();
    (0..10_001).for_each(|_| times.add(Instant::now().elapsed().as_nanos() as u64));
    times.quantile(0.5)
}

/// Nanoseconds, counted: each of its own below 2,048, above to a 1,024th.
#[derive(Default)]
struct Times {
    counts: Vec<u64>,
    calls: u64,
}

impl Times {
    const FINE: u32 = 10;

    fn add(&mut self, ns: u64) {
        let shift = (ns | 1).ilog2().saturating_sub(Self::FINE);
        let slot = ((shift as usize) << Self::FINE) + (ns >> shift) as usize;
        if self.counts.len() <= slot {
            self.counts.resize(slot + 1, 0);
        }
        self.counts[slot] += 1;
        self.calls += 1;
    }

    /// The least time that a share of all calls do not exceed.
    fn quantile(&self, share: f64) -> u64 {
        let rank = (self.calls as f64 * share).ceil() as u64;
        let mut before = 0;
        let slot = self.counts.iter().position(|n| {
            before += n;
            before >= rank
        });
        let slot = slot.unwrap_or(0);
        let shift = (slot >> Self::FINE).saturating_sub(1);
        ((slot - (shift << Self::FINE)) as u64) << shift
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// From 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.share() * n as f64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let mut times = Times::default();
        (1..=1000).for_each(|ns| times.add(ns));
        assert_eq!([0.5, 0.99, 0.999, 1.0].map(|q| times.quantile(q)), [500, 990, 999, 1000]);
        for ns in [0, 2047, 2048, 2049, 123_456, 5_000_000_000, u64::MAX] {
            let mut one = Times::default();
            one.add(ns);
            let near = one.quantile(0.5);
            assert!(near <= ns && ns - near <= ns >> 10 && (ns > 2048 || near == ns), "{ns}: {near}");
        }
    }

    #[test]
    fn drawn_evenly() {
        let mut random = Random(1);
        let mut tenths = [0; 10];
        (0..100_000).for_each(|_| tenths[random.below(10)] += 1);
        assert!(tenths.iter().all(|n| (9_600..10_400).contains(n)), "{tenths:?}");
    }
}
