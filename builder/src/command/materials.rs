//! `hardpan materials`: the materials of a source or an image, as a list or as a settings file to edit.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs,
    io::Write,
    path::{Component, Path, PathBuf, absolute},
};

use crate::{
    Material, Options, Scene, Settings, Split,
    again::{mu_by_default, settings_of, stated},
    check, import, read,
    settings::{MaterialRule, SourceFile},
};
use hardpan::{Terrain, format::MAGIC};
use serde_json::{Value, json};

use super::{
    Done, Failure, Form, Kind, NewFile, Replace, counted, decimal, export::not_a_source, few, findings, grouped,
    has_bytes, is_nowhere, load, made_of, named, note, notes, quoted, report::Report, shown, terrain,
    transform::Transform, warn, width,
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
    /// Wavefront OBJ or FBX files, or one terrain image
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write a settings file here instead of a list, JSON as FILE.json; "-" is stdout
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
}

/// A material and what lies on it.
struct Listed {
    rule: MaterialRule,
    /// What settings say of it; nothing if no entry does.
    stated: Option<MaterialRule>,
    triangles: u64,
    /// Square metres in plan.
    area: f64,
    /// Height blocks of 4 x 4 cells.
    blocks: u64,
}

/// What a file has to say.
struct Found {
    listed: Vec<Listed>,
    /// Sources and build options, where they are known; its materials do not count.
    settings: Option<Settings>,
    /// Whether it is of sources: they lie in folders, where an image knows only names, and state no friction.
    sources: bool,
    /// Names of an image's materials whose mu nobody stated.
    mu_by_default: HashSet<String>,
}

impl Found {
    /// Whether nobody stated the mu of an image's material.
    fn is_by_default(&self, rule: &MaterialRule) -> bool {
        rule.name.as_ref().is_some_and(|name| self.mu_by_default.contains(name))
    }

    /// What builds by settings that lie there, which find their sources, or do not.
    fn again(&self, place: &Path) -> String {
        let beside = |source: &SourceFile| place.with_file_name(&source.file).exists();
        let known = self.settings.as_ref().is_some_and(|s| !s.sources.is_empty() && s.sources.iter().all(beside));
        format!("hardpan build{} --settings {}", if self.sources || known { "" } else { " FILE" }, quoted(place))
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let stdout = |output: &Path| output == Path::new("-");
    if let Some(output) = args.output.as_ref().filter(|o| !stdout(o)) {
        Replace::None.or_any(args.force).check_made(output, Kind::SETTINGS, &args.files)?;
    }
    let mut found = match &args.files[..] {
        [file] if is_image(file)? => of_image(file, args.output.as_deref())?,
        files => of_sources(files, args)?,
    };
    match &args.output {
        Some(output) if stdout(output) => Ok(write!(out, "{}", settings_toml(&found, args, Path::new("FILE.toml")))?),
        Some(output) => {
            let text = match Form::of(output) {
                Some(Form::Json) => settings_json(&found),
                _ => settings_toml(&found, args, output),
            };
            NewFile::write(output, text.as_bytes())?.keep()?;
            let stated = found.listed.iter().filter(|l| l.stated.is_some());
            let count = counted(stated.count() as u64, "material");
            if is_nowhere(output) {
                return Ok(());
            }
            note(format!("{}: settings of {count}; edit, then: {}", named(output), found.again(output)));
            if Form::of(output) == Some(Form::Json) {
                let all = "-o FILE.toml shows all keys, those that nobody states behind #";
                note(format!("{}: JSON has no comments, and shows only what is stated; {all}", named(output)));
            }
            Ok(())
        }
        None => {
            found.listed.sort_by(|a, b| b.area.total_cmp(&a.area).then(b.blocks.cmp(&a.blocks))); // stable: then by name
            if args.json {
                let facts = |l: &Listed| {
                    let stated = l.stated.as_ref().filter(|_| found.sources);
                    let mut facts = facts(l, stated.unwrap_or(&l.rule));
                    if found.is_by_default(&l.rule) {
                        facts["mu_by_default"] = true.into();
                    }
                    facts
                };
                Ok(writeln!(out, "{:#}", json!(found.listed.iter().map(facts).collect::<Vec<_>>()))?)
            } else {
                table(&found.listed, out)?;
                if found.sources {
                    writeln!(
                        out,
                        "mu, rr and gain are those by default, until settings state others: no mesh states any"
                    )?;
                }
                if let Some(text) = told_by_default(found.mu_by_default.iter()) {
                    writeln!(out, "{text}")?;
                }
                Ok(())
            }
        }
    }
}

/// Whether a file begins as an image does.
pub fn is_image(file: &Path) -> Done<bool> {
    has_bytes(file, 0, &MAGIC).map_err(|e| Failure::io(file, e))
}

fn of_sources(files: &[PathBuf], args: &Args) -> Done<Found> {
    let sources: Vec<SourceFile> = files.iter().map(|_| args.transform.over(&SourceFile::default())).collect();
    let read: Vec<_> = files.iter().zip(&sources).map(|(file, s)| (file, s.frame())).collect();
    let import = import::read_all(&read)?;
    args.output.iter().try_for_each(|output| made_of(output, import.report.libraries()))?;
    notes(&import.report).iter().chain(&import.report.warnings()).for_each(note);
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    // known now, not when the settings are edited, which may say which of it is no ground
    let found = check::source(&import.scene, &import.frames, &import.triangles, &paths);
    let mut report = Report::default();
    let told = findings::tell(found, files.len(), &mut report);
    let typed: String = files.iter().map(|file| format!(" {}", quoted(file))).collect();
    report.print(&format!("hardpan check{typed}{}", args.transform.typed()));
    let crowded = || import::degenerate(&import, &Options::default(), paths.iter().copied());
    let stops = told.err().or_else(|| crowded().map(Failure::from));
    stops.into_iter().for_each(|why| warn(format!("a build will stop at this: {why}")));
    let named = files.iter().zip(sources).map(|(file, s)| SourceFile { file: from(file, args.output.as_deref()), ..s });
    let settings = Settings { sources: named.collect(), ..Settings::default() };
    let mu_by_default = HashSet::new(); // of those of an image
    Ok(Found { listed: of_scene(&import.scene), settings: Some(settings), sources: true, mu_by_default })
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

fn of_scene(scene: &Scene) -> Vec<Listed> {
    let unstated = |m: &Material| {
        let mut rule = MaterialRule::from(m);
        (rule.mu, rule.rr, rule.gain) = (None, None, None);
        Some(rule)
    };
    let mut listed: Vec<Listed> = scene.materials.iter().map(|m| listed(m.into(), unstated(m))).collect();
    for t in &scene.triangles {
        let [a, b, c] = t.v.map(|v| scene.positions[v as usize]);
        let area2 = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        let of = &mut listed[usize::from(t.material)];
        (of.triangles, of.area) = (of.triangles + 1, of.area + area2.abs() / 2.0);
    }
    listed.sort_by(|a, b| a.rule.name.cmp(&b.rule.name));
    listed
}

/// Of each material of an image how many triangles, and square metres in plan.
pub fn areas_in(t: &Terrain) -> Vec<(u64, f64)> {
    let square = 2f64.powi(2 * t.header().xy_log2);
    let mut all = vec![(0, 0.0); t.materials().len()];
    for s in read::triangles(t) {
        let (triangles, area) = &mut all[usize::from(s.material)];
        (*triangles, *area) = (*triangles + 1, *area + s.area2() as f64 / 2.0 * square);
    }
    all
}

fn listed(rule: MaterialRule, stated: Option<MaterialRule>) -> Listed {
    Listed { rule, stated, triangles: 0, area: 0.0, blocks: 0 }
}

fn of_image(file: &Path, output: Option<&Path>) -> Done<Found> {
    let image = load(file)?;
    let t = terrain(file, &image)?;
    output.map_or(Ok(()), |output| not_a_source(output, &t))?;
    let settings = settings_of(&t);
    let each = settings.materials.iter().cloned().zip(stated(&t, &settings)).zip(areas_in(&t));
    let mut all: Vec<Listed> =
        each.map(|((rule, stated), (triangles, area))| Listed { triangles, area, ..listed(rule, stated) }).collect();
    for tile in read::tiles(&t) {
        for p in tile.patches() {
            if let Some(a) = tile.palette().get(usize::from(p.attribute)) {
                all[usize::from(a.material)].blocks += p.block_count() as u64;
            }
        }
    }
    Ok(Found { listed: all, settings: Some(settings), sources: false, mu_by_default: mu_by_default(&t) })
}

/// One line on such materials.
pub fn told_by_default<'a>(names: impl ExactSizeIterator<Item = &'a String>) -> Option<String> {
    let mut names: Vec<&String> = names.collect();
    names.sort();
    let told = few(names.iter().map(|name| shown(&format!("{name:?}"))), names.len() as u64);
    (!names.is_empty()).then(|| format!("mu is that by default, which nobody stated, of {told}"))
}

fn table(listed: &[Listed], out: &mut impl Write) -> Done {
    let wide = width(listed.iter().map(|l| shown(l.rule.title())));
    writeln!(
        out,
        "{:<wide$} {:>11} {:>15} {:>7} {:>8} {:>8} {:>5}",
        "material", "triangles", "m2 in plan", "mu", "rr", "gain", "type"
    )?;
    for Listed { rule, triangles, area, blocks, .. } in listed {
        let number = |v: Option<f64>| decimal(v.unwrap_or_default());
        write!(
            out,
            "{:<wide$} {:>11} {area:>15.1} {:>7} {:>8} {:>8} {:>5}",
            shown(rule.title()),
            grouped(*triangles),
            number(rule.mu),
            number(rule.rr),
            number(rule.gain),
            rule.surface_type.unwrap_or_default()
        )?;
        let fates = [(rule.include == Some(false), "  not included"), (rule.obstacle == Some(true), "  obstacle")];
        fates.iter().filter(|f| f.0).try_for_each(|f| write!(out, "{}", f.1))?;
        if *blocks > 0 {
            write!(out, "  {} of heights", counted(*blocks, "block"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn facts(l: &Listed, rule: &MaterialRule) -> Value {
    let mut facts = json!({ "triangles": l.triangles, "plan_area": l.area, "patch_blocks": l.blocks });
    if let (Some(facts), Value::Object(rule)) = (facts.as_object_mut(), without_null(json!(rule))) {
        facts.extend(rule);
    }
    facts
}

/// The table of build options, under its name.
#[derive(serde::Serialize)]
struct Build<'a> {
    build: &'a Options,
}

/// A settings file with all that is known, and comments on what else can be said.
fn settings_toml(found: &Found, args: &Args, output: &Path) -> String {
    let names: Vec<String> = args.files.iter().map(|f| shown(&import::file_name(f))).collect();
    let mut text = format!("# Settings for {}. Edit, then: {}\n", names.join(", "), found.again(output));
    text += HELP;
    text += if found.sources { UNSTATED } else { "" };
    text += "\n";
    let known = found.settings.clone().unwrap_or_default();
    let _ = writeln!(text, "crs = {}", toml::Value::from(known.crs.as_str()));
    if let Some(tolerance) = known.patch_tolerance {
        let _ = writeln!(text, "patch_tolerance = {}", toml::Value::from(tolerance));
    }
    if let Some(allow) = Some(&known.allow).filter(|a| !a.is_empty()).and_then(|a| toml::Value::try_from(a).ok()) {
        let _ = writeln!(text, "allow = {allow}");
    }
    if let Some(raster) = known.raster.as_ref().and_then(|r| toml::Value::try_from(r).ok()) {
        let _ = writeln!(text, "raster = {raster}");
    }
    let comment = if known.build == Options::default() { "# " } else { "" };
    text +=
        "\n# Lattice steps as log2 of metres; weld and stitch in steps, stitch = false for none; windows in metres.\n";
    let options = toml::to_string(&Build { build: &known.build }).unwrap_or_default();
    options.lines().filter(|line| !line.is_empty()).for_each(|line| {
        let _ = writeln!(text, "{comment}{line}");
    });
    if known.build.split.is_none() {
        text += SPLIT;
        let rule = toml::to_string(&Split::DEFAULT).unwrap_or_default();
        rule.lines().for_each(|line| _ = writeln!(text, "# {line}"));
    }
    if !known.sources.is_empty() && !found.sources {
        text += "\n# The image knows no folders: these files are looked for beside this one, unless it says where they are, or you name\n\
                 # them when you build: hardpan build FILE ... --settings THIS.toml\n";
    }
    for source in &known.sources {
        let _ = write!(text, "\n[[source]]\n{}", toml::to_string(source).unwrap_or_default());
    }
    for rule in &known.rules {
        let _ = write!(text, "\n[[rule]]\n{}", toml::to_string(rule).unwrap_or_default());
    }
    if known.sources.is_empty() {
        text += "\n# [[source]]\n# file = \"FILE.obj\"\n";
    }
    for Listed { rule, stated, triangles, area, blocks } in &found.listed {
        let blocks = if *blocks > 0 { format!(", {} of heights", counted(*blocks, "block")) } else { String::new() };
        let _ = write!(text, "\n# {}, {area:.1} m2 in plan{blocks}\n", counted(*triangles, "triangle"));
        let Some(stated) = stated else {
            let entry = toml::to_string(&rule.brief()).unwrap_or_default();
            text += "# no entry fitted it; until one does it has what stands here behind #\n# [[material]]\n";
            entry.lines().for_each(|line| _ = writeln!(text, "# {line}"));
            continue;
        };
        let _ = write!(text, "[[material]]\n{}", toml::to_string(&stated.brief()).unwrap_or_default());
        if found.sources {
            let [mu, rr, gain] = [rule.mu, rule.rr, rule.gain].map(|v| toml::Value::from(v.unwrap_or_default()));
            let _ = write!(text, "# mu = {mu}  # by default, until stated\n# rr = {rr}\n# gain = {gain}\n");
        } else if let (None, Some(mu)) = (stated.mu, rule.mu) {
            let _ = writeln!(text, "# mu = {}  # by default, until stated", toml::Value::from(mu));
        }
    }
    text
}

/// The same in JSON, which has no comments: what nobody states is not there.
fn settings_json(found: &Found) -> String {
    let materials = found.listed.iter().filter_map(|l| Some(l.stated.as_ref()?.brief())).collect();
    let settings = Settings { materials, ..found.settings.clone().unwrap_or_default() };
    format!("{:#}\n", without_null(json!(settings)))
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

const HELP: &str = "\
# A material's first entry counts. Instead of name, pattern = \"Road*\" fits many (* any text, ? one character);
# name = \"\" fits all that nothing else fits. What an entry leaves out stays as the source has it.
# mu: friction; rr: rolling resistance, gain: factors; include = false leaves the faces out.
# [[rule]] says the same of the faces of an object or a file: object = \"*_LOD1\", file = \"ice.obj\" or material = \"Ice\" say which.
# optional = true: the name may be absent. Also: obstacle = true (wheels do not stand on it), undersides = \"ground\" (or auto, ceiling), classes = [0, 5], cone_index (PSI, of clay and sand 250 if not stated), label, priority.
";

/// Before [`Split::DEFAULT`], of settings that have no such rule.
const SPLIT: &str = "
# The rule of VS Terrain instead of Hardpan's own, as by --preset default: a square is divided on while more than bundle_size
# triangles meet it and it holds min_volume m3 or more. Each division beyond depth_tolerance adds bundle_increase triangles to
# the one, and volume_increase times min_volume to the other.
# [build.split]
";

const UNSTATED: &str = "\
# The source states no friction: mu, rr and gain stand here behind #, as they are by default. To state one, take the # away
# and write your number. A build warns of ground whose mu is not stated.
";
