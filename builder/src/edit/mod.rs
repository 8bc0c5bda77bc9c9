//! Images made from images.

pub mod merge;
pub mod rebuild;

use crate::build::error::BuildError;
use crate::options::SourceError;
use crate::settings::{MaterialRule, Settings, SourceFile};

/// That settings of a mesh say what no image can have, but for this error of its sources, which it has already.
pub fn no_mesh(settings: &Settings, known: Option<&SourceError>) -> Result<(), BuildError> {
    if settings.raster.is_some() {
        let text = "raster makes heights of a mesh, and not of an image; build from the sources, or take it out";
        return Err(BuildError::Option(text.into()));
    }
    match &settings.build.source_error {
        Some(error) if Some(error) != known => {
            let text = "source_error is of a mesh, and an image states its own error; take it out of [build]";
            Err(BuildError::Option(text.into()))
        }
        _ => Ok(()),
    }
}

/// That settings say of files what the images made of them have already.
pub fn no_files(settings: &Settings) -> Result<(), BuildError> {
    let says = |source: &&SourceFile| source.gives() != MaterialRule::default();
    match settings.sources.iter().find(says) {
        Some(source) => Err(BuildError::Option(format!(
            "[[source]] {:?} says what its faces are, and an image knows no files; say it of an object: [[rule]] object = \"NAME\"",
            source.file
        ))),
        None => Ok(()),
    }
}
