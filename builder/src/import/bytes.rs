//! Whole files in memory.

use std::{io::Read as _, path::Path};

use super::{ImportError, ImportErrorKind, text::Watched};

/// All bytes of a file that stays as it is meanwhile.
pub fn whole(path: &Path) -> Result<Vec<u8>, ImportError> {
    let io = |e| ImportError::io(path, &e);
    let mut watched = Watched::open(path)?;
    let mut bytes = Vec::new();
    let size = usize::try_from(watched.len()).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(size).map_err(|_| no_memory(path, "this file"))?;
    watched.file.read_to_end(&mut bytes).map_err(io)?;
    watched.unchanged()?;
    Ok(bytes)
}

pub fn no_memory(path: &Path, what: &str) -> ImportError {
    let cause = format!("there is not enough memory for {what}");
    ImportError::new(ImportErrorKind::Machine, path, cause, "leave something out, or use a machine with more")
}

/// Ends of lines.
pub fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// So many bytes at a place; none beyond the end.
pub fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..place.checked_add(N)?)?.try_into().ok()
}
