//! An image that Python holds, and the queries on it.

use crate::{
    ImageError,
    columns::{Arrays, Given, Points, answered, no_room, room},
    contact, explain, facts, rays,
};
use hardpan::{ContactPoint, Hit, LeafKind, Options, Terrain, Tyre, Windows, format::fallback};
use hardpan_builder::image::earth::Earth;
use hardpan_builder::util::files::NewFile;
use hardpan_builder::util::steps::Steps;
use hardpan_builder::{Image, ImageFile};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes, types::PyDict};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// An image. Queries that run while another thread closes it end first: each keeps the bytes.
#[pyclass(frozen, module = "hardpan._hardpan")]
pub struct Held {
    bytes: Mutex<Option<Arc<ImageFile>>>,
}

/// A layer over a place.
#[derive(Clone, Copy)]
struct Layer {
    z: f64,
    slope: [f64; 2],
    /// Its material and source.
    names: [u16; 2],
    is_hidden: bool,
    leaf: LeafKind,
}

impl Layer {
    /// Where there is none.
    const NONE: Layer =
        Layer { z: f64::NAN, slope: [f64::NAN; 2], names: [u16::MAX; 2], is_hidden: false, leaf: LeafKind::None };
}

/// z, slope, material, source, whether it is hidden, and leaf of each place and layer; how many layers and the status
/// of each place.
type LayerArrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u8>>,
);

impl Held {
    /// Takes bytes that are an image.
    pub fn new(bytes: ImageFile, verify: bool, who: impl FnOnce() -> String) -> PyResult<Self> {
        let opened = if verify { Terrain::open_verified(&bytes) } else { Terrain::open(&bytes) };
        match opened {
            Ok(_) => Ok(Held { bytes: Mutex::new(Some(Arc::new(bytes))) }),
            Err(e) => Err(ImageError::new_err(format!("{}: {e}", who()))),
        }
    }

    /// The bytes, as long as the image is open.
    pub fn bytes(&self) -> PyResult<Arc<ImageFile>> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes
            .clone()
            .ok_or_else(|| PyValueError::new_err("this image is closed; open it again with hardpan.open(path)"))
    }
}

/// The terrain of bytes that were opened before: this checks the head, in constant time.
pub fn terrain(bytes: &ImageFile) -> PyResult<Terrain<'_>> {
    let changed = |e| ImageError::new_err(format!("the file of this image was changed while it was mapped: {e}"));
    Terrain::open(bytes).map_err(changed)
}

/// Metres in query steps.
fn steps(t: &Terrain, name: &str, metres: f64) -> PyResult<i64> {
    let steps = Steps::of(t.header()).to_query_height(metres);
    if steps >= 0.0 && steps < f64::powi(2.0, 52) {
        return Ok(steps as i64);
    }
    Err(PyValueError::new_err(format!("{name} is {metres}; give a length in metres of 0 or more")))
}

/// The caller's windows and fall-back over the image's.
fn options(t: &Terrain, near: Option<f64>, far: Option<f64>, policy: Option<&str>) -> PyResult<Options> {
    let own = t.options();
    let or = |name, given: Option<f64>, own| given.map_or(Ok(own), |metres| steps(t, name, metres));
    let policy = match policy {
        None => own.fallback,
        Some("bounds-min-z") => fallback::BOUNDS_MIN_Z,
        Some("default") => fallback::DEFAULT,
        Some("miss") => fallback::MISS,
        Some("edge-extend") => fallback::EDGE_EXTEND,
        Some(other) => {
            let text = format!("fallback is {other:?}; give bounds-min-z, default, miss or edge-extend");
            return Err(PyValueError::new_err(text));
        }
    };
    let windows = Windows { near: or("near", near, own.windows.near)?, far: or("far", far, own.windows.far)? };
    Ok(Options { windows, fallback: policy })
}

#[pymethods]
impl Held {
    /// Opens a file: a copy in memory, or the file itself as memory.
    #[staticmethod]
    fn open(py: Python, path: PathBuf, verify: bool, map: bool) -> PyResult<Self> {
        py.detach(|| {
            let named = |e: std::io::Error| facts::io(e, &path);
            let bytes = if map { ImageFile::open(&path) } else { Image::read(&path).map(ImageFile::Read) };
            Held::new(bytes.map_err(named)?, verify, || named_path(&path))
        })
    }

    /// A copy of bytes.
    #[staticmethod]
    fn of(bytes: &[u8], verify: bool) -> PyResult<Self> {
        let copy = Image::copy_of(bytes)?;
        Held::new(ImageFile::Read(copy), verify, || format!("{} bytes", bytes.len()))
    }

    fn close(&self) {
        *self.bytes.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    #[getter]
    fn closed(&self) -> bool {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Writes the bytes to a file, which appears whole or not at all.
    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let bytes = self.bytes()?;
        py.detach(|| NewFile::write_checked(&path, &bytes)?.keep()).map_err(facts::not_written)
    }

    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, terrain(&*self.bytes()?)?.bytes()))
    }

    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts::of(py, &terrain(&*self.bytes()?)?)
    }

    #[allow(clippy::too_many_arguments)] // as Python has them
    fn closest<'py>(
        &self,
        py: Python<'py>,
        x: Given,
        y: Given,
        z: Given,
        near: Option<f64>,
        far: Option<f64>,
        fallback: Option<&str>,
    ) -> PyResult<Arrays<'py>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let options = options(&t, near, far, fallback)?;
        let points = Points::new([&x, &y, &z])?;
        if options == t.options() {
            return answered(py, points, |points, _, room| room.put_closest(&t, points));
        }
        answered(py, points, |points, _, room| room.put_all(&t, points.iter().map(|p| t.closest_with(p, &options))))
    }

    fn below<'py>(&self, py: Python<'py>, x: Given, y: Given, z: Given) -> PyResult<Arrays<'py>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let points = Points::new([&x, &y, &z])?;
        answered(py, points, |points, _, room| room.put_all(&t, points.iter().map(|p| t.below(p))))
    }

    fn segment<'py>(&self, py: Python<'py>, x: Given, y: Given, z: Given, length: Given) -> PyResult<Arrays<'py>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let points = Points::new([&x, &y, &z])?;
        let lengths = length.as_slice()?;
        if lengths.len() != points.len() {
            return Err(PyValueError::new_err("length has not the length of x"));
        }
        answered(py, points, |points, first, room| {
            let asked = points.iter().zip(&lengths[first..]);
            room.put_all(&t, asked.map(|(p, length)| t.segment_m(p, *length)));
        })
    }

    /// Room for `most` layers of each place, or for as many as some place has, but one at least; and the layers.
    fn layers<'py>(
        &self,
        py: Python<'py>,
        x: Given,
        y: Given,
        most: Option<usize>,
    ) -> PyResult<(usize, LayerArrays<'py>)> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let Points { x, y, .. } = Points::new([&x, &y, &x])?;
        let n = x.len();
        let space = most.unwrap_or(t.max_layers() as usize);
        room::<Hit>(space)?;
        if most.is_some() {
            whole_room(n, space)?;
        }
        let (count, status) = (PyArray1::<u32>::zeros(py, n, false), PyArray1::<u8>::zeros(py, n, false));
        let found = {
            let (mut count, mut status) = (count.readwrite(), status.readwrite());
            let (count, status) = (count.as_slice_mut()?, status.as_slice_mut()?);
            py.detach(|| {
                let (mut hits, mut all) = (vec![Hit::NONE; space], Vec::new());
                for (i, (x, y)) in x.iter().zip(y).enumerate() {
                    let layers = t.layers([*x, *y, 0.0], &mut hits);
                    (status[i], count[i]) = (layers.status.code(), layers.total as u32);
                    all.try_reserve(layers.written).map_err(|_| no_room::<Layer>(all.len()))?;
                    let kept = hits.iter().take(layers.written);
                    all.extend(kept.map(|hit| Layer {
                        z: t.z_f64(hit),
                        slope: t.slope_f64(hit),
                        names: [hit.material, hit.source],
                        is_hidden: hit.reach == hardpan::Reach::Hidden,
                        leaf: hit.leaf,
                    }));
                }
                PyResult::Ok(all)
            })?
        };
        let readable = count.readonly();
        let counts = readable.as_slice()?;
        let held = |count: u32| (count as usize).min(space);
        let width = most.unwrap_or(held(counts.iter().copied().max().unwrap_or(0)).max(1));
        whole_room(n, width)?;
        let all = n * width;
        let (z, slope) = (PyArray1::<f64>::zeros(py, all, false), PyArray1::<f64>::zeros(py, 2 * all, false));
        let (material, source) = (PyArray1::<u16>::zeros(py, all, false), PyArray1::<u16>::zeros(py, all, false));
        let (hidden, leaf) = (PyArray1::<bool>::zeros(py, all, false), PyArray1::<u8>::zeros(py, all, false));
        {
            let (mut hidden, mut leaf) = (hidden.readwrite(), leaf.readwrite());
            let (hidden, leaf) = (hidden.as_slice_mut()?, leaf.as_slice_mut()?);
            let [mut z, mut slope] = [&z, &slope].map(|array| array.readwrite());
            let [mut material, mut source] = [&material, &source].map(|array| array.readwrite());
            let (z, slope) = (z.as_slice_mut()?, slope.as_slice_mut()?);
            let (material, source) = (material.as_slice_mut()?, source.as_slice_mut()?);
            py.detach(|| {
                let mut found = found.iter();
                for (i, count) in counts.iter().enumerate() {
                    for k in 0..width {
                        let layer = if k < held(*count) { found.next() } else { None };
                        let layer = layer.copied().unwrap_or(Layer::NONE);
                        let Layer { z: height, slope: of, names, is_hidden, leaf: held } = layer;
                        let to = i * width + k;
                        (z[to], [material[to], source[to]]) = (height, names);
                        (hidden[to], leaf[to]) = (is_hidden, held.code());
                        slope[2 * to..2 * to + 2].copy_from_slice(&of);
                    }
                }
            });
        }
        drop(readable);
        Ok((width, (z, slope, material, source, hidden, leaf, count, status)))
    }

    /// Three numbers a wheel of centre, nine of its matrix, three of down or none.
    #[allow(clippy::too_many_arguments)] // as Python has them
    fn contact<'py>(
        &self,
        py: Python<'py>,
        centre: Given,
        ori: Given,
        down: Given,
        size: [f64; 2],
        columns: [u32; 2],
        points: Given,
        reach: Option<[f64; 2]>,
        axes: &str,
    ) -> PyResult<contact::Contacts<'py>> {
        let bytes = self.bytes()?;
        contact::contacts(py, &terrain(&bytes)?, [&centre, &ori, &down], size, columns, &points, reach, axes)
    }

    /// Three numbers a step of the centre, nine of the matrix, one and four of the distances.
    #[allow(clippy::too_many_arguments)] // as Python has them
    fn sensor<'py>(
        &self,
        py: Python<'py>,
        centre: Given,
        ori: Given,
        traces: Given,
        wheels: Given,
        vehicle: Given,
        tyres: Given,
    ) -> PyResult<contact::Readings<'py>> {
        let bytes = self.bytes()?;
        contact::readings(py, &terrain(&bytes)?, [&centre, &ori], [&traces, &wheels], [&vehicle, &tyres])
    }

    /// Three numbers a ray of origin and direction.
    #[allow(clippy::too_many_arguments)] // as Python has them
    fn raycast<'py>(
        &self,
        py: Python<'py>,
        origin: Given,
        direction: Given,
        length: Given,
        kinds: u32,
        classes: u32,
        front_only: bool,
        after: Option<f64>,
    ) -> PyResult<rays::Arrays<'py>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        rays::cast(py, &t, [&origin, &direction, &length], rays::options(kinds, classes, front_only, after))
    }

    /// The most that a ray of a length costs, over the ground alone or over all kinds.
    fn ray_bound(&self, length: f64, ground_only: bool) -> PyResult<Option<[u32; 4]>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let most = if ground_only { t.ground_ray_bound(length) } else { t.ray_bound(length) };
        Ok(most.map(|c| [c.nodes, c.leaves, c.tests, c.lines]))
    }

    /// The most that a contact of a tyre costs, by so many columns, or by so many points.
    fn contact_bound(
        &self,
        size: (f64, f64),
        columns: u32,
        points: usize,
        reach: Option<[f64; 2]>,
    ) -> PyResult<Option<[u32; 4]>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let centres = vec![ContactPoint::CENTRE; points.min(1 << 16)];
        let tyre = Tyre { radius: size.0, width: size.1, method: contact::method([columns, 0], &centres)?, reach };
        Ok(t.contact_bound(&tyre).map(|c| [c.nodes, c.leaves, c.tests, c.lines]))
    }

    /// The free height over the ground at each point, NaN where there is none.
    fn clearance<'py>(&self, py: Python<'py>, x: Given, y: Given, z: Given) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let points = Points::new([&x, &y, &z])?;
        room::<f64>(points.len())?;
        let free = PyArray1::<f64>::zeros(py, points.len(), false);
        {
            let mut free = free.readwrite();
            let free = free.as_slice_mut()?;
            py.detach(|| {
                for (to, p) in free.iter_mut().zip(points.iter()) {
                    *to = t.free_f64(&t.clearance(p)).unwrap_or(f64::NAN);
                }
            });
        }
        Ok(free)
    }

    /// x and y, metres, of longitudes and latitudes in degrees; or with `back` the other way.
    fn earth<'py>(
        &self,
        py: Python<'py>,
        first: Given,
        second: Given,
        back: bool,
    ) -> PyResult<[Bound<'py, PyArray1<f64>>; 2]> {
        let bytes = self.bytes()?;
        let t = terrain(&bytes)?;
        let unknown = || PyValueError::new_err("the image does not know where on earth it lies");
        let earth = Earth::of(&t).ok_or_else(unknown)?;
        let (first, second) = (first.as_slice()?, second.as_slice()?);
        if first.len() != second.len() {
            return Err(PyValueError::new_err("there are not equally many of both"));
        }
        let place = |(a, b): (&f64, &f64)| if back { earth.back([*a, *b]) } else { earth.place([*a, *b]) };
        let places: Vec<[f64; 2]> = py.detach(|| first.iter().zip(second).map(place).collect());
        Ok([0, 1].map(|k| PyArray1::from_vec(py, places.iter().map(|p| p[k]).collect())))
    }

    fn explain<'py>(&self, py: Python<'py>, p: [f64; 3]) -> PyResult<Bound<'py, PyDict>> {
        explain::steps(py, &terrain(&*self.bytes()?)?, p)
    }
}

/// Whether layers of so many places, with room for so many each, fit the memory.
fn whole_room(places: usize, width: usize) -> PyResult<()> {
    // more than all arrays take
    room::<[f64; 2]>(places.saturating_mul(width.saturating_mul(2)))
}

fn named_path(path: &Path) -> String {
    hardpan_builder::util::text::named(path)
}
