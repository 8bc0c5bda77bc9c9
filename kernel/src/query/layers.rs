//! Every ground height over a place.

use crate::format::Node;
use crate::hit::{Hit, Layers, LeafKind, Normal, Reach, Status};
use crate::index::Leaf;
use crate::leaf::{Candidate, Claim, Named, Sink};
use crate::open::Terrain;
use crate::point::{GridPoint, IntoPoint};
use crate::search::{Search, TIES};
use crate::trace::Observer;

/// Keeps every height once, highest first, as long as there is room.
///
/// Until the end `reach` tells the claim of a kept hit.
struct LayerSink<'t, 'a, 'o> {
    t: &'t Terrain<'a>,
    tile: usize,
    out: &'o mut [Hit],
    count: usize,
    full: bool,
    /// Further ties at the height of a kept hit: its height, their record, part and kind.
    ties: [(i64, Named); TIES],
    tied: usize,
}

impl Sink for LayerSink<'_, '_, '_> {
    const BORDERS: bool = true;

    fn take<O: Observer>(&mut self, s: &Candidate, node: &Node, _: &mut O) {
        let mark = match s.claim {
            Claim::Owner if s.normal != Normal::UNKNOWN => Reach::Near,
            Claim::Owner => Reach::FarAbove,
            Claim::Reverse => Reach::FarBelow,
            Claim::Tie => Reach::Fallback,
        };
        let hit = self.t.hit(self.tile, s, mark);
        let kept = self.out.get(..self.count).unwrap_or(&[]);
        let at = kept.iter().take_while(|h| h.z > hit.z).count();
        if let Some(same) = self.out.get_mut(at).filter(|h| at < self.count && h.z == hit.z) {
            let claim = claim(same);
            let owns = || {
                let owner = |s: &Candidate| self.t.owner(node, (s.record, s.part, s.kind));
                let other = self.t.surface_of(self.tile, same, claim);
                self.t.owns(self.tile, node, &owner(s), &owner(&other))
            };
            if s.claim == claim && claim == Claim::Tie && self.tied < TIES {
                if let Some(tie) = self.ties.get_mut(self.tied) {
                    *tie = (hit.z, (s.record, s.part, s.kind));
                    self.tied += 1;
                }
            } else if s.claim < claim || s.claim == claim && owns() {
                *same = hit;
            }
        } else if let Some(tail) = self.out.get_mut(at..=self.count) {
            let mut carried = hit;
            for place in tail {
                core::mem::swap(place, &mut carried);
            }
            self.count += 1;
        } else {
            self.full = true;
        }
    }
}

/// The claim of a hit in a [`LayerSink`].
fn claim(hit: &Hit) -> Claim {
    match hit.reach {
        Reach::Near | Reach::FarAbove => Claim::Owner,
        Reach::FarBelow => Claim::Reverse,
        Reach::Fallback | Reach::Hidden => Claim::Tie,
    }
}

impl<'a> Terrain<'a> {
    /// All ground heights over a place, highest first; the height of `p` does not matter.
    ///
    /// Heights closer than the header's `layer_merge` to the one kept above them are one layer.
    /// If `out` is too small it holds the highest, and `total` says how many there are.
    ///
    /// In an image with precedence hidden ground is listed too: its `reach` is [`Reach::Hidden`]. Layers of hidden
    /// ground are told apart as if the other ground were not there.
    pub fn layers(&self, p: impl IntoPoint, out: &mut [Hit]) -> Layers {
        let none = |status| Layers { status, written: 0, total: 0 };
        let Some(place) = self.point(p).and_then(|p| self.place(p)) else {
            return none(Status::NotInImage);
        };
        let leaf = match self.locate(place, &mut ()) {
            Ok(leaf) => leaf,
            Err(status) => return none(status),
        };
        match self.sorted_layers(&leaf, place, out) {
            Ok(layers) => layers,
            Err(status) => none(status),
        }
    }

    /// [`Terrain::layers`] into a vector of a fixed capacity, in place of what it held; `total` says how many there are
    /// beyond that.
    ///
    /// ```
    /// # let image = hardpan::include_image!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/bridge.hpan"));
    /// # let terrain = hardpan::Terrain::open(image)?;
    /// let mut hits = hardpan::heapless::Vec::<hardpan::Hit, 4>::new();
    /// let layers = terrain.layers_vec([0.0, 0.0, 0.0], &mut hits);
    /// assert_eq!((layers.total, hits.len()), (2, 2));
    /// assert_eq!([terrain.z_f64(&hits[0]), terrain.z_f64(&hits[1])], [6.0, 0.0]);
    /// # Ok::<(), hardpan::OpenError>(())
    /// ```
    #[cfg(feature = "heapless")]
    pub fn layers_vec<const N: usize>(&self, p: impl IntoPoint, out: &mut heapless::Vec<Hit, N>) -> Layers {
        out.clear();
        let _ = out.resize(N, Hit::NONE); // never longer than its capacity
        let layers = self.layers(p, out);
        out.truncate(layers.written);
        layers
    }

    fn sorted_layers(&self, leaf: &Leaf, place: GridPoint, out: &mut [Hit]) -> Result<Layers, Status> {
        if let Some(sole) = self.single_sheet(leaf, place, &mut ()) {
            let Some(s) = sole else {
                return Ok(Layers { status: Status::NoGround, written: 0, total: 0 });
            };
            let to = out.first_mut();
            let written = to.iter().len();
            if let Some(to) = to {
                *to = self.hit(leaf.tile, &s, Reach::Near);
            }
            return Ok(Layers { status: Status::Found, written, total: 1 });
        }
        if self.has_precedence() {
            return self.shown_layers(leaf, place, 0, out);
        }
        let node = self.node(leaf.node).ok_or(Status::Damaged)?;
        let ties = [(0, (0, 0, LeafKind::Bundle)); TIES];
        let mut sorted = LayerSink { t: self, tile: leaf.tile, out, count: 0, full: false, ties, tied: 0 };
        self.surfaces(leaf, place, &mut (), &mut sorted)?;
        let LayerSink { out, count, full, ties, tied, .. } = sorted;
        if full {
            return self.counted_layers(leaf, place, out);
        }
        let merge = self.header.layer_merge;
        let mut kept: usize = 0;
        for i in 0..count {
            let Some(&hit) = out.get(i) else { break };
            let last = kept.checked_sub(1).and_then(|k| out.get(k)).map(|h| h.z);
            if last.is_none_or(|z| z.wrapping_sub(hit.z) >= merge)
                && let Some(to) = out.get_mut(kept)
            {
                *to = hit;
                if hit.reach != Reach::Near {
                    let claim = claim(&hit);
                    let same = |tie: &&(i64, _)| claim == Claim::Tie && tie.0 == hit.z;
                    let mut s = self.surface_of(leaf.tile, &hit, claim);
                    for tie in ties.iter().take(tied).filter(same) {
                        let owner = self.owner(node, (s.record, s.part, s.kind));
                        if self.owns(leaf.tile, node, &self.owner(node, tie.1), &owner) {
                            s = self.surface_at(s.z, claim, tie.1);
                        }
                    }
                    *to = self.hit(leaf.tile, &self.whole(leaf.tile, node, place, s), Reach::Near);
                }
                kept += 1;
            }
        }
        let status = if kept > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: kept, total: kept })
    }

    /// Layers one at a time, each the highest that lies far enough under the last: for callers with little space.
    #[cold]
    fn counted_layers(&self, leaf: &Leaf, place: GridPoint, out: &mut [Hit]) -> Result<Layers, Status> {
        let mut top = Search::HIGHEST;
        let mut total = 0usize;
        loop {
            let search = Search { z: top, near: -1, below: i64::MAX, above: -1 };
            let Some(hit) = self.best(leaf, place, &search, &mut ())? else { break };
            if let Some(to) = out.get_mut(total) {
                *to = Hit { reach: Reach::Near, ..hit };
            }
            total = total.saturating_add(1);
            top = hit.z.wrapping_sub(self.zero_z()).wrapping_sub(self.header.layer_merge.max(1));
        }
        let status = if total > 0 { Status::Found } else { Status::NoGround };
        Ok(Layers { status, written: total.min(out.len()), total })
    }
}
