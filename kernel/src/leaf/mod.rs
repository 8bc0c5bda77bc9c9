//! Leaves: bundles of triangles and patches of height fields, and the ground that they have over a place.

pub(crate) mod bundle;
pub(crate) mod patch;
pub(crate) mod ray;

use crate::format::Node;
use crate::hit::{LeafKind, Normal};
use crate::trace::Observer;

/// One surface over a place.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    /// Height in 2^-8 steps from the origin.
    pub z: i64,
    /// [`Normal::UNKNOWN`] on a border, where most surfaces are passed over: see [`Terrain::whole`].
    pub normal: Normal,
    /// Bundle in the image, or word of a patch record; triangle or block.
    pub record: usize,
    pub part: u32,
    pub kind: LeafKind,
    /// Number in the tile's palette.
    pub attribute: u8,
    pub claim: Claim,
}

/// Which of the triangles that meet at a place supplies its ground: see [`Cover`](crate::geom::Cover).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    /// Inside, or owned.
    Owner,
    Reverse,
    /// Any other on a border, and patches.
    Tie,
}

/// Record, part and kind of a surface.
pub(crate) type Named = (usize, u32, LeafKind);

/// Takes the surfaces over a place, one after the other.
pub(crate) trait Sink {
    /// Whether it wants every surface of a border; if not, one surface is all it wants.
    const BORDERS: bool;
    fn take<O: Observer>(&mut self, s: &Candidate, node: &Node, o: &mut O);
}
