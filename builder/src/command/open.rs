//! Images as commands open them.

use super::failure::{Done, Failure};
use super::verify;
use crate::image::ImageFile;
use crate::import::file_name;
use crate::util::text::{fault, quoted, section_name};
use hardpan::format::MAGIC;
use hardpan::{OpenError, Terrain};
use std::fs;
use std::path::Path;

/// Maps an image file, or reads what is none; [`terrain`] then opens it.
pub(super) fn load(path: &Path) -> Done<ImageFile> {
    let data = fs::metadata(path).map_err(|e| match path == Path::new("-") {
        true => Failure::input(path, "there is no file of this name; an image that comes through a pipe is /dev/stdin"),
        false => {
            let image = path.with_extension("hpan");
            let meant = path.extension().is_none() && image.is_file();
            let hint = format!("check the spelling (did you mean {:?}?)", file_name(&image));
            if meant {
                Failure::input(path, format!("there is no such file or folder; {hint}"))
            } else {
                Failure::io(path, e)
            }
        }
    })?;
    if data.is_dir() {
        return Err(Failure::input(path, "this is a folder; name an image in it"));
    }
    ImageFile::open(path).map_err(|e| Failure::io(path, e))
}

/// Checks all of the image once: what follows may trust every answer.
pub(super) fn terrain<'a>(path: &Path, image: &'a [u8]) -> Done<Terrain<'a>> {
    Terrain::open_verified(image).map_err(|e| unopened(path, image, e))
}

/// Proves all that an image claims, as `hardpan verify` does: its counts and bounds, too, which say how much work
/// follows.
pub(super) fn proven<'a>(path: &Path, image: &'a [u8]) -> Done<Terrain<'a>> {
    let terrain = terrain(path, image)?;
    let verdict =
        crate::verify::verify(image, &crate::verify::Verify::default()).map_err(|e| unopened(path, image, e))?;
    match verdict.failed().filter(|_| !verify::unproven(&verdict)) {
        None => Ok(terrain),
        Some(check) => {
            let again = "copy the image again, or build it again: hardpan build FILE.obj";
            Err(Failure::damaged(path, format!("{}; {again}", verify::first_fault(check))))
        }
    }
}

/// An error of bytes that cannot be opened, with their file.
pub(super) fn unopened(path: &Path, image: &[u8], error: OpenError) -> Failure {
    if !image.starts_with(&MAGIC) {
        let begins = |at: &usize| image.get(*at..).is_some_and(|rest| rest.starts_with(&MAGIC));
        if let Some(at) = (64..4096).step_by(64).find(begins) {
            let cut = format!("tail -c +{} {} > image.hpan", at + 1, quoted(path));
            return Failure::input(
                path,
                format!("an image begins at byte {at}, not at the first; to cut it out: {cut}"),
            );
        }
    }
    match error {
        // what is cut short within its first bytes, or before them, may have been one
        OpenError::Truncated if !image.starts_with(&MAGIC) && !MAGIC.starts_with(image) => {
            Failure::open(path, OpenError::NotAnImage)
        }
        OpenError::Content(_)
            if let Some(erased) = Terrain::open(image).ok().and_then(|t| crate::verify::erased(&t)) =>
        {
            Failure::damaged(path, format!("{erased}; write it again"))
        }
        OpenError::Content(e) => {
            let again = "copy the image again, or build it again: hardpan build FILE.obj";
            Failure::damaged(path, format!("{}; {again}", damaged(image).unwrap_or_else(|| fault(e))))
        }
        error => Failure::open(path, error),
    }
}

/// Says which sections are damaged, if several are.
pub(super) fn damaged(image: &[u8]) -> Option<String> {
    let mut verifier = Terrain::open(image).ok()?.verifier();
    _ = verifier.step(0, &mut []);
    let kinds = (0..32).filter(|k| verifier.damaged_sections() >> k & 1 == 1);
    let names: Vec<&str> = kinds.map(section_name).collect();
    (names.len() > 1).then(|| format!("sections {} are damaged (their checksums differ)", names.join(", ")))
}
