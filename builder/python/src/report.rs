//! A build's report as a dictionary, with the names that `hardpan build --report` writes.

use hardpan_builder::{Repair, Report};
use pyo3::{prelude::*, types::PyDict};

/// Each field under its name.
macro_rules! fields {
    ($to:expr, $from:expr, $($name:ident)*) => { $($to.set_item(stringify!($name), $from.$name.clone())?;)* };
}

pub fn of<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    fields!(all, report, triangles_in triangles outside duplicates posts);
    fields!(all, report.left_out, excluded obstacles collapsed vertical ceilings steep);
    fields!(all, report.packed, error tiles nodes bundles references patch_blocks index_bytes leaf_bytes image_bytes);
    all.set_item("weld", repair(py, &report.weld)?)?;
    all.set_item("stitch", repair(py, &report.stitch)?)?;
    Ok(all)
}

fn repair<'py>(py: Python<'py>, of: &Repair) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    fields!(all, of, joined collapsed duplicates upright nudged divided added open_edges left slits slit crowded moved);
    Ok(all)
}
