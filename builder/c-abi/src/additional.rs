//! Table 3: what a terrain holds, what went wrong, and the OBJ of what was built.

use crate::ffi::{Out, Text};
use crate::file::{keep, path, write};
use crate::handle::{self, on, vs_terrain_handle};
use crate::progress::threaded;
use crate::types::*;
use hardpan::Terrain;
use hardpan_builder::export::debug::{self, Debug};
use std::ffi::{c_char, c_int};

/// Most queries along an axis of an OBJ.
const MAX_DROPS: c_int = 10_000;

/// Empties a terrain.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_clear(handle: vs_terrain_handle) -> bool {
    on(handle, false, |terrain| {
        terrain.clear();
        Ok(true)
    })
}

/// The version of a terrain.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_version(handle: vs_terrain_handle) -> f64 {
    on(handle, 0.0, |terrain| Ok(terrain.version()))
}

/// Why the last call failed that did.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_last_error(handle: vs_terrain_handle) -> *const c_char {
    handle::last_error(handle).1
}

/// Kind of that error.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_last_error_code(handle: vs_terrain_handle) -> vs_terrain_error {
    handle::last_error(handle).0
}

/// How many triangles a terrain holds.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_num_triangles(handle: vs_terrain_handle) -> usize {
    on(handle, 0, |terrain| Ok(terrain.triangles()))
}

/// How many points a terrain holds.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_num_points(handle: vs_terrain_handle) -> usize {
    on(handle, 0, |terrain| Ok(terrain.points()))
}

/// A triangle by its number.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_triangle(
    handle: vs_terrain_handle,
    index: usize,
    triangle: Out<vs_terrain_triangle>,
) -> bool {
    on(handle, false, |terrain| triangle.put("triangle", terrain.triangle(index)?).map(|()| true))
}

/// Whether a terrain is built as it is now.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_is_built(handle: vs_terrain_handle) -> bool {
    on(handle, false, |terrain| Ok(terrain.is_built()))
}

fn extent(handle: vs_terrain_handle, axis: usize, min: Out<f64>, max: Out<f64>) -> bool {
    on(handle, false, |terrain| {
        let [low, high] = terrain.extent(axis)?;
        max.check("max")?;
        min.put("min", low)?;
        max.put("max", high)?;
        Ok(true)
    })
}

/// Least and greatest x.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_extents_x(handle: vs_terrain_handle, min: Out<f64>, max: Out<f64>) -> bool {
    extent(handle, 0, min, max)
}

/// Least and greatest y.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_extents_y(handle: vs_terrain_handle, min: Out<f64>, max: Out<f64>) -> bool {
    extent(handle, 1, min, max)
}

/// Least and greatest z.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_get_extents_z(handle: vs_terrain_handle, min: Out<f64>, max: Out<f64>) -> bool {
    extent(handle, 2, min, max)
}

/// Writes an OBJ of what was built, and its MTL beside it.
#[unsafe(no_mangle)]
pub extern "C" fn vs_terrain_output_as_obj(
    handle: vs_terrain_handle,
    filename: Text,
    queryTestDropsPerAxis: c_int,
    centroidSize: f64,
    drawQuery: u8,
) -> bool {
    on(handle, false, |terrain| {
        if !(centroidSize.is_finite() && centroidSize >= 0.0) {
            let text = format!("centroidSize is {centroidSize}; give a finite number of metres, or 0 for none");
            return Err(Fault::new(vs_terrain_error::ARGUMENT, text));
        }
        if queryTestDropsPerAxis > MAX_DROPS {
            let text = format!("queryTestDropsPerAxis is {queryTestDropsPerAxis}; give at most {MAX_DROPS}");
            return Err(Fault::new(vs_terrain_error::ARGUMENT, text));
        }
        let pins = u32::try_from(queryTestDropsPerAxis).unwrap_or(0); // none of a negative number
        let debug = Debug { cells: drawQuery != 0, pins: [pins; 2], origin: centroidSize };
        let place = path(filename.bytes("filename")?)?;
        let library = place.with_extension("mtl");
        if library == place {
            let text = format!("{}: this is the name of the material library; name the file .obj", place.display());
            return Err(Fault::new(vs_terrain_error::ARGUMENT, text));
        }
        let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let draw = |t: &Terrain| {
            let materials = write(&library, |out| debug::write_library(t, out))?;
            let shape = write(&place, |out| debug::write(t, &debug, &name, out))?;
            keep(shape)?; // first, for a name that no file can have fails here
            keep(materials)
        };
        threaded(|| terrain.drawn(draw)).map(|()| true)
    })
}
