//! Tyre contact, chassis points and the terrain sensor, on arrays.

use crate::columns::{Given, room};
use hardpan::{
    Axes, Contact, ContactPoint, Lattice, Method, Motion, SensorConfig, SensorStep, SensorTrace, Setting, Terrain,
    Tyre, Wheel,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*};

/// Steps that are asked for before a signal is looked for.
const BLOCK: usize = 1 << 14;

/// Numbers of a contact: height, normal, plane, patch centre, and those that [`numbers`] has behind them.
pub const NUMBERS: usize = 19;

/// So many numbers a wheel; surface, material and source; status, whether there is a patch, whether the plane was
/// fitted.
pub type Contacts<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u16>>, Bound<'py, PyArray1<u8>>);

fn numbers(axes: Axes, c: &Contact) -> [f64; NUMBERS] {
    let [a, b, d] = axes.world_out(c.normal);
    let [e, f, g] = axes.world_out(c.plane);
    let [x, y, z] = axes.world_out(c.patch_centre);
    let height = axes.world_out([0.0, 0.0, c.height]).into_iter().fold(0.0, |sum, v| sum + v);
    let (p, r, v) = (c.penetration, c.loaded_radius, c.volume);
    [height, a, b, d, e, f, g, x, y, z, p, r, v, c.mu, c.rolling, c.gain, c.coverage, c.hd_share, c.error]
}

/// A method: so many columns, at most so many triangles, or neither for points.
pub fn method([columns, strips]: [u32; 2], points: &[ContactPoint]) -> PyResult<Method<'_>> {
    let wrong = |why: &'static str| PyValueError::new_err(why);
    match (columns, strips) {
        (0, 0) => Ok(Method::Points(points)),
        (0, most) => Ok(Method::Strips { most: most.try_into().map_err(|_| wrong("strips are at most 65535"))? }),
        (n, 0) => Lattice::of(n).map(Method::Columns).ok_or_else(|| wrong("columns are 16, 64 or 256")),
        _ => Err(wrong("a tyre has columns or strips, not both")),
    }
}

/// Each row of an array as so many numbers.
fn rows<'a, const N: usize>(name: &str, given: &'a Given, count: usize) -> PyResult<&'a [[f64; N]]> {
    let rows = given.as_slice()?.as_chunks::<N>().0;
    let wrong = || PyValueError::new_err(format!("{name} has not {count} rows of {N}"));
    (rows.len() == count && given.as_slice()?.len() == N * count).then_some(rows).ok_or_else(wrong)
}

/// The contacts of wheels: centres and rows of matrices, and for all one tyre, its points, its reach and its axes.
#[allow(clippy::too_many_arguments)] // as Python has them
pub fn contacts<'py>(
    py: Python<'py>,
    t: &Terrain,
    [centre, ori, down]: [&Given; 3],
    size: [f64; 2],
    columns: [u32; 2],
    points: &Given,
    reach: Option<[f64; 2]>,
    axes: &str,
) -> PyResult<Contacts<'py>> {
    let axes = Axes::named(axes).ok_or_else(|| PyValueError::new_err(format!("there are no axes {axes:?}")))?;
    let n = centre.as_slice()?.len() / 3;
    let (centres, ori) = (rows::<3>("centre", centre, n)?, rows::<9>("ori", ori, n)?);
    let downs = if down.as_slice()?.is_empty() { &[][..] } else { rows::<3>("down", down, n)? };
    let point = |&[x, y, z, weight]: &[f64; 4]| ContactPoint { at: axes.body_in([x, y, z]), weight };
    let points: Vec<ContactPoint> = points.as_slice()?.as_chunks::<4>().0.iter().map(point).collect();
    let [radius, width] = size;
    let tyre = Tyre { radius, width, method: method(columns, &points)?, reach };
    room::<[f64; NUMBERS + 2]>(n)?;
    let arrays: Contacts =
        (PyArray1::zeros(py, NUMBERS * n, false), PyArray1::zeros(py, 3 * n, false), PyArray1::zeros(py, 3 * n, false));
    {
        let (mut values, mut names, mut flags) = (arrays.0.readwrite(), arrays.1.readwrite(), arrays.2.readwrite());
        let values = values.as_slice_mut()?.as_chunks_mut::<NUMBERS>().0;
        let names = names.as_slice_mut()?.as_chunks_mut::<3>().0;
        let flags = flags.as_slice_mut()?.as_chunks_mut::<3>().0;
        for from in (0..n).step_by(BLOCK) {
            py.detach(|| {
                for i in from..n.min(from + BLOCK) {
                    let [a, b, c, d, e, f, g, h, k] = ori[i];
                    let pose = axes.pose(centres[i], [[a, b, c], [d, e, f], [g, h, k]]);
                    let down = downs.get(i).map(|&v| axes.world_in(v));
                    let found = t.contact(&tyre, &Wheel { pose, down, motion: Motion::default() });
                    values[i] = numbers(axes, &found);
                    names[i] = [found.surface, found.material, found.source];
                    flags[i] = [found.status.code(), found.patch_valid.into(), found.plane_fitted.into()];
                }
            });
            py.check_signals()?;
        }
    }
    Ok(arrays)
}

/// Numbers of a step: hit, start and end locations and normals of five traces, distances, and the adjusted ones.
pub const SENSED: usize = 4 * 15 + 5 + 5;

/// So many numbers a step; five materials; whether each trace met something, and its status, 255 if it is disabled.
pub type Readings<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<u16>>, Bound<'py, PyArray1<u8>>);

/// The readings of a sensor: of each step the centre and the rows of the matrix, and distances of steps if there are
/// any.
pub fn readings<'py>(
    py: Python<'py>,
    t: &Terrain,
    [centre, ori]: [&Given; 2],
    [traces, wheels]: [&Given; 2],
    [vehicle, tyres]: [&Given; 2],
) -> PyResult<Readings<'py>> {
    let n = centre.as_slice()?.len() / 3;
    let (centres, ori) = (rows::<3>("centre", centre, n)?, rows::<9>("ori", ori, n)?);
    let (vehicle, tyres) = (rows::<1>("vehicle_distance", vehicle, n)?, rows::<4>("tyre_distance", tyres, n)?);
    let traces: [[f64; 3]; 5] = rows::<3>("traces", traces, 5)?.try_into().unwrap_or_default();
    let wheels: [[f64; 3]; 4] = rows::<3>("wheels", wheels, 4)?.try_into().unwrap_or_default();
    let config = SensorConfig {
        traces: traces.map(|[length, offset, enabled]| SensorTrace { length, offset, enabled: enabled != 0.0 }),
        vehicle_distance: Setting::External,
        tyre_distance: Setting::External,
        wheels,
        ..SensorConfig::default()
    };
    room::<[f64; SENSED + 4]>(n)?;
    let arrays: Readings =
        (PyArray1::zeros(py, SENSED * n, false), PyArray1::zeros(py, 5 * n, false), PyArray1::zeros(py, 10 * n, false));
    {
        let (mut values, mut names, mut flags) = (arrays.0.readwrite(), arrays.1.readwrite(), arrays.2.readwrite());
        let values = values.as_slice_mut()?.as_chunks_mut::<SENSED>().0;
        let names = names.as_slice_mut()?.as_chunks_mut::<5>().0;
        let flags = flags.as_slice_mut()?.as_chunks_mut::<10>().0;
        for from in (0..n).step_by(BLOCK) {
            let wrong = py.detach(|| {
                for i in from..n.min(from + BLOCK) {
                    let [a, b, c, d, e, f, g, h, k] = ori[i];
                    let pose = Axes::Iso8855.pose(centres[i], [[a, b, c], [d, e, f], [g, h, k]]);
                    let step = SensorStep {
                        vehicle_distance: Some(vehicle[i][0]),
                        tyre_distance: Some(tyres[i]),
                        wheels: None,
                    };
                    let r = t.sensor(&config, &pose, &step).map_err(|e| (i, e))?;
                    let places = [r.hit_location, r.start, r.end, r.normal];
                    let adjusted = [r.vehicle_adjusted].into_iter().chain(r.tyre_adjusted);
                    let all = places.into_iter().flatten().flatten().chain(r.distance).chain(adjusted);
                    values[i].iter_mut().zip(all).for_each(|(to, v)| *to = v);
                    names[i] = r.material;
                    let came = r.status.into_iter().map(|s| s.map_or(255, |s| s as u8));
                    flags[i].iter_mut().zip(r.hit.into_iter().map(u8::from).chain(came)).for_each(|(to, v)| *to = v);
                }
                Ok(())
            });
            wrong.map_err(|(i, e): (usize, hardpan::SensorError)| {
                PyValueError::new_err(format!(
                    "step {i} is none: {e:?}; poses are finite and at right angles, traces run forwards"
                ))
            })?;
            py.check_signals()?;
        }
    }
    Ok(arrays)
}
