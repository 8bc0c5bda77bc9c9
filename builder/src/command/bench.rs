//! `hardpan bench`: queries timed, beside the bound that the image states.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::ValueEnum;
use hardpan::{Cost, Terrain};
use serde_json::{Value, json};

use crate::bench;
use crate::bench::reach::{self, Reached};
use crate::bench::{EVICTION, Fault, Figures, Frames, Timing};
use crate::query::table::Tally;
use crate::util::text::hex;

use super::{Done, Failure, counted, grouped, load, named, note, progress::steps, tables, terrain};

#[derive(clap::Args)]
#[command(after_help = HOW)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// How many queries
    #[arg(short = 'n', long = "queries", value_name = "N", default_value_t = 1_000_000, value_parser = queries)]
    queries: u64,
    /// Places: uniform, area, worst columns; or costs of rays or tyre
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
    let number = text.parse().ok().filter(|n| (1..=MAX_QUERIES).contains(n));
    number.ok_or_else(|| format!("a whole number from 1 to {} without commas", grouped(MAX_QUERIES)))
}

const HOW: &str = "\
Every place is asked by single calls, by batches of 64 and with a cursor. The answers are compared, and the
cost is counted. The places are the same in every run. More: builder/docs/check-and-verify.md.

  max             the longest call; the machine may have done something else in it
  worst to p50    the slowest place, and quantiles of places, each by the fastest of three calls
  cold            single calls, each after reading 128 MiB of other memory; all others are warm
  frame           all wheels of a drive at one time, each with its own cursor

  hardpan bench track.hpan -n 5000000
  hardpan bench track.hpan --plan worst
  hardpan bench track.hpan --plan rays
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
    /// Rays of each stated length, counted and not timed
    Rays,
    /// Contacts of a tyre, counted and not timed
    Tyre,
}

/// Most queries: days of work.
const MAX_QUERIES: u64 = 1_000_000_000_000;

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let t = &terrain(&args.file, &image)?;
    if args.along.is_none() && [Plan::Rays, Plan::Tyre].contains(&args.plan) {
        return reach(args, t, out);
    }
    let (name, plan) = match (&args.along, args.plan) {
        (Some(path), _) => (format!("along {}", named(path)), along(t, path)?),
        (None, Plan::Uniform) => ("uniform".into(), bench::Plan::Uniform),
        (None, Plan::Area) => ("area".into(), bench::Plan::Area),
        (None, Plan::Rays | Plan::Tyre | Plan::Worst) => ("worst".into(), bench::Plan::Worst),
    };
    let progress = steps("timing", args.queries);
    let figures = Figures::measure(t, plan, args.queries, |asked| progress.set_position(asked));
    progress.finish_and_clear();
    let figures = figures.map_err(|fault| match fault {
        Fault::NoGround => {
            let text = "there is too little ground to meet any by chance; ask elsewhere: --plan worst, or --along";
            Failure::input(&args.file, text)
        }
        Fault::Differ(p) => {
            Failure::check(&args.file, format!("the ways of asking differ at {p:?}; please report this"))
        }
    })?;
    match args.json {
        true => writeln!(out, "{:#}", facts(&figures, &name, t))?,
        false => {
            let plan = if args.along.is_some() { name } else { format!("plan {name}") };
            writeln!(out, "{}: {}, {plan}\n", named(&args.file), counted(figures.asked, "query"))?;
            table(&figures, t, out)?;
        }
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

/// What rays or contacts cost, beside what is stated.
fn reach(args: &Args, t: &Terrain, out: &mut impl Write) -> Done {
    let progress = steps("asking", args.queries);
    let seen = |asked| progress.set_position(asked);
    let (name, all) = match args.plan {
        Plan::Rays => ("rays", reach::rays(t, args.queries, seen)),
        _ => ("tyre", reach::tyres(t, args.queries, seen)),
    };
    progress.finish_and_clear();
    if args.json {
        let cost = |c: &Cost| json!({ "nodes": c.nodes, "leaves": c.leaves, "tests": c.tests, "lines": c.lines });
        let facts = |r: &Reached| {
            let stated = r.stated.as_ref().map(cost);
            json!({ "name": r.name, "asked": r.asked, "stated": stated, "found": cost(&r.found), "at": r.place })
        };
        let all: Vec<Value> = all.iter().map(facts).collect();
        writeln!(out, "{:#}", json!({ "identity": hex(&t.identity()), "plan": name, "reached": all }))?;
    } else {
        let asked = all.iter().map(|r| r.asked).sum::<u64>();
        writeln!(out, "{}: {}, plan {name}\n", named(&args.file), counted(asked, "ask"))?;
        writeln!(out, "{:18}{:>10} {:>8} {:>8} {:>8} {:>8}", "", "", "nodes", "leaves", "tests", "lines")?;
        for r in &all {
            let [x, y, z] = r.place;
            let c = reach::counts(&r.found);
            let stated = r.stated.as_ref().map(reach::counts);
            let most = match stated {
                Some([a, b, c, d]) => format!("{a:>8} {b:>8} {c:>8} {d:>8}"),
                None => "not in this image".into(),
            };
            writeln!(out, "{:18}{:>10} {most}", r.name, "stated")?;
            let place = format!("most tests from ({x:.3}, {y:.3}, {z:.3})");
            writeln!(out, "{:18}{:>10} {:>8} {:>8} {:>8} {:>8}  {place}", "", "found", c[0], c[1], c[2], c[3])?;
            if let Some(stated) = stated {
                let [a, b, c, d] = [0, 1, 2, 3].map(|i| f64::from(stated[i]) / f64::from(c[i].max(1)));
                writeln!(out, "{:18}{:>10} {a:>8.2} {b:>8.2} {c:>8.2} {d:>8.2}", "", "ratio")?;
            }
        }
    }
    match all.iter().find(|r| !r.holds()) {
        None => Ok(()),
        Some(r) => {
            let text =
                "cost more than the image states; look into it, and build it again: hardpan verify, hardpan build";
            Err(Failure::check(&args.file, format!("{}: {text}", r.name)))
        }
    }
}

/// The places of a drive, wheel by wheel, and of several wheels the frames; where it has no height, on the highest
/// ground.
fn along(t: &Terrain, path: &Path) -> Done<bench::Plan> {
    let [low, high] = t.bounds();
    let z = |x: f64, y: f64| {
        let answer = t.segment_m([x, y, high[2] + 1.0], high[2] - low[2] + 2.0);
        if answer.found() { t.z_f64(&answer.hit) } else { high[2] }
    };
    let drive = tables::drive(path)?;
    let mut odd = Tally::default();
    drive.stops.iter().for_each(|s| odd.count(tables::is_odd(&[s.t, Some(s.x), Some(s.y), s.z]), s.line));
    let place = |i: usize| {
        let s = &drive.stops[i];
        [s.x, s.y, s.z.unwrap_or_else(|| z(s.x, s.y))]
    };
    let (wheels, together) = (drive.wheels.len(), drive.ticks());
    let told = [tables::odd(odd), tables::lacking(&drive.heights), tables::apart(&drive, &together)];
    told.into_iter().flatten().for_each(|text| note(format!("{}: {text}", named(path))));
    let frames = Frames { wheels, points: together.into_iter().map(place).collect() };
    // a cursor goes with a wheel
    let mut order: Vec<usize> = (0..drive.stops.len()).collect();
    order.sort_by_key(|i| drive.stops[*i].wheel);
    let points = order.into_iter().map(place).collect();
    Ok(bench::Plan::Along(points, Some(frames).filter(|frames| !frames.points.is_empty())))
}

fn facts(figures: &Figures, plan: &str, t: &Terrain) -> Value {
    let Figures { asked, found, timings, frames, clock } = figures;
    let cost = |c: &Cost| json!({ "nodes": c.nodes, "leaves": c.leaves, "tests": c.tests, "lines": c.lines });
    json!({
        "identity": hex(&t.identity()),
        "plan": plan,
        "queries": asked,
        "stated": cost(&t.bound()),
        "attained": cost(&found.most),
        "costliest": { "at": found.place, "cost": cost(&found.costliest) },
        "ns": timings.iter().map(times).collect::<Vec<_>>(),
        "frames": frames.as_ref().map(times),
        "evicted_bytes": EVICTION,
        "clock_ns": clock,
        "misses": found.misses(),
        "no_ground": found.no_ground,
        "not_in_image": found.not_in_image,
    })
}

fn times(timing: &Timing) -> Value {
    let (mean, rate) = timing.mean();
    let [p999, p99, p50] = [0.999, 0.99, 0.5].map(|q| timing.fastest.quantile(q));
    let worst = match timing.worst {
        (ns, [low, high]) if low == high => json!({ "ns": ns, "at": low }),
        (ns, ends) => json!({ "ns": ns, "within": ends }),
    };
    json!({
        "name": timing.name, "count": timing.count, "max": timing.max(), "worst": worst, "p999": p999, "p99": p99,
        "p50": p50, "mean": mean, "queries_per_second": rate,
    })
}

fn table(figures: &Figures, t: &Terrain, out: &mut impl Write) -> Done {
    let Figures { asked, found, timings, frames, clock } = figures;
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

fn counts(c: &Cost) -> [u32; 4] {
    [c.nodes, c.leaves, c.tests, c.lines]
}
