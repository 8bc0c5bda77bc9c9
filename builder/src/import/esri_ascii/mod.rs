//! Esri ASCII grids: a few keys, then heights as text, row by row from the north.

use super::ImportError;
use super::heights::{Affine, HeightGrid, damaged, posts};
use super::{ImportErrorKind, Place};
use std::path::Path;

/// Keys that a head may have.
const KEYS: [&str; 10] =
    ["ncols", "nrows", "xllcorner", "yllcorner", "xllcenter", "yllcenter", "cellsize", "dx", "dy", "nodata_value"];

pub fn read(bytes: &[u8], path: &Path) -> Result<HeightGrid, ImportError> {
    let wrong = |line: usize, cause: String| ImportError {
        kind: ImportErrorKind::Input,
        file: path.into(),
        place: Place::Line(line as u64),
        cause,
        hint: "an Esri ASCII grid has ncols, nrows, xllcorner, yllcorner, cellsize, and then heights".into(),
        next: None,
    };
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut values: [Option<f64>; KEYS.len()] = [None; KEYS.len()];
    let (mut rest, mut line) = (bytes, 0);
    // the head: lines that begin with a letter
    loop {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let text = rest[..end].trim_ascii();
        line += 1;
        if text.is_empty() && end < rest.len() {
            rest = &rest[end..];
            continue;
        }
        let is_head =
            text.first().is_some_and(u8::is_ascii_alphabetic) && !text.to_ascii_lowercase().starts_with(b"nan");
        if !is_head {
            break;
        }
        let text = String::from_utf8_lossy(text);
        let mut words = text.split_ascii_whitespace();
        let key = words.next().unwrap_or_default().to_ascii_lowercase();
        let Some(k) = KEYS.iter().position(|known| *known == key) else {
            return Err(wrong(line, format!("{:?} is no key of such a head", crate::util::text::bounded(&key))));
        };
        let number = words.next().and_then(|word| fast_float2::parse::<f64, _>(word).ok());
        let Some(number) = number.filter(|v| v.is_finite() || KEYS[k] == "nodata_value") else {
            return Err(wrong(line, format!("{key} needs a number")));
        };
        values[k] = Some(number);
        rest = &rest[end..];
        if rest.is_empty() {
            break;
        }
    }
    let needed = |k: usize| values[k].ok_or_else(|| damaged(path, format!("its head has no {}", KEYS[k])));
    let whole = |k: usize| {
        let value = needed(k)?;
        let is_whole = value.fract() == 0.0 && (1.0..1e9).contains(&value);
        if is_whole { Ok(value as u64) } else { Err(damaged(path, format!("{} is {value}", KEYS[k]))) }
    };
    let [columns, rows] = [whole(0)?, whole(1)?];
    let cell = match (values[6], values[7], values[8]) {
        (Some(cell), None, None) => [cell; 2],
        (None, Some(dx), Some(dy)) => [dx, dy],
        _ => return Err(damaged(path, "its head needs cellsize, or dx and dy")),
    };
    if !cell.iter().all(|v| *v > 0.0) {
        return Err(damaged(path, "its cells have no size"));
    }
    let corner = |corner: usize, centre: usize, cell: f64| match (values[corner], values[centre]) {
        (Some(v), None) => Ok(v + cell / 2.0),
        (None, Some(v)) => Ok(v),
        _ => Err(damaged(path, format!("its head needs {} or {}", KEYS[corner], KEYS[centre]))),
    };
    let [west, south] = [corner(2, 4, cell[0])?, corner(3, 5, cell[1])?];
    let count = posts(path, [columns, rows], bytes.len())?;
    let (columns, rows) = (columns as usize, rows as usize);
    let void = values[9];
    let mut heights = Vec::with_capacity(count.min(bytes.len() / 2 + 1));
    let is_space = |b: &u8| b.is_ascii_whitespace();
    while let Some(start) = rest.iter().position(|b| !is_space(b)) {
        line += memchr::memchr_iter(b'\n', &rest[..start]).count();
        rest = &rest[start..];
        let end = rest.iter().position(is_space).unwrap_or(rest.len());
        let word = &rest[..end];
        let Ok(value) = fast_float2::parse::<f64, _>(word) else {
            let word = String::from_utf8_lossy(word);
            return Err(wrong(line, format!("{:?} is no number", crate::util::text::bounded(&word))));
        };
        if heights.len() == count {
            return Err(wrong(line, format!("there are more heights than {columns} x {rows}")));
        }
        heights.push(value);
        rest = &rest[end..];
    }
    if heights.len() < count {
        return Err(damaged(path, format!("it ends after {} of {count} heights", heights.len())));
    }
    let north = south + (rows - 1) as f64 * cell[1];
    Ok(HeightGrid {
        format: "asc",
        columns,
        rows,
        heights,
        place: Some(Affine::north_up([west, north], cell)),
        void,
        ..HeightGrid::default()
    })
}
