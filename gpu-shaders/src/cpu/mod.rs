//! The stages on the processor's cores: what every build runs, and what the shaders are held against.

pub(crate) mod cells;
pub(crate) mod heights;
pub(crate) mod number;
pub(crate) mod squares;

use crate::plan::Plan;
use crate::work::Log;
use crate::{Blocks, Ground, Heights, Layers, Member, Numbered, Pick, Posts, Squares, Stages, Work};
use std::time::Instant;

/// The stages on all cores of rayon's pool.
#[derive(Debug, Default)]
pub struct Cpu {
    log: Log,
}

impl Cpu {
    /// Nothing done yet.
    pub fn new() -> Cpu {
        Cpu::default()
    }

    fn run<T>(&self, stage: &'static str, items: usize, run: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let made = run();
        let seconds = began.elapsed().as_secs_f64();
        self.log.add(Work { stage, chunks: 1, items: items as u64, seconds, ..Work::default() });
        made
    }
}

impl Stages for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn number(&self, points: &[[u32; 3]]) -> Numbered {
        self.run("number", points.len(), || number::number(points))
    }

    fn squares(&self, ground: Ground, log2: u32) -> Squares {
        self.run("squares", ground.faces.len(), || squares::squares(ground, log2))
    }

    fn cells(&self, ground: Ground, grids: &[(Blocks, &[u32])]) -> Vec<Vec<Member>> {
        let items = grids.iter().map(|(_, faces)| faces.len()).sum();
        self.run("cells", items, || cells::cells(ground, grids))
    }

    fn cells_in_plan(
        &self,
        blocks: &Blocks,
        count: usize,
        plans: &mut dyn Iterator<Item = Plan>,
    ) -> Option<Vec<Member>> {
        Some(self.run("cells", count, || cells::members(blocks, plans)))
    }

    fn cells_at_once(&self) -> Option<usize> {
        None
    }

    fn heights(&self, ground: Ground, posts: Posts, pick: Pick) -> Heights {
        self.run("heights", ground.faces.len(), || heights::heights(ground, posts, pick))
    }

    fn layers(&self, ground: Ground, posts: Posts) -> Layers {
        self.run("layers", ground.faces.len(), || heights::layers(ground, posts))
    }

    fn work(&self) -> Vec<Work> {
        self.log.all()
    }
}
