//! A grid as GeoTIFF: doubles, row 0 in the north, NaN where there is no ground.

use super::{Grid, Squares};
use crate::options::Georeference;
use hardpan::format::Crs;
use std::io::{self, Seek, Write};
use tiff::{
    TiffError,
    encoder::{TiffEncoder, TiffKind, colortype::Gray64Float},
    tags::Tag,
};

/// Bytes from which on offsets need 64 bits.
const BIG: u64 = 4_000_000_000;
/// A code that is none of the register.
const USER_DEFINED: u16 = 32_767;

/// Keys of a file about its plane, and the numbers that they name.
struct Keys {
    directory: Vec<u16>,
    numbers: Vec<f64>,
}

impl Keys {
    /// Version 1.1.0: a pixel is an area; and the code of the plane, or else its projection, if they are known.
    fn new(crs: Option<&Georeference>) -> Keys {
        let (mut keys, mut numbers) = (vec![[1025, 1]], Vec::new());
        let code = crs.and_then(|crs| u16::try_from(crs.record.code).ok()).filter(|code| *code > 0);
        let projects = |crs: &&Georeference| crs.record.method == Crs::TRANSVERSE_MERCATOR;
        match (code, crs.filter(projects)) {
            (Some(code), _) => keys.extend([[1024, 1], [3072, code], [3076, 9001]]),
            (None, Some(crs)) => {
                let known = GEOGRAPHIC.iter().find(|(name, _)| *name == crs.datum).map(|(_, code)| *code);
                let own =
                    [[1024, 1], [2048, known.unwrap_or(USER_DEFINED)], [3072, USER_DEFINED], [3074, USER_DEFINED]];
                keys.extend(own.into_iter().chain([[3075, 1], [3076, 9001]]));
                let Crs { radius, inverse_flattening, longitude, latitude, scale, zero, .. } = crs.record;
                let ellipsoid = [(2057, radius), (2059, inverse_flattening)];
                numbers.extend(ellipsoid.into_iter().filter(|_| known.is_none()));
                numbers.extend([(3080, longitude), (3081, latitude), (3082, zero[0]), (3083, zero[1]), (3092, scale)]);
            }
            (None, None) => {}
        }
        let short = keys.into_iter().map(|[key, value]| [key, 0, 1, value]);
        let double = numbers.iter().zip(0..).map(|((key, _), at)| [*key, 34_736, 1, at]);
        let mut all: Vec<[u16; 4]> = short.chain(double).collect();
        all.sort_unstable();
        let head = [1, 1, 0, all.len() as u16];
        let directory = [head].into_iter().chain(all).flatten().collect();
        Keys { directory, numbers: numbers.into_iter().map(|(_, v)| v).collect() }
    }
}

/// Codes of longitudes and latitudes by their datum.
const GEOGRAPHIC: [(&str, u16); 8] = [
    ("WGS 84", 4326),
    ("ETRS89", 4258),
    ("NAD83", 4269),
    ("NAD27", 4267),
    ("ED50", 4230),
    ("DHDN", 4314),
    ("MGI", 4312),
    ("OSGB36", 4277),
];

/// Writes a grid that lies on this plane of the earth.
pub fn write(grid: &Grid, crs: Option<&Georeference>, to: &mut (impl Write + Seek)) -> io::Result<()> {
    let written = match 8 * grid.heights.len() as u64 > BIG {
        true => TiffEncoder::new_big(to).and_then(|tiff| encode(grid, crs, tiff)),
        false => TiffEncoder::new(to).and_then(|tiff| encode(grid, crs, tiff)),
    };
    written.map_err(|e| match e {
        TiffError::IoError(e) => e,
        e => io::Error::other(e.to_string()),
    })
}

fn encode<W: Write + Seek, K: TiffKind>(
    grid: &Grid,
    crs: Option<&Georeference>,
    mut tiff: TiffEncoder<W, K>,
) -> Result<(), TiffError> {
    let Squares { extent: [[west, south], _], cell, columns, rows, .. } = grid.squares;
    let mut image = tiff.new_image::<Gray64Float>(columns as u32, rows as u32)?;
    let tags = image.encoder();
    let north = south + rows as f64 * cell;
    tags.write_tag(Tag::Software, "hardpan")?;
    tags.write_tag(Tag::ModelPixelScaleTag, &[cell, cell, 0.0][..])?;
    // pixel 0,0,0 has its outer corner at the north-west; the plane knows nothing of how places were moved
    let shift = crs.map_or([0.0; 3], |crs| crs.record.shift);
    tags.write_tag(Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, west - shift[0], north - shift[1], 0.0][..])?;
    let keys = Keys::new(crs);
    tags.write_tag(Tag::GeoKeyDirectoryTag, &keys.directory[..])?;
    if !keys.numbers.is_empty() {
        tags.write_tag(Tag::GeoDoubleParamsTag, &keys.numbers[..])?;
    }
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
