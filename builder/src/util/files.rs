//! Files that appear whole or not at all.

use crate::util::mmap;
use crate::util::text::{named, quoted};
use std::{
    env,
    ffi::{OsStr, OsString},
    fmt,
    fs::{self, File},
    io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// [`NewFile`]s that have not taken their places yet.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// A file that is written here is not kept, but made and checked as any other.
const NOWHERE: &str = "/dev/null";

/// Why a file cannot be written.
#[derive(Debug)]
pub struct WriteError {
    /// Its name, as it was given.
    pub place: PathBuf,
    /// The cause.
    pub cause: NotWritten,
}

/// Reasons why a file is not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotWritten {
    /// This is no name of a file.
    NoName,
    /// A folder.
    Folder,
    /// A device or a pipe.
    Device,
    /// This folder is not there.
    NoFolder(PathBuf),
    /// A part of the path is a file.
    InFile,
    /// A link that leads to itself.
    Circle,
    /// This link leads to what is not there.
    DeadLink(PathBuf),
    /// No file may be written into this folder.
    Denied(PathBuf),
    /// The disk gave back other bytes.
    Altered,
    /// An error of the system.
    System(io::Error),
}

impl WriteError {
    /// An error of the system, with its file.
    pub fn new(place: &Path, error: io::Error) -> Self {
        let known = |p: &&Path| fs::metadata(p).map_or_else(|e| e.kind() == ErrorKind::PermissionDenied, |_| true);
        let dead = place.ancestors().skip(1).find(|p| !known(p) && fs::read_link(p).is_ok());
        let end = behind_links(place).unwrap_or_else(|_| place.into());
        let cause = match (error.kind(), dead, place.parent().filter(|f| *f != "" && !known(f))) {
            (_, Some(link), _) => NotWritten::DeadLink(link.into()),
            (ErrorKind::NotFound, _, Some(folder)) => NotWritten::NoFolder(folder.into()),
            (ErrorKind::NotADirectory, ..) => NotWritten::InFile,
            (ErrorKind::NotFound, ..) if end != place => NotWritten::DeadLink(place.into()),
            (ErrorKind::PermissionDenied, ..) => {
                let there = end.ancestors().skip(1).find(|folder| folder.exists());
                NotWritten::Denied(there.unwrap_or(Path::new(".")).into())
            }
            _ => NotWritten::System(error),
        };
        cause.of(place)
    }
}

impl NotWritten {
    fn of(self, place: &Path) -> WriteError {
        WriteError { place: place.into(), cause: self }
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        use ErrorKind::{FileTooLarge, NotFound, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        write!(f, "{}: ", named(&self.place))?;
        let text = match &self.cause {
            NotWritten::NoName => "this is no file name; name one",
            NotWritten::Folder => "this is a folder; name a file in it",
            NotWritten::Device => "this is a device or a pipe, or a link to one; name a file",
            NotWritten::NoFolder(folder) => {
                return write!(f, "there is no folder {}; to make it: mkdir -p {}", named(folder), quoted(folder));
            }
            NotWritten::InFile => "a part of this path is a file; name a file in a folder",
            NotWritten::Circle => "this is a link that leads to itself, or through too many others; name another file",
            NotWritten::DeadLink(link) => {
                let (is, remove) = (named(link), quoted(link));
                return write!(f, "{is} is a link into a folder that is not there; name another file, or: rm {remove}");
            }
            NotWritten::Denied(folder) => {
                let look = quoted(folder);
                return write!(f, "no file may be written here; name one elsewhere, or check with: ls -ld {look}");
            }
            NotWritten::Altered => "the disk gave back other bytes than were written; name a file on another one",
            NotWritten::System(e) => match e.kind() {
                StorageFull | QuotaExceeded => "the disk is full; free some space, or name a file on another one",
                FileTooLarge => "files may not be so large here; name one on another disk, or look at: ulimit -f",
                ReadOnlyFilesystem => "this disk may only be read; name a file on another one",
                NotFound => "the system makes no file here; name one elsewhere",
                _ => return write!(f, "{e}; try again, or name a file on another disk"),
            },
        };
        f.write_str(text)
    }
}

impl std::error::Error for WriteError {}

/// Takes away what is half written, for a program that ends. No other file begins while what comes back is held.
#[must_use]
pub fn take_away() -> impl Sized {
    let files = temporary_files();
    files.iter().for_each(|file| drop(fs::remove_file(file)));
    files
}

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a place is `/dev/null`, by whatever name or link.
pub fn is_nowhere(place: &Path) -> bool {
    fs::canonicalize(place).is_ok_and(|end| end == Path::new(NOWHERE))
}

/// Whether a file lies at a place, where a new one can be written.
pub fn is_there(place: &Path) -> Result<bool, WriteError> {
    behind_links(place)?;
    let there = match fs::metadata(place) {
        Ok(data) if data.is_dir() => return Err(NotWritten::Folder.of(place)),
        Ok(data) if !data.is_file() => return Err(NotWritten::Device.of(place)),
        Ok(_) => true,
        Err(e) if e.kind() == ErrorKind::NotFound => false,
        Err(e) => return Err(WriteError::new(place, e)),
    };
    NewFile::create(place).map(|_| there)
}

/// Whether a file has such bytes from such a one on. A pipe has none: to open it would wait for who writes to it.
pub fn has_bytes(place: &Path, at: u64, bytes: &[u8]) -> io::Result<bool> {
    if !fs::metadata(place)?.is_file() {
        return Ok(false);
    }
    let (mut file, mut there) = (File::open(place)?, Vec::new());
    file.seek(SeekFrom::Start(at))?;
    file.take(bytes.len() as u64).read_to_end(&mut there)?;
    Ok(there == bytes)
}

/// Whether two new files would be one.
pub fn one_place(a: &Path, b: &Path) -> bool {
    end_of(a).is_some_and(|a| Some(a) == end_of(b))
}

/// Where a new file comes to lie, beyond links: its folder and name. None if there is no such folder.
fn end_of(place: &Path) -> Option<(PathBuf, OsString)> {
    let end = behind_links(place).ok()?;
    let folder = end.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some((fs::canonicalize(folder).ok()?, end.file_name()?.to_owned()))
}

/// A file that appears whole or not at all: written beside its place as `.NAME.PROCESS-NUMBER.tmp`, then renamed. What
/// stops the program takes it away; where nothing could, as when the power goes, it lies there and hinders nobody.
/// A link is followed: what it leads to is written.
pub struct NewFile<'a> {
    place: &'a Path,
    /// Where the file lies in the end, beyond links.
    end: PathBuf,
    /// Where it is until then.
    pub temporary: PathBuf,
}

impl<'a> NewFile<'a> {
    /// A file of these bytes, to be kept.
    pub fn write(place: &'a Path, bytes: &[u8]) -> Result<Self, WriteError> {
        Self::write_by(place, |out| out.write_all(bytes)).map(|(new, ())| new)
    }

    /// A file of what is written, to be kept.
    pub fn write_by<T>(
        place: &'a Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> Result<(Self, T), WriteError> {
        let (new, file) = Self::create(place)?;
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let written = write(&mut out).and_then(|t| out.flush().and_then(|()| out.get_ref().sync_all()).map(|()| t));
        written.map(|t| (new, t)).map_err(|e| WriteError::new(place, e))
    }

    /// An empty file, to be written and synced before it is kept.
    pub fn create(place: &'a Path) -> Result<(Self, File), WriteError> {
        let end = behind_links(place)?;
        let name = end.file_name().ok_or_else(|| NotWritten::NoName.of(place))?;
        let folder = if is_nowhere(place) { env::temp_dir() } else { end.with_file_name("") };
        for number in 0u32.. {
            let mut hidden = OsString::from(".");
            hidden.push(short(name));
            hidden.push(format!(".{}-{number}.tmp", process::id()));
            let temporary = folder.join(hidden);
            let mut all = temporary_files();
            match File::create_new(&temporary) {
                Ok(file) => {
                    all.push(temporary.clone());
                    return Ok((NewFile { place, end, temporary }, file));
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) if is_nowhere(place) => return Err(WriteError::new(&temporary, e)),
                Err(e) => return Err(WriteError::new(place, e)),
            }
        }
        Err(WriteError::new(place, ErrorKind::AlreadyExists.into()))
    }

    /// [`write`](Self::write), and read back without memory of its own: where that is refused nothing would take the
    /// file away.
    pub fn write_checked(place: &'a Path, bytes: &[u8]) -> Result<Self, WriteError> {
        let new = Self::write(place, bytes)?;
        match File::open(&new.temporary).and_then(|file| mmap::file(&file)) {
            Ok(there) if there[..] == *bytes => Ok(new),
            Ok(_) => Err(NotWritten::Altered.of(place)),
            Err(e) => Err(WriteError::new(place, e)),
        }
    }

    /// Puts it in its place.
    pub fn keep(self) -> Result<(), WriteError> {
        if is_nowhere(self.place) {
            return Ok(());
        }
        // an interruption comes before or after
        let _all = temporary_files();
        fs::rename(&self.temporary, &self.end).map_err(|e| WriteError::new(self.place, e))
    }
}

impl Drop for NewFile<'_> {
    /// Nothing is left behind when a check fails; after `keep` there is nothing to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        temporary_files().retain(|file| *file != self.temporary);
    }
}

/// A name, or the beginning of a long one: a temporary name is longer, and systems take 255 bytes.
fn short(name: &OsStr) -> OsString {
    const MAX_NAME_BYTES: usize = 200;
    if name.len() <= MAX_NAME_BYTES {
        return name.into();
    }
    // four bytes a letter at most
    name.to_string_lossy().chars().take(MAX_NAME_BYTES / 4).collect::<String>().into()
}

/// Where a chain of links leads to, whether or not there is a file. An error if that is nowhere.
fn behind_links(place: &Path) -> Result<PathBuf, WriteError> {
    let mut at = place.to_owned();
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&at) else { return Ok(at) };
        at = at.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(NotWritten::Circle.of(place))
}
