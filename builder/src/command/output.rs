//! Files that the command writes: whole or not at all, and none that the user wants to keep.

use std::{
    borrow::Cow,
    env,
    ffi::{OsStr, OsString},
    fmt::Display,
    fs,
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use crate::{
    Verify,
    names::{named, quoted},
};
use hardpan::format::MAGIC;

use super::{Done, Failure, has_extension, note, same, unopened, verify};
use crate::draw::canvas::SIGNED;

/// [`NewFile`]s that have not taken their places yet.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// What is written here is not kept, but made and checked as any other.
const NOWHERE: &str = "/dev/null";
/// Files that this run writes.
static CHECKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes away what is half written, and ends the program before another file begins.
pub fn interrupted() -> ! {
    let files = temporary_files();
    files.iter().for_each(|file| drop(fs::remove_file(file)));
    process::exit(130)
}

/// Whether a place is that, by whatever name or link.
pub fn is_nowhere(place: &Path) -> bool {
    fs::canonicalize(place).is_ok_and(|end| end == Path::new(NOWHERE))
}

fn temporary_files() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stops at what looks like stdout, and would be a file or a folder.
fn is_name(place: &Path) -> Done {
    let text = "this would be a file or a folder, and not stdout; name another one, or to call it so: ./-";
    if place == Path::new("-") { Err(Failure::input(place, text)) } else { Ok(()) }
}

/// Makes a folder, and those that it lies in; `hint` says what to do where it is a file.
pub fn make_folder(folder: &Path, hint: &str) -> Done {
    is_name(folder)?;
    fs::create_dir_all(folder).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            Failure::input(folder, format!("this, or a part of its path, is a file; {hint}"))
        }
        _ => Failure::write(folder, e),
    })
}

/// Stops at a file that would replace one of those that it is made of.
pub fn made_of<'p>(place: &Path, of: impl IntoIterator<Item = &'p PathBuf>) -> Done {
    match of.into_iter().any(|source| same(place, source)) {
        true => Err(Failure::input(place, "this would replace its own source; name another file")),
        false => Ok(()),
    }
}

/// What text a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Csv,
    Json,
}

impl Form {
    /// As a file's name says; none if it is no matter.
    pub fn of(place: &Path) -> Option<Self> {
        let forms = [("csv", Form::Csv), ("json", Form::Json)];
        forms.into_iter().find(|(end, _)| has_extension(place, end)).map(|(_, form)| form)
    }
}

/// What a new file is, and how its name may end; the first is what to type.
pub struct Kind(&'static str, &'static [&'static str]);

impl Kind {
    pub const IMAGE: Self = Kind("an image", &["hpan"]);
    pub const ANSWERS: Self = Kind("answers", &["csv", "json"]);
    pub const JSON: Self = Kind("JSON", &["json"]);
    pub const MEASURED: Self = Kind("a measured table", &["csv"]);
    pub const EXPLAINED: Self = Kind("an explanation", &["txt"]);
    pub const PICTURE: Self = Kind("a picture", &["png", "svg"]);
    pub const REPORT: Self = Kind("a report", &["json"]);
    pub const PAGE: Self = Kind("a page", &["html", "htm"]);
    pub const SETTINGS: Self = Kind("settings", &["toml", "json"]);
    pub const GRID: Self = Kind("a grid", &["npy", "tif", "tiff", "csv", "json", "png", "obj", "hpan"]);
    pub const MESH: Self = Kind("an OBJ, its materials and settings", &["obj", "mtl", "toml"]);
}

/// What files are whose names end so.
const KINDS: [(&str, &[&str]); 9] = [
    ("a terrain image", &["hpan"]),
    ("a mesh", &["obj", "fbx", "gltf", "glb", "stl", "ply", "dae", "usd", "usda", "usdc", "usdz", "blend"]),
    ("a material library", &["mtl"]),
    ("settings", &["toml"]),
    ("JSON", &["json"]),
    ("a picture", &["png", "jpg", "jpeg", "gif", "bmp", "webp", "svg", "exr"]),
    ("heights", &["tif", "tiff", "asc", "hgt", "las", "laz", "xyz", "raw", "r16", "crg"]),
    ("a table", &["csv", "tsv", "xls", "xlsx"]),
    ("an archive", &["zip", "gz", "rar", "7z", "tar"]),
];

/// What a new file may replace.
pub enum Replace<'a> {
    /// Any file.
    Any,
    /// A file that has these bytes from such a one on, which is such a thing.
    Only(u64, &'a [u8], &'a str),
    /// A file of these bytes.
    Same(&'a [u8]),
    /// None.
    None,
}

impl Replace<'_> {
    /// What a build may replace.
    pub const IMAGE: Self = Replace::Only(0, &MAGIC, "a terrain image");
    /// What a picture may replace.
    pub const PICTURE: Self = Replace::Only(SIGNED.0, SIGNED.1, "a picture by hardpan");

    /// Any file, if the user says so.
    pub fn or_any(self, force: bool) -> Self {
        if force { Replace::Any } else { self }
    }

    /// [`check`](Self::check) of a file that is made of others: it replaces none of them, whatever the user says, and is not called
    /// as another kind of file is, unless they say so.
    pub fn check_made<'p>(
        self,
        place: &Path,
        Kind(what, ends): Kind,
        of: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Done {
        made_of(place, of)?;
        let called = |ends: &[&str]| ends.iter().any(|end| has_extension(place, end));
        let other = KINDS.iter().find(|(other, ends)| *other != what && called(ends));
        if let Some((other, _)) = other.filter(|_| !called(ends) && !matches!(self, Replace::Any)) {
            let text =
                format!("this is the name of {other}, and not of {what}; name it FILE.{}, or add --force", ends[0]);
            return Err(Failure::input(place, text));
        }
        self.check(place)
    }

    /// Stops if a file cannot be written here, or may not, or would be one with another one that this run writes. Once for each.
    pub fn check(self, place: &Path) -> Done {
        if is_nowhere(place) {
            return Ok(());
        }
        is_name(place)?;
        behind_links(place)?;
        match fs::metadata(place) {
            Ok(data) if data.is_dir() => return Err(Failure::input(place, "this is a folder; name a file in it")),
            Ok(data) if !data.is_file() => {
                return Err(Failure::input(place, "this is a device or a pipe, or a link to one; name a file"));
            }
            Ok(data) if data.permissions().readonly() && !matches!(self, Replace::Any) => {
                let cause = "the file here may only be read; name another one, or to replace it add --force";
                return Err(Failure::Machine(format!("{}: {cause}", named(place))));
            }
            Ok(_) => {
                let cause = match self {
                    Replace::Any => None,
                    Replace::None => Some("there is a file here already".into()),
                    Replace::Same(bytes) => {
                        let there = fs::read(place).map_err(|e| Failure::io(place, e))?;
                        (there != bytes).then(|| "there is another file here already".into())
                    }
                    Replace::Only(at, magic, what) => {
                        let is_one = has_bytes(place, at, magic).map_err(|e| Failure::io(place, e))?;
                        (!is_one).then(|| format!("there is a file here that is not {what}"))
                    }
                };
                if let Some(cause) = cause {
                    return Err(Failure::input(place, format!("{cause}; to replace it add --force")));
                }
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(Failure::write(place, e)),
        }
        // a place that cannot be written to is better known now
        NewFile::create(place)?;
        let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = checked.iter().find(|other| one_place(place, other)) {
            let text = format!("this and {} would be one file; name another one", named(other));
            return Err(Failure::input(place, text));
        }
        checked.push(place.to_owned());
        Ok(())
    }
}

/// Whether a file has such bytes from such a one on. A pipe has none: to open it would wait for who writes to it.
pub fn has_bytes(place: &Path, at: u64, bytes: &[u8]) -> io::Result<bool> {
    if !fs::metadata(place)?.is_file() {
        return Ok(false);
    }
    let (mut file, mut there) = (fs::File::open(place)?, Vec::new());
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

/// A name, or the beginning of a long one: a temporary name is longer, and systems take 255 bytes.
fn short(name: &OsStr) -> Cow<'_, OsStr> {
    const MOST: usize = 200;
    if name.len() <= MOST {
        return name.into();
    }
    // four bytes a letter at most
    OsString::from(name.to_string_lossy().chars().take(MOST / 4).collect::<String>()).into()
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
    pub fn write(place: &'a Path, bytes: &[u8]) -> Done<Self> {
        let (new, mut file) = Self::create(place)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(|e| Failure::write(place, e))?;
        Ok(new)
    }

    /// An empty file, to be written and synced before it is kept.
    pub fn create(place: &'a Path) -> Done<(Self, fs::File)> {
        let end = behind_links(place)?;
        let name = end.file_name().ok_or_else(|| Failure::input(place, "this is no file name; name one"))?;
        let mut number = 0u32;
        loop {
            let mut hidden = OsString::from(".");
            hidden.push(short(name));
            hidden.push(format!(".{}-{number}.tmp", process::id()));
            let temporary = match is_nowhere(place) {
                true => env::temp_dir().join(hidden),
                false => end.with_file_name(hidden),
            };
            let mut all = temporary_files();
            match fs::File::create_new(&temporary) {
                Ok(file) => {
                    all.push(temporary.clone());
                    return Ok((NewFile { place, end, temporary }, file));
                }
                Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(e) if e.kind() == ErrorKind::NotFound && end != place => {
                    let folder = end.parent().unwrap_or(Path::new(""));
                    return Err(link(place, format!("a link into {}, a folder that is not there", named(folder))));
                }
                Err(e) if is_nowhere(place) => return Err(Failure::write(&temporary, e)),
                Err(e) => return Err(Failure::write(place, e)),
            }
        }
    }

    /// The same, and read back, without memory of its own: where that is refused nothing would take the file away.
    pub fn write_checked(place: &'a Path, bytes: &[u8]) -> Done<Self> {
        let new = Self::write(place, bytes)?;
        if !holds(&new.temporary, bytes).map_err(|e| Failure::io(place, e))? {
            return Err(Failure::Machine(format!(
                "{}: the disk gave back other bytes than were written; choose another place with -o",
                named(place)
            )));
        }
        Ok(new)
    }

    pub fn keep(self) -> Done {
        if is_nowhere(self.place) {
            return Ok(());
        }
        // an interruption comes before or after
        let _all = temporary_files();
        fs::rename(&self.temporary, &self.end).map_err(|e| Failure::write(self.place, e))
    }
}

impl Drop for NewFile<'_> {
    /// Nothing is left behind when a check fails; after `keep` there is nothing to remove.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.temporary);
        temporary_files().retain(|file| *file != self.temporary);
    }
}

/// Whether a file has these bytes.
fn holds(place: &Path, mut bytes: &[u8]) -> io::Result<bool> {
    let (mut file, mut part) = (fs::File::open(place)?, [0; 1 << 14]);
    loop {
        let read = match file.read(&mut part) {
            Ok(0) => return Ok(bytes.is_empty()),
            Ok(read) => read,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        match bytes.strip_prefix(&part[..read]) {
            Some(rest) => bytes = rest,
            None => return Ok(false),
        }
    }
}

/// Where a chain of links leads to, whether or not there is a file. An error if that is nowhere.
pub fn behind_links(place: &Path) -> Done<PathBuf> {
    let mut at = place.to_owned();
    for _ in 0..40 {
        let Ok(to) = fs::read_link(&at) else { return Ok(at) };
        at = at.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(link(place, "a link that leads to itself, or through too many others"))
}

/// What is wrong with a link.
fn link(place: &Path, what: impl Display) -> Failure {
    let (name, remove) = (named(place), quoted(place));
    Failure::Machine(format!("{name}: this is {what}; name another file, or take the link away: rm {remove}"))
}

/// Writes an image of `source`, of which stitching `divided` some triangles or none, once it is proven: to a temporary file, read back, then renamed. What takes memory comes first: where
/// memory is refused the program ends at once, and nothing would take the file away.
pub fn write_image(place: &Path, source: &Path, image: &[u8], divided: u64) -> Done {
    let verdict = crate::verify(image, &Verify::default()).map_err(|e| unopened(place, image, e).checked())?;
    if let Some(check) = verdict.failed() {
        let cause = verify::first_fault(check);
        if verify::unproven(&verdict) {
            let clean = verify::clean();
            // stitching may have made them so
            let leave = if divided > 0 { "; or leave hairline gaps: --stitch false" } else { "" };
            return Err(Failure::input(source, format!("{cause}; no image was written; {clean}{leave}")));
        }
        let whose = "this is a fault of hardpan, not of the mesh: please report it";
        return Err(Failure::check(place, format!("{cause}; nothing was written; {whose}")));
    }
    NewFile::write_checked(place, image)?.keep()?;
    foreign_name(place);
    Ok(())
}

/// Says once that an image under a name of VehicleSim's files is none of those.
fn foreign_name(place: &Path) {
    static SAID: Once = Once::new();
    if has_extension(place, "vsterrain") {
        let text = "a Hardpan image under this name; VehicleSim's own solver cannot read it: install the terrain callback (kernel/c-abi)";
        SAID.call_once(|| note(format!("{}: {text}", named(place))));
    }
}
