//! Rays as columns.

use crate::columns::{Given, room};
use hardpan::{Kinds, RayAnswer, RayOptions, Terrain};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Rays that are cast before a signal is looked for.
const BLOCK: usize = 1 << 16;

/// t, place and normal (three numbers a ray each), material, source, status, kind, whether met from behind, leaf.
pub type Arrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u8>>,
);

/// Options of rays.
pub fn options(kinds: u32, classes: u32, front_only: bool, after: Option<f64>) -> RayOptions {
    RayOptions { kinds: Kinds(kinds), classes, front_only, after, limit: 0 }
}

/// Casts rays without the interpreter, block by block.
pub fn cast<'py>(
    py: Python<'py>,
    t: &Terrain,
    [origin, direction, length]: [&Given; 3],
    options: RayOptions,
) -> PyResult<Arrays<'py>> {
    let (origin, direction, length) = (origin.as_slice()?, direction.as_slice()?, length.as_slice()?);
    let n = length.len();
    let (origins, directions) = (origin.as_chunks::<3>().0, direction.as_chunks::<3>().0);
    if origins.len() != n || directions.len() != n {
        return Err(PyValueError::new_err("origin, direction and length have not the same length"));
    }
    room::<[f64; 10]>(n)?;
    let arrays: Arrays = (
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, 3 * n, false),
        PyArray1::zeros(py, 3 * n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
    );
    {
        let (mut way, mut at, mut normal) = (arrays.0.readwrite(), arrays.1.readwrite(), arrays.2.readwrite());
        let (mut material, mut source) = (arrays.3.readwrite(), arrays.4.readwrite());
        let (mut status, mut kind, mut back) = (arrays.5.readwrite(), arrays.6.readwrite(), arrays.7.readwrite());
        let (way, at, normal) = (way.as_slice_mut()?, at.as_slice_mut()?, normal.as_slice_mut()?);
        let (material, source) = (material.as_slice_mut()?, source.as_slice_mut()?);
        let mut leaf = arrays.8.readwrite();
        let leaf = leaf.as_slice_mut()?;
        let (status, kind, back) = (status.as_slice_mut()?, kind.as_slice_mut()?, back.as_slice_mut()?);
        for from in (0..n).step_by(BLOCK) {
            py.detach(|| {
                for i in from..n.min(from + BLOCK) {
                    let RayAnswer { status: came, hit } = match t.ray_from(origins[i], directions[i], length[i]) {
                        Ok(ray) => t.raycast(ray, &options),
                        Err(status) => RayAnswer::of(status),
                    };
                    way[i] = hit.t;
                    at[3 * i..3 * i + 3].copy_from_slice(&t.metres(hit.at));
                    normal[3 * i..3 * i + 3].copy_from_slice(&t.face_normal_f64(&hit));
                    (material[i], source[i]) = (hit.material, hit.source);
                    (status[i], kind[i], back[i]) = (came.code(), hit.kind as u8, hit.back);
                    leaf[i] = hit.leaf.code();
                }
            });
            py.check_signals()?;
        }
    }
    Ok(arrays)
}
