//! An image as a file for the flash of a controller: binary, Intel HEX, UF2 and C, and the record of its slot.

mod slot;
mod write;

pub use slot::{RECORD_LEN, record};

use crate::util::text::grouped;
use std::fmt;

/// How a file for flash is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The bytes from the address on.
    Binary,
    /// Intel HEX.
    IntelHex,
    /// UF2, of blocks of 256 bytes.
    Uf2,
    /// An array in C.
    C,
}

/// Endings of files, and what is written into them.
pub const ENDINGS: [(&str, Form); 6] = [
    ("bin", Form::Binary),
    ("hex", Form::IntelHex),
    ("ihex", Form::IntelHex),
    ("uf2", Form::Uf2),
    ("c", Form::C),
    ("h", Form::C),
];

/// One of the two halves of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The lower one.
    A,
    /// The upper one.
    B,
}

/// The slot that an image is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Which.
    pub half: Half,
    /// Controllers take the sound slot of the higher number.
    pub sequence: u32,
}

/// Where in the flash an image goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// First byte: of the image, or of the partition that has two slots.
    pub address: u32,
    /// Bytes of flash from the address on; none: not known.
    pub size: Option<u32>,
    /// The slot, of which the partition has two.
    pub slot: Option<Slot>,
}

/// Why an image does not go where it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotPlaced {
    /// The address is no multiple of this.
    Alignment(u32),
    /// The flash ends before the image does: the bytes that there are, and those that are needed.
    Flash { there: u64, needed: u64 },
    /// A slot ends before the image and its record do.
    Slot { there: u64, needed: u64 },
    /// The partition cannot be halved into slots that begin at multiples of this.
    Halves(u32),
    /// Slots are halves of a flash of known size.
    NoSize,
    /// An array in C has no slot.
    NoSlotInC,
}

impl fmt::Display for NotPlaced {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            NotPlaced::Alignment(step) => write!(f, "the address is no multiple of {step}"),
            NotPlaced::Flash { there, needed } => {
                let [there, needed] = [there, needed].map(|n| grouped(*n));
                write!(f, "the image takes {needed} bytes, and the flash has {there} from the address on")
            }
            NotPlaced::Slot { there, needed } => {
                let [there, needed] = [there, needed].map(|n| grouped(*n));
                write!(f, "the image and its record take {needed} bytes, and a slot has {there}")
            }
            NotPlaced::Halves(step) => {
                write!(f, "half of the flash is no multiple of {step}, where the second slot begins")
            }
            NotPlaced::NoSize => f.write_str("slots are the halves of the flash, whose size is not known"),
            NotPlaced::NoSlotInC => f.write_str("an array in C is linked, and has no slot"),
        }
    }
}

impl std::error::Error for NotPlaced {}

/// Bytes and where they lie. Each begins behind the end of the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    /// Address of the first byte.
    pub address: u32,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// A file for flash, checked but not written.
pub struct Flash<'a> {
    form: Form,
    image: Region<'a>,
    record: Option<(u32, [u8; RECORD_LEN])>,
}

impl<'a> Flash<'a> {
    /// Checks that the image fits where it should go.
    pub fn new(image: &'a [u8], form: Form, target: &Target) -> Result<Self, NotPlaced> {
        const STEP: u32 = hardpan::format::ALIGN as u32;
        let step = if form == Form::Uf2 { write::PAYLOAD as u32 } else { STEP };
        if !target.address.is_multiple_of(step) {
            return Err(NotPlaced::Alignment(step));
        }
        // a block of a UF2 is whole
        let len =
            if form == Form::Uf2 { (image.len() as u64).next_multiple_of(step.into()) } else { image.len() as u64 };
        let end_of_addresses = (1u64 << 32) - u64::from(target.address);
        let there = target.size.map_or(end_of_addresses, |size| end_of_addresses.min(size.into()));
        let Some(slot) = target.slot else {
            if len > there {
                return Err(NotPlaced::Flash { there, needed: len });
            }
            return Ok(Flash { form, image: Region { address: target.address, bytes: image }, record: None });
        };
        if form == Form::C {
            return Err(NotPlaced::NoSlotInC);
        }
        if target.size.is_none() {
            return Err(NotPlaced::NoSize);
        }
        let half = there / 2;
        if !there.is_multiple_of(2) || !half.is_multiple_of(step.into()) {
            return Err(NotPlaced::Halves(step));
        }
        let needed = len.next_multiple_of(STEP.into()) + RECORD_LEN as u64;
        if needed > half {
            return Err(NotPlaced::Slot { there: half, needed });
        }
        let address = target.address + if slot.half == Half::B { half as u32 } else { 0 };
        let record = (address + (half as u32 - RECORD_LEN as u32), slot::record(image, slot.sequence));
        Ok(Flash { form, image: Region { address, bytes: image }, record: Some(record) })
    }

    /// What lies where, in ascending order: the record of a slot comes last.
    pub fn regions(&self) -> Vec<Region<'_>> {
        let record = self.record.as_ref().map(|(address, bytes)| Region { address: *address, bytes });
        [self.image.clone()].into_iter().chain(record).collect()
    }

    /// The address that a binary file is written to.
    pub fn address(&self) -> u32 {
        self.image.address
    }

    /// The file. `name` is that of the image; `family` is the one of UF2.
    pub fn bytes(&self, name: &str, family: Option<u32>) -> Vec<u8> {
        let regions = self.regions();
        match self.form {
            Form::Binary => write::binary(&regions),
            Form::IntelHex => write::intel_hex(&regions).into(),
            Form::Uf2 => write::uf2(&regions, family),
            Form::C => write::c(&self.image, name).into(),
        }
    }
}
