//! The forms of files for flash.

use super::Region;
use std::{collections::BTreeMap, fmt::Write};

/// Bytes of flash that no file states: as they are erased.
const ERASED: u8 = 0xFF;

/// The bytes from the first region's address on, with erased flash between.
pub fn binary(regions: &[Region]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let first = regions.first().map_or(0, |r| r.address);
    for r in regions {
        bytes.resize((r.address - first) as usize, ERASED);
        bytes.extend(r.bytes);
    }
    bytes
}

/// Bytes of a data record.
const LINE: usize = 16;

/// Intel HEX: data, and a record of the upper half of the address wherever that changes.
pub fn intel_hex(regions: &[Region]) -> String {
    fn line(text: &mut String, address: u16, kind: u8, data: &[u8]) {
        let [high, low] = address.to_be_bytes();
        let head = [data.len() as u8, high, low, kind];
        let all = || head.iter().chain(data);
        let sum = all().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        text.push(':');
        all().chain([&sum.wrapping_neg()]).for_each(|byte| _ = write!(text, "{byte:02X}"));
        text.push('\n');
    }
    let mut text = String::new();
    let mut upper = None;
    for r in regions {
        for (i, data) in r.bytes.chunks(LINE).enumerate() {
            let address = r.address + (i * LINE) as u32;
            let [high, low] = [(address >> 16) as u16, address as u16];
            if upper != Some(high) {
                line(&mut text, 0, 4, &high.to_be_bytes());
                upper = Some(high);
            }
            line(&mut text, low, 0, data);
        }
    }
    line(&mut text, 0, 1, &[]);
    text
}

/// Bytes of flash in a block of UF2.
pub const PAYLOAD: usize = 256;
const BLOCK: usize = 512;
const HAS_FAMILY: u32 = 0x2000;

/// UF2: blocks of 512 bytes that hold 256, which begin at multiples of that.
pub fn uf2(regions: &[Region], family: Option<u32>) -> Vec<u8> {
    let mut pages: BTreeMap<u32, [u8; PAYLOAD]> = BTreeMap::new();
    for r in regions {
        let mut rest = r.bytes;
        let mut address = r.address;
        while !rest.is_empty() {
            let at = address as usize % PAYLOAD;
            let (own, behind) = rest.split_at(rest.len().min(PAYLOAD - at));
            let page = pages.entry(address - at as u32).or_insert([ERASED; PAYLOAD]);
            page[at..at + own.len()].copy_from_slice(own);
            address = address.wrapping_add(own.len() as u32);
            rest = behind;
        }
    }
    let count = pages.len() as u32;
    let mut file = Vec::with_capacity(pages.len() * BLOCK);
    for (i, (address, page)) in (0..).zip(pages) {
        let flags = if family.is_some() { HAS_FAMILY } else { 0 };
        let head = [0x0A32_4655, 0x9E5D_5157, flags, address, PAYLOAD as u32, i, count, family.unwrap_or(0)];
        head.iter().for_each(|word| file.extend(word.to_le_bytes()));
        file.extend(page);
        file.resize((i as usize + 1) * BLOCK - 4, 0);
        file.extend(0x0AB1_6F30u32.to_le_bytes());
    }
    file
}

/// An array in C, aligned as the kernel needs it, in a section of its own.
pub fn c(image: &Region, name: &str) -> String {
    let Region { address, bytes } = image;
    let name: String =
        name.chars().map(|c| if c.is_ascii_graphic() && !"*/\\?".contains(c) { c } else { '_' }).collect();
    let mut text = format!(
        "/* {name}: {len} bytes. The linker script puts section .hardpan at {address:#010x}. */\n\
         #ifdef __cplusplus\nextern \"C\"\n#endif\n\
         const unsigned char hardpan_image[{len}] __attribute__((aligned(128), section(\".hardpan\"), used)) = {{\n",
        len = bytes.len()
    );
    for data in bytes.chunks(LINE) {
        let numbers: Vec<String> = data.iter().map(|byte| format!("0x{byte:02x}")).collect();
        _ = writeln!(text, "    {},", numbers.join(", "));
    }
    text + "};\n"
}
