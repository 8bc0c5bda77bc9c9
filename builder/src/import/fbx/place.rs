//! Where an FBX file is broken, as far as its frame tells: the records of a binary file, the braces and quotes of a
//! text.

/// How a binary file begins: then a byte that says whether its numbers are big-endian, and its version.
const MAGIC: &[u8] = b"Kaydara FBX Binary  \0\x1A";
/// The version from which on records begin with numbers of 64 bits.
const WIDE: u32 = 7500;
/// How the foot of a binary file ends, whoever wrote it.
const FOOT: &[u8] = b"\xF8\x5A\x8C\x6A\xDE\xF5\xD9\x7E\xEC\xE9\x0C\xE3\x75\x8F\x29\x0B";
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
#[derive(Debug, PartialEq, Eq)]
pub struct Miscounted {
    /// Where it stands.
    pub at: usize,
    pub name: &'static str,
    pub stated: u64,
    pub held: u64,
}

/// Lists of edges, of which a ground has no use.
const EDGES: &[u8] = b"Edges";
/// Lists of which it has: others may be as long as they like.
const LISTS: [&str; 3] = ["Vertices", "PolygonVertexIndex", "Materials"];

/// The first broken place, or what there is to know of a whole file.
pub fn check(bytes: &[u8]) -> Result<Whole, Broken> {
    if is_binary(bytes) { Records::check(bytes) } else { braces(bytes) }
}

/// Whether what stands behind the records is a whole foot, and at most zeros and blanks behind that. Old files have
/// records and another foot in it.
fn has_foot(rest: &[u8]) -> bool {
    let blank = |b: &u8| *b == 0 || b.is_ascii_whitespace();
    rest.iter().rposition(|b| !blank(b)).is_some_and(|last| rest[..=last].ends_with(FOOT))
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
                    None if !has_foot(&bytes[r.at..]) => {
                        return Err(r.broken(bytes.len(), "the file is cut off here, within its foot"));
                    }
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

/// Whether all braces and quotes of a text are closed, what stands behind the last of them is a whole line, and zero
/// bytes, at which the library would end, stand at the end alone.
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
    let mut miscounted = None;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let before = at;
        match bytes[at] {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Err(Broken { byte: at as u64, what: "a brace closes what none has opened" }),
            b'}' => depth -= 1,
            b'*' => miscounted = miscounted.or_else(|| Miscounted::of(bytes, at)),
            b'"' => match memchr::memchr(b'"', &rest[1..]) {
                Some(length) => {
                    at += 1 + length;
                    foreign |= std::str::from_utf8(&rest[..1 + length]).is_err();
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

impl Miscounted {
    /// The list whose length stands behind this star, if it is one of [`LISTS`] and of another length.
    fn of(bytes: &[u8], star: usize) -> Option<Self> {
        let before = bytes[..star].trim_ascii_end().strip_suffix(b":")?.trim_ascii_end();
        let ends = |name: &&&str| {
            before.strip_suffix(name.as_bytes()).is_some_and(|b| !b.last().is_some_and(|b| is_of_word(*b)))
        };
        let name = *LISTS.iter().find(ends)?;
        let open = star + memchr::memchr(b'{', &bytes[star..])?;
        // what is no count is more than any list holds
        let stated = std::str::from_utf8(&bytes[star + 1..open]).ok().and_then(|count| count.trim().parse().ok());
        let (stated, held) = (stated.unwrap_or(u64::MAX), numbers(&bytes[open + 1..]));
        (held != stated).then_some(Miscounted { at: star, name, stated, held })
    }
}

/// How many numbers stand before a brace, `a: 1,2` without comments.
fn numbers(list: &[u8]) -> u64 {
    let is_number = |part: &&[u8]| {
        let part = part.trim_ascii();
        !part.strip_prefix(b"a:").unwrap_or(part).trim_ascii().is_empty()
    };
    let mut count = 0;
    for line in list.split(|b| *b == b'\n') {
        let line = line.split(|b| *b == b';').next().unwrap_or_default();
        let end = memchr::memchr(b'}', line);
        count += line[..end.unwrap_or(line.len())].split(|b| *b == b',').filter(is_number).count() as u64;
        if end.is_some() {
            break;
        }
    }
    count
}

fn is_of_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'(' | b')')
}
