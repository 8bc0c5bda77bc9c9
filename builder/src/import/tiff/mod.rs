//! TIFF: heights with a place on earth (GeoTIFF), or as a plain height map.
//!
//! The tags are read by a library; strips and tiles here, for what libraries make of them is not always what stands in
//! the file.

mod chunk;
mod keys;

use super::ImportError;
use super::heights::frame::within;
use super::heights::{Affine, HeightGrid, Plane, Window, claimed, damaged, fits, grey, unsupported};
use crate::util::crs::of_code;
use crate::util::text::{bounded, counted};
use ::tiff::{
    decoder::{Decoder, Limits, ifd::Value},
    tags::Tag,
};
use chunk::{Layout, Sample, decode, unpredict};
use keys::Keys;
use std::{io::Cursor, ops::Range, path::Path};

type Tags<'a> = Decoder<Cursor<&'a [u8]>>;

/// Directories that are looked at.
const MAX_DIRECTORIES: usize = 64;

/// Of a file with a place the window alone is read.
pub fn read(bytes: &[u8], path: &Path, window: Window) -> Result<HeightGrid, ImportError> {
    let broken = |e: ::tiff::TiffError| damaged(path, format!("this is no whole TIFF: {e}"));
    let mut limits = Limits::default();
    limits.ifd_value_size = (64 << 20).min(bytes.len());
    let mut tags = Decoder::new(Cursor::new(bytes)).map_err(broken)?.with_limits(limits);
    // overviews and masks stand beside the heights
    let (mut at, mut mask) = (None, None);
    for number in 0..MAX_DIRECTORIES {
        if tags.seek_to_image(number).is_err() {
            break;
        }
        let kind = unsigned(&mut tags, 254).map_or(0, |v| v.first().copied().unwrap_or(0));
        match (kind & 1, kind & 4) {
            (0, 0) if at.is_none() => at = Some(number),
            (0, 4) if mask.is_none() => mask = Some(number),
            _ => {}
        }
    }
    let number = at.ok_or_else(|| damaged(path, "it has no image"))?;
    tags.seek_to_image(number).map_err(broken)?;
    let layout = layout(&mut tags, path)?;
    let (columns, rows) = (layout.columns, layout.rows);
    claimed(path, [columns as u64, rows as u64], bytes.len())?;
    let mut grid = HeightGrid { format: "tif", is_cut: true, ..HeightGrid::default() };
    let keys = Keys::of(&mut tags);
    (grid.plane, grid.vertical) = (keys.plane(), keys.vertical());
    // a plane has its own unit where the file says none
    let of_plane = || match grid.plane {
        Plane::Code(code) => of_code(code).and_then(|system| system.metres()),
        _ => None,
    };
    let metres = keys.metres().or_else(of_plane).unwrap_or(1.0);
    let place = place(&mut tags, &keys, path)?.map(|place| if metres == 1.0 { place } else { place.scaled(metres) });
    let mut part = match window {
        Some(window) => within(window, place, [columns, rows], path)?,
        None => [0..columns, 0..rows],
    };
    if place.is_some() {
        part = layout.with_data(part).ok_or_else(|| damaged(path, "all of its strips or tiles are empty"))?;
    }
    grid.place = place.map(|place| place.from([part[0].start, part[1].start]));
    (grid.columns, grid.rows) = (part[0].len(), part[1].len());
    let no_data = text(&mut tags, 42_113).and_then(|text| number_of(&text));
    let metadata = text(&mut tags, 42_112).unwrap_or_default();
    let photometric = first(&mut tags, 262).unwrap_or(1);
    let is_colour = photometric == 2 || photometric == 6 || layout.bands >= 3;
    if is_colour && grid.place.is_some() {
        let cause = format!("it has {} to a post, and heights are one number", counted(layout.bands as u64, "number"));
        return Err(unsupported(path, cause, "take the band of heights: gdal_translate -b 1 FILE.tif HEIGHTS.tif"));
    }
    if photometric == 3 {
        return Err(unsupported(
            path,
            "its numbers are those of a palette",
            "make grey steps of it: gdal_translate -expand gray",
        ));
    }
    let bands = if is_colour { 3.min(layout.bands) } else { 1 };
    let numbers = (bands + usize::from(mask.is_some())) as u64;
    let hint = "take a part: --window x,y,x,y, or make it smaller: gdal_translate -outsize 25% 25%";
    fits(path, [grid.columns as u64, grid.rows as u64], numbers, hint)?;
    let mut planes = samples(&layout, &part, bytes, path, bands)?;
    if is_colour && bands == 3 {
        let [blue, green, mut red] = [planes.pop(), planes.pop(), planes.pop()].map(Option::unwrap_or_default);
        let mut coloured = false;
        for ((r, g), b) in red.iter_mut().zip(&green).zip(&blue) {
            let (luma, colour) = grey([*r as u16, *g as u16, *b as u16]);
            (*r, coloured) = (luma, coloured | colour);
        }
        grid.warnings.extend(coloured.then(|| COLOUR.to_owned()));
        grid.heights = red;
    } else {
        grid.heights = planes.swap_remove(0);
    }
    if let Some(number) = mask
        && let Some(shown) = mask_of(&mut tags, number, [columns, rows], &part, bytes, path)?
    {
        grid.heights.iter_mut().zip(shown).filter(|(_, shown)| *shown == 0.0).for_each(|(h, _)| *h = f64::NAN);
    }
    let item = |name: &str| keys::item(&metadata, name);
    let [scale, offset] = ["SCALE", "OFFSET"].map(|name| item(name).and_then(|text| number_of(&text)));
    let unit = item("UNITTYPE").map_or(Ok(1.0), |text| keys::unit(&text).ok_or(text));
    let unit = match (unit, keys.vertical_unit()) {
        (Ok(1.0), Some(unit)) => unit,
        (Ok(unit), _) => unit,
        (Err(text), _) => {
            let cause = format!("its heights are in {:?}, which is not known", bounded(&text));
            return Err(unsupported(path, cause, "make metres of them: gdal_calc.py"));
        }
    };
    let (scale, offset) = (scale.unwrap_or(1.0), offset.unwrap_or(0.0));
    if scale == 0.0 || !scale.is_finite() || !offset.is_finite() {
        return Err(damaged(path, format!("its heights are scaled by {scale} and moved by {offset}")));
    }
    grid.scale = ((scale, offset, unit) != (1.0, 0.0, 1.0)).then_some([scale, offset, unit]);
    if let Some([scale, offset, unit]) = grid.scale {
        grid.heights.iter_mut().for_each(|h| *h = (*h * scale + offset) * unit);
    }
    // as the file's own numbers have it
    let own = |void: f64| if layout.sample == Sample::Float(4) { f64::from(void as f32) } else { void };
    grid.void = no_data.map(|void| grid.metres(own(void)));
    grid.steps = grid.place.is_none() && !matches!(layout.sample, Sample::Float(_));
    Ok(grid)
}

/// What is said of colours where heights should be.
pub const COLOUR: &str =
    "a colour picture: its luma is taken for heights; where colours pack heights, unpack them first";

fn unsigned(tags: &mut Tags, tag: u16) -> Option<Vec<u64>> {
    tags.find_tag(Tag::from_u16_exhaustive(tag)).ok()??.into_u64_vec().ok()
}

fn first(tags: &mut Tags, tag: u16) -> Option<u64> {
    unsigned(tags, tag)?.first().copied()
}

fn doubles(tags: &mut Tags, tag: u16) -> Vec<f64> {
    let value = tags.find_tag(Tag::from_u16_exhaustive(tag)).ok().flatten();
    value.and_then(|value| value.into_f64_vec().ok()).unwrap_or_default()
}

fn text(tags: &mut Tags, tag: u16) -> Option<String> {
    match tags.find_tag(Tag::from_u16_exhaustive(tag)).ok()?? {
        Value::Ascii(text) => Some(text),
        other => {
            let bytes = other.into_u8_vec().ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
    }
}

/// A number as text has it, nan among them.
fn number_of(text: &str) -> Option<f64> {
    fast_float2::parse(text.trim_matches(['\0', ' ', '\n', '\r', '\t'])).ok()
}

/// How samples stand in the file.
fn layout(tags: &mut Tags, path: &Path) -> Result<Layout, ImportError> {
    let needed = |tags: &mut Tags, tag: u16, name: &str| {
        first(tags, tag).ok_or_else(|| damaged(path, format!("it does not say its {name}")))
    };
    let most = |v: u64, name: &str| {
        let fits = usize::try_from(v).ok().filter(|v| (1..1 << 31).contains(v));
        fits.ok_or_else(|| damaged(path, format!("its {name} is {v}")))
    };
    let columns = most(needed(tags, 256, "width")?, "width")?;
    let rows = most(needed(tags, 257, "height")?, "height")?;
    let bands = most(first(tags, 277).unwrap_or(1), "number of bands")?;
    let bits = unsigned(tags, 258).unwrap_or_else(|| vec![1]);
    let formats = unsigned(tags, 339).unwrap_or_else(|| vec![1]);
    if bits.iter().any(|b| *b != bits[0]) || formats.iter().any(|f| *f != formats[0]) {
        return Err(unsupported(
            path,
            "its bands are of different kinds",
            "take the band of heights: gdal_translate -b 1",
        ));
    }
    let sample = match (formats.first().copied().unwrap_or(1), bits[0]) {
        (1 | 4, bits @ (1 | 2 | 4)) => Sample::Packed(bits as u32),
        (1 | 4, bits @ (8 | 16 | 32 | 64)) => Sample::Unsigned(bits as usize / 8),
        (2, bits @ (8 | 16 | 32 | 64)) => Sample::Signed(bits as usize / 8),
        (3, bits @ (32 | 64)) => Sample::Float(bits as usize / 8),
        (format, bits) => {
            let cause = format!("its numbers have {bits} bits of sample format {format}, which is not read");
            return Err(unsupported(path, cause, "make another type of them: gdal_translate -ot Float32"));
        }
    };
    let tiled = first(tags, 322).zip(first(tags, 323));
    let chunk = match tiled {
        Some((width, height)) => [most(width, "tile width")?, most(height, "tile height")?],
        None => {
            let lines = first(tags, 278).unwrap_or(rows as u64).clamp(1, rows as u64);
            [columns, lines as usize]
        }
    };
    let compression = first(tags, 259).unwrap_or(1);
    let predictor = first(tags, 317).unwrap_or(1);
    let planar = first(tags, 284).unwrap_or(1) == 2;
    let [offsets, counts] = if tiled.is_some() { [324, 325] } else { [273, 279] }.map(|tag| unsigned(tags, tag));
    let (Some(offsets), Some(counts)) = (offsets, counts) else {
        return Err(damaged(path, "it does not say where its strips or tiles are"));
    };
    let big = tags.byte_order() == ::tiff::tags::ByteOrder::BigEndian;
    Ok(Layout {
        columns,
        rows,
        bands,
        sample,
        chunk,
        is_tiled: tiled.is_some(),
        compression,
        predictor,
        planar,
        offsets,
        counts,
        big,
    })
}

/// The samples of the first bands in a part of the image, each row by row.
fn samples(
    layout: &Layout,
    part: &[Range<usize>; 2],
    bytes: &[u8],
    path: &Path,
    bands: usize,
) -> Result<Vec<Vec<f64>>, ImportError> {
    let Layout { columns, rows, chunk: [width, height], .. } = *layout;
    let across = columns.div_ceil(width);
    let down = rows.div_ceil(height);
    let stored = if layout.planar { 1 } else { layout.bands };
    let wanted = (across * down) * if layout.planar { layout.bands } else { 1 };
    if layout.offsets.len() < wanted || layout.counts.len() < wanted {
        let cause = format!("it lists {} strips or tiles, and needs {wanted}", layout.offsets.len());
        return Err(damaged(path, cause));
    }
    let row_bytes = layout.sample.row_bytes(width * stored);
    let most = row_bytes.checked_mul(height).filter(|n| *n <= MAX_CHUNK);
    if most.is_none() {
        let cause = format!("its strips or tiles have more than {} MiB each", MAX_CHUNK >> 20);
        return Err(unsupported(path, cause, "make smaller ones: gdal_translate -co TILED=YES"));
    }
    let wide = part[0].len();
    let mut planes = vec![vec![f64::NAN; wide * part[1].len()]; bands];
    let mut chunk = Vec::new();
    for number in 0..wanted {
        let band = number / (across * down);
        if layout.planar && band >= bands {
            break;
        }
        let (i, j) = (number % across, number / across % down);
        let lines = if layout.is_tiled { height } else { height.min(rows - j * height) };
        let name = || format!("{} {number}", if layout.is_tiled { "tile" } else { "strip" });
        let (at, count) = (layout.offsets[number], layout.counts[number]);
        // what both have; sparse ones have no data
        let shared = |own: Range<usize>, part: &Range<usize>| own.start.max(part.start)..own.end.min(part.end);
        let across = shared(i * width..(i + 1) * width, &part[0]);
        let along = shared(j * height..(j + 1) * height, &part[1]);
        if count == 0 || across.is_empty() || along.is_empty() {
            continue;
        }
        let own = usize::try_from(at).ok().and_then(|at| bytes.get(at..)?.get(..usize::try_from(count).ok()?));
        let own = own.ok_or_else(|| damaged(path, format!("its {} lies beyond its end", name())))?;
        chunk.clear();
        chunk.resize(row_bytes * lines, 0u8);
        decode(layout.compression, own, &mut chunk).map_err(|fault| match fault {
            chunk::Fault::Method => unsupported(
                path,
                format!("its compression {} is not read", layout.compression),
                "make another one of it: gdal_translate -co COMPRESS=DEFLATE",
            ),
            chunk::Fault::Short(found) => {
                damaged(path, format!("its {} has {found} bytes, and {} are needed", name(), row_bytes * lines))
            }
            chunk::Fault::Broken(why) => damaged(path, format!("its {} cannot be unpacked: {why}", name())),
        })?;
        if !unpredict(layout, &mut chunk, row_bytes, stored) {
            let cause = format!("its predictor {} of such numbers is not read", layout.predictor);
            return Err(unsupported(path, cause, "make another one of it: gdal_translate -co PREDICTOR=1"));
        }
        let (left, top) = (i * width, j * height);
        let native = layout.is_native();
        for line in along {
            let row = &chunk[(line - top) * row_bytes..][..row_bytes];
            let own = if layout.planar { band..band + 1 } else { 0..bands };
            for (k, plane) in planes[own].iter_mut().enumerate() {
                let to = (line - part[1].start) * wide + across.start - part[0].start;
                let to = &mut plane[to..][..across.len()];
                layout.sample.values(row, native, layout.big, (across.start - left) * stored + k, stored, to);
            }
        }
    }
    Ok(planes)
}

/// Bytes of a strip or tile at most.
const MAX_CHUNK: usize = 256 << 20;

/// What a mask of the same size shows, if there is one that can be read.
fn mask_of(
    tags: &mut Tags,
    number: usize,
    size: [usize; 2],
    part: &[Range<usize>; 2],
    bytes: &[u8],
    path: &Path,
) -> Result<Option<Vec<f64>>, ImportError> {
    if tags.seek_to_image(number).is_err() {
        return Ok(None);
    }
    let layout = layout(tags, path)?;
    if [layout.columns, layout.rows] != size {
        return Ok(None);
    }
    Ok(Some(samples(&layout, part, bytes, path, 1)?.swap_remove(0)))
}

/// Where posts lie: by scale and tie point, by a matrix, or by tie points alone.
fn place(tags: &mut Tags, keys: &Keys, path: &Path) -> Result<Option<Affine>, ImportError> {
    let [scale, ties, matrix] = [33_550, 33_922, 34_264].map(|tag| doubles(tags, tag));
    // a post is the centre of a pixel
    let half = if keys.is_point() { 0.0 } else { 0.5 };
    let sane = |place: Affine| {
        let Affine { zero, column, row } = place;
        let all = [zero, column, row].into_iter().flatten().all(f64::is_finite);
        if all && place.back().is_some() { Ok(Some(place)) } else { Err(damaged(path, "its posts lie on a line")) }
    };
    if let ([sx, sy, ..], [i, j, _, x, y, ..]) = (&scale[..], &ties[..]) {
        let zero = [x + (half - i) * sx, y - (half - j) * sy];
        return sane(Affine::north_up(zero, [*sx, *sy]));
    }
    if let [a, b, _, x, d, e, _, y, ..] = matrix[..] {
        let zero = [x + half * (a + b), y + half * (d + e)];
        return sane(Affine { zero, column: [a, d], row: [b, e] });
    }
    let ties: Vec<[f64; 4]> = ties.chunks_exact(6).map(|t| [t[0], t[1], t[3], t[4]]).collect();
    match ties.len() {
        0..3 => Ok(None),
        _ => match keys::fit(&ties) {
            Some((place, off)) if off <= 0.01 => {
                let zero = place.at(half, half);
                sane(Affine { zero, ..place })
            }
            _ => Err(unsupported(
                path,
                "its ground control points lie on no plane grid",
                "lay it on one: gdalwarp -tps FILE.tif GRID.tif",
            )),
        },
    }
}
