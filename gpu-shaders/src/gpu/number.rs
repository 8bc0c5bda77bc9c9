//! Points in order, by ranges of leading bits where they do not fit together.

use super::Gpu;
use super::ops::RECORD;
use super::run::{Failure, Run};
use crate::sort::lists;
use crate::wgsl::Number;
use crate::{Numbered, cpu};
use rayon::prelude::*;

/// Bytes of device memory for a point.
const BYTES: u64 = 64;
/// Bits by which points are divided at once.
const BITS: u32 = 12;

pub fn number(gpu: &Gpu, points: &[[u32; 3]]) -> Numbered {
    let most = gpu.most(BYTES, 4 * RECORD);
    if points.len() <= most {
        return chunk(gpu, points);
    }
    let any =
        points.par_iter().map(|p| p.map(u128::from)).reduce(|| [0; 3], |a, b| [a[0] | b[0], a[1] | b[1], a[2] | b[2]]);
    let bits = any.map(|v| 128 - v.leading_zeros());
    let key = |i: u32| {
        let [x, y, z] = points[i as usize].map(u128::from);
        ((x << bits[1]) | y) << bits[2] | z
    };
    let mut parts = Vec::new();
    divide(&key, (0..points.len() as u32).collect(), bits.iter().sum(), most, &mut parts);
    let mut all = Numbered { order: Vec::with_capacity(points.len()), starts: Vec::new() };
    for part in parts {
        let of: Vec<[u32; 3]> = part.par_iter().map(|i| points[*i as usize]).collect();
        // more than fit, all on one place
        let one = if of.len() > most { on_host(gpu, &of) } else { chunk(gpu, &of) };
        let before = all.order.len() as u32;
        all.order.par_extend(one.order.par_iter().map(|i| part[*i as usize]));
        all.starts.extend(one.starts[..one.starts.len() - 1].iter().map(|at| before + at));
    }
    all.starts.push(points.len() as u32);
    all
}

/// Divides points by their leading bits into parts that are not too large, where bits can tell them apart.
fn divide(key: &impl Fn(u32) -> u128, points: Vec<u32>, bits: u32, most: usize, parts: &mut Vec<Vec<u32>>) {
    if points.len() <= most || bits == 0 {
        return parts.push(points);
    }
    let below = bits.saturating_sub(BITS);
    let digit = |i: u32| (key(i) >> below) as u32 & ((1 << BITS.min(bits)) - 1);
    let (starts, all) = lists(1 << BITS, points.iter().map(|i| (digit(*i), *i)));
    let mut from = 0;
    for d in 0..1 << BITS {
        let (start, end) = (starts[d] as usize, starts[d + 1] as usize);
        if end - from > most && start > from {
            divide(key, all[from..start].to_vec(), below, most, parts);
            from = start;
        }
        if end - from > most {
            divide(key, all[from..end].to_vec(), below, most, parts);
            from = end;
        }
    }
    if from < all.len() {
        parts.push(all[from..].to_vec());
    }
}

fn on_host(gpu: &Gpu, points: &[[u32; 3]]) -> Numbered {
    gpu.by_rule("number", points.len());
    cpu::number::number(points)
}

fn chunk(gpu: &Gpu, points: &[[u32; 3]]) -> Numbered {
    if points.is_empty() {
        return cpu::number::number(points);
    }
    gpu.chunk("number", |run| on_device(run, points), || cpu::number::number(points))
}

fn on_device(run: &mut Run, points: &[[u32; 3]]) -> Result<Numbered, Failure> {
    let count = points.len() as u64;
    let of = points[0];
    let vary = points.par_iter().map(|p| [p[0] ^ of[0], p[1] ^ of[1], p[2] ^ of[2]]);
    let [x, y, z] = vary.reduce(|| [0; 3], |a, b| [a[0] | b[0], a[1] | b[1], a[2] | b[2]]);
    let given = run.upload(points)?;
    let records = run.room(RECORD * count)?;
    run.dispatch("number_points", Number { count: count as u32, ..Number::default() }, &[&given, &records], count);
    run.release(given);
    let records = run.sort(records, &[(2, z), (1, y), (0, x)])?;
    let (firsts, places) = run.firsts(&records, [true, true, true, false])?;
    let starts = run.starts(&firsts, places)?;
    let order = run.column(&records, 3)?;
    let mut back = run.download(&[(&order, 0, count), (&starts, 0, places + 1)])?.into_iter();
    Ok(Numbered { order: back.next().unwrap_or_default(), starts: back.next().unwrap_or_default() })
}
