//! Text files in blocks, and the statements of a block.

#[cfg(feature = "utf-16")]
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};
use std::{
    borrow::Cow,
    fs::{File, Metadata},
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use super::ImportError;

/// Bytes that are read at once and end at the end of a line.
pub const BLOCK: usize = 8 << 20;
/// Bytes that are asked for at least.
const MIN_READ: usize = 16;
/// Bytes without a line's end from which on a file is no text.
const LONGEST: usize = 128 << 20;

/// The cause and the remedy of a file of zero bytes.
pub const ZEROS: [&str; 2] =
    ["every byte of the file is zero: it was never written whole", "copy it again, or export it again"];

/// A file that should stay as it is while it is read.
pub struct Watched {
    path: PathBuf,
    pub file: File,
    /// As it was when opened.
    before: Metadata,
}

impl Watched {
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let io = |e| ImportError::io(path, &e);
        let file = File::open(path).map_err(io)?;
        let before = file.metadata().map_err(io)?;
        Ok(Watched { path: path.into(), file, before })
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.before.len()
    }

    /// Whether the file is still the one that was opened.
    pub fn unchanged(&self) -> Result<(), ImportError> {
        let now = self.file.metadata().map_err(|e| ImportError::io(&self.path, &e))?;
        let stamp = |m: &Metadata| (m.len(), m.modified().ok());
        if stamp(&now) == stamp(&self.before) {
            return Ok(());
        }
        Err(ImportError::input(
            &self.path,
            "the file changed while it was read",
            "wait until it is written, then build again",
        ))
    }
}

/// Text as UTF-8. UTF-16 is known by its byte order mark. Bytes that are not UTF-8 stay.
#[cfg(feature = "utf-16")]
pub type Utf8<R> = DecodeReaderBytes<R, Vec<u8>>;

/// Text as UTF-8. Bytes that are not UTF-8 stay.
#[cfg(not(feature = "utf-16"))]
pub type Utf8<R> = io::Chain<io::Cursor<Vec<u8>>, R>;

/// Reads text in UTF-8, and with the feature `utf-16` in UTF-16 that begins with its mark.
#[cfg(feature = "utf-16")]
pub fn utf8<R: Read>(input: R) -> io::Result<Utf8<R>> {
    Ok(DecodeReaderBytesBuilder::new().bom_sniffing(true).strip_bom(true).utf8_passthru(true).build(input))
}

/// Reads text in UTF-8.
#[cfg(not(feature = "utf-16"))]
pub fn utf8<R: Read>(mut input: R) -> io::Result<Utf8<R>> {
    let mut first = Vec::new();
    input.by_ref().take(3).read_to_end(&mut first)?;
    if first.starts_with(b"\xFF\xFE") || first.starts_with(b"\xFE\xFF") {
        return Err(io::Error::new(ErrorKind::InvalidData, "this is text in UTF-16, which is not read"));
    }
    let bare = first.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&first).to_vec();
    Ok(io::Cursor::new(bare).chain(input))
}

/// A file, or bytes that are to be one, as [`Utf8`], in blocks of whole lines.
pub struct Text<'a> {
    path: PathBuf,
    len: u64,
    file: Option<Watched>,
    reader: Utf8<Box<dyn Read + Send + 'a>>,
    block: usize,
    /// The start of a line whose end has not been read.
    rest: Vec<u8>,
    done: bool,
}

impl<'a> Text<'a> {
    /// Opens a file; a block is about `block` bytes.
    pub fn open(path: &Path, block: usize) -> Result<Self, ImportError> {
        let file = Watched::open(path)?;
        let input = file.file.try_clone().map_err(|e| ImportError::io(path, &e))?;
        Ok(Text { len: file.len(), file: Some(file), ..Text::new(path, Box::new(input), block)? })
    }

    /// The text of these bytes.
    pub fn of(bytes: &'a [u8], path: &Path, block: usize) -> Result<Self, ImportError> {
        Ok(Text { len: bytes.len() as u64, ..Text::new(path, Box::new(bytes), block)? })
    }

    fn new(path: &Path, input: Box<dyn Read + Send + 'a>, block: usize) -> Result<Self, ImportError> {
        let reader = utf8(input).map_err(|e| ImportError::io(path, &e))?;
        Ok(Text { path: path.into(), len: 0, file: None, reader, block, rest: Vec::new(), done: false })
    }

    /// Bytes of the file.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The next lines; none at the end of the file.
    pub fn next(&mut self) -> Result<Option<Vec<u8>>, ImportError> {
        let mut block = std::mem::take(&mut self.rest);
        let mut want = self.block;
        while !self.done {
            let mut len = block.len();
            block.resize(want.max(len + MIN_READ), 0);
            while len < want && !self.done {
                match self.reader.read(&mut block[len..]) {
                    Ok(read) => (len, self.done) = (len + read, read == 0),
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(ImportError::io(&self.path, &e)),
                }
            }
            block.truncate(len);
            if self.done {
                // some programs fill the end of a file
                block.truncate(block.iter().rposition(|b| !matches!(b, 0 | 0x1A)).map_or(0, |last| last + 1));
                break;
            }
            if let Some(end) = last_end(&block) {
                self.rest = block.split_off(end);
                return Ok(Some(block));
            }
            if want > LONGEST {
                if block.iter().all(|&b| b == 0) {
                    return Err(ImportError::input(&self.path, ZEROS[0], ZEROS[1]));
                }
                return Err(ImportError::input(
                    &self.path,
                    format!("no line ends within {LONGEST} bytes, so this is no text"),
                    "export the mesh again, as Wavefront OBJ",
                ));
            }
            want *= 2;
        }
        Ok((!block.is_empty()).then_some(block))
    }

    /// Whether the file is still the one that was opened.
    pub fn unchanged(&self) -> Result<(), ImportError> {
        self.file.as_ref().map_or(Ok(()), Watched::unchanged)
    }
}

/// Behind the last line that surely ends here and that nothing continues.
fn last_end(block: &[u8]) -> Option<usize> {
    let mut end = None;
    for (i, &b) in block.iter().enumerate().rev() {
        match b {
            b'\n' => end = end.or(Some(i + 1)),
            b'\r' => end = end.or((i + 1 < block.len() && block[i + 1] != b'\n').then_some(i + 1)),
            b'\\' => end = None,
            b if is_blank(b) => {}
            _ if end.is_some() => break,
            _ => {}
        }
    }
    end
}

/// Parts of about `size` bytes that end where lines end.
pub fn parts(mut block: &[u8], size: usize) -> Vec<&[u8]> {
    let mut parts = Vec::new();
    let mut want = size;
    while block.len() > want {
        match last_end(&block[..want]) {
            Some(end) => {
                let (part, rest) = block.split_at(end);
                parts.push(part);
                block = rest;
                want = size;
            }
            None => want *= 2,
        }
    }
    parts.push(block);
    parts
}

/// Between words: spaces, tabs, and the end marks that some programs leave.
const fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | 0x0B | 0x0C | 0x1A)
}

const fn is_end(b: u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

/// A walk over the words of whole lines. A line ends with LF, CR or both; a backslash before its end continues it.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Ends of lines passed.
    pub line: u32,
    /// Lines that were continued.
    pub continued: u32,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0, line: 0, continued: 0 }
    }

    /// The rest that has not been read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Whether the byte `ahead` of here can stand behind a word.
    #[inline]
    pub fn word_ends(&self, ahead: usize) -> bool {
        self.bytes.get(self.at + ahead).is_none_or(|&b| is_blank(b) || is_end(b))
    }

    #[inline]
    pub fn step(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Whether the statement has no more words.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.peek().is_none_or(is_end)
    }

    /// Where a line starts that the backslash at `at` joins to this one.
    fn joined(&self, at: usize) -> Option<usize> {
        let behind = at + 1 + self.bytes[at + 1..].iter().take_while(|b| is_blank(**b)).count();
        match self.bytes.get(behind) {
            None => Some(behind),
            Some(b'\n') => Some(behind + 1),
            Some(b'\r') => Some(behind + if self.bytes.get(behind + 1) == Some(&b'\n') { 2 } else { 1 }),
            _ => None,
        }
    }

    /// Moves to the next word of the statement, or to its end.
    #[inline]
    pub fn blanks(&mut self) {
        while let Some(b) = self.peek() {
            if is_blank(b) {
                self.at += 1;
            } else if b == b'\\'
                && let Some(next) = self.joined(self.at)
            {
                self.at = next;
                self.line += 1;
                self.continued += 1;
            } else {
                return;
            }
        }
    }

    /// The rest of a word.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while let Some(b) = self.peek() {
            if is_blank(b) || is_end(b) || (b == b'\\' && self.joined(self.at).is_some()) {
                break;
            }
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    /// The words that are left in the statement, one blank between them.
    pub fn words(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            if self.is_over() {
                return all;
            }
            if !all.is_empty() {
                all.push(b' ');
            }
            all.extend_from_slice(self.word());
        }
    }

    /// Passes the end of the line.
    pub fn next_line(&mut self) {
        self.at += memchr::memchr2(b'\n', b'\r', self.rest()).unwrap_or(self.rest().len());
        if let Some(b) = self.peek() {
            self.at += if b == b'\r' && self.bytes.get(self.at + 1) == Some(&b'\n') { 2 } else { 1 };
            self.line += 1;
        }
    }

    /// Passes the end of the statement, which may be lines further on; a comment is never continued.
    pub fn next_statement(&mut self) {
        loop {
            let start = self.at;
            self.next_line();
            let line = &self.bytes[start..self.at];
            let last = line.iter().rev().find(|b| !is_blank(**b) && !is_end(**b));
            if last != Some(&b'\\') || line.contains(&b'#') || self.rest().is_empty() {
                return;
            }
            self.continued += 1;
        }
    }
}

/// A name as text: UTF-8, or else each byte the character of that number.
pub fn name(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect::<String>().into(),
    }
}

/// Bytes of a file as they can stand in a message: short, on one line.
pub fn quoted(bytes: &[u8]) -> String {
    const MAX_SHOWN: usize = 40;
    let text = name(&bytes[..bytes.len().min(4 * MAX_SHOWN)]).into_owned();
    let short: String = text.chars().take(MAX_SHOWN).collect();
    format!("\"{}{}\"", short.escape_debug(), if short.len() < text.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_parts_hold_whole_lines() {
        let text = b"v 1 2 \\\r\n 3\r\nf 1 2\rf 3\n# \\\nlong long long line\n\n\nend";
        for size in 1..60 {
            let parts = parts(text, size);
            assert_eq!(parts.concat(), text);
            for pair in parts.windows(2) {
                assert!(pair[0].ends_with(b"\n") || pair[0].ends_with(b"\r"));
                assert!(!(pair[0].ends_with(b"\r") && pair[1].starts_with(b"\n")));
                let line: Vec<u8> = pair[0].iter().copied().filter(|b| !is_end(*b)).collect();
                assert!(!line.ends_with(b"\\"), "{:?}", String::from_utf8_lossy(pair[0]));
            }
        }
    }

    #[test]
    fn words_of_continued_lines() {
        let mut c = Cursor::new(b"  usemtl a\\b \\ \n c\t d \\\r\n\r\nnext");
        c.blanks();
        assert_eq!(c.word(), b"usemtl");
        assert_eq!(c.words(), b"a\\b c d");
        c.next_line();
        assert_eq!((c.line, c.continued, c.rest()), (3, 2, &b"next"[..]));
    }

    #[test]
    fn names_that_are_not_utf8_stay_apart() {
        assert_eq!(name(b"stra\xC3\x9Fe"), "straße");
        assert_ne!(name(b"h\xE4user"), name(b"h\xF6user"));
        assert_eq!(quoted(b"a\x1B[31m\nb"), "\"a\\u{1b}[31m\\nb\"");
        assert!(quoted(&[b'x'; 1000]).len() < 50);
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_told() {
        let path = std::env::temp_dir().join(format!("hardpan-grows-{}.obj", std::process::id()));
        std::fs::write(&path, "v 0 0 0\n").unwrap();
        let mut text = Text::open(&path, BLOCK).unwrap();
        text.unchanged().unwrap();
        assert_eq!(text.next().unwrap().unwrap(), b"v 0 0 0\n");
        std::fs::write(&path, "v 0 0 0\nv 1 1 1\n").unwrap();
        let why = text.unchanged().unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(why.contains("changed while it was read"), "{why}");
    }
}
