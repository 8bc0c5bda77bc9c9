//! Cells of grids under triangles.

use super::ops::{RECORD, between};
use super::run::{Failure, Run};
use super::{Costs, Gpu, Items, MANY};
use crate::plan::CELLS_LOG2;
use crate::wgsl;
use crate::{Blocks, Ground, Member, cpu};
use rayon::prelude::*;

const COSTS: Costs = Costs { item: 52, item_in_one: 44, candidate: 48, candidate_in_one: 16 };
/// Places nearer to a grid's least corner than this, and sides of cells below this power, keep products in 64 bits.
const NEAR: i64 = 1 << 29;
const LOG2: u32 = 27;

/// Grids that are looked at together: the keys of their blocks fit 32 bits.
const TOGETHER: usize = 1 << 15;
/// Triangles that are worth a call.
pub const AT_ONCE: usize = 1 << 20;
/// No count of candidates: the CPU does it.
const HOST: u32 = u32::MAX;

type Grids<'a> = &'a [(Blocks, &'a [u32])];

/// A triangle of a grid: the grid's number, and where the triangle stands in its list.
type Listed = (usize, u32);

pub fn cells(gpu: &Gpu, ground: Ground, grids: Grids) -> Vec<Vec<Member>> {
    grids.chunks(TOGETHER).flat_map(|some| together(gpu, ground, some)).collect()
}

fn together(gpu: &Gpu, ground: Ground, grids: Grids) -> Vec<Vec<Member>> {
    let of = |(blocks, faces): &(Blocks, &[u32])| -> Vec<u32> {
        let count = |f: &u32| Under::new(blocks, ground.corners(*f)).map_or(HOST, |under| under.candidates() as u32);
        faces.iter().map(count).collect()
    };
    let mut counts: Vec<u32> = grids.par_iter().flat_map_iter(of).collect();
    let ends = |(_, faces): &(Blocks, &[u32])| faces.len();
    let before: Vec<usize> =
        grids.iter().scan(0, |sum, grid| Some(std::mem::replace(sum, *sum + ends(grid)))).collect();
    let listed = |i: usize| -> Listed {
        let grid = before.partition_point(|b| *b <= i) - 1;
        (grid, (i - before[grid]) as u32)
    };
    let rest: Vec<Listed> = (0..counts.len()).filter(|i| counts[*i] == HOST).map(listed).collect();
    counts.iter_mut().filter(|n| **n == HOST).for_each(|n| *n = 0);
    let mut parts: Vec<Vec<Vec<Member>>> = grids.iter().map(|_| Vec::new()).collect();
    let mut add = |made: Vec<(usize, Vec<Member>)>| made.into_iter().for_each(|(grid, of)| parts[grid].push(of));
    for range in gpu.cut(&counts, COSTS) {
        let of: Vec<Listed> = range.filter(|i| counts[*i] > 0).map(listed).collect();
        add(gpu.chunk("cells", |run| on_device(run, ground, grids, &of), || on_host(ground, grids, &of)));
    }
    if !rest.is_empty() {
        gpu.by_rule("cells", rest.len());
        add(on_host(ground, grids, &rest));
    }
    parts.into_par_iter().map(joined).collect()
}

/// A triangle as a grid sees it: corners from the grid's least corner, and the blocks under its box.
struct Under {
    corners: [[i32; 2]; 3],
    blocks: [[i32; 2]; 2],
}

impl Under {
    /// None where the CPU does it.
    fn new(blocks: &Blocks, corners: [[i32; 3]; 3]) -> Option<Under> {
        let from_low = corners.map(|c| [0, 1].map(|i| i64::from(c[i]) - blocks.low[i]));
        let mut of = [[0, -1]; 2];
        let mut is_small = true;
        for i in 0..2 {
            let v = from_low.map(|c| c[i]);
            let (min, max) = (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
            let last = (1i64 << blocks.side_log2[i]) - 1;
            let [first_block, last_block] = [min, max].map(|v| v >> blocks.block_log2[i]);
            if last_block < 0 || first_block > last {
                // it is beside the grid
                return Some(Under { corners: [[0; 2]; 3], blocks: [[0, -1]; 2] });
            }
            is_small &= min > -NEAR && max < NEAR && blocks.block_log2[i] - CELLS_LOG2[i] < LOG2;
            of[i] = [first_block, last_block].map(|b| b.clamp(0, last) as i32);
        }
        let under = Under { corners: from_low.map(|c| c.map(|v| v as i32)), blocks: of };
        (is_small && under.candidates() <= MANY).then_some(under)
    }

    fn candidates(&self) -> u64 {
        self.blocks.iter().map(|[first, last]| (last + 1 - first) as u64).product()
    }
}

/// The members that some triangles make up in each grid.
fn on_host(ground: Ground, grids: Grids, of: &[Listed]) -> Vec<(usize, Vec<Member>)> {
    let runs: Vec<&[Listed]> = of.chunk_by(|a, b| a.0 == b.0).collect();
    let faces = |run: &&[Listed]| run.iter().map(|(grid, at)| grids[*grid].1[*at as usize]).collect();
    let faces: Vec<Vec<u32>> = runs.iter().map(faces).collect();
    let some: Vec<(Blocks, &[u32])> =
        runs.iter().zip(&faces).map(|(run, faces)| (grids[run[0].0].0, &faces[..])).collect();
    let made = cpu::cells::cells(ground, &some);
    let numbered = |(mut made, run): (Vec<Member>, &&[Listed])| {
        made.iter_mut().for_each(|m| m.at = run[m.at as usize].1);
        (run[0].0, made)
    };
    made.into_iter().zip(&runs).map(numbered).collect()
}

fn on_device(run: &mut Run, ground: Ground, grids: Grids, of: &[Listed]) -> Result<Vec<(usize, Vec<Member>)>, Failure> {
    let ([first, ..], [.., last]) = (of, of) else { return Ok(Vec::new()) };
    let first = first.0;
    let grids = &grids[first..=last.0];
    let item = |(grid, at): &Listed| {
        let (blocks, faces) = &grids[grid - first];
        let under = Under::new(blocks, ground.corners(faces[*at as usize])).expect("one that the device does");
        let ([a, b, c], [x, y]) = (under.corners, under.blocks);
        let columns = x[1] + 1 - x[0];
        let words = [a[0], a[1], b[0], b[1], c[0], c[1], x[0], y[0], columns, *at as i32, (grid - first) as i32];
        (words, under.candidates() as u32)
    };
    let items = Items::of(of.par_iter().map(item).collect());
    let mut key = 0;
    let grid = |(blocks, _): &(Blocks, &[u32])| {
        let log2 = [0, 1].map(|i| blocks.block_log2[i] - CELLS_LOG2[i]);
        let [columns, rows] = blocks.side_log2;
        let of = [log2[0], log2[1], columns, key];
        key += 1 << (columns + rows);
        of
    };
    let table: Vec<[u32; 4]> = grids.iter().map(grid).collect();
    let params =
        wgsl::Cells { items: items.count() as u32, candidates: items.candidates() as u32, ..wgsl::Cells::default() };
    let given = run.upload(&items.words)?;
    let starts = run.upload(&items.starts)?;
    let of_grids = run.upload(&table)?;
    let found = run.room(items.candidates())?;
    let met = run.room(items.candidates() + 1)?;
    run.dispatch("meet_cells", params, &[&given, &starts, &of_grids, &found, &met], met.count);
    run.scan(&met)?;
    let count = run.last(&met)?;
    let records = run.room(RECORD * count)?;
    run.dispatch("list_cells", params, &[&given, &starts, &of_grids, &found, &met, &records], items.candidates());
    run.release(found);
    run.release(met);
    let records = run.sort(records, &[(0, between(0, u64::from(key) - 1) as u32)])?;
    let back = run.download(&[(&records, 0, RECORD * count)])?;
    let records: &[[u32; 4]] = bytemuck::cast_slice(&back[0]);
    let part = |(k, grid): (usize, &[u32; 4])| {
        let from = records.partition_point(|r| r[0] < grid[3]);
        let to = table.get(k + 1).map_or(records.len(), |next| records.partition_point(|r| r[0] < next[3]));
        let member =
            |r: &[u32; 4]| Member { block: r[0] - grid[3], at: r[1], met: r[2] as u8, central: (r[2] >> 8) as u8 };
        (first + k, records[from..to].iter().map(member).collect())
    };
    Ok(table.par_iter().enumerate().map(part).collect())
}

/// The members of a grid that several lists of its triangles make up.
fn joined(mut parts: Vec<Vec<Member>>) -> Vec<Member> {
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_default();
    }
    let mut all = parts.concat();
    all.sort_unstable_by_key(|m| (m.block, m.at));
    all
}
