//! The command as it is typed: output, files and exit codes. One binary, so that it links once.

mod along;
#[cfg(target_os = "linux")]
mod backend;
mod basics;
mod bench;
mod check;
mod crg;
mod demo;
mod diff;
mod export;
mod fbx;
mod fit;
mod flash;
mod forged;
mod formats;
mod grid;
mod heights;
mod help;
mod identities;
mod import;
mod info;
mod manual;
mod materials;
mod precedence;
mod rays;
mod rows;
mod scenes;
mod shell;
mod step;
mod texts;
#[cfg(unix)]
mod torture;
mod trials;
mod twice;
mod tyre;
mod walls;
