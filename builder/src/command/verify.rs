//! `hardpan verify`: what an image claims, proven from its bytes.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    sync::Mutex,
};

use hardpan_builder::{Check, Outcome, Verdict, Verify, verify};
use serde_json::{Value, json};

use super::{Done, Failure, grouped, load, unopened};

#[derive(clap::Args)]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// Ask the kernel at every vertex and at 255 places of every edge as well: slow
    #[arg(long)]
    exhaustive: bool,
    /// Fail if open edges leave a gap narrower than the stitch threshold, instead of noting it
    #[arg(long)]
    no_seams: bool,
    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let image = load(&args.file)?;
    let threads = rayon::ThreadPoolBuilder::new().num_threads(args.threads.unwrap_or(0).into()).build();
    let threads = threads.map_err(|e| Failure::Machine(format!("no threads to work with: {e}")))?;
    let progress = Progress::new(image.len() as u64);
    let shown = |done: u64| progress.show(done);
    let options = Verify {
        exhaustive: args.exhaustive,
        no_seams: args.no_seams,
        progress: io::stderr().is_terminal().then_some(&shown as _),
    };
    let verdict = threads.install(|| verify(&image, &options));
    progress.clear();
    let verdict = verdict.map_err(|e| unopened(&args.file, &image, e))?;
    if args.json {
        writeln!(out, "{:#}", facts(&verdict))?;
    } else {
        table(&verdict, &args.file.display().to_string(), out)?;
    }
    match verdict.failed() {
        None => Ok(()),
        Some(check) => Err(Failure::check(
            &args.file,
            format!("{}; copy the image again, or build it again: hardpan build FILE.obj", first_fault(check)),
        )),
    }
}

/// The first fault of a check, in one line.
pub fn first_fault(check: &Check) -> String {
    let more = match check.faults.count {
        0 | 1 => String::new(),
        n => format!(" ({} such)", grouped(n)),
    };
    let first = check.faults.first.first().map(said).unwrap_or_default();
    format!("{}: {first}{more}", check.name)
}

fn said(fault: &hardpan_builder::Fault) -> String {
    let tile = fault.tile.map(|t| format!("tile {t}")).unwrap_or_default();
    let at = fault.at.map(|[x, y]| format!("near ({x:.3}, {y:.3})")).unwrap_or_default();
    let place = [tile, at].into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ");
    if place.is_empty() { fault.what.clone() } else { format!("{place}: {}", fault.what) }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Note => "note",
        Outcome::Fail => "fail",
        Outcome::Skipped => "skipped",
    }
}

fn table(verdict: &Verdict, name: &str, out: &mut impl Write) -> Done {
    writeln!(out, "{name}: {}", if verdict.passed() { "every claim holds" } else { "not what it claims" })?;
    for c in &verdict.checks {
        let found = match c.faults.count {
            0 => String::new(),
            n => format!(": {} found", grouped(n)),
        };
        writeln!(out, "{:<10} {:<8} {}{found}", c.name, word(c.outcome), c.looked_at)?;
        for fault in &c.faults.first {
            writeln!(out, "{:19} {}", "", said(fault))?;
        }
    }
    Ok(())
}

fn facts(verdict: &Verdict) -> Value {
    let checks = verdict.checks.iter().map(|c| {
        let first = c.faults.first.iter().map(|f| json!({ "tile": f.tile, "at": f.at, "what": f.what }));
        json!({
            "name": c.name,
            "outcome": word(c.outcome),
            "looked_at": c.looked_at,
            "found": c.faults.count,
            "first": first.collect::<Vec<_>>(),
        })
    });
    json!({ "passed": verdict.passed(), "checks": checks.collect::<Vec<_>>() })
}

/// A line on stderr that says how far it is.
struct Progress {
    bytes: u64,
    percent: Mutex<u64>,
}

impl Progress {
    fn new(bytes: u64) -> Self {
        Progress { bytes: bytes.max(1), percent: Mutex::new(0) }
    }

    fn show(&self, done: u64) {
        let now = (done * 100 / self.bytes).min(100);
        let Ok(mut percent) = self.percent.lock() else { return };
        if now > *percent {
            *percent = now;
            let _ = write!(io::stderr(), "\rverifying: {now} %");
        }
    }

    fn clear(&self) {
        if self.percent.lock().is_ok_and(|p| *p > 0) {
            let _ = write!(io::stderr(), "\r{:20}\r", "");
        }
    }
}
