//! PNG as a height map: grey steps as they stand in the file.

use super::ImportError;
use super::heights::{HeightGrid, damaged, fits, grey, posts};
use super::tiff::COLOUR;
use ::png::{ColorType, Decoder, Limits, Transformations};
use std::{io::Cursor, path::Path};

pub fn read(bytes: &[u8], path: &Path) -> Result<HeightGrid, ImportError> {
    let broken = |e: ::png::DecodingError| damaged(path, format!("this is no whole PNG: {e}"));
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: 64 << 20 });
    // steps as they are: neither spread to eight bits nor cut down to them
    decoder.set_transformations(Transformations::IDENTITY);
    decoder.ignore_checksums(false);
    let mut reader = decoder.read_info().map_err(broken)?;
    let (columns, rows) = (reader.info().width, reader.info().height);
    let count = posts(path, [columns.into(), rows.into()], bytes.len())?;
    let palette = reader.info().palette.as_ref().map(|palette| palette.to_vec()).unwrap_or_default();
    // bytes of the picture stand beside the heights
    let each = reader.info().bytes_per_pixel().div_ceil(8) as u64 + 1;
    fits(path, [columns.into(), rows.into()], each, "make it smaller: gdal_translate -outsize 25% 25%")?;
    let size = reader.output_buffer_size().ok_or_else(|| damaged(path, "it claims more pixels than memory holds"))?;
    let mut buffer = vec![0; size];
    let frame = reader.next_frame(&mut buffer).map_err(broken)?;
    let (columns, rows) = (columns as usize, rows as usize);
    let (bits, samples) = (frame.bit_depth as usize, frame.color_type.samples());
    let sample = |line: &[u8], i: usize| match bits {
        8 => u16::from(line[i]),
        16 => u16::from_be_bytes([line[2 * i], line[2 * i + 1]]),
        _ => u16::from(line[i * bits / 8] >> (8 - bits - i * bits % 8)) & ((1 << bits) - 1),
    };
    let mut coloured = false;
    let mut heights = Vec::with_capacity(count);
    for line in buffer.chunks_exact(frame.line_size).take(rows) {
        heights.extend((0..columns).map(|i| {
            let at = |k: usize| sample(line, i * samples + k);
            let colour = match frame.color_type {
                ColorType::Grayscale | ColorType::GrayscaleAlpha => return f64::from(at(0)),
                ColorType::Rgb | ColorType::Rgba => [at(0), at(1), at(2)],
                ColorType::Indexed => {
                    let from = 3 * usize::from(at(0));
                    [0, 1, 2].map(|k| palette.get(from + k).copied().unwrap_or(0).into())
                }
            };
            let (luma, is_colour) = grey(colour);
            coloured |= is_colour;
            luma
        }));
    }
    let warnings = coloured.then(|| COLOUR.to_owned()).into_iter().collect();
    Ok(HeightGrid { format: "png", columns, rows, heights, steps: true, warnings, ..HeightGrid::default() })
}
