//! Rules of output files: nothing is replaced that the user wants to keep.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process,
    sync::{Mutex, PoisonError},
};

use crate::import::formats;
use crate::util::files;
pub use crate::util::files::{NewFile, has_bytes, is_nowhere, one_place};
use crate::util::files::{NotWritten, WriteError};
use crate::util::text::named;
use crate::verify::Verify;
use hardpan::format::MAGIC;

use super::{Done, Failure, has_extension, note, same, unopened, verify};
use crate::draw::canvas::SIGNED;

/// Files that this run writes.
static CHECKED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Takes away what is half written, and ends the program.
pub fn interrupted() -> ! {
    let _held = files::take_away();
    process::exit(130)
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        match &error.cause {
            NotWritten::NoName
            | NotWritten::Folder
            | NotWritten::Device
            | NotWritten::NoFolder(_)
            | NotWritten::InFile => Self::Input(error.to_string()),
            NotWritten::System(e) if e.kind() == ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Machine(error.to_string()),
        }
    }
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

/// The kind of text in a file.
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

/// How the name of a new file may end; the first is what to type.
pub struct Kind(&'static [&'static str]);

impl Kind {
    pub const IMAGE: Self = Kind(&["hpan"]);
    pub const ANSWERS: Self = Kind(&["csv", "json"]);
    pub const JSON: Self = Kind(&["json"]);
    pub const MEASURED: Self = Kind(&["csv"]);
    pub const EXPLAINED: Self = Kind(&["txt"]);
    pub const PICTURE: Self = Kind(&["png", "svg"]);
    pub const REPORT: Self = Kind(&["json"]);
    pub const PAGE: Self = Kind(&["html", "htm"]);
    pub const SETTINGS: Self = Kind(&["toml", "json", "vstu"]);
    pub const GRID: Self = Kind(&["npy", "tif", "tiff", "csv", "json", "png", "obj", "hpan"]);
    pub const MESH: Self = Kind(&["obj", "mtl", "toml"]);
    pub const FLASH: Self = Kind(&["hex", "bin", "uf2", "c", "ihex", "h"]);

    /// How a name ends, if it is one of these.
    pub fn end_of(&self, place: &Path) -> Option<&'static str> {
        self.0.iter().copied().find(|end| has_extension(place, end))
    }
}

/// How names of images, meshes, settings, pictures, heights, tables and archives end, beside those that are read.
const KNOWN: &str = "hpan gltf glb stl ply dae usd usda usdc usdz blend mtl toml json png jpg jpeg gif bmp webp svg exr \
                     tif tiff asc hgt las laz xyz raw r16 crg csv tsv xls xlsx zip gz rar 7z tar";

/// Files that a new file may replace.
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
    /// Files that a build may replace.
    pub const IMAGE: Self = Replace::Only(0, &MAGIC, "a terrain image");
    /// Files that a picture may replace.
    pub const PICTURE: Self = Replace::Only(SIGNED.0, SIGNED.1, "a picture by hardpan");

    /// Any file, if the user says so.
    pub fn or_any(self, force: bool) -> Self {
        if force { Replace::Any } else { self }
    }

    /// [`check`](Self::check) of a file that is made of others: it replaces none of them, whatever the user says, and
    /// is not called as another kind of file is, unless they say so.
    pub fn check_made<'p>(self, place: &Path, kind: Kind, of: impl IntoIterator<Item = &'p PathBuf>) -> Done {
        made_of(place, of)?;
        let read = formats::read().flat_map(|format| format.endings.iter().copied());
        let other = KNOWN.split(' ').chain(read).any(|end| has_extension(place, end)) && kind.end_of(place).is_none();
        if other && !matches!(self, Replace::Any) {
            let text = format!("other files are called so; name it FILE.{}, or add --force", kind.0[0]);
            return Err(Failure::input(place, text));
        }
        self.check(place)
    }

    /// Stops if a file cannot be written here, or may not, or would be one with another one that this run writes. Once
    /// for each.
    pub fn check(self, place: &Path) -> Done {
        if is_nowhere(place) {
            return Ok(());
        }
        is_name(place)?;
        if files::is_there(place)? {
            self.check_there(place)?;
        }
        let mut checked = CHECKED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = checked.iter().find(|other| one_place(place, other)) {
            let text = format!("this and {} would be one file; name another one", named(other));
            return Err(Failure::input(place, text));
        }
        checked.push(place.to_owned());
        Ok(())
    }

    /// Stops if the file that is here may not be replaced.
    fn check_there(self, place: &Path) -> Done {
        let io = |e| Failure::io(place, e);
        let cause = match self {
            Replace::Any => return Ok(()),
            _ if fs::metadata(place).map_err(io)?.permissions().readonly() => {
                let cause = "the file here may only be read; name another one, or to replace it add --force";
                return Err(Failure::Machine(format!("{}: {cause}", named(place))));
            }
            Replace::Same(bytes) if fs::read(place).map_err(io)? != bytes => {
                "there is another file here already".into()
            }
            Replace::Only(at, magic, what) if !has_bytes(place, at, magic).map_err(io)? => {
                format!("there is a file here that is not {what}")
            }
            Replace::None => "there is a file here already".into(),
            Replace::Same(_) | Replace::Only(..) => return Ok(()),
        };
        Err(Failure::input(place, format!("{cause}; to replace it add --force")))
    }
}

/// Writes an image of `source`, of which stitching `divided` some triangles or none, once it is proven: to a temporary
/// file, read back, then renamed. What takes memory comes first: where memory is refused the program ends at once, and
/// nothing would take the file away.
pub fn write_image(place: &Path, source: &Path, image: &[u8], divided: u64) -> Done {
    let verdict = crate::verify::verify(image, &Verify::default()).map_err(|e| unopened(place, image, e).checked())?;
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
    if has_extension(place, "vsterrain") {
        let text = "a Hardpan image under this name; VehicleSim's own solver cannot read it: install the terrain callback (kernel/c-abi)";
        note(format!("{}: {text}", named(place)));
    }
    Ok(())
}
