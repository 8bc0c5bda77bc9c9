//! Files that appear whole or not at all.

use crate::types::{Fault, vs_terrain_error::*};
use hardpan_builder::util::files;
use hardpan_builder::util::files::{NewFile, WriteError};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// A file's name as C hands it in: bytes on Unix, UTF-8 elsewhere.
pub fn path(bytes: &[u8]) -> Result<PathBuf, Fault> {
    if bytes.is_empty() {
        return Err(Fault::new(ARGUMENT, "the name of the file is empty; name a file"));
    }
    #[cfg(unix)]
    let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    #[cfg(not(unix))]
    let name: &OsStr = std::str::from_utf8(bytes)
        .map_err(|_| Fault::new(ARGUMENT, "the name of the file is not UTF-8; give it in UTF-8"))?
        .as_ref();
    Ok(name.into())
}

/// Writes all of a file, but not to its place yet.
pub fn write(place: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<NewFile<'_>, Fault> {
    let fault = |e: WriteError| Fault::new(FILE, e.to_string());
    if files::is_there(place).map_err(fault)? && fs::metadata(place).is_ok_and(|data| data.permissions().readonly()) {
        let text = format!("{}: the file here may only be read; name another one, or allow writing", place.display());
        return Err(Fault::new(FILE, text));
    }
    NewFile::write_by(place, write).map(|(new, ())| new).map_err(fault)
}

/// Puts it in its place.
pub fn keep(new: NewFile) -> Result<(), Fault> {
    new.keep().map_err(|e| Fault::new(FILE, e.to_string()))
}
