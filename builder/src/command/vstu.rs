//! `hardpan vstu`: a command line of the VS Terrain Utility, translated into commands of hardpan that then run.

use std::{
    env,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::import;
use clap::{ArgGroup, FromArgMatches};

use super::{Cli, Done, Failure, build::settings_of, help, materials::is_image, warn};

/// Words of Table 1 of the manual describe each flag.
#[derive(clap::Args)]
#[command(
    group = ArgGroup::new("ground").args(["source", "merge"]),
    group = ArgGroup::new("made").args(["target", "merge"]),
    group = ArgGroup::new("work").args(["target", "debug", "queryfile"]).multiple(true),
    after_help = "\
One dash or two, in any order; -s, -t, -m and -d are short for -source, -target, -merge and -debug.
Files are known by what they hold. -queryfile points.csv writes points.csv_out.csv. Override comes before multiply.

Examples:
  hardpan vstu --source shape.fbx --target track.vsterrain
  hardpan vstu --source shape.fbx --target track.vsterrain -settings urbanStyle.vstu
  hardpan vstu --source shape.fbx --target track.vsterrain --debug trackDebug.obj
  hardpan vstu --merge merged.vsterrain t1.vsterrain \"t 2.vsterrain\" t3.vsterrain
  hardpan vstu --debug trackDebug.obj --source track.vsterrain
  hardpan vstu -source track.vsterrain -queryfile points.csv"
)]
pub struct Args {
    /// Specifies source file for a subsequent command.
    #[arg(long, value_name = "s", requires = "work")]
    source: Option<PathBuf>,
    /// Name of the terrain file to write using source data.
    #[arg(long, value_name = "t", requires = "source")]
    target: Option<PathBuf>,
    /// Merge a list of vs terrain files into one file. The first is that one
    #[arg(long, value_name = "m", num_args = 2..)]
    merge: Vec<PathBuf>,
    /// Multiply all terrain mu values by the multiplier mm
    #[arg(long, value_name = "mm", requires = "made", requires = "ground", allow_hyphen_values = true, value_parser = number)]
    mu_multiply: Option<f64>,
    /// Override all terrain mu values with the value [mo]
    #[arg(long, value_name = "mo", requires = "made", requires = "ground", allow_hyphen_values = true, value_parser = number)]
    mu_override: Option<f64>,
    /// Multiply all terrain rolling resistance values by the multiplier rrm
    #[arg(long, value_name = "rrm", requires = "made", requires = "ground", allow_hyphen_values = true, value_parser = number)]
    rr_multiply: Option<f64>,
    /// Override all terrain rolling resistance values with the value [rro]
    #[arg(long, value_name = "rro", requires = "made", requires = "ground", allow_hyphen_values = true, value_parser = number)]
    rr_override: Option<f64>,
    /// Specifies the name of a settings file: .vstu by default, but any valid JSON file is accepted.
    #[arg(long, value_name = "s", requires = "made", requires = "ground")]
    settings: Option<PathBuf>,
    /// Instructs the VSTU to take the input file [f] and perform custom queries.
    #[arg(long, value_name = "f", requires = "source", conflicts_with = "merge")]
    queryfile: Option<PathBuf>,
    /// Specifies an OBJ file with debug information to output for visual inspection.
    #[arg(long, value_name = "d", requires = "ground")]
    debug: Option<PathBuf>,
    /// Pause for [p] seconds at the end of the build.
    #[arg(long, value_name = "p", allow_hyphen_values = true, value_parser = seconds)]
    pause: Option<Duration>,
    /// Hardpan only: write what became of the mesh, as JSON.
    #[arg(long, value_name = "FILE", requires = "target")]
    report: Option<PathBuf>,
    /// Hardpan only: refuse input that is otherwise read with a warning.
    #[arg(long)]
    strict: bool,
    /// Hardpan only: replace files that are not Hardpan images.
    #[arg(long)]
    force: bool,
}

/// A number of 0 or more.
fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|v: &f64| *v >= 0.0 && v.is_finite());
    number.ok_or_else(|| "a number of 0 or more is taken".into())
}

fn seconds(text: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(text)?).map_err(|e| e.to_string())
}

/// The words of a command line: of this command each flag with two dashes and by its whole name.
pub fn dashed(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "vstu") {
        return words;
    }
    for word in &mut words[2..] {
        let Some(text) = word.to_str().filter(|text| text.parse::<f64>().is_err()) else { continue };
        let Some(name) = text.strip_prefix('-') else { continue };
        *word = match name.strip_prefix('-').unwrap_or(name) {
            "s" => "--source".into(),
            "t" => "--target".into(),
            "m" => "--merge".into(),
            "d" => "--debug".into(),
            "h" | "?" => "--help".into(),
            name => format!("--{name}").into(),
        };
    }
    words
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    for words in args.commands()? {
        native(words, out)?;
    }
    if let Some(pause) = args.pause.filter(|_| env::var_os("HARDPAN_NO_PAUSE").is_none_or(|v| v != "1")) {
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

impl Args {
    /// The commands of hardpan that do all this, in their order.
    fn commands(&self) -> Done<Vec<Vec<OsString>>> {
        let mut all = Vec::new();
        // a debug OBJ of an image; that of a mesh comes with its build
        let mut debug = self.debug.as_deref();
        let terrain = match (&self.source, &self.target) {
            (Some(source), Some(target)) => {
                let image = is_image(source)?;
                let mut words = self.making(if image { "rebuild" } else { "build" }, &[source], target)?;
                if let Some(place) = debug.take_if(|_| !image) {
                    words.insert(1, with("--debug", place));
                }
                if let Some(place) = &self.report {
                    if image {
                        let text = "a report is of a mesh that is built, and this is an image; leave -report out";
                        return Err(Failure::input(source, text));
                    }
                    words.insert(1, with("--report", place));
                }
                all.push(words);
                target
            }
            (Some(source), None) => {
                if !is_image(source)? {
                    import::check(source)?;
                    let text = "this is a mesh; name the terrain file to make of it as well: -target FILE";
                    return Err(Failure::input(source, text));
                }
                source
            }
            (None, _) if self.merge.is_empty() => {
                let text = "name what to work on: --source <s>, or --merge <m> <m>...; all flags: hardpan vstu --help";
                return Err(Failure::Input(text.into()));
            }
            (None, _) => {
                let files = self.merged()?;
                let [output, from @ ..] = &files[..] else { return Ok(all) };
                all.push(self.making("merge", from, output)?);
                *output
            }
        };
        if let Some(place) = debug {
            let words = ["export", "obj", "--cells", "--pins", "10"].map(OsString::from).into_iter();
            let files = [with("--output", place), "--".into(), terrain.into()];
            all.push(words.chain(self.forced()).chain(files).collect());
        }
        if let Some(points) = &self.queryfile {
            let mut output = points.clone().into_os_string();
            output.push("_out.csv");
            let words = ["query", "--measure"].map(OsString::from).into_iter();
            let files = [with("--csv", points), with("--output", Path::new(&output)), "--".into(), terrain.into()];
            all.push(words.chain(self.forced()).chain(files).collect());
        }
        Ok(all)
    }

    /// A command that makes one image of files, with settings and factors.
    fn making(&self, command: &str, from: &[&PathBuf], output: &Path) -> Done<Vec<OsString>> {
        let mut words = vec![command.into(), with("--output", output)];
        if let Some(file) = self.settings()? {
            words.push(with("--settings", &file));
        }
        for (name, v) in [
            ("mu-multiply", self.mu_multiply),
            ("mu-override", self.mu_override),
            ("rr-multiply", self.rr_multiply),
            ("rr-override", self.rr_override),
        ] {
            words.extend(v.map(|v| format!("--{name}={v}").into()));
        }
        words.extend(self.forced());
        words.push("--".into());
        words.extend(from.iter().map(|file| file.into()));
        Ok(words)
    }

    fn forced(&self) -> Option<OsString> {
        self.force.then(|| "--force".into())
    }

    /// The settings file: its name may lack `.vstu`.
    fn settings(&self) -> Done<Option<PathBuf>> {
        let Some(file) = &self.settings else { return Ok(None) };
        let whole = file.with_extension("vstu");
        let file = if file.extension().is_none() && !file.exists() && whole.exists() { &whole } else { file };
        if self.strict
            && let Some(first) = settings_of(file)?.1.first()
        {
            return Err(Failure::input(file, format!("{first}; and -strict refuses it")));
        }
        Ok(Some(file.clone()))
    }

    /// The files of a merge, without the `...` that stands for more of them in the manual.
    fn merged(&self) -> Done<Vec<&PathBuf>> {
        let (files, more): (Vec<_>, Vec<_>) =
            self.merge.iter().partition(|file| **file != Path::new("...") || file.exists());
        if !more.is_empty() {
            let text = "\"...\" is no file, and only says that more may be named";
            if self.strict {
                return Err(Failure::Input(format!("{text}; and -strict refuses it")));
            }
            warn(format!("{text}; it is passed over"));
        }
        Ok(files)
    }
}

/// An option and its value in one word, whatever the value begins with.
fn with(option: &str, value: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push("=");
    word.push(value);
    word
}
