//! `hardpan flash`: an image as a file for the flash of a controller, and into it.

use std::{
    io::{ErrorKind, Write},
    path::PathBuf,
    process::Command,
};

use crate::flash::{ENDINGS, Flash, Form, Half, NotPlaced, Slot, Target};
use crate::import::file_name;

use super::{Done, Failure, Kind, NewFile, Replace, grouped, has_extension, load, named, quoted, terrain};

#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hardpan flash track.hpan --address 0x08080000 --flash-size 512K -o track.hex
The image is proven first. An array in C is hardpan_image, in section .hardpan. UF2 needs an address that is a multiple of 256.
With --slot the flash is two halves, each with an image and, in its last 128 bytes, a record, which is written last. A controller takes
the sound slot of the higher sequence. Firmware that does so, and the record: kernel/docs/boards.md.")]
pub struct Args {
    /// A terrain image
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
    /// Where it begins in the controller's memory: a multiple of 128, as 0x08080000
    #[arg(long, value_name = "A", value_parser = number)]
    address: u32,
    /// File for the flash, by its ending: .bin, .hex, .uf2, .c
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Bytes of flash from the address on, as 512K, 2M or 0x80000 [default: not checked]
    #[arg(long, value_name = "BYTES", value_parser = number)]
    flash_size: Option<u32>,
    /// Write one of the two slots that the flash has
    #[arg(long, value_name = "SLOT", requires_all = ["sequence", "flash_size"])]
    slot: Option<Letter>,
    /// Number of the slot: higher than that of the other one
    #[arg(long, value_name = "N", requires = "slot")]
    sequence: Option<u32>,
    /// Family of a UF2 file: rp2040, absolute, data or a number, as 0xe48bff57 [default: none]
    #[arg(long, value_name = "FAMILY", value_parser = family)]
    family: Option<u32>,
    /// Send the file by probe-rs, if it is installed
    #[arg(long)]
    run: bool,
    /// The controller, as probe-rs calls it
    #[arg(long, value_name = "NAME", requires = "run")]
    chip: Option<String>,
    /// Replace an output file that is there
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Letter {
    A,
    B,
}

/// A number in decimal or with `0x`, and `K` or `M` behind it for 2^10 or 2^20.
fn number(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix(['m', 'M']).map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
    let plain = |digits: &str| !digits.starts_with('+');
    let value = match hex {
        Some(hex) => u32::from_str_radix(hex, 16).ok().filter(|_| plain(hex)),
        None => digits.parse().ok().filter(|_| plain(digits)),
    };
    let value = value.and_then(|value| value.checked_mul(unit));
    value.ok_or_else(|| "a whole number below 2^32, as 0x08080000, 524288, 512K or 2M".into())
}

fn family(text: &str) -> Result<u32, String> {
    const FAMILIES: [(&str, u32); 3] = [("rp2040", 0xE48B_FF56), ("absolute", 0xE48B_FF57), ("data", 0xE48B_FF58)];
    match FAMILIES.iter().find(|(name, _)| *name == text) {
        Some((_, family)) => Ok(*family),
        None => number(text).map_err(|_| "rp2040, absolute, data, or a number, as 0xe48bff57".into()),
    }
}

/// What to type against an image that does not fit.
fn instead(why: NotPlaced) -> &'static str {
    match why {
        NotPlaced::Alignment(_) => "begin it elsewhere: --address",
        NotPlaced::Flash { .. } | NotPlaced::Slot { .. } => {
            "take another part of the flash, or build a smaller image (hardpan build --help)"
        }
        NotPlaced::Halves(_) => "state another size: --flash-size",
        NotPlaced::NoSize => "state it: --flash-size",
        NotPlaced::NoSlotInC => "leave --slot out, or name FILE.hex",
    }
}

pub fn run(args: &Args, out: &mut impl Write) -> Done {
    let place = &args.output;
    let Some((_, form)) = ENDINGS.iter().find(|(ending, _)| has_extension(place, ending)) else {
        return Err(Failure::input(place, "the ending says what is written; name it FILE.bin, .hex, .uf2 or .c"));
    };
    if args.family.is_some() && *form != Form::Uf2 {
        return Err(Failure::input(place, "only UF2 has a family; name it FILE.uf2, or leave --family out"));
    }
    if args.run && *form == Form::C {
        return Err(Failure::input(place, "an array in C is compiled, not sent; leave --run out, or name it FILE.hex"));
    }
    Replace::None.or_any(args.force).check_made(place, Kind::FLASH, [&args.image])?;
    let image = load(&args.image)?;
    let image = terrain(&args.image, &image)?.bytes();
    let slot = args.slot.zip(args.sequence).map(|(letter, sequence)| Slot {
        half: match letter {
            Letter::A => Half::A,
            Letter::B => Half::B,
        },
        sequence,
    });
    let target = Target { address: args.address, size: args.flash_size, slot };
    let flash = Flash::new(image, *form, &target)
        .map_err(|why| Failure::input(&args.image, format!("{why}; {}", instead(why))))?;
    NewFile::write_checked(place, &flash.bytes(&file_name(&args.image), args.family))?.keep()?;
    for (i, region) in flash.regions().iter().enumerate() {
        let [first, last] = [u64::from(region.address), u64::from(region.address) + region.bytes.len() as u64 - 1];
        let what = if i == 0 { "image" } else { "record" };
        let bytes = grouped(region.bytes.len() as u64);
        writeln!(out, "{}: {what} of {bytes} bytes at {first:#010x} to {last:#010x}", named(place))?;
    }
    if args.run { send(args, *form, flash.address(), out) } else { Ok(()) }
}

/// Calls probe-rs, or says what to type where it is not installed.
fn send(args: &Args, form: Form, address: u32, out: &mut impl Write) -> Done {
    let mut typed: Vec<String> = vec!["download".into(), "--verify".into()];
    if let Some(chip) = &args.chip {
        typed.extend(["--chip".into(), chip.clone()]);
    }
    let format = match form {
        Form::Binary => "bin",
        Form::Uf2 => "uf2",
        Form::IntelHex | Form::C => "hex",
    };
    typed.extend(["--binary-format".into(), format.into()]);
    if form == Form::Binary {
        typed.extend(["--base-address".into(), format!("{address:#010x}")]);
    }
    let line = format!("probe-rs {} {}", typed.join(" "), quoted(&args.output));
    out.flush()?;
    match Command::new("probe-rs").args(&typed).arg(&args.output).status() {
        Ok(status) if status.success() => Ok(writeln!(out, "sent: {line}")?),
        Ok(status) => Err(Failure::Machine(format!("probe-rs ended with {status}; to try again: {line}"))),
        Err(e) if e.kind() == ErrorKind::NotFound => Err(Failure::Machine(format!(
            "probe-rs is not installed (cargo install probe-rs-tools); nothing was sent; to send the file: {line}"
        ))),
        Err(e) => Err(Failure::Machine(format!("probe-rs: {e}; nothing was sent; to send the file: {line}"))),
    }
}
