//! The `hardpan` command: terrain images from the command line.

fn main() -> std::process::ExitCode {
    hardpan_builder::command::main()
}
