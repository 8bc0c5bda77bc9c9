//! From a scene to an image: the job, its stages in their order, and why one fails.

pub mod backend;
pub mod cost;
pub mod error;
pub mod job;
pub(crate) mod lattice;
pub mod source;
pub(crate) mod stage;

use crate::image::Image;
use crate::image::provenance::Provenance;
use crate::options::Options;
use crate::report::Report;
use crate::scene::Scene;
use error::BuildError;
use hardpan_shaders::Stages;
use job::Job;

/// An image, and the report of its build.
pub struct Built {
    /// The image, aligned and ready for [`hardpan::Terrain::open`].
    pub image: Image,
    /// Counts.
    pub report: Report,
}

/// Builds an image of a scene.
pub fn build(scene: &Scene, options: &Options) -> Result<Built, BuildError> {
    build_recorded(scene, options, None)
}

/// [`build`], with a record of where the scene came from; the identity is the same with any record.
pub fn build_recorded(scene: &Scene, options: &Options, provenance: Option<&Provenance>) -> Result<Built, BuildError> {
    build_on(scene, options, provenance, &hardpan_shaders::Cpu::new())
}

/// [`build_recorded`], with the data-parallel stages on a backend: the bytes do not depend on it.
pub fn build_on(
    scene: &Scene,
    options: &Options,
    provenance: Option<&Provenance>,
    stages: &dyn Stages,
) -> Result<Built, BuildError> {
    let mut built = build_read(scene, options, provenance, stages)?;
    built.report.precision = source::precision::of_scene(scene);
    Ok(built)
}

/// [`build_on`] for scenes of files and images, whose own numbers are judged when they are read.
pub(crate) fn build_read(
    scene: &Scene,
    options: &Options,
    provenance: Option<&Provenance>,
    stages: &dyn Stages,
) -> Result<Built, BuildError> {
    let job = Job::new_on(scene, options, stages)?;
    let tiles = job.all(stages)?;
    job.image(tiles, provenance)
}
