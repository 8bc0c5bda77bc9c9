//! `hardpan verify`: what an image claims, proven from its bytes.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{
    Agreement, Check, Fault, Input, MatchedBy, Outcome, Provenance, Scene, Spot, SurfaceError, Verdict, Verify,
    import::{self, Frame, ImportError, file_name},
    settings::{Settings, SourceFile},
    source_error, verify,
};
use hardpan::{Terrain, format::section};
use serde_json::{Value, json};

use super::{
    Done, Failure, SETTINGS, Threads, bounded, counted, few, grouped, load, materials::is_image, named, note, quoted,
    shown, transform::Transform, unopened,
};

#[derive(clap::Args)]
#[command(mut_args(as_built), override_usage = "hardpan verify <FILE> [OPTIONS]")]
pub struct Args {
    /// Terrain image
    file: PathBuf,
    /// What is meant for --against
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

/// What is not typed of the transform comes from the image.
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
    let progress = Progress::new(image.len() as u64);
    let shown = |done: u64| progress.show(done);
    let options = Verify {
        exhaustive: args.exhaustive,
        no_seams: args.no_seams,
        progress: io::stderr().is_terminal().then_some(&shown as _),
    };
    let verdict = verify(&image, &options);
    progress.clear();
    let verdict = verdict.map_err(|e| unopened(&args.file, &image, e).checked())?;
    // of bytes that are not what they claim no error can be measured
    let terrain = match verdict.passed() {
        true => Some(Terrain::open(&image).map_err(|e| unopened(&args.file, &image, e).checked())?),
        false => None,
    };
    let scene = match (&terrain, &sources) {
        (Some(_), Some(sources)) => Some((read(args, sources)?, &sources.settings.build)),
        _ => None,
    };
    let agreement = terrain
        .as_ref()
        .zip(scene.as_ref())
        .map(|(terrain, (scene, build))| source_error(terrain, scene, build, args.samples as usize));
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
        let mut facts = facts(&verdict, verdict.passed() && measured);
        if let Some(agreement) = &agreement {
            facts["against"] = compared(agreement);
        }
        writeln!(out, "{facts:#}")?;
    } else {
        table(&verdict, &said, &named(&args.file), out)?;
        if let Some(agreement) = &agreement {
            comparison(agreement, &each(args.against.iter().map(|f| (named(f), ()))), out)?;
        }
    }
    if let Some(check) = verdict.failed() {
        let then = match check.name {
            _ if crowded => format!("nothing is known to be damaged; {}, and build again", clean()),
            // nor are they damage
            "seams" => format!(
                "mend the source there, or if it was built without stitching, build it with --stitch 4,64; to see them: hardpan export png {} --map holes",
                quoted(&args.file)
            ),
            _ => "copy the image again, or build it again: hardpan build FILE.obj".into(),
        };
        return Err(Failure::check(&args.file, format!("{}; {then}", first_fault(check))));
    }
    if let Some(agreement) = agreement.filter(|a| !a.holds()) {
        return Err(Failure::check(&args.file, beyond(&agreement)));
    }
    Ok(())
}

/// Where an image is off by more than it states: ground that was lost, that was gained, and that moved, each with its worst place, and
/// what is of another material.
fn beyond(a: &Agreement) -> String {
    let slit = a.slits.longest.map(|(at, long)| {
        let count = counted(a.slits.lost, "edge");
        format!("its ground ends at {count} inside the source's, the longest slit {} at {}", metres(long), place(&at))
    });
    if a.source.exceeded + a.image.exceeded == 0 {
        let kinds: Vec<String> = slit.into_iter().chain(materials(a)).collect();
        return format!("{}; is it this image's mesh, with the same settings?", kinds.join("; "));
    }
    let mut kinds = Vec::new();
    for (side, what) in [(&a.source, "lost"), (&a.image, "gained")] {
        if let Some(first) = side.farthest.first() {
            let (count, at) = (grouped(side.missing), place(&first.at));
            kinds.push(format!("ground was {what} at {count}, such as {at} with {}", height(first.height)));
        }
    }
    let above = |s: &&Spot| s.height - s.stated;
    let worst = [&a.source, &a.image].into_iter().filter_map(|side| side.worst.first()).filter(|s| s.exceeds());
    if let Some(worst) = worst.max_by(|p, q| above(p).total_cmp(&above(q))) {
        let count = grouped(a.source.moved() + a.image.moved());
        kinds.push(format!(
            "it is higher or lower at {count}, the worst {} with {}",
            place(&worst.at),
            height(worst.height)
        ));
    }
    kinds.extend(slit);
    kinds.extend(materials(a));
    format!(
        "its error is larger than it states at {}: {}; is it this image's mesh, with the same --up, --unit and --scale?",
        counted(a.source.exceeded + a.image.exceeded, "place"),
        kinds.join("; ")
    )
}

/// That triangles are of another material than the other surface: those of the image, then those of the source.
fn materials(a: &Agreement) -> Vec<String> {
    let sides = [(&a.image, "image", "source"), (&a.source, "source", "image")];
    let told = sides.into_iter().filter_map(|(side, here, there)| {
        let (at, own, other) = side.other.first.as_ref()?;
        let count = counted(side.other.triangles, "triangle");
        Some(format!(
            "of another material than the {there} has there: {count} of the {here}, such as that {}: {:?}, and {:?} in the {there}",
            place(at),
            bounded(own),
            bounded(other)
        ))
    });
    told.collect()
}

/// The files to measure against, each as the image says that it was placed, and the settings by which the image was built.
struct Sources<'a> {
    files: Vec<(&'a Path, SourceFile)>,
    settings: Settings,
}

/// Reads the files, with the materials as the image has them. What they lack of these shows where the image has it.
fn read(args: &Args, Sources { files, settings }: &Sources) -> Done<Scene> {
    let frames: Vec<(&Path, Frame)> = files.iter().map(|(file, said)| (*file, said.frame())).collect();
    let called: Vec<&str> = files.iter().map(|(_, said)| said.name.as_deref().unwrap_or_default()).collect();
    let mut import = import::read_called(&frames, &called)?;
    let mut settings = settings.clone();
    let may_be: Vec<bool> = settings.materials.iter().map(|rule| rule.optional == Some(true)).collect();
    settings.materials.iter_mut().for_each(|rule| rule.optional = Some(true));
    settings.rules.iter_mut().for_each(|rule| rule.optional = Some(true));
    let applied = settings.apply_files(&mut import, files.iter().map(|(_, said)| said));
    let applied = applied.map_err(|e| Failure::input(&args.against[0], e))?;
    let asked = settings.materials.iter().zip(may_be).filter(|(_, may)| !may);
    let absent: Vec<&str> =
        asked.map(|(rule, _)| rule.title()).filter(|name| applied.absent.iter().any(|a| a == name)).collect();
    if !absent.is_empty() {
        let names = few(absent.iter().map(|name| format!("{:?}", bounded(name))), absent.len() as u64);
        let from = each(settings.sources.iter().map(|s| (named(Path::new(&s.file)), ())));
        let against = each(files.iter().map(|(file, _)| (named(file), ())));
        note(format!(
            "not in {against}: materials of the image, {names}; is that the source? The image was built from {from}"
        ));
    }
    match import::degenerate(&import, &settings.build, files.iter().map(|(file, _)| *file)) {
        None => Ok(import.scene),
        Some(error) => {
            let hint = "it is too crowded to be compared with an image".into();
            Err(ImportError { hint, next: None, ..error }.into())
        }
    }
}

/// Places each file as the image says that it was, and tells what that rests on where it is not the very same file. None if
/// there are no files, or an image that cannot be opened.
fn sources<'a>(args: &'a Args, image: &[u8]) -> Done<Option<Sources<'a>>> {
    let given = args.against.iter().map(|path| {
        if is_image(path)? {
            let text = "this is a terrain image, and no mesh; to compare two images: hardpan diff FIRST SECOND";
            return Err(Failure::input(path, text));
        }
        import::check(path)?;
        let digest = File::open(path).and_then(|file| Input::digest(file_name(path), file));
        digest.map_err(|e| Failure::io(path, e))
    });
    let given: Vec<Input> = given.collect::<Done<_>>()?;
    let Some(terrain) = Terrain::open(image).ok().filter(|_| !given.is_empty()) else { return Ok(None) };
    let text = terrain.section(section::PROVENANCE).map(String::from_utf8_lossy).unwrap_or_default();
    let known = Provenance::parse(&text).unwrap_or_default();
    let found = known.recognise(&given);
    if known.inputs.is_empty() {
        note(format!("{} does not say what it was built from: files are placed as typed", named(&args.file)));
    }
    // one that was placed several times is named once
    let there = |i: usize| found.iter().flatten().any(|f| f.0 == i);
    let again = (0..).zip(&known.inputs).filter(|(i, _)| !there(*i)).filter_map(|(i, input)| {
        let which = given.iter().position(|g| g.sha256 == input.sha256)?;
        Some((which, Some((i, MatchedBy::Digest))))
    });
    let found: Vec<(usize, Option<(usize, MatchedBy)>)> = found.iter().copied().enumerate().chain(again).collect();
    all_named(args, &known, &given, &found)?;
    let mut files = Vec::new();
    for (which, found) in found {
        let path = &args.against[which];
        let recorded = found.map(|(i, _)| shown(&known.inputs[i].file)).unwrap_or_default();
        let here = named(path);
        match found {
            Some((_, MatchedBy::Digest)) => {}
            Some((_, MatchedBy::Name)) => {
                note(format!("{here} has changed since the image was built; it is placed as it was then"))
            }
            Some((_, MatchedBy::Order)) => {
                note(format!("{here} is taken for {recorded}, from which the image was built, and placed as that was"));
            }
            None => {}
        }
        let said = found.and_then(|(i, _)| known.settings.sources.get(i));
        files.push((path.as_path(), args.transform.over(said.unwrap_or(&SourceFile::default()))));
    }
    let mut settings = known.settings;
    if known.inputs.is_empty() {
        settings.materials.clear(); // they are those of no file
    }
    Ok(Some(Sources { files, settings }))
}

/// Stops unless each file that the image was built from is named once, and no other; an image may know of none.
fn all_named(args: &Args, known: &Provenance, given: &[Input], found: &[(usize, Option<(usize, MatchedBy)>)]) -> Done {
    if known.inputs.is_empty() {
        return Ok(());
    }
    let names = each(known.inputs.iter().map(|i| (shown(&i.file), &i.sha256)));
    for (i, found) in found {
        let path = &args.against[*i];
        let again = given[..*i].iter().any(|before| before.sha256 == given[*i].sha256);
        match found {
            Some((_, MatchedBy::Digest)) => {}
            _ if again => {
                let text = format!("this file is named twice; the image was built from {names}: name each once");
                return Err(Failure::input(path, text));
            }
            Some(_) => {}
            None => {
                let text = format!("the image was not built from this file; it was built from {names}: name each once");
                return Err(Failure::input(path, text));
            }
        }
    }
    let left = (0..).zip(&known.inputs).filter(|(i, _)| !found.iter().any(|(_, f)| f.is_some_and(|f| f.0 == *i)));
    let mut left: Vec<&Input> = left.map(|(_, input)| input).collect();
    if left.is_empty() {
        return Ok(());
    }
    let missing = each(left.iter().map(|i| (shown(&i.file), &i.sha256)));
    let mut met = HashSet::new();
    left.retain(|input| met.insert(&input.sha256));
    let left = left.into_iter().map(|input| Path::new(&input.file));
    let all: Vec<String> = args.against.iter().map(PathBuf::as_path).chain(left).map(quoted).collect();
    let text = format!(
        "it was built from {names}, and not named here: {}; name each: hardpan verify {} --against {}",
        missing,
        quoted(&args.file),
        all.join(" ")
    );
    Err(Failure::input(&args.file, text))
}

/// Names, each once of those that are alike in what goes with it, with how often it is there.
fn each<K: PartialEq>(all: impl Iterator<Item = (String, K)>) -> String {
    let mut times: Vec<((String, K), u64)> = Vec::new();
    for one in all {
        match times.iter_mut().find(|(before, _)| *before == one) {
            Some((_, n)) => *n += 1,
            None => times.push((one, 1)),
        }
    }
    let told = |((name, _), n): ((String, K), u64)| match n {
        1 => name,
        n => format!("{name} ({})", counted(n, "time")),
    };
    times.into_iter().map(told).collect::<Vec<_>>().join(", ")
}

fn place([x, y, z]: &[f64; 3]) -> String {
    format!("at ({x:.3}, {y:.3}, {z:.3})")
}

/// Metres to a tenth of a micrometre, or that there is no end to them.
fn metres(v: f64) -> String {
    if v.is_finite() { format!("{v:.7} m") } else { "no ground".into() }
}

/// An error in height, or that there is nothing to have one from.
fn height(v: f64) -> String {
    if v.is_finite() { format!("{} in height", metres(v)) } else { "nothing near in plan".into() }
}

/// A place of the list: what is wrong there, and how far away ground is at its height.
fn spot(s: &Spot) -> String {
    let stated = if s.height.is_finite() { format!(", {} stated", metres(s.stated)) } else { String::new() };
    let elsewhere = match s.plan {
        _ if !s.exceeds() => String::new(),
        plan if plan.is_finite() => format!("; ground at this height is within {} in plan", metres(plan)),
        _ => "; no ground at this height in the surroundings".into(),
    };
    format!("{}: {}{stated}{elsewhere}", place(&s.at), height(s.height))
}

fn comparison(a: &Agreement, source: &str, out: &mut impl Write) -> Done {
    writeln!(
        out,
        "\nagainst {source}: stated error {} in plan, {} in height",
        metres(a.stated[0]),
        metres(a.stated[1])
    )?;
    for (name, side, what) in [("from source", &a.source, "lost"), ("from image", &a.image, "gained")] {
        let [half, most, nearly] = side.quantiles.map(metres);
        let kinds = match side.exceeded {
            0 => String::new(),
            _ => format!(", {} of them {what} and {} higher or lower", grouped(side.missing), grouped(side.moved())),
        };
        writeln!(
            out,
            "{name:<12} {}, {} beyond the stated error{kinds}; the largest within it in plan: {}",
            counted(side.places, "place"),
            grouped(side.exceeded),
            height(side.height)
        )?;
        writeln!(out, "{:12} straight up or down, of the plan area: 50 % {half}, 99 % {most}, 99.9 % {nearly}", "")?;
        for s in &side.farthest {
            writeln!(out, "{:12} {what} {}", "", spot(s))?;
        }
        for s in side.worst.iter().enumerate().filter(|(i, s)| *i == 0 || s.exceeds()).map(|(_, s)| s) {
            writeln!(out, "{:12} worst {}", "", spot(s))?;
        }
    }
    if let Some((at, long)) = a.slits.longest {
        let count = counted(a.slits.lost, "edge");
        let longest = format!("the longest {} at {}", metres(long), place(&at));
        writeln!(out, "{:12} ground ends at {count} inside the source's: {longest}", "slits")?;
    }
    for told in materials(a) {
        writeln!(out, "{:12} {told}", "material")?;
    }
    for lost in a.lost.iter().filter(|l| l.triangles > 0) {
        let first = lost.first.map(|p| place(&p)).unwrap_or_default();
        let (count, area) = (grouped(lost.triangles), lost.plan_area);
        writeln!(out, "{:12} {count} {}, {area:.3} m2 in plan, the first {first}", "left out", lost.cause)?;
    }
    Ok(())
}

fn compared(a: &Agreement) -> Value {
    let spot = |s: &Spot| json!({ "at": s.at, "height": s.height, "stated": s.stated, "plan": s.plan });
    let side = |s: &SurfaceError| {
        json!({
            "places": s.places,
            "exceeded": s.exceeded,
            "missing": s.missing,
            "height": s.height,
            "p50": s.quantiles[0],
            "p99": s.quantiles[1],
            "p999": s.quantiles[2],
            "worst": s.worst.iter().map(spot).collect::<Vec<_>>(),
            "farthest": s.farthest.iter().map(spot).collect::<Vec<_>>(),
            "other_material": {
                "triangles": s.other.triangles,
                "first": s.other.first.as_ref().map(|(at, own, other)| json!({ "at": at, "own": own, "other": other })),
            },
        })
    };
    let lost = a
        .lost
        .iter()
        .map(|l| json!({ "cause": l.cause, "triangles": l.triangles, "plan_area": l.plan_area, "first": l.first }));
    json!({
        "holds": a.holds(),
        "stated": { "plan": a.stated[0], "height": a.stated[1] },
        "source": side(&a.source),
        "image": side(&a.image),
        "slits": {
            "ends": a.slits.ends,
            "lost": a.slits.lost,
            "longest": a.slits.longest.map(|(at, long)| json!({ "at": at, "length": long })),
        },
        "left_out": lost.collect::<Vec<_>>(),
    })
}

/// What to do where a mesh is too crowded for a proof.
pub fn clean() -> String {
    format!(
        "clean the mesh there, cut it into tiles, or leave the object out: include = false (instead of true) in its [[material]] of {SETTINGS}"
    )
}

/// Whether all that is wrong is that something lies too crowded to be proven.
pub fn unproven(verdict: &Verdict) -> bool {
    let failed = verdict.checks.iter().filter(|c| c.outcome == Outcome::Fail);
    let mut faults = failed.flat_map(|c| &c.faults.first).peekable();
    faults.peek().is_some() && faults.all(Fault::is_crowded)
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

/// `passed` is whether these hold and all else that was asked for.
fn facts(verdict: &Verdict, passed: bool) -> Value {
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
    json!({ "passed": passed, "checks": checks.collect::<Vec<_>>() })
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
