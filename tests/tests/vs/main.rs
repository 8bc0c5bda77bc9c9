//! In place of the VehicleSim tools: the library in C, the utility, merged images, the debug OBJ, settings by object.

mod debug;
mod library;
mod merge;
mod objects;
#[allow(dead_code)]
#[path = "../command/shell.rs"]
mod shell;
mod utility;
