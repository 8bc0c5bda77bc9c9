//! `hardpan materials`: the materials of a source or an image, as a list or as a settings file to edit.

use std::{
    fs,
    io::Write,
    path::{Component, Path, PathBuf, absolute},
};

use crate::image::materials::{Listed, Materials};
use crate::import::formats;
use crate::options::Options;
use crate::settings::{Settings, SourceFile, mavs};
use crate::{check, import};
use hardpan::format::MAGIC;
use serde_json::{Value, json};

use super::{
    Done, Failure, Form, Kind, NewFile, Replace, counted, decimal,
    export::not_a_source,
    few, findings, grouped, has_bytes, is_nowhere, load, made_of, named, note, notes, quoted,
    report::Report,
    scene, shown, terrain,
    transform::{self, Transform},
    warn, width,
};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan materials town.obj --up y -o town.toml     write a first settings file; edit it; then:
  hardpan build town.obj --settings town.toml

The list has what covers most first; a settings file has materials by name, so that two of them can be compared.
No mesh states friction: in settings of one it stands behind #, in JSON not at all, and a build warns of ground whose mu
is not stated. Settings of an image state all, but for mu that nobody stated when it was built.")]
pub struct Args {
    #[arg(required = true, value_name = "FILE", help = format!("{} files, or one terrain image", formats::names()))]
    files: Vec<PathBuf>,
    /// Write a settings file here instead of a list, JSON as FILE.json, that of VehicleSim as FILE.vstu; "-" is stdout
    #[arg(short, long, value_name = "FILE.toml", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// Replace an output file that is there, or give settings the name of an image, a mesh and such
    #[arg(long)]
    force: bool,
    /// Print the list as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    transform: Transform,
    #[command(flatten)]
    heights: transform::Heights,
    #[command(flatten)]
    cell: transform::Cell,
    #[command(flatten)]
    scene: scene::Args,
}

impl Args {
    fn transform(&self) -> Transform {
        self.transform.with(&self.heights, Some(&self.cell))
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let output = args.output.as_deref();
    let file = output.filter(|o| *o != Path::new("-"));
    if let Some(file) = file {
        Replace::None.or_any(args.force).check_made(file, Kind::SETTINGS, &args.files)?;
    }
    let mut found = match &args.files[..] {
        [file] if is_image(file)? => of_image(file, output)?,
        [file] => match args.scene.read(file)? {
            Some(read) => of_scene(file, read, args)?,
            None => of_sources(&args.files, args)?,
        },
        files => of_sources(files, args)?,
    };
    if let Some(file) = file {
        return write_settings(&found, args, file);
    }
    if output.is_some() {
        return Ok(write!(out, "{}", settings_toml(&found, args, Path::new("FILE.toml")))?);
    }
    // stable: then by name
    found.listed.sort_by(|a, b| b.plan_area.total_cmp(&a.plan_area).then(b.patch_blocks.cmp(&a.patch_blocks)));
    if args.json {
        let all: Vec<Value> = found.listed.iter().map(|l| facts(l, found.of_sources)).collect();
        return Ok(writeln!(out, "{:#}", json!(all))?);
    }
    table(&found.listed, out)?;
    if found.of_sources {
        writeln!(out, "mu, rr and gain are those by default, until settings state others: no mesh states any")?;
    }
    let by_default = found.listed.iter().filter(|l| l.by_default).filter_map(|l| l.rule.name.as_ref());
    told_by_default(by_default).map_or(Ok(()), |text| Ok(writeln!(out, "{text}")?))
}

fn write_settings(found: &Materials, args: &Args, output: &Path) -> Done {
    let is_json = Form::of(output) == Some(Form::Json);
    let is_vstu = Kind::SETTINGS.end_of(output) == Some("vstu");
    let text = match (is_json, is_vstu) {
        (true, _) => format!("{:#}\n", without_null(json!(found.to_settings()))),
        (_, true) => found.to_settings().to_vstu(),
        _ => settings_toml(found, args, output),
    };
    NewFile::write(output, text.as_bytes())?.keep()?;
    if is_nowhere(output) {
        return Ok(());
    }
    let count = counted(found.listed.iter().filter(|l| l.stated.is_some()).count() as u64, "material");
    // that file names no sources
    let then = match (is_vstu, found.of_sources) {
        (true, true) => {
            let files: String = args.files.iter().map(|file| format!(" {}", quoted(file))).collect();
            format!("hardpan build{files}{} --settings {}", args.transform().typed(), quoted(output))
        }
        (true, false) => format!("hardpan build FILE --settings {}", quoted(output)),
        _ => again(found, output),
    };
    note(format!("{}: settings of {count}; edit, then: {then}", named(output)));
    if is_json {
        let all = "-o FILE.toml shows all keys, unstated ones behind #";
        note(format!("{}: JSON has no comments, and shows only what is stated; {all}", named(output)));
    }
    if is_vstu {
        let text = "it says Name, mu, rr and include alone; entries without \"mu\" or \"rr\" have those by default";
        note(format!("{}: {text}; -o FILE.toml has all else", named(output)));
    }
    Ok(())
}

/// The line that builds by these settings, whether they find their sources or not.
fn again(found: &Materials, place: &Path) -> String {
    let beside = |source: &SourceFile| place.with_file_name(&source.file).exists();
    let sources = &found.settings.sources;
    let known = found.of_sources || !sources.is_empty() && sources.iter().all(beside);
    format!("hardpan build{} --settings {}", if known { "" } else { " FILE" }, quoted(place))
}

fn settings_toml(found: &Materials, args: &Args, output: &Path) -> String {
    let names: Vec<String> = args.files.iter().map(|f| shown(&import::file_name(f))).collect();
    found.to_toml(&format!("# Settings for {}. Edit, then: {}", names.join(", "), again(found, output)))
}

/// Whether a file begins as an image does.
pub fn is_image(file: &Path) -> Done<bool> {
    has_bytes(file, 0, &MAGIC).map_err(|e| Failure::io(file, e))
}

fn of_sources(files: &[PathBuf], args: &Args) -> Done<Materials> {
    let sources: Vec<SourceFile> = files.iter().map(|_| args.transform().over(&SourceFile::default())).collect();
    let crs = args.transform().crs().cloned().unwrap_or_default();
    let each: Vec<_> = files.iter().map(PathBuf::as_path).zip(&sources).collect();
    let laid = Settings { crs: crs.clone(), ..Settings::default() };
    let (import, _) = import::read_sources(&each, &laid, &args.scene.budget())?;
    args.output.iter().try_for_each(|output| made_of(output, import.report.libraries()))?;
    notes(&import.report).iter().chain(&import.report.warnings()).for_each(note);
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    // known now, not when the settings are edited, which may say which of it is no ground
    let found = check::source(&import.scene, &import.frames, &import.triangles, &paths);
    let mut report = Report::default();
    let told = findings::tell(found, files.len(), &mut report);
    let typed: String = files.iter().map(|file| format!(" {}", quoted(file))).collect();
    report.print(&format!("hardpan check{typed}{}", args.transform().typed()));
    let crowded = || import::degenerate(&import, &Options::default(), paths.iter().copied());
    let stops = told.err().or_else(|| crowded().map(Failure::from));
    stops.into_iter().for_each(|why| warn(format!("a build will stop at this: {why}")));
    let named = files.iter().zip(sources).map(|(file, s)| SourceFile { file: from(file, args.output.as_deref()), ..s });
    let settings = Settings { sources: named.collect(), crs, ..Settings::default() };
    Ok(Materials::of_scene(&import.scene, settings))
}

/// A scene, which says how its files lie: all that it says goes into the settings.
fn of_scene(file: &Path, read: mavs::Read, args: &Args) -> Done<Materials> {
    let mut report = Report::default();
    report.scene(file, &read);
    let mut settings = read.settings;
    let each: Vec<(&Path, &SourceFile)> = read.files.iter().map(PathBuf::as_path).zip(&settings.sources).collect();
    let (import, _) = import::read_sources(&each, &settings, &args.scene.budget())?;
    args.output.iter().try_for_each(|output| made_of(output, import.report.libraries()))?;
    report.print(&format!("hardpan build {} --report FILE.json", quoted(file)));
    let output = args.output.as_deref();
    for (path, source) in read.files.iter().zip(&mut settings.sources) {
        source.file = from(path, output);
        let on = source.scatter.iter_mut().flat_map(|s| &mut s.on);
        on.for_each(|name| *name = from(Path::new(name), output));
    }
    Ok(Materials::of_scene(&import.scene, settings))
}

/// A file's name, as a settings file at `output` names it: the way there from its folder, so that both may be moved
/// together; or all of its path, if they have nothing but the root in common.
fn from(file: &Path, output: Option<&Path>) -> String {
    // where a path's folder is in truth: beyond a link, `..` leads elsewhere
    let folder = |path: &Path| fs::canonicalize(absolute(path).ok()?.parent()?).ok();
    let way = || {
        let (at, to, name) = (folder(output?)?, folder(file)?, file.file_name()?);
        let shared = at.components().zip(to.components()).take_while(|(a, b)| a == b).map(|(a, _)| a);
        let shared: PathBuf = shared.collect();
        shared.file_name()?;
        let (up, down) = (at.strip_prefix(&shared).ok()?, to.strip_prefix(&shared).ok()?);
        let up: PathBuf = up.components().map(|_| Component::ParentDir).collect();
        Some(up.join(down).join(name))
    };
    let file = way().or_else(|| absolute(file).ok()).unwrap_or_else(|| file.into());
    file.to_string_lossy().into_owned()
}

fn of_image(file: &Path, output: Option<&Path>) -> Done<Materials> {
    let image = load(file)?;
    let t = terrain(file, &image)?;
    output.map_or(Ok(()), |output| not_a_source(output, &t))?;
    Ok(Materials::of_image(&t))
}

/// One line on materials whose mu nobody stated.
pub fn told_by_default<'a>(names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let mut names: Vec<&String> = names.into_iter().collect();
    names.sort();
    let told = few(names.iter().map(|name| shown(&format!("{name:?}"))), names.len() as u64);
    (!names.is_empty()).then(|| format!("mu is not stated, so the default holds: {told}"))
}

fn table(listed: &[Listed], out: &mut impl Write) -> Done {
    let wide = width(listed.iter().map(|l| shown(l.rule.title())));
    writeln!(
        out,
        "{:<wide$} {:>11} {:>15} {:>7} {:>8} {:>8} {:>5}",
        "material", "triangles", "m2 in plan", "mu", "rr", "gain", "type"
    )?;
    for Listed { rule, triangles, plan_area, patch_blocks, .. } in listed {
        let number = |v: Option<f64>| decimal(v.unwrap_or_default());
        write!(
            out,
            "{:<wide$} {:>11} {plan_area:>15.1} {:>7} {:>8} {:>8} {:>5}",
            shown(rule.title()),
            grouped(*triangles),
            number(rule.mu),
            number(rule.rr),
            number(rule.gain),
            rule.surface_type.unwrap_or_default()
        )?;
        let fates = [(rule.include == Some(false), "  not included"), (rule.obstacle == Some(true), "  obstacle")];
        fates.iter().filter(|f| f.0).try_for_each(|f| write!(out, "{}", f.1))?;
        if *patch_blocks > 0 {
            write!(out, "  {} of heights", counted(*patch_blocks, "block"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// As JSON; of sources what is stated.
fn facts(l: &Listed, of_sources: bool) -> Value {
    let mut facts = json!(l);
    let rule = l.stated.as_ref().filter(|_| of_sources).unwrap_or(&l.rule);
    if let (Some(facts), Value::Object(rule)) = (facts.as_object_mut(), without_null(json!(rule))) {
        facts.extend(rule);
    }
    if l.by_default {
        facts["mu_by_default"] = true.into();
    }
    facts
}

/// Without the keys that have no value.
fn without_null(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(without_null).collect(),
        Value::Object(keys) => {
            keys.into_iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (key, without_null(v))).collect()
        }
        value => value,
    }
}
