//! The `hardpan` command as the tests run it: a program of this package, so that cargo builds it with them.

fn main() -> std::process::ExitCode {
    hardpan_builder::command::main()
}
