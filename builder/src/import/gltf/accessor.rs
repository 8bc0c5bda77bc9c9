//! Numbers of accessors: plain, interleaved, quantised and sparse.

use super::super::bytes;
use super::container::Bytes;
use super::tree::{Accessor, Root};
use crate::util::text::grouped;

/// A number's type.
#[derive(Clone, Copy)]
enum Type {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Type {
    fn of(code: u32) -> Result<Type, String> {
        Ok(match code {
            5120 => Type::I8,
            5121 => Type::U8,
            5122 => Type::I16,
            5123 => Type::U16,
            5125 => Type::U32,
            5126 => Type::F32,
            other => return Err(format!("its componentType {other} is unknown")),
        })
    }

    fn bytes(self) -> u64 {
        match self {
            Type::I8 | Type::U8 => 1,
            Type::I16 | Type::U16 => 2,
            Type::U32 | Type::F32 => 4,
        }
    }

    /// A number at a place that is there.
    fn read(self, from: &[u8], at: usize) -> f64 {
        let two = || bytes::at::<2>(from, at).unwrap_or_default();
        let four = || bytes::at::<4>(from, at).unwrap_or_default();
        let one = || bytes::at::<1>(from, at).unwrap_or_default();
        match self {
            Type::I8 => f64::from(i8::from_le_bytes(one())),
            Type::U8 => f64::from(one()[0]),
            Type::I16 => f64::from(i16::from_le_bytes(two())),
            Type::U16 => f64::from(u16::from_le_bytes(two())),
            Type::U32 => f64::from(u32::from_le_bytes(four())),
            Type::F32 => f64::from(f32::from_le_bytes(four())),
        }
    }

    /// The part of 1 that a whole number stands for.
    fn part(self, v: f64) -> f64 {
        match self {
            Type::I8 => (v / 127.0).max(-1.0),
            Type::U8 => v / 255.0,
            Type::I16 => (v / 32767.0).max(-1.0),
            Type::U16 => v / 65535.0,
            Type::U32 | Type::F32 => v,
        }
    }
}

/// A run of elements within a buffer.
struct Run<'a> {
    bytes: &'a [u8],
    at: usize,
    stride: usize,
}

/// All that accessors are read from.
pub struct Source<'a> {
    pub root: &'a Root,
    pub buffers: &'a [Bytes<'a>],
}

impl Source<'_> {
    fn run(&self, view: usize, offset: u64, size: u64, count: u64) -> Result<Run<'_>, String> {
        let found = self.root.buffer_views.get(view).ok_or_else(|| format!("bufferViews[{view}] is not there"))?;
        let buffer = self.buffers.get(found.buffer).ok_or_else(|| format!("buffers[{}] is not there", found.buffer))?;
        let stride = found.byte_stride.unwrap_or(size).max(1);
        let start = found.byte_offset.checked_add(offset);
        let end = count.checked_sub(1).map_or(Some(0), |n| n.checked_mul(stride)?.checked_add(size));
        let beyond = || format!("bufferViews[{view}] ends before its {} elements do", grouped(count));
        let (start, end) = (start.ok_or_else(beyond)?, end.ok_or_else(beyond)?);
        let view_end = found.byte_offset.saturating_add(found.byte_length).min(buffer.len() as u64);
        if start.checked_add(end).is_none_or(|all| all > view_end) {
            return Err(beyond());
        }
        Ok(Run { bytes: buffer, at: start as usize, stride: stride as usize })
    }

    /// The elements of an accessor, of so many numbers each.
    fn elements<const N: usize>(&self, number: usize, kind: &str) -> Result<(Vec<[f64; N]>, Type), String> {
        let accessor: &Accessor =
            self.root.accessors.get(number).ok_or_else(|| format!("accessors[{number}] is not there"))?;
        let wrong = |cause: String| format!("accessors[{number}]: {cause}");
        if accessor.kind != kind {
            return Err(wrong(format!("its type is {:?}, and {kind} is wanted", accessor.kind)));
        }
        let of = Type::of(accessor.component_type).map_err(wrong)?;
        let size = of.bytes() * N as u64;
        let held = self.buffers.iter().fold(0, |sum: u64, b| sum.saturating_add(b.len() as u64));
        if accessor.count > held {
            return Err(wrong(format!(
                "it states {} elements, more than all buffers can hold",
                grouped(accessor.count)
            )));
        }
        let element = |run: &Run, i: usize| {
            let at = run.at + i * run.stride;
            std::array::from_fn(|k| {
                let v = of.read(run.bytes, at + k * of.bytes() as usize);
                if accessor.normalized { of.part(v) } else { v }
            })
        };
        let count = accessor.count as usize;
        let mut all: Vec<[f64; N]> = Vec::new();
        all.try_reserve_exact(count).map_err(|_| wrong("there is not enough memory for it".into()))?;
        match accessor.buffer_view {
            None => all.resize(count, [0.0; N]),
            Some(view) => {
                let run = self.run(view, accessor.byte_offset, size, accessor.count).map_err(wrong)?;
                all.extend((0..count).map(|i| element(&run, i)));
            }
        }
        if let Some(sparse) = &accessor.sparse {
            let index = Type::of(sparse.indices.component_type).map_err(wrong)?;
            let places = self.run(sparse.indices.buffer_view, sparse.indices.byte_offset, index.bytes(), sparse.count);
            let values = self.run(sparse.values.buffer_view, sparse.values.byte_offset, size, sparse.count);
            let (places, values) = (places.map_err(wrong)?, values.map_err(wrong)?);
            for i in 0..sparse.count as usize {
                let place = index.read(places.bytes, places.at + i * places.stride);
                let slot = all.get_mut(place as usize).filter(|_| place.fract() == 0.0 && place >= 0.0);
                *slot.ok_or_else(|| wrong(format!("a sparse index is {place}")))? = element(&values, i);
            }
        }
        Ok((all, of))
    }

    /// Places of vertices.
    pub fn places(&self, number: usize) -> Result<Vec<[f64; 3]>, String> {
        let (all, of) = self.elements::<3>(number, "VEC3")?;
        if matches!(of, Type::U32) {
            return Err(format!("accessors[{number}]: places are no 32-bit whole numbers"));
        }
        Ok(all)
    }

    /// Numbers of vertices, below `end`.
    pub fn indices(&self, number: usize, end: usize) -> Result<Vec<u32>, String> {
        let (all, of) = self.elements::<1>(number, "SCALAR")?;
        if !matches!(of, Type::U8 | Type::U16 | Type::U32) {
            return Err(format!("accessors[{number}]: indices are whole numbers of 0 or more"));
        }
        match all.iter().find(|[v]| *v >= end as f64) {
            Some([v]) => {
                Err(format!("accessors[{number}]: it names vertex {v}, and there are {}", grouped(end as u64)))
            }
            None => Ok(all.into_iter().map(|[v]| v as u32).collect()),
        }
    }
}
