//! The size of a picture of heights, by which it lies about the zero.

use std::{fs::File, io::Read as _, path::Path};

/// Columns and rows of a BMP or a PNG.
pub fn size(place: &Path) -> Result<[u64; 2], String> {
    let mut head = Vec::new();
    File::open(place).and_then(|file| file.take(64).read_to_end(&mut head)).map_err(|e| e.to_string())?;
    let four = |at: usize| head.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    let two = |at: usize| head.get(at..at + 2).and_then(|b| <[u8; 2]>::try_from(b).ok());
    let little = |at: usize| four(at).map(|b| u64::from(i32::from_le_bytes(b).unsigned_abs()));
    let big = |at: usize| four(at).map(|b| u64::from(u32::from_be_bytes(b)));
    let short = |at: usize| two(at).map(|b| u64::from(u16::from_le_bytes(b)));
    let found = match (head.starts_with(b"BM"), head.starts_with(b"\x89PNG")) {
        (true, _) if little(14) == Some(12) => [short(18), short(20)],
        (true, _) => [little(18), little(22)],
        (_, true) => [big(16), big(20)],
        _ => return Err("this is neither a BMP nor a PNG; save it as one".into()),
    };
    match found {
        [Some(columns), Some(rows)] if columns > 0 && rows > 0 => Ok([columns, rows]),
        _ => Err("the picture has no size; save it again".into()),
    }
}
