//! BMP as a height map: palettes of grey, grey colours, and run lengths.

use super::ImportError;
use super::heights::frame::turn;
use super::heights::{HeightGrid, damaged, grey, posts, unsupported};
use super::tiff::COLOUR;
use std::path::Path;

pub fn read(bytes: &[u8], path: &Path) -> Result<HeightGrid, ImportError> {
    let short = || damaged(path, "it ends within its head");
    let u16_at = |at: usize| bytes.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]])).ok_or_else(short);
    let u32_at =
        |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).ok_or_else(short);
    let (pixels, head) = (u32_at(10)? as usize, u32_at(14)? as usize);
    let core = head == 12;
    let (columns, rows, bits) = match head {
        12 => (i64::from(u16_at(18)?), i64::from(u16_at(20)?), u16_at(24)?),
        16.. => (i64::from(u32_at(18)? as i32), i64::from(u32_at(22)? as i32), u16_at(28)?),
        _ => return Err(damaged(path, format!("its head has {head} bytes"))),
    };
    let top_down = rows < 0;
    let (columns, rows) = (columns, rows.abs());
    if columns <= 0 || rows == 0 {
        return Err(damaged(path, format!("it claims {columns} x {rows} pixels")));
    }
    let method = if head >= 40 { u32_at(30)? } else { 0 };
    let count = posts(path, [columns as u64, rows as u64], bytes.len())?;
    let (columns, rows) = (columns as usize, rows as usize);
    if !matches!((method, bits), (0, 1 | 2 | 4 | 8 | 16 | 24 | 32) | (1, 8) | (2, 4) | (3 | 6, 16 | 32)) {
        let cause = format!("its pixels have {bits} bits by method {method}, which is not read");
        return Err(unsupported(path, cause, "save it as PNG"));
    }
    let masks: [u32; 3] = match (method, bits) {
        (3 | 6, _) => [u32_at(54)?, u32_at(58)?, u32_at(62)?],
        (_, 16) => [0x7C00, 0x03E0, 0x001F],
        _ => [0xFF_0000, 0xFF00, 0xFF],
    };
    // colours of the palette, as far as there are
    let entry = if core { 3 } else { 4 };
    let palette = bytes.get(14 + head..pixels.min(bytes.len())).unwrap_or_default();
    let palette: Vec<[u16; 3]> =
        palette.chunks_exact(entry).map(|c| [c[2], c[1], c[0]].map(u16::from)).take(256).collect();
    let body = bytes.get(pixels..).ok_or_else(|| damaged(path, "its pixels lie beyond its end"))?;
    let mut coloured = false;
    let mut tell = |colour: [u16; 3]| {
        let (luma, is_colour) = grey(colour);
        coloured |= is_colour;
        luma
    };
    let indexed = |i: u8| {
        palette
            .get(usize::from(i))
            .copied()
            .ok_or_else(|| damaged(path, format!("it has no colour {i} in its palette")))
    };
    let mut heights = Vec::with_capacity(count);
    if matches!(method, 1 | 2) {
        let steps = runs(body, columns, rows, method == 2).ok_or_else(|| damaged(path, "its runs end early"))?;
        for i in steps {
            heights.push(tell(indexed(i)?));
        }
    } else {
        let line_bytes = (columns * usize::from(bits)).div_ceil(32) * 4;
        if body.len() < line_bytes * rows {
            // the last line may lack its padding
            let least = line_bytes * (rows - 1) + (columns * usize::from(bits)).div_ceil(8);
            if body.len() < least {
                let cause = format!("it has {} bytes of pixels, and {least} are needed", body.len());
                return Err(damaged(path, cause));
            }
        }
        for line in body.chunks(line_bytes).take(rows) {
            for i in 0..columns {
                let colour = match bits {
                    24 => [line[3 * i + 2], line[3 * i + 1], line[3 * i]].map(u16::from),
                    16 => of_masks(u32::from(u16::from_le_bytes([line[2 * i], line[2 * i + 1]])), masks),
                    32 => {
                        let own = &line[4 * i..4 * i + 4];
                        of_masks(u32::from_le_bytes([own[0], own[1], own[2], own[3]]), masks)
                    }
                    bits => {
                        let (bits, at) = (usize::from(bits), i * usize::from(bits));
                        indexed(line[at / 8] >> (8 - bits - at % 8) & ((1u16 << bits) - 1) as u8)?
                    }
                };
                heights.push(tell(colour));
            }
        }
    }
    if !top_down {
        // rows of the file come from the bottom
        turn(&mut heights, columns);
    }
    let warnings = coloured.then(|| COLOUR.to_owned()).into_iter().collect();
    Ok(HeightGrid { format: "bmp", columns, rows, heights, steps: true, warnings, ..HeightGrid::default() })
}

/// Red, green and blue of a pixel, each from 0 to 255.
fn of_masks(pixel: u32, masks: [u32; 3]) -> [u16; 3] {
    masks.map(|mask| {
        if mask == 0 {
            return 0;
        }
        let most = u64::from(mask >> mask.trailing_zeros());
        let value = u64::from((pixel & mask) >> mask.trailing_zeros());
        ((value * 255 + most / 2) / most) as u16
    })
}

/// Numbers of colours from runs; what no run covers is 0. None if they end before their end code and before the last
/// pixel.
fn runs(body: &[u8], columns: usize, rows: usize, nibbles: bool) -> Option<Vec<u8>> {
    let mut steps = vec![0; columns * rows];
    let (mut x, mut y, mut at) = (0, 0, 0);
    let mut put = |x: usize, y: usize, step: u8| {
        if x < columns && y < rows {
            steps[y * columns + x] = step;
        }
    };
    let of = |byte: u8, k: usize| match (nibbles, k % 2) {
        (false, _) => byte,
        (true, 0) => byte >> 4,
        (true, _) => byte & 15,
    };
    while y < rows {
        let [count, value] = *body.get(at..)?.first_chunk::<2>()?;
        at += 2;
        match (count, value) {
            (0, 0) => (x, y) = (0, y + 1),
            (0, 1) => break,
            (0, 2) => {
                let [right, up] = *body.get(at..)?.first_chunk::<2>()?;
                at += 2;
                (x, y) = (x + usize::from(right), y + usize::from(up));
            }
            (0, count) => {
                let count = usize::from(count);
                let size = if nibbles { count.div_ceil(2) } else { count };
                let own = body.get(at..at + size)?;
                (0..count).for_each(|k| put(x + k, y, of(own[if nibbles { k / 2 } else { k }], k)));
                (x, at) = (x + count, at + size.next_multiple_of(2));
            }
            (count, value) => {
                (0..usize::from(count)).for_each(|k| put(x + k, y, of(value, k)));
                x += usize::from(count);
            }
        }
    }
    Some(steps)
}
