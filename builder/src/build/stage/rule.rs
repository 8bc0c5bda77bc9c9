//! The rule of VS Terrain in one tile.
//!
//! A square of ground is *examined*: it is accepted as a leaf if few triangles meet it or if its volume, its area times
//! the height between the lowest and the highest corner of these triangles, is small; else its four quarters are
//! examined, one step deeper. The depth of a square is log2 of the root's side over its own; the root is the least
//! power-of-two square as large as the ground.
//!
//! A leaf is a block of the image, whose eight cells tell its triangles further apart. Two things that the rule does
//! not ask for divide the ground as well: the borders of tiles, and squares with more triangles than one group of
//! bundles may hold. And one thing ends it early: the deepest node that the format allows, or a square of four steps.

use super::bundle::Tri;
use crate::build::error::{BuildError, Limit};
use crate::build::lattice::Mesh;
use crate::options::Split;
use crate::util::exact::exp2;
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
        allowed(self.split, self.all.fetch_add(bytes, Relaxed) + bytes, self.triangles)
    }

    /// Whether a square of side 2^`log2` steps is accepted with these triangles.
    pub fn accepts(&self, log2: u32, tris: impl ExactSizeIterator<Item = Tri>) -> bool {
        self.takes(log2, tris.len() as u64, || {
            let [mut low, mut high] = [i32::MAX, i32::MIN];
            for z in tris.flat_map(|t| t.z) {
                (low, high) = (low.min(z), high.max(z));
            }
            high.abs_diff(low)
        })
    }

    /// The same with so many triangles, whose corners lie so many steps above each other.
    pub fn takes(&self, log2: u32, triangles: u64, height: impl FnOnce() -> u32) -> bool {
        let (size, volume) = self.split.limits(self.root_log2.saturating_sub(log2));
        let side = exp2(log2 as i32) * self.step[0];
        triangles <= size || side * side * (f64::from(height()) * self.step[1]) < volume
    }
}

/// Most bytes of index that a rule may ask for, or so many for each triangle. Ordinary ground takes 20 to 60 for each;
/// where triangles stand steep or lie in stacks no smaller square tells them apart, and a rule goes on to the finest.
const MAX_INDEX_BYTES: [u64; 2] = [256 << 20, 256];

/// Whether a rule may ask for so many bytes of index in all tiles of a mesh of so many triangles.
pub fn allowed(split: Split, bytes: u64, triangles: usize) -> Result<(), BuildError> {
    let most = MAX_INDEX_BYTES[0].max(MAX_INDEX_BYTES[1] * triangles as u64);
    if bytes <= most { Ok(()) } else { Err(Limit::Split { split, most, triangles: triangles as u64 }.into()) }
}
