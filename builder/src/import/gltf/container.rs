//! The text and the buffers of a glTF: of one file, of several, or within the text.

use std::{
    ops::Deref,
    path::{Component, Path, PathBuf},
    rc::Rc,
};

use super::super::{ImportError, ImportErrorKind, Place, bytes};
use super::{AGAIN, tree::Root};
use crate::util::text::{bounded, counted, grouped, named};

/// First bytes of a binary file.
const MAGIC: &[u8] = b"glTF";

/// The text of a file, and the buffer that a binary one has beside it.
pub fn parts<'a>(whole: &'a [u8], path: &Path) -> Result<(&'a [u8], Option<&'a [u8]>), ImportError> {
    if !whole.starts_with(MAGIC) {
        return Ok((whole.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(whole), None));
    }
    let wrong = |at: usize, cause: String| {
        Err(ImportError { place: Place::Byte(at as u64), ..ImportError::input(path, cause, AGAIN) })
    };
    let number = |at: usize| bytes::at::<4>(whole, at).map(u32::from_le_bytes);
    match number(4) {
        Some(2) => {}
        Some(version) => {
            let cause = format!("this is GLB of version {version}, and version 2 is read");
            return Err(ImportError::new(ImportErrorKind::Unsupported, path, cause, "export it as glTF 2.0"));
        }
        None => return wrong(4, "the file ends within its head".into()),
    }
    let stated = number(8).unwrap_or_default() as usize;
    if stated > whole.len() || stated < 12 {
        let cause = format!("it states {}, and has {}", counted(stated as u64, "byte"), grouped(whole.len() as u64));
        return wrong(8, cause);
    }
    let (mut at, mut text, mut buffer) = (12, None, None);
    while at + 8 <= stated {
        let (length, kind) = (number(at).unwrap_or_default() as usize, &whole[at + 4..at + 8]);
        let Some(chunk) = whole[..stated].get(at + 8..).and_then(|rest| rest.get(..length)) else {
            return wrong(at, format!("a chunk of {} does not fit the file", counted(length as u64, "byte")));
        };
        match kind {
            b"JSON" if text.is_none() => text = Some(chunk),
            b"BIN\0" if buffer.is_none() && text.is_some() => buffer = Some(chunk),
            _ => {}
        }
        at += 8 + length;
    }
    match text {
        Some(text) => Ok((text, buffer)),
        None => wrong(12, "there is no chunk of JSON".into()),
    }
}

/// The bytes of a buffer: a part of the file, or of what several buffers may share.
pub enum Bytes<'a> {
    Own(&'a [u8]),
    Beside(Rc<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Bytes::Own(bytes) => bytes,
            Bytes::Beside(bytes) => bytes,
        }
    }
}

/// The bytes of all buffers, the files that hold some, and how many bytes there are: each file is read once.
pub fn buffers<'a>(
    root: &Root,
    own: Option<&'a [u8]>,
    path: &Path,
) -> Result<(Vec<Bytes<'a>>, Vec<PathBuf>, u64), ImportError> {
    let (mut all, mut files) = (Vec::new(), Vec::new());
    let mut read: Vec<Rc<Vec<u8>>> = Vec::new();
    let mut own_bytes = 0;
    for (i, buffer) in root.buffers.iter().enumerate() {
        let wrong = |cause: String| ImportError::input(path, format!("buffers[{i}]: {cause}"), AGAIN);
        let mut is_new = true;
        let held = match &buffer.uri {
            None if i == 0 => {
                Bytes::Own(own.ok_or_else(|| wrong("it has no uri, and the file no chunk of bytes".into()))?)
            }
            None => return Err(wrong("it has no uri".into())),
            Some(uri) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let text =
                        data.split_once(',').filter(|(kind, _)| kind.ends_with(";base64") && !kind.contains(";;"));
                    let held = text.and_then(|(_, text)| base64(text));
                    Bytes::Beside(Rc::new(held.ok_or_else(|| wrong("its data is no base64".into()))?))
                }
                None => {
                    let file = beside(uri, path).map_err(wrong)?;
                    let known = files.iter().position(|known| *known == file);
                    is_new = known.is_none();
                    if is_new {
                        let missing = |e: ImportError| ImportError {
                            kind: e.kind,
                            hint: "copy this file beside the glTF, or export the scene as one GLB".into(),
                            ..wrong(format!("{}: {}", named(&file), e.cause))
                        };
                        read.push(Rc::new(bytes::whole(&file).map_err(missing)?));
                        files.push(file);
                    }
                    Bytes::Beside(read[known.unwrap_or(files.len() - 1)].clone())
                }
            },
        };
        if buffer.byte_length > held.len() as u64 {
            let [stated, held] = [buffer.byte_length, held.len() as u64].map(grouped);
            return Err(wrong(format!("it states {stated} bytes, and has {held}")));
        }
        own_bytes += if is_new { held.len() as u64 } else { 0 };
        all.push(held);
    }
    Ok((all, files, own_bytes))
}

/// A file in the folder of the scene, or below it.
fn beside(uri: &str, path: &Path) -> Result<PathBuf, String> {
    let name = percent(uri).ok_or_else(|| format!("its uri {:?} is no text", bounded(uri)))?;
    let file = Path::new(&name);
    let is_below = file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_below || name.contains("://") || name.is_empty() {
        return Err(format!("its uri {:?} leads out of the file's folder", bounded(uri)));
    }
    Ok(path.with_file_name("").join(file))
}

/// A text in which `%20` is a blank.
fn percent(text: &str) -> Option<String> {
    let mut all = Vec::new();
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        if b != b'%' {
            all.push(b);
            continue;
        }
        let [high, low] = [rest.next()?, rest.next()?].map(|d| char::from(d).to_digit(16));
        all.push((high? * 16 + low?) as u8);
    }
    String::from_utf8(all).ok()
}

/// Bytes of a text of base64.
fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').as_bytes();
    let mut all = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for four in digits.chunks(4) {
        let mut bits = 0u32;
        for d in four {
            let value = match d {
                b'A'..=b'Z' => d - b'A',
                b'a'..=b'z' => d - b'a' + 26,
                b'0'..=b'9' => d - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - four.len());
        let bytes = match four.len() {
            4 => 3,
            3 => 2,
            2 => 1,
            _ => return None,
        };
        all.extend(&bits.to_be_bytes()[1..1 + bytes]);
    }
    Some(all)
}
