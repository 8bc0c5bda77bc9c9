//! The boards. BOARD names one: `BOARD=an505 cargo build --release --target thumbv8m.main-none-eabihf`.

use std::{env, fs, path::Path};

/// Name; memory of the program: its flash and RAM; flash of the image; ticks of the timer in a second.
type Board = (&'static str, [Region; 2], Region, u32);
/// First address and bytes.
type Region = (u32, u32);

const K: u32 = 1024;
const M: u32 = 1024 * K;

/// One line for each board: put yours first, and it is the one that is taken.
#[rustfmt::skip]
const BOARDS: [Board; 6] = [
    ("an386", [(0x0000_0000, 512 * K), (0x2000_0000, 64 * K)], (0x2100_0000, 4 * M), 25_000_000), // Cortex-M4F
    ("an500", [(0x0000_0000, 512 * K), (0x2000_0000, 64 * K)], (0x6000_0000, 4 * M), 25_000_000), // Cortex-M7
    ("an505", [(0x1000_0000, 512 * K), (0x3800_0000, 64 * K)], (0x8000_0000, 4 * M), 20_000_000), // Cortex-M33
    ("virt", [(0x8000_0000, 512 * K), (0x8010_0000, 64 * K)], (0x8100_0000, 4 * M), 10_000_000), // RV32
    ("microbit", [(0x0000_0000, 128 * K), (0x2000_0000, 16 * K)], (0x0002_0000, 128 * K), 16_000_000), // Cortex-M0
    ("m4-small", [(0x0000_0000, 128 * K), (0x2000_0000, 16 * K)], (0x2100_0000, 4 * M), 25_000_000), // `closest` alone
];

/// Of a core that has no start code among the dependencies.
const RISCV: &str = "
_stack = ORIGIN(RAM) + LENGTH(RAM);
ENTRY(_start)
SECTIONS {
  .text : { KEEP(*(.text._start)) *(.text .text.*) } > FLASH
  .rodata : { *(.rodata .rodata.*) *(.srodata .srodata.*) } > FLASH
  .data : { *(.data .data.*) *(.sdata .sdata.*) } > RAM
  .bss : { *(.bss .bss.*) *(.sbss .sbss.*) } > RAM
  /DISCARD/ : { *(.eh_frame .eh_frame.*) }
}
";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=BOARD");
    let wanted = env::var("BOARD");
    let board = BOARDS.iter().find(|b| wanted.as_deref().map_or(true, |name| name == b.0));
    let Some((_, [flash, ram], image, clock)) = board else {
        let names: Vec<&str> = BOARDS.iter().map(|b| b.0).collect();
        panic!("there is no board {:?} in build.rs; boards are {}", wanted, names.join(", "));
    };
    println!("cargo:rustc-env=CLOCK_HZ={clock}");
    if env::var("CARGO_CFG_TARGET_OS").unwrap() != "none" {
        return;
    }
    let is_riscv = env::var("CARGO_CFG_TARGET_ARCH").unwrap() == "riscv32";
    let region = |(at, len): &Region| format!("ORIGIN = {at:#x}, LENGTH = {len:#x}");
    let memory = format!(
        "MEMORY {{ FLASH (rx) : {} RAM (rwx) : {} }}\n_image = {:#x}; _image_len = {:#x};\n{}",
        region(flash),
        region(ram),
        image.0,
        image.1,
        if is_riscv { RISCV } else { "" }
    );
    let out = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("memory.x"), memory).unwrap();
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-arg-bins=-T{}", if is_riscv { "memory.x" } else { "link.x" });
    println!("cargo:rustc-link-arg-bins=--nmagic");
}
