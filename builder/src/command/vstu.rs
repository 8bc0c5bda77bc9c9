//! `hardpan vstu`: a command line of the VS Terrain Utility, translated into commands of hardpan that then run.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{import, names::suggestion};
use clap::FromArgMatches;

use super::{Cli, Done, Failure, build::settings_of, help, materials::is_image, named, shown, warn};

/// Words that clap hands on as they were typed.
#[derive(clap::Args)]
#[command(disable_help_flag = true, override_help = told(), after_help = told())]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FLAGS", hide = true)]
    words: Vec<OsString>,
}

/// What a flag takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    Number,
    /// Names up to the next flag.
    Many,
}

/// A flag: what it is called, what it takes, and what it is for in the words of Table 1 of the manual.
struct Flag {
    names: &'static [&'static str],
    value: &'static str,
    takes: Takes,
    says: &'static str,
}

const fn flag(names: &'static [&'static str], value: &'static str, takes: Takes, says: &'static str) -> Flag {
    Flag { names, value, takes, says }
}

const SOURCE: &str = "source";
const TARGET: &str = "target";
const MERGE: &str = "merge";
const SETTINGS: &str = "settings";
const QUERYFILE: &str = "queryfile";
const DEBUG: &str = "debug";
const PAUSE: &str = "pause";
const HELP: &str = "help";
const STRICT: &str = "strict";
const FORCE: &str = "force";
const FACTORS: [&str; 4] = ["mu-multiply", "mu-override", "rr-multiply", "rr-override"];

const FLAGS: [Flag; 14] = [
    flag(&[SOURCE, "s"], "[s]", Takes::One, "Specifies source file for a subsequent command."),
    flag(&[TARGET, "t"], "[t]", Takes::One, "Name of the terrain file to write using source data."),
    flag(&[MERGE, "m"], "[m]", Takes::Many, "Merge a list of vs terrain files into one file."),
    flag(&[FACTORS[0]], "[mm]", Takes::Number, "Multiply all terrain mu values by the multiplier mm"),
    flag(&[FACTORS[1]], "[mo]", Takes::Number, "Override all terrain mu values with the value [mo]"),
    flag(&[FACTORS[2]], "[rrm]", Takes::Number, "Multiply all terrain rolling resistance values by the multiplier rrm"),
    flag(&[FACTORS[3]], "[rro]", Takes::Number, "Override all terrain rolling resistance values with the value [rro]"),
    flag(
        &[SETTINGS],
        "[s]",
        Takes::One,
        "Specifies the name of a settings file. The default file extension used is .vstu, but any valid JSON file is \
         accepted. This file is a JSON file containing build and material settings for the build.",
    ),
    flag(
        &[QUERYFILE],
        "[f]",
        Takes::One,
        "Instructs the VSTU to take the input file [f] and perform custom queries. A source terrain file must also be \
         specified with the -s parameter.",
    ),
    flag(
        &[DEBUG, "d"],
        "[d]",
        Takes::One,
        "Specifies an OBJ file with debug information to output for visual inspection.",
    ),
    flag(&[PAUSE], "[p]", Takes::Number, "Pause for [p] seconds at the end of the build."),
    flag(&[HELP, "h", "?"], "", Takes::Nothing, "Show help for command-line options."),
    flag(&[STRICT], "", Takes::Nothing, "Of hardpan: refuse what else is read with a warning."),
    flag(&[FORCE], "", Takes::Nothing, "Of hardpan: replace files that are no Hardpan images."),
];

/// What the command says about itself.
fn told() -> String {
    const LEFT: usize = 24;
    const WIDE: usize = 80;
    let mut text =
        String::from("Runs a command line of the VS Terrain Utility, as it is\n\nUsage: hardpan vstu [FLAGS]...\n\n");
    for Flag { names, value, says, .. } in &FLAGS {
        let name = if names[0] == HELP { "-?, -h, --help".into() } else { format!("-{} {value}", names[0]) };
        let mut line = format!("  {name:<0$}", LEFT - 2);
        for word in says.split(' ') {
            if line.len() + word.len() > LEFT + WIDE {
                text += line.trim_end();
                text.push('\n');
                line = " ".repeat(LEFT);
            }
            line += word;
            line.push(' ');
        }
        text += line.trim_end();
        text.push('\n');
    }
    text + "
One dash or two, in any order; -s, -t, -m and -d are short for -source, -target, -merge and -debug.
Files are known by what they hold. -queryfile points.csv writes points.csv_out.csv. Override comes before multiply.

Examples:
  hardpan vstu --source shape.fbx --target track.vsterrain
  hardpan vstu --source shape.fbx --target track.vsterrain -settings urbanStyle.vstu
  hardpan vstu --source shape.fbx --target track.vsterrain --debug trackDebug.obj
  hardpan vstu --merge merged.vsterrain t1.vsterrain \"t 2.vsterrain\" t3.vsterrain
  hardpan vstu --debug trackDebug.obj --source track.vsterrain
  hardpan vstu -source track.vsterrain -queryfile points.csv"
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let typed = Typed::of(&args.words)?;
    if typed.has(HELP) {
        return Ok(writeln!(out, "{}", told())?);
    }
    let pause = typed.pause()?;
    for words in typed.commands()? {
        native(words, out)?;
    }
    if let Some(pause) = pause.filter(|_| env::var_os("HARDPAN_NO_PAUSE").is_none_or(|v| v != "1")) {
        out.flush()?;
        thread::sleep(pause);
    }
    Ok(())
}

/// Runs a command of hardpan.
fn native(words: Vec<OsString>, out: &mut impl Write) -> Done {
    let words = [OsString::from("hardpan")].into_iter().chain(words);
    let typed = help::cli().try_get_matches_from(words);
    let cli = typed.and_then(|typed| Cli::from_arg_matches(&typed));
    let cli = cli.map_err(|e| Failure::Input(e.to_string().trim_start_matches("error: ").trim_end().into()))?;
    super::run(cli.command, out)
}

/// A command line, by its flags.
struct Typed<'a> {
    /// The first name of each flag, and what stands behind it.
    flags: Vec<(&'static str, Vec<&'a OsStr>)>,
}

/// What a word is called as a flag, if it looks like one.
fn flag_name(word: &OsStr) -> Option<&str> {
    let text = word.to_str()?.strip_prefix('-')?;
    let name = text.strip_prefix('-').unwrap_or(text);
    let number = word.to_str().is_some_and(|word| word.parse::<f64>().is_ok());
    (!name.is_empty() && !number).then_some(name)
}

fn known(name: &str) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.names.contains(&name))
}

impl<'a> Typed<'a> {
    fn of(words: &'a [OsString]) -> Done<Self> {
        let mut flags: Vec<(&'static str, Vec<&OsStr>)> = Vec::new();
        let mut words = words.iter().map(OsString::as_os_str).peekable();
        while let Some(word) = words.next() {
            let typed = shown(&word.to_string_lossy());
            let Some(name) = flag_name(word) else {
                let hint = "a file stands behind its flag, as in -source shape.fbx -target track.vsterrain";
                return Err(Failure::Input(format!("{typed} stands behind no flag that takes it; {hint}")));
            };
            let Some(Flag { names, takes, value, .. }) = known(name) else {
                let all = FLAGS.iter().map(|flag| flag.names[0]).filter(|name| ![STRICT, FORCE].contains(name));
                let near = suggestion(name, all).replace("mean \"", "mean \"-");
                return Err(Failure::Input(format!("there is no flag {typed}{near}; all of them: hardpan vstu -?")));
            };
            let name = names[0];
            if flags.iter().any(|(other, _)| *other == name) && name != HELP {
                return Err(Failure::Input(format!("-{name} stands here twice; leave one of them")));
            }
            let most = match takes {
                Takes::Nothing => 0,
                Takes::One | Takes::Number => 1,
                Takes::Many => usize::MAX,
            };
            let mut values = Vec::new();
            while values.len() < most
                && let Some(value) = words.next_if(|word| flag_name(word).is_none())
            {
                values.push(value);
            }
            if values.is_empty() && most > 0 {
                let hint = "a name that begins with a dash is written ./-NAME";
                return Err(Failure::Input(format!("-{name} lacks its value {value}; {hint}")));
            }
            flags.push((name, values));
        }
        Ok(Typed { flags })
    }

    fn values(&self, name: &str) -> Option<&[&'a OsStr]> {
        self.flags.iter().find(|(flag, _)| *flag == name).map(|(_, values)| &values[..])
    }

    fn has(&self, name: &str) -> bool {
        self.values(name).is_some()
    }

    fn file(&self, name: &str) -> Option<&'a Path> {
        self.values(name)?.first().map(|file| Path::new(*file))
    }

    /// A number of 0 or more.
    fn number(&self, name: &str) -> Done<Option<f64>> {
        let Some(text) = self.values(name).and_then(|values| values.first()) else { return Ok(None) };
        let number = text.to_str().and_then(|text| text.parse().ok()).filter(|v: &f64| *v >= 0.0 && v.is_finite());
        let wrong = || {
            Failure::Input(format!("-{name} takes a number of 0 or more, and not {}", shown(&text.to_string_lossy())))
        };
        number.map(Some).ok_or_else(wrong)
    }

    fn pause(&self) -> Done<Option<Duration>> {
        let seconds = self.number(PAUSE)?;
        seconds
            .map(|s| Duration::try_from_secs_f64(s).map_err(|_| Failure::Input(format!("-{PAUSE} {s} is too long"))))
            .transpose()
    }

    /// The commands of hardpan that do all this, in their order.
    fn commands(&self) -> Done<Vec<Vec<OsString>>> {
        let mut all = Vec::new();
        // a debug OBJ of an image; that of a mesh comes with its build
        let mut debug = self.file(DEBUG);
        let terrain = match (self.values(MERGE), self.file(SOURCE), self.file(TARGET)) {
            (Some(files), None, None) => {
                let files = self.merged(files)?;
                let [output, from @ ..] = &files[..] else { return Ok(all) };
                all.push(self.making(MERGE, from, output)?);
                if self.has(QUERYFILE) {
                    let text = format!("-{QUERYFILE} asks one terrain: type it by itself, with -{SOURCE}");
                    return Err(Failure::Input(text));
                }
                output.clone()
            }
            (Some(_), ..) => {
                let text =
                    format!("-{MERGE} names all its files itself, its output first; leave -{SOURCE} and -{TARGET} out");
                return Err(Failure::Input(text));
            }
            (None, None, _) => return Err(self.no_source()),
            (None, Some(source), Some(target)) => {
                let image = is_image(source)?;
                let mut words = self.making(if image { "rebuild" } else { "build" }, &[source.into()], target)?;
                if let (false, Some(place)) = (image, debug.take_if(|_| !image)) {
                    words.insert(1, with("--debug", place));
                }
                all.push(words);
                target.into()
            }
            (None, Some(source), None) => {
                if !is_image(source)? {
                    import::check(source)?;
                    let text = format!("this is a mesh; name the terrain file to make of it as well: -{TARGET} FILE");
                    return Err(Failure::input(source, text));
                }
                let of_build = [SETTINGS].into_iter().chain(FACTORS).find(|name| self.has(name));
                if let Some(name) = of_build {
                    let text = format!("-{name} is of a build; name the terrain file to write as well: -{TARGET} FILE");
                    return Err(Failure::Input(text));
                }
                if debug.is_none() && !self.has(QUERYFILE) {
                    let text = format!("nothing is to be done with it; add -{TARGET}, -{DEBUG} or -{QUERYFILE}");
                    return Err(Failure::input(source, text));
                }
                source.into()
            }
        };
        if let Some(place) = debug {
            let mut words: Vec<OsString> = ["export", "obj", "--cells", "--pins", "10"].map(Into::into).into();
            words.extend(self.forced());
            words.extend([with("--output", place), "--".into(), terrain.clone().into()]);
            all.push(words);
        }
        if let Some(points) = self.file(QUERYFILE) {
            let mut output = points.as_os_str().to_owned();
            output.push("_out.csv");
            let mut words: Vec<OsString> = ["query", "--measure"].map(Into::into).into();
            words.extend(self.forced());
            words.extend([with("--csv", points), with("--output", Path::new(&output)), "--".into(), terrain.into()]);
            all.push(words);
        }
        Ok(all)
    }

    /// A command that makes one image of files, with settings and factors.
    fn making(&self, command: &str, from: &[PathBuf], output: &Path) -> Done<Vec<OsString>> {
        let mut words = vec![command.into(), with("--output", output)];
        if let Some(file) = self.settings()? {
            words.push(with("--settings", &file));
        }
        for name in FACTORS {
            if let Some(v) = self.number(name)? {
                words.push(format!("--{name}={v}").into());
            }
        }
        words.extend(self.forced());
        words.push("--".into());
        words.extend(from.iter().map(|file| file.clone().into()));
        Ok(words)
    }

    fn forced(&self) -> Option<OsString> {
        self.has(FORCE).then(|| "--force".into())
    }

    /// The settings file: its name may lack `.vstu`.
    fn settings(&self) -> Done<Option<PathBuf>> {
        let Some(file) = self.file(SETTINGS) else { return Ok(None) };
        let whole = file.with_extension("vstu");
        let file = if file.extension().is_none() && !file.exists() && whole.exists() { whole } else { file.into() };
        if self.has(STRICT)
            && let Some(first) = settings_of(&file)?.1.first()
        {
            return Err(Failure::input(&file, format!("{first}; and -{STRICT} refuses it")));
        }
        Ok(Some(file))
    }

    /// The files of a merge, without the `...` that stands for more of them in the manual.
    fn merged(&self, files: &[&OsStr]) -> Done<Vec<PathBuf>> {
        let is_more = |file: &&&OsStr| **file == "..." && !Path::new(file).exists();
        if files.iter().any(|file| is_more(&file)) {
            let text = "\"...\" is no file, and only says that more may be named";
            if self.has(STRICT) {
                return Err(Failure::Input(format!("{text}; and -{STRICT} refuses it")));
            }
            warn(format!("{text}; it is passed over"));
        }
        let files: Vec<PathBuf> = files.iter().filter(|file| !is_more(file)).map(PathBuf::from).collect();
        match &files[..] {
            [] => Err(Failure::Input(format!("-{MERGE} lacks its files: first the output, then those to merge"))),
            [output] => {
                let text =
                    format!("-{MERGE} has its output {} alone; name the files to merge behind it", named(output));
                Err(Failure::Input(text))
            }
            _ => Ok(files),
        }
    }

    /// What to say where no source is named.
    fn no_source(&self) -> Failure {
        let of = |name: &&&str| self.has(name);
        let (what, hint) = match [QUERYFILE, TARGET, DEBUG, SETTINGS].iter().chain(&FACTORS).find(of) {
            Some(name @ &QUERYFILE) => (*name, "a terrain file"),
            Some(name @ &TARGET) => (*name, "the mesh, or the terrain file, to make it of"),
            Some(name @ &DEBUG) => (*name, "a terrain file, or a mesh and its -target"),
            Some(name) => (*name, "the mesh, or the terrain file, and its -target"),
            None => return Failure::Input("nothing is to be done; what there is: hardpan vstu -?".into()),
        };
        Failure::Input(format!("-{SOURCE} is missing: -{what} needs {hint}; add -{SOURCE} FILE"))
    }
}

/// An option and its value in one word, whatever the value begins with.
fn with(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push("=");
    word.push(value);
    word
}
