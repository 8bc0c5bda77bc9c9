//! Arguments, output and exit codes.
//!
//! Facts go to stdout; warnings and errors go to stderr. A reader that closes the pipe ends the program quietly.

mod again;
mod backend;
mod bench;
mod build;
mod check;
mod cli;
mod completions;
mod debug;
mod demo;
mod diff;
mod estimate;
mod export;
mod factors;
mod failure;
mod findings;
mod flash;
mod friction;
mod grid;
mod help;
mod info;
mod length;
mod map;
mod materials;
mod merge;
mod open;
mod output;
mod par;
mod paths;
mod progress;
mod query;
mod rebuild;
mod report;
mod scene;
mod sensor;
mod signals;
mod stdout;
mod tables;
mod tell;
mod transform;
mod verify;
mod view;
mod vstu;
mod words;

use std::{
    env,
    io::{self, Write},
    panic,
    process::ExitCode,
};

// the words that all commands use
use self::{
    cli::{Cli, Command, Threads, VERSION, look, threads},
    failure::{Done, Failure, SETTINGS, failed},
    open::{load, proven, terrain, unopened},
    output::{Form, Kind, NewFile, Replace, has_bytes, is_nowhere, made_of, make_folder, one_place, write_image},
    paths::{has_extension, same},
    stdout::Stdout,
    words::{note, notes, warn},
};
use crate::util::text::{bounded, costs, counted, decimal, few, few_digits, grouped, named, quoted, shown, width};
use clap::FromArgMatches;

const _: () = assert!(hardpan::format::VERSION == 3, "the format that --version names");

pub fn main() -> ExitCode {
    // first, since whatever follows may find no memory
    signals::abort_by(4);
    // no backtrace, which takes memory: where there is none the standard library waits for itself, and where a thread
    // begins so do all
    panic::set_hook(Box::new(|panic| drop(writeln!(io::stderr(), "{panic}"))));
    quiet_drivers();
    signals::end_by(output::interrupted);
    signals::outlive_limits();
    if let [_, one, other] = &env::args_os().collect::<Vec<_>>()[..]
        && [one, other].contains(&&"--verbose".into())
        && [one, other].iter().any(|a| *a == "--version" || *a == "-V")
    {
        return backend::version();
    }
    let typed = help::cli().try_get_matches_from(vstu::dashed(env::args_os().map(query::shield).collect()));
    let typed = match typed.map_err(|e| (help::slip(&e), e)) {
        Ok(typed) => typed,
        Err((Some(failure), _)) => return failed(&failure),
        Err((None, e)) => return help::tell(&help::plain(e)),
    };
    let command = match Cli::from_arg_matches(&typed) {
        Ok(cli) => cli.command,
        Err(e) => return help::tell(&e),
    };
    let out = &mut io::BufWriter::with_capacity(1 << 16, Stdout::open());
    let done = command.threads().map_or(Ok(()), threads).and_then(|()| run(command, out));
    match done.and_then(|()| Ok(out.flush()?)) {
        Ok(()) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            let _ = out.flush();
            failed(&failure)
        }
    }
}

fn run(command: Command, out: &mut impl Write) -> Done {
    match command {
        Command::Build(args) => par::build(args, out),
        Command::Merge(args) => merge::run(&args, out),
        Command::Rebuild(args) => rebuild::run(&args, out),
        Command::Materials(args) => materials::run(&args, out),
        Command::Grid(args) => grid::run(&args, out),
        Command::Info(args) => info::run(&args, out),
        Command::Query(args) => query::run(&args, out),
        Command::Sensor(args) => sensor::run(&args, out),
        Command::Export(args) => export::run(&args, out),
        Command::Flash(args) => flash::run(&args, out),
        Command::Diff(args) => diff::run(&args, out),
        Command::Check(args) => check::run(&args, out),
        Command::Verify(args) => verify::run(&args, out),
        Command::Bench(args) => bench::run(&args, out),
        Command::Demo(args) => demo::run(&args, out),
        Command::Vstu(args) => vstu::run(&args, out),
        Command::Completions(args) => completions::run(&args, out),
        Command::Man(args) => help::manual(&args, out),
    }
}

/// Names a folder of sessions where the system names none: libraries of graphics drivers print an error of their own
/// otherwise. Nothing lies in it, as nothing would without it.
#[allow(unsafe_code)]
fn quiet_drivers() {
    let name = "XDG_RUNTIME_DIR";
    if cfg!(target_os = "linux") && env::var_os(name).is_none() {
        // SAFETY: no other thread has begun, so none reads the environment.
        unsafe { env::set_var(name, "/dev/null") };
    }
}
