//! The rule of VS Terrain in one tile.

use super::bundle::Tri;
use crate::lattice::{Mesh, exp2};
use crate::{BuildError, Split};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The parameters for one tile of a mesh.
pub struct Rule<'a> {
    split: Split,
    root_log2: u32,
    step: [f64; 2],
    triangles: usize,
    /// Bytes of index that they have asked for in the tile.
    pub asked: AtomicU64,
    /// And in all tiles that are made with it.
    all: &'a AtomicU64,
}

impl<'a> Rule<'a> {
    pub fn new(split: Split, mesh: &Mesh, all: &'a AtomicU64) -> Self {
        let side = (0..2).map(|i| mesh.bounds[1][i].abs_diff(mesh.bounds[0][i])).max().expect("two axes");
        Rule {
            split,
            root_log2: u64::from(side).max(1).next_power_of_two().ilog2(),
            step: mesh.step.map(exp2),
            triangles: mesh.faces.len(),
            asked: AtomicU64::new(0),
            all,
        }
    }

    /// Counts bytes of index. An error if those of all tiles are more than may be.
    pub fn take(&self, bytes: u64) -> Result<(), BuildError> {
        self.asked.fetch_add(bytes, Relaxed);
        self.split.allows(self.all.fetch_add(bytes, Relaxed) + bytes, self.triangles)
    }

    /// Whether a square of side 2^`log2` steps is accepted with these triangles.
    pub fn accepts(&self, log2: u32, tris: impl ExactSizeIterator<Item = Tri>) -> bool {
        let (size, volume) = self.split.limits(self.root_log2.saturating_sub(log2));
        if tris.len() as u64 <= size {
            return true;
        }
        let [low, high] = tris.map(|t| t.heights()).fold([i32::MAX, i32::MIN], |a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let side = exp2(log2 as i32) * self.step[0];
        side * side * (f64::from(high.abs_diff(low)) * self.step[1]) < volume
    }
}
