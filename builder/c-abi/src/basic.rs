//! Table 2: terrains are created, filled, built and saved.

use crate::contents::Contents;
use crate::ffi::{In, Out, Text};
use crate::file::path;
use crate::handle::{self, on, on_both, vs_terrain_handle};
use crate::progress::{threaded, told};
use crate::types::*;
use std::ffi::c_void;

/// A new, empty terrain; a version of 0 is the latest.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_create(version: f64) -> vs_terrain_handle {
    handle::nowhere(vs_terrain_handle::NULL, || Contents::new(version).map(handle::create))
}

/// Ends a terrain.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_destroy(handle: vs_terrain_handle) -> bool {
    handle::destroy(handle)
}

/// Adds a triangle.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_add_triangle(
    handle: vs_terrain_handle,
    a: In<vs_terrain_point>,
    b: In<vs_terrain_point>,
    c: In<vs_terrain_point>,
    mu: vs_terrain_mu_type,
    rr: vs_terrain_rr_type,
) -> bool {
    on(handle, false, |terrain| {
        terrain.add([a.get("a")?, b.get("b")?, c.get("c")?], mu, rr)?;
        Ok(true)
    })
}

/// Adds all triangles of another terrain.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_merge(handle: vs_terrain_handle, source: vs_terrain_handle) -> bool {
    on_both([handle, source], |from| Ok(from.copied()), Contents::merge)
}

/// Joins points that lie close.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_optimize(
    handle: vs_terrain_handle,
    weldThreshold: f64,
    callback: vs_terrain_optimize_callback,
    userData: *mut c_void,
) -> bool {
    on(handle, false, |terrain| {
        told(callback, userData, |tell| terrain.optimize(weldThreshold, tell))?;
        Ok(true)
    })
}

/// Builds by the native rule.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_build(handle: vs_terrain_handle) -> bool {
    on(handle, false, |terrain| threaded(|| terrain.build()).map(|()| true))
}

/// Sets what `vs_terrain_build2` builds by.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_build2_parameters(
    handle: vs_terrain_handle,
    parameters: In<vs_terrain_build_parameters>,
) -> bool {
    on(handle, false, |terrain| terrain.set_parameters(parameters.get("parameters")?).map(|()| true))
}

/// Options of `vs_terrain_build2`.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_build2_get_parameters(
    handle: vs_terrain_handle,
    parameters: Out<vs_terrain_build_parameters>,
) -> bool {
    on(handle, false, |terrain| parameters.put("parameters", terrain.parameters()).map(|()| true))
}

/// Builds by the parameters.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_build2(
    handle: vs_terrain_handle,
    callback: vs_terrain_build2_callback,
    userData: *mut c_void,
    results: Out<vs_terrain_build_results>,
) -> bool {
    on(handle, false, |terrain| {
        if !results.is_null() {
            results.check("results")?;
        }
        let built = told(callback, userData, |tell| terrain.build2(tell))?;
        if !results.is_null() {
            results.put("results", built)?;
        }
        Ok(true)
    })
}

/// Writes an image to a file.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_save(handle: vs_terrain_handle, filename: Text) -> bool {
    on(handle, false, |terrain| {
        let place = path(filename.bytes("filename")?)?;
        threaded(|| terrain.save(place)).map(|()| true)
    })
}
