//! An image against the meshes that it was built from: which these are, and how it differs.

use std::{
    collections::HashSet,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use crate::image::provenance::{Input, MatchedBy, Provenance};
use crate::import;
use crate::import::heights::as_triangles;
use crate::import::{ImportError, file_name};
use crate::scene::Scene;
use crate::settings::{Settings, SourceFile};
use crate::verify::{Agreement, Difference, Spot, SurfaceError, source_error};
use hardpan::{Terrain, format::section};
use serde_json::{Value, json};

use super::{
    super::{bounded, counted, few, note, shown},
    Args, Done, Failure, grouped, is_image, named, quoted, unopened,
};

/// Posts of files of heights that are compared at most: each becomes two triangles.
const MAX_POSTS: usize = 4_000_000;

/// The error of an image that is what it claims.
pub fn measure(args: &Args, image: &[u8], sources: &Sources) -> Done<Agreement> {
    let terrain = Terrain::open(image).map_err(|e| unopened(&args.file, image, e).checked())?;
    let (scene, has_heights) = read(args, sources)?;
    // between posts heights are no triangles
    let samples = if has_heights { 0 } else { args.samples as usize };
    Ok(source_error(&terrain, &scene, &sources.settings.build, samples))
}

/// Where an image is off by more than it states: ground that was lost, that was gained, and that moved, each with its
/// worst place, and what is of another material.
pub fn beyond(a: &Agreement) -> String {
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

/// The files to measure against, each as the image says that it was placed, and the settings by which the image was
/// built.
pub struct Sources<'a> {
    files: Vec<(&'a Path, SourceFile)>,
    settings: Settings,
}

/// Reads the files, with the materials as the image has them. What they lack of these shows where the image has it.
fn read(args: &Args, Sources { files, settings }: &Sources) -> Done<(Scene, bool)> {
    let placed: Vec<(&Path, &SourceFile)> = files.iter().map(|(file, said)| (*file, said)).collect();
    let (mut import, _) = import::read_sources(&placed, settings, &import::place::Budget::NONE)?;
    let mut settings = settings.clone();
    let may_be: Vec<bool> = settings.materials.iter().map(|rule| rule.optional == Some(true)).collect();
    settings.materials.iter_mut().for_each(|rule| rule.optional = Some(true));
    settings.rules.iter_mut().for_each(|rule| rule.optional = Some(true));
    let applied = import.apply(&settings, files.iter().map(|(_, said)| said));
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
        None => {
            let mut scene = import.scene;
            let posts: usize = scene.fields.iter().map(|f| f.heights.len()).sum();
            if posts > MAX_POSTS {
                let text = format!("{} posts of heights are more than can be compared", grouped(posts as u64));
                let hint =
                    format!("{} are the most: --against a part, and an image of that", grouped(MAX_POSTS as u64));
                return Err(Failure::unsupported(&args.against[0], format!("{text}; {hint}")));
            }
            as_triangles(&mut scene);
            Ok((scene, posts > 0))
        }
        Some(error) => {
            let hint = "it is too crowded to be compared with an image".into();
            Err(ImportError { hint, next: None, ..error }.into())
        }
    }
}

/// Places each file as the image says that it was, and tells what that rests on where it is not the very same file.
/// None if there are no files, or an image that cannot be opened.
pub fn sources<'a>(args: &'a Args, image: &[u8]) -> Done<Option<Sources<'a>>> {
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

pub fn comparison(a: &Agreement, args: &Args, out: &mut impl Write) -> Done {
    let source = each(args.against.iter().map(|f| (named(f), ())));
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
    for (name, of) in a.fields.iter().flat_map(|f| [("at posts", &f.posts), ("between", &f.between)]) {
        let [half, most, nearly] = of.quantiles.map(metres);
        let worst = of.worst.map(|(at, off)| format!(", the worst {} {}", metres(off), place(&at))).unwrap_or_default();
        let missing =
            if of.missing > 0 { format!(", {} of them no ground", grouped(of.missing)) } else { String::new() };
        let places = counted(of.count, "place");
        writeln!(out, "{name:<12} {places}{missing}{worst}; straight: 50 % {half}, 99 % {most}, 99.9 % {nearly}")?;
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

pub fn compared(a: &Agreement) -> Value {
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
    let field = |d: &Difference| {
        let worst = d.worst.map(|(at, height)| json!({ "at": at, "height": height }));
        let [p50, p99, p999] = d.quantiles;
        json!({ "count": d.count, "missing": d.missing, "p50": p50, "p99": p99, "p999": p999, "worst": worst })
    };
    json!({
        "holds": a.holds(),
        "stated": { "plan": a.stated[0], "height": a.stated[1] },
        "source": side(&a.source),
        "image": side(&a.image),
        "fields": a.fields.as_ref().map(|f| json!({ "posts": field(&f.posts), "between": field(&f.between) })),
        "slits": {
            "ends": a.slits.ends,
            "lost": a.slits.lost,
            "longest": a.slits.longest.map(|(at, long)| json!({ "at": at, "length": long })),
        },
        "left_out": lost.collect::<Vec<_>>(),
    })
}
