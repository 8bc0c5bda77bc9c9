//! The files of a debug OBJ, and what is said of them.

use std::path::{Path, PathBuf};

use crate::{
    export::debug::{Debug, Drawing, Drawn, HEAD, write_library},
    import::{self, file_name},
};
use hardpan::Terrain;

use super::{
    Done, Failure, Kind, NewFile, Replace, counted, grouped, has_bytes, has_extension, is_nowhere, length::metres,
    named, shown,
};

/// Most pins along an axis.
const MAX_PINS: u32 = 10_000;

/// `--pins`: so many along x, and along y if that is another number.
pub fn pins(text: &str) -> Result<[u32; 2], String> {
    let numbers: Option<Vec<u32>> =
        text.split(',').map(|n| n.trim().parse().ok().filter(|n| (1..=MAX_PINS).contains(n))).collect();
    match numbers.as_deref() {
        Some([n]) => Ok([*n; 2]),
        Some([n, m]) => Ok([*n, *m]),
        _ => Err(format!(
            "whole numbers from 1 to {}, along x and along y, as in --pins 10 or --pins 10,20",
            grouped(MAX_PINS.into())
        )),
    }
}

/// `--origin`.
pub fn size(text: &str) -> Result<f64, String> {
    let length = metres(text).filter(|v| *v > 0.0);
    length.ok_or_else(|| "the length of the axes in metres, above 0, as in --origin 5".into())
}

/// An OBJ, and what has its name beside it with other endings; on /dev/null all are that.
pub fn files<const N: usize>(place: &Path, ends: [&str; N]) -> Done<[PathBuf; N]> {
    let nowhere = is_nowhere(place);
    if !has_extension(place, "obj") && !nowhere {
        return Err(Failure::input(place, "an OBJ is called FILE.obj; name such a file"));
    }
    if !place.file_name().and_then(|name| name.to_str()).is_some_and(import::keeps_name) {
        let text = "an OBJ cannot name this file: the name has line ends, double blanks or no UTF-8; name another one";
        return Err(Failure::input(place, text));
    }
    Ok(ends.map(|end| if nowhere { place.to_owned() } else { place.with_extension(end) }))
}

/// The name of the material library beside an OBJ, if the two may be written.
pub fn library<'p>(place: &Path, force: bool, of: impl IntoIterator<Item = &'p PathBuf>) -> Done<PathBuf> {
    let [library] = files(place, ["mtl"])?;
    let of: Vec<&PathBuf> = of.into_iter().collect();
    // a drawing and its library may be drawn again
    let again = place.is_file() && has_bytes(place, 0, HEAD.as_bytes()).map_err(|e| Failure::io(place, e))?;
    for file in [place, &library] {
        Replace::None.or_any(force || again).check_made(file, Kind::MESH, of.iter().copied())?;
    }
    Ok(library)
}

/// Writes both files, which are not in their places yet.
pub fn make<'p>(t: &Terrain, debug: &Debug, place: &'p Path, library: &'p Path) -> Done<([NewFile<'p>; 2], Drawn)> {
    // what takes memory comes before there are files
    let drawing = Drawing::new(t);
    let (mesh, drawn) = NewFile::write_by(place, |out| drawing.write(debug, &file_name(library), out))?;
    let (paint, ()) = NewFile::write_by(library, |out| write_library(t, out))?;
    Ok(([mesh, paint], drawn))
}

/// One line about a picture.
pub fn said(place: &Path, library: &Path, debug: &Debug, drawn: &Drawn) -> String {
    let mut text = format!("{}: {}", named(place), counted(drawn.triangles, "triangle"));
    if debug.cells {
        text += &format!(", {} as boxes", counted(drawn.cells, "cell"));
    }
    let asked: u64 = debug.pins.map(u64::from).iter().product();
    if asked > 0 {
        text += &format!(", {} of {} on ground", grouped(drawn.pins), counted(asked, "pin"));
    }
    if !is_nowhere(place) {
        text += &format!("; {} beside it", shown(&file_name(library)));
    }
    text
}
