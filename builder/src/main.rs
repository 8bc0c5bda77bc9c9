//! The `hardpan` command: terrain images from the command line.

#![forbid(unsafe_code)]

mod command;

fn main() -> std::process::ExitCode {
    command::main()
}
