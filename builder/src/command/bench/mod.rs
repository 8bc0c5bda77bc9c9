//! `hardpan bench`: queries timed, beside the bound that the image states.

mod found;
mod places;
mod random;
mod swept;
mod ticks;
mod way;

use std::{hint::black_box, io::Write, path::PathBuf};

use clap::ValueEnum;
use hardpan::{Answer, Cost, Cursor, Hit, Status, Terrain};
use serde_json::json;

use crate::names::hex;

use self::{
    found::Found,
    places::{Places, SEED, area, worst},
    random::Random,
    swept::{Swept, spread_over},
    ticks::{TimedTicks, along},
    way::{Way, clock},
};
use super::{Done, Failure, counted, drive, grouped, info::cost_of, load, named, progress::steps, terrain};
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
own cursor, and all figures but queries/s are of all together. queries/s and mean are by the clock, whatever else the machine did.
Caches swept: before each call {} MiB of other memory are read, as where the ground is asked for once in a millisecond and much else
is done in between; places are called once, but the slowest four times",
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
