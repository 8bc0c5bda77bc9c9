//! A cursor for each wheel.

use crate::{
    columns::{Arrays, Given, Points, answered},
    image::{Held, terrain},
};
use hardpan::Cursor;
use pyo3::{exceptions::PyValueError, prelude::*};
use std::sync::{Mutex, PoisonError};

/// State of each wheel between two calls.
#[pyclass(frozen, module = "hardpan._hardpan")]
pub struct Wheels {
    image: Py<Held>,
    cursors: Mutex<Vec<Cursor>>,
}

#[pymethods]
impl Wheels {
    #[new]
    fn new(image: Py<Held>, count: usize) -> PyResult<Self> {
        image.get().bytes()?;
        let mut cursors = Vec::new();
        let room = cursors.try_reserve_exact(count);
        room.map_err(|_| PyValueError::new_err(format!("{count} cursors fit no memory")))?;
        cursors.resize(count, Cursor::new());
        Ok(Wheels { image, cursors: Mutex::new(cursors) })
    }

    /// The closest ground of each wheel.
    fn closest<'py>(&self, py: Python<'py>, x: Given, y: Given, z: Given) -> PyResult<Arrays<'py>> {
        let bytes = self.image.get().bytes()?;
        let t = terrain(&bytes)?;
        let points = Points::new([&x, &y, &z])?;
        answered(py, points, |points, first, room| {
            // within, so that nobody waits for the lock while it holds the interpreter
            let mut cursors = self.cursors.lock().unwrap_or_else(PoisonError::into_inner);
            let wheels = points.iter().zip(&mut cursors[first..]);
            room.put_all(&t, wheels.map(|(p, cursor)| t.closest_cursor(p, cursor)));
        })
    }
}
