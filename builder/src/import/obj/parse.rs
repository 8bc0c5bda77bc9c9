//! One part of a file, as numbers that know nothing of what stands before it.

use crate::import::MAX_VERTICES;
use crate::import::report::{Tally, Thing};
use crate::import::text::{Cursor, name, quoted};
use crate::settings::frame::Transform;
use crate::util::text::LONG_NAME;

/// Stand for the numbers of vertices that no file has: 0, before the first, beyond what can be counted.
pub const ZERO: u32 = u32::MAX;
pub const BACK: u32 = u32::MAX - 1;
pub const HUGE: u32 = u32::MAX - 2;
const _: () = assert!(MAX_VERTICES == HUGE as usize);

/// Content of whole lines of a file.
#[derive(Default)]
pub struct Piece {
    /// Ends of lines in it.
    pub lines: u32,
    /// Vertices before it, once that is known.
    pub base: u32,
    /// Metres, z up.
    pub positions: Vec<[f64; 3]>,
    /// Numbers of the faces' vertices from zero, the first of the file, or [`ZERO`], [`BACK`], [`HUGE`]; of those in
    /// `relative`, from the first of this piece, wrapped below it.
    pub corners: Vec<u32>,
    /// Places in `corners`, ascending.
    pub relative: Vec<u32>,
    /// Faces in order.
    pub faces: Vec<Face>,
    /// Names in order.
    pub changes: Vec<Change>,
    /// `mtllib` statements, each with its line from zero.
    pub libraries: Vec<(u32, String)>,
    /// Counts; lines from 1.
    pub tally: Tally,
    /// Whether a position is not finite.
    pub not_finite: bool,
}

/// A face of a piece.
pub struct Face {
    /// Its line, from zero.
    pub line: u32,
    /// End of its corners.
    pub end: u32,
}

/// A name that holds from a face on.
pub struct Change {
    pub face: u32,
    pub what: What,
    pub name: String,
}

/// The kind of thing that a name names.
#[derive(Clone, Copy)]
pub enum What {
    /// Ends the group too.
    Object,
    Group,
    Material,
}

/// A line that cannot be read.
pub struct Fault {
    /// From zero.
    pub line: u32,
    pub cause: String,
    pub hint: &'static str,
}

const AGAIN: &str = "mend the line, or export the mesh again";

pub fn parse(bytes: &[u8], transform: &Transform) -> Result<Piece, Fault> {
    let mut piece = Piece::default();
    let p = &mut piece;
    // what stands before it may be wrong in another way
    let zero = memchr::memchr(0, bytes);
    let before =
        zero.map_or(bytes, |at| &bytes[..memchr::memrchr2(b'\n', b'\r', &bytes[..at]).map_or(0, |end| end + 1)]);
    let mut c = Cursor::new(before);
    while c.peek().is_some() {
        c.blanks();
        if c.is_over() {
            c.next_line();
            continue;
        }
        let line = c.line;
        let see = |tally: &mut Tally, thing| tally.see(thing, u64::from(line) + 1);
        match c.word() {
            b"v" => {
                let mut point = [0.0; 3];
                for (k, v) in point.iter_mut().enumerate() {
                    *v = number(&mut c, k).map_err(|cause| Fault { line, cause, hint: AGAIN })?;
                }
                let point = transform.apply(point);
                p.not_finite |= !point.iter().all(|v| v.is_finite());
                p.positions.push(point);
                c.blanks();
                if !c.is_over() && c.peek() != Some(b'#') {
                    see(&mut p.tally, Thing::Colours);
                }
            }
            b"f" | b"fo" => {
                while let Some(corner) =
                    corner(&mut c, p.positions.len()).map_err(|cause| Fault { line, cause, hint: AGAIN })?
                {
                    match corner {
                        Corner::Absolute(v) => p.corners.push(v),
                        Corner::Relative(v) => {
                            p.relative.push(p.corners.len() as u32);
                            p.corners.push(v as u32);
                        }
                    }
                }
                p.faces.push(Face { line, end: p.corners.len() as u32 });
            }
            b"vn" => see(&mut p.tally, Thing::Normals),
            b"vt" => see(&mut p.tally, Thing::TextureCoordinates),
            word @ (b"o" | b"g" | b"usemtl") => {
                let what = match word {
                    b"o" => What::Object,
                    b"g" => What::Group,
                    _ => What::Material,
                };
                let words = c.words();
                if std::str::from_utf8(&words).is_err() {
                    see(&mut p.tally, Thing::Names);
                }
                let name = name(&words).into_owned();
                if matches!(what, What::Material) && name.len() > usize::from(u16::MAX) {
                    return Err(Fault {
                        line,
                        cause: format!("{}: {}", LONG_NAME[0], quoted(&words)),
                        hint: LONG_NAME[1],
                    });
                }
                p.changes.push(Change { face: p.faces.len() as u32, what, name });
            }
            b"mtllib" => p.libraries.push((line, name(&c.words()).into_owned())),
            b"p" | b"l" => see(&mut p.tally, Thing::PointsAndLines),
            b"curv" | b"curv2" | b"surf" => see(&mut p.tally, Thing::FreeForm),
            b"call" => see(&mut p.tally, Thing::Includes),
            word if word.starts_with(b"#") => {
                c.next_line();
                continue;
            }
            // display, smoothing, and the insides of free-form geometry
            b"s" | b"vp" | b"deg" | b"bmat" | b"step" | b"cstype" | b"parm" | b"trim" | b"hole" | b"scrv" | b"sp"
            | b"end" | b"con" | b"mg" | b"bevel" | b"c_interp" | b"d_interp" | b"lod" | b"usemap" | b"maplib"
            | b"shadow_obj" | b"trace_obj" | b"ctech" | b"stech" | b"bsp" | b"bzp" | b"cdc" | b"cdp" | b"res"
            | b"t" => {}
            word if is_joined(word) => {
                let cause = format!("{}: a no-break space stands in it", quoted(word));
                return Err(Fault { line, cause, hint: "write a plain space instead" });
            }
            _ => see(&mut p.tally, Thing::Unknown),
        }
        c.next_statement();
    }
    if zero.is_some() {
        let cause = "a byte of zero stands in this line, as in UTF-16 without its mark".into();
        return Err(Fault { line: c.line, cause, hint: "save it as UTF-8" });
    }
    p.lines = c.line;
    p.tally.add(Thing::Continued, c.continued.into());
    p.corners.shrink_to_fit();
    p.faces.shrink_to_fit();
    Ok(piece)
}

/// Whether a no-break space, of UTF-8 or of Latin-1, joins a statement's name to what follows or goes before.
#[cold]
fn is_joined(word: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [b"v", b"f", b"fo", b"o", b"g", b"usemtl", b"mtllib"];
    let mut parts = word.split(|&b| b == 0xA0).map(|part| part.strip_suffix(b"\xC2").unwrap_or(part));
    word.contains(&0xA0) && parts.find(|part| !part.is_empty()).is_some_and(|part| NAMES.contains(&part))
}

/// Coordinate `k` of a vertex.
#[inline]
fn number(c: &mut Cursor, k: usize) -> Result<f64, String> {
    c.blanks();
    if let Ok((value, len)) = fast_float2::parse_partial::<f64, _>(c.rest())
        && c.word_ends(len)
    {
        c.step(len);
        return Ok(value);
    }
    odd_number(c.word(), k)
}

#[cold]
fn odd_number(word: &[u8], k: usize) -> Result<f64, String> {
    let lower = word.to_ascii_lowercase();
    let size = lower.strip_prefix(b"-").or(lower.strip_prefix(b"+")).unwrap_or(&lower);
    // as the C libraries write them
    if matches!(size, b"nan" | b"inf" | b"infinity")
        || [&b"nan("[..], b"1.#ind", b"1.#inf", b"1.#qnan", b"1.#snan"].iter().any(|n| size.starts_with(n))
    {
        return Ok(f64::NAN);
    }
    let plain = word.split(|&b| b == b'#').next().unwrap_or_default();
    if plain.is_empty() {
        return Err(format!("a vertex needs three numbers and has {k}"));
    }
    fast_float2::parse(plain).map_err(|_| {
        let comma = plain.iter().filter(|&&b| b == b',').count() == 1;
        let advice = if comma { " (numbers have a point, not a comma)" } else { "" };
        format!("{} is not a number{advice}", quoted(plain))
    })
}

enum Corner {
    /// From zero, the first of the file.
    Absolute(u32),
    /// From zero, the first of this piece.
    Relative(i32),
}

/// The next corner of a face, `count` vertices into the piece; what follows a slash is of no use.
#[inline]
fn corner(c: &mut Cursor, count: usize) -> Result<Option<Corner>, String> {
    c.blanks();
    let rest = c.rest();
    let negative = rest.first() == Some(&b'-');
    let sign = usize::from(negative || rest.first() == Some(&b'+'));
    let mut value = 0u64;
    let mut len = sign;
    while let Some(d) = rest.get(len).filter(|b| b.is_ascii_digit()) {
        value = (value * 10 + u64::from(d - b'0')).min(1 << 40);
        len += 1;
    }
    if len == sign {
        return if c.is_over() || c.peek() == Some(b'#') { Ok(None) } else { Err(no_index(c.word())) };
    }
    match rest.get(len) {
        Some(b'/') => {
            c.step(len);
            c.word();
        }
        _ if c.word_ends(len) => c.step(len),
        Some(b'#') => c.step(len),
        _ => {
            let word = c.word();
            if word.len() != len {
                return Err(no_index(word));
            }
        }
    }
    Ok(Some(match (negative, value) {
        (_, 0) => Corner::Absolute(ZERO),
        (true, _) => i32::try_from(count as i64 - value as i64).map_or(Corner::Absolute(BACK), Corner::Relative),
        (false, _) => Corner::Absolute(u32::try_from(value - 1).unwrap_or(HUGE).min(HUGE)),
    }))
}

#[cold]
fn no_index(word: &[u8]) -> String {
    let comma = if word.contains(&b',') { "; numbers have no comma" } else { "" };
    format!("{} is no corner of a face (i, i/i, i//i or i/i/i are{comma})", quoted(word))
}
