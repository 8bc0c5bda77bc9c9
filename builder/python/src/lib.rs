//! The native module of `hardpan`, the Python package: images, queries on arrays, builds.
//!
//! `package/hardpan` says what a caller may give and words what is wrong with it; here arrays are slices, and the
//! interpreter is let go while they are worked on.
#![deny(unsafe_code)]

mod columns;
mod contact;
mod explain;
mod facts;
mod image;
mod make;
mod rays;
mod report;
mod wheels;

use hardpan::{ContactStatus, LeafKind, RayStatus, Reach, Status};
use hardpan_builder::query::column::COLUMNS;
use pyo3::prelude::*;

pyo3::create_exception!(hardpan, ImageError, pyo3::exceptions::PyValueError, "These bytes are not a sound image.");
pyo3::create_exception!(hardpan, BuildError, pyo3::exceptions::PyValueError, "This cannot become an image.");

#[pymodule]
fn _hardpan(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ImageError", module.py().get_type::<ImageError>())?;
    module.add("BuildError", module.py().get_type::<BuildError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("STATUS", Status::ALL.iter().map(|s| (s.symbol(), s.code(), s.meaning())).collect::<Vec<_>>())?;
    module.add("REACH", Reach::ALL.iter().map(|r| (r.symbol(), r.code(), r.meaning())).collect::<Vec<_>>())?;
    module.add("LEAF", LeafKind::ALL.iter().map(|l| (l.symbol(), l.code(), l.meaning())).collect::<Vec<_>>())?;
    let contact = ContactStatus::ALL.iter().map(|s| (s.symbol(), s.code(), s.meaning()));
    module.add("CONTACT_STATUS", contact.collect::<Vec<_>>())?;
    module.add("RAY_STATUS", RayStatus::ALL.iter().map(|s| (s.symbol(), s.code(), s.meaning())).collect::<Vec<_>>())?;
    module.add("COLUMNS", COLUMNS.iter().map(|c| (c.symbol, c.unit, c.parts.len())).collect::<Vec<_>>())?;
    module.add_class::<image::Held>()?;
    module.add_class::<wheels::Wheels>()?;
    module.add_function(wrap_pyfunction!(make::build, module)?)?;
    module.add_function(wrap_pyfunction!(make::build_files, module)?)
}
