//! Files that appear whole or not at all.

use crate::types::{Fault, vs_terrain_error::*};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;

/// A file that is written beside its place, and then takes it; before that whatever is there stays as it is.
pub struct NewFile {
    place: PathBuf,
    /// Beyond links.
    end: PathBuf,
    temporary: PathBuf,
}

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

fn fault(place: &Path, e: impl std::fmt::Display) -> Fault {
    Fault::new(FILE, format!("{}: {e}", place.display()))
}

impl NewFile {
    /// Writes all of a file, but not to its place yet.
    pub fn write(place: PathBuf, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<Self, Fault> {
        let end = behind_links(&place)?;
        match fs::metadata(&end) {
            Ok(data) if data.is_dir() => return Err(fault(&place, "this is a folder; name a file in it")),
            Ok(data) if !data.is_file() => return Err(fault(&place, "this is a device or a pipe; name a file")),
            Ok(data) if data.permissions().readonly() => {
                return Err(fault(&place, "the file here may only be read; name another one, or allow writing"));
            }
            _ => {}
        }
        let (temporary, file) = beside(&end).map_err(|e| fault(&place, format!("cannot write here: {e}")))?;
        let new = NewFile { place, end, temporary }; // from here on it is taken away if anything fails
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let written = write(&mut out).and_then(|()| out.flush()).and_then(|()| out.get_ref().sync_all());
        written.map_err(|e| fault(&new.place, format!("cannot write: {e}")))?;
        Ok(new)
    }

    /// Puts it in its place.
    pub fn keep(self) -> Result<(), Fault> {
        fs::rename(&self.temporary, &self.end).map_err(|e| fault(&self.place, format!("cannot write here: {e}")))
    }
}

impl Drop for NewFile {
    /// After `keep` there is nothing to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
    }
}

/// A new file in the folder of another, `.NAME.PROCESS-NUMBER.tmp`.
fn beside(end: &Path) -> io::Result<(PathBuf, File)> {
    let name = end.file_name().ok_or(ErrorKind::InvalidFilename)?;
    // systems take names of 255 bytes
    let name = if name.len() <= 200 { name.to_owned() } else { OsString::from("terrain") };
    let mut number = 0u32;
    loop {
        let mut hidden = OsString::from(".");
        hidden.push(&name);
        hidden.push(format!(".{}-{number}.tmp", process::id()));
        let temporary = end.with_file_name(hidden);
        match File::create_new(&temporary) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
            made => return Ok((temporary, made?)),
        }
    }
}

/// Where a chain of links leads to, whether or not there is a file.
fn behind_links(place: &Path) -> Result<PathBuf, Fault> {
    let mut at = place.to_owned();
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&at) else { return Ok(at) };
        at = at.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(fault(place, "a link that leads to itself, or through too many others; name another file"))
}
