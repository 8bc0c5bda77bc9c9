//! Triangles to squares of the plan.

use super::ops::{RECORD, between};
use super::run::{Failure, Run};
use super::{Costs, Gpu, Items, MANY, some};
use crate::plan::Plan;
use crate::sort::{morton, place};
use crate::wgsl;
use crate::{Ground, Squares, cpu};
use rayon::prelude::*;

const COSTS: Costs = Costs { item: 48, item_in_one: 40, candidate: 52, candidate_in_one: 16 };
/// Extents below which, and sides up to which products fit.
const SMALL: i64 = 1 << 30;
const SIDE_LOG2: u32 = 29;

pub fn squares(gpu: &Gpu, ground: Ground, log2: u32) -> Squares {
    // a side that is too large leaves nothing for the device
    let counts: Vec<u32> =
        (0..ground.faces.len() as u32).into_par_iter().map(|f| candidates(ground, f, log2)).collect();
    let mut parts: Vec<Squares> = gpu
        .cut(&counts, COSTS)
        .into_iter()
        .map(|range| {
            let faces: Vec<u32> = range.filter(|i| counts[*i] > 0).map(|i| i as u32).collect();
            gpu.chunk("squares", |run| on_device(run, ground, log2, &faces), || on_host(ground, log2, &faces))
        })
        .collect();
    let rest: Vec<u32> = (0..counts.len() as u32).filter(|i| counts[*i as usize] == 0).collect();
    if !rest.is_empty() {
        gpu.by_rule("squares", rest.len());
        parts.push(on_host(ground, log2, &rest));
    }
    match parts.len() {
        0 => cpu::squares::squares(ground, log2),
        1 => parts.remove(0),
        _ => joined(&parts),
    }
}

/// Squares under the box of a triangle; zero where the CPU does it.
fn candidates(ground: Ground, face: u32, log2: u32) -> u32 {
    let plan = Plan::new(ground.corners(face));
    if log2 > SIDE_LOG2 || plan.extent() >= SMALL {
        return 0;
    }
    let many = plan.tiles(log2);
    if many > MANY { 0 } else { many as u32 }
}

/// The same of some triangles on the CPU.
fn on_host(ground: Ground, log2: u32, faces: &[u32]) -> Squares {
    let some = some(ground, faces);
    let mut made = cpu::squares::squares(Ground { faces: &some, ..ground }, log2);
    made.faces.iter_mut().for_each(|f| *f = faces[*f as usize]);
    made
}

fn home([x, y]: [i32; 2]) -> u64 {
    let shifted = |v: i32| (i64::from(v) + (1 << 31)) as u64;
    morton(shifted(x), shifted(y))
}

fn on_device(run: &mut Run, ground: Ground, log2: u32, faces: &[u32]) -> Result<Squares, Failure> {
    let item = |face: &u32| {
        let [a, b, c] = ground.corners(*face);
        let ends = |i: usize| [a[i].min(b[i]).min(c[i]) >> log2, a[i].max(b[i]).max(c[i]) >> log2];
        let ([x, to_x], [y, to_y]) = (ends(0), ends(1));
        let columns = to_x - x + 1;
        let words = [a[0], a[1], b[0], b[1], c[0], c[1], x, y, columns, *face as i32];
        (words, (columns * (to_y - y + 1)) as u32)
    };
    let items = Items::of(faces.par_iter().map(item).collect());
    let ends = items.words.par_chunks_exact(10).zip(items.starts.par_windows(2)).map(|(w, s)| {
        let rows = (s[1] - s[0]) as i32 / w[8];
        [w[6], w[7], w[6] + w[8] - 1, w[7] + rows - 1]
    });
    let far = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
    let wider = |a: [i32; 4], b: [i32; 4]| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
    let [x, y, to_x, to_y] = ends.reduce(|| far, wider);
    // the bits of columns and rows that vary, as they stand in the place in Morton order
    let vary = between(home([x, y]), home([to_x, to_y]));
    let params = wgsl::Squares {
        items: items.count() as u32,
        candidates: items.candidates() as u32,
        log2,
        ..wgsl::Squares::default()
    };
    let given = run.upload(&items.words)?;
    let starts = run.upload(&items.starts)?;
    let met = run.room(items.candidates() + 1)?;
    run.dispatch("meet_squares", params, &[&given, &starts, &met], met.count);
    run.scan(&met)?;
    let pairs = run.last(&met)?;
    let records = run.room(RECORD * pairs)?;
    run.dispatch("list_squares", params, &[&given, &starts, &met, &records], items.candidates());
    run.release(met);
    let records = run.sort(records, &[(1, vary as u32), (0, (vary >> 32) as u32)])?;
    let (firsts, count) = run.firsts(&records, [true, true, false, false])?;
    let starts = run.starts(&firsts, count)?;
    let kept = run.kept(&records, &firsts, count)?;
    let of_faces = run.column(&records, 2)?;
    let back = run.download(&[(&starts, 0, count + 1), (&kept, 0, RECORD * count), (&of_faces, 0, pairs)])?;
    let [starts, kept, faces] = <[Vec<u32>; 3]>::try_from(back).expect("as many as asked for");
    let square = |k: &[u32]| {
        let at = place(u64::from(k[0]) << 32 | u64::from(k[1]));
        at.map(|v| (i64::from(v) - (1 << 31)) as i32)
    };
    let squares = kept.par_chunks_exact(RECORD as usize).map(square).collect();
    Ok(Squares { squares, starts, faces })
}

/// The squares of several lists of triangles as those of one.
fn joined(parts: &[Squares]) -> Squares {
    let of = |(part, of): (usize, &Squares)| -> Vec<(u64, usize, usize)> {
        of.squares.iter().enumerate().map(|(k, square)| (home(*square), part, k)).collect()
    };
    let mut all: Vec<(u64, usize, usize)> = parts.iter().enumerate().flat_map(of).collect();
    all.par_sort_unstable();
    let mut made =
        Squares { faces: Vec::with_capacity(parts.iter().map(|p| p.faces.len()).sum()), ..Squares::default() };
    for one in all.chunk_by(|a, b| a.0 == b.0) {
        let (_, part, k) = one[0];
        let from = made.faces.len();
        made.squares.push(parts[part].squares[k]);
        made.starts.push(from as u32);
        for (_, part, k) in one {
            let of = &parts[*part];
            made.faces.extend(&of.faces[of.starts[*k] as usize..of.starts[k + 1] as usize]);
        }
        // triangles that the CPU does by rule lie between others
        if !made.faces[from..].is_sorted() {
            made.faces[from..].sort_unstable();
        }
    }
    made.starts.push(made.faces.len() as u32);
    made
}
