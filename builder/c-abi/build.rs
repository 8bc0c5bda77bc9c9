//! Names the shared library: a program that was linked by path asks for this name, wherever the library lies then.

use std::env;

const NAME: &str = "libhpan_vsterrain";

fn main() {
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("VENDOR") == "apple" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/{NAME}.dylib");
    } else if target("FAMILY") == "unix" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{NAME}.so");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
