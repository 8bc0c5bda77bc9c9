//! How the ground of a tile is divided among nodes.

use super::{GROUP, Ground, NO_HEIGHTS, TileRules, reach};
use crate::build::error::BuildError;
use crate::build::stage::bundle::{Bundled, Frame, Record, Tri, bundle};
use crate::build::stage::cells::{Content, Division, Grid, Level, PatchArea, Sizes, grid};
use crate::build::stage::hot_spot::{Costed, Refused};
use hardpan::format;
use hardpan_shaders::{Blocks, Member};
use rayon::prelude::*;
use std::sync::OnceLock;

/// A directory, a page and the tile's root are read before any other node.
pub(super) const ROOT_NODES: u32 = 2;

/// How often a rule may halve the side of a tile.
pub(super) const HALVED: u32 = format::MAX_DEPTH - ROOT_NODES - 2;

/// A node in the making: what its groups of triangles are, depends on how far they are.
pub(super) enum NodePlan<T> {
    Empty,
    Patch(PatchArea),
    Inner { side_log2: u32, children: Vec<NodePlan<T>> },
    Group(T),
    Refused(Refused),
}

/// Triangles that have their bundles: which cells they meet comes next.
pub(super) struct Bundles {
    pub(super) bundled: Bundled,
    /// The triangles in the order of their places, by their numbers in the mesh.
    faces: Vec<u32>,
    patches: Vec<PatchArea>,
    low: [i64; 2],
    log2: u32,
    /// How many nodes there may be below each other.
    nodes: u32,
    /// The blocks that it begins with, unless a rule divides it.
    sizes: Option<Sizes>,
    /// The parts of nodes that its triangles meet.
    pub(super) members: OnceLock<Vec<Member>>,
}

/// Triangles that have their bundles and cells.
pub(super) struct Cells {
    pub(super) records: Vec<Record>,
    pub(super) some_wide: bool,
    pub(super) frame: Frame,
    pub(super) grid: Grid,
    /// Least and greatest of its triangles.
    pub(super) heights: [i32; 2],
}

impl Bundles {
    /// The question for the stage.
    pub(super) fn asked(&self) -> Option<(Blocks, &[u32])> {
        let sizes = self.sizes.filter(|_| !self.faces.is_empty())?;
        Some((sizes.blocks, &self.faces))
    }

    /// With the cells of all triangles.
    pub(super) fn finish(self, how: &TileRules) -> Result<NodePlan<Cells>, BuildError> {
        let Bundles { bundled, patches, low, log2, nodes, sizes, members, .. } = self;
        let by = match (sizes, &how.rule) {
            (Some(sizes), _) => {
                Division::Level(Level::of(sizes, &bundled.order, members.into_inner().unwrap_or_default()))
            }
            (None, rule) => Division::Rule(rule.as_ref().expect("a rule divides what begins with no blocks")),
        };
        let heights = bundled.tris.iter().map(Tri::heights).fold(NO_HEIGHTS, reach);
        let content = Content { bundled: &bundled, most: how.most, nodes };
        let grid = grid(&content, low, log2, by, &patches)?;
        let (records, some_wide, frame) = (bundled.records, bundled.some_wide, Frame::of(low[0], low[1], log2));
        Ok(match grid {
            Costed::Within(grid) => NodePlan::Group(Cells { records, some_wide, frame, grid, heights }),
            Costed::Refused(refused) => NodePlan::Refused(refused),
        })
    }
}

impl NodePlan<Bundles> {
    /// Appends its groups.
    pub(super) fn groups<'a>(&'a self, all: &mut Vec<&'a Bundles>) {
        match self {
            NodePlan::Group(group) => all.push(group),
            NodePlan::Inner { children, .. } => children.iter().for_each(|child| child.groups(all)),
            NodePlan::Empty | NodePlan::Patch(_) | NodePlan::Refused(_) => {}
        }
    }

    /// With the cells of all groups.
    pub(super) fn finish(self, how: &TileRules) -> Result<NodePlan<Cells>, BuildError> {
        Ok(match self {
            NodePlan::Group(group) => group.finish(how)?,
            NodePlan::Inner { side_log2, children } => {
                let children = children.into_par_iter().map(|child| child.finish(how)).collect::<Result<_, _>>()?;
                NodePlan::Inner { side_log2, children }
            }
            NodePlan::Empty => NodePlan::Empty,
            NodePlan::Patch(patch) => NodePlan::Patch(patch),
            NodePlan::Refused(refused) => NodePlan::Refused(refused),
        })
    }
}

impl NodePlan<Cells> {
    /// Least and greatest height of its triangles.
    pub(super) fn heights(&self) -> [i32; 2] {
        match self {
            NodePlan::Group(cells) => cells.heights,
            NodePlan::Inner { children, .. } => children.iter().map(NodePlan::heights).fold(NO_HEIGHTS, reach),
            NodePlan::Empty | NodePlan::Patch(_) | NodePlan::Refused(_) => NO_HEIGHTS,
        }
    }

    /// Why it costs more than it may.
    pub(super) fn refused(&self) -> Option<Refused> {
        match self {
            NodePlan::Refused(refused) => Some(*refused),
            NodePlan::Inner { children, .. } => children.iter().filter_map(NodePlan::refused).reduce(Refused::and),
            NodePlan::Empty | NodePlan::Patch(_) | NodePlan::Group(_) => None,
        }
    }
}

/// Makes the node of a group.
pub(super) type Make<'a, T> = dyn Fn(Bundles) -> Result<NodePlan<T>, BuildError> + Sync + 'a;

/// Divides squares of a tile.
pub(super) struct Divider<'a, T> {
    pub(super) ground: &'a Ground<'a>,
    /// Whether a rule decides how far a group is divided.
    pub(super) is_by_rule: bool,
    pub(super) make: &'a Make<'a, T>,
}

impl<T: Send> Divider<'_, T> {
    /// Divides a square until its bundles can be told apart by a cell word.
    pub(super) fn divide(
        &self,
        members: &[u32],
        patches: &[PatchArea],
        [x, y]: [i64; 2],
        log2: u32,
        depth: u32,
    ) -> Result<NodePlan<T>, BuildError> {
        let ground = self.ground;
        if members.is_empty() {
            match patches {
                [] => return Ok(NodePlan::Empty),
                [one] if depth > 0 => return Ok(NodePlan::Patch(*one)),
                [one] => return Ok(NodePlan::Inner { side_log2: 0, children: vec![NodePlan::Patch(*one)] }),
                _ => {}
            }
        }
        if members.len() > GROUP && log2 >= 10 && depth < 10 {
            let side_log2 = side_for(ground, members, x, y, log2);
            let s = 1i64 << (log2 - side_log2);
            let n = 1i64 << side_log2;
            let squares: Vec<(i64, i64)> = (0..n).flat_map(|j| (0..n).map(move |i| (x + i * s, y + j * s))).collect();
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); squares.len()];
            for &t in members {
                let plan = ground.tri(t).plan;
                let range = |i: usize, low: i64| {
                    let at = |v: i64| ((v - low) >> (log2 - side_log2)).clamp(0, n - 1);
                    at(plan.min(i))..=at(plan.max(i))
                };
                let (columns, rows) = (range(0, x), range(1, y));
                // it meets the square, and so the only one of its parts that may hold it
                let one = columns.start() == columns.end() && rows.start() == rows.end();
                for j in rows {
                    for i in columns.clone() {
                        if one || plan.meets([x + i * s, y + j * s], [s; 2]) {
                            lists[(j * n + i) as usize].push(t);
                        }
                    }
                }
            }
            // stacked or huge triangles cannot be told apart by a finer square
            let total: usize = lists.iter().map(Vec::len).sum();
            if total < members.len() * 3 {
                let children = squares
                    .into_par_iter()
                    .zip(lists)
                    .map(|((cx, cy), list)| {
                        let near: Vec<PatchArea> =
                            patches.iter().copied().filter(|p| p.meets([cx, cy], [s; 2])).collect();
                        self.divide(&list, &near, [cx, cy], log2 - side_log2, depth + 1)
                    })
                    .collect::<Result<_, _>>()?;
                return Ok(NodePlan::Inner { side_log2, children });
            }
        }
        let frame = Frame::of(x, y, log2);
        let bundled = {
            let tris: Vec<Tri> = members.iter().map(|&t| ground.tri(t)).collect();
            let faces = members.iter().map(|&t| &ground.mesh.faces[t as usize]);
            let attributes: Vec<u8> = faces.map(|f| ground.attribute(f.material, f.source)).collect();
            bundle(&tris, &attributes, frame)
        };
        let sizes = (!self.is_by_rule).then(|| Sizes::of_square(&bundled, [x, y], log2, patches));
        (self.make)(Bundles {
            faces: bundled.order.iter().map(|&t| members[bundled.given[t as usize] as usize]).collect(),
            bundled,
            patches: patches.to_vec(),
            low: [x, y],
            log2,
            nodes: format::MAX_DEPTH - ROOT_NODES - 1 - depth,
            sizes,
            members: OnceLock::new(),
        })
    }
}

/// log2 of the squares along a side, at most 6: enough that no square holds too many triangles.
pub(super) fn side_for(ground: &Ground, members: &[u32], x: i64, y: i64, log2: u32) -> u32 {
    let finest = 6.min(log2 - 6);
    let mut counts = vec![0usize; 1 << (2 * finest)];
    for &t in members {
        let plan = ground.tri(t).plan;
        let at = |i: usize, low: i64| {
            let middle = (plan.min(i) + plan.max(i)) / 2 - low;
            (middle >> (log2 - finest)).clamp(0, (1 << finest) - 1) as usize
        };
        counts[at(1, y) << finest | at(0, x)] += 1;
    }
    (1..finest)
        .find(|k| {
            let (shift, mut sums) = (finest - k, vec![0usize; 1 << (2 * k)]);
            for (i, n) in counts.iter().enumerate() {
                let (row, column) = (i >> finest, i & ((1 << finest) - 1));
                sums[row >> shift << k | column >> shift] += n;
            }
            sums.iter().all(|&n| n <= GROUP / 4 * 3)
        })
        .unwrap_or(finest)
}
