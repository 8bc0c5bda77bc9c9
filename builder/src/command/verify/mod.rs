//! `hardpan verify`: what an image claims, proven from its bytes.

mod against;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::report::{Finding, Hint, Severity};
use crate::verify::{Agreement, Check, Fault, Outcome, Verdict, Verify, verify};
use serde_json::{Value, json};

use self::against::{beyond, compared, comparison, measure, sources};
use super::{
    Done, Failure, SETTINGS, Threads, grouped, load, materials::is_image, named, progress::steps, quoted,
    transform::Transform, unopened,
};

#[derive(clap::Args)]
#[command(mut_args(as_built), override_usage = "hardpan verify <FILE> [OPTIONS]")]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// The file that --against needs
    #[arg(hide = true)]
    more: Vec<PathBuf>,
    /// Measure the error, and compare the materials, against the meshes that the image was made from
    #[arg(long, value_name = "MESH", num_args = 1..)]
    against: Vec<PathBuf>,
    #[command(flatten)]
    transform: Transform,
    /// Places spread over the plan at which --against measures
    #[arg(long, default_value_t = 200_000, value_name = "N", requires = "against")]
    samples: u32,
    /// Ask at every vertex and at 255 places of every edge as well: slow
    #[arg(long)]
    exhaustive: bool,
    /// Fail if open edges leave a gap narrower than the stitch threshold
    #[arg(long)]
    no_seams: bool,
    #[command(flatten)]
    pub threads: Threads,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
}

/// Parts of the transform that are not typed come from the image.
fn as_built(arg: clap::Arg) -> clap::Arg {
    if !["up", "unit", "scale", "rotate", "translate"].contains(&arg.get_id().as_str()) {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let arg = arg.requires("against");
    match help.split_once(" [default: ") {
        Some((what, _)) => arg.help(format!("{what} [default: as built]")),
        None => arg,
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    if let Some(second) = args.more.first() {
        let (image, second_name) = (quoted(&args.file), quoted(second));
        let text = match is_image(second)? {
            true => format!("one image at a time; to compare two: hardpan diff {image} {second_name}"),
            false => format!("to measure an image against its source: hardpan verify {image} --against {second_name}"),
        };
        return Err(Failure::input(second, text));
    }
    let image = load(&args.file)?;
    let sources = sources(args, &image)?; // a wrong name shows before the work
    let progress = steps("verifying", image.len() as u64);
    let shown = |done: u64| progress.set_position(done);
    let options = Verify { exhaustive: args.exhaustive, no_seams: args.no_seams, progress: Some(&shown) };
    let verdict = verify(&image, &options);
    progress.finish_and_clear();
    let verdict = verdict.map_err(|e| unopened(&args.file, &image, e).checked())?;
    // of bytes that are not what they claim no error can be measured
    let sources = sources.filter(|_| verdict.passed());
    let agreement = sources.map(|sources| measure(args, &image, &sources)).transpose()?;
    let measured = agreement.as_ref().is_none_or(Agreement::holds);
    let crowded = unproven(&verdict);
    let said = match verdict.passed() && measured {
        false if crowded => "no claim is known to be false, but one cannot be proven".into(),
        // no image claims to be free of them
        false if verdict.checks.iter().all(|c| c.outcome != Outcome::Fail || c.name == "seams") && measured => {
            "every claim holds, but --no-seams finds seams".into()
        }
        true => "every claim holds".into(),
        false => String::from("not what it claims"),
    };
    if args.json {
        let mut facts = facts(&verdict, verdict.passed() && measured, &args.file);
        if let Some(agreement) = &agreement {
            facts["against"] = compared(agreement);
        }
        writeln!(out, "{facts:#}")?;
    } else {
        table(&verdict, &said, &named(&args.file), out)?;
        if let Some(agreement) = &agreement {
            comparison(agreement, args, out)?;
        }
    }
    if let Some(check) = verdict.failed() {
        let then = mend(check.name, crowded, &args.file);
        return Err(Failure::check(&args.file, format!("{}; {then}", first_fault(check))));
    }
    if let Some(agreement) = agreement.filter(|a| !a.holds()) {
        return Err(Failure::check(&args.file, beyond(&agreement)));
    }
    Ok(())
}

/// Hints about faults that a check found.
fn mend(check: &str, crowded: bool, file: &Path) -> String {
    match check {
        _ if crowded => format!("nothing is known to be damaged; {}, and build again", clean()),
        // nor are they damage
        "seams" => format!(
            "mend the source there, or if it was built without stitching, build it with --stitch 4,64; to see them: hardpan export png {} --map holes",
            quoted(file)
        ),
        _ => "copy the image again, or build it again: hardpan build FILE.obj".into(),
    }
}

/// The hint for a mesh that is too crowded for a proof.
pub fn clean() -> String {
    format!(
        "clean the mesh there, cut it into tiles, or leave the object out: include = false (instead of true) in its [[material]] of {SETTINGS}"
    )
}

/// Whether all that is wrong is that something lies too crowded to be proven.
pub fn unproven(verdict: &Verdict) -> bool {
    let failed = verdict.checks.iter().filter(|c| c.outcome == Outcome::Fail);
    let mut faults = failed.flat_map(|c| &c.faults.first).peekable();
    faults.peek().is_some() && faults.all(|fault| fault.crowded)
}

/// The first fault of a check, in one line.
pub fn first_fault(check: &Check) -> String {
    let more = match check.faults.count {
        0 | 1 => String::new(),
        n => format!(" ({} faults)", grouped(n)),
    };
    let first = check.faults.first.first().map(said).unwrap_or_default();
    format!("{}: {first}{more}", check.name)
}

fn said(fault: &Fault) -> String {
    let tile = fault.tile.map(|t| format!("tile {t}")).unwrap_or_default();
    let at = fault.at.map(|[x, y]| format!("near ({x:.3}, {y:.3})")).unwrap_or_default();
    // some faults name their tile themselves
    let tile = if fault.what.starts_with(&tile) { String::new() } else { tile };
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

/// All checks, under a line that says how they ended.
fn table(verdict: &Verdict, end: &str, name: &str, out: &mut impl Write) -> Done {
    writeln!(out, "{name}: {end}")?;
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

/// A fault in the form of all findings.
fn finding(check: &Check, fault: &Fault, file: &Path) -> Finding<&'static str> {
    Finding {
        code: check.name,
        severity: if check.outcome == Outcome::Fail { Severity::Error } else { Severity::Note },
        subject: fault.tile.map(|tile| format!("tile {tile}")).unwrap_or_default(),
        place: fault.at.map(|[x, y]| [x, y, f64::NAN]),
        values: Vec::new(),
        text: fault.what.clone(),
        hint: Hint::Mend(mend(check.name, fault.crowded, file)),
    }
}

/// `passed` is whether these hold and all else that was asked for.
fn facts(verdict: &Verdict, passed: bool, file: &Path) -> Value {
    let checks = verdict.checks.iter().map(|c| {
        let findings: Vec<_> = c.faults.first.iter().map(|fault| finding(c, fault, file)).collect();
        json!({
            "name": c.name,
            "outcome": word(c.outcome),
            "looked_at": c.looked_at,
            "found": c.faults.count,
            "findings": findings,
        })
    });
    json!({ "passed": passed, "checks": checks.collect::<Vec<_>>() })
}
