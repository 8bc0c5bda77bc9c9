//! Cells of grids under triangles.

use crate::plan::{CELLS_LOG2, Plan};
use crate::sort::lists;
use crate::{Blocks, Ground, Member};
use rayon::prelude::*;

pub fn cells(ground: Ground, grids: &[(Blocks, &[u32])]) -> Vec<Vec<Member>> {
    let one = |(blocks, faces): &(Blocks, &[u32])| members(blocks, faces.iter().map(|&f| Plan::new(ground.corners(f))));
    grids.par_iter().map(one).collect()
}

/// The members of one grid: [`Stages::cells`](crate::Stages::cells) of triangles that are in plan already.
pub fn members(blocks: &Blocks, plans: impl Iterator<Item = Plan>) -> Vec<Member> {
    let n = blocks.side_log2.map(|k| 1i64 << k);
    let cell_log2 = [0, 1].map(|i| blocks.block_log2[i] - CELLS_LOG2[i]);
    let mut found: Vec<Member> = Vec::with_capacity(2 * plans.size_hint().0);
    for (plan, at) in plans.zip(0..) {
        let under = plan.under(blocks.low, cell_log2);
        let columns = under.blocks(0, n[0]);
        for j in under.blocks(1, n[1]) {
            for i in columns.clone() {
                let [met, central] = under.cells([i, j]);
                if met != 0 {
                    let block = (j * n[0] + i) as u32;
                    found.push(Member { block, at, met, central });
                }
            }
        }
    }
    lists((n[0] * n[1]) as usize, found.iter().map(|m| (m.block, *m))).1
}
