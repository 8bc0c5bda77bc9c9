//! The command line: the commands and the options of all.

use std::{env, path::Path, thread};

use crate::util::text::quoted;
use clap::{Parser, Subcommand};

use super::{
    Done, bench, build, check, completions, demo, diff, export, failure::Failure, flash, grid, help, info, materials,
    merge, query, rebuild, sensor, verify, vstu,
};

#[derive(Parser)]
#[command(name = "hardpan", bin_name = "hardpan", version = VERSION, about = "What is the ground here? Terrain images for vehicles and controllers", after_help = EXITS)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant)] // one of them is made, once
pub(super) enum Command {
    /// Make a terrain image from a mesh
    Build(build::Args),
    /// Put several terrain images together in one, each at its place
    Merge(merge::Args),
    /// Make a terrain image again from itself, by other settings
    Rebuild(rebuild::Args),
    /// List the materials of a source or an image, or write them as a settings file to edit
    Materials(materials::Args),
    /// Sample ground heights on squares: npy, tif, csv, json, png, obj
    Grid(grid::Args),
    /// Show contents, extents, bounds, materials and hashes of an image
    Info(info::Args),
    /// Ask an image for the ground at points
    Query(query::Args),
    /// Drive a terrain sensor over an image: a trace ahead and one below each wheel, as CSV and OBJ
    Sensor(sensor::Args),
    /// Write what the kernel sees: an OBJ that builds the same image again, or maps as PNG
    Export(export::Args),
    /// Write an image as a file for the flash of a controller: bin, hex, uf2, c; --run sends it
    Flash(flash::Args),
    /// Compare two images: bytes, facts, heights and materials
    Diff(diff::Args),
    /// Look for faults of a mesh or an image: gaps, steps, double surfaces and others; --html for a page
    Check(check::Args),
    /// Prove what an image claims: sums, structure, costs, that no place is missed; --against its source
    Verify(verify::Args),
    /// Time queries beside the bound that an image states
    Bench(bench::Args),
    /// Build a small proving ground, drive over it and draw it, into ./hardpan-demo; --fixture: small images of known
    /// answers
    Demo(demo::Args),
    /// Run a command line of the VS Terrain Utility, as it is
    Vstu(vstu::Args),
    /// Print what completes commands, options and files in a shell
    Completions(completions::Args),
    /// Print the manual page, or write those of all commands
    Man(help::Manual),
}

pub(super) const VERSION: &str = if cfg!(feature = "gpu") {
    concat!(env!("CARGO_PKG_VERSION"), " (image format 3, gpu yes)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (image format 3, gpu no)")
};

pub(super) const EXITS: &str = "\
More about one of them: hardpan COMMAND --help

Exit codes: 0 fine; 1 a check failed or images differ; 2 bad input or usage, or a damaged image (verify: 1).
Beyond the input: 3 not supported; 4 the machine refused disk, permission, threads or memory; 130 interrupted.";

impl Command {
    /// How many threads share its work, 0 for as many as the environment says or the machine has; of those that answer
    /// at once none do.
    pub(super) fn threads(&self) -> Option<usize> {
        match self {
            Command::Info(_)
            | Command::Query(_)
            | Command::Sensor(_)
            | Command::Flash(_)
            | Command::Completions(_)
            | Command::Man(_) => None,
            Command::Build(args) => Some(args.threads.count()),
            Command::Merge(args) => Some(args.threads()),
            Command::Rebuild(args) => Some(args.threads()),
            Command::Grid(args) => Some(args.threads.count()),
            Command::Check(args) => Some(args.threads.count()),
            Command::Verify(args) => Some(args.threads.count()),
            _ => Some(0),
        }
    }
}

/// The line to type to see an image that was just made.
pub(super) fn look(image: &Path) -> String {
    let image = quoted(image);
    format!("hardpan export png {image}; hardpan info {image}")
}

#[derive(clap::Args)]
pub(super) struct Threads {
    /// Threads, at most four for each core [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Threads {
    /// How many, 0 if nobody says.
    pub(super) fn count(&self) -> usize {
        self.threads.unwrap_or(0).into()
    }
}

/// Most threads for each core: thousands take half a minute to begin, and help nobody.
pub(super) const MAX_THREADS: usize = 4;

/// Begins so many threads: one that is refused later is a panic.
pub(super) fn threads(count: usize) -> Done {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let by_environment = || env::var("RAYON_NUM_THREADS").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    // with 0 the library of threads would read more of the environment
    let count = [count, by_environment(), cores].into_iter().find(|n| *n > 0).unwrap_or(1);
    let begun = rayon::ThreadPoolBuilder::new().num_threads(count.min(MAX_THREADS * cores)).build_global();
    begun.map_err(|e| Failure::Machine(format!("no threads to work with: {e}; see: ulimit -a")))
}
