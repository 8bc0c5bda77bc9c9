//! Help of the command: grouped help, manual pages.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{
    Arg, ArgAction, Command, CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};
use clap_mangen::Man;

use super::{
    Cli, Done, Failure, NewFile, Replace, failed, make_folder,
    materials::is_image,
    named, quoted,
    stdout::{closed, was_closed},
};

/// Commands by what they are for. Those that no group names stand under Other.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Make", &["build", "merge", "rebuild", "materials", "grid", "flash", "vstu"]),
    ("Look", &["info", "query", "sensor", "export", "inspect"]),
    ("Check", &["check", "verify", "diff", "bench", "replay"]),
];

/// Options of `build` by what they are for: those that its help shows, and those that only its manual page shows.
const BUILD: [(&str, &[&str], &[&str]); 6] = [
    (
        "Input",
        &["files", "settings", "up", "unit", "scale", "rotate", "translate", "allow"],
        &["mu_override", "mu_multiply", "rr_override", "rr_multiply"],
    ),
    ("Heights", &[], &["cell", "crs", "file_crs", "first_row", "height_scale", "height_zero", "no_data", "window"]),
    (
        "Scenes",
        &[],
        &[
            "mesh_dir",
            "data_dir",
            "seed",
            "angles",
            "objects",
            "trails",
            "keep_mesh",
            "animations",
            "max_triangles",
            "memory",
        ],
    ),
    (
        "Repair",
        &["weld", "stitch", "max_slope", "undersides"],
        &["precedence", "precedence_band", "origin", "drop_outliers"],
    ),
    ("Division", &["tile", "preset", "max_cost", "rays", "raster"], &["fit", "max_error", "bounds", "raster_material"]),
    ("Output", &["output", "report", "json", "strict", "force", "help"], &["debug", "progress", "backend", "threads"]),
];

/// Options, most of them of heights, which help of other commands leaves to their manual page.
const HEIGHTS: [(&str, &[&str]); 3] = [
    ("check", &["cell", "crs", "file_crs", "first_row", "height_scale", "height_zero", "no_data", "window"]),
    ("materials", &["cell", "crs", "file_crs", "first_row", "height_scale", "height_zero", "no_data", "window"]),
    ("grid", &["raster_material", "crs", "file_crs", "first_row", "height_scale", "height_zero", "no_data", "window"]),
];

/// Gives the options of `build` their titles, and one order for help and manual page.
fn titled(build: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).help("Print help");
    let build = build.disable_help_flag(true).arg(help);
    let each = BUILD.iter().flat_map(|(title, shown, more)| shown.iter().chain(*more).map(move |name| (*title, *name)));
    each.enumerate().fold(build, |build, (place, (title, name))| {
        build.mut_arg(name, |arg| arg.help_heading(title).display_order(place).hide(false))
    })
}

/// The command line as it is typed: help fits one screen.
pub fn cli() -> Command {
    whole().mut_subcommands(|c| {
        let own: Vec<&str> = match c.get_name() {
            "build" => BUILD.iter().flat_map(|(_, _, more)| *more).copied().collect(),
            other => HEIGHTS.iter().filter(|(name, _)| *name == other).flat_map(|(_, own)| *own).copied().collect(),
        };
        own.into_iter().fold(c, |c, name| c.mut_arg(name, |arg| arg.hide(true)))
    })
}

/// The command line with all options, for manual pages and completions.
pub fn whole() -> Command {
    let cli = Cli::command().mut_subcommands(|c| if c.get_name() == "build" { titled(c) } else { c });
    let (head, name) = (*cli.get_styles().get_header(), *cli.get_styles().get_literal());
    let other = |c: &&Command| !GROUPS.iter().any(|(_, names)| names.contains(&c.get_name()));
    let mut list = String::new();
    let mut group = |title: &str, commands: Vec<&Command>| {
        list += &format!("{head}{title}:{head:#}\n");
        for c in commands.iter().filter(|c| !c.is_hide_set()) {
            list += &format!(
                "  {name}{:<12}{name:#} {}\n",
                c.get_name(),
                c.get_about().map(ToString::to_string).unwrap_or_default()
            );
        }
        list += "\n";
    };
    for (title, names) in GROUPS {
        group(title, names.iter().filter_map(|n| cli.find_subcommand(n)).collect());
    }
    group("Other", cli.get_subcommands().filter(other).collect());
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{head}Options:{head:#}\n{{options}}{{after-help}}"
    );
    cli.help_template(template)
}

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan man | man -l -
  hardpan man query | man -l -
  hardpan man export png | man -l -
  hardpan man -o ~/.local/share/man/man1")]
pub struct Manual {
    /// Command whose page is printed [default: the page of all]
    #[arg(conflicts_with = "output")]
    command: Vec<String>,
    /// Write the pages of all commands into this folder [default: one page to stdout]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Replace files that are no manual pages
    #[arg(long, requires = "output", conflicts_with = "command")]
    force: bool,
}

/// How a page begins.
const PAGE: &[u8] = b".ie ";

pub fn manual(args: &Manual, out: &mut impl Write) -> Done {
    let mut cli = whole();
    cli.build();
    let page = |c: &Command| -> Done<Vec<u8>> {
        // none speaks of a page that is not written
        let unwritten: Vec<String> =
            c.get_subcommands().filter(|c| !has_page(c)).map(|c| c.get_name().into()).collect();
        let c = unwritten.iter().fold(c.clone(), |c, name| c.mut_subcommand(name, |c| c.hide(true)));
        let mut text = Vec::new();
        Man::new(c).render(&mut text)?;
        Ok(text)
    };
    let Some(folder) = &args.output else {
        let mut command = &cli;
        for name in &args.command {
            command = command.find_subcommand(name).ok_or_else(|| {
                let names: Vec<&str> =
                    command.get_subcommands().filter(|c| has_page(c)).map(Command::get_name).collect();
                let of = if command.has_subcommands() {
                    format!("; commands are {}", names.join(", "))
                } else {
                    String::new()
                };
                Failure::Input(format!("there is no command {}{of}", quoted(Path::new(name))))
            })?;
        }
        return Ok(out.write_all(&page(command)?)?);
    };
    make_folder(folder, "name a folder with -o")?;
    for command in pages(&cli) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        let file = folder.join(format!("{name}.1"));
        Replace::Only(0, PAGE, "a manual page").or_any(args.force).check(&file)?;
        NewFile::write(&file, &page(command)?)?.keep()?;
        writeln!(out, "{}", named(&file))?;
    }
    Ok(())
}

/// Whether a command has a page of its own.
fn has_page(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

/// A command and all below it.
pub fn pages(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().filter(|c| has_page(c));
    [command].into_iter().chain(below.flat_map(pages)).collect()
}

/// Answers a file in the place of a command, and an option that belongs into a file.
pub fn slip(error: &clap::Error) -> Option<Failure> {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if let Some(option @ ("--friction" | "--mu")) = said(ContextKind::InvalidArg) {
        let way = "hardpan materials FILE.obj -o FILE.toml, edit, then: hardpan build --settings FILE.toml";
        return Some(Failure::Input(format!("there is no option {option}; settings state friction: {way}")));
    }
    let word = said(ContextKind::InvalidSubcommand)?;
    let path = Path::new(word);
    let command = if is_image(path).ok()? { "info" } else { "build" };
    Some(Failure::input(path, format!("a command comes first, such as: hardpan {command} {}", quoted(path))))
}

/// The same error, but for what is near only by its letters.
pub fn plain(mut error: clap::Error) -> clap::Error {
    let of_unit =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(a)) if a.starts_with("--unit "));
    if of_unit && error.kind() == ErrorKind::InvalidValue {
        error.remove(ContextKind::SuggestedValue);
        let tip = "state another unit in metres: --unit m --scale 1609.344 for miles".into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// An option's value that asks for a text, as `--preset list` does: it is answered as what asks for help is, whatever
/// else is missing.
pub fn answer(text: String) -> clap::Error {
    let mut asked = clap::Error::new(ErrorKind::DisplayHelp);
    asked.insert(ContextKind::Custom, ContextValue::String(text));
    asked
}

/// Prints help or a version, or what is wrong with what was typed.
pub fn tell(said: &clap::Error) -> ExitCode {
    let print = || match said.get(ContextKind::Custom) {
        _ if !said.use_stderr() && was_closed() => Err(closed()),
        Some(ContextValue::String(text)) if !said.use_stderr() => io::stdout().write_all(text.as_bytes()),
        _ => said.print(),
    };
    match print().map_err(Failure::from) {
        Err(failure) if !said.use_stderr() && !matches!(failure, Failure::ClosedPipe) => failed(&failure),
        _ => ExitCode::from(said.exit_code() as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        cli().debug_assert();
    }

    #[test]
    fn every_option_of_build_has_a_title() {
        let whole = whole();
        let build = whole.find_subcommand("build").unwrap();
        let plain = build.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_help_heading().is_none());
        assert_eq!(plain.map(|arg| arg.get_id().as_str()).collect::<Vec<_>>(), [""; 0]);
    }
}
