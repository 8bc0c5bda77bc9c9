//! Puts the board's memory map where the linker finds it. `run.sh` loads the two blobs at the same addresses.

use std::{env, fs, path::Path};

const BOARDS: [(&str, &str, &str); 3] = [
    // mps2-an386
    (
        "thumbv7em",
        "-Tlink.x",
        "
MEMORY { FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 4M  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4M }
_image = 0x21000000; _image_room = 0xf00000; _queries = 0x21f00000; _queries_room = 0x100000;",
    ),
    // microbit
    (
        "thumbv6m",
        "-Tlink.x",
        "
MEMORY { FLASH (rx) : ORIGIN = 0x00000000, LENGTH = 192K  RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K }
_image = 0x30000; _image_room = 0xc000; _queries = 0x3c000; _queries_room = 0x4000;",
    ),
    // virt
    (
        "riscv32imac",
        "-Tmemory.x",
        "
MEMORY { RAM (rwx) : ORIGIN = 0x80000000, LENGTH = 4M }
_image = 0x81000000; _image_room = 0xf00000; _queries = 0x81f00000; _queries_room = 0x100000;
_stack = ORIGIN(RAM) + LENGTH(RAM);
ENTRY(_start)
SECTIONS {
  .text : { KEEP(*(.text._start)) *(.text .text.*) } > RAM
  .rodata : { *(.rodata .rodata.*) *(.srodata .srodata.*) } > RAM
  .data : { *(.data .data.*) *(.sdata .sdata.*) } > RAM
  .bss : { *(.bss .bss.*) *(.sbss .sbss.*) } > RAM
}",
    ),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = env::var("TARGET").unwrap();
    // the flash of a Cortex-M0 has room for rays only beside no counts, and as the least program
    println!("cargo:rustc-check-cfg=cfg(rays, counts)");
    let (small, least) = (target.starts_with("thumbv6m"), env::var("OPT_LEVEL").is_ok_and(|level| level == "z"));
    for (cfg, has) in [("rays", !small || least), ("counts", !small || !least)] {
        if has {
            println!("cargo:rustc-cfg={cfg}");
        }
    }
    let Some((_, script, memory)) = BOARDS.iter().find(|b| target.starts_with(b.0)) else { return };
    let out = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("memory.x"), memory).unwrap();
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-arg-bins={script}");
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
