//! Facts about an image, and errors of the system about files.

use hardpan::{Terrain, format::fallback};
use hardpan_builder::util::files::{NotWritten, WriteError};
use hardpan_builder::util::steps::Steps;
use hardpan_builder::util::text::named;
use pyo3::{
    exceptions::{PyFileNotFoundError, PyIsADirectoryError, PyNotADirectoryError, PyOSError, PyPermissionError},
    prelude::*,
    types::{PyDict, PyList},
};
use std::{io, path::Path};

/// The head and the tables.
pub fn of<'py>(py: Python<'py>, t: &Terrain) -> PyResult<Bound<'py, PyDict>> {
    let (all, head) = (PyDict::new(py), t.header());
    let metres = |steps: i64| Steps::of(head).query_height(steps);
    let identity: String = t.identity().iter().map(|byte| format!("{byte:02x}")).collect();
    let cost = t.bound();
    let policy = match head.fallback {
        fallback::BOUNDS_MIN_Z => "bounds-min-z",
        fallback::DEFAULT => "default",
        fallback::MISS => "miss",
        _ => "edge-extend",
    };
    all.set_item("identity", identity)?;
    all.set_item("bytes", t.bytes().len())?;
    all.set_item("bounds", t.bounds())?;
    all.set_item("bound", (cost.nodes, cost.leaves, cost.tests, cost.lines))?;
    all.set_item("max_layers", t.max_layers())?;
    all.set_item("triangles", head.triangles)?;
    all.set_item("near", metres(head.near))?;
    all.set_item("far", metres(head.far))?;
    all.set_item("error", (head.error_plan, head.error_height))?;
    all.set_item("fallback", policy)?;
    let crs = t.crs().map(|(record, [name, datum, vertical])| (name, datum, vertical, record.code));
    all.set_item("crs", crs)?;
    all.set_item("defaults", (head.default_mu, head.default_rolling, head.default_gain))?;
    all.set_item("materials", materials(py, t)?)?;
    let sources = (0..t.source_count()).map(|i| t.source_name(i as u16));
    all.set_item("sources", sources.collect::<Vec<_>>())?;
    Ok(all)
}

fn materials<'py>(py: Python<'py>, t: &Terrain) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for (i, m) in t.materials().iter().enumerate() {
        let one = PyDict::new(py);
        one.set_item("name", t.material_name(i as u16))?;
        one.set_item("mu", m.mu)?;
        one.set_item("rolling", m.rolling)?;
        one.set_item("gain", m.gain)?;
        one.set_item("surface_type", m.surface)?;
        one.set_item("cone_index", m.cone_index)?;
        one.set_item("class_mask", m.class_mask)?;
        one.set_item("label", m.label)?;
        one.set_item("priority", m.priority)?;
        list.append(one)?;
    }
    Ok(list)
}

/// An error of the system as the exception of its kind, with the file's name.
pub fn io(e: io::Error, path: &Path) -> PyErr {
    match e.raw_os_error() {
        // the interpreter makes FileNotFoundError and its kin of the number
        Some(number) => {
            let text = e.to_string();
            let cause = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, cause, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {e}", named(path))),
    }
}

/// Why a file was not written, as the exception of its kind.
pub fn not_written(e: WriteError) -> PyErr {
    let text = e.to_string();
    match e.cause {
        NotWritten::NoFolder(_) | NotWritten::DeadLink(_) => PyFileNotFoundError::new_err(text),
        NotWritten::Folder => PyIsADirectoryError::new_err(text),
        NotWritten::InFile => PyNotADirectoryError::new_err(text),
        NotWritten::Denied(_) => PyPermissionError::new_err(text),
        NotWritten::System(cause) => io(cause, &e.place),
        _ => PyOSError::new_err(text),
    }
}
