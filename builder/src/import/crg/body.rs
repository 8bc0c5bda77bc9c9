//! The numbers of an OpenCRG: rows of channels, as text or binary.

use super::head::{Body, Channel, Format, Head, Kind, fault, next_line, number};
use crate::import::{ImportError, MAX_VERTICES, Place, bytes, text::quoted, too_many};
use crate::util::text::{counted, decimal, grouped};
use std::path::Path;

/// Rows of numbers, apart by what they are.
#[derive(Default)]
pub struct Rows {
    pub count: usize,
    /// v of the long sections, ascending.
    pub v: Vec<f64>,
    /// Whether the file lists them, instead of an increment.
    pub listed: bool,
    /// Heights, row by row, in the order of v; NaN where there is none.
    pub z: Vec<f64>,
    pub x: Option<Vec<f64>>,
    pub y: Option<Vec<f64>>,
    pub phi: Option<Vec<f64>>,
    pub banking: Option<Vec<f64>>,
    pub slope: Option<Vec<f64>>,
    /// Channels that are passed over.
    pub unused: usize,
    /// Whether the file does not say where its right border lies.
    pub assumed: bool,
}

/// Metres from which on a number is no height.
const HIGHEST: f64 = 1e4;
/// Metres from which on a number is no place.
const FARTHEST: f64 = 1e9;
/// Bytes of a record.
const RECORD: usize = 80;
const AGAIN: &str = "copy the file again, as binary, or export it again";
const DAMAGE: &str = "bytes are missing or too many, as after a conversion of line ends";

/// Reads the numbers.
pub fn read(head: &Head) -> Result<Rows, ImportError> {
    let path = head.file();
    let Some(body) = &head.body else {
        return Err(ImportError::input(path, "no line $$$$ leads to its numbers", "export it again"));
    };
    let Some(format) = head.format else {
        return Err(ImportError::input(
            path,
            "it does not state how its numbers are written",
            "write #:LRFI, or such, below $KD_DEFINITION",
        ));
    };
    let (mut rows, order) = sections(head)?;
    let increment = increment(head)?;
    let stated = stated(head, increment)?;
    let has = |kind: Kind| head.channels.iter().any(|c| c.kind == kind).then(Vec::new);
    rows.x = has(Kind::X);
    rows.y = has(Kind::Y);
    rows.phi = has(Kind::Phi);
    rows.banking = has(Kind::Banking);
    rows.slope = has(Kind::Slope);
    if rows.x.is_some() != rows.y.is_some() {
        return Err(ImportError::input(path, "it has one of reference line x and y", "export both"));
    }
    rows.unused = head.channels.iter().filter(|c| c.kind == Kind::Other).count();
    let start = head.road.or_zero("reference_line_start_u");
    let mut take = |values: &[f64], place: Place| {
        let wrong = |cause: String| ImportError { place, ..ImportError::input(path, cause, AGAIN) };
        let row = rows.count;
        if (row + 1) * rows.v.len() > MAX_VERTICES {
            return Err(too_many(path, "more than 4,294,967,293 posts"));
        }
        for (channel, value) in head.channels.iter().zip(values) {
            let (list, name, most, may_lack) = match channel.kind {
                Kind::At(_) | Kind::Number(_) => {
                    if value.abs() > HIGHEST {
                        return Err(wrong(format!("row {}: {value:e} m is no height; {DAMAGE}", row + 1)));
                    }
                    continue;
                }
                Kind::X => (&mut rows.x, "x", FARTHEST, row == 0),
                Kind::Y => (&mut rows.y, "y", FARTHEST, row == 0),
                Kind::Phi => (&mut rows.phi, "phi", HIGHEST, row == 0),
                Kind::Slope => (&mut rows.slope, "slope", HIGHEST, row == 0),
                Kind::Banking => (&mut rows.banking, "banking", HIGHEST, false),
                Kind::U => {
                    let due = start + row as f64 * increment;
                    if value.is_nan() || (value - due).abs() > 0.01 * increment {
                        let cause = format!("row {}: u is {value}, and by its increment {}", row + 1, decimal(due));
                        return Err(wrong(cause));
                    }
                    continue;
                }
                Kind::Other => continue,
            };
            if !(value.abs() <= most || may_lack && value.is_nan()) {
                let cause = format!("row {}: the {name} of the reference line is {value:e}", row + 1);
                return Err(wrong(cause));
            }
            list.get_or_insert_default().push(*value);
        }
        rows.z.extend(order.iter().map(|&column| values[column]));
        rows.count += 1;
        Ok(())
    };
    let columns = head.channels.len();
    match format.text {
        true => of_text(path, body, format, columns, &mut take)?,
        false => of_binary(path, body, format, columns, stated, &mut take)?,
    }
    if let Some(stated) = stated.filter(|n| *n != rows.count as u64) {
        let cause = format!(
            "it has {}, and u from {} to {} makes {}",
            counted(rows.count as u64, "row"),
            decimal(start),
            decimal(head.road.or_zero("reference_line_end_u")),
            grouped(stated)
        );
        return Err(ImportError::input(path, cause, "rows are missing or too many: copy it again, or export it again"));
    }
    if rows.count < 2 {
        let cause = format!("it has {}, and a road needs two", counted(rows.count as u64, "row"));
        return Err(ImportError::input(path, cause, "export it again"));
    }
    Ok(rows)
}

/// Way along the reference line from row to row.
pub fn increment(head: &Head) -> Result<f64, ImportError> {
    const KEY: &str = "reference_line_increment";
    let way = head.road.get(KEY).unwrap_or(0.01);
    if way > 0.0 {
        return Ok(way);
    }
    Err(head.road.fault(KEY, format!("{KEY} is {way}"), "write a way of more than zero, in metres"))
}

/// How many rows the section `$ROAD_CRG` states.
fn stated(head: &Head, increment: f64) -> Result<Option<u64>, ImportError> {
    let Some(end) = head.road.get("reference_line_end_u") else { return Ok(None) };
    let way = end - head.road.or_zero("reference_line_start_u");
    let count = (way / increment).round() + 1.0;
    if !(way >= 0.0 && count < 1e18) {
        let cause = format!("reference_line_end_u is {end}, which gives no rows");
        return Err(head.road.fault("reference_line_end_u", cause, "it lies behind reference_line_start_u"));
    }
    Ok(Some(count as u64))
}

/// Where the long sections lie, and the columns that have them.
fn sections(head: &Head) -> Result<(Rows, Vec<usize>), ImportError> {
    let path = head.file();
    let wrong = |channel: &Channel, cause: String| {
        Err(fault(path, channel.line, cause, "number them 1, 2, 3, or give each its own v"))
    };
    let of = |(column, channel): (usize, &Channel)| match channel.kind {
        Kind::At(v) => Some((v, column, true)),
        Kind::Number(n) => Some((n, column, false)),
        _ => None,
    };
    let mut all: Vec<(f64, usize, bool)> = head.channels.iter().enumerate().filter_map(of).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((_, _, listed)) = all.first().copied().filter(|_| all.len() > 1) else {
        let cause = format!("it has {}, and a road needs two", counted(all.len() as u64, "long section"));
        return Err(ImportError::input(path, cause, "write lines such as D:long section 1,m below $KD_DEFINITION"));
    };
    if let Some((_, column, _)) = all.iter().find(|(_, _, own)| *own != listed) {
        return wrong(&head.channels[*column], "some long sections have a number, and some a v".into());
    }
    let (mut rows, road) = (Rows { listed, ..Rows::default() }, &head.road);
    if listed {
        if let Some((_, (v, column, _))) = all.iter().zip(&all[1..]).find(|(a, b)| b.0 - a.0 < 1e-6) {
            return wrong(&head.channels[*column], format!("two long sections lie at v = {v}"));
        }
        rows.v = all.iter().map(|(v, ..)| *v).collect();
    } else {
        if let Some((n, (_, column, _))) = (1..).zip(&all).find(|(n, (own, ..))| f64::from(*n as u32) != *own) {
            return wrong(&head.channels[*column], format!("there is no long section {n}"));
        }
        let increment = road.get("long_section_v_increment").unwrap_or(0.01);
        if increment <= 0.0 {
            let cause = format!("long_section_v_increment is {increment}");
            return Err(road.fault("long_section_v_increment", cause, "write a way of more than zero, in metres"));
        }
        rows.assumed = road.get("long_section_v_right").is_none();
        let right = road.or_zero("long_section_v_right");
        rows.v = (0..all.len()).map(|i| right + i as f64 * increment).collect();
    }
    for (key, own) in [("long_section_v_right", rows.v[0]), ("long_section_v_left", rows.v[rows.v.len() - 1])] {
        // a file may state three digits of one and all of the other
        if let Some(said) = road.get(key).filter(|said| (said - own).abs() > 2e-3) {
            let cause = format!("{key} is {}, and that long section lies at {}", decimal(said), decimal(own));
            return Err(road.fault(key, cause, "make them alike"));
        }
    }
    Ok((rows, all.iter().map(|(_, column, _)| *column).collect()))
}

type Take<'a> = &'a mut dyn FnMut(&[f64], Place) -> Result<(), ImportError>;

fn of_binary(
    path: &Path,
    body: &Body,
    format: Format,
    columns: usize,
    rows: Option<u64>,
    take: Take,
) -> Result<(), ImportError> {
    let Some(rows) = rows else {
        let cause = "it is binary, and does not state where its reference line ends";
        return Err(ImportError::input(path, cause, "write REFERENCE_LINE_END_U below $ROAD_CRG"));
    };
    let width = if format.double { 8 } else { 4 };
    let record = match format.long {
        true => (columns * width).next_multiple_of(RECORD),
        false => columns * width,
    };
    let held = &body.bytes[body.at..];
    let wanted = u128::from(rows) * record as u128;
    let padded = wanted.next_multiple_of(RECORD as u128);
    // some programs do not fill the last record
    if ![wanted, padded].contains(&(held.len() as u128)) {
        let cause = format!(
            "{} of {} make {} bytes of numbers, and it has {}; {DAMAGE}",
            counted(rows, "row"),
            counted(columns as u64, "channel"),
            grouped(u64::try_from(padded).unwrap_or(u64::MAX)),
            grouped(held.len() as u64)
        );
        return Err(ImportError { place: Place::Byte(body.at as u64), ..ImportError::input(path, cause, AGAIN) });
    }
    let mut values = vec![0.0; columns];
    for row in 0..wanted as usize / record {
        for (column, value) in values.iter_mut().enumerate() {
            let at = row * record + column * width;
            *value = match format.double {
                true => bytes::at(held, at).map_or(f64::NAN, f64::from_be_bytes),
                false => bytes::at(held, at).map_or(f64::NAN, |b| f64::from(f32::from_be_bytes(b))),
            };
        }
        take(&values, Place::Byte((body.at + row * record) as u64))?;
    }
    Ok(())
}

fn of_text(path: &Path, body: &Body, format: Format, columns: usize, take: Take) -> Result<(), ImportError> {
    let width = if format.double { 20 } else { 10 };
    let in_line = RECORD / width;
    let mut values = Vec::with_capacity(columns.min(1 << 16));
    let (mut at, mut line) = (body.at, body.line);
    let mut began = line;
    while at < body.bytes.len() {
        let (text, next) = next_line(&body.bytes, at);
        at = next;
        let here = line;
        line += 1;
        let blank = text.trim_ascii_end();
        // some programs fill the end of a file
        if blank.is_empty() || blank.iter().all(|b| matches!(b, 0 | 0x1A)) {
            continue;
        }
        if values.is_empty() {
            began = here;
        }
        let room = match format.long {
            true => (columns - values.len()).min(in_line),
            false => in_line,
        };
        let numbers = text.chunks(width).take_while(|field| !field.trim_ascii().is_empty()).count();
        if numbers > room || format.long && numbers < room {
            let cause = format!("{} in this line, and {room} should be", counted(numbers as u64, "number"));
            let hint = format!("each takes {width} letters, {in_line} stand in a line, and each row begins a new one");
            return Err(fault(path, here, cause, &hint));
        }
        for field in text.chunks(width).take(numbers) {
            let Some(value) = field_of(field) else {
                let cause = format!("{} is not a number of {width} letters", quoted(field.trim_ascii()));
                return Err(fault(path, here, cause, "export the file again; *missing* stands for no height"));
            };
            values.push(value);
            if values.len() == columns {
                take(&values, Place::Line(began))?;
                values.clear();
                began = here;
            }
        }
    }
    if values.is_empty() {
        return Ok(());
    }
    let cause = format!("this row has {} of {columns} numbers: the file is cut off", values.len());
    Err(fault(path, began, cause, AGAIN))
}

/// A number, or NaN for what begins with `*`.
fn field_of(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    if text.starts_with('*') || text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    number(text).filter(|(_, more)| !more).map(|(value, _)| value)
}
