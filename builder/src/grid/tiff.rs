//! A grid as GeoTIFF: doubles, row 0 in the north, NaN where there is no ground.

use super::{Grid, Squares};
use std::io::{self, Seek, Write};
use tiff::{
    TiffError,
    encoder::{TiffEncoder, TiffKind, colortype::Gray64Float},
    tags::Tag,
};

/// Bytes from which on offsets need 64 bits.
const BIG: u64 = 4_000_000_000;
/// The directory of keys: version 1.1.0, one key, that a pixel is an area.
const KEYS: [u16; 8] = [1, 1, 0, 1, 1025, 0, 1, 1];

pub fn write(grid: &Grid, to: &mut (impl Write + Seek)) -> io::Result<()> {
    let written = match 8 * grid.heights.len() as u64 > BIG {
        true => TiffEncoder::new_big(to).and_then(|tiff| encode(grid, tiff)),
        false => TiffEncoder::new(to).and_then(|tiff| encode(grid, tiff)),
    };
    written.map_err(|e| match e {
        TiffError::IoError(e) => e,
        e => io::Error::other(e.to_string()),
    })
}

fn encode<W: Write + Seek, K: TiffKind>(grid: &Grid, mut tiff: TiffEncoder<W, K>) -> Result<(), TiffError> {
    let Squares { extent: [[west, south], _], cell, columns, rows, .. } = grid.squares;
    let mut image = tiff.new_image::<Gray64Float>(columns as u32, rows as u32)?;
    let tags = image.encoder();
    let north = south + rows as f64 * cell;
    tags.write_tag(Tag::Software, "hardpan")?;
    tags.write_tag(Tag::ModelPixelScaleTag, &[cell, cell, 0.0][..])?;
    // pixel 0,0,0 has its outer corner at the north-west
    tags.write_tag(Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, west, north, 0.0][..])?;
    tags.write_tag(Tag::GeoKeyDirectoryTag, &KEYS[..])?;
    tags.write_tag(Tag::GdalNodata, "nan")?;
    let lines = (1usize << 16).div_ceil(columns).min(rows);
    image.rows_per_strip(lines as u32)?;
    let mut strip = Vec::new();
    for first in (0..rows).step_by(lines) {
        strip.clear();
        let north = (first..(first + lines).min(rows)).map(|line| rows - 1 - line);
        north.for_each(|row| strip.extend_from_slice(&grid.heights[row * columns..][..columns]));
        image.write_strip(&strip)?;
    }
    image.finish()
}
