//! The `hardpan` command: terrain images from the command line.

#![forbid(unsafe_code)]

mod command;
mod import;

fn main() -> std::process::ExitCode {
    command::main()
}
