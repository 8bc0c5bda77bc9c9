//! Where an FBX file is broken, as far as its frame tells: the records of a binary file, the braces and quotes of a text.

use std::ops::Range;

/// How a binary file begins: then a byte that says whether its numbers are big-endian, and its version.
const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1A";
/// The version from which on records begin with numbers of 64 bits.
const WIDE: u32 = 7500;
/// Records in records: what is deeper is no FBX.
const DEEPEST: usize = 64;

/// A place that is not as it should be.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken {
    /// From zero.
    pub byte: u64,
    pub what: &'static str,
}

/// Whether a file begins as a binary one does, as far as it goes.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC) || MAGIC.starts_with(bytes)
}

/// A file that is as it should be.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// Where the last record ends.
    pub end: u64,
    /// Where the names of the records begin that are called [`EDGES`].
    pub edges: Vec<usize>,
    /// Whether a text in it is not UTF-8.
    pub foreign: bool,
    /// The first list of a text that is not as long as it states.
    pub miscounted: Option<Miscounted>,
}

/// A list of numbers in a text, `NAME: *STATED { a: ... }`. The library reads as many as there are.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Miscounted {
    /// Where its name begins.
    pub at: usize,
    pub name: String,
    /// The object that it is part of, in quotes as it stands there; empty if there is none.
    pub object: Range<usize>,
    pub stated: u64,
    pub held: u64,
}

/// Lists of edges, of which a ground has no use.
const EDGES: &[u8] = b"Edges";
/// Lists of which it has: others may be as long as they like.
const LISTS: [&[u8]; 3] = [b"Vertices", b"PolygonVertexIndex", b"Materials"];

/// The first broken place, or what there is to know of a whole file.
pub fn check(bytes: &[u8]) -> Result<Whole, Broken> {
    if is_binary(bytes) { Records::check(bytes) } else { braces(bytes) }
}

/// A walk over records: lengths and names alone, every byte at most once.
struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    big: bool,
    wide: bool,
}

impl<'a> Records<'a> {
    fn check(bytes: &'a [u8]) -> Result<Whole, Broken> {
        let mut whole = Whole::default();
        let mut r = Records { bytes, at: MAGIC.len(), big: false, wide: false };
        r.big = r.number(1)? != 0;
        r.wide = r.number(4)? >= u64::from(WIDE);
        // ends of the records that are open
        let mut open: Vec<usize> = Vec::new();
        loop {
            let start = r.at;
            let limit = open.last().copied().unwrap_or(bytes.len());
            if !open.is_empty() && start == limit {
                open.pop();
                continue;
            }
            let [end, count, length] = [r.header()?, r.header()?, r.header()?];
            let name = r.number(1)?;
            if end == 0 {
                if count != 0 || length != 0 || name != 0 {
                    return Err(r.broken(start, "a record that begins with a zero is not all zero"));
                }
                match open.pop() {
                    Some(limit) if limit == r.at => continue,
                    Some(_) => return Err(r.broken(start, "a record ends before the length that it states")),
                    None => return Ok(Whole { end: start as u64, ..whole }),
                }
            }
            let end = match usize::try_from(end) {
                Ok(end) if end > limit && open.is_empty() => {
                    return Err(r.broken(start, "the file ends within the record that begins here"));
                }
                Ok(end) if end <= limit => end,
                _ => return Err(r.broken(start, "a record states a length beyond the one that it is part of")),
            };
            let from = r.at;
            r.skip(name, end)?;
            if &bytes[from..r.at] == EDGES {
                whole.edges.push(from);
            }
            let behind = (r.at as u64).checked_add(length).filter(|&b| b <= end as u64);
            let behind = behind.ok_or(r.broken(start, "a record states a length beyond its own end"))? as usize;
            for _ in 0..count {
                let text = r.property(behind)?;
                whole.foreign |= std::str::from_utf8(text).is_err();
            }
            if r.at != behind {
                return Err(r.broken(start, "the properties of a record do not fill the length that it states"));
            }
            if open.len() > DEEPEST {
                return Err(r.broken(start, "records lie too deep in each other"));
            }
            open.push(end);
        }
    }

    fn broken(&self, byte: usize, what: &'static str) -> Broken {
        Broken { byte: byte as u64, what }
    }

    fn header(&mut self) -> Result<u64, Broken> {
        self.number(if self.wide { 8 } else { 4 })
    }

    fn number(&mut self, bytes: usize) -> Result<u64, Broken> {
        let cut = Broken { byte: self.bytes.len() as u64, what: "the file ends here, within a record" };
        let part = self.bytes.get(self.at..self.at + bytes).ok_or(cut)?;
        self.at += bytes;
        let push = |n: u64, b: &u8| n << 8 | u64::from(*b);
        Ok(if self.big { part.iter().fold(0, push) } else { part.iter().rev().fold(0, push) })
    }

    /// Passes bytes that must end before `limit`.
    fn skip(&mut self, bytes: u64, limit: usize) -> Result<(), Broken> {
        let end = (self.at as u64).checked_add(bytes).filter(|&end| end <= limit as u64);
        self.at = end.ok_or(self.broken(self.at, "what begins here is longer than its record"))? as usize;
        Ok(())
    }

    /// Passes a property; its bytes, if it is a text.
    fn property(&mut self, limit: usize) -> Result<&'a [u8], Broken> {
        let start = self.at;
        let kind = self.number(1)? as u8;
        let size = match kind {
            b'B' | b'C' | b'Z' | b'b' | b'c' => 1,
            b'Y' => 2,
            b'I' | b'F' | b'i' | b'f' => 4,
            b'L' | b'D' | b'l' | b'd' => 8,
            b'S' | b'R' => 0,
            _ => return Err(self.broken(start, "a property is of a kind that does not exist")),
        };
        let length = match kind {
            b'S' | b'R' => self.number(4)?,
            kind if kind.is_ascii_uppercase() => size,
            _ => {
                let (count, packed, length) = (self.number(4)?, self.number(4)?, self.number(4)?);
                if packed == 0 && length != count * size {
                    return Err(self.broken(start, "an array is not as long as its numbers are"));
                }
                length
            }
        };
        let from = self.at;
        self.skip(length, limit).map_err(|b| Broken { byte: start as u64, ..b })?;
        Ok(if kind == b'S' { &self.bytes[from..self.at] } else { &[] })
    }
}

/// Whether all braces and quotes of a text are closed, what stands behind the last of them is a whole line, and zero bytes,
/// at which the library would end, stand at the end alone.
fn braces(bytes: &[u8]) -> Result<Whole, Broken> {
    if let Some(at) = memchr::memchr(0, bytes)
        && !bytes[at..].iter().all(|b| matches!(b, 0 | 0x1A) || b.is_ascii_whitespace())
    {
        return Err(Broken { byte: at as u64, what: "a zero byte stands here, within the text" });
    }
    let (mut depth, mut last, mut at) = (0u64, None, 0);
    let (mut edges, mut foreign) = (Vec::new(), false);
    // a word that is a record's name if a colon follows
    let mut word = None;
    let (mut list, mut object, mut miscounted) = (List::default(), 0..0, None);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let before = at;
        match bytes[at] {
            b'{' => {
                depth += 1;
                object = if depth == 1 { 0..0 } else { object };
            }
            b'}' if depth == 0 => return Err(Broken { byte: at as u64, what: "a brace closes what none has opened" }),
            b'}' => {
                depth -= 1;
                object = if depth == 1 { 0..0 } else { object };
            }
            b'"' => match memchr::memchr(b'"', &rest[1..]) {
                Some(length) => {
                    at += 1 + length;
                    foreign |= std::str::from_utf8(&rest[..1 + length]).is_err();
                    object = if depth == 1 && object.is_empty() { before..at + 1 } else { object };
                }
                None => return Err(Broken { byte: at as u64, what: "a quotation begins here and never ends" }),
            },
            // a comment
            b';' => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b if is_of_word(b) => at += rest.iter().position(|&b| !is_of_word(b)).unwrap_or(rest.len()) - 1,
            _ => {}
        }
        let blank = matches!(bytes[before], b';' | 0 | 0x1A) || bytes[before].is_ascii_whitespace();
        if !blank {
            last = Some(at);
            edges.extend(word.take().filter(|_| bytes[before] == b':'));
            let token = &bytes[before..=at];
            if let Some(found) = list.read(before, token) {
                miscounted = miscounted.or(Some(Miscounted { object: object.clone(), ..found }));
            }
            if token == EDGES {
                word = Some(before);
            } else if token.strip_prefix(b"\"").and_then(|t| t.strip_suffix(b"\"")) == Some(EDGES) {
                word = Some(before + 1);
            }
        }
        at += 1;
    }
    let is_end = |last: usize| match bytes[last] {
        b'}' => true,
        b':' | b',' => false,
        _ => memchr::memchr2(b'\n', b'\r', &bytes[last..]).is_some(),
    };
    match last {
        Some(last) if depth == 0 && is_end(last) => Ok(Whole { end: last as u64 + 1, edges, foreign, miscounted }),
        _ => Err(Broken { byte: bytes.len() as u64, what: "the file ends here, within a record" }),
    }
}

/// A list of numbers in a text, as far as it has been read.
#[derive(Default)]
struct List {
    part: Part,
    now: Miscounted,
    /// Whether the next word begins a number.
    is_next: bool,
}

/// What stood last of a list.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Part {
    #[default]
    None,
    Name,
    Colon,
    Star,
    Count,
    Brace,
    Key,
    Numbers,
}

impl List {
    /// Reads on. At the end of a list that is not as long as it states, returns it.
    fn read(&mut self, at: usize, token: &[u8]) -> Option<Miscounted> {
        self.part = match (self.part, token) {
            (Part::Name, b":") => Part::Colon,
            (Part::Colon, b"*") => Part::Star,
            (Part::Star, count) => {
                // what is no count is more than any list holds
                let count = std::str::from_utf8(count).ok().and_then(|count| count.parse().ok());
                self.now.stated = count.unwrap_or(u64::MAX);
                Part::Count
            }
            (Part::Count, b"{") => Part::Brace,
            (Part::Brace, b"a") => Part::Key,
            (Part::Key, b":") => {
                self.is_next = true;
                Part::Numbers
            }
            (Part::Brace | Part::Numbers, b"}") => {
                self.part = Part::None;
                let list = std::mem::take(&mut self.now);
                return (list.held != list.stated).then_some(list);
            }
            (Part::Numbers, b",") => {
                self.is_next = true;
                Part::Numbers
            }
            (Part::Numbers, _) => {
                self.now.held += u64::from(std::mem::take(&mut self.is_next));
                Part::Numbers
            }
            (_, name) if LISTS.contains(&name) => {
                let name = String::from_utf8_lossy(name).into();
                self.now = Miscounted { at, name, ..Miscounted::default() };
                Part::Name
            }
            _ => Part::None,
        };
        None
    }
}

fn is_of_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'(' | b')')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that the library need not take the file apart to tell.
    #[test]
    fn texts_that_are_not_utf8_are_seen() {
        for (name, foreign) in [(&b"stra\xC3\x9Fe"[..], false), (b"stra\xDFe", true)] {
            let text =
                [b"; FBX 7.4.0 project file\n; \xDF\nObjects: {\nModel: 1, \"Model::", name, b"\" {\n}\n}\n"].concat();
            assert_eq!(check(&text).unwrap().foreign, foreign);
            let mut property = vec![b'S', name.len() as u8, 0, 0, 0];
            property.extend(name);
            // bytes of a picture are no text
            property.extend(b"R\x01\0\0\0\xFF");
            let end = 27 + 13 + 1 + property.len() as u32;
            let header = [end, 2, property.len() as u32].map(u32::to_le_bytes).concat();
            let record = [&header[..], b"\x01A", &property].concat();
            let binary = [MAGIC, b"\0", &7400u32.to_le_bytes(), &record, &[0; 13]].concat();
            assert_eq!(check(&binary).unwrap().foreign, foreign);
        }
    }
}
