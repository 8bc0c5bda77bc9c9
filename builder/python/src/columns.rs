//! Answers as columns: an array of numpy's for each value.

use hardpan::{Answer, Terrain};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::{
    exceptions::{PyMemoryError, PyValueError},
    prelude::*,
};

/// Points that are answered before a signal is looked for.
const BLOCK: usize = 1 << 20;
/// Points that go through the kernel's batch at a time: their answers stay in the nearest cache.
const STAGE: usize = 256;

/// z, slope (two numbers a point), material, source, status, reach, leaf.
pub type Arrays<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
    Bound<'py, PyArray1<u8>>,
);

/// An array of floats as Python gives it: one dimension, without gaps.
pub type Given<'py> = PyReadonlyArray1<'py, f64>;

/// The three coordinates of points, equally many.
#[derive(Clone, Copy)]
pub struct Points<'a> {
    pub x: &'a [f64],
    pub y: &'a [f64],
    pub z: &'a [f64],
}

impl<'a> Points<'a> {
    pub fn new([x, y, z]: [&'a Given; 3]) -> PyResult<Self> {
        let points = Points { x: x.as_slice()?, y: y.as_slice()?, z: z.as_slice()? };
        let same = points.y.len() == points.len() && points.z.len() == points.len();
        same.then_some(points).ok_or_else(|| PyValueError::new_err("x, y and z have not the same length"))
    }

    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Those from `from` on, at most [`BLOCK`].
    fn block(&self, from: usize) -> Points<'a> {
        let range = from..self.len().min(from + BLOCK);
        Points { x: &self.x[range.clone()], y: &self.y[range.clone()], z: &self.z[range] }
    }

    pub fn iter(&self) -> impl Iterator<Item = [f64; 3]> + 'a {
        self.x.iter().zip(self.y).zip(self.z).map(|((x, y), z)| [*x, *y, *z])
    }
}

/// Room for answers.
pub struct Columns<'a> {
    z: &'a mut [f64],
    slope: &'a mut [f64],
    material: &'a mut [u16],
    source: &'a mut [u16],
    status: &'a mut [u8],
    reach: &'a mut [u8],
    leaf: &'a mut [u8],
}

impl Columns<'_> {
    /// Answers one after the other.
    pub fn put_all(mut self, t: &Terrain, answers: impl Iterator<Item = Answer>) {
        answers.enumerate().for_each(|(i, answer)| self.put(i, t, &answer));
    }

    /// The closest ground by the kernel's batch.
    pub fn put_closest(mut self, t: &Terrain, points: Points) {
        let (mut asked, mut answers) = ([[0.0; 3]; STAGE], [Answer::NONE; STAGE]);
        for first in (0..points.len()).step_by(STAGE) {
            let count = STAGE.min(points.len() - first);
            let rest = points.x[first..].iter().zip(&points.y[first..]).zip(&points.z[first..]);
            for (to, ((x, y), z)) in asked.iter_mut().zip(rest) {
                *to = [*x, *y, *z];
            }
            t.closest_batch(&asked[..count], &mut answers);
            for (i, answer) in answers[..count].iter().enumerate() {
                self.put(first + i, t, answer);
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, i: usize, t: &Terrain, Answer { status, hit }: &Answer) {
        self.z[i] = t.z_f64(hit);
        self.slope[2 * i..2 * i + 2].copy_from_slice(&t.slope_f64(hit));
        self.material[i] = hit.material;
        self.source[i] = hit.source;
        self.status[i] = status.code();
        self.reach[i] = hit.reach.code();
        self.leaf[i] = hit.leaf.code();
    }
}

/// Whether so many things fit the memory: numpy's arrays are asked for when they do, and Rust's never end the process.
pub fn room<T>(count: usize) -> PyResult<()> {
    Vec::<T>::new().try_reserve_exact(count).map_err(|_| no_room::<T>(count))
}

/// That so many things do not.
pub fn no_room<T>(count: usize) -> PyErr {
    PyMemoryError::new_err(format!("answers of {count} x {} bytes fit no memory", size_of::<T>()))
}

/// Lets blocks of points be answered without the interpreter: `ask` gets each block, the number of its first point, and
/// room.
pub fn answered<'py>(
    py: Python<'py>,
    points: Points,
    mut ask: impl FnMut(Points, usize, Columns) + Send,
) -> PyResult<Arrays<'py>> {
    let n = points.len();
    room::<[f64; 4]>(n)?;
    let arrays: Arrays = (
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, 2 * n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
        PyArray1::zeros(py, n, false),
    );
    {
        let (mut z, mut slope) = (arrays.0.readwrite(), arrays.1.readwrite());
        let (mut material, mut source) = (arrays.2.readwrite(), arrays.3.readwrite());
        let (mut status, mut reach) = (arrays.4.readwrite(), arrays.5.readwrite());
        let mut leaf = arrays.6.readwrite();
        for from in (0..n).step_by(BLOCK) {
            let block = points.block(from);
            let room = Columns {
                z: part(&mut z, from, block.len())?,
                slope: part(&mut slope, 2 * from, 2 * block.len())?,
                material: part(&mut material, from, block.len())?,
                source: part(&mut source, from, block.len())?,
                status: part(&mut status, from, block.len())?,
                reach: part(&mut reach, from, block.len())?,
                leaf: part(&mut leaf, from, block.len())?,
            };
            py.detach(|| ask(block, from, room));
            py.check_signals()?;
        }
    }
    Ok(arrays)
}

fn part<'a, T: numpy::Element>(
    array: &'a mut PyReadwriteArray1<'_, T>,
    from: usize,
    count: usize,
) -> PyResult<&'a mut [T]> {
    Ok(&mut array.as_slice_mut()?[from..from + count])
}
