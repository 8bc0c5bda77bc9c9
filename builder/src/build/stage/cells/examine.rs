//! The rule of VS Terrain on the squares of a node.

use super::level::NODE_BYTES;
use super::places::block_of;
use super::words::Scratch;
use super::{Content, Entry, Grid, PatchArea, block_bytes, place};
use crate::build::error::BuildError;
use crate::build::stage::rule::Rule;

/// Divides squares by a rule.
pub(super) struct Examining<'a> {
    pub(super) content: &'a Content<'a>,
    pub(super) rule: &'a Rule<'a>,
    pub(super) room: Scratch,
}

impl Examining<'_> {
    /// The grid of a square: one block if it is accepted, else four squares.
    pub(super) fn grid(
        &mut self,
        low: [i64; 2],
        log2: u32,
        tris: &[u32],
        patches: &[PatchArea],
        nodes: u32,
    ) -> Result<Grid, BuildError> {
        let (content, rule) = (self.content, self.rule);
        let accepted = |log2: u32, tris: &[u32]| {
            nodes <= 1 || log2 <= 2 || rule.accepts(log2, tris.iter().map(|&t| content.bundled.tris[t as usize]))
        };
        let side = u32::from(!accepted(log2, tris));
        let log2 = log2 - side;
        rule.take((NODE_BYTES + (4 << (2 * side))) as u64)?;
        let entry = |k: i64| {
            let low = [low[0] + ((k & 1) << log2), low[1] + ((k >> 1) << log2)];
            Ok(match place(content, low, [log2; 2], tris, patches) {
                (_, _, Some(entry)) => entry,
                (list, near, None) if side == 0 || accepted(log2, &list) => {
                    let block = block_of(content, low, [log2; 2], &list, &near, &mut self.room);
                    rule.take(block_bytes(block.words.len()) as u64)?;
                    Entry::Block(block)
                }
                (list, near, None) => Entry::Grid(self.grid(low, log2, &list, &near, nodes - 1)?),
            })
        };
        let entries = (0..1 << (2 * side)).map(entry).collect::<Result<_, BuildError>>()?;
        Ok(Grid { block_log2: [log2; 2], side_log2: [side; 2], entries })
    }
}
