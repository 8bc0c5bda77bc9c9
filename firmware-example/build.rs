//! The linker finds memory.x beside this file, and the start code of cortex-m-rt.

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rustc-link-search={}", env!("CARGO_MANIFEST_DIR"));
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
