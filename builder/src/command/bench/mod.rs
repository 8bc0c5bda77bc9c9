//! `hardpan bench`: queries timed, beside the bound that the image states.

mod found;
mod frames;
mod places;
mod random;
mod timing;

use std::{hint::black_box, io::Write, path::PathBuf};

use clap::ValueEnum;
use hardpan::{Answer, Cost, Cursor, Hit, Status, Terrain};
use serde_json::{Value, json};

use crate::names::hex;

use self::{
    found::Found,
    frames::along,
    places::{Places, SEED, area, worst},
    random::Random,
    timing::{COLD, EVICTION, Timing, clock},
};
use super::{Done, Failure, counted, grouped, info::cost_of, load, named, progress::steps, tables, terrain};
#[derive(clap::Args)]
#[command(after_help = HOW)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// How many queries
    #[arg(short = 'n', long = "queries", value_name = "N", default_value_t = 1_000_000, value_parser = queries)]
    queries: u64,
    /// Places: uniform in the extents, area of ground, or worst columns
    #[arg(long, value_enum, hide_possible_values = true, default_value_t = Plan::Uniform, conflicts_with = "along")]
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

const HOW: &str = "\
Every place is asked by single calls, by batches of 64 and with a cursor. The answers are compared, and the
cost is counted. The places are the same in every run. More: builder/docs/check-and-verify.md.

  max             the longest call; the machine may have done something else in it
  worst to p50    of each place the fastest of three calls: the slowest place, and quantiles
  cold            single calls, each after 128 MiB of other memory were read; all others are warm
  frame           of a drive of several wheels: their places of one time, each with its own cursor

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

/// What was asked, and how long it took.
struct Figures {
    plan: String,
    asked: u64,
    found: Found,
    timings: Vec<Timing>,
    frames: Option<Timing>,
    clock: u64,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let t = &terrain(&args.file, &image)?;
    let figures = measure(args, t)?;
    match args.json {
        true => writeln!(out, "{:#}", figures.facts(t))?,
        false => figures.table(&named(&args.file).to_string(), t, out)?,
    }
    let most = counts(&figures.found.most);
    match most.iter().zip(counts(&t.bound())).all(|(c, b)| *c <= b) {
        true => Ok(()),
        false => Err(Failure::check(
            &args.file,
            "a query cost more than the image states; look into it, and build it again: hardpan verify, hardpan build",
        )),
    }
}

fn measure(args: &Args, t: &Terrain) -> Done<Figures> {
    let mut frames = None;
    let mut places = match (&args.along, args.plan) {
        (Some(path), _) => {
            let (points, several) = along(t, path)?;
            frames = several;
            Places::Round(points, 0)
        }
        (None, Plan::Uniform) => Places::Uniform(t.bounds()),
        (None, Plan::Area) => area(t),
        (None, Plan::Worst) => Places::Round(worst(t, args.queries), 0),
    };
    let plan = match &args.along {
        Some(path) => format!("along {}", named(path)),
        None => args.plan.to_possible_value().map(|v| format!("plan {}", v.get_name())).unwrap_or_default(),
    };
    let (clock, mut found, mut asked) = (clock(), Found::default(), 0);
    let mut timings = ["single calls", "batches of 64", "cursor"].map(|name| Timing::new(name.into(), 1));
    let (mut random, mut points, mut cold) = (Random(SEED), Vec::new(), Vec::new());
    let progress = steps("timing", args.queries);
    while asked < args.queries {
        progress.set_position(asked);
        places.fill(t, (args.queries - asked).min(CHUNK) as usize, &mut random, &mut points).ok_or_else(|| {
            let text = "there is too little ground to meet any by chance; ask elsewhere: --plan worst, or --along";
            Failure::input(&args.file, text)
        })?;
        if asked == 0 {
            cold = points.iter().step_by(points.len().div_ceil(COLD)).copied().collect();
        }
        asked += points.len() as u64;
        found.check(t, &points).map_err(|text| Failure::check(&args.file, text))?;
        let [single, batch, cursor] = &mut timings;
        single.time(&points, 1, clock, |p| _ = black_box(t.closest(p[0])));
        let mut answers = [Answer { status: Status::NoGround, hit: Hit::NONE }; BATCH];
        batch.time(&points, BATCH, clock, |p| {
            t.closest_batch(p, &mut answers);
            _ = black_box(&answers);
        });
        let mut last = Cursor::new();
        cursor.time(&points, 1, clock, |p| _ = black_box(t.closest_cursor(p[0], &mut last)));
    }
    let frames = frames.map(|frames| frames.time(t, args.queries, clock));
    let timings = timings.into_iter().chain([Timing::cold(t, &cold, clock)]).collect();
    progress.finish_and_clear();
    Ok(Figures { plan, asked, found, timings, frames, clock })
}

impl Figures {
    fn facts(&self, t: &Terrain) -> Value {
        let found = &self.found;
        json!({
            "identity": hex(&t.identity()),
            "plan": self.plan.strip_prefix("plan ").unwrap_or(&self.plan),
            "queries": self.asked,
            "stated": cost_of(&t.bound()),
            "attained": cost_of(&found.most),
            "costliest": { "at": found.place, "cost": cost_of(&found.costliest) },
            "ns": self.timings.iter().map(Timing::facts).collect::<Vec<_>>(),
            "frames": self.frames.as_ref().map(Timing::facts),
            "evicted_bytes": EVICTION,
            "clock_ns": self.clock,
            "misses": found.misses(),
            "no_ground": found.no_ground,
            "not_in_image": found.not_in_image,
        })
    }

    fn table(&self, name: &str, t: &Terrain, out: &mut impl Write) -> Done {
        let Figures { plan, asked, found, timings, frames, clock } = self;
        writeln!(out, "{name}: {}, {plan}\n", counted(*asked, "query"))?;
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
        for timing in timings.iter().chain(frames) {
            let [p999, p99, p50] = [0.999, 0.99, 0.5].map(|q| timing.fastest.quantile(q));
            let ((mean, rate), max, worst) = (timing.mean(), timing.max(), timing.worst.0);
            let rate = grouped(rate as u64);
            writeln!(out, "{:20}{max:>9} {worst:>8} {p999:>8} {p99:>8} {p50:>8} {rate:>12} {mean:>8.1}", timing.name)?;
        }
        let [misses, no_ground, outside] = [found.misses(), found.no_ground, found.not_in_image].map(grouped);
        writeln!(out, "\nmisses   {misses} of {}: {no_ground} no ground, {outside} not in image", grouped(*asked))?;
        writeln!(out, "cold     after {} MiB of other memory were read, before each call", EVICTION >> 20)?;
        writeln!(out, "clock    {clock} ns a reading, taken off")?;
        Ok(())
    }
}

fn counts(c: &Cost) -> [u32; 4] {
    [c.nodes, c.leaves, c.tests, c.lines]
}
